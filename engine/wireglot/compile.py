"""Compiling a pair of dialects: Python source that converts a list of messages, fused.

The generated function does what reader, conversation and writer do together on messages that need
no note; it hands every other message to `recover`, and raises BAIL where one message is not enough.
"""

from __future__ import annotations

from typing import Any

from . import emit
from .conversation import MESSAGE
from .emit import ABSENT, Cannot, Code, Const, NoFit, Reading, Sym, Val
from .picture import Fields, Hole, Literal, Picture
from .rulefile import Case, Conversation, Dialect, Group, Shape

HOT = ("tool_call", "tool_result", "text")


class Pair:
    """The generator for one pair: the function `messages` and the function `tools`."""

    def __init__(self, source: Dialect, target: Dialect) -> None:
        if source.conversation is None or target.conversation is None:
            raise Cannot
        self.source, self.target = source, target
        self.talk: Conversation = target.conversation
        self.own: Conversation = source.conversation
        asked = {word for word, _ in self.talk.enforce}
        self.lifts = ("lift", "system") in self.talk.enforce
        self.sorted = "order-results-by-calls" in asked
        self.first = next((kind for word, kind in self.talk.enforce if word == "put-first"), None)
        self.groups = {id(g): n for n, g in enumerate(self.talk.groups)}
        self.code = Code(0)

    def source_text(self) -> tuple[str, dict[str, Any]]:
        """Return the Python source and the constants that it names."""
        self._messages()
        self._tools()
        self._system()
        return "\n".join(self.code.lines) + "\n", self.code.consts

    # -- messages -------------------------------------------------------------------------------

    def _messages(self) -> None:
        code = self.code
        with code.block("def messages(wire, calls, state, seat):"):
            code("out = []; system = []; open_calls = None; group = -1; prev = ''; mixed = False")
            code("message = None; okname = set(); ids = []; recover = state.recover; last = -1")
            with code.block("for at, m in enumerate(wire):"):
                with code.block("try:"):
                    self._dispatch(code)
                with code.block("except UNUSUAL:"):
                    if self.source.hooks:
                        code("state.seat = seat")
                    self._recovered(code)
            code("state.check(okname, ids)")
            code("return out, system")

    def _dispatch(self, code: Code) -> None:
        first = True
        code("if m.__class__ is not dict: raise ODD")
        key = self._role_key()
        code(f"r = m[{key!r}]")
        usual = ("user", "tool", "assistant")
        for group in sorted(self.own.groups, key=lambda g: self.own.role(g.cases[0]) not in usual):
            word = self._word(group, key)
            if word is None or any(
                isinstance(c.ir, Fields) and "level" in c.ir.names for c in group.cases
            ):
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
            code("w = []; new = []")
            target = self._target(code, role)
            self._case_of(code, hole.shape, "m", key, [target.sink(code, "w")])
            self._commit(code, role, target, {}, ["w"])
            return
        assert isinstance(plain.wire, Fields)
        role = self.own.role(plain)
        reading = Reading(code, plain, self.source, known=key)
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
        accs = target.accumulators()
        answers = self._target(code, "tool") if splits else None
        one = (
            target.bare
            and len(reading.lists) == 1
            and len(accs) == 1
            and "bare" in reading.lists[0][0].lenses
        )
        code("; ".join(f"{a} = []" for a in [*accs, "new"] + (["t"] if splits else [])))
        whole = None
        if one and self.talk.per == "run" and role in ("user", "system"):

            def whole(text: str) -> None:
                for value in fields.values():
                    code(f"if {value.code} is not None: raise ODD")
                if self.source.hooks:
                    code("seat += 1")
                    code("if open_calls: state.stale = True")
                code("open_calls = None")
                assert target.case is not None and isinstance(target.case.wire, Fields)
                assert target.group is not None
                number = self.groups[id(target.group)]
                self._join(code, role, target, target.case.wire, number, text, text=True)
                code("continue")

        for hole, var in reading.lists:
            self._list(code, hole, var, role, target, accs, answers, one, whole)
        if splits:
            assert answers is not None
            with code.block("if t:"):
                self._commit(code, "tool", answers, {}, ["t"])
            with code.block(f"if {accs[0]} or not t:"):
                self._commit(code, role, target, fields, accs)
        else:
            self._commit(code, role, target, fields, accs)

    def _lift(self, code: Code, reading: Reading, fields: dict[str, Sym]) -> None:
        for value in fields.values():
            code(f"if {value.code} is not None: raise BAIL")
        code("if out: raise BAIL")
        hole = _find(self.target.units["request"].cases[0].wire, "system")
        if hole is None or hole.shape is None:
            raise Cannot
        target = Target(self, None, None, [hole])
        code("w = []; new = []")
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
        whole: Any = None,
    ) -> None:
        """Write the code that reads one list of a message into the accumulators.

        `whole` writes the code for a message that is one plain text, which needs no list.
        """
        if hole.shape is None:
            raise Cannot
        sinks = [target.sink(code, *accs)]
        bare = "bare" in hole.lenses
        text = {"type": Const("text"), "text": Val(var, "str")}
        head = "if"
        if bare:
            with code.block(f"if {var}.__class__ is str:"):
                code(f"if not {var} or not ({var}.isascii() or {var}.encode()): raise ODD")
                if whole is not None:
                    whole(var)
                elif one:
                    code(f"{accs[0]} = {var}")
                else:
                    sinks[0](code, text)
            head = "elif"
        if hole.mark in ("else", "optional"):
            code(f"{head} {var} is None: pass")
            head = "elif"
        with code.block(f"{head} {var}.__class__ is list:"):
            code(f"if not {var}: raise ODD")
            with code.block(f"for e in {var}:"):
                self._element(code, hole.shape, "e", sinks, answers)
        with code.block("else:"):
            code("raise ODD")

    def _element(
        self, code: Code, name: str, var: str, sinks: list[Any], answers: Target | None
    ) -> None:
        """Write the dispatch over the kinds of an element."""
        code(f"if {var}.__class__ is not dict: raise ODD")
        found = self.source.cases_of(name)
        by_word: dict[str, list[tuple[Shape, Case]]] = {}
        by_key: dict[str, list[tuple[Shape, Case]]] = {}
        key = _tag(found)
        for shape, case in found:
            if not isinstance(case.wire, Fields) or shape.gathers:
                continue
            word = _literal(case.wire, key) if key else None
            if word is not None:
                by_word.setdefault(word, []).append((shape, case))
            else:
                needed = [n[0] for n, c in case.wire.entries if emit._needed(c)]
                if needed:
                    by_key.setdefault(needed[0], []).append((shape, case))
        head = "if"
        if by_word:
            code(f"k = {var}[{key!r}]")
        order = sorted(by_word, key=lambda w: not any(s.kind in HOT for s, _ in by_word[w]))
        for word in order:
            head = self._branch(
                code, f"{head} k == {word!r}:", by_word[word], var, key, sinks, answers, head
            )
        for needed_key in sorted(
            by_key, key=lambda w: not any(s.kind in HOT for s, _ in by_key[w])
        ):
            head = self._branch(
                code,
                f"{head} {needed_key!r} in {var}:",
                by_key[needed_key],
                var,
                None,
                sinks,
                answers,
                head,
            )
        if head == "if":
            code("raise ODD")
        else:
            with code.block("else:"):
                code("raise ODD")

    def _branch(
        self,
        code: Code,
        line: str,
        cases: list[tuple[Shape, Case]],
        var: str,
        key: str | None,
        sinks: list[Any],
        answers: Target | None,
        head: str,
    ) -> str:
        piece = code.fork()
        piece.depth += 1
        hot = [pair for pair in cases if pair[0].kind in HOT] or cases
        used = sinks
        if hot[0][0].kind == "tool_result":
            if answers is None:
                return head
            used = [answers.sink(code, "t")]
        try:
            self._cases(piece, hot, var, key, used)
        except (Cannot, NoFit):
            return head
        code(line)
        code.join(piece)
        return "elif"

    def _case_of(self, code: Code, name: str, var: str, key: str | None, sinks: list[Any]) -> None:
        self._cases(code, self.source.cases_of(name), var, key, sinks)

    def _cases(
        self,
        code: Code,
        cases: list[tuple[Shape, Case]],
        var: str,
        key: str | None,
        sinks: list[Any],
    ) -> None:
        """Read an element by its usual case and write it; results have a case for each kind."""
        shape = cases[0][0]
        if shape.kind == "tool_result":
            self._result(code, [c for s, c in cases if s is shape], shape, var, key, sinks)
            return
        usual = next((c for _, c in cases if _usual(c)), None)
        if usual is None:
            raise Cannot
        owner = next(s for s, c in cases if c is usual)
        reading = Reading(code, usual, self.source, known=key)
        assert isinstance(usual.wire, Fields)
        reading.fields(usual.wire, var, checked=True)
        if reading.lists:
            raise Cannot
        for _, other in cases:
            if other is usual:
                break
            self._exclude(code, other.wire, usual.wire, reading, var)
        obj = reading.build(owner)
        if owner.kind == "tool_call":
            code(f"new.append(({obj['id'].code}, {obj['name'].code}))")
        for sink in sinks:
            sink(code, obj)

    def _exclude(
        self, code: Code, rival: Picture, usual: Picture, reading: Reading, var: str
    ) -> None:
        """Raise ODD where a narrower case would have read this."""
        if not isinstance(rival, Fields) or not isinstance(usual, Fields):
            return
        mine = {n[0]: c for n, c in usual.entries}
        for (key, *_), child in rival.entries:
            own = mine.get(key)
            if isinstance(child, Literal) and isinstance(own, Literal):
                if not set(map(repr, child.values)) & set(map(repr, own.values)):
                    return
            if own is None and emit._needed(child):
                return  # the usual case was read without this key
            if isinstance(child, Literal) and isinstance(own, Literal) and own.values[0] is ABSENT:
                if child.values[0] is not ABSENT:
                    return
        for (key, *_), child in rival.entries:
            own = mine.get(key)
            if isinstance(child, Fields) and isinstance(own, Hole):
                needed = [n[0] for n, c in child.entries if emit._needed(c)]
                value = reading.env.get(own.path)
                if needed and isinstance(value, Val):
                    code(f"if {needed[0]!r} in {value.code}: raise ODD")
                    return
            if isinstance(child, Fields) and isinstance(own, Fields):
                self._exclude(code, child, own, reading, var)
                return
        raise Cannot

    # -- results ----------------------------------------------------------------------------------

    def _result(
        self,
        code: Code,
        cases: list[Case],
        shape: Shape,
        var: str,
        key: str | None,
        sinks: list[Any],
    ) -> None:
        """Read a tool result: text, or the JSON of data, or an object."""
        text = next((c for c in cases if _kind(c) == "text"), None)
        data = next((c for c in cases if _kind(c) == "data"), None)
        whole = next((c for c in cases if _kind(c) == "data" and _spread(c.wire)), None)
        if text is None or data is None:
            raise Cannot
        base = whole or text
        reading = Reading(code, base, self.source, known=key)
        assert isinstance(base.wire, Fields)
        reading.fields(base.wire, var, checked=True)
        value = reading.env.pop("value")
        if reading.lists:
            raise Cannot
        common = reading.env

        def build(case: Case, fields: dict[str, Sym]) -> dict[str, Sym]:
            one = Reading(code, case, self.source)
            one.env = {**common, **fields}
            obj = one.build(shape)
            self._named(obj)
            return obj

        code(
            f"n = state.answer(calls, open_calls, {common['tool_call_id'].code}, last)"
        ) if False else None
        self._answered(code, common)
        if whole is not None:
            self._object(code, cases, value, build, sinks)
            return
        loaded = code.name("d")
        as_text = code.fork()
        as_data = code.fork()
        for sink in sinks:
            sink(as_text, build(text, {"value": Val(value.code, "str", plain=True)}))
            data_value = Val(loaded, "dict", text=value.code)
            sink(as_data, build(data, {"value": data_value}))
        if as_text.lines == as_data.lines:
            code.join(as_text)
            return
        code(f"{loaded} = None")
        with code.block(f"if {value.code}.lstrip()[:1] in JSON_STARTS and {value.code}:"):
            code(f"try: {loaded} = loads({value.code})")
            code("except ValueError: pass")
        for cls in ("dict", "list"):
            with code.block(f"{'if' if cls == 'dict' else 'elif'} {loaded}.__class__ is {cls}:"):
                for sink in sinks:
                    sink(code, build(data, {"value": Val(loaded, cls, text=value.code)}))
        with code.block("else:"):
            for sink in sinks:
                sink(code, build(text, {"value": Val(value.code, "str", plain=True)}))

    def _object(
        self, code: Code, cases: list[Case], value: Val, build: Any, sinks: list[Any]
    ) -> None:
        """Read a result that is an object: one closed form is text, others are left, else data."""
        text = next(c for c in cases if _kind(c) == "text")
        whole = next(c for c in cases if _kind(c) == "data" and _spread(c.wire))
        inner = _closed(text.wire)
        if inner is None:
            raise Cannot
        x = value.code
        with code.block(f"if len({x}) == 1:"):
            for case in cases:
                closed = _closed(case.wire)
                if closed is not None and closed != inner:
                    code(f"if {closed!r} in {x}: raise ODD")
            with code.block(f"if {inner!r} in {x}:"):
                piece = code.name("o")
                code(f"{piece} = {x}[{inner!r}]")
                emit.odd_unless(code, "str", piece)
                for sink in sinks:
                    sink(code, build(text, {"value": Val(piece, "str")}))
            with code.block("else:"):
                for sink in sinks:
                    sink(code, build(whole, {"value": Val(x, "dict")}))
        with code.block("else:"):
            for sink in sinks:
                sink(code, build(whole, {"value": Val(x, "dict")}))

    def _answered(self, code: Code, fields: dict[str, Sym]) -> None:
        """Pair the result with its call: it must answer the message before it, in order."""
        key = fields["tool_call_id"].code
        code("if open_calls is None: raise BAIL")
        code(f"i = open_calls.pop({key}, -1)")
        code("if i < 0: raise BAIL")
        if self.sorted:
            code("if i < last: raise BAIL")
            code("last = i")
        code(f"n = calls[{key}]")
        if "name" in fields:
            code(f"if {fields['name'].code} != n: raise BAIL")

    def _named(self, obj: dict[str, Sym]) -> None:
        obj["name"] = Val("n", "str", derived=True)

    # -- the target -----------------------------------------------------------------------------

    def _target(self, code: Code, role: str) -> Target:
        for group in self.talk.groups:
            for case in group.cases:
                if self.talk.role(case) == role and not (
                    isinstance(case.ir, Fields) and any(n[0] == "level" for n, _ in case.ir.entries)
                ):
                    if group.spliced:
                        assert isinstance(case.wire, Hole)
                        return Target(self, group, case, [case.wire])
                    return Target(self, group, case, case.lists.get("parts", []))
        raise Cannot

    def _commit(
        self, code: Code, role: str, target: Target, fields: dict[str, Sym], accs: list[str]
    ) -> None:
        """Write the code that appends what was made, and books the calls."""
        assert target.group is not None and target.case is not None
        for value in fields.values():
            if not value.maybe:
                raise Cannot
        code(f"if not ({' or '.join(accs)}): raise ODD")
        if self.talk.per == "run" or target.group.spliced:
            for value in fields.values():
                code(f"if {value.code} is not None: raise ODD")
        if self.source.hooks:
            # Made ids depend on the place of a message in the IR.
            code("seat += 1")
            if role != "tool":
                code("if open_calls: state.stale = True")
        if role == "assistant":
            with code.block("if new:"):
                code("size = len(calls); calls.update(new)")
                code("if len(calls) != size + len(new): raise BAIL")
                code("open_calls = dict(zip([i for i, _ in new], NUMBERS)); last = -1")
            with code.block("else:"):
                code("open_calls = None")
        elif role != "tool":
            code("if new: raise BAIL")
            code("open_calls = None")
        if target.group.spliced:
            code(f"out += {accs[0]}")
            return
        number = self.groups[id(target.group)]
        wire = target.case.wire
        assert isinstance(wire, Fields)
        if self.talk.per == "run":
            self._join(code, role, target, wire, number, accs[0])
        else:
            self._whole(code, wire, target, accs, fields)

    def _whole(
        self, code: Code, wire: Fields, target: Target, accs: list[str], fields: dict[str, Sym]
    ) -> None:
        items: list[str] = []
        later: list[str] = []
        taken: set[str] = set()
        for (key, *_), child in wire.entries:
            if isinstance(child, Literal):
                if child.values[0] is not ABSENT:
                    items.append(f"{key!r}: {child.values[0]!r}")
            elif isinstance(child, Hole) and child.mode == "each" and child in target.holes:
                acc = accs[target.holes.index(child)]
                if "bare" in child.lenses:
                    self._bare(code, child, acc)
                elif child.lenses:
                    raise Cannot
                if child.mark == "optional":
                    later.append(f"if {acc}: message[{key!r}] = {acc}")
                else:
                    none = f" or {child.value!r}" if child.mark == "else" else ""
                    items.append(f"{key!r}: {acc}{none}")
            elif isinstance(child, Hole) and child.path in fields:
                code_of = fields[child.path].code
                taken.add(child.path)
                later.append(f"if {code_of} is not None: message[{key!r}] = {code_of}")
            elif isinstance(child, Hole) and child.mark == "optional":
                continue
            else:
                raise Cannot
        for path, value in fields.items():
            if path not in taken:
                code(f"if {value.code} is not None: raise ODD")
        code("message = {" + ", ".join(items) + "}")
        for line in later:
            code(line)
        code("out.append(message)")

    def _bare(self, code: Code, hole: Hole, acc: str) -> None:
        """Write one plain text block as its text."""
        tests = " and ".join(f"{acc}[0].get({k!r}) == {v!r}" for k, v in self._plain(hole)[0])
        size = len(self._plain(hole)[0]) + 1
        key = self._plain(hole)[1]
        with code.block(f"if {acc}.__class__ is list and len({acc}) == 1:"):
            test = f"len({acc}[0]) == {size}" + (f" and {tests}" if tests else "")
            code(f"if {test}: {acc} = {acc}[0][{key!r}]")

    def _plain(self, hole: Hole) -> tuple[list[tuple[str, str]], str]:
        """Return the literals and the text key of the target's plain text block."""
        for shape, case in self.target.cases_of(hole.shape or ""):
            if shape.kind == "text" and isinstance(case.wire, Fields):
                fixed = [
                    (n[0], str(c.values[0]))
                    for n, c in case.wire.entries
                    if isinstance(c, Literal) and c.values[0] is not ABSENT
                ]
                for names, child in case.wire.entries:
                    if isinstance(child, Hole) and child.path == "text":
                        return fixed, names[0]
        raise Cannot

    def _join(
        self,
        code: Code,
        role: str,
        target: Target,
        wire: Fields,
        number: int,
        acc: str,
        text: bool = False,
    ) -> None:
        """Write the code that joins neighbours of one skeleton into one wire message."""
        hole = target.holes[0]
        key = next(n[0] for n, c in wire.entries if c is hole)
        items = [
            f"{n[0]!r}: {c.values[0]!r}"
            for n, c in wire.entries
            if isinstance(c, Literal) and c.values[0] is not ABSENT
        ]
        if target.bare and not text and role != "tool":
            self._bare(code, hole, acc)
        with code.block(f"if group == {number}:"):
            if role != "tool":
                code(f"if prev == {role!r}: state.joined(at)")
            elif self.first == "tool_result":
                code("if mixed: raise BAIL")
            if target.bare:
                fixed, name = self._plain(hole)
                block = ", ".join(f"{k!r}: {v!r}" for k, v in fixed)
                block = "{" + (f"{block}, " if block else "") + f"{name!r}: %s" + "}"
                code(f"c = message[{key!r}]")
                code(f"if c.__class__ is str: c = message[{key!r}] = [{block % 'c'}]")
                if text:
                    code(f"c.append({block % acc})")
                elif role == "tool":
                    code(f"c += {acc}")
                else:
                    code(f"if {acc}.__class__ is str: c.append({block % acc})")
                    code(f"else: c += {acc}")
            else:
                code(f"message[{key!r}] += {acc}")
        with code.block("else:"):
            body = ", ".join([*items, f"{key!r}: {acc}"])
            code(f"message = {{{body}}}; out.append(message); group = {number}; mixed = False")
        code(f"prev = {role!r}")
        if role != "tool":
            code("mixed = True")

    def _recovered(self, code: Code) -> None:
        """Write the code that takes what the interpreter made of one message."""
        if self.talk.per == "run":
            key = self._content_key()
            with code.block("for g, role, w, head in recover(m, at, calls, open_calls, out, system):"):
                with code.block("if g == group:"):
                    code("if role == prev != 'tool': state.joined(at)")
                    if self.first == "tool_result":
                        code("if role == 'tool' and mixed: raise BAIL")
                    code(f"c = message[{key!r}]")
                    code(f"if c.__class__ is str: c = message[{key!r}] = [state.block(c)]")
                    code("c += w")
                with code.block("else:"):
                    code(f"message = head; head[{key!r}] = state.bare(w); out.append(head)")
                    code("group = g; mixed = False")
                code("prev = role")
                code("if role != 'tool': mixed = True")
        else:
            code("out += recover(m, at, calls, open_calls, out, system)")
        code("open_calls = state.open; last = state.last")
        if self.source.hooks:
            code("seat = state.seat")

    def _content_key(self) -> str:
        wire = self.talk.groups[0].cases[0].wire
        if not isinstance(wire, Fields):
            raise Cannot
        for names, child in wire.entries:
            if isinstance(child, Hole) and child.path == "parts":
                return names[0]
        raise Cannot

    # -- system text that stands apart ------------------------------------------------------------

    def _system(self) -> None:
        code = self.code
        with code.block("def system(v, state):"):
            piece = code.fork()
            try:
                self._system_body(piece)
                code.join(piece)
            except (Cannot, NoFit):
                code("raise ODD")

    def _system_body(self, code: Code) -> None:
        wire = self.source.units["request"].cases[0].wire
        assert isinstance(wire, Fields)
        hole = _find(wire, "system")
        if hole is None:
            raise Cannot
        for _, child in wire.entries:
            if isinstance(child, Fields) and _find(child, "system") is hole:
                key = next((n[0] for n, c in child.entries if c is hole), None)
                if key is None:
                    raise Cannot
                code("if v.__class__ is not dict or len(v) != 1: raise ODD")
                code(f"v = v[{key!r}]")
        code("okname = set(); ids = []; w = []; new = []")
        if self.lifts:
            there = _find(self.target.units["request"].cases[0].wire, "system")
            if there is None:
                raise Cannot
            self._list(code, hole, "v", "system", Target(self, None, None, [there]), ["w"], None, False)
            code("if not w: raise ODD")
            code("return w")
            return
        target = self._target(code, "system")
        self._list(code, hole, "v", "system", target, ["w"], None, target.bare)
        code("if not w: raise ODD")
        code("out = []")
        assert target.case is not None and isinstance(target.case.wire, Fields)
        self._whole(code, target.case.wire, target, ["w"], {})
        code("return out")

    # -- tools ------------------------------------------------------------------------------------

    def _tools(self) -> None:
        code = self.code
        with code.block("def tools(wire, state):"):
            piece = code.fork()
            try:
                self._tools_body(piece)
                code.join(piece)
            except (Cannot, NoFit):
                code("raise ODD")

    def _tools_body(self, code: Code) -> None:
        code("okname = set(); ids = []")
        code("if wire.__class__ is not list: raise ODD")
        gathered = _gathering(self.source)
        if gathered is not None:
            key, inner = gathered
            code("if len(wire) != 1 or wire[0].__class__ is not dict: raise ODD")
            code("if len(wire[0]) != 1: raise ODD")
            code(f"wire = wire[0][{key!r}]")
            code("if wire.__class__ is not list or not wire: raise ODD")
        else:
            inner = "function"
        code("found = []")
        with code.block("for e in wire:"):
            code("if e.__class__ is not dict: raise ODD")
            shape = self.source.shapes.get(inner)
            if shape is None or "function" not in self.target.shapes:
                raise Cannot
            self._function_cases(code, shape)
        code("state.check(okname, ids)")
        gathered = _gathering(self.target)
        code("return found" if gathered is None else f"return [{{{gathered[0]!r}: found}}]")

    def _function_cases(self, code: Code, shape: Shape) -> None:
        head = "if"
        for case in shape.cases:
            assert isinstance(case.wire, Fields)
            tests = [
                f"{n[0]!r} in e"
                for n, c in case.wire.entries
                if isinstance(c, Hole) and c.path == "parameters" and len(shape.cases) > 1
            ]
            reading = Reading(code.fork(), case, self.source)
            piece = reading.code
            piece.depth += 1
            try:
                plain = Case(
                    case.name,
                    case.shape,
                    _unlensed(case.wire, self.source),
                    case.ir,
                    {},
                    None,
                    case.pos,
                )
                reading.case = plain
                assert isinstance(plain.wire, Fields)
                reading.fields(plain.wire, "e", checked=True)
                if tests and set(self._lenses(case.wire)) & set(self.source.schemas):
                    schema = piece.const(self.source.schemas[self._lenses(case.wire)[0]], "SCHEMA")
                    value = reading.env["parameters"].code
                    piece(f"if not {schema}.read({value})[1]: raise ODD")
                self._tool(piece, reading.build(shape))
            except (Cannot, NoFit):
                continue
            code(f"{head} {' and '.join(tests) or 'True'}:")
            code.join(piece)
            head = "elif"
        if head == "if":
            raise Cannot
        with code.block("else:"):
            code("raise ODD")

    def _lenses(self, wire: Fields) -> list[str]:
        return [
            lens
            for _, c in wire.entries
            if isinstance(c, Hole) and c.path == "parameters"
            for lens in c.lenses
            if lens in self.source.schemas
        ]

    def _tool(self, code: Code, obj: dict[str, Sym]) -> None:
        emit.write(
            code, self.target, "function", obj, self.limit, lambda c, x: c(f"found.append({x})")
        )

    def limit(self, code: Code, obj: dict[str, Sym], path: str, value: Val) -> None:
        """Write the check of a name or id against the target's limits."""
        kind = obj.get("type")
        what = kind.value if isinstance(kind, Const) else "function"
        if path == "name" and what in ("tool_call", "tool_result", "function", "custom"):
            if "tool_name" in self.target.limits and value.code != "n":
                code(f"okname.add({value.code})")
        elif path == "id" and what == "tool_call" and "call_id" in self.target.limits:
            code(f"ids.append({value.code})")


