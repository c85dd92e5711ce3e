"""`wireglot serve`: the official SDKs before strict providers, whole and streamed."""

from __future__ import annotations

import ast
import asyncio
import gzip
import itertools
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from random import Random
from threading import Event
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import anthropic
import jsonschema
import openai
import pytest

import wireglot
import wireglot.httpx
from wireglot import cli
from wireglot.serve import command, config, wires
from wireglot.serve.demo import example, next_parts
from wireglot.serve.relay import Limits, upstream

from . import mocks, serveforms, width
from .agents import standin
from .loop import sdks, streamed
from .loop.clients import Result
from .loop.sdks import Failure
from .loop.server import Extra, Script, Server, Streamed, running
from .loop.serving import Served, served
from .test_sdkloop import ERRORS, check_history, converse, raised

Json = Any
DIALECTS = [name for name in mocks.DIALECTS if name != "vertex"]  # whose paths name no client
PAIRS = list(itertools.permutations(DIALECTS, 2))


class Player(Script):
    """A provider that streams its turns where a stream is asked for."""

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        status, answer = super().post(path, body)
        streams = body.get("stream", self.dialect == "ollama")
        if status != 200 or not (streams or "streamGenerateContent" in path):
            return status, answer
        return 200, Streamed(self.dialect, streamed.streamed(self.dialect, answer, Random(1)))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch, running() as one:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield one


def before(script: Script, server: Server, **more: Any) -> AbstractContextManager[Served]:
    """Serve before a provider."""
    server.serves(script)
    states = wireglot.States()
    return served(script.dialect, script.model, server.url, "secret-key", states=states, **more)


def target(model: standin.StandIn, url: str) -> AbstractContextManager[Served]:
    """Serve before a stand-in."""
    return served(model.target.rules, model.target.model, url, states=wireglot.States())


PATHS = ("/v1/messages", "/v1/chat/completions", "/api/chat")


@pytest.mark.parametrize("sdk", [sdks.SDKS, streamed.SDKS], ids=["whole", "streamed"])
@pytest.mark.parametrize(("client", "provider"), width.some(PAIRS, 4))
def test_it_brings_to_each_sdk_what_another_provider_says(
    server: Server, client: str, provider: str, sdk: Mapping[str, Any]
) -> None:
    script = Player(provider)
    with before(script, server) as (url, _):
        converse(sdk[client](url))
    check_history(script)
    if sdk is streamed.SDKS:
        assert set(script.paths) == {streamed.PATHS[provider].format(script.model)}


def test_it_says_what_is_wrong(server: Server) -> None:
    script = Script("anthropic")
    with before(script, server) as (url, _):
        sdk = sdks.SDKS["openai-chat"](url)
        sdk.says("Hello?")
        script.failure = 529, ERRORS["anthropic"][529]
        overloaded = Failure("InternalServerError", 529, "Overloaded", "server_error")
        assert raised(sdk) == overloaded
        script.failure = 200, {"type": "message"}
        assert raised(sdk)[:2] == ("InternalServerError", 502)
        with pytest.raises(Exception, match="at /messages"):
            sdk.sdk.chat.completions.create(model="any", messages="Hello?")
        assert asked(f"{url}/v1/messages", "no object")[0] == 400


@pytest.mark.parametrize(
    ("path", "dialect"),
    [
        ("/v1/embeddings", "openai-chat"),
        ("/", "openai-chat"),
        ("/v1/models/m", "openai-chat"),
        ("/v1/messages/batches", "anthropic"),
        ("/v1beta/models/m:embedContent", "gemini"),
        ("/api/embed", "ollama"),
    ],
)
def test_a_path_that_is_none_is_refused_in_the_words_of_who_asks_it(
    server: Server, path: str, dialect: str
) -> None:
    with before(Script("anthropic"), server) as (url, _):
        status, _, said = asked(url + path, {})
    told = wireglot.packaged()[dialect].read(said, unit="error").ir["message"]
    made = {"kind": "not_found", "message": told, "http": 404}
    assert status == 404 and told.startswith("nothing is at")
    assert said == wireglot.packaged()[dialect].write(made, unit="error").body


