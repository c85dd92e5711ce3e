"""Policies: what may be lost. A table of codes, or rows that also know dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from .errors import UsageError, mistyped
from .notes import CODES, EFFECTS, Note
from .trail import within

WORDS = ("ignore", "note", "fail")


class Row(NamedTuple):
    """One row of a policy: what a note must be like, and what to do about it.

    None is any; `path` are the steps of a pointer, at or below which the note's path is, `*` any
    one step; `where` tells of a note as a mapping, with `source` and `target`, whether it is meant.
    """

    do: str
    code: str | None = None
    effect: str | None = None
    severity: str | None = None
    source: str | None = None
    target: str | None = None
    path: tuple[str, ...] | None = None
    where: Callable[[Mapping[str, Any]], bool] | None = None

    def fits(self, note: Note, source: str | None, target: str | None) -> bool:
        """Tell whether a note of a conversion from `source` to `target` is meant."""
        there = (note.code, note.effect, note.severity, source, target)
        if any(w is not None and w != v for w, v in zip(self[1:6], there, strict=True)):
            return False
        if self.path is not None:
            if not any(_under(self.path, path) for path in (note.source_path, note.target_path)):
                return False
        if self.where is None:
            return True
        return self.where({**note._asdict(), "source": source, "target": target})


def _under(steps: tuple[str, ...], path: str | None) -> bool:
    if path is None:
        return False
    there = path.split("/")[1:]
    return len(there) >= len(steps) and all(
        one in ("*", two) for one, two in zip(steps, there, strict=False)
    )


class Policy:
    """What to do about notes: `ignore`, `note` or `fail`.

    Made of a mapping by code, `effect:NAME` or `path:POINTER`, where a code outranks a path (the
    longest pointer first) and a path outranks an effect; or of rows, the first that fits.
    """

    def __init__(
        self,
        table: Mapping[str, str] | None = None,
        rows: Iterable[Row] = (),
        otherwise: str = "note",
    ) -> None:
        """Take a mapping, or rows. Raises UsageError for what is no policy."""
        if table is not None and not isinstance(table, Mapping):
            raise mistyped("`policy` is a mapping such as {'effect:lost': 'fail'}", table)
        given = tuple(rows) if isinstance(rows, Iterable) else (rows,)
        if not all(isinstance(row, Row) for row in given):
            raise UsageError("`rows` of a policy is a list of `Row`")
        if otherwise not in WORDS:
            raise UsageError("`otherwise` of a policy is `ignore`, `note` or `fail`")
        self.table: dict[str, str] = dict(table or {})
        self.rows: tuple[Row, ...] = given
        self.otherwise: str = otherwise
        # Whether it lets every note stand.
        self.lenient: bool = not self.table and not self.rows and self.otherwise == "note"
        for key, word in self.table.items():
            if not isinstance(key, str):
                raise mistyped("a key of the policy is a text", key)
            kind, _, name = key.partition(":")
            if word not in WORDS:
                raise UsageError(
                    f"the policy for `{key}` is `{word}`; say `ignore`, `note` or `fail`"
                )
            known = (
                key in CODES
                or (kind == "effect" and name in EFFECTS)
                or (kind == "path" and (not name or name.startswith("/")))
            )
            if not known:
                raise UsageError(
                    f"the policy names `{key}`, which is no code of docs/notes.md, no "
                    "`effect:NAME` and no `path:POINTER`"
                )

    def word(self, note: Note, source: str | None = None, target: str | None = None) -> str:
        """Return `ignore`, `note` or `fail` for a note of a conversion between these dialects."""
        if note.code in self.table:
            return self.table[note.code]
        best = ""
        for key in self.table:
            if key.startswith("path:") and len(key) > len(best):
                for path in (note.source_path, note.target_path):
                    if path is not None and within(key.removeprefix("path:"), path):
                        best = key
        found = self.table.get(best or f"effect:{note.effect}")
        if found is not None:
            return found
        for row in self.rows:
            if row.fits(note, source, target):
                return row.do
        return self.otherwise

    def apply(
        self, notes: Iterable[Note], source: str | None = None, target: str | None = None
    ) -> tuple[tuple[Note, ...], Note | None]:
        """Return the notes that stay, and the first that is forbidden, if any."""
        if self.lenient:
            return tuple(notes), None
        stay, forbidden = [], None
        for note in notes:
            word = self.word(note, source, target)
            if word != "ignore":
                stay.append(note)
            if word == "fail" and forbidden is None:
                forbidden = note
        return tuple(stay), forbidden


def of(policy: Mapping[str, str] | Policy | None) -> Policy:
    """Return what a caller gave as `policy=`. Raises UsageError."""
    if policy is None:
        return LENIENT
    return policy if isinstance(policy, Policy) else Policy(policy)


LENIENT = Policy()
