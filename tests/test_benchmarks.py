"""The hand-written converters that the benchmarks compare with do the engine's job."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

import wireglot
from benchmarks import (
    bars,
    cells,
    floor,
    floor_careful,
    floor_streams,
    fresh,
    halves,
    loops,
    recorded,
    stream_frames,
    stream_peers,
    timing,
    workloads,
)

Pair = tuple[str, str]
PAIRS = sorted(floor.REQUESTS)
MODEL = "gpt-4o"
CASES = [(workload, pair) for workload in workloads.WORKLOADS for pair in PAIRS]


def _small(workload: str, source: str, seed: int) -> dict[str, Any]:
    return workloads.request(source, workload, seed, small=True)


def _by_value(value: Any) -> Any:
    """Parse JSON texts, for the bare floor writes 1.0 where JSON.stringify writes 1."""
    if isinstance(value, dict):
        return {key: _by_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_by_value(item) for item in value]
    if isinstance(value, str) and value[:1] in ("{", "["):
        return json.loads(value)
    return value


def _differences(one: Any, two: Any, path: str = "") -> list[str]:
    if isinstance(one, dict) and isinstance(two, dict):
        found = [f"{path}/{key}: on one side only" for key in sorted(one.keys() ^ two.keys())]
        for key in one.keys() & two.keys():
            found += _differences(one[key], two[key], f"{path}/{key}")
        return found
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return [
            line
            for index, (left, right) in enumerate(zip(one, two, strict=True))
            for line in _differences(left, right, f"{path}/{index}")
        ]
    same = one == two and isinstance(one, bool) == isinstance(two, bool)
    return [] if same else [f"{path}: {one!r:.120} | {two!r:.120}"]


def _engine(body: Any, pair: Pair, unit: Any) -> Any:
    model = MODEL if pair[0] == "gemini" and unit == "request" else None
    return wireglot.convert(body, source=pair[0], target=pair[1], unit=unit, model=model)


@pytest.mark.parametrize(("workload", "pair"), CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_engine_writes_what_the_careful_floor_writes(
    workload: str, pair: Pair, seed: int
) -> None:
    body = _small(workload, pair[0], seed)
    by_hand = floor_careful.REQUESTS[pair](body)
    found = _engine(body, pair, "request")
    assert _differences(found.body, by_hand.body)[:5] == []
    assert found.envelope == by_hand.envelope


@pytest.mark.parametrize("workload", workloads.WORKLOADS)
@pytest.mark.parametrize("pair", sorted(halves.PAIRS))
def test_the_halves_by_hand_are_the_engines(workload: str, pair: Pair) -> None:
    body = _small(workload, pair[0], 1)
    before = copy.deepcopy(body)
    read, write = halves.PAIRS[pair]
    ir, _ = read(body)
    assert body == before
    rules = wireglot.load_rules()
    assert _differences(rules[pair[0]].read(body).ir, ir)[:5] == []
    before = copy.deepcopy(ir)
    by_hand, found = write(ir), rules[pair[1]].write(ir)
    assert ir == before
    assert _differences(found.body, by_hand.body)[:5] == []
    assert found.envelope is not None and tuple(found.envelope) == tuple(by_hand.envelope)
    assert [(n.code, n.effect) for n in found.notes] == [(n.code, n.effect) for n in by_hand.notes]
    with pytest.raises((halves.Unknown, KeyError)):
        read({**body, "no_such_key": 1})
    with pytest.raises((halves.Unknown, KeyError)):
        write({**ir, "no_such_key": 1})


@pytest.mark.parametrize("pair", sorted(floor.RESPONSES))
def test_the_engine_writes_the_careful_floors_responses(pair: Pair) -> None:
    body = workloads.response(pair[0], 3)
    by_hand, _ = floor_careful.RESPONSES[pair](body)
    assert _differences(_engine(body, pair, "response").body, by_hand)[:5] == []


@pytest.mark.parametrize(("workload", "pair"), CASES)
def test_the_bare_floor_writes_what_the_careful_floor_writes(workload: str, pair: Pair) -> None:
    body = _small(workload, pair[0], 2)
    by_hand, *_ = floor_careful.REQUESTS[pair](body)
    bare = floor.REQUESTS[pair](body)
    assert _differences(_by_value(bare), _by_value(by_hand))[:5] == []


@pytest.mark.parametrize("pair", sorted(floor.RESPONSES))
def test_the_bare_floor_writes_the_careful_floors_responses_but_for_made_ids(pair: Pair) -> None:
    body = workloads.response(pair[0], 3)
    by_hand, _ = floor_careful.RESPONSES[pair](body)
    found = _differences(floor.RESPONSES[pair](body), by_hand)
    if pair[0] == "gemini":
        found = [line for line in found if "/id:" not in line]
    assert found == []


@pytest.mark.parametrize(("workload", "pair"), CASES)
def test_no_floor_changes_its_input(workload: str, pair: Pair) -> None:
    body = _small(workload, pair[0], 0)
    before = copy.deepcopy(body)
    floor.REQUESTS[pair](body)
    floor_careful.REQUESTS[pair](body)
    assert body == before


@pytest.mark.parametrize("pair", PAIRS)
def test_the_careful_floor_and_the_engine_note_an_unknown_key_at_one_path(pair: Pair) -> None:
    body = workloads.with_unknown_keys(_small("W2", pair[0], 0), everywhere=True)
    field = "contents" if pair[0] == "gemini" else "messages"
    expected = {f"/{field}/{index}/x_trace" for index in range(len(body[field]))}
    _, by_hand, _ = floor_careful.REQUESTS[pair](body)
    assert {note.source_path for note in by_hand if note.code == "unknown-key"} == expected
    notes = _engine(body, pair, "request").notes
    assert {note.source_path for note in notes if note.code == "unknown-key"} == expected


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("workload", workloads.WORKLOADS)
def test_the_careful_floor_notes_what_the_engine_notes(workload: str, pair: Pair) -> None:
    body = _small(workload, pair[0], 1)
    _, by_hand, _ = floor_careful.REQUESTS[pair](body)
    notes = _engine(body, pair, "request").notes
    assert {(n.effect, n.source_path) for n in notes} == {
        (n.effect, n.source_path) for n in by_hand
    }


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_calls_results_and_ids_come_back_from_a_floor(target: str) -> None:
    body = _small("W2", "openai-chat", 0)
    there, *_ = floor_careful.REQUESTS["openai-chat", target](body)
    back, *_ = floor_careful.REQUESTS[target, "openai-chat"](there)
    assert _by_value(back["messages"]) == _by_value(body["messages"])
    assert back["tools"] == body["tools"]


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_the_careful_floor_wraps_arguments_that_are_no_object(target: str) -> None:
    body = _small("W1", "openai-chat", 0)
    body["messages"][2]["tool_calls"][0]["function"]["arguments"] = '{"city": '
    there, notes, _ = floor_careful.REQUESTS["openai-chat", target](body)
    assert '{"_unparsed": "{\\"city\\": "}' in json.dumps(there)
    back, *_ = floor_careful.REQUESTS[target, "openai-chat"](there)
    assert back["messages"][2]["tool_calls"] == body["messages"][2]["tool_calls"]
    path = "/messages/2/tool_calls/0/function/arguments"
    assert ("unparsed", path) in {(note.code, note.source_path) for note in notes}


@pytest.mark.parametrize(
    ("spoil", "path"),
    [
        (lambda b: b.update(messages=None), "/messages"),
        (lambda b: b["messages"][1].update(role="robot"), "/messages/1"),
        (lambda b: b["messages"][1].update(content=5), "/messages/1"),
        (lambda b: b["messages"][2]["tool_calls"][0].pop("id"), "/messages/2"),
        (lambda b: b["tools"][0]["function"].update(description=1), "/tools/0"),
        (lambda b: b.update(max_tokens="9"), "/max_tokens"),
    ],
)
@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_the_careful_floor_refuses_a_wrong_type_with_its_path(
    spoil: Any, path: str, target: str
) -> None:
    body = _small("W1", "openai-chat", 0)
    spoil(body)
    with pytest.raises(floor_careful.Refused) as caught:
        floor_careful.REQUESTS["openai-chat", target](body)
    assert caught.value.path == path


def test_the_workloads_have_their_messages_calls_and_images() -> None:
    sizes = {}
    for workload in workloads.WORKLOADS:
        messages = workloads.chat_request(workload)["messages"]
        calls = sum(len(message.get("tool_calls") or ()) for message in messages)
        images = sum(isinstance(m["content"], list) and m["role"] == "user" for m in messages)
        sizes[workload] = (len(messages), calls, images)
    assert sizes == {"W1": (5, 1, 0), "W2": (601, 300, 0), "W3": (1000, 250, 20)}


def test_a_seed_gives_the_same_payload_again_and_another_seed_another() -> None:
    assert workloads.chat_request("W2", 4) == workloads.chat_request("W2", 4)
    assert workloads.chat_request("W2", 4) != workloads.chat_request("W2", 5)


def test_a_race_times_every_function_in_every_round() -> None:
    times = timing.race({"one": (str, [1, 2]), "two": (repr, [1, 2])}, rounds=3)
    assert {name: len(seconds) for name, seconds in times.seconds.items()} == {"one": 3, "two": 3}
    assert times.ratio("one", "one") == 1


def test_a_missed_bar_says_so() -> None:
    assert str(timing.Bar("x", 1.4, 1.3)) == "FAIL  x: 1.40 <= 1.30"
    assert timing.Bar("share", 92, 90, at_least=True).met


# -- streams --------------------------------------------------------------------------------------

STREAMS = sorted(floor_streams.TRANSLATORS)
RULES = wireglot.packaged()


def _both(frames: list[Any], pair: Pair) -> tuple[Any, Any]:
    ours = RULES.translator(source=pair[0], target=pair[1])
    by_hand = floor_streams.TRANSLATORS[pair](True)
    for frame in frames:
        assert ours.feed(frame) == by_hand.feed(frame)
    assert ours.finish() == by_hand.finish()
    return ours, by_hand


def _interleaved(frames: list[Any]) -> list[Any]:
    """Let the pieces of the calls come by turns, all heads first."""

    def number(frame: Any) -> int | None:
        calls = frame["choices"][0]["delta"].get("tool_calls") if frame != "[DONE]" else None
        return calls[0]["index"] if calls else None

    calls = [frame for frame in frames[:-2] if number(frame) is not None]
    apart: dict[Any, list[Any]] = {}
    for frame in calls:
        apart.setdefault(number(frame), []).append(frame)
    turns = [frame for row in zip(*apart.values(), strict=False) for frame in row]
    rest = [one for frames in apart.values() for one in frames if one not in turns]
    first = frames.index(calls[0])
    return [*frames[:first], *turns, *rest, *frames[first + len(calls) :]]


@pytest.mark.parametrize("pair", STREAMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_engine_streams_what_the_translators_by_hand_stream(pair: Pair, seed: int) -> None:
    ours, by_hand = _both(stream_frames.frames(pair[0], seed, small=True), pair)
    assert ours.result.body == by_hand.result[0]


def test_both_hold_interleaved_calls_alike() -> None:
    frames = _interleaved(stream_frames.frames("openai-chat", 2, small=True))
    ours, by_hand = _both(frames, ("openai-chat", "anthropic"))
    assert ours.result.body == by_hand.result[0]
    assert [b["type"] for b in ours.result.body["content"]] == ["text", *["tool_use"] * 4]


@pytest.mark.parametrize("pair", STREAMS)
def test_both_note_unknown_keys_and_what_is_cut_short_or_late(pair: Pair) -> None:
    frames = copy.deepcopy(stream_frames.frames(pair[0], 3, small=True))
    for frame in frames[2:5]:
        frame["x_trace"] = 1
    ours, by_hand = _both([*frames, frames[3]], pair)
    codes = {"unknown-key", "after-end", "cut-short"}
    assert {n.code for n in ours.notes} & codes == {"unknown-key", "after-end"}
    assert [n.code for n in by_hand.notes] == ["unknown-key", "after-end"]
    ours, by_hand = _both(frames[:9], pair)
    assert "cut-short" in {n.code for n in ours.notes} & {n.code for n in by_hand.notes}


@pytest.mark.parametrize("pair", STREAMS)
def test_the_translators_of_bytes_agree_wherever_the_bytes_are_cut(pair: Pair) -> None:
    frames = stream_frames.frames(pair[0], 4, small=True)
    whole = b"".join(stream_frames.as_bytes(pair[0], frames))
    rng = random.Random(4)
    cuts = sorted(rng.sample(range(len(whole)), 200))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    by_hand = floor_streams.TRANSLATORS[pair](True)
    bytes_by_hand = floor_streams.Bytes(by_hand, pair[1] in floor_streams.NAMED)
    ours = RULES.translator(source=pair[0], target=pair[1]).as_bytes()
    made = [b"".join([*map(one.feed, pieces), one.finish()]) for one in (ours, bytes_by_hand)]
    assert made[0] == made[1]


def test_a_peer_that_is_not_here_is_skipped_with_a_line_and_none_changes_the_frames(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(pair: Pair) -> stream_peers.Peer:
        raise ImportError(f"no module for {pair[0]}")

    def spoils(frames: Any) -> object:
        return [frame["choices"].clear() for frame in frames]

    own = stream_peers.Peer(spoils, stream_peers._as_they_are)
    monkeypatch.setattr(stream_peers, "PEERS", {"gone": missing, "here": lambda _: own})
    frames = stream_frames.frames("openai-chat", 0, small=True)
    before = json.dumps(frames)
    assert stream_peers.found(("openai-chat", "anthropic"), frames) == {"here": own}
    assert capsys.readouterr().out == "gone: skipped (ImportError: no module for openai-chat)\n"
    assert json.dumps(frames) == before


def test_the_streams_of_the_workload_have_about_two_thousand_frames() -> None:
    sizes = [len(stream_frames.frames(name)) for name in ("openai-chat", "anthropic", "gemini")]
    assert all(1950 < size < 2150 for size in sizes)


# -- the table of bars ----------------------------------------------------------------------------


def test_a_row_says_what_was_and_is_and_whether_that_is_enough() -> None:
    rows = {"cells median": 3.0, "cells worst": 9.0, "streams worst": 20.0, "W1": 2.4}
    before = {"cells median": 32.0, "streams worst": 54.0}
    head, *lines = bars.table(rows, before, {"litellm": {"cells median": 6.9}})
    assert head.split() == ["before", "litellm", "now", "bar", "aim"]
    found = [line[54:].split(maxsplit=5) for line in lines]
    assert found == [
        ["32.00", "6.90", "3.00", "4.00", "2.50", "met"],
        ["-", "-", "9.00", "8.00", "6.00", "NOT MET"],
        ["-", "-", "2.40", "3.50", "2.50", "met, and the aim"],
        ["54.00", "-", "20.00", "18.00", "10.80", "NOT MET"],
    ]


def test_what_stands_in_the_table_was_measured_before() -> None:
    before = json.loads(bars.BEFORE.read_text("utf-8"))
    then = {row.name for row in bars.ROWS if not row.name.startswith("further")}  # came later
    assert set(before["rows"]) == then
    cells_of = [key.split() for key in before["cells"]]
    assert sum(one[1] in recorded.UNITS and ">" in one[0] for one in cells_of) == 128
    assert bars.peer_rows(before["litellm"])["cells median"] < before["rows"]["cells median"]


def test_a_cell_is_the_sum_of_its_bodies_and_leaves_out_what_is_refused() -> None:
    def body(number: int) -> recorded.Body:
        value = {"n": number}
        return recorded.Body("one", "request", str(number), value, json.dumps(value), None)

    def convert(one: recorded.Body, value: Any) -> None:
        assert value == one.body and value is not one.body
        if one.name == "2":
            raise ValueError("no")

    found = cells.measured(convert, [body(1), body(2), body(3)], rounds=2)
    assert [one.name for one in found.bodies] == ["1", "3"]
    assert found.failed == ["2: ValueError: no"]
    assert len(found.each()) == 2 and found.ratio > 0


def test_bodies_are_taken_from_small_to_large() -> None:
    assert recorded.spread(range(10), 3) == [1, 5, 8]
    assert recorded.spread(range(2), 3) == [0, 1]


@pytest.mark.skipif(not recorded.there(), reason="../shared/traffic is not here")
def test_small_bodies_are_recorded_for_each_cell() -> None:
    for unit in recorded.UNITS:
        for source in recorded.FILES | recorded.FURTHER:
            bodies = recorded.small(source, unit)
            assert len(bodies) > 3
            assert all(200 <= len(one.text) <= 2000 for one in bodies)
    (one, *_), large = recorded.small("gemini", "request"), recorded.agents("gemini")
    assert one.model and 20_000 <= len(large[0].text) < len(large[-1].text)
    assert cells.engine("anthropic")(one, one.body).body["messages"]


@pytest.mark.parametrize("provider", loops.ANSWERS)
@pytest.mark.parametrize("kept", [True, False])
def test_a_history_gives_each_signature_back(provider: str, kept: bool) -> None:
    rules = wireglot.packaged()
    body, state = loops.history(rules, provider, 3, kept)
    assert len(body["messages"]) == 7 and (state is not None) == kept
    before = copy.deepcopy((body, state))
    sent = loops.turn(rules, provider, body, state)().body
    assert json.dumps(sent).count(loops.SIGNED) == 3
    assert (body, state) == before


def test_the_custom_dialects_load_and_convert() -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}
    for text in fresh.dialects().values():
        rules = wireglot.load_rules({"acme.yaml": text})
        assert rules.convert(request, "openai-chat", "acme").body
