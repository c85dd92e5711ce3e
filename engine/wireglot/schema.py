"""Schema dialects: which JSON Schema keywords a provider takes, used as a lens."""

from __future__ import annotations

from typing import Any

from .lenses import Misfit

_CHILDREN = ("items", "additionalProperties", "not")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("properties", "patternProperties", "$defs", "defs", "definitions")


class Schema:
    """A schema dialect: `keep` lists its keywords, `types` its type words, `enum` their kind."""

    def __init__(self, plain: dict[str, Any]) -> None:
        self.keep = frozenset(plain["keep"]) if "keep" in plain else None
        self.root = plain.get("root")
        self.types = frozenset(plain.get("types", ()))
        self.enum = plain.get("enum", "any")

    def read(self, schema: Any) -> tuple[Any, bool]:
        """Return the schema in plain JSON Schema words, and whether nothing was respelled."""
        changed = False

        def lower(node: Any) -> Any:
            nonlocal changed
            if not isinstance(node, dict):
                return node
            out = dict(node)
            word = node.get("type")
            if isinstance(word, str) and word.lower() in self.types and word != word.lower():
                out["type"], changed = word.lower(), True
            return _over(out, lower)

        value = lower(schema)
        return (value, False) if changed else (schema, True)

    def write(self, schema: Any) -> Any:
        """Return the schema; raises Misfit at the first thing that this dialect refuses."""
        if not isinstance(schema, dict):
            raise Misfit("a schema is an object")
        if self.root is not None and schema.get("type") != self.root:
            raise Misfit(f"the root of a schema is an {self.root} here")
        return schema if self.keep is None else self._node(schema)

    def plain(self, schema: Any) -> bool:
        """Tell whether a schema is spelled in plain JSON Schema words already."""
        return self.read(schema)[1]

    def fits(self, schema: Any) -> bool:
        """Tell whether this dialect takes a schema as it is."""
        if self.keep is None:
            return isinstance(schema, dict) and (
                self.root is None or schema.get("type") == self.root
            )
        try:
            self.write(schema)
        except Misfit:
            return False
        return True

    def _node(self, schema: Any) -> Any:
        if not isinstance(schema, dict):
            raise Misfit("a schema is an object")
        for keyword, value in schema.items():
            if self.keep is not None and keyword not in self.keep:
                raise Misfit(f"the schema keyword `{keyword}` is not taken")
            if keyword == "type" and (
                not isinstance(value, str) or value.lower() not in self.types
            ):
                raise Misfit("a schema `type` is one word")
            if keyword == "enum" and self.enum == "strings":
                if not all(isinstance(v, str) for v in value if isinstance(value, list)):
                    raise Misfit("`enum` holds texts only")
                if schema.get("type", "string").lower() != "string":
                    raise Misfit("`enum` stands beside `type: string` only")
            if keyword in ("items", "not") and not isinstance(value, dict):
                raise Misfit(f"`{keyword}` is a schema")
        _over(schema, self._node)
        return schema


def _over(node: dict[str, Any], change: Any) -> dict[str, Any]:
    for key in _CHILDREN:
        if isinstance(node.get(key), dict):
            node = {**node, key: change(node[key])}
    for key in _LISTS:
        if isinstance(node.get(key), list):
            node = {**node, key: [change(n) for n in node[key]]}
    for key in _MAPS:
        if isinstance(node.get(key), dict):
            node = {**node, key: {k: change(v) for k, v in node[key].items()}}
    return node
