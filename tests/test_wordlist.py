"""The words of the rule language have users: packaged rule files, or those of the trials."""

from __future__ import annotations

import pytest

from . import words

FOUND = words.users()
# Words that no rule file uses, and why they stay for now.
WITHOUT: dict[tuple[str, str], str] = {}


@pytest.mark.parametrize("group", words.groups())
def test_each_word_has_a_user(group: str) -> None:
    unused = {(group, word) for word in words.groups()[group] if not FOUND.get((group, word))}
    assert unused == {one for one in WITHOUT if one[0] == group}


def test_a_word_is_found_where_it_is_one() -> None:
    assert "chat-compatible" in FOUND["mark", "read-only"]
    assert FOUND["shape", "marks"] == {"(bedrock-converse)"}
    assert "rules" not in {name for names in FOUND.values() for name in names}
