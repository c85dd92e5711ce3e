"""`wireglot new`: starts rule files, and prints how they came about."""

from __future__ import annotations

import argparse
import datetime
import re
from collections.abc import Sequence
from pathlib import Path

from ..authoring import recordings, starter, vendor
from ..authoring.starter import Wanted
from ..authoring.vocabulary import Vocabulary
from ..loaded import check_name
from ..loading import start
from ..rulesets import RuleSet
from . import terminal
from .terminal import FAILED, OK, USAGE, Stop


def new(arguments: argparse.Namespace) -> int:
    path = Path(arguments.dir) / f"{arguments.name}.yaml"
    if not re.fullmatch(r"[\w.-]+", arguments.name):
        raise Stop(USAGE, f"`{arguments.name}` cannot be the name of a file")
    if path.exists() and not (arguments.force or arguments.examples):
        raise Stop(USAGE, f"`{path}` is there; `--force` writes over it")
    if arguments.like and not arguments.sample:
        raise Stop(USAGE, "say `--sample FILE`: of what is like it there are recordings")
    if not (arguments.extends or arguments.overlay_of or arguments.sample):
        raise Stop(USAGE, "say `--extends D`, `--overlay D` or `--sample FILE`")
    rules, today = start.load_rules(*arguments.rules), datetime.date.today().isoformat()
    over = (arguments.extends or arguments.like, arguments.overlay_of)
    wanted = Wanted(arguments.name, arguments.see, today, *over)
    if arguments.like:
        return _like(rules, arguments, wanted, path)
    bodies = list(map(terminal.body, arguments.sample))
    base = arguments.extends or arguments.overlay_of
    samples = starter.units(rules, bodies, arguments.unit, base)
    taken = []
    if arguments.examples:
        text = terminal.said(str(path))
        made = starter.again(rules, arguments.rules, text, arguments.name, samples)
    else:
        made = starter.start(rules, arguments.rules, wanted, samples)
        if samples and not arguments.unit:
            named = zip(arguments.sample, (unit for unit, _ in samples), strict=True)
            taken = [", ".join(f"{name} is taken as {unit}" for name, unit in named)]
    _write(made.text, path, [*taken, *made.told])
    for one in made.asked:
        print(f"  ? {one}")
    errors = [finding for finding in made.findings if finding.severity == "error"]
    for finding in errors:
        print(finding)
    return FAILED if errors else OK


def _like(rules: RuleSet, arguments: argparse.Namespace, wanted: Wanted, path: Path) -> int:
    """Write what recordings of a vendor have, and a dialect like it has not."""
    check_name(arguments.like, rules.dialects)
    words = Vocabulary(rules)
    held = []
    for name in arguments.sample:
        text = terminal.said(name)
        held += recordings.read(
            text, rules, arguments.like, lambda body: arguments.unit or words.unit_of(body)
        )
    made = vendor.proposed(rules, arguments.rules, wanted, held)
    _write(made.text, path, made.told(arguments.like, len(held)))
    return FAILED if made.after.faults else OK


def _write(text: str, path: Path, told: Sequence[str]) -> None:
    """Write a rule file, and print how it came about."""
    path.parent.mkdir(parents=True, exist_ok=True)
    terminal.say(text, str(path))
    print("\n".join([*told, f"wrote {path}"]))
