"""The form of a rule file: walks it by the words that the language has, each with what it takes.

`File.clean` reports all that is wrong and returns the file without it, so that what is right can be
checked further in the same run.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..ir import PARTS, field_type
from ..language import events, forms, variants, version
from ..language.drawn import parse
from ..language.findings import Findings, hint
from ..language.forms import Form
from ..language.merge import with_value
from ..language.picture import Hole
from ..language.source import Node
from ..language.words import FILE, WHEN
from . import fields
from .across import ACROSS, SHOWN
from .pictureform import Pictures

OLD = 366  # days after which an API may have changed
_SPLICES = re.compile(r"\s*\$parts\s+each\s+[\w.-]+\s*")
_MEANS = {
    "ir": "say what it means, in the fields of docs/ir.md",
    "wire": "say the JSON on the wire, as the provider's page shows it",
}


class Forms:
    """Checks nodes by their forms; each check returns the node without what is wrong, or None."""

    def __init__(self, findings: Findings) -> None:
        self.findings, self.pictures = findings, Pictures(findings)

    def check(self, form: Form, node: Node, what: str, owner: str = "") -> Node | None:
        """Check a node; `what` it is called in messages, and `owner` what it stands in."""
        if not getattr(form, "rule", "R022"):
            return node
        check: Callable[..., Node | None] = getattr(self, f"_{type(form).__name__.lower()}")
        look = functools.partial(check, form, node, what, owner)
        # Dialects and sets of variants share most of their words and shapes.
        shared = owner == FILE.what or getattr(form, "then", "") == "shape"
        if not shared:
            return look()
        return self.findings.cached((what, owner, node), lambda: _kept_whole(node, look()))

    def report(self, form: Form, node: Node, what: str, owner: str = "", help: str = "") -> None:
        """Report a node that has another form."""
        rule = getattr(form, "rule", "R022")
        said = fill_in(form.help, what, owner) or help or (SHOWN if rule == "R022" else "")
        self.findings.error(rule, fill_in(form.message, what, owner, node.value), node.pos, said)

    def report_unknown(self, name: str, node: Node, form: Form, what: str) -> None:
        """Report a word of a mapping that is not known, or a name that is none of its keys."""
        words = isinstance(form, forms.Words)
        help = hint(name, form.words, form.lead) if words else hint(name, form.keys)
        message = fill_in(form.strange.replace("{name}", "{value}"), what, "", name)
        pos = node.key_pos(name)
        rule = ("R021" if form.rule == "R022" else form.rule) if words else "R024"
        self.findings.error(rule, message, pos, help, word=name)

    # -- mappings ---------------------------------------------------------------------------------

    def _is_mapping(self, form: Form, node: Node, what: str, owner: str, help: str = "") -> bool:
        """Tell whether a node is a mapping that says something, where it has to; or report it."""
        if isinstance(node.value, dict) and len(node.value) >= form.least:
            return True
        if node.value == {}:
            form = form._replace(message="{what} says nothing")
        self.report(form, node, what, owner, help)
        return False

    def _words(self, form: forms.Words, node: Node, what: str, owner: str) -> Node | None:
        called = form.what or what
        listed = f"its words are {', '.join(sorted(form.words))}"
        if form.texts and not self._are_texts(form, node, what):
            return None
        if not self._is_mapping(form, node, called, what, listed):
            return None
        lacking = [one for one in form.needed if form.missing and one not in node.value]
        for word in lacking:
            self.findings.error(form.rule, fill_in(form.missing, called, what, word), node.pos)
        kept: dict[str, Node] = {}
        for word, child in node.value.items():
            if word not in form.words:
                self.report_unknown(word, node, form, called)
                continue
            found = self.check(form.words[word][0], child, f"`{word}`", what)
            if found is not None:
                kept[word] = found
        made: Node | None = Node(kept, node.pos, node.keys)
        if len(kept) == len(node.value) and not _one_set(form, node):
            self._report_example(form, node)
            return None
        if form.then:
            made = ACROSS[form.then](self.findings, node, made, what)
        whole = form.whole or form.texts
        return None if whole and (lacking or len(kept) < len(node.value)) else made

    def _are_texts(self, form: forms.Words, node: Node, what: str) -> bool:
        """Tell whether a mapping is one of texts, of the words that have to stand together."""
        said = node.entries
        unknown = said.keys() - form.words.keys()
        for word in unknown if form.what else ():
            self.report_unknown(word, node, form, form.what)
        texts = all(isinstance(said[word].value, str) for word in said if word != form.but)
        right = texts and not unknown and {*form.needed} <= said.keys() and _one_set(form, node)
        if not right and not (unknown and form.what):
            self.report(form, node, form.what, what)
        return right

    def _report_example(self, form: forms.Words, node: Node) -> None:
        """Report an example whose words do not stand together."""
        said = [word for word in form.words if word in node.value and word in sum(form.sets, ())]
        close = next((words for words in form.sets if words[0] in said), form.sets[0])
        missing = [word for word in close if word not in said]
        if missing:
            message = f"this example has no `{missing[0]}`"
            help = _MEANS.get(missing[0], f"`{close[0]}` and `{close[1]}` stand together")
        else:
            words = " and ".join(f"`{word}`" for word in said)
            message = f"{words} do not stand together in an example"
            *most, last = (f"`{{{', '.join(words)}}}`" for words in form.sets)
            help = f"write {', '.join(most)} or {last}"
        self.findings.error(form.rule, message, node.pos, help)

    def _map(self, form: forms.Map, node: Node, what: str, owner: str) -> Node | None:
        if not self._is_mapping(form, node, what, owner):
            return None
        kept = {}
        for name, child in node.value.items():
            if form.keys and name not in form.keys:
                self.report_unknown(name, node, form, what)
                continue
            key = Node(name, node.key_pos(name))
            if form.named is not None and self.check(form.named, key, f"`{name}`", what) is None:
                continue
            found = self.check(form.of, child, form.each.replace("{name}", name), what)
            if found is not None:
                kept[name] = found
        return (
            None if form.whole and len(kept) < len(node.value) else Node(kept, node.pos, node.keys)
        )

    def _special(self, form: forms.Special, node: Node, what: str, owner: str) -> Node | None:
        if not self._is_mapping(forms.Map(None), node, what, owner):
            return None
        check: Callable[[str, Node, Node], Node | None] = getattr(self, f"_{form.of}")
        found = {name: check(name, child, node) for name, child in node.value.items()}
        kept = {name: child for name, child in found.items() if child is not None}
        return Node(kept, node.pos, node.keys)

    def _limits(self, name: str, node: Node, owner: Node) -> Node | None:
        known = fields.limits()
        if name in known:
            return self.check(known[name], node, f"the limit `{name}`")
        there = {n for n in known if n not in fields.TEXTS or "." in name}
        pos, message = self.findings.key_before(node.pos, name), f"`{shortened(name)}` is no limit"
        self.findings.error("R027", message, pos, hint(name, there), word=name)
        return None

    # -- streams ----------------------------------------------------------------------------------

    def _events(self, name: str, node: Node, owner: Node) -> Node | None:
        pos, kinds = owner.key_pos(name), PARTS | {"candidate"}
        try:
            words = events.parse_name(name)
        except ValueError as error:
            acts = (word.partition(".")[0] for word in name.split("+"))
            act = next((act for act in acts if act not in events.ACTS), "")
            help = hint(act, events.ACTS) if act else "docs/streams.md lists the events"
            self.findings.error("R021", str(error), pos, help, word=name)
            return None
        for word in words:
            if word.kind and word.act not in events.OF_SHAPE and word.kind not in kinds:
                message = f"`{name}` names `{word.kind}`, which is no kind of part"
                help = hint(word.kind, kinds)
                self.findings.error("R024", message, pos, help, word=word.kind)
                return None
        return self._event(name, node)

    def _event(self, name: str, node: Node) -> Node | None:
        """Check the picture of an event, or of the frames that are written for it in turn."""
        if isinstance(node.value, list):
            kept = [self._event(name, item) for item in node.value]
            if not kept:
                self.findings.error("R022", f"`{name}` has no picture", node.pos, SHOWN)
            inner = (item is None or isinstance(item.value, list) for item in kept)
            return node if kept and not any(inner) else None
        if not isinstance(node.value, dict | str):
            message = f"`{name}` is the picture of a frame, or the text of one"
            self.findings.error("R022", message, node.pos, SHOWN)
            return None
        return self.pictures.check(node)

    # -- lists, values and pictures ---------------------------------------------------------------

    def _listed(self, form: forms.Listed, node: Node, what: str, owner: str) -> Node | None:
        alone = form.alone and not isinstance(node.value, dict | list)
        items = [node] if alone else node.value
        if not isinstance(items, list) or len(items) < form.least:
            self.report(form, node, what, owner)
            return None
        called = getattr(form.of, "what", "") or what
        kept = [found for item in items if (found := self.check(form.of, item, called, owner))]
        if form.whole and len(kept) < len(items):
            return None
        return node if alone else Node(kept, node.pos)

    def _leaf(self, form: forms.Leaf, node: Node, what: str, owner: str) -> Node | None:
        value, schema, help = node.value, form.schema, ""
        if _TESTS[form.test](value) if form.test else fits_schema(schema, node.plain()):
            return node
        if "enum" in schema and not form.help:
            help = hint(str(value), schema["enum"], form.lead)
        elif isinstance(value, int | float) and fits_schema(schema, "x"):
            help = "put it in quotes"
            if "{value}" in form.message:  # it is the value that is told
                form = form._replace(help="")
        self.report(form, node, what, owner, help)
        return None

    def _picture(self, form: forms.Picture, node: Node, what: str, owner: str) -> Node | None:
        if form.of == "node":
            return node  # looked at where it is built
        right = not form.whole or isinstance(node.value, dict)
        if form.spliced and isinstance(node.value, str):
            if self.pictures.check(node) is None:
                return None  # it is no picture at all, which is said
            right = _SPLICES.fullmatch(node.value) is not None
        if right and form.of == "line":
            right = _count_messages(node) == 1
        found = None
        if right:
            sides = {"ir": "ir", "ir.message": "ir", "row": "row", "hole": "row"}
            found = self.pictures.check(node, sides.get(form.of, "wire"))
            right = found is None or form.of != "hole" or isinstance(parse(found), Hole)
        if not right:
            self.report(form, node, what, owner)
        return found if right else None


class File(Forms):
    """Checks the form of one rule file."""

    def variants(self, node: Node) -> Node:
        """Return a flat file with those of its variants that say for what they are."""
        listed, kept, error = node.get(variants.WORD), [], self.findings.error
        if listed is None:
            return node
        if not isinstance(listed.value, list):
            help = "write `- for: {...}`"
            error("R033", "`variants` is a list of rows", listed.pos, help)
        for row in listed.value if isinstance(listed.value, list) else ():
            when = row.get("for")
            never = [word for word in variants.NEVER if row.get(word) is not None]
            for word in never:
                error("R033", f"a variant has no `{word}`", row.key_pos(word))
            if when is None or when.value == {}:
                self.report(WHEN, when or row, "`for`")
            elif self.check(WHEN, when, "`for`") is not None and not never:
                kept.append(row)
        return with_value(node, {**node.value, variants.WORD: Node(kept, listed.pos)})

    def clean(self, node: Node) -> Node | None:
        """Check a whole file; None where nothing can be made of it."""
        top = self.check(FILE, node, FILE.what)
        if top is not None:
            self._header(node, top)
        return top

    def _header(self, node: Node, top: Node) -> None:
        wrong = version.version_error(node)
        top.value["wireglot"] = Node(version.VERSION, node.pos)  # the rest is checked all the same
        if wrong is not None:
            self.findings.add_error(wrong)
        for word, why in (
            ("see", "the address of the page on which the provider describes it"),
            ("verified", "the day on which somebody last compared the two, as 2026-11-21"),
        ):
            said = node.get(word)
            if said is None:
                message, begins = f"the file does not say `{word}`", version.head_pos(node)
                self.findings.warn("R009", message, begins, why)
            elif not isinstance(said.value, str) or not said.value:
                self.findings.error("R009", f"`{word}` is a text", said.pos, why)
            elif word == "verified":
                self._verified(said, why)

    def _verified(self, said: Node, why: str) -> None:
        import datetime

        try:
            day = datetime.date.fromisoformat(said.value)
        except ValueError:
            self.findings.warn("R009", "`verified` is no day", said.pos, why)
            return
        past = (datetime.date.today() - day).days
        if past < -1:  # it is tomorrow elsewhere
            self.findings.warn("R009", "`verified` is a day to come", said.pos, why)
        if past > OLD:
            help = "compare the file with the provider's page, and write the day"
            self.findings.info("R009", "`verified` is more than a year ago", said.pos, help)


_TYPES: Mapping[str, Any] = {
    "string": str, "integer": int, "number": int | float, "boolean": bool, "object": dict,
}  # fmt: skip


def fits_schema(schema: forms.Schema, value: Any) -> bool:
    """Tell whether a value fits a JSON Schema of the few keywords that forms have."""
    if "anyOf" in schema:
        return any(fits_schema(one, value) for one in schema["anyOf"])
    if "const" in schema:
        return bool(type(value) is type(schema["const"]) and value == schema["const"])
    if "enum" in schema:
        return any(type(value) is type(word) and value == word for word in schema["enum"])
    kind: str = schema["type"]
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return False
    if isinstance(value, str):
        found = re.search(schema.get("pattern", ""), value)
        return found is not None and len(value) >= int(schema.get("minLength", 0))
    if isinstance(value, dict):
        return len(value) >= int(schema.get("minProperties", 0))
    return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))


def _characters(value: Any) -> bool:
    """Tell whether a text is a set of characters, as it stands between [ and ]."""
    signs = ("[", "]", "\\", "^", "--", "&&", "||", "~~")
    said = value.removeprefix("^") if isinstance(value, str) else ""
    if not said or any(sign in said for sign in signs):
        return False
    try:
        re.compile(f"[{value}]")
    except (re.error, RecursionError):
        return False
    return True


_TESTS: dict[str, Callable[[Any], bool]] = {
    "characters": _characters,
    "integer": lambda value: field_type("request", str(value)) == "integer",
}


def _kept_whole(node: Node, found: Node | None) -> Node | None:
    """Return the node itself where nothing was left out: what was built of it is found again."""
    return node if found is not None and _is_whole(node, found) else found


def _is_whole(node: Node, found: Node) -> bool:
    """Tell whether all of a node is in what a check returned of it."""
    if found is node:
        return True
    one, two = node.value, found.value
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(_is_whole(one[key], two[key]) for key in two)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(_is_whole, one, two))
    return False


def _count_messages(node: Node) -> int:
    """Count the places of `$message` in the picture of a line."""
    if isinstance(node.value, dict):
        return sum(_count_messages(child) for child in node.value.values())
    return int(node.value == "$message")


def _one_set(form: forms.Words, node: Node) -> bool:
    """Tell whether the words of one set stand in a mapping, and no others of sets."""
    said = node.entries.keys() & {word for words in form.sets for word in words}
    return not form.sets or any({*words} == said for words in form.sets)


def fill_in(text: str, what: str, owner: str = "", value: Any = "") -> str:
    """Return a message with what it tells in the places of `{what}` and the like."""
    told = {"what": what, "name": what.strip("`"), "owner": owner, "value": shortened(value)}
    return re.sub(r"\{(what|name|owner|value)\}", lambda match: told[match[1]], text)


def shortened(value: Any) -> str:
    """Return a value as a message shows it."""
    if isinstance(value, Collection) and not isinstance(value, str):
        return "a list or mapping"
    if value is None or isinstance(value, bool):
        value = {None: "null", True: "true", False: "false"}[value]
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
