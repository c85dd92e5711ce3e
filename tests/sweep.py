"""Take recorded exchanges through every oracle, over all pairs of dialects, and print a table.

    python -m tests.sweep FILES... [--pairs all|A>B,C>D] [--perturb N|all] [--limit N] [--jobs 2]

The file `sdk` stands for bodies made from the SDKs' types, at least one for each field path;
`vertex=FILE` takes the exchanges of a file as those of that dialect.

Every request, and every response with status 200, is converted to every dialect: it must not
fail, be valid for the target's SDK, hear single changed leaves, and give back calls, results, ids
and order.  Within its own dialect it must come back exactly.  Failures that an exception in
`tests/exceptions.txt` names are counted apart.  Exit code 1: a bar was missed.
"""

from __future__ import annotations

import argparse
import fnmatch
import gzip
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from .family import WIRES, heads
from .oracles import bedrock, identity, leaves, perturb, roundtrip, samples, sdk

Json = Any
What = Literal["error", "crash", "sdk", "unheard", "unexplained", "identity", "roundtrip"]
WHATS: tuple[What, ...] = (
    "error", "crash", "sdk", "unheard", "unexplained", "identity", "roundtrip",
)  # fmt: skip
CLASSES = ("recording", "sdk-older", "target-lacks", "intent", "gap")
EXCEPTIONS = Path(__file__).with_name("exceptions.txt")
# The recordings of these dialects are bodies only; their models stand in the URL.
MODELS = dict.fromkeys(sdk.GOOGLE, "gemini-2.5-flash") | {"bedrock-converse": bedrock.MODEL}
MADE = "sdk:"
# What recordings call a vendor of Chat whose dialect has another name.
SAID = {
    "xai": "xai", "azure": "azure-openai", "azure-ai": "azure-openai",
    "llamacpp": "llama-cpp", "snowflake": "snowflake", "zai": "glm",
    "databricks": "databricks", "copilot": "copilot", "perplexity": "perplexity",
    "google-ai": "gemini-openai", "moonshotai": "kimi", "together": "together",
}  # fmt: skip
PICTURED = 0.97  # of the leaves of each dialect and unit
IN_ALL = 0.995  # of all leaves
EXCEPTED = 0.01


@dataclass(slots=True, frozen=True)
class Failure:
    """One oracle's verdict on one conversion."""

    what: What
    source: str
    target: str
    unit: str
    exchange: str
    message: str
    own_fault: bool = False  # the recording fails its own SDK


@dataclass(slots=True)
class Outcome:
    """All that one exchange, or a whole sweep, gave."""

    failures: list[Failure] = field(default_factory=list)
    counts: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)

    def add(self, other: Outcome) -> None:
        """Take in another outcome."""
        self.failures.extend(other.failures)
        self.counts.update(other.counts)


@dataclass(slots=True, frozen=True)
class Unit:
    """One body of an exchange, ready to be converted."""

    dialect: str
    unit: sdk.Unit
    body: Json
    exchange: str
    model: str | None = None
    stream: bool | None = None


@dataclass(slots=True, frozen=True)
class Settings:
    """What a sweep does; sent to the worker processes."""

    pairs: frozenset[tuple[str, str]] | None = None
    perturb: int | None = 8


class Engine:
    """The little of wireglot that the sweep uses."""

    def __init__(self) -> None:
        import wireglot

        self.error: type[Exception] = wireglot.ConversionError
        self.rules: Any = wireglot.packaged()
        asked = (n for n in self.rules.dialects if "request" in self.rules[n].model.units)
        self.dialects = tuple(asked)
        self.targets = heads(self.dialects)

    def convert(
        self,
        body: Json,
        source: str,
        target: str,
        unit: str,
        model: str | None = None,
        stream: bool | None = None,
        options: dict[str, Json] | None = None,
    ) -> Any:
        """Convert one body."""
        return self.rules.convert(
            body, source, target, unit=unit, model=model, stream=stream, options=options
        )

    def read(self, unit: Unit) -> Json:
        """Read one body into the IR."""
        reading = self.rules[unit.dialect].read(
            unit.body, unit=unit.unit, model=unit.model, stream=unit.stream
        )
        return reading.ir

    def write(self, ir: Json, dialect: str, unit: str) -> Json:
        """Write an IR in one dialect."""
        return self.rules[dialect].write(ir, unit=unit).body


