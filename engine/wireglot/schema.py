"""Schema dialects: which JSON Schema keywords a provider takes, used as a lens."""

from __future__ import annotations

from typing import Any

from .lenses import Misfit

_CHILDREN = ("items", "additionalProperties", "not")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("properties", "patternProperties", "$defs", "defs", "definitions")
_PLACES = frozenset((*_CHILDREN, *_LISTS, *_MAPS))


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
        """Return the schema; raises Misfit when this dialect refuses it."""
        if self.fits(schema):
            return schema
        if not isinstance(schema, dict):
            raise Misfit("a schema is an object")
        if self.root is not None and schema.get("type") != self.root:
            raise Misfit(f"the root of a schema is an {self.root} here")
        odd = self._odd(schema)
        raise Misfit(
            f"the schema keyword `{odd}` is not taken"
            if odd
            else "the schema is not taken as it is"
        )

    def _odd(self, schema: dict[str, Any]) -> str | None:
        """Return the first keyword that is not taken, wherever it stands."""
        for keyword in schema:
            if self.keep is not None and keyword not in self.keep:
                return str(keyword)
        return next((odd for inner in _inner(schema) if (odd := self._odd(inner))), None)

    def plain(self, schema: Any) -> bool:
        """Tell whether a schema is spelled in plain JSON Schema words already."""
        word = schema.get("type")
        if word.__class__ is str and word not in self.types and word.lower() in self.types:
            return False
        for key, inner in schema.items():
            if key == "properties" and inner.__class__ is dict:
                for each in inner.values():
                    if each.__class__ is dict and not self.plain(each):
                        return False
            elif key in _PLACES and not all(map(self.plain, _inner({key: inner}))):
                return False
        return True

    def fits(self, schema: Any) -> bool:
        """Tell whether this dialect takes a schema as it is."""
        if not isinstance(schema, dict):
            return False
        if self.root is not None and schema.get("type") != self.root:
            return False
        return self.keep is None or self._fits(schema)

    def _fits(self, schema: Any) -> bool:
        if schema.__class__ is not dict:
            return False
        keep: Any = self.keep
        if not keep.issuperset(schema):
            return False
        kind = schema.get("type", "string")
        if kind.__class__ is not str or kind.lower() not in self.types:
            return "type" not in schema and self._rest(schema)
        if "enum" in schema and self.enum == "strings":
            words = schema["enum"]
            if words.__class__ is not list or kind.lower() != "string":
                return False
            for word in words:
                if word.__class__ is not str:
                    return False
        return self._rest(schema)

    def _rest(self, schema: dict[str, Any]) -> bool:
        properties = schema.get("properties")
        if properties is not None:
            if properties.__class__ is not dict:
                return False
            for inner in properties.values():
                if not self._fits(inner):
                    return False
        if "items" in schema and not self._fits(schema["items"]):
            return False
        choices = schema.get("anyOf")
        if choices is None:
            return "anyOf" not in schema
        return choices.__class__ is list and all(self._fits(inner) for inner in choices)


def _inner(node: dict[str, Any]) -> list[dict[str, Any]]:
    found = [node[k] for k in _CHILDREN if isinstance(node.get(k), dict)]
    for key in _LISTS:
        if isinstance(node.get(key), list):
            found += [n for n in node[key] if isinstance(n, dict)]
    for key in _MAPS:
        if isinstance(node.get(key), dict):
            found += [n for n in node[key].values() if isinstance(n, dict)]
    return found


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
