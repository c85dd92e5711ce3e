"""The `stream` of a rule file: which events there are, and the pictures of their frames.

    stream: {framing: sse | lines, named?: KEY, frame?: picture, events: {NAME: picture}, drop?}
    NAME = WORD ("+" WORD)*    WORD = ACT | ACT "." KIND ["." FIELD]

A picture of an event stands alone when it is read, and over that of `frame` when it is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from . import picture as pic
from .merge import merge
from .picture import Fields, Hole, Items, Picture
from .source import Node, Pos, wrong

if TYPE_CHECKING:
    from .alike import Forms

STREAM_WORDS = frozenset("framing named frame events drop".split())
FRAMINGS = ("sse", "lines")
# What an event does; those of the second line name a kind of part, `candidate` or `response`.
PLAIN = frozenset("start finish usage end keepalive part part_stop".split())
OF_KIND = frozenset("part_start append put add set part part_stop".split())
ACTS = PLAIN | OF_KIND
# The field that is appended to where an event names none.
USUAL = {"tool_call": "arguments"}
LAST = ("finish", "usage", "end")  # heard after all else that a frame says
# What an editor takes for the name of an event, and those that it completes.
_NAME = rf"(?:{'|'.join(sorted(ACTS))})(?:\.[\w.-]+)?"
NAME = rf"^(?:{_NAME})(?:\+(?:{_NAME}))*!?$"
USUAL_NAMES = (
    *("start", "append.text", "append.reasoning", "append.refusal", "part_start.tool_call"),
    *("append.tool_call", "set.reasoning", "part", "part_stop", "finish", "usage", "end"),
    *("finish+usage", "finish+usage+end", "keepalive"),
)


class Word(NamedTuple):
    """One thing that an event does: to the stream, or to a part of a kind."""

    act: str
    kind: str = ""
    field: str = ""

    @property
    def flow(self) -> tuple[str, str]:
        """The kind and the field of it that flows."""
        return self.kind, self.field


@dataclass(slots=True, eq=False)
class Event:
    """An event: what it does, how its frame is read, and the frames that are written for it."""

    name: str
    words: tuple[Word, ...]
    reads: tuple[Picture, ...]
    writes: tuple[Picture, ...]
    pos: Pos
    last: bool = False
    acts: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()  # names of `$at.NAME` besides the candidate
    texts: bool = False  # its piece is a text
    listed: bool = False  # its piece is an element of a list, and nothing says which


@dataclass(slots=True, eq=False)
class Stream:
    """The stream of one dialect."""

    framing: str
    named: str
    frame: Picture | None
    events: list[Event]
    drop: dict[str, str]
    pos: Pos
    of: dict[Word, Event] = field(default_factory=dict)
    _forms: Any = None
    outlook: Any = None  # what `unfold` knows of it before anything comes

    @property
    def forms(self) -> Forms:
        """The forms of frames that were met."""
        if self._forms is None:
            from .alike import Forms

            read = [p for event in self.events for p in event.reads]
            self._forms = Forms(read if self.frame is None else [self.frame, *read])
        found: Forms = self._forms
        return found

    def pictures(self) -> Iterator[Picture]:
        """Yield every picture of the stream."""
        if self.frame is not None:
            yield self.frame
        for event in self.events:
            yield from (*event.reads, *event.writes)

    def get(self, act: str, kind: str = "", field: str = "") -> Event | None:
        """Return the event of a word, if there is one."""
        return self.of.get(Word(act, kind, field))


def load(node: Node) -> Stream:
    """Build the stream of a rule file. Raises RuleError."""
    words = node.value
    if not isinstance(words, dict):
        raise wrong("`stream` is a mapping", node.pos)
    for key in words:
        if key not in STREAM_WORDS:
            raise wrong(f"`{key}` is no word of a stream", node.keys.get(key, node.pos))
    framing = words["framing"].plain() if "framing" in words else "sse"
    if framing not in FRAMINGS:
        raise wrong(f"`framing: {framing}` is not known", node.pos, "say sse or lines")
    frame = words.get("frame")
    listed = words["events"].value if "events" in words else None
    if not isinstance(listed, dict) or not listed:
        raise wrong("a stream has `events`", node.pos, "write `events: {NAME: picture}`")
    common = pic.parse(frame) if frame is not None else None
    stream = Stream(
        framing,
        str(words["named"].plain()) if "named" in words else "",
        common,
        [_event(name, child, frame, common) for name, child in listed.items()],
        dict(words["drop"].plain()) if "drop" in words else {},
        node.pos,
    )
    stream.events.sort(key=lambda event: "part" in event.acts)  # the most general ones
    for event in stream.events:
        for word in event.words:
            stream.of.setdefault(word, event)
    return stream


def parsed(name: str) -> tuple[Word, ...]:
    """Take the name of an event apart; raises ValueError with what is wrong."""
    return tuple(_word(text) for text in name.split("+"))


def _word(text: str) -> Word:
    act, _, rest = text.partition(".")
    kind, _, path = rest.partition(".")
    if act not in ACTS:
        raise ValueError(f"`{act}` is nothing that an event does")
    if not kind:
        if act not in PLAIN:
            raise ValueError(f"`{act}` names a kind of part, as in `{act}.text`")
        return Word(act)
    if act not in OF_KIND:
        raise ValueError(f"`{act}` names no kind")
    if act in ("append", "part_start", "put"):
        path = path or USUAL.get(kind, "text")
    return Word(act, kind, path)


def _event(name: str, node: Node, frame: Node | None, common: Picture | None) -> Event:
    try:
        words = parsed(name)
    except ValueError as error:
        raise wrong(str(error), node.pos) from None
    given = node.value if isinstance(node.value, list) else [node]
    reads = tuple(_addressed(pic.parse(one), common) for one in given)
    over = (merge(frame, one) if isinstance(one.value, dict) else one for one in given)
    acts = frozenset(word.act for word in words)
    event = Event(name, words, reads, tuple(pic.parse(one) for one in over), node.pos)
    event.acts, event.last = acts, bool(acts.intersection(LAST))
    event.texts = any(w.act in ("append", "part_start") and w.kind != "candidate" for w in words)
    found = {hole.path[3:] for p in event.writes for hole in pic.holes(p) if hole.path[:3] == "at."}
    event.addresses = frozenset(found - {"candidate", "frame"})
    depths = {path: depth for p in event.writes for path, depth in _depths(p)}
    above = depths.get("at.candidate", 0)
    event.listed = not event.addresses and depths.get("piece", 0) > above
    return event


def _depths(p: Picture, depth: int = 0) -> Iterator[tuple[str, int]]:
    """Yield the holes of a picture, each with the number of lists that it stands in."""
    if isinstance(p, Hole):
        yield p.path, depth
    elif isinstance(p, Items):
        for item in p.items:
            yield from _depths(item, depth + 1)
    elif isinstance(p, Fields):
        for _, child in p.entries:
            yield from _depths(child, depth)


def _addressed(p: Picture, common: Picture | None) -> Picture:
    """Let a picture that is read have the addresses that stand in every frame."""
    if isinstance(p, Fields) and isinstance(common, Fields):
        for names, child in common.entries:
            there = next((c for own, c in p.entries if names[0] in own), None)
            if there is not None:
                _addressed(there, child)
            elif isinstance(child, Hole) and child.path[:3] == "at.":
                hole = Hole(child.paths, None, None, (), "optional", None, child.pos)
                p.entries.append((names, hole))
        p.names = frozenset(n for names, _ in p.entries for n in names)
    elif isinstance(p, Items) and isinstance(common, Items):
        for one, two in zip(p.items, common.items, strict=False):
            _addressed(one, two)
    return p


def guards(value: Any) -> bool:
    """Tell whether a fixed value tells events apart: what says nothing guards nothing."""
    return value not in (None, "", [], {}) and value is not pic.ABSENT
