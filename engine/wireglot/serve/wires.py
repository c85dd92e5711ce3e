"""Wires: what is known of the HTTP around the bodies, read from a file beside the rules.

Which path is whose, where providers are, where a key stands, which headers go through. The file
says it (`rules/serve/wires.yaml`).
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..loading.rulesources import beside

FILE = "serve/wires.yaml"
KEY, TOKENS, MODEL = "$key", "$tokens", "$model"  # what stands for something in the file


class Route(NamedTuple):
    """A path of clients.

    Attributes:
        path: As the file says it; `{model}` stands for a name without a slash.
        client: The dialect that is spoken there.
        method: Of HTTP.
        stream: Whether a stream is asked for, where the path says it.
        answer: What is answered without asking a provider, as JSON; None: a provider is asked.
    """

    path: str
    client: str
    method: str = "POST"
    stream: bool | None = None
    answer: Any = None

    def match(self, path: str) -> re.Match[str] | None:
        """Find out whether a path is this one."""
        return _pattern(self.path).fullmatch(path)

    def along(self, path: str) -> int:
        """Return how far a path goes along with this one."""
        both = zip(self.path.split("/"), path.split("/"), strict=False)
        return len(list(itertools.takewhile(lambda two: two[0] == two[1], both)))


class Provider(NamedTuple):
    """Where a provider is, the headers that hold its key, and why it cannot be served."""

    headers: dict[str, str]
    url: str | None = None
    refused: str | None = None


class Wires(NamedTuple):
    """What the file says."""

    routes: tuple[Route, ...]
    key_headers: dict[str, str]
    key_query: tuple[str, ...]
    home: tuple[str, ...]
    back: tuple[str, ...]
    alike: tuple[str, ...]
    providers: dict[str, Provider]
    otherwise: dict[str, str]
    demo: tuple[str, str]
    telemetry: str

    def provider(self, name: str) -> Provider:
        """Return what is known of a provider; of one that is not named, how it mostly is."""
        return self.providers.get(name) or Provider(self.otherwise)

    def secret(self) -> set[str]:
        """Return the names of headers in which keys stand."""
        held = (self.key_headers, self.otherwise, *(one.headers for one in self.providers.values()))
        return {name for headers in held for name in headers}


@functools.cache
def packaged() -> Wires:
    """Return what the packaged file says, which is taken for checked."""
    return wires_of(beside(FILE))


def wires_of(said: Any) -> Wires:
    """Return what a file says whose form is right."""
    keys, otherwise = said["keys"], said["otherwise"]["headers"]
    routes = tuple(Route(path, **one) for path, one in said["paths"].items())
    named = said["providers"].items()
    return Wires(
        routes=routes,
        key_headers=keys["headers"],
        key_query=tuple(keys["query"]),
        providers={name: Provider(**{"headers": otherwise, **one}) for name, one in named},
        otherwise=otherwise,
        demo=(said["demo"]["dialect"], said["demo"]["model"]),
        telemetry=said["telemetry"],
        **{word: tuple(listed) for word, listed in said["headers"].items()},
    )


@functools.cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.escape(path).replace(r"\{model\}", r"(?P<model>[^/]+)"))


def filled(value: Any, held: Mapping[str, Any], models: Sequence[str] = ()) -> Any:
    """Return JSON in which each text that is a key of `held`, or has one in it, is filled in.

    What stands in a list and names a model stands there once for each of them.
    """
    if isinstance(value, dict):
        keys = {filled(key, held): inner for key, inner in value.items()}
        return {key: filled(inner, held, models) for key, inner in keys.items()}
    if isinstance(value, list):
        made: list[Any] = []
        for inner in value:
            by_model = MODEL in str(inner) and MODEL not in held
            each: list[Mapping[str, Any]] = [{**held, MODEL: model} for model in models]
            made += [filled(inner, words) for words in (each if by_model else [held])]
        return made
    if not isinstance(value, str):
        return value
    if value in held:
        return held[value]
    names = "|".join(map(re.escape, held))
    return re.sub(names, lambda found: str(held[found[0]]), value) if held else value
