"""The agents: how each is configured, and how it is run without a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .talk import Json

# What `make agents` installs; Node itself is among them.
PACKAGES = {
    "node": "22",
    "@anthropic-ai/claude-code": "2.1.330",
    "@openai/codex": "0.169.0",
    "@google/gemini-cli": "0.61.0",
    "@qwen-code/qwen-code": "0.24.4",
    "opencode-ai": "1.18.33",
    "@mariozechner/pi-coding-agent": "0.73.1",
}
KEPT = ("LANG", "LC_ALL", "SSL_CERT_FILE", "TERM", "TMPDIR")  # of the environment
Words = list[str]


class Program(NamedTuple):
    """An agent: what it writes into a fresh home, its environment, and its command."""

    client: str  # the dialect that it speaks
    settings: Callable[[str], Mapping[str, Json]]  # files of its home, by the base address
    env: Callable[[str, Path], Mapping[str, str]]
    command: Callable[[str], Words]  # for a prompt
    again: Callable[[str], Words]  # the same, to go on with the last session
    sends: bool = False  # whether it has a tool for sub-agents that run at once


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


# -- Claude Code -----------------------------------------------------------------------------------


def _claude(prompt: str) -> Words:
    tools = "Bash Write Edit Read Agent Task"
    return [
        *("claude", "-p", prompt, "--output-format", "json", "--permission-mode", "acceptEdits"),
        *("--allowedTools", tools, "--model", "claude-opus-4-8"),
    ]


CLAUDE = Program(
    "anthropic",
    lambda base: {},
    lambda base, home: {
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_AUTH_TOKEN": "x",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    },
    _claude,
    lambda prompt: [*_claude(prompt), "--continue"],
    sends=True,
)


# -- Codex -----------------------------------------------------------------------------------------


def _codex(model: str) -> Program:
    flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json"]

    def settings(base: str) -> Mapping[str, Json]:
        lines = [
            f'model = "{model}"',
            'model_provider = "mock"',
            "check_for_update_on_startup = false",
            "[analytics]",
            "enabled = false",
            "[model_providers.mock]",
            'name = "mock"',
            f'base_url = "{base}/v1"',
            'wire_api = "responses"',
            'env_key = "MOCK_KEY"',
            "request_max_retries = 4",
            "stream_max_retries = 4",
        ]
        return {"codex/config.toml": "\n".join(lines) + "\n"}

    return Program(
        "openai-responses",
        settings,
        lambda base, home: {"CODEX_HOME": f"{home}/codex", "MOCK_KEY": "x"},
        lambda prompt: ["codex", "exec", *flags, prompt],
        lambda prompt: ["codex", "exec", *flags, "resume", "--last", prompt],
    )


# -- Gemini CLI, qwen-code -------------------------------------------------------------------------


def _gemini(prompt: str) -> Words:
    model = ["-m", "gemini-3-pro-preview", "--output-format", "json"]
    return ["gemini", "-p", prompt, "--yolo", "--skip-trust", *model]


GEMINI = Program(
    "gemini",
    lambda base: {
        ".gemini/settings.json": {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {
                "disableAutoUpdate": True,
                "disableUpdateNag": True,
                "enableAutoUpdate": False,
            },
            "telemetry": {"enabled": False},
        }
    },
    lambda base, home: {
        "GEMINI_API_KEY": "x",
        "GOOGLE_GEMINI_BASE_URL": base,
        "GEMINI_TELEMETRY_ENABLED": "false",
    },
    _gemini,
    lambda prompt: [*_gemini(prompt), "--resume", "latest"],
)


def _qwen(prompt: str) -> Words:
    return ["qwen", "-p", prompt, "--yolo", "--auth-type", "openai", "--output-format", "json"]


QWEN = Program(
    "openai-chat",
    lambda base: {
        ".qwen/settings.json": {
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
            "telemetry": {"enabled": False},
            "memory": {
                "enableManagedAutoMemory": False,
                "enableManagedAutoDream": False,
                "enableAutoSkill": False,
            },
        }
    },
    lambda base, home: {
        "OPENAI_API_KEY": "x",
        "OPENAI_BASE_URL": f"{base}/v1",
        "OPENAI_MODEL": "qwen3-vl-plus",
        "QWEN_CODE_DISABLE_CRON": "1",
    },
    _qwen,
    lambda prompt: [*_qwen(prompt), "--continue"],
    sends=True,
)


# -- opencode, pi: one program, four wires ---------------------------------------------------------


def _opencode(client: str, package: str, root: str) -> Program:
    model = {
        "name": "m1",
        "limit": {"context": 200_000, "output": 8000},
        "tool_call": True,
        "reasoning": True,
        "attachment": True,
        "modalities": {"input": ["text", "image"], "output": ["text"]},
    }
    allowed = dict.fromkeys(("edit", "bash", "webfetch", "external_directory"), "allow")

    def settings(base: str) -> Mapping[str, Json]:
        options = {"baseURL": base + root, "apiKey": "x"}
        mock = {"npm": package, "name": "mock", "options": options, "models": {"m1": model}}
        config = {"provider": {"mock": mock}, "permission": allowed, "autoupdate": False}
        return {".config/opencode/opencode.json": {**config, "share": "disabled"}}

    def command(prompt: str) -> Words:
        return ["opencode", "run", "-m", "mock/m1", "--format", "json", prompt]

    return Program(
        client,
        settings,
        lambda base, home: {
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        },
        command,
        lambda prompt: [*command(prompt), "--continue"],
        sends=True,
    )


def _pi(client: str, api: str, root: str) -> Program:
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    size = {"contextWindow": 200_000, "maxTokens": 8000}
    model = {"id": "m1", "name": "m1", "reasoning": True, "input": ["text", "image"]}

    def settings(base: str) -> Mapping[str, Json]:
        known = {"baseUrl": base + root, "apiKey": "x", "api": api}
        mock = {**known, "models": [{**model, **size, "cost": cost}]}
        return {".pi/agent/models.json": {"providers": {"mock": mock}}}

    def command(prompt: str) -> Words:
        model = ["--provider", "mock", "--model", "m1", "--thinking", "medium"]
        return ["pi", "-p", "--mode", "json", *model, prompt]

    return Program(
        client,
        settings,
        lambda base, home: {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"},
        command,
        lambda prompt: [*command(prompt)[:1], "--continue", *command(prompt)[1:]],
    )


PROGRAMS: dict[str, Program] = {
    "claude": CLAUDE,
    "codex": _codex("gpt-5.4"),
    "codex-freeform": _codex("gpt-5.5"),
    "codex-namespace": _codex("gpt-6-sol"),
    "gemini": GEMINI,
    "qwen": QWEN,
    "opencode-chat": _opencode("openai-chat", "@ai-sdk/openai-compatible", "/v1"),
    "opencode-responses": _opencode("openai-responses", "@ai-sdk/openai", "/v1"),
    "opencode-anthropic": _opencode("anthropic", "@ai-sdk/anthropic", "/v1"),
    "opencode-gemini": _opencode("gemini", "@ai-sdk/google", "/v1beta"),
    "pi-chat": _pi("openai-chat", "openai-completions", "/v1"),
    "pi-responses": _pi("openai-responses", "openai-responses", "/v1"),
    "pi-anthropic": _pi("anthropic", "anthropic-messages", ""),
    "pi-gemini": _pi("gemini", "google-generative-ai", "/v1beta"),
}


def furnish(program: Program, base: str, home: Path) -> None:
    """Write the settings of an agent into its home."""
    for name, what in program.settings(base).items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(what if isinstance(what, str) else json.dumps(what), encoding="utf-8")
