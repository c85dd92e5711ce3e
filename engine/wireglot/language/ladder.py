"""The ladder: what a value becomes where a dialect has no picture for it (rules/ladder.yaml).

A row is a picture of the IR before and one after. `$absent` in `to` removes a field; the lenses of
a row are `json` (as JSON text), `decoded` (base64 to text), `texts`, `media`, `joined` and the
guards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any, NamedTuple

from ..ir import DERIVED, MEDIA
from ..notes import Effect
from ..trail import At, Listener, Trail
from . import drawn
from . import picture as pic
from .lenses import Misfit, guard, is_guard, same, stringify
from .picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text
from .source import Node, Pos

Scales = dict[str, dict[str, float]]  # words that stand for numbers, by the name of the scale


class Row(NamedTuple):
    """One step down: `before` and `after` are IR pictures; `beside` are parts that move out.

    `whose` is a text that stands before these, with fields of the part; `needs` are the fields
    without which the row does not apply, and `wants` tells whether another one must not be there.
    `adds` are those that it adds, which must not be there, and `becomes` is the type that it gives
    a value: None where this stays, ABSENT where it is read of it.
    """

    name: str
    before: Fields
    after: Fields
    beside: Hole | None
    whose: Text | None
    effect: Effect
    message: str
    pos: Pos
    examples: list[Node]
    scales: Scales
    needs: frozenset[str]
    wants: bool
    adds: frozenset[str]
    becomes: Any

    def note_text(self, value: dict[str, Any]) -> str:
        """Say what this row does to a value: its note, and what stands for what, and how near."""
        bound: dict[str, tuple[Any, str]] = {}
        _match(self.before, value, "", bound, self.scales)
        text = self.message
        for hole in pic.holes(self.after):
            for scale in (self.scales[lens] for lens in hole.lenses if lens in self.scales):
                old = bound[hole.path][0]
                new = _scaled(scale, old)
                if isinstance(old, str):
                    text += f" `{old}` stands as {new}."
                else:
                    off = f"{abs(scale[new] - old) / old:.0%}" if old else "all"
                    way = "more" if scale[new] > old else "less"
                    error = f"{off} {way}" if scale[new] != old else "the same"
                    text += f" {old} stands as `{new}`, which is {scale[new]} ({error})."
        return text


def replaces(p: Fields, value: dict[str, Any]) -> bool:
    """Tell whether a field that need not be there is: then a row does not only add one."""
    for names, child in p.entries:
        found = value.get(names[0], ABSENT)
        if isinstance(child, Literal) and ABSENT in child.values and found is not ABSENT:
            return True
        if isinstance(child, Fields) and isinstance(found, dict) and replaces(child, found):
            return True
    return False


Ladder = dict[str, list[Row]]


def load(node: Node) -> Ladder:
    """Build the ladder from rules/ladder.yaml, whose form is right. Raises RuleError."""
    scales: Scales = node.json_of("scales", {})
    return {
        kind: [_row(name, row, scales) for name, row in rows.value.items()]
        for kind, rows in node.value["ladder"].value.items()
    }


def _row(name: str, row: Node, scales: Scales) -> Row:
    before, after = (drawn.parse(row.value[word]) for word in ("from", "to"))
    assert isinstance(before, Fields) and isinstance(after, Fields)
    beside, shown, whose = map(row.get, ("beside", "examples", "whose"))
    aside: Any = drawn.parse(beside) if beside else None
    whose_text: Any = drawn.parse(whose) if whose else None
    needs = frozenset(
        names[0]
        for names, child in before.entries
        if not (isinstance(child, Literal) and ABSENT in child.values)
    )
    gone = (ABSENT,)
    literals = (p for p in pic.nodes(before) if isinstance(p, Literal))
    wants = any(value is ABSENT for one in literals for value in one.values)
    added = (
        name for (name, *_), p in before.entries if isinstance(p, Literal) and p.values == gone
    )
    adds = frozenset(added)
    typed = next((child for names, child in after.entries if names[0] == "type"), None)
    word = typed.values[0] if isinstance(typed, Literal) else ABSENT
    becomes = None if typed is None else word
    told = (row.json_of("effect", "changed"), row.json_of("note", name), row.pos)
    examples, pictures = shown.value if shown else [], (before, after, aside, whose_text)
    return Row(name, *pictures, *told, examples, scales, needs, wants, adds, becomes)


def rows_to_try(rows: Sequence[Row], lost: Set[str] | None, lacks: Set[str]) -> list[Row]:
    """Return the rows for a value in the order in which they are tried.

    `lost` are the fields without a place of one that can be written, which may have rows of their
    own; None of one that cannot, where rows that add what it `lacks` come first.
    """
    if lost is not None:
        return [row for row in rows if lost & row.before.names and not row.adds]
    return sorted((row for row in rows if row.adds <= lacks), key=lambda row: not row.adds)


def apply(row: Row, value: dict[str, Any], trail: Trail) -> tuple[dict[str, Any], list[Any], str]:
    """Apply a row: the new value, the parts that move out, the field it is about.

    Raises Misfit where the row does not apply.
    """
    bound: dict[str, tuple[Any, str]] = {}
    _match(row.before, value, "", bound, row.scales)
    new = trail.changed(value)
    if trail.recorder is not None:
        trail.recorder.step(row, value, new)
    origin = next((path for _, path in bound.values() if trail.find(value, path)), "")
    for (name, *_), child in row.after.entries:
        made = _make(child, bound, row.scales)
        new.pop(f"{name}_json", None)  # the text of what stood there
        if made is ABSENT:
            new.pop(name, None)
        else:
            if name == "type" and not isinstance(made, str):
                raise Misfit("the type of an object is a word")
            new[name] = made
            old = value.get(name)
            if isinstance(old, dict) and trail.within(old, (), ("",)) == ():
                trail.flat(made)  # it came as a text
            at = trail.find(value, origin) if origin else None
            trail.put(new, name, at or trail.find(value))
            if trail.recorder is not None:
                places = {name: _origins(trail, value, path) for name, (_, path) in bound.items()}
                for word, (inner, path) in bound.items():
                    for key in inner if isinstance(inner, dict) else ():
                        places[f"{word}.{key}"] = _origins(trail, value, f"{path}.{key}")
                _record(trail.recorder, new, name, child, places)
    beside = _make(row.beside, bound, row.scales) if row.beside is not None else []
    return new, beside, origin


def owner_text(row: Row, value: dict[str, Any], fit: Callable[[str], Any]) -> str | None:
    """Return the text that says whose the parts are that leave a value, or None.

    `fit` gives a field as it is written. A result without a name is called by its id.
    """
    if row.whose is None:
        return None
    texts = [fit(name) for name in row.whose.names]
    known = [one if isinstance(one, str) else value.get("tool_call_id", "") for one in texts]
    fixed = row.whose.fixed
    return fixed[0] + "".join(v + f for v, f in zip(known, fixed[1:], strict=True))


def undo_row(row: Row, value: dict[str, Any]) -> dict[str, Any] | None:
    """Read a row backwards: what it would make this value of; None where it makes no such value."""
    bound: dict[str, tuple[Any, str]] = {}
    try:
        _match(row.after, value, "", bound, row.scales)
        made = {names[0]: _make(p, bound, row.scales) for names, p in row.after.entries}
        before = {names[0]: _make(p, bound, row.scales) for names, p in row.before.entries}
        _match(row.before, before, "", {}, row.scales)
    except (Misfit, KeyError):
        return None
    if not all(same(new, value.get(key)) for key, new in made.items() if new is not ABSENT):
        return None
    rest = {k: v for k, v in value.items() if k not in row.after.names and not k.endswith("_json")}
    return rest | {key: old for key, old in before.items() if old is not ABSENT}


def _origins(trail: Trail, value: Any, path: str) -> list[At]:
    """Return the places that a field came from, which an earlier row may have made."""
    at = trail.find(value, path)
    made = trail.recorder.made_at(value, path) if trail.recorder is not None else []
    return made or ([] if at is None else [at])


def _record(
    recorder: Listener, new: Any, name: str, p: Picture, places: dict[str, list[At]]
) -> None:
    """Tell which places a field was made of."""
    used = [hole.path for hole in pic.holes(p)] + [n for text in pic.texts(p) for n in text.names]
    recorder.made_of[id(new), name] = (new, [at for path in used for at in places.get(path, ())])
    if isinstance(p, Fields):
        for (inner, *_), child in p.entries:
            _record(recorder, new[name], inner, child, places)
        for hole in p.spread:  # what the row leaves as it is
            for key in new[name].keys() - p.names:
                there = places.get(f"{hole.path}.{key}", [])
                recorder.made_of[id(new[name]), key] = (new[name], there)


def _scaled(scale: dict[str, float], value: Any) -> Any:
    """Return the word nearest to a number, or the number of a word."""
    if isinstance(value, str) and value in scale:
        return scale[value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return min(scale, key=lambda word: abs(scale[word] - value))
    raise Misfit("this stands on no scale")


def _match(
    p: Picture, value: Any, path: str, bound: dict[str, tuple[Any, str]], scales: Scales
) -> None:
    """Bind each name of a picture to what it holds and its path. Raises Misfit."""
    if isinstance(p, Literal):
        if not any(same(v, value) if v is not ABSENT else value is ABSENT for v in p.values):
            raise Misfit("the row says something else")
    elif isinstance(p, pic.Test):
        if not p.holds(value):
            raise Misfit("the row's test does not hold")
    elif isinstance(p, Hole):
        if value is ABSENT:
            raise Misfit("the row's field is not there")
        for lens in reversed(p.lenses):
            if is_guard(lens) and not guard(lens, value):
                raise Misfit("the row's guard refuses")
            if lens in scales:
                _scaled(scales[lens], value)
            if lens == "empty" and value:
                raise Misfit("there is something")
            if lens == "texts" and not (
                isinstance(value, list)
                and all(isinstance(b, dict) and b.get("type") == "text" for b in value)
                and all(isinstance(b.get("text"), str) for b in value)
            ):
                raise Misfit("not only texts")
        bound[p.path] = (value, path)
    elif isinstance(p, Text):
        pieces = p.read(value) if isinstance(value, str) else None
        if pieces is None:
            raise Misfit("the row's text says something else")
        bound.update((name, (piece, path)) for name, piece in zip(p.names, pieces, strict=True))
    elif isinstance(p, Fields):
        if not isinstance(value, dict):
            raise Misfit("the row takes an object")
        if p.closed and not value.keys() - p.names <= DERIVED:
            raise Misfit("the row takes no other fields")
        for (name, *_), child in p.entries:
            inner = f"{path}.{name}" if path else name
            _match(child, value.get(name, ABSENT), inner, bound, scales)
        for hole in p.spread:
            bound[hole.path] = ({k: v for k, v in value.items() if k not in p.names}, path)
    elif isinstance(p, Items):
        if not isinstance(value, list) or len(value) != len(p.items):
            raise Misfit("the row takes another list")
        for child, item in zip(p.items, value, strict=True):
            _match(child, item, path, bound, scales)


def _make(p: Picture | None, bound: dict[str, tuple[Any, str]], scales: Scales) -> Any:
    """Fill a picture with what is bound to its names. Raises Misfit, KeyError for others."""
    if isinstance(p, Literal):
        return p.values[0]
    if isinstance(p, Hole):
        value = bound[p.path][0]
        for lens in p.lenses:
            if not is_guard(lens):
                value = _scaled(scales[lens], value) if lens in scales else LENSES[lens](value)
        return value
    if isinstance(p, Text):
        return p.write(tuple(str(bound[n][0]) for n in p.names))
    if isinstance(p, Fields):
        made = {names[0]: _make(child, bound, scales) for names, child in p.entries}
        for hole in p.spread:
            made.update(bound[hole.path][0])
        return {k: v for k, v in made.items() if v is not ABSENT}
    if isinstance(p, Items):
        return [_make(child, bound, scales) for child in p.items]
    raise Misfit("a row's `to` is a picture of the IR")


def _decoded(data: Any) -> str:
    import base64

    try:
        return base64.b64decode(data, validate=True).decode()
    except (TypeError, ValueError):
        raise Misfit("this is no text in base64") from None


LENSES: dict[str, Any] = {
    "decoded": _decoded,
    "json": stringify,
    "texts": lambda blocks: [b for b in blocks if b.get("type") == "text"],
    "media": lambda blocks: [b for b in blocks if b.get("type") in MEDIA],
    "joined": lambda blocks: "\n".join(b["text"] for b in blocks),
}
