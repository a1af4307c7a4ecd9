"""Letters of a head: factors, β and its margin to 2, rank(A - I) on the states, and eigenvalues decided on the exact float values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...foundation._errors import LimitError
from ...theory.arithmetic._rounding import Floats
from ...theory.spectra._eigenvalues import Spectrum, eigenvalue_json, eigenvalue_report, eigenvalues_text
from ...theory.spectra._matrix import ExactMatrix, exact_matrix, from_flint
from ..learned._learned import Factors, LearnedHead


@dataclass(frozen=True)
class LetterFacts:
    """One letter of one head.

    Attributes:
        letter: its text.
        strengths: β‖k‖² of its factors, in the order applied.
        margin_to_2: least |2 - β‖k‖²| over them, None without factors.
        reflection_rank: the number of singular values of UᵀAU - I above the tolerance, that is rank(A - I) on the subspace U that
            carries the states. Without a subspace, on all dimensions.
        full_rank: the same number for A - I on all dimensions of the head, those that no state uses included; with n_h factors and
            no gate it is n_h at most, and as a rule n_h.
        moved: the singular values of UᵀAU - I, the largest first.
        spectrum: the spectrum of A or, if factors are known, of the n_h × n_h matrix whose eigenvalues are those of A except
            the gate; None beyond `max_dim`.
        others: the multiplicity of the gate as an eigenvalue of A in addition to `spectrum`, at least 0.
        gate: what multiplies the state before the factors; 1 without a gate.
    """

    letter: str
    strengths: tuple[float, ...]
    margin_to_2: float | None
    reflection_rank: int
    full_rank: int
    moved: tuple[float, ...]
    spectrum: Spectrum | None
    others: int
    gate: float

    @property
    def text(self) -> str:
        """The eigenvalues in one line."""
        if self.spectrum is None:
            return "not computed (dimension beyond `max_dim`)"
        more = f"; {self.gate:.6g} ×{self.others} more" if self.others else ""
        return eigenvalues_text(self.spectrum.eigenvalues, 6) + more

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON.

        Returns:
            The fields, with eigenvalues as intervals.
        """
        eigenvalues = None
        if self.spectrum is not None:
            eigenvalues = [eigenvalue_json(e) for e in self.spectrum.eigenvalues]
        return {
            "letter": self.letter,
            "beta_norm2": list(self.strengths),
            "margin_to_2": self.margin_to_2,
            "reflection_rank": self.reflection_rank,
            "full_rank": self.full_rank,
            "moved": list(self.moved),
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
    head: LearnedHead,
    letters: tuple[str, ...],
    rank_tolerance: float,
    max_dim: int,
    basis: Floats | None = None,
) -> tuple[LetterFacts, ...]:
    """The facts of all letters of a head.

    Args:
        head: the head.
        letters: the texts of its letters.
        rank_tolerance: the smallest singular value of UᵀAU - I that counts, above 0.
        max_dim: the largest dimension of a matrix whose eigenvalues are classified exactly.
        basis: U, orthonormal columns, `[n, r]`; None for all dimensions.

    Returns:
        The facts of each letter, in order.
    """
    facts = []
    for x, letter in enumerate(letters):
        strengths = () if head.factors is None else tuple(head.factors.strength[x].tolist())
        active = [s for s in strengths if s != 0]
        motion = head.A[x] - np.eye(head.dim)
        everywhere = np.linalg.svd(motion, compute_uv=False)
        moved = everywhere if basis is None else singular_values(basis.T @ motion @ basis)
        spectrum, others, gate = _spectrum(head, x, max_dim)
        facts.append(
            LetterFacts(
                letter,
                strengths,
                min((abs(2 - s) for s in active), default=None),
                int((moved > rank_tolerance).sum()),
                int((everywhere > rank_tolerance).sum()),
                tuple(moved.tolist()),
                spectrum,
                others,
                gate,
            )
        )
    return tuple(facts)


def singular_values(A: Floats) -> Floats:
    """The singular values of a matrix, the largest first; none of one without columns."""
    return np.linalg.svd(A, compute_uv=False).astype(np.float64) if A.size else np.zeros(0)


def _spectrum(head: LearnedHead, x: int, max_dim: int) -> tuple[Spectrum | None, int, float]:
    if head.exact is None and head.factors is not None and head.factors.beta.shape[1] < head.dim:
        gate = float(head.factors.gate[x])
        small = _compress(head.factors, x) if head.factors.beta[x].any() else exact_matrix([[gate]])
        return eigenvalue_report(small, max_dim=max_dim), head.dim - small.n, gate
    matrix: Any = head.A[x] if head.exact is None else head.exact[x]
    try:
        return eigenvalue_report(matrix, max_dim=max_dim), 0, 1.0
    except LimitError:
        return None, 0, 1.0


def _compress(factors: Factors, x: int) -> ExactMatrix:
    """gate·(I - W K), m × m, for A = gate·(I - K W), K the m keys as columns: eigenvalues of A beside the gate's.

    A v = gate·v where W v = 0, and for the others I - K W and I - W K agree.
    """
    from flint import fmpq_mat

    used = np.flatnonzero(factors.beta[x])
    size = len(used)
    keys = exact_matrix(factors.keys[x, used], square=False).flint()
    beta = exact_matrix(np.diag(factors.beta[x, used])).flint()
    eye = exact_matrix(np.eye(size)).flint()
    # W row j = β_j (k_jᵀ - Σ_{i<j} (k_jᵀ k_i) W row i), so that Π (I - β_j k_j k_jᵀ) = I - K W
    weighted = beta * (keys * keys.transpose())
    before = fmpq_mat(size, size, [weighted[j, i] if i < j else 0 for j in range(size) for i in range(size)])
    WK = (eye + before).solve(weighted)
    gate = exact_matrix([[factors.gate[x]]]).flint()[0, 0]
    return from_flint((eye - WK) * gate)


def numeric_eigenvalues(A: Floats) -> list[complex]:
    """Eigenvalues in float64, largest real part first; for pictures, not for decisions."""
    return sorted(np.linalg.eigvals(A).tolist(), key=lambda z: (-z.real, abs(z.imag), z.imag))
