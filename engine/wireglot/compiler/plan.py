"""The plan of a pair: the generated source, and what each field of a request needs.

A plan is plain data. It is made from two models, or read from what the wheel ships.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from ..interpreter.demands import OF_TOOLS
from ..interpreter.limits import pattern_of
from ..ir import field_type
from ..language.ladder import Ladder
from ..language.lenses import is_guard
from ..language.measure import needed
from ..language.model import Dialect, Group
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text, holes
from ..notes import no_place, own_field
from . import scope
from .compile import Pair
from .frame import Frame
from .looks import entries, plain_block
from .standins import Path, Spot, Spots, classes_of, spots_of
from .symbols import CLASSES, Cannot, NoFit

# What is raised besides on shapes that hold themselves, or lack what is looked for.
_DEEP = (RecursionError, StopIteration, ValueError)


def make(
    source: Dialect, target: Dialect, ladder: Ladder, generator: type[Pair] = Pair
) -> dict[str, Any]:
    """Return the plan of a pair; raises Cannot where it is left to the interpreter."""
    if scope.interpreted(source) or scope.interpreted(target):
        raise Cannot
    pair = generator(source, target, ladder)
    pair.write()
    talk = target.conversation
    assert talk is not None
    lists = [h for g in talk.groups for c in g.cases for h in c.lists.get("parts", [])]
    _alike(target, lists)
    block, text_key = plain_block(target, lists[0].shape)
    _told_apart(target, lists, {*block}, text_key)
    names, ids = target.limits.get("tool_name"), target.limits.get("call_id")
    plan = {
        "pair": (source.name, target.name),
        "lifts": pair.lifts,
        "sorted": pair.sorted,
        "hooks": bool(source.hooks),
        "talk": talk.pos,
        "bare": talk.per == "run" and any("bare" in h.lenses for h in lists),
        "block": block,
        "text_key": text_key,
        "names": pattern_of(names) if names else None,
        "ids": f"(?:{pattern_of(ids)}\n)*" if ids else None,
        "seen": pair.seen,
        "envelope": _envelope(target),
        **_fields_of(source, target, pair),
    }
    Frame(plan, pair.code).write()
    return plan | {
        "text": "\n".join([*pair.code.lines, *pair.code.below]) + "\n",
        "consts": pair.code.consts,
    }


def _alike(target: Dialect, lists: list[Hole]) -> None:
    """Raise Cannot where messages hold what generated code does not write as it should."""
    talk = target.conversation
    assert talk is not None
    bare = talk.per == "run" and any("bare" in h.lenses for h in lists)
    system = [h for h in holes(target.units["request"].cases[0].wire) if h.path == "system"]
    for hole in system:
        if ("bare" in hole.lenses) != bare or set(hole.lenses) - {"bare", "listed"}:
            raise Cannot
    body = holes(target.units["request"].cases[0].wire)
    if any(h.path == "messages" and (h.mark or h.lenses) for h in body):
        raise Cannot  # with a mark, messages that have no form are left out, all of them
    for case in (c for g in talk.groups for c in g.cases if isinstance(c.wire, Fields)):
        if any(h.path == "nth" for h in holes(case.wire)):
            raise Cannot
        for _, child in case.wire.entries:  # type: ignore[attr-defined]
            if isinstance(child, Literal) and child.values[0] is ABSENT and len(child.values) > 1:
                raise Cannot
            if isinstance(child, Hole) and child.path.startswith("own."):
                if child.mark in ("default", "fill"):
                    raise Cannot
    if talk.per == "run":
        for group in talk.groups:
            _one_list(group)


def _told_apart(
    target: Dialect, lists: list[Hole], block: set[tuple[str, str]], text_key: str
) -> None:
    """Raise Cannot where what is no text may look like the text block that is written bare."""
    for shape, case in (
        m for h in lists if "bare" in h.lenses for m in target.cases_of(h.shape or "")
    ):
        if shape.kind != "text" and isinstance(case.wire, Fields):
            there = {n[0]: c for n, c in case.wire.entries}
            fixed = {(n, c.values[0]) for n, c in there.items() if isinstance(c, Literal)}
            if text_key in there and block <= fixed:
                raise Cannot


def _one_list(group: Group) -> None:
    """Raise Cannot where a run holds more than fixed words and one list, alike in all its cases."""
    seen: set[Any] = set()
    for wire in (case.wire for case in group.cases if not group.spliced):
        if not isinstance(wire, Fields) or wire.spread:
            raise Cannot
        rest = [(names, child) for names, child in wire.entries if not isinstance(child, Literal)]
        for names, child in rest:
            if not isinstance(child, Hole) or child.path != "parts" or set(child.lenses) - {"bare"}:
                raise Cannot
            seen.add((names, child.shape, child.lenses, child.mark, repr(child.value)))
        if len(rest) != 1 or len(seen) != 1:
            raise Cannot


def _envelope(target: Dialect) -> list[tuple[dict[str, Any], dict[str, Any]]] | None:
    """Return the envelope's cases: what must hold of model and stream, and what is written."""
    if "envelope" not in target.units:
        return None
    cases = []
    for case in target.units["envelope"].cases:
        tests = {} if case.ir is None else _plain(case.ir)
        written = _plain(case.wire)
        cases.append((tests, written))
    return cases


