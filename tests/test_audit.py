"""`wireglot audit` says from the rules alone what conversions do, and each line can be shown."""

from __future__ import annotations

import dataclasses
import functools
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli
from wireglot.audits import audit, hardcases, probes, provoke
from wireglot.audits.gather import Line

from . import audit as holding
from . import sweep, width
from .usage import TRAFFIC

LEFT = """
wireglot: 2
dialect: left
see: https://left.example
verified: 2026-11-22
tables:
  effort: {write: {low: calm, high: busy}, read-also: {hectic: high}}
shapes:
  text: {wire: {text: $text}}
  image: {wire: {picture: "data:${source.media_type};base64,${source.data}"}}
unions: {part: [text, image]}
conversation:
  wire: {of: $parts each part}
  cases:
    user: {wire: {who: user}}
    assistant: {wire: {who: model}}
request:
  wire:
    model: $model (optional)
    turns: $messages as conversation
    luck: $seed (optional)
    heat: $temperature (optional)
    zeal: $reasoning.effort | effort (optional)
    colour: $own.colour (optional)
    tint: {deep: $own.deep (optional)}
"""
RIGHT = """
wireglot: 2
dialect: right
see: https://right.example
verified: 2026-11-22
shapes:
  text: {wire: {say: $text}}
unions: {part: [text]}
conversation:
  wire: {parts: $parts each part}
  cases:
    user: {wire: {by: user}}
    assistant: {wire: {by: assistant}}
request:
  wire:
    model: $model (optional)
    talk: $messages as conversation
    temp: $temperature (optional)
    most: $max_tokens (fill 9)
"""
SEED = """
wireglot: 2
overlay: right
request: {wire: {seed: $seed (optional)}}
"""
GIVEN_UP = """
wireglot: 2
overlay: left
request: {wire: {luck: $removed}, drop: {luck: Luck is no matter of models.}}
"""
NEWER = """
variants:
  - for: {model: newer-*}
    request: {wire: {peak: $top_k (optional), heat: $removed, pitch: $temperature (optional)}}
"""
FILES = {
    "left.yaml": LEFT,
    "right.yaml": RIGHT,
    "with-seed.yaml": SEED,
    "no-luck.yaml": GIVEN_UP,
}


@functools.cache
def rules_of(*overlays: str) -> wireglot.RuleSet:
    return wireglot.load_rules(FILES, builtin=False, overlays=overlays)


def lines(*overlays: str, source: str = "left", target: str = "right") -> dict[Any, Line]:
    found = rules_of(*overlays).audit(source, target)
    return {(line.source, line.code): line for line in found.lines}


def test_a_line_says_field_code_reason_and_rules() -> None:
    found = rules_of().audit("left", "right")
    luck = next(line for line in found.lines if line.source == "luck" and line.code == "no-place")
    assert (luck.effect, luck.severity, luck.targets) == ("lost", "warning", ())
    assert luck.reasons == ("the target has no place for `seed`",)
    assert luck.source_rule == "left.yaml:21:11"
    assert luck.rules == ("right.yaml:15:3",)
    assert found.of("luck")[0].effect == "lost"


def test_each_effect_of_two_small_dialects_is_found() -> None:
    found = lines()
    assert found["heat", None].effect == "carried"
    assert found["heat", None].targets == ("temp",)
    assert found["heat", None].rules == ("right.yaml:18:11",)
    assert found["colour", "own-field"].effect == "lost"
    assert found["turns[].of[]", "no-place"].reasons == (
        "the target has no place for this image: nothing takes it",
    )
    assert found[None, "filled-in"].targets == ("most",)
    assert found["turns[].(other)", "unknown-key"].effect == "lost"
    assert found["heat", "unfit"].reasons == ("expected number, got an object",)


def test_an_overlay_that_adds_a_place_changes_the_line() -> None:
    assert ("luck", "no-place") in lines()
    assert ("luck", "no-place") not in lines("with-seed")
    assert lines("with-seed")["luck", None].targets == ("seed",)


