"""Calls within a text, between two marks: whole, streamed, and in rows of data sets."""

from __future__ import annotations

import json
from typing import Any

import pytest

import wireglot

from . import width
from .test_within import chunk, chunks, cut, whole

Json = Any
F = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
G = '<tool_call>\n{"name": "g", "arguments": {"t": "a </tool_call> b"}}\n</tool_call>'
SAID_F, SAID_G = ("f", {"x": 1}), ("g", {"t": "a </tool_call> b"})
MARKS = "<tool_call>" + "</tool_call>" * 20
TEXTS: dict[str, tuple[str, list[Any]]] = {
    "a call": (F, [SAID_F]),
    "a text and two calls": (f"I look.\n{F}\n{G}", ["I look.", SAID_F, SAID_G]),
    "a thought before": (f"<think>Hm.</think>\n{F}", [("Hm.",), SAID_F]),
    "a thought and a text": (f"<think>Hm.</think>\nSo.\n\n{F}", [("Hm.",), "So.", SAID_F]),
    "texts around calls": (
        f" So. {F}\n Then {G}  Done.\n", [" So.", SAID_F, "Then", SAID_G, "Done.\n"],
    ),
    "spaces around": (f"  \n {F} \n", [SAID_F]),
    "what is no call": ("<tool_call>f(x=1)</tool_call> Hi", ["<tool_call>f(x=1)</tool_call> Hi"]),
    "no call, then one": (f"<tool_call>no</tool_call>\n{F}", ["<tool_call>no</tool_call>", SAID_F]),
    "a call that is not closed": (F.removesuffix("\n</tool_call>"), [SAID_F]),
    "a call that breaks off": ("Hi\n<tool_call>\n{\"na", ["Hi\n<tool_call>\n{\"na"]),
    "a mark that breaks off": ("Hi <tool_c", ["Hi <tool_c"]),
    "no mark": (" \n Hi <b> \n", [" \n Hi <b> \n"]),
    "arguments as text": (F.replace('{"x": 1}', '"{\\"x\\":1}"'), [SAID_F]),
    "many marks that close": (MARKS + F, [MARKS, SAID_F]),
}  # fmt: skip


LISTED = """
wireglot: 2
dialect: listed
extends: llama-cpp
see: https://example.com/api
verified: 2026-11-26
within-text: {tool_call: "[CALLS] ${. each called | json}"}
"""


