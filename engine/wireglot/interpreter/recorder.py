"""The recorder: what reading and writing tell of each place, where somebody wants a trace.

It brings the trail, which the reader and the writer of one conversion share; without a trace
there is none. It only collects: `provenance` makes a trace of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..language.picture import Fields, Literal, Text
from ..trail import At, Trail

if TYPE_CHECKING:
    from ..language.ladder import Row
    from ..language.picture import Picture
    from ..language.source import Pos
    from .env import Env
    from .views import Written


class Whole(NamedTuple):
    """Where a value of the output stood, that went through as it is."""

    at: At
    pos: Pos | None


class Made(NamedTuple):
    """An id that a document has, and that comes from its place among others alone."""

    what: str
    pos: Pos | None


class Recorder:
    """What one conversion tells; objects are kept by identity, and so they are held."""

    def __init__(self) -> None:
        self.trail = Trail(self)
        self.said: dict[At, dict[At, Pos]] = {}  # fixed words, by the object that they are of
        self.by_case: dict[tuple[At, int], list[At]] = {}
        self.chosen: dict[tuple[At, str], tuple[list[At], Pos]] = {}  # fields that a case gives
        self.nulls: dict[tuple[At, str], list[At]] = {}  # fields that were null or empty
        self.reads: dict[At, Picture] = {}  # what a place of the input was read by
        self.silent: dict[At, tuple[str, Pos | None]] = {}  # what says nothing, and why
        self.defaults: dict[tuple[At, str], Pos] = {}  # fields that absence stands for
        self.also: dict[At, list[At]] = {}  # the other terms of a sum, by its place
        self.names: dict[str, At] = {}  # names of calls, by their ids
        self.hooked: dict[int, tuple[Any, str]] = {}  # parts that a hook gave an id, and which
        self.rows: dict[int, tuple[Any, Row, Any]] = {}  # what the ladder made, of what
        self.made_of: dict[tuple[int, str], tuple[Any, list[At]]] = {}  # fields, by a row
        self.items: dict[int, tuple[list[Any], list[At]]] = {}  # where elements of lists stood
        self.place: At | None = None  # of the element that is written, where it is a word
        self.envelope: Any = None
        self.top: Written | None = None  # where the whole output is what one picture writes
        self._written: dict[tuple[int, Any], tuple[Any, Written | Whole | Made]] = {}
        self._wholes: dict[int, tuple[Any, Whole]] = {}
        self._bare: list[tuple[Any, Written]] = []

    # -- reading ----------------------------------------------------------------------------------

    def say(self, env: Env, at: At, picture: Picture) -> None:
        """A fixed word stood at `at`, of the object that is read."""
        self.said.setdefault(env.base, {})[at] = picture.pos
        self.by_case.setdefault((env.base, id(env.case)), []).append(at)

    def nothing(self, env: Env, path: str, at: At) -> None:
        """Null or an empty list stood for a field."""
        self.nulls.setdefault((env.base, path), []).append(at)

    def fill(self, ir: Fields, env: Env, path: str = "") -> None:
        """The `ir` picture of a case gives fields that stand nowhere: its words chose them."""
        for (name, *_), child in ir.entries:
            here = f"{path}.{name}" if path else name
            if isinstance(child, Fields):
                self.fill(child, env, here)
            elif isinstance(child, Literal):
                chose = self.by_case.get((env.base, id(env.case)), [])
                self.chosen[env.base, here] = (chose, child.pos)

    def mark_redundant(self, at: At, why: str, pos: Pos | None) -> None:
        """What stands at `at` says nothing that the rest does not say."""
        self.silent[at] = (why, pos)

    def item(self, found: list[Any], at: At, number: int) -> None:
        """The last elements of a list were read at a place: words have no other trail."""
        places = self.items.setdefault(id(found), (found, []))[1]
        places.extend([at] * number)

    def texts(self, ir: Fields, made: Any, found: dict[str, tuple[Any, At | None]]) -> None:
        """Fields of an IR value were made by text pictures of what was found."""
        for (key, *_), child in ir.entries:
            if isinstance(child, Text):
                at = [found[name][1] for name in child.names if name in found]
                self.made_of[id(made), key] = (made, [one for one in at if one is not None])

    # -- writing ----------------------------------------------------------------------------------

    def wrote(self, owner: Any, key: Any, value: Any, made: Written) -> None:
        """`owner[key]` was written by a picture; a bare word by the picture that made it."""
        mode, path = getattr(made.picture, "mode", None), getattr(made.picture, "path", "")
        if mode in ("as", "each") or path == ".":
            made = self._bare_within(value, made) or made
        self._written[id(owner), key] = (owner, made)

    def bare(self, wire: Any, made: Written) -> None:
        """A shape has written something by one hole or word alone: its place will be told."""
        if not isinstance(made.picture, Fields):
            self._bare.append((wire, made))

    def element(self, owner: list[Any], place: int, part: Any, made: Written) -> None:
        """An element of a list was written of a part, and is no object."""
        made = self._bare_of(part, owner[place]) or made
        self._written[id(owner), place] = (owner, made)

    def _bare_within(self, value: Any, made: Written) -> Written | None:
        """Return what wrote a value within a picture, by one hole or word alone."""
        shares = made.view.lists.get(getattr(made.picture, "path", ""), {})
        pairs = shares.get(id(made.picture), ())
        if len(pairs) != 1:
            return self.made_bare(value)
        part, wire = pairs[0]  # a list of one element, which stands for it
        return self._bare_of(part, value) if wire is value else None

    def _bare_of(self, part: Any, value: Any) -> Written | None:
        """Return what wrote a part as a value; equal texts may be one object."""
        found = (bare for wire, bare in reversed(self._bare) if wire is value)
        return next((bare for bare in found if bare.view.obj is part), None)

    def word(self, parts: list[Any], number: int) -> None:
        """An element of a list will be written now."""
        places = self.items.get(id(parts), (parts, []))[1]
        known = number < len(places) and not isinstance(parts[number], dict)
        self.place = places[number] if known else None

    def passed(self, owner: Any, key: Any, at: At) -> None:
        """`owner[key]` stood at `at` and is put back."""
        self._written[id(owner), key] = (owner, Whole(at, None))

    def made(self, owner: Any, key: Any, what: str, pos: Pos | None) -> None:
        """`owner[key]` is an id that stood nowhere."""
        self._written[id(owner), key] = (owner, Made(what, pos))

    def repeat(self, old: Any, key: Any, owner: Any, name: Any) -> None:
        """`owner[name]` says once more what stands under a key of another object."""
        if (found := self._written.get((id(old), key))) is not None:
            self._written[id(owner), name] = (owner, found[1])

    def whole(self, value: Any, at: At, pos: Pos | None) -> None:
        """A value stood at `at` and goes through as it is."""
        if isinstance(value, dict | list):
            self._wholes[id(value)] = (value, Whole(at, pos))

    def copy(self, old: Any, new: Any, *keys: Any) -> None:
        """The keys of one object, or some of them, now stand in another."""
        for key in keys or old:
            self.repeat(old, key, new, key)

    def again(self, old: Any, new: Any) -> None:
        """What a row of the ladder made, or text pictures, was copied."""
        if id(old) in self.rows:
            self.rows[id(new)] = (new, *self.rows[id(old)][1:])
        for key in old if isinstance(old, dict) else ():
            if (id(old), key) in self.made_of:
                self.made_of[id(new), key] = (new, self.made_of[id(old), key][1])

    def step(self, row: Row, old: Any, new: Any) -> None:
        """A row of the ladder made one IR value of another."""
        self.rows[id(new)] = (new, row, old)

    # -- what was told ----------------------------------------------------------------------------

    def made_at(self, owner: Any, path: str) -> list[At]:
        """Return the places that a field (dotted path) was made of, where it did not stand."""
        found: list[At] = []
        for key in path.split("."):
            if not isinstance(owner, dict):
                break
            found = self.made_of.get((id(owner), key), (None, found))[1]
            owner = owner.get(key)
        return found

    def made_bare(self, value: Any) -> Written | None:
        """Return what wrote a value last, by one hole or word alone."""
        found = bool(self._bare) and self._bare[-1][0] is value
        return self._bare[-1][1] if found else None

    def at(self, owner: Any, key: Any) -> Written | Whole | Made | None:
        """Return what wrote `owner[key]`."""
        found = self._written.get((id(owner), key))
        return None if found is None else found[1]

    def gone_through(self, value: Any) -> Whole | None:
        """Return where a value stood that went through as it is."""
        found = self._wholes.get(id(value))
        return None if found is None else found[1]
