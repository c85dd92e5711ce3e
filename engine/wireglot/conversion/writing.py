"""Writing a payload of any unit: what must hold of the whole first, then its pictures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import UNFORESEEN, ConversionError, UsageError, unforeseen
from ..interpreter import (
    choice,
    demands,
    making,
    pairing,
    properties,
    reciting,
    speaking,
    system,
    turns,
    units,
    unpictured,
    within,
)
from ..interpreter.leftover import leftover
from ..interpreter.views import Survey, View, Written, read_by
from ..jsontext import copied
from ..language.lenses import Misfit
from ..language.model import Dialect, once
from ..language.picture import ABSENT
from ..notes import Note, asked
from ..results import Envelope, finished, read_notes, rule_of
from ..room import TooDeep
from ..tagged import Several
from ..trail import Trail, pointer, put, value_at
from .hands import Writer

if TYPE_CHECKING:
    from ..language.held import Held
    from ..language.shape import Shape
    from .reading import Read

Enveloped = tuple[Envelope, frozenset[str]]
REMEMBERED = 1000  # envelopes of a dialect
PLAIN = frozenset(map(type, (None, ABSENT, "", True)))  # what is told apart by value


def write(
    rules: Held,
    read: Read,
    unit: str,
    same: bool,
    options: dict[str, Any],
    prepare: Callable[[Writer], None] | None = None,
    trusts: bool = False,
) -> tuple[Any, Writer, Envelope | None]:
    """Write what was read as a payload of a unit. Raises ConversionError, UsageError, RuleError.

    Returns it, the writer, which has the notes, and the envelope of a request. `trusts` says that
    nobody has touched the IR since it was read.
    """
    writer = Writer(rules.model.of_unit(unit), same, read.trail, options, rules.ladder)
    writer.unedited, writer.survey = trusts, read.survey
    try:
        body, envelope = write_with(writer, read, unit, prepare)
    except UNFORESEEN as error:
        unforeseen(error, rules.model.pos, options)
    return body, writer, envelope


def returned(
    rules: Held, body: Any, read: Read, unit: str
) -> tuple[Any, list[Note], Envelope | None] | None:
    """Give back a payload that its own dialect has read, and of which nothing else was asked.

    Writing would give the same JSON (the laws hold that), so nothing is remembered when reading
    and nothing is written: the body is copied. Notes point where they pointed, for all of it is
    there still. Returns None where the caller says of a request what would stand in its body.
    """
    envelope, outside = None, frozenset[str]()
    if unit == "request":
        if "envelope" in rules.model.units:
            _, known = _cached(dialect := rules.model.of_unit(unit), True, read.ir)
            if known is None:
                writer = Writer(dialect, True, read.trail, {}, rules.ladder)
                known = envelope_of(writer, read.ir)
            envelope, outside = known
        for said in ("model", "stream"):
            if said in read.ir and said not in outside and read.trail.find(read.ir, said) is None:
                return None
    odd = [note._replace(target_path=note.source_path) for note in finished(read.odd, None)]
    return copied(body), [*read_notes(read.notes, True), *odd], envelope


def write_with(
    writer: Writer, read: Read, unit: str, prepare: Callable[[Writer], None] | None = None
) -> tuple[Any, Envelope | None]:
    """Write what was read by a writer that was made for it; raises ConversionError, UsageError."""
    ir, trail = read.ir, writer.trail
    writer.made = set() if writer.same and not writer.repair else read.made
    if unit == "request" or (unit == "session" and "request" in writer.dialect.units):
        writer.request()  # a session in a form that has requests obeys what is asked of them
    writer.lone_element = unit in ("tool", "tool_call", "tool_result")
    writer.notes.extend(read.odd)
    if unit == "request" and _is_session(trail.source):
        from ..files import pieces  # in which what was said at once may stand

        ir, writer.survey = pieces.join_said_at_once(writer, ir), None
    messages = units.messages_of(ir, unit)
    if messages is not None:
        writer.survey = survey = writer.survey or Survey(messages)
        writer.call_names = survey.names
        writer.names_stored = writer.same and pairing.names_stored(writer.dialect, ir, messages)
        if unit == "request" and survey.declares:
            ir = demands.lift_declared(writer, ir)
    cited = messages is not None and survey.cited
    if cited or writer.same or unit == "response":
        ir = reciting.gather_citations(writer, ir, unit, cited)
    if unit == "response" and units.fields_of_answer(writer.dialect):
        ir = units.hand_to_response(writer, ir)
    if writer.limits.limits:
        writer.limits.later(ir)
    try:
        if prepare is not None:
            prepare(writer)
        body, envelope = _unit(writer, ir, unit)
    except Misfit as misfit:
        misfit.__traceback__ = None
        raise ConversionError(
            f"the {unit} has no form in {writer.dialect.name}: {misfit.reason}",
            pointer(trail.find(ir) or ()),
            rule_of(misfit.pos),
        ) from None
    except RecursionError:
        raise TooDeep("the value is nested too deep") from None
    if writer.notes:
        writer.place_notes()
    if writer.dialect.within and not writer.same and isinstance(ir, list | dict):
        within.note_mistaken(writer, units.owners_of_parts(ir, messages))
    return body, envelope


def _is_session(source: Any) -> bool:
    """Tell whether what was read of a dialect where a request is wanted is a session."""
    return source is not None and "session" in source.units and "request" not in source.units


def _unit(writer: Writer, ir: Any, unit: str) -> tuple[Any, Envelope | None]:
    """Write an IR value by the picture of its unit, and a request's envelope; raises Misfit."""
    if unit == "request":
        return _request(writer, ir)
    if unit == "error" and writer.same:
        if (body := unpictured.unchanged_body(writer, ir)) is not ABSENT:
            return body, None
    if unit == "response" and not writer.same:
        ir = _acting_first(writer, ir)
    if unit == "error" and not writer.same:
        ir = unpictured.with_kind(writer, ir)
    if unit in ("response", "error"):
        answer = units.write_stepping(writer, units.unit_shape(writer.dialect, unit), ir)
        making.number_ids(writer, answer)
        return answer, None
    if unit in ("session", "messages", "message"):
        from ..files import sessions
    if unit == "session":
        from ..files import halves

        made = sessions.write(writer, units.unit_shape(writer.dialect, unit), ir)
        return halves.put_back(writer, ir, made), None
    if unit in ("messages", "message"):
        units.conversation_of(writer.dialect)
        if isinstance(ir, list):
            ir = sessions.said(writer, ir)
        found = speaking.write_messages(writer, ir, whole=unit != "message")
        if unit == "message":
            if len(found) != 1:
                raise Misfit(f"it becomes {len(found)} messages; use the unit `messages`")
            return found[0], None
        return found, None
    if unit == "tool_choice":
        ir = choice.names_alone(writer, ir)
    if unit in ("usage", "tool_call", "tool_result"):
        return units.write_alone(writer, unit, ir), None
    hole, case = units.request_hole(writer.dialect, "tools" if unit in ("tools", "tool") else unit)
    ir = properties.rename_properties(writer, ir)
    view = View(ir, "request", case, writer)
    wire = writer.hole(hole, view, (), None)
    if writer.recorder is not None:
        writer.recorder.top = Written(hole, view, ())
    leftover(writer, view, wire)
    if wire is ABSENT:
        raise Misfit("nothing of it has a place")
    if unit == "tool":
        if len(wire) != 1:
            raise Misfit("the tool has no place")
        return wire[0], None
    return wire, None


