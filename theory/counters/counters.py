"""Small recurrences that count only because numbers are rounded: the witnesses, each in its own arithmetic.

Their eigenvalues are real and not negative, or the hypothesis fails by a hair; in exact numbers none of them counts. Why
a verdict names its arithmetic: PT.R1 (a key that is too long), own.R3, own.R4, and section 2 of the theory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ...constructions.automaton import Indices
from ..arithmetic.arithmetic import PerOp, PerStep
from ..arithmetic.names import parse_arithmetic
from ..impossibility.orbits import AffineHead, AffineModel, Orbit, orbit
from ..running.stepper import Stepper
from ..verifying.verdict import Verdict

Point: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class Witness:
    """A recurrence of one letter, the states on 1^k as far as they are listed, and the period at their end.

    `claim`: what it refutes or limits. `facts`: what is special about it, each checked where it is tested.
    """

    claim: str
    arithmetic: str
    stepper: Stepper
    states: tuple[Point, ...]
    period: int
    facts: str

    def replay(self) -> Orbit:
        """The orbit, after the listed states were met one by one; `AssertionError` where they are not."""
        states = self.stepper.initial(1)
        for expected in self.states:
            got = tuple(Fraction(x) for x in np.asarray(states[0][0, :, 0]).tolist())
            if got != expected:
                raise AssertionError(f"{self.claim}: {got} in place of {expected}")
            states = self.stepper.step(states, np.zeros(1, dtype=np.int64))
        found = orbit(self.stepper, [0])
        if found.period != self.period:
            raise AssertionError(f"{self.claim}: period {found.period}, not {self.period}")
        return found

    def verdict(self) -> Verdict:
        """The claim read in this arithmetic is refuted by the replayed witness."""
        found = self.replay()
        witness = {"states": [[str(x) for x in p] for p in self.states], "period": found.period}
        return Verdict(
            self.claim,
            "refuted",
            {"witness": {**witness, "preperiod": found.preperiod}, "facts": self.facts},
            self.arithmetic,
        )


class DeltaStepper:
    """One DeltaNet letter, every operation rounded: s = kᵀh, e = β(v - s), h ← h + k e; states `[[sequences, n, 1]]`."""

    def __init__(
        self,
        key: Sequence[Fraction | float],
        beta: float,
        value: float,
        start: Sequence[float],
        arithmetic: PerOp,
    ) -> None:
        self.arithmetic, self.beta = arithmetic, np.array([float(beta)])
        self.key, self.value = np.array([[float(x) for x in key]]), np.array([[float(value)]])
        self.start = np.array([[[float(x)] for x in start]])

    def initial(self, sequences: int) -> list[Any]:
        """H_0."""
        return [np.repeat(self.start, sequences, axis=0)]

    def step(self, states: Sequence[Any], letters: Indices) -> list[Any]:
        """One token."""
        return [self.arithmetic.delta_rule(states[0], self.key, self.beta, self.value)]

    def decode(self, states: Sequence[Any], letters: Indices) -> Indices:
        """-1: there is no read-out."""
        return np.full(len(letters), -1, dtype=np.int64)


def projection(direction: Sequence[int | Fraction]) -> Any:
    """I - v vᵀ / ‖v‖², exact, for a rational direction v."""
    v = np.array([Fraction(x) for x in direction], dtype=object)
    return np.array([[Fraction(int(i == j)) for j in range(len(v))] for i in range(len(v))], dtype=object) - (
        np.outer(v, v) / sum(v * v)
    )


def exact_model(A: Any, B: Any, start: Sequence[int], arithmetic: str) -> AffineModel:
    """One letter h ← Q(A h + B), A and B exact."""
    column = np.array([[Fraction(b)] for b in B], dtype=object)
    first = np.array([[float(x)] for x in start])
    return AffineModel([AffineHead(np.array([A], dtype=object), column[None], first)], arithmetic)


def long_key() -> Witness:
    """PT.R1's limit: β = 1 and ‖k‖² = 1 + 1.5e-4 in fp16, per step; I - k kᵀ has the eigenvalue -1.5e-4."""
    k = [Fraction(1987, 8192), Fraction(1987, 2048)]
    A = [[Fraction(int(i == j)) - k[i] * k[j] for j in range(2)] for i in range(2)]
    start = (1032, 6996)
    states = _points((1032, 6996), (1033, 7000), (1032, 6996))
    model = exact_model(np.array(A, dtype=object), [x * 7040 for x in k], start, "per_step:fp16")
    return Witness(
        "PT.R1 with a key that is too long", "per_step:fp16", model, states, 2, "‖k‖² = 1 + 1.5e-4"
    )


