"""Reading holes: a wire value through marks, lenses and shapes into the IR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir import DERIVED, field_type
from ..language.lenses import (
    KEPT_TIMES,
    READS,
    TIMES,
    UNTYPED,
    WRITES,
    Misfit,
    guard,
    is_guard,
    parse_json,
    same,
    stringify,
)
from ..language.picture import ABSENT, Hole
from ..language.shape import holes_written_before
from ..trail import IN_TEXT, At, pointer
from . import conversation, elements
from .env import Env, show, spell_nothing
from .jobs import ReadJob


def keep(h: Hole, wire: Any, at: At, rel: At, env: Env, misfit: Misfit, spread: bool) -> None:
    """Keep a value that its picture does not take, for this dialect only."""
    if spread:
        for key, value in wire.items():
            env.keep((*at, key), value)
            if value is not None:  # null says nothing
                where = (*at, key)
                env.notes.append(("unfit", "kept", where, misfit.pos or h.pos, misfit.reason))
        return
    env.keep(at, wire)
    for name, said in env.spelled.get(pointer(rel), {}).get("twice", {}).items():
        if said is None:  # another spelling says the same
            env.keep((*at[:-1], name), wire)
    if h.mark in ("default", "fill"):
        env.spell(rel, wire, h.value)
    if h.mark == "default":
        env.put(h.path, default_of(h), None)
    elif h.mark == "made":
        env.spelled[pointer(rel)] = {"made": h.path, "as": wire}
    env.notes.append(("unfit", "kept", at, misfit.pos or h.pos, misfit.reason))


def read_nth(reader: ReadJob, h: Hole, wire: Any, at: At, rel: At, env: Env) -> None:
    """Read `$nth`, the place of the object in its list: nothing to carry while it is right."""
    place = next((k for k in reversed(env.base) if isinstance(k, int)), 0)
    if wire is not ABSENT:
        reader.mark_redundant(at, "it counts its place", h.pos)
    if not same(wire, place):
        env.spell(rel, wire, place)
        if wire is not ABSENT and wire is not None:
            reason = f"{show(wire)} stands at place {place}"
            env.notes.append(("reworded", "changed", at, h.pos, reason))


def default_of(h: Hole) -> Any:
    """Return what stands for nothing in a hole with a default."""
    return [] if h.mode == "each" or h.value == [] else {} if h.value == {} else h.value


def read_nothing(reader: ReadJob, h: Hole, wire: Any, at: At, rel: At, env: Env) -> None:
    """Read absence or null by the mark of the hole."""
    if h.mark is None:
        said = "is missing" if wire is ABSENT else "is null"
        raise Misfit(f"`{at[-1] if at else 'the value'}` {said}", at, h.pos)
    written = h.value if h.mark in ("default", "fill") else ABSENT
    if h.path in env.fields and h in holes_written_before(env.case):  # another hole found it
        env.mark(rel, "none")
    elif h.mark == "default":
        env.put(h.path, default_of(h), None)
        if reader.recorder is not None:
            reader.recorder.defaults[env.base, h.path] = h.pos
    if reader.recorder is not None and wire is None:
        reader.recorder.mark_redundant(at, "it is empty", h.pos)
        reader.recorder.nothing(env, h.path, at)
    if h.mark == "made":
        entry = env.spelled.setdefault(pointer(rel), {})
        entry["made"] = h.path
        if wire is None:
            entry["as"] = None
    else:
        spell_nothing(env.spelled, pointer(rel), wire, written)


def read_copy(reader: ReadJob, h: Hole, wire: Any, at: At, rel: At, env: Env) -> None:
    """Compare a repeated value with the one that counts; another is kept for home, or unfit."""
    if wire is not ABSENT and wire is not None:
        scratch = Env(env.base, env.case, False)
        try:
            counts = env.fields.get(h.path, (ABSENT,))[0]
            if same(read_value(reader, h, wire, at, rel, scratch), counts):
                reader.mark_redundant(at, "it repeats another value", h.pos)
                return
        except Misfit:
            pass
    reason = f"{show(wire)} stands where the value is repeated, and is another one"
    if h.mark == "same":
        raise Misfit(reason, at, h.pos)
    if wire is not ABSENT and wire is not None:
        env.keep(at, wire)
        code = "inconsistent" if TIMES.keys().isdisjoint(h.lenses) else "retimed"
        env.notes.append((code, "changed", at, h.pos, reason))
    env.spelled[pointer(rel)] = {"none": True, **({"as": None} if wire is None else {})}


def read_again(reader: ReadJob, h: Hole, wire: Any, at: At, rel: At, env: Env) -> bool:
    """Tell whether another hole found the field already: what stands here must be the same."""
    before, where = env.fields[h.path]
    if where is None or isinstance(before, list):  # nothing stood there, or lists add up
        return False
    if h.only_read:
        env.mark(rel, "old")
    read_copy(reader, h, wire, at, rel, env)
    return True


def read_repeated(reader: ReadJob, h: Hole, wire: Any, at: At, rel: At, env: Env) -> bool:
    """Tell whether holes before this one said such parts: then their texts stand here again."""
    before, _ = env.fields.get(h.path, ((), None))
    said = text_of(before, reader.dialect.kinds_of(h.named))
    if not said:
        return False
    if same(wire, said):
        env.mark(rel, "again")
        reader.mark_redundant(at, "it repeats another value", h.pos)
    else:
        env.keep(at, wire)
        reason = f"{show(wire)} stands where the parts are said again, and they say something else"
        env.notes.append(("inconsistent", "changed", at, h.pos, reason))
    return True


def text_of(parts: Any, kinds: Any) -> str:
    """Return the texts of the parts of some kinds as one."""
    return "".join(
        part["text"]
        for part in parts
        if isinstance(part, dict)
        and part.get("type") in kinds
        and isinstance(part.get("text"), str)
    )


def read_value(reader: ReadJob, h: Hole, wire: Any, at: At, rel: At, env: Env) -> Any:
    """Read a present wire value back through lenses and shape; raises Misfit."""
    if h.shape == "conversation":
        if reader.dialect.in_text(h) is None:
            return conversation.read_talk(reader, h, wire, at, rel, env)
        said = read_codec(reader, "json", h, wire, at, rel, env)
        env.spelled[pointer(rel)] = {"text": wire}
        return conversation.read_talk(reader, h, said, (*at, IN_TEXT), rel, env)
    value, said = wire, False
    for lens in reversed(h.lenses):
        if is_guard(lens):
            said = said or lens not in UNTYPED
            if not guard(lens, value):
                raise Misfit(f"expected {lens.replace('+', ' or ')}, got {show(value)}", at, h.pos)
        elif lens in ("bare", "blocks", "joined"):
            parts = read_texts(reader, lens, h, value, at, rel, env)
            elements.remember_source(reader, h, parts, env, at[-1] if at[-1:] != rel[-1:] else None)
            return parts
        else:
            value = read_codec(reader, lens, h, value, at, rel, env)
    if h.mode == "each":
        if "single" in h.lenses:
            parts, _ = reader.element(h.shape, value, at, (env.lenient,))
        else:
            alone = "listed" in h.lenses and value is not wire
            form = reader.dialect.in_text(h)
            if form is not None:
                parts = elements.read_list(reader, h, value, (*at, IN_TEXT), rel, env)
                if form == "json" or reader.dialect.lists[form].json:
                    env.spelled[pointer(rel)] = {"text": wire} if value else {"as": wire}
            else:
                parts = elements.read_list(reader, h, value, at, rel, env, alone)
        elements.remember_source(reader, h, parts, env)
        return parts
    if h.mode == "as":
        try:
            return reader.shape(h.shape, value, at)
        except Misfit:
            return reader.shape(h.shape, value, at, lenient=True)
    if h.mode == "entries":
        return elements.read_entries(reader, h, value, at, rel, env)
    kind = field_type(env.case.shape, h.path)
    expected = {"opaque": "string"}.get(kind, kind)
    if not said and not guard(expected, value):
        raise Misfit(f"expected {expected}, got {show(wire)}", at, h.pos)
    return value


def read_codec(reader: ReadJob, lens: str, h: Hole, value: Any, at: At, rel: At, env: Env) -> Any:
    """Read through one lens."""
    if lens == "json":
        if not isinstance(value, str):
            raise Misfit(f"expected JSON text, got {show(value)}", at, h.pos)
        blank = (h.path.endswith("arguments") or h.many) and not value.strip()
        if not blank and h.path == "value" and reader.options.get("json_results") == "text":
            raise Misfit("JSON text is kept as text", at, h.pos)
        parsed = ([] if h.many else {}) if blank else parse_json(value)
        if any(is_guard(g) and not guard(g, parsed) for g in h.lenses):
            raise Misfit("the text is JSON of another type", at, h.pos)
        if h.many:
            return parsed  # who reads the list remembers the text
        if f"{h.path}_json" in DERIVED:
            env.put(f"{h.path}_json", value, None)
        elif (written := stringify(parsed)) != value:
            env.spell(rel, value, written)
        reader.trail.flat(parsed)
        return parsed
    if lens == "plain":
        if not isinstance(value, list):
            return value
        text = plain_text(reader, value[0]) if len(value) == 1 else None
        if text is None:
            raise Misfit("expected one plain text", at, h.pos)
        env.mark(rel, "list")
        return text
    alone = ("again", "pieces", "by-key", "single")  # they say nothing of the value itself
    if lens in alone or (lens == "listed" and isinstance(value, list)):
        return value
    if lens == "listed":
        listed = [value]
        env.spell(rel, value, listed)
        reader.trail.flat(listed)
        return listed
    if lens in KEPT_TIMES:
        return _read_time(lens, h, value, at, rel, env)
    if lens in READS:
        return _with_place(READS[lens], value, at, h)
    if lens in reader.dialect.lists:
        return _with_place(reader.dialect.lists[lens].elements, value, at, h)
    return read_words(reader, lens, h, value, at, rel, env)


def _read_time(lens: str, h: Hole, value: Any, at: At, rel: At, env: Env) -> Any:
    """Read a time, and remember how it was spelled."""
    time = _with_place(READS[lens], value, at, h)
    written = _with_place(WRITES[lens], time, at, h)
    if not same(value, written):
        env.spell(rel, value, written)
    return time


def _with_place(read: Callable[[Any], Any], value: Any, at: At, h: Hole) -> Any:
    """Return what a codec makes of a value; a Misfit has its place."""
    try:
        return read(value)
    except Misfit as misfit:
        misfit.__traceback__ = None
        raise Misfit(misfit.reason, at, h.pos) from None


def plain_text(reader: ReadJob, item: Any) -> Any:
    """Return the text of an element that is the dialect's own text and nothing else, or None."""
    try:
        part = reader.shape("text", item, ())
    except (Misfit, KeyError):
        return None
    return part["text"] if isinstance(part, dict) and part.keys() == {"type", "text"} else None


