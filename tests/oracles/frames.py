"""Change one leaf of one frame of a stream: what is written changes, or a note names the leaf.

What is written is judged by what its frames fold to. What several frames say (an id, a head, counts
that grow) is changed in all of them: which of them counts is a matter of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import wireglot

from .leaves import Steps, leaves, names, path_of, pointer_of, replaced, same, value_at
from .perturb import Finding, Probe, Result, hashed, reference, signal

Json = Any
Changes = dict[int, dict[Steps, Json]]  # of each frame
# What every frame may say again, or later ones more exactly; `message` holds it in the first.
AGAIN: Mapping[str, str] = {
    "openai-chat": r"id|object|created|model|system_fingerprint|service_tier|usage\b.*",
    "mistral": r"id|object|created|model|usage\b.*",
    "cohere": r"id",
    "anthropic": r"usage\b.*",
    "gemini": r"modelVersion|responseId|createTime|usageMetadata\b.*",
    "vertex": r"modelVersion|responseId|createTime|usageMetadata\b.*",
    "gemini-interactions": r"interaction\.(id|model|object)|metadata\b.*",
    "ollama": r"model|created_at",
}


@dataclass(slots=True)
class _Run:
    """What came of a stream: what it folds to, at home and as it is written, and the notes."""

    home: Json
    written: Json
    notes: tuple[Any, ...]


def perturb(
    rules: Any, frames: list[Json], source: str, target: str, limit: int | None, seed: str
) -> Result:
    """Try changes of single leaves, at most `limit` (None: every leaf)."""
    result = Result()
    base = _run(rules, frames, source, target)
    for nth, steps, value in _spread(frames, seed):
        if limit is not None and result.tried >= limit:
            break
        for changes in _changes(frames, source, nth, steps, value, seed):
            result.tried += 1
            other = [replaced(f, changes[i]) if i in changes else f for i, f in enumerate(frames)]
            try:
                run = _run(rules, other, source, target)
            except wireglot.ConversionError:
                continue  # it was refused, which is hearing it
            except Exception as crash:
                result.crashes.append(f"{type(crash).__name__}: {crash} ({path_of(steps)})")
                continue
            if not _heard(base, run, steps):
                new = changes[nth][steps]
                result.unheard.append(Finding(f"{path_of(steps)} of frame {nth}", value, new))
    return result


def _run(rules: Any, frames: list[Json], source: str, target: str) -> _Run:
    translator = rules.translator(source=source, target=target)
    out = [new for frame in frames for new in translator.feed(frame)] + translator.finish()
    written = out if translator.error is not None else rules.collect(out, target)
    notes = translator.notes
    told = SimpleNamespace(body=written, notes=notes, envelope=None)
    return _Run(rules.collect(frames, source), signal(told)["body"], notes)


def _heard(base: _Run, run: _Run, steps: Steps) -> bool:
    if not same(base.written, run.written):
        return True
    if _told(base.notes) != _told(run.notes):
        return True
    leaf = _plain(pointer_of(("0", *steps)))
    there = list(_differing(base.home, run.home))
    for note in (*base.notes, *run.notes):
        if note.effect == "added" or not note.source_path:
            continue
        if names(_plain(note.source_path), leaf):
            return True
        if any(names(note.source_path, pointer) for pointer in there):
            return True
    return False


def _told(notes: tuple[Any, ...]) -> set[tuple[str, str, str]]:
    return {(note.code, _plain(note.source_path or ""), note.message) for note in notes}


def _plain(pointer: str) -> str:
    """Write a pointer without positions: a key of frames is noted once."""
    return re.sub(r"/\d+(?=/|$)", "/0", pointer)


def _differing(one: Json, two: Json) -> Iterator[str]:
    """Yield the leaves of two bodies that are not the same in both."""
    first, second = dict(leaves(one)), dict(leaves(two))
    for steps in {**first, **second}:
        if steps not in first or steps not in second or not same(first[steps], second[steps]):
            yield pointer_of(steps)


def _spread(frames: list[Json], seed: str) -> list[tuple[int, Steps, Json]]:
    """Order the leaves of all frames: one of each field path before a second of any."""
    found = [
        (nth, steps, value) for nth, frame in enumerate(frames) for steps, value in _leaves(frame)
    ]
    found.sort(key=lambda leaf: hashed(seed, f"{leaf[0]}{pointer_of(leaf[1])}"))
    seen: dict[str, int] = {}
    ranked: list[tuple[int, int, tuple[int, Steps, Json]]] = []
    for leaf in found:
        path = path_of(leaf[1])
        seen[path] = seen.get(path, 0) + 1
        ranked.append((seen[path], len(ranked), leaf))
    ranked.sort(key=lambda entry: entry[:2])
    return [leaf for _, _, leaf in ranked]


def _leaves(frame: Json) -> list[tuple[Steps, Json]]:
    return list(leaves(frame)) if isinstance(frame, dict) else []


def _changes(
    frames: list[Json], source: str, nth: int, steps: Steps, value: Json, seed: str
) -> Iterator[Changes]:
    """Give a legal change of a leaf, with all leaves that say the same thing."""
    probe = Probe(source, "frame", frames[nth], seed)
    # What a frame would only say again is no news, nor what a later one says as a change.
    short = _short(steps)
    places = {short, ("message", *short), ("delta", *short)}
    said = [there for frame in frames for place, there in _leaves(frame) if place in places]
    for changes in probe.alternatives(steps, value, 4):
        new = changes[steps]
        if any(same(new, there) for there in said):
            continue
        made: Changes = {nth: changes}
        for other, place in _again(frames, source, steps, value):
            made.setdefault(other, {})[place] = new
        yield made
        return


def _short(steps: Steps) -> Steps:
    """Return where later frames say what the first one has in its `message`."""
    return steps[1:] if steps[0] == "message" else steps


def _again(
    frames: list[Json], source: str, steps: Steps, value: Json
) -> Iterator[tuple[int, Steps]]:
    """Yield where else the same thing is said: the same id or name, and what frames repeat."""
    kind = reference(steps)
    short = _short(steps)
    repeats = re.fullmatch(AGAIN.get(source, ""), path_of(short)) is not None
    for nth, frame in enumerate(frames if kind or repeats else ()):
        for place, there in _leaves(frame) if kind else ():
            if there == value and reference(place) == kind:
                yield nth, place
        for place in (short, ("message", *short)) if repeats else ():
            try:
                value_at(frame, place)
            except (KeyError, IndexError, TypeError):
                continue
            yield nth, place
