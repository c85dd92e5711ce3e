"""The `stream` of a rule file: which events there are, and the pictures of their frames.

    stream: {framing: sse | lines, named?: KEY, frame?: picture, events: {NAME: picture},
             read-also?: {NAME: picture}, drop?, examples?}
    NAME = WORD ("+" WORD)*    WORD = ACT | ACT "." KIND ["." FIELD] | "item_start." SHAPE

`asks: {ACT: object}` says what a request holds that asks for an event.
A picture of an event stands alone when it is read, and over that of `frame` when it is written.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..patterns import fits
from ..trail import At, path_of
from . import drawn
from . import picture as pic
from .lenses import Table
from .merge import merge
from .picture import Fields, Hole, Items, Literal, Picture, distinguishes
from .shape import Shape
from .source import Node, Pos

# What an event does; those of the second line name a kind of part, or `candidate`, and the one of
# the third a shape that gathers parts.
PLAIN = frozenset("start finish usage end keepalive error part part_stop item_stop".split())
OF_KIND = frozenset("part_start append put add set part part_stop".split())
OF_SHAPE = frozenset(("item_start",))
ACTS = PLAIN | OF_KIND | OF_SHAPE
NOT_OF_PARTS = frozenset("at.candidate at.frame at.entry".split())  # places that are not of a part
# The field that is appended to where an event names none.
DEFAULT_FIELD = {"tool_call": "arguments", "search": "arguments"}
LIVE = ("text", "arguments", "input")  # the fields that flow
LAST = ("finish", "usage", "end")  # heard after all else that a frame says


class Word(NamedTuple):
    """One thing that an event does: to the stream, or to a part of a kind."""

    act: str
    kind: str = ""
    field: str = ""

    @property
    def flow(self) -> tuple[str, str]:
        """The kind and the field of it that flows."""
        return self.kind, self.field


class Event:
    """An event: what it does, how its frame is read, and the frames that are written for it."""

    __slots__ = (
        "acts", "addresses", "alike", "heads", "holes", "last", "listed", "name", "names", "piece",
        "pos", "reads", "words", "writes",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        words: tuple[Word, ...],
        reads: tuple[Picture, ...],
        writes: tuple[Picture, ...],
        pos: Pos,
    ) -> None:
        self.name, self.words, self.reads, self.writes, self.pos = name, words, reads, writes, pos
        self.last = False
        self.acts: frozenset[str] = frozenset()
        # Names of `$at.NAME` besides the candidate; where pieces have none, fields of the part.
        self.addresses: frozenset[str] = frozenset()
        self.piece = "any"  # the type of its piece
        # Words under `named`, by pictures that are read.
        self.names: tuple[frozenset[Any] | None, ...] = ()
        self.holes: frozenset[str] = frozenset()  # the paths of what is written
        self.heads: frozenset[str] = frozenset()  # the first names of these paths
        self.listed = False  # whether its piece is an element of a list, and nothing says which
        self.alike: frozenset[tuple[str, str]] = frozenset()  # what flows by frames that it reads


class Ask(NamedTuple):
    """A leaf of a request that asks for an event: its place, and its value."""

    keys: tuple[str, ...]
    value: Any
    pos: Pos


class Stream:
    """The stream of one dialect."""

    __slots__ = (
        "asks", "drop", "events", "frame", "framing", "named", "of", "plain", "pos",
    )  # fmt: skip

    def __init__(
        self,
        framing: str,
        named: str,
        frame: Picture | None,
        events: list[Event],
        drop: dict[str, str],
        pos: Pos,
    ) -> None:
        self.framing, self.named, self.frame, self.events = framing, named, frame, events
        self.drop, self.pos = drop, pos
        self.of: dict[Word, Event] = {}
        self.plain = True  # no items bracket its parts
        # Events that come only where a request asks for them: what they do, and how it asks.
        self.asks: dict[str, list[Ask]] = {}

    def pictures(self) -> Iterator[Picture]:
        """Yield every picture of the stream."""
        if self.frame is not None:
            yield self.frame
        for event in self.events:
            yield from (*event.reads, *event.writes)

    def dropped_frame(self, frame: Any) -> str | None:
        """Return the glob under `drop` that the name of a frame's event fits; None: keep it."""
        word = frame.get(self.named) if self.named and isinstance(frame, dict) else None
        if not isinstance(word, str):
            return None
        return next((key for key in self.drop if fits(word, key)), None)

    def dropped_leaf(self, place: At) -> tuple[str, str] | None:
        """Return the path under `drop` of a leaf or what it stands in, and the reason; or None."""
        for end in range(len(place), 0, -1):
            shown = path_of(place[:end])
            if shown in self.drop:
                return shown, self.drop[shown]
        return None

    def pieces(self, kind: str) -> bool:
        """Tell whether parts of a kind come piece by piece, in frames that are only read, too."""
        words = (word for event in self.events for word in event.words)
        return any(word.act == "append" and word.kind == kind for word in words)

    def get(self, act: str, kind: str = "", field: str = "") -> Event | None:
        """Return the event of a word, if there is one."""
        found: Event | None = self.of.get((act, kind, field))  # type: ignore[call-overload]
        return found


