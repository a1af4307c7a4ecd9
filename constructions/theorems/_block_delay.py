"""Counters of the tokens modulo a period, as layers of reflections that read nothing but the counters below them.

A counter's layer has one transition a token, chosen by the phase t mod period of the layers below, current token
included (`reads`); the codes of its heads, taken together over all layers, tell the phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import lcm

from .._delay import Counter, CounterLayer, Factors, Vector, counter_head
from ..algebra._conductors import conductor_degree
from ..algebra._cyclotomic import MAX_DENSE_DEGREE
from ..algebra._householder import gh_factor, orthogonal_factors, permutation_factors
from ..algebra._matrices import matrix
from ..algebra.groups._abelian import prime_powers
from ..heads._candidates import MAX_DEGREE
from ._rotations import reflection, rotation


@lru_cache(maxsize=1024)  # forms of many sizes and windows ask for the same ones
def ripple_counter(period: int) -> Counter:
    """One scalar ±1 layer a bit: it flips where all lower bits turn to zero (own.T2tight); period a power of two."""
    flip: Factors = (gh_factor(2, {0: 1}),)
    layers = []
    for i in range(period.bit_length() - 1):
        carries = tuple(int(phase % 2**i == 0) for phase in range(period))
        if i:
            layers.append(_layer(carries, [(((), flip), (1,))]))
        else:
            layers.append(_layer((0,) * period, [((flip,), (1,))]))
    return Counter("ripple", "own.T2tight", period, tuple(layers))


def rotation_counter(period: int) -> Counter:
    """One layer, two reflections: the rotation by 2π/period (DP.L2); integer for period 4."""
    head = ((orthogonal_factors(rotation(1, period)),), (1, 0))
    return Counter("rotation", "DP.L2", period, (_layer((0,) * period, [head]),))


def two_layer_counter(period: int) -> Counter:
    """Two layers, one reflection each: the parity of t, and Ref(θ(1, parity)) (G.T6, DP.L2); period even."""
    sign = _layer((0,) * period, [(((gh_factor(2, {0: 1}),),), (1,))])
    mirrors = tuple(orthogonal_factors(reflection(k, 2 * period)) for k in (3, -1))
    parity = tuple(phase % 2 for phase in range(period))
    return Counter("two_layers", "G.T6", period, (sign, _layer(parity, [(mirrors, (1, 0))])))


@lru_cache(maxsize=1024)
def cycle_counter(period: int) -> Counter:
    """One layer, integer: for each prime power q of the period a cycle of q points, or of q/2 axes with a sign."""
    if period == 4:
        return rotation_counter(4)  # the same two reflections
    heads = []
    for q in sorted(prime_powers(period)):
        dim = q // 2 if q % 2 == 0 else q
        start = (1,) + (0,) * (dim - 1)
        if q % 2:
            factors = permutation_factors([(i + 1) % q for i in range(q)])
        else:  # e_i to e_{i+1}, the last to -e_0
            rows = [[int(i == j + 1) for j in range(dim)] for i in range(dim)]
            rows[0][dim - 1] = -1
            factors = orthogonal_factors(matrix(rows))
        heads.append(((factors,), start))
    return Counter("cycles", "G.T3", period, (_layer((0,) * period, heads),))


def cycle_period(least: int, householders: int) -> int | None:
    """The least even period ≥ `least`, up to four times as long, that `cycle_counter` counts with so few factors."""
    for period in range(least, 4 * least + 1, 2):
        costs = (q // 2 if q % 2 == 0 else q - 1 for q in prime_powers(period))
        if max(costs) <= householders:
            return period
    return None


def algebraic_degree(period: int, householders: int) -> int:
    """Degree of the number field of the rotation counter (two factors) or of the two layers (one factor)."""
    return conductor_degree(lcm(4, period if householders > 1 else 2 * period))


def choose_counter(
    kind: str, least: int, householders: int, integer: bool, max_degree: int = MAX_DEGREE
) -> Counter | None:
    """The counter of that kind with period ≥ `least` (even), at most so many factors; None where there is none.

    `kind="auto"`: fewest layers, then integer.
    """
    power = 1 << (least - 1).bit_length()
    fits = algebraic_degree(least, householders if kind != "two_layers" else 1) <= min(
        max_degree, MAX_DENSE_DEGREE
    )
    if kind == "auto":
        order = ["cycles", "rotation", "two_layers", "ripple"]
        if power <= 4:  # two scalar layers are no more than two layers of one reflection
            order = ["cycles", "rotation", "ripple"]
        found = (choose_counter(k, least, householders, integer, max_degree) for k in order)
        return next((c for c in found if c is not None), None)
    if kind == "cycles":
        period = cycle_period(least, householders)
        return None if period is None else cycle_counter(period)
    if kind == "ripple":
        return ripple_counter(power)
    if kind == "rotation" and householders > 1 and fits and (least == 4 or not integer):
        return rotation_counter(least)
    if kind == "two_layers" and fits and not integer:
        return two_layer_counter(least)
    return None


def _layer(reads: tuple[int, ...], heads: Sequence[tuple[tuple[Factors, ...], Vector]]) -> CounterLayer:
    return CounterLayer(reads, tuple(counter_head(transitions, start, reads) for transitions, start in heads))
