"""Every command and Python snippet of the README and the docs runs and prints what stands there.

Conventions of those pages: blocks share one scratch directory per page, which holds `examples/`.
A `yaml` block that opens with `# some-directory/name.yaml` is written there (`# rules/...` is a
quotation and is compared with the packaged file); `# some-directory/name.yaml, more` lays its lines
over that file, key by key, as the page tells its reader to. A `json` block whose fence names a file
is written there. A `console` block holds `$ command` and below it the output, where `...` stands
for anything; a `sh` block holds commands.

A command that is `wireglot` and needs no shell, but perhaps for a text by `echo`, runs in this
process: it starts quicker. Where the suite goes wide, those of the README run as processes of their
own, as anybody would run them, and laws and differences cross to all dialects, not to the main ones
alone.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import wireglot
from wireglot.authoring import conversiondiff, rulediff, trial

from .command import run
from .width import MAIN, WIDE

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES.remove(ROOT / "docs" / "move.md")  # it asks for sessions: `test_move` runs it where some are
NOT_RUN = ("pip", "git", "cd")


class Block(NamedTuple):
    language: str
    file: str
    line: int
    text: str


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    fence = r"^```(\w+) *([^\n]*)\n(.*?)^```$"
    for match in re.finditer(fence, text, re.MULTILINE | re.DOTALL):
        yield Block(match[1], match[2], text.count("\n", 0, match.start(3)) + 1, match[3])


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Yield each command with the output that stands below it."""
    text = block.text.replace("\\\n", "")
    if block.language == "sh":
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                yield line, ""
        return
    for piece in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = piece.partition("\n")
        yield command, output


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def check_output(expected: str, printed: str, where: str) -> None:
    pattern = [re.escape(line.rstrip()) for line in expected.strip().splitlines()]
    seen = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    matched = re.fullmatch("\n".join(pattern).replace(r"\.\.\.", ".*"), seen, re.DOTALL)
    assert matched, f"{where} printed:\n{printed}"


def run_command(command: str, output: str, where: str, apart: bool = False) -> None:
    """Run a command and compare what it prints; `apart` asks for a process of its own."""
    words = shlex.split(command, comments=True)
    if words[0] == "make":
        named = {word for word in words[1:] if "=" not in word}
        assert named <= targets(), f"{where}: the Makefile has no {sorted(named - targets())}"
        return
    if words[0] in NOT_RUN:
        return
    given, alone = piped(command)
    if alone.startswith("wireglot ") and not apart and not needs_shell(alone):
        words = shlex.split(alone, comments=True)
        status, text, _ = run(*words[1:], stdin=given.encode("utf-8"), together=True)
        printed = text.decode("utf-8")
    else:
        status, printed = in_shell(command)
    if output:
        check_output(output, printed, f"{where}: `{command}`")
    else:
        assert status == 0, f"{where}: `{command}` printed:\n{printed}"


def piped(command: str) -> tuple[str, str]:
    """Return what `echo` gives to a command, if it does, and the command alone."""
    told = re.fullmatch(r"echo '([^'\\\\]*)' \| (.*)", command, re.DOTALL)
    return (f"{told[1]}\n", told[2]) if told else ("", command)


def needs_shell(command: str) -> bool:
    """Tell whether a command has an operator of the shell, a variable or a pattern."""
    reader = shlex.shlex(command, posix=False, punctuation_chars=True)
    return any(set(token) & set("();<>|&$`*?~") for token in reader if token[0] not in "'\"")


