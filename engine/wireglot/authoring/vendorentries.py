"""How recordings of a vendor differ from what a dialect pictures, as entries of a rule file.

Each key that no picture names is asked for in turn: do other dialects name it at the same place,
has the dialect a shape for it that nothing uses yet, does its number always stand elsewhere, too?
Else it is a field of the vendor alone. Keys that the vendor spells as the dialect only reads them
are written so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..errors import WireglotError
from ..language.events import Event
from ..language.model import Dialect
from ..language.picture import Fields, Hole, Items, Picture, keyed
from ..language.shape import Case
from ..rulesets import RuleSet
from ..trace.where import Place, places
from ..trail import At, everywhere, leaves, path_of, value_at
from .recordings import Recorded, Unknown
from .sketch import Say, Tree
from .vocabulary import words_of
from .wirefacts import spelt

Path = tuple[str, ...]


class Entry(NamedTuple):
    """An entry of the rule file: its keys, the value, what a person has to decide of it."""

    path: Path
    said: Any
    why: str = ""


class Lacking:
    """What a dialect lacks of recordings; `questions` are what a person has to say of it.

    `rules` are what is known of other dialects, `like` the one that `model` is or lies over.
    """

    def __init__(self, rules: RuleSet, like: str, model: Dialect) -> None:
        self._rules, self._base, self._model = rules, rules[like].model, model
        self._words = words_of(rules)
        self.questions: list[str] = []

    def entries(self, recordings: Sequence[Recorded], unknown: list[Unknown]) -> Iterator[Entry]:
        """Yield the entries for what is unknown of some recordings, and for other spellings."""
        grouped: dict[tuple[Path, str], list[tuple[Unknown, At]]] = {}
        for one in unknown:
            place, rest = _innermost_object(self._model, one)
            if place is None or not rest or (len(rest) > 1 and not one.frame):
                told = f"{one.unit}: {path_of(one.at)} is a form that no picture has"
                self.questions.append(told)
            elif one.frame and not _frame_owner(place.path, one, rest):
                told = f"stream: {path_of(one.at)} is no field of the response in any event"
                self.questions.append(told)
            else:
                grouped.setdefault((place.path, str(rest[0])), []).append((one, rest))
        for (path, key), group in grouped.items():
            if _pictures_key(self._base, path, key):
                told = f"{'.'.join(path)}: `{key}` has a value that its picture does not take"
                self.questions.append(told)
            elif _pictures_key(self._model, path, key):
                own = Say(f"$own.{key} (optional)")
                yield Entry((*path, key), own, "other dialects have it in another form")
            else:
                yield from self._entries_of_key(path, key, group)
        yield from _spellings(self._model, recordings)
        self.questions += _unknown_words(self._model, recordings)

    def _entries_of_key(
        self, path: Path, key: str, group: list[tuple[Unknown, At]]
    ) -> Iterator[Entry]:
        """Yield the entries for a key that no picture names."""
        frames = [(one, rest) for one, rest in group if one.frame]
        bodies = [one for one, _ in group if not one.frame]
        inner = sorted({str(rest[1]) for _, rest in frames if len(rest) > 1})
        counts = [name for name in inner if self._is_usage(key, name, frames)]
        own = [name for name in inner if name not in counts]
        if frames and len(frames[0][1]) == 1:
            owner, at = _frame_owner(path, *frames[0]), frames[0][0].at[:-1]
            keys, said = _nested(at, {f"${owner}.own": [key]})
            yield Entry(("stream", "frame", *keys), said)
        elif frames:  # fields of the response in an object
            for name in own:
                field = Say(f"$response.own.{key}_{name} (optional)")
                yield Entry(("stream", "frame", key, name), field)
            for name in counts:
                usage = {name: Say("$usage as usage")}
                yield Entry(("stream", "read-also", "usage", key), usage)
        if own:
            yield Entry((*path, key), {name: Say(f"$own.{key}_{name} (optional)") for name in own})
        elif known := self._usual_hole(path, key) or _copied_field(self._base, path, bodies):
            yield Entry((*path, key), Say(known))
        elif path == ("request", "wire") and (ready := _unused_shape(self._base, key)):
            yield from ready
        else:
            yield Entry((*path, "$own"), [key], self._guess(path, key, bodies))

    def _guess(self, path: Path, key: str, bodies: Sequence[Unknown]) -> str:
        """Return what a key of a payload may mean, by its words."""
        if len(path) != 2 or not bodies or isinstance(bodies[0].value, dict):
            return ""
        known = self._words.field(path[0], key, bodies[0].value)
        return f"`{key}` may be ${known[0]}" if known is not None else ""

    def _is_usage(self, key: str, name: str, frames: list[tuple[Unknown, At]]) -> bool:
        """Tell whether an object in frames is one of counts of tokens, as the dialect has them."""
        at = (key, name)
        values = [value_at(one.whole, at) for one, rest in frames if rest[1:2] == (name,)]
        if "usage" not in self._base.shapes or not all(isinstance(v, dict) for v in values):
            return False
        read = self._rules[self._base.name].read
        try:
            return all(read(value, "usage").ir.get("input") is not None for value in values)
        except WireglotError:
            return False

    def _usual_hole(self, path: Path, key: str) -> str | None:
        """Return the hole that most dialects of the family have for a key at this place."""
        counts: Counter[str] = Counter()
        models = (self._rules[name].model for name in self._rules.dialects)
        for other in (one for one in models if one.family == self._base.family):
            for picture in _pictures(other, path):
                for names, child in picture.entries:
                    if key in names and isinstance(child, Hole) and _can_use(self._base, child):
                        counts[spelt(child)] += 1
        most = counts.most_common(1)
        return most[0][0] if most and not most[0][0].startswith("$own.") else None


def _innermost_object(model: Dialect, one: Unknown) -> tuple[Place | None, At]:
    """Return the innermost picture of an object around an unknown key, and the keys below it."""
    for end in range(len(one.at) - 1, -1, -1):
        for place in places(model, one.unit, one.whole, one.at[:end]):
            if isinstance(place.picture, Fields):
                return place, one.at[end:]
    return None, one.at


def _pictures_key(model: Dialect, path: Path, key: str) -> bool:
    """Tell whether a dialect has a picture for a key at a place of a rule file."""
    return any(key in picture.names for picture in _pictures(model, path))


def _frame_owner(path: Path, one: Unknown, rest: At) -> str:
    """Return what a key of frames is a field of: the response or its candidate; or nothing."""
    where = {("response", "wire"): "response", ("shapes", "candidate", "wire"): "candidate"}
    whole = len(rest) == len(one.at)
    return where.get(path, "") if len(rest) == 1 or whole else ""


def _nested(above: At, said: Tree) -> tuple[Path, Any]:
    """Return the key, and what stands under it, of an entry within a list: `choices`, `[{...}]`."""
    value: Any = said
    for step in reversed(above[1:]):
        value = [value] if isinstance(step, int) else {str(step): value}
    if not above:
        ((key, listed),) = said.items()
        return (key,), listed
    return (str(above[0]),), value


def _pictures(model: Dialect, path: Path) -> Iterator[Fields]:
    """Yield the objects that the pictures of a dialect have at a place of a rule file."""
    cases: list[Case] = []
    if path[0] == "conversation":
        cases, rest = [case for case in model.message_cases if case.name == path[2]], path[4:]
    else:
        inner = path[0] == "shapes"
        shape, rest = (
            (model.shapes.get(path[1]), path[3:]) if inner else (model.units.get(path[0]), path[2:])
        )
        cases = shape.cases if shape is not None else []
    for case in cases:
        picture: Picture | None = case.wire
        for key in rest:
            picture = next((child for names, child in keyed(picture) if key in names), None)
        if isinstance(picture, Fields):
            yield picture


def _can_use(model: Dialect, hole: Hole) -> bool:
    """Tell whether a dialect has the shapes and tables that a hole names, and a field for it."""
    named = {hole.shape} if hole.shape is not None else set()
    tables = {lens for lens in hole.lenses if lens in model.tables or lens in model.schemas}
    plain = all(lens in tables or lens.isalpha() for lens in hole.lenses)
    return plain and named <= {*model.shapes, *model.unions}


def _unused_shape(model: Dialect, key: str) -> list[Entry]:
    """Return the use of a shape that names a key, where the request does not use it yet.

    It stands in the place of a shape in the request that has keys in common with it.
    """
    top = model.units["request"].cases[0].wire
    spread = [hole.shape for hole in top.spread if hole.shape] if isinstance(top, Fields) else []
    for name, shape in model.shapes.items():
        pictured = [case.wire for case in shape.cases if isinstance(case.wire, Fields)]
        keys = _keys(pictured)
        part = shape.kind is not None or model.kinds_of(name) != {None}
        if len(pictured) > 1 and key in keys and name not in spread and not part:
            hole = f"$. as {name}"
            for other in (model.shapes[each] for each in spread if each in model.shapes):
                if not keys.isdisjoint(_keys(case.wire for case in other.cases)):
                    return [Entry(("shapes", f"{other.name}!", "wire", "..."), Say(hole))]
            gone = sorted(keys & _keys([top]))
            removed = [Entry(("request", "wire", "$removed"), gone)] if gone else []
            return [*removed, Entry(("request", "wire", "..."), Say(f"{hole} (optional)"))]
    return []


def _keys(pictures: Iterable[Picture]) -> set[str]:
    """Return the keys that pictures name at their top, in every spelling."""
    fields = (picture for picture in pictures if isinstance(picture, Fields))
    return {name for each in fields for names, _ in each.entries for name in names}


def _copied_field(model: Dialect, path: Path, group: Sequence[Unknown]) -> str | None:
    """Return the field whose number a key of the counts always has, too."""
    numbers = {one.value for one in group if type(one.value) is int}
    if path[-2:] != ("usage", "wire") or len(numbers) < 2:
        return None
    around = [(value_at(one.whole, one.at[:-1]), one.value) for one in group]
    for at in {at: None for value, _ in around for at in _numbers(value)}:
        pairs = [(value_at(value, at), said) for value, said in around]
        pairs = [pair for pair in pairs if pair[0] is not None and at != group[0].at[-1:]]
        if len({said for _, said in pairs}) < 2 or any(other != said for other, said in pairs):
            continue
        for picture in _pictures(model, (*path, *map(str, at[:-1]))):
            hole = next((child for names, child in picture.entries if at[-1] in names), None)
            if isinstance(hole, Hole) and len(hole.paths) == 1:
                return f"${hole.path} (copy)"
    return None


def _numbers(value: Any) -> Iterator[At]:
    """Yield the places of the whole numbers of an object, not those within lists."""
    for at, one in leaves(value):
        if isinstance(one, int) and all(isinstance(key, str) for key in at):
            yield at


# -- keys that are spelled otherwise, words that are not known -----------------------------------


def _pictured_keys(
    model: Dialect, recordings: Iterable[Recorded]
) -> Iterator[tuple[Path, tuple[str, ...], Picture, dict[str, Any]]]:
    """Yield each key of the pictures of recorded bodies: its place and names, and the object."""
    for unit, body in recordings:
        for at, value in everywhere(body):
            for place in places(model, unit, body, at) if isinstance(value, dict) else ():
                for names, child in keyed(place.picture):
                    yield place.path, names, child, value


def _spellings(model: Dialect, recordings: Iterable[Recorded]) -> Iterator[Entry]:
    """Yield keys that the recordings have in another spelling than the one that is written."""
    shown: dict[tuple[Path, tuple[str, ...]], Counter[str]] = {}
    holes: dict[tuple[Path, tuple[str, ...]], Hole] = {}
    for path, names, child, value in _pictured_keys(model, recordings):
        if len(names) > 1 and isinstance(child, Hole):
            said = Counter(name for name in names if value.get(name) is not None)
            shown.setdefault((path, names), Counter()).update(said)
            holes[path, names] = child
    respelled: set[tuple[tuple[str, ...], str]] = set()
    for (path, names), counted in shown.items():
        if counted and not counted[names[0]]:
            new = counted.most_common(1)[0][0]
            respelled.add((names, new))
            yield from _respelled(path, names, new, Say(spelt(holes[path, names])))
    for case in model.message_cases:
        path = ("conversation", "cases", case.name, "wire")
        for names, child in keyed(case.wire):
            for new in [new for there, new in respelled if there == names]:
                if (path, names) not in shown and isinstance(child, Hole):
                    yield from _respelled(path, names, new, Say(spelt(child)))
    for event in model.stream.events if model.stream is not None else ():
        yield from _event_entries(event, respelled)


def _respelled(path: Path, names: tuple[str, ...], new: str, said: Say) -> Iterator[Entry]:
    """Yield the entries that write a key as `new`, and read its other names."""
    others = " ".join(name for name in names if name != new)
    yield Entry((*path, names[0]), Say("$removed"))
    yield Entry((*path, f"{new} (or {others})"), said)


def _event_entries(event: Event, respelled: set[tuple[tuple[str, ...], str]]) -> Iterator[Entry]:
    """Yield the frames of an event in the spelling of the response."""
    for names, new in sorted(respelled):
        for picture in event.writes[:1]:
            said = _spelled_in(picture, names, new)
            if said is not None:
                yield Entry(("stream", "events", event.name), said)


def _spelled_in(p: Picture, names: tuple[str, ...], new: str) -> Any:
    """Return the part of a picture that leads to a key of some spellings, with another first."""
    if isinstance(p, Items):
        found = [_spelled_in(child, names, new) for child in p.items]
        return found if len(found) == 1 and found[0] is not None else None
    for there, child in keyed(p):
        if there == names:
            made = _respelled((), names, new, Say(spelt(child)))
            return {change.path[0]: change.said for change in made}
        inner = _spelled_in(child, names, new)
        if inner is not None:
            return {there[0]: inner}
    return None


def _unknown_words(model: Dialect, recordings: Iterable[Recorded]) -> list[str]:
    """Return the words that no table has, with the entry that each needs."""
    found: dict[str, None] = {}
    for _, names, child, value in _pictured_keys(model, recordings):
        said = next((value[name] for name in names if name in value), None)
        tables = set(_word_tables(model, child)) if isinstance(said, str) else set()
        if tables and all(model.tables[name].read(said)[0] == f"other:{said}" for name in tables):
            found[f"tables: {{{min(tables)}: {{read-also: {{{said}: ...}}}}}}"] = None
    return list(found)


def _word_tables(model: Dialect, p: Picture) -> Iterator[str]:
    """Yield the tables that translate the word in a hole, itself or by the shape that it names."""
    if isinstance(p, Hole):
        yield from (n for n in p.lenses if n in model.tables and not model.tables[n].closed)
        for case in model.shapes[p.shape].cases if p.shape in model.shapes else ():
            if isinstance(case.wire, Hole) and case.wire.shape is None:
                yield from _word_tables(model, case.wire)
