"""Rule sets: loaded dialects, and what one does with them: read, write, convert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import admission, conversation, hooks, ladder, paths, rulefile
from .errors import ConversionError, PolicyError, UsageError
from .ir import UNITS
from .lenses import Misfit, finite
from .notes import Effect, Note, Policy, severity_of
from .picture import ABSENT
from .reader import MAX_DEPTH, Env, Reader
from .rulefile import Shape
from .source import Node
from .trail import Places, Trail, pointer
from .writer import Draft, View, Writer

MAX_NUMBER = 10**4300  # Python parses and prints no more digits
if TYPE_CHECKING:
    from .fast import Fast

OPTIONS = frozenset(("repair", "json_results", "version", "engine"))


class Envelope(NamedTuple):
    """What the target keeps outside the body of a request."""

    model: str | None
    stream: bool | None
    method: str
    path: str
    headers: dict[str, str]


class Conversion(NamedTuple):
    """A converted body, the notes, and for a request its envelope."""

    body: Any
    notes: tuple[Note, ...]
    envelope: Envelope | None


class Reading(NamedTuple):
    """An IR value and the notes of reading it."""

    ir: Any
    notes: tuple[Note, ...]


class _Read(NamedTuple):
    ir: Any
    trail: Trail
    notes: list[tuple[str, str, Any, Any, str]]
    made: set[int]


class DialectRules:
    """One dialect of a rule set."""

    def __init__(self, model: rulefile.Dialect, steps: ladder.Ladder) -> None:
        self.model, self._ladder = model, steps
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

        Raises UsageError for an unknown unit or option, ConversionError for a payload that cannot
        be read.
        """
        known = _options(options)
        found = self._read(body, unit, model, stream, known)
        notes = [
            Note(
                code,
                _effect(effect),
                severity_of(_effect(effect)),
                pointer(at),
                None,
                _rule(pos),
                text,
            )
            for code, effect, at, pos, text in found.notes
        ]
        return Reading(_unit_out(found.ir, unit), tuple(notes))

    def write(
        self,
        ir: Any,
        unit: str = "request",
        options: Mapping[str, Any] | None = None,
        policy: Mapping[str, str] | None = None,
    ) -> Conversion:
        """Write an IR value as a payload of this dialect.

        Raises UsageError, ConversionError, and PolicyError when the policy forbids a note.
        """
        known = _options(options)
        judge = Policy(policy)
        _known_unit(unit)
        _json(ir)
        admission.check(ir, unit)
        value = _unit_in(ir, unit)
        body, drafts, envelope = self._write(value, unit, _home(value, self.name), Trail(), known)
        return _concluded(body, finished(drafts, body), envelope, judge)

    def pictured(self, unit: str) -> set[str]:
        """Return the wire paths that the unit's pictures name."""
        return paths.pictured(self.model, unit)

    def dropped(self, unit: str) -> dict[str, str]:
        """Return the wire paths that the unit gives up, with the reasons."""
        return paths.dropped(self.model, unit)

    # -- the two halves -----------------------------------------------------------------------

    def _read(
        self, body: Any, unit: str, model: str | None, stream: bool | None, options: dict[str, Any]
    ) -> _Read:
        _known_unit(unit)
        _json(body)
        reader = Reader(self.model, options)
        try:
            ir = self._read_unit(reader, body, unit)
        except Misfit as misfit:
            raise ConversionError(misfit.reason, pointer(misfit.at), _rule(misfit.pos)) from None
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
            made |= {id(p) for _, p in hooks.HOOKS[name](whole, body, self.name, reader.trail)}
        messages = _messages(ir, unit)
        if messages is not None:
            for code, part in conversation.pair(messages):
                at = reader.trail.find(part) or ()
                told = {
                    "duplicate-id": "two calls in a row have this id; results pair in order",
                    "unpaired": "this result answers no call that is still open",
                }[code]
                notes.append((code, "kept", at, None, told))
        return _Read(ir, reader.trail, notes, made)

    def _read_unit(self, reader: Reader, body: Any, unit: str) -> Any:
        top = self.model
        if unit in ("request", "response", "error"):
            reader.drops = paths.dropped(self.model, unit)
            ir = _whole(reader, self._unit(unit), body)
            if unit == "request":
                self._head(reader, ir)
            return ir
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
            return {"tools": reader.element(hole.shape or "", body, ())[0]}
        env = Env((), case, True)
        reader.hole(hole, body, (), (), env)
        reader.finish(env)
        ir = {}
        reader.fill(ir, None, env)
        reader.attach(ir, env)
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
    ) -> tuple[Any, list[Draft], Envelope | None]:
        writer = Writer(self.model, same, trail, options, self._ladder)
        writer.made = set() if same or made is None else made
        try:
            _reserve(writer, ir)
            for message in _messages(ir, unit) or ():
                for part in message.get("parts", ()):
                    if part.get("type") == "tool_call":
                        writer.calls[part.get("id", "")] = part.get("name", "")
            body, envelope = self._write_unit(writer, ir, unit)
        except Misfit as misfit:
            raise ConversionError(
                f"the {unit} has no form in {self.name}: {misfit.reason}",
                _source(misfit, trail, ir),
                _rule(misfit.pos),
            ) from None
        except RecursionError:
            raise ConversionError("the value is nested too deep") from None
        return body, writer.notes, envelope

    def _write_unit(self, writer: Writer, ir: Any, unit: str) -> tuple[Any, Envelope | None]:
        if unit == "request":
            return self._write_request(writer, ir)
        if unit in ("response", "error"):
            return _stepped(writer, self._unit(unit), ir), None
        if unit in ("messages", "message"):
            self._talk()
            found = conversation.write_messages(writer, ir)
            if unit == "message":
                if len(found) != 1:
                    raise Misfit(f"it becomes {len(found)} messages; use the unit `messages`")
                return found[0], None
            return found, None
        if unit in ("usage", "tool_call"):
            return _laddered(writer, unit, ir), None
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
        writer.leftover(view, wire)
        if wire is ABSENT:
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
            parts, rest = conversation.lift(writer, ir["messages"])
            whole["messages"] = rest
            if parts or _was_there(ir, self.name, writer.same):
                whole["system"] = parts
        envelope: Envelope | None = None
        outside: set[str] = set()
        if "envelope" in self.model.units:
            envelope, outside = self._envelope(writer, whole)
        case = shape.cases[0]
        view = View(whole, "request", case, writer)
        wire = writer.picture(case.wire, view, (), top=True)
        view.claims |= outside | {"system", "messages"}
        writer.leftover(view, wire)
        return wire, envelope

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
                best = misfit
                continue
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

    def _talk(self) -> rulefile.Conversation:
        if self.model.conversation is None:
            raise UsageError(f"{self.name} has no conversation")
        return self.model.conversation

    def _request_hole(self, field: str) -> tuple[Any, rulefile.Case]:
        from .picture import holes

        case = self._unit("request").cases[0]
        for hole in holes(case.wire):
            if hole.path == field or (hole.path == "." and hole.shape == field):
                return hole, case
        raise UsageError(f"{self.name} has no place for `{field}`")


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
        known = _options(options)
        judge = Policy(policy)
        if unit == "request" and source != target and not known:
            fast = self._fast(source, target)
            if fast is not None:
                try:
                    return _concluded(*fast.run(body, model, stream), judge)
                except fast.leave:
                    pass
        found = self._interpreted(body, source, target, unit, model, stream, known)
        return _concluded(*found, judge)

    def tier(self, body: Any, source: str, target: str) -> int:
        """Return which way a request takes: 1 compiled whole, 3 some messages or fields by the
        interpreter, 4 the interpreter takes it all. (Tier 2, a noted field, counts as 1.)"""
        fast = self._fast(source, target)
        return 4 if fast is None else int(fast.tier(body))

    def _fast(self, source: str, target: str) -> Fast | None:
        key = (source, target)
        if key not in self._pairs:
            from .emit import Cannot
            from .fast import Fast

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


