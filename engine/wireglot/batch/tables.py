"""Tables: rows of Parquet files and of data sets by name, as JSON lines, and lines as Parquet."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import IO, Any

from ..errors import UsageError, WireglotError, library
from ..jsontext import stringify
from .job import Converted

PARQUET = ".parquet"
NAMED = "hf:"  # a data set: hf:NAME, hf:NAME@SPLIT, hf:NAME:CONFIG@SPLIT
BYTES = 1 << 22  # of lines that become one group of rows


class Broken(WireglotError):
    """Raised when a file cannot be read to its end."""


def parquet() -> Any:
    """Return the library of Parquet files. Raises UsageError where it is not installed."""
    return library("pyarrow.parquet", "Parquet files need `pip install 'wireglot[parquet]'`")


def rows(raw: IO[bytes], skip: int, many: int) -> Iterator[bytes]:
    """Yield the rows of a Parquet file as JSON lines, behind the first; `many` are held at once."""
    pq = parquet()
    try:
        file = pq.ParquetFile(raw)
    except ValueError as error:
        raise Broken(f"`{raw.name}` is no Parquet file: {error}") from None
    columns = file.schema_arrow.names
    if twice := sorted({one for one in columns if columns.count(one) > 1}):
        raise Broken(f"`{raw.name}` has two columns `{twice[0]}`, and an object has one key")
    groups = list(range(file.num_row_groups))
    while groups and (held := file.metadata.row_group(groups[0]).num_rows) <= skip:
        skip -= held
        groups = groups[1:]
    for batch in file.iter_batches(many, row_groups=groups):
        for row in batch.slice(skip).to_pylist():
            yield _line(row)
        skip -= min(skip, batch.num_rows)


def _builder(name: str) -> tuple[Any, str]:
    """Return what makes a data set, and the split that is asked for. Raises UsageError."""
    datasets = library("datasets", "data sets by name need `pip install 'wireglot[hf]'`")
    whole, _, split = name.removeprefix(NAMED).partition("@")
    path, _, config = whole.partition(":")
    try:
        return datasets.load_dataset_builder(path, config or None), split or "train"
    except Exception as error:  # of many kinds, of all that it asks
        raise UsageError(f"`{name}` is no data set that loads: {error}") from None


def version(name: str) -> str:
    """Return what tells a data set from another one of its name. Raises UsageError."""
    return str(_builder(name)[0].hash)


def stored(name: str, skip: int) -> Iterator[bytes]:
    """Yield the rows of a data set as JSON lines, as they come. Raises UsageError, Broken."""
    builder, split = _builder(name)
    try:
        found = builder.as_streaming_dataset(split=split).skip(skip)
    except ValueError as error:
        raise UsageError(f"`{name}`: {error}") from None
    try:
        for row in found:
            yield _line(row)
    except (OSError, ValueError) as error:
        raise Broken(f"`{name}` cannot be read to its end: {error}") from None


def _line(row: Any) -> bytes:
    """Return a row as a JSON line: times as texts, bytes as base64. What is none is refused later.

    Raises Broken for a value of another kind.
    """
    try:
        text = stringify(row)
    except (TypeError, ValueError):
        text = json.dumps(row, ensure_ascii=False, default=_told)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _told(value: Any) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise Broken(f"a row holds what JSON has no form for: a {type(value).__name__}")


def row(done: Converted) -> str:
    """Return the line that is kept of a value until it is a row of a Parquet file."""
    notes = [note._asdict() for note in done.notes]
    return stringify([stringify(done.value), stringify(notes) if notes else None])


def written(lines: str, out: str) -> None:
    """Write a Parquet file of lines that `row` made: the columns `json` and `notes`, both texts."""
    import pyarrow

    text = pyarrow.string()
    schema = pyarrow.schema([("json", text), ("notes", text)])
    with open(lines, "rb") as file, parquet().ParquetWriter(out, schema) as writer:
        while taken := file.readlines(BYTES):
            columns = zip(*map(json.loads, taken), strict=True)
            arrays = [pyarrow.array(column, text) for column in columns]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
