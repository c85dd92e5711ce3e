"""What a request must hold as a whole: choices of tools that are there, numbers within bounds."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from ..ir import without_memory
from ..language import picture as pic
from ..language.lenses import Misfit, stringify
from ..language.model import Dialect, once
from ..language.shape import fixed_words
from ..tagged import every
from . import choice, marks
from .copies import is_unchanged, parts_of, with_parts
from .jobs import WriteJob
from .leftover import note_unknown_keys, weigh_own

if TYPE_CHECKING:
    from ..language.schema import Schema
    from ..language.source import Pos
    from ..trail import At
    from .views import View


def meet_limits(writer: WriteJob, ir: dict[str, Any], view: View) -> None:
    """Change the fields of a request that the target would refuse beside the others."""
    if not writer.repair:
        return
    dialect = writer.dialect
    bounds = dialect.bounds
    concerns = _limited_fields(dialect)
    waits = "cache" in bounds and (writer.survey is None or writer.survey.marked)
    if concerns is not None and concerns.isdisjoint(ir) and not waits:
        return  # mostly nothing is said of what has limits
    marked = marks.find_marks(writer, ir) if "cache" in bounds else {}
    if marked:
        one = bounds["cache"].get("with")  # a field that marks what comes last
        there = one is not None and isinstance(view.peek(one), dict)
        marks.limit_marks(writer, ir, marked, bounds["cache"]["count"] - there, view.case.pos)
    # Before the choice, which may name a tool that is cut off.
    for path, bound in _list_limits(dialect):
        if path in ir:
            marks.limit_list(writer, ir, path, bound, view.case.pos)
    choice.meet_tools(writer, ir, view)
    bound_fields(writer, ir, None, view)


def bound_fields(
    writer: WriteJob, ir: dict[str, Any], heads: Collection[str] | None, view: View
) -> None:
    """Bring the numbers of some fields, of all for None, within their bounds."""
    for head, path, bound in _number_limits(writer.dialect) if writer.repair else ():
        if head not in ir and "else" not in bound:
            continue  # mostly nothing is said
        if heads is None or head in heads:
            _bound_field(writer, ir, path, bound, view)


@once
def _limited_fields(dialect: Dialect) -> frozenset[str] | None:
    """Return the fields beside messages of which anything is asked; None if it always is."""
    heads = frozenset(path.partition(".")[0] for path in dialect.bounds).union(choice.OF_TOOLS)
    if any("else" in bound for bound in dialect.bounds.values()):
        return None
    return heads.union(("tools", "system")) if "cache" in heads else heads


@once
def _list_limits(dialect: Dialect) -> list[tuple[str, dict[str, Any]]]:
    """Return the fields of a request that are lists of which some elements are taken only."""
    bounds = dialect.bounds.items()
    return [(path, one) for path, one in bounds if not one.keys().isdisjoint(marks.OF_LISTS)]


_LAST = frozenset(("reasoning", "may-reason"))


@once
def _number_limits(dialect: Dialect) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the bounds of numbers: the field of a request, the path, and what is said of it."""
    found = [(path.partition(".")[0], path, bound) for path, bound in dialect.bounds.items()]
    # What reasoning forbids comes last, for it may have been left out itself; what must be below
    # another number comes behind that one.
    found.sort(
        key=lambda one: (not _LAST.isdisjoint(one[2].get("not-with", ())), "below" in one[2])
    )
    return [one for one in found if one[2].keys().isdisjoint(marks.OF_LISTS)]


