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
from .places import SHORT_ID, Agent, owner_folder, packaged

EXCERPT_LENGTH = 60  # characters of what was said first
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
        read: What it means; None of one that cannot be read, and in a list of many.
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
    listed = [
        session_of(rules, agent, path)._replace(read=None)
        for agent in packaged().values()
        for path in session_files(agent, env)
    ]
    return sorted(listed, key=lambda session: session.date, reverse=True)


def session_files(agent: Agent, env: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files of an agent's sessions, and those in its databases."""
    root = agent.root(env)
    yield from agent.kept(root)
    for pattern in agent.files if root.is_dir() else ():
        yield from sorted(root.glob(pattern))


def read(rules: RuleSet, agent: Agent, path: Path, away: bool = True) -> reading.Read:
    """Return what a session file means, `away` or at home. Raises ConversionError, UsageError."""
    dialect = rules[agent.dialect]
    try:
        content = text(agent, path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{path}` cannot be read: {error}") from None
    if not content.strip():
        raise UsageError(f"`{path}` is empty")
    body = dialect.parse(content)
    session = with_room(reading.read)(dialect, body, "session", None, None, {"away": away})
    if agent.owner is not None and "cwd" not in session.ir:
        folders = map(owner_folder, (above / agent.owner for above in path.parents))
        if folder := next(filter(None, folders), None):
            session.ir["cwd"] = folder
    return session


def text(agent: Agent, path: Path) -> str:
    """Return the text of a session, of a file or a database. Raises OSError, UsageError."""
    base = agent.database
    if base is not None and path.match(base.file):
        base.ask(path, base.names)  # which says why it told of no session
    if base is None or path.exists():
        return path.read_text("utf-8-sig")
    return "\n".join(base.ask(path.parent, base.session, path.name))


def session_of(rules: RuleSet, agent: Agent, path: Path) -> Session:
    """Return the session of a file; of one that cannot be read, why it cannot."""
    try:
        read_session = read(rules, agent, path)
    except (ConversionError, UsageError) as error:
        return Session(agent.name, path, path.stem, "", "", "", 0, str(error))
    ir = read_session.ir
    texts = [words for message in ir["messages"] if (words := _user_text(message))]
    date = start_of(ir)
    words = excerpt(texts[0]) if texts else ""
    name = str(ir.get("id") or path.stem) if path.is_file() else path.name
    cwd = str(ir.get("cwd", ""))
    return Session(agent.name, path, name, cwd, date, words, len(texts), read=read_session)


def start_of(ir: dict[str, Any]) -> str:
    """Return when a session began, or its first message with a time; empty where none has one."""
    times = (message["time"] for message in ir["messages"] if "time" in message)
    return str(ir.get("start") or next(times, ""))


def _user_text(message: dict[str, Any]) -> str:
    """Return what a user said first in a message; texts that programs put there begin with `<`."""
    if message["role"] != "user":
        return ""
    texts = (part["text"] for part in message["parts"] if part["type"] == "text")
    return next((text for text in texts if text.strip() and not text.lstrip().startswith("<")), "")


def excerpt(text: str) -> str:
    """Return the beginning of a text in one line, without what looks like a secret."""
    words = _SECRET.sub("***", " ".join(text.split()))
    return words if len(words) <= EXCERPT_LENGTH else words[: EXCERPT_LENGTH - 1] + "…"


def find_session(
    rules: RuleSet, name: str, env: Mapping[str, str], agent: Agent | None = None
) -> Session:
    """Return the session of an id, its beginning, or a file. Raises UsageError for none or many."""
    path = Path(name)
    if path.is_file() and agent is not None:
        return session_of(rules, agent, path)
    agents = [agent] if agent is not None else list(packaged().values())
    files = [(owner, file) for owner in agents for file in session_files(owner, env)]
    if path.is_file():
        same = [(owner, file) for owner, file in files if file.resolve() == path.resolve()]
        if not same:
            raise UsageError(f"no agent keeps its sessions where `{name}` lies: say whose (--from)")
        return session_of(rules, *same[0])
    # To read a file takes long, and the name of most has the beginning of the id.
    likely = [(owner, file) for owner, file in files if name and name[:SHORT_ID] in file.name]
    listed = [session_of(rules, *pair) for pair in likely or files]
    matches = [session for session in listed if session.id.startswith(name)]
    matches = matches or [one for one in listed if name and _file_matches(one.path.stem, name)]
    if not matches:
        raise UsageError(f"no session is called `{name}`; `wireglot sessions` lists them")
    if len(matches) > 1:
        whose = ", ".join(f"{one.id} of {one.agent} ({one.path})" for one in matches)
        advice = "--from says whose it is, its file which it is"
        raise UsageError(f"`{name}` may be {whose}; {advice}")
    return matches[0]


def _file_matches(stem: str, name: str) -> bool:
    """Tell whether a file is called so: the id that stands in it may be that of another one."""
    return stem.startswith(name) or stem.endswith(name)
