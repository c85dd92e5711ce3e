"""What two engines make of rule files: of the packaged ones, and of small ones that are changed."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice
from typing import Any

from wireglot.language.source import LADDER

from . import byhand
from .beside import fed
from .changes import Pool, bent, mutant
from .ruleeach import changes
from .rulefuzz import BYTES, FILE, FOLDER, OPTIONS, SECONDS, Base, Hang, hang, node_of, read
from .sides import RULE, Case, Seen, Side, attempt, conversion, under

RUNS = 10  # payloads that are made for each law
FUZZED = 20_000  # changed files


# -- check and test -------------------------------------------------------------------------------


def checked(every: int) -> Iterator[Case]:
    """Ask what `check` and `test` say of the packaged rules."""
    yield Case("check", "packaged", "rules", _checked)
    if every < 10:  # half a minute
        yield Case("test", "packaged", "rules", _tested)


def _checked(side: Side) -> Seen:
    return {"findings": sorted(map(_finding, side.module("loading.checking").check()))}


def _tested(side: Side) -> Seen:
    trial = side.module("authoring.trial")
    rules = byhand.either(trial, "load_with_examples", "loaded")([], [])
    made = trial.Trial(None, runs=RUNS)
    made.run(rules, rules.dialects)
    failures = [text.partition(": ")[2] for text in made.failures]
    return {"examples": len(made.examples), "laws": made.laws, "failures": failures}


def _finding(one: Any) -> list[str]:
    return [one.rule, one.severity, RULE.sub("RULE", one.message)]


# -- changed files --------------------------------------------------------------------------------


@cache
def _bases() -> list[Base]:
    """Return the small rule sets, the shared one first."""
    return [read(FOLDER), *(read(path) for path in sorted(FOLDER.iterdir()) if path.is_dir())]


def each(every: int) -> Iterator[Case]:
    """Change each place of the small rule sets in each of some ways."""
    for base in _bases()[1:]:
        for stem, plain in base.plain.items():
            for said, new in islice(changes(plain), 0, None, every) if stem != LADDER else ():
                run = partial(_loaded, base, stem, new, {})
                yield Case("each", f"{base.name}/{stem}", said, run)


def fuzzed(every: int, count: int = FUZZED) -> Iterator[Case]:
    """Change files of the small rule sets as the fuzzer does."""
    pool = Pool(file for base in _bases()[1:] for file in base.plain.values())
    for nth in range(0, count, every):
        chance = random.Random(f"fuzz {nth}")
        base = chance.choice(_bases()[1:])
        stem = chance.choice(list(base.plain))
        in_bytes = chance.random() < BYTES
        new = bent(base.texts[stem], chance) if in_bytes else mutant(base.plain[stem], chance, pool)
        run = partial(_loaded, base, stem, new, chance.choice(OPTIONS))
        yield Case("fuzz", f"{base.name}/{stem}", str(nth), run)


@cache
def _nodes(side: Side, name: str) -> dict[str, Any]:
    """Return the files of a small rule set as an engine reads them."""
    (base,) = (base for base in _bases() if base.name == name)
    parse = side.module("language.source").parse
    return {stem: parse(text, f"{stem}.yaml") for stem, text in base.texts.items()}


def _loaded(base: Base, stem: str, new: Any, options: Any, side: Side) -> Seen:
    """Load a set with a changed file, and use it if it is not refused."""
    signal.signal(signal.SIGPROF, hang)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return attempt(lambda: _used(base, stem, new, options, side))
    except Hang:
        return {"error": f"took more than {SECONDS:.0f} s"}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _used(base: Base, stem: str, new: Any, options: Any, side: Side) -> Seen:
    text = new if isinstance(new, str) else ""
    findings = side.module("language.findings").Findings({FILE: text})
    shared = _nodes(side, FOLDER.name)
    source = side.module("language.source")
    refuse = byhand.either(findings, "add_error", "take")
    node = source.parse(new, FILE, refuse) if isinstance(new, str) else node_of(new, source)
    own = {**_nodes(side, base.name), stem: node}
    around = {LADDER: shared[LADDER], base.other: shared[base.other]}
    rules = byhand.from_nodes(own, around, findings, side.module)
    found: Seen = {"findings": [[*_finding(one), one.line, one.column] for one in findings]}
    if rules is not None:
        for name in rules.dialects:
            if name != base.other:
                for said, run in _runs(rules, base, name, options):
                    found |= under(said, attempt(run))
    return found


def _runs(rules: Any, base: Base, name: str, options: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is done with a dialect of a set, and how it is called."""

    def converted(body: Any, source: str, target: str, unit: str) -> Seen:
        # At home a body is given back as it is read; with an option it is written, too.
        given = options or ({"repair": False} if source == target else None)
        out = rules.convert(body, source, target, unit=unit, options=given)
        return {**conversion(out), "rules": [note.rule for note in out.notes]}

    for unit, body in base.bodies.items():
        if unit == "stream":
            yield "stream", partial(fed, body, name, name, rules)
            continue
        for target in (name,) if unit == "session" else (name, base.other):
            yield f"{unit} to {target}", partial(converted, body, name, target, unit)
    for nth, body in enumerate(_bases()[0].bodies[base.other]):
        said = f"request {nth} from {base.other}"
        yield said, partial(converted, body, base.other, name, "request")


SECTIONS: dict[str, Callable[..., Iterator[Case]]] = {
    "check": checked, "each": each, "fuzz": fuzzed,
}  # fmt: skip
