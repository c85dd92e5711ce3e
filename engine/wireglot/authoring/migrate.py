"""Rule files of version 1 of the language in the words of version 2.

Each change is made where it stands in the text, so comments, line breaks and quotes stay as they
are. A YAML library that writes a file anew joins what goes on in the next line (docs/authoring.md).

`rules/migrate/words.yaml` has the words, and `names.yaml` says what shapes, unions, tables and
cases of packaged dialects were called in version 1. A file that lies over such a dialect uses these
names, and one that stands in its place has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import yaml

from ..errors import RuleError
from ..language.layers import flatten
from ..language.source import Node, parse
from ..language.version import VERSION
from ..loading import load
from ..loading.rulesources import beside
from .sketch import Say, flow

BEHIND = r"\b(?:as|each|entries)\s+"  # what stands before a shape in a hole
Path = tuple[str, ...]  # the keys above something, without `!`; a row of variants is a file
Names = dict[str, str]


class Edit(NamedTuple):
    """A piece of the text, and what stands there instead."""

    start: int
    end: int
    text: str


@cache
def _tables(file: str) -> dict[str, Any]:
    """Return what `rules/migrate` says: of words, or of names."""
    told: dict[str, Any] = beside(f"migrate/{file}.yaml")
    return told


def migrated(text: str, file: str) -> str:
    """Return a rule file in the words of the present version; as it is, if it has them.

    Raises RuleError for what is no rule file of version 1 or 2.
    """
    node = parse(text, file)
    said = node.get("wireglot")
    version = None if said is None or isinstance(said.value, bool) else said.value
    if version == VERSION:
        return text
    if version != 1:
        help = "only files of version 1 are rewritten"
        pos = (said or node).pos
        raise RuleError("this is no rule file of version 1", file, pos.line, pos.column, help=help)
    root = _composed(text)  # first the names: words are known by present ones
    text = _apply(text, _name_edits(root, text))
    root = _composed(text)
    enforced = _enforce_edits(root, text, file)
    return _apply(text, [*_word_edits(root, text), *enforced, *_read_only_edits(root)])


def _composed(text: str) -> Any:
    """Return the nodes of a file as YAML has them, with their places in the text."""
    # The one that rule files are read with: the other takes `{ask: Who?}` otherwise.
    return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _key_name(key: Any) -> str:
    return str(key.value).rstrip("!")


def _walked(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any, Any]]:
    """Yield what stands in a node: its path, what holds it, its key (none in a list), itself."""
    if isinstance(node, yaml.MappingNode):
        for key, child in node.value:
            yield path, node, key, child
            yield from _walked(child, (*path, _key_name(key)))
    elif isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield path, node, None, child
            yield from _walked(child, () if path == ("variants",) else path)


def _apply(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with pieces of it replaced."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _entries(node: Any) -> dict[str, Any]:
    return {str(key.value): value for key, value in node.value}


def _packaged_base(file: dict[str, Any]) -> Node | None:
    """Return the packaged dialect that a file lies over, with all that is below it."""
    named = file.get("extends") or file.get("overlay")
    return flatten(load.from_yaml()).get(str(named.value)) if named is not None else None


def _enforce_edits(root: Any, text: str, shown: str) -> Iterator[Edit]:
    """Yield how `enforce` is said now, of a file and of its variants."""
    file = _entries(root)
    lower = _packaged_base(file)
    below = lower.get("conversation") if lower is not None else None
    there = below.json_of("enforce", ()) if below is not None else ()
    inherited = set(_tables("words")["also"].values()) & set(there)
    own = _enforce_also_words(file["conversation"]) if "conversation" in file else None
    rows = file["variants"].value if isinstance(file.get("variants"), yaml.SequenceNode) else []
    for said, whole in [
        (root, "extends" in file or "overlay" in file),
        *((row, True) for row in rows),
    ]:
        for key, talk in said.value if isinstance(said, yaml.MappingNode) else ():
            if _key_name(key) == "conversation" and isinstance(talk, yaml.MappingNode):
                over = whole and not str(key.value).endswith("!")
                taken = inherited if said is root or own is None else own
                try:
                    yield from _enforce_mapping(talk, text, over, taken)
                except (AttributeError, LookupError, TypeError, ValueError):
                    at = talk.start_mark
                    message = "`enforce` says here what version 1 does not know"
                    raise RuleError(message, shown, at.line + 1, at.column + 1) from None


def _enforce_also_words(talk: Any) -> set[str] | None:
    """Return which words the `enforce-also` of a conversation says, if it has one."""
    said = _entries(talk).get("enforce-also")
    named = {str(key.value) for item in said.value for key, _ in item.value} if said else set()
    words = _tables("words")["also"].items()
    return {now for word, now in words if word in named} if said else None


def _read_only_edits(root: Any) -> Iterator[Edit]:
    """Yield where a layer writes a packaged case that is only read: its holes replace others."""
    file = _entries(root)
    lower = _packaged_base(file)
    below = lower.get("shapes") if lower is not None else None
    stack = [(below, file.get("shapes"))]
    while stack:
        below, group = stack.pop()
        for key, shape in group.value if isinstance(group, yaml.MappingNode) else ():
            one = below.get(str(key.value)) if below is not None else None
            if one is None or not isinstance(shape, yaml.MappingNode):
                continue
            said = {str(word.value): (word, value) for word, value in shape.value}
            if "cases" in said:
                stack.append((one.get("cases"), said["cases"][1]))
            if one.get("read-only") is None or "wire" not in said or _is_home_only(said["wire"][1]):
                continue
            word, wire = said["wire"]
            if _replaces(wire, one.get("wire")):
                yield _insertion(shape, word, "read-only: $removed")


def _replaces(wire: Any, below: Any) -> bool:
    """Tell whether a picture that is laid over another has something else for one of its holes."""
    if not isinstance(wire, yaml.MappingNode) or below is None or not isinstance(below.value, dict):
        return True
    holes = {key for key, value in below.value.items() if str(value.value).startswith("$")}
    return any(str(key.value) in holes for key, _ in wire.value)


def _word_edits(root: Any, text: str) -> Iterator[Edit]:
    """Yield what is written otherwise in a file."""
    for path, node, key, child in _walked(root):
        place, inner = _place(path), _place(path if key is None else (*path, _key_name(key)))
        if key is not None:
            start, end, bare = key.start_mark.index, key.end_mark.index, _key_name(key)
            new = _tables("words")["keys"].get(place, {}).get(bare)
            if new is not None and text[start:end] == key.value:
                yield Edit(start, end, new + key.value[len(bare) :])
            if place == "shape" and bare == "wire" and _is_home_only(child):
                yield _insertion(node, key, "read-only: true")
            if _tables("words")["gone"].get(place) == bare:
                yield _removal(node, key, child, text)
            if place == "file" and bare == "wireglot":
                yield Edit(child.start_mark.index, child.end_mark.index, str(VERSION))
        if inner == "picture" and isinstance(child.value, str) and child.value.startswith("$"):
            start, end = child.start_mark.index, child.end_mark.index
            hole = text[start:end]
            for old, now in _tables("words")["holes"]:
                hole = re.sub(old, now, hole)
            if hole != text[start:end]:
                yield Edit(start, end, hole)


def _place(path: Path) -> str:
    """Return what a path leads to, as `inner` calls it."""
    place = "file"
    for word in path:
        inner = _tables("words")["inner"].get(place, {})
        place = inner.get(word, inner.get("*", ""))
    return place


def _insertion(node: Any, key: Any, said: str) -> Edit:
    """Return how something is put before a key of a mapping."""
    gap = ", " if node.flow_style else "\n" + " " * key.start_mark.column
    return Edit(key.start_mark.index, key.start_mark.index, said + gap)


def _removal(node: Any, key: Any, child: Any, text: str) -> Edit:
    """Return how a key and what stands there are taken out of a mapping."""
    start, end = key.start_mark.index, child.end_mark.index
    if not node.flow_style:
        line = text.rfind("\n", 0, start) + 1
        return Edit(line, (text.find("\n", end) + 1) or len(text), "")
    keys = [one for one, _ in node.value]
    i = keys.index(key)
    if i + 1 < len(keys):
        return Edit(start, keys[i + 1].start_mark.index, "")
    return Edit(node.value[i - 1][1].end_mark.index if i else start, end, "")


def _is_home_only(node: Any) -> bool:
    """Tell whether a hole of a picture says that it is written only where it was read."""
    held = (node, *(child for *_, child in _walked(node)))
    return any(re.fullmatch(r"\$.*\|\s*home\b.*", str(one.value)) for one in held)


# -- `enforce` ------------------------------------------------------------------------------------


def _enforce_mapping(talk: Any, text: str, whole: bool, inherited: set[str]) -> Iterator[Edit]:
    """Yield how the lists of a conversation, `enforce` of version 1, are a mapping now.

    `whole`: the list replaces one that it lies over. `inherited` are the words of an
    `enforce-also` of version 1 in what this lies over: another such list took them away.
    """
    found = {str(key.value): (key, value) for key, value in talk.value}
    lists = [found[word] for word in ("enforce", "enforce-also") if word in found]
    lists = [one for one in lists if isinstance(one[1], yaml.SequenceNode)]
    if not lists:
        return
    words: dict[str, Any] = {}
    comments: dict[str, str] = {}
    items = [item for _, node in lists for item in _steps(node, text)]
    for said, comment in items:
        for word, value in _words(said, text):
            words[word] = _merged(words.get(word), value)
            comments[word] = comments.get(word, "") + comment
    if "enforce" in found and not any("lift" in said for said, _ in items):
        words.pop("system", None)  # there was nothing to `leave`
    if "enforce-also" in found and "enforce" not in found:
        words |= dict.fromkeys(sorted(inherited - words.keys()), "$removed")
    key, node = lists[0]
    name = "enforce!" if whole and str(key.value) == "enforce" else "enforce"
    if not words or (node.flow_style and not any(comments.values())):
        made = f" {flow(words)}"
    else:
        gap = "\n" + " " * (key.start_mark.column + 2)
        told = {word: f"    {comment}" for word, comment in comments.items() if comment}
        made = "".join(f"{gap}{w}: {flow(v)}{told.get(w, '')}" for w, v in words.items())
    yield Edit(key.start_mark.index, _end(node), f"{name}:{made}")
    for key, node in lists[1:]:
        start = text.rfind("\n", 0, key.start_mark.index)
        yield Edit(max(start, 0), _end(node), "")


def _merged(one: Any, two: Any) -> Any:
    """Return what two steps say by one word: lists and mappings grow, else the last counts."""
    if isinstance(one, dict) and isinstance(two, dict):
        if one.keys() & two.keys():
            raise ValueError("what is said twice")
        return one | two
    return [*one, *two] if isinstance(one, list) else two


def _end(node: Any) -> int:
    """Return where a node ends: a block as YAML has it reaches to what follows it."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def _steps(node: Any, text: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each step as it stands: its words with their nodes, and the comment beside it."""
    for item in node.value:
        if isinstance(item, yaml.MappingNode):
            said = {str(key.value): value for key, value in item.value}
        else:
            said = {str(item.value): None}
        rest = text[_end(item) : text.find("\n", _end(item)) + 1 or None]
        comment = "" if node.flow_style else re.sub(r"^[^#]*", "", rest).rstrip()
        yield said, comment


