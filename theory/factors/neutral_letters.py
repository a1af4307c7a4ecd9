"""E.neutral: a letter that leaves states where they are is the identity on the span of their differences.

If A p + b = p and A p' + b = p' then A(p - p') = p - p'. So an error along a difference of such states is never corrected
by an affine letter: it is carried on, exactly. `neutral_letters` finds what each letter of a construction leaves alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ...constructions.lrnn import LRNN, Sparse
from ...constructions.matrices import rank
from ...constructions.real_cyclotomic import Number, simplest
from ...constructions.texts.layer_letters import distinct_transitions
from ..arithmetic.arithmetic import fractions
from ..spectra.letters import lrnn_heads
from ..spectra.matrix import ExactMatrix

Difference: TypeAlias = dict[tuple[int, int], Number]
"""The entries of a state's shape that are not 0, by (row, column)."""


@dataclass(frozen=True)
class NeutralLetter:
    """A letter of a head with matrix A that leaves `fixed` of its `codes` where they are.

    `kept`: differences of these from their first; `others`: differences of the codes that move, from the same one.
    """

    head: str
    letter: str
    matrix: ExactMatrix
    codes: int
    fixed: int
    kept: tuple[Difference, ...]
    others: tuple[Difference, ...]


def neutral_letters(lrnn: LRNN) -> list[NeutralLetter]:
    """All letters of all heads that leave two codes or more where they are; each different transition once."""
    found = []
    for head, (name, matrices, labels) in zip(lrnn.all_heads, lrnn_heads(lrnn), strict=True):
        seen = set()
        moves = [head.code_transitions[t].tolist() for t, own in distinct_transitions(head) for _ in own]
        for row, A, label in zip(moves, matrices, labels, strict=True):
            fixed = [c for c, after in enumerate(row) if c == after]
            if len(fixed) < 2 or (A, tuple(row)) in seen:
                continue
            seen.add((A, tuple(row)))
            first = head.codes[fixed[0]]
            kept = tuple(difference(head.codes[c], first) for c in fixed[1:])
            others = tuple(difference(head.codes[c], first) for c, after in enumerate(row) if c != after)
            found.append(NeutralLetter(name, label, A, len(row), len(fixed), kept, others))
    return found


def span(differences: Sequence[Difference]) -> int:
    """The dimension that the columns of the differences span."""
    columns = sorted({(k, j) for k, d in enumerate(differences) for _, j in d})
    height = 1 + max((i for d in differences for i, _ in d), default=0)
    return (
        rank([[differences[k].get((i, j), 0) for i in range(height)] for k, j in columns]) if columns else 0
    )


def difference(code: Sparse, other: Sparse) -> Difference:
    """code - other, the entries that are not 0 by (row, column)."""
    entries: dict[tuple[int, int], Number] = {(i, j): x for i, j, x in code}
    for i, j, x in other:
        entries[i, j] = simplest(entries.get((i, j), 0) - x)
    return {place: x for place, x in entries.items() if x != 0}


def defect(A: ExactMatrix, d: Difference) -> Difference:
    """(A - I) d, the entries that are not 0."""
    columns = sorted({j for _, j in d})
    result: dict[tuple[int, int], Number] = {}
    for i, row in enumerate(A.rows):
        for j in columns:
            total: Number = -d.get((i, j), 0)
            for k, a in row:
                total = total + a * d.get((k, j), 0)
            if (value := simplest(total)) != 0:
                result[i, j] = value
    return result


def affine_defect(A: Any, B: Any, codes: Any) -> tuple[int, float, float]:
    """Of one letter of a model of matrices: how many codes stay exactly, ‖(A - I) d‖/‖d‖ over their differences, and over all.

    `A` `[n, n]`, `B` `[n, d]`, `codes` `[codes, n, d]`: floats, taken as the rationals they are. The largest quotient over
    differences from the first code; 0 where there are none.
    """
    exact = [fractions(M) for M in (A, B, codes)]
    after = np.array([exact[0] @ c + exact[1] for c in exact[2]], dtype=object)
    stays = np.array([bool((a == c).all()) for a, c in zip(after, exact[2], strict=True)])
    kept = exact[2][stays]

    def largest(group: Any) -> float:
        worst = 0.0
        for c in group[1:]:
            d = c - group[0]
            size = sum(x * x for x in d.ravel())
            moved = exact[0] @ d - d
            if size:
                worst = max(worst, float(sum(x * x for x in moved.ravel()) / size) ** 0.5)
        return worst

    return int(stays.sum()), largest(kept), largest(exact[2])