def asked(url: str, body: Json, **headers: str) -> tuple[int, Any, Json]:
    """Post a body; return the status, the headers and the body that come back."""
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    sent = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **named})
    try:
        with urlopen(sent) as got:
            return got.status, got.headers, json.load(got)
    except HTTPError as got:
        return got.code, got.headers, json.load(got)


VERSION = "2023-06-01"  # of Anthropic's API, as its SDKs name it
HELLO = {"model": "any", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello."}]}


def test_it_counts_where_others_do_not(server: Server) -> None:
    with before(Script("openai-chat"), server) as (url, _):
        _, _, counted = asked(f"{url}/v1/messages/count_tokens", HELLO)
        assert counted == {"input_tokens": len(json.dumps(HELLO)) // 4}
        for version in ("v1beta", "v1"):
            _, _, counted = asked(f"{url}/{version}/models/any:countTokens", HELLO)
            assert counted == {"totalTokens": len(json.dumps(HELLO)) // 4}


def test_it_passes_on_the_headers_that_a_loop_needs() -> None:
    managed = {**HELLO, "context_management": {"edits": []}}
    model = standin.StandIn(standin.TARGETS["anthropic"], "/", busy=True)
    with standin.running(model) as provider, target(model, provider.url) as (url, _):
        status, headers, body = asked(f"{url}/v1/messages", HELLO)
        assert (status, headers["Retry-After"]) == (429, "1")
        assert body["error"]["type"] == "rate_limit_error"
        assert asked(f"{url}/v1/chat/completions", HELLO)[0] == 503
        beta = standin.BETAS["context_management"]
        assert asked(f"{url}/v1/messages?beta=true", managed, anthropic_beta=beta)[0] == 200
        assert asked(f"{url}/v1/messages", managed)[0] == 400
        assert model.faults == ["refused: context_management: Extra inputs are not permitted"]


@pytest.mark.parametrize(
    ("provider", "path"),
    width.some([(one, path) for one in standin.TARGETS for path in PATHS], 2),
)
def test_each_frame_goes_on_as_soon_as_it_came(provider: str, path: str) -> None:
    more, waited = Event(), list[bool]()
    model = standin.StandIn(standin.TARGETS[provider], "/")

    def pause(data: bytes) -> None:
        if b"title" in data and not waited:
            waited.append(more.wait(5))

    model.pause = pause
    with standin.running(model) as server, target(model, server.url) as (url, _):
        body = json.dumps({**HELLO, "stream": True}).encode()
        with urlopen(Request(url + path, body, {"Content-Type": "application/json"})) as got:
            said = b""
            while b"title" not in said:  # behind which the provider waits
                said += got.read1(65536)
            more.set()
            assert got.read() and waited == [True] and not model.faults


# -- without a key or a network --------------------------------------------------------------------


@pytest.mark.parametrize("sdk", [sdks.SDKS, streamed.SDKS], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_the_demo_calls_the_first_tool_and_says_what_it_gave(
    client: str, sdk: Mapping[str, Any]
) -> None:
    with served("demo", states=wireglot.States()) as (url, log):
        one = sdk[client](url)
        one.says("What is the weather?")
        (call,) = one.asks()
        assert call.name == one.names[0] and call.arguments["city"] == "demo"
        one.answers([(call, Result("text", "drizzle"))])
        assert one.asks() == []
        assert "drizzle" in str(one.talk[-1])
        one.says("And tomorrow?")
        assert one.asks() == [] and "before" in str(one.talk[-1])
    assert all(" 200 " in line for line in log)


def test_the_demo_streams_in_pieces_and_needs_no_tool() -> None:
    with served("demo") as (url, _):
        body = json.dumps({**HELLO, "stream": True}).encode()
        with urlopen(Request(f"{url}/v1/chat/completions", body)) as got:
            said = got.read()
    assert said.count(b"data: ") > 10 and said.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]},
         {"a": 1}),
        ({"enum": ["x", "y"]}, "x"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}, True),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, 1.5),
        ({"type": ["string", "null"]}, "demo"),
        ({"type": "array", "items": {"type": "integer", "minimum": 5}, "minItems": 2}, [5, 5]),
        ({"properties": {"a": {"default": 3}}, "required": ["a", "b"]}, {"a": 3, "b": {}}),
    ],
)  # fmt: skip
def test_the_demo_makes_arguments_of_a_schema(schema: Json, value: Json) -> None:
    assert example(schema, schema, 0) == value
    jsonschema.validate(value, schema)


