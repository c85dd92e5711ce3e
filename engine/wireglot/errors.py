"""The exceptions.

WireglotError
+-- UsageError (also a ValueError)    the caller asked for something that does not exist
+-- ConversionError                   the payload cannot be converted: `.path`, `.rule`
+-- PolicyError                       a policy forbids what the conversion had to do: `.note`
+-- RuleError                         a rule file is wrong: `.file`, `.line`, `.column`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .notes import Note
    from .results import Conversion


class WireglotError(Exception):
    """Base of every error that wireglot raises on purpose."""


class UsageError(WireglotError, ValueError):
    """Raised when a dialect, unit, option or policy does not exist."""


class ConversionError(WireglotError):
    """Raised when a payload cannot be converted.

    Attributes:
        path: An RFC 6901 pointer into the caller's payload; empty for the whole of it.
        rule: `file:line:column` of the picture that did not fit, or None.
        reason: The message without both.
    """

    def __init__(self, message: str, path: str = "", rule: str | None = None) -> None:
        self.path, self.rule, self.reason = path, rule, message
        where = f"at {path}" if path else "at the top of the payload"
        super().__init__(f"{message}, {where}" + (f" ({rule})" if rule else ""))


class PolicyError(WireglotError):
    """Raised when the policy says `fail` for a note.

    Attributes:
        note: The first note that is forbidden.
        conversion: The whole conversion, done all the same.
    """

    def __init__(self, note: Note, conversion: Conversion | None = None) -> None:
        self.note, self.conversion = note, conversion
        super().__init__(f"the policy forbids `{note.code}`: {note}")


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
        self.rule = rule
        self.file, self.line, self.column = file, line, column
        self.reason, self.excerpt, self.help = message, excerpt, help
        where = f"{file}:{line}:{column}: " if file else ""
        text = f"{where}{rule}: {message}" if rule else f"{where}{message}"
        if excerpt:
            text += f"\n{excerpt}"
        if help:
            text += f"\n  help: {help}"
        super().__init__(text)
