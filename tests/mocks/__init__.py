"""Strict providers: what each real API refuses, written from facts and not from rule files.

`refusals(dialect, body)` says what an API would answer 400 to, and `Provider` plays one through a
conversation: it knows the responses that it gave, so it sees what came back changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from . import anthropic, chat, converse, gemini, ollama, responses
from .judge import Json, Refusal

DIALECTS = ("openai-chat", "openai-responses", "anthropic", "gemini", "vertex", "ollama")
MODULES: Mapping[str, ModuleType] = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "vertex": gemini,
    "ollama": ollama,
    "bedrock-converse": converse,
}


def refusals(
    dialect: str,
    body: Json,
    model: str | None = None,
    version: str | None = None,
    sent: Sequence[Json] | None = None,
) -> list[Refusal]:
    """Return all for which the API of a dialect refuses a request; `[]` where it takes it.

    `model` is the name where the body does not hold it, `version` that of the API. `sent` are the
    bodies of the responses that the API gave in this conversation; where they are not known, no
    signature is judged.
    """
    if dialect == "anthropic":
        return anthropic.refusals(body, model, version, sent)
    if dialect in ("gemini", "vertex"):
        return gemini.refusals(body, model, version, sent, vertex=dialect == "vertex")
    if dialect == "ollama":
        return ollama.refusals(body)
    if dialect == "bedrock-converse":
        return converse.refusals(body)
    if dialect == "openai-responses":
        return responses.refusals(body, sent)
    return chat.refusals(body, model)


class Provider:
    """One provider in a conversation: takes requests, and remembers what it answered."""

    def __init__(self, dialect: str, model: str | None = None, version: str | None = None) -> None:
        self.dialect, self.model, self.version = dialect, model, version
        self.sent: list[Any] = []

    def refusals(self, body: Json) -> list[Refusal]:
        return refusals(self.dialect, body, self.model, self.version, self.sent)

    def answers(self, response: Json) -> Json:
        """Remember a response, and return it."""
        self.sent.append(response)
        return response

    def error(self, refusal: Refusal) -> Json:
        """Return the body of the answer 400."""
        return MODULES[self.dialect].body_of(refusal)


__all__ = ["DIALECTS", "MODULES", "Provider", "Refusal", "refusals"]
