"""wireglot: tool-calling payloads of LLM providers, converted by rule files.

    import wireglot
    out = wireglot.convert(body, source=ONE, target=ANOTHER)     # names of dialects
    out.body, out.notes, out.envelope

Every dialect is a YAML rule file that pictures the JSON on the wire; `load_rules` loads more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import ConversionError, PolicyError, RuleError, UsageError, WireglotError
from .load import load_rules, packaged
from .notes import Note
from .results import Conversion, Envelope, Reading
from .rulesets import RuleSet

if TYPE_CHECKING:
    from .dialects import DialectRules
    from .ir import Unit

__version__ = "0.1.0"
__all__ = [
    "Conversion",
    "ConversionError",
    "DialectRules",
    "Envelope",
    "Note",
    "PolicyError",
    "Reading",
    "RuleError",
    "RuleSet",
    "UsageError",
    "WireglotError",
    "convert",
    "load_rules",
    "packaged",
]


def convert(
    body: Any,
    source: str,
    target: str,
    unit: Unit = "request",
    model: str | None = None,
    stream: bool | None = None,
    options: Mapping[str, Any] | None = None,
    policy: Mapping[str, str] | None = None,
) -> Conversion:
    """Convert a payload from one packaged dialect to another.

    `body` is parsed JSON and never changes; big leaves may be shared with the result. `model` and
    `stream` supply what the body of a request does not hold. `options`: `repair` (off within a
    dialect, on across), `json_results` (`data` or `text`), `version` (of an API whose rule file has
    variants, or `{dialect: version}`). `policy` maps note codes, `effect:NAME` or `path:POINTER`
    to `ignore`, `note` or `fail`.

    Raises UsageError, ConversionError (`.path`, `.rule`), PolicyError (`.conversion`, `.note`).
    """
    return packaged().convert(body, source, target, unit, model, stream, options, policy)


def _dir() -> Sequence[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "DialectRules":  # needs the interpreter, which a conversion may do without
        from .dialects import DialectRules

        return DialectRules
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
