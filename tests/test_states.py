"""States of many conversations at once: merged, and found again by what returns."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot.loop import memory
from wireglot.loop.database import Database
from wireglot.loop.redis import Redis
from wireglot.loop.shelves import Memory

Json = Any


def ask(text: str = "Is it warm?") -> Json:
    return {"role": "user", "content": text}


def gemini(*parts: Json) -> Json:
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "finishReason": "STOP"}]}


def call(nth: int, signature: str, **more: Json) -> Json:
    return {
        "functionCall": {"name": "f", "args": {"n": nth}, **more},
        "thoughtSignature": signature,
    }


class Talk:
    """An Ollama client, which keeps no ids and has no place for anything, before Gemini."""

    def __init__(self, state: Any, client: str = "ollama") -> None:
        self.state, self.client, self.messages = state, client, [ask()]

    def turn(self, *parts: Json) -> Json:
        """Send the history in an exchange of its own; return what Gemini was sent."""
        options = {"carry": False}
        x = wireglot.exchange(self.client, "gemini", "m", state=self.state, options=options)
        sent = x.request({"model": "m", "messages": self.messages}).body["contents"]
        body = x.response(gemini(*parts)).body
        message = body["message"] if "message" in body else body["choices"][0]["message"]
        self.messages.append(message)
        calls = message.get("tool_calls") or ()
        names = [{"tool_call_id": one["id"]} if "id" in one else {} for one in calls]
        self.messages += [{"role": "tool", "content": "1", **name} for name in names] or [ask()]
        return sent


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a real Redis server; give its address."""
    pytest.importorskip("redis")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed (Debian's package of that name has it)")
    with socket.create_server(("127.0.0.1", 0)) as opened:
        port = opened.getsockname()[1]
    words = f"{program} --port {port} --bind 127.0.0.1 --save --appendonly no --requirepass secret"
    folder = tmp_path_factory.mktemp("redis")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REDIS_PASSWORD", "secret")
        with subprocess.Popen(words.split(), stdout=subprocess.DEVNULL, cwd=folder) as process:
            url = f"redis://127.0.0.1:{port}/0"
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield url
            process.terminate()


def kept(where: str, request: pytest.FixtureRequest) -> wireglot.States:
    """Return a new store in memory, in a file, or in Redis."""
    if where == "memory":
        return wireglot.States()
    if where == "redis":
        return wireglot.States(Redis(request.getfixturevalue("redis_url")))
    return wireglot.States.of_file(request.getfixturevalue("tmp_path") / "states.db")


@pytest.mark.parametrize("where", ["memory", "a file", "redis"])
@pytest.mark.parametrize("client", ["ollama", "openai-chat"])
def test_conversations_at_once_keep_what_is_theirs(
    client: str, where: str, request: pytest.FixtureRequest
) -> None:
    states = kept(where, request)
    begun = threading.Barrier(100)

    def talk(nth: int) -> None:
        one, mark = Talk(states, client), f"S{nth:03}"
        one.messages[0]["content"] = f"This is number {nth}."
        one.turn(call(nth, f"{mark}A="), call(nth + 1, f"{mark}B="))
        one.turn({"text": "Warm.", "thoughtSignature": f"{mark}C="})
        begun.wait(60)
        sent = one.turn({"text": "Bye.", "thoughtSignature": f"{mark}D="})
        signatures = [p.get("thoughtSignature") for turn in sent for p in turn["parts"]]
        found = [one for one in signatures if one is not None]
        assert found == [f"{mark}A=", f"{mark}B=", f"{mark}C="]

    # More say the same at once than `SHARED`: each is found where it stands.
    with ThreadPoolExecutor(100) as pool:
        list(pool.map(talk, range(100)))


def test_what_one_conversation_said_is_not_found_in_another() -> None:
    states = wireglot.States()
    one, other = Talk(states), Talk(states)
    one.messages = [ask("How warm is it in Lisbon?")]
    other.messages = [ask("And in Oslo?")]
    one.turn({"text": "Warm.", "thoughtSignature": "AAAA"})
    other.turn({"text": "Warm."})
    assert other.turn()[1] == {"role": "model", "parts": [{"text": "Warm."}]}
    assert one.turn()[1]["parts"] == [{"text": "Warm.", "thoughtSignature": "AAAA"}]


def test_an_id_that_comes_in_two_conversations_is_told_by_its_place() -> None:
    states = wireglot.States()
    talks = [Talk(states, "openai-chat") for _ in range(2)]
    for nth, one in enumerate(talks):
        one.messages = [ask(f"Number {nth}")]
        one.turn(call(nth, f"AAA{nth}", id="f:0"))
    for nth, one in enumerate(talks):
        assert one.turn()[1]["parts"] == [call(nth, f"AAA{nth}", id="f:0")]


@pytest.mark.parametrize("seed", range(20))
def test_a_turn_without_ids_is_asked_for_by_what_it_says_and_others_by_their_ids(seed: int) -> None:
    rand = random.Random(seed)
    history, made = list[Json](), set[int]()
    for _ in range(40):
        parts = list[Json]()
        for kind in rand.choices(("text", "tool_call", "tool_result"), k=rand.randrange(3)):
            part: Json = {"type": kind, "text": rand.choice("ab")}
            if kind == "tool_call":
                part |= {"id": rand.choice("12"), "name": "f", "arguments": {}}
                made |= {id(part)} if rand.random() < 0.3 else set()
            parts.append(part)
        history.append({"role": rand.choice(("user", "assistant", "tool")), "parts": parts})
    places = memory.TurnPlaces(history, made)
    for message in history:
        calls = [part for part in message["parts"] if part["type"] == "tool_call"]
        if message["role"] == "assistant" and not any(id(part) not in made for part in calls):
            place, said = places.place_of(message)
            assert places.fingerprints.issuperset(memory.store_keys(said, place))


def test_nothing_is_found_from_another_scope() -> None:
    states = wireglot.States()
    one, other = Talk(states.of("a")), Talk(states.of("b"))
    one.turn({"text": "Warm.", "thoughtSignature": "AAAA"})
    other.messages = one.messages
    assert other.turn()[1]["parts"] == [{"text": "Warm."}]
    assert one.turn()[1]["parts"] == [{"text": "Warm.", "thoughtSignature": "AAAA"}]


def test_a_history_that_was_cut_finds_its_later_turns() -> None:
    one = Talk(wireglot.States())
    one.turn({"text": "First.", "thoughtSignature": "AAAA"})
    one.turn({"text": "Then.", "thoughtSignature": "BBBB"})
    one.messages = one.messages[1:]
    sent = one.turn()
    assert {"text": "Then.", "thoughtSignature": "BBBB"} in [p for c in sent for p in c["parts"]]


def test_a_stream_is_kept_before_its_end_is_told() -> None:
    states = wireglot.States()
    x = wireglot.exchange("ollama", "gemini", "m", state=states)
    x.request({"model": "m", "messages": [ask()]}, stream=True)
    t = x.translator()
    t.feed(gemini({"text": "Warm.", "thoughtSignature": "AAAA"}))
    t.finish()
    y = wireglot.exchange("ollama", "gemini", "m", state=states)
    answer = {"role": "assistant", "content": "Warm."}
    sent = y.request({"model": "m", "messages": [ask(), answer, ask()]}).body["contents"]
    assert sent[1]["parts"] == [{"text": "Warm.", "thoughtSignature": "AAAA"}]


def test_an_error_as_text_is_known_again() -> None:
    states = wireglot.States()
    block = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    error = {"type": "tool_result", "tool_use_id": "c1", "content": "Timeout", "is_error": True}
    talk = [ask(), {"role": "assistant", "content": [block]}, {"role": "user", "content": [error]}]
    x = wireglot.exchange("anthropic", "openai-chat", state=states)
    chat = x.request({"model": "m", "max_tokens": 9, "messages": talk}).body
    y = wireglot.exchange("openai-chat", "anthropic", state=states)
    assert y.request(chat).body["messages"][2]["content"][0] == error


# -- merging ----------------------------------------------------------------------------------


def forks() -> list[Json]:
    """Return states of one conversation that went on in three ways."""
    one = Talk({})
    x = wireglot.exchange("openai-chat", "gemini", "m", state={})
    x.request({"model": "m", "messages": one.messages})
    x.response(gemini({"text": "Warm.", "thoughtSignature": "AAAA"}))
    found = [x.state]
    for nth in range(3):
        y = wireglot.exchange("openai-chat", "gemini", "m", state=x.state)
        tools = [{"type": "function", "function": {"name": f"a.b {nth}", "parameters": {}}}]
        y.request({"model": str(nth), "messages": one.messages, "tools": tools})
        y.response(gemini(call(nth, f"BBB{nth}"), {"text": str(nth), "thoughtSignature": "CCCC"}))
        found.append(y.state)
    return found


@pytest.mark.parametrize("streamed", [False, True])
def test_a_result_that_a_provider_gave_itself_leaves_a_state_to_go_on_with(streamed: bool) -> None:
    """A client of Chat Completions has no place for it in an answer, and no turn takes it back."""
    result = {"type": "tool_result", "tool_call_id": "c1", "kind": "text", "value": "ok"}
    called = {"type": "tool_call", "id": "c1", "name": "f", "arguments": {}}
    parts = [{"type": "text", "text": "Hi."}, called, result]
    ir = {"id": "r", "candidates": [{"parts": parts, "stop_reason": "end_turn"}]}
    body = wireglot.packaged()["ag-ui"].write(ir, "response").body
    x = wireglot.exchange("openai-chat", "ag-ui", "m", state={})
    x.request({"model": "m", "messages": [ask()]})
    if streamed:
        t = x.translator()
        for frame in wireglot.frames(body, "ag-ui"):
            t.feed(frame)
        t.finish()
    told = t.notes if streamed else x.response(body).notes
    assert [note.effect for note in told if "tool_result" in note.message] == ["lost"]
    assert wireglot.exchange("openai-chat", "ag-ui", state=x.state).state == x.state


@pytest.mark.parametrize("limit", [1, 2, 1000])
def test_states_merge_in_any_order_and_any_grouping(limit: int) -> None:
    def merged(*states: Json) -> Json:
        return wireglot.merge_states(*states, limit=limit)

    states = forks()
    whole = merged(*states)
    assert len(whole["turns"]) == min(limit, 4)
    for order in itertools.permutations(states):
        a, b, c, d = order
        assert merged(*order) == merged(merged(a, b), merged(c, d)) == whole
        assert merged(a, merged(b, merged(c, d))) == whole
    assert merged(whole, whole) == merged(whole) == whole
    assert merged(*states, whole) == whole


def test_a_merged_state_knows_the_turns_of_all() -> None:
    state = wireglot.merge_states(*forks())
    x = wireglot.exchange("openai-chat", "gemini", "m", state=state)
    answers = [{"role": "assistant", "content": str(nth)} for nth in range(3)]
    talk = [m for answer in answers for m in (answer, ask())]
    assert x.state["turns"] == state["turns"]
    x.request({"model": "m", "messages": [ask(), *talk]})


def test_merging_what_is_no_state_is_refused() -> None:
    refused: list[Any] = [{"version": 7}, [], {"version": 1, "turns": [{}]}]
    for wrong in refused:
        with pytest.raises(wireglot.UsageError):
            wireglot.merge_states({}, wrong)
    with pytest.raises(wireglot.UsageError):
        wireglot.merge_states({}, limit=0)


ODD = (
    "{", "[]", "5", '{"turns": []}', '{"version": 7, "turns": [5]}', '{"version": 1, "turns": 5}',
    '{"version": 1, "turns": [{"says": 5}]}',
)  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_a_record_that_is_not_ours_hides_no_other(odd: str) -> None:
    class Odd(Memory):
        def get(self, keys: Sequence[str]) -> list[str]:
            return [odd, *super().get(keys), odd]

    one = Talk(wireglot.States(Odd()))
    one.turn({"text": "Warm.", "thoughtSignature": "AAAA"})
    assert one.turn()[1]["parts"] == [{"text": "Warm.", "thoughtSignature": "AAAA"}]


# -- shelves ----------------------------------------------------------------------------------


def test_memory_is_bounded_and_forgets_what_was_not_asked_for() -> None:
    shelf = Memory(size=1000)
    for nth in range(50):
        shelf.add([f"k{nth}", "all"], f"{nth:100}")
        shelf.get(["k0"])
    assert shelf.get(["k0"]) and shelf.get(["k49"]) and not shelf.get(["k25"])
    assert len(shelf.get([f"k{nth}" for nth in range(50)])) == 10
    for nth in range(500):
        shelf.add(["one"], str(nth))
    assert shelf.get(["one"])[-1] == "499" and len(shelf.get(["one"])) == 16


def test_memory_is_safe_with_threads() -> None:
    shelf = Memory(size=5000)
    wrong: list[Exception] = []

    def work(seed: int) -> None:
        draw = random.Random(seed)
        try:
            for _ in range(500):
                shelf.add(
                    [f"k{draw.randrange(40)}", f"k{draw.randrange(40)}"], "x" * draw.randrange(99)
                )
                shelf.get([f"k{draw.randrange(40)}"])
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


class Table:
    """A shelf in a database, as the documentation has it."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute("create table shelf (key text, record text, primary key (key, record))")

    def add(self, keys: Sequence[str], record: str) -> None:
        rows = [(key, record) for key in keys]
        self.db.executemany("insert or ignore into shelf values (?, ?)", rows)

    def get(self, keys: Sequence[str]) -> Iterable[str]:
        marks = ",".join("?" * len(keys))
        query = f"select distinct record from shelf where key in ({marks}) order by rowid"
        return [row[0] for row in self.db.execute(query, list(keys))]


def test_a_database_can_hold_them() -> None:
    table = Table()
    one = Talk(wireglot.States(table))
    one.turn(call(1, "AAAA"))
    one.turn({"text": "Warm.", "thoughtSignature": "BBBB"})
    table.add([next(iter(table.db.execute("select key from shelf")))[0]], "no state")
    one.state = wireglot.States(table)  # another process
    sent = one.turn()
    assert sent[1]["parts"] == [call(1, "AAAA")]
    assert sent[3]["parts"] == [{"text": "Warm.", "thoughtSignature": "BBBB"}]
    assert all(
        json.loads(r[0])
        for r in table.db.execute("select record from shelf where record != 'no state'")
    )


# -- a file ---------------------------------------------------------------------------------------


def test_a_file_is_found_again_and_is_for_nobody_else(tmp_path: Path) -> None:
    file = tmp_path / "states.db"
    one = Talk(wireglot.States.of_file(file))
    one.turn({"text": "Warm.", "thoughtSignature": "AAAA"})
    one.state = wireglot.States.of_file(file)
    assert one.turn()[1]["parts"] == [{"text": "Warm.", "thoughtSignature": "AAAA"}]
    assert file.stat().st_mode & 0o077 == 0


def test_redis_is_asked_by_several_and_keeps_the_newest(redis_url: str) -> None:
    one, other = Redis(redis_url), Redis(redis_url)
    for nth in range(20):
        one.add([f"k{nth}", "all"], f"r{nth}")
    other.add(["k3", "more"], "r3")
    assert other.get(["none"]) == [] and other.get(["k19", "k1"]) == ["r1", "r19"]
    assert list(other.get(["all"])) == [f"r{nth}" for nth in range(4, 20)]
    assert one.get(["more", "k3"]) == ["r3"]


def test_redis_forgets_what_nobody_asks_for(redis_url: str) -> None:
    shelf = Redis(redis_url, days=2 / 86400)
    for name in ("old", "new"):
        shelf.add([name], name)
    for _ in range(5):
        time.sleep(0.6)
        assert shelf.get(["new"]) == ["new"]
    assert shelf.get(["old"]) == []


def test_what_redis_cannot_do_is_told(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(wireglot.UsageError, match="REDIS_PASSWORD") as told:
        Redis("redis://:hidden@127.0.0.1:1/0")
    assert "hidden" not in str(told.value)
    shelf = Redis(redis_url)
    monkeypatch.setenv("REDIS_PASSWORD", "another")
    for url in (redis_url, "redis://127.0.0.1:1"):
        with pytest.raises(wireglot.UsageError, match="cannot hold states"):
            Redis(url)
    shelf._db.set("wireglot:key:k", "no list")
    with pytest.raises(wireglot.WireglotError, match="cannot be kept"):
        shelf.get(["k"])


def test_a_file_is_bounded_in_size_and_forgets_what_was_not_asked_for(tmp_path: Path) -> None:
    file, record = tmp_path / "states.db", "x" * 5000
    shelf = Database(file, size=500_000)
    for nth in range(400):
        shelf.add([f"k{nth}", "all"], f"{nth}{record}")
    assert shelf.get(["k399"]) and not shelf.get(["k0"])
    assert len(list(shelf.get(["all"]))) == 16 and file.stat().st_size < 1_500_000
    shelf.add(["k399", "more"], f"399{record}")
    assert shelf.get(["more"]) == shelf.get(["k399"])


def test_a_file_forgets_what_is_old(tmp_path: Path) -> None:
    file, day = tmp_path / "states.db", 86400
    shelf = Database(file, days=2)
    for nth in range(3):
        shelf.add([f"k{nth}"], f"{nth}")
    with sqlite3.connect(file) as db:
        ages = [(time.time() - age * day, str(nth)) for nth, age in enumerate((1, 1, 3))]
        db.executemany("update records set used = ? where record = ?", ages)
    assert shelf.get(["k0"]) == ["0"]  # which makes it new again
    with sqlite3.connect(file) as db:
        db.execute("update records set used = used - ?", (1.5 * day,))
    again = Database(file, days=2)
    assert [list(again.get([f"k{nth}"])) for nth in range(3)] == [["0"], [], []]


@pytest.mark.parametrize("holds", ["a database", "a newer version", "a text", "a folder"])
def test_a_file_of_somebody_else_is_refused(tmp_path: Path, holds: str) -> None:
    file = tmp_path / "other"
    if holds == "a text":
        file.write_text("Hello? " * 1000, "utf-8")
    elif holds == "a folder":
        file.mkdir()
    else:
        Database(file) if holds == "a newer version" else None
        with sqlite3.connect(file) as db:
            db.execute("pragma user_version = 2" if "newer" in holds else "create table a (b)")
    with pytest.raises(wireglot.UsageError, match="other"):
        wireglot.States.of_file(file)


def test_what_cannot_be_kept_is_told(tmp_path: Path) -> None:
    one = Talk(wireglot.States.of_file(tmp_path / "states.db"))
    with sqlite3.connect(tmp_path / "states.db") as db:
        db.execute("drop table keys")
    with pytest.raises(wireglot.WireglotError, match="states cannot be kept"):
        one.turn(call(1, "AAAA"))


ADDS = """
import sys
from wireglot.loop.database import Database
shelf = Database(sys.argv[1])
for nth in range(int(sys.argv[3])):
    shelf.add([f"{sys.argv[2]}{nth}", f"all{nth}"], f"{sys.argv[2]}-{nth}")
    print(nth, flush=True)
"""


def adding(file: Path, name: str, count: int) -> subprocess.Popen[str]:
    """Add records in a process of its own, which says each that it has added."""
    words = [sys.executable, "-c", ADDS, str(file), name, str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    file = tmp_path / "states.db"
    both = [adding(file, name, 300) for name in "ab"]
    assert [one.communicate()[0].count("\n") for one in both] == [300, 300]
    shelf = Database(file)
    for nth in range(300):
        assert {*shelf.get([f"all{nth}"])} == {f"a-{nth}", f"b-{nth}"}
        assert list(shelf.get([f"a{nth}"])) == [f"a-{nth}"]


def test_several_may_begin_a_file_at_once(tmp_path: Path) -> None:
    """SQLite refuses at once where two let a new file have a log in the same moment."""

    def begin(file: Path, at_once: threading.Barrier) -> Database:
        at_once.wait()
        return Database(file)

    with ThreadPoolExecutor(6) as pool:
        for nth in range(60):
            given = (tmp_path / f"{nth}.db", threading.Barrier(6))
            assert (
                len([one.result() for one in [pool.submit(begin, *given) for _ in "abcdef"]]) == 6
            )


def test_what_was_kept_is_there_after_a_kill(tmp_path: Path) -> None:
    file = tmp_path / "states.db"
    with adding(file, "a", 10**6) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(200)]
        os.kill(process.pid, 9)
        said += process.stdout.readlines()
    shelf = Database(file)
    for line in filter(str.strip, said):
        nth = int(line)
        assert list(shelf.get([f"a{nth}"])) == list(shelf.get([f"all{nth}"])) == [f"a-{nth}"]
