"""Reading a payload of any unit: pictures, then ids that are made, then calls and results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import hooks
from ..errors import UNFORESEEN, ConversionError, unforeseen
from ..interpreter import (
    answers,
    arguments,
    building,
    citations,
    conversation,
    pairing,
    prefix,
    rating,
    units,
    unpictured,
    within,
)
from ..interpreter.copies import parts_of
from ..interpreter.env import Env
from ..interpreter.views import Survey
from ..ir import TOKENS
from ..language.lenses import Misfit
from ..notes import Draft
from ..payload import check_json, check_unit
from ..results import rule_of
from ..room import TooDeep
from ..seeds import Seed, apart
from ..trail import At, Trail, pointer, value_at
from .hands import Reader

if TYPE_CHECKING:
    from ..files.halves import Cut
    from ..interpreter.recorder import Recorder
    from ..language.held import Held


class Read(NamedTuple):
    """What was read, and what is to be said of it."""

    ir: Any
    trail: Trail
    notes: list[tuple[str, str, Any, Any, str]]
    made: set[int]
    odd: list[Draft]  # calls and results that do not pair
    survey: Survey | None = None  # what its messages are like, where it is a list of them


def unread(ir: Any, trail: Trail) -> Read:
    """Return an IR value that stands for one that was read."""
    return Read(ir, trail, [], set(), [])


def read(
    rules: Held,
    body: Any,
    unit: Any,
    model: str | None,
    stream: bool | None,
    options: dict[str, Any],
    recorder: Recorder | None = None,
    sure: bool = False,
) -> Read:
    """Read a payload of a unit. Raises ConversionError, UsageError, RuleError.

    `sure` says that it is known to be JSON; `unit` is what a caller said, and looked at here.
    """
    try:
        check_unit(unit)
        cut: Cut = []
        if unit == "session" and not sure:
            from ..files import halves

            body, cut = halves.checked(body)
        elif not sure:
            check_json(body)
        returned = options.get("returned", False)  # home, all stays as it is: nothing is written
        gone = options.get("away") and not returned
        wanted, unit = unit, units.available_unit(rules.model, unit) if gone else unit
        reader = Reader(rules.model.of_unit(unit), options, recorder=recorder)
        ir = _read_pictures(rules, reader, body, unit)
        if cut and not returned:
            halves.remember(reader, ir, cut)
        if wanted == "request":
            for key, value in (("model", model), ("stream", stream)):
                if value is not None:
                    ir.setdefault(key, value)
        if unit == "response" and not returned:
            reader.trail.seed = _seed(reader, ir, body)
        if unit == "response" and "candidate" in ir:
            units.hand_to_answer(reader, ir)
        messages = units.messages_of(ir, unit)
        survey = None if messages is None else Survey(messages)
        if survey is None or survey.cited:
            citations.spread_citations(reader, ir, messages)
        for one in units.list_at(ir, "candidates") if unit == "response" else ():
            if one.get(TOKENS):
                rating.share_tokens(reader, one)
        kinds_in_texts = frozenset[str]()  # kinds of parts that stood within texts
        if gone and reader.dialect.within and isinstance(ir, list | dict):
            kinds_in_texts = within.split_texts(reader, units.owners_of_parts(ir, messages))
            survey = Survey(messages) if kinds_in_texts and messages is not None else survey
        made: set[int] = set()
        lacks = not returned if survey is None else not survey.paired
        if lacks:  # else all have ids, or need none
            made = _run_hooks(reader, ir, body, within.CALL in kinds_in_texts)
            survey = Survey(messages) if made and messages is not None else survey
        odd = _pair(reader, ir, messages, survey, bool(gone))
        if not gone and within.writes_calls(reader.dialect):
            odd = []  # calls stand in texts, and are no parts here
        if unit == "response" and (gone or options.get("asked") is not None):
            units.join_pieces(reader, ir)
            odd += _separate_ids(reader.trail, ir, options.get("ids", ()))
        if wanted == "request" and options.get("check_arguments"):
            odd += arguments.check_arguments(ir, reader.trail)
        return Read(ir, reader.trail, reader.notes, made, odd, survey)
    except UNFORESEEN as error:
        unforeseen(error, rules.model.pos)


def _read_pictures(rules: Held, reader: Reader, body: Any, unit: str) -> Any:
    """Return what the pictures of a unit read. Raises ConversionError."""
    try:
        ir = _unit(reader, body, unit)
        # Neither a head, which has an id or a time, nor a message, but something else.
        if unit == "session" and "kept" in ir and not ir["messages"] and ir.keys() <= _HEADLESS:
            _no_session(rules, body)
    except Misfit as misfit:
        misfit.__traceback__ = None
        rule = rule_of(misfit.pos)
        raise ConversionError(misfit.reason, pointer(misfit.at), rule) from None
    except RecursionError:
        raise TooDeep("the payload is nested too deep") from None
    return ir


def _seed(reader: Reader, ir: Any, body: Any) -> Seed:
    """Return the seed of the ids that are made for a response."""
    at = None if ir.get("id") else reader.trail.find(ir, "created")
    time = None if at is None else value_at(body, at)
    return Seed(reader.options.get("asked"), ir.get("id"), time, body, reader.dialect.pieces)


def _separate_ids(trail: Trail, ir: Any, before: Iterable[str]) -> list[Draft]:
    """Let no two calls of a response, and of those before, have one id; return drafts of it."""
    drafts = list[Draft]()
    assert trail.seed is not None
    for part, old in apart(ir.get("candidates") or [], trail.seed, before):
        trail.was[id(part)] = old
        at = trail.find(part, "id") or trail.find(part)
        code, effect, reason = pairing.new_id_note(old)
        drafts.append(Draft(code, effect, at, None, reason, None, part))
    return drafts


def split_answer_texts(rules: Held, read: Read, options: dict[str, Any]) -> None:
    """Let what stands within the texts of an answer that was read as at home be parts."""
    reader = Reader(rules.model, options)
    reader.trail, reader.notes = read.trail, read.notes
    if within.CALL in within.split_texts(reader, read.ir.get("candidates", [])):
        read.made.update(_run_hooks(reader, read.ir, None, True))


def _run_hooks(reader: Reader, ir: Any, body: Any, calls_in_texts: bool) -> set[int]:
    """Let the dialect's hooks make ids, and return the parts that got one.

    Calls that were `calls_in_texts` in texts have none in any dialect.
    """
    made: set[int] = set()
    names = reader.dialect.hooks or (("call-ids",) if calls_in_texts else ())
    whole = ir if isinstance(ir, dict) else {"messages": ir} if isinstance(ir, list) else {}
    for name in names:
        found = hooks.HOOKS[name](whole, body, reader.dialect.name, reader.trail)
        made.update(map(id, found))
        if reader.recorder is not None:
            reader.recorder.hooked.update((id(part), (part, name)) for part in found)
    return made


# Why calls and results are odd, by the code of the note and the type of the part.
NO_CALL = "unpaired", "tool_result"
_UNPAIRED = {
    ("duplicate-id", "tool_call"): "two calls in a row have this id; results pair in order",
    NO_CALL: "this result answers no call that is still open",
    ("unpaired", "tool_call"): "this call has no result in the conversation",
    (
        "inconsistent",
        "tool_result",
    ): "this result is of another kind than its call: one is freeform",
}


def _pair(reader: Reader, ir: Any, messages: Any, survey: Survey | None, away: bool) -> list[Draft]:
    """Give results the names of their calls, and return drafts for what does not pair."""
    dialect = reader.dialect
    odd: list[Draft] = []
    if survey is None:
        for one in ir.get("candidates", ()) if isinstance(ir, dict) else ():
            if parts_of([one], "tool_result"):
                pairing.name_results([one], dialect.name)
        return odd
    if reader.recorder is not None:
        reader.recorder.names.update(units.call_name_places(messages, reader.trail))
    if survey.paired and not (survey.freeform and dialect.tells_freeform):
        pairing.name_known_results(messages, survey.names, dialect.name, dialect.result_names)
        return odd
    again = answers.repeated_results(messages) if dialect.holds_results else ()
    kept = not away and pairing.names_stored(dialect, ir, messages)
    for code, part in pairing.name_results(
        messages, dialect.name, dialect.tells_freeform, dialect.result_names
    ):
        if id(part) in again or (kept and (code, part["type"]) == NO_CALL):
            continue  # at home it stands in its call, too, or the API keeps its call
        at = reader.trail.find(part) or ()
        reason = _UNPAIRED[code, part["type"]]
        odd.append(Draft(code, "kept", at, None, reason, None, part))
    return odd


def _unit(reader: Reader, body: Any, unit: str) -> Any:
    """Read a payload by the picture of its unit; raises Misfit, or UsageError where none is."""
    dialect = reader.dialect
    if unit in ("request", "response", "error"):
        reader.drops = dialect.dropped(unit)
        shape = units.unit_shape(dialect, unit)
        try:
            ir = reader.whole(shape, body, ())
        except Misfit:
            if unit != "error" or not isinstance(body, str | dict | list):
                raise
            return unpictured.read(reader, shape, body)
        if unit == "request":
            _system_message(reader, ir)
            prefix.read_end(dialect, units.list_at(ir, "messages"))
        return ir
    if unit == "session":
        from ..files import sessions

        return sessions.read(reader, units.unit_shape(dialect, unit), body)
    if unit == "messages":
        units.conversation_of(dialect)
        return conversation.read_messages(reader, body, ())
    if unit == "message":
        units.conversation_of(dialect)
        return reader.message(body, ())[1]
    if unit == "usage":
        return reader.shape(unit, body, (), True)
    if unit in ("tool_call", "tool_result"):
        try:
            return reader.shape(unit, body, (), True)
        except Misfit:  # it may be of another form, of which messages hold them
            parts = reader.element(units.hole_of_kind(dialect, unit).named, body, ())[0]
            if [part["type"] for part in parts] != [unit]:
                raise
            return parts[0]
    hole, case = units.request_hole(dialect, "tools" if unit in ("tools", "tool") else unit)
    if unit == "tools" and not isinstance(body, list):
        raise Misfit("expected a list of tools", (), hole.pos)
    if unit == "tool":
        if not isinstance(body, dict):
            raise Misfit("expected a tool", (), hole.pos)
        tools = reader.element(hole.named, body, ())[0]
        if len(tools) != 1:
            raise Misfit(f"it holds {len(tools)} tools; use the unit `tools`", (), hole.pos)
        return {"tools": tools}
    env = Env((), case, True)
    reader.hole(hole, body, (), (), env)
    reader.finish(env)
    ir = {}
    building.fill(reader, ir, None, env)
    building.attach(reader, ir, env)
    return ir


_HEADLESS = frozenset(("messages", "kept", "own", "spelled"))


def _no_session(rules: Held, body: Any) -> None:
    """Refuse a document of which neither a head nor a message was read; raises Misfit."""
    pos = units.unit_shape(rules.model, "session").pos
    try:
        found = _unit(Reader(rules.model.of_unit("messages"), {}), body, "messages")
    except (Misfit, ConversionError):
        found = []
    if found:
        raise Misfit("these are messages alone; the unit `messages` takes them", (), pos)
    name = rules.model.name
    raise Misfit(f"this holds neither a message of {name} nor the head of a session", (), pos)


def _system_message(reader: Reader, ir: dict[str, Any]) -> None:
    parts = ir.pop("system", None)
    if parts is None:
        return
    message = {"role": "system", "parts": parts}
    message["spelled"] = {reader.dialect.name: {"": {"head": True}}}
    reader.trail.late.append((message, (), _trail_system, ir))  # mostly nobody asks
    ir["messages"] = [message, *ir.get("messages", ())]


def _trail_system(message: Any, ir: Any, _: At, trail: Trail) -> None:
    """Say that a message came from where the system text of a request stood."""
    trail.put(message, None, trail.find(ir, "system"))
