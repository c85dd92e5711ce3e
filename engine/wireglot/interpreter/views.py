"""What writing sees: an IR object as a picture sees it, and the notes in the making."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..ir import OPAQUE, owned
from ..language.lenses import Misfit, guard, is_guard, parse_json, same
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Test, Text
from ..language.shape import Case, Shape
from ..trail import value_at

if TYPE_CHECKING:
    from ..trail import At


class Sees(Protocol):
    """Of a writer, what a view of an object depends on."""

    dialect: Dialect
    same: bool
    claimed_outside: dict[int, set[str]]
    enforced: frozenset[tuple[str, str]]


class View:
    """An IR object as a picture sees it: fields by path, names of its `ir` picture, claims."""

    def __init__(self, obj: dict[str, Any], shape: str, case: Case, writer: Sees) -> None:
        self.obj, self.shape, self.case, self.dialect = obj, shape, case, writer.dialect.name
        self.family, self.origin = writer.dialect.family, writer.dialect.origin
        self.names: dict[str, tuple[Any, str]] = {}
        self.claims: set[str] = set(writer.claimed_outside.get(id(obj), ()))
        self.missed: set[str] = set()  # fields that are taken only where `claims` has them
        self.lists: dict[str, dict[int, list[Any]]] = {}
        self.settled: set[str] = set()  # terms of sums that were written
        self.refused: dict[str, tuple[Hole, At]] = {}  # what repair leaves out: only read here
        self.memory: dict[str, Any] = memory_of(obj, self.dialect) if writer.same else {}

    def peek(self, path: str) -> Any:
        """Return the value at a path without claiming it, or ABSENT."""
        if path in self.names:
            return self.names[path][0]
        keys = owned(path, self.family).split(".")
        value = value_at(self.obj, keys, ABSENT)
        if keys[-1] in OPAQUE and keys[0] != "own" and isinstance(value, dict):
            return opened(value, self.origin[keys[-1]])
        return value

    def match(self, ir: Picture | None, value: Any, path: str = "") -> None:
        """Match an IR value by an `ir` picture: literals must stand, holes get names; or Misfit.

        Where there is no picture nothing is asked for.
        """
        if isinstance(ir, Literal):
            unsaid = path and self.memory and path == self.memory.get("", {}).get("unsaid")
            if unsaid or not any(same(v, value) for v in ir.values):
                raise Misfit(f"`{path or 'the value'}` says something else", (), ir.pos)
            if path and value is not ABSENT:
                self.claims.add(path)
        elif isinstance(ir, Items):
            if value != []:
                raise Misfit(f"`{path}` is not empty", (), ir.pos)
            self.claims.add(path)
        elif isinstance(ir, Test):
            if not ir.holds(value):
                raise Misfit(f"`{path}` fails a test", (), ir.pos)
        elif isinstance(ir, Hole):
            if value is ABSENT:
                if ir.mark is None:
                    raise Misfit(f"`{path}` is missing", (), ir.pos)
                return
            if ir.lenses and is_guard(ir.lenses[0]) and not guard(ir.lenses[0], value):
                raise Misfit(f"`{path}` is no {ir.lenses[0]}", (), ir.pos)
            self.names[ir.path] = (value, path)
        elif isinstance(ir, Text):
            pieces = ir.read(value) if isinstance(value, str) else None
            if pieces is None:
                raise Misfit(f"`{path}` says something else", (), ir.pos)
            for name, piece in zip(ir.names, pieces, strict=True):
                self.names[name] = (piece, path)
        elif isinstance(ir, Fields):
            if not isinstance(value, dict):
                what = "is missing" if value is ABSENT else "is no object"
                raise Misfit(f"`{path or 'the value'}` {what}", (), ir.pos)
            for (name, *_), child in ir.entries:
                inner = f"{path}.{name}" if path else name
                found = value.get(name, ABSENT)
                if inner == "own":  # each dialect says its own
                    inner = f"own.{self.family}"
                    empty: Any = {} if isinstance(child, Fields) else ABSENT
                    found = found.get(self.family, empty) if isinstance(found, dict) else empty
                if name in OPAQUE and isinstance(found, dict) and not isinstance(child, Fields):
                    if found.get("origin") != self.origin[name]:
                        raise Misfit(f"only {found.get('origin')} can read `{inner}`", (), ir.pos)
                    found = found.get("value", ABSENT)
                self.match(child, found, inner)
            if ir.closed and not value.keys() <= ir.names | {"spelled", "kept"}:
                raise Misfit(f"`{path}` says more", (), ir.pos)
            if ir.closed and path:
                self.claims.add(path)  # it says nothing else

    def claim(self, path: str) -> None:
        """Say that a picture took the value at a path."""
        self.claims.add(self.source(path))

    def source(self, path: str) -> str:
        """Return the dotted IR path that a name stands for."""
        return self.names[path][1] if path in self.names else owned(path, self.family)


def opened(value: dict[str, Any], dialect: str) -> Any:
    """Return what only its origin can read; ABSENT where that is another dialect."""
    return value.get("value", ABSENT) if value.get("origin") == dialect else ABSENT


class Survey:
    """What one pass over messages finds.

    Attributes:
        kinds: The types of parts.
        system: Whether a message is the system's.
        paired: Whether each call has an id of its own, and its result right behind it, in order;
            those of the last message may wait.
        none_empty: Whether each message has a word, a call or a result.
        freeform: Whether a call took freeform input, or a result says so.
        marked: Whether a part may say what is to be cached.
        cited: Whether a text has citations, or a message has them of all its texts.
        declares: Whether a part declares tools.
        names: The names of the calls, by their ids.
    """

    def __init__(self, messages: Any) -> None:
        self.kinds = kinds = set[Any]()
        self.names: dict[Any, Any] = {}
        self.paired = self.none_empty = True
        self.system = self.freeform = self.marked = self.cited = self.declares = False
        waiting: list[Any] = []  # calls without a result yet, the first one last
        for message in messages:
            role, parts = message.get("role"), message.get("parts", ())
            if role != "tool":
                if waiting:
                    self.paired = False
                    waiting = []
                if role == "system":
                    self.system = True
            elif not parts:
                self.paired = False
            if "citations" in message or "sources" in message:
                self.cited = True
            said = False  # whether a part of it surely says something
            for part in parts:
                kind = part.get("type")
                kinds.add(kind)
                if "cache" in part:
                    self.marked = True
                if kind == "text":
                    text = str(part.get("text", ""))  # a long one is not copied
                    if text and not text.isspace():
                        said = True
                    if "citations" in part:
                        self.cited = True
                elif kind == "tool_call":
                    said, key = True, part.get("id", "")
                    if key in self.names or not key or role != "assistant":
                        self.paired = False
                    self.names[key] = part.get("name", "")
                    waiting.append(key)
                    if "input" in part:
                        self.freeform = True
                    continue
                elif kind == "tool_result":
                    said = True
                    if not waiting or waiting.pop() != part.get("tool_call_id"):
                        self.paired = False
                    if "freeform" in part:
                        self.freeform = True
                    if "tools" in part:
                        self.declares = True
                    if part.get("value").__class__ is list:
                        self.marked = True  # perhaps within it
                elif kind == "native" and "tools" in part:
                    self.declares = True
                if role == "tool" and kind != "tool_result":
                    self.paired = False
            if not said:
                self.none_empty = False
            if role != "tool" and len(waiting) > 1:
                waiting.reverse()
        if waiting and messages[-1].get("role") == "tool":
            self.paired = False


class Written(NamedTuple):
    """Which picture stands behind a place of the output, and what it was filled from."""

    picture: Picture
    view: View
    rel: At


class Gathered(NamedTuple):
    """A wire piece that waits for its neighbours; `said` are fields that stand beside the run.

    `around` are pieces of texts of each part that stand beside the run, once for all.
    """

    shape: Shape
    case: Case
    wire: Any
    said: set[str]
    around: dict[str, str]


def blank(writer: Sees, part: Any, role: Any) -> bool:
    """Tell whether a part is a text without a word, or a sign, and the dialect takes none."""
    if not isinstance(part, dict) or part.get("type") not in ("text", "reasoning"):
        return False
    text = str(part.get("text", ""))
    if text and not text.isspace():
        return False
    if ("no-empty-text", "") in writer.enforced and role is not None and not writer.same:
        signed = writer.dialect.has_signature(part)
        if not text and not signed and not part.keys() & {"title", "redacted"}:
            return True
    return (
        ("no-blank", "") in writer.enforced
        and part["type"] == "text"
        and not text.strip()
        # At home a model may have said a blank.
        and not (writer.same and part.get("text") and role == "assistant")
    )


def read_by(writer: Sees, obj: dict[str, Any]) -> Any:
    """Return the name of the case by which an object was read, if it remembers that."""
    return recalled(writer, obj).get("case")


def recalled(writer: Sees, obj: dict[str, Any]) -> dict[str, Any]:
    """Return what an object remembers, as a whole, of how it was read by this dialect."""
    found: dict[str, Any] = memory_of(obj, writer.dialect.name).get("", {})
    return found


def memory_of(obj: dict[str, Any], dialect: str) -> dict[str, Any]:
    """Return what an object remembers of its spelling; nothing where that has no such form."""
    spelled = obj.get("spelled")
    found = spelled.get(dialect) if isinstance(spelled, dict) else None
    if not isinstance(found, dict) or not all(isinstance(v, dict) for v in found.values()):
        return {}
    return found


def list_memory(part: dict[str, Any], dialect: str) -> dict[str, Any]:
    """Return what a part remembers of how it stood among others: by which hole, in which run."""
    found: dict[str, Any] = memory_of(part, dialect).get("../", {})
    return found


def means(text: str, value: Any) -> bool:
    """Tell whether JSON text stands for a value."""
    try:
        return same(parse_json(text), value) if text.strip() else value == {}
    except Misfit:
        return False


def alike(read: Any, meant: Any, known: Set[tuple[str, str]] = frozenset()) -> bool:
    """Tell whether what was read back says nothing else than what was meant.

    Fields that the picture could not hold are missing, and texts that it changed are `known`, as
    pairs of what was meant and what is read; those have notes of their own.
    """
    if isinstance(read, str) and isinstance(meant, str):
        return read == meant or (meant, read) in known
    if isinstance(read, dict) and isinstance(meant, dict):
        skip = ("spelled", "kept", "arguments_json", "value_json", "own")
        if read.get("kind") == "text" and meant.get("kind") == "multimodal":
            # Plain text blocks are that text, line by line.
            blocks = meant.get("value")
            lines: Any = [b.get("text") for b in blocks] if isinstance(blocks, list) else [None]
            return all(isinstance(x, str) for x in lines) and "\n".join(lines) == read["value"]
        return all(
            k in meant and (alike(v, meant[k], known) or (k == "type" and _same_types(v, meant[k])))
            for k, v in read.items()
            if k not in skip
        )
    if isinstance(read, list) and isinstance(meant, list):
        return len(read) == len(meant) and all(
            alike(one, two, known) for one, two in zip(read, meant, strict=True)
        )
    return same(read, meant)


def _same_types(one: Any, two: Any) -> bool:
    """Tell whether two lists of type words in a schema are the same set."""
    if not isinstance(one, list) or not isinstance(two, list):
        return False
    return sorted(map(repr, one)) == sorted(map(repr, two))
