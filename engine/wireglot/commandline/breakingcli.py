"""`wireglot breaking`: prints what a change of rule files means for users."""

from __future__ import annotations

import argparse
import json
import os

from ..authoring import breaking as work
from ..errors import WireglotError
from ..loading import shelf
from . import terminal
from .terminal import FAILED, OK, USAGE, Stop


def breaking(arguments: argparse.Namespace) -> int:
    folder = os.path.normpath(arguments.dir or shelf.packaged_folder())
    terminal.holds_rules(folder)
    try:
        found = work.against(folder, arguments.against, not arguments.rules_only)
    except WireglotError as error:  # 1 says that something differs
        raise Stop(USAGE, str(error)) from None
    counts = {grade: sum(one.grade == grade for one in found) for grade in work.GRADES}
    told = ", ".join(f"{count} {grade}" for grade, count in counts.items())
    lines = [*map(str, found), f"against {arguments.against}: {told}"]
    if arguments.format == "github":
        lines = [one.annotation(folder) for one in found]
    elif arguments.format == "json":
        made = {**counts, "found": [one._asdict() for one in found]}
        lines = [json.dumps(made, indent=2, ensure_ascii=False)]
    terminal.say("".join(f"{line}\n" for line in lines))
    limit = work.GRADES.index(arguments.fail_on) if arguments.fail_on in work.GRADES else -1
    return FAILED if any(work.GRADES.index(one.grade) <= limit for one in found) else OK