@cache
def engine() -> Engine:
    """Load the rules once in each process."""
    return Engine()


# One exchange.


def dialect_of(exchange: Json, dialects: Iterable[str]) -> str | None:
    """Return the dialect of a recorded exchange, the first of its names that there is."""
    names = [exchange.get("format"), exchange.get("family")]
    if names[0] in ("openai-compat", "xai-chat"):
        names.insert(0, SAID.get(exchange.get("vendor", ""), "chat-compatible"))
    if names[1] == "anthropic":
        names.insert(0, f"{exchange.get('vendor')}-anthropic")
    return next((name for name in names if name in dialects), None)


def units_of(exchange: Json, dialects: Iterable[str]) -> Iterator[Unit]:
    """Give the bodies of a recorded exchange that the dialects at hand can read."""
    dialect = dialect_of(exchange, dialects)
    if dialect is None:
        return
    status = exchange.get("status", 200)
    if isinstance(exchange.get("request"), dict):
        outside = dialect in MODELS
        yield Unit(
            dialect,
            "request",
            exchange["request"],
            exchange["id"],
            MODELS[dialect] if outside and "model" not in exchange["request"] else None,
            exchange.get("stream") is not None if outside else None,
        )
    if isinstance(exchange.get("response"), dict):
        kind: sdk.Unit = "response" if status == 200 else "error"
        yield Unit(dialect, kind, exchange["response"], exchange["id"])


def judge(exchange: Json, settings: Settings) -> Outcome:
    """Take one exchange through all oracles."""
    outcome = Outcome()
    for unit in units_of(exchange, engine().dialects):
        _judge_home(unit, outcome)
        if unit.unit == "error":
            continue
        pairs = settings.pairs
        for target in engine().targets if pairs is None else engine().dialects:
            if target == unit.dialect or not sdk.is_judged(target, unit.unit):
                continue
            if pairs is None or (unit.dialect, target) in pairs:
                _judge_pair(unit, target, settings, outcome)
    return outcome


def _judge_home(unit: Unit, outcome: Outcome) -> None:
    """Check identity, and how much of a body its own dialect pictures."""
    key = (unit.dialect, unit.dialect, unit.unit)
    tell = _teller(unit, unit.dialect, outcome)
    outcome.counts[*key, "conversions"] += 1

    def converted(body: Json, options: dict[str, Json] | None = None) -> Json:
        given = (unit.dialect, unit.dialect, unit.unit, unit.model, unit.stream)
        return engine().convert(body, *given, options).body

    def written(body: Json) -> Json:
        return converted(body, {"repair": False})  # with an option a body is not just given back

    def stored(body: Json) -> Json:
        ir = identity.through_json(engine().read(unit))
        return engine().write(ir, unit.dialect, unit.unit)

    ways = (("convert", converted), ("convert, written", written), ("read, store, write", stored))
    for way, through in ways:
        with _Caught(tell, way) as caught:
            for problem in identity.changed(unit.body, through):
                tell("identity", f"{way}: {problem}")
        if caught.failed:
            return
    with _Caught(tell, "read"):
        number, total = leaves.pictured(unit.dialect, unit.unit, unit.body, engine().read(unit))
        if not unit.exchange.startswith(MADE):  # that is what tests.coverage counts
            outcome.counts[*key, "pictured"] += number
            outcome.counts[*key, "leaves"] += total


