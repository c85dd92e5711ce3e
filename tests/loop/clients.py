"""Clients: each keeps of an answer what the model of its official SDK gives back on dump.

The models of OpenAI and Anthropic keep keys that they do not know. Google's and Ollama's keep the
fields that they know, and Ollama's know no id of a call. `CARRIES` lists the keys that an exchange
may fill for each.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

Json = Any
CARRIES = {
    "openai-chat": ("extra_content",),
    "openai-responses": ("extra_content", "encrypted_content"),
    "anthropic": ("extra_content", "signature"),
    "gemini": ("thoughtSignature",),
    "vertex": ("thoughtSignature",),
    "ollama": (),
}
PICTURE = "iVBORw0KGgoAAAANSUhEUg=="
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Call(NamedTuple):
    """A call as the client's program sees it."""

    id: str | None
    name: str
    arguments: Json


class Result(NamedTuple):
    """What a tool answered: a text, JSON as text, an error, or a text and a picture."""

    kind: str
    text: str


def spoken(result: Result) -> Json:
    """Return a result as the object that Google's API takes."""
    if result.kind == "json":
        return json.loads(result.text)
    return {"error" if result.kind == "error" else "output": result.text}


class Client:
    """The history of one client, in its own dialect."""

    dialect = ""
    names = ("get-weather", "get_weather")  # two tools, by names that the client's API takes

    def __init__(self) -> None:
        self.talk: list[Json] = []

    def says(self, text: str) -> None:
        self.talk.append({"role": "user", "content": text})

    def takes(self, body: Json) -> list[Call]:
        """Keep an answer; return its calls."""
        raise NotImplementedError

    def answers(self, results: list[tuple[Call, Result]]) -> None:
        """Append the results of some calls, in any order."""
        raise NotImplementedError

    def request(self) -> Json:
        raise NotImplementedError


class Chat(Client):
    dialect = "openai-chat"

    def takes(self, body: Json) -> list[Call]:
        sdk = pytest.importorskip("openai.types.chat")
        message = sdk.ChatCompletion.model_validate(body).choices[0].message
        kept = message.model_dump(mode="json", exclude_none=True)
        self.talk.append(kept)
        return [
            Call(c["id"], c["function"]["name"], json.loads(c["function"]["arguments"]))
            for c in kept.get("tool_calls", ())
        ]

    def answers(self, results: list[tuple[Call, Result]]) -> None:
        for call, result in results:
            text = json.dumps({"error": result.text}) if result.kind == "error" else result.text
            self.talk.append({"role": "tool", "tool_call_id": call.id, "content": text})
        if any(result.kind == "image" for _, result in results):
            url = f"data:image/png;base64,{PICTURE}"
            part = {"type": "image_url", "image_url": {"url": url}}
            self.talk.append({"role": "user", "content": [part]})

    def request(self) -> Json:
        tools = [
            {"type": "function", "function": {"name": name, "parameters": SCHEMA}}
            for name in self.names
        ]
        return {"model": "any", "messages": self.talk, "tools": tools}


class Responses(Client):
    dialect = "openai-responses"

    def takes(self, body: Json) -> list[Call]:
        sdk = pytest.importorskip("openai.types.responses")
        output = sdk.Response.model_validate(body).output
        kept = [item.model_dump(mode="json", exclude_unset=True) for item in output]
        self.talk.extend(kept)
        calls = [item for item in kept if item["type"] == "function_call"]
        return [Call(c["call_id"], c["name"], json.loads(c["arguments"])) for c in calls]

    def answers(self, results: list[tuple[Call, Result]]) -> None:
        for call, result in results:
            output: Json = result.text
            if result.kind == "error":
                output = json.dumps({"error": result.text})
            elif result.kind == "image":
                url = f"data:image/png;base64,{PICTURE}"
                image = {"type": "input_image", "detail": "auto", "image_url": url}
                output = [{"type": "input_text", "text": result.text}, image]
            item = {"type": "function_call_output", "call_id": call.id, "output": output}
            self.talk.append(item)

    def request(self) -> Json:
        tools = [
            {"type": "function", "name": name, "parameters": SCHEMA, "strict": False}
            for name in self.names
        ]
        return {"model": "any", "input": self.talk, "tools": tools, "store": False}


