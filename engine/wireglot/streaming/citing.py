"""Citations of a stream: said of each text at its end, or of a whole answer with its finish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..conversion.hands import Writer
from ..interpreter import citations, reciting
from ..ir import IR
from ..language import picture as pic
from ..trail import At
from .incoming import Candidate, Part
from .outcome import Outcome
from .outgoing import Frames, Place

TOO_LATE = "this text was over when it was said what it cites; the whole response has that"
ADRIFT = "of texts that are over nothing is kept, so what they cite has no place"


class EndedText(NamedTuple):
    """A text that is over: its numbers on both sides, its characters and bytes."""

    number: int
    nth: int
    size: tuple[int, int]
    ir: IR | None  # the text itself, if it is cited


class Citing:
    """What the texts of a stream cite, on its way out."""

    def __init__(
        self, writer: Writer, slots: Mapping[str, int], kinds: Mapping[int, Sequence[str]]
    ) -> None:
        """Begin; `kinds` are those of the parts that are written, by candidate."""
        self._writer, self._same, self._slots, self._kinds = writer, writer.same, slots, kinds
        self._form = citations.form_of(writer.dialect, "candidate")
        self._texts: dict[int, list[EndedText]] = {}  # by candidate, where all are cited at once
        # Texts that are over, and how often they were cited by then.
        self._said: list[tuple[Part, int]] = []
        self.texts_differ = False  # whether texts are parted here where the source has one

    def with_citations(self, part: Part, ir: IR) -> IR:
        """Return a text that is over with its citations as the dialect says them of it."""
        if part.cited is not None and "citations" not in ir:
            ir = {**ir, "citations": part.cited}
        if ir.get("type") != "text" or self._form is None:
            return ir
        if not self._form.whole:
            self._said.append((part, len(part.cited or ())))
        if "citations" not in ir:
            return ir
        if not self._form.whole:
            return reciting.fit_places(self._writer, ir, self._form)
        return {key: value for key, value in ir.items() if key != "citations"}

    def keep_text(self, part: Part, number: int, ir: IR) -> None:
        """Keep what citations need of a text that is over, where they are said of all texts."""
        if self._form is None or not self._form.whole or ir.get("type") != "text":
            return
        said = str(ir.get("text", ""))
        if part.cited is not None:
            ir = {**ir, "citations": part.cited}
        size = len(said), len(said.encode(errors="surrogatepass"))
        text = EndedText(number, part.nth, size, ir if ir.get("citations") else None)
        self._texts.setdefault(part.candidate, []).append(text)

    def late_notes(self, outcome: Outcome) -> Iterator[tuple[At, str]]:
        """Yield what to note of citations that came when the frames for them were written."""
        for part, said in self._said:
            if len(part.cited or ()) > said:
                yield part.at, TOO_LATE
        for nth, texts in self._texts.items() if self.texts_differ else ():
            bare = {text.nth for text in texts if text.ir is None}
            for part in outcome.candidates[nth].parts:
                if part.cited and part.nth in bare:
                    yield part.at, TOO_LATE
        alike = citations.form_of(outcome.dialect, "candidate") == self._form
        if any(owner.citations_lost for owner in outcome.candidates) and not alike:
            yield (), ADRIFT

    def write(self, frames: Frames, outcome: Outcome, owner: Candidate, nth: int) -> None:
        """Write the citations of all texts, where a frame of their own says them."""
        event = self._writer.dialect.streamed.get("append", "candidate", "citations")
        if event is None or self._form is None or not self._form.whole:
            return
        made = self.citations_of(outcome, owner, nth).get("citations", [])
        if not made:
            return
        holes = [h for p in event.writes for h in pic.holes(p) if h.path == "piece"]
        probe = self._writer.afresh()
        made = [one for one in made if self._same or probe.give(holes, one)]
        alone = any(hole.mode != "each" for hole in holes)  # each in a frame of its own
        for entry, piece in enumerate(made if alone else [made] if made else ()):
            place = Place(nth)
            place.entry = entry
            frames.write(event, {"piece": piece}, place)

    def citations_of(self, outcome: Outcome, owner: Candidate, nth: int) -> IR:
        """Return the citations of all texts of an answer, and their sources, as the wire has them.

        Neighbours are one text where nothing in a frame says which is meant.
        """
        form = self._form
        if form is None or not form.whole:
            return {}
        if self._same and (one := outcome.original(owner)) is not None:
            made = reciting.recite(self._writer, one)
            return {key: made[key] for key in ("citations", "sources") if key in made}
        if outcome.dialect.family == self._writer.dialect.family and not self.texts_differ:
            said = {**owner.own, **owner.flows}
            if citations.form_of(outcome.dialect, "candidate") == form:  # it means the same here
                return {key: said[key] for key in ("citations", "sources") if key in said}
        built = reciting.Recited(self._writer, form)
        known = () if self.texts_differ else owner.parts
        late = {part.nth: part for part in known if part.cited is not None}
        before, last = (0, 0), -1
        numbers = [*self._wire_numbers(self._kinds.get(nth, ()))]
        for text in self._texts.get(nth, ()):
            number = numbers[min(text.number, len(numbers) - 1)] if numbers else 0
            if form.parts and number != last:
                before = (0, 0)
            ir, part = text.ir, late.get(text.nth)
            if part is not None:  # more may be cited than when it was over
                ir = {**part.ir(), "citations": part.cited}
            built.take(ir or {}, number, before)
            before, last = (before[0] + text.size[0], before[1] + text.size[1]), number
        return built.said(owner.uncited_sources)

    def _wire_numbers(self, kinds: Sequence[str]) -> Iterator[int]:
        """Yield the number that each part has on the wire: neighbours are one, in their list."""
        number, before = -1, ""
        for kind in kinds:
            if self._slots.get(kind, 0) == self._slots.get("text", 0):
                number += kind != before or kind not in ("text", "reasoning")
                before = kind
            yield max(0, number)
