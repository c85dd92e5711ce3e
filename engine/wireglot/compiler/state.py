"""What generated code asks of its surroundings: checks, and the interpreter for one message."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Container, Sequence, Set
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from .. import jsontext
from ..language.lenses import Misfit, plain64
from ..language.nodes import unsound
from ..language.picture import ABSENT, Fields, Literal
from ..notes import ONE_ROLE, UNKNOWN_KEY, Draft, own_field
from ..payload import MAX_NUMBER, check_json
from .symbols import Spare

if TYPE_CHECKING:
    from ..interpreter.hands import Writer
    from ..language.ladder import Ladder
    from ..language.model import Dialect


class Odd(Exception):
    """Raised by generated code: the interpreter takes this element."""


class Bail(Exception):
    """Raised by generated code: the interpreter takes the whole request."""


UNUSUAL = (Odd, Misfit, KeyError, TypeError, ValueError, AttributeError, IndexError)
REMEMBERED = 512  # values, of each kind
REMEMBERED_SIZE = 4000  # bytes of a value
Lost = tuple[str, str, Any, tuple[Any, ...]]  # a note's code, its message, the rule, the place
_ascii = str.isascii


def clean(value: dict[str, Any], depth: int = 0) -> None:
    """Raise Odd (or what UNUSUAL names) for an object of the payload that is no plain JSON."""
    if depth > 50:
        raise Odd
    if not all(map(_ascii, value)):  # TypeError for a key that is no text
        for key in value:
            key.encode()
    for item in value.values():
        kind = item.__class__
        if kind is str:
            if not item.isascii():
                item.encode()
        elif kind is dict:
            clean(item, depth + 1)
        elif kind is list:
            _clean_list(item, depth + 1)
        elif kind is int:
            if not -MAX_NUMBER < item < MAX_NUMBER:
                raise Odd
        elif kind is float:
            if item - item != 0:
                raise Odd
        elif kind is not bool and item is not None:
            raise Odd


def _clean_list(items: list[Any], depth: int) -> None:
    if depth > 51:
        raise Odd
    for item in items:
        kind = item.__class__
        if kind is str:
            if not item.isascii():
                item.encode()
        elif kind is dict:
            clean(item, depth + 1)
        elif kind is list:
            _clean_list(item, depth + 1)
        elif kind is int:
            if not -MAX_NUMBER < item < MAX_NUMBER:
                raise Odd
        elif kind is float:
            if item - item != 0:
                raise Odd
        elif kind is not bool and item is not None:
            raise Odd


def remember(seen: set[bytes], mark: bytes) -> None:
    """Add the bytes of a value that passed, unless they are many."""
    if len(mark) <= REMEMBERED_SIZE:
        if len(seen) >= REMEMBERED:
            seen.clear()
        seen.add(mark)


class _Shown:
    """A loader of generated code, of which tracebacks ask for its lines."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, name: str) -> str:
        """Return the code."""
        return self.text


def shown(file: str, text: str) -> dict[str, Any]:
    """Return the names in the scope of generated code by which tracebacks find its lines."""
    return {"__name__": file, "__loader__": _Shown(text)}


# What all generated code names.
SCOPE: dict[str, Any] = {
    "ODD": Odd,
    "BAIL": Bail,
    "BIG": MAX_NUMBER,
    "JSON_STARTS": ("{", "["),
    "clean": clean,
    "dumps": marshal.dumps,
    "loads": jsontext.parse,
    "plain64": plain64,
    "unsound": unsound,
    "remember": remember,
}


def spare(obj: dict[str, Any], keys: Spare, *place: Any) -> list[Lost]:
    """Return the notes of an object's further keys; raises Odd where the interpreter must see them.

    Nulls say nothing, and neither does a literal that may stand instead of nothing.
    """
    found: list[Lost] = []
    for key, value in obj.items():
        if key in keys.known:
            continue
        key.encode()  # ValueError for half of a surrogate pair, even where nothing is said
        if value is None:
            continue
        if key in keys.words and any(
            value is word or (value.__class__ is str and value == word) for word in keys.words[key]
        ):
            continue
        if not keys.rule or key in keys.named or value == {} or value == []:
            raise Odd
        check_json({key: value})
        if key in keys.own:
            code, told = "own-field", own_field(key)
        else:
            code, told = "unknown-key", UNKNOWN_KEY
        found.append((code, told, keys.rule, (*place, key)))
    return found


