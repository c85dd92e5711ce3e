"""Rule files of version 1 say the same in the words of version 2."""

from __future__ import annotations

from pathlib import Path

import pytest

import wireglot
from wireglot import cli
from wireglot.authoring.migrate import _tables, migrated

BEFORE = """\
# Comments stay, (old) in them too.
wireglot: 1                     # the version
dialect: mini
see: https://example.com/(old)
verified: 2026-11-21
drop: {audio: "It holds (old) no | lone sound.", seed: none}
limits:
  tool_name: {rest: "a-z", max: 9}    # rest
  reasoning.effort: {unless: [forced-tool], else: low}
schemas:
  small:
    types: [string]
    numbered: true                # as some send them
    enum: strings
  flat: {types: [string, "null"], numbered: true}
  head: {numbered: true, types: [string]}
shapes:
  text: {wire: {type: text, text: $text | any, tint: '$own.tint (old)', of: $own.of (optional)}}
  spoken: {gathers: text, wire: {type: said, parts: $run each text | blocks}}
  reasoning: {wire: {type: thought, text: $text}, drop: {unless: It says (else) nothing.}}
  thought: {wire: {type: old, text: $text | string | home}, ir: {type: reasoning}}
  aside:
    cases:
      one:
        wire: {a: [$text | home (default empty-text)]}
unions: {part: [text, spoken, reasoning, thought]}
conversation:
  by: role
  wire: {parts: $parts each part | bare, more: $parts each thought | joined (old)}
  cases:
    user: {wire: {role: user}}
    assistant: {wire: {role: assistant}}
request:
  wire:
    turns: $messages as conversation
    most: $max_tokens (else 9)
    model: $model (old taken)
  examples:
    - wire: {turns: [], most: 9, drop: $x (old)}
      ir: {messages: [], max_tokens: 9}
      abroad: {openai-chat: {}}
variants:
  - for: {model: x}
    limits!: {call_id: {rest: "0-9"}}
    drop: {n: One answer.}
    request: {wire: {most: $max_tokens (else 5)}}
"""
AFTER = """\
# Comments stay, (old) in them too.
wireglot: 2                     # the version
dialect: mini
see: https://example.com/(old)
verified: 2026-11-21
unsupported: {audio: "It holds (old) no | lone sound.", seed: none}
limits:
  tool_name: {chars: "a-z", max: 9}    # rest
  reasoning.effort: {not-with: [forced-tool], else: low}
schemas:
  small:
    types: [string]
    enum: strings
  flat: {types: [string, "null"]}
  head: {types: [string]}
shapes:
  text: {wire: {type: text, text: $text, tint: '$own.tint (refused)', of: $own.of (optional)}}
  spoken: {groups: text, wire: {type: said, parts: $run each text | list (or text)}}
  reasoning: {wire: {type: thought, text: $text}, drop: {unless: It says (else) nothing.}}
  thought: {read-only: true, wire: {type: old, text: $text | string}, ir: {type: reasoning}}
  aside:
    cases:
      one:
        read-only: true
        wire: {a: [$text (default empty-text)]}
unions: {part: [text, spoken, reasoning, thought]}
conversation:
  wire: {parts: $parts each part | text (or list), more: $parts each thought | text (read-only)}
  cases:
    user: {wire: {role: user}}
    assistant: {wire: {role: assistant}}
request:
  wire:
    turns: $messages as conversation
    most: $max_tokens (fill 9)
    model: $model (read-only)
  examples:
    - wire: {turns: [], most: 9, drop: $x (old)}
      ir: {messages: [], max_tokens: 9}
      crossing: {openai-chat: {}}
variants:
  - for: {model: x}
    limits!: {call_id: {chars: "0-9"}}
    unsupported: {n: One answer.}
    request: {wire: {most: $max_tokens (fill 5)}}
"""


