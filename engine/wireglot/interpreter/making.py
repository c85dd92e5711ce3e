"""Making: ids and times that the target wants and nobody has said."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .. import jsontext, seeds
from ..errors import UsageError
from ..ir import USER_DATA, unspelled
from ..language import picture as pic
from ..language.lenses import Misfit, seconds_of, time_of_milliseconds
from ..language.picture import ABSENT, Hole
from ..notes import NOWHERE
from ..trail import HOLDERS, At, Ids
from .jobs import WriteJob
from .views import View

# What another dialect cannot read would not be there again on the way back.
_APART = ("spelled", "kept", "own", "signature", "cache", "metadata")
TOLD = "the target wants an id here; it is made from place and content"
YEAR_10000 = 253402300800  # in seconds since 1970: no time of the wire is that late
_UUID = (0, 8, 12, 15, 18, 30)


def make_value(writer: WriteJob, h: Hole, obj: dict[str, Any], shape: str, into: Any) -> str:
    """Make a value for a `(made P)` hole of an object."""
    if h.value == "time":
        reason = "the target wants a time here; it is that of what stands before"
        writer.note("made-time", "added", None, h.pos, reason, *(into or NOWHERE))
        new = _make_time(writer)
    else:
        new = _make_id(writer, str(h.value), obj, shape)
        writer.note("made-id", "added", None, h.pos, TOLD, *(into or NOWHERE))
        if shape != "response" or writer.trail.seed is None:  # an answer has its own
            writer.made_ids[new] = (str(h.value), writer.notes[-1], len(writer.notes) - 1)
    writer.mark_filled(obj, h.path)
    return new


def make_for_view(writer: WriteJob, h: Hole, view: View, into: Any) -> str:
    """Make a value for a hole of what a view is of; what repeats it finds it there."""
    new = make_value(writer, h, view.obj, view.shape, into)
    if not h.path.startswith("own."):
        view.names[h.path] = (new, h.path)
    return new


def by_hook(writer: WriteJob, h: Hole, obj: dict[str, Any], into: Any) -> None:
    """Note that an id which is written was made by a hook, when its part was read."""
    at = writer.trail.find(obj)
    reason = "the source has no id here; it is made from place and content"
    writer.note("made-id", "added", at, h.pos, reason, *(into or NOWHERE))


def fill_value(writer: WriteJob, h: Hole, obj: Any, rel: At, into: Any, home: bool = False) -> Any:
    """Return what stands where nothing is, as the mark of a hole says; at `home` nobody is told."""
    value = writer.fill_values.get(h.path, h.value) if writer.fill_values else h.value
    if h.mode == "as" and value == {} and not home:
        mark = len(writer.notes)
        value = writer.shape(h.named, {})
        del writer.notes[mark:]
    if h.mark == "fill" and h.value is not None and not home:
        reason = f"`{rel[-1] if rel else h.path}` is required here and was not there"
        if h.path in writer.fill_values and value != h.value:
            reason += f"; {value} leaves room for what the source asks for"
        writer.note("filled-in", "added", None, h.pos, reason, *(into or NOWHERE))
        writer.mark_filled(obj, h.path)
    return [] if value == [] else {} if value == {} else value


def make_copied(writer: WriteJob, h: Hole, view: View, into: Any) -> Any:
    """Make what a `(copy)` repeats, where the hole that it repeats would make it."""
    for other in pic.holes(view.case.wire):
        if other.path == h.path and other.mark == "made" and other.value is not None:
            return make_for_view(writer, other, view, into)
    return ABSENT


def _make_time(writer: WriteJob) -> str:
    """Return the time of the caller's clock, or the last one that was written."""
    clock = writer.options.get("clock")
    if clock is not None:
        said = clock()
        if not isinstance(said, int | float) or not 0 <= said < YEAR_10000:
            raise UsageError("`clock` gives seconds since 1970, as time.time does")
        writer.last_time = time_of_milliseconds(round(said * 1000))
    try:
        seconds_of(writer.last_time)
    except Misfit:  # what was written last is no time
        writer.last_time = time_of_milliseconds(0)
    return writer.last_time


def _make_id(writer: WriteJob, form: str, obj: dict[str, Any], shape: str) -> str:
    """Make an id out of what stands here: the same body always gets the same ids."""
    answer = writer.trail.seed
    if answer is not None:
        if shape == "response":
            return answer_id(form, answer)
        # It is known by this name until `number_ids` gives it the one that frames have, too.
        return _format_id(form, f"{len(writer.made_ids):04x}{answer.text()}")
    said = {k: v for k, v in obj.items() if k not in _APART}
    seed = jsontext.stringify(said)
    if '"spelled"' in seed:  # who reads for a trace, or at home, remembers more
        # Shapes below `own` do, too.
        seed = jsontext.stringify(unspelled(said, data=USER_DATA - {"own"}))
    return _unique_id(writer, form, seed)


def _unique_id(writer: WriteJob, form: str, seed: str) -> str:
    """Return the first id of a seed that nothing has: who says `go on` a thousand times has each.

    How many were made of a seed is a hint where to look, for what was written may be undone: an id
    is there as long as its note is.
    """

    def of(turn: int) -> str:
        return _format_id(form, seeds.digest(seed, str(turn)))

    def there(name: str) -> bool:
        _, draft, at = writer.made_ids.get(name, (form, None, 0))
        if draft is None or (at < len(writer.notes) and writer.notes[at] is draft):
            return draft is not None
        return any(one is draft for one in writer.notes)  # notes before it went

    new = first = of(0)
    if there(first):
        turn = writer.made_counts.get(first, 1)
        while turn > 1 and not there(of(turn - 1)):
            turn -= 1
        while there(new := of(turn)):
            turn += 1
        writer.made_counts[first] = turn + 1
    return new


def answer_id(form: str, seed: Ids, *place: str) -> str:
    """Make the id of a response, or of what stands there: frames and the whole have the same."""
    return _format_id(form, seeds.digest(seed.text(), *place))


def number_ids(writer: WriteJob, answer: Any) -> None:
    """Give what stands in an answer ids by its number, for frames have them before it is known."""
    seed = writer.trail.seed
    if seed is None or not writer.made_ids:
        return
    stack, ids = [answer], {name: form for name, (form, _, _) in writer.made_ids.items()}
    count = dict.fromkeys(ids.values(), 0)
    while stack:
        owner, inner = stack.pop(), []
        for key, value in owner.items() if isinstance(owner, dict) else enumerate(owner):
            if value.__class__ is str:
                if value in ids:
                    form = ids[value]
                    owner[key] = answer_id(form, seed, form, str(count[form]))
                    count[form] += 1
            elif isinstance(value, HOLDERS):
                inner.append(value)
        stack += inner[::-1]


def _format_id(form: str, digest: str) -> str:
    """Return an id of a form: `uuid`, `hex8`, or a prefix."""
    if form == "uuid":
        one, two, three, four, five = (digest[a:b] for a, b in pairwise(_UUID))
        return f"{one}-{two}-5{three}-8{four}-{five}"
    return digest[:8] if form == "hex8" else f"{form}{digest[: seeds.LENGTH]}"
