"""Conversions of many values: `wireglot batch`, and the same as a function over any iterable."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..loading.rulesources import Source
from ..policy import Policy
from .job import Converted, Converter, Job, NoJson, keys
from .pool import cores, map_pieces

__all__ = ["Converted", "Job", "NoJson", "convert"]

CHUNK = 64  # values that go to a worker together


def convert(
    values: Iterable[Any],
    source: str,
    target: str,
    unit: str = "request",
    model: str | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    policy: Mapping[str, str] | Policy | None = None,
    rules: Sequence[Source] = (),
    overlays: Sequence[str] = (),
    at: str = "",
    text: bool = False,
    workers: int | None = 1,
) -> Generator[Converted, None, None]:
    """Convert each value of an iterable; nothing is held but what is on its way.

    Args:
        values: Parsed JSON, of which any number may come.
        source: The dialect of the values.
        target: The dialect to write.
        unit: What a value is: a whole request, or a piece of one.
        model: The model, where the values do not name it.
        options: As `wireglot.convert` takes them.
        policy: As `wireglot.convert` takes it; a value with a note that it forbids is refused.
        rules: Rule files of your own: folders, zip files or mappings.
        overlays: Names of overlays to switch on.
        at: A JSON pointer to what is converted in each value; the rest goes along as it is.
        text: Whether a text of JSON stands there, and shall again.
        workers: How many processes convert; None for one on each processor. More than one needs
            values, options and policy that can be pickled.

    Yields:
        For each value in its order what became of it; `error` says why one was refused.

    Raises:
        RuleError: A rule file is wrong.
        UsageError: A dialect, unit, option or policy does not exist.
        WorkerDied: A process that converts was killed.
    """
    job = Job(
        source, target, unit, model, options, policy, tuple(rules), tuple(overlays),
        at=keys(at), text=text,
    )  # fmt: skip
    made = map_pieces(job.ready(), _convert_values, _chunks(values), workers or cores())
    return (one for chunk in made for one in chunk)


def _chunks(values: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(values)
    while chunk := list(itertools.islice(rest, CHUNK)):
        yield chunk


def _convert_values(converter: Converter, chunk: list[Any]) -> list[Converted]:
    return [converter.one(value) for value in chunk]
