"""The OpenAI Agents SDK: an `Agent` that its `Runner` runs, by Responses and by Chat."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    ReasoningItem,
    Runner,
    ToolOutputImage,
    ToolOutputText,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from . import weather

MODELS = {"openai-chat": OpenAIChatCompletionsModel, "openai-responses": OpenAIResponsesModel}
URL = f"data:image/png;base64,{weather.PICTURE}"
set_tracing_disabled(True)


class Client(weather.Client):
    wires = tuple(MODELS)

    def __init__(self, wire: str, url: str, streamed: bool) -> None:
        super().__init__(wire, url, streamed)
        # The API of Chat takes no picture as a result.
        self.seen.pictured = wire != "openai-chat"
        self.talk: list[Any] = []

    def runs(self, city: str, n: float = 1.0) -> Any:
        text = self.weather(city, n)
        if text is not None or not self.seen.pictured:
            return text or "A map"
        return [ToolOutputText(text="A map"), ToolOutputImage(image_url=URL)]

    def asks(self, text: str, pictured: bool) -> None:
        image = {"type": "input_image", "image_url": URL, "detail": "auto"}
        content: Any = [{"type": "input_text", "text": text}, image] if pictured else text
        self.talk.append({"role": "user", "content": content})
        ran = asyncio.run(self.goes())
        self.talk = ran.to_input_list()
        self.seen.texts.append(ran.final_output)
        for item in ran.new_items:
            if isinstance(item, ReasoningItem):
                self.seen.thoughts += [part.text for part in item.raw_item.summary]

    async def goes(self) -> Any:
        """Let the SDK go on to the end; its client belongs to one event loop."""
        async with AsyncOpenAI(
            base_url=f"{self.url}/v1", api_key=weather.KEY, max_retries=0
        ) as client:
            tool = function_tool(
                self.runs,
                name_override=weather.NAME,
                description_override=weather.ABOUT,
                strict_mode=False,
                failure_error_function=lambda _, error: f"Error: {error}",
            )
            assert isinstance(tool, FunctionTool)
            settings = ModelSettings(store=False, response_include=["reasoning.encrypted_content"])
            model = MODELS[self.wire]("gpt-5", client)
            agent = Agent("weather", model=model, tools=[tool], model_settings=settings)
            if not self.streamed:
                return await Runner.run(agent, self.talk)
            ran = Runner.run_streamed(agent, self.talk)
            async for _ in ran.stream_events():
                pass
            return ran
