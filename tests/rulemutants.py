"""Mutate the packaged rules and see whether the checks, the examples and the laws notice.

    python -m tests.rulemutants [N] [SEED] [--jobs 2] [--all]

Each mutant has one change: a key deleted, the pictures of two cases exchanged, a literal changed,
an item of a list dropped (`enforce`, unions, hooks), a row of a table changed, the path of a hole
changed. A row of `variants` is changed like the rest, but for the models that it names: which row
applies, `tests/test_versions.py` holds. It is judged twice: with all examples, and without those of
the mutated shape. Noticed is what a check finds, what an example or a law does not hold for, and
what the SDKs' own types say; nothing is compared with the rules as they were. Those of `EQUIVALENT`
say why nobody can notice.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import random
import re
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import wireglot
from wireglot.authoring import examples, laws
from wireglot.dialects import DialectRules
from wireglot.ir import FIELDS, field_type
from wireglot.language import apart, ladder, layers
from wireglot.language.source import Node, Pos
from wireglot.loading import load
from wireglot.rulesets import RuleSet

from . import sdklaws
from .family import heads

Place = tuple[str | int, ...]

# Words of a rule file that hold no rule: prose, and what names the file.
PROSE = frozenset(("see", "verified", "wireglot", "dialect", "examples", "drop", "unsupported"))
PICTURES = frozenset(("wire", "ir", "from", "to", "beside"))
_HOLE = re.compile(r"\$([a-zA-Z_][\w.]*)")
_MARK = re.compile(r"(.*\((?:else|default) )(.*)(\))")
RUNS = 6  # payloads for each law
PATIENCE = 30  # seconds of work for one judge
MEMORY = 2_000_000_000
# What is written of these is no body of the SDK's types: in an answer with the result of a
# function, the types want an id and a status, which nobody gave.
UNWRITTEN = {(one, "openai-responses") for one in ("gemini", "vertex")}
EFFECTS = ("lost", "changed", "moved", "added", "kept")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one rule file."""

    file: str
    place: Place
    kind: str
    told: str
    make: Callable[[], Node]

    def __str__(self) -> str:
        return f"{self.file}:{'/'.join(map(str, self.place))}: {self.kind}: {self.told}"


# -- mutations ------------------------------------------------------------------------------------


def mutants(file: str, root: Node) -> Iterator[Mutant]:
    """List every mutant of a rule file, one for each place and kind of change."""
    chance = random.Random(f"{file} literals")
    words = sorted({t for _, n in _walk(root, ()) for t in [n.value] if _is_literal(t)})
    for place, node in _walk(root, ()):
        yield from _of_node(file, root, place, node, words, chance)


def _walk(node: Node, at: Place) -> Iterator[tuple[Place, Node]]:
    yield at, node
    if isinstance(node.value, dict):
        for key, child in node.value.items():
            inside = any(step in PICTURES for step in at)
            if key == "for" and at[:1] == ("variants",):
                continue  # which models a row is for, no example can show
            if (key not in PROSE or inside) and not (key == "note" and at[:1] == ("ladder",)):
                yield from _walk(child, (*at, key))
    elif isinstance(node.value, list):
        for i, child in enumerate(node.value):
            yield from _walk(child, (*at, i))


def _of_node(
    file: str, root: Node, place: Place, node: Node, words: list[str], chance: random.Random
) -> Iterator[Mutant]:
    def mutant(kind: str, told: str, change: Callable[[Node], Node | None]) -> Mutant:
        return Mutant(file, place, kind, told, functools.partial(_put, root, place, change))

    if place and isinstance(place[-1], str) and place != ("ladder",):
        yield mutant("delete a key", f"`{place[-1]}`", lambda n: None)
    if place and isinstance(place[-1], int):
        yield mutant("drop an item", _short(node.plain()), lambda n: None)
    if place[-1:] == ("cases",):
        names = list(node.value)
        for i, one in enumerate(names):
            for two in names[i + 1 :]:
                if _tell_apart(root, place, node, one, two):
                    swap = functools.partial(_swapped, one=one, two=two)
                    yield mutant("swap cases", f"`{one}` and `{two}`", swap)
    value = node.value
    if isinstance(value, dict | list) or not place:
        return
    if place[0] == "tables" and len(place) > 2:
        rows = [n.value for _, n in _walk(_at(root, place[:-1]), ()) if n.value != value]
        new = chance.choice([f"{value}_x", *(r for r in rows if isinstance(r, str))])
        yield mutant("change a row", f"{value} to {new}", lambda n: Node(new, n.pos))
        return
    for told, other in _others(place, value, words, chance):
        kind = "change a path" if isinstance(value, str) and told.startswith("$") else ""
        change = functools.partial(_replaced, value=other)
        yield mutant(kind or "change a literal", f"{told} to {other}", change)


