"""Threads, rules that change, and memory: `python -m tests.threads [CONVERSIONS [MANY]]`.

Eight threads convert requests, responses, streams and exchanges of five providers while overlays on
disk change and are loaded again, each fifth time broken. A version writes its number into each
message, part, call and tool, and reads a key of its own from messages, so that a conversion by two
versions would show. Each outcome must be, to the last digit, what one thread alone made by the
version that it names.

Then one set converts MANY bodies of which no two have the same texts, models, tools, ids or unknown
keys: the memory of the process must not grow once its caches are full. A million takes a quarter of
an hour; without arguments all takes two minutes.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import random
import re
import sys
import tempfile
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any, NamedTuple
from unittest import mock

import wireglot
from benchmarks import loops, recorded, stream_frames, workloads
from wireglot.executor import code
from wireglot.loop.shelves import Memory

from .reload import working

Json = Any
Case = Callable[[Any], Json]  # what rules make of something
DIALECTS = recorded.FIVE
VERSIONS = 3
THREADS, ONCE = 8, 100
BROKEN = 5  # each so manieth change is a broken file
GROWS = 16  # MB by which caches that are not full yet may grow
SET = re.compile(r"set_(\d+)")
OVERLAY = """\
wireglot: 2
overlay: DIALECT
shapes:
  tool_call: {wire: {set: set_N (or $absent)}}
  function: {wire: {set: set_N (or $absent)}}
