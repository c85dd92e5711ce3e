"""Pairing: every result has its call, and every call its result, in a request as a whole."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from itertools import count
from typing import Any

from ..language.lenses import stringify
from ..language.model import Dialect
from ..notes import BEHIND_CALL, Effect
from ..seeds import left_out
from ..waiting import Waiting
from .answers import UNCALLED
from .copies import parts_of, replace_part, replace_parts, with_parts, without_field
from .jobs import Message, Part, WriteJob
from .placing import note_beside_parts

KEYS = {"tool_call": "id", "tool_result": "tool_call_id"}  # by which they find each other
NO_CALL = "it names a call that is not there, and the target takes no such id"
SPOKEN = "a result whose call is not there, and which names none, is said by the user"
Found = tuple[int, Part]  # the place of a message, and a part of it
Pairs = list[tuple[Part, Part]]  # results and their calls


def name_results(
    messages: list[Message], dialect: str, freeform: bool = False, own: frozenset[str] = frozenset()
) -> list[tuple[str, Part]]:
    """Give each result the name of its call, by id and occurrence.

    Returns (`duplicate-id` | `unpaired` | `inconsistent`, part) for what is odd. `freeform` says
    that results of the dialect tell whether their calls are. `own` are names that results tell by
    words of their own: one that was read by another word remembers that it did not tell.
    """
    odd: list[tuple[str, Part]] = []
    pairs = by_id(messages)
    calls: list[Found] = []
    waiting = Counter[str]()
    names: dict[str, str] = {}
    last = 0  # the place of the last message that is no result
    for place, message in enumerate(messages):
        if message.get("role") != "tool":
            last = place
        for part in message.get("parts", ()):
            if part.get("type") == "tool_call" and isinstance(part.get("id"), str):
                if waiting[part["id"]]:
                    odd.append(("duplicate-id", part))
                waiting[part["id"]] += 1
                calls.append((place, part))
                names[part["id"]] = part.get("name", "")
            elif part.get("type") == "tool_result":
                call = pairs.get(id(part))
                if call is None:
                    odd.append(("unpaired", part))
                    name = names.get(part.get("tool_call_id") or "")
                else:
                    waiting[call["id"]] -= 1
                    name = call.get("name", "")
                    if freeform and ("input" in call) != part.get("freeform", False):
                        odd.append(("inconsistent", part))
                if name is not None and "name" not in part:
                    _set_name(part, name, dialect, own)
    # The calls of the last turn are open, not forgotten.
    done = {id(call) for call in pairs.values()}
    odd += [("unpaired", call) for at, call in calls if at < last and id(call) not in done]
    return odd


def names_stored(dialect: Dialect, ir: Any, messages: list[Message]) -> bool:
    """Tell whether a request names what its API keeps, in which calls may stand."""
    if (stored := dialect.stored) is None or not isinstance(ir, dict):
        return False
    own = (ir.get("own") or {}).get(dialect.family) or {}
    if any(own.get(key) is not None for key in (stored.after, *stored.beside)):
        return True
    names = [*stored.keys.values()]
    return any(part.get("name") in names for part in parts_of(messages, "native"))


def by_id(messages: list[Message]) -> dict[int, Part]:
    """Return the call of each result, by id: one of the last turn first, in their order.

    One before it may have been given up, where providers number the calls of each turn anew.
    """
    pairs: dict[int, Part] = {}
    waiting = Waiting()
    results: dict[Any, list[Part]] = {}  # behind the last call

    def settle() -> None:
        for key, parts in results.items():
            pairs.update(zip(map(id, parts), waiting.take(("id", key), len(parts)), strict=False))
        results.clear()

    for message in messages:
        if message.get("role", "assistant") != "assistant":
            waiting.over()
        for part in message.get("parts", ()):
            key = part.get(KEYS.get(part.get("type"), ""))
            if not isinstance(key, str):
                continue
            if part["type"] == "tool_call":
                settle()
                waiting.add(part, ("id", key))
            else:
                results.setdefault(key, []).append(part)
    settle()
    return pairs


def name_known_results(
    messages: list[Message], names: dict[Any, str], dialect: str, own: frozenset[str]
) -> None:
    """Give each result the name of its call, where the ids of all calls are known to pair."""
    for message in messages:
        for part in message["parts"] if message.get("role") == "tool" else ():
            if "name" not in part:
                _set_name(part, names[part["tool_call_id"]], dialect, own)


def _set_name(part: Part, name: str, dialect: str, own: frozenset[str]) -> None:
    """Name a result, which may remember that it did not tell."""
    if name in own:
        memory = part.setdefault("spelled", {}).setdefault(dialect, {})
        memory[""] = {**memory.get("", {}), "unsaid": "name"}
    part["name"] = name
    if "spelled" in part:
        left_out(part, dialect, "name")


def unique_ids(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Give each call an id of its own where it has none, or that of a call that still waits.

    Where ids are `unique`, no later call has it either.
    """
    found = [p["id"] for p in parts_of(messages, "tool_call") if isinstance(p.get("id"), str)]
    taken = set(found)
    if len(taken) == len(found) and "" not in taken:
        return messages
    # A result whose call is gone is not to answer the call that gets an id here.
    answered = (p.get("tool_call_id") for p in parts_of(messages, "tool_result"))
    taken.update(key for key in answered if isinstance(key, str))
    pairs = by_id(messages)
    waiting = Counter[str]()
    fresh: dict[int, str] = {}
    # What a client of the very dialect sends in later turns, its provider has taken.
    unique = writer.dialect.limits.get("call_id", {}).get("unique", False) and not writer.same
    used: set[str] = set()
    numbers: dict[str, Iterator[int]] = {}
    out = []
    for message in messages:
        parts = []
        for part in message.get("parts", ()):
            key = part.get(KEYS.get(part.get("type"), ""))
            if isinstance(key, str):
                new = key
                if part["type"] == "tool_call":
                    if not key or waiting[key] or (unique and key in used):
                        new = _numbered_id(key or "call", taken, numbers)
                    used.add(key)
                    fresh[id(part)] = new
                    waiting[key] += 1
                elif id(part) in pairs:
                    new = fresh[id(pairs[id(part)])]
                    waiting[key] -= 1
                part = _with_id(writer, part, key, new)
            parts.append(part)
        out.append(with_parts(writer, message, parts))
    return out


