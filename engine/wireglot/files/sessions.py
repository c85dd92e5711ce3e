"""Sessions: a whole document read into the IR and written from it.

A file of lines is folded into one object, which the `session` picture reads: the first line, and
the messages under the key of `$messages`. What is no message is kept by its number, and goes back
before the message that it stood before.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

from ..interpreter import units
from ..interpreter.jobs import ReadJob, WriteJob
from ..interpreter.views import View, recalled
from ..ir import less, owned
from ..language import drawn
from ..language.documents import Document, Tree
from ..language.lenses import same
from ..language.measure import has_fixed_words
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole, holes, keyed
from ..language.shape import Case, Shape
from ..notes import NO_MESSAGE
from ..trail import At, value_at
from . import history, ids, pieces, replay, tree
from .file import File, barred, between, told_of

PLAIN = Document(("json",), None, None, None)
TAKEN_BACK = "a later line takes this message back"
NO_LINE = "each line says this in the target, and none is there"
ANEW = "a later line says it anew, or takes it back"


def key_of(shape: Shape) -> str:
    """Return the key under which a session holds its messages."""
    pairs = [pair for case in shape.cases for pair in keyed(case.wire)]
    keys = [names[0] for names, p in pairs if isinstance(p, Hole) and p.path == "messages"]
    return keys[0] if keys else ""


# -- reading --------------------------------------------------------------------------------------


def read(reader: ReadJob, shape: Shape, body: Any) -> dict[str, Any]:
    """Read a whole document."""
    document, key = reader.dialect.document or PLAIN, key_of(shape)
    memory: dict[str, Any] = {}
    if (bare := _alone(reader, document, shape, body)) is not None:
        reader, memory["alone"] = reader.of(bare), True
    reader.file = file = File(reader.dialect)
    at: At = ()
    if not isinstance(body, list):
        whole, form = body, "json"
    elif "lines" in document.texts:
        whole, form, at = _folded(reader, document, shape, body, memory), "lines", (0,)
        at = (file.numbers[file.head],) if document.in_each and file.numbers else at
    else:
        whole, form = {key: body}, "list"
        file.places = [(i,) for i in range(len(body))]
    if form != document.texts[0]:
        memory["form"] = form
    said = whole.get(key) if isinstance(whole, dict) else None
    if document.ids is not None and isinstance(said, list):
        roles = [file.role(item) for item in said]
        whole, loose = ids.take_repeats(reader, document.ids, whole, key, roles)
        memory.update({"loose": loose} if loose else {})
    if isinstance(said, list) and form == "json":
        order = history.seen_messages(document, file, whole, said)
        if order != [*range(len(said))]:
            whole = {**whole, key: history.messages_in(file, order, key, whole[key])}
    ir: dict[str, Any] = reader.whole(shape, whole, at)
    if file.log is not None:  # its head was read as if it were the first line
        there = file.log.places_of.items()
        reader.trail.move({(0, key): at for key, at in there if at != (0, key)})
        for over in file.log.superseded:
            reader.mark_redundant(over, ANEW, None)
    if file.instead is not None:
        history.read_inside(reader, document.instead, body, ir)
    for word, value in memory.items():
        reader.remember(ir, "", word, value)
    for number, (place, item) in sorted(file.kept.items()):
        ir.setdefault("kept", {}).setdefault(reader.dialect.name, {})[f"../{number}"] = item
        reader.trail.put(ir, f"../{number}", place)
    return ir


def _alone(reader: ReadJob, document: Document, shape: Shape, body: Any) -> Dialect | None:
    """Return the dialect of messages alone, where a head, but nothing around them, is there."""
    bare = reader.dialect.bare if document.line is not None else None
    if bare is None:
        return None
    said, file = body, File(bare)
    if isinstance(body, dict):
        said = body.get(key_of(shape))
    elif not (isinstance(body, list) and body and _is_head(file, shape, body[0])):
        return None
    if not isinstance(said, list) or any(map(File(reader.dialect).like, said)):
        return None
    return bare if any(map(file.like, said)) else None


def _folded(
    reader: ReadJob, document: Document, shape: Shape, lines: list[Any], memory: dict[str, Any]
) -> dict[str, Any]:
    """Make one object of lines."""
    key, file = key_of(shape), reader.file
    if document.log is not None:
        done = file.log = replay.Replay(document.log, lines, key)
        file.places, memory["log"] = done.places, lines
        reader.notes += [("no-message", "lost", at, None, TAKEN_BACK) for at in done.taken_back]
        reader.notes += [("no-message", "lost", at, None, NO_MESSAGE) for at in done.no_objects]
        return {**done.head, key: done.messages}
    start = 1 if lines and not document.in_each and _is_head(file, shape, lines[0]) else 0
    head = dict(lines[0]) if start else _fixed(shape)
    if not start:
        memory["headless"] = True
    lines, path = _seen(file, document, lines, start, memory)
    off = sorted({*range(start, len(lines))} - {*path})
    memory.update({"off": off} if off and document.tree else {})
    odd = [n for n in path if not isinstance(lines[n], dict) or file.role(lines[n], file.none)]
    file.kept = {n: ((n,), lines[n]) for n in (*off, *odd)}
    file.numbers = [n for n in path if n not in file.kept]
    file.places = [(n,) for n in file.numbers]
    file.late = tree.early_lines(file.numbers)
    messages = [lines[n] for n in file.numbers]
    if document.tree is not None and "linear" not in memory:
        messages = _unlinked(reader, document.tree, lines, sorted(path))
    if document.in_each:
        head, messages = _drawn(reader, shape, messages)
        memory.pop("headless", None)
    return {**head, key: messages}


def _seen(
    file: File, document: Document, lines: list[Any], start: int, memory: dict[str, Any]
) -> tuple[list[Any], list[int]]:
    """Return the lines of a file, and which of them a model sees."""
    path, linked = list(range(start, len(lines))), None
    if document.tree is not None:
        linked = tree.path(document.tree, lines[start:])
        path = path if linked is None else [start + i for i in linked]
        memory.update({"linear": True} if linked is None else {})
    path, here = history.seen_lines(document, file, lines, path)
    if here is not None:
        memory[history.INSTEAD] = [here, len(lines)]
        if here in path:
            lines = [*lines]
            lines[here] = less(lines[here], document.instead)
    if document.tree is not None and linked is not None and path:
        root = lines[min(path)][document.tree.parent]
        memory.update({"root": root} if root is not None else {})
    file.instead = here
    return lines, path


def _drawn(
    reader: ReadJob, shape: Shape, messages: list[Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Draw the head out of the messages, each of which repeats it."""
    keys, file = shape.keys - {key_of(shape)}, reader.file
    file.head = next((i for i, message in enumerate(messages) if file.like(message)), 0)
    first = messages[file.head] if messages else {}
    head, rest = {k: v for k, v in first.items() if k in keys}, []
    for i, message in enumerate(messages):
        again = {k: v for k, v in head.items() if k in message and same(message[k], v)}
        file.drawn[i] = {**file.drawn.get(i, {}), **again}
        if lacks := [k for k in head if k not in message]:
            file.told[i] = {**file.told.get(i, {}), "lacks": lacks}
        for k in again if i != file.head else ():
            reader.mark_redundant((file.numbers[i], k), ids.REPEATS, None)
        rest.append({k: v for k, v in message.items() if k not in again})
    return head, rest


