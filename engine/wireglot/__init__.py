"""wireglot: tool-calling payloads of LLM providers, converted by rule files.

    import wireglot
    out = wireglot.convert(body, source=ONE, target=ANOTHER)     # names of dialects
    out.body, out.notes, out.envelope

Every dialect is a YAML rule file that pictures the JSON on the wire; `load_rules` loads more.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .errors import ConversionError, RuleError, UsageError, WireglotError
from .loading.start import load_rules, packaged
from .notes import Note
from .policy import Policy
from .results import Conversion, Envelope, PolicyError, Reading
from .rulesets import LiveRules, RuleSet

if TYPE_CHECKING:
    from .dialects import DialectRules
    from .guards import has_tool_calls, is_tool_result
    from .interpreter.resolver import Resolve
    from .ir import Unit
    from .loading.policyfile import load_policy
    from .loop.exchanges import Exchange
    from .loop.states import States, merge_states
    from .streaming.responses import TextStream
    from .streaming.streams import Translator
    from .traces import Trace

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
    "States",
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
    "merge_states",
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

    Args:
        body: Parsed JSON. It never changes; big leaves may be shared with the result.
        source: The dialect of the body.
        target: The dialect to write.
        unit: What the body is: a whole request, or a piece of one. Where a `request` is wanted of
            a dialect that has sessions alone, or a `session` of one that has none, it is the other.
        model: The model, where the body of a request does not name it.
        stream: Whether a stream is asked for, where the body does not say it.
        options: `repair` (off within a dialect, on across), `json_results` (`data` or `text`),
            `check_arguments`, `tell_constraints`, `version` (of an API whose rule file has
            variants, or `{dialect: version}`). docs/options.md says more.
        policy: Note codes, `effect:NAME` or `path:POINTER`, each with `ignore`, `note` or `fail`;
            or what `load_policy` gives.
        resolve: A function of yours that supplies media where the target takes only bytes; it gets
            `{"type": "url", "url": ...}` and returns `{"media_type": ..., "data": ...}` or None.
            wireglot fetches nothing.
        clock: A function like `time.time` that gives seconds since 1970, for times that a session
            needs and nobody has said; without it they are those of what stands before.
        trace: Whether `.trace` says where each value of the output comes from, and what became of
            each of the input.

    Returns:
        The new body, the notes, and for a request the envelope.

    Raises:
        UsageError: A dialect, unit, option or policy does not exist, or has another type.
        ConversionError: The payload cannot be converted; it has `.path` and `.rule`.
        PolicyError: The policy forbids a note; it has `.conversion` and `.note`.
    """
    return packaged().convert(
        body, source, target, unit, model, stream, options, policy, resolve, clock, trace
    )


def exchange(
    client: str,
    provider: str,
    model: str | None = None,
    options: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | States | None = None,
    policy: Mapping[str, str] | Policy | None = None,
    resolve: Resolve | None = None,
) -> Exchange:
    """Put a client of one packaged dialect in front of a provider of another, turn after turn.

    `.request(body)` goes to the provider, `.response(body)` and `.error(body, http)` come back;
    `.state` is JSON that lets another exchange go on.

    Args:
        client: The dialect that the client speaks.
        provider: The dialect that the provider speaks.
        model: The model to ask for; it stands over that of the body.
        options: Those of `convert`, and `carry` (false: nothing rides in extra keys).
        state: What `.state` of an earlier exchange gave, or `{}` where it is kept from now on; or
            `States`, where that of each conversation is found. With None it is not kept: what the
            client's format has no room for is noted `lost`.
        policy: As of `convert`.
        resolve: As of `convert`, for requests.

    Raises:
        UsageError: What is named does not exist, or the state is none.
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

    `packaged().translator(...)` also has the whole response and the notes.

    Args:
        frames: The frames of a provider: parsed data, or a text as the mark of an end.
        source: The dialect of the frames.
        target: The dialect to write.
        model: The model, where frames do not name it.
        options: As of `convert`.
        policy: As of `convert`.

    Raises:
        UsageError: A dialect does not exist or has no streams.
        ConversionError: A frame cannot be read.
        PolicyError: The policy forbids a note, which is known at the end.
    """
    from .streaming import streams

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
    """Yield the frames of an asynchronous stream in another packaged dialect, as they come.

    The arguments and errors are those of `translate`.
    """
    from .streaming import streams

    made = packaged().translator(source, target, model, options, policy)
    return streams.atranslate(made, frames)


def collect(frames: Iterable[Any], dialect: str, notes: list[Note] | None = None) -> Any:
    """Return the response that the frames of a stream make, in their own dialect.

    To `notes` is added what was not carried into it, or not exactly.

    Raises:
        UsageError: The dialect does not exist or has no streams.
        ConversionError: A frame cannot be read.
    """
    return packaged().collect(frames, dialect, notes)


def frames(response: Any, dialect: str, notes: list[Note] | None = None) -> Iterator[Any]:
    """Yield the frames of a stream that makes a response, in its own dialect.

    To `notes` is added what no frame can hold, or says otherwise, once the last was taken.

    Raises:
        UsageError: The dialect does not exist or has no streams.
        ConversionError: The response cannot be read.
    """
    return packaged().frames(response, dialect, notes)


def text_stream(frames: Iterable[Any], dialect: str) -> TextStream:
    """Return the text of a stream, to be iterated; then it has `.tool_calls`, `.usage` and more.

    Raises:
        UsageError: The dialect does not exist or has no streams.
        ConversionError: A frame cannot be read; raised where it is iterated.
    """
    from .streaming.responses import TextStream

    return TextStream(packaged(), frames, dialect)


# What a conversion may do without, and where it is.
_LATER = {
    "DialectRules": ".dialects",
    "Exchange": ".loop.exchanges",
    "States": ".loop.states",
    "TextStream": ".streaming.responses",
    "Trace": ".traces",
    "Translator": ".streaming.streams",
    "has_tool_calls": ".guards",
    "is_tool_result": ".guards",
    "load_policy": ".loading.policyfile",
    "merge_states": ".loop.states",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        import importlib

        return getattr(importlib.import_module(_LATER[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
