"""Steps: what one speaker says in several messages is one wire message, with a mark before each."""

from __future__ import annotations

from typing import Any

from ..language.picture import Literal
from ..language.shape import Case
from ..trail import At
from .jobs import Message, ReadJob, WriteJob
from .views import View, Written, recalled

Mark = dict[str, Literal]


def split_at_marks(reader: ReadJob, messages: list[Message], at: At) -> list[Message]:
    """Part what one wire message holds before each mark; a mark with more in it stays a part."""
    out: list[Message] = []
    for message in messages:
        mark = reader.dialect.talk.steps.get(message["role"])
        out.append(message)
        if mark is None:
            continue
        parts, message["parts"] = message["parts"], []
        bare = True
        for part in parts:
            if not _is_mark(reader.dialect.name, mark, part):
                message["parts"].append(part)
                continue
            if message["parts"] or not bare:
                if bare:
                    reader.remember(message, "", "unmarked", True)
                message = {"role": message["role"], "parts": []}
                reader.trail.put(message, None, at)
                out.append(message)
            bare = False
            if part["value"].keys() != mark.keys():
                message["parts"].append(part)
            elif reader.recorder is not None:
                for key, word in mark.items():
                    place = reader.trail.find(part) or at
                    reader.mark_redundant((*place, key), "it begins a step", word.pos)
        if bare:
            reader.remember(message, "", "unmarked", True)
    return out


def _is_mark(dialect: str, mark: Mark, part: Any) -> bool:
    """Tell whether a part is a mark: an element that has no picture, and holds these words."""
    if part.get("type") != "unknown" or part.get("dialect") != dialect:
        return False
    value = part.get("value")
    return isinstance(value, dict) and all(
        value.get(key) == word.values[0] for key, word in mark.items()
    )


def with_marks(writer: WriteJob, run: list[tuple[Case, Message]]) -> list[Any]:
    """Return the parts of the messages of a run, the mark of its role before each."""
    out: list[Any] = []
    for case, message in run:
        parts: list[Any] = message.get("parts", [])
        mark = writer.dialect.talk.steps.get(str(message.get("role")))
        if mark is None and len(run) == 1:
            return parts
        if mark is not None and not _needs_no_mark(writer, message, mark):
            value = {key: word.values[0] for key, word in mark.items()}
            for key, word in mark.items() if writer.recorder is not None else ():
                assert writer.recorder is not None
                made = Written(word, View(message, "message", case, writer), (key,))
                writer.recorder.wrote(value, key, value[key], made)
            out.append({"type": "unknown", "dialect": writer.dialect.name, "value": value})
        out += parts
    return out


def _needs_no_mark(writer: WriteJob, message: Message, mark: Mark) -> bool:
    """Tell whether a message has no mark, or one of its own."""
    parts = message.get("parts")
    if not writer.same:
        return not parts
    unmarked = recalled(writer, message).get("unmarked")
    return bool(unmarked or (parts and _is_mark(writer.dialect.name, mark, parts[0])))
