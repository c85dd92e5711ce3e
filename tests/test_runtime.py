"""Rules at run time: where they come from, their hash, and changes while conversions run."""

from __future__ import annotations

import copy
import gc
import inspect
import subprocess
import sys
import threading
import time
import zipfile
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import wireglot
from wireglot.loading import rulesources

from . import width

ACME = """\
wireglot: 2
dialect: acme
see: https://acme.example/api
verified: 2026-11-22
shapes:
  text:
    wire: {text: $text}
    examples: [{wire: {text: Hi}, ir: {type: text, text: Hi}}]
unions: {part: [text]}
conversation:
  per: message
  wire: {says: $parts each part}
  cases: {user: {wire: {by: human}}, assistant: {wire: {by: model}}}
request:
  wire: {model: $model, talk: $messages as conversation, WORD: $max_tokens (optional)}
  examples:
    - wire: {model: m, talk: [{by: human, says: [{text: Hi}]}]}
      ir: {model: m, messages: [{role: user, parts: [{type: text, text: Hi}]}]}
"""
BODY = {
    "model": "m",
    "max_completion_tokens": 5,
    "messages": [{"role": "user", "content": "Hi"}],
}


def acme(word: str = "most") -> str:
    return ACME.replace("WORD", word)


def written(rules: Any) -> dict[str, Any]:
    body: dict[str, Any] = rules.convert(BODY, "openai-chat", "acme").body
    return body


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


# -- where rules come from ------------------------------------------------------------------------


def test_rules_come_from_a_folder_a_zip_file_or_a_mapping(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "acme.yaml").write_text(acme())
    sources: list[Any] = [
        folder,
        zipped(tmp_path / "top.zip", {"acme.yaml": acme(), "README": "no rules"}),
        zipped(tmp_path / "one.zip", {"acme-1.0/acme.yaml": acme()}),
        {"acme.yaml": acme()},
        {"acme": shelf_value()},
    ]
    found = [wireglot.load_rules(source) for source in sources]
    for rules in found:
        assert written(rules)["most"] == 5
    assert len({rules.hash for rules in found}) == 1


def shelf_value() -> Any:
    from wireglot.language.source import parse

    return parse(acme(), "acme.yaml").plain()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (3, "rule files come from a folder, a zip file or a mapping, not int"),
        ("no/such", "there is no folder no/such of rule files"),
        ({3: "x"}, "a rule file's name is a text, not int"),
        ({"acme": {"a": {1, 2}}}, "the rule file `acme` is no YAML text: Object of type set"),
    ],
)
def test_what_is_no_source_of_rules_is_refused(source: Any, message: str) -> None:
    with pytest.raises(wireglot.UsageError, match=message):
        wireglot.load_rules(source)


@pytest.mark.parametrize("name", ["../acme.yaml", "/acme.yaml", "a/../../acme.yaml", "..\\a.yaml"])
def test_a_zip_file_that_names_a_file_outside_of_itself_is_refused(
    tmp_path: Path, name: str
) -> None:
    path = zipped(tmp_path / "bad.zip", {name: acme()})
    with pytest.raises(wireglot.UsageError, match="names a file outside of itself"):
        wireglot.load_rules(path)


def test_a_zip_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text(acme())
    with pytest.raises(wireglot.UsageError, match="name the folder that the file is in"):
        wireglot.load_rules(tmp_path / "acme.yaml")


def test_a_file_of_a_zip_file_that_grows_too_large_is_not_read_whole(tmp_path: Path) -> None:
    path = zipped(tmp_path / "bomb.zip", {"acme.yaml": "#" * 30_000_000})
    with pytest.raises(wireglot.RuleError, match="larger than 1000000 bytes"):
        wireglot.load_rules(path)


def test_a_damaged_file_of_a_zip_file_is_told(tmp_path: Path) -> None:
    path = zipped(tmp_path / "bad.zip", {"acme.yaml": acme()})
    data = bytearray(path.read_bytes())
    for i in range(60, 90):
        data[i] ^= 0x55
    path.write_bytes(bytes(data))
    with pytest.raises(wireglot.RuleError, match="cannot be read") as caught:
        wireglot.load_rules(path)
    assert caught.value.file.endswith("bad.zip/acme.yaml")


def test_too_many_entries_of_a_zip_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rulesources, "MAX_ENTRIES", 1)
    path = zipped(tmp_path / "many.zip", {"acme.yaml": acme(), "b.yaml": acme()})
    with pytest.raises(wireglot.UsageError, match="more than 1 entries"):
        wireglot.load_rules(path)


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    package = tmp_path / "acme_rules"
    package.mkdir()
    (package / "__init__.py").write_text("BROUGHT = {'acme': 'no: rules'}\nWRONG = 3\n")
    (package / "acme.yaml").write_text(acme())
    monkeypatch.syspath_prepend(str(tmp_path))
    return "acme_rules"


