"""What OpenTelemetry is told of a server's requests, by its SDK's exporters in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from wireglot.errors import UsageError
from wireglot.serve.telemetry import Telemetry

from .loop.server import Extra, Server, running
from .test_serve import HELLO, asked, before
from .test_serve_config import Hello

Json = Any
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
EXPORTER, READER = InMemorySpanExporter(), InMemoryMetricReader()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    tracing = TracerProvider()
    tracing.add_span_processor(SimpleSpanProcessor(EXPORTER))
    trace.set_tracer_provider(tracing)
    metrics.set_meter_provider(MeterProvider([READER]))
    with pytest.MonkeyPatch.context() as patch, running() as one:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield one


def spans() -> list[Json]:
    """Return the spans that ended since this was asked last."""
    found = list(EXPORTER.get_finished_spans())
    EXPORTER.clear()
    return found


@pytest.mark.parametrize("stream", [False, True])
def test_a_request_is_a_span_with_what_it_spent(server: Server, stream: bool) -> None:
    script = Hello("openai-chat")
    with before(script, server, tells=True) as (url, _):
        body = json.dumps({**HELLO, "stream": stream}).encode()
        with urlopen(Request(f"{url}/v1/messages", body, {"traceparent": PARENT})) as got:
            answer = got.read()
    [span] = spans()
    told = dict(span.attributes)
    assert span.name == f"chat {script.model}" and span.parent.trace_id == int(PARENT[3:35], 16)
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.provider.name"] == "openai-chat"
    assert told["gen_ai.request.model"] == script.model
    assert told["server.address"] == "127.0.0.1" and "error.type" not in told
    if not stream:
        spent = json.loads(answer)["usage"]
        assert told["gen_ai.usage.input_tokens"] == spent["input_tokens"]
    assert told["gen_ai.usage.output_tokens"] > 0
    assert told["gen_ai.response.finish_reasons"] == ("end_turn",)
    assert "secret" not in str(told) and "Hello" not in str(told)
    assert 0 < span.end_time - span.start_time < 60e9


def test_a_failure_is_told_by_its_status(server: Server) -> None:
    script = Hello("openai-chat")
    script.failure = 429, Extra(b'{"error": {"message": "slow down, secret-key"}}', {})
    with before(script, server, tells=True) as (url, _):
        assert asked(f"{url}/v1/messages", HELLO)[0] == 429
        assert asked(f"{url}/v1/nowhere", HELLO)[0] == 404  # of which no provider knows
    [span] = spans()
    assert span.attributes["error.type"] == "429" and not span.status.is_ok
    assert "secret" not in span.to_json()


def test_metrics_count_tokens_and_seconds(server: Server) -> None:
    data = READER.get_metrics_data()
    assert data is not None
    found = {
        metric.name: metric
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    assert found.keys() == {"gen_ai.client.token.usage", "gen_ai.client.operation.duration"}
    assert found["gen_ai.client.operation.duration"].unit == "s"
    points: list[Json] = list(found["gen_ai.client.token.usage"].data.data_points)
    kinds = {point.attributes["gen_ai.token.type"] for point in points}
    assert kinds == {"input", "output"}
    seconds: list[Json] = list(found["gen_ai.client.operation.duration"].data.data_points)
    assert sum(point.count for point in seconds) == 3


def test_it_is_imported_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys, wireglot.serve.command; print('opentelemetry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(UsageError, match="otel"):
        Telemetry("any")
