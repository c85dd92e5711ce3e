"""`wireglot drift`: the rules against the types of an SDK that is made here, and of real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wireglot import cli, load_rules
from wireglot.authoring import drift
from wireglot.errors import RuleError, UsageError
from wireglot.language.source import Node

SDK = """
from __future__ import annotations
import enum, io
from typing import IO, Any, Literal, Optional, TypedDict, Union
from pydantic import BaseModel, Field
from typing_extensions import Annotated, Required

class Level(enum.Enum):
    LOW = "LOW"
    HIGH = "HIGH"

class Cache(TypedDict, total=False):
    kind: str
    ttl: int

class Turn(TypedDict, total=False):
    by: Required[Literal["human", "bot", "judge"]]
    said: str
    cache: Cache

class Request(TypedDict, total=False):
    engine: Required[str]
    level: Level
    turns: Required[list[Turn]]
    file: IO[bytes]
    secret: str
    extra: dict[str, Any]
    old: int

class Count(BaseModel):
    taken: int
    cached: int

class Answer(BaseModel):
    said: str
    why: Optional[Literal["stop", "length"]] = None
    count: Optional[Count] = None
    price: Annotated[Optional[float], Field(alias="cost")] = None

class Piece(BaseModel):
    type: Literal["piece"]
    said: str
    weight: float

class End(BaseModel):
    type: Literal["end"]
    why: Literal["stop", "length"]

class Beat(BaseModel):
    type: Literal["beat"]

class Tally(BaseModel):
    type: Literal["tally"]
    count: Count

class Debug(BaseModel):
    type: Literal["debug"]
    text: str

Frame = Union[Piece, End, Beat, Debug, Tally]

class Fault(BaseModel):
    text: str

class Client:
    def chat(self, *, engine: str, timeout: float, tempo: int = 1) -> Answer: ...

class Odd(TypedDict):
    what: Level | io.StringIO
"""
KNOWN = """\
toy:
  package: toy-sdk
  request: toysdk:Request
  response: toysdk:Answer
  error: {error: toysdk:Fault}
  stream: toysdk:Frame
  not-sent: [Request.secret]
"""
RULES = """\
wireglot: 2
dialect: toy
see: https://toy.example
verified: 2026-11-25
tables:
  role: {write: {user: human, assistant: bot}}
  level: {write: {low: low, high: high, max: most}}
  why: {write: {end_turn: stop, max_tokens: length}, read-also: {tired: end_turn}}
shapes:
  text: {wire: {said: $text}}
  usage: {wire: {taken: $input, thought: $reasoning (optional)}}
  candidate: {wire: {said: $parts each text | text, why: $stop_reason | why (optional)}}
conversation:
  wire: {...: $parts each text | single}
  cases: {user: {wire: {by: human}}, assistant: {wire: {by: bot}}}
request:
  wire:
    engine: $model
    level: $reasoning.effort | level (optional)
    turns: $messages as conversation
    extra: $own.extra (optional)
    old: $own.old (refused)
    mood (or humour): $own.mood (optional)
    past: $own.past (refused)
response: {wire: {...: $candidates each candidate | single, count: $usage as usage (optional)}}
stream:
  framing: sse
  named: type
  events:
    append.text: {type: piece, said: $piece, mark: $own.mark (optional)}
    finish: {type: end, why: $stop_reason | why}
    usage: {type: tally, count: $usage as usage}
    keepalive: {type: ping}
  drop: {debug: It says nothing to anybody.}
