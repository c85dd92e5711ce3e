"""`enforce` of a conversation: what its words make sure of across messages, and ask for.

A word says one thing of its subject (`system`, `results`, `calls`, ...). The names of the steps
that the executors take are known here and there alone.
"""

from __future__ import annotations

from typing import NamedTuple

from ..ir import PARTS, ROLES
from .forms import ANY_TEXT, TEXT, Form, Leaf, Listed, Map, Word, Words, one_of, texts
from .source import Node, Pos
from .talk import LATER, Beside, Turn

Step = tuple[str, str]
SPEAKERS = ("user", "assistant")
# Where a turn must stand, with what may stand beside its role.
TURNS = {"first": ("before",), "last": (), "between": ("after", "before")}
# The values of a word, each with its steps and what it says; those of MANY stand in a list.
VALUES: dict[str, dict[str, tuple[list[Step], str]]] = {
    "system": {
        "lifted": ([("lift", "system")], "system text stands in `$system` of the request"),
        "lifted-from-others": (
            [("lift", "system"), ("leave", "system")], "it stays where it is, at home"),
        "between-turns": (
            [("lift", "system"), ("turn", "system")],
            "what comes later stays a turn behind one of a user and before one of the model"),
        "never": ([("never", "system")], "that of others is left out"),
    },
    "results": {
        "next": ([("answer-next", "")], "results follow their calls"),
        "in-order": ([("order-results-by-calls", "")], "they stand in the order of their calls"),
        "first": ([("put-first", "tool_result")], "they lead their message"),
        "free": ([("free", "")], "one whose call is not there names none"),
    },
    "calls": {
        "signed": ([("signed", "tool_call")],
                   "the first call of a step of the present turn has its signature"),
        "single": ([("one-call", "tool_call")], "a turn of the model calls one tool"),
    },
    "reasoning": {
        "this-turn": ([("this-turn", "reasoning")],
                      "reasoning stands behind the last message of the user alone"),
        "signed": ([("own-thought", "reasoning")],
                   "a turn of the model holds none but what this API signed"),
        "never": ([("user-only", "reasoning")], "a turn of the model holds none"),
    },
    "searches": {
        "found": ([("found", "search"), ("found", "finding")],
                  "a search goes back with what it found, sealed, or neither does"),
    },
    "text": {
        "not-blank": ([("no-blank", "")], "text of nothing but spaces is left out"),
        "trimmed": (
            [("no-blank", ""), ("trim-end", "")],
            "so is the space with which the model ends the messages"),
        "not-empty": ([("no-empty-text", "")], "text without a sign, and without a signature"),
    },
    "tools": {
        "narrowed": ([("narrow-tools", "")], "is made by sending only these tools"),
        "declared": ([("declare-called", "")], "a tool that the messages call is declared"),
        "unmixed": (
            [("unmixed", "")], "beside a function stands no tool that the provider runs"),
    },
}  # fmt: skip
SCHEMA = "json-schema"
LISTED = ("results", "calls", "tools")
# Words that take a text for a step; `${text}` in that of LATER is what a text said, `${schema}` in
# that of SCHEMA the schema of an answer.
TEXT_WORDS = {
    LATER: (LATER, "WORDS", "what comes later stays where it is, as text of the user"),
    "unanswered": ("pair", "WORDS", "a call without one is answered with this error"),
    "if-empty": (
        "some-message", "WORDS", "where all that was said fell out, the user says this text"),
    "json": ("say-json", "WORDS", "who asks for JSON, by no schema, says the word"),
    SCHEMA: ("say-schema", "WORDS", "the schema of an answer, not taken, is said in words"),
    "strict": ("strict", "SCHEMA", "the schema of a strict tool"),
}  # fmt: skip


def _value_form(word: str) -> Form:
    told = [meaning for _, meaning in VALUES[word].values()]
    one = one_of(*VALUES[word], told=told, message="{what} takes no `{value}`", rule="R021")
    help = f"write `{word}: [{next(iter(VALUES[word]))}]`"
    return Listed(one, "{what} is a list of words", help, whole=True) if word in LISTED else one


def _turn_form(word: str, form: str) -> Word:
    beside = _ROLE if word == "between" else _KIND
    said: dict[str, Word] = dict.fromkeys(SPEAKERS, (Leaf(ANY_TEXT), ""))
    said |= dict.fromkeys(TURNS[word], (beside, ""))
    message = "{owner} says one turn, of the user or the assistant"
    needed = TURNS[word] if word == "between" else ()
    help, sets = f"write `{word}: {form}`", tuple((role,) for role in SPEAKERS)
    return texts(said, message, help, sets=sets, needed=needed, whole=True), ""


