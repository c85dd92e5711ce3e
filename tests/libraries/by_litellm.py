"""litellm: a loop around `completion`, as its page on function calling shows it."""

from __future__ import annotations

import json
import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks for prices over the network

import litellm

from . import weather

URL = f"data:image/png;base64,{weather.PICTURE}"
FUNCTION = {"name": weather.NAME, "description": weather.ABOUT, "parameters": weather.SCHEMA}
TOOLS = [{"type": "function", "function": FUNCTION}]
MODELS: dict[str, Any] = {
    "openai-chat": lambda url: {"model": "openai/gpt-4.1", "api_base": f"{url}/v1"},
    "openai-responses": lambda url: {
        "model": "openai/responses/gpt-5", "api_base": f"{url}/v1", "store": False,
        "include": ["reasoning.encrypted_content"],
    },
    "anthropic": lambda url: {
        "model": "anthropic/claude-opus-4-5", "api_base": url, "max_tokens": 4096,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    },
    "gemini": lambda url: {
        "model": "gemini/gemini-3-pro-preview", "api_base": f"{url}/v1beta/models/gemini-3-pro",
        "reasoning_effort": "low",
    },
}  # fmt: skip


class Client(weather.Client):
    wires = tuple(MODELS)

    def __init__(self, wire: str, url: str, streamed: bool) -> None:
        super().__init__(wire, url, streamed)
        self.seen.pictured = False  # its messages are those of Chat
        self.talk: list[Any] = []

    def runs(self, city: str, n: float = 1.0) -> str:
        try:
            return self.weather(city, n) or "A map"
        except weather.Timeout as error:
            return json.dumps({"error": str(error)})

    def asks(self, text: str, pictured: bool) -> None:
        image = {"type": "image_url", "image_url": {"url": URL}}
        content: Any = [{"type": "text", "text": text}, image] if pictured else text
        self.talk.append({"role": "user", "content": content})
        while (message := self.completes()).tool_calls:
            for call in message.tool_calls:
                told = self.runs(**json.loads(call.function.arguments))
                result = {"role": "tool", "tool_call_id": call.id, "content": told}
                self.talk.append(result | {"name": call.function.name})
        self.seen.texts.append(message.content)

    def completes(self) -> Any:
        """Ask once; keep the message and return it."""
        asked = {**MODELS[self.wire](self.url), "messages": self.talk, "tools": TOOLS}
        got: Any = litellm.completion(
            **asked, api_key=weather.KEY, max_retries=0, stream=self.streamed
        )
        if self.streamed:
            got = litellm.stream_chunk_builder(list(got), messages=self.talk)
        message = got.choices[0].message
        self.talk.append(message)
        if getattr(message, "reasoning_content", None):
            self.seen.thoughts.append(message.reasoning_content)
        return message
