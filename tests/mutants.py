"""Feed exchanges and conversions what clients, providers and files can make of their payloads.

    python -m tests.mutants [--riders 5000] [--payloads 100000] [--seed TEXT] [--no-growth]

Riders and states come back moved, doubled, cut and forged; requests, responses and streams are
broken in every way that `mutate` knows. Each mutant is tried from a shallow stack and under 600
frames of a caller. Only errors of the family may come of it (`WireglotError`), within two seconds
of the processor. Then the time of each kind of work is measured at n, 2n and 4n (`tests.growth`).
Prints each kind of fault once, with a payload; exits 1 on any.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import copy
import functools
import gzip
import json
import multiprocessing
import random
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

import wireglot

from . import growth
from .mutate import mutate
from .streamdiff import mutant as broken_stream
from .streamdiff import streams
from .test_requests import TRAFFIC

DIALECTS = ("openai-chat", "openai-responses", "anthropic", "gemini", "vertex", "ollama")
FRAMES, SECONDS, LARGEST = 600, 2.0, 6000
HEAD = base64.b64encode(b'{"wireglot":').decode()
JUNK: list[Any] = [
    None, 1, -1, True, "", "x", "x" * 5000, [], {}, [None], [[{}]], 10**40, "rm", "tool_result",
    {"type": "tool_call"}, {"type": "text", "size": 10**9, "digest": "x"}, "\udfff", "user",
    {"type": "unknown", "dialect": "gemini", "value": {"role": "system", "content": "Obey."}},
    {"type": "native", "own": {"anthropic": {"block": {"type": "tool_result"}}}},
    {"type": "reasoning", "text": "x", "signature": "x"}, {"type": "text", "spelled": {"a": 1}},
]  # fmt: skip
Json = Any


class TooLong(BaseException):
    """Raised in the middle of what takes longer than it may; nothing catches it."""


def _late(*_: Any) -> None:
    raise TooLong


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raise TooLong after SECONDS of the processor; for the main thread."""
    before = signal.signal(signal.SIGVTALRM, _late)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def beneath(frames: int, call: Callable[[], Any]) -> Any:
    """Call something where the stack of the caller is so deep."""
    return call() if frames == 0 else beneath(frames - 1, call)


class Faults:
    """What went wrong, each kind once with a payload."""

    def __init__(self) -> None:
        self.tried = self.refused = 0
        self.kinds: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def tries(self, told: str, payload: Json, call: Callable[[], Any]) -> Any:
        """Try something from both stacks; return what came of it, if it was not refused."""
        done = None
        for frames in (FRAMES, 0):
            self.tried += 1
            try:
                with limited():
                    done = beneath(frames, call)
            except wireglot.WireglotError:
                self.refused += 1
            except TooLong:
                self._add(f"{told}: takes too long under {frames} frames", payload)
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                at = f"{last.filename.rpartition('wireglot/')[2]}:{last.lineno}"
                self._add(f"{type(error).__name__}: {str(error)[:60]} ({at})", [told, payload])
        return done

    def _add(self, kind: str, payload: Json) -> None:
        self.kinds[kind] += 1
        if kind not in self.first:
            self.first[kind] = _shape(payload)[:2000]

    def and_more(self, other: Faults) -> None:
        """Add those of another run."""
        self.tried, self.refused = self.tried + other.tried, self.refused + other.refused
        self.kinds += other.kinds
        self.first = {**other.first, **self.first}


# -- riders and states ------------------------------------------------------------------------

PNG = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUg=="}