def _replaced(node: Node, value: Any) -> Node:
    return Node(value, node.pos)


def _others(
    place: Place, value: Any, words: list[str], chance: random.Random
) -> Iterator[tuple[str, Any]]:
    """Give the other values that a scalar may be changed to."""
    if isinstance(value, bool):
        yield str(value), not value
    elif isinstance(value, int):
        yield str(value), value + 1
    elif value is None:
        yield "null", "x"
    elif not isinstance(value, str):
        return
    elif place[-1] == "effect":
        yield value, chance.choice([e for e in EFFECTS if e != value])
    elif _is_literal(value):
        yield value, chance.choice([f"{value}x", chance.choice(words)])
    elif value.startswith("$") and not value.startswith("${"):
        if paths := _HOLE.findall(value):
            old = chance.choice(paths)
            new = _other_path(old, chance)
            changed = re.sub(rf"\${re.escape(old)}(?![\w.])", f"${new}", value, count=1)
            if value not in ("$absent", "$present") and not value.startswith("$has "):
                yield f"${old} in {value}", changed
        if mark := _MARK.fullmatch(value):
            new = {"null": "x", "false": "true"}.get(mark[2], "7" if mark[2].isdigit() else "x")
            if not mark[2].startswith("empty"):
                yield value, f"{mark[1]}{new}{mark[3]}"
    elif "${" in value:
        yield value, value.replace("${", "x${", 1)


@functools.cache
def _paths() -> dict[str, frozenset[str]]:
    """Return the paths that pictures name: those of the IR by their type, the dialects' own."""
    found: dict[str, set[str]] = {"own": set()}
    named = {
        path
        for node in load.packaged().files.values()
        for _, n in _walk(node, ())
        if isinstance(n.value, str)
        for path in _HOLE.findall(n.value)
    }
    for path in {*FIELDS, *named}:
        own = path.startswith("own.") and path in named
        found.setdefault("own" if own else field_type("", path), set()).add(path)
    return {kind: frozenset(paths) for kind, paths in found.items()}


def _other_path(old: str, chance: random.Random) -> str:
    """Choose another path of the same type: of the IR, or of the dialect's own."""
    kind = "own" if old.startswith("own.") else field_type("", old)
    return chance.choice(sorted(_paths().get(kind, frozenset()) - {old} or {*FIELDS} - {old}))


def _is_literal(value: Any) -> bool:
    return isinstance(value, str) and "$" not in value and " " not in value


def _tell_apart(root: Node, place: Place, cases: Node, one: str, two: str) -> bool:
    """Tell whether exchanging the pictures of two cases is more than exchanging their order."""
    a, b = cases.value[one].get("wire"), cases.value[two].get("wire")
    if a is None or b is None or a.plain() == b.plain():
        return False
    by = _at(root, place[:-1]).get("by") is not None
    said = cases.value[one].get("ir"), cases.value[two].get("ir")
    return by or any(said)


def _swapped(cases: Node, one: str, two: str) -> Node:
    a, b = cases.value[one], cases.value[two]
    new = {
        one: Node({**a.value, "wire": b.value["wire"]}, a.pos, a.keys),
        two: Node({**b.value, "wire": a.value["wire"]}, b.pos, b.keys),
    }
    return Node({**cases.value, **new}, cases.pos, cases.keys)


def _at(root: Node, place: Place) -> Node:
    for step in place:
        root = root.value[step]
    return root


