"""Reading a rule file: from the nodes of YAML to the model."""

from __future__ import annotations

import functools
import re
from base64 import b64encode
from collections.abc import Iterable
from typing import Any
from weakref import WeakValueDictionary

from ..ir import PARTS, TOOLS
from . import documents, drawn, events, short, variants
from . import picture as pic
from . import schema as schema_words
from .intext import Listing, Marks
from .lenses import Table
from .measure import disjoint, measure, note_needs
from .merge import merge
from .model import Dialect, Signatures, Stored, Weights
from .orderwords import read_enforce
from .picture import Fields, Literal, Picture
from .schema import Schema
from .shape import Case, Shape
from .source import Node, wrong
from .talk import Conversation, Group
from .valuewords import NAMED
from .variants import Rows
from .words import UNITS

# Models of rule files, as long as anybody has them: what the sets of a process share is made once.
_models: WeakValueDictionary[tuple[Node, Rows], Dialect] = WeakValueDictionary()
# Shapes, by their nodes and whether keys have a second spelling: most dialects and sets of variants
# hold those of a parent.
_shapes: WeakValueDictionary[tuple[str, Node, Node | None, bool], Shape] = WeakValueDictionary()


def model(node: Node, rows: Rows) -> Dialect:
    """Return the model of a flat file with some of its variants, made once. Raises RuleError."""
    found = _models.get((node, rows))
    if found is None:
        found = load(variants.with_rows(node, rows))
        _models[node, rows] = found
    return found


def load(node: Node) -> Dialect:
    """Build the model of one (merged) rule file, whose form is right. Raises RuleError."""
    top = node.value
    name = top["dialect"].value
    tables = {k: _table(v) for k, v in node.under("tables").items()}
    schemas: dict[str, Schema] = {}
    for key, child in node.under("schemas").items():
        schemas.update(schema_words.load(key, child))
    listed = node.under("shapes")
    respelt = "spelling" in top
    shapes = {k: _shared_shape(k, v, listed, respelt) for k, v in listed.items()}
    unions: dict[str, list[str]] = node.json_of("unions", {})
    units: dict[str, Shape] = {
        unit: _shared_shape(unit, top[unit], listed, respelt) for unit in UNITS if unit in top
    }
    talk = top.get("conversation")
    limits = node.json_of("limits", {})
    stream = (
        events.load(top["stream"], tables, shapes, unions, respelt) if "stream" in top else None
    )
    dialect = Dialect(
        name,
        str(node.json_of("see", "")),
        str(node.json_of("verified", "")),
        shapes,
        unions,
        tables,
        schemas,
        {k: v for k, v in limits.items() if k in NAMED or "chars" in v},
        {k: v for k, v in limits.items() if k not in NAMED and "chars" not in v},
        _conversation(talk) if talk else None,
        units,
        tuple(node.json_of("hooks", ())),
        node.json_of("media-types", {}),
        node,
        node.json_of("family", name),
        carry=node.json_of("carry", {}),
        signatures=_signatures(node.json_of("signatures", {})),
        files=node.json_of("files", name),
        document=documents.load(top["document"]) if "document" in top else None,
        stream=stream,
        weights=Weights(
            frozenset(node.json_of("repeated", ())),
            node.json_of("slight", {}),
            node.json_of("usual", {}),
        ),
        within={k: Marks.of(k, v.value, v.pos) for k, v in node.under("within-text").items()},
        lists={k: Listing.of(v) for k, v in node.json_of("lists", {}).items()},
        stored=_stored(node.json_of("stored", {})),
    )
    if talk and dialect.document is not None and dialect.document.line is not None:
        dialect.file_talk = _conversation(talk, dialect.document.line)
        _copy_marks_of_line(dialect.conversation, drawn.parse(dialect.document.line))
    if respelt:
        _respell(dialect)
    return dialect


def _respell(dialect: Dialect) -> None:
    """Let every camelCase key be read in snake_case too; of shapes it is when they are built."""
    talks = filter(None, (dialect.conversation, dialect.file_talk))
    _respell_cases(case for talk in talks for case in talk.cases)
    for wire in dialect.stream.pictures() if dialect.stream else ():
        _add_snake_case(wire)
    for schema in dialect.schemas.values():
        schema.respell(_snake_case)


def _respell_cases(cases: Iterable[Case]) -> None:
    for case in cases:
        _add_snake_case(case.wire)
        note_needs(case)


