"""Wholes: what a stream says once more when it is over, of a part, an item, or the response.

A whole counts more than the pieces before it: what they lack flows after them, and a whole that
says another thing is noted, for what flowed before cannot be taken back. What says nothing (null,
what is empty, zero but in lists) is contradicted by nothing, nor is saying more than before. Of a
path that `drop` names the value moves on while frames come: its reason is noted then.
"""

from __future__ import annotations

import contextlib
from typing import Any

from ..conversion.hands import Reader, Writer
from ..interpreter import units
from ..interpreter.views import View
from ..ir import IR, without_memory
from ..language.events import DEFAULT_FIELD, LIVE, Word
from ..language.lenses import Misfit, same
from ..language.picture import ABSENT, Hole, distinguishes
from ..trail import At, Trail, keys_of, value_at
from .hearing import Address, Hearing
from .incoming import Candidate, Item, Part, merged, text_of
from .recognising import EventMatch

_FIRST = ("id", "model", "created")  # which frames repeat: the first that says it counts
_PARTLESS = {"finish", "usage", "error", "end", "keepalive"}  # what says nothing of a part
_MEMORY = ("spelled", "arguments_json", "value_json")  # other texts of the same


def start_item(fold: Hearing, word: Word, match: EventMatch, owner: Candidate) -> None:
    """Hear that an item begins."""
    item = owner.items.setdefault(match.address["item"], Item(fold.frames - 1))
    said = fold.part_fields(match)
    note_differences(fold, item.fields, said, Trail())
    item.fields, item.signs = said, "signature" in match.event.holes


def check_item_fields(
    fold: Hearing, owner: Candidate, match: EventMatch, said: list[tuple[str, Any]]
) -> None:
    """Note a frame that says something of its item that is not so."""
    item = owner.items.get(match.address.get("item", -1)) if said else None
    first = (item.parts[0].fields if item.parts else item.fields) if item else {}
    for path, value in said if item else ():
        held = value_at(first, fold.outcome.keys_of(path))
        fold.note_if_differs(path, held, value, match.values_at[f"item.{path}"])


def check_kind(fold: Hearing, part: Part, word: Word, match: EventMatch) -> None:
    """Note a frame that takes a part for another one than it is."""
    if (part.kind, part.field) in match.event.alike:
        return
    fields = [field for kind, field in match.event.alike if kind == part.kind]
    flows = word.act not in ("add", "set") and word.field and part.field in LIVE
    if not fields:
        fold.note_inconsistent(f"a {part.kind} goes on as a {word.kind}")
    elif flows and part.field not in fields:
        fold.note_inconsistent(f"the {part.field} of a {part.kind} goes on as its {word.field}")


def stop_part(fold: Hearing, word: Word, match: EventMatch, owner: Candidate) -> None:
    """Hear the end of a part, with what it is as a whole."""
    address = fold.address(match)
    part = owner.by_address.get(address)
    if part is None and not match.event.addresses:
        found = (p for p in reversed(owner.parts) if p.open)
        part = next((p for p in found if word.kind in ("", p.kind)), None)
    if part is None and match.values.get("whole") and address not in owner.forgotten:
        field = word.field or DEFAULT_FIELD.get(word.kind, "text")
        part = fold.new_part(word.kind, field, owner, address)
        fold.open_part(part)
    if part is not None:
        _take_end(fold, owner, part, word, match)
        cites_apart = fold.stream.get("append", "candidate", "citations") is not None
        part.may_cite = fold.keep and part.kind == "text" and cites_apart
        if part.open and not (part.may_cite or _closes_with_item(fold, owner, part)):
            fold.close_part(part)
    elif match.event.addresses and address not in owner.forgotten:
        fold.note_inconsistent("a part ends here that did not begin")


def _closes_with_item(fold: Hearing, owner: Candidate, part: Part) -> bool:
    """Tell whether the end of its item may name a call, or says how a part is signed at last."""
    item = owner.item_of(part)
    if item is None or item.ended:
        return False
    return part.unannounced or (fold.awaits_signature and item.signs and item.parts[:1] == [part])


