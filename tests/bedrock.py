"""Hold the requests that we write for Converse against what the service takes, and its streams.

    python -m tests.bedrock [--made N] [--every N]

Every recorded request of the other wires, those that the SDKs' types show, and N made of the rule
files are written for two models and judged by `../shared/tools/validate_bedrock.py`. Streams,
recorded and written, go through botocore's own parser of events. Exit code 1: one is refused.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import wireglot
from wireglot.authoring.generate import Generator

from . import streamsweep, sweep
from .oracles import bedrock, samples, sdk

Json = Any
NAME = "bedrock-converse"
SHARED = Path(__file__).resolve().parents[2] / "shared"
TRAFFIC = SHARED / "traffic"
SOURCES = tuple(name for name in sdk.DIALECTS if name != "vertex")  # that is gemini's once more
MODELS = (bedrock.MODEL, "amazon.nova-pro-v1:0")


def recorded(source: str, every: int = 1) -> Iterator[tuple[str, Json]]:
    """Yield the recorded requests of a dialect, each with its id."""
    for line in islice(sweep.exchanges([TRAFFIC / f"{source}.jsonl.gz"]), 0, None, every):
        exchange = json.loads(line)
        if isinstance(exchange.get("request"), dict):
            yield exchange["id"], exchange["request"]


def shown(source: str, every: int = 1) -> Iterator[tuple[str, Json]]:
    """Yield the requests that an SDK's types show, each with the path of a field that it has."""
    dialect = wireglot.packaged()[source]
    for path, body in islice(samples.samples(source, "request", 1), 0, None, every):
        if dialect.read(body, "request").ir["messages"]:  # some are of nothing but a stored prompt
            yield path, body


def made(source: str, many: int) -> Iterator[tuple[str, Json]]:
    """Yield requests that are made of a rule file, but none that no model could have led to."""
    dialect = wireglot.packaged()[source]
    found = (
        (f"{source}/{nth}", Generator(dialect.model, f"{NAME}/{source}/{nth}").unit("request"))
        for nth in count()
    )
    return islice((one for one in found if _led_to(dialect.read(one[1], "request").ir)), many)


def _led_to(ir: Json) -> bool:
    """Tell whether somebody speaks, and the model does not answer its own calls."""
    talk = [(m["role"], part["type"]) for m in ir["messages"] for part in m["parts"]]
    return bool(ir["messages"]) and ("assistant", "tool_result") not in talk


def refused(source: str, body: Json, model: str) -> list[str]:
    """Write a request for a model; return what the service has against it."""
    rules = wireglot.packaged()
    there = rules.convert(body, source, NAME, unit="request", model=model)
    return list(sdk.problems(NAME, "request", there.body))


def streams(every: int = 1) -> Iterator[tuple[str, list[Json]]]:
    """Yield streams as they were recorded, and those of others as they are written."""
    for name, frames in streamsweep.recorded(str(TRAFFIC / f"{NAME}.jsonl.gz")):
        yield name, frames
    rules = wireglot.packaged()
    for source in SOURCES:
        found = streamsweep.recorded(str(TRAFFIC / f"{source}.jsonl.gz"))
        for name, frames in islice(found, 0, None, every):
            t = rules.translator(source=source, target=NAME)
            yield f"{source} {name}", [n for f in frames for n in t.feed(f)] + t.finish()


def main(arguments: list[str] | None = None) -> int:
    """Print a row for each source; return whether something is refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.bedrock")
    parser.add_argument("--made", type=int, default=1000, help="requests made of rule files")
    parser.add_argument("--every", type=int, default=1, help="take every so many of the others")
    options = parser.parse_args(arguments)
    if bedrock.tool() is None:
        print("skipped, for ../shared/tools is not here")
        return 2
    wrong: Counter[str] = Counter()
    first: dict[str, str] = {}
    for source in SOURCES:
        kinds = {
            "recorded": recorded(source, options.every),
            "shown": shown(source, options.every),
            "made": made(source, -(-options.made // len(SOURCES))),
        }
        for kind, found in kinds.items():
            many = bad = 0
            for name, body in found:
                for model in MODELS:
                    told = _told(source, body, model)
                    many, bad = many + 1, bad + bool(told)
                    for one in told:
                        wrong[one] += 1
                        first.setdefault(one, f"{source} {name} for {model}")
            print(f"{source:18}{kind:10}{many:7} requests{bad:5} refused")
    many = bad = 0
    for name, frames in streams(options.every):
        told = bedrock.heard(frames)
        many, bad = many + 1, bad + bool(told)
        for one in told:
            wrong[one] += 1
            first.setdefault(one, name)
    print(f"{'streams':28}{many:7} streams {bad:5} refused")
    for one, number in wrong.most_common(40):
        print(f"{number:6}  {one[:200]} ({first[one]})")
    return int(bool(wrong))


def _told(source: str, body: Json, model: str) -> list[str]:
    try:
        return refused(source, body, model)
    except wireglot.ConversionError as error:
        return [f"not written: {str(error).splitlines()[0]}"]


if __name__ == "__main__":
    sys.exit(main())
