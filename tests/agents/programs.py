"""The agents: started as `wireglot run` starts them, and run without a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wireglot.serve.run import KEY, MODEL, URL, Agent, packaged

from .talk import Json

# What `make agents` installs; Node itself is among them.
PACKAGES = {
    "node": "22",
    "@anthropic-ai/claude-code": "2.1.332",
    "@openai/codex": "0.171.0",
    "@google/gemini-cli": "0.61.0",
    "@qwen-code/qwen-code": "0.24.4",
    "opencode-ai": "1.18.33",
    "@mariozechner/pi-coding-agent": "0.73.1",
}
KEPT = ("LANG", "LC_ALL", "SSL_CERT_FILE", "TERM", "TMPDIR")  # of the environment
Words = list[str]


class Program(NamedTuple):
    """An agent as `wireglot run` starts it, and what it is given for a run without a terminal."""

    name: str
    command: Callable[[str], Words]  # for a prompt
    again: Callable[[str], Words]  # the same, to go on with the last session
    agent: Agent
    model: str = "m1"
    sends: bool = False  # whether it has a tool for sub-agents that run at once
    env: Mapping[str, str] = {}
    settings: Mapping[str, Json] = {}  # files of its home


def install(place: Path) -> None:
    """Install what is not there yet, by npm."""
    wanted = " ".join(f"{name}@{version}" for name, version in PACKAGES.items())
    stamp = place / ".installed"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    place.mkdir(parents=True, exist_ok=True)
    (place / "package.json").write_text('{"private": true}', encoding="utf-8")
    quietly = ("--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run(["npm", "install", *quietly, *wanted.split()], cwd=place, check=True)
    stamp.write_text(wanted, encoding="utf-8")


class Ran(NamedTuple):
    code: int | None  # None where time was up
    output: str
    errors: str


def run(words: Sequence[str], env: Mapping[str, str], where: Path, seconds: float) -> Ran:
    """Run a command in a session of its own, and end all that it leaves running."""
    started = subprocess.Popen(
        words,
        env=dict(env),
        cwd=where,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    code: int | None
    try:
        output, errors = started.communicate(timeout=seconds)
        code = started.returncode
    except subprocess.TimeoutExpired:
        _end(started.pid)
        output, errors = started.communicate()
        code = None
    finally:
        _end(started.pid)
    return Ran(code, output.decode(errors="replace"), errors.decode(errors="replace"))


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def environment(place: Path, home: Path) -> dict[str, str]:
    """Return what all agents get: a home of their own, and the Node that was installed."""
    kept = {key: os.environ[key] for key in KEPT if key in os.environ}
    path = f"{place}/node_modules/.bin:/usr/local/bin:/usr/bin:/bin"
    return {**kept, "PATH": path, "HOME": str(home), "CI": "1", "NO_PROXY": "127.0.0.1"}


def prepared(
    program: Program, base: str, home: Path, prompt: str, fresh: bool
) -> tuple[Words, dict[str, str]]:
    """Write the files of an agent into its home; return its command and environment."""
    for name, what in program.settings.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(what), encoding="utf-8")
    held = {URL: base, KEY: "x", MODEL: program.model}
    ready = program.agent.ready(held, home / "agent")
    words = [program.name, *ready.arguments, *(program.command if fresh else program.again)(prompt)]
    env = {name: text for name, text in ready.env.items() if text is not None}
    return words, {**env, **program.env}


def _program(name: str, agent: Agent | None = None, **more: Any) -> Program:
    command = more.pop("command")
    again = more.pop("again", lambda prompt: [*command(prompt), "--continue"])
    return Program(name, command, again, agent or packaged()[name], **more)


def _claude(prompt: str) -> Words:
    tools = "Bash Write Edit Read Agent Task"
    return [
        *("-p", prompt, "--output-format", "json", "--permission-mode", "acceptEdits"),
        *("--allowedTools", tools, "--model", "claude-opus-4-8"),
    ]


def _codex(model: str) -> Program:
    flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json"]
    begin = ["-m", model, "exec", *flags]
    return _program(
        "codex",
        command=lambda prompt: [*begin, prompt],
        again=lambda prompt: [*begin, "resume", "--last", prompt],
    )


def _gemini(prompt: str) -> Words:
    return ["-p", prompt, "--yolo", "--skip-trust", "--output-format", "json"]


def _qwen(prompt: str) -> Words:
    return ["-p", prompt, "--yolo", "--output-format", "json"]


QWEN_SETTINGS = {
    "memory": {
        "enableManagedAutoMemory": False,
        "enableManagedAutoDream": False,
        "enableAutoSkill": False,
    }
}


# -- opencode, pi: one program, four wires ---------------------------------------------------------


def _spoken(name: str, old: Mapping[str, str]) -> Agent:
    """Return an agent that speaks another wire: what stands for the old one is written anew."""
    agent = packaged()[name]
    text = json.dumps(agent.files)
    for one, new in old.items():
        assert one in text
        text = text.replace(one, new)
    return agent._replace(files=json.loads(text))


def _opencode(package: str, root: str) -> Program:
    allowed = dict.fromkeys(("edit", "bash", "webfetch", "external_directory"), "allow")
    return _program(
        "opencode",
        _spoken("opencode", {"@ai-sdk/openai-compatible": package, "$url/v1": f"$url{root}"}),
        command=lambda prompt: ["run", "--format", "json", prompt],
        sends=True,
        env={"OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"},
        settings={".config/opencode/opencode.json": {"permission": allowed}},
    )


def _pi(api: str, root: str) -> Program:
    flags = ["--mode", "json", "--thinking", "medium"]
    return _program(
        "pi",
        _spoken("pi", {"openai-completions": api, "$url/v1": f"$url{root}"}),
        command=lambda prompt: ["-p", *flags, prompt],
        again=lambda prompt: ["-p", "--continue", *flags, prompt],
        env={"PI_OFFLINE": "1"},
    )


PROGRAMS: dict[str, Program] = {
    "claude": _program("claude", command=_claude, sends=True),
    "codex": _codex("gpt-5.4"),
    "codex-freeform": _codex("gpt-5.5"),
    "codex-namespace": _codex("gpt-6-sol"),
    "gemini": _program(
        "gemini",
        command=_gemini,
        again=lambda prompt: [*_gemini(prompt), "--resume", "latest"],
    ),
    "qwen": _program(
        "qwen",
        command=_qwen,
        model="qwen3-vl-plus",
        sends=True,
        env={"QWEN_CODE_DISABLE_CRON": "1"},
        settings={".qwen/settings.json": QWEN_SETTINGS},
    ),
    "opencode-chat": _opencode("@ai-sdk/openai-compatible", "/v1"),
    "opencode-responses": _opencode("@ai-sdk/openai", "/v1"),
    "opencode-anthropic": _opencode("@ai-sdk/anthropic", "/v1"),
    "opencode-gemini": _opencode("@ai-sdk/google", "/v1beta"),
    "pi-chat": _pi("openai-completions", "/v1"),
    "pi-responses": _pi("openai-responses", "/v1"),
    "pi-anthropic": _pi("anthropic-messages", ""),
    "pi-gemini": _pi("google-generative-ai", "/v1beta"),
}
