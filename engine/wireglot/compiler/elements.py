"""Code that reads one element of a message (a part, a result) and hands it to the target."""

from __future__ import annotations

from typing import Any

from ..language.measure import disjoint, takes
from ..language.model import Case, Shape
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture
from .looks import closed_key, literal, result_kind, spreads, tag, usual
from .symbols import Cannot, Code, Const, NoFit, Sym, Val, needed, odd_unless
from .symread import Reading
from .target import PairJob, Target

HOT = ("tool_call", "tool_result", "text")


def element(
    pair: PairJob,
    code: Code,
    name: str,
    var: str,
    sinks: list[Any],
    answers: Any,
    place: str | None,
) -> None:
    """Write the dispatch over the kinds of an element."""
    code(f"if {var}.__class__ is not dict: raise ODD")
    found = pair.source.cases_of(name)
    by_word: dict[str, list[tuple[Shape, Case]]] = {}
    by_key: dict[str, list[tuple[Shape, Case]]] = {}
    key = tag(found)
    for shape, case in found:
        if not isinstance(case.wire, Fields) or shape.groups:
            continue
        word = literal(case.wire, key) if key else None
        if word is not None:
            by_word.setdefault(word, []).append((shape, case))
        else:
            wanted = [n[0] for n, c in case.wire.entries if needed(c)]
            if wanted:
                by_key.setdefault(wanted[0], []).append((shape, case))
    head = "if"
    if by_word:
        code(f"k = {var}[{key!r}]")
    order = sorted(by_word, key=lambda w: not any(s.kind in HOT for s, _ in by_word[w]))
    for word in order:
        head = branch(
            pair,
            code,
            f"{head} k == {word!r}:",
            by_word[word],
            var,
            key,
            sinks,
            answers,
            head,
            place,
        )
    for needed_key in sorted(by_key, key=lambda w: not any(s.kind in HOT for s, _ in by_key[w])):
        head = branch(
            pair,
            code,
            f"{head} {needed_key!r} in {var}:",
            by_key[needed_key],
            var,
            None,
            sinks,
            answers,
            head,
            place,
        )
    if head == "if":
        code("raise ODD")
    else:
        with code.block("else:"):
            code("raise ODD")


def branch(
    pair: PairJob,
    code: Code,
    line: str,
    cases: list[tuple[Shape, Case]],
    var: str,
    key: str | None,
    sinks: list[Any],
    answers: Any,
    head: str,
    place: str | None,
) -> str:
    piece = code.fork()
    piece.depth += 1
    hot = [pair for pair in cases if pair[0].kind in HOT] or cases
    used = sinks
    if hot[0][0].kind == "tool_result":
        if answers is None:
            return head
        used = [answers.sink(code, "t")]
        pair.behind(piece)
    try:
        usual_case(pair, piece, hot, var, key, used, place)
    except (Cannot, NoFit):
        return head
    code(line)
    code.join(piece)
    return "elif"


def usual_case(
    pair: PairJob,
    code: Code,
    cases: list[tuple[Shape, Case]],
    var: str,
    key: str | None,
    sinks: list[Any],
    place: str | None,
) -> None:
    """Read an element by its usual case and write it; results have a case for each kind."""
    shape = cases[0][0]
    if shape.kind == "tool_result":
        result(pair, code, [c for s, c in cases if s is shape], shape, var, key, sinks, place)
        return
    chosen = next((c for _, c in cases if usual(c) and not c.home), None)
    if chosen is None:
        raise Cannot
    owner = next(s for s, c in cases if c is chosen)
    reading = pair.reading(code, chosen, key, place)
    assert isinstance(chosen.wire, Fields)
    reading.fields(chosen.wire, var, checked=True)
    if reading.lists:
        raise Cannot
    for _, other in cases:
        if other is chosen:
            break
        exclude(pair, code, shape.name, other.wire, chosen.wire, reading, var)
    obj = reading.build(owner)
    readable(pair, code, obj.get("source"))
    if owner.kind == "tool_call":
        code(f"if {obj['id'].code} in new: raise BAIL")
        code(f"new[{obj['id'].code}] = {obj['name'].code}")
    for sink in sinks:
        sink(code, obj)


def readable(pair: PairJob, code: Code, source: Any) -> None:
    """Raise ODD for media that do not go as they are: odd base64, addresses of other schemes."""
    target = getattr(pair, "target", None)  # none where it is only read
    if target is None or not isinstance(source, dict):
        return
    schemes = target.bounds.get("url", {}).get("schemes")
    for key, value in source.items():
        if key == "data":
            code(f"if not plain64({value.code}): raise ODD")
        elif key == "url" and schemes:
            starts = code.const(tuple(f"{scheme}:" for scheme in schemes), "SCHEMES")
            code(f"if not {value.code}.startswith({starts}): raise ODD")


def exclude(
    pair: PairJob,
    code: Code,
    shape: str,
    rival: Picture,
    usual: Picture,
    reading: Reading,
    var: str,
) -> None:
    """Raise ODD where a narrower case would have read this."""
    if not isinstance(rival, Fields) or not isinstance(usual, Fields):
        return
    mine = {n[0]: c for n, c in usual.entries}
    for (key, *_), child in rival.entries:
        own = mine.get(key)
        if isinstance(child, Literal) and isinstance(own, Literal):
            if not set(map(repr, child.values)) & set(map(repr, own.values)):
                return
        if own is None and needed(child):
            return  # the usual case was read without this key
        if isinstance(child, Literal) and isinstance(own, Literal) and own.values[0] is ABSENT:
            if child.values[0] is not ABSENT:
                return
        if isinstance(child, Hole) and child.mark is None and isinstance(own, Hole):
            if disjoint({"": takes(child, shape)}, {"": takes(own, shape)}):
                return  # what that takes is odd here
    for (key, *_), child in rival.entries:
        own = mine.get(key)
        if isinstance(child, Fields) and isinstance(own, Hole):
            wanted = [n[0] for n, c in child.entries if needed(c)]
            value = reading.env.get(own.path)
            if wanted and isinstance(value, Val):
                code(f"if {wanted[0]!r} in {value.code}: raise ODD")
                return
        if isinstance(child, Fields) and isinstance(own, Fields):
            exclude(pair, code, shape, child, own, reading, var)
            return
    raise Cannot


