"""Convert the samples and the recorded traffic of the trial dialects both ways, and print a table.

    python -m tests.trials [NAME ...] [--limit N] [--show N]

Of each payload: whether it reads, whether it comes back equal in its own dialect, and whether its
calls, results and texts are the same after a hop to three packaged providers, and back. What a note
names may differ. A stream is folded; `frames` counts the notes of frames that nobody reads. Exit 1
where a payload is refused, or does not come back equal.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import wireglot
from tests.oracles.leaves import difference
from wireglot.authoring.lawcase import abroad

Json = Any
HERE = Path(__file__).parent
SHARED = HERE.parents[1].parent / "shared"
FACTS = SHARED / "facts"
HOPS = ("openai-chat", "anthropic", "gemini")
UNITS = ("request", "response", "error", "stream")
# Where the payloads of a trial are: examples of the wire, recorded traffic (with the vendor, if a
# file has several), and samples of files.
TRAFFIC = {
    "perplexity": ("openai-compat", "perplexity"),
}
SAMPLES = {
    "claude-code": ("session", "claude-code/*.jsonl"),
    "codex": ("session", "codex-rollout/*.jsonl"),
    "hf-chat": ("session", "hf-chat-template/*.json"),
}


@dataclass(slots=True)
class Payload:
    """One body, or the frames of one stream."""

    name: str
    unit: str
    body: Json


@dataclass(slots=True)
class Tally:
    """What came of the payloads of one dialect and unit."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def tell(self, what: str, message: str) -> None:
        self.counts[what] += 1
        self.wrong.append(f"{what}: {message}")


def payloads(dialect: str, rules: wireglot.RuleSet) -> Iterator[Payload]:
    """Yield the payloads that there are of a dialect."""
    for unit in UNITS:
        path = FACTS / "wire-examples" / dialect / f"{unit}.json"
        if path.is_file():
            yield Payload(f"{unit}.json", unit, json.loads(path.read_text("utf-8")))
    name, vendor = TRAFFIC.get(dialect, (None, None))
    if name is not None:
        yield from recorded(SHARED / "traffic" / f"{name}.jsonl.gz", vendor)
    unit, pattern = SAMPLES.get(dialect, ("", ""))
    for path in sorted((FACTS / "samples").glob(pattern)) if pattern else ():
        yield Payload(path.name, unit, rules[dialect].parse(path.read_text("utf-8")))