def load(
    node: Node,
    tables: dict[str, Table],
    shapes: Mapping[str, Shape],
    unions: dict[str, list[str]],
    respelt: bool = False,
) -> Stream:
    """Build the stream of a rule file, whose form is right. Raises RuleError.

    `respelt` says that the caller will let keys be read in a second spelling.
    """
    words, frame = node.value, node.get("frame")
    common = drawn.parse(frame) if frame is not None else None
    events = [
        copy.copy(_event(name, child, frame, respelt, True))
        for name, child in words["events"].value.items()
    ]
    said = (node.json_of("framing", "sse"), node.json_of("named", ""))
    stream = Stream(*said, common, events, node.json_of("drop", {}), node.pos)
    stream.asks = {act: list(_ask_leaves(child, ())) for act, child in node.under("asks").items()}
    also = node.under("read-also")
    for event in stream.events:
        if event.name in also:
            event.reads += _event(event.name, also[event.name], frame, respelt, False).reads
    known = {event.name for event in stream.events}
    for name in (name for name in also if name not in known):  # in the order of the file
        stream.events.append(copy.copy(_event(name, also[name], frame, respelt, False)))
        stream.events[-1].writes = ()
    stream.events.sort(key=lambda event: "part" in event.acts)  # the most general ones
    for event in stream.events:
        for word in event.words if event.writes else ():
            stream.of.setdefault(word, event)
        wires = (_frame_pictures(read, stream.named, shapes, unions) for read in event.reads)
        event.names = tuple(_event_names(w, stream.named, tables, shapes) for w in wires)
    _set_alike(stream.events)
    _set_addresses(stream)
    stream.plain = not any(w.act in ("item_start", "item_stop") for w in stream.of)
    return stream


def _ask_leaves(node: Node, at: tuple[str, ...]) -> Iterator[Ask]:
    """Yield the leaves below a node of `asks`, whose keys are `at`."""
    if isinstance(node.value, dict):
        for key, child in node.value.items():
            yield from _ask_leaves(child, (*at, key))
    else:
        yield Ask(at, node.plain(), node.pos)


def _set_alike(events: list[Event]) -> None:
    """Tell each event which kinds and fields may flow by frames like its own: the first hears."""
    fixed = [set(map(_fixed_leaves, event.reads)) for event in events]
    for event, own in zip(events, fixed, strict=True):
        like = [one for one, other in zip(events, fixed, strict=True) if own & other]
        event.alike = frozenset(word.flow for one in like for word in one.words if word.kind)


def _set_addresses(stream: Stream) -> None:
    """Let parts without numbers be told by what each of their pieces says of them, as an id."""
    for word, piece in stream.of.items():
        if word.act != "append" or word.kind == "candidate" or piece.addresses:
            continue
        said = (h for p in piece.writes for h in pic.holes(p) if h.mark is None)
        names = frozenset(h.path for h in said if h.path.partition(".")[0] in ("id", "own"))
        for event in stream.events if names else ():
            if any(one.kind == word.kind for one in event.words):
                event.addresses = names


@functools.lru_cache(4096)  # as the events that hold it
def _fixed_leaves(picture: Picture) -> frozenset[tuple[tuple[str, ...], str]]:
    """Return what a frame is known by: the fixed values and what flows, each with its place."""
    found = set()
    for at, p in pic.placed(picture):
        if isinstance(p, Hole) and p.path in ("piece", "whole", "part"):
            found.add((at, p.path))
        elif isinstance(p, Literal) and any(map(distinguishes, p.values)):
            found.add((at, repr(p.values)))
    return frozenset(found)


def _frame_pictures(
    p: Picture, key: str, shapes: Mapping[str, Shape], unions: dict[str, list[str]]
) -> list[Picture]:
    """Return the pictures of a frame that is a whole part, or else the one that there is."""
    name = next((hole.shape for hole in p.spread), None) if isinstance(p, Fields) else None
    members = unions.get(name, [name]) if name is not None else ()
    found = [case.wire for member in members if member in shapes for case in shapes[member].cases]
    return found if isinstance(p, Fields) and key not in p.names and found else [p]


