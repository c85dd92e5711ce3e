"""`$own: [NAME, ...]` in a picture: each stands for `NAME: $own.NAME (optional)`.

Most of what one API alone has is carried under its own name. It is spelled out here, file by file
before layers are laid, so that nothing else knows the short form, and each name keeps its place.
"""

from __future__ import annotations

import re

from .source import Node, Pos, wrong

LIST = re.compile(r"\$(?:(?:response|candidate)\.)?own")
PICTURES = frozenset(
    "shapes conversation envelope request response error session document stream variants".split()
)
HELP = "write the names of fields, as in `$own: [container, speed]`"


def spelled_out(file: Node) -> None:
    """Put the fields of each list in its place, in a parsed file. Raises RuleError."""
    stack = [child for key, child in _entries(file) if key.rstrip("!") in PICTURES]
    while stack:
        node = stack.pop()
        if isinstance(node.value, list):
            stack.extend(node.value)
        elif isinstance(node.value, dict):
            if any(key[:1] == "$" and LIST.fullmatch(key) for key in node.value):
                _spell(node)
            stack.extend(
                child
                for key, child in node.value.items()
                if not (key == "examples" and isinstance(child.value, list))
            )


def _entries(node: Node) -> list[tuple[str, Node]]:
    return list(node.value.items()) if isinstance(node.value, dict) else []


def _spell(node: Node) -> None:
    """Replace the lists of a mapping by what they stand for."""
    value: dict[str, Node] = {}
    for key, child in node.value.items():
        if not LIST.fullmatch(key):
            if key in value:
                raise wrong(
                    f"`{key}` stands in a list here, too", _at(node, key), HELP, rule="R022"
                )
            value[key] = child
            continue
        names = child.value if isinstance(child.value, list) else [child]
        for one in names:
            name = one.value
            if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name):
                raise wrong(f"`{key}` is a list of names", one.pos, HELP, rule="R022")
            if name in value:
                raise wrong(f"`{name}` stands here twice", one.pos, HELP, rule="R022")
            value[name] = Node(f"{key}.{name} (optional)", one.pos)
            node.keys[name] = one.pos
    node.value = value


def _at(node: Node, key: str) -> Pos:
    return node.keys.get(key) or node.value[key].pos
