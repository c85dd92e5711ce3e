"""`wireglot sessions` and `wireglot move`, in homes that are made for each test."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from wireglot import cli
from wireglot.batch import lines
from wireglot.conversion import reading
from wireglot.errors import UsageError
from wireglot.moving import listing, move, places

from . import test_rich_session as rich
from .loaders.resume import SOURCES, keep

ID = "5f0c2b6e-0000-5000-8000-000000000001"
AGENTS = list(SOURCES)
PAIRS = [(a, b) for a in AGENTS for b in AGENTS if a != b]
PAGE = Path(__file__).parent.parent / "docs" / "move.md"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with nothing in it, in which no agent is installed."""
    for name in [*os.environ]:
        if re.match("CLAUDE|CODEX|GEMINI|PI_|OPENCLAW", name):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "agent"))
    monkeypatch.setenv("PATH", str(tmp_path / "node_modules" / ".bin"))
    (tmp_path / "work").mkdir()
    return tmp_path


# What stands in for an agent with a database: it takes a file in as the real one does.
IMPORTS = """#!{python}
import json, os, sqlite3, sys
said, base = json.load(open(sys.argv[2])), os.environ["HOME"] + "/.local/share/opencode/opencode.db"
os.makedirs(os.path.dirname(base), exist_ok=True)
data = sqlite3.connect(base)
columns = {columns!r}
for table, names in columns.items():
    data.execute("CREATE TABLE IF NOT EXISTS %s (id PRIMARY KEY, %s)" % (table, ", ".join(names)))
def put(table, **held):
    names = [name for name in held if name == "id" or name in columns[table]]
    marks = ", ".join("?" * len(names))
    values = [held[name] for name in names]
    data.execute("INSERT INTO %s (%s) VALUES (%s)" % (table, ", ".join(names), marks), values)
info = said["info"]
put("session", **info | {{"project_id": info["projectID"], "time_created": info["time"]["created"],
    "time_updated": info["time"]["updated"], "directory": os.getcwd()}})
of = {{"session_id": info["id"]}}
for message in said["messages"]:
    put("message", id=message["info"].pop("id"), data=json.dumps(message["info"]), **of)
    for part in message["parts"]:
        up = part.pop("messageID")
        put("part", id=part.pop("id"), message_id=up, data=json.dumps(part), **of)
data.commit()
"""
COLUMNS = {
    "session": [
        *"project_id workspace_id parent_id slug directory path title version share_url".split(),
        *"summary_additions summary_deletions summary_files metadata cost tokens_input".split(),
        *"tokens_output tokens_reasoning tokens_cache_read tokens_cache_write revert".split(),
        *"permission agent model time_created time_updated time_compacting time_archived".split(),
    ],
    "message": ["session_id", "data"],
    "part": ["session_id", "message_id", "data"],
}


# The same of one that takes in what its old index names, and puts the files aside.
SETTLES = """#!{python}
import json, os, sqlite3
home = os.environ["HOME"] + "/.openclaw/agents/main"
index = home + "/sessions/sessions.json"
os.makedirs(home + "/agent", exist_ok=True)
data = sqlite3.connect(home + "/agent/openclaw-agent.sqlite")
data.execute("CREATE TABLE IF NOT EXISTS session_windows (session_id PRIMARY KEY, created_at)")
columns = "session_id, seq, event_json, event_zstd"
data.execute("CREATE TABLE IF NOT EXISTS transcript_events (" + columns + ")")
for row in json.load(open(index)).values():
    name = row["sessionId"]
    file = home + "/sessions/" + name + ".jsonl"
    data.execute("INSERT INTO session_windows VALUES (?, ?)", (name, row["updatedAt"]))
    for number, line in enumerate(open(file)):
        row = (name, number, line[:-1])
        data.execute("INSERT INTO transcript_events VALUES (?, ?, ?, NULL)", row)
    os.rename(file, file + ".imported")
os.rename(index, index + ".imported")
data.commit()
"""


def installed(home: Path) -> None:
    """Let stand-ins of the agents with databases be there."""
    for name, script in {"opencode": IMPORTS, "openclaw": SETTLES}.items():
        program = home / "node_modules" / ".bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(script.format(python=sys.executable, columns=COLUMNS))
        program.chmod(0o700)


