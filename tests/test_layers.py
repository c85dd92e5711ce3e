"""Layers: what lies on what, what a layer may not do, and how `show` tells it."""

from __future__ import annotations

import functools
import gc
import itertools
import json
import re
import weakref
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli
from wireglot.authoring import show, trial
from wireglot.language import source
from wireglot.loading import checking, load, start

from . import width

HERE = Path(__file__).parent
FAMILY = HERE.parent / "examples" / "family"
HEAD = "wireglot: 2\nsee: https://example.com\nverified: 2026-11-21\n"
BASE = """dialect: base
tables:
  mood: {write: {calm: CALM, wild: WILD}, read-also: {SOFT: calm}}
shapes:
  text: {wire: {text (or words): $text, tint: $own.tint (optional)}}
  tool_call:
    wire: {call: {id: $id, name: $name}}
    cases:
      object: {wire: {call: {args: $arguments}}}
      text: {wire: {call: {raw: $arguments_text}}}
    examples:
      - wire: {call: {id: c, name: f, args: {}}}
        ir: {type: tool_call, id: c, name: f, arguments: {}}
unions: {part: [text, tool_call]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {who: user}}, assistant: {wire: {who: model}}}
  enforce: {results: [next, first]}
request:
  wire: {turns: $messages as conversation, limit: $max_tokens (optional), pair: [$seed, 2]}
"""
CALL = {"type": "tool_call", "id": "c", "name": "f", "arguments": {"x": 1}}


def stored(folder: Path, **files: str) -> Path:
    """Write rule files; the head is put before each."""
    for name, text in files.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = "wireglot: 2\n" if name == "ladder" else HEAD
        path.write_text(head + text, "utf-8")
    return folder


def loaded(folder: Path, *overlays: str, **files: str) -> wireglot.RuleSet:
    return wireglot.load_rules(stored(folder, **files), builtin=False, overlays=overlays)


def part(rules: wireglot.RuleSet, dialect: str, ir: Any) -> Any:
    message = {"role": "user", "parts": [ir]}
    return rules[dialect].write([message], unit="messages").body[0]["parts"][0]


def wire(rules: wireglot.RuleSet, dialect: str, *path: str) -> Any:
    node: Any = rules[dialect].model.node
    for step in path:
        node = node.value[step]
    return node.plain()


# --- What lies on what ----------------------------------------------------------------------------


def test_a_child_is_its_parent_but_for_what_it_says(tmp_path: Path) -> None:
    child = "dialect: child\nextends: base\nshapes: {text: {wire: {tone: $own.tone (optional)}}}\n"
    rules = loaded(tmp_path, base=BASE, child=child)
    assert rules.dialects == ("base", "child")
    body = {"turns": [{"who": "user", "parts": [{"words": "Hi", "tone": "low"}]}], "pair": [1, 2]}
    out = rules.convert(body, "child", "base")
    assert out.body["turns"] == [{"who": "user", "parts": [{"text": "Hi"}]}]
    assert [note.code for note in out.notes] == ["own-field"]
    assert rules.convert(body, "child", "child").body == body
    assert [note.code for note in rules.convert(body, "base", "child").notes] == ["unknown-key"]


