"""Responses as Codex speaks it: its tools go abroad as functions and come home as they were."""

from __future__ import annotations

import wireglot


def test_a_note_names_no_other_dialect() -> None:
    """A family shares its fields under one name, which says nothing of who has them."""
    out = wireglot.convert(
        {"model": "m", "input": "hi", "store": False}, "openai-responses", "anthropic"
    )
    (told,) = (n.message for n in out.notes if n.source_path == "/store")
    assert "openai-chat" not in told