def _plain(p: Picture) -> Any:
    """Return a picture of literals, texts and marked holes as plain data."""
    if isinstance(p, Literal):
        return ("is", None if p.values[0] is ABSENT else p.values[0])
    if isinstance(p, Text):
        return ("text", p)
    if isinstance(p, Hole) and p.mark and not p.lenses and p.mode is None:
        return ("hole", p.path, None if p.dated else p.value)
    if isinstance(p, Fields) and not p.spread:
        return {names[0]: _plain(child) for names, child in p.entries}
    raise Cannot


def _fields_of(source: Dialect, target: Dialect, pair: Pair) -> dict[str, Any]:
    """Sort the keys of the source's request by what they need."""
    there = _leaves(target.units["request"].cases[0].wire, ())
    # Spread holes say no keys of their own, so what holds them may come of any field.
    roots = {n[0] for n, c in entries(target) if any(h.path == "." or h.shape for h in holes(c))}
    places: dict[str, tuple[tuple[str, ...], Hole]] = {}
    shaped: set[str] = set()
    for keys, hole in there:
        simple = (
            keys is not None and hole.mode is None and not _words(hole) and len(hole.paths) == 1
        )
        if hole.dated:
            continue
        if (hole.path == "." and hole.mark is None) or hole.path == "nth":
            raise Cannot  # it may say something where the source says nothing
        if simple and hole.path not in places and keys is not None and "." not in hole.path:
            places[hole.path] = (keys, hole)
        else:
            shaped |= _fields(target, hole)
    outside = (
        {h.path for c in target.units["envelope"].cases for h in holes(c.wire)}
        if "envelope" in target.units
        else set()
    )
    keys_of: dict[str, tuple[Any, ...]] = {}
    prefix: tuple[str, ...] = ()
    wire = source.units["request"].cases[0].wire
    if not isinstance(wire, Fields) or wire.spread or wire.closed:
        raise Cannot
    held = Counter(hole.path for _, child in wire.entries for hole in holes(child))
    shaped |= {path for path, times in held.items() if times > 1}  # the last one counts
    if source.units["request"].cases[0].drop:
        raise Cannot
    if any(h.mark in ("default", "made") and h.shape != "conversation" for h in holes(wire)):
        raise Cannot  # where nothing stands, there is a field
    case = target.units["request"].cases[0]
    rule = str(case.pos)

    def entry_of(child: Picture) -> tuple[Any, ...]:
        return _entry(source, target, child, places, shaped, outside)

    for names, child in wire.entries:
        entry = entry_of(child)
        if entry[0] == "messages":
            prefix = (names[0],)
        for name in names:
            keys_of[name] = (*entry, names[0] if len(names) > 1 else None)
    if not prefix:
        raise Cannot
    message_keys = _place_of(there, "messages")
    system_keys = _place_of(there, "system") if pair.lifts else None
    tool_keys = _place_of(there, "tools")
    filled = [
        (keys, h.value, str(h.pos))
        for _, (keys, h) in places.items()
        if h.mark == "fill" and h.value is not None
    ]
    if len(message_keys or ()) != 1 or (pair.lifts and not system_keys):
        raise Cannot
    for keys, h in there:  # null is written, and not noted; the rest stands where none is filled in
        if h.mark == "fill" and (h.value is None or places.get(h.path) != (keys, h)):
            raise Cannot
    fixed: list[tuple[tuple[str, ...], Any]] = []
    demanded: list[tuple[str, ...]] = []
    _demands(case.wire, (), fixed, demanded)
    return {
        "fixed": fixed,
        "demanded": demanded,
        "needed": [names for names, child in wire.entries if needed(child)],
        "order": tuple(n[0] for n, _ in entries(target)),
        "shared": frozenset(k[0] for k, h in there if k and not h.path.startswith("own.")) | roots,
        "places": {path: place for path, (place, _) in places.items()},
        "outside": outside,
        "keys": keys_of,
        "prefix": prefix,
        "rule": rule,
        "message_keys": message_keys,
        "system_keys": system_keys,
        "tool_keys": tool_keys,
        "filled": filled,
        "asks": asks_of(target, places),
        "spots": _spots(source, target, wire, places, entry_of),
    }


