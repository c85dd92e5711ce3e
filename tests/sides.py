"""Two engines side by side: what each makes of one thing, and what differs between the two."""

from __future__ import annotations

import fnmatch
import importlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

Json = Any
EXPLAINED = Path(__file__).with_name("against.txt")
Seen = dict[str, Json]  # what can be seen of a call, by aspect: `body`, `notes`, `error`, ...

RULE = re.compile(r"[\w./-]+\.yaml(?::\d+:\d+)?")
NUMBER = re.compile(r"\d+")
MOST = 20  # differences that are told of one thing


class Side(NamedTuple):
    """An engine, and a rule set that it loaded."""

    engine: Any
    rules: Any

    def module(self, name: str) -> Any:
        """Return a module of this engine, as `authoring.trial`."""
        return importlib.import_module(f"{self.engine.__name__}.{name}")

    def convert(self, body: Json, source: str, target: str, unit: str, **more: Any) -> Seen:
        """Convert a payload."""
        return attempt(lambda: conversion(self.rules.convert(body, source, target, unit, **more)))


class Case(NamedTuple):
    """One thing that both engines do: where it belongs, its name, and the call."""

    section: str
    where: str
    name: str
    run: Callable[[Side], Seen]


class Difference(NamedTuple):
    """What differs in one thing: `what` is the same for all of one cause."""

    section: str
    where: str
    what: str
    name: str
    example: str


def attempt(call: Callable[[], Seen]) -> Seen:
    """Return what a call gives, or its error."""
    try:
        return call()
    except Exception as error:
        return {"error": told(error)}


def told(error: Exception) -> list[Any]:
    """Return what an error says, without the place in the rules."""
    kind = type(error).__name__
    if hasattr(error, "conversion") and hasattr(error, "note"):
        return [kind, error.note.code, error.note.source_path]
    if hasattr(error, "reason") and hasattr(error, "path"):
        return [kind, error.reason, error.path]
    if hasattr(error, "reason"):
        return [kind, getattr(error, "rule", ""), error.reason]
    return [kind, str(error)]


def conversion(out: Any) -> Seen:
    """Return what can be seen of a conversion."""
    envelope = None if out.envelope is None else out.envelope._asdict()
    found = {"body": out.body, "notes": noted(out.notes), "envelope": envelope}
    if out.trace is not None:
        found["trace"] = json.loads(RULE.sub("RULE", json.dumps(out.trace.as_json())))
    return found


def noted(notes: Any) -> list[Any]:
    """Return notes without the places of their rules, and without what losses weigh.

    How much a loss weighs, and whose a field is called, was decided later than that engine.
    """
    found = []
    for n in notes:
        lost = n.effect in ("lost", "repeated")
        told = "" if n.code == "own-field" else RULE.sub("RULE", n.message)
        effect, severity = ("lost", "") if lost else (n.effect, n.severity)
        found.append([n.code, effect, severity, n.source_path, n.target_path, told])
    return found


def plain(value: Json) -> str:
    """Return JSON as a text that tells 1, 1.0 and true apart, and the order of keys."""
    return json.dumps(value, ensure_ascii=True)


def under(name: str, seen: Seen) -> Seen:
    """Return what was seen of one step of several."""
    return {f"{name} {aspect}": value for aspect, value in seen.items()}


def differences(case: Case, old: Seen, new: Seen) -> Iterator[Difference]:
    """Yield what differs, each with what is the same for all of its cause."""
    if plain(old) == plain(new):
        return
    for aspect in {**old, **new}:
        if (aspect in old) != (aspect in new):
            if aspect.endswith("error") or not any("error" in seen for seen in (old, new)):
                said = f"{aspect}: {_brief(old.get(aspect))} became {_brief(new.get(aspect))}"
                yield _made(case, said, said)
        elif aspect == "findings":
            before, after = (Counter(map(tuple, seen[aspect])) for seen in (old, new))
            for way, found in (("gone", before - after), ("new", after - before)):
                for one in found:
                    said = f"finding {way}: {' '.join(map(str, one))}"
                    yield _made(case, said, "")
        elif aspect.endswith("notes"):
            yield from _notes(case, aspect, old[aspect], new[aspect])
        else:
            yield from _values(case, aspect, old[aspect], new[aspect])


def _values(case: Case, aspect: str, old: Json, new: Json) -> Iterator[Difference]:
    if plain(old) == plain(new):
        return
    ordered = True
    for nth, (path, before, after) in enumerate(apart(old, new)):
        if path.endswith(ORDER):
            ordered = False
        elif nth < MOST:
            place = NUMBER.sub("#", path)
            said = f"{aspect} {place}: {_brief(before)} became {_brief(after)}"
            yield _made(case, said, f"{path}: {before!r:.200} became {after!r:.200}")
    if not ordered:
        yield _made(case, f"{aspect}: order of keys", "")


def _made(case: Case, what: str, example: str) -> Difference:
    return Difference(case.section, case.where, what, case.name, example)


def _notes(case: Case, aspect: str, old: list[Any], new: list[Any]) -> Iterator[Difference]:
    one, two = ([plain(note) for note in notes] for notes in (old, new))
    if one == two:
        return
    before, after = Counter(one), Counter(two)
    if before == after:
        yield _made(case, f"{aspect}: order of notes", "")
        return
    for way, found in (("gone", before - after), ("new", after - before)):
        for text in found:
            code, effect, _, source, target, message = json.loads(text)
            at = NUMBER.sub("#", f"{source or ''} -> {target or ''}")
            said = f"{aspect}, {way}: {code} {effect} {at}: {_shortened(message)}"
            yield _made(case, said, text[:300])


class _Gone:
    def __repr__(self) -> str:
        return "nothing"


GONE = _Gone()
ORDER = " (order of keys)"


def apart(old: Json, new: Json, path: str = "") -> Iterator[tuple[str, Json, Json]]:
    """Yield the places where two values of JSON differ, with both values."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        shared = [key for key in old if key in new]
        if shared != [key for key in new if key in old]:
            yield f"{path}{ORDER}", list(old), list(new)
        for key in {**old, **new}:
            yield from apart(old.get(key, GONE), new.get(key, GONE), f"{path}/{key}")
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple):
        if len(old) != len(new):
            yield f"{path} (length)", len(old), len(new)
        for nth, (one, two) in enumerate(zip(old, new, strict=False)):
            yield from apart(one, two, f"{path}/{nth}")
    elif old is GONE or new is GONE or plain(old) != plain(new):
        yield path, old, new


def _brief(value: Any) -> str:
    """Return a value as a text that is the same for all that are alike."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_brief, value[:4])) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(map(str, value)) + "}"
    return _shortened(str(value))


def _shortened(text: str) -> str:
    return NUMBER.sub("#", text)[:120]


# -- what is explained ----------------------------------------------------------------------------


@dataclass(slots=True)
class Line:
    """One line of the file that explains: `section | where | what | reason`."""

    section: str
    where: str
    what: str
    reason: str
    number: int
    used: int = 0

    def covers(self, one: Difference) -> bool:
        """Say whether this line explains a difference."""
        return (
            fnmatch.fnmatchcase(one.section, self.section)
            and fnmatch.fnmatchcase(one.where, self.where)
            and fnmatch.fnmatchcase(one.what, self.what)
        )


def explained(text: str) -> list[Line]:
    """Read the file that explains differences."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 4 or not all(parts):
            form = "`section | where | what | reason`"
            raise ValueError(f"{EXPLAINED.name}:{number}: a line is {form}")
        section, where, what, reason = parts
        found.append(Line(section, where, what, reason, number))
    return found
