"""Run recorded streams of providers to every dialect that has streams, and print a table.

python -m tests.streamsweep [--every N] FILE... (`DIALECT=FILE`, or the dialect is the file's name)

Of each stream and target: no error, what is written folds to what the whole response becomes, and
the official SDK accepts the frames in order. `failed` lists the first of each kind.
"""

from __future__ import annotations

import collections
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wireglot
from tests.streamsdk import accepted

FAMILY = {"gemini": ("vertex",), "vertex": ("gemini",)}
SHARED = {"openai-chat", "openai-responses"}  # of one family, in other words
PLACED = ("vertex",)  # calls have no ids there
TARGETS = ("openai-chat", "openai-responses", "anthropic", "gemini", "vertex", "ollama")


def recorded(path: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the recorded streams of a file, each with its id."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record.get("stream"):
                yield record["id"], [_data(event) for event in record["stream"]]


def _data(event: Any) -> Any:
    return event["data"] if isinstance(event, dict) and "data" in event else event


def meaning(value: Any) -> Any:
    """Return a response of the IR without memory, and its texts as a stream can hold them.

    Where nothing addresses texts, those around a call cannot be told from one text.
    """
    if isinstance(value, dict):
        skip = ("spelled", "kept", "arguments_json")
        plain = {k: meaning(v) for k, v in value.items() if k not in skip}
        if isinstance(plain.get("parts"), list):
            plain["parts"] = joined(plain["parts"])
        return plain
    return [meaning(v) for v in value] if isinstance(value, list) else value


def joined(parts: list[Any]) -> list[Any]:
    """Put all texts of one kind in the place of the first; what is blank is nothing."""
    made: dict[Any, Any] = {}
    for nth, part in enumerate(parts):
        kind = part["type"]
        plain = part.keys() == {"type", "text"}
        key = kind if plain else nth
        if key in made:
            made[key] = {"type": kind, "text": made[key]["text"] + part["text"]}
        else:
            made[key] = part
    return [p for p in made.values() if p.get("type") != "text" or p["text"].strip()]


def unnamed(ir: Any) -> Any:
    """Return a response without the ids of its items, which are made."""
    for one in ir["candidates"]:
        for part in one["parts"]:
            for own in part.get("own", {}).values():
                own.pop("item", None)
            if not any(part.get("own", {}).values()):
                part.pop("own", None)
    return ir


def tried(rules: Any, frames: list[Any], source: str, target: str) -> str:
    """Translate one stream; return what is wrong, or an empty text."""
    translator = rules.translator(source=source, target=target)
    out = [new for frame in frames for new in translator.feed(frame)]
    out += translator.finish()
    if source == target:
        return "" if out == frames else "not the same at home"
    if translator.error is not None:
        return ""
    body = translator.result.body
    reads = rules[target].read
    made = meaning(reads(rules.collect(out, target), unit="response").ir)
    meant = meaning(reads(body, unit="response").ir)
    unsaid = "cut-short" in {note.code for note in translator.notes}
    for one in (*made["candidates"], *meant["candidates"]):
        if unsaid:
            one.pop("stop_reason", None)  # the source did not say why
        for part in one["parts"] if target in PLACED else ():
            part.pop("id", None)  # made of the place, and that is another with joined texts
    if {source, target} == SHARED:  # what they share may have no place in a frame
        made.pop("own", None), meant.pop("own", None)
    if target == "openai-responses":
        made, meant = unnamed(made), unnamed(meant)
    if made != meant:
        return "folds to something else"
    if unsaid:
        return ""
    if target in FAMILY.get(source, ()) and accepted(frames, body, source):
        return ""  # odd at home, and carried to its family as it is
    return accepted(out, body, target)


def main(arguments: list[str]) -> int:
    """Run the files; return whether something failed."""
    every = 1
    if arguments[:1] == ["--every"]:
        every, arguments = int(arguments[1]), arguments[2:]
    rules = wireglot.load_rules()
    table: dict[tuple[str, str], collections.Counter[str]] = {}
    first: dict[str, str] = {}
    for given in arguments:
        source, _, path = given.rpartition("=")
        source = source or Path(path).name.split(".")[0]
        for nth, (name, frames) in enumerate(recorded(path)):
            if nth % every:
                continue
            for target in TARGETS:
                try:
                    wrong = tried(rules, frames, source, target)
                except Exception as error:
                    wrong = f"{type(error).__name__}: {error}"[:200]
                counts = table.setdefault((source, target), collections.Counter())
                counts["failed" if wrong else "right"] += 1
                if wrong:
                    first.setdefault(f"{source} -> {target}: {wrong[:90]}", name)
    for (source, target), counts in table.items():
        print(f"{source:14} {target:14} {counts['right']:5} right {counts['failed']:5} failed")
    for wrong, name in first.items():
        print(f"failed {wrong} ({name})")
    return bool(first)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
