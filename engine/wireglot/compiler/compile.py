"""Compiling a pair of dialects: Python source that converts a list of messages, fused.

The generated function does what reader, conversation and writer do together on messages that need
no note; it hands every other message to `recover`, and raises BAIL where one message is not enough.
"""

from __future__ import annotations

from typing import Any

from ..language.ladder import Ladder
from ..language.model import Case, Conversation, Dialect, Group
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture
from ..language.source import Pos
from ..notes import foreign, no_place
from . import commits, elements, toolcode
from .looks import entries, find
from .symbols import Cannot, Code, Const, Sym, Val
from .symread import Reading
from .symwrite import write
from .target import Target


def _is(p: Picture, path: str) -> bool:
    return isinstance(p, Hole) and p.path == path


class Pair:
    """The generator for one pair: the function `messages` and the function `tools`."""

    seen: tuple[str, ...] = ()  # keys of the source's request that are looked at elsewhere

    def __init__(self, source: Dialect, target: Dialect, ladder: Ladder) -> None:
        if source.conversation is None or target.conversation is None:
            raise Cannot
        self.source, self.target = source, target
        self.talk: Conversation = target.conversation
        self.own: Conversation = source.conversation
        asked = {word for word, _ in self.talk.enforce}
        self.lifts = ("lift", "system") in self.talk.enforce
        self.sorted = "order-results-by-calls" in asked
        self.blankless, self.signed = "no-blank" in asked, "no-empty-text" in asked
        self.filler = "some-message" in asked
        self.first = next((kind for word, kind in self.talk.enforce if word == "put-first"), None)
        self.groups = {id(g): n for n, g in enumerate(self.talk.groups)}
        self.ladder = ladder
        self.prefix = [n[0] for n, c in entries(source) if _is(c, "messages")][:1]
        self.tools_key = next((n[0] for n, c in entries(source) if _is(c, "tools")), "")
        self.code = Code(0)
        self.alone = False  # the message holds one result and nothing else
        self.others: list[str] = []  # the accumulators of what is no result
        self.answer = ""  # the variable of that result's id
        self.open = "{}['role'] == 'assistant'"  # tells that the model says a message

    def write(self) -> None:
        """Write the functions `messages`, `tools` and `system` into `code`."""
        self._messages()
        toolcode.tools(self)
        toolcode.system(self)

    def _messages(self) -> None:
        code = self.code
        with code.block("def messages(wire, calls, state):"):
            code("out = []; system = []; open_calls = None; group = -1; prev = ''; mixed = False")
            code("message = None; okname = set(); ids = []; lost = []; last = 0")
            code("recover = state.recover")
            with code.block("for at, m in enumerate(wire):"):
                with code.block("try:"):
                    if self.sorted:
                        code("here = last")
                    self._dispatch(code)
                with code.block("except UNUSUAL:"):
                    code("state.last = last; lost = []")
                    commits.recovered(self, code)
            self.check(code)
            if any(word == "pair" for word, _ in self.talk.enforce):
                # Who answers some calls of the last turn has answered all that he will.
                code(f"if open_calls and not ({self.open.format('wire[-1]')}): raise BAIL")
            self._ends(code)
            if self.filler:
                code("if wire and not out: raise BAIL")
            code("return out, system")

    def _ends(self, code: Code) -> None:
        """Write the check that the first and the last message are whose they must be."""
        for turn in self.talk.turns:
            group = self._target(code, turn.role).group
            wire = group.cases[0].wire if group is not None else None
            if not isinstance(wire, Fields):
                raise Cannot
            found = f"out[{0 if turn.at == 'start' else -1}]"
            said = ((names[0], p.values[0]) for names, p in wire.entries if isinstance(p, Literal))
            tests = [f"{found}.get({k!r}) != {v!r}" for k, v in said if v is not ABSENT]
            code(f"if out and ({' or '.join(tests) or 'True'}): raise BAIL")

    def check(self, code: Code) -> None:
        """Write the check of all names and ids against the target's limits."""
        code("if not okname <= KNOWN: state.check_names(okname)")
        code("if ids: state.check_ids(ids)")

    def _dispatch(self, code: Code) -> None:
        first = True
        code("if m.__class__ is not dict: raise ODD")
        key = self._role_key()
        code(f"r = m[{key!r}]")
        usual = ("user", "tool", "assistant")
        words = [self._word(group, key) for group in self.own.groups]
        model = {w for w, g in zip(words, self.own.groups, strict=True) if self._says(g)}
        self.open = f"{{}}.get({key!r}) in {(*model,)!r}"
        for group in sorted(self.own.groups, key=lambda g: self.own.role(g.cases[0]) not in usual):
            word = self._word(group, key)
            if word is None or words.count(word) > 1:
                raise Cannot  # the pictures tell these messages apart otherwise
            if any(isinstance(c.ir, Fields) and "level" in c.ir.names for c in group.cases):
                continue
            with code.block(f"{'if' if first else 'elif'} r == {word!r}:"):
                piece = code.fork()
                try:
                    self._group(piece, group, key)
                    code.join(piece)
                except Cannot:
                    code("raise ODD")
            first = False
        with code.block("else:"):
            code("raise ODD")

    def _says(self, group: Group) -> bool:
        return self.own.role(group.cases[0]) == "assistant"

    def _role_key(self) -> str:
        for group in self.own.groups:
            wire = group.cases[0].wire
            if isinstance(wire, Fields):
                for (name, *_), child in wire.entries:
                    if isinstance(child, Literal) and isinstance(child.values[0], str):
                        return name
        raise Cannot

    def _word(self, group: Group, key: str) -> str | None:
        wire: Picture = group.cases[0].wire
        if group.spliced and isinstance(wire, Hole) and wire.shape:
            wire = self.source.cases_of(wire.shape)[0][1].wire
        if isinstance(wire, Fields):
            for (name, *_), child in wire.entries:
                if name == key and isinstance(child, Literal):
                    return str(child.values[0])
        return None

    def _group(self, code: Code, group: Group, key: str) -> None:
        role = self.own.role(group.cases[0])
        plain = next((c for c in group.cases if self.own.role(c) != "tool"), group.cases[0])
        if group.spliced:
            hole = group.cases[0].wire
            assert isinstance(hole, Hole) and hole.shape is not None
            target = self._target(code, role)
            self.alone = True
            self._case_of(code, hole.shape, "m", key, [target.sink(code, "w", alone=True)])
            commits.commit(self, code, role, target, {}, ["w"])
            self.alone = False
            return
        assert isinstance(plain.wire, Fields)
        role = self.own.role(plain)
        if role == "tool":
            raise Cannot
        reading = self.reading(code, plain, key, "at")
        reading.fields(plain.wire, "m", checked=True)
        self._body(code, role, reading, len(group.cases) > 1)

    def _body(self, code: Code, role: str, reading: Reading, splits: bool) -> None:
        """Write the code that fills the accumulators from the lists of a message."""
        fields = {k: v for k, v in reading.env.items() if "." not in k}
        if len(fields) != len(reading.env):
            raise Cannot
        if role == "system" and self.lifts:
            self._lift(code, reading, fields)
            return
        target = self._target(code, role)
        for keys in reading.spares:
            keys.belongs(commits.rule_of(self, target), self.target.family)
        accs = target.accumulators()
        answers = self._target(code, "tool") if splits else None
        self.others = accs
        self._plain(code, role, reading, fields, target)
        one = (
            target.bare
            and len(reading.lists) == 1
            and len(accs) == 1
            and "bare" in reading.lists[0][0].lenses
        )
        fresh = [f"{a} = []" for a in [*accs, *(["t"] if splits else [])]]
        fresh += ["gone = {}"] if splits else []
        code("; ".join([*fresh, "new = {}"]))
        for hole, var in reading.lists:
            place = f"at, {reading.keys[hole]!r}"
            self._list(code, hole, var, role, target, accs, answers, one, place)
        if splits:
            assert answers is not None
            # All that may be odd comes before the first effect.
            for value in fields.values():
                code(f"if {value.code} is not None: raise ODD")
            with code.block("if t:"):
                # What stands beside the list of a message belongs to the first that it becomes.
                rule = code.const(commits.rule_of(self, answers), "RULE")
                code(f"if lost: lost = beside(lost, {rule})")
                commits.commit(self, code, "tool", answers, {}, ["t"])
            with code.block(f"if {accs[0]} or not t:"):
                commits.commit(self, code, role, target, fields, accs)
        else:
            commits.commit(self, code, role, target, fields, accs)

    def _plain(
        self, code: Code, role: str, reading: Reading, fields: dict[str, Sym], target: Target
    ) -> None:
        """Write the short way of a message that is one plain text and nothing else."""
        found = next(((h, v) for h, v in reading.lists if "bare" in h.lenses), None)
        if found is None or target.group is None or target.group.spliced or role == "tool":
            return
        if not any(map(self._holds_text, target.holes)):
            return
        if self.talk.per == "run" and len(target.holes) > 1:
            return
        var = found[1]
        others = "".join(f" and {v} is None" for _, v in reading.lists if v != var)
        piece = code.fork()
        with piece.block(f"if {var}.__class__ is str{others}:"):
            self._said(piece, var)
            self.plainly(piece, var, role, target, fields)
        code.join(piece)

    def plainly(
        self, code: Code, var: str, role: str, target: Target, fields: dict[str, Sym]
    ) -> None:
        """Write what becomes of a message that is one plain text."""
        text = {"type": Const("text"), "text": Val(var, "str")}
        accs = ["None"] * len(target.holes)
        place = next(i for i, h in enumerate(target.holes) if self._holds_text(h))
        if "bare" in target.holes[place].lenses:
            accs[place] = var
        else:
            accs[place] = "w"
            target.sink(code, *accs, alone=True)(code, text)
        commits.commit(self, code, role, target, fields, accs, plain=True)
        code("continue")

    def _said(self, code: Code, var: str) -> None:
        """Write the check of a text that stands for a list of one block."""
        code(f"if not {var} or not ({var}.isascii() or {var}.encode()): raise ODD")
        if self.blankless:
            code(f"if {var}.isspace(): raise ODD")

    def _holds_text(self, hole: Hole) -> bool:
        return "text" in self.target.kinds_of(hole.shape or "")

    def _lift(self, code: Code, reading: Reading, fields: dict[str, Sym]) -> None:
        for value in fields.values():
            code(f"if {value.code} is not None: raise BAIL")
        code("if out: raise BAIL")
        hole = find(self.target.units["request"].cases[0].wire, "system")
        if hole is None or hole.shape is None:
            raise Cannot
        target = Target(self, None, None, [hole])
        code("w = []; new = {}")
        for source, var in reading.lists:
            self._list(code, source, var, "system", target, ["w"], None, False)
        code("if not w: raise BAIL")
        code("system += w")

    def _list(
        self,
        code: Code,
        hole: Hole,
        var: str,
        role: str,
        target: Target,
        accs: list[str],
        answers: Target | None,
        one: bool,
        place: str | None = None,
    ) -> None:
        """Write the code that reads one list of a message into the accumulators."""
        inner = place and f"{place}, nth"
        if hole.shape is None or hole.lenses not in ((), ("bare",), ("single",), ("listed",)):
            raise Cannot
        sinks = [target.sink(code, *accs)]
        bare = "bare" in hole.lenses
        if bare and self.source.plain_kind(hole.shape) != "text":
            raise Cannot
        text = {"type": Const("text"), "text": Val(var, "str")}
        head = "if"
        if bare:
            with code.block(f"if {var}.__class__ is str:"):
                self._said(code, var)
                if one:
                    code(f"{accs[0]} = {var}")
                else:
                    sinks[0](code, text)
            head = "elif"
        if hole.mark in ("fill", "optional", "refused", "read-only"):
            code(f"{head} {var} is None: pass")
            head = "elif"
        if hole.dated or "single" in hole.lenses:
            with code.block("else:" if head == "elif" else f"if {var} is not None:"):
                code("raise ODD")
            return
        with code.block(f"{head} {var}.__class__ is list:"):
            code(f"if not {var}: raise ODD")
            with code.block(f"for nth, e in enumerate({var}):" if inner else f"for e in {var}:"):
                elements.element(self, code, hole.shape, "e", sinks, answers, inner)
        with code.block("else:"):
            code("raise ODD")

    def _case_of(self, code: Code, name: str, var: str, key: str | None, sinks: list[Any]) -> None:
        elements.usual_case(self, code, self.source.cases_of(name), var, key, sinks, "at")

    def reading(
        self, code: Code, case: Case, known: str | None = None, place: str | None = None
    ) -> Reading:
        """Return what reads a case of the source into symbols."""
        return Reading(code, case, self.source, known=known, place=place)

    def behind(self, code: Code) -> None:
        """Write the check that a result comes first: what stands before it moves behind it."""
        code(f"if {' or '.join(self.others)}: raise ODD")

    def answered(self, code: Code, fields: dict[str, Sym]) -> None:
        """Pair a result with its call: it must answer the message before it, in order."""
        key = fields["tool_call_id"].code
        twice = "" if self.alone else f" or {key} in gone"
        code(f"if open_calls is None{twice}: raise BAIL")
        if self.sorted:
            code(f"i = open_calls.get({key}, -1)")
            code("if i < here: raise BAIL")
            code("here = i")
            code(f"n = calls[{key}]")
        else:
            code(f"n = open_calls.get({key})")
            code("if n is None: raise BAIL")
        if self.alone:
            self.answer = key
        else:
            code(f"gone[{key}] = None")
        if "name" in fields:
            code(f"if {fields['name'].code} != n: raise BAIL")

    def tool(self, code: Code, obj: dict[str, Sym]) -> None:
        """Write one function of the target's tools."""
        done = "found.append({})".format
        strict, given = obj.get("strict"), obj.get("parameters")
        name = next((name for word, name in self.talk.enforce if word == "strict"), None)
        if name is not None and isinstance(strict, Val) and isinstance(given, Val):
            schema = code.const(self.target.schemas[name], "SCHEMA")
            code(f"if {strict.code} is True and not {schema}.strictly({given.code}): raise ODD")
        write(code, self.target, "function", obj, self.limit, self.lose, lambda c, x: c(done(x)))

    def named(self, obj: dict[str, Sym]) -> None:
        """Give a result the name of its call."""
        obj["name"] = Val("n", "str", derived=True)

    def _target(self, code: Code, role: str) -> Target:
        for group in self.talk.groups:
            for case in group.cases:
                if self.talk.role(case) == role and not (
                    isinstance(case.ir, Fields) and any(n[0] == "level" for n, _ in case.ir.entries)
                ):
                    if group.spliced:
                        assert isinstance(case.wire, Hole)
                        return Target(self, group, case, [case.wire])
                    usual = [h for h in case.lists.get("parts", []) if not h.dated]
                    return Target(self, group, case, usual)
        raise Cannot

    def _steps(self, kind: str, field: str, obj: dict[str, Sym]) -> bool:
        """Tell whether the ladder may have a step for a field of an object without a place."""
        for row in self.ladder.get(kind, ()):
            named = {names[0]: child for names, child in row.before.entries}
            there = {n for n in named if isinstance(obj.get(n), Val) and not obj[n].maybe}
            missing = {n for n, p in named.items() if isinstance(p, Literal) and ABSENT in p.values}
            if field in named and not there & missing:
                return True
        return False

    def lose(
        self,
        code: Code,
        obj: dict[str, Sym],
        path: str,
        value: Val,
        rule: Pos,
        drops: dict[str, str],
    ) -> None:
        """Write the note of a field that has no place in the target, or leave it all."""
        kind = obj.get("type")
        what = str(kind.value) if isinstance(kind, Const) else "function"
        last = path.rpartition(".")[2]
        noted = value.place and value.cls in ("str", "bool", "int") and "." not in path
        if not noted or self._steps(what, last, obj):
            code(f"if {value.code} is not None: raise ODD")
            return
        if path in drops:
            note = ("dropped", drops[path], rule)
        elif last == "signature":
            note = ("foreign-signature", foreign(self.source.name), rule)
        else:
            note = ("no-place", no_place(path), rule)
        told = code.const(note, "LOST")
        code(f"if {value.code} is not None: lost.append((*{told}, ({value.place},)))")

    def limit(self, code: Code, obj: dict[str, Sym], path: str, value: Val) -> None:
        """Write the check of a name or id against the target's limits."""
        kind = obj.get("type")
        what = kind.value if isinstance(kind, Const) else "function"
        if path == "name" and what in ("tool_call", "tool_result", "function", "custom"):
            if "tool_name" in self.target.limits and value.code != "n":
                code(f"okname.add({value.code})")
        elif path == "text" and what == "text" and self.blankless:
            code(f"if not {value.code} or {value.code}.isspace(): raise ODD")
        elif path == "text" and what == "text" and self.signed:
            code(f"if not {value.code}: raise ODD")
        elif path == "id" and what == "tool_call" and "call_id" in self.target.limits:
            code(f"ids.append({value.code})")