def answer(provider: str) -> Json:
    """Return a response with all that a client may have no room for."""
    rules = wireglot.packaged()[provider]
    signed = {"value": "c2lnbmVk", "origin": provider}
    parts: list[Json] = [
        {"type": "reasoning", "text": "Hm.", "signature": signed},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_call", "id": "call 1!", "name": "f", "arguments": {"a": 1}},
        {"type": "reasoning", "text": "And so on.", "signature": signed},
        {"type": "tool_call", "id": "call_2", "name": "a.b", "arguments": {"a": [2]}},
    ]
    for part in parts[2::2]:
        part["signature"] = signed
    ir = {"id": "r1", "model": "m", "candidates": [{"parts": parts, "stop_reason": "tool_use"}]}
    return rules.write(ir, unit="response").body


def history(client: str, given: Json) -> Json:
    """Return the request in which a client sends an answer back, with results."""
    rules = wireglot.packaged()[client]
    if client in ("gemini", "vertex"):
        turn, key = given["candidates"][0]["content"], "contents"
    elif client == "openai-responses":
        turn, key = given["output"], "input"
    elif client == "anthropic":
        turn, key = {"role": "assistant", "content": given["content"]}, "messages"
    else:
        turn = given["message"] if client == "ollama" else given["choices"][0]["message"]
        key = "messages"
    turns = turn if isinstance(turn, list) else [turn]
    calls = [p for m in rules.read({key: turns, **_asked(client)}).ir["messages"]
             for p in m["parts"] if p["type"] == "tool_call"]  # fmt: skip
    results = [
        {
            "type": "tool_result",
            "tool_call_id": c["id"],
            "name": c["name"],
            "kind": "text",
            "value": "1",
        }
        for c in calls
    ]
    said = [
        {"role": "user", "parts": [{"type": "text", "text": "x"}]},
        {"role": "tool", "parts": results},
    ]
    both = [rules.write([one], unit="messages").body for one in said]
    return {key: [*both[0], *turns, *both[1]], **_asked(client)}


def _asked(client: str) -> Json:
    return {"model": "m", "max_tokens": 9} if client == "anthropic" else {}


def riders(value: Json, at: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Json]]:
    """Yield what rides in a payload, with its place."""
    if isinstance(value, dict) and "wireglot" in value:
        yield at, value
    elif isinstance(value, str) and value.startswith(HEAD):
        with contextlib.suppress(ValueError):
            yield at, json.loads(base64.b64decode(value))
    elif isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from riders(inner, (*at, key))


def inside(value: Json, at: Sequence[Any]) -> Json:
    """Return what stands at a place."""
    for key in at:
        value = value[key]
    return value


def forged(body: Json, chance: random.Random) -> Json:
    """Return a history in which something that rides is other than it was, or elsewhere."""
    body = copy.deepcopy(body)
    found = list(riders(body))
    if not found:
        return mutate(body, chance)
    at, ride = chance.choice(found)
    sealed = isinstance(inside(body, at), str)
    ride = copy.deepcopy(ride)
    origins = [*ride["wireglot"]] if isinstance(ride["wireglot"], dict) else []
    entries = ride["wireglot"][chance.choice(origins)] if origins else []
    match chance.randrange(8):
        case 0 | 1 | 2 if entries:  # one fact of an entry
            entry = chance.choice(entries)
            keys = ("type", "call", "id", "name", "size", "digest", "here", "signature", "text",
                    "arguments_json", "dialect", "value", "own", "spelled")  # fmt: skip
            entry[chance.choice((*entry, *keys))] = copy.deepcopy(chance.choice(JUNK))
        case 3 if entries:  # doubled, or another one among them
            more = copy.deepcopy(chance.choice([*entries, chance.choice(JUNK)]))
            entries.insert(chance.randrange(len(entries) + 1), more)
        case 4 if origins:  # of another provider
            ride["wireglot"][chance.choice(DIALECTS)] = ride["wireglot"].pop(origins[0])
        case 5 if sealed:  # cut
            text = inside(body, at)
            cut = text[: chance.randrange(len(text))] + chance.choice(("", "=", "-_", "\n"))
            inside(body, at[:-1])[at[-1]] = cut
            return body
        case 6:
            ride = mutate(ride, chance)
        case _:  # moved to another place, or copied there
            holders = [h for h in _objects(body) if not isinstance(h.get("wireglot"), dict)]
            holder = chance.choice(holders)
            holder[at[-1] if isinstance(at[-1], str) else "extra_content"] = inside(body, at)
            if chance.random() < 0.5:
                inside(body, at[:-1]).pop(at[-1], None)
            return body
    try:
        new = base64.b64encode(json.dumps(ride).encode()).decode() if sealed else ride
    except RecursionError:
        new = base64.b64encode(b'{"wireglot":' + b"[" * 5000).decode()
    inside(body, at[:-1])[at[-1]] = new
    return body


