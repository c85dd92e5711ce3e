"""`wireglot case`: a payload that shows a fault becomes a crossing, redacted and small.

A fault is what somebody says (another value is expected at a place, a note should not be there), or
what can be told without asking: a refusal or an internal error, a leaf without a fate, a law
that does not hold.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from ..errors import ConversionError, UsageError
from ..language.lenses import same, stringify
from ..language.picture import ABSENT
from ..language.source import parse
from ..results import Conversion
from ..rulesets import RuleSet
from ..trail import keys_of, leaves, pointer
from . import crossings, laws, sketch
from .jsondiff import shown, standing
from .shrink import shrink

TRIES = 3000
PLAIN = ("Reads", "GetPut", "Pure", "Total", "Cross")  # laws that hold of payloads that nobody made


class Fault(NamedTuple):
    """What is wrong; two are the same where `kind` and the places of their rules are."""

    kind: Any
    message: str
    rule: str | None = None


class Complaint(NamedTuple):
    """A conversion, and what somebody has against it, if they say so."""

    rules: RuleSet
    source: str
    target: str
    unit: str
    model: str | None = None
    at: str | None = None  # where in the output something else is expected
    expected: Any = ABSENT
    code: str | None = None  # of the note that should not be there

    def convert(self, body: Any, target: str, trace: bool = False) -> Conversion:
        """Convert a payload, to the target or home. Raises ConversionError, or anything."""
        model = self.model or crossings.MODEL
        return self.rules.convert(body, self.source, target, self.unit, model, trace=trace)

    def fault(self, body: Any) -> Fault | None:
        """Return what is wrong with what becomes of a payload, or None. Raises UsageError."""
        try:
            out = self.convert(body, self.target, trace=True)
        except UsageError:
            raise
        except ConversionError as error:
            return Fault(("refused", error.reason), f"refused: {error.reason}", error.rule)
        except Exception as error:  # whatever it is, it is the fault
            return Fault(type(error), f"internal error: {error!r}")
        if self.code is not None:
            found = next((note for note in out.notes if note.code == self.code), None)
            place = found and (found.source_path or found.target_path)
            message = f"`{self.code}` should not be noted" + (f" of {place}" if place else "")
            return found and Fault(found.code, message, found.rule)
        if self.at is not None:
            return self._unexpected_value(out, self.at)
        return self._unlawful(body, out) or self._without_fate(body, out)

    def _unexpected_value(self, out: Conversion, at: str) -> Fault | None:
        """Return the fault where something else stands than is expected, else None."""
        around = standing(out.body, _parent(at))
        number = keys_of(at)[-1].isdecimal()
        if not (isinstance(around, dict) or (isinstance(around, list) and number)):
            return None
        found, wanted = standing(out.body, at), self.expected
        if found is wanted or (ABSENT not in (found, wanted) and same(found, wanted)):
            return None
        told = f"{at} is {shown(found)}, and should be {shown(wanted)}"
        whole = not _parent(at) and found is not ABSENT
        shows = found if whole else around  # must stay, or it is another fault
        return Fault((stringify(shows), at), told, _rule_of(out, at))

    @staticmethod
    def _without_fate(body: Any, out: Conversion) -> Fault | None:
        assert out.trace is not None
        for at, _ in leaves(body):
            if not out.trace.of_source(pointer(at)):
                return Fault("fate", f"{pointer(at)} arrives nowhere, and no note says so")
        return None

    def _unlawful(self, body: Any, out: Conversion) -> Fault | None:
        """Return the first law that does not hold of a payload, or of what it becomes."""
        made = {self.source: (body, [self.target]), self.target: (out.body, [])}
        for name, (payload, others) in made.items():
            for law, hold, case in laws.cases(self.rules, name, others):
                if law in PLAIN and case.unit == self.unit:
                    broken = laws.fault(hold, case, payload)
                    if broken is not None:
                        return Fault((law, name), f"{law} of {case.name}: {broken}", broken.rule)
        return None

    def smallest(self, body: Any, fault: Fault) -> Any:
        """Return a payload as small as one was found that shows a fault, and no other at home."""
        comes_back = self._comes_back(body)

        def fails(smaller: Any) -> bool:
            found = self.fault(smaller)
            alike = found and (found.kind, found.rule) == (fault.kind, fault.rule)
            return bool(alike) and (not comes_back or self._comes_back(smaller))

        return shrink(body, fails, TRIES)

    def _comes_back(self, body: Any) -> bool:
        home = self._try_convert(body, self.source)
        return home is not None and same(home.body, body)

    def crossing(self, body: Any, name: str) -> dict[str, Any]:
        """Return a file of crossings that shows what is wrong, as plain JSON."""
        meant: Any = [] if self.unit in crossings.LISTS else {}
        codes: list[str] = []
        if (out := self._try_convert(body, self.target)) is not None:
            meant = copy.deepcopy(out.body)
            codes = sorted({note.code for note in out.notes} - {self.code})
        if self.at is not None:
            _put_expected(meant, self.at, self.expected)
        said = {"from": self.source, "wires": {self.source: body, self.target: meant}}
        said |= {"notes": {self.target: codes}} if codes else {}
        said |= {"model": self.model} if self.model else {}
        return {"wireglot": 2, "crossings": {self.unit: {name: said}}}

    def _try_convert(self, body: Any, target: str) -> Conversion | None:
        try:
            return self.convert(body, target)
        except Exception:  # it is what the case shows
            return None

    def test_failure(self, text: str) -> str | None:
        """Return what `wireglot test` says of a file of crossings, None where all holds."""
        failures: list[str] = []
        for wire in crossings.find([parse(text, "case.yaml")], failures):
            try:
                told = crossings.check(self.rules, wire)
            except Exception as error:  # an internal error, as the case may show
                told = repr(error)
            failures += [told] if told else []
        return next((one.partition("` as ")[2] or one for one in failures), None)


def text(crossing: dict[str, Any], head: list[str]) -> str:
    """Return a file of crossings as YAML, with some lines of comment before it."""
    lines = [f"# {line}" for said in head for line in said.splitlines()]
    return "".join(f"{line}\n" for line in [*lines, *sketch.block(crossing)])


def _parent(at: str) -> str:
    return at.rpartition("/")[0]


def _put_expected(body: Any, at: str, value: Any) -> None:
    """Put a value at a pointer into a body, or take away what stands there for ABSENT."""
    around, key = standing(body, _parent(at)), keys_of(at)[-1]
    if isinstance(around, list):
        step = int(key)
        around[step : step + 1] = [] if value is ABSENT else [value]
    elif value is ABSENT:
        del around[key]
    else:
        around[key] = value


def _rule_of(out: Conversion, at: str) -> str | None:
    """Return the rule that wrote a place of the output, or what stands around it."""
    assert out.trace is not None
    origins = out.trace.of_target(at) or out.trace.of_target(_parent(at))
    return next((origin.rule for origin in origins.values() if origin.rule), None)
