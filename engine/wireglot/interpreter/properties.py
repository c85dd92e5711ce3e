"""Properties of tools: under names that the target takes, in schemas and in what calls say.

Only what stands at the root of a schema has a limit: what a call says at its top. What else holds
for the root itself, as the branches of a union, says the same names.
"""

from __future__ import annotations

from typing import Any

from ..language.nodes import map_children, mapped, nodes, subschemas
from ..language.schemawalk import resolved
from ..trail import At, Trail, keys_of, pointer
from .copies import is_unchanged, parts_of, replace_parts
from .jobs import WriteJob
from .limits import PROPERTY, Limits

# Keywords whose schemas hold for the very value that the schema holds for, and where names stand.
_HERE = frozenset("allOf anyOf oneOf if then else not dependentSchemas".split())
_NAMED = ("properties", "dependentSchemas", "dependentRequired")
_OWN = "#/properties/"
_DEEPEST = 20  # unions within unions
_MOST = 1000  # references that are written out in one schema
Part = dict[str, Any]
Names = dict[str, str]  # of properties: what they are, and what is written


def rename_properties(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Return a request whose tools, and the calls of these, say names that the target takes."""
    tools = ir.get("tools") if isinstance(ir, dict) else None
    if PROPERTY not in writer.limits.limits or not isinstance(tools, list):
        return ir
    out = [_tool(writer, tool) for tool in tools]
    if is_unchanged(out, tools):
        return ir
    new: dict[str, Any] = {"tools": out}
    if isinstance(messages := ir.get("messages"), list):
        calls = ((part, _call(writer, part)) for part in parts_of(messages, "tool_call"))
        fresh = {id(part): call for part, call in calls if call is not part}
        new["messages"] = replace_parts(writer, messages, fresh)
    return writer.trail.changed(ir, **new)


def rename_arguments(call: Part, names: Names, trail: Trail | None = None) -> Part | None:
    """Return a call under other names, or None; a name stays where what is written stands, too."""
    old, at = call.get("arguments"), None if trail is None else trail.find(call, "arguments")
    said = old if isinstance(old, dict) else {}
    names = {name: form for name, form in names.items() if name in said and form not in said}
    if not names:
        return None
    new = {names.get(name, name): value for name, value in said.items()}
    if trail is not None and at is not None and "arguments_json" in call:
        trail.flat(new)
    elif trail is not None and at is not None:
        for name in said:
            trail.put_inside(new, names.get(name, name), trail.within(said, at, (name,)))
    rest = {key: value for key, value in call.items() if key != "arguments_json"}
    return {**rest, "arguments": new}


def _tool(writer: WriteJob, tool: Any) -> Any:
    schema = tool.get("parameters") if isinstance(tool, dict) else None
    if not isinstance(schema, dict) or not (names := _renamings(schema, writer.limits)):
        return tool
    writer.property_names[tool.get("name")] = names
    spelling = _Spelling(writer, schema, names, writer.trail.find(tool, "parameters"))
    return writer.trail.changed(tool, parameters=spelling.schema())


def _renamings(schema: dict[str, Any], known: Limits) -> Names:
    """Return what is written for the names that do not fit; no other schema decides it."""
    names = _names(schema, schema, 0, set())
    misfits = [name for name in names if not known.fits(PROPERTY, name)]
    if not misfits:
        return {}
    limits = Limits({PROPERTY: known.limits[PROPERTY]})
    for name in names:
        limits.reserve(PROPERTY, name)
    return {name: limits.fit(PROPERTY, name) for name in misfits}


def _names(node: Any, root: dict[str, Any], depth: int, seen: set[int]) -> list[str]:
    """Return the names of properties that a schema of the root's value says, if not `seen` yet."""
    node = resolved(root, node)[0]
    if not isinstance(node, dict) or depth > _DEEPEST or id(node) in seen:
        return []
    seen.add(id(node))
    found = node.get("properties")
    names = list(found) if isinstance(found, dict) else []
    for key in sorted(_HERE.intersection(node)):
        for _, child in subschemas(key, node[key]):
            names += _names(child, root, depth + 1, seen)
    return names


def _call(writer: WriteJob, part: Part) -> Part:
    """Return a call by the names that its tool has here; itself where it says the same."""
    names = writer.property_names.get(part.get("name"), {})
    new = rename_arguments(part, names, writer.trail)
    if new is None:
        return part
    gone = [name for name in part["arguments"] if name not in new["arguments"]]
    for name in gone:
        at = writer.trail.find(part, "arguments")
        if at is not None and "arguments_json" not in part:
            at = writer.trail.within(part["arguments"], at, (name,))
        into = new["arguments"], names[name]
        writer.note("renamed", "changed", at, writer.rule(), _reason(name), *into)
    return new


def _reason(name: str) -> str:
    return f"`{name}` does not fit the limits of `{PROPERTY}` here"


class _Spelling:
    """A schema on its way to other names of its properties."""

    def __init__(self, writer: WriteJob, root: dict[str, Any], names: Names, base: At | None):
        self._writer, self._root, self._names, self._base = writer, root, names, base
        self._new = root  # in which what refers to them has followed
        self._open: set[int] = set()  # definitions that are being written out
        self._count = 0  # references that were
        found = (h.pos for h in writer.dialect.holes_in("function") if h.path == "parameters")
        self._pos = next(found, writer.rule())

    def schema(self) -> dict[str, Any]:
        """Return it by other names; what refers to a property of the root follows."""
        refers = [str(node.get("$ref", "")).startswith(_OWN) for node in nodes(self._root)]
        if any(refers):
            self._new = self._referring(self._root)
        found: dict[str, Any] = self._node(self._new, ())
        return found

    def _referring(self, node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        ref = node.get("$ref")
        if isinstance(ref, str) and ref.startswith(_OWN):
            from urllib.parse import unquote  # few schemas refer to a property of theirs

            name, stroke, rest = ref[len(_OWN) :].partition("/")
            (name,) = keys_of(f"/{unquote(name)}")
            at = pointer(("properties", self._names.get(name, name)))
            node = {**node, "$ref": f"#{at}{stroke}{rest}"}
        return map_children(node, self._referring)

    def _node(self, node: Any, at: At) -> Any:
        whole, there = resolved(self._new, node)
        if there:
            if id(whole) in self._open or self._count >= _MOST:
                return node
            if self._names.keys().isdisjoint(_names(whole, self._new, 0, set())):
                return node
            self._open.add(id(whole))
            self._count += 1
            made = self._node(whole, there)
            self._open.discard(id(whole))
            return made
        if not isinstance(node, dict) or len(at) > 2 * _DEEPEST:
            return node
        out: dict[str, Any] = {}
        for key, value in node.items():
            way = (*at, key)
            out[key] = self._inner(key, value, way) if key in _HERE else value
            if key in _NAMED and isinstance(value, dict):
                out[key] = self._map(out[key], key, way)
            elif key == "required":
                out[key] = self._listed(value)
            self._came(out, key, way)
        return out

    def _inner(self, key: str, value: Any, at: At) -> Any:
        return mapped(key, value, lambda child, way: self._node(child, at + way))

    def _map(self, value: dict[str, Any], key: str, at: At) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, child in value.items():
            form, way = self._names.get(name, name), (*at, name)
            out[form] = self._listed(child)
            place = self._came(out, form, way)
            if key == "properties" and form != name:
                out[form] = self._titled(name, child, way)
                self._writer.note("renamed", "changed", place, self._pos, _reason(name), out, form)
        return out

    def _titled(self, name: str, node: Any, at: At) -> Any:
        """Let a property be entitled what it is called, where it has no title: a model reads it."""
        node = {} if node is True else node
        if not isinstance(node, dict) or "title" in node or "$ref" in node:
            return node
        out = {"title": name, **node}
        for key in out:
            self._came(out, key, (*at, key) if key in node else at)
        return out

    def _listed(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return [self._names.get(one, one) if isinstance(one, str) else one for one in value]

    def _came(self, owner: Any, key: str, at: At) -> At | None:
        """Say that a keyword, or a name, came from where it stood in the schema as it was."""
        if self._base is None:
            return None
        place = self._writer.trail.within(self._root, self._base, at)
        self._writer.trail.put_inside(owner, key, place)
        return place
