"""Input that means harm: files that are none, JSON that says a thing twice, sizes that grow."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli, hooks, jsontext
from wireglot.loop import memory
from wireglot.trail import Trail

from . import width

RULES = (
    "wireglot: 2\ndialect: toy\nshapes: {text: {wire: {say: $text}}}\nunions: {part: [text]}\n"
    "request: {wire: {model: $model}}\n"
)


def test_a_pipe_in_a_folder_of_rules_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(wireglot.RuleError, match="the file cannot be read"):
        wireglot.load_rules(tmp_path)


def test_a_link_out_of_the_folder_shows_nothing_of_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("password: hunter2: x", "utf-8")
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "toy.yaml").symlink_to(tmp_path / "secret")
    with pytest.raises(wireglot.RuleError, match="a link that leads out of its folder") as caught:
        wireglot.load_rules(folder)
    assert "hunter2" not in str(caught.value)


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    # So a volume of Kubernetes looks: each file is a link into a folder of the present version.
    (tmp_path / "..data").mkdir()
    (tmp_path / "..data" / "toy.yaml").write_text(RULES, "utf-8")
    (tmp_path / "toy.yaml").symlink_to(Path("..data") / "toy.yaml")
    assert wireglot.load_rules(tmp_path)["toy"]
    (tmp_path.parent / "alias").symlink_to(tmp_path)
    assert wireglot.load_rules(tmp_path.parent / "alias")["toy"]


def test_a_zip_that_holds_a_name_twice_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "rules.zip", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("toy.yaml", RULES)
        archive.writestr("toy.yaml", RULES.replace("say", "tell"))
    with pytest.raises(wireglot.UsageError, match=r"holds 'toy\.yaml' twice"):
        wireglot.load_rules(tmp_path / "rules.zip")


def test_the_command_refuses_a_key_that_stands_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "twice.json"
    file.write_text('{"model": "a", "messages": [], "model": "b"}', "utf-8")
    assert cli.main(["convert", str(file), "--from", "openai-chat", "--to", "gemini"]) == 1
    assert "the key `model` stands twice in one object" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ['{"a":1,"b":2,"a":1}', '{"x":{"a":1,"a":2}}', '[{"a":":","a":1}]']
)
def test_a_key_that_stands_twice_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="the key `a` stands twice"):
        jsontext.parse(text)


# -- sizes ----------------------------------------------------------------------------------------

Body = dict[str, Any]
ASK: Body = {"role": "user", "content": "x"}


def call(i: int) -> Body:
    return {"id": f"c{i}", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def asked(*calls: Body) -> Body:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def told(i: int) -> Body:
    return {"role": "tool", "tool_call_id": f"c{i}", "content": "r"}


HISTORIES: dict[str, Callable[[int], list[Body]]] = {
    "messages": lambda n: [{**ASK, "role": ("user", "assistant")[i % 2]} for i in range(n)],
    "rounds": lambda n: [m for i in range(n) for m in (asked(call(i)), told(i))],
    "reversed": lambda n: [asked(*map(call, range(n))), *map(told, reversed(range(n)))],
    "reversed at the end": lambda n: [
        *(asked(call(i)) for i in range(n)),
        *map(told, reversed(range(n))),
    ],
    "results before their calls": lambda n: [*map(told, range(n)), asked(*map(call, range(n)))],
    "orphans": lambda n: list(map(told, range(n))),
    "unanswered": lambda n: [asked(*map(call, range(n))), ASK],
    "unanswered one by one": lambda n: [m for i in range(n) for m in (asked(call(i)), ASK)],
    "one id for all": lambda n: [asked(*[call(0)] * n), *[told(0)] * n],
    "one id in turns": lambda n: [m for _ in range(n) for m in (asked(call(0)), told(0))],
    "half answered": lambda n: [asked(*map(call, range(n))), *map(told, range(0, n, 2)), ASK],
    "parts": lambda n: [{**ASK, "content": [{"type": "text", "text": "x"}] * n}],
    "images": lambda n: [
        {**ASK, "content": [{"type": "image_url", "image_url": {"url": "https://a.b/c"}}] * n}
    ],
    "system": lambda n: [m for _ in range(n) for m in (ASK, {**ASK, "role": "system"})],
    "empty": lambda n: [{**ASK, "content": ""}] * n,
}


def answer_of_claude(n: int) -> Body:
    found = {"type": "web_search_result_location", "title": "t", "encrypted_index": "e"}
    cited = [{**found, "url": f"https://a.b/{i}", "cited_text": "x"} for i in range(n)]
    said = [{"type": "text", "text": "x", "citations": [one]} for one in cited]
    used = {"input_tokens": 1, "output_tokens": 1}
    head = {"id": "a", "type": "message", "role": "assistant", "model": "c", "usage": used}
    return {**head, "content": said, "stop_reason": "end_turn", "stop_sequence": None}


def answer_of_chat(n: int) -> Body:
    places = [{"start_index": i, "end_index": i + 1} for i in range(n)]
    cited = [{"url": f"https://a.b/{i}", "title": "t", **at} for i, at in enumerate(places)]
    notes = [{"type": "url_citation", "url_citation": one} for one in cited]
    message = {"role": "assistant", "content": "x" * n, "annotations": notes}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "c", "object": "chat.completion", "created": 7, "model": "m", "choices": [choice]}


def answer_of_gemini(n: int) -> Body:
    """Many texts, each with a place of its own, and one place that rests on many sources."""
    chunks = [{"web": {"uri": f"https://a.b/{i}", "title": "t"}} for i in range(n)]
    spans: list[Body] = [{"partIndex": i, "startIndex": 0, "endIndex": 2} for i in range(n)]
    supports = [{"segment": s, "groundingChunkIndices": [i]} for i, s in enumerate(spans)]
    supports.append({"segment": spans[0], "groundingChunkIndices": [*range(n)]})
    grounding = {"groundingChunks": chunks, "groundingSupports": supports}
    content = {"role": "model", "parts": [{"text": "\u00e9"}] * n}
    one = {"content": content, "finishReason": "STOP", "groundingMetadata": grounding}
    return {"candidates": [one]}


CITED: dict[str, Callable[[int], Body]] = {
    "openai-chat": answer_of_chat,
    "anthropic": answer_of_claude,
    "gemini": answer_of_gemini,
}


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of the faster of two runs."""
    found = []
    for _ in range(2):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def grows_as(less: int, more: int, of: Callable[[int], float]) -> None:
    """Hold that sixteen times as much takes less than fifty times as long; squared, a hundred."""
    small, large = of(less), of(more)
    assert large / small < 50, (small, large)


