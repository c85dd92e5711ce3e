"""Compiling a pair of dialects: Python source that converts a list of messages, fused.

The generated function does what reader, conversation and writer do together on messages that need
no note; it hands every other message to `recover`, and raises BAIL where one message is not enough.
"""

from __future__ import annotations

from typing import Any

from ..language.model import Group
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture
from . import commits, elements, toolcode
from .looks import find
from .symbols import Cannot, Code, Const, Sym, Val
from .symread import Reading
from .target import PairJob, Target


class Pair(PairJob):
    """The generator for one pair: the function `messages` and the function `tools`."""

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
            group = self.aim(code, turn.role).group
            wire = group.cases[0].wire if group is not None else None
            if not isinstance(wire, Fields):
                raise Cannot
            found = f"out[{0 if turn.at == 'start' else -1}]"
            said = ((names[0], p.values[0]) for names, p in wire.entries if isinstance(p, Literal))
            tests = [f"{found}.get({k!r}) != {v!r}" for k, v in said if v is not ABSENT]
            code(f"if out and ({' or '.join(tests) or 'True'}): raise BAIL")

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
            target = self.aim(code, role)
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
        target = self.aim(code, role)
        for keys in reading.spares:
            keys.belongs(commits.rule_of(self, target), self.target.family)
        accs = target.accumulators()
        answers = self.aim(code, "tool") if splits else None
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
            elements.listed(self, code, hole, var, role, target, accs, answers, one, place)
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
            self.said(piece, var)
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
            elements.listed(self, code, source, var, "system", target, ["w"], None, False)
        code("if not w: raise BAIL")
        code("system += w")

    def _case_of(self, code: Code, name: str, var: str, key: str | None, sinks: list[Any]) -> None:
        elements.usual_case(self, code, self.source.cases_of(name), var, key, sinks, "at")
