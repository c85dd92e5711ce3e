"""Official SDKs as clients before strict stand-ins of five providers, whole and streamed.

    python -m tests.loops [--clients A,B] [--providers A,B] [--only whole|streamed] [-v]

Each cell is a conversation of nine turns (`tests/loop/long.py`) over loopback HTTP, with the SDK of
the client's side, an exchange for each request, and a provider that refuses what the real API
refuses; with a state, and without one. What is asked of each turn: the SDK takes the answer, the
calls are those of the provider, thoughts are shown, it ends as it ended; and of each request:
the provider takes it, and what it had said and what the tools answered stands in it as it was.
Where a wire has no place for a thing, a note must say so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import wireglot
from wireglot.streaming.framing import Splitter

from .loop import long, scripts
from .loop.sdks import SDKS, Sdk
from .loop.server import Script, Server, Talk, running
from .loop.streamed import SDKS as STREAMING
from .loop.streamed import StreamTalk
from .test_exchange import answered

Json = Any
DIALECTS = tuple(long.SCRIPTS)
# A client that sends what is new, behind an answer that it names: of a provider of its own the API
# holds the rest, and where nobody keeps a state nobody else does.
GOING_ON = "openai-responses going on"
MODES = ("whole", "streamed")


class Wrong(Exception):
    """What is wrong in a cell."""


class LongScript(Script):
    """A strict provider that plays the long conversation."""

    def turns(self, body: Json) -> list[Json]:
        """Return all answers."""
        return long.turns(self.dialect, scripts.tool(self.dialect, body))


class Kept(StreamTalk):
    """A streamed talk that keeps what it sent, as the client's dialect folds it."""

    def seen(self, body: Json, sent: bytes) -> Json:
        stream = wireglot.packaged()[self.client].model.stream
        assert stream is not None
        reading = Splitter(stream)
        self.notes += self.told[-1][1]
        return wireglot.collect([*reading.feed(sent), *reading.finish()], dialect=self.client)


def cell(server: Server, client: str, provider: str, streamed: bool, stateful: bool) -> set[str]:
    """Run one conversation; return the codes of what was noted lost. Raises Wrong."""
    client, _, going = client.partition(" ")
    # What Ollama's SDK keeps of a call has no room for an id or a signature.
    blind = client == "ollama" and not stateful
    sdk = (STREAMING if streamed else SDKS)[client](server.url)
    if going:
        sdk.goes_on = stateful and client != provider  # type: ignore[attr-defined]
    script = LongScript(provider, aware=not blind)
    talk = (Kept if streamed else Talk)(client, script, stateful)
    server.serves(talk)
    server.errors.clear()
    for nth, turn in enumerate(long.PLAN):
        try:
            _turn(sdk, talk, turn, nth)
        except Wrong as error:
            raise Wrong("; ".join([str(error), *server.errors])) from None
    history(script, talk, blind, early=streamed and not stateful and client in EARLY)
    return {note.code for note in talk.notes if note.effect == "lost"}


def _turn(sdk: Sdk, talk: Talk, turn: long.Turn, nth: int) -> None:
    """Take one turn of the conversation."""
    if turn.says:
        sdk.says(f"Question {nth}.")
    try:
        calls = sdk.asks()
    except Exception as error:
        raise Wrong(f"{turn.name}: {type(error).__name__}: {error}") from error
    wanted = [(sdk.names[0], city) for city in long.CITIES.get(turn.name, ())]
    if [(call.name, call.arguments["city"]) for call in calls] != wanted:
        raise Wrong(f"{turn.name}: the calls are {calls}")
    given, seen = talk.script.mock.sent[-1], last_answer(talk)
    told = long.ending(talk.script.dialect, given)
    ended = long.ending(talk.client, seen)
    if ended != told and not (talk.client == "ollama" and ended == "end" and _noted(talk)):
        raise Wrong(f"{turn.name}: it ends as `{ended}`, not as `{told}`")
    thought = long.thought(talk.script.dialect, given)
    shown = long.thought(talk.client, seen)
    if thought and shown is not None and shown != thought:
        raise Wrong(f"{turn.name}: the thought {thought!r} is shown as {shown!r}")
    if calls:
        sdk.answers(list(zip(calls, turn.results, strict=True)))


def last_answer(talk: Talk) -> Json:
    """Return what the client got last: a stream is over for it before its connection ends."""
    patience = time.monotonic() + 5
    while len(talk.answers) < len(talk.asked) and time.monotonic() < patience:
        time.sleep(0.005)
    return talk.answers[-1]


def _noted(talk: Talk) -> bool:
    """Tell whether a note says that the answer ends in another word."""
    return any(note.code == "reworded" for note in talk.notes)


