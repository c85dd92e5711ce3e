"""All checks of rule files, in one run; docs/checks.md explains each by its number."""

from __future__ import annotations

import graphlib
import itertools
from typing import Any

from ..errors import RuleError
from ..ir import FUNCTION, PARTS, TOOLS
from ..language import apart, drawn, rulefile
from ..language import picture as pic
from ..language.findings import Findings, hint
from ..language.intext import Marks
from ..language.ladder import Ladder
from ..language.merge import with_value, without
from ..language.model import Dialect
from ..language.picture import Fields, Hole, Literal, keyed
from ..language.shape import Shape
from ..language.source import Node
from ..results import Envelope
from . import coverage, holecheck, overlap, streamcheck
from .contexts import Contexts, View
from .fields import KINDS, OBJECTS, WORDS, closed_words, held_by, object_names
from .form import File


def check(
    node: Node, findings: Findings, ladder: Ladder, whole: bool = True, plain: bool = True
) -> Dialect | None:
    """Check one dialect without layers, and return its model where it has one.

    It is not `whole` where something wrong was left out of it: then its form alone is checked. It
    is not `plain` with an overlay or a variant on: what it lacks was reported of it without them.
    """
    before = findings.errors
    clean = File(findings).clean(node)
    if clean is None or not whole:
        return None  # what is not whole is not what was meant, but for its form
    _drop_also(clean, node, findings)
    _drop_members(clean, node, findings)
    _drop_within_text(clean, node, findings)
    try:
        model = rulefile.load(clean)
    except RuleError as error:
        findings.add_error(error)
        return None
    findings.keep_alive.update(model.shapes.values(), model.units.values())
    # What is wrong in form is missing from the model; its name is defined all the same.
    model.node = node
    _ModelCheck(model, clean, node, findings, before).check(ladder, plain)
    return model


def _drop_also(clean: Node, raw: Node, findings: Findings) -> None:
    """Take out `also` that names no object (R014)."""
    shapes, kept = clean.under("shapes"), {}
    for name, shape in shapes.items():
        also = shape.get("also")
        other = shapes.get(also.value) if also else None
        wire = other.get("wire") if other else None
        if also is None or (wire is not None and isinstance(wire.value, dict)):
            continue
        if other is not None or also.value not in raw.under("shapes"):
            message = f"`also: {also.value}` names no shape that is one object"
            known = [n for n in shapes if n != name]
            findings.error("R014", message, also.pos, hint(also.value, known))
        kept[name] = without(shape, ("also",))
    if kept:  # others hold the node that stands there, here and below
        clean.value["shapes"] = with_value(clean.value["shapes"], shapes | kept)


def _drop_members(clean: Node, raw: Node, findings: Findings) -> None:
    """Take members out of unions that are no shapes (R014)."""
    unions, defined = clean.under("unions"), raw.under("shapes")
    built, kept = clean.under("shapes"), {}
    for name, members in unions.items():
        for member in members.value:
            if member.value not in defined:
                message = f"the union `{name}` names `{member.value}`, which is no shape"
                findings.error("R014", message, member.pos, hint(member.value, defined))
        kept[name] = Node([one for one in members.value if one.value in built], members.pos)
        if name in defined:
            message = f"`{name}` is a shape and a union"
            help = "give one of the two another name"
            findings.error("R014", message, clean.value["unions"].key_pos(name), help)
    if unions:
        clean.value["unions"] = with_value(clean.value["unions"], kept)


def _drop_within_text(clean: Node, raw: Node, findings: Findings) -> None:
    """Take out parts that stand within texts by a shape that is not there (R014)."""
    defined = raw.under("shapes")
    for kind, said in clean.under("within-text").items():
        name = Marks.of(kind, said.value, said.pos).shape
        if name and name not in defined:
            message = f"`{name}` is no shape of this file"
            findings.error("R014", message, said.pos, hint(name, defined), word=name)
            clean.value["within-text"] = without(clean.value["within-text"], (kind,))


# What each case of a unit says, and how. A request may begin with less: all else is noted.
MUST = {
    "session": ("messages", ("as conversation",)),
    "response": ("candidates", ("each SHAPE",)),
    "error": ("message", ()),
}