def beside(lost: list[Lost], rule: Any) -> list[Lost]:
    """Let notes of what stands in a message itself point to another rule."""
    return [(*one[:2], rule, one[3]) if len(one[3]) == 2 else one for one in lost]


def _answers(part: dict[str, Any]) -> bool:
    return part.get("type") == "tool_result"


class Ready(Protocol):
    """A compiled pair; `fast.Fast` is one."""

    names: set[str]
    prefix: Any
    lifts: bool
    sorted: bool
    hooks: bool
    talk: Any
    bare: bool
    block: Any
    block_keys: set[str]
    text_key: Any

    @property
    def name_ok(self) -> Callable[[str], Any] | None: ...
    @property
    def ids_ok(self) -> Callable[[str], Any] | None: ...
    @property
    def source(self) -> Dialect: ...
    @property
    def target(self) -> Dialect: ...
    @property
    def ladder(self) -> Ladder: ...
    @property
    def groups(self) -> dict[int, int]: ...


class State:
    """What the generated functions of one conversion ask of their surroundings."""

    # Most conversions ask for nothing, so what is usual stands here and costs them nothing.
    early: Sequence[tuple[str, str, Any, Any, str]] = ()
    drafts: Sequence[Draft] = ()
    open: dict[str, Any] | None = None
    last = 0
    chain: Any = None  # the seeds of the history, where calls have no ids
    at = 0  # the message that is recovered
    nth = 0  # how many ids were made for it
    recovered = 0
    names: Set[str] = frozenset()  # the names of the tools that generated code converted
    alone: Any = None  # the block of system text that is no block in the body

    def __init__(self, fast: Ready, body: Any) -> None:
        self.fast, self.body = fast, body

    def bare(self, wires: list[Any]) -> Any:
        """Return the text of one plain text block, or the list."""
        if self.fast.bare and len(wires) == 1 and wires[0].__class__ is dict:
            block = wires[0]
            if block.keys() == self.fast.block_keys and all(
                block[k] == v for k, v in self.fast.block
            ):
                return block[self.fast.text_key]
        return wires

    def block(self, text: str) -> dict[str, Any]:
        """Return a text as a plain text block."""
        return {**dict(self.fast.block), self.fast.text_key: text}

    def _drafted(self) -> list[Draft]:
        if not isinstance(self.drafts, list):
            self.drafts = []
        return self.drafts

    def lose(self, lost: list[Lost], *prefix: str) -> None:
        """Draft the notes of what has no place."""
        for code, told, rule, place in lost:
            self._drafted().append(Draft(code, "lost", (*prefix, *place), rule, told))

    def forget(self, since: int) -> None:
        """Take back what was drafted since there were so many: it is done again."""
        if isinstance(self.drafts, list):
            del self.drafts[since:]

    def check_names(self, names: set[str]) -> None:
        """Raise Bail unless all names are within the target's limits."""
        fast = self.fast
        if fast.name_ok is not None:
            for name in names:
                if not fast.name_ok(name):
                    raise Bail
        if len(fast.names) > 4 * REMEMBERED:
            fast.names.clear()
        fast.names |= names

    def check_ids(self, ids: list[str]) -> None:
        """Raise Bail unless all ids are within the target's limits."""
        if self.fast.ids_ok is not None:
            text = "\n".join(ids) + "\n"
            if not self.fast.ids_ok(text) or text.count("\n") != len(ids):
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
        self.at, self.nth = at, 0
        from ..interpreter import conversation
        from ..interpreter.hands import Reader, Writer

        fast = self.fast
        check_json(m)
        reader = Reader(fast.source, {})
        try:
            _, messages = conversation.read_message(reader, m, (*fast.prefix, at))
        except Misfit:
            raise Bail from None
        writer = Writer(fast.target, False, reader.trail, {"part": True}, fast.ladder)
        writer.calls = calls
        self.open = open_calls
        found: list[Any] = []
        for message in messages:
            if message["role"] == "system" and fast.lifts:
                self._lifted(writer, message, out, system)
                continue
            if "level" in message and fast.lifts:
                raise Bail
            if message["role"] == "tool" and not any(map(_answers, message["parts"])):
                raise Bail  # it is the turn of somebody else
            self._pair(message, calls, writer)
            try:
                found.extend(self._written(writer, message))
            except Misfit:
                raise Bail from None
        if writer.beside or any(d.code == "renamed" for d in writer.notes):
            raise Bail
        writer.settle()
        if not isinstance(self.early, list):
            self.early = []
        self.early.extend(reader.notes)
        self._drafted().extend(writer.notes)
        return found

    def _lifted(self, writer: Writer, message: Any, out: list[Any], system: list[Any]) -> None:
        from ..interpreter import enforce, share
        from .looks import find

        hole = find(self.fast.target.units["request"].cases[0].wire, "system")
        if out or hole is None:
            raise Bail
        try:
            parts, beside = enforce.lift(writer, [message])
            if beside:
                raise Bail  # some of it stands in the messages
            found = [wire for _, wire in share.share(writer, [hole], parts)[id(hole)]]
        except Misfit:
            raise Bail from None
        if not found:
            raise Bail  # alone, it is said by the user
        system.extend(found)

    def joined(self, at: int, message: Any) -> None:
        """Draft the note that two messages of one role become one."""
        at_message = (*self.fast.prefix, at)
        self._drafted().append(
            Draft("joined", "changed", at_message, self.fast.talk, ONE_ROLE, message)
        )

    def _pair(self, message: dict[str, Any], calls: dict[str, str], writer: Writer) -> None:
        new: dict[str, Any] = {}
        for part in message["parts"]:
            kind = part.get("type")
            if kind == "tool_call":
                key = part.get("id")
                if key is None and self.fast.hooks:
                    key = part["id"] = self._made(calls, part, writer)
                if not isinstance(key, str) or not key or key in calls or key in new:
                    raise Bail
                if message["role"] != "assistant":
                    raise Bail
                calls[key] = part["name"]
                new[key] = len(new) if self.fast.sorted else part["name"]
            elif kind == "tool_result":
                if message["role"] != "tool":
                    raise Bail
                key = part.get("tool_call_id")
                if key is None and self.fast.hooks and self.open:
                    # Where many wait, the interpreter finds it sooner.
                    near = islice(self.open, 64)
                    named = (k for k in near if calls[k] == part.get("name"))
                    key = part["tool_call_id"] = next(named, None)
                    writer.made.add(id(part))
                if not isinstance(key, str) or not self.open or key not in self.open:
                    raise Bail
                place = self.open.pop(key)
                if self.fast.sorted:
                    if place < self.last:
                        raise Bail
                    self.last = place
                part.setdefault("name", calls[key])
        if message["role"] != "tool":
            if self.open:
                raise Bail
            self.open, self.last = (new or None), 0

    def _made(self, taken: Container[str], part: Any, writer: Writer) -> str:
        from .. import seeds

        if self.chain is None:
            self.chain = seeds.Chain(self.body)
        writer.made.add(id(part))
        self.nth += 1
        seed = self.chain.at((*self.fast.prefix, self.at))
        return seeds.call_id(seed, str(self.nth - 1), taken)

    def _written(self, writer: Writer, message: dict[str, Any]) -> list[Any]:
        from ..interpreter import conversation, enforce, placing, share

        fast = self.fast
        talk = fast.target.conversation
        assert talk is not None
        if "cache" in fast.target.bounds and any("cache" in part for part in message["parts"]):
            raise Bail  # how many there are, one message does not tell
        group, case, message = placing.case_of(writer, talk, message)
        if group.spliced or talk.per != "run":
            return conversation._write_run(writer, talk, group, [(case, message)])
        hole = case.lists["parts"][0]
        writer.role = message["role"]
        parts = enforce.users(writer, talk, message["role"], message["parts"])
        shares = share.share(writer, case.lists["parts"], parts)
        found = [wire for _, wire in shares[id(hole)]]
        if not found:
            raise Bail
        placing.unplaced(writer, message, case.pos)
        head = {}
        assert isinstance(case.wire, Fields)
        for (name, *_), child in case.wire.entries:
            if isinstance(child, Literal) and child.values[0] is not ABSENT:
                head[name] = child.values[0]
        return [(fast.groups[id(group)], message["role"], found, head)]
