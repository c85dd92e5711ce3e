"""Lines of providers' batch files: what stands around a request, an answer or an error.

A file beside the rules pictures them (`rules/batch/lines.yaml`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .. import seeds
from ..errors import ConversionError, UsageError
from ..interpreter.unpictured import kind_of, open_kind, status_of
from ..jsontext import stringify
from ..language import drawn
from ..language import picture as pic
from ..language.lenses import guard, same
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture
from ..language.source import Pos
from ..loading.rulesources import node_beside
from ..notes import UNKNOWN_KEY, Effect, Note, Weight, no_place, own_field, severity_of
from ..results import rule_of
from ..rulesets import RuleSet
from ..trail import At, keys_of, pointer, value_at

Options = Mapping[str, Any] | None
FILE = "batch/lines.yaml"
BODIES = ("request", "response", "error")  # what a line holds is of these units
OUTSIDE = {  # what stands outside of a request in some targets, and in none of their lines
    "model": "the job names the model in the target, and not its lines",
    "stream": "nobody hears a stream of a job, and no line of the target asks for one",
}


class Form(NamedTuple):
    """The lines of one kind of batch files.

    Attributes:
        name: What it is called in the file.
        urls: The dialects whose files are of this form, with the `url` that their lines name.
        lines: Pictures, by what they hold: a unit, or how a request ended without an answer;
            what follows a dot tells pictures of one apart.
    """

    name: str
    urls: dict[str, str | None]
    lines: dict[str, Fields]


class Forms(NamedTuple):
    """What the file says: the form of each dialect, and errors that tell of an end."""

    of: dict[str, Form]
    ends: dict[str, dict[str, str]]


class LineRead(NamedTuple):
    """A line that was read: what it holds, value, place and rule of each hole, and other keys."""

    kind: str
    held: dict[str, tuple[Any, At, Pos]]
    other: list[At]


@functools.cache
def packaged() -> Forms:
    """Return what the packaged file says, which is taken for checked."""
    file = node_beside(FILE)
    forms: dict[str, Form] = {}
    for name, node in file.value["forms"].value.items():
        like = node.get("like")
        lines = dict(forms[like.value].lines) if like is not None else {}
        for kind, picture in node.value["lines"].value.items():
            read = drawn.parse(picture)
            assert isinstance(read, Fields)
            lines[kind] = read
        forms[name] = Form(name, node.value["of"].plain(), lines)
    by_dialect = {dialect: form for form in forms.values() for dialect in form.urls}
    return Forms(by_dialect, file.value["ends"].plain())


class LineConverter:
    """Converts the lines of one provider's batch files into those of another."""

    def __init__(
        self, rules: RuleSet, source: str, target: str, model: str | None, options: Options
    ) -> None:
        self.rules, self.source, self.target = rules, source, target
        self.model, self.options = model, options
        forms = packaged()
        self.ends = forms.ends
        self.home, self.abroad = forms.of.get(source), forms.of.get(target)

    def converted(self, value: Any) -> tuple[Any, list[Note]] | None:
        """Convert a line; None for what has not the keys of one. Raises ConversionError.

        Raises UsageError, too, where no form of batch files is known of the target.
        """
        if self.home is None or (found := self._read(self.home, value)) is None:
            return None
        if self.abroad is None:
            raise UsageError(
                f"no form of batch files is known of `{self.target}`; `--at` converts what "
                f"stands in a line; known are: {', '.join(packaged().of)}"
            )
        return _Line(self, value, found, self.home, self.abroad).converted()

    def refuse_other_kinds(self, value: Any) -> None:
        """Refuse an object that is no line and has no key of a request. Raises ConversionError.

        Of some requests no key is required: a line of another kind would be an empty one.
        """
        shape = self.rules[self.source].model.units.get("request")
        if self.home is None or shape is None or any(case.needs for case in shape.cases):
            return
        if isinstance(value, dict) and value.keys().isdisjoint(shape.keys):
            told = "this has no key of a request, and is no line of a batch file"
            raise ConversionError(told, "", rule_of(shape.pos))

    def _read(self, form: Form, value: Any) -> LineRead | None:
        """Read a line by the first picture that fits. Raises the ConversionError of the nearest.

        A key that one picture did not take must not be left out by another: the line of an answer
        that is odd would be a request.
        """
        best: tuple[int, ConversionError] | None = None
        odd: set[At] = set()
        for kind, line in form.lines.items():
            fits = isinstance(value, dict) and _has_required_keys(line, value)
            if not fits and not (isinstance(value, dict) and _holds_request(line, value)):
                continue
            found = LineRead(kind.partition(".")[0], {}, [])
            try:
                _match(line, value, (), found, form.urls[self.source])
            except ConversionError as error:
                odd.add(tuple(keys_of(error.path)[:1]))
                if best is None or len(found.held) > best[0]:
                    best = len(found.held), error
            else:
                if odd.isdisjoint(found.other):
                    return found
        if best is not None:
            raise best[1]
        return None


