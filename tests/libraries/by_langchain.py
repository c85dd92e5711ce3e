"""LangChain: an agent of `create_agent`, with the chat model of each wire."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import StructuredTool, ToolException
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI

from . import weather

MODELS: dict[str, Any] = {
    "openai-chat": lambda url: ChatOpenAI(
        model="gpt-5", base_url=f"{url}/v1", api_key=weather.KEY, max_retries=0
    ),
    "openai-responses": lambda url: ChatOpenAI(
        model="gpt-5", base_url=f"{url}/v1", api_key=weather.KEY, max_retries=0,
        use_responses_api=True, store=False, include=["reasoning.encrypted_content"],
    ),
    "anthropic": lambda url: ChatAnthropic(
        model="claude-opus-4-5", base_url=url, api_key=weather.KEY, max_retries=0, max_tokens=4096,
        thinking={"type": "enabled", "budget_tokens": 1024},
    ),
    "gemini": lambda url: ChatGoogleGenerativeAI(
        model="gemini-3-pro", base_url=url, api_key=weather.KEY, max_retries=0,
        include_thoughts=True,
    ),
}  # fmt: skip


class Client(weather.Client):
    wires = tuple(MODELS)

    def __init__(self, wire: str, url: str, streamed: bool) -> None:
        super().__init__(wire, url, streamed)
        # The API of Chat takes no picture as a result.
        self.seen.pictured = wire != "openai-chat"
        tool = StructuredTool.from_function(
            self.runs, name=weather.NAME, description=weather.ABOUT, handle_tool_error=True
        )
        self.agent = create_agent(MODELS[wire](url), [tool])
        self.talk: list[Any] = []

    def runs(self, city: str, n: float = 1.0) -> Any:
        try:
            text = self.weather(city, n)
        except weather.Timeout as error:
            raise ToolException(str(error)) from error
        if text is not None or not self.seen.pictured:
            return text or "A map"
        return [{"type": "text", "text": "A map"}, PICTURE]

    def asks(self, text: str, pictured: bool) -> None:
        content: list[Any] = [{"type": "text", "text": text}]
        asked = {"role": "user", "content": [*content, PICTURE] if pictured else text}
        known, given = len(self.talk) + 1, {"messages": [*self.talk, asked]}
        if self.streamed:
            for kind, state in self.agent.stream(given, stream_mode=["messages", "values"]):
                if kind == "values":
                    self.talk = state["messages"]
        else:
            self.talk = self.agent.invoke(given)["messages"]
        self.seen.texts.append(self.talk[-1].text)
        for message in self.talk[known:]:
            for block in message.content_blocks if message.type == "ai" else ():
                if block["type"] == "reasoning":
                    self.seen.thoughts.append(block.get("reasoning", ""))


PICTURE = {"type": "image", "base64": weather.PICTURE, "mime_type": "image/png"}
