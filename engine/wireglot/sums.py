"""Sums on the wire: solved for the term that nothing else gives, or checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import picture as pic
from .env import Env, show
from .lenses import Misfit, guard, same
from .picture import ABSENT, Hole
from .trail import At, pointer

if TYPE_CHECKING:
    from .reader import Reader


def solve(reader: Reader, h: Hole, wire: Any, at: At, rel: At, env: Env) -> bool:
    """Bind the first term of a sum that nothing else binds; check the sum otherwise.

    Returns False when there is no number that could be solved.
    """
    if wire is ABSENT or wire is None or not guard("integer", wire):
        return False
    alone = {x.path for x in pic.holes(env.case.wire) if len(x.paths) == 1}
    total, unknown = 0, []
    for path in h.paths:
        value = env.fields.get(path, (ABSENT, None))[0]
        if value is not ABSENT:
            total += value
        elif path not in alone and path not in env.settled:
            unknown.append(path)
    env.settled.update(h.paths)
    if unknown and wire >= total:
        env.put(unknown[0], wire - total, at)
        return True
    if unknown:
        env.put(unknown[0], 0, at)
    if wire != total:
        env.spell(rel, wire, total)
        told = f"{wire} stands where the parts make {total}"
        env.notes.append(("inconsistent", "changed", at, h.pos, told))
    return True


def unsolved(reader: Reader, h: Hole, wire: Any, at: At, rel: At, env: Env) -> None:
    """Remember what stands where writing would put the sum of the other terms."""
    absent = wire is ABSENT or wire is None
    if h.mark is None or not (absent or env.lenient):
        raise Misfit(f"expected a whole number, got {show(wire)}", at, h.pos)
    found = [env.fields[path][0] for path in h.paths if path in env.fields]
    written = sum(found) if found else h.value if h.mark in ("default", "else") else ABSENT
    if wire is not written and not (wire is not ABSENT and same(wire, written)):
        env.spell(rel, wire, written)
    if not absent:
        env.kept[pointer(at[len(env.base) :])] = wire
        told = f"expected a whole number, got {show(wire)}"
        env.notes.append(("unfit", "kept", at, h.pos, told))
