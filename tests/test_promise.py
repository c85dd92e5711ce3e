"""The engine knows no provider: their names, keys and words stand in the rule files alone."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import wireglot
from wireglot import ir
from wireglot.language import short, source

ROOT = Path(__file__).parent.parent
RULES = [path for path in sorted((ROOT / "rules").glob("*.yaml")) if path.stem != "ladder"]
HOOKS = "hooks.py"  # they may know a provider and its keys
ENGINE = [p for p in sorted((ROOT / "engine" / "wireglot").rglob("*.py")) if p.name != HOOKS]
ENGLISH = {"agent", "together"}
HOOK_LINES = 150
# What a picture is made of; `or` stands between spellings.
MARKUP = frozenset(
    ("or", "...", "null", "true", "false", "empty-list", "empty-object", "empty-text")
)


@functools.cache
def rule_files() -> list[dict[str, Any]]:
    files = [source.parse(path.read_text(), path.name) for path in RULES]
    for file in files:
        short.expand(file)
    return [file.plain() for file in files]


def wire_pictures(node: Any) -> Iterator[Any]:
    """Yield every picture of the wire in a rule file, examples left out."""
    if isinstance(node, dict):
        for key, inner in node.items():
            if key == "wire":
                yield inner
            elif key == "stream" and isinstance(inner, dict):
                yield from (inner.get("frame", {}), *inner.get("events", {}).values())
            elif key not in ("ir", "examples"):
                yield from wire_pictures(inner)


def words_of(picture: Any) -> Iterator[str]:
    """Yield the keys and the fixed words of a picture."""
    if isinstance(picture, dict):
        for key, inner in picture.items():
            yield from re.findall(r"[^\s()`]+", str(key))
            yield from words_of(inner)
    elif isinstance(picture, list):
        for inner in picture:
            yield from words_of(inner)
    elif isinstance(picture, str):
        if picture.startswith("$") and not picture.startswith("$$"):
            yield from re.findall(r"\((?:else|default) ([^()$]+)\)", picture)
        elif "${" in picture:
            yield from (piece for piece in re.split(r"\$\{[\w.]+\}", picture) if len(piece) > 1)
        else:
            yield from re.findall(r"[^\s()$]+", picture.replace("$absent", ""))


def table_words(rules: dict[str, Any]) -> Iterator[str]:
    for table in rules.get("tables", {}).values():
        yield from map(str, table.get("only", ()))
        yield from map(str, table.get("write", {}).values())
        yield from map(str, table.get("write-also", {}).values())
        yield from map(str, table.get("read-also", {}))


@functools.cache
def wire_words() -> set[str]:
    found: set[str] = set()
    for rules in rule_files():
        for picture in wire_pictures(rules):
            found.update(words_of(picture))
        found.update(table_words(rules))
    found = {word for word in found if re.search(r"\w", word)}  # a mark alone is no word
    camel = {re.sub(r"(?<!^)([A-Z])", r"_\1", word).lower() for word in found if word[0].islower()}
    return (found | camel) - MARKUP - {str(number) for number in range(10)}


# Words of the rule language and of JSON Schema, which are keys or words of a wire besides.
LANGUAGE = {"tool_name", "call_id", "conversation", "default", "items"}
# ... and `entries` of a hole, the codec `timestamp`, the option and the variants' word `version`.
LANGUAGE |= {"entries", "timestamp", "version"}
# ... and of streams: the key `events`, the event `part`, the address `$at.item`.
LANGUAGE |= {"events", "part", "item"}
# ... and how Python compiles what it runs (`compile(..., "exec")`).
LANGUAGE |= {"exec"}
# ... and the `size` of a text, by which a state knows it.
LANGUAGE |= {"uuid"}  # `(made uuid)`
LANGUAGE |= {"size"}
LANGUAGE |= {"weight"}  # ... of a note
LANGUAGE |= {"steps"}  # of a conversation
LANGUAGE |= {"summary"}  # of a document
# ... and of examples and cases, and the option `resume`.
LANGUAGE |= {"notes", "resume"}
# ... and the codec `bytes`, and the form of a report (`--html`).
LANGUAGE |= {"bytes", "html"}
# An event of streams, a severity and a code of notes; a wire has the same by chance.
LANGUAGE |= {"finish", "info", "ignored"}
# Media types are registered names, the same in every format; audits try some.
LANGUAGE |= {"image/png", "text/plain", "application/pdf", "application/json"}


# Why a response stopped, in words of the IR (docs/ir.md) that are words of a wire, too.
STOPS = {
    "within.py": {"end_turn", "tool_use"},
    # Their words are those of the language, of plans and of HTTP; a wire has the same by chance.
    "form.py": {"TEXT"},
    "fast.py": {"prefix"},
    "plan.py": {"prefix"},
    "picture.py": {"closed"},
    "generate.py": {"k"},  # the key of any object
    "exchanges.py": {"http"},
    "loaded.py": {"returned"},
    "reading.py": {"returned"},
    "relay.py": {"http"},
    "batchlines.py": {"http"},
    "guard.py": {"Bearer "},
    "demo.py": {"end_turn", "tool_use", "command"},
    "pieces.py": {"reason"},
    "run.py": {"done", "options"},
    "wires.py": {"POST"},
    "config.py": {"fallbacks", "options", "plugins", "requests"},
    "command.py": {"plugins"},
    "commands.py": {"command"},
    "page.py": {"provider"},
    "samples.py": {"human"},  # who speaks, in samples of any kind
    "replay.py": {"POST", "model", "provider"},
    # It speaks by the same conventions as the dialect of spans.
    "telemetry.py": {
        f"gen_ai.{of}"
        for of in (
            "operation.name",
            "provider.name",
            "request.model",
            "response.id",
            "response.model",
        )
    },
    # What errors in no form of a dialect say: anybody's, so no rule file can picture them; and
    # kinds of errors, in words of the IR, that a wire has by chance.
    "unpictured.py": {"errors", "reason", "http", "not_found", "permission", "invalid_request"},
}


@functools.cache
def ir_words() -> set[str]:
    """Return the words of the IR: those of the module `ir`, and those that docs/ir.md shows."""
    known = LANGUAGE | {*ir.UNITS, *ir.PARTS, *ir.TOOLS, *ir.MEDIA, *ir.FIELDS, *ir.FIELDS.values()}
    known |= {ir.FUNCTION, *wireglot.Envelope._fields}
    known |= {word for pair in ir.EXCEPTIONS for word in pair} | ir.DERIVED
    for name in ("ToolCall", "ToolResult", "Message", "Request", "Response"):
        known |= set(get_type_hints(getattr(ir, name)))
    for shown in re.findall(r"`([^`\n]+)`", (ROOT / "docs" / "ir.md").read_text()):
        known.update(re.findall(r"[\w-]+", shown))
    return known


def literals(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, text, whether it is prose) of each text in a module."""
    tree = ast.parse(path.read_text())
    prose = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value, id(node) in prose


