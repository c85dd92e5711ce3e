"""The words of the rule language, each on a dialect that is made for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wireglot

HEAD = "wireglot: 2\ndialect: {name}\nsee: https://example.com\nverified: 2026-11-21\n"
OTHER = """
shapes:
  text: {wire: {words: $text}}
unions: {part: [text]}
conversation:
  wire: {who: $role, says: $parts each part}
  cases: {user: {wire: {who: user}}, assistant: {wire: {who: assistant}}}
request: {wire: {talk: $messages as conversation}}
"""


def loaded(folder: Path, **dialects: str) -> Any:
    """Load dialects from their texts, beside the ladder alone."""
    return wireglot.load_rules(_folder(folder, **dialects), builtin=False)


def _folder(folder: Path, **dialects: str) -> Path:
    for name, text in dialects.items():
        (folder / f"{name}.yaml").write_text(HEAD.format(name=name) + text)
    return folder


def codes(notes: Any) -> list[tuple[str, str, str | None]]:
    return [(note.code, note.effect, note.source_path) for note in notes]


DROPS = """
shapes:
  text: {wire: {text: $text}}
unions: {part: [text]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}, assistant: {wire: {role: model}}}
request:
  wire: {turns: $messages as conversation}
  drop:
    debug: It only asks for more logging.
    turns[].parts[].tint: The colour says nothing to a model.
"""


def test_messages_and_system_text_without_a_hole_are_noted(tmp_path: Path) -> None:
    bare = "\nrequest: {wire: {engine: $model (optional)}}\n"
    lifts = OTHER.replace("$parts each part}", "$parts each part}\n  enforce: {system: lifted}", 1)
    rules = wireglot.load_rules(_folder(tmp_path, bare=bare, lifts=lifts))
    talk = [{"role": role, "content": "Hi"} for role in ("system", "user")]
    out = rules.convert({"model": "m", "messages": talk}, "openai-chat", "bare")
    assert (out.body, codes(out.notes)) == ({"engine": "m"}, [("no-place", "lost", "/messages")])
    out = rules.convert({"messages": talk}, "openai-chat", "lifts")
    assert out.body == {"talk": [{"who": "user", "says": [{"words": "Hi"}]}]}
    assert codes(out.notes) == [("no-place", "lost", "/messages/0/content")]


PAIRS = """
shapes:
  said: {ir: {type: text}, wire: {who: person, text: $text}}
  argument: {wire: {name: $key, value: $value}}
  tool_call: {wire: {who: model, do: $name, no: $id, with: $arguments entries argument}}
conversation:
  cases:
    user: {wire: $parts each said}
    assistant: {wire: $parts each tool_call}
request: {wire: {log: $messages as conversation}}
"""


@pytest.mark.parametrize("per", ["message", "run"])
@pytest.mark.parametrize("trace", [False, True])
def test_a_turn_that_stands_as_another_says_its_note(per: str, trace: bool) -> None:
    text = f"""
wireglot: 2
dialect: one
shapes:
  text: {{wire: {{text: $text}}}}
conversation:
  per: {per}
  cases:
    user: {{wire: {{role: user, content: $parts each text}}}}
    system: {{note: system-as-user, wire: {{role: user, content: $parts each text}}}}
request: {{wire: {{messages: $messages as conversation}}}}
"""
    rules = wireglot.load_rules({"one.yaml": text})
    body = {"messages": [{"role": role, "content": "Hi"} for role in ("system", "user")]}
    notes = rules.convert(body, "openai-chat", "one", model="m", trace=trace).notes
    (note,) = [one for one in notes if one.code == "system-as-user"]
    assert (note.source_path, note.rule) == ("/messages/0", "one.yaml:10:13")


@pytest.mark.parametrize("arguments", [{}, {"a": {"b": [1, None]}, "c": ""}])
def test_arguments_may_be_a_list_of_pairs_and_empty(tmp_path: Path, arguments: Any) -> None:
    rules = wireglot.load_rules(_folder(tmp_path, pairs=PAIRS))
    call = {"type": "tool_use", "id": "t", "name": "f", "input": arguments}
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [call]}]
    out = rules.convert({"messages": talk}, "anthropic", "pairs")
    pairs = [{"name": name, "value": value} for name, value in arguments.items()]
    said = {"who": "model", "do": "f", "no": "t", "with": pairs}
    assert out.body == {"log": [{"who": "person", "text": "Hi"}, said]}
    assert rules.convert(out.body, "pairs", "pairs").body == out.body
    assert rules.convert(out.body, "pairs", "anthropic").body["messages"] == talk


RUNS = """
shapes:
  text: {wire: {text: $text}}
  image: {ir: {source: {type: url, url: $url}}, wire: {href: $url}}
  tool_call: {wire: {do: $name, ref: $id, with: $arguments}}
  tool_result:
    by: kind
    wire: {ref: $tool_call_id}
    cases: {text: {wire: {gives: $value | string}}}
unions: {item: [text, image, tool_call, tool_result]}
conversation:
  per: run
  wire: {items: $parts each item}
  cases:
    user: {wire: {by: human}}
    assistant: {wire: {by: model}}
    tool: {wire: {by: human}}
