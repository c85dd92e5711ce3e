"""The loop of `test_exchange`, with the official SDK of the client's side, over loopback HTTP."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from wireglot.loop import carry

from . import mocks, width
from .loop import scripts
from .loop.clients import CARRIES
from .loop.sdks import SDKS, Failure, Sdk
from .loop.server import Script, Server, Talk, running
from .test_exchange import RESULTS, answered, cities, strange, walk

Json = Any
PAIRS = list(itertools.permutations(SDKS, 2))
RAN = [f"1 times in {city}" for city in ("Oslo", "Rome", "Oslo", "Rome")]  # what `weather` does
TOLD = ["12 degrees", "25 degrees", "Timeout", "A map"]  # what the tools of `RESULTS` answer


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch, running() as one:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield one


@pytest.mark.parametrize(
    ("client", "provider", "keeps"),
    [
        *width.some([(*pair, keeps) for pair in PAIRS for keeps in ("a state", "objects")], 3),
        *((client, "gemini", "dumps") for client in SDKS if client != "gemini"),
        ("gemini", "anthropic", "dumps"),
    ],
)
def test_an_sdk_brings_back_all_that_another_provider_sent(
    server: Server, client: str, provider: str, keeps: str
) -> None:
    stateful, dumps = keeps == "a state", keeps == "dumps"
    # What the SDK of Ollama keeps of a call has no room for an id or a signature.
    blind = client == "ollama" and not stateful
    sdk = SDKS[client](server.url, dumps)
    script = Script(provider, aware=not blind)
    talk = server.serves(Talk(client, script, stateful))
    converse(sdk)
    assert set(talk.paths) == {sdk.path}
    if not blind:
        check_history(script)
    lost = {note.code for note in talk.notes if note.effect == "lost"}
    signed = "ignature" in json.dumps(scripts.SCRIPTS[provider])
    assert ("foreign-signature" in lost) == (blind and signed)
    named = [n for n in talk.notes if "need not keep this id" in n.message and n.effect == "lost"]
    # The script of Vertex gives its calls no ids.
    assert bool(named) == (blind and provider != "vertex")
    # What rode in an answer stands in each request after it, and in no other key.
    given = [what for answer in talk.answers[:-1] for what in riding(answer)]
    assert riding(talk.asked[-1]) == given
    # What OpenAI Chat answers, its Responses hold as it is.
    alike = (client, provider) == ("openai-responses", "openai-chat")
    assert bool(given) == (bool(CARRIES[client]) and not alike)
    assert {key for answer in talk.answers for key in strange(answer)} <= set(CARRIES[client])


def converse(sdk: Sdk) -> None:
    """Go through all turns of a loop, and ask once more."""
    for turn, results in enumerate(RESULTS):
        if turn < 2:
            sdk.says(f"Question {turn}.")
        calls = sdk.asks()
        assert [(c.name, c.arguments["city"]) for c in calls] == [
            (sdk.names[0], city) for city in cities(results, turn)
        ]
        if calls:
            sdk.answers(list(zip(calls, results, strict=True)))
    sdk.says("Thanks.")
    sdk.asks()


def check_history(script: Script, *results: str) -> None:
    """Hold what stands in each request of what the provider said against what it said."""
    sent = [scripts.said(script.dialect, answer) for answer in script.mock.sent]
    assert len(sent) == len(script.bodies) >= len(RESULTS)
    for count, body in enumerate(script.bodies):
        assert scripts.history(script.dialect, body) == sent[:count]
    assert answered(script.dialect, script.bodies[-1]) == list(results or TOLD)


def riding(body: Json) -> list[Json]:
    """Return what rides in a body, wherever."""
    found = [
        value.get(carry.MARK) if isinstance(value, dict) else carry.unsealed(value)
        for _, value in walk(body)
    ]
    return [what for what in found if what is not None]


@pytest.mark.parametrize(
    ("client", "provider"), [pair for pair in PAIRS if pair[0] in ("anthropic", "gemini")]
)
def test_an_sdk_may_run_the_tools_itself(server: Server, client: str, provider: str) -> None:
    sdk, script = SDKS[client](server.url), Script(provider)
    server.serves(Talk(client, script, stateful=False))
    assert sdk.runs("Question 0.") == "Hello."
    assert sdk.runs("Question 1.") == "It is warm."
    check_history(script, *RAN)


class Threadless(Talk):
    """A talk behind a server that holds no history, and says so."""

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        if "thread" not in body:
            return super().post(path, body)
        details = {"error_code": "thread_unsupported_request"}
        error = {"type": "invalid_request_error", "message": "No threads.", "details": details}
        return 400, {"type": "error", "error": error}


def test_an_sdk_that_wants_the_server_to_hold_the_history_sends_it_when_refused(
    server: Server,
) -> None:
    sdk, script = SDKS["anthropic"](server.url), Script("gemini")
    vars(sdk)["threads"] = True
    server.serves(Threadless("anthropic", script, stateful=False))
    assert [sdk.runs(f"Question {n}.") for n in range(2)] == ["Hello.", "It is warm."]
    check_history(script, *RAN)


ERRORS: dict[str, dict[int, Json]] = {
    "openai-chat": {
        401: {
            "error": {
                "message": "Incorrect API key provided.",
                "type": "invalid_request_error",
                "param": None,
                "code": "invalid_api_key",
            }
        },
        429: {"error": {"message": "Slow down.", "type": "tokens", "code": "rate_limit_exceeded"}},
        500: {"error": {"message": "Sorry.", "type": "server_error"}},
    },
    "anthropic": {
        404: {
            "type": "error",
            "error": {"type": "not_found_error", "message": "model: m"},
            "request_id": "req_1",
        },
        429: {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}},
        529: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    },
    "gemini": {
        403: {"error": {"code": 403, "message": "No.", "status": "PERMISSION_DENIED"}},
        429: {
            "error": {
                "code": 429,
                "message": "Quota exceeded.",
                "status": "RESOURCE_EXHAUSTED",
                "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo"}],
            }
        },
        503: {"error": {"code": 503, "message": "Busy.", "status": "UNAVAILABLE"}},
    },
    "ollama": {
        401: {"error": "unauthorized", "signin_url": "https://ollama.com/connect"},
        404: {"error": "model 'm' not found"},
        500: {"error": "out of memory"},
    },
}
ERRORS["vertex"] = ERRORS["gemini"]
ERRORS["openai-responses"] = ERRORS["openai-chat"]
# What a status is in each SDK: the class of the exception, and the kind that the body says.
WORDS = {
    400: ("BadRequestError", "invalid_request_error", "INVALID_ARGUMENT"),
    401: ("AuthenticationError", "authentication_error", "UNAUTHENTICATED"),
    403: ("PermissionDeniedError", "permission_error", "PERMISSION_DENIED"),
    404: ("NotFoundError", "not_found_error", "NOT_FOUND"),
    429: ("RateLimitError", "rate_limit_error", "RESOURCE_EXHAUSTED"),
    500: ("InternalServerError", "api_error", "INTERNAL"),
    503: ("ServiceUnavailableError", "overloaded_error", "UNAVAILABLE"),
    529: ("OverloadedError", "overloaded_error", "UNAVAILABLE"),
}


def raised_by(client: str, status: int) -> tuple[str, str | None]:
    """Return the class of the exception that an SDK raises for a status, and its kind."""
    name, kind, google = WORDS[status]
    if client in ("gemini", "vertex"):
        return "ClientError" if status < 500 else "ServerError", google
    if client == "ollama":
        return "ResponseError", None
    if client.startswith("openai") and status >= 500:
        return "InternalServerError", "server_error"
    return name, kind


@pytest.mark.parametrize(("client", "provider"), PAIRS)
def test_an_error_of_the_provider_is_an_exception_of_the_sdk(
    server: Server, client: str, provider: str
) -> None:
    refused = mocks.refusals(provider, {})[0]
    errors = {400: mocks.Provider(provider).error(refused), **ERRORS[provider]}
    for status, body in errors.items():
        sdk = SDKS[client](server.url)
        script = Script(provider)
        script.failure = status, body
        server.serves(Talk(client, script, stateful=False))
        sdk.says("Hello?")
        seen = raised(sdk)
        said = body["error"]
        text = said if isinstance(said, str) else said["message"]
        name, kind = raised_by(client, status)
        assert seen == (name, status, text, kind)


def raised(sdk: Sdk) -> Failure:
    """Return the error that the SDK raises when it asks."""
    with pytest.raises(Exception) as found:
        sdk.asks()
    return sdk.failure(found.value)
