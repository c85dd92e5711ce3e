"""The compiled path at run time: one generated function per pair, and what surrounds it.

Four tiers. Clean messages run in generated code. A message that would make a note, or fits no usual
form, goes to the interpreter alone (`recover`). Request fields that need a shape or a table go to
the interpreter once and are remembered by value. Where one message is not enough (BAIL), the whole
request goes to the interpreter. Output and notes are the interpreter's, whichever way was taken.
"""

from __future__ import annotations

import linecache
import operator
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import commits, conversation, enforce, hooks, jsontext, share
from .compile import Pair
from .errors import ConversionError
from .lenses import Misfit, same
from .limits import _pattern
from .looks import find
from .notes import Note
from .payload import check_json
from .picture import Fields, Hole, Literal, Picture, holes
from .reader import Reader
from .results import Envelope, finished, read_notes
from .sight import Draft
from .symbols import Cannot
from .writer import Writer

if TYPE_CHECKING:
    from .ladder import Ladder
    from .rulefile import Dialect


class Odd(Exception):
    """Raised by generated code: the interpreter takes this element."""


class Bail(Exception):
    """Raised by generated code: the interpreter takes the whole request."""


UNUSUAL = (Odd, Misfit, KeyError, TypeError, ValueError, AttributeError, IndexError)
JSON_STARTS = ("{", "[")
REMEMBERED, REMEMBERED_SIZE = 512, 4000
BIG = 10**4300
_ascii = str.isascii


def clean(value: dict[str, Any], depth: int = 0) -> None:
    """Raise Odd (or what UNUSUAL names) for an object of the payload that is no plain JSON."""
    if depth > 50:
        raise Odd
    if not all(map(_ascii, value)):  # TypeError for a key that is no text
        for key in value:
            key.encode()
    _clean_items(value.values(), depth)


def _clean_items(items: Iterable[Any], depth: int) -> None:
    for item in items:
        kind = item.__class__
        if kind is str:
            if not item.isascii():
                item.encode()
        elif kind is dict:
            clean(item, depth + 1)
        elif kind is list:
            if depth > 50:
                raise Odd
            _clean_items(item, depth + 1)
        elif kind is float:
            if item - item != 0:
                raise Odd
        elif kind is int:
            if not -BIG < item < BIG:
                raise Odd
        elif kind is not bool and item is not None:
            raise Odd


def _json_text(value: Any) -> str:
    text = jsontext.utf8_text(value)
    if text.count("[") + text.count("{") > 50:
        clean(value)  # which says what is nested too deep
    return text


_by_rank = operator.itemgetter(0)
Partial = Callable[..., tuple[Any, list[Note], Any]]