def _acting_first(writer: Writer, ir: dict[str, Any]) -> dict[str, Any]:
    """Let the answer that acts be the first, where the target has place for one alone."""
    owners = ir.get("candidates") or []
    if len(owners) < 2:
        return ir
    kinds = [[part.get("type") for part in one.get("parts", ())] for one in owners]
    nth = units.acting_answer(kinds)
    shape = units.unit_shape(writer.dialect, "response")
    if nth == 0 or any("single" not in hole.lenses for hole in units.answer_holes(writer.dialect)):
        return ir
    reason = "of several answers this one calls tools or says something, and the target holds one"
    writer.note_part("reordered", "moved", owners[nth], reason, shape.pos)
    rest = [*owners[:nth], *owners[nth + 1 :]]
    return writer.trail.changed(ir, candidates=[owners[nth], *rest])


def _request(writer: Writer, ir: Any) -> tuple[Any, Envelope | None]:
    """Write a request: what must hold of it as a whole first, then its pictures; raises Misfit."""
    shape = units.unit_shape(writer.dialect, "request")
    enforced, survey = writer.enforced, writer.survey
    whole = writer.trail.changed(ir)
    talks = writer.dialect.conversation is not None and isinstance(ir.get("messages"), list)
    # Mostly no message is the system's, and each says something.
    if talks and (writer.same or survey is None or survey.system or not survey.none_empty):
        parts, whole["messages"] = system.lift(writer, ir["messages"])
        if parts or units.had_system(writer, ir):
            whole["system"] = parts
    if "tool_choice" in whole:
        whole = turns.whole_tool_names(writer, whole)
    if "response_format" in whole:
        form = writer.dialect.bounds.get("response_format", {})
        if not demands.why_not(writer, whole, form) and not _takes_schema(writer, whole):
            whole = turns.say_json(writer, whole)
    narrowed = whole
    if "tool_choice" in whole and ("narrow-tools", "") in enforced:
        narrowed = _narrow_tools(writer, whole)
    if narrowed is whole and ("declare-called", "") in enforced:
        narrowed = turns.declare_called(writer, whole)  # else what is sent says what may be called
    whole = turns.drop_hosted_tools(writer, narrowed) if ("unmixed", "") in enforced else narrowed
    if "tools" in whole or "response_format" in whole:
        whole = properties.rename_properties(writer, demands.loosen_strict(writer, whole))
    envelope: Envelope | None = None
    outside = frozenset[str]()
    if "envelope" in writer.dialect.units:
        envelope, outside = envelope_of(writer, whole)
    known = read_by(writer, ir) if writer.same else None
    case = next((case for case in shape.cases if case.name == known), shape.cases[0])
    view = View(whole, "request", case, writer)
    if case.ir is not None:
        with contextlib.suppress(Misfit):  # what is there and should not be is noted as left over
            view.match(case.ir, whole)
    demands.meet_limits(writer, whole, view)
    if "reasoning" in whole:
        writer.thinks = _may_think(writer, shape, whole)
    writer.request_lists, writer.envelope_fields = view.lists, outside
    wire = writer.quick_request(case, whole)
    if wire is ABSENT:
        wire = writer.picture(case.wire, view, (), top=True)
        view.claims |= outside
        if whole.get("system") and "system" not in view.claims:
            heads = [at for part in whole["system"] if (at := writer.trail.find(part))]
            if heads:
                writer.trail.put(whole, "system", Several.of(heads))
        leftover(writer, view, wire)
    if whole.get("stream") is True and not writer.same:
        _ask_for_stream(writer, wire)
    return wire, envelope


