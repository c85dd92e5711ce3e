"""`wireglot batch`: lines of files become lines of one file; nothing is lost, nothing is mixed."""

from __future__ import annotations

import datetime
import gzip
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import batch, cli
from wireglot.batch import lines, pool, tables
from wireglot.batch.job import Job

Json = Any
PAIR = ["--from", "openai-chat", "--to", "anthropic"]
ENDS: tuple[str, str] = ("openai-chat", "anthropic")


def request(nth: int, **more: Json) -> Json:
    call = {"id": f"c{nth}", "type": "function"}
    function = {"name": "weather", "arguments": json.dumps({"city": "Köln", "n": nth})}
    return {
        "model": "m",
        "messages": [
            {"role": "user", "content": f"Weather {nth}?"},
            {"role": "assistant", "tool_calls": [{**call, "function": function}]},
            {"role": "tool", "tool_call_id": f"c{nth}", "content": "12 C"},
        ],
        **more,
    }


def written(file: Path, values: list[Json], broken: dict[int, bytes] | None = None) -> Path:
    texts = [json.dumps(value).encode() for value in values]
    for nth, text in (broken or {}).items():
        texts[nth] = text
    file.write_bytes(b"".join(text + b"\n" for text in texts))
    return file


def wanted(values: list[Json]) -> list[Json]:
    return [wireglot.convert(value, *ENDS).body for value in values]


