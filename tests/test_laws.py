"""Examples in rule files, the laws on made payloads, and what the SDKs' types say."""

from __future__ import annotations

import dataclasses
import functools
import random
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import wireglot
from wireglot.authoring import examples, lawcase, laws, trial
from wireglot.authoring.generate import Generator
from wireglot.authoring.jsondiff import differences
from wireglot.authoring.shrink import shrink
from wireglot.cli import main
from wireglot.executor.writer import CodedWriter
from wireglot.interpreter import choosing, listforms, share, writehole
from wireglot.ir import WHOLES
from wireglot.language.ladder import apply
from wireglot.language.lenses import Misfit
from wireglot.loading import load
from wireglot.streaming.recognising import Frame
from wireglot.trace.where import rule_at
from wireglot.trail import Trail

from . import sdklaws, width
from .family import ENDPOINTS, VENDORS, WIRES, heads
from .oracles import sdk
from .test_endings import ENDED

HEAD = "wireglot: 2\ndialect: one\nsee: https://example.com\nverified: 2026-11-21\n"
RULES = """
shapes:
  text:
    wire: {text: $text, tint: $own.tint (optional)}
    examples:
      - {wire: {text: Hi}, ir: {type: text, text: Hi}}
  note: {wire: {note: $text}}
unions: {part: [text]}
conversation:
  per: run
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}, assistant: {wire: {role: model}}}
  enforce: {results: [next]}
request: {wire: {turns: $messages as conversation, most: $max_tokens (fill 9)}}
"""
PACKAGED = wireglot.packaged()
CROSSED = width.MAIN  # what the suite crosses to
MAIN = heads(PACKAGED.dialects)
ASKED = [name for name in PACKAGED.dialects if "request" in PACKAGED[name].model.units]


def loaded(folder: Path, text: str) -> Any:
    (folder / "one.yaml").write_text(HEAD + text)
    return wireglot.load_rules(folder)


def tried(folder: Path, text: str, runs: int = 0) -> trial.Trial:
    rules = loaded(folder, text)
    return trial.Trial(str(folder), runs, targets=CROSSED).run(rules, rules.dialects)


# Examples.

PLACES = """
examples:
  text:
    - {reads: {text: Hi, tint: red}, as: {type: text, text: Hi, own: {one: {tint: red}}}}
  conversation:
    - writes: [{role: user, parts: [{type: text, text: a}]}, {role: user, parts: []}]
      as: [{role: user, parts: [{text: a}]}]
      notes: [empty-message]
  request:
    - wire: {turns: [{role: user, parts: [{text: Hi}]}], most: 5}
      ir: {max_tokens: 5, messages: [{role: user, parts: [{type: text, text: Hi}]}]}
      crossing: {openai-chat: {}, gemini: {}}
    - {writes: {messages: []}, as: {turns: [], most: 9}, notes: [filled-in]}
"""


def test_examples_stand_beneath_a_shape_or_apart_and_are_read_and_written(tmp_path: Path) -> None:
    outcome = tried(tmp_path, RULES + PLACES)
    assert (len(outcome.examples), outcome.failures) == (5, [])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "wire: {text: Hi}, ir: {type: text, text: Hi}",
            "wire: {text: Hi}, ir: {type: text, text: Ho}",
            'one/text[0] reads otherwise than it says at /text: expected "Ho", got "Hi"',
        ),
        ("most: 5}", "most: 6}", "at /max_tokens: expected 5, got 6"),
        ("as: {turns: [], most: 9}", "as: {turns: []}", "at /most: expected nothing, got 9"),
        ("notes: [filled-in]", "notes: []", "makes the notes ['filled-in'], not []"),
        ("gemini: {}", "gemini: {no-place: 1}", "at /no-place: expected 1, got nothing"),
        ("reads: {text: Hi,", "reads: {texts: Hi,", "`text` is missing"),
    ],
)
def test_an_example_that_does_not_hold_says_the_smallest_difference_and_the_rule(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = RULES + PLACES
    assert old in text
    (failure,) = tried(tmp_path, text.replace(old, new)).failures
    assert message in failure
    assert failure.startswith(f"{tmp_path}/one.yaml:") and "(rule " in failure


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ("{wire: {text: Hi}}", "this example has no `ir`"),
        ("{reads: 1}", "this example has no `as`"),
        ("[]", "an example is"),
        ("{wire: 1, ir: 1, more: 1}", "`more` is no word of an example"),
    ],
)
def test_an_example_of_another_form_is_refused_with_its_place(
    tmp_path: Path, example: str, message: str
) -> None:
    text = RULES.replace("{wire: {text: Hi}, ir: {type: text, text: Hi}}", example)
    with pytest.raises(wireglot.RuleError, match=message) as caught:
        tried(tmp_path, text)
    assert caught.value.line == 10


