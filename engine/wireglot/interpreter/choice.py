"""The choice of a request: of a tool that is there, and as what that tool is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any

from ..language import picture as pic
from ..language.model import Dialect, once
from ..language.shape import fixed_words
from . import marks
from .jobs import WriteJob
from .leftover import is_usual, note_unknown_keys
from .limits import TOLD

if TYPE_CHECKING:
    from ..language.shape import Shape
    from ..notes import Weight
    from .views import View

# Fields of a request that say something about its tools.
OF_TOOLS = ("tool_choice", "parallel_tool_calls")


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


def _is_own(one: Any) -> bool:
    """Tell whether one that a choice names is called by what its own dialect alone says of it."""
    return isinstance(one, dict) and "own" in one


def names_alone(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Return a choice that names its tools alone, where no tool is one of freeform text."""
    said = ir.get("tool_choice")
    if "custom" in writer.dialect.shapes or not isinstance(said, dict) or "allowed" not in said:
        return ir
    names = writer.trail.changed(said, allowed=list(map(name_of, said["allowed"])))
    return writer.trail.changed(ir, tool_choice=names)


def meet_tools(writer: WriteJob, ir: dict[str, Any], view: View) -> None:
    """Share out the tools of a request, and take away a choice among those that did not go."""
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
    choice = _Choice(writer, ir, view, holes, went)
    if not went or not choice.is_possible():
        for path in OF_TOOLS:
            choice.drop("there is no tool to choose from in the target", path)
    elif isinstance(said := ir.get("tool_choice"), dict):
        choice.settle_among(said["allowed"], asked) if "allowed" in said else choice.settle(*asked)


@once
def _typed_names(dialect: Dialect) -> frozenset[Any]:
    """Return the tools of which the choice has pictures: those that it calls by a type."""
    return fixed_words(dialect.pictured("tool_choice"), "/tool_choice/name")