request: {wire: {turns: $messages as conversation}}
"""


@pytest.mark.parametrize("then", [[], [{"type": "text", "text": "And now?"}]])
def test_media_beside_a_result_stay_in_its_run(tmp_path: Path, then: list[Any]) -> None:
    rules = wireglot.load_rules(_folder(tmp_path, runs=RUNS))
    image = {"type": "image", "source": {"type": "url", "url": "https://e.x/a.png"}}
    content = [{"type": "text", "text": "Look"}, image]
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": content}
    talk = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result, *then]}]
    out = rules.convert({"messages": talk}, "anthropic", "runs")
    whose: dict[str, Any] = {"text": "Returned by f (t):"}
    items = [{"ref": "t", "gives": "Look"}, whose, {"href": "https://e.x/a.png"}]
    items += [{"text": part["text"]} for part in then]
    assert out.body["turns"][1:] == [{"items": items, "by": "human"}]
    moved = [note.target_path for note in out.notes if note.code == "moved"]
    assert moved == ["/turns/1/items/2"]
    assert len(out.notes) == len(set(out.notes))


def test_what_is_dropped_is_named_with_its_reason_and_stays_at_home(tmp_path: Path) -> None:
    rules = loaded(tmp_path, one=DROPS, two=OTHER)
    body = {
        "turns": [{"role": "user", "parts": [{"text": "Hi", "tint": "red", "zzz": 1}]}],
        "debug": {"level": 2},
    }
    out = rules.convert(body, "one", "two", options={"repair": True})
    assert out.body == {"talk": [{"who": "user", "says": [{"words": "Hi"}]}]}
    assert sorted(codes(out.notes)) == [
        ("dropped", "lost", "/debug"),
        ("dropped", "lost", "/turns/0/parts/0/tint"),
        ("unknown-key", "lost", "/turns/0/parts/0/zzz"),
    ]
    said = {note.source_path: note.message for note in out.notes}
    assert said["/debug"] == "It only asks for more logging."
    assert rules.convert(body, "one", "one")[:3] == (body, (), None)
    assert set(rules["one"].dropped("request")) == {"debug", "turns[].parts[].tint"}


def test_a_drop_without_a_reason_is_refused_with_its_place(tmp_path: Path) -> None:
    text = DROPS.replace("It only asks for more logging.", "")
    with pytest.raises(wireglot.RuleError, match="no reason for `debug`") as caught:
        loaded(tmp_path, one=text)
    assert (caught.value.line, caught.value.file.endswith("one.yaml")) == (15, True)


ALSO = """
shapes:
  aside: {wire: {tint: $own.tint (optional), text: $own.never (optional)}}
  text: {also: aside, wire: {text: $text}}
  image: {also: aside, wire: {picture: $filename}}
unions: {part: [text, image]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}}
request: {wire: {turns: $messages as conversation}}
"""


def test_also_lends_the_keys_of_another_shape_where_no_own_key_stands(tmp_path: Path) -> None:
    rules = loaded(tmp_path, one=ALSO)
    parts = [{"text": "Hi", "tint": "red"}, {"picture": "u", "tint": "blue"}]
    body = {"turns": [{"role": "user", "parts": parts}]}
    ir = rules["one"].read(body).ir
    assert ir["messages"][0]["parts"] == [
        {"type": "text", "text": "Hi", "own": {"one": {"tint": "red"}}},
        {"type": "image", "filename": "u", "own": {"one": {"tint": "blue"}}},
    ]
    assert rules.convert(body, "one", "one").body == body


def test_also_names_a_shape(tmp_path: Path) -> None:
    with pytest.raises(wireglot.RuleError, match="`also: nothing` names no shape"):
        loaded(tmp_path, one=ALSO.replace("also: aside", "also: nothing"))


ONLY = """
tables: {colour: {only: [red, blue]}}
shapes: {reasoning: {wire: {text: $text, tint: $title | colour (optional)}}}
unions: {part: [reasoning]}
conversation: {wire: {parts: $parts each part}, cases: {user: {wire: {role: user}}}}
request: {wire: {turns: $messages as conversation}}
"""


def test_a_closed_table_takes_its_own_words_only(tmp_path: Path) -> None:
    rules = loaded(tmp_path, one=ONLY)
    write = rules["one"].write
    message = {"role": "user", "parts": [{"type": "reasoning", "text": "Hi", "title": "red"}]}
    assert write({"messages": [message]}).body["turns"][0]["parts"][0]["tint"] == "red"
    message["parts"][0]["title"] = "green"  # type: ignore[index]
    out = write({"messages": [message]})
    assert out.body == {"turns": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    assert [note.code for note in out.notes] == ["no-place"]
    body = {"turns": [{"role": "user", "parts": [{"text": "Hi", "tint": "green"}]}]}
    assert rules.convert(body, "one", "one").body == body
    assert codes(rules["one"].read(body).notes) == [("unfit", "kept", "/turns/0/parts/0/tint")]


def test_a_word_of_a_closed_table_may_be_open(tmp_path: Path) -> None:
    rules = loaded(tmp_path, one=ONLY.replace("[red, blue]", '["light *", "* of * blue*"]'))
    for tint in ("light green", "a kind of \nsky blue", "light *"):
        body = {"turns": [{"role": "user", "parts": [{"text": "Hi", "tint": tint}]}]}
        read = rules["one"].read(body)
        assert (read.ir["messages"][0]["parts"][0]["title"], read.notes) == (tint, ())
        fresh = [{"role": "user", "parts": [{"type": "reasoning", "text": "Hi", "title": tint}]}]
        assert rules["one"].write({"messages": fresh}).body == body
        assert rules.convert(body, "one", "one", trace=True).body == body
    body = {"turns": [{"role": "user", "parts": [{"text": "Hi", "tint": "lightly"}]}]}
    assert codes(rules["one"].read(body).notes) == [("unfit", "kept", "/turns/0/parts/0/tint")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends: two\n", "`extends: two` names no dialect that is loaded"),
        ("hooks: [no-such]\n", "no hook `no-such` is registered"),
        ("hooks: call-ids\n", "`hooks` is a list of names"),
        ("limits: {tool_name: {max: 3}}\n", "the limit `tool_name` has no `chars`"),
        ("limits: {tool_name: {chars: a-z, max: many}}\n", "`max` is a whole number"),
        ("limits: {colour: {chars: a-z}}\n", "`colour` is no limit"),
        ("unions: {part: [text]}\n", "names `text`, which is no shape"),
        ("unions: {part: {text: 1}}\n", "is a list of names"),
        ("conversation: {enforce: {tidy: true}, cases: {}}\n", "`tidy` cannot be enforced"),
        ("conversation: {order: 1, cases: {}}\n", "`order` is no word of a conversation"),
        ("shapes: {text: {see: x, wire: {text: $text}}}\n", "`see` is no word of a shape"),
        ("shapes: {text: {wire: {text: $text (shout)}}}\n", "is no mark"),
        ("shapes: {text: {wire: {text: $text (refused gone)}}}\n", "takes no value"),
        ("shapes: {text: {wire: {text: $text | loud}}}\n", "`loud` is no codec"),
        ("shapes: {text: {wire: {text: $text as shout}}}\n", "`shout` is no shape"),
        ("tables: {stop: {only: word}}\n", "is a list of words"),
        ("request: {wire: {talk: $messages as conversation}}\n", "`conversation` is no shape"),
        ("request: []\n", "is a mapping"),
    ],
)
def test_a_word_that_is_not_known_is_refused_with_its_place(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(wireglot.RuleError) as caught:
        loaded(tmp_path, one=text)
    assert message in str(caught.value)
    assert caught.value.file.endswith("one.yaml") and caught.value.line == 5


def test_what_was_read_goes_home_unrepaired_though_nothing_is_remembered() -> None:
    dialect = wireglot.load_rules()["openai-chat"]
    tools = [{"type": "function", "function": {"name": "a.b/c"}}]
    ir = dialect.read(tools, unit="tools").ir
    assert ir == [{"name": "a.b/c", "spelled": {"openai-chat": {}}}]
    assert dialect.write(ir, unit="tools")[:3] == (tools, (), None)
    mended = dialect.write(ir, unit="tools", options={"repair": True})
    assert mended.body == [{"type": "function", "function": {"name": "a_b_c"}}]
    assert [note.code for note in mended.notes] == ["renamed"]


def test_memory_is_not_looked_for_in_the_data_of_the_user() -> None:
    dialect = wireglot.load_rules()["openai-chat"]
    data = {"spelled": 5, "kept": {"openai-chat": {"/a": 1}}}
    call = {"type": "tool_call", "id": "c", "name": "a.b", "arguments": data}
    out = dialect.write(call, unit="tool_call")
    assert out.body["function"]["name"] == "a_b"


def test_an_element_of_several_tools_is_no_tool() -> None:
    body = {"functionDeclarations": [{"name": "f"}, {"name": "g"}]}
    with pytest.raises(wireglot.ConversionError, match="use the unit `tools`"):
        wireglot.load_rules()["gemini"].read(body, unit="tool")


TIMES = """
response: {wire: {made: $created | timestamp (optional), ...: $candidates each answer | single}}
shapes:
  answer: {wire: {says: $parts each text}}
  text: {wire: {text: $text}}