_NONE = "{what} names `{value}`, which is no kind of part"
_KIND = one_of(*sorted(PARTS), message=_NONE, rule="R024")
_ROLE = one_of(*ROLES, message="`{value}` is no role of the IR", lead="the roles are", rule="R024")
_STANDS: dict[str, Word] = {
    "text": (
        Leaf({**ANY_TEXT, "pattern": r"\S"}, "{what} says which words stand there", "write a text"),
        "",
    ),
    "reasoning": (Leaf(ANY_TEXT), ""),
}
_BESIDE = Map(
    texts(_STANDS, "a text or reasoning stands beside {owner}", "write `KIND: {text: TEXT}`",
          sets=tuple((word,) for word in _STANDS), whole=True),
    "{what} says what stands beside a kind of part", "write `beside: {document: {text: TEXT}}`",
    keys=PARTS, least=1, whole=True,
)  # fmt: skip
_TURNS = Words(
    "`turns`",
    {
        "alternate": (Leaf({"const": True}, "{what} is true", "or leave it out"), ""),
        "first": _turn_form("first", "{user: TEXT}"),
        "last": _turn_form("last", "{user: TEXT}"),
        "between": _turn_form("between", "{assistant: TEXT, after: tool, before: user}"),
    },
    layered=False, whole=True, least=1, message="{what} says which turns there are",
    help="write {first: {user: TEXT}}, {last: {user: TEXT}} or {alternate: true}",
    strange="{what} has no `{name}`", lead="there are",
)  # fmt: skip
ENFORCE = Words(
    "`enforce`",
    {
        **{word: (_value_form(word), "") for word in VALUES},
        **{word: (Leaf(TEXT, "{what} takes a text", f"write `{word}: {takes}`"), told)
           for word, (_, takes, told) in TEXT_WORDS.items() if word not in (LATER, SCHEMA)},
        SCHEMA: (Leaf({**TEXT, "pattern": r"\$\{schema\}"},
                      "{what} is a text with `${schema}` in it",
                      f'write `{SCHEMA}: "Answer in JSON by this schema: ${{schema}}"`'),
                 TEXT_WORDS[SCHEMA][-1]),
        LATER: (Leaf({**TEXT, "pattern": r"\$\{text\}"}, "{what} is a text with `${text}` in it",
                     f'write `{LATER}: "<system>${{text}}</system>"`'), TEXT_WORDS[LATER][-1]),
        "turns": (_TURNS, "in a request, the first turn"),
        "beside": (_BESIDE, "a message with such a part holds this"),
        "user-only": (Listed(_KIND, "{what} is a list of kinds", whole=True),
                      "a turn of the model holds no such part"),
        "not-last": (Listed(_KIND, "{what} is a list of kinds", whole=True),
                     "a turn of the model does not end with such a part"),
    },
    "Enforce", help="write `enforce: {results: [next]}`",
    strange="`{name}` cannot be enforced", lead="there are",
)  # fmt: skip


# -- what a rule file asks for --------------------------------------------------------------------


class Order(NamedTuple):
    """What a dialect asks of its messages."""

    steps: list[Step]
    turns: list[Turn]
    places: dict[str, Pos]  # where a step is asked for
    beside: list[Beside]


def read_enforce(node: Node | None) -> Order:
    """Read `enforce`; where it stands, a message of which nothing was written is left out."""
    order = Order([] if node is None else [("no-empty", "")], [], {}, [])
    for word, value in node.value.items() if node is not None else ():
        plain = value.plain()
        if word in TEXT_WORDS:
            made = [(TEXT_WORDS[word][0], plain)]
        elif word in VALUES:
            values = plain if word in LISTED else [plain]
            made = [step for one in values for step in VALUES[word][one][0]]
        elif word == "turns":
            made = [("alternate" if at == "alternate" else "insert", "") for at in plain]
            turns = value.value.items()
            order.turns.extend(_read_turn(at, said) for at, said in turns if at != "alternate")
        elif word == "beside":
            made = [("beside", "")]
            for kind, said in value.value.items():
                ((stands, text),) = said.plain().items()
                order.beside.append(Beside(kind, stands, text, said.pos))
        else:
            made = [(word, kind) for kind in plain]
        order.steps.extend(made)
        order.places.update((name, value.pos) for name, _ in made)
    return order


def _read_turn(word: str, said: Node) -> Turn:
    """Read one turn that must stand, `{ROLE: TEXT}`, and where: the roles around it, or a part."""
    plain = said.plain()
    role = next(role for role in SPEAKERS if role in plain)
    if word == "between":
        return Turn(role, plain[role], "", (plain["after"], plain["before"]), said.pos)
    at = "start" if word == "first" else "end"
    return Turn(role, plain[role], at, ("", ""), said.pos, plain.get("before", ""))