class Target:
    """Where the parts of a message go in the target."""

    def __init__(
        self, pair: Pair, group: Group | None, case: Case | None, holes: list[Hole]
    ) -> None:
        if not holes or any(h.shape is None for h in holes):
            raise Cannot
        self.pair, self.group, self.case, self.holes = pair, group, case, holes
        self.bare = len(holes) == 1 and "bare" in holes[0].lenses and group is not None

    def accumulators(self) -> list[str]:
        """Return the variables that collect the wires of each list hole."""
        return ["w"] if len(self.holes) == 1 else [f"w{i}" for i in range(len(self.holes))]

    def sink(self, _: Code, *accs: str) -> Any:
        """Return the function that writes the code for one part."""

        def put(code: Code, obj: dict[str, Sym]) -> None:
            last: Exception = Cannot()
            for i, hole in enumerate(self.holes):
                if hole.mark == "old":
                    continue
                piece = code.fork()
                acc = accs[i]
                try:
                    emit.write(
                        piece,
                        self.pair.target,
                        hole.shape or "",
                        obj,
                        self.pair.limit,
                        lambda c, x, a=acc: c(f"{a}.append({x})"),  # type: ignore[misc]
                    )
                except (Cannot, NoFit) as error:
                    last = error
                    continue
                for other in accs[i + 1 : len(self.holes)]:
                    code(f"if {other}: raise ODD")
                code.join(piece)
                return
            raise Cannot from last

        return put