def _judge_pair(unit: Unit, target: str, settings: Settings, outcome: Outcome) -> None:
    """Check one conversion from one dialect to another."""
    key = (unit.dialect, target, unit.unit)
    tell = _teller(unit, target, outcome)
    outcome.counts[*key, "conversions"] += 1

    def convert(
        body: Json, model: str | None = unit.model, stream: bool | None = unit.stream
    ) -> Any:
        return engine().convert(body, unit.dialect, target, unit.unit, model, stream)

    there: Any = None
    with _Caught(tell, "convert"):
        there = convert(unit.body)
    if there is None:
        return
    for problem in sdk.problems(target, unit.unit, there.body):
        tell("sdk", problem)
    with _Caught(tell, "convert back"):
        envelope = there.envelope
        back = engine().convert(
            there.body,
            target,
            unit.dialect,
            unit.unit,
            getattr(envelope, "model", None),
            getattr(envelope, "stream", None),
        )
        for loss in roundtrip.losses(unit.dialect, target, unit.unit, unit.body, there, back):
            tell("roundtrip", loss)
    if settings.perturb == 0:
        return
    outside = []
    if unit.model is not None:
        outside.append(lambda body: convert(body, f"{unit.model}x"))
    if unit.stream is not None:
        outside.append(lambda body: convert(body, stream=not unit.stream))
    found = perturb.perturb(
        convert,
        unit.body,
        source=unit.dialect,
        target=target,
        unit=unit.unit,
        error=engine().error,
        limit=settings.perturb,
        seed=unit.exchange,
        outside=outside,
    )
    outcome.counts[*key, "perturbed"] += found.tried
    for finding in found.unheard:
        tell("unheard", str(finding))
    for finding in found.unexplained:
        tell("unexplained", str(finding))
    for crash in found.crashes:
        tell("crash", crash)


Tell = Callable[[What, str], None]


def _teller(unit: Unit, target: str, outcome: Outcome) -> Tell:
    own_fault = bool(sdk.problems(unit.dialect, unit.unit, unit.body))

    def tell(what: What, message: str) -> None:
        outcome.failures.append(
            Failure(what, unit.dialect, target, unit.unit, unit.exchange, message, own_fault)
        )

    return tell


class _Caught:
    """Turn exceptions into failures: the engine's own are errors, all others crashes."""

    def __init__(self, tell: Tell, step: str) -> None:
        self.tell, self.step, self.failed = tell, step, False

    def __enter__(self) -> _Caught:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        self.failed = True
        own = isinstance(error, engine().error)
        name = "" if own else f"{type(error).__name__}: "
        text = str(error).partition("\n")[0]
        self.tell("error" if own else "crash", f"{self.step}: {name}{text}")
        return True


# Exceptions.


@dataclass(slots=True)
class Exemption:
    """One line of the file of exceptions."""

    kind: str
    exchange: str
    pair: str
    unit: str
    what: str
    reason: str
    line: int = 0
    used: int = 0

    def covers(self, failure: Failure) -> bool:
        """Say whether this line forgives a failure."""
        what, _, message = self.what.partition(":")
        return (
            fnmatch.fnmatchcase(failure.exchange, self.exchange)
            and fnmatch.fnmatchcase(f"{failure.source}>{failure.target}", self.pair)
            and fnmatch.fnmatchcase(failure.unit, self.unit)
            and fnmatch.fnmatchcase(failure.what, what)
            and (not message or fnmatch.fnmatchcase(failure.message, message))
        )


def unforgiven(outcome: Outcome) -> list[Failure]:
    """Return the failures that no line of the file of exceptions forgives."""
    lines = exemptions(EXCEPTIONS.read_text(encoding="utf-8"))
    return [failure for failure in outcome.failures if class_of(failure, lines) is None]


