"""Code that appends what was made of a message to the target's list, and books its calls."""

from __future__ import annotations

from ..language.picture import ABSENT, Fields, Hole, Literal, holes
from ..language.source import Pos
from .looks import plain_block, plain_test
from .symbols import Cannot, Code, Const, Sym
from .target import PairJob, Target


def commit(
    pair: PairJob,
    code: Code,
    role: str,
    target: Target,
    fields: dict[str, Sym],
    accs: list[str],
    plain: bool = False,
) -> None:
    """Write the code that appends what was made, books the calls, and notes what was lost.

    `plain`: what was made is one text, of which there is nothing to book.
    """
    assert target.group is not None and target.case is not None
    for value in fields.values():
        if not value.maybe:
            raise Cannot
    if not pair.alone and not plain:
        code(f"if not ({' or '.join(accs)}): raise ODD")
    if pair.talk.per == "run" or target.group.spliced:
        unplaced(pair, code, fields, target)
    if role != "tool":
        # Calls of an earlier message that were never answered are noted by the interpreter.
        code("if open_calls: raise BAIL")
    if plain:
        code("open_calls = None")
    elif role == "assistant":
        with code.block("if new:"):
            code("size = len(calls); calls.update(new)")
            code("if len(calls) != size + len(new) or '' in new: raise BAIL")
            if pair.sorted:
                code("open_calls = dict(zip(new, NUMBERS)); last = 0")
            else:
                code("open_calls = new")
        with code.block("else:"):
            code("open_calls = None")
    elif role == "tool":
        if pair.alone:
            code(f"del open_calls[{pair.answer}]")
        else:
            code("for i in gone: del open_calls[i]")
        if pair.sorted:
            code("last = here")
    else:
        code("if new: raise BAIL")
        code("open_calls = None")
    wire = target.case.wire
    if target.group.spliced:
        code(f"out += {accs[0]}")
    elif pair.talk.per == "run":
        assert isinstance(wire, Fields)
        number = pair.groups[id(target.group)]
        join(pair, code, role, target, wire, number, accs[0], plain and target.bare)
    else:
        assert isinstance(wire, Fields)
        whole(pair, code, wire, target, accs, fields, plain)
    # All that may be odd is behind; from here on nothing has to be undone.
    code(f"if lost: state.lose(lost, {', '.join(map(repr, pair.prefix))}); lost = []")


def whole(
    pair: PairJob,
    code: Code,
    wire: Fields,
    target: Target,
    accs: list[str],
    fields: dict[str, Sym],
    plain: bool = False,
) -> None:
    """Write the code that makes one wire message of one IR message."""
    if wire.spread:
        raise Cannot
    items: list[str] = []
    later: list[str] = []
    taken: set[str] = set()
    for (key, *_), child in wire.entries:
        if isinstance(child, Literal):
            if child.values[0] is not ABSENT:
                items.append(f"{key!r}: {child.values[0]!r}")
        elif isinstance(child, Hole) and child.mode == "each" and child in target.holes:
            acc = accs[target.holes.index(child)]
            if "bare" in child.lenses and not plain:
                bare(pair, code, child, acc)
            elif set(child.lenses) - {"bare"}:
                raise Cannot
            if acc == "None":
                if child.mark == "fill":
                    items.append(f"{key!r}: {child.value!r}")
            elif child.mark == "optional":
                there = f"{acc} != []" if "bare" in child.lenses else acc  # an empty text is one
                later.append(f"if {there}: message[{key!r}] = {acc}")
            elif child.mark == "fill":
                items.append(f"{key!r}: {child.value!r} if {acc} == [] else {acc}")
            else:
                items.append(f"{key!r}: {acc}")
        elif isinstance(child, Hole) and child.path in fields:
            code_of = fields[child.path].code
            taken.add(child.path)
            later.append(f"if {code_of} is not None: message[{key!r}] = {code_of}")
        elif isinstance(child, Hole) and child.idle:
            continue
        else:
            raise Cannot
    unplaced(pair, code, {k: v for k, v in fields.items() if k not in taken}, target)
    code("message = {" + ", ".join(items) + "}")
    for line in later:
        code(line)
    code("out.append(message)")


