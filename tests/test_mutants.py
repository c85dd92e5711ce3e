"""A sample of `make mutants`, and of what it measures."""

from __future__ import annotations

import pytest

from . import growth, mutants
from .test_requests import TRAFFIC


def test_forged_riders_and_states_raise_nothing_but_errors_of_the_family() -> None:
    faults = mutants.ridden("a", 100)
    assert not faults.kinds, faults.first
    assert 0 < faults.refused < faults.tried / 2


@pytest.mark.skipif(not TRAFFIC.is_dir(), reason="../shared/traffic is not here")
def test_broken_payloads_raise_nothing_but_errors_of_the_family() -> None:
    faults = mutants.paid("a", 60)
    assert not faults.kinds, faults.first
    assert 0 < faults.refused < faults.tried


def test_what_hangs_is_stopped_and_told() -> None:
    faults = mutants.Faults()

    def hangs() -> None:
        while True:
            pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mutants, "SECONDS", 0.05)
        faults.tries("this", {}, hangs)
    faults.tries("that", {}, lambda: ""[1])
    assert [kind.split(":")[0] for kind in faults.kinds] == ["this", "this", "IndexError"]
    assert faults.kinds.total() == 4


def test_time_that_grows_too_fast_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    passed = [0.0]  # a clock that the work moves: what runs beside it does not

    def slow(size: int) -> object:
        return lambda: passed.append(passed.pop() + size * size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth, "rows", lambda: [("squares", 4, slow)])
        patch.setattr(growth, "clock", lambda: passed[0])
        assert growth.main([]) == 1
        assert growth.main(["--factor", "4"]) == 0
        assert growth.main(["nothing"]) == 0
    assert capsys.readouterr().out.count("4.00  too much") == 1


def test_what_stands_in_a_text_takes_time_in_proportion() -> None:
    assert growth.main(["in a text", "--factor", "3.5"]) == 0  # other work may run beside it


def test_turns_and_calls_of_an_exchange_take_time_in_proportion() -> None:
    assert (
        growth.main(["turns of an exchange, riding", "--factor", "3.5"]) == 0
    )  # other work may run beside it
