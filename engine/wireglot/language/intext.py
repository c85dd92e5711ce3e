"""What a rule file says of texts that hold more: lists, and parts between two marks."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..patterns import later
from .lenses import Misfit, parse_json, stringify
from .source import Pos

_ELEMENT = later(r"\$\{\.(?: \| json)?\}")
# A part by a shape: `${. as call | json}`; several of them in one list: `each`.
_WRITTEN = "json|python"
INNER = rf"\$\{{\. (?:as [\w.-]+(?: \| (?:{_WRITTEN}))?|each [\w.-]+ \| (?:{_WRITTEN}))\}}"
_INNER = later(rf"\$\{{(?:text|\. (as|each) ([\w.-]+)(?: \| ({_WRITTEN}))?)\}}")


class Listing(NamedTuple):
    """How a list stands in one text: what is before, between and behind its elements.

    Elements are texts, or objects and lists as `json`: then a text that is none of those is a text.
    """

    before: str
    between: str
    behind: str
    json: bool

    @classmethod
    def of(cls, said: str) -> Listing:
        """Return the form of a list that is shown with two elements."""
        before, between, behind = _ELEMENT.split(said)
        return cls(before, between, behind, "json" in said)

    def elements(self, text: Any) -> list[Any]:
        """Return the elements of a text. Raises Misfit."""
        before, behind = self.before, self.behind
        if (
            not isinstance(text, str)
            or len(text) < len(before) + len(behind)
            or not (text.startswith(before) and text.endswith(behind))
        ):
            raise Misfit(f"expected a text between {before!r} and {behind!r}")
        found = text[len(before) : len(text) - len(behind)].split(self.between)
        return [_value(one) for one in found] if self.json else list(found)

    def text(self, elements: list[Any]) -> str:
        """Return the text of elements. Raises Misfit."""
        said = [stringify(e) if self.json and isinstance(e, dict | list) else e for e in elements]
        if not said or not all(isinstance(one, str) for one in said):
            raise Misfit("expected texts, one at least")
        return f"{self.before}{self.between.join(said)}{self.behind}"


def _value(text: str) -> Any:
    """Return the object or list that a text is the JSON of; else the text."""
    try:
        value = parse_json(text) if text.lstrip()[:1] in ("{", "[") else text
    except Misfit:
        return text
    return value if isinstance(value, dict | list) else text


class Marks(NamedTuple):
    """What stands before and behind a part in a text: as it is written, and without spaces."""

    kind: str
    before: str
    behind: str
    opens: str
    closes: str  # nothing where the part goes to the end of the text
    shape: str  # by which it is said; nothing where it is a text
    many: bool  # whether it is a list of such parts
    written: str  # how: `json`, `python`; nothing where it is a text
    pos: Pos

    @classmethod
    def of(cls, kind: str, said: str, pos: Pos) -> Marks:
        """Return the marks of a kind of part in a text that shows it."""
        inner = _INNER.search(said)
        assert inner is not None
        before, behind = said[: inner.start()], said[inner.end() :]
        each, shape, written = inner.groups()
        opens, closes = before.strip(), behind.strip()
        many = each == "each"
        return cls(kind, before, behind, opens, closes, shape or "", many, written or "", pos)

    def value(self, text: str) -> Any:
        """Return what a text between the marks says. Raises Misfit."""
        if self.written == "python":
            from .calltext import parse_calls  # few dialects have such calls

            return parse_calls(text)
        return parse_json(text) if self.written else text

    def text(self, value: Any) -> str:
        """Return what is written between the marks for one part. Raises Misfit."""
        if self.written == "python":
            from .calltext import call_text

            return call_text(value)
        return stringify(value) if self.written else str(value)
