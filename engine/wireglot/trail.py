"""The trail: which place of the payload each part of an IR came from, and RFC 6901 pointers."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

At = tuple[Any, ...]
HOLDERS = (dict, list)
IN_TEXT = object()  # a key: what stands below is said in a text, which is the place of it all
Late = tuple[Any, At | None, Any, Any]
FEW = 8  # owners that are asked for before all that was read is sorted by them


class Listener(Protocol):
    """Who is told of steps on the way of a value; the recorder of a trace is one."""

    made_of: dict[tuple[int, str], tuple[Any, list[At]]]

    def again(self, old: Any, new: Any) -> None: ...
    def step(self, row: Any, old: Any, new: Any) -> None: ...
    def made_at(self, owner: Any, path: str) -> list[At]: ...


class Weighing(Protocol):
    """What the loss of a field of one dialect alone weighs; `model.Weights` is one."""

    @property
    def repeated(self) -> Collection[str]: ...
    @property
    def slight(self) -> Mapping[str, str]: ...
    @property
    def usual(self) -> Mapping[str, Any]: ...


class Source(Protocol):
    """The dialect that a payload is of; `model.Dialect` is one."""

    name: str
    family: str

    @property
    def weights(self) -> Weighing: ...


class Ids(Protocol):
    """What the ids of a response are made of; `seeds.Seed` is one."""

    def text(self) -> str: ...
    def call(
        self,
        candidate: int,
        nth: int,
        part: dict[str, Any] | None,
        taken: set[str],
        result: bool = False,
    ) -> str: ...


@functools.lru_cache(8192)  # the same places come again and again
def pointer(at: At) -> str:
    """Write a path of keys and indices as an RFC 6901 pointer."""
    at = at[: at.index(IN_TEXT)] if IN_TEXT in at else at
    return "".join("/" + str(k).replace("~", "~0").replace("/", "~1") for k in at)


def path_of(at: At) -> str:
    """Write a path of keys and indices as a field path: `messages[].content[].text`."""
    return "".join("[]" if isinstance(k, int) else f".{k}" for k in at).lstrip(".")


def keys_of(text: str) -> list[str]:
    """Split an RFC 6901 pointer into its keys."""
    return [k.replace("~1", "/").replace("~0", "~") for k in text.split("/")[1:]]


def within(place: str, at: str) -> bool:
    """Tell whether a pointer is that of a place, or leads to something in it."""
    return at == place or at.startswith(f"{place}/")


def touch(one: str, other: str) -> bool:
    """Tell whether one of two pointers leads to something in the place of the other."""
    return within(one, other) or within(other, one)


def place_of(body: Any, text: str) -> At:
    """Return the keys and indices of an RFC 6901 pointer into a body."""
    at: list[Any] = []
    for key in keys_of(text):
        at.append(int(key) if isinstance(body, list) and key.isdecimal() else key)
        body = value_at(body, at[-1:])
    return tuple(at)


def put(value: dict[str, Any], keys: Sequence[str], leaf: Any) -> bool:
    """Put a leaf at a path of keys where nothing stands; tell whether it was put.

    The objects on the way may be the caller's: they are copied.
    """
    if value_at(value, keys, missing=keys) is not keys:
        return False
    for key in keys[:-1]:
        inner = value.get(key, {})
        if not isinstance(inner, dict):
            return False
        value[key] = value = dict(inner)
    value[keys[-1]] = leaf
    return True


def value_at(value: Any, at: Sequence[Any], missing: Any = None) -> Any:
    """Return what stands at a path of keys and indices, `missing` where nothing does."""
    for key in at:
        if isinstance(value, dict):
            there = key in value
        else:
            there = isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value)
        if not there:
            return missing
        value = value[key]
    return value


def everywhere(value: Any) -> Iterator[tuple[At, Any]]:
    """Yield a JSON value and all that stands in it, in its order, each with its place."""
    stack: list[tuple[At, Any]] = [((), value)]
    while stack:
        at, one = stack.pop()
        yield at, one
        if isinstance(one, dict):
            stack += [((*at, key), one[key]) for key in reversed(one)]
        elif isinstance(one, list):
            stack += [((*at, i), one[i]) for i in range(len(one) - 1, -1, -1)]


def leaves(value: Any) -> Iterator[tuple[At, Any]]:
    """Yield the leaves of a JSON value with their places: scalars and empty containers."""
    return ((at, one) for at, one in everywhere(value) if not (one and isinstance(one, HOLDERS)))


class Trail:
    """Where the fields of IR dicts came from; keyed by identity, so the dicts are held."""

    __slots__ = (
        "_asked", "_at", "_held", "_inside", "_waiting", "late", "recorder", "respelled", "seed",
        "source", "was",
    )  # fmt: skip

    def __init__(self, recorder: Listener | None = None) -> None:
        self.recorder = recorder  # told of every place, where somebody wants a trace
        self.seed: Ids | None = None  # of the ids that are made for a response
        self.source: Source | None = None  # the dialect that it was read of
        self.was: dict[int, str] = {}  # ids of its calls that the source gave to several, or none
        self._at: dict[int, dict[Any, At]] = {}
        self._inside: dict[int, dict[Any, At]] = {}  # the same, of nodes of respelled schemas
        self._held: list[Any] = []
        self._asked = 0  # how often places were looked for among what was read lately
        self._waiting: dict[int, tuple[Late, ...]] = {}  # of `late`, by owners
        # What was read lately and nobody has asked for: owner, place, table of paths of its fields
        # below that, fields that it had then. Without a place they are absolute; without a table
        # the owner came as a text. Instead of a table a function may stand that puts
        # the places: it is called with all of them, and the trail.
        self.late: list[Late] = []
        # Schemas that were read in other words: what traces one, as it came, as it was read, where.
        self.respelled: list[tuple[Any, Any, Any, At]] = []

    def _settle(self) -> None:
        """Put what was read lately, that of each owner together."""
        late, waiting = self.late[:], self._waiting
        self.late.clear()
        for entry in late:
            owner, at, table, fields = entry
            if table.__class__ is dict:
                key = id(owner)
                waiting[key] = (*waiting[key], entry) if key in waiting else (entry,)
            elif table is None:
                self._inside[id(owner)] = {}
                self._held.append(owner)
            elif table is not _copied or not self._shares(owner, id(fields)):
                table(owner, fields, at, self)

    def _shares(self, new: Any, old: int) -> bool:
        """Let an object nobody knows share the places of one of which nothing is spread yet."""
        found, key = self._waiting.get(old), id(new)
        if found is None or old in self._at or key in self._at or key in self._waiting:
            return False
        self._waiting[key] = tuple([(new, *entry[1:]) for entry in found])
        return True

    def _places(self, owner: Any) -> dict[Any, At]:
        """Return the places of an object and its fields, as far as they are known."""
        if self.late:
            self._settle()
        key = id(owner)
        if key not in self._waiting:
            return self._at.get(key, {})
        places = self._at.setdefault(key, {})
        self._held.append(owner)
        for entry in self._waiting.pop(key):
            for field in (None, *entry[3]):
                if (found := _below(entry, field)) is not None:
                    places[field] = found
        return places

    def put(self, owner: Any, key: Any, at: At | None) -> None:
        """Say that `owner[key]` (or the owner itself, for None) came from `at`."""
        if at is None:
            return
        places = self._places(owner)
        if id(owner) not in self._at:
            self._at[id(owner)] = places
            self._held.append(owner)
        places[key] = at

    def move(self, moved: dict[At, At]) -> None:
        """Say that what came from some places, and from below them, came from others."""
        if not moved:
            return
        if self.late:
            self._settle()
        for owner in [entry[0] for waiting in self._waiting.values() for entry in waiting[:1]]:
            self._at[id(owner)] = self._places(owner)
        for places in self._at.values():
            for key, at in places.items():
                if at[:2] in moved:
                    places[key] = moved[at[:2]] + at[2:]

    def find(self, owner: Any, path: str | None = None) -> At | None:
        """Return where a field (dotted path) or the owner came from, or None."""
        if path is None or "." not in path or path[0] == ".":  # `../N` is a place of its own
            return self._place(owner, path)
        head, _, rest = path.partition(".")
        inner = owner.get(head) if isinstance(owner, dict) else None
        if isinstance(inner, dict):
            found = self.find(inner, rest)
            if found is not None:
                return found
        return self._place(owner, head)

    def around(self, inner: Any, at: Mapping[Any, str]) -> str | None:
        """Return what stands at a place within which an owner stood, or None."""
        here = self.find(inner) or self.find(inner, "value") or ()
        return next((at[here[:n]] for n in range(len(here)) if here[:n] in at), None)

    def _place(self, owner: Any, key: Any) -> At | None:
        """Find where a field of an object came from: all are spread only to change one.

        To look through all that was read for the first ones who are asked for takes less than to
        sort it by them.
        """
        late, place = self.late, None
        if late and self._asked < FEW:
            self._asked += 1
            for entry in reversed(late):
                if entry[0] is not owner:
                    continue
                if entry[2] is not _copied and entry[2].__class__ is not dict:
                    self._settle()  # what a function says comes behind all that tables say
                    place = None
                    break
                if place is None and entry[2] is _copied:
                    place = self._place(entry[3], key)
                elif place is None:
                    place = _below(entry, key)
        elif late:
            self._settle()
        if place is None:
            for entry in reversed(self._waiting.get(id(owner), ())):
                if (place := _below(entry, key)) is not None:
                    return place
            place = self._at.get(id(owner), _NO_PLACES).get(key)
        return place

    def _trace(self) -> None:
        """Put where the nodes of schemas came from that were respelled."""
        for trace, came, read, at in self.respelled:
            trace(came, read, at, self)
        self.respelled.clear()

    def put_inside(self, node: Any, key: Any, at: At) -> None:
        """Say that a keyword of a schema that was respelled came from `at`."""
        if id(node) not in self._inside:
            self._held.append(node)
        self._inside.setdefault(id(node), {})[key] = at

    def flat(self, value: Any) -> None:
        """Say that a value came as a text: nothing within it has a place of its own."""
        if isinstance(value, dict | list):
            self._inside[id(value)] = {}
            self._held.append(value)

    def within(self, value: Any, at: At, path: At) -> At:
        """Return where a place within a value came from that itself came from `at`."""
        if self.late:
            self._settle()
        self._trace()
        if self._inside.get(id(value)) == {}:
            return at
        for key in path:
            at = self._inside.get(id(value), {}).get(key, (*at, key))
            inside = isinstance(value, list) or (isinstance(value, dict) and key in value)
            value = value[key] if inside else None
        return at

    def spread(self, owner: dict[str, Any], at: At | None) -> bool:
        """Tell whether the leaves of an object came from places outside of `at`."""
        places = self._places(owner)
        for key, value in owner.items():
            found = places.get(key)
            if found is not None and (at is None or found[: len(at)] != at):
                return True
            if isinstance(value, dict) and self.spread(value, at):
                return True
        return False

    def changed(self, old: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Return an object with other fields, which comes from where the old one came from."""
        new = {**old, **fields}
        self.copy(old, new)
        return new

    def without(self, old: dict[str, Any], *gone: str) -> dict[str, Any]:
        """Return an object without some fields, which comes from where the old one came from."""
        new = {key: value for key, value in old.items() if key not in gone}
        self.copy(old, new)
        return new

    def copy(self, old: Any, new: Any) -> None:
        """Let `new` have come from where `old` came from."""
        self.late.append((new, (), _copied, old))
        if self.recorder is not None:
            self.recorder.again(old, new)


