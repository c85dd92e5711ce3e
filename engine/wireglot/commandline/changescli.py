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
    if new is None:
        old, new = None, old
    try:
        before = sets.load_checked(_one(old), arguments.old_overlay)
        after = sets.load_checked(_one(new), arguments.overlay)
        if arguments.replay is None:
            found: sets.Told | sets.Compared = sets.compared(
                before, after, not arguments.rules_only
            )
        else:
            ends = (arguments.source, arguments.target)
            text = terminal.said(arguments.replay)
            found = sets.replayed(before, after, text, terminal.named(arguments.replay), *ends)
    except WireglotError as error:  # 1 says that something differs
        raise Stop(USAGE, str(error)) from None
    text = json.dumps(found.as_json(), indent=2) if arguments.json else "\n".join(found.lines())
    terminal.say(text + "\n")
    return FAILED if found.differs else OK


def _one(source: str | None) -> list[str]:
    """Return the sources that a word of `diff` stands for: none is the packaged rules alone."""
    sources = [] if source in (None, "-") else [str(source)]
    terminal.hold_rules(*sources)
    return sources


def breaking(arguments: argparse.Namespace) -> int:
    folder = os.path.normpath(arguments.dir or rulesources.packaged_folder())
    terminal.hold_rules(folder)
    try:
        found = changes.against(folder, arguments.against, not arguments.rules_only)
    except WireglotError as error:  # 1 says that something differs
        raise Stop(USAGE, str(error)) from None
    counts = {grade: sum(one.grade == grade for one in found) for grade in changes.GRADES}
    told = ", ".join(f"{count} {grade}" for grade, count in counts.items())
    lines = [*map(str, found), f"against {arguments.against}: {told}"]
    if arguments.format == "github":
        lines = [one.annotation(folder) for one in found]
    elif arguments.format == "json":
        made = {**counts, "found": [one._asdict() for one in found]}
        lines = [json.dumps(made, indent=2, ensure_ascii=False)]
    terminal.say("".join(f"{line}\n" for line in lines))
    limit = changes.GRADES.index(arguments.fail_on) if arguments.fail_on in changes.GRADES else -1
    return FAILED if any(changes.GRADES.index(one.grade) <= limit for one in found) else OK


def drift(arguments: argparse.Namespace) -> int:
    try:
        from ..authoring import drift as work
    except ModuleNotFoundError:  # most SDKs bring it
        raise UsageError("what SDKs have is read with `pip install 'wireglot[models]'`") from None
    rules = given.rules(arguments)
    known = work.known(arguments.rules)
    one = arguments.dialect
    if one is not None:
        check_name(one, rules.dialects)
        if one not in known:
            told = f"{work.FILE.as_posix()} beside the rules names those of {', '.join(known)}"
            raise Stop(USAGE, f"no SDK is known for `{one}`; {told}")
    found, missing = [], {}
    for name in [one] if one else [name for name in known if name in rules]:
        try:
            found.append(work.of(rules[name], known[name]))
        except UsageError as error:
            missing[name] = str(error)
    if one in missing:
        raise Stop(FAILED, f"{one}: {missing[one]}")
    lines = [line for each in found for line in each.lines()]
    text = "\n".join([*lines, *(f"{name}: {why}" for name, why in missing.items())])
    if arguments.format == "json":
        made = {"drift": [each.as_json() for each in found], "missing": missing}
        text = json.dumps(made, indent=2, ensure_ascii=False)
    terminal.say(text + "\n")
    return OK
