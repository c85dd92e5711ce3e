"""What is said in a loop, in no wire's words: what a request holds, and what a model answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

Json = Any


class Call(NamedTuple):
    """A call of the model; `signature` is that of the call itself, where a wire has such."""

    id: str | None
    name: str
    arguments: Json  # an object; of a freeform tool the text
    signature: str | None = None


class Result(NamedTuple):
    id: str | None
    text: str
    pictures: int = 0


class Thought(NamedTuple):
    text: str
    signature: str | None = None


class Text(NamedTuple):
    text: str
    mine: bool  # whether the model said it


class Picture(NamedTuple):
    """A picture that stands among the words of the user."""


class Tool(NamedTuple):
    name: str
    keys: tuple[str, ...]
    freeform: bool = False
    space: str | None = None  # the namespace that it stands in
    about: str = ""


Event = Call | Result | Thought | Text | Picture


@dataclass
class Asked:
    """What a request holds: its tools, and all that was said, in order."""

    tools: list[Tool] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    stream: bool = False


@dataclass
class Answer:
    """A turn of the model."""

    id: str
    model: str
    thought: Thought | None = None
    text: str = ""
    calls: list[Call] = field(default_factory=list)
