"""The form of a rule file: which words stand where, and what each takes.

`File.clean` reports all that is wrong and returns the file without it, so that what is right can be
checked further in the same run.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..errors import RuleError
from ..language import documents, version
from ..language.findings import Findings, helped
from ..language.order import asked
from ..language.rulefile import CASE_WORDS, HEADER, SHAPE_WORDS, TALK_WORDS
from ..language.source import Node, Pos
from .grammar import Rule, kept_as_is, short
from .pictureform import Pictures
from .streamform import Streams
from .tableform import Tables

UNITS = ("request", "response", "error", "envelope", "session")
LAYERS = (
    "extends",
    "overlay",
    "variants",
    "examples-of",
)  # words of a file that its layers took off
OLD = 366  # days after which an API may have changed


class File(Tables):
    """Checks the form of one rule file."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(findings)
        self.pictures = Pictures(findings)
        self.wire, self.ir = self.pictures.wire, self.pictures.ir

    def clean(self, node: Node) -> Node | None:
        """Check a whole file; None where nothing can be made of it."""
        rules: dict[str, Rule] = {
            **dict.fromkeys(("wireglot", "dialect", "see", "verified"), kept_as_is),
            "limits": self.each(self.limit),
            "tables": self.each(self.table),
            "schemas": self.each(self.schema),
            "shapes": self.each(self._shape),
            "unions": self.each(self.names),
            "hooks": self.names,
            "spelling": self._spelling,
            "family": self._family,
            "media-types": self._word_map(str),
            "conversation": self._conversation,
            "unsupported": self.reasons,
            "carry": self._word_map(str),
            "signatures": self._signatures,
            "document": self._document,
            "examples": self.each(self.examples),
            "stream": Streams(self.findings, self.pictures, self.examples).check,
            **dict.fromkeys(UNITS, self._unit),
        }
        top = self.words(node, "a rule file", {*HEADER, *LAYERS}, rules)
        if top is None:
            return None
        self._header(node, top)
        return top

    def _header(self, node: Node, top: Node) -> None:
        error = self.findings.error
        wrong = version.refused(node)
        top.value["wireglot"] = Node(version.VERSION, node.pos)  # the rest is checked all the same
        if wrong is not None:
            self.findings.take(wrong)
        for word, why in (
            ("see", "the address of the page on which the provider describes it"),
            ("verified", "the day on which somebody last compared the two, as 2026-11-21"),
        ):
            said = node.get(word)
            if said is None:
                self.findings.warn(
                    "R009", f"the file does not say `{word}`", version.begins(node), why
                )
            elif not isinstance(said.value, str) or not said.value:
                error("R009", f"`{word}` is a text", said.pos, why)
            elif word == "verified":
                self._verified(said, why)

    def _verified(self, said: Node, why: str) -> None:
        import datetime

        try:
            day = datetime.date.fromisoformat(said.value)
        except ValueError:
            self.findings.warn("R009", "`verified` is no day", said.pos, why)
            return
        if (datetime.date.today() - day).days > OLD:
            help = "compare the file with the provider's page, and write the day"
            self.findings.info("R009", "`verified` is more than a year ago", said.pos, help)

    # -- parts of a file ----------------------------------------------------------------------

    def _shape(self, node: Node, what: str) -> Node | None:
        rules: dict[str, Rule] = {
            "wire": self.wire,
            "ir": self.ir,
            "also": self.text,
            "by": self.text,
            "groups": self.text,
            "marks": self.text,
            "note": self.text,
            "read-only": self._true,
            "drop": self.reasons,
            "examples": self.examples,
            "cases": self.each(self._case),
        }
        found = self.words(node, "a shape", SHAPE_WORDS, rules)
        if found is not None and found.get("marks") and found.get("groups"):
            message = f"{what} marks the element before it, and gathers elements"
            self.form(message, found.value.pop("marks"), "use one of `marks` and `groups`")
        return found if found is not None and self._whole(node, found, what) else None

    def _whole(self, raw: Node, found: Node, what: str) -> bool:
        """Tell whether a shape can be built; take out cases that have no `wire` to go by."""
        for word in ("wire", "ir"):
            if raw.get(word) is not None and found.get(word) is None:
                return False  # every case of it would lack what was wrong
        given, cases = raw.get("cases"), found.get("cases")
        if given is not None and given.value:
            return cases is not None and self._cases(raw, given, cases)
        if raw.get("wire") is None:
            help = "write `wire:` and the JSON as the provider puts it on the wire"
            self.form(f"{what} has no `wire`", raw, help)
            return False
        return True

    def _cases(self, raw: Node, given: Node, cases: Node) -> bool:
        for name, case in list(cases.value.items()):
            before = given.value[name]
            if any(before.get(w) is not None and case.get(w) is None for w in ("wire", "ir")):
                del cases.value[name]
            elif raw.get("wire") is None and before.get("wire") is None:
                pos = cases.keys.get(name, case.pos)
                message = f"the case `{name}` has no `wire`, and its shape has none"
                self.findings.error("R022", message, pos, "write `wire:` in one of the two")
                del cases.value[name]
        return bool(cases.value)

    def _unit(self, node: Node, what: str) -> Node | None:
        found = self._shape(node, what)
        if found is None:
            return None
        cases = found.get("cases")
        for owner in (found, *(cases.value.values() if cases else ())):
            for word in ("wire", "ir"):
                said = owner.get(word)
                if said is not None and not isinstance(said.value, dict):
                    self.form(f"`{word}` of {what} is an object", said)
                    return None
        return found

    def _true(self, node: Node, what: str) -> Node | None:
        if node.value is not True:
            self.form(f"{what} is `true`, or is not said", node, "write `read-only: true`")
            return None
        return node

    def _case(self, node: Node, what: str) -> Node | None:
        rules: dict[str, Rule] = {
            "wire": self.wire,
            "ir": self.ir,
            "note": self.text,
            "read-only": self._true,
            "drop": self.reasons,
            "examples": self.examples,
        }
        return self.words(node, "a case", CASE_WORDS, rules)

    def _conversation(self, node: Node, what: str) -> Node | None:
        def per(child: Node, what: str) -> Node | None:
            if child.value in ("message", "run"):
                return child
            help = helped(str(child.value), ("message", "run"), "say")
            self.form(f"`per: {short(child.value)}` is not known", child, help)
            return None

        rules: dict[str, Rule] = {
            "per": per,
            "wire": self.wire,
            "cases": self.each(self._case),
            "enforce": self._enforce,
            "examples": self.examples,
        }
        found = self.words(node, "a conversation", TALK_WORDS, rules)
        if found is None:
            return None
        base = found.get("wire")
        if base is not None and not isinstance(base.value, dict):
            self.form("`wire` of a conversation is an object", base)
            del found.value["wire"]
            base = None
        said = node.get("cases")
        if said is None or said.value == {}:
            help = "write one for each role: user, assistant, tool, system"
            self.form("a conversation has `cases`", said or node, help)
        given, cases = node.get("cases"), found.get("cases")
        if given is not None and cases is not None:
            self._talks(node, given, cases, base)
        return found

    def _talks(self, node: Node, given: Node, cases: Node, base: Node | None) -> None:
        """Take out the cases of a conversation that say nothing of the wire."""
        for name, case in list(cases.value.items()):
            said, ir, before = case.get("wire"), case.get("ir"), given.value[name]
            right = all(before.get(w) is None or case.get(w) is not None for w in ("wire", "ir"))
            if said is not None and not isinstance(said.value, dict) and not _splices(said):
                help = "or a hole such as `$parts each tool_result`, for messages of one part"
                self.form(f"`wire` of the case `{name}` is an object", said, help)
                right = False
            if said is None and base is None:
                if node.get("wire") is None and before.get("wire") is None:
                    self.form(f"the case `{name}` has no `wire`", case)
                right = False
            if ir is not None and not isinstance(ir.value, dict):
                self.form(f"`ir` of the case `{name}` is an object", ir)
                right = False
            if not right:
                del cases.value[name]

    def _enforce(self, node: Node, what: str) -> Node | None:
        order = asked(node, node.pos)
        for fault in order.faults:
            pos = Pos(fault.file, fault.line, fault.column)
            self.findings.error(fault.rule, fault.reason, pos, fault.help)
        return order.clean

    def _document(self, node: Node, what: str) -> Node | None:
        def right(read: Callable[..., object], known: tuple[str, ...] = ()) -> Rule:
            def check(child: Node, what: str) -> Node | None:
                found = self.words(child, what, known, {}) if known else child
                if found is not None and (not known or len(found.value) == len(child.value)):
                    try:
                        read(found, *([known] if known else ()))
                    except RuleError as error:
                        self.form(error.reason, found, error.help)
                        return None
                return found

            return check

        rules = {
            "text": right(documents.texts),
            "log": right(documents.keys, documents.LOG),
            "tree": right(documents.keys, documents.TREE),
            "message": lambda child, what: (
                right(documents.line)(child, what) and self.wire(child, what)
            ),
        }
        found = self.words(node, what, documents.WORDS, rules)
        whole = found is not None and len(found.value) == len(node.value)
        return right(documents.load)(found, what) if found is not None and whole else None

    def _spelling(self, node: Node, what: str) -> Node | None:
        if node.plain() == ["camelCase", "snake_case"]:
            return node
        self.form("`spelling` is [camelCase, snake_case]", node)
        return None

    def _signatures(self, node: Node, what: str) -> Node | None:
        rules = {"models": self.each(self.names), "dialects": self.names, "placeholder": self.text}
        return self.words(node, what, rules.keys(), rules)

    def _family(self, node: Node, what: str) -> Node | None:
        if isinstance(node.value, str) and node.value:
            return node
        self.form("`family` names a dialect", node)
        return None


def _splices(node: Node) -> bool:
    return (
        isinstance(node.value, str)
        and re.fullmatch(r"\$parts\s+each\s+[\w.-]+", node.value.strip()) is not None
    )
