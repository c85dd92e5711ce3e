"""pydantic-ai: an `Agent`, with the model of each wire."""

from __future__ import annotations

import base64
from typing import Any

from pydantic_ai import Agent, BinaryContent, ModelRetry, Tool
from pydantic_ai.messages import ThinkingPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from . import weather

PICTURE = BinaryContent(base64.b64decode(weather.PICTURE), media_type="image/png")


def _openai(url: str) -> OpenAIProvider:
    return OpenAIProvider(base_url=f"{url}/v1", api_key=weather.KEY)


MODELS: dict[str, Any] = {
    "openai-chat": lambda url: (OpenAIChatModel("gpt-5", provider=_openai(url)), {}),
    "openai-responses": lambda url: (
        OpenAIResponsesModel("gpt-5", provider=_openai(url)),
        {"openai_store": False},
    ),
    "anthropic": lambda url: (
        AnthropicModel(
            "claude-opus-4-5", provider=AnthropicProvider(base_url=url, api_key=weather.KEY)
        ),
        {"anthropic_thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4096},
    ),
    "gemini": lambda url: (
        GoogleModel("gemini-3-pro", provider=GoogleProvider(base_url=url, api_key=weather.KEY)),
        {"google_thinking_config": {"include_thoughts": True}},
    ),
}


class Client(weather.Client):
    wires = tuple(MODELS)

    def __init__(self, wire: str, url: str, streamed: bool) -> None:
        super().__init__(wire, url, streamed)
        model, settings = MODELS[wire](url)
        tool = Tool(self.runs, name=weather.NAME, description=weather.ABOUT, max_retries=3)
        self.agent = Agent(model, tools=[tool], model_settings=settings)
        self.talk: list[Any] = []

    def runs(self, city: str, n: float = 1.0) -> Any:
        try:
            text = self.weather(city, n)
        except weather.Timeout as error:
            raise ModelRetry(str(error)) from error
        return ["A map", PICTURE] if text is None else text

    def asks(self, text: str, pictured: bool) -> None:
        asked = [text, PICTURE] if pictured else text
        listening = {"event_stream_handler": _listens} if self.streamed else {}
        ran = self.agent.run_sync(asked, message_history=self.talk, **listening)
        self.talk = ran.all_messages()
        self.seen.texts.append(ran.output)
        for message in ran.new_messages():
            self.seen.thoughts += [p.content for p in message.parts if isinstance(p, ThinkingPart)]


async def _listens(context: Any, events: Any) -> None:
    async for _ in events:
        pass
