"""`wireglot new --like`: a vendor's file from recordings, over the dialect that it is like."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli
from wireglot.authoring import recordings, vendor, vocabulary
from wireglot.authoring.starter import Wanted
from wireglot.language.findings import Findings
from wireglot.language.source import parse
from wireglot.loading import load

from . import byhand, width

TRAFFIC = Path(__file__).resolve().parent.parent.parent / "shared" / "traffic"
LIKE = "chat-compatible"
# Recordings, and whose file must not be seen.
HIDDEN = {"deepseek": "deepseek", "groq": "groq", "xai-chat": "xai"}


def answer(**more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Yes.", "reasoning": "Hm."}
    return {
        "id": "r1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **more,
    }  # fmt: skip


def usage(hits: int, **more: Any) -> dict[str, Any]:
    return {
        "prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11,
        "prompt_tokens_details": {"cached_tokens": hits}, "cache_hits": hits, **more,
    }  # fmt: skip


def chunk(delta: dict[str, Any], end: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": end}
    return {
        "id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [choice], **more,
    }  # fmt: skip


REQUEST = {
    "model": "m", "messages": [{"role": "user", "content": "Warm?", "lane": "fast"}],
    "thinking": {"type": "enabled"}, "top_k": 4, "region": "north",
}  # fmt: skip
FRAMES = [
    chunk({"role": "assistant", "content": ""}, acme={"id": "a1"}),
    chunk({"reasoning": "Hm."}, host="one"),
    chunk({"content": "Yes."}, host="one"),
    chunk({}, "stop", acme={"id": "a1", "usage": usage(3, wait=0.5)}),
    "[DONE]",
]
EXCHANGES = [
    {"request": REQUEST, "response": answer(usage=usage(3, wait=0.5), host="one"), "status": 200},
    {"request": REQUEST, "response": answer(usage=usage(0), acme={"id": "a1"}), "status": 200},
    {"request": None, "response": {"error": {"message": "No", "hint": "Wait"}}, "status": 429},
    {"request": REQUEST, "stream": [{"event": None, "data": frame} for frame in FRAMES]},
]
EXPECTED = {
    "stream": {
        "frame": {"$response.own": ["host"], "acme": {"id": "$response.own.acme_id (optional)"}},
        "read-also": {"usage": {"acme": {"usage": "$usage as usage"}}},
        "events": {
            "append.reasoning": {
                "choices": [
                    {
                        "delta": {
                            "reasoning_content": "$removed",
                            "reasoning (or reasoning_content)": "$piece",
                        }
                    }
                ]
            }
        },
    },
    "request": {
        "wire": {
            "top_k": "$top_k (optional)",
            "$own": ["region"],
        }
    },
    "response": {"wire": {"$own": ["host"], "acme": {"id": "$own.acme_id (optional)"}}},
    "error": {"wire": {"error": {"$own": ["hint"]}}},
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Write recordings, one in each line, and the file that is proposed of them."""
    folder = tmp_path_factory.mktemp("like")
    recorded = folder / "recorded.jsonl"
    recorded.write_text("\n".join(map(json.dumps, EXCHANGES)), "utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as told:
        assert proposal("--sample", str(recorded), "--dir", str(folder / "made")) == 0
    (folder / "told").write_text(told.getvalue(), "utf-8")
    return folder, str(recorded)


def proposal(*argv: str) -> int:
    return cli.main(["new", "acme", "--like", LIKE, *argv])


def test_the_file_says_only_what_differs(written: tuple[Path, str]) -> None:
    folder, _ = written
    told = (folder / "told").read_text("utf-8")
    text = (folder / "made" / "acme.yaml").read_text("utf-8")
    made = parse(text, "acme.yaml").plain()
    assert made["extends"] == LIKE
    for word, said in EXPECTED.items():
        assert made[word] == said, word
    assert made["shapes"]["thinking!"] == {"wire": {"...": "$. as thinking_switch"}}
    counts = made["shapes"]["usage"]["wire"]
    assert counts == {"cache_hits": "$cache_read (copy)", "$own": ["wait"]}
    assert made["conversation"]["cases"]["user"] == {"wire": {"$own": ["lane"]}}
    respelled = {"reasoning_content": "$removed"}
    for there in (
        made["shapes"]["candidate"]["wire"]["message"],
        made["conversation"]["cases"]["assistant"]["wire"],
    ):
        assert respelled.items() <= there.items() and "reasoning (or reasoning_content)" in there
    assert "100% of the leaves of 7 recordings, where chat-compatible takes" in told
    assert "# to decide: what is refused" in text


def test_what_is_written_loads_and_takes_the_recordings(written: tuple[Path, str]) -> None:
    folder, recorded = written
    assert cli.main(["check", str(folder / "made")]) == 0
    rules = wireglot.load_rules(folder / "made")
    held = recordings.coverage(
        rules, "acme", recordings_of(rules, Path(recorded).read_text("utf-8"))
    )
    assert (held.faults, held.unknown, held.share) == ([], [], 1.0)
    out = rules.convert(REQUEST, "acme", "gemini", model="m")
    assert out.body["generationConfig"]["topK"] == 4


def recordings_of(rules: wireglot.RuleSet, text: str) -> list[recordings.Recorded]:
    words = vocabulary.Vocabulary(rules)
    return recordings.read(text, rules, LIKE, words.unit_of)


def test_a_word_that_no_table_has_is_left_to_decide(tmp_path: Path) -> None:
    body = answer()
    body["choices"][0]["finish_reason"] = "tired"
    (tmp_path / "one.json").write_text(json.dumps(body), "utf-8")
    assert proposal("--sample", str(tmp_path / "one.json"), "--dir", str(tmp_path)) == 0
    text = (tmp_path / "acme.yaml").read_text("utf-8")
    assert "# to decide: tables: {finish_reason: {read-also: {tired: ...}}}\n" in text


def test_what_a_recording_is_can_be_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.json").write_text('{"oops": [{"says": "Too many."}]}', "utf-8")
    said = ("--sample", str(tmp_path / "one.json"), "--dir", str(tmp_path))
    assert proposal(*said, "--unit", "error") == 0
    assert "`messages` is missing" not in capsys.readouterr().out


def test_a_stream_is_read_from_events_and_from_a_list(tmp_path: Path) -> None:
    rules = wireglot.packaged()
    lines = "".join(f"data: {f if isinstance(f, str) else json.dumps(f)}\n\n" for f in FRAMES)
    (one,) = recordings_of(rules, lines)
    (two,) = recordings_of(rules, json.dumps(FRAMES))
    assert one == two == recordings.Recorded("stream", FRAMES)


def test_what_is_like_in_all_differs_in_nothing(tmp_path: Path) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    (tmp_path / "one.json").write_text(json.dumps(body), "utf-8")
    assert proposal("--sample", str(tmp_path / "one.json"), "--dir", str(tmp_path)) == 0
    assert f"# All is as in {LIKE}" in (tmp_path / "acme.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("argv", "text", "told"),
    [
        ([], "{}", "say `--sample FILE`"),
        (["--sample", "x"], "{", "recordings are JSON, or JSON in each line"),
        (["--sample", "x"], "5", "a recording is an object, or a list of the frames of a stream"),
    ],
)
def test_recordings_that_are_none_are_told(
    argv: list[str], text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("x").write_text(text, "utf-8")
    assert proposal(*argv) == 2
    assert told in capsys.readouterr().err


def without(name: str) -> wireglot.RuleSet:
    """Return the packaged rules without the files of a vendor; all others are checked elsewhere."""
    gone = (name, f"{name}-anthropic")
    nodes = {one: node for one, node in load.packaged().files.items() if one not in gone}
    rules = byhand.from_nodes({}, nodes, Findings())
    assert rules is not None
    return rules


@pytest.mark.skipif(not TRAFFIC.is_dir(), reason="the recordings of ../shared are not there")
@pytest.mark.parametrize(("recorded", "name"), width.some(HIDDEN.items(), len(HIDDEN)))
def test_recorded_vendors_are_proposed_without_their_file(recorded: str, name: str) -> None:
    rules = without(name)
    assert name not in rules.dialects
    with gzip.open(TRAFFIC / f"{recorded}.jsonl.gz", "rt", encoding="utf-8") as file:
        some = list(file)[:: width.times(2, 5)]
    held = recordings_of(rules, "".join(some))
    wanted = Wanted("acme", "https://a.example", "2026-11-25", LIKE)
    made = vendor.proposed(rules, [], wanted, held)
    assert made.after.faults == [] and made.after.share >= 0.99
    assert made.after.lost < made.before.lost
    said = [line for line in made.text.splitlines() if line.strip() and line[0] != "#"]
    assert len(said) <= 45


def test_a_request_that_names_its_model_otherwise_is_given_no_other() -> None:
    body = {"model_id": "g", "messages": [{"role": "user", "content": "Hi"}]}
    rules = wireglot.packaged()
    held = recordings.coverage(rules, "chat-compatible", [recordings.Recorded("request", body)])
    assert held.faults == [] and [one.at for one in held.unknown] == [("model_id",)]
