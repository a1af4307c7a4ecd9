"""G.T2's other side: letters of finite order in model cast, against the definition."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from mirrormata.theory.arithmetic._arithmetic import Cast, parse_arithmetic
from mirrormata.theory.impossibility._cast_model import cast_states
from mirrormata.theory.impossibility._cast_theorems import (
    ROTATIONS,
    alternating_period,
    reflections,
    rotations,
    turning_period,
)


@pytest.mark.parametrize("order", [3, 4, 6])
def test_periods_are_those_of_the_states(order: int) -> None:
    model, draw = parse_arithmetic("cast:int:-5..5"), random.Random(order)
    assert isinstance(model, Cast)
    A = np.array(ROTATIONS[order], dtype=object)
    for _ in range(20):
        start, added = (
            np.array([Fraction(draw.randint(-8, 8), 4) for _ in range(2)], dtype=object) for _ in range(2)
        )
        period, _ = turning_period(A, added, start, order, model)
        states = cast_states(A, added[:, None], start[:, None], model)
        run = [tuple((next(states) + 0.0).ravel().tolist()) for _ in range(400)]
        late = run[-60:]
        assert period == next(p for p in range(1, 61) if all(late[i] == late[i - p] for i in range(p, 60)))


@pytest.mark.parametrize("name", ["cast:bf16", "cast:int:-128..127"])
def test_most_of_them_count(name: str) -> None:
    for order in ROTATIONS:
        tally = rotations(name, order, 50)
        assert tally.tight > 25
        assert len(tally.violations) == tally.counting


@pytest.mark.parametrize("order", [3, 4, 6])
def test_a_rotation_is_two_reflections(order: int) -> None:
    first, second = reflections(order)
    assert (second @ first).tolist() == [list(row) for row in ROTATIONS[order]]
    for mirror in (first, second):  # eigenvalues 1 and -1
        assert (mirror @ mirror).tolist() == [[1, 0], [0, 1]]
        assert mirror.trace() == 0


@pytest.mark.parametrize("order", [3, 4, 6])
def test_two_layers_show_what_their_states_do(order: int) -> None:
    model = parse_arithmetic("cast:int:-5..5")
    assert isinstance(model, Cast)
    letters = dict(zip((1, -1), reflections(order), strict=True))
    for start in ([1, 0], [3, 1], [2, 2], [0, 0]):
        sign, state, run = 1, np.array(start, dtype=object), []
        for _ in range(6 * order):
            run.append(tuple(state))  # small whole numbers, which the cast keeps
            sign, state = -sign, letters[sign] @ state
        period = next(p for p in range(1, 60) if run[p:] == run[:-p])
        assert alternating_period(*reflections(order), start, order, model) == period
    assert alternating_period(*reflections(order), [3, 1], order, model) == 2 * order


@pytest.mark.parametrize("name", ["cast:bf16", "cast:int:-128..127"])
@pytest.mark.parametrize("order", [3, 4, 6])
def test_a_second_layer_of_real_letters_breaks_the_bound(name: str, order: int) -> None:
    tally = rotations(name, order, 50, layers=2)
    assert tally.tight > 25
    assert len(tally.violations) >= tally.tight
    assert all(4 % violation["period"] for violation in tally.violations)


def test_another_order_is_refused() -> None:
    model = parse_arithmetic("cast:bf16")
    assert isinstance(model, Cast)
    with pytest.raises(ValueError, match="not of order 4"):
        turning_period(ROTATIONS[3], [0, 0], [1, 0], 4, model)
    with pytest.raises(ValueError, match="product is not of order 4"):
        alternating_period(*reflections(3), [1, 0], 4, model)
