"""A head as the DeltaProduct kernels take it: keys, values, β and gates of every transition, rounded to a dtype.

The kernel runs H ← g H, then for each factor H ← H + β k (v - kᵀH)ᵀ. So a factor I - β k kᵀ is a micro-step with
value 0, and what a transition adds is written by its own factors (`written_values`). Transitions with fewer factors
than the most are filled up with β = 0, k = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constructions.errors import InputError
from ...constructions.lrnn import Head
from ...constructions.written_values import written_values
from ..arithmetic.rounding import FloatFormat, Floats
from .weights import Rounding

MAX_WIDTH = 256
"""Widest key and value that the kernels take."""


@dataclass(frozen=True, eq=False)
class KernelWeights:
    """`keys` `[transitions, n_h, dim]`, `values` `[..., n_h, value_dim]`, `beta` `[..., n_h]`, `gate` `[...]`.

    All are values of the dtype. `exact`: no number was changed by rounding.
    """

    keys: Floats
    values: Floats
    beta: Floats
    gate: Floats
    exact: bool


def kernel_weights(head: Head, fmt: FloatFormat, name: str = "model") -> KernelWeights:
    """The weights of a head; `InputError` or `NotRealisableError` where a transition is nothing that the kernel can do."""
    if max(head.dim, head.value_dim) > MAX_WIDTH:
        raise InputError(
            f"{name}: a head of {head.dim} × {head.value_dim} is wider than the {MAX_WIDTH} that the kernels take: "
            "use per_step or per_op"
        )
    rounding = Rounding(fmt)
    count, most = len(head.transitions), max(head.householders or 0, 1)
    keys, values = np.zeros((count, most, head.dim)), np.zeros((count, most, head.value_dim))
    beta, gate = np.zeros((count, most)), np.ones(count)
    for x, transition in enumerate(head.transitions):
        if transition.matrix is not None or any(f.mask is not None for f in transition.factors):
            raise InputError(
                f"{name}: transition {x} is no product of factors I - β k kᵀ, which is what the kernel runs: "
                "use per_step or per_op"
            )
        gate[x] = rounding(transition.gate)
        for j, factor in enumerate(transition.factors):
            beta[x, j] = rounding(factor.beta)
            for i, number in factor.vector:
                keys[x, j, i] = rounding(number)
        written = written_values(transition, head.dim, head.value_dim, f"{name}: transition {x}")
        for j, entries in enumerate(written):
            for _, column, number in entries:
                values[x, j, column] = rounding(number)
    return KernelWeights(keys, values, beta, gate, rounding.exact)
