"""Change one leaf of the input: the output changes, or a note names the leaf.

A value that merely still stands somewhere in the output proves nothing (it may come from another
place, or be a constant); a change that is neither seen nor noted is a loss that nobody was told of.
The reverse holds for the output: every leaf of it changes under some change of the input, or

- a note with effect `added`, `changed` or `moved` names it by its target path, as it is or under
  some change of the input, or
- it is structure: null, an empty text or container (or the JSON text of one), a word that the
  target's own types leave no choice about, the labels `type`, `role`, `object`, `modality` and
  `thought`, an `index` that is its own position, or the place in a text or the number of an element
  in a citation.  Such a leaf follows from which elements there
  are, not from what any leaf of the input says; the elements themselves are held by the leaves
  inside them; or
- it equals an input leaf about which the source's types leave no choice; or
- it is a word, and goes or changes when an input element is taken out whose own label leaves no
  other choice (a tool choice that names a tool becomes the mode `ANY` and a name), or that is the
  user's own data (a schema alone asks for JSON).

Any other constant (a number, free text, a stop reason that nobody gave) is an invention unless it
is noted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from . import sdk
from .leaves import (
    OPAQUE,
    Steps,
    leaves,
    names,
    opaque_root,
    path_of,
    pointer_of,
    replaced,
    same,
    value_at,
)

Json = Any


class NoteLike(Protocol):
    """What the oracles read of a note."""

    @property
    def code(self) -> str: ...
    @property
    def effect(self) -> str: ...
    @property
    def source_path(self) -> str | None: ...
    @property
    def target_path(self) -> str | None: ...


class ConversionLike(Protocol):
    """What the oracles read of a conversion."""

    @property
    def body(self) -> Json: ...
    @property
    def notes(self) -> Sequence[NoteLike]: ...
    @property
    def envelope(self) -> object: ...


Convert = Callable[[Json], ConversionLike]


@dataclass(slots=True)
class Finding:
    """A leaf whose change was not heard, or an output leaf that nothing explains."""

    pointer: str
    old: Json
    new: Json = None

    def __str__(self) -> str:
        change = f" -> {_short(self.new)}" if self.new is not None else ""
        return f"{self.pointer}: {_short(self.old)}{change}"


@dataclass(slots=True)
class Result:
    """What came of a series of perturbations."""

    tried: int = 0
    unheard: list[Finding] = field(default_factory=list)
    unexplained: list[Finding] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Run:
    signal: Json
    notes: Sequence[NoteLike]


def perturb(
    convert: Convert,
    body: Json,
    *,
    source: str,
    target: str,
    unit: sdk.Unit,
    error: type[Exception],
    limit: int | None = None,
    seed: str = "",
    outside: Sequence[Convert] = (),
) -> Result:
    """Try changes of single leaves, at most `limit` of each direction (None: every leaf).

    `outside` convert the same body with another value of what it does not hold, as its model.
    """
    result = Result()
    probe = _Probe(convert, body, source, unit, error, seed, result)
    first = convert(body)
    base = _Run(signal(first), first.notes)
    outputs = [signal(other(body)) for other in outside]
    for steps, value in _spread(leaves(body), seed):
        if limit is not None and result.tried >= limit:
            break
        for changes in probe.alternatives(steps, value, 1):
            result.tried += 1
            run = probe.run(changes)
            if run is None:
                continue
            if not same(run.signal, base.signal):
                outputs.append(run.signal)
            elif not any(_is_named(pointer_of(s), (base.notes, run.notes)) for s in changes):
                result.unheard.append(Finding(pointer_of(steps), value, changes[steps]))
    free = [
        (steps, value)
        for steps, value in leaves(first.body)
        if not _is_structure(target, unit, first.body, steps, value)
    ]
    for steps, value in _spread(free, seed)[:limit]:
        allowed = sdk.shapes_at(target, unit, first.body, steps)
        is_word = any(shape.kind == "words" for shape in allowed) or _is_word(target, steps)
        is_word |= value == -1  # a number that means a word
        if not _is_explained(steps, value, base, outputs, probe, limit, is_word):
            result.unexplained.append(Finding(pointer_of(steps), value))
    return result


def _is_explained(
    steps: Steps,
    value: Json,
    base: _Run,
    outputs: list[Json],
    probe: _Probe,
    limit: int | None,
    is_word: bool,
) -> bool:
    pointer = pointer_of(steps)
    if _is_added(base.notes, pointer):
        return True
    if any(_differs(output, base.signal, steps) for output in outputs):
        return True
    near = _near(value, probe.body)
    for found, leaf in near if limit is None else near[:60]:
        for changes in probe.alternatives(found, leaf, 40):
            run = probe.run(changes)
            if run is not None and not same(run.signal, base.signal):
                outputs.append(run.signal)
                if _differs(run.signal, base.signal, steps):
                    return True
            if run is not None and _is_added(run.notes, pointer):
                return True  # without that leaf it is there only because a note says so
    if any(same(leaf, value) and probe.is_fixed(found, leaf) for found, leaf in near):
        return True
    for body in probe.with_elements_removed() if is_word else ():
        run = probe.run_whole(body)
        if run is not None and _differs(run.signal, base.signal, steps):
            return True
    for body in probe.with_keys_removed() if is_word or value is True else ():
        run = probe.run_whole(body)
        if run is not None and _differs(run.signal, base.signal, steps):
            return True
    return False


def _is_added(notes: Sequence[NoteLike], pointer: str) -> bool:
    return any(
        note.effect in ("added", "changed", "moved") and names(note.target_path, pointer)
        for note in notes
    )


def _differs(output: Json, base: Json, steps: Steps) -> bool:
    try:
        return not same(value_at(output["body"], steps), value_at(base["body"], steps))
    except (KeyError, IndexError, TypeError):
        return True


def _near(value: Json, body: Json) -> list[tuple[Steps, Json]]:
    """Order input leaves: equal ones, then the first of each field path, then all others."""
    seen: set[str] = set()
    ranked: list[tuple[bool, int, tuple[Steps, Json]]] = []
    for leaf in leaves(body):
        path, rank = path_of(leaf[0]), _nearness(value, leaf)
        ranked.append((rank > 0 and path in seen, rank, leaf))
        seen.add(path)
    return [leaf for _, _, leaf in sorted(ranked, key=lambda entry: entry[:2])]


def _nearness(value: Json, leaf: tuple[Steps, Json]) -> int:
    """Rank input leaves by how likely an output leaf comes from them; 0 is best."""
    _, other = leaf
    if isinstance(other, str) and isinstance(value, str):
        if other == value:
            return 0
        written = json.dumps(value, ensure_ascii=False)[1:-1]  # in the text of JSON
        if other and value and (other in value or value in other or written in other):
            return 1
        return 2 if len(other) < 24 and " " not in other else 4
    if not isinstance(value, str) and same(value, other):
        return 0
    return 1 if isinstance(other, (int, float)) and isinstance(value, (int, float)) else 3


# What a conversion says, without the ids that it made up.

_ID_KEYS = frozenset(
    ("id", "tool_call_id", "tool_use_id", "call_id", "responseId", "response_id")
)  # fmt: skip


def signal(conversion: ConversionLike) -> Json:
    """Give the output as JSON; ids that a note calls added become their ordinal.

    A made id may be a hash over the whole input: left in, every change would be heard through it.
    """
    made: dict[str, str] = {}
    for note in conversion.notes:
        if note.effect == "added" and note.target_path:
            steps = steps_of(note.target_path, conversion.body)
            value = value_at(conversion.body, steps) if steps else None
            if steps and steps[-1] in _ID_KEYS and isinstance(value, str):
                made.setdefault(value, f"<made id {len(made)}>")
    return {"body": _renamed(conversion.body, made), "envelope": _plain(conversion.envelope)}


def _renamed(value: Json, made: Mapping[str, str]) -> Json:
    if not made:
        return value
    if isinstance(value, dict):
        return {key: _renamed(inner, made) for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, made) for inner in value]
    return made.get(value, value) if isinstance(value, str) else value


def _plain(envelope: object) -> Json:
    if envelope is None:
        return None
    return {name: repr(getattr(envelope, name, None)) for name in _ENVELOPE}


_ENVELOPE = ("model", "stream", "method", "path", "headers")


def steps_of(pointer: str, body: Json) -> Steps | None:
    """Read a pointer against a body; None where it points at nothing."""
    steps: list[str | int] = []
    for raw in pointer.split("/")[1:]:
        key = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(body, list) and key.isdigit() and int(key) < len(body):
            steps.append(int(key))
        elif isinstance(body, dict) and key in body:
            steps.append(key)
        else:
            return None
        body = body[steps[-1]]
    return tuple(steps)


def _is_named(pointer: str, runs: Iterable[Sequence[NoteLike]]) -> bool:
    return any(
        note.effect != "added" and names(note.source_path, pointer) for run in runs for note in run
    )


def _is_structure(target: str, unit: sdk.Unit, body: Json, steps: Steps, value: Json) -> bool:
    if value is None or value in ({}, [], "", "{}", "[]"):
        return True
    if value == 0 and steps[-1] == "tokenCount":  # nothing said is zero in the JSON of protocols
        return True
    if steps and steps[-1] in ("type", "role", "object", "modality", "thought"):
        return True
    if steps[-1] in _PLACES or "groundingChunkIndices" in steps or _cited(steps):
        return isinstance(value, int)
    if steps[-1] == "index":
        position = next((s for s in reversed(steps[:-1]) if isinstance(s, int)), None)
        return bool(value == position)
    allowed = sdk.shapes_at(target, unit, body, steps)
    return bool(allowed) and all(s.kind == "words" and len(s.words) == 1 for s in allowed)


# Places in a text follow from the texts that there are, and numbers of elements from the elements:
# tests/test_citations.py holds that they name the same piece of text and the same source.
_PLACES = frozenset(("start_index", "end_index", "startIndex", "endIndex", "partIndex"))


def _cited(steps: Steps) -> bool:
    return "citations" in steps and steps[-1] in ("start", "end", "content_index")


# Which leaves are tried.


def _spread(found: Iterable[tuple[Steps, Json]], seed: str) -> list[tuple[Steps, Json]]:
    """Order leaves, always in the same way: one of each field path before a second of any."""
    by_path: dict[str, int] = {}
    ranked: list[tuple[int, int, tuple[Steps, Json]]] = []
    for steps, value in sorted(found, key=lambda leaf: hashed(seed, pointer_of(leaf[0]))):
        path = path_of(steps)
        by_path[path] = by_path.get(path, 0) + 1
        ranked.append((by_path[path], len(ranked), (steps, value)))
    ranked.sort(key=lambda entry: entry[:2])
    return [leaf for _, _, leaf in ranked]


def hashed(*texts: str) -> int:
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(joined, digest_size=8).digest(), "big")


# Which values a leaf may change to.


class Probe:
    """Make legal changes of one body."""

    def __init__(self, source: str, unit: sdk.Unit, body: Json, seed: str) -> None:
        self.source, self.unit, self.body, self.seed = source, unit, body, seed
        self._groups: dict[tuple[str, Json], list[Steps]] = {}
        for steps, value in leaves(body):
            kind = reference(steps)
            if kind and isinstance(value, str):
                self._groups.setdefault((kind, value), []).append(steps)
        self._known: frozenset[str] | None = None

    def is_fixed(self, steps: Steps, value: Json) -> bool:
        """Say whether the source's types leave no choice about a word."""
        allowed = sdk.shapes_at(self.source, self.unit, self.body, steps)
        worded = bool(allowed) and all(shape.kind == "words" for shape in allowed)
        return worded and not list(self._values(steps, value))

    def with_elements_removed(self) -> Iterator[Json]:
        """Give the body without one element each time: one whose label admits no other, or data."""
        opaque = OPAQUE.get((self.source, self.unit), frozenset())
        for root in dict.fromkeys(opaque_root(opaque, steps) for steps, _ in leaves(self.body)):
            if root and self._allows(body := _removed(self.body, root)):
                yield body
        for steps, value in leaves(self.body):
            if len(steps) > 1 and steps[-1] == "type" and not list(self._values(steps, value)):
                body = _removed(self.body, steps[:-1])
                if self._allows(body):
                    yield body

    def with_keys_removed(self, most: int = 400) -> Iterator[Json]:
        """Give the body without one key each time: that it is there may be what says something."""
        paths = (steps[:n] for steps, _ in leaves(self.body) for n in range(1, len(steps) + 1))
        for steps in islice(dict.fromkeys(p for p in paths if isinstance(p[-1], str)), most):
            if self._allows(body := _removed(self.body, steps)):
                yield body

    def alternatives(self, steps: Steps, value: Json, most: int) -> Iterator[dict[Steps, Json]]:
        """Give up to `most` legal changes of one leaf; equal ids change together."""
        kind = reference(steps)
        group = self._groups.get((kind, value), [steps]) if kind else [steps]
        for new in islice(self._values(steps, value), most):
            yield dict.fromkeys(group, new)

    def _values(self, steps: Steps, value: Json) -> Iterator[Json]:
        key = steps[-1] if steps else ""
        if value in ({}, []):
            if value == {} and path_of(steps) in OPAQUE.get((self.source, self.unit), frozenset()):
                if not self._is_in_schema(steps):
                    yield {"wireglot": "x"}
            return
        if key == "index":
            return  # a position is not free
        allowed = sdk.shapes_at(self.source, self.unit, self.body, steps)
        kinds = {shape.kind for shape in allowed}
        if value is None:
            yield from self._typed(steps)
        elif isinstance(value, bool):
            yield not value
        elif "words" in kinds and not kinds & {"text", "any"}:
            yield from self._words(steps, value, self._vocabulary(steps))
        elif _is_word(self.source, steps):
            yield from self._words(steps, value, _WORDS[self.source, path_of(steps)])
        elif isinstance(value, (int, float)):
            yield from _numbers(value)
        elif self._is_in_schema(steps) and key == "type":
            yield from _rotated(_SCHEMA_TYPES, value, self._salt(steps))
        elif isinstance(value, str):
            yield from _other_texts(str(key), value, self._salt(steps))

    def _vocabulary(self, steps: Steps) -> list[Json]:
        allowed = sdk.shapes_at(self.source, self.unit, self.body, steps, other=True)
        return list(dict.fromkeys(word for shape in allowed for word in shape.words))

    def _typed(self, steps: Steps) -> Iterator[Json]:
        """Fill a null in, where the SDK's type says with what."""
        allowed = sdk.shapes_at(self.source, self.unit, self.body, steps, other=True)
        for shape in allowed:
            if shape.kind == "words":
                yield from self._words(steps, None, self._vocabulary(steps))
            elif shape.kind == "text":
                yield "wireglot"
            elif shape.kind in ("integer", "number"):
                yield 1
            elif shape.kind == "boolean":
                yield True

    def _words(self, steps: Steps, value: Json, words: Sequence[Json]) -> Iterator[Json]:
        """Give the other words that the SDK admits here without further changes."""
        for word in islice(_rotated(words, value, self._salt(steps)), 40):
            if isinstance(word, str) and word.upper().endswith("UNSPECIFIED"):
                continue
            if self._is_legal(steps, value, word):
                yield word

    def _is_legal(self, steps: Steps, value: Json, word: Json) -> bool:
        """Ask the SDK; bodies whose keys around the word are the same share the answer."""
        around = value_at(self.body, steps[:-1])
        keys = frozenset(around) if isinstance(around, dict) else None
        question = (self.source, self.unit, path_of(steps), value, word, keys)
        if question not in _LEGAL:
            _LEGAL[question] = self._allows(replaced(self.body, {steps: word}))
        return _LEGAL[question]

    def _allows(self, body: Json) -> bool:
        if self._known is None:
            self._known = frozenset(sdk.problems(self.source, self.unit, self.body))
        return self._known.issuperset(sdk.problems(self.source, self.unit, body))

    def _is_in_schema(self, steps: Steps) -> bool:
        root = opaque_root(OPAQUE.get((self.source, self.unit), frozenset()), steps)
        name = str(root[-1]).lower() if root else ""
        return "schema" in name or name in ("parameters", "response")

    def _salt(self, steps: Steps) -> int:
        return hashed(self.seed, pointer_of(steps))