unions: {part: [text]}
"""


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-08-06T06:29:40.054952123Z", 1785997780.054952),
        ("2026-08-06T06:29:40.05Z", 1785997780.05),
        ("2026-08-06T08:29:40+02:00", 1785997780),
        ("0001-01-01T00:00:00Z", -62135596800),
    ],
)
def test_a_time_is_read_as_seconds_and_comes_back_as_it_was(
    tmp_path: Path, text: str, seconds: float
) -> None:
    one = loaded(tmp_path, one=TIMES)["one"]
    body = {"made": text, "says": []}
    reading = one.read(body, unit="response")
    ir = reading.ir
    assert ir["created"] == seconds
    assert codes(reading.notes) == []
    assert one.write(ir, unit="response").body == body
    ir["created"] += 1
    written = one.write(ir, unit="response").body["made"]
    assert one.read({**body, "made": written}, unit="response").ir["created"] == seconds + 1


@pytest.mark.parametrize("text", ["2026-08-06", "2026-13-01T00:00:00Z", "now", 5])
def test_what_is_no_time_is_kept(tmp_path: Path, text: Any) -> None:
    one = loaded(tmp_path, one=TIMES)["one"]
    reading = one.read({"made": text, "says": []}, unit="response")
    assert "created" not in reading.ir
    assert codes(reading.notes) == [("unfit", "kept", "/made")]
    assert one.write(reading.ir, unit="response").body["made"] == text


def test_seconds_that_are_no_time_of_the_calendar_have_no_place(tmp_path: Path) -> None:
    one = loaded(tmp_path, one=TIMES)["one"]
    out = one.write({"created": 10**18, "candidates": [{"parts": []}]}, unit="response")
    assert out.body == {"says": []}
    assert [note.code for note in out.notes] == ["no-place"]


ROUGHLY = """
shapes:
  answer: {wire: {says: $parts each text}}
  text: {wire: {text: $text}}
unions: {part: [text]}
response: {wire: {made: $created | FORM (optional), ...: $candidates each answer | single}}
"""


@pytest.mark.parametrize(
    ("form", "seconds", "made", "rounded"),
    [
        ("seconds", 5.25, 5, True),
        ("seconds", -0.5, -1, True),
        ("seconds", 5.0, 5, False),
        ("timestamp", 0.5, "1970-01-01T00:00:00.500Z", False),
        ("timestamp", 0.1234567, "1970-01-01T00:00:00.123457Z", True),
    ],
)
def test_a_time_that_a_place_cannot_say_wholly_is_rounded(
    tmp_path: Path, form: str, seconds: float, made: Any, rounded: bool
) -> None:
    one = loaded(tmp_path, one=ROUGHLY.replace("FORM", form))["one"]
    out = one.write({"created": seconds, "candidates": [{"parts": []}]}, unit="response")
    assert out.body == {"made": made, "says": []}
    assert [(note.code, note.target_path) for note in out.notes] == [("rounded", "/made")] * rounded


def test_seconds_with_a_fraction_come_home_as_they_were(tmp_path: Path) -> None:
    one = loaded(tmp_path, one=ROUGHLY.replace("FORM", "seconds"))["one"]
    body = {"made": 5.25, "says": []}
    reading = one.read(body, unit="response")
    out = one.write(reading.ir, unit="response")
    assert (reading.ir["created"], out.body, (*reading.notes, *out.notes)) == (5.25, body, ())


STAMPED = """
conversation:
  wire: {at: $time | milliseconds (optional), parts: $parts each text}
  cases: {user: {wire: {by: u}}}
