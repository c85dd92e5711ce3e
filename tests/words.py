"""The words of the rule language, and who uses each: packaged rule files, and those of the trials.

    python -m tests.words [--unused | --before]

A word counts where it stands as one, read from the parsed file: a key of the language, what stands
in a hole, a word of `enforce` or of a limit. Exit code 1: with `--unused`, a word has no user.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wireglot.language import (
    drawn,
    events,
    lenses,
    nodes,
    orderwords,
    short,
    source,
    valuewords,
)
from wireglot.language import words as wordlist
from wireglot.language.forms import EXAMPLES, ROW_EXAMPLES

ROOT = Path(__file__).parent.parent
MODES = ("as", "each", "entries")
SPECIAL = ("$absent", "$present", "$has", "$nth", "$run", "$removed", "$own: [..]", "...", "key!")
HOLE = re.compile(r"\$(?:\.|[a-zA-Z_][\w.]*)")


def groups() -> dict[str, tuple[str, ...]]:
    """Return the words of the language by what they stand in."""
    bounds = {word for bounds in valuewords.BOUNDS.values() for word in bounds.words}
    nodes_ = (valuewords.SCHEMA, valuewords.REWRITE, valuewords.MUST)
    found: dict[str, Any] = {
        "file": wordlist.FILE.words,
        "shape": wordlist.SHAPE.words,
        "conversation": wordlist.CONVERSATION.words,
        "enforce": {*orderwords.ENFORCE.words, *_values()},
        "limit": {*valuewords.LIMIT.words, *bounds},
        "table": valuewords.TABLE.words.keys() - {"examples"},
        "schema": {*(w for f in nodes_ for w in f.words), *nodes.LENSES} - {"note", "examples"},
        "mode": MODES,
        "codec": {*lenses.LENSES, *lenses.LENS_SPELLED, "again", "single"},
        "guard": lenses.GUARDS,
        "mark": drawn.MARKS,
        "stream": wordlist.STREAM.words,
        "act": events.ACTS,
        "example": {word for form, _ in (EXAMPLES, ROW_EXAMPLES) for word in form.of.words},
        "ladder": wordlist.ROW.words,
        "special": SPECIAL,
    }
    return {name: tuple(sorted(words)) for name, words in found.items()}


def _values() -> Iterator[str]:
    """Yield what words of `enforce` take that is a word of the language, too."""
    for said in orderwords.VALUES.values():
        yield from said
    for word, beside in orderwords.TURNS.items():
        yield from (word, *beside)
    yield "alternate"


def before() -> dict[str, dict[str, str]]:
    """Return the words of version 1 by group, each with what says it now."""
    text = Path(__file__).with_name("words-1.yaml").read_text("utf-8")
    found: dict[str, dict[str, str]] = {}
    for group, said in source.parse(text, "words-1.yaml").plain().items():
        same = {word: word for word in said.pop("same").split()}
        found[group] = {**same, **said}
    return found


@functools.cache
def users() -> dict[tuple[str, str], set[str]]:
    """Return the files that use each word: `group, word` to names; those of trials in brackets."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for folder, shown in (("rules", "{}"), ("rules/examples", "{}"), ("rules/overlays", "{}"),
                          ("tests/trials", "({})")):  # fmt: skip
        for path in sorted((ROOT / folder).glob("*.yaml")):
            node = source.parse(path.read_text("utf-8"), path.name)
            for one in _file(node.plain()):
                found[one].add(shown.format(path.stem))
    return found


