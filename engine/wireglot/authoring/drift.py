"""`wireglot drift`: the rules of a dialect against the types of the SDK that is installed.

Which types of an SDK stand for the units of a dialect, `drift/sdks.yaml` beside the rules says:

DIALECT: {package: NAME, request?: TYPE, response?: TYPE, error?: TYPE, stream?: TYPE,
          not-sent?: [NAME]}
TYPE = any | MODULE:NAME | [TYPE] | {KEY: TYPE, ...?: TYPE}
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import reduce
from importlib import metadata
from inspect import isfunction
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..dialects import DialectRules
from ..errors import RuleError, UsageError
from ..language.source import Node, parse, wrong
from ..loading.rulesources import packaged_folder
from . import wirefacts
from .sdktypes import Field, Shape, Shapes, leaves
from .wirefacts import Facts

FILE = Path("drift", "sdks.yaml")
UNITS = ("request", "response", "error", "stream")
WORDS = ("package", *UNITS, "not-sent")
ANY, REST = "any", "..."
_IMPORT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
Side = Literal["rules", "sdk"]


class Sdk(NamedTuple):
    """What a dialect's SDK is called by pip, and which of its types stand for which unit."""

    package: str
    units: dict[str, Node]
    not_sent: tuple[str, ...]

    @property
    def version(self) -> str:
        """The version that is installed. Raises UsageError where none is."""
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            raise UsageError(f"its SDK is not installed: `pip install {self.package}`") from None

    def shape(self, unit: str) -> Shape:
        """Return the shape of a unit. Raises RuleError where the SDK has no such type."""
        return _shape(self.units[unit], Shapes(self.not_sent))


def load_sdks(folders: Sequence[str] = ()) -> dict[str, Sdk]:
    """Read which SDKs are known, of the packaged rules and of folders. Raises RuleError."""
    found: dict[str, Sdk] = {}
    for path in (Path(folder, FILE) for folder in (packaged_folder(), *folders)):
        if path.is_file():
            root = parse(path.read_text("utf-8-sig"), str(path))
            if not isinstance(root.value, dict):
                raise wrong("this is a mapping of dialects to their SDKs", root.pos)
            found |= {name: _sdk(node) for name, node in root.value.items()}
    return found


def _sdk(node: Node) -> Sdk:
    words = node.entries
    for word, child in words.items():
        if word not in WORDS:
            raise wrong(f"`{word}` is no word of an SDK", child.pos, ", ".join(WORDS))
        if word in UNITS:
            _check(child)
    package, listed = node.get("package"), node.get("not-sent")
    if package is None or not isinstance(package.value, str):
        told = "an SDK has a `package`, as pip calls it"
        raise wrong(told, (package or node).pos, "{package: NAME, request: TYPE}")
    names = listed.plain() if listed is not None else []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise wrong("`not-sent` is a list of names", (listed or node).pos)
    return Sdk(package.value, {u: words[u] for u in UNITS if u in words}, tuple(names))


def _check(node: Node) -> None:
    value = node.value
    if isinstance(value, dict) and value:
        for child in value.values():
            _check(child)
    elif isinstance(value, list) and len(value) == 1:
        _check(value[0])
    elif not isinstance(value, str) or not (value == ANY or _IMPORT.fullmatch(value)):
        help = "`module:Name`, `any`, `[TYPE]` or `{key: TYPE}` is"
        raise wrong("this is no type of an SDK", node.pos, help)


def _shape(node: Node, shapes: Shapes) -> Shape:
    if isinstance(node.value, list):
        return Shape("list", item=_shape(node.value[0], shapes))
    if isinstance(node.value, dict):
        made = Shape("object")
        for name, child in node.value.items():
            inner = _shape(child, shapes)
            if name != REST:
                made.fields[name] = Field(inner, False, (name,))
            for one in (inner, *inner.options) if name == REST else ():
                made.fields |= one.fields
        return made
    if node.value == ANY:
        return Shape("any")
    module, _, name = node.value.partition(":")
    try:
        found = reduce(getattr, name.split("."), importlib.import_module(module))
        return shapes.arguments(found) if isfunction(found) else shapes.of(found)
    except (ImportError, AttributeError, NameError, TypeError) as error:
        told = f"`{node.value}` is not in the SDK, or cannot be read: {error}"
        raise wrong(told, node.pos) from None


