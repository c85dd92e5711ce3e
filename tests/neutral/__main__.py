"""Make the language-neutral cases, and score converters on them (docs/cases.md).

python -m tests.neutral --write          # tests/neutral/cases.jsonl, of crossings and tables
python -m tests.neutral --score NAME     # wireglot, or a peer in whose environment this runs
python -m tests.neutral --peers DIR      # the table of docs/cases.md; DIR as benchmarks take it
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from . import peers, score
from .score import Case

FILE = Path(__file__).with_name("cases.jsonl")
VERDICTS = Path(__file__).with_name("verdicts.yaml")
ROOT = Path(__file__).parents[2]
TABLES = ("bugs", "hard", "gaps", "wires", "ollama", "vertex")
UNITS = ("request", "response", "error", "messages", "tools")
PEERS = {"litellm": "litellm", "rosetta": "llm-rosetta"}  # folders, and how packages are called
# What a look at a failing case found; the first counts as a pass.
FATES = ("equal", "loses", "refused", "raises", "scope")


def made() -> Iterator[Case]:
    """Yield each case of the rule files' crossings and of the tables of bugs."""
    from wireglot.authoring import crossings, trial

    from ..tables import read_yaml

    for wire in crossings.find(trial.load_crossings([]), []):
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


def fates(name: str, cases: list[Case], show: bool = False) -> dict[str, str]:
    """Return what became of each case: `pass`, `fail`, `raise`, or `out` where it is not asked."""
    convert = peers.converter(name)
    found = {}
    for case in cases:
        if name != "wireglot" and not peers.asked(case):
            found[case["id"]] = "out"
            continue
        try:
            body = convert(case)
            found[case["id"]] = "pass" if score.holds(case, body) else "fail"
        except Exception as error:
            found[case["id"]], body = "raise", f"{type(error).__name__}: {error}"
        if show and found[case["id"]] != "pass":
            print(json.dumps(case | {"made": body}, ensure_ascii=False))
    return found


def judged(name: str, version: str) -> dict[str, str]:
    """Return the fate that was seen for each failing case of a peer, of this version alone."""
    from ..tables import read_yaml

    said = read_yaml(VERDICTS.read_text("utf-8")).get(name, {})
    seen = said["verdicts"] if said.get("version") == version else ()
    return {case: one["fate"] for one in seen for case in one["cases"]}


def kind(case: str) -> str:
    """Return which cases an id is of: an example of two dialects, or a bug of a table."""
    return "crossings" if case.startswith("crossing/") else "bugs"


def rows(folder: Path) -> Iterator[str]:
    """Yield the rows of the table, for wireglot and each peer in the folder."""
    for name in ("wireglot", *PEERS):
        python = sys.executable if name == "wireglot" else str(folder / name / "bin" / "python")
        command = [python, "-m", "tests.neutral", "--score", name]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        said = json.loads(done.stdout.splitlines()[-1])
        verdicts = judged(name, said["version"])
        for which in ("bugs", "crossings"):
            counts = Counter(
                fate if fate in ("pass", "out") else verdicts.get(case, "open")
                for case, fate in said["fates"].items()
                if kind(case) == which
            )
            yield row(f"{PEERS.get(name, name)} {said['version']}", which, counts)


def row(who: str, which: str, counts: Counter[str]) -> str:
    """Return a row: who, which cases, what passes of those in scope, and each other fate."""
    of = counts.total() - counts["scope"] - counts["out"]
    cells = [who, which, f"{counts['pass'] + counts['equal']} of {of}"]
    return f"| {' | '.join([*cells, *(str(counts[fate]) for fate in (*FATES, 'open', 'out'))])} |"


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.neutral")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--score", choices=("wireglot", *PEERS))
    parser.add_argument("--peers", type=Path)
    parser.add_argument(
        "--show", action="store_true", help="print cases that fail, and what was made"
    )
    asked = parser.parse_args()
    if asked.write:
        FILE.write_text("".join(f"{line(case)}\n" for case in made()), "utf-8")
    if asked.score:
        cases = [json.loads(text) for text in FILE.read_text("utf-8").splitlines()]
        found = fates(asked.score, cases, asked.show)
        version = metadata.version(PEERS.get(asked.score, asked.score))
        print(json.dumps({"version": version, "fates": found}))
    if asked.peers:
        print("\n".join(rows(asked.peers)))


def line(case: Case) -> str:
    """Return a case as a line of the data set."""
    return json.dumps(case, ensure_ascii=False)


if __name__ == "__main__":
    main()