shapes: {text: {wire: {text: $text}}}
unions: {part: [text]}
request: {wire: {turns: $messages as conversation}}
"""


@pytest.mark.parametrize(
    ("fraction", "rounded"), [(".123456Z", True), (".123Z", False), ("Z", False)]
)
def test_milliseconds_of_a_finer_time_are_rounded(
    tmp_path: Path, fraction: str, rounded: bool
) -> None:
    one = loaded(tmp_path, one=STAMPED)["one"]
    message = {"role": "user", "time": f"1970-01-01T00:00:01{fraction}", "parts": []}
    out = one.write(message, unit="message")
    assert out.body["at"] in (1000, 1123)
    assert [(note.code, note.target_path) for note in out.notes] == [("rounded", "/at")] * rounded


COUNTS = """
shapes:
  usage:
    wire: {all: $input + $cache_read + $cache_write (optional), old: $cache_read (optional)}
"""


def test_terms_that_a_sum_hides_are_noted(tmp_path: Path) -> None:
    one = loaded(tmp_path, one=COUNTS)["one"]
    out = one.write({"input": 1, "cache_read": 2, "cache_write": 4}, unit="usage")
    assert out.body == {"all": 7, "old": 2}
    assert [(note.code, note.target_path) for note in out.notes] == [("joined", "/all")]
    assert one.write({"input": 1, "cache_read": 2, "cache_write": 0}, unit="usage").notes == ()


NUMBERED = """
shapes:
  text: {wire: $text}
  tool_call: {wire: {n: $nth, tool: $name, with: $arguments, id: $id}}
  tool_result:
    by: kind
    wire: {who: tool, tool: $name (made), of: $tool_call_id}
    cases: {text: {wire: {says: $value}}}
conversation:
  cases:
    user: {wire: {who: user, says: $parts each text | text (default empty-text)}}
    assistant:
      wire:
        who: model
        says: $parts each text | text (default empty-text)
        calls: $parts each tool_call (optional)
    tool: {wire: $parts each tool_result}
request: {wire: {talk: $messages as conversation}}
"""


def test_a_place_is_that_among_the_elements_of_its_own_list(tmp_path: Path) -> None:
    one = loaded(tmp_path, one=NUMBERED)["one"]
    calls = [{"n": n, "tool": "f", "with": {}, "id": f"c{n}"} for n in range(2)]
    body = {"talk": [{"who": "model", "says": "Hm.", "calls": calls}]}
    reading = one.read(body)
    assert reading.notes == ()
    assert not any("spelled" in part for part in reading.ir["messages"][0]["parts"])
    assert one.write(reading.ir).body == body


def test_the_name_of_a_result_comes_from_its_call_and_is_left_out_at_home(tmp_path: Path) -> None:
    rules = loaded(tmp_path, one=NUMBERED)
    call = {"n": 0, "tool": "f", "with": {}, "id": "c"}
    result = {"who": "tool", "of": "c", "says": "ok"}
    body = {"talk": [{"who": "model", "says": "", "calls": [call]}, result]}
    ir = rules["one"].read(body).ir
    assert ir["messages"][1]["parts"][0]["name"] == "f"
    assert rules["one"].write(ir).body == body
    ir["messages"][1]["parts"][0]["name"] = "g"
    assert rules["one"].write(ir).body["talk"][1]["tool"] == "g"


SWITCH = """
shapes:
  text: {wire: {words: $text}}
  switch:
    cases:
      on: {ir: {stream: true}, wire: {live: true (or $absent)}}
      off: {wire: {live: $stream (fill false)}}
unions: {part: [text]}
conversation: {wire: {says: $parts each part}, cases: {user: {wire: {who: user}}}}
request: {wire: {talk: $messages as conversation, ...: $. as switch}}
"""


def test_a_switch_may_be_on_where_it_is_not_said_and_off_where_nobody_asked(tmp_path: Path) -> None:
    rules = loaded(tmp_path, one=SWITCH, two=OTHER)
    talk = [{"who": "user", "says": [{"words": "Hi"}]}]
    for body in ({"talk": talk}, {"talk": talk, "live": True}, {"talk": talk, "live": False}):
        ir = rules["one"].read(body).ir
        assert ir["stream"] is body.get("live", True)
        assert rules["one"].write(ir).body == body
    out = rules.convert({"talk": talk}, "two", "one")
    assert out.body == {"talk": talk, "live": False}
    assert [(note.code, note.target_path) for note in out.notes] == [("filled-in", "/live")]


KINDS = """
shapes:
  text: {{wire: {{text: $text}}}}
  tool_call: {{wire: {{id: $id, name: $name, args: $arguments}}}}
  candidate:
    wire: {{why: $stop_reason (fill end_turn)}}
    cases:
      calls:
        ir: {{parts: $has tool_call}}
        wire: {{plan: $parts each text{mark}, calls: $parts each tool_call}}
      talk: {{wire: {{content: $parts each text{absent}}}}}
response: {{wire: {{...: $candidates each candidate | single}}}}
"""


@pytest.mark.parametrize("absent", ["", ", calls: $absent"])
@pytest.mark.parametrize("mark", ["", " (optional)", " | text (optional)"])
def test_the_case_that_loses_least_is_taken_at_home_too(
    tmp_path: Path, mark: str, absent: str
) -> None:
    rules = loaded(tmp_path, kinds=KINDS.format(mark=mark, absent=absent))["kinds"]
    call = {"type": "tool_call", "id": "a", "name": "f", "arguments": {}}
    read = rules.read({"why": "stop", "content": [{"text": "Hi"}]}, unit="response").ir
    homes: list[dict[str, Any]] = [{"spelled": {"kinds": {}}}, read["candidates"][0]]
    for parts in ([call], [{"type": "text", "text": "Hm."}, call]):
        for home in homes:
            edited = {**home, "parts": parts, "stop_reason": "tool_use"}
            out = rules.write({**read, "candidates": [edited]}, unit="response")
            assert out.body["calls"] == [{"id": "a", "name": "f", "args": {}}]
            assert ("plan" in out.body) >= (len(parts) == 2)
            assert "lost" not in [note.effect for note in out.notes]


TEXTS = """
shapes:
  function:
    wire:
      name: $name
      schema: $parameters | object | json (optional)
      hint: $own.hint | json (optional)
  format:
    ir: {type: json_schema, schema: $s, name: $name}
    wire: {of: $s | json, name: $name}
