"""Seeds: what ids are made of where nobody gave any.

An id that is made names one thing: nothing else of the history has it, nor of another history, and
whoever converts the same payload again makes it again. So it is a digest of what tells its payload
from all others: for an answer, the request that it answers (an exchange knows it, and each turn has
another) with the id or the time that its provider gave; else all that was said.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

LENGTH = 12  # of the digest in an id


def digest(*facts: Any) -> str:
    """Return a digest of JSON values."""
    text = "/".join(fact if isinstance(fact, str) else _text(fact) for fact in facts)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)


class Seed:
    """The seed of one answer; it is worked out when the first id is made."""

    def __init__(self, asked: str | None, name: Any, time: Any, said: Any) -> None:
        """Take the digest of the request, the id and the time of the answer, and what it says."""
        self.named = bool(name)  # whether the provider gave an id, by which all is told apart
        self._facts = (asked, name or None, time if asked and not name else None, said)
        self._text: str | None = None

    def text(self) -> str:
        """Return the seed."""
        if self._text is None:
            *known, said = self._facts
            facts = [fact for fact in known if fact]
            self._text = digest(*facts) if facts else digest(said)
        return self._text