def two_projections(period: int) -> Witness:
    """own.R3: two β = 1 factors (the first applied first), nearest integer, without ties; period 2 or 3."""
    if period == 2:
        first, second, B, grid = (1, -1), (2, 1), ("2/3", "2"), "int:0..1"
        states = _points((0, 0), (1, 1), (0, 1), (1, 1))
    else:
        first, second, B, grid = (2, 3), (2, -1), ("-4/7", "3/7"), "int:-1..1"
        states = _points((0, 0), (-1, 0), (-1, 1), (0, 1), (-1, 0))
    A = projection(second) @ projection(first)
    name = f"per_step:{grid}"
    return Witness(
        f"{'G.T1' if period == 2 else 'G.T2'} read per step", name, exact_model(A, B, (0, 0), name), states, period,
        "two projections: real eigenvalues in [0, 1]",
    )  # fmt: skip


def delta_operations(period: int) -> Witness:
    """own.R4: DeltaNet with β = 1 and ‖k‖² < 1 in bf16, every operation rounded to nearest even; period 2 or 3."""
    name = "per_op:bf16"
    arithmetic = parse_arithmetic(name)
    if not isinstance(arithmetic, PerOp):
        raise AssertionError(name)
    if period == 2:
        key, value = ["97/128", "83/128"], -16
        states = _points((0, 0), ("-12.125", "-10.375"), ("-12.25", "-10.4375"), ("-12.125", "-10.375"))
    else:
        key, value, states = ["-201/512", "51/64", "233/512"], -28, _points((0, 0, 0))
    numbers = [Fraction(x) for x in key]
    stepper = DeltaStepper(numbers, 1, value, [0] * len(key), arithmetic)
    size = sum(x * x for x in numbers)
    claim = f"{'G.T1' if period == 2 else 'G.T2'} read per operation"
    return Witness(claim, name, stepper, states, period, f"one factor, β = 1, ‖k‖² = {float(size):.4f}")


def integer_rounding() -> Witness:
    """Section 2: eigenvalues ≈ .369, .027 and norm ≈ .505, integers -4..4, ties to the smaller: (11)*."""
    A = [[Fraction("0.4334"), Fraction("0.2317")], [Fraction("-0.1122"), Fraction("-0.0369")]]
    name = "per_step:int:-4..4:tie_low"
    model = exact_model(np.array(A, dtype=object), [Fraction("0.8716"), Fraction("0.7520")], (0, 0), name)
    states = _points((0, 0), (1, 1), (2, 1), (2, 0), (2, 1), (2, 0))
    return Witness("G.T1 read per step", name, model, states, 2, "eigenvalues .369 and .027, norm .505")


def witnesses() -> tuple[Witness, ...]:
    """All of them."""
    return (
        integer_rounding(),
        long_key(),
        two_projections(2),
        two_projections(3),
        delta_operations(2),
        delta_operations(3),
    )


def ripple_period(layers: int) -> int:
    """own.T2tight: the period on 1^k of so many scalar ±1 layers, layer i turning where all lower ones carry; 2^layers.

    Exact: signs are followed as they are, each layer's letter read off from the lower layers' new and old signs.
    """
    signs, seen = [1] * layers, {}
    k = 0
    while tuple(signs) not in seen:
        seen[tuple(signs)] = k
        carry = True
        for i in range(layers):
            after = -signs[i] if carry else signs[i]
            carry = carry and after == 1  # it carries where it came back to +1
            signs[i] = after
        k += 1
    return k - seen[tuple(signs)]


def rounding_of(arithmetic: str) -> PerStep:
    """A parsed `per_step`."""
    model = parse_arithmetic(arithmetic)
    if not isinstance(model, PerStep):
        raise TypeError(f"{arithmetic} is not per_step")
    return model


def _points(*rows: Sequence[Any]) -> tuple[Point, ...]:
    return tuple(tuple(Fraction(x) for x in row) for row in rows)