class State:
    """What the generated functions of one conversion ask of their surroundings."""

    __slots__ = tuple("body drafts early fast last open recovered seat seed stale sure".split())

    def __init__(self, fast: Fast) -> None:
        self.fast = fast
        self.early: list[tuple[str, str, Any, Any, str]] = []
        self.drafts: list[Draft] = []
        self.open: dict[str, int] | None = None
        self.last = -1
        self.seat = 0  # how many IR messages there are so far
        self.stale = False  # a call of an earlier turn was never answered
        self.sure = True  # `seat` is right
        self.body: Any = None
        self.seed: str | None = None
        self.recovered = 0

    def bare(self, wires: list[Any]) -> Any:
        """Return the text of one plain text block, or the list."""
        if self.fast.bare and len(wires) == 1 and wires[0].keys() == self.fast.block_keys:
            block = wires[0]
            if all(block[k] == v for k, v in self.fast.block):
                return block[self.fast.text_key]
        return wires

    def block(self, text: str) -> dict[str, Any]:
        """Return a text as a plain text block."""
        return {**dict(self.fast.block), self.fast.text_key: text}

    def check(self, names: set[str], ids: list[str]) -> None:
        """Raise Bail unless all names and ids are within the target's limits."""
        fast = self.fast
        if names and fast.name_ok is not None and not names <= fast.names:
            for name in names:
                if not fast.name_ok(name):
                    raise Bail
            if len(fast.names) > 4 * REMEMBERED:
                fast.names.clear()
            fast.names |= names
        if ids and fast.ids_ok is not None:
            if not fast.ids_ok("\n".join(ids) + "\n"):
                raise Bail
            if len(ids) != "\n".join(ids).count("\n") + 1:
                raise Bail

    def recover(
        self,
        m: Any,
        at: int,
        calls: dict[str, str],
        open_calls: Any,
        out: list[Any],
        system: list[Any],
    ) -> list[Any]:
        """Let the interpreter convert one message; raises Bail where that is not enough."""
        self.recovered += 1
        fast = self.fast
        fast.plain_json(m)
        reader = Reader(fast.source, {})
        try:
            _, messages = conversation.read_message(reader, m, (*fast.prefix, at))
        except Misfit:
            raise Bail from None
        writer = Writer(fast.target, False, reader.trail, {}, fast.ladder)
        writer.calls = calls
        self.open = open_calls
        found: list[Any] = []
        for message in messages:
            if message["role"] == "system" and fast.lifts:
                self._lifted(writer, message, out, system)
                continue
            if "level" in message and fast.lifts:
                raise Bail
            self._pair(message, calls, writer)
            self.seat += 1
            try:
                found.extend(self._written(writer, message))
            except Misfit:
                raise Bail from None
        if writer.beside or any(d.code == "renamed" for d in writer.notes):
            raise Bail
        self.early.extend(reader.notes)
        self.drafts.extend(writer.notes)
        return found

    def _lifted(self, writer: Writer, message: Any, out: list[Any], system: list[Any]) -> None:
        hole = find(self.fast.target.units["request"].cases[0].wire, "system")
        if out or hole is None:
            raise Bail
        try:
            parts, _ = enforce.lift(writer, [message])
            system.extend(wire for _, wire in share.share(writer, [hole], parts)[id(hole)])
        except Misfit:
            raise Bail from None

    def joined(self, at: int) -> None:
        """Draft the note that two messages of one role become one."""
        talk = self.fast.target.conversation
        assert talk is not None
        told = "two messages of one role become one"
        self.drafts.append(Draft("joined", "changed", (*self.fast.prefix, at), talk.pos, told))

    def _pair(self, message: dict[str, Any], calls: dict[str, str], writer: Writer) -> None:
        new: dict[str, int] = {}
        for j, part in enumerate(message["parts"]):
            kind = part.get("type")
            if kind == "tool_call":
                key = part.get("id")
                if key is None and self.fast.source.hooks:
                    key = part["id"] = self._made(
                        f"{self.seat}/{j}", {**calls, **new}, part, writer
                    )
                if not isinstance(key, str) or key in calls or key in new:
                    raise Bail
                if message["role"] != "assistant":
                    raise Bail
                new[key] = len(new)
                calls[key] = part["name"]
            elif kind == "tool_result":
                key = part.get("tool_call_id")
                if key is None and self.fast.source.hooks and self.open and not self.stale:
                    named = (k for k in self.open if calls[k] == part.get("name"))
                    key = part["tool_call_id"] = next(named, None)
                    writer.made.add(id(part))
                if not isinstance(key, str) or not self.open or key not in self.open:
                    raise Bail
                place = self.open.pop(key)
                if self.fast.sorted and place < self.last:
                    raise Bail
                self.last = place
                part.setdefault("name", calls[key])
        if message["role"] != "tool":
            self.stale = self.stale or bool(self.open)
            self.open, self.last = (new or None), -1

    def _made(self, place: str, taken: dict[str, Any], part: Any, writer: Writer) -> str:
        if not self.sure:
            raise Bail
        if self.seed is None:
            self.seed = hooks._seed({}, self.body)
        writer.made.add(id(part))
        return hooks._id(self.seed, place, set(taken))

    def _written(self, writer: Writer, message: dict[str, Any]) -> list[Any]:
        fast = self.fast
        talk = fast.target.conversation
        assert talk is not None
        group, case, message = conversation._place(writer, talk, message)
        if group.spliced or talk.per != "run":
            return conversation._write_run(writer, talk, group, [(case, message)])
        hole = case.lists["parts"][0]
        shares = share.share(writer, case.lists["parts"], message["parts"])
        found = [wire for _, wire in shares[id(hole)]]
        if not found:
            raise Bail
        enforce.unplaced(writer, message, case.pos)
        head = {}
        assert isinstance(case.wire, Fields)
        for (name, *_), child in case.wire.entries:
            if isinstance(child, Literal):
                head[name] = child.values[0]
        return [(fast.groups[id(group)], message["role"], found, head)]


