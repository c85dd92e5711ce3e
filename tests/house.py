"""Walk the imports of the engine: its rooms, circles, arrows that lead up, and the way of a call.

    python -m tests.house [--arrows] [--costs] [--way]

A room is a folder of `engine/wireglot`, or a group of modules at its top; those of a floor ask
those below them and each other. An arrow up is an import from a lower floor, also one inside a
function or for types alone; there is none, but for the delegates. `tests/test_house.py` holds it.
"""

from __future__ import annotations

import argparse
import ast
import functools
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from . import way

ROOT = Path(__file__).parent.parent / "engine" / "wireglot"
TOP = "wireglot"
# The floors, the lowest first. Of the top, who is not named here is part of `calls`.
FLOORS = (
    ("values",),
    ("language",),
    ("interpreter",),
    ("executor", "files"),
    ("conversion",),
    ("streaming",),
    ("loop",),
    ("trace",),
    ("checks",),
    ("calls", "loading"),
    ("authoring",),
    ("audits", "batch", "moving", "serve"),
    ("command line",),
)
GROUPS = {
    "values": (
        "base64text columns errors guards hooks ir jsontext models native notes partmodels "
        "patterns payload policy results room seeds selecting tagged traces trail waiting"
    ).split(),
}
COMMANDS = frozenset(("cli", "__main__", "commandline"))
DOORS = {"httpx": "serve", "ray": "batch"}  # public modules of rooms
TOOLS = frozenset(("audits", "authoring", "batch", "moving", "serve", "command line"))
# What a rule set offers by its name though a tool does it: a delegate of one line, imported when
# it is called, and for the type that it returns.
DELEGATES = {("wireglot.rulesets", "wireglot.audits.audit"): "RuleSet.audit"}


class Arrow(NamedTuple):
    """An import of one module by another."""

    source: str
    target: str
    line: int
    inner: bool  # inside a function
    typed: bool  # for types alone


class House(NamedTuple):
    """The modules with their lines, and the arrows between them."""

    lines: dict[str, int]
    arrows: list[Arrow]


@functools.cache
def walk(root: Path = ROOT) -> House:
    """Return the modules of a package and their imports of each other."""
    files = {}
    for path in sorted(root.rglob("*.py")):
        parts = [TOP, *path.relative_to(root).with_suffix("").parts]
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    texts = {name: path.read_text("utf-8") for name, path in files.items()}
    found = []
    for name, path in files.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        tree = ast.parse(texts[name])
        for node, inner, typed in _imports(tree, False, False):
            for target in _targets(node, package, files.keys()):
                if target != name:
                    found.append(Arrow(name, target, node.lineno, inner, typed))
    return House({name: text.count("\n") for name, text in texts.items()}, found)


def _imports(
    node: ast.AST, inner: bool, typed: bool
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, inner, typed
        below = inner or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        types = typed or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test))
        yield from _imports(child, below, types)


def _targets(node: ast.Import | ast.ImportFrom, package: str, there: Collection[str]) -> set[str]:
    """Return the modules that an import names."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names if alias.name in there}
    base = package.split(".")
    if node.level:
        base = base[: len(base) - node.level + 1]
        module = ".".join([*base, *([node.module] if node.module else [])])
    else:
        module = node.module or ""
    found = set()
    for alias in node.names:
        if f"{module}.{alias.name}" in there:
            found.add(f"{module}.{alias.name}")
        elif module in there:
            found.add(module)
    return found


def room(module: str) -> str:
    """Return the room that a module is in."""
    _, _, rest = module.partition(".")
    head = rest.partition(".")[0]
    if module == way.GENERATED:
        return way.ROOM
    if head in COMMANDS:
        return "command line"
    if head in DOORS:
        return DOORS[head]
    if "." in rest or ((ROOT / head).is_dir() and head):
        return head
    return next((group for group, names in GROUPS.items() if head in names), "calls")


def floor(module: str) -> int:
    """Return the floor of a module's room."""
    return next(n for n, rooms in enumerate(FLOORS) if room(module) in rooms)


def upward(house: House) -> list[Arrow]:
    """Return the imports that lead to a higher floor, but those of delegates."""
    return [
        a
        for a in house.arrows
        if floor(a.source) < floor(a.target) and (a.source, a.target) not in DELEGATES
    ]


def free(house: House) -> list[Arrow]:
    """Return the imports inside functions that save nothing: what they name is there already."""
    direct: dict[str, set[str]] = {name: set() for name in house.lines}
    for arrow in house.arrows:
        if not (arrow.inner or arrow.typed):
            direct[arrow.source].add(arrow.target)
    found = []
    for arrow in house.arrows:
        there, more = {TOP, arrow.source}, [TOP, arrow.source]
        while arrow.inner and more:
            new = direct.get(more.pop(), set()) - there
            there |= new
            more += new
        if arrow.inner and arrow.target in there:
            found.append(arrow)
    return found


