"""What a rule file says of texts that hold more: lists, shown with two elements."""

from __future__ import annotations

from typing import Any, NamedTuple

from .lenses import Misfit

HERE = "${.}"


class Listing(NamedTuple):
    """How a list of texts stands in one: what is before, between and behind its elements."""

    before: str
    between: str
    behind: str

    @classmethod
    def of(cls, said: str) -> Listing:
        """Return the form of a list that is shown with two elements."""
        return cls(*said.split(HERE))

    def elements(self, text: Any) -> list[Any]:
        """Return the elements of a text. Raises Misfit."""
        before, behind = self.before, self.behind
        if (
            not isinstance(text, str)
            or len(text) < len(before) + len(behind)
            or not (text.startswith(before) and text.endswith(behind))
        ):
            raise Misfit(f"expected a text between {before!r} and {behind!r}")
        return text[len(before) : len(text) - len(behind)].split(self.between)

    def text(self, elements: list[Any]) -> str:
        """Return the text of elements. Raises Misfit."""
        if not elements or not all(isinstance(one, str) for one in elements):
            raise Misfit("expected texts, one at least")
        return f"{self.before}{self.between.join(elements)}{self.behind}"
