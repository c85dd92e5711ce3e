"""The file of a server: its words; providers, which is for which model, and how it converts.

A key stands in no such file: `key-env` names the environment variable that holds it. No message
shows a line of the file, for somebody may have written a key there all the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..checks.form import Forms
from ..errors import RuleError, UsageError
from ..language.findings import Findings, hint
from ..language.forms import TEXT, Form, Leaf, Map, Words, names
from ..language.source import Node, parse
from ..loading import policyfile, start
from ..loading.rulesources import text_of
from ..loop.states import States
from ..policy import Policy
from ..rulesets import RuleSet
from . import wires
from .relay import ADDRESS, Limits, ModelRoute, Relay, Upstream, key_of, upstream


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


def converting(file: str) -> tuple[RuleSet, dict[str, Any] | None, Policy | None]:
    """Return the rules, the options and the policy of a file. Raises RuleError, UsageError."""
    said = read(SERVE, text_of(file), file)
    return _rules(file, said), said.json_of("options"), _policy(file, said)


def relay_of(file: str, states: States | None) -> Relay:
    """Return what stands before the providers of a file. Raises RuleError, UsageError."""
    said = read(SERVE, text_of(file), file)
    rules, findings = _rules(file, said), Findings({file: ""}, shows=False)
    known = {
        name: _upstream(rules, name, node, findings)
        for name, node in said.value["upstreams"].value.items()
    }
    rows = _rows(said, known, findings)
    findings.raise_first()
    policy, limits = _policy(file, said), Limits(**said.json_of("limits", {}))
    relay = Relay(rules, tuple(rows), states, said.json_of("options"), policy, limits)
    options = said.get("options")
    if options is not None:
        for one in known.values():
            try:
                rules.exchange(one.dialect, one.dialect, options=relay.options)
            except UsageError as error:
                findings.error("", str(error), options.pos)
        findings.raise_first()
    return relay


def _rules(file: str, said: Node) -> RuleSet:
    folders = [str(Path(file).parent / folder) for folder in said.json_of("rules", ())]
    return start.wanted(folders, said.json_of("overlays", ()), said.json_of("plugins", False))


def _upstream(rules: RuleSet, name: str, node: Node, findings: Findings) -> Upstream:
    """Return an upstream; what is wrong with it is reported."""
    said = node.plain()
    headers = said.get("headers", {})
    for header in sorted(headers.keys() & wires.packaged().secret()):
        if wires.KEY not in headers[header]:
            told = f"`{header}` holds `{wires.KEY}`, and `key-env` names the variable of the key"
            findings.error("", told, node.value["headers"].keys[header])
    try:
        variable = said.get("key-env")
        key = key_of(variable, "key-env") if variable is not None else None
        made = upstream(rules, said["dialect"], said.get("model"), said.get("url"), key)
    except UsageError as error:
        findings.error("", str(error), node.pos)
        return Upstream(name, "", None, "", {}, None)
    own = {header: text.replace(wires.KEY, key or "") for header, text in headers.items()}
    elsewhere = any(wires.KEY in text for text in headers.values())  # the key stands there alone
    return made._replace(name=name, headers=own if elsewhere else made.headers | own)


def _rows(said: Node, known: dict[str, Upstream], findings: Findings) -> list[ModelRoute]:
    """Return the rows of the routes; without routes the one upstream is for all models."""
    routes = said.get("routes")
    if routes is None:
        if len(known) > 1:
            told = "there are several upstreams, and no `routes` that say which is for which model"
            findings.error("", told, said.pos)
        return [ModelRoute("*", tuple(known.values()))]
    rows = []
    for models, route in routes.value.items():
        fallbacks = route.get("fallbacks")
        asked = [route.value["to"], *(fallbacks.value if fallbacks is not None else ())]
        for node in asked:
            if node.value not in known:
                told = f"there is no upstream `{node.value}`"
                findings.error("", told, node.pos, hint(node.value, known))
        upstreams = [known[node.value] for node in asked if node.value in known]
        if upstreams and (model := route.json_of("model")) is not None:
            upstreams[0] = upstreams[0]._replace(model=str(model))
        rows.append(ModelRoute(models, tuple(upstreams)))
    return rows


def _policy(file: str, said: Node) -> Policy | None:
    """Return the policy that stands in a file, or in one that it names."""
    node = said.get("policy")
    if node is None:
        return None
    if isinstance(node.value, str):
        return policyfile.load_policy(Path(file).parent / node.value)
    return policyfile.policy_of(node)
