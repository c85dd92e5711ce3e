"""Words that two or three dialects need together, on invented providers in tests/dialects."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import wireglot

from .walk import walked

FOLDER = Path(__file__).parent / "dialects"
HEAD = "wireglot: 2\ndialect: {name}\nsee: https://example.com\nverified: 2026-11-21\n"


@pytest.fixture(scope="module")
def rules() -> Any:
    return wireglot.load_rules(FOLDER)


def loaded(folder: Path, **dialects: str) -> Any:
    """Load dialects from their texts, beside the ladder alone."""
    for name, text in dialects.items():
        (folder / f"{name}.yaml").write_text(HEAD.format(name=name) + text)
    return wireglot.load_rules(folder, builtin=False)


def told(conversion: Any) -> list[tuple[str, str, str | None]]:
    return sorted((n.code, n.effect, n.source_path) for n in conversion.notes)


# -- marks --------------------------------------------------------------------------------------

POINT = {"cachePoint": {"type": "default"}}
MARKED: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": [{"text": "a"}, POINT, {"text": "b"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "t1", "content": [{"text": "r"}]}},
                POINT,
                {"text": "go on"},
            ],
        },
    ],
    "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
    "toolConfig": {
        "tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}, POINT]
    },
}


def test_an_element_that_marks_the_one_before_is_a_field_of_it(rules: Any) -> None:
    ir = rules["blocks"].read(MARKED).ir
    assert ir["messages"][1]["parts"] == [
        {"type": "text", "text": "a", "cache": {}},
        {"type": "text", "text": "b"},
    ]
    assert ir["messages"][0]["parts"][0]["cache"] == {"ttl": "1h"}
    assert ir["messages"][3]["parts"][0]["cache"] == {}
    assert ir["tools"][0]["cache"] == {}


def test_a_mark_becomes_a_property_and_an_element_again(rules: Any) -> None:
    out = rules.convert(MARKED, "blocks", "anthropic", model="m")
    assert told(out) == [("filled-in", "added", None)]
    control = {"cache_control": {"type": "ephemeral"}}
    hour = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    assert out.body["system"] == [{"type": "text", "text": "Be brief."} | hour]
    assert out.body["messages"][0]["content"] == [
        {"type": "text", "text": "a"} | control,
        {"type": "text", "text": "b"},
    ]
    assert out.body["tools"][0]["cache_control"] == control["cache_control"]
    back = rules.convert(out.body, "anthropic", "blocks", model="m")
    assert back.body == {**MARKED, "inferenceConfig": {"maxTokens": 32000}}
    assert back.notes == ()


def test_a_mark_without_a_place_is_noted_where_it_stood(rules: Any) -> None:
    out = rules.convert(MARKED, "blocks", "gemini", model="m")
    assert told(out) == [
        ("no-place", "lost", "/messages/0/content/1"),
        ("no-place", "lost", "/messages/2/content/1"),
        ("no-place", "lost", "/system/1"),
        ("no-place", "lost", "/toolConfig/tools/1"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        [POINT, {"text": "a"}],
        [{"text": "a"}, POINT, POINT],
        [{"alien": 1}, POINT, {"text": "a"}],
        [{"text": "a"}, {"cachePoint": {"type": "default", "zzz": [1]}}],
        [{"text": "a"}, {"cachePoint": {"type": "other"}}],
    ],
)
def test_a_mark_of_any_kind_and_place_stays_at_home(rules: Any, content: Any) -> None:
    body = {"messages": [{"role": "user", "content": content}]}
    assert rules.convert(body, "blocks", "blocks").body == body
    abroad = rules.convert(body, "blocks", "anthropic", model="m")
    assert {n.code for n in abroad.notes} <= {"filled-in", "unknown-part", "unknown-key"}
    assert len(abroad.notes) > 1


def test_a_single_element_takes_no_mark_beside_it(rules: Any) -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": "r",
        "cache_control": {"type": "ephemeral"},
    }
    out = rules.convert(result, "anthropic", "blocks", unit="tool_result")
    assert out.body == {"toolResult": {"toolUseId": "t1", "content": [{"text": "r"}]}}
    assert told(out) == [("no-place", "lost", "/cache_control")]


def test_what_looks_like_marks_in_data_is_none(rules: Any) -> None:
    data = {"blocks": [{"n": n, "cache": {"ttl": n}} for n in range(6)]}
    said = {"type": "text", "text": "a", "cache": {"ttl": "5m"}}
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {}}
    result = {"type": "tool_result", "tool_call_id": "c", "kind": "data", "value": data}
    roles = {"user": said, "assistant": call, "tool": result}
    messages = [{"role": role, "parts": [part]} for role, part in roles.items()]
    out = rules["anthropic"].write({"messages": messages}, options={"repair": True})
    first, _, last = out.body["messages"]
    assert first["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "5m"}
    assert json.loads(last["content"][0]["content"]) == data
    assert told(out) == [("filled-in", "added", None)]


def test_a_mark_gathers_nothing(tmp_path: Path) -> None:
    text = "shapes: {text: {marks: cache, groups: text, wire: {a: $run each text}}}\n"
    with pytest.raises(wireglot.RuleError, match="marks the element before it, and gathers"):
        loaded(tmp_path, one=text)


# -- flat lists of items ------------------------------------------------------------------------


def test_an_unknown_item_of_a_flat_list_is_a_part_and_a_broken_message_is_none(rules: Any) -> None:
    item = {"type": "search_call", "id": "ws_1"}
    body = {"input": [{"role": "user", "content": "Hi"}, item]}
    ir = rules["items"].read(body).ir
    assert ir["messages"][1] == {
        "role": "assistant",
        "parts": [{"type": "unknown", "dialect": "items", "value": item}],
    }
    assert rules.convert(body, "items", "items").body == body
    assert told(rules.convert(body, "items", "openai-chat")) == [
        ("empty-message", "lost", "/input/1"),
        ("unknown-part", "lost", "/input/1"),
    ]
    with pytest.raises(wireglot.ConversionError) as caught:
        rules.convert({"input": [{"role": "user", "content": 5}]}, "items", "openai-chat")
    assert caught.value.path == "/input/0/content"
    with pytest.raises(wireglot.ConversionError, match="the role is 'alien'"):
        rules.convert({"input": [{"role": "alien", "content": "Hi"}]}, "items", "openai-chat")


SAID_BY = """
shapes: {text: {wire: {value: $text}}}
conversation:
  wire: {...: $parts each text | single}
  cases:
    user: {wire: {from: human}}
    assistant: {wire: {from: gpt}}
    system: {wire: {from: system}}
