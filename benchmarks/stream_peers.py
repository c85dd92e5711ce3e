"""Translators of streams that others wrote, fed the same frames without a network (W4).

    python3.11 -m venv DIR && DIR/bin/pip install pyyaml llm-rosetta==0.13.0 \\
        martian-linguafranca==0.3.15 litellm==1.106.2 any-llm-sdk==1.40.2
    PYTHONPATH=engine DIR/bin/python -m benchmarks --only W4

Each is timed at its best. Two take objects of a Python SDK in place of frames, and give such back:
they are made before the clock runs, and nobody turns what comes out into JSON. Of litellm only the
parser of a provider's chunks is run, or the adapter's events, and not what its `completion` wraps
around both. They are held to nothing: some lose content silently.
"""

from __future__ import annotations

import copy
import importlib
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .timing import Run

Pair = tuple[str, str]
END = "[DONE]"
ROSETTA = {"openai-chat": "openai_chat", "anthropic": "anthropic", "gemini": "google"}
LINGUAFRANCA = {"openai-chat": "OPENAI_CHAT_COMPLETIONS", "anthropic": "ANTHROPIC_MESSAGES"}


class Peer(NamedTuple):
    """What is timed, and what is made of the frames of a stream before."""

    run: Run
    prepared: Callable[[Sequence[Any]], Sequence[Any]]


def _as_they_are(frames: Sequence[Any]) -> Sequence[Any]:
    """Return copies of frames: some peers change what they are given."""
    return [copy.deepcopy(frame) for frame in frames if frame != END]


def _objects(of: Any) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return what makes objects of a type, or of a union of types, of frames."""
    adapter = importlib.import_module("pydantic").TypeAdapter(of)
    return lambda frames: [adapter.validate_python(frame) for frame in _as_they_are(frames)]


def _rosetta(pair: Pair) -> Peer:
    module = importlib.import_module("llm_rosetta")
    provider, client = ROSETTA[pair[0]], ROSETTA[pair[1]]  # a request goes the other way
    asked = {"model": "m", "messages": [{"role": "user", "content": "x"}], "max_tokens": 5}

    def run(frames: Sequence[Any]) -> object:
        pipeline = module.ConversionPipeline(client, provider)
        pipeline.convert_request(asked)
        take = pipeline.create_stream_processor().process_chunk
        return [take(frame) for frame in frames]

    return Peer(run, _as_they_are)


def _linguafranca(pair: Pair) -> Peer:
    module = importlib.import_module("linguafranca")
    source, target = (getattr(module.FormatName, LINGUAFRANCA[name]) for name in pair)

    def run(frames: Sequence[Any]) -> object:
        made = module.convert_response_stream_json(
            iter(frames), source_format=source, target_format=target
        )
        return list(made)

    return Peer(run, _as_they_are)


def _litellm(pair: Pair) -> Peer:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    importlib.import_module("litellm")
    anthropic = "litellm.llms.anthropic"
    if pair == ("anthropic", "openai-chat"):
        handler = importlib.import_module(f"{anthropic}.chat.handler")

        def parsed(frames: Sequence[Any]) -> object:
            parse = handler.ModelResponseIterator(iter(()), sync_stream=True).chunk_parser
            return [parse(frame) for frame in frames]

        return Peer(parsed, _as_they_are)
    adapter = importlib.import_module(f"{anthropic}.pass_through.adapters.streaming_iterator")

    def wrapped(chunks: Sequence[Any]) -> object:
        return list(adapter.AnthropicStreamWrapper(iter(chunks), model="m"))

    return Peer(
        wrapped, _objects(importlib.import_module("litellm.types.utils").ModelResponseStream)
    )


def _any_llm(pair: Pair) -> Peer:
    if pair == ("anthropic", "openai-chat"):
        provider = importlib.import_module("any_llm.providers.anthropic.utils")
        events = importlib.import_module("anthropic.types").RawMessageStreamEvent

        def converted(frames: Sequence[Any]) -> object:
            convert = provider._create_openai_chunk_from_anthropic_chunk
            return [convert(frame, "m") for frame in frames]

        return Peer(converted, _objects(events))
    bridge = importlib.import_module("any_llm.utils.messages_compat")

    def bridged(chunks: Sequence[Any]) -> object:
        state = bridge.StreamingState()
        made = [bridge.chat_completion_chunk_to_message_stream_events(c, state) for c in chunks]
        return [*made, bridge.close_open_blocks(state)]

    chunk = importlib.import_module("any_llm.types.completion").ChatCompletionChunk
    return Peer(bridged, _objects(chunk))


PEERS = {
    "llm-rosetta": _rosetta,
    "linguafranca": _linguafranca,
    "litellm": _litellm,
    "any-llm": _any_llm,
}


def found(pair: Pair, frames: Sequence[Any]) -> dict[str, Peer]:
    """Return the peers that are here and get through a stream; say of the others why."""
    there = {}
    for name, make in PEERS.items():
        try:
            peer = make(pair)
            peer.run(peer.prepared(frames))
        except Exception as problem:
            print(f"{name}: skipped ({type(problem).__name__}: {str(problem)[:80]})")
            continue
        there[name] = peer
    return there
