"""The choice of a request: of a tool that is there, and as what that tool is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..ir import USUAL
from ..language import picture as pic
from ..language.lenses import same
from ..language.model import Dialect, once
from . import marks
from .jobs import WriteJob
from .leftover import note_unknown_keys
from .limits import TOLD

if TYPE_CHECKING:
    from ..language.shape import Shape
    from ..language.source import Pos
    from ..notes import Weight
    from .views import View

# Fields of a request that say something about its tools.
OF_TOOLS = ("tool_choice", "parallel_tool_calls")
OF_NAME = "/tool_choice/name"


def chosen_names(ir: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the tools that the choice names; None where nothing is said about tools."""
    choice = ir.get("tool_choice")
    if choice is None and ir.get("parallel_tool_calls") is None:
        return None
    if not isinstance(choice, dict):
        return ()
    found = [choice] if "name" in choice else choice.get("allowed")
    return tuple(str(name_of(one)) for one in found or ())


def name_of(one: Any) -> Any:
    """Return the name of one that a choice names, of freeform text or not."""
    return one.get("name") if isinstance(one, dict) else one


def names_alone(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Return a choice that names its tools alone, where no tool is one of freeform text."""
    said = ir.get("tool_choice")
    if "custom" in writer.dialect.shapes or not isinstance(said, dict) or "allowed" not in said:
        return ir
    names = writer.trail.changed(said, allowed=list(map(name_of, said["allowed"])))
    return writer.trail.changed(ir, tool_choice=names)


def meet_tools(writer: WriteJob, ir: dict[str, Any], view: View) -> None:
    """Take away a choice among tools that did not go."""
    asked = chosen_names(ir)
    if asked is None:
        return
    tools = ir.get("tools") or []
    holes = view.case.lists.get("tools", [])
    if not holes and any(
        "tools" in case.lists
        for hole in pic.holes(view.case.wire)
        if hole.path == "." and hole.named
        for _, case in writer.dialect.cases_of(hole.named)
    ):
        return  # a shape of the request's own fields writes them all
    if tools and holes and isinstance(tools, list):
        view.lists["tools"] = writer.share(holes, tools)
    gone = {id(one) for one in writer.lost_parts}
    went = [tool for tool in tools if holes and id(tool) not in gone]
    if not went or not _may_choose(writer, went, view, holes[0]):
        for path in OF_TOOLS:
            _drop_field(writer, ir, path, "there is no tool to choose from in the target", view)
        return
    choice = ir.get("tool_choice")
    if not isinstance(choice, dict):
        return
    names = {t.get("name") for t in went if isinstance(t, dict)}
    if "allowed" in choice:  # a tool that the provider runs is chosen where a picture says so
        hosted = {t.get("name") for t in went if t.get("type") == "native"}
        names -= hosted - _typed_names(writer.dialect)
    if writer.same:
        names |= _home_names(writer, went, names)
    missing = [name for name in asked if name not in names]
    if "allowed" not in choice:
        if missing:
            _drop_field(writer, ir, "tool_choice", f"the target has no tool `{missing[0]}`", view)
        elif asked[0] in _typed_names(writer.dialect):
            pass  # it is called by its type
        elif any(t.get("type") == "native" for t in went if t.get("name") == asked[0]):
            _rename_hosted(writer, ir, asked[0], view)
        else:
            _use_short_names(writer, ir, holes, names, asked, view)
            if "tool_choice" in ir:
                _align_kind(writer, ir, went, asked[0], view)
        return
    for name in missing:
        reason = f"the target has no tool `{name}`"
        writer.note_lost("no-tool", ir, reason, view.case.pos, "tool_choice")
    stay = [name for name in asked if name in names]
    ir["tool_choice"] = writer.trail.changed(choice, allowed=stay)
    if not stay:
        reason = "a choice among no tools is written as none"
        _note_change(writer, ir, "tool_choice", "allowed-as-none", reason, view)
        ir["tool_choice"] = "none"
    else:
        _use_short_names(writer, ir, holes, names, stay, view)
        if "allowed" in (ir.get("tool_choice") or ()):
            _fit_names(writer, ir, ir["tool_choice"]["allowed"], view.case.pos)
            _align_kinds(writer, ir, choice["allowed"], stay, went, view)
            _note_forgotten(writer, choice["allowed"], ir["tool_choice"]["allowed"], view)


@once
def _typed_names(dialect: Dialect) -> set[Any]:
    """Return the tools of which the choice has pictures: those that it calls by a type."""
    shape = dialect.shapes.get("tool_choice")
    cases = shape.cases if shape else []
    return {name for case in cases for name in case.sides[0].get(OF_NAME, ())}


def _home_names(writer: WriteJob, tools: list[Any], names: set[Any]) -> set[Any]:
    """Return what a choice may call tools at home, beside their names.

    It may say the last piece of a name, or be of a tool whose name or type the wire alone says.
    """
    found: set[Any] = {str(name).rpartition("/")[2] for name in names}
    for tool in tools:
        own = tool.get("own", {}).get(writer.dialect.family) if "name" not in tool else None
        if own is not None:
            found |= {*_typed_names(writer.dialect), str(own.get("name"))}
    return found


def _align_kind(
    writer: WriteJob, ir: dict[str, Any], tools: list[Any], name: str, view: View
) -> None:
    """Let a choice say of its tool what that is: a function, or one that takes freeform text.

    `name` is that of the tool, of which the choice may say the last piece by now.
    """
    choice = ir["tool_choice"]
    same = (tool for tool in tools if isinstance(tool, dict) and tool.get("name") == name)
    kinds = {tool.get("type") for tool in same}
    free = choice.get("freeform") is True
    if kinds != {None if free else "custom"} or not (free or "custom" in writer.dialect.shapes):
        return
    reason = f"the tool `{name}` is {'a function' if free else 'one of freeform text'}"
    # One note waits for a field: where its name is another, that note does.
    path = "tool_choice" if "tool_choice.name" in writer.field_notes else "tool_choice.name"
    _note_change(writer, ir, path, "reworded", f"{reason}, and so it is chosen", view)
    if free:
        ir["tool_choice"] = writer.trail.without(choice, "freeform")
    else:
        ir["tool_choice"] = writer.trail.changed(choice, freeform=True)


def _align_kinds(
    writer: WriteJob, ir: dict[str, Any], said: list[Any], stay: list[str], went: Any, view: View
) -> None:
    """Let a choice among tools say of each what that is; `stay` are their names yet."""
    if "custom" not in writer.dialect.shapes:
        return
    freeform_by_name = {str(name_of(one)): isinstance(one, dict) for one in said}
    free = {t["name"]: t.get("type") == "custom" for t in went if t.get("name") in freeform_by_name}
    wrong = [name for name in free if free[name] is not freeform_by_name[name]]
    if wrong:
        why = f"the choice says of {wrong} what they are not, and says what they are"
        _note_change(writer, ir, "tool_choice", "reworded", why, view)
    freeform_by_name.update(free)
    choice = ir["tool_choice"]
    pairs = zip(stay, choice["allowed"], strict=True)
    more = {str(name_of(one)): one for one in said if isinstance(one, dict)}
    allowed = [
        {**more.get(name, {}), "name": new, "freeform": True} if freeform_by_name[name] else new
        for name, new in pairs
    ]
    ir["tool_choice"] = writer.trail.changed(choice, allowed=allowed)


def _note_forgotten(writer: WriteJob, said: list[Any], stay: list[Any], view: View) -> None:
    """Note unknown keys of tools that were objects in a choice, and are names yet."""
    there = {id(one.get("kept")) for one in stay if isinstance(one, dict)}
    for one in said:
        if isinstance(one, dict) and id(one.get("kept")) not in there:
            note_unknown_keys(writer, one, "tool_choice", view.case.pos)


def _rename_hosted(writer: WriteJob, ir: dict[str, Any], name: str, view: View) -> None:
    """Let a choice of a tool that the provider runs have the name that this tool has on the wire.

    Without a name there it cannot be chosen.
    """
    called = marks.wire_names(writer.dialect).get(name)
    if called is None:
        why = f"`{name}` runs here as it sees fit: none chooses it"
        _drop_field(writer, ir, "tool_choice", why, view)
        return
    if writer.short_names.get(name, name) != called:  # else the wire said it so
        why = f"`{name}` is called `{called}` here, and so it is chosen"
        _note_change(writer, ir, "tool_choice.name", "renamed", why, view)
    writer.rewordings.add((name, called))
    ir["tool_choice"] = writer.trail.changed(ir["tool_choice"], name=called)


def _use_short_names(
    writer: WriteJob,
    ir: dict[str, Any],
    holes: list[pic.Hole],
    names: set[Any],
    asked: Sequence[str],
    view: View,
) -> None:
    """Let a choice name a tool within a group by its last piece, as `turns.grouped` reads it.

    `names` are those of all tools that went, `asked` those of the choice.
    """
    shapes = [shape for hole in holes for shape in writer.dialect.members(str(hole.named))]
    if not any(shape.groups for shape in shapes):
        return
    choice = ir["tool_choice"]
    short = {name: _short_name(shapes, name) for name in names}
    if not any(short.get(name) for name in asked):
        return
    pieces = Counter(piece or name for name, piece in short.items())
    for name in asked:
        if short.get(name) and pieces[short[name]] > 1:
            reason = f"the target has two tools `{short[name]}`"
            _drop_field(writer, ir, "tool_choice", reason, view)
            return
    shortened = [short.get(name) or name for name in asked]
    why = f"a tool within a group is chosen by its last piece, {shortened} for {[*asked]}"
    key, new = ("name", shortened[0]) if "name" in choice else ("allowed", shortened)
    _note_change(writer, ir, f"tool_choice.{key}", "renamed", why, view)
    writer.rewordings.update(zip(asked, shortened, strict=True))
    ir["tool_choice"] = writer.trail.changed(choice, **{key: new})


def _short_name(shapes: list[Shape], name: Any) -> str | None:
    """Return the name of a tool within the group that it is written in, if it is in one."""
    for shape, case in [(one, case) for one in shapes for case in one.cases]:
        for names, said in pic.keyed(case.ir):
            if names[0] == "name" and isinstance(said, pic.Literal) and name in said.values:
                return None
            if names[0] == "name" and isinstance(said, pic.Text) and isinstance(name, str):
                pieces = said.read(name) if shape.groups else None
                if pieces is not None:
                    return dict(zip(said.names, pieces, strict=True)).get("name")
    return None


def _may_choose(writer: WriteJob, went: list[Any], view: View, first: pic.Hole) -> bool:
    """Tell whether a choice may be among these tools: where functions stand alone, of them."""
    if any(tool.get("type") != "native" for tool in went if isinstance(tool, dict)):
        return True
    beside = bool(view.lists) and not view.lists["tools"].get(id(first))
    return not beside and (writer.same_family or ("unmixed", "") not in writer.enforced)


def _note_change(
    writer: WriteJob, ir: dict[str, Any], path: str, code: str, reason: str, view: View
) -> None:
    at = writer.trail.find(ir, "tool_choice")
    writer.note_field(path, code, "changed", at, view.case.pos, reason)


def _drop_field(writer: WriteJob, ir: dict[str, Any], path: str, reason: str, view: View) -> None:
    said = ir.pop(path, None)
    if said is not None:
        weight: Weight = "slight" if same(said, USUAL.get(path)) else ""
        writer.note_lost("no-tool", view.obj, reason, view.case.pos, path, weight)


def _fit_names(writer: WriteJob, ir: dict[str, Any], names: list[str], pos: Pos) -> None:
    """Let a choice among tools name them as they are written: each may be an element of its own."""
    if TOLD not in writer.limits.limits:
        return
    fits = [writer.limits.fit(TOLD, name) for name in names]
    if fits == names:
        return
    reason = f"`{names}` does not fit the limits of `{TOLD}` here"
    at = writer.trail.find(ir, "tool_choice")
    writer.note_field("tool_choice", "renamed", "changed", at, pos, reason)
    writer.rewordings.update(zip(names, fits, strict=True))
    ir["tool_choice"] = writer.trail.changed(ir["tool_choice"], allowed=fits)