def test_each_word_is_rewritten_where_it_is_one_and_nowhere_else() -> None:
    assert migrated(BEFORE, "mini.yaml") == AFTER
    assert migrated(AFTER, "mini.yaml") == AFTER


def test_a_file_is_read_as_the_loader_reads_it() -> None:
    before = BEFORE.replace(
        "{type: text, text: $text | any,", "{ask: é Warm in Oslo?, text: $text (old),"
    )
    after = AFTER.replace(
        "{type: text, text: $text,", "{ask: é Warm in Oslo?, text: $text (refused),"
    )
    assert migrated(before, "mini.yaml") == after


LAYER = """\
wireglot: 1
overlay: openai-chat
shapes:
  stop: {cases: {called_late: $removed}}
  said!: {ir: {type: text}, wire: {type: text, text: $text | string}}
  candidate:
    {wire: {message: {content: $parts each answered | joined}, why: $. as stop (old)}}
tables: {stop: {otherwise: stop}}
unions: {spoken: [text, thought], mine: [said]}
variants:
  - for: {model: x}
    shapes: {candidate: {wire: {why: $stop_reason | stop}}}
response: {also: said}
stream: {events: {item_start.said: {said: true}}}
examples: {stop: []}
"""
LAID = """\
wireglot: 2
overlay: openai-chat
shapes:
  finish: {cases: {tool_use.stop: $removed}}
  response_text!: {ir: {type: text}, wire: {type: text, text: $text | string}}
  candidate:
    {wire: {message: {content: $parts each response_part | text}, why: $. as finish (refused)}}
tables: {finish_reason: {otherwise: stop}}
unions: {assistant_part: [text, thinking_part], mine: [response_text]}
variants:
  - for: {model: x}
    shapes: {candidate: {wire: {why: $stop_reason | finish_reason}}}
response: {also: response_text}
stream: {events: {item_start.response_text: {said: true}}}
examples: {finish: []}
"""


def test_packaged_names_in_a_layer_are_the_present_ones() -> None:
    assert migrated(LAYER, "over.yaml") == LAID
    assert migrated(LAYER.replace("openai-chat", "mine"), "over.yaml").count("stop") == LAYER.count(
        "stop"
    )


def test_the_present_names_are_there() -> None:
    for dialect, told in _tables("names").items():
        model = wireglot.load_rules()[dialect].model
        assert set(told.get("shapes", {}).values()) <= model.shapes.keys() | model.unions.keys()
        assert set(told.get("tables", {}).values()) <= model.tables.keys()
        for shape, cases in told.get("cases", {}).items():
            assert set(cases.values()) <= {case.name for case in model.shapes[shape].cases}, shape


ORDER = """\
wireglot: 1
dialect: mini
extends: chat-compatible
conversation:
  by: role
  enforce:
    - lift: system            # Comments stay,
    - answer-next             # beside the word
    - {put-first: tool_result}
    - {insert: {user: Go on.}, at: start, before: tool_call}
    - {insert: {assistant: "Well, #1"}, between: [tool, user]}
    - no-empty
    - pair: "None: it was not called."
  cases: {user: {wire: {role: user}}}
  enforce-also: [{this-turn: reasoning}, {leave: system}]
variants:
  - for: {model: x}
    conversation: {enforce-also: [{thought-beside: tool_call}]}
  - for: {model: y}
    conversation: {enforce: [no-blank, alternate, {user-only: reasoning}]}
"""
ORDERED = """\
wireglot: 2
dialect: mini
extends: chat-compatible
conversation:
  enforce!:
    system: lifted-from-others    # Comments stay,
    results: [next, first]    # beside the word
    turns: {first: {user: Go on., before: tool_call}, between: {assistant: "Well, #1", after: tool, before: user}}
    unanswered: "None: it was not called."
    reasoning: this-turn
  cases: {user: {wire: {role: user}}}
variants:
  - for: {model: x}
    conversation: {enforce: {beside: {tool_call: {reasoning: ""}}, reasoning: $removed}}
  - for: {model: y}
    conversation: {enforce!: {text: not-blank, turns: {alternate: true}, reasoning: never}}
"""  # noqa: E501


