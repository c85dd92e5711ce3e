"""Checks of single holes: that they name something, each once."""

from __future__ import annotations

from ..ir import field_type
from ..language import picture as pic
from ..language.findings import Findings, hint
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture, Text
from . import codeccheck
from .contexts import Contexts, View
from .fields import ANY, EVERY, OBJECTS, closed_words, field_names, held_by, object_names

PLURAL = ("messages", "parts", "candidates", "tools", "system")  # fields that hold objects
ASKED = ("schemas", "lists", "hooks")  # what holes may ask for, beside shapes and tables
SINGLE = ("usage", "response_format", "reasoning")  # fields that hold one


def check(dialect: Dialect, contexts: Contexts, findings: Findings) -> None:
    """Report what is wrong with the holes of every case."""
    talk = ("conversation",) if dialect.node.get("conversation") is not None else ()
    there = frozenset((*dialect.node.under("shapes"), *dialect.node.under("unions"), *talk))
    tables, asked = dialect.node.under("tables"), tuple(map(dialect.node.get, ASKED))
    for view in contexts.all:  # sets of variants share most of their cases
        used = (tables.get(lens) for hole in pic.holes(view.case.wire) for lens in hole.lenses)
        look = _View(dialect, findings, view, there).check
        findings.cached((_View, view.case, view.shape, view.objects, there, asked, *used), look)


