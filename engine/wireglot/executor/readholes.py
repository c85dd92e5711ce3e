"""Writes how a wire value that is there is read through the codecs and the shape of its hole."""

from __future__ import annotations

from typing import Any

from ..interpreter.elements import rivalled
from ..ir import DERIVED
from ..language.lenses import KEPT_TIMES, READS, UNTYPED, is_guard, same
from ..language.picture import ABSENT, Hole
from .code import Unwritten, begins
from .holetests import test_of
from .lines import negated
from .readtext import CaseText, Rel, Slot

PASSED = frozenset(("home", "again", "pieces", "by-key"))  # what reads as it stands
THERE = frozenset("string object list bool integer number".split())  # what nothing and null are not


def other(kinds: str, v: str) -> str:
    """Return a test that a value is not of one of some types, as `object+list`."""
    quick = f"{v}.__class__ is not int and "  # mostly a number is one
    return " and ".join(
        (quick if kind in ("integer", "number") else "") + negated(test_of(kind, v))
        for kind in kinds.split("+")
    )


def goes_through(h: Hole) -> bool:
    """Tell whether a value is taken as it stands, and guards alone look at it."""
    return h.mode is None and all(lens in PASSED or is_guard(lens) for lens in h.lenses)


def kinds(t: CaseText, h: Hole) -> list[str]:
    """Return the guards that look at such a value, and the type of the field where none says it."""
    guards = [lens for lens in reversed(h.lenses) if lens not in PASSED]
    kind = {"opaque": "string"}.get(t.kind(h), t.kind(h))
    return guards if kind == "any" or not UNTYPED.issuperset(guards) else [*guards, kind]


def taken(t: CaseText, h: Hole, v: str, var: str, rel: Rel, below: bool) -> None:
    """Write how the value in `v` is read into `var`; `below`: it is not the object itself."""
    if t.dialect.in_text(h) is not None:
        raise Unwritten
    if h.shape == "conversation":
        _talk(t, h, v, var, rel)
        return
    typed, single, listed, parsed = False, False, False, False
    for lens in reversed(h.lenses):
        if lens in PASSED:
            continue
        if (single or listed) and not (is_guard(lens) and "list" in lens.split("+")):
            raise Unwritten  # it takes the list of one
        if is_guard(lens):
            typed = typed or lens not in UNTYPED
            if not (single or listed or parsed):
                t.unless(other(lens, v), h, below)
        elif lens in ("bare", "blocks", "joined"):
            _texts(t, h, lens, v, var, rel, below)
            return
        elif lens == "single":
            single = True
        elif lens == "listed":
            listed = True
        else:
            through(t, h, lens, v, var, rel, below)
            v, parsed = var, parsed or lens == "json"  # which looks at the guards, too
    if (single and h.mode != "each") or (listed and h.mode in ("as", "entries")):
        raise Unwritten
    if h.mode == "each":
        _each(t, h, v, var, rel, below, single, listed)
    elif h.mode == "as":
        _as(t, h, v, var, rel, below)
    elif h.mode == "entries":
        t.nested = True
        call = f"entries(x, {t.reads.choice(h.named)}, {v}, {t.at(rel)})"
        t.tried(var, call, h, below)
    else:
        if listed:
            t.line(f"{var} = {v}")
            with t.t.under(f"if {var}.__class__ is not list:"):
                t.line(f"{var} = [{v}]" if v != var else f"{var} = [{var}]")
                t.remembers(f"spell(sp, {t.pointer(rel)}, {var}[0], {var})")
                t.line(f"x.late(({var}, None, None, ()))")  # its element has no place of its own
            v = var
        kind = {"opaque": "string"}.get(t.kind(h), t.kind(h))
        if not typed and kind != "any":
            t.unless(other(kind, v), h, below)
        if v != var:
            t.line(f"{var} = {v}")


