"""Wholes: what a stream says once more when it is over, of a part, an item, or the response.

A whole counts more than the pieces before it: what they lack flows after them, and a whole that
says another thing is noted, for what flowed before cannot be taken back. What says nothing (null,
what is empty, zero) is contradicted by nothing, nor is saying more than before. Of a path that
`drop` names the value moves on while frames come: its reason is noted then.
"""

from __future__ import annotations

import contextlib
from typing import Any

from ..conversion.hands import Reader, Writer
from ..interpreter import units
from ..interpreter.views import View
from ..ir import without_memory
from ..language.events import LIVE, USUAL, Word, guards
from ..language.lenses import Misfit, same
from ..language.picture import ABSENT, Hole
from ..trail import At, Trail, keys_of, value_at
from .hearing import Address, Hearing
from .incoming import Candidate, Item, Part, merged, text_of
from .outcome import MOST, SHORT
from .recognising import Sight

_FIRST = ("id", "model", "created")  # which frames repeat: the first that says it counts
_PARTLESS = {"finish", "usage", "error", "end", "keepalive"}  # what says nothing of a part
_MEMORY = ("spelled", "arguments_json", "value_json")  # other texts of the same


def begun(fold: Hearing, word: Word, sight: Sight, owner: Candidate) -> None:
    """Hear that an item begins."""
    item = owner.items.setdefault(sight.at["item"], Item(fold.frames - 1))
    said = fold.fields(sight)
    compared(fold, item.said, said, Trail())
    item.said, item.signs = said, "signature" in sight.event.holes


def checked(fold: Hearing, owner: Candidate, sight: Sight, said: list[tuple[str, Any]]) -> None:
    """Note a frame that says something of its item that is not so."""
    item = owner.items.get(sight.at.get("item", -1)) if said else None
    first = (item.parts[0].said if item.parts else item.said) if item else {}
    for path, value in said if item else ():
        held = value_at(first, fold.outcome.keys_of(path))
        fold.heard(path, held, value, sight.places[f"item.{path}"])


def told(fold: Hearing, part: Part, word: Word, sight: Sight) -> None:
    """Note a frame that takes a part for another one than it is."""
    if (part.kind, part.field) in sight.event.alike:
        return
    fields = [field for kind, field in sight.event.alike if kind == part.kind]
    flows = word.act not in ("add", "set") and word.field and part.field in LIVE
    if not fields:
        fold.odd(f"a {part.kind} goes on as a {word.kind}")
    elif flows and part.field not in fields:
        fold.odd(f"the {part.field} of a {part.kind} goes on as its {word.field}")


def stopped(fold: Hearing, word: Word, sight: Sight, owner: Candidate) -> None:
    """Hear the end of a part, with what it is as a whole."""
    address = fold.address(sight)
    part = owner.places.get(address)
    if part is None and not sight.event.addresses:
        found = (p for p in reversed(owner.parts) if p.open)
        part = next((p for p in found if word.kind in ("", p.kind)), None)
    if part is None and sight.found.get("whole") and address not in owner.gone:
        field = word.field or USUAL.get(word.kind, "text")
        part = fold.new(word.kind, field, owner, address)
        fold.open(part)
    if part is not None:
        _ended(fold, owner, part, word, sight)
        if part.open and not _settled_later(fold, owner, part):
            fold.shut(part)
    elif sight.event.addresses and address not in owner.gone:
        fold.odd("a part ends here that did not begin")


def _settled_later(fold: Hearing, owner: Candidate, part: Part) -> bool:
    """Tell whether the end of its item may name a call, or says how a part is signed at last."""
    item = owner.item(part)
    if item is None or item.over:
        return False
    return part.waits or (fold.patient and item.signs and item.parts[:1] == [part])


def _ended(fold: Hearing, owner: Candidate, part: Part, word: Word, sight: Sight) -> None:
    if word.kind:
        told(fold, part, word, sight)
    over(fold, part, fold.fields(sight))
    whole, item = sight.found.get("whole"), owner.item(part)
    around = item.said if item is not None and item.parts[:1] == [part] else {}
    if isinstance(whole, str):
        _rest(fold, part, whole)
    for hole, wire, at in sight.taken:
        if hole.path == "part":
            found, trail = fold.elements(hole.named, wire, at)
            if len(found) == 1 and found[0].get("type") == part.kind:
                _settled(fold, part, found[0], trail, at, around)
            elif found:
                _other(fold, part, found[0], at)


