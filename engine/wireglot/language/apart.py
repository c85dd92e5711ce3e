"""Examples that stand in a file of their own, beside the rule file that they show.

    wireglot: 2
    examples-of: acme
    examples: {text: [...], request: [...], tables/stop: [...]}

Such a file says nothing to a conversion. Each list is put back where it would stand in the rule
file, with its own places, so that nothing else knows the two files apart.

    wireglot: 2
    crossings: {request: {NAME: {from: acme, wires: {acme: ..., other: ...}}}}

shows the wires of several dialects, and belongs to none of them: it is kept as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from .source import Node, wrong

WORD = "examples-of"
CROSSINGS = "crossings"
FOLDER = "examples"  # the folder of a source in which they may stand
UNITS = ("conversation", "envelope", "stream", "request", "response", "error", "session")
SECTIONS = ("tables", "schemas", "shapes")
HELP = f"`{WORD}: NAME`, and under `examples` a list for each shape, unit, or `tables/NAME`"


def of(node: Node) -> str | None:
    """Return the dialect that a file shows examples of; None for a rule file. Raises RuleError."""
    named = node.get(WORD)
    if named is None:
        return None
    if not isinstance(named.value, str) or node.get("examples") is None:
        raise wrong("this file shows no examples", named.pos, HELP, rule="R026")
    _only(node, (WORD, "examples"), "examples", HELP)
    return named.value


def crossings(node: Node) -> bool:
    """Tell whether a file shows the wires of several dialects. Raises RuleError."""
    if node.get(CROSSINGS) is None:
        return False
    _only(node, (CROSSINGS,), CROSSINGS, f"put them into a file of `{CROSSINGS}` alone")
    return True


def _only(node: Node, words: tuple[str, ...], what: str, help: str) -> None:
    for word in node.value:
        if word not in ("wireglot", *words):
            pos = node.place(word)
            raise wrong(f"a file of {what} has no `{word}`", pos, help, rule="R026")


def put(node: Node, files: Mapping[str, Node]) -> None:
    """Put the examples of a file into the rule file that they show. Raises RuleError."""
    named, shown = node.value[WORD], node.value["examples"]
    rules = files.get(named.value)
    if rules is None:
        help = f"put it beside the rule file that says `dialect: {named.value}`"
        raise wrong(f"there is no rule file of `{named.value}` here", named.pos, help, rule="R026")
    for name, listed in shown.entries.items():
        held = owner(rules, name)
        if held is None and rules.get("extends") is None:
            told = f"`{named.value}` has no `{name}` to show"
            raise wrong(told, shown.place(name), HELP, rule="R026")
        if held is None:  # it is a parent's
            top = rules.value.setdefault("examples", Node({}, shown.pos))
            top.value[name] = listed
            top.keys[name] = shown.keys.get(name, listed.pos)
            rules.keys.setdefault("examples", node.keys.get("examples", shown.pos))
            continue
        before = held.get("examples")
        if before is not None and isinstance(before.value, list) and isinstance(listed.value, list):
            there = set(map(id, before.value))  # a file that was parsed once may be put in again
            more = [example for example in listed.value if id(example) not in there]
            listed = Node([*before.value, *more], before.pos)
        held.value["examples"] = listed
        held.keys["examples"] = shown.keys.get(name, listed.pos)


def place(name: str) -> tuple[str, ...]:
    """Return where in a rule file that stands of which examples are shown under a name."""
    section, _, inner = name.rpartition("/")
    return (name,) if name in UNITS else (section or "shapes", inner)


def owner(rules: Node, name: str) -> Node | None:
    """Return the shape, table or unit of a rule file that a list of examples belongs to."""
    path = place(name)
    found = rules if path[0] in (*UNITS, *SECTIONS) else None
    for word in path:
        found = found.get(word) if found is not None else None
    return found if found is not None and isinstance(found.value, dict) else None


def beside(file: str) -> str:
    """Return the rule file that a file of examples in a folder of them is beside."""
    return file.replace(f"/{FOLDER}/", "/") if f"/{FOLDER}/" in file else file
