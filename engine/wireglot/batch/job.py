"""What is done with each value of a data set, in whichever process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..errors import ConversionError, UsageError, WireglotError
from ..jsontext import parse, stringify
from ..loaded import check_name
from ..loading import rulesources
from ..loading.rulesources import Source
from ..loading.start import wanted
from ..notes import Note
from ..policy import Policy, of
from ..results import PolicyError, concluded
from ..trail import keys_of, pointer, value_at
from .batchlines import BODIES, LineConverter, error_within, moved_within, replaced_at

_MISSING = object()


class Converted(NamedTuple):
    """What became of one value.

    Attributes:
        value: What came out; of a value that was refused, what was given.
        notes: What the conversion could not carry exactly.
        error: Why the value was refused, or None: a ConversionError, a PolicyError, or of a text
            NoJson.
    """

    value: Any
    notes: tuple[Note, ...]
    error: WireglotError | None


class NoJson(WireglotError):
    """Says of a text that it is no JSON, and where."""


class Job(NamedTuple):
    """How each value is converted; it can be sent to another process.

    `wireglot.batch.convert` says what else it has.

    Attributes:
        plugins: Whether installed packages bring rule files.
        at: Where in each value stands what is converted, as keys; the rest goes along as it is.
    """

    source: str
    target: str
    unit: str = "request"
    model: str | None = None
    options: Mapping[str, Any] | None = None
    policy: Mapping[str, str] | Policy | None = None
    rules: tuple[Source, ...] = ()
    overlays: tuple[str, ...] = ()
    plugins: bool = False
    at: tuple[str, ...] = ()
    text: bool = False

    def carrying(self) -> Job:
        """Return the job with the text of its rule files in it, for a machine without the files."""
        sources = [
            one if isinstance(one, Mapping) else {f.stem: f.text() for f in rulesources.files(one)}
            for one in self.rules
        ]
        return self._replace(rules=tuple(sources))

    def ready(self) -> Converter:
        """Load the rules. Raises RuleError and UsageError as `load_rules` and `convert` do."""
        return Converter(self)


class Converter:
    """Converts values as a job says; it has the rules, and stays in its process."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.rules = wanted(job.rules, job.overlays, job.plugins)
        for name in (job.source, job.target):
            check_name(name, self.rules.dialects)
        given = (job.source, job.target, job.model, job.options)
        lines = job.unit in BODIES and not job.at
        self.wrapping = LineConverter(self.rules, *given) if lines else None

    def one(self, value: Any) -> Converted:
        """Convert one value, or say why it is refused. Raises UsageError where none can be."""
        try:
            return Converted(*self._convert(value), None)
        except (ConversionError, NoJson) as error:
            return Converted(value, (), error)
        except PolicyError as error:
            return Converted(value, error.conversion.notes if error.conversion else (), error)

    def text(self, text: str | bytes) -> Converted:
        """Convert the value of a JSON text, or say why it is refused. Raises what `one` does."""
        try:
            value = _parse(text)
        except NoJson as error:
            return Converted(text, (), error)
        return self.one(value)

    def _convert(self, value: Any) -> tuple[Any, tuple[Note, ...]]:
        """Return what comes out, and the notes. Raises what `wireglot.convert` does, and NoJson."""
        job = self.job
        ends = (job.source, job.target)
        if self.wrapping is not None and (in_line := self.wrapping.converted(value)) is not None:
            out = concluded(*in_line, None, of(job.policy), *ends, self.rules.hash)
            return out.body, out.notes
        if self.wrapping is not None and job.unit == "request":
            self.wrapping.refuse_other_kinds(value)
        body = value_at(value, job.at, _MISSING) if job.at else value
        if body is _MISSING:
            raise ConversionError(f"nothing stands at {pointer(job.at)}")
        if job.text and not isinstance(body, str):
            raise ConversionError(f"no text stands at {pointer(job.at)}")
        asked = _parse(body) if job.text else body
        policy = None if job.at else job.policy  # which may name places: they are those of the line
        try:
            out = self.rules.convert(
                asked, *ends, job.unit, job.model, options=job.options, policy=policy
            )
        except ConversionError as error:
            raise error_within(error, job.at) from None
        made = stringify(out.body) if job.text else out.body
        if not job.at:
            return made, out.notes
        notes = list(moved_within(out.notes, job.at, job.at))
        whole = replaced_at(value, job.at, made)
        out = concluded(whole, notes, None, of(job.policy), *ends, self.rules.hash)
        return out.body, out.notes


def _parse(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises NoJson."""
    try:
        return parse(text if isinstance(text, str) else text.decode())
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is no UTF-8"
    except json.JSONDecodeError as error:
        reason = f"column {error.colno}: {error.msg}"
    except (ValueError, RecursionError) as error:
        reason = str(error) or "it is nested too deep"
    raise NoJson(f"no JSON: {reason}")


def keys(text: str) -> tuple[str, ...]:
    """Return the keys of an RFC 6901 pointer through objects. Raises UsageError."""
    if text and not text.startswith("/"):
        raise UsageError(f"`{text}` is no JSON pointer: it begins with `/`")
    return tuple(keys_of(text))