def test_the_demo_rather_runs_a_command_than_starts_an_agent() -> None:
    """The first tool of an agent may start an agent with the same tools, and so on."""
    asks = [{"role": "user", "parts": [{"type": "text", "text": "Hello."}]}]
    text = {"type": "string"}
    agent, run = ({"required": [one], "properties": {one: text}} for one in ("prompt", "command"))
    tools = [{"name": "Agent", "parameters": agent}, {"name": "Bash", "parameters": run}]
    for given, name, made in (
        (tools, "Bash", {"command": "ls"}),
        (tools[:1], "Agent", {"prompt": "demo"}),
    ):
        *_, call = next_parts({"messages": asks, "tools": given}, "anthropic", "0")
        assert (call["name"], call["arguments"]) == (name, made)


def test_a_schema_that_holds_itself_comes_to_an_end() -> None:
    deep = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    assert example(deep, deep, 0)


# -- what goes wrong -------------------------------------------------------------------------------


def test_errors_are_in_the_words_of_the_client(server: Server) -> None:
    with before(Script("openai-chat"), server, limits=Limits(body=1000)) as (url, log):
        for path, key in (("messages", "type"), ("chat/completions", "error")):
            status, _, body = asked(f"{url}/v1/{path}", {**HELLO, "x": "y" * 1000})
            assert status == 413 and key in body and "1000 bytes" in body["error"]["message"]
            assert asked(f"{url}/v1/{path}", ["no object"])[0] == 400
            with pytest.raises(HTTPError) as refused:
                urlopen(Request(f"{url}/v1/{path}", b"{no"))
            assert refused.value.code == 400
            assert "no JSON" in json.load(refused.value)["error"]["message"]
            with pytest.raises(HTTPError, match="415") as refused:
                coded = {"content-encoding": "gzip"}
                urlopen(Request(f"{url}/v1/{path}", gzip.compress(b"{}"), coded))
            assert "send it plain" in json.load(refused.value)["error"]["message"]
            with pytest.raises(HTTPError, match="405"):
                urlopen(f"{url}/v1/{path}")
        assert "there are /v1/chat" in asked(f"{url}/v1/m", {})[2]["error"]["message"]
        assert asked(f"{url}/v1/../v1/messages", HELLO)[0] == 404
        assert asked(f"{url}/v1beta/models/..%2F..%2Fx:generateContent", HELLO)[0] == 400
    assert [line.split()[2] for line in log if "405" in line] == ["405", "405"]


def test_a_name_of_a_model_leads_nowhere_else(server: Server) -> None:
    script = server.serves(Player("gemini"))
    with served("gemini", None, server.url) as (url, _):
        for name in ("../../v1/files", "a?b", "a#b", "a b", "a%2e%2e"):
            status, _, body = asked(f"{url}/v1/chat/completions", {**HELLO, "model": name})
            assert (status, "no name of a model" in str(body)) == (400, True), name
        missing = {"messages": HELLO["messages"]}
        assert asked(f"{url}/v1/chat/completions", missing)[0] == 400
    assert not script.paths


def test_nobody_comes_in_without_the_key_or_from_another_page() -> None:
    with served("demo", client_key="client-key") as (url, log):
        to = f"{url}/v1/messages"
        for wrong in ({}, {"x_api_key": "no"}, {"authorization": "Basic client-key"}):
            status, _, body = asked(to, HELLO, **wrong)
            assert (status, body["error"]["type"]) == (401, "authentication_error")
        for right in (
            {"authorization": "Bearer client-key"},
            {"x_api_key": "client-key"},
            {"x_goog_api_key": "client-key"},
        ):
            assert asked(to, HELLO, **right)[0] == 200
        assert asked(f"{to}?key=client-key", HELLO)[0] == 200
        for origin in ("http://example.com", "null", "https://127.0.0.1", url[:-1]):
            assert asked(to, HELLO, x_api_key="client-key", origin=origin)[0] == 403
        assert asked(to, HELLO, x_api_key="client-key", origin=url)[0] == 200
    assert not [line for line in log if "client-key" in line]