class _Probe(Probe):
    """Make legal changes of one body and convert the results."""

    def __init__(
        self,
        convert: Convert,
        body: Json,
        source: str,
        unit: sdk.Unit,
        error: type[Exception],
        seed: str,
        result: Result,
    ) -> None:
        super().__init__(source, unit, body, seed)
        self.convert, self.error, self.result = convert, error, result
        self._runs: dict[str, _Run | None] = {}

    def run(self, changes: Mapping[Steps, Json]) -> _Run | None:
        """Convert the changed body; None where the engine refuses it, which is hearing it."""
        key = repr(sorted((pointer_of(steps), repr(value)) for steps, value in changes.items()))
        if key not in self._runs:
            where = ", ".join(pointer_of(steps) for steps in changes)
            self._runs[key] = self.run_whole(replaced(self.body, changes), f"changed {where}")
        return self._runs[key]

    def run_whole(self, body: Json, what: str = "removed an element") -> _Run | None:
        """Convert another body; None where the engine refuses it."""
        try:
            conversion = self.convert(body)
            return _Run(signal(conversion), conversion.notes)
        except self.error:
            return None
        except Exception as crash:
            self.result.crashes.append(f"{type(crash).__name__}: {crash} ({what})")
            return None


_LEGAL: dict[tuple[object, ...], bool] = {}
_SCHEMA_TYPES = ("string", "number", "integer", "boolean")
# Words that the SDK types as free text, though the API knows only these.
_WORDS: dict[tuple[str, str], Sequence[str]] = {
    ("gemini", "contents[].role"): ("user", "model"),
    ("gemini", "candidates[].content.role"): ("model",),
    ("gemini", "systemInstruction.role"): ("system", "user"),
    ("gemini", "generationConfig.responseMimeType"): (
        "application/json",
        "text/plain",
        "text/x.enum",
    ),
    ("ollama", "messages[].role"): ("user", "assistant", "system", "tool"),
    ("ollama", "message.role"): ("assistant",),
    ("ollama", "done_reason"): ("stop", "length"),
    ("cohere", "finish_reason"): ("COMPLETE", "STOP_SEQUENCE", "MAX_TOKENS", "TOOL_CALL", "ERROR"),
    ("ollama", "think"): ("low", "medium", "high", "max"),
}
_WORDS |= {("vertex", path): words for (name, path), words in _WORDS.items() if name == "gemini"}