@pytest.mark.parametrize(
    ("layer", "path", "found"),
    [
        pytest.param(
            "request: {wire: {limit: $max_tokens}}",
            ("request", "wire"),
            {"turns": "$messages as conversation", "limit": "$max_tokens", "pair": ["$seed", 2]},
            id="a value is replaced in its place",
        ),
        pytest.param(
            "request: {wire: {more: 1, limit: $removed}}",
            ("request", "wire"),
            {"turns": "$messages as conversation", "pair": ["$seed", 2], "more": 1},
            id="a key is taken away, a new one follows",
        ),
        pytest.param(
            "request: {wire: {limit: $removed, most (or limit): $max_tokens}}",
            ("request", "wire"),
            {
                "turns": "$messages as conversation",
                "most (or limit)": "$max_tokens",
                "pair": ["$seed", 2],
            },
            id="a key that is spelled like one that is taken away stands in its place",
        ),
        pytest.param(
            "conversation:\n  cases:\n    user:\n"
            "      wire: {parts: $removed, bits (or parts): $parts each part}",
            ("conversation", "cases", "user", "wire"),
            {"who": "user", "bits (or parts)": "$parts each part", "parts": "$removed"},
            id="so does one in a case",
        ),
        pytest.param(
            "request: {wire: {pair: [$seed (optional), 3]}}",
            ("request", "wire", "pair"),
            ["$seed (optional)", 3],
            id="lists of a picture merge item by item",
        ),
        pytest.param(
            "request: {wire: {pair: [$seed]}}",
            ("request", "wire", "pair"),
            ["$seed"],
            id="lists of other lengths are replaced",
        ),
        pytest.param(
            "shapes: {tool_call: {wire!: {call: {id: $id}}}}",
            ("shapes", "tool_call", "wire"),
            {"call": {"id": "$id"}},
            id="a key with an exclamation mark is replaced whole",
        ),
        pytest.param(
            "shapes: {text: {wire: {text: $text | string}}}",
            ("shapes", "text", "wire"),
            {"text (or words)": "$text | string", "tint": "$own.tint (optional)"},
            id="a key is named by its first spelling and keeps the others",
        ),
        pytest.param(
            "shapes: {text: {wire: {text (or t): $text}}}",
            ("shapes", "text", "wire"),
            {"text (or t)": "$text", "tint": "$own.tint (optional)"},
            id="a key can be given other spellings",
        ),
        pytest.param(
            "shapes: {text: {wire: {text!: $text}}}",
            ("shapes", "text", "wire"),
            {"text": "$text", "tint": "$own.tint (optional)"},
            id="a key replaced whole loses its spellings",
        ),
        pytest.param(
            "tables: {mood: {write: {wild: LOUD, odd: ODD}}}",
            ("tables", "mood"),
            {
                "write": {"calm": "CALM", "wild": "LOUD", "odd": "ODD"},
                "read-also": {"SOFT": "calm"},
            },
            id="rows of a table are replaced and added",
        ),
        pytest.param(
            "conversation: {enforce: {results: [in-order]}}",
            ("conversation", "enforce", "results"),
            ["in-order"],
            id="a list of words is replaced whole",
        ),
        pytest.param(
            "shapes: {tool_call: {cases: {text: $removed}}}",
            ("shapes", "tool_call", "cases"),
            {"object": {"wire": {"call": {"args": "$arguments"}}}},
            id="a case is taken away",
        ),
        pytest.param(
            "shapes: {tool_call: {examples: [{wire: {call: {id: d}}, ir: {id: d}}]}}",
            ("shapes", "tool_call", "examples"),
            [{"wire": {"call": {"id": "d"}}, "ir": {"id": "d"}}],
            id="examples are replaced, not mixed",
        ),
        pytest.param(
            "shapes: {tool_call: {cases: "
            "{object: {wire: {call: {args: $removed, a: $arguments}}}}}}",
            ("shapes", "tool_call", "cases", "object", "wire", "call"),
            {"a": "$arguments"},
            id="what a case of the parent says is taken away for good",
        ),
        pytest.param(
            "shapes: {tool_call: {cases: {object: {wire: {call: {id: $removed}}}}}}",
            ("shapes", "tool_call", "cases", "object", "wire", "call"),
            {"args": "$arguments", "id": "$removed"},
            id="what the shape says is taken away in the case",
        ),
    ],
)
def test_a_layer_merges(tmp_path: Path, layer: str, path: tuple[str, ...], found: Any) -> None:
    over, child = f"overlay: base\n{layer}\n", f"dialect: child\nextends: base\n{layer}\n"
    rules = loaded(tmp_path, "over", base=BASE, over=over, child="dialect: child\nextends: base\n")
    for name in ("base", "child"):  # what an overlay changes, children inherit
        assert json.dumps(wire(rules, name, *path)) == json.dumps(found)
    rules = loaded(tmp_path, base=BASE, child=child)
    assert json.dumps(wire(rules, "child", *path)) == json.dumps(found)
    assert wire(rules, "base") == wire(loaded(tmp_path), "base")


def test_a_case_takes_away_what_its_shape_says(tmp_path: Path) -> None:
    layer = "shapes: {tool_call: {cases: {object: {wire: {call: {id: $removed, key: $id}}}}}}\n"
    rules = loaded(tmp_path, "over", base=BASE, over=f"overlay: base\n{layer}")
    assert part(rules, "base", CALL) == {"call": {"name": "f", "args": {"x": 1}, "key": "c"}}


