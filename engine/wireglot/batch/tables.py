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
DATASET = "hf:"  # a data set: hf:NAME, hf:NAME@SPLIT, hf:NAME:CONFIG@SPLIT
GROUP_BYTES = 1 << 22  # of lines that become one group of rows


class Broken(WireglotError):
    """Raised when a file cannot be read to its end."""


def parquet() -> Any:
    """Return the library of Parquet files. Raises UsageError where it is not installed."""
    return library("pyarrow.parquet", "Parquet files need `pip install 'wireglot[parquet]'`")


def rows(raw: IO[bytes], skip: int, batch_size: int) -> Iterator[bytes]:
    """Yield the rows of a Parquet file as JSON lines, without the first `skip`. Raises Broken."""
    pq = parquet()
    try:
        file = pq.ParquetFile(raw)
    except ValueError as error:
        raise Broken(f"`{raw.name}` is no Parquet file: {error}") from None
    columns = file.schema_arrow.names
    if twice := sorted({name for name in columns if columns.count(name) > 1}):
        raise Broken(f"`{raw.name}` has two columns `{twice[0]}`, and an object has one key")
    groups = list(range(file.num_row_groups))
    while groups and (count := file.metadata.row_group(groups[0]).num_rows) <= skip:
        skip -= count
        groups = groups[1:]
    for batch in file.iter_batches(batch_size, row_groups=groups):
        for row in batch.slice(skip).to_pylist():
            yield _json_line(row)
        skip -= min(skip, batch.num_rows)


def _dataset(name: str) -> tuple[Any, str]:
    """Return the builder of a data set, and the split that is asked for. Raises UsageError."""
    datasets = library("datasets", "data sets by name need `pip install 'wireglot[hf]'`")
    whole, _, split = name.removeprefix(DATASET).partition("@")
    path, _, config = whole.partition(":")
    try:
        return datasets.load_dataset_builder(path, config or None), split or "train"
    except Exception as error:  # of many kinds, of all that it asks
        raise UsageError(f"`{name}` is no data set that loads: {error}") from None


def version(name: str) -> str:
    """Return the hash of a data set, which differs in another version. Raises UsageError."""
    return str(_dataset(name)[0].hash)


def dataset_rows(name: str, skip: int) -> Iterator[bytes]:
    """Yield the rows of a data set as they come, without some. Raises UsageError, Broken."""
    builder, split = _dataset(name)
    try:
        found = builder.as_streaming_dataset(split=split).skip(skip)
    except ValueError as error:
        raise UsageError(f"`{name}`: {error}") from None
    try:
        for row in found:
            yield _json_line(row)
    except (OSError, ValueError) as error:
        raise Broken(f"`{name}` cannot be read to its end: {error}") from None


def _json_line(row: Any) -> bytes:
    """Return a row as a line of JSON: times as texts, bytes as base64. NaN is refused when read.

    Raises Broken for a value of another kind.
    """
    try:
        text = stringify(row)
    except (TypeError, ValueError):
        text = json.dumps(row, ensure_ascii=False, default=_plain)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _plain(value: Any) -> str:
    """Return what JSON has for a value that is none of JSON. Raises Broken."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise Broken(f"a row holds what JSON has no form for: a {type(value).__name__}")


def output_row(done: Converted) -> str:
    """Return the line that stands for a value until all become a Parquet file: `[json, notes]`."""
    notes = [note._asdict() for note in done.notes]
    return stringify([stringify(done.value), stringify(notes) if notes else None])


def write_table(lines: str, out: str) -> None:
    """Write a file of lines of `output_row` as Parquet: the columns `json` and `notes`, texts."""
    import pyarrow

    text = pyarrow.string()
    schema = pyarrow.schema([("json", text), ("notes", text)])
    with open(lines, "rb") as file, parquet().ParquetWriter(out, schema) as writer:
        while taken := file.readlines(GROUP_BYTES):
            columns = zip(*map(json.loads, taken), strict=True)
            arrays = [pyarrow.array(column, text) for column in columns]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
