"""What generated functions leave to the interpreter, and messages and runs as a whole."""

from __future__ import annotations

from typing import Any

from ..interpreter import building, conversation, runs
from ..interpreter.runs import around, of_run, together
from ..language.shape import Case, Shape
from ..language.talk import Group
from ..trail import At
from .readtime import attempt


def odd(x: Any, shape: Shape, case: Case, w: Any, at: At, lenient: bool, mark: int = -1) -> Any:
    """Read one object by one case in the interpreter; what stands in it runs generated again."""
    if mark >= 0:
        del x.notes[mark:]
    made = attempt(x, lambda: building.build(x, shape, case, x.case(case, w, at, lenient), at))
    if w.__class__ is dict and not w and isinstance(made, dict) and not x.probe:
        x.remember(made, "", "empty", True)
    return made


def odd_message(x: Any, group: Group, w: Any, at: At, lenient: bool, mark: int = -1) -> Any:
    """Read one message by one group of cases in the interpreter."""
    if mark >= 0:
        del x.notes[mark:]
    return attempt(x, conversation.read_group, x, group, w, at, lenient)


def odd_run(x: Any, shape: Shape, case: Case, w: Any, at: At, lenient: bool, mark: int = -1) -> Any:
    """Read one element that holds a run in the interpreter."""
    if mark >= 0:
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


def chosen(x: Any, shape: Shape, case: Case, made: dict[str, Any], at: At) -> None:
    """Remember the case that was read, where another one would be written."""
    if case.home or building.chosen(x, shape, made, case) is not case:
        x.remember(made, "", "case", case.name)
        building.told(x, case, at)


_FUNCTIONS = (odd, odd_message, odd_run, around, of_run, together, turns, chosen)
NAMES: dict[str, Any] = {**{one.__name__: one for one in _FUNCTIONS}, "BARE": BARE, "KEPT": KEPT}
