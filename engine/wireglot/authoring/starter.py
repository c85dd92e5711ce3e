"""`wireglot new`: the first text of a rule file, from a parent or from samples of an API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import RuleError, WireglotError
from ..language.findings import Finding
from ..language.model import Dialect
from ..language.picture import Hole, Picture, keyed
from ..language.source import parse
from ..language.version import VERSION
from ..loading import checking, listing
from ..loading.start import load_rules
from ..rulesets import RuleSet
from ..trail import everywhere, keys_of, value_at
from . import examples, layout, vocabulary, wirefacts
from .draft import Draft, Example
from .samples import Samples
from .sketch import ASK, Say, Tree, block, listed
from .vocabulary import Vocabulary, words_of

NEAR = 0.6  # the part of the samples from which on a dialect is a parent
HALF = 0.5  # the part of each kind of payload that a parent takes at least
Sample = tuple[str, Any]


class Wanted(NamedTuple):
    """What is to be started: a name, and what the head of its file says."""

    name: str
    see: str | None
    today: str
    parent: str | None = None
    overlay: str | None = None


class Started(NamedTuple):
    """A rule file: its text, how it came about, what a person must say, what `check` finds."""

    text: str
    origin: list[str]
    questions: list[str]
    findings: list[Finding]


def units(
    rules: RuleSet, bodies: Sequence[Any], unit: str | None, dialect: str | None
) -> list[Sample]:
    """Return samples with their units, which their keys tell where `unit` does not."""
    if dialect is not None:
        rules[dialect]
    words = words_of(rules)
    return [(unit or words.unit_of(body), body) for body in bodies]


def start(
    rules: RuleSet, sources: Sequence[str], wanted: Wanted, samples: Sequence[Sample]
) -> Started:
    """Write the first text of a rule file. Raises UsageError."""
    origin: list[str] = []
    words = words_of(rules)
    base = wanted.overlay or wanted.parent
    if base is None and samples:
        # Many have errors of their own, and all else of another.
        weighed = [one for one in samples if one[0] != "error"] or list(samples)
        nearest, share = vocabulary.nearest(rules, weighed)
        origin.append(
            f"nearest is {nearest}, whose pictures take {share:.0%} of the samples"
            if share
            else "no dialect takes anything of the samples: the file is drawn from them alone"
        )
        shares = {}
        for kind in {unit: None for unit, _ in weighed}:
            some = [one for one in samples if one[0] == kind]
            shares[kind] = vocabulary.nearness(rules, nearest, some)
        least = min(shares, key=lambda kind: shares[kind])
        if share >= NEAR and shares[least] < HALF:
            origin.append(
                f"it takes {shares[least]:.0%} of a {least}: the file is drawn from the samples"
            )
        elif share >= NEAR:
            base = nearest
            wanted = wanted._replace(parent=nearest)
            dialects = listing.listed(rules, sources)
            below = next(one.parent for one in dialects if one.name == nearest)
            if below:
                origin.append(
                    f"what else {nearest} says (its path, limits and models) holds for "
                    f"{wanted.name}, too: `--extends {below}` takes what lies below it"
                )
    shown: list[Example] = []
    if base is not None:
        tree, questions = _layer(rules[base].model, rules, samples, words)
    else:
        made = Draft(Samples(words, samples))
        tree, questions = made.tree(), made.questions
        shown = made.shown()
    made_text = text(wanted, tree, questions, base)
    return _with_examples(wanted, made_text, origin, questions, samples, sources, shown)


# -- a layer over a parent ------------------------------------------------------------------------


def _layer(
    model: Dialect, rules: RuleSet, samples: Sequence[Sample], words: Vocabulary
) -> tuple[Tree, list[str]]:
    """Return a tree of what samples have and a dialect lacks, and the questions that are left."""
    tree: Tree = {}
    questions: list[str] = []
    for unit, body in samples:
        if unit not in model.units:
            questions.append(f"{model.name} has no picture of a {unit}")
            continue
        try:
            ir = rules[model.name].read(body, unit).ir
        except WireglotError as error:
            questions.append(f"{unit}: {error}")
            continue
        top = model.units[unit].cases[0].wire
        unknown_keys = ir.get("kept", {}).get(model.name, {}) if isinstance(ir, dict) else {}
        for at, value in unknown_keys.items():
            keys = keys_of(at)
            found, taken, why = place_key(top, keys, unit, value, words, body)
            subtree(tree, (unit, "wire", *keys[:-1])).update({**taken, keys[-1]: found})
            questions += [f"{unit}: `{'.'.join(keys)}` {why}"] if why else []
        inner = dict.fromkeys(at for at in vocabulary.unknown(ir) if at not in unknown_keys)
        questions += [f"{unit}: {at or 'an element'} is not pictured, within a message or tool"
                  for at in inner]  # fmt: skip
    return tree, questions


def place_key(
    top: Picture, keys: list[str], unit: str, value: Any, words: Vocabulary, body: Any
) -> tuple[Say, Tree, str]:
    """Return the hole of an unknown key, what it takes the place of, and a question, if any."""
    for step in keys[:-1]:
        top = next((child for names, child in keyed(top) if names[0] == step), top)
    body, beside = value_at(body, keys[:-1]), {names[0]: child for names, child in keyed(top)}
    known = words.field(unit, keys[-1], value)
    holes = {c.path: (n, c) for n, c in beside.items() if isinstance(c, Hole)}
    if known is not None and known[0] in holes and holes[known[0]][0] not in (body or {}):
        name, hole = holes[known[0]]
        why = f"is thought to be what `{name}` is"
        return Say(wirefacts.spelt(hole), f"in place of {name}"), {name: Say("$removed")}, why
    own_field = Say(f"$own.{keys[-1]} (optional)", "what is it in the IR")
    if known is not None and known[0] in vocabulary.SHAPED:
        return own_field, {}, f"may be `${known[0]}`, which needs a shape"
    if known is not None and known[0] not in holes:
        guess = Say(f"${known[0]} (optional)", "" if known[1] else "a guess")
        return guess, {}, "" if known[1] else "is a guess"
    return own_field, {}, "has no field of the IR"


def subtree(tree: Tree, path: tuple[str, ...]) -> Tree:
    """Return what stands at a path of a tree; trees are made where nothing stands."""
    for key in path:
        tree = tree.setdefault(key, {})
    return tree


# -- the file -------------------------------------------------------------------------------------


def text(wanted: Wanted, tree: Tree, questions: list[str], base: str | None) -> str:
    """Return the text of the file without examples."""
    lines = ["# yaml-language-server: $schema=rule-file.schema.json"]
    if questions:
        lines.append(
            f"# What stands behind `{ASK[2:]}` is a guess or a question; take the sign away then."
        )
    head: Tree = {"wireglot": VERSION}
    if wanted.overlay is not None:
        head["overlay"] = wanted.overlay
    else:
        head |= {"dialect": wanted.name} | ({"extends": wanted.parent} if wanted.parent else {})
        page = Say(f"https://{wanted.name}.example/api", "the page of the API")
        head |= {"see": wanted.see or page, "verified": wanted.today}
    lines += block(head)
    for word, value in tree.items():
        lines += ["", f"{word}:", *(f"  {line}" for line in block(value))]
    if base is not None and not tree:
        lines += [
            "",
            f"# All is as in {base}: see `wireglot show {base}`. What differs stands here, as:",
            "# request: {wire: {KEY: $removed, OTHER: $seed (optional)}}",
        ]
    return "\n".join(lines) + "\n"


def remake_examples(
    rules: RuleSet, sources: Sequence[str], text: str, name: str, samples: Sequence[Sample]
) -> Started:
    """Make the examples of a rule file anew from samples; the rest of its text stays."""
    node = parse(text, f"{name}.yaml")
    overlay = node.get("overlay")
    wanted = Wanted(name, None, "", overlay=str(overlay.value) if overlay is not None else None)
    made = Draft(Samples(words_of(rules), samples))
    made.tree()
    lines = layout.formatted(text, f"{name}.yaml").split("\n")
    if "examples" in node.keys:
        lines = lines[: lines.index("examples:")]
    there = {f"shapes/{name}" for name in node.under("shapes")} if overlay is None else ()
    shown = [one for one in made.shown() if one[0] in there]
    return _with_examples(wanted, "\n".join(lines) + "\n", [], [], samples, sources, shown)


def _with_examples(
    wanted: Wanted,
    text: str,
    origin: list[str],
    questions: list[str],
    samples: Sequence[Sample],
    sources: Sequence[str],
    shown: Sequence[Example],
) -> Started:
    """Check a file, and add the samples as examples where these hold."""
    text = layout.formatted(text, f"{wanted.name}.yaml")
    overlays = [wanted.name] if wanted.overlay else []
    try:
        rules = load_rules({wanted.name: text}, *sources, overlays=overlays)
    except RuleError:
        findings = list(checking.check({wanted.name: text}))
        if any(finding.severity == "error" for finding in findings):
            return Started(text, origin, questions, findings)
        raise  # it does not go together with the other files
    findings = [one for one in rules.findings if one.file == f"{wanted.name}.yaml"]
    name = wanted.overlay or wanted.name
    by_owner: dict[str, list[str]] = {}
    for owner, wire, ir in (*shown, *((unit, body, None) for unit, body in samples)):
        example = examples.make_example(rules, name, owner, wire, ir)
        if isinstance(example, str):
            questions.append(f"{owner}: a sample does not run as an example: {example}")
        else:
            values = (one for _, one in everywhere(example) if isinstance(one, dict))
            if any(one.get("type") == "unknown" and "dialect" in one for one in values):
                told = "an element of a sample is of no kind, so it is `unknown`"
                questions.append(f"{owner}: {told}")
            by_owner.setdefault(owner.removeprefix("shapes/"), []).extend(listed(example))
    if by_owner:
        lines = ["", "examples:"]
        for owner, lines_of in by_owner.items():
            lines += [f"  {owner}:", *(f"    {line}" for line in lines_of)]
        text = layout.formatted(text + "\n".join(lines) + "\n", f"{wanted.name}.yaml")
        findings = list(checking.check({wanted.name: text}))
    return Started(text, origin, questions, findings)
