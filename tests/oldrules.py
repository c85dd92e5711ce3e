"""What `check` and `test` say of the packaged rules, and what `migrate` makes of old rule files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import wireglot
from wireglot.authoring.migrate import migrated

from . import beside, old, oldfiles
from .sides import (
    EXPLAINED,
    RULE,
    Case,
    Difference,
    Seen,
    Side,
    attempt,
    differences,
    explained,
    present,
    told,
    under,
)

Found = tuple[str, int, list[Difference], list[str]]  # section, compared, different, to print
RUNS = 10  # payloads that are made for each law
UNITS = ("request", "response", "error", "session", "messages", "message")


def _sides() -> tuple[Side, Side]:
    return Side(old.engine(), old.engine().packaged()), Side(wireglot, wireglot.packaged())


def _loader(side: Side) -> Any:
    return side.module("language.load" if side.engine is old.engine() else "loading.checking")


# -- check and test -------------------------------------------------------------------------------


def checked(every: int) -> Iterator[Found]:
    """Compare what `check` and `test` say of the packaged rules."""
    before, now = _sides()
    one, two = ([_finding(f) for f in _loader(side).check()] for side in (before, now))
    case = Case("check", "packaged", "rules", lambda side: {})
    found = list(differences(case, {"findings": sorted(one)}, {"findings": sorted(two)}))
    yield "check", 1, found, [f"{'check':12}findings: {len(one)} before, {len(two)} now"]
    tried = [_tried(side, side.module("authoring.trial").loaded([], [])) for side in (before, now)]
    case = Case("test", "packaged", "rules", lambda side: {})
    lines = [
        f"{'test':12}{what}: {before} before, {now} now"
        for what in ("examples", "laws", "failures")
        for before, now in [[len(t[what]) if what == "failures" else t[what] for t in tried]]
    ]
    yield "test", 1, list(differences(case, *tried)), lines


def _tried(side: Side, rules: Any) -> Seen:
    trial = side.module("authoring.trial").Trial(None, runs=RUNS)
    trial.run(rules, rules.dialects)
    return {
        "examples": len(trial.examples),
        "laws": trial.laws,
        "failures": [present(text.partition(": ")[2]) for text in trial.failures],
    }


def _shows(side: Side, names: list[str], files: set[str]) -> Seen:
    """Try the examples of some files, of these dialects."""
    trial = side.module("authoring.trial").Trial(None, runs=0)
    trial.run(side.rules, names)
    failures = [text for text in trial.failures if text.partition(":")[0] in files]
    return {"examples": sum(pos.file in files for pos in trial.examples), "failures": len(failures)}


def _finding(one: Any) -> list[str]:
    return [one.rule, one.severity, RULE.sub("RULE", present(one.message))]


# -- migrate --------------------------------------------------------------------------------------


def migration(every: int) -> Iterator[Found]:
    """Rewrite each rule file of before and compare its conversions with the engine of before."""
    rows: dict[str, Counter[str]] = {}
    reasons = explained(EXPLAINED.read_text("utf-8"))
    compared, found = 0, list[Difference]()
    for one in oldfiles.sets():
        row = rows.setdefault(one.group, Counter())
        row["files"] += len(one.own)
        new = {}
        refused = None
        for name, text in {**one.around, **one.own}.items():
            try:
                new[name] = migrated(text, name)
                row["migrated"] += name in one.own
            except wireglot.RuleError as error:
                refused = error
        if refused is not None and _load(_sides()[0], one, {**one.around, **one.own})[0] is None:
            row["refused before, too"] += len(one.own)
            continue
        count, differ = (
            _compared(one, new, every) if refused is None else (1, [_unmigrated(one, refused)])
        )
        compared += count
        found += differ
        word = "equal" if count > 1 else "refused alike"
        if any(
            line.covers(each) and "order of" not in each.what for each in differ for line in reasons
        ):
            word = "explained"
        if any(not any(line.covers(each) for line in reasons) for each in differ):
            word = "different"
        row[word] += len(one.own)
    words = (
        "files",
        "migrated",
        "equal",
        "refused alike",
        "refused before, too",
        "explained",
        "different",
    )
    lines = ["", f"{'rule files of before':24}" + "".join(f"{word:>20}" for word in words)]
    for group, row in rows.items():
        lines.append(f"{group:24}" + "".join(f"{row[word] or '-':>20}" for word in words))
    yield "migrate", compared, found, lines


def _unmigrated(one: oldfiles.Set, error: wireglot.RuleError) -> Difference:
    return Difference("migrate", one.group, f"not migrated: {error.reason}", one.name, str(error))


def _load(side: Side, one: oldfiles.Set, files: dict[str, str]) -> tuple[Any, Seen]:
    """Load a set; return the rules, or None, and what is said of it."""
    try:
        rules = side.engine.load_rules(files, builtin=one.builtin, overlays=one.overlays)
        for name in rules.dialects:
            rules[name], rules.variants(name)
    except Exception as error:
        found = sorted(map(_finding, _loader(side).check(files)))
        if any(finding[1] == "error" for finding in found):
            return None, {"findings": found}
        return None, {"findings": found, "error": told(error)[:2]}
    return rules, {"findings": sorted(map(_finding, rules.findings))}


def _compared(one: oldfiles.Set, new: dict[str, str], every: int) -> tuple[int, list[Difference]]:
    """Return how much was compared of a set, and what differs."""
    before, now = _sides()
    texts = {**one.around, **one.own}
    (rules, said), (rules_now, said_now) = _load(before, one, texts), _load(now, one, new)
    case = Case("migrate", one.group, one.name, lambda side: {})
    if (rules is None) != (rules_now is None):  # what else is found where one stops says little
        for seen in (said, said_now):
            seen["findings"] = [one for one in seen["findings"] if one[1] == "error"]
    found = list(differences(case, said, said_now))
    if rules is None or rules_now is None:
        return 1, found
    sides = before._replace(rules=rules), now._replace(rules=rules_now)
    names = _named(one, rules)
    found += differences(case, *(_shows(side, names, set(texts)) for side in sides))
    count = 2
    for each in _cases(one, rules, names, every):
        count += 1
        found += differences(each, each.run(sides[0]), each.run(sides[1]))
    return count, found


def _named(one: oldfiles.Set, rules: Any) -> list[str]:
    """Return the dialects that the files of a set are about."""
    said = [oldfiles._parsed(text) for text in one.own.values()]
    names = {file.get("dialect", file.get("overlay")) for file in said}
    return [name for name in rules.dialects if name in names]


@cache
def _irs() -> list[tuple[str, Any]]:
    """Return requests and responses of the traffic in the IR, a few of each provider."""
    found = []
    rules = old.engine().packaged()
    for dialect in beside.PROVIDERS if beside.TRAFFIC.is_dir() else ():
        for unit in ("request", "response"):
            some = [b for b in beside.bodies(dialect) if b.unit == unit]
            for each in [b for b in some if len(str(b.body)) < beside.LONG][3::23]:
                ir = rules[dialect].read(each.body, unit, **each.more).ir
                found.append((unit, ir))
    return found


def _cases(one: oldfiles.Set, rules: Any, names: list[str], every: int) -> Iterator[Case]:
    """Yield what is converted with a set."""
    other = "openai-chat" if one.builtin else "tooled"
    for name in names:
        units = rules[name].model.units
        for unit, ir in _irs()[::every]:
            if unit in units:
                run = partial(_there_and_back, ir, name, unit)
                yield Case("migrate", f"{one.group} IR>{name} {unit}", one.name, run)
        if one.builtin and "request" in units:
            for dialect in beside.PROVIDERS[:4] if beside.TRAFFIC.is_dir() else ():
                for body in beside.bodies(dialect)[5 :: 60 * every]:
                    if body.unit in units:
                        yield _moved(one, beside._converts("migrate", body, name))
        for owner, payload, ir in _shown(rules[name]):
            yield from _example(one, name, owner, payload, ir, other)
        for unit, payload in one.bodies.items():
            yield from _example(one, name, unit, payload, None, other)


def _moved(one: oldfiles.Set, case: Case) -> Case:
    return case._replace(where=f"{one.group} {case.where}", name=f"{one.name} {case.name}")


def _shown(dialect: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the examples of the units of a dialect: the unit, the payload and the IR."""
    for example in old.module("authoring.examples").find(dialect):
        unit = "messages" if example.owner == "conversation" else example.owner
        said = example.said
        yield unit, said.get("wire", said.get("reads")), said.get("ir", said.get("writes"))


