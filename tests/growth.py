"""How time grows: each kind of work at n, 2n and 4n of what makes it long.

    python -m tests.growth [--factor 2.6] [WORD ...]

Prints a table, seconds of the processor and by how much the last doubling made them more. Exits 1
where that is more than the factor: twice the messages may take twice the time. Words choose rows.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Sequence
from time import process_time as clock
from typing import Any

import wireglot

Json = Any
FACTOR = 2.6
CHAT, CLAUDE = "openai-chat", "anthropic"
OTHERS = ("anthropic", "gemini", "openai-responses", "ollama")


def user(text: str = "x") -> Json:
    return {"role": "user", "content": text}


def called(*numbers: int) -> Json:
    calls = [
        {
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": "f", "arguments": f'{{"n": {n}}}'},
        }
        for n in numbers
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(number: int) -> Json:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": "1"}


def talk(*messages: Json) -> Json:
    return {"model": "m", "messages": [user(), *messages]}


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


def spoken(size: int) -> Json:
    said = ({"role": "assistant", "content": str(n)} for n in range(size // 2))
    return talk(*(m for one in said for m in (user(), one)))


def rounds(size: int) -> Json:
    return talk(*(m for n in range(size) for m in (called(n), result(n))))


def at_once(size: int) -> Json:
    return talk(called(*range(size)), *map(result, range(size)))


def in_reverse(size: int) -> Json:
    return talk(called(*range(size)), *map(result, reversed(range(size))))


def at_the_end(size: int) -> Json:
    return talk(*map(called, range(size)), *map(result, reversed(range(size))))


def unanswered(size: int) -> Json:
    return talk(*map(called, range(size)), user())


def orphans(size: int) -> Json:
    return talk(*map(result, range(size)), user())


def one_id(size: int) -> Json:
    return talk(*(m for _ in range(size) for m in (called(1), result(1))))


def odd_ids(size: int) -> Json:
    both = (
        (_renamed(called(n), n), {**result(n), "tool_call_id": f"a b/{n}"}) for n in range(size)
    )
    return talk(*(m for pair in both for m in pair))


def deep(size: int) -> Json:
    return talk(_deep(called(1), size), result(1))


# What is asked of a Chat client's history of so many messages, calls, results or levels.
HISTORIES: dict[str, tuple[int, Callable[[int], Json]]] = {
    "messages": (500, spoken),
    "rounds of one call": (250, rounds),
    "calls of one turn": (500, at_once),
    "results in reverse": (500, in_reverse),
    "results at the end": (250, at_the_end),
    "calls without a result": (500, unanswered),
    "results without a call": (500, orphans),
    "calls of one id": (250, one_id),
    "ids that do not fit": (250, odd_ids),
    "depth of arguments": (45, deep),
}


def _renamed(message: Json, number: int) -> Json:
    message["tool_calls"][0]["id"] = f"a b/{number}"
    return message


def _deep(message: Json, depth: int) -> Json:
    message["tool_calls"][0]["function"]["arguments"] = nested(depth)
    return message


def parts(size: int, signed: bool) -> list[Json]:
    """Return parts of a turn of Gemini, each with something to remember."""
    sign = {"thoughtSignature": "c2ln"} if signed else {}
    return [
        {"functionCall": {"id": f"c {n}", "name": "f", "args": {"n": n}}, **sign}
        for n in range(size)
    ]


def nameless(body: Json) -> None:
    """Take the ids from the calls and results of a Gemini client, as most of these have none."""
    for content in body["contents"]:
        for part in content["parts"]:
            for inner in part.values():
                if isinstance(inner, dict):
                    inner.pop("id", None)


def gemini(made: list[Json]) -> Json:
    return {"candidates": [{"content": {"role": "model", "parts": made}, "finishReason": "STOP"}]}


def looped(turns: int, calls: int, state: Any) -> Callable[[], Any]:
    """Return a request after so many turns of a loop, each with signatures."""
    x = wireglot.exchange(CHAT, "gemini", "m", state={})
    messages: list[Json] = [user()]
    for turn in range(turns):
        made = parts(calls, True)
        for part in made:
            part["functionCall"]["id"] += f" {turn}"
        message = x.response(gemini(made)).body["choices"][0]["message"]
        messages.append(message)
        messages += [
            {"role": "tool", "tool_call_id": c["id"], "content": "1"} for c in message["tool_calls"]
        ]
    kept = json.loads(json.dumps(x.state)) if state == {} else state
    return lambda: wireglot.exchange(CHAT, "gemini", "m", state=kept).request(
        {"messages": messages}
    )


HEAD: Json = {
    "id": "a", "type": "message", "role": "assistant", "model": "c", "content": [],
    "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


def frames(size: int, calls: int) -> list[Json]:
    """Return the frames of a Claude that calls tools, the arguments in pieces."""
    out: list[Json] = [{"type": "message_start", "message": HEAD}]
    for nth in range(calls):
        block = {"type": "tool_use", "id": f"toolu_{nth}", "name": "f", "input": {}}
        out.append({"type": "content_block_start", "index": nth, "content_block": block})
        for piece in ('{"a":"', *("x" * (size // calls)), '"}'):
            delta = {"type": "input_json_delta", "partial_json": piece}
            out.append({"type": "content_block_delta", "index": nth, "delta": delta})
        out.append({"type": "content_block_stop", "index": nth})
    stop = {"stop_reason": "tool_use", "stop_sequence": None}
    out.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 2}})
    return [*out, {"type": "message_stop"}]


def streamed(target: str, made: list[Json]) -> Any:
    """Translate frames in an exchange."""
    t = wireglot.exchange(target, CLAUDE, "m", state={}).translator()
    return [new for frame in made for new in t.feed(frame)] + t.finish()


def claude(size: int) -> Json:
    """Return a response of Claude with so many calls."""
    block = {"type": "tool_use", "name": "f"}
    blocks = [{**block, "id": f"toolu_{n}", "input": {"n": n}} for n in range(size)]
    return {**HEAD, "content": blocks, "stop_reason": "tool_use"}


SAID = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
# What a model of llama.cpp says in a text, in so many parts: cut so it streams, joined it is whole.
TEXTS: dict[str, tuple[int, Callable[[int], list[str]]]] = {
    "calls": (60, lambda size: [f"Then {SAID}\n"] * size),
    "marks that open": (500, lambda size: ["<tool_call>"] * size),
    "marks around none": (60, lambda size: ["<tool_call>{}</tool_call>"] * size),
    "spaces": (600, lambda size: ["a", *" " * size]),
    "arguments": (600, lambda size: [SAID[:44], *'"x",' * size, SAID[-14:]]),
}


def spoken_of(pieces: list[str]) -> Json:
    """Return a response that says a text."""
    message = {"role": "assistant", "content": "".join(pieces)}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "c", "object": "chat.completion", "created": 7, "model": "m", "choices": [choice]}


def chunked(pieces: list[str]) -> list[Json]:
    """Return frames that say a text in pieces."""
    head = {"id": "c", "object": "chat.completion.chunk", "created": 7, "model": "m"}
    ends = [None] * len(pieces) + ["stop"]
    return [
        {**head, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": end}]}
        for piece, end in zip([*pieces, ""], ends, strict=True)
    ]


Work = Callable[[int], Callable[[], Any]]
Row = tuple[str, int, Work]  # a name, the least size, and what makes the call of a size


def converted(make: Callable[[int], Json], source: str, target: str) -> Work:
    """Return the work of converting what a Chat client sends, first made of the source."""

    def of(size: int) -> Callable[[], Any]:
        body = make(size)
        if source != CHAT:
            body = wireglot.convert(body, CHAT, source, model="m").body
        if source == "gemini":
            nameless(body)
        return lambda: wireglot.convert(body, source, target, model="m")

    return of


def answered(target: str) -> Work:
    """Return the work of giving a client a response with many calls."""

    def of(size: int) -> Callable[[], Any]:
        body = claude(size)
        return lambda: wireglot.exchange(target, CLAUDE, "m").response(body)

    return of


def translated(target: str, many: bool) -> Work:
    """Return the work of translating many frames of one call, or of many."""

    def of(size: int) -> Callable[[], Any]:
        made = frames(size, size if many else 1)
        return lambda: streamed(target, made)

    return of


def parted(make: Callable[[int], list[str]], streamed: bool) -> Work:
    """Return the work of finding what stands in a text, whole or in pieces."""

    def of(size: int) -> Callable[[], Any]:
        pieces = make(size)
        if not streamed:
            body = spoken_of(pieces)
            return lambda: wireglot.convert(body, "llama-cpp", CLAUDE, unit="response")
        made = chunked(pieces)

        return lambda: [*wireglot.translate(made, "llama-cpp", CLAUDE)]

    return of


def looping(many: bool, state: Any) -> Work:
    """Return the work of a request after many turns, or one turn of many calls."""
    return lambda size: looped(1 if many else size, size if many else 1, state)


def rows() -> list[Row]:
    """Return what is measured."""
    found: list[Row] = []
    for name, (size, make) in HISTORIES.items():
        for target in OTHERS:
            found.append((f"{name}, to {target}", size, converted(make, CHAT, target)))
        found.append((f"{name}, from {CLAUDE}", size, converted(make, CLAUDE, CHAT)))
        found.append((f"{name}, from gemini without ids", size, converted(make, "gemini", CHAT)))
    for kept, state in (("with a state", {}), ("riding", None)):
        found.append((f"turns of an exchange, {kept}", 60, looping(False, state)))
        found.append((f"calls of a turn of an exchange, {kept}", 100, looping(True, state)))
    for target in (CHAT, *OTHERS[1:]):
        found.append((f"calls of a response, to {target}", 150, answered(target)))
        found.append((f"frames of a call, to {target}", 1000, translated(target, False)))
        found.append((f"calls of a stream, to {target}", 60, translated(target, True)))
    for name, (size, said) in TEXTS.items():
        found.append((f"{name} in a text", size, parted(said, False)))
        found.append((f"{name} in a text of a stream", size, parted(said, True)))
    return found


def seconds(call: Callable[[], Any], least: int) -> float:
    """Return the least time of the processor that a call takes, of some runs."""
    best = float("inf")
    spent, runs = 0.0, 0
    while runs < least or (spent < 0.1 and runs < 20):
        start = clock()
        try:
            call()
        except wireglot.WireglotError:
            return float("nan")  # too deep, too many: refused, and at once
        took = clock() - start
        best, spent, runs = min(best, took), spent + took, runs + 1
    return best


def measured(row: Row) -> tuple[list[float], float]:
    """Return the times at n, 2n, 4n, and the factor of the last doubling."""
    _, size, make = row
    times: list[float] = []
    gc.disable()  # looking for garbage takes as long as there are objects, whoever made them
    try:
        for times_more in (1, 2, 4):
            call = make(size * times_more)
            times.append(seconds(call, 3))
    finally:
        gc.enable()
    return times, times[2] / times[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 where time grows faster than what there is to do."""
    parser = argparse.ArgumentParser(prog="python -m tests.growth", description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--factor", type=float, default=FACTOR)
    given = parser.parse_args(arguments)
    bad = 0
    print(f"{'':55s} {'n':>6s} {'at n':>8s} {'2n':>8s} {'4n':>8s}  factor")
    for row in rows():
        if not all(word in row[0] for word in given.words):
            continue
        times, factor = measured(row)
        for _ in range(2):  # once more, and again: something else may have run
            if factor > given.factor:
                times, factor = min((measured(row), (times, factor)), key=lambda one: one[1])
        over = factor > given.factor
        bad += over
        ms = " ".join(f"{1000 * t:8.1f}" for t in times)
        print(
            f"{row[0]:55s} {row[1]:6d} {ms}  {factor:6.2f}{'  too much' if over else ''}",
            flush=True,
        )
    print(f"{bad} rows above {given.factor}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
