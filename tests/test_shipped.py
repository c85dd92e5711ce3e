"""What a wheel ships: one file, read piece by piece, and modules of models and functions."""

from __future__ import annotations

import importlib
import os
import py_compile
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot.executor import modules, places
from wireglot.language import layers, rulefile
from wireglot.language.known import Known
from wireglot.language.model import CACHED, LAZY
from wireglot.language.picture import Picture
from wireglot.language.source import fingerprint, sums_of, undump
from wireglot.language.variants import Row
from wireglot.loading import load, modelcode, prepare, shipped
from wireglot.rulesets import RuleSet

from . import way

NODES = layers.flatten({n: load.packaged().files[n] for n in ("gemini", "vertex", "ladder")})
OWN = {name: load.packaged().files[name] for name in NODES}
VARIED: dict[str, tuple[Row, ...]] = {"a": ()}
MODELS: dict[tuple[str, str], tuple[str, ...] | None] = {
    ("a", "request"): ("model",),
    ("b", "response"): None,
}
KNOWN = Known(OWN, NODES, {"vertex": "gemini"}, VARIED, MODELS, {"gemini": "sum"}, "hash")


@pytest.fixture
def file(tmp_path: Path) -> str:
    name = str(tmp_path / "packaged.bin")
    shipped.write(name, KNOWN)
    return name


def test_what_was_written_is_read_piece_by_piece(file: str) -> None:
    found = shipped.read(file)
    assert found[2:] == KNOWN[2:]
    for one, two in ((found.files, OWN), (found.flat, NODES)):
        assert fingerprint(one) == fingerprint(two)
        assert len(one) == len(two) and "anthropic" not in one
        with pytest.raises(KeyError):
            one["anthropic"]
    assert found.files["gemini"] is found.flat["gemini"]
    assert found.files["vertex"].value["extends"].value == "gemini"
    assert shipped.read(file) is found


def test_another_file_in_the_same_place_is_refused(file: str) -> None:
    found = shipped.read(file)
    os.utime(file, ns=(1, 1))
    with pytest.raises(wireglot.RuleError) as caught:
        found.flat["gemini"]
    told = f"the packaged rules in {file} were replaced while they were in use"
    assert str(caught.value) == f"{told}\n  help: start the process again"
    assert shipped.read(file).flat["gemini"].value


# -- models and functions ----------------------------------------------------------------------

# Files of their own: models of these have not been used.
WHOLE = wireglot.packaged()._files
FLAT = {n: undump(WHOLE[n].dump()) for n in ("openai-chat", "ollama", "deepseek", "ladder")}
# No model below is of its variants; one row of them is made all the same.
del FLAT["openai-chat"].value["variants"].value[1:]
NAMES = [name for name in FLAT if name != "ladder"]
PARENTS = {"deepseek": "openai-chat"}  # over another dialect, in truth, which is over this one


ROWS = layers.variants_by_dialect(FLAT)
KNOWN_FLAT = Known(FLAT, FLAT, {}, ROWS, {}, sums_of(FLAT), fingerprint(FLAT))


def made(brings: bool) -> RuleSet:
    told: Any = {"known": KNOWN_FLAT, "same": FLAT} if brings else {}
    return RuleSet(FLAT, varied=ROWS, **told)


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Write modules as a wheel has them, where they are found."""
    folder = tmp_path_factory.mktemp("wheel")
    prepare._write_modules(prepare.Family(made(False), PARENTS), folder / "made")
    py_compile.compile(str(folder / "made" / "__init__.py"))  # as an installer does
    wireglot.__path__.append(str(folder))
    yield folder / "made"
    wireglot.__path__.remove(str(folder))
    forget()


def forget() -> None:
    modules.fit.cache_clear()
    modules._gathered.cache_clear()
    for name in [name for name in sys.modules if name.startswith(modules.PACKAGE)]:
        del sys.modules[name]
    vars(wireglot).pop("made", None)


def converted(rules: RuleSet, model: str = "deepseek-reasoner") -> list[Any]:
    said = {**way.RESPONSE, "model": model}
    pairs = [(one, two) for one in ("openai-chat", "deepseek") for two in NAMES]
    bodies = ((way.REQUEST, "request"), (said, "response"))
    return [rules.convert(b, one, two, unit) for one, two in pairs for b, unit in bodies]


def makes(rules: RuleSet) -> list[str]:
    """Return the functions that were not brought."""
    coded = [one.model.cache for one in rules._dialects.values()]
    ways = {
        (way, kind) for way in ("read", "write") for kind in ("home", "away", "probe", True, False)
    }
    some = [f for known in coded for key, f in known.items() if key in ways]
    assert some
    return [name for functions in some for name in functions.code._makes]


def test_functions_that_are_brought_do_what_those_do_that_are_made(brought: Path) -> None:
    one, two = made(True), made(False)
    for model in ("deepseek-reasoner", "deepseek-chat"):
        assert converted(one, model) == converted(two, model)
    assert makes(one) == []
    assert makes(two) != []
    assert "node" not in vars(one["openai-chat"].model)  # no rule file was read


def test_a_set_with_another_file_has_those_of_all_others(brought: Path) -> None:
    """A user's file takes away what is brought of the dialects that it has a part in alone."""
    own = undump(FLAT["ollama"].dump())
    rules = RuleSet({**FLAT, "ollama": own}, known=KNOWN_FLAT, same=[*FLAT][:1])
    plain = RuleSet(FLAT)
    for source, target in (("openai-chat", "ollama"), ("ollama", "openai-chat")):
        body = wireglot.convert(way.REQUEST, "openai-chat", source).body
        assert rules.convert(body, source, target) == plain.convert(body, source, target)
    assert rules.hash == plain.hash
    assert rules["openai-chat"].model.module_prefix and not rules["ollama"].model.module_prefix
    assert not vars(rules["openai-chat"].model).get("node")


