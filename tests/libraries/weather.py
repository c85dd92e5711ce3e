"""What all libraries are given: the tool, what is asked, and what a conversation comes to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Json = Any
PICTURE = "iVBORw0KGgoAAAANSUhEUg=="
NAME = "get_weather"
ABOUT = "Look at the weather."
SCHEMA: Json = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "n": {"type": "number"}},
    "required": ["city"],
}
KEY = "k"


class Timeout(Exception):
    """What the tool raises the second time that it is asked of Oslo."""


@dataclass
class Seen:
    """What the user of a library sees of a conversation."""

    texts: list[str] = field(default_factory=list)  # the last of each question
    ran: list[tuple[str, float]] = field(default_factory=list)  # what the tool was called with
    thoughts: list[str] = field(default_factory=list)
    pictured: bool = True  # whether the library lets a tool return a picture on this wire


@dataclass
class Weather:
    """The tool: the first time it answers, the second it fails or shows a map."""

    seen: Seen
    asked: Counter[str] = field(default_factory=Counter)

    def __call__(self, city: str, n: float = 1.0) -> str | None:
        """Return what is known of a city, None for a map. Raises Timeout."""
        self.seen.ran.append((city, n))
        self.asked[city] += 1
        if self.asked[city] == 1:
            return {"Oslo": "12 degrees", "Rome": '{"temp":25}'}.get(city, f"No {city}")
        if city == "Oslo":
            raise Timeout("Timeout")
        return None


class Client:
    """A conversation by a library; `wire` is the dialect that it speaks."""

    def __init__(self, wire: str, url: str, streamed: bool) -> None:
        self.wire, self.url, self.streamed = wire, url, streamed
        self.seen = Seen()
        self.weather = Weather(self.seen)

    def asks(self, text: str, pictured: bool) -> None:
        """Ask a question, with a picture beside it, and let the library go on to the end."""
        raise NotImplementedError
