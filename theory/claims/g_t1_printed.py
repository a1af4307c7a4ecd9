"""G.T1.printed: in hardware arithmetic non-negative eigenvalues can do parity."""

from __future__ import annotations

from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness
from ._counters import counts, delta_operations, integer_rounding, plain_witness, two_projections

CLAIM = Claim(
    "G.T1.printed",
    "G.T1 with finite precision read as the arithmetic of hardware",
    "refuted",
    uses=("G.T1",),
    arithmetic="per_step, per_op",
    repair="It holds in model cast, where products of transitions are exact and a state is rounded once; in model "
    "per_step it holds for symmetric transitions (PT.R1).",
)


def verify(effort: Effort = QUICK) -> Verdict:
    """Finite precision, read as what hardware computes: rounding at each step, or at each operation.

    Statement: A linear RNN in finite precision recognises (11)* only if in some layer some A(x) has an eigenvalue that is
        not a real number ≥ 0.
    Direction: necessary
    Hypotheses: One layer; the recurrence h ← Q(A h + B) rounded once a step, or the delta rule with each multiplication
        and addition rounded.
    Arithmetic: per_step on integers and on one bit, per_op in bf16
    Source: G, Theorem 1
    Method: Three layers are written down in exact numbers: one with eigenvalues .369 and .027 on integers, two projections
        on one bit, one DeltaNet key in bf16. From what is written the eigenvalues are enclosed exactly, real and not
        negative, and the states on 1^k are replayed until they repeat, with period 2.
    Example:
        >>> print(verify().line())
        refuted: computed 3 layers of period 2, claimed period 1
    """
    written = [plain_witness(w) for w in (integer_rounding(), two_projections(2), delta_operations(2))]
    return refute_by_witness(
        CLAIM,
        written,
        lambda witness: all(counts(w, 2) for w in witness),
        computed=f"{len(written)} layers of period 2",
        claimed="period 1",
        arithmetic=", ".join(w["arithmetic"] for w in written),
    )
