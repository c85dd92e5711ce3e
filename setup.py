"""Add one step to the build: the packaged rules go into the wheel prepared."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PREPARE = "import pathlib, sys, wireglot.loading.prepare as p; p.main(pathlib.Path(sys.argv[1]))"


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


setup(cmdclass={"build_py": build_py_and_rules})
