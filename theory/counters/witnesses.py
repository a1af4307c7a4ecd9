"""Recurrences that count by rounding, as plain values: written down, and replayed from what is written alone."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ..arithmetic.arithmetic import PerOp
from ..arithmetic.names import parse_arithmetic
from ..impossibility.orbits import AffineModel
from ..spectra.eigenvalues import Spectrum, eigenvalue_report
from ..verifying.verdict import plain
from .counters import DeltaStepper, Witness, exact_model


def plain_witness(witness: Witness) -> dict[str, Any]:
    """Numbers as text: the weights, the arithmetic, the period, and the states as far as they are listed."""
    stepper = witness.stepper
    if isinstance(stepper, AffineModel):
        head = stepper.heads[0]
        weights = {
            "A": head.A[0],
            "B": head.B[0, :, 0],
            "start": [Fraction(x) for x in head.start[:, 0].tolist()],
        }
    elif isinstance(stepper, DeltaStepper):
        weights = {
            "key": [Fraction(x) for x in stepper.key[0].tolist()],
            "beta": Fraction(float(stepper.beta[0])),
            "value": Fraction(float(stepper.value[0, 0])),
            "start": [Fraction(x) for x in stepper.start[0, :, 0].tolist()],
        }
    else:
        raise TypeError(type(stepper).__name__)
    found: dict[str, Any] = plain(
        {
            "arithmetic": witness.arithmetic,
            "weights": {
                name: np.vectorize(str)(np.array(value, dtype=object)) for name, value in weights.items()
            },
            "states": [[str(x) for x in point] for point in witness.states],
            "period": witness.period,
            "facts": witness.facts,
        }
    )
    return found


def written_witness(written: Mapping[str, Any]) -> Witness:
    """The recurrence that `plain_witness` wrote."""
    weights = written["weights"]
    numbers = {
        name: np.vectorize(Fraction, otypes=[object])(np.array(value)) for name, value in weights.items()
    }
    states = tuple(tuple(Fraction(x) for x in point) for point in written["states"])
    name = written["arithmetic"]
    if "key" in weights:
        arithmetic = parse_arithmetic(name)
        if not isinstance(arithmetic, PerOp):
            raise TypeError(f"{name} is not per_op")
        stepper: Any = DeltaStepper(
            numbers["key"].tolist(),
            float(numbers["beta"]),
            float(numbers["value"]),
            numbers["start"].tolist(),
            arithmetic,
        )
    else:
        stepper = exact_model(numbers["A"], numbers["B"].tolist(), [int(x) for x in numbers["start"]], name)
    return Witness("replayed", name, stepper, states, int(written["period"]), str(written["facts"]))


def counts(written: Mapping[str, Any], period: int) -> bool:
    """Replayed: are all eigenvalues real and not negative, and is the limit cycle of this period?"""
    witness = written_witness(written)
    spectrum = transition_spectrum(witness)
    return bool(spectrum.is_real) and spectrum.has_negative is False and witness.replay().period == period


def transition_spectrum(witness: Witness) -> Spectrum:
    """The eigenvalues of A, or of I - β k kᵀ, in exact numbers."""
    stepper = witness.stepper
    if isinstance(stepper, AffineModel):
        return eigenvalue_report(stepper.heads[0].A[0])
    if not isinstance(stepper, DeltaStepper):
        raise TypeError(type(stepper).__name__)
    key = [Fraction(x) for x in stepper.key[0].tolist()]
    beta = Fraction(float(stepper.beta[0]))
    n = len(key)
    return eigenvalue_report([[int(i == j) - beta * key[i] * key[j] for j in range(n)] for i in range(n)])
