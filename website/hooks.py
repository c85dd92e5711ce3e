"""What MkDocs calls: pages that are not files of docs/, and links that lead out of it.

docs/*.md are written for readers of the repository. Here a link to another file of the repository
leads to a page that shows this file, line by line. Pages of rule files, commands and the API are
made of what they describe, at each build.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import get_toc

import wireglot
from website import commandline, dialects, matrix, pages, reference, sources
from wireglot.loading.load import overlays_of
from wireglot.rulesets import RuleSet

ROOT = Path(__file__).resolve().parent.parent
TOP = {"README.md": "index.md", "CHANGELOG.md": "changelog.md"}
DIALECTS, COMMANDS, API, MATRIX = "dialects", "command-line.md", "api.md", "matrix.md"
RULES = "rules"  # a link to this folder leads to the list of dialects
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^```(\w+) +([\w./-]+)$", re.MULTILINE)
ACTIVE = re.compile(r"<(script|iframe|object|embed|link|style|form|base)\b|\son\w+\s*=|javascript:")
TAG = re.compile(r"<[^>]*>")
INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
POLICY = (
    "default-src 'none'; script-src 'self' INLINE; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; worker-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)


@functools.cache
def _rules() -> RuleSet:
    return wireglot.packaged()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put each dialect and page of docs/ into the navigation; leave out what only servers use."""
    config.theme.static_templates.discard("404.html")
    listed = [{name: f"{DIALECTS}/{name}.md"} for name in _rules().dialects]
    for entry in _entries(config.nav):
        for title, target in entry.items():
            if target == f"{DIALECTS}/":
                entry[title] = [{"All dialects": f"{DIALECTS}/index.md"}, *listed]
    targets = (target for entry in _entries(config.nav) for target in entry.values())
    named = {target for target in targets if isinstance(target, str)}
    more = [page.name for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in named]
    if more:
        config.nav.append({"More": more})
    return config


def _entries(nav: Any) -> list[dict[str, Any]]:
    """Return all entries of the navigation that have a title."""
    found = [entry for entry in nav if isinstance(entry, dict)]
    inner = [_entries(child) for e in found for child in e.values() if isinstance(child, list)]
    return [*found, *(entry for entries in inner for entry in entries)]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is no file of docs/: the README, what is generated, and the files linked to."""
    made = {target: (ROOT / source).read_text("utf-8") for source, target in TOP.items()}
    made |= {f"{DIALECTS}/{name}.md": f"# {name}\n" for name in ("index", *_rules().dialects)}
    made |= {COMMANDS: "# Command line\n", API: reference.markdown()}
    made[MATRIX] = matrix.markdown()
    for src, text in made.items():
        files.append(File.generated(config, src, content=text))
    for path in sources.wanted(ROOT):
        files.append(File.generated(config, _source(path), content=f"# {path}\n"))
    return files


def _source(path: str) -> str:
    """Return the page that shows a file of the repository."""
    return f"source/{path}.md"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to pages of the site, and a file's name stand over its text."""
    home = page.file.src_uri
    above = {target: source for source, target in TOP.items()}
    base = PurePosixPath(above.get(home, f"docs/{home}")).parent

    def led(match: re.Match[str]) -> str:
        path = normpath(f"{base}/{match[1]}")
        target = TOP.get(path) or path.removeprefix("docs/")
        if path == RULES:
            target = f"{DIALECTS}/index.md"
        elif not path.startswith("docs/") and path not in TOP and (ROOT / path).is_file():
            target = _source(path)
        return relpath(target, str(PurePosixPath(home).parent)) + (match[2] or "")

    if home in (API, MATRIX):
        return markdown
    return FENCE.sub(r'```\1 title="\2"', LINK.sub(led, markdown))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put generated HTML in its place. Raises PluginError for a page that could do something."""
    home = page.file.src_uri
    made = _generated(home)
    if made is not None:
        html = made.html
        page.toc = get_toc(_nested(made))
    if home.startswith("source/"):
        page.meta["search"] = {"exclude": True}
        page.meta["hide"] = ["toc"]
    for tag in TAG.findall(html):
        if ACTIVE.search(tag):
            raise PluginError(f"{home}: `{tag[:100]}` could do something in a reader's browser")
    return html


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Let a page load from the site alone, and run no script but the theme's own."""
    hashes = {hashlib.sha256(script.encode()).digest() for script in INLINE.findall(output)}
    named = sorted(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes)
    policy = POLICY.replace("INLINE", " ".join(named))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    output = output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    return output.replace('<meta charset="utf-8">', f'<meta charset="utf-8">{meta}', 1)


def _generated(home: str) -> pages.Page | None:
    folder, _, file = home.rpartition("/")
    name = file.removesuffix(".md")
    link = functools.partial(_link, home)
    if home.startswith("source/"):
        return sources.page(ROOT, home.removeprefix("source/").removesuffix(".md"))
    if folder == DIALECTS and name == "index":
        return dialects.listed(_rules(), overlays_of(), link)
    if folder == DIALECTS:
        return dialects.page(_rules(), name, link)
    return commandline.page() if home == COMMANDS else None


def _link(home: str, place: str) -> str:
    """Return the address of a line of a file, `file:line`, as a page has it."""
    file, _, line = place.rpartition(":")
    if file not in sources.wanted(ROOT):
        return ""
    page = _source(file).removesuffix(".md") + ".html"
    return f"{relpath(page, str(PurePosixPath(home).parent))}#L{line}"


def _nested(made: pages.Page) -> list[Any]:
    """Return the headings of a page as the tree that a table of contents is."""
    tree: list[Any] = []
    for heading in made.headings:
        token = {"level": heading.level, "id": heading.id, "name": heading.name, "children": []}
        (tree if heading.level == 2 or not tree else tree[-1]["children"]).append(token)
    return tree
