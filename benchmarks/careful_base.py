"""Hold what the careful converters share: notes with paths, checks of types, limits."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Container, Iterable
from typing import Any, NamedTuple

Json = dict[str, Any]
Loads = Callable[[str], Any]
Dumps = Callable[[Any], str]
Trail = tuple[Any, ...]  # keys as text, elements of lists as the objects themselves
Odd = tuple[str, str, Trail | str | None, Trail | str | None]  # text: a path that was at hand


class Note(NamedTuple):
    """One thing that could not be carried exactly."""

    code: str
    effect: str
    source_path: str | None
    target_path: str | None


class Refused(ValueError):
    """Raised for a body that cannot be converted; `path` points to what is wrong."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{reason}, at {path or 'the top'}")
        self.path = path


DATA_STARTS = frozenset("{[ \t\n\r")  # what JSON text of an object or array can begin with
Result = tuple[Json, tuple[Note, ...]]


class Envelope(NamedTuple):
    """What stands outside the body of a request."""

    model: str | None
    stream: bool | None
    method: str
    path: str
    headers: dict[str, str]


class Converted(NamedTuple):
    """A request as the target takes it."""

    body: Json
    notes: tuple[Note, ...]
    envelope: Envelope


MISFIT = (KeyError, TypeError, AttributeError, ValueError, RecursionError)


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> Json:
    # A key that stands twice would lose its first value without a word.
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


loads_json: Loads = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_once).decode
dumps_json: Dumps = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False
).encode


# Paths, notes and numbers: none of this runs for a payload without oddities.


def _pointer(root: Any, trail: Trail | str, indices: dict[int, dict[int, int]]) -> str:
    if trail.__class__ is str:
        return str(trail)
    node, path = root, ""
    for step in trail:
        if step.__class__ is str:
            path += "/" + step.replace("~", "~0").replace("/", "~1")
            node = node[step] if node.__class__ is dict and step in node else None
            continue
        known = indices.get(id(node))
        if known is None:
            known = indices[id(node)] = {id(item): i for i, item in enumerate(node or ())}
        path += f"/{known.get(id(step), 0)}"
        node = step
    return path


def make_notes(odd: list[Odd], source: Json, target: Json) -> tuple[Note, ...]:
    here: dict[int, dict[int, int]] = {}
    there: dict[int, dict[int, int]] = {}
    notes = []
    for code, effect, origin, goal in odd:
        origin_path = None if origin is None else _pointer(source, origin, here)
        goal_path = None if goal is None else _pointer(target, goal, there)
        notes.append(Note(code, effect, origin_path, goal_path))
    return tuple(notes)


def as_refused(body: Any, trail: Trail, problem: BaseException) -> Refused:
    if isinstance(problem, Refused):
        return problem
    reason = f"missing {problem}" if isinstance(problem, KeyError) else str(problem)
    path = _pointer(body, trail, {}) if isinstance(body, dict) else ""
    return Refused(path, reason or "this does not fit")


def note_unknown(odd: list[Odd], node: Json, known: Iterable[str], *trail: Any) -> None:
    for key, value in node.items():
        if key not in known and value is not None:
            odd.append(("unknown-key", "lost", (*trail, key), None))


def wrong(expected: str, value: Any) -> TypeError:
    return TypeError(f"expected {expected}, got {type(value).__name__}")


def whole_numbers(value: Any) -> Any:
    if value.__class__ is float:
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    if value.__class__ is dict:
        return {key: whole_numbers(item) for key, item in value.items()}
    if value.__class__ is list:
        return [whole_numbers(item) for item in value]
    return value


_WHOLE = re.compile(r"(\d)\.0(?![0-9])").sub


def tidy(text: str, value: Any, dumps: Dumps) -> str:
    """Write whole floats as JSON.stringify does: 1, not 1.0."""
    if "\\" in text or "e+" in text or "-0.0" in text:
        return dumps(whole_numbers(value))
    pieces = text.split('"')  # every other piece stands outside of texts
    pieces[::2] = [_WHOLE(r"\1", piece) if ".0" in piece else piece for piece in pieces[::2]]
    return '"'.join(pieces)


def json_text(value: Any, dumps: Dumps) -> str:
    text = dumps(value)
    return tidy(text, value, dumps) if ".0" in text or "e+" in text else text


def is_data(text: str, loads: Loads) -> bool:
    """Tell whether result text is the JSON of an object or array."""
    try:
        return loads(text).__class__ in (dict, list)
    except (ValueError, RecursionError):
        return False


