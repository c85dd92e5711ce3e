"""The two halves of a conversion at run time, compiled: requests to IR, and IR to requests.

Generated code takes what holds nothing odd; `None` leaves a value to the interpreter. The fields
around messages and tools are the interpreter's, asked once and remembered by value.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from typing import Any

from .. import jsontext
from ..errors import WireglotError
from ..interpreter import admission, sight
from ..language.ladder import Ladder
from ..language.model import Dialect
from ..notes import Draft, Note
from ..payload import check_json
from ..results import Conversion, Reading
from .fast import Fast, Models, Partial, _new
from .standins import Said, Spots, put_back, swapped
from .state import (
    REMEMBERED,
    REMEMBERED_SIZE,
    SCOPE,
    UNUSUAL,
    Bail,
    Lost,
    Odd,
    State,
    remember,
    shown,
)
from .symbols import Cannot, NoFit

LEAVE = (*UNUSUAL, Bail, RecursionError, WireglotError)
_HEAD = {"": {"head": True}}
Slow = Callable[[Any, "str | None", "bool | None"], Reading]
Asked = tuple[bytes, "str | None", "bool | None"]  # the fields around the messages, model, stream
Known = tuple[bytes, tuple[Note, ...]]  # the IR of them, and the notes


# A rule file of a form that the compiler never met is left to the interpreter.
CANNOT = (Cannot, NoFit, LookupError, AssertionError, AttributeError, TypeError)


def reads(model: Dialect, slow: Slow) -> Reads | None:
    """Return the compiled reading of a dialect's requests, None where nothing is compiled.

    `slow` reads in the interpreter.
    """
    from . import readcode

    try:
        return Reads(readcode.make(model), model.name, slow)
    except CANNOT:
        return None


def writes(model: Dialect, ladder: Ladder, partial: Partial, rules_hash: str) -> Writes | None:
    """Return the compiled writing of a dialect's requests, None where nothing is compiled.

    `partial` writes some fields of a request in the interpreter.
    """
    from . import writecode

    try:
        plan = writecode.make(model, ladder)
    except CANNOT:
        return None
    return Writes(plan, lambda: (model, model, ladder), partial, rules_hash)


def split(parts: list[dict[str, Any]], message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a list in which results and other parts stand together."""
    found: list[dict[str, Any]] = []
    for part in parts:
        role = "tool" if part["type"] == "tool_result" else message["role"]
        if not found or found[-1]["role"] != role:
            found.append({"role": role, "parts": []})
        found[-1]["parts"].append(part)
    return found


def foreign(spelled: Any, name: str) -> bool:
    """Tell whether a memory says more than that system text stood apart in other dialects."""
    if spelled.__class__ is not dict or name in spelled:
        return True
    return any(entry != _HEAD or not other.isascii() for other, entry in spelled.items())


def means(text: str, value: Any) -> None:
    """Raise Odd unless JSON text stands for a value; that is sure where it is what writes it."""
    write = jsontext.spaced if '": ' in text else jsontext.utf8_text
    if write(value) != text:
        check_json(value)
        if not sight.means(text, value):
            raise Odd


