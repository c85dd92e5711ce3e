"""Time translators of streams against the hand-written ones, as frames and as bytes (W4).

Peers (`stream_peers`) are timed beside them where they can be imported.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from . import floor_streams, stream_frames, stream_peers
from .timing import Bar, Run, Times, race

LIMIT = 2.0
STREAMS, ROUNDS = 3, 15
Pair = tuple[str, str]


def whole(make: Callable[[], Any], result: bool = False) -> Run:
    """Return what takes a stream through a new translator, and asks for the result or not."""

    def run(frames: Sequence[Any]) -> object:
        translator = make()
        feed = translator.feed
        made = [feed(frame) for frame in frames]
        made.append(translator.finish())
        if result:
            made.append(translator.result[0])
        return made

    return run


def _table(title: str, times: Times, size: float) -> None:
    print(f"\n## {title}")
    print(f"{'':30}{'us a frame':>12}{'x by hand':>12}")
    for name in times.seconds:
        ours = name.replace("ours", "by hand").replace(", bytes, nothing kept", ", bytes")
        base = ours if ours in times.seconds and name not in stream_peers.PEERS else "by hand"
        shown = times.micros(name) / size
        print(f"{name:30}{shown:12.2f}{times.ratio(name, base):12.2f}")


def _measure(pair: Pair, engine: Any, quick: bool) -> list[Bar]:
    source, target = pair
    hand, named = floor_streams.TRANSLATORS[pair], target in floor_streams.NAMED
    streams = [stream_frames.frames(source, seed) for seed in range(STREAMS)]
    pieces = [stream_frames.as_bytes(source, frames) for frames in streams]
    rules = engine.load_rules()

    def ours(keep: bool = True) -> Any:
        return rules.translator(source=source, target=target, result=keep)

    by_frame: dict[str, Run] = {
        "by hand": whole(lambda: hand(True)),
        "by hand, result": whole(lambda: hand(True), True),
        "by hand, nothing kept": whole(lambda: hand(False)),
        "ours": whole(ours),
        "ours, result": whole(ours, True),
        "ours, nothing kept": whole(lambda: ours(False)),
    }
    by_bytes: dict[str, Run] = {
        "by hand, bytes": whole(lambda: floor_streams.Bytes(hand(True), named)),
        "ours, bytes": whole(lambda: ours().as_bytes()),
        "ours, bytes, nothing kept": whole(lambda: ours(False).as_bytes()),
    }
    title = f"W4 {source} -> {target}, {len(streams[0])} frames"
    different = sum(by_frame["ours, result"](one) != by_frame["by hand, result"](one)
                    for one in streams)  # fmt: skip
    different += sum(by_bytes["ours, bytes"](one) != by_bytes["by hand, bytes"](one)
                     for one in pieces)  # fmt: skip
    bars = [Bar(f"{title}: streams that differ from those by hand", different, 0)]
    peers = stream_peers.found(pair, streams[0])
    runs: dict[str, tuple[Run, Sequence[Any]]] = {
        name: (run, streams) for name, run in by_frame.items()
    }
    runs |= {name: (p.run, list(map(p.prepared, streams))) for name, p in peers.items()}
    runs |= {name: (run, pieces) for name, run in by_bytes.items()}
    times = race(runs, ROUNDS // 3 if quick else ROUNDS)
    _table(title, times, sum(map(len, streams)) / len(streams))
    bars += [
        Bar(f"{title}: ours / by hand", times.ratio("ours", "by hand"), LIMIT),
        Bar(f"{title}: with result", times.ratio("ours, result", "by hand, result"), LIMIT),
        Bar(f"{title}: bytes, ours / by hand", times.ratio("ours, bytes", "by hand, bytes"), LIMIT),
    ]
    bars += [Bar(f"{title}: ours / {name}", times.ratio("ours", name), 1.0) for name in peers]
    return bars


def run(engine: Any, quick: bool = False) -> list[Bar]:
    """Print the table of every pair."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    bars: list[Bar] = []
    for pair in floor_streams.TRANSLATORS:
        bars += _measure(pair, engine, quick)
    return bars
