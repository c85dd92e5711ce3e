"""`enforce` of a conversation: what is made sure of across messages, word by word.

A word says one thing of its subject (`system`, `results`, `calls`, ...). It stands for the steps
that the executors take; their names are known here and there alone.
"""

from __future__ import annotations

from typing import NamedTuple

from ..errors import RuleError
from ..ir import PARTS
from .findings import helped
from .model import Beside, Turn
from .source import Node, Pos, wrong

Step = tuple[str, str]
ROLES = ("assistant", "system", "tool", "user")


class Words(NamedTuple):
    """What a word takes: one of these values or a list of them, each with its steps and meaning."""

    values: dict[str, tuple[list[Step], str]]
    many: bool = False


class Said(NamedTuple):
    """A word that takes a text of its own, for a step of this name."""

    step: str
    takes: str
    meaning: str


ENFORCE: dict[str, Words | Said | None] = {
    "system": Words({
        "lifted": (
            [("lift", "system")],
            "system text stands in `$system` of the request",
        ),
        "lifted-from-others": (
            [("lift", "system"), ("leave", "system")],
            "it stays where it is, at home",
        ),
    }),
    "results": Words({
        "next": ([("answer-next", "")], "results follow their calls"),
        "in-order": ([("order-results-by-calls", "")], "they stand in the order of their calls"),
        "first": ([("put-first", "tool_result")], "they lead their message"),
    }, many=True),
    "calls": Words({
        "signed": (
            [("signed", "tool_call")],
            "the first call of a step of the present turn has its signature",
        ),
    }, many=True),
    "reasoning": Words({
        "this-turn": (
            [("this-turn", "reasoning")],
            "reasoning stands behind the last message of the user alone",
        ),
        "never": ([("user-only", "reasoning")], "a turn of the model holds none"),
    }),
    "text": Words({
        "not-blank": ([("no-blank", "")], "text of nothing but spaces is left out"),
        "not-empty": ([("no-empty-text", "")], "text without a sign, and without a signature"),
    }),
    "tools": Words({
        "narrowed": (
            [("narrow-tools", "")],
            "is made by sending only these tools",
        ),
        "declared": (
            [("declare-called", "")],
            "a tool that the messages call is declared",
        ),
    }, many=True),
    "unanswered": Said("pair", "WORDS", "a call without one is answered with this error"),
    "if-empty": Said(
        "some-message", "WORDS", "where all that was said fell out, the user says this text"
    ),
    "strict": Said("strict", "SCHEMA", "the schema of a strict tool"),
    "turns": None,
    "beside": None,
    "user-only": None,
}  # fmt: skip
STAND = ("text", "reasoning")  # what may have to stand beside a part
# Where a turn must stand, with what may stand beside its role.
TURNS = {"first": ("before",), "last": (), "between": ("after", "before")}


def steps(word: str) -> list[str]:
    """Return the names of the steps that a word may stand for."""
    form = ENFORCE[word]
    if isinstance(form, Said):
        return [form.step]
    if isinstance(form, Words):
        return [name for made, _ in form.values.values() for name, _ in made]
    return ["insert", "alternate"] if word == "turns" else [word]


class Order(NamedTuple):
    """What a dialect asks of its messages, and what is wrong with how it says so."""

    steps: list[Step]
    turns: list[Turn]
    places: dict[str, Pos]  # where a step is asked for
    clean: Node  # the words in which nothing is wrong
    faults: list[RuleError]
    beside: list[Beside]


def asked(node: Node | None, pos: Pos) -> Order:
    """Read `enforce`; where it stands, a message of which nothing was written is left out."""
    if node is None:
        return Order([], [], {}, Node({}, pos), [], [])
    found = Order([("no-empty", "")], [], {}, Node({}, node.pos), [], [])
    if not isinstance(node.value, dict):
        help = "write `enforce: {results: [next]}`"
        found.faults.append(wrong("`enforce` is a mapping", node.pos, help, rule="R022"))
        return found
    for word, taken in node.value.items():
        try:
            steps, turns, beside = _word(word, taken, node.keys.get(word, taken.pos))
        except RuleError as error:
            found.faults.append(error)
            continue
        found.clean.value[word] = taken
        found.clean.keys[word] = node.keys.get(word, taken.pos)
        found.steps.extend(steps)
        found.turns.extend(turns)
        found.beside.extend(beside)
        found.places.update((name, taken.pos) for name, _ in steps)
    return found


def _word(word: str, taken: Node, pos: Pos) -> tuple[list[Step], list[Turn], list[Beside]]:
    if word not in ENFORCE:
        raise wrong(f"`{word}` cannot be enforced", pos, helped(word, ENFORCE), rule="R021")
    form = ENFORCE[word]
    if isinstance(form, Said):
        if not isinstance(taken.value, str) or not taken.value:
            raise wrong(
                f"`{word}` takes a text", taken.pos, f"write `{word}: {form.takes}`", rule="R022"
            )
        return [(form.step, taken.value)], [], []
    if isinstance(form, Words):
        return _values(word, form, taken), [], []
    if word == "turns":
        return *_turns(taken), []
    if word == "beside":
        return [("beside", "")], [], _beside(taken)
    return [("user-only", kind) for kind in _kinds(word, taken)], [], []


