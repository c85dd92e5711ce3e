"""What generated functions that read call: what is rare, or done the same way everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..interpreter import conversation
from ..interpreter.elements import entries_to_map
from ..interpreter.env import Memory, literal_index, spell
from ..language.lenses import READS, WRITES, Misfit, Table, same
from ..language.picture import ABSENT, distinguishes
from ..tagged import Several
from ..trail import At, Trail, pointer

if TYPE_CHECKING:
    from ..language.schema import Schema


class _Word:
    """A value that no payload holds."""

    __slots__ = ("said",)

    def __init__(self, said: str) -> None:
        self.said = said

    def __repr__(self) -> str:
        return self.said


NO: Any = _Word("no fit")
ODD: Any = _Word("for the interpreter")


def no(x: Any, mark: int) -> Any:
    """Say that a case does not fit, after parts of it were read."""
    del x.notes[mark:]
    return NO


def marked(sp: Memory, key: str, word: str, value: Any = True) -> dict[str, Any]:
    """Remember a word about a place."""
    sp = {} if sp is None else sp
    sp.setdefault(key, {})[word] = value
    return sp


def spell_literal(sp: Memory, key: str, w: Any, values: tuple[Any, ...]) -> Any:
    """Take one of the values of a literal, and remember which it was; NO for another one."""
    place = literal_index(values, w)
    if place is None:
        return NO
    return spell(sp, key, w, values[0]) if place or (w is None and values[0] is ABSENT) else sp


def is_literal(w: Any, values: tuple[Any, ...]) -> bool:
    """Tell whether a value is one of those of a literal."""
    return literal_index(values, w) is not None


def keep(kp: Memory, w: dict[str, Any], names: frozenset[str], path: str) -> dict[str, Any]:
    """Keep the keys of an object that no picture names."""
    kp = {} if kp is None else kp
    for key, value in w.items():
        if key not in names:
            kp[path + pointer((key,))] = value
    return kp


def hang_kept(x: Any, made: dict[str, Any], at: At, dialect: str, kp: dict[str, Any]) -> None:
    """Hang the keys that no picture names on what was read."""
    made["kept"] = {dialect: kp}
    x.late((made, at, KEPT, ("kept",)))


def other_keys(w: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Return the keys of an object that no picture names."""
    return {key: value for key, value in w.items() if key not in names}


