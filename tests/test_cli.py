"""The command line: what goes to which stream, and with which exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wireglot import cli
from wireglot.commandline import given, terminal
from wireglot.language.findings import Findings
from wireglot.loading import checking, load, rulesources

from . import width
from .command import run

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "f", "arguments": '{"x":1,"text":"é"}'},
}
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "Hello."}], "seed": 7}
CROSS = ["--from", "openai-chat", "--to", "anthropic"]


@pytest.fixture
def request_file(tmp_path: Path) -> str:
    return stored(tmp_path, REQUEST)


def stored(directory: Path, value: Any) -> str:
    path = directory / "input.json"
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return str(path)


def status_of(*argv: str) -> int:
    """Run the command in this process; argparse ends by `SystemExit`, which counts too."""
    try:
        return cli.main(argv)
    except SystemExit as stop:
        assert isinstance(stop.code, int)
        return stop.code


def test_stdin_becomes_compact_json_on_stdout() -> None:
    done = run("convert", *CROSS, "--unit", "tool_call", stdin=json.dumps(CALL).encode())
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    expected = '{"type":"tool_use","id":"call_1","name":"f","input":{"x":1,"text":"é"}}\n'
    assert done.stdout.decode() == expected


def test_a_file_is_read_and_a_file_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.json"
    argv = ["convert", stored(tmp_path, CALL), *CROSS, "--unit", "tool_call", "-o", str(target)]
    assert status_of(*argv, "--indent", "2") == 0
    assert capsys.readouterr().out == ""
    text = target.read_text("utf-8")
    assert json.loads(text)["input"] == {"x": 1, "text": "é"}
    assert text.startswith('{\n  "type": "tool_use",\n')


def test_notes_go_to_stderr_one_a_line(
    request_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("convert", request_file, *CROSS) == 0
    out, err = capsys.readouterr()
    assert "seed" not in json.loads(out)
    assert [line for line in err.splitlines() if "/seed" in line and "lost" in line]


def test_notes_can_be_json(request_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("convert", request_file, *CROSS, "--notes", "json") == 0
    notes = json.loads(capsys.readouterr().err)
    (note,) = [note for note in notes if note["source_path"] == "/seed"]
    assert note["effect"] == "lost"
    keys = {"code", "effect", "severity", "source_path", "target_path", "rule", "message"}
    assert set(note) == keys


def test_notes_can_be_left_out(request_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("convert", request_file, *CROSS, "--notes", "none") == 0
    assert capsys.readouterr().err == ""


def test_a_forbidden_note_exits_3_and_prints_no_body(
    request_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("convert", request_file, *CROSS, "--policy", "path:/seed=fail") == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "/seed" in err


def test_a_policy_file_is_read_and_a_later_policy_outranks_it(
    tmp_path: Path, request_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps({"effect:lost": "fail"}))
    argv = ["convert", request_file, *CROSS, "--policy", str(policy)]
    assert status_of(*argv) == 3
    assert "/seed" in capsys.readouterr().err
    assert status_of(*argv, "--policy", "effect:lost=ignore") == 0
    assert "/seed" not in capsys.readouterr().err


def test_the_model_and_the_stream_can_be_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "Hello."}]}]}
    argv = ["convert", stored(tmp_path, body), "--from", "gemini", "--to", "openai-chat"]
    assert status_of(*argv, "--model", "m-1", "--stream") == 0
    out = json.loads(capsys.readouterr().out)
    assert (out["model"], out["stream"]) == ("m-1", True)


def test_an_option_value_is_json_where_it_can_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = {"role": "tool", "tool_call_id": "call_1", "content": '{"x":1}'}
    turn = [{"role": "assistant", "tool_calls": [CALL]}, result]
    argv = ["convert", stored(tmp_path, turn), "--from", "openai-chat", "--to", "gemini"]
    argv += ["--unit", "messages", "--notes", "none"]
    assert status_of(*argv) == 0
    assert status_of(*argv, "--option", "json_results=text", "--option", "repair=true") == 0
    as_data, as_text = map(json.loads, capsys.readouterr().out.splitlines())
    assert as_data[1]["parts"][0]["functionResponse"]["response"] == {"x": 1}
    assert as_text[1]["parts"][0]["functionResponse"]["response"] == {"output": '{"x":1}'}


def test_arguments_are_checked_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = {"name": "f", "input_schema": {"type": "object", "required": ["x"]}}
    call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    body = {
        "max_tokens": 9,
        "tools": [tool],
        "messages": [{"role": "assistant", "content": [call]}],
    }
    argv = ["convert", stored(tmp_path, body), "--from", "anthropic", "--to", "anthropic"]
    assert status_of(*argv) == 0
    assert "bad-arguments" not in capsys.readouterr().err
    assert status_of(*argv, "--check-arguments") == 0
    assert "/messages/0/content/0/input" in capsys.readouterr().err
    assert status_of(*argv, "--check-arguments", "--policy", "bad-arguments=fail") == 3


def test_a_policy_and_an_option_are_parsed_at_the_right_equals_sign() -> None:
    assert given._option("k=a=b") == ("k", "a=b")
    assert given._option("k=[1]") == ("k", [1])
    assert given._option("k=NaN") == ("k", "NaN")
    assert given.policy(["path:/a=b=fail"]).table == {"path:/a=b": "fail"}


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--option", "repair"], "K=V"),
        (["--policy", "effect:lost=shout"], "`shout`"),
        (["--policy", "no-such-file.json"], "cannot be read"),
        (["--policy", "no-such-code=fail"], "no-such-code"),
        (["--unit", "sonnet"], "sonnet"),
        (["--from", "nobody"], "nobody"),
        (["--rules", "no-such-directory"], "no-such-directory"),
        (["--notes", "loud"], "loud"),
        (["--indent", "-3"], "-3"),
        (["--indent", "1000"], "1000"),
        (["-o", "no-such-directory/out.json"], "cannot be written"),
    ],
)
def test_wrong_usage_exits_2_and_says_what_was_wrong(
    argv: list[str], message: str, request_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("convert", request_file, *CROSS, *argv) == 2
    out, err = capsys.readouterr()
    assert (out, message in err) == ("", True), err


def test_a_missing_file_or_command_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("convert", "no-such-file.json", *CROSS) == 2
    assert "`no-such-file.json` cannot be read" in capsys.readouterr().err
    assert status_of() == 2
    assert status_of("convert") == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it is empty"),
        (b'{"a": }', "line 1 column 7"),
        (b'{"a": NaN}', "`NaN`"),
        (b'{"a": -Infinity}', "`-Infinity`"),
        (b'{"a": "\xff"}', "byte 7 is no UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b"1" * 5_000, "is no JSON"),
    ],
    ids=["empty", "unfinished", "nan", "infinity", "bytes", "deep", "long-number"],
)
def test_input_that_is_no_json_exits_1(
    data: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("convert", stored(tmp_path, data), *CROSS) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("value", [[], 1, "text", None, {"messages": 7}])
def test_json_that_is_no_request_exits_1(
    value: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("convert", stored(tmp_path, value), *CROSS) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("wireglot: ")


ASKED = {
    "model": "m", "max_tokens": 9, "system": "Be brief.",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Hello."}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
    ],
    "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}],
}  # fmt: skip


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "gemini", "ollama"])
def test_a_payload_of_another_dialect_is_told(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = stored(tmp_path, ASKED)
    status_of("convert", given, "--from", source, "--to", "anthropic")
    told = capsys.readouterr().err.splitlines()[-1]
    assert "this looks like anthropic, whose pictures take 100% of it; those of " in told
    status_of("convert", given, "--from", "anthropic", "--to", "openai-chat")
    assert "looks like" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "unit"),
    [
        ({"error": {"message": "Slow", "type": "rate_limit_error"}}, "error"),
        ({"id": "r", "choices": [{"index": 0, "finish_reason": "stop",
                                  "message": {"role": "assistant", "content": "Hi"}}]}, "response"),
    ],
)  # fmt: skip
def test_a_payload_of_another_unit_is_told(
    body: Any, unit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("convert", stored(tmp_path, body), *CROSS) == 1
    told = f"this looks like the unit `{unit}` of openai-chat: say `--unit {unit}`"
    assert told in capsys.readouterr().err


def test_events_of_a_stream_are_told_with_what_takes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s").write_text('data: {"id": "r"}\n\n', "utf-8")
    assert status_of("convert", str(tmp_path / "s"), *CROSS) == 1
    assert "events of a stream are read with `--unit stream`" in capsys.readouterr().err


def test_notes_that_are_json_stand_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = stored(tmp_path, ASKED)
    assert status_of("convert", given, *CROSS[:3], "anthropic", "--notes", "json") == 0
    assert len(json.loads(capsys.readouterr().err)) > 1


def test_values_one_a_line_are_told_with_what_takes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = stored(tmp_path, b'{"a": 1}\n\n{"b": 2}\n')
    assert status_of("convert", given, *CROSS) == 1
    said = capsys.readouterr().err
    assert "is no JSON: it holds 2 JSON values, one a line; this command takes one" in said
    assert "`diff --replay` a log of payloads" in said
    assert status_of("convert", stored(tmp_path, b'{"a": 1} {'), *CROSS) == 1
    assert "Extra data" in capsys.readouterr().err


CHUNKS = [
    {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": text}}]}
    for text in ("Good ", "day.")
]


def test_a_json_array_is_a_stream_of_its_elements() -> None:
    done = run(
        "convert",
        *CROSS,
        "--unit",
        "stream",
        stdin=b"\xef\xbb\xbf \n" + json.dumps(CHUNKS).encode(),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"text_delta") == 2
    whole = run("collect", "--dialect", "openai-chat", stdin=json.dumps(CHUNKS).encode())
    assert json.loads(whole.stdout)["choices"][0]["message"]["content"] == "Good day."
    cut = run("convert", *CROSS, "--unit", "stream", stdin=b'[{"id": ')
    assert (cut.returncode, cut.stdout) == (1, b"")
    assert b"`stdin` is no JSON" in cut.stderr


def test_what_holds_no_event_is_no_stream() -> None:
    done = run("convert", *CROSS, "--unit", "stream", stdin=b"Good day.\n")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"`stdin` holds no event of a stream of openai-chat" in done.stderr
    assert run("convert", *CROSS, "--unit", "stream", stdin=b"").returncode == 0
    whole = run("collect", "--dialect", "openai-chat", stdin=b"Good day.\n")
    assert (whole.returncode, whole.stdout) == (1, b"")
    assert b"`stdin` holds no event of a stream of openai-chat" in whole.stderr


def test_what_a_command_does_not_take_is_told_with_what_it_takes() -> None:
    done = run("redact", "--zzz")
    assert done.returncode == 2
    assert b"usage: wireglot redact" in done.stderr
    assert b"unrecognized arguments: --zzz" in done.stderr


def test_a_lone_surrogate_is_escaped_as_json_stringify_does() -> None:
    assert terminal.dump({"a": "\ud800é"}, None) == b'{"a":"\\ud800\xc3\xa9"}\n'


def test_a_reader_that_goes_away_causes_no_traceback(request_file: str) -> None:
    command = [sys.executable, "-m", "wireglot", "convert", request_file, *CROSS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", ["convert - --from gemini --to gemini", "schema --ladder"])
def test_output_that_has_no_room_is_told_in_one_line(command: str) -> None:
    done = shell(f"echo '{{\"contents\": []}}' | wireglot {command} >/dev/full")
    assert done.returncode == 1
    assert done.stderr.decode().startswith("wireglot: stdout cannot be written")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such shell")
@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("schema --ladder >&-", 1, "stdout is closed"),
        ("convert --from gemini --to gemini <&-", 2, "stdin is closed"),
        ("schema --ladder 2>&-", 0, ""),
    ],
)
def test_a_closed_stream_causes_no_traceback(command: str, status: int, message: str) -> None:
    done = shell(f"wireglot {command}")
    assert done.returncode == status, done.stderr
    assert message in done.stderr.decode() and b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") <= 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such shell")
def test_notes_do_not_end_up_in_the_result_where_stderr_is_closed(request_file: str) -> None:
    done = shell(f"wireglot convert {request_file} --from openai-chat --to anthropic 2>&-")
    assert done.returncode == 0
    assert json.loads(done.stdout)["model"] == "m"


def shell(command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell command in which `wireglot` is this one."""
    here = command.replace("wireglot ", f"'{sys.executable}' -m wireglot ", 1)
    return subprocess.run(["sh", "-c", here], capture_output=True, timeout=60)


