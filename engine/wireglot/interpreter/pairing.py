"""Pairing: every result has its call, and every call its result, in a request as a whole."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..hooks import left_out
from ..notes import BEHIND_CALL, foreign
from .copies import instead, with_parts
from .jobs import WriteJob
from .placing import unplaced

Found = tuple[int, dict[str, Any]]  # the place of a message, and a part of it
Pairs = list[tuple[dict[str, Any], dict[str, Any]]]  # results and their calls


def named(
    messages: list[dict[str, Any]],
    dialect: str,
    told: bool = False,
    own: frozenset[str] = frozenset(),
) -> list[tuple[str, dict[str, Any]]]:
    """Give each result the name of its call, by id and occurrence.

    Returns what was odd: (`duplicate-id` | `unpaired` | `inconsistent`, part); `told` says that
    results tell whether their calls are freeform, and `own` are names that results tell by words
    of their own: one that was read by another word remembers that it did not tell.
    """
    odd: list[tuple[str, dict[str, Any]]] = []
    open_calls: dict[str, deque[str]] = {}
    calls: dict[str, deque[tuple[int, dict[str, Any]]]] = {}
    names: dict[str, str] = {}
    last = 0  # the place of the last message that is no result
    for place, message in enumerate(messages):
        if message.get("role") != "tool":
            last = place
        for part in message.get("parts", ()):
            if part.get("type") == "tool_call" and isinstance(part.get("id"), str):
                if open_calls.get(part["id"]):
                    odd.append(("duplicate-id", part))
                open_calls.setdefault(part["id"], deque()).append(part.get("name", ""))
                calls.setdefault(part["id"], deque()).append((place, part))
                names[part["id"]] = part.get("name", "")
            elif part.get("type") == "tool_result":
                key = part.get("tool_call_id")
                waiting = open_calls.get(key) if isinstance(key, str) else None
                if not waiting:
                    odd.append(("unpaired", part))
                if waiting and key is not None:
                    _, call = calls[key].popleft()
                    if told and ("input" in call) != part.get("freeform", False):
                        odd.append(("inconsistent", part))
                name = waiting.popleft() if waiting else names.get(key or "")
                if name is not None and "name" not in part:
                    _name(part, name, dialect, own)
    # The calls of the last turn are open, not forgotten.
    for waiting_calls in calls.values():
        odd.extend(("unpaired", part) for place, part in waiting_calls if place < last)
    return odd


def known(
    messages: list[dict[str, Any]], names: dict[Any, str], dialect: str, own: frozenset[str]
) -> None:
    """Give each result the name of its call, where the ids of all calls are known to pair."""
    for message in messages:
        for part in message["parts"] if message.get("role") == "tool" else ():
            if "name" not in part:
                _name(part, names[part["tool_call_id"]], dialect, own)


def _name(part: dict[str, Any], name: str, dialect: str, own: frozenset[str]) -> None:
    """Name a result, which may remember that it did not tell."""
    if name in own:
        memory = part.setdefault("spelled", {}).setdefault(dialect, {})
        memory[""] = {**memory.get("", {}), "unsaid": "name"}
    part["name"] = name
    if "spelled" in part:
        left_out(part, dialect, "name")


def paired(writer: WriteJob, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put results behind their calls, leave out those without one, answer calls without one."""
    text = next((text for word, text in writer.asked if word == "pair"), None)
    if text is None or not writer.whole:
        return messages
    calls, lost, pairs = _matched(messages)
    if writer.named:
        messages = _alike(writer, messages, pairs)
    early = _early(writer, calls, lost)
    answered = {id(call) for _, call in early}
    open_calls = [found for found in calls if id(found[1]) not in answered]
    if not writer.named:  # what the model said last may still be answered
        open_calls = [(i, call) for i, call in open_calls if i < len(messages) - 1]
    moved = {id(part) for part, _ in early}
    gone = moved | {id(part) for _, part in lost}
    behind: dict[int, list[dict[str, Any]]] = {}
    places = {id(call): i for i, call in calls}
    settled = [call for _, call in open_calls] + [part for _, part in lost]
    for part, call in early:
        part = _answering(writer, part, call)
        behind.setdefault(places[id(call)], []).append(part)
        settled += [part, call]
        at = writer.trail.find(part)
        writer.note("moved", "moved", at, _pos(writer), BEHIND_CALL, None, part)
    _forget(writer, settled)
    for _, part in lost:
        told = "a result whose call is not there is left out"
        writer.note("unpaired", "lost", writer.trail.find(part), _pos(writer), told)
    for i, call in open_calls:
        behind.setdefault(i, []).append(_answer(writer, call, text))
    if not gone and not behind:
        return messages
    return _rebuilt(writer, messages, gone, behind)


