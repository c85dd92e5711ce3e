"""Which modules of the engine know each word of the rule language.

    python -m tests.knows [--before] [--more N] [--where WORD]

A module knows a word where a literal of its code is the word, or a text that is split into words
holds it; texts that tell something, and what docs of functions say, are no such place. Many words
mean something else, too: a field or a kind of the IR (`text`), a type of JSON (`string`), a
command. Such a word counts only in the company of its group: in a set, a list or the keys of a
dict with others, half of them of the group, of which one is clear; or where it is compared with,
or looked up in, a name that clear words of the group are, too: in the same module, or anywhere if
the name has three of them, and none of another group. `--before` counts the same in the engine of
before (`make old`); `--where` names the lines.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from wireglot import ir
from wireglot.checks import fields

from . import old, words
from .house import ROOT

# Beside names of the IR: what a word may mean in JSON and its schemas, in notes, or on a shell.
OTHERS = frozenset(
    "string number integer boolean null object list array enum required types min max with "
    "keep lost changed check error start end set put add text name number file keys to from as "
    "effect code version total first last after before here where part note notes refused calls "
    "results turns append copy default made named whole signed single count unique not".split()
)
Places = dict[str, list[tuple[str, int]]]  # of each word: module and line


class Said(NamedTuple):
    """A text of the code: what stands beside it, and what it is compared with or looked up in."""

    text: str
    line: int
    beside: tuple[str, ...]
    owner: str | None


@cache
def unclear() -> frozenset[str]:
    """Return the words that mean something else, too."""
    units = (*ir.UNITS, *ir.MEDIA, *ir.ROLES, *fields.KINDS)
    more = {word for found in fields.WORDS.values() for word in found}
    return frozenset((*fields.EVERY, *units, *more)) | OTHERS


def spoken(tree: ast.AST) -> Iterator[Said]:
    """Yield the texts of a module that may be words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # what documents
        for child, beside, owner in _within(node):
            if isinstance(child, ast.Constant) and isinstance(child.value, str):
                yield Said(child.value, child.lineno, tuple(beside), owner)


def _within(node: ast.AST) -> Iterator[tuple[ast.AST, Iterable[str], str | None]]:
    """Yield the texts directly within a node, with their company and their owner."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split")):
            listed = text.split()
            for word in listed:
                yield ast.copy_location(ast.Constant(word), node), listed, None
        case ast.Call(func=ast.Attribute(value=ast.Constant())):
            return
        case ast.Call():
            looked = isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop")
            owner = _name(getattr(node.func, "value", node) if looked else node.func)
            yield from ((one, (), owner) for one in node.args)
            yield from ((key.value, (), owner) for key in node.keywords)
        case ast.Compare():
            sides = [node.left, *node.comparators]
            owner = next((name for side in sides if (name := _name(side))), None)
            yield from ((side, (), owner) for side in sides)
        case ast.Subscript():
            yield node.slice, (), _name(node.value)
        case ast.Match():
            for case in node.cases:
                yield from ((value, (), _name(node.subject)) for value in _matched(case.pattern))
        case ast.Dict(keys=keys):
            yield from ((key, _texts(keys), None) for key in keys if key is not None)
            yield from ((value, _texts(node.values), None) for value in node.values)
        case ast.Set(elts=items) | ast.List(elts=items) | ast.Tuple(elts=items):
            yield from ((item, _texts(items), None) for item in items)
        case ast.MatchValue() | ast.JoinedStr() | ast.FormattedValue():
            return
        case _:
            for one in ast.iter_child_nodes(node):
                yield one, (), None


def _matched(pattern: ast.AST) -> list[ast.expr]:
    return [one.value for one in ast.walk(pattern) if isinstance(one, ast.MatchValue)]


def _texts(nodes: Iterable[ast.AST | None]) -> list[str]:
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def _name(node: ast.AST) -> str | None:
    """Return the last name of an expression."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner) | ast.NamedExpr(target=inner):
            return _name(inner)
    return None


def owned(said: Iterable[Said], groups: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the names of one group: those that go with three clear words, and of no other."""
    homes: dict[str, set[str]] = defaultdict(set)
    for group, listed in groups.items():
        for word in set(listed) - unclear():
            homes[word].add(group)
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for one in said:
        if one.owner and one.text in homes:
            found[one.owner] |= {(group, one.text) for group in homes[one.text]}
    pairs = {owner: {group for group, _ in each} for owner, each in found.items()}
    return {o: next(iter(g)) for o, g in pairs.items() if len(g) == 1 and len(found[o]) > 2}


def known(
    said: Iterable[Said], groups: Mapping[str, Iterable[str]], names: Mapping[str, str]
) -> dict[str, list[int]]:
    """Return the words that a module knows, with their lines; `names` are those of one group."""
    said = list(said)
    found: dict[str, list[int]] = defaultdict(list)
    for group, listed in groups.items():
        all_words = frozenset(listed)
        clear = all_words - unclear()
        owners = {one.owner for one in said if one.text in clear and one.owner}
        owners |= {name for name, of in names.items() if of == group}
        for one in said:
            if one.text not in all_words:
                continue
            fellows = [text for text in one.beside if text in all_words]
            company = 2 * len(fellows) >= len(one.beside) and any(t in clear for t in fellows)
            if one.text in clear or company or one.owner in owners:
                found[one.text].append(one.line)
    return {word: sorted(set(lines)) for word, lines in found.items()}


def places(root: Path) -> Places:
    """Return where each word of the language is known in a package."""
    groups = words.groups()
    found: Places = {word: [] for group in groups.values() for word in group}
    said = {}
    for path in sorted(root.rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        said[name] = list(spoken(ast.parse(path.read_text("utf-8"))))
    names = owned([one for each in said.values() for one in each], groups)
    for name, each in said.items():
        for word, lines in known(each, groups, names).items():
            found[word] += [(name, line) for line in lines]
    return found


def modules(found: Places) -> dict[str, list[str]]:
    """Return the modules that know each word."""
    return {word: sorted({name for name, _ in lines}) for word, lines in found.items()}


def main(arguments: list[str] | None = None) -> int:
    """Print the words with the modules that know them."""
    parser = argparse.ArgumentParser(prog="python -m tests.knows", description=__doc__)
    parser.add_argument("--before", action="store_true", help="count those of before, too")
    parser.add_argument("--more", type=int, default=0, help="only words known to more modules")
    parser.add_argument("--where", metavar="WORD", help="the lines that know one word")
    asked = parser.parse_args(arguments)
    found = places(ROOT)
    if asked.where:
        for name, line in found.get(asked.where, ()):
            print(f"{name}:{line}")
        return 0
    now = modules(found)
    was = modules(places(old.FOLDER / old.NAME)) if asked.before and old.is_built() else {}
    if asked.before and not was:
        print("the engine of before is not built: run `make old`", file=sys.stderr)
    for group, listed in words.groups().items():
        for word in listed:
            if len(now[word]) > asked.more or not asked.more:
                count = f"{len(was[word]):>4}" if was else ""
                print(f"{group:<13}{word:<24}{count}{len(now[word]):>4}  {', '.join(now[word])}")
    for said, each in (("before", was), ("now", now)):
        if each:
            counts = sorted(map(len, each.values()))
            one = sum(count == 1 for count in counts)
            print(
                f"{said}: {len(counts)} different words, {one} of them known to one module; "
                f"median {statistics.median(counts):g}, at most {counts[-1]}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