def points(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    point = EntryPoint("acme", value, rulesources.GROUP)
    monkeypatch.setattr(rulesources, "plugins", lambda: [point])


def test_installed_packages_bring_rules_only_where_asked_for(
    plugin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    points(monkeypatch, plugin)
    assert "acme" not in wireglot.load_rules()
    assert plugin not in sys.modules
    assert written(wireglot.load_rules(plugins=True))["most"] == 5
    assert plugin in sys.modules
    del sys.modules[plugin]


def test_a_plugin_that_brings_no_rules_is_told(
    plugin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    points(monkeypatch, f"{plugin}:WRONG")
    with pytest.raises(wireglot.UsageError, match="the plugin `acme` is int"):
        wireglot.load_rules(plugins=True)
    points(monkeypatch, "no_such_package")
    with pytest.raises(wireglot.UsageError, match="the plugin `acme` cannot be imported"):
        wireglot.load_rules(plugins=True)
    points(monkeypatch, f"{plugin}:BROUGHT")
    with pytest.raises(wireglot.RuleError, match="names its `dialect`"):
        wireglot.load_rules(plugins=True)


# -- the hash ------------------------------------------------------------------------------------


def test_the_hash_follows_what_rules_say_and_nothing_else() -> None:
    rules = wireglot.load_rules({"acme": acme()})
    assert rules.hash != wireglot.load_rules().hash
    assert rules.hash == wireglot.load_rules({"acme": "# why\n" + acme()}).hash
    assert rules.hash != wireglot.load_rules({"acme": acme("least")}).hash
    overlay = {"strict": "wireglot: 2\noverlay: acme\nrequest: {wire: {key: $seed (optional)}}\n"}
    laid = wireglot.load_rules({"acme": acme()}, overlay, overlays=["strict"])
    assert laid.hash != rules.hash


def test_every_conversion_says_which_rules_made_it() -> None:
    rules = wireglot.load_rules({"acme": acme()})
    reading = rules["openai-chat"].read(BODY)
    exchange = rules.exchange("openai-chat", "anthropic")
    made = [
        rules.convert(BODY, "openai-chat", "acme"),
        rules.convert(BODY, "openai-chat", "anthropic"),
        rules.convert(BODY, "openai-chat", "anthropic", policy={}),
        rules.convert(BODY, "openai-chat", "openai-chat"),
        rules["anthropic"].write(reading.ir),
        rules.repair(BODY, "openai-chat"),
        exchange.request(BODY),
        exchange.error({"type": "error", "error": {"type": "api_error", "message": "x"}}),
    ]
    assert {out.rules_hash for out in made} == {rules.hash}


# -- changes -------------------------------------------------------------------------------------


def test_a_reload_swaps_the_rules_and_a_broken_file_does_not(tmp_path: Path) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(acme())
    seen: list[Any] = []
    live = wireglot.load_rules(tmp_path).watch(lambda live: seen.append(live.error), start=False)
    assert written(live)["most"] == 5
    file.write_text(acme("least"))
    assert live.reload() and written(live)["least"] == 5 and live.swaps == 1
    file.write_text(acme("least") + "shape: 1\n")
    assert not live.reload()
    assert isinstance(live.error, wireglot.RuleError) and "shape" in str(live.error)
    assert written(live)["least"] == 5 and live.swaps == 1
    file.write_text("# as before\n" + acme("least"))
    assert live.reload() and live.error is None and live.swaps == 1
    assert [error is None for error in seen] == [True, False, True]


@pytest.mark.parametrize(
    "name",
    "audit collect convert diagnose exchange frames repair translator".split(),
)
def test_rules_that_follow_their_files_do_what_rule_sets_do(tmp_path: Path, name: str) -> None:
    (tmp_path / "acme.yaml").write_text(acme())
    rules = wireglot.load_rules(tmp_path)
    live, fixed = (getattr(one, name) for one in (rules.watch(start=False), rules))
    assert inspect.signature(live) == inspect.signature(fixed)


def test_live_rules_are_copied_as_other_objects_are(tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text(acme())
    live = wireglot.load_rules(tmp_path).watch(start=False)
    assert copy.copy(live).rules is live.rules
    with pytest.raises(AttributeError, match="_nothing"):
        live._nothing  # noqa: B018


def test_rules_that_follow_their_files_ask_the_set_in_force(tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text(acme())
    live = wireglot.load_rules(tmp_path).watch(start=False)
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    chunk = {"id": "1", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}
    response = live.collect([chunk, "[DONE]"], "openai-chat")
    assert live.repair(body, "openai-chat").body == body
    assert live.diagnose(body, "openai-chat") == ()
    assert live.audit("acme", "ollama").lines
    assert list(live.frames(response, "openai-chat"))
    assert live.translator("openai-chat", "anthropic").feed(chunk)


def test_an_exchange_ends_on_the_rules_it_began_with(tmp_path: Path) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(acme())
    live = wireglot.load_rules(tmp_path).watch(start=False)
    exchange = live.exchange("openai-chat", "acme")
    file.write_text(acme("least"))
    assert live.reload()
    assert "most" in exchange.request(BODY).body
    assert "least" in live.exchange("openai-chat", "acme").request(BODY).body


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_files_are_watched(tmp_path: Path, kind: str) -> None:
    def put(text: str) -> None:
        if kind == "folder":
            (tmp_path / "acme.yaml").write_text(text)
        else:
            zipped(tmp_path / "new.zip", {"acme.yaml": text}).replace(tmp_path / "acme.zip")

    put(acme())
    source = tmp_path if kind == "folder" else tmp_path / "acme.zip"
    with wireglot.load_rules(source).watch() as live:
        deadline = time.monotonic() + 20
        while "least" not in written(live) and time.monotonic() < deadline:
            put(acme("least"))  # again, in case that watching had not begun
            time.sleep(0.4)
        assert written(live)["least"] == 5
    assert not [t for t in threading.enumerate() if t.name == "wireglot-watch"]


def test_rules_without_files_cannot_be_watched() -> None:
    with pytest.raises(wireglot.UsageError, match="nothing can change"):
        wireglot.load_rules({"acme": acme()}).watch()


@pytest.mark.parametrize("looks", [True, False])
def test_python_looks_for_no_garbage_during_a_load_and_then_as_before(looks: bool) -> None:
    seen = []

    class Watched(dict[str, str]):
        def __getitem__(self, key: str) -> str:
            seen.append(gc.isenabled())
            return super().__getitem__(key)

    before = gc.isenabled()
    (gc.enable if looks else gc.disable)()
    try:
        rules = wireglot.load_rules(Watched(acme=acme()))
        there = [gc.isenabled()]
        with pytest.raises(wireglot.RuleError):
            wireglot.load_rules(Watched(acme="wireglot: ["))
        there.append(gc.isenabled())
        assert rules["acme"].model.units
        there.append(gc.isenabled())
    finally:
        (gc.enable if before else gc.disable)()
    assert seen == [False, False] and there == [looks] * 3


def test_each_result_belongs_to_one_set_while_rules_change(tmp_path: Path) -> None:
    from tests import reload

    told = reload.run(tmp_path, threads=4, changes=20)
    assert told.failed == 0 and told.mixed == 0 and told.broken == 2 and told.swaps == 18
    assert told.conversions > 20


def test_each_outcome_of_eight_threads_is_what_one_version_makes_alone(tmp_path: Path) -> None:
    from tests import threads

    few = ("ollama", "openai-responses")[: width.times(2, 1)]  # which load fast
    told, ran = threads.run(
        tmp_path, 200, width.times(6, 20), every=width.times(7, 13), dialects=few, pause=0.02
    )
    assert told.failed == told.mixed == told.held == 0
    assert told.conversions >= 200 and told.versions == 3
    assert told.broken >= 1 and told.swaps >= 5  # more where conversions take their time
    assert {name.split()[1] for name in ran} == {"request", "response", "stream"}


def test_threads_that_come_at_once_make_each_function_once() -> None:
    # In a process of its own: in this one others have made them.
    code = (
        "from tests import threads; made = threads.at_once(16); print(len(made), {*made.values()})"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
    )
    count, _, times = run.stdout.strip().partition(" ")
    assert int(count) > 10 and times == "{1}", run.stderr


def test_what_two_versions_make_together_is_told_from_what_each_makes(tmp_path: Path) -> None:
    from tests import threads

    versions = []
    for version in range(2):
        threads.put(tmp_path, version, dialects=("ollama", "openai-responses"))
        versions.append(threads.loaded(tmp_path))
    talk = [{"role": "user", "content": "Hi", **threads.MARKED}]
    given = ({"model": "m", "input": talk}, "openai-responses", "ollama", "request", "m")
    case = partial(threads.converted, *given)
    alone = [threads.told(case, one) for one in versions]

    def mixed(body: Any, source: str, target: str, *_: Any) -> Any:
        read = versions[0][source].read(body)
        out = versions[1][target].write(read.ir)
        return SimpleNamespace(body=out.body, notes=(*read.notes, *out.notes))

    assert len({*alone, threads.told(case, SimpleNamespace(convert=mixed))}) == 3