def test_an_overlay_that_drops_a_field_gives_its_reason() -> None:
    luck = lines("no-luck")["luck", "dropped"]
    assert (luck.effect, luck.reasons) == ("lost", ("Luck is no matter of models.",))


def test_what_only_some_models_have_is_tried_and_said_of_them() -> None:
    rules = wireglot.load_rules({**FILES, "left.yaml": LEFT + NEWER}, builtin=False)
    found = {(line.source, line.code): line for line in rules.audit("left", "right").lines}
    lost, carried = found["peak", "no-place"], found["pitch", None]
    assert (lost.effect, lost.models) == ("lost", ("newer-",))
    assert lost.reasons == ("the target has no place for `top_k`",)
    assert (carried.effect, carried.targets, carried.models) == ("carried", ("temp",), ("newer-",))


def test_the_same_rules_give_the_same_audit() -> None:
    one, two = (
        rules.audit("left", "right", examples=True)
        for rules in (rules_of(), wireglot.load_rules(FILES, builtin=False))
    )
    assert json.dumps(one.as_json()) == json.dumps(two.as_json())
    assert one.rules_hash == rules_of().hash


@pytest.mark.parametrize(
    ("source", "target", "unit"),
    [
        ("modular-prompt", "universal-tool", "request"),
        ("ollama", "modular-prompt", "response"),
        ("anthropic", "ollama", "error"),
    ],
)
def test_each_line_is_provoked_by_its_own_payload(source: str, target: str, unit: str) -> None:
    rules = sweep.engine().rules
    found = rules.audit(source, target, unit, model="m", examples=True)
    assert list(holding.unprovoked(rules, [found])) == []
    assert len(found.lines) > 5


FORM = """
wireglot: 2
dialect: {0}
schemas:
  closed:
    rewrite:
      all:
        schema: {{type: object, additionalProperties: $absent}}
        here: {{type: object, additionalProperties: false}}
        note: It is closed.
shapes:
  text: {{wire: {{text: $text}}}}
  form: {{ir: {{type: json_schema}}, wire: {{{1}}}}}
unions: {{part: [text]}}
conversation: {{wire: {{of: $parts each part}}, cases: {{user: {{wire: {{by: user}}}}}}}}
request: {{wire: {{talk: $messages as conversation, form: $response_format as form (optional)}}}}
"""  # fmt: skip


def test_schemas_are_tried_where_any_object_stands_and_plain_fields_beside_each_other() -> None:
    said = "name: $name (optional), schema: $schema (optional)"
    files = {"a.yaml": FORM.format("a", said), "b.yaml": FORM.format("b", "it: $schema | closed")}
    found = wireglot.load_rules(files, builtin=False).audit("a", "b")
    told = {(line.source, line.code) for line in found.lines}
    assert {(None, "schema-added"), ("form.name", "no-place"), ("form", "no-place")} <= told


def test_media_between_two_texts_are_tried() -> None:
    found = sweep.engine().rules.audit("modular-prompt", "universal-tool", model="m")
    assert {"joined", "reordered"} <= found.codes


def test_a_search_before_the_text_that_rests_on_it_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # It is one of the talks that strain; what each picture shows would take five seconds.
    monkeypatch.setattr(probes, "explore", lambda *_: iter(()))
    rules = wireglot.load_rules()  # whose payloads no other test asks for
    found = rules.audit("openai-responses", "gemini", "response", model="m")
    told = {(line.source, line.code) for line in found.lines}
    assert {("output[].id", "no-place"), ("output[].content[]", "reordered")} <= told


def test_results_in_another_order_are_tried_where_only_names_pair_them() -> None:
    (talk,) = (
        value
        for value in hardcases.values("request")
        if [p.get("name") for m in value["messages"][1:] for p in m["parts"]] == list("gffg")
    )
    rules = sweep.engine().rules
    body = rules["vertex"].write({**talk, "spelled": {"vertex": {}}}).body
    assert "reordered" in {note.code for note in rules.convert(body, "vertex", "gemini").notes}


