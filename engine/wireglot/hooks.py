"""The registered hooks: the only Python that a rule file can ask for, by name.

`call-ids` serves dialects whose calls often have no id (Gemini). State it needs: the response id,
or else the whole body, and the position of each call. The ids are made from these alone, so the
same payload always gets the same ids, and a made id is recognised by making it again.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable
from typing import Any

from .trail import Trail, pointer

Hook = Callable[[dict[str, Any], Any, str, Trail], list[tuple[str, dict[str, Any]]]]


def call_ids(
    ir: dict[str, Any], body: Any, dialect: str, trail: Trail
) -> list[tuple[str, dict[str, Any]]]:
    """Give every call an id, and every result without one the id of its call.

    Results are paired by name in the order of the calls, else by order alone. A made id is
    remembered as absent, so that the same dialect leaves it out again. Returns (code, part) of each
    made id.
    """
    seed: str | None = None
    made: list[tuple[str, dict[str, Any]]] = []
    open_calls: deque[tuple[str, str]] = deque()
    taken = {p["id"] for _, p in _parts(ir) if p.get("type") == "tool_call" and "id" in p}
    for place, part in _parts(ir):
        if part.get("type") == "tool_call":
            if "id" not in part:
                if seed is None:
                    seed = _seed(ir, body)
                part["id"] = made_id(seed, place, taken)
                taken.add(part["id"])
                left_out(part, dialect, "id")
                made.append(("made-id", part))
            open_calls.append((part["id"], str(part.get("name"))))
        elif part.get("type") == "tool_result":
            key = part.get("tool_call_id")
            if key is None:
                name = part.get("name")
                found = next((c for c in open_calls if c[1] == name), None)
                if found is None and open_calls and name is None:
                    found = open_calls[0]
                if found is None:
                    seed = seed or _seed(ir, body)
                    found = (made_id(seed, place, taken), str(name))
                part["tool_call_id"] = key = found[0]
                left_out(part, dialect, "tool_call_id")
                made.append(("made-id", part))
            match = next((c for c in open_calls if c[0] == key), None)
            if match is not None:
                open_calls.remove(match)
    return made


def _parts(ir: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for kind in ("candidates", "messages"):
        for i, owner in enumerate(ir.get(kind) or ()):
            for j, part in enumerate(owner.get("parts", ()) if isinstance(owner, dict) else ()):
                if isinstance(part, dict):
                    found.append((f"{i}/{j}", part))
    if not found and ir.get("type") in ("tool_call", "tool_result"):
        found.append(("0/0", ir))
    return found


def _seed(ir: dict[str, Any], body: Any) -> str:
    if isinstance(ir.get("id"), str) and ir["id"] and "candidates" in ir:
        return str(ir["id"])
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def made_id(seed: str, place: str, taken: set[str]) -> str:
    """Return an id for the call at a place, which no other call has."""
    turn = ""
    while True:
        digest = hashlib.sha256(f"{seed}/{place}{turn}".encode("utf-8", "replace")).hexdigest()
        made = f"call_{digest[:12]}"
        if made not in taken:
            return made
        turn += "'"


def left_out(part: dict[str, Any], dialect: str, field: str) -> None:
    """Let a field that was made here be left out again where the part came from."""
    for entry in part.get("spelled", {}).get(dialect, {}).values():
        if entry.get("made") == field:
            del entry["made"]
            entry["for"] = part[field]


HOOKS: dict[str, Hook] = {"call-ids": call_ids}
__all__ = ["HOOKS", "Hook", "call_ids", "pointer"]
