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
QUEUED = 3  # pieces on the way for each worker: none waits, and memory stays small

_converter: Converter | None = None  # of a worker, whose calls bring a piece alone


class WorkerDied(WireglotError):
    """Raised when a process of the pool was killed; the values that it had are not lost."""


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_pieces(
    converter: Converter,
    work: Callable[[Converter, Piece], Made],
    pieces: Iterable[Piece],
    workers: int,
) -> Iterator[Made]:
    """Yield what `work` makes of each piece, in their order; one worker is this process itself.

    Pieces and results travel by pickle, so `work` is a function of a module. Raises WorkerDied, and
    what `work` raises.
    """
    if workers == 1:
        for piece in pieces:
            yield work(converter, piece)
        return
    global _converter
    _converter = converter  # a process that is forked has it already
    pending: deque[Future[Made]] = deque()
    with ProcessPoolExecutor(workers, initializer=_start_worker, initargs=(converter.job,)) as pool:
        try:
            for piece in pieces:
                pending.append(pool.submit(_work_here, work, piece))
                if len(pending) > workers * QUEUED:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        except BrokenProcessPool:
            raise WorkerDied("a process that converts was killed, or has no memory left") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _start_worker(job: Job) -> None:
    """Make a worker ready: it converts as the job says, and ends with the process that began it."""
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


def _work_here(work: Callable[[Converter, Any], Made], piece: Any) -> Made:
    assert _converter is not None
    return work(_converter, piece)