def asks_of(
    target: Dialect, places: dict[str, tuple[Path, Hole]]
) -> tuple[Path, list[tuple[Path, Any, str]]] | None:
    """Return where a request says that it wants a stream, and what it then asks for."""
    found = target.stream.asks.values() if target.stream is not None else ()
    asks = [(ask.keys, ask.value, str(ask.pos)) for one in found for ask in one]
    return (places["stream"][0], asks) if asks and "stream" in places else None


def _spots(
    source: Dialect,
    target: Dialect,
    wire: Fields,
    places: dict[str, tuple[Path, Hole]],
    entry_of: Callable[[Picture], tuple[Any, ...]],
) -> Spots:
    """Return where stand-ins may be."""
    above = {bound.get("below") for bound in target.bounds.values()}
    held = Counter(h.path for h in holes(wire))

    def spot(hole: Hole, owner: Fields) -> Spot | None:
        path, classes = hole.path, classes_of(hole.path)
        if path in above:  # what must stay below it may stand beside it, and nowhere else
            bounded = _beside(source, target, path)
            near = {id(h): names for names, child in owner.entries for h in holes(child)}
            free = held[path] == 1 and path in places and path not in target.bounds
            if not free or not bounded or any(id(h) not in near for h in bounded):
                return None
            beside = frozenset(key for h in bounded for key in near[id(h)])
            return Spot(classes, places[path][0], beside)
        if not classes or hole.mark is None:
            return None
        entry = entry_of(hole)
        if entry[0] not in ("copy", "lost"):
            return None
        return Spot(classes, entry[1] if entry[0] == "copy" else None)

    return spots_of(wire, spot)


def _demands(
    p: Picture,
    at: tuple[str, ...],
    fixed: list[tuple[tuple[str, ...], Any]],
    demanded: list[tuple[str, ...]],
) -> None:
    """Collect what the target's request holds in any case: literals, and holes without a mark."""
    if not isinstance(p, Fields) or any(h.mark is None for h in p.spread):
        raise Cannot
    if at and next(holes(p), None) is None:
        raise Cannot  # an object without holes is written, even an empty one
    for (key, *_), child in p.entries:
        here = (*at, key)
        if isinstance(child, Literal):
            if child.values[0] is not ABSENT:
                if at:
                    raise Cannot
                fixed.append((here, child.values[0]))
        elif isinstance(child, Hole):
            if child.mark in ("made", "copy"):
                raise Cannot
            if child.mark in (None, "default"):
                demanded.append(here)
        else:
            _demands(child, here, fixed, demanded)