def as_number(value: Any) -> Any:
    if value.__class__ is not int and value.__class__ is not float:
        raise wrong("a number", value)
    return value


def as_integer(value: Any) -> Any:
    if value.__class__ is not int:
        raise wrong("an integer", value)
    return value


def as_string(value: Any) -> Any:
    if value.__class__ is not str or not (value.isascii() or value.encode()):
        raise wrong("a text", value)
    return value


def as_boolean(value: Any) -> Any:
    if value.__class__ is not bool:
        raise wrong("true or false", value)
    return value


def as_object(value: Any) -> Any:
    if value.__class__ is not dict:
        raise wrong("an object", value)
    return value


def as_strings(value: Any) -> Any:
    if value.__class__ is not list or any(item.__class__ is not str for item in value):
        raise wrong("a list of texts", value)
    return value


def sound(value: Json, depth: int = 0) -> None:
    """Refuse what is no JSON inside an object that is carried as it is."""
    if depth > 50:
        raise RecursionError("nested too deep")
    if not all(map(str.isascii, value)):
        for key in value:
            key.encode()
    _sound_items(value.values(), depth)


def _sound_items(items: Iterable[Any], depth: int) -> None:
    for item in items:
        kind = item.__class__
        if kind is str:
            if not item.isascii():
                item.encode()
        elif kind is dict:
            sound(item, depth + 1)
        elif kind is list:
            if depth > 50:
                raise RecursionError("nested too deep")
            _sound_items(item, depth + 1)
        elif kind is float:
            if item - item != 0:
                raise ValueError("no number of JSON")
        elif kind is not int and kind is not bool and item is not None:
            raise wrong("JSON", item)


# Limits of names and ids.

PLAIN_128 = re.compile(r"[a-zA-Z0-9_-]{1,128}").fullmatch
PLAIN_64 = re.compile(r"[a-zA-Z0-9_-]{1,64}").fullmatch
DOTTED_128 = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}").fullmatch
_ALL_PLAIN_64 = re.compile(r"(?:[a-zA-Z0-9_-]{1,64}\n)*").fullmatch
_BAD = re.compile(r"[^a-zA-Z0-9_-]")
Fits = Callable[[str], Any]


def fitted(text: str, fits: Fits, most: int, taken: Container[str] = ()) -> str:
    """Return the name itself where it fits, else one that does and that nobody has."""
    if fits(text):
        return text
    if text.__class__ is not str:
        raise wrong("a text", text)
    made = _BAD.sub("_", text)[:most]
    if fits(made) and made not in taken:
        return made
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    stem = made[: most - 10]
    return f"{stem}_{mark}" if fits(f"{stem}_{mark}") else f"t{stem}_{mark}"


def _rename_ids(odd: list[Odd], ids: list[str], body: Json, out: Json) -> None:
    taken = {identity for identity in ids if PLAIN_64(identity)}
    renamed: dict[str, str] = {}
    where: Trail
    for old in ids:
        if old not in taken and old not in renamed:
            renamed[old] = fitted(old, PLAIN_64, 64, taken | set(renamed.values()))
    for message in out["messages"]:
        for block in message["content"] if message["content"].__class__ is list else ():
            key = {"tool_use": "id", "tool_result": "tool_use_id"}.get(block["type"])
            if key is not None:
                block[key] = renamed.get(block[key], block[key])
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            if call["id"] in renamed:
                where = ("messages", message, "tool_calls", call, "id")
                odd.append(("renamed", "changed", where, None))
        if message.get("tool_call_id") in renamed:
            where = ("messages", message, "tool_call_id")
            odd.append(("renamed", "changed", where, None))


def check_ids(odd: list[Odd], ids: list[str], body: Json, out: Json) -> None:
    text = "\n".join(ids) + "\n"
    if not _ALL_PLAIN_64(text) or text.count("\n") != len(ids):
        _rename_ids(odd, ids, body, out)


def as_blocks(texts: list[str]) -> list[Json]:
    return [{"type": "text", "text": text} for text in texts]


def note_unanswered(odd: list[Odd], waiting: dict[str, Any], message: Json | None) -> None:
    trail = ("messages",) if message is None else ("messages", message)
    odd.append(("unpaired", "kept", trail, None))
    waiting.clear()


def bare(blocks: list[Json]) -> Any:
    if len(blocks) == 1 and blocks[0]["type"] == "text" and len(blocks[0]) == 2:
        return blocks[0]["text"]
    return blocks
