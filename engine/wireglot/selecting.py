"""Selecting values by jmespath expressions, where people ask for them; no conversion does."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from .errors import UsageError, library


class Selection:
    """A jmespath expression, looked through when it is given.

    `fields` are the names that it may ask for, if only these are there: of a name that is not there
    jmespath makes null.
    """

    def __init__(self, expression: str, fields: Collection[str] = ()) -> None:
        """Take an expression. Raises UsageError for what is none, and without jmespath."""
        told = "an expression that selects needs `pip install 'wireglot[select]'`"
        jmespath = library("jmespath", told)
        self.expression = expression
        self._wrong: type[Exception] = jmespath.exceptions.JMESPathError
        try:
            self._compiled = jmespath.compile(expression)
        except self._wrong as error:
            raise UsageError(f"`{expression}` is no jmespath expression: {_told(error)}") from None
        for kind, name in _names(self._compiled.parsed):
            if kind == "function_expression":
                if name not in jmespath.functions.Functions.FUNCTION_TABLE:
                    raise UsageError(f"`{expression}` calls `{name}`, which is no function")
            elif fields and name not in fields:
                there = ", ".join(fields)
                raise UsageError(f"`{expression}` asks for `{name}`; there are: {there}")

    def of(self, value: Any) -> Any:
        """Return what it selects from a JSON value. Raises UsageError."""
        try:
            return self._compiled.search(value)
        except self._wrong as error:
            raise UsageError(f"`{self.expression}` cannot be evaluated: {error}") from None

    def holds(self, value: Any) -> bool:
        """Tell whether what it selects counts as true in jmespath, where 0 does."""
        found = self.of(value)
        return bool(found) or (isinstance(found, int | float) and found is not False)


def _told(error: Any) -> str:
    """Say what is wrong in one line, with the column; jmespath draws an arrow below it."""
    at = getattr(error, "lex_position", None)
    if at is None:
        return "it is empty"
    ends = error.token_value is None  # jmespath has no words for it
    return f"column {at + 1}: " + ("it ends here" if ends else getattr(error, "message", error.msg))


def _names(node: Any) -> Iterator[tuple[str, str]]:
    """Yield the fields that a parsed expression asks for, and the functions that it calls."""
    if node["type"] in ("field", "function_expression"):
        yield node["type"], node["value"]
    for child in node["children"]:
        if isinstance(child, dict):
            yield from _names(child)
