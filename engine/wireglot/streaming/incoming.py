"""What comes in by a stream: candidates, and their parts while they grow."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..interpreter import citations, rating
from ..ir import IR, put_at
from ..language.lenses import Misfit, parse_json, same, stringify
from ..language.model import Dialect
from ..native import mypyc_attr
from ..trail import At, value_at
from .recognising import HoleMatch

_STEP = re.compile(r"""\.[^.\[\]'"]+|\[\d{1,4}\]|\['[^']*'\]|\["[^"]*"\]""")
_PATH = re.compile(rf"\$(?:{_STEP.pattern})+")
_JSON = re.compile(r'["\\{}\[\]]')


class JsonScan:
    """Tells when the pieces of a JSON object are all there; it looks when it is asked."""

    def __init__(self, pieces: list[str]) -> None:
        self._pieces, self._seen = pieces, 0
        self._depth, self._in_text, self._escaped_at, self._closed = 0, False, -1, False

    @property
    def is_closed(self) -> bool:
        """Tell whether the object is closed."""
        new, self._seen = "".join(self._pieces[self._seen :]), len(self._pieces)
        skip = self._escaped_at  # the place of a sign that a backslash stands before
        for found in _JSON.finditer(new):
            at, sign = found.start(), found[0]
            if at == skip:
                continue
            if sign == "\\":
                skip = at + 1
            elif sign == '"':
                self._in_text = not self._in_text
            elif not self._in_text:
                self._depth += 1 if sign in "{[" else -1
                self._closed = self._depth == 0
        self._escaped_at = skip - len(new) if skip >= len(new) else -1
        return self._closed


@mypyc_attr(native_class=False)
class Part:
    """A part of an answer while it comes: its IR `fields`, but for the text that `pieces` bring."""

    def __init__(self, kind: str, field: str, candidate: int, nth: int) -> None:
        self.kind, self.field, self.candidate, self.nth = kind, field, candidate, nth
        self.fields: IR = {"type": kind}
        self.pieces: list[str] = []
        self.open = True  # until its end is heard
        self.may_cite = False  # its end was heard, and what it cites may follow
        self.whole = False  # it came in one piece, as `fields`
        self.id_made = False  # its id was made here
        self.signed_late = False  # its signature came behind it
        self.unannounced = False  # nobody was told of it: its name is not there
        self.textless = False  # its head has no place for a text: where none follows, there is none
        self.tree: Any = None  # an object that comes value by value
        self.originals: IR = {}  # the source's name and id, where others went out
        self.rewrite: Callable[[IR], IR] | None = None  # what the client is sent in its place
        self.address: tuple[Any, ...] = ()
        self.piece_key: Any = None  # under which it flowed
        self.at: At = ()  # the frame in which it began, or its place in a whole
        self.scan = JsonScan(self.pieces) if field == "arguments" else None
        self.final: IR | None = None  # the part as its item says it at the end
        self.cited: list[Any] | None = None  # its citations, where they are said of all texts

    def source_value(self, field: str) -> Any:
        """Return a name, or an id, as the source gave it."""
        return self.originals.get(field) or self.fields.get(field)

    def repeats(self, piece: str) -> bool:
        """Tell whether a piece is all that came, once more, perhaps in another spelling."""
        if self.scan is None or not (piece.lstrip().startswith("{") and self.scan.is_closed):
            return False
        return same(_parsed_or_text("".join(self.pieces)), _parsed_or_text(piece))

    def continues_with(self, call_id: str, head: IR, piece: str) -> bool:
        """Tell whether a head, with an id and a piece, is said of this part and of no new one."""
        old = str(self.source_value("id") or "")
        whole = self.scan is not None and self.scan.is_closed and piece.strip().startswith("{")
        if call_id and old and (head.get("name") or not self.id_made):
            if call_id == old:
                return not (whole and self._contradicts(piece))
            # Some servers give each frame of a call another id.
            open_call = self.kind == "tool_call" and self.fields.get("name") and not self.complete
            return bool(open_call) and self._continues_half(head.get("name"), piece)
        return not whole

    def _continues_half(self, name: Any, piece: str) -> bool:
        """Tell whether a head with another id is of this call, which is not whole.

        It says no name, or the same one while the arguments are half there, or begin.
        """
        begun = any(one.strip() for one in self.pieces)
        begins = piece.strip() != "" and not JsonScan([piece]).is_closed
        return not name or (name == self.fields.get("name") and (begun or begins))

    def _contradicts(self, piece: str) -> bool:
        """Tell whether a piece is a whole object that says something else than what came."""
        had, now = _parsed_or_text("".join(self.pieces)), _parsed_or_text(piece)
        return isinstance(had, dict) and isinstance(now, dict) and bool(had) and had != now

    def extend(self, keys: list[str], elements: list[Any]) -> int:
        """Take more elements of a list of the part; return how many there are."""
        listed = [*(value_at(self.fields, keys) or []), *elements]
        put_at(self.fields, keys, listed)
        rating.join_likely(self.fields)
        return len(listed)

    @property
    def id_field(self) -> str:
        """The IR field by which a call and its result belong together: `id`, or `tool_call_id`."""
        return "tool_call_id" if self.kind == "tool_result" else "id"

    @property
    def label(self) -> str:
        """Its number in the stream, as text: an address comes again once a part is let go."""
        return f"{self.candidate}/{self.nth}"

    @property
    def complete(self) -> bool:
        """Tell whether nothing more can come, though nobody said so."""
        return not self.open or (self.scan is not None and self.scan.is_closed)

    def ir(self) -> IR:
        """Return the part as the IR has it."""
        part = dict(self.fields if self.final is None else self.final)
        if (self.whole and not self.pieces) or self.final is not None:
            return part
        text = "".join(self.pieces)
        if self.field == "arguments":
            value = _parsed_or_text(text) if text.strip() else {}
            if isinstance(value, dict):
                part["arguments"], part["arguments_json"] = value, text
            else:
                part["arguments_text"] = text
        elif self.field.startswith("own."):
            if text.strip():
                put_at(part, self.field.split("."), _parsed_or_text(text))
        elif text or not self.textless:
            part[self.field] = text
        return part