def test_a_line_without_its_payload_is_told_apart() -> None:
    rules = rules_of()
    found = rules.audit("left", "right", examples=True)
    line = next(line for line in found.lines if line.source == "luck")
    other = next(line for line in found.lines if line.source == "colour")
    wrong = dataclasses.replace(line, example=other.example)
    told = dataclasses.replace(found, lines=(line, wrong, other))
    assert [line for _, line in holding.unprovoked(rules, [told])] == [wrong]


@pytest.mark.skipif(not TRAFFIC.is_dir(), reason="../shared/traffic is not here")
def test_recorded_exchanges_note_nothing_that_is_not_listed() -> None:
    held = holding.Held(sweep.engine().rules, ("gemini-cli-stream", "universal-tool"))
    assert holding.hold(held, [TRAFFIC / "ollama.jsonl.gz"], every=2, limit=None) is False
    assert held.counts["ollama", "notes"] > 50
    assert all(held.counts["ollama", unit] > 2 for unit in ("request", "response", "stream"))


def test_a_note_that_is_not_listed_and_a_line_that_is_not_provoked_are_found() -> None:
    rules = rules_of()
    held = holding.Held(rules, ("right",))
    body = {"model": "m", "luck": 1, "turns": [{"who": "user", "of": []}]}
    held.pairs["left", "right", "request"] = found = rules.audit("left", "right", examples=True)
    held.known["left", "right", "request"] = frozenset()
    held.hold(sweep.Unit("left", "request", body, "one"))
    assert not held.codes and {what.path for what in held.paths} == {"luck", None}
    held.pairs["left", "right", "request"] = dataclasses.replace(found, lines=())
    held.hold(sweep.Unit("left", "request", body, "two"))
    held.hold(sweep.Unit("left", "request", {"turns": 1}, "three"))
    assert {(what.code, what.path) for what in held.codes} == {
        ("no-place", "luck"),
        ("filled-in", None),
    }
    assert held.counts["left", "unread"] == 1


def test_the_payloads_take_each_case_and_each_table_row() -> None:
    dialect = rules_of()["left"]
    probes = list(provoke.payloads(dialect, "request"))
    bodies = [probe.body for probe in probes if probe.stream is None]
    said = json.dumps(bodies)
    assert all(word in said for word in ('"luck"', '"picture"', '"zzz"', '"model"', "image/png"))
    assert all(f'"zeal": "{word}"' in said for word in ("calm", "busy", "hectic", "new_word"))
    assert len({json.dumps(body) for body in bodies}) == len(bodies)


def test_a_matrix_counts_the_lines_of_all_pairs() -> None:
    cells = audit.matrix(rules_of(), ["request"], ("left", "right"), ("left", "right"))
    assert [(cell.source, cell.target) for cell in cells] == [("left", "right"), ("right", "left")]
    there, back = cells
    assert there.counts["lost"] > back.counts.get("lost", 0)
    assert "own-field" in there.worst
    assert "own-field" not in back.worst


def test_a_pair_or_unit_that_is_not_there_is_refused() -> None:
    for words in (("left", "none"), ("left", "right", "response"), ("left", "right", "tools")):
        with pytest.raises(wireglot.UsageError):
            rules_of().audit(*words)


# -- the command ----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> str:
    evil = "Luck </script><script>alert(1)</script> | is {{ 7 * 7 }} no matter."
    mine = FILES["no-luck.yaml"].replace("Luck is no matter of models.", repr(evil))
    for name, text in {**FILES, "no-luck.yaml": mine}.items():
        (tmp_path / name).write_text(text, "utf-8")
    return str(tmp_path)


def run(capsys: pytest.CaptureFixture[str], folder: str, *words: str) -> str:
    pair = ["--from", "left", "--to", "right", "--rules", folder, "--overlay", "no-luck"]
    assert cli.main(["audit", *pair, *words]) == 0
    return capsys.readouterr().out