def test_a_case_replaces_whole_what_its_shape_says(tmp_path: Path) -> None:
    layer = (
        "shapes: {tool_call: {cases: {object: {wire: {call!: {a: $arguments, k: $id, n: $name}}}}}}"
    )
    rules = loaded(tmp_path, "over", base=BASE, over=f"overlay: base\n{layer}\n")
    assert part(rules, "base", CALL) == {"call": {"a": {"x": 1}, "k": "c", "n": "f"}}


def test_overlays_are_laid_in_the_order_in_which_they_are_named(tmp_path: Path) -> None:
    one = "overlay: base\nshapes: {text: {wire: {text: $removed, one: $text}}}\n"
    two = "overlay: base\nshapes: {text: {wire: {one: $removed, two: $text}}}\n"
    text = {"type": "text", "text": "Hi"}
    rules = loaded(tmp_path, "one", "two", base=BASE, one=one, two=two)
    assert part(rules, "base", text) == {"two": "Hi"}
    with pytest.raises(wireglot.RuleError, match="`one` is taken away"):
        wireglot.load_rules(tmp_path, builtin=False, overlays=["two", "one"])
    assert part(wireglot.load_rules(tmp_path, builtin=False), "base", text) == {"text": "Hi"}


def test_an_overlay_of_a_child_lies_on_all_that_the_child_inherits(tmp_path: Path) -> None:
    over = "overlay: young\nshapes: {text: {wire: {tint: $removed}}}\n"
    files = {"base": BASE, "young": "dialect: young\nextends: child\n", "over": over}
    rules = loaded(tmp_path, "over", child="dialect: child\nextends: base\n", **files)
    assert list(wire(rules, "young", "shapes", "text", "wire")) == ["text (or words)"]
    assert "tint" in wire(rules, "child", "shapes", "text", "wire")


def test_a_child_has_a_head_of_its_own(tmp_path: Path) -> None:
    folder = stored(tmp_path, base=BASE)
    (folder / "child.yaml").write_text("wireglot: 2\ndialect: child\nextends: base\n", "utf-8")
    rules = wireglot.load_rules(folder, builtin=False)
    assert (rules["child"].name, rules["child"].see, rules["child"].verified) == ("child", "", "")


# --- What is refused ------------------------------------------------------------------------------


