"""Clients that show thoughts before models that think: what comes back, where and when.

    python -m tests.reasonloop [--clients A,B] [--models A,B] [--only whole|streamed]

Each cell is a conversation of eight turns over loopback HTTP: the official SDK of Anthropic,
OpenAI's Responses or Gemini as the client, an exchange for each request, with a state and without
one, and a model that refuses what its API refuses (`tests/mocks/reasoners.py`): a thought that it
must have back and has not, one that was changed, one that it takes not at all, or under the key of
another vendor. Of each turn it is asked, too, that the client is shown the thought.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any, NamedTuple

from . import mocks
from .loop import long, scripts
from .loop.clients import Result
from .loop.sdks import SDKS, Sdk
from .loop.server import Script, Server, Talk
from .loop.streamed import SDKS as STREAMING
from .loops import MODES, Kept, Tally, Wrong, last_answer, serving
from .mocks.reasoners import REASONERS, SAYING, Reasoner, refusals

Json = Any
CLIENTS = ("anthropic", "openai-responses", "gemini")


class Turn(NamedTuple):
    """A turn of the model: what it thinks and says, and the cities that it asks a tool for."""

    thinks: str | None
    says: str
    asks: tuple[str, ...] = ()


PLAN = (
    Turn("They greet me.", "Hello."),
    Turn("Two cities.\nBoth at once.", "I look.", ("Oslo", "Rome")),
    Turn("Once more?", "", ("Oslo",)),
    Turn(None, "", ("Rome",)),
    Turn("Enough.", "It is warm."),
    Turn("Another city.", "", ("Lima",)),
    Turn("That is all.", "It is mild."),
    Turn("Be polite.", "At once."),
)


def answer(model: Reasoner, turn: Turn, nth: int, tool: str) -> Json:
    """Return the body of a response that says a turn."""
    said: dict[str, Json] = {"content": turn.says}
    if turn.thinks:
        said = SAYING[model.says](turn.thinks, turn.says)
    if turn.asks:
        if not said["content"]:
            said["content"] = None if model.dialect != "mistral" else ""
        said["tool_calls"] = [
            {
                "id": f"call0{nth}00{which}",  # nine letters and digits, as Mistral's
                "type": "function",
                "function": {"name": tool, "arguments": f'{{"city": "{city}"}}'},
            }
            for which, city in enumerate(turn.asks)
        ]
    return {**scripts._chat(said, bool(turn.asks)), "id": f"c{nth}", "model": model.model}


class Thinking(Script):
    """A model that plays the plan, and refuses what its API does."""

    def __init__(self, model: Reasoner) -> None:
        super().__init__(model.dialect)
        self.thinker, self.model = model, model.model
        self.mock = mocks.Provider("openai-chat", model.model)

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        """Answer a request with a refusal, or with the next turn."""
        self.bodies.append(body)
        refused = refusals(self.thinker, body, self.mock.sent)
        if refused:
            return 400, self.mock.error(refused[0])
        nth, tool = len(self.mock.sent), scripts.tool("openai-chat", body)
        return 200, self.mock.answers(answer(self.thinker, PLAN[nth], nth, tool))


def cell(server: Server, client: str, model: Reasoner, streamed: bool, stateful: bool) -> set[str]:
    """Run one conversation; return the codes of what was noted lost. Raises Wrong."""
    sdk: Sdk = (STREAMING if streamed else SDKS)[client](server.url)
    talk = (Kept if streamed else Talk)(client, Thinking(model), stateful)
    server.serves(talk)
    server.errors.clear()
    for nth, turn in enumerate(PLAN):
        if nth == 0 or not PLAN[nth - 1].asks:
            sdk.says(f"Question {nth}.")
        _turn(sdk, talk, turn, nth, shown=model.says != "tags")
    return {note.code for note in talk.notes if note.effect == "lost"}


def _turn(sdk: Sdk, talk: Talk, turn: Turn, nth: int, shown: bool) -> None:
    """Take one turn of the conversation."""
    try:
        calls = sdk.asks()
    except Exception as error:
        raise Wrong(f"turn {nth}: {type(error).__name__}: {error}") from error
    if [call.arguments["city"] for call in calls] != list(turn.asks):
        raise Wrong(f"turn {nth}: the calls are {calls}")
    seen = long.thought(talk.client, last_answer(talk))
    if shown and seen != (turn.thinks or ""):
        raise Wrong(f"turn {nth}: the thought {turn.thinks!r} is shown as {seen!r}")
    if calls:
        sdk.answers([(call, Result("text", f"{nth} degrees")) for call in calls])


def named(model: Reasoner) -> str:
    """Return how the table calls a model."""
    return f"{model.dialect} {model.model}"


def main(arguments: list[str] | None = None) -> int:
    """Run the cells that are asked for; print the table; return 1 where one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.reasonloop")
    parser.add_argument("--clients", default=",".join(CLIENTS))
    parser.add_argument("--models", help="dialects of vendors")
    parser.add_argument("--only", choices=MODES)
    said = parser.parse_args(arguments)
    asked = said.models.split(",") if said.models else [one.dialect for one in REASONERS]
    clients = said.clients.split(",")
    tally = Tally(said.only)
    print("| model | wants back | " + " | ".join(clients) + " |\n|---|---|" + "---|" * len(clients))
    with serving() as server:
        for model in (one for one in REASONERS if one.dialect in asked):
            row = [
                tally.tried(f"{one} before {named(model)}", partial(cell, server, one, model))
                for one in clients
            ]
            print(f"| {named(model)} | {model.wants} | {' | '.join(row)} |", flush=True)
    return tally.concluded()


if __name__ == "__main__":
    sys.exit(main())
