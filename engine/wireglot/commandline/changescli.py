"""Rules held against others, and against what SDKs have: `diff`, `breaking` and `drift`."""

from __future__ import annotations

import argparse
import json
import os

from ..authoring import breaking as changes
from ..authoring import diff as sets
from ..errors import UsageError, WireglotError
from ..loaded import check_name
from ..loading import rulesources
from . import given, terminal
from .terminal import FAILED, OK, USAGE, Stop


def diff(arguments: argparse.Namespace) -> int:
    old, new = arguments.old, arguments.new
    if new is None:  # the one that is named is compared to the packaged rules
        old, new = None, old
    try:
        before = sets.load_checked(_sources(old), arguments.old_overlay)
        after = sets.load_checked(_sources(new), arguments.overlay)
        if arguments.replay is None:
            result: sets.Replay | sets.Compared = sets.compare(
                before, after, not arguments.rules_only
            )
        else:
            ends = (arguments.source, arguments.target)
            text, name = terminal.read_text(arguments.replay), arguments.replay
            result = sets.replay(before, after, text, terminal.display_name(name), *ends)
    except WireglotError as error:  # 1 says that something differs
        raise Stop(USAGE, str(error)) from None
    text = json.dumps(result.as_json(), indent=2) if arguments.json else "\n".join(result.lines())
    terminal.write_text(text + "\n")
    return FAILED if result.differs else OK


def _sources(source: str | None) -> list[str]:
    """Return the rule sources that OLD or NEW names: none for the packaged rules alone."""
    sources = [] if source in (None, "-") else [str(source)]
    terminal.require_rule_files(*sources)
    return sources


def breaking(arguments: argparse.Namespace) -> int:
    folder = os.path.normpath(arguments.dir or rulesources.packaged_folder())
    terminal.require_rule_files(folder)
    try:
        graded = changes.against(folder, arguments.against, not arguments.rules_only)
    except WireglotError as error:  # 1 says that something differs
        raise Stop(USAGE, str(error)) from None
    counts = {grade: sum(change.grade == grade for change in graded) for grade in changes.GRADES}
    summary = ", ".join(f"{count} {grade}" for grade, count in counts.items())
    lines = [*map(str, graded), f"against {arguments.against}: {summary}"]
    if arguments.format == "github":
        lines = [change.annotation(folder) for change in graded]
    elif arguments.format == "json":
        data = {**counts, "found": [change._asdict() for change in graded]}
        lines = [json.dumps(data, indent=2, ensure_ascii=False)]
    terminal.write_text("".join(f"{line}\n" for line in lines))
    limit = changes.GRADES.index(arguments.fail_on) if arguments.fail_on in changes.GRADES else -1
    return FAILED if any(changes.GRADES.index(change.grade) <= limit for change in graded) else OK


def drift(arguments: argparse.Namespace) -> int:
    try:
        from ..authoring import drift as work
    except ModuleNotFoundError:  # most SDKs bring it
        raise UsageError("what SDKs have is read with `pip install 'wireglot[models]'`") from None
    rules = given.rules(arguments)
    known = work.load_sdks(arguments.rules)
    asked = arguments.dialect
    if asked is not None:
        check_name(asked, rules.dialects)
        if asked not in known:
            listed = f"{work.FILE.as_posix()} beside the rules names those of {', '.join(known)}"
            raise Stop(USAGE, f"no SDK is known for `{asked}`; {listed}")
    drifts, missing = [], {}
    for name in [asked] if asked else [name for name in known if name in rules]:
        try:
            drifts.append(work.of(rules[name], known[name]))
        except UsageError as error:
            missing[name] = str(error)
    if asked in missing:
        raise Stop(FAILED, f"{asked}: {missing[asked]}")
    lines = [line for result in drifts for line in result.lines()]
    text = "\n".join([*lines, *(f"{name}: {why}" for name, why in missing.items())])
    if arguments.format == "json":
        data = {"drift": [result.as_json() for result in drifts], "missing": missing}
        text = json.dumps(data, indent=2, ensure_ascii=False)
    terminal.write_text(text + "\n")
    return OK