def through(t: CaseText, h: Hole, lens: str, v: str, var: str, rel: Rel, below: bool) -> None:
    """Write how a value is read through one codec."""
    place = t.pointer(rel)
    if lens == "json":
        _json(t, h, v, var, rel, below)
    elif lens == "plain":
        if v != var:
            t.line(f"{var} = {v}")
        with t.t.under(f"if {var}.__class__ is list:"):
            t.line(f"{var} = x.plain({var}[0]) if len({var}) == 1 else None", h.pos)
            t.unless(f"{var} is None", h, below)
            t.remembers(f"marked(sp, {place}, 'list')")
    elif lens in KEPT_TIMES:
        call = f"time({lens!r}, {v}, {t.track})"
        whole = f"{v} if {v}.__class__ is int else " if lens == "seconds" else ""
        t.tried(var, whole + call, h, below)
    elif lens in READS:
        t.tried(var, f"tried({READS[lens].__name__}, {v})", h, below, False)
    elif lens in t.dialect.tables:
        table = t.dialect.tables[lens]
        source = v
        if source == var:
            t.line(f"wire = {v}")
            source = "wire"
        usual = {w: i for w, i in table.to_ir.items() if isinstance(w, str) and i is not None}
        words = t.value(usual) if usual else None
        found = f"{words}.get({source}) if {source}.__class__ is str else None"
        t.line(f"{var} = {found if words else None}", h.pos)
        with t.t.under(f"if {var} is None:"):
            t.tried(var, f"word({t.value(table)}, {source}, {t.track})", h, below)
    else:
        pair = t.dialect.schemas[lens]
        in_json = "json" in h.lenses  # by a text: nothing within has a place
        at = None if in_json else t.at(rel)
        t.tried(var, f"schema(x, {t.value(pair)}, {v}, {at})", h, below)
        if in_json:
            t.line(f"x.late(({var}, None, None, ()))")


def _json(t: CaseText, h: Hole, v: str, var: str, rel: Rel, below: bool) -> None:
    t.unless(f"{v}.__class__ is not str", h, below)
    blank = h.path.endswith("arguments")
    if h.path == "value":
        t.unless("x.options.get('json_results') == 'text'", h, below)
    signs = begins(h)
    if signs and not blank:  # most texts are none, and to find that out by parsing is slow
        t.unless(f"{v}.lstrip()[:1] not in {signs!r}", h, below)
    text = t.name(f"{h.path}_json")
    t.line(f"{text} = {v}")
    read = f"tried(parse_json, {text})"
    t.tried(var, f"{read} if {text}.strip() else {{}}" if blank else read, h, below, False)
    for lens in h.lenses:
        if is_guard(lens) and lens != "home":
            t.unless(other(lens, var), h, below)
    if f"{h.path}_json" in DERIVED:
        t.slots.append(Slot(f"{h.path}_json", text, None, h.mark is None))
        if h.mark is not None:
            t.absent.append(text)
    elif t.track:
        t.line(f"written = stringify({var})")
        t.line(f"if written != {text}: sp = spell(sp, {t.pointer(rel)}, {text}, written)")
    kinds = (
        "" if "object" in h.lenses else f"if {var}.__class__ is dict or {var}.__class__ is list: "
    )
    t.line(f"{kinds}x.late(({var}, None, None, ()))")


def _texts(t: CaseText, h: Hole, lens: str, v: str, var: str, rel: Rel, below: bool) -> None:
    """Write how a text is read that stands for a list of one text block."""
    place, at = t.pointer(rel), t.at(rel)
    nothing: Any = [] if lens == "blocks" else ""
    empty = h.value if h.mark in ("fill", "default") else nothing if h.mark is None else ABSENT
    kind = t.dialect.plain_kind(h.named)
    source = _apart(t, h, v, var)
    with t.t.under(f"if {source}.__class__ is str:"):
        t.line(f"{var} = text_part(x, {kind!r}, {source}, {at}) if {source} else []", h.pos)
        if lens == "blocks" and t.track:
            t.line(f"if {source}: sp = marked(sp, {place}, 'bare')")
    with t.t.under("else:"):
        t.unless(f"{source}.__class__ is not list", h, below)
        t.nested = True
        made = f"{t.reads.each(h.named)}(x, {source}, {at}) if {source} else []"
        t.tried(var, made, h, below, False)
        if lens == "joined" and t.track:
            t.line(f"if {source}: sp = marked(sp, {place}, 'list')")
        elif lens == "bare" and t.track:
            t.line(f"if {source} and is_one_text({var}): sp = marked(sp, {place}, 'list')")
    odd = [kind for kind, none in (("str", ""), ("list", [])) if not same(empty, none)]
    if odd and t.track:
        which = f" and {source}.__class__ is {odd[0]}" if len(odd) == 1 else ""
        t.line(f"if not {source}{which}: sp = spell(sp, {place}, {source}, {t.value(empty)})")
    _aside(t, h, var, True, rel)


