"""Look at the docs, a report and a server in Chromium: `python -m tests.look [--only PARTS]`.

Each kind of page is opened from the disk: nothing may be loaded from elsewhere, nothing may raise
an error, axe-core may find nothing serious, the search finds, and Tab moves. Then a report and a
whole site full of markup and event handlers, with their policies taken away: nothing of it may run.
And the page of `wireglot serve`, with its policy, after requests that are full of it.
Screenshots (light, dark, narrow, without colour) go to SHOTS, to be looked at. It needs the extras
`docs` and `look`, and a Chromium: one that is installed, or playwright's own.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from axe_playwright_python.sync_playwright import Axe
from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import sync_playwright

import wireglot
from wireglot.audits import report

from . import playground
from .loop import serving
from .test_report import BODY, EVIL
from .test_site import hostile

ROOT = Path(__file__).parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 420, "height": 800}
KINDS = (
    "index.html",
    "why.html",
    "rule-language.html",
    "notes.html",
    "tutorial-add-a-provider.html",
    "matrix.html",
    "command-line.html",
    "api.html",
    "dialects/index.html",
    "source/rules/ladder.yaml.html",
)
GRAVE = ("serious", "critical")
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
# What a payload or rule file would call, and everything that could make it do so.
TRAP = "window.ran = []; window.alert = (what) => window.ran.push(what)"
PROVOKE = """() => {
  const events = ['mouseover', 'mouseenter', 'click', 'focus', 'error', 'load', 'toggle']
  const of = document.querySelectorAll('main *, article *')
  for (const one of [...of].slice(0, 20000))
    for (const event of events)
      if (event !== 'click' || !one.closest('a, button, label, input'))
        one.dispatchEvent(new Event(event, { bubbles: false }))
  return window.ran
}"""


class Looking:
    """One browser, and what was wrong in it."""

    def __init__(self, browser: Any, shots: Path) -> None:
        self.browser, self.shots = browser, shots
        self.faults: list[str] = []
        self.small: set[str] = set()
        self.pages = 0

    @contextmanager
    def page(self, address: str, name: str, **options: Any) -> Iterator[Any]:
        """Open a page; what it asks for elsewhere, and each error in it, is a fault."""
        context = self.browser.new_context(viewport=WIDE, reduced_motion="reduce", **options)
        context.add_init_script(TRAP)
        page = context.new_page()
        parts = urlsplit(address)
        home = "file:" if parts.scheme == "file" else f"{parts.scheme}://{parts.netloc}"
        page.on("pageerror", lambda error: self.fault(name, f"raises {error}"))
        page.on("console", lambda said: self._said(name, said))
        page.on("request", lambda asked: self._asked(name, home, asked.url))
        page.on("dialog", lambda dialog: self._opened(name, dialog))
        page.goto(address)
        page.wait_for_timeout(300)
        self.pages += 1
        yield page
        context.close()

    def fault(self, name: str, what: str) -> None:
        """Remember what is wrong."""
        self.faults.append(f"{name}: {what}")
        print(self.faults[-1], file=sys.stderr, flush=True)

    def _opened(self, name: str, dialog: Any) -> None:
        self.fault(name, "opens a dialog")
        dialog.dismiss()

    def _said(self, name: str, said: Any) -> None:
        if said.type == "error":
            self.fault(name, f"the console says {said.text}")

    def _asked(self, name: str, home: str, address: str) -> None:
        if not address.startswith((home, "data:", "about:", "blob:")):
            self.fault(name, f"loads {address}")

    def axe(self, page: Any, name: str, contrast: bool = True) -> None:
        """Run axe-core; what is serious is a fault, the rest is printed."""
        # The contrast takes long where there are many words; what is preloaded, a file may not ask.
        options = {"rules": {"color-contrast": {"enabled": contrast}}, "preload": False}
        for found in Axe().run(page, options=options).response["violations"]:
            told = f"axe {found['id']} ({found['impact']}), {len(found['nodes'])} times"
            first = f"{told}: {found['nodes'][0]['html'][:160]}"
            if found["impact"] in GRAVE:
                self.fault(name, first)
            else:
                self.small.add(told)

    def shot(self, page: Any, name: str) -> None:
        """Take a screenshot of what is in view."""
        page.screenshot(path=self.shots / f"{name.replace('/', '-').removesuffix('.html')}.png")

    def tabs(self, page: Any, name: str, times: int = 12) -> None:
        """Press Tab: each time something else has the focus, and it can be seen to have it."""
        seen = set()
        for _ in range(times):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("() => document.activeElement.outerHTML.slice(0, 300)"))
        if len(seen) < times * 2 // 3:
            self.fault(name, f"Tab reaches {len(seen)} places in {times} steps")

    def search(self, page: Any, name: str, word: str) -> None:
        """Search for a word."""
        page.keyboard.press("/")
        page.keyboard.type(word, delay=20)
        try:
            page.wait_for_selector(".md-search-result__item", timeout=15000)
        except Exception as error:
            self.fault(name, f"the search for `{word}` finds nothing: {type(error).__name__}")
        self.shot(page, f"search-{name}")

    def harmless(self, page: Any, name: str, active: str) -> None:
        """Provoke whatever text may have become markup; nothing of it may run or be there."""
        ran = page.evaluate(PROVOKE)
        page.wait_for_timeout(300)
        ran = ran or page.evaluate("() => window.ran")
        if ran:
            self.fault(name, f"ran {ran}")
        there = page.evaluate(
            "(what) => [...document.querySelectorAll(what)].map(e => e.outerHTML.slice(0, 120))",
            active,
        )
        if there:
            self.fault(name, f"holds {there[:3]}")
        handled = page.evaluate(
            "() => [...document.querySelectorAll('*')].filter("
            "e => [...e.attributes].some(a => a.name.startsWith('on'))).length"
        )
        if handled:
            self.fault(name, f"{handled} elements have handlers in their markup")


def main() -> int:
    """Look at everything; the exit status tells whether something was wrong."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("site", nargs="?", type=Path, default=ROOT / "site")
    read.add_argument("shots", nargs="?", type=Path, default=ROOT / "site-shots")
    read.add_argument("--only", default="site,report,server,hostile")
    said = read.parse_args()
    site, shots = said.site.resolve(), said.shots.resolve()
    shots.mkdir(exist_ok=True)
    if "site" in said.only and not (site / "index.html").is_file():
        sys.exit(f"{site} holds no site: run `make site`")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        looking = Looking(browser, shots)
        parts: dict[str, Callable[[], None]] = {
            "site": lambda: the_site(looking, site),
            "report": lambda: the_report(looking, Path(folder)),
            "server": lambda: the_server(looking),
            "hostile": lambda: hostile_site(looking, Path(folder)),
            "playground": lambda: the_playground(looking, site),
        }
        for part in said.only.split(","):
            parts[part]()
        browser.close()
    for small in sorted(looking.small):
        print(f"less than serious: {small}")
    print(f"{looking.pages} pages looked at, {len(looking.faults)} faults; shots are in {shots}")
    return bool(looking.faults)


