"""What differs between two rule sets, in words: the wire fields, and the rules around them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..ir import WHOLES
from ..language import variants
from ..language.lenses import stringify
from ..language.model import Dialect
from ..language.source import LADDER, Node, without_examples
from ..language.variants import Row
from ..rulesets import RuleSet
from . import wirefacts
from .wirefacts import Fact, Facts

SILENT = ("see", "verified", "wireglot")  # they say nothing of the wire
PICTURED = ("shapes", "unions", "request", "response", "error", "envelope", "session", "variants")
LOOSE = ("tables", "limits", "unsupported", "carry", "media-types")  # mappings in no order
WIDTH = 80


class Change(NamedTuple):
    """One difference: what is said of `paths` of the wire, or of a word of the rules."""

    dialect: str
    units: tuple[str, ...]  # none where it is about the rules as such
    paths: tuple[str, ...]
    said: str
    rule: str | None = None

    @property
    def of(self) -> str:
        """The dialect, whichever of its variants it is."""
        return self.dialect.partition(" ")[0]

    def __str__(self) -> str:
        where = f" {', '.join(self.units)}" if self.units else ""
        rule = f" ({self.rule})" if self.rule else ""
        return f"{self.dialect}{where}: {sentence(self.paths, self.said)}{rule}"


def sentence(paths: Sequence[str], said: str) -> str:
    """Say something of a few paths, and how many more there are."""
    shown, more = paths[:3], len(paths) - 3
    texts = (path if "`" in path else f"`{path or '(all)'}`" for path in shown)
    named = ", ".join(texts) + (f" and {more} more" if more > 0 else "")
    verb, _, rest = said.partition(" ")
    verb = {"is": "are", "has": "have", "goes": "go"}.get(verb, verb) if more > -2 else verb
    return f"{named} {verb} {rest}" if named else said


def changed(old: RuleSet, new: RuleSet) -> list[str]:
    """Return the dialects of both sets whose rules differ, without examples and comments."""
    one, two = old._files, new._files
    there = [name for name in old.dialects if name in new]
    pairs = ((name, wire_content(one[name]), wire_content(two[name])) for name in there)
    return [name for name, before, after in pairs if any(_words(name, before, after, ""))]


def wire_content(node: Node) -> dict[str, Any]:
    """Return what a flat rule file says of the wire, as plain JSON."""
    found: dict[str, Any] = without_examples(node).plain()
    return {key: value for key, value in found.items() if key not in SILENT}


def all_of(old: RuleSet, new: RuleSet) -> list[Change]:
    """List all that differs between two sets, by dialect."""
    found = [Change(n, (), (), "is gone") for n in old.dialects if n not in new]
    for name in new.dialects:
        if name not in old:
            model = new[name].model
            counts = [f"{len(wirefacts.facts(model, u))} in the {u}" for u in model.units]
            text = f"is new, with fields on the wire: {', '.join(counts)}"
            found.append(Change(name, (), (), text, str(model.node.pos)))
    for name in changed(old, new):
        found += of_dialect(name, old, new)
    one, two = (without_examples(rules._files[LADDER]).plain() for rules in (old, new))
    found += _words(LADDER, one.get("ladder"), two.get("ladder"), "ladder")
    found += _words(LADDER, one.get("scales"), two.get("scales"), "scales")
    return found


def of_dialect(name: str, old: RuleSet, new: RuleSet) -> list[Change]:
    """List what differs in one dialect, its variants included."""
    one, two = old[name].model, new[name].model
    found = _model_changes(name, one, two)
    olds = {_label(row): row for row in old.rows(name)}
    news = {_label(row): row for row in new.rows(name)}
    for label in dict.fromkeys((*olds, *news)):
        if label not in news or label not in olds:
            word = "is new" if label in news else "is gone"
            found.append(Change(name, (), (f"variants for {label}",), word))
    told = {(c.units, c.paths, c.said) for c in found}
    for label in [label for label in olds if label in news]:
        title = f"{name} ({label})"
        models = (_with(old, name, olds[label]), _with(new, name, news[label]))
        laid = _model_changes(title, *models)
        found += [c for c in laid if (c.units, c.paths, c.said) not in told]
    if not found:  # nothing silent: the order of cases, say, or the name of a shape
        before, after = (wire_content(rules._files[name]) for rules in (old, new))
        found += _words(name, before, after, "", "; no field says otherwise")
    return found


def _label(row: Row) -> str:
    words = [f"model {glob}" for glob in row.models]
    words += [f"version {row.version}"] if row.version is not None else []
    return ", ".join([*words, *(f"{k} {stringify(v)}" for k, v in row.options.items())])


def _with(rules: RuleSet, name: str, row: Row) -> Dialect:
    """Return a dialect with the variants that apply where a row does."""
    model = next(iter(variants.sample_models([row])), None)
    which = (
        i
        for i, one in enumerate(rules.rows(name))
        if one is row or one.applies(model, row.version, row.options)
    )
    return rules.with_rows(name, tuple(which)).model


def _model_changes(name: str, one: Dialect, two: Dialect) -> list[Change]:
    """List what differs between two versions of a dialect."""
    found: dict[tuple[str, str], Change] = {}
    for unit in dict.fromkeys((*one.units, *two.units)):
        old = wirefacts.facts(one, unit) if unit in one.units else {}
        new = wirefacts.facts(two, unit) if unit in two.units else {}
        for path, text, rule in _fields(old, new):
            key = (path.rpartition(".")[2], text)
            there = found.get(key, Change(name, (), (), text, rule))
            units = tuple(dict.fromkeys((*there.units, unit)))
            paths = tuple(dict.fromkeys((*there.paths, path)))
            found[key] = there._replace(units=units, paths=paths)
    return [*found.values(), *_other_words(name, one.node, two.node)]


# -- fields of the wire ---------------------------------------------------------------------------


def _fields(old: Facts, new: Facts) -> Iterator[PathChange]:
    """Yield each path of which something else is said, what is different, and the rule's place."""
    forms: dict[tuple[str, bool], list[tuple[str, Fact]]] = {}
    fresh, lost = _owners(new) - _owners(old), _owners(old) - _owners(new)
    for path in dict.fromkeys((*old, *new)):
        before, after = old.get(path, []), new.get(path, [])
        pairs = _paired(before, after)
        for pair in [p for p in pairs if None in p]:
            one, two = pair
            if (fact := two if one is None else one) and fact.owner in (lost if one else fresh):
                forms.setdefault((fact.owner, two is not None), []).append((path, fact))
                pairs.remove(pair)
        for one, two in pairs:
            fact = two or one
            assert fact is not None
            words = ", ".join(word for word in fact.said if word)
            if one and two:
                text = _differs(one, two)
            elif before and after:
                text = f"is {'also' if two else 'no longer'} {words}{_owner_words(fact)}"
            else:
                text = f"is new: {words}" if two else f"is gone; it was {words}"
            yield path, text, fact.rule
    for (owner, come), found in forms.items():
        yield _form_change(owner, come, found)


