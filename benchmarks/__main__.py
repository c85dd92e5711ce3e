"""Compare the engine with hand-written converters: `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import cold, floor, floor_careful, halves, peers, streaming, workloads
from .timing import Bar, Run, Times, race

TWO_STEPS_LIMIT, ONE_NOTE_LIMIT = 2.3, 1.15
ROUNDS = {"W1": 60, "W2": 40, "W3": 40, "R": 60}
MODEL = "gpt-4o"  # Gemini keeps the model outside the body, so it is passed


def _codec(name: str) -> tuple[floor.Loads, floor.Dumps, floor.Loads, floor.Dumps]:
    if name == "json":
        careful = floor_careful
        return floor.loads_json, floor.dumps_json, careful.loads_json, careful.dumps_json
    import orjson

    def dumps(value: Any) -> str:
        return orjson.dumps(value).decode()

    return orjson.loads, dumps, orjson.loads, dumps


def _options(codec: str) -> dict[str, Any] | None:
    return None if codec == "json" else {"codec": codec}


def _engine(codec: str) -> tuple[Any, str]:
    try:
        import wireglot

        body = workloads.chat_request("W1")
        options = _options(codec)
        wireglot.convert(body, source="openai-chat", target="anthropic", options=options)
    except Exception as problem:
        return None, f"{type(problem).__name__}: {problem}"
    return wireglot, ""


def _engine_runs(
    engine: Any, source: str, target: str, unit: str, options: dict[str, Any] | None
) -> dict[str, Run]:
    rules = engine.load_rules()
    model = MODEL if source == "gemini" and unit == "request" else None
    convert = engine.convert
    reader, writer = rules[source], rules[target]

    def one_step(body: Any) -> object:
        return convert(body, source=source, target=target, unit=unit, model=model, options=options)

    def two_steps(body: Any) -> object:
        reading = reader.read(body, unit=unit, model=model, options=options)
        return writer.write(reading.ir, unit=unit, options=options)

    return {"convert": one_step, "read + write": two_steps}


def _body(conversion: Any) -> Any:
    return conversion.body, conversion.envelope


def _same_halves(rules: Any, pair: tuple[str, str], body: Any) -> bool:
    read, write = halves.PAIRS[pair]
    ir, _ = read(body)
    found = write(ir)
    done = rules[pair[1]].write(ir)
    return bool(rules[pair[0]].read(body).ir == ir and _body(done) == (found.body, found.envelope))


def _table(title: str, times: Times, names: Sequence[str]) -> None:
    print(f"\n## {title}")
    print(f"{'':26}{'us':>12}{'x careful':>12}{'x bare':>12}")
    for name in names:
        careful, bare = times.ratio(name, "careful floor"), times.ratio(name, "bare floor")
        print(f"{name:26}{times.micros(name):12.1f}{careful:12.2f}{bare:12.2f}")


def _floors(
    pair: tuple[str, str], unit: str, codec: str
) -> tuple[dict[str, Run], Callable[[Any], Any]]:
    loads, dumps, strict_loads, strict_dumps = _codec(codec)
    bare = (floor.REQUESTS if unit == "request" else floor.RESPONSES)[pair]
    careful = (floor_careful.REQUESTS if unit == "request" else floor_careful.RESPONSES)[pair]
    runs: dict[str, Run] = {
        "bare floor": lambda body: bare(body, loads, dumps),
        "careful floor": lambda body: careful(body, strict_loads, strict_dumps),
    }

    def by_hand(body: Any) -> Any:
        body, _, *envelope = careful(body, strict_loads, strict_dumps)
        return body, envelope[0] if envelope else None

    return runs, by_hand


def _payloads(workload: str, source: str, count: int) -> list[Any]:
    if workload == "R":
        return [workloads.response(source, seed) for seed in range(count)]
    return [workloads.request(source, workload, seed) for seed in range(count)]


def _measure(
    workload: str, pair: tuple[str, str], engine: Any, args: argparse.Namespace
) -> list[Bar]:
    source, target = pair
    unit = "response" if workload == "R" else "request"
    count = workloads.PAYLOADS[workload]
    rounds = ROUNDS[workload]
    if args.quick:
        count, rounds = max(3, count // 5), rounds // 4
    payloads = _payloads(workload, source, count)
    title = f"{workload} {source} -> {target}, {count} payloads, {args.codec}"
    floors, by_hand = _floors(pair, unit, args.codec)
    runs: dict[str, tuple[Run, Sequence[Any]]] = {k: (run, payloads) for k, run in floors.items()}
    bars: list[Bar] = []
    if engine is not None:
        steps = _engine_runs(engine, source, target, unit, _options(args.codec))
        different = sum(_body(steps["convert"](body)) != by_hand(body) for body in payloads)
        bars.append(Bar(f"{title}: outputs that differ from the careful floor's", different, 0))
        runs |= {name: (run, payloads) for name, run in steps.items()}
        if unit == "request" and pair in halves.PAIRS and args.codec == "json":
            read, write = halves.PAIRS[pair]
            runs["read + write by hand"] = (lambda body: write(read(body)[0]), payloads)
            rules = engine.load_rules()
            different = sum(not _same_halves(rules, pair, body) for body in payloads)
            bars.append(Bar(f"{title}: halves that differ from those by hand", different, 0))
        if workload == "W2":
            one = [workloads.with_unknown_keys(body) for body in payloads]
            every = [workloads.with_unknown_keys(body, everywhere=True) for body in payloads]
            runs["convert, 1 note more"] = (steps["convert"], one)
            runs["convert, all noted"] = (steps["convert"], every)
            runs["careful, all noted"] = (floors["careful floor"], every)
    anew = workloads.never_seen if args.fresh and unit == "request" else None
    times = race(runs, rounds, anew=anew)
    _table(title, times, list(runs))
    if engine is None:
        return bars
    if workload != "R":
        ratio = times.ratio("convert", "careful floor")
        limit, _ = workloads.CONVERT[workload]
        bars.append(Bar(f"{title}: convert / careful", ratio, limit))
        ratio = times.ratio("read + write", "careful floor")
        bars.append(Bar(f"{title}: read + write / careful", ratio, TWO_STEPS_LIMIT))
    if workload == "W2":
        ratio = times.ratio("convert, 1 note more", "convert")
        bars.append(Bar(f"{title}: one note / none", ratio, ONE_NOTE_LIMIT))
    return bars


def main() -> int:
    """Print the tables; with --bars, return 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer payloads and rounds")
    parser.add_argument("--codec", choices=("json", "orjson"), default="json")
    parser.add_argument(
        "--fresh", action="store_true", help="no tools and numbers of a request come twice"
    )
    parser.add_argument("--bars", action="store_true", help="exit 1 when a bar is missed")
    parser.add_argument(
        "--only", metavar="W", help="one workload: W1 to W4 (streams), or R (responses)"
    )
    parser.add_argument(
        "--peers", metavar="DIR", type=pathlib.Path, help="a folder of peers' environments"
    )
    args = parser.parse_args()
    engine, reason = _engine(args.codec)
    if engine is None:
        print(f"The engine is not measured ({reason}).")
    bars: list[Bar] = []
    chosen = (args.only,) if args.only else (*workloads.WORKLOADS, "R", "W4")
    for workload in chosen:
        if workload == "W4":
            bars += streaming.run(engine, args.quick) if engine is not None else []
            continue
        pairs = floor.RESPONSES if workload == "R" else floor.REQUESTS
        for pair in pairs:
            bars += _measure(workload, pair, engine, args)
    if engine is not None and not args.only:
        bars += cold.run()
    if args.peers:
        peers.run_all(args.peers)
    print("\n## Bars")
    for bar in bars:
        print(bar)
    missed = [bar for bar in bars if not bar.met]
    print(json.dumps({"met": len(bars) - len(missed), "missed": len(missed)}))
    return 1 if args.bars and (missed or engine is None) else 0


def dispatch(arguments: Sequence[str]) -> int:
    """Run what is asked for: the table of bars, one cell of it, or the tables of workloads."""
    if arguments[:1] in (["bars"], ["cells"]):
        from . import bars, cells

        return bars.main(arguments[1:]) if arguments[0] == "bars" else cells.main(arguments[1:])
    return main()


if __name__ == "__main__":
    sys.exit(dispatch(sys.argv[1:]))
