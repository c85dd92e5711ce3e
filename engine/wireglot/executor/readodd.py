"""What generated functions leave to the interpreter, and messages and runs as a whole."""

from __future__ import annotations

import sys
from typing import Any

from ..interpreter import building, conversation, runs
from ..language.shape import Case, Shape
from ..language.talk import Group
from ..trail import At
from .readtime import attempt

ALL = sys.maxsize  # of the notes stay


def odd(x: Any, shape: Shape, case: Case, w: Any, at: At, lenient: bool, mark: int = ALL) -> Any:
    """Read one object by one case in the interpreter; what stands in it runs generated again."""
    del x.notes[mark:]
    return attempt(x, building.by_case, x, shape, case, w, at, lenient)


def odd_message(x: Any, group: Group, w: Any, at: At, lenient: bool, mark: int = ALL) -> Any:
    """Read one message by one group of cases in the interpreter."""
    del x.notes[mark:]
    return attempt(x, conversation.read_group, x, group, w, at, lenient)


def odd_run(
    x: Any, shape: Shape, case: Case, w: Any, at: At, lenient: bool, mark: int = ALL
) -> Any:
    """Read one element that holds a run in the interpreter."""
    del x.notes[mark:]
    return attempt(x, runs.gathered, x, shape, case, w, at, lenient)


def turns(x: Any, results: bool, made: dict[str, Any], at: At) -> list[dict[str, Any]]:
    """Give results messages of their own, as they stand among others, and what says its role."""
    kinds = [part.get("type") for part in made["parts"]]
    if not kinds or ("tool_result" not in kinds and not x.dialect.told_roles):
        return [made]
    messages = conversation.spoken(made["parts"], made["role"], results)
    for message in messages[1:]:
        x.late((message, at, BARE, ()))
    made.update(messages[0])
    return [made, *messages[1:]]


BARE: dict[str | None, At] = {None: ()}
KEPT: dict[str | None, At] = {"kept": ()}
