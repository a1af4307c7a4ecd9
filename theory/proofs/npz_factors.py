"""The factors of an `.npz` model, for the kernels: `beta`, `vector`, `factor_count` and `gate`, as `export npz` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions.errors import InputError
from ...constructions.householder import GHFactor
from ...constructions.lrnn import Head, Sparse, Transition
from ..arithmetic.rounding import Floats

FACTOR_KEYS = ("beta", "vector", "factor_count", "gate")
CLOSE = 2.0**-20
"""Largest distance of A from the product of its factors; farther apart they are taken for two different layers."""


def factor_head(arrays: Mapping[str, Any], A: Floats, B: Floats, H0: Floats, name: str) -> Head:
    """The head with the float64 numbers taken for what they are; its only code is H0.

    `InputError` where the factors are missing, have a wrong shape, or are not those of A.
    """
    missing = [key for key in FACTOR_KEYS if key not in arrays]
    if missing:
        raise InputError(
            f"{name}: no array {', '.join(missing)}: a kernel runs factors I - β v vᵀ, `export npz` writes them"
        )
    if "mask" in arrays:
        raise InputError(f"{name}: factors with a mask are not what the kernel runs: use per_step or per_op")
    letters, n = A.shape[:2]
    beta, vector, count, gate = (np.asarray(arrays[key]) for key in FACTOR_KEYS)
    most = beta.shape[1] if beta.ndim == 2 else 0
    wanted = {
        "beta": (letters, most),
        "vector": (letters, most, n),
        "factor_count": (letters,),
        "gate": (letters,),
    }
    for key, array in zip(FACTOR_KEYS, (beta, vector, count, gate), strict=True):
        kinds = "iu" if key == "factor_count" else "iuf"
        if array.shape != wanted[key] or array.dtype.kind not in kinds or not np.isfinite(array).all():
            what = "whole" if key == "factor_count" else "finite"
            raise InputError(f"{name}: {key} must be {list(wanted[key])} {what} numbers")
    if count.size and not 0 <= count.min() <= count.max() <= most:
        raise InputError(f"{name}: factor_count must lie in 0 to {most}, the second size of beta")
    transitions = []
    for x in range(letters):
        product = float(gate[x]) * np.eye(n)
        for j in range(int(count[x])):
            product = product - beta[x, j] * np.outer(vector[x, j], vector[x, j] @ product)
        if not np.abs(product - A[x]).max() <= CLOSE * max(1.0, np.abs(A[x]).max()):
            raise InputError(f"{name}: the factors of letter {x} do not multiply to A[{x}]")
        factors = tuple(
            GHFactor(Fraction(float(beta[x, j])), _entries(vector[x, j])) for j in range(int(count[x]))
        )
        transitions.append(Transition(factors, Fraction(float(gate[x])), _sparse(B[x])))
    codes = (_sparse(H0),)
    return Head(n, H0.shape[1], tuple(transitions), codes, np.zeros((letters, 1), dtype=np.int64))


def _entries(vector: Floats) -> tuple[tuple[int, Fraction], ...]:
    return tuple((i, Fraction(v)) for i, v in enumerate(vector.tolist()) if v)


def _sparse(matrix: Floats) -> Sparse:
    return tuple((i, j, Fraction(v)) for i, row in enumerate(matrix.tolist()) for j, v in enumerate(row) if v)