def the_site(looking: Looking, site: Path) -> None:
    """Look at each kind of page, and at each dialect, the smallest first."""
    named = [f"dialects/{name}.html" for name in wireglot.packaged().dialects]
    named.sort(key=lambda name: (site / name).stat().st_size)
    for name in (*KINDS, *named):
        with looking.page((site / name).as_uri(), name) as page:
            if name not in named[2:]:  # they are of one kind
                looking.axe(page, name, contrast=name != named[1])
            looking.shot(page, name)
            looking.tabs(page, name)
    for name in (KINDS[0], named[0]):
        with looking.page((site / name).as_uri(), name, color_scheme="dark") as page:
            looking.axe(page, f"{name} (dark)")
            looking.shot(page, f"dark-{name}")
            page.set_viewport_size(NARROW)
            looking.axe(page, f"{name} (narrow)")
            looking.shot(page, f"narrow-{name}")
        with looking.page((site / name).as_uri(), name) as page:
            colours = page.context.new_cdp_session(page)
            colours.send("Emulation.setEmulatedVisionDeficiency", {"type": "achromatopsia"})
            looking.shot(page, f"grey-{name}")
    with looking.page((site / KINDS[0]).as_uri(), "disk") as page:
        looking.search(page, "disk", "tool_call")
    with served(site) as address, looking.page(f"{address}/index.html", "http") as page:
        looking.search(page, "http", "tool_call")


