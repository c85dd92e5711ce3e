"""`enforce` of a conversation: the steps that are asked for across messages, and the turns."""

from __future__ import annotations

from typing import NamedTuple

from .orderwords import MANY, SAID, SPEAKERS, VALUES, Step
from .source import Node, Pos
from .talk import Beside, Turn


class Order(NamedTuple):
    """What a dialect asks of its messages."""

    steps: list[Step]
    turns: list[Turn]
    places: dict[str, Pos]  # where a step is asked for
    beside: list[Beside]


def asked(node: Node | None) -> Order:
    """Read `enforce`; where it stands, a message of which nothing was written is left out."""
    found = Order([] if node is None else [("no-empty", "")], [], {}, [])
    for word, taken in node.value.items() if node is not None else ():
        plain = taken.plain()
        if word in SAID:
            made = [(SAID[word][0], plain)]
        elif word in VALUES:
            values = plain if word in MANY else [plain]
            made = [step for one in values for step in VALUES[word][one][0]]
        elif word == "turns":
            made = [("alternate" if at == "alternate" else "insert", "") for at in plain]
            turns = taken.value.items()
            found.turns.extend(_turn(at, said) for at, said in turns if at != "alternate")
        elif word == "beside":
            made = [("beside", "")]
            for kind, said in taken.value.items():
                ((stands, text),) = said.plain().items()
                found.beside.append(Beside(kind, stands, text, said.pos))
        else:
            made = [(word, kind) for kind in plain]
        found.steps.extend(made)
        found.places.update((name, taken.pos) for name, _ in made)
    return found


def _turn(word: str, said: Node) -> Turn:
    """Read one turn that must stand, `{ROLE: TEXT}`, and where: the roles around it, or a part."""
    plain = said.plain()
    role = next(role for role in SPEAKERS if role in plain)
    if word == "between":
        return Turn(role, plain[role], "", (plain["after"], plain["before"]), said.pos)
    at = "start" if word == "first" else "end"
    return Turn(role, plain[role], at, ("", ""), said.pos, plain.get("before", ""))