def refused(folder: Path, *overlays: str, **files: str) -> str:
    with pytest.raises(wireglot.RuleError) as caught:
        loaded(folder, *overlays, **files)
    return str(caught.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (
            "request: {wire: {limits: $removed}}",
            """over.yaml:5:18: R007: `limits` is taken away, and base.yaml:23:9 does not have it
     5 | request: {wire: {limits: $removed}}
       |                  ^
  help: did you mean `limit`?""",
        ),
        (
            "request: {wire: {zzz!: 1}}",
            """over.yaml:5:18: R007: `zzz` is replaced whole, and base.yaml:23:9 does not have it
     5 | request: {wire: {zzz!: 1}}
       |                  ^
  help: there are: limit, pair, turns""",
        ),
        (
            "shapes: {tool_cal: $removed}",
            """over.yaml:5:10: R007: `tool_cal` is taken away, and base.yaml:8:3 does not have it
     5 | shapes: {tool_cal: $removed}
       |          ^
  help: did you mean `tool_call`?""",
        ),
        (
            "shapes: {tool_call: {cases: {text: {wire: {call: {arg: $removed}}}}}}",
            """over.yaml:5:51: R007: `arg` is taken away, and base.yaml:10:18 does not have it
     5 | shapes: {tool_call: {cases: {text: {wire: {call: {arg: $removed}}}}}}
       |                                                   ^
  help: there are: id, name""",
        ),
        (
            "shapes: {text: {wire: {words: $text}}}",
            """over.yaml:5:24: R007: `words` shares the spelling `words` with `text` below
     5 | shapes: {text: {wire: {words: $text}}}
       |                        ^
  help: name a key by its first spelling, `text`; `text!` spells it anew""",
        ),
        (
            "shapes: {text: {wire: {t (or text): $text}}}",
            """over.yaml:5:24: R007: `t` shares the spelling `text` with `text` below
     5 | shapes: {text: {wire: {t (or text): $text}}}
       |                        ^
  help: name a key by its first spelling, `text`; `text!` spells it anew""",
        ),
        (
            "shapes: {image: {wire: {link!: $url}}}",
            """over.yaml:5:25: R007: `link` is replaced whole, and was never there
     5 | shapes: {image: {wire: {link!: $url}}}
       |                         ^
  help: nothing lies below this; leave the `!` out""",
        ),
        (
            "request: {wire: {limit: {inner: $removed}}}",
            """over.yaml:5:26: R007: `inner` is taken away, and was never there
     5 | request: {wire: {limit: {inner: $removed}}}
       |                          ^
  help: nothing lies below this; leave the key out""",
        ),
        (
            "extends: base",
            """over.yaml:5:1: R030: an overlay has no `extends`
     5 | extends: base
       | ^
  help: it changes the dialect that it names, in place""",
        ),
    ],
)
def test_a_layer_that_has_nothing_to_lie_on_is_refused(
    tmp_path: Path, layer: str, message: str
) -> None:
    assert refused(tmp_path, "over", base=BASE, over=f"overlay: base\n{layer}\n") == message


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (
            "extends: bass",
            """child.yaml:5:10: R030: `extends: bass` names no dialect that is loaded
     5 | extends: bass
       |          ^
  help: did you mean `base`?""",
        ),
        (
            "extends: [base, other]",
            """child.yaml:5:10: R030: `extends` names one dialect
     5 | extends: [base, other]
       |          ^
  help: a dialect has one parent""",
        ),
        (
            "extends: child",
            """child.yaml:5:10: R030: `child` extends `child`: that has no end
     5 | extends: child
       |          ^
  help: to change `child` in place, write a file with `overlay: child`""",
        ),
        (
            "extends: ladder",
            """child.yaml:5:10: R030: `extends: ladder` names no dialect that is loaded
     5 | extends: ladder
       |          ^
  help: there are: base, child""",
        ),
    ],
)
def test_a_parent_that_cannot_be_is_refused(tmp_path: Path, head: str, message: str) -> None:
    assert refused(tmp_path, base=BASE, child=f"dialect: child\n{head}\n") == message


def test_what_is_wrong_with_a_child_of_another_version_is_told_beside_it() -> None:
    parent = f"{HEAD}dialect: base\nrequest: {{wire: {{seed: $seed (optional)}}}}\n"
    child = HEAD.replace("wireglot: 2", "wireglot: 3") + "dialect: child\nextends: base\n"
    child += "request: {wire: {top: $top_k (old)}}\n"
    found = checking.check({"base": parent, "child": child})
    assert [(one.rule, one.line, one.message) for one in found if one.severity == "error"] == [
        ("R026", 1, "there is no version `3` of the language"),
        ("R023", 6, "`(old)` is no mark"),
    ]


def test_parents_that_go_round_are_refused(tmp_path: Path) -> None:
    one, two = "dialect: one\nextends: two\n", "dialect: two\nextends: one\n"
    assert refused(tmp_path, one=one, two=two) == (
        "two.yaml:5:10: R030: `one` extends `two` extends `one`: that has no end\n"
        "     5 | extends: one\n       |          ^\n"
        "  help: to change `one` in place, write a file with `overlay: one`"
    )


@pytest.mark.parametrize("word", ["overlay: base", "dialect: child\nextends: base"])
def test_a_layer_says_the_version_of_the_language_itself(tmp_path: Path, word: str) -> None:
    stored(tmp_path, base=BASE)
    (tmp_path / "layer.yaml").write_text(f"{word}\n", "utf-8")
    with pytest.raises(wireglot.RuleError, match="begins with the language version"):
        wireglot.load_rules(tmp_path, builtin=False)


def test_a_file_without_layers_takes_nothing_away(tmp_path: Path) -> None:
    text = BASE.replace("limit: $max_tokens (optional)", "limit!: $max_tokens")
    assert "R007: `limit` is replaced whole, and was never there" in refused(tmp_path, base=text)


