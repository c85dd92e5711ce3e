"""How the messages of a dialect stand: cases with one skeleton, turns, and what runs together."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from .picture import Literal, keyed
from .shape import Case
from .source import Pos

LATER = "later-system"  # a step whose text is what system text says behind the first turn


class Group:
    """Conversation cases that share one skeleton: one wire message, read item by item."""

    __slots__ = ("cases", "spliced")

    def __init__(self, cases: list[Case], spliced: bool) -> None:
        self.cases, self.spliced = cases, spliced

    @property
    def is_built(self) -> bool:
        """Whether its cases are there: those of a group always are."""
        return True

    @property
    def alone(self) -> bool:
        """Whether a message of it holds one part; what is only read cuts no message."""
        written = (case for case in self.cases if not case.home)
        found = [hole for case in written for hole in case.lists.get("parts", ())]
        return bool(found) and all("single" in hole.lenses for hole in found)


class Turn(NamedTuple):
    """A turn that must stand somewhere; `between` names the roles of its neighbours.

    It stands there only where the turn `before` which it is holds such a part.
    """

    role: str
    text: str
    at: str
    between: tuple[str, str]
    pos: Pos
    before: str = ""


class Beside(NamedTuple):
    """A kind of part, and the kind that must stand beside it in its message, with a text."""

    kind: str
    stands: str
    text: str
    pos: Pos


class Conversation:
    """How IR messages become wire messages: one each, or one for a run of neighbours or a turn."""

    __slots__ = (
        "bars", "beside", "enforce", "groups", "later", "leads", "per", "places", "pos", "steps",
        "turns", "unsaid", "usual", "weighed",
    )  # fmt: skip

    def __init__(
        self,
        per: str,
        groups: list[Group],
        enforce: list[tuple[str, str]],
        pos: Pos,
        turns: list[Turn],
        places: dict[str, Pos],
        beside: list[Beside],
        steps: dict[str, dict[str, Literal]],
        unsaid: list[Case],
    ) -> None:
        """Hold what a rule file says.

        `places` are where words of `enforce` stand, `steps` the elements that begin a step,
        `unsaid` pictures of what looks like a message of a file, and is none.
        """
        self.unsaid = unsaid
        self.per, self.groups, self.enforce, self.pos = per, groups, enforce, pos
        self.turns, self.places, self.beside, self.steps = turns, places, beside, steps
        # Kinds of parts that lead their message, and those that only the user may say.
        self.leads = [kind for word, kind in enforce if word == "put-first"]
        self.bars = frozenset(kind for word, kind in enforce if word == "user-only")
        # Kinds of which some are left out before it is looked whether all is in order.
        self.weighed = {kind for word, kind in enforce if word in ("own-thought", "not-last")}
        self.later = dict(enforce).get(LATER)  # what system text says behind the first turn
        self.usual: dict[Any, tuple[Group, Case] | None] = {}  # cases of all messages of a role

    def joins(self, role: Any) -> bool:
        """Tell whether a message of this role joins the wire message of its neighbour before it."""
        return self.per == "run" or (self.per == "turn" and role == "tool") or role in self.steps

    def several(self, group: Group, told: Collection[str] = ()) -> bool:
        """Tell whether one wire message may be several ones: results among what was said.

        Other roles may be `told` by elements.
        """
        roles = {self.role(case) for case in group.cases}
        return not group.spliced and len(roles) > 1 and not roles.isdisjoint(("tool", *told))

    def splits(self, group: Group) -> bool:
        """Tell whether these are messages by themselves, each of which has a wire message."""
        return self.per == "message" and self.several(group)

    def speaker(self) -> str:
        """Return the key on the wire by whose words messages are told apart: mostly `role`."""
        words: dict[str, set[str]] = {}
        for group in self.groups:
            for names, said, _ in group.cases[0].heads:
                words.setdefault(names[0], set()).update(said)
            for names, child in () if group.cases[0].heads else keyed(group.cases[0].wire):
                if isinstance(child, Literal):  # a number may say it, too
                    words.setdefault(names[0], set()).update(map(repr, child.values))
        return max(words, key=lambda key: len(words[key]), default="role")

    @property
    def cases(self) -> list[Case]:
        """The cases of all groups."""
        return [case for group in self.groups for case in group.cases]

    def alone(self) -> set[str]:
        """Return the roles of messages that hold one part each."""
        return {self.role(case) for group in self.groups if group.alone for case in group.cases}

    def role(self, case: Case) -> str:
        """Return the IR role of a case."""
        for names, child in keyed(case.ir):
            if names[0] == "role" and isinstance(child, Literal):
                return str(child.values[0])
        return case.name