class Anthropic(Client):
    dialect = "anthropic"

    def takes(self, body: Json) -> list[Call]:
        sdk = pytest.importorskip("anthropic.types")
        blocks = sdk.Message.model_validate(body).content
        kept = [block.model_dump(mode="json", exclude_unset=True) for block in blocks]
        self.talk.append({"role": "assistant", "content": kept})
        return [Call(b["id"], b["name"], b["input"]) for b in kept if b["type"] == "tool_use"]

    def answers(self, results: list[tuple[Call, Result]]) -> None:
        blocks = []
        for call, result in results:
            block: Json = {"type": "tool_result", "tool_use_id": call.id, "content": result.text}
            if result.kind == "error":
                block["is_error"] = True
            elif result.kind == "image":
                source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
                text = {"type": "text", "text": result.text}
                block["content"] = [text, {"type": "image", "source": source}]
            blocks.append(block)
        self.talk.append({"role": "user", "content": blocks})

    def request(self) -> Json:
        tools = [{"name": name, "input_schema": SCHEMA} for name in self.names]
        return {"model": "any", "max_tokens": 4096, "messages": self.talk, "tools": tools}


class Gemini(Client):
    dialect = "gemini"
    names = ("get.weather:now", "get_weather_now")

    def says(self, text: str) -> None:
        self.talk.append({"role": "user", "parts": [{"text": text}]})

    def takes(self, body: Json) -> list[Call]:
        sdk = pytest.importorskip("google.genai.types")
        body = json.loads(json.dumps(body))
        content = sdk.GenerateContentResponse.model_validate(body).candidates[0].content
        kept = content.model_dump(mode="json", exclude_none=True, by_alias=True)
        self.talk.append(kept)
        calls = [p["functionCall"] for p in kept["parts"] if "functionCall" in p]
        return [Call(c.get("id"), c["name"], c["args"]) for c in calls]

    def answers(self, results: list[tuple[Call, Result]]) -> None:
        parts = []
        for call, result in results:
            answer: Json = {"name": call.name, "response": spoken(result)}
            if call.id is not None:
                answer["id"] = call.id
            if result.kind == "image":
                answer["parts"] = [{"inlineData": {"mimeType": "image/png", "data": PICTURE}}]
            parts.append({"functionResponse": answer})
        self.talk.append({"role": "user", "parts": parts})

    def request(self) -> Json:
        declared = [{"name": name, "parametersJsonSchema": SCHEMA} for name in self.names]
        return {"contents": self.talk, "tools": [{"functionDeclarations": declared}]}


class Vertex(Gemini):
    dialect = "vertex"


class Ollama(Client):
    dialect = "ollama"
    names = ("get weather", "get_weather")

    def takes(self, body: Json) -> list[Call]:
        sdk = pytest.importorskip("ollama")
        kept = sdk.ChatResponse.model_validate(body).message.model_dump(exclude_none=True)
        self.talk.append(kept)
        calls = [c["function"] for c in kept.get("tool_calls", ())]
        return [Call(None, c["name"], c["arguments"]) for c in calls]

    def answers(self, results: list[tuple[Call, Result]]) -> None:
        for call, result in results:
            message: Json = {"role": "tool", "tool_name": call.name, "content": result.text}
            if result.kind == "image":
                message["images"] = [PICTURE]
            self.talk.append(message)

    def request(self) -> Json:
        tools = [
            {"type": "function", "function": {"name": name, "parameters": SCHEMA}}
            for name in self.names
        ]
        return {"model": "any", "messages": self.talk, "tools": tools, "stream": False}


CLIENTS = {kind.dialect: kind for kind in (Chat, Responses, Anthropic, Gemini, Vertex, Ollama)}
