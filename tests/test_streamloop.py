"""The loop of `test_sdkloop`, streamed: the SDK's own accumulated answer makes the next turn."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

import wireglot

from . import width
from .loop import scripts
from .loop.server import Script, Server, running
from .loop.streamed import HELPED, PATHS, SDKS, StreamTalk
from .test_exchange import answered
from .test_sdkloop import (
    ERRORS,
    RAN,
    TOLD,
    check_history,
    converse,
    raised,
    raised_by,
    riding,
)

Json = Any
PAIRS = list(itertools.permutations(SDKS, 2))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch, running() as one:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield one


@pytest.mark.parametrize(
    ("client", "provider", "stateful"),
    width.some([(*pair, stateful) for pair in PAIRS for stateful in (True, False)], 3),
)
def test_an_sdk_brings_back_all_that_another_provider_streamed(
    server: Server, client: str, provider: str, stateful: bool
) -> None:
    sdk = SDKS[client](server.url)
    blind = client == "ollama" and not stateful
    script = Script(provider, aware=not blind)
    talk = StreamTalk(client, script, stateful)
    server.serves(talk)
    converse(sdk)
    assert set(talk.paths) == {sdk.path}
    assert set(script.paths) == {PATHS[provider].format(script.model)}
    late = client == "anthropic" and not stateful  # what is known when a block ends comes too late
    if not blind and not late:
        check_history(script)
    elif late:
        sent = [scripts.said(provider, answer) for answer in script.mock.sent]
        for count, body in enumerate(script.bodies):
            assert timely(scripts.history(provider, body)) == timely(sent[:count])
    else:  # nothing rides there: what it would have carried is told
        assert answered(provider, script.bodies[-1]) == TOLD
        assert all(riding(body) == [] for body in talk.asked)
    for answer, notes in talk.told:
        lost = [note.source_path for note in notes if note.effect == "lost"]
        for path in signatures(answer):
            within = any(path.startswith(f"{at}/") or path == at for at in lost)
            assert within if blind else path not in lost or late


def timely(value: Json) -> Json:
    """Return what is known when a part begins: no text of arguments, no state behind a text."""
    if isinstance(value, list):
        return [timely(one) for one in value]
    if not isinstance(value, dict):
        return value
    late = "text" in value and "thought" not in value
    return {
        key: json.loads(inner) if key == "arguments" and isinstance(inner, str) else timely(inner)
        for key, inner in value.items()
        if not (late and key == "thoughtSignature")
    }


def signatures(value: Json, at: str = "") -> Iterator[str]:
    """Yield the paths of what only the provider can read."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        if key in ("signature", "thoughtSignature", "encrypted_content"):
            yield f"{at}/{key}"
        elif isinstance(inner, dict | list):
            yield from signatures(inner, f"{at}/{key}")


@pytest.mark.parametrize(
    ("client", "provider"), [pair for pair in PAIRS if pair[0] in ("anthropic", "gemini")]
)
def test_an_sdk_may_run_the_tools_itself_from_a_stream(
    server: Server, client: str, provider: str
) -> None:
    sdk, script = SDKS[client](server.url), Script(provider)
    server.serves(StreamTalk(client, script, stateful=True))
    assert sdk.runs("Question 0.") == "Hello."
    assert sdk.runs("Question 1.").endswith("It is warm.")  # Google yields the calls' texts, too
    check_history(script, *RAN)


@pytest.mark.parametrize(
    ("client", "provider"),
    [*((client, "gemini") for client in SDKS if client != "gemini"), ("gemini", "anthropic")],
)
def test_what_an_sdk_dumps_of_a_stream_brings_it_back_too(
    server: Server, client: str, provider: str
) -> None:
    sdk, script = SDKS[client](server.url, True), Script(provider)
    server.serves(StreamTalk(client, script, stateful=True, seed=1))
    converse(sdk)
    check_history(script)


@pytest.mark.parametrize("client", HELPED)
@pytest.mark.parametrize("provider", ["anthropic", "gemini", "ollama"])
def test_the_stream_helper_of_openai_brings_it_back_too(
    server: Server, client: str, provider: str
) -> None:
    sdk, script = HELPED[client](server.url), Script(provider)
    server.serves(StreamTalk(client, script, stateful=True, seed=2))
    converse(sdk)
    check_history(script)


