"""Compiling the reading of a dialect: Python source that makes IR of a request without oddities.

The generated functions take only what the interpreter would read without a note and without
anything to remember; all else raises, and the interpreter reads the whole request.
"""

from __future__ import annotations

from typing import Any

from ..ir import OPAQUE
from ..language.model import Case, Conversation, Dialect, Group
from ..language.picture import ABSENT, Fields, Hole, Text
from . import elements, scope, standins, toolcode
from .compile import Pair
from .looks import entries, find, gathering
from .symbols import Cannot, Code, Const, NoFit, Sym, Val
from .symread import Reading

# Shapes of which what is read decides the case that is written, and those with a first that fits.
DECIDED, FIRST = ("tool_result", "text", "tool_call"), ("function",)


def make(dialect: Dialect) -> dict[str, Any]:
    """Return the generated source and its constants; raises Cannot where nothing is compiled."""
    if scope.interpreted(dialect) or dialect.conversation is None:
        raise Cannot
    half = ReadHalf(dialect)
    half.write()
    keys = {hole: names[0] for names, hole in entries(dialect) if isinstance(hole, Hole)}
    found: dict[str, tuple[Hole, str]] = {}
    for hole, key in keys.items():
        found.setdefault(hole.path, (hole, key))
    if "messages" not in found or found["messages"][0].lenses:
        raise Cannot
    if any(found[path][0].dated for path in ("messages", "tools") if path in found):
        raise Cannot  # that they stood there is remembered
    wire = dialect.units["request"].cases[0].wire
    tools = found.get("tools")
    usual = tools is not None and tools[0].mode == "each" and not set(tools[0].lenses) - {"listed"}
    return {
        "text": "\n".join([*half.code.lines, *half.code.below]) + "\n",
        "consts": half.code.consts,
        "messages": found["messages"][1],
        "tools": tools[1] if tools is not None and usual else None,
        "system": half.system_key,
        "spots": standins.read(wire, dialect.family),
    }


