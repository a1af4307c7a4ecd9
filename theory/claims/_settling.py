"""PT.R1 and PT.R2 checked: over all symmetric matrices of a small set of values, and on random larger ones.

In model `per_step`, with a constant input: A positive semidefinite, every limit cycle is a fixed point; A symmetric, its
period is 1 or 2. For any non-decreasing rounding: those of the hardware, or every such map of small sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError
from .._verdict import Status, Verdict
from ..arithmetic._arithmetic import PerStep
from ..arithmetic._rounding import FloatFormat, Floats
from ..arithmetic._value_sets import ValueSet, all_values, value_set
from ._counters import rounding_of


@dataclass
class Cycles:
    """`systems`: pairs (A, B), each followed from `states` initial states, `positive`: those with A ⪰ 0.

    `periods[positive]`: longest limit cycle met. `undecided`: runs without a repetition in the steps made.
    """

    systems: int = 0
    positive: int = 0
    states: int = 0
    undecided: int = 0
    periods: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    violations: list[Any] = field(default_factory=list)

    def verdicts(self, arithmetic: str, what: str, seed: int | None = None) -> tuple[Verdict, Verdict]:
        """PT.R1 and PT.R2 on these systems."""
        made = []
        for claim, count in (("PT.R1", self.positive), ("PT.R2", self.systems)):
            evidence: dict[str, Any] = {"violations": len(self.violations), "undecided": self.undecided}
            if seed is None:
                evidence |= {"cases": count * self.states, "set": what, "systems": count}
            else:
                evidence |= {"instances": count, "seed": seed, "tight": count, "set": what}
            wrong = [v for v in self.violations if v["claim"] == claim]
            if wrong:
                evidence["witness"] = wrong[0]
            confirmed: Status = "exhaustive" if seed is None else "supported"
            made.append(Verdict(claim, "refuted" if wrong else confirmed, evidence, arithmetic))
        return made[0], made[1]


def all_symmetric(
    values: str, mode: str = "rne", n: int = 2, weights: str | None = None, *, symmetric: bool = True
) -> Cycles:
    """Every symmetric A `[n, n]` and B with entries in `weights`, every initial state in the values; n ≤ 3.

    `mode`: a rounding mode; `monotone`: every non-decreasing map of the exact sums to the values; `monotone each`: every
    choice of one such map for each of the n entries; `any`: every map at all, for which the claims do not hold. Nor do they
    for matrices that are not `symmetric`; then `positive` stands for symmetric parts.
    """
    target = value_set(values)
    state_values, entries = all_values(target), all_values(value_set(weights or values))
    points = np.array(list(product(state_values, repeat=n)))
    result = Cycles(states=len(points))
    sums = _Sums(state_values, entries, n)
    tables = _tables(sums, target, mode, state_values, n)
    Bs = np.array(list(product(entries, repeat=n)))
    place = len(state_values) ** np.arange(n - 1, -1, -1, dtype=np.int32)
    first = np.arange(len(tables) * len(Bs), dtype=np.int32) * len(points)
    for A in _matrices(entries, n, symmetric):
        positive = _positive(A + A.T)
        at = sums.places(points @ A.T + Bs[:, None, :])  # [B, state, entry]
        image = sum(
            (tables[:, i][:, at[..., i]] * place[i] for i in range(n)), np.zeros((), dtype=np.int32)
        )  # [table, B, state]
        shape = image.shape
        image = (image.reshape(-1, len(points)) + first[:, None]).ravel()  # all systems as one map
        later = image
        for _ in range(len(points).bit_length()):
            later = later.take(later)  # 2^i steps: at last on a limit cycle
        turning = image.take(later)
        moved = (turning != later).reshape(shape)
        again = (image.take(turning) != later).reshape(shape)
        result.systems += len(tables) * len(Bs)
        result.positive += len(tables) * len(Bs) * positive
        longest = 3 if again.any() else 2 if moved.any() else 1
        result.periods[positive] = max(result.periods[positive], longest)
        for claim, wrong in (("PT.R1", moved & positive), ("PT.R2", again)):
            for t, b, h in np.argwhere(wrong)[:1]:
                result.violations.append(
                    {
                        "claim": claim,
                        "A": A.tolist(),
                        "B": Bs[b].tolist(),
                        "state": points[later.reshape(shape)[t, b, h] % len(points)].tolist(),
                        "rounding": [sums.list_values(row, state_values) for row in tables[t]],
                    }
                )
    return result


def random_symmetric(
    arithmetic: str, n: int, instances: int, seed: int = 0, *, positive: bool = True, steps: int = 2_000
) -> Cycles:
    """Random exact A = MᵀDM (D = I if positive, else signs) with dyadic entries, norm near 1, random B and H_0, one batch.

    The theorems are about finite values: a format with infinities must saturate (`per_step:bf16:sat`).
    """
    model, draw = rounding_of(arithmetic), np.random.default_rng(seed)
    if isinstance(model.values, FloatFormat) and not model.values.saturating:
        raise InputError(f"{arithmetic}: PT.R1 and PT.R2 are about finite values: write {arithmetic}:sat")
    M = draw.integers(-31, 32, size=(instances, n, n)).astype(np.float64)
    D = np.ones((instances, n)) if positive else draw.choice([-1.0, 1.0], size=(instances, n))
    A = np.einsum("rki,rk,rkj->rij", M, D, M)  # integers, exact
    size = np.abs(np.linalg.eigvalsh(A)).max(axis=1)
    A *= (2.0 ** -np.ceil(np.log2(np.maximum(size, 1))) * draw.choice([0.5, 1, 1, 2], size=instances))[
        :, None, None
    ]
    scale = 2.0 ** draw.integers(-2, 3, size=(instances, 1, 1))
    B = np.round(draw.normal(size=(instances, n, 1)) * 64) / 64 * scale
    h = model.round(draw.normal(size=(instances, n, 1)) * 4)
    result = Cycles(instances, instances if positive else 0, 1)
    left = np.arange(instances)
    for _ in range(steps // 20):
        for _ in range(20):
            h = model.affine(A, h, B)
        one = model.affine(A, h, B)
        two = model.affine(A, one, B)
        turns = (two != h).any(axis=(1, 2))
        flips = (one != h).any(axis=(1, 2)) & ~turns
        for at in np.flatnonzero(flips & positive)[:1]:
            result.violations.append({"claim": "PT.R1", "A": A[at].tolist(), "B": B[at].tolist()})
        result.periods[positive] = max(result.periods[positive], 2 if flips.any() else 1)
        A, B, h, left = A[turns], B[turns], h[turns], left[turns]
        if not len(left):
            return result
    kept = h
    for period in range(1, 65):  # runs still moving: a cycle of three or more would refute PT.R2
        h = model.affine(A, h, B)
        for at in np.flatnonzero((h == kept).all(axis=(1, 2)))[: int(period > 2)]:
            result.violations.append(
                {"claim": "PT.R2", "A": A[at].tolist(), "B": B[at].tolist(), "period": period}
            )
    result.undecided = len(left)
    return result


class _Sums:
    """The sums Σ a h + b over values and weights, as places in a list of all multiples of the least possible step."""

    def __init__(self, state_values: Floats, entries: Floats, n: int) -> None:
        step = min(_step(state_values), _step(entries))
        self.unit = min(_step(entries), _step(state_values) * _step(entries), step)
        reach = n * np.abs(state_values).max() * np.abs(entries).max() + np.abs(entries).max()
        self.low = round(float(reach / self.unit))
        self.all = np.arange(-self.low, self.low + 1) * self.unit

    def places(self, sums: Floats) -> Indices:
        """Where the given sums stand."""
        return np.rint(sums / self.unit).astype(np.int64) + self.low

    def list_values(self, table: Indices, state_values: Floats) -> dict[str, float]:
        """The values that a map has at all sums."""
        return {str(x): float(state_values[v]) for x, v in zip(self.all, table, strict=True)}


def _tables(sums: _Sums, target: ValueSet, mode: str, state_values: Floats, n: int) -> Indices:
    """The maps of sums to places of values `[tables, n, sums]`."""
    kinds = range(len(state_values))
    if mode in ("monotone", "monotone each"):
        maps = list(combinations_with_replacement(kinds, len(sums.all)))
    elif mode == "any":
        maps = list(product(kinds, repeat=len(sums.all)))
    else:
        rounded = PerStep(target, mode).round(sums.all)
        places = np.searchsorted(state_values, rounded)
        if not np.array_equal(state_values[places.clip(0, len(state_values) - 1)], rounded):
            raise ValueError(f"{mode}: a sum is rounded to no value of the set")
        maps = [tuple(places.tolist())]
    chosen = product(maps, repeat=n) if mode == "monotone each" else ([table] * n for table in maps)
    return np.array(list(chosen), dtype=np.int32)


def _matrices(entries: Floats, n: int, symmetric: bool) -> Iterator[Floats]:
    upper = [(i, j) for i in range(n) for j in range(i if symmetric else 0, n)]
    for numbers in product(entries, repeat=len(upper)):
        A = np.zeros((n, n))
        for (i, j), x in zip(upper, numbers, strict=True):
            A[i, j] = x
            if symmetric:
                A[j, i] = x
        yield A


def _positive(A: Floats) -> bool:
    """Is a small symmetric matrix positive semidefinite? By its principal minors, exactly."""
    exact = [[Fraction(x) for x in row] for row in A.tolist()]
    chosen = [c for size in range(1, len(A) + 1) for c in combinations(range(len(A)), size)]
    return all(_determinant([[exact[i][j] for j in c] for i in c]) >= 0 for c in chosen)


def _determinant(A: list[list[Fraction]]) -> Fraction:
    if not A:
        return Fraction(1)
    minors = ([row[:j] + row[j + 1 :] for row in A[1:]] for j in range(len(A)))
    return sum(((-1) ** j * A[0][j] * _determinant(m) for j, m in enumerate(minors)), Fraction(0))


def _step(values: Floats) -> float:
    """A step of which all values are multiples."""
    step = 1.0
    while not np.array_equal(np.rint(values / step) * step, values):
        step /= 2
    return step
