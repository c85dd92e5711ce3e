"""`wireglot batch`: the progress of a run, and what it says at its end."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..batch import Job, lines, pool, tables
from ..batch.job import keys
from ..batch.pieces import Sum
from ..batch.run import Files, Stopped, run
from ..columns import columns
from ..notes import SEVERITIES
from . import given, terminal
from .terminal import FAILED, FORBIDDEN, OK, USAGE, Stop


def batch(arguments: argparse.Namespace) -> int:
    """Convert the lines of files. Raises WireglotError, and Stop."""
    terminal.hold_rules(*arguments.rules)
    options, policy = given.options(arguments), given.policy(arguments.policy)
    names = lines.files(arguments.files)
    out = arguments.output
    files = Files(out, arguments.bad or (f"{out}.bad.jsonl" if out else None), arguments.notes)
    _apart(names, files)
    if arguments.text and not arguments.at:
        raise Stop(USAGE, "`--text` goes with `--at`: a line is a text of JSON anyway")
    if arguments.resume and out is None:
        raise Stop(USAGE, "`--resume` goes with `-o FILE`: standard output knows no run before")
    if arguments.resume and os.path.isfile(out) and not os.path.exists(files.part):
        print(f"{out} is whole; there is nothing to go on with", file=sys.stderr)
        return OK
    job = Job(
        arguments.source, arguments.target, arguments.unit, arguments.model, options, policy,
        tuple(arguments.rules), tuple(arguments.overlay), arguments.plugins,
        keys(arguments.at), arguments.text,
    )  # fmt: skip
    goes_on = f"; `--resume` goes on from there, into {out}" if out else ""
    converter = job.ready()
    gc.freeze()  # no collection walks through the rules, which stay, in forked processes too
    try:
        with _progress(lines.size(names), arguments.quiet) as seen:
            done = run(
                converter,
                names,
                files,
                workers=arguments.workers or pool.cores(),
                aside=arguments.forbidden == "aside",
                resume=arguments.resume,
                force=arguments.force,
                seen=seen,
            )
    except Stopped as stopped:
        raise Stop(FORBIDDEN, f"{stopped}{goes_on}") from None
    except (tables.Broken, pool.WorkerDied) as error:
        raise Stop(FAILED, f"{error}{goes_on}") from None
    if not arguments.quiet:
        for line in _told(done, files.refused):
            print(line, file=sys.stderr)
    return FAILED if done.bad else OK


def _apart(names: list[str], files: Files) -> None:
    """Refuse to write into a file that is read, or two things into one."""
    seen = {os.path.realpath(name) for name in names if name != lines.STDIN}
    for name in filter(None, files):
        if (real := os.path.realpath(name)) in seen:
            raise Stop(USAGE, f"`{name}` is read or written already; name another file")
        seen.add(real)


@contextmanager
def _progress(size: int | None, quiet: bool) -> Iterator[Callable[[Sum], None]]:
    """Give what shows how far a run is: a bar, where a person looks and `tqdm` is installed."""
    bar: Any = None
    if not quiet and (made := terminal.bar()) is not None:
        bar = made(total=size, unit="B", unit_scale=True, dynamic_ncols=True)
    if bar is None:
        yield lambda done: None
        return

    def seen(done: Sum) -> None:
        rate = done.good / max(bar.format_dict["elapsed"], 0.001)
        bar.set_postfix_str(f"{done.good:,} lines, {rate:,.0f}/s, {done.bad:,} bad", refresh=False)
        bar.update(done.read - bar.n)

    with bar:
        yield seen


def _told(done: Sum, refused: str | None) -> Iterator[str]:
    """Yield what a run says at its end: a table of its notes, and how many lines there were."""
    graver = SEVERITIES.index
    ranked = sorted(done.counts.items(), key=lambda one: (-graver(one[0][0]), -one[1].notes))
    rows = [(*key, *count) for key, count in ranked]
    if rows:
        yield from columns([("severity", "code", "effect", "notes", "lines", "first at"), *rows])
    told = [f"{done.good:,} converted"]
    if done.bad:
        told.append(f"{done.bad:,} refused" + (f" (in {refused})" if refused else ""))
    if done.blank:
        told.append(f"{done.blank:,} blank")
    count = done.good + done.bad + done.blank
    yield f"{count:,} line{'s' * (count != 1)}: {', '.join(told)}"
    if done.bad and not done.good:
        yield "a line is one JSON value: `jq -c '.[]'` makes lines of a list, `jq -c .` of others"
