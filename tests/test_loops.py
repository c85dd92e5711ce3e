"""A few cells of `make loop`, which runs all: those of each client that no other test has.

Of models that think: each way to say a thought, once.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import loops, reasonloop
from .loop.server import Server
from .mocks.reasoners import REASONERS, Reasoner

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


SAID = {model.says + model.wants: model for model in reversed(REASONERS)}.values()


@pytest.mark.parametrize("model", SAID, ids=reasonloop.named)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_what_a_model_thought_comes_back_where_and_when_it_wants_it(
    server: Server, model: Reasoner, streamed: bool
) -> None:
    nth = REASONERS.index(model)
    client = reasonloop.CLIENTS[nth % 3]
    reasonloop.cell(server, client, model, streamed, stateful=nth % 4 < 2)