def _is_word(source: str, steps: Steps) -> bool:
    return (source, path_of(steps)) in _WORDS


def reference(steps: Steps) -> str | None:
    """Say which leaves mean the same thing when they hold the same text."""
    if not steps:
        return None
    if steps[-1] in _ID_KEYS:
        return "id"
    if steps[-1] == "name" and len(steps) > 1 and steps[-2] in ("functionCall", "functionResponse"):
        return "name"
    return None


def _removed(body: Json, steps: Steps) -> Json:
    if len(steps) > 1:
        inner = _removed(value_at(body, steps[:1]), steps[1:])
        return replaced(body, {steps[:1]: inner})
    copy: Json = dict(body) if isinstance(body, dict) else list(body)
    del copy[steps[0]]
    return copy


def _rotated(words: Sequence[Json], value: Json, salt: int) -> Iterator[Json]:
    """Give the other words, beginning anywhere; nothing where the value is none of the words."""
    upper = value.upper() if isinstance(value, str) else value
    known = [word.upper() if isinstance(word, str) else word for word in words]
    if value is not None and upper not in known:
        return
    others = [word for word, up in zip(words, known, strict=True) if up != upper]
    start = salt % len(others) if others else 0
    yield from others[start:] + others[:start]


def _numbers(value: float) -> Iterator[float]:
    if isinstance(value, int):
        yield 1024 if value == -1 else value + 1
    elif 0 <= value <= 1:
        yield 0.25 if value != 0.25 else 0.375
    else:
        yield value + 1 if value < 1e15 else value / 2