def _file(file: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for row in [file, *(file.get("variants") or file.get("variants!") or ())]:
        for key, value in row.items() if isinstance(row, dict) else ():
            word = key.rstrip("!")
            yield "file", word
            if key.endswith("!"):
                yield "special", "key!"
            if not isinstance(value, dict):
                continue
            if word == "shapes":
                for shape in value.values():
                    yield from _shape(shape, "shape")
            elif word == "conversation":
                yield from _shape(value, "conversation")
            elif word in ("request", "response", "error", "session", "envelope"):
                yield from _shape(value, "shape")
            elif word == "stream":
                yield from _stream(value)
            elif word == "examples":
                for owner, listed in value.items():
                    yield ("stream" if owner == "stream" else "shape"), "examples"
                    yield from _examples(listed)
            elif word == "ladder":
                for rows in value.values():
                    for one in rows if isinstance(rows, list) else rows.values():
                        if not isinstance(one, dict):
                            continue
                        yield from (("ladder", name) for name in one)
                        yield from _examples(one.get("examples"))
                        yield from _texts({k: v for k, v in one.items() if k in ("from", "to")})
            elif word in ("limits", "tables", "schemas"):
                for inner in value.values():
                    if isinstance(inner, dict):
                        yield from ((word[:-1], name) for name in inner)
                        if word == "schemas":
                            yield from _schema(inner)
            else:
                yield from _texts(value)


def _schema(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and value.startswith("$"):
        yield from (("schema", lens.strip()) for lens in value.split("|")[1:])
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield "schema", key
            yield from _schema(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _schema(inner)


def _shape(value: Any, what: str) -> Iterator[tuple[str, str]]:
    for key, inner in value.items() if isinstance(value, dict) else ():
        word = key.rstrip("!")
        yield what, word
        if key.endswith("!"):
            yield "special", "key!"
        if word in ("wire", "ir", "message"):
            yield from _texts(inner)
        elif word == "cases" and isinstance(inner, dict):
            for case in inner.values():
                yield from _shape(case, what)
        elif word == "examples":
            yield from _examples(inner)
        elif word == "enforce":
            yield from (("enforce", name) for name in _names(inner))
        elif isinstance(inner, str) and inner == "$removed":
            yield "special", "$removed"
    if value == "$removed":
        yield "special", "$removed"


def _names(value: Any) -> Iterator[str]:
    """Yield keys and words of a value, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)
    elif isinstance(value, str):
        yield value


def _stream(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        yield "stream", key.rstrip("!")
        if key.rstrip("!") in ("events", "read-also") and isinstance(inner, dict):
            for name in inner:
                yield from (("act", act.partition(".")[0]) for act in name.rstrip("!").split("+"))
        if key != "examples":
            yield from _texts(inner)
        else:
            yield from _examples(inner)


def _examples(listed: Any) -> Iterator[tuple[str, str]]:
    for one in listed if isinstance(listed, list) else ():
        yield from (("example", word) for word in one)


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if short.LIST.fullmatch(key):
                yield "special", "$own: [..]"
            if key.rstrip("!") == "...":
                yield "special", "..."
            if key.endswith("!"):
                yield "special", "key!"
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str) and value.startswith("$"):
        for word in ("$absent", "$present", "$has", "$nth", "$run", "$removed"):
            if re.match(re.escape(word) + r"\b", value):
                yield "special", word
        match = drawn.HOLE.fullmatch(value)
        if match:
            if match["mode"]:
                yield "mode", match["mode"]
            for lens in match["lenses"].split("|")[1:]:
                for one in lens.strip().split("+"):
                    yield "codec", one
                    yield "guard", one
            if match["mark"]:
                yield "mark", match["mark"]


def _told() -> int:
    """Print the words of version 1 with what became of them, and how many there were and are."""
    old, new = before(), groups()
    for group, words in old.items():
        for word, now in sorted(words.items()):
            print(f"{group:<13}{word:<24}{'' if now == word else now}".rstrip())
    for group in new:
        print(f"{group:<13}{len(old[group]):>4} before {len(new[group]):>4} now")
    told = {word for words in old.values() for word in words}
    tells = {word for words in new.values() for word in words}
    counts = sum(map(len, old.values())), sum(map(len, new.values()))
    print(f"{counts[0]} before, {counts[1]} now; as different words {len(told)} and {len(tells)}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Print the words with their users."""
    parser = argparse.ArgumentParser(prog="python -m tests.words", description=__doc__)
    parser.add_argument("--unused", action="store_true", help="only the words without a user")
    parser.add_argument(
        "--before", action="store_true", help="those of version 1, and what says them now"
    )
    asked = parser.parse_args(arguments)
    if asked.before:
        return _told()
    found, without, count = users(), 0, 0
    for group, words in groups().items():
        for word in words:
            names = sorted(found.get((group, word), ()))
            count += 1
            without += not names
            if asked.unused and names:
                continue
            shown = ", ".join(names) if len(names) < 5 else f"{len(names)} files"
            print(f"{group:<13}{word:<24}{shown or '-'}")
    print(f"{count} words, {without} without a user")
    return 1 if asked.unused and without else 0


if __name__ == "__main__":
    sys.exit(main())
