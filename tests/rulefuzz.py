"""Feed broken rule files to the loader, and to what reads and writes by them.

    python -m tests.rulefuzz N [SEED] [--jobs J] [--minutes M] [--packaged] [--save FOLDER]

Each execution changes a file of one of the small rule sets of tests/fuzz (which together have every
word of the language), in its data or in its bytes, and loads the set. When the checks let it pass,
some are run against another dialect, in one direction, by functions and by the walk of pictures,
and compared; all functions of these are held against a list of what they may hold. Prints how many
executions reached a conversion, the slowest, the most memory that one took, and what must not be,
of three kinds: faults (another exception than is meant, too much time or memory, code that must
not be), failures that no check foresaw and a RuleError tells, and differences of the executors.
Exits 1 on any. `--packaged` changes the packaged rules instead.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import gc
import hashlib
import itertools
import json
import multiprocessing
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from wireglot.errors import REPORT, ConversionError, RuleError, UsageError
from wireglot.language import source
from wireglot.language.findings import Findings
from wireglot.language.lenses import same
from wireglot.language.model import Dialect
from wireglot.language.source import LADDER, Node, parse
from wireglot.loading import load, written
from wireglot.rulesets import RuleSet

from . import byhand
from .changes import TEXTS, Pool, bent, mutant
from .walk import walked

FOLDER = Path(__file__).parent / "fuzz"
FILE = "fuzzed.yaml"
SECONDS = 4.0  # of the processor, that one execution takes at most
MEGABYTES = 64  # by which one execution raises the peak at most
FAULT, UNFORESEEN, DIFFERENCE = "fault", "unforeseen", "difference"
MOST = 2 * 2**30  # of memory, that a process may ask for
BYTES = 0.1  # how many change the bytes of a file
RUN = 0.5  # how many are run, of those that can be
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {},
    {"repair": True},
    {"version": "1"},
    {"json_results": "text"},
)
__all__ = ["FILE", "TEXTS", "Fuzz", "forbidden", "main", "mutant", "node_of"]


def node_of(value: Any, made: Any = source) -> Any:
    """Build a node from plain JSON, each at a place of its own; `made` has the classes of it."""
    return _node_of(value, itertools.count(1), made)


def _node_of(value: Any, lines: Iterator[int], made: Any) -> Any:
    pos = made.Pos(FILE, next(lines), 1)
    if isinstance(value, dict):
        keys = {key: made.Pos(FILE, next(lines), 1) for key in value}
        inner = {key: _node_of(child, lines, made) for key, child in value.items()}
        return made.Node(inner, pos, keys)
    if isinstance(value, list):
        return made.Node([_node_of(child, lines, made) for child in value], pos)
    return made.Node(value, pos)


# -- what generated code may hold -----------------------------------------------------------------

NODES = frozenset(
    "Module FunctionDef arguments arg Assign AugAssign Expr For While If Try ExceptHandler Raise "
    "Return Continue Break Pass Name Load Store Constant Call keyword Attribute Subscript Slice "
    "Dict List Tuple Set BinOp UnaryOp BoolOp Compare IfExp JoinedStr FormattedValue ListComp "
    "DictComp GeneratorExp comprehension Starred NamedExpr And Or Not Eq NotEq Lt LtE Gt GtE Is "
    "IsNot In NotIn Add Sub Mult USub BitOr Delete Del".split()
)
ATTRIBUTES = frozenset(("__class__", "__traceback__"))
CALLS = frozenset("eval exec compile open getattr setattr vars".split())


@functools.lru_cache(100_000)
def forbidden(text: str) -> str | None:
    """Return what generated code holds that it must not, or None."""
    stack: list[Any] = [ast.parse(text)]
    while stack:
        node = stack.pop()
        kind = node.__class__.__name__
        if kind not in NODES:
            return str(kind)
        if kind == "Attribute" and node.attr.startswith("_") and node.attr not in ATTRIBUTES:
            return f".{node.attr}"
        if kind == "Name" and node.id.startswith("__"):
            return str(node.id)
        if kind == "Call" and node.func.__class__ is ast.Name and node.func.id in CALLS:
            return str(node.func.id)
        for field in node._fields:
            child = getattr(node, field, None)
            if child.__class__ is list:
                stack += [item for item in child if isinstance(item, ast.AST)]
            elif isinstance(child, ast.AST):
                stack.append(child)
    return None


# -- what is changed ------------------------------------------------------------------------------


class Base(NamedTuple):
    """A rule set: its files by their stems, and a payload for each unit."""

    name: str
    texts: dict[str, str]
    plain: dict[str, Any]
    nodes: dict[str, Node]
    bodies: dict[str, Any]
    other: str  # the dialect to convert with


def read(folder: Path) -> Base:
    """Read the files of a folder."""
    texts = {p.stem: p.read_text(encoding="utf-8") for p in sorted(folder.glob("*.yaml"))}
    nodes = {stem: parse(text, f"{stem}.yaml") for stem, text in texts.items()}
    bodies = {p.stem: json.loads(p.read_text("utf-8")) for p in folder.glob("*.json")}
    plain = {stem: node.plain() for stem, node in nodes.items()}
    tools = any("tools" in file.get("request", {}).get("wire", {}) for file in plain.values())
    return Base(folder.name, texts, plain, nodes, bodies, "tooled" if tools else "other")


def packaged() -> list[Base]:
    """Return each packaged dialect as a rule set of its own."""
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
    }
    nodes = load.packaged().files
    found = []
    for name, node in nodes.items():
        files = {name: node}
        if "extends" in node.value:
            parent = node.value["extends"].value
            files[parent] = nodes[parent]
        files[LADDER] = nodes[LADDER]
        plain = {stem: each.plain() for stem, each in files.items()}
        if name != LADDER:
            found.append(Base(name, {}, plain, files, {"request": body}, "other"))
    return found


# -- one execution --------------------------------------------------------------------------------


class Hang(BaseException):
    """Raised in an execution that takes too long."""


def hang(*_: object) -> NoReturn:
    raise Hang


class Fuzz:
    """Runs changed rule sets."""

    def __init__(
        self, seed: str, bases: Sequence[Base] | None = None, save: Path | None = None
    ) -> None:
        self.save = save  # a folder for the files that cause a fault, each written at once
        self.chance = random.Random(seed)
        shared = read(FOLDER)
        self.bodies = shared.bodies
        self.around = {
            name: {LADDER: shared.nodes[LADDER], name: shared.nodes[name]} for name in shared.bodies
        }
        folders = sorted(path for path in FOLDER.iterdir() if path.is_dir())
        self.bases = [read(folder) for folder in folders] if bases is None else list(bases)
        self.pool = Pool(file for base in self.bases for file in base.plain.values())
        self.count: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()  # what must not be, beginning with its kind
        self.first: dict[str, str] = {}
        self.slowest = 0.0
        self.grown = 0  # megabytes by which one execution raised the peak
        self.current = ""
        self.others: dict[str, Any] = {}  # built once, with the ladder that the bases share

    def run(self, times: int, until: float = float("inf")) -> None:
        """Run some executions, or for some time."""
        signal.signal(signal.SIGPROF, hang)
        peak = _peak()
        for _ in range(times):
            if time.monotonic() > until:
                return
            began = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                self.one()
            except Hang:
                self.fault(f"took more than {SECONDS:.0f} s")
            except Exception as error:
                told = isinstance(error, RuleError) and error.help == REPORT
                cause = error.__cause__ if told and error.__cause__ is not None else error
                where = traceback.extract_tb(cause.__traceback__)[-1]
                what = f"{type(cause).__name__}: {str(cause)[:120]}"
                what = f"{what} ({Path(where.filename).name}:{where.lineno})"
                self.fault(what, UNFORESEEN if told else FAULT)
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.slowest = max(self.slowest, time.process_time() - began)
            now = _peak()
            if now - peak > MEGABYTES and self.count["executions"]:
                self.fault(f"took {now - peak} MB")
            self.grown, peak = max(self.grown, now - peak), now
            self.count["executions"] += 1

    def fault(self, what: str, kind: str = FAULT) -> None:
        """Record what must not happen, and the file with which it first did."""
        what = f"{kind}: {what}"
        self.faults[what] += 1
        if self.first.setdefault(what, self.current) is self.current and self.save is not None:
            self.save.mkdir(exist_ok=True)
            name = hashlib.sha256(self.current.encode("utf-8", "replace")).hexdigest()[:12]
            head = f"# {what}".replace("\n", " ")
            text = f"{head}\n{self.current}\n"
            (self.save / f"{name}.yaml").write_text(text, "utf-8", "replace")

    def one(self) -> None:
        """Run one changed rule set: checks, functions, and conversions."""
        chance = self.chance
        base = chance.choice(self.bases)
        stem = chance.choice(list(base.plain))
        findings = Findings({FILE: ""})
        if base.texts and chance.random() < BYTES:
            node = self.bytes(base.texts[stem], findings)
        else:
            changed = mutant(base.plain[stem], chance, self.pool)
            self.current = f"# {base.name}/{stem}\n{json.dumps(changed)}"
            node = node_of(changed)
        if node is not None:
            rules = byhand.from_nodes({**base.nodes, stem: node}, self.around[base.other], findings)
            if rules is not None:
                self.loaded(rules, base)
                return
        self.count["refused"] += 1

    def bytes(self, text: str, findings: Findings) -> Node | None:
        """Change the text of a file, and read it."""
        self.count["bytes"] += 1
        self.current = findings.texts[FILE] = bent(text, self.chance)
        try:
            return parse(self.current, FILE, findings.add_error)
        except RuleError as error:
            findings.add_error(error)
            assert all(str(finding) for finding in findings)
            return None

    def loaded(self, rules: RuleSet, base: Base) -> None:
        """Run a rule set that was not refused now and then, in one direction."""
        chance, other = self.chance, base.other
        names = [name for name in rules.dialects if name != other]
        if not names:
            self.count["refused"] += 1
            return
        if LADDER not in base.nodes:  # nothing of the other dialect changes
            if other not in self.others:
                self.others[other] = rules[other]
            rules._dialects[other, ()] = self.others[other]
        pair, body = [chance.choice(names), other], base.bodies.get("request")
        if body is None or chance.random() < 0.5:
            pair, body = pair[::-1], chance.choice(self.bodies[other])
        self.count["reached"] += 1
        if chance.random() < RUN:
            self.looked(rules[names[0]].model)
            self.executed(rules, pair, body)
            for unit, sent in base.bodies.items():
                if unit == "stream":
                    streamed(rules, names[0], sent)
                elif unit != "request":
                    target = names[0] if unit == "session" else other
                    outcome(functools.partial(rules.convert, sent, names[0], target, unit=unit))

    def looked(self, dialect: Dialect) -> None:
        """Look at all functions of a dialect."""
        for way in ("read_away", "write_away"):
            for function in written.functions(dialect, way).values():
                self.count["functions"] += 1
                if (found := forbidden(function.text)) is not None:
                    self.fault(f"generated code holds {found}")

    def executed(self, rules: RuleSet, pair: Sequence[str], body: Any) -> None:
        """Compare what functions and the walk make of a payload."""
        self.count["run"] += 1
        self.halved(rules, pair, body)
        options = self.chance.choice(OPTIONS)
        if differ(rules, pair[0], pair[1], body, options):
            self.fault(f"convert, {'/'.join(pair)} {options or ''}", DIFFERENCE)

    def halved(self, rules: RuleSet, pair: Sequence[str], body: Any) -> None:
        """Compare what functions and the walk read of a payload, and write of what was read."""
        one, two = rules[pair[0]], rules[pair[1]]
        with contextlib.suppress(ConversionError, UsageError):
            with walked():
                meant = one.read(body)
                right = outcome(functools.partial(two.write, meant.ir))
            read = one.read(body)
            if not same(read.ir, meant.ir) or read.notes != meant.notes:
                self.fault(f"read, {pair[0]}", DIFFERENCE)
            if outcome(functools.partial(two.write, meant.ir)) != right:
                self.fault(f"write, {pair[1]}", DIFFERENCE)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def differ(rules: RuleSet, source: str, target: str, body: Any, options: Any) -> Any:
    """Return what functions and the walk make of a payload, where it is not the same."""

    def run() -> Any:
        return outcome(lambda: rules.convert(body, source, target, options=options))

    found = run()
    with walked():
        meant = run()
    return None if found == meant else (found, meant)


def streamed(rules: RuleSet, name: str, sent: Any) -> None:
    """Fold the frames of a stream, and write the frames of what they make."""
    with contextlib.suppress(ConversionError, UsageError):
        list(rules.frames(rules.collect(sent, name), name))


def outcome(run: Callable[[], Any]) -> Any:
    """Return a conversion, or the error that it is meant to raise."""
    try:
        out = run()
    except (ConversionError, UsageError) as error:
        return (type(error).__name__, str(error))
    return (json.dumps(out.body, sort_keys=True), sorted(map(repr, out.notes)), out.envelope)


# -- the command ----------------------------------------------------------------------------------


class Task(NamedTuple):
    """What one process does."""

    seed: str
    times: int
    until: float
    packaged: bool
    save: Path | None


def work(task: Task) -> tuple[Fuzz, float, int]:
    """Run some executions in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    fuzz = Fuzz(task.seed, packaged() if task.packaged else None, task.save)
    began = time.process_time()
    fuzz.run(task.times, task.until)
    fuzz.others.clear()
    return fuzz, time.process_time() - began, _peak()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzzer and print what it found."""
    parser = argparse.ArgumentParser(prog="python -m tests.rulefuzz", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=20_000)
    parser.add_argument("seed", nargs="?", default="0")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--packaged", action="store_true")
    parser.add_argument("--save", type=Path, help="a folder for the files that caused a fault")
    options = parser.parse_args(arguments)
    count, faults = Counter[str](), Counter[str]()
    slowest, used, grown, peak, began = 0.0, 0.0, 0, 0, time.monotonic()
    until = began + 60 * options.minutes
    each = -(-options.count // options.jobs)
    tasks = [
        Task(f"{options.seed}/{n}", each, until, options.packaged, options.save)
        for n in range(options.jobs)
    ]
    with multiprocessing.Pool(options.jobs) as pool:
        for fuzz, spent, memory in pool.imap_unordered(work, tasks):
            count, faults = count + fuzz.count, faults + fuzz.faults
            slowest, grown = max(slowest, fuzz.slowest), max(grown, fuzz.grown)
            used, peak = used + spent, max(peak, memory)
    total, took = max(1, count["executions"]), time.monotonic() - began
    mean = 1000 * used / total
    sums = Counter(fault.partition(":")[0] for fault in faults.elements())
    kinds = f"faults {sums[FAULT]}, unforeseen {sums[UNFORESEEN]}, differences {sums[DIFFERENCE]}"
    print(
        f"{total:,} executions in {took:.0f} s ({mean:.1f} ms of the processor each), "
        f"{count['bytes']:,} of bytes: {count['refused']:,} refused, {count['reached']:,} reached "
        f"a conversion ({count['reached'] / total:.0%}), {count['run']:,} run both ways, "
        f"{count['functions']:,} functions; slowest {slowest:.2f} s of the processor, "
        f"peak {peak} MB, raised by {grown} MB at most by one; {kinds}"
    )
    for fault, times in faults.most_common(40):
        print(f"{times:6d}  {fault}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