def test_the_command_says_it_in_words(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, folder).splitlines()
    assert said[0].startswith("left to right: request (")
    at = said.index("  heat -> temp")
    assert said[at + 1].endswith("left.yaml:22:11, " + str(Path(folder) / "right.yaml") + ":18:11")
    assert "  colour  own-field" in said
    assert said[-1].startswith(
        "Lost between all dialects: a key that no picture names (`unknown-key`, "
    )


def test_the_command_writes_json_with_examples(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = json.loads(run(capsys, folder, "--format", "json", "--examples"))
    luck = next(line for line in found["lines"] if line["code"] == "dropped")
    assert luck["example"]["body"]["luck"] is not None
    there = json.loads(run(capsys, folder, "--format", "json", "--both"))
    assert [(one["source"], one["target"]) for one in there] == [
        ("left", "right"),
        ("right", "left"),
    ]
    assert all("example" not in line for line in there[0]["lines"])


CHILD = """\
wireglot: 2
dialect: nephew
extends: left
see: https://example.com
verified: 2026-11-21
"""


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], {("left", "right"), ("right", "left")}),
        (["--from", "nephew"], {("nephew", "left"), ("nephew", "right")}),
        (["--to", "nephew"], {("left", "nephew"), ("right", "nephew")}),
    ],
)
def test_a_matrix_leaves_children_out_and_one_dialect_alone_has_its_pairs(
    folder: str,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    found: set[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (Path(folder) / "nephew.yaml").write_text(CHILD, "utf-8")
    ours, whole = {"left", "right", "nephew"}, audit.matrix

    def few(rules: Any, units: Any, names: Any, targets: Any, *more: Any) -> Any:
        one, two = ([n for n in given if n in ours] for given in (names, targets))
        return whole(rules, units, one, two, *more)

    monkeypatch.setattr(audit, "matrix", few)
    given = [*words, "--rules", folder, "--unit", "request", "--format", "json"]
    assert cli.main(["audit", *given]) == 0
    cells = json.loads(capsys.readouterr().out)
    assert {(cell["source"], cell["target"]) for cell in cells} == found


def test_the_only_pair_of_a_unit_keeps_its_gravest_codes() -> None:
    made = [
        ("right", "request", ("a", "b")),
        ("far", "request", ("a",)),
        ("right", "error", ("a",)),
    ]
    cells = [audit.Cell("left", target, unit, {}, worst) for target, unit, worst in made]
    assert [cell.worst for cell in audit._without_shared_codes(cells)] == [("b",), (), ("a",)]


def test_markdown_is_tables(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, folder, "--format", "markdown")
    rows = [line for line in said.splitlines() if line.startswith("|")]
    assert any("`luck`" in row and "\\|" in row for row in rows)
    assert all(row.replace("\\|", "").count("|") == 6 for row in rows)


class Page(HTMLParser):
    """Tags and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_loads_nothing_and_runs_nothing(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, folder, "--format", "html", "--both", "-o", str(tmp_path / "audit.html"))
    page = Page((tmp_path / "audit.html").read_text("utf-8"))
    assert "script" not in {tag for tag, _ in page.tags}
    assert "</script><script>alert(1)</script> | is {{ 7 * 7 }} no matter." in page.text
    policy = next(attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs) or ""
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert not {name for _, attrs in page.tags for name in attrs if name.startswith("on")}
    assert "[lost]" in page.text
    links = [attrs["href"] or "" for tag, attrs in page.tags if tag == "a"]
    ids = {attrs.get("id") for _, attrs in page.tags}
    assert links and all(link[1:] in ids for link in links)


def test_one_side_alone_must_be_a_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["audit", "--from", "anthropc"]) == 2
    assert "there is no dialect `anthropc`" in capsys.readouterr().err


def test_a_key_that_only_a_variant_reads_is_tried() -> None:
    """The variant for `gpt-oss` pictures the words of `reasoning_effort`, the rest but `none`."""
    model = None if width.WIDE else "gemini-2.5-flash"  # of all kinds of models, one
    lines = sweep.engine().rules.audit("groq", "gemini", model=model).of("reasoning_effort")
    assert "effort-as-budget" in {line.code for line in lines}
