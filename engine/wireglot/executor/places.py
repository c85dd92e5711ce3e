"""Where things stand in a model: addresses that are the same in every process, and names of them.

An address begins with a word that says what stands there:

    ("shapes", SHAPE), ("units", UNIT), ("groups", N), ("tables", NAME), ("schemas", NAME)
    ("case", ADDRESS, N)        a case of a shape or of a group of messages
    ("node", ADDRESS, N)        a picture of a case, counted as `nodes` yields them
    ("alone", ADDRESS)          the shape that a case of messages has alone
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..language import picture as pic
from ..language.model import Dialect
from ..language.picture import Hole, Picture
from ..language.shape import Case, Shape
from ..language.talk import Group

Address = tuple[Any, ...]
MODEL = frozenset(("shapes", "units", "groups", "tables", "schemas", "case", "node", "alone"))


def of(dialect: Dialect) -> Places:
    """Return the places of a dialect, which holds them."""
    return dialect.once("places", lambda: Places(dialect))


def alone(case: Case) -> Shape:
    """Return the shape that a case of messages has alone."""
    return Shape("message", None, [case], frozenset(), frozenset(), case.pos)


def nodes(case: Case) -> Iterator[Picture]:
    """Yield every picture of a case, in their order."""
    for whole in (case.ir, case.wire):
        if whole is not None:
            yield from pic.nodes(whole)


class Places:
    """The addresses of what stands in one dialect, and what stands at them."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._met: dict[int, Address] = {}  # of what was asked for, and of pictures beside it
        self._known: dict[Any, Address] = {}  # of shapes, groups and cases that were met
        self._nodes: dict[Address, list[Picture]] = {}  # of cases that were asked for
        self._all = False  # whether the pictures of all cases were met

    def holder(self, one: Any) -> Address | None:
        """Return the address of a shape, group or case."""
        if one not in self._known:  # cases may have been built since
            for address, held in self._holders():
                self._known[held] = address
                if held.is_built:
                    self._known.update(
                        (case, ("case", address, n)) for n, case in enumerate(held.cases)
                    )
        return self._known.get(one)

    def _holders(self) -> Iterator[tuple[Address, Shape | Group]]:
        for word in ("shapes", "units"):
            for name, shape in getattr(self.dialect, word).items():
                yield (word, name), shape
        talk = self.dialect.conversation
        for n, group in enumerate(talk.groups if talk is not None else ()):
            yield ("groups", n), group

    def address(self, value: Any) -> Address | None:
        """Return where something stands in the model; None for what does not."""
        found = self._met.get(id(value)) or self._find(value)
        if found is not None:
            self._met[id(value)] = found
        return found

    def _find(self, value: Any) -> Address | None:
        if isinstance(value, Case):  # what is asked for next mostly stands in it
            at = self.holder(value)
            if at is not None:
                self._meet(value, at)
            return at
        if isinstance(value, Shape | Group):
            at = self.holder(value)
            if at is None and len(value.cases) == 1:
                only = self.address(value.cases[0])
                return None if only is None else ("alone", only)
            return at
        for word in ("tables", "schemas"):
            for name, one in getattr(self.dialect, word).items():
                if one is value:
                    return word, name
        if not self._all:
            for address, holder in self._holders():
                for n, case in enumerate(holder.cases):
                    self._meet(case, ("case", address, n))
            self._all = all(holder.is_built for _, holder in self._holders())
        return self._met.get(id(value))

    def _meet(self, case: Case, at: Address) -> None:
        self._met.update((id(p), ("node", at, n)) for n, p in enumerate(nodes(case)))

    def at(self, address: Address) -> Any:
        """Return what stands at an address."""
        word, key = address[0], address[1]
        if word == "node":
            if key not in self._nodes:
                self._nodes[key] = list(nodes(self.at(key)))
            return self._nodes[key][address[2]]
        if word == "case":
            return self.at(key).cases[address[2]]
        if word == "groups":
            talk = self.dialect.talk
            return talk.groups[key]
        return alone(self.at(key)) if word == "alone" else getattr(self.dialect, word)[key]

    def name(self, address: Address) -> str:
        """Return words for an address, as a piece of a name."""
        word, key = address[0], address[1]
        if word == "node":
            found = self.at(address)
            path = found.path if isinstance(found, Hole) and found.path != "." else ""
            return f"{self.name(key)}_{path}_{address[2]}".replace("__", "_")
        if word == "case":
            return f"{self.name(key)}_{self.at(address).name}".rstrip("_")
        return self.name(key) if word == "alone" else "message" if word == "groups" else str(key)