def test_what_is_made_sure_of_is_a_mapping() -> None:
    assert migrated(ORDER, "mini.yaml") == ORDERED


def test_a_second_list_takes_away_what_the_first_said_in_a_packaged_file() -> None:
    head = "wireglot: 1\ndialect: mini\nextends: chat-compatible\n"
    said = f"{head}conversation: {{enforce-also: [{{signed: tool_call}}]}}\n"
    now = "conversation: {enforce: {calls: [signed], reasoning: $removed}}\n"
    assert migrated(said, "mini.yaml") == head.replace("1", "2") + now


def test_what_stays_at_home_without_being_lifted_is_left_out() -> None:
    said = "wireglot: 1\ndialect: mini\nconversation: {enforce: [{leave: system}, no-blank]}\n"
    now = "wireglot: 2\ndialect: mini\nconversation: {enforce: {text: not-blank}}\n"
    assert migrated(said, "mini.yaml") == now


def test_a_case_that_a_layer_writes_is_not_only_read_any_more() -> None:
    head = "wireglot: 1\noverlay: modular-prompt\nshapes:\n  tool_result:\n    cases:\n"
    said = f"{head}      multimodal: {{wire: {{value: $value each block}}}}\n"
    now = f"{head}      multimodal: {{read-only: $removed, wire: {{value: $value each block}}}}\n"
    assert migrated(said, "mini.yaml") == now.replace("wireglot: 1", "wireglot: 2")
    said = f"{head}      multimodal: {{wire: {{more: $own.more (optional)}}}}\n"
    assert migrated(said, "mini.yaml") == said.replace("wireglot: 1", "wireglot: 2")


@pytest.mark.parametrize("step", ["insert", "{insert: {user: Go on.}}", "answer-nxt"])
def test_a_step_that_is_none_is_refused_where_it_stands(step: str) -> None:
    text = f"wireglot: 1\ndialect: mini\nconversation:\n  enforce: [{step}, no-empty]\n"
    with pytest.raises(wireglot.RuleError, match=r"^mini.yaml:4:3: `enforce` says here what"):
        migrated(text, "mini.yaml")


def test_the_command_rewrites_files_in_place_and_says_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").mkdir()
    mini, shown = tmp_path / "mini.yaml", tmp_path / "examples" / "mini.yaml"
    mini.write_text(BEFORE, "utf-8")
    shown.write_text("wireglot: 1\nexamples-of: mini\nexamples: {text: []}\n", "utf-8")
    assert cli.main(["migrate", "--diff", str(tmp_path)]) == 1
    assert "+unsupported:" in capsys.readouterr().out
    assert mini.read_text("utf-8") == BEFORE
    assert cli.main(["migrate", str(tmp_path)]) == 0
    assert capsys.readouterr().err == f"migrated {mini}\nmigrated {shown}\n"
    assert mini.read_text("utf-8") == AFTER
    assert cli.main(["migrate", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("head", ["", "wireglot: 3\n", "wireglot: true\n"])
def test_another_file_is_refused_and_left(
    tmp_path: Path, head: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(f"{head}dialect: one\n", "utf-8")
    assert cli.main(["migrate", str(file)]) == 1
    assert "this is no rule file of version 1" in capsys.readouterr().err
    assert file.read_text("utf-8") == f"{head}dialect: one\n"


def test_a_file_of_version_1_is_refused_with_what_to_do() -> None:
    with pytest.raises(wireglot.RuleError) as error:
        wireglot.load_rules({"mini.yaml": BEFORE})
    assert str(error.value) == (
        "mini.yaml:2:11: R026: this file is of version 1 of the language\n"
        "     2 | wireglot: 1                     # the version\n"
        "       |           ^\n"
        "  help: run `wireglot migrate FILE`, which rewrites it in the words of this version"
    )
