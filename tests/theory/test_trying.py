"""What a plan does not build, and what the time stops; with reasons, and ways that can work."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import pytest

from mirrormata.constructions._construct import Request
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.theorems._construction import Limits
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.foundation._time_limit import OutOfTime, interrupt_after
from mirrormata.theory.planning._plan import plan
from mirrormata.theory.planning._trying import try_constructions


def run_for_ever(seconds: float) -> None:
    with interrupt_after(seconds):
        while True:
            pass


def test_a_step_is_interrupted_and_the_timer_is_gone_afterwards() -> None:
    begun = time.monotonic()
    with pytest.raises(OutOfTime):
        run_for_ever(0.05)
    assert time.monotonic() - begun < 5
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with interrupt_after(30):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with interrupt_after(None):
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_interrupt_that_is_lost_comes_again() -> None:
    """As in a callback of the garbage collector, whose exceptions go nowhere."""
    lost = 0
    with pytest.raises(OutOfTime), interrupt_after(0.05):
        lost = lose_one()
    assert lost == 0  # the assignment was interrupted
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("error", [TypeError, None])
def test_an_interrupt_that_compiled_code_turns_into_something_else(error: type[Exception] | None) -> None:
    """As numpy does, which says that types do not fit where the look for a common type was interrupted; or goes on with another value."""

    def turn() -> int:
        try:
            run_for_ever(30)
        except OutOfTime as stopped:
            if error is not None:
                raise error("no common type") from stopped
        return 1

    value = 0
    with pytest.raises(OutOfTime), interrupt_after(0.05):
        value = turn()
    assert value in (0, 1)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with pytest.raises(TypeError, match="of its own"), interrupt_after(30):
        raise TypeError("of its own")


def lose_one() -> int:
    try:
        while True:
            pass
    except OutOfTime:
        pass
    end = time.monotonic() + 30
    while time.monotonic() < end:
        pass
    return 1


def test_an_earlier_timer_goes_on() -> None:
    fired: list[int] = []
    handler = signal.signal(signal.SIGALRM, lambda number, frame: fired.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.4)
        with pytest.raises(OutOfTime):
            run_for_ever(0.05)
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] < 0.4
        with interrupt_after(60):  # is over later than the timer that runs, which is left alone
            while not fired:
                time.sleep(0.01)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    assert fired == [signal.SIGALRM]


def test_another_thread_is_not_interrupted() -> None:
    done: list[bool] = []

    def run() -> None:
        with interrupt_after(0.001):
            time.sleep(0.05)
        done.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert done == [True]


def test_what_is_stopped_is_named_and_the_rest_is_there() -> None:
    automaton = automaton_from_spec("random:states=15,letters=4,seed=3")
    made = plan(automaton, budget=0.3)
    assert {"own.chain", "G.A3"} <= {offer.found.theorem for offer in made.offers}
    assert made.left_out
    for text in made.left_out:
        assert "raise `budget`" in text or "own.chain" in text, text
    with pytest.raises(LimitError, match=r"own\.chain|raise `budget`"):
        plan(automaton, Request(theorem="own.n-1"), budget=0.001)


@pytest.mark.parametrize("budget", [0, -1, float("nan"), float("inf"), "3", True])
def test_wrong_budgets(budget: Any) -> None:
    with pytest.raises(InputError, match=r"`budget` .*: it is a number of seconds"):
        plan("parity", budget=budget)


def test_no_advice_that_cannot_work() -> None:
    """Where there may be 2^n image sets, a higher limit is no advice; where they are few, it is, with the number."""
    large = automaton_from_spec("random:states=60,letters=2,seed=1")
    texts = plan(large, limits=Limits(image_sets=2_000)).left_out
    assert texts
    for text in texts:
        if "`max_image_sets`" in text:
            assert "raise" not in text
            assert "`theorem` own.chain" in text
    assert plan(large, Request(theorem="own.chain")).offers  # the advice works
    small = automaton_from_spec("random:states=9,letters=2,seed=5")
    (text, *_) = plan(small, limits=Limits(image_sets=3)).left_out
    states = len(small.trim().states)
    assert f"there are at most {2**states:,} sets" in text
    with pytest.raises(LimitError):
        plan(small, Request(theorem="G.T4"), Limits(image_sets=3))
    assert plan(small, Request(theorem="G.T4"), Limits(image_sets=2**states)).offers  # this advice works too


def test_what_must_lose_is_not_built() -> None:
    automaton = automaton_from_spec("T5")
    tried = try_constructions(automaton, Request(max_layers=2), None, None)
    assert any(text.startswith("own.n-1: it has at least 4 layers") for text in tried.not_built)
    assert all(found.theorem != "own.n-1" for found in tried.found)
    shallow = try_constructions(automaton_from_spec("even_pairs"), Request(), None, None)
    assert any("own.n-1: it loses to the automaton's own cascade" in text for text in shallow.not_built)


def test_the_command_names_its_option(call: Any) -> None:
    shown = call("plan", "random:states=15,letters=4,seed=3", "--budget", "0.3")
    assert shown.status == 0
    text = " ".join(shown.out.split())
    assert "--budget" in text or "--theorem own.chain" in text
    assert "--budget 0" in call("plan", "S3", "--budget", "0").error