class _Line:
    """One line on its way."""

    def __init__(self, ways: LineConverter, line: Any, found: LineRead, home: Form, abroad: Form):
        self.converter, self.rules, self.line, self.found = ways, ways.rules, line, found
        self.home, self.abroad = home, abroad
        self.notes: list[Note] = []
        self.values: dict[str, Any] = {"url": abroad.urls[ways.target]}
        self.places: set[str] = set()
        self.explained: set[str] = set()  # holes of which is said already what became of them

    def converted(self) -> tuple[Any, list[Note]]:
        kind = self.found.kind
        picture = self.abroad.lines.get(kind)
        if picture is None and kind in self.converter.ends:
            self._write_end(kind)
            kind, picture = "error", self.abroad.lines["error"]
        assert picture is not None
        self.places = {hole.path for hole in pic.holes(picture)}
        for unit in ("request", "response"):
            if unit in self.found.held and unit in self.places:
                self._body(unit)
        if kind == "error" and self.found.kind == "error":
            self._error()
        if self._keeps_line():
            return self._at_home(), self.notes
        for name, (value, at, pos) in self.found.held.items():
            self._carry(name, value, at, pos)
        for at in self.found.other:
            self._note("unknown-key", "lost", at, None, None, UNKNOWN_KEY)
        return self._fill(picture, ()), self.notes

    def _carry(self, name: str, value: Any, at: At, pos: Pos) -> None:
        """Keep what the target's line has a place for, and say what it has none for."""
        if name in self.places:
            self.values.setdefault(name, value)
        elif name == "request":
            self._note("no-place", "repeated", at, None, pos, no_place(str(at[-1])), "repeated")
        elif name.startswith("own."):
            told = own_field(str(at[-1]), self.converter.source)
            self._note("own-field", "lost", at, None, pos, told, "slight")
        elif name != "url" and name not in self.explained:
            self._note("no-place", "lost", at, None, pos, no_place(str(at[-1])))

    # -- what stands in the line -------------------------------------------------------------------

    def _body(self, unit: str) -> None:
        """Convert a request or an answer."""
        converter = self.converter
        body, at, pos = self.found.held[unit]
        within = self._target_at(unit)
        try:
            ends = (converter.source, converter.target)
            asked = (*ends, unit, converter.model)
            out = self.rules.convert(body, *asked, options=converter.options)
        except ConversionError as error:
            raise error_within(error, at) from None
        self.values[unit] = out.body
        self.notes.extend(moved_within(out.notes, at, within))
        around = out.envelope if unit == self.found.kind else None
        for name, told in OUTSIDE.items():
            if getattr(around, name, None) and body.get(name) and name not in out.body:
                self._note("no-place", "lost", (*at, name), None, pos, told)

    def _error(self) -> None:
        """Convert an error: a body of the unit, or what the line says of one."""
        converter, rules = self.converter, self.rules
        held = self.found.held
        status = held["status"][0] if "status" in held else None
        hole = next((hole for hole in ("error", "error.error", "message") if hole in held), "error")
        value, at, _ = held[hole]
        self.explained.add(hole)
        body = {"error": value} if hole == "error.error" else value
        if hole == "message":
            body = rules[converter.source].write({"message": value}, "error").body
        exchange = rules.exchange(converter.target, converter.source, options=converter.options)
        out = exchange.error(body, status)
        ir = rules[converter.source].read(body, "error").ir
        kind = self._take_error(out.body, ir.get("http", status), ir.get("kind"))
        if hole != "message" and self.places.isdisjoint(("error", "error.error")):
            told = "a line of the target tells of an error what it says, and a status at most"
            self._note("no-place", "lost", at, None, None, told)
        elif hole != "message":
            within = at[:-1] if hole == "error.error" else at
            code = ir.get("http") if "status" in self.places else None  # it stands in the line
            notes = [one for one in out.notes if code is None or not _is_of_status(one, body, code)]
            self.notes.extend(moved_within(notes, within, self._target_at("error")))
        if status == status_of(kind) or (kind_of(status) == kind and not open_kind(kind)):
            self.explained.add("status")

    def _write_end(self, kind: str) -> None:
        """Say as an error of the target how a request ended."""
        ir, at = dict(self.converter.ends[kind]), None
        if "message" in self.found.held:
            ir["message"], at, _ = self.found.held["message"]
        self.explained.add("message")
        body = self.rules[self.converter.target].write(ir, "error").body
        told = f"a request that is {kind} is told as an error in the target"
        self._note("reworded", "changed", at, self._target_at("error"), None, told)
        self._take_error(body, None, ir["kind"])

    def _take_error(self, body: Any, status: int | None, kind: str | None) -> str | None:
        """Keep an error of the target whole and in pieces, as lines may say it; return its kind."""
        ir = self.rules[self.converter.target].read(body, "error").ir
        self.values |= {"error": body, "message": ir["message"]}
        self.values["status"] = status_of(kind or ir.get("kind")) if status is None else status
        if isinstance(body, dict) and "error" in body:
            self.values["error.error"] = body["error"]
        found: str | None = ir.get("kind", kind)
        return found

    # -- the line itself ---------------------------------------------------------------------------

    def _keeps_line(self) -> bool:
        """Tell whether the line stays as it is around what it holds, which may be a piece."""
        whole = "error.error" not in self.found.held or "error.error" in self.values
        return self.home is self.abroad and whole

    def _at_home(self) -> Any:
        """Put what was converted into the line as it was."""
        line = self.line
        for name, (_, at, _) in self.found.held.items():
            if name in (*BODIES, "error.error", "url"):
                line = replaced_at(line, at, self.values[name])
        return line

    def _fill(self, p: Picture, at: At) -> Any:
        """Fill a picture of a line. Raises ConversionError where nothing stands for a hole."""
        if isinstance(p, Literal):
            return p.values[0]
        if isinstance(p, Fields):
            filled = {names[0]: self._fill(child, (*at, names[0])) for names, child in p.entries}
            return {key: value for key, value in filled.items() if value is not ABSENT}
        assert isinstance(p, Hole)
        if (value := self.values.get(p.path, ABSENT)) is not ABSENT:
            return value
        if p.mark == "made":
            told = "the target wants an id here; it is made of that of the request"
            self._note("made-id", "added", None, at, p.pos, told)
            return f"{p.value}{seeds.digest(self.values.get('id', ''))[: seeds.LENGTH]}"
        if p.mark == "optional":
            return ABSENT
        if p.path == "message":
            self._note("filled-in", "added", None, at, p.pos, "the target wants a message here")
            return self.converter.ends[self.found.kind]["message"]
        raise ConversionError(
            f"nothing says `{at[-1]}`, which a line of the target needs", "", rule_of(p.pos)
        )

    def _target_at(self, unit: str) -> At:
        """Return where a body stands in the line that is written."""
        if self._keeps_line():
            return self.found.held[unit][1] if unit in self.found.held else ()
        for kind in (self.found.kind, "error"):
            line = self.abroad.lines.get(kind)
            for at, p in pic.placed(line) if line is not None else ():
                if isinstance(p, Hole) and p.path == unit:
                    return at
        return ()

    def _note(
        self, code: str, effect: Effect, source: At | None, target: At | None, pos: Pos | None,
        told: str, weight: Weight = "",
    ) -> None:  # fmt: skip
        came, went = (None if at is None else pointer(at) for at in (source, target))
        severity = severity_of(effect, code, weight)
        self.notes.append(Note(code, effect, severity, came, went, rule_of(pos), told))


