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
from typing import Any

from ..errors import ConversionError
from ..ir import WHOLES
from ..language.lenses import same, stringify
from ..language.picture import ABSENT, Hole, holes
from ..notes import Note
from ..rulesets import RuleSet
from ..trace.where import picture_at
from ..trail import pointer, touch
from . import editlaws, streamlaw
from .generate import Generator
from .jsondiff import Difference, differences, standing
from .lawcase import Broken, Case, abroad, alike, alone, longer, one_text, results_apart, same_json
from .shrink import shrink

RUNS = 10
# Of calls and results: they follow from others.
DERIVED = (("name",), ("arguments_json",), ("value_json",))


# -- the laws -------------------------------------------------------------------------------------


def _getput(case: Case, wire: Any) -> None:
    home = case.write(case.read(wire))[0]
    alike("at home it comes back otherwise,", wire, home, case.rule_at)


def _plainly(ir: Any) -> Any:
    """Return an IR value in which a result of one plain text is a text: what was beside it went."""
    for message in ir.get("messages", ()) if isinstance(ir, dict) else ():
        for part in message.get("parts", ()):
            blocks = part.get("value") if part.get("kind") == "multimodal" else None
            if isinstance(blocks, list) and [b.keys() for b in blocks] == [{"type", "text"}]:
                part.update(kind="text", value=blocks[0]["text"])
    return ir


def _putget(case: Case, wire: Any) -> None:
    ir = _plainly(abroad(case.read(wire)))
    out = case.rules[case.dialect].write(ir, case.unit)
    if out.notes:
        return
    found = abroad(case.read(out.body))
    for field in ("model", "stream") if out.envelope and isinstance(found, dict) else ():
        value = getattr(out.envelope, field)
        if value is not None and field in ir:
            found.setdefault(field, value)
    apart = differences(_seamless(ir), _seamless(found))
    # What a shape below `own` remembers is no value either.
    apart = [d for d in apart if d.at[-1:] not in DERIVED and "spelled" not in d.at]
    # An empty list and none say the same, and so does what holds nothing else.
    apart = [d for d in apart if not (_hollow(d.meant) and _hollow(d.found))]
    if apart:
        raise Broken(f"what was written reads otherwise, at {apart[0]} of the IR")


def _seamless(ir: Any, role: str = "tool") -> Any:
    """Return an IR value with neighbouring messages of a role as one, and no empty ones."""
    if not isinstance(ir, dict) or not isinstance(ir.get("messages"), list):
        return ir
    messages: list[Any] = []
    for message in ir["messages"]:
        if not message["parts"]:
            continue
        if message.get("time") in [part.get("time", ABSENT) for part in message["parts"]]:
            # The line of a part that has a time has it, too.
            message = {key: value for key, value in message.items() if key != "time"}
        last = messages[-1] if messages else {}
        alike = message["role"] == last.get("role") and message.get("level") == last.get("level")
        if alike and message["role"] == role:
            messages[-1] = {**messages[-1], "parts": messages[-1]["parts"] + message["parts"]}
        else:
            messages.append(message)
    return {**ir, "messages": messages}


def _hollow(value: Any) -> bool:
    if isinstance(value, dict) and value:
        return all(map(_hollow, value.values()))
    return value is ABSENT or value == []


def _stable(case: Case, wire: Any) -> None:
    ir = case.read(wire)
    written, notes = case.write(_plainly(abroad(ir)))
    if any(note.code in ("empty-message", "blocks-beside", "unpaired") for note in notes):
        return  # neighbours of what went meet, and may join the next time
    read = case.read(written)
    if _unknown(read) < _unknown(ir):
        return  # beside others that it met, an element has a picture that it had not alone
    again, more = case.write(abroad(read))
    if any(note.code == "unpaired" for note in more):
        return  # results of calls that stand in a text there, of which they are no parts
    alike("what was written is written otherwise the next time,", written, again, case.rule_at)


def _unknown(ir: Any) -> int:
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
    alike("written twice it differs,", first[0], second[0], case.rule_at)


def _total(case: Case, wire: Any) -> None:
    case.convert(wire, case.dialect, case.target)


def _placed(case: Case, wire: Any) -> None:
    made, notes, _ = case.convert(wire, case.dialect, case.target)
    for note in notes:
        for path, body in ((note.source_path, wire), (note.target_path, made)):
            if path is not None and standing(body, path) is ABSENT:
                raise Broken(f"`{note.code}` points to {path}, and nothing is there", note.rule)