error: {wire: {error: {text: $message}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the SDK, and return the folder of the rules."""
    site, rules = tmp_path / "site", tmp_path / "rules"
    for path, text in (
        (site / "toysdk.py", SDK),
        (site / "toy_sdk-1.2.dist-info" / "METADATA", "Name: toy-sdk\nVersion: 1.2\n"),
        (rules / "toy.yaml", RULES),
        (rules / "drift" / "sdks.yaml", KNOWN),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(site))
    return rules


def told(folder: Path) -> drift.Drift:
    return drift.of(load_rules(str(folder))["toy"], drift.load_sdks([str(folder)])["toy"])


def test_what_either_side_lacks_is_told(folder: Path) -> None:
    found = told(folder)
    assert found[:3] == ("toy", "toy-sdk", "1.2") and found.unread == []
    assert [(row.what, row.unit, row.lacks) for row in found.rows] == [
        ("turns[].cache", "request", "rules"),
        ("mood", "request", "sdk"),
        ("`most` as level", "request", "sdk"),
        ("`judge` as turns[].by", "request", "rules"),
        ("cost", "response", "rules"),
        ("count.cached", "response", "rules"),  # and once: the frame `tally` has the same count
        ("count.thought", "response", "sdk"),
        ("weight of event `piece`", "stream", "rules"),
        ("mark of event `piece`", "stream", "sdk"),
        ("event `beat`", "stream", "rules"),
        ("event `ping`", "stream", "sdk"),
    ]


def test_a_row_says_where_in_the_rules(folder: Path) -> None:
    lines = RULES.splitlines()
    places = {row.what: str(row.rule).rsplit(":", 2) for row in told(folder).rows}
    for what, words in {
        "turns[].cache": "by: human",
        "mood": "$own.mood",
        "`most` as level": "| level",
        "event `ping`": "keepalive",
        "weight of event `piece`": "append.text",
    }.items():
        file, line, _ = places[what]
        assert file == str(folder / "toy.yaml") and words in lines[int(line) - 1], what


def test_a_body_may_be_a_method_s_arguments_and_parts_of_an_object(folder: Path) -> None:
    file = folder / drift.FILE
    request = "{...: toysdk:Client.chat, turns: [toysdk:Turn], level: any, old: any, extra: any}"
    text = f"toy: {{package: toy-sdk, not-sent: [chat.timeout, Turn.cache], request: {request}}}"
    file.write_text(text, "utf-8")
    assert [(row.what, row.lacks) for row in told(folder).rows] == [
        ("tempo", "rules"),
        ("mood", "sdk"),
        ("`judge` as turns[].by", "rules"),
    ]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = cli.main(["drift", *arguments])
    return status, *capsys.readouterr()


def test_the_command_reports_and_never_fails(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, "toy", "--rules", str(folder))
    assert status == 0
    assert out.startswith("toy beside toy-sdk 1.2\n  request: the SDK has 2\n    turns[].cache")
    status, out, _ = run(capsys, "toy", "--rules", str(folder), "--format", "json")
    found: Any = json.loads(out)
    (one,) = found["drift"]
    assert status == 0 and found["missing"] == {} and len(one["rows"]) == 11
    assert one["rows"][0]["path"] == "turns[].cache" and one["rows"][0]["lacks"] == "rules"


def test_an_sdk_that_is_not_there_is_named_as_pip_calls_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift, "packaged_folder", lambda: str(folder))  # no other is known
    (folder / drift.FILE).write_text(KNOWN.replace("toy-sdk", "toy-gone"), "utf-8")
    status, _, err = run(capsys, "toy", "--rules", str(folder))
    assert status == 1 and "toy: its SDK is not installed: `pip install toy-gone`" in err
    status, out, _ = run(capsys, "--rules", str(folder))
    assert status == 0 and "toy: its SDK is not installed: `pip install toy-gone`" in out


def test_a_dialect_whose_sdk_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "openclaw")
    assert status == 2 and "no SDK is known for `openclaw`; drift/sdks.yaml" in err
    status, _, err = run(capsys, "nobody")
    assert status == 2 and "nobody" in err


@pytest.mark.parametrize(
    ("type", "error"),
    [
        ("toysdk:Gone", "has no attribute 'Gone'"),
        ("toysdk.gone:Request", "'toysdk' is not a package"),
        ("toysdk:Odd", "no shape is known for the type"),
    ],
)
def test_a_type_that_moved_is_told_beside_the_rest(folder: Path, type: str, error: str) -> None:
    file = folder / drift.FILE
    file.write_text(KNOWN.replace("toysdk:Request", type), "utf-8")
    found = told(folder)
    (unread,) = found.unread
    assert unread.startswith(f"{file}:3:12: `{type}` is not in the SDK, or cannot be read: ")
    assert error in unread and {row.unit for row in found.rows} == {"response", "stream"}
    assert unread in "\n".join(found.lines())


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[toy]", "1:1: this is a mapping of dialects to their SDKs"),
        ("toy: 1", "1:6: an SDK has a `package`, as pip calls it"),
        ("toy: {package: [a]}", "1:16: an SDK has a `package`, as pip calls it"),
        ("toy: {package: a, answer: any}", "1:27: `answer` is no word of an SDK"),
        ("toy: {package: a, request: Request}", "1:28: this is no type of an SDK"),
        ("toy: {package: a, request: [a:B, a:C]}", "1:28: this is no type of an SDK"),
        ("toy: {package: a, request: {a: [5]}}", "1:33: this is no type of an SDK"),
        ("toy: {package: a, not-sent: A}", "1:29: `not-sent` is a list of names"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_place(
    folder: Path, text: str, error: str
) -> None:
    (folder / drift.FILE).write_text(text, "utf-8")
    with pytest.raises(RuleError) as raised:
        drift.load_sdks([str(folder)])
    assert str(raised.value).startswith(f"{folder / drift.FILE}:{error}")


KNOWN_SDKS = drift.load_sdks()
ALONE = {"anthropic": "anthropic_version", "openai-chat": "prompt_filter_results"}


@pytest.mark.parametrize("name", KNOWN_SDKS)
def test_a_real_sdk_is_read_and_a_field_that_it_adds_is_found(name: str) -> None:
    sdk = KNOWN_SDKS[name]
    try:
        sdk.version  # noqa: B018
    except UsageError as error:
        pytest.skip(str(error))
    dialect = load_rules()[name]
    now = drift.of(dialect, sdk)
    assert now.unread == []
    assert name not in ALONE or (ALONE[name], "sdk") in {(row.path, row.lacks) for row in now.rows}
    node = sdk.units["request"]
    more = Node({"...": node, "brand_new": Node("any", node.pos)}, node.pos)
    rows = drift.of(dialect, sdk._replace(units={**sdk.units, "request": more})).rows
    (found,) = set(rows) - set(now.rows)
    assert (found.what, found.unit, found.lacks) == ("brand_new", "request", "rules")
    assert str(found.rule).partition(":")[0].endswith(".yaml")