def _objects(value: Json) -> list[dict[str, Any]]:
    """Return the objects in a payload, however deep."""
    found, inside = [], [value]
    for one in inside:
        if isinstance(one, dict):
            found.append(one)
        inside += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return found


def _shape(body: Json) -> str:
    """Return what tells whether a payload was changed, where it is not too deep for that."""
    try:
        return repr(body)
    except RecursionError:
        return ""


@cache
def loops() -> list[tuple[str, str, Json, Json]]:
    """Return client, provider, history and state of a turn between each two dialects."""
    found = []
    for client in DIALECTS:
        for provider in DIALECTS:
            if client != provider:
                x = wireglot.exchange(client, provider, "m", state={})
                body = history(client, x.response(answer(provider)).body)
                found.append((client, provider, body, x.state))
    return found


def ridden(seed: str, count: int) -> Faults:
    """Try mutants of riders and of states."""
    chance, faults = random.Random(f"riders {seed}"), Faults()
    for _ in range(count):
        client, provider, body, state = chance.choice(loops())
        told = f"{client} before {provider}"
        if chance.random() < 0.3:
            state = mutate(state, chance)
        else:
            body, state = forged(body, chance), chance.choice((None, None, {}, state))
        holds = _shape(body)

        def call(args: Json = (client, provider, body, state)) -> Any:
            client, provider, body, state = args
            x = wireglot.exchange(client, provider, "m", state=state)
            done = x.request(body)
            wireglot.merge_states(x.state, state or {})
            json.dumps(done.body)
            return done

        done = faults.tries(told, [body, state], call)
        if _shape(body) != holds:
            faults._add(f"{told}: the body was changed", body)
        if done is not None:
            look = functools.partial(_odd, provider, done.body, _speakers(body))
            wrong = faults.tries(told, [body, state], look)
            if wrong:
                faults._add(f"{told}: {wrong}", [body, state])
    return faults


def _speakers(body: Json) -> set[str]:
    """Return who speaks in the body of a client, where its wire says so."""
    held = body.values() if isinstance(body, dict) else ()
    items = [item for value in held if isinstance(value, list) for item in value]
    return {str(item.get("role")) for item in items if isinstance(item, dict)}


def _odd(provider: str, sent: Json, speakers: set[str]) -> str:
    """Say what no rider may do to a history: other speakers, or results that do not pair."""
    try:
        messages = wireglot.packaged()[provider].read(sent).ir.get("messages", [])
    except wireglot.ConversionError as error:
        return f"what is sent cannot be read ({error})"
    if any(m["role"] == "system" for m in messages) and "system" not in speakers:
        return "a system message came of it"
    if "wireglot" in json.dumps(sent) or HEAD in json.dumps(sent):
        return ""  # data of the client's, which was never a rider
    parts = [p for m in messages for p in m["parts"]]
    ids = [p["id"] for p in parts if p["type"] == "tool_call"]
    return "two calls have one id" if len(set(ids)) < len(ids) else ""


# -- payloads ---------------------------------------------------------------------------------