conversation:
  wire: {says: []}
  cases: {user: {wire: {who: user}}}
request:
  wire:
    talk: $messages as conversation
    tools: $tools each function (optional)
    extra: $metadata | object | json (optional)
    list: $own.list | list | json (optional)
    format: $response_format as format (optional)
"""


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("extra", ["metadata"]),
        ("list", ["own", "texts", "list"]),
        ("tools", ["tools", 0, "parameters"]),
        ("hint", ["tools", 0, "own", "texts", "hint"]),
        ("format", ["response_format", "schema"]),
    ],
)
@pytest.mark.parametrize("space", ["", " "])
def test_json_in_a_text_comes_home_byte_for_byte(
    tmp_path: Path, key: str, keys: list[Any], space: str
) -> None:
    rules = loaded(tmp_path, texts=TEXTS, other=OTHER)
    text = '{ "b": 1.50,\n"a":"\\u00e9"}' if space else '{"b":1.5,"a":"é"}'
    text = f"[{text}]" if key == "list" else text
    tool = {"name": "f", **({"schema": text} if key == "tools" else {"hint": text})}
    body: Any = {"talk": [], key: text}
    if key in ("tools", "hint"):
        body = {"talk": [], "tools": [tool]}
    elif key == "format":
        body = {"talk": [], "format": {"of": text, "name": "n"}}
    home = rules.convert(body, source="texts", target="texts")
    assert home.body == body and not home.notes
    read = rules["texts"].read(body).ir
    owner = read
    for step in keys[:-1]:
        owner = owner[step]
    assert owner[keys[-1]] == ([{"b": 1.5, "a": "é"}] if key == "list" else {"b": 1.5, "a": "é"})
    assert not any(str(name).endswith("_json") for name in owner)
    owner[keys[-1]] = [] if key == "list" else {}
    assert ("[]" if key == "list" else "{}") in repr(rules["texts"].write(read).body)
    abroad = rules.convert(body, source="texts", target="other").notes
    assert [note.effect for note in abroad] == ["lost"]


DECLARED = """
shapes:
  text: {wire: {text: $text}}
  tool_call: {wire: {do: $name, ref: $id, with: $arguments}}
  function: {wire: {name: $name, takes: $parameters}}
unions: {part: [text, tool_call]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {who: user}}, assistant: {wire: {who: model}}}
  enforce: {tools: [narrowed, declared]}
request: {wire: {turns: $messages as conversation, tools: $tools each function (optional)}}
"""


@pytest.mark.parametrize(
    ("tools", "choice", "sent", "notes"),
    [
        ([], None, ["f", "g"], [("/tools/0", "added"), ("/tools/1", "added")]),
        (["f"], None, ["f", "g"], [("/tools/1", "added")]),
        (["f", "h"], "h", ["h"], []),
    ],
)
def test_tools_that_messages_call_are_declared(
    tmp_path: Path, tools: list[str], choice: str | None, sent: list[str], notes: list[Any]
) -> None:
    rules = wireglot.load_rules(_folder(tmp_path, one=DECLARED))
    calls = [
        {"type": "tool_use", "id": f"t{i}", "name": name, "input": {}}
        for i, name in enumerate("fgf")
    ]
    body: dict[str, Any] = {
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": calls},
        ],
        "tools": [{"name": name, "input_schema": {"type": "object"}} for name in tools],
    }
    if choice is not None:
        body["tool_choice"] = {"type": "tool", "name": choice}
    out = rules.convert(body, "anthropic", "one")
    assert out.body["tools"] == [{"name": n, "takes": {"type": "object"}} for n in sent]
    added = [n for n in out.notes if n.effect == "added"]
    assert [(n.target_path, n.effect) for n in added] == notes
    assert {n.code for n in added} <= {"filled-in"}
    again = rules.repair({**out.body, "tools": []}, "one")
    assert [t["name"] for t in again.body["tools"]] == ["f", "g"]


BESIDE = """
shapes:
  text: {wire: {text: $text}}
  document: {ir: {source: {type: text, text: $text}}, wire: {paper: $text}}
  tool_call: {wire: {do: $name, ref: $id, with: $arguments}}
  reasoning: {wire: {thought: $text}}
unions: {part: [text, document, tool_call, reasoning]}
conversation:
  per: PER
  wire: {parts: $parts each part}
  cases: {user: {wire: {who: user}}, assistant: {wire: {who: model}}}
  enforce: {beside: {document: {text: (see this)}, tool_call: {reasoning: ""}}}
