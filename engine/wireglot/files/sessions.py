"""Sessions: a whole document read into the IR and written from it.

A file of lines is folded into one object, which the `session` picture reads: the first line, and
the messages under the key of `$messages`. What is no message is kept by its number, and goes back
before the message that it stood before.
"""

from __future__ import annotations

from typing import Any

from ..interpreter import units
from ..interpreter.copies import with_parts
from ..interpreter.jobs import ReadJob, WriteJob
from ..language.documents import Document, Tree
from ..language.lenses import Misfit, same
from ..language.measure import worded
from ..language.model import Case, Shape
from ..language.picture import ABSENT, Fields, Hole
from ..notes import LEFT_OUT
from ..trail import At, keys_of
from . import replay, tree

PLAIN = Document(("json",), None, None, None)
TAKEN_BACK = "a later line takes this message back"


class File:
    """What reading a file found besides its messages."""

    def __init__(self, cases: list[Case]) -> None:
        self.cases = cases  # the pictures of messages
        self.places: list[At] | None = None  # of the messages; None where they have no lines
        self.numbers: list[int] = []
        self.kept: dict[int, tuple[At, Any]] = {}  # what is no message

    def place(self, at: At, i: int) -> At:
        """Return where a message stands in the file."""
        return self.places[i] if self.places is not None else (*at, i)

    def number(self, i: int) -> int:
        """Return the number that tells what stands before a message, and what behind it."""
        return self.numbers[i] if self.numbers else i

    def keep(self, reader: ReadJob, i: int, place: At, item: Any, misfit: Misfit) -> None:
        """Keep what is no message; one that looks like a message is noted."""
        self.kept[self.number(i)] = (place, item)
        if self.like(item):
            reader.notes.append(("unfit", "kept", place, misfit.pos, misfit.reason))

    def like(self, item: Any) -> bool:
        """Tell whether all fixed words of a message stand in a line."""
        return any(_like(case, item) for case in self.cases)

    def remember(self, reader: ReadJob, i: int, message: dict[str, Any]) -> None:
        """Let a message remember its number, where something was kept right before it."""
        if self.number(i) - 1 in self.kept:
            memory = reader.memory(message)
            memory[""] = {**memory.get("", {}), "line": self.number(i)}


def _like(case: Case, item: Any) -> bool:
    found = False
    for path, words in case.sides[1].items():
        if not isinstance(words, tuple) or ABSENT in words:
            continue
        value, found = item, True
        for key in keys_of(path):
            value = value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
        if not any(value is not ABSENT and same(word, value) for word in words):
            return False
    return found


def key_of(shape: Shape) -> str:
    """Return the key under which a session holds its messages."""
    for case in shape.cases:
        for names, child in case.wire.entries if isinstance(case.wire, Fields) else ():
            if isinstance(child, Hole) and child.path == "messages":
                return names[0]
    return ""


# -- reading --------------------------------------------------------------------------------------


def read(reader: ReadJob, shape: Shape, body: Any) -> dict[str, Any]:
    """Read a whole document."""
    document, key = reader.dialect.document or PLAIN, key_of(shape)
    talk = reader.dialect.conversation
    file = File([case for group in talk.groups for case in group.cases] if talk else [])
    reader.file = file
    memory: dict[str, Any] = {}
    at: At = ()
    if not isinstance(body, list):
        whole, form = body, "json"
    elif "lines" in document.texts:
        whole, form, at = _folded(reader, document, shape, body, memory), "lines", (0,)
    else:
        whole, form = {key: body}, "json"
        memory["headless"] = True
    if form != document.texts[0]:
        memory["form"] = form
    ir: dict[str, Any] = units.whole(reader, shape, whole, at)
    if memory:
        own = reader.memory(ir)
        own[""] = {**own.get("", {}), **memory}
    for number, (place, item) in sorted(file.kept.items()):
        ir.setdefault("kept", {}).setdefault(reader.dialect.name, {})[f"../{number}"] = item
        reader.trail.put(ir, f"../{number}", place)
    return ir


def _folded(
    reader: ReadJob, document: Document, shape: Shape, lines: list[Any], memory: dict[str, Any]
) -> dict[str, Any]:
    """Make one object of lines."""
    key, file = key_of(shape), reader.file
    if document.log is not None:
        done = replay.Replay(document.log, lines, key)
        file.places, memory["log"] = done.places, lines
        reader.notes += [("no-message", "lost", at, None, TAKEN_BACK) for at in done.gone]
        return {**done.head, key: done.messages}
    start = 1 if lines and _is_head(file, shape, lines[0]) else 0
    head = dict(lines[0]) if start else _fixed(shape)
    if not start:
        memory["headless"] = True
    path = set(range(start, len(lines)))
    if document.tree is not None:
        found = tree.path(document.tree, lines[start:])
        if found is None:
            memory["linear"] = True
        else:
            path = {start + i for i in found}
            root = lines[start + found[0]][document.tree.parent]
            memory.update({"root": root} if root is not None else {})
            off = [n for n in range(start, len(lines)) if n not in path]
            if reader.recorder is not None:
                for n in path:
                    at = (n, document.tree.parent)
                    reader.recorder.hush(at, "it repeats another value", None)
            memory.update({"off": off} if off else {})
    for n in range(start, len(lines)):
        if n not in path or not isinstance(lines[n], dict):
            file.kept[n] = ((n,), lines[n])
    file.numbers = [n for n in sorted(path) if n not in file.kept]
    file.places = [(n,) for n in file.numbers]
    linked = document.tree if "linear" not in memory else None
    return {**head, key: [_unlinked(linked, lines[n]) for n in file.numbers]}