request: {wire: {conversations: $messages as conversation}}
"""


def test_an_error_names_all_words_for_who_speaks(tmp_path: Path) -> None:
    rules = loaded(tmp_path, said=SAID_BY)
    with pytest.raises(wireglot.ConversionError) as caught:
        rules["said"].read({"conversations": [{"from": "tool", "value": "Hi"}]})
    assert "the from is 'tool', expected one of `human`, `gpt`, `system`" in str(caught.value)
    assert caught.value.path == "/conversations/0/from"


def test_who_speaks_may_be_a_number(tmp_path: Path) -> None:
    words = {"human": "1", "gpt": "2", "system": "0"}
    text = re.sub(r"from: (\w+)", lambda m: f"from: {words[m[1]]}", SAID_BY)
    rules = loaded(tmp_path, said=text)
    with pytest.raises(wireglot.ConversionError, match="the from is 5, expected one of `1`, `2`"):
        rules["said"].read({"conversations": [{"from": 5, "value": "Hi"}]})
    # With a role that is right the message names what is missing.
    with pytest.raises(wireglot.ConversionError, match="`value` is missing, at /conversations/0/v"):
        rules["said"].read({"conversations": [{"from": 1}]})


def test_no_item_holds_parts_of_two_messages(rules: Any) -> None:
    said = [{"role": "assistant", "content": text} for text in ("One.", "Two.")]
    out = rules.convert({"messages": said}, "openai-chat", "items")
    assert [[p["text"] for p in item["content"]] for item in out.body["input"]] == [
        ["One."],
        ["Two."],
    ]
    assert ("joined", "changed", "/messages/1") in told(out)


def test_what_stands_beside_a_run_is_said_once_and_begins_a_new_run(rules: Any) -> None:
    texts = [{"type": "summary_text", "text": text} for text in ("One.", "Two.")]
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": texts, "encrypted_content": "AAA"},
        {"type": "reasoning", "id": "rs_2", "summary": texts[:1]},
    ]
    parts = rules["items"].read({"input": items}).ir["messages"][0]["parts"]
    assert [part.get("own", {}).get("items") for part in parts] == [
        {"item": "rs_1"},
        None,
        {"item": "rs_2"},
    ]
    for part in parts:  # not by memory alone
        part.pop("spelled", None)
    message = {"role": "assistant", "parts": parts}
    written = rules["items"].write({"messages": [message]}, options={"repair": True})
    assert written.body == {"input": [*items[:1], items[1]]}
    abroad = rules.convert({"input": items}, "items", "gemini", model="m")
    assert told(abroad) == [
        ("foreign-signature", "lost", "/input/0/encrypted_content"),
        ("own-field", "lost", "/input/0/id"),
        ("own-field", "lost", "/input/1/id"),
    ]
    nowhere = rules.convert({"input": items}, "items", "openai-chat")
    assert ("no-place", "lost", "/input/0/encrypted_content") in told(nowhere)


# -- made ids -----------------------------------------------------------------------------------


def test_an_id_that_is_wanted_is_made_from_place_and_content(rules: Any) -> None:
    said = [{"role": "assistant", "content": "Same."}, {"role": "user", "content": "?"}]
    body = {"messages": said * 2}
    out = rules.convert(body, "openai-chat", "items")
    ids = [item["id"] for item in out.body["input"] if "id" in item]
    assert len(set(ids)) == 2
    assert all(id_.startswith("msg_") and len(id_) == 16 for id_ in ids)
    assert rules.convert(body, "openai-chat", "items").body == out.body
    made = [n for n in out.notes if n.code == "made-id"]
    assert [(n.effect, n.source_path, n.target_path) for n in made] == [
        ("added", None, "/input/0/id"),
        ("added", None, "/input/2/id"),
    ]


@pytest.mark.parametrize("body", [{}, {"id": None}, {"id": "resp_1"}])
def test_an_id_is_not_made_where_home_had_none(rules: Any, body: Any) -> None:
    rest = {
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [{"role": "assistant", "content": "Hi"}],
        "status": "completed",
    }
    whole = body | rest
    assert rules.convert(whole, "items", "items", unit="response")[:2] == (whole, ())
    abroad = rules.convert(whole, "items", "plans", unit="response")
    assert abroad.body["id"].startswith(body.get("id") or "plan_")


def test_a_bare_text_is_a_text_and_no_other_part(rules: Any) -> None:
    thought = {"type": "thinking", "thinking": "Hm."}
    body = {"messages": [{"role": "assistant", "content": [thought]}]}
    ir = rules["plans"].read(body).ir
    assert ir["messages"][0]["parts"] == [{"type": "reasoning", "text": "Hm."}]
    fresh = {"role": "assistant", "parts": [{"type": "reasoning", "text": "Hm."}]}
    assert rules["plans"].write({"messages": [fresh]}).body == body


# -- copies -------------------------------------------------------------------------------------

COPIED = """
shapes: {text: {wire: {text: $text, again: {said: $text (copy)}}}}
unions: {part: [text]}
conversation: {wire: {parts: $parts each part}, cases: {user: {wire: {role: user}}}}
request: {wire: {turns: $messages as conversation}}
"""
PLAIN = """
shapes: {text: {wire: {words: $text}}}
unions: {part: [text]}
conversation: {wire: {says: $parts each part}, cases: {user: {wire: {who: user}}}}
request: {wire: {talk: $messages as conversation}}
"""


@pytest.mark.parametrize(
    ("part", "notes"),
    [
        ({"text": "Hi", "again": {"said": "Hi"}}, []),
        ({"text": "Hi"}, []),
        ({"text": "Hi", "again": {}}, []),
        ({"text": "Hi", "again": {"said": None}}, []),
        (
            {"text": "Hi", "again": {"said": "Ho"}},
            [("inconsistent", "changed", "/turns/0/parts/0/again/said")],
        ),
        (
            {"text": "Hi", "again": {"said": 5}},
            [("inconsistent", "changed", "/turns/0/parts/0/again/said")],
        ),
    ],
)
def test_a_copy_repeats_a_value_and_never_gives_one(tmp_path: Path, part: Any, notes: Any) -> None:
    rules = loaded(tmp_path, one=COPIED, two=PLAIN)
    body = {"turns": [{"role": "user", "parts": [part]}]}
    assert rules.convert(body, "one", "one")[:2] == (body, ())
    out = rules.convert(body, "one", "two")
    assert out.body == {"talk": [{"who": "user", "says": [{"words": "Hi"}]}]}
    assert [n for n in told(out) if n[0] != "unknown-key"] == notes
    back = rules.convert(out.body, "two", "one")
    whole = {"text": "Hi", "again": {"said": "Hi"}}
    assert back[:3] == ({"turns": [{"role": "user", "parts": [whole]}]}, (), None)


SAME = """
shapes:
  tool_call: {wire: {call: $id, with: $arguments, ...: $. as named}}
  named:
    cases:
      own: {read-only: true, wire: {group: $name (same), tool: $name}}
      grouped: {ir: {name: "${box}/${name}"}, wire: {group: $box | string, tool: $name | string}}
      alone: {wire: {tool: $name}}
