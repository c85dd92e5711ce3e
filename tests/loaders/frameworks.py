"""Let frameworks load what we write for them: each must find the same calls, each with its result.

    python -m tests.loaders.frameworks FOLDER

Their libraries are installed into FOLDER, from PyPI and npm. Exit code 1: something differs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from wireglot.moving import move

from .. import test_frameworks as frameworks
from .. import test_rich_session as rich

Json = Any
HERE = Path(__file__).parent
SOURCES = ("openclaw", "claude-code", "codex", "gemini-cli")
LIBRARIES = ["langchain-core==1.7.2", "pydantic-ai-slim[openai]==2.68.0", "openai-agents==0.24.0"]
LIBRARIES += ["transformers==5.23.0", "jinja2", "ag-ui-protocol==1.0.0"]
LIBRARIES += ["opentelemetry-util-genai==1.3b0"]
# For templates, or for one module: what else they need is heavy, and so are the Pythons.
APART = ["trl==1.16.0", "harbor==0.25.0", "llamafactory==0.9.5"]
PACKAGES = ["ai@6.0.326", "zod"]
AI_SDK = ("ai-sdk", "ai-sdk-ui", "ai-sdk of ai-sdk-ui")
UNJUDGED = {"adp-v1"}  # its models stand in a repository, and in no package
# What templates do with any messages like these: what they say of it, or leave out.
BY_THEMSELVES = {
    "deepseek_r1_distill": "lacks",  # calls
    "deepseekv3": "refuses",  # arguments that are no text
    "gptoss": "refuses",  # a text and a thought beside calls
    "llama3_1": "refuses",  # more than one call at once
    "llama3_2": "refuses",
    "muse_glimmer": "lacks",  # the text beside calls
}


def written(source: str) -> dict[str, Json]:
    """Return a session for each framework, with its open calls closed as `move` closes them."""
    ir = rich.RULES[source].read(rich.BODIES[source], unit="session").ir
    messages, _ = move.close_calls(ir["messages"])
    found = {}
    for name in [one for one in frameworks.FRAMEWORKS if one not in UNJUDGED]:
        found[name] = rich.RULES[name].write({"messages": messages}, unit="session").body
    # Rows without ids end with a word of the model.
    messages.append({"role": "assistant", "parts": [{"type": "text", "text": "Done."}]})
    found["hermes"] = rich.RULES["hermes"].write({"messages": messages}, unit="session").body
    found["sharegpt"] = rich.RULES["sharegpt"].write({"messages": messages}, unit="session").body
    return found


def libraries(folder: Path, bodies: dict[str, Json]) -> dict[str, Json]:
    """Let the Python libraries load theirs."""
    home = folder / "python"
    if not (home / "bin/pip").exists():
        venv.create(home, with_pip=True)
        pip = [str(home / "bin/pip"), "install", "-q"]
        subprocess.run([*pip, *LIBRARIES], check=True)
        subprocess.run([*pip, "--no-deps", "--ignore-requires-python", *APART], check=True)
    found: dict[str, Json] = printed(
        [str(home / "bin/python"), str(HERE / "libraries.py")], folder, bodies
    )
    return found


def ai_sdk(folder: Path, body: Json) -> Json:
    """Let the AI SDK load its messages."""
    home = folder / "ai-sdk"
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "node_modules").is_dir():
        install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run([*install, *PACKAGES], cwd=home, check=True)
    script = home / "ai-sdk.mjs"
    script.write_text((HERE / script.name).read_text("utf-8"), "utf-8")
    return printed(["node", str(script)], folder, body)


def printed(command: list[str], folder: Path, given: Json) -> Json:
    """Return what a program prints of a file with these values."""
    path = folder.absolute() / "messages.json"
    path.write_text(json.dumps(given), "utf-8")
    run = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{command}: {run.stderr[-2000:]}")
    return json.loads(run.stdout.splitlines()[-1])


def steps(order: Json) -> Json:
    """Return calls and results step by step; results that stand together may do so in any order."""
    return [(kind, sorted(ids)) for kind, ids in groupby(order, lambda one: one[0])]


def faults(found: Json, meant: rich.Found, order: Json) -> Iterator[str]:
    """Yield what a library found otherwise; where it tells it, the order of calls and results."""
    if steps(found.get("order", order)) != steps(order):
        yield f"calls and results stand in the order {found['order']}"
    calls = [list(call) for call in meant.calls]
    ids = [call[0] for call in calls]
    if isinstance(found["results"], list):  # nothing has an id
        found["calls"] = [[i, *said] for i, (_, *said) in zip(ids, found["calls"], strict=False)]
        found["results"] = dict(zip(ids, found["results"], strict=False))
    if found["calls"] != calls:
        yield f"the calls are {found['calls']}"
    if sorted(found["results"]) != sorted(ids):
        yield f"there are results of {sorted(found['results'])}"
    flagged = {name: one.flagged for name, one in meant.answers.items()}
    for name, failed in found["results"].items():
        # What nobody answered is an error that says so.
        if failed is not None and failed != flagged.get(name, True):
            yield f"the result of {name} is {'an' if failed else 'no'} error"
    for template, said in found.get("templates", {}).items():
        if said.partition(" ")[0].rstrip(":") not in ("whole", BY_THEMSELVES.get(template)):
            yield f"{template} {said}"


def main(folder: Path) -> int:
    """Write, load, compare."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for source in SOURCES:
        meant = rich.found_in(source, rich.messages_of(source, rich.BODIES[source]))
        bodies = written(source)
        # What the AI SDK makes of its interface's messages, and what we make of them.
        read = rich.RULES.convert(bodies["ai-sdk-ui"], "ai-sdk-ui", "ai-sdk", unit="session").body
        bodies["ai-sdk of ai-sdk-ui"] = read
        own = {name: ai_sdk(folder, bodies.pop(name)) for name in AI_SDK}
        for name, one in {**own, **libraries(folder, bodies)}.items():
            wrong = list(faults(one, meant, own["ai-sdk"]["order"]))
            failed += bool(wrong)
            print(f"{'differs' if wrong else 'same':8}{source} as {name}", *wrong, sep="\n        ")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