# -- what differs ---------------------------------------------------------------------------------


class Row(NamedTuple):
    """A field, word or event that one side has and the other `lacks`, and where the rules are."""

    unit: str
    event: str  # of a stream, by its name: the first, where frames of many are the same
    path: str  # none where the event is meant
    word: str | None
    lacks: Side
    rule: str | None = None

    @property
    def what(self) -> str:
        """What is missing, and where it stands."""
        event = f"event `{self.event}`" if self.event else ""
        if not self.path:
            return event
        word = f"`{self.word}` as " if self.word is not None else ""
        return f"{word}{self.path}" + (f" of {event}" if event else "")

    def repeats(self, other: Row) -> bool:
        """Tell whether it is the same of a body within a frame as the other is of that body."""
        same = (self.word, self.lacks, self.rule) == (other.word, other.lacks, other.rule)
        return same and bool(self.path) and f".{self.path}".endswith(f".{other.path}")


class Drift(NamedTuple):
    """What differs between a dialect and its SDK, and which types the SDK no longer has."""

    dialect: str
    package: str
    version: str
    rows: list[Row]
    unread: list[str]

    def lines(self) -> Iterator[str]:
        """Say it in words, by units."""
        yield f"{self.dialect} beside {self.package} {self.version}"
        yield from (f"  {one}" for one in self.unread)
        width = max((len(row.what) for row in self.rows), default=0)
        for unit in dict.fromkeys(row.unit for row in self.rows):
            for lacks, who in (("rules", "the SDK has"), ("sdk", "the rules alone have")):
                rows = [row for row in self.rows if (row.unit, row.lacks) == (unit, lacks)]
                if rows:
                    yield f"  {unit}: {who} {len(rows)}"
                yield from (f"    {row.what:{width}}  {row.rule or ''}".rstrip() for row in rows)
        if not self.rows and not self.unread:
            yield "  no differences"

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "rows": [row._asdict() for row in self.rows]}


def of(dialect: DialectRules, sdk: Sdk) -> Drift:
    """Hold a dialect against its SDK. Raises UsageError where that is not installed."""
    found = Drift(dialect.name, sdk.package, sdk.version, [], [])
    for unit in sdk.units:
        try:
            shape = sdk.shape(unit)
        except RuleError as error:
            found.unread.append(str(error))
            continue
        for row in _stream(dialect, shape) if unit == "stream" else _body(dialect, unit, shape):
            if unit != "stream" or not any(map(row.repeats, found.rows)):
                found.rows.append(row)
    return found


def _body(dialect: DialectRules, unit: str, shape: Shape) -> Iterator[Row]:
    facts = wirefacts.facts(dialect.model, unit) if unit in dialect.model.units else {}
    beside = _Comparison(dialect, unit, "", facts, leaves(shape))
    yield from beside.rows(dialect.pictured(unit), dialect.dropped(unit))


def _stream(dialect: DialectRules, shape: Shape) -> Iterator[Row]:
    stream = dialect.model.stream
    key = stream.named if stream is not None else ""
    known, gone, told = dialect.events(), dialect.dropped("stream"), wirefacts.frames(dialect.model)
    there = events(shape, key)
    for name, one in there.items():
        if name in known:
            beside = _Comparison(dialect, "stream", name, told.get(name, {}), leaves(one))
            rows = beside.rows(known[name] | known[""], gone)
            yield from (row for row in rows if row.path != key)
        elif not any(fnmatchcase(name, pattern) for pattern in gone):
            yield Row("stream", name, "", None, "rules", str(stream.pos) if stream else None)
    for name in sorted(told.keys() - there.keys() - {""}):
        written = [fact for facts in told[name].values() for fact in facts if fact.written]
        if written:
            yield Row("stream", name, "", None, "sdk", written[0].rule)


def events(shape: Shape, key: str) -> dict[str, Shape]:
    """Give the shapes of the frames of a stream, by their words under `key`; one has no name."""
    frames = shape.options if shape.kind == "union" else (shape,)
    named = [(one, one.fields[key].shape.words) for one in frames if key in one.fields]
    return {word: one for one, words in named for word in words} or {"": shape}


