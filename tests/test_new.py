"""`wireglot new`: a first rule file from a parent, or from samples of an API that nobody knows."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli
from wireglot.authoring import starter, vocabulary
from wireglot.authoring.starter import Started, Wanted
from wireglot.authoring.trial import Trial
from wireglot.language import layers
from wireglot.loading import load

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "tutorial-add-a-provider.md").read_text("utf-8")
BLOCKS = dict(re.findall(r"```json page/([\w-]+).json\n(.*?)```", PAGE, re.DOTALL))
LARCH = [(unit, json.loads(BLOCKS[unit])) for unit in ("request", "response")]
CHAT: dict[str, Any] = {
    "model": "m-1",
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [
        {
            "type": "function",
            "function": {"name": "f", "parameters": {"type": "object", "properties": {}}},
        }
    ],
    "max_new_tokens": 10,
    "sampling_seed": 7,
    "mood": "calm",
}
RULES = wireglot.packaged()


def started(samples: list[tuple[str, Any]], name: str = "larch", **more: Any) -> Started:
    return starter.start(
        RULES, [], Wanted(name, "https://a.example", "2026-11-22", **more), samples
    )


def lines(made: Started) -> list[str]:
    return [line.partition("    #")[0].strip() for line in made.text.splitlines()]


@pytest.fixture(scope="module")
def larch() -> Started:
    return started(LARCH)


def test_an_api_that_nobody_knows_is_drawn_from_its_samples(larch: Started) -> None:
    for line in (
        "turns: $messages as conversation",
        "toolbox: $tools each function (optional)",
        "briefing: $system each text | text (optional)",
        "wire: {name: $name, about: $description (optional), takes: $parameters | object_schema}",
        "text: {wire: {kind: text, body: $text}}",
        "wire: {kind: action, ref: $id, do: $name}",
        "object: {wire: {with: $arguments | object | json}}",
        "wire: {kind: outcome, ref: $tool_call_id}",
        "text: {wire: {ok: true (or $absent), gives: $value | string}}",
        "by: larch",
        "halt_at: $stop (optional)",
        "spent: $usage as usage (optional)",
        "...: $candidates each candidate | single",
    ):
        assert line in lines(larch), line


def test_what_is_not_known_is_marked_with_what_it_may_be(larch: Started) -> None:
    assert re.search(r"heat: \$own.heat \(optional\) +# \? .*\$temperature", larch.text)
    assert re.search(r"most: \$own.most \(optional\) +# \? .*\$max_tokens", larch.text)
    assert "request: `heat`" in larch.questions
    assert [finding for finding in larch.findings if finding.severity != "info"] == []


def tried(text: str, name: str, tmp_path: Path, runs: int = 0) -> list[str]:
    """Try the examples of a file as `wireglot test` does, and some payloads of each law."""
    (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    trial = Trial(str(tmp_path), runs)
    nodes = load.flat_unchecked(load.packaged().files, [str(tmp_path)], [])
    rules = wireglot.RuleSet(nodes, varied=layers.variants_by_dialect(nodes))
    return trial.run(rules, [name]).failures


def test_the_samples_are_examples_that_hold(larch: Started, tmp_path: Path) -> None:
    assert tried(larch.text, "larch", tmp_path, 2) == []
    rules = wireglot.load_rules({"larch": larch.text})
    out = rules.convert(LARCH[0][1], "larch", "openai-chat")
    assert [m["role"] for m in out.body["messages"]] == ["system", "user", "assistant", "tool"]
    assert out.body["messages"][2]["tool_calls"][0]["function"]["name"] == "weather"
    assert out.body["messages"][3]["tool_call_id"] == "a1"


def test_an_edited_file_gets_its_examples_anew(larch: Started, tmp_path: Path) -> None:
    edited = re.sub(r"most: .*", "most: $max_tokens (fill 1000)    # kept", larch.text, count=1)
    assert tried(edited, "larch", tmp_path) != []
    made = starter.remake_examples(RULES, [], edited, "larch", LARCH)
    assert made.text.partition("\nexamples:")[0] == edited.partition("\nexamples:")[0]
    assert "max_tokens: 200" in made.text
    assert tried(made.text, "larch", tmp_path) == []


def test_values_tell_what_names_do_not(tmp_path: Path) -> None:
    """The same talk under names that mean nothing: ids pair, names of tools are in their list."""
    names = iter(f"k{n}" for n in range(100))
    known: dict[str, str] = {}

    def masked(value: Any, free: bool = False) -> Any:
        if isinstance(value, dict):
            return {
                k if free else known.setdefault(k, next(names)): masked(v, free or k == "takes")
                for k, v in value.items()
            }
        return [masked(one, free) for one in value] if isinstance(value, list) else value

    made = started([("request", masked(LARCH[0][1]))])
    said = "\n".join(lines(made))
    assert f"{known['turns']}: $messages as conversation" in said
    assert f"{known['ref']}: $id, {known['do']}: $name" in said
    assert f"{known['ref']}: $tool_call_id" in said
    assert tried(made.text, "larch", tmp_path) == []


def test_elements_that_a_key_tells_apart() -> None:
    request = {
        "messages": [
            {"role": "user", "content": [{"text": "Is it warm?"}]},
            {"role": "assistant", "content": [{"use": {"no": "t1", "of": "look", "in": {"a": 1}}}]},
            {"role": "user", "content": [{"back": {"no": "t1", "out": "Yes, warm."}}]},
        ],
        "kit": {"tools": [{"spec": {"name": "look", "shape": {"json": {"type": "object"}}}}]},
    }
    made = started([("request", request)])
    said = lines(made)
    assert "tool_call: {wire: {use: {no: $id, of: $name, in: $arguments | object}}}" in said
    assert "wire: {back: {no: $tool_call_id}}" in said
    assert "kit: {tools: $tools each function (optional)}" in made.text
    tool = "{spec: {name: $name, shape: {json: $parameters | object_schema}}}"
    assert f"function: {{wire: {tool}}}" in said


def test_media_are_told_by_what_holds_them() -> None:
    def drawn(**held: Any) -> list[str]:
        said = [{"kind": "text", "body": "Is it warm?"}, {"kind": "image", **held}]
        return lines(started([("request", {"turns": [{"who": "human", "parts": said}]})]))

    link = "wire: {kind: image, link: $url}"
    assert f"image: {{ir: {{source: {{type: url, url: $url}}}}, {link}}}" in drawn(link="https://a")
    said = drawn(blob={"mime": "image/png", "bytes": "AAAA"})
    assert "ir: {source: {type: base64, media_type: $media_type, data: $data}}" in said
    assert "wire: {kind: image, blob: {mime: $media_type, bytes: $data}}" in said


def test_the_nearest_dialect_is_the_parent_and_keys_that_are_alike_take_a_place() -> None:
    made = started([("request", CHAT)], "acme")
    assert made.origin[0].startswith("nearest is openai-chat, whose pictures take ")
    said = lines(made)
    assert "extends: openai-chat" in said
    assert "max_completion_tokens: $removed" in said
    assert "max_new_tokens: $max_tokens (optional)" in said
    assert "seed: $removed" in said and "sampling_seed: $seed (optional)" in said
    assert "mood: $own.mood (optional)" in said
    rules = wireglot.load_rules({"acme": made.text})
    out = rules.convert(CHAT, "acme", "openai-chat")
    assert (out.body["max_completion_tokens"], out.body["seed"]) == (10, 7)
    assert [(n.code, n.source_path) for n in out.notes] == [("own-field", "/mood")]


ODD_ANSWER = {
    "reply": {"pieces": [{"kind": "text", "words": "Hi"}], "why": "DONE", "cost": {"a": 1, "b": 2}}
}


def test_who_takes_next_to_nothing_of_an_answer_is_no_parent() -> None:
    """Its requests may look like those of any other API."""
    chat = {key: value for key, value in CHAT.items() if key not in ("max_new_tokens", "mood")}
    asked = [{**chat, "messages": [{"role": "user", "content": f"Hi {n}"}] * 4} for n in range(3)]
    made = started([("request", one) for one in asked] + [("response", ODD_ANSWER)])
    assert "extends: openai-chat" not in lines(made)
    assert made.origin[1] == "it takes 0% of a response: the file is drawn from the samples"


def test_two_fields_of_one_name_have_two_names_in_the_ir() -> None:
    body = {
        "prompt": [{"who": "user", "said": "Hi"}],
        "thinking": {"style": "deep"},
        "voice": {"style": "calm"},
    }
    said = lines(started([("request", body)]))
    assert (
        "thinking: {style: $own.style (optional)}" in said or "style: $own.style (optional)" in said
    )
    assert any("$own.voice_style (optional)" in line for line in said)


def test_a_format_of_answers_is_asked_for_and_not_drawn() -> None:
    form = {"type": "json_object", "schema": {"type": "object", "properties": {"a": {}}}}
    made = started(
        [("request", {"turns": [{"role": "user", "content": "Hi"}], "answer_format": form})]
    )
    assert "request: `answer_format` is thought to say the form of an answer" in made.questions
    assert "answer_format: $own.answer_format (optional)" in lines(made)


def test_a_dialect_is_nearest_to_its_own_payloads() -> None:
    def nearest(body: Any) -> tuple[str, float]:
        return vocabulary.nearest(RULES, [("request", body)])

    body = json.loads((ROOT / "examples" / "weather" / "request.json").read_text("utf-8"))
    assert nearest(body) == ("openai-chat", 1.0)
    there = wireglot.convert(body, "openai-chat", "gemini").body
    assert nearest(there)[0] in ("gemini", "vertex")


@pytest.mark.parametrize("extra", [{}, {"mood": "calm"}])
def test_an_overlay_begins_with_what_it_changes(extra: dict[str, str]) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **extra}
    made = started([("request", body)], "mine", overlay="groq")
    assert "overlay: groq" in lines(made)
    assert ("mood: $own.mood (optional)" in lines(made)) == bool(extra)
    assert [finding for finding in made.findings if finding.severity == "error"] == []


def test_units_are_told_by_their_looks() -> None:
    trouble = {"trouble": {"kind": "slow", "says": "Too many calls."}}
    bodies = [body for _, body in LARCH] + [trouble, CHAT, {"done": True, "message": {"a": "b"}}]
    found = [unit for unit, _ in starter.units(RULES, bodies, None, None)]
    assert found == ["request", "response", "error", "request", "response"]
    assert starter.units(RULES, [CHAT], "response", None) == [("response", CHAT)]
    made = started([*LARCH, ("error", {"trouble": {"kind": "slow", "says": "Too many calls."}})])
    assert "says: $message" in lines(made)


def test_an_answer_under_one_key_and_in_other_spellings_is_told_too() -> None:
    answer = {"Choices": [{"Index": 0, "FinishReason": "stop"}], "Usage": {"TotalTokens": 3}}
    bodies = [{"Response": {"Id": "r", "Created": 7, **answer}}, {"Model": "m", "Messages": []}]
    found = [unit for unit, _ in starter.units(RULES, bodies, None, None)]
    assert found == ["response", "request"]


def test_a_text_that_no_element_shows_has_a_shape_all_the_same() -> None:
    said = [{"Role": "user", "Content": "Is it warm?"}, {"Role": "assistant", "Content": "It is."}]
    made = started([("request", {"Model": "m-1", "Messages": said})])
    assert "text: {wire: {type: text, text: $text}}" in made.text
    assert [finding for finding in made.findings if finding.severity == "error"] == []


def test_an_element_that_nothing_pictures_is_asked_for() -> None:
    calls = [{"Id": "c1", "Function": {"Name": "f", "Arguments": "{}"}}]
    message = {"Role": "assistant", "Content": "Hi there.", "ToolCalls": calls}
    one = {"Index": 0, "Message": message, "FinishReason": "tool_calls"}
    answer = {"Response": {"Choices": [one], "Id": "r"}}
    asked = {"Model": "m-1", "Messages": [{"Role": "user", "Content": "Is it warm?"}]}
    made = started([("request", asked), ("response", answer)])
    told = "response: an element of a sample is of no kind, so it is `unknown`"
    assert told in made.questions
    assert told not in started([*LARCH]).questions


def test_an_error_of_an_unknown_form_is_no_request() -> None:
    """As frameworks answer: the texts stand in a list."""
    refused = {"detail": [{"loc": ["body", "n"], "msg": "Too many.", "type": "value_error"}]}
    assert [unit for unit, _ in starter.units(RULES, [refused], None, None)] == ["error"]
    listed = {"trace": "t1", "errors": [{"code": "bad", "message": "No."}], "status_code": 400}
    assert [unit for unit, _ in starter.units(RULES, [listed], None, None)] == ["error"]
    made = started([("request", CHAT), ("error", refused)], "acme")
    assert "extends: openai-chat" in lines(made)


def test_calls_beside_the_content_are_asked_for_and_no_message_is_a_call() -> None:
    """Chat's messages in a place of their own, as DashScope has them."""
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "assistant", "content": "I look it up.", "tool_calls": [call]}
    asked = {"model": "m", "input": {"messages": [{"role": "user", "content": "Is it so?"}, said]},
             "tools": [{"name": "f", "parameters": {"type": "object"}}]}  # fmt: skip
    answer = {"output": {"choices": [{"finish_reason": "tool_calls", "message": said}]}}
    made = started([("request", asked), ("response", answer)], "acme")
    assert not [finding for finding in made.findings if finding.severity == "error"]
    assert "said: [text]" in lines(made)
    assert not any(line.startswith("tool_call:") for line in lines(made))
    assert any(one.startswith("messages: `tool_calls`: not pictured") for one in made.questions)