class Fast:
    """The compiled conversion of requests for one pair of dialects."""

    def __init__(self, source: Dialect, target: Dialect, ladder: Ladder, partial: Partial) -> None:
        self.source, self.target, self.ladder, self.partial = source, target, ladder, partial
        pair = Pair(source, target)
        text, consts = pair.source_text()
        file = f"<wireglot {source.name} to {target.name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        scope: dict[str, Any] = {
            "ODD": Odd,
            "BAIL": Bail,
            "UNUSUAL": UNUSUAL,
            "JSON_STARTS": JSON_STARTS,
            "loads": jsontext._decode,
            "NUMBERS": range(10**6),
            "clean": clean,
            "stringify": _json_text,
            **consts,
        }
        exec(compile(text, file, "exec"), scope)
        self.plain_json, self.envelope = check_json, Envelope
        self.messages, self.tools, self.system = (
            scope["messages"],
            scope["tools"],
            scope["system"],
        )
        self.lifts, self.sorted, self.groups = pair.lifts, pair.sorted, pair.groups
        talk = target.conversation
        assert talk is not None
        holes_of = [h for g in talk.groups for c in g.cases for h in c.lists.get("parts", [])]
        self.bare = talk.per == "run" and any("bare" in h.lenses for h in holes_of)
        self.block, self.text_key = commits.plain_block(pair, holes_of[0])
        self.block_keys = {k for k, _ in self.block} | {self.text_key}
        names, ids = target.limits.get("tool_name"), target.limits.get("call_id")
        self.names: set[str] = set()  # names that fit, as seen lately
        self.name_ok = re.compile(_pattern(names)).fullmatch if names else None
        self.ids_ok = re.compile(f"(?:{_pattern(ids)}\n)*").fullmatch if ids else None
        self._frame()

    # A conversion that fails here is done again by the interpreter, which says why.
    leave = (Bail, RecursionError, ConversionError, Misfit, UnicodeEncodeError)

    def run(self, body: Any, model: str | None, stream: bool | None) -> tuple[Any, list[Note], Any]:
        """Return body, notes and envelope; raises one of `leave` for the interpreter."""
        out, notes, envelope, state = self.convert(body, model, stream)
        if state.early or state.drafts:
            early = read_notes(state.early, False)
            unfit = {n.source_path for n in early if n.code in ("unfit", "dropped")}
            late = finished(state.drafts, out)
            notes = [
                *early,
                *(n for n in late if not (n.code == "unknown-key" and n.source_path in unfit)),
                *notes,
            ]
        return out, notes, envelope

    def tier(self, body: Any) -> int:
        """Return 1 for a request compiled whole, 3 with recovered messages, 4 for none."""
        try:
            return 3 if self.convert(body, "model", None)[3].recovered else 1
        except self.leave:
            return 4

    # -- the fields of the request ----------------------------------------------------------------

    def _frame(self) -> None:
        """Sort the keys of the source's request by what they need."""
        there = _leaves(self.target.units["request"].cases[0].wire, ())
        self.order = {keys[0]: i for i, (keys, _) in reversed(list(enumerate(there))) if keys}
        self.places: dict[str, tuple[tuple[str, ...], Hole]] = {}
        shaped: set[str] = set()
        for keys, hole in there:
            simple = (
                keys is not None and hole.mode is None and not _words(hole) and len(hole.paths) == 1
            )
            if hole.mark == "old":
                continue
            if (
                simple
                and hole.path not in self.places
                and keys is not None
                and "." not in hole.path
            ):
                self.places[hole.path] = (keys, hole)
            else:
                shaped |= _fields(self.target, hole)
        self.outside = (
            {h.path for c in self.target.units["envelope"].cases for h in holes(c.wire)}
            if "envelope" in self.target.units
            else set()
        )
        self.keys: dict[str, tuple[Any, ...]] = {}
        self.prefix: tuple[str, ...] = ()
        wire = self.source.units["request"].cases[0].wire
        if not isinstance(wire, Fields) or wire.spread:
            raise Cannot
        case = self.target.units["request"].cases[0]
        self.rule = str(case.pos)
        for names, child in wire.entries:
            entry = self._entry(child, names[0], shaped)
            if entry[0] == "messages":
                self.prefix = (names[0],)
            for name in names:
                self.keys[name] = (*entry, names[0] if len(names) > 1 else None)
        if not self.prefix:
            raise Cannot
        self.message_keys = _place_of(there, "messages")
        self.system_keys = _place_of(there, "system") if self.lifts else None
        self.tool_keys = _place_of(there, "tools")
        self.filled = [
            (keys, h)
            for _, (keys, h) in self.places.items()
            if h.mark == "else" and h.value is not None
        ]
        self.message_rank = self._rank(self.message_keys)
        self.memo: dict[str, tuple[Any, tuple[Note, ...]]] = {}
        self.envelopes: dict[tuple[Any, Any], Any] = {}
        self.base: tuple[Any, list[Note]] | None = None

    def _entry(self, child: Picture, name: str, shaped: set[str]) -> tuple[Any, ...]:
        if any(h.path == "system" for h in holes(child)):
            return ("system",)
        if not isinstance(child, Hole) or len(child.paths) > 1:
            return ("shaped",)
        if child.shape == "conversation":
            return ("messages",)
        if child.path == "tools":
            first = self.source.units["request"].cases[0].lists["tools"][0]
            return ("tools",) if child is first else ("leave",)
        if child.path.startswith("own."):
            own = child.path[4:]
            told = f"`{own}` is a field of {self.source.name} alone"
            return ("lost", "own-field", told, None)
        if child.mode or _words(child) or "." in child.path or child.path in shaped:
            return ("shaped",)
        if child.mark not in ("optional", "old"):
            return ("shaped",)
        from .ir import field_type
        from .symbols import CLASSES

        cls = CLASSES.get(field_type("request", child.path), "any")
        classes = {"str": (str,), "int": (int,), "bool": (bool,), "number": (int, float)}.get(cls)
        if "listed" in child.lenses:
            classes = (list,)
        if cls == "list":
            classes = (list,)
        if classes is None:
            return ("shaped",)
        place = self.places.get(child.path)
        if place is not None:
            rank = self.order.get(place[0][0], 99)
            return ("copy", place[0], classes, child.path, rank, child.path in self.outside)
        if child.path in self.outside:
            return ("outside", child.path, classes)
        told = f"the target has no place for `{child.path}`"
        return ("lost", "no-place", told, classes)

    def convert(
        self, body: Any, model: str | None, stream: bool | None
    ) -> tuple[Any, list[Note], Any, State]:
        """Convert a request; raises Bail when the interpreter must take it."""
        if body.__class__ is not dict:
            raise Bail
        state = State(self)
        notes: list[Note] = []
        values: list[tuple[int, tuple[str, ...], Any]] = []
        shaped: dict[str, Any] | None = None
        tools = wire = system = None
        outside: dict[str, Any] = {}
        seen: set[str] = set()
        for key, value in body.items():
            entry = self.keys.get(key)
            if entry is None:
                self.plain_json({key: value})
                if value is not None:
                    notes.append(self._lost(key, "unknown-key", UNKNOWN))
                continue
            what = entry[0]
            if entry[-1] is not None:
                # The key has another spelling: both at once is for the interpreter.
                if entry[-1] in seen:
                    raise Bail
                seen.add(entry[-1])
            if what == "messages":
                wire = value
            elif value is None:
                continue
            elif what == "copy":
                if value.__class__ not in entry[2]:
                    raise Bail
                if value.__class__ is str:
                    if not value.isascii():
                        value.encode()
                elif value.__class__ is float:
                    if value - value != 0:
                        raise Bail
                elif value.__class__ is list:
                    self.plain_json(value)
                elif not -BIG < value < BIG:
                    raise Bail
                values.append((entry[4], entry[1], value))
                if entry[5]:
                    outside[entry[3]] = value
            elif what == "leave":
                raise Bail
            elif what == "tools":
                tools = value
            elif what == "system":
                system = (key, value)
            elif what == "lost":
                if entry[3] is not None and value.__class__ not in entry[3]:
                    raise Bail
                if value == {} or value == []:
                    raise Bail
                kind = value.__class__
                if kind is not bool and (kind is not float or value - value != 0):
                    self.plain_json(value)
                notes.append(self._lost(key, entry[1], entry[2]))
            elif what == "outside":
                if value.__class__ not in entry[2]:
                    raise Bail
                if value.__class__ is str and not value.isascii():
                    value.encode()
                outside[entry[1]] = value
            else:
                if shaped is None:
                    shaped = {}
                shaped[key] = value
        if wire.__class__ is not list:
            raise Bail
        if model is not None:
            self._given("model", model, values, outside)
        if stream is not None:
            self._given("stream", stream, values, outside)
        head: list[Any] = []
        apart: list[Any] = []
        if system is not None:
            try:
                found = self.system(system[1], state)
            except UNUSUAL:
                state.recovered += 1
                found = self._system({system[0]: system[1]}, notes)
                state.sure = bool(found)
            if self.lifts:
                apart = found
            else:
                head = found
        calls: dict[str, str] = {}
        state.body = body
        out, lifted = self.messages(wire, calls, state, int(system is not None))
        if tools is not None:
            self._tools(tools, values, notes, state)
        if shaped is not None:
            self._shaped(shaped, values, notes)
        values.append((self.message_rank, self.message_keys, head + out if head else out))
        if lifted or apart:
            assert self.system_keys is not None
            text = state.bare(apart + lifted) if self.bare else apart + lifted
            values.append((self._rank(self.system_keys), self.system_keys, text))
        return self._body(values, notes), notes, self._envelope(outside, model, stream), state

    def _system(self, part: dict[str, Any], notes: list[Note]) -> list[Any]:
        """Let the interpreter convert system text that stands apart."""
        body, more = self._part(part, whole=True)
        notes.extend(more)
        if not self.lifts:
            found: Any = _at(body, self.message_keys)
        else:
            found = _at(body, self.system_keys)
            if found.__class__ is str:
                found = [{**dict(self.block), self.text_key: found}]
        if found.__class__ is not list:
            raise Bail
        return found

    def _rank(self, keys: tuple[str, ...]) -> int:
        return self.order.get(keys[0], 99)

    def _given(self, name: str, given: Any, values: list[Any], outside: dict[str, Any]) -> None:
        place = self.places.get(name)
        here = outside.get(name)
        if given is None:
            return
        if place is not None:
            if not any(keys == place[0] for _, keys, _ in values):
                values.append((self._rank(place[0]), place[0], given))
                if name in self.outside:
                    outside[name] = given
        elif here is None and name in self.outside:
            outside[name] = given
        elif name not in self.outside:
            raise Bail

    def _lost(self, key: str, code: str, told: str) -> Note:
        path = "/" + key.replace("~", "~0").replace("/", "~1")
        return Note(code, "lost", "warning", path, None, self.rule, told)

    def _tools(self, tools: Any, values: list[Any], notes: list[Note], state: State) -> None:
        if tools == []:
            return
        try:
            values.append((self._rank(self.tool_keys), self.tool_keys, self.tools(tools, state)))
        except UNUSUAL:
            key = self.source_key("tools")
            body, more = self._part({key: tools})
            values.extend((self._rank((k,)), (k,), v) for k, v in body.items())
            notes.extend(more)

    def source_key(self, what: str) -> str:
        """Return the source's key for `tools`."""
        return next(k for k, e in self.keys.items() if e[0] == what)

    def _part(self, part: dict[str, Any], whole: bool = False) -> tuple[dict[str, Any], list[Note]]:
        """Let the interpreter convert some fields of a request alone."""
        if self.base is None:
            body, notes, _ = self.partial({self.prefix[0]: []})
            self.base = (body, notes)
        base, left = self.base[0], list(self.base[1])
        body, notes, _ = self.partial({**part, self.prefix[0]: []})
        kept = []
        for note in notes:
            if note.code == "renamed":
                raise Bail
            if note in left:
                left.remove(note)
            else:
                kept.append(note)
        if whole:
            return body, kept
        rest = {k: v for k, v in body.items() if k not in base or not same(v, base[k])}
        for note in left:
            key = (note.target_path or "/")[1:]
            if note.code != "filled-in" or key not in body:
                raise Bail
            rest[key] = body[key]
        return rest, kept

    def _shaped(self, shaped: dict[str, Any], values: list[Any], notes: list[Note]) -> None:
        try:
            key = repr(shaped)
        except ValueError:  # a number of more digits than Python prints
            raise Bail from None
        known = self.memo.get(key)
        if known is None:
            body, more = self._part(shaped)
            known = (body, tuple(more))
            if len(key) <= REMEMBERED_SIZE:
                if len(self.memo) >= REMEMBERED:
                    self.memo.clear()
                # The payload's own values must not stay alive (or change) in the memory.
                self.memo[key] = (_copied(body), known[1])
        else:
            known = (_copied(known[0]), known[1])
        values.extend((self._rank((k,)), (k,), v) for k, v in known[0].items())
        notes.extend(known[1])

    def _body(self, values: list[tuple[int, tuple[str, ...], Any]], notes: list[Note]) -> Any:
        values.sort(key=_by_rank)
        out: dict[str, Any] = {}
        for _, keys, value in values:
            key = keys[0]
            if len(keys) == 1 and key not in out:
                out[key] = value
                continue
            owner = out
            for key in keys[:-1]:
                owner = owner.setdefault(key, {})
            key = keys[-1]
            old = owner.get(key)
            if old.__class__ is dict and value.__class__ is dict:
                _merge(old, value)
            else:
                owner[key] = value
        for keys, hole in self.filled:
            if _at(out, keys) is None:
                told = f"`{keys[-1]}` is required here and was not there"
                target = "".join(f"/{k}" for k in keys)
                notes.append(Note("filled-in", "added", "info", None, target, str(hole.pos), told))
                owner = out
                for key in keys[:-1]:
                    owner = owner.setdefault(key, {})
                owner[keys[-1]] = hole.value
        return out

    def _envelope(self, outside: dict[str, Any], model: Any, stream: Any) -> Any:
        if "envelope" not in self.target.units:
            return None
        key = (outside.get("model"), outside.get("stream"))
        known = self.envelopes.get(key)
        if known is None:
            mini: dict[str, Any] = {self.prefix[0]: []}
            known = self.partial(mini, key[0], key[1])[2]
            if len(self.envelopes) > REMEMBERED:
                self.envelopes.clear()
            self.envelopes[key] = known
        one, two, method, path, headers = known
        return self.envelope(one, two, method, path, dict(headers))


