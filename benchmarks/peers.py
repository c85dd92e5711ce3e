"""Time other converters on the same payloads: `ENV/bin/python -m benchmarks.peers NAME`.

A peer runs in an environment of its own, in a folder that `python -m benchmarks --peers DIR` takes:

    python3.11 -m venv DIR/litellm && DIR/litellm/bin/pip install litellm==1.106.2 mcp
    python3.11 -m venv DIR/rosetta && DIR/rosetta/bin/pip install llm-rosetta==0.13.0

Peers are timed as they are called in practice and held to nothing: some lose content silently.
"""

from __future__ import annotations

import json
import logging
import os
import pathlib
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

from . import floor, floor_careful, recorded, workloads
from .cells import measured
from .timing import Run, Times, race

Pair = tuple[str, str]
ANTHROPIC_MODEL, GEMINI_MODEL = "claude-sonnet-4-5", "gemini-2.5-flash"


def _litellm() -> tuple[dict[Pair, Run], dict[Pair, Run]]:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import httpx  # type: ignore[import-not-found,unused-ignore]
    from litellm.llms.anthropic.chat.transformation import (  # type: ignore[import-not-found,unused-ignore]
        AnthropicConfig,
    )
    from litellm.llms.anthropic.pass_through.adapters.transformation import (  # type: ignore[import-not-found,unused-ignore]
        LiteLLMAnthropicMessagesAdapter,
    )
    from litellm.llms.vertex_ai.gemini.transformation import (  # type: ignore[import-not-found,unused-ignore]
        transform_request_body,
    )
    from litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini import (  # type: ignore[import-not-found,unused-ignore]
        VertexGeminiConfig,
    )
    from litellm.types.utils import ModelResponse  # type: ignore[import-not-found,unused-ignore]

    raw = httpx.Response(200, json={})
    adapter = LiteLLMAnthropicMessagesAdapter()

    class Log:
        optional_params: ClassVar[Any] = {}
        model_call_details: ClassVar[Any] = {}

        @staticmethod
        def post_call(*args: Any, **kwargs: Any) -> None:
            """Take the call that logs a response."""

    def options(body: Any) -> Any:
        return {key: body[key] for key in body if key not in ("model", "messages")}

    def to_anthropic(body: Any) -> object:
        config = AnthropicConfig()
        given = config.map_openai_params(options(body), {}, ANTHROPIC_MODEL, False)
        return config.transform_request(ANTHROPIC_MODEL, body["messages"], given, {}, {})

    def to_gemini(body: Any) -> object:
        given = VertexGeminiConfig().map_openai_params(options(body), {}, GEMINI_MODEL, False)
        messages = list(body["messages"])
        return transform_request_body(messages, GEMINI_MODEL, given, "gemini", {}, None)

    def from_anthropic(body: Any) -> object:
        return adapter.translate_anthropic_to_openai({**body})

    def anthropic_answer(body: Any) -> object:
        answer = AnthropicConfig().transform_parsed_response(body, raw, ModelResponse())
        return answer.model_dump()

    def gemini_answer(body: Any) -> object:
        read = VertexGeminiConfig()._transform_google_generate_content_to_openai_model_response
        return read(body, ModelResponse(), GEMINI_MODEL, Log, raw).model_dump()

    requests: dict[Pair, Run] = {
        ("openai-chat", "anthropic"): to_anthropic,
        ("openai-chat", "gemini"): to_gemini,
        ("anthropic", "openai-chat"): from_anthropic,
    }
    responses: dict[Pair, Run] = {
        ("anthropic", "openai-chat"): anthropic_answer,
        ("gemini", "openai-chat"): gemini_answer,
    }
    return requests, responses


def _rosetta() -> tuple[dict[Pair, Run], dict[Pair, Run]]:
    from llm_rosetta import (  # type: ignore[import-not-found,unused-ignore]
        AnthropicConverter,
        ConversionPipeline,
        GoogleGenerateConverter,
        OpenAIChatConverter,
    )

    names = {"openai-chat": "openai_chat", "anthropic": "anthropic", "gemini": "google"}
    converters = {
        "openai-chat": OpenAIChatConverter(),
        "anthropic": AnthropicConverter(),
        "gemini": GoogleGenerateConverter(),
    }

    def request(pair: Pair) -> Run:
        source, target = names[pair[0]], names[pair[1]]
        more = {"model": GEMINI_MODEL} if pair[0] == "gemini" else {}

        def run(body: Any) -> object:
            return ConversionPipeline(source, target).convert_request({**body, **more})

        return run

    def response(pair: Pair) -> Run:
        source, target = converters[pair[0]], converters[pair[1]]
        return lambda body: target.response_to_provider(source.response_from_provider(body))

    return (
        {pair: request(pair) for pair in floor.REQUESTS},
        {pair: response(pair) for pair in floor.RESPONSES},
    )