def _words(said: dict[str, Any], text: str) -> Iterator[tuple[str, Any]]:
    """Yield the words of version 2 for one item, each with its value."""
    if "insert" in said:
        ((role, spoken),) = [(k.value, _source(v, text)) for k, v in said["insert"].value]
        if "between" in said:
            after, before = (one.value for one in said["between"].value)
            yield "turns", {"between": {role: spoken, "after": after, "before": before}}
        else:
            more = {"before": said["before"].value} if "before" in said else {}
            place = _tables("words")["places"].get(said["at"].value, "last")
            yield "turns", {place: {role: spoken, **more}}
        return
    for word, taken in said.items():
        if word in _tables("words")["texts"]:
            yield _tables("words")["texts"][word], _source(taken, text)
        elif word == "user-only":
            only = taken.value
            yield ("reasoning", "never") if only == "reasoning" else ("user-only", [only])
        else:
            yield from _tables("words")["steps"][word].items()


def _source(node: Any, text: str) -> Say:
    """Return a value as it stands in the text."""
    return Say(text[node.start_mark.index : node.end_mark.index].strip())


# -- names ----------------------------------------------------------------------------------------


def _ancestry(name: str | None) -> Iterator[str]:
    there = load.from_yaml()
    while name is not None:
        yield name
        over = there[name].get("extends") if name in there else None
        name = str(over.value) if over is not None else None


