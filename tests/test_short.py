"""Short forms say what the long ones say, each name in its place."""

from __future__ import annotations

from typing import Any

import pytest

import wireglot

HEAD = "wireglot: 2\ndialect: mini\nsee: https://example.com\nverified: 2026-11-21\n"
LONG = (
    HEAD
    + """
tables: {effort: {write: {low: low, high: high}, read-also: {medium: medium}}}
unsupported: {audio: It holds none., video: It holds none., n: There is one.}
shapes:
  text: {wire: {type: text, text: $text}}
  image:
    wire: {type: image, filename: $filename (optional), detail: $detail (optional)}
    cases:
      base64:
        ir: {source: {type: base64, media_type: $media_type, data: $data}}
        wire: {kind: $media_type, data: $data}
      url: {ir: {source: {type: url, url: $url}}, wire: {link: $url}}
      file_id: {ir: {source: {type: file_id, file: $file}}, wire: {held: $file}}
unions: {part: [text, image]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}, assistant: {wire: {role: assistant}}}
request:
  drop: {debug: It only asks for logs., trace: It only asks for logs.}
  wire:
    turns: $messages as conversation
    temperature: $temperature (optional)
    top_p: $top_p (optional)
    seed: $seed (refused)
    mood: $own.mood (refused)
    effort: $reasoning.effort | effort (optional)
"""
)
SHORT = (
    HEAD
    + """
tables: {effort: {write: [low, high], read-also: [medium]}}
unsupported: {audio video: It holds none., n: There is one.}
shapes:
  text: {wire: {type: text, text: $text}}
  image:
    by: source.type
    wire: {type: image, $: [filename, detail]}
    cases:
      base64: {wire: {kind: $source.media_type, data: $source.data}}
      url: {wire: {link: $source.url}}
      file_id: {wire: {held: $source.file}}
unions: {part: [text, image]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}, assistant: {wire: {role: assistant}}}
request:
  drop: {debug trace: It only asks for logs.}
  wire:
    turns: $messages as conversation
    $: [temperature, top_p]
    $ (refused): [seed]
    $own (refused): [mood]
    effort: $reasoning.effort | effort (optional)
"""
)
PARTS: list[dict[str, Any]] = [
    {"type": "text", "text": "Hi"},
    {"type": "image", "kind": "image/png", "data": "AA==", "detail": "low"},
    {"type": "image", "link": "https://a.example/b.png"},
    {"type": "image", "held": "f1", "filename": "a.png", "odd": 1},
]
BODY = {
    "turns": [{"role": "user", "parts": PARTS}],
    "temperature": 0.5, "top_p": None, "effort": "medium", "debug": True, "trace": 1, "seed": 3,
    "mood": "good",
}  # fmt: skip


def mini(text: str) -> wireglot.RuleSet:
    """Load one file beside the packaged ones."""
    return wireglot.load_rules({"mini.yaml": text})


def test_short_forms_say_what_the_long_ones_say() -> None:
    long, short = mini(LONG), mini(SHORT)
    assert short["mini"].read(BODY).ir == long["mini"].read(BODY).ir
    assert short.convert(BODY, "mini", "mini").body == BODY
    for target in ("anthropic", "openai-chat", "gemini"):
        ways = [rules.convert(BODY, "mini", target) for rules in (long, short)]
        assert ways[0].body == ways[1].body
        told = [
            [(n.code, n.source_path, n.target_path, n.message) for n in way.notes] for way in ways
        ]
        assert told[0] == told[1]
        back = [rules.convert(ways[0].body, target, "mini").body for rules in (long, short)]
        assert back[0] == back[1]


def test_each_name_keeps_its_place() -> None:
    wire = mini(SHORT)["mini"].model.node.value["request"].value["wire"]
    assert wire.value["top_p"].value == "$top_p (optional)"
    assert str(wire.value["top_p"].pos) == "mini.yaml:25:22"
    drop = mini(SHORT)["mini"].model.node.value["request"].value["drop"]
    assert list(drop.value) == ["debug", "trace"]


def test_a_path_within_what_the_ir_shows_is_a_name_in_it() -> None:
    """So other spellings of media types are read there, and pairs are compiled as before."""
    text = SHORT.replace("tables:", "media-types: {image/jpg: image/jpeg}\ntables:").replace(
        "{kind: $source.media_type, data: $source.data}",
        '{data: "${source.media_type};${source.data}"}',
    )
    body = {"turns": [{"role": "user", "parts": [{"type": "image", "data": "image/jpg;AA=="}]}]}
    rules = mini(text)
    assert rules.convert(body, "mini", "mini").body == body
    out = rules.convert(body, "mini", "gemini")
    assert out.body["contents"][0]["parts"][0]["inlineData"]["mimeType"] == "image/jpeg"


def test_a_list_of_keys_is_taken_away() -> None:
    over = "wireglot: 2\noverlay: mini\nrequest: {wire: {$removed: [temperature, top_p]}}\n"
    files = {"mini.yaml": SHORT, "over.yaml": over}
    rules = wireglot.load_rules(files, overlays=["over"])
    read = rules["mini"].read(BODY).ir
    assert {"/temperature": 0.5, "/top_p": None}.items() <= read["kept"]["mini"].items()
    assert not read.keys() & {"temperature", "top_p"}
    with pytest.raises(wireglot.RuleError, match="`zeal` is taken away"):
        wireglot.load_rules(
            {**files, "over.yaml": over.replace("top_p", "zeal")}, overlays=["over"]
        )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("audio video:", "audio audio:", "7:15: R022: `audio` stands here twice"),
        ("audio video:", "n video:", "7:40: R022: `n` stands here twice"),
        ("[low, high]", "[low, 1]", "6:32: R022: `write` is a list of words"),
        ("[medium]", "[1.5]", "6:51: R022: `read-also` is a list of words"),
        ("[temperature, top_p]", "[temprature]", "25:9: R001: `$temprature` names no field"),
        ("by: source.type", "by: source.tpe", "11:9: R024: `by: source.tpe` names no field"),
        ("      url: {wire", "      ulr: {wire", "15:7: R024: `ulr` is no `source.type` of the IR"),
    ],
)
def test_what_is_wrong_in_one_is_refused_with_its_place(old: str, new: str, message: str) -> None:
    assert old in SHORT
    with pytest.raises(wireglot.RuleError) as error:
        mini(SHORT.replace(old, new))
    assert str(error.value).startswith(f"mini.yaml:{message}"), error.value


def test_a_child_may_leave_out_the_field_of_a_shape_that_is_told_by_it() -> None:
    child = (
        HEAD.replace("mini", "child").replace("see:", "extends: openai-responses\nsee:")
        + "request: {wire: {text: $removed}}\n"
    )
    assert "child" in wireglot.load_rules({"child.yaml": child}).dialects