def split_others(
    w: dict[str, Any], names: frozenset[str], keys: frozenset[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of an object that a shape names and no entry, and those nobody names."""
    taken: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for key, value in w.items():
        if key not in names:
            if key in keys:
                taken[key] = value
            else:
                others[key] = value
    return taken, others


def find_own(w: dict[str, Any], table: dict[str, str]) -> Any:
    """Return what an object says of fields that one family has, by names and keys; or ABSENT."""
    found = {name: w[key] for name, key in table.items() if w.get(key) is not None}
    return found or ABSENT


def find_own_at_home(w: dict[str, Any], table: dict[str, str], sp: Memory, base: str) -> Any:
    """Return the same, and the memory of spelling with those of them that are null."""
    for key in table.values():
        if w.get(key, ABSENT) is None:
            sp = spell(sp, base + pointer((key,)), None, ABSENT)
    return find_own(w, table), sp


def in_two_spellings(w: dict[str, Any], groups: tuple[tuple[str, ...], ...]) -> bool:
    """Tell whether a key stands in an object in two spellings."""
    return any(sum(name in w for name in names) > 1 for names in groups)


def says_two_things(w: dict[str, Any], groups: tuple[tuple[str, ...], ...]) -> bool:
    """Tell whether a key says something else in another spelling, or nothing in the first."""
    for names in groups:
        first, *others = [w[name] for name in names if name in w] or [None]
        for other in others:
            nothing = distinguishes(first) and not distinguishes(other)
            if not nothing and not same(other, first):
                return True
    return False


def find_spelling(w: dict[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """Return the spelling of a key that stands in an object, and the value."""
    for name in names:
        if name in w:
            return name, w[name]
    return names[0], ABSENT


def attempt(x: Any, read: Callable[..., Any], *given: Any) -> Any:
    """Return what reads something; NO, and nothing noted, where it does not fit."""
    mark = len(x.notes)
    found = tried(read, *given)
    if found is NO:
        del x.notes[mark:]
    return found


def odd(x: Any, mark: int, read: Callable[..., Any], *given: Any) -> Any:
    """Leave a value to the interpreter, and nothing noted of it before.

    What stands in it runs generated again.
    """
    del x.notes[mark:]
    return attempt(x, read, x, *given)


def tried(read: Callable[..., Any], *given: Any) -> Any:
    """Return what a function makes of something; NO where it takes none."""
    try:
        return read(*given)
    except Misfit as misfit:
        misfit.__traceback__ = None
        return NO


def word(table: Table, w: Any, spelled: bool) -> Any:
    """Read a word that is not simply of the table; ODD where there is more to say of it."""
    if table.closed and w.__class__ is str and not (w in table.to_ir or w in table.read_also):
        return w if table.matches_glob(w) else NO
    try:
        read, exact = table.read(w)
        if not exact:
            return ODD
        written = table.write(read)[0]  # of some there is none
        return ODD if spelled and not same(written, w) else read
    except Misfit as misfit:
        misfit.__traceback__ = None
        return NO


def schema(x: Any, pair: Schema, w: Any, at: At | None) -> Any:
    """Read a schema, without a place of a text; ODD where memory has to hold how it was spelled."""
    try:
        read, exact = pair.read(w)
        if not x.away and (pair.two_way or not exact) and not same(pair.spelled_here(read), w):
            return ODD
        if not exact and at is not None:
            x.trail.respelled.append((pair.trace, w, read, at))
    except Misfit as misfit:
        misfit.__traceback__ = None
        return NO
    return read


def time(lens: str, w: Any, spelled: bool) -> Any:
    """Read a time; NO for what is none, ODD where it is spelled in another way."""
    found = tried(READS[lens], w)
    written = tried(WRITES[lens], found) if spelled else w
    if found is NO or written is NO:
        return NO
    return found if same(written, w) else ODD


def entries(x: Any, read: Any, w: Any, at: At) -> Any:
    """Read a list of entries as a map; NO for what is none, ODD where memory is needed."""
    if w.__class__ is not list:
        return NO
    if not w:
        return {} if x.away else ODD
    made = tried(entries_to_map, x, lambda item, at: read(x, item, at, False), w, at)
    if made is NO:
        return NO
    found, odd = made
    return ODD if not x.away and (odd or not x.home) else found


def present(fields: dict[str, Any]) -> dict[str, Any]:
    """Return an object without what is not there."""
    return {key: value for key, value in fields.items() if value is not ABSENT}


def opaque(value: Any, origin: str) -> Any:
    """Return a text that its origin alone can read; anything else as it is."""
    return {"value": value, "origin": origin} if isinstance(value, str) else value


def text_part(x: Any, kind: str, text: str, at: At) -> list[Any]:
    """Return a text that stands for a list of one part."""
    part = {"type": kind, "text": text}
    x.late((part, at, _SAID, _TEXT))
    return [part]


_SAID: dict[str | None, At] = {None: (), "text": ()}
_TEXT = ("text",)


def nth(at: At) -> int:
    """Return the place of an object in its list."""
    if at and at[-1].__class__ is int:
        last: int = at[-1]
        return last
    return next((k for k in reversed(at) if isinstance(k, int)), 0)


def put_deep(x: Any, made: dict[str, Any], keys: tuple[str, ...], value: Any, at: At) -> bool:
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


def trail_keys(x: Any, made: dict[str, Any], field: str, at: At, keys: dict[str, Any]) -> None:
    """Say that a field came from several keys of an object."""
    x.late((made, at, _several, (field, keys)))


def _several(owner: Any, given: tuple[str, dict[str, Any]], at: At, trail: Trail) -> None:
    field, keys = given
    trail.put(owner, field, Several.of([(*at, key) for key in keys]) if keys else at)


def agrees(value: Any, values: tuple[Any, ...]) -> bool:
    """Tell whether what a neighbour found is what a literal says, if it found anything."""
    said = values[0] is not ABSENT and any(same(value, one) for one in values)
    return said or value is ABSENT


def split_speakers(x: Any, results: bool, made: dict[str, Any], at: At) -> list[dict[str, Any]]:
    """Give results messages of their own, as they stand among others, and what says its role."""
    kinds = [part.get("type") for part in made["parts"]]
    if not kinds or ("tool_result" not in kinds and not x.dialect.told_roles):
        return [made]
    messages = conversation.split_by_speaker(made["parts"], made["role"], results)
    for message in messages[1:]:
        x.late((message, at, BARE, ()))
    made.update(messages[0])
    return [made, *messages[1:]]


BARE: dict[str | None, At] = {None: ()}
KEPT: dict[str | None, At] = {"kept": ()}
