"""`wireglot fmt`: one layout for what a file says; nothing said changes, and comments stay."""

from __future__ import annotations

import io
import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from wireglot import cli
from wireglot.authoring import layout
from wireglot.errors import RuleError
from wireglot.language.source import parse

from . import width
from .width import times

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted([*ROOT.glob("rules/**/*.yaml"), *ROOT.glob("tests/dialects/*.yaml")])
# Of these ruamel.yaml loses a comment behind a list.
LOSES = {"bedrock-anthropic.yaml", "chat-compatible.yaml", "openai-responses.yaml"}
ODD = Path(__file__).parent / "cases" / "layout"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_files_of_this_project_stand_in_the_layout(file: Path) -> None:
    text = file.read_text("utf-8")
    assert layout.formatted(text, file.name) == text


def written_anew(text: str) -> str:
    """Return a file as ruamel.yaml writes it anew, which keeps comments and quotes."""
    library, made = YAML(), io.StringIO()
    library.preserve_quotes, library.width = True, 1000
    library.indent(mapping=2, sequence=4, offset=2)
    library.dump(library.load(text), made)
    return made.getvalue()


@pytest.mark.parametrize("file", width.some(FILES, 12), ids=lambda file: file.name)
def test_a_file_as_another_writer_lays_it_out_says_the_same(file: Path) -> None:
    text = file.read_text("utf-8")
    other = written_anew(text)
    made = layout.formatted(other, file.name)
    assert parse(made, file.name).plain() == parse(text, file.name).plain()
    signs = re.compile(r"(?:^|\s)(#.*)", re.M)
    assert sorted(signs.findall(made)) == sorted(signs.findall(other))
    lost = sorted(signs.findall(other)) != sorted(signs.findall(text))
    assert lost == (file.parent.name == "rules" and file.name in LOSES)
    assert layout.formatted(made, file.name) == made


def test_a_library_does_not_write_rule_files_as_their_authors_did() -> None:
    """The reason for text edits, which docs/authoring.md gives; it may end with a new version."""
    texts = [file.read_text("utf-8") for file in width.some(FILES, 16)]
    assert sum(written_anew(text) == text for text in texts) < len(texts) / 2
    made = io.StringIO()
    YAML().dump({"a": {"b": "c\x85d"}}, made)
    assert parse(made.getvalue(), "x").plain() != {"a": {"b": "c\x85d"}}


def test_a_line_ends_where_yaml_says_so() -> None:
    text = "a: \"x\x85y\" # one\nb: [ 'c\u2028d',\n 2] # two\n"
    tidy = "a: \"x\x85y\"  # one\nb: ['c\u2028d',\n    2]  # two\n"
    assert layout.formatted(text, "x") == tidy
    with pytest.raises(RuleError, match="cannot be formatted without changing it"):
        layout.formatted("see: 'c\u2028  d'   # one\nwireglot: 2\n", "x")


def test_an_untidy_file_is_put_in_order() -> None:
    untidy = ODD.joinpath("untidy.txt").read_text("utf-8")
    tidy = ODD.joinpath("tidy.txt").read_text("utf-8")
    assert layout.formatted(untidy, "untidy") == tidy
    assert layout.formatted(tidy, "tidy") == tidy
    assert layout.formatted(untidy.replace("\n", "\r\n"), "untidy") == tidy


WORDS = st.text(alphabet="ab :#-'\"\\{}[],&*!|>%@`$~é\n\t0", max_size=8)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-9, 99), WORDS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(WORDS.filter(lambda key: key != "<<"), inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(max_examples=times(60, 30), deadline=None, database=None, derandomize=True)
@given(
    value=st.dictionaries(st.sampled_from(["shapes", "examples", "wireglot", "see"]), VALUES),
    flow=st.sampled_from([True, False, None]),
    indent=st.integers(2, 6),
    width=st.sampled_from([10, 40, 200]),
    seed=st.builds(random.Random, st.integers(0, 2**32)),
)
def test_what_a_file_says_and_its_comments_stay(
    value: dict[str, Any], flow: bool | None, indent: int, width: int, seed: Any
) -> None:
    dumped = yaml.safe_dump(
        value, default_flow_style=flow, indent=indent, width=width, sort_keys=False,
        allow_unicode=True,
    )  # fmt: skip
    text, comments = commented(dumped, seed)
    made = layout.formatted(text, "made")
    assert parse(made, "made").plain() == parse(dumped, "made").plain()
    assert made.count("§") == comments
    assert layout.formatted(made, "made") == made


def commented(text: str, seed: Any) -> tuple[str, int]:
    """Put comments where YAML takes them: the file must say the same with each."""
    said = parse(text, "made").plain()
    lines, count = text.splitlines(), 0
    for number in range(len(lines), -1, -1):
        if seed.random() < 0.5:
            continue
        if seed.random() < 0.5:
            tried = [*lines[:number], " " * seed.randrange(6) + "# §own", *lines[number:]]
        elif number < len(lines):
            tried = [*lines[:number], f"{lines[number]}  # §end", *lines[number + 1 :]]
        else:
            continue
        try:
            same = parse("\n".join(tried) + "\n", "made").plain() == said
        except RuleError:
            continue
        if same:
            lines, count = tried, count + 1
    return "\n".join(lines) + "\n", count


def test_what_is_no_rule_file_is_told_and_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.yaml").write_text("a: &x 1\n", "utf-8")
    (tmp_path / "good.yaml").write_text("a:   1\n", "utf-8")
    assert cli.main(["fmt", str(tmp_path)]) == 1
    assert "anchors and aliases are not used here" in capsys.readouterr().err
    assert (tmp_path / "bad.yaml").read_text("utf-8") == "a: &x 1\n"
    assert (tmp_path / "good.yaml").read_text("utf-8") == "a: 1\n"


def test_check_and_diff_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("see: x\nwireglot:   2\n", "utf-8")
    assert cli.main(["fmt", "--check", str(file)]) == 1
    assert capsys.readouterr().out == f"{file}\n"
    assert cli.main(["fmt", "--diff", str(file)]) == 1
    assert "-wireglot:   2\n" in capsys.readouterr().out
    assert file.read_text("utf-8") == "see: x\nwireglot:   2\n"
    assert cli.main(["fmt", str(file)]) == 0
    assert file.read_text("utf-8") == "wireglot: 2\nsee: x\n"
    assert cli.main(["fmt", "--check", str(tmp_path)]) == 0


def test_a_file_that_would_change_its_meaning_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout._Writer, "file", lambda _: "a: 2\n")
    with pytest.raises(RuleError, match="cannot be formatted without changing it"):
        layout.formatted("a: 1\n", "one")
