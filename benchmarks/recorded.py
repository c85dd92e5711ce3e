"""Recorded bodies and streams that the table of bars is measured on; it needs no engine."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

TRAFFIC = Path(__file__).resolve().parents[2] / "shared" / "traffic"
# Whose recordings stand for a provider.
FILES = {
    "openai-chat": "openai-chat", "chat-compatible": "openai-compat", "deepseek": "deepseek",
    "openai-responses": "openai-responses", "anthropic": "anthropic", "gemini": "gemini",
    "vertex": "gemini", "ollama": "ollama",
}  # fmt: skip
# Those that are taken home, to the five and from them, and not across each other.
FURTHER = {
    "mistral": "mistral", "cohere": "cohere", "bedrock-converse": "bedrock-converse",
    "bedrock-anthropic": "bedrock-invoke-anthropic", "openrouter": "openrouter", "groq": "groq",
    "xai": "xai-chat", "huggingface": "huggingface", "ollama-openai": "ollama-openai",
}  # fmt: skip
OUTSIDE = ("gemini", "vertex", "bedrock-converse", "bedrock-anthropic")  # of the body, the model
FIVE = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama")
UNITS = ("request", "response")
MODEL = "gemini-2.5-flash"  # where it stands outside the body
SMALL, LARGE = (200, 2000), 20_000  # characters of JSON
T = TypeVar("T")


class Body(NamedTuple):
    """A recorded body, and its JSON."""

    source: str
    unit: str
    name: str
    body: Any
    text: str
    model: str | None

    @property
    def key(self) -> str:
        return f"{self.source} {self.unit} {self.name}"


def there() -> bool:
    """Tell whether there are recordings here."""
    return TRAFFIC.is_dir()


@cache
def _lines(name: str) -> list[Any]:
    with gzip.open(TRAFFIC / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _bodies(lines: Sequence[Any], source: str, unit: str) -> list[Body]:
    found = []
    for line in lines:
        body = line.get(unit)
        if isinstance(body, dict) and (unit == "request" or line.get("status", 200) == 200):
            outside = unit == "request" and source in OUTSIDE and "model" not in body
            text, model = json.dumps(body), MODEL if outside else None
            found.append(Body(source, unit, line["id"], body, text, model))
    return found


@cache
def small(source: str, unit: str) -> list[Body]:
    """Return the small bodies of a provider, the smallest first."""
    least, most = SMALL
    found = _bodies(_lines((FILES | FURTHER)[source]), source, unit)
    return sorted((one for one in found if least <= len(one.text) <= most), key=_size)


@cache
def agents(source: str) -> list[Body]:
    """Return the large requests of coding agents to a provider, the smallest first."""
    lines = [line for line in _lines("agents") if line["family"] == source]
    found = _bodies(lines, source, "request")
    return sorted((one for one in found if len(one.text) >= LARGE), key=_size)


@cache
def streams(source: str) -> list[tuple[list[Any], list[str]]]:
    """Return the recorded streams of a provider: the frames, and the JSON of each that is JSON."""
    found = []
    for line in _lines(FILES[source]):
        events = [e["data"] if isinstance(e, dict) and "data" in e else e
                  for e in line.get("stream") or ()]  # fmt: skip
        if events:
            texts = [json.dumps(event) for event in events if not isinstance(event, str)]
            found.append((events, texts))
    return sorted(found, key=lambda one: len(one[0]))


def spread(found: Sequence[T], count: int) -> list[T]:
    """Return some of a sorted list, as far apart as can be, or all."""
    if len(found) <= count:
        return list(found)
    return [found[int((n + 0.5) * len(found) / count)] for n in range(count)]


def _size(one: Body) -> int:
    return len(one.text)
