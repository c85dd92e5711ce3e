"""The script that names the modules which know a word tells words of the language from others."""

from __future__ import annotations

import ast

import pytest

from . import knows
from .house import ROOT

GROUPS = {"mark": ("default", "fill", "made", "optional"), "act": ("part_stop", "start", "usage")}


def found(code: str, **names: str) -> set[str]:
    return set(knows.known(knows.spoken(ast.parse(code)), GROUPS, names))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("a = 'fill'", {"fill"}),
        ("def f():\n    'fill'", set()),
        ("raise E('`fill` and fill')", set()),
        ("a = f'{b} fill'", set()),
        ("a = 'x fill optional'.split()", {"fill", "optional"}),
        ("a = x['default']", set()),
        ("a = {'default', 'made', 'fill'}", {"default", "made", "fill"}),
        ("a = {'default', 'title', 'examples', 'fill', 'b', 'c'}", {"fill"}),
        ("if mark == 'fill' or h.mark == 'default': pass", {"fill", "default"}),
        ("match act:\n  case 'part_stop' | 'start': pass\n  case 'usage': pass",
         {"part_stop", "start", "usage"}),
        ("if usage.get('start') and act != 'part_stop': pass", {"part_stop"}),
    ],
)  # fmt: skip
def test_a_word_is_known_where_it_stands_as_one(code: str, words: set[str]) -> None:
    assert found(code) == words


def test_a_name_that_goes_with_clear_words_of_one_group_gives_others_a_meaning() -> None:
    assert found("a = mark == 'default'", mark="mark") == {"default"}
    groups = {"mark": ("fill", "read-only", "optional", "default"), "act": ("part_stop", "again!")}
    code = "mark in ('x', 'fill'); {}"
    three = "mark == 'fill'; mark == 'read-only'; mark == 'optional'; act == 'part_stop'"
    assert knows.owned(knows.spoken(ast.parse(three)), groups) == {"mark": "mark"}
    assert knows.owned(knows.spoken(ast.parse(code)), groups) == {}


def test_the_engine_knows_its_words() -> None:
    told = knows.modules(knows.places(ROOT))
    assert all(told[word] for word in ("fill", "unions", "user-only", "part_stop"))
