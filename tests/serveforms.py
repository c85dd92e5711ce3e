"""The forms of the packaged files of `rules/serve`, which the server takes for checked."""

from __future__ import annotations

from wireglot.language.forms import Leaf, Listed, Map, free, names, one_of
from wireglot.serve import words
from wireglot.serve.wires import KEY

_KEYED = Map(
    words.text(r"[^$]*\$key[^$]*", f"`{KEY}` stands once in a header that holds the key"),
    "{what} is a mapping of headers", named=words.HEADER, least=1,
)  # fmt: skip
_HEADERS = Listed(
    words.text(r"[a-z0-9-]+\*?", "`{value}` is no name of a header",
         "in small letters; `*` at the end stands for anything"),
    "{what} is a list of headers",
)  # fmt: skip
_PATH = words.words(
    "a path",
    {
        "client": words.NAME,
        "method": one_of("GET", "POST", message="`method` is GET or POST"),
        "stream": words.FLAG,
        "answer": free({}),
    },
    "client",
)
_PATHS = Map(
    _PATH, "{what} is a mapping of paths", each="the path `{name}`", least=1,
    named=words.text(r"/[\w.:/-]*(\{model\}[\w.:/-]*)?", "{what} is no path",
               "it begins with `/`, and `{model}` stands in it at most once"),
)  # fmt: skip
_HOST = words.text(
    r"https?://[^\s/]+", "`url` is `https://HOST`, without a path", "the rule file says the path"
)
_PROVIDER = words.words("a provider", {"url": _HOST, "headers": _KEYED, "refused": words.NAME})
WIRES = words.words(
    "a file of wires",
    {
        "wires": words.begins("wires", "a file of wires"),
        "paths": _PATHS,
        "keys": words.words("`keys`", {"headers": _KEYED, "query": names()}, "headers query"),
        "headers": words.words(
            "`headers`", dict.fromkeys(("home", "back", "alike"), _HEADERS), "home back alike"
        ),
        "providers": Map(_PROVIDER, "{what} is a mapping of dialects", each="`{name}`"),
        "otherwise": words.words("`otherwise`", {"headers": _KEYED}, "headers"),
        "telemetry": words.NAME,
        "demo": words.words(
            "`demo`", {"dialect": words.NAME, "model": words.NAME}, "dialect model"
        ),
    },
    "wires paths keys headers providers otherwise telemetry demo",
)

_VALUE = Leaf({"anyOf": [{"const": None}, {"type": "string"}]}, "{what} is a text, or null")
_PROGRAM = words.words(
    "a program",
    {
        "install": words.NAME,
        "env": Map(_VALUE, "{what} is a mapping of variables", named=words.ENV),
        "arguments": names(),
        "files": Map(free({}), "{what} is a mapping of names", named=words.text(
            r"(\.?[\w-]+/)*[\w-]+\.\w+", "{what} is no name of a file")),
    },
    "install",
)  # fmt: skip
AGENTS = words.words(
    "a file of agents",
    {
        "agents": words.begins("agents", "a file of agents"),
        "programs": Map(_PROGRAM, "{what} is a mapping of programs", each="`{name}`", least=1),
    },
    "agents programs",
)
