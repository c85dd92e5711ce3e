"""`wireglot run`: an agent before a server, played by a program that says what it was given."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

import wireglot
from wireglot import cli
from wireglot.language.source import parse
from wireglot.serve import config
from wireglot.serve.run import MODEL, agents_of, packaged, run_program

from . import serveforms

FILE = Path(__file__).parent.parent / "rules" / "serve" / "agents.yaml"
KNOWN = FILE.read_text("utf-8")
Json = Any

# What stands for an agent: it writes its words, its environment and the files that both name.
TELLS = """\
import json, os, sys
words = [*sys.argv[1:], *os.environ.values()]
files = {word: open(word).read() for word in words if word.endswith((".json", ".js"))}
home = os.environ.get("GEMINI_CLI_HOME")
if home:
    files["settings"] = open(home + "/.gemini/settings.json").read()
json.dump([sys.argv[1:], dict(os.environ), files], open("told.json", "w"))
"""
ASKS = """\
import json, os, sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen
url, key = os.environ["ANTHROPIC_BASE_URL"], os.environ["ANTHROPIC_AUTH_TOKEN"]
body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": sys.argv[1]}]}
def asked(key):
    head = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
    with urlopen(Request(url + "/v1/messages", json.dumps(body).encode(), head)) as got:
        return json.load(got)["content"][0]["text"]
try:
    asked("another")
except HTTPError as error:
    print(error.code)
print(asked(key))
sys.exit(7)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    (tmp_path / "bin").mkdir()
    return tmp_path


def played(place: Path, name: str, text: str) -> None:
    """Put a program in the place of an agent."""
    file = place / "bin" / name
    file.write_text(f"#!{sys.executable}\n{text}", "utf-8")
    file.chmod(0o755)


def run(*said: str) -> int:
    return cli.main(["run", *said])


@pytest.mark.parametrize("name", packaged())
def test_each_agent_is_led_to_the_server(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable in ("ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "MINE", "OTHERS"):
        monkeypatch.setenv(variable, "provider-key" if variable == "MINE" else "another")
    monkeypatch.setenv("NO_PROXY", "example.com")
    played(place, name, TELLS)
    more = ("--url", "http://127.0.0.1:9", "--key-env", "MINE", "--model", "m-7")
    assert run(name, "--to", "openai-chat", *more, "--", "-p", "Hi", "--to", "x") == 0
    said, env, files = json.loads((place / "told.json").read_text("utf-8"))
    agent, whole = packaged()[name], json.dumps([said, env, files])
    assert said[len(agent.arguments) :] == ["-p", "Hi", "--to", "x"]
    assert "http://127.0.0.1:" in whole and "$" not in json.dumps([said, files])
    assert ("m-7" in whole) == (MODEL in str(agent))
    assert "provider-key" not in whole and env["OTHERS"] == "another"
    assert env["NO_PROXY"] == "example.com,127.0.0.1"
    assert not [key for key, value in agent.env.items() if value is None and key in env]
    assert not any(Path(file).exists() for file in files)  # they end with the run


def test_an_agent_asks_with_its_key_and_its_status_is_ours(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    played(place, "claude", ASKS)
    assert run("claude", "--to", "demo", "--log", "log", "--", "Hello?") == 7
    out = capfd.readouterr()
    assert out.out.splitlines()[0] == "401" and "demo of wireglot" in out.out and not out.err
    log = (place / "log").read_text("utf-8")
    assert "anthropic -> demo 200" in log and log.count("\n") == 2


def test_a_file_says_what_stands_behind_an_agent(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    played(place, "claude", ASKS)
    (place / "serve.yaml").write_text("serve: 1\nupstreams: {d: {dialect: demo}}\n", "utf-8")
    assert run("claude", "--config", "serve.yaml", "--", "Hello?") == 7
    assert "demo of wireglot" in capfd.readouterr().out


# A signal may come while something is printed: `print` within `print` is an error.
SLEEPS = """\
import os, signal, sys, time
def end(number, frame):
    os.write(1, b"ended %d\\n" % number)
    sys.exit(3)
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, lambda *_: os.write(1, b"stays\\n"))
os.write(1, b"sleeps\\n")
while True:
    time.sleep(0.1)
"""


def test_signals_are_the_agents(place: Path) -> None:
    played(place, "claude", SLEEPS)
    said = [sys.executable, "-m", "wireglot", "run", "claude", "--to", "demo"]
    with subprocess.Popen(said, stdout=subprocess.PIPE, text=True, start_new_session=True) as one:
        assert one.stdout is not None and one.stdout.readline() == "sleeps\n"
        os.killpg(one.pid, signal.SIGINT)  # as a terminal does
        assert one.stdout.readline() == "stays\n"
        time.sleep(0.2)
        assert one.poll() is None
        one.send_signal(signal.SIGTERM)
        assert one.stdout.readline() == "ended 15\n" and one.wait(20) == 3


def test_what_signals_before_the_agent_is_there_is_handed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = subprocess.Popen

    def late(words: list[str], **more: Any) -> Any:
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
        return real(words, **more)

    monkeypatch.setattr(subprocess, "Popen", late)
    sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert run_program(sleeps, dict(os.environ)) == 128 + signal.SIGTERM


def test_an_agent_that_is_killed_is_told_as_a_shell_tells_it(place: Path) -> None:
    played(place, "claude", "import os\nos.kill(os.getpid(), 9)\n")
    assert run("claude", "--to", "demo") == 137


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "claude --to demo",
            "`claude` is not installed: `npm install -g @anthropic-ai/claude-code`",
        ),
        ("cloud --to demo", "`cloud` is no agent; did you mean `claude`?"),
        ("pi", "`--to` says which provider"),
        ("pi --to openai-chat", "`pi` wants the name of a model: `--model` says it"),
        ("pi --to demo --log /nowhere/log", "`/nowhere/log` cannot be written"),
    ],
)
def test_what_cannot_be_run_is_said(
    place: Path, capsys: pytest.CaptureFixture[str], said: str, told: str
) -> None:
    played(place, "pi", TELLS)
    assert run(*said.split()) == 2
    assert told in capsys.readouterr().err


def test_the_file_of_agents_has_its_form() -> None:
    said = config.read(serveforms.AGENTS, KNOWN, "agents.yaml").plain()
    assert agents_of(said) == packaged()
    assert parse(KNOWN, "agents.yaml").plain() == yaml.safe_load(KNOWN)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("agents: 1", "agents: 2", "a file of agents begins with `agents: 1`"),
        ("install: npm install -g @openai/codex", "install: 3", "`install` is a text"),
        ("WIREGLOT_KEY: $key}", "1KEY: $key}", "`1KEY` is the name of an environment variable"),
        ("WIREGLOT_KEY: $key}", "KEY: 1}", "`KEY` is a text, or null"),
        ("arguments: [--auth-type", "words: [--auth-type", "`words` is no word of a program"),
        ("provider.js: |", "../provider.js: |", "`../provider.js` is no name of a file"),
    ],
)
def test_what_is_wrong_in_a_file_of_agents_is_said(old: str, new: str, said: str) -> None:
    assert old in KNOWN
    with pytest.raises(wireglot.RuleError, match=r"agents\.yaml:\d+:\d+") as caught:
        config.read(serveforms.AGENTS, KNOWN.replace(old, new, 1), "agents.yaml")
    assert said in str(caught.value)
