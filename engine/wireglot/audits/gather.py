"""Gathering what conversions of many payloads say, by wire path."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..errors import ConversionError
from ..language import variants
from ..language.variants import Rows
from ..loaded import Loaded
from ..notes import Note, Severity
from ..results import Conversion
from ..trace.paths import Patterns
from ..traces import Trace
from .provoke import ANY_MODEL, Probe

Effect = Literal[
    "refused", "lost", "changed", "moved", "added", "kept", "repeated", "carried", "decided",
    "silent",
]  # fmt: skip
EFFECTS: tuple[Effect, ...] = get_args(Effect)  # the gravest first
Key = tuple[Effect, "str | None", "str | None"]  # effect, code, wire path
QUOTED = 40  # characters of a value within a reason


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
class _Collected:
    """What is collected for one line; the dicts are sets that keep their order."""

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
        self.models_tried: list[str] = []
        self.collected: dict[Key, _Collected] = {}
        self.source_patterns = Patterns(rules[source].model, unit)
        self.target_patterns = Patterns(rules[target].model, unit)

    def models(self) -> list[str]:
        """Return a model of each kind that the rules tell apart, the usual first."""
        both = [self.rules.rows(name) for name in (self.source, self.target)]
        found: dict[tuple[Rows, Rows], str] = {}
        for name in (ANY_MODEL, *variants.sample_models(*both)):
            found.setdefault(self._rows(name), name)
        return list(found.values())

    def _rows(self, model: str) -> tuple[Rows, Rows]:
        """Return which rows of variants apply for a model, of the source and of the target."""
        rows = self.rules.rows
        one, two = self.source, self.target
        of_source = variants.applying_rows(rows(one), one, model, self.options)
        return of_source, variants.applying_rows(rows(two), two, model, self.options)

    def add_notes(self, probes: Iterable[Probe], models: list[str]) -> None:
        """Convert each payload for each of some models, and collect what is noted."""
        self.models_tried = models
        for probe, model in ((probe, model) for model in models for probe in probes):
            try:
                notes = self._convert(probe, model).notes
            except ConversionError as error:
                self._add_refusal(error, probe, model)
                continue
            for note in notes:
                self._add_note(note, probe, model)

    def _convert(self, probe: Probe, model: str, trace: bool = False) -> Conversion:
        ends = (self.source, self.target, self.unit)
        asked = (probe.body, *ends, model, probe.stream, self.options)
        return self.rules.convert(*asked, trace=trace)

    def _add_refusal(self, error: ConversionError, probe: Probe, model: str) -> None:
        path = self.source_patterns.pattern(error.path) if error.path else None
        found = self._collect(("refused", "refused", path), error.rule, probe, model)
        found.severity = "error"
        found.reasons[_shorten_quotes(error.reason)] = None

    def _add_note(self, note: Note, probe: Probe, model: str) -> None:
        key: Key = (note.effect, note.code, self.source_patterns.of(note))
        found = self._collect(key, note.rule, probe, model)
        found.severity = note.severity
        found.reasons[_shorten_quotes(note.message)] = None
        if note.target_path is not None:
            found.targets[self.target_patterns.pattern(note.target_path)] = None

    def add_traces(self, probes: Iterable[Probe]) -> None:
        """Convert with traces, and collect what becomes of the leaves of which nothing is noted."""
        usual = self.models_tried[:1]
        fresh = (probe for probe in probes if probe.fresh)
        tried = ((p, m) for p in fresh for m in (self.models_tried if p.varied else usual))
        for probe, model in tried:
            try:
                done = self._convert(probe, model, trace=True)
            except ConversionError:
                continue
            assert done.trace is not None
            self._add_fates(done.trace, probe, model)

    def _add_fates(self, trace: Trace, probe: Probe, model: str) -> None:
        for at, fate in trace.fates.items():
            if fate.kind not in ("carried", "decided", "silent"):
                continue
            to = next((trace.origins[to] for to in fate.targets if to in trace.origins), None)
            code = fate.code if fate.kind == "silent" else None
            key: Key = (fate.kind, code, self.source_patterns.pattern(at))
            found = self._collect(key, to.rule if to is not None else fate.rule, probe, model)
            targets = map(self.target_patterns.pattern, fate.targets)
            found.targets.update(dict.fromkeys(targets))

    def _collect(self, key: Key, rule: str | None, probe: Probe, model: str) -> _Collected:
        """Return what is collected under a key, with this rule and model added."""
        found = self.collected.get(key)
        if found is None:
            found = self.collected[key] = _Collected(probe)
        found.models[model] = None
        if rule is not None:
            found.rules[rule] = None
        return found

    def lines(self) -> Iterator[Line]:
        """Yield the lines of all that was collected."""
        for (effect, code, path), collected in self.collected.items():
            models = tuple(collected.models)
            probe = collected.example
            all_tried = collected.severity is not None or probe.varied
            only = models if all_tried and len(models) < len(self.models_tried) else ()
            source_rule = None if path is None else self.source_patterns.rule(path)
            example = {"body": probe.body, "model": models[0], "stream": probe.stream}
            yield Line(
                effect, code, collected.severity, path, tuple(collected.targets),
                tuple(collected.reasons), source_rule, tuple(collected.rules), only, example,
            )  # fmt: skip


def _shorten_quotes(text: str) -> str:
    """Shorten the values that a reason quotes."""
    return re.sub(f"`([^`]{{{QUOTED}}})[^`]+`", r"`\1...`", text)
