"""The reference of the rule language: each example in it loads, and what it claims holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import wireglot
from wireglot import notes
from wireglot.authoring import trial
from wireglot.checks import fields
from wireglot.language import (
    drawn,
    lenses,
    orderwords,
    source,
    valuewords,
)
from wireglot.language import words as wordlist

from .tables import read_yaml

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "rule-language.md").read_text("utf-8")
OTHER = (DOCS / "documents.md").read_text("utf-8")
PARTS = {name: (DOCS / f"{name}.md").read_text("utf-8") for name in ("schemas", "ladder")}
ALL = "".join((PAGE, *PARTS.values(), (DOCS / "exchange.md").read_text("utf-8")))
BLOCKS = [
    pytest.param(match[1], id=f"{name}-{page[: match.start()].count(chr(10)) + 2}")
    for name, page in (("line", PAGE), ("documents", OTHER), *PARTS.items())
    for match in re.finditer(r"^```yaml\n(.*?)^```$", page, re.M | re.S)
]
# What an example of one word needs around it.
AROUND = """
wireglot: 2
dialect: example
see: https://example.com
verified: 2026-11-21
shapes:
  text: {wire: {type: text, text: $text}}
  said: {ir: {type: text}, wire: {type: said, text: $text}}
  tool_call: {wire: {type: call, id: $id, name: $name, input: $arguments}}
  tool_result:
    by: kind
    wire: {type: tool_result, tool_use_id: $tool_call_id}
    cases: {text: {wire: {content: $value | string}}}
  function: {wire: {name: $name, schema: $parameters}}
unions: {part: [text, said, tool_call, tool_result], tool: [function]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}, assistant: {wire: {role: assistant}}}
request: {wire: {turns: $messages as conversation, seed: $seed (optional)}}
"""


def whole(text: str) -> dict[str, Any]:
    """Return an example of the page as a whole rule file: its words over those around it."""
    around, said = read_yaml(AROUND), read_yaml(text)
    if "extends" in said:
        return dict(said)
    for word, value in said.items():
        if word in ("shapes", "unions"):
            around[word] |= value
        else:
            around[word] = value
    around["verified"] = str(around["verified"])
    return dict(around)


@pytest.mark.parametrize("text", BLOCKS)
def test_each_example_of_the_page_loads_and_its_examples_run(tmp_path: Path, text: str) -> None:
    said = whole(text)
    if "ladder" in said:
        ladder = {"wireglot": 2, "ladder": said.pop("ladder")}
        (tmp_path / "ladder.yaml").write_text(yaml.safe_dump(ladder, sort_keys=False))
    (tmp_path / "example.yaml").write_text(yaml.safe_dump(said, sort_keys=False))
    rules = wireglot.load_rules(tmp_path)
    name = said["dialect"]
    assert trial.Trial(str(tmp_path), runs=0).run(rules, [name]).failures == []
    assert rules[name].model.node.plain().keys() >= said.keys() - {"extends", "variants"}


def test_the_page_has_examples() -> None:
    assert len(BLOCKS) > 8


@pytest.mark.parametrize(
    "words",
    [
        wordlist.FILE.words,
        wordlist.SHAPE.words,
        wordlist.CASE.words,
        orderwords.ENFORCE.words,
        valuewords.NAMED,
        valuewords.SCHEMA.words,
        lenses.LENSES,
        {*lenses.LENS_SPELLED, "again", "single"},
        lenses.GUARDS.keys(),
        drawn.MARKS,
    ],
    ids="header shape case enforce limits schema lenses forms guards marks".split(),
)
def test_the_page_names_every_word(words: Any) -> None:
    assert [
        word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", ALL)
    ] == []


def test_the_page_of_documents_names_every_word() -> None:
    words = {*wordlist.DOCUMENT.words, *wordlist.LOG.words, *wordlist.TREE.words}
    words |= {*wordlist.KEPT, "$message"}
    assert [word for word in words if f"`{word}" not in OTHER and f" {word}`" not in OTHER] == []


def test_codes_on_the_page_are_codes() -> None:
    named = set(re.findall(r"noted `([a-z-]+)`", PAGE + OTHER))
    named |= {code for code in re.findall(r"\(`([a-z-]+)`\)", PAGE) if "-" in code}
    assert named - notes.CODES.keys() == set()
    assert len(named) > 10


def test_a_field_that_checks_know_is_on_a_page() -> None:
    pages = (DOCS / "ir.md").read_text("utf-8") + (DOCS / "citations.md").read_text("utf-8")
    known = {name for held in fields.OBJECTS.values() for name in held}
    assert known - {*re.findall(r"\w+", pages)} == set()


def test_the_page_is_short() -> None:
    assert len(PAGE.splitlines()) <= 450


def test_a_file_of_the_page_is_restricted_yaml() -> None:
    for block in BLOCKS:
        source.parse(str(block.values[0]), "page.yaml")


def test_the_page_on_the_engine_names_every_module_in_its_folder() -> None:
    engine = DOCS.parent / "engine" / "wireglot"
    page = (DOCS / "how-it-runs.md").read_text("utf-8")
    rows = {m[1]: m[0] for m in re.finditer(r"^\| `(\w+)`.*$", page, re.M)}
    for path in engine.rglob("*.py"):
        folder = path.parent.name
        if path.stem.startswith("__"):
            continue
        text = page if folder == "wireglot" else rows[folder]
        named = f"`{path.stem}`" in text or (text is page and f"`{path.stem}.py`" in text)
        assert named, f"{folder}/{path.stem}"
