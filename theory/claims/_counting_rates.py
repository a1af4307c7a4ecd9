"""own.R3 and own.R4 as rates: how often random recurrences with real eigenvalues in [0, 1] count because of rounding.

A verdict carries one of those found, replayed in rational numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions.automata._automaton import Indices
from .._verdict import Verdict
from ..arithmetic._arithmetic import PerOp
from ..arithmetic._rounding import Floats
from ..arithmetic._value_sets import value_set
from ..checker._arithmetic import Arithmetic
from ..impossibility._orbits import orbit
from ._counters import delta_periods, exact_model, projection

MAX_PERIOD = 12


@dataclass(frozen=True, eq=False)
class TwoFactors:
    """h ← nearest((I - β_2 P_2)(I - β_1 P_1) h + B) on the integers low..high, from 0, P the projection on a key.

    `keys` `[2, draws, 2]`, `beta` `[2, draws]`, `B` `[draws, 2]`; `periods`: 0 for none up to 12; `safe`: no sum came
    within 1e-9 of a tie.
    """

    low: int
    high: int
    keys: Floats
    beta: Floats
    B: Floats
    periods: Indices
    safe: Any

    def rates(self) -> dict[int, int]:
        """How many of those that are safe end in each period."""
        return {
            int(p): int(((self.periods == p) & self.safe).sum()) for p in np.unique(self.periods[self.safe])
        }

    def witness(self) -> dict[str, Any] | None:
        """The first that counts, its stored keys taken as directions, replayed in rationals; None if there is none."""
        found = np.flatnonzero((self.periods > 1) & self.safe)
        if not len(found):
            return None
        at = int(found[0])
        one = np.array([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]], dtype=object)
        first, second = (
            one - Fraction(float(beta[at])) * (one - projection([Fraction(x) for x in keys[at].tolist()]))
            for beta, keys in zip(self.beta, self.keys, strict=True)
        )
        B = [Fraction(x) for x in self.B[at].tolist()]
        model = exact_model(second @ first, B, (0, 0), f"per_step:int:{self.low}..{self.high}")
        replayed = orbit(model, [0])
        if replayed.period != self.periods[at]:
            raise AssertionError(
                f"draw {at}: period {replayed.period} in rationals, {self.periods[at]} in float64"
            )
        return {
            "draw": at, "directions": self.keys[:, at].tolist(), "beta": self.beta[:, at].tolist(), "B": B,
            "preperiod": replayed.preperiod, "period": replayed.period,
        }  # fmt: skip


def two_factors(low: int, high: int, draws: int, seed: int = 0, *, full: bool = True) -> TwoFactors:
    """Random systems: angles uniform, B uniform on the grid's range; β = 1, or if not `full` uniform in [0, 1]."""
    draw = np.random.default_rng(seed)
    angles = draw.uniform(0, np.pi, size=(2, draws))
    keys = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    beta = np.ones((2, draws)) if full else draw.uniform(0, 1, size=(2, draws))
    C = np.eye(2) - beta[..., None, None] * keys[..., :, None] * keys[..., None, :]
    A, B = C[1] @ C[0], draw.uniform(low, high, size=(draws, 2))
    h, safe = np.zeros((draws, 2)), np.ones(draws, dtype=bool)
    kept = h
    steps = 4 * (high - low + 1) ** 2
    periods = np.zeros(draws, dtype=np.int64)
    for t in range(steps + MAX_PERIOD):
        u = np.einsum("rij,rj->ri", A, h) + B
        safe &= (np.abs(u - np.floor(u) - 0.5) > 1e-9).all(axis=1)
        h = np.clip(np.rint(u), low, high)
        if t == steps - 1:
            kept = h
        elif t >= steps:
            periods[(periods == 0) & (h == kept).all(axis=1)] = t - steps + 1
    return TwoFactors(low, high, keys, beta, B, periods, safe)


