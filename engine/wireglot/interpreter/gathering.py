"""Runs as they are written: parts that stand together in one wire element, and what is beside."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..ir import FUNCTION
from ..language import picture as pic
from ..language.lenses import Misfit
from ..language.picture import ABSENT, Hole, keyed
from ..language.shape import Case, Shape
from ..notes import no_place
from . import leftover
from .copies import replace_part
from .jobs import Tries, WriteJob
from .views import Gathered, View, list_memory, memory_of


def write_piece(writer: WriteJob, shape: Shape, part: dict[str, Any]) -> Gathered:
    """Write one part of a run; what stands beside the run is written when the run is closed."""
    if part.get("type", FUNCTION) not in shape.groups:
        raise Misfit("another kind is gathered here")
    cases = shape.cases
    if writer.same and len(cases) > 1:
        name = list_memory(part, writer.dialect.name).get("case")
        cases = sorted(cases, key=lambda c: name is not None and c.name != name)
    tries = Tries(writer)
    for case in cases:
        if case.ir is not None and text_misfits(case, part):
            continue
        inner, beside = run_hole(case), claims_beside(writer, shape, case, part)
        assert inner.shape is not None
        with tries:
            one, around = _without_run_texts(writer, shape, case, part)
            writer.claimed_outside[id(one)] = beside
            try:
                return Gathered(shape, case, writer.shape(inner.shape, one), beside, around)
            finally:
                del writer.claimed_outside[id(one)]
    raise tries.best or Misfit("no run takes it")


def text_misfits(case: Case, part: dict[str, Any]) -> bool:
    """Tell whether a text of a part is not as a case says that it is."""
    for names, picture in keyed(case.ir):
        if isinstance(picture, pic.Text):
            text = part.get(names[0])
            if not isinstance(text, str) or picture.read(text) is None:
                return True
    return False


def _without_run_texts(
    writer: WriteJob, shape: Shape, case: Case, part: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a part as its run holds it, and the pieces of its texts that stand around the run."""
    if case.ir is None:
        return part, {}
    view = View(part, shape.name, case, writer)
    view.match(case.ir, part)
    named = {name: value for name, (value, _) in view.names.items()}
    one = {**part, **{name: value for name, value in named.items() if name in part}}
    around = {name: value for name, value in named.items() if name not in part}
    return replace_part(writer, part, one), around


def write_unknown(writer: WriteJob, part: dict[str, Any]) -> Any:
    """Write an element of no known kind as it came, in the run where it stood."""
    if writer.recorder is not None and (at := writer.trail.find(part)) is not None:
        writer.recorder.whole(part.get("value"), at, None)
    memory = list_memory(part, writer.dialect.name)
    shape = writer.dialect.shapes.get(memory.get("run", ""))
    if shape is None or not writer.same:
        return part.get("value")
    case = next((c for c in shape.cases if c.name == memory.get("case")), shape.cases[0])
    return Gathered(shape, case, part.get("value"), claims_beside(writer, shape, case, part), {})


def claims_beside(writer: WriteJob, shape: Shape, case: Case, part: dict[str, Any]) -> set[str]:
    """Return the fields of a part that stand beside its run, as claims."""
    paths = [hole.path for hole in pic.holes(case.wire) if hole.path not in ("run", ".")]
    if not any(path.partition(".")[0] in part for path in paths):
        return set(writer.claimed_outside.get(id(part), ()))
    view = View(part, shape.name, case, writer)
    for path in paths:
        if view.peek(path) is not ABSENT:
            view.claim(path)
    return set(view.claims)


def run_hole(case: Case) -> Hole:
    """Return the hole of a case of a gathering shape that holds the run."""
    return case.lists["run"][0]


