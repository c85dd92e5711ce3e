"""Streams: translators from one dialect to another, and what is made of one stream."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from ..conversion import reading, writing
from ..conversion.hands import Writer
from ..conversion.reading import Read
from ..errors import UNFORESEEN, ConversionError, UsageError, WireglotError, mistyped, unforeseen
from ..ir import IR
from ..language.held import Held, HeldSet
from ..notes import Draft, Note
from ..payload import check_call, check_frames, known_options
from ..policy import Policy, of
from ..results import Conversion, all_notes, concluded, finished, read_notes
from ..trail import Trail, pointer
from . import framing
from .fold import Fold
from .hearing import Listener
from .recognising import model_in
from .runs import Runs
from .unfold import Unfold
from .within import Within

Pair = tuple[Held, Held]
T = TypeVar("T")


class Translator:
    """One stream on its way from a source to a target; `rules.translator(...)` makes it.

    `feed` takes a frame (parsed data, or a text as the end marker) and returns the frames that it
    gives rise to; `finish` returns the rest. `result` is then the whole response in the target.
    """

    _runs: Runs | None = None  # there since the stream began
    _eager = False  # whether `finish` makes the result, asked for or not, before it tells the end

    def __init__(
        self,
        source: Held,
        target: Held,
        options: dict[str, Any],
        policy: Policy,
        keep: bool = True,
        rules_hash: str = "",
        choose: Callable[[str], Pair] | None = None,
    ) -> None:
        """Begin; `choose` gives the rules for a model, where only the first frame names it."""
        self._options, self._policy, self._hash = options, policy, rules_hash
        self._keeps_result = keep
        # The result is made when asked for.
        self._result_on_demand = keep and policy.lenient and not self._eager
        self._choose = choose
        self._done = self._end_written = False
        self._result: Conversion | None = None
        self._source, self._target = source, target
        self._home = source.name == target.name

    def _begin(self, frame: Any) -> Runs:
        """Begin with the first frame, by the rules for the model that it names."""
        if self._choose is not None and (name := model_in(self._source.model, frame)) is not None:
            self._source, self._target = self._choose(name)
        source, target = self._source, self._target
        self._unfold: Unfold | None = None
        if not self._home:
            trail = Trail()
            trail.source = source.model
            writer = Writer(target.model, False, trail, self._options, target.ladder)
            self._unfold = Unfold(writer)
            self._unfold.frames_only = not self._keeps_result
        told: Listener | None = self._unfold
        if self._unfold is not None and source.model.within:
            told = Within(self._unfold, source.model, self._options)
        self._fold = Fold(source.model, told, self._keeps_result)
        self._runs = Runs(self._fold, self._unfold)
        return self._runs

    def feed(self, frame: Any) -> list[Any]:
        """Take the next frame; return those that it gives rise to. Raises ConversionError."""
        runs = self._runs
        if runs is not None and runs.take is not None:
            made = runs.take(frame)
            if made is None:
                made = runs.take_by_other(frame)
            if made is not None:
                return made
        if self._done:
            raise UsageError("the stream is finished; make another translator for another one")
        return self._safely(self._hear, frame)

    def _safely(self, work: Callable[..., T], *given: Any) -> T:
        """Do something that cannot begin again where the stack ends, or a rule file is wrong."""
        try:
            return work(*given)
        except RecursionError:
            raise ConversionError("the frame is nested too deep") from None
        except UNFORESEEN as error:
            unforeseen(error, self._source.model.pos, self._options)

    def _hear(self, frame: Any) -> list[Any]:
        runs = self._runs or self._begin(frame)
        fold, unfold = self._fold, self._unfold
        try:
            fold.feed(frame)
        except BaseException:
            runs.close()
            raise
        runs.learn(frame)
        if unfold is None:
            return [frame]
        if fold.ended and not self._end_written and not self._eager:
            self._end_written = True
            fold.close()
            fold.listener.end(fold.outcome, False)
        return unfold.frames.take()

    def finish(self) -> list[Any]:
        """Return the frames that are left; nothing more comes. Raises PolicyError."""
        if self._done:
            return []
        self._done = True
        return self._safely(self._finish)

    def _finish(self) -> list[Any]:
        (self._runs or self._begin(None)).close()  # where no frame came it begins here
        fold = self._fold
        fold.close()
        frames: list[Any] = []
        cut = fold.cut
        if self._unfold is not None:
            if not self._end_written:
                fold.listener.end(fold.outcome, cut)
            frames = self._unfold.frames.take()
        unsaid = not fold.ended and fold.stream.get("end") is not None
        told = "the stream ends before " + ("its end is said" if unsaid else "it says why")
        if fold.error is not None:
            unsaid, told = False, "an error ends the answer before it says why"
        begun = fold.error is None or any(owner.kinds for owner in fold.outcome.candidates)
        if unsaid or (begun and not fold.finished):
            fold.note("cut-short", "kept", (fold.frames,), told)
        if not self._keeps_result:
            fold.note_unreadable()
        elif not self._result_on_demand:
            self._result = self._conclude()
        return frames

    def as_bytes(self) -> Bytes:
        """Return this translator with bytes in and bytes out."""
        return Bytes(self)

    @property
    def result(self) -> Conversion:
        """The whole response in the target, as far as it came."""
        if self._result is None:
            if not self._keeps_result:
                raise UsageError("this translator was told to keep nothing")
            if not (self._done and self._result_on_demand):
                raise UsageError("the result is there when the stream is finished")
            self._result = self._safely(self._conclude)
        return self._result

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was not carried exactly, as far as it is known."""
        if self._result is not None or (self._done and self._result_on_demand):
            return self.result.notes
        if self._runs is None:
            return ()
        notes = read_notes(self._fold.notes, self._home)
        if self._unfold is not None:
            drafts = [*self._unfold.notes, *self._unfold.writer.notes]
            notes += _unrepeated(finished(drafts, None))
        return tuple(notes)

    @property
    def cut(self) -> bool:
        """Whether the stream broke off, if nothing more comes: it said neither its end nor why."""
        return self._runs is None or self._fold.cut

    @property
    def error(self) -> IR | None:
        """The error that came within the stream, as the IR has it."""
        return None if self._runs is None else self._fold.error

    def _conclude(self) -> Conversion:
        fold = self._fold
        whole = Collected(self._source, fold, self._options)
        body = whole.body
        fold.note_unreadable()
        # Abroad what no frame had is left out again before the target is written.
        told = [one for one in whole.drafts if one.effect == "lost" or self._home]
        notes = read_notes(fold.notes, self._home) + finished(told, body)
        if self._unfold is not None:
            read = whole.read()
            read.trail.seed = fold.outcome.seed
            reading.split_answer_texts(self._source, read, self._options)
            body, drafts = self._write_whole(read)
            last = all_notes(read.notes, drafts, body, False)
            last = [note for note in last if not self._is_of_error(note)]
            said = {(note.code, note.message) for note in last}  # of the frames, too
            first = finished(self._unfold.notes, None)
            notes += [note for note in first if (note.code, note.message) not in said] + last
        pair = (self._source.name, self._target.name)
        return concluded(body, notes, None, self._policy, *pair, self._hash)

    def _is_of_error(self, note: Note) -> bool:
        """Tell whether a note is of the error of a whole response, which frames have said."""
        at, places = note.source_path, self._fold.error_places
        return bool(at) and any(f"{pointer(place)}/".startswith(f"{at}/") for place in places)

    def _write_whole(self, read: Read) -> tuple[Any, list[Draft]]:
        """Write the whole response, with the names and ids that went out already."""
        assert self._unfold is not None
        sent = self._unfold.writer.limits.renamed()

        def prepare(writer: Writer) -> None:
            for (kind, name), written in sent.items():
                writer.limits.remember(kind, name, written)

        given = (self._target, read, "response", False, self._options)
        out, writer, _ = writing.write(*given, prepare)
        return out, writer.notes