def read_notes(found: list[tuple[str, str, Any, Any, str]], same: bool) -> list[Note]:
    """Make notes of what reading found; at home, what memory puts back is no change."""
    notes = []
    for code, effect, at, pos, text in found:
        if code in ("reworded", "inconsistent", "dropped") and same:
            continue
        kind = _effect("lost" if code == "unfit" and not same else effect)
        notes.append(Note(code, kind, severity_of(kind), pointer(at), None, _rule(pos), text))
    return notes


def _whole(reader: Reader, shape: Shape, body: Any) -> Any:
    pairs = [(shape, case) for case in shape.cases]
    try:
        return reader.first(pairs, body, (), False)
    except Misfit:
        return reader.first(pairs, body, (), True)


def _laddered(writer: Writer, kind: str, ir: Any) -> Any:
    from .picture import Hole

    pos = writer.dialect.node.pos
    hole = Hole(("part",), "each", kind, (), None, None, pos)
    if kind == "usage":
        return writer.shape(kind, ir)
    found = [w for _, _, w in writer.give([hole], ir)]
    if len(found) != 1:
        raise Misfit("no picture takes it")
    return found[0]


def _stepped(writer: Writer, shape: Shape, ir: Any) -> Any:
    mark = len(writer.notes)
    try:
        return writer.one(shape, ir)
    except Misfit as misfit:
        for row in writer.ladder.get(shape.name, ()):
            del writer.notes[mark:]
            try:
                new, _, path = ladder.step(row, ir, writer.trail)
                wire = _stepped(writer, shape, new)
            except Misfit:
                continue
            at = writer.trail.find(ir, path or None)
            made = (writer.written.get(id(new.get(key))) for key in row.after.names)
            place = next((found[1] for found in made if found), wire)
            writer.note(row.name, row.effect, at, row.pos, row.message, place)
            return wire
        raise misfit from None