request: {wire: {turns: $messages as conversation}}
"""
PAPER = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "P"}}
SAY = {"type": "text", "text": "Hi"}


@pytest.mark.parametrize(
    ("per", "talk", "written", "added"),
    [
        ("message", [[SAY, PAPER]], [["Hi", "P"]], []),
        ("message", [[PAPER]], [["(see this)", "P"]], ["/turns/0/parts/0/text"]),
        (
            "message",
            [[PAPER], [SAY]],
            [["(see this)", "P"], ["Hi"]],
            ["/turns/0/parts/0/text"],
        ),
        ("run", [[PAPER], [SAY]], [["P", "Hi"]], []),
    ],
)
def test_a_text_stands_beside_a_part_that_wants_one(
    tmp_path: Path, per: str, talk: list[Any], written: list[Any], added: list[str]
) -> None:
    rules = wireglot.load_rules(_folder(tmp_path, one=BESIDE.replace("PER", per)))
    body = {"messages": [{"role": "user", "content": said} for said in talk]}
    out = rules.convert(body, "anthropic", "one")
    found = [[v for part in turn["parts"] for v in part.values()] for turn in out.body["turns"]]
    assert found == written
    notes = [n for n in out.notes if n.effect == "added"]
    assert [n.target_path for n in notes] == added and {n.code for n in notes} <= {"filled-in"}
    again = rules.repair(out.body, "one")
    assert again.body == out.body and not [n for n in again.notes if n.effect == "added"]


def test_reasoning_stands_beside_a_call_that_wants_it(tmp_path: Path) -> None:
    rules = wireglot.load_rules(_folder(tmp_path, one=BESIDE.replace("PER", "message")))
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    body = {"messages": [{"role": "assistant", "content": [call]}]}
    [turn] = rules.convert(body, "anthropic", "one").body["turns"]
    assert turn["parts"] == [{"thought": ""}, {"do": "f", "ref": "t", "with": {}}]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("[document]", "`beside` says what stands beside a kind of part"),
        ("{paper: {text: X}}", "`beside` names `paper`, which is no kind of part"),
        ("{document: {image: X}}", "a text or reasoning stands beside `document`"),
        ("{document: {text: ' '}}", "`text` says which words stand there"),
    ],
)
def test_what_stands_beside_is_said_in_one_form(tmp_path: Path, said: str, told: str) -> None:
    text = BESIDE.replace("PER", "run").replace("{document: {text: (see this)}", "BOTH")
    text = text.replace('BOTH, tool_call: {reasoning: ""}}', said)
    with pytest.raises(wireglot.RuleError) as caught:
        loaded(tmp_path, one=text)
    assert told in str(caught.value)


NAMED = """
limits: {document.filename: {chars: "a-z-", max: 8, unique: true}, document: {count: 3}}
shapes:
  text: {wire: {text: $text}}
  document:
    ir: {source: {type: text, text: $text}}
    wire: {paper: $text, called: $filename (optional)}
  tool_call: {wire: {do: $name, ref: $id, with: $arguments}}
  tool_result: {ir: {kind: multimodal}, wire: {of: $tool_call_id, gives: $value each block}}
unions: {part: [text, document, tool_call], block: [text, document]}
conversation:
  wire: {parts: $parts each part}
  cases:
    user: {wire: {who: user}}
    assistant: {wire: {who: model}}
    tool: {wire: $parts each tool_result}
request: {wire: {turns: $messages as conversation}}
"""


def _paper(name: str) -> dict[str, Any]:
    return {**PAPER, "title": name}


@pytest.mark.parametrize(
    ("names", "written", "notes"),
    [
        (["a", "b"], ["a", "b"], []),
        (["a", "A.B"], ["a", "---"], ["renamed"]),
        (["a", "b", "a"], ["a", "b", "a--"], ["renamed"]),
        (["a", "b", "c", "d"], ["b", "c", "d"], ["no-place"]),
        (["averylongname"], ["8 signs"], ["renamed"]),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_texts_have_limits_and_parts_are_counted(
    tmp_path: Path, names: list[str], written: list[str], notes: list[str], inside: bool
) -> None:
    rules = wireglot.load_rules(_folder(tmp_path, one=NAMED))
    papers = [_paper(name) for name in names]
    talk: list[dict[str, Any]] = [{"role": "user", "content": papers}]
    if inside:
        call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "t", "content": [SAY, *papers]}
        talk = [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    out = rules.convert({"messages": talk}, "anthropic", "one")
    last = out.body["turns"][-1]
    found = [one["called"] for one in last.get("gives", last.get("parts")) if "called" in one]
    assert found == written or [len(name) for name in found] == [8]
    told = [n for n in out.notes if n.code in ("renamed", "no-place")]
    assert [n.code for n in told] == notes and all(n.source_path for n in told)
    again = rules.repair(out.body, "one")
    assert (again.body, again.notes) == (out.body, ())


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("document.filename: {max: 3}", "the limit `document.filename` has no `chars`"),
        ('document.filname: {chars: "a-z"}', "`document.filname` is no limit"),
        ('document.filename: {chars: "a-z", count: 3}', "`count` is no word of a limit"),
        ("image: {max: 3}", "`max` is no word of the limit `image`"),
        ("image: {count: 0}", "`count` is a whole number from 1 to 10000"),
        ("cache: {count: -1}", "`count` is a whole number from 0 to 10000"),
    ],
)
def test_limits_of_texts_and_parts_have_their_words(tmp_path: Path, said: str, told: str) -> None:
    head, _, rest = NAMED.strip().partition("\n")
    with pytest.raises(wireglot.RuleError) as caught:
        loaded(tmp_path, one=f"\nlimits: {{{said}}}\n{rest}" if head else "")
    assert told in str(caught.value)


TAILS = """
shapes:
  text: {wire: {words: $text}}
  image: {ir: {source: {type: url, url: $url}}, wire: {seen: $url, size: $own.size (optional)}}
  tool_call: {wire: {do: $name, ref: $id, with: $arguments}}
  tool_result:
    by: kind
    wire: {of: $tool_call_id}
    cases:
      text: {wire: {gives: [{words: $value | string}]}}
      data: {wire: {gives: [{data: $value | object, age: $own.age (optional)}, ...: $media each block MARK]}}
      multimodal: {wire: {gives: $value each block}}
unions: {part: [text, image, tool_call], block: [text, image]}
conversation:
  wire: {parts: $parts each part}
  cases:
    user: {wire: {who: user}}
    assistant: {wire: {who: model}}
    tool: {wire: $parts each tool_result}
request:
  wire:
    turns: $messages as conversation
    plan: [{first: $own.first}, {then: $own.then}, ...: $own.more | list MARK]
