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
from ..batch.pieces import Tally
from ..batch.run import Files, Stopped, run
from ..columns import columns
from ..notes import SEVERITIES
from . import given, terminal
from .terminal import FAILED, FORBIDDEN, OK, USAGE, Stop


def batch(arguments: argparse.Namespace) -> int:
    """Convert the lines of files. Raises WireglotError, and Stop."""
    terminal.require_rule_files(*arguments.rules)
    options, policy = given.options(arguments), given.policy(arguments.policy)
    inputs = lines.files(arguments.files)
    output = arguments.output
    refused = arguments.bad or (f"{output}.bad.jsonl" if output else None)
    outputs = Files(output, refused, arguments.notes)
    _check_distinct(inputs, outputs)
    if arguments.text and not arguments.at:
        raise Stop(USAGE, "`--text` goes with `--at`: a line is a text of JSON anyway")
    if arguments.resume and output is None:
        raise Stop(USAGE, "`--resume` goes with `-o FILE`: standard output knows no run before")
    if arguments.resume and os.path.isfile(output) and not os.path.exists(outputs.part):
        print(f"{output} is whole; there is nothing to go on with", file=sys.stderr)
        return OK
    job = Job(
        arguments.source, arguments.target, arguments.unit, arguments.model, options, policy,
        tuple(arguments.rules), tuple(arguments.overlay), arguments.plugins,
        keys(arguments.at), arguments.text,
    )  # fmt: skip
    resume_hint = f"; `--resume` goes on from there, into {output}" if output else ""
    converter = job.ready()
    gc.freeze()  # no collection walks through the rules, which stay, in forked processes too
    try:
        with _progress(lines.size(inputs), arguments.quiet) as show:
            done = run(
                converter,
                inputs,
                outputs,
                workers=arguments.workers or pool.cores(),
                aside=arguments.forbidden == "aside",
                resume=arguments.resume,
                force=arguments.force,
                show=show,
            )
    except Stopped as stopped:
        raise Stop(FORBIDDEN, f"{stopped}{resume_hint}") from None
    except (tables.Broken, pool.WorkerDied) as error:
        raise Stop(FAILED, f"{error}{resume_hint}") from None
    if not arguments.quiet:
        for line in _summary(done, outputs.refused):
            print(line, file=sys.stderr)
    return FAILED if done.bad else OK


def _check_distinct(inputs: list[str], outputs: Files) -> None:
    """Raise Stop where a file would be written that is read, or two things into one."""
    seen = {os.path.realpath(file) for file in inputs if file != lines.STDIN}
    for file in filter(None, outputs):
        if (real := os.path.realpath(file)) in seen:
            raise Stop(USAGE, f"`{file}` is read or written already; name another file")
        seen.add(real)


@contextmanager
def _progress(size: int | None, quiet: bool) -> Iterator[Callable[[Tally], None]]:
    """Give what takes the tally so far and moves a bar of `size` bytes, where there can be one."""
    bar: Any = None
    if not quiet and (tqdm := terminal.progress_bar()) is not None:
        bar = tqdm(total=size, unit="B", unit_scale=True, dynamic_ncols=True)
    if bar is None:
        yield lambda tally: None
        return

    def show(tally: Tally) -> None:
        rate = tally.good / max(bar.format_dict["elapsed"], 0.001)
        text = f"{tally.good:,} lines, {rate:,.0f}/s, {tally.bad:,} bad"
        bar.set_postfix_str(text, refresh=False)
        bar.update(tally.read - bar.n)

    with bar:
        yield show


def _summary(done: Tally, refused: str | None) -> Iterator[str]:
    """Yield what is printed at the end: a table of notes, the gravest first, and line counts."""
    rank = SEVERITIES.index
    ranked = sorted(done.counts.items(), key=lambda row: (-rank(row[0][0]), -row[1].notes))
    rows = [(*key, *count) for key, count in ranked]
    if rows:
        yield from columns([("severity", "code", "effect", "notes", "lines", "first at"), *rows])
    parts = [f"{done.good:,} converted"]
    if done.bad:
        parts.append(f"{done.bad:,} refused" + (f" (in {refused})" if refused else ""))
    if done.blank:
        parts.append(f"{done.blank:,} blank")
    count = done.good + done.bad + done.blank
    yield f"{count:,} line{'s' * (count != 1)}: {', '.join(parts)}"
    if done.bad and not done.good:
        yield "a line is one JSON value: `jq -c '.[]'` makes lines of a list, `jq -c .` of others"
