"""Take one weather exchange from OpenAI Chat to Anthropic and to Gemini, and back."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wireglot

HOME = "openai-chat"
WIDTH = 92


def main() -> None:
    """Print the exchange: what is sent, what each target gets, the notes, the way back."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    for unit in ("request", "response"):
        body = json.loads((Path(__file__).parent / "weather" / f"{unit}.json").read_text("utf-8"))
        head(f"{unit}: {HOME} (the original)")
        print(fold(body))
        for target in ("anthropic", "gemini"):
            head(f"{unit}: {HOME} to {target}")
            there = wireglot.convert(body, source=HOME, target=target, unit=unit)
            envelope = there.envelope
            if envelope is not None:
                headers = "".join(f"  {name}: {value}" for name, value in envelope.headers.items())
                print(f"{envelope.method} {envelope.path}{headers}")
            print(fold(there.body))
            show(there.notes)
            back = wireglot.convert(
                there.body,
                source=target,
                target=HOME,
                unit=unit,
                model=envelope.model if envelope else None,
                stream=(envelope.stream or None) if envelope else None,
            )
            paths = list(differences(body, back.body))
            verdict = "equal to the original" + (", but for:" if paths else ".")
            print(f"\nBack in {HOME}: {verdict}")
            for line in textwrap.wrap("  ".join(paths), WIDTH - 2):
                print(f"  {line}")


def head(title: str) -> None:
    """Print a heading."""
    print(f"\n== {title} ".ljust(WIDTH, "="))


def show(notes: tuple[wireglot.Note, ...]) -> None:
    """Print notes: what became of which part, by which line of which rule file."""
    print(f"\nNotes: {len(notes) or 'none'}")
    for note in notes:
        where = note.source_path if note.source_path is not None else note.target_path
        rule = (note.rule or "").rpartition("/")[2]
        print(f"  {note.effect:<8}{where or '/':<50}{rule}")
        for line in textwrap.wrap(note.message, WIDTH - 10):
            print(f"          {line}")


def fold(value: Any, indent: int = 0, before: int = 0) -> str:
    """Return JSON text that fills its lines; `before` is what stands before it on the first."""
    flat = json.dumps(value, ensure_ascii=False)
    column = indent + before + 1
    if column + len(flat) <= WIDTH or not isinstance(value, (dict, list)):
        return flat
    pad = "\n" + " " * (indent + 1)
    if isinstance(value, list):
        return "[" + ",".join(pad + fold(item, indent + 1) for item in value) + "]"
    text = ""
    for key, item in value.items():
        name = f"{json.dumps(key)}: "
        if text and column + len(name) + len(json.dumps(item, ensure_ascii=False)) + 2 > WIDTH:
            text, column = f"{text},{pad}", indent + 1
        elif text:
            text, column = f"{text}, ", column + 2
        piece = name + fold(item, indent + 1, column - indent - 1 + len(name))
        text += piece
        column = WIDTH if "\n" in piece else column + len(piece)
    return f"{{{text}}}"


def differences(one: Any, two: Any, path: str = "") -> Iterator[str]:
    """Yield the pointers at which two JSON values differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in one | two:
            if key in one and key in two:
                yield from differences(one[key], two[key], f"{path}/{key}")
            else:
                yield f"{'-' if key in one else '+'}{path}/{key}"
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for index, (left, right) in enumerate(zip(one, two, strict=True)):
            yield from differences(left, right, f"{path}/{index}")
    elif one != two:
        yield path


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
