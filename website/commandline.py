"""The page of the command line, made of the parser itself."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from wireglot.commandline.parser import parser

from .pages import Page, heading, render, slug

WIDE = 90


class Argument(NamedTuple):
    """An argument of a command: how it is written, and what it says."""

    words: tuple[str, ...]
    value: str
    needed: bool
    text: str


class Command(NamedTuple):
    """A command with its arguments."""

    id: str
    name: str
    about: str
    usage: str
    arguments: list[Argument]


def page() -> Page:
    """Return the page of all commands."""
    made = parser()
    found = list(commands(made))
    html = render(
        "commandline.html",
        about=made.description or "",
        ends=made.epilog or "",
        usage=_usage(made),
        commands=found,
    )
    return Page(html, tuple(heading(2, one.id, f"wireglot {one.name}") for one in found))


def commands(parser: argparse.ArgumentParser) -> list[Command]:
    """Return the commands of a parser, those within commands after them."""
    found = []
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        for name, inner in action.choices.items():
            arguments = [_argument(one) for one in inner._actions if _told(one)]
            words = inner.prog.split()[1:] or [name]
            about = inner.description or ""
            made = Command(slug(*words), " ".join(words), about, _usage(inner), arguments)
            found += [made, *commands(inner)]
    return found


def _usage(parser: argparse.ArgumentParser) -> str:
    written = argparse.HelpFormatter(prog=parser.prog, width=WIDE)
    written.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups, prefix="")
    return written.format_help().rstrip()


def _told(action: argparse.Action) -> bool:
    plain = not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
    return plain and action.help is not argparse.SUPPRESS


def _argument(action: argparse.Action) -> Argument:
    value = action.metavar if isinstance(action.metavar, str) else ""
    if action.choices is not None:
        value = value or "|".join(map(str, action.choices))
    if not action.option_strings:
        return Argument((value or action.dest,), "", action.nargs not in ("?", "*"), _text(action))
    takes = action.nargs != 0
    shown = value or action.dest.upper() if takes else ""
    return Argument(tuple(action.option_strings), shown, action.required, _text(action))


def _text(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")
