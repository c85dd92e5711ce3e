"""What two rule sets do otherwise with the same payload: in words for pairs, or value by value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..errors import ConversionError
from ..ir import WHOLES
from ..language import variants
from ..language.picture import ABSENT
from ..language.source import LADDER
from ..notes import Note
from ..results import Conversion
from ..rulesets import RuleSet
from ..trace import paths
from ..traces import OUTSIDE, Fate, Trace
from ..trail import path_of, place_of, pointer, touch
from . import payloads
from .jsondiff import differences, shown, written
from .rulediff import Change, sentence

FEW = 3
VALUES = "now: `"
Ends = tuple[str, str]  # the source and the target
STILL = 0.0  # the clock of sessions stands


class PairChange(NamedTuple):
    """What pairs of dialects do otherwise with a field of a unit."""

    pairs: tuple[tuple[str, str], ...]
    unit: str
    paths: tuple[str, ...]
    said: str
    noted: bool  # bodies are as they were: only what is told of them is otherwise

    def __str__(self) -> str:
        sources, targets = (tuple(dict.fromkeys(names)) for names in zip(*self.pairs, strict=True))
        ends = f"{', '.join(sources)} -> {', '.join(targets)}"
        return f"{ends} {self.unit}: {sentence(self.paths, self.said)}"


Outcome = Conversion | ConversionError  # what a rule set makes of a payload, or why that is nothing


def pairs(old: RuleSet, new: RuleSet, found: Sequence[Change]) -> list[PairChange]:
    """List what becomes otherwise between dialects, where the changes that were found reach."""
    changes: dict[tuple[str, str, str], dict[Ends, bool]] = {}
    names = [name for name in old.dialects if name in new]
    for unit in WHOLES:
        touched = {one.of for one in found if not one.units or unit in one.units}
        within = [n for n in names if all(unit in rules[n].model.units for rules in (old, new))]
        for source in within:
            bodies: list[Any] | None = None
            for target in within:
                if target == source or touched.isdisjoint((source, target, LADDER)):
                    continue
                if bodies is None:
                    bodies = payloads.of((old[source], new[source]), unit)
                models = _models(old, new, source, target)
                for path, text, noted in _pair(old, new, (source, target), unit, bodies, models):
                    ends = changes.setdefault((unit, path, text), {})
                    ends[source, target] = noted and ends.get((source, target), True)
    return list(_grouped(changes))


def _grouped(found: dict[tuple[str, str, str], dict[Ends, bool]]) -> Iterator[PairChange]:
    """Put together what is said of several fields, and of pairs with one end in common."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for (unit, path, text), pairs in found.items():
        sides = [len({pair[end] for pair in pairs}) for end in (0, 1)]
        common = 0 if sides[0] <= sides[1] else 1
        by: dict[str, list[tuple[str, str]]] = {}
        for pair in pairs:
            by.setdefault(pair[common], []).append(pair)
        for some in by.values():
            noted = all(pairs[pair] for pair in some)
            groups.setdefault((unit, text, tuple(some), noted), []).append(path)
    for (unit, text, some, noted), named in groups.items():
        yield PairChange(some, unit, tuple(named), text, noted)


def _models(old: RuleSet, new: RuleSet, *names: str) -> list[str]:
    """Return the model's names to try: any, and those for which variants differ."""
    found = ["m"]
    for name in names:
        one, two = (
            {label.models: label.over.plain() for label in rules.rows(name)} for rules in (old, new)
        )
        if one != two:
            found += variants.sample_models(old.rows(name), new.rows(name))
    return list(dict.fromkeys(found))


def _pair(
    old: RuleSet,
    new: RuleSet,
    ends: Ends,
    unit: str,
    payloads: Iterable[Any],
    models: Sequence[str],
) -> Iterator[PathChange]:
    """Yield what one pair does otherwise with a field; of many values for one, the first few."""
    pictured = set.union(*(paths.pictured(rules[ends[0]].model, unit) for rules in (old, new)))
    seen: Counter[PathChange] = Counter()
    for payload in payloads:
        for model in models:
            asked = (payload, ends, unit, model)
            if same_result(convert_or_error(old, *asked), convert_or_error(new, *asked)):
                continue
            before, after = (convert_or_error(rules, *asked, trace=True) for rules in (old, new))
            texts = dict.fromkeys(_path_changes(payload, before, after, pictured))
            for path, text, noted in texts or {("", "has its notes at other places", True): None}:
                one_of_many = VALUES in text
                key = (path, "" if one_of_many else text, noted)
                seen[key] += 1
                if seen[key] <= (FEW if one_of_many else 1):
                    yield path, text, noted
                elif one_of_many and seen[key] == FEW + 1:
                    yield path, "is otherwise for further values, too", noted


def convert_or_error(
    rules: RuleSet,
    payload: Any,
    ends: Ends,
    unit: str,
    model: str | None = None,
    trace: bool = False,
) -> Outcome:
    """Convert a payload; what it refuses is a result, too."""
    try:
        return rules.convert(payload, *ends, unit, model, clock=lambda: STILL, trace=trace)
    except ConversionError as error:
        return error


def same_result(one: Outcome, two: Outcome) -> bool:
    """Tell whether two results and their notes are the same, wherever the rules stand."""
    if isinstance(one, ConversionError) or isinstance(two, ConversionError):
        why = [out.reason if isinstance(out, ConversionError) else None for out in (one, two)]
        return why[0] == why[1]
    return not any(notes_apart(one, two)) and not result_differences(one, two)


