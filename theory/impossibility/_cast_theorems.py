"""The papers' theorems in model `cast`, on random instances with exact rational eigenvalues (G.L1, G.T1, G.T2).

Each instance is decided for ever (`_cast_model.py`).

The other side of G.T2: letters of finite order m with a non-real eigenvalue do count modulo m. A = S R S⁻¹ with an
integer R of order m and an integer S of determinant 1, so A^m = I exactly: every cast term repeats after m letters, and
the sum of the cast terms of B grows by a fixed amount a period, or not at all. Each state is decided for ever.

A rotation is the product of two reflections, whose eigenvalues are 1 and -1. So a second layer, which reads one of two
letters in turn, counts modulo m with real letters: it is their product that has a non-real eigenvalue.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from .._verdict import Verdict
from ..arithmetic._arithmetic import Cast, fractions, parse_arithmetic
from ..arithmetic._rounding import Floats
from ._cast_model import (
    TriangularLayer,
    after_last,
    cast_sequence,
    eigenvalue,
    find_settled_values,
    follow,
    next_letters,
    random_layer,
)

LONGEST_PREFIX = 8
Progress = Callable[[int], None]


@dataclass
class Tally:
    """`instances` decided; `violations` with a witness each; `counting`: how many do not end in a fixed point.

    `tight`: how many attain the largest period allowed, or, where only fixed points are, have an eigenvalue that is 0 (in
    G.L1 0 or 1). `settling`: the settling indices. `saturating`: how many
    states grow until they saturate. `skipped`: draws not decided, since they settle beyond the limits stated.
    """

    instances: int = 0
    counting: int = 0
    tight: int = 0
    saturating: int = 0
    skipped: int = 0
    settling: list[int] = field(default_factory=list)
    violations: list[Any] = field(default_factory=list)

    def verdict(self, claim: str, seed: int, arithmetic: str, *assumptions: str) -> Verdict:
        """Supported by these instances, or refuted by the first violation."""
        largest = sorted(self.settling)
        evidence = {
            "instances": self.instances,
            "seed": seed,
            "tight": self.tight,
            "violations": len(self.violations),
            "counting": self.counting,
            "saturating": self.saturating,
            "skipped": self.skipped,
            "settling_median": largest[len(largest) // 2] if largest else None,
            "settling_largest": largest[-1] if largest else None,
        }
        if self.violations:
            return Verdict(
                claim,
                "refuted",
                {**evidence, "witness": self.violations[0]},
                arithmetic,
                assumptions,
            )
        return Verdict(claim, "supported", evidence, arithmetic, assumptions)


def lemma(
    arithmetic: str,
    instances: int,
    seed: int = 0,
    *,
    negative: bool = False,
    progress: Progress | None = None,
) -> Tally:
    """G.L1 on random sequences of 1 to 4 terms, m ≤ 2: eventually constant on either parity, equal if all λ ≥ 0."""
    model, draw, tally = _cast(arithmetic), random.Random(seed), Tally()
    while tally.instances < instances:
        terms = [
            (
                Fraction(draw.randint(-40, 40), draw.choice([1, 2, 3, 7, 8])),
                draw.choice([0, 0, 1, 2]),
                eigenvalue(draw, negative),
            )
            for _ in range(draw.randint(1, 4))
        ]
        found = find_settled_values(terms, model)
        if found is None:
            tally.skipped += 1
            continue
        k, even, odd = found
        values = cast_sequence(terms, k + 6, model) + 0.0
        ends = np.where(np.arange(len(values)) % 2, odd, even)
        tally.instances += 1
        tally.settling.append(after_last(values != ends))
        tally.counting += even != odd
        tally.tight += any(x in (0, 1) for _, _, x in terms)
        if (values[k:] != ends[k:]).any() or (even != odd and all(x >= 0 for _, _, x in terms)):
            tally.violations.append({"terms": [[str(c), m, str(x)] for c, m, x in terms], "settles_by": k})
        if progress:
            progress(tally.instances)
    return tally


def theorem(
    arithmetic: str,
    instances: int,
    layers: int,
    seed: int = 0,
    *,
    negative: bool = False,
    progress: Progress | None = None,
) -> Tally:
    """G.T1 (all eigenvalues ≥ 0: a fixed point on 1^k) or, with `negative`, G.T2 (real: a period dividing 2^layers)."""
    model, draw, tally = _cast(arithmetic), random.Random(seed), Tally()
    while tally.instances < instances:
        stack: list[TriangularLayer] = []
        prefix: list[int] = []
        cycle = [0]
        ends: list[tuple[float, ...]] = []
        settles, grows = 0, False
        for depth in range(layers):
            layer = random_layer(draw, 1 if depth == 0 else 4, negative)
            followed = follow(layer, prefix, cycle, model)
            if followed is None or (depth + 1 < layers and followed.slow):
                break
            stack.append(layer)
            settles, grows, ends = max(settles, followed.settles), grows or followed.saturates, followed.ends
            prefix, cycle = next_letters(followed, layer.decode)
            if len(prefix) > LONGEST_PREFIX and depth + 1 < layers:
                break
        else:
            tally.instances += 1
            period = len(ends)
            tally.settling.append(settles)
            tally.counting += period > 1
            tally.tight += period == 2**layers if negative else any(layer.has_zero for layer in stack)
            tally.saturating += grows
            if (2**layers if negative else 1) % period:
                tally.violations.append({"layers": [layer.to_json() for layer in stack], "period": period})
            if progress:
                progress(tally.instances)
            continue
        tally.skipped += 1
    return tally


def count_undecided(tallies: Mapping[str, Tally]) -> dict[str, str]:
    """By name, how many draws were not decided, since they settle beyond the limits, and took no part."""
    return {name: f"{t.skipped} of {t.skipped + t.instances}" for name, t in tallies.items()}


def _cast(arithmetic: str) -> Cast:
    model = parse_arithmetic(arithmetic)
    if not isinstance(model, Cast):
        raise TypeError(f"{arithmetic} is not a cast")
    return model


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