unions: {part: [tool_call]}
conversation: {wire: {parts: $parts each part}, cases: {assistant: {wire: {role: model}}}}
request: {wire: {turns: $messages as conversation}}
"""


@pytest.mark.parametrize(
    ("said", "name", "back"),
    [
        ({"group": "sum", "tool": "sum"}, "sum", {"tool": "sum"}),
        ({"group": "math", "tool": "sum"}, "math/sum", {"group": "math", "tool": "sum"}),
        ({"tool": "sum"}, "sum", {"tool": "sum"}),
    ],
)
def test_a_case_is_told_apart_by_two_places_that_say_the_same(
    tmp_path: Path, said: Any, name: str, back: Any
) -> None:
    rules = loaded(tmp_path, one=SAME, two=SAME)
    body = {"turns": [{"role": "model", "parts": [{"call": "a", "with": {}, **said}]}]}
    for trace in (False, True):
        assert rules.convert(body, "one", "one", trace=trace)[:2] == (body, ())
        assert rules.convert(body, "one", "one", options={"repair": False})[:2] == (body, ())
    ir = rules["one"].read(body).ir
    assert rules["one"].write(ir).body == body
    assert ir["messages"][0]["parts"][0]["name"] == name
    out = rules.convert(body, "one", "two")
    assert out.body["turns"][0]["parts"] == [{"call": "a", "with": {}, **back}]
    assert out.notes == ()


def test_a_copy_of_nothing_is_refused(tmp_path: Path) -> None:
    text = COPIED.replace("{text: $text,", "{text: $own.url,")
    with pytest.raises(wireglot.RuleError, match=r"there is no other hole of `\$text` that this"):
        loaded(tmp_path, one=text)


# -- the order of turns -------------------------------------------------------------------------

TURNS = """
shapes:
  text: {wire: {text: $text}}
  image: {ir: {source: {type: url, url: $url}}, wire: {picture: $url}}
  tool_call: {wire: {call: $id, name: $name, with: $arguments}}
  tool_result: {by: kind, wire: {answer: $tool_call_id}, cases: {text: {wire: {text: $value}}}}
unions: {part: [text, image, tool_call]}
conversation:
  wire: {parts: $parts each part}
  cases:
    system: {wire: {role: system}}
    user: {wire: {role: user}}
    assistant: {wire: {role: assistant}}
    tool: {wire: $parts each tool_result}
  enforce: {ENFORCE}
