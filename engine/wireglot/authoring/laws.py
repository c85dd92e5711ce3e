"""The laws that every rule file keeps, tried on payloads made from its own pictures.

Reads    what a picture makes is read
GetPut   a payload read and written at home is the same payload
PutGet   an IR value written without a note reads as the same value
Stable   what was written reads and writes as itself
Pure     inputs stay as they are
Total    every payload can be written in every other dialect
Placed   notes point to what is there, in the payload and in what becomes of it
Cross    a payload comes back from another dialect the same, but for what the notes name
Edited   what is changed in a part after reading is written at home
Kept     at home no part is lost that has a form, whatever the memory around it says
Heard    frames that are written are understood, and say what the whole response says
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from ..errors import ConversionError
from ..ir import WHOLES
from ..language.lenses import same, stringify
from ..language.picture import ABSENT, Hole, holes
from ..notes import Note
from ..rulesets import RuleSet
from ..trace.where import picture_at
from ..trail import At, pointer, touch
from . import lawcase, partlaws
from .generate import Generator
from .jsondiff import Difference, differences, standing
from .lawcase import Broken, Case, abroad, require_equal, results_apart
from .shrink import shrink

RUNS = 10
# Of calls and results: they follow from others.
DERIVED = (("name",), ("arguments_json",), ("value_json",))


# -- the laws -------------------------------------------------------------------------------------


def _getput(case: Case, wire: Any) -> None:
    home = case.write(case.read(wire))[0]
    require_equal("at home it comes back otherwise,", wire, home, case.rule_at)


def _putget(case: Case, wire: Any) -> None:
    expected = abroad(case.read(wire))
    out = case.rules[case.dialect].write(expected, case.unit)
    if out.notes:
        return
    actual = abroad(case.read(out.body))
    for field in ("model", "stream") if out.envelope and isinstance(actual, dict) else ():
        value = getattr(out.envelope, field)
        if value is not None and field in expected:
            actual.setdefault(field, value)
    different = differences(_merge_neighbours(expected), _merge_neighbours(actual))
    different = [d for d in different if d.at[-1:] not in DERIVED]
    # An empty list and none say the same, and so does what holds nothing else.
    different = [
        d for d in different if not (_is_empty(d.expected, d.at) and _is_empty(d.actual, d.at))
    ]
    if different:
        raise Broken(f"what was written reads otherwise, at {different[0]} of the IR")


def _merge_neighbours(ir: Any, role: str = "tool") -> Any:
    """Return an IR value with neighbouring messages of a role as one."""
    if not isinstance(ir, dict) or not isinstance(ir.get("messages"), list):
        return ir
    messages: list[Any] = []
    for message in ir["messages"]:
        last = messages[-1] if messages else {}
        if message["role"] == last.get("role") == role:
            messages[-1] = {**messages[-1], "parts": messages[-1]["parts"] + message["parts"]}
        else:
            messages.append(message)
    return {**ir, "messages": messages}


def _is_empty(value: Any, at: At) -> bool:
    """Tell whether nothing is said: ABSENT, an empty list, of `own` an object, one of such."""
    if isinstance(value, dict) and value:
        return all(_is_empty(inner, (*at, key)) for key, inner in value.items())
    return value is ABSENT or value == [] or (value == {} and "own" in at)


def _stable(case: Case, wire: Any) -> None:
    ir = case.read(wire)
    written, notes = case.write(abroad(ir))
    if any(note.code in ("empty-message", "blocks-beside", "unpaired", "moved") for note in notes):
        return  # neighbours of what went meet, and may join the next time
    read = case.read(written)
    if _count_unknown(read) < _count_unknown(ir):
        return  # beside others that it met, an element has a picture that it had not alone
    again = case.write(abroad(read))[0]
    if any(note.effect == "lost" for note in notes):  # beside what went, the rest had another form
        written, again = again, case.write(abroad(case.read(again)))[0]
    told = "what was written is written otherwise the next time,"
    require_equal(told, written, again, case.rule_at)


def _count_unknown(ir: Any) -> int:
    """Count the parts that no picture of their dialect fits."""
    messages = ir.get("messages", ()) if isinstance(ir, dict) else ()
    parts = (part for message in messages for part in message.get("parts", ()))
    return sum(part.get("type") == "unknown" for part in parts)


def _pure(case: Case, wire: Any) -> None:
    before = copy.deepcopy(wire)
    ir = case.read(wire)
    kept = copy.deepcopy(ir)
    first, second = case.write(ir), case.write(ir)
    if not same(before, wire) or not same(kept, ir):
        raise Broken("the input was changed")
    require_equal("written twice it differs,", first[0], second[0], case.rule_at)


def _total(case: Case, wire: Any) -> None:
    case.convert(wire, case.dialect, case.target)


def _placed(case: Case, wire: Any) -> None:
    made, notes, _ = case.convert(wire, case.dialect, case.target)
    for note in notes:
        for path, body in ((note.source_path, wire), (note.target_path, made)):
            if path is not None and standing(body, path) is ABSENT:
                raise Broken(f"`{note.code}` points to {path}, and nothing is there", note.rule)


def _cross(case: Case, wire: Any) -> None:
    here, other = case.dialect, case.target
    ir, normal = case.cached(wire, lambda: _normal_form(case, wire))
    there, notes, envelope = case.convert(normal, here, other)
    # What the other dialect keeps outside the body comes back from there.
    model, stream = (envelope.model, envelope.stream) if envelope else (None, None)
    if case.unit == "request" and model is None and _loses_model(case, notes):
        model = ir["model"]  # or no request could come back
    back, notes_back, _ = case.convert(
        there, other, here, model, stream if "stream" in ir else None
    )
    explained = _explained(notes, notes_back)
    filled_in = [note.target_path or "" for note in notes if note.code == "filled-in"]
    # An element there, its words, or those beside them that are read as one, as a thought is.
    element = re.compile(r".*/\d+(/(\w+_)?(text|content|thinking))?")
    elements = sum(element.fullmatch(path) is not None for path in filled_in)
    absent = case.absent_fields(ir)
    expected = _normal_form(case, wire, absent)[1] if absent else normal
    within = case.rules[here].model.within
    for difference in differences(expected, back):
        at = pointer(difference.at)
        if any(touch(place, at) for place in explained) or _elements_moved(notes + notes_back, at):
            continue
        if lawcase.is_harmless(difference, elements, within):
            continue
        # What came in addition is a literal of the other dialect's rules, or was noted there.
        if difference.expected is ABSENT or _may_move(case, difference):
            continue
        # What home filled in it need not, where it comes back with what was filled in there.
        if filled_in and difference.actual is ABSENT and at in _filled_at_home(case, ir):
            continue
        if not lawcase.is_told_of_target(case, normal, at, notes, notes_back):
            message = f"it comes back otherwise and no note says so, at {difference}"
            raise Broken(message, case.rule_at(difference.at))


def _explained(notes: Iterable[Note], notes_back: Iterable[Note]) -> list[str]:
    """Return the places at home of which the notes of a way there and back speak."""
    places = [_noted_place(note, note.target_path) for note in notes_back]
    element = re.compile(r".*/\d+(?=/)")
    for note in notes:
        places.append(_noted_place(note, note.source_path))
        # What was filled in there is there when it is read: what a message says may come of it.
        if note.code == "filled-in" and (found := element.match(note.target_path or "")):
            places.append(found[0])
        # So is what was added because something else was said, or is no longer.
        if note.effect == "added" and note.source_path:
            places.append(note.target_path)
        if note.code == "freeform-wrapped":  # the choice follows its tool
            places.append("/tool_choice")
    return [place for place in places if place is not None]


def _filled_at_home(case: Case, ir: Any) -> set[str | None]:
    """Return the places that home fills in by itself."""
    return {note.target_path for note in case.write(ir)[1] if note.code == "filled-in"}


def _loses_model(case: Case, notes: Iterable[Note]) -> bool:
    """Tell whether a note says that the other dialect has no place for the model."""
    keys = case.rules[case.dialect].keys_of_model("request") or ()
    places = {f"/{key}" for key in keys}
    return any(note.effect == "lost" and note.source_path in places for note in notes)


def _normal_form(case: Case, wire: Any, absent: Iterable[str] = ()) -> tuple[Any, Any]:
    """Return the IR of a payload, without the fields `absent`, and how this dialect writes it."""
    ir = results_apart(abroad(case.read(wire)))
    ir = {key: v for key, v in ir.items() if key not in absent}
    for owner, _, field in (path.partition(".") for path in absent):
        if field and isinstance(ir.get(owner), dict):
            ir[owner].pop(field, None)
    if case.unit == "request":
        ir.setdefault("model", "m")
    normal, notes = case.write(ir)
    if any(note.code == "blocks-beside" for note in notes):  # what stays may be one plain text
        normal = case.write(abroad(case.read(normal)))[0]
    roles = [message["role"] for message in ir.get("messages", ())]
    if ("system", "system") in pairwise(roles):  # apart they are one text, wherever they stood
        normal = case.write(_merge_neighbours(abroad(case.read(normal)), "system"))[0]
    return ir, normal


def _noted_place(note: Note, path: str | None) -> str | None:
    """Return the place that a note speaks of: of a change, the element or object around it."""
    if path is None or note.effect != "changed":
        return path
    element = re.match(r".*/\d+(?=/|$)", path)
    return element[0] if element else path.rpartition("/")[0]


def _may_move(case: Case, difference: Difference) -> bool:
    """Tell whether a value may come back elsewhere: as another term of a sum, or in a map."""
    own_model, model = (case.rules[name].model for name in (case.dialect, case.target))
    cases = [c for shape in (*model.shapes.values(), *model.units.values()) for c in shape.cases]
    sums = {path for c in cases for h in holes(c.wire) if len(h.paths) > 1 for path in h.paths}
    at = difference.at
    for end in range(len(at) + 1):
        p = picture_at(own_model, case.unit, at[:end])
        value = difference.expected if end == len(at) else None
        if isinstance(value, dict) and not any(value.values()):
            # An object of zeros, which add nothing to a sum.
            inner = [picture_at(own_model, case.unit, (*at, key)) for key in value]
            if all(isinstance(picture, Hole) and sums & {*picture.paths} for picture in inner):
                return True
        if isinstance(p, Hole) and (p.mode == "entries" or (end == len(at) and sums & {*p.paths})):
            return True
    return False


# Notes after which elements stand elsewhere, so that pointers of the two sides do not meet.
_MOVES = frozenset(
    "moved joined lifted system-as-user tool-as-user reordered media-beside turn-added".split()
)


def _elements_moved(notes: list[Note], at: str) -> bool:
    """Tell whether a note says that other elements of the same list went away or moved."""
    for note in notes:
        if note.effect == "moved" or note.code in _MOVES:
            return True
        head = re.match(r"(.*?/)\d+(/|$)", note.source_path or "")
        if note.effect == "lost" and head and at.startswith(head[1].rstrip("/")):
            return True
    return False


Law = Callable[[Case, Any], object]
LAWS: dict[str, Law] = {
    "Reads": Case.read,
    "GetPut": _getput,
    "PutGet": _putget,
    "Stable": _stable,
    "Pure": _pure,
    "Edited": partlaws.edited,
    "Kept": partlaws.kept,
}
STREAMED: dict[str, Law] = {"Heard": partlaws.heard}
BETWEEN: dict[str, Law] = {"Total": _total, "Placed": _placed, "Cross": _cross}


# -- trying them ----------------------------------------------------------------------------------


def cases(
    rules: RuleSet, name: str, targets: Iterable[str] | None = None
) -> Iterator[tuple[str, Law, Case]]:
    """Yield the name of each law of a dialect, the law, and where it is tried.

    `targets` are the other dialects to cross to, all where none are named.
    """
    others = rules.dialects if targets is None else tuple(targets)
    units = [unit for unit in WHOLES if unit in rules[name].model.units]
    for unit in units:
        cache: dict[int, tuple[Any, Any]] = {}
        streamed = unit == "response" and rules[name].model.stream is not None
        for law, hold in {**LAWS, **(STREAMED if streamed else {})}.items():
            yield law, hold, Case(rules, name, unit)
        for target in others:
            if target != name and unit in rules[target].model.units:
                for law, hold in BETWEEN.items():
                    yield law, hold, Case(rules, name, unit, target, cache)


class Violation(NamedTuple):
    """The first payload found for which a law does not hold, and why it does not."""

    law: str
    hold: Law
    case: Case
    payload: Any
    why: Broken


def failures(
    rules: RuleSet, names: Iterable[str], runs: int, seed: str, targets: Iterable[str] | None
) -> Iterator[tuple[str, int]]:
    """Yield what breaks a law, in words, and for how many dialects on the way to which it does so.

    A line that asks for what no other dialect says would be told of every one of them.
    """
    alike: dict[object, list[Violation]] = {}
    for one in violations(rules, names, runs, seed, targets):
        key = (one.law, one.case.dialect, one.case.unit, one.why.rule, str(one.why))
        alike.setdefault(key, []).append(one)
    for group in alike.values():
        yield _describe(group[0], len(group) - 1), len(group)


def violations(
    rules: RuleSet, names: Iterable[str], runs: int, seed: str, targets: Iterable[str] | None = None
) -> Iterator[Violation]:
    """Try the laws of some dialects on generated payloads; yield those that do not hold, once."""
    for name in names:
        payloads, model = {}, rules[name].model
        for unit in (unit for unit in WHOLES if unit in model.units):
            seeds = (f"{seed}/{name}/{unit}/{n}" for n in range(runs))
            payloads[unit] = [Generator(model.of_unit(unit), one).unit(unit) for one in seeds]
        for law, hold, case in cases(rules, name, targets):
            for nth, payload in enumerate(payloads[case.unit]):
                if (why := fault(hold, case, payload)) is not None:
                    if law == "Reads":  # what is not read breaks every other law too
                        payloads[case.unit] = payloads[case.unit][:nth]
                    yield Violation(law, hold, case, payload, why)
                    break


def fault(hold: Law, case: Case, payload: Any) -> Broken | None:
    """Return what a law has against a payload, or None."""
    try:
        hold(case, payload)
    except Broken as broken:
        return broken
    except ConversionError as error:
        return Broken(f"{error.reason}, at {error.path or 'the top'}", error.rule)
    except RecursionError:
        return None
    return None


def _describe(violation: Violation, others: int) -> str:
    """Say that a law does not hold, there and for `others`, with the smallest payload found."""
    law, hold, case, payload, why = violation

    def fails(smaller: Any) -> bool:
        found = fault(hold, case, smaller)
        if found is None:
            return False
        if law == "Reads":  # a smaller one may lack something else
            return found.rule == why.rule and _begins(found) == _begins(why)
        # What cannot even be read breaks all laws; only the first of them is meant then.
        return fault(Case.read, case, smaller) is None

    small = shrink(payload, fails)
    broken = fault(hold, case, small) or why
    where = f"{broken.rule}: " if broken.rule else ""
    name = f"{case.name} (and {others} more)" if others else case.name
    return f"{where}{name} breaks {law}: {broken}\n    for example {stringify(small)}"


def _begins(broken: Broken) -> str:
    """Return what is wrong, without the values of which it is told."""
    return str(broken).partition(",")[0]