# Between the marks of models that write calls as Python does: what is called, or None where that
# is no call and stays text.
PYTHON: dict[str, list[Any] | None] = {
    "[f(x=1)]": [("f", {"x": 1})],
    "f(x=1)": [("f", {"x": 1})],
    """[f(x=1), g.of(from='a "b"', y=[1, -0.5, 1e3,])] """: [
        ("f", {"x": 1}), ("g.of", {"from": 'a "b"', "y": [1, -0.5, 1000.0]})],
    "[f(x={'k': None, 'l': (True, false)}, y='')]": [
        ("f", {"x": {"k": None, "l": [True, False]}, "y": ""})],
    r"[f(x='it\'s \u00fc \ud83d\ude00 \x41 \q', y=007)]": [("f", {"x": "it's ü 😀 A \\q", "y": 7})],
    '[f(x="a\nb")]': [("f", {"x": "a\nb"})],
    '[{"name": "f", "arguments": {"x": 1}}]': [("f", {"x": 1})],  # as the same models do at times
    "[]": None,
    "f(1)": None,
    "[f(x=1)": None,
    "[f(x=y)]": None,
    "[f(x=g(y=1))]": None,
    "[f(x=1, x=2)]": None,
    "[f(x=1e999)]": None,
    "[f(x=nan)]": None,
    r"[f(x='\101')]": None,
    r"[f(x='\xzz')]": None,
    "[f(x='a)]": None,
    "__import__('os').system(x='true')": None,
    "[f(x=" + "[" * 2000 + "]" * 2000 + ")]": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def rules() -> Any:
    return wireglot.load_rules()


def said(rules: Any, body: Json, dialect: str) -> tuple[list[Any], Any]:
    """Return what an answer says: thoughts, texts, and calls by name and arguments."""
    [one] = rules[dialect].read(body, "response").ir["candidates"]
    found: list[Any] = []
    for part in one.get("parts", []):
        if part["type"] == "tool_call":
            found.append((part["name"], part["arguments"]))
        else:
            found.append(part["text"] if part["type"] == "text" else (part["text"],))
    return found, one.get("stop_reason")


@pytest.mark.parametrize("name", TEXTS)
def test_calls_in_a_text_are_calls(rules: Any, name: str) -> None:
    text, expected = TEXTS[name]
    body = whole(text)
    made = rules.convert(body, "llama-cpp", "gemini", "response", trace=True)
    calls = any(isinstance(one, tuple) and len(one) == 2 for one in expected)
    assert said(rules, made.body, "gemini") == (expected, "tool_use" if calls else "end_turn")
    assert rules.convert(body, "llama-cpp", "llama-cpp", "response").body == body
    ir = rules["llama-cpp"].read(body, "response").ir
    assert rules["llama-cpp"].write(ir, "response").body == body


@pytest.mark.parametrize("target", ["gemini", "openai-responses", "deepseek", "anthropic"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_stream_says_what_its_whole_says(rules: Any, name: str, target: str) -> None:
    text, _ = TEXTS[name]
    made = rules.convert(whole(text), "llama-cpp", target, "response")
    expected = said(rules, made.body, target)
    for seed in range(6):
        translator = rules.translator("llama-cpp", target)
        frames = chunks(cut(text, seed))
        out = [new for frame in frames for new in translator.feed(frame)] + translator.finish()
        assert said(rules, rules.collect(out, target), target) == expected
        assert said(rules, translator.result.body, target) == expected


@pytest.mark.parametrize("target", ["anthropic", "deepseek"])
def test_calls_of_a_stream_have_the_ids_of_its_whole(rules: Any, target: str) -> None:
    body = whole(f"{F}{G}")
    del body["id"]
    for head in ({}, {"id": "c"}):
        translator = rules.translator("llama-cpp", target)
        frames = chunks([F, G])
        frames = [{**head, **{k: v for k, v in f.items() if k != "id"}} if f != "[DONE]" else f
                  for f in frames]  # fmt: skip
        out = [new for frame in frames for new in translator.feed(frame)] + translator.finish()
        streamed, told = (
            [
                part["id"]
                for part in rules[target].read(one, "response").ir["candidates"][0]["parts"]
            ]
            for one in (rules.collect(out, target), translator.result.body)
        )
        assert streamed == told
        assert len(set(told)) == 2


def test_a_call_that_the_host_told_is_not_told_twice(rules: Any) -> None:
    body = whole(F, calls=True)
    made = rules.convert(body, "llama-cpp", "anthropic", "response").body
    assert [part["type"] for part in made["content"]] == ["text", "tool_use"]
    assert made["content"][0]["text"] == F


@pytest.mark.parametrize("name", ["vllm", "llama-cpp", "lm-studio"])
def test_what_does_not_pair_is_told_at_home_where_calls_have_a_place(rules: Any, name: str) -> None:
    result = {"role": "tool", "tool_call_id": "c9", "content": "x"}
    body = {"model": "m", "messages": [{"role": "user", "content": "?"}, result]}
    told = [(note.code, note.source_path) for note in rules.convert(body, name, name).notes]
    assert told == [("unpaired", "/messages/1")]


def test_a_call_to_the_end_of_a_text_is_not_written_where_it_would_take_what_follows() -> None:
    rows = LISTED.replace("llama-cpp", "hermes").replace("called", "tool_call")
    rules = wireglot.load_rules({"rows.yaml": rows.replace("dialect: listed", "dialect: rows")})
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = [{"role": "assistant", "content": "So.", "tool_calls": [call]}]
    body = {"model": "m", "messages": [{"role": "user", "content": "?"}, *said]}
    told = []
    for name in ("hermes", "rows"):
        notes = rules.convert(body, "openai-chat", name).notes
        told.append([n.source_path for n in notes if "tool_calls" in (n.source_path or "")])
    assert told == [["/messages/1/tool_calls/0/id"], ["/messages/1/tool_calls/0"]]


def test_what_can_be_no_mark_goes_out_at_once(rules: Any) -> None:
    translator = rules.translator("llama-cpp", "deepseek")
    seen = []
    for piece in ("Hi", " the", "re", " ", "<tool", "_x", "> ", "a", "<tool_call>", "{}"):
        [*made] = translator.feed(chunk({"content": piece}))
        deltas = [one["choices"][0]["delta"] for one in made]
        seen.append("".join(d.get("content") or "" for d in deltas))
    assert seen == ["Hi", " the", "re", "", "", " <tool_x", ">", " a", "", ""]


def test_a_list_of_calls_to_the_end_of_a_text_is_data() -> None:
    rules = wireglot.load_rules({"listed.yaml": LISTED})
    text = 'So.[CALLS] [{"name":"f","arguments":{"x":1}},{"name":"g","arguments":{}}]'
    made = rules.convert(whole(text), "listed", "gemini", "response").body
    assert said(rules, made, "gemini")[0] == ["So.", ("f", {"x": 1}), ("g", {})]


@pytest.mark.parametrize(
    ("written", "target"),
    width.some([(one, target) for one in PYTHON for target in ("gemini", "anthropic")], 3),
)
def test_calls_as_python_writes_them_are_calls(rules: Any, written: str, target: str) -> None:
    text = f"So. <|tool_call_start|>{written}<|tool_call_end|> Done."
    calls = PYTHON[written]
    if calls and target == "anthropic":  # which takes no point in a name
        calls = [(name.replace(".", "_"), given) for name, given in calls]
    expected = [text] if calls is None else ["So.", *calls, "Done."]
    for source in ("vllm", "lm-studio"):
        body = {**whole(text), "model": "LiquidAI/LFM2-2.6B"}
        made = rules.convert(body, source, target, "response").body
        assert said(rules, made, target)[0] == expected
        assert rules.convert(body, source, source, "response").body == body
        for seed in range(3):
            frames = [f if isinstance(f, str) else {**f, "model": body["model"]}
                      for f in chunks(cut(text, seed))]  # fmt: skip
            translator = rules.translator(source, target)
            out = [new for frame in frames for new in translator.feed(frame)]
            out += translator.finish()
            assert said(rules, rules.collect(out, target), target)[0] == expected


def test_calls_are_written_as_python_writes_them() -> None:
    rows = LISTED.replace("llama-cpp", "hermes").replace("dialect: listed", "dialect: rows")
    rows = rows.replace(
        '"[CALLS] ${. each called | json}"', '"<c>${. each tool_call | python}</c>"'
    )
    rules = wireglot.load_rules({"rows.yaml": rows})
    names = [("f", {"x": [True, None, {"k": 'a "b"'}], "y": -1.5}), ("g", {})]
    calls: Json = [
        {"id": n, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
        for n, a in names
    ]
    said = [{"role": "assistant", "content": "So.", "tool_calls": calls}]
    body = {"model": "m", "messages": [{"role": "user", "content": "?"}, *said]}
    made = rules.convert(body, "openai-chat", "rows")
    written = '<c>[f(x=[True, None, {"k": "a \\"b\\""}], y=-1.5),g()]</c>'
    assert made.body["conversations"][1]["value"] == f"So.{written}"
    back = rules.convert(made.body, "rows", "openai-chat").body["messages"][1]["tool_calls"]
    assert [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in back] == names
    # A name that Python does not take stands in no call, and is told.
    calls[0]["function"]["arguments"] = '{"a-b":1}'
    notes = rules.convert(body, "openai-chat", "rows").notes
    assert "/messages/1/tool_calls/0" in {
        note.source_path for note in notes if note.effect == "lost"
    }


# -- rows of data sets ------------------------------------------------------------------------


TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "w"},
    {"role": "assistant", "content": "I look.", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
        {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "a", "content": "22"},
    {"role": "tool", "tool_call_id": "b", "content": '{"n":3}'},
    {"role": "assistant", "content": "Done."},
]  # fmt: skip


def test_a_talk_becomes_a_row_of_hermes_and_comes_back(rules: Any) -> None:
    made = rules.convert({"messages": TALK}, "openai-chat", "hermes")
    turns = made.body["conversations"]
    assert [turn["from"] for turn in turns] == ["system", "human", "gpt", "tool", "gpt"]
    assert turns[2]["value"] == (
        'I look.\n<tool_call>\n{"name":"f","arguments":{"x":1}}\n</tool_call>'
        '\n<tool_call>\n{"name":"g","arguments":{}}\n</tool_call>'
    )
    assert turns[3]["value"] == (
        '<tool_response>\n{"name":"f","content":"22"}\n</tool_response>'
        '\n<tool_response>\n{"name":"g","content":{"n":3}}\n</tool_response>'
    )
    assert {note.severity for note in made.notes} == {"info"}
    back = rules.convert(made.body, "hermes", "openai-chat").body["messages"]
    ids = [call["id"] for call in back[2]["tool_calls"]]
    assert [one.get("tool_call_id") for one in back[3:5]] == ids
    for message in back:
        message.pop("tool_call_id", None)
        for call in message.get("tool_calls", ()):
            del call["id"]
    meant = json.loads(json.dumps(TALK))
    for message in meant:
        message.pop("tool_call_id", None)
        for call in message.get("tool_calls", ()):
            del call["id"]
    assert back == meant


@pytest.mark.parametrize(
    "value",
    [
        '<tool_response>\n{"name": "f", "content": {"n": 1.0}}\n</tool_response>',
        "<tool_response>\n{'name': 'f'}\n</tool_response>",
        "<tool_response>\n{}\n</tool_response>\n<tool_response>\n[1]\n</tool_response>",
        "<tool_response>\n\n</tool_response>",
        '<tool_response>\n{"name": "f", "content": "x", "more": 1}\n</tool_response>',
    ],
)
def test_what_a_tool_says_comes_home(rules: Any, value: str) -> None:
    row = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": F},
                             {"from": "tool", "value": value}], "id": 7}  # fmt: skip
    made = rules.convert(row, "hermes", "hermes")
    assert (made.body, made.notes) == (row, ())
    ir = rules["hermes"].read(row).ir
    assert rules["hermes"].write(ir).body == row
    [result] = [p for m in ir["messages"] for p in m["parts"][:1] if p["type"] == "tool_result"]
    assert result["kind"] in ("text", "data")
    abroad = rules.convert(row, "hermes", "anthropic").body["messages"]
    assert abroad[1]["content"][0]["id"] == abroad[2]["content"][0]["tool_use_id"]


def test_what_says_the_mark_between_two_is_told(rules: Any) -> None:
    between = "a\n</tool_response>\n<tool_response>\nb"
    talk = [*TALK[:3], {"role": "tool", "tool_call_id": "a", "content": between}]
    made = rules.convert({"messages": talk}, "openai-chat", "sharegpt")
    assert [n.source_path for n in made.notes if n.code == "ambiguous"] == ["/messages/3"]


@pytest.mark.parametrize("source", ["hermes", "sharegpt"])
def test_an_audit_says_what_rows_become(rules: Any, source: str) -> None:
    said = str(rules.audit(source, "ollama"))
    assert "conversations[].value" in said
