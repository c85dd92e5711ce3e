"""The words of the rule language have users: packaged rule files, or those of the trials."""

from __future__ import annotations

import re
from typing import Any

import pytest

import wireglot

from . import words

SHEET = (words.ROOT / "docs" / "cheat-sheet.md").read_text("utf-8")
# Words that no rule file uses, and why they stay for now.
WITHOUT: dict[tuple[str, str], str] = {}


@pytest.mark.parametrize("group", words.groups())
def test_each_word_has_a_user(group: str) -> None:
    unused = {
        (group, word) for word in words.groups()[group] if not words.users().get((group, word))
    }
    assert unused == {one for one in WITHOUT if one[0] == group}


def test_a_word_is_found_where_it_is_one() -> None:
    assert "chat-compatible" in words.users()["mark", "read-only"]
    assert words.users()["shape", "marks"] == {"bedrock-converse"}
    assert "rules" not in {name for names in words.users().values() for name in names}


@pytest.mark.parametrize("group", words.groups())
def test_the_cheat_sheet_names_each_word(group: str) -> None:
    told = " ".join(re.findall(r"`[^`\n]+`", SHEET))
    said = {word for word in words.groups()[group] if word not in ("key!", "$own: [..]")}
    assert {word for word in said if not re.search(rf"(?<![\w-]){re.escape(word)}", told)} == set()


def test_the_rule_file_of_the_cheat_sheet_converts() -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", SHEET, re.M | re.S)
    rules = wireglot.load_rules({"acme.yaml": text})
    parts = [{"type": "call", "id": "c1", "tool": "clock", "input": "{}"}]
    answer = {"type": "answer", "call": "c1", "output": '{"hour":7}'}
    body: dict[str, Any] = {
        "turns": [
            {"parts": [{"type": "text", "text": "Hi"}], "role": "user"},
            {"parts": parts, "role": "bot"},
            {"parts": [answer], "role": "user"},
        ],
        "model": "m",
        "mood": "calm",
    }
    assert rules.convert(body, "acme", "acme").body == body
    sent = rules.convert(body, "acme", "anthropic").body
    assert [m["role"] for m in sent["messages"]] == ["user", "assistant", "user"]
    assert sent["messages"][2]["content"][0]["content"] == '{"hour":7}'
    broken = {"type": "call", "id": "c1", "tool": "clock", "input": "{"}
    image = {"type": "image", "mime": "image/png", "bytes": "AA=="}
    for part in (broken, image):
        body["turns"][1 if part is broken else 0]["parts"] = [part]
    assert rules.convert(body, "acme", "acme").body == body
    sent = rules.convert(body, "acme", "openai-chat").body["messages"]
    assert sent[0]["content"][0]["image_url"] == {"url": "data:image/png;base64,AA=="}
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == "{"
    said = [{"type": "text", "text": "Hi"}]
    reply = {"id": "r_1", "says": said, "why": "length", "used": {"in": 5, "cached": 2, "out": 3}}
    assert rules.convert(reply, "acme", "acme", unit="response").body == reply
    told = rules.convert(reply, "acme", "openai-chat", unit="response").body
    assert told["choices"][0]["finish_reason"] == "length"
    assert told["usage"]["prompt_tokens_details"] == {"cached_tokens": 2}
    fault = {"error": {"code": "busy", "text": "Wait."}}
    told = rules.convert(fault, "acme", "anthropic", unit="error").body
    assert told["error"] == {"type": "rate_limit_error", "message": "Wait."}


def test_the_cheat_sheet_is_a_page() -> None:
    assert len(SHEET.splitlines()) <= 125


def test_each_word_of_version_1_is_said_by_words_that_are_there() -> None:
    now = {word for group in words.groups().values() for word in group}
    for group, said in words.before().items():
        for word, told in said.items():
            if told.startswith("-"):
                continue
            names = now if told in now else set(re.findall(r"[$\w.-]+", told.replace("(or", "")))
            assert told in now or names <= now | {"true", "one"}, (group, word, told)
