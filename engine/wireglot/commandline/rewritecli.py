"""Commands that write files anew: `fmt`, `migrate` and `redact`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..authoring import layout
from ..authoring.migrate import migrated
from ..authoring.redact import NotRedacted, Redaction
from ..errors import RuleError
from ..loading import start
from . import terminal
from .terminal import FAILED, OK, USAGE, Stop


def fmt(arguments: argparse.Namespace) -> int:
    return _rewritten(arguments, layout.formatted, "formatted")


def migrate(arguments: argparse.Namespace) -> int:
    arguments.check = False
    return _rewritten(arguments, migrated, "migrated")


def _rewritten(arguments: argparse.Namespace, rewrite: Callable[[str, str], str], done: str) -> int:
    """Rewrite rule files in place, or say what would change."""
    status = OK
    for name in _rule_files(arguments.files):
        text = terminal.said(name)
        try:
            made = rewrite(text, terminal.named(name))
        except RuleError as error:
            print(error, file=sys.stderr)
            status = FAILED
            continue
        if arguments.check or arguments.diff:
            if made != text:
                status = FAILED
                told = layout.difference(text, made, name) if arguments.diff else f"{name}\n"
                terminal.say(told)
        elif name == "-":
            terminal.say(made)
        elif made != text:
            terminal.say(made, name)
            print(f"{done} {name}", file=sys.stderr)
    return status


def _rule_files(names: Iterable[str]) -> Iterator[str]:
    """Yield files, and those of folders."""
    for name in names:
        if name != "-" and Path(name).is_dir():
            terminal.hold_rules(name)
            yield from map(str, sorted(Path(name).glob("*.yaml")))
            yield from map(str, sorted(Path(name, "examples").glob("*.yaml")))
        else:
            yield name


def redact(arguments: argparse.Namespace) -> int:
    terminal.hold_rules(*arguments.rules)
    rules = start.load_rules(*arguments.rules)
    redaction = Redaction((rules[name].model for name in rules.dialects), arguments.keep)
    files, out = arguments.files or ["-"], arguments.output
    if len(files) > 1 and not (out and Path(out).is_dir()):
        raise Stop(USAGE, "several files need `-o FOLDER`, a folder that is there")
    for name in files:
        text = terminal.said(name)
        try:
            made = redaction.text(text)
        except NotRedacted as error:
            raise Stop(FAILED, f"`{terminal.named(name)}`: {error}") from None
        inside = out and Path(out).is_dir() and name != "-"
        terminal.say(made, str(Path(out, Path(name).name)) if inside else out)
    return OK
