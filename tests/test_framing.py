"""Streams as bytes, as text, as generators, and on the command line."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wireglot
from tests import width
from tests.command import run
from tests.test_streams import ANTHROPIC, DIALECTS, INTERLEAVED, RULES, WHOLE, chunk, translated
from wireglot.streaming import framing

CHAT = [*INTERLEAVED[:2], chunk({"content": "é\u2028\U0001f600 \\n"}), *INTERLEAVED[2:]]
STREAMS: dict[str, list[Any]] = {
    "openai-chat": CHAT,
    **{name: translated(CHAT, "openai-chat", name)[0] for name in DIALECTS[1:]},
}


def sent(frames: list[Any], dialect: str) -> bytes:
    stream = RULES[dialect].model.stream
    assert stream is not None
    return framing.written(frames, stream)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[a:b] for a, b in pairwise(ends)]


def test_frames_are_written_as_their_provider_sends_them() -> None:
    assert (
        sent([{"a": "é"}, "[DONE]"], "openai-chat")
        == 'data: {"a":"é"}\n\ndata: [DONE]\n\n'.encode()
    )
    assert sent([{"type": "ping"}], "anthropic") == b'event: ping\ndata: {"type":"ping"}\n\n'
    assert sent([{"done": True}], "ollama") == b'{"done":true}\n'


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_sign_that_a_client_takes_for_the_end_of_a_line_stands_in_a_frame(dialect: str) -> None:
    data = sent(STREAMS[dialect], dialect)
    assert "\u2028" in json.dumps(STREAMS[dialect], ensure_ascii=False)
    assert data.decode().splitlines() == data.decode().split("\n")[:-1]


@pytest.mark.parametrize(
    "source", [name for name in DIALECTS if RULES[name].model.streamed.framing == "sse"]
)
def test_who_streams_none_is_heard_all_the_same(source: str) -> None:
    whole = json.dumps(WHOLE[source], indent=2).encode()
    for target in DIALECTS:
        meant = RULES.convert(WHOLE[source], source, target, unit="response").body
        t = RULES.translator(source=source, target=target).as_bytes()
        t.feed(whole[:20])
        t.feed(whole[20:])
        t.finish()
        assert t.result is not None
        assert t.result.body == meant
    frames = framing.read(b"[" + whole + b"\n,\r\n" + whole + b"]", RULES[source].model.streamed)
    assert frames == [WHOLE[source]] * 2


@settings(max_examples=width.times(60, 30), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    places=st.lists(st.integers(0, 100_000), max_size=40),
    pair=st.sampled_from([(one, two) for one in DIALECTS for two in DIALECTS]),
    ends=st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_bytes_may_be_cut_anywhere(places: list[int], pair: tuple[str, str], ends: bytes) -> None:
    source, target = pair
    data = sent(STREAMS[source], source).replace(b"\n", ends)
    t = RULES.translator(source=source, target=target).as_bytes()
    out = b"".join(map(t.feed, cut(data, places))) + t.finish()
    if source == target:
        assert out == data
    else:
        assert out == sent(translated(STREAMS[source], source, target)[0], target)
    assert t.result.body == translated(STREAMS[source], source, target)[1].result.body


def test_bytes_come_in_any_buffer_that_the_caller_may_fill_anew() -> None:
    data, size = sent(STREAMS["openai-chat"], "openai-chat"), 7
    for target in ("openai-chat", "anthropic"):
        t = RULES.translator(source="openai-chat", target=target).as_bytes()
        out = []
        for start in range(0, len(data), size):
            buffer = bytearray(data[start : start + size])
            out.append(t.feed(memoryview(buffer) if start % 2 else buffer))
            buffer[:] = b"?" * len(buffer)
        whole = translated(STREAMS["openai-chat"], "openai-chat", target)[0]
        assert b"".join(out) + t.finish() == sent(whole, target)


def split(data: bytes, dialect: str) -> list[Any]:
    stream = RULES[dialect].model.stream
    assert stream is not None
    splitter = framing.Splitter(stream)
    return [*splitter.feed(data), *splitter.finish()]


@pytest.mark.parametrize(
    ("data", "frames"),
    [
        (b'data: {"a":1}\n\n', [{"a": 1}]),
        (b'data:{"a":1}\n\n', [{"a": 1}]),
        (b'\xef\xbb\xbfdata: {"a":1}\n\n', [{"a": 1}]),
        (b': comment\n\nevent: x\nid: 7\nretry: 9\ndata: {"a":1}\n\n', [{"a": 1}]),
        (b'data: {"a":\ndata: 1}\n\n', [{"a": 1}]),
        (b'data: {"a":1}\n\n\n\ndata: [DONE]\n\n', [{"a": 1}, "[DONE]"]),
        (b'data: {"a":1}', [{"a": 1}]),
        (b'data: {"a":1}\n', [{"a": 1}]),
        (b'{"error":{"message":"No."}}', [{"error": {"message": "No."}}]),
        (b"data:\n\ndata: \n\n", []),
        (b"", []),
    ],
)
def test_server_sent_events_are_read_in_every_form(data: bytes, frames: list[Any]) -> None:
    assert split(data, "openai-chat") == frames
    stream = RULES["openai-chat"].model.stream
    assert stream is not None
    one = framing.Splitter(stream)
    assert [f for i in range(len(data)) for f in one.feed(data[i : i + 1])] + one.finish() == frames


def test_lines_are_read_with_and_without_a_last_end() -> None:
    assert split(b'{"a":1}\n\n{"b":2}\r\n{"c":3}', "ollama") == [{"a": 1}, {"b": 2}, {"c": 3}]


@pytest.mark.parametrize(
    "data", [b'data: {"a":\n\n', b"data: \xff\n\n", b"data: " + b"[" * 9999 + b"\n\n"]
)
def test_what_is_no_json_is_told_by_the_number_of_its_frame(data: bytes) -> None:
    t = RULES.translator(source="anthropic", target="openai-chat").as_bytes()
    with pytest.raises(wireglot.ConversionError):
        t.feed(data)
        t.finish()


# -- generators -----------------------------------------------------------------------------------


def test_a_stream_is_translated_by_a_generator_as_it_flows() -> None:
    taken = []

    def frames() -> Any:
        for frame in CHAT:
            taken.append(frame)
            yield frame

    made = wireglot.translate(frames(), source="openai-chat", target="anthropic")
    assert next(made)["type"] == "message_start"
    assert len(taken) == 1
    assert list(made) == STREAMS["anthropic"][1:]


def test_an_asynchronous_stream_is_translated_alike() -> None:
    async def frames() -> AsyncIterator[Any]:
        for frame in CHAT:
            yield frame

    async def run() -> list[Any]:
        return [f async for f in wireglot.atranslate(frames(), "openai-chat", "anthropic")]

    assert asyncio.run(run()) == STREAMS["anthropic"]


def test_a_stream_is_collected_and_a_response_sent_as_one() -> None:
    body = WHOLE["anthropic"]
    assert wireglot.collect(wireglot.frames(body, "anthropic"), "anthropic") == body


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_text_of_a_stream_is_iterated_and_the_rest_is_there_then(dialect: str) -> None:
    stream = wireglot.text_stream(STREAMS[dialect], dialect=dialect)
    with pytest.raises(wireglot.UsageError):
        stream.tool_calls  # noqa: B018
    pieces = list(stream)
    assert len(pieces) > 1 and "".join(pieces).startswith("Hié")
    assert [(c["name"], c["arguments"]) for c in stream.tool_calls] == [
        ("f", {"x": 1}),
        ("g", {"y": 2}),
    ]
    assert stream.usage is not None and (stream.usage["input"], stream.usage["output"]) == (3, 4)
    assert stream.stop_reason == "tool_use"
    assert stream.error is None


def test_the_text_of_a_stream_is_neither_reasoning_nor_arguments() -> None:
    assert list(wireglot.text_stream(ANTHROPIC, dialect="anthropic")) == ["Hi"]


# -- the command line -----------------------------------------------------------------------------


def test_the_command_translates_a_stream() -> None:
    data = sent(CHAT, "openai-chat")
    cross = ("convert", "--unit", "stream", "--from", "openai-chat", "--to")
    done = run(*cross, "ollama", stdin=data)
    assert (done.returncode, done.stdout) == (0, sent(STREAMS["ollama"], "ollama"))
    assert b"no-place" in done.stderr
    assert run(*cross, "ollama", "--policy", "effect:lost=fail", stdin=data).returncode == 3
    assert run(*cross, "nowhere", stdin=data).returncode == 2
    assert run(*cross, "ollama", stdin=b'data: {"a\n\n').returncode == 1


def test_the_command_writes_each_frame_before_it_reads_more() -> None:
    argv = ["convert", "--unit", "stream", "--from", "openai-chat", "--to", "anthropic"]
    command = [sys.executable, "-m", "wireglot", *argv]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(sent(CHAT[:1], "openai-chat"))
        process.stdin.flush()
        assert process.stdout.readline() == b"event: message_start\n"
        process.stdin.write(sent(CHAT[1:], "openai-chat"))
        process.stdin.close()
        assert process.stdout.read().endswith(b'data: {"type":"message_stop"}\n\n')


def test_the_command_collects_a_stream_and_writes_one(tmp_path: Path) -> None:
    file, out = tmp_path / "stream", tmp_path / "body.json"
    file.write_bytes(sent(ANTHROPIC, "anthropic"))
    assert run("collect", "--dialect", "anthropic", str(file), "-o", str(out)).returncode == 0
    assert json.loads(out.read_bytes()) == WHOLE["anthropic"]
    done = run("frames", "--dialect", "anthropic", str(out))
    assert done.stdout == sent(list(RULES.frames(WHOLE["anthropic"], "anthropic")), "anthropic")
    assert run("collect", "--dialect", "anthropic", str(tmp_path / "none")).returncode == 2


CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
DELTAS = [({"role": "assistant", "content": "Hi"}, None), ({}, "stop")]
UNCOUNTED = [
    {**CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
    for delta, end in DELTAS
]


@pytest.mark.parametrize("source", ["mistral", "openai-chat"])
def test_what_no_frame_counts_is_not_said_to_be_nothing(source: str) -> None:
    translator = wireglot.packaged().translator(source, "deepseek")
    for frame in UNCOUNTED:
        translator.feed(frame)
    translator.finish()
    assert "usage" not in translator.result.body
    text = wireglot.text_stream(UNCOUNTED, dialect=source)
    assert (list(text), text.usage) == (["Hi"], None)
