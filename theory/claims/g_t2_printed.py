"""G.T2.printed: in hardware arithmetic real eigenvalues can count modulo 3."""

from __future__ import annotations

from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness
from ._counters import counts, delta_operations, plain_witness, two_projections

CLAIM = Claim(
    "G.T2.printed",
    "G.T2 with finite precision read as the arithmetic of hardware",
    "refuted",
    uses=("G.T2",),
    arithmetic="per_step, per_op",
    repair="It holds in model cast, where products of transitions are exact and a state is rounded once; in model "
    "per_step one layer with symmetric transitions has periods 1 and 2 only (PT.R2).",
)


def verify(effort: Effort = QUICK) -> Verdict:
    """Finite precision, read as what hardware computes: rounding at each step, or at each operation.

    Statement: L layers in finite precision recognise (1^m)*, m not a power of two, only if for some i a product of 2^(i-1)
        matrices of layer i has a non-real eigenvalue.
    Direction: necessary
    Hypotheses: One layer; the recurrence h ← Q(A h + B) rounded once a step, or the delta rule with each multiplication
        and addition rounded.
    Arithmetic: per_step on the integers -1, 0, 1, per_op in bf16
    Source: G, Theorem 2
    Method: Two layers are written down in exact numbers: two projections on three integers, and one DeltaNet key of three
        entries in bf16. From what is written the eigenvalues are enclosed exactly, real and not negative, and the states
        on 1^k are replayed until they repeat, with period 3.
    Example:
        >>> print(verify().line())
        refuted: computed 2 layers of period 3, claimed periods 1 and 2
    """
    written = [plain_witness(w) for w in (two_projections(3), delta_operations(3))]
    return refute_by_witness(
        CLAIM,
        written,
        lambda witness: all(counts(w, 3) for w in witness),
        computed=f"{len(written)} layers of period 3",
        claimed="periods 1 and 2",
        arithmetic=", ".join(w["arithmetic"] for w in written),
    )
