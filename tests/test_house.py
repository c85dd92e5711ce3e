"""The house stays in order: no import leads up, and none goes round."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from . import house, way

PAGE = Path(__file__).parent.parent / "docs" / "how-it-runs.md"
# How many imports may stand inside functions: what most processes start without. `python -m
# tests.house --costs` says what each saves.
INNER = 66  # two of them ask for packages that extras bring
LINES = 400  # of a module, at most


def test_no_import_leads_up() -> None:
    arrows = house.upward(house.walk())
    assert not arrows, [f"{a.source}:{a.line} -> {a.target}" for a in arrows]


def test_delegates_are_of_one_line() -> None:
    for source, target in house.DELEGATES:
        path = house.ROOT.parent.joinpath(*source.split(".")).with_suffix(".py")
        found = [
            [type(one).__name__ for one in node.body if not isinstance(one, ast.Expr)]
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.FunctionDef)
            and any(f"wireglot.{one.module}" == target for one in _from(node))
        ]
        assert found == [["ImportFrom", "Return"]], (source, target)


def _from(node: ast.FunctionDef) -> list[ast.ImportFrom]:
    return [one for one in ast.walk(node) if isinstance(one, ast.ImportFrom)]


def test_no_more_imports_stand_inside_functions() -> None:
    assert sum(arrow.inner for arrow in house.walk().arrows) <= INNER
    assert not house.free(house.walk()), "these save nothing"


def test_no_import_goes_round() -> None:
    assert house.circles(house.walk(), typed=False) == []
    assert house.circles(house.walk(), typed=True) == []


def test_no_module_is_too_long() -> None:
    assert not {name for name, lines in house.walk().lines.items() if lines > LINES}


def test_what_mypyc_cannot_leave_is_not_left() -> None:
    files = sorted(house.ROOT.rglob("*.py"))
    assert not [(file.name, n) for file in files for n in _left(ast.parse(file.read_text("utf-8")))]


def _left(node: ast.AST, within: bool = False) -> Iterator[int]:
    """Yield the lines that leave a step of a loop within a `with` or what has a `finally`."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.Continue | ast.Break):
            yield from [one.lineno] if within else ()
        elif isinstance(one, ast.For | ast.While | ast.FunctionDef):
            yield from _left(one)
        else:
            undone = isinstance(one, ast.With) or bool(getattr(one, "finalbody", ()))
            yield from _left(one, within or undone)


def test_each_module_is_in_a_room() -> None:
    assert all(house.floor(name) >= 0 for name in house.walk().lines)


def test_the_page_draws_each_room() -> None:
    drawn = PAGE.read_text("utf-8").partition("```text\n")[2].partition("```")[0]
    above, _, core = drawn.partition("---")
    for rooms in house.FLOORS:
        for room in rooms:
            assert room in (above if room in house.TOOLS else core), room


def test_a_walk_finds_arrows_and_circles(tmp_path: Path) -> None:
    for name, text in {
        "__init__": "",
        "a": "from . import b\n",
        "b": "def f():\n    from .c import x\n",
        "c": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import a\nx = 1\n",
        "d": "import wireglot.a\ndef f():\n    from . import b\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    small = house.walk(tmp_path)
    found = {(a.source, a.target, a.inner, a.typed) for a in small.arrows}
    assert found == {
        ("wireglot.a", "wireglot.b", False, False),
        ("wireglot.b", "wireglot.c", True, False),
        ("wireglot.c", "wireglot.a", False, True),
        ("wireglot.d", "wireglot.a", False, False),
        ("wireglot.d", "wireglot.b", True, False),
    }
    assert [arrow.source for arrow in house.free(small)] == ["wireglot.d"]
    assert house.circles(small, typed=False) == []
    assert house.circles(small, typed=True) == [["wireglot.a", "wireglot.b", "wireglot.c"]]


def test_a_way_has_stays_and_climbs() -> None:
    def up(source: str, target: str) -> bool:
        return (source, target) == ("wireglot.high", "wireglot.low")

    space = [{"__name__": f"wireglot.{name}"} for name in ("low", "high")]
    exec(compile("def deep(): pass", "low.py", "exec"), space[0])
    exec(compile("def high(f): f(); return g()", "high.py", "exec"), space[1])
    made: dict[str, object] = {"deep": space[0]["deep"], "__name__": "x"}
    exec(compile("def g(): deep()", "<rules of x>", "exec"), made)
    space[1]["g"] = made["g"]  # type: ignore[assignment]
    found = way.traced(lambda: space[1]["high"](space[0]["deep"]), up)  # type: ignore[operator]
    assert found.stays == [
        "wireglot.high", "wireglot.low", "wireglot.high", way.GENERATED, "wireglot.low",
        way.GENERATED, "wireglot.high",
    ]  # fmt: skip
    assert found.modules == ["wireglot.high", "wireglot.low", way.GENERATED]
    assert found.climbs == [("wireglot.high", "wireglot.low")]


def test_the_way_of_a_conversion_is_followed() -> None:
    for unit in way.BODIES:
        found = way.of(unit, house.climbs(house.walk()))
        assert found.stays[0] == "wireglot" and len(found.modules) > 4


def test_a_call_leads_up_to_a_higher_floor_and_to_what_imports_the_caller() -> None:
    up = house.climbs(house.walk())
    assert up("wireglot.notes", "wireglot.loaded")
    assert not up("wireglot.loaded", "wireglot.notes")
    arrow = next(a for a in house.walk().arrows if house.room(a.source) == house.room(a.target))
    assert up(arrow.target, arrow.source) and not up(arrow.source, arrow.target)