def text_of(ir: IR) -> str | None:
    """Return the text that flows of a part that is whole."""
    for key in ("input", "arguments_json", "arguments_text", "text"):
        if isinstance(ir.get(key), str):
            return str(ir[key])
    return stringify(ir["arguments"]) if "arguments" in ir else None


def _parsed_or_text(text: str) -> Any:
    try:
        return parse_json(text)
    except Misfit:
        return text


class Item:
    """What brackets parts in a stream; what is said of it is said of its first part.

    `signs` tells whether its begin and its end say a signature.
    """

    def __init__(self, at: int = 0) -> None:
        self.at, self.ended = at, False  # the frame in which it began, and whether it ended
        self.fields: IR = {}
        self.signs = False
        self.parts: list[Part] = []


class Candidate:
    """One of the answers: its parts in the order in which they began."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.by_address: dict[tuple[Any, ...], Part] = {}
        self.forgotten: set[tuple[Any, ...]] = set()  # places of parts of which nothing is kept
        self.items: dict[int, Item] = {}
        self.items_by_id: dict[str, int] = {}  # items by their ids, where frames do not number them
        self.last_text: Part | None = None  # the last text
        self.kinds: list[str] = []  # of all parts that began, of which some may be let go
        self.unpaired = 0  # the results that answer no call, and had no id
        self.own: IR = {}  # what is said of the candidate itself
        self.flows: IR = {}  # what flows into it besides parts
        self.cited_by_shape: dict[str, list[Any]] = {}  # its citations, by their shape
        self.uncited_sources: list[Any] = []  # its sources that no citation names
        self.citations_lost = False  # whether citations are said of texts that are not kept
        self.stops: list[HoleMatch] = []  # why it stopped: holes that are read at the end
        self.calls_within = False  # whether calls stood in its texts

    def item_of(self, part: Part) -> Item | None:
        """Return the item that a part stands in."""
        return self.items.get(dict(part.address).get("item", -1))

    def share_citations(self, dialect: Dialect) -> None:
        """Give each text the citations of it, where they were said of all texts that are there."""
        cited = self.flows.get("citations") or self.own.get("citations") or []
        sources = self.own.get("sources") or []
        form = citations.form_of(dialect, "candidate") if cited or sources else None
        if form is None or not form.whole:
            return
        made: list[IR] = [{} for _ in self.kinds]
        for part in self.parts:
            made[part.nth] = part.ir()
        if any(kind == "text" and not ir for kind, ir in zip(self.kinds, made, strict=False)):
            self.citations_lost = True  # nothing is kept of a text that is over
            return
        shares = citations.Shares({"parts": made}, form, cited, sources)
        for part in self.parts:
            part.cited = next((found for of, found in shares.of if of is made[part.nth]), None)
        self.uncited_sources = shares.left


def merged(one: dict[str, Any], two: dict[str, Any], over: bool = False) -> dict[str, Any]:
    """Put the fields of an object into another, object by object; `over` replaces what is there.

    What says nothing replaces nothing: null, what is empty, zero.
    """
    for key, value in two.items():
        if isinstance(value, dict) and isinstance(one.get(key), dict):
            one[key] = merged(dict(one[key]), value, over)
        elif one.get(key) is None or (over and (value or value is False)):
            one[key] = merged({}, value) if isinstance(value, dict) else value
    return one


def stop_values(stops: list[HoleMatch]) -> dict[str, Any]:
    """Return what was said of why a candidate stopped, key by key."""
    found: dict[str, Any] = {}
    for hole, wire, _ in stops:
        found |= wire if hole.path == "." and isinstance(wire, dict) else {hole.path: wire}
    return found


def without_repeats(found: list[Any]) -> list[Any]:
    """Return citations without those that others say with more, from another list."""
    said = {str(one.get("url")) for one in found if len(one) > 1}
    return [one for one in found if [*one] != ["url"] or one["url"] not in said]


def concatenated(old: Any, new: Any) -> Any:
    """Put what flows together: texts and lists one after another, objects key by key."""
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *new]
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: concatenated(old.get(key), value) for key, value in new.items()}}
    return old if new is None else new


def path_steps(path: str) -> list[str | int] | None:
    """Take a path of names and numbers apart, as `$.a.b[0]`; None for another form."""
    if _PATH.fullmatch(path) is None:
        return None
    steps = _STEP.findall(path)
    return [s[1:] if s[0] == "." else int(s[1:-1]) if s[1].isdigit() else s[2:-2] for s in steps]


def set_at(tree: Any, steps: list[str | int], value: Any) -> Any:
    """Return an object with a value at a place within it; a text goes on where one stands."""
    if not steps:
        return tree + value if isinstance(tree, str) and isinstance(value, str) else value
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        held = tree if isinstance(tree, list) else []
        held += [None] * (step + 1 - len(held))
        held[step] = set_at(held[step], rest, value)
        return held
    named = tree if isinstance(tree, dict) else {}
    named[step] = set_at(named.get(step), rest, value)
    return named