conversation: {wire: {set: set_N (or $absent), x_N: $own.x_N (optional)}}
request: {wire: {set: set_N (or $absent), x_N: $own.x_N (optional)}}
response: {wire: {set: set_N (or $absent), x_N: $own.x_N (optional)}}
stream: {frame: {set: set_N (or $absent)}}
"""
TEXT = "  text: {wire: {set: set_N (or $absent)}}\n"  # where a text is an object
MARKED = {f"x_{n}": True for n in range(VERSIONS)}


class Told(NamedTuple):
    """What threads and changes came to."""

    conversions: int
    swaps: int
    broken: int  # broken files that were reported
    failed: int  # conversions that raised
    mixed: int  # outcomes that no version alone makes
    versions: int  # versions that converted
    held: int  # sets and dialects that are still in memory, beside those in force


class Held(NamedTuple):
    """What the process held, in MB, at two times."""

    before: float
    after: float

    @property
    def grown(self) -> float:
        """By how much it grew."""
        return self.after - self.before


# -- rules of a version ----------------------------------------------------------------------------


def put(
    folder: Path, version: int, broken: bool = False, dialects: Sequence[str] = DIALECTS
) -> None:
    """Write the overlays of a version, one of them broken if it is asked for."""
    for dialect in dialects:
        text = OVERLAY.replace("conv", ("" if dialect == "ollama" else TEXT) + "conv", 1)
        text = text.replace("N", str(version)).replace("DIALECT", dialect)
        if broken and dialect == dialects[-1]:
            text = text.replace("$own.", "$no_such_field.")
        file = folder / f"set-{dialect}.yaml"
        file.with_suffix(".new").write_text(text)
        file.with_suffix(".new").replace(file)


def loaded(folder: Path) -> wireglot.RuleSet:
    """Load the overlays of a folder."""
    return wireglot.load_rules(folder, overlays=[file.stem for file in folder.glob("*.yaml")])


# -- what is converted -----------------------------------------------------------------------------


def _seen(out: Any) -> Json:
    return [out.body, [(n.code, n.source_path, n.target_path, n.message) for n in out.notes]]


def converted(body: Json, source: str, target: str, unit: str, model: str, rules: Any) -> Json:
    """Return what a conversion gives: the body, and its notes."""
    return _seen(rules.convert(body, source, target, unit, model))


def _streamed(frames: Sequence[Json], source: str, target: str, rules: Any) -> Json:
    made = rules.translator(source, target, "m")
    said = [made.feed(frame) for frame in frames]
    return [said, made.finish(), _seen(made.result)]


def _exchanged(body: Json, provider: str, state: Json, rules: Any) -> Json:
    x = rules.exchange(loops.CLIENT, provider, "m", state=json.loads(json.dumps(state)))
    asked, answered = x.request(body), x.response(loops.ANSWERS[provider](9))
    message = answered.body["choices"][0]["message"]
    again = {**body, "messages": [*body["messages"], message]}
    return [_seen(asked), _seen(answered), _seen(x.request(again)), x.state]


def _marked(body: Json) -> Json:
    """Copy a request with the keys of all versions in it and in its messages."""
    made = {**body, **MARKED}
    for key in ("messages", "contents", "input"):
        if isinstance(made.get(key), list):
            made[key] = [{**one, **MARKED} if "role" in one else one for one in made[key]]
    return made


def bodies() -> Iterator[tuple[str, str, Json]]:
    """Yield dialects, units and bodies, made ones and, where they are here, recorded ones."""
    for dialect in ("openai-chat", "anthropic", "gemini"):
        yield dialect, "request", workloads.request(dialect, "W1", small=True)
        yield dialect, "request", _marked(workloads.request(dialect, "W1", 1, small=True))
        yield dialect, "response", workloads.response(dialect)
    for dialect in DIALECTS if recorded.there() else ():
        for one in recorded.spread(recorded.small(dialect, "request"), 8):
            yield dialect, "request", _marked(one.body)
        for one in recorded.spread(recorded.small(dialect, "response"), 6):
            yield dialect, "response", one.body


def _cases() -> Iterator[tuple[str, Case]]:
    for nth, (source, unit, body) in enumerate(bodies()):
        for target in DIALECTS:
            name = f"{source}>{target} {unit} {nth}"
            yield name, partial(converted, body, source, target, unit, "m")
    streams = [(d, stream_frames.frames(d, small=True)) for d in ("openai-chat", "anthropic")]
    for dialect in DIALECTS if recorded.there() else ():
        some = [frames for frames, _ in recorded.streams(dialect) if len(frames) < 60]
        streams += [(dialect, frames) for frames in recorded.spread(some, 2)]
    for nth, (source, frames) in enumerate(streams):
        for target in DIALECTS:
            yield f"{source}>{target} stream {nth}", partial(_streamed, frames, source, target)
    for provider, kept in itertools.product(loops.ANSWERS, (False, True)):
        body, state = loops.history(wireglot.packaged(), provider, 3, kept)
        yield f"{provider} exchange {kept}", partial(_exchanged, _marked(body), provider, state)


def told(case: Case, rules: Any) -> str:
    """Return what rules make of a case, as text."""
    return json.dumps(case(rules), sort_keys=True)


def known(rules: Sequence[Any], every: int) -> dict[str, tuple[Case, tuple[str, ...]]]:
    """Return cases by name, each with what the rules of each version alone make of it.

    A case is taken if each version, and no other, can be told from what it makes.
    """
    found = {}
    for name, case in list(_cases())[::every]:
        try:
            made = tuple(told(case, one) for one in rules)
        except wireglot.WireglotError:
            continue
        if all(set(SET.findall(text)) == {str(n)} for n, text in enumerate(made)):
            found[name] = case, made
    return found


# -- threads ---------------------------------------------------------------------------------------


def run(
    folder: Path,
    conversions: int,
    changes: int,
    every: int = 1,
    dialects: Sequence[str] = DIALECTS,
    pause: float = 0.02,
) -> tuple[Told, Counter[str]]:
    """Convert in threads while the rules change; return what came of it, and which cases ran.

    Each thread waits for a `pause` between conversions, so that the rules get a turn to be loaded.
    """
    alone = []
    for version in range(VERSIONS):
        put(folder, version, dialects=dialects)
        alone.append(loaded(folder))
    cases = known(alone, every)
    hashes = {one.hash for one in alone}
    del alone
    live = loaded(folder).watch(start=False)
    chances = [random.Random(seed) for seed in range(THREADS)]
    names = list(cases)
    done: list[tuple[str, str]] = []  # case; version, "mixed" or what failed

    def convert(number: int) -> None:
        name = chances[number].choice(names)
        case, made = cases[name]
        try:
            text = told(case, live)
        except Exception as error:  # anything at all is a failure of the promise
            done.append((name, f"failed: {error!r}"))
        else:
            done.append((name, str(made.index(text)) if text in made else "mixed"))
        time.sleep(pause)

    there: weakref.WeakSet[Any] = weakref.WeakSet()
    broken = change = 0
    with working(convert, THREADS):
        while change < changes or len(done) < conversions:
            change += 1
            put(folder, change % VERSIONS, change % BROKEN == 0, dialects)
            if not live.reload():
                broken += 1
            there.update((live.rules, live.rules[loops.CLIENT].model))
            assert live.hash in hashes
    gc.collect()
    by = Counter(what for _, what in done)
    for what in [one for one in by if one.startswith("failed")][:3]:
        print(what, file=sys.stderr)
    failed = sum(number for what, number in by.items() if what.startswith("failed"))
    versions = sum(str(n) in by for n in range(VERSIONS))
    # Two threads may make a dialect at once; one of the two is in force.
    force = (live.rules, live.rules[loops.CLIENT].model)
    held = sum(all(one is not other for other in force) for one in there)
    found = Told(len(done), live.swaps, broken, failed, by["mixed"], versions, held)
    return found, Counter(name for name, _ in done)


def at_once(many: int) -> Counter[tuple[str, str]]:
    """Let threads convert at once by rules that nobody used; count how often each function is made.

    Raises what one of them raised.
    """
    rules, body = wireglot.load_rules(), workloads.request("anthropic", "W1", small=True)
    made, ready = Counter[tuple[str, str]](), Barrier(many)
    compiled = code.Code._compile

    def counted(self: code.Code, name: str, text: str) -> None:
        made[self.title, name] += 1
        compiled(self, name, text)

    def convert(_: int) -> str:
        ready.wait()
        return json.dumps(rules.convert(body, "anthropic", "ollama").body)

    with mock.patch.object(code.Code, "_compile", counted), ThreadPoolExecutor(many) as pool:
        assert len(set(pool.map(convert, range(many)))) == 1
    return made


# -- memory ----------------------------------------------------------------------------------------


def resident() -> float:
    """Return how much memory the process holds now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def different(body: Json, serial: int) -> Json:
    """Copy a body with a serial number in its texts, model, tools, ids and an unknown key."""
    text = json.dumps(body)
    text = re.sub(r'"(call|toolu)_', rf'"\1_{serial}_', text)
    text = re.sub(r'("(?:text|description|model|content)": ")(?=\w)', rf"\g<1>{serial} ", text)
    made: Json = json.loads(text)
    made[f"key_{serial}"] = {f"inner_{serial}": serial}
    return made


