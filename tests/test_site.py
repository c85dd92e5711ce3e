"""The docs site: pages of rule files show hostile text as text, and what it says of itself is so.

`make site` builds the site and follows every link; `make look` looks at it in a browser.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

import wireglot
from website import commandline, dialects, links, losses, matrix, pages, reference, sources
from wireglot import cli, notes
from wireglot.language import orderwords

from . import width
from .tables import read_yaml

ROOT = Path(__file__).parent.parent
EVIL = (
    "</script><script>alert(1)</script>",
    "</code></pre><img src=x onerror=alert(2)>",
    '" onmouseover="alert(3)" data-x="',
    "' onfocus='alert(4)",
    "<a href='javascript:alert(5)'>x</a>",
    "--><svg onload=alert(6)>{{ 7 * 7 }}{% raw %}&lt;",
    "</style><style>@import url(//example.com)</style>",
)
KNOWN = frozenset(
    "h1 h2 h3 p code a section div pre span table thead tbody tr th td details summary".split()
)


def hostile() -> dict[str, Any]:
    """Return a rule file with such text wherever it may hold text."""
    one, two, three, four, five, six, seven = EVIL
    return {
        "wireglot": 2,
        "dialect": "hostile",
        "see": f"javascript:alert(7)//{one}",
        "verified": f"2026-11-22 {two}",
        "unsupported": {"seed": one, "n": two},
        "tables": {"stop": {"write": {"end_turn": three, "tool_use": four}, "otherwise": five}},
        "shapes": {
            one: {
                "ir": {"type": "text"},
                "wire": {six: seven, "text": "$text"},
                "cases": {two: {"wire": {three: four}}, five: {"wire": {three: six}}},
                "drop": {"own": seven},
                "examples": [
                    {
                        "wire": {six: seven, "text": one, three: four, five: two},
                        "ir": {"type": "text", "text": one},
                        "notes": [six],
                        "crossing": {two: {three: 2}},
                    },
                ],
            },
            "tool_call": {"wire": {"id": "$id (made x)", one: "$name", two: "$arguments"}},
            "tool_result": {"wire": {"of": "$tool_call_id", three: "$value | string"}},
        },
        "unions": {"part": [one, "tool_call", "tool_result"]},
        "conversation": {
            "wire": {"parts": "$parts each part"},
            "cases": {"user": {"wire": {"role": one}}, "assistant": {"wire": {"role": two}}},
        },
        "request": {"wire": {"turns": "$messages as conversation", four: "$own.x (optional)"}},
    }


class Parsed(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def link(place: str) -> str:
    return f"../source/{place.rpartition(':')[0]}.html#L{place.rpartition(':')[2]}"


def page_of(rules: wireglot.RuleSet, name: str) -> Parsed:
    return Parsed(dialects.page(rules, name, link).html)


def test_a_rule_file_full_of_markup_is_only_text() -> None:
    text = yaml.safe_dump(hostile(), sort_keys=False, allow_unicode=True, width=1000)
    rules = wireglot.load_rules({"hostile.yaml": text})
    made = dialects.page(rules, "hostile", link)
    assert not [heading for heading in made.headings if "<" in heading.name or "<" in heading.id]
    page = Parsed(made.html)
    assert {tag for tag, _ in page.tags} <= KNOWN
    names = {name for _, attrs in page.tags for name in attrs}
    assert names <= {"id", "class", "href", "aria-label", "tabindex", "scope", "rel"}
    addresses = [attrs["href"] or "" for _, attrs in page.tags if "href" in attrs]
    assert all(re.match(r"#|\.\./|https://", address) for address in addresses)
    for evil in EVIL:
        assert evil in page.text or evil.replace('"', '\\"') in page.text


def test_a_picture_and_its_examples_stand_side_by_side_where_there_is_room() -> None:
    page = dialects.page(wireglot.packaged(), "anthropic", link).html
    entry = page.partition('id="shapes-tool_call-entry"')[2].partition("</section>")[0]
    assert re.search(
        r'<div class="beside">\n<div>.*?<pre class="highlight picture[^>]*>.*?</pre>\n</div>\n'
        r'<div class="shots">.*On the wire.*rules/examples/anthropic',
        entry.replace("\n\n", "\n"),
        re.DOTALL,
    )
    style = (ROOT / "website/theme/assets/site.css").read_text("utf-8")
    assert (
        "@media (max-width: 70em) { .beside { grid-template-columns: minmax(0, 1fr); } }" in style
    )


@pytest.mark.parametrize("name", width.dialects(wireglot.packaged().dialects, 16))
def test_the_page_of_a_dialect_shows_each_shape_and_example(name: str) -> None:
    rules = wireglot.packaged()
    page = page_of(rules, name)
    ids = [attrs["id"] or "" for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    model = rules[name].model
    assert {pages.slug("shapes", shape) for shape in model.shapes} <= set(ids)
    shown = [attrs for tag, attrs in page.tags if tag == "div" and attrs.get("class") == "shot"]
    assert len(shown) == dialects.row(rules, name).examples
    for reason in losses_of(rules, name):
        assert reason in page.text


def losses_of(rules: wireglot.RuleSet, name: str) -> set[str]:
    model = rules[name].model
    groups = {section: model.node.get(section) for section in ("shapes", "tables", "schemas")}
    places = [
        (section, named) for section, group in groups.items() if group for named in group.value
    ]
    places += [("", unit) for unit in (*model.units, "conversation", "limits")]
    found = [loss for place in places for loss in losses.losses(model, *place)]
    assert {loss.code for loss in found} <= notes.CODES.keys()
    return {loss.why for loss in found}


def test_what_words_may_note_is_told() -> None:
    wire = {
        "id": "$id (made x)",
        "name": "$name (fill f)",
        "with": "$arguments",
        "mine": "$own.mine (optional)",
        "state": "$signature (optional)",
        "again": "$id (copy)",
    }
    drop = {"input": "Nothing takes it."}
    shape = {"wire": wire, "drop": drop, "note": "freeform-wrapped"}
    model = rules_of(shape)["told"].model
    found = losses.losses(model, "shapes", "tool_call")
    assert {(loss.code, loss.when, loss.fields) for loss in found} == {
        ("dropped", losses.WRITTEN, ("input",)),
        ("freeform-wrapped", losses.ABROAD, ()),
        ("made-id", losses.WRITTEN, ("id",)),
        ("filled-in", losses.WRITTEN, ("name",)),
        ("own-field", losses.ABROAD, ("own.mine",)),
        ("foreign-signature", losses.ABROAD, ("signature",)),
        ("inconsistent", losses.READ, ("id",)),
    }
    assert next(loss.why for loss in found if loss.code == "dropped") == "Nothing takes it."


def test_what_a_conversation_and_its_limits_may_note_is_told() -> None:
    model = wireglot.packaged()["anthropic"].model
    talk = {
        (loss.code, field)
        for loss in losses.losses(model, "", "conversation")
        for field in loss.fields
    }
    assert talk >= {("lifted", "lift"), ("moved", "answer-next"), ("joined", "per")}
    limits = {loss.code: loss.fields for loss in losses.losses(model, "", "limits")}
    assert "tool_name" in limits["renamed"]
    assert "reasoning.budget" in limits["clamped"]
    assert set(limits["no-place"]) > set(limits["clamped"])
    assert {loss.code for loss in losses.losses(model, "schemas", "strict_schema")} == {
        "schema-keyword",
        "schema-told",
        "schema-added",
        "schema-reworded",
    }
    stops = losses.losses(model, "tables", "stop_reason")
    assert [(stop.code, stop.when) for stop in stops] == [
        ("reworded", losses.READ),
        ("reworded", losses.WRITTEN),
    ]


def steps_of(word: str) -> list[str]:
    """Return the names of the steps that a word of `enforce` may stand for."""
    if word in orderwords.TEXT_WORDS:
        return [orderwords.TEXT_WORDS[word][0]]
    if word in orderwords.VALUES:
        return [name for made, _ in orderwords.VALUES[word].values() for name, _ in made]
    return ["insert", "alternate"] if word == "turns" else [word]


def test_what_enforce_may_note_is_what_the_reference_says() -> None:
    page = (ROOT / "docs/rule-language.md").read_text("utf-8")
    table = page.split("| word | makes sure that |\n|---|---|\n")[1].split("\n\n")[0]
    said: dict[str, set[str]] = {}
    for row in table.splitlines():
        match = re.fullmatch(r"\| `([a-z-]+):.*?` \| (.*) \|", row)
        assert match is not None
        word, text = match.groups()
        codes = set(re.findall(r"`([a-z-]+)`", text)) & notes.CODES.keys()
        said[word] = said.get(word, set()) | codes
    steps = {word: steps_of(word) for word in orderwords.ENFORCE.words}
    assert said == {
        word: {c for s in found for c in losses.ASKED[s]} for word, found in steps.items()
    }
    assert losses.ASKED.keys() - {s for found in steps.values() for s in found} == {"no-empty"}


def rules_of(shape: dict[str, Any]) -> wireglot.RuleSet:
    file = hostile()
    file |= {"dialect": "told", "shapes": {**file["shapes"], "tool_call": shape}}
    return wireglot.load_rules({"told": file})


def test_the_page_of_the_api_names_each_public_name_once() -> None:
    named = re.findall(r"^::: wireglot\.([A-Za-z_]+)$", reference.markdown(), re.MULTILINE)
    assert sorted(named) == sorted(wireglot.__all__)


def test_every_name_of_the_api_page_is_there() -> None:
    for names in reference.GROUPS.values():
        for name in names:
            module, _, attribute = f"wireglot.{name}".rpartition(".")
            assert hasattr(importlib.import_module(module), attribute), name


@pytest.mark.parametrize(
    "kind",
    [
        wireglot.Conversion,
        wireglot.Envelope,
        wireglot.Note,
        wireglot.Reading,
    ],
)
def test_each_field_of_a_result_is_explained(kind: Any) -> None:
    told = re.findall(r"^        (\w+): ", kind.__doc__, re.MULTILINE)
    assert told == list(kind._fields)


@pytest.mark.parametrize("name", "convert exchange translate load_rules".split())
def test_each_argument_of_a_function_is_explained(name: str) -> None:
    function = getattr(wireglot, name)
    told = function.__doc__.split("Args:\n")[1].split("\n\n")[0]
    named = re.findall(r"^        \*?(\w+): ", told, re.MULTILINE)
    assert named == list(inspect.signature(function).parameters)
    assert "Raises:" in function.__doc__


def test_the_page_of_the_matrix_is_what_the_command_prints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commandline, "commands", lambda parser: [])
    assert "pairs.md" in matrix.markdown()
    named = commandline.Command("audit", "audit", "", "", [])
    monkeypatch.setattr(commandline, "commands", lambda parser: [named])

    def main(words: list[str]) -> int:
        Path(words[-1]).write_text(json.dumps(cells), "utf-8")
        return 0 if words[:3] == ["audit", "--format", "json"] else 2

    pairs = [(one, two) for one in ("a", "<b>", "c") for two in ("a", "<b>", "c") if one != two]
    cells = [
        {"source": one, "target": two, "unit": "request", "counts": {"lost": n}, "worst": ["no"]}
        for n, (one, two) in enumerate(pairs)
    ]
    monkeypatch.setattr(cli, "main", main)
    text = matrix.markdown()
    assert text.startswith("# The matrix of pairs\n\n")
    assert re.findall(r'class="shade-(\d)"', text) == ["0", "1", "2", "2", "3", "4"]
    links = re.findall(r'href="#([^"]*)"', text)
    assert links == re.findall(r'<tr id="([^"]*)"', text)
    assert len(links) == 6
    assert "<b>" not in text


def test_the_page_of_commands_names_each_command() -> None:
    page = commandline.page()
    text = Parsed(page.html).text
    for word in ("convert", "explain", "check", "test", "schema", "--policy", "--overlay"):
        assert word in text
    assert [h.name for h in page.headings if h.name == "wireglot convert"] == ["wireglot convert"]


def test_a_file_of_the_repository_is_shown_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("\n".join(EVIL), "utf-8")
    page = Parsed(sources.page(tmp_path, "x.yaml").html)
    assert {tag for tag, _ in page.tags} <= KNOWN
    assert [f"L{n}" for n in range(1, len(EVIL) + 1)] == [
        attrs["id"] for tag, attrs in page.tags if attrs.get("class") == "line"
    ]
    assert "rules/ladder.yaml" in sources.wanted(ROOT)


def test_json_for_people_is_json() -> None:
    value: Any = {"a": [1, {"b": "x" * 60}], "c": {}, "d": [], "e": None, "f": [["y" * 60]]}
    assert read_yaml(pages.pretty(value)) == value


def test_the_links_of_a_site_are_followed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text('<p id="x"><a href="sub/b.html#y">b</a><a href="#x">x</a></p>')
    (tmp_path / "sub" / "b.html").write_text('<p id="y"><a href="../a.html?q=1#x">a</a></p>')
    assert links.faults(tmp_path) == []
    (tmp_path / "c.html").write_text(
        '<a href="a.html#gone"></a><a href="gone.html"></a><img src="https://example.com/x.png">'
        '<script src="//example.com/x.js"></script><a href="https://example.com">fine</a>'
        '<a href="javascript:alert(1)">x</a><p id="z"></p><p id="z"></p>'
    )
    assert links.faults(tmp_path) == [
        "c.html: `//example.com/x.js` would be loaded from elsewhere",
        "c.html: `a.html#gone` leads to no place of a.html",
        "c.html: `gone.html` leads nowhere",
        "c.html: `https://example.com/x.png` would be loaded from elsewhere",
        "c.html: `javascript:alert(1)` is no address of a page",
        "c.html: the id `z` stands there twice",
    ]


def test_each_test_that_the_guarantees_name_is_there() -> None:
    page = (ROOT / "docs/guarantees.md").read_text("utf-8")
    named = re.findall(r"\[(\w+)\]\(\.\./tests/(\w+)\.py\)", page)
    assert len(named) > 20
    for shown, file in named:
        assert shown == file and (ROOT / "tests" / f"{file}.py").is_file()
    targets = re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"`make ([a-z]+)`", page)) <= set(targets)
