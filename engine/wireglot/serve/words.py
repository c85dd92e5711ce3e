"""The words of the file of a server, and how a file is held to its words."""

from __future__ import annotations

from ..checks.form import Forms
from ..errors import RuleError
from ..language.findings import Findings
from ..language.forms import TEXT, Form, Leaf, Map, Words, names
from ..language.source import Node, parse
from .relay import ADDRESS


def words(what: str, known: dict[str, Form], needed: str = "") -> Words:
    """Return the form of a mapping of words, of which some have to stand there."""
    return Words(
        what,
        {word: (form, "") for word, form in known.items()},
        needed=tuple(needed.split()),
        missing="{what} has no `{value}`",
        layered=False,
        least=1,
        lead="there are",
    )


def begins(word: str, what: str) -> Leaf:
    """Return the form of the version with which a file begins."""
    return Leaf({"const": 1}, f"{what} begins with `{word}: 1`")


def text(pattern: str, message: str, help: str = "") -> Leaf:
    """Return the form of a text that is like a pattern as a whole."""
    return Leaf({**TEXT, "pattern": rf"^(?:{pattern})\Z"}, message, help)


FLAG = Leaf({"type": "boolean"}, "{what} is true or false")
NAME = Leaf(TEXT)
HEADER = text("[a-z0-9-]+", "{what} is no name of a header in small letters")
_TEXT = text(r"[\x20-\x7e]*", "{what} is a text that a header holds")
_URL = text(ADDRESS, "`url` begins with http:// or https://, and has no key in it")
ENV = text("[A-Za-z_][A-Za-z0-9_]*", "{what} is the name of an environment variable",
            "the key itself stands in no file")  # fmt: skip
_UPSTREAM = words(
    "an upstream",
    {
        "dialect": NAME,
        "url": _URL,
        "key-env": ENV,
        "headers": Map(_TEXT, "{what} is a mapping of headers", named=HEADER),
        "model": NAME,
    },
    "dialect",
)
_ROUTE = words("a route", {"to": NAME, "model": NAME, "fallbacks": names()}, "to")
_COUNT = Leaf({"type": "integer", "minimum": 1}, "{what} is a number, at least 1")
_SECONDS = Leaf({"type": "number", "minimum": 0.1}, "{what} is a number of seconds, at least 0.1")
_LIMITS = {
    **dict.fromkeys(("body", "requests"), _COUNT),
    **dict.fromkeys(("arrival", "connect", "silence"), _SECONDS),
}
SERVE = words(
    "the file of a server",
    {
        "serve": begins("serve", "the file of a server"),
        "upstreams": Map(_UPSTREAM, "{what} is a mapping of upstreams", each="`{name}`", least=1),
        "routes": Map(_ROUTE, "{what} is a mapping of models", each="`{name}`", least=1),
        "options": Leaf({"type": "object"}, "{what} is a mapping"),
        "policy": Leaf({"anyOf": [TEXT, {"type": "object"}]}, "{what} is a policy, or its file"),
        "rules": names(),
        "overlays": names(),
        "plugins": FLAG,
        "limits": words("`limits`", _LIMITS),
    },
    "serve upstreams",
)


def read(form: Words, said: str, file: str) -> Node:
    """Return what a file says, where it has its form.

    Raises RuleError with the place of what is wrong, without a line of the file: a key may stand
    there where it must not.
    """
    findings = Findings({file: said}, shows=False)
    try:
        root = parse(said, file)
    except RuleError as error:
        findings.add_error(error)
        findings.raise_first()
        raise
    clean = Forms(findings).check(form, root, form.what)
    findings.raise_first()
    assert clean is not None  # or something was found
    return clean