def remembered(many: int, first: int, said: Callable[[str], None] = print) -> Held:
    """Convert many different bodies; return the memory behind the first of them, and the last."""
    rules = wireglot.packaged()
    states = wireglot.States(Memory(1_000_000))
    loop = {p: loops.history(rules, p, 2, True)[0] for p in loops.ANSWERS}
    given = [(source, unit, body) for source, unit, body in bodies() if len(str(body)) < 3000]
    chance = random.Random(many)
    before = 0.0
    for serial in range(many):
        model = f"model-{serial}"
        if serial % 10:
            source, unit, body = chance.choice(given)
            made = different(body, serial)
            with contextlib.suppress(wireglot.WireglotError):
                rules.convert(made, source, chance.choice(DIALECTS), unit, model)
        else:
            provider = chance.choice(list(loop))
            x = rules.exchange(loops.CLIENT, provider, model, state=states)
            x.request(different(loop[provider], serial))
            x.response(loops.ANSWERS[provider](serial))
        if serial + 1 == first:
            before = resident()
        if (serial + 1) % max(many // 10, first) == 0:
            said(f"{serial + 1:>9} conversions  {resident():6.0f} MB")
    return Held(before, resident())


def main() -> int:
    """Run both, print what came of it; status 1 if anything was not as promised."""
    numbers = [int(word) for word in sys.argv[1:]]
    conversions, many = [*numbers, *(10_000, 60_000)[len(numbers) :]]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found, ran = run(Path(folder), conversions, changes=10)
    often = max(at_once(ONCE).values())
    print(f"{ONCE} threads at once: a function is made {often} times at most")
    print(f"{THREADS} threads, {len(ran)} cases, {time.monotonic() - began:.0f} s")
    for name, number in found._asdict().items():
        print(f"{name:12} {number}")
    memory = remembered(many, 10_000)
    print(f"grown by {memory.grown:.1f} MB since the first 10,000")
    wrong = found.failed or found.mixed or found.held or found.versions < VERSIONS or often > 1
    return 1 if wrong or memory.grown > GROWS else 0


if __name__ == "__main__":
    sys.exit(main())
