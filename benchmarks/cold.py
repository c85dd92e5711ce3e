"""Time one conversion in a fresh process against an empty one: `python -m benchmarks.cold`."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from wireglot.loading.rulesources import PREPARED, packaged_folder

from . import workloads
from .timing import Bar

LIMIT = 5.0
SCRIPT = """
import json, sys, wireglot
body, unit = json.loads(sys.argv[1]), sys.argv[2]
print(len(wireglot.convert(body, source="openai-chat", target="anthropic", unit=unit).body))
"""


def _jobs() -> dict[str, tuple[Any, str]]:
    """Return what is converted, and its unit: the first has a bar, the others show what is dear."""
    request = workloads.chat_request("W1")
    return {
        "convert W1": (request, "request"),
        "W1 with a field that the interpreter takes": (
            {**request, "response_format": {"type": "json_object"}},
            "request",
        ),
        "a response, which the interpreter takes": (workloads.response("openai-chat"), "response"),
    }


def prepared() -> bool:
    """Tell whether the rules are those of a wheel, prepared when it was built."""
    return Path(packaged_folder(), PREPARED).is_file()


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def _imports(script: list[str], count: int) -> list[str]:
    command = [sys.executable, "-X", "importtime", *script]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    lines = []
    for line in shown.splitlines():
        fields = line.removeprefix("import time:").split("|")
        if len(fields) == 3 and fields[0].strip().isdigit():
            lines.append((int(fields[0]), int(fields[1]), fields[2].strip()))
    lines.sort(reverse=True)
    return [f"{own:8d} {total:8d}  {name}" for own, total, name in lines[:count]]


def run(rounds: int = 20) -> list[Bar]:
    """Print the medians and the ten slowest imports."""
    empty = [sys.executable, "-c", "pass"]
    jobs = {
        name: [sys.executable, "-c", SCRIPT, json.dumps(body), unit]
        for name, (body, unit) in _jobs().items()
    }
    for command in (empty, *jobs.values()):
        _seconds(command)
    bare: list[float] = []
    whole: dict[str, list[float]] = {name: [] for name in jobs}
    ratios: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        bare.append(_seconds(empty))
        for name, command in jobs.items():
            whole[name].append(_seconds(command))
            ratios[name].append(whole[name][-1] / bare[-1])
    print("\n## One conversion in a fresh process: import, convert, exit")
    print(f"{'python -c pass':44} {statistics.median(bare) * 1e3:8.1f} ms")
    for name in jobs:
        ms, ratio = statistics.median(whole[name]) * 1e3, statistics.median(ratios[name])
        print(f"{name:44} {ms:8.1f} ms {ratio:6.2f}")
    first = next(iter(jobs))
    print("Slowest imports: own us, with theirs us, module")
    print("\n".join(_imports(jobs[first][1:], 10)))
    if not prepared():
        print("No bar: this is a checkout, which reads YAML and compiles. Run it with a wheel.")
        return []
    return [Bar("fresh process / `python -c pass`", statistics.median(ratios[first]), LIMIT)]


if __name__ == "__main__":
    bars = run()
    print(*bars, sep="\n")
    sys.exit(0 if all(bar.met for bar in bars) else 1)