@pytest.mark.parametrize("breaks", [False, True], ids=["instead of it", "in the middle"])
@pytest.mark.parametrize(("client", "provider"), PAIRS)
def test_an_error_of_a_stream_is_an_exception_of_the_sdk(
    server: Server, client: str, provider: str, breaks: bool
) -> None:
    status = max(ERRORS[provider])
    body = ERRORS[provider][status]
    said = body["error"] if isinstance(body["error"], str) else body["error"]["message"]
    sdk, script = SDKS[client](server.url), Script(provider)
    talk = StreamTalk(client, script, stateful=False)
    server.serves(talk)
    sdk.says("Hello?")
    if breaks:
        talk.breaks = body
        with pytest.raises(Exception, match=said):
            sdk.asks()
    else:
        script.failure = status, body
        assert raised(sdk) == (
            *raised_by(client, status)[:1],
            status,
            said,
            raised_by(client, status)[1],
        )


# What tells a client that an answer is over; Gemini's ends when nothing more comes.
ENDS = {
    "openai-chat": '"[DONE]"',
    "openai-responses": '"response.completed"',
    "anthropic": '"message_stop"',
    "ollama": '"done": true',
}


@pytest.mark.parametrize(("client", "provider"), [pair for pair in PAIRS if pair[0] in ENDS])
def test_the_state_is_there_before_the_client_knows_that_the_answer_is_over(
    client: str, provider: str
) -> None:
    question: Json = {"messages": [{"role": "user", "content": "Hello?"}], "max_tokens": 9}
    if client == "openai-responses":
        question = {"input": "Hello?"}
    x = wireglot.exchange(client, provider, scripts.MODELS.get(provider, "m"), state={})
    x.request({"model": "m", "stream": True, **question})
    t = x.translator()
    answer = scripts.turns(provider, "f")[4]
    before = [new for one in wireglot.frames(answer, dialect=provider) for new in t.feed(one)]
    assert before
    assert ENDS[client] not in json.dumps(before)
    assert ENDS[client] in json.dumps(t.finish())


PIECES = ["It is ", "warm", "."]


def asked_again(pieces: list[str], apart: bool) -> Json:
    """Return what Claude is sent back of a text that Google's SDK holds in pieces."""
    x = wireglot.exchange("gemini", "anthropic", state={})
    question = {"role": "user", "parts": [{"text": "Is it warm?"}]}
    x.request({"contents": [question]}, stream=True)
    answer = scripts.SCRIPTS["anthropic"][4]
    t = x.translator()
    for frame in wireglot.frames(answer, dialect="anthropic"):
        text = frame.get("delta", {}).get("text", "")
        split = PIECES if text == "".join(PIECES) else [text]
        for piece in split:
            t.feed({**frame, "delta": {**frame["delta"], "text": piece}} if text else frame)
    t.finish()
    parts = [
        {"text": "Enough.", "thought": True},
        *({"text": piece} for piece in pieces),
        {"text": ""},
    ]
    contents = [
        {"role": "model", "parts": one} for one in ([[p] for p in parts] if apart else [parts])
    ]
    y = wireglot.exchange("gemini", "anthropic", state=x.state)
    return y.request({"contents": [question, *contents, question]}).body["messages"][1:-1]


@pytest.mark.parametrize("apart", [False, True])
def test_pieces_of_a_text_come_back_as_the_text_that_they_are(apart: bool) -> None:
    (turn,) = asked_again(PIECES, apart)
    assert turn["content"] == scripts.SCRIPTS["anthropic"][4]["content"]


@pytest.mark.parametrize("apart", [False, True])
def test_pieces_that_the_client_changed_stay_as_it_changed_them(apart: bool) -> None:
    for changed in (
        ["It was ", "warm", "."],
        ["It is ", "warm"],
        ["It is ", "warm", ".", " Or not."],
    ):
        turns = asked_again(changed, apart)
        texts = [b["text"] for t in turns for b in t["content"] if b["type"] == "text"]
        assert "".join(texts) == "".join(changed)