def _numbered_id(key: str, taken: set[str], numbers: dict[str, Iterator[int]]) -> str:
    """Return a key with the next number that makes it another; `numbers` go on from the last."""
    left = numbers.setdefault(key, count(2 if key in taken else 1))
    new = next(new for number in left if (new := f"{key}_{number}") not in taken)
    taken.add(new)
    return new


def _with_id(writer: WriteJob, part: Part, key: str, new: str) -> Part:
    """Return a call or result with another id, noted."""
    if new == key:
        return part
    field = KEYS[part["type"]]
    fresh = replace_part(writer, part, {**part, field: new})
    writer.call_names[new] = part.get("name", "")
    code, effect, reason = new_id_note(key)
    writer.note_part(code, effect, part, reason, writer.rule(), field, fresh)
    return fresh


def new_id_note(key: str) -> tuple[str, Effect, str]:
    """Return what is noted of a call or result that gets another id: code, effect, and why."""
    if key:
        return "renamed", "changed", f"another call has the id `{key}`"
    return "made-id", "added", "an empty id tells no calls apart"


def say_uncalled(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Let the user say what came of a call that stands in a text, or let a result name no call."""
    free = ("free", "") in writer.enforced
    if writer.options.get("unasked") or not (free or writer.made):
        return messages  # each result came with the id of its call
    calls, lost, _ = _match(messages)
    _, lost = _match_early(writer, calls, lost)
    if free:
        for _, part in lost:
            if id(part) not in writer.made:
                writer.note_lost("no-place", part, NO_CALL, writer.rule("free"), "tool_call_id")
        fresh = {id(part): without_field(writer, part, "tool_call_id") for _, part in lost}
        return replace_parts(writer, messages, fresh)
    # What stands before a piece of a talk is not known.
    lost = lost if writer.whole or "request" not in writer.dialect.units else []
    orphans = {id(part) for _, part in lost if id(part) in writer.made}
    out = []
    for message in messages if orphans else ():
        parts = message.get("parts", ())
        spoken = [part for part in parts if id(part) in orphans]
        rest = with_parts(writer, message, [part for part in parts if id(part) not in orphans])
        out += [rest] if rest.get("parts") or not spoken else []
        if spoken:
            _forget_unpaired(writer, spoken)
            texts = [text for part in spoken for text in _spoken(writer, part)]
            out.append(writer.trail.changed(message, role="user", parts=texts))
    return out if orphans else messages


def _spoken(writer: WriteJob, part: Part) -> list[Part]:
    """Return what a result says as parts of what the user says, noted."""
    value = part.get("value")
    if part.get("kind") == "multimodal" and isinstance(value, list):
        spoken = value
    else:
        text = value if isinstance(value, str) else part.get("value_json") or stringify(value)
        spoken = [replace_part(writer, part, {"type": "text", "text": text})]
        writer.trail.put(spoken[0], "text", writer.trail.find(part, "value"))
    now = next(iter(spoken), None)
    writer.note_part("unpaired", "changed", part, SPOKEN, writer.rule(), now=now)
    return spoken


def pair_results(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Put results behind their calls, leave out those without one, answer calls without one."""
    text = next(iter(writer.enforced_args("pair")), None)
    if text is None or not writer.whole:
        return messages
    rule = writer.rule("pair")
    calls, lost, pairs = _match(messages)
    if writer.repair_asked:
        messages = _align_names(writer, messages, pairs)
    early, lost = _match_early(writer, calls, lost)
    if writer.options.get("unasked") or writer.names_stored:  # their calls are known elsewhere
        lost = []
    answered = {id(call) for _, (_, call) in early}
    open_calls = [found for found in calls if id(found[1]) not in answered]
    if not writer.repair_asked:  # what the model said last may still be answered
        open_calls = [(i, call) for i, call in open_calls if i < len(messages) - 1]
    gone = {id(part) for part, _ in early} | {id(part) for _, part in lost}
    behind: dict[int, list[Part]] = {}
    settled = [part for _, part in (*open_calls, *lost)]
    for part, (i, call) in early:
        named = {**part, "name": call.get("name"), "tool_call_id": call.get("id")}
        part = part if named == part else replace_part(writer, part, named)
        behind.setdefault(i, []).append(part)
        settled += [part, call]
        writer.note_part("moved", "moved", part, BEHIND_CALL, rule)
    _forget_unpaired(writer, settled)
    for _, part in lost:
        writer.note_lost("unpaired", part, UNCALLED, rule)
    for i, call in open_calls:
        behind.setdefault(i, []).append(_filler_result(writer, call, text))
    if not gone and not behind:
        return messages
    return _rebuild(writer, messages, gone, behind)


def mark_freeform(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Say of a result that its call took freeform input, where results tell that on the wire."""
    if not writer.dialect.tells_freeform:
        return messages
    fresh = {
        id(part): {**part, "freeform": True}
        for part, call in _match(messages)[2]
        if "input" in call and "freeform" not in part
    }
    return replace_parts(writer, messages, fresh)


def _match(messages: list[Message]) -> tuple[list[Found], list[Found], Pairs]:
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


def _align_names(writer: WriteJob, messages: list[Message], pairs: Pairs) -> list[Message]:
    """Let results have the names of their calls."""
    other: dict[int, Part] = {}
    for part, call in pairs:
        if "name" in call and part.get("name", call["name"]) != call["name"]:
            fresh = other[id(part)] = {**part, "name": call["name"]}
            reason = f"a result of the call `{fresh['name']}` has another name"
            rule = writer.rule("pair")
            writer.note_part("renamed", "changed", part, reason, rule, "name", fresh)
    return replace_parts(writer, messages, other)


def _match_early(
    writer: WriteJob, calls: list[Found], lost: list[Found]
) -> tuple[list[tuple[Part, Found]], list[Found]]:
    """Return results that stand before their calls, with these, and those that stay lost."""
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
            taken.add(id(behind[0][1]))
            found.append((part, behind.popleft()))
        else:
            left.append((i, part))
    return found, left


def _filler_result(writer: WriteJob, call: Part, text: str) -> Part:
    """Return the result of a call that nobody answered, and note it."""
    made = {"type": "tool_result", "tool_call_id": call.get("id"), "kind": "error", "value": text}
    if "name" in call:
        made["name"] = call["name"]
    if id(call) in writer.made:
        writer.made.add(id(made))
    writer.made_results.add(id(made))
    reason = "no result of this call is there; the text of the rule answers it"
    writer.note_part("answered", "added", call, reason, writer.rule("pair"), now=made)
    return made


def _rebuild(
    writer: WriteJob, messages: list[Message], gone: set[int], behind: dict[int, list[Part]]
) -> list[Message]:
    """Return the messages without some parts, and with others behind the results of a turn."""
    out: list[Message] = []
    wanted: list[Part] = []
    for i, message in enumerate(messages):
        parts = [part for part in message.get("parts", ()) if id(part) not in gone]
        if message.get("role") != "tool" and wanted:
            out.append({"role": "tool", "parts": wanted})
            wanted = []
        if parts or not message.get("parts"):
            out.append(with_parts(writer, message, parts))
        else:
            note_beside_parts(writer, message, writer.rule("pair"))
        wanted = wanted + behind.get(i, [])
    if wanted:
        out.append({"role": "tool", "parts": wanted})
    return out


def _forget_unpaired(writer: WriteJob, parts: list[Part]) -> None:
    """Take back the notes that these parts have no counterpart."""
    names = {id(part) for part in parts}
    names |= {id(old) for old, new in writer.replaced.values() if id(new) in names}
    writer.notes = [
        draft
        for draft in writer.notes
        if draft.code != "unpaired" or draft.effect != "kept" or id(draft.place) not in names
    ]