def unplaced(pair: PairJob, code: Code, fields: dict[str, Sym], target: Target) -> None:
    """Write the notes of fields of a message that have no place in the target."""
    for path, value in fields.items():
        pair.lose(code, {"type": Const("message")}, path, value, rule_of(pair, target), {})


def rule_of(pair: PairJob, target: Target) -> Pos:
    """Return where notes of what a message holds beside its parts point to."""
    if target.case is None or target.group is None or target.case.drop:
        raise Cannot
    return pair.talk.pos if target.group.spliced else target.case.pos


def bare(pair: PairJob, code: Code, hole: Hole, acc: str) -> None:
    """Write one plain text block as its text."""
    fixed, key = plain_block(pair.target, hole.shape)
    with code.block(f"if {acc}.__class__ is list and len({acc}) == 1:"):
        code(f"if {plain_test(fixed, f'{acc}[0]')}: {acc} = {acc}[0][{key!r}]")


def join(
    pair: PairJob,
    code: Code,
    role: str,
    target: Target,
    wire: Fields,
    number: int,
    acc: str,
    text: bool = False,
) -> None:
    """Write the code that joins neighbours of one skeleton into one wire message."""
    hole = target.holes[0]
    key = next((n[0] for n, c in wire.entries if c is hole), None)
    if key is None:  # the list stands deeper
        raise Cannot
    for _, child in wire.entries:
        left_out = isinstance(child, Hole) and child.mark in ("optional", "refused", "read-only")
        if not (child is hole or left_out or isinstance(child, Literal)):
            if not isinstance(child, Fields) or any(h.mark != "optional" for h in holes(child)):
                raise Cannot
    items = [
        f"{n[0]!r}: {c.values[0]!r}"
        for n, c in wire.entries
        if isinstance(c, Literal) and c.values[0] is not ABSENT
    ]
    if target.bare and not text and role != "tool":
        bare(pair, code, hole, acc)
    with code.block(f"if group == {number}:"):
        if role != "tool":
            code(f"if prev == {role!r}: state.joined(at, message)")
        elif pair.first == "tool_result":
            code("if mixed: raise BAIL")
        if target.bare:
            fixed, name = plain_block(pair.target, hole.shape)
            block = ", ".join(f"{k!r}: {v!r}" for k, v in fixed)
            block = "{" + (f"{block}, " if block else "") + f"{name!r}: %s" + "}"
            code(f"c = message[{key!r}]")
            code(f"if c.__class__ is str: c = message[{key!r}] = [{block % 'c'}]")
            if text:
                code(f"c.append({block % acc})")
            elif role == "tool":
                code(f"c += {acc}")
            else:
                code(f"if {acc}.__class__ is str: c.append({block % acc})")
                code(f"else: c += {acc}")
        else:
            code(f"message[{key!r}] += {acc}")
    with code.block("else:"):
        body = ", ".join([*items, f"{key!r}: {acc}"])
        code(f"message = {{{body}}}; out.append(message); group = {number}; mixed = False")
    code(f"prev = {role!r}")
    if role != "tool":
        code("mixed = True")


def recovered(pair: PairJob, code: Code) -> None:
    """Write the code that takes what the interpreter made of one message."""
    if pair.talk.per == "run":
        key = content_key(pair)
        with code.block("for g, role, w, head in recover(m, at, calls, open_calls, out, system):"):
            with code.block("if g == group:"):
                code("if role == prev != 'tool': state.joined(at, message)")
                if pair.first == "tool_result":
                    code("if role == 'tool' and mixed: raise BAIL")
                code(f"c = message[{key!r}]")
                code(f"if c.__class__ is str: c = message[{key!r}] = [state.block(c)]")
                code("c += w")
            with code.block("else:"):
                code(f"message = head; head[{key!r}] = state.bare(w); out.append(head)")
                code("group = g; mixed = False")
            code("prev = role")
            code("if role != 'tool': mixed = True")
    else:
        code("out += recover(m, at, calls, open_calls, out, system)")
    code("open_calls = state.open; last = state.last")


def content_key(pair: PairJob) -> str:
    wire = pair.talk.groups[0].cases[0].wire
    if not isinstance(wire, Fields):
        raise Cannot
    for names, child in wire.entries:
        if isinstance(child, Hole) and child.path == "parts":
            return names[0]
    raise Cannot