def _was_there(ir: dict[str, Any], name: str, same: bool) -> bool:
    return same and any(
        m.get("spelled", {}).get(name, {}).get("", {}).get("head")
        for m in ir.get("messages", ())[:1]
        if isinstance(m, dict)
    )


def _home(ir: Any, name: str) -> bool:
    """Tell whether an IR value remembers this dialect."""
    stack = [ir]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if name in value.get("spelled", {}) or name in value.get("kept", {}):
                return True
            stack.extend(v for v in value.values() if isinstance(v, dict | list))
        elif isinstance(value, list):
            stack.extend(v for v in value if isinstance(v, dict | list))
    return False


def _reserve(writer: Writer, ir: Any) -> None:
    if not writer.limits.limits or not isinstance(ir, dict):
        return
    for tool in ir.get("tools") or ():
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            writer.limits.reserve("tool_name", tool["name"])
    for message in ir.get("messages") or ():
        for part in message.get("parts", ()) if isinstance(message, dict) else ():
            if isinstance(part, dict) and part.get("type") == "tool_call":
                if isinstance(part.get("name"), str):
                    writer.limits.reserve("tool_name", part["name"])
                if isinstance(part.get("id"), str):
                    writer.limits.reserve("call_id", part["id"])


def _messages(ir: Any, unit: str) -> list[dict[str, Any]] | None:
    if unit == "request":
        found = ir.get("messages") if isinstance(ir, dict) else None
        return found if isinstance(found, list) else None
    return ir if unit in ("messages", "message") else None


def _unit_out(ir: Any, unit: str) -> Any:
    if unit == "tools":
        return ir.get("tools", [])
    if unit == "tool":
        return ir["tools"][0]
    if unit == "tool_choice":
        return ir.get("tool_choice", ir)
    if unit == "message":
        return ir[0] if len(ir) == 1 else ir
    return ir


