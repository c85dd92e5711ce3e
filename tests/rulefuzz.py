"""Feed broken rule files to the loader, the compiler and both executors.

    python -m tests.rulefuzz N [SEED] [--jobs J]

Each execution mutates a rule file (nodes swapped, keys renamed, values of other types, odd texts,
deep and long values, bytes), loads it, and, when the checks let it pass, compiles it against
another dialect and converts a small payload each way, interpreted and compiled. Prints how many
executions reached the compiler, the slowest one, and every exception that is not meant. Exits 1
on any.
"""

from __future__ import annotations

import argparse
import ast
import json
import multiprocessing
import random
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from wireglot import load
from wireglot.errors import ConversionError, RuleError, UsageError
from wireglot.findings import Findings
from wireglot.rulesets import RuleSet
from wireglot.source import Node, Pos, parse

GOOD = Path(__file__).parent / "broken" / "good.yaml"
FILE = "fuzzed.yaml"
POS = Pos(FILE, 1, 1)
SECONDS = 5.0  # an execution takes at most this long
OTHER = """
wireglot: 1
dialect: other
shapes:
  text: {wire: {words: $text}}
  image: {ir: {source: {type: url, url: $url}}, wire: {seen: $url}}
  tool_call: {wire: {do: $name, id: $id, how: $arguments}}
  tool_result: {by: kind, wire: {id: $tool_call_id}, cases: {text: {wire: {said: $value | string}}}}
  function: {wire: {name: $name, form: $parameters}}
  candidate: {wire: {parts: $parts each part}}
unions: {part: [text, image, tool_call, tool_result]}
conversation:
  by: role
  wire: {says: $parts each part}
  cases: {user: {wire: {who: user}}, assistant: {wire: {who: bot}}, tool: {wire: {who: tool}}}
request: {wire: {talk: $messages as conversation, tools: $tools each function (optional)}}
response: {wire: {all: $candidates each candidate}}
"""
CALL = {"do": "f", "id": "c1", "how": {"x": 1}}
OTHER_BODY: Any = {
    "talk": [
        {"who": "user", "says": [{"words": "Hi"}, {"seen": "https://example.com"}]},
        {"who": "bot", "says": [{"words": "Wait"}, CALL]},
        {"who": "tool", "says": [{"id": "c1", "said": "Sunny"}]},
    ],
    "tools": [{"name": "f", "form": {"type": "object"}}],
}
GOOD_BODY: Any = {
    "model": "m",
    "talk": [
        {"who": "user", "parts": "Hi"},
        {"who": "model", "parts": [{"kind": "call", "id": "c1", "name": "f", "with": {"x": 1}}]},
        {"who": "user", "parts": [{"kind": "answer", "id": "c1", "text": "Sunny"}]},
    ],
    "tools": [{"name": "f", "takes": {"type": "object"}}],
    "choice": "free",
}
PACKAGED_BODY: Any = {
    "model": "m",
    "messages": [{"role": "user", "content": "Hi"}],
    "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
}

# -- mutations ----------------------------------------------------------------------------------

WORDS = (
    "wire ir cases by also gathers examples note drop write read-also otherwise only keep root "
    "kind type role name id text value parts tool_call tool_result text image function user model "
    "system stop max rest first min per run message enforce lift put-first ... parse __class__ "
    "source url data media_type content arguments"
).split()
TEXTS = (
    "$name", "$text", "$value", "$parts each text", "$parts each part", "$. as tool_choice",
    "$id (made)", "$name (optional)", "$name (default x)", "$name (else null)", "$text | string",
    "$value | json", "$arguments | object | json", "$input + $output", "$absent", "$present",
    "$has tool_call", "${name}", "a${name}b", "$own.x", "$nth", "$run each function", "$key",
    "x (or y $absent)", "$parts each text | bare", "$parts each text | joined (optional)",
    "$stop_reason | stop", "$. as usage", "$messages as conversation", "$tools each function",
    "", "$", "$$", "${", "$a.b.c", "null", "yes", "a'b", 'a"b', "a\\b", "a\nb", "{x}", "%s",
    "__import__('os')", "x" * 5000, "é\u2028\ud800", "\x00", "none", "tool", "true",
    "$text (old)", "$parts each text | lone (old)", "$text | plain", "$stop | listed",
)  # fmt: skip
VALUES: tuple[Any, ...] = (None, True, False, 0, 1, -1, 1.5, 10**39, "", "x", [], {}, [1], {"a": 1})


def node_of(value: Any) -> Node:
    """Build a node from plain JSON."""
    if isinstance(value, dict):
        return Node({k: node_of(v) for k, v in value.items()}, POS, dict.fromkeys(value, POS))
    return Node([node_of(v) for v in value] if isinstance(value, list) else value, POS)


