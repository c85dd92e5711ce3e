"""wireglot: tool-calling payloads of LLM providers, converted by rule files.

    import wireglot
    out = wireglot.convert(body, source=ONE, target=ANOTHER)     # names of dialects
    out.body, out.notes, out.envelope

Every dialect is a YAML rule file that pictures the JSON on the wire; `load_rules` loads more.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import TYPE_CHECKING, Any

from .errors import ConversionError, PolicyError, RuleError, UsageError, WireglotError
from .guards import has_tool_calls, is_tool_result
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
    from .resolver import Resolve
    from .streams import TextStream, Translator
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
    "TextStream",
    "Trace",
    "Translator",
    "UsageError",
    "WireglotError",
    "atranslate",
    "collect",
    "convert",
    "exchange",
    "frames",
    "has_tool_calls",
    "is_tool_result",
    "load_policy",
    "load_rules",
    "packaged",
    "text_stream",
    "translate",
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
    resolve: Resolve | None = None,
    clock: Callable[[], float] | None = None,
    trace: bool = False,
) -> Conversion:
    """Convert a payload from one packaged dialect to another.

    `body` is parsed JSON and never changes; big leaves may be shared with the result. `model` and
    `stream` supply what the body of a request does not hold. `options`: `repair` (off within a
    dialect, on across), `json_results` (`data` or `text`), `check_arguments`, `version` (of an API
    whose rule file has variants, or `{dialect: version}`). `policy` maps note codes, `effect:NAME`
    or `path:POINTER` to `ignore`, `note` or `fail`, or is what `load_policy` gives. `resolve` is a
    function of yours that supplies media where the target takes only bytes; wireglot fetches
    nothing. `clock`, as `time.time`, gives the times that a session needs and nobody has said;
    without it they are those of what stands before. With `trace` the result says in `.trace` where
    each value of the output comes from, and what became of each of the input. docs/options.md says
    more.

    Raises UsageError, ConversionError (`.path`, `.rule`), PolicyError (`.conversion`, `.note`).
    """
    return packaged().convert(
        body, source, target, unit, model, stream, options, policy, resolve, clock, trace
    )


def exchange(
    client: str,
    provider: str,
    model: str | None = None,
    options: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | None = None,
    policy: Mapping[str, str] | Policy | None = None,
    resolve: Resolve | None = None,
) -> Exchange:
    """Put a client of one packaged dialect in front of a provider of another, turn after turn.

    `.request(body)` goes to the provider, `.response(body)` and `.error(body, http)` come back;
    `.state` is JSON that lets another exchange go on. `state={}` says that it is kept, None that it
    is not: what the client's format has no room for is then noted `lost`. `model` stands over that
    of the body. `options` are those of `convert`, and `carry` (false: nothing rides in extra keys).

    Raises UsageError for what does not exist and for a state that is none.
    """
    return packaged().exchange(client, provider, model, options, state, policy, resolve)


def translate(
    frames: Iterable[Any],
    source: str,
    target: str,
    model: str | None = None,
    options: Mapping[str, Any] | None = None,
    policy: Mapping[str, str] | Policy | None = None,
) -> Iterator[Any]:
    """Yield the frames of a stream in another packaged dialect, as they come.

    A frame is parsed data, or a text as the mark of an end. `packaged().translator(...)` also has
    the whole response and the notes. Raises as `convert` does.
    """
    from . import streams

    made = packaged().translator(source, target, model, options, policy)
    return streams.translate(made, frames)


def atranslate(
    frames: AsyncIterable[Any],
    source: str,
    target: str,
    model: str | None = None,
    options: Mapping[str, Any] | None = None,
    policy: Mapping[str, str] | Policy | None = None,
) -> AsyncIterator[Any]:
    """Yield the frames of an asynchronous stream in another packaged dialect, as they come."""
    from . import streams

    made = packaged().translator(source, target, model, options, policy)
    return streams.atranslate(made, frames)


def collect(frames: Iterable[Any], dialect: str) -> Any:
    """Return the response that the frames of a stream make, in their own dialect."""
    return packaged().collect(frames, dialect)


def frames(response: Any, dialect: str) -> Iterator[Any]:
    """Yield the frames of a stream that makes a response, in its own dialect."""
    return packaged().frames(response, dialect)


def text_stream(frames: Iterable[Any], dialect: str) -> TextStream:
    """Return the text of a stream, to be iterated; then it has `.tool_calls`, `.usage` and more."""
    from .streams import TextStream

    return TextStream(packaged(), frames, dialect)


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
    if name in ("TextStream", "Translator"):
        from . import streams

        return getattr(streams, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
