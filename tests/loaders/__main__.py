"""Let the programs load the sessions that we write, and hold what they make of them against these.

    python -m tests.loaders FOLDER

Installs the Gemini CLI's core package and OpenClaw's agent library (the pi packages) into FOLDER
with npm, half a gigabyte; so neither the test suite nor CI does this. The sessions of
`cases/rich.yaml` and `cases/sessions` are written in each format. The Gemini CLI turns its files
into the history that it would send; there each response must name its call. The agent loads its
files and is asked one more question with each kind of provider; what it would send must hold the
same calls, each with its result. Exit code 1: something differs.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .. import test_rich_session as rich
from .. import test_sessions as sessions
from ..oracles import wire

Json = Any
HERE = Path(__file__).parent
SCRIPTS = {"gemini-cli": "gemini-cli.mjs", "openclaw": "openclaw.mjs"}
DIALECTS = {
    "openai-completions": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "google-generative-ai": "gemini",
}
UNANSWERED = "No result provided"  # what the agent says where a call has no result


def written(folder: Path) -> dict[str, dict[Path, list[Json]]]:
    """Write each session in the formats of other programs; return the messages of each file."""
    found: dict[str, dict[Path, list[Json]]] = {name: {} for name in SCRIPTS}
    sources = {name: (name, rich.BODIES[name]) for name in rich.SESSIONS}
    sources |= {name: (sessions.DIALECT[name], sessions.body(name)) for name in sessions.FILES}
    for (name, (source, body)), target in itertools.product(sources.items(), SCRIPTS):
        if source != target:  # at home a file comes back as it was
            made = rich.RULES.convert(body, source, target, unit="session").body
            path = folder / f"{name}-as-{target}.jsonl"
            path.write_text(rich.RULES[target].text(made), "utf-8")
            found[target][path] = rich.messages_of(target, made)
    return found


def loaded(script: str, folder: Path, paths: Iterable[Path]) -> dict[str, Json]:
    """Run one of the scripts on some files."""
    shutil.copy(HERE / script, folder)
    command = ["node", script, *map(str, paths)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return dict(json.loads(run.stdout))


def faults_of_cli(messages: list[Json], made: Json) -> Iterator[str]:
    """Yield what differs between a file and the history that the Gemini CLI makes of it."""
    if made is None:
        yield "the file is not loaded"
        return
    meant = rich.found_in("gemini-cli", messages)
    found = rich.found_in("gemini-cli-checkpoint", made["history"])
    for what in ("calls", "texts", "answers"):
        if getattr(meant, what) != getattr(found, what):
            yield f"{what}: {getattr(meant, what)} became {getattr(found, what)}"
    lone = set(found.answers) - {name for name, _, _ in found.calls}
    if lone:
        yield f"responses without a call: {sorted(lone)}"


def faults_of_agent(messages: list[Json], made: Json) -> Iterator[str]:
    """Yield what differs between a file and what the agent would send of it."""
    meant = rich.found_in("openclaw", messages)
    if rich.found_in("openclaw", made["messages"]) != meant:
        yield "the agent reads other messages"
    for api, dialect in DIALECTS.items():
        items = wire.items(dialect, "request", made["sent"][api])
        calls = [item for item in items if item.kind == "call"]
        results = [item for item in items if item.kind == "result"]
        if [(c.name, c.value) for c in calls] != [(name, args) for _, name, args in meant.calls]:
            yield f"{api}: the calls are {calls}"
        if Counter(c.id for c in calls) != Counter(r.id for r in results):  # none for Gemini
            yield f"{api}: calls and results do not pair"
        answered = [r for r in results if UNANSWERED not in json.dumps(r.value)]
        if len(answered) != len(meant.answers):
            yield f"{api}: {len(answered)} results of {len(meant.answers)}"


CHECKS = {"gemini-cli": faults_of_cli, "openclaw": faults_of_agent}


def main(folder: Path) -> int:
    """Install, write, load, compare."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "package.json", folder)
    if not (folder / "node_modules").is_dir():
        install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(install, cwd=folder, check=True)
    failed = 0
    for name, files in written(folder.resolve()).items():
        made = loaded(SCRIPTS[name], folder, list(files))
        for path, messages in files.items():
            faults = list(CHECKS[name](messages, made[str(path)]))
            failed += bool(faults)
            print(f"{'differs' if faults else 'same':8}{path.name}", *faults, sep="\n        ")
    print(f"{failed} files differ" if failed else "all files say the same to their programs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