def the_report(looking: Looking, folder: Path) -> None:
    """Look at the report of a payload full of markup, with its policy and without."""
    done = wireglot.convert(BODY, "openai-chat", "anthropic", trace=True)
    html = report.page(BODY, done, "openai-chat", "anthropic", "request")
    for name, text in (("report", html), ("report-without-policy", POLICY.sub("", html))):
        file = folder / f"{name}.html"
        file.write_text(text, "utf-8")
        with looking.page(file.as_uri(), name) as page:
            looking.axe(page, name)
            looking.tabs(page, name)
            said = page.inner_text("#said")
            if EVIL[0] not in page.inner_text("main") or "None is chosen" in said:
                looking.fault(name, "shows no text of the payload, or nothing of what Tab chose")
            looking.shot(page, name)
            looking.harmless(page, name, "main script, main img, main svg, main style, main iframe")


def the_server(looking: Looking) -> None:
    """Look at the page of a server that was asked for what is full of markup."""
    words = [{"role": "user", "content": text} for text in EVIL]
    body = {"model": EVIL[0], "messages": words, EVIL[2]: 1}
    with serving.served("demo") as (url, _):
        for stream in (False, True):
            sent = json.dumps({**body, "stream": stream}).encode()
            urlopen(Request(f"{url}/v1/chat/completions", sent)).read()
        with looking.page(f"{url}/_wireglot", "server") as page:
            if page.locator("tbody tr").count() != 2 or EVIL[2] not in page.inner_text("main"):
                looking.fault("server", "does not list its requests as they were asked")
            looking.axe(page, "server")
            looking.shot(page, "server")
            looking.harmless(page, "server", "main script, main img, main svg, main iframe")
            for unit in ("request", "answer"):
                page.locator(f"a:text-is('{unit}')").first.click()
                page.wait_for_selector("#said")
                looking.shot(page, f"server-{unit}")
                if unit == "request" and EVIL[0] not in page.inner_text("main"):
                    looking.fault("server-request", "shows no text of the request")
                looking.harmless(page, f"server-{unit}", "main script, main img, main svg")
                page.go_back()


def the_playground(looking: Looking, site: Path) -> None:
    """Use the playground, over HTTP: from the disk a browser starts no worker."""
    if not playground.built(site):
        sys.exit(f"{site} holds no playground: run `make playground`")
    with served(site) as address:
        playground.look(looking, address)


def hostile_site(looking: Looking, folder: Path) -> None:
    """Build the site with a rule file full of markup, and take its policies away."""
    rules = wireglot.load_rules({"hostile": hostile()}, builtin=False)
    config: Any = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder / "hostile"))
    with mock.patch.object(wireglot, "packaged", lambda: rules):
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    for file in (folder / "hostile").rglob("*.html"):
        file.write_text(POLICY.sub("", file.read_text("utf-8")), "utf-8")
    for name in ("dialects/hostile.html", "dialects/index.html"):
        with looking.page((folder / "hostile" / name).as_uri(), f"hostile {name}") as page:
            if EVIL[0] not in page.inner_text("article") and "index" not in name:
                looking.fault(name, "does not show the text of the rule file")
            looking.shot(page, f"hostile-{name}")
            looking.axe(page, f"hostile {name}")
            looking.harmless(page, f"hostile {name}", "article script, article img, article style")
            looking.search(page, f"hostile-{name}".replace("/", "-"), "alert")
            looking.harmless(page, f"hostile search of {name}", ".md-search img, .md-search script")


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a folder over loopback HTTP."""
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    sys.exit(main())