def _take_end(fold: Hearing, owner: Candidate, part: Part, word: Word, match: EventMatch) -> None:
    if word.kind:
        check_kind(fold, part, word, match)
    overlay_fields(fold, part, fold.part_fields(match))
    whole, item = match.values.get("whole"), owner.item_of(part)
    around = item.fields if item is not None and item.parts[:1] == [part] else {}
    if isinstance(whole, str):
        _grow_rest(fold, part, whole)
    for hole, wire, at in match.shaped:
        if hole.path == "part":
            found, trail = fold.read_elements(hole.named, wire, at)
            if len(found) == 1 and found[0].get("type") == part.kind:
                _settle_part(fold, part, found[0], trail, at, around)
            elif found:
                _note_other_kind(fold, part, found[0], at)


def overlay_fields(fold: Hearing, part: Part, said: IR) -> None:
    """Lay fields of a part over what was said of it before."""
    note_differences(fold, part.fields, said, Trail(), again=True)
    merged(part.fields, said, over=True)


def stop_item(fold: Hearing, word: Word, match: EventMatch, owner: Candidate) -> None:
    """Hear the end of an item: its parts are over, and some may not have been told of before."""
    place = match.address.get("item")
    item = owner.items.setdefault(place, Item()) if place is not None else Item()
    for hole, wire, at in match.shaped:
        if hole.path != "parts":
            continue
        found, trail = fold.read_elements(hole.named, wire, at)
        pairs = list(zip(item.parts, found, strict=False))
        _settle_parts(fold, pairs, trail, at)
        _tell_late(fold, owner, found[len(pairs) :], (("item", place),))
        if len(item.parts) == len(found):
            for part, ir in zip(item.parts, found, strict=True):
                part.final = _with_sent_ids(part, ir)
        elif found:
            fold.note_inconsistent("an item is at its end not what its parts are", "whole/item", at)
    item.ended = True
    for one in item.parts:
        if one.open:
            fold.close_part(one)
    if not fold.keep:
        item.parts, item.fields = [], {}


def note_empty_items(fold: Hearing, owner: Candidate) -> None:
    """Note items that began and are nothing, though the stream came to its end."""
    for item in owner.items.values() if not fold.cut else ():
        if not item.parts and not item.ended:
            message = "an item begins here, and nothing of it comes"
            fold.note("inconsistent", "changed", (item.at,), message, f"item/{item.at}")


def take_unstreamed(fold: Hearing, wire: Any, matches: list[EventMatch]) -> bool:
    """Hear a first frame that is a whole response: whoever answers so streams none."""
    shape = fold.dialect.units.get("response")
    if shape is None or not all(_PARTLESS.issuperset(one.event.acts) for one in matches):
        return False
    reader = Reader(fold.dialect, fold.outcome.options)
    try:
        ir = reader.whole(shape, wire, ())
    except Misfit:
        return False
    if not any(one.get("parts") for one in ir.get("candidates", ())):
        return False
    take_response(fold, ir, reader.trail, (), True)
    fold.finished = fold.ended = True
    return True


def take_response(fold: Hearing, ir: IR, trail: Trail, at: At, whole: bool) -> None:
    """Hear a response: of the whole one, what was not told before is told now."""
    first = {k: v for k, v in fold.outcome.response.items() if k in _FIRST and v}
    if whole:
        ir.update({k: v for k, v in first.items() if k not in ir})  # what it leaves out stays
    note_differences(fold, fold.outcome.response, ir, trail, at)
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
        owner = fold.outcome.candidate(nth)
        found = one.get("parts", [])
        if len(found) >= len(owner.kinds):
            pairs = [(part, found[part.nth]) for part in owner.parts]  # of some nothing is kept
            _settle_parts(fold, pairs, trail, at)
            _tell_late(fold, owner, found[len(owner.kinds) :])
        elif fold.keep:
            if found:
                fold.note_inconsistent("the response lacks parts at its end", "whole/response", at)
            one["parts"], short = [part.ir() for part in owner.parts], True
        note_differences(fold, owner.own, one, trail, at)
    if short:
        _reread(fold, ir)
    fold.outcome.response, fold.outcome.whole_ir = said, ir


