"""The house stays in order: no import leads up, and none goes round, that did not before."""

from __future__ import annotations

from pathlib import Path

from . import house

HOUSE = house.walk()
# How many there may be, until there are none. `make house` prints them.
UPWARD, TO_TOOLS, INNER = 28, 5, 106
CIRCLES = [16, 2]  # the interpreter; a rule set and what follows its files
TYPED = [46, 12, 5, 4, 3, 2]  # with imports for types alone


def test_no_more_imports_lead_up() -> None:
    arrows = house.upward(HOUSE)
    assert len(arrows) <= UPWARD, [f"{a.source}:{a.line} -> {a.target}" for a in arrows]
    tools = [a for a in arrows if house.room(a.target) in house.TOOLS]
    assert len(tools) <= TO_TOOLS, tools
    assert all(a.inner or a.typed for a in tools), "the core imports no tool when it is imported"


def test_no_more_imports_stand_inside_functions() -> None:
    assert sum(arrow.inner for arrow in HOUSE.arrows) <= INNER


def test_no_circle_is_new() -> None:
    assert [len(one) for one in house.circles(HOUSE, typed=False)] <= CIRCLES
    assert [len(one) for one in house.circles(HOUSE, typed=True)] <= TYPED


def test_each_module_is_in_a_room() -> None:
    assert all(house.floor(name) >= 0 for name in HOUSE.lines)


def test_a_walk_finds_arrows_and_circles(tmp_path: Path) -> None:
    for name, text in {
        "__init__": "",
        "a": "from . import b\n",
        "b": "def f():\n    from .c import x\n",
        "c": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import a\nx = 1\n",
        "d": "import wireglot.a\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    small = house.walk(tmp_path)
    found = {(a.source, a.target, a.inner, a.typed) for a in small.arrows}
    assert found == {
        ("wireglot.a", "wireglot.b", False, False),
        ("wireglot.b", "wireglot.c", True, False),
        ("wireglot.c", "wireglot.a", False, True),
        ("wireglot.d", "wireglot.a", False, False),
    }
    assert house.circles(small, typed=False) == []
    assert house.circles(small, typed=True) == [["wireglot.a", "wireglot.b", "wireglot.c"]]
