"""The text of a function that reads one case, while it is written: names, places, ways to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..ir import field_type
from ..language.picture import Fields, Hole, Test
from ..language.shape import Case, Shape
from ..trail import At, pointer
from . import code
from .holetests import named

TAKEN = frozenset(
    "x w at L m rel seen made sp sp_ kp own found wire key field place value before written "
    "there got taken handed renamed inner len tuple dict set str int bool list".split()
)


OWN = "own.*"  # the path of several fields that one family alone has


class Key(str):
    """A key of several spellings; `var` is the variable of the one that was read.

    `test` is the variable that tells whether any key of its object has another spelling.
    """

    var: str
    test: str


Rel = tuple[Any, ...]  # a place below the object
Table = dict[Any, At]  # places by fields


class Slot(NamedTuple):
    """What a hole found: the variable, ABSENT where nothing; `always` says that it is there."""

    path: str
    var: str
    rel: Rel | None  # where it stands below the object, None where nowhere
    always: bool
    there: str = ""  # a test that it did stand there, where it has a value anyhow

    @property
    def keys(self) -> list[Key]:
        """The keys of several spellings on the way to it."""
        return [key for key in self.rel or () if isinstance(key, Key)]


class Later(NamedTuple):
    """A hole that is read when its neighbours are."""

    hole: Hole
    var: str
    rel: Rel
    spread: bool


class CaseText:
    """Writes the function of one case."""

    inner = False  # whether it is one of `$. as SHAPE`

    walk = "by_case"  # what reads in the interpreter

    runs = False  # whether the picture may hold `$run`

    place: Callable[[Slot], None]  # puts what a hole found into the IR object

    def __init__(self, reads: code.Functions, shape: Shape, case: Case, name: str) -> None:
        self.reads, self.shape, self.case = reads, shape, case
        self.dialect, self.mode = reads.dialect, reads.mode
        more = ", rel, seen" if self.inner else ""
        self.t = self.line = code.Text(reads.code, f"def {name}(x, w, at, L{more}):", TAKEN)
        self.ir = ir = case.ir
        self.bare = ir is not None and not isinstance(ir, Fields)
        # Whether the memory of spelling is wanted: a bare value refuses where there is any.
        self.track = self.mode == "home" or self.bare
        self.nested = False  # whether something was read already that may have left notes
        self.slots: list[Slot] = []
        self.sums: list[tuple[Hole, str, Rel]] = []
        self.copies: list[tuple[Hole, str, Rel]] = []
        self.later: list[Later] = []
        self.bound = named(ir)
        self.respelled: list[str] = []
        self.absent: list[str] = []  # what stands for nothing until it is read
        self.table: Table = {} if self.inner else {None: ()}  # where fields came from
        self.owned: Table = {}  # the same, of fields of the family
        self.owning = False  # whether there may be some of these in what is made
        self.overrides: list[str] = []  # places that are other than the table says
        self.moved: list[tuple[str, str, str, Rel]] = []  # of an inner picture: from elsewhere
        self.several: list[tuple[str, str, Rel]] = []  # fields that came from several keys
        self.pending: list[Slot] = []  # what is not put yet
        self.parts: dict[str, list[Slot]] = {}  # what holes of one list found
        self.totals: dict[str, str] = {}  # variables of lists that several holes add to
        self.lists = {path: found for path, found in case.lists.items() if len(found) > 1}
        self.walked = f"{reads.code.value(shape, 'S')}, {reads.code.value(case, 'C')}"

    # -- small pieces -------------------------------------------------------------------------

    def name(self, path: str) -> str:
        """Return a new variable for a field."""
        return self.t.fresh(code.spelled(path.rpartition(".")[2]) or "it")

    def of(self, h: Hole, key: Any) -> str:
        """Return a new variable for a hole, with its key where several take the same field."""
        return self.name(f"{h.path}_{code.spelled(str(key))}" if h.path in self.lists else h.path)

    @property
    def odd(self) -> str:
        """The call that leaves the object to the interpreter."""
        mark = "m" if self.nested else "len(x.notes)"
        return "ODD" if self.inner else f"odd(x, {mark}, {self.walk}, {self.walked}, w, at, L)"

    @property
    def no(self) -> str:
        """What is returned where the case does not fit."""
        return "no(x, m)" if self.nested else "NO"

    def unless(self, test: str, h: Hole, below: bool) -> None:
        """Add a test of a misfit: what is marked is kept where that is wanted."""
        kept = h.mark is not None and below and h.shape != "conversation"
        self.line(
            f"if {test}: return {f'{self.odd} if L else {self.no}' if kept else self.no}", h.pos
        )

    def tried(self, var: str, made: str, h: Hole, below: bool, may_be_odd: bool = True) -> None:
        """Add the lines that read a hole where what reads it may say NO, or ODD."""
        self.line(f"{var} = {made}", h.pos)
        self.unless(f"{var} is NO", h, below)
        if may_be_odd:
            self.line(f"if {var} is ODD: return {self.odd}")

    def at(self, rel: Rel) -> str:
        """Return the place of something below the object."""
        return f"(*at, {', '.join(map(spoken, rel))})" if rel else "at"

    def kept(self, rel: Rel) -> str:
        """Return the pointer of something below the object, as kept keys have it."""
        if not any(isinstance(key, Key) for key in rel):
            return self.pointer(rel)
        text = f"pointer(({', '.join(map(spoken, rel))},))"
        return f"rel + {text}" if self.inner else text

    def pointer(self, rel: Rel) -> str:
        """Return the pointer of something below the object, as memory has it."""
        text = pointer(rel)
        return repr(text) if not self.inner else f"rel + {text!r}" if text else "rel"

    def slot(self, path: str) -> Slot | None:
        """Return what the first hole of a field found."""
        return next((slot for slot in self.slots if slot.path == path), None)

    def kind(self, h: Hole) -> str:
        """Return the type of the field of a hole."""
        return field_type(self.case.shape, h.path)

    def value(self, value: Any) -> str:
        """Return an expression for a value."""
        return self.reads.code.value(value)

    def tested(self, test: Test, seen: str) -> None:
        """Add a test of the IR side that must hold."""
        self.line(f"if not {self.value(test)}.holds({seen}): return {self.no}", test.pos)

    def remembers(self, line: str) -> None:
        """Add a line about spelling, where that is wanted."""
        if self.track:
            self.line(f"sp = {line}")


def spoken(key: Any) -> str:
    """Return an expression for one key of a place."""
    return key.var if isinstance(key, Key) else repr(key)


def plain(rel: Rel) -> Rel:
    """Return a place with the first spelling of each key."""
    return tuple(str(key) if isinstance(key, Key) else key for key in rel)
