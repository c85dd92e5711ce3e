"""What command lines give beside a value: rules, options, a policy."""

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
    """Load what --rules, --overlay and --plugins name. Raises Stop, RuleError, UsageError."""
    terminal.require_rule_files(*arguments.rules)
    return start.wanted(arguments.rules, arguments.overlay, arguments.plugins)


def options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of --option and --check-arguments. Raises Stop."""
    chosen = dict(map(_option, arguments.option))
    if getattr(arguments, "check_arguments", False):
        chosen["check_arguments"] = True
    return chosen


def _option(text: str) -> tuple[str, Any]:
    """Return key and value of `K=V`; V is a text where it is no JSON. Raises Stop."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise Stop(USAGE, f"`--option {text}` has no `K=V`; say for example `repair=true`")
    try:
        return key, json.loads(value, parse_constant=jsontext.no_constant)
    except ValueError:
        return key, value


def policy(texts: Iterable[str]) -> Policy:
    """Return the policy of `KEY=WORD`s and policy files. Raises Stop, RuleError, UsageError."""
    actions: dict[str, str] = {}
    rows: list[Row] = []
    otherwise = "note"
    for text in texts:
        key, equals, word = text.rpartition("=")
        if equals and word in WORDS:
            actions[key] = word
        elif equals and not Path(text).is_file():
            raise Stop(USAGE, f"`--policy {text}`: `{word}` is none of {', '.join(WORDS)}")
        else:
            loaded = load_policy(text)
            actions.update(loaded.table)
            rows += loaded.rows
            otherwise = loaded.otherwise
    return Policy(actions, rows, otherwise)
