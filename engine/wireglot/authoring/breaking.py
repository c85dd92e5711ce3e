"""`wireglot breaking`: what a change of rule files means for users, graded.

wire     what is read, written or refused is otherwise
notes    payloads become what they became; what is told of them is otherwise
prose    comments, layout, examples, where an API is described
"""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UsageError
from ..language.apart import CROSSINGS, EXAMPLES_OF, FOLDER
from ..language.lenses import same
from ..language.source import LADDER, parse
from ..loading import load
from ..rulesets import RuleSet
from . import diff
from .rulediff import Change, wire_content

GRADES = ("wire", "notes", "prose")
# Words that only notes show.
NOTED = {"unsupported", "repeated", "slight", "usual", "note", "effect"}
EXAMPLES = (EXAMPLES_OF, CROSSINGS)  # a file that has one of them says nothing to a conversion
ENDING = ".yaml"
PLACE = re.compile(r"(.+?)(?::(\d+))?(?::(\d+))?\Z", re.DOTALL)  # a file, a line, a column
Texts = Mapping[str, str]  # of rule files, by their paths in a folder


class Graded(NamedTuple):
    """One thing that is otherwise, and how far users are concerned."""

    grade: str
    said: str
    rule: str | None = None  # its place in the rules of now, or of before where it is gone

    def __str__(self) -> str:
        return f"{self.grade}: {self.said}" + (f" ({self.rule})" if self.rule else "")

    def annotation(self, folder: str) -> str:
        """Return it as a command of a workflow, at its place if that is in the rules of now."""
        level = dict(zip(GRADES, ("error", "warning", "notice"), strict=True))[self.grade]
        at = ""
        if self.rule is not None and self.rule.startswith(f"{folder}/"):
            ((file, line, column),) = PLACE.findall(self.rule)
            at = f" file={_escaped(file, ':,')},line={line or 1},col={column or 1}"
        return f"::{level}{at}::{_escaped(f'{self.grade}: {self.said}')}"


def _escaped(text: str, marks: str = "") -> str:
    """Return a text for a command of a workflow; in its properties further marks mean something."""
    for mark in f"%\r\n{marks}":
        text = text.replace(mark, f"%{ord(mark):02X}")
    return text


def against(folder: str, ref: str, converting: bool = True) -> list[Graded]:
    """Compare the rule files of a folder with those of another, or of a revision of git.

    Raises RuleError, UsageError.
    """
    old = _in_folder(ref) if ref and Path(ref).is_dir() else _in_git(folder, ref)
    new = _in_folder(folder)
    files = {n: t for n, t in old.items() if "/" not in n or n.startswith(f"{FOLDER}/")}
    found = diff.compare(_load(files, old), _load(folder, new), converting)
    graded = [Graded(_grade(one), str(one._replace(rule=None)), one.rule) for one in found.fields]
    graded += [Graded(GRADES[one.noted], str(one)) for one in found.pairs]
    graded += _files(folder, old, new, {one.of for one in found.fields})
    return sorted(graded, key=lambda one: GRADES.index(one.grade))


def _in_folder(folder: str) -> dict[str, str]:
    files = sorted(Path(folder).rglob(f"*{ENDING}"))
    return {
        file.relative_to(folder).as_posix(): file.read_text("utf-8", "replace") for file in files
    }


def _in_git(folder: str, ref: str) -> dict[str, str]:
    """Return the rule files that a revision has at the place of a folder. Raises UsageError."""
    # An archive made within a folder is of that folder; what begins with `-` is no revision.
    command = ["git", "-C", folder, "archive", "--format=tar", "--end-of-options", ref]
    try:
        made = subprocess.run(command, capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise UsageError("git is not installed; name a folder of rule files") from None
    except subprocess.CalledProcessError as error:
        told = error.stderr.decode("utf-8", "replace").strip()
        raise UsageError(f"`{ref}` is no folder, and git says: {told}") from None
    found = {}
    with tarfile.open(fileobj=io.BytesIO(made)) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(ENDING):
                file = archive.extractfile(member)
                found[member.name] = file.read().decode("utf-8", "replace") if file else ""
    return found


def _load(source: Any, texts: Texts) -> RuleSet:
    """Load rule files with their examples; a folder with a ladder needs no packaged ones."""
    base = {} if f"{LADDER}{ENDING}" in texts else load.from_yaml(load.packaged_name([source]))
    return load.rule_set(load.flat_unchecked(base, [source], []))


def _grade(change: Change) -> str:
    words = {word for path in change.paths for word in path.split(".")}
    return "notes" if not change.units and words & NOTED else "wire"


def _files(folder: str, old: Texts, new: Texts, explained: Iterable[str]) -> Iterator[Graded]:
    """Yield files of other text of which nothing was told."""
    for name in [name for name in {**old, **new} if old.get(name) != new.get(name)]:
        files = (parse(texts.get(name, "{}"), name) for texts in (old, new))
        before, after = map(wire_content, files)
        content = after or before
        place = f"{folder}/{name}" if name in new else None
        if content.get("dialect", Path(name).stem) in explained:
            continue
        if any(word in content for word in EXAMPLES):
            yield Graded("prose", f"{name}: other examples", place)
        elif same(before, after) or "dialect" in content:
            yield Graded("prose", f"{name}: other comments, layout, examples or `see`", place)
        else:
            word = "is new" if not before else "is gone" if not after else "says something else"
            yield Graded("wire", f"{name} {word}; what it does is not tried", place)