def kept(agent: str, home: Path, body: Any = None) -> listing.Session:
    made = keep(places.agent(agent), body or rich.BODIES[SOURCES[agent]], home, home)
    if made.path.exists():
        os.utime(made.path, (time.time() - 3600,) * 2)
    return made


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_session_moves_and_says_the_same(source: str, target: str, home: Path) -> None:
    installed(home)
    name = kept(source, home).id
    asked = [name, "--from", source, "--to", target, "--cwd", str(home / "work")]
    assert cli.main(["move", *asked]) == 0
    agent = places.agent(target)
    [path] = listing.session_files(agent, os.environ)
    body = rich.RULES[agent.dialect].parse(listing.text(agent, path))
    ir = listing.read(rich.RULES, agent, path).ir
    assert ir["cwd"] == str(home / "work")
    assert ir["id"] == (ID if source != "opencode" else str(uuid.uuid5(uuid.NAMESPACE_URL, name)))
    dialect = SOURCES[source]
    found = rich.found_in(SOURCES[target], rich.messages_of(SOURCES[target], body))
    meant = rich.found_in(dialect, rich.messages_of(dialect, rich.BODIES[dialect]))
    assert found.calls == meant.calls
    assert set(found.answers) == set(rich.IDS)  # the two without a result have one
    assert all("moved to another agent" in str(found.answers[key].value) for key in rich.IDS[5:])
    if agent.database is None:
        assert path.stat().st_mode & 0o077 == 0


