"""The form of pictures: every text of one that is no hole, no literal and no text picture."""

from __future__ import annotations

import re

from ..errors import RuleError
from ..ir import FUNCTION
from ..language import drawn
from ..language.findings import Findings, hint
from ..language.picture import ABSENT, Hole, Literal, Picture, Test
from ..language.source import Node, Pos
from .fields import KINDS

MODES = ("as", "each", "entries")
_ALMOST = {
    **dict.fromkeys("yes Yes YES on On ON True TRUE".split(), "true"),
    **dict.fromkeys("no No NO off Off OFF False FALSE".split(), "false"),
    **dict.fromkeys("Null NULL none None".split(), "null"),
}
ONE = frozenset(("single", "bare", "joined"))  # lenses that make one element of a list
_OPEN = re.compile(r"\$\{[^}]*$")


class Pictures:
    """Checks pictures, and returns those that are right as they are."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def check(self, node: Node, of: str = "wire") -> Node | None:
        """Check a picture of the `wire`, of the `ir` or of a `row` of the ladder."""
        return self._picture(node, of, rests=of == "row")

    def _no(self, message: str, pos: Pos, help: str = "", rule: str = "R023", **more: str) -> bool:
        """Report what is wrong, and return False: a check gives on whether all is right."""
        self.findings.error(rule, message, pos, help, **more)
        return False

    def _picture(self, node: Node, of: str, rests: bool) -> Node | None:
        value = node.value
        if isinstance(value, dict):
            whole = [self._check_entry(key, child, node, of, rests) for key, child in value.items()]
            # An object that lost a key is another picture: it must not be compared with others.
            return node if all(whole) else None
        if isinstance(value, list):
            return self._list(node, of, rests)
        try:
            parsed = drawn.parse(node)
        except RuleError as error:
            self._report_unread(node, error)
            return None
        if value is None and not self._text_at(node).startswith("null"):
            help = "write what stands there, or `null` where nothing but null does"
            self.findings.warn("R028", "nothing stands here, which is null", node.pos, help)
        if isinstance(value, str) and not self._is_plausible(node, parsed):
            return None
        right = of == "row" or (self._on_wire if of == "wire" else self._in_ir)(parsed, node)
        return node if right else None

    def _check_entry(self, key: str, child: Node, owner: Node, of: str, rests: bool) -> bool:
        if not self._check_key(key, child, owner):
            return False
        found = self._picture(child, of, rests or key == "...")
        return found is not None and (key != "..." or self._check_rest(found))

    def _list(self, node: Node, of: str, rests: bool) -> Node | None:
        value = node.value
        if value and of == "ir":
            help = "give the list a name, as in `parts: $parts`"
            self._no("an `ir` picture holds no list but `[]`", node.pos, help)
            return None
        if len(value) > 1 and of != "wire" and drawn.rest_hole(value[-1]) is not None:
            help = "picture the list with its length, or name it whole"
            self._no("the rest of a list stands in pictures of the wire alone", value[-1].pos, help)
            return None
        items = [found for item in value if (found := self._picture(item, of, rests)) is not None]
        if not rests:
            items = [item for item in items if not self._is_nested_list(item, len(value) == 1)]
        return node if len(items) == len(value) else None

    def _on_wire(self, parsed: Picture, node: Node) -> bool:
        if isinstance(parsed, Test):
            help = "write it in the `ir` picture of the case"
            message = f"`{node.value}` tests the IR and says nothing of the wire"
            return self._no(message, node.pos, help)
        if isinstance(parsed, Hole) and parsed.mode and parsed.path == "nth":
            return self._no("`$nth` takes no shape", node.pos, "write `$nth` alone")
        return True

    def _in_ir(self, parsed: Picture, node: Node) -> bool:
        if isinstance(parsed, Hole):
            said = parsed.mode or parsed.lenses or parsed.mark or len(parsed.paths) > 1
            if said or parsed.path == ".":
                help = f"write `${parsed.path}` here, and the rest where the hole stands in `wire`"
                help = help if parsed.path != "." else ""
                return self._no("a hole of an `ir` picture is only a name", node.pos, help)
        known = {*KINDS, FUNCTION, "media"}
        if isinstance(parsed, Test) and parsed.word == "has" and parsed.kind not in known:
            message, help = f"`{parsed.kind}` is no kind of the IR", hint(parsed.kind, known)
            return self._no(message, node.pos, help, "R024", word=parsed.kind)
        return True

    def _is_nested_list(self, node: Node, alone: bool) -> bool:
        """Tell whether a hole of a list stands where one element of a list does, and report it."""
        parsed = None if isinstance(node.value, dict | list) else drawn.parse(node)
        if not isinstance(parsed, Hole):
            return False
        if parsed.mode not in ("each", "entries") and parsed.shape != "conversation":
            return False
        if not ONE.isdisjoint(parsed.lenses):
            return False
        message = f"`{node.value}` is a list within the list here, not the rest of it"
        help = f"write `...: {node.value}` behind what leads the list, or `| single`"
        if alone:
            help = f"take the brackets away: `{node.value}` is the whole list"
        return not self._no(message, node.pos, help)

    def _check_rest(self, node: Node) -> bool:
        """Check what stands behind `...`."""
        right = True
        for item in node.value if isinstance(node.value, list) else [node]:
            parsed = drawn.parse(item)
            absent = isinstance(parsed, Literal) and parsed.values == (ABSENT,)
            if not isinstance(parsed, Hole) and not absent:
                help = "write for example `...: $own.rest`, or `...: $absent` for no other key"
                message = "`...` takes a hole, a list of holes or $absent"
                right = self._no(message, item.pos, help)
            elif isinstance(parsed, Hole) and len(parsed.paths) > 1:
                right = self._no("`...` takes no sum", item.pos, "write one path", "R018")
        return right

    def _check_key(self, key: str, child: Node, owner: Node) -> bool:
        pos = owner.key_pos(key)
        if key.startswith("`") and key.endswith("`") and len(key) > 2:
            return True
        found = re.match(r"([\w.-]+):", key)
        if found and child.value is None:
            help = "write a space after the colon of each key"
            return self._no(f"a space is missing after `{found[1]}:`", pos, help, "R020")
        if "(or" in key and len(drawn.spellings(key)) == 1:
            help = "write `first (or second third)`, or put a key with such a name in backquotes"
            return self._no(f"`{key[:60]}` is no key with spellings", pos, help)
        if key.startswith("$") and not key.startswith("$$"):
            help = f"a key is literal; put it in backquotes if it begins with $: '`{key}`'"
            return self._no(f"`{key[:60]}` is no key", pos, help)
        return True

    def _report_unread(self, node: Node, error: RuleError) -> None:
        """Report a text that cannot be read as a picture, with the help that fits it best."""
        text = str(node.value)
        message, help, word = error.reason, error.help, ""
        if len(message) > 160:
            message = message[:157] + "..."
        if found := re.search(r"\(([A-Za-z-]+)([^()]*)\)\s*$", text):
            word = found[1]
            if word == "required":
                help = "a hole without a mark is required: leave it out"
            elif word not in drawn.MARKS:
                help = hint(word, drawn.MARKS, "the marks are")
                help += "; put a space before `(`" if re.search(r"\S\(", text) else ""
            elif re.search(r"\S\(", text):
                help = f"put a space before `({word}`"
                word = ""
            elif word in ("default", "fill") and not found[2].strip():
                help = f"write for example `({word} null)`, or `(optional)`"
            elif not help:
                help = f"write `({word})`, or another mark"
        elif found := re.search(r"[\s\[(](" + "|".join(drawn.MARKS) + r")[\])]?\s*$", text):
            help = f"a mark stands in parentheses: `({found[1]})`"
        elif match := re.match(r"\$[\w.]+\s+([A-Za-z]+)\s+\S", text):
            if match[1] not in MODES:
                word = match[1]
                help = hint(word, MODES, "write one of")
        elif _OPEN.search(text):
            help = "write ${name}, closed with }"
        elif re.search(r"\s(as|each|entries)\s*$", text):
            help = "name the shape or union behind it"
        if "is no hole" in message and help != drawn.HOLE_FORM:
            help = f"{help}; {drawn.HOLE_FORM}" if help else drawn.HOLE_FORM
        rule = "R015" if re.search(r"\}\$\{", text) else error.rule or "R023"
        self.findings.error(rule, message, node.pos, help, word=word)

    def _text_at(self, node: Node) -> str:
        """Return the text of the file from where a value begins."""
        return self.findings.line(node.pos)[node.pos.column - 1 :]

    def _is_plausible(self, node: Node, parsed: Picture) -> bool:
        """Warn of a text that is read as a literal and was hardly meant so; False for an error."""
        text = node.value
        if isinstance(parsed, Literal) and text in _ALMOST:
            if self._text_at(node)[:1] not in "'\"" and text != "none":
                message = f"`{text}` is a text here, not {_ALMOST[text]}"
                help = f"write `{_ALMOST[text]}`, or put the text in quotes"
                self.findings.warn("R028", message, node.pos, help)
        if isinstance(parsed, Literal) and re.search(r"\S\(or\s", text):
            help = "put a space before `(or`"
            return self._no(f"`{text[:60]}` names no spellings", node.pos, help)
        if isinstance(parsed, Literal) and re.fullmatch(r"[a-z_.]+\s*\|\s*[\w+-]+.*", text):
            named = re.match(r"[a-z_.]+", text)
            help = f"a hole begins with $: `${named[0] if named else text}`"
            message = f"`{text[:60]}` is a text, with a codec that says nothing to it"
            self.findings.warn("R028", message, node.pos, help)
        return True
