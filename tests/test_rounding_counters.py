"""What counts by rounding: witnesses exactly, own.R1 and own.R2 exhaustively, own.R3 and own.R4 found again by search."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.constructions.errors import InputError
from mirrormata.theory.arithmetic import PerOp
from mirrormata.theory.orbits import AffineModel, orbit
from mirrormata.theory.rounding import value_set
from mirrormata.theory.rounding_counters import (
    delta_operations,
    exact_model,
    integer_rounding,
    long_key,
    projection,
    ripple_period,
    two_projections,
    witnesses,
)
from mirrormata.theory.rounding_counters_exhaustive import all_symmetric, random_symmetric
from mirrormata.theory.rounding_counters_search import (
    delta_keys,
    delta_periods,
    projection_rates,
    projections,
    rate_verdict,
    rates,
)


@pytest.mark.parametrize("witness", witnesses(), ids=lambda w: f"{w.claim}, {w.arithmetic}, {w.period}")
def test_witnesses_are_reproduced_exactly(witness: Any) -> None:
    assert witness.replay().period == witness.period
    verdict = witness.verdict()
    assert (verdict.status, verdict.arithmetic) == ("refuted", witness.arithmetic)


def test_a_wrong_witness_is_refused() -> None:
    import dataclasses

    with pytest.raises(AssertionError, match="period 2"):
        dataclasses.replace(integer_rounding(), period=3).replay()
    with pytest.raises(AssertionError, match="in place of"):
        dataclasses.replace(integer_rounding(), states=((Fraction(0),) * 2, (Fraction(2),) * 2)).replay()


@pytest.mark.parametrize("period", [2, 3])
def test_the_eigenvalues_are_real_and_not_negative(period: int) -> None:
    stepper = two_projections(period).stepper
    assert isinstance(stepper, AffineModel)
    (a, b), (c, d) = stepper.heads[0].A[0]
    assert a * d - b * c == 0  # so they are 0 and the trace
    assert 0 <= a + d <= 1


def test_the_other_order_of_factors_does_not_count() -> None:
    A = projection((1, -1)) @ projection((2, 1))
    model = exact_model(A, [Fraction(2, 3), Fraction(2)], (0, 0), "per_step:int:0..1")
    assert orbit(model, [0]).period == 1


def test_the_key_is_too_long_by_a_hair() -> None:
    size = Fraction(1987, 8192) ** 2 + Fraction(1987, 2048) ** 2
    assert abs(float(size) - 1 - 1.5e-4) < 1e-5
    short = [Fraction(1986, 8192), Fraction(1986, 2048)]  # a norm below 1: own.R1 holds
    A = [[Fraction(int(i == j)) - short[i] * short[j] for j in range(2)] for i in range(2)]
    model = exact_model(np.array(A, dtype=object), [x * 7040 for x in short], (1032, 6996), "per_step:fp16")
    assert sum(x * x for x in short) < 1
    assert orbit(model, [0]).period == 1
    assert long_key().replay().preperiod == 0


def test_operations_by_torch_one_at_a_time() -> None:
    """own.R4 in bf16 on the CPU: s = kᵀh; e = v - s; h ← h + k e."""
    for key, value, period in (
        ((97 / 128, 83 / 128), -16.0, 2),
        ((-201 / 512, 51 / 64, 233 / 512), -28.0, 3),
    ):
        k = torch.tensor(key, dtype=torch.bfloat16)
        assert k.double().tolist() == list(key)
        v, h = torch.tensor(value, dtype=torch.bfloat16), torch.zeros(len(key), dtype=torch.bfloat16)
        seen: list[list[float]] = []
        while h.double().tolist() not in seen:
            seen.append(h.double().tolist())
            s = k[0] * h[0]
            for i in range(1, len(key)):
                s = s + k[i] * h[i]
            h = h + k * (v - s)
        assert len(seen) - seen.index(h.double().tolist()) == period
        if period == 2:
            assert seen[1:] == [[-12.125, -10.375], [-12.25, -10.4375]]
        found = orbit(delta_operations(period).stepper, [0])
        assert (found.period, len(found.keys)) == (period, len(seen))
        ours = [np.frombuffer(bits[8:], dtype=np.float64).tolist() for bits in found.keys]
        assert ours == seen


def test_ripple_counter_attains_the_bound() -> None:
    assert [ripple_period(layers) for layers in range(1, 9)] == [2**layers for layers in range(1, 9)]


SMALL = [
    ("int:-1..1", 2, None, 243),
    ("int:-2..2", 2, None, 3_125),
    ("int:0..3", 2, "int:-1..1", 243),
    ("fp4_e2m1", 1, None, 225),
    ("fixed:5:2", 1, None, 1_024),
    ("-1,0,1/2,2", 2, "int:-1..1", 243),
]


@pytest.mark.parametrize(("values", "n", "weights", "systems"), SMALL)
@pytest.mark.parametrize("mode", ["rne", "tie_low", "rz", "ru", "rd"])
def test_all_symmetric_matrices_of_small_sets(
    values: str, n: int, weights: str | None, systems: int, mode: str
) -> None:
    if "," in values and mode == "rne":
        return
    found = all_symmetric(values, mode, n, weights)
    assert found.systems == systems
    assert not found.violations
    assert found.periods == {True: 1, False: 2}
    first, second = found.verdicts("per_step", values)
    assert (first.status, first.kind, second.status) == ("holds", "exhaustive", "holds")
    assert second.evidence["cases"] == systems * found.states


@pytest.mark.long
@pytest.mark.parametrize("mode", ["rne", "tie_low", "rz", "ru", "rd"])
@pytest.mark.parametrize(
    ("values", "systems"), [("fp4_e2m1", 15**5), ("int:-4..4", 9**5), ("fixed:4:2", 16**5)]
)
def test_all_symmetric_matrices_of_four_bits(values: str, mode: str, systems: int) -> None:
    found = all_symmetric(values, mode)
    assert found.systems == systems
    assert not found.violations
    assert found.periods == {True: 1, False: 2}


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize(
    "name", ["bf16:sat", "fp8_e4m3:rz", "fp16:ru:sat", "int:-8..8:tie_low", "fp6_e2m3", "fixed:12:6"]
)
def test_random_larger_symmetric_matrices(n: int, name: str) -> None:
    for positive in (True, False):
        found = random_symmetric(f"per_step:{name}", n, 200, seed=n, positive=positive, steps=400)
        assert not found.violations
        assert found.undecided < 20
        assert found.periods[positive] == (1 if positive else 2)


def test_overflow_to_infinity_is_no_finite_value() -> None:
    with pytest.raises(InputError, match="per_step:bf16:sat"):
        random_symmetric("per_step:bf16", 2, 10)


def test_smallest_counters_of_two_projections() -> None:
    """One bit is enough to count: the witness is found again, and smaller ones."""
    found, systems = projections(0, 1, max_entry=2, max_denominator=3)
    assert systems == 17_600
    assert any((c.first, c.second, c.B) == ((1, -1), (2, 1), (Fraction(2, 3), Fraction(2))) for c in found)
    best = found[0]
    assert (best.first, best.second, best.B) == ((1, -1), (1, 2), (Fraction(1), Fraction(2, 3)))
    for c in found:
        model = exact_model(projection(c.second) @ projection(c.first), c.B, (0, 0), "per_step:int:0..1")
        assert orbit(model, [0]).period == 2


@pytest.mark.long
def test_period_three_of_two_projections() -> None:
    found, systems = projections(-1, 1, period=3)
    assert (len(found), systems) == (8, 632_576)
    assert {(c.first, c.second) for c in found} >= {((2, 3), (2, -1))}
    for c in found:
        model = exact_model(projection(c.second) @ projection(c.first), c.B, (0, 0), "per_step:int:-1..1")
        assert orbit(model, [0]).period == 3


def test_rates_of_two_factors() -> None:
    found = projection_rates(-4, 4, 20_000)
    assert 400 < found[2] < 560  # about 5,000 of 200,000
    assert 1 <= found[3] < 20
    assert sum(found.values()) == 20_000
    assert projection_rates(-4, 4, 20_000, full=False).get(2, 0) < 30


@pytest.mark.parametrize(
    ("name", "best"), [("fp6_e2m3", ((0.5, 0.75), 2.75)), ("fp6_e3m2", ((0.25, 0.75), 0.625))]
)
def test_smallest_counters_of_one_factor(name: str, best: Any) -> None:
    """All keys and values of six bits: none in dimension 1, the smallest in dimension 2."""
    assert delta_keys(name, 1)[0] == []
    found, _ = delta_keys(name, 2)
    assert (found[0].key, found[0].value) == best
    assert all(sum(x * x for x in c.key) <= 1 for c in found)
    ops = PerOp(value_set(name))
    h, seen = np.zeros((1, 2, 1)), []
    while h.ravel().tolist() not in seen:
        seen.append(h.ravel().tolist())
        h = ops.delta_rule(h, np.array([best[0]]), np.ones(1), np.array([[best[1]]]))
    assert len(seen) - seen.index(h.ravel().tolist()) == 2


def test_four_bits_do_not_count_with_one_factor() -> None:
    assert [delta_keys("fp4_e2m1", n)[0] for n in (1, 2, 3)] == [[], [], []]


def test_rates_of_random_layers() -> None:
    """fp32, n = 3: about one layer in six counts; a diagonal channel (n = 1) never does."""
    found = rates("fp32", 3, 2_000)
    assert 0.1 < found[2] / 2_000 < 0.25
    assert rates("fp32", 1, 2_000) == {1: 2_000}
    verdict = rate_verdict("bf16", 2, 500)
    assert (verdict.claim, verdict.status, verdict.arithmetic) == ("own.R4", "refuted", "per_op:bf16")
    assert rate_verdict("bf16", 1, 500).status == "unknown"


def test_periods_are_those_of_the_witnesses() -> None:
    keys = np.array([[97 / 128, 83 / 128], [0.5, 0.5]])
    assert delta_periods(PerOp(value_set("bf16")), keys, np.array([-16.0, 1.0]), 64, 4).tolist() == [2, 1]
