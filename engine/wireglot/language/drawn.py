"""Pictures as rule files draw them.

    picture = {KEY: picture, ...: hole} | [picture*, ...: hole] | literal | text | hole | test
    hole    = "$"(PATH | ".") ("+" "$"PATH)* [as S | each S | entries S] ("|" LENS)* [(MARK)]

The wire side (`wire:`) and the IR side (`ir:`, ladder rows) of a rule are drawn alike.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from ..patterns import later
from .lenses import LENS_SPELLED, SPELLING_OF
from .picture import ABSENT, Fields, Hole, Items, Literal, Picture, Test, Text, holes
from .source import Node, Pos, wrong

HOLE = later(
    r"\$(?P<path>\.|[a-zA-Z_][\w.]*)(?P<sum>(?:\s*\+\s*\$[a-zA-Z_][\w.]*)*)"
    r"(?:\s+(?P<mode>as|each|entries)\s+(?P<shape>[\w.-]+))?"
    r"(?P<lenses>(?:\s*\|\s*(?:(?:text|list)\s+\(or\s+(?:list|text|one)\)|[\w+-]+))*)"
    r"(?:\s+\((?P<mark>[a-z-]+)(?:\s+(?P<value>[^()]*))?\))?\s*"
)
OR = later(r"(?P<first>.*?)\s+\(or\s+(?P<more>[^()]*)\)", re.S)
VAR = later(r"\$\{([\w.]+)\}")
HOLE_FORM = "a hole is $path [as|each|entries SHAPE] [| codec]... [(MARK)]"
LONGEST_CACHED = 200  # signs of a hole that is not remembered
MARKS = ("optional", "default", "fill", "made", "copy", "same", "refused", "read-only")
EMPTY = {"[]": "empty-list", "{}": "empty-object", "": "empty-text"}  # as marks say them


def parse(node: Node) -> Picture:
    """Parse a picture. Raises RuleError at the word that cannot be read."""
    value = node.value
    if isinstance(value, dict):
        return _parse_fields(node)
    if isinstance(value, list):
        rest = rest_hole(value[-1]) if len(value) > 1 else None
        head = value if rest is None else value[:-1]
        return Items([parse(item) for item in head], node.pos, rest)
    if not isinstance(value, str):
        return Literal((value,), node.pos)
    return _parse_text(value, node.pos)


def rest_hole(node: Node) -> Hole | None:
    """Return the hole that takes the elements behind others: `...: $x each S`, or `| list`."""
    text = node.value.get("...") if isinstance(node.value, dict) and len(node.value) == 1 else None
    if text is None or not isinstance(text.value, str) or not text.value.startswith("$"):
        return None
    hole = _parse_text(text.value, text.pos)
    if not isinstance(hole, Hole) or hole.path == "run":
        return None
    many = hole.mode == "each" and not hole.lenses
    return hole if many or (hole.mode is None and hole.lenses == ("list",)) else None


def _parse_fields(node: Node) -> Fields:
    entries: list[tuple[tuple[str, ...], Picture]] = []
    spread: list[Hole] = []
    closed = False
    for key, child in node.value.items():
        if key == "...":
            for item in child.value if isinstance(child.value, list) else [child]:
                hole = parse(item)
                if isinstance(hole, Literal) and hole.values == (ABSENT,):
                    closed = True
                elif isinstance(hole, Hole):
                    spread.append(hole)
                else:
                    raise wrong("`...` takes a hole, a list of holes or $absent", child.pos)
        else:
            entries.append((spellings(key), parse(child)))
    return Fields(entries, spread, closed, node.pos)


def spellings(key: str) -> tuple[str, ...]:
    """Return the names that a key of a picture stands for; the first one is written."""
    if key.startswith("`") and key.endswith("`") and len(key) > 2:
        return (key[1:-1],)
    if "(or" in key and (match := OR.fullmatch(key)):
        return (match["first"], *match["more"].split())
    return (key,)


def _parse_text(text: str, pos: Pos) -> Picture:
    if text.startswith("$$"):
        return Literal((text[1:],), pos)
    if "(or" in text and not _is_hole_with_lens(text) and (match := OR.fullmatch(text)):
        more = (_scalar(word) for word in match["more"].split())
        return Literal((_scalar(match["first"]), *more), pos)
    if text == "$absent":
        return Literal((ABSENT,), pos)
    if text == "$present":
        return Test("present", "", pos)
    if text.startswith("$has "):
        return Test("has", text[5:].strip(), pos)
    if text.startswith("$") and not text.startswith("${"):
        return parse_hole(text, pos)
    if "${" in text:
        pieces = VAR.split(text)
        fixed, names = tuple(pieces[::2]), tuple(pieces[1::2])
        if not names or "${" in "".join(fixed):
            raise wrong(f"`{text}` holds a `${{` that names nothing", pos, "write ${name}")
        if any(not f for f in fixed[1:-1]):
            help = "nothing says where the first one ends; put a fixed text there"
            raise wrong("two holes of a text picture have no text between them", pos, help)
        return Text(fixed, names, pos)
    return Literal((text,), pos)


def _is_hole_with_lens(text: str) -> bool:
    """Tell whether a text begins as a hole with a lens does, whose forms say `(or ...)`, too."""
    return text[:1] == "$" and text[1:2] not in "${" and " | " in text.partition("(or")[0]


def parse_hole(text: str, pos: Pos) -> Hole:
    """Parse one hole."""
    split = _split_hole if len(text) <= LONGEST_CACHED else _split_hole.__wrapped__
    pieces = split(text)
    if pieces is None:
        raise wrong(f"`{text}` is no hole", pos, HOLE_FORM)
    paths, mode, shape, lenses, mark, value = pieces
    if mark is not None and mark not in MARKS:
        raise wrong(f"`({mark})` is no mark", pos, f"the marks are {', '.join(MARKS)}")
    if mark != "made" and (mark in ("default", "fill")) != (value is not None):
        raise wrong(f"`({mark})` " + ("takes a value" if value is None else "takes no value"), pos)
    if value and (plain := re.fullmatch(r"""(["'])(.*)\1""", value)):
        wanted = f"write `({mark} {plain[2] or 'empty-text'})`"
        raise wrong(f"the quotes of `({mark} {value})` would be of the value", pos, wanted)
    mark_value = None if not value else value.strip() if mark == "made" else _scalar(value)
    return Hole(paths, mode, shape, lenses, mark, mark_value, pos)


