"""What each command does with its arguments.

Imports of tools stand inside the functions: most of a short command's time is its start.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..columns import columns
from ..errors import ConversionError, UsageError, WireglotError
from ..interpreter import units
from ..language.source import LADDER
from ..loaded import check_name
from ..loading import rulesources
from ..notes import SEVERITIES
from ..results import Conversion
from ..rulesets import RuleSet
from ..selecting import Selection
from . import given, terminal
from .terminal import FAILED, OK, USAGE, Stop

if TYPE_CHECKING:
    from ..loading.listing import Listed

PASSED_ON = ("source", "target", "unit", "model", "stream")


def convert(arguments: argparse.Namespace) -> int:
    rules, policy = given.rules(arguments), given.policy(arguments.policy)
    if arguments.unit == "stream":
        from . import streamcli

        terminal.print_notes(streamcli.convert(rules, policy, arguments), arguments.notes)
        return OK
    body, out = _converted(rules, arguments, policy=policy)
    if arguments.unit == "session":
        printed = rules[arguments.target].text(out.body, arguments.indent)
        terminal.say(printed, arguments.output)
    else:
        terminal.write(terminal.dump(out.body, arguments.indent), arguments.output)
    terminal.print_notes(out.notes, arguments.notes)
    if arguments.notes == "text":
        _hint(rules, body, out, arguments)
    return OK


def _served(name: str, arguments: argparse.Namespace) -> int:
    """Do what a module of the server does, if what it needs is installed."""
    try:
        module = importlib.import_module(f"..serve.{name}", __package__)
    except ModuleNotFoundError as error:
        needs = f"a server needs `pip install 'wireglot[serve]'`: {error.name} is missing"
        raise Stop(USAGE, needs) from None
    status: int = module.main(arguments, functools.partial(given.rules, arguments))
    return status


serve = functools.partial(_served, "command")
run = functools.partial(_served, "run")


def replay(arguments: argparse.Namespace) -> int:
    from ..serve import config, replay

    counts, file = [0, 0], arguments.config
    try:
        if file is not None and (arguments.rules or arguments.overlay or arguments.plugins):
            raise UsageError(
                "`--rules`, `--overlay`, `--plugins`: the file of `--config` says them"
            )
        said = config.converting(file) if file is not None else (given.rules(arguments), None, None)
        for one in replay.replay(arguments.dir, *said):
            counts[bool(one.apart)] += 1
            if one.apart:
                lines = [f"{one.file}: {one.ends}", *(f"  {line}" for line in one.apart)]
                terminal.say("\n".join(lines) + "\n")
    except WireglotError as error:  # 1 says that something differs
        raise Stop(USAGE, str(error)) from None
    print(f"{sum(counts)} requests: {counts[0]} as they were, {counts[1]} otherwise")
    return FAILED if counts[1] else OK


def explain(arguments: argparse.Namespace) -> int:
    from ..audits import explain

    select = None if arguments.select is None else Selection(arguments.select)
    rules = given.rules(arguments)
    body, out = _traced(rules, arguments)
    part = explain.chosen(out, arguments.path, arguments.input)
    chosen = {name: getattr(arguments, name) for name in PASSED_ON}
    refused = explain.refused(rules, body, chosen, given.options(arguments), part, arguments.input)
    if arguments.json or select is not None:
        text = json.dumps(explain.as_json(out, part, select, refused), indent=2)
    else:
        briefly = arguments.path is None and arguments.input is None
        told = [*explain.lines(body, out, part, briefly), *(f"  {one}" for one in refused)]
        text = "\n".join(told)
    terminal.say(text + "\n")
    return OK


def report(arguments: argparse.Namespace) -> int:
    from ..audits import report

    body, out = _traced(given.rules(arguments), arguments)
    text = report.page(body, out, arguments.source, arguments.target, arguments.unit)
    terminal.say(text, arguments.output)
    return OK


def audit(arguments: argparse.Namespace) -> int:
    from ..audits import audit, auditform

    rules = given.rules(arguments)
    options = given.options(arguments)
    one, two = arguments.source, arguments.target
    if one is None or two is None:
        for name in filter(None, (one, two)):
            check_name(name, rules.dialects)
        units = arguments.unit or ["request", "response"]
        whole: Sequence[str] = rules.dialects
        if one is None and two is None:  # those that lie over another differ little from it
            whole = [listed.name for listed in _listed(rules, arguments) if not listed.parent]
        ends = terminal.watched([one] if one else whole), [two] if two else whole
        cells = audit.matrix(rules, units, *ends, arguments.model, options)
        text = auditform.shown([], cells, arguments.format, rules.hash)
    else:
        pairs = [(one, two), (two, one)] if arguments.both else [(one, two)]
        units = arguments.unit or ["request"]
        chosen = [(*pair, unit, arguments.model, options) for pair in pairs for unit in units]
        found = [rules.audit(*each, arguments.examples) for each in chosen]
        text = auditform.shown(found, [], arguments.format, rules.hash)
    terminal.say(text, arguments.output)
    return OK


def _listed(rules: RuleSet, arguments: argparse.Namespace) -> list[Listed]:
    """Return what is said of each dialect."""
    from ..loading import listing

    return listing.listed(rules, arguments.rules, arguments.plugins)


def diagnose(arguments: argparse.Namespace) -> int:
    rules = given.rules(arguments)
    options = given.options(arguments)
    body = terminal.body(arguments.file)
    found = rules.diagnose(body, arguments.dialect, arguments.model, options)
    if arguments.json:
        terminal.print_list([one._asdict() for one in found])
    else:
        for one in found:
            print(one)
        healed = sum(one.healed for one in found)
        print(f"{len(found)} found, of which `repair` heals {healed}" if found else "nothing found")
    return FAILED if any(one.severity == "error" for one in found) else OK


def repair(arguments: argparse.Namespace) -> int:
    rules = given.rules(arguments)
    options = given.options(arguments)
    policy = given.policy(arguments.policy)
    body = terminal.body(arguments.file)
    out = rules.repair(body, arguments.dialect, arguments.model, options, policy)
    terminal.write(terminal.dump(out.body, arguments.indent), arguments.output)
    terminal.print_notes(out.notes, arguments.notes)
    return OK


def dialects(arguments: argparse.Namespace) -> int:
    found = _listed(given.rules(arguments), arguments)
    if arguments.format == "json":
        print(json.dumps([one._asdict() for one in found], indent=2, ensure_ascii=False))
        return OK
    head = ("dialect", "over", "units", "stream", "lines", "compared", "described at")
    print("\n".join(columns([head, *(one.row() for one in found)])))
    return OK


def show(arguments: argparse.Namespace) -> int:
    from ..authoring import show
    from ..loading import load

    if arguments.home and not arguments.code:
        raise Stop(USAGE, "`--home` goes with `--code`")
    if arguments.code:
        model = given.rules(arguments)[arguments.dialect].model
        text = show.functions(model, arguments.shape, arguments.home)
        terminal.say(text)
        return OK
    terminal.hold_rules(*arguments.rules)
    # The prepared model knows the place of every value but of no key.
    nodes = load.flat_unchecked(
        load.from_yaml(), arguments.rules, arguments.overlay, arguments.plugins
    )
    check_name(arguments.dialect, [name for name in nodes if name != LADDER])
    text = show.flat_yaml(nodes[arguments.dialect], arguments.shape, arguments.examples)
    terminal.say(text)
    return OK


def check(arguments: argparse.Namespace) -> int:
    from ..loading import checking

    findings = checking.check(terminal.own(arguments.dir), arguments.overlay)
    if arguments.json:
        terminal.print_list([finding.as_json() for finding in findings])
    else:
        for finding in findings:
            print(finding)
        print(_told([finding.severity for finding in findings], len(findings.texts)))
    return FAILED if any(finding.severity == "error" for finding in findings) else OK


def _told(severities: Sequence[str], files: int) -> str:
    counts = []
    for word in reversed(SEVERITIES):
        if found := severities.count(word):
            counts.append(f"{found} {word}{'s' * (found != 1)}")
    return f"{files} file{'s' * (files != 1)}, {', '.join(counts) or 'no findings'}"


def test(arguments: argparse.Namespace) -> int:
    from ..authoring import trial
    from ..loading import checking, load

    folders = [arguments.dir] if arguments.dir else []
    if own := terminal.own(arguments.dir):
        # No body is converted by rules with a mistake: no law holds of them, and no example.
        checking.check(own, arguments.overlay).raise_first()
    tried = trial.Trial(arguments.dir, arguments.runs, arguments.seed)
    below = trial.load_with_examples(
        folders, []
    )  # what stands below the overlays holds without them
    tried.run(below, below.dialects)
    if over := arguments.overlay:
        rules = trial.load_with_examples(folders, over)
        tried.run(rules, rules.dialects)
    for name, dialect in load.overlays_of(*folders).items():
        if name not in over:
            tried.run(trial.load_with_examples(folders, [*over, name]), [dialect])
    tried.cross(below, trial.load_crossings(folders))
    for failure in tried.failures:
        print(failure)
    failed, total = len(tried.failures) + tried.more, len(tried.examples) + tried.laws
    print(f"{len(tried.examples)} examples, {tried.laws} laws on {arguments.runs} payloads each")
    print(f"{total - failed} passed, {failed} failed")
    return FAILED if failed else OK


def schema(arguments: argparse.Namespace) -> int:
    terminal.write(rulesources.schema("ladder" if arguments.ladder else "rule-file"), None)
    return OK


def _traced(rules: RuleSet, arguments: argparse.Namespace) -> tuple[Any, Conversion]:
    """Return the input of a command, and its conversion with a trace."""
    body, out = _converted(rules, arguments, trace=True)
    _hint(rules, body, out, arguments)
    return body, out


def _converted(rules: RuleSet, arguments: argparse.Namespace, **more: Any) -> tuple[Any, Any]:
    """Convert what a command is given; of what is refused, say which dialect it looks like."""
    chosen = {name: getattr(arguments, name) for name in PASSED_ON}
    options = given.options(arguments)
    body = _given(rules, arguments)
    try:
        return body, rules.convert(body, **chosen, options=options, **more)
    except ConversionError as error:
        hint = _likely(rules, body, arguments)
        raise error if hint is None else Stop(FAILED, f"{error}; {hint}") from None


def _hint(rules: RuleSet, body: Any, out: Conversion, arguments: argparse.Namespace) -> None:
    """Say of what was read that it looks like a payload of another dialect."""
    odd = [note for note in out.notes if note.code in ("unknown-key", "unfit")]
    # One is mostly a new key of the dialect, and the question takes half a second.
    hint = _likely(rules, body, arguments) if len(odd) > 1 else None
    if hint is not None:
        print(f"wireglot: {hint}", file=sys.stderr)


def _likely(rules: RuleSet, body: Any, arguments: argparse.Namespace) -> str | None:
    from ..authoring import vocabulary

    return vocabulary.hint(rules, body, arguments.source, arguments.unit)


def _given(rules: RuleSet, arguments: argparse.Namespace) -> Any:
    """Return the value that a command is given; a session file has a form of its own."""
    dialect = rules[arguments.source]
    if units.available_unit(dialect.model, arguments.unit) != "session":
        return terminal.body(arguments.file)
    return dialect.parse(terminal.said(arguments.file))
