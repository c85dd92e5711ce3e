"""A provider of one wire: a strict server that plays a model, and judges what comes back."""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any, NamedTuple

from wireglot.streaming import eventstream

from .. import mocks
from ..loop.server import serving
from ..oracles import bedrock
from . import hearing, saying, scenes
from .talk import Answer, Asked, Call, Event, Json, Picture, Result, Text, Thought

LIMIT = 150  # requests of one run: an agent that loops is stopped


class Target(NamedTuple):
    """A provider: its wire and its model; of a wire like Chat how it says its thoughts."""

    dialect: str
    model: str
    rules: str  # the name of the dialect for the gateway
    thinks: str | None = None  # the key of a thought, which turns with calls must have again
    since: bool = False  # only those since the user spoke


TARGETS = {
    "anthropic": Target("anthropic", "claude-opus-4-8", "anthropic"),
    "chat": Target("openai-chat", "gpt-5.4", "openai-chat"),
    "chat-reasoning": Target("openai-chat", "deepseek-v4-pro", "deepseek", "reasoning_content"),
    "kimi": Target("openai-chat", "kimi-k2.6", "kimi", "reasoning_content"),
    "groq": Target("openai-chat", "openai/gpt-oss-120b", "groq", "reasoning", since=True),
    "responses": Target("openai-responses", "gpt-5.4", "openai-responses"),
    "gemini": Target("gemini", "gemini-3-pro-preview", "gemini"),
    "ollama": Target("ollama", "qwen3", "ollama"),
    "bedrock": Target("bedrock-converse", bedrock.MODEL, "bedrock-converse"),
}
# Fields of Anthropic's requests that a header must ask for.
BETAS = {"context_management": "context-management-2025-06-27"}
# What each wire gives back of the thoughts that led to a call, if all is well.
SIGNED = ("anthropic", "openai-responses", "bedrock-converse", "gemini")
TYPES = {"ollama": "application/x-ndjson", "bedrock-converse": eventstream.TYPE}  # of streams
ERRORS = {429: "rate_limit", 503: "overloaded"}