def _event_names(
    pictures: list[Picture], key: str, tables: dict[str, Table], shapes: Mapping[str, Shape]
) -> frozenset[Any] | None:
    """Return the words by which a frame is known, or None where any word may stand there."""
    if not key:
        return None
    names: set[Any] = set()
    children_found: list[Picture | None] = []
    for p in pictures:
        children = [c for names, c in p.entries if key in names] if isinstance(p, Fields) else []
        child = children[0] if children else None
        shape = shapes.get(child.shape or "") if isinstance(child, Hole) else None
        if shape is not None and isinstance(child, Hole) and child.path == ".":
            children_found += [case.wire for case in shape.cases]  # a word by its cases
        else:
            children_found.append(child)
    for child in children_found:
        if isinstance(child, Literal):
            names.update(None if value is pic.ABSENT else value for value in child.values)
        elif isinstance(child, Hole) and len(child.lenses) == 1 and child.lenses[0] in tables:
            names.update(tables[child.lenses[0]].to_ir, tables[child.lenses[0]].read_also)
        else:
            return None
    return frozenset(names)


def parse_name(name: str) -> tuple[Word, ...]:
    """Take the name of an event apart; raises ValueError with what is wrong."""
    return tuple(_parse_word(text) for text in name.split("+"))


def _parse_word(text: str) -> Word:
    """Take apart one word of a name. Raises ValueError."""
    act, _, rest = text.partition(".")
    kind, _, path = rest.partition(".")
    if act not in ACTS:
        raise ValueError(f"`{act}` is nothing that an event does")
    if not kind:
        if act not in PLAIN:
            raise ValueError(f"`{act}` names a kind of part, as in `{act}.text`")
        return Word(act)
    if act in OF_SHAPE and not path:
        return Word(act, kind)
    if act not in OF_KIND:
        raise ValueError(f"`{act}` names no kind")
    if act in ("append", "part_start", "put"):
        path = path or DEFAULT_FIELD.get(kind, "text")
    return Word(act, kind, path)


@functools.lru_cache(4096)
def _event(name: str, node: Node, frame: Node | None, respelt: bool, written: bool) -> Event:
    """Return an event, made once for the same nodes: most streams hold those of a parent.

    What one stream says of it, such as its likes, belongs to a copy; its pictures are shared, but
    not with a stream whose keys are `respelt`. Only what is `written` lies over the frame.
    """
    common = drawn.parse(frame) if frame is not None else None
    words = parse_name(name)
    given = node.value if isinstance(node.value, list) else [node]
    reads = tuple(_with_common(drawn.parse(one), common) for one in given)
    below = frame if written else None
    over = (merge(below, one) if isinstance(one.value, dict) else one for one in given)
    acts = frozenset(word.act for word in words)
    event = Event(name, words, reads, tuple(drawn.parse(one) for one in over), node.pos)
    event.acts, event.last = acts, bool(acts.intersection(LAST))
    flows = [w for w in words if w.act in ("append", "part_start") and w.kind != "candidate"]
    if flows:
        event.piece = "string+list" if flows[0].field[:4] == "own." else "string"
    event.holes = frozenset(hole.path for p in event.writes for hole in pic.holes(p))
    event.heads = frozenset(path.partition(".")[0] for path in event.holes)
    found = {path for path in event.holes if path[:3] == "at."} - NOT_OF_PARTS
    event.addresses = frozenset(path[3:] for path in found)
    pairs = [pair for p in event.writes for pair in pic.placed(p)]
    depths = {p.path: at.count("[]") for at, p in pairs if isinstance(p, Hole)}
    above = depths.get("at.candidate", 0)
    event.listed = not event.addresses and depths.get("piece", 0) > above
    return event


def _with_common(p: Picture, common: Picture | None) -> Picture:
    """Let a picture that is read know what every frame holds: addresses, and fixed values."""
    if isinstance(p, Fields) and isinstance(common, Fields):
        for names, child in common.entries:
            child_here = next((c for own, c in p.entries if names[0] in own), None)
            if child_here is not None:
                _with_common(child_here, child)
            elif isinstance(child, Hole) and child.path[:3] == "at.":
                hole = Hole(child.paths, None, None, (), "optional", None, child.pos)
                p.entries.append((names, hole))
        p.names = frozenset(n for names, _ in p.entries for n in names)
    elif isinstance(p, Items) and isinstance(common, Items):
        for one, two in zip(p.items, common.items, strict=False):
            _with_common(one, two)
    elif isinstance(p, Hole) and isinstance(common, Literal):
        p.in_every_frame = tuple(filter(distinguishes, common.values))
    for hole in pic.holes(p):
        if hole.path in ("at.item", "at.inner"):  # where nothing says it, the order does
            hole.mark = hole.mark or "optional"
    return p
