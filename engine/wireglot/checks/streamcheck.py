"""The checks of `stream`: what its holes name, and that events say what they are for."""

from __future__ import annotations

from collections.abc import Iterable

from ..language import picture as pic
from ..language.events import OF_KIND, OF_SHAPE, Event
from ..language.findings import Findings, hint
from ..language.lenses import LISTS, SPELLING_OF
from ..language.model import Dialect
from ..language.picture import Fields, Hole, Items, Picture
from .codeccheck import lens_hint
from .fields import KEPT, OBJECTS, held_by

PLACES = frozenset("candidate index nth item inner entry frame".split())
OWNERS = {"response": "response", "candidate": "candidate", "item": "part"}
# Holes that are no field of what an event is about, and those of them that need a shape.
FREE = frozenset(". piece path part parts whole usage response".split())
PLAIN = frozenset("piece path whole".split())
SHAPED = frozenset(". part parts usage response".split())
# Events whose picture must hold a hole of this path.
NEEDS = {"append": "piece", "add": "piece", "put": "path", "part": "part", "item_start": "at.item"}


def check(model: Dialect, findings: Findings) -> None:
    """Report holes that name nothing (R001), shapes that are not there (R014), events that say
    nothing (R022), and an inherited stream of other responses (R037)."""
    if model.stream is None:
        return
    shapes = {name for word in ("shapes", "unions") for name in model.node.under(word)}
    shapes |= {f"${unit}" for unit in model.units.keys() & {"response"}}
    frame = model.stream.frame
    if frame is not None:
        for hole in pic.holes(frame):
            _check_paths(hole, frozenset(), findings, "a frame")
            _check_shape(hole, shapes, findings)
            _check_lenses(hole, model, findings)
    for event in model.stream.events:
        _check_event(event, _objects(event, model, findings), shapes, model, findings)
    _check_inherited(model, findings)


def _check_inherited(model: Dialect, findings: Findings) -> None:
    """Warn where answers of a response stand under a key that no frame of a parent has (R037)."""
    stream = model.streamed
    response = model.units.get("response")
    wires = [case.wire for case in response.cases] if response is not None else []
    keys = {name for p in stream.pictures() if isinstance(p, Fields) for name in p.names}
    own = {pos.file for pos in (stream.pos, *(event.pos for event in stream.events))}
    for names, child in (entry for wire in wires for entry in pic.keyed(wire)):
        answers = [hole for hole in pic.holes(child) if hole.path == "candidates"]
        if answers and keys.isdisjoint(names) and answers[0].pos.file not in own:
            help = "write the events of this API under `stream`, or `stream: $removed`"
            message = f"no frame of the stream, which is a parent's, holds `{names[0]}`"
            findings.warn("R037", message, answers[0].pos, help)


def _objects(event: Event, model: Dialect, findings: Findings) -> set[str]:
    """Return what an event is about, as objects of the IR."""
    objects = {word.kind for word in event.words if word.kind in OBJECTS}
    if any(word.act in ("part", "part_stop") and not word.kind for word in event.words):
        objects.add("part")
    if "finish" in event.acts:
        objects.add("candidate")
    if "error" in event.acts:
        objects.add("error")
    for word in event.words:
        shape = model.shapes.get(word.kind) if word.act in OF_SHAPE else None
        if shape is not None and shape.groups:
            objects |= shape.groups
        elif word.act in OF_SHAPE:
            gathering = {name for name, one in model.shapes.items() if one.groups}
            help = hint(word.kind, gathering, "those that do are")
            message = f"`{event.name}` names no shape that gathers parts"
            findings.error("R022", message, event.pos, help, word=word.kind)
    return objects