def result(
    pair: PairJob,
    code: Code,
    cases: list[Case],
    shape: Shape,
    var: str,
    key: str | None,
    sinks: list[Any],
    place: str | None,
) -> None:
    """Read a tool result: text, or the JSON of data, or an object."""
    text = next((c for c in cases if result_kind(c) == "text"), None)
    data = next((c for c in cases if result_kind(c) == "data"), None)
    whole = next((c for c in cases if result_kind(c) == "data" and spreads(c.wire)), None)
    if text is None or data is None:
        raise Cannot
    base = whole or text
    reading = pair.reading(code, base, key, place)
    assert isinstance(base.wire, Fields)
    reading.fields(base.wire, var, checked=True)
    value = reading.env.pop("value")
    if reading.lists:
        raise Cannot
    common = reading.env

    def build(case: Case, fields: dict[str, Sym]) -> dict[str, Sym]:
        one = pair.reading(code, case)
        one.env, one.spares = {**common, **fields}, reading.spares
        obj = one.build(shape)
        pair.named(obj)
        return obj

    pair.answered(code, common)
    if whole is not None:
        object_result(pair, code, cases, value, build, sinks)
        return
    loaded = code.name("d")
    as_text = code.fork()
    as_data = code.fork()
    for sink in sinks:
        sink(as_text, build(text, {"value": Val(value.code, "str", plain=True)}))
        data_value = Val(loaded, "dict", text=value.code)
        sink(as_data, build(data, {"value": data_value}))
    if as_text.lines == as_data.lines:
        code.join(as_text)
        return
    code(f"{loaded} = None")
    with code.block(f"if {value.code}.lstrip()[:1] in JSON_STARTS and {value.code}:"):
        code(f"try: {loaded} = loads({value.code})")
        code("except ValueError: pass")
    for cls in ("dict", "list"):
        with code.block(f"{'if' if cls == 'dict' else 'elif'} {loaded}.__class__ is {cls}:"):
            for sink in sinks:
                sink(code, build(data, {"value": Val(loaded, cls, text=value.code)}))
    with code.block("else:"):
        for sink in sinks:
            sink(code, build(text, {"value": Val(value.code, "str", plain=True)}))


def object_result(
    pair: PairJob, code: Code, cases: list[Case], value: Val, build: Any, sinks: list[Any]
) -> None:
    """Read a result that is an object: one closed form is text, others are left, else data."""
    text = next(c for c in cases if result_kind(c) == "text")
    whole = next(c for c in cases if result_kind(c) == "data" and spreads(c.wire))
    inner = closed_key(text.wire)
    if inner is None:
        raise Cannot
    x = value.code
    with code.block(f"if len({x}) == 1:"):
        for case in cases:
            closed = closed_key(case.wire)
            if closed is not None and closed != inner:
                code(f"if {closed!r} in {x}: raise ODD")
        with code.block(f"if {inner!r} in {x}:"):
            piece = code.name("o")
            code(f"{piece} = {x}[{inner!r}]")
            odd_unless(code, "str", piece)
            for sink in sinks:
                sink(code, build(text, {"value": Val(piece, "str")}))
        with code.block("else:"):
            for sink in sinks:
                sink(code, build(whole, {"value": Val(x, "dict", raw=True)}))
    with code.block("else:"):
        for sink in sinks:
            sink(code, build(whole, {"value": Val(x, "dict", raw=True)}))


def listed(
    pair: PairJob,
    code: Code,
    hole: Hole,
    var: str,
    role: str,
    target: Target,
    accs: list[str],
    answers: Target | None,
    one: bool,
    place: str | None = None,
) -> None:
    """Write the code that reads one list of a message into the accumulators."""
    inner = place and f"{place}, nth"
    if hole.shape is None or hole.lenses not in ((), ("bare",), ("single",), ("listed",)):
        raise Cannot
    sinks = [target.sink(code, *accs)]
    bare = "bare" in hole.lenses
    if bare and pair.source.plain_kind(hole.shape) != "text":
        raise Cannot
    text = {"type": Const("text"), "text": Val(var, "str")}
    head = "if"
    if bare:
        with code.block(f"if {var}.__class__ is str:"):
            pair.said(code, var)
            if one:
                code(f"{accs[0]} = {var}")
            else:
                sinks[0](code, text)
        head = "elif"
    if hole.mark in ("fill", "optional", "refused", "read-only"):
        code(f"{head} {var} is None: pass")
        head = "elif"
    if hole.dated or "single" in hole.lenses:
        with code.block("else:" if head == "elif" else f"if {var} is not None:"):
            code("raise ODD")
        return
    with code.block(f"{head} {var}.__class__ is list:"):
        code(f"if not {var}: raise ODD")
        with code.block(f"for nth, e in enumerate({var}):" if inner else f"for e in {var}:"):
            element(pair, code, hole.shape, "e", sinks, answers, inner)
    with code.block("else:"):
        code("raise ODD")
