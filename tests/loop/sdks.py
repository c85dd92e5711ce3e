"""Clients that are the official SDKs, used as their own pages show it.

Each keeps of an answer what its SDK gives back: the object itself, or with `dumps` its
`model_dump()`. Histories and tools are those of `clients`.
"""

from __future__ import annotations

import base64
import importlib
import json
from functools import cache
from typing import Any, NamedTuple

from . import clients
from .clients import PICTURE, SCHEMA, Call, Result

MODEL = "any"


class Failure(NamedTuple):
    """An error as the SDK raised it: the class, the status of HTTP, the message, and the kind."""

    name: str
    status: int
    text: str
    kind: str | None = None


class Sdk(clients.Client):
    """One conversation by an SDK; `path` is where its requests go."""

    path = ""

    def __init__(self, url: str, dumps: bool = False) -> None:
        super().__init__()
        self.sdk, self.dumps = connected(self.dialect, url), dumps

    def asks(self) -> list[Call]:
        """Send the history; keep the answer and return its calls."""
        raise NotImplementedError

    def runs(self, text: str) -> str:
        """Say something; the SDK runs `weather` and sends its results until there is an answer."""
        raise NotImplementedError

    def failure(self, error: Exception) -> Failure:
        """Return what a user sees of an error that the SDK raised."""
        raise NotImplementedError


@cache
def connected(dialect: str, url: str) -> Any:
    """Return a client of the SDK; one for all conversations, because they are slow to make."""
    if dialect in ("openai-chat", "openai-responses"):
        sdk = importlib.import_module("openai")
        return sdk.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    if dialect == "anthropic":
        sdk = importlib.import_module("anthropic")
        return sdk.Anthropic(base_url=url, api_key="k", max_retries=0)
    if dialect == "ollama":
        return importlib.import_module("ollama").Client(host=url)
    sdk = importlib.import_module("google.genai")
    if dialect == "gemini":
        options = {"base_url": url, "api_version": "v1beta"}
        return sdk.Client(vertexai=False, api_key="k", http_options=options)
    token = importlib.import_module("google.oauth2.credentials").Credentials(token="t")
    options = {"base_url": url, "api_version": "v1beta1"}
    place = {"project": "p", "location": "l"}
    return sdk.Client(vertexai=True, credentials=token, http_options=options, **place)


class Chat(Sdk, clients.Chat):
    path = "/v1/chat/completions"

    def asks(self) -> list[Call]:
        message = self.sdk.chat.completions.create(**self.request()).choices[0].message
        self.talk.append(message.model_dump() if self.dumps else message)
        return [
            Call(call.id, call.function.name, json.loads(call.function.arguments))
            for call in message.tool_calls or ()
        ]

    def failure(self, error: Any) -> Failure:
        return Failure(type(error).__name__, error.status_code, error.body["message"], error.type)


class Responses(Sdk, clients.Responses):
    path = "/v1/responses"
    goes_on = False  # whether it names the answer before, and sends what is new alone
    last: str | None = None

    def request(self) -> Any:
        body = super().request()
        going = {"store": True, "previous_response_id": self.last}
        return {**body, **going} if self.goes_on else body

    def answer(self) -> Any:
        """Return the response that comes back."""
        return self.sdk.responses.create(**self.request())

    def asks(self) -> list[Call]:
        answer = self.answer()
        if self.goes_on:
            self.talk, self.last = [], answer.id
        else:
            kept = (item.model_dump() if self.dumps else item for item in answer.output)
            self.talk.extend(kept)
        calls = [item for item in answer.output if item.type == "function_call"]
        return [Call(c.call_id, c.name, json.loads(c.arguments)) for c in calls]

    def failure(self, error: Any) -> Failure:
        return Failure(type(error).__name__, error.status_code, error.body["message"], error.type)


def weather(city: str, n: float = 1.0) -> str:
    """Look at the weather.

    Args:
      city: Where to look.
      n: How often.
    """
    return f"{int(n)} times in {city}"


