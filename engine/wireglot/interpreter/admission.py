"""What `write` checks of an IR that somebody built by hand, before any picture sees it.

The pictures guard every value that they write. What stands around the values, lists of messages of
parts, is taken as right by all other modules; here it is made sure of, and of nothing more.
"""

from __future__ import annotations

from typing import Any

from ..errors import ConversionError
from ..ir import FUNCTION, ROLES, USER_DATA, field_type
from ..language.lenses import guard
from ..trail import At, pointer

# Fields that hold an object of further fields.
_INNER = frozenset(("source", "reasoning", "response_format", "cache", "format", "media"))
_USERS = USER_DATA | {"value"}
_NEVER_NULL = frozenset(("list", "list of text", "object", "opaque"))
_TOLD = ("key", "text", "case", "within")  # what a memory says of them is a text
PART = "part"
# What a unit is, or a list of; of any other unit only what it remembers is looked at.
_UNITS = {
    "request": "request", "session": "session", "response": "response", "error": "error",
    "messages": "message", "message": "message", "tools": FUNCTION, "tool": FUNCTION,
    "tool_call": PART, "tool_result": PART, "usage": "usage",
}  # fmt: skip
# The lists of further objects that an object holds.
_HELD: dict[str, tuple[tuple[str, str], ...]] = {
    "request": (("messages", "message"), ("tools", FUNCTION)),
    "session": (("messages", "message"),),
    "response": (("candidates", "candidate"),),
    "message": (("parts", PART),),
    "candidate": (("parts", PART),),
    PART: (("media", PART),),
}


def check(ir: Any, unit: str) -> None:
    """Raise ConversionError, with the path in the IR, where the IR is not built as it should be."""
    shape = _UNITS.get(unit)
    if shape is None:
        if isinstance(ir, dict):
            _memory(ir, ())
    elif unit in ("messages", "tools") or (unit == "message" and isinstance(ir, list)):
        _list(ir, shape, ())
    else:
        _checked(ir, shape, ())
        if shape == PART and ir["type"] != unit:
            raise _wrong(f"the type is `{ir['type']}`, expected `{unit}`", ("type",))


def _wrong(message: str, at: At) -> ConversionError:
    return ConversionError(f"{message}; docs/ir.md says what an IR holds", pointer(at))


def _list(value: Any, shape: str, at: At) -> None:
    if not isinstance(value, list):
        raise _wrong(f"expected a list, got {type(value).__name__}", at)
    for i, item in enumerate(value):
        _checked(item, shape, (*at, i))


def _checked(value: Any, shape: str, at: At) -> None:
    """Check one IR object, and those that it holds."""
    part = shape == PART and isinstance(value, dict)
    _object(value, str(value.get("type")) if part else shape, at)
    if shape == "message" and value.get("role") not in ROLES:
        raise _wrong(f"the role is one of {', '.join(ROLES)}", (*at, "role"))
    if part and not isinstance(value.get("type"), str):
        raise _wrong("a part says its `type`", (*at, "type"))
    if part and value.get("kind") == "multimodal" and value["type"] == "tool_result":
        _list(value.get("value"), PART, (*at, "value"))
    for key, inner in _HELD.get(shape, ()):
        if key in value:
            _list(value[key], inner, (*at, key))
    if shape == "response" and "usage" in value:
        _checked(value["usage"], "usage", (*at, "usage"))
    by = value.get("by") if shape == "usage" else None
    if by is None:
        return
    if not isinstance(by, dict) or not all(isinstance(v, dict) for v in by.values()):
        raise _wrong("`by` holds an object of counts for each bucket", (*at, "by"))


def _object(value: Any, shape: str, at: At) -> None:
    """Check the fields of one IR object by their types, and what it remembers."""
    if not isinstance(value, dict):
        raise _wrong(f"expected an object, got {type(value).__name__}", at)
    for key, item in value.items():
        kind = field_type(shape, key)
        here = (*at, key)
        if item is None:
            if kind in _NEVER_NULL:
                raise _wrong(f"`{key}` is null", here)
        elif kind == "opaque":
            if not isinstance(item, dict) or not isinstance(item.get("value"), str):
                raise _wrong(f"`{key}` is an object of `value` and `origin`", here)
        elif not guard(kind, item):
            raise _wrong(f"`{key}` is no {kind}", here)
        elif key in _INNER and isinstance(item, dict):
            _object(item, key, here)
        elif key not in _USERS and isinstance(item, dict):
            _memory(item, here)
    _memory(value, at)


def _memory(value: dict[str, Any], at: At) -> None:
    """Check `own`, `kept` and `spelled`: an object for each dialect."""
    for name in ("own", "kept", "spelled"):
        if name not in value:
            continue
        by_dialect = value[name]
        if not isinstance(by_dialect, dict):
            raise _wrong(f"`{name}` holds an object for each dialect", (*at, name))
        for dialect, inner in by_dialect.items():
            here = (*at, name, dialect)
            if not isinstance(inner, dict):
                raise _wrong(f"`{name}` holds an object for each dialect", here)
            for key, entry in inner.items() if name != "own" else ():
                if name == "kept" and not key.lstrip(".").startswith("/"):
                    raise _wrong("what is kept stands under JSON pointers", (*here, key))
                if name == "spelled" and not (
                    isinstance(entry, dict)
                    and all(isinstance(entry.get(word, ""), str) for word in _TOLD)
                ):
                    raise _wrong("this is no memory of spelling", (*here, key))