class ReadHalf(Pair):
    """The generator of `messages(wire)`, `tools(wire)` and `system(v)` for one dialect."""

    def __init__(self, source: Dialect) -> None:
        talk = source.conversation
        if talk is None:
            raise Cannot
        self.source: Dialect = source
        self.own: Conversation = talk
        self.code = Code(0)
        self.sorted = self.alone = False
        self.system_key: str | None = None

    # -- what elements ask for --------------------------------------------------------------------

    def reading(
        self, code: Code, case: Case, known: str | None = None, place: str | None = None
    ) -> Reading:
        """Return what reads a case; it leaves what would have to be remembered."""
        first = case is self.source.shapes[case.shape].cases[0] if case.shape in FIRST else False
        if case.doubles and case.shape not in DECIDED and not first:
            raise Cannot  # which case it was may be remembered
        return Reading(code, case, self.source, known=known, strict=True)

    def behind(self, code: Code) -> None:
        """Results stand in the IR where they were."""

    def answered(self, code: Code, fields: dict[str, Sym]) -> None:
        """Pair a result with an open call."""
        code(f"n = open_calls.pop({fields['tool_call_id'].code}, None)")
        code("if n is None: raise BAIL")
        if "name" in fields:
            code(f"if {fields['name'].code} != n: raise BAIL")

    def sink(self, _: Code, *accs: str) -> Any:
        """Return what writes the code for one part."""
        return self.put

    def put(self, code: Code, obj: dict[str, Sym]) -> None:
        """Append a part of the IR."""
        code(f"parts.append({made(code, obj)})")

    def tool(self, code: Code, obj: dict[str, Sym]) -> None:
        """Append a function of the IR."""
        code(f"found.append({made(code, obj)})")

    # -- the functions ----------------------------------------------------------------------------

    def write(self) -> None:
        """Write the functions into `code`."""
        code = self.code
        with code.block("def messages(wire):"):
            code("out = []; calls = {}; open_calls = {}; group = -1")
            with code.block("for m in wire:"):
                code("if m.__class__ is not dict: raise ODD")
                self._dispatch(code)
            code("return out")
        for name, body in (("tools(wire)", self._tools), ("system(v)", self._system)):
            with code.block(f"def {name}:"):
                piece = code.fork()
                try:
                    body(piece)
                    code.join(piece)
                except (Cannot, NoFit):
                    code("raise ODD")

    def _group(self, code: Code, group: Group, key: str) -> None:
        case, number = group.cases[0], self.own.groups.index(group)
        role = self.own.role(case)
        if group.spliced:
            if any(self.own.role(c) == role for g in self.own.groups[:number] for c in g.cases):
                raise Cannot  # which of them it was is remembered
            self._spliced(code, case, role, number, key)
            return
        splits = any(self.own.role(c) == "tool" for c in group.cases)
        plain = next((c for c in group.cases if self.own.role(c) != "tool"), case)
        if not isinstance(case.wire, Fields) or (plain.ir is not None and _says(plain.ir)):
            raise Cannot
        if self.own.per == "run":
            code(f"if group == {number}: raise ODD")
        reading = self.reading(code, case, key)
        reading.fields(case.wire, "m", checked=True)
        code("parts = []; new = {}")
        lists = case.lists.get("parts", [])
        for hole, var in reading.lists:
            self.parts(code, hole, var, lists)
        role = self.own.role(plain)
        # Without parts, what stood there is remembered.
        code("if not parts: raise ODD")
        items = [f"'role': {role!r}, 'parts': parts"]
        fields = {path: value for path, value in reading.env.items() if path != "parts"}
        code(f"message = {{{', '.join(items)}}}")
        for path, value in fields.items():
            if "." in path or path in OPAQUE or not isinstance(value, Val) or path == "role":
                raise Cannot
            code(f"if {value.code} is not None: message[{path!r}] = {value.code}")
        if splits:
            some = " or ".join([*(f"{v.code} is not None" for v in fields.values()), "False"])
            with code.block("if any([p['type'] == 'tool_result' for p in parts]):"):
                code(f"if {some}: raise ODD")
                with code.block("for one in split(parts, message):"):
                    code("if open_calls and one['role'] != 'tool': raise BAIL")
                    code("out.append(one)")
            with code.block("else:"):
                code("if open_calls: raise BAIL")
                code("out.append(message)")
        else:
            code("if open_calls: raise BAIL")
            code("out.append(message)")
        with code.block("if new:"):
            if role != "assistant":
                code("raise BAIL")
            code("size = len(calls); calls.update(new)")
            code("if len(calls) != size + len(new): raise BAIL")
            code("open_calls = new")
        code(f"group = {number}")

    def _spliced(self, code: Code, case: Case, role: str, number: int, key: str) -> None:
        """Write the reading of a message that is one part, as results may be."""
        hole = case.wire
        if not isinstance(hole, Hole) or hole.shape is None or role != "tool":
            raise Cannot
        code("parts = []")
        elements.usual_case(
            self, code, self.source.cases_of(hole.shape), "m", key, [self.put], None
        )
        code(f"if group == {number}: out[-1]['parts'] += parts")
        code(f"else: out.append({{'role': {role!r}, 'parts': parts}}); group = {number}")

    def parts(self, code: Code, hole: Hole, var: str, lists: list[Hole]) -> None:
        """Write the reading of one list of parts."""
        if hole.dated:
            code(f"if {var} is not None: raise ODD")
            return
        if hole.shape is None or hole.lenses not in ((), ("bare",), ("listed",)):
            raise Cannot
        kinds = self.source.kinds_of
        if hole in lists[1:]:
            earlier = lists[: lists.index(hole)]
            if any(kinds(o.shape or "") & kinds(hole.shape) for o in earlier):
                raise Cannot  # the list that it stood in is remembered
        head, bare = "if", "bare" in hole.lenses
        if bare:
            kind = self.source.plain_kind(hole.shape)
            with code.block(f"if {var}.__class__ is str:"):
                code(f"if not {var} or not ({var}.isascii() or {var}.encode()): raise ODD")
                code(f"parts.append({{'type': {kind!r}, 'text': {var}}})")
            head = "elif"
        if hole.mark in ("fill", "optional"):
            code(f"{head} {var} is None: pass")
            head = "elif"
        with code.block(f"{head} {var}.__class__ is list:"):
            code(f"if not {var}: raise ODD")
            code("first = len(parts)")
            with code.block(f"for e in {var}:"):
                elements.element(self, code, hole.shape, "e", [self.put], self, None)
            if bare:
                # One plain text would be written as such.
                with code.block("if len(parts) == first + 1:"):
                    code("one = parts[first]")
                    code("if one['type'] == 'text' and len(one) == 2: raise ODD")
        code("else: raise ODD")

    def _tools(self, code: Code) -> None:
        code("if wire.__class__ is not list or not wire: raise ODD")
        gathered = gathering(self.source)
        inner = "function"
        if gathered is not None:
            key, inner = gathered
            code("if len(wire) != 1 or wire[0].__class__ is not dict: raise ODD")
            code("if len(wire[0]) != 1: raise ODD")
            code(f"wire = wire[0][{key!r}]")
            code("if wire.__class__ is not list or not wire: raise ODD")
        shape = self.source.shapes.get(inner)
        if shape is None:
            raise Cannot
        code("found = []")
        with code.block("for e in wire:"):
            code("if e.__class__ is not dict: raise ODD")
            toolcode.function_cases(self, code, shape, "")
        code("return found")

    def _system(self, code: Code) -> None:
        wire = self.source.units["request"].cases[0].wire
        assert isinstance(wire, Fields)
        hole = find(wire, "system")
        if hole is None:
            raise Cannot
        for (key, *_), child in wire.entries:
            if child is hole:
                self.system_key = key
            elif isinstance(child, Fields) and find(child, "system") is hole:
                inner = next((n[0] for n, c in child.entries if c is hole), None)
                if inner is None:
                    raise Cannot
                self.system_key = key
                code("if v.__class__ is not dict or len(v) != 1: raise ODD")
                code(f"v = v[{inner!r}]")
        if self.system_key is None:
            raise Cannot
        code("parts = []; open_calls = {}; new = {}")
        self.parts(code, hole, "v", [hole])
        code("if not parts or new: raise ODD")
        code("return parts")


