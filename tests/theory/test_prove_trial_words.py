"""Words that are tried beside the search: a layer that drifts is refuted, and nothing else changes."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import DisagreementError, InputError
from mirrormata.tests.theory.prove_models import random_model
from mirrormata.theory.arithmetic._arithmetic import parse_arithmetic
from mirrormata.theory.proofs import _state_search as state_search
from mirrormata.theory.proofs import _stepper_machine as stepper_machine
from mirrormata.theory.proofs._answers import answers_of, output_answers
from mirrormata.theory.proofs._linear import linear_machine
from mirrormata.theory.proofs._machine import machine_of
from mirrormata.theory.proofs._npz_model import NpzModel, npz_model
from mirrormata.theory.proofs._prove import prove
from mirrormata.theory.proofs._trial_words import RANDOM, trial_words, try_words

CYCLE = automaton_from_spec("cycle:4")


def drifting(plus: float, minus: float) -> NpzModel:
    """Quarter turns of cycle:4 that are off by two angles, in radians."""

    def turn(angle: float) -> Any:
        return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    corners = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])[..., None]
    arrays = {
        "A": np.stack([turn(minus - np.pi / 2), np.eye(2), turn(plus + np.pi / 2)]),
        "B": np.zeros((3, 2, 1)),
        "H0": corners[0],
        "codes": corners,
        "decode": np.repeat(np.arange(4)[:, None], 3, axis=1),
    }
    return npz_model(arrays, "drifting")


@pytest.mark.parametrize("arithmetic", ["per_step:fp32", "per_step:fp64", "per_op:fp32", "per_step:fp32:rz"])
def test_a_drift_is_found(arithmetic: str) -> None:
    found = prove(drifting(0.001, -0.0007), CYCLE, arithmetic)
    assert (found.verdict, found.shortest, found.checked) == ("counterexample", False, "replayed")
    # +1 is off by π/4 after 785.4 letters; rounding toward zero shrinks the state and turns it as little
    assert found.word is not None
    assert set(found.word) == {2}
    assert abs(len(found.word) - 786) <= 1
    assert found.answered != found.right
    assert (found.correct_up_to or 0) < len(found.word)
    assert "the word +1 again and again" in found.reason
    assert "wrong word" in dict(found.rows())
    assert "shortest word" not in dict(found.rows())
    assert found.to_json()["shortest"] is False


def test_a_drift_is_found_in_exact_numbers() -> None:
    found = prove(drifting(0.01, -0.007), CYCLE, "exact")
    assert (found.verdict, found.word, found.shortest) == ("counterexample", (2,) * 79, False)


def test_a_layer_on_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepper_machine, "CANDIDATES", 1 << 9)
    lrnn = construct("cycle:7")
    limits: Any = {"method": "states", "max_states": 3_000}
    found = prove(lrnn, "cycle:7", "kernel:recurrent:bf16", max_trial_letters=16 * 256, **limits)
    assert (found.verdict, found.shortest, found.checked) == ("counterexample", False, "replayed")
    assert found.word is not None
    assert found.correct_up_to is not None
    assert found.correct_up_to < len(found.word) <= 256
    without = prove(lrnn, "cycle:7", "kernel:recurrent:bf16", max_trial_letters=0, **limits)
    assert without.verdict == "unknown"


class Tally:
    """Counts in 64 bits, so that no state comes back; wrong once more than `most` ones are read in a row."""

    def __init__(self, most: int, *, one_by_one: bool) -> None:
        self.most, self.one_by_one = most, one_by_one

    def initial(self, sequences: int) -> list[Any]:
        return [np.ones(sequences, dtype=np.uint64), np.zeros((2, sequences), dtype=np.int64)]

    def step(self, states: list[Any], letters: Any) -> list[Any]:
        words, (ones, parity) = states
        # a state for every word
        mixed = (2 * words + letters.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        return [mixed, np.stack([np.where(letters == 1, ones + 1, 0), (parity + letters) % 2])]

    def decode(self, states: list[Any], letters: Any) -> Any:
        ones, parity = states[1]
        return np.where(ones > self.most, 1 - parity, parity)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_steppers_are_tried(one_by_one: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepper_machine, "CANDIDATES", 1 << 10)
    found = prove(Tally(100, one_by_one=one_by_one), "parity", "int64")
    assert (found.word, found.shortest, found.checked) == ((1,) * 101, False, "replayed")


def test_an_approximation_is_not_believed() -> None:
    class Misread(Tally):
        """Whole words are read wrongly by its own code; letter by letter all is right."""

        def read_words(self, words: Any) -> Any:
            yield np.zeros_like(words)

    found = prove(
        Misread(10_000, one_by_one=True), "parity", "int64", max_states=3_000, max_trial_letters=2_000
    )
    assert (found.verdict, found.word) == ("unknown", None)


def test_a_step_that_depends_on_the_batch_gives_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepper_machine, "CANDIDATES", 1 << 9)

    class Sided(Tally):
        def decode(self, states: list[Any], letters: Any) -> Any:
            right = super().decode(states, letters)
            return 1 - right if len(right) == 16 * 64 else right

    with pytest.raises(DisagreementError, match="run alone from the start"):
        prove(Sided(10_000, one_by_one=False), "parity", "int64")


def test_what_is_right_stays_so() -> None:
    lrnn = construct("S4")
    for arithmetic in ("per_step:bf16", "per_op:fp16"):
        with_words = prove(lrnn, "S4", arithmetic, method="states")
        without = prove(lrnn, "S4", arithmetic, method="states", max_trial_letters=0)
        assert (with_words.verdict, with_words.states_explored) == (without.verdict, without.states_explored)
    right = prove(drifting(0.0, 0.0), CYCLE, "per_step:bf16", max_states=1, method="states")
    assert (right.verdict, right.word) == ("unknown", None)


def test_the_limit_is_kept() -> None:
    model = drifting(0.001, -0.0007)
    # three letters and 12 words v, so 16 words of this many letters
    for length, verdict in ((785, "unknown"), (786, "counterexample")):
        found = prove(model, CYCLE, "per_step:fp32", max_states=2_000, max_trial_letters=16 * length)
        assert found.verdict == verdict
    assert prove(model, CYCLE, "per_step:fp32", max_states=2_000, max_trial_letters=0).verdict == "unknown"
    for wrong in (-1, 1.5, "5"):
        with pytest.raises(InputError, match="max_trial_letters"):
            prove(model, CYCLE, max_trial_letters=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("letters", [1, 2, 3, 12, 13, 120, 5_000])
@pytest.mark.parametrize("limit", [0, 1, 100, 65_536])
def test_words_are_as_many_as_the_limit_allows(letters: int, limit: int) -> None:
    words = trial_words(letters, limit)
    assert words.letters.size <= limit
    assert len(words.periods) == len(words.letters)
    assert words.periods[-RANDOM:] == (None,) * RANDOM
    periods = [v for v in words.periods if v is not None]
    assert len(set(periods)) == len(periods)
    for v, word in zip(periods, words.letters, strict=False):
        assert all(word[t] == v[t % len(v)] for t in range(len(word)))
        # no word repeats a shorter one, and no two are rotations of each other
        assert not any(v == v[:i] * (len(v) // i) for i in range(1, len(v)) if len(v) % i == 0)
    rotations = {v[i:] + v[:i] for v in periods for i in range(len(v))}
    assert len(rotations) == sum(map(len, periods))
    again = trial_words(letters, limit)
    assert np.array_equal(again.letters, words.letters)
    if letters == 2 and limit == 65_536:
        assert periods[:5] == [(0,), (1,), (0, 1), (0, 0, 1), (0, 1, 1)]
        assert words.letters.shape == (16, 4096)


@pytest.mark.parametrize("arithmetic", ["per_step:bf16", "per_step:fp64", "per_step:fp16:ru", "per_op:bf16"])
def test_steps_with_letters_of_their_own(arithmetic: str) -> None:
    parsed: Any = parse_arithmetic(arithmetic)
    automaton = automaton_from_spec("cycle:3")
    lrnn = construct("S4")
    machines: list[Any] = [
        machine_of(random_model(1, 3, 3), automaton, parsed, output_answers(automaton, None)),
        linear_machine(lrnn, parsed, answers_of(lrnn.automaton, lrnn.automaton)),
    ]
    for machine in machines:
        count_of = len(machine.idle)
        letters = np.arange(12) % count_of
        rows: Any = np.repeat(machine.initial(), 12, axis=0)
        for turn in range(5):
            read = np.roll(letters, turn)
            apart = np.concatenate([machine.step(rows[i : i + 1], int(x)) for i, x in enumerate(read)])
            rows = machine.step_each(rows, read)
            assert np.array_equal(rows, apart)


def test_a_clock_ends_the_trial() -> None:
    machine = machine_of(drifting(0.0, 0.0), CYCLE, parse_arithmetic("per_step:fp32"))
    ticks = count()

    def clock() -> None:
        if next(ticks) == 10:
            raise state_search.OutOfTimeError

    with pytest.raises(state_search.OutOfTimeError):
        try_words(machine, CYCLE, 65_536, clock)
    assert next(ticks) == 11