def _name_edits(root: Any, text: str) -> Iterator[Edit]:
    """Yield the places of old names in a file, each with the present name."""
    file = _entries(root)
    # A file that has the name of a packaged dialect stands in its place, below the others.
    named, over = file.get("dialect") or file.get("overlay"), file.get("extends")
    chain = [str(named.value)] if named is not None else []
    chain += _ancestry(str(over.value) if over is not None else chain[0] if chain else None)
    shapes: Names = {}
    tables: Names = {}
    cases: dict[str, Names] = {}
    for told in (_tables("names").get(dialect, {}) for dialect in reversed(chain)):
        shapes |= told.get("shapes", {})
        tables |= told.get("tables", {})
        cases |= told.get("cases", {})
    keyed: dict[Path, Names] = dict.fromkeys((("shapes",), ("unions",), ("examples",)), shapes)
    keyed[("tables",)] = tables
    for path, _, key, child in _walked(root):
        names = keyed.get(path, {})
        if path[:1] == ("shapes",) and path[2:] == ("cases",):  # known by the shape's present name
            names = cases.get(shapes.get(path[1], path[1]), {})
        if key is not None:
            yield from _name_edit(key, _key_name(key), names, text)
            act, _, shape = _key_name(key).partition(".")
            if path[:1] == ("stream",) and len(path) == 2 and act == "item_start":
                yield from _name_edit(key, shape, shapes, text, len(act) + 1)
        lent = key is not None and _key_name(key) == "also"
        lent = lent and len(path) == 1 + (path[:1] == ("shapes",))  # of a unit or a shape
        if lent or (key is None and path[:1] == ("unions",)):
            yield from _name_edit(child, _key_name(child), shapes, text)
        if str(child.value).startswith("$") and "examples" not in path:
            start, end = child.start_mark.index, child.end_mark.index
            for names, before in ((shapes, BEHIND), (tables, r"\|\s*")):
                for found in re.finditer(rf"(?:{before})([\w.-]+)", text[start:end]):
                    if found[1] in names:
                        yield Edit(start + found.start(1), start + found.end(1), names[found[1]])


def _name_edit(node: Any, name: str, names: Names, text: str, skip: int = 0) -> Iterator[Edit]:
    """Yield a name that is another now, behind some signs of a text; of `NAME!` the sign stays."""
    start = node.start_mark.index + skip
    if name in names and text.startswith(name, start):
        yield Edit(start, start + len(name), names[name])
