"""Policy files: YAML or JSON, a mapping as `policy=` takes it or rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..language.source import Node, parse, wrong
from ..notes import CODES, EFFECTS, SEVERITIES, Note
from ..policy import WORDS, Policy, Row
from ..selecting import Selection
from .rulesources import text_of

CONDITIONS = ("code", "effect", "severity", "source", "target", "path", "where")
FIELDS = (*Note._fields, "source", "target")  # what `where` may ask for


def load_policy(file: str | Path) -> Policy:
    """Load a policy file, YAML or JSON. Raises RuleError with its place, UsageError."""
    return policy_of(parse(text_of(file), str(file)))


def policy_of(node: Node) -> Policy:
    """Load a policy that stands in a file. Raises RuleError with its place."""
    if not isinstance(node.value, dict):
        raise wrong("a policy file is a mapping", node.pos)
    if "policy" not in node.value and "rules" not in node.value:
        try:
            return Policy(node.plain())
        except UsageError as error:
            raise wrong(str(error), node.pos) from None
    for word in node.value:
        if word not in ("policy", "rules", "otherwise"):
            help = "`policy`, `rules` and `otherwise` are"
            raise wrong(f"`{word}` is no word of a policy", node.key_pos(word), help)
    version = node.get("policy")
    if version is None or version.value != 1:
        raise wrong("a policy file begins with `policy: 1`", (version or node).pos)
    said = node.get("otherwise")
    if said is not None and said.value not in WORDS:
        raise wrong("`otherwise` is `ignore`, `note` or `fail`", said.pos)
    rules = node.get("rules")
    if rules is not None and not isinstance(rules.value, list):
        raise wrong("`rules` is a list of rows", rules.pos)
    rows = [_row(child) for child in rules.value] if rules is not None else []
    return Policy(None, rows, str(said.value) if said is not None else "note")


def _row(node: Node) -> Row:
    if not isinstance(node.value, dict):
        raise wrong("a row of a policy is a mapping", node.pos, "{effect: lost, do: fail}")
    given: dict[str, Any] = {}
    for word, child in node.value.items():
        pos = node.key_pos(word)
        if word not in (*CONDITIONS, "do"):
            raise wrong(f"`{word}` is no word of a row", pos, ", ".join((*CONDITIONS, "do")))
        if not isinstance(child.value, str):
            raise wrong(f"`{word}` is a text", child.pos)
        given[word] = child.value
        known = {"code": CODES, "effect": EFFECTS, "severity": SEVERITIES, "do": WORDS}.get(word)
        if known is not None and child.value not in known:
            help = "docs/notes.md lists the codes" if word == "code" else ", ".join(known)
            raise wrong(f"`{child.value}` is no {word}", child.pos, help)
        if word == "path":
            if child.value and not child.value.startswith("/"):
                raise wrong("a path begins with `/`", child.pos)
            given[word] = tuple(child.value.split("/")[1:])
        if word == "where":
            given[word] = _condition(child)
    if "do" not in given:
        raise wrong("a row says what to `do`", node.pos, "ignore, note or fail")
    return Row(**given)


def _condition(node: Node) -> Callable[[Any], bool]:
    """Return the expression of a row, tried on notes with and without what a note may lack."""
    try:
        made = Selection(node.value, FIELDS)
        for lacks in ((), ("source_path", "target_path", "rule", "source", "target")):
            made.of({name: None if name in lacks else "x" for name in FIELDS})
    except UsageError as error:
        help = "paths, `rule`, `source` and `target` may be null: `source_path || ''` is a text"
        raise wrong(str(error), node.pos, help if "evaluated" in str(error) else "") from None
    return made.holds
