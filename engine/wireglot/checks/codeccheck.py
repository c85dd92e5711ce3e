"""Checks of what stands behind the name of a hole: that codecs take what they get, marks fit."""

from __future__ import annotations

from collections.abc import Collection

from ..ir import field_type, wire_type
from ..language import picture as pic
from ..language.drawn import EMPTY
from ..language.findings import Findings, did_you_mean, hint
from ..language.lenses import FORMS, GUARDS, LENSES, LISTS, SPELLING_OF, UNTYPED, guard, is_guard
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole
from .contexts import View

TYPES = frozenset(("string", "integer", "number", "bool", "list", "object"))
# What codecs take, and what they give.
TAKES: dict[str, tuple[Collection[str], str]] = {
    "json": (TYPES, "string"),
    "not": (("bool",), "bool"),
    "not-an-object": (("string",), "string"),
    "timestamp": (("number", "integer"), "string"),
    "milliseconds": (("string",), "integer"),
    "seconds": (("number", "integer"), "integer"),
    "digits": (("string",), "integer"),
    "as-json": (("string",), "any"),
    "plain": (("string",), "string"),
    "listed": (("list",), "list"),
    **dict.fromkeys(LISTS, (("list",), "list")),
}
MADE = ("id", "tool_call_id")  # the fields that a hook makes
YAML_BOOLEANS = {"yes": "true", "on": "true", "no": "false", "off": "false"}


def check(dialect: Dialect, view: View, findings: Findings) -> None:
    """Report what is wrong behind the names of the holes of a case."""
    case = _Case(dialect, view, findings)
    for hole in case.holes:
        case.check(hole)