"""  # noqa: E501


@pytest.mark.parametrize("mark", ["", "(optional)"])
@pytest.mark.parametrize("more", [[], [{"x": 1}, "y", {"then": 2}]])
@pytest.mark.parametrize(
    "gives",
    [
        [{"data": {"a": 1}}],
        [{"data": {"a": 1}, "age": 3}, {"seen": "u"}],
        [{"data": {"a": 1}, "odd": 1}, {"seen": "u", "size": 2, "odd": 3}, {"seen": "v"}],
        [{"data": {"a": 1}}, {"what": 1}, {"seen": "v"}],
        [{"words": "Hi"}, {"seen": "u"}],
    ],
)
def test_a_list_may_have_a_head_and_a_rest(
    tmp_path: Path, mark: str, more: list[Any], gives: list[Any]
) -> None:
    rules = wireglot.load_rules(_folder(tmp_path, one=TAILS.replace("MARK", mark)))
    turns = [
        {"who": "model", "parts": [{"do": "f", "ref": "c", "with": {}}]},
        {"of": "c", "gives": gives},
    ]
    body = {"turns": turns, "plan": [{"first": 1}, {"then": 2}, *more]}
    home = rules.convert(body, "one", "one")
    assert home.body == body and not home.notes
    read = rules["one"].read(body).ir
    result = read["messages"][1]["parts"][0]
    if "data" in gives[0]:
        assert result["value"] == {"a": 1}
        assert [m["type"] for m in result.get("media", [])] == [
            "image" if "seen" in one else "unknown" for one in gives[1:]
        ]
    assert read["own"]["one"].get("more", []) == more
    abroad = rules.convert(body, "one", "anthropic", trace=True)
    lost = {n.source_path for n in abroad.notes if n.effect == "lost"}
    for place, one in enumerate(gives):
        for key in one.keys() & {"odd", "size", "what", "age"}:
            there = f"/turns/1/gives/{place}"
            assert lost & {f"{there}/{key}", there}, (there, lost)
    wrong = rules["one"]
    with pytest.raises(wireglot.ConversionError, match="expected a list of 2 or more"):
        wrong.read({**body, "plan": [{"first": 1}]})


def test_the_rest_of_a_list_is_written_from_abroad(tmp_path: Path) -> None:
    text = TAILS.replace("MARK", "(optional)").partition("    plan:")[0]
    rules = wireglot.load_rules(_folder(tmp_path, one=text, two=text))
    turns = [
        {"who": "model", "parts": [{"do": "f", "ref": "c", "with": {}}]},
        {"of": "c", "gives": [{"data": {"a": 1}}, {"seen": "u"}, {"seen": "v"}]},
    ]
    out = rules.convert({"turns": turns}, "one", "two", trace=True)
    assert out.body == {"turns": turns} and not out.notes
    assert out.trace is not None
    at = "/turns/1/gives/2/seen"
    assert list(out.trace.origins[at].sources) == [at]


FAILS = """
shapes:
  text: {wire: {words: $text}}
  failure:
    by: kind
    cases:
      rate_limit: {wire: {tooMany: {message: $message}}}
      server: {wire: {broken: {message: $message}}}
      other: {ir: {kind: $present}, wire: {broken: {message: $message}}}
unions: {part: [text]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {who: user}}, assistant: {wire: {who: model}}}
request: {wire: {turns: $messages as conversation}}
response: {wire: {answers: $candidates each answer | single}}
UNIT
stream:
  framing: lines
  events:
    start: {begin: true}
    append.text: {piece: $piece}
    EVENT
    finish: {stop: $stop_reason}
"""
ANSWER = "  answer: {wire: {said: $parts each part}}\nunions:"
BY_EVENT = ("error: {wire: {message: $message}}", "error: {...: $. as failure}")
BY_UNIT = (
    "error: {by: kind, cases: {rate_limit: {wire: {tooMany: $message}}, "
    "server: {wire: {broken: $message}}, other: {ir: {kind: $present}, wire: {broken: $message}}}}",
    "",
)


@pytest.mark.parametrize(("unit", "event"), [BY_EVENT, BY_UNIT])
@pytest.mark.parametrize(
    ("key", "kind"), [("tooMany", "rate_limit"), ("broken", "server"), ("broken", "timeout")]
)
def test_a_kind_of_error_may_be_the_key_in_a_stream(
    tmp_path: Path, unit: str, event: str, key: str, kind: str
) -> None:
    text = FAILS.replace("UNIT", unit).replace("EVENT", event).replace("unions:", ANSWER, 1)
    rules = wireglot.load_rules(_folder(tmp_path, one=text))
    said: Any = "Wait." if unit == BY_UNIT[0] else {"message": "Wait."}
    home = rules.translator("one", "one")
    frame = {key: said}
    assert [*home.feed({"begin": True}), *home.feed(frame)] == [{"begin": True}, frame]
    assert home.error == {"kind": "server" if kind == "timeout" else kind, "message": "Wait."}
    away = rules.translator("openai-chat", "one")
    types = {"rate_limit": "rate_limit_error", "server": "server_error", "timeout": "timeout"}
    made = away.feed({"error": {"message": "Wait.", "type": types[kind]}})
    assert made[-1] == frame


MARKED = """
shapes:
  text:
    cases:
      plain: {wire: {text: $text}}
      kept: {ir: {own: {guarded: true}}, wire: {guard: {text: $text}}}
unions: {part: [text]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {who: user}}, assistant: {wire: {who: model}}}
request: {wire: {turns: $messages as conversation}}
"""


def test_a_case_may_be_told_by_a_field_of_its_own(tmp_path: Path) -> None:
    rules = loaded(tmp_path, one=MARKED, other=OTHER)
    parts: list[Any] = [{"text": "A"}, {"guard": {"text": "B"}}]
    body = {"turns": [{"who": "user", "parts": parts}]}
    read = rules["one"].read(body).ir
    kept = read["messages"][0]["parts"][1]
    assert kept["own"] == {"one": {"guarded": True}}
    assert rules.convert(body, "one", "one").body == body
    fresh = {"messages": [{"role": "user", "parts": [{**kept, "spelled": {}}]}]}
    assert rules["one"].write(fresh).body["turns"][0]["parts"] == parts[1:]
    out = rules.convert(body, "one", "other")
    assert out.body == {"talk": [{"who": "user", "says": [{"words": "A"}, {"words": "B"}]}]}
    assert [n.code for n in out.notes] == ["own-field"]


FEW = """
tables: {ends: {only: [end_turn, max_tokens]}}
shapes:
  text: {wire: {words: $text}}
  answer: {wire: {said: $parts each part, why: $stop_reason | ends}}
unions: {part: [text]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {who: user}}, assistant: {wire: {who: model}}}
request: {wire: {turns: $messages as conversation}}
response: {wire: {...: $candidates each answer | single}}
stream:
  framing: lines
  events:
    start: {begin: true}
    append.text: {piece: $piece}
    finish: {why: $stop_reason | ends}
