"""Changes of rule files, for the fuzzer: of a file's data, by its structure, and of its bytes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Path = tuple[Any, ...]
WORDS = (
    "wire ir cases by also groups marks examples note drop write read-also otherwise only keep "
    "root kind type role name id text value parts tool_call tool_result text image function user "
    "model system stop max rest first min per run message enforce lift put-first ... __class__ "
    "source url data media_type content arguments extends overlay variants for family from to "
    "beside text! wire! text (or name) insert refs rewrite must"
).split()
TEXTS = (
    "$name", "$text", "$value", "$parts each text", "$parts each part", "$. as tool_choice",
    "$id (made)", "$name (optional)", "$name (default x)", "$name (fill null)", "$text | string",
    "$value | json", "$arguments | object | json", "$input + $output", "$absent", "$present",
    "$has tool_call", "${name}", "a${name}b", "$own.x", "$nth", "$run each function", "$key",
    "x (or y $absent)", "$parts each text | text (or list)", "$parts each text | text (optional)",
    "$stop_reason | stop", "$. as usage", "$messages as conversation", "$tools each function",
    "", "$", "$$", "${", "$a.b.c", "null", "yes", "a'b", 'a"b', "a\\b", "a\nb", "{x}", "%s",
    "__import__('os')", "x" * 5000, "é\u2028\ud800", "\x00", "none", "tool", "true",
    "$text (refused)", "$parts each text | single (read-only)", "$text | text (or list)",
    "$stop | list (or one)",
    "$removed",
    "$text (copy)", "$id (made x_)", "$time | timestamp", "$store | not", "$by.input entries count",
    "$created | integer", "$rest", "other", "base", "*", "$own.a + $own.b",
    "$parameters | fits-small", "$parameters | small", "$signature (optional)", "$file",
)  # fmt: skip
FITTING = (
    "$own.f (optional)", "$own.g (refused)", "lit", True, None, 3, "$absent", "a (or b)",
    {"in": "lit"},
    "$own.h (default 1)", {"in": "$own.i (optional)"}, ["lit"], "$absent (or false)",
    "$own.j (fill x)", {"in": {"of": "$own.k (default 1)"}}, "$nth (optional)",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 1.5, 10**39, "", "x", [], {}, [1], {"a": 1}, {"...": "$absent"},
    {"for": {"version": "1"}}, {"insert": {"user": "x"}, "at": "end"}, [{"lift": "system"}],
)  # fmt: skip
SIGNS = "{}[]:,$ \n\t|&*!'\"#-(>%@`x1\x00é"
PICTURES = frozenset(("wire", "ir", "schema", "here", "where", "has", "from", "to"))
GENTLY = 0.55  # how many changes are most likely right
NAMED = frozenset(("shapes", "cases", "tables", "schemas", "limits", "unions", "rewrite", "ladder"))


def place(path: Path) -> Path:
    """Return what part of a rule file a path leads to; names and pictures are all alike."""
    found: list[Any] = []
    for step in path:
        if found and found[-1] in PICTURES:
            return tuple(found[-1:])
        named = bool(found) and (found[-1] in NAMED or found == ["ladder", "*"])
        found.append("*" if named or isinstance(step, int) else step)
    return tuple(found[1:] if found[:1] == ["request"] else found)


class Pool:
    """Nodes of rule files by the part that they are, to put one in the place of another."""

    def __init__(self, files: Iterable[Any]) -> None:
        self.nodes: dict[Path, list[Any]] = {}
        self.entries: dict[Path, list[tuple[str, Any]]] = {}
        for whole in files:
            for path in paths(whole, ()):
                found = at(whole, path)
                self.nodes.setdefault(place(path), []).append(found)
                if path and isinstance(path[-1], str):
                    self.entries.setdefault(place(path[:-1]), []).append((path[-1], found))


def mutant(value: Any, chance: random.Random, pool: Pool | None = None) -> Any:
    """Return a copy of a plain rule file with some changes, mostly one."""
    for _ in range(chance.choice((1, 1, 1, 1, 2, 3))):
        there = list(paths(value, ()))
        if chance.random() < GENTLY:
            pictured = [path for path in there if PICTURES.intersection(path)]
            path = chance.choice(pictured or there)
            value = _with(value, path, _gently(at(value, path), chance))
            continue
        path = chance.choice(there)
        if pool is not None and chance.random() < 0.4:
            value = _with(value, path, _of_pool(at(value, path), path, chance, pool))
            continue
        change = chance.choices(CHANGES, WEIGHTS)[0]
        value = _with(value, path, change(at(value, path), value, chance))
    return value


def paths(value: Any, path: Path) -> Iterator[Path]:
    """Yield the paths of all nodes."""
    yield path
    if len(path) > 30:
        return
    for key, child in value.items() if isinstance(value, dict) else ():
        yield from paths(child, (*path, key))
    for n, child in enumerate(value) if isinstance(value, list) else ():
        yield from paths(child, (*path, n))


def at(value: Any, path: Path) -> Any:
    """Return the node at a path."""
    for step in path:
        value = value[step]
    return value


_GONE = object()


def _with(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return {} if new is _GONE else new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1 and new is _GONE:
        del copy[path[0]]
    else:
        copy[path[0]] = _with(copy[path[0]], path[1:], new)
    return copy


def _of_pool(found: Any, path: Path, chance: random.Random, pool: Pool) -> Any:
    """Put what stands in such a place in some file here, or beside what stands here."""
    if isinstance(found, dict) and chance.random() < 0.6:
        entries = pool.entries.get(place(path), ())
        if entries:
            key, child = chance.choice(entries)
            return {**found, key: child}
    if isinstance(found, list) and chance.random() < 0.6:
        more = pool.nodes.get((*place(path), "*"))
        return [*found, chance.choice(more)] if more else found
    return chance.choice(pool.nodes.get(place(path), [found]))


def _gently(found: Any, chance: random.Random) -> Any:
    """Change a piece of a picture to another that is most likely one, too."""
    kind = chance.randrange(4)
    if isinstance(found, dict):
        key, name = chance.choice(list(found) or ["a"]), f"k{chance.randrange(9)}"
        if kind == 0:
            return dict(chance.sample(list(found.items()), len(found)))
        if kind == 1:
            return {(name if k == key and k != "..." else k): child for k, child in found.items()}
        if kind == 2:
            return {**found, name: chance.choice(FITTING)}
        new = f"{key} (or {name})" if "(" not in key and key != "..." else key
        return {(new if k == key else k): child for k, child in found.items()}
    if isinstance(found, list):
        return chance.sample(found, len(found))
    if not isinstance(found, str) or found.startswith("$absent"):
        return chance.choice((found, 7, True, None, "w"))
    if not found.startswith("$"):
        return found + chance.choice(("x", " (or y)", " (or $absent)", "-1"))
    bare = found.partition(" (")[0]
    if kind == 0:
        return bare
    if kind == 1 and " " not in bare:
        return f"{bare} (else {chance.choice(('null', '1', 'w'))})"
    return f"{bare} ({chance.choice(('optional', 'optional', 'old'))})"


def _delete(found: Any, whole: Any, chance: random.Random) -> Any:
    return _GONE


def _text(found: Any, whole: Any, chance: random.Random) -> Any:
    return chance.choice(TEXTS)


def _value(found: Any, whole: Any, chance: random.Random) -> Any:
    return chance.choice(VALUES)


def _literal(found: Any, whole: Any, chance: random.Random) -> Any:
    """Change a text a little: mostly to something that still can be read."""
    if not isinstance(found, str) or not found:
        return chance.choice(WORDS)
    kind = chance.randrange(5)
    if found.startswith("$"):
        return (
            found
            + chance.choice((" (optional)", " | string", " (else x)", " (default null)", "x")),
            found.partition(" ")[0],
            found.replace("each", "as"),
            "$" + chance.choice(WORDS),
            found.partition(" | ")[0],
        )[kind]
    cut = chance.randrange(len(found))
    return (found[:cut] + found[cut + 1 :], found + "x", found.upper(), found[::-1], found[:cut])[
        kind
    ]


def _renamed(found: Any, whole: Any, chance: random.Random) -> Any:
    if not isinstance(found, dict) or not found:
        return _literal(found, whole, chance)
    old = chance.choice(list(found))
    new = chance.choice((f"{old}_", chance.choice(WORDS), f"{old} (or other)", "`a b`", f"{old}!"))
    return {(new if key == old else key): child for key, child in found.items()}


def _other(found: Any, whole: Any, chance: random.Random) -> Any:
    """Put a node from elsewhere here."""
    return at(whole, chance.choice(list(paths(whole, ()))))


def _added(found: Any, whole: Any, chance: random.Random) -> Any:
    extra = chance.choice((chance.choice(TEXTS), chance.choice(VALUES)))
    if isinstance(found, dict):
        return {**found, chance.choice(WORDS): extra}
    return [*found, extra] if isinstance(found, list) else _literal(found, whole, chance)


def _shuffled(found: Any, whole: Any, chance: random.Random) -> Any:
    if isinstance(found, dict):
        return dict(chance.sample(list(found.items()), len(found)))
    if isinstance(found, list):
        return chance.sample(found, len(found))
    return _literal(found, whole, chance)


def _deep(found: Any, whole: Any, chance: random.Random) -> Any:
    for _ in range(chance.choice((1, 2, 10, 50))):
        found = [found] if chance.random() < 0.3 else {"a": found}
    return found


Change = Callable[[Any, Any, random.Random], Any]
CHANGES: tuple[Change, ...] = (
    _literal, _renamed, _shuffled, _added, _delete, _text, _value, _other, _deep,
)  # fmt: skip
WEIGHTS = (10, 4, 4, 3, 4, 3, 1, 2, 1)


def bent(text: str, chance: random.Random) -> str:
    """Return the text of a file with some signs put in, taken out or doubled."""
    for _ in range(chance.choice((1, 1, 2, 5))):
        cut, size = chance.randrange(len(text) + 1), chance.choice((0, 1, 1, 3, 40))
        signs = "".join(chance.choices(SIGNS, k=chance.choice((0, 1, 2))))
        if chance.random() < 0.1:
            signs = text[cut : cut + 200]
        text = text[:cut] + signs + text[cut + size :]
    return text
