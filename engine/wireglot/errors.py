"""The exceptions.

WireglotError
+-- UsageError (also a ValueError)    the caller asked for something that does not exist
+-- ConversionError                   the payload cannot be converted: `.path`, `.rule`
+-- PolicyError (in `results`)        a policy forbids what the conversion had to do: `.note`
+-- RuleError                         a rule file is wrong: `.file`, `.line`, `.column`
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator
from typing import Any, NoReturn

HEAD, TAIL = 600, 200  # characters of a long message


def short(text: str) -> str:
    """Return a message without the middle of an id or key that is too long to be read."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\u2026{text[-TAIL:]}"


class WireglotError(Exception):
    """Base of every error that wireglot raises on purpose."""


class UsageError(WireglotError, ValueError):
    """Raised when a dialect, unit, option or policy does not exist."""

    def __init__(self, message: str = "") -> None:
        super().__init__(short(message))


def mistyped(told: str, given: object) -> UsageError:
    """Return the error that tells what an argument is, and of which type the given one is."""
    return UsageError(f"{told}, not {type(given).__name__}")


class ConversionError(WireglotError):
    """Raised when a payload cannot be converted.

    Attributes:
        path: An RFC 6901 pointer into the caller's payload; empty for the whole of it.
        rule: `file:line:column` of the picture that did not fit, or None.
        reason: The message without both.
    """

    def __init__(self, message: str, path: str = "", rule: str | None = None) -> None:
        self.path: str = path
        self.rule: str | None = rule
        self.reason: str = short(message)
        where = f"at {short(path)}" if path else "at the top of the payload"
        super().__init__(f"{self.reason}, {where}" + (f" ({rule})" if rule else ""))

    def __reduce__(self) -> tuple[type[ConversionError], tuple[str, str, str | None]]:
        """Let it go to another process as it was made."""
        return ConversionError, (self.reason, self.path, self.rule)


class RuleError(WireglotError):
    """Raised when a rule file is wrong.

    Attributes:
        file: The rule file.
        line: The line, counted from 1.
        column: The column, counted from 1.
        reason: The message without its place.
        excerpt: The line of the file, with a mark below it.
        help: What helps.
        rule: The id of the check that found it, explained in docs/checks.md, or nothing.
    """

    def __init__(
        self,
        message: str,
        file: str = "",
        line: int = 0,
        column: int = 0,
        *,
        excerpt: str = "",
        help: str = "",
        rule: str = "",
    ) -> None:
        self.file: str = file
        self.line: int = line
        self.column: int = column
        self.reason: str = message
        self.excerpt: str = excerpt
        self.help: str = help
        self.rule: str = rule
        where = f"{file}:{line}:{column}: " if file else ""
        text = f"{where}{rule}: {message}" if rule else f"{where}{message}"
        if excerpt:
            text += f"\n{excerpt}"
        if help:
            text += f"\n  help: {help}"
        super().__init__(text)


REPORT = "this is a mistake of wireglot: please report it with the file"
UNFORESEEN = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NameError, StopIteration),
    *(TypeError, re.error),
)
CALLERS = frozenset(("resolve", "clock"))  # options that are functions of the caller


def unforeseen(
    error: BaseException, place: tuple[str, int, int], options: Collection[str] = ()
) -> NoReturn:
    """Raise the RuleError of a failure at work for a rule file; what a caller raised as it is."""
    if not CALLERS.isdisjoint(options):
        raise error
    message = f"no check foresaw what this rule file does here ({error!r})"
    raise RuleError(message, *place, help=REPORT) from error


@contextlib.contextmanager
def foreseen(place: tuple[str, int, int]) -> Iterator[None]:
    """Let the engine's own failures in a block become a RuleError of the rule file at work.

    The checks of rule files are there to foresee them. What a function of the caller raises goes on
    as it is: blocks that may call one are left alone. The top of the file stands at this place.
    """
    try:
        yield
    except UNFORESEEN as error:
        unforeseen(error, place)


def library(name: str, told: str) -> Any:
    """Return a package that not everybody has installed. Raises UsageError, told so, without it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise UsageError(told) from None