def over(fold: Hearing, part: Part, said: dict[str, Any]) -> None:
    """Lay fields of a part over what was said of it before."""
    compared(fold, part.said, said, Trail(), again=True)
    merged(part.said, said, over=True)


def item(fold: Hearing, word: Word, sight: Sight, owner: Candidate) -> None:
    """Hear the end of an item: its parts are over, and some may not have been told of before."""
    place = sight.at.get("item")
    item = owner.items.setdefault(place, Item()) if place is not None else Item()
    for hole, wire, at in sight.taken:
        if hole.path != "parts":
            continue
        found, trail = fold.elements(hole.named, wire, at)
        pairs = list(zip(item.parts, found, strict=False))
        _again(fold, pairs, trail, at)
        _later(fold, owner, found[len(pairs) :], (("item", place),))
        if len(item.parts) == len(found):
            for part, ir in zip(item.parts, found, strict=True):
                part.closing = _named(part, ir)
        elif found:
            fold.odd("an item is at its end not what its parts are", "whole/item", at)
    item.over = True
    for one in item.parts:
        if one.open:
            fold.shut(one)
    if not fold.keep:
        item.parts, item.said = [], {}


def closed(fold: Hearing, owner: Candidate) -> None:
    """Note items that began and are nothing, though the stream came to its end."""
    for item in owner.items.values() if not fold.cut else ():
        if not item.parts and not item.over:
            told = "an item begins here, and nothing of it comes"
            fold.say("inconsistent", "changed", (item.at,), told, f"item/{item.at}")


def answered(fold: Hearing, wire: Any, sights: list[Sight]) -> bool:
    """Hear a first frame that is a whole response: whoever answers so streams none."""
    shape = fold.dialect.units.get("response")
    if shape is None or not all(_PARTLESS.issuperset(one.event.acts) for one in sights):
        return False
    reader = Reader(fold.dialect, fold.outcome.options)
    try:
        ir = reader.whole(shape, wire, ())
    except Misfit:
        return False
    if not any(one.get("parts") for one in ir.get("candidates", ())):
        return False
    response(fold, ir, reader.trail, (), True)
    fold.finished = fold.ended = True
    return True


def response(fold: Hearing, ir: dict[str, Any], trail: Trail, at: At, whole: bool) -> None:
    """Hear a response: of the whole one, what was not told before is told now."""
    first = {k: v for k, v in fold.outcome.response.items() if k in _FIRST and v}
    if whole:
        ir.update({k: v for k, v in first.items() if k not in ir})  # what it leaves out stays
    compared(fold, fold.outcome.response, ir, trail, at)
    time = trail.find(ir, "created")
    if whole and fold.abroad:  # so does what went out already
        ir.update(first)
    said = {k: v for k, v in ir.items() if k not in ("candidates", "usage")}
    if fold.outcome.time is None and time is not None:
        fold.outcome.time = value_at(fold.frame, time)
    if not whole or not fold.begun:
        merged(fold.outcome.response, {k: v for k, v in said.items() if k != "spelled"}, over=True)
        fold.outcome.response.update(first)
        if not whole:
            return
        fold.begin()  # with all that is said of it, before its parts
    short = False
    for nth, one in enumerate(ir.get("candidates", ())):
        owner = fold.outcome.of(nth)
        found = one.get("parts", [])
        if len(found) >= len(owner.kinds):
            pairs = [(part, found[part.nth]) for part in owner.parts]  # of some nothing is kept
            _again(fold, pairs, trail, at)
            _later(fold, owner, found[len(owner.kinds) :])
        elif fold.keep:
            if found:
                fold.odd("the response lacks parts at its end", "whole/response", at)
            one["parts"], short = [part.ir() for part in owner.parts], True
        compared(fold, owner.own, one, trail, at)
    if short:
        _anew(fold, ir)
    fold.outcome.response, fold.outcome.whole = said, ir


