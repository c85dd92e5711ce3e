"""The file of `wireglot serve`: providers, routes, fallbacks, and what is wrong with a file."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

import wireglot
from wireglot import cli
from wireglot.serve import command, config
from wireglot.serve.relay import Limits

from .loop import serving
from .loop.server import Script, Server, running
from .test_serve import HELLO, Player, asked

Json = Any
FILE = """\
serve: 1
upstreams:
  one: {dialect: gemini, url: "URL", key-env: ONE_KEY, model: gemini-3-pro, headers: {x-own: p}}
  two: {dialect: anthropic, url: "URL", model: claude-opus-4-8}
routes:
  small: {to: two}
  big-*: {to: one, model: gemini-3-flash, fallbacks: [two]}
"""


class Hello(Player):
    """A provider that says one thing."""

    def turns(self, body: Json) -> list[Json]:
        said = {"parts": [{"type": "text", "text": "Hello."}], "stop_reason": "end_turn"}
        usage = {"input": 1, "output": 1}
        answer = {"id": "x", "model": self.model, "candidates": [said], "usage": usage}
        return [wireglot.packaged()[self.dialect].write(answer, unit="response").body]


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, Server]]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("ONE_KEY", "secret-key")
    with running() as one, running() as two:
        yield one, two


@contextlib.contextmanager
def served(tmp_path: Path, text: str, *urls: str) -> Iterator[serving.Served]:
    """Serve as a file says, in which each `URL` stands for the next address."""
    for url in urls:
        text = text.replace("URL", url, 1)
    file = tmp_path / "serve.yaml"
    file.write_text(text, "utf-8")
    given = config.relay_of(str(file), wireglot.States())
    with serving.running(given) as one:
        yield one


def test_the_model_says_which_provider(tmp_path: Path, servers: tuple[Server, Server]) -> None:
    one, two = servers[0].serves(Hello("gemini")), servers[1].serves(Hello("anthropic"))
    with served(tmp_path, FILE, servers[0].url, servers[1].url) as (url, log):
        for path in ("messages", "chat/completions"):
            assert asked(f"{url}/v1/{path}", {**HELLO, "model": "small"})[0] == 200
        assert asked(f"{url}/v1/messages", {**HELLO, "model": "big-7"})[0] == 200
        assert asked(f"{url}/v1beta/models/big-8:generateContent", {"contents": []})[0] in (
            200,
            400,
        )
        status, _, body = asked(f"{url}/v1/messages", {**HELLO, "model": "other"})
        assert (status, body["error"]["type"]) == (404, "not_found_error")
        assert "no route is for the model 'other'" in body["error"]["message"]
    assert [body["model"] for body in two.bodies] == ["claude-opus-4-8"] * 2
    assert set(one.paths) == {"/v1beta/models/gemini-3-flash:generateContent"}
    sent = servers[0].headers[0]
    assert (sent["x-goog-api-key"], sent["x-own"]) == ("secret-key", "p")
    assert "x-api-key" not in servers[1].headers[0]
    assert "anthropic -> two 200" in log[0] and "anthropic -> one 200" in log[2]


def test_a_key_stands_where_the_file_says_and_nowhere_else(
    tmp_path: Path, servers: tuple[Server, Server]
) -> None:
    servers[0].serves(Hello("openai-chat"))
    one = '{dialect: vllm, url: "URL", key-env: ONE_KEY, headers: {x-key: "k $key"}}'
    said = f"serve: 1\nupstreams:\n  one: {one}\n"
    with served(tmp_path, said, servers[0].url) as (url, _):
        assert asked(f"{url}/v1/messages", {**HELLO, "model": "m"})[0] == 200
    sent = servers[0].headers[0]
    assert sent["x-key"] == "k secret-key" and "authorization" not in sent


@pytest.mark.parametrize(
    ("routes", "listed"),
    [
        (FILE.partition("routes:")[2], ["small"]),
        ('\n  "*": {to: one}\n  named: {to: two}\n', ["gemini-3-pro", "named"]),
        ("\n  big-*: {to: one}\n", []),
    ],
)
def test_models_are_those_that_routes_name(
    tmp_path: Path, servers: tuple[Server, Server], routes: str, listed: list[str]
) -> None:
    text = FILE.partition("routes:")[0] + "routes:" + routes
    with served(tmp_path, text, "http://a", "http://b") as (url, _):
        with urlopen(f"{url}/v1/models") as got:
            assert [one["id"] for one in json.load(got)["data"]] == listed
        for path in ("/v1/models", "/v1beta/models"):  # of Gemini's SDK, which asks either
            with urlopen(url + path) as got:
                assert [one["name"] for one in json.load(got)["models"]] == [
                    f"models/{name}" for name in listed
                ]


def test_models_are_none_where_none_is_named() -> None:
    with serving.served("openai-chat") as (url, _), urlopen(f"{url}/api/tags") as got:
        assert json.load(got) == {"models": []}


def test_the_file_of_the_documentation_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parent.parent / "docs" / "serve.md").read_text("utf-8")
    (tmp_path / "serve.yaml").write_text(page.split("```yaml\n")[1].split("```")[0], "utf-8")
    monkeypatch.setenv("DEEPSEEK_API_KEY", "key-of-deepseek")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-anthropic")
    given = config.relay_of(str(tmp_path / "serve.yaml"), None)
    asked = {
        model: [(one.name, one.model) for one in given.upstreams(model)]
        for model in ("claude-opus-5", "fast", "gpt-5.4", None)
    }
    claude, deepseek = ("claude", "claude-opus-4-8"), ("deepseek", "deepseek-v4-pro")
    assert asked == {
        "claude-opus-5": [claude, deepseek],
        "fast": [("deepseek", "deepseek-v4-flash")],
        "gpt-5.4": [("local", None)],
        None: [("local", None)],
    }
    assert given.limits == Limits(body=10_000_000, silence=120)


# -- fallbacks -------------------------------------------------------------------------------------

BIG = {**HELLO, "model": "big-1"}


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
@pytest.mark.parametrize("stream", [False, True])
def test_another_provider_answers_where_one_does_not(
    tmp_path: Path, servers: tuple[Server, Server], status: int, stream: bool
) -> None:
    one, two = servers[0].serves(Hello("gemini")), servers[1].serves(Hello("anthropic"))
    one.failure = status, {"error": {"code": status, "message": "No.", "status": "UNAVAILABLE"}}
    with served(tmp_path, FILE, servers[0].url, servers[1].url) as (url, log):
        if stream:
            data = json.dumps({**BIG, "stream": True}).encode()
            with urlopen(f"{url}/v1/chat/completions", data) as got:
                assert got.read().endswith(b"data: [DONE]\n\n")
        else:
            assert asked(f"{url}/v1/chat/completions", BIG)[0] == 200
    assert len(one.bodies) == len(two.bodies) == 1
    assert two.bodies[0]["model"] == "claude-opus-4-8" and "contents" in one.bodies[0]
    assert "-> two 200" in log[0] and log[0].endswith(f"(one: it answered {status})")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_no_other_provider_would_answer_is_told(
    tmp_path: Path, servers: tuple[Server, Server], status: int
) -> None:
    one, two = servers[0].serves(Hello("gemini")), servers[1].serves(Hello("anthropic"))
    one.failure = status, {"error": {"code": status, "message": "No.", "status": "X"}}
    with served(tmp_path, FILE, servers[0].url, servers[1].url) as (url, _):
        assert asked(f"{url}/v1/messages", BIG)[0] == status
    assert not two.bodies


def test_a_provider_that_is_not_there_has_another_in_its_place(
    tmp_path: Path, servers: tuple[Server, Server]
) -> None:
    opened = command.listening("127.0.0.1", 0)
    gone = command.address(opened)
    opened.close()
    two = servers[1].serves(Hello("anthropic"))
    with served(tmp_path, FILE, gone, servers[1].url) as (url, log):
        assert asked(f"{url}/v1/messages", BIG)[0] == 200
        two.failure = (
            429,
            {"type": "error", "error": {"type": "rate_limit_error", "message": "Wait"}},
        )
        status, _, body = asked(f"{url}/v1/messages", BIG)
        assert (status, body["error"]["message"]) == (429, "Wait")  # the last one is heard
    assert "one: the provider cannot be reached" in log[1] and "-> two 429" in log[1]


def test_a_fallback_that_cannot_take_the_request_is_passed_over(
    tmp_path: Path, servers: tuple[Server, Server]
) -> None:
    text = FILE + "policy: {rules: [{target: anthropic, do: fail}], policy: 1}\n"
    one, two = servers[0].serves(Hello("gemini")), servers[1].serves(Hello("anthropic"))
    one.failure = 503, {"error": {"code": 503, "message": "Busy.", "status": "UNAVAILABLE"}}
    with served(tmp_path, text, servers[0].url, servers[1].url) as (url, log):
        status, _, body = asked(f"{url}/v1/chat/completions", {**BIG, "seed": 3})
        assert (status, body["error"]["message"]) == (503, "Busy.") and not two.bodies
    assert "two: " in log[0] and "seed" in log[0]


class Signing(Script):
    """A provider that signs each call, and says another id in each turn."""

    def turns(self, body: Json) -> list[Json]:
        return [self.turn(nth) for nth in range(9)]

    def turn(self, nth: int) -> Json:
        mark = f"{'GA'[self.dialect == 'anthropic']}{nth}A="
        if self.dialect == "gemini":
            call = {"functionCall": {"name": "f", "args": {"n": mark}}, "thoughtSignature": mark}
            return {"candidates": [{"content": {"role": "model", "parts": [call]}}]}
        thought = {"type": "thinking", "thinking": "Hm.", "signature": mark}
        call = {"type": "tool_use", "id": f"toolu_{nth}", "name": "f", "input": {"n": mark}}
        head = {"id": f"msg_{nth}", "type": "message", "role": "assistant", "model": self.model}
        usage = {"input_tokens": 1, "output_tokens": 1}
        more = {"stop_reason": "tool_use", "stop_sequence": None, "usage": usage}
        return {**head, **more, "content": [thought, call]}

    def signatures(self) -> list[str]:
        """Return the signatures of the last request."""
        body = self.bodies[-1]
        parts = [
            part
            for turn in body.get("contents") or body["messages"]
            for part in turn.get("parts") or turn["content"]
            if isinstance(part, dict)
        ]
        found = (part.get("thoughtSignature", part.get("signature")) for part in parts)
        return [one for one in found if one is not None]


def test_each_provider_finds_its_own_state_after_another_answered(
    tmp_path: Path, servers: tuple[Server, Server]
) -> None:
    one, two = Signing("gemini"), Signing("anthropic")
    servers[0].talk, servers[1].talk = one, two
    busy = 503, {"error": {"code": 503, "message": "Busy.", "status": "UNAVAILABLE"}}
    text = FILE + "options: {carry: false}\n"
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    talk: list[Json] = [{"role": "user", "content": "Go."}]
    with served(tmp_path, text, servers[0].url, servers[1].url) as (url, _):
        for failure in (None, busy, None, busy, busy, None):
            one.failure = failure
            body = {"model": "big-1", "messages": talk, "tools": [tool]}
            status, _, answer = asked(f"{url}/v1/chat/completions", body)
            assert status == 200, answer
            message = answer["choices"][0]["message"]
            assert "extra_content" not in json.dumps(message)
            (call,) = message["tool_calls"]
            talk += [message, {"role": "tool", "tool_call_id": call["id"], "content": "1"}]
    # Calls of the other one stand there without a signature, or with what says that there is none.
    own = [mark for mark in one.signatures() if mark.startswith("G")]
    assert own == ["G0A=", "G1A="] and two.signatures() == ["A0A=", "A1A="]
    assert not one.mock.refusals(one.bodies[-1]) and not two.mock.refusals(two.bodies[-1])


# -- restarts --------------------------------------------------------------------------------------


@contextlib.contextmanager
def process(folder: Path, *words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run a server in a process of its own; give its address, and kill it at the end."""
    said = [sys.executable, "-m", "wireglot", "serve", "--port", "0", *words]
    with subprocess.Popen(said, stderr=subprocess.PIPE, text=True, cwd=folder) as one:
        assert one.stderr is not None
        try:
            yield one.stderr.readline().split()[-1], one
        finally:
            one.kill()