def close_runs(writer: WriteJob, pairs: list[Any]) -> list[Any]:
    """Put neighbours of a gathering shape, and what stood in one element, into one wire element."""
    found: list[list[tuple[Any, Any]]] = []  # what stands in each
    last: Gathered | None = None
    for part, wire in pairs:
        known = writer.same and isinstance(part, dict)
        memory = list_memory(part, writer.dialect.name) if known else {}
        before = found[-1][0][1] if found else None
        joins = "beside" in memory and isinstance(before, Gathered | dict)
        if not isinstance(wire, Gathered):
            if joins:
                found[-1].append((part, wire))
            else:
                last = None
                found.append([(part, wire)])
            continue
        # What stands beside a run is said of all its parts: one that says something else begins
        # another run, and so does one that stood in another at home.
        apart = memory.get("apart") or (wire.said and not _says_the_same(last, wire, part))
        apart = apart or (last is not None and last.around != wire.around)
        if last is None or last.case is not wire.case or apart:
            run = wire._replace(wire=[])
            if joins and (last is None or last.case is not wire.case):
                found[-1].append((part, run))
            else:
                found.append([(part, run)])
            last = run
        last.wire.append((part, wire.wire))
    return [(some[0][0], _join_in_element(writer, some)) for some in found]


def _join_in_element(writer: WriteJob, some: list[tuple[Any, Any]]) -> Any:
    """Write the wire element of what stands in it: a part, a run, or several of these."""
    wires = [close_run(writer, w, p) if isinstance(w, Gathered) else w for p, w in some]
    if len(wires) == 1:
        return wires[0]
    whole = {key: value for wire in wires for key, value in wire.items()}
    for (part, run), wire in zip(some, wires, strict=True):
        if writer.recorder is not None:
            writer.recorder.copy(wire, whole)
        parts = [one for one, _ in run.wire] if isinstance(run, Gathered) else [part]
        writer.run_elements.update((id(one), (one, whole)) for one in parts)
    return whole


def _says_the_same(last: Gathered | None, wire: Gathered, part: dict[str, Any]) -> bool:
    """Tell whether a part says of its run what the first one says, all of it own fields."""
    if last is None or wire.said != last.said:
        return False
    same = part.get("own") == last.wire[0][0].get("own")
    return same and all(path.startswith("own.") for path in wire.said)


def close_run(writer: WriteJob, run: Gathered, first: Any) -> Any:
    """Write the wire element around a run of gathered pieces."""
    wire = writer.quick_run(run, first) if run.case.ir is None else ABSENT
    if wire is ABSENT:
        wire = _walk_run(writer, run, first)
    writer.run_elements.update((id(part), (part, wire)) for part, _ in run.wire)
    return wire


def _walk_run(writer: WriteJob, run: Gathered, first: Any) -> Any:
    """Write the wire element around a run by the pictures of its case."""
    memory = memory_of(first, writer.dialect.name) if writer.same else {}
    around = {k[2:]: v for k, v in memory.items() if k.startswith("../") and k != "../"}
    whole = writer.trail.changed(first, spelled={writer.dialect.name: around})
    view = View(whole, run.shape.name, run.case, writer)
    view.names["run"] = ([wire for _, wire in run.wire], "run")
    view.names.update((name, (value, name)) for name, value in run.around.items())
    view.lists["run"] = {id(run_hole(run.case)): run.wire}
    wire = writer.picture(run.case.wire, view, (), top=True)
    note_unsaid(writer, run, first, view.claims)
    if writer.same:
        kept = first.get("kept", {}).get(writer.dialect.name, {})
        around = {k[2:]: v for k, v in kept.items() if k.startswith("../")}
        places = (writer.trail.find(first, key) for key in kept)
        place = next((at for at in places if at is not None), None)
        leftover.put_back(writer, around, wire, place[:-1] if place else None)
    return wire


def note_unsaid(writer: WriteJob, run: Gathered, first: Any, claims: Collection[str]) -> None:
    """Note what was to stand beside a run and has no place there."""
    for path in sorted(run.said.difference(claims)):
        writer.note_lost("no-place", first, no_place(path), run.case.pos, path)