def _cross(case: Case, wire: Any) -> None:
    here, there = case.dialect, case.target
    ir, normal = case.once(wire, lambda: _normal(case, wire))
    middle, one, around = case.convert(normal, here, there)
    # What the other dialect keeps outside the body comes back from there.
    outside = (around.model, around.stream if "stream" in ir else None) if around else (None, None)
    if case.unit == "request" and outside[0] is None and _lost(case, one):
        outside = (ir["model"], outside[1])  # or no request could come back
    back, two, _ = case.convert(middle, there, here, *outside)
    named = [_named(n, n.source_path) for n in one] + [_named(n, n.target_path) for n in two]
    # What was filled in there is there when it is read: what a message says may come of it.
    added = [n.target_path or "" for n in one if n.code == "filled-in"]
    named += [m[0] for path in added if (m := re.match(r".*/\d+(?=/)", path))]
    # So is what was added because something else was said, or is no longer.
    named += [n.target_path for n in one if n.effect == "added" and n.source_path]
    # An element there, its words, or those beside them that are read as one, as a thought is.
    elements = sum(
        bool(re.fullmatch(r".*/\d+(/(\w+_)?(text|content|thinking))?", p)) for p in added
    )
    unsaid = case.unsaid(ir)
    if any(note.code == "freeform-wrapped" for note in one):  # the choice follows its tool
        named.append("/tool_choice")
    meant = _normal(case, wire, unsaid)[1] if unsaid else normal
    for apart in differences(meant, back):
        at = pointer(apart.at)
        if any(p is not None and touch(p, at) for p in named) or _shifted(one + two, at):
            continue
        if same_json(apart) or alone(apart) or longer(apart, elements):
            continue
        within = case.rules[here].model.within
        if within and one_text(apart, within):  # a thought heads any text there
            continue
        # What came in addition is a literal of the other dialect's rules, or was noted there.
        if apart.meant is ABSENT or _has_no_place(case, apart):
            continue
        # What home filled in it need not, where it comes back with what was filled in there.
        if added and apart.found is ABSENT and at in _filled(case, ir):
            continue
        if not _lost_there(case, normal, at, two):
            told = f"it comes back otherwise and no note says so, at {apart}"
            raise Broken(told, case.rule_at(apart.at))


def _filled(case: Case, ir: Any) -> set[str | None]:
    """Return what home fills in by itself."""
    return {note.target_path for note in case.write(ir)[1] if note.code == "filled-in"}


def _lost_there(case: Case, wire: Any, at: str, notes: Iterable[Note]) -> bool:
    """Tell whether the way back notes as lost what a leaf became in the other dialect."""
    here, there = case.dialect, case.target
    trace = case.rules.convert(wire, here, there, case.unit, model="m", trace=True).trace
    places = {note.source_path for note in notes if note.effect == "lost"}
    fates = trace.of_source(at).values() if trace else ()
    return any(not places.isdisjoint(fate.targets) for fate in fates)


def _lost(case: Case, notes: Iterable[Note]) -> bool:
    """Tell whether a note says that the other dialect has no place for the model."""
    keys = case.rules[case.dialect].keys_of_model("request") or ()
    places = {f"/{key}" for key in keys}
    return any(note.effect == "lost" and note.source_path in places for note in notes)


def _normal(case: Case, wire: Any, unsaid: Iterable[str] = ()) -> tuple[Any, Any]:
    """Return what a payload says, but for some fields, and how this dialect writes it."""
    ir = results_apart(abroad(case.read(wire)))
    ir = {key: v for key, v in ir.items() if key not in unsaid}
    for owner, _, field in (path.partition(".") for path in unsaid):
        if field and isinstance(ir.get(owner), dict):
            ir[owner].pop(field, None)
    if case.unit == "request":
        ir.setdefault("model", "m")
    normal, notes = case.write(ir)
    if any(note.code == "blocks-beside" for note in notes):  # what stays may be one plain text
        normal = case.write(abroad(case.read(normal)))[0]
    roles = [message["role"] for message in ir.get("messages", ())]
    if ("system", "system") in pairwise(roles):  # apart they are one text, wherever they stood
        normal = case.write(_seamless(abroad(case.read(normal)), "system"))[0]
    return ir, normal


def _named(note: Note, path: str | None) -> str | None:
    """Return what a note speaks of: of a change, the element or object around the leaf."""
    if path is None or note.effect != "changed":
        return path
    element = re.match(r".*/\d+(?=/|$)", path)
    return element[0] if element else path.rpartition("/")[0]


