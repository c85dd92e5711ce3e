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
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any

import wireglot

from . import loops
from .loop import long
from .loop.clients import SCHEMA, Result
from .loop.server import Streamed, Talk
from .loops import DIALECTS, Kept, LongScript, Tally, Wrong

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

    def __init__(self, dialect: str) -> None:
        self.rules = RULES[dialect]
        self.talk: list[Json] = []

    def request(self) -> Json:
        """Return the next request, as JSON that went over the wire: a client repairs nothing."""
        asked = json.loads(json.dumps({"model": "m", "messages": self.talk, "tools": TOOLS}))
        return json.loads(json.dumps(self.rules.write(asked, options={"repair": False}).body))

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


def _answered(talk: Talk, body: Json, streamed: bool) -> Json:
    """Return what answers a request, put together again where it streamed."""
    status, answer = talk.post("streamGenerateContent" if streamed else "", body)
    if status != 200:
        raise Wrong(f"refused: {answer}")
    if isinstance(answer, Streamed):
        deque(answer.data, maxlen=0)  # all of it comes, and is kept
    return talk.answers[-1]


def cell(dialect: str, provider: str, streamed: bool, stateful: bool) -> set[str]:
    """Run one conversation; return the codes of what was noted lost. Raises Wrong."""
    client, script = Client(dialect), LongScript(provider)
    talk = (Kept if streamed else Talk)(dialect, script, stateful)
    for nth, turn in enumerate(long.PLAN):
        if turn.says:
            client.says(f"Question {nth}.")
        calls = client.takes(
            _answered(talk, client.request(), streamed), list(map(_said, turn.results))
        )
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