class Bytes:
    """A translator of bytes: `feed(bytes)` and `finish()` return bytes.

    Within one dialect the bytes come out as they went in.
    """

    def __init__(self, translator: Translator) -> None:
        self._translator, self._target = translator, translator._target.model.streamed
        self._splitter = framing.Splitter(translator._source.model.streamed)
        # What the frames gave rise to that came with one that cannot be read.
        self.unsaid: bytes = b""

    def feed(self, data: bytes | bytearray | memoryview) -> bytes:
        """Take the next bytes; return those that they give rise to. Raises ConversionError."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise mistyped("a stream of bytes takes bytes", data)
        data = bytes(data)  # a caller may fill its buffer anew, of which some is held here
        return self._through(self._splitter.feed(data), data)

    def finish(self) -> bytes:
        """Return the bytes that are left; nothing more comes. Raises PolicyError."""
        return self.rest() + framing.written(self._translator.finish(), self._target)

    def rest(self) -> bytes:
        """Take the last frame, if nothing closed it; no bytes follow. Raises ConversionError."""
        return self._through(self._splitter.finish(), b"")

    def _through(self, frames: Iterable[Any], data: bytes) -> bytes:
        made: list[Any] = []
        try:
            for frame in frames:
                made += self._translator.feed(frame)
        except WireglotError:
            self.unsaid = framing.written(made, self._target)
            raise
        return data if self._translator._home else framing.written(made, self._target)

    @property
    def result(self) -> Conversion:
        """The whole response in the target, as far as it came."""
        return self._translator.result

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was not carried exactly, as far as it is known."""
        return self._translator.notes

    @property
    def count(self) -> int:
        """How many frames came so far."""
        return self._splitter.count


