"""Add to the build: the packaged rules go into the wheel prepared, and C for the engine, if asked.

With WIREGLOT_COMPILED=1 mypyc, which comes with mypy, makes C of what a conversion runs through.
The sources stay beside what is made of them, and say the same; the wheel is one of this kind of
machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

PREPARE = "import pathlib, sys, wireglot.loading.prepare as p; p.main(pathlib.Path(sys.argv[1]))"
ENGINE = Path("engine/wireglot")
# Rooms and modules that become C, and what stays Python though conversions run through it. Most of
# what is in neither loads rules, writes functions or is a tool.
COMPILED = (
    "base64text conversion files interpreter loop streaming executor/lists executor/reading "
    "executor/readtime executor/values executor/writer guards ir language/calltext language/intext "
    "language/ladder language/lenses language/measure language/nodes language/rootwalk "
    "language/schema language/schemawalk payload seeds trail waiting"
).split()
LEFT = {
    "errors": "a caller may derive from these, and `room` does",
    "executor/code": "it takes code objects, which C has not",
    "executor/writes": "it caches properties, which mypyc would make anew each time",
    "interpreter/recorder": "mypyc 2.4 fails on it; nothing but a trace asks for it",
    "jsontext": "halves of pairs stand in its patterns, which mypyc does not take",
    "language/model": "it caches properties, and is built attribute by attribute",
    "language/picture": "C of it is no faster, and asks for a mark of each class",
    "language/shape": "its cases are made when they are asked for",
    "language/talk": "mypyc 2.4 fails on a lambda in a class that is kept by pickle",
    "loaded": "it caches properties",
    "loop/exchanges": "it tells a caller who hands in what is none what to hand in",
    "loop/shelves": "a caller may make classes of these",
    "loop/stored": "mypyc 2.4 fails on it",
    "notes": "C has no docstrings of named tuples, which callers read",
    "policy": "it tells a caller who hands in what is none what to hand in",
    "results": "C has no docstrings of named tuples, which callers read",
    "streaming/streams": "it has an asynchronous generator",
}


class build_py_and_rules(build_py):
    """Build the packages, then let the built engine prepare the built rules."""

    def run(self) -> None:
        """Run the build; an editable install prepares its rules on first use instead."""
        if self.editable_mode:
            super().run()
            return
        target = Path(self.build_lib).resolve()
        # What an earlier build left here would otherwise live on in the wheel.
        shutil.rmtree(target / "wireglot", ignore_errors=True)
        super().run()
        if (target / "wireglot" / "loading" / "prepare.py").is_file():
            path = os.pathsep.join(filter(None, [str(target), os.environ.get("PYTHONPATH")]))
            env = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
            subprocess.run([sys.executable, "-c", PREPARE, str(target)], check=True, env=env)


def compiled() -> list[Extension]:
    """Return what becomes C: nothing, unless the environment asks for it."""
    if os.environ.get("WIREGLOT_COMPILED", "0") in ("", "0"):
        return []
    from mypyc.build import mypycify

    named = [ENGINE / f"{name}.py" for name in COMPILED]
    rooms = [one for name in COMPILED for one in sorted((ENGINE / name).glob("*.py"))]
    left = {ENGINE / f"{name}.py" for name in LEFT}
    paths = [str(one) for one in [*named, *rooms] if one.is_file() and one not in left]
    made = mypycify(["--ignore-missing-imports", *paths], debug_level="0", multi_file=True)
    for one in made:  # the C of mypyc is right, and has warnings of GCC
        one.extra_compile_args = [*one.extra_compile_args, "-Wno-error"]
    return list(made)


setup(cmdclass={"build_py": build_py_and_rules}, ext_modules=compiled())
