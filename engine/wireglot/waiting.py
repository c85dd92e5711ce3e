"""Calls that wait for their results, and which of them a result is for."""

from __future__ import annotations

from typing import Any


class Waiting:
    """Calls without a result, in their order; few are looked at twice, however many there are."""

    def __init__(self) -> None:
        self._by: dict[tuple[str, Any], list[tuple[Any, int]]] = {}
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
            self._by.setdefault(name, []).append((call, self._count))
        self._count += 1

    def take(self, name: tuple[str, Any], many: int) -> list[Any]:
        """Let so many calls of an id or a name, or of all, wait no longer; return them.

        They are those of the last turn, and where it has too few the latest before it, too.
        """
        calls = self._by.get(name, [])
        late: list[tuple[Any, int]] = []
        while calls and (calls[-1][1] >= self._turn or len(late) < many):
            call = calls.pop()
            if call[1] not in self._answered:
                late.append(call)
        late.reverse()
        calls += late[many:]
        self._answered.update(nth for _, nth in late[:many])
        return [call for call, _ in late[:many]]
