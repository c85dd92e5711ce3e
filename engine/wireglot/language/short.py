"""Short forms of a rule file, spelled out file by file before layers are laid.

So nothing else knows them, and each name keeps its place:

    $: [NAME, ...]            in a picture, `NAME: $NAME (optional)` for each
    $own: [NAME, ...]         `NAME: $own.NAME (optional)`, as most of what one API alone has
    $own (refused): [NAME]    `NAME: $own.NAME (refused)`; so with `(read-only)`
    $removed: [NAME, ...]     `NAME: $removed`, in a picture that lies over another
    NAME NAME: REASON         in `unsupported`, `slight` and `drop`, the reason for each
    write: [WORD, ...]        in a table, words that are the same on the wire and in the IR
    like: NAME                the other shape or schema of the file with what this one says laid
                              over it, as a file lies over its parent; examples are of what they
                              stand beneath alone

And shape by shape, `$source.data` where the `ir` picture looks into `source`: the hole gets a name
of its own there, as if `ir: {source: {data: $data}}` and `$data` were written.
"""

from __future__ import annotations

import re

from ..ir import PARTS, TOOLS
from ..patterns import later
from .merge import Laid, Place, merge, nearest, settle_cases, with_value, without
from .source import Node, Pos, wrong

LIST = later(r"\$([a-z_]\w*(?:\.\w+)*)?(?: \((refused|read-only)\))?")
PICTURES = frozenset(
    "shapes conversation envelope request response error session document stream variants".split()
)
REASONS = frozenset(("unsupported", "drop", "slight"))
SAME = frozenset(("write", "read-also"))
LIKE = {"shapes": Place.SHAPE, "schemas": Place.PLAIN}  # what may be like another
HELP = "write the names of fields, as in `$own: [container, speed]`"


def expand(file: Node) -> None:
    """Put what each short form stands for in its place, in a parsed file. Raises RuleError."""
    _expand_reasons(file)
    stack = []
    for key, child in file.entries.items():
        if key.rstrip("!") in PICTURES:
            stack.append(child)
        elif key.rstrip("!") == "tables":
            _expand_tables(child)
    while stack:
        node = stack.pop()
        if isinstance(node.value, list):
            stack.extend(node.value)
        elif isinstance(node.value, dict):
            if any(key[:1] == "$" and LIST.fullmatch(key) for key in node.value):
                _expand_names(node)
            _expand_reasons(node)
            for key, child in node.value.items():
                if key.rstrip("!") == "tables":  # of a variant, or a key of the wire
                    _expand_tables(child)
                if not (key == "examples" and isinstance(child.value, list)):
                    stack.append(child)
    _expand_likes(file)
    rows = file.get("variants")
    for row in rows.value if rows is not None and isinstance(rows.value, list) else ():
        _expand_likes(row)


def _expand_reasons(node: Node) -> None:
    """Give each of several names, `a b: REASON`, its own entry."""
    for word, reasons in node.entries.items():
        if word.rstrip("!") not in REASONS or not any(" " in key for key in reasons.entries):
            continue
        value: dict[str, Node] = {}
        keys: dict[str, Pos] = {}
        for key, child in reasons.value.items():
            pos = reasons.key_pos(key)
            for name in key.split():
                if name in value:
                    help = "give it one reason"
                    raise wrong(f"`{name}` stands here twice", pos, help, rule="R022")
                value[name], keys[name] = child, pos
        reasons.value, reasons.keys = value, keys


def _expand_tables(tables: Node) -> None:
    """Let a list of words stand for a mapping of each to itself."""
    for table in tables.entries.values():
        for word, words in table.entries.items():
            if word.rstrip("!") not in SAME or not isinstance(words.value, list):
                continue
            for one in words.value:
                if not isinstance(one.value, str):
                    help = "a word that is no text is mapped, as in `write: {one: 1}`"
                    raise wrong(f"`{word}` is a list of words", one.pos, help, rule="R022")
            words.keys.update({one.value: one.pos for one in words.value})
            words.value = {one.value: one for one in words.value}


# `$PATH.NAME` without a mark, or its `(copy)`; and the pieces of a text.
_PATH = later(r"(\$\{?)([a-z_]\w*)\.([a-z_]\w*)(?![\w.])(?=\}|[^(]*$|[^(]*\(copy\)$)")


