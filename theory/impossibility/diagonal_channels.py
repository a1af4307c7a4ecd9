"""A diagonal channel by operations, h ← Q(Q(a h) + b): with a ≥ 0 it never turns, over all of a small format (PT.R1).

A composition of non-decreasing maps of one number is non-decreasing, and such a map of finitely many values has no cycle
of two or more.
"""

from __future__ import annotations

import numpy as np

from ..arithmetic.arithmetic import PerOp
from ..arithmetic.names import parse_arithmetic
from ..arithmetic.value_sets import all_values


def diagonal_channels(values: str, *, negative: bool = False) -> tuple[int, int]:
    """Every channel of a small format, a ≥ 0, each from every start: how many, and how many turn.

    `negative`: a < 0 instead, where channels do turn.
    """
    arithmetic = parse_arithmetic(f"per_op:{values}")
    if not isinstance(arithmetic, PerOp):
        raise TypeError(values)
    numbers = all_values(arithmetic.values)
    a, b, h = (x.ravel() for x in np.meshgrid(numbers, numbers, numbers, indexing="ij"))
    kept = a < 0 if negative else a >= 0
    a, b, h = a[kept], b[kept], h[kept]
    for _ in range(len(numbers)):
        h = arithmetic.add(arithmetic.multiply(a, h), b)
    after = arithmetic.add(arithmetic.multiply(a, h), b)
    return len(h), int((after != h).sum())
