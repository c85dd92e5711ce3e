"""Symbols: values that are known while compiling, and values that a piece of code gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..language.picture import ABSENT, Fields, Hole, Literal, Picture, Text

CLASSES = {
    "string": "str",
    "object": "dict",
    "list": "list",
    "bool": "bool",
    "integer": "int",
    "opaque": "str",
    "number": "number",
    "null": "NoneType",
}


class Cannot(Exception):
    """Raised while compiling: this is left to the interpreter."""


class NoFit(Exception):
    """Raised while compiling: this case never fits these symbols."""


class Const:
    """A value that is known while compiling."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Val:
    """A value that a piece of code gives.

    `maybe`: it can be None, which means absent. `text`: code of the JSON text that it came from.
    `raw`: it stands in the payload as it is, unchecked inside. `plain`: it is text known to be no
    JSON of an object or array. `derived`: never a loss. `place`: code of where it stands in the
    payload, if a note can name it.
    """

    __slots__ = ("cls", "code", "derived", "maybe", "place", "plain", "raw", "text")

    def __init__(
        self,
        code: str,
        cls: str,
        maybe: bool = False,
        text: str | None = None,
        plain: bool = False,
        derived: bool = False,
        raw: bool = False,
        place: str | None = None,
    ) -> None:
        self.code, self.cls, self.maybe, self.place = code, cls, maybe, place
        self.text, self.plain, self.derived, self.raw = text, plain, derived, raw


Sym = Any  # Const | Val | dict[str, Sym]


class Spare:
    """What an object of the payload may hold beside the keys that generated code reads.

    `words`: literals that may stand instead of nothing. `own`: documented fields of the source
    alone. `named`: keys that other pictures name, for the interpreter. `rule`: where a note points
    to; None, and False where it depends, leave the object to the interpreter.
    """

    __slots__ = ("family", "known", "named", "own", "rule", "source", "words")

    def __init__(self, source: str, family: str, known: frozenset[str]) -> None:
        self.source, self.family, self.known = source, family, known
        self.words: dict[str, tuple[Any, ...]] = {}
        self.own: frozenset[str] = frozenset()
        self.named: frozenset[str] = frozenset()
        self.rule: Any = None

    def belongs(self, rule: Any, family: str) -> None:
        """Say which rule writes the object, and the family of its dialect."""
        if family == self.family:  # the target may have these fields too
            self.named |= self.own
            self.own = frozenset()
        self.rule = rule if self.rule in (None, rule) else False


class Code:
    """Lines of Python in the making; forks share their counter and constants."""

    def __init__(self, depth: int = 1, root: Code | None = None) -> None:
        self.lines: list[str] = []
        self.depth = depth
        self.root = root or self
        if root is None:
            self.count = 0
            self.consts: dict[str, Any] = {}
            self.below: list[str] = []  # functions that others call
            self.takers: list[tuple[str, Any]] = []  # those about schemas, by schema dialect

    def __call__(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def name(self, hint: str = "v") -> str:
        """Return a fresh variable name."""
        self.root.count += 1
        return f"{hint}{self.root.count}"

    def const(self, value: Any, hint: str = "K") -> str:
        """Return the name of a constant of the generated module."""
        for name, known in self.root.consts.items():
            if known is value:
                return name
        name = self.name(hint)
        self.root.consts[name] = value
        return name

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Indent what is written inside under a head line."""
        self(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self("pass")
        self.depth -= 1

    @contextmanager
    def once(self, value: str) -> Iterator[None]:
        """Write inside what is done once for equal JSON: what passed is known by its bytes."""
        seen, mark = self.name("SEEN"), self.name("mark")
        self.root.below.append(f"{seen} = set()")
        self(f"{mark} = dumps({value}, 2)")
        with self.block(f"if {mark} not in {seen}:"):
            yield
            self(f"remember({seen}, {mark})")

    def fork(self) -> Code:
        """Return an empty piece of code at the same depth."""
        return Code(self.depth, self.root)

    def join(self, other: Code) -> None:
        """Append another piece's lines."""
        self.lines.extend(other.lines)


def odd_unless(code: Code, cls: str, var: str) -> None:
    """Write the check of a value's class."""
    if cls == "any":
        return
    if cls == "number":
        code(f"if {var}.__class__ is not float and {var}.__class__ is not int: raise ODD")
    elif cls == "str":
        # Half of a surrogate pair has no UTF-8: ValueError, which is unusual too.
        code(f"if {var}.__class__ is not str or not ({var}.isascii() or {var}.encode()): raise ODD")
    else:
        code(f"if {var}.__class__ is not {cls}: raise ODD")


def all_marked(p: Fields) -> bool:
    if p.spread:
        return all(h.mark for h in p.spread)
    return all(
        (isinstance(c, Hole) and c.mark not in (None, "made"))
        or (isinstance(c, Fields) and all_marked(c))
        or isinstance(c, Literal)
        for _, c in p.entries
    ) and not all(isinstance(c, Literal) for _, c in p.entries)


def needed(p: Picture) -> bool:
    if isinstance(p, Literal):
        return ABSENT not in p.values
    if isinstance(p, Hole):
        return p.mark is None
    return isinstance(p, Text) or (isinstance(p, Fields) and not all_marked(p))
