"""Limits on names and ids: deterministic, collision-free renaming to what a dialect takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..ir import FUNCTION

if TYPE_CHECKING:
    from ..language.model import Dialect

TOLD, PROPERTY = "tool_name", "property"
_READ = (TOLD, PROPERTY)  # a model reads these, and understands them better without a digest
_PLACES = {
    ("tool_call", "name"): "tool_name",
    ("tool_result", "name"): "tool_name",
    (FUNCTION, "name"): "tool_name",
    ("custom", "name"): "tool_name",
    ("json_schema", "name"): "response_format.name",
    ("", "user"): "request.user",
    ("", "tool_choice.name"): "tool_name",
    ("", "tool_choice.allowed"): "tool_name",
    ("tool_call", "id"): "call_id",
    ("tool_result", "tool_call_id"): "call_id",
}
# The same by the type of what has them: fields, and the limits that hold for these.
_FIELDS = {
    what: [(path, kind) for (one, path), kind in _PLACES.items() if one == what]
    for what, _ in _PLACES
}


def limit_of(dialect: Dialect, what: str | None, path: str) -> str | None:
    """Return the limit on a field of objects of a type; "" where only the object tells it."""
    if not dialect.limits:
        return None
    if what is not None or ("", path) in _PLACES:
        found = _PLACES.get((what or "", path)) or _PLACES.get(("", path)) or f"{what}.{path}"
        return found if found in dialect.limits else None
    more = (kind.partition(".")[2] for kind in dialect.limits)
    paths = {place for _, place in _PLACES} | set(more)
    return "" if path in paths else None


def requires_id(limits: dict[str, dict[str, Any]]) -> bool:
    """Tell whether no call or result may be without an id: one has a character at least."""
    return "min" in limits.get("call_id", ())


class Limits:
    """The limits of one dialect and the renamings of one conversion.

    `{first, chars, min, max}`: the characters of the first and the other places, and the length.
    """

    def __init__(self, limits: dict[str, dict[str, Any]]) -> None:
        self.limits = limits
        self._full: dict[str, Callable[[str], Any]] = {}  # by kind: what tells whether one fits
        self._map: dict[tuple[str, str], str] = {}
        # What is written, and for which name; for none where it would be said of two.
        self._of: dict[str, dict[str, str]] = {}
        self._waiting: Any = None

    def kind(self, obj: dict[str, Any], path: str) -> str | None:
        """Return the limit that holds for a field, `tool_name`, `call_id` or its own, else None."""
        if not self.limits:
            return None
        said = "role" in obj or "parts" in obj
        what = obj.get("type") or ("message" if said else FUNCTION)
        found = _PLACES.get((what, path)) or _PLACES.get(("", path)) or f"{what}.{path}"
        return found if found in self.limits else None

    def later(self, ir: Any) -> None:
        """Let the names of an IR value be reserved once one does not fit: mostly all fit."""
        self._waiting = ir

    def _reserved(self) -> None:
        """Keep the names and ids that fit from being taken by renamed ones."""
        ir, self._waiting = self._waiting, None
        if not isinstance(ir, dict):
            return
        for tool in ir.get("tools") or ():
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                self.reserve("tool_name", tool["name"])
        for message in (*(ir.get("messages") or ()), *(ir.get("candidates") or ())):
            for part in message.get("parts", ()) if isinstance(message, dict) else ():
                fields = _FIELDS.get(str(part.get("type")), ()) if isinstance(part, dict) else ()
                for key, kind in fields:
                    if isinstance(part.get(key), str):
                        self.reserve(kind, part[key])

    def _within(self, kind: str, name: str) -> bool:
        """Tell whether a name is within the limit of its kind, which has one."""
        if kind not in self._full:
            self._full[kind] = pattern_of(self.limits[kind])
        return self._full[kind](name) is not None

    def _taken(self, kind: str) -> dict[str, str]:
        """Return what is written of a kind, and for which name."""
        if self._waiting is not None:
            self._reserved()
        return self._of.setdefault(kind, {})

    def reserve(self, kind: str, name: str) -> None:
        """Keep what a name is written as from being written for another one, whichever is first."""
        if kind not in self.limits:
            return
        taken = self._taken(kind)
        if self.fits(kind, name):
            taken[name] = name
        elif kind in _READ:
            form = self._spelling(kind, name)[0]
            other = taken.setdefault(form, name)
            if other not in (name, form):
                taken[form] = ""

    def fits(self, kind: str, name: str) -> bool:
        """Tell whether a name is within the limit of its kind, if there is one."""
        return kind not in self.limits or self._within(kind, name)

    def remember(self, kind: str, name: str, written: str) -> None:
        """Write a name as it was written before, unless another name is that already."""
        if kind not in self.limits:
            return
        taken = self._taken(kind)
        if name == written or taken.get(written) != written:
            self._map[kind, name] = written
            taken[written] = name

    def renamed(self) -> dict[tuple[str, str], str]:
        """Return what was written for each name that did not fit, by kind and name."""
        return {key: made for key, made in self._map.items() if key[1] != made}

    def fit(self, kind: str, name: Any) -> Any:
        """Return the name itself when it fits, else its one renaming."""
        if not isinstance(name, str) or self._within(kind, name):
            return name
        if "." in kind:  # what nothing else names; where it must not come again is seen to apart
            if not name and "min" not in self.limits[kind]:
                return name  # it says nothing, and nothing is made up for it
            return next(self.forms(kind, name), name)
        taken, known = self._taken(kind), self._map.get((kind, name))
        if known is None:
            known = name
            for form in self.forms(kind, name):
                if taken.setdefault(form, name) == name:  # it is taken now, by this one
                    known = form
                    break
            self._map[kind, name] = known
        return known

    def forms(self, kind: str, name: str) -> Iterator[str]:
        """Yield what a name may be written as, first what says most; it depends on nothing else."""
        import hashlib  # few names are too long

        limit = self.limits[kind]
        top, (text, gap) = int(limit.get("max", 64)), self._spelling(kind, name)
        if (kind in _READ or "." in kind) and self._within(kind, text):
            yield text
        for turn in range(1000):
            digest = hashlib.sha256(f"{name}/{turn}".encode("utf-8", "replace")).hexdigest()
            tail = digest[: min(8, top)]
            room = max(0, top - len(tail) - len(gap))
            plain = ("x" + tail)[:top].ljust(int(limit.get("min", 1)), "0")
            made = (text[:room] + gap + tail, ("t" + text)[:room] + gap + tail, plain)
            yield from (form for form in made if self._within(kind, form))

    def _spelling(self, kind: str, name: str) -> tuple[str, str]:
        """Return a name without characters that the limit does not take, and what stands there."""
        rest = self.limits[kind]["chars"]
        others = rest[1:] if rest[:1] == "^" else f"^{rest}"
        gap = next((c for c in "_-" if re.fullmatch(f"[{rest}]", c)), "")
        return re.sub(f"[{others}]", gap, name), gap


def pattern_of(limit: dict[str, Any]) -> Callable[[str], Any]:
    """Return what tells whether a text is within a limit."""
    low, top = int(limit.get("min", 1)), int(limit.get("max", 10_000))
    first, rest = limit.get("first", limit["chars"]), limit["chars"]
    return re.compile(f"[{first}][{rest}]{{{max(0, low - 1)},{top - 1}}}").fullmatch
