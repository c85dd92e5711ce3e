"""Which types of an SDK stand for the units of a dialect: `drift/sdks.yaml`, beside the rules.

DIALECT: {package: NAME, request?: TYPE, response?: TYPE, error?: TYPE, stream?: TYPE,
          not-sent?: [NAME]}
TYPE = any | MODULE:NAME | [TYPE] | {KEY: TYPE, ...?: TYPE}
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from functools import reduce
from importlib import metadata
from inspect import isfunction
from pathlib import Path
from typing import NamedTuple

from ..errors import UsageError
from ..language.source import Node, parse, wrong
from ..loading.shelf import packaged_folder
from .sdktypes import Field, Shape, Shapes

FILE = Path("drift", "sdks.yaml")
UNITS = ("request", "response", "error", "stream")
WORDS = ("package", *UNITS, "not-sent")
ANY, REST = "any", "..."
_IMPORT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class Sdk(NamedTuple):
    """What a dialect's SDK is called by pip, and which of its types stand for which unit."""

    package: str
    units: dict[str, Node]
    not_sent: tuple[str, ...]

    @property
    def version(self) -> str:
        """The version that is installed. Raises UsageError where none is."""
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            raise UsageError(f"its SDK is not installed: `pip install {self.package}`") from None

    def shape(self, unit: str) -> Shape:
        """Return the shape of a unit. Raises RuleError where the SDK has no such type."""
        return _shape(self.units[unit], Shapes(self.not_sent))


def known(folders: Sequence[str] = ()) -> dict[str, Sdk]:
    """Read which SDKs are known, of the packaged rules and of folders. Raises RuleError."""
    found: dict[str, Sdk] = {}
    for path in (Path(folder, FILE) for folder in (packaged_folder(), *folders)):
        if path.is_file():
            root = parse(path.read_text("utf-8-sig"), str(path))
            if not isinstance(root.value, dict):
                raise wrong("this is a mapping of dialects to their SDKs", root.pos)
            found |= {name: _sdk(node) for name, node in root.value.items()}
    return found


def _sdk(node: Node) -> Sdk:
    words = node.entries
    for word, child in words.items():
        if word not in WORDS:
            raise wrong(f"`{word}` is no word of an SDK", child.pos, ", ".join(WORDS))
        if word in UNITS:
            _check(child)
    package, listed = node.get("package"), node.get("not-sent")
    if package is None or not isinstance(package.value, str):
        told = "an SDK has a `package`, as pip calls it"
        raise wrong(told, (package or node).pos, "{package: NAME, request: TYPE}")
    names = listed.plain() if listed is not None else []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise wrong("`not-sent` is a list of names", (listed or node).pos)
    return Sdk(package.value, {u: words[u] for u in UNITS if u in words}, tuple(names))


def _check(node: Node) -> None:
    value = node.value
    if isinstance(value, dict) and value:
        for child in value.values():
            _check(child)
    elif isinstance(value, list) and len(value) == 1:
        _check(value[0])
    elif not isinstance(value, str) or not (value == ANY or _IMPORT.fullmatch(value)):
        help = "`module:Name`, `any`, `[TYPE]` or `{key: TYPE}` is"
        raise wrong("this is no type of an SDK", node.pos, help)


def _shape(node: Node, shapes: Shapes) -> Shape:
    if isinstance(node.value, list):
        return Shape("list", item=_shape(node.value[0], shapes))
    if isinstance(node.value, dict):
        made = Shape("object")
        for name, child in node.value.items():
            inner = _shape(child, shapes)
            if name != REST:
                made.fields[name] = Field(inner, False, (name,))
            for one in (inner, *inner.options) if name == REST else ():
                made.fields |= one.fields
        return made
    if node.value == ANY:
        return Shape("any")
    module, _, name = node.value.partition(":")
    try:
        found = reduce(getattr, name.split("."), importlib.import_module(module))
        return shapes.arguments(found) if isfunction(found) else shapes.of(found)
    except (ImportError, AttributeError, NameError, TypeError) as error:
        told = f"`{node.value}` is not in the SDK, or cannot be read: {error}"
        raise wrong(told, node.pos) from None