def _has_required_keys(line: Fields, value: Mapping[str, Any]) -> bool:
    """Tell whether all keys are there that a picture of a line requires."""
    return all(
        names[0] in value or (isinstance(p, Literal) and p.values[0] is None)
        or (isinstance(p, Hole) and p.mark)
        for names, p in line.entries
    )  # fmt: skip


def _holds_request(line: Fields, value: Mapping[str, Any]) -> bool:
    """Tell whether the key is there under which a line holds a request: no request has it itself.

    A broken line must not be read as a request, of which nothing may be required.
    """
    return any(
        isinstance(p, Hole) and p.path == "request" and not p.mark and names[0] in value
        for names, p in line.entries
    )


def _match(p: Picture, value: Any, at: At, found: LineRead, url: str | None) -> None:
    """Read a line by a picture. Raises ConversionError where it does not fit."""
    if value is None:
        value = ABSENT
    if isinstance(p, Fields):
        if not isinstance(value, dict):
            raise _misfit(p, at, "no object stands here")
        for names, child in p.entries:
            _match(child, value.get(names[0]), (*at, names[0]), found, url)
        found.other.extend(
            (*at, key) for key, inner in value.items() if key not in p.names and inner is not None
        )
    elif isinstance(p, Literal):
        wanted = p.values[0]
        if not (value is ABSENT if wanted is None else value is not ABSENT and same(wanted, value)):
            raise _misfit(p, at, f"`{stringify(wanted)}` is wanted here")
    elif isinstance(p, Hole) and (value is not ABSENT or not p.mark):
        if value is ABSENT or not all(guard(lens, value) for lens in p.lenses):
            raise _misfit(p, at, "this is missing" if value is ABSENT else "another type is wanted")
        if p.path == "url" and value != url:
            raise _misfit(p, at, f"the requests of this dialect go to `{url}`")
        found.held[p.path] = (value, at, p.pos)


def _is_of_status(note: Note, body: Any, code: int) -> bool:
    """Tell whether a note is of the status that a body names."""
    at = None if note.source_path is None else keys_of(note.source_path)
    return at is not None and value_at(body, at) == code and note.effect == "lost"


def _misfit(p: Picture, at: At, told: str) -> ConversionError:
    return ConversionError(told, pointer(at), rule_of(p.pos))


def moved_within(notes: Iterable[Note], source: At, target: At) -> Iterator[Note]:
    """Yield the notes of a body: in the line it stands deeper."""
    source_prefix, target_prefix = pointer(source), pointer(target)
    for note in notes:
        came = None if note.source_path is None else source_prefix + note.source_path
        went = None if note.target_path is None else target_prefix + note.target_path
        yield note._replace(source_path=came, target_path=went)


def error_within(error: ConversionError, at: At) -> ConversionError:
    """Return why a body is refused: in the line it stands deeper."""
    return ConversionError(error.reason, pointer(at) + error.path, error.rule)


def replaced_at(value: Any, at: At, body: Any) -> Any:
    """Return a copy of a value with another body at a place."""
    head, *rest = at
    return {**value, head: replaced_at(value[head], tuple(rest), body) if rest else body}
