"""Lenses: small pairs of functions between a value of the IR and its form on the wire.

A lens reads `read(wire) -> value` and writes `write(value) -> wire`; what it does not take raises
Misfit. Guards are lenses that change nothing: `string`, `object`, `list`, `number`, `integer`,
`bool`, `null`, joined with `+`, `refless`, `filled`, `bytes` and `home`. `bytes` says that a place
in a text is counted in bytes of its UTF-8; with the text at hand `characters` reads such a place
and `octets` writes it.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any

from .. import jsontext
from ..native import mypyc_attr
from ..patterns import fits


def refless(value: Any) -> bool:
    """Tell whether no object in a value has a key `$ref`."""
    kind = value.__class__
    if kind is dict:
        if "$ref" in value:
            return False
        value = value.values()
    elif kind is not list:
        return True
    for item in value:
        kind = item.__class__
        if (kind is dict or kind is list) and not refless(item):
            return False
    return True


GUARDS: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "object": lambda v: isinstance(v, dict),
    "list": lambda v: isinstance(v, list),
    "bool": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: (
        (isinstance(v, int) and not isinstance(v, bool))
        or (isinstance(v, float) and v.is_integer())
    ),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "refless": refless,
    "filled": lambda v: v is False or v not in ("", [], {}, 0),
    "bytes": lambda v: isinstance(v, int | float) and not isinstance(v, bool) and v >= 0,
}
# Of a case that is only read: the writer refuses it.
_ALL_GUARDS: dict[str, Callable[[Any], bool]] = {**GUARDS, "home": lambda _: True}
# Codecs that are read as what was written, where nothing is noted.
EXACT = frozenset(("json", "bare", "plain", "not", "not-an-object", "digits"))
# Types of fields that no rule file names.
_TYPES: dict[str, Callable[[Any], bool]] = {
    **_ALL_GUARDS,
    "any": lambda _: True,
    "list of text": lambda v: isinstance(v, list) and all(isinstance(one, str) for one in v),
}
# A pattern as text: it is compiled when a time is read, and mostly none is.
_TIME = r"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*([Zz]|[+-]\d\d:\d\d)"
# Guards that say nothing of the type of a value.
UNTYPED = frozenset(("refless", "filled", "bytes", "home"))
# Lenses that act on the list or object that a shape made; the reader and the writer know them.
FORMS = frozenset("bare blocks joined again single pieces by-key listed plain".split())
LISTS = FORMS - {"listed", "plain"}  # those of a list that a shape makes
# How a rule file says some of them: the form that is preferred, and another that is read, too.
LENS_SPELLED = {
    "text": "joined",
    "text (or list)": "bare",
    "list (or text)": "blocks",
    "list (or one)": "listed",
}
SPELLING_OF = {**{name: said for said, name in LENS_SPELLED.items()}, "plain": "text (or list)"}
# Forms of times, and how many digits of a second each can say.
TIMES = {"timestamp": 6, "milliseconds": 3, "seconds": 0}
KEPT_TIMES = frozenset(("timestamp", "seconds"))  # of these the spelling is kept
LENSES = frozenset(("json", "as-json", "not", "not-an-object", "digits", *TIMES))


_DIGITS = re.compile(r"0|-?[1-9][0-9]{0,14}")  # a number of JSON holds them all


class Misfit(Exception):
    """Raised inside the engine when a value does not fit a picture.

    `at` is the path of keys and indices to the value, `pos` the place in the rule file. Who catches
    one empties its `__traceback__`: that holds frames which hold the Misfit, and such circles wait
    for the garbage collector, which took a sixth of the time.
    """

    def __init__(self, reason: str, at: tuple[Any, ...] = (), pos: Any = None) -> None:
        super().__init__(reason)
        self.reason, self.at, self.pos = reason, at, pos


def deepest(best: Misfit | None, misfit: Misfit) -> Misfit:
    """Return the one that lies deeper, and so says more; of two that lie alike the first."""
    misfit.__traceback__ = None
    return misfit if best is None or len(misfit.at) > len(best.at) else best


def stringify(value: Any) -> str:
    """Write JSON text as JSON.stringify does; raises Misfit for what JSON cannot hold."""
    try:
        return jsontext.stringify(value)
    except (ValueError, TypeError):
        raise Misfit("the value has no JSON text") from None
    except RecursionError:
        raise Misfit("the value is nested too deep") from None


def parse_json(text: str) -> Any:
    """Parse JSON text; raises Misfit for what is none (NaN and Infinity among it).

    A text that was cut within a sign is none: what it says could not be sent as JSON in UTF-8.
    """
    try:
        value = jsontext.parse(text)
    except ValueError:
        raise Misfit("the text is no JSON") from None
    if jsontext.has_half(text, value):
        raise Misfit("half of a surrogate pair stands alone in the text")
    return value


def same(a: Any, b: Any) -> bool:
    """Tell whether two values are the same JSON: true is not 1, 1 is 1.0, key order is free."""
    if a.__class__ is str:
        return b.__class__ is str and bool(a == b)
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict):
        return (
            isinstance(b, dict)
            and len(a) == len(b)
            and all(k in b and same(v, b[k]) for k, v in a.items())
        )
    if isinstance(a, list):
        return (
            isinstance(b, list)
            and len(a) == len(b)
            and all(same(x, y) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, int | float):
        return isinstance(b, int | float) and a == b
    return type(a) is type(b) and bool(a == b)


def key_of(value: Any) -> Any:
    """Return what may be a key: two values have an equal one if, and only if, they are the same."""
    if isinstance(value, dict):
        return frozenset((name, key_of(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return tuple(map(key_of, value))
    return (bool, value) if isinstance(value, bool) else value


@mypyc_attr(native_class=False)
class Table:
    """A table of words: wire words to IR words and back.

    `write` maps IR to wire, one to one; `read_also` are further wire words, `write_also` further IR
    words (both are noted when they cross); `otherwise` is the wire word for a word of no table;
    a `closed` table takes no other word, on either side, but what stands for a `*` in one of its.
    """

    def __init__(
        self,
        write: dict[Any, Any],
        read_also: dict[Any, Any],
        write_also: dict[Any, Any],
        otherwise: Any,
        closed: bool = False,
    ) -> None:
        self.to_wire, self.read_also = write, read_also
        self.write_also, self.otherwise = write_also, otherwise
        self.closed = closed
        self.to_ir = {w: i for i, w in write.items()}
        self.globs = [word for word in write if closed and "*" in str(word)]

    def read(self, wire: Any) -> tuple[Any, bool]:
        """Return the IR word, and whether it means just what the wire word means."""
        if not isinstance(wire, str | int | bool):
            raise Misfit("a word is expected")
        if wire in self.to_ir:
            return self.to_ir[wire], True
        if wire in self.read_also:
            found = self.read_also[wire]
            return found, same(found, wire)
        if self.matches_glob(wire):
            return wire, True
        if self.closed:
            raise Misfit(f"`{wire}` is none of {', '.join(map(str, self.to_ir))}")
        return f"other:{wire}", True

    def write(self, value: Any, home: bool = True) -> tuple[Any, bool]:
        """Return the wire word, and whether it means just what the IR word means.

        A word of no table (`other:WORD`) goes back where it came from, `home`.
        """
        if not isinstance(value, str | int | bool):
            raise Misfit("a word is expected")
        if value in self.to_wire:
            return self.to_wire[value], True
        if value in self.write_also:
            return self.write_also[value], False
        if self.matches_glob(value):
            return value, True
        if self.otherwise is not None:
            return self.otherwise, False
        if home and isinstance(value, str) and value.startswith("other:"):
            return value[6:], True
        raise Misfit(f"there is no word for `{value}`")

    def matches_glob(self, word: Any) -> bool:
        """Tell whether a word is one of the table in which any text stands for `*`."""
        for glob in self.globs:
            if fits(str(word), glob):
                return True
        return False


def not_an_object(text: Any) -> str:
    """Take text that is not the JSON of an object; raises Misfit for anything else."""
    try:
        broken = isinstance(text, str) and not isinstance(parse_json(text), dict)
    except Misfit:
        broken = True
    if not broken:
        raise Misfit("text that is the JSON of no object is expected")
    return str(text)


def negated(value: Any) -> bool:
    """Make true of false, and false of true; raises Misfit for anything else."""
    if not isinstance(value, bool):
        raise Misfit("true or false is expected")
    return not value


def seconds_of(text: Any) -> int | float:
    """Read a time of RFC 3339 as seconds since 1970, to the microsecond; raises Misfit."""
    import datetime

    found = re.fullmatch(_TIME, text, re.I) if isinstance(text, str) else None
    if found is None:
        raise Misfit("a time like 2026-01-31T12:00:00Z is expected")
    try:
        moment = datetime.datetime.fromisoformat(found[1] + found[2].upper())
    except ValueError:
        raise Misfit("there is no such time") from None
    start = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    micro = (moment - start) // datetime.timedelta(microseconds=1)
    return micro / 10**6 if micro % 10**6 else micro // 10**6


def time_of(seconds: Any) -> str:
    """Write seconds since 1970 as a time of RFC 3339, to the microsecond; raises Misfit."""
    import datetime

    if not guard("number", seconds):
        raise Misfit("seconds are expected")
    try:
        since = datetime.timedelta(microseconds=round(seconds * 10**6))
        moment = datetime.datetime(1970, 1, 1) + since
    except (OverflowError, ValueError):
        raise Misfit("this is no time of the calendar") from None
    form = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.isoformat(timespec=form if moment.microsecond else "seconds") + "Z"


def seconds_said(seconds: Any) -> int | float:
    """Read seconds since 1970, which may have a fraction; raises Misfit."""
    if not guard("number", seconds) or not jsontext.finite(seconds):
        raise Misfit("seconds are expected")
    found: int | float = seconds
    return found


def whole_seconds(seconds: Any) -> int:
    """Write seconds since 1970 without a fraction; raises Misfit."""
    return math.floor(seconds_said(seconds))


def is_rounded(lens: str, time: Any) -> bool:
    """Tell whether a form of times says less of one than was said, by a text or by seconds."""
    if isinstance(time, str):
        fraction = re.search(r"\.(\d+)", time)
        return fraction is not None and bool(fraction[1][TIMES[lens] :].strip("0"))
    return bool(round(time, TIMES[lens]) != time)


def milliseconds_of(text: Any) -> int:
    """Read a time of RFC 3339 as milliseconds since 1970; raises Misfit."""
    fraction = re.search(r"\.(\d{1,3})", text)
    return math.floor(seconds_of(text)) * 1000 + (int(fraction[1].ljust(3, "0")) if fraction else 0)


def time_of_milliseconds(milliseconds: Any) -> str:
    """Write milliseconds since 1970 as a time of RFC 3339; raises Misfit."""
    if not guard("integer", milliseconds):
        raise Misfit("whole milliseconds are expected")
    seconds, rest = divmod(int(milliseconds), 1000)
    return f"{time_of(seconds)[:-1]}.{rest:03}Z"


def number_of(digits: Any) -> int:
    """Read the digits of a whole number as that number; raises Misfit for any other text."""
    if not (isinstance(digits, str) and _DIGITS.fullmatch(digits)):
        raise Misfit("the digits of a whole number are expected")
    return int(digits)


def digits_of(number: Any) -> str:
    """Write a whole number as its digits; raises Misfit for what is none, or has too many."""
    if not guard("integer", number) or not _DIGITS.fullmatch(f"{int(number)}"):
        raise Misfit("a whole number is expected")
    return f"{int(number)}"


def parse_value(text: Any) -> Any:
    """Read text as the JSON that it is; raises Misfit for any other."""
    try:
        return parse_json(text)
    except (TypeError, ValueError, RecursionError):
        raise Misfit("text that is JSON is expected") from None


# What is no more than a function, from the wire and to it.
_BOTH = {"not": negated, "not-an-object": not_an_object}
READS: dict[str, Callable[[Any], Any]] = {
    **_BOTH, "milliseconds": time_of_milliseconds, "digits": digits_of, "as-json": stringify,
    "timestamp": seconds_of, "seconds": seconds_said,
}  # fmt: skip
WRITES: dict[str, Callable[[Any], Any]] = {
    **_BOTH,
    "timestamp": time_of,
    "seconds": whole_seconds,
    "milliseconds": milliseconds_of,
    "digits": number_of,
    "as-json": parse_value,
}


def character_offset(text: str, place: int) -> int | None:
    """Return a place in a text, given in bytes of its UTF-8, in characters; None between two."""
    if text.isascii():
        return place if place <= len(text) else None
    whole = text.encode(errors="surrogatepass")
    try:
        return len(whole[:place].decode(errors="surrogatepass")) if place <= len(whole) else None
    except UnicodeDecodeError:
        return None


def byte_offset(text: str, place: int) -> int:
    """Return a place in a text, given in characters, in bytes of its UTF-8."""
    return len(text[:place].encode(errors="surrogatepass"))


def guard(names: str, value: Any) -> bool:
    """Tell whether a value passes a guard such as `object+list`."""
    holds = _guards(names)
    return holds[0](value) or any(more(value) for more in holds[1:])


@functools.lru_cache(4096)
def _guards(names: str) -> tuple[Callable[[Any], bool], ...]:
    return tuple(_TYPES[name] for name in names.split("+"))


@functools.lru_cache(4096)
def is_guard(name: str) -> bool:
    """Tell whether a lens name is a guard."""
    return all(word in _ALL_GUARDS for word in name.split("+"))