_NO_PLACES: dict[Any, At] = {}


def _below(entry: Late, key: Any) -> At | None:
    """Return where a field (the owner itself, for None) stood by what a table says of it."""
    _, at, table, fields = entry
    if at is None:
        found: At | None = table[key] if key in fields else None
        return found
    if key is None and None in table:
        return at
    below = table.get(key) if key in fields else None
    return None if below is None else at + below if below else at


def _copied(new: Any, old: Any, _: At, trail: Trail) -> None:
    """Put the places of one object for its copy."""
    for key, at in trail._places(old).items():
        trail.put(new, key, at)


class Places:
    """Finds pointers of objects in a finished body, by identity."""

    def __init__(self, body: Any, wanted: Collection[int] | None = None) -> None:
        """Walk a body until all objects of the `wanted` identities are found; all of it for None.

        It goes from level to level, for what notes point to mostly stands high. What stands in
        several places is found at the first.
        """
        self._at: dict[int, At] = {}
        level: list[tuple[Any, At]] = [(body, ())] if wanted or wanted is None else []
        while level:
            deeper: list[tuple[Any, At]] = []
            for value, at in level:
                if wanted is None or id(value) in wanted:
                    self._at.setdefault(id(value), at)
                    if wanted is not None and len(self._at) == len(wanted):
                        return
                pairs: Any = value.items() if isinstance(value, dict) else enumerate(value)
                deeper += [(one, (*at, key)) for key, one in pairs if isinstance(one, HOLDERS)]
            level = deeper

    def find(self, owner: Any, key: Any = None) -> str | None:
        """Return the pointer of `owner[key]`, or of the owner itself, or None."""
        at = self._at.get(id(owner))
        if at is None:
            return None
        return pointer(at if key is None else (*at, key))
