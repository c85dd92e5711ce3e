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
_SIGNS = {"\\": "\\", "'": "'", '"': '"', "\n": "", "a": "\a", "v": "\v"}
_SIGNS |= {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"True": "true", "False": "false", "None": "null"}
_BRACKETS = {"(": ("[", ")", "]"), "[": ("[", "]", "]"), "{": ("{", "}", "}")}
_LIST = ("]", "]")


def parse_calls(text: str) -> Any:
    """Read `f(a=1)` as an object `{name, arguments}`, `[f(a=1), g()]` as a list. Raises Misfit."""
    return parse_json("".join(_near(text, [[], [_LIST]])))


def parse_data(text: str) -> Any:
    """Read objects, lists and words as Python writes them. Raises Misfit, for calls, too."""
    return parse_json("".join(_near(text, [])))


def _near(text: str, callers: list[list[tuple[str, str]]]) -> list[str]:
    """Return the JSON that a text is near to; calls stand where so much is open. Raises Misfit."""
    out: list[str] = []
    closes: list[tuple[str, str]] = []  # what ends that which is open, here and in JSON
    for found in _TOKEN.finditer(text):
        quote, said, quoted, called, named, word, minus, number, sign = found.groups()
        if called:
            if closes not in callers:
                raise Misfit("a call stands within a call, or within data")
            out.append(f'{{"name":{stringify(called)},"arguments":{{')
            closes.append((")", "}}"))
        elif sign in _BRACKETS:
            begins, ends, json = _BRACKETS[sign]
            out.append(begins)
            closes.append((ends, json))
        elif closes and sign == closes[-1][0]:
            if out[-1] == ",":
                out.pop()
            out.append(closes.pop()[1])
        elif word:
            out.append(_WORDS.get(word, word))
        elif quoted:
            out.append(stringify(_ESCAPE.sub(_sign, said)))
        else:
            out.append(f"{stringify(named)}:" if named else quote or sign or minus + number)
    return out


def _sign(found: re.Match[str]) -> str:
    """Return what a sign behind a stroke says, as Python reads it."""
    *codes, sign = found.groups()
    code = "".join(filter(None, codes))
    try:
        if sign is None:
            return chr(int(code, 16))
    except (ValueError, OverflowError):
        raise Misfit(f"`{code}` is no sign") from None
    if sign in "01234567N":
        raise Misfit("a sign is told by `x`, `u` or `U`")
    return _SIGNS.get(sign, found[0])


def call_text(value: Any) -> str:
    """Write an object `{name, arguments}` as a call. Raises Misfit for what is none."""
    said = value if isinstance(value, dict) else {}
    arguments = said.get("arguments")
    if said.keys() != {"name", "arguments"} or not isinstance(arguments, dict):
        raise Misfit("a call has a name and arguments, and nothing else")
    if not all(re.fullmatch(_NAME, str(name)) for name in (said["name"], *arguments)):
        raise Misfit("a name is one that Python takes")
    inner = ", ".join(f"{name}={_text(one)}" for name, one in arguments.items())
    return f"{said['name']}({inner})"


def _text(value: Any) -> str:
    """Return a value as Python writes it, but for quotes: two of them, as JSON has."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{stringify(key)}: {_text(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    said = stringify(value)
    return next((word for word, json in _WORDS.items() if json == said), said)
