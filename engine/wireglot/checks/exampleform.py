"""The form of examples: which words stand in one, and which of them together."""

from __future__ import annotations

from collections.abc import Sequence

from ..language.findings import helped
from ..language.source import Node
from .grammar import Grammar, short

FORMS = (("wire", "ir"), ("reads", "as"), ("writes", "as"))
MORE = ("notes", "crossing")
ROW_FORMS = (("from", "to"),)
ROW_MORE = ("notes", "beside")
WHY = {
    "ir": "say what it means, in the fields of docs/ir.md",
    "wire": "say the JSON on the wire, as the provider's page shows it",
}


class Examples(Grammar):
    """Checks lists of examples."""

    def examples(self, node: Node, what: str) -> Node | None:
        """Check the examples of a dialect."""
        return self._listed(node, FORMS, MORE)

    def rows(self, node: Node) -> Node | None:
        """Check the examples of a row of the ladder."""
        return self._listed(node, ROW_FORMS, ROW_MORE)

    def _listed(
        self, node: Node, forms: Sequence[tuple[str, str]], more: Sequence[str]
    ) -> Node | None:
        shown = "- {" + ": ..., ".join(forms[0]) + ": ...}"
        if not isinstance(node.value, list):
            help = f"write `{shown}` for each"
            self.findings.error("R025", "`examples` is a list", node.pos, help)
            return None
        kept = []
        for item in node.value:
            if not isinstance(item.value, dict):
                help = f"write `{shown}`"
                self.findings.error("R025", "an example is a mapping", item.pos, help)
            elif self._words(item, [*dict.fromkeys(sum(forms, ())), *more]):
                if self._form(item, forms):
                    kept.append(item)
        return Node(kept, node.pos)

    def _words(self, item: Node, known: list[str]) -> bool:
        right = True
        for word in item.value:
            if word not in known:
                pos = item.keys.get(word, item.pos)
                message = f"`{short(word)}` is no word of an example"
                help = helped(word, known, "its words are")
                self.findings.error("R025", message, pos, help)
                right = False
        return right

    def _form(self, item: Node, forms: Sequence[tuple[str, str]]) -> bool:
        said = [word for word in dict.fromkeys(sum(forms, ())) if word in item.value]
        if any(set(form) == set(said) for form in forms):
            return True
        close = next((form for form in forms if form[0] in said), forms[0])
        missing = [word for word in close if word not in said]
        if missing:
            message = f"this example has no `{missing[0]}`"
            help = WHY.get(missing[0], f"`{close[0]}` and `{close[1]}` stand together")
        else:
            words = " and ".join(f"`{word}`" for word in said)
            message = f"{words} do not stand together in an example"
            help = "write `{wire, ir}`, `{reads, as}` or `{writes, as}`"
        self.findings.error("R025", message, item.pos, help)
        return False