def _example(
    one: oldfiles.Set, name: str, unit: str, payload: Any, ir: Any, other: str
) -> Iterator[Case]:
    if unit == "stream" and payload is not None:
        run = partial(beside._translated, payload, name, name, None)
        yield Case("migrate", f"{one.group} {name} stream", one.name, run)
    if unit not in UNITS:
        return
    if payload is not None:
        if unit == "messages" and isinstance(payload, dict):
            unit = "message"
        for target in (name, other):
            run = partial(beside._converted, payload, name, target, unit, {})
            yield Case("migrate", f"{one.group} {name}>{target} {unit}", one.name, run)
    if ir is not None:
        unit = "message" if unit == "messages" and isinstance(ir, dict) else unit
        run = partial(beside._written, ir, name, unit)
        yield Case("migrate", f"{one.group} IR>{name} {unit}", one.name, run)


def _there_and_back(ir: Any, name: str, unit: str, side: Side) -> Seen:
    made = beside._written(ir, name, unit, side)
    if "error" in made:
        return made

    def back() -> Seen:
        read = side.rules[name].read(made["body"], unit)
        return {"IR": read.ir, "codes": [note.code for note in read.notes]}

    return {**made, **under("back", attempt(back))}


SECTIONS: dict[str, Callable[[int], Iterator[Found]]] = {
    "check": checked, "migrate": migration,
}  # fmt: skip
