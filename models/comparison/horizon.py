"""At which length a learned head must, or need not yet, fail: by β, by rounding, by drift, by the classes' spread."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from ...constructions.lrnn import LRNN
from ...theory.accepted import accepted_horizons
from ...theory.beta_horizon import beta_horizons
from .snap import SnappedHead, in_use
from .states import ClassGeometry, Sampling


@dataclass(frozen=True)
class Horizon:
    """Lengths; None where nothing limits it, or it does not apply (then `notes` says why).

    `beta`: up to it the exact construction, with its every β‖v‖² = 2 replaced by the least that was learned (`least_beta`),
    is provably read rightly, in exact numbers. `rounding`: the same with the exact β but weights and states rounded
    to `dtype`. `drift`: up to it errors of the learned letters, at most the snap's distance each, provably add up to less
    than the margin, if no letter expands. `spread`: where the classes' spread meets
    the margin, growing as it did up to `fit` letters if it has not met it by then: a prediction, not a bound. `observed`: the first wrong answer, None where all were right up to `length`.
    """

    dtype: str
    beta: int | None
    least_beta: float | None
    rounding: int | None
    drift: int | None
    spread: int | None
    observed: int | None
    length: int
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "notes": list(self.notes)}


def horizon_of(
    lrnn: LRNN | None,
    reason: str,
    snapped: tuple[SnappedHead, ...],
    geometries: tuple[ClassGeometry, ...],
    lengths: tuple[int, ...],
    sampling: Sampling,
    observed: int | None,
    dtype: str,
) -> Horizon:
    """Of the heads that are needed together: the least over them. `lrnn`: their exact linear RNN, None with the `reason`."""
    notes: list[str] = []
    beta = rounding = least = None
    if lrnn is None:
        notes.append(f"no exact linear RNN to bound: {reason}")
    else:
        least = min((b for s in snapped if (b := _least_beta(s)) is not None), default=None)
        if least is None:
            notes.append("no factors are known, so there is no β")
        elif least < 2:
            beta = beta_horizons(lrnn, Fraction(least))["exact"]
        certified = accepted_horizons(lrnn)
        rounding = None if certified is None else certified[dtype]
    drifts = [d for s in snapped if (d := _drift(s)) is not None]
    grown = [g for geometry in geometries if (g := _growth(geometry, lengths, sampling.fit)) is not None]
    return Horizon(
        dtype,
        beta,
        least,
        rounding,
        min(drifts, default=None),
        min(grown, default=None),
        observed,
        sampling.length,
        tuple(notes),
    )


def _least_beta(snapped: SnappedHead) -> float | None:
    """The least β‖k‖² among the factors in use."""
    factors = snapped.head.factors
    if factors is None:
        return None
    used = factors.strength[in_use(snapped.head, snapped.basis)]
    return float(used.min()) if used.size else None


def _drift(snapped: SnappedHead) -> int | None:
    """t · δ · R < m: R the largest norm of a code, m half the least distance of two different ones."""
    codes = snapped.codes.reshape(len(snapped.codes), -1)
    distances = np.linalg.norm(codes[:, None] - codes[None], axis=2)
    apart = distances[distances > 1e-6 * distances.max(initial=0.0)]
    step = snapped.transitions_moved * np.linalg.norm(codes, axis=1).max(initial=0.0)
    if step == 0 or not apart.size:
        return None
    steps: int = ceil(float(apart.min()) / 2 / float(step)) - 1
    return steps


def _growth(geometry: ClassGeometry, lengths: tuple[int, ...], fit: int) -> int | None:
    """Where spread/margin reaches 1: seen within the first `fit` lengths, else by c·t^p fitted to their second half."""
    t = np.array(lengths, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = geometry.spread / geometry.margin
    met = np.flatnonzero((t <= fit) & (quotient >= 1))
    if met.size:
        return int(lengths[met[0]])
    here = (t <= fit) & (t >= fit / 2) & np.isfinite(quotient) & (quotient > 0)
    if here.sum() < 2:
        return None
    slope, offset = np.polyfit(np.log(t[here]), np.log(quotient[here]), 1)
    if slope <= 0:
        return None
    meeting = -offset / slope
    return max(1, round(float(np.exp(meeting)))) if meeting < 40 else None
