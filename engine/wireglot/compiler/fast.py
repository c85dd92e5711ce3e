"""The compiled path at run time: one generated function per pair, and what surrounds it.

Four tiers. Clean messages run in generated code. A message that would make a note, or fits no usual
form, goes to the interpreter alone (`recover`). Request fields that need a shape or a table go to
the interpreter once and are remembered by value. Where one message is not enough (BAIL), the whole
request goes to the interpreter. Output and notes are the interpreter's, whichever way was taken.
"""

from __future__ import annotations

import functools
import marshal
import re
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any

from .. import jsontext
from ..errors import ConversionError
from ..language.lenses import Misfit, refless, same
from ..notes import UNKNOWN_KEY, Note, asked
from ..payload import check_json
from ..results import Conversion, Envelope, all_notes
from ..trail import pointer, put, value_at
from .standins import Said, Spots, put_back, swapped
from .state import (
    REMEMBERED,
    REMEMBERED_SIZE,
    SCOPE,
    UNUSUAL,
    Bail,
    State,
    beside,
    clean,
    shown,
    spare,
)

if TYPE_CHECKING:
    from ..language.ladder import Ladder
    from ..language.model import Dialect

_new: Any = tuple.__new__  # a named tuple without its keywords
# What becomes of fields, the notes, the tools that a choice among them names, if there is one, and
# whether it depends on the messages.
Known = tuple[dict[str, Any], tuple[Note, ...], "tuple[str, ...] | None", bool]
Partial = Callable[..., tuple[Any, list[Note], Any]]
Models = Callable[[], "tuple[Dialect, Dialect, Ladder]"]


def code_of(plan: dict[str, Any]) -> CodeType:
    """Return the plan's code, compiled when it is not there for this Python."""
    import importlib.util

    ready: bytes | None = plan.get("code", {}).get(importlib.util.MAGIC_NUMBER)
    if ready is not None:
        found: CodeType = marshal.loads(ready)
        return found
    return compile(plan["text"], file_of(plan), "exec")


def file_of(plan: dict[str, Any]) -> str:
    """Return what stands for the name of a file where the plan's code shows up."""
    return "wireglot: {} to {}".format(*plan["pair"])


def _json_text(value: Any) -> str:
    text = jsontext.utf8_text(value)
    if len(text) > 100 and text.count("[") + text.count("{") > 50:
        clean(value)  # which says what is nested too deep
    return text