UNKNOWN = "no picture names this key, and the target has no place for it"


def _leaves(p: Picture, keys: tuple[str, ...] | None) -> list[tuple[tuple[str, ...] | None, Hole]]:
    if isinstance(p, Hole):
        return [(keys, p)]
    found: list[tuple[tuple[str, ...] | None, Hole]] = []
    if isinstance(p, Fields):
        for (name, *_), child in p.entries:
            found.extend(_leaves(child, None if keys is None else (*keys, name)))
        found.extend((None, h) for h in p.spread)
    return found


def _place_of(there: Any, path: str) -> Any:
    return next((keys for keys, h in there if h.path == path), ())


def _words(hole: Hole) -> bool:
    from .lenses import is_guard

    return any(not is_guard(lens) and lens != "listed" for lens in hole.lenses)


def _fields(dialect: Dialect, hole: Hole) -> set[str]:
    """Return the request fields that a hole with a shape takes."""
    found = {path.split(".")[0] for path in hole.paths}
    if hole.path == "." and hole.shape:
        for _, case in dialect.cases_of(hole.shape):
            found |= {h.path.split(".")[0] for h in holes(case.wire)}
            if isinstance(case.ir, Fields):
                found |= set(case.ir.names)
    return found - {"own", ""}


def _copied(value: Any) -> Any:
    if value.__class__ is dict:
        return {k: _copied(v) for k, v in value.items()}
    if value.__class__ is list:
        return [_copied(v) for v in value]
    return value


def _merge(old: dict[str, Any], new: dict[str, Any]) -> None:
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            _merge(old[key], value)
        else:
            old[key] = value


def _at(body: Any, keys: tuple[str, ...] | None) -> Any:
    for key in keys or ():
        if not isinstance(body, dict):
            return None
        body = body.get(key)
    return body
