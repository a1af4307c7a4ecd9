"""own.R1 and own.R2 checked: over all symmetric matrices of a small set of values, and on random larger ones.

In model `per_step`, with a constant input: A positive semidefinite, every limit cycle is a fixed point; A symmetric, its
period is 1 or 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from ..constructions.errors import InputError
from .arithmetic import PerStep
from .rounding import FloatFormat, Floats, ValueSet, all_values, value_set
from .rounding_counters import rounding_of
from .verdict import Verdict


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
        """own.R1 and own.R2 on these systems."""
        made = []
        for claim, count in (("own.R1", self.positive), ("own.R2", self.systems)):
            evidence: dict[str, Any] = {"violations": len(self.violations), "undecided": self.undecided}
            if seed is None:
                evidence |= {"cases": count * self.states, "set": what, "systems": count}
            else:
                evidence |= {"instances": count, "seed": seed, "tight": count, "set": what}
            wrong = [v for v in self.violations if v["claim"] == claim]
            if wrong:
                evidence["witness"] = wrong[0]
            status: Any = "refuted" if wrong else "holds"
            made.append(
                Verdict(
                    claim, status, "instances" if seed is not None else "exhaustive", evidence, arithmetic
                )
            )
        return made[0], made[1]


def all_symmetric(values: str, mode: str = "rne", n: int = 2, weights: str | None = None) -> Cycles:
    """Every symmetric A `[n, n]` and B with entries in `weights`, every initial state in the values; n = 1 or 2."""
    target = value_set(values)
    state_values, entries = all_values(target), all_values(value_set(weights or values))
    points = np.array(list(product(state_values, repeat=n)))
    result = Cycles(states=len(points))
    rounding = _Lookup(target, mode, state_values, entries, n)
    Bs = np.array(list(product(entries, repeat=n)))
    place = len(state_values) ** np.arange(n - 1, -1, -1)
    for upper in product(entries, repeat=n * (n + 1) // 2):
        A = np.array([[upper[0]]] if n == 1 else [[upper[0], upper[1]], [upper[1], upper[2]]])
        positive = bool((np.diagonal(A) >= 0).all() and (n == 1 or A[0, 0] * A[1, 1] >= A[0, 1] ** 2))
        image = (rounding(points @ A.T + Bs[:, None, :]) * place).sum(axis=-1)  # [B, state]
        later = image
        for _ in range(len(points).bit_length()):
            later = np.take_along_axis(later, later, axis=1)  # 2^i steps: at last on a limit cycle
        turning = np.take_along_axis(image, later, axis=1)
        moved = turning != later
        again = np.take_along_axis(image, turning, axis=1) != later
        result.systems += len(Bs)
        result.positive += len(Bs) * positive
        longest = 3 if again.any() else 2 if moved.any() else 1
        result.periods[positive] = max(result.periods[positive], longest)
        for claim, wrong in (("own.R1", moved & positive), ("own.R2", again)):
            for b, h in np.argwhere(wrong)[:1]:
                result.violations.append(
                    {
                        "claim": claim,
                        "A": A.tolist(),
                        "B": Bs[b].tolist(),
                        "state": points[later[b, h]].tolist(),
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
        raise InputError(f"{arithmetic}: own.R1 and own.R2 are about finite values: write {arithmetic}:sat")
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
            result.violations.append({"claim": "own.R1", "A": A[at].tolist(), "B": B[at].tolist()})
        result.periods[positive] = max(result.periods[positive], 2 if flips.any() else 1)
        A, B, h, left = A[turns], B[turns], h[turns], left[turns]
        if not len(left):
            return result
    kept = h
    for period in range(1, 65):  # runs still moving: a cycle of three or more would refute own.R2
        h = model.affine(A, h, B)
        for at in np.flatnonzero((h == kept).all(axis=(1, 2)))[: int(period > 2)]:
            result.violations.append(
                {"claim": "own.R2", "A": A[at].tolist(), "B": B[at].tolist(), "period": period}
            )
    result.undecided = len(left)
    return result


class _Lookup:
    """Indices of rounded sums Σ a h + b, by a table of all multiples of the least possible step."""

    def __init__(self, target: ValueSet, mode: str, state_values: Floats, entries: Floats, n: int) -> None:
        step = min(_step(state_values), _step(entries))
        self.unit = min(_step(entries), _step(state_values) * _step(entries), step)
        reach = n * np.abs(state_values).max() * np.abs(entries).max() + np.abs(entries).max()
        self.low = round(float(reach / self.unit))
        rounded = PerStep(target, mode).round(np.arange(-self.low, self.low + 1) * self.unit)
        self.indices = np.searchsorted(state_values, rounded)
        if not np.array_equal(state_values[self.indices.clip(0, len(state_values) - 1)], rounded):
            raise ValueError(f"{mode}: a sum is rounded to no value of the set")

    def __call__(self, sums: Floats) -> Any:
        return self.indices[np.rint(sums / self.unit).astype(np.int64) + self.low]


def _step(values: Floats) -> float:
    """A step of which all values are multiples."""
    step = 1.0
    while not np.array_equal(np.rint(values / step) * step, values):
        step /= 2
    return step
