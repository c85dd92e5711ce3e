"""Findings: what is wrong with rule files, where, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `line` and `column` count from 1; `rule` has a section in docs/checks.md."""

    rule: str
    severity: Severity
    file: str
    line: int
    column: int
    message: str
    excerpt: str = ""
    help: str = ""

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}:{self.column}: {self.severity} {self.rule}: {self.message}"
        if self.excerpt:
            text += f"\n{self.excerpt}"
        return f"{text}\n  help: {self.help}" if self.help else text