request: {wire: {turns: $messages as conversation}}
"""
CHAT = {
    "u": {"role": "user", "content": "U"},
    "v": {"role": "user", "content": "V"},
    "a": {"role": "assistant", "content": "A"},
    "b": {"role": "assistant", "content": "B"},
    "s": {"role": "system", "content": "S"},
    "c": {
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    },
    "r": {"role": "tool", "tool_call_id": "c1", "content": "R"},
}
START, END = "turns: {first: {user: Hello.}}", "turns: {last: {user: Go on.}}"
BETWEEN = "turns: {between: {assistant: Well., after: tool, before: user}}"
ALTERNATE = "turns: {alternate: true}"


@pytest.mark.parametrize(
    ("enforce", "chat", "written", "notes"),
    [
        (START, "au", "Hello. A U", [("turn-added", "added", None)]),
        (START, "sau", "S Hello. A U", [("turn-added", "added", None)]),
        (START, "ua", "U A", []),
        (START, "", "", []),
        (END, "ua", "U A Go on.", [("turn-added", "added", None)]),
        (END, "u", "U", []),
        (END, "ucr", "U call R", []),
        (END, "uc", "U call", []),
        (BETWEEN, "ucru", "U call R Well. U", [("turn-added", "added", None)]),
        (BETWEEN, "ucrau", "U call R A U", []),
        (ALTERNATE, "uva", "UV A", [("joined", "changed", "/messages/1")]),
        (ALTERNATE, "uabu", "U AB U", [("joined", "changed", "/messages/2")]),
        (ALTERNATE, "ucra", "U call R A", []),
        ("turns: {alternate: true, first: {user: Hello.}}", "abv", "Hello. AB V", None),
    ],
)
def test_turns_stand_as_the_target_wants_them(
    tmp_path: Path, enforce: str, chat: str, written: str, notes: Any
) -> None:
    (tmp_path / "one.yaml").write_text(HEAD.format(name="one") + TURNS.replace("ENFORCE", enforce))
    rules = wireglot.load_rules(tmp_path)
    body = {"messages": [CHAT[key] for key in chat]}
    out = rules.convert(body, "openai-chat", "one")
    found = [
        "".join(part.get("text", "call") for part in turn.get("parts", [turn]))
        for turn in out.body["turns"]
    ]
    assert " ".join(found) == written
    if notes is not None:
        assert told(out) == notes
    for note in out.notes:
        assert note.effect != "added" or note.rule is not None
    home = {"turns": out.body["turns"][::-1]}
    assert rules.convert(home, "one", "one").body == home


def test_what_leaves_a_result_stands_in_turn_too(tmp_path: Path) -> None:
    both = BETWEEN[:-1] + ", alternate: true}"
    text = TURNS.replace("ENFORCE", both)
    (tmp_path / "one.yaml").write_text(HEAD.format(name="one") + text)
    rules = wireglot.load_rules(tmp_path)
    image = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": [{"type": "text", "text": "R"}, image],
    }
    use = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    for after in ([], [{"type": "text", "text": "U"}]):
        body = {
            "messages": [
                {"role": "assistant", "content": [use]},
                {"role": "user", "content": [result, *after]},
            ]
        }
        out = rules.convert(body, "anthropic", "one")
        picture = [{"text": "Returned by f (c1):"}, {"picture": "https://example.com/a.png"}]
        assert out.body["turns"][1:] == [
            {"answer": "c1", "text": "R"},
            {"role": "assistant", "parts": [{"text": "Well."}]},
            {"role": "user", "parts": [*picture, *({"text": p["text"]} for p in after)]},
        ]
        assert [n.code for n in out.notes].count("turn-added") == 1


NARROW = """
shapes:
  text: {wire: {text: $text}}
  function: {wire: {name: $name}}
  tool_choice:
    cases:
      auto: {ir: {tool_choice: auto}, wire: any}
      required: {ir: {tool_choice: required}, wire: must}
unions: {part: [text], tool: [function]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}}
  enforce: {tools: [narrowed]}
request:
  wire:
    turns: $messages as conversation
    tools: $tools each tool (optional)
    choice: $. as tool_choice (optional)