def test_one_dialect_has_one_file(tmp_path: Path) -> None:
    said = refused(tmp_path, base=BASE, other=BASE)
    assert said == (
        "other.yaml:4:10: R031: the dialect `base` has two files: base.yaml and other.yaml\n"
        "     4 | dialect: base\n       |          ^\n"
        "  help: keep one of the two, or make one `overlay: base`"
    )


@pytest.mark.parametrize("name", ["base", "over", "ladder"])
def test_two_folders_hold_no_file_of_one_name(tmp_path: Path, name: str) -> None:
    text = {"base": BASE, "over": "overlay: base\n", "ladder": "ladder: {}\n"}[name]
    one, two = stored(tmp_path / "one", **{name: text}), stored(tmp_path / "two", **{name: text})
    with pytest.raises(wireglot.RuleError) as caught:
        wireglot.load_rules(one, two)
    assert f"has two files: {one}/{name}.yaml and {two}/{name}.yaml" in str(caught.value)
    wireglot.load_rules(one, one)  # the same folder is no second one


def test_a_file_that_replaces_a_packaged_one_is_reported(tmp_path: Path) -> None:
    text = BASE.replace("dialect: base", "dialect: gemini")
    folder = stored(tmp_path, mine=text, ladder="ladder: {}\n", base=BASE)
    found = wireglot.load_rules(folder).findings
    assert [str(finding) for finding in found if finding.rule == "R032"] == [
        f"{folder}/ladder.yaml:1:1: info R032: this file replaces the packaged ladder whole\n"
        "     1 | wireglot: 2\n       | ^",
        f"{folder}/mine.yaml:1:1: info R032: this file replaces the packaged dialect `gemini` "
        "whole\n     1 | wireglot: 2\n       | ^\n"
        "  help: `overlay: gemini` changes single things of it",
    ]
    assert wireglot.load_rules().findings == ()
    assert wireglot.load_rules(overlays=["gemini-no-ids"]).findings == ()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["gemini-no-idz"], "there is no overlay `gemini-no-idz`; did you mean `gemini-no-ids`?"),
        (["over", "over"], "the overlay `over` is named twice"),
        (["../overlays/gemini-no-ids"], "there is no overlay `../overlays/gemini-no-ids`"),
    ],
)
def test_an_overlay_is_named_once_and_is_there(
    tmp_path: Path, names: list[str], message: str
) -> None:
    folder = stored(tmp_path, base=BASE, over="overlay: base\n")
    with pytest.raises(wireglot.UsageError) as caught:
        wireglot.load_rules(folder, overlays=names)
    assert str(caught.value).startswith(message)


def test_an_overlay_of_the_user_comes_before_a_packaged_one(tmp_path: Path) -> None:
    over = "overlay: base\nshapes: {text: {wire: {tint: $removed}}}\n"
    folder = stored(tmp_path, base=BASE, **{"gemini-no-ids": over})
    rules = wireglot.load_rules(folder, overlays=["gemini-no-ids"])
    assert list(wire(rules, "base", "shapes", "text", "wire")) == ["text (or words)"]


# --- A family member ------------------------------------------------------------------------------


def test_a_family_member_that_changes_three_fields_takes_fifteen_lines() -> None:
    assert len((FAMILY / "acme.yaml").read_text("utf-8").splitlines()) <= 15
    rules = wireglot.load_rules(FAMILY)
    assert trial.Trial(str(FAMILY)).run(rules, ["acme"]).failures == []
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    body = {
        "model": "m",
        "messages": [{"role": "assistant", "content": None, "tool_calls": [call]}],
        "max_completion_tokens": 5,
        "stop": "x",
    }
    out = rules.convert(body, "openai-chat", "acme").body
    assert out["messages"][0]["tool_calls"][0]["function"]["arguments"] == {"x": 1}
    assert (out["max_new_tokens"], out["stop"]) == (5, ["x"])
    assert "max_completion_tokens" not in out
    back = rules.convert(out, "acme", "openai-chat").body
    assert back == {**body, "stop": ["x"]}


# --- Show -----------------------------------------------------------------------------------------

OVERLAYS = sorted(path.stem for path in (HERE.parent / "rules" / "overlays").glob("*.yaml"))


@functools.cache
def family(*overlays: str) -> wireglot.RuleSet:
    return wireglot.load_rules(FAMILY, overlays=overlays)


