"""Hold the events of AG-UI that we write of recorded streams against its types and its client.

    python -m tests.loaders.events FOLDER

Its types (PyPI) stand in the virtual environment of `frameworks.py`; its client (npm) verifies the
order of the events, and makes messages of them: these must hold what the provider said. Needs
../shared, and says so where it is missing. Exit code 1: something differs.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import wireglot

from ..streamsweep import recorded
from . import frameworks

Json = Any
HERE = Path(__file__).parent
TRAFFIC = Path("../shared/traffic")
SOURCES = ("anthropic", "openai-chat", "gemini", "openai-responses", "mistral", "cohere")
MOST = 30  # streams of a source
PACKAGES = ["@ag-ui/client@1.0.0", "rxjs@7.8.1"]
RULES = wireglot.load_rules()
Said = dict[str, Any]  # what a model says, thinks, and calls


def said(parts: list[Json]) -> Said:
    """Return what parts of the IR say: texts and thoughts together, calls without ids."""
    texts = {
        kind: "".join(part.get("text", "") for part in parts if part["type"] == kind)
        for kind in ("text", "reasoning")
    }
    calls = [(p["name"], p.get("arguments")) for p in parts if p["type"] == "tool_call"]
    return {**texts, "calls": calls}


def told_by(source: str, body: Json) -> Said:
    """Return what the first answer of a response says."""
    candidates = RULES[source].read(body, unit="response").ir["candidates"]
    return said(candidates[0]["parts"] if candidates else [])


def faults(frames: list[Json], meant: Said) -> Iterator[str]:
    """Yield what events say otherwise than the provider did."""
    found = told_by("ag-ui", RULES.collect(frames, "ag-ui"))
    yield from (
        f"{key}: {found[key]} for {meant[key]}" for key in meant if found[key] != meant[key]
    )


def written() -> Iterator[tuple[str, list[Json], Said]]:
    """Yield recorded streams as events, each with its name and what it says."""
    for source in SOURCES:
        for name, frames in islice(recorded(str(TRAFFIC / f"{source}.jsonl.gz")), MOST):
            t = RULES.translator(source=source, target="ag-ui")
            out = [new for frame in frames for new in t.feed(frame)] + t.finish()
            if t.error is None:
                yield f"{source} {name}", out, told_by(source, RULES.collect(frames, source))


def client(folder: Path, streams: dict[str, list[Json]]) -> Json:
    """Let the client of AG-UI verify the events, and make messages of them."""
    home = folder / "ag-ui"
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "node_modules").is_dir():
        install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run([*install, *PACKAGES], cwd=home, check=True)
    script = home / "ag-ui.mjs"
    script.write_text((HERE / script.name).read_text("utf-8"), "utf-8")
    return frameworks.printed(["node", str(script)], folder, streams)


def main(folder: Path) -> int:
    """Write, load, compare."""
    if not TRAFFIC.is_dir():
        print("events of AG-UI are not tried: ../shared is not there")
        return 0
    streams = list(written())
    frames = {name: out for name, out, _ in streams}
    typed = frameworks.libraries(folder, {"ag-ui-events": frames})["ag-ui-events"]
    made = client(folder, frames)
    failed = 0
    for name, out, meant in streams:
        wrong = [*typed[name], *faults(out, meant)]
        if "fault" in made[name]:
            wrong.append(made[name]["fault"])
        else:
            messages = RULES["ag-ui"].read(made[name]["messages"], unit="messages").ir
            found = said([part for message in messages for part in message["parts"]])
            wrong += [f"the client has {found} for {meant}"] if found != meant else []
        failed += bool(wrong)
        if wrong:
            print(f"differs {name}", *wrong, sep="\n        ")
    print(f"{failed} of {len(streams)} streams differ as events of AG-UI")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
