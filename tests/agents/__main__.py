"""Run agents before providers, and print a table: `python -m tests.agents [--agents ...]`."""

from __future__ import annotations

import argparse
import base64
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import wireglot

from ..loop.serving import served
from . import programs, scenes
from .programs import PROGRAMS, Program, Ran
from .standin import TARGETS, StandIn, running

PLACE = Path(".venv/agents")
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElF"
    "TkSuQmCC"
)
ALL = ("task", "again", "busy", "send", "long")
SECONDS = {"task": 60, "again": 40, "busy": 90, "send": 60, "long": 420}
ENDS = {
    "task": "Finished PLUM-7",
    "again": "Again BETA-2",
    "busy": "PLUM-7 at last",
    "send": "Finished both",
    "long": "Finished 40 turns",
}


# What an agent does wrong by itself, which a provider of its own wire refuses, too.
EXCUSED = {
    ("gemini", "gemini", "again"): "on --resume it sends every result twice",
}


@dataclass
class Cell:
    """What became of one agent before one provider."""

    agent: str
    target: str
    seconds: dict[str, float] = field(default_factory=dict)  # by scene
    faults: dict[str, list[str]] = field(default_factory=dict)
    requests: int = 0


def perform(agent: str, name: str, played: list[str], logs: Path | None, forgets: bool) -> Cell:
    """Let an agent play scenes before a provider; `again` goes on where `task` ended.

    A server that forgets keeps no state: what can ride rides.
    """
    cell, program = Cell(agent, name), PROGRAMS[agent]
    with tempfile.TemporaryDirectory(prefix="agents-", ignore_cleanup_errors=True) as folder:
        for scene in played:
            if scene == "send" and not program.sends:
                continue
            old = scene == "again" and "task" in cell.seconds
            home = Path(folder) / ("task" if scene == "again" else scene)
            play(cell, program, scene, home, logs, fresh=not old, forgets=forgets)
    return cell


def play(
    cell: Cell,
    program: Program,
    scene: str,
    home: Path,
    logs: Path | None,
    *,
    fresh: bool,
    forgets: bool,
) -> None:
    work = home / "work"
    if fresh:
        work.mkdir(parents=True)
        for name, text in scenes.FILES.items():
            (work / name).write_text(text, encoding="utf-8")
        (work / "picture.png").write_bytes(PICTURE)
    target = TARGETS[cell.target]
    model = StandIn(target, str(work), busy=scene == "busy")
    known = None if fresh else MEMORY[cell.agent, cell.target]
    if known is not None:
        old = known[0]
        model.calls, model.thoughts, model.judge = old.calls, old.thoughts, old.judge
    prompt = f"[[{scene}]] Work in {work} and say when it is done."
    began = time.monotonic()
    states = known[1] if known is not None else wireglot.States()
    MEMORY[cell.agent, cell.target] = model, states
    with (
        running(model) as provider,
        served(
            target.rules, target.model, provider.url, "k", states=None if forgets else states
        ) as (base, lines),
    ):
        words, env = programs.prepared(program, base, home, prompt, fresh)
        env = {**programs.environment(PLACE.absolute(), home), **env}
        words[0] = str(PLACE.absolute() / "node_modules/.bin" / words[0])
        ran = programs.run(words, env, work, SECONDS[scene])
    cell.seconds[scene] = time.monotonic() - began
    cell.requests += len(model.requests)
    if (cell.agent, cell.target, scene) not in EXCUSED:
        cell.faults[scene] = [*model.faults, *wrong(scene, model, ran, work)]
    if logs is not None:
        keep(logs / f"{cell.agent}.{cell.target}.{scene}", model, lines, ran)


# The provider and the server remember what was said in `task`.
MEMORY: dict[tuple[str, str], tuple[StandIn, wireglot.States]] = {}


def wrong(scene: str, model: StandIn, ran: Ran, work: Path) -> Iterator[str]:
    """Yield what a run did not do."""
    if ran.code != 0:
        yield f"exit {ran.code}" if ran.code is not None else f"no end in {SECONDS[scene]} s"
    if scene not in model.ended:
        yield f"{scene} did not come to its end: {len(model.requests)} requests"
    elif ENDS[scene] not in ran.output:
        yield "the last text is not in the output"
    if scene == "send" and not {"sub one", "sub two"} <= set(model.ended):
        yield "a sub-agent did not come to its end"
    if scene == "task":
        for name, text in (("out.txt", scenes.WRITTEN), ("shell.txt", scenes.SHOWN)):
            file = work / name
            there = file.read_text(encoding="utf-8") if file.exists() else None
            if there != text:
                yield f"{name} holds {there!r}"


def keep(stem: Path, model: StandIn, served: list[str], ran: Ran) -> None:
    """Write what a run said into files."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(body, ensure_ascii=False) for body in model.requests]
    Path(f"{stem}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    told = "\n".join(served)
    Path(f"{stem}.log").write_text(
        f"exit {ran.code}\n{ran.output}\n--- errors\n{ran.errors}\n--- served\n{told}\n",
        encoding="utf-8",
    )


def table(cells: list[Cell], agents: list[str], targets: list[str]) -> str:
    """Return the table of all cells: seconds, or the scenes that failed."""
    by = {(cell.agent, cell.target): cell for cell in cells}
    rows = ["| agent | " + " | ".join(targets) + " |", "|---" * (len(targets) + 1) + "|"]
    for agent in agents:
        row = []
        for target in targets:
            cell = by[agent, target]
            failed = [scene for scene, found in cell.faults.items() if found]
            time = f"{sum(cell.seconds.values()):.0f} s"
            row.append(f"**{', '.join(failed)}** {time}" if failed else time)
        rows.append(f"| {agent} | " + " | ".join(row) + " |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.agents", description=__doc__)
    parser.add_argument("--agents", nargs="*", default=[], help="names, or beginnings of names")
    parser.add_argument("--targets", nargs="*", default=[], choices=TARGETS)
    parser.add_argument("--scenes", nargs="*", default=[], choices=ALL)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--stateless", action="store_true", help="let the server remember nothing")
    parser.add_argument("--logs", type=Path, help="a folder for what each run said")
    args = parser.parse_args()
    agents = [a for a in PROGRAMS if not args.agents or a.startswith(tuple(args.agents))]
    targets = list(args.targets or TARGETS)
    played = [scene for scene in ALL if scene in (args.scenes or ALL)]
    programs.install(PLACE)
    began = time.monotonic()
    with ThreadPoolExecutor(args.jobs) as pool:
        futures = [
            pool.submit(perform, agent, target, played, args.logs, args.stateless)
            for agent in agents
            for target in targets
        ]
        cells = []
        for future in futures:
            cell = future.result()
            cells.append(cell)
            for scene, found in cell.faults.items():
                for fault in found:
                    print(f"{cell.agent} -> {cell.target}, {scene}: {fault[:400]}", flush=True)
    runs = sum(len(cell.seconds) for cell in cells)
    requests = sum(cell.requests for cell in cells)
    failed = sum(bool(found) for cell in cells for found in cell.faults.values())
    print(f"\n{table(cells, agents, targets)}\n")
    print(f"{runs} runs, {requests} requests, {time.monotonic() - began:.0f} s; {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
