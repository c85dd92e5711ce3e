"""The version of the rule language that a file is written in."""

from __future__ import annotations

import json

from ..errors import RuleError
from .source import Node, Pos, wrong

VERSION = 2
HELP = f"write `wireglot: {VERSION}` at the top"
WORDS = "its words were others; docs/cheat-sheet.md has those of this version"


def version_error(file: Node) -> RuleError | None:
    """Return why a file is not read (R026); None for one of the present version."""
    said = file.get("wireglot")
    if said is None:
        message = "a rule file begins with the language version"
        return wrong(message, head_pos(file), HELP, rule="R026")
    if said.value == VERSION and not isinstance(said.value, bool):
        return None
    if said.value == 1 and not isinstance(said.value, bool):
        return wrong("this file is of version 1 of the language", said.pos, WORDS, rule="R026")
    if said.value == str(VERSION):
        return wrong(
            f"the version is the number {VERSION}, and a text stands here",
            said.pos, f"write `wireglot: {VERSION}`, without quotes", rule="R026",
        )  # fmt: skip
    message = f"there is no version `{_shortened(said)}` of the language"
    return wrong(message, said.pos, f"write `wireglot: {VERSION}`", rule="R026")


def head_pos(node: Node) -> Pos:
    """Return where a file begins; of a file that lies over others, where it says its name."""
    said = node.keys.get("dialect")
    return said if said is not None and said.file != node.pos.file else node.pos


def _shortened(node: Node) -> str:
    text = node.value if isinstance(node.value, str) else json.dumps(node.plain())
    return text if len(text) <= 60 else text[:57] + "..."