def exemptions(text: str) -> list[Exemption]:
    """Read the file of exceptions."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [part.strip() for part in line.split("|")]
        if len(fields) != 6 or fields[0] not in CLASSES[1:] or not fields[5]:
            raise ValueError(
                f"tests/exceptions.txt:{number}: a line is `class | exchange | source>target | "
                f"unit | what | reason`, its class one of {', '.join(CLASSES[1:])}"
            )
        kind, exchange, pair, unit, what, reason = fields
        found.append(Exemption(kind, exchange, pair, unit, what, reason, number))
    return found


def class_of(failure: Failure, lines: Sequence[Exemption]) -> str | None:
    """Give the class of exception that a failure falls in, or None."""
    if failure.own_fault and failure.what in ("sdk", "error"):
        return "recording"
    for line in lines:
        if line.covers(failure):
            line.used += 1
            return line.kind
    return None


# The whole sweep.


def exchanges(files: Iterable[Path], limit: int | None = None) -> Iterator[str]:
    """Read exchanges from `.jsonl` and `.jsonl.gz` files, one line of JSON each.

    The file `sdk` stands for bodies made from the SDKs' types, one or more for each field path;
    `DIALECT=FILE` takes the exchanges of a file as those of another dialect.
    """
    for path in files:
        if str(path) == "sdk":
            yield from islice(_made_exchanges(), limit)
            continue
        dialect, other, rest = str(path).rpartition("=")
        path = Path(rest)
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            for line in islice(lines, limit):
                if line.strip():
                    yield json.dumps({**json.loads(line), "format": dialect}) if other else line


def _made_exchanges() -> Iterator[str]:
    units: tuple[sdk.Unit, ...] = ("request", "response")
    for dialect in sdk.DIALECTS:
        for unit in units:
            for number, (path, body) in enumerate(samples.samples(dialect, unit)):
                name = f"{MADE}{number}:{path}"
                yield json.dumps({"id": name, "format": dialect, "status": 200, unit: body})


def sweep(lines: Iterable[str], settings: Settings, jobs: int = 1) -> Outcome:
    """Judge every exchange."""
    total = Outcome()
    tasks = ((line, settings) for line in lines)
    if jobs <= 1:
        for task in tasks:
            total.add(_work(task))
        return total
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for outcome in pool.imap_unordered(_work, tasks, chunksize=4):
            total.add(outcome)
    return total


def _work(task: tuple[str, Settings]) -> Outcome:
    line, settings = task
    return judge(json.loads(line), settings)


def table(outcome: Outcome, excepted: Counter[tuple[str, str, str, str]]) -> Iterator[str]:
    """Write the table: a row for each source, target and unit; failures without the excepted."""
    failed: Counter[tuple[str, str, str, str]] = Counter()
    for failure in outcome.failures:
        failed[failure.source, failure.target, failure.unit, failure.what] += 1
    failed.subtract(excepted)
    heads = ("convs", *WHATS, "tried", "pictured")
    yield f"{'source > target':36}{'unit':10}" + "".join(f"{head:>12}" for head in heads)
    rows = sorted({key[:3] for key in outcome.counts})
    for row in rows:
        cells = [str(outcome.counts[*row, "conversions"])]
        cells += [str(failed[*row, what] or "-") for what in WHATS]
        cells.append(str(outcome.counts[*row, "perturbed"] or "-"))
        seen, every = outcome.counts[*row, "pictured"], outcome.counts[*row, "leaves"]
        cells.append(f"{100 * seen / every:.2f}%" if every else "-")
        source, target, unit = row
        yield f"{source + ' > ' + target:36}{unit:10}" + "".join(f"{cell:>12}" for cell in cells)


def groups(failures: Iterable[Failure]) -> Iterator[str]:
    """Write each distinct failure once, the most frequent first."""
    found: dict[tuple[str, ...], list[str]] = {}
    for failure in failures:
        message = leaves.grouped(failure.message)
        if failure.what in ("unheard", "unexplained"):
            message = message.partition(": ")[0]  # the values differ from body to body
        key: tuple[str, ...] = (failure.what, failure.source, failure.target, failure.unit, message)
        found.setdefault(key, []).append(failure.exchange)
    for key, ids in sorted(found.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        what, source, target, unit, message = key
        example = next(
            f.message
            for f in _by_id(failures, ids[0])
            if f.what == what and leaves.grouped(f.message).startswith(message[:40])
        )
        yield f"{len(ids):6}  {what:12}{source}>{target} {unit}  {message[:300]}"
        shown = "" if example == message else f"  {example[:160]}"
        yield f"{'':8}e.g. {ids[0]}{shown}"


def _by_id(failures: Iterable[Failure], exchange: str) -> Iterator[Failure]:
    return (failure for failure in failures if failure.exchange == exchange)


def bars(outcome: Outcome, remaining: Sequence[Failure], excepted: Counter[str]) -> Iterator[str]:
    """Name every bar that was missed."""
    for what in WHATS:
        number = sum(failure.what == what for failure in remaining)
        if number:
            yield f"{what}: {number}, should be 0"
    for source, unit in sorted({(key[0], key[2]) for key in outcome.counts if key[3] == "leaves"}):
        seen = outcome.counts[source, source, unit, "pictured"]
        every = outcome.counts[source, source, unit, "leaves"]
        if unit != "error" and seen < PICTURED * every:
            yield f"pictured: {source} {unit} {100 * seen / every:.2f} %, should be 97 %"
    seen, every = (
        sum(n for key, n in outcome.counts.items() if key[3] == word)
        for word in ("pictured", "leaves")
    )
    if seen < IN_ALL * every:
        yield f"pictured: {100 * seen / every:.2f} % of all, should be 99.5 %"
    conversions = sum(n for key, n in outcome.counts.items() if key[3] == "conversions")
    others = sum(number for kind, number in excepted.items() if kind != "recording")
    if others > EXCEPTED * conversions:
        yield f"exceptions: {others} of {conversions} conversions, should be at most 1 %"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sweep from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--pairs", default="all", help="`all`, or `A>B,C>D`")
    parser.add_argument("--perturb", default="8", help="leaves tried of each body, or `all`")
    parser.add_argument("--limit", type=int, help="only so many exchanges of each file")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    started = time.monotonic()
    whole = options.pairs == "all"
    pairs = _every() if whole else frozenset(map(_pair, options.pairs.split(",")))
    number = None if options.perturb == "all" else int(options.perturb)
    settings = Settings(pairs, number)
    outcome = sweep(exchanges(options.files, options.limit), settings, options.jobs)

    lines = exemptions(EXCEPTIONS.read_text(encoding="utf-8"))
    remaining: list[Failure] = []
    by_class: Counter[str] = Counter()
    conversions: set[tuple[str, ...]] = set()
    by_cell: Counter[tuple[str, str, str, str]] = Counter()
    for failure in outcome.failures:
        kind = class_of(failure, lines)
        if kind is None:
            remaining.append(failure)
            continue
        cell: str = failure.what
        by_cell[failure.source, failure.target, failure.unit, cell] += 1
        one: tuple[str, ...] = (
            kind,
            failure.exchange,
            failure.source,
            failure.target,
            failure.unit,
        )
        if one not in conversions:  # exceptions are counted by conversion
            conversions.add(one)
            by_class[kind] += 1
    print(*table(outcome, by_cell), sep="\n")
    print("\nexceptions by conversion:", dict(by_class) or "none")
    for line in lines:
        if not line.used and whole and options.limit is None and line.unit != "stream":
            print(f"tests/exceptions.txt:{line.line} forgave nothing")
    if remaining:
        print("\nfailures, each distinct one once:")
        print(*groups(remaining), sep="\n")
    missed = list(bars(outcome, remaining, by_class))
    print("\n" + ("\n".join(f"missed: {bar}" for bar in missed) or "every bar is met"))
    print(f"{time.monotonic() - started:.0f} s")
    return int(bool(missed))


def _every() -> frozenset[tuple[str, str]]:
    """Return all pairs of a dialect and one that is no vendor's of Chat."""
    targets = (*engine().targets, *WIRES)
    return frozenset((one, two) for one in engine().dialects for two in targets)


def _pair(text: str) -> tuple[str, str]:
    source, _, target = text.strip().partition(">")
    return source, target


if __name__ == "__main__":
    sys.exit(main())
