"""Limits on names and ids: deterministic, collision-free renaming to what a dialect takes."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from ..ir import FUNCTION

_PLACES = {
    ("tool_call", "name"): "tool_name",
    ("tool_result", "name"): "tool_name",
    (FUNCTION, "name"): "tool_name",
    ("custom", "name"): "tool_name",
    ("", "tool_choice.name"): "tool_name",
    ("", "tool_choice.allowed"): "tool_name",
    ("tool_call", "id"): "call_id",
    ("tool_result", "tool_call_id"): "call_id",
}


class Limits:
    """The limits of one dialect and the renamings of one conversion.

    `{first, rest, min, max}`: the characters of the first and the other places, and the length.
    """

    def __init__(self, limits: dict[str, dict[str, Any]]) -> None:
        self.limits = limits
        self._full = {kind: re.compile(_pattern(limit)) for kind, limit in limits.items()}
        self._map: dict[tuple[str, str], str] = {}
        self._taken: dict[str, set[str]] = {kind: set() for kind in limits}

    def kind(self, obj: dict[str, Any], path: str) -> str | None:
        """Return `tool_name` or `call_id` when a limit holds for a field, else None."""
        if not self.limits:
            return None
        what = obj.get("type")
        if what is None and path == "name" and "role" not in obj and "parts" not in obj:
            what = FUNCTION
        found = _PLACES.get((what or "", path)) or _PLACES.get(("", path))
        return found if found in self.limits else None

    def reserve(self, kind: str, name: str) -> None:
        """Keep a name that fits from being taken by a renamed one."""
        if kind in self.limits and self._full[kind].fullmatch(name):
            self._taken[kind].add(name)

    def fits(self, kind: str, name: str) -> bool:
        """Tell whether a name is within the limit of its kind, if there is one."""
        return kind not in self.limits or self._full[kind].fullmatch(name) is not None

    def needs(self, kind: str) -> bool:
        """Tell whether nothing may be without a name of a kind: it has one sign at least."""
        return "min" in self.limits.get(kind, ())

    def remember(self, kind: str, name: str, written: str) -> None:
        """Write a name as it was written before, unless another name is that already."""
        if kind in self.limits and (name == written or written not in self._taken[kind]):
            self._map[kind, name] = written
            self._taken[kind].add(written)

    def renamed(self) -> dict[tuple[str, str], str]:
        """Return what was written for each name that did not fit, by kind and name."""
        return {key: made for key, made in self._map.items() if key[1] != made}

    def fit(self, kind: str, name: Any) -> Any:
        """Return the name itself when it fits, else its one renaming."""
        if not isinstance(name, str) or self._full[kind].fullmatch(name):
            return name
        known = self._map.get((kind, name))
        if known is None:
            known = self._made(kind, name)
            self._map[kind, name] = known
            self._taken[kind].add(known)
        return known

    def _made(self, kind: str, name: str) -> str:
        limit, full = self.limits[kind], self._full[kind]
        top = int(limit.get("max", 64))
        rest = re.compile(f"[{limit['rest']}]")
        gap = next((c for c in "_-" if rest.fullmatch(c)), "")
        text = "".join(c if rest.fullmatch(c) else gap for c in name)[:top]
        if full.fullmatch(text) and text not in self._taken[kind]:
            return text
        for turn in range(1000):
            digest = hashlib.sha256(f"{name}/{turn}".encode("utf-8", "replace")).hexdigest()
            tail = digest[: min(8, top)]
            room = max(0, top - len(tail) - len(gap))
            plain = ("x" + tail)[:top].ljust(int(limit.get("min", 1)), "0")
            for made in (text[:room] + gap + tail, ("t" + text)[:room] + gap + tail, plain):
                if full.fullmatch(made) and made not in self._taken[kind]:
                    return made
        return name


def _pattern(limit: dict[str, Any]) -> str:
    low, top = int(limit.get("min", 1)), int(limit.get("max", 10_000))
    first, rest = limit.get("first", limit["rest"]), limit["rest"]
    return f"[{first}][{rest}]{{{max(0, low - 1)},{top - 1}}}"
