"""What commands are given beside a value: rules, options, a policy."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import jsontext
from ..loading import start
from ..loading.policyfile import load_policy
from ..policy import WORDS, Policy, Row
from ..rulesets import RuleSet
from . import terminal
from .terminal import USAGE, Stop


def rules(arguments: argparse.Namespace) -> RuleSet:
    """Return the rules that are asked for. Raises Stop, RuleError, UsageError."""
    terminal.hold_rules(*arguments.rules)
    return start.wanted(arguments.rules, arguments.overlay, arguments.plugins)


def options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a conversion. Raises Stop."""
    found = dict(map(_option, arguments.option))
    if getattr(arguments, "check_arguments", False):
        found["check_arguments"] = True
    return found


def _option(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise Stop(USAGE, f"`--option {text}` has no `K=V`; say for example `repair=true`")
    try:
        return key, json.loads(value, parse_constant=jsontext.no_constant)
    except ValueError:
        return key, value


def policy(texts: Iterable[str]) -> Policy:
    """Return the policy that some words and files make. Raises Stop, RuleError, UsageError."""
    table: dict[str, str] = {}
    rows: list[Row] = []
    otherwise = "note"
    for text in texts:
        key, equals, word = text.rpartition("=")
        if equals and word in WORDS:
            table[key] = word
        elif equals and not Path(text).is_file():
            raise Stop(USAGE, f"`--policy {text}`: `{word}` is none of {', '.join(WORDS)}")
        else:
            loaded = load_policy(text)
            table.update(loaded.table)
            rows += loaded.rows
            otherwise = loaded.otherwise
    return Policy(table, rows, otherwise)