def test_threads_begin_with_them_at_once(brought: Path) -> None:
    rules, want, found = made(True), converted(made(False)), []
    threads = [threading.Thread(target=lambda: found.append(converted(rules))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [want] * 8


def test_functions_of_other_rules_or_of_another_engine_are_not_used(
    brought: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = made(True)
    assert modules.fit(rules.hash)
    assert not modules.fit("another")
    modules.fit.cache_clear()
    monkeypatch.setattr(modules, "makers", lambda: {"executor/code.py": 1})
    try:
        assert not modules.fit(rules.hash)
        assert converted(rules) == converted(made(False))
        assert makes(rules) != []
    finally:
        modules.fit.cache_clear()


def test_they_are_left_alone_where_python_keeps_no_bytecode(
    brought: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = made(True)
    modules.fit.cache_clear()
    module: Any = importlib.import_module(modules.PACKAGE)
    monkeypatch.setattr(module, "__cached__", str(brought / "nowhere.pyc"))
    try:
        assert not modules.fit(rules.hash)
    finally:
        modules.fit.cache_clear()


def test_variants_share_what_is_just_so(brought: Path) -> None:
    one, two = (brought / f"{name}_write_away.py" for name in ("deepseek", "deepseek_0"))
    assert two.stat().st_size < one.stat().st_size / 20
    assert "BASE = 'deepseek_write_away'" in two.read_text("utf-8")


def test_children_share_what_is_just_so_with_their_parents(brought: Path) -> None:
    model = (brought / "deepseek_model.py").read_text("utf-8")
    assert "from wireglot.made.openai_chat_model import " in model
    text = (brought / "deepseek_write_away.py").read_text("utf-8")
    assert "BASE = 'openai_chat_write_away'" in text
    own, there = {*re.findall(r"^def (\w+)", text, re.M)}, modules._gathered("deepseek_write_away")
    assert there is not None and own < there.functions.keys()


def test_a_model_is_built_as_it_is_read(brought: Path) -> None:
    for name in NAMES:
        one, two = made(True)[name].model, rulefile.load(undump(made(False)._node(name, ()).dump()))
        assert one.module_prefix == name.replace("-", "_")
        for shape in (*one.shapes.values(), *one.units.values()):
            assert shape.cases and shape.is_built
        apart = {
            "module_prefix",
            "_later",
            "cache",
            "kinds_by_name",
            "keys_by_name",
            *LAZY,
            *CACHED,
        }
        assert same(vars(one), vars(two), apart)
        for known in CACHED - {"in_files", "talk"}:
            assert getattr(one, known) == getattr(two, known)
        for known in (*one.shapes, *one.unions):
            assert one.kinds_of(known) == two.kinds_of(known)
            assert one.keys_of(known) == two.keys_of(known)
        assert same(one.stream, two.stream) and same(one.schemas, two.schemas)
        assert one.node.plain() == two.node.plain()


def same(one: Any, two: Any, but: set[str] = frozenset()) -> bool:  # type: ignore[assignment]
    """Tell whether two values hold the same, objects by what they hold."""
    if type(one) is not type(two):
        return False
    if isinstance(one, dict):
        keys = [key for key in one if key not in but]
        return set(keys) == set(two) - but and all(same(one[key], two[key]) for key in keys)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    slots = (f for kind in type(one).__mro__ for f in getattr(kind, "__slots__", ()))
    late = modelcode.EMPTY_CACHES.get(type(one), {})
    fields = [f for f in slots if f != "__weakref__" and f not in late]
    fields += vars(one) if hasattr(one, "__dict__") and not callable(one) else []
    if not fields:
        return bool(one == two)
    return all(same(getattr(one, field), getattr(two, field)) for field in fields)


def test_what_stands_in_a_model_has_an_address(brought: Path) -> None:
    model = made(False)["openai-chat"].model
    there = places.of(model)
    for shape in (*model.shapes.values(), *model.units.values()):
        for case in shape.cases:
            assert there.at(there.address(case) or ()) is case
            for picture in places.nodes(case):
                assert isinstance(picture, Picture)
                assert there.at(there.address(picture) or ()) is picture


def test_several_processes_write_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        text = f"wireglot: 2\ndialect: {name}\nrequest: {{wire: {{m: $model}}}}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "ladder.yaml").write_text("wireglot: 2\nladder: {}\n")
    rules, known = prepare._read(tmp_path)
    family = prepare.Family(rules, known.parents)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    found = []
    for folder, files in ((tmp_path / "alone", None), (tmp_path / "together", tmp_path)):
        prepare._write_modules(family, folder, files)
        found.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert found[0] == found[1] and len(found[0]) > 10


def test_where_no_processes_can_be_made_one_does_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise OSError("no semaphores here")

    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(prepare, "ProcessPoolExecutor", refused)
    assert prepare._pool(Path("x")) is None
