"""Change each place of the small rule sets in each of some ways, and compare both executors.

Where `tests/rulefuzz.py` draws changes, this goes through them: a key is put beside the others of
each object of a wire picture, each hole gets other marks and lenses, each other leaf other words,
and each key is taken away. The section `each` of `tests/against.py` runs them all.
"""

from __future__ import annotations

import copy
import functools
import json
import operator
import re
from collections.abc import Iterator
from typing import Any

from wireglot.language.findings import Findings
from wireglot.rulesets import RuleSet

from . import byhand
from .rulefuzz import FILE, Base, Fuzz, differ, node_of

Path = tuple[Any, ...]
MARKS = (
    "", " (optional)", " (else 1)", " (else null)", " (default x)", " (default 1)", " (refused)",
    " (made)", " (default empty-list)", " | json", " | string", " | text (or list)", " | text",
    " | single",
    " | list (or one)", " | list (or text)", " | list", " | object",
)  # fmt: skip
WORDS = (
    "other", "$absent", "$own.zz", "$kind", "a${text}", None, 1, ["lit"], {"of": "lit"},
)  # fmt: skip
BESIDE: tuple[tuple[str, Any], ...] = (
    *(("zz", v) for v in (
        "lit", "lit (or $absent)", "$absent", "$absent (or 1)", None, True, 1, ["lit"], {"a": "b"},
        "$own.zz", "$own.zz (optional)", "$own.zz (fill 1)", "$own.zz (default 1)", "$nth",
        "$nth (optional)", {"a": "$own.zz (optional)"}, {"a": {"b": "$own.zz (default 1)"}},
        "a${x}", "$name (optional)", "$cache (optional)", "$signature (optional)",
        "$max_tokens (default 5)", "$text (copy)", {"k": "lit", "x": "$own.q (optional)"},
    )),
    *(("...", v) for v in ("$absent", "$own.zz", "$own.zz (optional)")),
    ("zz (or k)", "$own.zz (optional)"),
    ("zz (or k)", "lit"),
)  # fmt: skip
UNITS = ("request", "shapes", "conversation", "envelope")


def walk(plain: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every node with its path."""
    yield at, plain
    items = plain if isinstance(plain, list) else ()
    for key, child in plain.items() if isinstance(plain, dict) else enumerate(items):
        yield from walk(child, (*at, key))


_GONE = object()


def changes(plain: Any) -> Iterator[tuple[str, Any]]:
    """Yield what was done to a file, and the changed file."""
    for at, node in walk(plain):
        if at[:1] and at[0] in (*UNITS, "unions"):
            for said, key, value in _puts(at, node):
                new = copy.deepcopy(plain)
                *path, last = at if key is None else (*at, key)
                owner = functools.reduce(operator.getitem, path, new)
                if value is _GONE:
                    del owner[last]
                else:
                    owner[last] = value
                yield f"{'/'.join(map(str, at))}: {said}", new


def _puts(at: Path, node: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield what is said of a change of a node, the key to put (None for itself) and the value."""
    wired = "wire" in at and at[0] in UNITS
    if isinstance(node, dict):
        for key, value in BESIDE if wired else ():
            yield f"{key}: {json.dumps(value)}", key, value
        for key in node if wired else ():
            yield f"without {key}", key, _GONE
    elif isinstance(node, str) and wired and re.match(r"\$(?!absent)", node):
        bare = re.sub(r"\s*\([^()]*\)$", "", node)
        found = [f"{base}{mark}" for base in {bare, bare.split(" |")[0]} for mark in MARKS]
        for value in ("lit", {"of": node}, [node], *sorted(set(found) - {node})):
            yield json.dumps(value), None, value
    elif not isinstance(node, list) and wired:
        for value in (*WORDS, f"{node} (or $absent)", f"{node} (or zz)"):
            yield json.dumps(value), None, value
    elif isinstance(node, list) and at[0] == "unions":
        for n in range(len(node)):
            yield f"without {node[n]}", n, _GONE


def tried(fuzz: Fuzz, base: Base, stem: str, plain: Any) -> Any:
    """Return what the executors make of payloads where that differs; False for a refused file."""
    findings = Findings({FILE: ""})
    nodes = {**base.nodes, stem: node_of(plain)}
    rules = byhand.from_nodes(nodes, fuzz.around[base.other], findings)
    if not isinstance(rules, RuleSet):
        return False
    for name in rules.dialects:
        if name == base.other:
            continue
        pairs = [(name, base.other, [base.bodies["request"]])]
        for source, target, bodies in [*pairs, (base.other, name, fuzz.bodies[base.other])]:
            for body in bodies:
                found = differ(rules, source, target, {**body, "zz": 1}, {})
                if found is not None:
                    return f"{source} to {target}: {found[0]} and not {found[1]}"
    return None
