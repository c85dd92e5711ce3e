"""Convert by hand with every guarantee of the engine: the fair thing to be measured against.

What is checked: unknown keys at every level, the class of every value that is used, the limits of
names and ids, the pairing of calls and results; and everything lost, changed, moved or added is
noted with its paths. It is written as somebody would who measured: the length of an object proves
that it has no further keys, paths are found only for notes, and limits are tested for all at once.

`REQUESTS` and `RESPONSES` hold the converters by (source, target); each returns body and notes, and
of a request the envelope.
"""

from __future__ import annotations

from collections.abc import Callable

from .careful_base import Converted, Note, Refused, Result, dumps_json, loads_json
from .careful_from_chat import chat_to_anthropic, chat_to_gemini
from .careful_responses import (
    anthropic_response_to_chat,
    chat_response_to_anthropic,
    chat_response_to_gemini,
    gemini_response_to_chat,
)
from .careful_to_chat import anthropic_to_chat, gemini_to_chat

__all__ = ["REQUESTS", "RESPONSES", "Note", "Refused", "Result", "dumps_json", "loads_json"]

REQUESTS: dict[tuple[str, str], Callable[..., Converted]] = {
    ("openai-chat", "anthropic"): chat_to_anthropic,
    ("openai-chat", "gemini"): chat_to_gemini,
    ("anthropic", "openai-chat"): anthropic_to_chat,
    ("gemini", "openai-chat"): gemini_to_chat,
}
RESPONSES: dict[tuple[str, str], Callable[..., Result]] = {
    ("anthropic", "openai-chat"): anthropic_response_to_chat,
    ("gemini", "openai-chat"): gemini_response_to_chat,
    ("openai-chat", "anthropic"): chat_response_to_anthropic,
    ("openai-chat", "gemini"): chat_response_to_gemini,
}
