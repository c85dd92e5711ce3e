"""Signatures that a dialect asks for: of thoughts, and of the calls of the present turn."""

from __future__ import annotations

from typing import Any

from ..notes import foreign
from .copies import leave_out, parts_of, replace_parts
from .jobs import Message, Part, WriteJob
from .views import memory_of

UNSIGNED = "the target takes no reasoning that it did not sign"


def drop_unsigned_thoughts(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Leave out thoughts that are not signed, or by another, each with a note.

    The messages themselves are returned where there are none.
    """
    if ("own-thought", "reasoning") not in writer.enforced:
        return messages
    thoughts = parts_of(messages, "reasoning")
    gone = [part for part in thoughts if not writer.dialect.has_signature(part)]
    return leave_out(writer, messages, gone, UNSIGNED, "own-thought")


def sign_calls(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Let the first call of each step of the present turn be signed, or note that it is not."""
    kinds = writer.enforced_args("signed")
    if not kinds:
        return messages
    signed: dict[int, Part] = {}
    roles = [message.get("role") for message in messages]
    called = False  # whether neighbours, which are one step, have called already
    for i in range(_present_turn(roles), len(messages)):
        called = called and roles[i] == "assistant"
        if called or roles[i] != "assistant":
            continue
        parts = messages[i].get("parts", ())
        first = next((p for p in parts if p.get("type") in kinds), None)
        called = first is not None
        if first is None or _is_signed(writer, first):
            continue
        stands, rule = writer.dialect.signatures.placeholder, writer.rule("signed")
        if stands is None:
            reason = "the target wants the signature that came with this call, and none is there"
            writer.note_part("unsigned", "kept", first, reason, rule)
            continue
        if isinstance(other := first.get("signature"), dict):
            at = writer.trail.find(first, "signature") or writer.trail.find(other, "value")
            said = f"{foreign(other.get('origin'))} signature"
            writer.note("foreign-signature", "lost", at or writer.trail.find(first), rule, said)
        signature = {"value": stands, "origin": writer.dialect.origin["signature"]}
        fresh = signed[id(first)] = {**first, "signature": signature}
        reason = "the target wants a signature beside this call; this says that there is none"
        writer.note_supplied(fresh, "signature", rule, reason)
    return replace_parts(writer, messages, signed)


def _present_turn(roles: list[Any]) -> int:
    """Return where the present turn begins: what a user says behind results goes with these."""
    begun, before = 0, None
    for i, role in enumerate(roles):
        if role != "user":
            before = role
        elif before != "tool":
            begun = i
    return begun


def _is_signed(writer: WriteJob, part: Part) -> bool:
    """Tell whether a part has a signature that the target can read, or at home says it has none."""
    signature = part.get("signature")
    signer = writer.dialect.origin["signature"]
    if isinstance(signature, dict) and signature.get("origin") != signer:
        return writer.dialect.signatures.placeholder is None
    memory = memory_of(part, writer.dialect.name) if writer.same else {}
    none = writer.dialect.signatures.none
    return signature is not None or any(entry.get("as") in none for entry in memory.values())