STREAMED = """
shapes:
  text: {wire: {text: $text}}
  answer: {wire: {parts: $parts each part, over: $stop_reason (optional)}}
  tool_call: {wire: {call: $name, id: $id, with: $arguments}}
unions: {part: [text, tool_call]}
response: {wire: {answers: $candidates each answer}}
stream:
  framing: lines
  events:
    append.text: {piece: $piece}
    part: {part: $part as part}
    finish+end: {over: $stop_reason}
  examples:
    - wire: [{piece: Hi}, {over: end_turn}]
      ir: {candidates: [{parts: [{type: text, text: Hi}], stop_reason: end_turn}]}
    - reads: [{piece: H}, {piece: i}, {odd: 1}, {over: end_turn}]
      as: {candidates: [{parts: [{type: text, text: Hi}], stop_reason: end_turn}]}
      notes: [unknown-frame]
      crossing: {ollama: {filled-in: 1, unknown-frame: 1}}
    - writes: {candidates: [{parts: [{type: tool_call, name: f, arguments: {x: 1}, id: c}]}]}
      as: [{part: {call: f, id: c, with: {x: 1}}}]
"""


def test_an_example_of_a_stream_holds_both_ways(tmp_path: Path) -> None:
    rules = loaded(tmp_path, STREAMED)
    found = list(examples.find(rules["one"]))
    assert [examples.check(rules, example) for example in found] == [None, None, None]
    for nth, word, other, message in [
        (0, "ir", {"candidates": []}, "reads otherwise"),
        (0, "wire", [{"piece": "H"}, {"piece": "i"}, {"over": "end_turn"}], "writes otherwise"),
        (0, "wire", {"piece": "Hi"}, "is a list of frames"),
        (1, "notes", [], "makes the notes"),
        (1, "crossing", {"ollama": {"unknown-frame": 2}}, "makes other notes for ollama"),
        (2, "as", [{"part": {"call": "g"}}], "writes otherwise"),
    ]:
        said = {**found[nth].said, word: other}
        told = examples.check(rules, dataclasses.replace(found[nth], said=said))
        assert told is not None and f"one/stream[{nth}] {message}" in told


def test_examples_apart_name_a_shape_or_unit(tmp_path: Path) -> None:
    with pytest.raises(wireglot.RuleError, match="`examples` shows `texts`, which is no shape"):
        tried(tmp_path, RULES + "examples: {texts: []}\n")


def test_a_row_of_the_ladder_that_says_something_else_is_told(tmp_path: Path) -> None:
    row = next(r for r in PACKAGED.ladder["tool_result"] if r.name == "data-as-text")
    found = [
        e for e in examples.ladder_examples(PACKAGED.ladder) if e.owner.endswith("/data-as-text")
    ]
    assert [examples.check(PACKAGED, e) for e in found] == [None]
    found[0].said["to"]["value"] = "other"
    message = examples.check(PACKAGED, found[0])
    assert message is not None and "at /value" in message and str(row.pos) in message


