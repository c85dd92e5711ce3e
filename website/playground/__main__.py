"""Build the playground into a site: `python -m website.playground SITE [PYODIDE]`.

PYODIDE is the folder of its package of npm. Without it the page says that it cannot begin.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from wireglot.loading import prepare
from wireglot.loading.rulesources import PREPARED

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ("index.html", "style.css", "page.js", "worker.js")
# What a conversion in a page needs of Pyodide; its lock names packages that are not loaded.
PYODIDE = (
    "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json",
)  # fmt: skip
LEFT_OUT = ("serve", "batch", "moving", "__pycache__")  # rooms that need other packages, or disks
STAMP = (1980, 1, 1, 0, 0, 0)  # of each file, so that the same files are the same archive


def main() -> int:
    """Write the page, what it runs, and Pyodide."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("site", type=Path)
    read.add_argument("pyodide", type=Path, nargs="?")
    said = read.parse_args()
    folder = said.site / "playground"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pyodide").mkdir(parents=True)
    for name in PAGE:
        shutil.copyfile(HERE / name, folder / name)
    if said.pyodide is None:
        return 0
    for name in PYODIDE:
        shutil.copyfile(said.pyodide / name, folder / "pyodide" / name)
    archive(folder / "wireglot.zip")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB")
    return 0


def archive(file: Path) -> None:
    """Write the engine, PyYAML as Python, and the rules, read already, into a zip file."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in sorted(contents()):
            out.writestr(zipfile.ZipInfo(name, STAMP), data, zipfile.ZIP_DEFLATED)


def contents() -> Iterator[tuple[str, bytes]]:
    """Yield the names of the archive and what they hold."""
    engine = ROOT / "engine"
    for source in engine.rglob("*"):
        within = source.relative_to(engine)
        if source.suffix in (".py", ".json") and not {*within.parts}.intersection(LEFT_OUT):
            yield str(within), source.read_bytes()
    for source in (ROOT / "rules").rglob("*"):
        if source.suffix in (".py", ".yaml", ".json"):
            yield f"wireglot/rules/{source.relative_to(ROOT / 'rules')}", source.read_bytes()
    for source in Path(yaml.__file__).parent.glob("*.py"):
        yield f"yaml/{source.name}", source.read_bytes()
    yield "playground.py", (HERE / "playground.py").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "wireglot" / "rules"
        shutil.copytree(ROOT / "rules", rules)
        prepare.write_rules(rules)
        yield f"wireglot/rules/{PREPARED}", (rules / PREPARED).read_bytes()


if __name__ == "__main__":
    sys.exit(main())