@pytest.mark.parametrize("target", ["anthropic", "openai-responses"])
@pytest.mark.parametrize("history", HISTORIES)
def test_time_grows_as_the_history_does(history: str, target: str) -> None:
    def convert(n: int) -> float:
        body = {"model": "m", "messages": [ASK, *HISTORIES[history](n)]}
        return seconds(lambda: wireglot.convert(body, "openai-chat", target))

    convert(4)
    small, large = convert(40), convert(320)
    # Eight times as much takes eight times as long; what grows with the square takes 64 times.
    assert large < 0.05 or large / small < 24, (small, large)


@pytest.mark.parametrize("unusual", [{}, {"is_error": False}])  # which says nothing more
def test_time_grows_as_the_calls_of_claude_do(unusual: Body) -> None:
    def convert(n: int) -> float:
        uses = [{"type": "tool_use", "id": f"t{i}", "name": "f", "input": {}} for i in range(n)]
        results = [
            {"type": "tool_result", "tool_use_id": f"t{i}", "content": "r", **unusual}
            for i in range(n)
        ]
        said = ("user", "x"), ("assistant", uses), ("user", results)
        messages = [{"role": role, "content": content} for role, content in said]
        body = {"model": "m", "max_tokens": 9, "messages": messages}
        return seconds(lambda: wireglot.convert(body, "anthropic", "openai-chat"))

    convert(4)
    grows_as(1000, 16000, convert)


