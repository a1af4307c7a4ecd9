"""Letters of a head: factors, β and its margin to 2, rank(A - I), and eigenvalues decided on the exact float values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions.errors import LimitError
from ...theory.arithmetic.rounding import Floats
from ...theory.spectra.eigenvalues import Spectrum, eigenvalue_json, eigenvalue_report
from ...theory.spectra.texts import eigenvalues_text
from ..learned.learned import Factors, LearnedHead


@dataclass(frozen=True)
class LetterFacts:
    """One letter of one head.

    `strengths`: β‖k‖² of its factors. `margin_to_2`: least |2 - β‖k‖²| over them, None without factors.
    `reflection_rank`: singular values of A - I above the tolerance. `spectrum`: of A, or, where factors are known, of the
    n_h × n_h matrix whose eigenvalues are those of A but for the gate, which A has `others` times more;
    None beyond `max_dim`.
    """

    letter: str
    strengths: tuple[float, ...]
    margin_to_2: float | None
    reflection_rank: int
    spectrum: Spectrum | None
    others: int
    gate: float

    @property
    def text(self) -> str:
        """The eigenvalues in one line."""
        if self.spectrum is None:
            return "not computed (dimension beyond --max-dim)"
        more = f"; {self.gate:.6g} ×{self.others} more" if self.others else ""
        return eigenvalues_text(self.spectrum.eigenvalues, 6) + more

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        eigenvalues = None
        if self.spectrum is not None:
            eigenvalues = [eigenvalue_json(e) for e in self.spectrum.eigenvalues]
        return {
            "letter": self.letter,
            "beta_norm2": list(self.strengths),
            "margin_to_2": self.margin_to_2,
            "reflection_rank": self.reflection_rank,
            "eigenvalues": eigenvalues,
            "gate_eigenvalue": self.gate,
            "gate_more_times": self.others,
            "in_0_1": self.in_zero_one,
        }

    @property
    def in_zero_one(self) -> bool | None:
        """All eigenvalues are real and in [0, 1]; decided on the exact values of the floats; None where not."""
        if self.spectrum is None:
            return None
        inside = self.spectrum.in_zero_one
        return False if self.others and not 0 <= self.gate <= 1 else inside


def letter_facts(
    head: LearnedHead, letters: tuple[str, ...], rank_tolerance: float, max_dim: int
) -> tuple[LetterFacts, ...]:
    """Of all letters of a head."""
    facts = []
    for x, letter in enumerate(letters):
        strengths = () if head.factors is None else tuple(head.factors.strength[x].tolist())
        active = [s for s in strengths if s != 0]
        singular = np.linalg.svd(head.A[x] - np.eye(head.dim), compute_uv=False)
        spectrum, others, gate = _spectrum(head, x, max_dim)
        facts.append(
            LetterFacts(
                letter,
                strengths,
                min((abs(2 - s) for s in active), default=None),
                int((singular > rank_tolerance).sum()),
                spectrum,
                others,
                gate,
            )
        )
    return tuple(facts)


def _spectrum(head: LearnedHead, x: int, max_dim: int) -> tuple[Spectrum | None, int, float]:
    if head.exact is None and head.factors is not None and head.factors.beta.shape[1] < head.dim:
        gate = float(head.factors.gate[x])
        rows = _compressed(head.factors, x)
        if not rows:
            rows = [[Fraction(gate)]]
        others = head.dim - len(rows)
        return eigenvalue_report(rows, max_dim=max_dim), others, gate
    matrix: Any = head.A[x] if head.exact is None else head.exact[x]
    try:
        return eigenvalue_report(matrix, max_dim=max_dim), 0, 1.0
    except LimitError:
        return None, 0, 1.0


def _compressed(factors: Factors, x: int) -> list[list[Fraction]]:
    """gate·(I - W K), m × m, for A = gate·(I - K W), K the m keys as columns: eigenvalues of A beside the gate's.

    A v = gate·v where W v = 0, and for the others I - K W and I - W K agree.
    """
    used = [j for j in range(factors.beta.shape[1]) if factors.beta[x, j] != 0]
    keys = [[Fraction(v) for v in factors.keys[x, j].tolist()] for j in used]
    beta = [Fraction(float(factors.beta[x, j])) for j in used]
    gram = [[sum((a * b for a, b in zip(k, m, strict=True)), Fraction(0)) for m in keys] for k in keys]
    # W row j = β_j (k_jᵀ - Σ_{i<j} (k_jᵀ k_i) W row i), so that Π (I - β_j k_j k_jᵀ) = I - K W
    size = len(used)
    WK: list[list[Fraction]] = []
    for j in range(size):
        row = [
            beta[j] * (gram[j][c] - sum((gram[j][i] * WK[i][c] for i in range(j)), Fraction(0)))
            for c in range(size)
        ]
        WK.append(row)
    gate = Fraction(float(factors.gate[x]))
    return [[gate * (int(i == j) - WK[i][j]) for j in range(size)] for i in range(size)]


def numeric_eigenvalues(A: Floats) -> list[complex]:
    """In float64, largest real part first; for pictures, not for decisions."""
    return sorted(np.linalg.eigvals(A).tolist(), key=lambda z: (-z.real, abs(z.imag), z.imag))