"""


@pytest.mark.parametrize(
    ("choice", "names", "written", "notes"),
    [
        ("required", ["f", "g"], "must", []),
        (
            {"name": "g"},
            ["g"],
            "must",
            [("narrowed", "changed", "/tool_choice"), ("narrowed", "lost", "/tools/0")],
        ),
        (
            {"allowed": ["f"], "mode": "auto"},
            ["f"],
            None,
            [("narrowed", "changed", "/tool_choice"), ("narrowed", "lost", "/tools/1")],
        ),
        (
            "none",
            None,
            None,
            [
                ("narrowed", "changed", "/tool_choice"),
                ("narrowed", "lost", "/tools/0"),
                ("narrowed", "lost", "/tools/1"),
            ],
        ),
        (
            {"name": "zzz"},
            ["f", "g"],
            None,
            [("no-tool", "lost", "/tool_choice")],
        ),
    ],
)
def test_a_choice_among_tools_is_said_by_sending_fewer(
    tmp_path: Path, choice: Any, names: Any, written: Any, notes: Any
) -> None:
    (tmp_path / "one.yaml").write_text(HEAD.format(name="one") + NARROW)
    rules = wireglot.load_rules(tmp_path)
    wire: Any = choice
    if isinstance(choice, dict):
        wire = {"type": "function", "function": choice}
        if "allowed" in choice:
            listed = [{"type": "function", "function": {"name": n}} for n in choice["allowed"]]
            inner = {"mode": choice["mode"], "tools": listed}
            wire = {"type": "allowed_tools", "allowed_tools": inner}
    tools = [{"type": "function", "function": {"name": name}} for name in "fg"]
    body = {"messages": [CHAT["u"]], "tools": tools, "tool_choice": wire}
    out = rules.convert(body, "openai-chat", "one")
    found = [tool["name"] for tool in out.body["tools"]] if "tools" in out.body else None
    assert (found, out.body.get("choice")) == (names, written)
    assert [(c, e, p.removesuffix("/function")) for c, e, p in told(out) if p] == notes


def test_tools_of_the_provider_do_not_stand_beside_functions(tmp_path: Path) -> None:
    rules = NARROW.replace("[narrowed]", "[unmixed]").replace("[function]", "[function, web]")
    search = "web: {ir: {type: native, name: builtin/x}, wire: {search: {...: $absent}}}"
    rules = rules.replace("  tool_choice:\n", f"  {search}\n  tool_choice:\n", 1)
    (tmp_path / "one.yaml").write_text(HEAD.format(name="one") + rules)
    one = wireglot.load_rules(tmp_path)["one"]
    tool = {"type": "native", "name": "builtin/x"}
    out = one.write({"messages": [], "tools": [tool]})
    assert (out.body["tools"], out.notes) == ([{"search": {}}], ())
    out = one.write({"messages": [], "tools": [tool, {"name": "f"}]})
    assert out.body["tools"] == [{"name": "f"}]
    assert [(n.code, n.effect, n.severity) for n in out.notes] == [("no-place", "lost", "error")]
    body = {"turns": [], "tools": [{"search": {}}, {"name": "f"}]}  # at home it may be right
    assert one.write(one.read(body).ir).body == body


@pytest.mark.parametrize(
    "item",
    [
        "{last: {user: 5}}",
        "{last: {tool: T}}",
        "{first: {user: T, before: 5}}",
        "{last: {user: T, before: tool_call}}",
        "{between: {user: T, after: tool}}",
        "{last: {user: T, assistant: T}}",
        "{last: T}",
    ],
)
def test_a_turn_is_one_of_the_user_or_the_assistant(tmp_path: Path, item: str) -> None:
    with pytest.raises(wireglot.RuleError, match="says one turn, of the user or the") as caught:
        loaded(tmp_path, one=TURNS.replace("ENFORCE", f"turns: {item}"))
    assert caught.value.line == 19


# -- what no picture fits stays where it stood ----------------------------------------------------

SUMMED = {"type": "summary_text", "text": "One."}
CALLS = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        (
            "items",
            [{"type": "reasoning", "id": "rs_1", "summary": [{"type": "alien"}, SUMMED], "zz": 1}],
        ),
        ("items", [{"type": "reasoning", "id": "rs_1", "summary": [SUMMED, {"type": "alien"}]}]),
        ("items", [{"role": "assistant", "content": [{"type": "alien"}]}]),
        ("plans", [{"role": "assistant", "tool_plan": "P", "content": "C", "tool_calls": CALLS}]),
        (
            "plans",
            [
                {
                    "role": "assistant",
                    "tool_plan": "P",
                    "content": [{"type": "alien"}],
                    "tool_calls": CALLS,
                }
            ],
        ),
        ("plans", [{"role": "assistant", "tool_plan": "P", "content": "C", "tool_calls": []}]),
    ],
)
def test_odd_elements_stay_in_their_lists(rules: Any, dialect: str, body: Any) -> None:
    whole = {"input" if dialect == "items" else "messages": body}
    out = rules.convert(whole, dialect, dialect)
    assert out.body == whole
    assert all(note.effect == "kept" for note in out.notes)


def test_a_lost_run_names_all_that_stood_beside_it(rules: Any) -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [SUMMED], "zz": {"y": 1}}
    out = rules.convert({"input": [item]}, "items", "openai-chat")
    assert {path for _, _, path in told(out)} >= {
        "/input/0/summary/0",
        "/input/0/id",
        "/input/0/zz",
    }


# -- home, open objects, opaque fields ------------------------------------------------------------

OPEN = """
carry: {tool_call: extra}
shapes:
  text: {wire: {text: $text}}
  tool_call:
    wire: {call: $id, tool: $name, with: $arguments}
    cases:
      signed:
        ir: {signature: {value: $seal, origin: other}}
        wire: {extra: {seal: $seal | string}}
      plain: {wire: {extra: $own.extra (optional)}}
  tool_result:
    by: kind
    wire: {of: $tool_call_id}
    cases:
      blocks: {read-only: true, ir: {kind: multimodal}, wire: {blocks: $value each text}}
      text: {wire: {result: $value | string}}
conversation:
  wire: {say: $parts each text | text}
  cases:
    user: {wire: {role: user}}
    assistant: {wire: {role: assistant, calls: $parts each tool_call (optional)}}
    tool: {wire: $parts each tool_result}
request: {wire: {turns: $messages as conversation}}
"""


LITERALS = """
shapes:
  text: {wire: {text: $text}}
  tool_choice:
    by: tool_choice
    cases: {auto: {wire: auto}, none: {read-only: true, wire: nothing}}
  thinking:
    cases:
      off: {read-only: true, ir: {reasoning: {effort: none}}, wire: {think: false}}
      on: {ir: {reasoning: {mode: adaptive}}, wire: {think: true}}
