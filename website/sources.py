"""Pages that show files of the repository, line by line: rule files, and what docs/ links to."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from posixpath import normpath

from .pages import Page, coloured, render

LINKED = re.compile(r"\]\((\.\./[^)#\s]+|(?!\w+:|#|docs/)[\w./-]+)(?:#[^)\s]*)?\)")
LANGUAGES = {".yaml": "yaml", ".json": "json", ".py": "python", "": "text"}


@functools.cache
def wanted(root: Path) -> frozenset[str]:
    """Return the files of the repository that have a page."""
    found = [path.relative_to(root).as_posix() for path in (root / "rules").rglob("*.yaml")]
    for folder, pages in (("docs", (root / "docs").glob("*.md")), (".", root.glob("*.md"))):
        for page in pages:
            linked = LINKED.findall(page.read_text("utf-8"))
            found += [normpath(f"{folder}/{path}") for path in linked]
    return frozenset(path for path in found if _shown(path) and (root / path).is_file())


def _shown(path: str) -> bool:
    return not path.startswith(("..", "docs/")) and not path.endswith(".md")


def page(root: Path, path: str) -> Page:
    """Return the page of a file."""
    text = (root / path).read_text("utf-8").rstrip("\n")
    language = LANGUAGES.get(Path(path).suffix, "text")
    return Page(render("source.html", path=path, lines=coloured(text, language)), ())
