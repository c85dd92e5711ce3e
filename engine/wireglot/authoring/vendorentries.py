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
from ..trail import At, everywhere, leaves, value_at
from .recordings import STREAM, Coverage, Recorded, Unknown
from .sketch import Say, Tree
from .vocabulary import Vocabulary, words_of
from .wirefacts import spelt

Path = tuple[str, ...]


class Entry(NamedTuple):
    """An entry of the rule file: its keys, the value, what a person has to decide of it."""

    path: Path
    said: Any
    why: str = ""


def entries(
    rules: RuleSet,
    like: str,
    model: Dialect,
    recordings: Sequence[Recorded],
    coverage: Coverage,
    questions: list[str],
) -> Iterator[Entry]:
    """Yield what a dialect lacks of some recordings; `questions` get what a person has to say.

    `rules` are what is known of other dialects, `like` the one that `model` is or lies over.
    """
    base = rules[like].model
    grouped: dict[tuple[Path, str], list[tuple[Unknown, At]]] = {}
    for unknown in coverage.unknown:
        place, rest = _innermost_object(model, unknown)
        if place is None or not rest or (len(rest) > 1 and not unknown.frame):
            questions.append(f"{unknown.unit}: {_dotted(unknown.at)} is a form that no picture has")
        else:
            grouped.setdefault((place.path, str(rest[0])), []).append((unknown, rest))
    words = words_of(rules)
    for (path, key), group in grouped.items():
        dialects = ((dialect, _pictures(dialect, path)) for dialect in (base, model))
        having = [dialect for dialect, at in dialects if any(key in p.names for p in at)]
        if base in having:
            where = ".".join(path)
            questions.append(f"{where}: `{key}` has a value that its picture does not take")
        elif having:
            own = Say(f"$own.{key} (optional)")
            yield Entry((*path, key), own, "other dialects have it in another form")
        else:
            yield from _entries_of_key(rules, base, words, path, key, group, questions)
    yield from _spellings(model, recordings)
    questions += _unknown_words(model, recordings)


def _innermost_object(model: Dialect, one: Unknown) -> tuple[Place | None, At]:
    """Return the innermost picture of an object around an unknown key, and the keys below it."""
    for end in range(len(one.at) - 1, -1, -1):
        for place in places(model, one.unit, one.whole, one.at[:end]):
            if isinstance(place.picture, Fields):
                return place, one.at[end:]
    return None, one.at


def _entries_of_key(
    rules: RuleSet, model: Dialect, words: Vocabulary, path: Path, key: str,
    group: list[tuple[Unknown, At]], questions: list[str],
) -> Iterator[Entry]:  # fmt: skip
    """Yield the entries for a key that no picture names."""
    in_frames = []
    for one, rest in group:
        if one.frame and _frame_owner(path, one, rest):
            in_frames.append((one, rest))
        elif one.frame:
            questions.append(f"stream: {_dotted(one.at)} is no field of the response in any event")
    in_bodies = [one for one, rest in group if not one.frame and len(rest) == 1]
    if in_frames:
        yield from _frame_entries(rules, model, path, key, in_frames)
    inner = sorted({str(rest[1]) for _, rest in in_frames if len(rest) > 1})
    inner = [name for name in inner if not _is_usage(rules, model, key, name, in_frames)]
    if inner:
        spelled = {name: Say(f"$own.{key}_{name} (optional)") for name in inner}
        yield Entry((*path, key), spelled)
    elif in_bodies or in_frames:
        known = _usual_hole(rules, model, path, key) or _copied_field(model, path, in_bodies)
        if known is not None:
            yield Entry((*path, key), Say(known))
        elif path == ("request", "wire") and (ready := _unused_shape(model, key)):
            yield from ready
        else:
            yield Entry((*path, "$own"), [key], _guess(words, path, key, in_bodies))


def _guess(words: Vocabulary, path: Path, key: str, bodies: Sequence[Unknown]) -> str:
    """Return what a key of a payload may mean, by its words."""
    if len(path) != 2 or not bodies or isinstance(bodies[0].value, dict):
        return ""
    known = words.field(path[0], key, bodies[0].value)
    return f"`{key}` may be ${known[0]}" if known is not None else ""


def _frame_owner(path: Path, one: Unknown, rest: At) -> str:
    """Return what a key of frames is a field of: the response or its candidate; or nothing."""
    where = {("response", "wire"): "response", ("shapes", "candidate", "wire"): "candidate"}
    whole = len(rest) == len(one.at)
    return where.get(path, "") if len(rest) == 1 or whole else ""


def _frame_entries(
    rules: RuleSet, model: Dialect, path: Path, key: str, ones: list[tuple[Unknown, At]]
) -> Iterator[Entry]:
    """Yield the entries for a key of frames: fields of the response, or of its candidate."""
    first, rest = ones[0]
    owner, above = _frame_owner(path, first, rest), first.at[: len(first.at) - len(rest)]
    if len(rest) == 1:
        said = _nested(above, {f"${owner}.own": [key]})
        yield Entry(("stream", "frame", *said[0]), said[1])
        return
    for name in sorted({str(rest[1]) for _, rest in ones}):
        if _is_usage(rules, model, key, name, ones):
            usage = {name: Say("$usage as usage")}
            yield Entry(("stream", "read-also", "usage", key), usage)
        else:
            field = Say(f"$response.own.{key}_{name} (optional)")
            yield Entry(("stream", "frame", key, name), field)


def _nested(above: At, said: Tree) -> tuple[Path, Any]:
    """Return the key, and what stands under it, of an entry within a list: `choices`, `[{...}]`."""
    value: Any = said
    for step in reversed(above[1:]):
        value = [value] if isinstance(step, int) else {str(step): value}
    if not above:
        ((key, listed),) = said.items()
        return (key,), listed
    return (str(above[0]),), value


def _is_usage(
    rules: RuleSet, model: Dialect, key: str, name: str, ones: list[tuple[Unknown, At]]
) -> bool:
    """Tell whether an object in frames is one of counts of tokens, as the dialect pictures them."""
    values = [value_at(one.whole, (key, name)) for one, rest in ones if rest[1:2] == (name,)]
    if "usage" not in model.shapes or not all(isinstance(value, dict) for value in values):
        return False
    try:
        return all(rules[model.name].read(v, "usage").ir.get("input") is not None for v in values)
    except WireglotError:
        return False


def _usual_hole(rules: RuleSet, model: Dialect, path: Path, key: str) -> str | None:
    """Return the hole that most dialects have for a key at this place, as a rule file says it."""
    counts: Counter[str] = Counter()
    models = (rules[name].model for name in rules.dialects)
    for other in (one for one in models if one.family == model.family):
        for picture in _pictures(other, path):
            for names, child in picture.entries:
                if key in names and isinstance(child, Hole) and _can_use(model, child):
                    counts[spelt(child)] += 1
    most = counts.most_common(1)
    return most[0][0] if most and not most[0][0].startswith("$own.") else None


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
        if unit == STREAM or unit not in model.units:
            continue
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


def _dotted(at: At) -> str:
    return ".".join("[]" if isinstance(step, int) else str(step) for step in at)
