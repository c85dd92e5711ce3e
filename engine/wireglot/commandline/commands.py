"""What each command does: it takes the parsed arguments, and returns the exit status.

`cli` prints what it raises, Stop and WireglotError. Imports of tools stand inside the functions:
most of a short command's time is its start.
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

CONVERT_ARGUMENTS = ("source", "target", "unit", "model", "stream")


def convert(arguments: argparse.Namespace) -> int:
    rules, policy = given.rules(arguments), given.policy(arguments.policy)
    if arguments.unit == "stream":
        from . import streamcli

        terminal.print_notes(streamcli.convert(rules, policy, arguments), arguments.notes)
        return OK
    body, out = _convert_input(rules, arguments, policy=policy)
    if arguments.unit == "session":
        printed = rules[arguments.target].text(out.body, arguments.indent)
        terminal.write_text(printed, arguments.output)
    else:
        terminal.write_bytes(terminal.dump(out.body, arguments.indent), arguments.output)
    terminal.print_notes(out.notes, arguments.notes)
    if arguments.notes == "text":
        _print_hint(rules, body, out, arguments)
    return OK


def _run_server(name: str, arguments: argparse.Namespace) -> int:
    """Run the `main` of a module of `serve`. Raises Stop where its libraries are not installed."""
    try:
        module = importlib.import_module(f"..serve.{name}", __package__)
    except ModuleNotFoundError as error:
        needs = f"a server needs `pip install 'wireglot[serve]'`: {error.name} is missing"
        raise Stop(USAGE, needs) from None
    status: int = module.main(arguments, functools.partial(given.rules, arguments))
    return status


serve = functools.partial(_run_server, "command")
run = functools.partial(_run_server, "run")


def replay(arguments: argparse.Namespace) -> int:
    from ..serve import config, replay

    total, different, file = 0, 0, arguments.config
    try:
        if file is not None and (arguments.rules or arguments.overlay or arguments.plugins):
            raise UsageError(
                "`--rules`, `--overlay`, `--plugins`: the file of `--config` says them"
            )
        now = config.converting(file) if file is not None else (given.rules(arguments), None, None)
        for record in replay.replay(arguments.dir, *now):
            total += 1
            if record.apart:
                different += 1
                lines = [f"{record.file}: {record.ends}", *(f"  {line}" for line in record.apart)]
                terminal.write_text("\n".join(lines) + "\n")
    except WireglotError as error:  # 1 says that something differs
        raise Stop(USAGE, str(error)) from None
    print(f"{total} requests: {total - different} as they were, {different} otherwise")
    return FAILED if different else OK


def explain(arguments: argparse.Namespace) -> int:
    from ..audits import explain

    select = None if arguments.select is None else Selection(arguments.select)
    rules = given.rules(arguments)
    body, out = _convert_traced(rules, arguments)
    part = explain.select_part(out, arguments.path, arguments.input)
    chosen = {name: getattr(arguments, name) for name in CONVERT_ARGUMENTS}
    refused = explain.refusals(rules, body, chosen, given.options(arguments), part, arguments.input)
    if arguments.json or select is not None:
        text = json.dumps(explain.as_json(out, part, select, refused), indent=2)
    else:
        briefly = arguments.path is None and arguments.input is None
        lines = explain.lines(body, out, part, briefly)
        text = "\n".join([*lines, *(f"  {refusal}" for refusal in refused)])
    terminal.write_text(text + "\n")
    return OK


def report(arguments: argparse.Namespace) -> int:
    from ..audits import report

    body, out = _convert_traced(given.rules(arguments), arguments)
    text = report.page(body, out, arguments.source, arguments.target, arguments.unit)
    terminal.write_text(text, arguments.output)
    return OK


def audit(arguments: argparse.Namespace) -> int:
    from ..audits import audit, auditform

    rules = given.rules(arguments)
    options = given.options(arguments)
    source, target = arguments.source, arguments.target
    if source is None or target is None:
        for name in filter(None, (source, target)):
            check_name(name, rules.dialects)
        units = arguments.unit or ["request", "response"]
        names: Sequence[str] = rules.dialects
        if source is None and target is None:  # those that lie over another differ little from it
            names = [row.name for row in _list_dialects(rules, arguments) if not row.parent]
        sources, targets = [source] if source else names, [target] if target else names
        if len(sources) > 1 and (tqdm := terminal.progress_bar()) is not None:  # it takes minutes
            sources = tqdm(sources, unit=" dialects", dynamic_ncols=True)
        cells = audit.matrix(rules, units, sources, targets, arguments.model, options)
        text = auditform.render([], cells, arguments.format, rules.hash)
    else:
        pairs = [(source, target), (target, source)] if arguments.both else [(source, target)]
        units = arguments.unit or ["request"]
        asked = [(*pair, unit, arguments.model, options) for pair in pairs for unit in units]
        audits = [rules.audit(*each, arguments.examples) for each in asked]
        text = auditform.render(audits, [], arguments.format, rules.hash)
    terminal.write_text(text, arguments.output)
    return OK


def _list_dialects(rules: RuleSet, arguments: argparse.Namespace) -> list[Listed]:
    """Return a row of `wireglot dialects` for each dialect."""
    from ..loading import listing

    return listing.listed(rules, arguments.rules, arguments.plugins)


def diagnose(arguments: argparse.Namespace) -> int:
    rules = given.rules(arguments)
    options = given.options(arguments)
    body = terminal.read_json(arguments.file)
    findings = rules.diagnose(body, arguments.dialect, arguments.model, options)
    if arguments.json:
        terminal.print_list([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            print(finding)
        healed = sum(finding.healed for finding in findings)
        count = f"{len(findings)} found, of which `repair` heals {healed}"
        print(count if findings else "nothing found")
    return FAILED if any(finding.severity == "error" for finding in findings) else OK


def repair(arguments: argparse.Namespace) -> int:
    rules = given.rules(arguments)
    options = given.options(arguments)
    policy = given.policy(arguments.policy)
    body = terminal.read_json(arguments.file)
    out = rules.repair(body, arguments.dialect, arguments.model, options, policy)
    terminal.write_bytes(terminal.dump(out.body, arguments.indent), arguments.output)
    terminal.print_notes(out.notes, arguments.notes)
    return OK


def dialects(arguments: argparse.Namespace) -> int:
    listed = _list_dialects(given.rules(arguments), arguments)
    if arguments.format == "json":
        print(json.dumps([one._asdict() for one in listed], indent=2, ensure_ascii=False))
        return OK
    head = ("dialect", "over", "units", "stream", "lines", "compared", "described at")
    print("\n".join(columns([head, *(one.row() for one in listed)])))
    return OK


def show(arguments: argparse.Namespace) -> int:
    from ..authoring import show
    from ..loading import load

    if arguments.home and not arguments.code:
        raise Stop(USAGE, "`--home` goes with `--code`")
    if arguments.code:
        model = given.rules(arguments)[arguments.dialect].model
        text = show.functions(model, arguments.shape, arguments.home)
        terminal.write_text(text)
        return OK
    terminal.require_rule_files(*arguments.rules)
    # The prepared model knows the place of every value but of no key.
    nodes = load.flat_unchecked(
        load.from_yaml(), arguments.rules, arguments.overlay, arguments.plugins
    )
    check_name(arguments.dialect, [name for name in nodes if name != LADDER])
    text = show.flat_yaml(nodes[arguments.dialect], arguments.shape, arguments.examples)
    terminal.write_text(text)
    return OK


def check(arguments: argparse.Namespace) -> int:
    from ..loading import checking

    findings = checking.check(terminal.own_rules(arguments.dir), arguments.overlay)
    if arguments.json:
        terminal.print_list([finding.as_json() for finding in findings])
    else:
        for finding in findings:
            print(finding)
        print(_count_findings([finding.severity for finding in findings], len(findings.texts)))
    return FAILED if any(finding.severity == "error" for finding in findings) else OK


def _count_findings(severities: Sequence[str], files: int) -> str:
    """Return the last line of `check`: how many findings of each severity, the gravest first."""
    counts = []
    for severity in reversed(SEVERITIES):
        if number := severities.count(severity):
            counts.append(f"{number} {severity}{'s' * (number != 1)}")
    return f"{files} file{'s' * (files != 1)}, {', '.join(counts) or 'no findings'}"


def test(arguments: argparse.Namespace) -> int:
    from ..authoring import trial
    from ..loading import checking, load

    folders = [arguments.dir] if arguments.dir else []
    if own := terminal.own_rules(arguments.dir):
        # No body is converted by rules with a mistake: no law holds of them, and no example.
        checking.check(own, arguments.overlay).raise_first()
    trial_run = trial.Trial(arguments.dir, arguments.runs, arguments.seed)
    # What stands below the overlays holds without them.
    without_overlays = trial.load_with_examples(folders, [])
    trial_run.run(without_overlays, without_overlays.dialects)
    if overlays := arguments.overlay:
        rules = trial.load_with_examples(folders, overlays)
        trial_run.run(rules, rules.dialects)
    for name, dialect in load.overlays_of(*folders).items():
        if name not in overlays:
            trial_run.run(trial.load_with_examples(folders, [*overlays, name]), [dialect])
    trial_run.cross(without_overlays, trial.load_crossings(folders))
    for failure in trial_run.failures:
        print(failure)
    examples, laws = len(trial_run.examples), trial_run.laws
    failed = len(trial_run.failures) + trial_run.more
    print(f"{examples} examples, {laws} laws on {arguments.runs} payloads each")
    print(f"{examples + laws - failed} passed, {failed} failed")
    return FAILED if failed else OK


def schema(arguments: argparse.Namespace) -> int:
    terminal.write_bytes(rulesources.schema("ladder" if arguments.ladder else "rule-file"), None)
    return OK


def _convert_traced(rules: RuleSet, arguments: argparse.Namespace) -> tuple[Any, Conversion]:
    """Return the input and its Conversion with a trace; print a hint as `convert` does."""
    body, out = _convert_input(rules, arguments, trace=True)
    _print_hint(rules, body, out, arguments)
    return body, out


def _convert_input(rules: RuleSet, arguments: argparse.Namespace, **more: Any) -> tuple[Any, Any]:
    """Return the input and its Conversion. Raises Stop where it looks like another dialect."""
    named = {name: getattr(arguments, name) for name in CONVERT_ARGUMENTS}
    options = given.options(arguments)
    body = _read_input(rules, arguments)
    try:
        return body, rules.convert(body, **named, options=options, **more)
    except ConversionError as error:
        hint = _dialect_hint(rules, body, arguments)
        raise error if hint is None else Stop(FAILED, f"{error}; {hint}") from None


def _print_hint(rules: RuleSet, body: Any, out: Conversion, arguments: argparse.Namespace) -> None:
    """Print that the input looks like another dialect, where its notes suggest so."""
    odd = [note for note in out.notes if note.code in ("unknown-key", "unfit")]
    # One is mostly a new key of the dialect, and the question takes half a second.
    hint = _dialect_hint(rules, body, arguments) if len(odd) > 1 else None
    if hint is not None:
        print(f"wireglot: {hint}", file=sys.stderr)


def _dialect_hint(rules: RuleSet, body: Any, arguments: argparse.Namespace) -> str | None:
    """Return which other dialect or unit the input looks like, in words; None for none."""
    from ..authoring import vocabulary

    return vocabulary.hint(rules, body, arguments.source, arguments.unit)


def _read_input(rules: RuleSet, arguments: argparse.Namespace) -> Any:
    """Return the JSON value of FILE; a session file is parsed by its dialect."""
    dialect = rules[arguments.source]
    if units.available_unit(dialect.model, arguments.unit) != "session":
        return terminal.read_json(arguments.file)
    return dialect.parse(terminal.read_text(arguments.file))
