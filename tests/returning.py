"""Every dialect as a client that sends back what it got, before strict stand-ins of five wires.

    python -m tests.returning [--clients A,B] [--providers A,B] [--only whole|streamed] [-v]

Each cell is the conversation of `tests.loops`, which has SDKs of five wires. Here the client is
wireglot itself, with the rules of any dialect: it reads each answer as one of that dialect, and
writes it into the next request as it read it. So nothing is lost on the way that the dialect has
a place for, and what the provider had said must stand in its requests as it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random
from typing import Any

import wireglot
from wireglot.streaming.framing import Splitter

from . import loops
from .loop import long
from .loop.clients import SCHEMA, Result
from .loop.server import Talk
from .loop.streamed import streamed as pieced
from .loops import DIALECTS, LongScript, Tally, Wrong

Json = Any
RULES = wireglot.packaged()
TOOLS = [{"type": "function", "name": name, "parameters": SCHEMA} for name in ("weather", "other")]
OUT = {
    "ag-ui": "what a client is told of a run: a request is made of its events, message by message",
    "agent-sdk": "what a program prints: nobody asks in it",
    "gemini-cli-stream": "what a program prints: nobody asks in it",
    "perplexity": "it has no tools",
}
CLIENTS = tuple(name for name in RULES.dialects if RULES[name].model.stream and name not in OUT)


class Client:
    """A conversation in the IR, as far as a dialect has read it."""

    def __init__(self, dialect: str, streams: bool) -> None:
        self.rules, self.streams = RULES[dialect], streams
        self.talk: list[Json] = []
        self.results: list[Json] = []

    def request(self) -> Json:
        """Return the next request, as JSON that went over the wire."""
        asked: dict[str, Json] = {"model": "m", "messages": self.talk, "tools": TOOLS}
        if self.streams and "stream" in self.rules.read(self._written({"stream": True})).ir:
            asked["stream"] = True
        return self._written(asked)

    def _written(self, ir: Json) -> Json:
        """Write a request as it stands: a client repairs nothing."""
        body = {"messages": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}], **ir}
        plain = json.loads(json.dumps(body))
        return json.loads(json.dumps(self.rules.write(plain, options={"repair": False}).body))

    def takes(self, answer: Json, results: Sequence[Json]) -> list[tuple[str, str]]:
        """Keep an answer, and what tools answer to it; return its calls: names, and places.

        Results are what the IR has of them: their kinds and values.
        """
        read = self.rules.read(json.loads(json.dumps(answer)), "response").ir
        parts = (read.get("candidates") or [{}])[0].get("parts", [])
        calls = [part for part in parts if part["type"] == "tool_call"]
        told = [
            {"type": "tool_result", "tool_call_id": call["id"], "name": call["name"], **result}
            for call, result in zip(calls, results, strict=False)
        ]
        self.talk += [{"role": "assistant", "parts": parts}] if parts else []
        self.talk += [{"role": "tool", "parts": told}] if told else []
        return [(call["name"], call["arguments"]["city"]) for call in calls]

    def says(self, text: str) -> None:
        """Let the user say something."""
        self.talk.append({"role": "user", "parts": [{"type": "text", "text": text}]})


def _said(result: Result) -> Json:
    """Return what a tool answered as the IR has it; a picture is its caption alone."""
    if result.kind == "json":
        return {"kind": "data", "value": json.loads(result.text)}
    return {"kind": "error" if result.kind == "error" else "text", "value": result.text}


class Answered(Talk):
    """A conversation of a client with a provider, without a server between them."""

    def __init__(self, client: str, script: LongScript, stateful: bool, streams: bool) -> None:
        super().__init__(client, script, stateful)
        self.streams, self.random = streams, Random(0)

    def turn(self, body: Json) -> Json:
        """Return what answers a request, put together again where it streamed."""
        if not self.streams:
            status, answer = self.post("", body)
            if status != 200:
                raise Wrong(f"refused: {answer}")
            return answer
        x = self._exchange()
        out = x.request(body, stream=True)
        status, answer = self.script.post("", out.body)
        if status != 200:
            raise Wrong(f"refused: {answer}")
        x = self._again(x)
        translator = x.translator()
        frames = json.loads(json.dumps(list(self._frames(translator, answer))))
        self._again(x)
        self.notes += [*out.notes, *translator.notes]
        return wireglot.collect(frames, dialect=self.client)

    def _frames(self, translator: wireglot.Translator, answer: Json) -> Iterator[Json]:
        stream = RULES[self.script.dialect].model.stream
        assert stream is not None
        reading = Splitter(stream)
        for data in pieced(self.script.dialect, answer, self.random):
            for frame in reading.feed(data):
                yield from translator.feed(frame)
        for frame in reading.finish():
            yield from translator.feed(frame)
        yield from translator.finish()


def cell(dialect: str, provider: str, streamed: bool, stateful: bool) -> set[str]:
    """Run one conversation; return the codes of what was noted lost. Raises Wrong."""
    client, script = Client(dialect, streamed), LongScript(provider)
    talk = Answered(dialect, script, stateful, streamed)
    for nth, turn in enumerate(long.PLAN):
        if turn.says:
            client.says(f"Question {nth}.")
        calls = client.takes(talk.turn(client.request()), list(map(_said, turn.results)))
        wanted = [("weather", city) for city in long.CITIES.get(turn.name, ())]
        if calls != wanted:
            raise Wrong(f"{turn.name}: the calls are {calls}")
    if stateful:
        loops.history(script, talk, blind=False, early=False)
    return {note.code for note in talk.notes if note.effect == "lost"}


def main(arguments: list[str] | None = None) -> int:
    """Run the cells that are asked for; print the table; return 1 where one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.returning")
    parser.add_argument("--clients", default=",".join(CLIENTS))
    parser.add_argument("--providers", default=",".join(DIALECTS))
    parser.add_argument("--only", choices=loops.MODES)
    parser.add_argument("-v", "--verbose", action="store_true", help="print what is lost")
    said = parser.parse_args(arguments)
    tally, providers = Tally(said.only), said.providers.split(",")
    for client in said.clients.split(","):
        row = [tally.tried(f"{client} before {p}", partial(cell, client, p)) for p in providers]
        if said.verbose or any("WRONG" in word for word in row):
            print(f"| {client} | " + " | ".join(row) + " |", flush=True)
    return tally.concluded()


if __name__ == "__main__":
    sys.exit(main())
