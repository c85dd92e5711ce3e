"""What generated functions that read call: what is rare, or done the same way everywhere."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..interpreter import building, conversation, itself, runs
from ..language.lenses import (
    Misfit,
    Table,
    guard,
    moment_of,
    not_an_object,
    parse_json,
    same,
    seconds_of,
    stringify,
    time_of,
)
from ..language.model import Case, Group, Shape
from ..language.picture import ABSENT, Fields, Hole, Literal
from ..language.schema import Schema
from ..trail import At, Several, Trail, keys_of, pointer

Memory = dict[str, Any] | None  # of spelling, or of kept keys; None while there is none


class _Word:
    """A value that no payload holds."""

    __slots__ = ("said",)

    def __init__(self, said: str) -> None:
        self.said = said

    def __repr__(self) -> str:
        return self.said


NO: Any = _Word("no fit")
ODD: Any = _Word("for the interpreter")


def odd(x: Any, shape: Shape, case: Case, w: Any, at: At, lenient: bool, mark: int = -1) -> Any:
    """Read one object by one case in the interpreter; what stands in it runs generated again."""
    if mark >= 0:
        del x.notes[mark:]
    mark = len(x.notes)
    try:
        made = building.build(x, shape, case, x.case(case, w, at, lenient), at)
    except Misfit as misfit:
        misfit.__traceback__ = None
        del x.notes[mark:]
        return NO
    if w.__class__ is dict and not w and isinstance(made, dict) and not x.probe:
        hollow(x, made)
    return made


def odd_message(x: Any, group: Group, w: Any, at: At, lenient: bool, mark: int = -1) -> Any:
    """Read one message by one group of cases in the interpreter."""
    if mark >= 0:
        del x.notes[mark:]
    mark = len(x.notes)
    try:
        return conversation.read_group(x, group, w, at, lenient)
    except Misfit as misfit:
        misfit.__traceback__ = None
        del x.notes[mark:]
        return NO


def odd_run(x: Any, shape: Shape, case: Case, w: Any, at: At, lenient: bool, mark: int = -1) -> Any:
    """Read one element that holds a run in the interpreter."""
    if mark >= 0:
        del x.notes[mark:]
    mark = len(x.notes)
    try:
        return runs.gathered(x, shape, case, w, at, lenient)
    except Misfit as misfit:
        misfit.__traceback__ = None
        del x.notes[mark:]
        return NO


def around(x: Any, made: dict[str, Any], kp: dict[str, Any], at: At, more: list[At]) -> None:
    """Hang keys that stood beside a run on its first part."""
    kept = made.setdefault("kept", {}).setdefault(x.dialect.name, {})
    for key, value in kp.items():
        kept[f"..{key}"] = value
        x.late((made, None, {f"..{key}": (*at, key[1:])}, (f"..{key}",)))
        more.append((*at, *keys_of(key)))


def of_run(x: Any, parts: list[Any], shape: str, case: str | None) -> None:
    """Remember how the parts of a run stood together."""
    for part in parts:
        if case is not None:
            remember(x, part, "../", "case", case)
        if part.get("type") == "unknown":
            remember(x, part, "../", "run", shape)


def together(owner: Any, more: list[At], _: None, trail: Trail) -> None:
    """Say that a part came also from places beside its run."""
    here = trail.find(owner)
    places = more if here is None else [here, *more]
    if len(places) > 1:
        trail.put(owner, None, Several.of(places))


def turns(x: Any, made: dict[str, Any], at: At) -> list[dict[str, Any]]:
    """Give results messages of their own, as they stand among other parts."""
    parts = made["parts"]
    if not any(part.get("type") == "tool_result" for part in parts):
        return [made]
    messages: list[dict[str, Any]] = []
    for part in parts:
        role = "tool" if part.get("type") == "tool_result" else made["role"]
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "parts": []})
            x.late((messages[-1], at, BARE, ()))
        messages[-1]["parts"].append(part)
    first = messages[0]
    made["role"], made["parts"] = first["role"], first["parts"]
    messages[0] = made
    return messages


BARE: dict[str | None, At] = {None: ()}


def no(x: Any, mark: int) -> Any:
    """Say that a case does not fit, after parts of it were read."""
    del x.notes[mark:]
    return NO


def hollow(x: Any, made: dict[str, Any]) -> None:
    """Remember that an object with nothing in it was read."""
    remember(x, made, "", "empty", True)


def remember(x: Any, made: dict[str, Any], key: str, word: str, value: Any) -> None:
    """Put one word into the memory of an IR object."""
    memory = x.memory(made)
    memory[key] = {**memory.get(key, {}), word: value}


def spell(sp: Memory, key: str, was: Any, written: Any) -> dict[str, Any]:
    """Remember that `was` stood where writing would put `written`."""
    sp = {} if sp is None else sp
    entry = sp.setdefault(key, {})
    if was is not ABSENT:
        entry["as"] = was
    if written is not ABSENT:
        entry["for"] = written
    return sp


def marked(sp: Memory, key: str, word: str, value: Any = True) -> dict[str, Any]:
    """Remember a word about a place."""
    sp = {} if sp is None else sp
    sp.setdefault(key, {})[word] = value
    return sp


def nulled(sp: Memory, key: str, w: Any, written: Any) -> Memory:
    """Remember nothing or null, where writing would put something else."""
    if w is written or (w is not ABSENT and same(w, written)):
        return sp
    return spell(sp, key, w, written)


def literal(sp: Memory, key: str, w: Any, values: tuple[Any, ...]) -> Any:
    """Take one of the values of a literal, and remember which it was; NO for another one."""
    for i, value in enumerate(values):
        if value is ABSENT:
            hit = w is ABSENT or w is None
        else:
            hit = w is not ABSENT and same(value, w)
        if hit:
            return spell(sp, key, w, values[0]) if i or (value is ABSENT and w is None) else sp
    return NO


def says(w: Any, values: tuple[Any, ...]) -> bool:
    """Tell whether a value is one of those of a literal."""
    if w is ABSENT or w is None:
        return ABSENT in values or (w is None and None in values)
    return any(value is not ABSENT and same(value, w) for value in values)


def keep(kp: Memory, w: dict[str, Any], names: frozenset[str], path: str) -> dict[str, Any]:
    """Keep the keys of an object that no picture names."""
    kp = {} if kp is None else kp
    for key, value in w.items():
        if key not in names:
            kp[path + pointer((key,))] = value
    return kp


def rest(w: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Return the keys of an object that no picture names."""
    return {key: value for key, value in w.items() if key not in names}