def stop(fold: Hearing, owner: Candidate) -> None:
    """Note a frame that says beside a whole response why it stopped, and not the same.

    Where the response says nothing of it, elsewhere the frame counts.
    """
    meant = fold.outcome.stop(owner) if fold.outcome.whole is not None else {}
    if fold.abroad and fold.outcome.whole is not None:
        fold.outcome.beside(owner)
    for hole, wire, at in owner.stops:
        if meant.get("stop_reason") is None or isinstance(wire, dict):
            continue
        if hole.shape is not None:
            if not fold.itself(hole, wire):
                continue  # it ends, and does not say why
            if (key := repr((hole.pos, wire, meant, owner.kinds))) in fold.outcome.alike:
                continue
            said = _said_by(fold, hole, {**meant, "parts": [{"type": k} for k in owner.kinds]})
            path = "stop_reason"
            if same(said, wire) and len(key) < SHORT and len(fold.outcome.alike) < MOST:
                fold.outcome.alike.add(key)
        else:
            path, word = hole.path, meant.get(hole.path)
            table = fold.dialect.tables.get(hole.lenses[-1]) if hole.lenses else None
            if table is None or word is None or same(table.read(wire)[0], word):
                continue
            said = table.write(word)[0]
        if said is not ABSENT and not same(said, wire):
            fold.noted(at[1:], path)


def _said_by(fold: Hearing, hole: Hole, meant: dict[str, Any]) -> Any:
    """Return what a hole of a candidate would say of it."""
    writer = Writer(fold.dialect, False, Trail(), {})
    try:
        return writer.picture(hole, View(meant, "", fold.outcome.case, writer), ())
    except Misfit:
        return ABSENT


def _anew(fold: Hearing, ir: dict[str, Any]) -> None:
    """Read a response once more that held fewer parts than came: they may tell why it stopped."""
    shape = fold.dialect.units["response"]
    with contextlib.suppress(Misfit):
        wire = units.write_stepping(Writer(fold.dialect, True, Trail(), {}), shape, ir)
        read: dict[str, Any] = Reader(fold.dialect, {}).whole(shape, wire, ())
        for one, again in zip(ir["candidates"], read["candidates"], strict=True):
            one.update(without_memory(again, "parts"))


def text(fold: Hearing, owner: Candidate, whole: str) -> None:
    """Hear the last text once more; another one than that is a text of its own."""
    if owner.last is None or text_of(owner.last.ir()) != whole:
        fold.shut(fold.whole({"type": "text", "text": whole}, owner))


def _again(fold: Hearing, known: list[tuple[Part, Any]], trail: Trail, at: At) -> None:
    """Compare parts that were told with what they are at the end."""
    for part, ir in known:
        if part.kind == ir.get("type"):
            _settled(fold, part, ir, trail, at)
        else:
            _other(fold, part, ir, at)


def _later(fold: Hearing, owner: Candidate, found: list[Any], address: Address = ()) -> None:
    """Tell of parts that come at the end alone."""
    for ir in found:
        fold.shut(fold.whole(dict(ir), owner, address))  # it may get an id that is not its own


def _settled(
    fold: Hearing,
    part: Part,
    ir: dict[str, Any],
    trail: Trail,
    at: At,
    around: dict[str, Any] | None = None,
) -> None:
    """Take what a part is as a whole, or what it is without what stands `around` it."""
    if part.kind == "tool_result" and "name" in part.said:
        ir.setdefault("name", part.said["name"])  # it follows from the call
    if part.whole:
        compared(fold, _heard(part, part.said), ir, trail, at)
        part.said = _named(part, ir)  # what came at first was not the end of it
        return
    text = text_of(ir)
    if text is not None:
        _rest(fold, part, text, trail.find(ir) or at)
    flows = {"type", part.field, f"{part.field}_json", f"{part.field}_text"}
    known = part.said if part.closing is None else part.closing
    known = {k: v for k, v in _heard(part, known).items() if k not in flows}
    compared(fold, _less(known, around or {}), ir, trail, at)
    told = part.ir() if not text and part.pieces else part.said  # what is empty says nothing
    ir.update((k, v) for k, v in told.items() if guards(v) and not guards(ir.get(k, v)))
    merged(part.said, without_memory(_named(part, ir), *flows), over=True)
    if part.closing is not None:
        part.closing = _named(part, ir)