def freeform(writer: WriteJob, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Say of a result that its call took freeform input, where results tell that on the wire."""
    if not writer.dialect.tells_freeform:
        return messages
    fresh = {
        id(part): {**part, "freeform": True}
        for part, call in _matched(messages)[2]
        if "input" in call and "freeform" not in part
    }
    return _swapped(writer, messages, fresh)


def _matched(messages: list[dict[str, Any]]) -> tuple[list[Found], list[Found], Pairs]:
    """Return the calls without a result after them, the results without a call, and the pairs."""
    pairs: Pairs = []
    waiting: dict[Any, deque[Found]] = {}
    lost: list[Found] = []
    for i, message in enumerate(messages):
        for part in message.get("parts", ()):
            if part.get("type") == "tool_call" and message.get("role") == "assistant":
                waiting.setdefault(part.get("id"), deque()).append((i, part))
            elif part.get("type") == "tool_result":
                found = waiting.get(part.get("tool_call_id"))
                if found:
                    pairs.append((part, found.popleft()[1]))
                else:
                    lost.append((i, part))
    calls = sorted((found for left in waiting.values() for found in left), key=lambda f: f[0])
    return calls, lost, pairs


def _alike(writer: WriteJob, messages: list[dict[str, Any]], pairs: Pairs) -> list[dict[str, Any]]:
    """Let results have the names of their calls."""
    other = {
        id(part): {**part, "name": call["name"]}
        for part, call in pairs
        if "name" in call and part.get("name", call["name"]) != call["name"]
    }
    for part, _ in pairs:
        if id(part) in other:
            fresh = other[id(part)]
            told = f"a result of the call `{fresh['name']}` has another name"
            at = writer.trail.find(part, "name")
            writer.note("renamed", "changed", at, _pos(writer), told, None, fresh)
    return _swapped(writer, messages, other)


def _swapped(
    writer: WriteJob, messages: list[dict[str, Any]], fresh: dict[int, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the messages with other parts in place of some."""
    out = []
    for message in messages:
        old = message.get("parts", ())
        parts = [fresh.get(id(part), part) for part in old]
        changed = [pair for pair in zip(old, parts, strict=True) if pair[0] is not pair[1]]
        for part, new in changed:
            instead(writer, part, new)
        out.append(with_parts(writer, message, parts) if changed else message)
    return out


def _early(
    writer: WriteJob, calls: list[Found], lost: list[Found]
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return results that stand before their calls, with these; they are lost no longer."""
    found = []
    taken: set[int] = set()
    free: dict[str, dict[Any, deque[Found]]] = {"id": {}, "name": {}}
    for key, waiting in free.items():
        for i, call in calls:
            if isinstance(call.get(key), str):
                waiting.setdefault(call[key], deque()).append((i, call))
    left = []
    for i, part in lost:
        # An id that was made here says nothing: then the names pair.
        word, key = ("name", "name") if id(part) in writer.made else ("tool_call_id", "id")
        behind = free[key].get(part.get(word)) or deque()
        # What stands before this result stands before all that follow.
        while behind and (behind[0][0] <= i or id(behind[0][1]) in taken):
            behind.popleft()
        if behind and part[word]:
            call = behind.popleft()[1]
            taken.add(id(call))
            found.append((part, call))
        else:
            left.append((i, part))
    lost[:] = left
    return found


def _answering(writer: WriteJob, part: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
    """Return a result with the id and the name of its call."""
    fresh = {**part, "name": call.get("name"), "tool_call_id": call.get("id")}
    if fresh == part:
        return part
    instead(writer, part, fresh)
    return fresh


def _answer(writer: WriteJob, call: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the result of a call that nobody answered, and note it."""
    made = {"type": "tool_result", "tool_call_id": call.get("id"), "kind": "error", "value": text}
    if "name" in call:
        made["name"] = call["name"]
    if id(call) in writer.made:
        writer.made.add(id(made))
    writer.answers.add(id(made))
    told = "no result of this call is there; the text of the rule answers it"
    writer.note("answered", "added", writer.trail.find(call), _pos(writer), told, None, made)
    return made


def _rebuilt(
    writer: WriteJob,
    messages: list[dict[str, Any]],
    gone: set[int],
    behind: dict[int, list[dict[str, Any]]],
) -> list[dict[str, Any]]:
    """Return the messages without some parts, and with others behind the results of a turn."""
    out: list[dict[str, Any]] = []
    wanted: list[dict[str, Any]] = []
    for i, message in enumerate(messages):
        parts = [part for part in message.get("parts", ()) if id(part) not in gone]
        if message.get("role") != "tool" and wanted:
            out.append({"role": "tool", "parts": wanted})
            wanted = []
        if len(parts) == len(message.get("parts", ())):
            out.append(message)
        elif parts:
            out.append(with_parts(writer, message, parts))
        else:
            unplaced(writer, message, _pos(writer))
        wanted = wanted + behind.get(i, [])
    if wanted:
        out.append({"role": "tool", "parts": wanted})
    return out


def signed(writer: WriteJob, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Let the first call of each step of the present turn be signed, or note that it is not."""
    talk = writer.dialect.conversation
    kinds = {kind for word, kind in writer.asked if word == "signed"}
    if not kinds or talk is None:
        return messages
    out = list(messages)
    roles = [message.get("role") for message in messages]
    spoke = [i for i, role in enumerate(roles) if role == "user" and roles[i - 1 : i] != ["tool"]]
    for i in range(spoke[-1] if spoke else 0, len(messages)):
        if roles[i] != "assistant" or roles[i - 1 : i] == ["assistant"]:
            continue
        parts = messages[i].get("parts", ())
        first = next((p for p in parts if p.get("type") in kinds), None)
        if first is None or _signed(writer, first):
            continue
        stands, pos = writer.dialect.signatures.placeholder, talk.places.get("signed")
        if stands is None:
            told = "the target wants the signature that came with this call, and none is there"
            at = writer.trail.find(first)
            writer.note("unsigned", "kept", at, pos, told, None, first)
            continue
        if isinstance(other := first.get("signature"), dict):
            at = writer.trail.find(first, "signature") or writer.trail.find(other, "value")
            said = f"{foreign(other.get('origin'))} signature"
            writer.note("foreign-signature", "lost", at or writer.trail.find(first), pos, said)
        signature = {"value": stands, "origin": writer.dialect.origin["signature"]}
        fresh = {**first, "signature": signature}
        instead(writer, first, fresh)
        told = "the target wants a signature beside this call; this says that there is none"
        writer.supplied(fresh, "signature", pos, told)
        fit = [fresh if part is first else part for part in parts]
        out[i] = with_parts(writer, messages[i], fit)
    return out


def _signed(writer: WriteJob, part: dict[str, Any]) -> bool:
    """Tell whether a part has a signature that the target can read, or at home says it has none."""
    signature = part.get("signature")
    signer = writer.dialect.origin["signature"]
    if isinstance(signature, dict) and signature.get("origin") != signer:
        return writer.dialect.signatures.placeholder is None
    memory = part.get("spelled", {}).get(writer.dialect.name, {}) if writer.same else {}
    stands = writer.dialect.signatures.placeholder
    return signature is not None or any(
        stands is not None and entry.get("as") == stands for entry in memory.values()
    )


def _forget(writer: WriteJob, parts: list[dict[str, Any]]) -> None:
    """Take back the notes that these parts have no counterpart."""
    names = {id(part) for part in parts}
    names |= {id(old) for old, new in writer.instead.values() if id(new) in names}
    writer.notes = [
        draft
        for draft in writer.notes
        if draft.code != "unpaired" or draft.effect != "kept" or id(draft.place) not in names
    ]


def _pos(writer: WriteJob) -> Any:
    talk = writer.dialect.conversation
    return talk.places.get("pair", talk.pos) if talk else None