def recorded(path: Path, vendor: str | None) -> Iterator[Payload]:
    """Yield the bodies and streams of recorded exchanges."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            one = json.loads(line)
            if vendor not in (None, one["vendor"]):
                continue
            if isinstance(one.get("request"), dict):
                yield Payload(one["id"], "request", one["request"])
            if isinstance(one.get("response"), dict):
                unit = "response" if one.get("status", 200) == 200 else "error"
                yield Payload(one["id"], unit, one["response"])
            if one.get("stream"):
                yield Payload(one["id"], "stream", [framed(event) for event in one["stream"]])


def framed(event: Json) -> Json:
    """Return the frame of a recorded event; where names stand outside, they are its one key."""
    if not isinstance(event, dict) or "data" not in event:
        return event
    data, name = event["data"], event.get("event")
    told = isinstance(data, dict) and name in (data.get("type"), data.get("event_type"))
    return data if name is None or told else {name: data}


def meaning(ir: Json) -> list[Json]:
    """Return the calls, the results and the texts of what was read, in order."""
    messages = ir.get("messages") or ir.get("candidates") or [] if isinstance(ir, dict) else ir
    parts = [part for message in messages for part in message.get("parts", ())]
    calls = [("call", p["name"], p.get("arguments", p.get("arguments_text", p.get("input"))))
             for p in parts if p["type"] == "tool_call"]  # fmt: skip
    results = [("result", p.get("value")) for p in parts if p["type"] == "tool_result"]
    texts = [("text", "".join(p["text"] for p in parts if p["type"] == "text"))]
    return [json.loads(json.dumps(one)) for one in (*calls, *results, *texts)]


def judged(rules: wireglot.RuleSet, dialect: str, one: Payload, tally: Tally) -> None:
    """Take one payload home, abroad and back."""
    try:
        reading = rules[dialect].read(one.body, one.unit)
    except wireglot.ConversionError as error:
        tally.tell("refused", f"{one.name}: {str(error).splitlines()[0]}")
        return
    tally.counts["read"] += 1
    home = rules.convert(one.body, dialect, dialect, unit=one.unit).body
    told = difference(one.body, home)
    if told is not None:
        tally.tell("not equal", f"{one.name}: {told}")
    if one.unit == "error":
        return
    ir = reading.ir if one.unit != "session" else {"messages": reading.ir["messages"]}
    unit = "request" if one.unit == "session" else one.unit
    before = meaning(abroad(ir))
    for hop in HOPS:
        try:
            there = rules[hop].write(ir, unit)
            after = meaning(rules[hop].read(there.body, unit).ir)
        except wireglot.ConversionError as error:
            tally.tell(f"to {hop}", f"{one.name}: {str(error).splitlines()[0]}")
            continue
        lost = [part for part in before if part not in after and part != ("text", "")]
        if lost and not there.notes:
            tally.tell(f"to {hop}", f"{one.name}: without a note {json.dumps(lost[0])[:120]}")
        elif lost:
            tally.counts[f"noted {hop}"] += 1


def streamed(rules: wireglot.RuleSet, dialect: str, one: Payload, tally: Tally) -> None:
    """Fold one stream, and send it through the three hops frame by frame."""
    try:
        translator = rules.translator(source=dialect, target=dialect)
        home = [new for frame in one.body for new in translator.feed(frame)]
        home += translator.finish()
    except wireglot.ConversionError as error:
        tally.tell("refused", f"{one.name}: {str(error).splitlines()[0]}")
        return
    tally.counts["read"] += 1
    told = difference(one.body, home)
    if told is not None:
        tally.tell("not equal", f"{one.name}: {told}")
    for hop in HOPS:
        t = rules.translator(source=dialect, target=hop)
        for frame in one.body:
            t.feed(frame)
        t.finish()
        unread = [n for n in t.notes if n.code in ("unknown-frame", "unfit", "unknown-part")]
        if unread and hop == HOPS[0]:
            tally.tell("frames", f"{one.name}: {unread[0].code} {unread[0].source_path}")


def lacking(path: Path) -> tuple[int, int]:
    """Count what a file says that it lacks, and its tricks."""
    found = {"Lacks": 0, "Tricks": 0}
    under = ""
    for line in path.read_text("utf-8").splitlines():
        head = re.match(r"# (Lacks|Tricks):\s*(.*)", line)
        if head:
            under = head[1]
            found[under] += bool(head[2])
        elif under and re.match(r"#\s+[-*]", line):
            found[under] += 1
        elif not line.startswith("#"):
            under = ""
    return found["Lacks"], found["Tricks"]


def main(argv: list[str] | None = None) -> int:
    """Run the trials that are named, or all; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit", type=int, default=1000, help="payloads of each dialect")
    parser.add_argument("--show", type=int, default=8, help="failures to print of each unit")
    given = parser.parse_args(argv)
    if not SHARED.is_dir():
        print("../shared is missing: there is nothing to convert")
        return 2
    rules = wireglot.load_rules(HERE)
    names = given.names or sorted(p.stem for p in HERE.glob("*.yaml"))
    failed = False
    columns = ("read", "refused", "not equal", "frames", *(f"to {hop}" for hop in HOPS))
    print(
        f"{'dialect':<22}{'unit':<10}" + "".join(f"{c:>16}" for c in columns) + "   lacks  tricks"
    )
    for name in names:
        tallies: dict[str, Tally] = {}
        for count, one in enumerate(payloads(name, rules)):
            if count >= given.limit:
                break
            tally = tallies.setdefault(one.unit, Tally())
            (streamed if one.unit == "stream" else judged)(rules, name, one, tally)
        lacks = "{:>8}{:>8}".format(*lacking(HERE / f"{name}.yaml"))
        for unit, tally in tallies.items():
            print(
                f"{name:<22}{unit:<10}" + "".join(f"{tally.counts[c]:>16}" for c in columns) + lacks
            )
            for line in tally.wrong[: given.show]:
                print(f"    {line[:200]}")
            failed = failed or bool(tally.counts["refused"] + tally.counts["not equal"])
            lacks = ""
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