def _values(word: str, form: Words, taken: Node) -> list[Step]:
    given = taken.value if form.many and isinstance(taken.value, list) else [taken]
    if form.many and not isinstance(taken.value, list):
        help = f"write `{word}: [{next(iter(form.values))}]`"
        raise wrong(f"`{word}` is a list of words", taken.pos, help, rule="R022")
    steps: list[Step] = []
    for one in given:
        if not isinstance(one.value, str) or one.value not in form.values:
            said = one.value if isinstance(one.value, str) else "this"
            message = f"`{word}` takes no `{said}`"
            raise wrong(message, one.pos, helped(str(one.value), form.values), rule="R021")
        steps.extend(form.values[one.value][0])
    return steps


def _kinds(word: str, taken: Node) -> list[str]:
    if not isinstance(taken.value, list):
        raise wrong(f"`{word}` is a list of kinds", taken.pos, "put it in [ ]", rule="R022")
    for one in taken.value:
        _kind(word, one)
    return [one.value for one in taken.value]


def _kind(word: str, one: Node) -> str:
    if not isinstance(one.value, str) or one.value not in PARTS:
        message = f"`{word}` names `{one.plain()}`, which is no kind of part"
        raise wrong(message, one.pos, helped(str(one.value), PARTS), rule="R024")
    return one.value


def _beside(node: Node) -> list[Beside]:
    """Read what must stand beside parts of a kind, `{KIND: {text: TEXT}}`."""
    if not isinstance(node.value, dict) or not node.value:
        help = "write `beside: {document: {text: TEXT}}`"
        raise wrong("`beside` says what stands beside a kind of part", node.pos, help, rule="R022")
    found = []
    for kind, said in node.value.items():
        _kind("beside", Node(kind, node.keys.get(kind, said.pos)))
        plain = said.plain()
        if not isinstance(plain, dict) or len(plain) != 1 or not plain.keys() <= set(STAND):
            message = f"a text or reasoning stands beside `{kind}`"
            raise wrong(message, said.pos, f"write `{kind}: {{text: TEXT}}`", rule="R022")
        ((stands, text),) = plain.items()
        if not isinstance(text, str) or (stands == "text" and not text.strip()):
            message = f"`{stands}` says which words stand there"
            raise wrong(message, said.value[stands].pos, "write a text", rule="R022")
        found.append(Beside(kind, stands, text, said.pos))
    return found


def _turns(node: Node) -> tuple[list[Step], list[Turn]]:
    help = "write {first: {user: TEXT}}, {last: {user: TEXT}} or {alternate: true}"
    if not isinstance(node.value, dict) or not node.value:
        raise wrong("`turns` says which turns there are", node.pos, help, rule="R022")
    steps: list[Step] = []
    turns: list[Turn] = []
    for word, said in node.value.items():
        pos = node.keys.get(word, said.pos)
        if word == "alternate":
            if said.value is not True:
                raise wrong("`alternate` is true", said.pos, "or leave it out", rule="R022")
            steps.append(("alternate", ""))
        elif word not in TURNS:
            raise wrong(
                f"`turns` has no `{word}`", pos, helped(word, [*TURNS, "alternate"]), rule="R021"
            )
        else:
            turns.append(_turn(word, said))
            steps.append(("insert", ""))
    return steps, turns


def _turn(word: str, said: Node) -> Turn:
    """Read one turn that must stand, `{ROLE: TEXT}`, and where: the roles around it, or a part."""
    plain = said.plain()
    spoken = (
        [key for key in plain if key in ("user", "assistant")] if isinstance(plain, dict) else []
    )
    form = "{assistant: TEXT, after: tool, before: user}" if word == "between" else "{user: TEXT}"
    if (
        len(spoken) != 1
        or not set(plain) <= {*spoken, *TURNS[word]}
        or not all(isinstance(text, str) for text in plain.values())
        or (word == "between" and not set(TURNS[word]) <= set(plain))
    ):
        message = f"`{word}` says one turn, of the user or the assistant"
        raise wrong(message, said.pos, f"write `{word}: {form}`", rule="R022")
    role, text = spoken[0], plain[spoken[0]]
    if word == "between":
        for side in TURNS[word]:
            if plain[side] not in ROLES:
                message = f"`{plain[side]}` is no role of the IR"
                help = helped(plain[side], ROLES, "the roles are")
                raise wrong(message, said.value[side].pos, help, rule="R024")
        return Turn(role, text, "", (plain["after"], plain["before"]), said.pos)
    if "before" in plain:
        _kind("before", said.value["before"])
    at = "start" if word == "first" else "end"
    return Turn(role, text, at, ("", ""), said.pos, plain.get("before", ""))
