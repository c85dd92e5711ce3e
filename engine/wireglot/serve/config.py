"""The file of a server: providers, which of them is for which model, and how it converts.

A key stands in no such file: `key-env` names the environment variable that holds it. No message
shows a line of the file, for somebody may have written a key there all the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..language.findings import Findings, hint
from ..language.source import Node
from ..loading import policyfile, start
from ..loading.rulesources import text_of
from ..loop.states import States
from ..policy import Policy
from ..rulesets import RuleSet
from . import wires, words
from .relay import Limits, ModelRoute, Relay, Upstream, key_of, upstream


def converting(file: str) -> tuple[RuleSet, dict[str, Any] | None, Policy | None]:
    """Return the rules, the options and the policy of a file. Raises RuleError, UsageError."""
    said = words.read(words.SERVE, text_of(file), file)
    return _rules(file, said), said.json_of("options"), _policy(file, said)


def relay_of(file: str, states: States | None) -> Relay:
    """Return what stands before the providers of a file. Raises RuleError, UsageError."""
    said = words.read(words.SERVE, text_of(file), file)
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