def history(script: Script, talk: Talk, blind: bool, early: bool) -> None:
    """Hold what stands in each request against what the provider said, and the tools answered.

    `early` if the client's frames had no room for what a provider tells late.
    """
    made = _early if early else _apart
    sent = [made(scripts.said(script.dialect, answer)) for answer in script.mock.sent[:5]]
    lost = {note.code for note in talk.notes if note.effect == "lost"}
    for count, body in enumerate(script.bodies[:6]):
        held = [made(turn) for turn in scripts.history(script.dialect, body)]
        # What a client sends to its own provider goes on as it is.
        if held != sent[:count] and not blind and talk.client != script.dialect:
            pairs = zip(held, sent, strict=False)
            wrong = next((pair for pair in pairs if pair[0] != pair[1]), held)
            raise Wrong(f"request {count}: not as it was said: {wrong}")
    for count, body in enumerate(script.bodies):
        asked = sum(len(turn.results) for turn in long.PLAN[:count])
        if answered(script.dialect, body) != long.TOLD[:asked]:
            raise Wrong(f"request {count}: the tools answered {answered(script.dialect, body)}")
    late = early and script.dialect == "gemini"  # which signs a text
    if blind or late:
        signed = any(key in str(long.SCRIPTS[script.dialect]) for key in SIGNED)
        if signed and "foreign-signature" not in lost:
            raise Wrong("signatures are lost and no note says so")


def _apart(turn: list[Json]) -> list[Json]:
    """Return a turn with the pieces of a text joined: Google's SDK keeps them as they came."""
    out: list[Json] = []
    for part in turn:
        plain = isinstance(part, dict) and part.keys() <= {"type", "text"} and "text" in part
        if plain and out and isinstance(out[-1], dict) and out[-1].keys() == part.keys():
            out[-1] = {**part, "text": out[-1]["text"] + part["text"]}
        elif not (plain and not part["text"]):
            out.append(part)
    return out


def _early(turn: list[Json]) -> list[Json]:
    """Return a turn without what is told of a text, or of a call, only after it began."""
    out = _apart(json.loads(json.dumps(turn)))
    for part in out:
        for held in (part, part.get("function", {})) if isinstance(part, dict) else ():
            if isinstance(held.get("arguments"), str):
                held["arguments"] = json.loads(held["arguments"])  # the layout of the text
            if "text" in held and "thought" not in held:
                held.pop("thoughtSignature", None)
    return out


# Without a state, these have room for what a provider says only in the frame that begins a part.
EARLY = ("anthropic",)
SIGNED = ("signature", "thoughtSignature", "encrypted_content")


@contextmanager
def serving() -> Iterator[Server]:
    """Run the server, past any proxy."""
    before = os.environ.get("NO_PROXY")
    os.environ["NO_PROXY"] = "127.0.0.1"
    try:
        with running() as server:
            yield server
    finally:
        if before is None:
            del os.environ["NO_PROXY"]
        else:
            os.environ["NO_PROXY"] = before


def main(arguments: list[str] | None = None) -> int:
    """Run the cells that are asked for; print the table; return 1 where one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.loops")
    parser.add_argument("--clients", default=",".join((*DIALECTS, GOING_ON)))
    parser.add_argument("--providers", default=",".join(DIALECTS))
    parser.add_argument("--only", choices=MODES)
    parser.add_argument("-v", "--verbose", action="store_true", help="print what is lost")
    said = parser.parse_args(arguments)
    tally = Tally(said.only)
    providers = said.providers.split(",")
    print("| client | " + " | ".join(providers) + " |\n|---" * 1 + "|---" * len(providers) + "|")
    with serving() as server:
        for client in said.clients.split(","):
            row = [
                tally.tried(f"{client} before {name}", partial(cell, server, client, name))
                for name in providers
            ]
            print(f"| {client} | " + " | ".join(row) + " |", flush=True)
    return tally.concluded()


class Tally:
    """The conversations of a table: how many ran, and what was wrong with which."""

    def __init__(self, only: str | None) -> None:
        """Begin; `only` is the one mode that is asked for."""
        self._modes = [only] if only else list(MODES)
        self._wrong: list[str] = []
        self._begun, self._ran = time.perf_counter(), 0

    def tried(self, what: str, run: Callable[[bool, bool], set[str]]) -> str:
        """Run a cell in each mode, with a state and without; return what the table says of it.

        `run` takes whether it is streamed, and whether there is a state; it returns the codes of
        what was noted lost, and raises Wrong.
        """
        words = []
        for mode in self._modes:
            for stateful in (True, False):
                self._ran += 1
                try:
                    lost = run(mode == "streamed", stateful)
                    words.append(f"right ({', '.join(sorted(lost))})" if lost else "right")
                except (Wrong, LookupError, TypeError, ValueError) as error:
                    words.append("WRONG")
                    way = f"{mode}, {'a state' if stateful else 'no state'}"
                    self._wrong.append(f"{what}, {way}: {error}")
        return words[0] if len(set(words)) == 1 else "; ".join(words)

    def concluded(self) -> int:
        """Print what is wrong; return 1 where something is."""
        return concluded(self._ran, self._wrong, self._begun)


def concluded(ran: int, wrong: list[str], begun: float, most: int | None = 600) -> int:
    """Print what is wrong, `most` characters of each; return 1 where something is."""
    print(f"\n{ran} conversations, {len(wrong)} wrong, in {time.perf_counter() - begun:.0f} s")
    for line in wrong:
        print(f"- {line[:most]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
