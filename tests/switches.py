"""Official SDKs as clients of several providers by turns, as behind a gateway with routes.

    python -m tests.switches [--seeds N] [--only whole|streamed]

A conversation is that of `tests/loop/long.py`, or of `tests/reasonloop.py` where the providers are
models that think; which of them answers a turn is drawn anew for each, the client's own among them.
Each refuses what its API refuses, and knows what it said itself, so what another one said must
stand in its requests as it would take it: unsigned, under its own keys, in its own words. A client
with no state that keeps nothing of who spoke asks at home for `repair`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any

import wireglot

from . import reasonloop
from .loop import long, scripts
from .loop.clients import Result
from .loop.sdks import SDKS
from .loop.server import Script, Server, Talk
from .loop.streamed import SDKS as STREAMING
from .loops import DIALECTS, MODES, Kept, Tally, Wrong, serving
from .mocks.reasoners import REASONERS, Reasoner, refusals
from .test_exchange import answered

Json = Any
NOBODY: Json = {"choices": [{"message": {}}]}  # what another model said, as one model knows it


class Speaker(Script):
    """One provider of several: `said` has the answers of all, each with who gave it."""

    def __init__(self, dialect: str, said: list[tuple[Script, Json]], aware: bool) -> None:
        super().__init__(dialect, aware)
        self.said = said

    def turns(self, body: Json) -> list[Json]:
        """Return the answers that are left, as they come after so many of its own."""
        made = long.turns(self.dialect, scripts.tool(self.dialect, body))
        return [made[len(self.said)]] * (len(self.mock.sent) + 1)

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        """Answer a request with a refusal, or with the next turn of the conversation."""
        status, answer = super().post(path, body)
        if status == 200:
            self.said.append((self, answer))
        return status, answer


class Thinker(reasonloop.Thinking):
    """A model that thinks, one of several."""

    def __init__(self, model: Reasoner, said: list[tuple[Script, Json]]) -> None:
        super().__init__(model)
        self.said = said

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        """Answer a request with a refusal, or with the next turn of the conversation."""
        mine = [answer if who is self else NOBODY for who, answer in self.said]
        refused = refusals(self.thinker, body, mine)
        if refused:
            return 400, self.mock.error(refused[0])
        nth, tool = len(self.said), scripts.tool("openai-chat", body)
        answer = reasonloop.answer(self.thinker, reasonloop.PLAN[nth], nth, tool)
        self.said.append((self, answer))
        return 200, answer


class Switching(Talk):
    """A conversation of which each turn goes to the provider that a plan names."""

    def __init__(self, client: str, plan: Sequence[Script], stateful: bool) -> None:
        super().__init__(client, plan[0], stateful)
        self.plan, self.nth = plan, 0

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        """Let the next provider of the plan answer."""
        self.script = self.plan[self.nth]
        self.nth += 1
        return super().post(path, body)

    def _exchange(self) -> wireglot.Exchange:
        home = self.state is None and self.client == self.script.dialect
        options = {"repair": True} if home else None  # nothing may say that others spoke, too
        made = wireglot.exchange(
            *(self.client, self.script.dialect, self.script.model),
            state=self.state, options=options,
        )  # fmt: skip
        return made


class SwitchingStream(Switching, Kept):
    """The same, streamed."""


def long_cell(server: Server, client: str, seed: int, streamed: bool, stateful: bool) -> set[str]:
    """Run one conversation with providers of five wires. Raises Wrong."""
    random = Random(f"{client} {seed}")
    said: list[tuple[Script, Json]] = []
    aware = client != "ollama" or stateful
    known = {name: Speaker(name, said, aware) for name in DIALECTS}
    plan = [known[random.choice(DIALECTS)] for _ in long.PLAN]
    asks = [(turn.says, [*long.CITIES.get(turn.name, ())], turn.results) for turn in long.PLAN]
    lost = _run(server, client, plan, asks, (streamed, stateful))
    for script in known.values():
        for body in script.bodies:
            told = answered(script.dialect, body)
            if told != long.TOLD[: len(told)]:
                raise Wrong(f"{script.dialect}: the tools answered {told}")
    return lost


def thinking_cell(
    server: Server, client: str, seed: int, streamed: bool, stateful: bool
) -> set[str]:
    """Run one conversation with models that think. Raises Wrong."""
    random = Random(f"{client} {seed}")
    said: list[tuple[Script, Json]] = []
    known = [Thinker(model, said) for model in REASONERS]
    plan = [random.choice(known) for _ in reasonloop.PLAN]
    before = [reasonloop.Turn(None, ""), *reasonloop.PLAN]
    asks = [
        (not last.asks, [*turn.asks], (Result("text", "22 degrees"),) * len(turn.asks))
        for last, turn in zip(before, reasonloop.PLAN, strict=False)
    ]
    return _run(server, client, plan, asks, (streamed, stateful))


def _run(
    server: Server,
    client: str,
    plan: Sequence[Script],
    asks: Sequence[tuple[bool, list[str], Sequence[Result]]],
    mode: tuple[bool, bool],
) -> set[str]:
    """Take all turns: whether the user speaks before it, the cities it asks for, the results."""
    streamed, stateful = mode
    sdk = (STREAMING if streamed else SDKS)[client](server.url)
    talk = (SwitchingStream if streamed else Switching)(client, plan, stateful)
    server.serves(talk)
    server.errors.clear()
    for nth, (says, cities, results) in enumerate(asks):
        who = " ".join(script.dialect for script in plan[: nth + 1])
        if says:
            sdk.says(f"Question {nth}.")
        try:
            calls = sdk.asks()
        except Exception as error:
            raise Wrong("; ".join([f"{who}: {error}", *server.errors])) from error
        if [call.arguments["city"] for call in calls] != cities:
            raise Wrong(f"{who}: the calls are {calls}")
        if calls:
            sdk.answers(list(zip(calls, results, strict=True)))
    return {note.code for note in talk.notes if note.effect == "lost"}


CELLS = {
    **dict.fromkeys(DIALECTS, long_cell),
    **{f"{client}, thinking": thinking_cell for client in reasonloop.CLIENTS},
}


def main(arguments: list[str] | None = None) -> int:
    """Run as many conversations as are asked for; print what was wrong, and return 1 then."""
    parser = argparse.ArgumentParser(prog="python -m tests.switches")
    parser.add_argument(
        "--seeds", type=int, default=10, help="conversations of each client, a mode"
    )
    parser.add_argument("--only", choices=MODES)
    said = parser.parse_args(arguments)
    tally = Tally(said.only)
    with serving() as server:
        for name, cell in CELLS.items():
            for seed in range(said.seeds):
                client = name.partition(",")[0]
                tally.tried(f"{name}, seed {seed}", partial(cell, server, client, seed))
    return tally.concluded()


if __name__ == "__main__":
    sys.exit(main())
