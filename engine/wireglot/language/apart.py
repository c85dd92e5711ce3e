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

EXAMPLES_OF = "examples-of"
CROSSINGS = "crossings"
FOLDER = "examples"  # the folder of a source in which they may stand
UNITS = ("conversation", "envelope", "stream", "request", "response", "error", "session")
SECTIONS = ("tables", "schemas", "shapes")
HELP = f"`{EXAMPLES_OF}: NAME`, and under `examples` a list for each shape, unit, or `tables/NAME`"


def dialect_shown(node: Node) -> str | None:
    """Return the dialect that a file shows examples of; None for a rule file. Raises RuleError."""
    dialect = node.get(EXAMPLES_OF)
    if dialect is None:
        return None
    if not isinstance(dialect.value, str) or node.get("examples") is None:
        raise wrong("this file shows no examples", dialect.pos, HELP, rule="R026")
    _refuse_other_words(node, (EXAMPLES_OF, "examples"), "examples", HELP)
    return dialect.value


def is_crossings(node: Node) -> bool:
    """Tell whether a file shows the wires of several dialects. Raises RuleError."""
    if node.get(CROSSINGS) is None:
        return False
    help = f"put them into a file of `{CROSSINGS}` alone"
    _refuse_other_words(node, (CROSSINGS,), CROSSINGS, help)
    return True


def _refuse_other_words(node: Node, words: tuple[str, ...], what: str, help: str) -> None:
    for word in node.value:
        if word not in ("wireglot", *words):
            pos = node.key_pos(word)
            raise wrong(f"a file of {what} has no `{word}`", pos, help, rule="R026")


def put_back(node: Node, files: Mapping[str, Node]) -> None:
    """Put the examples of a file into the rule file that they show. Raises RuleError."""
    dialect, shown = node.value[EXAMPLES_OF], node.value["examples"]
    rules = files.get(dialect.value)
    if rules is None:
        help = f"put it beside the rule file that says `dialect: {dialect.value}`"
        message = f"there is no rule file of `{dialect.value}` here"
        raise wrong(message, dialect.pos, help, rule="R026")
    for name, examples in shown.entries.items():
        owner = owner_of(rules, name)
        if owner is None and rules.get("extends") is None:
            message = f"`{dialect.value}` has no `{name}` to show"
            raise wrong(message, shown.key_pos(name), HELP, rule="R026")
        if owner is None:  # it is a parent's
            top = rules.value.setdefault("examples", Node({}, shown.pos))
            top.value[name] = examples
            top.keys[name] = shown.keys.get(name, examples.pos)
            rules.keys.setdefault("examples", node.keys.get("examples", shown.pos))
            continue
        before = owner.get("examples")
        if before and isinstance(before.value, list) and isinstance(examples.value, list):
            ids = set(map(id, before.value))  # a file that was parsed once may be put in again
            new = [example for example in examples.value if id(example) not in ids]
            examples = Node([*before.value, *new], before.pos)
        owner.value["examples"] = examples
        owner.keys["examples"] = shown.keys.get(name, examples.pos)


def path_of(name: str) -> tuple[str, ...]:
    """Return where in a rule file that stands of which examples are shown under a name."""
    section, _, inner = name.rpartition("/")
    return (name,) if name in UNITS else (section or "shapes", inner)


def owner_of(rules: Node, name: str) -> Node | None:
    """Return the shape, table or unit of a rule file that a list of examples belongs to."""
    path = path_of(name)
    found = rules if path[0] in (*UNITS, *SECTIONS) else None
    for word in path:
        found = found.get(word) if found is not None else None
    return found if found is not None and isinstance(found.value, dict) else None


def rule_file_of(file: str) -> str:
    """Return the rule file that a file of examples in a folder of them is beside."""
    return file.replace(f"/{FOLDER}/", "/") if f"/{FOLDER}/" in file else file
