"""Work on pieces of a data set in several processes; the order of the pieces is kept."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import parent_process
from multiprocessing.connection import wait
from typing import Any, TypeVar

from ..errors import WireglotError
from .job import Converter, Job

Piece = TypeVar("Piece")
Made = TypeVar("Made")
AHEAD = 3  # pieces for each process that are on the way: it never waits, and memory stays small

_converter: Converter | None = None  # of a process of the pool


class WorkerDied(WireglotError):
    """Raised when a process of the pool was killed; the values that it had are not lost."""


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def over(
    converter: Converter,
    work: Callable[[Converter, Piece], Made],
    pieces: Iterable[Piece],
    workers: int,
) -> Iterator[Made]:
    """Yield what `work` makes of each piece, in their order; with one worker in this process.

    Both travel by pickle, so `work` is a function of a module. Raises WorkerDied, and what the work
    raises.
    """
    if workers == 1:
        for piece in pieces:
            yield work(converter, piece)
        return
    global _converter
    _converter = converter  # a process that is forked has it already
    on: deque[Future[Made]] = deque()
    with ProcessPoolExecutor(workers, initializer=_begin, initargs=(converter.job,)) as pool:
        try:
            for piece in pieces:
                on.append(pool.submit(_worked, work, piece))
                if len(on) > workers * AHEAD:
                    yield on.popleft().result()
            while on:
                yield on.popleft().result()
        except BrokenProcessPool:
            raise WorkerDied("a process that converts was killed, or has no memory left") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin(job: Job) -> None:
    """Make a process ready: it converts as the job says, and ends with the one that began it."""
    global _converter
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops, and says so
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if _converter is None or _converter.job is not job:
        _converter = job.ready()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)  # nobody waits for what is still to be done


def _worked(work: Callable[[Converter, Any], Made], piece: Any) -> Made:
    assert _converter is not None
    return work(_converter, piece)