def test_conversations_go_on_after_a_kill(tmp_path: Path, servers: tuple[Server, Server]) -> None:
    two = Signing("anthropic")
    servers[1].talk = two
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    talk: list[Json] = [{"role": "user", "content": "Go."}]
    words = ("--to", "anthropic", "--url", servers[1].url, "--state", "states.db")
    for nth in range(4):  # the client has no key for what rides
        with process(tmp_path, *words) as (url, server):
            body = {"model": "claude-opus-4-8", "messages": talk, "tools": [tool]}
            status, _, answer = asked(f"{url}/api/chat", {**body, "stream": False})
            assert status == 200, answer
            os.kill(server.pid, signal.SIGKILL)
            assert server.wait(10) == -signal.SIGKILL
        message = answer["message"]
        talk += [message, {"role": "tool", "tool_name": "f", "content": "1"}]
        assert two.signatures() == [f"A{n}A=" for n in range(nth)]
        assert not two.mock.refusals(two.bodies[-1])


def test_a_change_is_in_force_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "serve.yaml"
    right = "serve: 1\nupstreams: {d: {dialect: demo}}\nroutes: {ROUTE: {to: d}}\n"
    file.write_text(right.replace("ROUTE", "one"), "utf-8")

    def status(url: str, model: str) -> int:
        return asked(f"{url}/v1/messages", {**HELLO, "model": model})[0]

    with process(tmp_path, "--config", "serve.yaml", "--watch") as (url, server):
        assert server.stderr is not None
        lines = (line for line in server.stderr if "change" in line)
        assert (status(url, "one"), status(url, "two")) == (200, 404)
        file.write_text(right.replace("ROUTE", "two"), "utf-8")
        assert next(lines).endswith("a change is in force\n")
        assert (status(url, "one"), status(url, "two")) == (404, 200)
        file.write_text(right.replace("ROUTE", "two") + "limits: {requests: 1}\n", "utf-8")
        assert "in force, but for the limits, which a new start changes" in next(lines)
        file.write_text(right.replace("ROUTE", "three").replace("to: d", "to: e"), "utf-8")
        assert "a change is refused, and what was goes on: serve.yaml:3:" in next(lines)
        assert (status(url, "two"), status(url, "three")) == (200, 404)