def _aside(t: CaseText, h: Hole, var: str, text: bool, rel: Rel) -> None:
    """Write what parts remember of the hole that they were read by."""
    if t.mode != "home":
        return
    key = getattr(rel[-1], "var", None) if rel and text else None
    if key is not None and "again" in h.lenses:
        t.line(f"if {key} != {rel[-1]!r}: remember_key(x, {var}, {key})")
    both = rivalled(t.dialect, t.case.lists.get(h.path, [h]), h)
    if both is not None:
        t.line(f"if {var}: remember_shape(x, {var}, {h.shape!r}, {both})")


def _each(
    t: CaseText, h: Hole, v: str, var: str, rel: Rel, below: bool, single: bool, listed: bool
) -> None:
    """Write how a list is read, element by element."""
    at = t.at(rel)
    t.nested = True
    if single:
        t.line(f"{var} = {t.reads.choice(h.named)}(x, {v}, {at}, L)", h.pos)
        if any(shape.groups for shape in t.dialect.members(h.named)):
            t.line(f"if {var} is NO: return {t.odd}")  # the walk knows several parts in one
        t.unless(f"{var} is NO", h, below)
        t.line(f"{var} = [{var}]")
        _aside(t, h, var, False, rel)
        return
    if listed:
        v = _apart(t, h, v, var)
        with t.t.under(f"if {v}.__class__ is not list:"):
            if "by-key" in h.lenses:
                t.line(f"if has_several_keys({v}): return {t.odd}", h.pos)
            t.line(f"{var} = {t.reads.choice(h.named)}(x, {v}, {at}, False)", h.pos)
            t.line(f"if {var} is NO: return {t.odd}")
            t.line(f"{var} = [{var}]")
            t.remembers(f"spell(sp, {t.pointer(rel)}, {v}, [{v}])")
        with t.t.under("else:"):
            _list(t, h, v, var, rel, below)
    else:
        t.unless(f"{v}.__class__ is not list", h, below)
        _list(t, h, v, var, rel, below)
    _aside(t, h, var, False, rel)


def _list(t: CaseText, h: Hole, v: str, var: str, rel: Rel, below: bool) -> None:
    """Write how what is surely a list is read, element by element."""
    if "by-key" in h.lenses:
        # The walk takes them apart.
        t.line(f"if any(map(has_several_keys, {v})): return {t.odd}", h.pos)
    if h.mark is not None and h.mark != "default" and t.track:
        written = t.value(h.value if h.mark == "fill" else ABSENT)
        t.line(f"if not {v}: sp = spell(sp, {t.pointer(rel)}, {v}, {written})")
    t.tried(var, f"{t.reads.each(h.named)}(x, {v}, {t.at(rel)})", h, below, False)


def _as(t: CaseText, h: Hole, v: str, var: str, rel: Rel, below: bool) -> None:
    """Write how a value is read by a shape."""
    at, shape = t.at(rel), h.named
    t.nested = True
    source = _apart(t, h, v, var)
    call = t.reads.choice(shape)
    t.line(f"{var} = {call}(x, {source}, {at}, False)", h.pos)
    t.line(f"if {var} is NO: {var} = {call}(x, {source}, {at}, True)")
    t.unless(f"{var} is NO", h, below)


def _apart(t: CaseText, h: Hole, v: str, var: str) -> str:
    """Return a variable of a value that is not the one of what is read."""
    if v != var:
        return v
    source = t.name(f"w_{h.path}")
    t.line(f"{source} = {v}")
    return source


def _talk(t: CaseText, h: Hole, v: str, var: str, rel: Rel) -> None:
    """Write how a conversation is read."""
    t.nested = True
    if "listed" in h.lenses:
        t.line(f"if {v}.__class__ is dict: return {t.odd}", h.pos)
    if "bare" not in h.lenses:
        t.line(f"{var} = x.messages({v}, {t.at(rel)})", h.pos)
        t.line(f"if {var} is NO: return {t.no}")
        return
    source = _apart(t, h, v, var)
    with t.t.under(f"if {source}.__class__ is str:"):
        t.line(f"{var} = user_says(x, {source}, {t.at(rel)})", h.pos)
    with t.t.under("else:"):
        t.line(f"{var} = x.messages({source}, {t.at(rel)})", h.pos)
        t.line(f"if {var} is NO: return {t.no}")
    if t.track:
        lone = f"{source}.__class__ is list and is_user_text({var})"
        t.line(f"if {lone}: sp = marked(sp, {t.pointer(rel)}, 'list')")