def lift_declared(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Let tools that messages declare stand among the others, where they have no place there."""
    messages = ir.get("messages")
    if writer.same or not isinstance(messages, list):
        return ir
    kept = _declaring_names(writer.dialect)
    talk = writer.dialect.conversation
    pos = talk.pos if talk is not None else None
    tools, out = list(ir.get("tools") or ()), []
    known = {tool["name"]: tool for tool in tools if "name" in tool}
    for message in messages:
        parts = message.get("parts", ())
        found = [part for part in parts if _declares(part, kept)]
        gone = {id(part) for part in found if part["type"] == "native"}  # which say nothing else
        said = [part for part in parts if id(part) not in gone]
        rest = [_without_tools(writer, part, kept) for part in said]
        if rest or not parts:
            out.append(with_parts(writer, message, rest))
        else:
            _note_declaring(writer, message, pos)
        for part in found:
            if id(part) in gone:
                _note_declaring(writer, part, pos)
            for tool in part["tools"]:
                before = known.get(tool["name"]) if "name" in tool else None
                if before is not None and without_memory(tool) != without_memory(before):
                    reason = "another tool of this name is declared before"
                    writer.note_lost("no-place", tool, reason, pos)
                    continue
                reason = "the target declares tools in one place"
                writer.note_part("lifted", "moved", tool, reason, pos)
                if before is None:
                    tools.append(tool)
                    known.update({tool["name"]: tool} if "name" in tool else {})
    if is_unchanged(out, messages):
        return ir
    return writer.trail.changed(ir, messages=out, tools=tools)


def _declares(part: dict[str, Any], kept: Collection[Any]) -> bool:
    """Tell whether a part of a message declares tools, and has no place here."""
    tools = part.get("tools") if part.get("type") in ("native", "tool_result") else None
    if not tools or part.get("name") in kept:
        return False
    return all(isinstance(tool, dict) for tool in tools)


def _without_tools(writer: WriteJob, part: dict[str, Any], kept: Collection[Any]) -> dict[str, Any]:
    """Return a result without the tools that it declares, which may be none."""
    if "tools" not in part or part.get("type") != "tool_result" or part.get("name") in kept:
        return part
    return writer.trail.without(part, "tools")


def _note_declaring(writer: WriteJob, part: dict[str, Any], pos: Pos | None) -> None:
    """Note what else is said by a part that declares tools, or a message that does nothing else."""
    for family, own in (part.get("own") or {}).items():
        for name, value in own.items():
            weight, reason = weigh_own(writer, "tools", family, name, value)
            writer.note_lost("own-field", own, reason, pos, name, weight)
    note_unknown_keys(writer, part, "tools", pos)


@once
def _declaring_names(dialect: Dialect) -> frozenset[Any]:
    """Return the names of those parts of messages that declare tools in a dialect."""
    declaring = [
        c for c in dialect.shape_cases if any(h.path == "tools" for h in pic.holes(c.wire))
    ]
    return fixed_words(declaring, "/name")


def loosen_strict(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Write schemas of what is strict as they can be kept strictly, where that only adds to them.

    Other tools, and structured output, are strict no longer.
    """
    name = next(iter(writer.enforced_args("strict")), None)
    schema = None if name is None else writer.dialect.schemas.get(name)
    if schema is None:
        return ir
    new: dict[str, Any] = {}
    if isinstance(tools := ir.get("tools"), list):
        out = [_as_strict(writer, schema, tool, "parameters") for tool in tools]
        new |= {} if is_unchanged(out, tools) else {"tools": out}
    if (form := ir.get("response_format")) is not None:
        fresh = _as_strict(writer, schema, form, "schema")
        new |= {} if fresh is form else {"response_format": fresh}
    return writer.trail.changed(ir, **new) if new else ir


def _as_strict(writer: WriteJob, schema: Schema, owner: Any, key: str) -> Any:
    """Return a tool or a format as it can be strict, or as one that is not."""
    if not isinstance(owner, dict) or owner.get("strict") is not True:
        return owner
    given = owner.get(key)
    if given is None and not writer.same:
        given = {}
    if not isinstance(given, dict) or given.get("type", schema.root) != schema.root:
        return owner  # no tool may have such a schema, which is another matter
    typed = "type" in given
    lost: At | None = ()  # what of it cannot be kept strictly
    try:
        wire, changes = schema.write(given if typed else {"type": schema.root, **given})
        odd = next((one for one in changes if one.effect != "added"), None)
        if typed or not changes:  # beside a type, which is filled in later, nothing is added
            lost = None if odd is None else odd.at
    except Misfit:
        changes = []
    pos = writer.rule("strict")
    if lost is not None:
        # At home the schema is at fault, abroad it is `strict` that is lost.
        at = writer.trail.find(owner, key if writer.same else "strict")
        where = (*at, *lost) if at is not None and writer.same else at
        why = "nothing strict takes such a schema; it is strict no longer"
        writer.note("loosened", "lost", where, pos, why)
        return writer.trail.without(owner, "strict")
    for one in changes:
        writer.note(one.code, "added", None, pos, one.message, one.owner, one.key)
    return writer.trail.changed(owner, **{key: wire}) if changes else owner


def _bound_field(
    writer: WriteJob, ir: dict[str, Any], path: str, bound: dict[str, Any], view: View
) -> None:
    """Bring a number within its bounds; where that cannot be, leave out what was said."""
    head, _, last = path.partition(".")
    owner = ir.get(head) if last else ir
    said = owner.get(last or head) if isinstance(owner, dict) else None
    if (said is None and "else" not in bound) or said == {"type": "text"}:
        return  # nothing is asked for
    refused = why_not(writer, ir, bound)
    if refused is not None and "else" in bound:
        if said != bound["else"]:
            if ir.get(head) is not None:  # with all that is said beside it
                _drop(writer, ir, head, refused, view)
            reason = f"`{bound['else']}` stands here: {refused}"
            writer.note_field(path, "filled-in", "added", None, view.case.pos, reason)
            _put(writer, ir, path, bound["else"])
        return
    numeric = isinstance(said, int | float) and not isinstance(said, bool)
    if numeric and "but" in bound and _clamped(said, bound) == bound["but"]:
        refused = None
    if refused is not None and (numeric or bound.keys() == {"not-with"}):
        _drop(writer, ir, path, refused, view)
        return
    if not numeric:
        return
    value = _clamped(said, bound)
    below = bound.get("below")
    top = ir.get(below) if below else None
    if below and top is None:
        filled = (h.value for h in pic.holes(view.case.wire) if (h.path, h.mark) == (below, "fill"))
        usual = next(filled, None)
        if isinstance(usual, int) and value >= usual:
            writer.fill_values[below] = int(value) + usual
    elif isinstance(top, int) and value >= top:
        value = top - 1
    if value == said:
        return
    if value < bound.get("min", value):
        _drop(writer, ir, path, f"there is no room for `{path}` below `{below}`", view)
        return
    reason = f"the target takes no {stringify(said)} here; {stringify(value)} is written"
    at = writer.trail.find(ir, path)
    writer.note_field(path, "clamped", "changed", at, view.case.pos, reason)
    _put(writer, ir, path, value)


def why_not(writer: WriteJob, ir: dict[str, Any], bound: dict[str, Any]) -> str | None:
    """Return why such a request says nothing of what is bounded, if it may not."""
    kinds = bound.get("not-with")
    if not kinds:
        return None
    for kind, (reason, is_so) in UNLESS.items():
        if kind in kinds and is_so(writer, ir):
            return reason
    return None


def _clamped(said: Any, bound: dict[str, Any]) -> Any:
    """Return a number within the least and the most that there may be."""
    value = max(said, bound.get("min", said))
    return min(value, bound.get("max", value))


def _drop(writer: WriteJob, ir: dict[str, Any], path: str, reason: str, view: View) -> None:
    """Leave out what was said, with all that it holds, and note each place of it."""
    head, _, last = path.partition(".")
    path = head if last and len(ir[head]) == 1 else path  # nothing else is said there
    said = ir.get(path)
    paths = [path, *(f"{path}.{key}" for key in said)] if isinstance(said, dict) else [path]
    found = dict.fromkeys(at for one in paths for at in every(writer.trail.find(ir, one)))
    places = [
        at for at in found if at is not None and not any(at[:n] in found for n in range(len(at)))
    ]
    for place in places or (None,):
        writer.note("no-place", "lost", place, view.case.pos, reason)
    _put(writer, ir, path, None)


def _put(writer: WriteJob, ir: dict[str, Any], path: str, value: Any) -> None:
    """Say something else in a request, or nothing; the object around it is a new one."""
    head, _, last = path.partition(".")
    owner = ir.pop(head, {})
    new: Any = value
    if last:
        new = writer.trail.without(owner, last)
        if value is not None:
            new[last] = value
    if new is not None and new != {}:
        ir[head] = new


def _forced(_: WriteJob, ir: dict[str, Any]) -> bool:
    choice = ir.get("tool_choice")
    return choice == "required" or (
        isinstance(choice, dict) and ("name" in choice or choice.get("mode") == "required")
    )


def _unsigned(writer: WriteJob, ir: dict[str, Any]) -> bool:
    spoken: list[Any] = []  # the last turn of the model: neighbours are one
    for message in reversed(ir.get("messages") or ()):
        if isinstance(message, dict) and message.get("role") == "assistant":
            spoken.append(message)
        elif spoken:
            break
    signed = any(map(writer.dialect.has_signature, parts_of(spoken, "reasoning")))
    return bool(parts_of(spoken, "tool_call")) and not signed


def _reasons(_: WriteJob, ir: dict[str, Any]) -> bool:
    asked = ir.get("reasoning")
    if not isinstance(asked, dict) or asked.get("effort") == "none":
        return False
    return not asked.keys().isdisjoint(("mode", "effort", "budget"))


def _thinks(_: WriteJob, ir: dict[str, Any]) -> bool:
    asked = ir.get("reasoning")
    return not isinstance(asked, dict) or asked.get("effort") != "none"


@once
def _hosted(dialect: Dialect) -> frozenset[Any]:
    """Return the tools of providers that have a name of all, and stand among this dialect's."""
    return fixed_words(dialect.pictured("tool"), "/name")


def _tooled(writer: WriteJob, ir: dict[str, Any]) -> bool:
    """Tell whether there are tools; one that another provider runs does not go, and is none."""
    tools = ir.get("tools")
    if writer.same or not isinstance(tools, list):
        return bool(tools)
    family, names = writer.dialect.family, _hosted(writer.dialect)
    hosts = "native" in writer.dialect.kinds_of("tool")
    for tool in tools:
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind not in ("native", "unknown"):
            return True
        own = hosts and family in (tool.get("own") or {})
        if str(tool["name"]) in names if "name" in tool else own:
            return True
    return False


def as_json(_: WriteJob, ir: dict[str, Any]) -> bool:
    """Tell whether the answer is to be JSON, by no schema."""
    form = ir.get("response_format")
    return isinstance(form, dict) and form.get("type") == "json"


NONE = "the target takes none"
UNSIGNED = "the last turn calls tools without reasoning that the target signed"
# Kinds of requests in which a number, word or form may not be said: why, and whether it is one.
UNLESS: dict[str, tuple[str, Callable[[WriteJob, dict[str, Any]], bool]]] = {
    "forced-tool": (f"{NONE} beside a tool that must be called", _forced),
    "unsigned-call": (UNSIGNED, _unsigned),
    "reasoning": (f"{NONE} beside reasoning that is asked for", _reasons),
    "may-reason": (f"{NONE} where reasoning is not switched off", _thinks),
    "tools": (f"{NONE} beside tools", _tooled),
    "stream": (f"{NONE} where a stream is asked for", lambda _, ir: bool(ir.get("stream"))),
    "whole": (f"{NONE} where no stream is asked for", lambda _, ir: not ir.get("stream")),
    "json": (f"{NONE} where JSON is asked for", as_json),
}
