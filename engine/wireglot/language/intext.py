"""What a rule file says of texts that hold more: lists, and parts between two marks."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..patterns import later
from .lenses import Misfit, parse_json, stringify
from .source import Pos

_OR = r"json(?: \(or python\))?"  # what is written, and read, too
ELEMENT = rf"\$\{{\.(?: \| {_OR})?\}}"
_ELEMENT = later(ELEMENT)
# A part by a shape: `${. as call | json}`; several of them in one list: `each`.
_WRITTEN = rf"{_OR}|python"
INNER = rf"\$\{{\. (?:as [\w.-]+(?: \| (?:{_WRITTEN}))?|each [\w.-]+ \| (?:{_WRITTEN}))\}}"
_INNER = later(rf"\$\{{(?:text|\. (as|each) ([\w.-]+)(?: \| ({_WRITTEN}))?)\}}")


class Listing(NamedTuple):
    """How a list stands in one text: what is before, between and behind its elements.

    Elements are texts, or objects and lists as `json`: then a text that is none of those is a text,
    and spaces around what stands between are of no element. `python` is read, too.
    """

    before: str
    between: str
    behind: str
    json: bool
    python: bool

    @classmethod
    def of(cls, example: str) -> Listing:
        """Return the form of a list that is shown with two elements."""
        before, between, behind = _ELEMENT.split(example)
        return cls(before, between, behind, "json" in example, "python" in example)

    def elements(self, text: Any) -> list[Any]:
        """Return the elements of a text. Raises Misfit."""
        before, between, behind = map(self._pattern, self[:3])
        whole = text.strip() if isinstance(text, str) and self.json else text
        inner = isinstance(text, str) and re.fullmatch(f"{before}(.*){behind}", whole, re.DOTALL)
        if not inner:
            raise Misfit(f"expected a text between {self.before!r} and {self.behind!r}")
        found = re.split(between, inner[1])
        return [_json_or_text(one.strip(), self.python) for one in found] if self.json else found

    def has_several(self, text: str) -> bool:
        """Tell whether a text holds what stands between two elements."""
        return re.search(self._pattern(self.between), text) is not None

    def _pattern(self, said: str) -> str:
        """Return the pattern of what stands around elements."""
        return r"\s*".join(map(re.escape, said.split())) if self.json else re.escape(said)

    def text(self, elements: list[Any]) -> str:
        """Return the text of elements. Raises Misfit."""
        said = [stringify(e) if self.json and isinstance(e, dict | list) else e for e in elements]
        if not said or not all(isinstance(one, str) for one in said):
            raise Misfit("expected texts, one at least")
        return f"{self.before}{self.between.join(said)}{self.behind}"


def _json_or_text(text: str, python: bool) -> Any:
    """Return the object or list that a text is the JSON of; else the text."""
    try:
        value = _parse(text, python) if text[:1] in ("{", "[") else text
    except Misfit:
        return text
    return value if isinstance(value, dict | list) else text


def _parse(text: str, python: bool) -> Any:
    """Read JSON, or what is near to it as Python writes it. Raises Misfit."""
    try:
        return parse_json(text)
    except Misfit:
        if not python:
            raise
    from .calltext import parse_data  # few dialects have such texts

    return parse_data(text)


class Marks(NamedTuple):
    """What stands before and behind a part in a text: as it is written, and without spaces."""

    kind: str
    before: str
    behind: str
    opens: str
    closes: str  # nothing where the part goes to the end of the text
    shape: str  # by which it is said; nothing where it is a text
    many: bool  # whether it is a list of such parts
    written: str  # how: `json`, `json (or python)`, `python`; nothing where it is a text
    pos: Pos

    @classmethod
    def of(cls, kind: str, example: str, pos: Pos) -> Marks:
        """Return the marks of a kind of part in a text that shows it."""
        inner = _INNER.search(example)
        assert inner is not None
        before, behind = example[: inner.start()], example[inner.end() :]
        each, shape, written = inner.groups()
        opens, closes = before.strip(), behind.strip()
        many = each == "each"
        return cls(kind, before, behind, opens, closes, shape or "", many, written or "", pos)

    def value(self, text: str) -> Any:
        """Return what a text between the marks says. Raises Misfit."""
        if self.written == "python":
            from .calltext import parse_calls  # few dialects have such calls

            return parse_calls(text)
        return _parse(text, "python" in self.written) if self.written else text

    def text(self, value: Any) -> str:
        """Return what is written between the marks for one part. Raises Misfit."""
        if self.written == "python":
            from .calltext import call_text

            return call_text(value)
        return stringify(value) if self.written else str(value)