def test_keys_go_to_the_provider_alone(server: Server) -> None:
    script = server.serves(Player("anthropic"))
    script.failure = 401, {"type": "error", "error": {"type": "x", "message": "No: secret-key."}}
    with served("anthropic", "m", server.url, "secret-key", client_key="client-key") as (url, log):
        status, headers, body = asked(
            f"{url}/v1/messages", HELLO, x_api_key="client-key", anthropic_version=VERSION
        )
    assert status == 401 and body["error"]["message"] == "No: ***."
    assert "secret-key" not in f"{headers}{log}"
    sent = server.headers[-1]
    assert sent["x-api-key"] == "secret-key" and "client-key" not in str(sent)
    assert sent["anthropic-version"] == VERSION  # the body is of that, and goes as it is


def test_what_the_version_of_a_client_takes_goes_to_another_model(server: Server) -> None:
    script = server.serves(Player("anthropic"))
    warm = {**HELLO, "model": "claude-sonnet-4-5", "temperature": 0.5}
    for version, goes in ((VERSION, True), ("2026-10-21", False)):
        with served("anthropic", "claude-opus-4-1", server.url, "secret-key") as (url, _):
            asked(f"{url}/v1/messages", warm, anthropic_version=version)
        assert ("temperature" in script.bodies[-1]) is goes
        assert server.headers[-1]["anthropic-version"] == version


def test_what_an_answer_cost_goes_on(server: Server) -> None:
    script = Script("openai-chat")
    said = {"role": "assistant", "content": "Hi"}
    answer = {"id": "c", "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}
    cost = {"x-request-id": "req_7", "x-ratelimit-left": "3", "x-own": "4"}
    script.failure = 200, Extra(answer, cost)
    with before(script, server) as (url, log):
        status, headers, _ = asked(f"{url}/v1/messages", {**HELLO, "top_k": 3})
    assert status == 200 and headers["x-ratelimit-left"] == "3" and headers["x-own"] is None
    assert headers["request-id"] == headers["x-request-id"] == "req_7"
    assert "no-place=" in headers["x-wireglot-notes"] and "no-place=" in log[0]


def test_a_provider_that_is_not_there_is_told() -> None:
    opened = command.listening("127.0.0.1", 0)
    url = command.address(opened)
    opened.close()
    with served("anthropic", "m", url) as (here, log):
        for body in (HELLO, {**HELLO, "stream": True}):
            status, _, said = asked(f"{here}/v1/chat/completions", body)
            assert status == 502 and "cannot be reached" in said["error"]["message"]
    assert "502" in log[0]


def test_an_answer_that_is_no_json_is_told(server: Server) -> None:
    script = Script("anthropic")
    with before(script, server) as (url, _):
        for status, come in ((503, 503), (302, 502), (200, 502)):
            script.failure = status, Extra(b"<html>secret-key no</html>", {})
            got, _, said = asked(f"{url}/v1/chat/completions", HELLO)
            assert got == come and "secret" not in str(said)
            assert ("<html>*** no" in said["error"]["message"]) == (status != 200)


def test_an_error_that_comes_with_status_200_is_one_by_the_picture_of_the_dialect(
    server: Server,
) -> None:
    script = Script("minimax")
    with before(script, server) as (url, _):
        failed = {"status_code": 1004, "status_msg": "login fail"}
        script.failure = 200, {"choices": None, "base_resp": failed}
        status, _, said = asked(f"{url}/v1/messages", HELLO)
        assert (status, said["error"]["type"]) == (401, "authentication_error")
        assert said["error"]["message"] == "login fail"
        script.failure = 200, {"choices": None}  # no answer, and no error either
        assert asked(f"{url}/v1/messages", HELLO)[0] == 502


class Sleeping(Script):
    """A provider that takes its time."""

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        time.sleep(0.6)
        return 500, {}


def test_a_provider_that_says_nothing_is_not_waited_for(server: Server) -> None:
    with before(Sleeping("anthropic"), server, limits=Limits(silence=0.2)) as (url, _):
        status, _, said = asked(f"{url}/v1/chat/completions", HELLO)
    assert status == 504 and "Timeout" in said["error"]["message"]


def test_a_client_that_says_nothing_is_not_waited_for() -> None:
    with served("demo", limits=Limits(arrival=0.2)) as (url, log):
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), 10) as sock:
            sock.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
            assert sock.recv(1000).startswith(b"HTTP/1.1 408")
        with socket.create_connection((host, int(port)), 10) as sock:
            sock.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
    assert "408" in log[0]


