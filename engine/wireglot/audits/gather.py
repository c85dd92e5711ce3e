"""Gathering what conversions of many payloads say, by wire path."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..conversion import reading, writing
from ..conversion.reading import Read
from ..errors import ConversionError
from ..language import variants
from ..language.variants import Rows
from ..loaded import Loaded
from ..notes import Note, Severity
from ..results import all_notes
from ..trace.paths import Patterns
from ..traces import Trace
from .provoke import ANY_MODEL, Probe

Effect = Literal[
    "refused", "lost", "changed", "moved", "added", "kept", "repeated", "carried", "decided",
    "silent",
]  # fmt: skip
EFFECTS: tuple[Effect, ...] = get_args(Effect)  # the gravest first
Key = tuple[Effect, "str | None", "str | None"]  # effect, code, wire path
SHOWN = 40  # characters of a value within a reason


@dataclass(frozen=True, slots=True)
class Line:
    """What becomes of one field, or what is filled in.

    `source` is a wire path such as `messages[].content`, where `[]` is any element and `(other)` a
    key that no picture names; None where nothing of the source is meant.
    `targets` are the paths where it goes. `code` is that of the note; where there is no note and
    the effect is `silent`, it says why. `reasons` are the sentences of the notes, `rules` the
    places that decide it, and `source_rule` pictures the field. `models` are those for which alone
    the line holds, if not for all. `example` is what shows it: `body`, `model` and `stream`.
    """

    effect: Effect
    code: str | None
    severity: Severity | None
    source: str | None
    targets: tuple[str, ...]
    reasons: tuple[str, ...]
    source_rule: str | None
    rules: tuple[str, ...]
    models: tuple[str, ...] = ()
    example: Any = None

    def as_json(self) -> dict[str, Any]:
        """Return the line as plain JSON, the example only where there is one."""
        made = {name: getattr(self, name) for name in self.__slots__}
        made = {k: list(v) if isinstance(v, tuple) else v for k, v in made.items()}
        if made["example"] is None:
            del made["example"]
        return made


@dataclass(slots=True)
class _Gathered:
    """What is gathered for one line."""

    example: Probe
    severity: Severity | None = None
    targets: dict[str, None] = dataclasses.field(default_factory=dict)
    reasons: dict[str, None] = dataclasses.field(default_factory=dict)
    rules: dict[str, None] = dataclasses.field(default_factory=dict)
    models: dict[str, None] = dataclasses.field(default_factory=dict)


class Gatherer:
    """Converts payloads between two dialects and gathers the lines of an audit."""

    def __init__(
        self, rules: Loaded, source: str, target: str, unit: str, options: dict[str, Any]
    ) -> None:
        self.rules, self.source, self.target, self.unit = rules, source, target, unit
        self.options = options
        self.tried: list[str] = []
        self.found: dict[Key, _Gathered] = {}
        self.written: dict[tuple[int, Rows], tuple[Read, list[Note]]] = {}
        self.here = Patterns(rules[source].model, unit)
        self.there = Patterns(rules[target].model, unit)

    def models(self) -> list[str]:
        """Return a model of each kind that the rules tell apart, the usual first."""
        both = [self.rules.rows(name) for name in (self.source, self.target)]
        found: dict[tuple[Rows, Rows], str] = {}
        for name in (ANY_MODEL, *variants.sample_models(*both)):
            found.setdefault(self._rows(name), name)
        return list(found.values())

    def _rows(self, model: str) -> tuple[Rows, Rows]:
        one, two = (
            variants.applying_rows(self.rules.rows(name), name, model, self.options)
            for name in (self.source, self.target)
        )
        return one, two

    def noted(self, made: Iterable[Probe], models: list[str]) -> Gatherer:
        """Gather what is noted of each payload, for each of some models."""
        self.tried = models
        for model in models:
            rows = self._rows(model)
            for probe in made:
                try:
                    notes = self._notes(probe, rows)
                except ConversionError as error:
                    self._refused(error, probe, model)
                    continue
                for note in notes:
                    self._note(note, probe, model)
        return self

    def _notes(self, probe: Probe, rows: tuple[Rows, Rows]) -> list[Note]:
        """Convert; a payload is read once for all targets, and for all models of the same rows.

        What is read alike is written once, where the target is the same: notes name no model.
        """
        same = self.source == self.target
        ends = zip((self.source, self.target), rows, strict=True)
        one, two = (self.rules.with_rows(name, row) for name, row in ends)
        key = (rows[0], str(self.options))
        read = probe.reads.get(key)
        if read is None:
            read = reading.read(one, probe.body, self.unit, ANY_MODEL, probe.stream, self.options)
            probe.reads[key] = read
        before = self.written.get((id(probe), rows[1]))
        if before is not None and _alike(before[0], read):
            return before[1]
        odd = [copy.copy(draft) for draft in read.odd]
        once = read._replace(trail=read.trail.fork(), made=set(read.made), odd=odd, survey=None)
        body, drafts, _ = writing.write(two, once, self.unit, same, self.options)
        notes = all_notes(read.notes, drafts, body, same)
        self.written[id(probe), rows[1]] = (read, notes)
        return notes

    def _refused(self, error: ConversionError, probe: Probe, model: str) -> None:
        path = self.here.pattern(error.path) if error.path else None
        found = self._at(("refused", "refused", path), error.rule, probe, model)
        found.severity = "error"
        found.reasons[_short(error.reason)] = None

    def _note(self, note: Note, probe: Probe, model: str) -> None:
        key: Key = (note.effect, note.code, self.here.of(note))
        found = self._at(key, note.rule, probe, model)
        found.severity = note.severity
        found.reasons[_short(note.message)] = None
        if note.target_path is not None:
            found.targets[self.there.pattern(note.target_path)] = None

    def traced(self, made: Iterable[Probe]) -> Gatherer:
        """Gather what becomes of each place that the payloads show and nothing is noted of."""
        usual = self.tried[:1]
        fresh = (probe for probe in made if probe.fresh)
        for probe, model in ((p, m) for p in fresh for m in (self.tried if p.varied else usual)):
            try:
                done = self.rules.convert(
                    probe.body, self.source, self.target, self.unit, model, probe.stream,
                    self.options, trace=True,
                )  # fmt: skip
            except ConversionError:
                continue
            assert done.trace is not None
            self._fates(done.trace, probe, model)
        return self

    def _fates(self, trace: Trace, probe: Probe, model: str) -> None:
        for at, fate in trace.fates.items():
            if fate.kind not in ("carried", "decided", "silent"):
                continue
            to = next((trace.origins[to] for to in fate.targets if to in trace.origins), None)
            code = fate.code if fate.kind == "silent" else None
            key: Key = (fate.kind, code, self.here.pattern(at))
            found = self._at(key, to.rule if to is not None else fate.rule, probe, model)
            found.targets.update((self.there.pattern(place), None) for place in fate.targets)

    def _at(self, key: Key, rule: str | None, probe: Probe, model: str) -> _Gathered:
        found = self.found.get(key)
        if found is None:
            found = self.found[key] = _Gathered(probe)
        found.models[model] = None
        if rule is not None:
            found.rules[rule] = None
        return found

    def lines(self) -> Iterator[Line]:
        """Yield what was gathered."""
        for (effect, code, path), found in self.found.items():
            models = tuple(found.models)
            probe = found.example
            all_tried = found.severity is not None or probe.varied
            only = models if all_tried and len(models) < len(self.tried) else ()
            said = (tuple(found.targets), tuple(found.reasons))
            rules = (None if path is None else self.here.rule(path), tuple(found.rules))
            example = {"body": probe.body, "model": models[0], "stream": probe.stream}
            yield Line(effect, code, found.severity, path, *said, *rules, only, example)


def _alike(one: Read, two: Read) -> bool:
    """Tell whether two models read the same, but for their own names."""
    return one.notes == two.notes and {**one.ir, "model": None} == {**two.ir, "model": None}


def _short(text: str) -> str:
    """Cut the values that a reason quotes."""
    return re.sub(f"`([^`]{{{SHOWN}}})[^`]+`", r"`\1...`", text)