def notes_apart(before: Conversion, after: Conversion) -> tuple[tuple[Note, ...], tuple[Note, ...]]:
    """Return the notes that are gone, and those that came; their rules move with every line."""
    one, two = ([note._replace(rule=None) for note in out.notes] for out in (before, after))
    gone = tuple(note for note, said in zip(before.notes, one, strict=True) if said not in two)
    come = tuple(note for note, said in zip(after.notes, two, strict=True) if said not in one)
    return gone, come


# -- in words, for all payloads of a kind ---------------------------------------------------------


PathChange = tuple[str, str, bool]  # a path, what is said of it, whether results are unchanged
Changes = Iterator[PathChange]


def _path_changes(payload: Any, before: Outcome, after: Outcome, pictured: set[str]) -> Changes:
    """Yield each path of a payload, and what becomes of it that was not so before."""

    def path(at: str) -> str:
        return paths.general(place_of(payload, at), pictured)

    if isinstance(before, ConversionError):
        still = isinstance(after, ConversionError)
        error = after if isinstance(after, ConversionError) else before
        word = "is refused for another reason now" if still else "is no longer refused"
        yield path(error.path), f"{word} ({error.reason})", still
        return
    if isinstance(after, ConversionError):
        yield path(after.path), f"is refused now ({after.reason})", False
        return
    unchanged = not result_differences(before, after)
    explained: set[str] = set()
    sources: set[str] = set()
    for at in dict.fromkeys((*_trace(before).fates, *_trace(after).fates)):
        was, now = (_trace(out).fates.get(at) for out in (before, after))
        if text := _fate(before, after, was, now):
            explained |= {target for fate in (was, now) if fate for target in fate.targets}
            sources.add(at)
            yield path(at), text, unchanged
    yield from _unexplained(before, after, explained)
    for word, notes in zip(("no longer", "now"), notes_apart(before, after), strict=True):
        for note in notes:
            place = note.source_path
            if place is None:
                out = after if word == "now" else before
                yield f"-> `{_end(out, note.target_path or '')}`", _note_words(note, word), True
            elif not any(touch(place, source) for source in sources):
                yield path(place), _note_words(note, word), True


def _note_words(note: Note, word: str) -> str:
    if word == "now":
        return f"is noted `{note.code}` now: {note.message}"
    return f"is no longer noted `{note.code}`"


def _trace(out: Conversion) -> Trace:
    assert out.trace is not None
    return out.trace


def _fate(before: Conversion, after: Conversion, was: Fate | None, now: Fate | None) -> str:
    """Say what is different about the fate of a leaf, or nothing."""
    old, new = (_fate_words(fate) for fate in (was, now))
    if old != new:
        to = f" to {_ends(after, now)}" if now and now.targets and now.kind == "carried" else ""
        return f"is {new}{to} now, was {old}"
    if was is None or now is None or now.kind == "decided":
        return ""
    ends = [_ends(out, fate) for out, fate in ((before, was), (after, now))]
    if ends[0] != ends[1]:
        return f"goes to {ends[1]} now, went to {ends[0]}"
    for target in now.targets:
        if target in was.targets:
            values = [written(out, target) for out in (before, after)]
            if values[0] != values[1]:
                return f"is in `{_end(after, target)}` {VALUES}{values[1]}`, was `{values[0]}`"
    return ""


def _fate_words(fate: Fate | None) -> str:
    if fate is None:
        return "not told of"
    return fate.kind + (f" ({fate.code})" if fate.code else "")


def _ends(out: Conversion, fate: Fate) -> str:
    found = sorted({_end(out, target) for target in fate.targets})
    return " and ".join(f"`{end}`" for end in found) or "nothing"


def _end(out: Conversion, target: str) -> str:
    if target.startswith(OUTSIDE):
        return target
    return path_of(place_of(out.body, target)).removesuffix("[]")


def _unexplained(before: Conversion, after: Conversion, explained: set[str]) -> Changes:
    """Yield what stands otherwise in the results and comes from no leaf that was told of."""
    for apart in result_differences(before, after):
        at = apart.at
        if any(touch(one, at) for one in explained):
            continue
        outside = at.startswith(OUTSIDE)
        path = at if outside else path_of(place_of(after.body, at))
        origin = _trace(after).origins.get(at)
        way = f" ({origin.steps[0].way})" if origin and origin.steps and not origin.sources else ""
        yield f"-> `{path}`", _written(apart.old, apart.new) + way, False


def _written(old: Any, new: Any) -> str:
    if isinstance(old, list) and isinstance(new, list):
        return f"has another number of elements: {len(new)}, and had {len(old)}"
    if old is ABSENT:
        return f"is written {VALUES}{shown(new)}`"
    if new is ABSENT:
        return "is no longer written"
    return f"is written {VALUES}{shown(new)}`, was `{shown(old)}`"


class ResultDifference(NamedTuple):
    """A place of two results where they part (ABSENT where nothing stands)."""

    at: str
    old: Any
    new: Any


def result_differences(before: Conversion, after: Conversion) -> list[ResultDifference]:
    """List where two results part: in their bodies, and outside of them."""
    found = [ResultDifference(pointer(d.at), *d[1:]) for d in differences(before.body, after.body)]
    old, new = (out.envelope._asdict() if out.envelope else None for out in (before, after))
    found += [ResultDifference(OUTSIDE + pointer(d.at), *d[1:]) for d in differences(old, new)]
    return found
