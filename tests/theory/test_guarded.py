"""Steppers that break their promises: an `InputError` that names the method and the letter, never a counterexample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mirrormata import InputError, compare, prove
from mirrormata.models import Sampling
from mirrormata.theory import track


class Parity:
    """The state is the number of letters 1, modulo 2; `fault` says what goes wrong."""

    identity = "parity"

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    def initial(self, sequences: int) -> Any:
        if self.fault == "initial raises":
            raise KeyError("weights")
        return np.zeros(sequences, dtype=np.int64)

    def step(self, states: Any, letters: Any) -> Any:
        if self.fault == "step raises":
            raise ZeroDivisionError("by zero")
        if self.fault == "too few rows":
            return (states[:1] + letters[:1]) % 2
        return (states + letters) % 2

    def decode(self, states: Any, letters: Any) -> Any:
        if self.fault == "decode raises":
            raise IndexError("no code")
        return {"out of range": states + 5, "below": states - 2, "floats": states / 2}.get(self.fault, states)


FAULTS = {
    "initial raises": "the stepper's initial raises KeyError",
    "step raises": "the stepper's step raises ZeroDivisionError (by zero) on the letter",
    "decode raises": "the stepper's decode raises IndexError (no code) on the letter",
    "too few rows": "sequences",
    "out of range": "the stepper's decode gives 5 on the letter '0': an answer is a number from 0 to 1, or -1 for none",
    "below": "the stepper's decode gives -2 on the letter '0'",
    "floats": "one whole number for each is needed",
}
SAMPLING = Sampling(words=4, length=8, fit=4)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_malformed_stepper_is_refused_wherever_it_is_given(fault: str) -> None:
    calls = (
        lambda: prove(Parity(fault), "mod:2"),
        lambda: track(Parity(fault), "mod:2", np.array([[0, 1], [0, 0]])),
        lambda: compare(Parity(fault), "mod:2", sampling=SAMPLING),
    )
    for call in calls:
        with pytest.raises(InputError) as refusal:
            call()
        assert FAULTS[fault] in str(refusal.value)
        assert ("raises" in fault) == (refusal.value.__cause__ is not None)


def test_a_right_stepper_is_taken() -> None:
    assert prove(Parity(), "mod:2").verdict == "equivalent"
    assert track(Parity(), "mod:2", np.array([[0, 1], [1, 1]])).errors == 0
    assert prove(Parity(), "mod:2", max_states=1).verdict == "unknown"


def test_a_class_is_no_stepper() -> None:
    for call in (lambda: prove(Parity, "mod:2"), lambda: track(Parity, "mod:2", np.array([0]))):  # type: ignore[arg-type]
        with pytest.raises(
            InputError, match=r"is the class Parity: give an object of it, such as Parity\(\)"
        ):
            call()
    with pytest.raises(InputError, match="no Stepper: it has no initial and no step and no decode"):
        track(5, "mod:2", np.array([0]))  # type: ignore[arg-type]