def test_time_grows_as_the_calls_without_ids_do() -> None:
    def paired(n: int) -> float:
        def work() -> None:
            names = [f"f{i * 2 // n}" for i in range(n)]
            parts = [{"type": "tool_call", "name": name} for name in names]
            parts += [{"type": "tool_result", "name": name} for name in reversed(names)]
            hooks.call_ids({"messages": [{"parts": parts}]}, {}, "gemini", Trail())
            assert len({part["tool_call_id"] for part in parts[n:]}) == n
            assert parts[n]["tool_call_id"] == parts[n // 2]["id"]

        return seconds(work)

    grows_as(500, 8000, paired)


def test_time_grows_as_the_calls_that_were_given_up_in_a_turn_do() -> None:
    def paired(n: int) -> float:
        def work() -> None:
            pairs = [{"type": kind, "name": "f"} for kind in ("tool_call", "tool_result") * n]
            parts = [{"type": "tool_call", "name": "f"} for _ in range(n)] + pairs
            hooks.call_ids({"messages": [{"parts": parts}]}, {}, "gemini", Trail())
            assert parts[n + 1]["tool_call_id"] == parts[0]["id"]

        return seconds(work)

    grows_as(500, 8000, paired)


def test_time_grows_as_the_turns_of_one_signature_do() -> None:
    def claimed(n: int) -> float:
        def work() -> None:
            parts: list[Body] = [{"type": "text", "text": "x"}]
            said: list[Body] = [{"role": "assistant", "parts": parts} for _ in range(n)]
            says, entry = memory.fingerprint(parts), {"signature": "A"}
            known = [{"says": says, "parts": [entry], "nth": nth} for nth in range(n)]
            turns = memory.Turns(known)
            for message in said:
                turns.claim(message, [entry])
            assert [turns.match(one, set())[0] for one in said] == known

        return seconds(work)

    grows_as(500, 8000, claimed)


@pytest.mark.parametrize("wrong", ["$usage as other#", "$textt#", "$text"])
def test_time_grows_as_the_rules_do(wrong: str) -> None:
    def load(n: int) -> float:
        shapes = {f"s{i}": {"wire": {"k": wrong.replace("#", str(i))}} for i in range(n)}
        rules = {"wireglot": 2, "dialect": "big", "shapes": shapes, "request": {"wire": {}}}

        def loaded() -> None:
            with contextlib.suppress(wireglot.RuleError):
                wireglot.load_rules({"big": rules})

        return seconds(loaded)

    load(4)
    small, large = load(width.times(200, 100)), load(width.times(1600, 800))
    assert large / small < 20, (small, large)


@pytest.mark.parametrize("cited", ["openai-chat", "anthropic", "gemini"])
def test_time_grows_as_the_citations_do(cited: str) -> None:
    def convert(n: int) -> float:
        body = CITED[cited](n)
        target = "anthropic" if cited == "gemini" else "gemini"
        return seconds(lambda: wireglot.convert(body, cited, target, unit="response"))

    convert(4)
    grows_as(100, 1600, convert)


def test_time_grows_as_the_messages_without_ids_that_say_the_same_do() -> None:
    def convert(n: int) -> float:
        message = {"type": "message", "role": "user"}
        said = {**message, "content": [{"type": "input_text", "text": "go on"}]}
        head = {"id": "1", "cwd": "/x", "timestamp": "2026-11-22T10:00:00.000Z"}
        lines = [{"type": "session_meta", "payload": head}]
        lines += [{"type": "response_item", "payload": said} for _ in range(n)]
        return seconds(lambda: wireglot.convert(lines, "codex", "openclaw", unit="session"))

    convert(4)
    grows_as(100, 1600, convert)


def test_time_grows_as_the_tools_of_a_choice_do() -> None:
    def convert(n: int) -> float:
        named = [{"type": "function", "function": {"name": f"f{i}"}} for i in range(n)]
        among = {"mode": "auto", "tools": named}
        choice = {"type": "allowed_tools", "allowed_tools": among}
        body = {"model": "m", "messages": [ASK], "tools": named, "tool_choice": choice}
        return seconds(lambda: wireglot.convert(body, "openai-chat", "anthropic"))

    convert(4)
    grows_as(200, 3200, convert)


def referring(n: int, inner: Any) -> Body:
    refs = {f"p{i}": {"$ref": f"#/$defs/d{i}"} for i in range(n)}
    schema = {"type": "object", "properties": refs, "$defs": {f"d{i}": inner for i in range(n)}}
    return {
        "model": "m",
        "messages": [ASK],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}],
    }


def test_time_grows_as_the_definitions_of_a_schema_do() -> None:
    def convert(n: int) -> float:
        body = referring(n, {"type": "string"})
        return seconds(lambda: wireglot.convert(body, "openai-chat", "ollama"))

    convert(4)
    grows_as(200, 3200, convert)


@pytest.mark.parametrize("word", ["description", "enum"])
def test_what_is_referred_to_a_thousand_times_is_not_written_out_without_end(word: str) -> None:
    long = "d" * 100_000
    body = referring(1, {"type": "string", word: [long] if word == "enum" else long})
    properties = body["tools"][0]["function"]["parameters"]["properties"]
    properties |= {f"q{i}": {"$ref": "#/$defs/d0"} for i in range(1000)}
    out = wireglot.convert(body, "openai-chat", "ollama")
    assert len(jsontext.stringify(out.body)) < 2_000_000
    assert any(n.source_path == "/tools/0" and n.severity == "error" for n in out.notes)


