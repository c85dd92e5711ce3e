"""The form of `stream`: its words, the names of events, and their pictures."""

from __future__ import annotations

from ..ir import PARTS
from ..language import events
from ..language.events import ACTS, FRAMINGS, OF_SHAPE, STREAM_WORDS
from ..language.findings import Findings, helped
from ..language.source import Node
from .grammar import Grammar, Rule, short
from .pictureform import Pictures

KINDS = PARTS | {"candidate"}


class Streams(Grammar):
    """Checks the stream of a rule file."""

    def __init__(self, findings: Findings, pictures: Pictures, examples: Rule) -> None:
        super().__init__(findings)
        self.pictures, self.examples = pictures, examples

    def check(self, node: Node, what: str) -> Node | None:
        """Check a whole stream; None where nothing can be made of it."""
        rules: dict[str, Rule] = {
            "framing": self._framing,
            "named": self.text,
            "frame": self._frame,
            "events": self._events,
            "read-also": self._events,
            "asks": self._asks,
            "drop": self.reasons,
            "examples": self.examples,
        }
        found = self.words(node, "a stream", STREAM_WORDS, rules)
        if found is None:
            return None
        events = found.get("events")
        if events is None or not events.value:
            if not isinstance(node.value, dict) or "events" not in node.value:
                help = "write `events:` and the picture of a frame for each"
                self.form("a stream has `events`", node, help)
            return None
        return found

    def _framing(self, node: Node, what: str) -> Node | None:
        if node.value in FRAMINGS:
            return node
        help = helped(str(node.value), FRAMINGS, "say")
        self.form(f"`framing: {short(node.value)}` is not known", node, help)
        return None

    def _frame(self, node: Node, what: str) -> Node | None:
        if not isinstance(node.value, dict):
            self.form("`frame` is an object", node)
            return None
        return self.pictures.wire(node)

    def _asks(self, node: Node, what: str) -> Node | None:
        found = node.value if isinstance(node.value, dict) else {"": node}
        for act, child in found.items():
            if act not in ACTS or not isinstance(child.value, dict) or not child.value:
                help = "write `asks: {usage: {KEY: VALUE}}`, what a request holds that asks for it"
                self.form("`asks` names events and how a request asks for them", child, help)
                return None
        return node

    def _events(self, node: Node, what: str) -> Node | None:
        if not isinstance(node.value, dict):
            self.form(f"`{what}` is a mapping of names", node)
            return None
        kept = {}
        for name, child in node.value.items():
            pos = node.keys.get(name, child.pos)
            if self._name(name, Node(name, pos)):
                found = self._event(name, child)
                if found is not None:
                    kept[name] = found
        return Node(kept, node.pos, node.keys)

    def _name(self, name: str, node: Node) -> bool:
        try:
            words = events.parsed(name)
        except ValueError as error:
            act = next((a for a in (w.partition(".")[0] for w in name.split("+")) if a not in ACTS),
                       "")  # fmt: skip
            help = helped(act, ACTS) if act else "docs/streams.md lists the events"
            self.findings.error("R021", str(error), node.pos, help, word=name)
            return False
        for word in words:
            if word.kind and word.act not in OF_SHAPE and word.kind not in KINDS:
                message = f"`{name}` names `{word.kind}`, which is no kind of part"
                help = helped(word.kind, KINDS)
                self.findings.error("R024", message, node.pos, help, word=word.kind)
                return False
        return True

    def _event(self, name: str, node: Node) -> Node | None:
        """Check the picture of an event, or of the frames that are written for it in turn."""
        if isinstance(node.value, list):
            kept = [self._event(name, item) for item in node.value]
            if not kept or any(item is None or isinstance(item.value, list) for item in kept):
                if not kept:
                    self.form(f"`{name}` has no picture", node)
                return None
            return node
        if not isinstance(node.value, dict | str):
            self.form(f"`{name}` is the picture of a frame, or the text of one", node)
            return None
        return self.pictures.wire(node)