def _takes_schema(writer: Writer, ir: dict[str, Any]) -> bool:
    """Tell whether what would be said in words, the schema of the answer, is taken as it is."""
    form = ir["response_format"]
    if writer.same or not isinstance(form, dict) or form.get("type") != "json_schema":
        return False
    if not writer.enforced_args("say-schema"):
        return False
    return _probe_field(writer, ir, "response_format") is not None


def _probe_field(writer: Writer, ir: dict[str, Any], field: str) -> View | None:
    """Return what writing one field of a request saw; None where nothing of it is written."""
    hole, case = units.request_hole(writer.dialect, field)
    probe = Writer(writer.dialect, False, Trail(), writer.options)
    view = View(ir, "request", case, probe)
    return None if probe.hole(hole, view, (), None) is ABSENT else view


def _may_think(writer: Writer, shape: Shape, ir: dict[str, Any]) -> bool:
    """Tell whether the model thinks: a switch that the target has no place for changes nothing."""
    thinking, talk = ir.get("reasoning"), writer.dialect.conversation
    if not isinstance(thinking, dict) or thinking.get("effort") != "none":
        return True
    if talk is None or all(one.stands != "reasoning" for one in talk.beside):
        return False  # nobody asks
    probe = Writer(writer.dialect, False, Trail(), writer.options, writer.ladder)
    case = shape.cases[0]
    told: dict[str, Any] = {"messages": [], "reasoning": thinking}
    if "model" in ir:
        told["model"] = ir["model"]
    with contextlib.suppress(Misfit):
        wire = probe.case(shape, case, told)
        told = probe.reader().first([(shape, case)], wire, (), False)
    return bool(told.get("reasoning", {}).get("effort") != "none")