def _entry(
    source: Dialect,
    target: Dialect,
    child: Picture,
    places: dict[str, tuple[tuple[str, ...], Hole]],
    shaped: set[str],
    outside: set[str],
) -> tuple[Any, ...]:
    """Return what a key of the source's request needs."""
    if any(h.path == "system" for h in holes(child)):
        if isinstance(child, Items):
            raise Cannot
        return ("system",)
    if not isinstance(child, Hole) or len(child.paths) > 1:
        return ("shaped",)
    if child.shape == "conversation":
        if child.lenses:
            raise Cannot
        return ("messages",)
    if child.path == "tools":
        if "tools" in target.bounds:
            return ("leave",)
        first = source.units["request"].cases[0].lists["tools"][0]
        usual = child is first and child.mode == "each" and not set(child.lenses) - {"listed"}
        return ("tools",) if usual else ("leave",)
    if child.path.startswith("own.") and (
        source.family == target.family or child.lenses or child.mode or child.mark is None
    ):
        return ("shaped",)
    if child.path.startswith("own."):
        return ("lost", "own-field", own_field(child.path[4:]), None)
    kind = field_type("request", child.path)
    if child.mode or _words(child) or "." in child.path or child.path in shaped or kind == "opaque":
        return ("shaped",)
    if child.path in OF_TOOLS or child.path in target.bounds or _beside(source, target, child.path):
        return ("shaped",)
    cls = CLASSES.get(kind, "any")
    classes = {"str": (str,), "int": (int,), "bool": (bool,), "number": (int, float)}.get(cls)
    if "listed" in child.lenses:
        classes = (list,)
    if cls == "list":
        classes = (list,)
    if classes is None:
        return ("shaped",)
    place = places.get(child.path)
    if place is not None:
        return ("copy", place[0], classes, child.path, child.mark is None)
    if child.mark is None:
        raise Cannot
    if child.path in outside:
        return ("outside", child.path, classes)
    return ("lost", "no-place", no_place(child.path), classes)


def _beside(source: Dialect, target: Dialect, path: str) -> list[Hole]:
    """Return the holes of the source for what must stay below this number in the target."""
    bounded = {key for key, bound in target.bounds.items() if bound.get("below") == path}
    if not bounded:
        return []
    # A row of the ladder may make it of what stands beside it.
    heads = {key.split(".")[0] for key in bounded}
    wire = source.units["request"].cases[0].wire
    said = ((hole, {field.split(".")[0] for field in _said(source, hole)}) for hole in holes(wire))
    return [hole for hole, fields in said if fields & heads]


def _said(dialect: Dialect, hole: Hole) -> set[str]:
    """Return the fields that a hole may fill, with those inside of others."""
    found = set(hole.paths)
    if hole.path == "." and hole.shape:
        for _, case in dialect.cases_of(hole.shape):
            found |= {h.path for h in holes(case.wire)}
            found |= set() if case.ir is None else set(_dotted(case.ir))
    return found


def _dotted(p: Picture, at: str = "") -> Iterator[str]:
    if isinstance(p, Fields):
        for names, child in p.entries:
            yield from _dotted(child, f"{at}{names[0]}.")
    else:
        yield at[:-1]


def _leaves(p: Picture, keys: tuple[str, ...] | None) -> list[tuple[tuple[str, ...] | None, Hole]]:
    if isinstance(p, Hole):
        return [(keys, p)]
    found: list[tuple[tuple[str, ...] | None, Hole]] = []
    if isinstance(p, Fields):
        for (name, *_), child in p.entries:
            found.extend(_leaves(child, None if keys is None else (*keys, name)))
        found.extend((None, h) for h in p.spread)
    return found


def _place_of(there: Any, path: str) -> Any:
    return next((keys for keys, h in there if h.path == path), ())


def _words(hole: Hole) -> bool:
    return any(not is_guard(lens) and lens != "listed" for lens in hole.lenses)


def _fields(dialect: Dialect, hole: Hole) -> set[str]:
    """Return the request fields that a hole with a shape takes."""
    return {path.split(".")[0] for path in _said(dialect, hole)} - {"own", ""}


def attempted(one: Dialect, two: Dialect, steps: Ladder) -> Any:
    """Return the plan of a pair, or None where the interpreter does it all."""
    if scope.told_by_text(one):
        return None
    try:
        return make(one, two, steps)
    except (Cannot, NoFit, LookupError, AssertionError, AttributeError, TypeError, *_DEEP):
        # A rule file without messages or tools, or of a form that the compiler never met.
        return None