# -- what is wrong ---------------------------------------------------------------------------------

WRONG = [
    ("serve: 1", "serve: 2", "1:8: R022: the file of a server begins with `serve: 1`"),
    ("serve: 1", "server: 1", "1:1: R021: `server` is no word of the file of a server"),
    ("dialect: gemini,", "dialect: gemin,", "3:8: there is no dialect `gemin`"),
    ("dialect: gemini, ", "", "3:8: R022: an upstream has no `dialect`"),
    ("dialect: gemini,", "dialect: agent-sdk,", "agent-sdk is no dialect of a provider"),
    ("key-env: ONE_KEY", "key-env: sk-1234", "`key-env` is the name of an environment variable"),
    ("key-env: ONE_KEY", "key-env: sk1234567", "3:8: the environment variable that `key-env`"),
    ("key-env: ONE_KEY", "key: sk-1234", "R021: `key` is no word of an upstream"),
    ("x-own: p", "x-goog-api-key: sk-1234", "`x-goog-api-key` holds `$key`"),
    ("x-own: p", "X-Goog: sk-1234", "`X-Goog` is no name of a header in small"),
    ('"http://a"', '"http://sk-1234@a"', "`url` begins with http:// or https://"),
    ('"http://a"', '"http://a?key=sk-1234"', "`url` begins with http:// or https://"),
    ('"http://a"', '"a:sk-1234', "3:8: R020"),
    ("to: two", "to: too", "6:15: there is no upstream `too`"),
    ("[two]", "[one, to]", "there is no upstream `to`"),
    ("[two]", "two", "`fallbacks` is a list of names"),
    ("{to: two}", "two", "6:10: R022: a route is a mapping"),
    ("routes:", "routes: {}\nlimits:", "R022"),
    ("serve: 1", "serve: 1\noptions: {nothing: 1}", "2:10: there is no option `nothing`"),
    ("serve: 1", "serve: 1\npolicy: {lossy: fail}", "2:9: the policy names `lossy`"),
    ("serve: 1", "serve: 1\nlimits: {body: 0}", "2:16: R022: `body` is a number, at least 1"),
    ("serve: 1", "serve: 1\nrules: [nowhere]", "nowhere"),
    ("serve: 1", "serve: 1\noverlays: [nothing]", "nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), WRONG)
def test_what_is_wrong_in_the_file_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    said: str,
) -> None:
    monkeypatch.setenv("ONE_KEY", "secret-key")
    text = FILE.replace("URL", "http://a", 1).replace("URL", "http://b", 1)
    assert old in text
    file = tmp_path / "serve.yaml"
    file.write_text(text.replace(old, new, 1), "utf-8")
    assert cli.main(["serve", "--config", str(file)]) in (1, 2)
    told = capsys.readouterr().err
    assert said in told
    assert "sk-1234" not in told and "sk1234567" not in told and "secret-key" not in told


def test_without_routes_one_provider_is_for_all(tmp_path: Path) -> None:
    with served(tmp_path, "serve: 1\nupstreams: {d: {dialect: demo}}\n") as (url, log):
        assert asked(f"{url}/v1/messages", HELLO)[0] == 200
    assert "anthropic -> d 200" in log[0]
    both = "serve: 1\nupstreams: {d: {dialect: demo}, e: {dialect: demo}}\n"
    with pytest.raises(wireglot.RuleError, match="and no `routes`"), served(tmp_path, both):
        pass


def test_rules_and_limits_of_the_file_hold(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/acme.yaml").write_text(
        "wireglot: 2\ndialect: acme\nsee: https://acme.test\nverified: 2026-11-21\n"
        "extends: openai-chat\n", "utf-8",
    )  # fmt: skip
    text = (
        "serve: 1\nrules: [mine]\nlimits: {body: 10, arrival: 5}\n"
        'upstreams: {a: {dialect: acme, url: "http://a"}}\n'
    )
    with served(tmp_path, text) as (url, _):
        status, _, body = asked(f"{url}/v1/messages", HELLO)
        assert status == 413 and "10 bytes" in body["error"]["message"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "`--to` says which provider, or `--config` names a file"),
        ("--config nowhere.yaml", "`nowhere.yaml` cannot be read"),
        ("--to demo --state /nowhere/states.db", "`/nowhere/states.db` cannot hold states"),
        ("--to demo --watch --port 0", "`--watch` follows `--config` or `--rules`"),
        ("--config x.yaml --to demo --model m", "`--to`, `--model`: the file of `--config` says"),
    ],
)
def test_a_file_or_a_provider_is_named(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["serve", *words.split()]) == 2
    assert said in capsys.readouterr().err
