"""Code for the fields around the messages: one function per pair, straight through the keys.

Keys whose values are copied, the messages, tools, system text and the envelope are written out.
All other keys (those that need a shape or a table, have no place, or are unknown) go to
`Fast.more`.
"""

from __future__ import annotations

from typing import Any

from ..language.picture import Text
from .looks import plain_test
from .symbols import Cannot, Code

INLINE = frozenset(("copy", "outside", "messages", "tools", "system"))


class Frame:
    """The generator of `request(body, model, stream, fast, state, notes)`."""

    def __init__(self, plan: dict[str, Any], code: Code) -> None:
        self.plan, self.code = plan, code
        self.spellings: dict[tuple[Any, ...], list[str]] = {}
        for key, entry in plan["keys"].items():
            if entry[0] in INLINE:
                self.spellings.setdefault(entry, []).append(key)
        self.values: dict[str, str] = {}  # the variable of each IR field
        self.nested: dict[str, str] = {}  # the variable of each object inside the target's body
        # keys in the target, the value's variable, and the variable that must not be None
        self.puts: list[tuple[tuple[str, ...], str, str | None]] = []

    def write(self) -> None:
        """Write the function."""
        code, plan = self.code, self.plan
        plan["plain"] = frozenset(k for keys in self.spellings.values() for k in keys).union(
            plan["seen"]
        )
        with code.block("def request(body, model, stream, fast, state, notes):"):
            plain = code.const(plan["plain"], "PLAIN")
            code("known = NOTHING")
            code(f"rest = {{k: v for k, v in body.items() if k not in {plain}}}")
            # What became of these keys is remembered by value.
            code("if rest: known = MEMO.get(dumps(rest, 2)) or fast.more(rest, body)")
            for names in plan["needed"]:
                code(f"if {' and '.join(f'{name!r} not in body' for name in names)}: raise BAIL")
            for entry, keys in self.spellings.items():
                self._key(entry, keys)
            self._given()
            self._messages()
            self._body()
            self._envelope()

    def _get(self, keys: list[str], var: str) -> None:
        """Fetch a value by the spellings of its key; two at once are for the interpreter."""
        code = self.code
        code(f"{var} = body.get({keys[0]!r})")
        for i, key in enumerate(keys[1:], 1):
            with code.block(f"if {key!r} in body:"):
                code(f"if {' or '.join(f'{other!r} in body' for other in keys[:i])}: raise BAIL")
                code(f"{var} = body[{key!r}]")

    def _key(self, entry: tuple[Any, ...], keys: list[str]) -> None:
        code, what = self.code, entry[0]
        if what in ("messages", "tools", "system"):
            self._get(keys, what)
            return
        field, classes = (entry[3], entry[2]) if what == "copy" else (entry[1], entry[2])
        var = code.name()
        self._get(keys, var)
        with code.block(f"if {var} is not None:"):
            self._check(var, classes)
        if what == "copy" and entry[4]:
            code("else: raise BAIL")
        self.values[field] = var
        if what == "copy":
            self.puts.append((entry[1], var, var))

    def _check(self, var: str, classes: tuple[type, ...]) -> None:
        code = self.code
        tests = " and ".join(f"{var}.__class__ is not {cls.__name__}" for cls in classes)
        code(f"if {tests}: raise BAIL")
        if str in classes:
            code(f"if not {var}.isascii(): {var}.encode()")
        if list in classes:
            code(f"check_json({var})")
        if float in classes:
            code(f"if {var} - {var} != 0: raise BAIL")
        if int in classes:
            code(f"if not -BIG < {var} < BIG: raise BAIL")

    def _given(self) -> None:
        """What the caller says beside the body stands where the body says nothing."""
        code, plan = self.code, self.plan
        for name, cls in (("model", "str"), ("stream", "bool")):
            known = self.values.get(name)
            place = plan["places"].get(name)
            with code.block(f"if {name} is not None:"):
                code(f"if {name}.__class__ is not {cls}: raise BAIL")
                if known is not None:
                    code(f"if {known} is None: {known} = {name}")
                elif place is None and name not in plan["outside"]:
                    code("raise BAIL")
            if known is None:
                self.values[name] = name
                if place is not None:
                    self.puts.append((place, name, name))

    def _messages(self) -> None:
        code, plan = self.code, self.plan
        kinds = {entry[0] for entry in self.spellings}
        code("if messages.__class__ is not list: raise BAIL")
        code("apart = head = None")
        if "system" in kinds:
            found = "apart" if plan["lifts"] else "head"
            with code.block("if system is not None:"):
                code(f"try: {found} = SYSTEM(system, state)")
                code(f"except UNUSUAL: {found} = fast.apart(body, system, state, notes)")
            code("wires, lifted = MESSAGES(messages, {}, state)")
            code("if head: wires = head + wires")
            code("if head is not None and not wires: raise BAIL")
        else:
            code("wires, lifted = MESSAGES(messages, {}, state)")
        self.puts.append((plan["message_keys"], "wires", None))
        if plan["lifts"]:
            keys = plan["system_keys"]
            if "system" in kinds:
                code("if apart: lifted = apart + lifted")
            code("if lifted and not wires: raise BAIL")
            code("if not lifted: lifted = None")
            if plan["bare"]:
                with code.block("elif len(lifted) == 1:"):
                    code("b = lifted[0]")
                    with code.block(f"if {plain_test(plan['block'], 'b')}:"):
                        code(f"lifted = b[{plan['text_key']!r}]; state.alone = b")
            self.puts.append((keys, "lifted", "lifted"))
        if "tools" in kinds:
            code("made = None")
            with code.block("if tools:"):
                code("told = len(state.drafts)")
                code("try: made = TOOLS(tools, state)")
                code("except UNUSUAL: known = fast.together(body, tools)")
            code("elif tools is not None and tools != []: raise BAIL")
            self.puts.append((plan["tool_keys"], "made", "made"))
        else:
            code("made = tools = None")
        # A choice among tools of which some may not be there.
        with code.block("if known[2] is not None:"):
            code("if made is None or not state.names.issuperset(known[2]):")
            code("    if made is not None: state.forget(told)")
            code("    known = fast.together(body, tools); made = None")
        code("more = known[0]; notes += known[1]")

    def _body(self) -> None:
        """Put the body together in the order of the target's picture."""
        code, plan = self.code, self.plan
        by_key: dict[str, list[tuple[tuple[str, ...], str, str | None]]] = {}
        for keys, value, unless in self.puts:
            by_key.setdefault(keys[0], []).append((keys, value, unless))
        order = plan["order"]
        code("out = {}")
        for keys, value in plan["fixed"]:
            by_key.setdefault(keys[0], []).insert(0, (keys, repr(value), None))
        for key in order:
            puts = by_key.get(key, ())
            for keys, value, unless in puts:
                if len(keys) == 1:
                    test = "" if unless is None else f"if {unless} is not None: "
                    code(f"{test}out[{key!r}] = {value}")
                    continue
                self._owner(keys)
                with code.block(f"if {unless} is not None:" if unless else "if True:"):
                    self._open(keys)
                    code(f"{self._owner(keys)}[{keys[-1]!r}] = {value}")
            if key in plan["shared"] and not any(unless is None for _, _, unless in puts):
                new = f"copied(more[{key!r}])"
                found = f"merged(out.get({key!r}), {new})" if puts else new
                code(f"if {key!r} in more: out[{key!r}] = {found}")
        for keys in plan["demanded"]:
            found = (
                f"{keys[0]!r} not in out" if len(keys) == 1 else f"at_place(out, {keys}) is None"
            )
            code(f"if {found}: raise BAIL")
        for keys, _, _ in plan["filled"]:
            test = f"if {keys[0]!r} not in out: " if len(keys) == 1 else ""
            code(f"{test}out = fast.fill(out, notes, {code.const(order, 'ORDER')})")

    def _owner(self, keys: tuple[str, ...]) -> str:
        """Return the variable of the object that holds the last key."""
        if len(keys) == 1:
            return "out"
        known = self.nested.get("/".join(keys[:-1]))
        if known is None:
            self._owner(keys[:-1])
            known = self.nested["/".join(keys[:-1])] = self.code.name("o")
            self.code(f"{known} = None")
        return known

    def _open(self, keys: tuple[str, ...]) -> None:
        """Make the objects that hold the last key where they are not there yet."""
        if len(keys) > 1:
            self._open(keys[:-1])
            known = self._owner(keys)
            outer = self._owner(keys[:-1])
            self.code(f"if {known} is None: {known} = {outer}[{keys[-2]!r}] = {{}}")

    def _envelope(self) -> None:
        code, cases = self.code, self.plan["envelope"]
        if cases is None:
            code("return out, None")
            return
        for tests, written in cases:
            conditions, usual = [], dict(self.values)
            for path, (kind, value) in tests.items():
                if kind == "text":
                    conditions += self._said(path, value)
                    continue
                sign = "is" if value is None or isinstance(value, bool) else "=="
                conditions.append(f"{self.values.get(path, 'None')} {sign} {value!r}")
            if "path" in written and written["path"][0] == "text":
                names = [self.values.get(n, "None") for n in written["path"][1].names]
                conditions += [f"{name} is not None" for name in names]
            model = self._outer(written.get("model", ("is", None)))
            stream = self._outer(written.get("stream", ("is", None)))
            method = self._outer(written.get("method", ("is", "")))
            path = self._outer(written.get("path", ("is", "")))
            headers = self._outer(written.get("headers", {}))
            path = "''" if path == "None" else path
            values = f"({model}, {stream}, {method}, {path}, {headers})"
            done = f"return out, new_tuple(Envelope, {values})"
            if not conditions:
                code(done)
                return
            code(f"if {' and '.join(conditions)}: {done}")
            self.values = usual
        code("raise BAIL")

    def _said(self, path: str, text: Text) -> list[str]:
        """Return what must hold where a field is a text with one hole, and name what is in it."""
        value = self.values.get(path, "None")
        if len(text.names) > 1 or text.fixed[1] or value == "None":
            raise Cannot
        self.values[text.names[0]] = f"{value}[{len(text.fixed[0])}:]"
        return [f"{value} is not None", f"{value}.startswith({text.fixed[0]!r})"]

    def _outer(self, value: Any) -> str:
        """Return the code of a value of the envelope."""
        if isinstance(value, dict):
            inner = ", ".join(f"{key!r}: {self._outer(v)}" for key, v in value.items())
            return f"{{{inner}}}"
        if value[0] == "is":
            return repr(value[1])
        if value[0] == "hole":
            name = self.values.get(value[1], "None")
            return name if value[2] is None else f"({value[2]!r} if {name} is None else {name})"
        return self._text(value[1])

    def _text(self, text: Text) -> str:
        names = [self.values.get(name, "None") for name in text.names]
        if len(names) > 1:
            return f"{self.code.const(text, 'SAID')}.write(({', '.join(names)}))"
        pieces = [repr(text.fixed[0]), names[0], repr(text.fixed[1])]
        return " + ".join(piece for piece in pieces if piece != "''")
