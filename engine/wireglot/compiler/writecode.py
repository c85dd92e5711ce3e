"""Compiling the writing of a dialect: Python source that makes a request of IR without oddities.

The pair of two dialects is compiled here too, with the IR in the place of the source: its messages
are read by the code below, and the fields around them are those of `PICTURE`. What would be noted,
or remembers this dialect, is left to the interpreter.
"""

from __future__ import annotations

import itertools
from typing import Any

from ..language.ladder import Ladder
from ..language.model import Case, Dialect
from ..language.rulefile import load
from ..language.source import Node, Pos
from . import commits, plan
from .compile import Pair
from .elements import readable
from .looks import find
from .symbols import Cannot, Code, Const, NoFit, Sym, Val, odd_unless
from .symread import Reading
from .target import Target

FIELDS = (
    "model max_tokens temperature top_p top_k stop stream seed n presence_penalty "
    "frequency_penalty tool_choice parallel_tool_calls reasoning response_format user"
).split()
PICTURE: dict[str, Any] = {
    "wireglot": 2,
    "dialect": "the IR",
    "shapes": {
        "text": {"wire": {"type": "text", "text": "$text"}},
        "function": {
            "wire": {
                "name": "$name",
                "description": "$description (optional)",
                "parameters": "$parameters (optional)",
                "strict": "$strict (optional)",
            }
        },
    },
    "conversation": {
        "wire": {"parts": "$parts each text"},
        "cases": {role: {"wire": {"role": role}} for role in ("user", "assistant")},
    },
    "request": {
        "wire": {
            "messages": "$messages as conversation",
            "tools": "$tools each function (optional)",
            **{name: f"${name} (optional)" for name in FIELDS},
        }
    },
}
# The kinds of part that generated code writes, by role.
KINDS = {
    "user": ("text", "image"),
    "tool": ("tool_result",),
    "assistant": ("tool_call", "text"),
    "system": ("text",),
}


def make(dialect: Dialect, ladder: Ladder) -> dict[str, Any]:
    """Return the plan of writing; raises Cannot where it is left to the interpreter."""
    return plan.make(_picture(), dialect, ladder, WriteHalf)


def _picture() -> Dialect:
    lines = itertools.count(1)

    def node(value: Any) -> Node:
        pos = Pos("the IR", next(lines), 1)
        if isinstance(value, dict):
            keys = dict.fromkeys(value, pos)
            return Node({key: node(child) for key, child in value.items()}, pos, keys)
        return Node(value, pos)

    return load(node(PICTURE))


