"""Checks of single holes: that they name something, and that lenses and marks fit it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from ..ir import field_type
from ..language import picture as pic
from ..language.findings import Findings, helped, near
from ..language.lenses import FORMS, GUARDS, LENSES, SAID, UNTYPED, guard, is_guard
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture, Text
from .contexts import Contexts, View
from .fields import ANY, EVERY, OBJECTS, alone, held, names, words

TYPES = frozenset(("string", "integer", "number", "bool", "list", "object"))
LISTS = ("bare", "blocks", "joined", "again", "single")  # lenses of a list that a shape makes
PLURAL = ("messages", "parts", "candidates", "tools", "system")  # fields that hold objects
MADE = ("id", "tool_call_id")  # the fields that a hook makes
_YES = {"yes": "true", "on": "true", "no": "false", "off": "false"}

_EMPTY = {"[]": "empty-list", "{}": "empty-object", "''": "empty-text"}


def check(dialect: Dialect, contexts: Contexts, findings: Findings) -> None:
    """Report what is wrong with the holes of every case."""
    listed = definitions(dialect, "shapes")
    talk = ("conversation",) if dialect.node.get("conversation") is not None else ()
    shapes = frozenset((*listed, *definitions(dialect, "unions"), *talk))
    codecs = (frozenset(definitions(dialect, word).items()) for word in ("tables", "schemas"))
    around = (shapes, *codecs, dialect.hooks)
    for view in contexts.all():
        # Dialects and sets of variants share most of their cases.
        said = listed.get(view.shape.name) if view.shape else None
        look = functools.partial(_look, dialect, findings, view, shapes)
        findings.once((_look, view.case, said, view.objects, around), look)


def _look(dialect: Dialect, findings: Findings, view: View, shapes: frozenset[str]) -> None:
    _View(dialect, findings, view, shapes).check()


class _View:
    """Checks the holes of one case."""

    def __init__(
        self, dialect: Dialect, findings: Findings, view: View, shapes: frozenset[str]
    ) -> None:
        self.dialect, self.findings, self.view, self.shapes = dialect, findings, view, shapes
        self.error, self.warn = findings.error, findings.warn
        self.holes = list(pic.holes(view.case.wire))

    def check(self) -> None:
        """Report all that is wrong."""
        view = self.view
        if view.case.ir is not None:
            self._fields(view.case.ir, view.objects)
            if view.objects & OBJECTS.keys() and not isinstance(view.case.ir, Fields):
                message = f"`ir` pictures {_what(view)}, which is an object"
                help = "write the fields that it has, as in `ir: {name: $name}`"
                self.error("R022", message, view.case.ir.pos, help)
        for hole in self.holes:
            for path in hole.paths:
                self._names(path, hole)
            self._shape(hole)
            if len(hole.paths) > 1:
                self._sum(hole)
            else:
                self._lenses(hole)
            self._mark(hole)
        for text in pic.texts(view.case.wire):
            for name in text.names:
                self._names(name, text)
        self._spread(view.case.wire)
        self._twice()
        self._unused()

    # -- what is named ------------------------------------------------------------------------

    def _names(self, path: str, hole: Picture) -> None:
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
        known = names(view.objects) if view.objects else EVERY
        if not view.objects and first not in view.bound:
            missing = first not in known
        else:
            missing = view.holds(path) is None
        if missing:
            whole = rest and view.holds(first) is not None
            if whole:
                known = names(alone(view.holds(first)))
                first = rest.partition(".")[0]
            what = _what(view)
            sign = "${" if isinstance(hole, Text) else "$"
            told = helped(first, known | set(view.bound), "its fields are", "" if whole else "$")
            own = f"a field that only this dialect has is `$own.{first}`"
            shown = f"`{sign}{path}{'}' if sign == '${' else ''}`"
            self.error("R001", f"{shown} names no field of {what}", hole.pos, f"{told}; {own}",
                       word=f"{sign}{path}")  # fmt: skip

    def _fields(self, ir: Picture, objects: frozenset[str], path: str = "") -> None:
        """Report keys and words of an `ir` picture that the IR does not have (R001, R024)."""
        if not isinstance(ir, Fields) or not objects or ANY in objects:
            return
        for (name, *_), child in ir.entries:
            if f"{path}{name}" == self._by():
                continue  # checked with the names of the cases
            below = held(objects, name)
            if below is None:
                what = _what(self.view)
                help = helped(name, names(objects), "its fields are")
                message = f"`{path}{name}` is no field of {what}"
                pos = self.findings.before(child.pos, name)
                self.error("R001", message, pos, help, word=name)
                continue
            if isinstance(child, Literal):
                self._word(child, objects, name)
            self._fields(child, alone(below), f"{path}{name}.")

    def _by(self) -> str | None:
        shape = self.view.shape
        node = definitions(self.dialect, "shapes").get(shape.name) if shape else None
        by = node.get("by") if node is not None else None
        return by.value if by is not None else None

    def _word(self, child: Literal, objects: frozenset[str], name: str) -> None:
        known = words(objects, name)
        if known is None:
            return
        for value in child.values:
            if value is not ABSENT and value not in known and not str(value).startswith("other:"):
                message = f"`{value}` is no `{name}` of the IR"
                self.error("R024", message, child.pos, helped(str(value), known), word=str(value))

    def _shape(self, hole: Hole) -> None:
        """Report a shape that is not there (R014)."""
        if hole.shape is not None and hole.shape not in self.shapes:
            help = helped(hole.shape, self.shapes, "its shapes and unions are")
            message = f"`{hole.shape}` is no shape of this file"
            self.error("R014", message, hole.pos, help, word=hole.shape)
        elif hole.shape == "conversation" and (hole.mode != "as" or hole.path != "messages"):
            help = "write `$messages as conversation`"
            self.error("R010", "`conversation` is the form of `$messages`", hole.pos, help)
        elif hole.shape is not None and hole.path == "." and hole.mode != "as":
            message = "`$.` is one object, and takes `as`"
            self.error("R010", message, hole.pos, f"write `$. as {hole.shape}`", word="$.")
        elif hole.shape is not None and hole.path not in (".", "run", "nth") and self._one(hole):
            message = f"`${hole.path}` is one value in the IR, and has no shape"
            help = f"write `${hole.path}`, or name a field that is an object or a list"
            self.error("R010", message, hole.pos, help, word=f"${hole.path}")
        elif hole.shape is None and hole.path in PLURAL and hole.path not in self.view.bound:
            form = "as conversation" if hole.path == "messages" else "each SHAPE"
            message = f"`${hole.path}` holds objects of the IR, and needs a shape for them"
            self.error("R010", message, hole.pos, f"write `${hole.path} {form}`")
        elif hole.path == "." and hole.shape is None:
            help = "write `$. as SHAPE`"
            self.error("R010", "`$.` is the object itself and needs a shape", hole.pos, help)

    def _one(self, hole: Hole) -> bool:
        """Tell whether a field holds a text, a number or a truth, and nothing within."""
        kind = field_type(self.view.case.shape, hole.path)
        return "." not in hole.path and kind in ("integer", "number", "bool", "string")

    def _spread(self, picture: pic.Picture) -> None:
        """Report messages that stand for keys of an object (R010)."""
        if isinstance(picture, Fields):
            for hole in picture.spread:
                if hole.shape == "conversation":
                    message, help = "messages are a list", "write `KEY: $messages as conversation`"
                    self.error("R010", message, hole.pos, help, word=f"${hole.path}")
            for _, child in picture.entries:
                self._spread(child)

    def _twice(self) -> None:
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
                help = "the second one would win: write `(same)`, another mark, or another field"
                beside = (first.pos, "the first one")
                self.error("R016", message, hole.pos, help, beside=beside, word=f"${hole.path}")

    def _unused(self) -> None:
        """Report a name of the `ir` picture that the wire picture does not hold (R014)."""
        used = {path.partition(".")[0] for hole in self.holes for path in hole.paths}
        used |= {name for text in pic.texts(self.view.case.wire) for name in text.names}
        ir = self.view.case.ir
        if "run" in used:  # the names that stand around the run; the others are in its parts
            return
        for name, pos in _given(ir):
            if name not in used and not any(hole.path == "." for hole in self.holes):
                message = f"`${name}` has a name in `ir` and no place in `wire`"
                help = "put it in the `wire` picture, or say `$present` if it is only tested"
                self.warn("R014", message, pos, help, word=f"${name}")

    # -- lenses and marks ---------------------------------------------------------------------

    def _sum(self, hole: Hole) -> None:
        """Report a sum that nothing can be solved for (R018)."""
        if hole.mode or hole.lenses:
            message = "a sum takes no shape and no codec"
            self.error("R018", message, hole.pos, "numbers add up as they are")
        seen: set[str] = set()
        for path in hole.paths:
            word = f"${path}"
            if path in seen:
                message = f"`${path}` stands twice in this sum"
                self.error("R018", message, hole.pos, "take one of them out", word=word)
            seen.add(path)
            kind = field_type(self.view.case.shape, path)
            if kind not in ("integer", "number", "any") or path in (".", "nth", "run"):
                message = f"`${path}` is no number and cannot be added"
                help = "a sum is of counts: take it out"
                self.error("R018", message, hole.pos, help, word=word)

    def _lenses(self, hole: Hole) -> None:
        """Report lenses that are not there (R014), or take another type than they get (R010)."""
        kind = field_type(self.view.case.shape, hole.path)
        now = {"opaque": frozenset(("string",)), "any": TYPES}.get(kind, frozenset((kind,)))
        if hole.mode == "each" or hole.path == "run":
            now = frozenset(("list",))
        if hole.path == "nth":
            now = frozenset(("integer",))
        for lens in hole.lenses:
            after = self._lens(hole, lens, now)
            if after is None:
                return
            now = after

    def _lens(self, hole: Hole, lens: str, now: frozenset[str]) -> frozenset[str] | None:
        if lens in UNTYPED:
            return now
        if is_guard(lens):
            words = frozenset(lens.split("+"))
            kept = {w for w in words if _fits(w, now)}
            if not kept:
                self._unfit(hole, lens, now)
                return None
            return words
        takes, gives = {
            "json": (TYPES, "string"),
            "not": (("bool",), "bool"),
            "not-an-object": (("string",), "string"),
            "timestamp": (("number", "integer"), "string"),
            "milliseconds": (("string",), "integer"),
            "digits": (("string",), "integer"),
            "as-json": (("string",), "any"),
            "plain": (("string",), "string"),
            "listed": (("list",), "list"),
            **dict.fromkeys(LISTS, (("list",), "list")),
        }.get(lens, ((), ""))
        talk = lens == "bare" and hole.shape == "conversation"
        if lens in LISTS and hole.mode != "each" and not talk:
            said = SAID.get(lens, lens)
            message = f"`{said}` is a codec of a list that a shape makes"
            self.error("R010", message, hole.pos, f"write `${hole.path} each SHAPE | {said}`",
                       word=said)  # fmt: skip
            return None
        unknown = unknown_lens(lens, self.dialect)
        many, whole = hole.mode == "each", hole.path == "."
        listed = lens == "json" or lens in self.dialect.lists
        if unknown is None and (many or whole) and lens not in FORMS and (whole or not listed):
            made = "`each` makes a list" if many else "`$.` is the object itself"
            message = f"`{lens.rstrip('!')}` stands behind a value, and {made}"
            help = "leave `each` out, or let the elements have shapes that say it"
            help = help if many else "take the codec out"
            self.error("R010", message, hole.pos, help, word=lens)
            return None
        if lens in self.dialect.tables:
            takes, gives = ("string", "integer", "bool"), "string"
        elif lens in self.dialect.schemas:
            takes, gives = ("object",), "object"
        elif not gives:
            if unknown is not None:
                name = lens.rstrip("!")
                self.error("R014", f"`{name}` is no codec", hole.pos, unknown, word=name)
            return None
        if not any(_fits(word, now) for word in takes):
            self._unfit(hole, lens, now)
            return None
        return TYPES if lens in self.dialect.tables else frozenset((gives,))

    def _unfit(self, hole: Hole, lens: str, now: frozenset[str]) -> None:
        given = " or ".join(sorted(now))
        said = SAID.get(lens, lens)
        message = f"the codec `{said}` never takes what it gets here, which is {given}"
        told = f"`${hole.path}` is {given} in the IR (docs/ir.md)"
        if hole.lenses[0] != lens:
            told = f"codecs run from the IR to the wire: before `{said}` it is {given} already"
        self.error("R010", message, hole.pos, told, word=said)

    def _makes(self, hole: Hole) -> bool:
        """Tell whether the value of a `(made)` hole comes from somewhere."""
        if hole.path == "name" and self.view.objects == {"tool_result"}:
            return True  # a result takes its name from its call
        return bool(self.dialect.hooks) and hole.path in MADE

    def _mark(self, hole: Hole) -> None:
        """Report marks that say nothing (R019), and values that do not fit (R010)."""
        if hole.mark == "made" and hole.value is not None:
            kind = field_type(self.view.case.shape, hole.path)
            if kind not in ("string", "any"):
                message = f"`(made)` makes texts, and `${hole.path}` is {kind}"
                self.error("R010", message, hole.pos, "write `(optional)`", word="(made")
        elif hole.mark == "made" and not self._makes(hole):
            help = "name the hook beside `dialect`: `hooks: [call-ids]`"
            if hole.path not in MADE:
                help = "hooks make ids of calls and results: write `(made PREFIX)` or `(optional)`"
            message = f"`(made)` says nothing here: no hook makes `${hole.path}`"
            self.error("R019", message, hole.pos, help, word="(made)")
        elif hole.dated and hole.path == "nth":
            message = f"`({hole.mark})` is of a value, and `$nth` is a place"
            self.error("R019", message, hole.pos, "write `$nth (optional)`", word=f"({hole.mark})")
        elif hole.dated and hole.path == ".":
            message = f"`({hole.mark})` says nothing of an object's own fields: they are written"
            help = (
                f"mark the fields within, or say `read-only: true` of the cases of `{hole.named}`"
            )
            self.error("R019", message, hole.pos, help, word=f"({hole.mark})")
        elif hole.repeats:
            others = {p for h in self.holes if not h.repeats for p in h.paths}
            others |= {name for text in pic.texts(self.view.case.wire) for name in text.names}
            if hole.path not in others:
                help = f"write `${hole.path}` without `({hole.mark})` where it is read"
                message = f"there is no other hole of `${hole.path}` that this one repeats"
                self.error("R019", message, hole.pos, help, word=f"({hole.mark})")
        elif hole.mark in ("default", "fill"):
            self._value(hole)

    def _value(self, hole: Hole) -> None:
        value = hole.value
        table = self.dialect.tables.get(hole.lenses[-1]) if hole.lenses else None
        if value is ABSENT:
            message = f"`({hole.mark} $absent)` says that there is nothing"
            self.error("R010", message, hole.pos, "write `(optional)`", word=f"({hole.mark}")
        if value is None or value is ABSENT or hole.mode:
            return
        word = _EMPTY.get(repr(value), str(value))
        if table is not None:
            known = {str(w) for w in (*table.to_ir, *table.read_also)}
            if str(value) not in known:
                message = f"`{word}` is no word of the wire in the table `{hole.lenses[-1]}`"
                self.error("R010", message, hole.pos, helped(word, known), word=word)
            return
        kind = field_type(self.view.case.shape, hole.path)
        if len(hole.paths) > 1:
            kind = "integer"
        if hole.lenses and all(map(is_guard, hole.lenses)):
            kind = hole.lenses[0]
        elif hole.lenses:
            return
        if kind in ("any", "opaque") or guard(kind, value):
            return
        help = f"`${hole.path}` is a value of type {kind} (docs/ir.md)"
        if kind == "bool" and word.lower() in _YES:
            help = f"write `{_YES[word.lower()]}`: `{word}` is a text in a rule file"
        message = f"`{word}` is no {kind}, and `${hole.path}` is"
        self.error("R010", message, hole.pos, help, word=word)


def definitions(dialect: Dialect, word: str) -> dict[str, Any]:
    """Return what a file defines under a word, be it with mistakes."""
    node = dialect.node.get(word)
    return node.value if node is not None and isinstance(node.value, dict) else {}


def unknown_lens(lens: str, dialect: Dialect) -> str | None:
    """Return help for a lens that is not there, None for one that is."""
    named = (lens, lens.removeprefix("fits-"))
    defined = (definitions(dialect, word) for word in ("tables", "schemas"))
    known = {*LENSES, *FORMS, *GUARDS, *dialect.tables, *dialect.schemas, *dialect.lists}
    if is_guard(lens) or lens in known or any(n in there for there in defined for n in named):
        return None
    if lens.rstrip("!") in SAID:
        return f"write `| {SAID[lens.rstrip('!')]}`"
    known = {SAID.get(name, name) for name in known}
    help = helped(lens, known, "the codecs are")
    return help if near(lens, known) else f"or a table or schema of this file; {help}"


def _fits(word: str, now: frozenset[str]) -> bool:
    if word in now or word == "null":
        return True
    return {word, *now} >= {"integer", "number"}


def _given(ir: Picture | None) -> Iterator[tuple[str, Any]]:
    """Yield the names that an `ir` picture gives to inner values."""
    if isinstance(ir, Hole):
        yield ir.path, ir.pos
    elif isinstance(ir, Text):
        for name in ir.names:
            yield name, ir.pos
    elif isinstance(ir, Fields):
        for _, child in ir.entries:
            yield from _given(child)


def _what(view: View) -> str:
    if len(view.objects) == 1:
        name = next(iter(view.objects))
        if name in OBJECTS:
            return f"{'an' if name[0] in 'aeio' else 'a'} {name}"
    return "the IR"
