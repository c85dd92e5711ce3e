"""The table of bars: `python -m benchmarks bars [--quick] [--only cells,loops] [--peers DIR]`.

The yardstick is `json.loads` and `json.dumps` (stdlib) of the same body, in the same process and
round; where there is some, careful code by hand. Notes are on. Each figure is a multiple, unless
the row says what else. All cells go into build/bars.json; `before.json` holds those of before.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import wireglot

from . import cells, floor_careful, floor_streams, fresh, loops, recorded, stream_frames
from .cells import frozen, measured
from .peers import PEERS
from .streaming import whole as translated
from .timing import race
from .workloads import CONVERT, request, response

BEFORE = Path(__file__).with_name("before.json")
SAVED = Path(__file__).resolve().parents[1] / "build" / "bars.json"


class Row(NamedTuple):
    """A row of the table: what must be reached, and what is aimed at."""

    name: str
    what: str
    bar: float | None  # None: `part` of what it was before
    aim: float | None
    part: tuple[float, float] = (0, 0)


ROWS = (
    Row("cells median", "all cells of small recorded bodies: median", 4, 2.5),
    Row("cells worst", "  worst cell", 8, 6),
    Row("home median", "a dialect to itself: median", 4, 2.5),
    Row("home worst", "  worst", 8, 6),
    Row("further median", "further dialects, home, to five, from five: median", 4, 2.5),
    Row("further worst", "  worst cell", 8, 6),
    Row("agents median", "requests of agents to five providers: median cell", 3, 1.5),
    Row("agents worst", "  worst body", 8, 4),
    Row("W1", "W1, worst of four directions, x careful", *CONVERT["W1"]),
    Row("W2", "W2", *CONVERT["W2"]),
    Row("W3", "W3", *CONVERT["W3"]),
    Row("responses", "responses, worst of four directions, x careful", 4, 2.5),
    Row("loop 20 state", "loop of 20 rounds with riders, a state", 6, 3),
    Row("loop 20", "  without", 6, 3),
    Row("loop 60 state", "loop of 60 rounds with riders, a state", 6, 3),
    Row("loop 60", "  without", 6, 3),
    Row("W4", "W4, frames, worse direction, x by hand", 2, 1.2),
    Row("streams median", "recorded streams, x JSON of their frames: median pair", None, None,
        (1 / 3, 1 / 5)),
    Row("streams worst", "  worst pair", None, None, (1 / 3, 1 / 5)),
    Row("fresh request", "fresh process: W1, x `python -c pass`", 5, 4),
    Row("fresh response", "  a response", 5, 4),
    Row("fresh any", "  worst of four", 5, 4),
    Row("custom", "custom dialect: load and first conversion, s", 0.1, 0.05),
)  # fmt: skip


class Size(NamedTuple):
    """How much is measured."""

    bodies: int
    rounds: int
    agents: int  # of a provider
    agent_rounds: int
    streams: int
    processes: int


QUICK, FULL = Size(5, 6, 5, 3, 3, 7), Size(16, 12, 100, 3, 8, 20)
Figures = dict[str, float]
Stream = tuple[list[Any], list[str]]
Found = tuple[Figures, Figures, list[str]]  # rows, cells, what more to say


def small(size: Size) -> Found:
    """Measure each cell of small bodies."""
    pairs = [(source, target) for source in recorded.FILES for target in recorded.FILES]
    rows, found, more = _cells("cells", pairs, size)
    home = [value for key, value in found.items() if _is_home(key)]
    return rows | {"home median": statistics.median(home), "home worst": max(home)}, found, more


def further(size: Size) -> Found:
    """Measure small bodies of dialects that came later: home, to five, and from them."""
    pairs = [
        pair
        for one in recorded.FURTHER
        for pair in [
            (one, one),
            *((one, t) for t in recorded.FIVE),
            *((s, one) for s in recorded.FIVE),
        ]
    ]
    return _cells("further", pairs, size)


def _cells(name: str, pairs: Iterable[tuple[str, str]], size: Size) -> Found:
    """Measure the cells of some pairs, and name the worst."""
    found: Figures = {}
    more = []
    for source, target in pairs:
        for unit in recorded.UNITS:
            bodies = recorded.spread(recorded.small(source, unit), size.bodies)
            one = measured(cells.engine(target), bodies, size.rounds)
            found[f"{source}>{target} {unit}"] = one.ratio
            more += [f"failed: {source}>{target} {unit} {said}" for said in one.failed]
    worst = max(found, key=lambda key: found[key])
    rows = {f"{name} median": statistics.median(found.values()), f"{name} worst": found[worst]}
    return rows, found, [f"worst cell of {name}: {worst}", *more]


def _is_home(key: str) -> bool:
    source, _, target = key.split()[0].partition(">")
    return source == target


def agents(size: Size) -> Found:
    """Measure requests of coding agents."""
    found: Figures = {}
    worst, which = 0.0, ""
    for source in recorded.FIVE:
        bodies = recorded.spread(recorded.agents(source), size.agents)
        for target in recorded.FIVE if bodies else ():
            one = measured(cells.engine(target), bodies, size.agent_rounds)
            found[f"{source}>{target} agents"] = one.ratio
            for body, ratio in zip(one.bodies, one.each(), strict=True):
                if ratio > worst:
                    worst, which = ratio, f"{source}>{target} {body.name}"
    rows = {"agents median": statistics.median(found.values()), "agents worst": worst}
    return rows, found, [f"worst body of an agent: {which}"]


def by_hand(size: Size) -> Found:
    """Measure W1, W2, W3 and responses against careful code."""
    found: Figures = {}
    rules = wireglot.packaged()
    count = {"W1": 40, "W2": 2, "W3": 2, "R": 40}
    for workload in count:
        unit = "response" if workload == "R" else "request"
        hands = floor_careful.RESPONSES if workload == "R" else floor_careful.REQUESTS
        for (source, target), hand in hands.items():
            model = "gpt-4o" if source == "gemini" and unit == "request" else None
            payloads = [_payload(workload, source, seed) for seed in range(count[workload])]
            ours = _converting(rules, source, target, unit, model)
            runs: dict[str, Any] = {"hand": (hand, payloads), "ours": (ours, payloads)}
            times = race(runs, size.rounds, budget=size.rounds)
            found[f"{source}>{target} {workload}"] = times.ratio("ours", "hand")
    rows = {
        "responses" if workload == "R" else workload: max(
            value for key, value in found.items() if key.endswith(f" {workload}")
        )
        for workload in count
    }
    return rows, found, [f"{key}: {value:.2f} x careful" for key, value in found.items()]


def _payload(workload: str, source: str, seed: int) -> Any:
    return response(source, seed) if workload == "R" else request(source, workload, seed)


def _converting(rules: Any, source: str, target: str, unit: str, model: str | None) -> Any:
    return lambda body: rules.convert(body, source, target, unit, model=model)


def looped(size: Size) -> Found:
    """Measure the next request behind some rounds of an exchange."""
    found: Figures = {}
    rules, clock = wireglot.packaged(), time.process_time
    longest = 0.0
    for provider in loops.ANSWERS:
        for rounds in (20, 60):
            for kept in (True, False):
                body, state = loops.history(rules, provider, rounds, kept)
                text = json.dumps(body)
                best, yard = math.inf, math.inf
                for _ in range(2 * size.rounds):
                    turn = loops.turn(rules, provider, body, state)
                    began = clock()
                    json.dumps(json.loads(text))
                    between = clock()
                    turn()
                    ended = clock()
                    yard, best = min(yard, between - began), min(best, ended - between)
                found[f"{provider} {_loop(rounds, kept)}"] = best / yard
                longest = max(longest, best)
    names = {_loop(rounds, kept) for rounds in (20, 60) for kept in (True, False)}
    rows = {name: max(found[f"{provider} {name}"] for provider in loops.ANSWERS) for name in names}
    return rows, found, [f"longest turn of a loop: {longest * 1e3:.1f} ms"]


def _loop(rounds: int, kept: bool) -> str:
    return f"loop {rounds}{' state' if kept else ''}"


def streamed(size: Size) -> Found:
    """Measure W4 against the translator by hand, and recorded streams against their JSON."""
    found: Figures = {}
    rules = wireglot.packaged()
    for (source, target), hand in floor_streams.TRANSLATORS.items():
        made = [stream_frames.frames(source, seed) for seed in range(2)]
        runs: dict[str, Any] = {
            "hand": (translated(partial(hand, True)), made),
            "ours": (translated(_translator(rules, source, target, True)), made),
        }
        times = race(runs, size.rounds)
        found[f"{source}>{target} W4"] = times.ratio("ours", "hand")
    rows = {"W4": max(found.values())}
    micros: Figures = {}
    for source in recorded.FIVE if recorded.there() else ():
        some = recorded.spread(recorded.streams(source), size.streams)
        for target in recorded.FIVE:
            key = f"{source}>{target} stream"
            found[key], micros[key] = _stream(_translator(rules, source, target, False), some)
    if micros:
        pairs = [value for key, value in found.items() if key in micros]
        rows |= {"streams median": statistics.median(pairs), "streams worst": max(pairs)}
    said = [f"{key}: {value:.1f} us a frame" for key, value in micros.items() if _named(key)]
    return rows, found, said


def _named(key: str) -> bool:
    return key.split()[0] in (
        "openai-chat>anthropic",
        "anthropic>openai-chat",
        "ollama>openai-chat",
    )


def _translator(rules: Any, source: str, target: str, keep: bool) -> Callable[[], Any]:
    return lambda: rules.translator(source=source, target=target, result=keep)


def _stream(
    make: Callable[[], Any], some: list[tuple[list[Any], list[str]]]
) -> tuple[float, float]:
    """Return the figure of a pair, and the microseconds of a frame."""
    run, clock = translated(make), time.process_time
    best, yard = [[math.inf] * len(some) for _ in range(2)]
    for _ in range(4):
        for nth, (frames, texts) in enumerate(some):
            began = clock()
            for text in texts:
                json.dumps(json.loads(text))
            between = clock()
            run(frames)
            ended = clock()
            yard[nth] = min(yard[nth], between - began)
            best[nth] = min(best[nth], ended - between)
    return sum(best) / sum(yard), 1e6 * sum(best) / sum(len(frames) for frames, _ in some)


def begun(size: Size) -> Found:
    """Measure fresh processes, and custom dialects, with an installed wheel."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            python = fresh.installed(Path(folder))
        except fresh.Unbuilt as error:
            return {}, {}, [f"fresh processes: not measured ({error})"]
        found = fresh.processes(python, size.processes)
        own = fresh.custom(python, max(3, size.processes // 4))
    rows = {
        "fresh request": found["request"], "fresh response": found["response"],
        "fresh any": max(found.values()), "custom": sum(next(iter(own.values()))),
    }  # fmt: skip
    said = [f"custom dialect, {n}: load {a:.3f} s, first {b:.3f} s" for n, (a, b) in own.items()]
    return rows, {f"fresh {name}": value for name, value in found.items()}, said


GROUPS: dict[str, Callable[[Size], Found]] = {
    "cells": small, "agents": agents, "by-hand": by_hand, "loops": looped, "streams": streamed,
    "fresh": begun, "further": further,
}  # fmt: skip
RECORDED = ("cells", "agents", "further")


def measure(names: Iterable[str], size: Size) -> Found:
    """Measure some groups."""
    rows: Figures = {}
    found: Figures = {}
    more: list[str] = []
    for name in names:
        if name in RECORDED and not recorded.there():
            more.append(f"{name}: skipped, ../shared/traffic is not here")
            continue
        began = time.monotonic()
        with frozen():
            some = GROUPS[name](size)
        rows, found, more = rows | some[0], found | some[1], more + some[2]
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return rows, found, more


def table(rows: Figures, before: Figures, peers: dict[str, Figures]) -> Iterable[str]:
    """Yield the lines of the table."""
    heads = ["before", *peers, "now", "bar", "aim"]
    yield f"{'':54}" + "".join(f"{head:>10}" for head in heads)
    for row in ROWS:
        if row.name not in rows:
            continue
        old = before.get(row.name)
        bar, aim = row.bar, row.aim
        if bar is None and old is not None:
            bar, aim = old * row.part[0], old * row.part[1]
        figures = [old, *(peer.get(row.name) for peer in peers.values()), rows[row.name], bar, aim]
        yield (
            f"{row.what:54}"
            + "".join(map(_figure, figures))
            + f"  {_met(rows[row.name], bar, aim)}"
        )


def _figure(value: float | None) -> str:
    return f"{'-' if value is None else f'{value:.2f}':>10}"


def _met(now: float, bar: float | None, aim: float | None) -> str:
    if aim is not None and now <= aim:
        return "met, and the aim"
    return "" if bar is None else "met" if now <= bar else "NOT MET"


def matrix(found: Figures) -> Iterable[str]:
    """Yield the cells of small bodies as two tables: a source in each line."""
    for unit in recorded.UNITS:
        yield f"\n{unit + 's, to':20}" + "".join(f"{name[-10:]:>11}" for name in recorded.FILES)
        for source in recorded.FILES:
            line = [found[f"{source}>{target} {unit}"] for target in recorded.FILES]
            yield f"{source:20}" + "".join(f"{value:11.1f}" for value in line)


def peered(folder: Path | None, name: str, before: Figures) -> tuple[Figures, str]:
    """Return the cells of a peer, as measured now or before, and what to say of it."""
    python = None if folder is None else folder / name / "bin" / "python"
    if python is None or not python.exists():
        what = "its figures are those of before.json" if before else "it is not measured"
        return before, f"{name} is not here (see benchmarks/peers.py): {what}"
    command = [str(python.absolute()), "-m", "benchmarks.peers", name, "--cells"]
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode:
        return {}, f"{name}: not measured ({done.stderr.strip().splitlines()[-1]})"
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return found, f"{name}: {len(found)} cells; the others it cannot do"


def peer_rows(found: Figures) -> Figures:
    """Return the rows of what a peer, or the engine, makes of some cells."""
    rows: Figures = {}
    kinds = {"cells": recorded.UNITS, "agents": ("agents",), "responses": ("R",)}
    for name, units in {**kinds, "W1": ("W1",), "W2": ("W2",), "W3": ("W3",)}.items():
        some = [value for key, value in found.items() if key.split()[-1] in units]
        if some and name in ("cells", "agents"):
            rows[f"{name} median"] = statistics.median(some)
        if some and name != "agents":
            rows[f"{name} worst" if name == "cells" else name] = max(some)
    return rows


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks bars", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer bodies and rounds")
    parser.add_argument("--only", default=",".join(GROUPS), help=f"some of {', '.join(GROUPS)}")
    parser.add_argument("--peers", type=Path, metavar="DIR", help="a folder of their environments")
    parser.add_argument("--save", type=Path, default=SAVED, help="a file for all figures")
    options = parser.parse_args(arguments)
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(GROUPS):
        parser.error(f"there is no group {', '.join(sorted(unknown))}")
    rows, found, more = measure(chosen, QUICK if options.quick else FULL)
    before = json.loads(BEFORE.read_text("utf-8")) if BEFORE.is_file() else {}
    peers: dict[str, Figures] = {}
    columns: dict[str, Figures] = {}
    for name in PEERS:
        peers[name], said = peered(options.peers, name, before.get(name, {}))
        columns[name] = rows_of = peer_rows(peers[name])
        ours = peer_rows({key: found[key] for key in peers[name] if key in found})
        told = ", ".join(f"{row} {ours[row]:.2f} ({rows_of[row]:.2f})" for row in ours)
        more += [said, *([f"  ours on its cells, and its own: {told}"] if told else [])]
    print(*table(rows, before.get("rows", {}), columns), sep="\n")
    if "cells" in chosen and recorded.there():
        print(*matrix(found), sep="\n")
    print("", *more, sep="\n")
    options.save.parent.mkdir(exist_ok=True)
    saved = {
        name: {key: round(value, 3) for key, value in figures.items()}
        for name, figures in {"rows": rows, "cells": found, **peers}.items()
    }
    options.save.write_text(json.dumps(saved, indent=1) + "\n", "utf-8")
    print(f"all figures are in {options.save.name}")
    return 0