def test_only_so_many_requests_run_at_once(server: Server) -> None:
    sleeping = before(Sleeping("openai-chat"), server, limits=Limits(requests=1))
    with sleeping as (url, _), ThreadPoolExecutor(3) as many:
        got = list(many.map(lambda _: asked(f"{url}/v1/messages", HELLO), range(3)))
    assert sorted(status for status, _, _ in got) == [500, 503, 503]
    [full, _] = (answer for answer in got if answer[0] == 503)
    assert full[1]["retry-after"] == "1" and full[2]["error"]["type"] == "overloaded_error"


class Dying(Player):
    """A provider whose streams break off, with a half frame and without an end."""

    gently = False

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        status, answer = super().post(path, body)
        assert isinstance(answer, Streamed)
        data = b"".join(answer.data)

        def broken() -> Iterator[bytes]:
            yield data[: len(data) * 2 // 3]
            if not self.gently:
                raise ConnectionError

        return status, Streamed(answer.dialect, broken())


@pytest.mark.parametrize("gently", [False, True])
@pytest.mark.parametrize("provider", ["anthropic", "openai-chat"])
@pytest.mark.parametrize("client", ["openai-chat", "anthropic", "gemini"])
def test_a_stream_that_breaks_off_ends_in_an_error(
    server: Server, client: str, provider: str, gently: bool
) -> None:
    script = Dying(provider)
    script.gently = gently
    with before(script, server) as (url, log):
        sdk = streamed.SDKS[client](url)
        sdk.says("Question 0.")
        with pytest.raises(Exception, match="provider"):
            sdk.asks()
    assert "200" in log[0] and "(the provider" in log[0]


def test_a_client_that_leaves_closes_the_provider() -> None:
    model, told, gone = standin.StandIn(standin.TARGETS["chat"], "/"), Event(), Event()

    def frames() -> Iterator[bytes]:
        try:
            while True:
                yield b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
                told.set()
        finally:
            gone.set()

    model.post = lambda *_: (200, frames())  # type: ignore[method-assign]
    with standin.running(model) as provider, target(model, provider.url) as (url, log):
        body = json.dumps({**HELLO, "stream": True}).encode()
        with urlopen(Request(f"{url}/v1/messages", body)) as got:
            assert got.read1(100) and told.wait(5)
        assert gone.wait(10)
        for _ in range(100):
            if log:
                break
            time.sleep(0.05)
    assert log[0].endswith("(the client left)")


# -- within an SDK ---------------------------------------------------------------------------------


def test_an_sdk_talks_to_another_provider_without_a_server(server: Server) -> None:
    script = server.serves(Player("anthropic"))
    with wireglot.httpx.client("anthropic", script.model, server.url, "secret") as http:
        sdk = streamed.SDKS["openai-chat"]("http://nowhere.test")
        sdk.sdk = openai.OpenAI(api_key="k", http_client=http, max_retries=0)
        converse(sdk)
        check_history(script)
        sdk.says("Hello?")
        script.failure = 529, ERRORS["anthropic"][529]
        assert raised(sdk)[:2] == ("InternalServerError", 529)
    assert server.headers[-1]["x-api-key"] == "secret"


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_an_sdk_takes_clients_of_both_libraries(library: str) -> None:
    with wireglot.httpx.client("demo", library=library) as http:
        sdk = openai.OpenAI(api_key="k", http_client=http)
        message = {"role": "user", "content": "Hi"}
        said = sdk.chat.completions.create(model="any", messages=[message])  # type: ignore[list-item]
        assert "demo" in str(said.choices[0].message.content)


def test_an_asynchronous_sdk_does_so_too() -> None:
    async def talk() -> str:
        async with wireglot.httpx.async_client("demo") as http:
            sdk = anthropic.AsyncAnthropic(api_key="k", http_client=http)
            message: Any = {"role": "user", "content": "Hi"}
            async with sdk.messages.stream(model="any", max_tokens=9, messages=[message]) as stream:
                pieces = [text async for text in stream.text_stream]
            whole = await sdk.messages.create(model="any", max_tokens=9, messages=[message])
        assert len(pieces) > 5 and whole.content[0].type == "text"
        return "".join(pieces)

    assert "demo of wireglot" in asyncio.run(talk())


# -- what is known of paths and headers ------------------------------------------------------------

KNOWN = (Path(__file__).parent.parent / "rules" / "serve" / "wires.yaml").read_text("utf-8")


def test_each_dialect_of_a_provider_has_a_wire_that_fits() -> None:
    rules, known = wireglot.packaged(), wires.packaged()
    assert set(known.providers) <= set(rules.dialects)
    assert {one.client for one in known.routes} | {known.demo[0]} <= set(rules.dialects)
    for name, provider in known.providers.items():
        if provider.refused is not None:
            with pytest.raises(wireglot.UsageError, match="cannot be served"):
                upstream(rules, name)
        elif provider.url is None:
            with pytest.raises(wireglot.UsageError, match="--url"):
                upstream(rules, name)
        else:
            assert upstream(rules, name).url == provider.url


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("wires: 1", "wires: 2", "begins with `wires: 1`"),
        ("query: [key]", "query: key", "`query` is a list of names"),
        ("query: [key]", "query: [key]\n  more: 1", "`more` is no word of `keys`"),
        ("demo: {dialect: anthropic, ", "demo: {", "`demo` has no `dialect`"),
        ("/api/chat: {client: ollama}", "/api/chat: {}", "says nothing"),
        ("/api/chat: ", "api/chat: ", "`api/chat` is no path"),
        ("stream: false", "stream: 1", "`stream` is true or false"),
        ("method: GET", "method: PUT", "`method` is GET or POST"),
        ("x-should-retry", "X_Retry", "is no name of a header"),
        ("x-api-key: $key", "x-api-key: key", "`$key` stands once"),
        ("x-api-key: $key", "X-Api-Key: $key", "in small letters"),
        ("https://api.cerebras.ai", "https://api.cerebras.ai/v1", "without a path"),
    ],
)
def test_what_is_wrong_in_a_file_of_wires_is_said(old: str, new: str, said: str) -> None:
    assert old in KNOWN
    with pytest.raises(wireglot.RuleError, match=r"wires\.yaml:\d+:\d+") as caught:
        config.read(serveforms.WIRES, KNOWN.replace(old, new, 1), "wires.yaml")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--to nobody", "nobody"),
        ("--to gemini-cli", "no dialect of a provider"),
        ("--to agent-sdk", "no dialect of a provider"),
        ("--to anthropic --url ftp://x", "is no address"),
        ("--to anthropic --key-env NO_SUCH_KEY", "holds no key"),
        ("--to demo --url http://x", "neither an address nor a key"),
        ("--to demo --host 0.0.0.0", "--client-key-env"),
        ("--to demo --port 99999", "nothing can listen"),
    ],
)
def test_what_cannot_be_served_is_said(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["serve", *words.split()]) == 2
    assert said in capsys.readouterr().err


def test_a_process_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "wireglot", "serve", "--to", "demo", "--port", "0"]
    # Whoever runs the tests in the background lets them, and so their children, ignore this signal.
    hears = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        words, stderr=subprocess.PIPE, text=True, cwd=tmp_path, preexec_fn=hears
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        url = first.split()[-1]
        assert first.startswith("wireglot serves demo at http://127.0.0.1:")
        assert asked(f"{url}/v1/messages", HELLO)[0] == 200
        process.send_signal(signal.SIGINT)
        assert "anthropic -> demo 200" in process.stderr.read()
        assert process.wait(10) == 130


def test_wireglot_alone_imports_no_server() -> None:
    code = "import sys, wireglot; wireglot.packaged(); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], stdout=-1, check=True, text=True)
    there = set(ast.literal_eval(done.stdout))
    assert not there & {"starlette", "uvicorn", "httpx", "httpx2", "wireglot.serve"}