def check_stop(fold: Hearing, owner: Candidate) -> None:
    """Note a frame that says beside a whole response why it stopped, and not the same.

    Where the response says nothing of it, elsewhere the frame counts.
    """
    meant = fold.outcome.stop_fields(owner) if fold.outcome.whole_ir is not None else {}
    if fold.abroad and fold.outcome.whole_ir is not None:
        fold.outcome.adopt_stop_reason(owner)
    for hole, wire, at in owner.stops:
        if meant.get("stop_reason") is None or isinstance(wire, dict):
            continue
        if hole.shape is not None:
            if not fold.read_self_hole(hole, wire):
                continue  # it ends, and does not say why
            said = _written_by(fold, hole, {**meant, "parts": [{"type": k} for k in owner.kinds]})
            path = "stop_reason"
        else:
            path, word = hole.path, meant.get(hole.path)
            table = fold.dialect.tables.get(hole.lenses[-1]) if hole.lenses else None
            if table is None or word is None or same(table.read(wire)[0], word):
                continue
            said = table.write(word)[0]
        if said is not ABSENT and not same(said, wire):
            fold.note_conflict(path, at[1:])


def _written_by(fold: Hearing, hole: Hole, meant: IR) -> Any:
    """Return what a hole of a candidate would say of it."""
    writer = Writer(fold.dialect, False, Trail(), {})
    try:
        return writer.picture(hole, View(meant, "", fold.outcome.case, writer), ())
    except Misfit:
        return ABSENT


def _reread(fold: Hearing, ir: IR) -> None:
    """Read a response once more that held fewer parts than came: they may tell why it stopped."""
    shape = fold.dialect.units["response"]
    with contextlib.suppress(Misfit):
        wire = units.write_stepping(Writer(fold.dialect, True, Trail(), {}), shape, ir)
        read: dict[str, Any] = Reader(fold.dialect, {}).whole(shape, wire, ())
        for one, again in zip(ir["candidates"], read["candidates"], strict=True):
            one.update(without_memory(again, "parts"))


def take_last_text(fold: Hearing, owner: Candidate, whole: str) -> None:
    """Hear the last text once more; another one than that is a text of its own."""
    if owner.last_text is None or text_of(owner.last_text.ir()) != whole:
        fold.close_part(fold.take_whole_part({"type": "text", "text": whole}, owner))


def _settle_parts(fold: Hearing, known: list[tuple[Part, Any]], trail: Trail, at: At) -> None:
    """Compare parts that were told with what they are at the end."""
    for part, ir in known:
        if part.kind == ir.get("type"):
            _settle_part(fold, part, ir, trail, at)
        else:
            _note_other_kind(fold, part, ir, at)


def _tell_late(fold: Hearing, owner: Candidate, found: list[Any], address: Address = ()) -> None:
    """Tell of parts that come at the end alone."""
    for ir in found:  # a copy: it may get an id that is not its own
        fold.close_part(fold.take_whole_part(dict(ir), owner, address))


def _settle_part(
    fold: Hearing, part: Part, ir: IR, trail: Trail, at: At, around: IR | None = None
) -> None:
    """Take what a part is as a whole, or what it is without what stands `around` it."""
    if part.kind == "tool_result" and "name" in part.fields:
        ir.setdefault("name", part.fields["name"])  # it follows from the call
    if part.whole:
        note_differences(fold, _as_source_said(part, part.fields), ir, trail, at)
        part.fields = _with_sent_ids(part, ir)  # what came at first was not the end of it
        return
    text = text_of(ir)
    if text is not None:
        _grow_rest(fold, part, text, trail.find(ir) or at)
    flows = {"type", part.field, f"{part.field}_json", f"{part.field}_text"}
    known = part.fields if part.final is None else part.final
    known = {k: v for k, v in _as_source_said(part, known).items() if k not in flows}
    note_differences(fold, _subtracted(known, around or {}), ir, trail, at)
    message = part.ir() if not text and part.pieces else part.fields  # what is empty says nothing
    ir.update(
        (k, v) for k, v in message.items() if distinguishes(v) and not distinguishes(ir.get(k, v))
    )
    merged(part.fields, without_memory(_with_sent_ids(part, ir), *flows), over=True)
    if part.final is not None:
        part.final = _with_sent_ids(part, ir)