class _Choice:
    """The choice of a request, on its way to what the target can say of the tools that `went`.

    `holes` are those of the tools. What changes stands in `ir`, and is noted.
    """

    def __init__(
        self, writer: WriteJob, ir: dict[str, Any], view: View, holes: list[pic.Hole], went: Any
    ) -> None:
        self.writer, self.ir, self.view, self.holes = writer, ir, view, holes
        self.went: list[Any] = went
        self.pos = view.case.pos

    def is_possible(self) -> bool:
        """Tell whether a choice may be among these tools: where functions stand alone, of them."""
        if any(tool.get("type") != "native" for tool in self.went if isinstance(tool, dict)):
            return True
        lists, writer = self.view.lists, self.writer
        beside = bool(lists) and not lists["tools"].get(id(self.holes[0]))
        return not beside and (writer.same_family or ("unmixed", "") not in writer.enforced)

    def settle(self, name: str) -> None:
        """Let the choice of one tool be of one that is there, by the name that it has there."""
        names = self._names({tool.get("name") for tool in self.went if isinstance(tool, dict)})
        if name not in names:
            self.drop(f"the target has no tool `{name}`")
        elif name in _typed_names(self.writer.dialect):
            pass  # it is called by its type
        elif any(tool.get("type") == "native" for tool in self.went if tool.get("name") == name):
            self._rename_hosted(name)
        else:
            self._shorten(names, [name])
            if "tool_choice" in self.ir:
                self._align_kind(name)

    def settle_among(self, said: list[Any], asked: Sequence[str]) -> None:
        """Let a choice among tools be of those that are there; of none it is written as none."""
        names = {tool.get("name") for tool in self.went if isinstance(tool, dict)}
        # A tool that the provider runs is chosen where a picture says so.
        hosted = {tool.get("name") for tool in self.went if tool.get("type") == "native"}
        names = self._names(names - (hosted - _typed_names(self.writer.dialect)))
        home = {str(name_of(one)) for one in said if self.writer.same and _is_own(one)}
        for name in [name for name in asked if name not in names | home]:
            reason = f"the target has no tool `{name}`"
            self.writer.note_lost("no-tool", self.ir, reason, self.pos, "tool_choice")
        stay = [name for name in asked if name in names | home]
        self._put(allowed=stay)
        if not stay:
            self._note("allowed-as-none", "a choice among no tools is written as none")
            self.ir["tool_choice"] = "none"
            return
        typed = home | _typed_names(self.writer.dialect)
        self._shorten(names - typed, stay)
        if "allowed" in (self.ir.get("tool_choice") or ()):
            self._fit(self.ir["tool_choice"]["allowed"], typed)
            left = [one for one, name in zip(said, asked, strict=True) if name in stay]
            self._align_kinds(left, stay)
            self._note_forgotten(said)

    def drop(self, reason: str, path: str = "tool_choice") -> None:
        """Leave out a field that says something about tools, if it is there."""
        said = self.ir.pop(path, None)
        if said is not None:
            weight: Weight = "slight" if is_usual(path, said) else ""
            self.writer.note_lost("no-tool", self.view.obj, reason, self.pos, path, weight)

    def _put(self, **fields: Any) -> None:
        """Let the choice say something else in some fields."""
        choice = self.ir["tool_choice"]
        self.ir["tool_choice"] = self.writer.trail.changed(choice, **fields)

    def _note(self, code: str, reason: str, path: str = "tool_choice") -> None:
        at = self.writer.trail.find(self.ir, "tool_choice")
        self.writer.note_field(path, code, "changed", at, self.pos, reason)

    def _names(self, names: set[Any]) -> set[Any]:
        """Return the names by which tools may be chosen; at home there are others beside these.

        It may say the last piece of a name, or be of a tool whose name or type the wire alone says.
        """
        if not self.writer.same:
            return names
        dialect, found = self.writer.dialect, {str(name).rpartition("/")[2] for name in names}
        for tool in self.went:
            own = tool.get("own", {}).get(dialect.family) if "name" not in tool else None
            if own is not None:
                found |= {*_typed_names(dialect), str(own.get("name"))}
        return names | found

    def _align_kind(self, name: str) -> None:
        """Let a choice say of its tool what that is: a function, or one that takes freeform text.

        `name` is that of the tool, of which the choice may say the last piece by now.
        """
        choice, writer = self.ir["tool_choice"], self.writer
        tools = (tool for tool in self.went if isinstance(tool, dict) and tool.get("name") == name)
        kinds = {tool.get("type") for tool in tools}
        free = choice.get("freeform") is True
        known = free or "custom" in writer.dialect.shapes
        if kinds != {None if free else "custom"} or not known:
            return
        kind = "a function" if free else "one of freeform text"
        # One note waits for a field: where its name is another, that note does.
        path = "tool_choice" if "tool_choice.name" in writer.field_notes else "tool_choice.name"
        self._note("reworded", f"the tool `{name}` is {kind}, and so it is chosen", path)
        if free:
            self.ir["tool_choice"] = writer.trail.without(choice, "freeform")
        else:
            self._put(freeform=True)

    def _align_kinds(self, said: list[Any], stay: list[str]) -> None:
        """Let a choice among tools say of each what that is; `stay` are their names yet."""
        if "custom" not in self.writer.dialect.shapes:
            return
        free = {str(name_of(one)): isinstance(one, dict) and not _is_own(one) for one in said}
        tools = [tool for tool in self.went if tool.get("name") in free]
        real = {tool["name"]: tool.get("type") == "custom" for tool in tools}
        wrong = [name for name in real if real[name] is not free[name]]
        if wrong:
            reason = f"the choice says of {wrong} what they are not, and says what they are"
            self._note("reworded", reason)
        free.update(real)
        now = self.ir["tool_choice"]["allowed"]
        allowed = []
        for one, name, new in zip(said, stay, now, strict=True):
            more = one if isinstance(one, dict) else {}
            plain = {**more, "name": new, "freeform": True} if free[name] else new
            allowed.append(one if _is_own(one) else plain)
        self._put(allowed=allowed)

    def _note_forgotten(self, said: list[Any]) -> None:
        """Note unknown keys of tools that were objects in a choice, and are names yet."""
        stay = self.ir["tool_choice"]["allowed"]
        there = {id(one.get("kept")) for one in stay if isinstance(one, dict)}
        for one in said:
            if isinstance(one, dict) and id(one.get("kept")) not in there:
                note_unknown_keys(self.writer, one, "tool_choice", self.pos)

    def _rename_hosted(self, name: str) -> None:
        """Let a choice of a tool that the provider runs have the name that it has on the wire.

        Without a name there it cannot be chosen.
        """
        called = marks.wire_names(self.writer.dialect).get(name)
        if called is None:
            self.drop(f"`{name}` runs here as it sees fit: none chooses it")
            return
        if self.writer.short_names.get(name, name) != called:  # else the wire said it so
            reason = f"`{name}` is called `{called}` here, and so it is chosen"
            self._note("renamed", reason, "tool_choice.name")
        self.writer.rewordings.add((name, called))
        self._put(name=called)

    def _shorten(self, names: set[Any], asked: Sequence[str]) -> None:
        """Let a choice name a tool within a group by its last piece.

        `names` are those of all tools that went, `asked` those of the choice. Reading it back is
        for `turns.whole_tool_names`.
        """
        shapes = [s for hole in self.holes for s in self.writer.dialect.members(str(hole.named))]
        if not any(shape.groups for shape in shapes):
            return
        short = {name: _short_name(shapes, name) for name in names}
        if not any(short.get(name) for name in asked):
            return
        there = {tool.get("name") for tool in self.went if isinstance(tool, dict)}
        pieces = Counter(short.get(name) or name for name in there)
        for name in asked:
            if short.get(name) and pieces[short[name]] > 1:
                self.drop(f"the target has two tools `{short[name]}`")
                return
        said = [short.get(name) or name for name in asked]
        reason = f"a tool within a group is chosen by its last piece, {said} for {[*asked]}"
        key, new = ("name", said[0]) if "name" in self.ir["tool_choice"] else ("allowed", said)
        self._note("renamed", reason, f"tool_choice.{key}")
        self.writer.rewordings.update(zip(asked, said, strict=True))
        self._put(**{key: new})

    def _fit(self, names: list[str], typed: Set[str]) -> None:
        """Let a choice among tools name them as they are written: each may be an element.

        Those that are `typed` are called otherwise.
        """
        limits = self.writer.limits
        if TOLD not in limits.limits:
            return
        fits = [name if name in typed else limits.fit(TOLD, name) for name in names]
        if fits == names:
            return
        self._note("renamed", f"`{names}` does not fit the limits of `{TOLD}` here")
        self.writer.rewordings.update(zip(names, fits, strict=True))
        self._put(allowed=fits)


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
