"""Small recurrences that count only because numbers are rounded: the witnesses, each in its own arithmetic.

Their eigenvalues are real and not negative, or the hypothesis fails by a hair; in exact numbers none of them counts.
They are the reason why a verdict names its arithmetic: PT.R1 (a key that is too long), own.R3 and own.R4.

`projections` searches integer grids for the small counters of two factors, `delta_keys` a small format for all
counters of one factor. How often random recurrences count is measured in `_counting_rates.py`. A witness is also
written as plain values, and replayed from what is written alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import gcd
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...constructions.automata._automaton import Indices
from .._verdict import Verdict, plain
from ..arithmetic._arithmetic import PerOp, PerStep, parse_arithmetic
from ..arithmetic._rounding import Floats
from ..arithmetic._value_sets import all_values, value_set
from ..impossibility._orbits import AffineHead, AffineModel, Orbit, orbit
from ..running._stepper import Stepper
from ..spectra._eigenvalues import Spectrum, eigenvalue_report

Point: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class Witness:
    """A recurrence on the powers of one letter, its first states, and the period that they finally have.

    Attributes:
        claim: the ID of the claim that it refutes or limits.
        arithmetic: the arithmetic's name.
        stepper: the recurrence.
        states: the states after 1^k for k = 0, 1, ...
        period: the period of the states from the last listed one on.
        facts: what is special about the recurrence; tests check each of these facts.
    """

    claim: str
    arithmetic: str
    stepper: Stepper
    states: tuple[Point, ...]
    period: int
    facts: str

    def replay(self) -> Orbit:
        """Compute the orbit and compare it with the listed states; `AssertionError` if they differ."""
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
        """The verdict that the replayed witness refutes the claim if it is read in this arithmetic."""
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
    """All witnesses against claims in arithmetic with rounding."""
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


@dataclass(frozen=True)
class TwoProjections:
    """h ← nearest(P_second P_first h + B) on the integers low..high, without ties, from 0: ends in a cycle of `period`."""

    low: int
    high: int
    first: tuple[int, int]
    second: tuple[int, int]
    B: tuple[Fraction, Fraction]
    period: int

    @property
    def size(self) -> tuple[int, int, int]:
        """Number of grid values, largest entry of a direction, sum of the denominators of B: less is smaller."""
        entries = max(abs(x) for x in (*self.first, *self.second))
        return self.high - self.low + 1, entries, sum(b.denominator for b in self.B)


def projections(
    low: int, high: int, *, max_entry: int = 3, max_denominator: int = 7, period: int = 2
) -> tuple[list[TwoProjections], int]:
    """All such counters of a period within the bounds, smallest first, and how many systems were run.

    Directions: primitive, up to sign, entries up to `max_entry`. B: all fractions in [-2, 2] with a denominator up to
    `max_denominator`, the same for both entries of one system. Exact in integers. Systems that meet a tie are left out.
    """
    entries = range(-max_entry, max_entry + 1)
    directions = [(a, b) for a in entries for b in entries if gcd(a, b) == 1 and (a > 0 or (a, b) == (0, 1))]
    found: dict[tuple[Any, ...], TwoProjections] = {}
    systems = 0
    for v, w, d in product(directions, directions, range(1, max_denominator + 1)):
        numerators = np.array(list(product(range(-2 * d, 2 * d + 1), repeat=2)))
        scale = (v[0] ** 2 + v[1] ** 2) * (w[0] ** 2 + w[1] ** 2)
        A: NDArray[np.int64] = _off(w) @ _off(v) * d
        systems += len(numerators)
        periods, ties = _integer_cycles(A, numerators * scale, scale * d, low, high)
        for at in np.flatnonzero((periods == period) & ~ties):
            B = tuple(Fraction(int(x), d) for x in numerators[at])
            key = (v, w, B)
            found[key] = TwoProjections(low, high, v, w, (B[0], B[1]), period)
    return sorted(found.values(), key=lambda c: (c.size, c.first, c.second, c.B)), systems


@dataclass(frozen=True)
class DeltaCounter:
    """DeltaNet, β = 1, ‖key‖² ≤ 1, H_0 = 0: in the arithmetic it ends in a cycle of `period`."""

    arithmetic: str
    key: tuple[float, ...]
    value: float
    period: int


def delta_keys(
    format_name: str, n: int, *, order: str = "left", steps: int = 64, max_period: int = 12
) -> tuple[list[DeltaCounter], int]:
    """All counters of a small format, by ascending size of key and value, and how many systems were run.

    Signs: rounding to nearest even is symmetric, so keys with entries > 0 and values > 0 are all up to symmetry.
    """
    target = value_set(format_name)
    arithmetic = PerOp(target, order)
    values = all_values(target)
    positive = values[values > 0]
    keys = np.array([k for k in product(positive[positive <= 1], repeat=n) if sum(x * x for x in k) <= 1])
    found = []
    for v in positive:
        periods = delta_periods(arithmetic, keys, np.full(len(keys), v), steps, max_period)
        found += [
            DeltaCounter(arithmetic.name, tuple(keys[at].tolist()), float(v), int(periods[at]))
            for at in np.flatnonzero(periods > 1)
        ]
    return sorted(found, key=lambda c: (c.period, _bits(c.key), _bits((c.value,)), c.value, c.key)), len(
        keys
    ) * len(positive)


def delta_periods(arithmetic: PerOp, keys: Floats, values: Floats, steps: int, max_period: int) -> Indices:
    """Periods on 1^k from H_0 = 0 with β = 1 after `steps` steps: 1 to `max_period`, 0 if none of these; keys `[r, n]`."""
    one = np.ones(len(keys))
    h = np.zeros((*keys.shape, 1))
    for _ in range(steps):
        h = arithmetic.delta_rule(h, keys, one, values[:, None])
    kept, periods = h, np.zeros(len(keys), dtype=np.int64)
    for period in range(1, max_period + 1):
        h = arithmetic.delta_rule(h, keys, one, values[:, None])
        periods[(periods == 0) & (h == kept).all(axis=(1, 2))] = period
    return periods


def _off(v: tuple[int, int]) -> NDArray[np.int64]:
    """‖v‖² times the projection that erases v."""
    return np.array([[v[1] * v[1], -v[0] * v[1]], [-v[0] * v[1], v[0] * v[0]]], dtype=np.int64)


def _integer_cycles(
    A: NDArray[np.int64], B: NDArray[np.int64], scale: int, low: int, high: int
) -> tuple[Indices, NDArray[np.bool_]]:
    """Periods of h ← nearest((A h + B) / scale) from 0 for many B `[r, 2]`, and which meet a tie."""
    h = np.zeros_like(B)
    ties = np.zeros(len(B), dtype=bool)
    steps = (high - low + 1) ** 2
    periods, kept = np.zeros(len(B), dtype=np.int64), h
    for t in range(2 * steps):
        doubled = 2 * (h @ A.T + B)
        ties |= (doubled % (2 * scale) == scale).any(axis=1)
        h = np.clip((doubled + scale) // (2 * scale), low, high)
        if t == steps - 1:
            kept = h
        elif t >= steps:
            periods[(periods == 0) & (h == kept).all(axis=1)] = t - steps + 1
    return periods, ties


def _bits(numbers: tuple[float, ...]) -> int:
    """Significant bits of all numbers together."""
    numerators = [abs(Fraction(x).numerator) for x in numbers]
    return sum((x >> ((x & -x).bit_length() - 1)).bit_length() for x in numerators if x)


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


def read_witness(written: Mapping[str, Any]) -> Witness:
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
    witness = read_witness(written)
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
