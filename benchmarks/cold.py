"""Time one conversion in a fresh process against an empty one: `python -m benchmarks.cold`."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

from . import workloads
from .timing import Bar

LIMIT = 5.0
SCRIPT = """
import json, sys, wireglot
body = json.loads(sys.argv[1])
print(len(wireglot.convert(body, source="openai-chat", target="anthropic").body))
"""


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
    body = json.dumps(workloads.chat_request("W1"))
    script = ["-c", SCRIPT, body]
    empty, full = [sys.executable, "-c", "pass"], [sys.executable, *script]
    _seconds(empty), _seconds(full)
    bare, whole, ratios = [], [], []
    for _ in range(rounds):
        bare.append(_seconds(empty))
        whole.append(_seconds(full))
        ratios.append(whole[-1] / bare[-1])
    print("\n## One conversion in a fresh process")
    print(f"python -c pass           {statistics.median(bare) * 1e3:8.1f} ms")
    print(f"import, convert W1, exit {statistics.median(whole) * 1e3:8.1f} ms")
    print("Slowest imports: own us, with theirs us, module")
    print("\n".join(_imports(script, 10)))
    return [Bar("fresh process / `python -c pass`", statistics.median(ratios), LIMIT)]


if __name__ == "__main__":
    bars = run()
    print(*bars, sep="\n")
    sys.exit(0 if all(bar.met for bar in bars) else 1)
