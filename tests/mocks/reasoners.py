"""Models behind wires like Chat that think: how they say it, and what they want back and when.

Written from facts (`../shared/facts/chat-family.md`, by section) and not from rule files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import chat
from .judge import At, Json, Judge, Refusal

# How a message says a thought: under a key, or as a part of its content.
KEYS = ("reasoning_content", "reasoning", "reasoning_details", "reasoning_text", "reasoning_opaque")


class Reasoner(NamedTuple):
    """A model that thinks, and what becomes of its thoughts in the next requests."""

    dialect: str
    model: str
    says: str  # a name of `SAYING`
    wants: (
        str  # of `all` turns, those that called (`calls`), since the user spoke (`open`), `never`
    )
    keys: tuple[str, ...]  # those under which it takes a thought; all others are refused
    fact: str  # section of the facts


_CONTENT, _PLAIN, _DETAILS = ("reasoning_content",), ("reasoning",), ("reasoning_details",)
_ROUTED = (*_DETAILS, *_PLAIN)
_OPAQUE = ("reasoning_text", "reasoning_opaque")
REASONERS = (
    Reasoner("deepseek", "deepseek-v4-pro", "content", "calls", _CONTENT, "1"),
    Reasoner("deepseek", "deepseek-reasoner", "content", "never", (), "1"),
    Reasoner("kimi", "kimi-k2.6", "content", "calls", _CONTENT, "2"),
    Reasoner("kimi", "kimi-k3", "content", "all", _CONTENT, "2"),
    Reasoner("glm", "glm-5.3", "content", "open", _CONTENT, "3"),
    Reasoner("qwen", "qwen3.7-max", "content", "open", _CONTENT, "4"),
    Reasoner("minimax", "MiniMax-M3", "tags", "all", (), "5"),
    Reasoner("openrouter", "anthropic/claude-opus-4.5", "routed", "calls", _ROUTED, "6"),
    Reasoner("xai", "grok-4", "content", "never", (), "7"),
    Reasoner("groq", "openai/gpt-oss-120b", "plain", "open", _PLAIN, "8"),
    Reasoner("cerebras", "gpt-oss-120b", "plain", "open", _PLAIN, "9"),
    Reasoner("mistral", "magistral-medium-latest", "thinking", "open", (), "10"),
    Reasoner("together", "openai/gpt-oss-120b", "plain", "open", _PLAIN, "12"),
    Reasoner("fireworks", "accounts/fireworks/models/kimi-k2p6", "content", "open", _CONTENT, "13"),
    Reasoner("vllm", "openai/gpt-oss-120b", "plain", "open", (*_PLAIN, *_CONTENT), "14"),
    Reasoner("llama-cpp", "qwen3", "content", "open", _CONTENT, "15"),
    Reasoner("sambanova", "DeepSeek-V3.1", "plain", "never", (), "20"),
    Reasoner("nvidia", "nvidia/nemotron-3-super", "content", "never", (), "21"),
    Reasoner("copilot", "claude-opus-4.5", "opaque", "calls", _OPAQUE, "22"),
    Reasoner("ollama-openai", "gpt-oss:20b", "plain", "open", _PLAIN, "24"),
    Reasoner("snowflake", "claude-opus-4-5", "signed", "calls", _DETAILS, "25"),
    Reasoner("databricks", "databricks-claude-opus-4-5", "summary", "calls", (), "26"),
)  # fmt: skip

_Message = dict[str, Any]


def _detail(thought: str) -> Json:
    return {"type": "reasoning.text", "text": thought, "signature": "sig+1/==",
            "format": "anthropic-claude-v1", "index": 0}  # fmt: skip


def _listed(part: Json, text: str) -> _Message:
    return {"content": [part, *([{"type": "text", "text": text}] if text else [])]}


def _summary(thought: str) -> Json:
    told = {"type": "summary_text", "text": thought, "signature": "sig+1/=="}
    return {"type": "reasoning", "summary": [told]}


# Keys of a message that says a thought and a text.
SAYING: dict[str, Callable[[str, str], _Message]] = {
    "content": lambda thought, text: {"content": text, "reasoning_content": thought},
    "plain": lambda thought, text: {"content": text, "reasoning": thought},
    "routed": lambda thought, text: {
        "content": text, "reasoning": thought, "reasoning_details": [_detail(thought)],
    },
    "signed": lambda thought, text: {"content": text, "reasoning_details": [_detail(thought)]},
    "opaque": lambda thought, text: {
        "content": text, "reasoning_text": thought, "reasoning_opaque": "sealed+1/==",
    },
    "thinking": lambda thought, text: _listed(
        {"type": "thinking", "thinking": [{"type": "text", "text": thought}]}, text
    ),
    "summary": lambda thought, text: _listed(_summary(thought), text),
    "tags": lambda thought, text: {"content": f"<think>\n{thought}\n</think>\n\n{text}"},
}  # fmt: skip


def thought(model: Reasoner, message: Json) -> Json:
    """Return all that a message holds of a thought, as the model says it; None where nothing is."""
    content = message.get("content")
    if model.says == "tags":
        return content if "<think>" in str(content) else None
    if model.says in ("thinking", "summary"):
        kind = "thinking" if model.says == "thinking" else "reasoning"
        parts = content if isinstance(content, list) else ()
        return [part for part in parts if part.get("type") == kind] or None
    if model.says in ("routed", "signed"):
        return message.get("reasoning_details")
    if model.says == "opaque":
        return [
            message[key] for key in ("reasoning_text", "reasoning_opaque") if key in message
        ] or None
    return message.get("reasoning_content" if model.says == "content" else "reasoning")


RULES = {
    "other-key": ("'{bracketed}' is unsupported.", "facts 8: the key of another vendor"),
    "refused": ("'{bracketed}': reasoning is not accepted in the input.", "facts 1: R1"),
    "wanted": ("'{bracketed}': the reasoning must be passed back to the API.", "facts 1, 2"),
    "changed": ("'{bracketed}': the reasoning was changed.", "facts 5, 6"),
}


def refusals(model: Reasoner, body: Json, sent: Sequence[Json]) -> list[Refusal]:
    """Return what the API refuses, or would silently miss, in a request.

    `sent` are the bodies of the responses that it gave in this conversation.
    """
    judge = Judge(RULES)
    messages = body.get("messages") or []
    last = max((i for i, m in enumerate(messages) if m.get("role") == "user"), default=-1)
    told = iter([one["choices"][0]["message"] for one in sent])
    for i, message in enumerate(messages):
        if message.get("role") != "assistant":
            continue
        for key in KEYS:
            if message.get(key) is not None and key not in model.keys:
                judge.tell("other-key" if model.keys else "refused", ("messages", i, key))
        was, now = thought(model, next(told, {})), thought(model, message)
        asked = {"all": True, "calls": bool(message.get("tool_calls")), "open": i > last}
        at: At = ("messages", i, *model.keys[:1])
        if model.wants == "never":
            if now is not None:
                judge.tell("refused", at)
        elif asked[model.wants] and was is not None and now is None:
            judge.tell("wanted", at)
        elif asked[model.wants] and was is None and model.dialect in ("deepseek", "kimi"):
            if message.get("tool_calls") and "reasoning_content" not in message:
                judge.tell("wanted", at)
        elif now is not None and was is not None and now != was:
            judge.tell("changed", at)
    return [*judge.found, *(one for one in chat.refusals(body, model.model) if one.rule in _PAIRS)]


_PAIRS = ("unanswered", "orphan", "answered-twice", "same-id", "same-tool", "role", "arguments")