@pytest.mark.parametrize(
    ("name", "overlays"),
    width.some(
        itertools.product(("acme", "openai-chat", "gemini", "anthropic"), ([], OVERLAYS)), 3
    ),
)
def test_what_is_shown_loads_as_an_equal_dialect(
    tmp_path: Path,
    name: str,
    overlays: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Which rules it shows is asked for once for all dialects.
    monkeypatch.setattr(start, "load_rules", lambda *_, overlays, plugins: family(*overlays))
    more = [word for overlay in overlays for word in ("--overlay", overlay)]
    assert cli.main(["show", name, "--rules", str(FAMILY), *more]) == 0
    text = capsys.readouterr().out
    (tmp_path / "shown.yaml").write_text(text, "utf-8")
    meant = family(*overlays)[name].model
    found = wireglot.load_rules(tmp_path)[name].model
    assert json.dumps(found.node.plain()) == json.dumps(meant.node.plain())
    bare = "".join(re.sub(r" +# \S+:\d+.*$", "", line) + "\n" for line in text.splitlines())
    flat = source.parse(bare, "bare.yaml").plain()
    flat.pop("variants", None)  # a dialect is one with some of its variants on
    assert flat == meant.node.plain()
    said = [line for line in text.splitlines() if not re.search(r"# \S+\.yaml:\d+(, was |$)", line)]
    assert said == []


def test_show_names_the_place_of_each_line_and_what_it_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = "overlay: base\nshapes: {text: {wire: {text: $text | string, tint: $removed}}}\n"
    two = (
        "overlay: base\nshapes:\n  text:\n    wire:\n      text: $text | text (or list)\n"
        "      x: $own.x\n"
    )
    stored(tmp_path / "mine", base=BASE, one=one, two=two)
    monkeypatch.chdir(tmp_path)
    argv = ["show", "base", "text", "--rules", "mine", "--overlay", "one", "--overlay", "two"]
    assert cli.main(argv) == 0
    assert capsys.readouterr().out == (
        "shapes:                                        # mine/base.yaml:7\n"
        "  text:                                        # mine/base.yaml:8\n"
        "    wire:                                      # mine/base.yaml:8\n"
        "      text (or words): $text | text (or list)  # mine/two.yaml:8, was `$text | string` at "
        "mine/one.yaml:5, was `$text` at mine/base.yaml:8\n"
        "      x: $own.x                                # mine/two.yaml:9\n"
        "      # no `tint`                              # mine/one.yaml:5, "
        "was `$own.tint (optional)` at mine/base.yaml:8\n"
    )


def test_show_does_not_miss_a_key_that_is_there_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = "overlay: base\nshapes: {text: {wire: {tint: $removed}}}\n"
    two = "overlay: base\nshapes: {text: {wire: {tint: $own.tint}}}\n"
    stored(tmp_path / "mine", base=BASE, one=one, two=two)
    monkeypatch.chdir(tmp_path)
    argv = ["show", "base", "text", "--rules", "mine", "--overlay", "one", "--overlay", "two"]
    assert cli.main(argv) == 0
    out = capsys.readouterr().out
    assert "mine/two.yaml:5, was `$own.tint (optional)` at mine/base.yaml:8\n" in out
    assert "# no" not in out


SHOWN = """\
wireglot: 2
dialect: mini
see: https://example.com
verified: 2026-11-24
tables: {stop: {write: {end_turn: end}, examples: [{wire: end, ir: end_turn}]}}
shapes:
  text:
    cases: {a: {wire: {examples: $text}, examples: [{wire: {examples: a}, ir: {type: text}}]}}
  examples: {ir: {type: text}, wire: {b: $text}}
unions: {part: [text, examples]}
request: {wire: {say: $system each part}, examples: [{wire: {say: []}, ir: {}}]}
examples:
  text:
    - {reads: {examples: b}, as: {type: text, text: b}}
"""


def test_show_has_examples_beneath_their_picture_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mini.yaml").write_text(SHOWN, "utf-8")
    monkeypatch.chdir(tmp_path)

    def shown(*argv: str) -> Any:
        assert cli.main(["show", "mini", *argv, "--rules", "."]) == 0
        return source.parse(capsys.readouterr().out, "shown.yaml").plain()

    said = source.parse(SHOWN, "mini.yaml").plain()
    assert shown() == said
    assert shown("text") == {
        "shapes": {"text": said["shapes"]["text"]},
        "examples": {"text": said["examples"]["text"]},
    }
    cases = {"a": {"wire": {"examples": "$text"}}}
    assert shown("text", "--no-examples") == {"shapes": {"text": {"cases": cases}}}
    assert shown("request", "--no-examples") == {"request": {"wire": said["request"]["wire"]}}
    less = shown("--no-examples")
    assert less == {
        **{word: said[word] for word in said if word != "examples"},
        "tables": {"stop": {"write": {"end_turn": "end"}}},
        "shapes": {"text": {"cases": cases}, "examples": said["shapes"]["examples"]},
        "request": {"wire": {"say": "$system each part"}},
    }
    assert cli.main(["show", "anthropic", "tool_result"]) == 0
    both = capsys.readouterr().out
    assert both.index("rules/anthropic.yaml:") < both.index("rules/examples/anthropic.yaml:")
    assert cli.main(["show", "anthropic", "tool_result", "--no-examples"]) == 0
    assert "rules/examples/" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["nobody"],
            "there is no dialect `nobody`; `wireglot dialects` lists them\n",
        ),
        (["gemini", "nothing"], "there is no `nothing` in it; there are: "),
    ],
)
def test_show_says_what_is_not_there(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["show", *argv]) == 2
    assert message in capsys.readouterr().err