"""


def test_a_table_of_few_words_guards_in_a_stream(tmp_path: Path) -> None:
    rules = wireglot.load_rules(_folder(tmp_path, one=FEW))
    stream = rules.translator("one", "openai-chat")
    frames: list[Any] = [{"begin": True}, {"why": "weather"}, {"piece": "Hi"}]
    made = [stream.feed(frame) for frame in frames]
    assert made[1] == [] and made[2]
    end = [*stream.feed({"why": "max_tokens"}), *stream.finish()]
    assert end[0]["choices"][0]["finish_reason"] == "length"
    assert [n.source_path for n in stream.notes if n.code == "unknown-frame"] == ["/1"]


LAST = """
shapes:
  text: {wire: {text: $text}}
unions: {part: [text]}
conversation:
  wire: {parts: $parts each part}
  cases:
    user: {wire: {who: user}}
    assistant: {wire: {who: model}}
    tool: {wire: {who: user}}
  enforce: {turns: {last: {user: Go on.}}}
request: {wire: {turns: $messages as conversation}}
"""


def test_results_without_a_place_are_nobodys_turn(tmp_path: Path) -> None:
    rules = wireglot.load_rules(_folder(tmp_path, one=LAST))
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "R"}
    talk = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [SAY, call]},
        {"role": "user", "content": [result]},
    ]
    out = rules.convert({"messages": talk}, "anthropic", "one")
    assert [turn["who"] for turn in out.body["turns"]] == ["user", "model", "user"]
    assert out.body["turns"][2]["parts"] == [{"text": "Go on."}]
    assert "turn-added" in [n.code for n in out.notes]


@pytest.mark.parametrize("odd", ["x", {}, True, [1]])
def test_a_term_of_a_sum_that_is_no_number_is_a_misfit(odd: Any) -> None:
    text = """wireglot: 2
dialect: s
see: https://s.example
verified: 2026-11-26
shapes:
  usage: {wire: {in: $input + $own.more, more: $own.more (optional)}}
  text: {wire: {text: $text}}
  candidate: {wire: {parts: $parts each text}}
response: {wire: {usage: $usage as usage, ...: $candidates each candidate | single}}
"""
    rules = wireglot.load_rules({"s": text})
    told = "a term of this sum is no number, at /usage/in"
    with pytest.raises(wireglot.ConversionError, match=told):
        rules.convert({"usage": {"in": 5, "more": odd}, "parts": []}, "s", "s", "response")
    ir = {"candidates": [{"parts": []}], "usage": {"input": 4, "own": {"s": {"more": odd}}}}
    with pytest.raises(wireglot.ConversionError, match="is no number and cannot be added"):
        rules["s"].write(ir, unit="response")


def test_an_element_may_say_that_the_system_speaks(tmp_path: Path) -> None:
    text = """
shapes:
  text: {wire: {kind: said, text: $text}}
  told: {ir: {type: text, role: system}, wire: {kind: told, text: $text}}
unions: {part: [told, text]}
conversation:
  per: run
  cases:
    user: {wire: {by: me, parts: $parts each part}}
    system: {wire: {by: me, parts: $parts each part}}
    assistant: {wire: {by: model, parts: $parts each text}}
request: {wire: {talk: $messages as conversation}}
"""
    rules = loaded(tmp_path, one=text)
    said = {"by": "me", "parts": [{"kind": "told", "text": "S"}, {"kind": "said", "text": "U"}]}
    body = {"talk": [said, {"by": "model", "parts": [{"kind": "said", "text": "A"}]}]}
    ir = rules["one"].read(body, "request").ir
    talk = [(one["role"], one["parts"]) for one in ir["messages"]]
    assert [role for role, _ in talk] == ["system", "user", "assistant"]
    assert talk[0][1] == [{"type": "text", "text": "S"}]
    assert rules["one"].write(ir, "request").body == body
    assert [f.message for f in rules.findings if f.rule == "R004"] == []


def test_who_asks_for_json_says_the_word(tmp_path: Path) -> None:
    text = """
shapes:
  text: {wire: {text: $text}}
  form: {ir: {type: json}, wire: json}
unions: {part: [text]}
conversation:
  wire: {parts: $parts each part}
  cases: {system: {wire: {who: system}}, user: {wire: {who: user}}, assistant: {wire: {who: model}}}
  enforce: {json: In JSON.}
request: {wire: {talk: $messages as conversation, form: $response_format as form (optional)}}
"""
    rules = loaded(tmp_path, one=text)

    def written(*said: tuple[str, str], form: str = "json") -> list[list[str]]:
        messages = [{"role": who, "parts": [{"type": "text", "text": t}]} for who, t in said]
        ir = {"messages": messages, "response_format": {"type": form}}
        talk = rules["one"].write(ir, "request").body["talk"]
        return [[part["text"] for part in one["parts"]] for one in talk]

    assert written(("user", "Hi"), ("user", "json")) == [["Hi", "In JSON."], ["json"]]
    assert written(("system", "As JSON."), ("user", "Hi")) == [["As JSON."], ["Hi"]]
    assert written(("system", "S")) == [["S"], ["In JSON."]]
    assert written() == []
    assert written(("user", "Hi"), form="text") == [["Hi"]]


@pytest.mark.parametrize(
    ("source", "unit", "body", "severity"),
    [
        ("gemini", "request", {"generationConfig": {"responseModalities": ["TEXT"]}}, "info"),
        ("gemini", "request", {"generationConfig": {"responseModalities": ["IMAGE"]}}, "warning"),
        ("anthropic", "tool_call", {"caller": {"type": "direct"}}, "info"),
        ("anthropic", "tool_call", {"caller": {"type": "code_execution"}}, "warning"),
    ],
)
def test_what_is_so_anyway_is_no_warning(
    source: str, unit: Any, body: dict[str, Any], severity: str
) -> None:
    more: dict[str, dict[str, Any]] = {
        "request": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    }
    more["tool_call"] = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    out = wireglot.convert({**more[unit], **body}, source, "openai-chat", unit=unit)
    assert [(note.code, note.severity) for note in out.notes] == [("own-field", severity)]