def in_shell(command: str) -> tuple[int, str]:
    """Run a command of any kind; return its exit status, and what it printed to both streams."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command,
        shell=True,
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
    )
    return done.returncode, done.stdout


def store_or_compare(block: Block) -> None:
    match = re.match(r"# ([\w.-]+/[\w./-]+\.yaml)(, more)?\b", block.text)
    if match is None:
        return
    path = Path(match[1])
    if match[2]:
        lines = laid_over(path.read_text("utf-8").splitlines(), block.text.splitlines()[1:])
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return
    if path.parts[0] == "rules":
        quoted = [line.strip() for line in block.text.splitlines()[1:] if line.strip() != "..."]
        packaged = [line.strip() for line in (ROOT / path).read_text("utf-8").splitlines()]
        missing = [line for line in quoted if line and line not in packaged]
        assert not missing, f"{path} does not hold these quoted lines: {missing}"
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, "utf-8")


def laid_over(below: list[str], above: list[str]) -> list[str]:
    """Lay the lines of YAML over others: what is named there goes in or instead, the rest stays."""
    groups = grouped(below)
    for key, lines in grouped(above).items():
        old = groups.get(key, [])
        nested = len(old) > 1 and len(lines) > 1
        groups[key] = [old[0], *laid_over(old[1:], lines[1:])] if nested else lines
    return [line for lines in groups.values() for line in lines]


def grouped(lines: list[str]) -> dict[str, list[str]]:
    """Group lines by the keys of the outermost level, each with what is indented below it."""
    groups: dict[str, list[str]] = {}
    outer = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    for line in lines:
        if line.strip():
            if line[outer] != " ":
                key = line.strip().partition(": ")[0].rstrip(":")
                key = line.strip() if key.startswith("- ") else key
                groups[key] = [line]
            else:
                groups[next(reversed(groups))].append(line)
    return groups


def test_lines_are_laid_over_a_file_by_their_keys() -> None:
    below = ["a: 1", "b:", "  c: {x: 1}", "  d:", "    - e", "f: 2"]
    above = ["b:", "  d:", "    - g", "  c: {x: 2}", "h: 3"]
    assert laid_over(below, above) == [
        "a: 1", "b:", "  c: {x: 2}", "  d:", "    - e", "    - g", "f: 2", "h: 3",
    ]  # fmt: skip


class Few:
    """A rule set that tells of the main dialects alone, and of those that changed."""

    def __init__(self, rules: Any, found: list[rulediff.Change]) -> None:
        self.rules = rules
        names = {*MAIN, *(one.of for one in found)}
        self.dialects = [name for name in rules.dialects if name in names]

    def __getitem__(self, name: str) -> Any:
        return self.rules[name]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rules, name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    if not WIDE:
        monkeypatch.setattr(trial, "Trial", functools.partial(trial.Trial, targets=MAIN))
        pairs: Any = conversiondiff.pairs
        monkeypatch.setattr(
            conversiondiff, "pairs", lambda old, new, found: pairs(Few(old, found), new, found)
        )
        # The packaged rules are one set, of which what is audited is known.
        load = wireglot.load_rules
        monkeypatch.setattr(
            wireglot, "load_rules", lambda *a, **k: load(*a, **k) if a or k else wireglot.packaged()
        )
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.language == "python":
            code = "\n" * (block.line - 1) + block.text
            exec(compile(code, str(page), "exec"), names)
        elif block.language in ("sh", "console"):
            for command, output in commands(block):
                run_command(command, output, where, apart=WIDE and page.name == "README.md")
        elif block.language == "yaml":
            store_or_compare(block)
        elif block.language == "json" and block.file:
            path = Path(block.file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")


def test_the_demo_fits_the_screen_and_tells_what_each_pair_loses() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / "demo.py")],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    lines = [
        line for line in done.stdout.splitlines() if not line.startswith("  openai-responses  {")
    ]
    assert len(lines) <= 40
    table = {line.split()[0]: line for line in lines if re.match(r"  \S+ +\d+ +", line)}
    assert list(table) == ["anthropic", "openai-chat", "openai-responses", "gemini"]
    assert [line.count(" - ") + line.endswith(" -") for line in table.values()] == [1] * 4
    notes = [line.split() for line in lines if re.match(r"  \S+ +(lost|changed) +/", line)]
    told = [effect for name, effect, _ in notes if name == "openai-chat"]
    assert f"{told.count('lost')} lost, {told.count('changed')} changed" in table["anthropic"]
    assert "is_error" in done.stdout and '{"error": "no station"}' in done.stdout