SCALARS = (
    "", " ", "a: b", "a #b", "- a", "-", "~", "null", "true", "1", "-1.5", "1e3", "a,b", "{}", "no",
    "$a | b", "${a}", "`k`", "x:", "'", '"', "\\", "\n", "\x85", "\u2028", "é", "*a", "&a", "!a",
    "?", "|", ">", "%", "@", "a\tb", "2026-11-21", "...", "---", "🎉", "=", "0x1", "+1",
)  # fmt: skip


@pytest.mark.parametrize("value", SCALARS)
def test_any_text_is_shown_so_that_it_reads_back(value: str) -> None:
    pos = source.Pos("x.yaml", 1, 1)
    leaf, other = source.Node(value, pos), source.Node(1, pos._replace(line=2))
    entries = {
        "a": leaf,
        "b": source.Node([leaf, other], pos),
        "c": source.Node({value: leaf}, pos),
    }
    node = source.Node({"k": source.Node(entries, pos)}, pos)
    assert source.parse(show.flat_yaml(node), "shown.yaml").plain() == node.plain()
    spread = {"k": source.Node({value: leaf, "l": other}, pos)}
    assert source.parse(show.flat_yaml(source.Node(spread, pos)), "shown.yaml").plain() == {
        "k": {value: value, "l": 1}
    }


def test_the_prepared_model_gives_the_same_dialects_as_the_yaml_files() -> None:
    prepared = {name: source.undump(node.dump()) for name, node in load.from_yaml().items()}
    overlays: list[str] = OVERLAYS
    one = load.flat_unchecked(prepared, [FAMILY], overlays)
    two = load.flat_unchecked(load.from_yaml(), [FAMILY], overlays)
    assert {k: v.plain() for k, v in one.items()} == {k: v.plain() for k, v in two.items()}


def test_sets_of_rules_share_what_their_files_leave_alone() -> None:
    head = "wireglot: 2\nsee: https://a.example\nverified: 2026-11-21\n"
    child = f"{head}dialect: acme\nextends: openai-chat\nrequest: {{wire: {{seed: $removed}}}}\n"
    one, own = wireglot.packaged(), wireglot.load_rules({"acme": child})
    acme, parent = own["acme"].model, one["openai-chat"].model
    assert own["openai-chat"].model is parent
    assert acme.shapes["tool_call"] is parent.shapes["tool_call"]
    assert acme.units["request"] is not parent.units["request"]
    over = wireglot.load_rules(overlays=["gemini-no-ids"])
    assert over["anthropic"].model is one["anthropic"].model
    for name in ("gemini", "vertex"):  # what lies over it is another, too
        assert over[name].model is not one[name].model
    last = weakref.ref(acme)
    del own, acme
    gc.collect(1)  # what was made just now; in all that other tests have left it takes seconds
    assert last() is None
