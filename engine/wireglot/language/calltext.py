"""Calls as Python writes them, `[f(a=1), g()]`: read as objects `{name, arguments}`, and written.

Such a text is read as the JSON that it is near to. Nothing is run, and Python's own grammar is not
asked: a parameter may be called `from`, and `true`, `false` and `null` stand for themselves.
"""

from __future__ import annotations

import re
from typing import Any

from ..patterns import later
from .lenses import Misfit, parse_json, stringify

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_TOKEN = later(
    r"""(["'])((?:(?!\1)[^\\]|\\.)*)(\1?)"""
    rf"|({_NAME})\s*\(|({_NAME})\s*=|({_NAME})|(-?)0*(\d[\w.]*(?:(?<=[eE])[+-]\d+)?)|(\S)",
    re.DOTALL,
)
_ESCAPE = later(r"\\(?:x(..)|u(....)|U(.{8})|(.))", re.DOTALL)
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "\n": "", "a": "\a", "v": "\v"}
_ESCAPES |= {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"True": "true", "False": "false", "None": "null"}
_BRACKETS = {"(": ("[", ")", "]"), "[": ("[", "]", "]"), "{": ("{", "}", "}")}
_LIST = ("]", "]")


def parse_calls(text: str) -> Any:
    """Read `f(a=1)` as an object `{name, arguments}`, `[f(a=1), g()]` as a list. Raises Misfit."""
    return parse_json("".join(_json_pieces(text, [[], [_LIST]])))


def parse_data(text: str) -> Any:
    """Read objects, lists and words as Python writes them. Raises Misfit, for calls, too."""
    return parse_json("".join(_json_pieces(text, [])))


def _json_pieces(text: str, levels: list[list[tuple[str, str]]]) -> list[str]:
    """Return the JSON that a text is near to; calls stand where so much is open. Raises Misfit."""
    out: list[str] = []
    ends: list[tuple[str, str]] = []  # what ends that which is open, here and in JSON
    for token in _TOKEN.finditer(text):
        quote, inside, closing, callee, param, word, minus, number, other = token.groups()
        if callee:
            if ends not in levels:
                raise Misfit("a call stands within a call, or within data")
            out.append(f'{{"name":{stringify(callee)},"arguments":{{')
            ends.append((")", "}}"))
        elif other in _BRACKETS:
            begins, end, json = _BRACKETS[other]
            out.append(begins)
            ends.append((end, json))
        elif ends and other == ends[-1][0]:
            if out[-1] == ",":
                out.pop()
            out.append(ends.pop()[1])
        elif word:
            out.append(_WORDS.get(word, word))
        elif closing:
            out.append(stringify(_ESCAPE.sub(_unescaped, inside)))
        else:
            out.append(f"{stringify(param)}:" if param else quote or other or minus + number)
    return out


def _unescaped(match: re.Match[str]) -> str:
    """Return what a sign behind a stroke says, as Python reads it."""
    *codes, char = match.groups()
    code = "".join(filter(None, codes))
    try:
        if char is None:
            return chr(int(code, 16))
    except (ValueError, OverflowError):
        raise Misfit(f"`{code}` is no sign") from None
    if char in "01234567N":
        raise Misfit("a sign is told by `x`, `u` or `U`")
    return _ESCAPES.get(char, match[0])


def call_text(value: Any) -> str:
    """Write an object `{name, arguments}` as a call. Raises Misfit for what is none."""
    call = value if isinstance(value, dict) else {}
    arguments = call.get("arguments")
    if call.keys() != {"name", "arguments"} or not isinstance(arguments, dict):
        raise Misfit("a call has a name and arguments, and nothing else")
    if not all(re.fullmatch(_NAME, str(name)) for name in (call["name"], *arguments)):
        raise Misfit("a name is one that Python takes")
    inner = ", ".join(f"{name}={_python_text(one)}" for name, one in arguments.items())
    return f"{call['name']}({inner})"


def _python_text(value: Any) -> str:
    """Return a value as Python writes it, but for quotes: two of them, as JSON has."""
    if isinstance(value, dict):
        inner = (f"{stringify(key)}: {_python_text(one)}" for key, one in value.items())
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_python_text, value))}]"
    json_text = stringify(value)
    return next((word for word, json in _WORDS.items() if json == json_text), json_text)
