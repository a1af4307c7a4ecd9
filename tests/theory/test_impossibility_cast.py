"""The papers' theorems in model `cast`: against the definition, and on random instances, both ways."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mirrormata.theory.arithmetic._arithmetic import Cast, parse_arithmetic
from mirrormata.theory.arithmetic._rounding import round_fraction
from mirrormata.theory.impossibility._cast_model import (
    cast_sequence,
    cast_states,
    find_settled_value,
    find_settled_values,
    follow,
    odd_float,
    random_layer,
    value_at,
)
from mirrormata.theory.impossibility._cast_theorems import lemma, theorem

FORMATS = ("cast:bf16", "cast:fp8_e4m3", "cast:int:-128..127")


def cast(name: str) -> Cast:
    model = parse_arithmetic(name)
    assert isinstance(model, Cast)
    return model


def test_rounding_to_odd_is_harmless() -> None:
    draw = random.Random(0)
    for _ in range(2_000):
        x = Fraction(draw.randint(-(2**90), 2**90), draw.randint(1, 2 ** draw.randint(1, 160)))
        odd = odd_float(x.numerator, x.denominator)
        for name in ("bf16", "fp8_e5m2", "fp32"):
            assert round_fraction(Fraction(odd), name, "tie_low") == round_fraction(x, name, "tie_low")
    tie = Fraction(1) + Fraction(1, 2**8)
    assert (
        round_fraction(Fraction(odd_float(*(tie + Fraction(1, 3**200)).as_integer_ratio())), "bf16")
        == 1.0078125
    )


@pytest.mark.parametrize("name", FORMATS)
def test_settled_is_for_ever(name: str) -> None:
    model, draw = cast(name), random.Random(1)
    for _ in range(60):
        terms = [
            (Fraction(draw.randint(-9, 9), 4), draw.choice([0, 0, 1, 2]), Fraction(draw.randint(-10, 10), 8))
            for _ in range(3)
        ]
        found = find_settled_values(terms, model, first=4)
        if found is None:
            continue
        k, even, odd = found
        seq = cast_sequence(terms, k + 120, model) + 0.0
        assert (seq[k + k % 2 :: 2] == even).all()
        assert (seq[k + 1 - k % 2 :: 2] == odd).all()
        for at in (0, 1, 2, k):
            exact = np.array([value_at(terms, at)], dtype=object)
            assert seq[at] == model.round(exact)[0]


def test_a_limit_on_a_midpoint_is_decided_by_the_side() -> None:
    model = cast("cast:int:-4..4")
    half, shrinking = (Fraction(1, 2), 0, Fraction(1)), Fraction(1, 3)
    assert find_settled_value([half, (Fraction(1), 0, shrinking)], 10, model) == 1
    assert find_settled_value([half, (Fraction(-1), 0, shrinking)], 10, model) == 0
    assert find_settled_value([half], 10, model) == 0
    turning = [half, (Fraction(1), 0, -shrinking)]
    assert (find_settled_value(turning, 10, model), find_settled_value(turning, 11, model)) == (
        1,
        0,
    )  # so the lemma needs λ ≥ 0


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("negative", [False, True])
def test_one_layer_against_the_definition(name: str, negative: bool) -> None:
    model, draw, met = cast(name), random.Random(2), 0
    for _ in range(12):
        layer = random_layer(draw, 1, negative)
        found = follow(layer, [], [0], model)
        if found is None or len(found.states) > 500:
            continue
        met += 1
        A = (
            np.array(layer.S, dtype=object)
            @ np.array(layer.T[0], dtype=object)
            @ np.array(layer.inverse, dtype=object)
        )
        B, start = (np.array(v, dtype=object)[:, None] for v in (layer.B[0], layer.start))
        direct = cast_states(A, B, start, model)
        for state in found.states[:150]:
            assert (next(direct)[:, 0] == state).all()
        if not found.slow:
            assert tuple(found.states[-1]) in found.ends
    assert met > 4


@pytest.mark.parametrize("negative", [False, True])
def test_words_with_a_prefix_against_the_definition(negative: bool) -> None:
    model, draw = cast("cast:fp8_e4m3"), random.Random(3)
    for _ in range(10):
        layer = random_layer(draw, 4, negative)
        prefix, cycle = [draw.randrange(4) for _ in range(3)], [0, 2] if negative else [1]
        found = follow(layer, prefix, cycle, model)
        if found is None:
            continue
        A = [
            np.array(layer.S, dtype=object)
            @ np.array(T, dtype=object)
            @ np.array(layer.inverse, dtype=object)
            for T in layer.T
        ]
        terms = [np.array(layer.start, dtype=object)]
        states = [model.round(terms[0])]
        for k in range(3 + min(len(found.states), 30) - 1):
            x = prefix[k] if k < 3 else cycle[(k - 3) % len(cycle)]
            terms = [A[x] @ y for y in terms] + [np.array(layer.B[x], dtype=object)]
            states.append(model.round(sum(np.array([Fraction(v) for v in model.round(y)]) for y in terms)))
        got = np.concatenate([found.before[1:3], found.states[:30]])
        assert np.array_equal(np.array(states[1 : 1 + len(got)]) + 0.0, got)


def check_theorems(name: str, instances: int, seed: int) -> dict[str, Any]:
    """No violation, and with negative eigenvalues the same code finds models that count."""
    first = lemma(name, instances, seed)
    assert (first.instances, first.counting, first.violations) == (instances, 0, [])
    turned = lemma(name, instances, seed, negative=True)
    assert turned.counting > 0
    assert not turned.violations
    for layers in (1, 2):
        positive = theorem(name, instances, layers, seed)
        assert (positive.instances, positive.counting, positive.violations) == (instances, 0, [])
        assert positive.tight > 0
        real = theorem(name, instances, layers, seed, negative=True)
        assert not real.violations
        assert real.counting > real.tight / 2 > 0  # 2^L is attained
        verdict = real.verdict("G.T2", seed, name)
        assert (verdict.status, verdict.cases) == ("supported", instances)
    return verdict.to_json()


@pytest.mark.parametrize("name", FORMATS)
def test_theorems_on_random_instances(name: str) -> None:
    check_theorems(name, 40, 5)


@pytest.mark.parametrize(
    "instances",
    [pytest.param(300, marks=pytest.mark.long), pytest.param(1_000, marks=pytest.mark.exhaustive)],
)
@pytest.mark.parametrize("name", FORMATS)
def test_theorems_on_many_instances(name: str, instances: int) -> None:
    check_theorems(name, instances, 6)
