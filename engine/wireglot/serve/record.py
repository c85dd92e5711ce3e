"""Records: what became of the last requests, in memory for the page, in a folder for `replay`."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..notes import Note

FORM = 1  # of a record
BODY, LAST, TOTAL = 4_000_000, 100, 32_000_000  # bytes of a body; requests and bytes in memory
FILES = 1000  # in a folder: the oldest goes
BYTES = "$base64"
_NAME = re.compile(r"\d{8}T\d{6}Z-\d{6}\.json")


class KeptBody:
    """Bytes that are kept as they pass, where they are not too many."""

    def __init__(self, data: bytes = b"") -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self.add(data)

    def add(self, data: bytes) -> None:
        """Keep more; what is too long is not kept at all."""
        self._size += len(data)
        if self._size <= BODY:
            self._pieces.append(data)
        else:
            self._pieces.clear()

    def as_json(self) -> Any:
        """Return an object or a list of JSON, a text, or bytes as base64; None: too many."""
        if self._size > BODY:
            return None
        data = b"".join(self._pieces)
        with contextlib.suppress(ValueError, RecursionError):
            if isinstance(said := json.loads(data), dict | list):
                return said
        try:
            return data.decode()
        except ValueError:
            return {BYTES: base64.b64encode(data).decode()}

    def __len__(self) -> int:
        """Return how many bytes are held."""
        return self._size if self._size <= BODY else 0


def as_bytes(said: Any) -> bytes:
    """Return what `Kept.said` made of bytes as bytes."""
    if isinstance(said, dict) and said.keys() == {BYTES}:
        return base64.b64decode(said[BYTES])
    return (said if isinstance(said, str) else json.dumps(said)).encode()


@dataclass
class Record:
    """What became of one request.

    Attributes:
        path: Where it was asked.
        client: The dialect of the client.
        provider: That of the provider; empty: the request came to none.
        model: The model that was asked for in place of the client's; None: there is no such.
        asked: The body of the request.
        sent: What the provider was sent.
        came: What it answered.
        given: What the client was answered.
        kind: The type of the provider's answer; `answered` is its status, `status` the client's.
        streamed: Whether the answer was a stream.
        failed: What went wrong; empty: nothing.
    """

    path: str
    client: str
    provider: str
    model: str | None
    asked: KeptBody
    sent: KeptBody = field(default_factory=KeptBody)
    came: KeptBody = field(default_factory=KeptBody)
    given: KeptBody = field(default_factory=KeptBody)
    kind: str = ""
    answered: int | None = None
    status: int = 0
    streamed: bool = False
    failed: str = ""
    notes: tuple[Note, ...] = ()
    seconds: float = 0.0
    number: int = 0
    at: str = ""

    def size(self) -> int:
        """Return how many bytes it holds."""
        return sum(map(len, (self.asked, self.sent, self.came, self.given)))

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON; a body that is too long is null."""
        said = {
            name: value.as_json() if isinstance(value, KeptBody) else value
            for name, value in vars(self).items()
        }
        return {"record": FORM, **said, "notes": [note._asdict() for note in self.notes]}


class Recorder:
    """Keeps the last requests; in a folder, too, where there is one.

    `masked` takes keys out of a text.
    """

    def __init__(self, masked: Callable[[str], str], folder: str | None = None) -> None:
        self.masked, self._count, self._size = masked, 0, 0
        self.last: deque[Record] = deque()
        self._folder = Path(folder) if folder is not None else None
        self._files: deque[Path] = deque()
        if self._folder is not None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            there = (one for one in self._folder.iterdir() if _NAME.fullmatch(one.name))
            self._files.extend(sorted(there))

    def keep(self, seen: Record) -> None:
        """Keep what became of a request. Raises OSError where its file cannot be written."""
        self._count += 1
        seen.number, seen.at = self._count, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        self.last.append(seen)
        self._size += seen.size()
        while len(self.last) > LAST or self._size > TOTAL:
            self._size -= self.last.popleft().size()
        if self._folder is None:
            return
        file = self._folder / f"{seen.at}-{seen.number:06}.json"
        text = self.masked(json.dumps(seen.as_json(), ensure_ascii=False, indent=1))
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8", errors="backslashreplace")
        self._files.append(file)
        while len(self._files) > FILES:
            self._files.popleft().unlink(missing_ok=True)