conversation: {wire: {say: $parts each text | text}, cases: {user: {wire: {role: user}}}}
request:
  wire:
    turns: $messages as conversation
    choice: $. as tool_choice (optional)
    ...: $. as thinking (optional)
"""


@pytest.mark.parametrize(
    ("said", "code"), [({"think": False}, "no-place"), ({"choice": "nothing"}, "no-tool")]
)
def test_a_case_of_literals_alone_may_be_only_read(tmp_path: Path, said: Any, code: str) -> None:
    rules = loaded(tmp_path, one=LITERALS, two=LITERALS)
    turns = {"turns": [{"role": "user", "say": "Hi"}]}
    for trace in (False, True):
        assert rules.convert(turns | said, "one", "one", trace=trace)[:2] == (turns | said, ())
        out = rules.convert(turns | said, "one", "two", trace=trace)
        assert (out.body, [note.code for note in out.notes]) == (turns, [code])


def test_a_list_may_be_written_at_home_alone(tmp_path: Path) -> None:
    one = loaded(tmp_path, one=OPEN)["one"]
    blocks = {"of": "c1", "blocks": [{"text": "a"}, {"text": "b"}]}
    ir = one.read(blocks, unit="tool_result").ir
    assert [part["text"] for part in ir["value"]] == ["a", "b"]
    assert one.write(ir, unit="tool_result").body == blocks
    abroad = {key: value for key, value in ir.items() if key != "spelled"}
    abroad["value"] = [{"type": "text", "text": text} for text in "ab"]
    out = one.write(abroad, unit="tool_result")
    assert out.body == {"of": "c1", "result": "a\nb"}
    assert [note.code for note in out.notes] == ["blocks-as-text"]


def test_a_signature_of_another_dialect_stands_under_a_key_and_is_its_own(tmp_path: Path) -> None:
    rules = loaded(tmp_path, one=OPEN, two=OPEN.replace("origin: other", "origin: two"))
    call = {"call": "c1", "tool": "f", "with": {}, "extra": {"seal": "s"}}
    ir = rules["one"].read(call, unit="tool_call").ir
    assert ir["signature"] == {"value": "s", "origin": "other"}
    assert rules.convert(call, "one", "one", unit="tool_call").body == call
    out = rules.convert(call, "one", "two", unit="tool_call")
    assert out.body == {"call": "c1", "tool": "f", "with": {}}
    assert told(out) == [("foreign-signature", "lost", "/extra/seal")]


@pytest.mark.parametrize("extra", ["[$own.a, $own.b]", "{seal: $own.seal, ...: $absent}"])
def test_state_rides_in_no_list_and_in_no_closed_object(tmp_path: Path, extra: str) -> None:
    text = OPEN.replace("extra: $own.extra (optional)", f"extra: {extra}")
    with pytest.raises(wireglot.RuleError, match="means something else already"):
        loaded(tmp_path, one=text)


def test_a_run_beside_a_run_is_read_with_it_and_stands_there_again(tmp_path: Path) -> None:
    text = """
shapes:
  text: {wire: {text: $text}}
  call: {ir: {type: tool_call}, wire: {call: $id, tool: $name, with: $arguments}}
  refusal: {wire: {by: model, no: $text, say: $absent, calls: $absent}}
  said: {groups: text, wire: {by: model, say: $run each text | text (or list)}}
  calls: {groups: tool_call, wire: {by: model, calls: $run each call}}
unions: {output: [said, calls, refusal]}
conversation:
  cases:
    user: {wire: {by: user, say: $parts each text | text (or list)}}
    assistant: {wire: $parts each output}
request: {wire: {turns: $messages as conversation}}
"""
    rules = loaded(tmp_path, one=text)
    call = {"call": "c1", "tool": "f", "with": {}}
    turns = [
        {"by": "model", "say": "a"},
        {"by": "model", "say": "b", "calls": [call, {**call, "call": "c2"}], "no": "c"},
        {"by": "model", "calls": [{**call, "call": "c3"}]},
        {"by": "model", "say": "d", "zz": 1},
    ]
    ir = rules["one"].read(turns, unit="messages").ir
    kinds = [part["type"] for part in ir[0]["parts"]]
    assert kinds == ["text", "text", "tool_call", "tool_call", "refusal", "tool_call", "text"]
    assert rules["one"].write(ir, unit="messages").body == turns

    parts = [{k: v for k, v in p.items() if k != "spelled"} for p in ir[0]["parts"][:5]]
    abroad = [{"role": "assistant", "parts": parts}]
    assert rules["one"].write(abroad, unit="messages").body == [
        {"by": "model", "say": [{"text": "a"}, {"text": "b"}]},
        {"by": "model", "calls": [call, {**call, "call": "c2"}]},
        {"by": "model", "no": "c"},
    ]
    del ir[0]["parts"][1]  # what the calls stood beside
    assert rules["one"].write(ir, unit="messages").body[:2] == [
        {"by": "model", "say": "a", "calls": [call, {**call, "call": "c2"}], "no": "c"},
        {"by": "model", "calls": [{**call, "call": "c3"}]},
    ]


# -- flat items and a plain conversation ---------------------------------------------------------

FLAT = """
shapes:
  text: {wire: {type: in, text: $text}}
  out: {ir: {type: text}, wire: {type: out, text: $text}}
  refusal: {wire: {type: no, why: $text}}
  easy: {ir: {type: text}, wire: {type: $absent (or message), by: model, said: $text}}
  block:
    groups: text+refusal
    wire: {type: message, by: model, said: $run each said}
  tool_call:
    wire: {type: call, id: $id, name: $name}
    cases: {object: {wire: {args: $arguments}}, free: {wire: {input: $input}}}
  free_result:
    ir: {type: tool_result, freeform: true, kind: text}
    wire: {type: free_answer, id: $tool_call_id, out: $value | string}
  tool_result:
    by: kind
    wire: {type: answer}
    cases:
      text: {wire: {id: $tool_call_id, out: $value | string}}
      text.loose: {wire: {id: $tool_call_id (made), name: $name (made), out: $value | string}}
