"""What counts by rounding: witnesses exactly, PT.R1 and PT.R2 exhaustively, own.R3 and own.R4 found again by search."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.foundation._errors import InputError
from mirrormata.theory.arithmetic._arithmetic import PerOp, parse_arithmetic
from mirrormata.theory.arithmetic._value_sets import value_set
from mirrormata.theory.claims._counters import (
    delta_keys,
    delta_operations,
    delta_periods,
    exact_model,
    integer_rounding,
    long_key,
    projection,
    projections,
    ripple_period,
    two_projections,
    witnesses,
)
from mirrormata.theory.claims._counting_rates import delta_layers, delta_orbit, rate_verdict, two_factors
from mirrormata.theory.claims._settling import all_symmetric, random_symmetric
from mirrormata.theory.impossibility._orbits import AffineModel, orbit


@pytest.mark.parametrize("witness", witnesses(), ids=lambda w: f"{w.claim}, {w.arithmetic}, {w.period}")
def test_witnesses_are_reproduced_exactly(witness: Any) -> None:
    assert witness.replay().period == witness.period
    verdict = witness.verdict()
    assert (verdict.status, verdict.arithmetic) == ("refuted", witness.arithmetic)


def test_a_wrong_witness_is_refused() -> None:
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
    short = [Fraction(1986, 8192), Fraction(1986, 2048)]  # a norm below 1: PT.R1 holds
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
    assert (first.status, second.status) == ("exhaustive", "exhaustive")
    assert second.cases == systems * found.states


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


MONOTONE = [
    ("int:-1..1", "monotone", 1, None, 9 * 21),
    ("int:-1..1", "monotone", 2, None, 3**5 * 36),
    ("int:-1..1", "monotone each", 2, None, 3**5 * 36**2),
    ("int:-1..2", "monotone", 2, "int:-1..1", 3**5 * 364),
    ("int:0..1", "monotone each", 2, "int:-2..2", 5**5 * 14**2),
    ("-1,0,2", "monotone", 2, "int:-1..1", 3**5 * 78),
    pytest.param("int:-1..1", "monotone", 3, None, 3**9 * 55, marks=pytest.mark.long),
    pytest.param("int:-1..2", "monotone", 2, "-1,-1/2,0,1/2,1", 5**5 * 2024, marks=pytest.mark.long),
]


@pytest.mark.parametrize(("values", "mode", "n", "weights", "systems"), MONOTONE)
def test_every_non_decreasing_rounding(
    values: str, mode: str, n: int, weights: str | None, systems: int
) -> None:
    found = all_symmetric(values, mode, n, weights)
    assert found.systems == systems
    assert found.violations == []
    assert found.periods == {True: 1, False: 2}


def test_other_roundings_and_matrices_do_count() -> None:
    """The two hypotheses are needed: each left out, the same search finds cycles."""
    any_map = all_symmetric("int:-1..1", "any", 1)
    assert {v["claim"] for v in any_map.violations} == {"PT.R1", "PT.R2"}
    one = next(v for v in any_map.violations if v["claim"] == "PT.R1")
    (table,) = one["rounding"]
    seen = [one["state"][0]]
    for _ in range(2):
        seen.append(table[str(one["A"][0][0] * seen[-1] + one["B"][0])])
    assert seen[0] != seen[1]
    turned = all_symmetric("int:-1..1", "rne", 2, symmetric=False)
    assert turned.systems == 3**6
    assert {v["claim"] for v in turned.violations} == {"PT.R1", "PT.R2"}  # rotations; a symmetric part ⪰ 0
    for verdict in turned.verdicts("per_step:int:-1..1", "all matrices"):
        assert verdict.status == "refuted"


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
    full = two_factors(-4, 4, 20_000)
    found = full.rates()
    assert 400 < found[2] < 560  # about 5,000 of 200,000
    assert 1 <= found[3] < 20
    assert sum(found.values()) == 20_000
    assert two_factors(-4, 4, 20_000, full=False).rates().get(2, 0) < 30
    verdict = rate_verdict(full, 0)
    assert (verdict.claim, verdict.status, verdict.arithmetic) == ("own.R3", "refuted", "per_step:int:-4..4")
    assert verdict.evidence["witness"]["period"] in (2, 3)
    assert rate_verdict(two_factors(-4, 4, 20), 0).status == "unknown"


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
    assert 0.1 < delta_layers("fp32", 3, 2_000).rates()[2] / 2_000 < 0.25
    assert delta_layers("fp32", 1, 2_000).rates() == {1: 2_000}
    assert rate_verdict(delta_layers("bf16", 1, 500), 0).status == "unknown"


@pytest.mark.parametrize("order", ["left", "tree", "fma"])
def test_a_rate_has_a_replayed_witness(order: str) -> None:
    layers = delta_layers("bf16", 2, 500, order=order)
    verdict = rate_verdict(layers, 0)
    name = "per_op:bf16" + ("" if order == "left" else f":{order}")
    assert (verdict.claim, verdict.status, verdict.arithmetic) == ("own.R4", "refuted", name)
    witness = verdict.evidence["witness"]
    assert witness["norm_squared"] < 1
    assert witness["cycle"][0] == witness["cycle"][-1] != witness["cycle"][1]
    assert len(witness["cycle"]) == witness["period"] + 1
    wrong = dataclasses.replace(layers, periods=np.where(layers.periods > 1, 1, layers.periods + 1))
    with pytest.raises(AssertionError, match="in rationals"):
        wrong.witness()


def test_operations_in_rationals() -> None:
    arithmetic = parse_arithmetic("per_op:bf16")
    assert isinstance(arithmetic, PerOp)
    states = delta_orbit(arithmetic, [Fraction(97, 128), Fraction(83, 128)], Fraction(-16))
    assert [[float(x) for x in state] for state in states[1:3]] == [[-12.125, -10.375], [-12.25, -10.4375]]
    assert states[3] == states[1]


def test_periods_are_those_of_the_witnesses() -> None:
    keys = np.array([[97 / 128, 83 / 128], [0.5, 0.5]])
    assert delta_periods(PerOp(value_set("bf16")), keys, np.array([-16.0, 1.0]), 64, 4).tolist() == [2, 1]