def test_arguments_are_not_held_against_definitions_that_double_without_end() -> None:
    inner: Body = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(24)}
    inner["d24"] = {"type": "string"}
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": inner}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    one = {"id": "c0", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    body = {"model": "m", "messages": [ASK, asked(one), told(0)], "tools": [tool]}
    options = {"check_arguments": True}
    out = wireglot.convert(body, "openai-chat", "anthropic", options=options)
    (note,) = [note for note in out.notes if note.code == "bad-schema"]
    assert "more than 10000 references" in note.message


# -- depth ----------------------------------------------------------------------------------------


def under(frames: int, work: Callable[[], Any]) -> Any:
    """Do something below so many frames of a caller."""
    return work() if frames == 0 else under(frames - 1, work)


def nested(levels: int) -> Body:
    value: Body = {"a": 1}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def deep_text(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def deep_answer(levels: int) -> Body:
    function = {"name": "f", "arguments": deep_text(levels)}
    message = {**asked(call(0) | {"function": function})}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def deep_call(levels: int) -> Body:
    use = {"type": "tool_use", "id": "t", "name": "f", "input": nested(levels)}
    said = [{"role": "user", "content": "x"}, {"role": "assistant", "content": [use]}]
    return {"model": "m", "max_tokens": 9, "messages": said}


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini", "openai-responses"])
@pytest.mark.parametrize("levels", [120, 290, 310, 2000])
def test_json_in_a_text_is_as_deep_wherever_the_caller_stands(target: str, levels: int) -> None:
    def convert() -> Any:
        out = wireglot.convert(deep_answer(levels), "openai-chat", target, unit="response")
        return out.body, [note.code for note in out.notes]

    found = under(0, convert)
    assert under(600, convert) == found
    # What is too deep stays the text that it is; two wires hold arguments as a text anyway.
    objects = target in ("anthropic", "gemini")
    assert ("unparsed" in found[1]) == (levels > jsontext.MAX_DEPTH and objects)


@pytest.mark.parametrize("levels", [120, 290, 310, 2000])
def test_a_payload_is_as_deep_wherever_the_caller_stands(levels: int) -> None:
    def convert() -> str:
        try:
            wireglot.convert(deep_call(levels), "anthropic", "gemini")
        except wireglot.ConversionError as error:
            return str(error)
        return "converted"

    found = under(0, convert)
    assert under(600, convert) == found
    path = "/messages/1/content/0/input/a/a/a"
    refused = f"the payload is nested too deep, at {path}"
    assert found.startswith(refused if levels > jsontext.MAX_DEPTH else "converted")


def test_brackets_in_a_text_are_no_levels() -> None:
    assert jsontext.parse('["' + "[{" * 900 + '"]') == ["[{" * 900]
    assert jsontext.parse('["\\"' + "[" * 900 + '"]') == ['"' + "[" * 900]
    assert jsontext.parse("[" + "[]," * 900 + "1]")[-1] == 1
    with pytest.raises(ValueError, match="nested too deep"):
        jsontext.parse("[" * 301 + "]" * 301)


@pytest.mark.parametrize("loops", [True, False])
def test_references_that_double_each_other_take_no_time(loops: bool) -> None:
    some: dict[str, Any] = {
        f"D{n}": {"allOf": [{"$ref": f"#/$defs/D{0 if loops else n + 1}"}] * 3} for n in range(15)
    }
    said = {"a b": {"type": "string"}}
    some.setdefault("D0" if loops else "D15", {})["properties"] = said
    root = {"type": "object", "properties": said, "$defs": some, "allOf": [{"$ref": "#/$defs/D0"}]}
    tool = {"type": "function", "function": {"name": "f", "parameters": root}}
    asked = {"model": "m", "messages": [ASK], "tools": [tool]}
    start = time.process_time()
    out = wireglot.convert(asked, "openai-chat", "anthropic").body
    assert [*out["tools"][0]["input_schema"]["properties"]] == ["a_b"]
    assert time.process_time() - start < 5


# -- what is given back ---------------------------------------------------------------------------


def test_who_changes_what_came_out_changes_no_rule() -> None:
    asked = {"model": "m", "max_tokens": 9, "messages": [ASK]}
    body = {**asked, "tools": [{"name": "f", "input_schema": {"type": "object"}}]}
    out = wireglot.convert(body, "anthropic", "openai-chat").body
    plain = {"type": "object", "properties": {}}
    assert out["tools"][0]["function"]["parameters"] == plain
    out["tools"][0]["function"]["parameters"]["properties"]["x"] = {"type": "string"}
    out = wireglot.convert(body, "anthropic", "openai-chat").body
    assert out["tools"][0]["function"]["parameters"] == plain