def _has_no_place(case: Case, apart: Difference) -> bool:
    """Tell whether a value may come back elsewhere: as another term of a sum, or in a map."""
    own, model = (case.rules[name].model for name in (case.dialect, case.target))
    every = [c for shape in (*model.shapes.values(), *model.units.values()) for c in shape.cases]
    sums = {path for c in every for h in holes(c.wire) if len(h.paths) > 1 for path in h.paths}
    at = apart.at
    for end in range(len(at) + 1):
        p = picture_at(own, case.unit, at[:end])
        if end == len(at) and isinstance(apart.meant, dict) and not any(apart.meant.values()):
            # An object of zeros, which add nothing to a sum.
            inner = [picture_at(own, case.unit, (*at, key)) for key in apart.meant]
            if all(isinstance(one, Hole) and sums & {*one.paths} for one in inner):
                return True
        if isinstance(p, Hole) and (p.mode == "entries" or (end == len(at) and sums & {*p.paths})):
            return True
    return False


# Notes after which elements stand elsewhere, so that pointers of the two sides do not meet (what is
# added to a schema may take it out of the case that it was read by, and put it under another key).
_MOVES = frozenset(
    "moved joined lifted system-as-user tool-as-user reordered empty-message blocks-beside"
    " media-beside schema-added turn-added".split()
)


def _shifted(notes: list[Note], at: str) -> bool:
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
    "Edited": editlaws.edited,
    "Kept": editlaws.kept,
}
STREAMED: dict[str, Law] = {"Heard": streamlaw.heard}
BETWEEN: dict[str, Law] = {"Total": _total, "Placed": _placed, "Cross": _cross}


# -- trying them ----------------------------------------------------------------------------------


def cases(
    rules: RuleSet, name: str, targets: Iterable[str] | None = None
) -> Iterator[tuple[str, Law, Case]]:
    """Yield every law of a dialect with the place where it is tried.

    `targets` are the other dialects to cross to, all where none are named.
    """
    others = rules.dialects if targets is None else tuple(targets)
    units = [unit for unit in WHOLES if unit in rules[name].model.units]
    for unit in units:
        known: dict[int, tuple[Any, Any]] = {}
        streamed = unit == "response" and rules[name].model.stream is not None
        for law, hold in {**LAWS, **(STREAMED if streamed else {})}.items():
            yield law, hold, Case(rules, name, unit)
        for target in others:
            if target != name and unit in rules[target].model.units:
                for law, hold in BETWEEN.items():
                    yield law, hold, Case(rules, name, unit, target, known)


def told(
    rules: RuleSet, names: Iterable[str], runs: int, seed: str, targets: Iterable[str] | None
) -> Iterator[tuple[str, int]]:
    """Yield what breaks a law, once for all dialects that it does so on the way to; and how many.

    A line that asks for what no other dialect says would be told of every one of them.
    """
    found: dict[object, list[tuple[str, Law, Case, Any]]] = {}
    for law, hold, case, payload in broken(rules, names, runs, seed, targets):
        why = fault(hold, case, payload)
        key = (law, case.dialect, case.unit, why and why.rule, str(why))
        found.setdefault(key, []).append((law, hold, case, payload))
    for group in found.values():
        yield _smallest(*group[0], len(group) - 1), len(group)


def broken(
    rules: RuleSet, names: Iterable[str], runs: int, seed: str, targets: Iterable[str] | None = None
) -> Iterator[tuple[str, Law, Case, Any]]:
    """Yield each law that does not hold, with the first payload that shows it."""
    for name in names:
        made, model = {}, rules[name].model
        for unit in (unit for unit in WHOLES if unit in model.units):
            seeds = (f"{seed}/{name}/{unit}/{n}" for n in range(runs))
            made[unit] = [Generator(model.of_unit(unit), one).unit(unit) for one in seeds]
        for law, hold, case in cases(rules, name, targets):
            for nth, payload in enumerate(made[case.unit]):
                if fault(hold, case, payload) is not None:
                    if law == "Reads":  # what is not read breaks every other law too
                        made[case.unit] = made[case.unit][:nth]
                    yield law, hold, case, payload
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


def _smallest(law: str, hold: Law, case: Case, payload: Any, others: int) -> str:
    """Tell of a payload for which a law does not hold, as small as it could be made."""
    small = shrink(payload, lambda smaller: _fails_alike(law, hold, case, smaller))
    broken = fault(hold, case, small) or Broken("it does not hold")
    where = f"{broken.rule}: " if broken.rule else ""
    name = f"{case.name} (and {others} more)" if others else case.name
    return f"{where}{name} breaks {law}: {broken}\n    for example {stringify(small)}"


def _fails_alike(law: str, hold: Law, case: Case, payload: Any) -> bool:
    # What cannot even be read breaks all laws; only the first of them is meant then.
    if law != "Reads" and fault(Case.read, case, payload) is not None:
        return False
    return fault(hold, case, payload) is not None
