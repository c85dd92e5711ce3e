"""What reading and writing keep while they go on, and what their pieces ask of them.

The pieces (`building`, `share` and the like) call each other through the reader or writer that they
work for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from ..language.lenses import Misfit, deepest
from ..language.model import Dialect, once
from ..language.picture import Hole
from ..language.shape import Case, Shape
from ..language.talk import Group
from ..native import mypyc_attr
from ..notes import Draft
from ..trail import At, Trail
from .env import Env
from .limits import Limits
from .noting import Noting
from .views import Gathered, Survey, View

if TYPE_CHECKING:
    from ..language.ladder import Ladder
    from ..language.source import Pos
    from .recorder import Recorder
    from .resolver import Resolver

Message = dict[str, Any]  # of the IR, as what follows
Part = dict[str, Any]
START = "1970-01-01T00:00:00.000Z"


_NO_STEPS: tuple[frozenset[tuple[str, str]], str | None] = (frozenset(), None)


@once
def _steps(dialect: Dialect) -> tuple[frozenset[tuple[str, str]], str | None]:
    """Return the steps that a dialect enforces on messages, and what it says for no message."""
    talk = dialect.conversation
    steps = frozenset(talk.enforce if talk else ())
    return steps, next((text for word, text in steps if word == "some-message"), None)


@mypyc_attr(native_class=False)
class ReadJob:
    """Reads one payload of one dialect: what its pieces share while they do.

    `notes` collects (code, effect, place, rule, reason). A place (`at`) is a path of keys in the
    payload, `rel` one below the object that is read.
    """

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
        self.beside: list[Any] = []  # as a writer has it: what is read leaves nothing there
        self._prober: WriteJob | None = None
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

    def mark_redundant(self, at: At, why: str, pos: Pos | None) -> None:
        """Tell a trace, if there is one, that a place says nothing that the rest does not say."""
        if self.recorder is not None:
            self.recorder.mark_redundant(at, why, pos)

    @property
    def prober(self) -> WriteJob:
        """A writer of this dialect at home, which tells by which case something is written."""
        if self._prober is None:
            self._prober = self.writer()
        return self._prober


@mypyc_attr(native_class=False)
class WriteJob(Noting):
    """Writes one IR value: what its pieces share while they do.

    `same` says that the IR was read from this very dialect, so that it is written at home: what it
    remembers counts. `into` of a method is the owner and the key of what it writes.
    """

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
    # What can be written at once, by one function: else ABSENT, or None.
    quick_request: Callable[[Case, dict[str, Any]], Any]
    quick_message: Callable[[Case, Message], dict[str, Any] | None]
    quick_run: Callable[[Gathered, Message], Any]  # the element around a run
    # The same of some fields of an object, with what it took; None where nothing of it fits.
    quick_fields: Callable[[Hole, dict[str, Any], Any], Any]

    def __init__(
        self,
        dialect: Dialect,
        same_dialect: bool,
        trail: Trail,
        options: dict[str, Any],
        ladder: Ladder | None = None,
    ) -> None:
        super().__init__(dialect, trail)
        self.same = same_dialect
        self.options, self.ladder = options, ladder or {}
        self.resolver: Resolver | None = options.get("resolve")
        self.repair = bool(options.get("repair", not same_dialect))
        self.limits = Limits(dialect.limits if self.repair else {})
        # Steps of `enforce` as (word, argument), and the text of `some-message` if it is one.
        self.enforced, self.filler = _steps(dialect) if self.repair else _NO_STEPS

        # What found no place in what is tried now; `roll_back` forgets it.
        self.lost_fields: list[tuple[int, str]] = []  # id of an IR object, and a field of it
        self.beside: list[Any] = []  # parts that left what holds them, to stand beside it
        self.missing: set[str] = set()  # fields that a picture required and did not get

        # What is made here, which nobody said.
        self.made: set[int] = set()  # ids of parts whose call ids a hook has made
        self.made_ids: dict[str, tuple[str, Draft, int]] = {}  # form, note and place of the note
        self.made_counts: dict[str, int] = {}  # how many ids came of one seed, by the first of them
        self.made_results: set[int] = set()  # ids of results that answer calls nobody answered
        self.filled_fields: dict[int, tuple[Any, list[str]]] = {}  # by id of an object: it, paths
        self.fill_values: dict[str, Any] = {}  # by path: what is filled in, not what the mark says

        # What is written in other words than the IR says, so that it need not read back the same.
        self.rewordings: set[tuple[str, str]] = set()  # texts: as meant, as read back
        self.stepped_down: dict[int, tuple[Any, Any]] = {}  # by id of a part: it, and the next
        self.rows: dict[int, tuple[Any, str]] = {}  # by id of a part: it, and the ladder's row
        self.became: dict[int, Any] = {}  # by id: parts that were of another kind before such a row
        self.call_names: dict[str, str] = {}  # by id of a call: the name of its tool
        self.short_names: dict[str, str] = {}  # by tool: the last piece, where a choice says it
        self.property_names: dict[Any, dict[str, str]] = {}  # by tool: what properties are called

        # What pieces tell each other about lists and the elements around their parts.
        self.labels: dict[int, tuple[Any, Any]] = {}  # texts that say whose media follow, with rows
        self.mark_fields: dict[int, dict[str, bool]] = {}  # fields that may be elements: if needed
        self.claimed_outside: dict[int, set[str]] = {}  # fields that the element around a part says
        self.hole_counts: dict[int, int] = {}  # by id of a hole of a list: how many parts it took
        self.request_lists: dict[str, dict[int, list[Any]]] = {}  # shared out before the request

    whole = False  # a request as a whole is written
    repair_asked = False  # repair was asked for by name: `repair=True`
    thinks = True  # the request does not switch thinking off
    lone_element = False  # one element is wanted: nothing may stand beside it
    walks = False  # no function writes: to make them takes longer than one value or two
    unedited = False  # nobody has touched the IR since it was read
    anew = False  # frames are written of what was no frame: at home, too, nobody said them so
    role: Any = None  # who speaks in the message that is written
    unseen_ids: frozenset[str] = frozenset()  # made ids that this dialect never saw
    envelope_fields: Collection[str] = ()  # fields of a request that its envelope has
    survey: Survey | None = None  # what the messages of a request are like, before all steps
    refused: Any = None  # what no function writes: it is walked
    nth = 0  # the place of the element that is written in its list
    run_wires: Any = ()  # what stands in the run that a function writes around
    names_stored = False  # a request at home, of which its API keeps what was said before
    message_mark = 0  # how many notes there were before the message that is written
    last_time = START  # the last time that was written

    @property
    def same_family(self) -> bool:
        """Whether the IR was read from a dialect of this one's family."""
        source = self.trail.source
        return source is not None and source.family == self.dialect.family

    def request(self) -> None:
        """Write a request as a whole: what its messages ask of each other can be asked."""
        self.whole = True
        self.repair_asked = self.options.get("repair") is True

    def first_of(self, tries: Iterable[Callable[[], Any]], none: str) -> Any:
        """Return what is written by the first try that does; raises the deepest Misfit."""
        attempts = Tries(self)
        for write in tries:
            with attempts:
                return write()
        raise attempts.best or Misfit(none)

    def enforced_args(self, step: str) -> frozenset[str]:
        """Return what an enforced step names, kinds of parts or a text; nothing if it is not."""
        return frozenset(argument for word, argument in self.enforced if word == step)

    def mark_filled(self, owner: Any, path: str) -> None:
        """Remember that a field was filled in for an object."""
        self.filled_fields.setdefault(id(owner), (owner, []))[1].append(path)

    def marks(self) -> tuple[int, int, int, int]:
        """Return how much was noted, lost and displaced so far, as `roll_back` takes it."""
        return len(self.notes), len(self.lost_fields), len(self.beside), len(self.lost_parts)

    def roll_back(self, notes: int, lost_fields: int, beside: int, lost_parts: int) -> None:
        """Forget what was noted, lost and displaced since these lists had so many elements."""
        del self.notes[notes:], self.lost_fields[lost_fields:]
        del self.beside[beside:], self.lost_parts[lost_parts:]


class Tries:
    """Attempts of which one is to fit: a Misfit ends one, and forgets what it noted.

    `best` is the deepest of these, which says most.

    tries = Tries(job)
    for one in ...:
        with tries:
            return ...  # raises Misfit where it does not fit
    raise tries.best or Misfit(...)
    """

    # A reader or a writer; in C of mypyc no class of such is told by what is derived from it.
    def __init__(self, job: Any, best: Misfit | None = None) -> None:
        self.job, self.best, self.mark, self.left = job, best, 0, 0

    def __enter__(self) -> None:
        self.mark, self.left = len(self.job.notes), len(self.job.beside)

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> bool:
        if not isinstance(error, Misfit):
            return False
        del self.job.notes[self.mark :], self.job.beside[self.left :]
        self.best = deepest(self.best, error)
        return True