_MEDIA_TYPES: Mapping[str, tuple[str, ...]] = {
    "image": ("image/png", "image/jpeg", "image/webp"),
    "audio": ("audio/wav", "audio/mp3"),
    "video": ("video/mp4", "video/webm"),
    "text": ("text/plain", "text/html"),
    "application": ("application/pdf", "application/json"),
}
_BASE64_KEYS = frozenset(
    (
        "data", "thoughtSignature", "thought_signature", "signature", "file_data", "imageBytes",
        "encrypted_content",
    )
)  # fmt: skip


def _other_texts(key: str, value: str, salt: int) -> Iterator[str]:
    """Give other texts of the same sort: data stays data; each leaf of JSON in it may change."""
    if value.startswith("data:") and "," in value:
        head, _, data = value.partition(",")
        yield f"{head},{_other_data(data)}"
        kind, semicolon, rest = head[len("data:") :].partition(";")
        yield f"data:{_other_text('mimeType', kind)}{semicolon}{rest},{data}"
        return
    if value[:1] in ("{", "["):
        try:
            data = json.loads(value)
        except ValueError:
            pass
        else:
            yield from _other_json(data, value, salt)
            return
    yield _other_text(key, value)


def _other_text(key: str, value: str) -> str:
    if key in ("mimeType", "mime_type", "media_type", "responseMimeType"):
        family = _MEDIA_TYPES.get(value.partition("/")[0], ("text/plain",))
        return next((other for other in family if other != value), "text/plain")
    if key == "$schema":
        draft = "https://json-schema.org/draft/2020-12/schema"
        return draft if value != draft else "http://json-schema.org/draft-07/schema#"
    if key in _BASE64_KEYS:
        return _other_data(value)
    if re.match(r"\d{4}-\d\d-\d\dT", value):
        return f"{value[:3]}{(int(value[3]) + 1) % 10}{value[4:]}"
    if re.fullmatch(r"\d+(\.\d+)?s", value):
        return f"1{value}"
    return f"{value}x"


def _other_data(value: str) -> str:
    if not value:
        return "QUJD"
    return ("B" if value[0] == "A" else "A") + value[1:]


def _other_json(data: Json, text: str, salt: int) -> Iterator[str]:
    spaces = (", ", ": ") if '": ' in text else (",", ":")
    inner = [(steps, value) for steps, value in leaves(data) if value not in (None, {}, [])]
    start = salt % len(inner) if inner else 0
    for steps, value in inner[start:] + inner[:start]:
        if isinstance(value, bool):
            new: Json = not value
        elif isinstance(value, (int, float)):
            new = next(_numbers(value))
        else:
            new = f"{value}x"
        other = replaced(data, {steps: new})
        yield json.dumps(other, ensure_ascii=False, separators=spaces)
    if not inner:
        grown = {**data, "probe": 1} if isinstance(data, dict) else [*data, 1]
        yield json.dumps(grown, ensure_ascii=False, separators=spaces)


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 50 else f"{text[:47]}..."
