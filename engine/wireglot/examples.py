"""Running the examples that stand in rule files: read, write, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .lenses import Misfit, same, stringify
from .reader import Reader
from .source import Node
from .trail import Trail
from .writer import Writer

if TYPE_CHECKING:
    from .dialects import DialectRules
    from .rulesets import RuleSet


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a shape: `wire` reads as `ir`, which writes as `wire`."""

    where: str
    name: str
    wire: Any
    ir: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """An example that does not hold."""

    where: str
    message: str


def find(rules: DialectRules) -> Iterator[Example]:
    """Yield the examples of a dialect."""
    shapes = rules.model.node.get("shapes")
    for name, shape in (shapes.value if shapes else {}).items():
        nodes: list[Node] = []
        for owner in (shape, *(shape.get("cases").value.values() if shape.get("cases") else ())):
            listed = owner.get("examples")
            nodes.extend(listed.value if listed else ())
        for i, node in enumerate(nodes):
            wire, ir = node.get("wire"), node.get("ir")
            if wire is not None and ir is not None:
                label = f"{rules.name}/{name}[{i}]"
                yield Example(str(node.pos), label, wire.plain(), ir.plain())


def check(rules: DialectRules, example: Example) -> str | None:
    """Return what is wrong with an example, or None."""
    shape = example.name.partition("/")[2].partition("[")[0]
    try:
        read = Reader(rules.model, {}).shape(shape, example.wire, ())
    except Misfit as misfit:
        return f"{example.name} does not read: {misfit.reason}"
    bare = {k: v for k, v in read.items() if k != "spelled"} if isinstance(read, dict) else read
    if not same(bare, example.ir):
        return f"{example.name} reads as {stringify(bare)}, not {stringify(example.ir)}"
    try:
        wire = Writer(rules.model, False, Trail(), {}).shape(shape, example.ir)
    except Misfit as misfit:
        return f"{example.name} does not write: {misfit.reason}"
    if not same(wire, example.wire):
        return f"{example.name} writes as {stringify(wire)}, not {stringify(example.wire)}"
    return None


def run(rules: RuleSet | Mapping[str, DialectRules], names: Iterable[str]) -> list[Failure]:
    """Run every example of the named dialects and return what does not hold."""
    failures = []
    for name in names:
        for example in find(rules[name]):
            message = check(rules[name], example)
            if message:
                failures.append(Failure(example.where, message))
    return failures
