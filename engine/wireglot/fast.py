"""The compiled path at run time: one generated function per pair, and what surrounds it.

Four tiers. Clean messages run in generated code. A message that would make a note, or fits no usual
form, goes to the interpreter alone (`recover`). Request fields that need a shape or a table go to
the interpreter once and are remembered by value. Where one message is not enough (BAIL), the whole
request goes to the interpreter. Output and notes are the interpreter's, whichever way was taken.
"""

from __future__ import annotations

import functools
import linecache
import operator
import re
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any

from . import jsontext
from .errors import ConversionError
from .lenses import Misfit, same
from .notes import Note
from .payload import check_json
from .results import Envelope, all_notes
from .state import BIG, REMEMBERED, UNUSUAL, Bail, Odd, State, clean

if TYPE_CHECKING:
    from .ladder import Ladder
    from .rulefile import Dialect

REMEMBERED_SIZE = 4000
UNKNOWN = "no picture names this key, and the target has no place for it"
Partial = Callable[..., tuple[Any, list[Note], Any]]
Models = Callable[[], "tuple[Dialect, Dialect, Ladder]"]
_by_rank = operator.itemgetter(0)


def code_of(plan: dict[str, Any]) -> CodeType:
    """Return the plan's code, compiled when it is not there for this Python."""
    text = plan["text"]
    file = "<wireglot {} to {}>".format(*plan["pair"])
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    import importlib.util

    ready: bytes | None = plan.get("code", {}).get(importlib.util.MAGIC_NUMBER)
    if ready is not None:
        import marshal

        found: CodeType = marshal.loads(ready)
        return found
    return compile(text, file, "exec")


def _json_text(value: Any) -> str:
    text = jsontext.utf8_text(value)
    if text.count("[") + text.count("{") > 50:
        clean(value)  # which says what is nested too deep
    return text


class Fast:
    """The compiled conversion of requests for one pair of dialects."""

    def __init__(self, plan: dict[str, Any], models: Models, partial: Partial) -> None:
        self.models, self.partial = models, partial
        self.source_name, self.target_name = plan["pair"]
        scope: dict[str, Any] = {
            "ODD": Odd,
            "BAIL": Bail,
            "UNUSUAL": UNUSUAL,
            "JSON_STARTS": ("{", "["),
            "loads": jsontext._decode,
            "NUMBERS": range(10**6),
            "clean": clean,
            "stringify": _json_text,
            **plan["consts"],
        }
        exec(code_of(plan), scope)
        self.messages, self.tools, self.system = (
            scope["messages"],
            scope["tools"],
            scope["system"],
        )
        self.lifts, self.sorted, self.hooks = plan["lifts"], plan["sorted"], plan["hooks"]
        self.talk, self.bare = plan["talk"], plan["bare"]
        self.block, self.text_key = plan["block"], plan["text_key"]
        self.block_keys = {k for k, _ in self.block} | {self.text_key}
        self.names: set[str] = set()  # names that fit, as seen lately
        self.name_ok = re.compile(plan["names"]).fullmatch if plan["names"] else None
        self.ids_ok = re.compile(plan["ids"]).fullmatch if plan["ids"] else None
        self.keys: dict[str, tuple[Any, ...]] = plan["keys"]
        self.places, self.outside, self.order = plan["places"], plan["outside"], plan["order"]
        self.prefix, self.rule, self.filled = plan["prefix"], plan["rule"], plan["filled"]
        self.message_keys, self.system_keys = plan["message_keys"], plan["system_keys"]
        self.tool_keys, self.cases = plan["tool_keys"], plan["envelope"]
        self.message_rank = self._rank(self.message_keys)
        self.memo: dict[str, tuple[Any, tuple[Note, ...]]] = {}
        self.base: tuple[Any, list[Note]] | None = None

    @functools.cached_property
    def source(self) -> Dialect:
        """The model of the source, loaded when the interpreter is needed."""
        return self.models()[0]

    @functools.cached_property
    def target(self) -> Dialect:
        """The model of the target, loaded when the interpreter is needed."""
        return self.models()[1]

    @functools.cached_property
    def ladder(self) -> Ladder:
        """The ladder, loaded when the interpreter is needed."""
        return self.models()[2]

    @functools.cached_property
    def groups(self) -> dict[int, int]:
        """The numbers of the target's groups of messages, as generated code knows them."""
        talk = self.target.conversation
        assert talk is not None
        return {id(group): n for n, group in enumerate(talk.groups)}

    # A conversion that fails here is done again by the interpreter, which says why.
    leave = (Bail, RecursionError, ConversionError, Misfit, UnicodeEncodeError)

    def run(self, body: Any, model: str | None, stream: bool | None) -> tuple[Any, list[Note], Any]:
        """Return body, notes and envelope; raises one of `leave` for the interpreter."""
        out, notes, envelope, state = self.convert(body, model, stream)
        if state.early or state.drafts:
            notes = all_notes(state.early, state.drafts, out, same=False) + notes
        return out, notes, envelope

    def tier(self, body: Any) -> int:
        """Return 1 for a request compiled whole, 3 with recovered messages, 4 for none."""
        try:
            return 3 if self.convert(body, "model", None)[3].recovered else 1
        except self.leave:
            return 4

    # -- the fields of the request ----------------------------------------------------------------

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
                check_json({key: value})
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
                    check_json(value)
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
                    check_json(value)
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
        return self._body(values, notes), notes, self._envelope(outside), state

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
        return int(self.order.get(keys[0], 99))

    def _given(self, name: str, given: Any, values: list[Any], outside: dict[str, Any]) -> None:
        place = self.places.get(name)
        here = outside.get(name)
        if given is None:
            return
        if place is not None:
            if not any(keys == place for _, keys, _ in values):
                values.append((self._rank(place), place, given))
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
        for keys, value, rule in self.filled:
            if _at(out, keys) is None:
                told = f"`{keys[-1]}` is required here and was not there"
                target = "".join(f"/{k}" for k in keys)
                notes.append(Note("filled-in", "added", "info", None, target, rule, told))
                owner = out
                for key in keys[:-1]:
                    owner = owner.setdefault(key, {})
                owner[keys[-1]] = value
        return out

    def _envelope(self, outside: dict[str, Any]) -> Envelope | None:
        if self.cases is None:
            return None
        for tests, written in self.cases:
            if any(outside.get(path) != value for path, (_, value) in tests.items()):
                continue
            found = {key: self._outer(value, outside) for key, value in written.items()}
            if found.get("path", "") is None and written["path"][0] == "text":
                continue
            return Envelope(
                found.get("model"),
                found.get("stream"),
                found.get("method", ""),
                found.get("path") or "",
                found.get("headers") or {},
            )
        raise Bail

    def _outer(self, value: Any, outside: dict[str, Any]) -> Any:
        if value.__class__ is dict:
            return {key: self._outer(inner, outside) for key, inner in value.items()}
        if value[0] == "is":
            return value[1]
        if value[0] == "hole":
            given = outside.get(value[1])
            return value[2] if given is None else given
        names = [outside.get(name) for name in value[1].names]
        return value[1].write(tuple(names)) if None not in names else None


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