unions: {said: [out, refusal], item: [easy, block, tool_call], result: [free_result, tool_result]}
hooks: [call-ids]
conversation:
  wire: {type: $absent (or message), said: $parts each text | text (or list)}
  cases:
    system: {wire: {by: system}}
    user: {wire: {by: user}}
    assistant: {wire: $parts each item}
    tool: {wire: $parts each result}
  enforce: {}
request:
  wire:
    rules: $system each text | text (optional)
    talk: $messages as conversation | text (or list) (default empty-list)
"""
LISTED = """
shapes:
  text: {wire: {text: $text}}
  tool_call:
    wire: {call: $id, name: $name}
    cases: {object: {wire: {args: $arguments}}, free: {wire: {input: $input}}}
  tool_result: {ir: {kind: text}, wire: {answer: $tool_call_id, out: $value | string}}
unions: {part: [text, tool_call, tool_result]}
conversation:
  wire: {said: $parts each part}
  cases:
    system: {wire: {by: system}}
    user: {wire: {by: user}}
    assistant: {wire: {by: model}}
    tool: {wire: {by: tool}}
request: {wire: {talk: $messages as conversation}}
"""


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return loaded(tmp_path_factory.mktemp("flat"), flat=FLAT, listed=LISTED)


def home(flat: Any, body: Any) -> Any:
    """Read, store and write a body in its own dialect."""
    return flat["flat"].write(json.loads(json.dumps(flat["flat"].read(body).ir))).body


def test_a_conversation_may_be_one_plain_text_of_the_user(flat: Any) -> None:
    assert flat["flat"].read({"talk": "Hi"}).ir["messages"] == [
        {"role": "user", "parts": [{"type": "text", "text": "Hi"}]}
    ]
    for body in ({"talk": "Hi"}, {"talk": ""}, {"talk": [{"by": "user", "said": "Hi"}]}):
        assert home(flat, body) == body
    out = flat.convert({"talk": "Hi"}, "flat", "listed")
    assert out.body == {"talk": [{"by": "user", "said": [{"text": "Hi"}]}]}
    assert flat.convert(out.body, "listed", "flat").body == {"talk": "Hi"}


@pytest.mark.parametrize(
    "talk",
    [
        [{"by": "user", "said": "a"}, {"by": "user", "said": "b"}],
        [{"by": "model", "said": "a"}],
        [{"by": "user", "said": [{"type": "in", "text": "a"}, {"type": "in", "text": "b"}]}],
        [{"by": "user", "said": "a", "more": 1}],
        [{"type": "message", "by": "user", "said": "a"}],
        [],
    ],
)
def test_a_list_of_messages_stays_a_list_at_home(flat: Any, talk: Any) -> None:
    assert home(flat, {"talk": talk}) == {"talk": talk}


def test_what_leaves_one_plain_text_behind_is_that_text(flat: Any) -> None:
    said = [{"by": "user", "said": [{"text": "Hi"}]}, {"by": "model", "said": []}]
    out = flat.convert({"talk": said}, "listed", "flat")
    assert (out.body, [n.code for n in out.notes]) == ({"talk": "Hi"}, ["empty-message"])


def test_no_conversation_is_an_empty_one_and_a_broken_one_is_refused(flat: Any) -> None:
    assert flat["flat"].read({}).ir["messages"] == []
    assert home(flat, {}) == {}
    for wrong in (7, {"by": "user"}, [{"by": "user", "said": 7}], [{"by": "nobody", "said": "a"}]):
        with pytest.raises(wireglot.ConversionError):
            flat["flat"].read({"talk": wrong})


def test_what_stood_apart_stands_apart_at_home_alone(flat: Any) -> None:
    body = {
        "rules": "Be brief.",
        "talk": [{"by": "system", "said": "b"}, {"by": "user", "said": "a"}],
    }
    assert home(flat, body) == body
    out = flat.convert(body, "flat", "listed")
    assert [m["by"] for m in out.body["talk"]] == ["system", "system", "user"]
    back = flat.convert(out.body, "listed", "flat")
    assert [m["said"] for m in back.body["talk"]] == ["Be brief.", "b", "a"]
    assert (back.notes, "rules" in back.body) == ((), False)


def test_an_item_of_an_unknown_type_is_kept_though_messages_may_have_one(flat: Any) -> None:
    body = {"talk": [{"type": "new", "id": "x"}, {"type": "message", "by": "user", "said": "a"}]}
    parts = flat["flat"].read(body).ir["messages"][0]["parts"]
    assert parts == [{"type": "unknown", "dialect": "flat", "value": {"type": "new", "id": "x"}}]
    assert home(flat, body) == body


def test_the_member_that_gathered_a_run_writes_it_again(flat: Any) -> None:
    text = {"type": "out", "text": "a"}
    for said in ([text], [text, {"type": "no", "why": "b"}], [text, text], [{"type": "new"}]):
        body = {"talk": [{"type": "message", "by": "model", "said": said}]}
        assert home(flat, body) == body
    assert home(flat, {"talk": [{"by": "model", "said": "a"}]}) == {
        "talk": [{"by": "model", "said": "a"}]
    }
    ir = flat["flat"].read({"talk": [{"type": "message", "by": "model", "said": [text]}]}).ir
    ir["messages"][0]["parts"].append({"type": "text", "text": "more"})
    assert [m["said"] for m in flat["flat"].write(ir).body["talk"]] == [[text], "more"]


CALL = {"call": "c1", "name": "f", "input": "x = 1"}
FREE = [
    {
        "by": "model",
        "said": [
            {"call": "c1", "name": "f", "input": "x = 1"},
            {"call": "c2", "name": "g", "args": {}},
        ],
    },
    {"by": "tool", "said": [{"answer": "c1", "out": "a"}, {"answer": "c2", "out": "b"}]},
]


def test_results_of_freeform_calls_are_told_apart_where_the_wire_does(flat: Any) -> None:
    out = flat.convert({"talk": FREE}, "listed", "flat")
    assert [item["type"] for item in out.body["talk"]] == ["call", "call", "free_answer", "answer"]
    assert out.notes == ()
    back = flat.convert(out.body, "flat", "listed")
    assert (back.body, back.notes) == ({"talk": FREE}, ())
    results = flat["flat"].read(out.body).ir["messages"][1]["parts"]
    assert [part.get("freeform") for part in results] == [True, None]


@pytest.mark.parametrize(("place", "word"), [(2, "answer"), (3, "free_answer")])
def test_a_result_of_another_kind_than_its_call_is_noted(flat: Any, place: int, word: str) -> None:
    body = flat.convert({"talk": FREE}, "listed", "flat").body
    body["talk"][place]["type"] = word
    assert home(flat, body) == body
    out = flat.convert(body, "flat", "listed")
    assert told(out) == [("inconsistent", "kept", f"/talk/{place}")]


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "answer", "out": "a"},
        {"type": "answer", "name": "f", "out": "a"},
        {"type": "answer", "id": None, "name": "f", "out": "a"},
        {"type": "answer", "id": "c1", "out": "a"},
    ],
)
def test_a_result_without_an_id_is_written_as_it_was_read(flat: Any, answer: Any) -> None:
    body = {"talk": [{"type": "call", "id": "c1", "name": "f", "args": {}}, answer]}
    assert home(flat, body) == body
    assert flat.convert(body, "flat", "flat").body == body
    (result,) = flat["flat"].read(body).ir["messages"][1]["parts"]
    assert (result["tool_call_id"], result["name"]) == ("c1", "f")


PIECES = """
shapes:
  text: {wire: {text: $text}}
  image: {ir: {detail: "x${size}"}, wire: {n: $size}}
