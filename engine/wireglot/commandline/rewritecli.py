"""Commands that write files anew: `fmt` and `redact`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..authoring import layout
from ..authoring.redact import NotRedacted, Redaction
from ..errors import RuleError
from ..loading import start
from . import terminal
from .terminal import FAILED, OK, USAGE, Stop


def fmt(arguments: argparse.Namespace) -> int:
    """Lay files out in place, or print what would change."""
    status = OK
    for name in _rule_files(arguments.files):
        text = terminal.read_text(name)
        try:
            new = layout.formatted(text, terminal.display_name(name))
        except RuleError as error:
            print(error, file=sys.stderr)
            status = FAILED
            continue
        if arguments.check or arguments.diff:
            if new != text:
                status = FAILED
                output = layout.difference(text, new, name) if arguments.diff else f"{name}\n"
                terminal.write_text(output)
        elif name == "-":
            terminal.write_text(new)
        elif new != text:
            terminal.write_text(new, name)
            print(f"formatted {name}", file=sys.stderr)
    return status


def _rule_files(names: Iterable[str]) -> Iterator[str]:
    """Yield the files that are named, and of folders the rule files and examples in them."""
    for name in names:
        if name != "-" and Path(name).is_dir():
            terminal.require_rule_files(name)
            yield from map(str, sorted(Path(name).glob("*.yaml")))
            yield from map(str, sorted(Path(name, "examples").glob("*.yaml")))
        else:
            yield name


def redact(arguments: argparse.Namespace) -> int:
    terminal.require_rule_files(*arguments.rules)
    rules = start.load_rules(*arguments.rules)
    redaction = Redaction((rules[name].model for name in rules.dialects), arguments.keep)
    files, out = arguments.files or ["-"], arguments.output
    if len(files) > 1 and not (out and Path(out).is_dir()):
        raise Stop(USAGE, "several files need `-o FOLDER`, a folder that is there")
    for name in files:
        text = terminal.read_text(name)
        try:
            redacted = redaction.text(text)
        except NotRedacted as error:
            raise Stop(FAILED, f"`{terminal.display_name(name)}`: {error}") from None
        in_folder = out and Path(out).is_dir() and name != "-"
        terminal.write_text(redacted, str(Path(out, Path(name).name)) if in_folder else out)
    return OK
