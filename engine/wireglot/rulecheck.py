"""What must hold of a rule file before it is used: every name defined, every word known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import picture as pic
from .hooks import HOOKS
from .ir import field_type
from .lenses import FORMS, GUARDS, LENSES, is_guard
from .source import Node, wrong

if TYPE_CHECKING:
    from .rulefile import Dialect

ENFORCE = frozenset(
    "lift put-first answer-next order-results-by-calls no-empty alternate insert narrow-tools "
    "no-blank some-message user-only".split()
)
LIMITS = {"tool_name", "call_id"}
LIMIT_WORDS = {"first": str, "rest": str, "min": int, "max": int}
BOUND_WORDS = {"count": int, "min": int, "below": str}


def check(dialect: Dialect) -> None:
    """Raise RuleError for a name that is used and not defined."""
    _names(dialect)
    _cases(dialect)
    _words(dialect)


def texts(node: Node | None, what: str) -> list[str]:
    """Return a list of texts; raises RuleError where it is something else."""
    if node is None:
        return []
    items = node.value if isinstance(node.value, list) else [node]
    for item in items:
        if not isinstance(item.value, str):
            raise wrong(f"{what} is a list of names", item.pos)
    if not isinstance(node.value, list):
        raise wrong(f"{what} is a list of names", node.pos, "put it in [ ]")
    return [item.value for item in items]


def _names(dialect: Dialect) -> None:
    unions = dialect.node.get("unions")
    for name, members in dialect.unions.items():
        for member in members:
            if member not in dialect.shapes:
                pos = unions.value[name].pos if unions else dialect.node.pos
                raise wrong(f"the union `{name}` names `{member}`, which is no shape", pos)
    hooks = dialect.node.get("hooks")
    for name in dialect.hooks:
        if name not in HOOKS:
            pos = hooks.pos if hooks else dialect.node.pos
            raise wrong(f"no hook `{name}` is registered", pos, f"there are: {', '.join(HOOKS)}")


def _cases(dialect: Dialect) -> None:
    known = {*dialect.shapes, *dialect.unions}
    if dialect.conversation:
        known.add("conversation")
    lenses = {*GUARDS, *FORMS, *dialect.tables, *dialect.schemas, *LENSES}
    cases = [c for s in (*dialect.shapes.values(), *dialect.units.values()) for c in s.cases]
    if dialect.conversation:
        cases += [c for g in dialect.conversation.groups for c in g.cases]
    for case in cases:
        firsts = {path for h in pic.holes(case.wire) if h.mark != "copy" for path in h.paths}
        for hole in pic.holes(case.wire):
            if hole.mark == "copy" and hole.path not in firsts:
                raise wrong(
                    f"`(copy)` repeats `${hole.path}`, which stands nowhere else in this picture",
                    hole.pos,
                    "say in one place, without `(copy)`, what is read",
                )
            if hole.shape is not None and hole.shape not in known:
                raise wrong(f"`{hole.shape}` is no shape of this file", hole.pos)
            for lens in hole.lenses:
                if lens not in lenses and not is_guard(lens):
                    raise wrong(
                        f"`{lens}` is no lens", hole.pos, "or a table or schema of this file"
                    )


def _words(dialect: Dialect) -> None:
    talk = dialect.node.get("conversation")
    enforce = talk.get("enforce") if talk else None
    for word, _ in dialect.conversation.enforce if dialect.conversation else ():
        if word not in ENFORCE and enforce:
            there = ", ".join(sorted(ENFORCE))
            raise wrong(f"`{word}` cannot be enforced", enforce.pos, f"there are: {there}")
    limits = dialect.node.get("limits")
    for name, limit in limits.value.items() if limits else ():
        words: dict[str, type] = LIMIT_WORDS if name in LIMITS else BOUND_WORDS
        if not isinstance(limit.value, dict) or (name in LIMITS and "rest" not in limit.value):
            raise wrong(
                f"`{name}` is no limit", limit.pos, "tool_name or call_id, each with `rest`"
            )
        if name not in LIMITS and field_type("request", name) not in ("integer", "list"):
            raise wrong(
                f"`{name}` is no limit",
                limit.pos,
                "tool_name or call_id, or a number or a list of a request",
            )
        for word, node in limit.value.items():
            if not isinstance(node.value, words.get(word, ())):
                raise wrong(f"`{word}` is no limit of `{name}`", node.pos, ", ".join(words))
