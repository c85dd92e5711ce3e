"""Listing: the sessions that agents keep on this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..conversion import reading
from ..errors import ConversionError, UsageError
from ..room import with_room
from ..rulesets import RuleSet
from .places import SHORT, Agent, packaged, said_in

WORDS = 60  # signs of what was said first
# What looks like a key or a token is not shown: long, without a space, of letters and digits.
_SECRET = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9_+/=.-]{20,}")


class Session(NamedTuple):
    """A session of an agent.

    Attributes:
        agent: Whose it is.
        path: Its file.
        id: What it is called.
        cwd: The folder that it is about.
        date: When it began.
        words: What the user said first.
        turns: How often the user said something.
        wrong: Why it cannot be read; empty where it can.
        read: What it means, in the IR; None of one that cannot be read, and in a list of many.
    """

    agent: str
    path: Path
    id: str
    cwd: str
    date: str
    words: str
    turns: int
    wrong: str = ""
    read: reading.Read | None = None


def sessions(rules: RuleSet, env: Mapping[str, str]) -> list[Session]:
    """Return the sessions of all known agents, the latest first."""
    found = [
        session_of(rules, agent, path)._replace(read=None)
        for agent in packaged().values()
        for path in files(agent, env)
    ]
    return sorted(found, key=lambda one: one.date, reverse=True)


def files(agent: Agent, env: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files of an agent's sessions, and those in its databases."""
    root = agent.root(env)
    yield from agent.kept(root)
    for pattern in agent.files if root.is_dir() else ():
        yield from sorted(root.glob(pattern))


def read(rules: RuleSet, agent: Agent, path: Path, away: bool = True) -> reading.Read:
    """Return what a session file means, `away` or at home. Raises ConversionError, UsageError."""
    dialect, reads = rules[agent.dialect], with_room(reading.read)
    try:
        said = text(agent, path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{path}` cannot be read: {error}") from None
    if not said.strip():
        raise UsageError(f"`{path}` is empty")
    found = reads(dialect, dialect.parse(said), "session", None, None, {"away": away})
    if agent.owner is not None and "cwd" not in found.ir:
        owners = (above / agent.owner for above in path.parents)
        named = next((folder for one in owners if (folder := said_in(one))), None)
        found.ir.update({"cwd": named} if named is not None else {})
    return found


def text(agent: Agent, path: Path) -> str:
    """Return the text of a session file, or of one in a database. Raises what `read` does."""
    base = agent.database
    if base is not None and path.match(base.file):
        base.ask(path, base.names)  # which says why it told of no session
    if base is None or path.exists():
        return path.read_text("utf-8-sig")
    return "\n".join(base.ask(path.parent, base.session, path.name))


def session_of(rules: RuleSet, agent: Agent, path: Path) -> Session:
    """Return what a listing says of a file."""
    try:
        known = read(rules, agent, path)
    except (ConversionError, UsageError) as error:
        return Session(agent.name, path, path.stem, "", "", "", 0, str(error))
    ir = known.ir
    said = [words for message in ir["messages"] if (words := _said(message))]
    date = began(ir)
    words = shown(said[0]) if said else ""
    name = str(ir.get("id") or path.stem) if path.is_file() else path.name
    cwd = str(ir.get("cwd", ""))
    return Session(agent.name, path, name, cwd, date, words, len(said), read=known)


def began(ir: dict[str, Any]) -> str:
    """Return when a session began, or its first message with a time; empty where none has one."""
    times = (message["time"] for message in ir["messages"] if "time" in message)
    return str(ir.get("start") or next(times, ""))


def _said(message: dict[str, Any]) -> str:
    """Return what the user said; what a program put into a message begins with a mark."""
    if message["role"] != "user":
        return ""
    texts = (part["text"] for part in message["parts"] if part["type"] == "text")
    return next((text for text in texts if text.strip() and not text.lstrip().startswith("<")), "")


def shown(text: str) -> str:
    """Return the beginning of a text in one line, without what looks like a secret."""
    words = _SECRET.sub("***", " ".join(text.split()))
    return words if len(words) <= WORDS else words[: WORDS - 1] + "…"


def found(rules: RuleSet, name: str, env: Mapping[str, str], agent: Agent | None = None) -> Session:
    """Return a session by its id, the beginning of that, or its file; perhaps of one agent alone.

    Raises UsageError.
    """
    path = Path(name)
    if path.is_file() and agent is not None:
        return session_of(rules, agent, path)
    agents = [agent] if agent is not None else list(packaged().values())
    known = [(one, file) for one in agents for file in files(one, env)]
    if path.is_file():
        known = [(one, file) for one, file in known if file.resolve() == path.resolve()]
        if not known:
            raise UsageError(f"no agent keeps its sessions where `{name}` lies: say whose (--from)")
        return session_of(rules, *known[0])
    # Of some agents the name of a file has but the beginning of an id.
    near = [(one, file) for one, file in known if name and name[:SHORT] in file.name]
    made = [session_of(rules, *pair) for pair in near or known]
    ids = [one for one in made if one.id.startswith(name)]
    ids = ids or [one for one in made if name and _called(one.path.stem, name)]
    if not ids:
        raise UsageError(f"no session is called `{name}`; `wireglot sessions` lists them")
    if len(ids) > 1:
        whose = ", ".join(f"{one.id} of {one.agent} ({one.path})" for one in ids)
        told = "--from says whose it is, its file which it is"
        raise UsageError(f"`{name}` may be {whose}; {told}")
    return ids[0]


def _called(stem: str, name: str) -> bool:
    """Tell whether a file is called so; what stands in it may have come from another one."""
    return stem.startswith(name) or stem.endswith(name)
