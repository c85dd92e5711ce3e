"""Code that tells whether a schema goes as it is: what `Schema.fits` asks, and JSON all through.

The code says yes or does not know; what it does not know, `Schema.fits` and `clean` decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..language.nodes import LISTS, MAPS, PLACES, SINGLES
from ..language.picture import ABSENT, Fields, Literal, Picture, Test
from ..language.schema import Schema
from .symbols import Cannot, Code

DEEPEST = 50  # as `clean` has it


def taker(code: Code, schema: Schema) -> str | None:
    """Write the function for a schema dialect once; return its name, or None where none is."""
    if not schema.simple:
        return None
    for name, known in code.root.takers:
        if known is schema:
            return name
    name = code.name("takes")
    piece = Code(0, code.root)
    try:
        _root(piece, name, schema)
    except Cannot:
        return None
    code.root.takers.append((name, schema))
    code.root.below.extend(piece.lines)
    return name


def _root(code: Code, name: str, schema: Schema) -> None:
    if schema.keep is None and not schema.types and not schema.rules.all:
        with code.block(f"def {name}(n):"):
            with _about_root(code, schema):
                code("clean(n)")
                code("if unsound(n) is not None: return False")
            code("return True")
        return
    walk = f"{name}node"
    _node(code, walk, schema)
    with code.block(f"def {name}(n):"):
        with _about_root(code, schema):
            code(f"if not {walk}(n, 0): return False")
        code("return True")


@contextmanager
def _about_root(code: Code, schema: Schema) -> Iterator[None]:
    """Write what holds of the whole, and inside what is asked of the rest: once for equal ones."""
    code("if n.__class__ is not dict: return False")
    with code.once("n"):
        if schema.root is not None:
            code(f"if n.get('type') != {schema.root!r}: return False")
        code("if n.get('properties') == []: return False")
        if schema.rootless:
            code(f"if not {code.const(schema.rootless, 'ROOTLESS')}.isdisjoint(n): return False")
        yield


def _node(code: Code, walk: str, schema: Schema) -> None:
    with code.block(f"def {walk}(n, deep):"):
        code(f"if n.__class__ is not dict or deep > {DEEPEST}: return False")
        if schema.keep is not None:
            code(f"if not {code.const(schema.keep, 'KEEP')}.issuperset(n): return False")
        if schema.types:
            words = code.const(schema.types | {word.lower() for word in schema.types}, "TYPES")
            code("t = n.get('type')")
            code(f"if t.__class__ is not str or t not in {words}:")
            code("    if 'type' in n: return False")
        if schema.enum == "strings":
            code("if 'enum' in n and (n.get('type', 'string') != 'string'")
            code("        or n['enum'].__class__ is not list")
            code("        or any(word.__class__ is not str for word in n['enum'])): return False")
        for keys, _ in schema.risky:  # it may be taken in other words
            code(f"if {' and '.join(f'{key!r} in n' for key in sorted(keys))}: return False")
        for rule in schema.rules.all:
            code(f"if {_says(rule.where)} and not ({_says(rule.has)}): return False")
        with code.block("for k, v in n.items():"):
            if schema.keep is None:
                code("if not k.isascii(): k.encode()")
            code("c = v.__class__")
            code("if c is str:")
            nodes = PLACES | schema.whole if schema.rules.all else PLACES - schema.whole
            code(f"    if k in {code.const(nodes, 'NODES')}: return False")
            code("    if not v.isascii(): v.encode()")
            _inner(code, walk, schema)
            code("elif c is dict: clean(v)")
            code("elif c is int:")
            code("    if not -BIG < v < BIG: return False")
            code("elif v is not None and c is not bool: clean({'': v})")
        code("return True")


def _inner(code: Code, walk: str, schema: Schema) -> None:
    """Write what becomes of the keywords that hold schemas."""

    def taken(words: frozenset[str]) -> str:
        words = (words if schema.keep is None else words & schema.keep) - schema.whole
        return code.const(words, "PLACES") if words else ""

    if schema.whole and schema.rules.all:
        code(f"elif k in {code.const(schema.whole, 'WHOLE')}: return False")
    maps, lists = taken(MAPS), taken(LISTS)
    bools = taken(frozenset(word for word, usual in SINGLES.items() if usual))
    nodes = taken(frozenset(word for word, usual in SINGLES.items() if not usual))
    if maps:
        with code.block(f"elif k in {maps}:"):
            code("if c is not dict: return False")
            with code.block("for name, child in v.items():"):
                code("if not name.isascii(): name.encode()")
                code(f"if not {walk}(child, deep + 1): return False")
    if lists:
        with code.block(f"elif k in {lists}:"):
            code("if c is not list: return False")
            with code.block("for child in v:"):
                code(f"if not {walk}(child, deep + 1): return False")
    if nodes:
        with code.block(f"elif k in {nodes}:"):
            code(f"if not {walk}(v, deep + 1): return False")
    if bools:
        with code.block(f"elif k in {bools}:"):
            code(f"if c is not bool and not {walk}(v, deep + 1): return False")


def _says(p: Fields) -> str:
    """Return a picture of a node as a condition. Raises Cannot for one that has holes."""
    if p.spread or p.closed:
        raise Cannot
    tests = [_test(names[0], child) for names, child in p.entries]
    return " and ".join(tests) or "True"


def _test(word: str, p: Picture) -> str:
    if isinstance(p, Literal) and len(p.values) == 1:
        if p.values[0] is ABSENT:
            return f"{word!r} not in n"
        if isinstance(p.values[0], str):
            return f"n.get({word!r}) == {p.values[0]!r}"
    if isinstance(p, Test) and p.word == "present":
        return f"{word!r} in n"
    if isinstance(p, Fields) and p.closed and not p.entries and not p.spread:
        return f"n.get({word!r}) == {{}}"
    raise Cannot
