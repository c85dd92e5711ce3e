"""What is written for one pair, and where the parts of a message go in the target."""

from __future__ import annotations

from typing import Any

from ..language.ladder import Ladder
from ..language.model import Case, Conversation, Dialect, Group
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture
from ..language.source import Pos
from ..notes import foreign, no_place
from .looks import entries
from .symbols import Cannot, Code, Const, NoFit, Sym, Val
from .symread import Reading
from .symwrite import write


def _is(p: Picture, path: str) -> bool:
    return isinstance(p, Hole) and p.path == path


class PairJob:
    """What the pieces of the generator for one pair (`commits` and the like) ask of it."""

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

    def check(self, code: Code) -> None:
        """Write the check of all names and ids against the target's limits."""
        code("if not okname <= KNOWN: state.check_names(okname)")
        code("if ids: state.check_ids(ids)")

    def said(self, code: Code, var: str) -> None:
        """Write the check of a text that stands for a list of one block."""
        code(f"if not {var} or not ({var}.isascii() or {var}.encode()): raise ODD")
        if self.blankless:
            code(f"if {var}.isspace(): raise ODD")

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

    def aim(self, code: Code, role: str) -> Target:
        """Return where the parts of a message of a role go; raises Cannot."""
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


class Target:
    """Where the parts of a message go in the target."""

    def __init__(
        self, pair: PairJob, group: Group | None, case: Case | None, holes: list[Hole]
    ) -> None:
        if not holes or any(h.shape is None for h in holes):
            raise Cannot
        if sum("bare" in h.lenses for h in holes) > 1:
            raise Cannot
        self.pair, self.group, self.case, self.holes = pair, group, case, holes
        self.bare = len(holes) == 1 and "bare" in holes[0].lenses and group is not None
        by_model = case is not None and pair.talk.role(case) == "assistant"
        asked = pair.talk.enforce if by_model else ()
        self.refused = {kind for word, kind in asked if word == "user-only"}

    def accumulators(self) -> list[str]:
        """Return the variables that collect the wires of each list hole."""
        return ["w"] if len(self.holes) == 1 else [f"w{i}" for i in range(len(self.holes))]

    def sink(self, _: Code, *accs: str, alone: bool = False) -> Any:
        """Return what writes the code for one part; `alone` says it is the only one."""
        add = "{} = [{}]" if alone else "{}.append({})"

        def put(code: Code, obj: dict[str, Sym]) -> None:
            last: Exception = Cannot()
            kind = obj.get("type")
            if isinstance(kind, Const) and kind.value in self.refused:
                raise Cannot
            for i, hole in enumerate(self.holes):
                if hole.dated:
                    continue
                piece = code.fork()
                acc = accs[i]
                try:
                    write(
                        piece,
                        self.pair.target,
                        hole.shape or "",
                        obj,
                        self.pair.limit,
                        self.pair.lose,
                        lambda c, x, a=acc: c(add.format(a, x)),  # type: ignore[misc]
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
