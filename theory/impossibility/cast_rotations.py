"""G.T2's other side, in model `cast`: letters of finite order m with a non-real eigenvalue do count modulo m.

A = S R S⁻¹ with an integer R of order m and an integer S of determinant 1, so A^m = I exactly: every cast term repeats
after m letters, and the sum of the cast terms of B grows by a fixed amount a period, or not at all. Each state is decided
for ever.

A rotation is the product of two reflections, whose eigenvalues are 1 and -1. So a second layer, which reads one of two
letters in turn, counts modulo m with real letters: it is their product that has a non-real eigenvalue.
"""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from ..arithmetic.arithmetic import Cast, fractions
from ..arithmetic.names import parse_arithmetic
from ..arithmetic.rounding import Floats
from .cast_theorems import Tally

ROTATIONS = {3: ((0, -1), (1, -1)), 4: ((0, -1), (1, 0)), 6: ((0, -1), (1, 1))}
"""Integer matrices of order m in dimension 2: companion matrices of cyclotomic polynomials."""
MIRROR = ((0, 1), (1, 0))
"""A reflection whose product with each of them is another."""


def rotations(arithmetic: str, order: int, instances: int, seed: int = 0, layers: int = 1) -> Tally:
    """Random single layers with such letters on 1^k: `counting` have a period other than 1, `tight` the full period.

    `layers` 2: the reflections of such a letter in a second layer, without B; the first is h ← -h, whose sign chooses.
    `violations`: those whose period does not divide 2^layers, which G.T2 excludes where such products have real eigenvalues.
    """
    model, draw, tally = parse_arithmetic(arithmetic), random.Random(seed), Tally()
    if not isinstance(model, Cast):
        raise TypeError(f"{arithmetic} is not a cast")
    for _ in range(instances):
        a, b = draw.randint(-2, 2), draw.randint(-2, 2)
        S = np.array([[1 + a * b, a], [b, 1]], dtype=object)
        inverse = np.array([[1, -a], [-b, 1 + a * b]], dtype=object)
        first, second = (S @ x @ inverse for x in reflections(order))
        A = second @ first
        start, added = (
            np.array([Fraction(draw.randint(-36, 36), 4) for _ in range(2)], dtype=object) for _ in range(2)
        )
        if draw.random() < 0.5:
            added = 0 * added
        if layers == 2:
            added = 0 * added
            period, grows = alternating_period(first, second, start, order, model), False
        else:
            period, grows = turning_period(A, added, start, order, model)
        tally.instances += 1
        tally.counting += period > 1
        tally.tight += period == layers * order
        tally.saturating += grows
        if 2**layers % period:
            tally.violations.append(
                {"A": A.tolist(), "B": added.tolist(), "start": start.tolist(), "period": period}
            )
    return tally


def turning_period(A: object, added: object, start: object, order: int, model: Cast) -> tuple[int, bool]:
    """The period on 1^k at the end, and whether some entry grows until it saturates; A^order = I."""
    A, first, term = (np.asarray(x, dtype=object) for x in (A, start, added))
    firsts, sums, total = [], [], np.zeros_like(first)
    for _ in range(order):
        firsts.append(fractions(model.round(first)))
        sums.append(total)
        total = total + fractions(model.round(term))
        first, term = A @ first, A @ term
    if (first != np.asarray(start, dtype=object)).any():
        raise ValueError(f"the matrix is not of order {order}")
    still = total == 0  # what the sum of a whole period adds
    ends = [tuple((model.round(s + f) + 0.0)[still].tolist()) for s, f in zip(sums, firsts, strict=True)]
    period = next(p for p in range(1, order + 1) if order % p == 0 and ends == ends[:p] * (order // p))
    return period, not still.all()


def reflections(order: int) -> tuple[Floats, Floats]:
    """Two integer reflections; the second times the first is the matrix of this order."""
    mirror = np.array(MIRROR, dtype=object)
    return mirror @ np.array(ROTATIONS[order], dtype=object), mirror


def alternating_period(first: object, second: object, start: object, order: int, model: Cast) -> int:
    """The period on 1^k of a layer without B that reads two letters in turn; (second first)^order = I."""
    turn, begin = (np.asarray(first), np.asarray(second)), np.asarray(start, dtype=object)
    state, shown = begin, []
    for k in range(2 * order):
        shown.append(tuple((fractions(model.round(state))).tolist()))
        state = turn[k % 2] @ state
    if (state != begin).any():
        raise ValueError(f"the product is not of order {order}")
    return next(
        p for p in range(1, 2 * order + 1) if 2 * order % p == 0 and shown == shown[:p] * (2 * order // p)
    )