class _ModelCheck:
    """Checks that need the whole model of a dialect."""

    def __init__(
        self, model: Dialect, clean: Node, raw: Node, findings: Findings, before: int
    ) -> None:
        self.model, self.clean, self.raw, self.findings = model, clean, raw, findings
        self.before = before  # how many errors there were in other files

    def check(self, ladder: Ladder, plain: bool) -> None:
        """Report what is wrong with the model."""
        if self._has_cycles():
            return
        model = self.model
        contexts = Contexts(model, self.findings)
        self._check_roles()
        self._check_kinds(contexts)
        self._check_document()
        self._check_units(plain)
        self._check_envelope()
        self._check_examples()
        holecheck.check(model, contexts, self.findings)
        self._check_tables(contexts)
        streamcheck.check(model, self.findings)
        overlap.check_carry(model, self.clean.get("carry"), self.findings)
        self._check_weights()
        if self.findings.errors == self.before:
            # Where something is wrong, what seems missing may only be misspelt, and no value can
            # be read for a trial.
            coverage.check_unused(model, self.clean, self.raw, contexts, self.findings)
            if plain:
                coverage.check_places(model, self.clean, self.raw, contexts, ladder, self.findings)
            overlap.check(model, contexts, self.findings)
            coverage.check_examples(model, contexts, self.findings)
            coverage.check_needs(model, contexts, self.findings)

    def _check_weights(self) -> None:
        """Report what words of weight name and no picture has under `own` (R024)."""
        repeated = self.clean.get("repeated")
        maps = [one for word in ("slight", "usual") if (one := self.clean.get(word)) is not None]
        named = [(one.value, one.pos) for one in repeated.value] if repeated else []
        named += [(name, one.key_pos(name)) for one in maps for name in one.value]
        home = self.clean.value["dialect"].pos.file
        named = [(name, pos) for name, pos in named if pos.file == home]  # a child may have fewer
        if not named:
            return
        model = self.model
        pictures = [case.wire for case in model.cases]
        pictures += model.stream.pictures() if model.stream else ()
        paths = (f".{hole.path}" for p in pictures for hole in pic.holes(p))
        split = (path.rpartition(".own.")[2] for path in paths if ".own." in path)
        known = {path.partition(".")[0] for path in split}
        known |= {name for case in model.cases for name in _own_in_ir(case.ir)}
        for name, pos in named:
            if name not in known:
                message = f"no picture of this file has `$own.{name}`"
                self.findings.error("R024", message, pos, hint(name, known))

    def _has_cycles(self) -> bool:
        """Report shapes that contain themselves in one object (R016)."""
        model = self.model
        inner: dict[str, dict[str, Hole]] = {}
        for name, shape in model.shapes.items():
            found = self.findings.once(_inner, shape)
            inner[name] = {m: h for h in found for m in model.unions.get(h.named, [h.named])}
        try:
            graphlib.TopologicalSorter(inner).prepare()
        except graphlib.CycleError as error:
            for name, outer in itertools.pairwise(error.args[1]):
                hole, message = inner[outer][name], f"`{name}` contains itself in the same object"
                help = "a shape may come again deeper down, under a key or in a list"
                self.findings.error("R016", message, hole.pos, help, word=hole.named)
            return True
        return False

    def _check_roles(self) -> None:
        """Report cases of the conversation that are no roles (R024)."""
        talk, known = self.model.conversation, WORDS["message", "role"]
        if talk is None:
            return
        for case in talk.cases:
            parts = case.lists.get("parts", ())
            no_union = all(hole.named not in self.model.unions for hole in parts)
            if talk.role(case) in talk.steps and no_union:
                message = f"the steps of `{case.name}` begin with an element of no shape"
                help = "name a union where the parts stand: `$parts each part`"
                self.findings.error("R010", message, case.pos, help)
            said = isinstance(case.ir, Fields) and "role" in case.ir.names
            if not said and case.name not in known:
                message = f"`{case.name}` is no role of the IR"
                help = hint(case.name, known, "the roles are")
                told = f"{help}; another name needs `ir: {{role: ...}}`"
                pos = self.clean.value["conversation"].value["cases"].key_pos(case.name)
                self.findings.error("R024", message, pos, told, word=case.name)

    def _check_kinds(self, contexts: Contexts) -> None:
        """Report `by`, `groups` and `enforce` that name what the IR does not have (R024)."""
        for name, node in self.clean.under("shapes").items():
            self._check_by(name, node, contexts)
            self._check_marks(node)
            gathers = node.get("groups")
            if gathers is None:
                continue
            known = {*KINDS, FUNCTION}
            for kind in gathers.value.split("+"):
                if kind not in known:
                    message = f"`groups` names `{kind}`, which is no kind of the IR"
                    help = hint(kind, known)
                    self.findings.error("R024", message, gathers.pos, help, word=kind)
            cases = self.model.shapes[name].cases
            holes = [[h for h in pic.holes(case.wire) if h.path == "run"] for case in cases]
            for _, second in (two for two in holes if len(two) == 2):
                help = "let a shape of its own gather the other kinds; at home they join again"
                message = f"`$run` stands twice in a case of `{name}`"
                self.findings.error("R022", message, second.pos, help, word="$run")
            help = "write `$run each SHAPE` where the gathered ones stand"
            without = [not any(h.mode == "each" for h in runs) for runs in holes]
            if all(without):
                self.findings.error("R022", f"`{name}` gathers and has no `$run`", node.pos, help)
            for case, lacks in zip(cases, without, strict=True):
                if lacks and not all(without):
                    message = f"`{name}` gathers, and its case `{case.name}` has no `$run`"
                    self.findings.error("R022", message, case.pos, help)
            if all(case.home for case in cases):
                pos = node.keys.get("read-only", node.pos)
                help = "say it of the shape of `$run`, or give a case that is written"
                message = f"`{name}` gathers and is only read: what others say has no form in it"
                self.findings.warn("R036", message, pos, help)

    def _check_marks(self, node: Node) -> None:
        marks, known = node.get("marks"), OBJECTS["part"].keys() | OBJECTS["tool"].keys()
        if marks is not None and marks.value not in known:
            message = f"`marks` names `{marks.value}`, which is no field of an element"
            self.findings.error("R024", message, marks.pos, hint(marks.value, known))

    def _check_by(self, name: str, node: Node, contexts: Contexts) -> None:
        by, cases = node.get("by"), node.get("cases")
        if by is None or (name not in contexts.objects_of and name not in PARTS | TOOLS):
            return  # nothing says what a shape that is named nowhere is of
        views = contexts.views(self.model.shapes[name])
        objects = frozenset[str]().union(*(view.objects for view in views))
        path, _, field = by.value.rpartition(".")
        inside = object_names(held_by(objects, path) if path and "*" not in objects else objects)
        fields = {f for what in inside for f in OBJECTS.get(what, {})}
        if objects and "*" not in objects and field not in fields:
            message = f"`by: {by.value}` names no field"
            self.findings.error("R024", message, by.pos, hint(by.value, fields, "there are"))
            return
        if cases is None:
            help = "write `cases:`, one for each value of the field"
            self.findings.error("R022", f"`{name}` has `by` and no `cases`", by.pos, help)
            return
        known = closed_words(inside, field)
        if known is None:
            return
        for case, child in cases.value.items():
            word, ir = case.partition(".")[0], child.get("ir")
            if word not in known and not (ir is not None and ir.get(field) is not None):
                pos = cases.key_pos(case)
                message = f"`{word}` is no `{by.value}` of the IR"
                self.findings.error("R024", message, pos, hint(word, known), word=word)

    def _check_document(self) -> None:
        """Report documents of no session, and lines that say again what they cannot (R022)."""
        session, said = self.model.units.get("session"), self.clean.get("document")
        if session is None and said is not None:
            help = "write `session:` and the picture of what a file says besides its messages"
            message = "`document` says how a session is kept, and the file pictures no `session`"
            self.findings.error("R022", message, said.pos, help)
        document = self.model.document
        for role, node in document.again if document is not None else ():
            for hole in pic.holes(drawn.parse(node)):
                if hole.path not in ("text", "time"):
                    message = f"a line that says a text of the {role} again holds `${hole.path}`"
                    help = "it knows `$text` and `$time` of the message"
                    self.findings.error("R022", message, hole.pos, help)

    def _check_units(self, plain: bool) -> None:
        """Report units that never say what each of them holds (R002)."""
        for unit, (what, form) in MUST.items() if plain else ():
            whole = self.model.units.get(unit)
            for case in whole.cases if whole is not None else ():
                said = {name for (name, *_), _ in keyed(case.ir)}
                paths = {path for path, _ in pic.named(case.wire)}
                paths -= {"."} if unit != "error" else set()  # another shape says it
                if not paths & {what, "."} and what not in said:
                    hole = " ".join((f"${what}", *form))
                    help = f"name the key under which they stand: `KEY: {hole}`"
                    tell = self.findings.error if unit == "session" else self.findings.warn
                    tell("R002", f"the {unit} has no `${what}`", case.pos, help)

    def _check_envelope(self) -> None:
        """Report what an envelope pictures and no request has outside its body (R021, R010)."""
        shape = self.model.units.get("envelope")
        for case in shape.cases if shape is not None else ():
            for (name, *_), child in keyed(case.wire):
                if name not in Envelope._fields:
                    message = f"`{name}` is nothing that an envelope says"
                    pos = self.findings.key_before(child.pos, name)
                    help = hint(name, Envelope._fields)
                    self.findings.error("R021", message, pos, help, word=name)
                for (header, *_), said in keyed(child) if name == "headers" else ():
                    if isinstance(said, Literal) and not isinstance(said.values[0], str):
                        help = f'write it in quotes: "{said.values[0]}"'
                        message = f"the header `{header}` is a text"
                        self.findings.error("R010", message, said.pos, help)

    def _check_examples(self) -> None:
        """Report examples of what is not there (R025)."""
        shown = self.raw.under("examples")
        for name, listed in shown.items():
            if not self.findings.reports_on(listed.pos) or apart.owner_of(self.raw, name):
                continue
            known = {*self.raw.under("shapes"), *filter(self.raw.get, apart.UNITS)}
            message = f"`examples` shows `{name}`, which is no shape and no unit here"
            pos = self.raw.value["examples"].key_pos(name)
            self.findings.error("R025", message, pos, hint(name, known), word=name)

    def _check_tables(self, contexts: Contexts) -> None:
        """Report words of tables that the IR does not have (R024)."""
        tables = self.clean.under("tables")
        for view in contexts.all:
            for hole in pic.holes(view.case.wire):
                for name in hole.lenses[:1]:
                    known = _field_words(view, hole.path) if name in tables else None
                    if known is not None:
                        self._check_table(name, tables[name], known, hole.path)

    def _check_table(self, name: str, node: Node, known: frozenset[str], path: str) -> None:
        named = path.rpartition(".")[2]
        for word in ("write", "write-also", "read-also"):
            for key, child in node.under(word).items():
                said = child.value if word == "read-also" else key
                if said not in known and not str(said).startswith("other:"):
                    pos = child.pos if word == "read-also" else node.value[word].key_pos(key)
                    message = f"`{said}` in the table `{name}` is no `{named}` of the IR"
                    self.findings.error("R024", message, pos, hint(str(said), known))


