"""`wireglot drift`: prints what rules and installed SDKs have, and the other side has not."""

from __future__ import annotations

import argparse
import json

from ..errors import UsageError
from ..loaded import check_name
from . import given, terminal
from .terminal import FAILED, OK, USAGE, Stop

try:
    from ..authoring import drift as work
    from ..authoring import sdks
except ModuleNotFoundError:  # most SDKs bring it
    raise UsageError("what SDKs have is read with `pip install 'wireglot[models]'`") from None


def drift(arguments: argparse.Namespace) -> int:
    rules = given.rules(arguments)
    known = sdks.known(arguments.rules)
    one = arguments.dialect
    if one is not None:
        check_name(one, rules.dialects)
        if one not in known:
            told = f"{sdks.FILE.as_posix()} beside the rules names those of {', '.join(known)}"
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
