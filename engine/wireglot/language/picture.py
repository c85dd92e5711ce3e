"""Wire pictures: JSON with holes, parsed from rule-file nodes.

    picture = {KEY: picture, ...: hole} | [picture*, ...: hole] | literal | text | hole | test
    hole    = "$"(PATH | ".") ("+" "$"PATH)* [as S | each S | entries S] ("|" LENS)* [(MARK)]

The same classes serve the wire side (`wire:`) and the IR side (`ir:`, ladder rows) of a rule.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..ir import MEDIA
from ..patterns import later
from .lenses import SAID, SPELLED
from .source import Node, Pos, wrong


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
HOLE = later(
    r"\$(?P<path>\.|[a-zA-Z_][\w.]*)(?P<sum>(?:\s*\+\s*\$[a-zA-Z_][\w.]*)*)"
    r"(?:\s+(?P<mode>as|each|entries)\s+(?P<shape>[\w.-]+))?"
    r"(?P<lenses>(?:\s*\|\s*(?:(?:text|list)\s+\(or\s+(?:list|text|one)\)|[\w+-]+))*)"
    r"(?:\s+\((?P<mark>[a-z-]+)(?:\s+(?P<value>[^()]*))?\))?\s*"
)
OR = later(r"(?P<first>.*?)\s+\(or\s+(?P<more>[^()]*)\)", re.S)
VAR = later(r"\$\{([\w.]+)\}")
LONG = 200  # signs of a hole that is not remembered
MARKS = ("optional", "default", "fill", "made", "copy", "same", "refused", "read-only")


def guards(value: Any) -> bool:
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

    __slots__ = ("_idle", "lenses", "mark", "mode", "null", "path", "paths", "shape", "value")

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
    def must(self) -> bool:
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
    def dated(self) -> bool:
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
                child.firm if isinstance(child, Fields) else _fixed(child)
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


def _fixed(p: Picture) -> bool:
    return isinstance(p, Literal) and ABSENT not in p.values


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
        """Tell whether a list holds a part of the kind; `media` is any kind of media."""
        kinds = MEDIA if self.kind == "media" else (self.kind,)
        parts = value if isinstance(value, list) else ()
        return any(isinstance(part, dict) and part.get("type") in kinds for part in parts)


def parse(node: Node) -> Picture:
    """Parse a picture. Raises RuleError at the word that cannot be read."""
    value = node.value
    if isinstance(value, dict):
        return _fields(node)
    if isinstance(value, list):
        rest = tail(value[-1]) if len(value) > 1 else None
        head = value if rest is None else value[:-1]
        return Items([parse(item) for item in head], node.pos, rest)
    if not isinstance(value, str):
        return Literal((value,), node.pos)
    return _text(value, node.pos)


def tail(node: Node) -> Hole | None:
    """Return the hole that takes the elements behind others: `...: $x each S`, or `| list`."""
    said = node.value.get("...") if isinstance(node.value, dict) and len(node.value) == 1 else None
    if said is None or not isinstance(said.value, str) or not said.value.startswith("$"):
        return None
    found = _text(said.value, said.pos)
    if not isinstance(found, Hole) or found.path == "run":
        return None
    many = found.mode == "each" and not found.lenses
    return found if many or (found.mode is None and found.lenses == ("list",)) else None


def _fields(node: Node) -> Fields:
    entries: list[tuple[tuple[str, ...], Picture]] = []
    spread: list[Hole] = []
    closed = False
    for key, child in node.value.items():
        if key == "...":
            for item in child.value if isinstance(child.value, list) else [child]:
                hole = parse(item)
                if isinstance(hole, Literal) and hole.values == (ABSENT,):
                    closed = True
                elif isinstance(hole, Hole):
                    spread.append(hole)
                else:
                    raise wrong("`...` takes a hole, a list of holes or $absent", child.pos)
        else:
            entries.append((spellings(key), parse(child)))
    return Fields(entries, spread, closed, node.pos)


def spellings(key: str) -> tuple[str, ...]:
    """Return the names that a key of a picture stands for; the first one is written."""
    if key.startswith("`") and key.endswith("`") and len(key) > 2:
        return (key[1:-1],)
    if "(or" in key and (match := OR.fullmatch(key)):
        return (match["first"], *match["more"].split())
    return (key,)


def _text(text: str, pos: Pos) -> Picture:
    if text.startswith("$$"):
        return Literal((text[1:],), pos)
    if "(or" in text and not _opens(text) and (match := OR.fullmatch(text)):
        more = (_word(word) for word in match["more"].split())
        return Literal((_word(match["first"], True), *more), pos)
    if text == "$absent":
        return Literal((ABSENT,), pos)
    if text == "$present":
        return Test("present", "", pos)
    if text.startswith("$has "):
        return Test("has", text[5:].strip(), pos)
    if text.startswith("$") and not text.startswith("${"):
        return hole(text, pos)
    if "${" in text:
        pieces = VAR.split(text)
        fixed, names = tuple(pieces[::2]), tuple(pieces[1::2])
        if not names or "${" in "".join(fixed):
            raise wrong(f"`{text}` holds a `${{` that names nothing", pos, "write ${name}")
        if any(not f for f in fixed[1:-1]):
            raise wrong(
                "two holes of a text picture have no text between them",
                pos,
                "nothing says where the first one ends; put a fixed text there",
            )
        return Text(fixed, names, pos)
    return Literal((text,), pos)


def _opens(text: str) -> bool:
    """Tell whether a text begins as a hole with a lens does, whose forms say `(or ...)`, too."""
    return text[:1] == "$" and text[1:2] not in "${" and " | " in text.partition("(or")[0]


def hole(text: str, pos: Pos) -> Hole:
    """Parse one hole."""
    read = _pieces if len(text) <= LONG else _pieces.__wrapped__
    pieces = read(text)
    if pieces is None:
        raise wrong(
            f"`{text}` is no hole",
            pos,
            "a hole is $path [as|each|entries SHAPE] [| codec]... [(MARK)]",
        )
    paths, mode, shape, lenses, mark, value = pieces
    if mark is not None and mark not in MARKS:
        raise wrong(f"`({mark})` is no mark", pos, f"the marks are {', '.join(MARKS)}")
    if mark != "made" and (mark in ("default", "fill")) != (value is not None):
        raise wrong(f"`({mark})` " + ("takes a value" if value is None else "takes none"), pos)
    if value and (plain := re.fullmatch(r"""(["'])(.*)\1""", value)):
        wanted = f"write `({mark} {plain[2] or 'empty-text'})`"
        raise wrong(f"the quotes of `({mark} {value})` would be of the value", pos, wanted)
    meant = None if not value else value.strip() if mark == "made" else _word(value)
    return Hole(paths, mode, shape, lenses, mark, meant, pos)