class Fast:
    """The compiled conversion of requests for one pair of dialects."""

    def __init__(
        self, plan: dict[str, Any], models: Models, partial: Partial, rules_hash: str
    ) -> None:
        self.models, self.partial, self.hash = models, partial, rules_hash
        self.memo: dict[bytes, Known] = dict(plan.get("known", {}))
        self.names: set[str] = set()  # names that fit, as seen lately
        scope: dict[str, Any] = {
            **SCOPE,
            **shown(file_of(plan), plan["text"]),
            "UNUSUAL": UNUSUAL,
            "NUMBERS": range(10**6),
            "KNOWN": self.names,
            "refless": refless,
            "check_json": check_json,
            "spare": spare,
            "beside": beside,
            "Envelope": Envelope,
            "new_tuple": _new,
            "NOTHING": ({}, (), None, False),
            "MEMO": self.memo,
            "copied": _copied,
            "merged": _merged,
            "at_place": value_at,
            "stringify": _json_text,
            **plan["consts"],
        }
        exec(code_of(plan), scope)
        # Functions call each other by names that no variable has.
        for function in ("messages", "tools", "system"):
            scope[function.upper()] = scope[function]
        self.messages, self.tools = scope["messages"], scope["tools"]
        self.request = scope["request"]
        self.lifts, self.sorted, self.hooks = plan["lifts"], plan["sorted"], plan["hooks"]
        self.talk, self.bare = plan["talk"], plan["bare"]
        self.block, self.text_key = plan["block"], plan["text_key"]
        self.block_keys = {k for k, _ in self.block} | {self.text_key}
        self.name_ok = re.compile(plan["names"]).fullmatch if plan["names"] else None
        self.ids_ok = re.compile(plan["ids"]).fullmatch if plan["ids"] else None
        self.keys: dict[str, tuple[Any, ...]] = plan["keys"]
        self.plain: frozenset[str] = plan["plain"]
        self.shared: frozenset[str] = plan["shared"]
        self.prefix, self.rule, self.filled = plan["prefix"], plan["rule"], plan["filled"]
        self.message_keys, self.system_keys = plan["message_keys"], plan["system_keys"]
        self.spots: Spots = plan["spots"]
        self.asks = plan["asks"]
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

    states = State  # what generated code asks of its surroundings

    # A conversion that fails here is done again by the interpreter, which says why.
    # ValueError: a text with half a surrogate pair, a number with more digits than Python prints.
    leave: tuple[type[BaseException], ...] = (
        Bail,
        RecursionError,
        ConversionError,
        Misfit,
        ValueError,
    )

    def run(self, body: Any, model: str | None, stream: bool | None) -> Conversion:
        """Convert a request; raises one of `leave` for the interpreter."""
        if body.__class__ is not dict:
            raise Bail
        state = self.states(self, body)
        notes: list[Note] = []
        out, envelope = self.request(body, model, stream, self, state, notes)
        if state.early or state.drafts:
            for draft in state.drafts:
                if draft.owner is not None and draft.owner is state.alone:
                    keys = self.system_keys
                    draft.owner, draft.place = value_at(out, keys[:-1]), keys[-1]
            notes = all_notes(state.early, state.drafts, out, same=False) + notes
        if self.asks is not None and value_at(out, self.asks[0]) is True:
            for keys, value, rule in self.asks[1]:
                if put(out, keys, value):
                    told = asked(keys[-1])
                    notes.append(
                        Note("filled-in", "added", "info", None, pointer(keys), rule, told)
                    )
        done: Conversion = _new(Conversion, (out, tuple(notes), envelope, self.hash, None))
        return done

    def tier(self, body: Any) -> int:
        """Return 1 for a request compiled whole, 3 with recovered messages, 4 for none."""
        if body.__class__ is not dict:
            return 4
        state = State(self, body)
        try:
            self.request(body, "model", None, self, state, [])
        except self.leave:
            return 4
        return 3 if state.recovered else 1

    # -- the fields of the request: what generated code asks for -----------------------------------

    def more(self, rest: dict[str, Any], body: Any) -> Known:
        """Convert the keys that generated code leaves: shaped, lost and unknown ones.

        What becomes of them is remembered by value: a caller asks the same way again and again, or
        with other numbers and names.
        """
        said: Said = []
        free = swapped(rest, self.spots, said)
        if said:
            mark = marshal.dumps(free, 2)
            known = self.memo.get(mark) or self._keep(mark, self._more(free, body))
            made = _copied(known[0])
            if put_back(made, said):
                return self._keep(marshal.dumps(rest, 2), (made, *known[1:]))
        return self._keep(marshal.dumps(rest, 2), self._more(rest, body))

    def _more(self, rest: dict[str, Any], body: Any) -> Known:
        """Note the keys without a place, and convert the others, remembered without the former."""
        notes: list[Note] = []
        kept = {k for k, v in rest.items() if self._kept(k, v, rest, notes)}
        if not kept:
            return {}, tuple(notes), None, False
        shaped = {k: rest[k] for k in self.keys if k in kept}
        mark = marshal.dumps(shaped, 2)
        known = self.memo.get(mark) or self._keep(mark, self._shaped(shaped, body))
        return known[0], (*notes, *known[1]), *known[2:]

    def _shaped(self, shaped: dict[str, Any], body: Any) -> Known:
        """Let the interpreter convert these keys."""
        from ..interpreter import demands

        notes: list[Note] = []
        made = self._part(shaped, notes)
        ir = self._whole({**shaped, self.prefix[0]: []})
        stepped = {note.code for note in notes}
        talked = demands.talked(self.target.bounds, ir, self.ladder, stepped)
        if talked and demands.unsigned(self.target.name, self._whole(body)):
            raise Bail
        # The payload's own values must not change in the memory.
        return _copied(made), tuple(notes), demands.plain(ir), talked

    def _keep(self, mark: bytes, known: Known) -> Known:
        """Remember what became of these keys, unless it depends on what was said, too."""
        if len(mark) <= REMEMBERED_SIZE and not known[3]:
            if len(self.memo) >= REMEMBERED:
                self.memo.clear()
            self.memo[mark] = known
        return known

    def together(self, body: Any, tools: Any) -> Known:
        """Convert these keys with the tools: those are unusual, or a choice may not hold."""
        notes: list[Note] = []
        rest = {k: v for k, v in body.items() if k not in self.plain}
        part = {k: v for k, v in rest.items() if self._kept(k, v, rest, notes)}
        if tools:
            key = next(k for k, v in body.items() if v is tools and self.keys[k][0] == "tools")
            part[key] = tools
        return self._part(part, notes, alone=False), tuple(notes), None, False

    def _whole(self, body: Any) -> Any:
        """Read a request in the interpreter."""
        from ..interpreter.hands import Reader
        from ..interpreter.units import whole

        return whole(Reader(self.source, {}), self.source.units["request"], body)

    def _kept(self, key: str, value: Any, rest: dict[str, Any], notes: list[Note]) -> bool:
        """Tell whether a key needs the interpreter; note it where it has no place."""
        entry = self.keys.get(key)
        if entry is None:
            check_json({key: value})
            if value is not None:
                notes.append(self._lost(key, "unknown-key", UNKNOWN_KEY))
            return False
        if entry[-1] is not None:
            # The key has another spelling: both at once is for the interpreter.
            if any(k != key and self.keys.get(k, (None,))[-1] == entry[-1] for k in rest):
                raise Bail
        if value is None:
            return False
        if entry[0] == "leave":
            raise Bail
        if entry[0] == "shaped":
            return True
        if entry[3] is not None and value.__class__ not in entry[3]:
            raise Bail
        if value == {} or value == []:
            raise Bail
        check_json(value)
        notes.append(self._lost(key, entry[1], entry[2]))
        return False

    def apart(self, body: Any, system: Any, state: State, notes: list[Note]) -> list[Any]:
        """Let the interpreter convert system text that stands apart from the messages."""
        state.recovered += 1
        key = next(k for k, v in body.items() if v is system and self.keys[k][0] == "system")
        return self._system({key: system}, notes)

    def _system(self, part: dict[str, Any], notes: list[Note]) -> list[Any]:
        """Let the interpreter convert system text that stands apart."""
        body = self._part(part, notes, whole=True)
        if not self.lifts:
            found: Any = value_at(body, self.message_keys)
        else:
            found = value_at(body, self.system_keys)
            if len(self.system_keys) > 1 and len(value_at(body, self.system_keys[:-1]) or ()) > 1:
                raise Bail  # something stands beside the text
            if found.__class__ is str:
                found = [{**dict(self.block), self.text_key: found}]
        if found.__class__ is not list:
            raise Bail
        return found

    def fill(self, out: Any, notes: list[Note], order: tuple[str, ...]) -> dict[str, Any]:
        """Fill in what the target requires and is not there."""
        for keys, value, rule in self.filled:
            if value_at(out, keys) is None:
                told = f"`{keys[-1]}` is required here and was not there"
                notes.append(Note("filled-in", "added", "info", None, pointer(keys), rule, told))
                owner = out
                for key in keys[:-1]:
                    owner = owner.setdefault(key, {})
                owner[keys[-1]] = value
        return {key: out[key] for key in order if key in out}

    def _lost(self, key: str, code: str, told: str) -> Note:
        return Note(code, "lost", "warning", pointer((key,)), None, self.rule, told)

    def _part(
        self, part: dict[str, Any], notes: list[Note], whole: bool = False, alone: bool = True
    ) -> dict[str, Any]:
        """Let the interpreter convert some fields of a request, which may need others (`alone`)."""
        if self.base is None:
            body, told, _ = self.partial({self.prefix[0]: []})
            self.base = (body, told)
        base, left = self.base[0], list(self.base[1])
        body, told, _ = self.partial({**part, self.prefix[0]: []}, alone)
        for note in told:
            if note.code == "renamed":
                raise Bail
            if note in left:
                left.remove(note)
            else:
                notes.append(note)
        if whole:
            return body  # type: ignore[no-any-return]
        rest = {k: v for k, v in body.items() if k not in base or not same(v, base[k])}
        for note in left:
            key = (note.target_path or "/")[1:]
            if note.code != "filled-in" or key not in body:
                raise Bail
            rest[key] = body[key]
        if not rest.keys() <= self.shared:
            raise Bail
        return rest


def _copied(value: Any) -> Any:
    if value.__class__ is dict:
        return {
            k: _copied(v) if v.__class__ is dict or v.__class__ is list else v
            for k, v in value.items()
        }
    if value.__class__ is list:
        return [_copied(v) for v in value]
    return value


def _merged(old: Any, new: Any) -> Any:
    """Return a field that generated code and the interpreter wrote parts of."""
    if old.__class__ is not dict or new.__class__ is not dict:
        return new
    for key, value in new.items():
        old[key] = _merged(old.get(key), value)
    return old
