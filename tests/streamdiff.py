"""Compare the short way of a translator with the interpreter on mutated streams.

    python -m tests.streamdiff [--count N] [--seed TEXT]

Streams are recorded ones (where ../shared/traffic is there) and those of workload W4, shortened;
each is mutated in some frames, in their order, and in the cuts of its bytes. The interpreter reads
each frame by the pictures anew and begins no runs. Prints each kind of difference once; exits 1 on
any.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any
from unittest import mock

import wireglot
from benchmarks import stream_frames
from wireglot.streaming import fold

from .mutate import mutate
from .streamsweep import recorded
from .test_requests import TRAFFIC

RULES = wireglot.load_rules()
SOURCES = {
    "openai-chat": "", "openai-responses": "", "anthropic": "", "gemini": "", "vertex": "gemini",
    "ollama": "",
}  # fmt: skip
LONGEST = 60  # frames of a stream
PIECES = ("", " ", "{", "}", '{"a":1}', '"', "\\", "é", "\udfff", "\n", "a" * 200, "日本")
Json = Any


@cache
def streams(dialect: str) -> list[list[Json]]:
    """Return streams of a dialect: recorded ones, shortened in the middle, and made ones."""
    found = []
    if dialect in ("openai-chat", "anthropic", "gemini"):
        found = [stream_frames.frames(dialect, seed, small=True) for seed in range(3)]
    file = TRAFFIC / f"{SOURCES[dialect] or dialect}.jsonl.gz"
    if file.is_file():
        half = LONGEST // 2
        for _, frames in recorded(str(file)):
            cut = len(frames) > LONGEST
            found.append([*frames[:half], *frames[-half:]] if cut else frames)
    return found


def mutant(frames: list[Json], chance: random.Random) -> list[Json]:
    """Return a stream with something odd in it."""
    made = list(frames)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(made)) if made else 0
        match chance.randrange(8):
            case 0:
                made[at : at + 1] = [made[at], made[at]] if made else []
            case 1:
                del made[at : at + 1]
            case 2:
                other = chance.randrange(len(made) + 1)
                made.insert(other, made[at] if made else {})
            case 3 | 4 if made:
                made[at] = mutate(made[at], chance)
            case 5:
                del made[at:]
            case _ if made:
                made[at] = _piece(made[at], chance)
    return made


def _piece(frame: Json, chance: random.Random) -> Json:
    """Put an odd text where a frame has its longest or its last one."""
    try:
        frame = copy.deepcopy(frame)
    except RecursionError:
        return frame
    texts: list[tuple[Json, Json]] = []
    stack = [frame]
    while stack:
        value = stack.pop()
        pairs = value.items() if isinstance(value, dict) else ()
        for key, child in enumerate(value) if isinstance(value, list) else pairs:
            if isinstance(child, dict | list):
                stack.append(child)
            elif isinstance(child, str):
                texts.append((value, key))
    if texts:
        owner, key = chance.choice(texts)
        owner[key] = chance.choice(PIECES)
    return frame


def outcome(
    frames: Sequence[Json], pair: tuple[str, str], rules: Any = RULES, **more: Any
) -> list[Any]:
    """Return all that can be seen of a translation, or as far as it came, and the error."""
    seen: list[Any] = []
    t = rules.translator(source=pair[0], target=pair[1], **more)
    data = bool(frames) and isinstance(frames[0], bytes)
    through: Any = t.as_bytes() if data else t
    try:
        for frame in frames:
            seen.append(through.feed(frame))
        seen.append(through.finish())
        seen.append(t.error)
        seen.append(t.notes)
        if more.get("result", True):
            seen.append(t.result.body)
    except wireglot.ConversionError as error:
        seen.append(repr(error))
    return seen


class Deaf:
    """Knows no form of frames, so that each is read by the pictures and no run begins."""

    def find(self, frame: Json) -> None: ...
    def learn(self, *given: Any) -> None: ...


@contextlib.contextmanager
def plainly() -> Iterator[None]:
    """Let streams go the general way alone."""
    with mock.patch.object(fold, "Forms", lambda dialect: Deaf()):
        yield


def difference(frames: Sequence[Json], pair: tuple[str, str], **more: Any) -> str:
    """Return what differs between the short ways and the interpreter, or an empty text."""
    short = outcome(frames, pair, **more)
    with plainly():
        plain = outcome(frames, pair, **more)
    for nth, (one, two) in enumerate(zip(short, plain, strict=False)):
        if _shown(one) != _shown(two):
            return f"step {nth} of {len(plain)}: {one!r:.300} instead of {two!r:.300}"
    return "" if len(short) == len(plain) else f"{len(short)} steps instead of {len(plain)}"


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except RecursionError:
        return "too deep"


def cut(frames: Sequence[Json], dialect: str, chance: random.Random) -> list[bytes]:
    """Return the bytes of frames, cut somewhere: at the ends of events, or anywhere."""
    lines = dialect == "ollama"
    end = chance.choice(("\n", "\n", "\r\n"))
    space = chance.choice(("", " "))
    pieces = []
    for frame in frames:
        try:
            text = frame if isinstance(frame, str) else json.dumps(frame, ensure_ascii=False)
        except RecursionError:
            continue
        name = frame.get("type") if isinstance(frame, dict) and dialect == "anthropic" else None
        head = f"event: {name}{end}" if isinstance(name, str) else ""
        whole = f"{text}{end}" if lines else f"{head}data:{space}{text}{end}{end}"
        pieces.append(whole.encode("utf-8", "replace"))
    if chance.random() < 0.4:
        return pieces
    whole_text = b"".join(pieces)
    count = chance.randrange(1, 40)
    cuts = sorted(chance.randrange(len(whole_text) + 1) for _ in range(count))
    return [whole_text[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole_text)], strict=True)]


def tried(chance: random.Random) -> tuple[str, str]:
    """Compare one mutant; return its pair and the difference."""
    source = chance.choice([name for name in SOURCES if streams(name)])
    pair = (source, chance.choice(list(SOURCES)))
    frames = chance.choice(streams(source))
    if chance.random() < 0.9:
        frames = mutant(frames, chance)
    more: dict[str, Any] = {} if chance.random() < 0.7 else {"result": False}
    if chance.random() < 0.4:
        return " to ".join(pair), difference(cut(frames, source, chance), pair, **more)
    return " to ".join(pair), difference(frames, pair, **more)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare many mutants and print the sums."""
    parser = argparse.ArgumentParser(prog="python -m tests.streamdiff", description=__doc__)
    parser.add_argument("--count", type=int, default=5_000)
    parser.add_argument("--seed", default="0")
    options = parser.parse_args(arguments)
    chance = random.Random(options.seed)
    faults: Counter[str] = Counter()
    for _ in range(options.count):
        pair, fault = tried(chance)
        if fault:
            faults[f"{pair}: {fault}"] += 1
    print(f"{options.count} mutated streams, {faults.total()} that differ")
    for fault, count in faults.most_common(20):
        print(f"{count:5} {fault}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
