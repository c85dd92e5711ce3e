"""JSON text: written as JSON.stringify writes it, parsed as strict JSON.

Whole numbers of any size stay exact, which JSON.stringify itself cannot do.
"""

from __future__ import annotations

import json
import marshal
import math
import re
from itertools import accumulate
from typing import Any

from .patterns import later

# What JavaScript prints otherwise than Python: floats with an exponent, -0.0, whole ones.
_FLOAT = later(r"(-?)(\d)(?:\.(\d+))?e([+-]\d+)|-(0)\.0(?!\d)|\.0(?!\d)")
_PAIR = later("[\ud800-\udbff][\udc00-\udfff]")
_SPACED = later(r'"\s+:')
_HALF = later("[\ud800-\udfff]")
_ESCAPED_HALF = later(r"\\u[dD][89a-fA-F]")
_TEXTS = later(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_STEPS = {"{": 1, "[": 1, "}": -1, "]": -1}  # down and up again
MAX_DEPTH = 300  # levels of JSON, in a payload and in a text


def stringify(value: Any) -> str:
    """Write JSON text: no spaces, printable characters as they are, key order kept.

    Half of a surrogate pair is escaped. Raises ValueError for what JSON cannot hold (NaN, a number
    of more digits than Python prints), RecursionError for what is nested too deep.
    """
    text = "".join(_pieces(value, 0))
    if "e-" in text or "e+" in text or ".0" in text:
        text = _javascript(text)
    return with_escapes(text)


def with_escapes(text: str) -> str:
    """Return JSON text in which half of a surrogate pair is escaped, so that UTF-8 holds it."""
    if text.isascii() or encodes(text):
        return text
    whole = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", whole)


def utf8(value: Any) -> bytes:
    """Write JSON text as `stringify` does, in UTF-8: bytes are looked through faster than text."""
    text = "".join(_pieces(value, 0))
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return stringify(value).encode()
    if b"e-" in data or b"e+" in data or b".0" in data:
        return _javascript(text).encode()
    return data


def encodes(text: str) -> bool:
    """Tell whether no half of a surrogate pair stands alone in a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def has_half(text: str, value: Any) -> bool:
    """Tell whether half of a surrogate pair stands alone in a value that was parsed of a text."""
    if "\\u" not in text or not _ESCAPED_HALF.search(text):
        return False
    return not encodes("".join(_pieces(value, 0)))


def copied(value: Any) -> Any:
    """Return new JSON that is equal to a value of which `payload.check_json` found nothing wrong.

    Nothing is shared with the caller's, whose next change would otherwise be one of ours.
    """
    try:
        return marshal.loads(marshal.dumps(value, 2))  # 2: what stands twice is written twice
    except ValueError:  # a class that a caller derived of a dict, a list, a text or a number
        return json.loads(stringify(value))


def alike(one: Any, two: Any) -> bool:
    """Tell whether two values are equal, and their numbers of the same classes."""
    try:
        return bool(one == two) and marshal.dumps(one, 2) == marshal.dumps(two, 2)
    except ValueError:  # as in `copied`
        return repr(one) == repr(two)


def _javascript(text: str) -> str:
    """Return JSON text with floats in it as JavaScript prints them."""
    escaped = "\\" in text
    if escaped:  # control characters never stand in JSON text as they are
        text = text.replace("\\\\", "\0").replace('\\"', "\1")
    pieces = text.split('"')  # every other piece stands outside of texts
    for at in range(0, len(pieces), 2):
        if ".0" in pieces[at] or "e-" in pieces[at] or "e+" in pieces[at]:
            pieces[at] = _FLOAT.sub(_printed, pieces[at])
    text = '"'.join(pieces)
    return text.replace("\1", '\\"').replace("\0", "\\\\") if escaped else text


def _printed(found: re.Match[str]) -> str:
    """Print what Python prints of a float as JavaScript does: 1e-7, 1e+21, 0 for -0.0."""
    sign, first, rest, power, zero = found.groups("")
    if not power:
        return zero
    point = int(power) + 1  # the number is 0.DIGITS times ten to the power of that
    if 16 < point <= 21:  # Python prints a float of 16 digits and more so, and 17 tell it
        return sign + (first + rest).ljust(point, "0")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{first}{rest}"
    return f"{sign}{first}{rest and f'.{rest}'}e{int(power):+d}"


def parse(text: str) -> Any:
    """Parse strict JSON; raises ValueError for NaN, Infinity, too large numbers, repeated keys.

    What is nested deeper than MAX_DEPTH levels is refused, too; RecursionError says that the stack
    has no room for what is not.
    """
    try:
        value, levels = _parsed(text)
    except RecursionError:
        # How many levels it has its signs say: the stack has no room to parse it.
        signs = filter(_STEPS.__contains__, _TEXTS.sub("", text))
        if max(accumulate(map(_STEPS.__getitem__, signs)), default=0) <= MAX_DEPTH:
            raise
        raise ValueError("the text is nested too deep") from None
    if (levels or _counted(value)[1]) > MAX_DEPTH:
        raise ValueError("the text is nested too deep")
    return value


def load(text: str) -> Any:
    """Parse as `parse` does, but for RecursionError and depth."""
    return _parsed(text)[0]


def looked_at(text: str) -> tuple[Any, bool]:
    """Parse as `load` does; tell whether `payload.check_json` surely has nothing to say of it."""
    value, levels = _parsed(text)
    halves = "\\u" in text and ("\\ud" in text or "\\uD" in text)  # perhaps of surrogate pairs
    return value, 0 < levels <= MAX_DEPTH and not halves


def _parsed(text: str) -> tuple[Any, int]:
    """Return a value, and how many levels it has; 0 where that was not counted."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        return _strict(text), 0  # it begins with a blank, or is no JSON
    if value.__class__ is dict and FLAT.issuperset(map(type, value.values())):
        keys, levels = len(value), 1
        if keys == text.count(":") and end == len(text):
            return value, 1  # no other colons, so no key is missing
    else:
        keys, levels = _counted(value)
    if end != len(text) or not _each_once(keys, text):
        return _strict(text), 0  # which says what it is
    return value, levels


def _each_once(keys: int, text: str) -> bool:
    """Tell whether a text says so many keys, and no infinite number."""
    if keys == text.count(":"):
        return True  # no other colons, so no key is missing
    # To look for one sign is quick, and a compact text has none of the last three.
    spaced = any(blank in text and f'"{blank}' in text for blank in " \n\r\t")
    return keys == text.count('":') and not (spaced and _SPACED.search(text))


def _counted(value: Any) -> tuple[int, int]:
    """Return how many keys and levels a value has; no keys, -1, where a number is infinite."""
    keys, levels = 0, 0
    here: list[Any] = [value] if value.__class__ is dict or value.__class__ is list else [[value]]
    while here:
        levels += 1
        deeper: list[Any] = []
        for items in here:
            if items.__class__ is dict:
                keys += len(items)
                items = items.values()
            for item in items:
                kind = item.__class__
                if kind is dict or kind is list:
                    deeper.append(item)
                elif kind is float and item - item != 0:
                    return -1, 0
        here = deeper
    return keys, levels


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        for key, _ in pairs:
            if found.pop(key, found) is found:
                raise ValueError(f"the key `{key[:60]}` stands twice in one object")
    return found


def no_constant(word: str) -> Any:
    """Refuse NaN and Infinity, which Python would read."""
    raise ValueError(f"`{word}` is no JSON number")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is larger than numbers can be")
    return value


def _refused(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is no JSON value")


FLAT = frozenset(map(type, ("", 0, True, None)))  # types of which nothing more has to be asked
# Made once: json.dumps and json.loads build these anew for every call with options.
_decoder: Any = json.JSONDecoder(parse_constant=no_constant)
_scan = _decoder.scan_once
_strict = json.JSONDecoder(
    parse_constant=no_constant, parse_float=_float, object_pairs_hook=_once
).decode
_make: Any = getattr(json.encoder, "c_make_encoder", None)


def _encoder() -> Any:
    if _make:
        escape = json.encoder.encode_basestring
        return _make(None, _refused, escape, None, ":", ",", False, False, False)
    separators = (",", ":")
    return json.JSONEncoder(ensure_ascii=False, separators=separators, allow_nan=False).iterencode


_pieces = _encoder()


def finite(value: Any) -> bool:
    """Tell whether a number can stand in JSON."""
    return not isinstance(value, float) or math.isfinite(value)
