"""Making payloads safe to show: what they are made of stays, what they say goes.

Works on the text of JSON, JSON lines and event streams: marks between strings stay as they are,
and so does each string that is a word of a dialect. Of any other string each letter becomes
another one of its kind; equal strings stay equal, so that ids pair and calls find their tools.
Numbers stay under keys of dialects, else their digits are others; days move, all by as many.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import mimetypes
import re
import secrets
from collections.abc import Iterable, Iterator

from ..errors import WireglotError
from ..language import picture as pic
from ..language.drafts import EMPTY_IF_NULL
from ..language.model import Dialect
from ..language.nodes import TYPES
from ..language.picture import Hole
from . import wirefacts

STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?')
# What may stand between strings: marks and numbers of JSON, its words, the fields of event streams.
BETWEEN = re.compile(
    r"(?:^(?:event|data|id|retry|):(?: [\w.\[\]-]*)?"
    r"|[\s\[\]{},:]|-?\d[\d.eE+-]*|true|false|null|\ufeff)*",
    re.MULTILINE,
)
# The value of a field of an event, and a number between strings.
VALUE = re.compile(r"^((?:event|data|id): )([\w.\[\]-]+)|-?\d[\d.eE+-]*", re.MULTILINE)
# What stays of a string: how an address and a data URL begin, the first word of a type of media.
MEDIA = r"(?:text|image|audio|video|application|font|model|multipart)/"
PARTS = r"(?:;(?:charset|codecs?|rate|channels)=[\w.-]+)*(?:;base64)?"
FRONT = re.compile(rf"(?:https?|wss?|file|gs|s3)://|(data:)?({MEDIA}[\w.+-]+){PARTS}(?:,|$)")
DAY = re.compile(r"(\d{4}-\d\d-\d\d)((?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)")
DAYS = 3000  # that days move by at most
MEDIA_TYPES = frozenset(mimetypes.types_map.values())
PLAIN = ("true", "false", "null")
LETTERS = re.compile(r"[^\W_]")
IN_JSON = re.compile(rf"\b(?:true|false|null)\b|{LETTERS.pattern}")  # of a piece of it
LOWER, UPPER, DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
# JSON Schema says these, too (https://json-schema.org/draft/2020-12).
SCHEMA = frozenset(
    "$anchor const default examples nullable deprecated readOnly writeOnly contentEncoding "
    "contentMediaType date date-time time uri email uuid".split()
)


class NotRedacted(WireglotError):
    """Raised for a text that is neither JSON nor an event stream: what it says cannot be told."""


class Redaction:
    """Redacts texts; the same string becomes the same in all of them.

    `keep` are further strings that stay. `secret` is what letters are made of, random if none is
    given: nobody can find a string again by trying.
    """

    def __init__(
        self, dialects: Iterable[Dialect], keep: Iterable[str] = (), secret: bytes = b""
    ) -> None:
        self.kept = {*EMPTY_IF_NULL, *TYPES, *SCHEMA, *keep}
        self.models: set[str] = set()  # keys whose values are names of models, which rules ask for
        for dialect in dialects:
            self.kept.update(wirefacts.fixed(dialect))
            self.kept.update(wirefacts.keys(dialect))
            for names, child in (pair for case in dialect.cases for pair in pic.keys(case.wire)):
                if isinstance(child, Hole) and child.path == "model":
                    self.models.update(names)
        self._secret = secret or secrets.token_bytes(32)
        moved = int.from_bytes(hashlib.shake_256(self._secret).digest(2))
        self._days = datetime.timedelta(1 + moved % DAYS)

    def text(self, text: str) -> str:
        """Return a text redacted. Raises NotRedacted with the line that is none of JSON."""
        pieces, end, key = [], 0, ""
        for found in STRING.finditer(text):
            pieces.append(self._between(text, end, found.start(), key))
            end, whole, colon = found.end(), found[1], found[2] or ""
            inner = self._string(whole, bool(colon), key in self.models)
            pieces.append(f'"{inner}"{colon}')
            key = whole if colon else ""
        return "".join((*pieces, self._between(text, end, len(text), key)))

    def _between(self, text: str, start: int, end: int, key: str) -> str:
        """Return what stands between two strings, behind a key or none."""
        match = BETWEEN.match(text, start, end)
        stop = match.end() if match else start
        if stop < end:
            line = text.count("\n", 0, stop) + 1
            raise NotRedacted(f"line {line} is neither JSON nor an event of a stream")

        def other(found: re.Match[str]) -> str:
            if found[2] is None:
                return found[0] if key in self.kept else self._redacted_number(found[0])
            stays = found[2] in PLAIN or found[2] in self.kept
            return found[0] if stays else found[1] + self.word(found[2])

        return VALUE.sub(other, text[start:end])

    def _redacted_number(self, said: str) -> str:
        """Return a number of the same make: what is no zero is none."""
        numbers, at = self._random_bytes(said), re.search(r"[eE]|$", said)
        assert at is not None
        digits = re.sub("[1-9]", lambda _: str(1 + next(numbers) % 9), said[: at.start()])
        return digits + said[at.start() :]

    def _string(self, raw: str, key: bool, model: bool) -> str:
        """Return what stands between the quotes of a string."""
        try:
            said = json.loads(f'"{raw}"', strict=False)
        except ValueError:
            raise NotRedacted(f'"{raw[:20]}" is no string of JSON') from None
        if said in self.kept or (model and not key):
            return raw
        try:
            new = self.text(said) if not key and said[:1] in ("{", "[") else self.word(said)
        except NotRedacted:  # it only begins as JSON does
            new = self.word(said)
        return json.dumps(new, ensure_ascii=raw.isascii())[1:-1]

    def word(self, said: str) -> str:
        """Return a string of the same length and make that says nothing."""
        if (day := DAY.fullmatch(said)) and (moved := self._moved(day[1])):
            return moved + day[2]
        front = self._kept_prefix(said)
        numbers = self._random_bytes(said)
        letters = IN_JSON if any(mark in said for mark in '{}[]"') else LETTERS

        def other(found: re.Match[str]) -> str:
            return found[0] if len(found[0]) > 1 else _other_letter(found[0], numbers)

        return front + letters.sub(other, said[len(front) :])

    def _moved(self, day: str) -> str:
        """Return another day, or nothing for what is none; all are as far apart as they were."""
        try:
            return (datetime.date.fromisoformat(day) - self._days).isoformat()
        except (ValueError, OverflowError):
            return ""

    def _kept_prefix(self, said: str) -> str:
        """Return how a string begins that is an address or a type of media that is known."""
        found = FRONT.match(said)
        if found is None or found[2] is None:
            return found[0] if found else ""
        if found[2] in self.kept or found[2] in MEDIA_TYPES:
            return found[0]
        return f"{found[1] or ''}{found[2].partition('/')[0]}/"

    def _random_bytes(self, said: str) -> Iterator[int]:
        """Return as many numbers as a string has bytes, which only this one has."""
        start = said.encode("utf-8", "surrogatepass")
        return iter(hashlib.shake_256(self._secret + start).digest(len(start)))


def _other_letter(letter: str, numbers: Iterator[int]) -> str:
    if letter.isascii():
        kind = DIGITS if letter.isdigit() else UPPER if letter.isupper() else LOWER
        return kind[next(numbers) % len(kind)]
    if not letter.isprintable() or ord(letter) >= 0xD800:
        return letter if 0xD800 <= ord(letter) < 0xE000 else "\U0001f642"
    return "é" if ord(letter) < 0x800 else "字"
