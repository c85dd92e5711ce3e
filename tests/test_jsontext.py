"""JSON text is what JSON.stringify writes, and only strict JSON is parsed."""

from __future__ import annotations

import json
import random
import shutil
import struct
import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import width
from wireglot import jsontext
from wireglot.payload import check_json

NODE = shutil.which("node")
FLOATS = {
    0.0: "0",
    1.0: "1",
    -2.5: "-2.5",
    1e-6: "0.000001",
    1e-7: "1e-7",
    -1.5e-7: "-1.5e-7",
    1e16: "10000000000000000",
    1.2345678901234567e20: "123456789012345670000",
    1e21: "1e+21",
    1.5e300: "1.5e+300",
    5e-324: "5e-324",
}


@pytest.mark.parametrize("value", [*FLOATS, -0.0], ids=repr)
def test_a_float_is_printed_as_javascript_prints_it(value: float) -> None:
    assert jsontext.stringify([value]) == f"[{FLOATS[value]}]"
    assert (
        jsontext.stringify({"k": value, "1.5": "2.5e7"}) == f'{{"k":{FLOATS[value]},"1.5":"2.5e7"}}'
    )


def test_a_whole_number_of_any_size_stays_exact() -> None:
    number = 10**400 + 7
    assert jsontext.stringify({"k": number, "x": 1.5}) == f'{{"k":{number},"x":1.5}}'
    assert jsontext.parse(str(number)) == number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\ud800", '"\\ud800"'),
        ("a\udfffb", '"a\\udfffb"'),
        ("\ud83d\ude00", '"\U0001f600"'),
        ("\u2028é\x7f", '"\u2028é\x7f"'),
        ("\x01\n", '"\\u0001\\n"'),
    ],
)
def test_a_text_is_escaped_only_where_it_must_be(value: str, text: str) -> None:
    assert jsontext.stringify(value) == text
    assert jsontext.stringify([value, 0.5]) == f"[{text},0.5]"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [10**5000]])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        jsontext.stringify(value)


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "-Infinity",
        "1e400",
        '[{"a":[-1e400]}]',
        "[1,]",
        "[1] 2",
        " ",
        "9" * 5000,
        "[" * 100_000,
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        jsontext.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a":1, "a" :2}',
        '{"a":{"b":1,"b":1}}',
        '[{"a":1,"a":":"}]',
        '{"a":":","a":1}',
        '{"a" :1,"a":":"}',
        '{"\\u0061":1,"a":2}',
    ],
)
def test_a_key_that_stands_twice_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="twice"):
        jsontext.parse(text)


@pytest.mark.parametrize("text", ['{"a":":\\":"}', '{"a" : 1}', '[{"a":1},{"a":2}]', '{"a":"{"}'])
def test_a_key_that_stands_once_is_read(text: str) -> None:
    assert jsontext.parse(text) == json.loads(text)


_TEXTS = ["a", ".0,", '".0]', "\\", '\\"', "1e-7", "\0", "\1", "\n", "2.0", ""]
_VALUES = st.recursive(
    st.sampled_from([*FLOATS, -0.0, 10, 100.0, 2.05, 10**30, True, None])
    | st.lists(st.sampled_from(_TEXTS), max_size=3).map("".join),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(_TEXTS), inner),
    max_leaves=20,
)