def _inner(shape: Shape) -> list[Hole]:
    """Return the holes of a shape whose shapes picture the same object as it does."""
    return [hole for case in shape.cases for hole in _same_object(case.wire)]


def _same_object(p: Any, top: bool = True) -> list[Hole]:
    """Return the holes whose shape pictures the same object, of the wire or of the IR."""
    found = []
    if isinstance(p, Hole):
        if p.shape and (top or p.path == "."):
            found.append(p)
    elif isinstance(p, Fields):
        found += [h for h in p.spread if h.shape]
    return found + [h for _, child in pic.below(p) for h in _same_object(child, False)]


def _field_words(view: View, path: str) -> frozenset[str] | None:
    """Return the words that a field may hold, where they are few."""
    first, _, name = path.rpartition(".")
    if path in view.bound:
        # A name of the `ir` picture stands for the field that it is given there.
        pairs = [(name, c) for (name, *_), c in keyed(view.case.ir) if isinstance(c, Hole)]
        fields = [name for name, hole in pairs if hole.path == path]
        return closed_words(view.objects, fields[0]) if fields else None
    return closed_words(object_names(view.holds(first)) if first else view.objects, name)


def _own_in_ir(ir: pic.Picture | None) -> frozenset[str]:
    """Return the fields under `own` of which an `ir` picture says what stands there."""
    entries = keyed(ir)
    own = [child for names, child in entries if names[0] == "own" and isinstance(child, pic.Fields)]
    return frozenset().union(*(child.names for child in own))
