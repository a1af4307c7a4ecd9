"""Any map of n points as the fewest swaps and copies, the steps that RWKV-7's factors with c = 2 can take (DP.T6).

A step is a map of the points: a swap exchanges two, a copy sends one to another and keeps the rest. The step list
[s_1, ..., s_k] is applied first to last, so its matrix is P_{s_k}···P_{s_1}, with P_f e_q = e_{f(q)}.

Count. Let c(f) be the number of connected components of the graph q → f(q). `swap_copy_word` takes n - c(f) steps,
at most n - 1. No list of matrices that each differ from I by rank 1 is shorter: rank(C_k···C_1 - I) ≤ k, and
rank(P_f - I) = n - c(f), since P_fᵀ fixes exactly the vectors that are constant on components. For a permutation
this is n - #cycles (H.rank). Of the steps exactly n - |f(Q)| are copies, the fewest too: a swap keeps the size of
the image, a copy lowers it by at most one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import index

from ...foundation._errors import InputError
from ._householder import GHFactor, swap


@dataclass(frozen=True)
class Step:
    """The map that sends `source` to `target` and, if `copies` is false, `target` to `source`; all others stay.

    Attributes:
        source: the point that moves.
        target: where it moves to, another point.
        copies: whether the target stays (a copy) or moves to the source (a swap).
    """

    source: int
    target: int
    copies: bool = False

    def __call__(self, point: int) -> int:
        """The image of a point."""
        if point == self.source:
            return self.target
        return self.source if point == self.target and not self.copies else point

    @property
    def matrix_norm_squared(self) -> int:
        """‖P_s‖², exactly: 1 for a swap, 2 for a copy, whose target collects two points.

        P_s P_sᵀ is diagonal with the number of preimages of each point.
        """
        return 2 if self.copies else 1


def swap_copy_word(image: Sequence[int]) -> tuple[Step, ...]:
    """Write a map f as a product of as few swaps and copies as possible; the first is applied first.

    There are n - c(f) steps, of which n - |f(Q)| are copies; both numbers are the smallest possible. A permutation has swaps only.
    The time is linear in n.

    Args:
        image: n points of range(n): the map f.

    Raises:
        InputError: an entry is not a point; the message names the wrong ones, five at most.

    Examples:
        >>> from mirrormata.constructions import swap_copy_word
        >>> swap_copy_word([1, 2, 2])
        (Step(source=1, target=2, copies=True), Step(source=0, target=1, copies=False))
    """
    f = _points(image)
    cycles = _cycles(f)
    steps = [Step(cycle[0], point) for cycle in cycles for point in cycle[1:]]
    occupied = [False] * len(f)
    for cycle in cycles:
        for point in cycle:
            occupied[point] = True
    children: list[list[int]] = [[] for _ in f]
    for q, target in enumerate(f):
        if not occupied[q]:
            children[target].append(q)
    queue = [point for cycle in cycles for point in cycle]
    for target in queue:  # grows while it is read: breadth first, from the cycles outwards
        for q in children[target]:
            steps.append(Step(q, target, copies=occupied[target]))
            occupied[target] = True
        queue.extend(children[target])
    return tuple(steps)


def swap_copy_count(image: Sequence[int]) -> int:
    """Compute n - c(f), the length of `swap_copy_word`, which is the least number of factors that differ from I by rank 1.

    Args:
        image: a map f of 0..n-1, i ↦ `image[i]`.
    """
    f = _points(image)
    return len(f) - len(_cycles(f))


def swap_copy_factors(image: Sequence[int]) -> tuple[GHFactor, ...]:
    """Convert `swap_copy_word` to factors whose product is P_f and whose partial products have entries 0 and 1.

    All have v = ±(e_i - e_j) and β = 1, that is c = 2 with the unit key. A swap has no mask. The copy j ↦ i has the
    mask (j,): I - v (v⊙e_j)ᵀ = I + (e_i - e_j) e_jᵀ, of norm √2.

    Args:
        image: a map f of 0..n-1, i ↦ `image[i]`.
    """
    return tuple(
        replace(swap(step.source, step.target), mask=(step.source,) if step.copies else None)
        for step in swap_copy_word(image)
    )


def _cycles(f: list[int]) -> list[list[int]]:
    """The cycles q → f(q) → ... of a map, one for each component, fixed points included, by their least points."""
    preimages = [0] * len(f)
    for target in f:
        preimages[target] += 1
    bare = [q for q, count in enumerate(preimages) if count == 0]
    for q in bare:  # grows while it is read: points without a preimage go, until only the cycles are left
        preimages[f[q]] -= 1
        if preimages[f[q]] == 0:
            bare.append(f[q])
    cycles = []
    for first in range(len(f)):
        cycle = []
        point = first
        while preimages[point]:
            preimages[point] = 0
            cycle.append(point)
            point = f[point]
        if cycle:
            cycles.append(cycle)
    return cycles


def _points(image: Sequence[int]) -> list[int]:
    n = len(image)
    wrong = []
    f = []
    for q, target in enumerate(image):
        try:
            point = index(target)
        except TypeError:
            point = -1
        if not 0 <= point < n:
            wrong.append(f"image[{q}] = {target!r}")
        f.append(point)
    if wrong:
        shown = ", ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")
        raise InputError(f"map of {n} points: {shown}: give each point an image from 0 to {n - 1}")
    return f