def _put(root: Node, place: Place, change: Callable[[Node], Node | None]) -> Node:
    """Copy a tree with one node changed, or taken out."""
    if not place:
        made = change(root)
        assert made is not None
        return made
    step, rest = place[0], place[1:]
    inner = root.value[step]
    new = change(inner) if not rest else _put(inner, rest, change)
    value: Any = dict(root.value) if isinstance(root.value, dict) else list(root.value)
    if new is None:
        del value[step]
    else:
        value[step] = new
    return Node(value, root.pos, root.keys)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) < 50 else f"{text[:47]}..."


# -- judging --------------------------------------------------------------------------------------


def own_places(mutant: Mutant, root: Node) -> frozenset[str]:
    """Give the places whose examples count as the mutated thing's own."""
    section, name = (*map(str, mutant.place[:2]), "")[:2]
    if section in ("shapes", "ladder") or section in apart.UNITS:
        if section == "ladder":
            return frozenset((f"{name}/{(*map(str, mutant.place), '')[2]}",))
        return frozenset((section if section in apart.UNITS else f"{section}/{name}",))
    if section == "limits":
        kinds = ("tool_call", "tool_result", "function", "custom")
        return frozenset(f"shapes/{kind}" for kind in kinds)
    found = {f"{section}/{name}"}
    for owner, node in _owners(root):
        texts = [n.value for _, n in _walk(node, ()) if isinstance(n.value, str)]
        word = re.compile(rf"(\||as|each|entries) {re.escape(name)}\b")
        if section in ("tables", "schemas", "unions") and any(map(word.search, texts)):
            found.add(owner)
    return frozenset(found)


def _owners(root: Node) -> Iterator[tuple[str, Node]]:
    shapes = root.get("shapes")
    for name, node in (shapes.value if shapes else {}).items():
        yield f"shapes/{name}", node
    for unit in apart.UNITS:
        if (whole := root.get(unit)) is not None:
            yield unit, whole


@functools.cache
def _base() -> tuple[Mapping[str, Node], RuleSet]:
    rules = wireglot.packaged()
    for name in rules.dialects:
        assert rules[name] and (rules.variants(name) or name not in rules._varied)
    return load.packaged().files, rules


def rules_of(mutant: Mutant) -> RuleSet:
    """Build the rule set of a mutant; raises RuleError where loading refuses it.

    The dialect of the file is another, with each set of its variants; those that lie over it stay.
    """
    nodes, base = _base()
    name, below = mutant.file, _below(mutant.file)
    files = {**base._files}
    files[name] = layers.flatten({**{n: nodes[n] for n in below}, name: mutant.make()})[name]
    rules = RuleSet(files, varied=layers.variants_by_dialect(files))
    steps = ladder.load(files["ladder"])
    for (other, rows), held in base._dialects.items():
        if other != name:
            pick = functools.partial(rules._picked, other) if other in rules._varied else None
            rules._dialects[other, rows] = DialectRules(held.model, steps, pick)
    if name in base:
        assert rules[name] and (rules.variants(name) or name not in rules._varied)
    return rules


@functools.cache
def _below(name: str) -> tuple[str, ...]:
    """Return the dialects that a rule file lies over, the lowest last."""
    parent = _base()[0][name].get("extends")
    return () if parent is None else (str(parent.value), *_below(str(parent.value)))


def noticed(mutant: Mutant) -> tuple[str | None, str | None]:
    """Say what notices a mutant with its own examples, and without them."""
    try:
        rules = rules_of(mutant)
    except wireglot.RuleError:
        return "check", "check"
    except Exception as crash:
        return (told := f"crash {type(crash).__name__}"), told
    own = own_places(mutant, _base()[0][mutant.file])
    judges: tuple[Callable[[], bool], ...] = (
        lambda: _by_examples(rules, mutant, lambda place: place not in own),
        lambda: _by_laws(rules, mutant),
        lambda: _by_sdks(rules, mutant),
    )
    for name, judge in zip(("examples", "laws", "sdks"), judges, strict=True):
        if found := _judged(name, judge):
            return found, found
    return _judged("own examples", lambda: _by_examples(rules, mutant, own.__contains__)), None


