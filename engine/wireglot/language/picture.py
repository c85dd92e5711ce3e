"""Wire pictures: JSON with holes. The same classes serve both sides of a rule, and the ladder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..ir import MEDIA
from .source import Pos


class _Absent:
    """The value of what is not there."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "absent"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()
Way = tuple[str | None, ...]  # keys, and None for any element of a list


def distinguishes(value: Any) -> bool:
    """Tell whether a fixed value tells events apart: what says nothing guards nothing."""
    return value not in (None, "", [], {}) and value is not ABSENT


class Picture:
    """Base of every picture; `pos` is where it stands in its rule file."""

    __slots__ = ("pos",)

    def __init__(self, pos: Pos) -> None:
        self.pos = pos

    @property
    def idle(self) -> bool:
        """Tell whether reading does nothing where nothing stands."""
        return False


class Literal(Picture):
    """A fixed scalar. The first value is written; every value (ABSENT among them) is read."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Any, ...], pos: Pos) -> None:
        super().__init__(pos)
        self.values = values

    @property
    def idle(self) -> bool:
        """Tell whether reading does nothing where nothing stands."""
        return self.values[:1] == (ABSENT,)


class Text(Picture):
    """A text with holes: `fixed[0] + name[0] + fixed[1] + ...`."""

    __slots__ = ("fixed", "names")

    def __init__(self, fixed: tuple[str, ...], names: tuple[str, ...], pos: Pos) -> None:
        super().__init__(pos)
        self.fixed, self.names = fixed, names

    def read(self, text: str) -> tuple[str, ...] | None:
        """Return the texts of the holes, the shortest that fit from the left, or None."""
        if not text.startswith(self.fixed[0]):
            return None
        at, found = len(self.fixed[0]), []
        for i, name in enumerate(self.fixed[1:]):
            last = i == len(self.names) - 1
            if last:
                if len(text) - len(name) < at or not text.endswith(name):
                    return None
                end = len(text) - len(name)
            else:
                end = text.find(name, at)
                if end < 0:
                    return None
            found.append(text[at:end])
            at = end + len(name)
        return tuple(found) if at == len(text) else None

    def write(self, values: tuple[Any, ...]) -> str | None:
        """Fill the holes; None when a value is no text, or would not read back as the same."""
        if not all(isinstance(value, str) for value in values):
            return None
        text = self.fixed[0] + "".join(v + f for v, f in zip(values, self.fixed[1:], strict=True))
        return text if self.read(text) == values else None


class Hole(Picture):
    """A place for a value of the IR."""

    __slots__ = (
        "_idle", "in_every_frame", "lenses", "mark", "mode", "null", "path", "paths", "shape",
        "value",
    )  # fmt: skip

    def __init__(
        self,
        paths: tuple[str, ...],
        mode: str | None,
        shape: str | None,
        lenses: tuple[str, ...],
        mark: str | None,
        value: Any,
        pos: Pos,
    ) -> None:
        super().__init__(pos)
        self.paths, self.mode, self.shape = paths, mode, shape
        self.lenses, self.mark, self.value = lenses, mark, value
        self.path = paths[0]  # mostly the only one
        # Values that say nothing here: in an event, what every frame holds in this place.
        self.in_every_frame: tuple[Any, ...] = ()
        self._idle = (
            mark in ("optional", "refused", "read-only")
            and len(paths) == 1
            and paths[0] not in (".", "nth")
        )
        # Whether a null may be a value here, and not only say that there is none.
        self.null = not mark and (not lenses or any("null" in lens.split("+") for lens in lenses))

    @property
    def idle(self) -> bool:
        """Tell whether reading does nothing where nothing stands."""
        return self._idle

    @property
    def required(self) -> bool:
        """Tell whether its picture fits only where a value stands."""
        return self.mark in (None, "same")

    @property
    def repeats(self) -> bool:
        """Tell whether another hole of the picture gives the value: this one only compares."""
        return self.mark in ("copy", "same")

    @property
    def named(self) -> str:
        """The shape or union that it names, empty where it names none."""
        return self.shape or ""

    @property
    def many(self) -> bool:
        """Tell whether it makes a list: of elements, or of messages."""
        return self.mode == "each" or self.shape == "conversation"

    @property
    def only_read(self) -> bool:
        """Tell whether it is read, and written to nobody else."""
        return self.mark in ("refused", "read-only")


class Fields(Picture):
    """An object: entries of (spellings, picture), and holes that take the other keys."""

    __slots__ = ("_firm", "_holes", "_idle", "_loose", "closed", "entries", "names", "spread")

    def __init__(
        self,
        entries: list[tuple[tuple[str, ...], Picture]],
        spread: list[Hole],
        closed: bool,
        pos: Pos,
    ) -> None:
        super().__init__(pos)
        self.entries, self.spread, self.closed = entries, spread, closed
        self.names = frozenset(n for names, _ in entries for n in names)
        self._firm: bool | None = None
        self._holes: tuple[Hole, ...] | None = None
        self._idle: bool | None = None
        self._loose: bool | None = None

    @property
    def firm(self) -> bool:
        """Tell whether a literal must stand in it, so that it is never left out."""
        if self._firm is None:
            self._firm = any(
                child.firm
                if isinstance(child, Fields)
                else isinstance(child, Literal) and ABSENT not in child.values
                for _, child in self.entries
            )
        return self._firm

    @property
    def holes(self) -> tuple[Hole, ...]:
        """Every hole in it, in the order in which they are read."""
        if self._holes is None:
            self._holes = tuple(p for p in nodes(self) if isinstance(p, Hole))
        return self._holes

    @property
    def bare(self) -> bool:
        """Tell whether it is an object that has no keys."""
        return self.closed and not self.entries and not self.spread

    @property
    def loose(self) -> bool:
        """Tell whether it may be missing: all its holes are marked, and there are some."""
        if self._loose is None:
            found = self.holes
            marked = all(h.mark is not None for h in found)
            self._loose = bool(found) and marked and not self.firm
        return self._loose

    @property
    def idle(self) -> bool:
        """Tell whether reading does nothing where nothing stands."""
        if self._idle is None:
            spread = all(hole.shape and hole.mark is not None for hole in self.spread)
            self._idle = self.loose and spread and all(child.idle for _, child in self.entries)
        return self._idle


class Items(Picture):
    """A list of fixed pictures, and a hole for the elements behind them or none."""

    __slots__ = ("items", "rest")

    def __init__(self, items: list[Picture], pos: Pos, rest: Hole | None = None) -> None:
        super().__init__(pos)
        self.items, self.rest = items, rest


class Test(Picture):
    """A condition on the IR side: `$present` or `$has KIND` (absence is Literal(ABSENT))."""

    __slots__ = ("kind", "word")

    def __init__(self, word: str, kind: str, pos: Pos) -> None:
        super().__init__(pos)
        self.word, self.kind = word, kind

    def holds(self, value: Any) -> bool:
        """Tell whether a value is there, or a list holds a part of the kind; `media` is any."""
        if self.word == "present":
            return value is not ABSENT
        kinds = MEDIA if self.kind == "media" else (self.kind,)
        for part in value if isinstance(value, list) else ():
            if isinstance(part, dict) and part.get("type") in kinds:
                return True
        return False


def nodes(picture: Picture) -> Iterator[Picture]:
    """Yield a picture and every one in it, in the order in which they are read."""
    found: list[Picture] = []
    _collect(picture, found)
    return iter(found)


def _collect(picture: Picture, found: list[Picture]) -> None:
    found.append(picture)
    if picture.__class__ is Fields:
        for _, child in picture.entries:
            _collect(child, found)
        found += picture.spread
    elif picture.__class__ is Items:
        for child in picture.items:
            _collect(child, found)
        if picture.rest is not None:
            found.append(picture.rest)


def below(picture: Picture) -> Sequence[tuple[Way, Picture]]:
    """Return the pictures right below one, with the spellings of their keys; None in a list."""
    if isinstance(picture, Items):
        return [((None,), child) for child in picture.items]
    return keyed(picture)


def placed(picture: Picture, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Picture]]:
    """Yield a picture and all below it, each with its place; `[]` is that of each list element."""
    yield at, picture
    for (name, *_), child in below(picture):
        yield from placed(child, (*at, "[]" if name is None else name))


def ways(picture: Picture, way: Way = ()) -> Iterator[tuple[Hole, Way]]:
    """Yield every hole by each way to it, in all spellings; None is any element of a list."""
    if isinstance(picture, Hole):
        yield picture, way
    for names, child in below(picture):
        for name in names:
            yield from ways(child, (*way, name))


def holes(picture: Picture) -> Iterator[Hole]:
    """Yield every hole of a picture, in the order in which it is read."""
    if picture.__class__ is Fields:
        return iter(picture.holes)
    return (p for p in nodes(picture) if isinstance(p, Hole))


def keyed(picture: Picture | None) -> list[tuple[tuple[str, ...], Picture]]:
    """Return the keys of an object, in their spellings, with their pictures; else none."""
    return picture.entries if isinstance(picture, Fields) else []


def keys(picture: Picture) -> Iterator[tuple[tuple[str, ...], Picture]]:
    """Yield every key that a picture names with what stands there, at every depth."""
    return (entry for p in nodes(picture) for entry in keyed(p))


def texts(picture: Picture) -> Iterator[Text]:
    """Yield every text picture of a picture."""
    return (p for p in nodes(picture) if isinstance(p, Text))


def named(picture: Picture) -> Iterator[tuple[str, Pos]]:
    """Yield what a picture names, with its place: paths of holes, and names in texts."""
    for hole in holes(picture):
        yield from ((path, hole.pos) for path in hole.paths)
    for text in texts(picture):
        yield from ((name, text.pos) for name in text.names)


def model_keys(pictures: Sequence[Picture]) -> tuple[str, ...] | None:
    """Return the keys of `$model`, if it stands at the top under the same ones, or nowhere."""
    places = sum(hole.path == "model" for p in pictures for hole in holes(p))
    tops = [entry for p in pictures for entry in keyed(p)]
    found = [names for names, p in tops if isinstance(p, Hole) and p.path == "model"]
    if not places:
        return ()
    return found[0] if len(set(found)) == 1 and len(found) == places else None


def model_in(picture: Picture, body: Any) -> str | None:
    """Return the name of the model that a payload holds where a picture has `$model`."""
    if isinstance(picture, Hole):
        return body if picture.path == "model" and isinstance(body, str) else None
    for names, child in keyed(picture) if isinstance(body, dict) else ():
        for name in names:
            found = model_in(child, body[name]) if name in body else None
            if found is not None:
                return found
    return None