def test_a_field_that_needs_a_shape_is_asked_for() -> None:
    body = {**CHAT, "documents": [{"id": "d1", "content": "Rain.", "metadata": {"of": "today"}}]}
    made = started([("request", body)], "acme", parent="openai-chat")
    assert [finding for finding in made.findings if finding.severity == "error"] == []
    assert any("`documents` may be `$system`" in one for one in made.questions)
    assert "documents: $own.documents (optional)" in lines(made)


def test_a_parent_that_lies_over_another_is_told_with_what_comes_of_it() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "safe_prompt": True,
            "random_seed": 7, "min_tokens": 3}  # fmt: skip
    made = started([("request", body)], "acme")
    assert made.origin[0].startswith("nearest is mistral")
    assert made.origin[1].startswith("what else mistral says (its path, limits and models) holds")
    assert made.origin[1].endswith("`--extends chat-compatible` takes what lies below it")


def test_odd_samples_make_a_file_too() -> None:
    for body in ({}, {"a": None}, {"turns": ["x", {"y": []}]}, {"input": "Hi there."}):
        made = started([("request", copy.deepcopy(body))])
        assert made.text.startswith("# yaml-language-server")


def test_the_command_writes_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["new", "acme", "--extends", "ollama", "--dir", str(tmp_path)]
    assert cli.main(argv) == 0
    text = (tmp_path / "acme.yaml").read_text("utf-8")
    assert "dialect: acme\nextends: ollama\n" in text
    assert cli.main(argv) == 2
    assert "`--force` writes over it" in capsys.readouterr().err
    assert cli.main([*argv, "--force"]) == 0
    assert cli.main(["new", "acme"]) == 2
    assert cli.main(["new", "../acme", "--extends", "ollama"]) == 2
    assert cli.main(["new", "other", "--extends", "nobody"]) == 2
    assert cli.main(["check", str(tmp_path)]) == 0