@functools.lru_cache(4096)
def _snake_case(key: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", lambda m: "_" + m[1].lower(), key)


def _add_snake_case(wire: Picture) -> None:
    for p in (one for one in pic.nodes(wire) if isinstance(one, Fields)):
        for i, (names, child) in enumerate(p.entries):
            also = _snake_case(names[0])
            if also not in names:
                p.entries[i] = ((*names, also), child)
        p.names = frozenset(n for names, _ in p.entries for n in names)


def _stored(said: dict[str, Any]) -> Stored | None:
    """Read `stored`: how a request names what the API keeps of an answer."""
    if not said:
        return None
    named = drawn.spellings(said["after"]) if "after" in said else ()
    keys, unless = said.get("as", {}), said.get("unless", {})
    return Stored(
        said["in"], said["of"], said["by"], keys, unless, next(iter(named), None), named[1:]
    )


def _signatures(said: dict[str, Any]) -> Signatures:
    """Read `signatures`: whose reasoning state is read, and what stands where there is none."""
    texts = drawn.spellings(said["placeholder"]) if "placeholder" in said else ()
    none = (*texts, *(b64encode(text.encode()).decode() for text in texts))
    stands = texts[0] if texts else None
    return Signatures(list(said.get("models", {}).values()), said.get("of"), stands, none)


def _table(node: Node) -> Table:
    """Build one of `tables`. Raises RuleError where `write` cannot be read back."""
    plain = node.plain()
    if "only" in plain:
        words = {word: word for word in plain["only"]}
        return Table(words, plain.get("read-also", {}), {}, None, closed=True)
    table = Table(
        plain["write"],
        plain.get("read-also", {}),
        plain.get("write-also", {}),
        plain.get("otherwise"),
        closed="whole" in plain,
    )
    if len(table.to_ir) != len(table.to_wire):
        help = "put one under `write-also`"
        raise wrong("two words of `write` have one wire word", node.pos, help)
    return table


def _with_keys_of(wire: Node, name: Node, listed: dict[str, Node]) -> Node:
    """Lay the keys of another shape's picture under those of this one; of none beside a text."""
    other = listed[name.value].get("wire") if name.value in listed else None
    if other is None or not isinstance(other.value, dict) or isinstance(wire.value, list):
        raise wrong(f"`also: {name.value}` names no shape that is one object", name.pos)
    if not isinstance(wire.value, dict):
        return wire
    more = {k: v for k, v in other.value.items() if k not in wire.value}
    return Node({**wire.value, **more}, wire.pos, {**other.keys, **wire.keys})


def _shared_shape(name: str, node: Node, shapes: dict[str, Node], respelt: bool) -> Shape:
    """Return a shape, the same for the same nodes; one that is respelt is so wherever it stands."""
    also = node.value.get("also")
    key = (name, node, None if also is None else shapes.get(also.value), respelt)
    found = _shapes.get(key)
    if found is None:
        found = _shapes[key] = _build_shape(name, node, shapes)
        if respelt:
            _respell_cases(found.cases)
            wires = [c.wire for c in found.cases if isinstance(c.wire, Fields)]
            found.keys = frozenset(n for w in wires for n in w.names)
    return found


def _build_shape(name: str, node: Node, shapes: dict[str, Node]) -> Shape:
    words = node.value
    base, by = words.get("wire"), words.get("by")
    kind = name if name in PARTS | TOOLS else None
    cases = []
    listed = node.under("cases") or {"": Node({}, node.pos)}
    for case_name, case_node in listed.items():
        wire_node = merge(base, case_node.get("wire"))
        ir_node = case_node.get("ir") or words.get("ir")
        if words.get("ir") and case_node.get("ir"):
            ir_node = merge(words["ir"], case_node.get("ir"))
        if by is not None and case_name:
            said = Node(case_name.partition(".")[0], case_node.pos)
            for field in reversed(by.value.split(".")):
                said = Node({field: said}, by.pos)
            ir_node = merge(said, ir_node)
        drop = node.json_of("drop", {}) | case_node.json_of("drop", {})
        noted = case_node.json_of("note") or node.json_of("note")
        if "also" in words:
            wire_node = _with_keys_of(wire_node, words["also"], shapes)
        wire_node, ir_node = short.name_inner_holes(wire_node, ir_node)
        wire = drawn.parse(wire_node)
        only_read = case_node.json_of("read-only") or node.json_of("read-only")
        if only_read:
            drawn.write_at_home(wire, case_node.get("wire"))
        ir = drawn.parse(ir_node) if ir_node else None
        case = Case(case_name, name, wire, ir, drop, noted, case_node.pos)
        measure(case, kind)
        # One of literals alone has no hole that tells it.
        case.home, case.refused = case.home or bool(only_read), only_read == "refused"
        cases.append(case)
    # The first case of a gathering shape, or of a request, is that of what comes from abroad: not
    # one that is only read.
    behind = "groups" in words or name == "request"
    cases.sort(key=lambda c: (behind and c.home, -c.weight))
    for one in cases:
        for two in cases:
            if one is not two:
                one.rivals = one.rivals or not disjoint(one.sides[1], two.sides[1])
                if one.home or not two.home:
                    one.doubles = one.doubles or not disjoint(one.sides[0], two.sides[0])
    keys = frozenset(n for c in cases if isinstance(c.wire, Fields) for n in c.wire.names)
    kinds = frozenset(filter(None, str(node.json_of("groups", "")).split("+")))
    return Shape(name, kind, cases, kinds, keys, node.pos, node.json_of("marks", ""))


def _in_line(line: Node, message: Node) -> Node:
    """Return the picture of a line with the picture of a message in the place of `$message`."""
    if isinstance(line.value, dict):
        return Node({k: _in_line(v, message) for k, v in line.value.items()}, line.pos, line.keys)
    if line.value != "$message":
        return line
    if isinstance(message.value, str):  # messages of one part each
        return Node(f"{message.value} | single", message.pos)
    return message


def _copy_marks_of_line(talk: Conversation | None, line: Picture) -> None:
    """Let what repeats a field of the line stand for it where there is no line."""
    around = {h.path: h for h in pic.holes(line)}
    for case in talk.cases if talk else ():
        there = list(pic.holes(case.wire))
        for hole in there:
            again = any(h is not hole and h.path == hole.path for h in there)
            if hole.mark == "copy" and not again and hole.path in around:
                hole.mark, hole.value = around[hole.path].mark, around[hole.path].value


def _skeleton(case: Case) -> str:
    """Return what must stand where on the wire, as text: the same for the same, in any process."""
    side = case.sides[1].items()
    return repr(sorted((at, sorted(x) if isinstance(x, frozenset) else x) for at, x in side))


def _steps(node: Node) -> dict[str, dict[str, Literal]]:
    """Read the elements that begin a step, by role."""
    return {
        role: {key: Literal((word.value,), word.pos) for key, word in mark.value.items()}
        for role, mark in node.under("steps").items()
    }


def _conversation(node: Node, line: Node | None = None) -> Conversation:
    """Read the conversation; `line` is the picture around each message."""
    words, base = node.value, node.get("wire")
    groups: dict[str, Group] = {}
    unsaid: list[Case] = []
    for name, case_node in node.under("cases").items():
        over = case_node.get("wire")
        spliced = over is not None and isinstance(over.value, str)
        merged = over if spliced and over else merge(base, over)
        if isinstance(merged.value, dict) and over is not None and isinstance(over.value, dict):
            # What tells the case apart (the role) stands first.
            first = [k for k in over.value if k in merged.value]  # not what it takes away
            merged.value = {k: merged.value[k] for k in (*first, *merged.value)}
        by_itself = spliced  # items are told apart by their own pictures, also in lines
        if line is not None:
            own = any(v.value == "$message" and k in merged.entries for k, v in line.value.items())
            merged = merge(line, merged) if own else _in_line(line, merged)
            spliced = False
        wire = drawn.parse(merged)
        ir_node = case_node.get("ir")
        ir = drawn.parse(ir_node) if ir_node else None
        drop, noted = case_node.json_of("drop", {}), case_node.json_of("note")
        case = Case(name, "message", wire, ir, drop, noted, case_node.pos)
        measure(case, None)
        if noted == "no-message":
            unsaid.append(case)
            continue
        case.home = bool(case_node.get("read-only"))
        skeleton = name if by_itself else _skeleton(case)
        groups.setdefault(skeleton, Group([], spliced)).cases.append(case)
    order = read_enforce(words.get("enforce"))
    return Conversation(
        node.json_of("per", "message"), list(groups.values()), order.steps, node.pos, order.turns,
        order.places, order.beside, _steps(node), unsaid,
    )  # fmt: skip