def _judged(name: str, judge: Callable[[], bool]) -> str | None:
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        return name if judge() else None
    except Exception as crash:
        return f"{name} ({type(crash).__name__})"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _limited() -> None:
    """Bound what a mutant may take: one that hangs, or eats all memory, is noticed by that."""

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, late)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _by_examples(rules: RuleSet, mutant: Mutant, chosen: Callable[[str], bool]) -> bool:
    ladder_too = mutant.file == "ladder"
    for example in examples.ladder_examples(rules.ladder) if ladder_too else ():
        if chosen(example.owner) and examples.check(rules, example):
            return True
    for name in rules.dialects:
        seen: set[Pos] = set()
        for dialect in (rules[name], *(rules.variants(name) if name == mutant.file else ())):
            for example in examples.find(dialect):
                if not apart.rule_file_of(example.pos.file).endswith(f"/{name}.yaml"):
                    continue  # of what it lies over
                if name == mutant.file:
                    tried = chosen(example.owner) and example.pos not in seen
                else:
                    tried = ladder_too or mutant.file in example.said.get("crossing", ())
                seen.add(example.pos)
                if tried and examples.check(rules, example, dialect):
                    return True
    return False


def _by_sdks(rules: RuleSet, mutant: Mutant) -> bool:
    others = [name for name in heads(rules.dialects) if name != mutant.file]
    if mutant.file == "ladder":
        pairs = [(one, two) for one in others for two in others if one != two]
    else:
        if any(sdklaws.broken(rules, mutant.file)):
            return True
        pairs = [(one, mutant.file) for one in others]
    return any(any(sdklaws.unwritten(rules, *pair)) for pair in pairs if pair not in UNWRITTEN)


def _by_laws(rules: RuleSet, mutant: Mutant) -> bool:
    names = heads(rules.dialects) if mutant.file == "ladder" else [mutant.file]
    return any(laws.violations(rules, names, RUNS, mutant.told))


def warm() -> None:
    """Make once what every judge asks for; the processes of the run share it."""
    rules = _base()[1]
    for one in heads(rules.dialects):
        assert not any(sdklaws.broken(rules, one))
        for two in heads(rules.dialects):
            if one != two and (one, two) not in UNWRITTEN:
                assert not any(sdklaws.unwritten(rules, one, two))


# -- the run --------------------------------------------------------------------------------------

EQUIVALENT: dict[str, str] = {}


def every() -> list[Mutant]:
    """List every mutant of the packaged rules."""
    nodes = _base()[0]
    return [m for file in sorted(nodes) for m in mutants(file, nodes[file])]


def judge(nth: int) -> tuple[str, str, str | None, str | None, float]:
    """Judge one mutant both ways."""
    mutant = every_cached()[nth]
    start = time.perf_counter()
    full, without = noticed(mutant)
    return str(mutant), mutant.kind, full, without, time.perf_counter() - start


@functools.cache
def every_cached() -> list[Mutant]:
    """List every mutant once for each process."""
    return every()


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge random mutants and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.rulemutants", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=500)
    parser.add_argument("seed", nargs="?", default="0")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="judge every mutant there is")
    options = parser.parse_args(arguments)
    total = len(every_cached())
    chosen = list(range(total))
    if not options.all:
        chosen = random.Random(options.seed).sample(chosen, min(options.count, total))
    by: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    kinds: Counter[tuple[str, bool, bool]] = Counter()
    slow = 0.0
    warm()
    with multiprocessing.Pool(options.jobs, _limited) as pool:
        for text, kind, full, without, spent in pool.imap_unordered(judge, chosen, chunksize=4):
            slow = max(slow, spent)
            by[full or "nothing"] += 1
            alone[without or "nothing"] += 1
            kinds[kind, bool(full), bool(without)] += 1
            if not full:
                print(f"unnoticed  {text}")
            elif not without:
                print(f"own only   {text}")
    count = len(chosen)
    print(f"{count} of {total} mutants, the slowest {slow:.1f} s")
    for kind in sorted({k for k, _, _ in kinds}):
        all_of = sum(n for (k, _, _), n in kinds.items() if k == kind)
        with_own = sum(n for (k, f, _), n in kinds.items() if k == kind and f)
        without_own = sum(n for (k, _, w), n in kinds.items() if k == kind and w)
        print(f"  {kind:18} {all_of:5} noticed {with_own:5} without own examples {without_own:5}")
    print("noticed", dict(by), f"{100 - 100 * by['nothing'] / count:.1f}%")
    print("without own", dict(alone), f"{100 - 100 * alone['nothing'] / count:.1f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main())
