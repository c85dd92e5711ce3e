"""Loaded dialects, and conversions between them."""

from __future__ import annotations

import functools
from _thread import RLock
from collections.abc import Callable, Collection, Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any

from .errors import UsageError, foreseen
from .language import variants
from .language.source import LADDER, Node, fingerprint
from .language.variants import Row, Rows
from .notes import Note
from .payload import Clock, check_call, known_options, text_under, with_clock
from .policy import Policy, of
from .results import Conversion, Envelope, all_notes, concluded
from .room import unswept, with_room

if TYPE_CHECKING:
    from .dialects import DialectRules
    from .interpreter.recorder import Recorder
    from .interpreter.resolver import Resolve
    from .language.known import Known
    from .language.ladder import Ladder
    from .language.model import Dialect

REMEMBERED = 1000  # names of models whose variants are remembered


class Loaded:
    """An immutable set of dialects; `rulesets.RuleSet` says more."""

    def __init__(
        self,
        files: Mapping[str, Node],
        findings: Sequence[Any] = (),
        varied: Mapping[str, tuple[Row, ...]] | None = None,
        again: Callable[[], Any] | None = None,
        sources: Sequence[Any] = (),
        known: Known | None = None,
        same: Collection[str] = (),
    ) -> None:
        """Hold the dialects of `files`, which have the rule file of each and of the `ladder`.

        A file is asked for when it is needed. `varied` are the variants of the dialects that have
        some. `again` loads the rules once more, from `sources`. Of the packaged rules much is
        `known`, and a wheel may bring their functions: some files may be the `same` as these.
        """
        self._making, self._files = RLock(), files
        self._varied = dict(varied or {})
        told = known.models.items() if known is not None else ()
        self._models = {key: keys for key, keys in told if key[0] in same}
        self._dialects: dict[tuple[str, Rows], DialectRules] = {}
        self._named: dict[tuple[str, str | None], DialectRules] = {}  # by model, without options
        self.dialects: tuple[str, ...] = tuple(sorted(name for name in files if name != LADDER))
        self.findings: tuple[Any, ...] = tuple(findings)
        self.sources: tuple[Any, ...] = tuple(sources)
        self._again, self._known_rules, self._same = again, known, same

    @functools.cached_property
    def ladder(self) -> Ladder:
        """The rows by which a part that a target cannot hold takes another form."""
        if LADDER in self._same and self._modules is not None:
            found: Ladder = self._modules.ladder()
            return found
        from .language import ladder

        return ladder.load(self._files[LADDER])

    @functools.cached_property
    def hash(self) -> str:
        """The SHA-256 of what the rules say, in hex digits: of all dialects and the ladder.

        Comments, examples and the names of files say nothing to a conversion and do not count.
        """
        known = self._known_rules
        if known is None:
            return fingerprint(self._files)
        if len(self._same) == len(known.sums) == len(self.dialects) + 1:  # and the ladder
            return known.hash
        return fingerprint(self._files, {name: known.sums[name] for name in self._same})

    def prepare_like(self, other: Loaded) -> None:
        """Read the dialects that another set has in use, as far as they are here."""
        for name, rows in list(other._dialects):
            if name in self and all(row < len(self.rows(name)) for row in rows):
                self.with_rows(name, rows)

    def __getitem__(self, name: str) -> DialectRules:
        if name.__class__ is not str:
            self._known(name)
        return self._dialects.get((name, ())) or self.with_rows(name, ())

    def with_rows(self, name: str, rows: Rows) -> DialectRules:
        """Return a dialect with some of its variants applied."""
        found = self._dialects.get((name, rows))
        if found is None:
            self._known(name)
            with self._making:  # threads that come at once want one dialect, and one's functions
                found = self._dialects.get((name, rows)) or self._new(name, rows)
        return found

    def forget(self) -> None:
        """Let go of what was made of dialects: of one with its variants that is 20 MB."""
        self._dialects.clear()
        self._named.clear()

    @unswept
    def _new(self, name: str, rows: Rows) -> DialectRules:
        from .dialects import DialectRules

        pick = functools.partial(self._picked, name) if name in self._varied else None
        model = self._brought(name, rows) or self._read(name, rows)
        made = DialectRules(model, self.ladder, pick, lambda: self.hash)
        self._dialects[name, rows] = made
        return made

    @functools.cached_property
    def _modules(self) -> Any:
        """What a wheel brings of the packaged rules, as modules; None where it brings nothing."""
        if self._known_rules is None:
            return None
        from .executor import modules

        return modules if modules.fit(self._known_rules.hash) else None

    def _brought(self, name: str, rows: Rows) -> Dialect | None:
        """Return the model of a dialect that a wheel brings, built; None if it brings none."""
        if name not in self._same or self._modules is None:
            return None
        found: Dialect | None = self._modules.model(name, rows, lambda: self._node(name, rows))
        return found

    def _read(self, name: str, rows: Rows) -> Dialect:
        """Return the model of a dialect, read from its rule file."""
        from .language import rulefile

        node = self._files[name]
        with foreseen(node.pos):
            return rulefile.model(node, rows)

    def _node(self, name: str, rows: Rows) -> Node:
        return variants.with_rows(self._files[name], rows)

    def variants(self, name: str) -> tuple[DialectRules, ...]:
        """Return a dialect as it is for each model, version and option that its variants name.

        Raises RuleError, UsageError.
        """
        self._known(name)
        if name not in self._varied:
            return ()
        return tuple(self.with_rows(name, rows) for rows in variants.row_sets(self._varied[name]))

    @functools.cached_property
    def _choosing(self) -> frozenset[str]:
        """The options by which variants are chosen."""
        named = (name for rows in self._varied.values() for row in rows for name in row.options)
        return frozenset(("version", *named))

    def _picked(self, name: str, model: str | None, options: dict[str, Any]) -> DialectRules:
        variants.check_version(options, {name: self._varied.get(name, ())})
        return self.at(name, model, options)

    def at(self, name: str, model: str | None, options: Mapping[str, Any]) -> DialectRules:
        """Return a dialect with the variants for a model and options applied."""
        found = self._varied.get(name)
        if found is None:
            return self[name]
        options = {k: v for k, v in options.items() if k in self._choosing} if options else options
        remembers = not options and model.__class__ in (str, NoneType)
        if remembers and (name, model) in self._named:
            return self._named[name, model]
        made = self.with_rows(name, variants.applying_rows(found, name, model, options))
        if remembers:
            if len(self._named) >= REMEMBERED:
                self._named.clear()
            self._named[name, model] = made
        return made

    def _both(
        self, body: Any, source: str, target: str, unit: str, model: str | None, options: Any
    ) -> tuple[DialectRules, DialectRules]:
        """Return the source and the target of a conversion, with the variants that apply to it."""
        source_rows, target_rows = self._varied.get(source, ()), self._varied.get(target, ())
        if model is None and (source_rows or target_rows):
            model = self._model_in(body, source, unit)
        if "version" in options:
            self._known(source)
            self._known(target)
            variants.check_version(options, {source: source_rows, target: target_rows})
        first = self.at(source, model, options)
        return first, first if source == target else self.at(target, model, options)

    def _model_in(self, body: Any, source: str, unit: str) -> str | None:
        """Return the model that a payload names, which mostly stands at the top."""
        if unit not in ("request", "response") or body.__class__ is not dict:
            return self[source].model_in(body, unit)
        if (source, unit) not in self._models:  # some are known before a file is read
            self._models[source, unit] = self[source].keys_of_model(unit)
        keys = self._models[source, unit]
        return self[source].model_in(body, unit) if keys is None else text_under(keys, body)

    def __contains__(self, name: str) -> bool:
        return name in self.dialects

    def _known(self, name: str) -> None:
        check_name(name, self.dialects)

    @with_room
    def convert(
        self,
        body: Any,
        source: str,
        target: str,
        unit: str = "request",
        model: str | None = None,
        stream: bool | None = None,
        options: Mapping[str, Any] | None = None,
        policy: Mapping[str, str] | Policy | None = None,
        resolve: Resolve | None = None,
        clock: Clock | None = None,
        trace: bool = False,
    ) -> Conversion:
        """Convert a payload of one dialect to another. `wireglot.convert` says more."""
        if not (model is None is stream and source.__class__ is str is target.__class__):
            check_call(model, stream, source=source, target=target)
        known = known_options(options) if options is not None else {}
        if clock is not None:
            known = with_clock(known, clock)
        if resolve is not None:
            from .interpreter.resolver import resolving

            known = resolving(known, resolve)
        reader, writer = self._both(body, source, target, unit, model, known)
        judge = of(policy)
        if trace:
            from .trace.provenance import traced

            work = functools.partial(converted, reader, writer, body, unit, model, stream, known)
            out, told = traced(work, body, reader.model, writer.model)
            return concluded(*out, judge, source, target, self.hash, told)
        found = converted(reader, writer, body, unit, model, stream, known)
        return concluded(*found, judge, source, target, self.hash)

    def rows(self, name: str) -> tuple[Row, ...]:
        """Return the variants of a dialect. Raises UsageError if there is no such dialect."""
        self._known(name)
        return self._varied.get(name, ())