def _named(part: Part, ir: dict[str, Any]) -> dict[str, Any]:
    """Return what a part is as a whole, with the id and the name under which it went out."""
    named = part.kind in ("tool_call", "tool_result") and not ir.get(part.named)
    given = {*part.was, *((part.named,) if named else ())}
    given &= part.said.keys()  # one that waits for its name has no id yet
    return {**ir, **{key: part.said[key] for key in given}} if given else ir


def _heard(part: Part, said: dict[str, Any]) -> dict[str, Any]:
    """Return what frames said of a part, without what it was given here."""
    return {k: v for k, v in {**said, **part.was}.items() if k != part.named or not part.made}


def _rest(fold: Hearing, part: Part, whole: str, at: At = ()) -> None:
    """Let flow what the pieces lack of a whole text."""
    sofar = "".join(part.pieces)
    if whole == sofar or (part.scan is not None and not sofar.strip() and whole.strip() == "{}"):
        return
    if part.open and whole.startswith(sofar):
        fold.grow(part, whole[len(sofar) :])
    else:
        told = f"a {part.kind} is at its end not what its pieces say"
        fold.odd(told, f"whole/{part.name}", at)


def _less(said: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return what is said without the fields that are known, object by object."""
    objects = {k for k, v in said.items() if isinstance(v, dict) and isinstance(known.get(k), dict)}
    left = [key for key in said if key in objects or key not in known]
    return {key: _less(said[key], known[key]) if key in objects else said[key] for key in left}


def _other(fold: Hearing, part: Part, ir: dict[str, Any], at: At) -> None:
    told = f"a {part.kind} was told, and is a {ir.get('type')} at the end"
    fold.odd(told, f"whole/{part.kind}", at)


# -- what frames say of one thing, and not the same ------------------------------------------------


def compared(
    fold: Hearing, was: Any, now: Any, trail: Trail, at: At = (), again: bool = False
) -> None:
    """Note what an object of the IR lacks of what was said of it before.

    The trail knows where in the frame its fields stand; the frame has the object at `at`. With
    `again` only what it says again is compared, object by object.
    """
    found: list[At] = []
    _differing(was, now, (), found, again)
    for path in found:
        quiet = ("own", "value", fold.dialect.family)
        name = ".".join(key for key in path if isinstance(key, str) and key not in quiet)
        fold.noted(_place(fold, now, path, trail, at), name)


def clash(was: dict[str, Any], now: dict[str, Any]) -> bool:
    """Tell whether an object of the IR says again, and otherwise, what was said before."""
    found: list[At] = []
    _differing(was, now, (), found, again=True)
    return bool(found)


def _differing(was: Any, now: Any, path: At, found: list[At], again: bool = False) -> None:
    """Find the paths of what was said and is not said again; with `again`, of what is said anew."""
    if isinstance(was, dict) and isinstance(now, dict | None):
        for key in [key for key in now if key in was] if again and now is not None else was:
            old, new = was[key], now.get(key) if now else None
            if old.__class__ is str:
                if old and (new.__class__ is not str or new != old) and key not in _MEMORY:
                    found.append((*path, key))
            elif old is not None and old is not new and key not in _MEMORY:
                _differing(old, new, (*path, key), found, again)
    elif isinstance(was, list) and isinstance(now, list):
        for nth, old in enumerate(was):
            _differing(old, now[nth] if nth < len(now) else None, (*path, nth), found)
    elif _says(was) and not same(was, now):
        found.append(path)


def _says(value: Any) -> bool:
    """Tell whether a value says anything: null, what is empty, and zero do not."""
    if isinstance(value, dict | list):
        return any(map(_says, value.values() if isinstance(value, dict) else value))
    return value is False or bool(value)


def _place(fold: Hearing, owner: Any, path: At, trail: Trail, at: At) -> At:
    """Return where a frame has what stands at a path of the IR, as near as that is known."""
    found = (trail.find(owner) if isinstance(owner, dict) else None) or at
    for key in path:
        before = trail.find(owner, str(key)) if isinstance(owner, dict) else None
        inside = keys_of(key) if isinstance(key, str) and key[:1] == "/" else (key,)
        further = (*found, *inside)
        found = before or (found if value_at(fold.frame, further) is None else further)
        owner = value_at(owner, (key,))
        found = (trail.find(owner) if isinstance(owner, dict) else None) or found
    return tuple(found)