@functools.lru_cache(4096)
def _split_hole(text: str) -> tuple[Any, ...] | None:
    """Cut the text of a hole; the same ones come again and again."""
    match = HOLE.fullmatch(text)
    if not match:
        return None
    paths = (match["path"], *re.findall(r"\$([\w.]+)", match["sum"]))
    spelled = (" ".join(lens.split()) for lens in match["lenses"].split("|")[1:])
    lenses = tuple(_lens_name(lens, match["mode"]) for lens in spelled)
    return paths, match["mode"], match["shape"], lenses, match["mark"], match["value"]


def _lens_name(lens: str, mode: str | None) -> str:
    """Return the name under which the executors know a lens; one of theirs alone is none."""
    if lens == "text (or list)" and mode is None:
        return "plain"  # of a text, no list of parts
    return LENS_SPELLED.get(lens, f"{lens}!" if lens in SPELLING_OF else lens)


def _scalar(word: str) -> Any:
    words: dict[str, Any] = {
        "$absent": ABSENT,
        "true": True,
        "false": False,
        "null": None,
        "empty-list": [],
        "empty-object": {},
        "empty-text": "",
    }
    if word in words:
        return words[word]
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    if re.fullmatch(r"-?\d+\.\d+", word):
        return float(word)
    return word


def write_at_home(p: Picture, own_wire: Node | None) -> None:
    """Let a picture be written only where it was read: one hole in it takes nothing else.

    That is the first that must be there and holds a value, of the case's `own` picture if it has
    any: what stands around it is said by other cases, too.
    """
    ranks = {None: 0, "default": 1, "fill": 1}
    own_places = {hole.pos for hole in holes(parse(own_wire))} if own_wire is not None else set()
    ranked = sorted(
        holes(p), key=lambda h: (h.pos not in own_places, ranks.get(h.mark, 2), h.shape is not None)
    )
    if ranked and "home" not in ranked[0].lenses:
        ranked[0].lenses = (*ranked[0].lenses, "home")