def _unit_in(ir: Any, unit: str) -> Any:
    if unit == "tools":
        return {"tools": ir}
    if unit == "tool":
        return {"tools": [ir]}
    if unit == "tool_choice" and not (
        isinstance(ir, dict) and ("tool_choice" in ir or "parallel_tool_calls" in ir)
    ):
        return {"tool_choice": ir}
    if unit == "message":
        return ir if isinstance(ir, list) else [ir]
    return ir


def _known_unit(unit: str) -> None:
    if unit not in UNITS:
        raise UsageError(f"there is no unit `{unit}`; there are: {', '.join(UNITS)}")


def _options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    known = dict(options or {})
    for key in known:
        if key not in OPTIONS:
            raise UsageError(f"there is no option `{key}`; there are: {', '.join(sorted(OPTIONS))}")
    if known.get("json_results", "data") not in ("data", "text"):
        raise UsageError("the option `json_results` is `data` or `text`")
    return known


def _json(body: Any) -> None:
    """Raise ConversionError for what JSON cannot hold, at its path."""
    stack: list[tuple[Any, tuple[Any, ...]]] = [(body, ())]
    while stack:
        value, at = stack.pop()
        if isinstance(value, dict):
            if len(at) > MAX_DEPTH * 2:
                raise ConversionError("the payload is nested too deep", pointer(at[:12]))
            for key, inner in value.items():
                if not isinstance(key, str):
                    raise ConversionError(f"a key is {type(key).__name__}, not text", pointer(at))
                if not key.isascii():
                    _utf8(key, at)
                if isinstance(inner, str) and inner.isascii():
                    continue
                stack.append((inner, (*at, key)))
        elif isinstance(value, list):
            if len(at) > MAX_DEPTH * 2:
                raise ConversionError("the payload is nested too deep", pointer(at[:12]))
            stack.extend((inner, (*at, i)) for i, inner in enumerate(value))
        elif isinstance(value, float):
            if not finite(value):
                raise ConversionError(f"{value} is no JSON number", pointer(at))
        elif isinstance(value, str):
            _utf8(value, at)
        elif isinstance(value, int):
            if not -MAX_NUMBER < value < MAX_NUMBER:
                raise ConversionError(
                    "this number has more digits than can be written", pointer(at)
                )
        elif value is not None:
            raise ConversionError(f"{type(value).__name__} is no JSON value", pointer(at))


def _utf8(text: str, at: tuple[Any, ...]) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ConversionError(
            "half of a surrogate pair stands alone in this text", pointer(at)
        ) from None


def _effect(word: str) -> Effect:
    found: Any = word
    return found  # type: ignore[no-any-return]


def _rule(pos: Any) -> str | None:
    return None if pos is None or not pos.file else str(pos)


def _source(misfit: Misfit, trail: Trail, ir: Any) -> str:
    at = trail.find(ir) if isinstance(ir, dict | list) else None
    return pointer(at) if at else ""


def finished(drafts: list[Draft], body: Any) -> list[Note]:
    if not drafts:
        return []
    # The whole body is walked only for notes that point into it.
    told = any(d.effect != "lost" and (d.owner is not None or d.place is not None) for d in drafts)
    places = Places(body if told else None)
    notes = []
    for d in drafts:
        target = None
        if d.effect != "lost":
            if d.owner is not None:
                target = places.find(d.owner, d.place)
            elif d.place is not None:
                target = places.find(d.place)
        source = None if d.source is None else pointer(d.source)
        notes.append(
            Note(d.code, d.effect, severity_of(d.effect), source, target, _rule(d.rule), d.message)
        )
    return notes


def _concluded(
    body: Any, notes: list[Note], envelope: Envelope | None, policy: Policy
) -> Conversion:
    stay, forbidden = policy.apply(notes)
    done = Conversion(body, stay, envelope)
    if forbidden is not None:
        raise PolicyError(forbidden, done)
    return done
