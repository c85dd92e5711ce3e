"""The page on notes and the engine say the same.

`python -m tests.test_notes_docs` writes the page's table of codes anew.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from wireglot import notes

PATH = Path(__file__).parent.parent / "docs/notes.md"
PAGE = PATH.read_text("utf-8")
HEAD = "| code | meaning |\n|---|---|\n"


def rows(heading: str) -> list[list[str]]:
    """Return the rows of the first table below a heading."""
    below = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    table = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert table is not None
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()[2:]
    ]


def test_the_page_lists_every_code_with_its_meaning() -> None:
    found = {code.strip("`"): meaning for code, meaning in rows("Codes")}
    assert found == notes.CODES


def test_the_codes_are_in_one_order_and_each_stands_once() -> None:
    assert [code.strip("`") for code, _ in rows("Codes")] == list(notes.CODES)


def test_a_code_is_lower_case_words_and_its_meaning_a_sentence() -> None:
    for code, meaning in notes.CODES.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
        assert meaning[0].isupper()
        assert meaning.endswith(".")


def test_the_page_lists_every_effect_with_its_severity() -> None:
    found = {name.strip("`"): severity for name, _, severity in rows("Effects")}
    assert found == {effect: notes.severity_of(effect) for effect in get_args(notes.Effect)}


def test_the_page_lists_every_field_of_a_note() -> None:
    assert [name.strip("`") for name, _ in rows("A note")] == list(notes.Note._fields)


def test_the_page_names_every_severity() -> None:
    for word in get_args(notes.Severity):
        assert f"`{word}`" in PAGE


if __name__ == "__main__":
    table = "".join(f"| `{code}` | {meaning} |\n" for code, meaning in notes.CODES.items())
    PATH.write_text(PAGE.partition(HEAD)[0] + HEAD + table, "utf-8")