class _View:
    """Checks the holes of one case."""

    def __init__(
        self, dialect: Dialect, findings: Findings, view: View, shapes: frozenset[str]
    ) -> None:
        self.dialect, self.findings, self.view, self.shapes = dialect, findings, view, shapes
        self.error, self.warn = findings.error, findings.warn
        self.holes: list[Hole] = []

    def check(self) -> None:
        """Report all that is wrong."""
        view = self.view
        self.holes += pic.holes(view.case.wire)
        if view.case.ir is not None:
            self._check_ir(view.case.ir, view.objects)
            if view.objects & OBJECTS.keys() and not isinstance(view.case.ir, Fields):
                message = f"`ir` pictures {_object_title(view)}, which is an object"
                help = "write the fields that it has, as in `ir: {name: $name}`"
                self.error("R022", message, view.case.ir.pos, help)
        for hole in self.holes:
            for path in hole.paths:
                self._check_path(path, hole)
            self._check_shape(hole)
        for text in pic.texts(view.case.wire):
            for name in text.names:
                self._check_path(name, text)
        codeccheck.check(self.dialect, view, self.findings)
        self._check_spread(view.case.wire)
        self._check_twice()
        self._check_made()
        self._check_unused()
        self._check_literals()

    def _check_path(self, path: str, hole: Picture) -> None:
        """Report a path that names nothing of the IR (R001)."""
        first, _, rest = path.partition(".")
        view = self.view
        if path == "nth" and view.objects == {"message"}:
            message = "`$nth` is the place of an element in the list of a hole, no message has it"
            self.error("R001", message, hole.pos, "write `$own.NAME (optional)`", word="$nth")
        if path in (".", "nth"):
            return
        if first == "own":
            if not rest:
                help = "write `$own.NAME`, NAME being the provider's own word"
                self.error("R001", "`$own` names no field", hole.pos, help, word="$own")
            return
        if first == "run":
            if view.shape is None or not view.shape.groups:
                help = "write `groups: function` beside `wire`"
                message = "`$run` stands in a shape that gathers nothing"
                self.error("R001", message, hole.pos, help, word="$run")
            return
        if view.objects and ANY in view.objects:
            return
        known = field_names(view.objects) if view.objects else EVERY
        if not view.objects and first not in view.bound:
            missing = first not in known
        else:
            missing = view.holds(path) is None
        if missing:
            whole = rest and view.holds(first) is not None
            if whole:
                known = field_names(object_names(view.holds(first)))
                first = rest.partition(".")[0]
            what = _object_title(view)
            sign = "${" if isinstance(hole, Text) else "$"
            nearest = hint(first, known | set(view.bound), "its fields are", "" if whole else "$")
            own = f"a field that only this dialect has is `$own.{first}`"
            shown = f"`{sign}{path}{'}' if sign == '${' else ''}`"
            self.error("R001", f"{shown} names no field of {what}", hole.pos, f"{nearest}; {own}",
                       word=f"{sign}{path}")  # fmt: skip

    def _check_ir(self, ir: Picture, objects: frozenset[str], path: str = "") -> None:
        """Report keys and words of an `ir` picture that the IR does not have (R001, R024)."""
        if not isinstance(ir, Fields) or not objects or ANY in objects:
            return
        for (name, *_), child in ir.entries:
            if f"{path}{name}" == self._by_field():
                continue  # checked with the names of the cases
            below = held_by(objects, name)
            if below is None:
                what = _object_title(self.view)
                help = hint(name, field_names(objects), "its fields are")
                message = f"`{path}{name}` is no field of {what}"
                pos = self.findings.key_before(child.pos, name)
                self.error("R001", message, pos, help, word=name)
                continue
            if isinstance(child, Literal):
                self._check_word(child, objects, name)
            self._check_ir(child, object_names(below), f"{path}{name}.")

    def _by_field(self) -> str | None:
        shape = self.view.shape
        node = self.dialect.node.under("shapes").get(shape.name) if shape else None
        by = node.get("by") if node is not None else None
        return by.value if by is not None else None

    def _check_word(self, child: Literal, objects: frozenset[str], name: str) -> None:
        known = closed_words(objects, name)
        if known is None:
            return
        for value in child.values:
            if value is not ABSENT and value not in known and not str(value).startswith("other:"):
                message = f"`{value}` is no `{name}` of the IR"
                self.error("R024", message, child.pos, hint(str(value), known), word=str(value))

    def _check_shape(self, hole: Hole) -> None:
        """Report a shape that is not there (R014)."""
        if hole.shape is not None and hole.shape not in self.shapes:
            help = hint(hole.shape, self.shapes, "its shapes and unions are")
            message = f"`{hole.shape}` is no shape of this file"
            self.error("R014", message, hole.pos, help, word=hole.shape)
        elif hole.shape == "conversation" and (hole.mode != "as" or hole.path != "messages"):
            help = "write `$messages as conversation`"
            self.error("R010", "`conversation` is the form of `$messages`", hole.pos, help)
        elif hole.shape is not None and hole.path == "." and hole.mode != "as":
            message = "`$.` is one object, and takes `as`"
            self.error("R010", message, hole.pos, f"write `$. as {hole.shape}`", word="$.")
        elif hole.shape is not None and hole.path not in (".", "run", "nth") and self._scalar(hole):
            message = f"`${hole.path}` is one value in the IR, and has no shape"
            help = f"write `${hole.path}`, or name a field that is an object or a list"
            self.error("R010", message, hole.pos, help, word=f"${hole.path}")
        elif hole.mode == "as" and self._is_list(hole):
            message = f"`${hole.path}` is a list in the IR, and `as` takes one value"
            help = f"write `${hole.path} each {hole.shape}`"
            self.error("R010", message, hole.pos, help, word=f"${hole.path}")
        elif hole.mode == "each" and hole.path in SINGLE and hole.path not in self.view.bound:
            message = f"`${hole.path}` is one object in the IR, and `each` takes a list"
            help = f"write `${hole.path} as {hole.shape}`"
            self.error("R010", message, hole.pos, help, word=f"${hole.path}")
        elif hole.shape is None and hole.path in PLURAL and hole.path not in self.view.bound:
            form = "as conversation" if hole.path == "messages" else "each SHAPE"
            message = f"`${hole.path}` holds objects of the IR, and needs a shape for them"
            self.error("R010", message, hole.pos, f"write `${hole.path} {form}`")
        elif hole.path == "." and hole.shape is None:
            help = "write `$. as SHAPE`"
            self.error("R010", "`$.` is the object itself and needs a shape", hole.pos, help)

    def _scalar(self, hole: Hole) -> bool:
        """Tell whether a field holds a text, a number or a truth, and nothing within."""
        kind = field_type(self.view.case.shape, hole.path)
        return "." not in hole.path and kind in ("integer", "number", "bool", "string")

    def _is_list(self, hole: Hole) -> bool:
        """Tell whether a field holds a list, and is no name for a value within."""
        path, shape = hole.path, hole.shape
        if shape == "conversation" or path.partition(".")[0] in self.view.bound:
            return False
        return field_type(self.view.case.shape, path) in ("list", "list of text")

    def _check_spread(self, picture: pic.Picture) -> None:
        """Report messages that stand for keys of an object (R010)."""
        objects = (one for one in pic.nodes(picture) if isinstance(one, Fields))
        for hole in (hole for one in objects for hole in one.spread):
            if hole.shape == "conversation":
                message, help = "messages are a list", "write `KEY: $messages as conversation`"
                self.error("R010", message, hole.pos, help, word=f"${hole.path}")
            elif hole.mode == "each" and "single" not in hole.lenses:
                message = f"`${hole.path}` is a list, and stands for keys of one object"
                help = f"write `${hole.path} each {hole.shape} | single`"
                self.error("R010", message, hole.pos, help, word=f"${hole.path}")

    def _check_twice(self) -> None:
        """Report a path that two holes without mark hold, and text between two (R016)."""
        seen: dict[str, Hole] = {}
        shared = {hole.path for hole in self.holes if hole.mode == "each"}
        for hole in self.holes:
            if hole.path in shared and hole.mode != "each" and hole.path not in (".", "run"):
                message = f"`${hole.path}` is shared out by `each`, and stands here as a whole"
                help = "write `each` here too, or take one of the two out"
                self.error("R016", message, hole.pos, help, word=f"${hole.path}")
            if len(hole.paths) > 1 or hole.mark or hole.mode == "each":
                continue
            if hole.path in (".", "nth", "run"):
                continue
            first = seen.setdefault(hole.path, hole)
            if first is not hole:
                message = f"two holes without a mark hold `${hole.path}`"
                help = "the first one would count: write `(same)`, another mark, or another field"
                beside = (first.pos, "the first one")
                self.error("R016", message, hole.pos, help, beside=beside, word=f"${hole.path}")

    def _check_made(self) -> None:
        """Report another picture of a value that is made: only a copy knows of it (R016)."""
        made = {hole.path: hole for hole in self.holes if hole.mark == "made" and hole.value}
        others: list[tuple[str, Picture]] = [
            (hole.path, hole) for hole in self.holes if not (hole.repeats or hole.only_read)
        ]
        others += [(name, text) for text in pic.texts(self.view.case.wire) for name in text.names]
        for path, picture in others:
            maker = made.get(path)
            if maker is not None and picture is not maker:
                message = f"`${path}` is made in another hole, and stands here without it"
                help = f"write `${path} (copy)`, which repeats what is made, or take the hole out"
                beside = (maker.pos, "it is made here")
                word = f"${path}" if isinstance(picture, Hole) else f"${{{path}}}"
                self.error("R016", message, picture.pos, help, beside=beside, word=word)

    def _check_unused(self) -> None:
        """Report a name of the `ir` picture that the wire picture does not hold (R014)."""
        used = {path.partition(".")[0] for path, _ in pic.named(self.view.case.wire)}
        ir = self.view.case.ir
        if "run" in used:  # the names that stand around the run; the others are in its parts
            return
        for name, pos in pic.named(ir) if ir is not None else ():
            if name not in used and not any(hole.path == "." for hole in self.holes):
                message = f"`${name}` has a name in `ir` and no place in `wire`"
                help = "put it in the `wire` picture, or say `$present` if it is only tested"
                self.warn("R014", message, pos, help, word=f"${name}")

    def _check_literals(self) -> None:
        """Report a text in a whole payload that is the name of a field which stands nowhere (R028).

        Within it, such a word is mostly what a role or a kind is called.
        """
        if not self.view.objects <= {"request", "response", "error"}:
            return
        said = {path.partition(".")[0] for path, _ in pic.named(self.view.case.wire)}
        said |= {names[0] for names, _ in pic.keyed(self.view.case.ir)}
        fields = {name for one in self.view.objects for name in OBJECTS.get(one, ())} - said
        for _, child in pic.keys(self.view.case.wire):
            text = child.values[0] if isinstance(child, pic.Literal) else None
            if isinstance(text, str) and text in fields:
                message = f"`{text}` is a text here, and the name of a field that stands nowhere"
                self.warn("R028", message, child.pos, f"a hole begins with $: `${text}`")


def _object_title(view: View) -> str:
    if len(view.objects) == 1:
        name = next(iter(view.objects))
        if name in OBJECTS:
            return f"{'an' if name[0] in 'aeio' else 'a'} {name}"
    return "the IR"
