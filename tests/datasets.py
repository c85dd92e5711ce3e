"""Data sets of any size: `make datasets ONLY=rate,memory,kills,broken,peers,ray,spark`.

`rate` times the bare loop and `wireglot batch` on one and two processors; `memory` says what a run
holds after ten thousand lines and at its end; `kills` stops a run at random moments and lets it go
on; `broken` spoils one line in a hundred; `peers` times functions of other packages on the same
lines; `ray` converts on a local cluster and kills a worker, `spark` by
the recipe of docs/batch.md. `LINES=N` makes it smaller.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import logging
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import wireglot

ENDS = ("openai-chat", "anthropic")
KILLS = 10
SOME = 20_000  # lines that peers and the bare loop are timed on
TURN = 1000  # of them, before another one's turn


def line(nth: int, rand: random.Random) -> dict[str, Any]:
    """Return a conversation with calls, as one line of a data set."""
    messages: list[Any] = [
        {"role": "user", "content": f"Weather {nth}? " + "x" * rand.randint(0, 300)}
    ]
    for turn in range(rand.randint(1, 3)):
        call = {"name": "weather", "arguments": json.dumps({"city": "Köln", "day": turn})}
        name = f"call_{nth}_{turn}"
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": name, "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": name, "content": f"{turn} C"},
        ]
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = {"type": "function", "function": {"name": "weather", "parameters": parameters}}
    return {"model": "m", "messages": messages, "tools": [tool], "seed": nth}


def written(file: Path, lines: int, broken: int = 0) -> Path:
    """Write so many lines; each so many-th is broken."""
    rand = random.Random(1)
    with open(file, "w", encoding="utf-8") as out:
        for nth in range(lines):
            text = json.dumps(line(nth, rand), ensure_ascii=False)
            out.write((text[: len(text) // 2] if broken and nth % broken == 7 else text) + "\n")
    return file


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines()


def command(source: Path, out: Path, *more: str) -> list[str]:
    """Return the command that converts a file."""
    program = [sys.executable, "-m", "wireglot", "batch", str(source), "--from", ENDS[0], "--to"]
    return [*program, ENDS[1], "-o", str(out), "--quiet", *more]


def rate(folder: Path, lines: int) -> bool:
    """Print how many lines a second: the bare loop, one process, two."""
    source = written(folder / "in.jsonl", lines)
    texts = source.read_text("utf-8").splitlines()[:SOME]
    wireglot.convert(json.loads(texts[0]), *ENDS)
    began = time.process_time()
    for text in texts:
        json.dumps(wireglot.convert(json.loads(text), *ENDS).body, ensure_ascii=False)
    took = time.process_time() - began
    print(f"bare loop: {len(texts) / took:,.0f} lines a second of the processor")
    for workers in ("1", "2"):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        out = folder / f"out{workers}.jsonl"
        subprocess.run(command(source, out, "--workers", workers), check=True)
        took, used = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        print(
            f"batch, {workers} processes: {lines / took:,.0f} lines a second, "
            f"{lines / spent:,.0f} of the processor"
        )
    return filecmp.cmp(folder / "out1.jsonl", folder / "out2.jsonl", False)


def _held(pid: int) -> int:
    """Return the kilobytes that a process and its children hold."""
    found = 0
    for one in [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]:
        text = Path(f"/proc/{one}/status").read_text()
        found += int(text.split("RssAnon:")[1].split()[0])
    return found


def memory(folder: Path, lines: int) -> bool:
    """Print what a run holds early and late: it must not grow by more than a tenth."""
    source, out = written(folder / "in.jsonl", lines), folder / "memory.jsonl"
    run = subprocess.Popen(command(source, out, "--workers", "2"))
    seen: list[tuple[int, int]] = []
    journal = Path(f"{out}.resume")
    while run.poll() is None:
        if journal.exists():
            try:
                done = json.loads(journal.read_text())["done"]
                seen.append((done["good"], _held(run.pid)))
            except (OSError, ValueError, IndexError):
                pass  # it is being written, or has just ended
        time.sleep(0.25)
    early = max(
        (held for good, held in seen if 10_000 <= good <= max(lines // 10, 20_000)), default=0
    )
    late = max(held for good, held in seen if good >= lines // 2)
    print(f"from 10,000 lines on {early / 1024:.0f} MB, later {late / 1024:.0f} MB at most")
    return run.returncode == 0 and late <= early * 1.1


def kills(folder: Path, lines: int) -> bool:
    """Kill a run at random moments, and let it go on: the output is the same, byte for byte."""
    source, out = written(folder / "in.jsonl", lines, 100), folder / "killed.jsonl"
    whole, rand = folder / "whole.jsonl", random.Random(2)
    more = ("--workers", "2", "--notes")
    began = time.monotonic()
    subprocess.run(command(source, whole, *more, str(folder / "whole.notes")))
    took, killed = time.monotonic() - began, 0
    going: tuple[str, ...] = ()
    while killed < KILLS:
        run = subprocess.Popen(command(source, out, *more, str(folder / "killed.notes"), *going))
        try:
            run.wait(rand.uniform(2, 2 + took / KILLS))
            break
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
            killed += 1
            going = ("--resume",) if Path(f"{out}.resume").exists() else ("--force",)
    else:
        subprocess.run(command(source, out, *more, str(folder / "killed.notes"), "--resume"))
    same = [
        filecmp.cmp(folder / f"whole{end}", folder / f"killed{end}", False)
        for end in (".jsonl", ".jsonl.bad.jsonl", ".notes")
    ]
    print(f"killed {killed} times; output, refused lines and notes are the same: {same}")
    return all(same)


def broken(folder: Path, lines: int) -> bool:
    """Spoil one line in a hundred: all of them are refused, and all others are right."""
    source, out = written(folder / "broken.jsonl", lines, 100), folder / "good.jsonl"
    subprocess.run(command(source, out, "--force"))
    refused = [json.loads(text)["line"] for text in _lines(Path(f"{out}.bad.jsonl"))]
    spoilt = [nth + 1 for nth in range(lines) if nth % 100 == 7]
    wrong, rand = 0, random.Random(1)
    with open(out, encoding="utf-8") as file:
        for nth in range(lines):
            value = line(nth, rand)
            if nth % 100 == 7:
                continue
            text = next(file)
            if nth % 50 == 0:  # the engine itself is held to its oracles elsewhere
                wrong += json.loads(text) != wireglot.convert(value, *ENDS).body
            wrong += f"Weather {nth}?" not in text
        wrong += file.readline() != ""
    print(f"{len(refused):,} refused of {len(spoilt):,} broken lines; {wrong} others wrong")
    return refused == spoilt and not wrong


def _litellm() -> Callable[[Any], Any]:
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig

    config = AnthropicConfig()

    def made(body: Any) -> Any:
        options = config.map_openai_params(
            {"tools": body["tools"]}, {"max_tokens": 4096}, "claude-sonnet-4-5", False
        )
        return config.transform_request("claude-sonnet-4-5", body["messages"], options, {}, {})

    return made


def _langchain() -> Callable[[Any], Any]:
    from langchain_anthropic.chat_models import _format_messages, convert_to_anthropic_tool
    from langchain_core.messages import convert_to_messages

    def made(body: Any) -> Any:
        system, messages = _format_messages(
            convert_to_messages(body["messages"]), model="claude-sonnet-4-5"
        )
        return system, messages, [convert_to_anthropic_tool(tool) for tool in body["tools"]]

    return made


def peers(folder: Path, lines: int) -> bool:
    """Print how many lines a second functions of other packages convert; ours must be faster."""
    texts = written(folder / "peers.jsonl", min(lines, SOME)).read_text("utf-8").splitlines()
    found: dict[str, Callable[[Any], Any]] = {
        "wireglot": lambda body: wireglot.convert(body, *ENDS).body
    }
    for name, made in (("litellm", _litellm), ("langchain", _langchain)):
        try:
            found[name] = made()
        except ImportError as error:
            print(f"{name}: not here ({error})")
    took = dict.fromkeys(found, 0.0)
    for first in range(0, len(texts), TURN):  # in turns: what else runs here meets all of them
        for name, convert in found.items():
            convert(json.loads(texts[0]))
            began = time.process_time()
            for text in texts[first : first + TURN]:
                json.dumps(convert(json.loads(text)), ensure_ascii=False)
            took[name] += time.process_time() - began
    rates = {name: len(texts) / spent for name, spent in took.items()}
    for name, rate in rates.items():
        print(f"{name}: {rate:,.0f} lines a second of the processor")
    return rates["wireglot"] == max(rates.values())


def ray(folder: Path, lines: int) -> bool:
    """Convert on a local cluster, kill a worker in the middle, and compare with `batch`."""
    try:
        import ray as cluster
    except ImportError:
        print("ray is not here: `pip install 'wireglot[ray]'`")
        return True
    import wireglot.ray as stage

    source, out = written(folder / "ray.jsonl", lines, 100), folder / "ray.out.jsonl"
    subprocess.run(command(source, out, "--force"))
    cluster.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    logging.getLogger("ray").setLevel(logging.ERROR)
    rows = [{"nth": nth, "body": text} for nth, text in enumerate(_lines(source))]
    took: dict[int, float] = {}
    pool: Any = cluster.data.ActorPoolStrategy
    for workers in (1, 2):
        data = cluster.data.from_items(rows, override_num_blocks=40)
        began = time.monotonic()
        made = stage.convert(data, *ENDS, compute=pool(size=workers), batch_size=256).materialize()
        took[workers] = time.monotonic() - began
    print(f"two workers: {took[1] / took[2]:.2f} times as fast as one (a start of each within)")
    data = cluster.data.from_items(rows, override_num_blocks=40)
    killed: list[int] = []
    killer = threading.Timer(took[2] / 2, lambda: killed.append(_kill("ray::MapWorker")))
    killer.start()
    made = stage.convert(data, *ENDS, compute=pool(size=2), batch_size=256, max_restarts=3)
    found = sorted(made.take_all(), key=lambda row: row["nth"])
    killer.join()
    cluster.shutdown()
    texts = [row["body"] for row in found if not row["error"]]
    same = texts == out.read_text("utf-8").splitlines()
    bad = sum(bool(row["error"]) for row in found)
    print(f"killed a worker: {killed}")
    print(f"{len(found):,} rows, {bad:,} refused; as `batch` wrote them: {same}")
    return same and len(found) == lines and killed != [0]


def spark(folder: Path, lines: int) -> bool:
    """Convert with the recipe of the docs on a local Spark, and compare with `batch`."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        print("pyspark is not here: `pip install pyspark pandas pyarrow`, and a Java")
        return True
    page = (Path(__file__).parent.parent / "docs" / "batch.md").read_text("utf-8")
    recipe = page.split("```py spark\n")[1].split("```")[0]
    source, out = written(folder / "spark.jsonl", lines), folder / "spark.out.jsonl"
    subprocess.run(command(source, out), check=True)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[2]").appName("wireglot").getOrCreate()
    texts = [(nth, text) for nth, text in enumerate(_lines(source))]
    given: dict[str, Any] = {"rows": session.createDataFrame(texts, "nth long, body string")}
    exec(recipe, given)
    began = time.monotonic()
    found = sorted(given["rows"].collect(), key=lambda row: row["nth"])
    print(f"{lines / (time.monotonic() - began):,.0f} lines a second, two processes of Spark")
    session.stop()
    same = [json.loads(row["body"]) for row in found] == [json.loads(t) for t in _lines(out)]
    print(f"{len(found):,} rows; as `batch` wrote them: {same}")
    return same and len(found) == lines


def _kill(name: str) -> int:
    """Kill a process of this name, and return its number; 0 where there is none."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                found = (entry / "cmdline").read_bytes().startswith(name.encode())
            except OSError:
                continue
            if found:
                os.kill(int(entry.name), signal.SIGKILL)
                return int(entry.name)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that are asked for; 1 where one falls short."""
    parts = {one.__name__: one for one in (rate, memory, kills, broken, peers, ray, spark)}
    parser = argparse.ArgumentParser(prog="python -m tests.datasets", description=__doc__)
    parser.add_argument("--only", default=",".join(parts), help=", ".join(parts))
    parser.add_argument("--lines", type=int, default=1_000_000)
    options = parser.parse_args(arguments)
    failed = []
    for name in options.only.split(","):
        print(f"-- {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            if not parts[name](Path(folder), options.lines):
                failed.append(name)
    print(f"fell short: {', '.join(failed)}" if failed else "all as it should be")
    return bool(failed)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUTF8", "1")
    sys.exit(main())
