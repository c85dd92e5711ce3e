"""What a release is tried with: `python -m tests.release [--pythons 3.11,3.12] [--dist DIR]`.

The wheel and the sdist are built (or taken from DIR) and pass `twine check`. On each Python that is
found the wheel is installed into a fresh environment, alone: it brings PyYAML and nothing else,
each command has its help, a request is converted. On the first one each extra is
installed alone, and what it is for is imported. It prints a table, and exits 1 where something
failed. It needs a package index.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
OLDEST = (3, 11)
# What each extra is for; those of developers are not tried.
USES = {
    "batch": "import tqdm, wireglot.batch",
    "bedrock": "import botocore.eventstream",
    "check": "import jsonschema",
    "completion": "import shtab",
    "fast": "import orjson",
    "hf": "import datasets",
    "models": "import wireglot.models",
    "otel": "import opentelemetry.trace",
    "parquet": "import pyarrow.parquet",
    "ray": "import wireglot.ray, ray.data",
    "redis": "import redis",
    "report": "import wireglot.audits.report, jinja2",
    "select": "import jmespath",
    "serve": "import wireglot.serve.command, wireglot.httpx",
    "watch": "import watchfiles",
}
OURS = ("dev", "docs", "look", "sdks")


class Failed(Exception):
    """Raised with what a command said."""


def run(*words: str | Path, cwd: Path) -> str:
    """Run a command; return what it prints. Raises Failed."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=env, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1200,
    )  # fmt: skip
    if done.returncode:
        raise Failed(f"{' '.join(map(str, words[1:5]))}: {done.stdout.strip()[-300:]}")
    return done.stdout


def pythons(wanted: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the names and paths of the Pythons that are there."""
    homes = sorted(Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser().glob("versions/*"))
    for name in wanted:
        known = [str(home / "bin/python") for home in homes if home.name.startswith(f"{name}.")]
        found = next(iter(known), None) or shutil.which(f"python{name}")
        if found is not None:
            yield name, found
        else:
            print(f"| Python {name} | not found |")


def fresh(python: str, wheel: Path, folder: Path, extra: str = "") -> Path:
    """Install the wheel into a fresh environment; return its folder of programs."""
    run(python, "-m", "venv", folder, cwd=folder.parent)
    named = f"{wheel}[{extra}]" if extra else str(wheel)
    words = ["--no-compile"] if extra else []  # which takes minutes, and was tried without extras
    run(folder / "bin/python", "-m", "pip", "install", "-q", *words, named, cwd=folder.parent)
    return folder / "bin"


def commands(programs: Path, cwd: Path) -> list[str]:
    """Return the commands that the installed program has."""
    text = run(programs / "wireglot", "--help", cwd=cwd).partition("COMMAND\n")[2]
    return re.findall(r"^    (\w+)(?= |$)", text, re.MULTILINE)


def alone(python: str, wheel: Path, folder: Path) -> str:
    """Try the wheel without extras; return what was seen."""
    programs = fresh(python, wheel, folder / "alone")
    listed = run(programs / "python", "-m", "pip", "list", "--format=freeze", cwd=folder)
    brought = {line.partition("==")[0].lower() for line in listed.split()}
    if brought - {"pip", "setuptools", "wheel"} != {"wireglot", "pyyaml"}:
        raise Failed(f"it brings {', '.join(sorted(brought))}")
    named = commands(programs, folder)
    for name in named:
        run(programs / "wireglot", name, "--help", cwd=folder)
    request = ROOT / "examples/weather/request.json"
    words = ("convert", request, "--from", "openai-chat", "--to", "anthropic")
    if "tool_use" not in run(programs / "wireglot", *words, cwd=folder):
        raise Failed("a request is not converted")
    return f"PyYAML alone; help of {len(named)} commands; converts"


def tried(what: str, work: object) -> bool:
    """Do a piece of work, print its row; tell whether it went well."""
    assert callable(work)
    try:
        print(f"| {what} | {work()} |", flush=True)
    except (Failed, subprocess.TimeoutExpired) as error:
        print(f"| {what} | FAILED: {error} |", flush=True)
        return False
    return True


def main() -> int:
    """Try a release; 1 where something failed."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--pythons", default="3.11,3.12,3.13,3.14")
    read.add_argument("--dist", type=Path)
    said = read.parse_args()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert set(extras) == {*USES, *OURS}, "each extra is tried, or one of developers"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dist = said.dist or folder / "dist"
        if said.dist is None:
            run(sys.executable, "-m", "build", "-o", dist, cwd=ROOT)
        [wheel] = dist.glob("*.whl")
        files = sorted(dist.iterdir())

        def checked() -> str:
            run(sys.executable, "-m", "venv", folder / "twine", cwd=folder)
            python = folder / "twine/bin/python"
            run(python, "-m", "pip", "install", "-q", "twine", cwd=folder)
            run(python, "-m", "twine", "check", "--strict", *files, cwd=folder)
            return ", ".join(f"{file.name} {file.stat().st_size / 1e6:.1f} MB" for file in files)

        def extra(name: str, python: str) -> str:
            programs = fresh(python, wheel, folder / name, name)
            run(programs / "python", "-c", USES[name], cwd=folder)
            return USES[name]

        good = [tried("twine check", checked)]
        found = list(pythons(said.pythons.split(",")))
        for version, python in found:
            (folder / version).mkdir()
            good.append(
                tried(f"Python {version}", lambda p=python, v=version: alone(p, wheel, folder / v))
            )
        for name in USES:
            good.append(tried(f"extra {name}", lambda n=name: extra(n, found[0][1])))
    return not all(good)


if __name__ == "__main__":
    sys.exit(main())