def read_words(reader: ReadJob, lens: str, h: Hole, value: Any, at: At, rel: At, env: Env) -> Any:
    """Read through a table or a schema dialect."""
    pair: Any = reader.dialect.tables.get(lens) or reader.dialect.schemas.get(lens)
    read, exact = _with_place(pair.read, value, at, h)
    if lens in reader.dialect.tables:
        written = _with_place(pair.write, read, at, h)[0]
        if not same(written, value):
            env.spell(rel, value, written)
        if not exact:
            reason = f"`{value}` is read as `{read}`"
            env.notes.append(("reworded", "changed", at, h.pos, reason))
    elif pair.two_way or not exact:
        written = _with_place(pair.spelled_here, read, at, h)
        if not same(written, value):
            env.spell(rel, value, written)
    if "json" in h.lenses:
        reader.trail.flat(read)
    elif lens in reader.dialect.schemas and not exact:
        pair.trace(value, read, at, reader.trail)
    return read


def read_texts(
    reader: ReadJob, lens: str, h: Hole, value: Any, at: At, rel: At, env: Env
) -> list[Any]:
    """Read `bare` or `joined`: a text that stands for a list of one text block."""
    nothing: Any = [] if lens == "blocks" else ""
    empty = h.value if h.mark in ("fill", "default") else nothing if h.mark is None else ABSENT
    if not isinstance(value, str | list):
        raise Misfit(f"expected a text, got {show(value)}", at, h.pos)
    if not value:
        if not same(empty, value):
            env.spell(rel, value, empty)
        return []
    if isinstance(value, str):
        if lens == "blocks":
            env.mark(rel, "bare")
        part = {"type": reader.dialect.plain_kind(h.named), "text": value}
        reader.trail.put(part, None, at)
        reader.trail.put(part, "text", at)
        return [part]
    parts = elements.read_list(reader, h, value, at, rel, env)
    if lens == "joined" or (lens == "bare" and elements.is_one_text(parts)):
        env.mark(rel, "list")
    return parts