def _says(ir: Any) -> bool:
    """Tell whether a message's `ir` picture says more than its role."""
    return not isinstance(ir, Fields) or bool(set(ir.names) - {"role"})


def made(code: Code, obj: dict[str, Sym]) -> str:
    """Return the code of an IR object, after code that checks what is in it."""
    items: list[str] = []
    later: list[tuple[str, str]] = []
    for key, value in obj.items():
        if key == "spare":
            continue
        if isinstance(value, dict):
            items.append(f"{key!r}: {made(code, value)}")
        elif isinstance(value, Const):
            if value.value is ABSENT:
                continue
            if isinstance(value.value, Text) or not isinstance(value.value, str | bool | int):
                raise Cannot
            items.append(f"{key!r}: {value.value!r}")
        elif key in OPAQUE:
            if not value.maybe:
                raise Cannot
            code(f"if {value.code} is not None: raise ODD")
        else:
            if value.raw:
                unless = f"if {value.code} is not None: " if value.maybe else ""
                code(f"{unless}clean({value.code})")
            if value.text is not None:
                items.append(f"'{key}_json': {value.text}")
            if value.maybe:
                later.append((key, value.code))
            else:
                items.append(f"{key!r}: {value.code}")
    body = "{" + ", ".join(items) + "}"
    if not later:
        return body
    out = code.name("w")
    code(f"{out} = {body}")
    for key, expression in later:
        code(f"if {expression} is not None: {out}[{key!r}] = {expression}")
    return out