PEERS = {"litellm": _litellm, "rosetta": _rosetta}


def run(name: str, rounds: int = 9) -> None:
    """Print the table of one peer; it must be importable here."""
    print(f"\n## Peer {name}: us, and x of the careful and of the bare floor (stdlib json)")
    for title, times in _workloads(*_made(name), rounds):
        if isinstance(times, str):
            print(f"{title:34} {times}")
            continue
        ratios = f"{times.ratio('peer', 'careful'):9.1f}{times.ratio('peer', 'bare'):9.1f}"
        print(f"{title:34}{times.micros('peer'):12.1f}{ratios}")


def _made(name: str) -> tuple[dict[Pair, Run], dict[Pair, Run]]:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    return PEERS[name]()


def _workloads(
    requests: dict[Pair, Run], responses: dict[Pair, Run], rounds: int
) -> Iterator[tuple[str, Times | str]]:
    """Yield the times of each workload, or why there are none."""
    for workload in (*workloads.WORKLOADS, "R"):
        for pair, convert in (responses if workload == "R" else requests).items():
            count = {"W1": 20, "W2": 2, "W3": 2, "R": 20}[workload]
            careful: Callable[..., Any]
            if workload == "R":
                payloads = [workloads.response(pair[0], seed) for seed in range(count)]
                bare, careful = floor.RESPONSES[pair], floor_careful.RESPONSES[pair]
            else:
                payloads = [workloads.request(pair[0], workload, seed) for seed in range(count)]
                bare, careful = floor.REQUESTS[pair], floor_careful.REQUESTS[pair]
            title = f"{workload} {pair[0]} -> {pair[1]}"
            try:
                convert(payloads[0])
            except Exception as problem:
                yield title, f"{type(problem).__name__}: {str(problem)[:80]}"
                continue
            runs: dict[str, tuple[Run, list[Any]]] = {
                "bare": (bare, payloads),
                "careful": (careful, payloads),
                "peer": (convert, payloads),
            }
            yield title, race(dict(runs), rounds)


def cells(name: str, rounds: int = 8) -> dict[str, float]:
    """Return the cells of the table of bars that a peer can do; bodies it refuses are left out."""
    requests, responses = _made(name)
    found: dict[str, float] = {}
    for unit, runs in zip(recorded.UNITS, (requests, responses), strict=True):
        for (source, target), convert in runs.items() if recorded.there() else ():
            some = {unit: recorded.small(source, unit)}
            if unit == "request":
                some["agents"] = recorded.agents(source)
            for kind, bodies in some.items():
                chosen = recorded.spread(bodies, 16)
                done = measured(partial(_second, convert), chosen, rounds)
                if len(done.bodies) > len(done.failed):
                    found[f"{source}>{target} {kind}"] = done.ratio
    for title, times in _workloads(requests, responses, rounds):
        if isinstance(times, Times):
            workload, source, _, target = title.split()
            found[f"{source}>{target} {workload}"] = times.ratio("peer", "careful")
    return found


def _second(convert: Run, one: recorded.Body, body: Any) -> object:
    return convert(body)


def run_all(folder: pathlib.Path) -> None:
    """Run each peer whose environment is in a folder, in that environment."""
    for name in PEERS:
        python = folder / name / "bin" / "python"
        if not python.exists():
            print(f"\n## Peer {name}: skipped, no environment in {folder / name}")
            continue
        root = pathlib.Path(__file__).resolve().parents[1]
        command = [str(python.absolute()), "-m", "benchmarks.peers", name]
        sys.stdout.flush()
        subprocess.run(command, cwd=root, check=False)


if __name__ == "__main__":
    if sys.argv[2:] == ["--cells"]:
        print(json.dumps(cells(sys.argv[1])))
    else:
        run(sys.argv[1])