@functools.lru_cache(4096)
def _pieces(text: str) -> tuple[Any, ...] | None:
    """Cut the text of a hole; the same ones come again and again."""
    match = HOLE.fullmatch(text)
    if not match:
        return None
    paths = (match["path"], *re.findall(r"\$([\w.]+)", match["sum"]))
    found = (" ".join(lens.split()) for lens in match["lenses"].split("|")[1:])
    lenses = tuple(_meant(lens, match["mode"]) for lens in found)
    return paths, match["mode"], match["shape"], lenses, match["mark"], match["value"]


def _meant(lens: str, mode: str | None) -> str:
    """Return the name under which the executors know a lens; one of theirs alone is none."""
    if lens == "text (or list)" and mode is None:
        return "plain"  # of a text, no list of parts
    return SPELLED.get(lens, f"{lens}!" if lens in SAID else lens)


def _word(word: str, quoted: bool = False) -> Any:
    words: dict[str, Any] = {
        "$absent": ABSENT,
        "true": True,
        "false": False,
        "null": None,
        "empty-list": [],
        "empty-object": {},
        "empty-text": "",
    }
    if word in words and not (quoted and word.startswith("empty")):
        return words[word]
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    if re.fullmatch(r"-?\d+\.\d+", word):
        return float(word)
    return word


def only_read(p: Picture, own: Node | None) -> None:
    """Let a picture be written only where it was read: one hole in it takes nothing else.

    That is the first that must be there and holds a value, of the case's `own` picture if it has
    any: what stands around it is said by other cases, too.
    """
    ranks = {None: 0, "default": 1, "fill": 1}
    there = {hole.pos for hole in holes(parse(own))} if own is not None else set()
    found = sorted(
        holes(p),
        key=lambda h: (h.pos not in there, ranks.get(h.mark, 2), h.shape is not None),
    )
    if found and "home" not in found[0].lenses:
        found[0].lenses = (*found[0].lenses, "home")


def nodes(picture: Picture) -> Iterator[Picture]:
    """Yield a picture and every one in it, in the order in which they are read."""
    found: list[Picture] = []
    _gather(picture, found)
    return iter(found)


def _gather(picture: Picture, found: list[Picture]) -> None:
    found.append(picture)
    if picture.__class__ is Fields:
        for _, child in picture.entries:
            _gather(child, found)
        found += picture.spread
    elif picture.__class__ is Items:
        for child in picture.items:
            _gather(child, found)
        if picture.rest is not None:
            found.append(picture.rest)


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
    if isinstance(picture, Fields):
        for names, child in picture.entries:
            yield names, child
            yield from keys(child)
    elif isinstance(picture, Items):
        for child in picture.items:
            yield from keys(child)


def texts(picture: Picture) -> Iterator[Text]:
    """Yield every text picture of a picture."""
    return (p for p in nodes(picture) if isinstance(p, Text))


def model_keys(pictures: Sequence[Picture]) -> tuple[str, ...] | None:
    """Return the keys of `$model`, if it stands at the top under the same ones, or nowhere."""
    places = [hole for p in pictures for hole in holes(p) if hole.path == "model"]
    tops = [e for p in pictures if isinstance(p, Fields) for e in p.entries]
    found = {names for names, child in tops if any(child is hole for hole in places)}
    at_top = sum(any(child is hole for hole in places) for _, child in tops)
    if not places:
        return ()
    return found.pop() if len(found) == 1 and at_top == len(places) else None


def model_in(picture: Picture, body: Any, path: str = "model") -> str | None:
    """Return the name of the model that a payload holds where a picture has `$model`."""
    if isinstance(picture, Hole):
        return body if picture.path == path and isinstance(body, str) else None
    if isinstance(picture, Fields) and isinstance(body, dict):
        for names, child in picture.entries:
            for name in names:
                if name in body:
                    found = model_in(child, body[name], path)
                    if found is not None:
                        return found
    return None