def _text(value: Any) -> str:
    """Return JSON text, made of one value after another."""
    if isinstance(value, float):
        return FLOATS.get(value, f"{value:.15g}")
    if isinstance(value, dict):
        return "{" + ",".join(f"{_text(key)}:{_text(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


@settings(max_examples=width.times(200, 100), deadline=None)
@given(_VALUES)
def test_values_are_written_as_float_by_float(value: Any) -> None:
    assert jsontext.stringify(value) == _text(value) == jsontext.utf8(value).decode()


@pytest.mark.parametrize("text", ["é", "\ud800", "a\udc00b", "\ud83d\ude00", "\ud83d\ude00\ud83d"])
def test_bytes_are_those_of_the_text(text: str) -> None:
    for value in (text, {text: 1.0}, [text, 1e-7]):
        assert jsontext.utf8(value) == jsontext.stringify(value).encode()


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ('{"a": [1, "b"]}', True),
        ("[" * jsontext.MAX_DEPTH + "]" * jsontext.MAX_DEPTH, True),
        ("[" * (jsontext.MAX_DEPTH + 1) + "]" * (jsontext.MAX_DEPTH + 1), False),
        ('["\\ud83d\\ude00"]', False),  # a pair, but nobody has looked
        ('["\\uD800"]', False),
        (' {"a": 1}', False),
    ],
)
def test_it_is_told_of_what_nobody_needs_to_look_again(text: str, sure: bool) -> None:
    value, told = jsontext.looked_at(text)
    assert told is sure
    assert value == json.loads(text)
    if sure:
        check_json(value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": NaN}', "`NaN` is no JSON number"),
        ('{"a": 1e999}', "1e999 is larger than numbers can be"),
        ('{"a": 1, "a": 2}', "the key `a` stands twice in one object"),
        ("[1", "Expecting ',' delimiter"),
        ("[1] 2", "Extra data"),
    ],
)
def test_what_is_no_json_is_refused_where_it_is_looked_at(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        jsontext.looked_at(text)


def _reference(text: str) -> Any:
    def pairs(found: list[tuple[str, Any]]) -> Any:
        assert len({key for key, _ in found}) == len(found)
        return dict(found)

    def number(digits: str) -> float:
        assert abs(float(digits)) != float("inf")
        return float(digits)

    return json.loads(text, object_pairs_hook=pairs, parse_float=number)


@settings(max_examples=width.times(300, 150), deadline=None)
@given(st.data())
def test_texts_are_read_as_the_slow_way_reads_them(data: st.DataObject) -> None:
    blank = st.sampled_from(["", "", "", " ", "\n\t"])
    texts = st.sampled_from(['"a"', '":"', '"\\u0061"'])

    def written(depth: int) -> str:
        kind = data.draw(st.sampled_from(["text", "number", "object", "list"][: 4 if depth else 2]))
        if kind == "text":
            return data.draw(texts)
        if kind == "number":
            return data.draw(st.sampled_from(["1", "1.0", "2e5", "1e400", "null", "true"]))
        size = range(data.draw(st.integers(0, 3)))
        if kind == "list":
            return "[" + ",".join(draw_blank() + written(depth - 1) for _ in size) + "]"
        pairs = (
            data.draw(texts) + draw_blank() + ":" + draw_blank() + written(depth - 1) for _ in size
        )
        return "{" + ",".join(pairs) + "}"

    def draw_blank() -> str:
        return data.draw(blank)

    text = draw_blank() + written(3) + draw_blank()
    try:
        wanted = _reference(text)
    except AssertionError:
        with pytest.raises(ValueError):
            jsontext.parse(text)
    else:
        assert json.dumps(jsontext.parse(text)) == json.dumps(wanted)


@pytest.mark.skipif(NODE is None, reason="node is not on this machine")
def test_thousands_of_values_are_written_as_node_writes_them() -> None:
    chance = random.Random(7)
    bits = (struct.pack(">Q", chance.getrandbits(64)) for _ in range(2500))
    floats = [value for value in (struct.unpack(">d", b)[0] for b in bits) if value - value == 0]
    floats += [chance.random() * 10.0 ** chance.randint(-12, 25) for _ in range(2500)]
    planes = ((0, 0x7F), (0, 0xFFFF), (0xD800, 0xDFFF), (0x2027, 0x2030), (0x10000, 0x10FFFF))
    texts = [
        "".join(chr(chance.randint(*chance.choice(planes))) for _ in range(chance.randint(0, 9)))
        for _ in range(2500)
    ]
    program = (
        "const [floats, texts] = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "const number = (hex) => Buffer.from(hex, 'hex').readDoubleBE(0);"
        "const out = [...floats.map(number), ...texts.map((t) => ({ k: [t, 1.5] }))];"
        "console.log(JSON.stringify(out.map((v) => JSON.stringify(v))));"
    )
    given = json.dumps([[struct.pack(">d", value).hex() for value in floats], texts])
    assert NODE is not None
    done = subprocess.run(
        [NODE, "-e", program], input=given, capture_output=True, check=True, text=True
    )
    wanted = json.loads(done.stdout)
    values: list[Any] = [*floats, *({"k": [text, 1.5]} for text in texts)]
    wrong = [v for v, text in zip(values, wanted, strict=True) if jsontext.stringify(v) != text]
    assert not wrong[:5]
