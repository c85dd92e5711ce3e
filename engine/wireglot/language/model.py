"""What a rule file says, as data: shapes with cases, and the dialect that holds them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from ..errors import UsageError
from ..ir import PARTS
from ..patterns import fits
from . import picture as pic
from .intext import Listing, Marks
from .picture import Fields, Hole
from .shape import Case, Shape, fixed_words
from .source import Node
from .talk import Conversation

if TYPE_CHECKING:
    from .documents import Document
    from .events import Stream
    from .lenses import Table
    from .schema import Schema

T = TypeVar("T")
P = ParamSpec("P")


class Signatures(NamedTuple):
    """Whose reasoning state a dialect reads, besides that of the very model that made it.

    `signer` is the dialect whose signatures stand here; None: they are its own. `none` is what is
    read as the placeholder: it and other spellings, and their base64, as SDKs that hold bytes send.
    """

    models: list[list[str]]
    signer: str | None
    placeholder: str | None
    none: tuple[str, ...] = ()

    def can_read(self, model: str | None, signers: list[str]) -> bool:
        """Tell whether a model reads what one of these names signed; who is unknown is its own."""
        if model is None or not signers or model in signers:
            return True
        return any(
            _matches(model, row) and any(_matches(one, row) for one in signers)
            for row in self.models
        )


def _matches(name: str, globs: list[str]) -> bool:
    return any(fits(name, glob) for glob in globs)


class Stored(NamedTuple):
    """What an API keeps of its answers, and how a request names it.

    Attributes:
        within: The key of the list of a request in which something stands for an element of
        of: the list of an answer.
        by: The key of the id of both.
        keys: What else stands there with the id.
        unless: What a request says that wants nothing to be kept.
        after: The key under which a request names the answer that it goes on from.
        beside: Further keys that name what it goes on from, which no answer gave.
    """

    within: str
    of: str
    by: str
    keys: dict[str, Any]
    unless: dict[str, Any]
    after: str | None
    beside: tuple[str, ...]


class Weights(NamedTuple):
    """What the loss of a field that the dialect alone has weighs elsewhere, by the field's name.

    Attributes:
        repeated: Fields of a response that say again what the request said.
        slight: Fields that say nothing to a model or an application, and why.
        usual: Values that say what is so where nothing is said.
    """

    repeated: frozenset[str]
    slight: dict[str, str]
    usual: dict[str, Any]


def _lazy(word: str) -> Any:
    """Return an attribute of a dialect that is built when it is asked for, if it was not given."""
    return functools.cached_property(lambda dialect: dialect._later(word))


class Dialect:
    """A whole rule file, ready to read and write."""

    node: Node = _lazy("node")
    stream: Stream | None = _lazy("stream")
    schemas: dict[str, Schema] = _lazy("schemas")

    def __init__(
        self,
        name: str,
        see: str,
        verified: str,
        shapes: dict[str, Shape],
        unions: dict[str, list[str]],
        tables: dict[str, Table],
        schemas: dict[str, Schema],
        limits: dict[str, dict[str, Any]],
        bounds: dict[str, dict[str, Any]],
        conversation: Conversation | None,
        units: dict[str, Shape],
        hooks: tuple[str, ...],
        media_types: dict[str, str],
        node: Node,
        family: str,
        carry: dict[str, str],
        signatures: Signatures,
        files: str,
        document: Document | None,
        stream: Stream | None,
        weights: Weights,
        within: dict[str, Marks],
        lists: dict[str, Listing],
        stored: Stored | None,
    ) -> None:
        """Hold what a rule file says.

        Dialects of one `family` share the fields of `own`; `carry` has kinds of part, and where
        state rides; `files` is the dialect whose provider holds them; `origin` is, for each opaque
        field, the name of whoever reads it; `within` has kinds of part, and how one stands in a
        text; `lists` says how a list stands in one.
        """
        self.name, self.see, self.verified, self.family = name, see, verified, family
        self.shapes, self.unions, self.units = shapes, unions, units
        self.tables, self.schemas, self.limits, self.bounds = tables, schemas, limits, bounds
        self.conversation, self.hooks, self.media_types = conversation, hooks, media_types
        self.node, self.pos, self.carry, self.signatures = node, node.pos, carry, signatures
        self.document, self.stream, self.weights = document, stream, weights
        self.within, self.lists, self.stored = within, lists, stored
        self.origin = {"signature": signatures.signer or name, "file": files}
        # Messages as they stand in a file, where that is otherwise.
        self.file_talk: Conversation | None = None
        self.module_prefix = ""  # how the modules of its functions begin, where a wheel brings them
        self._later: Callable[[str], Any] | None = None  # builds what it was not made with
        self._reset()

    def _reset(self) -> None:
        """Hold nothing that is found of the rest when it is asked for."""
        self.cases_by_name: dict[str, list[tuple[Shape, Case]]] = {}
        self.kinds_by_name: dict[str, frozenset[Any]] = {}
        self.keys_by_name: dict[str, frozenset[str]] = {}
        self.cache: dict[Any, Any] = {}  # generated code, by its way, and what else is kept `once`

    @classmethod
    def built(cls, parts: dict[str, Any], later: Callable[[str], Any]) -> Dialect:
        """Return a dialect of what it holds; `later` gives what LAZY names when it is needed."""
        made = cls.__new__(cls)
        made._reset()
        made._later = later
        made.__dict__.update(parts)
        return made

    @property
    def streamed(self) -> Stream:
        """The stream. Raises UsageError where there is none."""
        if self.stream is None:
            raise UsageError(f"{self.name} has no picture of a stream")
        return self.stream

    @functools.cached_property
    def pieces(self) -> bool:
        """Whether frames of the stream say what a call is piece by piece."""
        return self.stream is not None and self.stream.pieces("tool_call")

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """Return what is known of this dialect under a key; it is made when first asked for."""
        try:
            found: T = self.cache[key]
        except KeyError:
            found = self.cache.setdefault(key, make())  # of two threads the first
        return found

    def kinds_of(self, name: str) -> frozenset[Any]:
        """Return the types of IR objects that a shape or union holds; None for a plain function."""
        known = self.kinds_by_name.get(name)
        if known is None:
            known = self.kinds_by_name[name] = self._kinds(name)
        return known

    def _kinds(self, name: str) -> frozenset[Any]:
        found: set[Any] = set()
        for shape in self.members(name):
            for case in shape.cases if not shape.marks else ():
                found.update(case.kinds or (shape.kind,))
        return frozenset(found)

    def taken_by(self, name: str) -> frozenset[Any]:
        """Return the types of what stands in a list of a shape or union, those of runs too."""
        shapes = self.members(name)
        return frozenset().union(*(one.groups or self.kinds_of(one.name) for one in shapes))

    @functools.cached_property
    def part_kinds(self) -> frozenset[Any]:
        """The kinds of parts that messages hold, those of runs among them."""
        holes = [hole for case in self.message_cases for hole in pic.holes(case.wire)]
        names = {hole.shape for hole in holes if hole.path == "parts" and hole.shape}
        if not names or any(hole.path == "." for hole in holes):
            return PARTS  # shapes of the message itself may hold any
        return frozenset().union(*map(self.taken_by, names))

    @functools.cached_property
    def tells_freeform(self) -> bool:
        """Whether results tell on the wire that their calls took freeform input."""
        said = {"/type", "/freeform"}  # of a part: what is chosen has no type
        return any(case.sides[0].keys() >= said for case in self.cases)

    @functools.cached_property
    def result_names(self) -> frozenset[str]:
        """Names that results tell by their own words: who has another word has another name."""
        told = (c for c in self.shape_cases if "tool_result" in c.sides[0].get("/type", ()))
        return fixed_words(told, "/name")

    @functools.cached_property
    def told_roles(self) -> frozenset[str]:
        """Roles that elements say of themselves: their messages stand in those of others."""
        return fixed_words(self.shape_cases, "/role")

    def fields_of(self, cases: Iterable[Case]) -> frozenset[str]:
        """Return the fields of an IR object of which the pictures of some cases say anything."""
        found: set[str] = set()
        for case in cases:
            if isinstance(case.ir, Fields):
                found.update(names[0] for names, _ in case.ir.entries)
            for hole in pic.holes(case.wire):
                if hole.path == ".":
                    found |= self.fields_of(one for _, one in self.cases_of(hole.named))
                found.update(path.partition(".")[0] for path in hole.paths)
            for text in pic.texts(case.wire):
                found.update(one.partition(".")[0] for one in text.names)
        return frozenset(found)

    def own_holes(self, name: str) -> list[Hole]:
        """Return the holes of an object by a shape, by those of its own fields and of its runs."""
        found, names = list[Hole](), [name]
        for one in names:  # which grow
            cases = [case for _, case in self.cases_of(one) if not case.read_only]
            inner = [hole for case in cases for hole in pic.holes(case.wire)]
            names += {h.named for h in inner if h.path in (".", "run") and h.shape} - {*names}
            found += inner
        return found

    def dropped(self, unit: str) -> dict[str, str]:
        """Return the wire paths that the rule file gives up under `drop:`, with the reasons.

        Of the unit `stream` these are paths of frames, and names of whole frames.
        """
        if unit == "stream":
            return dict(self.stream.drop) if self.stream is not None else {}
        reasons = (case.drop.items() for case in self.pictured(unit))
        return self.once(("drop", unit), lambda: {p: why for said in reasons for p, why in said})

    def has_signature(self, part: Any) -> bool:
        """Tell whether a part has a signature that this dialect reads; an empty text is none."""
        found = part.get("signature")
        reads = isinstance(found, dict) and found.get("origin") == self.origin["signature"]
        return reads and bool(found.get("value"))

    @property
    def shape_cases(self) -> list[Case]:
        """All cases of all shapes."""
        return [case for shape in self.shapes.values() for case in shape.cases]

    @property
    def cases(self) -> list[Case]:
        """All cases of all shapes, units and messages."""
        found = [*self.shape_cases, *(c for unit in self.units.values() for c in unit.cases)]
        return found + self.message_cases + (self.file_talk.cases if self.file_talk else [])

    @functools.cached_property
    def talk(self) -> Conversation:
        """How messages stand on the wire, where there surely are some."""
        assert self.conversation is not None
        return self.conversation

    @property
    def message_cases(self) -> list[Case]:
        """All cases of messages; none where there are no messages."""
        return self.conversation.cases if self.conversation is not None else []

    @functools.cached_property
    def holds_results(self) -> bool:
        """Whether the calls hold their results: a picture names `$result`, or fields of it."""
        return "result" in self.fields_of(self.cases)

    @functools.cached_property
    def marks_cache(self) -> bool:
        """Whether messages say what is to be cached: a picture of theirs names `$cache`."""
        return "cache" in self.fields_of(self.message_cases)

    bare: Dialect | None = None  # with messages as they are without a file

    @functools.cached_property
    def in_files(self) -> Dialect:
        """The dialect with the messages that stand in a file."""
        made = Dialect.__new__(Dialect)
        made.__dict__.update({k: v for k, v in self.__dict__.items() if k not in CACHED})
        made.conversation = self.file_talk or self.conversation
        made.module_prefix, made.bare = "", self
        made._reset()
        return made

    def of_unit(self, unit: str) -> Dialect:
        """Return the dialect with the messages as they stand in a unit."""
        return self.in_files if unit == "session" else self

    def has_rivals(self, name: str, run: Shape) -> bool:
        """Tell whether an earlier member of a union writes what a gathering one reads."""
        members = self.unions.get(name, [])
        earlier = members[: members.index(run.name)] if run.name in members else []
        return any(self.kinds_of(other) & set(run.groups or ()) for other in earlier)

    def plain_kind(self, name: str) -> str:
        """Return the type of the part that a bare text stands for, in a list of these elements."""
        kinds = self.kinds_of(name)
        return str(next(iter(kinds))) if len(kinds) == 1 and None not in kinds else "text"

    def in_text(self, h: Hole) -> str | None:
        """Return the codec of a list that stands in a text; None of any other hole."""
        if not h.many:
            return None
        return next((lens for lens in h.lenses if lens == "json" or lens in self.lists), None)

    def marks_of(self, name: str) -> dict[str, Shape]:
        """Return the members of a union that are a field of the element before them, by field."""
        if name not in self.unions:
            return {}
        members = (self.shapes[member] for member in self.unions[name])
        return {shape.marks: shape for shape in members if shape.marks}

    def members(self, name: str) -> list[Shape]:
        """Return the shapes of a union, a shape, or a unit; of what is not there none."""
        if name in self.unions or name in self.shapes:
            return [self.shapes[member] for member in self.unions.get(name, (name,))]
        return [self.units[name]] if name in self.units else []

    def pictured(self, name: str) -> list[Case]:
        """Return the cases of a union, a shape, or a unit, in the order of the file."""
        return [case for shape in self.members(name) for case in shape.cases]

    def holes_in(self, name: str) -> list[Hole]:
        """Return the holes of the pictures of a union, a shape, or a unit."""
        return [hole for case in self.pictured(name) for hole in pic.holes(case.wire)]

    def keys_of(self, name: str) -> frozenset[str]:
        """Return the wire keys that a shape or union names, with those that stand among them."""
        known = self.keys_by_name.get(name)
        if known is None:
            keys: set[str] = set()
            for shape in self.members(name):
                keys |= shape.keys
                wires = (case.wire for case in shape.cases if isinstance(case.wire, Fields))
                for hole in (hole for wire in wires for hole in wire.spread if hole.shape):
                    keys |= self.keys_of(hole.named)
            known = self.keys_by_name[name] = frozenset(keys)
        return known

    def cases_of(self, name: str) -> list[tuple[Shape, Case]]:
        """Return every (shape, case) of a shape, union or unit, the narrowest first."""
        found = self.cases_by_name.get(name)
        if found is None:
            found = [(shape, case) for shape in self.members(name) for case in shape.cases]
            found.sort(key=lambda pair: -pair[1].weight)
            self.cases_by_name[name] = found
        return found


# What a dialect finds of itself once: another one that is made of it finds it anew.
CACHED = {key for key, at in vars(Dialect).items() if isinstance(at, functools.cached_property)}
# What it is made with, or what is built when it is asked for.
LAZY = {"node", "stream", "schemas"}
CACHED -= LAZY


def once(make: Callable[Concatenate[Dialect, P], T]) -> Callable[Concatenate[Dialect, P], T]:
    """Let what a function finds out about a dialect be found out when first asked for."""

    @functools.wraps(make)
    def found(dialect: Dialect, /, *more: P.args, **named: P.kwargs) -> T:
        key = (make, *more) if more else make
        try:  # mostly it is there, and then nothing else is made to ask
            known: T = dialect.cache[key]
        except KeyError:
            known = dialect.once(key, lambda: make(dialect, *more, **named))
        return known

    return found