def _ask_for_stream(writer: Writer, wire: dict[str, Any]) -> None:
    """Let a request for a stream ask for what comes only then."""
    stream = writer.dialect.stream
    for ask in (one for found in stream.asks.values() for one in found) if stream else ():
        before = value_at(wire, ask.keys[:-1])
        if put(wire, ask.keys, ask.value):
            owner = value_at(wire, ask.keys[:-1])
            for draft in writer.notes if before is not None else ():
                draft.owner = owner if draft.owner is before else draft.owner
            reason = asked(ask.keys[-1])
            writer.note("filled-in", "added", None, ask.pos, reason, owner, ask.keys[-1])


def _narrow_tools(writer: Writer, ir: dict[str, Any]) -> dict[str, Any]:
    """Send fewer tools where that is how a dialect says which may be called."""
    choice = ir.get("tool_choice")
    if choice != "none" and not isinstance(choice, dict):  # all of them may be called
        return ir
    tools = units.unit_shape(writer.dialect, "request").cases[0].lists.get("tools", [])
    with contextlib.suppress(UsageError):  # the choice has no place at all
        view = _probe_field(writer, ir, "tool_choice")
        if view is not None and any(one.startswith("tool_choice") for one in view.claims):
            return ir
    return turns.narrow_tools(writer, ir, tools)


def envelope_of(writer: Writer, ir: dict[str, Any]) -> Enveloped:
    """Write what a request keeps outside its body; also return the fields that went there.

    It says little, and mostly the same: what came of some texts and switches is remembered.
    """
    dialect, shape, mark = writer.dialect, writer.dialect.units["envelope"], len(writer.notes)
    free = not writer.options and writer.recorder is None
    said, known = _cached(dialect, writer.same, ir) if free else (None, None)
    if known is not None:
        return known
    found = _write_envelope(writer, shape, ir)
    if said is None or len(writer.notes) > mark:
        return found
    made = _envelope_cache(dialect, writer.same)[1]
    if len(made) >= REMEMBERED:
        made.clear()
    made[said] = found
    return _copied_envelope(found)


@once
def _envelope_cache(dialect: Dialect, same: bool) -> tuple[list[str], dict[Any, Enveloped]]:
    """Return the fields of which the envelope is made, and what was made, by what these say."""
    return sorted(dialect.fields_of(dialect.units["envelope"].cases)), {}


def _cached(dialect: Dialect, same: bool, ir: dict[str, Any]) -> tuple[Any, Enveloped | None]:
    """Return what a request says, None where that is not remembered, and its envelope if it is."""
    fields, made = _envelope_cache(dialect, same)
    said = tuple([ir.get(field, ABSENT) for field in fields])
    if not PLAIN.issuperset(map(type, said)):
        return None, None
    found = made.get(said)
    return said, None if found is None else _copied_envelope(found)


def _copied_envelope(found: Enveloped) -> Enveloped:
    """Return an envelope whose headers its caller may change."""
    one, claims = found
    return tuple.__new__(Envelope, (*one[:-1], dict(one[-1]))), claims


def _write_envelope(writer: Writer, shape: Shape, ir: dict[str, Any]) -> Enveloped:
    """Write the envelope by the first case that fits, with the fields that it took."""
    best = Misfit("the envelope fits nothing")
    for case in shape.cases:
        view = View(ir, "envelope", case, writer)
        try:
            view.match(case.ir, ir)
            wire = writer.picture(case.wire, view, (), top=True)
        except Misfit as misfit:
            misfit.__traceback__ = None
            best = misfit
            continue
        if writer.recorder is not None:
            writer.recorder.envelope = wire
        goes = (wire.get("method", ""), wire.get("path", ""), wire.get("headers") or {})
        return Envelope(wire.get("model"), wire.get("stream"), *goes), frozenset(view.claims)
    raise best