def _is_head(file: File, shape: Shape, line: Any) -> bool:
    """Tell whether a line is the head: it fits the session, and is no message."""
    case = shape.cases[0]
    named = isinstance(case.wire, Fields) and len(case.wire.entries) > 1
    return named and isinstance(line, dict) and worded(case, line) and not file.like(line)


def _fixed(shape: Shape) -> dict[str, Any]:
    """Return the fixed words of a head that is not there."""
    return {
        path[1:]: words[0]
        for path, words in shape.cases[0].sides[1].items()
        if isinstance(words, tuple) and path.count("/") == 1 and words[0] is not ABSENT
    }


def _unlinked(links: Tree | None, line: dict[str, Any]) -> dict[str, Any]:
    return line if links is None else {k: v for k, v in line.items() if k != links.parent}


# -- writing --------------------------------------------------------------------------------------


def write(writer: WriteJob, shape: Shape, ir: dict[str, Any]) -> Any:
    """Write a whole document: a list of lines, or one value."""
    document, key = writer.dialect.document or PLAIN, key_of(shape)
    name = writer.dialect.name
    memory = ir.get("spelled", {}).get(name, {}).get("", {}) if writer.same else {}
    kept = ir.get("kept", {}).get(name, {}) if writer.same else {}
    asides = {int(k[3:]): v for k, v in kept.items() if k.startswith("../") and k[3:].isdecimal()}
    wire = units.stepped(writer, shape, cut(writer, ir))
    off = set(memory.get("off", ()))
    rows = _rows(writer, wire.get(key, []), asides, off)
    lines = [line for line, _ in rows]
    if memory.get("form", document.texts[0]) == "json":
        wire[key] = lines
        return lines if memory.get("headless") else wire
    wire.pop(key, None)
    _told_apart(writer, document, lines)
    if document.log is not None:
        return replay.lines(document.log, wire, lines, memory.get("log", []), key)
    if document.tree is not None and not memory.get("linear"):
        on_path = [line for line, on in rows if on and isinstance(line, dict)]
        tree.linked(document.tree, on_path, memory.get("root"))
    bare = memory.get("headless") and same(wire, _fixed(shape))
    named = isinstance(shape.cases[0].wire, Fields) and len(shape.cases[0].wire.entries) > 1
    return lines if bare or not named else [wire, *lines]


def _rows(
    writer: WriteJob, wires: list[Any], asides: dict[int, Any], off: set[int]
) -> list[tuple[Any, bool]]:
    """Put what was kept back between the messages; say of each line whether it is on the path."""
    rows: list[tuple[Any, bool]] = []
    waiting = sorted(asides)

    def put_back(number: int | None) -> None:
        while waiting and (number is None or waiting[0] < number):
            item = asides[waiting[0]]
            rows.append((dict(item) if isinstance(item, dict) else item, waiting.pop(0) not in off))

    for wire in wires:
        number = writer.lines.get(id(wire))
        if number is not None:
            put_back(number)
        rows.append((wire, True))
    put_back(None)
    return rows


def _told_apart(writer: WriteJob, document: Document, lines: list[Any]) -> None:
    """Give each line of a log or a tree an id of its own; a line would replace another one."""
    name = document.log.by if document.log else document.tree.id if document.tree else ""
    taken: set[str] = set()
    for line in lines if name and not writer.same else ():
        said = line.get(name)
        if not isinstance(said, str):
            continue
        number = 2
        while line[name] in taken:
            line[name] = f"{said}_{number}"
            number += 1
        taken.add(line[name])
        if line[name] != said:
            told = f"another line has the id `{said}`"
            writer.note("renamed", "changed", None, None, told, line, name)


def cut(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Cut messages into as many as the dialect has of them, where one holds one part."""
    talk, messages = writer.dialect.conversation, ir.get("messages")
    if talk is None or not isinstance(messages, list):
        return ir
    cases = [case for group in talk.groups for case in group.cases]
    alone = {talk.role(case) for case in cases if _holds_one(case)}
    others = {case.name for case in cases if not _holds_one(case)}
    out: list[Any] = []
    for message in messages if alone else ():
        parts = message.get("parts", ())
        memory = message.get("spelled", {}).get(writer.dialect.name, {}) if writer.same else {}
        as_read = memory.get("", {}).get("case") in others
        if message.get("role") not in alone or as_read:
            out.append(message)
            continue
        if not parts:
            at = writer.trail.find(message)
            writer.note("empty-message", "lost", at, talk.pos, LEFT_OUT)
            continue
        for i, part in enumerate(parts):
            said = message if not i else {k: message[k] for k in ("role", "time") if k in message}
            if "time" not in said and "time" in part and not writer.same:
                said = {**said, "time": part["time"]}
            out.append(said if len(parts) == 1 else with_parts(writer, said, [part]))
    if not alone:
        return ir
    whole = {**ir, "messages": out}
    writer.trail.copy(ir, whole)
    return whole


def _holds_one(case: Case) -> bool:
    return any("single" in hole.lenses for hole in case.lists.get("parts", ()))
