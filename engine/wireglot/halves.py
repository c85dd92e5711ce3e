"""The two halves of a conversion at run time, compiled: requests to IR, and IR to requests.

Generated code takes what holds nothing odd; `None` leaves a value to the interpreter. The fields
around messages and tools are the interpreter's, asked once and remembered by value.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

from . import jsontext
from .errors import WireglotError
from .fast import REMEMBERED_SIZE, _copied
from .payload import MAX_NUMBER, check_json
from .results import Reading
from .state import REMEMBERED, UNUSUAL, Bail, Odd, clean

LEAVE = (*UNUSUAL, Bail, RecursionError, WireglotError)
Slow = Callable[[Any, "str | None", "bool | None"], Reading]


def split(parts: list[dict[str, Any]], message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a list in which results and other parts stand together."""
    found: list[dict[str, Any]] = []
    for part in parts:
        role = "tool" if part["type"] == "tool_result" else message["role"]
        if not found or found[-1]["role"] != role:
            found.append({"role": role, "parts": []})
        found[-1]["parts"].append(part)
    return found


class Reads:
    """The compiled reading of the requests of one dialect."""

    def __init__(self, plan: dict[str, Any], name: str, slow: Slow) -> None:
        self.name, self.slow = name, slow
        self.memo: dict[Any, Reading] = {}
        scope: dict[str, Any] = {
            "ODD": Odd,
            "BAIL": Bail,
            "JSON_STARTS": ("{", "["),
            "loads": jsontext.load,
            "clean": clean,
            "check_json": check_json,
            "split": split,
            "BIG": MAX_NUMBER,
            **plan["consts"],
        }
        text, file = plan["text"], f"<wireglot reading {name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), scope)
        self.messages, self.tools, self.system = (
            scope[function] for function in ("messages", "tools", "system")
        )
        self.keys: tuple[Any, ...] = (plan["messages"], plan["tools"], plan["system"])
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
            ir, notes = self.rest(rest, model, stream)
        except LEAVE:
            return None
        ir = _copied(ir)
        ir["messages"] = messages
        if found is not None:
            ir["tools"] = found
        return Reading(ir, notes)

    def rest(self, rest: dict[str, Any], model: str | None, stream: bool | None) -> Reading:
        """Return what the interpreter reads of the fields around the messages."""
        text = (repr(rest), model, stream)
        known = self.memo.get(text)
        if known is None:
            known = self.slow({**rest, self.keys[0]: []}, model, stream)
            known = Reading(_copied(known.ir), known.notes)
            if len(text[0]) <= REMEMBERED_SIZE:
                if len(self.memo) >= REMEMBERED:
                    self.memo.clear()
                self.memo[text] = known
        return known
