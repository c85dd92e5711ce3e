"""A few cells of `make loop`, which runs all: those of each client that no other test has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import loops
from .loop.server import Server

CELLS = [
    ("openai-responses", "openai-chat", False),
    ("openai-responses", "anthropic", True),
    ("openai-chat", "anthropic", True),
    ("anthropic", "gemini", False),
    ("gemini", "anthropic", False),
    ("ollama", "gemini", True),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with loops.serving() as one:
        yield one


@pytest.mark.parametrize(("client", "provider", "streamed"), CELLS)
def test_a_long_conversation_comes_out_right(
    server: Server, client: str, provider: str, streamed: bool
) -> None:
    loops.cell(server, client, provider, streamed, stateful=True)