PathChange = tuple[str, str, str | None]  # a path, what is said of it, the place of the rule


def _owners(facts: Facts) -> set[str]:
    return {fact.owner for of_path in facts.values() for fact in of_path}


def _form_change(owner: str, come: bool, found: list[tuple[str, Fact]]) -> PathChange:
    """Say that a shape or case is new, or gone, with the keys that it has."""
    paths = [path.split(".") for path, _ in found]
    ends = (min(paths), max(paths))
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(*ends, strict=False))
    above = [key for key, _ in same]
    keys = dict.fromkeys(".".join(path[len(above) :]) for path in paths)
    listed = ", ".join(f"`{key}`" for key in keys if key)
    text = f"has the form `{owner}` now" if come else f"no longer has the form `{owner}`"
    return ".".join(above), text + (f": {listed}" if listed else ""), found[0][1].rule


def _paired(before: list[Fact], after: list[Fact]) -> list[tuple[Fact | None, Fact | None]]:
    """Pair what only one of the two says, whoever says it; facts of one owner belong together."""
    said = {fact.said for fact in before} & {fact.said for fact in after}
    news = [fact for fact in after if fact.said not in said]
    pairs: list[tuple[Fact | None, Fact | None]] = []
    for one in (fact for fact in before if fact.said not in said):
        alike = (f for f in news if (f.owner, bool(f.presence)) == (one.owner, bool(one.presence)))
        partner = next(alike, None)
        if partner is not None:
            news.remove(partner)
        pairs.append((one, partner))
    return [*pairs, *((None, fact) for fact in news)]


def _differs(old: Fact, new: Fact) -> str:
    texts = []
    if old.presence != new.presence:
        texts.append(f"is {new.presence} now, was {old.presence}")
    if old.holds != new.holds:
        texts.append(f"is {new.holds} now, was {old.holds}")
    return "; ".join(texts) + _owner_words(new)


def _owner_words(fact: Fact) -> str:
    return "" if fact.owner in WHOLES or fact.owner == "envelope" else f", in `{fact.owner}`"


# -- the other words ------------------------------------------------------------------------------


def _other_words(name: str, old: Node, new: Node) -> Iterator[Change]:
    """Yield what differs in the words of two rule files that no picture of a field shows."""
    one, two = wire_content(old), wire_content(new)
    for word in dict.fromkeys((*one, *two)):
        before, after = one.get(word), two.get(word)
        if word in PICTURED:
            continue
        if word == "conversation":
            before, after = (_without_pictures(value) for value in (before, after))
        yield from _words(name, before, after, word)


def _without_pictures(talk: Any) -> Any:
    pictured = ("wire", "cases")
    return {k: v for k, v in talk.items() if k not in pictured} if isinstance(talk, dict) else talk


def _words(name: str, old: Any, new: Any, at: str, more: str = "") -> Iterator[Change]:
    """Yield where two plain values differ, each place by its own name."""
    if stringify(old) == stringify(new):
        return
    text = ""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            inner = f"{at}.{key}" if at else str(key)
            yield from _words(name, old.get(key), new.get(key), inner, more)
        order = [k for k in old if k in new] == [k for k in new if k in old]
        if not order and at and "." in at and at.partition(".")[0] not in LOOSE:
            text = "stands in another order"
    elif isinstance(old, list) and isinstance(new, list):
        texts = [f"no longer has {_short(item)}" for item in old if item not in new]
        texts += [f"has {_short(item)} now" for item in new if item not in old]
        text = "; ".join(texts) or "stands in another order"
    elif old is None or new is None:
        text = f"is new: {_short(new)}" if old is None else f"is gone; it was {_short(old)}"
    else:
        text = f"is {_short(new)} now, was {_short(old)}"
    if text:
        yield Change(name, (), (at,), text + more)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else stringify(value)
    return f"`{text}`" if len(text) <= WIDTH else f"`{text[: WIDTH - 4]} ...`"
