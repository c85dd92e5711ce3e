"""The forms of the packaged files of `rules/serve`, which the server takes for checked."""

from __future__ import annotations

from wireglot.language.forms import Leaf, Listed, Map, free, names, one_of
from wireglot.serve import config
from wireglot.serve.wires import KEY

_KEYED = Map(
    config.text(r"[^$]*\$key[^$]*", f"`{KEY}` stands once in a header that holds the key"),
    "{what} is a mapping of headers", named=config.HEADER, least=1,
)  # fmt: skip
_HEADERS = Listed(
    config.text(r"[a-z0-9-]+\*?", "`{value}` is no name of a header",
         "in small letters; `*` at the end stands for anything"),
    "{what} is a list of headers",
)  # fmt: skip
_PATH = config.words(
    "a path",
    {
        "client": config.NAME,
        "method": one_of("GET", "POST", message="`method` is GET or POST"),
        "stream": config.FLAG,
        "answer": free({}),
    },
    "client",
)
_PATHS = Map(
    _PATH, "{what} is a mapping of paths", each="the path `{name}`", least=1,
    named=config.text(r"/[\w.:/-]*(\{model\}[\w.:/-]*)?", "{what} is no path",
               "it begins with `/`, and `{model}` stands in it at most once"),
)  # fmt: skip
_HOST = config.text(
    r"https?://[^\s/]+", "`url` is `https://HOST`, without a path", "the rule file says the path"
)
_PROVIDER = config.words("a provider", {"url": _HOST, "headers": _KEYED, "refused": config.NAME})
WIRES = config.words(
    "a file of wires",
    {
        "wires": config.begins("wires", "a file of wires"),
        "paths": _PATHS,
        "keys": config.words("`keys`", {"headers": _KEYED, "query": names()}, "headers query"),
        "headers": config.words(
            "`headers`", dict.fromkeys(("home", "back", "alike"), _HEADERS), "home back alike"
        ),
        "providers": Map(_PROVIDER, "{what} is a mapping of dialects", each="`{name}`"),
        "otherwise": config.words("`otherwise`", {"headers": _KEYED}, "headers"),
        "telemetry": config.NAME,
        "demo": config.words(
            "`demo`", {"dialect": config.NAME, "model": config.NAME}, "dialect model"
        ),
    },
    "wires paths keys headers providers otherwise telemetry demo",
)

_VALUE = Leaf({"anyOf": [{"const": None}, {"type": "string"}]}, "{what} is a text, or null")
_PROGRAM = config.words(
    "a program",
    {
        "install": config.NAME,
        "env": Map(_VALUE, "{what} is a mapping of variables", named=config.ENV),
        "arguments": names(),
        "files": Map(free({}), "{what} is a mapping of names", named=config.text(
            r"(\.?[\w-]+/)*[\w-]+\.\w+", "{what} is no name of a file")),
    },
    "install",
)  # fmt: skip
AGENTS = config.words(
    "a file of agents",
    {
        "agents": config.begins("agents", "a file of agents"),
        "programs": Map(_PROGRAM, "{what} is a mapping of programs", each="`{name}`", least=1),
    },
    "agents programs",
)
