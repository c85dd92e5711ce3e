"""Every dialect as a client before every dialect as a provider: what was said stands as it was.

    python -m tests.everypair [--clients A,B] [--providers A,B]

The client is that of `tests.returning`. The provider is made of its rules alone: it writes the
turns below as its answers, and reads the requests as its own. What is asked of each request: all
texts of the model, all calls with their arguments, and to each call the result that its tool gave.
Thoughts are asked of nowhere: some APIs take none back (`tests.reasonloop` has those that do).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from typing import Any

import wireglot

from .loop import scripts
from .loops import Wrong, concluded
from .returning import CLIENTS, RULES, Client

Json = Any
THOUGHT = re.compile(r"<think>.*?</think>\s*", re.DOTALL)  # where thoughts go back in the text


def _calls(key: str, city: str, **more: Json) -> Json:
    return {"type": "tool_call", "id": key, "name": "weather", "arguments": {"city": city, **more}}


def _texts(kind: str, text: str) -> Json:
    return {"type": kind, "text": text}


# What the model says, and what the tools answer to it.
TURNS: tuple[tuple[list[Json], list[Json]], ...] = (
    ([_texts("text", "Hello.")], []),
    (
        [
            _texts("reasoning", "Two cities."),
            _texts("text", "I look."),
            _calls("call:1/a", "Oslo"),
            _calls("call:1.a", "Rome"),
        ],
        [{"kind": "text", "value": "12 degrees"}, {"kind": "data", "value": {"temp": 25}}],
    ),
    ([_calls("call_3", "Oslo")], [{"kind": "error", "value": "Timeout"}]),
    (
        [
            _texts("reasoning", "Once more."),
            _calls("call_4", "Rome", k=[1, {"x": None}]),
            _calls("call_5", "Rome"),
        ],
        [{"kind": "text", "value": "warm"}, {"kind": "text", "value": "cold"}],
    ),
    ([_texts("reasoning", "Enough."), _texts("text", "It is warm.")], []),
    ([_texts("text", "At once.")], []),
)
TOLD = ("12 degrees", "25", "Timeout", "warm", "cold")  # words of the results, by which they count


def said(parts: list[Json], results: dict[str, str]) -> list[Json]:
    """Return what the model says in parts: texts, and calls with what answered them."""
    found: list[Json] = []
    for part in parts:
        if part["type"] == "tool_call":
            name, given = part["name"], json.dumps(part.get("arguments"), sort_keys=True)
            found.append((name, given, results.get(part["id"])))
        elif part["type"] == "text" and (text := THOUGHT.sub("", part["text"])):
            last = found[-1] if found else None
            found[-1:] = [last + text] if isinstance(last, str) else [*found[-1:], text]
    return found


def heard(provider: str, body: Json) -> list[Json]:
    """Return what the model says in a request, turn after turn."""
    messages = RULES[provider].read(json.loads(json.dumps(body))).ir["messages"]
    results = {
        part["tool_call_id"]: next((w for w in TOLD if w in json.dumps(part.get("value"))), "?")
        for message in messages
        for part in message["parts"]
        if part["type"] == "tool_result"
    }
    spoke = [message["parts"] for message in messages if message["role"] == "assistant"]
    return said([part for parts in spoke for part in parts], results)


def cell(client: str, provider: str, streamed: bool) -> None:
    """Run one conversation, with a state. Raises Wrong."""
    user = Client(client)
    state: dict[str, Json] = {}
    model = scripts.MODELS.get(provider, "m")
    there: list[Json] = []  # all parts of the provider's answers
    told: dict[str, str] = {}
    for nth, (parts, results) in enumerate(TURNS):
        if not nth or not TURNS[nth - 1][1]:
            user.says(f"Question {nth}.")
        x = wireglot.exchange(client, provider, model, state=state)
        out = x.request(user.request(), stream=streamed or None)
        if (got := heard(provider, out.body)) != (wanted := said(there, told)):
            raise Wrong(f"turn {nth}: {got}, and not {wanted}")
        answer = _answer(provider, nth, parts)
        x = wireglot.exchange(client, provider, model, state=_again(x.state))
        seen = _streams(x, answer) if streamed else x.response(answer).body
        state = _again(x.state)
        own = RULES[provider].read(answer, "response").ir["candidates"][0]["parts"]
        there += own
        calls = [part for part in own if part["type"] == "tool_call"]
        words = [next(w for w in TOLD if w in json.dumps(one["value"])) for one in results]
        told |= zip([call["id"] for call in calls], words, strict=True)
        if len(user.takes(seen, results)) != len(calls):
            raise Wrong(f"turn {nth}: the client got {seen}")


def _again(value: Json) -> Json:
    return json.loads(json.dumps(value))


def _answer(provider: str, nth: int, parts: list[Json]) -> Json:
    """Return a turn as the provider's answer."""
    ends = "tool_use" if parts[-1]["type"] == "tool_call" else "end_turn"
    ir = {
        "id": f"r{nth}", "model": "m", "created": 1, "usage": {"input": 1, "output": 1},
        "candidates": [{"parts": parts, "stop_reason": ends}],
    }  # fmt: skip
    return _again(RULES[provider].write(_again(ir), "response").body)


def _streams(x: wireglot.Exchange, answer: Json) -> Json:
    """Return an answer that streams as the client puts it together."""
    translator = x.translator()
    frames = [
        new
        for frame in wireglot.frames(answer, dialect=x.provider)
        for new in translator.feed(_again(frame))
    ]
    return wireglot.collect(_again([*frames, *translator.finish()]), dialect=x.client)


def main(arguments: list[str] | None = None) -> int:
    """Run the pairs that are asked for; return 1 where one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.everypair")
    parser.add_argument("--clients", default=",".join(CLIENTS))
    parser.add_argument("--providers", default=",".join(CLIENTS))
    given = parser.parse_args(arguments)
    begun, ran, wrong = time.perf_counter(), 0, list[str]()
    for client in given.clients.split(","):
        for provider in given.providers.split(","):
            for streamed in (False, True) if client != provider else ():
                ran += 1
                try:
                    cell(client, provider, streamed)
                except (Wrong, LookupError, TypeError, ValueError) as error:
                    way = "streamed" if streamed else "whole"
                    wrong.append(f"{client} before {provider}, {way}: {error!r}")
    return concluded(ran, wrong, begun)


if __name__ == "__main__":
    sys.exit(main())