def _is_head(file: File, shape: Shape, line: Any) -> bool:
    """Tell whether a line is the head: it fits the session, and is no message.

    So it does where fixed words stand in it, and no key that must not.
    """
    if not _headed(shape) or not isinstance(line, dict) or file.like(line):
        return False
    return any(has_fixed_words(case, line) and not barred(case, line) for case in shape.cases)


def _headed(shape: Shape) -> bool:
    """Tell whether a session says more than its messages."""
    return len(keyed(shape.cases[0].wire)) > 1


def _fixed(shape: Shape) -> dict[str, Any]:
    """Return the fixed words of a head that is not there."""
    return {
        path[1:]: words[0]
        for path, words in shape.cases[0].sides[1].items()
        if isinstance(words, tuple) and path.count("/") == 1 and words[0] is not ABSENT
    }


def _unlinked(
    reader: ReadJob, links: Tree, lines: list[Any], path: list[int]
) -> list[dict[str, Any]]:
    """Leave out the names of the lines before; another name than that is remembered.

    One that no line of the path has stays at home, whatever comes before it.
    """
    file, rest = reader.file, []
    before = {n: lines[last].get(links.id) for last, n in itertools.pairwise(path)}
    there = {lines[n].get(links.id) for n in path}
    for i, n in enumerate(file.numbers):
        message = lines[n]
        name = message.get(links.parent)
        if n in before and name != before[n]:
            stray = {} if isinstance(name, str) and name in there else {"stray": True}
            file.told[i], file.drawn[i] = {"parent": name, **stray}, {links.parent: name}
        if links.parent in message:
            reader.mark_redundant((n, links.parent), ids.REPEATS, None)
        rest.append({k: v for k, v in message.items() if k != links.parent})
    return rest


# -- writing --------------------------------------------------------------------------------------


def said(writer: WriteJob, messages: list[Any]) -> list[Any]:
    """Return messages without a session as the dialect has them: joined, and cut."""
    if any("id" in message for message in messages if isinstance(message, dict)):
        messages = pieces.join_said_at_once(writer, {"messages": messages})["messages"]
    if writer.dialect.document is not None:
        messages = pieces.split_parts(writer, {"messages": messages})["messages"]
    return messages