def translate(made: Translator, frames: Iterable[Any]) -> Iterator[Any]:
    """Yield what a translator makes of frames."""
    check_frames(frames)
    for frame in frames:
        yield from made.feed(frame)
    yield from made.finish()


async def atranslate(made: Translator, frames: AsyncIterable[Any]) -> AsyncIterator[Any]:
    """Yield what a translator makes of frames that come asynchronously."""
    check_frames(frames, AsyncIterable)
    async for frame in frames:
        for new in made.feed(frame):
            yield new
    for new in made.finish():
        yield new


def _unrepeated(notes: Iterable[Note]) -> list[Note]:
    """Return notes without those that say the same of another frame."""
    seen: dict[Any, Note] = {}
    for note in notes:
        seen.setdefault((note.code, note.rule, note.message), note)
    return list(seen.values())


def give_sent_ids(ir: IR, fold: Fold) -> dict[int, str]:
    """Let calls and results have the ids with which they went out.

    Returns those that the source gave to calls.
    """
    was: dict[int, str] = {}
    owners = zip(ir.get("candidates", ()), fold.outcome.candidates, strict=False)
    for (candidate, owner), kind in itertools.product(owners, ("tool_call", "tool_result")):
        calls = [p for p in candidate.get("parts", ()) if p.get("type") == kind]
        known = [p for p in owner.parts if p.kind == kind]
        if len(calls) == len(known):
            for call, part in zip(calls, known, strict=True):
                if part.id_field in part.fields:
                    call[part.id_field] = part.fields[part.id_field]
                if part.id_field in part.originals:
                    was[id(call)] = part.originals[part.id_field]
    return was


class Collected:
    """The response that a stream makes in its own dialect: its `body`.

    `drafts` note what it cannot hold, and what the dialect wants and no frame had.
    """

    def __init__(self, rules: Held, fold: Fold, options: dict[str, Any]) -> None:
        self._rules, self._fold, self._options = rules, fold, options
        draft = reading.unread(fold.outcome.draft(trail := Trail()), trail)
        self._write(draft)
        if fold.error is not None and fold.outcome.end_by_error(draft.ir):
            if any(one.get("stop_reason") for one in self._read().ir["candidates"]):
                self._write(draft)  # it must say one

    def _write(self, draft: Read) -> None:
        self.body, writer, _ = writing.write(self._rules, draft, "response", True, self._options)
        self.drafts = [draft for draft in writer.notes if draft.effect in ("lost", "added")]
        self._filled = writer.filled_fields

    def _read(self) -> Read:
        return reading.read(self._rules, self.body, "response", None, None, self._options)

    def read(self) -> Read:
        """Read it as it was told: with the ids that went out, without what no frame had."""
        read, fold = self._read(), self._fold
        read.trail.was.update(give_sent_ids(read.ir, fold))
        known = self._filled.values()
        filled = {path for owner, paths in known if "candidates" in owner for path in paths}
        for path in filled - {"candidates"}:
            read.ir.pop(path, None)
        if fold.error is not None:
            fold.outcome.end_by_error(read.ir)
        return read


def translator(
    rules: HeldSet,
    source: str,
    target: str,
    model: str | None = None,
    options: Mapping[str, Any] | None = None,
    policy: Mapping[str, str] | Policy | None = None,
    result: bool = True,
) -> Translator:
    """Make a translator; `RuleSet.translator` says more."""
    check_call(model, None, source=source, target=target)
    known = known_options(options)

    def choose(name: str | None) -> Pair:
        return rules.at(source, name, known), rules.at(target, name, known)

    pair, later = choose(model), choose if model is None else None
    for one in pair:
        _ = one.model.streamed  # which raises UsageError where there is no stream
    return Translator(*pair, known, of(policy), result, rules.hash, later)
