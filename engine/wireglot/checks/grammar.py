"""The building blocks of a rule file's form: mappings of known words, names, texts, reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..language.findings import Findings, helped
from ..language.source import Node

Rule = Callable[[Node, str], "Node | None"]


class Grammar:
    """Checks forms; each check returns the node without what is wrong, or None."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def words(self, node: Node, what: str, known: Any, rules: Mapping[str, Rule]) -> Node | None:
        """Check a mapping of known words, each by its rule."""
        if not isinstance(node.value, dict):
            self.form(f"{what} is a mapping", node, f"its words are {', '.join(sorted(known))}")
            return None
        kept: dict[str, Node] = {}
        for word, child in node.value.items():
            pos = node.keys.get(word, child.pos)
            if word not in known:
                help = helped(word, known, "its words are")
                message = f"`{short(word)}` is no word of {what}"
                self.findings.error("R021", message, pos, help, word=word)
                continue
            found = rules.get(word, kept_as_is)(child, f"`{word}`")
            if found is not None:
                kept[word] = found
        return Node(kept, node.pos, node.keys)

    def each(self, rule: Rule) -> Rule:
        """Return the rule for a mapping of names, each checked by `rule`."""

        def check(node: Node, what: str) -> Node | None:
            if not isinstance(node.value, dict):
                self.form(f"{what} is a mapping of names", node)
                return None
            found = {name: rule(child, f"`{name}`") for name, child in node.value.items()}
            kept = {name: child for name, child in found.items() if child is not None}
            return Node(kept, node.pos, node.keys)

        return check

    def form(self, message: str, node: Node, help: str = "") -> None:
        self.findings.error("R022", message, node.pos, help or "docs/rule-language.md shows it")

    def names(self, node: Node, what: str) -> Node | None:
        if not isinstance(node.value, list):
            self.form(f"{what} is a list of names", node, "put it in [ ]")
            return None
        kept = []
        for item in node.value:
            if isinstance(item.value, str) and item.value:
                kept.append(item)
            else:
                self.form(f"{what} is a list of names", item, "each is a text")
        return Node(kept, node.pos)

    def text(self, node: Node, what: str) -> Node | None:
        if isinstance(node.value, str) and node.value:
            return node
        self.form(f"{what} is a text", node)
        return None

    def reasons(self, node: Node, what: str) -> Node | None:
        if not isinstance(node.value, dict):
            self.form("`drop` is a mapping of what is given up and why", node)
            return None
        kept = {}
        for key, child in node.value.items():
            if isinstance(child.value, str) and child.value:
                kept[key] = child
            else:
                message = f"`drop` gives no reason for `{key}`"
                self.form(message, child, "say it in a sentence")
        return Node(kept, node.pos, node.keys)


def kept_as_is(node: Node, what: str) -> Node | None:
    return node


def short(value: Any) -> str:
    text = value if isinstance(value, str) else _plain(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _plain(value: Any) -> str:
    words = {True: "true", False: "false", None: "null"}
    if isinstance(value, bool) or value is None:
        return words[value]
    return str(value) if isinstance(value, int | float) else "a list or mapping"