def _with_sent_ids(part: Part, ir: IR) -> IR:
    """Return what a part is as a whole, with the id and the name under which it went out."""
    named = part.kind in ("tool_call", "tool_result") and not ir.get(part.id_field)
    given = {*part.originals, *((part.id_field,) if named else ())}
    given &= part.fields.keys()  # one that waits for its name has no id yet
    return {**ir, **{key: part.fields[key] for key in given}} if given else ir


def _as_source_said(part: Part, said: IR) -> IR:
    """Return what frames said of a part, without what it was given here."""
    own = {**said, **part.originals}
    return {key: own[key] for key in own if key != part.id_field or not part.id_made}


def _grow_rest(fold: Hearing, part: Part, whole: str, at: At = ()) -> None:
    """Let flow what the pieces lack of a whole text."""
    sofar = "".join(part.pieces)
    if whole == sofar or (part.scan is not None and not sofar.strip() and whole.strip() == "{}"):
        return
    if part.open and whole.startswith(sofar):
        fold.grow_part(part, whole[len(sofar) :])
    else:
        message = f"a {part.kind} is at its end not what its pieces say"
        fold.note_inconsistent(message, f"whole/{part.label}", at)


def _subtracted(said: IR, known: IR) -> IR:
    """Return what is said without the fields that are known, object by object."""
    objects = {k for k, v in said.items() if isinstance(v, dict) and isinstance(known.get(k), dict)}
    left = [key for key in said if key in objects or key not in known]
    rest: IR = {key: _subtracted(said[key], known[key]) for key in objects}
    return {key: rest.get(key, said[key]) for key in left}


def _note_other_kind(fold: Hearing, part: Part, ir: IR, at: At) -> None:
    message = f"a {part.kind} was told, and is a {ir.get('type')} at the end"
    fold.note_inconsistent(message, f"whole/{part.kind}", at)


# -- what frames say of one thing, and not the same ------------------------------------------------


def note_differences(
    fold: Hearing, was: Any, now: Any, trail: Trail, at: At = (), *, again: bool = False
) -> None:
    """Note what an object of the IR lacks of what was said of it before (`was`).

    The trail knows where in the frame its fields stand; the frame has the object at `at`. With
    `again` only what it says again is compared, object by object.
    """
    found: list[At] = []
    _find_differences(was, now, (), found, again)
    for path in found:
        quiet = ("own", "value", fold.dialect.family)
        name = ".".join(key for key in path if isinstance(key, str) and key not in quiet)
        fold.note_conflict(name, _place_in_frame(fold, now, path, trail, at))


def contradicts(was: IR, now: IR) -> bool:
    """Tell whether an object of the IR says again, and otherwise, what was said before."""
    found: list[At] = []
    _find_differences(was, now, (), found, again=True)
    return bool(found)


def _find_differences(was: Any, now: Any, path: At, found: list[At], again: bool = False) -> None:
    """Find the paths of what was said and is not said again; with `again`, of what is said anew."""
    if isinstance(was, dict) and isinstance(now, dict | None):
        for key in [key for key in now if key in was] if again and now is not None else was:
            old, new = was[key], now.get(key) if now else None
            if old.__class__ is str:
                if old and (new.__class__ is not str or new != old) and key not in _MEMORY:
                    found.append((*path, key))
            elif old is not None and old is not new and key not in _MEMORY:
                _find_differences(old, new, (*path, key), found, again)
    elif isinstance(was, list) and isinstance(now, list):
        for nth, old in enumerate(was):
            _find_differences(old, now[nth] if nth < len(now) else None, (*path, nth), found)
    elif (_is_said(was) or _is_zero_in_list(was, now, path)) and not same(was, now):
        found.append(path)


def _is_said(value: Any) -> bool:
    """Tell whether a value says anything: null, what is empty, and zero do not."""
    if isinstance(value, dict | list):
        return any(map(_is_said, value.values() if isinstance(value, dict) else value))
    return value is False or bool(value)


def _is_zero_in_list(was: Any, now: Any, path: At) -> bool:
    """Tell whether a zero is news: counts that grow stand in no list, but how likely tokens are."""
    return was == 0 and now is not None and any(isinstance(key, int) for key in path)


def _place_in_frame(fold: Hearing, owner: Any, path: At, trail: Trail, at: At) -> At:
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
