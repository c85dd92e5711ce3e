"""The fuzzer of rule files: a short run, what it is made of, and what longer runs have found."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest

import wireglot
from wireglot.checks.pictureform import MODES
from wireglot.errors import ConversionError
from wireglot.language import (
    drawn,
    events,
    ladder,
    lenses,
    orderwords,
    valuewords,
)
from wireglot.language import words as wordlist
from wireglot.language.findings import Findings
from wireglot.language.lenses import Misfit
from wireglot.language.source import LADDER, Pos, parse
from wireglot.rulesets import RuleSet
from wireglot.trail import Trail

from . import byhand, ruleeach, rulefuzz, width
from .rulefuzz import FILE, Base, differ, node_of
from .walk import walked

BASES = {base.name: base for base in rulefuzz.Fuzz("").bases}


def test_changed_rule_files_raise_nothing_but_rule_errors() -> None:
    fuzz = rulefuzz.Fuzz("suite")
    many = width.times(450, 225)
    fuzz.run(many)
    assert fuzz.faults == {}
    assert fuzz.count["executions"] == many
    assert fuzz.count["reached"] >= many * 4 // 9
    assert fuzz.count["functions"] >= many * 4 // 3 and fuzz.count["run"] >= many // 23
    assert fuzz.count["bytes"] >= many // 23


def test_changed_packaged_files_raise_nothing_but_rule_errors() -> None:
    fuzz = rulefuzz.Fuzz("suite", rulefuzz.packaged())
    fuzz.run(width.times(12, 6))
    # Which are refused at once is chance, and another when a file changes.
    while fuzz.count["reached"] < width.times(2, 1) and fuzz.count["executions"] < 60:
        fuzz.run(1)
    assert fuzz.faults == {}
    assert fuzz.count["reached"] >= width.times(2, 1)


def test_a_fault_is_told_with_the_file_that_caused_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fuzz = rulefuzz.Fuzz("suite")

    def broken(*_: Any) -> None:
        raise KeyError("x")

    monkeypatch.setattr(byhand, "from_nodes", broken)
    fuzz.run(3)
    (fault,) = fuzz.faults
    assert fault.startswith("fault: KeyError: 'x' (test_fuzz.py:")
    assert "wireglot" in fuzz.first[fault]


def test_an_execution_that_does_not_end_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    fuzz = rulefuzz.Fuzz("suite")

    def endless(*_: Any) -> None:
        while True:
            pass

    monkeypatch.setattr(rulefuzz, "SECONDS", 0.05)
    monkeypatch.setattr(byhand, "from_nodes", endless)
    fuzz.run(1)
    assert [fault.split(" ")[:2] for fault in fuzz.faults] == [["fault:", "took"]]


def test_each_of_some_changes_is_converted_alike() -> None:
    fuzz = rulefuzz.Fuzz("")
    run = [base for base in fuzz.bases if "request" in base.bodies]
    found = [
        (said, ruleeach.tried(fuzz, base, stem, new))
        for base in run
        for stem, plain in base.plain.items()
        for said, new in itertools.islice(ruleeach.changes(plain), 7, None, width.times(90, 180))
        if stem != LADDER
    ]
    assert len(found) > width.times(80, 40)
    assert sum(result is not False for _, result in found) > width.times(40, 20)
    assert [each for each in found if each[1]] == []


def test_a_difference_of_one_change_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruleeach, "differ", lambda *_: ("one", "two"))
    base = BASES["talk"]
    told = ruleeach.tried(rulefuzz.Fuzz(""), base, "talk", base.plain["talk"])
    assert told == "talk to other: one and not two"


@pytest.mark.parametrize("text", ["import os", "a.__globals__", "eval('1')", "x = lambda: 1"])
def test_the_allow_list_refuses_other_code(text: str) -> None:
    assert rulefuzz.forbidden(text) is not None
    assert rulefuzz.forbidden(f"a = 1\ndef f():\n    pass\n{text}\n") is not None


@pytest.mark.parametrize("name", BASES)
def test_a_base_is_right_and_converts_alike_by_functions_and_the_walk(name: str) -> None:
    base = BASES[name]
    rules = loaded(base)
    assert isinstance(rules, RuleSet)
    fuzz = rulefuzz.Fuzz("")
    for dialect in rules.dialects:
        if dialect != base.other:
            rules[dialect]
            alike(rules, dialect, base.other, [base.bodies.get("request", {})])
            alike(rules, base.other, dialect, fuzz.bodies[base.other])


@pytest.mark.parametrize(
    "words",
    [
        wordlist.FILE.words.keys() - {"examples"},
        wordlist.SHAPE.words,
        wordlist.CONVERSATION.words.keys() - {"examples"},
        orderwords.ENFORCE.words,
        valuewords.NAMED,
        valuewords.LIMIT.words,
        sum((tuple(valuewords.BOUNDS[kind].words) for kind in ("list", "integer", "number")), ()),
        valuewords.SCHEMA.words.keys() - {"examples"},
        lenses.LENSES - {"not-an-object"},
        {*lenses.LENS_SPELLED, "again", "single"},
        drawn.MARKS,
        MODES,
        ("write", "read-also", "write-also", "otherwise", "only", "schema", "here", "where", "has"),
        wordlist.ROW.words.keys() - {"examples"},
        wordlist.STREAM.words,
        events.ACTS,
        ("$at.candidate", "$at.index", "$at.nth", "$at.frame", "$piece", "$part", "$usage"),
        [lenses.SPELLING_OF.get(name, name) for name in ladder.LENSES],
        (
            "$removed",
            "$absent",
            "$present",
            "$has",
            "$nth",
            "$run",
            "$own",
            "...",
            "for",
            "version",
        ),
    ],
    ids="header shape talk enforce limits limit bounds schema lenses forms marks modes "
    "inner ladder stream acts places steps special".split(),
)
def test_the_bases_have_every_word_of_the_language(words: Any) -> None:
    text = "\n".join(text for base in BASES.values() for text in base.texts.values())
    assert [w for w in words if not re.search(rf"(?<![\w-]){re.escape(w)}(?![\w-])", text)] == []


# -- what it found --------------------------------------------------------------------------------

Edit = Callable[[dict[str, Any]], Any]


def loaded(base: Base, stem: str = "", edit: Edit | None = None) -> RuleSet | Findings:
    """Load a base, one of its files edited; return what is wrong with it where it is refused."""
    nodes = dict(base.nodes)
    if edit is not None:
        plain = parse(base.texts[stem], FILE).plain()
        edit(plain)
        nodes[stem] = node_of(plain)
    findings = Findings({FILE: ""})
    rules = byhand.from_nodes(nodes, rulefuzz.Fuzz("").around[base.other], findings)
    return findings if rules is None else rules


def alike(rules: RuleSet | Findings, source: str, target: str, bodies: list[Any]) -> None:
    """Assert that both executors make the same of some payloads."""
    assert isinstance(rules, RuleSet)
    for body in bodies:
        for options in ({}, {"version": "1"}):
            assert differ(rules, source, target, body, options) is None


def test_an_error_is_told_though_the_same_place_is_right_in_another_layer() -> None:
    findings, pos = Findings({FILE: ""}), Pos(FILE, 1, 1)
    findings.error("R014", "the union `part` names `told`, which is no shape", pos)
    findings.warn_unless(True, "R014", "`said` is defined, and nothing uses it", pos)
    assert [f.severity for f in findings] == ["error"]


def _between(plain: dict[str, Any]) -> None:
    plain["conversation"]["enforce"] = {
        "turns": {"between": {"user": "a", "after": {"a": 1}, "before": "user"}}
    }


def _mixed(plain: dict[str, Any]) -> None:
    plain["tables"]["type"] = {"only": [1, "a"], "read-also": {"b": "c"}}


def _wireless(plain: dict[str, Any]) -> None:
    plain["conversation"] = {"wire": "text", "cases": {"user": {"wire": {"a": "b"}}, "tool": {}}}


def _unnamed(plain: dict[str, Any]) -> None:
    plain["limits"]["reasoning.budget"]["not-with"] = [{"forced-tool": 1}]


def _caseless(plain: dict[str, Any]) -> None:
    plain["conversation"]["cases"] = {}


@pytest.mark.parametrize(
    ("name", "edit", "told"),
    [
        ("turns", _between, "`between` says one turn, of the user or the assistant"),
        ("media", _mixed, "`c` is none of the words of `only`"),
        ("schemas", _caseless, "a conversation has `cases`"),
        ("schemas", _wireless, "`wire` of a conversation is an object"),
        ("choices", _unnamed, "`not-with` lists kinds of requests"),
    ],
    ids=[
        "a role that is no text",
        "words of two types",
        "a conversation without a case",
        "no picture",
        "a kind of request that is no text",
    ],
)
def test_what_no_check_foresaw_is_told(name: str, edit: Edit, told: str) -> None:
    findings = loaded(BASES[name], name, edit)
    assert isinstance(findings, Findings)
    assert told in [f.message for f in findings]


def test_a_case_of_a_conversation_may_take_away_what_all_have() -> None:
    def edit(plain: dict[str, Any]) -> None:
        plain["conversation"]["cases"]["user"] = {"wire": {"who": "user", "parts": "$removed"}}

    rules = loaded(BASES["marks"], "marks", edit)
    alike(rules, "marks", "other", [{"talk": [{"who": "user"}]}])


def _null(plain: dict[str, Any]) -> None:
    plain["request"]["wire"]["effort"] = "$reasoning.effort (fill null)"


def _own(plain: dict[str, Any]) -> None:
    plain["request"]["wire"]["own"] = "$own.mood (fill 1)"


def _given(plain: dict[str, Any]) -> None:
    plain["request"]["wire"]["more"] = "$own.more (default 1)"


def _absent(plain: dict[str, Any]) -> None:
    plain["conversation"]["cases"]["tool"]["wire"]["k"] = "$absent (or false)"


def _old(plain: dict[str, Any]) -> None:
    plain["request"]["wire"]["talk"] = "$messages as conversation (refused)"


def _beside(plain: dict[str, Any]) -> None:
    plain["conversation"]["cases"]["tool"]["wire"]["k"] = "$own.h (default 1)"


def _unlike(plain: dict[str, Any]) -> None:
    plain["request"]["wire"]["rules"] = "$system each text | text (or list) (optional)"
    plain["conversation"]["enforce"] = {"system": "lifted"}


def _within(plain: dict[str, Any]) -> None:
    plain["request"]["wire"] = {"a": plain["request"]["wire"]}


def _like_text(plain: dict[str, Any]) -> None:
    plain["shapes"]["tool_result"]["wire"] = {"kind": "text", "text": "$text"}


def _twice(plain: dict[str, Any]) -> None:
    plain["request"]["wire"]["own"] = "$temperature (fill 1)"


def _older(plain: dict[str, Any]) -> None:
    plain["shapes"]["text"]["wire"] = {"kind": "$text (refused)", "text": "$text"}


def _filled(plain: dict[str, Any]) -> None:
    plain["shapes"]["function"]["wire"]["about"] = "$description (fill w)"


def _empty(plain: dict[str, Any]) -> None:
    plain["request"]["wire"]["mood"] = {"...": "$absent"}


@pytest.mark.parametrize(
    ("name", "stem", "edit"),
    [
        ("overlay", "base", _empty),
        ("tools", "tools", _within),
        ("talk", "talk", _like_text),
        ("overlay", "base", _twice),
        ("variants", "variants", _older),
        ("tools", "tools", _filled),
        ("overlay", "base", _null),
        ("overlay", "base", _own),
        ("overlay", "base", _given),
        ("talk", "talk", _absent),
        ("overlay", "base", _old),
        ("talk", "talk", _beside),
        ("rewrite", "rewrite", _unlike),
    ],
    ids=[
        "an object without holes",
        "a request within a request",
        "a result that looks like a text",
        "a field that two keys hold",
        "a field that an old key holds, too",
        "a field that is filled in",
        "null",
        "a field of its own",
        "a default",
        "a key that is absent",
        "old messages",
        "a key beside",
        "system text",
    ],
)
def test_generated_code_is_left_where_it_would_differ(name: str, stem: str, edit: Edit) -> None:
    base = BASES[name]
    if name == "rewrite":

        def both(plain: dict[str, Any]) -> None:
            edit(plain)
            del plain["schemas"]
            plain["shapes"]["function"]["wire"]["takes"] = "$parameters"

        rules = loaded(base, stem, both)
    else:
        rules = loaded(base, stem, edit)
    assert isinstance(rules, RuleSet)
    fuzz = rulefuzz.Fuzz("")
    (dialect,) = {*rules.dialects} - {base.other}
    alike(rules, dialect, base.other, [base.bodies["request"]])
    alike(rules, base.other, dialect, fuzz.bodies[base.other])
    for body in fuzz.bodies[base.other]:
        fuzz.halved(rules, [base.other, dialect], body)
    assert fuzz.faults == {}


GONE = object()


def _put(plain: dict[str, Any], path: str, value: Any) -> None:
    """Put a value at a path of keys, or take away what stands there."""
    *keys, last = path.split("/")
    for key in keys:
        plain = plain.setdefault(key, {})
    if value is GONE:
        del plain[last]
    else:
        plain[last] = value


TYPED = {"type": "text"}
DEEP = {"a": {"b": "$own.k (default 1)"}}
# A base, one of its files, and what is put where.
CHANGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a turn of tools in which none answers": (
        "talk",
        "talk",
        {"conversation/cases/user/wire/who": "somebody"},
    ),
    "a role that nobody else has": ("talk", "talk", {"conversation/cases/user": GONE}),
    "results of a fixed text": ("ladder", "steps", {"shapes/tool_result/wire/text": "bot"}),
    "text in a turn of tools": ("ladder", "steps", {"shapes/tool_result/ir": TYPED}),
    "a list beside the role": ("talk", "talk", {"conversation/cases/tool/wire/k": ["lit"]}),
    "a role that is a list": ("talk", "talk", {"conversation/cases/user/wire/who": ["user"]}),
    "a second list in a run": (
        "talk",
        "talk",
        {"conversation/wire/more": "$parts each text (optional)"},
    ),
    "a key that may not be there": (
        "talk",
        "talk",
        {
            "shapes/tool_call/wire/with": "$arguments | object | json (optional)",
            "conversation/wire/k": "$absent",
        },
    ),
    "a list that is one text": (
        "variants",
        "variants",
        {"conversation/wire/parts": "$parts each text | text"},
    ),
    "a bare text of another kind": (
        "tools",
        "tools",
        {
            "shapes/refusal": {"wire": {"kind": "text", "text": "$text"}},
            "conversation/wire/parts": "$parts each refusal | text (or list)",
        },
    ),
    "a text with a null": ("talk", "talk", {"shapes/text/wire/k": None}),
    "a text with a number": ("talk", "talk", {"shapes/text/wire/n": "$nth (optional)"}),
    "a text with a default": ("tools", "tools", {"shapes/text/wire/k": "$own.h (default 1)"}),
    "a text that is only read": ("talk", "talk", {"shapes/text/wire/text": "$text (refused)"}),
    "a state of the request": ("overlay", "base", {"request/wire/model": "$signature (optional)"}),
    "tools that are only read": (
        "tools",
        "tools",
        {"request/wire/tools": "$tools each tool (read-only)"},
    ),
    "tools without functions": ("tools", "tools", {"unions/tool": ["text", "server"]}),
    "a default deep in a part": ("talk", "talk", {"shapes/tool_call/wire/k": DEEP}),
    "a default deep in a message": ("overlay", "base", {"conversation/wire/k": DEEP}),
    "a default deep in a request": (
        "talk",
        "talk",
        {"request/wire/k": {"a": "$max_tokens (default 5)"}},
    ),
    "a number of the request": ("talk", "talk", {"request/wire/k": "$nth (optional)"}),
    "all keys of a message": ("variants", "variants", {"conversation/wire/...": "$own.x"}),
    "no further key of a part": (
        "overlay",
        "base",
        {"shapes/text/wire": {"text": "$text", "...": "$absent"}},
    ),
    "no further key of a request": ("variants", "variants", {"request/wire/...": "$absent"}),
    "a key of the request that is given up": (
        "overlay",
        "base",
        {"request/wire/own": GONE, "request/drop": {"own": "It says nothing."}},
    ),
    "a request that says more": ("overlay", "base", {"request/ir": {"max_tokens": 9}}),
    "a text that is JSON": ("talk", "talk", {"shapes/text/wire/text": "$text | json"}),
    "arguments that are JSON of JSON": (
        "talk",
        "talk",
        {"shapes/tool_call/wire/with": "$arguments | object | json | json"},
    ),
    "a list of two lenses": (
        "talk",
        "talk",
        {"conversation/wire/parts": "$parts each part | text (or list) | single"},
    ),
    "a name that is JSON": ("tools", "tools", {"shapes/function/wire/name": "$name | json"}),
    "messages that are JSON": (
        "talk",
        "talk",
        {"request/wire/talk": "$messages as conversation | json"},
    ),
    "messages that may be left out": (
        "tools",
        "tools",
        {"request/wire/talk": "$messages as conversation (default empty-list)"},
    ),
    "system text in a list": (
        "talk",
        "talk",
        {"request/wire/rules": ["$system each text | text (or list) (optional)"]},
    ),
    "a field of its own with a guard": (
        "overlay",
        "base",
        {"request/wire/own": "$own.mood | list"},
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_both_executors_agree_on_a_changed_file(change: Any) -> None:
    name, stem, puts = change
    base, fuzz = BASES[name], rulefuzz.Fuzz("")

    def edit(plain: dict[str, Any]) -> None:
        for path, value in puts.items():
            _put(plain, path, value)

    nodes = {**base.nodes, "proxy": node_of({"wireglot": 2, "overlay": "base"})}
    used = base if name != "overlay" else base._replace(nodes=nodes)
    rules = loaded(used, stem, edit)
    assert isinstance(rules, RuleSet), list(rules)
    (dialect,) = {*rules.dialects} - {base.other}
    alike(rules, dialect, base.other, [base.bodies["request"]])
    alike(rules, base.other, dialect, fuzz.bodies[base.other])


@pytest.mark.parametrize(
    "name", ["$name (optional)", {"of": "$name (optional)"}], ids=["the key of a run", "deeper"]
)
def test_what_stands_beside_a_run_is_written_alike(name: Any) -> None:
    talk = BASES["talk"].plain["talk"]
    talk = {**talk, "conversation": {**talk["conversation"]}}
    _put(talk, "conversation/wire", {"parts": "$parts each part | text (or list)", "as": name})
    around = {k: node.plain() for k, node in rulefuzz.Fuzz("").around["other"].items()}
    around["other"]["conversation"]["wire"]["as"] = "$name (optional)"
    nodes = {k: node_of(plain) for k, plain in around.items()}
    rules = byhand.from_nodes({"talk": node_of(talk)}, nodes, Findings({FILE: ""}))
    message = {"who": "user", "says": [{"words": "Hi"}], "as": "Ann"}
    alike(rules or Findings(), "other", "talk", [{"talk": [message]}, {"talk": [message] * 2}])


@pytest.mark.parametrize(
    "told",
    [
        {"ir": {"type": {"...": "$absent"}}},
        {"ir": {"type": "$x"}, "wire": {"by": "model", "text": "$x"}},
        {"ir": {}, "wire": {"by": "model", "text": "$type"}},
    ],
    ids=["an object", "a name", "a field"],
)
def test_a_type_that_is_no_word_is_no_type(told: dict[str, Any]) -> None:
    rules = loaded(
        BASES["items"], "items", lambda plain: plain["shapes"]["told"].update({"wire": {}, **told})
    )
    assert isinstance(rules, RuleSet)
    body = {"talk": [{"by": "model", "text": []}]}
    (part,) = rules["items"].read(body).ir["messages"][0]["parts"]
    assert part["type"] == "unknown"


def test_a_step_to_a_type_that_is_no_word_is_not_taken() -> None:
    row = {"from": {"type": "text", "text": "$x"}, "to": {"type": {"a": "$x"}}}
    (step,) = ladder.load(node_of({"wireglot": 2, "ladder": {"text": {"row": row}}}))["text"]
    with pytest.raises(Misfit, match="the type of an object is a word"):
        ladder.apply(step, {"type": "text", "text": "Hi"}, Trail())


def test_an_overlay_of_another_file_that_no_longer_fits_is_told() -> None:
    def edit(plain: dict[str, Any]) -> None:
        del plain["shapes"]["said"]
        plain["unions"]["part"][1] = "SAID"

    findings = loaded(BASES["overlay"], "base", edit)
    assert isinstance(findings, Findings)
    told = [f.message for f in findings if f.severity == "error"]
    assert len(told) == 1
    assert told[0].startswith("with this layer, `said` is replaced whole, and fuzzed.yaml:")


@pytest.mark.parametrize(
    "usage",
    [
        {"one": "$by", "two": "$by.text (optional)"},
        {"two": "$by.text (optional)", "one": "$by"},
    ],
    ids=["the object first", "its field first"],
)
def test_a_field_of_what_is_no_object_is_a_misfit(usage: dict[str, str]) -> None:
    rules = loaded(
        BASES["response"], "response", lambda plain: _put(plain, "shapes/usage", {"wire": usage})
    )
    assert isinstance(rules, RuleSet)
    read = rules["response"].read
    assert read({"one": {"text": 3}}, unit="usage").ir["by"] == {"text": 3}
    with pytest.raises(ConversionError):
        read({"one": 5, "two": 3}, unit="usage")


def test_an_element_that_nothing_in_it_was_read_of_is_unknown() -> None:
    held = {"ir": {"result": {"kind": "error"}}, "wire": "$name (fill null)"}
    rules = loaded(
        BASES["files"], "files", lambda plain: _put(plain, "shapes/tool_call/cases/held", held)
    )
    assert isinstance(rules, RuleSet)
    call = {"call": "f", "id": "c1", "with": {}, "bad": {"why": "No."}}
    body = [{"who": "bot", "parts": [call]}]
    reading = rules["files"].read(body, unit="messages")
    assert reading.ir[0]["parts"] == [{"type": "unknown", "dialect": "files", "value": call}]
    assert rules["files"].write(reading.ir, unit="messages").body == body


@pytest.mark.parametrize("kind", ["TEXT", "te", "tool_calls"])
def test_an_event_of_no_kind_is_told(kind: str) -> None:
    def edit(plain: dict[str, Any]) -> None:
        events = plain["stream"]["events"]
        events[f"part_stop.{kind}"] = events.pop("part_stop.text")

    findings = loaded(BASES["brackets"], "brackets", edit)
    assert isinstance(findings, Findings)
    assert any(kind in finding.message for finding in findings if finding.severity == "error")


def test_a_response_that_no_unit_is_is_told() -> None:
    findings = loaded(BASES["brackets"], "brackets", lambda plain: plain.pop("response"))
    assert isinstance(findings, Findings)
    told = [finding.message for finding in findings if finding.severity == "error"]
    assert "`response` is no shape of this file" in told


def test_a_list_that_stands_deep_is_written_alike_by_functions_and_the_walk() -> None:
    def deep(plain: dict[str, Any]) -> None:
        _put(plain, "conversation/wire/parts", {"a": [["$parts each part | text (or list)"]]})

    rules = loaded(BASES["talk"], "talk", deep)
    ir = [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]
    assert isinstance(rules, RuleSet)
    with walked():
        slow = rules["talk"].write({"messages": ir})
    assert rules["talk"].write({"messages": ir}).body == slow.body


def test_messages_in_a_shape_are_written_alike_by_functions_and_the_walk() -> None:
    def named(plain: dict[str, Any]) -> None:
        said = {"only": {"talk": "$messages as conversation"}}
        _put(plain, "shapes/tool_choice/cases/named/wire", said)

    rules = loaded(BASES["tools"], "tools", named)
    assert isinstance(rules, RuleSet)
    parts = [{"type": "text", "text": "Hi"}]
    ir = {
        "messages": [{"role": "user", "parts": parts}],
        "tool_choice": {"name": "f"},
        "tools": [{"name": "f", "parameters": {"type": "object"}}],
    }
    with walked():
        slow = rules["tools"].write(ir)
    quick = rules["tools"].write(ir)
    assert (quick.body, quick.notes) == (slow.body, slow.notes)
    assert quick.body["choice"]["only"]["talk"] == quick.body["talk"] != []


@pytest.mark.parametrize(
    ("name", "path", "hole", "told"),
    [
        (
            "brackets",
            "stream/events/item_start.message/type",
            "$stop_reason | stop",
            "`stop` is no codec",
        ),
        (
            "brackets",
            "stream/events/item_start.message/type",
            "$own.item | single",
            "`single` is a codec of a list that a shape makes",
        ),
        (
            "streams",
            "stream/events/put.tool_call/put",
            [{"at": "$path | string", "is": "$piece"}],
            "`$path` is taken as it stands",
        ),
        (
            "response",
            "shapes/usage/wire/by",
            "$input entries count (optional)",
            "`$input` is one value in the IR, and has no shape",
        ),
        (
            "talk",
            "request/wire/k8",
            "$nth (refused)",
            "`(refused)` is of a value, and `$nth` is a place",
        ),
        ("talk", "request/wire/...", "$messages as conversation", "messages are a list"),
        (
            "tools",
            "request/wire/tools",
            "$tools as tool (optional)",
            "`$tools` is a list in the IR, and `as` takes one value",
        ),
        (
            "talk",
            "conversation/wire/k",
            "$nth (optional)",
            "`$nth` is the place of an element in the list of a hole, no message has it",
        ),
        (
            "talk",
            "conversation/wire/parts",
            "$parts each part | digits",
            "`digits` stands behind a value, and `each` makes a list",
        ),
        (
            "rewrite",
            "schemas/small/rewrite/nullable/here/title",
            "${name}",
            "nothing gives `$name` in the rewrite `nullable`",
        ),
    ],
)
def test_a_hole_that_takes_no_lens_or_shape_is_told(
    name: str, path: str, hole: Any, told: str
) -> None:
    findings = loaded(BASES[name], name, lambda plain: _put(plain, path, hole))
    assert isinstance(findings, Findings)
    assert told in [f.message for f in findings if f.severity == "error"]


@pytest.mark.parametrize(
    "path", ["shapes/function/wire/takes", "request/wire/tools"], ids=["in a shape", "refused"]
)
def test_tools_are_read_alike_by_functions_and_the_walk(path: str) -> None:
    mark = "optional" if path.startswith("shapes") else "read-only"
    base = BASES["rewrite"]

    def edit(plain: dict[str, Any]) -> None:
        plain["shapes"]["function"]["wire"]["takes"] = "$parameters"
        _put(plain, path, f"$tools each function ({mark})")

    rules = loaded(base, "rewrite", edit)
    assert isinstance(rules, RuleSet)
    body = base.bodies["request"]
    one = rules["rewrite"].read(body)
    with walked():
        two = rules["rewrite"].read(body)
    assert (one.ir, one.notes) == (two.ir, two.notes)


def test_what_no_check_foresaw_is_a_rule_error_of_every_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The engine's own failure is told with the file at work, and with a request to report it."""

    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("path")

    rules = wireglot.load_rules()
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    chunk = {"id": "1", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}
    for name, call in (
        ("conversion.hands.Reader.whole", lambda: rules["openai-chat"].read(body)),
        (
            "conversion.hands.Writer.quick_request",
            lambda: rules["openai-chat"].write(body),
        ),
        ("conversion.hands.Reader.whole", lambda: rules.convert(body, "openai-chat", "ollama")),
        ("streaming.fold.Fold.feed", lambda: wireglot.collect([chunk], "openai-chat")),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"wireglot.{name}", broken)
            with pytest.raises(wireglot.RuleError, match="no check foresaw") as caught:
                call()
        assert caught.value.file == "rules/openai-chat.yaml"
        assert isinstance(caught.value.__cause__, KeyError)


