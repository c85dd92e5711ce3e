"""Time what a process does first: a conversion with an installed wheel, and rules of one's own."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from . import recorded, workloads

ROOT = Path(__file__).resolve().parents[1]
CONVERT = """
import json, sys, wireglot
body, source, target, unit = json.loads(sys.argv[1])
wireglot.convert(body, source=source, target=target, unit=unit)
"""
CUSTOM = """
import sys, time, wireglot
body = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}
began = time.process_time()
rules = wireglot.load_rules({"acme.yaml": sys.argv[1]})
loaded = time.process_time()
rules.convert(body, source="openai-chat", target="acme")
print(loaded - began, time.process_time() - loaded)
"""


class Unbuilt(Exception):
    """Raised with one line that says why no wheel can be built here."""


def installed(folder: Path) -> Path:
    """Build a wheel and install it alone into a new environment; return its interpreter."""
    built = [sys.executable, "-m", "build", "-q", "-w", "--no-isolation", "-o", str(folder)]
    home = folder / "env"
    python = home / "bin" / "python"
    _run([*built, str(ROOT)])
    _run([sys.executable, "-m", "venv", "--without-pip", str(home)])
    (wheel,) = folder.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q"]
    _run([*pip, "--no-deps", "--no-index", str(wheel)])
    (site,) = home.glob("lib/python*/site-packages")
    shutil.copytree(Path(yaml.__file__).parent, site / "yaml")  # which no network is asked for
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, env=_alone())
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Unbuilt(f"{' '.join(command[1:4])}: {''.join(last)}")


def _alone() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def conversions() -> dict[str, tuple[Any, str, str, str]]:
    """Return what is converted in a fresh process, by the row that it belongs to."""
    found = {
        "request": (workloads.chat_request("W1"), "openai-chat", "anthropic", "request"),
        "response": (workloads.response("anthropic"), "anthropic", "openai-chat", "response"),
    }
    if recorded.there():
        for unit, pair in (("request", FAR), ("response", FAR[::-1])):
            (one,) = recorded.spread(recorded.small(pair[0], unit), 1)
            found[f"{unit} {pair[0]}>{pair[1]}"] = (one.body, *pair, unit)
    return found


FAR = ("openai-responses", "ollama")


def processes(python: Path, rounds: int) -> dict[str, float]:
    """Return what fresh processes take of the processor, as multiples of an empty one."""
    empty = [str(python), "-c", "pass"]
    jobs = {
        name: [str(python), "-c", CONVERT, json.dumps(job)] for name, job in conversions().items()
    }
    ratios: dict[str, list[float]] = {name: [] for name in jobs}
    for nth in range(rounds + 1):
        bare = _seconds(empty)
        for name, command in jobs.items():
            spent = _seconds(command)
            if nth:  # the first fills the caches
                ratios[name].append(spent / bare)
    return {name: statistics.median(found) for name, found in ratios.items()}


def _seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=_alone(), cwd="/")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def dialects() -> dict[str, str]:
    """Return rule files of one's own, all of a dialect `acme`."""
    readme = (ROOT / "README.md").read_text("utf-8")
    (whole,) = re.findall(r"```yaml\n# my-rules/acme.yaml\n(.*?)```", readme, re.S)
    child = (ROOT / "examples" / "family" / "acme.yaml").read_text("utf-8")
    provider = (ROOT / "rules" / "anthropic.yaml").read_text("utf-8")
    large = provider.replace("dialect: anthropic\n", "dialect: acme\n")
    return {"that of the README": whole, "one that extends Chat": child, "a whole provider": large}


def custom(python: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """Return the seconds of loading a custom dialect, and of its first conversion."""
    found: dict[str, tuple[float, float]] = {}
    for name, text in dialects().items():
        command = [str(python), "-c", CUSTOM, text]
        runs = []
        for _ in range(rounds):
            done = subprocess.run(
                command, check=True, capture_output=True, text=True, env=_alone(), cwd="/"
            )
            load, first = map(float, done.stdout.split())
            runs.append((load, first))
        found[name] = min(runs, key=sum)
    return found
