"""`like: NAME`: a shape or a dialect of JSON Schema that says only how it differs from another.

It stands for the other one of its file with what it says laid over, as a file lies over its parent:
`key!` and `$removed` mean what they mean there. Examples are of what they stand beneath alone.
"""

from __future__ import annotations

from ..ir import PARTS, TOOLS
from .merge import Laid, Place, cased, like, merge, near, without
from .source import Node, Pos, wrong

WORD = "like"
SECTIONS = {"shapes": Place.SHAPE, "schemas": Place.PLAIN}


def spelled_out(file: Node) -> None:
    """Put what is like another in full in its place, in a parsed file or row. Raises RuleError."""
    for word, section in file.entries.items():
        place = SECTIONS.get(word.rstrip("!"))
        if place is not None:
            names = {key.rstrip("!"): key for key in section.entries}
            for key in names.values():
                section.value[key] = _whole(section, names, key, place, ())


def _whole(
    section: Node, names: dict[str, str], key: str, place: Place, chain: tuple[str, ...]
) -> Node:
    """Return what a section says under a key, in full."""
    node: Node = section.value[key]
    named = node.get(WORD)
    if named is None:
        return node
    name, chain = named.value, (*chain, key)
    other = names.get(name) if isinstance(name, str) else None
    if other is None or other in chain:
        told = "names none of these" if other is None else "goes round"
        help = f"it names another one beside it; {near(str(name), names.keys() - {key})}"
        raise wrong(f"`like: {named.plain()}` {told}", named.pos, help, rule="R022")
    base = _shared(_whole(section, names, other, place, chain))
    if place is Place.SHAPE:
        base = _typed(base, other, key.rstrip("!"), named.pos)
    made = merge(base, without(node, (WORD,)), place)
    made = Laid(made.value, node.pos, {**made.keys, **node.keys}, gone=made.gone)
    return cased(made) if place is Place.SHAPE else made


def _shared(node: Node) -> Node:
    """Return what another one may be like: all but the examples."""
    words = {word: child for word, child in node.entries.items() if word != "examples"}
    if node.under("cases"):
        kept = {
            name: without(case, ("examples",)) if case.get("examples") else case
            for name, case in node.under("cases").items()
        }
        words["cases"] = like(words["cases"], kept)
    return like(node, words)


def _typed(base: Node, name: str, key: str, pos: Pos) -> Node:
    """Let what is like a part or a tool be of its type, which the name no longer says."""
    if name.rstrip("!") not in PARTS | TOOLS or key in PARTS | TOOLS:
        return base
    said = Node({"type": Node(name.rstrip("!"), pos)}, pos)
    ir = merge(said, base.get("ir"))
    return like(base, {**base.value, "ir": ir}, {**base.keys, "ir": pos})