class _Case:
    """Checks the holes of one case."""

    def __init__(self, dialect: Dialect, view: View, findings: Findings) -> None:
        self.dialect, self.view, self.error = dialect, view, findings.error
        self.holes = list(pic.holes(view.case.wire))

    def check(self, hole: Hole) -> None:
        """Report all that is wrong."""
        if len(hole.paths) > 1:
            self._check_sum(hole)
        else:
            self._check_lenses(hole)
        self._check_mark(hole)

    def _check_sum(self, hole: Hole) -> None:
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

    def _check_lenses(self, hole: Hole) -> None:
        """Report lenses that are not there (R014), or take another type than they get (R010)."""
        kind = wire_type(self.view.case.shape, hole.path)
        given = TYPES if kind == "any" else frozenset((kind,))
        if hole.mode == "each" or hole.path == "run":
            given = frozenset(("list",))
        if hole.path == "nth":
            given = frozenset(("integer",))
        for lens in hole.lenses:
            after = self._check_lens(hole, lens, given)
            if after is None:
                return
            given = after

    def _check_lens(self, hole: Hole, lens: str, given: frozenset[str]) -> frozenset[str] | None:
        if lens in UNTYPED:
            return given
        if is_guard(lens):
            words = frozenset(lens.split("+"))
            if not any(_fits(word, given) for word in words):
                self._report_unfit(hole, lens, given)
                return None
            return words
        takes, gives = TAKES.get(lens, ((), ""))
        talk = lens == "bare" and hole.shape == "conversation"
        of_lists = lens in LISTS or (lens in self.dialect.lists and hole.shape == "conversation")
        if of_lists and hole.mode != "each" and not talk:
            said = SPELLING_OF.get(lens, lens)
            message = f"`{said}` is a codec of a list that a shape makes"
            self.error("R010", message, hole.pos, f"write `${hole.path} each SHAPE | {said}`",
                       word=said)  # fmt: skip
            return None
        unknown = lens_hint(lens, self.dialect)
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
        if not any(_fits(word, given) for word in takes):
            self._report_unfit(hole, lens, given)
            return None
        any_of = lens in self.dialect.tables or gives == "any"
        return TYPES if any_of else frozenset((gives,))

    def _report_unfit(self, hole: Hole, lens: str, types: frozenset[str]) -> None:
        given = " or ".join(sorted(types))
        said = SPELLING_OF.get(lens, lens)
        message = f"the codec `{said}` never takes what it gets here, which is {given}"
        told = f"`${hole.path}` is {given} in the IR (docs/ir.md)"
        if hole.lenses[0] != lens:
            told = f"codecs run from the IR to the wire: before `{said}` it is {given} already"
        self.error("R010", message, hole.pos, told, word=said)

    def _is_made(self, hole: Hole) -> bool:
        """Tell whether the value of a `(made)` hole comes from somewhere."""
        if hole.path == "name" and self.view.objects == {"tool_result"}:
            return True  # a result takes its name from its call
        return bool(self.dialect.hooks) and hole.path in MADE

    def _check_mark(self, hole: Hole) -> None:
        """Report marks that say nothing (R019), and values that do not fit (R010)."""
        if hole.mark == "made" and hole.value is not None:
            kind = field_type(self.view.case.shape, hole.path)
            if kind not in ("string", "any"):
                message = f"`(made)` makes texts, and `${hole.path}` is {kind}"
                self.error("R010", message, hole.pos, "write `(optional)`", word="(made")
        elif hole.mark == "made" and not self._is_made(hole):
            help = "name the hook beside `dialect`: `hooks: [call-ids]`"
            if hole.path not in MADE:
                help = "hooks make ids of calls and results: write `(made PREFIX)` or `(optional)`"
            message = f"`(made)` says nothing here: no hook makes `${hole.path}`"
            self.error("R019", message, hole.pos, help, word="(made)")
        elif hole.only_read and hole.path == "nth":
            message = f"`({hole.mark})` is of a value, and `$nth` is a place"
            self.error("R019", message, hole.pos, "write `$nth (optional)`", word=f"({hole.mark})")
        elif hole.only_read and hole.path == ".":
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
            self._check_value(hole)

    def _check_value(self, hole: Hole) -> None:
        value = hole.value
        table = self.dialect.tables.get(hole.lenses[-1]) if hole.lenses else None
        if value is ABSENT:
            message = f"`({hole.mark} $absent)` says that there is nothing"
            self.error("R010", message, hole.pos, "write `(optional)`", word=f"({hole.mark}")
        if value is None or value is ABSENT or hole.mode:
            return
        word = EMPTY.get(str(value), str(value))
        if table is not None:
            known = {str(w) for w in (*table.to_ir, *table.read_also)}
            if str(value) not in known:
                message = f"`{word}` is no word of the wire in the table `{hole.lenses[-1]}`"
                self.error("R010", message, hole.pos, hint(word, known), word=word)
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
        if kind == "bool" and word.lower() in YAML_BOOLEANS:
            help = f"write `{YAML_BOOLEANS[word.lower()]}`: `{word}` is a text in a rule file"
        message = f"`{word}` is no {kind}, and `${hole.path}` is"
        self.error("R010", message, hole.pos, help, word=word)


def lens_hint(lens: str, dialect: Dialect) -> str | None:
    """Return help for a lens that is not there, None for one that is."""
    named = (lens, lens.removeprefix("fits-"))
    defined = (dialect.node.under(word) for word in ("tables", "schemas"))
    known = {*LENSES, *FORMS, *GUARDS, *dialect.tables, *dialect.schemas, *dialect.lists}
    if is_guard(lens) or lens in known or any(n in there for there in defined for n in named):
        return None
    if lens.rstrip("!") in SPELLING_OF:
        return f"write `| {SPELLING_OF[lens.rstrip('!')]}`"
    known = {SPELLING_OF.get(name, name) for name in known}
    help = hint(lens, known, "the codecs are")
    return help if did_you_mean(lens, known) else f"or a table or schema of this file; {help}"


def _fits(word: str, now: frozenset[str]) -> bool:
    if word in now or word == "null":
        return True
    return {word, *now} >= {"integer", "number"}