def _check_event(
    event: Event, objects: set[str], shapes: set[str], model: Dialect, findings: Findings
) -> None:
    found, known_objects = set[str](), frozenset(objects).intersection(OBJECTS)
    for picture in event.reads:
        if len(parts := [hole for hole in pic.holes(picture) if hole.path == "part"]) > 1:
            help = f"a picture lies over that of a parent key by key: `{event.name}!` replaces it"
            message = f"`{event.name}` asks for two parts in one frame"
            findings.error("R022", message, parts[-1].pos, help)
        for hole in pic.holes(picture):
            found.add(hole.path)
            _check_paths(hole, known_objects, findings, f"`{event.name}`")
            _check_shape(hole, shapes, findings)
            _check_lenses(hole, model, findings)
        _check_lists(picture, event, findings)
    for word in event.words:
        needed = NEEDS.get(word.act)
        if needed is not None and needed not in found and word.act in OF_KIND | OF_SHAPE:
            help = f"write `${needed}{' as SHAPE' if needed == 'part' else ''}` where it stands"
            message = f"`{event.name}` has no `${needed}`"
            findings.error("R022", message, event.pos, help)
        if word.act == "add" and word.kind == "candidate":
            message = "`add` says an element of a list of a part, and a candidate is none"
            help = f"write `append.candidate.{word.field}`, which puts lists together"
            findings.error("R001", message, event.pos, help, word=event.name)
        known = word.kind not in OBJECTS or held_by(frozenset((word.kind,)), word.field) is not None
        if word.act in ("append", "part_start") and not known:
            message = f"`{word.field}` is no field of a {word.kind}"
            help = hint(word.field, OBJECTS[word.kind].keys() - KEPT, "its fields are")
            findings.error("R001", message, event.pos, help, word=word.field)


def _check_paths(hole: Hole, objects: frozenset[str], findings: Findings, what: str) -> None:
    hint_args: tuple[str, Iterable[str], str, str]
    for path in hole.paths:
        first, _, rest = path.partition(".")
        if path in FREE:
            continue
        if first == "at":
            known = rest in PLACES
            hint_args = (rest, PLACES, "the places are", "$at.")
        elif first in OWNERS:
            fields = OBJECTS[OWNERS[first]]
            known = bool(rest) and held_by(frozenset((OWNERS[first],)), rest) is not None
            hint_args = (rest, fields.keys() - KEPT, "its fields are", f"${first}.")
        else:
            known = bool(objects) and held_by(objects, path) is not None
            names = {name for one in objects for name in OBJECTS[one]} - KEPT
            names |= FREE - {"."} | {"at", *OWNERS}
            hint_args = (first, names, "it may name", "$")
        if not known:
            message = f"`${path}` names nothing of {what}"
            findings.error("R001", message, hole.pos, hint(*hint_args), word=f"${path}")


def _check_shape(hole: Hole, shapes: set[str], findings: Findings) -> None:
    if hole.path == hole.shape and f"${hole.path}" in shapes:
        return  # the unit
    if hole.shape is not None and hole.shape not in shapes:
        message = f"`{hole.shape}` is no shape of this file"
        help = hint(hole.shape, shapes - {"$response"}, "its shapes and unions are")
        findings.error("R014", message, hole.pos, help, word=hole.shape)
    elif hole.shape is None and hole.path in SHAPED:
        mode = "each SHAPE | single" if hole.path == "parts" else "as SHAPE"
        help = f"write `${hole.path} {mode}`"
        findings.error("R010", f"`${hole.path}` is an object and needs a shape", hole.pos, help)


def _check_lenses(hole: Hole, model: Dialect, findings: Findings) -> None:
    if hole.lenses and (hole.path in PLAIN or hole.path.startswith("at.")):
        message = f"`${hole.path}` is taken as it stands"
        findings.error("R010", message, hole.pos, "it takes no codec", word=f"${hole.path}")
    for lens in hole.lenses:
        help = lens_hint(lens, model)
        if lens in LISTS and hole.mode != "each":
            said = SPELLING_OF.get(lens, lens)
            message = f"`{said}` is a codec of a list that a shape makes"
            findings.error("R010", message, hole.pos, f"write `each SHAPE | {said}`", word=said)
        elif help is not None:
            name = lens.rstrip("!")
            findings.error("R014", f"`{name}` is no codec", hole.pos, help, word=name)


def _check_lists(picture: Picture, event: Event, findings: Findings) -> None:
    """Report lists of several pictures: an element is matched with one (R022)."""
    for p in pic.nodes(picture):
        if isinstance(p, Items) and (len(p.items) > 1 or p.rest is not None):
            more = " and more" if p.rest is not None else ""
            message = f"`{event.name}` pictures a list of {len(p.items)}{more}"
            findings.error("R022", message, p.pos, "a list of one picture is any element")
        elif isinstance(p, pic.Text):
            message = f"`{event.name}` pictures a text with holes"
            findings.error("R022", message, p.pos, "take the text as a whole, as `$piece`")