def split(found: dict[str, Any], keys: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return those of some keys that a shape names, and the others."""
    taken = {key: value for key, value in found.items() if key in keys}
    return taken, {key: value for key, value in found.items() if key not in keys}


def doubled(w: dict[str, Any], groups: tuple[tuple[str, ...], ...]) -> bool:
    """Tell whether a key stands in an object in two spellings."""
    return any(sum(name in w for name in names) > 1 for names in groups)


def spelling(w: dict[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """Return the spelling of a key that stands in an object, and the value."""
    name = next((name for name in names if name in w), names[0])
    return name, w.get(name, ABSENT)


Row = tuple[tuple[str, ...], str, str]  # spellings of a key, the field, its pointer


def owns(
    x: Any,
    w: dict[str, Any],
    rows: tuple[Row, ...],
    used: int,
    made: dict[str, Any],
    own: dict[str, Any] | None,
    sp: Memory,
) -> tuple[int, dict[str, Any] | None, Memory, list[tuple[str, str]]]:
    """Read fields of the dialect's family; return those with another spelling of their key."""
    renamed = []
    for names, field, place in rows:
        key, value = names[0], w.get(names[0], ABSENT)
        if value is ABSENT and len(names) > 1:
            key, value = spelling(w, names)
        if value is ABSENT:
            continue
        used += 1
        if key != names[0]:
            sp = marked(sp, place, "key", key)
            renamed.append((field, key))
        if value is None:
            sp = spell(sp, place, None, ABSENT)
            continue
        if own is None:
            own = made.setdefault("own", {}).setdefault(x.dialect.family, {})
        own[field] = value
    if own is None:
        renamed = []
    return used, own, sp, [one for one in renamed if own and one[0] in own]


def parsed(text: str) -> Any:
    """Parse JSON text; NO for what is none."""
    try:
        return parse_json(text)
    except Misfit as misfit:
        misfit.__traceback__ = None
        return NO


def word(table: Table, w: Any, spelled: bool) -> Any:
    """Read a word that is not simply of the table; ODD where there is more to say of it."""
    try:
        read, exact = table.read(w)
        if not exact:
            return ODD
        written = table.write(read)[0]  # of some there is none
        return ODD if spelled and not same(written, w) else read
    except Misfit as misfit:
        misfit.__traceback__ = None
        return NO


def schema(x: Any, pair: Schema, w: Any, at: At) -> Any:
    """Read a schema; ODD where memory has to hold how it was spelled."""
    if x.away and w.__class__ is dict and pair.plain(w):
        return w
    try:
        read, exact = pair.read(w)
        if not x.away and (pair.two_way or not exact) and not same(pair.home(read), w):
            return ODD
        if not exact:
            x.late((w, at, pair.trace, read))
    except Misfit as misfit:
        misfit.__traceback__ = None
        return NO
    return read


def seconds(w: Any, spelled: bool) -> Any:
    """Read a time; NO for what is none, ODD where it is spelled in another way."""
    try:
        found = seconds_of(w)
        return ODD if spelled and time_of(found) != w else found
    except Misfit as misfit:
        misfit.__traceback__ = None
        return NO


def moment(w: Any) -> Any:
    """Read milliseconds; NO for what is none."""
    try:
        return moment_of(w)
    except Misfit as misfit:
        misfit.__traceback__ = None
        return NO


def entries(x: Any, read: Any, w: Any, at: At) -> Any:
    """Read a list of entries as a map; NO for what is none, ODD where memory is needed."""
    if w.__class__ is not list:
        return NO
    if not w:
        return {} if x.away else ODD
    found: dict[str, Any] = {}
    places: dict[str, At] = {}
    odd = False
    for i, item in enumerate(w):
        entry = read(x, item, (*at, i), False)
        if entry is NO or entry.__class__ is not dict:
            return NO
        odd = bool(entry.pop("spelled", None)) or odd
        key, value = entry.get("key"), entry.get("value")
        if not isinstance(key, str) or key in found or len(entry) != 2:
            return NO
        found[key] = value
        places[key] = (*at, i)
    if not x.away and (odd or not x.home):
        return ODD
    x.late((found, None, places, tuple(places)))
    return found


def present(fields: dict[str, Any]) -> dict[str, Any]:
    """Return an object without what is not there."""
    return {key: value for key, value in fields.items() if value is not ABSENT}


def opaque(value: Any, origin: str) -> Any:
    """Return a text that its origin alone can read; anything else as it is."""
    return {"value": value, "origin": origin} if isinstance(value, str) else value


def said(x: Any, kind: str, text: str, at: At) -> list[Any]:
    """Return a text that stands for a list of one part."""
    part = {"type": kind, "text": text}
    x.late((part, at, _SAID, _TEXT))
    return [part]


_SAID: dict[str | None, At] = {None: (), "text": ()}
_TEXT = ("text",)


def alone(parts: list[Any]) -> bool:
    """Tell whether parts are one text and nothing else."""
    return (
        len(parts) == 1 and parts[0].get("type") == "text" and parts[0].keys() <= {"type", "text"}
    )


def aside(x: Any, parts: list[Any], shape: str, both: bool) -> None:
    """Remember by which hole parts were read, where an earlier one could write them."""
    for part in parts:
        if both or part.get("type") == "unknown":
            remember(x, part, "../", "hole", shape)


def again(x: Any, parts: list[Any], key: str) -> None:
    """Remember the spelling of the key that parts stood under."""
    for part in parts:
        remember(x, part, "../", "key", key)


def nth(at: At) -> int:
    """Return the place of an object in its list."""
    return next((k for k in reversed(at) if isinstance(k, int)), 0)


def deep(x: Any, made: dict[str, Any], keys: tuple[str, ...], value: Any, at: At) -> bool:
    """Put a value at a path of an IR object; False where that leads through what is no object."""
    owner = made
    for key in keys[:-1]:
        owner = owner.setdefault(key, {})
        if owner.__class__ is not dict:
            return False
    if isinstance(owner.get(keys[-1]), dict):
        return False
    owner[keys[-1]] = value
    x.late((owner, at, {keys[-1]: ()}, keys[-1:]))
    return True


def several(x: Any, made: dict[str, Any], field: str, at: At, keys: Any) -> None:
    """Say that a field came from several keys of an object."""
    place = Several.of([(*at, key) for key in keys]) if keys else at
    x.late((made, None, {field: place}, (field,)))


def agrees(value: Any, values: tuple[Any, ...]) -> bool:
    """Tell whether what a neighbour found is what a literal says."""
    return values[0] is not ABSENT and any(same(value, one) for one in values)


def look(value: Any, keys: tuple[str, ...]) -> Any:
    """Return what stands at a path of an IR object, or ABSENT."""
    for key in keys:
        if value.__class__ is not dict:
            return ABSENT
        value = value.get(key, ABSENT)
    return value


def has(value: Any, kinds: frozenset[str]) -> bool:
    """Tell whether a list holds a part of some kinds."""
    if value.__class__ is list:
        for part in value:
            if part.__class__ is dict and part.get("type") in kinds:
                return True
    return False


def chosen(x: Any, shape: Shape, case: Case, made: dict[str, Any], at: At) -> None:
    """Remember the case that was read, where another one would be written."""
    if case.home or building.chosen(x, shape, made, case) is not case:
        remember(x, made, "", "case", case.name)
        building.told(x, case, at)


class Inner(NamedTuple):
    """One case of the object's own fields: the name of its function, and whose it is."""

    name: str
    shape: Shape
    case: Case


class Inners:
    """The cases of a hole of the object's own fields, by the words that they want."""

    def __init__(self, cases: list[Inner]) -> None:
        """Sort the cases by the text that they are, or that stands under one key of them."""
        self.all = cases
        heads = [names[0] for one in cases for names, _, _ in one.case.heads if len(names) == 1]
        self.key = max(heads, key=heads.count, default=None)
        self._by: dict[tuple[bool, Any], list[Inner]] = {}

    def of(self, w: Any) -> list[Inner]:
        """Return the cases that a value may fit, as far as a word tells."""
        whole = w.__class__ is str
        word = w if whole else w.get(self.key) if w.__class__ is dict and self.key else ABSENT
        if word is ABSENT or word.__class__ is not str:
            return self.all
        found = self._by.get((whole, word))
        if found is None:
            test = self._is if whole else self._says
            found = [one for one in self.all if test(one.case, word)]
            if len(self._by) < WORDS:
                self._by[whole, word] = found
        return found

    @staticmethod
    def _is(case: Case, word: str) -> bool:
        return not isinstance(case.wire, Fields) and (
            not isinstance(case.wire, Literal) or says(word, case.wire.values)
        )

    def _says(self, case: Case, word: str) -> bool:
        said = (words for names, words, _ in case.heads if names == (self.key,))
        return all(word in words for words in said)


WORDS = 64  # that a choice remembers


def within(
    x: Any,
    inners: Inners,
    h: Hole,
    w: Any,
    at: At,
    lenient: bool,
    key: str,
    made: dict[str, Any],
    tops: tuple[str, ...],
    taken: set[str],
    spread: bool,
    sp: Memory,
    kp: Memory,
) -> Any:
    """Read a hole that is made of the object's own fields: the memory then, NO, or ODD."""
    mark = len(x.notes)
    for loose in (False, True) if lenient else (False,):
        for name, shape, case in inners.of(w):
            got = x.code.names[name](x, w, at, loose, key, made)
            if got is NO:
                continue
            if got is ODD:
                return ODD
            fields, table, inner_sp, inner_kp = got
            for place, entry in (inner_sp or {}).items():
                sp = {} if sp is None else sp
                sp.setdefault(place, {}).update(entry)
            if inner_kp:
                kp = {**(kp or {}), **inner_kp}
            if case.doubles and not x.probe and (case.note is not None or not x.away):
                seen = {top: (made[top], None) for top in (*tops, *taken) if top in made}
                seen.update((top, (fields[top], None)) for top in fields if top != "own")
                if itself.chosen(x, shape, fields, seen) is not case:
                    sp = marked(sp, key, "case", case.name)
                    building.told(x, case, at)
            if not _take(x, made, fields, table, at, taken, w if spread else None):
                return ODD
            return sp, kp
    del x.notes[mark:]
    return ODD if lenient and h.mark is not None else NO


def _take(
    x: Any,
    made: dict[str, Any],
    fields: dict[str, Any],
    table: Any,
    at: At,
    taken: set[str],
    spread: Any,
) -> bool:
    """Hand on what an inner picture made to the object around it."""
    places = [(*at, key) for key in spread] if isinstance(spread, dict) else []
    around: At = Several.of(places) if places else at
    for key, value in fields.items():
        rel = table.get(key)
        where = around if rel is None else (*at, *rel)
        if key == "own":
            family = x.dialect.family
            own = made.setdefault("own", {}).setdefault(family, {})
            for name, one in value.get(family, {}).items():
                own[name] = one
                rel = table.get(("own", name))
                place = around if rel is None else (*at, *rel)
                x.late((own, None, {name: place}, (name,)))
            continue
        old = made.get(key)
        if isinstance(old, dict):
            if not isinstance(value, dict):
                return False
            old.update(value)
            if key not in taken:
                x.late((old, None, dict.fromkeys(value, where), tuple(value)))
            x.trail.copy(value, old)
            continue
        made[key] = value
        x.late((made, None, {key: where}, (key,)))
        taken.add(key)
    return True


def runtime() -> dict[str, Any]:
    """Return the names that generated code finds."""
    found = (
        odd, no, hollow, remember, spell, marked, nulled, literal, says, keep, rest, split, parsed,
        doubled, spelling, owns,
        word, schema, seconds, moment, said, alone, entries, present, opaque, pointer, aside,
        again, nth, deep, several, agrees, look, has, odd_message, odd_run, around, of_run,
        together, turns, chosen,
        within, guard, same, stringify, not_an_object,
    )  # fmt: skip
    return {
        **{one.__name__: one for one in found},
        "NO": NO,
        "ODD": ODD,
        "ABSENT": ABSENT,
        "BARE": BARE,
    }