def name_inner_holes(wire: Node, ir: Node | None) -> tuple[Node, Node | None]:
    """Let holes of the wire that lie within what the `ir` picture shows have names in it."""
    inner = {} if ir is None else ir.entries
    objects = {key: node for key, node in inner.items() if isinstance(node.value, dict)}
    if not objects or ir is None:
        return wire, ir
    named_fields: dict[tuple[str, str], Pos] = {}

    def walk(node: Node) -> Node:
        if isinstance(node.value, dict):
            made = {key: walk(child) for key, child in node.value.items()}
            return Node(made, node.pos, node.keys)
        if isinstance(node.value, list):
            return Node([walk(child) for child in node.value], node.pos, node.keys)
        if not isinstance(node.value, str) or "$" not in node.value:
            return node

        def name(match: re.Match[str]) -> str:
            if match[2] not in objects or match[3] in objects[match[2]].value:
                return match[0]
            named_fields[match[2], match[3]] = node.pos
            return f"{match[1]}{match[3]}"

        return Node(_PATH.sub(name, node.value), node.pos, node.keys)

    named = walk(wire)
    if not named_fields:
        return wire, ir
    value = dict(inner)
    for (path, field), pos in named_fields.items():
        fields = {**value[path].value, field: Node(f"${field}", pos)}
        value[path] = Node(fields, value[path].pos, {**value[path].keys, field: pos})
    return named, Node(value, ir.pos, ir.keys)


def _expand_names(node: Node) -> None:
    """Replace the lists of a mapping by what they stand for."""
    value: dict[str, Node] = {}
    for key, child in node.value.items():
        form = LIST.fullmatch(key)
        if form is None:
            if key in value:
                message = f"`{key}` stands in a list here, too"
                raise wrong(message, node.key_pos(key), HELP, rule="R022")
            value[key] = child
            continue
        names = child.value if isinstance(child.value, list) else [child]
        path, mark = f"${form[1]}." if form[1] else "$", form[2] or "optional"
        for one in names:
            name = one.value
            if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name):
                raise wrong(f"`{key}` is a list of names", one.pos, HELP, rule="R022")
            if name in value:
                raise wrong(f"`{name}` stands here twice", one.pos, HELP, rule="R022")
            value[name] = Node(key if key == "$removed" else f"{path}{name} ({mark})", one.pos)
            node.keys[name] = one.pos
    node.value = value


# -- what is like another -------------------------------------------------------------------------


def _expand_likes(file: Node) -> None:
    """Put what is like another in full in its place, in a parsed file or row."""
    for word, section in file.entries.items():
        place = LIKE.get(word.rstrip("!"))
        if place is not None:
            names = {key.rstrip("!"): key for key in section.entries}
            for key in names.values():
                section.value[key] = _expand_like(section, names, key, place, ())


def _expand_like(
    section: Node, names: dict[str, str], key: str, place: Place, chain: tuple[str, ...]
) -> Node:
    """Return what a section says under a key, in full."""
    node: Node = section.value[key]
    like = node.get("like")
    if like is None:
        return node
    name, chain = like.value, (*chain, key)
    other = names.get(name) if isinstance(name, str) else None
    if other is None or other in chain:
        problem = "names none of these" if other is None else "goes round"
        help = f"it names another one beside it; {nearest(str(name), names.keys() - {key})}"
        raise wrong(f"`like: {like.plain()}` {problem}", like.pos, help, rule="R022")
    base = _without_examples(_expand_like(section, names, other, place, chain))
    if place is Place.SHAPE:
        base = _with_type(base, other, key.rstrip("!"), like.pos)
    made = merge(base, without(node, ("like",)), place)
    made = Laid(made.value, node.pos, {**made.keys, **node.keys}, gone=made.removed)
    return settle_cases(made) if place is Place.SHAPE else made


def _without_examples(node: Node) -> Node:
    """Return what another one may be like: all but the examples."""
    words = {word: child for word, child in node.entries.items() if word != "examples"}
    if node.under("cases"):
        kept = {
            name: without(case, ("examples",)) if case.get("examples") else case
            for name, case in node.under("cases").items()
        }
        words["cases"] = with_value(words["cases"], kept)
    return with_value(node, words)


def _with_type(base: Node, name: str, key: str, pos: Pos) -> Node:
    """Let what is like a part or a tool be of its type, which the name no longer says."""
    if name.rstrip("!") not in PARTS | TOOLS or key in PARTS | TOOLS:
        return base
    said = Node({"type": Node(name.rstrip("!"), pos)}, pos)
    ir = merge(said, base.get("ir"))
    return with_value(base, {**base.value, "ir": ir}, {**base.keys, "ir": pos})