class _Comparison:
    """The facts of the rules beside the paths of a type: of a unit, or of one event of a stream."""

    def __init__(
        self,
        dialect: DialectRules,
        unit: str,
        event: str,
        facts: Facts,
        paths: Mapping[str, list[Shape]],
    ) -> None:
        self.model, self.unit, self.event = dialect.model, unit, event
        self.facts, self.paths = facts, paths
        self.pos = str((self.model.units.get(unit) or self.model.node).pos)

    def rows(self, pictured: Collection[str], dropped: Collection[str]) -> Iterator[Row]:
        """Yield what either side lacks; of a whole object only its path."""
        known, given_up = PathSet(pictured), PathSet(dropped)
        left = [path for path in self.paths if not known.covers(path)]
        lacking = (path for path in left if not given_up.covers(path, below=True))
        yield from self.topmost(lacking, _with_above(self.facts), "rules")
        there = PathSet(_with_above(self.paths))
        alone = (path for path in self.facts if path and self.written(path))
        yield from self.topmost((p for p in alone if not there.covers(p)), there.exact, "sdk")
        whole = {path[:-2] for path in pictured if path.endswith(".*")}
        for path in sorted(self.paths.keys() & self.facts.keys()):
            if whole.isdisjoint(_prefixes(path)):
                yield from dict.fromkeys(self.words(path))

    def topmost(self, paths: Iterable[str], known: Collection[str], lacks: Side) -> Iterator[Row]:
        """Yield a row for each path, or for the first of those above it that is not known."""
        above = {next(p for p in (*_prefixes(one), one) if p not in known) for one in paths}
        for path in sorted(above):
            yield Row(self.unit, self.event, path, None, lacks, self.place(path))

    def place(self, path: str) -> str:
        """Return where a path is in the rules, or else what it would stand beside, or in."""
        for one in (path, *reversed(_prefixes(path)), ""):
            beside = (p for p in self.facts if p.startswith(f"{one}." if one else ""))
            there = one if one == path and one in self.facts else next(beside, one)
            if there in self.facts:
                return self.facts[there][0].rule
        return self.pos

    def words(self, path: str) -> Iterator[Row]:
        """Yield the words of one path that either side lacks."""
        facts, shapes = self.facts[path], self.paths[path]
        said = [(fact, wirefacts.words(self.model, fact.picture)) for fact in facts]
        plain = str.casefold if any(shape.loose for shape in shapes) else str
        theirs = {plain(w): w for s in shapes for w in s.words if isinstance(w, str)}
        ours = {plain(w) for _, known in said if known for w in known[0] if isinstance(w, str)}
        if ours and all(known is not None for _, known in said):
            for word in (theirs[word] for word in theirs if word not in ours):
                yield Row(self.unit, self.event, path, word, "rules", facts[0].rule)
        if theirs and all(shape.kind == "words" for shape in shapes) and self.written(path):
            for fact, known in said:
                for word in known[1] if known and fact.written else ():
                    if isinstance(word, str) and plain(word) not in theirs:
                        yield Row(self.unit, self.event, path, word, "sdk", fact.rule)

    def written(self, path: str) -> bool:
        """Tell whether something is written there: it is, and what it stands in."""
        above = (self.facts[one] for one in _prefixes(path) if one in self.facts)
        said = ([fact for fact in facts if fact.presence] for facts in above)
        # A list that is written as one text is only read.
        told = [
            [f.written and "joined" not in getattr(f.picture, "lenses", ()) for f in facts]
            for facts in said
        ]
        own = any(fact.written for fact in self.facts[path])
        return own and all(any(each) for each in told if each)


class PathSet:
    """Paths that are named, and what stands below those that are carried whole."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.exact = set(paths)
        self.roots = {path[:-2] for path in self.exact if path.endswith(".*")}

    def covers(self, path: str, *, below: bool = False) -> bool:
        """Say whether a path is named; `below`: whether what stands above it is enough."""
        plain = path.removesuffix(".*")
        if path in self.exact or plain in self.exact or plain in self.roots:
            return True
        if plain.endswith("[]") and plain[:-2] in self.exact:
            return True
        above = self.roots | self.exact if below else self.roots
        return any(prefix in above for prefix in _prefixes(plain))


def _prefixes(path: str) -> list[str]:
    """List what stands above a path: `a[].b` stands below `a[]` and `a`."""
    return [path[:n] for n, sign in enumerate(path) if n and sign in ".["]


def _with_above(paths: Iterable[str]) -> set[str]:
    """Return paths, and all that they stand in."""
    return {one for path in paths for one in (path, *_prefixes(path))}
