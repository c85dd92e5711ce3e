"""`wireglot redact`: what payloads are made of stays, what they say goes."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

import wireglot
from benchmarks import recorded
from wireglot import cli
from wireglot.authoring.redact import STRING, NotRedacted, Redaction

Json = Any
PERSON = {
    "type": "object",
    "properties": {"full_name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["full_name"],
}


def call(name: str, arguments: str) -> Json:
    function = {"name": "find_person", "arguments": arguments}
    return {"id": name, "type": "function", "function": function}


def image(url: str) -> Json:
    return {"type": "image_url", "image_url": {"url": url}}


PARTS = [
    {"type": "text", "text": "Köln, 東京 & 12:30?"},
    image("data:image/png;base64,iVBORw0KGgo="),
    image("https://example.com/jane.png"),
]
CALLS = [call("call_a1", '{"full_name": "Jane Doe", "age": 41}'), call("call_b2", '{"full_na')]
BODY = {
    "model": "gpt-5-mini",
    "messages": [
        {"role": "system", "content": "You are Jane Doe's agent."},
        {"role": "user", "content": PARTS},
        {"role": "assistant", "content": None, "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "call_a1", "content": "secret: true"},
    ],
    "tools": [{"type": "function", "function": {"name": "find_person", "parameters": PERSON}}],
    "temperature": 0.5,
}
SECRETS = (
    "Jane",
    "Doe",
    "Köln",
    "東京",
    "find_person",
    "full_name",
    "a1",
    "iVBOR",
    "age\\",
    "jane",
)


@pytest.fixture(scope="module")
def redaction() -> Redaction:
    rules = wireglot.packaged()
    return Redaction((rules[name].model for name in rules.dialects), secret=b"of the test")


def skeleton(value: Json) -> Json:
    """Return what redacting leaves: the make of a value, and the lengths of its strings."""
    if type(value) in (int, float):
        return type(value), value == 0
    if isinstance(value, dict):
        return [[len(key), skeleton(inner)] for key, inner in value.items()]
    if isinstance(value, list):
        return [skeleton(inner) for inner in value]
    return len(value) if isinstance(value, str) else value


def test_what_is_said_goes_and_what_it_is_made_of_stays(redaction: Redaction) -> None:
    text = json.dumps(BODY, indent=1, ensure_ascii=False)
    made = redaction.text(text)
    body = json.loads(made)
    assert not [word for word in SECRETS if word in made]
    assert skeleton(body) == skeleton(BODY)
    assert STRING.sub("", made) == STRING.sub("", text)
    assert body["model"] == "gpt-5-mini"
    one, broken = body["messages"][2]["tool_calls"]
    assert one["id"] == body["messages"][3]["tool_call_id"] != broken["id"]
    function = body["tools"][0]["function"]
    assert one["function"]["name"] == broken["function"]["name"] == function["name"]
    keys = list(json.loads(one["function"]["arguments"]))
    assert keys == list(function["parameters"]["properties"])
    assert keys[:1] == function["parameters"]["required"]
    urls = [part["image_url"]["url"] for part in body["messages"][1]["content"][1:]]
    assert urls[0].startswith("data:image/png;base64,") and urls[0].endswith("=")
    assert urls[1].startswith("https://")


def test_a_piece_of_json_says_nothing_in_any_script(redaction: Redaction) -> None:
    said = '{"ort": "東京", "straße": true, "имя": "Ян'
    made = json.loads(redaction.text(json.dumps({"partial_json": said})))["partial_json"]
    words = ("ort", "東", "京", "stra", "ß", "и", "м", "я", "Я", "н")
    assert not [word for word in words if word in made]
    assert len(made) == len(said) and ": true, " in made


def test_a_redacted_payload_converts_as_the_one_that_it_was(redaction: Redaction) -> None:
    made = json.loads(redaction.text(json.dumps(BODY)))
    one, two = (wireglot.convert(body, "openai-chat", "anthropic") for body in (BODY, made))
    assert skeleton(one.body) == skeleton(two.body)
    assert [(n.code, n.rule) for n in one.notes] == [(n.code, n.rule) for n in two.notes]


@pytest.mark.skipif(not recorded.there(), reason="../shared/traffic is not here")
def test_recorded_payloads_keep_what_they_are_made_of(redaction: Redaction) -> None:
    dialects = ("anthropic", "openai-chat", "gemini", "openai-responses", "ollama")
    bodies = [b for d in dialects for unit in recorded.UNITS for b in recorded.small(d, unit)[::40]]
    assert len(bodies) > 20
    for one in bodies:
        assert skeleton(json.loads(redaction.text(one.text))) == skeleton(json.loads(one.text))


@pytest.mark.parametrize(
    ("said", "stays"),
    [
        ("image/png", "image/png"), ("text/jane-doe", "text/"), ("audio/L16;rate=24000", "audio/"),
        ("data:image/png;base64,Jane", "data:image/png;base64,"),
        ("data:text/jane,Jane", "data:text/"), ("https://jane.example", "https://"),
        ("jane://jane.doe", ""), ("12345", ""),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_word_says_nothing(
    redaction: Redaction, said: str, stays: str
) -> None:
    made = redaction.word(said)
    assert made.startswith(stays) and len(made) == len(said) and "jane" not in made.lower()
    assert made == said if said == stays else made[len(stays) :] != said[len(stays) :]


def test_numbers_stay_where_a_dialect_has_them_and_days_move_alike(redaction: Redaction) -> None:
    said = {"max_tokens": 4711, "jane": 4711, "a": [4711, 1.5, 0, -20], "b": '{"card": 4929}'}
    made = redaction.text(json.dumps(said))
    assert made.count("4711") == 1 and '"max_tokens": 4711' in made and "4929" not in made
    assert [type(one) for one in list(json.loads(made).values())[2]] == [int, float, int, int]
    assert ", 0, -" in made
    born, died = (redaction.word(f"{year}-02-03T04:05:06Z") for year in (1990, 1991))
    assert born[10:] == died[10:] == "T04:05:06Z" and born < died and not born.startswith("1990-02")
    days = [datetime.date.fromisoformat(one[:10]) for one in (born, died)]
    assert days[1] - days[0] == datetime.date(1991, 2, 3) - datetime.date(1990, 2, 3)
    assert redaction.word("1990-02-31") != "1990-02-31"
    events = redaction.text("event: jane\nid: 4711\ndata: jane\n\nevent: ping\ndata: [DONE]\n")
    assert "jane" not in events and "4711" not in events and events.endswith("data: [DONE]\n")


def test_lines_and_streams_keep_their_form(redaction: Redaction) -> None:
    text = (
        'event: message_start\ndata: {"type":"message_start","x":"Jane"}\n\n: ping\n\n'
        'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"Jane"}}\n\n'
        "data: [DONE]\n\n"
    )
    made = redaction.text(text)
    assert "Jane" not in made
    assert [line[:26] for line in made.splitlines()] == [line[:26] for line in text.splitlines()]
    lines = '{"a": "Jane"}\n{"a": "Jane"}\n'
    one, two = redaction.text(lines).splitlines()
    assert one == two and "Jane" not in one


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Jane Doe", "line 1 is neither JSON nor an event of a stream"),
        ('{"a": 1}\nJane', "line 2 is neither JSON nor an event of a stream"),
        ('{"a": "b", Jane: 1}', "line 1 is neither JSON nor an event of a stream"),
        ("event: Jane Doe lives here\n", "line 1 is neither JSON nor an event of a stream"),
        ('{"a": "Jane', "line 1 is neither JSON nor an event of a stream"),
        ('{"a": "\\q"}', '"\\q" is no string of JSON'),
    ],
)
def test_what_is_no_json_is_refused_and_nothing_is_shown(
    redaction: Redaction, text: str, told: str
) -> None:
    with pytest.raises(NotRedacted) as error:
        redaction.text(text)
    assert str(error.value) == told


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(BODY))
    (tmp_path / "b.json").write_text('{"id": "call_a1", "name": "Ulm"}')
    (tmp_path / "out").mkdir()
    assert cli.main(["redact", str(file), "--keep", "find_person"]) == 0
    one = capsys.readouterr().out
    assert "find_person" in one and "Jane" not in one
    assert cli.main(["redact", str(file)]) == 0
    assert capsys.readouterr().out != one  # another run has other letters
    both = [str(file), str(tmp_path / "b.json")]
    assert cli.main(["redact", *both]) == 2
    assert "several files need `-o FOLDER`" in capsys.readouterr().err
    assert cli.main(["redact", *both, "-o", str(tmp_path / "out")]) == 0
    a, b = (json.loads((tmp_path / "out" / n).read_text()) for n in ("a.json", "b.json"))
    assert a["messages"][2]["tool_calls"][0]["id"] == b["id"] != "call_a1"
    file.write_text("no json")
    assert cli.main(["redact", str(file)]) == 1
    assert "a.json`: line 1 is neither JSON nor" in capsys.readouterr().err