class WriteHalf(Pair):
    """The generator of `messages`, `tools`, `system` and `request` for IR and one dialect."""

    seen = ("spelled",)

    def reading(
        self, code: Code, case: Case, known: str | None = None, place: str | None = None
    ) -> Reading:
        """Return what reads a case of the IR; what else it holds is left."""
        return Reading(code, case, self.source, known=known)

    def lose(
        self,
        code: Code,
        obj: dict[str, Sym],
        path: str,
        value: Val,
        rule: Pos,
        drops: dict[str, str],
    ) -> None:
        """Write the note of a field without a place; in IR nothing says where that came from."""
        super().lose(
            code, obj, path, Val(value.code, value.cls, value.maybe, place="0"), rule, drops
        )

    def _dispatch(self, code: Code) -> None:
        code("if m.__class__ is not dict: raise ODD")
        code("r = m['role']; parts = m['parts']")
        code(f"if len(m) != 2 and (len(m) != 3 or foreign(m['spelled'], {self.target.name!r})):")
        code("    raise ODD")
        code("if parts.__class__ is not list or not parts: raise ODD")
        head = "if"
        for role in KINDS:
            piece = code.fork()
            piece.depth += 1
            try:
                self._role(piece, role)
            except (Cannot, NoFit):
                piece.lines[:] = ["    " * piece.depth + "raise ODD"]
            code(f"{head} r == {role!r}:")
            code.join(piece)
            head = "elif"
        code("else: raise ODD")

    def _role(self, code: Code, role: str) -> None:
        if role == "system" and self.lifts:
            hole = find(self.target.units["request"].cases[0].wire, "system")
            if hole is None or hole.shape is None:
                raise Cannot
            code("if out: raise BAIL")
            code("w = []; new = {}")
            self._parts(code, role, [Target(self, None, None, [hole]).sink(code, "w")])
            code("system += w")
            return
        target = self.aim(code, role)
        if role == "tool":
            self.others = ["False"]
            code("t = []; gone = {}; new = {}")
            self._parts(code, role, [target.sink(code, "t")])
            commits.commit(self, code, role, target, {}, ["t"])
            return
        accs = target.accumulators()
        self._short(code, role, target)
        code("; ".join([*(f"{a} = []" for a in accs), "new = {}"]))
        self._parts(code, role, [target.sink(code, *accs)])
        commits.commit(self, code, role, target, {}, accs)

    def _short(self, code: Code, role: str, target: Target) -> None:
        """Write the short way of a message that is one plain text."""
        if target.group is None or target.group.spliced:
            return
        if not any(map(self._holds_text, target.holes)):
            return
        if self.talk.per == "run" and len(target.holes) > 1:
            return
        piece = code.fork()
        piece("e = parts[0]")
        size = "len(parts) == 1 and e.__class__ is dict and len(e) == 2"
        with piece.block(f"if {size} and e['type'] == 'text':"):
            piece("v = e['text']")
            piece("if v.__class__ is not str: raise ODD")
            self.said(piece, "v")
            self.plainly(piece, "v", role, target, {})
        code.join(piece)

    def _parts(self, code: Code, role: str, sinks: list[Any]) -> None:
        """Write the loop over the parts of a message."""
        kinds = KINDS[role]
        with code.block("for e in parts:"):
            code("if e.__class__ is not dict: raise ODD")
            code("k = e['type']")
            head = "if"
            for kind in kinds:
                piece = code.fork()
                piece.depth += 1
                try:
                    getattr(self, f"_{kind}")(piece, sinks)
                except (Cannot, NoFit):
                    continue
                code(f"{head} k == {kind!r}:")
                code.join(piece)
                head = "elif"
            code("raise ODD" if head == "if" else "else: raise ODD")

    def _text(self, code: Code, sinks: list[Any]) -> None:
        code("if len(e) != 2: raise ODD")
        code("v = e['text']")
        code("if v.__class__ is not str or not (v.isascii() or v.encode()): raise ODD")
        _give(code, {"type": Const("text"), "text": Val("v", "str")}, sinks)

    def _image(self, code: Code, sinks: list[Any]) -> None:
        code("if len(e) != 2: raise ODD")
        code("o = e['source']")
        code("if o.__class__ is not dict or len(o) != 3 or o['type'] != 'base64': raise ODD")
        source: dict[str, Sym] = {"type": Const("base64")}
        for key, name in (("media_type", "s"), ("data", "v")):
            code(f"{name} = o[{key!r}]")
            code(f"if {name}.__class__ is not str or not ({name}.isascii() or {name}.encode()):")
            code("    raise ODD")
            source[key] = Val(name, "str")
        readable(self, code, source)
        _give(code, {"type": Const("image"), "source": source}, sinks)

    def _tool_call(self, code: Code, sinks: list[Any]) -> None:
        code("ref = e['id']; n = e['name']; v = e['arguments']")
        for name in ("ref", "n"):
            code(f"if {name}.__class__ is not str or not ({name}.isascii() or {name}.encode()):")
            code("    raise ODD")
        code("if v.__class__ is not dict or not ref: raise ODD")
        code("if ref in new: raise BAIL")
        code("new[ref] = n")
        base = {"type": Const("tool_call"), "id": Val("ref", "str"), "name": Val("n", "str")}
        self._either(code, "arguments", 4, {"dict": base}, sinks)

    def _tool_result(self, code: Code, sinks: list[Any]) -> None:
        code("ref = e['tool_call_id']; v = e['value']")
        code("if ref.__class__ is not str: raise ODD")
        common = {"tool_call_id": Val("ref", "str")}
        self.answered(code, common)
        code("if e['name'] != n: raise BAIL")
        base: dict[str, Sym] = {"type": Const("tool_result"), **common}
        self.named(base)
        data = {**base, "kind": Const("data")}
        with code.block("if e['kind'] == 'text':"):
            code("if len(e) != 5: raise ODD")
            code("if v.__class__ is not str or not (v.isascii() or v.encode()): raise ODD")
            _give(code, {**base, "kind": Const("text"), "value": Val("v", "str")}, sinks)
        with code.block("elif e['kind'] == 'data':"):
            self._either(code, "value", 5, {"dict": data, "list": data}, sinks)
        code("else: raise ODD")

    def _either(
        self,
        code: Code,
        field: str,
        size: int,
        by_class: dict[str, dict[str, Sym]],
        sinks: list[Any],
    ) -> None:
        """Write what becomes of a value that may remember its JSON text."""
        for told in (False, True):
            head = f"if len(e) == {size}:" if not told else "else:"
            with code.block(head):
                if told:
                    code(f"if len(e) != {size + 1}: raise ODD")
                    code(f"j = e['{field}_json']")
                    odd_unless(code, "str", "j")
                word = "if"
                for cls, obj in by_class.items():
                    piece = code.fork()
                    piece.depth += 1
                    value = Val("v", cls, text="j" if told else None, raw=True)
                    try:
                        _give(piece, {**obj, field: value}, sinks)
                    except (Cannot, NoFit):
                        if len(by_class) == 1:
                            raise
                        piece.lines[:] = ["    " * piece.depth + "raise ODD"]
                    code(f"{word} v.__class__ is {cls}:")
                    if told and any("j" in _names(line) for line in piece.lines):
                        code("    means(j, v)")
                    code.join(piece)
                    word = "elif"
                code("else: raise ODD")


def _names(line: str) -> set[str]:
    """Return the names in a line of code."""
    return set("".join(c if c.isalnum() or c == "_" else " " for c in line).split())


def _give(code: Code, obj: dict[str, Sym], sinks: list[Any]) -> None:
    for sink in sinks:
        sink(code, obj)
