"""Rule sets: loaded dialects, and conversions between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import ladder, rulefile
from .dialects import DialectRules
from .errors import UsageError
from .notes import Note, Policy
from .payload import known_options
from .results import Conversion, Envelope, concluded, finished, read_notes
from .source import Node

if TYPE_CHECKING:
    from .fast import Fast


class RuleSet:
    """An immutable set of dialects; safe to share between threads."""

    def __init__(
        self, models: Mapping[str, Node], steps: Node, findings: Sequence[Any] = ()
    ) -> None:
        self._ladder = ladder.load(steps)
        self._nodes = dict(models)
        self._dialects: dict[str, DialectRules] = {}
        self._pairs: dict[tuple[str, str], Fast | None] = {}
        self.dialects: tuple[str, ...] = tuple(sorted(models))
        self.findings: tuple[Any, ...] = tuple(findings)

    def __getitem__(self, name: str) -> DialectRules:
        found = self._dialects.get(name)
        if found is None:
            node = self._nodes.get(name)
            if node is None:
                known = ", ".join(self.dialects)
                raise UsageError(f"there is no dialect `{name}`; there are: {known}")
            found = self._dialects[name] = DialectRules(rulefile.load(node), self._ladder)
        return found

    def __contains__(self, name: str) -> bool:
        return name in self._nodes

    def convert(
        self,
        body: Any,
        source: str,
        target: str,
        unit: str = "request",
        model: str | None = None,
        stream: bool | None = None,
        options: Mapping[str, Any] | None = None,
        policy: Mapping[str, str] | None = None,
    ) -> Conversion:
        """Convert a payload of one dialect to another. `wireglot.convert` says more."""
        if unit == "request" and source != target and not options:
            fast = self._fast(source, target)
            if fast is not None:
                try:
                    out, notes, envelope = fast.run(body, model, stream)
                except fast.leave:
                    pass
                else:
                    if policy is None:
                        return Conversion(out, tuple(notes), envelope)
                    return concluded(out, notes, envelope, Policy(policy))
        known = known_options(options)
        judge = Policy(policy)
        found = self._interpreted(body, source, target, unit, model, stream, known)
        return concluded(*found, judge)

    def tier(self, body: Any, source: str, target: str) -> int:
        """Return which way a request takes: 1 compiled whole, 3 some messages or fields by the
        interpreter, 4 the interpreter takes it all. (Tier 2, a noted field, counts as 1.)"""
        fast = self._fast(source, target)
        return 4 if fast is None else int(fast.tier(body))

    def _fast(self, source: str, target: str) -> Fast | None:
        key = (source, target)
        if key not in self._pairs:
            from .fast import Fast
            from .symbols import Cannot

            def partial(body: Any, model: Any = None, stream: Any = None) -> Any:
                return self._interpreted(body, source, target, "request", model, stream, {})

            one, two = self[source], self[target]
            try:
                self._pairs[key] = Fast(one.model, two.model, self._ladder, partial)
            except Cannot:
                self._pairs[key] = None
        return self._pairs[key]

    def _interpreted(
        self,
        body: Any,
        source: str,
        target: str,
        unit: str,
        model: str | None,
        stream: bool | None,
        options: dict[str, Any],
    ) -> tuple[Any, list[Note], Envelope | None]:
        one, two = self[source], self[target]
        read = one._read(body, unit, model, stream, options)
        same = source == target
        out, drafts, envelope = two._write(read.ir, unit, same, read.trail, options, read.made)
        early = read_notes(read.notes, same)
        told = {n.source_path for n in early if n.code in ("unfit", "dropped")}
        late = [
            n
            for n in finished(drafts, out)
            if not (n.code == "unknown-key" and n.source_path in told)
        ]
        return out, [*early, *late], envelope
