"""Telemetry: a span and two metrics for each request, in OpenTelemetry's words for generative AI.

What receives them is the user's matter: the API alone does nothing. No body and no key is told.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..errors import library
from .sending import Answer
from .turn import Turn

NAME = "wireglot"
# The counts of usage that make those of the conventions.
SPENT = ("input", "cache_read", "cache_write", "tool_input")
KINDS = {"input": SPENT, "output": ("output", "reasoning")}
TOKENS = [4**n for n in range(14)]  # the limits of buckets that the conventions want
SECONDS = [0.01 * 2**n for n in range(14)]


class Telemetry:
    """Tells what became of requests to who listens in this process."""

    def __init__(self, operation: str) -> None:
        """Begin; whoever sets providers of spans and metrics may do so later.

        Raises UsageError where OpenTelemetry is not installed.
        """
        library("opentelemetry", "`pip install 'wireglot[otel]'` has what `--otel` needs")
        from opentelemetry import metrics, propagate, trace

        self._operation, self._trace, self._parent = operation, trace, propagate.extract
        self._tracer, meter = trace.get_tracer(NAME), metrics.get_meter(NAME)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage", "{token}", "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=TOKENS,
        )  # fmt: skip
        self._seconds = meter.create_histogram(
            "gen_ai.client.operation.duration", "s", "GenAI operation duration.",
            explicit_bucket_boundaries_advisory=SECONDS,
        )  # fmt: skip

    def record(
        self, headers: Mapping[str, str], turn: Turn, answer: Answer, took: float, why: str
    ) -> None:
        """Tell of a request that a provider was asked; `why` it failed, if it did."""
        url, ir = urlsplit(turn.sent.url), turn.answer_ir()
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": self._operation,
            "gen_ai.provider.name": turn.upstream.dialect,
            "gen_ai.request.model": turn.model,
            "gen_ai.response.model": ir.get("model"),
            "server.address": url.hostname,
            "server.port": url.port,
        }
        if why:
            attributes["error.type"] = str(answer.status) if answer.status >= 400 else "stream"
        attributes = {name: value for name, value in attributes.items() if value is not None}
        counts = {kind: total_of(ir.get("usage") or {}, of) for kind, of in KINDS.items()}
        extra = {
            "gen_ai.response.id": ir.get("id"),
            "gen_ai.response.finish_reasons": [
                one["stop_reason"] for one in ir.get("candidates", ()) if one.get("stop_reason")
            ],
            **{f"gen_ai.usage.{kind}_tokens": count for kind, count in counts.items()},
            "http.response.status_code": answer.status,
            "wireglot.client": turn.route.client,
            "wireglot.notes": turn.note_counts(),
        }
        end = time.time_ns()
        span = self._tracer.start_span(
            f"{self._operation} {turn.model or ''}".rstrip(), self._parent(headers),
            self._trace.SpanKind.CLIENT, start_time=end - round(took * 1e9),
            attributes={**attributes, **{n: v for n, v in extra.items() if v is not None}}
        )  # fmt: skip
        if why:
            span.set_status(self._trace.StatusCode.ERROR, why)
        span.end(end)
        self._seconds.record(took, attributes)
        for kind, count in counts.items():
            if count is not None:
                self._tokens.record(count, {**attributes, "gen_ai.token.type": kind})


def total_of(usage: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """Return a sum of counts, None where nobody told one."""
    told = [usage[name] for name in names if usage.get(name) is not None]
    return sum(told) if told else None
