"""The words of the files that a server reads, and how a file is held to them."""

from __future__ import annotations

from ..checks.form import Forms
from ..errors import RuleError
from ..language.findings import Findings
from ..language.forms import TEXT, Form, Leaf, Listed, Map, Words, free, names, one_of
from ..language.source import Node, parse
from .wires import KEY


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
_KEYED = Map(
    text(r"[^$]*\$key[^$]*", f"`{KEY}` stands once in a header that holds the key"),
    "{what} is a mapping of headers", named=HEADER, least=1,
)  # fmt: skip
_HEADERS = Listed(
    text(r"[a-z0-9-]+\*?", "`{value}` is no name of a header",
         "in small letters; `*` at the end stands for anything"),
    "{what} is a list of headers",
)  # fmt: skip
_PATH = words(
    "a path",
    {
        "client": NAME,
        "method": one_of("GET", "POST", message="`method` is GET or POST"),
        "stream": FLAG,
        "answer": free({}),
    },
    "client",
)
_PATHS = Map(
    _PATH, "{what} is a mapping of paths", each="the path `{name}`", least=1,
    named=text(r"/[\w.:/-]*(\{model\}[\w.:/-]*)?", "{what} is no path",
               "it begins with `/`, and `{model}` stands in it at most once"),
)  # fmt: skip
_HOST = text(
    r"https?://[^\s/]+", "`url` is `https://HOST`, without a path", "the rule file says the path"
)
_PROVIDER = words("a provider", {"url": _HOST, "headers": _KEYED, "refused": NAME})
WIRES = words(
    "a file of wires",
    {
        "wires": begins("wires", "a file of wires"),
        "paths": _PATHS,
        "unknown": NAME,
        "keys": words("`keys`", {"headers": _KEYED, "query": names()}, "headers query"),
        "headers": words(
            "`headers`", dict.fromkeys(("home", "back", "alike"), _HEADERS), "home back alike"
        ),
        "providers": Map(_PROVIDER, "{what} is a mapping of dialects", each="`{name}`"),
        "otherwise": words("`otherwise`", {"headers": _KEYED}, "headers"),
        "telemetry": NAME,
        "demo": words("`demo`", {"dialect": NAME, "model": NAME}, "dialect model"),
    },
    "wires paths unknown keys headers providers otherwise telemetry demo",
)


_TEXT = text(r"[\x20-\x7e]*", "{what} is a text that a header holds")
_URL = text(r"https?://[^\s?#@]+", "`url` begins with http:// or https://, and has no key in it")
_ENV = text("[A-Za-z_][A-Za-z0-9_]*", "{what} is the name of an environment variable",
            "the key itself stands in no file")  # fmt: skip
_UPSTREAM = words(
    "an upstream",
    {
        "dialect": NAME,
        "url": _URL,
        "key-env": _ENV,
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


_VALUE = Leaf({"anyOf": [{"const": None}, {"type": "string"}]}, "{what} is a text, or null")
_PROGRAM = words(
    "a program",
    {
        "install": NAME,
        "env": Map(_VALUE, "{what} is a mapping of variables", named=_ENV),
        "arguments": names(),
        "files": Map(free({}), "{what} is a mapping of names", named=text(
            r"(\.?[\w-]+/)*[\w-]+\.\w+", "{what} is no name of a file")),
    },
    "install",
)  # fmt: skip
AGENTS = words(
    "a file of agents",
    {
        "agents": begins("agents", "a file of agents"),
        "programs": Map(_PROGRAM, "{what} is a mapping of programs", each="`{name}`", least=1),
    },
    "agents programs",
)


def read(form: Words, said: str, file: str, findings: Findings | None = None) -> Node:
    """Return what a file says, where it has its form.

    Raises RuleError with the place of what is wrong, without a line of the file: a key may stand
    there where it must not. A caller reports to `findings` what is wrong besides.
    """
    findings = Findings({file: said}, shows=False) if findings is None else findings
    try:
        root = parse(said, file)
    except RuleError as error:
        findings.take(error)
        findings.raise_first()
        raise
    clean = Forms(findings).check(form, root, form.what)
    findings.raise_first()
    assert clean is not None  # or something was found
    return clean