unions: {part: [text, image]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}}
request: {wire: {turns: $messages as conversation}}
"""


def test_what_is_no_text_is_no_piece_of_one(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(HEAD.format(name=name) + PIECES)
    rules = wireglot.load_rules(tmp_path)
    body = {"turns": [{"role": "user", "parts": [{"n": "1"}, {"n": 1}, {"n": None}]}]}
    found = rules["one"].read(body).ir
    parts = found["messages"][0]["parts"]
    assert [(p["type"], p.get("detail")) for p in parts] == [
        ("image", "x1"), ("unknown", None), ("unknown", None)
    ]  # fmt: skip
    assert rules["one"].write(found).body == body
    for trace in (False, True):  # by functions, and by the walk
        out = rules.convert(body, "one", "two", trace=trace)
        assert out.body == {"turns": [{"role": "user", "parts": [{"n": "1"}]}]}
        assert [n.code for n in out.notes] == ["unknown-part", "unknown-part"]


NAMES_TWICE = """
shapes:
  text: {wire: {text: $text}}
  image:
    cases:
      texts:
        ir: {source: {type: base64, media_type: "image/${kind}", data: $data}}
        wire: {is: "image/${kind}", url: "data:image/${kind};${data}"}
      same:
        ir: {source: {type: base64, media_type: $media_type, data: $data}}
        wire: {of: $media_type (same), url: "data:${media_type};${data}"}
      other: {ir: {source: {type: url, url: $url}}, wire: {$own: [is, of], url: $url}}
unions: {part: [text, image]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}}
request: {wire: {turns: $messages as conversation}}
"""


@pytest.mark.parametrize(
    ("picture", "kind"),
    [
        ({"is": "image/png", "url": "data:image/png;A"}, "base64"),
        ({"is": "image/png", "url": "data:image/gif;A"}, "url"),
        ({"of": "image/png", "url": "data:image/png;A"}, "base64"),
        ({"of": "image/png", "url": "data:image/gif;A"}, "url"),
    ],
)
def test_a_name_in_two_places_has_one_value(picture: Any, kind: str, tmp_path: Path) -> None:
    rules = loaded(tmp_path, one=NAMES_TWICE)
    body = {"turns": [{"role": "user", "parts": [picture]}]}
    found = rules["one"].read(body).ir
    assert found["messages"][0]["parts"][0]["source"]["type"] == kind
    assert rules["one"].write(found).body == body
    with walked():
        assert rules["one"].read(body).ir == found
