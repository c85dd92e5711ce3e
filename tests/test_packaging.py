"""What is built: a wheel that converts with nothing but itself and the standard library."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import wireglot
from benchmarks import workloads

from . import way, width

ROOT = Path(__file__).resolve().parent.parent
CONVERT = """
import json, sys
import wireglot

body = json.load(open(sys.argv[1], encoding="utf-8"))
for target in ("anthropic", "gemini"):
    out = wireglot.convert(body, source="openai-chat", target=target)
    assert out.body and out.notes, target
heavy = {"pydantic", "yaml", "jinja2", "jmespath", "ruamel"} & set(sys.modules)
print(json.dumps({"file": wireglot.__file__, "heavy": sorted(heavy)}))
"""

CALLS = """
import json, sys
import wireglot

told = []
for call in json.load(open(sys.argv[1], encoding="utf-8")):
    out = wireglot.convert(**call)
    told.append([out.body, out.notes, out.envelope])
print(json.dumps({"told": told, "modules": sorted(sys.modules)}))
"""
# The dialects of the wheel that the suite builds: to make the functions of all takes two minutes.
BUILT = ("anthropic", "gemini", "ollama", "openai-chat", "openai-responses")
ROWS = width.times(3, 1)  # and so many variants of each, each of which has functions of its own
PAIRS = [
    (one, two)
    for one in ("openai-chat", "anthropic", "gemini")
    for two in ("openai-chat", "anthropic", "gemini")
    if one != two
]


def python(*argv: str, cwd: Path, path: Path | None = None) -> str:
    """Run this interpreter, with the packages in `path` before all others."""
    left = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    env = {name: value for name, value in os.environ.items() if name not in left}
    if path is not None:
        env["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, *argv], cwd=cwd, env=env, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, f"{argv} printed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Let one process alone run the block."""
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist from a copy of the tree, and the wheel from that sdist."""
    for needed in ("build", "setuptools", "yaml"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed, so nothing can be built here")
    from importlib.metadata import version

    if int(version("setuptools").split(".")[0]) < 77:
        pytest.skip("setuptools is older than 77, so nothing can be built here")
    shared = "PYTEST_XDIST_WORKER" in os.environ  # by all workers: whoever is first builds
    top = tmp_path_factory.getbasetemp()
    work = (top.parent if shared else top) / "packaging"
    with locked(work.with_suffix(".lock")):
        if not (work / "dist").is_dir():
            ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")
            shutil.copytree(ROOT, work / "tree", ignore=ignored)
            if not width.WIDE:
                _fewer(work / "tree" / "rules")
            out = ("-o", str(work / "dist"))
            python("-m", "build", "-q", "--no-isolation", *out, "tree", cwd=work)
    return work / "dist"


def _fewer(rules: Path) -> None:
    """Take the files of most dialects out of a folder, with their examples, and most variants."""
    for file in [*rules.glob("*.yaml"), *(rules / "examples").glob("*.yaml")]:
        if file.stem not in (*BUILT, "ladder"):
            file.unlink()
    for name in BUILT:
        file = rules / f"{name}.yaml"
        text = file.read_text("utf-8")
        listed = re.search(r"^variants:\n((?:[ #].*|)\n)*", text, re.MULTILINE)
        if listed is not None:
            rows = re.split(r"^(?=  - )", listed[0], flags=re.MULTILINE)
            assert len(rows) > 2, name
            file.write_text(text.replace(listed[0], "".join(rows[: 1 + ROWS])), "utf-8")


@pytest.fixture(scope="module")
def tree(dist: Path) -> Path:
    """Return the tree that the wheel was built of."""
    return dist.parent / "tree"


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel, as an installer does."""
    (wheel,) = dist.glob("*.whl")
    target = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


