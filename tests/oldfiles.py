"""The rule files of before, as sets that load: packaged ones, overlays, those of tests and docs."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from . import old

HEAD = "wireglot: 1\ndialect: one\nsee: https://example.com\nverified: 2026-11-21\n"
# The keys of a rule file, beside those that say which it is.
KEYS = frozenset(
    "family limits tables schemas shapes unions conversation envelope request response error "
    "stream session document carry signatures variants drop".split()
)
NAMES = frozenset("wireglot dialect overlay extends see verified examples ladder scales".split())
OPEN = re.compile(r"\{(?:name|dialect)\}")
BLOCK = re.compile(r"^( *)```ya?ml\n(.*?)^\1```", re.M | re.S)


class Set(NamedTuple):
    """Rule files that are loaded together; `own` are those that are tried."""

    group: str
    name: str
    own: dict[str, str]
    around: Mapping[str, str] = MappingProxyType({})
    overlays: tuple[str, ...] = ()
    builtin: bool = True
    bodies: Mapping[str, Any] = MappingProxyType({})


def sets() -> Iterator[Set]:
    """Yield all rule files of before."""
    yield Set("packaged", "rules", _texts(old.BEFORE / "rules"))
    for path in sorted((old.BEFORE / "rules" / "overlays").glob("*.yaml")):
        text = path.read_text("utf-8")
        yield Set("overlays", path.stem, {path.name: text}, overlays=(path.stem,))
    yield from _of_tests(old.BEFORE / "tests")
    yield Set("docs", "examples/family", _texts(old.BEFORE / "examples" / "family"))
    for path in [old.BEFORE / "README.md", *sorted((old.BEFORE / "docs").glob("*.md"))]:
        yield from _of_page(path)
    for path in sorted((old.BEFORE / "tests").glob("*.py")):
        for number, text in enumerate(_said(path.read_text("utf-8"))):
            yield _alone("texts in tests", f"{path.name} {number}", text)


def _texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.yaml"))}


def _of_tests(tests: Path) -> Iterator[Set]:
    yield Set("tests/dialects", "dialects", _texts(tests / "dialects"))
    shared = _texts(tests / "fuzz")
    for folder in sorted(path for path in (tests / "fuzz").iterdir() if path.is_dir()):
        own = _texts(folder)
        around = {name: text for name, text in shared.items() if name not in own}
        bodies = {path.stem: json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")}
        overlays = tuple(n[:-5] for n, text in own.items() if re.search("^overlay:", text, re.M))
        yield Set("tests/fuzz", folder.name, own, around, overlays, False, bodies)
    for path in sorted((tests / "broken").iterdir()):
        if path.is_dir():
            yield Set("tests/broken", path.name, _texts(path))
        elif path.suffix == ".yaml":
            yield Set("tests/broken", path.stem, {path.name: path.read_text("utf-8")})


def _of_page(path: Path) -> Iterator[Set]:
    """Yield the whole rule files of a page, each with those that stand before it."""
    before: dict[str, str] = {}
    for number, (indent, text) in enumerate(BLOCK.findall(path.read_text("utf-8"))):
        text = textwrap.dedent(text) if indent else text
        if not re.search(r"^wireglot: 1\b", text, re.M):
            continue
        made = _alone("docs", f"{path.name} {number}", text)
        yield made._replace(around={n: t for n, t in before.items() if n not in made.own})
        before.update(made.own)


def _alone(group: str, name: str, text: str) -> Set:
    """Return the set of one file, named as its dialect is."""
    said = _parsed(text)
    named = str(said.get("dialect", said.get("overlay", "one")))
    if "overlay" in said:
        named += "-over"
    overlays = (named,) if "overlay" in said else ()
    return Set(group, name, {f"{named}.yaml": text}, overlays=overlays)


def _parsed(text: str) -> dict[str, Any]:
    try:
        said = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _said(code: str) -> Iterator[str]:
    """Yield the rule files that stand as texts in code, whole or without their heads."""
    known = set()
    for node in ast.walk(ast.parse(code)):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        text = OPEN.sub("one", textwrap.dedent(node.value)).replace("{more}", "")
        keys = {str(key).rstrip("!") for key in _parsed(text)}
        if not keys & KEYS or not keys <= KEYS | NAMES or text in known:
            continue
        known.add(text)
        if "wireglot" in keys:
            yield text
        elif "dialect" in keys:
            yield f"wireglot: 1\n{text}"
        elif any(isinstance(value, dict | list) for value in _parsed(text).values()):
            yield HEAD + text
