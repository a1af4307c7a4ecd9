"""Additive terms as what a delta rule writes: for each factor the value v in H ← (I - β k kᵀ) H + β k vᵀ."""

from __future__ import annotations

from ..foundation._errors import NotRealisableError
from ._realisation import Sparse, Transition
from .algebra._cyclotomic import Number, simplest
from .algebra._matrices import reduce_rows


def find_written_values(
    transition: Transition, dim: int, value_dim: int, name: str = "letter"
) -> tuple[Sparse, ...]:
    """For each factor, in the order applied, the row v of `value_dim` numbers that it writes, as entries `(0, j, v_j)`.

    Solves B = Σ_j C_k···C_{j+1} β_j k_j v_jᵀ exactly; free unknowns are 0. `NotRealisableError` where B has no such
    form: a delta rule writes along its keys only.
    """
    if not transition.additive:
        return ((),) * len(transition.factors)
    directions = []
    for j, factor in enumerate(transition.factors):
        column: dict[int, Number] = {i: simplest(factor.beta * x) for i, x in factor.vector}
        for later in transition.factors[j + 1 :]:
            read = sum((x * column.get(i, 0) for i, x in later.reading), start=0 * later.beta)
            if read != 0:
                for i, x in later.vector:
                    column[i] = simplest(column.get(i, 0) - later.beta * x * read)
        directions.append(column)
    B: dict[tuple[int, int], Number] = {(i, j): x for i, j, x in transition.additive}
    unknowns = len(directions)
    system = [
        [*(column.get(i, 0) for column in directions), *(B.get((i, j), 0) for j in range(value_dim))]
        for i in range(dim)
    ]
    rows, pivots = reduce_rows(system)
    if pivots and pivots[-1] >= unknowns:
        raise NotRealisableError(
            f"{name}: what it adds to the state does not lie along its factors' keys, so no delta rule writes it"
        )
    values: list[list[tuple[int, int, Number]]] = [[] for _ in range(unknowns)]
    for row, pivot in zip(rows, pivots, strict=True):
        values[pivot] = [(0, j, x) for j, x in enumerate(row[unknowns:]) if x != 0]
    return tuple(tuple(v) for v in values)