def read(file: Path | str) -> list[Json]:
    return [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("workers", ["1", "3"])
def test_lines_come_out_in_their_order(there: Path, workers: str, capsys: Any) -> None:
    values = [request(nth, seed=nth) for nth in range(900)]
    written(there / "in.jsonl", values)
    command = ["batch", "in.jsonl", *PAIR, "-o", "out.jsonl", "--workers", workers]
    assert cli.main([*command, "--notes", "notes.jsonl"]) == 0
    assert read("out.jsonl") == wanted(values)
    told = read("notes.jsonl")
    assert [(one["line"], one["source_path"]) for one in told if one["code"] == "no-place"] == [
        (nth, "/seed") for nth in range(1, 901)
    ]
    assert sorted(os.listdir()) == ["in.jsonl", "notes.jsonl", "out.jsonl"]
    shown = capsys.readouterr().err.splitlines()
    assert shown == [
        "severity  code       effect  notes  lines  first at",
        "warning   no-place   lost      900    900  in.jsonl:1",
        "info      filled-in  added     900    900  in.jsonl:1",
        "900 lines: 900 converted",
    ]


BROKEN = {
    3: (b'{"model": ', "no JSON: column 11: Expecting value"),
    7: (b'{"model": "\xff"}', "no JSON: byte 11 is no UTF-8"),
    9: (b'{"model": NaN}', "no JSON: `NaN` is no JSON number"),
    11: (b"[" * 400 + b"]" * 400, "no JSON: the text is nested too deep"),
    13: (b'{"model": "m", "messages": 1}', "expected a list of messages, at /messages"),
    15: (b'"text"', "expected an object, got `text`, at the top of the payload"),
}


def test_what_is_refused_is_kept_with_its_place_and_reason(there: Path, capsys: Any) -> None:
    values = [request(nth) for nth in range(20)]
    written(there / "in.jsonl", values, {nth: text for nth, (text, _) in BROKEN.items()})
    assert cli.main(["batch", "in.jsonl", *PAIR, "-o", "out.jsonl", "--workers", "1"]) == 1
    assert read("out.jsonl") == wanted([v for nth, v in enumerate(values) if nth not in BROKEN])
    refused = read("out.jsonl.bad.jsonl")
    assert [one["line"] for one in refused] == [nth + 1 for nth in BROKEN]
    for one, (text, reason) in zip(refused, BROKEN.values(), strict=True):
        assert one["file"] == "in.jsonl" and one["reason"].startswith(reason), one
        if "text" in one:
            assert one["text"].encode() == text
        else:
            assert one["base64"]  # it is no UTF-8
    assert "20 lines: 14 converted, 6 refused (in out.jsonl.bad.jsonl)" in capsys.readouterr().err


def test_blank_lines_and_a_byte_order_mark_are_nothing(there: Path, capsys: Any) -> None:
    text = json.dumps(request(1))
    (there / "in.jsonl").write_bytes(f"\ufeff{text}\n\n  \r\n{text}\r\n{text}".encode())
    assert cli.main(["batch", "in.jsonl", *PAIR, "-o", "out.jsonl", "--workers", "1"]) == 0
    assert read("out.jsonl") == wanted([request(1)] * 3)
    assert "5 lines: 3 converted, 2 blank" in capsys.readouterr().err


def test_files_folders_globs_and_what_is_compressed(there: Path) -> None:
    values = [request(nth) for nth in range(40)]
    (there / "in" / "deep").mkdir(parents=True)
    written(there / "in" / "b.jsonl", values[10:20])
    written(there / "in" / "a.ndjson", values[:10])
    packed = gzip.compress(b"".join(json.dumps(v).encode() + b"\n" for v in values[20:25]))
    rest = gzip.compress(b"".join(json.dumps(v).encode() + b"\n" for v in values[25:30]))
    (there / "in" / "deep" / "c.jsonl.gz").write_bytes(packed + rest)
    (there / "in" / "deep" / "notes.txt").write_text("no lines")
    written(there / "d1.jsonl", values[30:35])
    written(there / "d2.jsonl", values[35:])
    command = ["batch", "in", "d*.jsonl", *PAIR, "--workers", "1", "-o"]
    assert cli.main([*command, "out.jsonl.gz"]) == 0
    out = gzip.decompress((there / "out.jsonl.gz").read_bytes()).decode()
    assert [json.loads(line) for line in out.splitlines()] == wanted(values)
    assert cli.main(["batch", "out.jsonl.gz", "--from", "anthropic", "--to", "anthropic",
                     "--workers", "1", "-o", "back.jsonl"]) == 0  # fmt: skip
    assert (there / "back.jsonl").read_text("utf-8") == out


def test_rows_of_parquet_are_lines(there: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    values = [{"id": nth, "messages": request(nth)["messages"]} for nth in range(300)]
    parquet.write_table(pyarrow.Table.from_pylist(values), "in.parquet")
    command = ["batch", "in.parquet", *PAIR, "--at", "/messages", "--unit", "messages"]
    assert cli.main([*command, "-o", "out.jsonl", "--workers", "1"]) == 0
    found = read("out.jsonl")
    assert [one["id"] for one in found] == list(range(300))
    assert [one["messages"] for one in found] == [body["messages"] for body in wanted(
        [request(nth) for nth in range(300)]
    )]  # fmt: skip


def test_a_table_of_texts_goes_into_a_table(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    values = [request(nth, **({"seed": 1} if nth == 7 else {})) for nth in range(600)]
    texts = [json.dumps(value) for value in values]
    days = [datetime.datetime(2026, 11, 26, nth % 24) for nth in range(600)]
    table = pyarrow.table({"day": days, "raw": [b"\xff"] * 600, "body": [*texts[:-1], "{"]})
    parquet.write_table(table, "in.parquet", row_group_size=100)
    command = ["batch", "in.parquet", *PAIR, "--at", "/body", "--text", "--workers", "1", "-o"]
    assert cli.main([*command, "out.parquet"]) == 1
    assert "600 lines: 599 converted, 1 refused" in capsys.readouterr().err
    (bad,) = read("out.parquet.bad.jsonl")
    assert bad["line"] == 600 and bad["reason"].startswith("no JSON: column 2")
    out = parquet.read_table("out.parquet")
    assert out.column_names == ["json", "notes"]
    found = [json.loads(text) for text in out["json"].to_pylist()]
    assert [json.loads(one["body"]) for one in found] == wanted(values[:-1])
    assert [one["day"] for one in found] == [day.isoformat() for day in days[:-1]]
    assert {one["raw"] for one in found} == {"/w=="}
    notes = [json.loads(text or "[]") for text in out["notes"].to_pylist()]
    told = [[note.code for note in wireglot.convert(one, *ENDS).notes] for one in values[:-1]]
    assert [[note["code"] for note in row] for row in notes] == told
    assert "no-place" in told[7] and not (there / "out.parquet.part").exists()
    assert cli.main(["batch", "in.parquet", *PAIR, "--text"]) == 2
    assert "`--text` goes with `--at`" in capsys.readouterr().err
    (there / "in.parquet").write_bytes(b"PAR1")
    assert cli.main([*command, "other.parquet"]) == 1
    assert "`in.parquet` is no Parquet file" in capsys.readouterr().err


def test_two_columns_of_one_name_are_no_object(there: Path, capsys: Any) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = [json.dumps(request(1))]
    parquet.write_table(pyarrow.Table.from_arrays([texts, texts], ["body", "body"]), "in.parquet")
    assert cli.main(["batch", "in.parquet", *PAIR, "--at", "/body", "--text"]) == 1
    assert "`in.parquet` has two columns `body`" in capsys.readouterr().err


def test_a_run_into_a_table_goes_on(there: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    values = [request(nth, **({"seed": 1} if nth == 700 else {})) for nth in range(1000)]
    parquet.write_table(pyarrow.Table.from_pylist(values[:650]), "a.parquet", row_group_size=70)
    written(there / "b.jsonl", values[650:])
    command = ["batch", "a.parquet", "b.jsonl", *PAIR, "--workers", "1", "-o"]
    assert cli.main([*command, "whole.parquet"]) == 0
    assert cli.main([*command, "out.parquet", "--policy", "effect:lost=fail"]) == 3
    journal = json.loads((there / "out.parquet.resume").read_text())
    assert 500 < journal["done"]["good"] < 700
    assert cli.main([*command, "out.parquet", "--resume"]) == 0
    assert (there / "out.parquet").read_bytes() == (there / "whole.parquet").read_bytes()
    assert sorted(one.name for one in there.glob("out.parquet*")) == ["out.parquet"]
    home = ["--from", "anthropic", "--to", "anthropic", "--at", "/json", "--text"]
    assert cli.main(["batch", "out.parquet", *home, "--workers", "1", "-o", "back.jsonl"]) == 0
    texts = parquet.read_table("out.parquet")["json"].to_pylist()
    assert [one["json"] for one in read("back.jsonl")] == texts
    # In the middle of a file, and of a group of its rows.
    for skip in (0, 69, 70, 71, 650):
        with open("a.parquet", "rb") as raw:
            rows = [json.loads(line) for line in tables.rows(raw, skip, 256)]
        said = [row["messages"][0]["content"] for row in rows]
        assert said == [f"Weather {nth}?" for nth in range(skip, 650)]


def test_a_data_set_by_name(
    there: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("datasets", reason="the extra `hf` is not installed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(there / "cache"))
    values = [request(nth) for nth in range(600)]
    (there / "set").mkdir()
    written(there / "set" / "train.jsonl", values)
    command = ["batch", "hf:set", *PAIR, "--workers", "1", "-o"]
    assert cli.main([*command, "out.jsonl"]) == 0
    found, meant = read("out.jsonl"), wanted(values)
    assert [one["messages"] for one in found] == [one["messages"] for one in meant]
    assert [json.loads(line)["messages"][0] for line in tables.dataset_rows("hf:set", 598)] == [
        one["messages"][0] for one in values[598:]
    ]
    version = tables.version("hf:set")
    assert tables.version("hf:set@train") == version
    for name in ("hf:set@test", "hf:nowhere"):
        assert cli.main(["batch", name, *PAIR, "--workers", "1", "-o", "no.jsonl"]) == 2
        assert f"`{name}`" in capsys.readouterr().err
    assert cli.main([*command, "out.jsonl", "--resume"]) == 0
    written(there / "set" / "train.jsonl", values[:500])
    assert tables.version("hf:set") != version  # so no run goes on with the other


def zstd() -> Any:
    """Return what knows zstd, if it is there."""
    return pytest.importorskip(lines.ZSTD, reason="the extra `batch` is not installed")


def test_zst(there: Path) -> None:
    known = zstd()
    values = [request(nth) for nth in range(600)]
    written(there / "in.jsonl", values)
    command = ["batch", *PAIR, "--workers", "1"]
    assert cli.main([*command, "in.jsonl", "-o", "out.jsonl.zst"]) == 0
    with known.open("out.jsonl.zst") as file:
        inside = file.read()
    assert [json.loads(line) for line in inside.splitlines()] == wanted(values)
    (there / "in.jsonl.zst").write_bytes(known.compress((there / "in.jsonl").read_bytes()))
    assert cli.main([*command, "in.jsonl.zst", "-o", "again.jsonl"]) == 0
    assert (there / "again.jsonl").read_bytes() == inside


def test_a_zst_file_that_breaks_off_or_is_none(there: Path, capsys: Any) -> None:
    known = zstd()
    values = [request(nth) for nth in range(600)]
    texts = [json.dumps(value).encode() + b"\n" for value in values]
    one, two = (known.compress(b"".join(part)) for part in (texts[:300], texts[300:]))
    command = ["batch", "in.jsonl.zst", *PAIR, "--workers", "1", "-o", "out.jsonl"]
    unsized = known.compress(
        b"".join(texts), options={known.CompressionParameter.content_size_flag: 0}
    )
    for whole in (one + two, unsized):
        (there / "in.jsonl.zst").write_bytes(whole)
        assert cli.main([*command, "--force"]) == 0
        assert read("out.jsonl") == wanted(values)
        (there / "out.jsonl").unlink()
    capsys.readouterr()
    flipped = bytearray(one)
    flipped[len(one) // 2] ^= 255
    for broken in (one + two[:-3], one + two[: len(two) // 2], one + two[:4], one[:2], b"{}",
                   one + b"more", bytes(flipped)):  # fmt: skip
        (there / "in.jsonl.zst").write_bytes(broken)
        assert cli.main([*command, "--force"]) == 1, len(broken)
        assert "`in.jsonl.zst` cannot be read to its end: " in capsys.readouterr().err
        assert not (there / "out.jsonl").exists()
    (there / "in.jsonl.zst").write_bytes(b"")
    assert cli.main([*command, "--force"]) == 0


def test_one_place_of_a_line_is_converted_and_the_rest_goes_along(there: Path) -> None:
    values = [{"id": nth, "body": request(nth), "url": None} for nth in range(5)]
    written(there / "in.jsonl", [*values, {"id": 5}])
    command = ["batch", "in.jsonl", *PAIR, "--at", "/body", "-o", "out.jsonl", "--workers", "1"]
    assert cli.main(command) == 1
    bodies = wanted([value["body"] for value in values])
    assert read("out.jsonl") == [
        {**value, "body": body} for value, body in zip(values, bodies, strict=True)
    ]
    assert read("out.jsonl.bad.jsonl")[0]["reason"].startswith("nothing stands at /body")


def test_a_policy_stops_and_what_stands_before_is_kept(there: Path, capsys: Any) -> None:
    values = [request(nth) for nth in range(lines.PIECE_LINES * 2 + 10)]
    values[lines.PIECE_LINES + 4]["seed"] = 1
    written(there / "in.jsonl", values)
    command = ["batch", "in.jsonl", *PAIR, "-o", "out.jsonl", "--workers", "1"]
    assert cli.main([*command, "--policy", "effect:lost=fail"]) == 3
    told = capsys.readouterr().err
    assert f"in.jsonl:{lines.PIECE_LINES + 5}: the policy forbids `no-place`" in told
    assert "`--resume` goes on from there, into out.jsonl" in told
    assert not (there / "out.jsonl").exists()
    assert read("out.jsonl.part") == wanted(values[: lines.PIECE_LINES])
    assert cli.main([*command, "--resume"]) == 0
    assert read("out.jsonl") == wanted(values)


def test_a_policy_puts_lines_aside(there: Path) -> None:
    values = [request(nth) for nth in range(10)]
    values[4]["seed"] = 1
    written(there / "in.jsonl", values)
    command = ["batch", "in.jsonl", *PAIR, "-o", "out.jsonl", "--workers", "1"]
    assert cli.main([*command, "--policy", "effect:lost=fail", "--forbidden", "aside"]) == 1
    assert read("out.jsonl") == wanted(values[:4] + values[5:])
    assert read("out.jsonl.bad.jsonl")[0]["line"] == 5


def test_standard_input_and_output(there: Path) -> None:
    values = [request(nth) for nth in range(3)]
    given = "".join(f"{json.dumps(value)}\n" for value in values) + "{\n"
    program = [sys.executable, "-m", "wireglot", "batch", *PAIR, "--workers", "1", "--quiet"]
    done = subprocess.run(program, input=given, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 1
    assert [json.loads(line) for line in done.stdout.splitlines()] == wanted(values)
    assert json.loads(done.stderr)["text"] == "{"


REFUSED = {
    "a file that is not there": (["no.jsonl"], "there is no file `no.jsonl`, and no folder of "),
    "an output that is there": (["in.jsonl"], "`out.jsonl` is there; `--force` writes over it"),
    "an input as an output": (
        ["in.jsonl", "--bad", "in.jsonl", "--force"],
        "`in.jsonl` is read or written already; name another file",
    ),
    "no pointer": (["in.jsonl", "--at", "body", "--force"], "`body` is no JSON pointer: it begins"),
    "standard input again": (
        ["-", "--resume", "-o", "new.jsonl"],
        "standard input cannot be read again: a run over it cannot go on",
    ),
    "no dialect": (
        ["in.jsonl", "--force", "--from", "opnai-chat"],
        "there is no dialect `opnai-chat`; did you mean `openai-chat`? "
        "`wireglot dialects` lists them",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_is_said(there: Path, name: str, capsys: Any) -> None:
    given, told = REFUSED[name]
    written(there / "in.jsonl", [request(1)])
    (there / "out.jsonl").write_text("mine")
    assert cli.main(["batch", *PAIR, "-o", "out.jsonl", "--workers", "1", *given]) in (1, 2)
    assert capsys.readouterr().err.startswith(f"wireglot: {told}")
    assert (there / "out.jsonl").read_text() == "mine"
    assert read("in.jsonl") == [request(1)]


def test_a_file_that_breaks_off_is_said_and_a_run_goes_on(there: Path, capsys: Any) -> None:
    values = [request(nth) for nth in range(600)]
    whole = gzip.compress(b"".join(json.dumps(v).encode() + b"\n" for v in values))
    (there / "in.jsonl.gz").write_bytes(whole[:-20])
    command = ["batch", "in.jsonl.gz", *PAIR, "-o", "out.jsonl", "--workers", "1"]
    assert cli.main(command) == 1
    assert "`in.jsonl.gz` cannot be read to its end: " in capsys.readouterr().err
    assert read("out.jsonl.part") == wanted(values[: len(read("out.jsonl.part"))])
    (there / "in.jsonl.gz").write_bytes(whole)
    assert cli.main([*command, "--resume"]) == 2
    assert "had other files: `--force` begins anew" in capsys.readouterr().err
    assert cli.main(command) == 2
    assert "`--resume` goes on, `--force` begins anew" in capsys.readouterr().err
    assert cli.main([*command, "--force"]) == 0
    assert read("out.jsonl") == wanted(values)


def _running(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    program = [sys.executable, "-m", "wireglot", "batch", "in.jsonl", *PAIR, "-o", "out.jsonl"]
    return subprocess.Popen([*program, "--quiet", "--workers", "2", *more], cwd=folder)


def _until(there: Path, one: subprocess.Popen[bytes]) -> None:
    """Wait until a run has written something down."""
    deadline = time.monotonic() + 60
    while not (there / "out.jsonl.resume").exists():
        assert one.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)


def test_a_run_that_was_killed_goes_on_with_the_same_bytes(there: Path) -> None:
    values = [request(nth, seed=nth) for nth in range(4000)]
    written(there / "in.jsonl", values, {1700: b"{"})
    one = _running(there)
    _until(there, one)
    time.sleep(0.2)
    one.send_signal(signal.SIGKILL)
    assert one.wait() == -signal.SIGKILL
    with open("out.jsonl.part", "ab") as file:
        file.write(b'{"half": ')  # as a write that was cut leaves it
    assert _running(there, "--resume").wait() == 1
    assert read("out.jsonl") == wanted(values[:1700] + values[1701:])
    assert [one["line"] for one in read("out.jsonl.bad.jsonl")] == [1701]
    assert _running(there, "--resume").wait() == 0  # there is nothing left to do
    assert not list(there.glob("*.resume*")) and not list(there.glob("*.part"))


def test_a_run_that_was_killed_before_it_wrote_goes_on(there: Path) -> None:
    values = [request(1)]
    written(there / "in.jsonl", values)
    command = ["batch", "in.jsonl", *PAIR, "--workers", "1", "-o", "out.jsonl"]
    for name in ("out.jsonl.part", "out.jsonl.bad.jsonl"):
        (there / name).touch()
    assert cli.main([*command, "--resume"]) == 0
    assert read("out.jsonl") == wanted(values)
    # It has its name, and the journal is still there.
    (there / "out.jsonl.resume").write_text("{}")
    assert cli.main([*command, "--resume"]) == 0
    # One that was to write over it has not.
    (there / "in.jsonl").write_text("")
    (there / "out.jsonl.part").touch()
    assert cli.main([*command, "--force", "--bad", "no/bad.jsonl"]) == 2
    (there / "out.jsonl.resume").unlink()
    assert cli.main([*command, "--resume"]) == 0
    assert read("out.jsonl") == []


def test_a_run_that_cannot_begin_leaves_nothing(there: Path, capsys: Any) -> None:
    written(there / "in.jsonl", [request(1)])
    (there / "folder").mkdir()
    os.mkfifo(there / "pipe")
    (there / "mine.txt").write_text("mine")
    before = sorted(os.listdir())
    told = {
        "`no/x` cannot be written: No such file": ["-o", "out.jsonl", "--bad", "no/x"],
        "`folder` is a folder or a device": ["-o", "folder", "--force"],
        "`pipe` is a folder or a device": ["-o", "out.jsonl", "--notes", "pipe", "--force"],
        "`mine.txt` is there; `--force`": ["--notes", "mine.txt"],
    }
    for text, more in told.items():
        assert cli.main(["batch", "in.jsonl", *PAIR, "--workers", "1", *more]) == 2
        assert capsys.readouterr().err.startswith(f"wireglot: {text}")
        assert sorted(os.listdir()) == before and (there / "mine.txt").read_text() == "mine"


def test_a_disk_that_is_full_is_said_of_its_file(there: Path) -> None:
    resource = pytest.importorskip("resource", reason="this system has no limits of files")
    values = [request(nth) for nth in range(1200)]
    written(there / "in.jsonl", values)
    program = [sys.executable, "-m", "wireglot", "batch", "in.jsonl", *PAIR, "--workers", "1"]
    limit = (100_000, resource.RLIM_INFINITY)
    done = subprocess.run(
        [*program, "-o", "out.jsonl"], capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("wireglot: `out.jsonl.part` cannot be written: File too large; ")
    assert cli.main([*program[3:], "-o", "out.jsonl", "--resume"]) == 0
    assert read("out.jsonl") == wanted(values)


def test_two_runs_do_not_write_one_file(there: Path, capsys: Any) -> None:
    pytest.importorskip("fcntl", reason="this system holds no files")
    written(there / "in.jsonl", [request(nth) for nth in range(4000)])
    one = _running(there)
    _until(there, one)
    one.send_signal(signal.SIGSTOP)
    for more in ("--resume", "--force"):
        assert cli.main(["batch", "in.jsonl", *PAIR, "-o", "out.jsonl", more]) == 2
        assert "`out.jsonl.part` is written by another run" in capsys.readouterr().err
    one.send_signal(signal.SIGCONT)
    assert one.wait() == 0
    assert len(read("out.jsonl")) == 4000


# -- the function ----------------------------------------------------------------------------------


def _endless() -> Iterator[Json]:
    nth = 0
    while True:
        yield request(nth)
        nth += 1


@pytest.mark.parametrize("workers", [1, 2])
def test_values_of_any_iterable(workers: int) -> None:
    found = batch.convert(_endless(), *ENDS, workers=workers)
    some = [next(found) for _ in range(300)]
    found.close()
    assert [one.value for one in some] == wanted([request(nth) for nth in range(300)])
    assert {note.code for one in some for note in one.notes} == {"filled-in"}


@pytest.mark.parametrize("workers", [1, 2])
def test_values_that_are_refused_keep_their_place(workers: int) -> None:
    values = [request(0), {"messages": 1}, request(2, seed=1), request(3)]
    rule = {"effect:lost": "fail"}
    found = list(batch.convert(values, *ENDS, policy=rule, workers=workers))
    assert [one.value for one in found] == [
        *wanted(values[:1]), values[1], values[2], *wanted(values[3:])
    ]  # fmt: skip
    one, two = found[1].error, found[2].error
    assert isinstance(one, wireglot.ConversionError) and one.path == "/messages"
    assert isinstance(two, wireglot.PolicyError) and two.note.source_path == "/seed"


def test_a_worker_that_dies_is_said() -> None:
    found = batch.convert(_endless(), *ENDS, workers=2)
    next(found)
    for child in multiprocessing.active_children():
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(pool.WorkerDied, match="was killed, or has no memory left"):
        list(found)


def test_errors_go_to_other_processes_as_they_are() -> None:
    with pytest.raises(wireglot.PolicyError) as told:
        wireglot.convert(request(1, seed=1), *ENDS, policy={"effect:lost": "fail"})
    again = pickle.loads(pickle.dumps(told.value))
    assert str(again) == str(told.value) and again.conversion == told.value.conversion
    one = wireglot.ConversionError("odd", "/a", "rules/x.yaml:1:1")
    two = pickle.loads(pickle.dumps(one))
    assert (str(two), two.path, two.rule, two.reason) == (str(one), one.path, one.rule, one.reason)


def test_a_job_carries_its_rules(tmp_path: Path) -> None:
    rule = (
        "wireglot: 2\nsee: https://example.com\nverified: 2026-11-21\n"
        "dialect: mine\nextends: openai-chat\n"
    )
    (tmp_path / "mine.yaml").write_text(rule)
    job = Job("mine", "anthropic", rules=(str(tmp_path),)).carrying()
    (tmp_path / "mine.yaml").unlink()
    job = pickle.loads(pickle.dumps(job))
    assert job.ready().one(request(1)).value == wanted([request(1)])[0]
