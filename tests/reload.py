"""Reload under load: `python -m tests.reload [CHANGES [THREADS]]`.

Threads convert while the rules change, every tenth time to a broken set. Each result must belong
wholly to one set: its keys, its values and its hash say the same number.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import wireglot

RULES = """\
wireglot: 2
dialect: acme
see: https://acme.example/api
verified: 2026-11-22
shapes:
  text: {wire: {text_N: $text}}
unions: {part: [text]}
conversation:
  per: message
  wire: {says_N: $parts each part}
  cases: {user: {wire: {by: human_N}}, assistant: {wire: {by: model_N}}}
request:
  wire:
    model: $model
    set: set_N
    talk_N: $messages as conversation
    most_N: $max_tokens (optional)
"""
BODY: dict[str, Any] = {
    "model": "m",
    "max_completion_tokens": 5,
    "messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Bye"},
    ],
}


class Told(NamedTuple):
    """What a run found."""

    conversions: int
    swaps: int
    broken: int  # broken sets that were reported
    failed: int  # conversions that raised
    mixed: int  # results of more than one set


def _one(n: str) -> dict[str, Any]:
    """Return what the set of number `n` makes of the body, written by hand."""
    talk = [("human", "Hi"), ("model", "Hello"), ("human", "Bye")]
    messages = [{"by": f"{who}_{n}", f"says_{n}": [{f"text_{n}": text}]} for who, text in talk]
    return {"model": "m", "set": f"set_{n}", f"talk_{n}": messages, f"most_{n}": 5}


@contextlib.contextmanager
def working(work: Callable[[int], None], threads: int) -> Iterator[None]:
    """Let threads do some work, each by its number, again and again until the block ends."""
    stop = threading.Event()

    def go(number: int) -> None:
        while not stop.is_set():
            work(number)

    workers = [threading.Thread(target=go, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        stop.set()
        for worker in workers:
            worker.join()


def run(folder: Path, threads: int = 8, changes: int = 1000) -> Told:
    """Change the rules in a folder while threads convert; return what came of it."""
    file = folder / "acme.yaml"
    file.write_text(RULES.replace("_N", "_0"))
    live = wireglot.load_rules(folder).watch(start=False)
    hashes = {live.hash: "0"}
    results: list[Any] = []
    failures: list[BaseException] = []

    def convert(_: int) -> None:
        try:
            out = live.convert(BODY, "openai-chat", "acme")
        except Exception as error:  # anything at all is a failure of the promise
            failures.append(error)
        else:
            results.append((out.rules_hash, out.body, out.notes))
            time.sleep(0.0005)

    broken = 0
    with working(convert, threads):
        for n in range(1, changes + 1):
            text = RULES.replace("_N", f"_{n}")
            if n % 10 == 0:
                text = text.replace("$text", "$no_such_field")
            file.write_text(text)
            if not live.reload():
                broken += isinstance(live.error, wireglot.RuleError)
            else:
                hashes[live.hash] = str(n)
    mixed = sum(body != _one(hashes[h]) or notes != () for h, body, notes in results)
    return Told(len(results), live.swaps, broken, len(failures), mixed)


def main() -> int:
    """Run it, print what came of it; status 1 if anything was not as promised."""
    numbers = [int(word) for word in sys.argv[1:]]
    changes, threads = [*numbers, *(1000, 8)[len(numbers) :]]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        told = run(Path(folder), threads, changes)
    print(f"{threads} threads, {changes} changes, {time.monotonic() - began:.0f} s")
    for name, number in told._asdict().items():
        print(f"{name:12} {number}")
    wrong = told.failed or told.mixed or told.swaps + told.broken != changes
    return 1 if wrong or told.broken != changes // 10 else 0


if __name__ == "__main__":
    sys.exit(main())
