"""Checks of cases beside each other: that reading can tell them apart, and lists are shared out.

A case is tried on what it writes itself: a value is made from its picture, and read by all the
cases that stand beside it. So a finding has a witness, and what is merely possible is not reported:
where some values of a case read as another one, writing sees it and says `ambiguous`.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations, product, starmap
from typing import Any

from ..ir import MEDIA
from ..language import picture as pic
from ..language.findings import Findings
from ..language.lenses import same, stringify
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text
from ..language.shape import Case, Shape
from ..language.source import Node
from ..language.words import UNITS
from ..loop import carry
from .casetrial import Pair, case_pos, case_title, read_by, sample
from .contexts import Contexts

LONGEST = 90  # of a witness that is shown
# What no trial of a value asks for; of shapes, unions and tables it asks for those that are named.
UNASKED = frozenset(
    "shapes unions tables conversation stream limits document wireglot dialect extends family see "
    "verified unsupported variants examples".split()
) | {*UNITS}
MOST = 60  # cases beside each other that are compared


def check(dialect: Dialect, contexts: Contexts, findings: Findings) -> None:
    """Report cases that cannot be told apart, and holes that share nothing out."""
    itself = {h.shape for v in contexts.all for h in pic.holes(v.case.wire) if h.path == "."}
    _check_turns(dialect, findings)
    units = {u: [(shape, case) for case in shape.cases] for u, shape in dialect.units.items()}
    names = (*dialect.shapes, *sorted(contexts.unions))
    asked = [node for word, node in dialect.node.entries.items() if word not in UNASKED]
    for group in ({name: dialect.cases_of(name) for name in names} | units).values():
        silent = partial(_is_silent, dialect, group, findings)
        if findings.cached((_is_silent, *group), silent):
            continue
        own = frozenset(shape.name for shape, _ in group) & itself
        look = partial(_check_group, dialect, group, findings, own)
        # Sets of variants, and children, share most of what values are read by.
        findings.cached(
            (_check_group, *group, own, *_reached(dialect, group, findings), *asked), look
        )
    for name, shape in dialect.shapes.items():
        if name in contexts.objects_of and len(shape.cases) > 1:
            _check_kinds(dialect, f"`{name}`", shape.cases, findings)
    _check_messages(dialect, findings)
    pictures = [view.case.wire for view in contexts.all]
    for view in contexts.all:
        _check_lists(dialect, view.case, findings)
    for event in dialect.stream.events if dialect.stream is not None else ():
        pictures += event.writes
    for picture in pictures:
        for p in findings.once(_spreads, picture):
            _check_keys(dialect, p, findings)


def _spreads(picture: Picture) -> list[Fields]:
    """Return the objects of a picture among whose keys those of shapes stand."""
    return [p for p in pic.nodes(picture) if isinstance(p, Fields) and p.spread]


def _reached(dialect: Dialect, group: list[Pair], findings: Findings) -> list[Any]:
    """Return the shapes and tables by which values of some cases are read, and those within."""
    waiting = list(dict.fromkeys(shape for shape, _ in group))
    seen, used, members = set(waiting), set[str](), dict[str, list[Any]]()
    if dialect.within:  # any text may hold some
        waiting += dialect.shapes.values()
    for shape in waiting:  # which grow
        shapes, lenses = findings.once(_named, shape)
        used |= lenses
        for name in shapes - members.keys():
            talk = name == "conversation"
            more = [*dialect.shapes.values()] if talk else dialect.members(name)
            members[name] = [dialect.node.get(name), *more] if talk else more
            waiting += [one for one in more if one not in seen]
            seen.update(more)
    tables = dialect.node.under("tables")
    found = [(name, *one) for name, one in sorted(members.items())]
    return [*found, *(tables[name] for name in sorted(used) if name in tables)]


def _named(shape: Shape) -> tuple[frozenset[str], frozenset[str]]:
    """Return the shapes that the holes of a shape name, and all that stands behind them."""
    holes = [hole for case in shape.cases for hole in pic.holes(case.wire)]
    shapes = frozenset(hole.shape for hole in holes if hole.shape)
    return shapes, frozenset(lens for hole in holes for lens in hole.lenses)


def _check_turns(dialect: Dialect, findings: Findings) -> None:
    """Report turns that stand alike, of which one is read as the other (R004).

    Those of tools are told by their results, others by elements that say whose they are.
    """
    talk = dialect.conversation
    if talk is None:
        return
    help = (
        "leave out the one that has no place here: it becomes another, and that is noted; or say "
        "so with a `note:`"
    )
    for group in talk.groups:
        written = [c for c in group.cases if c.note is None and not c.read_only]
        named = {"tool", *dialect.told_roles}
        written = [c for c in written if talk.role(c) not in named]
        seen = [(case, kinds) for case in written if (kinds := _part_kinds(dialect, case))]
        for n, (case, kinds) in enumerate(seen):
            alike = (one for one, had in seen[:n] if kinds <= had or had <= kinds)
            if (other := next(alike, None)) is not None:
                message = f"the turns `{other.name}` and `{case.name}` stand alike"
                beside = (other.pos, "the other turn")
                findings.warn("R004", message, case.pos, help, beside=beside)


def _part_kinds(dialect: Dialect, case: Case) -> frozenset[Any]:
    """Return the kinds of parts that a turn holds."""
    holes = case.lists.get("parts", ())
    return frozenset().union(*(dialect.kinds_of(hole.named) for hole in holes))


def _is_silent(dialect: Dialect, group: list[Pair], findings: Findings) -> bool:
    """Tell whether nothing would be said of a group: it is checked already, and no two are same."""
    if any(findings.reports_on(case_pos(dialect, *pair)) for pair in group):
        return False
    cases = [case for _, case in group[:MOST]]
    return not any(starmap(_same_pictures, combinations(cases, 2)))


def _check_group(
    dialect: Dialect, group: list[Pair], findings: Findings, itself: frozenset[str | None]
) -> None:
    before: list[Pair] = []  # which could read what the next one writes
    for pair in group[:MOST]:
        if before and not pair[0].groups:
            _check_pair(dialect, pair, before, findings, pair[0].name in itself)
        if not any(hole.mark == "same" for hole in pic.holes(pair[1].wire)):
            before.append(pair)  # one that compares takes some alone: writing sees which


def _check_pair(
    dialect: Dialect, pair: Pair, before: list[Pair], findings: Findings, itself: bool
) -> None:
    """Report a case whose values another one reads; `itself` says that the object is shared."""
    shape, case = pair
    reported = findings.reports_on(case_pos(dialect, shape, case))
    if not reported and not any(_same_pictures(one, case) for _, one in before):
        return
    witnesses: list[tuple[Pair, Any]] = []
    for full in (False, True):
        wire = sample(dialect, case.wire, case.shape, full)
        reads = ((p, read_by(dialect, p, wire)) for p in before)
        other, found = next((one for one in reads if one[1] is not ABSENT), (pair, ABSENT))
        if other == pair or other[0].groups or other[1].tests:
            return
        own = read_by(dialect, pair, wire)
        if own is ABSENT:
            return
        if _same_pictures(other[1], case):
            witnesses.append((other, wire))
            break
        if same(found, own) or (itself and _is_part_of(own, found)):
            return
        witnesses.append((other, wire))
    other, wire = witnesses[0]
    name = case_title(shape, case)
    first = case_title(*other)
    beside = (case_pos(dialect, *other), "this one reads it")
    if _same_pictures(other[1], case):
        message = f"{name} is the same picture as {first}, and never read"
        help = "take one of the two out, or say in it what tells it apart"
        findings.error("R003", message, case_pos(dialect, shape, case), help, beside=beside)
        return
    if case.note is not None or _is_only_read(case):
        return  # accepted, or never written but where it was read
    text = stringify(wire)
    shown = f" as {first}, for example {text}" if len(text) <= LONGEST else f" as {first}"
    fixed = (p for one in (case, other[1]) for p in pic.nodes(one.wire))
    apart = shape is not other[0] and not any(isinstance(p, Literal | Text) for p in fixed)
    message = f"what {name} writes is read{shown}"
    help = (
        "give one of the two a literal that the other lacks, name the key of the other `$absent` "
        "there, or accept it with a `note:`"
    )
    rule = "R017" if apart else "R004"
    findings.warn(rule, message, case_pos(dialect, shape, case), help, beside=beside)


def _is_only_read(case: Case) -> bool:
    return any(hole.only_read or "home" in hole.lenses for hole in pic.holes(case.wire))


def _is_part_of(own: Any, found: Any) -> bool:
    """Tell whether all that was meant is found, and perhaps more of the object around."""
    return (
        isinstance(own, dict)
        and isinstance(found, dict)
        and all(key in found and same(value, found[key]) for key, value in own.items())
    )


def _same_pictures(one: Case, two: Case) -> bool:
    """Tell whether two cases say the same."""
    return say_same(one.wire, two.wire) and say_same(one.ir, two.ir)


def say_same(p: Picture | None, q: Picture | None) -> bool:
    """Tell whether two pictures say the same, wherever they stand; most differ at once."""
    if p is q or p.__class__ is not q.__class__:
        return p is q
    if isinstance(p, Fields) and isinstance(q, Fields):
        if p.names != q.names or p.closed != q.closed or len(p.spread) != len(q.spread):
            return False
        others = dict(q.entries)
        return all(map(say_same, p.spread, q.spread)) and all(
            names in others and say_same(child, others[names]) for names, child in p.entries
        )
    if isinstance(p, Items) and isinstance(q, Items):
        alike = len(p.items) == len(q.items) and say_same(p.rest, q.rest)
        return alike and all(map(say_same, p.items, q.items))
    return bool(_said(p) == _said(q))


def _said(p: Picture | None) -> Any:
    """Return what a picture says in which no other stands."""
    if isinstance(p, Hole):
        return p.paths, p.mode, p.shape, p.lenses, p.mark, repr(p.value)
    if isinstance(p, Text):
        return p.fixed, p.names
    if isinstance(p, pic.Test):
        return p.word, p.kind
    return list(map(repr, p.values)) if isinstance(p, Literal) else None


def _check_keys(dialect: Dialect, fields: Fields, findings: Findings) -> None:
    """Report keys that two pictures of one object claim (R017)."""
    seen: dict[str, str] = dict.fromkeys(fields.names, "a key beside it")
    rest: Hole | None = None
    for hole in fields.spread:
        if hole.shape is None:
            if rest is not None:
                message = f"`${rest.path}` takes all other keys, and leaves none to `${hole.path}`"
                findings.error("R017", message, hole.pos, "keep one of the two", word="$")
            rest = hole
            continue
        if hole.shape not in dialect.shapes and hole.shape not in dialect.unions:
            continue
        for key in sorted(dialect.keys_of(hole.shape)):
            if key in seen:
                message = f"the key `{key}` of `{hole.shape}` is pictured by {seen[key]} too"
                help = "each key of the object stands in one picture: take one of the two out"
                findings.error("R017", message, hole.pos, help, word=hole.shape)
                break
            seen[key] = f"`{hole.shape}`"


def _check_messages(dialect: Dialect, findings: Findings) -> None:
    """Report kinds of parts that no message of a role holds together (R034).

    Where each part stands in a message of its own, or is an item of a flat list, nothing is lost.
    Media of the model are not looked at: few wires hold them beside its calls.
    """
    talk = dialect.conversation
    if talk is None:
        return
    roles: dict[str, list[Case]] = {}
    for group in talk.groups:
        for case in group.cases if not (group.alone or group.spliced) else ():
            roles.setdefault(talk.role(case), []).append(case)
    for role, cases in roles.items():
        aside = MEDIA if role == "assistant" else frozenset[str]()
        _check_kinds(dialect, f"the role `{role}`", cases, findings, aside)


def _check_kinds(
    dialect: Dialect,
    what: str,
    cases: list[Case],
    findings: Findings,
    aside: frozenset[str] = frozenset(),
) -> None:
    """Report kinds of parts that two cases hold, and no case together (R034), but for some."""
    holes_by_kinds: dict[frozenset[Any], Hole] = {}
    for case in cases:
        holes = [h for h in case.lists.get("parts", ()) if not h.only_read and h.shape is not None]
        if holes and not case.home:
            kinds = {kind for hole in holes for kind in dialect.kinds_of(hole.named)}
            holes_by_kinds.setdefault(frozenset(kinds) - aside, holes[0])
    for (some, first), (others, hole) in combinations(list(holes_by_kinds.items())[:MOST], 2):
        apart = some - others, others - some
        for one, two in product(*(sorted(side, key=str) for side in apart)):
            if not any({one, two} <= both for both in holes_by_kinds):
                message = f"no case of {what} holds `{two}` beside `{one}`"
                help = "where a turn says both, one of them is lost: give a case holes for both"
                findings.warn("R034", message, hole.pos, help, beside=(first.pos, "the other case"))
                return


def _check_lists(dialect: Dialect, case: Case, findings: Findings) -> None:
    """Report `each` holes of one list that take the same kinds (R013)."""
    for path, holes in case.lists.items():
        seen: dict[Any, Hole] = {}
        for hole in holes if len(holes) > 1 else ():
            if hole.only_read or hole.shape is None:
                continue
            members = dialect.members(hole.shape)
            members = [shape for shape in members if not all(map(_is_only_read, shape.cases))]
            for kind in sorted({k for m in members for k in dialect.kinds_of(m.name)}, key=str):
                first = seen.setdefault(kind, hole)
                if first is hole or kind is None or _demand_more(dialect, first, members, kind):
                    continue
                message = f"two holes share out `${path}`, and both take `{kind}`"
                help = (
                    f"all go to `{first.shape}`, and none to `{hole.shape}`: let each hole take "
                    "kinds of its own"
                )
                beside = (first.pos, "the first one")
                findings.warn("R013", message, hole.pos, help, beside=beside, word=members[0].name)
                break


def _demand_more(dialect: Dialect, first: Hole, members: list[Shape], kind: Any) -> bool:
    """Tell whether all that is written of a kind demands a field that the first hole has not."""
    there = [case for shape in dialect.members(first.named) for case in shape.cases]
    has = {hole.path for case in there if not case.home for hole in pic.holes(case.wire)}
    takers = [shape for shape in members if kind in dialect.kinds_of(shape.name)]
    return all(
        any(h.path not in has and h.mark is None for h in pic.holes(case.wire))
        for shape in takers
        for case in shape.cases
        if not case.home
    )


def check_carry(model: Dialect, node: Node | None, findings: Findings) -> None:
    """Report keys of `carry` that a picture already gives a meaning (R017)."""
    for kind, child in node.value.items() if node is not None else ():
        if not carry.is_text(model, kind) and not carry.is_open(model, kind):
            message = f"`{child.value}` of a {kind} means something else already"
            help = "state rides in an object, or in the place of a `$signature`"
            findings.error("R017", message, child.pos, help)
