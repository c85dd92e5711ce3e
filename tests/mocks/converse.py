"""What Bedrock refuses of Converse: what botocore's model and the rules of its service do."""

from __future__ import annotations

from ..oracles import sdk
from .judge import Json, Refusal

RULES: dict[str, tuple[str, str]] = {}  # none of its own


def refusals(body: Json) -> list[Refusal]:
    """Return what the API refuses in a request."""
    told = sdk.problems("bedrock-converse", "request", body)
    return [Refusal("", one, "service", "tools/validate_bedrock.py") for one in told]


def body_of(refusal: Refusal) -> Json:
    """Return the error body that the API answers with."""
    return {"message": refusal.text}
