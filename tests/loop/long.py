"""A long conversation: eight turns and one more, with all that an answer of a provider may be.

`PLAN` names the turns, what the tools answer, and how each answer ends, in words that each
wire says in its own way: `calls`, `end`, `cut` (at the limit of tokens), `refused`.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from . import scripts
from .clients import Result

Json = Any
TEMPERATURE = '{"temp":25}'


class Turn(NamedTuple):
    """A turn of the provider: its name, what the tools answer it, and how it ends."""

    name: str
    results: tuple[Result, ...]
    ends: str
    says: bool = True  # whether the user says something before it


PLAN = (
    Turn("hello", (), "end"),
    Turn("parallel", (Result("text", "12 degrees"), Result("json", TEMPERATURE)), "calls"),
    Turn("fails", (Result("error", "Timeout"),), "calls", says=False),
    Turn("picture", (Result("image", "A map"),), "calls", says=False),
    Turn("answer", (), "end", says=False),
    Turn("refusal", (), "refused"),
    Turn("blocked", (), "refused"),
    Turn("cut", (), "cut"),
    Turn("thanks", (), "end"),
)
CITIES = {"parallel": ("Oslo", "Rome"), "fails": ("Oslo",), "picture": ("Rome",)}
TOLD = ["12 degrees", "25", "Timeout", "A map"]  # what a request says that the tools answered
NO = "I will not."


def _with(body: Json, **changes: Json) -> Json:
    """Return a body of Chat or Gemini whose one choice or candidate is changed."""
    body = json.loads(json.dumps(body))
    (body.get("choices") or body["candidates"])[0].update(changes)
    return body


def _chat() -> list[Json]:
    refused = scripts._chat({"refusal": NO}, False)
    blocked = scripts._chat({"content": ""}, False)
    cut = scripts._chat({"content": "It is"}, False)
    return [
        *scripts.CHAT,
        refused,
        _with(blocked, finish_reason="content_filter"),
        _with(cut, finish_reason="length"),
        scripts._chat({"content": "At once."}, False),
    ]


def _responses() -> list[Json]:
    refused = scripts._responses(
        {**scripts._message("msg_4", ""), "content": [{"type": "refusal", "refusal": NO}]}
    )
    blocked = scripts._responses()
    blocked |= {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    cut = scripts._responses({**scripts._message("msg_5", "It is"), "status": "incomplete"})
    cut |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    made = [*scripts.RESPONSES, refused, blocked, cut]
    made.append(scripts._responses(scripts._message("msg_6", "At once.")))
    return [{**body, "id": f"resp_{nth}"} for nth, body in enumerate(made)]


def _anthropic() -> list[Json]:
    made = [
        *scripts.ANTHROPIC,
        {**scripts._anthropic({"type": "text", "text": NO}), "stop_reason": "refusal"},
        {**scripts._anthropic(), "stop_reason": "refusal"},
        {**scripts._anthropic({"type": "text", "text": "It is"}), "stop_reason": "max_tokens"},
        scripts._anthropic({"type": "text", "text": "At once."}),
    ]
    return [{**body, "id": f"msg_{nth}"} for nth, body in enumerate(made)]


def _gemini() -> list[Json]:
    blocked = {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 1},
        "modelVersion": "m",
    }
    refused: Json = {"candidates": [{"finishReason": "SAFETY", "index": 0}], "modelVersion": "m"}
    made = [
        *scripts._google(True),
        refused,
        blocked,
        _with(scripts._gemini({"text": "It is"}), finishReason="MAX_TOKENS"),
        scripts._gemini({"text": "At once."}),
    ]
    return [{**body, "responseId": f"r{nth}"} for nth, body in enumerate(made)]


def _ollama() -> list[Json]:
    blocked = scripts._ollama({"content": ""})
    cut = {**scripts._ollama({"content": "It is"}), "done_reason": "length"}
    last = scripts._ollama({"content": "At once."})
    return [*scripts.OLLAMA, scripts._ollama({"content": NO}), blocked, cut, last]


SCRIPTS = {
    "openai-chat": _chat(),
    "openai-responses": _responses(),
    "anthropic": _anthropic(),
    "gemini": _gemini(),
    "ollama": _ollama(),
}


def turns(dialect: str, tool: str) -> list[Json]:
    """Return the answers of a provider that calls a tool by its name."""
    said = json.dumps(SCRIPTS[dialect]).replace(json.dumps(scripts.NAME), json.dumps(tool))
    made: list[Json] = json.loads(said)
    return made


# -- how an answer ends, as the user of a client sees it -------------------------------------------

_WORDS = {
    "stop": "end", "end_turn": "end", "STOP": "end", "completed": "end",
    "tool_calls": "calls", "tool_use": "calls",
    "length": "cut", "max_tokens": "cut", "MAX_TOKENS": "cut", "max_output_tokens": "cut",
    "content_filter": "refused", "refusal": "refused", "SAFETY": "refused",
    "PROHIBITED_CONTENT": "refused", "OTHER": "refused", "BLOCKLIST": "refused",
}  # fmt: skip


def ending(dialect: str, body: Json) -> str:
    """Return how an answer ends in the words of `PLAN`, or in its own where there is none."""
    if dialect == "openai-chat":
        if not body["choices"]:
            return "no choice"
        choice = body["choices"][0]
        if choice.get("message", {}).get("refusal"):
            return "refused"
        return _WORDS.get(choice["finish_reason"], str(choice["finish_reason"]))
    if dialect == "openai-responses":
        items = body["output"]
        if any(p.get("type") == "refusal" for i in items for p in i.get("content") or ()):
            return "refused"
        word = (body.get("incomplete_details") or {}).get("reason") or body["status"]
        ended = _WORDS.get(word, str(word))
        called = any(item["type"] == "function_call" for item in items)
        return "calls" if called and ended == "end" else ended
    if dialect == "anthropic":
        return _WORDS.get(body["stop_reason"], str(body["stop_reason"]))
    if dialect == "ollama":
        ended = _WORDS.get(body.get("done_reason"), str(body.get("done_reason")))
        called = bool(body["message"].get("tool_calls"))
        return "calls" if called and ended == "end" else ended
    if not body.get("candidates"):
        return "refused" if body.get("promptFeedback") else "no candidate"
    candidate = body["candidates"][0]
    parts = (candidate.get("content") or {}).get("parts") or ()
    ended = _WORDS.get(candidate.get("finishReason"), str(candidate.get("finishReason")))
    return "calls" if ended == "end" and any("functionCall" in p for p in parts) else ended


def thought(dialect: str, body: Json) -> str | None:
    """Return what an answer shows of the model's thoughts; None where a wire has no place."""
    if dialect == "openai-chat":
        return None
    if dialect == "openai-responses":
        summaries = [s for item in body["output"] for s in item.get("summary") or ()]
        return "".join(s["text"] for s in summaries)
    if dialect == "anthropic":
        return "".join(block.get("thinking", "") for block in body["content"])
    if dialect == "ollama":
        return str(body["message"].get("thinking") or "")
    parts = [
        p for c in body.get("candidates") or () for p in (c.get("content") or {}).get("parts", ())
    ]
    return "".join(part["text"] for part in parts if part.get("thought"))