def _find(p: Picture, path: str) -> Hole | None:
    from .picture import holes

    return next((h for h in holes(p) if h.path == path), None)


def _tag(cases: list[tuple[Shape, Case]]) -> str | None:
    """Return the key whose literals tell the cases of a union apart."""
    count: dict[str, int] = {}
    for _, case in cases:
        if isinstance(case.wire, Fields):
            for (name, *_), child in case.wire.entries:
                if isinstance(child, Literal) and isinstance(child.values[0], str):
                    count[name] = count.get(name, 0) + 1
    best = max(count, key=lambda k: count[k], default=None)
    return best


def _literal(p: Fields, key: str | None) -> str | None:
    for (name, *_), child in p.entries:
        if name == key and isinstance(child, Literal) and isinstance(child.values[0], str):
            return child.values[0]
    return None


def _usual(case: Case) -> bool:
    """Tell whether a case is the usual one of its shape: it takes no unusual form."""
    return case.note is None and not any(
        h.path in ("arguments_text", "input") for h in _required(case.wire)
    )


def _required(p: Picture) -> list[Hole]:
    from .picture import holes

    return [h for h in holes(p) if h.mark is None]


def _kind(case: Case) -> str | None:
    kind = case.sides[0].get("/kind")
    return str(kind[0]) if isinstance(kind, tuple) else None


