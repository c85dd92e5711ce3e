"""Each dialect as a client before one provider, with a state; `make loop` has all, and without."""

from __future__ import annotations

import pytest

from . import everypair, returning
from .loops import DIALECTS


@pytest.mark.parametrize("client", returning.CLIENTS)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_what_a_client_sends_back_is_what_the_provider_said(client: str, streamed: bool) -> None:
    provider = DIALECTS[(returning.CLIENTS.index(client) + 2 * streamed) % len(DIALECTS)]
    returning.cell(client, provider, streamed, stateful=True)


@pytest.mark.parametrize("client", returning.CLIENTS)
def test_another_dialect_as_a_provider_hears_what_it_said(client: str) -> None:
    nth = returning.CLIENTS.index(client)
    provider = returning.CLIENTS[(nth * 7 + 3) % len(returning.CLIENTS)]
    if provider != client:
        everypair.cell(client, provider, streamed=nth % 2 == 0)


def test_every_dialect_that_is_no_client_says_why() -> None:
    assert all(returning.RULES[name].model.stream is not None for name in returning.OUT)
    assert all(reason for reason in returning.OUT.values())
