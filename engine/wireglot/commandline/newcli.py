"""`wireglot new`: starts rule files, and prints how they came about."""

from __future__ import annotations

import argparse
import datetime
import re
from collections.abc import Sequence
from pathlib import Path

from ..authoring import recordings, starter, vendor
from ..authoring.starter import Wanted
from ..authoring.vocabulary import words_of
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
        return _new_like(rules, arguments, wanted, path)
    bodies = list(map(terminal.read_json, arguments.sample))
    base = arguments.extends or arguments.overlay_of
    samples = starter.units(rules, bodies, arguments.unit, base)
    guesses = []
    if arguments.examples:
        text = terminal.read_text(str(path))
        made = starter.remake_examples(rules, arguments.rules, text, arguments.name, samples)
    else:
        made = starter.start(rules, arguments.rules, wanted, samples)
        if samples and not arguments.unit:
            named = zip(arguments.sample, (unit for unit, _ in samples), strict=True)
            guesses = [", ".join(f"{name} is taken as {unit}" for name, unit in named)]
    _write_file(made.text, path, [*guesses, *made.origin])
    for question in made.questions:
        print(f"  ? {question}")
    errors = [finding for finding in made.findings if finding.severity == "error"]
    for finding in errors:
        print(finding)
    return FAILED if errors else OK


def _new_like(rules: RuleSet, arguments: argparse.Namespace, wanted: Wanted, path: Path) -> int:
    """Propose a file over the dialect of --like, of what the samples have and that lacks."""
    check_name(arguments.like, rules.dialects)
    words = words_of(rules)
    recorded = []
    for name in arguments.sample:
        text = terminal.read_text(name)
        recorded += recordings.read(
            text, rules, arguments.like, lambda body: arguments.unit or words.unit_of(body)
        )
    proposal = vendor.proposed(rules, arguments.rules, wanted, recorded)
    _write_file(proposal.text, path, proposal.summary(arguments.like, len(recorded)))
    return FAILED if proposal.after.faults else OK


def _write_file(text: str, path: Path, origin: Sequence[str]) -> None:
    """Write a rule file, and print the lines of how it came about."""
    path.parent.mkdir(parents=True, exist_ok=True)
    terminal.write_text(text, str(path))
    print("\n".join([*origin, f"wrote {path}"]))
