"""own.R4: one DeltaNet factor with eigenvalues in [0, 1] counts where each operation is rounded."""

from __future__ import annotations

from .._verdict import Verdict
from ..impossibility._orbits import diagonal_channels
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import decide_values
from ._counters import counts, delta_keys, delta_operations, plain_witness, transition_spectrum
from ._counting_rates import delta_layers
from ._parts import further

CLAIM = Claim(
    "own.R4",
    "One factor with eigenvalues in [0, 1] counts where each operation is rounded",
    "proved",
    uses=("PT.R1",),
    arithmetic="per_op",
    formal=(
        "FloatCounters.one_factor_counts_two",
        "FloatCounters.one_factor_counts_three",
        "FloatCounters.one_factor_counts_two_fp32",
        "FloatCounters.one_factor_counts_three_fp32",
    ),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """A DeltaNet layer with β = 1 and ‖k‖ < 1, each operation rounded to nearest even in bf16, does parity.

    Statement: Let s = kᵀh, e = v - s, h_i ← h_i + k_i e with each multiplication and addition rounded to bf16. There are k
        with ‖k‖ < 1 and v such that from h = 0 the limit cycle has two states, and such that it has three.
    Direction: tight, for PT.R1: rounding once a step is essential
    Hypotheses: Constant input, β = 1, H_0 = 0; the dot product from left to right.
    Arithmetic: per_op in bf16
    Source: own
    Method: Both layers are written down in exact numbers and replayed from what is written; the eigenvalues of I - kkᵀ are
        enclosed exactly. In dimension 1 no channel with a ≥ 0 turns, over all of a small format; in six bits the smallest
        key that counts has dimension 2. How many random fp32 layers count is counted.
    Example:
        >>> print(verify().line())
        proved: 2, 3, as claimed
    """
    written = [plain_witness(delta_operations(period)) for period in (2, 3)]
    layers = effort.pick(1_000, 20_000)
    found = delta_layers("fp32", 3, layers, effort.seed).rates()
    share = sum(number for period, number in found.items() if period > 1) / layers
    verdict = decide_values(
        CLAIM,
        computed=[w["period"] for w in written if counts(w, w["period"])],
        claimed=[2, 3],
        evidence={"layers": written, "random_fp32_layers_by_period": found, "share_that_counts": share},
        arithmetic="per_op:bf16",
    )
    formats = effort.pick(("fp4_e2m1", "int:-4..4"), ("fp4_e2m1", "fp6_e2m3", "fixed:5:2"))
    return further(
        verdict,
        {
            "eigenvalues in [0, 1]": (
                [transition_spectrum(delta_operations(p)).in_zero_one for p in (2, 3)],
                [True, True],
            ),
            "channels of dimension 1 that turn": (
                [diagonal_channels(f)[1] for f in formats],
                [0] * len(formats),
            ),
            "random fp32 layers of dimension 1 by period": (
                delta_layers("fp32", 1, layers, effort.seed).rates(),
                {1: layers},
            ),
            "keys of one entry in six bits that count": (len(delta_keys("fp6_e2m3", 1)[0]), 0),
            "smallest key of two entries in six bits": (delta_keys("fp6_e2m3", 2)[0][0].key, (0.5, 0.75)),
            "10 to 25 per cent of random fp32 layers count": (0.1 < share < 0.25, True),
        },
    )
