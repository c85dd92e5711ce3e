"""Rule sets: loaded dialects, and conversions between them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import RuleError, UsageError
from .notes import Note, Policy
from .payload import known_options
from .results import Conversion, Envelope, all_notes, concluded
from .source import Node

if TYPE_CHECKING:
    from .dialects import DialectRules
    from .fast import Fast
    from .ladder import Ladder


# What the compiler raises besides on shapes that hold themselves, or lack what it looks for.
_DEEP = (RecursionError, StopIteration, ValueError)


class RuleSet:
    """An immutable set of dialects; safe to share between threads."""

    def __init__(
        self,
        names: Sequence[str],
        files: Callable[[], Mapping[str, Node]],
        plans: Mapping[tuple[str, str], Any] | None = None,
        findings: Sequence[Any] = (),
    ) -> None:
        """Hold the dialects `names`; `files` gives the rule file of each and of the `ladder`.

        The files are asked for when they are needed; `plans` are pairs prepared beforehand.
        """
        self._files = functools.cache(files)
        self._plans = plans or {}
        self._dialects: dict[str, DialectRules] = {}
        self._pairs: dict[tuple[str, str], Fast | None] = {}
        self.dialects: tuple[str, ...] = tuple(sorted(names))
        self.findings: tuple[Any, ...] = tuple(findings)

    @functools.cached_property
    def _ladder(self) -> Ladder:
        from . import ladder

        return ladder.load(self._files()["ladder"])

    def __getitem__(self, name: str) -> DialectRules:
        found = self._dialects.get(name)
        if found is None:
            self._known(name)
            from . import rulefile
            from .dialects import DialectRules

            node = self._files()[name]
            try:
                model = rulefile.load(node)
            except (AssertionError, AttributeError, LookupError, TypeError, re.error) as error:
                raise RuleError(
                    f"no check foresaw the form of this rule file ({error!r})",
                    *node.pos,
                    help="this is a mistake of wireglot: please report it with the file",
                ) from error
            found = self._dialects[name] = DialectRules(model, self._ladder)
        return found

    def __contains__(self, name: str) -> bool:
        return name in self.dialects

    def _known(self, name: str) -> None:
        if name not in self.dialects:
            known = ", ".join(self.dialects)
            raise UsageError(f"there is no dialect `{name}`; there are: {known}")

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
            fast = self._pairs.get((source, target)) or self._fast(source, target)
            if fast is not None:
                try:
                    done = fast.run(body, model, stream)
                except fast.leave:
                    pass
                else:
                    return done if policy is None else concluded(*done, Policy(policy))
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
            self._known(source)
            self._known(target)
            plan = self._plans[key] if key in self._plans else self.plan(source, target)
            self._pairs[key] = None if plan is None else self._ready(plan, source, target)
        return self._pairs[key]

    def _ready(self, plan: Any, source: str, target: str) -> Fast:
        from .fast import Fast

        def models() -> Any:
            return self[source].model, self[target].model, self._ladder

        def partial(body: Any, model: Any = None, stream: Any = None) -> Any:
            return self._interpreted(body, source, target, "request", model, stream, {})

        return Fast(plan, models, partial)

    def plan(self, source: str, target: str) -> Any:
        """Compile a pair: plain data for the wheel, or None where the interpreter does it all."""
        from . import plan
        from .symbols import Cannot, NoFit

        try:
            return plan.make(self[source].model, self[target].model, self._ladder)
        except (Cannot, NoFit, LookupError, AssertionError, AttributeError, TypeError, *_DEEP):
            # A rule file without messages or tools, or of a form that the compiler never met.
            return None

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
        return out, all_notes(read.notes, drafts, out, same), envelope
