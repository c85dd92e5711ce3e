"""Provenance: a trace made of what reading and writing have told, once a conversion is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..interpreter.recorder import Made, Recorder, Whole
from ..interpreter.views import View, Written
from ..language import picture as pic
from ..language.lenses import SPELLING_OF, is_guard, same, stringify
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture, Text
from ..notes import Note, nearest
from ..results import Envelope, rule_of
from ..tagged import Several, every
from ..traces import OUTSIDE, Origin, Step, Trace
from ..trail import At, leaves, pointer, value_at
from .fates import Fates

Out = tuple[Any, list[Note], Envelope | None]


def traced(
    convert: Callable[[Recorder], Out], body: Any, source: Dialect, target: Dialect
) -> tuple[Out, Trace]:
    """Convert a body by the interpreter, and tell of each value."""
    recorder = Recorder()
    out, notes, _ = done = convert(recorder)
    origins = Origins(recorder, body, out, notes, source, target)
    origins_by_path = {pointer(at): origins.of(out, at, value) for at, value in leaves(out)}
    for at, value in leaves(recorder.envelope) if recorder.envelope is not None else ():
        origins_by_path[OUTSIDE + pointer(at)] = origins.of(recorder.envelope, at, value)
    words = set() if origins.home else origins.words  # at home a word is itself
    fates = Fates(recorder, notes, origins_by_path, words, origins.decided)
    return done, Trace(origins_by_path, fates.all(leaves(body)))


class Origins:
    """Finds where the leaves of an output come from."""

    def __init__(
        self, recorder: Recorder, body: Any, out: Any, notes: list[Note],
        source: Dialect, target: Dialect,
    ) -> None:  # fmt: skip
        self.recorder, self.trail = recorder, recorder.trail
        self.body, self.out, self.notes = body, out, notes
        self.filled = {note.target_path for note in notes if note.code == "filled-in"}
        self.source, self.target = source, target
        self.home = source.name == target.name
        self.words: set[str] = set()  # leaves of the output that are fixed words
        self.decided: dict[str, set[str]] = {}  # what chose a case, and what that case wrote

    def of(self, top: Any, at: At, value: Any) -> Origin:
        """Return where the leaf of an output at a place comes from."""
        made, depth = self._nearest(top, at)
        origin = self._origin(made, at[depth:], at, value, top)
        if self.home and top is self.out:
            stood = value_at(self.body, at, ABSENT)
            if stood is not ABSENT and same(stood, value):
                steps = origin.steps if pointer(at) in origin.sources else ()
                return Origin((pointer(at),), origin.rule, steps or (Step("kept", "as it was"),))
        return origin

    def _nearest(self, top: Any, at: At) -> tuple[Written | Whole | Made | None, int]:
        """Return the nearest that was told of a place, and how deep that is."""
        found: tuple[Written | Whole | Made | None, int] = (self.recorder.top, 0)
        if not at and (bare := self.recorder.made_bare(top)) is not None:
            return bare, 0
        owner = top
        for depth, key in enumerate(at):
            whole = self.recorder.gone_through(owner)
            found = found if whole is None else (whole, depth)
            made = self.recorder.at(owner, key)
            found = found if made is None else (made, depth + 1)
            owner = owner[key]
        whole = self.recorder.gone_through(owner)
        return found if whole is None else (whole, len(at))

    def _origin(
        self, made: Written | Whole | Made | None, rest: At, at: At, value: Any, top: Any
    ) -> Origin:
        if isinstance(made, Whole):
            whole = (pointer((*made.at, *rest)),)
            return Origin(whole, rule_of(made.pos), (Step("kept", "as it was"),))
        if isinstance(made, Made):
            rule = rule_of(made.pos)
            return Origin((), rule, (Step("made", made.what, rule),))
        if made is None:
            return self._noted(at, None)
        target = (OUTSIDE if top is not self.out else "") + pointer(at)
        for place in self._compared_places(made.view):
            self.decided.setdefault(pointer(place), set()).add(target)
        picture = made.picture
        if isinstance(picture, Literal) or (isinstance(picture, Fields) and not picture.spread):
            return self._word_origin(made, picture, at, value, top)
        if isinstance(picture, Text):
            origin = self._hole_origin(made, picture.names, (), at, rest)
            said = self._places_of(made.view, _compared(made.view.case.ir, "", picture.fixed))
            # Of what holds the data nothing more is said than the data does.
            there = origin.sources
            more = [p for p in map(pointer, said) if not any(s.startswith(f"{p}/") for s in there)]
            return origin._replace(sources=tuple(dict.fromkeys((*there, *more))))
        if isinstance(picture, Fields) and picture.spread and not rest:
            picture = picture.spread[0]
            made = made._replace(picture=picture)
        if not isinstance(picture, Hole):
            return self._noted(at, rule_of(picture.pos))
        if rest and (picture.mode is not None or picture.path == "."):
            return self._noted(at, rule_of(picture.pos))
        if picture.path in (".", "nth"):
            rule = rule_of(picture.pos)
            places = () if picture.path == "nth" else self._choosing_places(made)
            step = Step("hole", f"${picture.path}", rule)
            return Origin(tuple(map(pointer, places)), rule, (step,))
        return self._hole_origin(made, picture.paths, picture.lenses, at, rest)

    # -- fixed words ------------------------------------------------------------------------------

    def _word_origin(self, made: Written, picture: Picture, at: At, value: Any, top: Any) -> Origin:
        rule = rule_of(picture.pos)
        self.words.add((OUTSIDE if top is not self.out else "") + pointer(at))
        if self.trail.find(made.view.obj) is None:
            noted = self._noted(at, rule)
            if noted.steps:
                return noted
        places = self._choosing_places(made)
        step = Step("literal", stringify(value), rule)
        rows = self._rows(made.view.obj)
        return Origin(tuple(dict.fromkeys(map(pointer, places))), rule, (*rows, step))

    def _choosing_places(self, made: Written) -> list[At]:
        """Return what of the input chose the case of a view: fixed words, or the object itself."""
        view = made.view
        base = self.trail.find(view.obj)
        picked = self._compared_places(view)
        if base is None:
            return picked
        found = list(picked)
        for place in every(base):
            said = list(self.recorder.said.get(place, ()))
            if not place:  # of a whole payload only what stands beside what is written
                heads = {one[:1] for one in [*picked, *self._claimed_places(view)]}
                said = [one for one in said if one[:1] in heads]
                found += said or (self._claimed_places(view) if not found else [])
            else:
                found += said or ([] if found else [place])
        return found

    def _compared_places(self, view: View) -> list[At]:
        """Return the places of what the `ir` picture of a case compares with fixed words."""
        return self._places_of(view, _compared(view.case.ir, ""))

    def _places_of(self, view: View, paths: Iterable[str]) -> list[At]:
        found: list[At] = []
        base = self.trail.find(view.obj)
        for path in paths:
            at = self.trail.find(view.obj, path)
            owner, last = _innermost(view.obj, path)
            given = self._default_places(view.obj, path) or self._default_places(owner, last)
            whole = given is not None and at in (base, self.trail.find(owner))
            known = [] if at is None or whole else [at]
            found += self.recorder.made_at(view.obj, path) or known + (given[0] if given else [])
        return list(dict.fromkeys(found))

    def _claimed_places(self, view: View) -> list[At]:
        """Return the places of what a picture takes from its object."""
        if view.shape in self.target.units:
            return []
        paths = [path for _, path in view.names.values()] + sorted(view.claims)
        return self._places_of(view, paths)

    # -- holes ------------------------------------------------------------------------------------

    def _hole_origin(
        self, made: Written, paths: tuple[str, ...], lenses: tuple[str, ...], at: At, rest: At
    ) -> Origin:
        picture, view = made.picture, made.view
        rule = rule_of(picture.pos)
        there = [p for p in paths if view.peek(p) is not ABSENT and view.peek(p) is not None]
        mark = getattr(picture, "mark", None)
        # What has no form there is noted, and the mark stands for it.
        if not there or (mark is not None and pointer(at) in self.filled):
            way = Step("made" if mark == "made" else "filled-in", f"${paths[0]} ({mark})", rule)
            nulls = [at for path in paths for at in self._null_places(view, path)]
            return Origin(tuple(dict.fromkeys(map(pointer, nulls))), rule, (way,))
        places: list[At] = []
        steps: list[Step] = []
        for path in there:
            found, how = self._field_places(made, path, rest)
            places += found
            steps += how
        for place in places:
            steps += self._read(place)
        steps += self._rows(view.obj)
        for part, _ in self._pairs(made, there[0]):
            steps += self._rows(part)
        steps.append(Step("hole", " + ".join(f"${path}" for path in paths), rule))
        for lens in lenses:
            if not is_guard(lens):
                steps.append(self._lens(self.target, lens, view.peek(paths[0]), rule))
        if not places and not any(step.way in _SOURCELESS for step in steps):
            noted = self._noted(at, rule)
            if noted.steps:
                return noted
        sources = dict.fromkeys(map(pointer, places))
        return Origin(tuple(sources), rule, tuple(dict.fromkeys(steps)))

    def _field_places(self, made: Written, path: str, rest: At) -> tuple[list[At], list[Step]]:
        """Return where a field of an IR object came from, or how it came to be."""
        view, obj, value = made.view, made.view.obj, made.view.peek(path)
        source = view.source(path)
        if pairs := self._pairs(made, path):
            return [at for part, _ in pairs for at in self._part_places(part)], []
        if path in view.lists and value:  # others took all
            return self._null_places(view, path), [Step("filled-in", "nothing is left for it")]
        if isinstance(value, dict) and rest:
            finer = self.trail.find(value, str(rest[0]))
            if finer is not None and not isinstance(finer, Several):
                return [self._exact(finer, rest[1:])], []
        if made_of := self.recorder.made_at(obj, source):
            return [self._exact(place, rest) for place in made_of], []
        at = self.trail.find(obj, source)
        if at == self.trail.find(obj) and (chosen := self._default_places(obj, source)) is not None:
            return chosen
        if isinstance(at, Several):
            whole = [self._exact(place[:-1], rest) for place in at.places if place[-1:] == rest[:1]]
            return (whole or at.places), []
        if at is not None:
            return [*([self._exact(at, rest)]), *self.recorder.also.get(at, ())], []
        return self._how_made(view, source)

    def _pairs(self, made: Written, path: str) -> list[tuple[Any, Any]]:
        """Return the parts of a list that a hole took, with what was written of each."""
        return made.view.lists.get(path, {}).get(id(made.picture), [])

    def _part_places(self, part: Any) -> list[At]:
        """Return where a part came from that stands in a text with others."""
        if made_of := self.recorder.made_at(part, "text"):
            return made_of
        found = [self.trail.find(part, "text") or self.trail.find(part)]
        if isinstance(part, dict) and "name" in part and self.trail.find(part, "name") is None:
            found.append(self.recorder.names.get(part.get("tool_call_id", "")))  # of its call
        return [at for at in found if at is not None]

    def _null_places(self, view: View, path: str) -> list[At]:
        """Return where null or an empty list stood for a field."""
        base = self.trail.find(view.obj)
        return [] if base is None else self.recorder.nulls.get((base, path), [])

    def _default_places(self, obj: Any, path: str) -> tuple[list[At], list[Step]] | None:
        """Return what chose the case whose `ir` picture gave a field."""
        base = self.trail.find(obj)
        given = None if base is None else self.recorder.chosen.get((base, path))
        if given is None:
            return None
        return list(given[0]), [Step("default", f"${path}", rule_of(given[1]))]

    def _exact(self, at: At, rest: At) -> At:
        """Return the very leaf where a value goes through whole, or else the whole."""
        return (
            at if not rest or value_at(self.body, (*at, *rest), ABSENT) is ABSENT else (*at, *rest)
        )

    def _how_made(self, view: View, path: str) -> tuple[list[At], list[Step]]:
        """Return how a field came to be that stood nowhere by itself."""
        obj = view.obj
        if id(obj) in self.recorder.hooked and path in ("id", "tool_call_id"):
            return [], [Step("hook", self.recorder.hooked[id(obj)][1])]
        if path == "name" and obj.get("tool_call_id") in self.recorder.names:
            return [self.recorder.names[obj["tool_call_id"]]], []
        if (given := self._default_places(obj, path)) is not None:
            return given
        if path in ("model", "stream") and "messages" in obj:
            return [], [Step("argument", path)]
        base = self.trail.find(obj)
        if base is None:
            return [], []
        if (base, path) in self.recorder.defaults:
            pos = self.recorder.defaults[base, path]
            return [], [Step("default", f"${path}", rule_of(pos))]
        if not path and base:  # a word that was read from an element
            return [at for at in self.recorder.reads if at[: len(base)] == base] or [base], []
        said = list(self.recorder.said.get(base, ())) if base else []
        return said or ([base] if base else []), []

    def _read(self, at: At) -> list[Step]:
        """Return how a place of the input was read."""
        for depth in range(len(at), -1, -1):
            picture = self.recorder.reads.get(at[:depth])
            if picture is None:
                continue
            rule = rule_of(picture.pos)
            names = picture.paths if isinstance(picture, Hole) else getattr(picture, "names", ())
            steps = [Step("read", " + ".join(f"${name}" for name in names), rule)]
            for lens in reversed(picture.lenses) if isinstance(picture, Hole) else ():
                if not is_guard(lens):
                    steps.append(self._lens(self.source, lens, ABSENT, rule, at))
            return steps
        return []

    def _lens(
        self, dialect: Dialect, lens: str, value: Any, rule: str | None, at: At | None = None
    ) -> Step:
        word = value_at(self.body, at, ABSENT) if at is not None else value
        if lens not in dialect.tables or word is ABSENT:  # it stands in a text
            return Step("codec", SPELLING_OF.get(lens, lens), rule)
        table = dialect.tables[lens]
        other = table.read(word)[0] if at is not None else table.write(word, self.home)[0]
        row = _row(dialect, lens, other if at is not None else word)
        return Step("table", f"{lens}: {word} -> {other}", row or rule)

    def _rows(self, obj: Any) -> list[Step]:
        """Return the rows of the ladder that made an IR value."""
        steps: list[Step] = []
        while id(obj) in self.recorder.rows:
            _, row, obj = self.recorder.rows[id(obj)]
            steps.insert(0, Step("ladder", row.name, rule_of(row.pos)))
        return steps

    def _noted(self, at: At, rule: str | None) -> Origin:
        """Return the origin of what only a note tells of."""
        best = nearest(self.notes, pointer(at), "target_path")
        if best is None:
            return Origin((), rule, ())
        sources = () if best.source_path is None else (best.source_path,)
        return Origin(sources, best.rule or rule, (Step("note", best.code, best.rule),))


_SOURCELESS = ("hook", "argument", "default", "filled-in")


def _innermost(obj: Any, path: str) -> tuple[Any, str]:
    """Return the object within another one that holds what is at a path, and its field there."""
    head, _, rest = path.partition(".")
    while rest and isinstance(obj, dict) and isinstance(obj.get(head), dict):
        obj = obj[head]
        head, _, rest = rest.partition(".")
    return obj, f"{head}.{rest}" if rest else head


def _compared(ir: Any, path: str, within: tuple[str, ...] | None = None) -> Iterator[str]:
    """Yield the fields that an `ir` picture compares; with texts, those whose word one says."""
    if isinstance(ir, Literal | pic.Test) and path:
        word = ir.values[0] if isinstance(ir, Literal) else None
        if within is None or (isinstance(word, str) and any(word in text for text in within)):
            yield path
    elif isinstance(ir, Fields):
        for (name, *_), child in ir.entries:
            yield from _compared(child, f"{path}.{name}" if path else name, within)


def _row(dialect: Dialect, table: str, word: Any) -> str | None:
    """Return where the row of a word stands in its table."""
    node = dialect.node.under("tables").get(table)
    for part in ("write", "write-also", "read-also"):
        row = node.under(part).get(str(word)) if node is not None else None
        if row is not None:
            return rule_of(row.pos)
    return None
