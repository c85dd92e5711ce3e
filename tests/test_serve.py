"""`wireglot serve`: the official SDKs before strict providers, whole and streamed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from random import Random
from threading import Event
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

import wireglot

from . import mocks
from .agents import standin
from .loop import sdks, streamed
from .loop.sdks import Failure
from .loop.server import Script, Server, Streamed, running
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
    return served(script.dialect, script.model, server.url, "secret", states=states, **more)


def target(model: standin.StandIn, url: str) -> AbstractContextManager[Served]:
    """Serve before a stand-in."""
    return served(model.target.rules, model.target.model, url, states=wireglot.States())


@pytest.mark.parametrize("sdk", [sdks.SDKS, streamed.SDKS], ids=["whole", "streamed"])
@pytest.mark.parametrize(("client", "provider"), PAIRS)
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
        assert asked(f"{url}/v1/nothing", {})[0] == 404
        assert asked(f"{url}/v1/messages", "no object")[0] == 400


def asked(url: str, body: Json, **headers: str) -> tuple[int, Any, Json]:
    """Post a body; return the status, the headers and the body that come back."""
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    sent = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **named})
    try:
        with urlopen(sent) as got:
            return got.status, got.headers, json.load(got)
    except HTTPError as got:
        return got.code, got.headers, json.load(got)


HELLO = {"model": "any", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello."}]}


def test_it_counts_where_others_do_not(server: Server) -> None:
    with before(Script("openai-chat"), server) as (url, _):
        _, _, counted = asked(f"{url}/v1/messages/count_tokens", HELLO)
        assert counted == {"input_tokens": len(json.dumps(HELLO)) // 4}
        _, _, counted = asked(f"{url}/v1beta/models/any:countTokens", HELLO)
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


@pytest.mark.parametrize("provider", standin.TARGETS)
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/api/chat"])
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
