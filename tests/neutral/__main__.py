"""Make the language-neutral cases, and score converters on them (docs/cases.md).

python -m tests.neutral --write          # tests/neutral/cases.jsonl, of crossings and tables
python -m tests.neutral --score NAME     # wireglot, or a peer in whose environment this runs
python -m tests.neutral --peers DIR      # the table of docs/cases.md; DIR as benchmarks take it
"""

from __future__ import annotations

import argparse
import copy
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("cases.jsonl")
ROOT = Path(__file__).parents[2]
TABLES = ("bugs", "hard", "gaps", "wires", "ollama", "vertex")
UNITS = ("request", "response", "error", "messages", "tools")
PEERS = {"litellm": "litellm", "rosetta": "llm-rosetta"}  # folders, and how packages are called
NOTHING: Any = object()
Case = dict[str, Any]
Convert = Callable[[Case], Any]


def made() -> Iterator[Case]:
    """Yield each case of the rule files' crossings and of the tables of bugs."""
    from wireglot.authoring import trial, wires

    from ..tables import read_yaml

    for wire in wires.find(trial.crossings([]), []):
        if wire.source is not None and wire.dialect != wire.source and wire.unit in UNITS:
            call = {"from": wire.source, "to": wire.dialect, "unit": wire.unit, "model": wire.model}
            name = f"crossing/{wire.name}/{wire.dialect}"
            yield {"id": name, "given": wire.given, "call": call, "wanted": {"is": wire.meant}}
    for table in TABLES:
        for case in read_yaml((ROOT / f"tests/cases/{table}.yaml").read_text("utf-8"))["cases"]:
            if case.get("unit") in UNITS and not case.get("options") and "given" in case:
                yield from _of_table(table, case)


def _of_table(table: str, case: Case) -> Iterator[Case]:
    whole = table == "gaps"  # its cases show the whole result
    wanted = {"is" if whole else "has": case.get("expected"), "lacks": case.get("absent")}
    wanted |= {word: case.get(word) for word in ("same", "differ")}
    wanted = {word: said for word, said in wanted.items() if said}
    if wanted and "target" in case:
        call = {"from": case["source"], "to": case["target"], "unit": case["unit"]}
        if not isinstance(case["given"], dict) or "model" not in case["given"]:
            call["model"] = case.get("model", "m")
        name = f"{table}/{case['id']}"
        yield {"id": name, "given": case["given"], "call": call, "wanted": wanted}


def holds(wanted: Case, body: Any) -> bool:
    """Tell whether a result is what a case wants."""
    if "is" in wanted:
        return alike(wanted["is"], body)
    return (
        all(alike(value, at(body, p)) for p, value in wanted.get("has", {}).items())
        and all(at(body, p) is NOTHING for p in wanted.get("lacks", ()))
        and all(alike(at(body, a), at(body, b)) for a, b in wanted.get("same", ()))
        and not any(alike(at(body, a), at(body, b)) for a, b in wanted.get("differ", ()))
    )


def alike(one: Any, two: Any) -> bool:
    """Tell whether two values are the same JSON: 1 is 1.0, and true is not 1."""
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(alike(one[key], two[key]) for key in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(alike, one, two))
    return isinstance(one, bool) is isinstance(two, bool) and bool(one == two)


def at(body: Any, pointer: str) -> Any:
    """Return what stands at an RFC 6901 pointer, or NOTHING."""
    for key in pointer.split("/")[1:]:
        step = key.replace("~1", "/").replace("~0", "~")
        if isinstance(body, list) and step.isdecimal() and int(step) < len(body):
            body = body[int(step)]
        elif isinstance(body, dict) and step in body:
            body = body[step]
        else:
            return NOTHING
    return body


def converter(name: str) -> Convert:
    """Return how a converter does what a case calls for; it raises KeyError for another pair."""
    if name == "wireglot":
        import wireglot

        def own(case: Case) -> Any:
            call = case["call"]
            ends = (call["from"], call["to"], call["unit"], call.get("model"))
            return wireglot.convert(case["given"], *ends).body

        return own
    from benchmarks import peers

    requests, responses = peers._made(name)
    runs = {"request": requests, "response": responses}

    def peer(case: Case) -> Any:
        call = case["call"]
        run = runs[call["unit"]][call["from"], call["to"]]
        more = {"model": call["model"]} if call["unit"] == "request" and "model" in call else {}
        made = run({**more, **case["given"]})
        return json.loads(json.dumps(made, default=lambda value: value.model_dump()))

    return peer


def scored(name: str, cases: list[Case]) -> tuple[Counter[str], list[str]]:
    """Count passes, failures, errors and cases out of scope, by kind; also the ids that failed."""
    convert = converter(name)
    counts: Counter[str] = Counter()
    failed = []
    for case in cases:
        kind = "crossing" if case["id"].startswith("crossing/") else "bug"
        try:
            fate = "pass" if holds(case["wanted"], convert(copy.deepcopy(case))) else "fail"
        except KeyError as error:
            pair = (case["call"]["from"], case["call"]["to"])
            scope = error.args and error.args[0] in (pair, case["call"]["unit"])
            fate = "out" if scope else "raise"
        except Exception:
            fate = "raise"
        counts[f"{kind} {fate}"] += 1
        failed += [case["id"]] if fate in ("fail", "raise") else []
    return counts, failed


def rows(folder: Path) -> Iterator[str]:
    """Yield the rows of the table: who, what is in scope, what passes."""
    for name in ("wireglot", *PEERS):
        python = sys.executable if name == "wireglot" else str(folder / name / "bin" / "python")
        asked = [python, "-m", "tests.neutral", "--score", name]
        done = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True)
        said = json.loads(done.stdout.splitlines()[-1])
        cells = [f"{PEERS.get(name, name)} {said['version']}"]
        for kind in ("bug", "crossing"):
            found = {fate: said["counts"].get(f"{kind} {fate}", 0) for fate in FATES}
            inside = sum(found.values()) - found["out"]
            cells += [f"{found['pass']} of {inside}", str(found["raise"]), str(found["out"])]
        yield f"| {' | '.join(cells)} |"


FATES = ("pass", "fail", "raise", "out")


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.neutral")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--score", choices=("wireglot", *PEERS))
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--failed", action="store_true", help="the ids of cases that fail")
    asked = parser.parse_args()
    if asked.write:
        FILE.write_text("".join(f"{line(case)}\n" for case in made()), "utf-8")
    if asked.score:
        cases = [json.loads(text) for text in FILE.read_text("utf-8").splitlines()]
        counts, failed = scored(asked.score, cases)
        print("\n".join(failed) if asked.failed else "")
        version = metadata.version(PEERS.get(asked.score, asked.score))
        print(json.dumps({"version": version, "counts": counts}))
    if asked.peers:
        print("\n".join(rows(asked.peers)))


def line(case: Case) -> str:
    """Return a case as a line of the data set."""
    return json.dumps(case, ensure_ascii=False)


if __name__ == "__main__":
    main()
