"""One dialect at work: every unit of a payload read into the IR, and written from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import policy as policies
from .conversion import reading, writing
from .errors import mistyped
from .interpreter import units
from .language import ladder, picture, variants
from .language.model import Dialect
from .payload import (
    Clock,
    check_call,
    check_json,
    check_text,
    check_unit,
    known_options,
    text_under,
    with_clock,
)
from .results import Conversion, Reading, concluded, finished, read_notes
from .room import with_room
from .trail import Trail

if TYPE_CHECKING:
    from .interpreter.resolver import Resolve

Pick = Callable[["str | None", "dict[str, Any]"], "DialectRules"]


class DialectRules:
    """One dialect of a rule set; `rules[NAME]` gives it.

    Attributes:
        name: The name of the dialect.
        see: Where the provider describes it.
        verified: The day on which somebody last compared the two.
        model: The rule file as the engine has it.
        ladder: What a value becomes where the dialect has no picture for it.
    """

    def __init__(
        self,
        model: Dialect,
        steps: ladder.Ladder,
        pick: Pick | None = None,
        rules_hash: Callable[[], str] = str,
    ) -> None:
        """Hold a dialect; `pick` gives it with the variants for a model and options applied.

        `rules_hash` gives the hash of the rule set that it belongs to.
        """
        self.model: Dialect = model
        self.ladder: ladder.Ladder = steps
        self._pick, self._hash = pick, rules_hash
        self.name: str = model.name
        self.see: str = model.see
        self.verified: str = model.verified

    @property
    def _alone(self) -> DialectRules:
        """The dialect as it is, whatever model a payload names."""
        return DialectRules(self.model, self.ladder, None, self._hash)

    @with_room
    def read(
        self,
        body: Any,
        unit: str = "request",
        model: str | None = None,
        stream: bool | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Reading:
        """Read a payload of this dialect into the IR.

        Args:
            body: Parsed JSON; it never changes.
            unit: What the body is: a whole request, or a piece of one.
            model: The model, where the body of a request does not name it.
            stream: Whether a stream is asked for, where the body does not say it.
            options: As of `wireglot.convert`.

        Raises:
            UsageError: The unit or an option does not exist.
            ConversionError: The payload cannot be read.
        """
        if model is not None or stream is not None:
            check_call(model, stream)
        known = known_options(options) if options is not None else {}
        picked = self
        if known or self._pick is not None:
            picked = self._picked(self.model_in(body, unit) if model is None else model, known)
        found = reading.read(picked, body, unit, model, stream, known)
        notes = read_notes(found.notes, None) + finished(found.odd, None)
        ir = units.to_caller(found.ir, unit)
        for first in ir[:1] if isinstance(ir, list) else [ir]:
            if isinstance(first, dict):
                # Even with nothing to remember, the value knows its home.
                first.setdefault("spelled", {}).setdefault(self.name, {})
        return Reading(ir, tuple(notes))

    @with_room
    def write(
        self,
        ir: Any,
        unit: str = "request",
        options: Mapping[str, Any] | None = None,
        policy: Mapping[str, str] | policies.Policy | None = None,
        resolve: Resolve | None = None,
        clock: Clock | None = None,
    ) -> Conversion:
        """Write an IR value as a payload of this dialect.

        Args:
            ir: Plain JSON, as `read` gives it and docs/ir.md describes it.
            unit: What the value is.
            options: As of `wireglot.convert`.
            policy: As of `wireglot.convert`; the source is not known.
            resolve: As of `wireglot.convert`.
            clock: Gives seconds since 1970, as `time.time` does, for times that nobody has said.

        Raises:
            UsageError: The unit, an option or the policy does not exist.
            ConversionError: The value is no IR, or cannot be written.
            PolicyError: The policy forbids a note.
        """
        from .interpreter import admission

        known = with_clock(known_options(options), clock)
        if resolve is not None:
            from .interpreter.resolver import resolving

            known = resolving(known, resolve)
        judge = policies.of(policy)
        check_unit(unit)
        check_json(ir)
        admission.check(ir, unit)
        value = units.from_caller(ir, unit)
        picked = self._picked(ir.get("model") if isinstance(ir, dict) else None, known)
        given, same = reading.unread(value, Trail()), units.at_home(value, self.name)
        body, writer, envelope = writing.write(picked, given, unit, same, known)
        notes = finished(writer.notes, body)
        return concluded(body, notes, envelope, judge, None, self.name, self._hash())

    def parse(self, text: str) -> Any:
        """Return the body of a session file: its lines, or the one value that it holds.

        A line that is no JSON object is a text. Raises ConversionError for what is no such file.
        """
        from .files import sessions
        from .language import documents

        check_text("text", text)
        return documents.parse_file(
            text, self.model.document, sessions.key_of(units.unit_shape(self.model, "session"))
        )

    def text(self, body: Any, indent: int | None = None) -> str:
        """Return the text of the file whose body this is; `indent` is for what has no lines."""
        from .files import halves
        from .language import documents

        if indent is not None and not isinstance(indent, int):
            raise mistyped("`indent` is a number", indent)
        halves.checked(body)
        return documents.file_text(body, self.model.document, indent)

    def pictured(self, unit: str) -> set[str]:
        """Return the wire paths that the unit's pictures name, or those of its `envelope`."""
        from .trace import paths

        if unit != "envelope":
            check_unit(unit)
        return paths.pictured(self.model, unit)

    def dropped(self, unit: str) -> dict[str, str]:
        """Return the wire paths that the unit, or `stream`, gives up, with the reasons."""
        if unit != "stream":
            check_unit(unit)
        return dict(self.model.dropped(unit))

    def events(self) -> dict[str, set[str]]:
        """Return the wire paths that the pictures of the stream name, by the names of frames."""
        from .trace import paths

        return paths.events(self.model)

    def keys_of_model(self, unit: str) -> tuple[str, ...] | None:
        """Return the keys at the top of a payload that name the model; None if it is deeper."""
        if unit.__class__ is not str:
            check_unit(unit)
        return self.model.once(("model", unit), lambda: self._model_keys(unit))

    def _model_keys(self, unit: str) -> tuple[str, ...] | None:
        shape = self.model.units.get(unit)
        wires = [case.wire for case in shape.cases] if shape else []
        return picture.model_keys(wires) if wires else ()

    def model_in(self, body: Any, unit: str) -> str | None:
        """Return the name of the model that a payload of this dialect holds, if it does."""
        whole = body.__class__ is dict and unit in ("request", "response")
        keys = self.keys_of_model(unit) if whole else None
        if keys is not None:  # it mostly stands at the top
            return text_under(keys, body)
        shape = self.model.units.get(unit) if isinstance(unit, str) else None
        found = (picture.model_in(case.wire, body) for case in shape.cases) if shape else ()
        return next((name for name in found if name is not None), None)

    def _picked(self, model: str | None, options: dict[str, Any]) -> DialectRules:
        if self._pick is not None:
            return self._pick(model, options)
        variants.check_version(options, {self.name: ()})
        return self