class StandIn:
    """The model of one run, and the judge of all its requests."""

    def __init__(self, target: Target, home: str, busy: bool = False) -> None:
        self.target, self.home = target, home
        self.judge = mocks.Provider(target.dialect, target.model)
        self.failing = [429, 503] if busy else []
        self.faults: list[str] = []  # what was refused, or came back changed
        self.requests: list[Json] = []
        self.ended: list[str] = []  # the scenes that came to their end
        self.thoughts: dict[str, Thought] = {}  # of the first call of each turn
        self.calls: dict[str, Call] = {}
        self.lock = Lock()
        self.pause: Callable[[bytes], None] | None = None  # called behind each frame, by a test

    def post(self, path: str, headers: Any, body: Json) -> tuple[int, Json]:
        """Answer a request with a status, and a body, or the frames of a stream."""
        with self.lock:
            self.requests.append(body)
            if len(self.requests) > LIMIT:
                return self.refuse(400, "too many requests: it loops")
            if self.failing:
                return self.failing[0], self.error(self.failing.pop(0), "Try again.")
            told = self.told(headers, body)
            if told:
                return self.refuse(400, told)
            streams = (
                path.endswith("converse-stream")
                or "streamGenerateContent" in path
                or bool(body.get("stream", self.target.dialect == "ollama"))
            )
            asked = hearing.asked(self.target.dialect, body, streams)
            answer = self.answer(asked)
            dialect = self.target.dialect
            if not streams and dialect == "openai-chat":
                return 200, self.judge.answers(saying.chat(answer, self.target.thinks))
            whole = self.judge.answers(saying.WHOLE[dialect](answer))
            if not streams:
                return 200, whole
            if dialect == "openai-chat":
                counts = bool((body.get("stream_options") or {}).get("include_usage"))
                return 200, saying.chat_frames(answer, counts, self.target.thinks)
            return 200, saying.FRAMES[dialect](answer)

    def refuse(self, status: int, why: str) -> tuple[int, Json]:
        self.fault(f"refused: {why}")
        return status, self.error(status, why)

    def fault(self, why: str) -> None:
        if why not in self.faults:
            self.faults.append(why)

    def error(self, status: int, why: str) -> Json:
        """Return the body of an error as the API words it."""
        if self.target.dialect == "anthropic":
            kind = {400: "invalid_request_error", 429: "rate_limit_error"}.get(
                status, "overloaded_error"
            )
            return {"type": "error", "error": {"type": kind, "message": why}, "request_id": "req_1"}
        if self.target.dialect == "gemini":
            word = {400: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED"}.get(status, "UNAVAILABLE")
            return {"error": {"code": status, "message": why, "status": word}}
        if self.target.dialect == "bedrock-converse":
            return {"message": why}
        if self.target.dialect == "ollama":
            return {"error": why}
        kind = {400: "invalid_request_error", 429: "requests"}.get(status, "server_error")
        return {"error": {"message": why, "type": kind, "param": None, "code": None}}

    # -- what is refused ---------------------------------------------------------------------------

    def told(self, headers: Any, body: Json) -> str | None:
        """Return what this API answers 400 to, if there is something."""
        if self.target.dialect == "anthropic":
            if not headers.get("anthropic-version"):
                return "anthropic-version: header is required"
            for key, beta in BETAS.items():
                if key in body and beta not in headers.get("anthropic-beta", ""):
                    return f"{key}: Extra inputs are not permitted"
        for one in self.judge.refusals(body):
            return f"{one.path}: {one.text}"
        if (thinks := self.target.thinks) is not None:
            roles = [message["role"] for message in body["messages"]]
            start = len(roles) - roles[::-1].index("user") if self.target.since else 0
            for nth, message in enumerate(body["messages"][start:], start):
                # Where a client dropped its thoughts, the API takes an empty text.
                if message.get("tool_calls") and message.get(thinks) is None:
                    why = f"The `{thinks}` in the thinking mode must be passed back to the API."
                    return f"/messages/{nth}: {why}"
        return None

    # -- the model ---------------------------------------------------------------------------------

    def answer(self, asked: Asked) -> Answer:
        """Return the next turn of the scene that the last prompt asks for."""
        prompts = [
            (nth, mark)
            for nth, one in enumerate(asked.events)
            if isinstance(one, Text) and not one.mine and (mark := scenes.started(one.text))
        ]
        if not prompts or not asked.tools:
            said = [one.text for one in asked.events if isinstance(one, Text)]
            wants = said and "JSON" in said[-1]
            return self.said(scenes.Step("", scenes.ON if wants else "A title."), asked, "")
        self.faithful(asked.events)
        start, (scene, word) = prompts[-1]
        if scene not in scenes.SCENES:
            return self.said(scenes.Step("", f"Nothing to do for {scene}."), asked, "")
        events = asked.events[start:]
        steps, done = scenes.SCENES[scene], sum(isinstance(one, Call) for one in events)
        ends = list(itertools.accumulate(len(step.acts) for step in steps[:-1]))
        if done and done not in ends:
            self.fault(f"{scene}: the history has {done} calls, of which turns had {ends}")
        nth = sum(done >= end for end in ends)
        self.shown(scene, steps[:nth], events)
        if nth == len(steps) - 1:
            self.ended.append(f"{scene} {word}".strip())
        return self.said(steps[nth], asked, word)

    def said(self, step: scenes.Step, asked: Asked, word: str) -> Answer:
        """Return a step as a turn of this wire, with ids that no other turn has."""
        wire, tail = self.target.dialect, secrets.token_hex(8)
        heads = {"anthropic": "msg_01", "openai-responses": "resp_", "openai-chat": "chatcmpl-"}
        answer = Answer(heads.get(wire, "") + tail, self.target.model, text=step.text.format(word))
        signature = f"c2lnbmF0dXJl{tail}" if step.thought else None
        if step.thought and (wire != "openai-chat" or self.target.thinks):
            answer.thought = Thought(step.thought, signature if wire in SIGNED else None)
        ids = {"anthropic": "toolu_01", "gemini": ""}.get(wire, "call_")
        for nth, act in enumerate(step.acts):
            name, arguments = scenes.called(asked.tools, act, self.home)
            mark = signature if wire == "gemini" and nth == 0 else None
            call = Call(f"{ids}{tail}{nth}", name, arguments, mark)
            answer.calls.append(call)
            self.calls[str(call.id)] = call
        if answer.calls and answer.thought:
            self.thoughts[str(answer.calls[0].id)] = answer.thought
        return answer

    # -- what came back ----------------------------------------------------------------------------

    def faithful(self, events: list[Event]) -> None:
        """Hold the calls of a history, and the thoughts before them, against what was said."""
        wire = self.target.dialect
        thought: Thought | None = None
        spoke = (nth for nth, one in enumerate(events) if isinstance(one, Text) and not one.mine)
        last = max(spoke, default=-1) if self.target.since else -1
        for nth, one in enumerate(events):
            if isinstance(one, Thought):
                thought = one
            elif isinstance(one, Result):
                thought = None
            elif isinstance(one, Call):
                given = self.calls.get(str(one.id))
                if given is None:
                    if one.id or wire not in ("ollama", "gemini"):  # which do without
                        self.fault(f"a call came back with another id: {one.name}")
                    continue
                if (one.name, one.arguments) != (given.name, given.arguments):
                    self.fault(f"a call came back changed: {given.name} {given.arguments}")
                if one.signature != given.signature:
                    self.fault(f"the signature of a call came back as {one.signature}")
                led = self.thoughts.get(str(one.id))
                if led is not None and (wire in SIGNED[:3] or (self.target.thinks and nth > last)):
                    if thought is None:
                        self.fault("a thought did not come back")
                    elif thought != led:
                        self.fault(f"a thought came back changed: {thought}")

    def shown(self, scene: str, steps: tuple[scenes.Step, ...], events: list[Event]) -> None:
        """Hold the results that came back against what each must show."""
        results = [one for one in events if isinstance(one, Result)]
        calls = [one for one in events if isinstance(one, Call)]
        wanted = [
            (act, shows) for step in steps for act, shows in zip(step.acts, step.shows, strict=True)
        ]
        if len(results) != len(wanted):
            self.fault(f"{scene}: {len(results)} results for {len(wanted)} calls")
        for nth, (act, shows) in enumerate(wanted[: len(calls)]):
            named = [one for one in results if one.id and one.id == calls[nth].id]
            found = (named or results[nth : nth + 1])[:1]
            if not found or not scenes.shown(shows, found[0]):
                self.fault(f"{scene}: what {act.kind} {act.what} gave did not come: {found}"[:300])
            if act.kind == "look":
                pictures = sum(isinstance(one, Picture) for one in events)
                if not pictures + sum(one.pictures for one in results):
                    self.fault(f"{scene}: the picture did not come")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            status, answer = server.model.post(self.path, self.headers, body)
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            status, answer = server.model.refuse(400, told)
        if isinstance(answer, dict):
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if status in ERRORS:
                self.send_header("Retry-After", "1")
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_response(status)
        self.send_header(
            "Content-Type", TYPES.get(server.model.target.dialect, "text/event-stream")
        )
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for data in answer:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self.wfile.flush()
            if server.model.pause:
                server.model.pause(data)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: StandIn) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


def running(model: StandIn) -> AbstractContextManager[Server]:
    """Run a provider until the end of the block."""
    return serving(Server(model))
