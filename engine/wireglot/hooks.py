"""The registered hooks: the only Python that a rule file can ask for, by name.

`call-ids` serves dialects whose calls often have no id (Gemini). State it needs: the seed of the
response, or a chain over the messages of a request, and the place of each call (`seeds`). The ids
are made from these alone, so the same payload always gets the same ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from .seeds import Chain, call_id, left_out, made_anew
from .trail import Trail
from .waiting import Waiting

Part = dict[str, Any]
Hook = Callable[[Part, Any, str, Trail], list[Part]]  # returns the parts that it has changed
Stood = tuple[int | None, Part, Part]  # the number of the answer, the owner, and the part in it
_KEYS: dict[Any, str] = {"tool_call": "id", "tool_result": "tool_call_id"}


class _Maker:
    """Makes ids for the calls of one payload; no other call of it has them."""

    def __init__(self, ir: Part, body: Any, trail: Trail) -> None:
        self._chain, self._trail, self._count = Chain(body), trail, Counter[str]()
        self.calls: dict[Any, str] = {}  # those whose ids are made, by their places
        calls = (p for _, one in _owners(ir) for p in _parts(one) if p.get("type") == "tool_call")
        self.told = {call["id"] for call in calls if "id" in call}  # with which they came
        self.taken = {*self.told}

    def id(self, candidate: int | None, owner: Part, part: Part) -> str:
        """Return the id of a call of a message, or of a result that has none."""
        seed, result = self._trail.seed, part.get("type") == "tool_result"
        if candidate is not None and seed is not None:
            nth = self._next(f"{candidate}/results" if result else str(candidate))
            made = seed.call(candidate, nth, part, self.taken, result)
        else:
            text = self._chain.at(self._trail.find(owner) or self._trail.find(part) or ())
            made = call_id(text, str(self._next(text)), self.taken)
        self.taken.add(made)
        return made

    def skip(self, candidate: int | None) -> None:
        """Count a call of an answer that has an id."""
        if candidate is not None:
            self._next(str(candidate))

    def _next(self, text: str) -> int:
        self._count[text] += 1
        return self._count[text] - 1


def call_ids(ir: Part, body: Any, dialect: str, trail: Trail) -> list[Part]:
    """Give every call an id, and every result without one the id of its call.

    Results are paired by the call that they stand in, by name in the order of the calls, else by
    order alone: with those of the last turn first, for a call before it may have been given up. A
    made id is remembered as absent, so that the same dialect leaves it out again. A call without an
    id has that of its result, where this came with one that is no call's. Returns the parts whose
    ids are made.
    """
    if _all_have(ir):
        return []
    maker = _Maker(ir, body, trail)
    made: list[Part] = []
    waiting = Waiting()
    results: list[Stood] = []  # behind the last call
    for candidate, owner in _owners(ir):
        if owner.get("role", "assistant") != "assistant":
            waiting.over()
        for part in _parts(owner):
            if part.get("type") == "tool_call":
                made += _answered(results, waiting, maker, dialect, trail)
                if "id" not in part:
                    part["id"] = maker.calls[trail.find(part)] = maker.id(candidate, owner, part)
                    left_out(part, dialect, "id")
                    made.append(part)
                else:
                    maker.skip(candidate)
                names = ("id", part["id"]), ("name", str(part.get("name"))), ("", "")
                waiting.add(part, *names)
            elif part.get("type") == "tool_result":
                results.append((candidate, owner, part))
    return made + _answered(results, waiting, maker, dialect, trail)


def _answered(
    results: list[Stood], waiting: Waiting, maker: _Maker, dialect: str, trail: Trail
) -> list[Part]:
    """Give results the ids of their calls; take them all, and return those that had none."""
    alike: dict[tuple[str, Any], list[Part]] = {}
    for _, _, part in results:
        key = part["tool_call_id"] if "tool_call_id" in part else trail.around(part, maker.calls)
        name = ("name", part["name"]) if part.get("name") is not None else ("", "")
        alike.setdefault(("id", key) if key in maker.taken else name, []).append(part)
    found: dict[int, Part] = {}
    for what in sorted(alike, key=lambda what: ("id", "name", "").index(what[0])):
        parts = alike[what]
        found.update(zip(map(id, parts), waiting.take(what, len(parts)), strict=False))
    made = []
    for candidate, owner, part in results:
        call, key = found.get(id(part)), part.get("tool_call_id")
        if key is None:
            part["tool_call_id"] = maker.id(candidate, owner, part) if call is None else call["id"]
            left_out(part, dialect, "tool_call_id")
            made.append(part)
        elif call is not None and call["id"] not in maker.told and key not in maker.taken:
            maker.taken.add(key)
            made_anew(call, dialect, "id", key)
    results.clear()
    return made


def _all_have(ir: Part) -> bool:
    """Tell whether all calls and results have ids: mostly they do."""
    alone = {"parts": [ir] if "type" in ir else []}
    for owner in (*(ir.get("candidates") or ()), *(ir.get("messages") or ()), alone):
        for part in owner.get("parts", ()) if isinstance(owner, dict) else ():
            if isinstance(part, dict) and _KEYS.get(part.get("type"), "type") not in part:
                return False
    return True


def _owners(ir: Part) -> Iterator[tuple[int | None, Part]]:
    """Yield what parts stand in, with the numbers of candidates; a part alone stands in itself."""
    owners: list[tuple[int | None, Any]] = list(enumerate(ir.get("candidates") or ()))
    owners += [(None, one) for one in ir.get("messages") or ()]
    yield from ((nth, owner) for nth, owner in owners if isinstance(owner, dict))
    if ir.get("type") in _KEYS:
        yield None, ir


def _parts(owner: Part) -> list[Part]:
    """Return the parts of an owner, or itself, where it is one."""
    parts = [owner] if owner.get("type") in _KEYS else owner.get("parts", ())
    return [part for part in parts if isinstance(part, dict)]


HOOKS: dict[str, Hook] = {"call-ids": call_ids}
