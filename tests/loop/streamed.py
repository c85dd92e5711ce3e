"""The loop, streamed: the SDKs as their pages show streaming, and a server that passes streams on.

Behind it a strict provider streams the turns of its script: each text in pieces, its bytes cut
anywhere. What comes is given to the client as the translator of the exchange makes it.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import wireglot
from wireglot.streaming import framing

from . import sdks
from .clients import Call
from .sdks import MODEL, weather
from .server import Script, Streamed, Talk

Json = Any
# Where each API streams: the path, and what the body says of it.
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/{}:streamGenerateContent?alt=sse",
    "vertex": "/v1beta1/publishers/google/models/{}:streamGenerateContent?alt=sse",
    "ollama": "/api/chat",
}
FLOWS = ("content", "refusal", "arguments", "text", "thinking", "partial_json")


# -- streams of a provider -------------------------------------------------------------------------


def streamed(
    dialect: str, body: Json, random: Random, error: Json | None = None
) -> Iterator[bytes]:
    """Yield a response as the bytes of a stream: its texts in pieces, and cut at any byte.

    With an error, that comes in the place of the end.
    """
    made = list(wireglot.frames(body, dialect=dialect))
    frames = [new for frame in made for new in pieces(frame, random)]
    if error is not None:
        frames = [*frames[: len(frames) - 2], error]
    for nth, frame in enumerate(frames):
        if isinstance(frame, dict) and "sequence_number" in frame:
            frame["sequence_number"] = nth
    stream = wireglot.packaged()[dialect].model.stream
    assert stream is not None
    data = framing.written(frames, stream)
    at = 0
    while at < len(data):
        size = random.randint(1, 60)
        yield data[at : at + size]
        at += size


def pieces(frame: Json, random: Random) -> list[Json]:
    """Return a frame that tells a piece of something as two, where it may be parted."""
    found = list(_flowing(frame))
    if not found or len(found[0][1]) < 2:
        return [frame]
    (owner, key), text = found[0]
    cut = random.randint(1, len(text) - 1)
    made = []
    for piece in (text[:cut], text[cut:]):
        owner[key] = piece
        made.append(json.loads(json.dumps(frame)))
    owner[key] = text
    return made


def _flowing(value: Json) -> Iterator[tuple[tuple[Json, str], str]]:
    """Yield the pieces of a frame that flow: nothing that a head, or an end, says beside them."""
    if isinstance(value, dict) and "sequence_number" in value:
        if isinstance(value.get("delta"), str):
            yield (value, "delta"), value["delta"]
    elif isinstance(value, dict):
        head = {"id", "name", "thoughtSignature", "content_block"} & value.keys()
        for key, inner in value.items():
            if key in FLOWS and isinstance(inner, str) and not head:
                yield (value, key), inner
            elif key != "content_block":
                yield from _flowing(inner)
    for inner in value if isinstance(value, list) else ():
        yield from _flowing(inner)


class StreamTalk(Talk):
    """A conversation whose answers are streams; errors come as bodies, as they do from an API."""

    def __init__(self, client: str, script: Script, stateful: bool, seed: int = 0) -> None:
        super().__init__(client, script, stateful)
        self.random = Random(seed)
        self.breaks: Json | None = None  # the error that the next stream breaks off with
        self.told: list[tuple[Json, tuple[wireglot.Note, ...]]] = []  # answers, and their notes

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        """Answer a request of the client with a status, and a body or a stream."""
        self.paths.append(path)
        self.asked.append(body)
        x = self._exchange()
        out = x.request(body, stream=True if "streamGenerateContent" in path else None)
        assert out.envelope is not None
        status, answer = self.script.post(out.envelope.path, out.body)
        self.notes += out.notes
        x = self._again(x)
        if status != 200:
            back = x.error(answer, status)
            self.answers.append(back.body)
            return status, back.body
        return 200, Streamed(self.client, self._stream(x, answer))

    def _stream(self, x: wireglot.Exchange, answer: Json) -> Iterator[bytes]:
        translator = x.translator()
        through = translator.as_bytes()
        sent = b""
        for data in streamed(self.script.dialect, answer, self.random, self.breaks):
            new = through.feed(data)
            sent += new
            yield new
        rest = through.finish()
        self._again(x)
        self.told.append((answer, translator.notes))
        self.answers.append(self.seen(translator.result.body, sent + rest))
        yield rest  # behind which the client may stop to listen

    def seen(self, body: Json, sent: bytes) -> Json:
        """Return the answer as the client has it, of the whole of it and of what was sent."""
        return body


# -- the SDKs --------------------------------------------------------------------------------------


class Chat(sdks.Chat):
    helper = False  # whether `stream` of the SDK is used, or its state beside `create`

    def asks(self) -> list[Call]:
        if self.helper:
            with self.sdk.chat.completions.stream(**self.request()) as stream:
                made = stream.get_final_completion()
        else:
            state = importlib.import_module("openai.lib.streaming.chat").ChatCompletionStreamState()
            options = {"include_usage": True}
            for chunk in self.sdk.chat.completions.create(
                **self.request(), stream=True, stream_options=options
            ):
                state.handle_chunk(chunk)
            # Not `get_final_completion`, which raises where an answer was cut or filtered.
            made = state.current_completion_snapshot
        message = made.choices[0].message
        self.talk.append(message.model_dump() if self.dumps else message)
        return [
            Call(call.id, call.function.name, json.loads(call.function.arguments))
            for call in message.tool_calls or ()
        ]

    def request(self) -> Json:
        body = super().request()
        for tool in body["tools"] if self.helper else ():  # the helper takes no others
            closed = {**tool["function"]["parameters"], "additionalProperties": False}
            tool["function"] |= {"strict": True, "parameters": closed}
        return body


class HelpedChat(Chat):
    helper = True


class Told(Exception):
    """An error that the SDK yields as an event."""


class Responses(sdks.Responses):
    helper = False  # whether `stream` of the SDK is used, or the events that `create` yields

    def answer(self) -> Any:
        return self.helped() if self.helper else self.listened()

    def helped(self) -> Any:
        """Return the response that the SDK puts together."""
        with self.sdk.responses.stream(**self.request()) as stream:
            return stream.get_final_response()

    def listened(self) -> Any:
        """Return the response at the end of all, which holds the items that ended before it."""
        items: list[Any] = []
        whole: Any = None
        for event in self.sdk.responses.create(**self.request(), stream=True):
            if event.type == "error":  # which this SDK yields, and does not raise
                raise Told(event.message)
            if event.type == "response.output_item.done":
                items.append(event.item)
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                whole = event.response
        assert items == whole.output
        return whole


class HelpedResponses(Responses):
    helper = True


class Anthropic(sdks.Anthropic):
    def answer(self) -> list[Any]:
        with self.sdk.messages.stream(**self.request()) as stream:
            found: list[Any] = stream.get_final_message().content
        return found

    def runs(self, text: str) -> str:
        self.says(text)
        runner = self.sdk.beta.messages.tool_runner(
            model=MODEL,
            max_tokens=4096,
            messages=self.talk,
            tools=[importlib.import_module("anthropic").beta_tool(weather)],
            stream=True,
            thread=False,
            run_tools_eagerly=True,
        )
        content = runner.until_done().content
        self.talk.append({"role": "assistant", "content": content})
        return str(content[-1].text)


class Gemini(sdks.Gemini):
    path = PATHS["gemini"].format(MODEL)

    def asks(self) -> list[Call]:
        types = self._types()
        stream = self.sdk.models.generate_content_stream(
            model=MODEL, contents=self.talk, config=self.config()
        )
        parts: list[Any] = []
        calls: list[Any] = []
        for chunk in stream:
            for candidate in chunk.candidates or ():
                parts += (candidate.content and candidate.content.parts) or ()
            calls += chunk.function_calls or ()
        if parts:
            content = types.Content(role="model", parts=parts)
            self.talk.append(content.model_dump() if self.dumps else content)
        return [Call(c.id, c.name, c.args) for c in calls]

    def runs(self, text: str) -> str:
        if self.chat is None:
            self.chat = self.sdk.chats.create(model=MODEL, config={"tools": [weather]})
        return "".join(chunk.text or "" for chunk in self.chat.send_message_stream(text))


class Vertex(Gemini, sdks.Vertex):
    path = sdks.Vertex.path.replace("generateContent", "streamGenerateContent?alt=sse")


class Ollama(sdks.Ollama):
    def asks(self) -> list[Call]:
        texts: dict[str, str] = {}
        calls: list[Any] = []
        for chunk in self.sdk.chat(**{**self.request(), "stream": True}):
            for key in ("content", "thinking"):
                if chunk.message.get(key):
                    texts[key] = texts.get(key, "") + chunk.message[key]
            calls += chunk.message.tool_calls or ()
        message = {"role": "assistant", **texts, **({"tool_calls": calls} if calls else {})}
        self.talk.append(message)
        return [Call(None, c.function.name, dict(c.function.arguments)) for c in calls]


HELPED: dict[str, type[sdks.Sdk]] = {kind.dialect: kind for kind in (HelpedChat, HelpedResponses)}
SDKS: dict[str, type[sdks.Sdk]] = {
    kind.dialect: kind for kind in (Chat, Responses, Anthropic, Gemini, Vertex, Ollama)
}
