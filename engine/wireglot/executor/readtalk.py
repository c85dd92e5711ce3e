"""Writes the functions that read messages: one for each group of cases, and one that chooses."""

from __future__ import annotations

from typing import Any

from ..language.picture import Hole, Test, keyed
from ..language.talk import Conversation, Group
from . import code
from .code import Functions, Unwritten
from .holetests import named
from .places import alone
from .readend import WholeText


class MessageText(WholeText):
    """Writes the function that reads one wire message as the messages that it holds."""

    walk = "read_by_group"

    def __init__(self, reads: Functions, talk: Conversation, group: Group, name: str) -> None:
        case = group.cases[0]
        super().__init__(reads, alone(case), case, name)
        self.walked = reads.code.value(group, "G")
        self.plain = next((c for c in group.cases if talk.role(c) != "tool"), case)
        self.role = talk.role(self.plain)
        self.splits = talk.several(group, reads.dialect.told_roles)
        self.results = talk.several(group)
        self.ir = self.plain.ir
        self.bare = False
        self.bound = named(self.ir)

    def _head(self) -> list[str]:
        """Return what stands before all that was found."""
        found = [slot for slot in self.slots if slot.path == "parts"]
        if len(found) > 1:
            total = self.totals["parts"]
            parts = f"[] if {total} is ABSENT else {total}"
        elif found:
            [one] = found
            parts = one.var if one.always else f"[] if {one.var} is ABSENT else {one.var}"
        else:
            parts = "[]"
        self.pending = [slot for slot in self.pending if slot.path != "parts"]
        return [f"'role': {self.role!r}", f"'parts': {parts}"]

    def _made(self, p: Any, path: tuple[str, ...]) -> tuple[str | None, bool]:
        if path == ("role",):
            return None, True
        return super()._made(p, path)

    def _places(self) -> None:
        """Write where what was found came from: parts came from places of their own."""
        self.table.pop("parts", None)
        self.overrides = [line for line in self.overrides if "{'parts': " not in line]
        super()._places()

    def _end(self) -> None:
        """Write tests, memory and places, and what is returned."""
        case = self.case
        for (field, *_), child in keyed(case.ir):
            if isinstance(child, Test):
                if field not in ("parts", *(slot.path for slot in self.slots)):
                    raise Unwritten
                seen = f"made.get({field!r}, ABSENT)"
                if field == "parts" and child.word == "present":
                    raise Unwritten
                self.tested(child, seen)
        self._memory()
        if self.mode == "home" and case.read_only:
            self.line(f"x.remember(made, '', 'case', {case.name!r})")
        made = f"split_speakers(x, {self.results}, made, at)" if self.splits else "[made]"
        self.line(f"return {made}")


def message(reads: Functions, title: str) -> str:
    """Return the text of the function that reads a message by the first group that fits."""
    talk = reads.dialect.talk
    t = code.Text(reads.code, f"def {title}(x, w, at, L):")
    key = talk.speaker()
    heads = [_heads(reads, group, key) for group in talk.groups]
    words: dict[str, None] = {}
    for found in heads:
        words.update(dict.fromkeys(found or ()))
    t(f"word = w.get({key!r}) if w.__class__ is dict else None")
    for word in words:
        with t.under(f"if word == {word!r}:"):
            _tried(t, reads, talk, [i for i, h in enumerate(heads) if h is None or word in h])
    _tried(t, reads, talk, [i for i, h in enumerate(heads) if h is None])
    return str(t)


def _heads(reads: Functions, group: Group, key: str) -> list[str] | None:
    """Return the words under a key that a group reads, None where it may be any or none."""
    case = group.cases[0]
    if group.spliced:
        assert isinstance(case.wire, Hole)
        cases = [c for _, c in reads.dialect.cases_of(str(case.wire.shape))]
    else:
        cases = [case]
    found: list[str] = []
    for one in cases:
        said = next(((w, may) for names, w, may in one.heads if names == (key,)), None)
        if said is None or said[1]:
            return None
        found += sorted(said[0])
    return found


def _tried(t: code.Text, reads: Functions, talk: Conversation, some: list[int]) -> None:
    for i in some:
        group = talk.groups[i]
        name = reads.code.value(group, "G")
        words = "message", group.cases[0].name
        function = reads.code.function(("message", i), words, _group, reads, talk, i)
        t(f"made = {function}(x, w, at, L)")
        t(f"if made is not NO: return {name}, made")
    t("return NO")


def _group(title: str, reads: Functions, talk: Conversation, i: int) -> str:
    group = talk.groups[i]
    if group.spliced:
        return _spliced(reads, talk, i, title)
    try:
        if reads.dialect.holds_results or talk.steps:
            raise Unwritten
        return MessageText(reads, talk, group, title).whole()
    except Unwritten:
        walked = f"{MessageText.walk}, {reads.code.value(group, 'G')}"
        return f"def {title}(x, w, at, L):\n    return odd(x, len(x.notes), {walked}, w, at, L)\n"


def _spliced(reads: Functions, talk: Conversation, i: int, title: str) -> str:
    """Write how an element that is a part by itself is read as a message."""
    case = talk.groups[i].cases[0]
    assert isinstance(case.wire, Hole)
    role, shape = talk.role(case), str(case.wire.shape)
    t = code.Text(reads.code, f"def {title}(x, w, at, L):")
    t("x.run = None")
    t(f"part = {reads.choice(shape)}(x, w, at, L)")
    if any(one.groups for one in reads.dialect.members(shape)):
        t("parts = [part]")
        with t.under("if part is NO:"):
            t(f"found = x.gathered({shape!r}, w, at, L)")
            t("if found is NO: return NO")
            t("parts, x.run = found")
    else:
        t("if part is NO: return NO")
        t("parts = [part]")
    t(f"made = {{'role': {role!r}, 'parts': parts}}")
    t("x.late((made, at, BARE, ()))")
    earlier = (c for g in talk.groups[:i] for c in g.cases)
    if reads.mode == "home" and any(talk.role(c) == role for c in earlier):
        t(f"x.remember(made, '', 'case', {case.name!r})")
    t("return [made]")
    return str(t)