@functools.cache
def provider_names() -> set[str]:
    names = {rules["dialect"] for rules in rule_files()}
    # Some are no names by themselves, and one is what the models of the IR are made with.
    firms = {name.partition("-")[0] for name in names} - {
        "ag",
        "ai",
        "hf",
        "lm",
        "otel",
        "pydantic",
    }
    return {*names, *firms, "google", "claude", "vertex", "gpt"}


def test_no_module_names_a_provider() -> None:
    found = []
    for path in ENGINE:
        text = path.read_text()
        low = text.lower()  # few hold such a word at all, and an expression of all is slow
        there = [name for name in provider_names() if name.lower() in low]
        # What is a word of English is a name where it stands in quotes.
        known = [rf"[`\"']{name}[`\"']" if name in ENGLISH else name for name in there]
        names = re.compile("|".join(sorted(known)) or "(?!)", re.IGNORECASE)
        lines = enumerate(text.splitlines(), 1)
        found += [f"{path.name}:{n}: {line}" for n, line in lines if names.search(line)]
    assert found == []


def test_no_module_holds_a_key_or_word_of_a_wire() -> None:
    own = {
        "from",
        "language",
        "is",
        "client",
        "memory",
        "bash",  # tools of a provider are called so, too
    }  # words of rule files, rooms of the engine, and of English
    words, found = wire_words() - ir_words() - own, []
    for path in ENGINE:
        said = words - STOPS.get(path.name, set())
        there = ((n, text) for n, text, prose in literals(path) if not prose and text in said)
        found += [f"{path.name}:{n}: {text}" for n, text in there]
    assert found == []


def test_the_words_that_are_looked_for_are_those_of_the_rules() -> None:
    words = wire_words() - ir_words()
    assert {"functionCall", "function_call", "tool_use", "finish_reason", "thinking"} <= words
    assert {"max_completion_tokens", "STOP", "tool_use_id", "MINIMAL", "response.created"} <= words
    assert not words & {"text", "name", "id", "tool_call", "arguments", "parts"}


def test_the_hooks_are_few_lines_and_each_names_its_state() -> None:
    path = ROOT / "engine" / "wireglot" / HOOKS
    text = path.read_text()
    assert len(text.splitlines()) <= HOOK_LINES
    hooks = [word for rules in rule_files() for word in rules.get("hooks", ())]
    assert hooks
    for name in hooks:
        assert re.search(
            rf"`{name}`.*?State it needs: \S+", ast.get_docstring(ast.parse(text)) or "", re.S
        )
