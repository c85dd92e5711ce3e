"""The form of tables, schemas and limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..errors import RuleError
from ..interpreter.demands import UNLESS
from ..ir import MEDIA, field_type
from ..jsontext import finite
from ..language.findings import helped, near
from ..language.nodes import Row
from ..language.nodes import Rule as SchemaRule
from ..language.rulefile import LIMITS
from ..language.source import Node, Pos
from .exampleform import Examples
from .fields import KEPT, OBJECTS, held, texts
from .grammar import Rule, short

LIMIT_WORDS: dict[str, type] = {"first": str, "chars": str, "min": int, "max": int, "unique": bool}
BOUND_WORDS = {
    "list": ("count",), "integer": ("min", "max", "below", "not-with"), "number": ("min", "max"),
}  # fmt: skip
# Bounds of what is no number and no list: a word, all marks of a request, addresses of media.
OTHER_BOUNDS = {
    "reasoning.mode": ("not-with",), "reasoning.effort": ("not-with", "else"),
    "cache": ("count", "with"), "url": ("schemes",),
}  # fmt: skip
TEXTS = texts()  # `KIND.FIELD`
SCHEME = "^[a-z][a-z0-9+.-]*$"
LONGEST = 10_000  # of a name or id


class Tables(Examples):
    """Checks tables, schemas and limits."""

    def table(self, node: Node, what: str) -> Node | None:
        known = ("write", "read-also", "write-also", "otherwise", "only", "examples")
        rules: dict[str, Rule] = {
            "write": self._word_map(str | int | bool),
            "write-also": self._word_map(str | int | bool),
            "read-also": self._word_map(str),
            "otherwise": self._scalar,
            "only": self._scalars,
            "examples": self.examples,
        }
        found = self.words(node, "a table", known, rules)
        if found is None:
            return None
        if ("only" in found.value) == ("write" in found.value):
            if ("only" in node.value) == ("write" in node.value):
                help = "`write` maps words of the IR to words of the wire; `only` lists words"
                self.form("a table has `write` or `only`", node, help)
            return None
        if "only" in found.value and not found.value.keys() <= {"only", "read-also", "examples"}:
            help = "use `write` instead"
            self.form("a table of `only` has no other word but `read-also`", node, help)
            return None
        return found if self._injective(found) else None

    def _injective(self, table: Node) -> bool:
        """Report wire words that read as two IR words, and IR words that are written as two."""
        write = table.get("write")
        if write is None:
            return self._only(table)
        right = True
        seen: dict[str, tuple[str, Pos]] = {}
        for word, child in write.value.items():
            key = repr(child.value)
            if key in seen:
                first, pos = seen[key]
                message = f"`{first}` and `{word}` are both written as `{short(child.value)}`"
                help = f"put one of the two under `write-also`: `{first}` is what it reads as"
                beside = (pos, "here too")
                self.findings.error("R005", message, child.pos, help, beside=beside)
                right = False
            seen.setdefault(key, (word, child.pos))
        wires = {str(child.value): word for word, child in write.value.items()}
        for word, more, also in (
            ("read-also", wires, "reads as `{}` by `write` already"),
            ("write-also", write.value, "is a word of `write` already"),
        ):
            listed = table.get(word) or Node({}, table.pos)
            for name, child in listed.value.items():
                if name in more:
                    pos = listed.keys.get(name, child.pos)
                    told = f"`{name}` {also.format(wires.get(name))}"
                    self.findings.error("R005", told, pos, "take one of the two out")
                    right = False
        return right

    def _only(self, table: Node) -> bool:
        """Report further spellings of words that a table of `only` does not have."""
        words, more = table.value["only"].plain(), table.get("read-also")
        right = True
        for child in more.value.values() if more else ():
            if child.value not in words:
                message = f"`{short(child.value)}` is none of the words of `only`"
                self.findings.error("R024", message, child.pos, helped(child.value, words))
                right = False
        return right

    def _word_map(self, kinds: Any) -> Rule:
        def check(node: Node, what: str) -> Node | None:
            if not isinstance(node.value, dict):
                self.form(f"{what} maps words to words", node)
                return None
            right = True
            for child in node.value.values():
                if not isinstance(child.value, kinds):
                    help = "put it in quotes" if isinstance(child.value, int | float) else ""
                    self.form(f"`{short(child.value)}` is no word", child, help)
                    right = False
            return node if right else None

        return check

    def _scalar(self, node: Node, what: str) -> Node | None:
        if isinstance(node.value, str | int | bool):
            return node
        self.form(f"{what} is one word", node)
        return None

    def _scalars(self, node: Node, what: str) -> Node | None:
        if isinstance(node.value, list):
            if all(self._scalar(item, what) for item in node.value):
                return node
            return None
        self.form(f"{what} is a list of words", node, "put it in [ ]")
        return None

    def schema(self, node: Node, what: str) -> Node | None:
        rules: dict[str, Rule] = {
            "root": self.text,
            "root-without": self.names,
            "keep": self.names,
            "whole": self.names,
            "types": self.names,
            "enum": self._one_of("strings", "any"),
            "refs": self._one_of("inline", "keep"),
            "rewrite": self.each(self._rewrite),
            "must": self._must,
            "examples": self.examples,
        }
        return self.words(node, "a schema", tuple(rules), rules)

    def _one_of(self, *words: str) -> Rule:
        def check(node: Node, what: str) -> Node | None:
            if node.value in words:
                return node
            said = " or ".join(f"`{word}`" for word in words)
            self.form(f"{what} is {said}", node, near(str(node.value), words))
            return None

        return check

    def _rewrite(self, node: Node, what: str) -> Node | None:
        words = ("schema", "here", "note")
        found = self.words(node, "a rewrite", words, {"note": self.text})
        if found is None or len(found.value) < len(node.value):
            return None
        return node if self._built(node, lambda: Row.load(what.strip("`"), node)) else None

    def _must(self, node: Node, what: str) -> Node | None:
        if not isinstance(node.value, list):
            self.form(f"{what} is a list", node, "write - {where: ..., has: ...}")
            return None
        kept = []
        for item in node.value:
            found = self.words(item, "a rule of `must`", ("where", "has"), {})
            if found is not None and len(found.value) == len(item.value):
                if self._built(item, lambda item=item: SchemaRule.load(item)):  # type: ignore[misc]
                    kept.append(item)
        return Node(kept, node.pos)

    def _built(self, node: Node, build: Callable[[], object]) -> bool:
        """Report what is wrong with the pictures of a schema node."""
        try:
            build()
        except RuleError as error:
            pos = Pos(error.file, error.line, error.column) if error.file else node.pos
            help = error.help or "docs/rule-language.md shows it"
            self.findings.error("R029", error.reason, pos, help)
            return False
        return True

    def limit(self, node: Node, what: str) -> Node | None:
        name = what.strip("`")
        if name not in LIMITS and name not in TEXTS:
            return self._bound_of(name, node)
        if not isinstance(node.value, dict):
            self.form(f"the limit {what} is a mapping", node, "first, chars, min, max")
            return None
        right = "chars" in node.value
        if not right:
            help = 'say which characters may stand in it, for example chars: "a-zA-Z0-9_-"'
            self.findings.error("R027", f"the limit {what} has no `chars`", node.pos, help)
        for word, child in node.value.items():
            pos = node.keys.get(word, child.pos)
            if word not in LIMIT_WORDS:
                message = f"`{short(word)}` is no word of a limit"
                self.findings.error(
                    "R021", message, pos, helped(word, LIMIT_WORDS, "its words are")
                )
                right = False
            elif not self._bound(word, child):
                right = False
        low, top = (node.get(word) for word in ("min", "max"))
        if right and low and top and low.value > top.value:
            self.findings.error("R027", "`min` is more than `max`", low.pos, "swap the two")
            right = False
        return node if right else None

    def _bound_of(self, name: str, node: Node) -> Node | None:
        """Check the bound of a field of a request: a list, a number or a word."""
        error = self.findings.error
        known = held(frozenset(("request",)), name) is not None
        usual = BOUND_WORDS.get(field_type("request", name), ()) if known else ()
        words = OTHER_BOUNDS.get(name, ("count",) if name in MEDIA else usual)
        if not words:
            pos = self.findings.before(node.pos, name)
            fields = {f for f in OBJECTS["request"] if field_type("request", f) in BOUND_WORDS}
            there = {*LIMITS, *(fields - KEPT), "reasoning.budget", *OTHER_BOUNDS, *MEDIA}
            error(
                "R027",
                f"`{short(name)}` is no limit",
                pos,
                helped(name, there if "." not in name else {*there, *TEXTS}),
                word=name,
            )
            return None
        found = self.words(node, f"the limit `{name}`", words, {})
        right = found is not None and bool(found.value) and found.value.keys() == node.value.keys()
        if found is not None and not node.value:
            self.form(f"the limit `{name}` says nothing", node, f"its words are {', '.join(words)}")
        for word, child in found.value.items() if found is not None else ():
            if word in ("min", "max"):
                right = self._number(word, child, field_type("request", name)) and right
            elif word == "not-with":
                right = self._unless(child) and right
            elif word == "with":
                if not str(child.value).startswith("own."):
                    error("R027", "`with` names a field under `own`", child.pos)
                    right = False
            elif word == "else":
                if not isinstance(child.value, str) or "not-with" not in node.value:
                    error("R027", "`else` is a word, beside `not-with`", child.pos)
                    right = False
            elif word == "schemes":
                right = self._schemes(child) and right
            elif word == "count":
                right = self._bound(word, child) and right
            elif field_type("request", str(child.value)) != "integer":
                error("R027", "`below` names a number of a request", child.pos, "as max_tokens")
                right = False
        low, top = (node.get(word) for word in ("min", "max")) if right else (None, None)
        if low and top and low.value > top.value:
            error("R027", "`min` is more than `max`", low.pos, "swap the two")
            right = False
        return node if right else None

    def _unless(self, node: Node) -> bool:
        words = node.value if isinstance(node.value, list) else [node]
        wrong = next((word for word in words if str(word.value) not in UNLESS), None)
        if wrong is not None or not words:
            help = helped(str(wrong.value) if wrong else "", UNLESS, "its words are")
            self.findings.error("R024", "`not-with` lists kinds of requests", node.pos, help)
            return False
        return True

    def _schemes(self, node: Node) -> bool:
        words = node.value if isinstance(node.value, list) else []
        if words and all(isinstance(w.value, str) and re.match(SCHEME, w.value) for w in words):
            return True
        help = "in small letters, as in `schemes: [https, http]`"
        self.findings.error("R027", "`schemes` lists how addresses begin", node.pos, help)
        return False

    def _number(self, word: str, node: Node, kind: str) -> bool:
        whole = isinstance(node.value, int) and not isinstance(node.value, bool)
        if whole or (kind == "number" and isinstance(node.value, float) and finite(node.value)):
            return True
        said = "a whole number" if kind == "integer" else "a number"
        self.findings.error("R027", f"`{word}` is {said}", node.pos)
        return False

    def _bound(self, word: str, node: Node) -> bool:
        value = node.value
        if LIMIT_WORDS.get(word) is bool:
            if isinstance(value, bool):
                return True
            self.findings.error("R027", f"`{word}` is true or false", node.pos)
            return False
        if LIMIT_WORDS.get(word, int) is int:
            if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LONGEST:
                return True
            message = f"`{word}` is a whole number from 1 to {LONGEST}"
            self.findings.error("R027", message, node.pos)
            return False
        fits = isinstance(value, str) and bool(value) and not _not_characters(value)
        if not fits:
            help = 'characters and ranges of them, as in "a-zA-Z0-9_-"; `-` stands last'
            self.findings.error("R027", f"`{word}` is no set of characters", node.pos, help)
        return fits


def _not_characters(text: str) -> bool:
    if any(sign in text for sign in ("[", "]", "\\", "^", "--", "&&", "||", "~~")):
        return True
    try:
        re.compile(f"[{text}]")
    except (re.error, RecursionError):
        return True
    return False