def test_dialects_are_listed_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("dialects") == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert {"openai-chat", "anthropic", "gemini"} <= set(names)


CHILD = """\
# A host of ours. Not confirmed: what it does at night. It has version 0.2.
wireglot: 2
dialect: acme
extends: chat-compatible
see: https://acme.example/docs
verified: 2026-11-25
"""


def test_the_list_says_what_a_dialect_is_and_what_is_not_confirmed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acme.yaml").write_text(CHILD, "utf-8")
    assert status_of("dialects", "--rules", str(tmp_path)) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("acme"))
    said = ["acme", "chat-compatible", "request", "response", "error", "yes", "6", "2026-11-25"]
    assert row.split() == [*said, "https://acme.example/docs"]
    assert status_of("dialects", "--rules", str(tmp_path), "--format", "json") == 0
    (found,) = (one for one in json.loads(capsys.readouterr().out) if one["name"] == "acme")
    assert found["unconfirmed"] == "what it does at night"
    assert (found["parent"], found["stream"], found["lines"]) == ("chat-compatible", True, 6)


def test_the_packaged_rules_pass_their_test(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = dict(width.some(load.overlays_of().items(), 11))  # test_overlays tries each
    monkeypatch.setattr(load, "overlays_of", lambda: few)
    assert status_of("test", "--runs", "0") == 0, capsys.readouterr().out


def test_a_broken_rule_file_exits_1_with_its_position(
    tmp_path: Path, request_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "broken.yaml").write_text("wireglot: 2\ndialect: [\n")
    directory = str(tmp_path / "rules")
    for argv in (["check", directory], ["test", directory], ["dialects", "--rules", directory]):
        assert status_of(*argv) == 1
        out, err = capsys.readouterr()
        assert "broken.yaml:2:10: " in (out if argv[0] == "check" else err)


def test_nothing_is_tried_with_rules_that_convert_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "wireglot: 2\ndialect: acme\nextends: chat-compatible\n"
    (tmp_path / "acme.yaml").write_text(text + "unions: {block: [text, imagery]}\n")
    assert status_of("test", str(tmp_path)) == 1
    out, err = capsys.readouterr()
    assert (out, "R014" in err, "did you mean `image`" in err) == ("", True, True)


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("--version") == 0
    assert capsys.readouterr().out.startswith("wireglot 0.")


def test_a_shell_completes_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert "-F _shtab_wireglot wireglot" in script
    assert "diagnose" in script and "--overlay" in script
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_folder_of_the_packaged_rules_is_checked_as_such(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def noted(*given: Any) -> Findings:
        asked.append(given)
        return Findings()

    monkeypatch.setattr(checking, "check", noted)
    for folder in (
        [],
        [rulesources.packaged_folder()],
        [f"{rulesources.packaged_folder()}/../rules"],
    ):
        assert cli.main(["check", *map(str, folder)]) == 0
    assert asked == [(None, [])] * 3 and "0 files, no findings" in capsys.readouterr().out
