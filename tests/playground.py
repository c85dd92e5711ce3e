"""Use the playground in a browser by the keyboard alone: `tests.look --only playground`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .test_report import EVIL

SECONDS = 90  # which Python may take to load on a slow machine
ACTIVE = "main script, main img, main svg, main style, main iframe"
TALK = {"messages": [{"role": "user", "content": text} for text in EVIL], EVIL[2]: 1, "n": 2}
MARK = "words of the test"


class Keyboard:
    """What a person does who has no mouse."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def reach(self, test: str) -> None:
        """Press Tab until the element that has the focus passes a test of JavaScript."""
        for _ in range(600):
            self.page.keyboard.press("Tab")
            if self.page.evaluate(f"() => (one => {test})(document.activeElement)"):
                return
        raise AssertionError(f"Tab does not reach what passes {test}")

    def back(self) -> None:
        """Begin at the top again."""
        self.page.evaluate("() => document.activeElement.blur()")
        self.page.keyboard.press("Control+Home")

    def choose(self, name: str, value: str) -> None:
        """Choose in a list by typing what is wanted."""
        self.back()
        self.reach(f"one.id === '{name}'")
        self.page.keyboard.type(value)
        self.until(f"document.getElementById('{name}').value === '{value}'")

    def write(self, name: str, text: str) -> None:
        """Put a text in the place of another."""
        self.back()
        self.reach(f"one.id === '{name}'")
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def press(self, name: str) -> None:
        """Press a button."""
        self.back()
        self.reach(f"one.id === '{name}'")
        self.page.keyboard.press("Enter")

    def until(self, test: str, seconds: int = 20) -> None:
        """Wait until something is so."""
        self.page.wait_for_function(f"() => {test}", timeout=1000 * seconds)

    def said(self, begins: str) -> None:
        """Wait until the page says something."""
        self.until(
            f"document.getElementById('status').textContent.startsWith({json.dumps(begins)})"
        )

    def shown(self, name: str) -> str:
        """Return the text of an element."""
        return str(self.page.inner_text(f"#{name}"))


def look(looking: Any, address: str) -> None:
    """Do what people come for, and see what payloads full of markup do."""
    with looking.page(f"{address}/playground/index.html", "playground") as page:
        hand = Keyboard(page)
        hand.until("document.getElementById('status').textContent === 'Ready.'", SECONDS)
        for task in (
            _sample,
            _rule_of_a_note,
            _other_target,
            _edited_rule,
            _hostile,
            _wrong,
            _stop,
        ):
            try:
                task(hand)
            except Exception as error:
                looking.fault("playground", f"{task.__name__}: {type(error).__name__}: {error}")
            looking.shot(page, f"playground{task.__name__}")
        looking.axe(page, "playground")
        looking.harmless(page, "playground", ACTIVE)


def _sample(hand: Keyboard) -> None:
    """Convert the example that stands there."""
    hand.reach("one.id === 'payload'")
    hand.page.keyboard.press("Control+Enter")
    hand.said("Converted: ")
    body = json.loads(hand.shown("result"))
    assert [part["type"] for part in body["messages"][1]["content"]] == ["tool_use", "tool_use"]
    assert "/seed" in hand.shown("notes") and "/messages/2/tool_calls/0/id" in hand.shown("trace")


def _other_target(hand: Keyboard) -> None:
    """Convert the same for another provider."""
    hand.choose("target", "gemini")
    hand.press("convert")
    hand.said("Converted: ")
    assert "contents" in json.loads(hand.shown("result"))


def _rule_of_a_note(hand: Keyboard) -> None:
    """See the line of the rules that a note names."""
    hand.back()
    hand.reach("one.closest('#notes') && one.tagName === 'BUTTON'")
    rule = hand.page.evaluate("() => document.activeElement.textContent")
    name, line = rule.split("/")[-1].split(":")[:2]
    hand.page.keyboard.press("Enter")
    hand.until("document.activeElement.id === 'rule'")
    at = "(one => one.value.slice(0, one.selectionStart).split('\\n').length)"
    assert hand.page.evaluate(f"() => {at}(document.activeElement)") == int(line)
    assert hand.page.input_value("#file") == name.removesuffix(".yaml")


def _edited_rule(hand: Keyboard) -> None:
    """Change a rule, convert with it, and put it back."""
    hand.choose("target", "anthropic")
    hand.choose("file", "anthropic")
    text = hand.page.input_value("#rule")
    assert text.count("type: tool_use\n") == 1
    hand.write("rule", text.replace("type: tool_use\n", f"type: {MARK}\n"))
    hand.press("rerun")
    hand.said("Converted, with your anthropic: ")
    assert MARK in hand.shown("result")
    hand.press("reset")
    hand.said("Converted: ")
    assert MARK not in hand.shown("result") and hand.page.input_value("#rule") == text


def _hostile(hand: Keyboard) -> None:
    """Convert a payload full of markup, which is shown as text."""
    hand.write("payload", json.dumps(TALK))
    hand.press("convert")
    hand.said("Converted: ")
    said = json.loads(hand.shown("result"))["messages"][0]["content"]
    assert [part["text"] for part in said] == list(EVIL)
    assert EVIL[2] in hand.shown("notes")


def _wrong(hand: Keyboard) -> None:
    """Be told of what is no JSON, and of a rule file that is wrong, in a line."""
    hand.write("payload", "{no")
    hand.press("convert")
    hand.said("The payload is no JSON: ")
    hand.press("sample")
    hand.said("An example")
    hand.write("rule", "dialect: 2\nshapes: {a")
    hand.press("rerun")
    hand.said("anthropic")
    assert ":2:" in hand.shown("status")
    hand.press("reset")
    hand.said("Converted: ")


def _stop(hand: Keyboard) -> None:
    """End what runs too long, by a key and by the button, and go on."""
    good = hand.page.input_value("#payload")
    long = {"messages": [{"role": "user", "content": "Hi"}] * 200_000}
    for end in (lambda: hand.page.keyboard.press("Escape"), lambda: hand.press("stop")):
        hand.page.evaluate(
            "text => (document.getElementById('payload').value = text)", json.dumps(long)
        )
        hand.press("convert")
        hand.said("Converting")
        end()
        hand.said("Stopped.")
        hand.page.evaluate("text => (document.getElementById('payload').value = text)", good)
    hand.press("stop")
    hand.said("Nothing is running.")
    hand.press("convert")
    hand.until("document.getElementById('status').textContent.startsWith('Converted: ')", SECONDS)


def built(site: Path) -> bool:
    """Tell whether the site has a playground."""
    return (site / "playground" / "wireglot.zip").is_file()
