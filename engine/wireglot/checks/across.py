"""What must hold across the words of a form: what a shape, a table or a limit has as a whole.

Each check of `ACROSS` is given a mapping as it stands (`raw`), what of it is right (`found`), and
what it is called in messages. It returns what is right as a whole; None: leave it all out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import RuleError
from ..language.findings import Findings, hint
from ..language.nodes import Row, Rule
from ..language.source import Node, Pos

SHOWN = "docs/rule-language.md shows it"


def _shape(findings: Findings, raw: Node, found: Node, what: str) -> Node | None:
    """Return a shape that can be built, without cases that have no `wire` to go by."""
    error = findings.error
    if found.get("marks") and found.get("groups"):
        message = f"{what} marks the element before it, and gathers elements"
        error("R022", message, found.value.pop("marks").pos, "use one of `marks` and `groups`")
    if _lost_picture(raw, found):
        return None  # every case of it would lack what was wrong
    given, cases = raw.get("cases"), found.get("cases")
    if given is None or given.value == {}:
        if raw.get("wire") is not None:
            return found
        help = "write `wire:` and the JSON as the provider puts it on the wire"
        error("R022", f"{what} has no `wire`", raw.pos, help)
        return None
    for name, case in list(cases.value.items()) if cases else ():
        if raw.get("wire") is None and given.value[name].get("wire") is None:
            message = f"the case `{name}` has no `wire`, and its shape has none"
            error("R022", message, given.key_pos(name), "write `wire:` in one of the two")
            del found.value["cases"].value[name]
        elif _lost_picture(given.value[name], case):
            del found.value["cases"].value[name]
    return found if cases and cases.value else None


def _lost_picture(raw: Node, found: Node) -> bool:
    """Tell whether a picture stands in `raw` that was wrong, and so is not in `found`."""
    return any(raw.get(w) is not None and found.get(w) is None for w in ("wire", "ir"))


def _talk(findings: Findings, raw: Node, found: Node, what: str) -> Node:
    """Take out the cases of a conversation that say nothing of the wire."""
    given = raw.get("cases")
    if given is None or given.value == {}:
        help = "write one for each role: user, assistant, tool, system"
        findings.error("R022", "a conversation has `cases`", (given or raw).pos, help)
    cases = found.under("cases")
    for name, case in list(cases.items()):
        before = given.value[name] if given else case
        bare = case.get("wire") is None and found.get("wire") is None
        if bare and raw.get("wire") is None and before.get("wire") is None:
            findings.error("R022", f"the case `{name}` has no `wire`", case.pos, SHOWN)
        if bare or _lost_picture(before, case):
            del cases[name]
    return found


def _table(findings: Findings, raw: Node, found: Node, what: str) -> Node | None:
    words_said = found.value
    if ("only" in words_said) == ("write" in words_said):
        if ("only" in raw.value) == ("write" in raw.value):
            help = "`write` maps words of the IR to words of the wire; `only` lists words"
            findings.error("R022", "a table has `write` or `only`", raw.pos, help)
        return None
    if "write" in words_said:
        return found if _injective(findings, found) else None
    if not words_said.keys() <= {"only", "read-also", "examples"}:
        message = "a table of `only` has no other word but `read-also`"
        findings.error("R022", message, raw.pos, "use `write` instead")
        return None
    words, right = words_said["only"].plain(), True
    for child in found.under("read-also").values():
        if child.value not in words:
            message = f"`{child.value}` is none of the words of `only`"
            findings.error("R024", message, child.pos, hint(child.value, words))
            right = False
    return found if right else None


def _injective(findings: Findings, table: Node) -> bool:
    """Report wire words that read as two IR words, and IR words that are written as two."""
    write, right = table.value["write"], True
    seen: dict[str, tuple[str, Pos]] = {}
    for word, child in write.value.items():
        first, pos = seen.setdefault(repr(child.value), (word, child.pos))
        if first != word:
            message = f"`{first}` and `{word}` are both written as `{child.value}`"
            help = f"put one of the two under `write-also`: `{first}` is what it reads as"
            findings.error("R005", message, child.pos, help, beside=(pos, "here too"))
            right = False
    wires = {str(child.value): word for word, child in write.value.items()}
    for word, more, also in (
        ("read-also", wires, "reads as `{}` by `write` already"),
        ("write-also", write.value, "is a word of `write` already"),
    ):
        for name in table.under(word).keys() & more.keys():
            pos = table.value[word].key_pos(name)
            told = f"`{name}` {also.format(wires.get(name))}"
            findings.error("R005", told, pos, "take one of the two out")
            right = False
    return right


def _limit(findings: Findings, raw: Node, found: Node, what: str) -> Node | None:
    if "chars" in raw.value:
        return _bound(findings, raw, found, what)
    help = 'say which characters may stand in it, for example chars: "a-zA-Z0-9_-"'
    findings.error("R027", f"{what} has no `chars`", raw.pos, help)
    return None


def _bound(findings: Findings, raw: Node, found: Node, what: str) -> Node | None:
    low, top = found.get("min"), found.get("max")
    for word, kind in (("else", "word"), ("but", "number")):
        if word in raw.value and "not-with" not in raw.value:
            message = f"`{word}` is a {kind}, beside `not-with`"
            findings.error("R027", message, raw.value[word].pos)
            return None
    if low and top and low.value > top.value:
        findings.error("R027", "`min` is more than `max`", low.pos, "swap the two")
        return None
    return found


def _stream(findings: Findings, raw: Node, found: Node, what: str) -> Node | None:
    if "events" not in raw.value:
        help = "write `events:` and the picture of a frame for each"
        findings.error("R022", "a stream has `events`", raw.pos, help)
    return found if found.under("events") else None


def _document(findings: Findings, raw: Node, found: Node, what: str) -> Node | None:
    lines = str(raw.value["text"].value)[:5] == "lines" if "text" in raw.value else False
    if "text" in raw.value and "text" not in found.value:
        return None
    if not lines and not found.value.keys().isdisjoint(("log", "tree", "instead")):
        help = "write `text: lines`"
        findings.error("R022", "a log, a tree and `instead` are of lines", raw.pos, help)
        return None
    for name, node in found.under("ids").items():
        if "made" in node.value and "at" not in node.value:
            help = "write `at:` and the path of keys to it"
            findings.error("R022", f"the id of `{name}` is made and stands nowhere", node.pos, help)
            return None
    return found


def _builds(build: Callable[[str, Node], Any]) -> Callable[..., Node | None]:
    """Return the check of a schema node's pictures: that `build` makes a model of them (R029)."""

    def check(findings: Findings, raw: Node, found: Node, what: str) -> Node | None:
        if len(found.value) < len(raw.value):
            return None
        try:
            build(what.strip("`"), raw)
        except RuleError as error:
            pos = Pos(error.file, error.line, error.column) if error.file else raw.pos
            findings.error("R029", error.reason, pos, error.help or SHOWN)
            return None
        return found

    return check


ACROSS: dict[str, Callable[..., Node | None]] = {
    "shape": _shape, "talk": _talk, "table": _table, "limit": _limit, "bound": _bound,
    "stream": _stream, "document": _document, "rewrite": _builds(Row.load),
    "must": _builds(lambda name, node: Rule.load(node)),
}  # fmt: skip
