"""The examples that stand in rule files: what they say, and whether it holds.

    {wire, ir}                  the wire reads as the IR, and the IR writes as the wire
    {reads, as}                 this on the wire reads as that in the IR
    {writes, as}                this in the IR writes, abroad, as that on the wire
    {from, to, beside?}         what a row of the ladder makes

Of a stream the wire is a list of frames, and the IR a response.

`notes` lists the codes that come of it (none unless said); `crossing` counts, for other dialects,
the notes that come of converting the wire there. What was read is also written at home, where it
must come back exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .. import policy
from ..conversion import writing
from ..conversion.hands import Reader, Writer
from ..dialects import DialectRules
from ..errors import ConversionError, UsageError
from ..interpreter import share
from ..ir import WHOLES, unspelled
from ..language import apart, ladder
from ..language.ladder import Ladder
from ..language.lenses import Misfit
from ..language.picture import Hole
from ..language.source import Node, Pos, wrong
from ..loaded import converted
from ..notes import Note
from ..rulesets import RuleSet
from ..streaming import responses
from ..streaming.streams import Translator, translate
from ..trace import where
from ..trail import At, Trail
from .lawcase import Broken, require_equal


@dataclass(frozen=True, slots=True)
class Example:
    """One example; `owner` is the place that it stands under, as `shapes/text`."""

    pos: Pos
    rule: Pos
    dialect: str
    owner: str
    nth: int
    said: dict[str, Any]

    @property
    def name(self) -> str:
        """A name for people: `dialect/shape[nth]`."""
        return f"{self.dialect}/{self.owner.removeprefix('shapes/')}[{self.nth}]"


def find(rules: DialectRules, known: Container[Pos] = ()) -> Iterator[Example]:
    """Yield the examples of a dialect, but those of `known` places."""
    for owner, node, listed in owners(rules.model.node):
        for nth, example in enumerate(listed):
            if example.pos not in known:
                yield Example(example.pos, node.pos, rules.name, owner, nth, example.plain())


def ladder_examples(steps: Ladder) -> Iterator[Example]:
    for kind, listed in steps.items():
        for row in listed:
            for nth, example in enumerate(row.examples):
                owner, said = f"{kind}/{row.name}", example.plain()
                yield Example(example.pos, row.pos, "ladder", owner, nth, said)


def owners(node: Node) -> Iterator[tuple[str, Node, list[Node]]]:
    """Yield what has examples in a rule file: its place, as `shapes/text`, its node, and them."""
    for section in apart.SECTIONS:
        for name, inner in node.under(section).items():
            yield from _examples_of(f"{section}/{name}", inner)
    for unit in apart.UNITS:
        if (whole := node.get(unit)) is not None:
            yield from _examples_of(unit, whole)
    for name, listed in node.under("examples").items():
        owner = apart.owner_of(node, name)
        files = {apart.rule_file_of(pos.file) for pos in (listed.pos, node.pos)}
        if owner is None and len(files) > 1:
            continue  # a parent's examples of what the child took away
        if owner is None or not isinstance(listed.value, list):
            raise wrong(f"`{name}` holds no list of examples of a shape or unit", listed.pos)
        yield "/".join(apart.path_of(name)), owner, listed.value


def _examples_of(place: str, owner: Node) -> Iterator[tuple[str, Node, list[Node]]]:
    for holder in (owner, *owner.under("cases").values()):
        listed = holder.get("examples")
        if listed is not None:
            yield place, holder, listed.value


# -- whether it holds ---------------------------------------------------------------------------


def check(rules: RuleSet, example: Example, dialect: DialectRules | None = None) -> str | None:
    """Return what is wrong with an example, or None; `dialect` is given where it is a variant."""
    try:
        if example.dialect == "ladder":
            _check_ladder(rules, example)
        else:
            base = rules[example.dialect]
            # What stands in a row of variants is tried with it, whatever the model of the example.
            alone = base if dialect is None or dialect is base else dialect._alone
            _check_example(rules, alone, example)
    except Broken as fault:
        return f"{example.name} {fault} (rule {fault.rule or example.rule})"
    except Misfit as misfit:
        return f"{example.name}: {misfit.reason} (rule {misfit.pos or example.rule})"
    except (ConversionError, UsageError) as error:
        rule = "" if getattr(error, "rule", None) else f" (rule {example.rule})"
        return f"{example.name}: {error}{rule}"
    return None


def _check_example(rules: RuleSet, dialect: DialectRules, example: Example) -> None:
    said = example.said
    wire = said.get("wire", said.get("reads"))
    ir = said.get("ir", said.get("as") if "reads" in said else said.get("writes"))
    subject = _Subject(dialect, example.owner)
    codes: list[str] = []
    if "writes" not in said:
        read, found = subject.read(wire)
        codes += found
        require_equal("reads otherwise than it says", ir, unspelled(read), subject.rule_of)
        if not (subject.has_no_home or subject.is_stream):  # frames come out as they went in
            home = subject.write(read, True)[0]
            require_equal("does not come back at home", wire, home, subject.rule_at)
    if "reads" not in said:
        written, found = subject.write(ir, False)
        codes += found
        meant = said.get("wire", said.get("as"))
        require_equal("writes otherwise than it says", meant, written, subject.rule_at)
    expected = sorted(set(said.get("notes", ())))
    if expected != sorted(set(codes)):
        raise Broken(f"makes the notes {sorted(set(codes))}, not {expected}")
    for target, counts in said.get("crossing", {}).items():
        crossed = Counter(note.code for note in subject.crossed(rules, wire, target))
        require_equal(f"makes other notes for {target}", counts, dict(crossed))


def _check_ladder(rules: RuleSet, example: Example) -> None:
    kind, _, name = example.owner.partition("/")
    row = next(r for r in rules.ladder[kind] if r.name == name)
    new, beside, _ = ladder.apply(row, example.said["from"], Trail())
    require_equal("becomes something else", example.said["to"], new)
    require_equal("moves something else", example.said.get("beside", []), beside)


def make_example(
    rules: RuleSet, dialect: str, owner: str, wire: Any, ir: Any = None
) -> dict[str, Any] | str:
    """Return an example of a wire value, or of what an IR value writes; or why none holds.

    `owner` is a unit, or a shape as `shapes/text`.
    """
    subject = _Subject(rules[dialect], owner)
    try:
        if wire is None:
            wire = subject.write(ir, False)[0]
        ir, read_codes = subject.read(wire)
        codes = [*read_codes, *subject.write(unspelled(ir), False)[1]]
    except (ConversionError, Misfit) as error:
        return error.reason
    except UsageError as error:
        return str(error)
    problem = ""
    pos = Pos("", 0, 0)
    # Some read as an IR value that does not write as them: of these only the reading is shown.
    for form, noted in ((("wire", "ir"), codes), (("reads", "as"), read_codes)):
        said: dict[str, Any] = dict(zip(form, (wire, unspelled(ir)), strict=True))
        said |= {"notes": sorted(set(noted))} if noted else {}
        problem = check(rules, Example(pos, pos, dialect, owner, 0, said)) or ""
        if not problem:
            return said
    return problem


class _Subject:
    """What examples are of: reads and writes a value of a shape, table or unit of a dialect."""

    def __init__(self, dialect: DialectRules, owner: str) -> None:
        self.dialect, self.model = dialect, dialect.model
        self.section, _, self.name = owner.rpartition("/")
        self.has_no_home = self.section in ("tables", "schemas") or owner == "envelope"
        self.is_stream = owner == "stream"
        self.unit = "messages" if owner == "conversation" else owner if owner in WHOLES else ""

    def read(self, wire: Any) -> tuple[Any, list[str]]:
        """Return what a wire value means, and the codes of the notes. Raises Misfit, Broken."""
        if self.unit:
            reading = self.dialect.read(wire, self._unit(wire))
            return reading.ir, [note.code for note in reading.notes]
        if self.section == "tables":
            word, exact = self.model.tables[self.name].read(wire)
            return word, [] if exact else ["reworded"]
        if self.section == "schemas":
            return self.model.schemas[self.name].read(wire)[0], []
        if self.is_stream:
            made = self._translate(self.dialect, wire)
            reading = self.dialect.read(made.result.body, "response")
            return reading.ir, [note.code for note in (*made.notes, *reading.notes)]
        if self.section != "shapes":
            raise Broken("says what reads, and an envelope is only written")
        reader = Reader(self.model, {})
        if self.model.shapes[self.name].groups:
            ir: Any = reader.element(self.name, wire, ())[0]
        else:
            try:
                ir = reader.shape(self.name, wire, ())
            except Misfit:  # only now may a hole keep what it does not take
                ir = reader.shape(self.name, wire, (), True)
        return ir, [note[0] for note in reader.notes]

    def write(self, ir: Any, home: bool) -> tuple[Any, list[str]]:
        """Return what is written, at home or abroad, and the codes of the notes. Raises Misfit."""
        if self.unit:
            out = self.dialect.write(ir, self._unit(ir))
            return out.body, [note.code for note in out.notes]
        if self.section == "tables":
            word, exact = self.model.tables[self.name].write(ir, home)
            return word, [] if exact else ["reworded"]
        if self.section == "schemas":
            return self.model.schemas[self.name].write(ir), []
        if self.is_stream:
            whole = self.dialect.write(ir, "response")  # what is noted of it is noted of its frames
            frames = list(responses.unfolded(self.dialect, ir, home, set()))
            return frames, [note.code for note in whole.notes]
        writer = Writer(self.model, home, Trail(), {}, self.dialect.ladder)
        if self.section != "shapes":
            said = writing.envelope_of(writer, ir)[0]._asdict()
            wire: Any = {k: v for k, v in said.items() if v not in (None, "", {})}
        elif self.model.shapes[self.name].groups:
            wire = self._write_run(writer, ir)
        else:
            wire = writer.shape(self.name, ir)
        return wire, [draft.code for draft in writer.notes]

    def crossed(self, rules: RuleSet, wire: Any, target: str) -> Sequence[Note]:
        """Return the notes of converting a wire value to another dialect."""
        if self.is_stream:
            return self._translate(rules[target], wire).notes
        ends = rules[self.dialect.name], rules[target]
        return converted(*ends, wire, self.unit, "m", False, {})[1]

    def _translate(self, target: DialectRules, frames: Any) -> Translator:
        if not isinstance(frames, list):
            raise Broken("is a list of frames on the wire")
        made = Translator(self.dialect, target, {}, policy.of(None))
        list(translate(made, frames))
        return made

    def rule_at(self, at: At) -> Pos | None:
        """Return the place of the picture of a path of the wire."""
        return where.rule_at(self.model, self.name, at)

    def rule_of(self, at: At) -> Pos | None:
        """Return the place of the picture of a path of the IR."""
        return where.rule_of(self.model, self.name, at)

    def _write_run(self, writer: Writer, ir: Any) -> Any:
        """Write the one element that a run of IR values becomes. Raises Broken for several."""
        pos = self.model.shapes[self.name].pos
        hole = Hole(("tools",), "each", self.name, (), None, None, pos)
        (found,) = share.share(writer, [hole], ir).values()
        if len(found) != 1:
            raise Broken(f"becomes {len(found)} elements")
        return found[0][1]

    def _unit(self, value: Any) -> str:
        return "message" if self.unit == "messages" and isinstance(value, dict) else self.unit