@pytest.mark.slow
def test_the_wheel_holds_the_packages_and_nothing_else(installed: Path, tree: Path) -> None:
    assert sorted(path.name for path in installed.iterdir() if path.suffix != ".dist-info") == [
        "wireglot"
    ]
    (metadata,) = installed.glob("*.dist-info")
    assert (metadata / "licenses" / "LICENSE").is_file()
    assert "wireglot = wireglot.cli:main" in (metadata / "entry_points.txt").read_text()
    package = installed / "wireglot"
    assert (package / "py.typed").is_file()
    source = ROOT / "engine" / "wireglot"
    modules = {path.relative_to(source) for path in source.rglob("*.py")}
    there = {path.relative_to(package) for path in package.rglob("*.py")}
    beside = {path for path in there - modules if path.parts[0] != "made"}
    assert beside <= {Path("rules/__init__.py")}
    assert modules <= there
    rules = {
        path.name for kind in ("yaml", "schema.json") for path in (tree / "rules").glob(f"*.{kind}")
    }
    assert {f"{name}.yaml" for name in BUILT} <= rules
    assert rules <= {path.name for path in (package / "rules").iterdir()}
    overlays = {path.name for path in (ROOT / "rules" / "overlays").glob("*.yaml")}
    assert overlays and overlays == {p.name for p in (package / "rules" / "overlays").iterdir()}
    for name in ("wires", "agents"):
        assert (package / "rules" / "serve" / f"{name}.yaml").is_file()
    for name in ("sessions/agents", "batch/lines", "audits/schemas", "audits/hardcases"):
        assert (package / "rules" / f"{name}.yaml").is_file()
    assert not list(package.rglob("__pycache__"))


@pytest.mark.slow
def test_the_installed_wheel_converts_with_the_standard_library_alone(
    installed: Path, tmp_path: Path
) -> None:
    request = ROOT / "examples" / "weather" / "request.json"
    seen = json.loads(python("-S", "-c", CONVERT, str(request), cwd=tmp_path, path=installed))
    assert Path(seen["file"]).is_relative_to(installed)


@pytest.mark.slow
def test_the_installed_wheel_imports_no_heavy_package_where_all_are_there(
    installed: Path, tmp_path: Path
) -> None:
    request = ROOT / "examples" / "weather" / "request.json"
    seen = json.loads(python("-c", CONVERT, str(request), cwd=tmp_path, path=installed))
    assert Path(seen["file"]).is_relative_to(installed)
    assert seen["heavy"] == []


def called(calls: list[dict[str, Any]], installed: Path, tmp_path: Path) -> dict[str, Any]:
    """Make calls of `convert` in a fresh process of the installed wheel."""
    file = tmp_path / "calls.json"
    file.write_text(json.dumps(calls), "utf-8")
    return dict(json.loads(python("-c", CALLS, str(file), cwd=tmp_path, path=installed)))


@pytest.mark.slow
def test_the_installed_wheel_converts_by_the_functions_that_it_brings(
    installed: Path, tmp_path: Path
) -> None:
    bodies: list[tuple[Any, str, str]] = [
        (way.RESPONSE, "openai-chat", "response"),
        (workloads.response("anthropic"), "anthropic", "response"),
        (way.REQUEST, "openai-chat", "request"),
    ]
    calls: list[dict[str, Any]] = [
        {"body": body, "source": source, "target": target, "unit": unit}
        for body, source, unit in bodies
        for target in ("ollama", "openai-responses", source)
    ]
    found = called(calls, installed, tmp_path)
    outs = [wireglot.convert(**call) for call in calls]
    assert found["told"] == json.loads(
        json.dumps([[out.body, out.notes, out.envelope] for out in outs])
    )
    assert "wireglot.made.ollama_write_away" in found["modules"]
    makers = {"yaml", "wireglot.language.rulefile", "wireglot.executor.caselines"}
    assert not {*makers, "wireglot.executor.readtext"}.intersection(found["modules"])


@pytest.mark.slow
def test_the_installed_command_converts(installed: Path, tmp_path: Path) -> None:
    argv = ["convert", str(ROOT / "examples" / "weather" / "request.json")]
    argv += ["--from", "openai-chat", "--to", "anthropic", "-o", "out.json"]
    code = f"""
import sys
from wireglot.cli import main
assert main({argv!r}) == 0
print("yaml" in sys.modules)
"""
    assert python("-c", code, cwd=tmp_path, path=installed).strip() == "False"
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))["messages"]


@pytest.mark.slow
def test_rules_that_are_loaded_from_a_wheel_are_the_packaged_ones(
    installed: Path, tree: Path, tmp_path: Path
) -> None:
    code = """
import wireglot
one, two = wireglot.packaged(), wireglot.load_rules()
print(one.hash == two.hash == two.reloaded().hash, one.dialects == two.dialects, one.hash)
"""
    there = wireglot.load_rules(tree / "rules", builtin=False)
    assert python("-c", code, cwd=tmp_path, path=installed).split() == ["True", "True", there.hash]