def mutant(value: Any, chance: random.Random) -> Any:
    """Return a copy of a plain rule file with some mutations, mostly one."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        paths = list(_paths(value, ()))
        path = chance.choice(paths)
        change = chance.choices(CHANGES, WEIGHTS)[0]
        found = _at(value, path)
        value = _with(value, path, change(found, value, chance))
    return value


def _paths(value: Any, path: tuple[Any, ...]) -> Any:
    yield path
    if len(path) > 30:
        return
    for key, child in value.items() if isinstance(value, dict) else ():
        yield from _paths(child, (*path, key))
    for n, child in enumerate(value) if isinstance(value, list) else ():
        yield from _paths(child, (*path, n))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


_GONE = object()


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return {} if new is _GONE else new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1 and new is _GONE:
        del copy[path[0]]
    else:
        copy[path[0]] = _with(copy[path[0]], path[1:], new)
    return copy


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
    at = chance.randrange(len(found))
    return (found[:at] + found[at + 1 :], found + "x", found.upper(), found[::-1], found[:at])[kind]


def _renamed(found: Any, whole: Any, chance: random.Random) -> Any:
    if not isinstance(found, dict) or not found:
        return _literal(found, whole, chance)
    old = chance.choice(list(found))
    new = chance.choice((f"{old}_", chance.choice(WORDS), f"{old} (or other)", "`a b`"))
    return {(new if key == old else key): child for key, child in found.items()}


def _other(found: Any, whole: Any, chance: random.Random) -> Any:
    """Put a node from elsewhere here."""
    return _at(whole, chance.choice(list(_paths(whole, ()))))


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

# -- one execution ------------------------------------------------------------------------------

NODES = frozenset(
    "Module FunctionDef arguments arg Assign AugAssign Expr For While If Try ExceptHandler Raise "
    "Return Continue Break Pass Name Load Store Constant Call keyword Attribute Subscript Slice "
    "Dict List Tuple Set BinOp UnaryOp BoolOp Compare IfExp JoinedStr FormattedValue ListComp "
    "DictComp GeneratorExp comprehension Starred NamedExpr And Or Not Eq NotEq Lt LtE Gt GtE Is "
    "IsNot In NotIn Add Sub Mult USub BitOr Delete Del".split()
)


def forbidden(text: str) -> str | None:
    """Return what generated code holds that it must not, or None."""
    for node in ast.walk(ast.parse(text)):
        kind = type(node).__name__
        if kind not in NODES:
            return kind
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            if node.attr != "__class__":
                return f".{node.attr}"
        if isinstance(node, ast.Name) and node.id.startswith("__"):
            return node.id
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("eval", "exec", "compile", "open", "getattr", "setattr", "vars"):
                return node.func.id
    return None


class Fuzz:
    """Runs mutants of some rule files."""

    def __init__(self, seed: str, compiled: bool = True) -> None:
        self.compiled = compiled  # run the generated code too, and compare
        self.chance = random.Random(seed)
        text = GOOD.read_text(encoding="utf-8")
        self.text = text
        packaged = load.packaged_nodes()
        self.nodes: dict[str, Node] = {
            load.LADDER: packaged[load.LADDER],
            "other": parse(OTHER, "other.yaml"),
        }
        self.bases: list[tuple[str, Any, Any]] = [
            ("good", parse(text, FILE).plain(), GOOD_BODY)
        ] * 9
        for name, node in packaged.items():
            if name != load.LADDER:
                self.bases.append((name, node.plain(), PACKAGED_BODY))
        self.ladder = packaged[load.LADDER].plain()
        self.count: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.slowest = 0.0
        self.current = ""
        self.first: dict[str, str] = {}

    def run(self, times: int) -> None:
        """Run some executions."""
        for _ in range(times):
            began = time.perf_counter()
            try:
                self.one()
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                what = f"{type(error).__name__}: {str(error)[:120]}"
                self.fault(f"{what} ({Path(where.filename).name}:{where.lineno})")
            took = time.perf_counter() - began
            if took > SECONDS:
                self.fault(f"took {took:.0f} s")
            self.slowest = max(self.slowest, took)
            self.count["executions"] += 1

    def fault(self, what: str) -> None:
        """Record what must not happen, and the file with which it first did."""
        self.faults[what] += 1
        self.first.setdefault(what, self.current)

    def one(self) -> None:
        """Run one mutant: checks, the compiler, and both executors."""
        chance = self.chance
        if chance.random() < 0.1:
            self.bytes()
            return
        name, plain, body = chance.choice(self.bases)
        findings = Findings({FILE: ""})
        nodes = self.nodes
        if chance.random() < 0.05:
            steps = node_of(mutant(self.ladder, chance))
            own = {load.LADDER: steps, name: node_of(plain)}
            self.current = json.dumps(steps.plain())
        else:
            changed = mutant(plain, chance)
            own = {name: node_of(changed)}
            self.current = json.dumps(changed)
        self.loaded(load.from_nodes(own, nodes, findings), body)

    def loaded(self, rules: RuleSet | None, body: Any) -> None:
        """Convert both ways with the rules of a mutant, if it has not been refused."""
        if rules is None:
            self.count["refused"] += 1
            return
        made = next((d for d in rules.dialects if d != "other"), "other")
        self.convert(rules, made, "other", body)
        self.convert(rules, "other", made, OTHER_BODY)

    def bytes(self) -> None:
        """Mutate the text of a file."""
        chance, text = self.chance, self.text
        for _ in range(chance.choice((1, 1, 2, 5))):
            at, size = chance.randrange(len(text)), chance.choice((0, 1, 1, 3, 40))
            signs = "".join(
                chance.choices("{}[]:,$ \n\t|&*!'\"#-(>%@`x1\x00é", k=chance.choice((0, 1, 2)))
            )
            text = text[:at] + signs + text[at + size :]
        self.count["bytes"] += 1
        self.current = text
        findings = Findings({FILE: text})
        try:
            node = parse(text, FILE, findings.take)
        except RuleError as error:
            findings.take(error)
            findings.sorted()
            self.count["refused"] += 1
            return
        rules = load.from_nodes({"good": node}, self.nodes, findings)
        for finding in findings:
            assert str(finding)
        self.loaded(rules, GOOD_BODY)

    def convert(self, rules: RuleSet, source: str, target: str, body: Any) -> None:
        """Compile a pair, look at the code, and compare both executors."""
        self.count["compiler"] += source == "other"
        plan = rules.plan(source, target)
        if plan is not None:
            self.count["compiled"] += 1
            found = forbidden(plan["text"])
            assert found is None, f"generated code holds {found}"
        options = {"engine": "interpreted"}
        meant = outcome(lambda: rules.convert(body, source, target, options=options))
        if self.compiled:
            found = outcome(lambda: rules.convert(body, source, target))
            assert found == meant, "compiled and interpreted differ"


def outcome(run: Callable[[], Any]) -> Any:
    """Return a conversion, or the error that it is meant to raise."""
    try:
        out = run()
    except (ConversionError, UsageError) as error:
        return (type(error).__name__, str(error))
    return (json.dumps(out.body, sort_keys=True), sorted(map(repr, out.notes)), out.envelope)


Result = tuple[Counter[str], Counter[str], float, int, dict[str, str]]


def work(task: tuple[str, int]) -> Result:
    """Run some executions in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
    fuzz = Fuzz(task[0])
    fuzz.run(task[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return fuzz.count, fuzz.faults, fuzz.slowest, peak, fuzz.first


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzzer and print what it found."""
    parser = argparse.ArgumentParser(prog="python -m tests.rulefuzz", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=20_000)
    parser.add_argument("seed", nargs="?", default="0")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=Path, help="a folder for the files that caused a fault")
    options = parser.parse_args(arguments)
    first: dict[str, str] = {}
    count, faults, slowest, peak = Counter[str](), Counter[str](), 0.0, 0
    tasks = [(f"{options.seed}/{n}", options.count // options.jobs) for n in range(options.jobs)]
    began = time.perf_counter()
    with multiprocessing.Pool(options.jobs) as pool:
        for counted, found, slow, used, files in pool.imap_unordered(work, tasks):
            count, faults = count + counted, faults + found
            first = {**files, **first}
            slowest, peak = max(slowest, slow), max(peak, used)
    total = max(1, count["executions"])
    print(
        f"{total} executions in {time.perf_counter() - began:.0f} s: "
        f"{count['refused']} refused, {count['compiler']} reached the compiler "
        f"({count['compiler'] / total:.0%}), {count['compiled']} pairs compiled; "
        f"slowest {slowest:.2f} s, peak {peak} MB, faults {faults.total()}"
    )
    for fault, times in faults.most_common(40):
        print(f"{times:6d}  {fault}")
    for n, (fault, text) in enumerate(sorted(first.items()) if options.save else ()):
        options.save.mkdir(exist_ok=True)
        head = f"# {fault}".replace("\n", " ")
        (options.save / f"{n}.yaml").write_text(f"{head}\n{text}\n", "utf-8", "replace")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
