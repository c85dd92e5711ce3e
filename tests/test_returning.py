"""Each dialect as a client before one provider, with a state; `make loop` has all, and without."""

from __future__ import annotations

import pytest

from . import returning
from .loops import DIALECTS


@pytest.mark.parametrize("client", returning.CLIENTS)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_what_a_client_sends_back_is_what_the_provider_said(client: str, streamed: bool) -> None:
    provider = DIALECTS[(returning.CLIENTS.index(client) + 2 * streamed) % len(DIALECTS)]
    returning.cell(client, provider, streamed, stateful=True)


def test_every_dialect_that_is_no_client_says_why() -> None:
    assert all(returning.RULES[name].model.stream is not None for name in returning.OUT)
    assert all(reason for reason in returning.OUT.values())
