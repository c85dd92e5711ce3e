"""What reading and writing keep while they go on, and what their pieces ask of them.

The pieces (`building`, `share` and the like) call each other through the reader or writer that they
work for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from ..language.lenses import Misfit, deepest
from ..language.model import Dialect, once
from ..language.picture import ABSENT, Hole
from ..language.shape import Case, Shape
from ..language.talk import Group
from ..native import mypyc_attr
from ..notes import CODES, LEFT_OUT, Draft, Effect, Weight
from ..tagged import every
from ..trail import At, Trail
from .env import Env
from .limits import Limits
from .views import Look, View

if TYPE_CHECKING:
    from ..language.ladder import Ladder, Row
    from ..language.source import Pos
    from .recorder import Recorder
    from .resolver import Resolver

Message = dict[str, Any]  # of the IR, as what follows
Part = dict[str, Any]
START = "1970-01-01T00:00:00.000Z"


_NOTHING: tuple[frozenset[tuple[str, str]], str | None] = (frozenset(), None)


@once
def _steps(dialect: Dialect) -> tuple[frozenset[tuple[str, str]], str | None]:
    """Return what is asked of messages, and what stands where nothing is said."""
    talk = dialect.conversation
    asked = frozenset(talk.enforce if talk else ())
    return asked, next((text for word, text in asked if word == "some-message"), None)


@mypyc_attr(native_class=False)
class ReadJob:
    """Reads one payload. `notes` collects (code, effect, at, rule, message)."""

    # What `reader` and `hands` do, for the pieces that work for them; each raises Misfit.
    shape: Callable[..., Any]  # read one node by the first case of a shape that fits
    first: Callable[[Iterable[tuple[Shape, Case]], Any, At, bool], Any]  # the same, of some cases
    as_home: Callable[[str, Any, At], Any]  # the same, as if it might be written again
    whole: Callable[[Shape, Any, At], Any]  # strictly, or else with what does not fit kept
    case: Callable[..., Env]  # match one picture; `outer` shares its base, `rel` is the place below
    hole: Callable[..., None]  # match a hole: absence by its mark, then lenses and shape backwards
    element: Callable[..., tuple[list[Any], Shape | None]]  # of a list; a run gives several parts
    message: Callable[[Any, At], tuple[Group, list[dict[str, Any]]]]  # of the wire
    writer: Callable[[], WriteJob]  # of this dialect at home, where words of no table have a form
    of: Callable[[Dialect], ReadJob]  # of another dialect, for the same payload

    def __init__(
        self,
        dialect: Dialect,
        options: dict[str, Any],
        probe: bool = False,
        recorder: Recorder | None = None,
    ) -> None:
        self.dialect, self.options = dialect, options
        self.probe = probe  # reads only to see what a written value means: no memory
        # Whether what is read may be written at home, where cases are taken that were read.
        self.home = not probe and not options.get("away")
        self.trail = Trail() if recorder is None else recorder.trail
        self.trail.source = dialect
        self.recorder = recorder
        self.notes: list[tuple[str, str, At, Any, str]] = []
        self._prober: WriteJob | None = None
        self.depth = 0
        self.run: Shape | None = None  # the gathering shape that the last item was read by
        self.drops: dict[str, str] = {}  # paths on the wire that the unit gives up, and why
        self.file: Any = None  # of a session: where its messages stand, and what is none

    def memory(self, made: dict[str, Any]) -> dict[str, Any]:
        """Return the memory of spelling of an IR object, made when it is not there."""
        memory: dict[str, Any] = made.setdefault("spelled", {}).setdefault(self.dialect.name, {})
        return memory

    def remember(self, made: dict[str, Any], place: str, word: str, value: Any) -> None:
        """Put one word into the memory of an IR object."""
        memory = self.memory(made)
        memory[place] = {**memory.get(place, {}), word: value}

    def hush(self, at: At, why: str, pos: Pos | None) -> None:
        """Tell a trace, if there is one, that what stands here says nothing more."""
        if self.recorder is not None:
            self.recorder.hush(at, why, pos)

    @property
    def prober(self) -> WriteJob:
        """A writer of this dialect at home, which tells by which case something is written."""
        if self._prober is None:
            self._prober = self.writer()
        return self._prober


@mypyc_attr(native_class=False)
class WriteJob:
    """Writes one IR value. `same` says that the IR was read from this very dialect."""

    # What `writer` and `hands` do, for the pieces that work for them; each raises Misfit.
    shape: Callable[[str, Any], Any]  # write a value by the first case that takes it and reads back
    one: Callable[[Shape, Any], Any]  # the same, by one shape
    choice: Callable[..., Case | None]  # the case that would write what was `read` by one
    case: Callable[[Shape, Case, Any], Any]
    picture: Callable[..., Any]  # write one picture; ABSENT where nothing is written
    remembered: Callable[[View, At, Any], Any]  # what stood here, or what is written now
    hole: Callable[[Hole, View, At, Any], Any]
    share: Callable[..., dict[int, list[Any]]]  # give each part of a list to the hole that takes it
    elements: Callable[[Hole, list[Any]], list[Any]]  # write what one hole takes
    give: Callable[..., list[tuple[Hole, Any, Any]]]  # one part; a lost one is noted
    afresh: Callable[..., WriteJob]  # that remembers nothing, and repairs nothing; abroad, or not
    reader: Callable[[], ReadJob]  # that only sees what a written value means
    of: Callable[[Dialect], WriteJob]  # of another dialect, for the same payload

    def __init__(
        self,
        dialect: Dialect,
        same_dialect: bool,
        trail: Trail,
        options: dict[str, Any],
        ladder: Ladder | None = None,
    ) -> None:
        self.dialect, self.same, self.trail = dialect, same_dialect, trail
        listener: Any = trail.recorder
        self.recorder: Recorder | None = listener
        self.options, self.ladder = options, ladder or {}
        self.resolver: Resolver | None = options.get("resolve")
        self.repair = bool(options.get("repair", not same_dialect))
        self.limits = Limits(dialect.limits if self.repair else {})
        self.asked, self.filler = _steps(dialect) if self.repair else _NOTHING
        self.notes: list[Draft] = []
        self.anew = False  # whether frames are written of what was no frame: nobody said them so
        self.made: set[int] = set()  # parts whose ids a hook has made
        self.beside: list[Any] = []  # parts that left what holds them
        self.labels: dict[int, tuple[Any, Any]] = {}  # texts that say whose they are, with rows
        self.written: dict[int, tuple[Any, Any]] = {}  # IR objects and what was made of them
        self.around: dict[int, tuple[Any, Any]] = {}  # parts of runs, and the elements around these
        self.instead: dict[int, tuple[Any, Any]] = {}  # parts, and those written instead of them
        self.stands: dict[int, tuple[Any, Any, Any]] = {}  # wires that stand as something else
        self.watch: dict[str, Draft] = {}  # notes of fields, whose places are not known yet
        self.watched: dict[int, dict[str, Draft]] = {}  # the same, of fields of parts
        self.respelt: set[tuple[str, str]] = set()  # texts that do not read back as they are
        self.pieces: dict[str, str] = {}  # tools, and the last pieces of names that a choice says
        self.lower: dict[int, tuple[Any, Any]] = {}  # results, and what the ladder made of them
        self.filled: dict[int, tuple[Any, list[str]]] = {}  # objects, and fields filled in for them
        self.missing: set[str] = set()  # fields that a picture wanted and did not get
        self.lefts: list[tuple[int, str]] = []  # fields of IR objects that found no place
        self.marking: dict[int, dict[str, bool]] = {}  # fields that get an element of their own
        self.shared: dict[int, set[str]] = {}  # fields of parts that stand beside their run
        # Ids that were made here: their forms, and the notes of them with their places.
        self.ids: dict[str, tuple[str, Draft, int]] = {}
        self.alike: dict[str, int] = {}  # how many were made of what the first was made of
        self.answers: set[int] = set()  # results that were made here
        self.gone: list[Any] = []  # parts and tools that found no place
        self.rows: dict[int, tuple[Any, str]] = {}  # what stepped down, and by which row
        self.fill: dict[str, Any] = {}  # what is filled in instead of what the picture says
        self.places: dict[int, int] = {}  # how much each hole of a list has taken so far
        self.calls: dict[str, str] = {}  # names of calls, by their ids
        # By tool: what was written for names of its properties.
        self.properties: dict[Any, dict[str, str]] = {}
        self.went: dict[str, dict[int, list[Any]]] = {}  # lists of a request, written beforehand
        self.spoken: dict[int, dict[str, Any]] = {}  # which message of a file a line was made of

    whole = False  # a request as a whole is written
    named = False  # and repair was asked for by name
    thinks = True  # the request does not switch thinking off
    alone = False  # one element is wanted: nothing may stand beside it
    walks = False  # no function writes: to make them takes longer than one value or two
    trusts = False  # nobody has touched the IR since it was read
    role: Any = None  # who speaks in the message that is written
    unsaid: frozenset[str] = frozenset()  # made ids that this dialect never saw
    outside: Collection[str] = ()  # fields of a request that its envelope has
    look: Look | None = None  # what the messages of a request are like, before all steps
    refused: Any = None  # what no function writes: it is walked
    nth = 0
    since = 0  # how many notes there were before the message that is written
    now = START  # the last time that was written

    @property
    def kin(self) -> bool:
        """Tell whether the IR was read of a dialect of this one's family."""
        source = self.trail.source
        return source is not None and source.family == self.dialect.family

    def request(self) -> None:
        """Write a request as a whole: what its messages ask of each other can be asked."""
        self.whole = True
        self.named = self.options.get("repair") is True

    def note(
        self,
        code: str,
        effect: Effect,
        source: At | None,
        rule: Any,
        message: str,
        owner: Any = None,
        place: Any = None,
        weight: Weight = "",
    ) -> None:
        """Draft a note."""
        self.notes.append(Draft(code, effect, source, rule, message, owner, place, weight))

    def first_of(self, tries: Iterable[Callable[[], Any]], none: str) -> Any:
        """Return what is written by the first try that does; raises the deepest Misfit."""
        found = Tries(self)
        for one in tries:
            with found:
                return one()
        raise found.best or Misfit(none)

    def went_down(self, row: Row, value: Any, field: str, owner: Any, place: Any = None) -> None:
        """Note that a value went down the ladder by a row, which is about a field of it."""
        at = self.trail.find(value, field or None) or self.trail.find(value)
        self.note(row.name, row.effect, at, row.pos, row.says(value), owner, place)

    def asks(self, step: str) -> frozenset[str]:
        """Return what a step that is asked for names: kinds of parts, or a text."""
        return frozenset(named for word, named in self.asked if word == step)

    def follows(self, owner: Any, key: str, rule: Pos | None) -> None:
        """Tell a trace, if there is one, that a field says nothing that others do not say."""
        at = self.trail.find(owner, key) if self.recorder is not None else None
        if self.recorder is not None and at is not None:
            self.recorder.hush(at, "it follows from another value", rule)

    def rule(self, step: str = "") -> Pos:
        """Return where messages are asked to go through a step, or are pictured at all."""
        talk = self.dialect.talk
        return talk.places.get(step, talk.pos)

    def told(self, code: str, effect: Effect, part: Any, told: str, rule: Pos | None) -> None:
        """Note what becomes of a part, from where it stood to where it will stand."""
        self.note(code, effect, self.trail.find(part), rule, told, None, part)

    def lost(
        self,
        code: str,
        part: Any,
        told: str,
        rule: Pos | None,
        path: str | None = None,
        weight: Weight = "",
    ) -> None:
        """Note that something that was said, or one field of it, is left out, at all its places."""
        for place in every(self.trail.find(part, path)):
            self.note(code, "lost", place, rule, told, weight=weight)

    def emptied(self, message: Any) -> None:
        """Note that a message is left out; of one that says nothing it is little loss."""
        weight: Weight = "" if message.get("parts") or message.get("kept") else "slight"
        self.lost("empty-message", message, LEFT_OUT, self.rule(), weight=weight)

    def by_case(self, case: Case, at: At | None, owner: Any, place: Any = None) -> None:
        """Note that something was written by a case that says so."""
        if case.note is not None:
            told = CODES.get(case.note) or f"written as `{case.name}`"
            self.note(case.note, "changed", at, case.pos, told, owner, place)

    def fills(self, owner: Any, path: str) -> None:
        """Remember that a field was filled in for an object."""
        self.filled.setdefault(id(owner), (owner, []))[1].append(path)

    def supplied(self, part: Any, path: str, pos: Any, told: str) -> None:
        """Note a field of a part that nobody said, at the place where it will stand."""
        self.note("filled-in", "added", None, pos, told, None, part)
        self.watched.setdefault(id(part), {})[path] = self.notes[-1]

    def waits(
        self, path: str, code: str, effect: Effect, source: At | None, rule: Pos, told: str
    ) -> None:
        """Note what becomes of a field of a request, at the place where it will stand."""
        self.note(code, effect, source, rule, told)
        self.watch[path] = self.notes[-1]

    def found(self, part: Any, path: str, into: Any) -> None:
        """Let the note of a field that was filled in point to where it stands."""
        if id(part) in self.watched and (draft := self.watched[id(part)].get(path)) is not None:
            draft.owner, draft.place = into

    def wire_of(self, part: Any) -> Any:
        """Return what was written of an IR object, or of the last that was instead of it."""
        found = None
        while part is not None:
            known = self.written.get(id(part))
            found = known[1] if known is not None and known[0] is part else found
            part = self.instead.get(id(part), (part, None))[1]
        return found

    def words_at(self, part: Any, into: Any) -> None:
        """Let notes about a part point to where its words stand.

        By the part, since many texts are one object: what says the same need not stand there.
        """
        self.written[id(part)] = (part, part)
        self.stands[id(part)] = (part, *into)

    def stood(self, path: str, into: tuple[Any, Any]) -> None:
        """Let the note that waits for a field, if one does, point to where that is written."""
        if (draft := self.watch.get(path)) is not None:
            draft.owner, draft.place = into

    def stood_within(
        self, wire: Any, claims: Collection[str], into: tuple[Any, Any] | None
    ) -> None:
        """Let notes that wait for fields point to what was written, or to the place of a word."""
        for path, draft in self.watch.items():
            if not any(one == path or one.startswith(f"{path}.") for one in claims):
                continue  # neither the field nor one within it
            if draft.owner is None and isinstance(wire, dict):
                # Among other keys the one that says it is the place.
                among = into is not None and into[1] is None and len(wire) == 1
                draft.owner, draft.place = wire, next(iter(wire)) if among else None
            elif draft.owner is None and into is not None:
                draft.owner, draft.place = into

    def merged(self, wire: Any, out: dict[str, Any], mark: int) -> None:
        """Let notes, those of the last picture among them, point to what holds its keys now."""
        self.stands[id(wire)] = (wire, out, None)
        for draft in (*self.notes[mark:], *self.watch.values()):
            if draft.owner is wire:
                draft.owner = out

    def settle(self) -> None:
        """Let notes about IR objects point to what was written of these.

        What is lost is not moved.
        """
        lost = {id(part) for part in self.gone}
        if lost:
            self.notes = [
                d
                for d in self.notes
                if d.effect != "moved" or d.owner is not None or id(d.place) not in lost
            ]
        for draft in self.notes:
            if draft.owner is not None or draft.place is None:
                continue
            wire = self.wire_of(draft.place)
            if wire is not None:
                draft.owner, draft.place = wire, None
                while id(draft.owner) in self.stands:  # a text may stand for what holds it, too
                    _, draft.owner, draft.place = self.stands[id(draft.owner)]

    def request_by(self, case: Case, ir: dict[str, Any]) -> Any:
        """Write a request that is ready, if that can be done at once; else ABSENT."""
        return ABSENT

    def message(self, case: Case, message: dict[str, Any]) -> dict[str, Any] | None:
        """Write a message of which no part is lost, if that can be done at once; else None."""
        return None

    def undo(self, notes: int, lefts: int, beside: int, gone: int) -> None:
        """Forget what was told since there was so much of each."""
        del self.notes[notes:], self.lefts[lefts:], self.beside[beside:], self.gone[gone:]


class Tries:
    """Tries of which one is to fit: what others told is forgotten, the deepest Misfit kept.

    tries = Tries(job)
    for one in ...:
        with tries:
            return ...  # raises Misfit where it does not fit
    raise tries.best or Misfit(...)
    """

    def __init__(self, job: ReadJob | WriteJob, best: Misfit | None = None) -> None:
        self.job, self.best, self.mark, self.left = job, best, 0, 0

    def __enter__(self) -> None:
        self.mark = len(self.job.notes)
        self.left = len(self.job.beside) if isinstance(self.job, WriteJob) else 0

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> bool:
        if not isinstance(error, Misfit):
            return False
        del self.job.notes[self.mark :]
        if isinstance(self.job, WriteJob):
            del self.job.beside[self.left :]
        self.best = deepest(self.best, error)
        return True
