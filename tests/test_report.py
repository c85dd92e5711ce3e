"""`wireglot report` shows a conversion in one file that does nothing else, whatever is in it."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli
from wireglot.audits import report

from .oracles import sdk

EVIL = (
    "</script><script>alert(1)</script>",
    "</pre><img src=x onerror=alert(2)>",
    '" onmouseover="alert(3)" data-x="',
    "' onfocus='alert(4)",
    "<a href='javascript:alert(5)'>x</a>",
    "--><svg onload=alert(6)>{{ 7 * 7 }}{% raw %}&lt;",
    "</style><style>@import url(//example.com)</style>",
)
BODY: Any = {
    "model": EVIL[0],
    "messages": [
        {"role": "system", "content": EVIL[1]},
        *({"role": "user", "content": text} for text in EVIL),
    ],
    "tools": [{"type": "function", "function": {"name": EVIL[4], "parameters": {EVIL[5]: {}}}}],
    "logprobs": True,
    **dict.fromkeys(EVIL, EVIL[2]),
}
VOID = ("meta", "br")


class Page(HTMLParser):
    """What a browser would make of a report."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self._open:
            self.texts[tag][-1] += data

    def all(self, name: str) -> list[str]:
        return [attrs[name] or "" for _, attrs in self.tags if name in attrs]


def page_of(body: Any = BODY, target: str = "anthropic") -> tuple[Page, wireglot.Conversion]:
    done = wireglot.convert(body, "openai-chat", target, trace=True)
    return Page(report.page(body, done, "openai-chat", target, "request")), done


def test_a_payload_full_of_markup_is_only_text() -> None:
    page, _ = page_of()
    known = set(
        "html head meta title style body header h1 h2 p span main section pre a ol li footer "
        "script".split()
    )
    assert {tag for tag, _ in page.tags} <= known
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert [tag for tag, _ in page.tags].count("style") == 1
    attributes = {name for _, attrs in page.tags for name in attrs}
    assert not {name for name in attributes if name.startswith("on") or name in ("src", "style")}
    assert all(link.startswith("#") for link in page.all("href"))
    assert "alert(" not in "".join(page.texts["script"] + page.texts["style"])


def test_nothing_may_run_but_what_the_policy_names_by_its_hash() -> None:
    page, _ = page_of()
    policy = next(attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs) or ""
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for kind in ("script", "style"):
        digest = hashlib.sha256(page.texts[kind][0].encode()).digest()
        assert rules[f"{kind}-src"] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"


def test_both_bodies_stand_there_as_text_with_marks_in_words() -> None:
    page, done = page_of()
    shown = [text for text in page.texts["pre"] if text.strip().startswith("{")]
    for text, body in zip(shown, (BODY, done.body), strict=False):
        for mark in report.MARKS:
            text = text.replace(f" [{mark}]", "")
        assert json.loads(text) == body
    assert "true, [lost]" in shown[0]
    assert "32000, [added]" in shown[1]
    assert [text.strip() for text in page.texts["li"]] == list(map(str, done.notes))


@pytest.mark.parametrize("target", sdk.DIALECTS)
def test_every_leaf_is_a_link_that_leads_somewhere(target: str) -> None:
    page, done = page_of(target=target)
    assert done.trace is not None
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    leaves = [attrs for tag, attrs in page.tags if tag == "a"]
    assert {attrs["id"] for attrs in leaves} >= {f"s{i}" for i in range(len(done.trace.fates))}
    assert all((attrs["href"] or "")[1:] in ids for attrs in leaves)
    assert all(to in ids for attrs in leaves for to in (attrs["data-to"] or "").split())
    assert all(attrs["data-say"] for attrs in leaves)


def test_the_command_writes_the_report(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(json.dumps(BODY), "utf-8")
    words = ["report", str(tmp_path / "body.json"), "--from", "openai-chat", "--to", "gemini"]
    assert cli.main([*words, "-o", str(tmp_path / "report.html")]) == 0
    page = Page((tmp_path / "report.html").read_text("utf-8"))
    assert page.texts["h1"] == ["A request from openai-chat to gemini"]
    assert any("The envelope" in text for text in page.texts["h2"])


def test_without_jinja2_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    (tmp_path / "body.json").write_text(json.dumps(BODY), "utf-8")
    words = ["report", str(tmp_path / "body.json"), "--from", "openai-chat", "--to", "gemini"]
    assert cli.main(words) == 2
    assert "wireglot[report]" in capsys.readouterr().err
