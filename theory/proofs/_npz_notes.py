"""Which arrays of an `.npz` a proof is about: what was run, and what the file has beside it that was not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions._head import Head
from ..arithmetic._arithmetic import Kernel
from ..arithmetic._rounding import Floats
from ._npz_model import CLOSE, FACTOR_KEYS, NpzModel

MOST_PRODUCTS = 1_000_000
"""Multiplications of rational numbers up to which the products of the factors are compared with A exactly."""


def npz_notes(model: Any, arithmetic: Any) -> tuple[str, ...]:
    """What a verdict on an `.npz` is about; empty for other models, and where the file has nothing but what was run.

    Args:
        model: any model that `prove` takes.
        arithmetic: the arithmetic in which it runs.

    Returns:
        Sentences without a full stop.
    """
    if not isinstance(model, NpzModel):
        return ()
    notes = []
    given = [key for key in (*FACTOR_KEYS, "mask") if key in model.factors]
    if isinstance(arithmetic, Kernel):
        notes.append(f"the gates and factors in the file were run, and not its A; {_distance_from(model)}")
    elif given:
        missing = [key for key in FACTOR_KEYS if key not in model.factors]
        lacking = f" (it has no {', '.join(missing)})" if missing else ""
        notes.append(f"A and B in the file were run; its {', '.join(given)} were not used{lacking}")
    if model.spread:
        notes.append(
            f"A is a mean over contexts, from which a letter's matrices lie up to {model.spread:.3g} in the spectral norm; the "
            "verdict is about the mean"
        )
    return tuple(notes)


def _distance_from(model: NpzModel) -> str:
    head = model.kernel_head()
    work = len(head.transitions) * max(head.householders or 0, 1) * head.dim**2
    if work > MOST_PRODUCTS:
        return f"A may differ from their products by up to {CLOSE:.2g} of its largest entry"
    apart, letter = max(
        ((factor_distance(head, x, A), x) for x, A in enumerate(model.A)), default=(Fraction(0), 0)
    )
    if not apart:
        return "A is exactly their products"
    return f"A differs from their products by up to {float(apart):.2g} an entry (letter {letter}), so the verdict is not about A"


def factor_distance(head: Head, letter: int, A: Floats) -> Fraction:
    """The largest distance of an entry of A from the exact product of a letter's gate and factors.

    Args:
        head: a head whose transitions are factors without masks, with rational numbers.
        letter: the number of the transition.
        A: float64 `[n, n]`.

    Returns:
        The distance, 0 where they are equal.
    """
    transition = head.transitions[letter]
    gate = _rational(transition.gate)
    product = [[gate if i == j else Fraction(0) for j in range(head.dim)] for i in range(head.dim)]
    for factor in transition.factors:
        vector = [(i, _rational(v)) for i, v in factor.vector]
        # C product = product - β v (vᵀ product)
        read = [sum((v * product[i][j] for i, v in vector), Fraction(0)) for j in range(head.dim)]
        beta = _rational(factor.beta)
        for i, v in vector:
            product[i] = [x - beta * v * y for x, y in zip(product[i], read, strict=True)]
    rows = zip(product, np.asarray(A).tolist(), strict=True)
    return max(
        (abs(x - Fraction(y)) for P, row in rows for x, y in zip(P, row, strict=True)), default=Fraction(0)
    )


def _rational(number: Any) -> Fraction:
    return Fraction(number)
