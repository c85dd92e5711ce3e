"""`wireglot case`: makes a case of a payload that shows a fault."""

from __future__ import annotations

import argparse
import json
from importlib.metadata import version
from typing import Any

from ..authoring import faultcase
from ..authoring.faultcase import Asked, Fault
from ..authoring.redact import NotRedacted, Redaction
from ..language.picture import ABSENT
from ..rulesets import RuleSet
from ..trail import keys_of, pointer
from . import given, terminal
from .terminal import FAILED, OK, USAGE, Stop

NOTHING = (
    "no fault was found; `--expect POINTER=JSON` says what should stand somewhere in the output, "
    "and `--note CODE` which note should not be there"
)
HANGS = "the fault hangs on what a text says; `--keep WORD` keeps a text as it is"


def case(arguments: argparse.Namespace) -> int:
    rules = given.rules(arguments)
    redaction = Redaction((rules[name].model for name in rules.dialects), arguments.keep)
    data = terminal.read(arguments.file)
    name = terminal.named(arguments.file)
    body = terminal.parsed(data, name)
    asked = _asked(rules, arguments)
    if asked.fault(body) is None:
        raise Stop(FAILED, NOTHING)
    try:
        body = json.loads(redaction.text(terminal.text(data, name)))
        asked = _redacted(asked, redaction)
    except NotRedacted as error:
        raise Stop(FAILED, f"`{name}`: {error}") from None
    fault = asked.fault(body)
    if fault is None:
        raise Stop(FAILED, HANGS)
    body = asked.smallest(body, fault)
    fault = asked.fault(body) or fault
    title = arguments.name or fault.told.splitlines()[0]
    crossing = asked.crossing(body, title)
    text = faultcase.text(crossing, _head(asked, fault, faultcase.text(crossing, [])))
    terminal.say(text, arguments.output)
    return OK


def _asked(rules: RuleSet, arguments: argparse.Namespace) -> Asked:
    """Return what is asked for, with what is expected if that is said."""
    at, equals, wanted = (arguments.expect or "").partition("=")
    if arguments.expect is not None and not at.startswith("/"):
        raise Stop(USAGE, f"`--expect {arguments.expect}`: a place is a JSON pointer, `/a/0/b`")
    try:
        expected: Any = json.loads(wanted) if equals else ABSENT
    except ValueError:
        raise Stop(USAGE, f"`--expect {arguments.expect}`: `{wanted}` is no JSON") from None
    ends = (arguments.source, arguments.target, arguments.unit, arguments.model)
    return Asked(rules, *ends, at or None, expected, arguments.note)


def _redacted(asked: Asked, redaction: Redaction) -> Asked:
    """Return what is asked for, redacted as the payload is: its keys may stand in the place."""

    def other(said: Any) -> Any:
        return json.loads(redaction.text(json.dumps(said, ensure_ascii=False)))

    if asked.at is None:
        return asked
    at = pointer(tuple(key if key.isdecimal() else other(key) for key in keys_of(asked.at)))
    expected = asked.expected if asked.expected is ABSENT else other(asked.expected)
    return asked._replace(at=at, expected=expected)


def _head(asked: Asked, fault: Fault, text: str) -> list[str]:
    """Return what stands above the case: what is wrong, the rule, what to do with it."""
    told = asked.tried(text)
    made = f"wireglot {version('wireglot')}, rules {asked.rules.hash[:12]}"
    lines = [f"{asked.source} to {asked.target}, {asked.unit}: {fault.told}"]
    lines += [f"rule: {fault.rule}"] if fault.rule else []
    lines += [f"made by `wireglot case` of {made}"]
    if told:
        return [*lines, f"`wireglot test` fails on it: {told}"]
    wire = f"the wire of {asked.target} is what comes out"
    return [*lines, f"`wireglot test` passes it: {wire}, correct it"]