def test_what_a_function_of_the_caller_raises_goes_on() -> None:
    def resolve(_: Any) -> None:
        raise KeyError("mine")

    part = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    body = {"model": "m", "messages": [{"role": "user", "content": [part]}]}
    with pytest.raises(KeyError, match="mine"):
        wireglot.convert(body, "openai-chat", "ollama", resolve=resolve)


def test_events_that_take_a_list_as_a_whole_and_in_parts_are_heard_alike() -> None:
    rules = loaded(
        BASES["streams"],
        "streams",
        lambda plain: _put(plain, "stream/events/append.candidate.own.log", {"answers": "$piece"}),
    )
    assert isinstance(rules, RuleSet)
    rulefuzz.streamed(rules, "streams", BASES["streams"].bodies["stream"])


def test_of_a_text_and_a_list_for_one_field_the_first_counts_and_both_come_back() -> None:
    rules = loaded(
        BASES["marks"],
        "marks",
        lambda plain: _put(
            plain,
            "shapes/tool_result/wire",
            {"of": "$value | string", "json": "$value (fill null)"},
        ),
    )
    assert isinstance(rules, RuleSet)
    said = [{"who": "tool", "parts": [{"of": "x", "json": [1]}]}]
    read = rules["marks"].read(said, "messages")
    assert read.ir[0]["parts"][0]["value"] == "x"
    assert read.notes[0].code == "inconsistent"
    assert rules["marks"].write(read.ir, "messages").body == said
