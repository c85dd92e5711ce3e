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
from .policy import Policy, load_policy
from .results import Conversion, Envelope, Reading
from .rulesets import RuleSet

if TYPE_CHECKING:
    from .dialects import DialectRules
    from .exchanges import Exchange
    from .ir import Unit
    from .live import LiveRules
    from .trace import Trace

__version__ = "0.1.0"
__all__ = [
    "Conversion",
    "ConversionError",
    "DialectRules",
    "Envelope",
    "Exchange",
    "LiveRules",
    "Note",
    "Policy",
    "PolicyError",
    "Reading",
    "RuleError",
    "RuleSet",
    "Trace",
    "UsageError",
    "WireglotError",
    "convert",
    "exchange",
    "load_policy",
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
    policy: Mapping[str, str] | Policy | None = None,
    trace: bool = False,
) -> Conversion:
    """Convert a payload from one packaged dialect to another.

    `body` is parsed JSON and never changes; big leaves may be shared with the result. `model` and
    `stream` supply what the body of a request does not hold. `options`: `repair` (off within a
    dialect, on across), `json_results` (`data` or `text`), `version` (of an API whose rule file has
    variants, or `{dialect: version}`). `policy` maps note codes, `effect:NAME` or `path:POINTER`
    to `ignore`, `note` or `fail`, or is what `load_policy` gives. With `trace` the result says in
    `.trace` where each value of the output comes from, and what became of each of the input.

    Raises UsageError, ConversionError (`.path`, `.rule`), PolicyError (`.conversion`, `.note`).
    """
    return packaged().convert(body, source, target, unit, model, stream, options, policy, trace)


def exchange(
    client: str,
    provider: str,
    model: str | None = None,
    options: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | None = None,
    policy: Mapping[str, str] | Policy | None = None,
) -> Exchange:
    """Put a client of one packaged dialect in front of a provider of another, turn after turn.

    `.request(body)` goes to the provider, `.response(body)` and `.error(body, http)` come back;
    `.state` is JSON that lets another exchange go on. `state={}` says that it is kept, None that it
    is not: what the client's format has no room for is then noted `lost`. `model` stands over that
    of the body. `options` are those of `convert`, and `carry` (false: nothing rides in extra keys).

    Raises UsageError for what does not exist and for a state that is none.
    """
    return packaged().exchange(client, provider, model, options, state, policy)


def _dir() -> Sequence[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "DialectRules":  # needs the interpreter, which a conversion may do without
        from .dialects import DialectRules

        return DialectRules
    if name == "LiveRules":
        from .live import LiveRules

        return LiveRules
    if name == "Exchange":
        from .exchanges import Exchange

        return Exchange
    if name == "Trace":
        from .trace import Trace

        return Trace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
