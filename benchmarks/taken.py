"""Count which tier recorded requests take: `python -m benchmarks.taken [FOLDER]`.

Tier 1 is compiled whole (fields of the request may be noted), 3 had messages or system text
recovered by the interpreter, 4 went to the interpreter as a whole; `RuleSet.tier` says which.
"""

from __future__ import annotations

import collections
import gzip
import json
import pathlib
import sys
from typing import Any

from .timing import Bar

DIALECTS = ("openai-chat", "anthropic", "gemini", "vertex")
RECORDED = {"vertex": "gemini"}  # the same requests are those of another dialect, too
TRAFFIC = pathlib.Path(__file__).resolve().parents[2] / "shared" / "traffic"
LIMIT = 90.0


def _requests(path: pathlib.Path) -> list[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        bodies = [json.loads(line).get("request") for line in lines]
    return [body for body in bodies if isinstance(body, dict)]


def run(folder: pathlib.Path = TRAFFIC) -> list[Bar]:
    """Print the tiers of every pair; a reason is printed where there is nothing to count."""
    print("\n## Tiers of recorded requests")
    try:
        import wireglot
    except ImportError as problem:
        print(f"skipped: {problem}")
        return []
    tiers = wireglot.packaged().tier
    missing = [
        name for name in DIALECTS if not (folder / f"{RECORDED.get(name, name)}.jsonl.gz").is_file()
    ]
    if missing:
        print(f"skipped: no traffic in {folder.name}")
        return []
    total: collections.Counter[int] = collections.Counter()
    print(f"{'pair':28}{'requests':>9}{'clean':>8}{'odd':>8}{'element':>8}{'whole':>8}{'taken':>9}")
    for source in DIALECTS:
        bodies = _requests(folder / f"{RECORDED.get(source, source)}.jsonl.gz")
        for target in DIALECTS:
            if source == target:
                continue
            counts = collections.Counter(int(tiers(body, source, target)) for body in bodies)
            total += counts
            cells = "".join(f"{counts[tier]:8d}" for tier in (1, 2, 3, 4))
            share = 100 * (1 - counts[4] / len(bodies))
            print(f"{source + ' -> ' + target:28}{len(bodies):9d}{cells}{share:8.1f}%")
    return [
        Bar(
            "recorded requests taken by the compiled path, %",
            100 * (1 - total[4] / total.total()),
            LIMIT,
            at_least=True,
        )
    ]


if __name__ == "__main__":
    bars = run(*map(pathlib.Path, sys.argv[1:2]))
    print(*bars, sep="\n")
    sys.exit(0 if all(bar.met for bar in bars) else 1)
