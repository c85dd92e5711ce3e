"""Run recorded streams of providers to every dialect that has streams, and print a table.

    python -m tests.streamsweep [--every N] [--change N] [--to DIALECT,...] FILE...

A file is `DIALECT=FILE`, or the dialect is its name. Of each stream and target: no error, what is
written folds to what the whole response becomes, the official SDK accepts the frames in order, and
changes of `N` single leaves of frames are heard. `failed` lists the first of each kind; what a line
of `tests/exceptions.txt` of the unit `stream` names is counted apart.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wireglot
from tests import sweep
from tests.oracles import frames as oracle
from tests.streamsdk import accepted

FAMILY = {"gemini": ("vertex",), "vertex": ("gemini",)}
SHARED = {"openai-chat", "openai-responses"}  # of one family, in other words
KEYED = (
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
)
PLACED = ("vertex",)  # calls have no ids there
TARGETS = ("openai-chat", "openai-responses", "anthropic", "gemini", "vertex", "ollama")


def recorded(path: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the recorded streams of a file, each with its id."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record.get("stream"):
                yield record["id"], [data(event) for event in record["stream"]]


def data(event: Any) -> Any:
    """Return the frame of a recorded event; where names stand outside, the name is its one key."""
    if not isinstance(event, dict) or "data" not in event:
        return event
    return {event["event"]: event["data"]} if event.get("event") in KEYED else event["data"]


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
        plain = part.keys() - {"citations"} == {"type", "text"}
        key = kind if plain else nth
        if key in made:
            before, cited = made[key]["text"], made[key].get("citations", [])
            cited = cited + [moved(one, len(before)) for one in part.get("citations", [])]
            made[key] = {"type": kind, "text": before + part["text"]}
            made[key] |= {"citations": cited} if cited else {}
        else:
            made[key] = part
    return [p for p in made.values() if p.get("type") != "text" or p["text"].strip()]


def moved(citation: Any, by: int) -> Any:
    """Return a citation of a text before which another one stands now."""
    places = ("start_index", "end_index")
    return {k: v + by if k in places else v for k, v in citation.items()}


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
    for one in (made, meant):
        if unsaid and not any(one.get("usage", {}).values()):
            one.pop("usage", None)  # counts come at the end
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


def unheard(
    rules: Any, frames: list[Any], source: str, target: str, name: str, change: int
) -> tuple[int, list[sweep.Failure]]:
    """Change leaves of frames, one after another; return how many, and those that nothing told."""
    found = oracle.perturb(rules, frames, source, target, change, name)
    failures = [
        sweep.Failure("unheard", source, target, "stream", name, str(f)) for f in found.unheard
    ]
    failures += [sweep.Failure("crash", source, target, "stream", name, c) for c in found.crashes]
    return found.tried, failures


def judged(
    rules: Any, frames: list[Any], source: str, target: str, name: str, change: int
) -> tuple[collections.Counter[str], list[sweep.Failure]]:
    """Take one stream to one target; return the counts, and what is wrong."""
    try:
        wrong = tried(rules, frames, source, target)
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"[:200]
    counts = collections.Counter({"failed" if wrong else "right": 1})
    failures = [sweep.Failure("error", source, target, "stream", name, wrong)] if wrong else []
    if change and source != target and not wrong:
        counts["changes"], silent = unheard(rules, frames, source, target, name, change)
        failures += silent
    return counts, failures


def main(arguments: list[str]) -> int:
    """Run the files; return whether something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.streamsweep")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--every", type=int, default=1, help="take every so many streams")
    parser.add_argument("--change", type=int, default=0, help="leaves changed of each stream")
    parser.add_argument("--to", type=lambda text: text.split(","), help="other targets")
    options = parser.parse_args(arguments)
    rules = wireglot.load_rules()
    lines = sweep.exemptions(sweep.EXCEPTIONS.read_text("utf-8"))
    table: dict[tuple[str, str], collections.Counter[str]] = {}
    first: dict[str, str] = {}
    for given in options.files:
        source, _, path = given.rpartition("=")
        source = source or Path(path).name.split(".")[0]
        targets = options.to or (*TARGETS, *({source} - {*TARGETS}))
        for nth, (name, frames) in enumerate(recorded(path)):
            for target in targets if nth % options.every == 0 else ():
                counts, failures = judged(rules, frames, source, target, name, options.change)
                row = table.setdefault((source, target), collections.Counter())
                row.update(counts)
                for failure in failures:
                    kind = sweep.class_of(failure, lines)
                    row["excepted" if kind else failure.what] += failure.what != "error"
                    if kind is None:
                        wrong = f"{failure.what} {failure.message.partition(' of frame')[0][:90]}"
                        first.setdefault(f"{source} -> {target}: {wrong}", name)
    for (source, target), row in table.items():
        heads = ("right", "failed", "changes", "unheard", "crash", "excepted")
        cells = (f"{row[head]:7} {head}" for head in heads if row[head] or head in heads[:2])
        print(f"{source:14} {target:14}", *cells)
    for wrong, name in first.items():
        print(f"failed {wrong} ({name})")
    return bool(first)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
