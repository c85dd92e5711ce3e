"""Put servers under load, and print what they take: `python -m tests.load [--only ...]`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from . import bodies, client, servers
from .servers import Running

CONNECTIONS, STREAMS, SEEDS = 32, 1000, 16
# Of each: rounds of the agent, whether it is streamed, requests of one batch.
CASES = {"20 rounds": (20, False, 200), "60 rounds": (60, False, 100), "stream": (20, True, 64)}
PATH = "/v1/messages"


def speed(names: Sequence[str], provider: int, folder: Path, batches: int) -> list[str]:
    """Return lines of a table: milliseconds of the processor for a request; and what misses."""
    took: dict[str, dict[str, float]] = {}
    with contextlib.ExitStack() as stack:
        running = {
            name: stack.enter_context(servers.server(name, provider, folder)) for name in names
        }
        for case, (rounds, stream, many) in CASES.items():
            made = [client.asking(PATH, bodies.request(rounds, stream, n)) for n in range(SEEDS)]
            took[case] = dict.fromkeys(names, float("inf"))
            for _ in range(batches + 1):  # the first one warms up
                for name, one in running.items():
                    seconds = batch(one, made, many if name != "litellm" else many // 2)
                    took[case][name] = min(took[case][name], seconds)
    lines = [f"| {'ms of the processor':20}" + "".join(f"| {name:9}" for name in names) + "|"]
    lines.append("|---" * (len(names) + 1) + "|")
    for case, by_name in took.items():
        cells = "".join(f"| {1000 * by_name[name]:<9.2f}" for name in names)
        lines.append(f"| {case:20}{cells}|")
    return lines + (misses(took) if "wireglot" in names and "relay" in names else [])


def batch(one: Running, made: Sequence[bytes], many: int) -> float:
    """Return the processor time that a server took for a request, of many."""
    before = one.seconds()
    asyncio.run(client.ask(one.port, made, many, CONNECTIONS))
    return (one.seconds() - before) / many


def misses(took: dict[str, dict[str, float]]) -> list[str]:
    """Return how each bar stands."""
    few, many, stream = (took[case] for case in CASES)
    bars = [
        ("20 rounds, times the relay", few["wireglot"] / few["relay"], 2.1),
        ("stream, times the relay", stream["wireglot"] / stream["relay"], 2.0),
        ("60 rounds, ms over the relay", 1000 * (many["wireglot"] - many["relay"]), 6.0),
    ]
    if "litellm" in few:
        bars.append(("20 rounds, times litellm", few["wireglot"] / few["litellm"], 0.5))
    return [f"{name}: {at:.2f}, at most {most}{' MISSED' * (at > most)}" for name, at, most in bars]


def open_streams(provider: int, folder: Path) -> list[str]:
    """Hold streams open at once, let their clients leave, and say what is left of it."""
    body = client.asking(
        PATH, bodies.request(1, True, 1).replace(b'"model":"m"', b'"model":"open"')
    )

    async def run(one: Running) -> tuple[float, float, int]:
        before = one.megabytes()
        links = await client.hold(one.port, body, STREAMS)
        await asyncio.sleep(5)
        said = await asyncio.gather(*(reader.read(1 << 16) for reader, _ in links))
        there = one.megabytes()
        for _, writer in links:
            writer.close()
        for _ in range(100):
            await asyncio.sleep(0.1)
            if not (left := connected(one, provider)):
                break
        return there - before, sum(map(bool, said)), left

    with servers.server("wireglot", provider, folder) as one:
        more, said, left = asyncio.run(run(one))
    told = f"{STREAMS} streams at once: {said} go on, {1000 * more / STREAMS:.0f} kB each; "
    good = said == STREAMS and left == 0
    return [f"{told}of connections to the provider {left} are left{' MISSED' * (not good)}"]


def connected(one: Running, port: int) -> int:
    """Count the connections of a server to a port that are open."""
    held = set()
    for file in Path(f"/proc/{one.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            held.add(file.readlink().name)
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(line[2].endswith(f":{port:04X}") and f"socket:[{line[9]}]" in held for line in lines)


def memory(provider: int, folder: Path, many: int) -> list[str]:
    """Ask many times, each time something new, and say how memory grows."""
    at: list[float] = []
    with servers.server("wireglot", provider, folder) as one:
        for part in range(5):
            for begun in range(0, many // 5, 250):
                seeds = range(part * many + begun, part * many + begun + 250)
                made = [client.asking(PATH, bodies.request(20, n % 4 == 0, n)) for n in seeds]
                asyncio.run(client.ask(one.port, made, len(made), CONNECTIONS))
            at.append(one.megabytes())
    grew = at[-1] - at[1]
    told = ", ".join(f"{size:.0f}" for size in at)
    return [f"MB after each fifth of {many} requests: {told}{' MISSED' * (grew > 8)}"]


def main() -> int:
    """Run what is asked for; 1 where a bar is missed."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--only", default="speed,open,memory")
    read.add_argument("--servers", default="relay,wireglot,litellm")
    read.add_argument("--batches", type=int, default=5)
    read.add_argument("--requests", type=int, default=10_000, help="of which memory is taken")
    said = read.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65536), most))
    names = [
        name for name in said.servers.split(",") if name != "litellm" or servers.LITELLM.exists()
    ]
    parts: dict[str, Callable[[int, Path], list[str]]] = {
        "speed": lambda port, folder: speed(names, port, folder, said.batches),
        "open": open_streams,
        "memory": lambda port, folder: memory(port, folder, said.requests),
    }
    missed = False
    with tempfile.TemporaryDirectory() as folder, servers.upstream() as port:
        for part in said.only.split(","):
            for line in parts[part](port, Path(folder)):
                print(line, flush=True)
                missed |= "MISSED" in line
    return missed


if __name__ == "__main__":
    sys.exit(main())