def converted(
    reader: DialectRules,
    writer: DialectRules,
    body: Any,
    unit: str,
    model: str | None,
    stream: bool | None,
    options: dict[str, Any],
    recorder: Recorder | None = None,
) -> tuple[Any, list[Note], Envelope | None]:
    """Read a payload by one dialect, and write it by the other."""
    read_by, write_by, give_back = _hands()
    same = reader.name == writer.name
    if reader is writer and not options and recorder is None:
        whole = {"away": True, "returned": True}
        back = give_back(reader, body, read_by(reader, body, unit, model, stream, whole), unit)
        if back is not None:
            found: tuple[Any, list[Note], Envelope | None] = back
            return found
    away = options if same else {**options, "away": True}  # no value is written at home again
    read = read_by(reader, body, unit, model, stream, away, recorder)
    out, wrote, envelope = write_by(writer, read, unit, same, options, trusts=True)
    return out, all_notes(read.notes, wrote.notes, out, same), envelope


@functools.cache
def _hands() -> tuple[Any, Any, Any]:
    """Return what reads, writes and gives back, which a load needs not."""
    from .conversion import reading, writing

    return reading.read, writing.write, writing.returned


def check_name(name: str, there: Collection[str]) -> None:
    """Raise UsageError for a dialect that is not there."""
    check_call(None, None, dialect=name)
    if name not in there:
        from .language.findings import did_you_mean

        told = " ".join(filter(None, (did_you_mean(name, there), "`wireglot dialects` lists them")))
        raise UsageError(f"there is no dialect `{name}`; {told}")