class Anthropic(Sdk, clients.Anthropic):
    path = "/v1/messages"
    threads = False  # whether a run begins with the wish that the server holds the history

    def answer(self) -> list[Any]:
        """Return the blocks that come back."""
        found: list[Any] = self.sdk.messages.create(**self.request()).content
        return found

    def asks(self) -> list[Call]:
        content = self.answer()
        kept = [block.model_dump() for block in content] if self.dumps else content
        if kept:  # the API takes no turn of nothing back
            self.talk.append({"role": "assistant", "content": kept})
        return [Call(b.id, b.name, b.input) for b in content if b.type == "tool_use"]

    def runs(self, text: str) -> str:
        self.says(text)
        runner = self.sdk.beta.messages.tool_runner(
            model=MODEL,
            max_tokens=4096,
            messages=self.talk,
            tools=[importlib.import_module("anthropic").beta_tool(weather)],
            **({} if self.threads else {"thread": False}),
        )
        content = runner.until_done().content
        self.talk.append({"role": "assistant", "content": content})
        return str(content[-1].text)

    def failure(self, error: Any) -> Failure:
        return Failure(type(error).__name__, error.status_code, error.api_message, error.type)


class Gemini(Sdk, clients.Gemini):
    path = "/v1beta/models/any:generateContent"
    chat: Any = None  # the history as the SDK keeps it, where the SDK runs the tools

    def says(self, text: str) -> None:
        self.talk.append(self._types().UserContent(text))

    def config(self) -> Any:
        """Return what the SDK is told beside the history."""
        types = self._types()
        declared = [
            types.FunctionDeclaration(name=name, parameters_json_schema=SCHEMA)
            for name in self.names
        ]
        return types.GenerateContentConfig(tools=[types.Tool(function_declarations=declared)])

    def asks(self) -> list[Call]:
        answer = self.sdk.models.generate_content(
            model=MODEL, contents=self.talk, config=self.config()
        )
        content = answer.candidates[0].content if answer.candidates else None
        if content is not None:  # nothing comes of a prompt that is blocked
            self.talk.append(content.model_dump() if self.dumps else content)
        return [Call(c.id, c.name, c.args) for c in answer.function_calls or ()]

    def runs(self, text: str) -> str:
        if self.chat is None:
            self.chat = self.sdk.chats.create(model=MODEL, config={"tools": [weather]})
        return str(self.chat.send_message(text).text)

    def answers(self, results: list[tuple[Call, Result]]) -> None:
        if self.dumps:
            super().answers(results)
            return
        types = self._types()
        parts = []
        for call, result in results:
            media = [
                types.FunctionResponsePart.from_bytes(
                    data=base64.b64decode(PICTURE), mime_type="image/png"
                )
            ]
            # This sends no id: the API pairs by the order of the calls.
            parts.append(
                types.Part.from_function_response(
                    name=call.name,
                    response=clients.spoken(result),
                    parts=media if result.kind == "image" else None,
                )
            )
        self.talk.append(types.Content(role="user", parts=parts))

    def failure(self, error: Any) -> Failure:
        return Failure(type(error).__name__, error.code, error.message, error.status)

    def _types(self) -> Any:
        return importlib.import_module("google.genai.types")


class Vertex(Gemini):
    dialect = "vertex"
    path = "/v1beta1/projects/p/locations/l/publishers/google/models/any:generateContent"


class Ollama(Sdk, clients.Ollama):
    path = "/api/chat"

    def asks(self) -> list[Call]:
        message = self.sdk.chat(**self.request()).message
        self.talk.append(message.model_dump() if self.dumps else message)
        return [
            Call(None, call.function.name, dict(call.function.arguments))
            for call in message.tool_calls or ()
        ]

    def failure(self, error: Any) -> Failure:
        return Failure(type(error).__name__, error.status_code, error.error)


SDKS = {kind.dialect: kind for kind in (Chat, Responses, Anthropic, Gemini, Vertex, Ollama)}
