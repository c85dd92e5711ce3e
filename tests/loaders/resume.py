"""Let agents take up the sessions that `wireglot move` wrote, before a stand-in of their provider.

    python -m tests.loaders.resume FOLDER [TARGET ...]

FOLDER is where `make agents` installs the agents; the one that asks for another Node comes into a
folder within. Each session of `cases/rich.yaml` that an agent
keeps lies in a home of its own, moves to each other agent, and is taken up there with one more
question. What the agent sends must be a request that its provider takes, and hold the same calls in
their order, each with its result. Exit code 1: something differs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wireglot.moving import listing, move, places
from wireglot.serve.run import Agent

from .. import test_rich_session as rich
from ..agents import hearing, programs
from ..agents.standin import TARGETS, StandIn, running
from ..agents.talk import Call, Result

PROMPT = "What came of it?"
SOURCES = {
    "claude-code": "claude-code",
    "codex": "codex",
    "gemini-cli": "gemini-cli",
    "pi": "openclaw",
    "opencode": "opencode",
    "openclaw": "openclaw",
}
# How each is started without a terminal, before which provider, with a session.
JUDGES = {
    "claude-code": (
        "claude",
        "anthropic",
        ["-p", PROMPT, "--output-format", "json", "--model", "claude-opus-4-8", "--resume"],
    ),
    "codex": (
        "codex",
        "responses",
        ["-m", "gpt-5.4", "exec", "--skip-git-repo-check", "--json", "resume"],
    ),
    "gemini-cli": (
        "gemini",
        "gemini",
        ["-p", PROMPT, "--yolo", "--skip-trust", "--output-format", "json", "--resume"],
    ),
    "pi": ("pi-anthropic", "anthropic", ["-p", "--mode", "json", "--session"]),
    "opencode": (
        "opencode-chat",
        "chat",
        ["run", PROMPT, "--format", "json", "-m", "wireglot/m1", "--session"],
    ),
    "openclaw": (
        "openclaw",
        "chat",
        ["agent", "--local", "--json", "--message", PROMPT, "--session-key"],
    ),
}
OPENCLAW = ["node@24", "openclaw@2026.9.6"]
MODEL = {"id": "m1", "name": "m1", "input": ["text", "image"], "contextWindow": 200000}
PROVIDER = {"baseUrl": "$url/v1", "apiKey": "$key", "api": "openai-completions", "models": [MODEL]}
SETTINGS = {
    "models": {"mode": "merge", "providers": {"wireglot": PROVIDER}},
    "agents": {"defaults": {"model": {"primary": "wireglot/m1"}}},
}
PROGRAMS = {
    **programs.PROGRAMS,
    "openclaw": programs.Program(
        "openclaw",
        command=lambda _: [],
        again=lambda _: [],
        agent=Agent(
            "", {"OPENCLAW_CONFIG_PATH": "$folder/openclaw.json"}, [], {"openclaw.json": SETTINGS}
        ),
    ),
}
LAST = {"codex": [PROMPT], "pi": [PROMPT]}


def where(place: Path, agent: str) -> Path:
    """Return the folder in which an agent is installed; that with a Node of its own is, here."""
    if agent != "openclaw":
        return place
    inner = place / agent
    if not (inner / "node_modules").is_dir():
        inner.mkdir(parents=True, exist_ok=True)
        (inner / "package.json").write_text('{"private": true}', encoding="utf-8")
        npm = ["npm", "--no-audit", "--no-fund", "--loglevel=error"]
        # Its own script refuses the Node of this machine, and runs before the other is there.
        subprocess.run([*npm, "install", "--ignore-scripts", *OPENCLAW], cwd=inner, check=True)
        subprocess.run([*npm, "rebuild", "node"], cwd=inner, check=True)
    return inner


def environment(home: Path) -> dict[str, str]:
    """Return where agents look for their folders; one has another home where it is started so."""
    return {"HOME": str(home), "GEMINI_CLI_HOME": str(home / "agent")}


def started(place: Path, home: Path) -> dict[str, str]:
    """Return what an agent gets that is started to take a file in."""
    return {**programs.environment(place, home), **programs.PROGRAMS["opencode-chat"].env}


def keep(agent: places.Agent, body: Any, home: Path, place: Path | None = None) -> listing.Session:
    """Write a session where its agent keeps it; with a place one takes it into its database."""
    env, work = environment(home), str(home / "work")
    ir = rich.RULES[agent.dialect].read(body, unit="session").ir
    name = ir.get("id", "5f0c2b6e-0000-5000-8000-000000000001")
    root = agent.root(env)
    folder, owner = agent.owned(root, work)
    path = root / agent.file_of(folder, name, "2026-02-21T14:37:00.000Z")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(rich.RULES[agent.dialect].text(body), "utf-8")
    beside = [] if owner is None else [(owner, work)]
    beside += [] if agent.naming is None else [agent.naming.with_row(root, name)]
    for file, text in beside:
        file.write_text(text, "utf-8")
    if agent.register and place is not None:
        command = agent.command(agent.register, work, name, path)
        env = started(place, home)
        subprocess.run(command, cwd=work, env=env, check=True, capture_output=True)
        (path,) = listing.session_files(agent, environment(home))
    return listing.session_of(rich.RULES, agent, path)


def judged(place: Path, source: str, target: str, home: Path) -> Iterator[str]:
    """Move a session, let the other agent take it up, and yield what is wrong."""
    work = home / "work"
    work.mkdir(parents=True)
    body, installed = rich.BODIES[SOURCES[source]], where(place, source)
    session = keep(places.agent(source), body, home, installed)
    place = where(place, target)
    ready = move.plan(rich.RULES, session, target, environment(home), cwd=str(work))
    move.write(ready)
    if ready.register:
        move.register(ready, started(place, home))
    name, provider, words = JUDGES[target]
    handle = str(ready.path) if target == "pi" else ready.command[-1]
    again = [*words, handle, *LAST.get(target, [])]
    program = PROGRAMS[name]._replace(again=lambda _: again)
    model = StandIn(TARGETS[provider], str(work))
    with running(model) as server:
        command, env = programs.prepared(program, server.url, home, PROMPT, fresh=False)
        command[0] = str(place / "node_modules/.bin" / command[0])
        ran = programs.run(command, {**programs.environment(place, home), **env}, work, 90)
    yield from model.faults
    if not model.requests:
        yield f"it sent nothing; it ended with {ran.code}: {(ran.errors or ran.output)[-300:]}"
        return
    events = max(
        (hearing.asked(model.target.dialect, body, True).events for body in model.requests), key=len
    )
    calls = [(one.name, one.arguments) for one in events if isinstance(one, Call)]
    found = rich.found_in(
        SOURCES[source], rich.messages_of(SOURCES[source], rich.BODIES[SOURCES[source]])
    )
    if calls != [(name, arguments) for _, name, arguments in found.calls]:
        yield f"other calls: {calls}"
    results = [one.id for one in events if isinstance(one, Result)]
    if sorted(map(str, results)) != sorted(str(one.id) for one in events if isinstance(one, Call)):
        yield f"not each call has its result: {results}"
    if not any(PROMPT in str(one) for one in events):
        yield "the new question is not there"


def main() -> int:
    place, targets = Path(sys.argv[1]).absolute(), sys.argv[2:] or list(JUDGES)
    if not (place / "node_modules").is_dir():
        programs.install(place)
    failed = 0
    for target in targets:
        for source in SOURCES:
            if source == target:
                continue
            with tempfile.TemporaryDirectory() as folder:
                wrong = list(judged(place, source, target, Path(folder)))
            print(f"{target} <- {source}: {'; '.join(wrong) or 'takes it up'}", flush=True)
            failed += bool(wrong)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