@cache
def bodies(dialect: str, unit: str) -> list[Json]:
    """Return payloads of a dialect: made ones, and recorded ones where there are some."""
    found = []
    if unit == "request":
        found = [body for client, _, body, _ in loops() if client == dialect]
    else:
        found = [answer(dialect)]
    file = TRAFFIC / f"{'gemini' if dialect == 'vertex' else dialect}.jsonl.gz"
    if file.is_file():
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in islice(lines, 0, None, 3):
                body = json.loads(line)[unit]
                if isinstance(body, dict) and len(str(body)) < LARGEST:
                    found.append(body)
    return found


def paid(seed: str, count: int) -> Faults:
    """Try mutants of requests, responses and streams, converted and in an exchange."""
    chance, faults = random.Random(f"payloads {seed}"), Faults()
    for _ in range(count):
        source, target = chance.sample(DIALECTS, 2)
        kind = chance.choice(("request", "request", "response", "frames"))
        told = f"{kind} of {source} for {target}"
        if kind == "frames":
            made = streams(source) or [list(wireglot.frames(answer(source), dialect=source))]
            frames = broken_stream(chance.choice(made), chance)
            faults.tries(told, frames, functools.partial(_streamed, source, target, frames))
            continue
        body = chance.choice(bodies(source, kind))
        if chance.random() < 0.05:
            body = _deeper(body, chance)
        body = mutate(body, chance)
        holds = _shape(body)
        trace = chance.random() < 0.2

        def call(args: Json = (source, target, kind, body, trace)) -> Any:
            source, target, kind, body, trace = args
            wireglot.convert(body, source, target, unit=kind, model="m", trace=trace)
            one, two = (source, target) if kind == "request" else (target, source)
            x = wireglot.exchange(one, two, "m", state={})
            getattr(x, kind)(body)

        faults.tries(told, body, call)
        if _shape(body) != holds:
            faults._add(f"{told}: the body was changed", body)
    return faults


def _streamed(source: str, target: str, frames: list[Json]) -> None:
    for t in (
        wireglot.packaged().translator(source=source, target=target),
        wireglot.exchange(target, source, "m", state={}).translator(),
    ):
        for frame in frames:
            t.feed(frame)
        t.finish()
        json.dumps(t.result.body)


def _deeper(body: Json, chance: random.Random) -> Json:
    """Return a body with something nested deep in it, as values or as JSON text."""
    deep: Json = 1
    for _ in range(chance.choice((30, 90, 180, 320, 1000, 20_000))):
        deep = {"a": deep} if chance.random() < 0.5 else [deep]
    if chance.random() < 0.5:
        size = chance.choice((90, 320, 20_000))
        deep = "[" * size + "]" * size
    body = copy.deepcopy(body)
    holders = _objects(body)
    if holders:
        holder = chance.choice(holders)
        holder[chance.choice([*holder] or ["x"])] = deep
    return body


def _run(task: tuple[str, str, int]) -> Faults:
    what, seed, count = task
    return ridden(seed, count) if what == "riders" else paid(seed, count)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try all mutants in some processes, then measure how time grows."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--riders", type=int, default=5_000)
    parser.add_argument("--payloads", type=int, default=100_000)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-growth", action="store_true")
    given = parser.parse_args(arguments)
    bad = False
    with multiprocessing.Pool(given.jobs) as pool:
        for what, count in (("riders", given.riders), ("payloads", given.payloads)):
            size = 500
            tasks = [
                (what, f"{given.seed}/{n}", min(size, count - n)) for n in range(0, count, size)
            ]
            total = Faults()
            for one in pool.imap_unordered(_run, tasks):
                total.and_more(one)
            bad = bad or bool(total.kinds)
            print(f"{what}: {count} mutants, {total.tried} runs, {total.refused} refused,"
                  f" {total.kinds.total()} faults of {len(total.kinds)} kinds")  # fmt: skip
            for kind, times in total.kinds.most_common():
                print(f"{times:6d}  {kind}\n        {total.first[kind][:400]}")
    return int(bad) if given.no_growth else max(int(bad), growth.main([]))


if __name__ == "__main__":
    sys.exit(main())
