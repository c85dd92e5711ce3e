"""Following every link of a built site: `python -m website.links [DIR]`.

A link within the site leads to a file that is there, and to an id that is there once. What a page
loads (styles, scripts, pictures) stands in the site; links for people may lead elsewhere by http.
"""

from __future__ import annotations

import functools
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

LOADED = {"src", "srcset", "poster", "data", "action"}


class Found(NamedTuple):
    """What a page holds: ids, addresses to go to, addresses to load from."""

    ids: list[str]
    links: list[str]
    loads: list[str]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = Found([], [], [])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.found.ids.append(value)
            elif name == "href" and value is not None:
                (self.found.links if tag in ("a", "area") else self.found.loads).append(value)
            elif name in LOADED and value:
                self.found.loads.append(value)


@functools.cache
def read(file: Path) -> Found:
    """Return what a page holds."""
    reader = _Reader()
    reader.feed(file.read_text("utf-8"))
    reader.close()
    return reader.found


def faults(site: Path) -> list[str]:
    """Return what is wrong with the links of a site, sorted."""
    read.cache_clear()
    wrong: set[str] = set()
    for file in sorted(site.rglob("*.html")):
        name, found = file.relative_to(site).as_posix(), read(file)
        twice = {one for one in found.ids if found.ids.count(one) > 1} if _repeats(found) else ()
        wrong |= {f"{name}: the id `{one}` stands there twice" for one in twice}
        for address in {*found.links, *found.loads}:
            loaded = address in found.loads
            fault = _fault(site, file, address, loaded)
            if fault:
                wrong.add(f"{name}: `{address}` {fault}")
    return sorted(wrong)


def _repeats(found: Found) -> bool:
    return len(found.ids) != len(set(found.ids))


def _fault(site: Path, file: Path, address: str, loaded: bool) -> str:
    """Say what is wrong with an address of a page, or nothing."""
    parts = urlsplit(address)
    if parts.scheme == "data" and loaded:
        return ""
    if parts.scheme or parts.netloc:
        if loaded:
            return "would be loaded from elsewhere"
        return "" if parts.scheme in ("http", "https", "mailto") else "is no address of a page"
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    outside = parts.path and not target.is_relative_to(site.resolve())
    if outside or not target.is_file():
        return "leads nowhere"
    if parts.fragment and target.suffix == ".html":
        if unquote(parts.fragment) not in read(target).ids:
            there = target.relative_to(site.resolve()).as_posix() if parts.path else file.name
            return f"leads to no place of {there}"
    return ""


def main() -> int:
    """Print the faults of a site; the exit status tells whether there are some."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else "site")
    pages = len(list(site.rglob("*.html")))
    if not pages:
        print(f"{site} holds no pages: run `make site`", file=sys.stderr)
        return 1
    found = faults(site)
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"{pages} pages, {len(found)} faults of links")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
