"""What no picture took: put back at home, noted abroad."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..ir import CACHE, DERIVED, OPAQUE, SLIGHT, USUAL
from ..language.lenses import same
from ..language.picture import ABSENT, Literal, keyed
from ..notes import NO_MESSAGE, UNKNOWN_KEY, Weight, foreign, no_place, own_field, refused
from ..tagged import Several
from ..trail import keys_of
from .jobs import WriteJob
from .views import View

if TYPE_CHECKING:
    from ..language.source import Pos
    from ..trail import At


ANSWERS = ("response", "candidate")
PAIRING = ("id", "tool_call_id")
EMPTY: tuple[Any, ...] = ([], {}, "")  # of which little is lost
# They may say nothing more.
QUIETLY = frozenset("citations logprobs bytes id name tool_call_id prefix".split())


def leftover(writer: WriteJob, view: View, wire: Any) -> None:
    """Put kept keys back at home; note everything that no picture took abroad."""
    obj = view.obj
    if id(obj) in writer.mark_fields:
        writer.mark_fields[id(obj)] = dict.fromkeys(writer.mark_fields[id(obj)], False)
    for name, kept in obj.get("kept", {}).items():
        if name == writer.dialect.name and writer.same:
            here = {k: v for k, v in kept.items() if not k.startswith("..")}
            here = _unshadowed(writer, view, here, wire)
            put_back(writer, here, wire, writer.trail.find(obj, "kept"), view)
        else:
            _unnamed(writer, obj, kept, view.shape, view.case.pos)
    for path, (hole, rel) in view.refused.items():
        if path not in view.claims:
            view.claims.add(path)
            given = view.case.drop.get(path)
            code, reason = ("dropped", given) if given else ("no-place", refused(str(rel[-1])))
            writer.note_lost(code, obj, reason, hole.pos, path)
    for key, value in obj.items():
        if key in view.claims:
            continue
        quiet = key in QUIETLY and says_nothing(writer, key, value, obj)
        if value is None or key in DERIVED or quiet:
            writer.mark_derived(obj, key, view.case.pos)
            continue
        if writer.mark_fields and key in writer.mark_fields.get(id(obj), ()):
            writer.mark_fields[id(obj)][key] = True
        else:
            note_left(writer, view, key, value)


def note_unknown_keys(writer: WriteJob, obj: dict[str, Any], shape: str, pos: Pos | None) -> None:
    """Note the keys of an object that no picture of its source names, whichever that is."""
    for kept in (obj.get("kept") or {}).values():
        _unnamed(writer, obj, kept, shape, pos)


def _unnamed(
    writer: WriteJob, obj: dict[str, Any], kept: dict[str, Any], shape: str, pos: Pos | None
) -> None:
    """Note the keys of an object that no picture of one source names."""
    base = writer.trail.find(obj, "kept")
    for key, value in kept.items():
        if value is None or (value == "" and key.startswith("..")):
            continue
        at = writer.trail.find(obj, key) if key.startswith("..") else None
        if at is None and base is not None:
            at = (*base, *keys_of(key))
        line = shape == "session" and key.startswith("..")
        code, reason = ("no-message", NO_MESSAGE) if line else ("unknown-key", UNKNOWN_KEY)
        writer.note(code, "lost", at, pos, reason)


def _unshadowed(writer: WriteJob, view: View, kept: dict[str, Any], wire: Any) -> dict[str, Any]:
    """Leave out a spelling of a key that would be read in the place of the one that was written."""
    spoken = _shadowing_keys(view.case.wire, wire, "") if kept else ()
    gone = [key for key in spoken if kept.get(key)]
    for key in gone:
        at = writer.trail.find(view.obj, "kept")
        at = None if at is None else (*at, *keys_of(key))
        writer.note("no-place", "lost", at, view.case.pos, no_place(keys_of(key)[-1]))
    return {key: value for key, value in kept.items() if key not in gone} if gone else kept


def _shadowing_keys(form: Any, wire: Any, base: str) -> Iterator[str]:
    """Yield the places of spellings that are read before the one that was written."""
    for names, child in keyed(form) if isinstance(wire, dict) else ():
        written = next((n for n, name in enumerate(names) if wire.get(name) is not None), None)
        yield from (f"{base}/{name}" for name in names[:written] if written)
        key = names[written or 0]
        yield from _shadowing_keys(child, wire.get(key), f"{base}/{key}")


def says_nothing(writer: WriteJob, key: str, value: Any, obj: dict[str, Any]) -> bool:
    """Tell whether a field says nothing that other fields do not say."""
    if key in ("citations", "logprobs") and value == []:
        return True
    if key == "prefix":  # the place of its message said so alone
        return writer.trail.find(obj) is not None and writer.trail.find(obj, key) is None
    if key == "bytes":  # mostly those of the token
        return bool(value == [*str(obj.get("token", "")).encode(errors="surrogatepass")])
    if writer.same and key in ("id", "tool_call_id"):
        # Of a dialect that takes none, and sent none: a hook has made it.
        unsent = writer.trail.find(obj) is not None and writer.trail.find(obj, key) is None
        if unsent or id(obj) in writer.made:
            return True
    if key == "tool_call_id" and writer.dialect.holds_results:
        return True  # it stands in its call
    # The name of a result follows from its call.
    return (
        key == "name"
        and obj.get("type") == "tool_result"
        and (
            writer.trail.find(obj, "name") is None
            or writer.call_names.get(obj.get("tool_call_id", "")) == value
        )
    )


def note_left(writer: WriteJob, view: View, path: str, value: Any) -> None:
    """Note a field that no picture took, leaf by leaf where its leaves came from several places."""
    obj, whole = view.obj, isinstance(value, dict)
    if path == "own":
        for key, inner in value.items() if whole else ():
            if isinstance(inner, dict) and f"own.{key}" not in view.claims:
                _note_own(writer, view, key, inner)
        return
    # Pictures may have taken something within it.
    if whole and any(map(operator.methodcaller("startswith", f"{path}."), view.claims)):
        for key, inner in value.items():
            deeper = f"{path}.{key}"
            if path == "result" and says_nothing(writer, key, inner, value):
                continue
            if deeper not in view.claims and inner is not None and key not in DERIVED:
                note_left(writer, view, deeper, inner)
        note_unknown_keys(writer, value, view.shape, view.case.pos)
        return
    places, last = writer.trail.find(obj, path), path.rpartition(".")[2]
    weight: Weight = "slight" if _is_slight(writer, view.shape, path, value) else ""
    if isinstance(places, Several):
        writer.lost_fields.append((id(obj), path.partition(".")[0]))
        writer.note_lost("no-place", obj, no_place(path), view.case.pos, path, weight)
        return
    opaque = value if whole and last in OPAQUE else None
    if whole and opaque is None and writer.trail.spread(value, places):
        for key in value:
            note_left(writer, view, f"{path}.{key}", value[key])
        note_unknown_keys(writer, value, view.shape, view.case.pos)
        return
    if last in ("spelled", "kept") or (last == "type" and "." in path):
        return
    at = places or (opaque and writer.trail.find(opaque, "value")) or writer.trail.find(obj)
    writer.lost_fields.append((id(obj), path.partition(".")[0]))
    given = view.case.drop.get(path)
    if given:
        writer.note("dropped", "lost", at, view.case.pos, given)
    elif opaque is not None:
        reason = foreign(opaque.get("origin"))
        whose = writer.trail.find(opaque, "origin")  # where the wire says it
        for spot in (at, whose) if whose is not None else (at,):
            writer.note(OPAQUE[last], "lost", spot, view.case.pos, reason)
    else:
        for spot in (at, *_places_apart(writer, value, at)) if isinstance(value, list) else (at,):
            writer.note("no-place", "lost", spot, view.case.pos, no_place(path), weight=weight)


def _is_slight(writer: WriteJob, shape: str, path: str, value: Any) -> bool:
    """Tell whether little is lost with a field."""
    if value in EMPTY or (shape == "usage" and value == 0):
        return True  # nothing is said, or nothing counted
    if isinstance(value, dict):
        if value.keys() <= {"spelled"} or all((shape, f"{path}.{key}") in SLIGHT for key in value):
            return True
    elif is_usual(path, value):
        return True
    if path.rpartition(".")[2] in CACHE or (shape, path) in SLIGHT:
        return True
    # Where ids are made anew, calls and results pair without them, too.
    return path in PAIRING and "call-ids" in writer.dialect.hooks


def is_usual(path: str, value: Any) -> bool:
    """Tell whether a field says what is so where nothing is said."""
    return path in USUAL and same(value, USUAL[path])


def _places_apart(writer: WriteJob, value: list[Any], at: Any) -> list[Any]:
    """Return the places of elements of a list that stand elsewhere than it, as system text."""
    if not isinstance(at, tuple):
        return []
    spots = [writer.trail.find(one) for one in value if isinstance(one, dict)]
    whole = [s for s in spots if isinstance(s, tuple) and not isinstance(s, Several)]
    return [s for n, s in enumerate(whole) if s[: len(at)] != at and s not in whole[:n]]


def _note_own(writer: WriteJob, view: View, family: str, fields: dict[str, Any]) -> None:
    """Note fields that one family alone has, and no picture took."""
    find, claims, pos = writer.trail.find, view.claims, view.case.pos
    for name, leaf in fields.items():
        if leaf is None or f"own.{family}.{name}" in claims:
            continue
        at = find(fields, name) or find(view.obj)
        weight, reason = weigh_own(writer, view.shape, family, name, leaf)
        nulls = isinstance(leaf, dict) and all(value is None for value in leaf.values())
        if not weight and (leaf in EMPTY or nulls):
            weight = "slight"
        writer.note("own-field", "lost", at, pos, reason, None, None, weight)


def note_emptied(writer: WriteJob, message: dict[str, Any]) -> None:
    """Note that a message is left out, and what it says besides its parts."""
    writer.note_emptied(message)
    for family, fields in message.get("own", {}).items():
        for name, leaf in fields.items():
            if leaf is None or leaf in EMPTY:
                continue
            at = writer.trail.find(fields, name) or writer.trail.find(message)
            weight, reason = weigh_own(writer, "message", family, name, leaf)
            writer.note("own-field", "lost", at, writer.rule(), reason, weight=weight)


def weigh_own(
    writer: WriteJob, shape: str, family: str, name: str, value: Any
) -> tuple[Weight, str]:
    """Return what the loss of a field that one family alone has weighs, and what is said of it."""
    source = writer.trail.source
    if source is None or source.family != family:
        return "", own_field(name)
    if shape in ANSWERS and name in source.weights.repeated:
        return "repeated", f"`{name}` says again what was asked for"
    text = own_field(name, source.name)
    if family == writer.dialect.family:
        text = f"{writer.dialect.name} has no `{name}`"
    why = source.weights.slight.get(name)
    if name in source.weights.usual and same(value, source.weights.usual[name]):
        why = "It is so where nothing is said."
    return ("slight", f"{text}: {why}") if why else ("", text)


def _fixed_words(writer: WriteJob, view: View, keys: list[str]) -> dict[str, Any]:
    """Return the fixed words of an object within a picture, as they stood there."""
    form: Any = view.case.wire
    for key in keys:
        form = next((child for names, child in keyed(form) if key in names), None)
    found = {
        names[0]: writer.remembered(view, (*keys, names[0]), child.values[0])
        for names, child in keyed(form)
        if isinstance(child, Literal)
    }
    return {name: word for name, word in found.items() if word is not ABSENT}


def put_back(
    writer: WriteJob, kept: dict[str, Any], wire: Any, base: At | None, view: View | None = None
) -> None:
    """Put kept keys back where they stood below `base`, if the place is still there.

    An object of which nothing else was written gets the fixed words that the `view` has for it.
    """
    for key, value in kept.items():
        owner, keys = wire, keys_of(key)
        for nth, name in enumerate(keys[:-1]):
            if isinstance(owner, list):
                owner = owner[int(name)] if name.isdecimal() and int(name) < len(owner) else None
            elif isinstance(owner, dict):
                if name not in owner:
                    above = keys[: nth + 1]
                    owner[name] = {} if view is None else _fixed_words(writer, view, above)
                owner = owner[name]
            else:
                owner = None
            if owner is None:
                break
        if isinstance(owner, dict) and keys[-1] not in owner:
            owner[keys[-1]] = value
            if writer.recorder is not None and base is not None:
                writer.recorder.passed(owner, keys[-1], (*base, *keys_of(key)))
