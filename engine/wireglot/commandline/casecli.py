"""`wireglot case`: makes a case of a payload that shows a fault."""

from __future__ import annotations

import argparse
import json
from importlib.metadata import version
from typing import Any

from ..authoring import faultcase
from ..authoring.faultcase import Complaint, Fault
from ..authoring.redact import NotRedacted, Redaction
from ..language.picture import ABSENT
from ..rulesets import RuleSet
from ..trail import keys_of, pointer
from . import given, terminal
from .terminal import FAILED, OK, USAGE, Stop

NO_FAULT = (
    "no fault was found; `--expect POINTER=JSON` says what should stand somewhere in the output, "
    "and `--note CODE` which note should not be there"
)
FAULT_IN_TEXT = "the fault hangs on what a text says; `--keep WORD` keeps a text as it is"


def case(arguments: argparse.Namespace) -> int:
    """Find a fault in what becomes of FILE, redact and shrink it, and print it as a crossing."""
    rules = given.rules(arguments)
    redaction = Redaction((rules[name].model for name in rules.dialects), arguments.keep)
    data = terminal.read_bytes(arguments.file)
    name = terminal.display_name(arguments.file)
    body = terminal.parse_json(data, name)
    complaint = _complaint(rules, arguments)
    if complaint.fault(body) is None:
        raise Stop(FAILED, NO_FAULT)
    try:
        body = json.loads(redaction.text(terminal.decode(data, name)))
        complaint = _redacted(complaint, redaction)
    except NotRedacted as error:
        raise Stop(FAILED, f"`{name}`: {error}") from None
    fault = complaint.fault(body)
    if fault is None:
        raise Stop(FAILED, FAULT_IN_TEXT)
    body = complaint.smallest(body, fault)
    fault = complaint.fault(body) or fault
    title = arguments.name or fault.message.splitlines()[0]
    crossing = complaint.crossing(body, title)
    text = faultcase.text(crossing, _header(complaint, fault, faultcase.text(crossing, [])))
    terminal.write_text(text, arguments.output)
    return OK


def _complaint(rules: RuleSet, arguments: argparse.Namespace) -> Complaint:
    """Return the conversion that is asked for, with what is wrong with it. Raises Stop."""
    at, equals, wanted = (arguments.expect or "").partition("=")
    if arguments.expect is not None and not at.startswith("/"):
        raise Stop(USAGE, f"`--expect {arguments.expect}`: a place is a JSON pointer, `/a/0/b`")
    try:
        expected: Any = json.loads(wanted) if equals else ABSENT
    except ValueError:
        raise Stop(USAGE, f"`--expect {arguments.expect}`: `{wanted}` is no JSON") from None
    ends = (arguments.source, arguments.target, arguments.unit, arguments.model)
    return Complaint(rules, *ends, at or None, expected, arguments.note)


def _redacted(complaint: Complaint, redaction: Redaction) -> Complaint:
    """Redact --expect as the payload, of which it may hold words. Raises NotRedacted."""

    def redacted(value: Any) -> Any:
        return json.loads(redaction.text(json.dumps(value, ensure_ascii=False)))

    if complaint.at is None:
        return complaint
    at = pointer(tuple(key if key.isdecimal() else redacted(key) for key in keys_of(complaint.at)))
    expected = complaint.expected if complaint.expected is ABSENT else redacted(complaint.expected)
    return complaint._replace(at=at, expected=expected)


def _header(complaint: Complaint, fault: Fault, text: str) -> list[str]:
    """Return the comment above the case: what is wrong, the rule, what `wireglot test` says."""
    failure = complaint.test_failure(text)
    version_line = f"wireglot {version('wireglot')}, rules {complaint.rules.hash[:12]}"
    lines = [f"{complaint.source} to {complaint.target}, {complaint.unit}: {fault.message}"]
    lines += [f"rule: {fault.rule}"] if fault.rule else []
    lines += [f"made by `wireglot case` of {version_line}"]
    if failure:
        return [*lines, f"`wireglot test` fails on it: {failure}"]
    advice = f"the wire of {complaint.target} is what comes out"
    return [*lines, f"`wireglot test` passes it: {advice}, correct it"]