def write(writer: WriteJob, shape: Shape, ir: dict[str, Any]) -> Any:
    """Write a whole document: a list of lines, or one value."""
    document, key = writer.dialect.document or PLAIN, key_of(shape)
    memory = recalled(writer, ir) if writer.same else {}
    if "alone" in memory and writer.dialect.bare is not None:
        writer = writer.of(writer.dialect.bare)
    kept = ir.get("kept", {}).get(writer.dialect.name, {}) if writer.same else {}
    asides = {int(k[3:]): v for k, v in kept.items() if k.startswith("../") and k[3:].isdecimal()}
    if document.ids is not None:
        asides = copy.deepcopy(asides)  # ids are said in them, too
    if not writer.same:  # what has no time of its own was said when the first message was
        times = (m["time"] for m in ir.get("messages", ()) if "time" in m)
        writer.last_time = next(times, writer.last_time)
    place = history.place_of(writer, memory, asides, ir)
    inside, ir = history.parted(writer, ir) if place is not None else ([], ir)
    ir = pieces.split_parts(writer, pieces.join_said_at_once(writer, ir))
    wire = units.write_stepping(writer, shape, ir)
    off = set(memory.get("off", ()))
    found = wire.get(key, [])
    if not isinstance(found, list):  # the messages are one text
        return wire
    before = []
    if place is not None:
        before = history.write_inside(writer, document.instead, place, inside, asides, found)
    rows = [*before, *between(writer, [*found], asides, off)]
    lines = [said for line, _ in rows for said in (line, *_again(writer, document, line))]
    form = memory.get("form", document.texts[0])
    if form != "lines":
        wire[key] = lines
        if document.ids is not None:
            file, spoken = File(writer.dialect), writer.line_messages
            roles = [  # what was kept has the role that reading gave it
                spoken[id(one)]["role"] if id(one) in spoken else file.role(one) for one in lines
            ]
            ids.give_ids(writer, document.ids, wire, key, roles, memory.get("loose", []))
        return lines if form == "list" else wire
    wire.pop(key, None)
    if document.in_each:
        _repeated(writer, wire, found)
        if not found and not writer.same:
            _unsaid(writer, shape, ir, wire)
    _told_apart(writer, document, lines)
    if document.log is not None:
        return replay.log_of(document.log, wire, lines, memory.get("log", []), key)
    bare = memory.get("headless") and same(wire, _fixed(shape))
    head = [wire] if _headed(shape) and not (document.in_each or bare) else []
    if document.tree is not None:
        told = {id(line): told_of(writer, line) for line in lines}
        made = tree.Written(writer, document.tree, rows, found, told, memory)
        made.link_path({*map(id, lines)} - {*map(id, found)} if writer.same else set())
        if writer.same or not document.again:
            file = File(writer.dialect)
            lines = made.lines(head, lambda *rows: history.seen_lines(document, file, *rows)[0])
    return [*head, *lines]


def _again(writer: WriteJob, document: Document, line: Any) -> Iterator[Any]:
    """Say the text of a message from abroad once more, where the file has a line for that."""
    message = writer.line_messages.get(id(line), {}) if document.again and not writer.same else {}
    parts = [part for part in message.get("parts", ()) if part.get("type") == "text"]
    for role, node in document.again if parts else ():
        if role != message["role"]:
            continue
        case = Case("", "message", drawn.parse(node), None, {}, None, node.pos)
        said = {
            "time": message.get("time", writer.last_time),
            "text": "".join(p["text"] for p in parts),
        }
        writer.trail.copy(message, said)
        writer.trail.put(said, "text", writer.trail.find(parts[0], "text"))
        wire = writer.picture(case.wire, View(said, "message", case, writer), (), top=True)
        told = "a further line says this again, to be seen by people"
        writer.note("filled-in", "added", None, node.pos, told, wire)
        yield wire


def _repeated(writer: WriteJob, head: dict[str, Any], messages: list[dict[str, Any]]) -> None:
    """Let each message repeat the head; at home but for those that did not."""
    for message in messages:
        lacks = told_of(writer, message).get("lacks", ())
        for key, value in head.items():
            if key not in message and key not in lacks:
                message[key] = value
                if writer.recorder is not None:
                    writer.recorder.copy(head, message, key)
    for draft in writer.notes if messages else ():
        if draft.owner is head:
            draft.owner = messages[0]


def _unsaid(writer: WriteJob, shape: Shape, ir: dict[str, Any], head: dict[str, Any]) -> None:
    """Note what the head says where no line is there to repeat it."""
    writer.notes = [draft for draft in writer.notes if draft.owner is not head]
    for hole in holes(shape.cases[0].wire):
        path = owned(hole.path, writer.dialect.family)
        if hole.shape != "conversation" and value_at(ir, path.split(".")) is not None:
            writer.note("no-place", "lost", writer.trail.find(ir, path), hole.pos, NO_LINE)


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
