"""`Comparison`: what was found of a learned layer beside a constructed one, with every tolerance, and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...constructions.errors import InputError
from ..learned.learned import Learned, LearnedHead
from .causal import Causal
from .extraction import Extracted
from .failure import Failure
from .group import Representation
from .horizon import Horizon
from .procrustes import Alignment
from .snap import Snapped, SnappedHead
from .spectra import LetterFacts, numeric_eigenvalues
from .states import ClassGeometry, Trace


@dataclass(frozen=True)
class Tolerances:
    """Every number that decides something, and every limit; all are part of the result.

    `subspace`: singular values of the class means' differences, relative to the largest, that count. `rank`: singular
    values of A - I that count. `max_dim`: of matrices whose spectra are decided exactly; `max_group`: of the transition group;
    `max_degree`: of number fields; `max_steps`: letters of an orbit in search of a certificate; `max_states`, `max_queries`: of
    an automaton that is learned.
    """

    subspace: float = 0.05
    rank: float = 0.01
    max_dim: int = 64
    max_group: int = 1_000
    max_degree: int = 40
    max_steps: int = 20_000
    max_states: int = 200
    max_queries: int = 5_000

    def __post_init__(self) -> None:
        if not (0 < self.subspace < 1 and self.rank > 0):
            raise InputError(
                f"tolerances: subspace {self.subspace} is between 0 and 1, rank {self.rank} above 0"
            )

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return dict(self.__dict__)


@dataclass(frozen=True, eq=False)
class HeadComparison:
    """What is known of one learned head; parts are None where they do not apply.

    `neutral_errors`: for each letter that changes no state ‖(A_s - I) U‖₂. `alignment`: with the constructed head
    `beside` of the same dimension on its subspace that is nearest; `state_disparity`: of the class means.
    """

    head: LearnedHead
    facts: tuple[LetterFacts, ...]
    geometry: ClassGeometry
    neutral_errors: dict[str, float]
    representation: Representation | None = None
    beside: str | None = None
    alignment: Alignment | None = None
    state_disparity: float | None = None
    snapped: SnappedHead | None = None

    @property
    def carries_states(self) -> bool:
        """Its states fall into more than one group."""
        return self.geometry.told_apart > 1


@dataclass(frozen=True, eq=False)
class Comparison:
    """All that was found; `to_json` has the fields, `rows` and the tables of `comparison_text` the text."""

    learned: Learned
    constructed: Learned | None
    constructed_facts: tuple[tuple[LetterFacts, ...], ...]
    trace: Trace
    heads: tuple[HeadComparison, ...]
    snapped: Snapped
    horizon: Horizon
    causal: tuple[Causal, ...]
    failure: Failure
    extracted: tuple[Extracted, ...]
    tolerances: Tolerances
    notes: tuple[str, ...] = field(default=())

    @property
    def homomorphism_error(self) -> float | None:
        """The largest over the heads that carry states; None where that has no meaning."""
        return max(
            (h.representation.homomorphism_error for h in self.heads if h.representation is not None),
            default=None,
        )

    def to_json(self) -> dict[str, Any]:
        """One plain object."""
        target = self.learned.target
        return {
            "learned": self.learned.name,
            "automaton": target.automaton.name,
            "arithmetic": self.learned.arithmetic,
            "constructed": None if self.constructed is None else self.constructed.name,
            "homomorphism_error": self.homomorphism_error,
            "spectra": {
                "learned": {h.head.name: [f.to_json() for f in h.facts] for h in self.heads},
                "constructed": {} if self.constructed is None else {
                    head.name: [f.to_json() for f in facts]
                    for head, facts in zip(self.constructed.heads, self.constructed_facts, strict=True)
                },
            },
            "reflection_rank": {h.head.name: [f.reflection_rank for f in h.facts] for h in self.heads},
            "horizon": self.horizon.to_json(),
            "extracted_automaton": [e.to_json() for e in self.extracted],
            "accuracy": self.trace.accuracy,
            "accuracy_at": {str(t): _number(self.trace.right[t - 1]) for t in self.trace.lengths},
            "heads": [_head_json(h, self.trace.lengths) for h in self.heads],
            "snap": {
                "heads": [s.head.name for s in self.snapped.heads],
                "construction": None if self.snapped.lrnn is None else self.snapped.lrnn.construction,
                "reason": self.snapped.reason,
            },
            "causal": [c.to_json() for c in self.causal],
            "failure": {
                "all_eigenvalues_in_0_1": self.failure.in_zero_one,
                "certificate": self.failure.certificate,
                "text": self.failure.text,
            },
            "sampling": self.trace.sampling.as_json(),
            "tolerances": self.tolerances.as_json(),
            "notes": list(self.notes),
        }  # fmt: skip


def restricted(head: LearnedHead, geometry: ClassGeometry) -> Any:
    """UᵀA(x)U for every letter, `[letters, r, r]`."""
    U = geometry.basis
    return U.T @ head.A @ U


def _head_json(h: HeadComparison, lengths: tuple[int, ...]) -> dict[str, Any]:
    g = h.geometry
    factors = h.head.factors
    return {
        "head": h.head.name,
        "dim": h.head.dim,
        "context_spread": h.head.spread,
        "carries_states": h.carries_states,
        "states_told_apart": g.told_apart,
        "subspace_dim": g.rank,
        "singular_values": g.singular.tolist(),
        "transitions": h.head.A.tolist(),
        "beta": None if factors is None else factors.beta.tolist(),
        "keys": None if factors is None else factors.keys.tolist(),
        "eigenvalues_on_subspace": [
            [[z.real, z.imag] for z in numeric_eigenvalues(A)] for A in restricted(h.head, g)
        ]
        if g.rank
        else [],
        "neutral_errors": h.neutral_errors,
        "representation": None if h.representation is None else h.representation.to_json(),
        "alignment": None
        if h.alignment is None
        else {
            "constructed_head": h.beside,
            "residual": h.alignment.residual,
            "largest": h.alignment.largest,
            "rotation": h.alignment.rotation.tolist(),
            "state_disparity": h.state_disparity,
        },
        "classes": {
            "lengths": list(lengths),
            "spread": [_number(x) for x in g.spread],
            "margin": [_number(x) for x in g.margin],
            "ratio": [_number(x) for x in g.ratio],
        },
        "snapped": None if h.snapped is None else h.snapped.to_json(),
    }


def _number(x: Any) -> float | None:
    """A float that JSON has."""
    return float(x) if np.isfinite(x) else None