def cost(arrow: Arrow) -> float:
    """Return how many milliseconds an import inside a function saves at the start."""
    code = f"import time, {TOP}, {arrow.source}; begun = time.perf_counter(); "
    code += f"import {arrow.target}; print((time.perf_counter() - begun) * 1000)"
    runs = (subprocess.run([sys.executable, "-c", code], stdout=-1, check=True) for _ in range(3))
    return min(float(run.stdout) for run in runs)


def circles(house: House, typed: bool) -> list[list[str]]:
    """Return the circles of imports, the largest first; with those for types alone if `typed`."""
    edges: dict[str, set[str]] = {name: set() for name in house.lines}
    for arrow in house.arrows:
        if typed or not arrow.typed:
            edges[arrow.source].add(arrow.target)
    found = [sorted(one) for one in _components(edges) if len(one) > 1]
    return sorted(found, key=len, reverse=True)


def _components(edges: dict[str, set[str]]) -> Iterator[list[str]]:
    """Yield the strongly connected components of a graph (Tarjan), without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    for start in edges:
        if start in index:
            continue
        work = [(start, iter(sorted(edges[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    yield stack[at:]
                    del stack[at:]
            elif target not in index:
                index[target] = low[target] = len(index)
                stack.append(target)
                work.append((target, iter(sorted(edges[target]))))
            elif target in stack:
                low[node] = min(low[node], index[target])


def climbs(house: House) -> Callable[[str, str], bool]:
    """Return what tells whether a call of one module by another leads back up."""
    direct: dict[str, set[str]] = {name: set() for name in house.lines}
    for arrow in house.arrows:
        direct[arrow.source].add(arrow.target)
    below: dict[str, set[str]] = {}
    for name in house.lines:
        found, more = set[str](), [name]
        while more:
            new = direct[more.pop()] - found
            found |= new
            more += new
        below[name] = found
    return lambda source, target: (
        floor(source) < floor(target) or source in below.get(target, set())
    )


def _ways(house: House, whole: bool) -> None:
    """Print what a conversion goes through: its modules, and the climbs back up."""
    bars = way.BARS
    for unit in way.BODIES:
        found = way.of(unit, climbs(house))
        met = len(found.modules) <= bars[0] and len(found.climbs) <= bars[1]
        between = sum(floor(source) < floor(target) for source, target in found.climbs)
        print(
            f"a {unit} of Chat to Anthropic: {len(found.modules)} modules in {len(found.stays)} "
            f"stays, {len(found.climbs)} climbs, {between} of them to another floor "
            f"(bars {bars[0]} and {bars[1]}, {'met' if met else 'not met'})"
        )
        for name in found.modules if whole else ():
            print(f"  {name}")
        for (source, target), count in Counter(found.climbs).items() if whole else ():
            print(f"  climbs {count} times from {source} to {target}")


def main(arguments: list[str] | None = None) -> int:
    """Print the house."""
    parser = argparse.ArgumentParser(prog="python -m tests.house", description=__doc__)
    parser.add_argument("--arrows", action="store_true", help="name each arrow that leads up")
    parser.add_argument("--costs", action="store_true", help="time imports inside functions")
    parser.add_argument("--way", action="store_true", help="name what a conversion goes through")
    asked = parser.parse_args(arguments)
    house = walk()
    modules = Counter(map(room, house.lines))
    lines: Counter[str] = Counter()
    for name, count in house.lines.items():
        lines[room(name)] += count
    arrows = upward(house)
    print(f"{'room':<14}{'modules':>8}{'lines':>8}{'arrows up':>11}")
    for rooms in reversed(FLOORS):
        for one in rooms:
            up = sum(room(a.source) == one for a in arrows)
            print(f"{one:<14}{modules[one]:>8}{lines[one]:>8}{up:>11}")
    inner = sum(a.inner for a in house.arrows)
    print(f"{'all':<14}{sum(modules.values()):>8}{sum(lines.values()):>8}{len(arrows):>11}")
    tools = [a for a in arrows if room(a.target) in TOOLS]
    told = ", ".join(DELEGATES.values())
    print(f"{len(tools)} from the core to tools, beside the delegates of one line: {told}")
    print(f"{inner} imports inside functions, {len(free(house))} of them save nothing")
    for typed, said in ((False, "when it runs"), (True, "with imports for types alone")):
        found = circles(house, typed)
        sizes = ", ".join(str(len(one)) for one in found) or "none"
        print(f"circles {said}: {sizes}")
    _ways(house, asked.way)
    if asked.arrows:
        for a in arrows:
            kind = "types" if a.typed else "function" if a.inner else "module"
            print(f"  {a.source}:{a.line} -> {a.target} ({kind})")
        for circle in circles(house, False):
            print("  circle: " + ", ".join(circle))
    for a in house.arrows if asked.costs else ():
        if a.inner:
            print(f"{cost(a):7.1f} ms  {a.source}:{a.line} -> {a.target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
