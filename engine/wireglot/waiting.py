"""Calls that wait for their results, and which of them a result is for."""

from __future__ import annotations

from collections import deque
from typing import Any


class Waiting:
    """Calls without a result, in their order; each is looked at once, however many there are."""

    def __init__(self) -> None:
        # By what they are found by: those of the last turn that has any, and those before it.
        self._by: dict[tuple[str, Any], tuple[deque[tuple[Any, int]], list[tuple[Any, int]]]] = {}
        self._answered: set[int] = set()
        self._count = 0
        self._turn = 0  # the first call of the last turn
        self._over = False

    def over(self) -> None:
        """Let the next call begin a turn."""
        self._over = True

    def add(self, call: Any, *names: tuple[str, Any]) -> None:
        """Add a call, and what it is found by: its id, its name, or nothing but its place."""
        if self._over:
            self._turn, self._over = self._count, False
        for name in names:
            self._named(name)[0].append((call, self._count))
        self._count += 1

    def take(self, name: tuple[str, Any], many: int) -> list[Any]:
        """Let so many calls of an id or a name, or of all, wait no longer; return them.

        They are those of the last turn, and where it has too few the latest before it, too.
        """
        turn, before = self._named(name)
        found: deque[tuple[Any, int]] = deque()
        while turn and len(found) < many:
            call = turn.popleft()
            if call[1] not in self._answered:
                found.append(call)
        while before and len(found) < many:
            call = before.pop()
            if call[1] not in self._answered:
                found.appendleft(call)
        self._answered.update(nth for _, nth in found)
        return [call for call, _ in found]

    def _named(self, name: tuple[str, Any]) -> tuple[deque[tuple[Any, int]], list[tuple[Any, int]]]:
        """Return the calls that are found by a name: those of the last turn, and those before."""
        turn, before = self._by.setdefault(name, (deque(), []))
        if turn and turn[-1][1] < self._turn:
            before += turn
            turn.clear()
        return turn, before
