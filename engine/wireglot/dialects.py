"""One dialect at work: every unit of a payload read into the IR, and written from it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import hooks, units
from . import policy as policies
from .audits import paths
from .errors import ConversionError, Foreseen, UsageError
from .files import documents, sessions
from .interpreter import (
    admission,
    arguments,
    building,
    conversation,
    demands,
    enforce,
    pairing,
    turns,
)
from .interpreter.env import Env
from .interpreter.reader import Reader
from .interpreter.recorder import Recorder, Written
from .interpreter.resolver import Resolve
from .interpreter.sight import View
from .interpreter.writer import Writer
from .language import ladder, picture, variants
from .language.lenses import Misfit
from .language.model import Case, Conversation, Dialect, Shape
from .notes import Draft, Note, severity_of
from .payload import (
    Clock,
    check_call,
    check_json,
    check_unit,
    known_options,
    resolving,
    text_under,
    with_clock,
)
from .results import Conversion, Envelope, Reading, concluded, effect_of, finished, rule_of
from .trail import Several, Trail, pointer

if TYPE_CHECKING:
    from .compiler.halves import Reads, Writes

Pick = Callable[["str | None", "dict[str, Any]"], "DialectRules"]


class Read(NamedTuple):
    ir: Any
    trail: Trail
    notes: list[tuple[str, str, Any, Any, str]]
    made: set[int]
    odd: list[Draft]  # calls and results that do not pair


class DialectRules:
    """One dialect of a rule set; `rules[NAME]` gives it.

    Attributes:
        name: The name of the dialect.
        see: Where the provider describes it.
        verified: The day on which somebody last compared the two.
        model: The rule file as the engine has it.
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
        self.model, self._ladder, self._pick = model, steps, pick
        self._hash = rules_hash
        self.name, self.see, self.verified = model.name, model.see, model.verified

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
        if unit == "request" and not known:
            reads = picked._reads
            done = reads.run(body, model, stream) if reads is not None else None
            if done is not None:
                return done
        return self._reading(picked, body, unit, model, stream, known)

    @functools.cached_property
    def _reads(self) -> Reads | None:
        """The compiled reading of requests, None where the interpreter does it all."""
        from .compiler import halves

        def slow(body: Any, model: str | None, stream: bool | None) -> Reading:
            return self._reading(self, body, "request", model, stream, {})

        return halves.reads(self.model, slow)

    def _reading(
        self,
        picked: DialectRules,
        body: Any,
        unit: str,
        model: str | None,
        stream: bool | None,
        known: dict[str, Any],
    ) -> Reading:
        """Read a payload in the interpreter."""
        found = picked._read(body, unit, model, stream, known)
        notes = [
            Note(
                code,
                effect_of(effect),
                severity_of(effect_of(effect), code),
                pointer(at),
                None,
                rule_of(pos),
                text,
            )
            for code, effect, at, pos, text in found.notes
        ]
        notes += finished(found.odd, None)
        ir = units.outward(found.ir, unit)
        for first in ir[:1] if isinstance(ir, list) else [ir]:
            if isinstance(first, dict):
                # Even with nothing to remember, the value knows its home.
                first.setdefault("spelled", {}).setdefault(self.name, {})
        return Reading(ir, tuple(notes))

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
        if unit == "request" and options is None and resolve is None and clock is None:
            picked = self
            if self._pick is not None:
                model = ir.get("model") if isinstance(ir, dict) else None
                picked = self._picked(model if isinstance(model, str) else None, {})
            writes = picked._writes
            if writes is not None:
                try:
                    done = writes.run(ir, None, None)
                except writes.leave:
                    pass
                else:
                    if policy is None:
                        return done
                    judge = policies.of(policy)
                    return concluded(*done[:3], judge, None, self.name, self._hash())
        known = resolving(with_clock(known_options(options), clock), resolve)
        judge = policies.of(policy)
        check_unit(unit)
        check_json(ir)
        admission.check(ir, unit)
        value = units.inward(ir, unit)
        picked = self._picked(ir.get("model") if isinstance(ir, dict) else None, known)
        body, drafts, envelope = picked._write(
            value, unit, units.at_home(value, self.name), Trail(), known
        )
        rules_hash = self._hash()
        return concluded(body, finished(drafts, body), envelope, judge, None, self.name, rules_hash)

    @functools.cached_property
    def _writes(self) -> Writes | None:
        """The compiled writing of requests, None where the interpreter does it all."""
        from .compiler import halves

        def partial(ir: Any, alone: bool = True) -> Any:
            admission.check(ir, "request")
            options = {"part": True} if alone else {}
            body, drafts, envelope = self._write(ir, "request", False, Trail(), options)
            return body, list(finished(drafts, body)), envelope

        return halves.writes(self.model, self._ladder, partial, self._hash())

    def parse(self, text: str) -> Any:
        """Return the body of a session file: its lines, or the one value that it holds.

        A line that is no JSON object is a text. Raises ConversionError for what is no such file.
        """
        return documents.parsed(text, self.model.document, sessions.key_of(self._unit("session")))

    def text(self, body: Any, indent: int | None = None) -> str:
        """Return the text of the file whose body this is; `indent` is for what has no lines."""
        return documents.printed(body, self.model.document, indent)

    def pictured(self, unit: str) -> set[str]:
        """Return the wire paths that the unit's pictures name."""
        return paths.pictured(self.model, unit)

    def dropped(self, unit: str) -> dict[str, str]:
        """Return the wire paths that the unit, or `stream`, gives up, with the reasons."""
        return paths.dropped(self.model, unit)

    def events(self) -> dict[str, set[str]]:
        """Return the wire paths that the pictures of the stream name, by the names of frames."""
        return paths.events(self.model)

    @functools.cached_property
    def model_keys(self) -> tuple[str, ...] | None:
        """The keys at the top of a request that name the model; None if it stands deeper."""
        shape = self.model.units.get("request")
        return picture.model_keys([case.wire for case in shape.cases]) if shape else ()

    @property
    def ladder(self) -> ladder.Ladder:
        """What a value becomes where the dialect has no picture for it."""
        return self._ladder

    def model_in(self, body: Any, unit: str) -> str | None:
        """Return the name of the model that a payload of this dialect holds, if it does."""
        keys = self.model_keys if unit == "request" and body.__class__ is dict else None
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

    # -- the two halves -----------------------------------------------------------------------

    def _read(
        self,
        body: Any,
        unit: str,
        model: str | None,
        stream: bool | None,
        options: dict[str, Any],
        recorder: Recorder | None = None,
    ) -> Read:
        with Foreseen(self.model.node.pos):
            return self._read_whole(body, unit, model, stream, options, recorder)

    def _read_whole(
        self,
        body: Any,
        unit: str,
        model: str | None,
        stream: bool | None,
        options: dict[str, Any],
        recorder: Recorder | None,
    ) -> Read:
        check_unit(unit)
        check_json(body)
        model_of = self.model if unit != "session" else self.model.in_files
        reader = Reader(model_of, options, recorder=recorder)
        try:
            ir = self._read_unit(reader, body, unit)
        except Misfit as misfit:
            misfit.__traceback__ = None
            raise ConversionError(misfit.reason, pointer(misfit.at), rule_of(misfit.pos)) from None
        except RecursionError:
            raise ConversionError("the payload is nested too deep") from None
        if unit == "request":
            if model is not None and "model" not in ir:
                ir["model"] = model
            if stream is not None and "stream" not in ir:
                ir["stream"] = stream
        notes = list(reader.notes)
        made: set[int] = set()
        whole = ir if isinstance(ir, dict) else {"messages": ir} if isinstance(ir, list) else {}
        for name in self.model.hooks:
            found = hooks.HOOKS[name](whole, body, self.name, reader.trail)
            made |= {id(part) for _, part in found}
            if recorder is not None:
                recorder.hooked.update((id(part), (part, name)) for _, part in found)
        for one in whole.get("candidates", ()) if unit == "response" else ():
            pairing.named([one], self.name)
        messages = units.messages_of(ir, unit)
        odd: list[Draft] = []
        if messages is not None:
            if recorder is not None:
                recorder.names.update(units.names_of(messages, reader.trail))
            for code, part in pairing.named(messages, self.name, self.model.tells_freeform):
                at = reader.trail.find(part) or ()
                told = {
                    "duplicate-id": "two calls in a row have this id; results pair in order",
                    "unpaired": "this result answers no call that is still open"
                    if part.get("type") == "tool_result"
                    else "this call has no result in the conversation",
                    "inconsistent": "this result is of another kind than its call: one is freeform",
                }[code]
                odd.append(Draft(code, "kept", at, None, told, None, part))
        if unit == "request" and options.get("check_arguments"):
            odd += arguments.checked(ir, reader.trail)
        return Read(ir, reader.trail, notes, made, odd)

    def _read_unit(self, reader: Reader, body: Any, unit: str) -> Any:
        top = self.model
        if unit in ("request", "response", "error"):
            reader.drops = paths.dropped(self.model, unit)
            ir = units.whole(reader, self._unit(unit), body)
            if unit == "request":
                self._head(reader, ir)
            return ir
        if unit == "session":
            return sessions.read(reader, self._unit(unit), body)
        if unit == "messages":
            self._talk()
            return conversation.read_messages(reader, body, ())
        if unit == "message":
            self._talk()
            return conversation.read_message(reader, body, ())[1]
        if unit == "usage":
            return reader.shape("usage", body, (), True)
        if unit == "tool_call" or unit == "tool_result":
            return reader.shape(unit, body, (), True)
        hole, case = self._request_hole("tools" if unit in ("tools", "tool") else unit)
        if unit == "tools" and not isinstance(body, list):
            raise Misfit("expected a list of tools", (), hole.pos)
        if unit == "tool":
            if not isinstance(body, dict):
                raise Misfit("expected a tool", (), hole.pos)
            tools = reader.element(hole.shape or "", body, ())[0]
            if len(tools) != 1:
                raise Misfit(f"it holds {len(tools)} tools; use the unit `tools`", (), hole.pos)
            return {"tools": tools}
        env = Env((), case, True)
        reader.hole(hole, body, (), (), env)
        reader.finish(env)
        ir = {}
        building.fill(reader, ir, None, env)
        building.attach(reader, ir, env)
        assert top is not None
        return ir

    def _head(self, reader: Reader, ir: dict[str, Any]) -> None:
        parts = ir.pop("system", None)
        if parts is None:
            return
        message = {"role": "system", "parts": parts}
        message["spelled"] = {self.name: {"": {"head": True}}}
        reader.trail.put(message, None, reader.trail.find(ir, "system"))
        ir["messages"] = [message, *ir.get("messages", ())]

    def _write(
        self,
        ir: Any,
        unit: str,
        same: bool,
        trail: Trail,
        options: dict[str, Any],
        made: set[int] | None = None,
        odd: list[Draft] | None = None,
        prepare: Callable[[Writer], None] | None = None,
    ) -> tuple[Any, list[Draft], Envelope | None]:
        model = self.model if unit != "session" else self.model.in_files
        writer = Writer(model, same, trail, options, self._ladder)
        with Foreseen(self.model.node.pos, options):
            body, envelope = self._written(writer, ir, unit, made, odd, prepare)
        return body, writer.notes, envelope

    def _written(
        self,
        writer: Writer,
        ir: Any,
        unit: str,
        made: set[int] | None = None,
        odd: list[Draft] | None = None,
        prepare: Callable[[Writer], None] | None = None,
    ) -> tuple[Any, Envelope | None]:
        same, trail, options = writer.same, writer.trail, writer.options
        writer.made = set() if (same and not writer.repair) or made is None else made
        if unit == "request" and not options.get("part"):
            writer.request()
        writer.alone = unit in ("tool", "tool_call", "tool_result")
        writer.notes.extend(odd or ())
        try:
            units.reserve(writer, ir)
            if prepare is not None:
                prepare(writer)
            for message in units.messages_of(ir, unit) or ():
                for part in message.get("parts", ()):
                    if part.get("type") == "tool_call":
                        writer.calls[part.get("id", "")] = part.get("name", "")
            body, envelope = self._write_unit(writer, ir, unit)
        except Misfit as misfit:
            misfit.__traceback__ = None
            raise ConversionError(
                f"the {unit} has no form in {self.name}: {misfit.reason}",
                units.source_of(misfit, trail, ir),
                rule_of(misfit.pos),
            ) from None
        except RecursionError:
            raise ConversionError("the value is nested too deep") from None
        writer.settle()
        return body, envelope

    def _write_unit(self, writer: Writer, ir: Any, unit: str) -> tuple[Any, Envelope | None]:
        if unit == "request":
            return self._write_request(writer, ir)
        if unit in ("response", "error"):
            return units.stepped(writer, self._unit(unit), ir), None
        if unit == "session":
            return sessions.write(writer, self._unit(unit), ir), None
        if unit in ("messages", "message"):
            self._talk()
            found = conversation.write_messages(writer, ir, whole=unit != "message")
            if unit == "message":
                if len(found) != 1:
                    raise Misfit(f"it becomes {len(found)} messages; use the unit `messages`")
                return found[0], None
            return found, None
        if unit in ("usage", "tool_call"):
            return units.laddered(writer, unit, ir), None
        if unit == "tool_result":
            talk = self._talk()
            for group in talk.groups:
                for case in group.cases:
                    if talk.role(case) == "tool":
                        holes = case.lists.get("parts", [])
                        found = [w for _, _, w in writer.give(holes[:1], ir)]
                        if len(found) == 1:
                            return found[0], None
            raise Misfit("no picture takes it")
        hole, case = self._request_hole("tools" if unit in ("tools", "tool") else unit)
        view = View(ir, "request", case, writer)
        wire = writer.hole(hole, view, (), None)
        if writer.recorder is not None:
            writer.recorder.top = Written(hole, view, ())
        writer.leftover(view, wire)
        if wire is picture.ABSENT:
            raise Misfit("nothing of it has a place")
        if unit == "tool":
            if len(wire) != 1:
                raise Misfit("the tool has no place")
            return wire[0], None
        return wire, None

    def _write_request(self, writer: Writer, ir: Any) -> tuple[Any, Envelope | None]:
        shape = self._unit("request")
        whole = dict(ir)
        writer.trail.copy(ir, whole)
        if self.model.conversation is not None and isinstance(ir.get("messages"), list):
            parts, rest = enforce.lift(writer, ir["messages"])
            whole["messages"] = rest
            if parts or units.was_there(ir, self.name, writer.same):
                whole["system"] = parts
        whole = demands.loosened(writer, self._narrowed(writer, whole))
        envelope: Envelope | None = None
        outside: set[str] = set()
        if "envelope" in self.model.units:
            envelope, outside = self._envelope(writer, whole)
        case = shape.cases[0]
        view = View(whole, "request", case, writer)
        demands.meet(writer, whole, view)
        wire = writer.picture(case.wire, view, (), top=True)
        view.claims |= outside
        heads = [at for part in whole.get("system", ()) if (at := writer.trail.find(part))]
        if heads and "system" not in view.claims:
            writer.trail.put(whole, "system", Several.of(heads))
        writer.leftover(view, wire)
        return wire, envelope

    def _narrowed(self, writer: Writer, ir: dict[str, Any]) -> dict[str, Any]:
        """Send fewer tools where that is how a dialect says which may be called."""
        talk = self.model.conversation
        if talk is None or not writer.repair or ("narrow-tools", "") not in talk.enforce:
            return ir
        try:
            hole, case = self._request_hole("tool_choice")
        except UsageError:
            return turns.narrowed(writer, ir)
        probe = Writer(self.model, False, Trail(), writer.options)
        view = View(ir, "request", case, probe)
        taken = probe.hole(hole, view, (), None) is not picture.ABSENT
        if taken and any(claim.startswith("tool_choice") for claim in view.claims):
            return ir
        return turns.narrowed(writer, ir)

    def _envelope(self, writer: Writer, ir: dict[str, Any]) -> tuple[Envelope, set[str]]:
        shape = self.model.units["envelope"]
        best = Misfit("the envelope fits nothing")
        for case in shape.cases:
            view = View(ir, "envelope", case, writer)
            try:
                if case.ir is not None:
                    writer.match(case.ir, ir, "", view)
                wire = writer.picture(case.wire, view, (), top=True)
            except Misfit as misfit:
                misfit.__traceback__ = None
                best = misfit
                continue
            if writer.recorder is not None:
                writer.recorder.envelope = wire
            return (
                Envelope(
                    wire.get("model"),
                    wire.get("stream"),
                    wire.get("method", ""),
                    wire.get("path", ""),
                    wire.get("headers") or {},
                ),
                view.claims,
            )
        raise best

    # -- parts of the model ---------------------------------------------------------------------

    def _unit(self, unit: str) -> Shape:
        if unit not in self.model.units:
            raise UsageError(f"{self.name} has no picture of a {unit}")
        return self.model.units[unit]

    def _talk(self) -> Conversation:
        if self.model.conversation is None:
            raise UsageError(f"{self.name} has no conversation")
        return self.model.conversation

    def _request_hole(self, field: str) -> tuple[Any, Case]:
        from .language.picture import holes

        case = self._unit("request").cases[0]
        for hole in holes(case.wire):
            if hole.path == field or (hole.path == "." and hole.shape == field):
                return hole, case
        raise UsageError(f"{self.name} has no place for `{field}`")