@dataclass(frozen=True, eq=False)
class DeltaLayers:
    """DeltaNet, β = 1, H_0 = 0 in a `per_op`: `keys` `[instances, n]`, `values`, and `periods` (0: none up to 12)."""

    arithmetic: PerOp
    keys: Floats
    values: Floats
    periods: Indices

    def rates(self) -> dict[int, int]:
        """How many end in each period."""
        return {int(p): int((self.periods == p).sum()) for p in np.unique(self.periods)}

    def witness(self) -> dict[str, Any] | None:
        """The first that counts, replayed in rationals; None if there is none."""
        found = np.flatnonzero(self.periods > 1)
        if not len(found):
            return None
        at = int(found[0])
        key, value = [Fraction(x) for x in self.keys[at].tolist()], Fraction(float(self.values[at]))
        states = delta_orbit(self.arithmetic, key, value)
        last = states.index(states[-1])
        if len(states) - 1 - last != self.periods[at]:
            raise AssertionError(
                f"layer {at}: period {len(states) - 1 - last} in rationals, {self.periods[at]} before"
            )
        return {
            "layer": at, "key": key, "value": value, "norm_squared": sum(x * x for x in key),
            "preperiod": last, "period": len(states) - 1 - last, "cycle": states[last:],
        }  # fmt: skip


def delta_layers(
    format_name: str, n: int, instances: int, seed: int = 0, *, order: str = "left", steps: int = 400
) -> DeltaLayers:
    """Random DeltaNet[0,1] layers: β = 1, stored ‖k‖ in [.8, .999], random values; followed for `steps` steps."""
    arithmetic = PerOp(value_set(format_name), order)
    draw = np.random.default_rng(seed)
    keys: Floats = np.zeros((0, n))
    while len(keys) < instances:
        wanted = draw.normal(size=(2 * instances, n))
        wanted *= (draw.uniform(0.8, 0.999, size=len(wanted)) / np.linalg.norm(wanted, axis=1))[:, None]
        stored = arithmetic.round(wanted)
        sizes = np.linalg.norm(stored, axis=1)
        keys = np.concatenate([keys, stored[(sizes >= 0.8) & (sizes <= 0.999)]])
    keys = keys[:instances]
    values = arithmetic.round(draw.normal(size=instances) * 2.0 ** draw.integers(-2, 5, size=instances))
    return DeltaLayers(arithmetic, keys, values, delta_periods(arithmetic, keys, values, steps, MAX_PERIOD))


def delta_orbit(arithmetic: PerOp, key: list[Fraction], value: Fraction) -> list[list[Fraction]]:
    """The states from 0 up to and with the first repetition, each operation in rationals and rounded once."""
    rounded = Arithmetic(arithmetic.name)
    h = [Fraction(0)] * len(key)
    states: list[list[Fraction]] = []
    while h not in states:
        states.append(h)
        s = rounded.operations(
            [(i, k, x) for i, (k, x) in enumerate(zip(key, h, strict=True))], Fraction(0), len(key)
        )
        e = rounded.round(value - s)
        fused = arithmetic.order == "fma"
        h = [
            rounded.round(x + (k * e if fused else rounded.round(k * e))) for k, x in zip(key, h, strict=True)
        ]
    return [*states, h]


def rate_verdict(found: TwoFactors | DeltaLayers, seed: int) -> Verdict:
    """ "None of these layers counts", own.R3 or own.R4: refuted by one that does, with how many do; else unknown."""
    claim = "own.R3" if isinstance(found, TwoFactors) else "own.R4"
    instances = len(found.periods)
    evidence: dict[str, Any] = {
        "instances": instances,
        "seed": seed,
        "tight": instances,
        "periods": found.rates(),
    }
    name = (
        f"per_step:int:{found.low}..{found.high}" if isinstance(found, TwoFactors) else found.arithmetic.name
    )
    witness = found.witness()
    if witness is None:
        return Verdict(claim, "unknown", evidence, name)
    return Verdict(claim, "refuted", {**evidence, "witness": witness}, name)