class Reads:
    """The compiled reading of the requests of one dialect."""

    def __init__(self, plan: dict[str, Any], name: str, slow: Slow) -> None:
        self.name, self.slow = name, slow
        self.memo: dict[Asked, Known] = {}
        self.text: str = plan["text"]
        file = f"wireglot: reading {name}"
        scope: dict[str, Any] = {
            **SCOPE,
            **shown(file, self.text),
            "split": split,
            **plan["consts"],
        }
        exec(compile(self.text, file, "exec"), scope)
        self.messages, self.tools, self.system = (
            scope[function] for function in ("messages", "tools", "system")
        )
        self.keys: tuple[Any, ...] = (plan["messages"], plan["tools"], plan["system"])
        self.spots: Spots = plan["spots"]
        self.apart = frozenset(key for key in self.keys if key is not None)

    def run(self, body: Any, model: str | None, stream: bool | None) -> Reading | None:
        """Read a request; None where it holds something odd."""
        if body.__class__ is not dict:
            return None
        at, tools, system = self.keys
        try:
            messages = self.messages(body[at])
            if not messages:
                return None
            if system in body:
                messages.insert(
                    0,
                    {
                        "role": "system",
                        "parts": self.system(body[system]),
                        "spelled": {self.name: {"": {"head": True}}},
                    },
                )
            found = self.tools(body[tools]) if tools in body else None
            rest = {key: value for key, value in body.items() if key not in self.apart}
            asked = marshal.dumps(rest, 2), model, stream
            known, notes = self.memo.get(asked) or self.rest(asked, rest)
        except LEAVE:
            return None
        ir = marshal.loads(known)
        ir["messages"] = messages
        if found is not None:
            if "tools" in ir:  # another key has tools, too, and memory says which are whose
                return None
            ir["tools"] = found
        done: Reading = _new(Reading, (ir, notes))
        return done

    def rest(self, asked: Asked, rest: dict[str, Any]) -> Known:
        """Return what the interpreter reads of the fields around the messages, and remember it."""
        said: Said = []
        free = swapped(rest, self.spots, said)
        if said:
            usual = marshal.dumps(free, 2), *asked[1:]
            known, notes = self.memo.get(usual) or self._keep(usual, *self._slow(free, asked))
            ir = marshal.loads(known)
            if put_back(ir, said):
                return self._keep(asked, ir, notes)
        return self._keep(asked, *self._slow(rest, asked))

    def _slow(self, rest: dict[str, Any], asked: Asked) -> Reading:
        return self.slow({**rest, self.keys[0]: []}, *asked[1:])

    def _keep(self, asked: Asked, ir: Any, notes: tuple[Note, ...]) -> Known:
        known = marshal.dumps(ir, 2), notes
        if len(asked[0]) <= REMEMBERED_SIZE:
            if len(self.memo) >= REMEMBERED:
                self.memo.clear()
            self.memo[asked] = known
        return known


class _Surroundings(State):
    """Of a request that is IR: what would be noted is left to the interpreter."""

    def recover(self, *_: Any) -> list[Any]:
        """Leave the request."""
        raise Bail

    def joined(self, at: int, message: Any) -> None:
        """Leave the request."""
        raise Bail

    def lose(self, lost: list[Lost], *prefix: str) -> None:
        """Draft the notes of what has no place; a path into IR would say nothing."""
        for code, told, rule, _ in lost:
            self._drafted().append(Draft(code, "lost", None, rule, told))


class Writes(Fast):
    """The compiled writing of the requests of one dialect."""

    states = _Surroundings
    leave = LEAVE  # what is no IR raises anything; the interpreter says what it is

    def __init__(
        self, plan: dict[str, Any], models: Models, partial: Partial, rules_hash: str
    ) -> None:
        """Hold generated code; `partial` writes some fields of a request in the interpreter."""
        plan["consts"] |= {"foreign": foreign, "means": means}
        self.text: str = plan["text"]
        self.memories: set[bytes] = set()  # of spelling, that are right
        super().__init__(plan, models, partial, rules_hash)

    def run(self, body: Any, model: str | None, stream: bool | None) -> Conversion:
        """Write a request; raises one of `leave` for the interpreter."""
        if body.__class__ is not dict or None in body.values():
            raise Bail
        if "spelled" in body:
            memory = body["spelled"]
            if memory.__class__ is not dict or self.target.name in memory:
                raise Bail
            mark = marshal.dumps(memory, 2)
            if mark not in self.memories:
                check_json(memory)
                admission.check({"messages": [], "spelled": memory}, "request")
                remember(self.memories, mark)
        return super().run(body, model, stream)

    def together(self, body: Any, tools: Any) -> Any:
        """Leave tools that are unusual, and choices among tools that are not there."""
        raise Bail

    def _whole(self, body: Any) -> Any:
        return body

    def _kept(self, key: str, value: Any, rest: dict[str, Any], notes: list[Note]) -> bool:
        if key not in self.keys or value is None:
            raise Bail
        check_json(value)
        return True