def _spread(p: Picture) -> bool:
    """Tell whether `$value` is a whole object of the picture, with nothing beside it."""
    if isinstance(p, Fields):
        if any(h.path == "value" for h in p.spread) and not p.entries:
            return True
        return any(_spread(c) for _, c in p.entries if not _has_list(p))
    return False


def _has_list(p: Fields) -> bool:
    return any(isinstance(c, Hole) and c.mode == "each" for _, c in p.entries)


def _closed(p: Picture) -> str | None:
    """Return the one key of a closed object that holds `$value`."""
    if isinstance(p, Fields):
        if p.closed and len(p.entries) == 1:
            (name, *_), child = p.entries[0]
            if isinstance(child, Hole) and child.path == "value":
                return name
        for _, child in p.entries:
            found = _closed(child)
            if found is not None:
                return found
    return None


def _gathering(dialect: Dialect) -> tuple[str, str] | None:
    hole = _find(dialect.units["request"].cases[0].wire, "tools")
    for member in dialect.unions.get(hole.shape or "", []) if hole else []:
        shape = dialect.shapes[member]
        if shape.gathers and isinstance(shape.cases[0].wire, Fields):
            (name, *_), child = shape.cases[0].wire.entries[0]
            if isinstance(child, Hole) and child.shape is not None:
                return name, child.shape
    return None


def _unlensed(p: Fields, dialect: Dialect) -> Fields:
    """Return a picture without its schema lenses, which the caller checks."""
    entries: list[tuple[tuple[str, ...], Picture]] = []
    for names, child in p.entries:
        if isinstance(child, Hole) and set(child.lenses) & set(dialect.schemas):
            child = Hole(
                child.paths, child.mode, child.shape, (), child.mark, child.value, child.pos
            )
        entries.append((names, child))
    return Fields(entries, p.spread, p.closed, p.pos)


__all__ = ["MESSAGE", "Pair"]
