"""`wireglot serve` where something goes wrong: providers that break, clients that mean harm."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

import wireglot
from wireglot.errors import WireglotError
from wireglot.serve import turn
from wireglot.serve.relay import ClientRequest, Limits, ModelRoute, Relay, single, upstream

from . import width
from .loop import serving, streamed
from .loop.server import Script, Server, running
from .loop.serving import Served, served
from .test_sdkloop import check_history, converse
from .test_serve import HELLO, asked, before

Json = Any
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
PATHS = ("/v1/messages", "/v1/chat/completions")
MUCH = 50_000  # pieces of 10 kB: more than sockets hold, where one end does not read for a while
CLIENTS = ("openai-chat", "anthropic", "gemini")
WHOLE = [
    (client, name)
    for client in CLIENTS
    for name in (*CLIENTS, "openai-responses", "ollama")
    if client != name
]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch, running() as one:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield one


@contextlib.contextmanager
def provider(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Run a provider that reads a request and leaves the rest to `answer`; give its address."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            size = 0
            while (line := self.rfile.readline().lower()).strip():
                if line.startswith(b"content-length:"):
                    size = int(line.split()[1])
            self.rfile.read(size)
            with contextlib.suppress(OSError):
                answer(self.connection)

    class Threads(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Threads(("127.0.0.1", 0), Handler) as there:
        threading.Thread(target=there.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{there.server_address[1]}"
        there.shutdown()


@contextlib.contextmanager
def behind(
    answer: Callable[[socket.socket], None], key: str | None = None, **more: Any
) -> Iterator[Served]:
    """Serve before such a provider of Chat."""
    with provider(answer) as there, served("openai-chat", "m", there, key, **more) as one:
        yield one


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def delta(text: str, ends: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": ends}
    return f"data: {json.dumps({'id': 'c', 'choices': [choice]})}\n\n".encode()


def streams(url: str, path: str) -> bytes:
    """Ask for a stream, and return all of it."""
    sent = Request(f"{url}{path}", json.dumps({**HELLO, "stream": True}).encode())
    with urlopen(sent) as got:
        data: bytes = got.read()
        return data


# -- providers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTTP/1.1 2",
        b"no HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
    ],
)
def test_a_provider_that_breaks_before_it_answers_is_told(data: bytes, stream: bool) -> None:
    with behind(lambda sock: sock.sendall(data)) as (url, _):
        status, _, said = asked(f"{url}/v1/messages", {**HELLO, "stream": stream})
    assert (status, said["type"]) == (502, "error")
    assert "the provider cannot be reached: " in said["error"]["message"]


def test_an_answer_that_is_cut_is_told() -> None:
    data = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{}"
    with behind(lambda sock: sock.sendall(data)) as (url, _):
        for path in PATHS:
            status, _, said = asked(url + path, HELLO)
            assert (
                status == 502
                and "cannot be reached: ClientPayloadError" in said["error"]["message"]
            )


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "data",
    [
        b"",  # in the first byte
        b"5\r\nda",
        chunk(delta("Hi")) + b"99\r\ndata: {",  # half a frame
        chunk(delta("Hi")) + chunk(b"data: {no JSON\n\n") + b"0\r\n\r\n",
        chunk(delta("Hi")) + b"no length\r\n",
    ],
)
def test_a_stream_that_breaks_ends_in_an_error_of_the_client(path: str, data: bytes) -> None:
    def answer(sock: socket.socket) -> None:
        begins, end, rest = (STREAM + data).rpartition(b"\r\n\r\n" if b"Hi" in data else b"\r\n")
        sock.sendall(begins + end)
        time.sleep(0.3)  # else all is one piece, and broken before it began
        sock.sendall(rest)

    with behind(answer) as (url, log):
        got = streams(url, path).decode()
    frames = [json.loads(line[6:]) for line in got.splitlines() if line.startswith("data: {")]
    assert "provider" in frames[-1]["error"]["message"] and "(the provider" in log[0]
    assert ("Hi" in got) == (b"Hi" in data)


@pytest.mark.parametrize("path", PATHS)
def test_a_frame_of_ten_megabytes_goes_on_whole(path: str) -> None:
    text = "0123456789" * 1_000_000

    def answer(sock: socket.socket) -> None:
        sock.sendall(STREAM + chunk(delta(text)) + chunk(delta("", "stop")))
        sock.sendall(chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")

    with behind(answer) as (url, log):
        begun = time.process_time()
        got = streams(url, path)
        took = time.process_time() - begun
    assert text.encode() in got and "(" not in log[0] and took < 10


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_a_frame_that_never_ends_is_cut(
    path: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn, "FRAME", 300_000)
    ended = threading.Event()

    def answer(sock: socket.socket) -> None:
        try:
            sock.sendall(STREAM.replace(b"text/event-stream", kind.encode()))
            for _ in range(20):  # each has its own end: of them there may be as many as they like
                sock.sendall(chunk(delta("x" * 10_000)))
            for _ in range(MUCH):
                sock.sendall(chunk(b"data: {" + b"x" * 10_000))
        except OSError:
            ended.set()

    with behind(answer) as (url, log):
        got = streams(url, path).decode()
        assert ended.wait(10)
    last = json.loads([line for line in got.splitlines() if line.startswith("data: {")][-1][6:])
    assert "a frame has more than 300000 bytes" in last["error"]["message"]
    assert got.count("x" * 10_000) == (20 if kind == "text/event-stream" else 0)
    assert "more than 300000 bytes" in log[0]


def test_frames_that_came_in_one_piece_with_one_that_is_too_long_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turn, "FRAME", 300_000)
    rules = wireglot.packaged()
    asks = upstream(rules, "openai-chat", "m", "http://127.0.0.1")
    relay = Relay(rules, (ModelRoute("*", (asks,)),), wireglot.States())
    body = json.dumps({**HELLO, "stream": True}).encode()
    one = turn.begin(relay, ClientRequest("POST", "/v1/messages", {}, body))
    assert isinstance(one, turn.Turn)
    one.begin_stream({"content-type": "text/event-stream"})
    assert one.feed(delta("x" * 10_000) * 40).count(b"x" * 10_000) == 40  # each has its own end
    assert b"y" in one.feed(delta("y") + b"data: {" + b"z" * 300_000)
    with pytest.raises(WireglotError, match="a frame has more than 300000 bytes"):
        one.feed(b"z")


@pytest.mark.parametrize("path", PATHS)
def test_a_whole_answer_that_never_ends_is_cut(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn, "FRAME", 300_000)
    ended = threading.Event()

    def answer(sock: socket.socket) -> None:
        try:
            sock.sendall(STREAM.replace(b"text/event-stream", b"application/json"))
            for _ in range(MUCH):
                sock.sendall(chunk(b"x" * 10_000))
        except OSError:
            ended.set()

    with behind(answer) as (url, log):
        status, _, said = asked(url + path, HELLO)
        assert ended.wait(10)
    assert status == 502
    assert "the provider's answer cannot be read: it has more than" in said["error"]["message"]
    assert "more than 300000 bytes" in log[0]


@pytest.mark.parametrize("path", PATHS)
def test_what_a_slow_client_does_not_take_waits_at_the_provider(path: str) -> None:
    sent, gone = [0], threading.Event()

    def answer(sock: socket.socket) -> None:
        data = chunk(delta("0123456789" * 2000))
        sock.sendall(STREAM)
        try:
            while sent[0] < 300_000_000:
                sock.sendall(data)
                sent[0] += len(data)
        finally:
            gone.set()

    with behind(answer) as (url, log):
        host, port = url.removeprefix("http://").split(":")
        body = json.dumps({**HELLO, "stream": True}).encode()
        with socket.create_connection((host, int(port)), 10) as client:
            head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
            client.sendall(head.encode() + body)
            assert client.recv(15) == b"HTTP/1.1 200 OK"
            before = -1
            while before < sent[0]:  # until nothing moves any more
                before = sent[0]
                time.sleep(0.5)
            assert 0 < before < 60_000_000  # what the sockets hold, and not all there is
        assert gone.wait(10)
    assert log[0].endswith("(the client left)")


@pytest.mark.parametrize(("client", "name"), width.some(WHOLE, 2))
def test_a_whole_answer_to_who_asks_for_a_stream_is_streamed(
    server: Server, client: str, name: str
) -> None:
    script = Script(name)  # which never streams
    with before(script, server) as (url, _):
        converse(streamed.SDKS[client](url))
    check_history(script)


def test_a_whole_answer_is_streamed_at_home_too() -> None:
    said = {"role": "assistant", "content": "Hi there"}
    whole = {"id": "c", "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}
    with behind(partial(answers, 200, json.dumps(whole).encode())) as (url, _):
        got = streams(url, PATHS[1])
    assert b'"content":"Hi there"' in got and got.endswith(b"data: [DONE]\n\n")


def test_who_streams_nothing_has_a_stream_of_an_end_alone(tmp_path: Path) -> None:
    file = tmp_path / "whole.yaml"
    file.write_text(
        "wireglot: 2\ndialect: whole\nextends: openai-chat\nsee: https://a.example\n"
        "verified: 2026-11-30\nrequest: {wire: {stream: $removed}}\n"
        'stream!: {framing: lines, events: {end: "[DONE]"}}\n'
    )
    said = {"role": "assistant", "content": "Hi there"}
    whole = {"id": "c", "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}
    with provider(partial(answers, 200, json.dumps(whole).encode())) as there:
        given = single(wireglot.load_rules(tmp_path), "whole", "m", there, None, None)
        with serving.running(given) as (url, _):
            got = streams(url, PATHS[0])
    assert b'"text":"Hi there"' in got and b"message_stop" in got


def answers(status: int, body: bytes, sock: socket.socket) -> None:
    head = b"HTTP/1.1 %d Said\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    sock.sendall(head % (status, len(body)) + body)


def test_an_error_for_who_asks_for_a_stream_stays_an_error() -> None:
    said = b'{"error": {"message": "no such secret-key", "type": "x", "code": null}}'
    with behind(partial(answers, 200, said), "secret-key") as (url, _):
        for path in PATHS:
            got = streams(url, path)
            assert b"no such ***" in got and b"secret-key" not in got


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("code", "status"), [("429", 429), ("null", 502), ('"a word"', 502)])
def test_an_error_that_comes_as_if_all_were_well_is_one(code: str, status: int, path: str) -> None:
    said = f'{{"error": {{"message": "no such secret-key", "code": {code}}}}}'.encode()
    with behind(partial(answers, 200, said), "secret-key") as (url, _):
        got, _, error = asked(url + path, HELLO)
    assert (got, error["error"]["message"]) == (status, "no such ***")
    if path == PATHS[0]:
        assert error["error"]["type"] == ("rate_limit_error" if status == 429 else "api_error")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("999 Odd", 502),  # no status of HTTP
        ("429 Slow\r\nretry-after: \u6700", 429),  # no text that a header may have
    ],
)
def test_an_answer_that_no_server_can_pass_on_is_still_an_answer(head: str, status: int) -> None:
    data = f"HTTP/1.1 {head}\r\ncontent-length: 2\r\n\r\n{{}}".encode()
    with behind(lambda sock: sock.sendall(data)) as (url, _):
        got, _, said = asked(f"{url}/v1/messages", HELLO)
    assert got == status and said["type"] == "error"


# -- clients ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("POST /v1/messages HTTP/1.1\r\ncontent-length: 3\r\ntransfer-encoding: chunked", 400),
        ("POST /v1/messages HTTP/1.1\r\ncontent-length: 3\r\ncontent-length: 4", 400),
        ("POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked, identity", 400),
        ("POST /v1/messages HTTP/1.1\r\ncontent-length: +3", 400),
        ("POST /v1/messages HTTP/1.1\r\ncontent-length : 3", 400),
        ("POST /v1/../v1/messages HTTP/1.1\r\ncontent-length: 3", 404),
        ("POST /v1/%2e%2e/v1/messages HTTP/1.1\r\ncontent-length: 3", 404),
        ("POST //v1/messages HTTP/1.1\r\ncontent-length: 3", 404),
        ("POST http://elsewhere/v1/messages HTTP/1.1\r\ncontent-length: 3", 404),
        ("GET /v1/messages HTTP/1.1\r\nx: y", 405),
        ("CONNECT elsewhere:443 HTTP/1.1\r\nx: y", 404),
        ("no HTTP", 400),
    ],
)
def test_a_request_that_two_could_read_in_two_ways_is_refused(head: str, status: int) -> None:
    with served("demo") as (url, _):
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), 10) as sock:
            # Whoever takes the first length has a second request in what the other calls a body.
            sock.sendall(f"{head}\r\nhost: x\r\n\r\n{{}}\n".encode())
            got = sock.recv(1 << 16)
    assert got.startswith(b"HTTP/1.1 %d " % status)
    assert got.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000])
def test_a_body_without_a_bottom_is_refused(text: str) -> None:
    with served("demo") as (url, _):
        head = {"content-type": "application/json"}
        with pytest.raises(HTTPError) as caught:
            urlopen(Request(f"{url}/v1/messages", text.encode(), head), timeout=10)
        assert caught.value.code == 400
        assert "nested too deep" in json.load(caught.value)["error"]["message"]


def test_a_body_over_the_limit_is_refused_whatever_its_head_says() -> None:
    with served("demo", limits=Limits(body=1000)) as (url, _):
        host, port = url.removeprefix("http://").split(":")
        for head in ("content-length: 5000", "transfer-encoding: chunked"):
            body = b" " * 5000 if "length" in head else chunk(b" " * 5000)
            with socket.create_connection((host, int(port)), 10) as sock:
                sock.sendall(f"POST /v1/messages HTTP/1.1\r\nhost: x\r\n{head}\r\n\r\n".encode())
                with contextlib.suppress(OSError):
                    sock.sendall(body)
                assert sock.recv(1 << 16).startswith(b"HTTP/1.1 413 ")


def test_a_page_of_another_place_is_refused() -> None:
    with served("demo", client_key="sk-client-1") as (url, _):
        for origin in ("null", "http://evil.test", url.replace("http:", "https:"), f"{url}.evil"):
            status, _, said = asked(
                f"{url}/v1/messages", HELLO, origin=origin, x_api_key="sk-client-1"
            )
            assert status == 403 and "origin" in said["error"]["message"]


def test_no_key_is_in_what_a_client_or_a_log_is_told() -> None:
    """A provider says the key everywhere; a client puts its own everywhere, or another."""
    mine, theirs = "sk-provider-12345", "sk-client-12345"
    fault = b'{"error": {"message": "bad key %b", "type": "%b"}}' % (mine.encode(), mine.encode())
    status = [200]

    def answer(sock: socket.socket) -> None:
        if status[0] == 200:
            sock.sendall(STREAM + chunk(b"data: " + fault + b"\n\n") + b"0\r\n\r\n")
            return
        head = (
            b"HTTP/1.1 401 No\r\nx-request-id: %b\r\nretry-after: %b\r\ncontent-length: %d\r\n\r\n"
        )
        sock.sendall(head % (mine.encode(), mine.encode(), len(fault)) + fault)

    with behind(answer, mine, client_key=theirs) as (url, log):
        got: list[Any] = [streams_with(url, theirs)]
        status[0] = 401
        for key in (theirs, theirs + "x", "x"):
            answer_of = asked(f"{url}/v1/messages?key={key}", HELLO)
            got += [*answer_of[1].items(), answer_of[2]]
        got.append(asked(f"{url}/v1/nothing/{theirs[:3]}?key={theirs}", HELLO)[2])
    told = str(got) + str(log)
    assert "bad key ***" in told and "401" in told
    assert mine not in told and theirs not in told


def streams_with(url: str, key: str) -> bytes:
    body = json.dumps({**HELLO, "stream": True}).encode()
    with urlopen(Request(f"{url}/v1/messages", body, {"x-api-key": key})) as got:
        data: bytes = got.read()
        return data