def test_nothing_is_written_that_was_not_asked_for(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = kept("claude-code", home)
    before = session.path.read_bytes()
    assert cli.main(["move", ID, "--to", "codex", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "would write" in said and f"codex resume {ID}" in said
    assert "lost: the target has no place for this reasoning" in said
    assert "the folder /home/a is not there" in said and "`codex` is not installed" in said
    assert "2 calls have no result" in said
    assert not (home / ".codex").exists()
    assert cli.main(["move", ID, "--to", "codex"]) == 0
    [path] = listing.session_files(places.agent("codex"), os.environ)
    old = path.read_bytes()
    assert cli.main(["move", ID, "--from", "claude-code", "--to", "codex"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert (path.read_bytes(), session.path.read_bytes()) == (old, before)
    other = "11111111-1111-4111-8111-111111111111"
    asked = [str(session.path), "--to", "codex", "--id", other]
    assert cli.main(["move", *asked]) == 0
    assert len(list(listing.session_files(places.agent("codex"), os.environ))) == 2


def test_a_session_is_read_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept("codex", home)
    seen, read = [], reading.read

    def heard(*given: Any) -> reading.Read:
        seen.append(given[2])
        return read(*given)

    monkeypatch.setattr(reading, "read", heard)
    assert cli.main(["move", ID, "--to", "claude-code"]) == 0
    assert seen == ["session"]


def test_a_session_in_use_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = kept("codex", home)
    os.utime(session.path)
    assert cli.main(["move", ID, "--to", "claude-code", "--dry-run"]) == 0
    assert "it may be in use still" in capsys.readouterr().out


def test_the_list_has_what_lies_here_and_no_secret(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["sessions"]) == 0
    assert capsys.readouterr().out == "No agent keeps a session here.\n"
    key = "sk-proj-abcDEF0123456789abcDEF"
    body = json.loads(json.dumps(rich.BODIES["claude-code"]).replace("What is on?", f"Use {key}"))
    kept("claude-code", home, body)
    kept("codex", home)
    (home / ".codex/sessions/2026/02/21/rollout-x.jsonl").write_text("no\n")
    assert cli.main(["sessions", "--json"]) == 0
    out = capsys.readouterr().out
    assert key not in out
    rows = json.loads(out)
    assert [(row["agent"], row["turns"], row["words"]) for row in rows if not row["wrong"]] == [
        ("claude-code", 2, "Use ***"), ("codex", 2, "What is on?"),
    ] or {row["agent"] for row in rows} == {"claude-code", "codex"}  # fmt: skip
    assert sum(bool(row["wrong"]) for row in rows) == 1
    assert cli.main(["sessions"]) == 0
    assert key not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["nothing", "--to", "codex"], "no session is called `nothing`"),
        ([ID, "--to", "nobody"], "no agent is called `nobody`"),
        ([ID[:4], "--to", "pi"], "--from says whose it is"),
    ],
)
def test_what_cannot_be_is_said(
    asked: list[str], told: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept("claude-code", home)
    if "pi" in asked:
        kept("codex", home)
    assert cli.main(["move", *asked]) == 2
    assert told in capsys.readouterr().err


def test_an_agent_takes_a_file_in_by_itself(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept("codex", home)
    asked = ["move", ID, "--to", "opencode", "--cwd", str(home / "work")]
    assert cli.main([*asked, "--dry-run"]) == 0
    taken = f"opencode import {home}/.local/share/opencode/imports/{ID}.json"
    assert f"would run: cd {home}/work && {taken}" in capsys.readouterr().out
    assert not (home / ".local").exists()
    assert cli.main(asked) == 2
    said = capsys.readouterr()
    assert f"runs: cd {home}/work && {taken}" in said.out
    assert "`opencode` does not run in " in said.err
    installed(home)
    assert cli.main([*asked, "--id", "11111111-1111-4111-8111-111111111111"]) == 0
    assert "opencode --session ses_11111111-" in capsys.readouterr().out
    [session] = [s for s in listing.sessions(rich.RULES, os.environ) if s.agent == "opencode"]
    assert (session.id[:12], session.cwd, session.turns) == ("ses_11111111", f"{home}/work", 2)
    assert cli.main(["move", "ses_1111", "--to", "pi"]) == 0
    (home / "node_modules/.bin/opencode").write_text("#!/bin/sh\necho Missing key >&2; exit 1\n")
    assert cli.main([*asked, "--id", "21111111-1111-4111-8111-111111111111"]) == 2
    said = capsys.readouterr()
    assert "in: Missing key" in said.err
    file = home / ".local/share/opencode/imports/21111111-1111-4111-8111-111111111111.json"
    assert f"removed again: {file}" in said.out and not file.exists()


def test_an_agent_takes_in_what_its_index_names(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(lines.ZSTD, reason="the extra `batch` is not installed")
    kept("codex", home)
    folder = home / ".openclaw/agents/main"
    index = folder / "sessions/sessions.json"
    index.parent.mkdir(parents=True)
    index.write_text("[]")
    asked = ["move", ID, "--from", "codex", "--to", "openclaw", "--cwd", str(home / "work")]
    assert cli.main(asked) == 2
    assert f"`{index}` is no index of sessions" in capsys.readouterr().err
    row = {"sessionId": "s0", "updatedAt": 1}
    index.write_text(json.dumps({f"agent:main:{ID}": row}))
    assert cli.main([*asked, "--dry-run"]) == 2
    assert f"names a session {ID}" in capsys.readouterr().err
    index.write_text(json.dumps({"agent:main:main": row}))
    assert cli.main(asked) == 2  # it is not installed
    assert f"openclaw chat --session agent:main:{ID}" not in capsys.readouterr().out
    assert json.loads(index.read_text()) == {"agent:main:main": row}  # as before
    assert not list(index.parent.glob("*.jsonl"))
    [source] = [s for s in listing.sessions(rich.RULES, os.environ) if s.agent == "codex"]
    [(_, text)] = move.plan(rich.RULES, source, "openclaw", os.environ).beside
    rows = json.loads(text)
    assert rows["agent:main:main"] == row
    assert rows[f"agent:main:{ID}"]["sessionId"] == ID
    assert time.time() * 1000 - rows[f"agent:main:{ID}"]["updatedAt"] < 60_000
    (index.parent / "s0.jsonl").write_text('{"type":"session","version":3,"id":"s0"}\n')
    installed(home)
    assert cli.main([*asked, "--id", "11111111-1111-4111-8111-111111111111"]) == 0
    assert "openclaw chat --session agent:main:11111111-" in capsys.readouterr().out
    assert cli.main([*asked, "--id", "11111111-1111-4111-8111-111111111111"]) == 2  # taken in
    assert "is there already" in capsys.readouterr().err
    base = sqlite3.connect(folder / "agent/openclaw-agent.sqlite")
    (text,) = base.execute("SELECT event_json FROM transcript_events WHERE seq = 2").fetchone()
    packed = lines.compressed(text.encode(), "x.zst")
    base.execute(
        "UPDATE transcript_events SET event_json = NULL, event_zstd = ? WHERE seq = 2", [packed]
    )
    base.commit()
    assert cli.main(["move", "11111111", "--to", "pi"]) == 0
    [path] = listing.session_files(places.agent("pi"), os.environ)
    assert text.partition('"message":')[2] in path.read_text("utf-8")


def test_ids_sort_as_they_stand_and_are_of_one_session(home: Path) -> None:
    bodies = []
    for name in (ID, "11111111-1111-4111-8111-111111111111"):
        ready = move.plan(rich.RULES, kept("codex", home), "opencode", os.environ, name=name)
        bodies.append(json.loads(ready.text))
    ids = [[m["info"]["id"] for m in body["messages"]] for body in bodies]
    assert all(one == sorted(one) and len({*one}) == len(one) for one in ids)
    assert not {*ids[0]} & {*ids[1]}
    for body in bodies:
        user = ""
        for message in body["messages"]:
            info = message["info"]
            assert info["sessionID"] == body["info"]["id"]
            assert all(p["messageID"] == info["id"] for p in message["parts"])
            assert info.get("parentID", user) == user
            user = info["id"] if info["role"] == "user" else user


def test_folders_have_the_names_that_the_agents_give_them(tmp_path: Path) -> None:
    claude, pi, gemini = (places.agent(name) for name in ("claude-code", "pi", "gemini-cli"))
    assert claude.folder_of("/home/a_b.c d/é@x") == "-home-a-b-c-d---x"
    assert claude.folder_of("/\N{ROCKET}") == "---"
    assert pi.folder_of("/home/a") == "home-a"
    assert gemini.owned(tmp_path, "/home/My App")[0] == "my-app"
    (tmp_path / "tmp/my-app").mkdir(parents=True)
    (tmp_path / "tmp/my-app/.project_root").write_text("/else/my app")
    assert gemini.owned(tmp_path, "/home/My App")[0] == "my-app-1"
    assert gemini.owned(tmp_path, "/else/my app") == ("my-app", None)


def test_each_command_of_the_page_runs(home: Path) -> None:
    kept("claude-code", home)
    for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.S):
        for line in block.splitlines():
            name, *words = line.split()
            assert name == "wireglot" and cli.main(words) == 0, line
    assert len(list(listing.session_files(places.agent("codex"), os.environ))) == 1


def test_a_move_says_what_it_did_as_values(home: Path) -> None:
    ready = move.plan(rich.RULES, kept("pi", home), "claude-code", os.environ)
    assert ready.command == ["claude", "--resume", ID]
    assert ready.path.parent.name == "-home-a"
    assert {note.code for note in ready.notes} >= {"no-place", "own-field"}


@pytest.mark.parametrize("source", [name for name in AGENTS if name != "opencode"])
def test_a_folder_that_a_file_beside_names_is_not_lost(source: str, home: Path) -> None:
    installed(home)
    session = kept(source, home)
    ready = move.plan(rich.RULES, session, "gemini-cli", os.environ, name=ID.replace("5f", "6f"))
    assert not any("`cwd`" in note.message for note in ready.notes)
    move.write(ready)
    assert listing.session_of(rich.RULES, places.agent("gemini-cli"), ready.path).cwd == ready.cwd


# -- what is wrong where it lies ------------------------------------------------------------------


def test_a_database_that_is_none_hides_nothing_else(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept("codex", home)
    base = home / ".local/share/opencode/opencode.db"
    base.parent.mkdir(parents=True)
    for wrong in (b"", b"no database " * 99):
        base.write_bytes(wrong)
        assert cli.main(["sessions", "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert [(row["agent"], bool(row["wrong"])) for row in rows] == [
            ("codex", False), ("opencode", True),
        ]  # fmt: skip
        assert f"`{base}` cannot be read: " in rows[1]["wrong"]
        for target in ("pi", "opencode"):
            assert cli.main(["move", ID, "--to", target, "--dry-run"]) == 0
        capsys.readouterr()
    assert cli.main(["move", "opencode", "--to", "pi"]) == 2
    assert f"`{base}` cannot be read: file is not a database" in capsys.readouterr().err


def test_folders_that_are_said_from_here_are_known_everywhere(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept("codex", home)
    monkeypatch.chdir(home)
    monkeypatch.setenv("CODEX_HOME", ".codex")
    monkeypatch.setenv("OPENCLAW_STATE_DIR", "claw")
    base = home / "claw/agents/main/agent/openclaw-agent.sqlite"
    base.parent.mkdir(parents=True)
    sqlite3.connect(base).execute("CREATE TABLE session_windows (session_id, created_at)")
    assert cli.main(["sessions"]) == 0
    assert cli.main(["move", ID, "--to", "claude-code", "--cwd", "work"]) == 0
    assert f"resume: cd {home}/work && claude" in capsys.readouterr().out
    [path] = listing.session_files(places.agent("claude-code"), os.environ)
    assert listing.session_of(rich.RULES, places.agent("claude-code"), path).cwd == f"{home}/work"


def test_whose_a_folder_is_may_be_unreadable(home: Path) -> None:
    kept("codex", home)
    session = kept("gemini-cli", home)
    owner = session.path.parent.parent / ".project_root"
    owner.write_bytes(b"\xff")
    assert session.cwd == f"{home}/work"
    assert listing.session_of(rich.RULES, places.agent("gemini-cli"), session.path).cwd == ""
    asked = ["--from", "codex", "--to", "gemini-cli", "--cwd", str(home / "work")]
    assert cli.main(["move", ID, *asked]) == 0
    assert owner.read_bytes() == b"\xff"


@pytest.mark.parametrize("fault", ["index", "replace", "text"])
def test_a_move_that_fails_halfway_takes_back_what_it_wrote(
    fault: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(home)
    index = home / ".openclaw/agents/main/sessions/sessions.json"
    index.parent.mkdir(parents=True)
    index.write_text("{}")
    ready = move.plan(rich.RULES, kept("codex", home), "openclaw", os.environ)
    if fault == "index":
        index.write_bytes(b"\xff")  # another has written it since
    elif fault == "replace":
        monkeypatch.setattr(os, "replace", failing)
    else:
        ready = ready._replace(text="\ud800")  # a half of a sign has no place in a file
    before = index.read_bytes()
    with pytest.raises(UsageError, match="cannot be written"):
        move.write(ready)
    assert [file.name for file in index.parent.iterdir()] == ["sessions.json"]
    assert index.read_bytes() == before


def failing(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_what_cannot_be_written_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept("codex", home)
    (home / ".claude").write_text("no folder")
    assert cli.main(["move", ID, "--to", "claude-code"]) == 2
    said = capsys.readouterr()
    assert f"wireglot: `{home}/.claude/projects/-home-a/{ID}.jsonl` cannot be written" in said.err
    assert "note: the folder /home/a is not there" in said.out
    wrong = {"pi": "be written", "opencode": "does not run in", "claude-code": "is too long"}
    for target, told in wrong.items():
        asked = ["move", ID, "--to", target, "--cwd"]
        assert cli.main([*asked, "/" + "x" * 300]) == 2
        assert told in capsys.readouterr().err
        assert cli.main([*asked, "/a\0b"]) == 2
        assert "no folder is called '/a\\x00b'" in capsys.readouterr().err


def test_a_session_is_found_by_each_of_its_names(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = kept("gemini-cli", home)
    assert cli.main(["move", ID, "--to", "codex"]) == 0
    assert cli.main(["move", ID, "--to", "pi"]) == 2  # the names of its files are not the same
    assert f"{ID} of codex ({home}/.codex" in (said := capsys.readouterr().err)
    assert f"{ID} of gemini-cli ({session.path})" in said
    other = "77777777-0000-5000-8000-000000000001"
    session = kept("claude-code", home)
    copied = session.path.with_name(f"{other}.jsonl")
    copied.write_bytes(session.path.read_bytes())
    for name, path in ((ID, session.path), (other, copied)):
        assert cli.main(["move", name, "--from", "claude-code", "--to", "pi", "--dry-run"]) == 0
        assert f"claude-code to pi: {path}" in capsys.readouterr().out


def test_a_name_is_taken_whenever_its_session_began(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for agent in ("codex", "gemini-cli"):
        made = kept(agent, home)
        later = made.path.with_name(made.path.name.replace("-37", "-35"))
        made.path.rename(later)
        asked = ["--from", agent, "--to", "pi", "--cwd", str(home / "work")]
        assert cli.main(["move", str(later), *asked, "--dry-run"]) == 0
        assert cli.main(["move", str(later), *asked[:3], agent, *asked[4:]]) == 2
        assert f"{later} is there already" in capsys.readouterr().err
        assert list(later.parent.iterdir()) == [later]


@pytest.mark.parametrize("name", ["", "my session", "../../x", ID.upper().replace("5F", "AF")])
def test_a_name_that_an_agent_does_not_take_is_said(
    name: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept("codex", home)
    assert cli.main(["move", ID, "--to", "pi", "--id", name]) == 2
    assert f"`{name}` is no UUID" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (lambda _: b"", "is empty"),
        (lambda _: b"\n \n", "is empty"),
        (lambda text: text.replace(b"2026-02-21T", b"yesterday "), "which is no time"),
        (lambda text: text + b"\xff", "can't decode byte 0xff in position"),
    ],
)
@pytest.mark.parametrize("agent", AGENTS[:4])
def test_a_file_that_is_wrong_is_said(
    agent: str, changed: Any, told: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = kept(agent, home)
    session.path.write_bytes(changed(session.path.read_bytes()))
    assert cli.main(["sessions"]) == 0
    target = "codex" if agent != "codex" else "pi"
    asked = ["--from", agent, "--to", target, "--cwd", str(home / "work")]
    assert cli.main(["move", str(session.path), *asked]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("agent", AGENTS[:4])
def test_a_mark_of_the_order_of_bytes_is_no_line(agent: str, home: Path) -> None:
    session = kept(agent, home)
    session.path.write_bytes(b"\xef\xbb\xbf" + session.path.read_bytes())
    assert listing.session_of(rich.RULES, places.agent(agent), session.path)[:-1] == session[:-1]


def test_a_database_that_changed_in_its_log_is_in_use(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(home)
    session = kept("opencode", home)
    base = session.path.parent
    os.utime(base, (time.time() - 3600,) * 2)
    asked = ["move", session.id, "--to", "pi", "--dry-run"]
    assert cli.main(asked) == 0
    assert "in use" not in capsys.readouterr().out
    base.with_name(f"{base.name}-wal").touch()
    assert cli.main(asked) == 0
    assert "in use" in capsys.readouterr().out


def test_calls_of_one_id_have_a_result_each() -> None:
    call = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f"}]}
    part = {"type": "tool_result", "tool_call_id": "c", "name": "f", "kind": "text", "value": "R"}
    result = {"role": "tool", "parts": [part]}
    for messages, many in (
        ([call, result], 0),
        ([call, result, call, result], 0),
        ([call, result, call], 1),
        ([result, call], 1),
    ):
        found, closed = move.close_calls(json.loads(json.dumps(messages)))
        assert closed == many
        assert found[: len(messages)] == messages
        assert [one["parts"][0]["kind"] for one in found[len(messages) :]] == ["error"] * many


def test_a_result_that_a_file_says_again_moves_once(home: Path) -> None:
    said = {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "A"}}}
    when = "2026-11-28T12:13:00.000Z"
    call = {"id": "c1", "name": "f", "args": {}, "status": "success", "timestamp": when}
    body = [
        {"sessionId": ID, "projectHash": "h", "startTime": when, "lastUpdated": when},
        {"id": "m1", "timestamp": when, "type": "user", "content": [{"text": "Hi"}]},
        {
            "id": "m2",
            "timestamp": when,
            "type": "gemini",
            "content": "",
            "toolCalls": [{**call, "result": [said]}],
        },
        {"id": "m3", "timestamp": when, "type": "user", "content": [said]},
        {"id": "m4", "timestamp": when, "type": "gemini", "content": "Done."},
    ]
    session = keep(places.agent("gemini-cli"), body, home)
    ready = move.plan(rich.RULES, session, "codex", os.environ, cwd=str(home / "work"))
    assert ready.text.count('"function_call_output"') == 1
    assert "unpaired" not in {note.code for note in ready.notes}