@pytest.mark.inside
@pytest.mark.parametrize(("target", "taken"), [("anthropic", False), ("openai-responses", True)])
def test_no_step_of_the_ladder_is_tried_where_none_leads_to_what_is_taken(
    target: str, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result in an answer to Claude took three hundred steps, each in vain."""
    tried, real = [], share.give_lower

    def counted(*given: Any) -> Any:
        tried.append(given)
        return real(*given)

    monkeypatch.setattr(share, "give_lower", counted)
    result = {"type": "tool_result", "tool_call_id": "c", "kind": "error", "value": "no"}
    ir = {"candidates": [{"parts": [result], "stop_reason": "end_turn"}]}
    out = PACKAGED[target].write(ir, unit="response")
    assert bool(tried) == taken
    lost = [note.code for note in out.notes if note.effect == "lost"]
    assert lost == ([] if taken else ["no-place"])


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ([{"n": 1}], True),
        ([{"n": 1, "type": "t"}], True),  # which says nothing more
        ([{"n": 1, "m": 2}], False),
        ([{"n": 1}, {"n": 2}], False),
        ([{"m": 1}], False),
        ([], False),
        ({"n": 1}, False),
        (None, False),
    ],
)
def test_a_row_of_the_ladder_takes_a_list_apart(given: Any, fits: bool, tmp_path: Path) -> None:
    text = """\
wireglot: 2
ladder:
  document:
    row:
      note: Its one element stands otherwise.
      from: {list: [{n: $n, ...: $absent}]}
      to: {n: $n, list: [{x: $n}]}
"""
    (tmp_path / "ladder.yaml").write_text(text, "utf-8")
    row = wireglot.load_rules(tmp_path).ladder["document"][0]
    if fits:
        assert apply(row, {"list": given}, Trail())[0] == {"n": 1, "list": [{"x": 1}]}
    else:
        with pytest.raises(Misfit):
            apply(row, {"list": given}, Trail())


def test_every_packaged_shape_and_unit_has_examples_and_every_example_holds() -> None:
    if width.WIDE:  # else `wireglot test` alone says so, of which `test_cli` has all
        assert trial.Trial(runs=0).run(PACKAGED, PACKAGED.dialects).failures == []
    for name in PACKAGED.dialects:
        model = PACKAGED[name].model
        told = {example.owner for example in examples.find(PACKAGED[name])}
        # The keys of these stand in other examples.
        lent = {"shapes/any_part", "shapes/any_message", "shapes/request_echo", "shapes/alone"}
        lent |= {f"shapes/{shape.name}" for shape in model.shapes.values() if shape.marks}
        wanted = {f"shapes/{shape}" for shape in model.shapes} - lent
        talk = {"conversation"} if model.conversation is not None else set()
        flows = {"stream"} if model.stream is not None else set()
        assert wanted | model.units.keys() | talk | flows <= told
    for kind, rows in PACKAGED.ladder.items():
        assert all(row.examples for row in rows), kind


def test_only_the_files_of_a_folder_are_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.yaml").write_text(HEAD + RULES + PLACES)
    assert main(["test", str(tmp_path), "--runs", "3", "--seed", "x"]) == 0
    said = capsys.readouterr().out
    assert re.match(r"5 examples, \d+ laws on 3 payloads each\n", said)
    assert main(["test", str(tmp_path), "--runs", "0"]) == 0
    assert capsys.readouterr().out.startswith("5 examples, 0 laws")
    assert main(["test", str(tmp_path / "none")]) == 2
    assert "there is no folder" in capsys.readouterr().err


# Differences and shrinking.


def test_a_difference_is_told_where_it_is() -> None:
    found = differences({"a": [1, {"b": 2}], "c": None}, {"a": [1, {"b": 3}], "d": "x" * 99})
    assert [str(d)[:50] for d in found] == [
        "/a/1/b: expected 2, got 3",
        "/c: expected null, got nothing",
        '/d: expected nothing, got "xxxxxxxxxxxxxxxxxxxxxxxxxxx'[:50],
    ]
    assert differences([1], [1, 2])[0].at == ()
    assert differences({"a": 1}, {"a": 1.0}) == []


def test_shrinking_keeps_what_shows_the_fault_and_little_else() -> None:
    value = {"a": [{"b": 17, "c": "long text"}, 2, 3], "d": {"e": True}}
    small = shrink(value, lambda v: "b" in str(v) and "a" in v)
    assert small == {"a": [{"b": 1}]}


# Laws.


def test_the_packaged_rules_keep_every_law() -> None:
    # `wireglot test` crosses to every other dialect.
    found = list(laws.failures(PACKAGED, MAIN, width.times(8, 1), "test", CROSSED))
    found += laws.failures(PACKAGED, WIRES, width.times(4, 1), "test", CROSSED[1:2])
    few = width.some(VENDORS + ENDPOINTS, 5)  # these differ little
    found += laws.failures(PACKAGED, few, width.times(2, 1), "test", CROSSED[1:2])
    assert found == []


def test_a_seed_makes_the_same_payloads_and_another_makes_others() -> None:
    model = PACKAGED["gemini"].model
    one, same, other = (Generator(model, seed).unit("request") for seed in ("a", "a", "b"))
    assert one == same and one != other


@pytest.mark.parametrize(
    ("dialect", "unit"),
    [(d, u) for d in PACKAGED.dialects for u in WHOLES if u in PACKAGED[d].model.units],
)
def test_what_pictures_make_names_every_key_of_the_picture_in_time(dialect: str, unit: str) -> None:
    model = PACKAGED[dialect].model
    wire: Any = model.units[unit].cases[0].wire
    missing = {names[0] for names, _ in wire.entries}
    for n in range(60):
        missing -= Generator(model, f"{n}").unit(unit).keys()
        if not missing:
            break
    assert not missing


def test_two_keys_for_one_field_break_a_law_and_the_counterexample_is_small(tmp_path: Path) -> None:
    text = RULES.replace("(fill 9)", "(fill 9), word: $user | filled (optional), name: 'n${user}'")
    outcome = tried(tmp_path, text, runs=30)
    (failure,) = [f for f in outcome.failures if "GetPut" in f]
    assert failure.startswith(f"{tmp_path}/one.yaml:")
    assert "one/request breaks GetPut: at home it comes back otherwise, at /" in failure
    example = failure.partition("for example ")[2]
    assert len(example) < 60, example


def test_a_text_of_which_what_was_drawn_would_part_is_made_all_the_same(tmp_path: Path) -> None:
    rules = loaded(tmp_path, RULES.replace("{note: $text}", "{note: '${text}1${name}'}"))
    model = rules["one"].model
    made = [Generator(model, f"{n}").shape(model.shapes["note"]) for n in range(40)]
    assert {"note": "a1a"} in made and {} not in made


def test_what_does_not_read_is_shown_with_what_is_wrong_and_not_with_less(tmp_path: Path) -> None:
    rules = loaded(tmp_path, "request: {wire: {of: $own.of, most: $max_tokens}}")
    case = lawcase.Case(rules, "one", "request")
    body = {"of": "a", "most": "many"}
    why = laws.fault(lawcase.Case.read, case, body)
    assert why is not None
    told = laws._describe(laws.Violation("Reads", lawcase.Case.read, case, body, why), 0)
    assert told.endswith(
        'expected integer, got `m`, at /most\n    for example {"of":"a","most":"m"}'
    )


def test_what_breaks_alike_on_the_way_to_several_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(
        "wireglot: 2\ndialect: one\nsee: https://a.example\nverified: 2026-11-21\n"
        "error: {wire: {code: $own.code, says: $message}}\n",
        "utf-8",
    )
    rules = wireglot.load_rules(tmp_path)
    outcome = trial.Trial(str(tmp_path), 3, targets=CROSSED).run(rules, ["one"])
    (failure,) = [f for f in outcome.failures if " Cross: " in f]
    assert f"(and {len(CROSSED) - 1} more) breaks Cross: the error has no form in one" in failure
    assert outcome.more >= len(CROSSED) - 1


def test_a_note_that_nobody_makes_breaks_cross(tmp_path: Path) -> None:
    # Written as a literal, read by nobody: what comes back is not what went away.
    rules = loaded(tmp_path, RULES)
    case = lawcase.Case(rules, "one", "request", "gemini")
    wire = {"turns": [{"role": "user", "parts": [{"text": "Hi"}]}], "most": 5}
    assert laws.fault(laws.BETWEEN["Cross"], case, wire) is None

    class Lossy(lawcase.Case):
        def convert(self, *arguments: Any, **named: Any) -> Any:
            body, notes, envelope = super().convert(*arguments, **named)
            if "contents" in body:
                body["contents"][0]["parts"][0]["text"] = "Ho"
            return body, notes, envelope

    case = Lossy(rules, "one", "request", "gemini")
    fault = laws.fault(laws.BETWEEN["Cross"], case, wire)
    assert fault is not None and 'expected "Hi", got "Ho"' in str(fault)
    assert fault.rule is not None and fault.rule.endswith("one.yaml:8:18")


def test_what_another_dialect_means_by_writing_nothing_keeps_cross() -> None:
    wire = {"messages": [], "functions": [{"name": "g"}], "tool_choice": "auto"}
    case = lawcase.Case(PACKAGED, "openai-chat", "request", "cohere")
    assert case.absent_fields({"tool_choice": "auto"}) == ["tool_choice"]
    assert case.absent_fields({"tool_choice": "none"}) == case.absent_fields({}) == []
    assert laws.fault(laws.BETWEEN["Cross"], case, wire) is None


def test_what_home_fills_in_it_need_not_beside_what_was_filled_in_there() -> None:
    """A thought stands beside a call where it thinks; where JSON is asked for, another does not."""
    turn = {"role": "assistant", "function_call": {"name": "g"}}
    wire = {"messages": [turn], "response_format": {"type": "json_object"}}
    case = lawcase.Case(PACKAGED, "deepseek", "request", "qwen")
    assert laws.fault(laws.BETWEEN["Cross"], case, wire) is None


CALLED = """
shapes:
  text: {wire: {text: $text}}
  thought: {read-only: true, ir: {type: reasoning}, wire: {thought: $text}}
  tool_call: {wire: {call: $name, id: $id, with: $arguments | object | json}}
  answer:
    wire:
      said: $parts each said | text (optional)
      hm: $parts each thought (read-only)
      calls: $parts each tool_call (optional)
unions: {said: [text, thought]}
response: {wire: {answers: $candidates each answer}}
"""


CASED = """
shapes:
  text: {wire: {text: $text}}
  tool_call: {wire: {call: $name, id: $id, with: $arguments}}
  answer:
    cases:
      calls:
        ir: {parts: $has tool_call}
        wire: {plan: $parts each text (optional), calls: $parts each tool_call}
      talk: {wire: {said: $parts each text, calls: $absent}}
response: {wire: {...: $candidates each answer | single}}
"""
SAID = """
shapes:
  text: {wire: {text: $text}}
  answer: {wire: {said: $parts each text}}
response: {wire: {...: $candidates each answer | single}}
"""


def broken(folder: Path, text: str, law: str) -> str:
    (failure,) = [f for f in tried(folder, text, runs=30).failures if f" {law}: " in f]
    return failure.removeprefix(f"{folder}/")


@pytest.mark.inside
def test_memory_that_overrides_an_edit_breaks_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tried(tmp_path, CALLED, runs=30).failures == []
    monkeypatch.setattr(writehole, "means", lambda text, value: True)  # the text as it came, always
    assert broken(tmp_path, CALLED, "Edited") == (
        "one/response breaks Edited: an edit is not written at home, at"
        ' /candidates/0/parts/0/arguments of the IR: expected {"a":1,"edited":true}, got {"a":1}\n'
        '    for example {"answers":[{"calls":[{"call":"g","id":"c","with":"{\\"a\\":1}"}]}]}'
    )


@pytest.mark.inside
def test_parts_that_a_marked_hole_swallows_break_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = listforms.join_texts

    def refuse(writer: Any, lens: str, h: Any, pairs: list[Any], *rest: Any) -> Any:
        if any(part["type"] == "reasoning" for part, _ in pairs):
            raise Misfit("only plain texts can be joined")
        return texts(writer, lens, h, pairs, *rest)

    monkeypatch.setattr(listforms, "join_texts", refuse)
    assert broken(tmp_path, CALLED, "Kept") == (
        "one/response breaks Kept: a part is lost at home:"
        ' {"text": "a", "type": "reasoning"}\n'
        '    for example {"answers":[{"hm":[{"thought":"a"}],"calls":[{"call":"g","id":"c",'
        '"with":"{}"}]}]}'
    )


def test_a_case_that_is_taken_at_home_and_loses_a_part_breaks_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tried(tmp_path, CASED, runs=30).failures == []
    one, weight = CodedWriter.one, choosing.weight

    def first(writer: Any, shape: Any, value: Any) -> Any:  # whatever it loses
        monkeypatch.setattr(choosing, "weight", (lambda draft: 0) if writer.same else weight)
        return one(writer, shape, value)

    monkeypatch.setattr(CodedWriter, "one", first)
    assert broken(tmp_path, CASED, "Kept") == (
        "one/response breaks Kept: a part is lost at home:"
        ' {"arguments": {}, "name": "f", "type": "tool_call"}\n'
        '    for example {"calls":[{"call":"f","id":"c","with":{}}]}'
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "finish+end: {over: $stop_reason}",
            "finish: {over: $stop_reason}\n    end: {}",
            "one.yaml:13:3: one/response breaks Heard: nothing hears the frame 0, {}\n"
            '    for example {"answers":[]}',
        ),
        (
            "part: {part: $part as part}",
            "part_start.tool_call: {call: $name, id: $id}\n    append.tool_call: {piece: $piece}",
            "one.yaml:13:3: one/response breaks Heard: what was written in frames reads otherwise"
            ' than the whole, at /0: expected [{"type":"tool_call","name":"f","arguments":{}}],'
            ' got [{"type":"tool_call","name":"f","arguments":{}},{"type":"...\n'
            '    for example {"answers":[{"parts":[{"call":"f","id":"c","with":{}}]}]}',
        ),
    ],
)
def test_frames_that_are_not_heard_as_they_are_written_break_heard(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert tried(tmp_path, STREAMED, runs=30).failures == []
    assert old in STREAMED
    assert broken(tmp_path, STREAMED.replace(old, new), "Heard") == message


@pytest.mark.inside
def test_an_end_that_is_an_address_alone_breaks_heard_where_it_is_not_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tried(tmp_path, SAID + ENDED, runs=30).failures == []

    def live(frame: Any, sight: Any) -> bool:
        said = bool(sight.values or sight.shaped)
        return said or any(at not in frame.claimed for at in sight.claims)

    monkeypatch.setattr(Frame, "_says_news", live)
    assert broken(tmp_path, SAID + ENDED, "Heard") == (
        'one.yaml:11:3: one/response breaks Heard: the frame {"stop":{"index":0}} is not heard as'
        " it is written: unknown-frame at /1, no event of this dialect is like this frame\n"
        '    for example {"said":[{"text":"H"}]}'
    )


def test_the_place_of_a_picture_is_found_through_shapes_and_lists() -> None:
    model = PACKAGED["openai-chat"].model
    at = ("messages", 0, "tool_calls", 1, "function", "name")
    found = rule_at(model, "request", at)
    assert found is not None
    text = Path(f"rules/{Path(found.file).name}").read_text().splitlines()[found.line - 1]
    assert text[found.column - 1 :].startswith("$name")


# What laws and examples have found, once.


def test_an_allowed_tool_goes_home() -> None:
    tools = [{"type": "function", "function": {"name": "f", "more": 1}}]
    for some in (tools, [{"type": "function", "function": {"name": "f"}}]):
        choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": some}}
        body = {"model": "m", "messages": [], "tool_choice": choice}
        assert PACKAGED.convert(body, "openai-chat", "openai-chat").body == body


def test_a_refusal_alone_is_no_plain_text() -> None:
    content = [{"type": "refusal", "refusal": "No."}]
    body = {"model": "m", "messages": [{"role": "assistant", "content": content}]}
    assert PACKAGED.convert(body, "openai-chat", "openai-chat").body == body
    ir = {"messages": [{"role": "assistant", "parts": [{"type": "refusal", "text": "No."}]}]}
    assert PACKAGED["openai-chat"].write(ir).body["messages"][0]["content"] == content


def test_thinking_that_is_off_leaves_the_effort_beside_it() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [], "thinking": {"type": "disabled"},
            "output_config": {"effort": "low"}}  # fmt: skip
    assert PACKAGED.convert(body, "anthropic", "anthropic").body == body
    for target in ("gemini", "openai-chat"):
        notes = PACKAGED.convert(body, "anthropic", target).notes
        assert ("unfit", "/thinking") in [(n.code, n.source_path) for n in notes]


def test_an_empty_list_under_another_spelling_comes_back() -> None:
    body = {"contents": [], "system_instruction": {"parts": []}}
    assert PACKAGED.convert(body, "gemini", "gemini").body == body


EMPTY_RESULT = {"type": "tool_result", "tool_use_id": "c", "content": []}
EMPTY_RESPONSE = {"functionResponse": {"name": "f", "parts": []}}


@pytest.mark.parametrize(
    ("source", "body"),
    [
        ("gemini", {"contents": [{"role": "model", "parts": [EMPTY_RESPONSE]}]}),
        ("anthropic", {"messages": [{"role": "system", "content": [EMPTY_RESULT]}]}),
    ],
)
def test_a_step_of_the_ladder_that_changes_nothing_is_not_taken(source: str, body: Any) -> None:
    for target in ASKED:
        out = PACKAGED.convert(body, source, target, model="m")
        assert target == source or out.notes


def test_a_renamed_call_is_not_called_ambiguous() -> None:
    call = {"type": "tool_call", "id": "c", "name": "a.b", "arguments": {}}
    notes = PACKAGED["openai-chat"].write(call, unit="tool_call").notes
    assert [note.code for note in notes] == ["renamed"]


NESTED = {"type": "namespace", "name": "a", "tools": [{"function": {"name": "f"}}]}
DECLARED = {"type": "additional_tools", "role": "developer", "tools": [NESTED]}
OBSERVED = {"source": "agent", "observation": {"extra": {}, "results": [{}]}}
ANSWER = [{"functionResponse": {"id": "1", "name": "g"}},
          {"inlineData": {"mimeType": "image/png", "data": "x"}}]  # fmt: skip
NAMED = {"type": "gemini", "toolCalls": [{"name": "f", "status": "success", "result": ANSWER}]}
SPOKEN = {"type": "gemini", "content": ["x"]}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "x"}}}
MARKED = {"cachePoint": {"type": "default", "zzz": "x"}}
TALK = [{"role": "user", "content": [THOUGHT]}, {"role": "user", "content": [MARKED]}]
REFUSED = {"role": "assistant", "reasoning_content": "Z", "refusal": "b"}
REMARK = {"type": "text", "text": "a", "annotations": [{"type": "word_info"}]}
REMARKED = {"type": "function_result", "result": [{}, REMARK]}
THINKING = {"role": "assistant", "content": [{"type": "thinking", "thinking": "b"},
            {"type": "thinking", "thinking": "1"}]}  # fmt: skip
ACTED = {"class_": "api_action", "description": "1", "function": "g", "kwargs": {}}
FREEFORM = {"tools": [{"type": "custom", "custom": {"name": "f"}}],
            "tool_choice": {"type": "custom", "custom": {"name": "f"}}}  # fmt: skip
SILENT = {"messages": [{"role": "function", "name": "f", "content": "H"}],
          "response_format": {"type": "json_object"}}  # fmt: skip
SEEN = {"messages": [{"role": "user",
                      "content": [{"type": "image_url", "image_url": {"url": "data:x-1;"}}]}],
        "response_format": {"type": "json_object"}}  # fmt: skip
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "7"}]}
ANSWERED = [{"role": "assistant",
             "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
            {"role": "user", "content": [RESULT]}]  # fmt: skip
USED = {"type": "tool_use", "name": "g"}
WATCHED = {
    "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "tool_call", "name": "f"}]}]
}
UNTHOUGHT = {"system": [{"type": "text", "text": "a"}],
             "messages": [{"role": "assistant", "content": [USED]}]}  # fmt: skip
RETURNED = {"steps": [{"type": "function_result", "name": "f", "result": "a"}], "status": "f"}
LATER = {"messages": [{"role": "assistant", "function_call": {"name": "g"}},
                      {"role": "developer", "content": [{}]}]}  # fmt: skip
OTHERWISE = {"source": "agent", "model_name": "m", "message": "a", "extra": {"stop_reason": "n"}}
SHORT = {"input": "a", "response_format": {"type": "text", "mime_type": "application/json"}}
SWITCHED = {"max_tokens": 40, "messages": [], "output_config": {"effort": "high"},
            "thinking": {"type": "enabled", "budget_tokens": 1}}  # fmt: skip
STROKED = {"type": "function", "name": "a/b", "parameters": None, "strict": False}
SEARCHING = {"type": "tool_search", "execution": "client"}
PAGES = [{"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}]
SHOWING = [{"role": "user", "content": [
    {"type": "document", "source": {"type": "content", "content": PAGES}}]}]  # fmt: skip
UNDONE = [{"role": "assistant",
           "content": [{"toolUse": {"toolUseId": "c", "name": "g", "input": {}}}]},
          {"role": "user",
           "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "no"}],
                                       "status": "error"}}]}]  # fmt: skip
HEARD = [{"type": "text", "text": "Z"}, {"type": "audio", "data": "a"}]
EARLY = {"type": "ai", "data": {
    "additional_kwargs": {"function_call": {"name": "f", "arguments": "{"}}}}  # fmt: skip
CALLS = [{"id": n, "function": {"name": n, "arguments": "{}"}} for n in ("f", "g")]
EARLIER = {"type": "ai", "data": {"additional_kwargs": {"tool_calls": CALLS}}}
NUMBERED = {"type": "ai", "data": {"id": "m", "additional_kwargs": {"tool_calls": CALLS}}}
NAMELESS = {"type": "ai", "data": {"additional_kwargs": {"tool_calls": [{}]}}}
EMPTY = {"type": "ai", "data": {"content": [{}]}}
CHAT = {"type": "chat", "data": {"content": "x", "response_metadata": {}, "role": "assistant"}}
FAILED = {"type": "ai", "data": {"invalid_tool_calls": [{"name": "f"}]}}
TOLD = {"type": "tool", "data": {"tool_call_id": "f", "content": "x"}}
ODD = {"role": "system", "content": [{}, {"type": "image", "url": "data:image/png;base64,a"}]}


@pytest.mark.parametrize(
    ("law", "dialect", "unit", "target", "body"),
    [
        ("GetPut", "openai-responses", "request", "", {"tools": [NESTED]}),
        ("GetPut", "openai-responses", "request", "", {"tools": [STROKED]}),
        ("GetPut", "openai-agents", "session", "", {"items": [DECLARED]}),
        ("GetPut", "gemini-cli", "session", "", {"messages": [SPOKEN]}),
        ("GetPut", "gemini-cli", "session", "", {"messages": [NAMED]}),
        ("GetPut", "adp", "session", "", {"steps": [OBSERVED]}),
        ("GetPut", "atif", "session", "", {"steps": [OTHERWISE]}),
        ("Kept", "gemini-interactions", "request", "", {"input": [REMARKED]}),
        ("Kept", "adp-v1", "session", "", {"content": [ACTED, {"class_": "code_action"}]}),
        ("GetPut", "perplexity", "response", "", {"choices": [{}], "citations": []}),
        ("Kept", "langchain", "session", "", [EARLY, EARLIER]),
        ("Kept", "langchain", "session", "", [NAMELESS, EMPTY]),
        ("PutGet", "langchain", "session", "", [CHAT]),
        ("Stable", "langchain", "session", "", [FAILED, NUMBERED, CHAT]),
        ("Stable", "langchain", "session", "", [NUMBERED, CHAT, TOLD, CHAT]),
        ("Stable", "hf-chat", "request", "", {"messages": [ODD]}),
        ("Stable", "gemini-interactions", "request", "", {"input": {"content": HEARD}}),
        ("Stable", "bedrock-converse", "request", "", {"messages": TALK}),
        ("Stable", "together", "request", "", LATER),
        ("Total", "anthropic", "request", "sambanova", {"messages": SHOWING}),
        ("Cross", "openai-responses", "request", "sambanova", {"tools": [SEARCHING]}),
        ("Cross", "bedrock-converse", "request", "ollama", {"messages": UNDONE}),
        ("Cross", "bedrock-converse", "request", "otel-genai", {"messages": UNDONE}),
        ("Cross", "openrouter-anthropic", "request", "anthropic", SWITCHED),
        ("Cross", "minimax", "request", "deepseek", {"messages": [REFUSED]}),
        ("Cross", "openai-chat", "request", "vllm", {"messages": [], **FREEFORM}),
        ("Cross", "cohere", "request", "minimax", {"messages": [THINKING]}),
        ("Cross", "copilot", "request", "openai-responses", SILENT),
        ("Cross", "cerebras", "request", "openai-responses", SEEN),
        ("Cross", "gemini-interactions", "request", "deepseek", SHORT),
        ("Cross", "gemini-interactions", "response", "openai-responses", RETURNED),
        ("Cross", "anthropic", "request", "openai-chat", {"max_tokens": 9, "messages": ANSWERED}),
        ("Cross", "minimax-anthropic", "request", "kimi", UNTHOUGHT),
        ("Cross", "otel-genai", "request", "kimi-anthropic", WATCHED),
    ],
)
def test_payloads_that_broke_laws_keep_them(
    law: str, dialect: str, unit: str, target: str, body: Any
) -> None:
    hold = {**laws.LAWS, **laws.BETWEEN}[law]
    hold(lawcase.Case(PACKAGED, dialect, unit, target), body)


# What the SDKs say.


@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_bodies_of_the_sdks_types_are_known_and_come_home(dialect: str) -> None:
    assert list(sdklaws.broken(PACKAGED, dialect, width.times(1, 3)))[:5] == []


@pytest.mark.parametrize("source", sdk.DIALECTS)
@pytest.mark.parametrize("target", CROSSED)
def test_what_is_written_of_one_sdks_bodies_is_a_body_of_the_other(
    source: str, target: str
) -> None:
    if source != target:
        assert list(sdklaws.unwritten(PACKAGED, source, target, width.times(1, 3)))[:5] == []


# Mutants of the rules.


@pytest.fixture
def judges(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return what judges mutants, by a few payloads for each law."""
    from . import rulemutants

    monkeypatch.setattr(rulemutants, "RUNS", width.times(rulemutants.RUNS, 2))
    if not width.WIDE:
        broken = functools.partial(laws.violations, targets=width.MAIN)
        monkeypatch.setattr(laws, "violations", broken)
    return rulemutants


def test_mutants_of_the_rules_are_noticed(judges: ModuleType) -> None:
    small = ("universal-tool", "hermes")  # of a large file each takes many seconds
    every = [m for m in judges.every_cached() if width.WIDE or m.file in small]
    chosen = random.Random("test").sample(every, width.times(12, 6))
    unnoticed = [str(m) for m in chosen if judges.noticed(m)[0] is None]
    assert len(unnoticed) <= len(chosen) // 2, unnoticed  # of all, a fifth is not noticed


@pytest.mark.parametrize(
    ("name", "place"),
    width.some(
        [
            ("deepseek", ("request", "wire", "user_id")),
            ("anthropic", ("variants", 1, "limits", "temperature", "max")),
        ],
        2,
    ),
)
def test_a_file_with_variants_or_a_parent_is_noticed_only_when_it_changes(
    name: str, place: tuple[str | int, ...], judges: ModuleType
) -> None:
    node = load.packaged().files[name]
    same = judges.Mutant(name, place, "no change", "", lambda: node)
    assert judges.noticed(same) == (None, None)
    changed = [m for m in judges.every_cached() if (m.file, m.place) == (name, place)]
    assert changed and all(judges.noticed(mutant)[0] for mutant in changed)


def test_no_result_leads_its_own_call() -> None:
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {}}
    result = {"type": "tool_result", "tool_call_id": "c", "kind": "text", "value": "Sunny"}
    said = {"role": "assistant", "parts": [call, result]}
    body = wireglot.packaged()["anthropic"].write({"messages": [said]}).body
    held = [block["type"] for block in body["messages"][-1]["content"]]
    assert held == ["tool_use", "tool_result"]
