"""own.R3: two projections rounded once a step count modulo 2 and 3, though their eigenvalues are in [0, 1]."""

from __future__ import annotations

from .._verdict import Verdict
from ..impossibility._orbits import orbit
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import decide_values
from ._counters import (
    counts,
    exact_model,
    plain_witness,
    projection,
    projections,
    transition_spectrum,
    two_projections,
)
from ._counting_rates import two_factors
from ._parts import further

CLAIM = Claim(
    "own.R3",
    "Two factors with eigenvalues in [0, 1] count by rounding",
    "proved",
    uses=("PT.R1", "PT.R2"),
    arithmetic="per_step",
    seconds=4,
    formal=("RoundingWitnesses.two_factors_count_two", "RoundingWitnesses.two_factors_count_three"),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """A product of two projections has real eigenvalues in [0, 1]; rounded once a step it turns two or three states.

    Statement: There are products of two factors with β = 1 and inputs B such that h ← Q(A h + B), Q to the nearest integer
        and no tie met, has a limit cycle of two states on {0, 1}, and one of three states on {-1, 0, 1}.
    Direction: tight, for PT.R1 and PT.R2: with one factor A is symmetric, with two it need not be
    Hypotheses: Constant input, H_0 = 0.
    Arithmetic: per_step on a few integers, to the nearest
    Source: own
    Method: Both systems are written down in exact numbers and replayed from what is written, their eigenvalues enclosed
        exactly. The other order of the two factors, and all smaller systems of one projection, do not turn. How often
        random systems turn is counted.
    Example:
        >>> print(verify().line())
        proved: 2, 3, as claimed
    """
    written = [plain_witness(two_projections(period)) for period in (2, 3)]
    found = decide_values(
        CLAIM,
        computed=[w["period"] for w in written if counts(w, w["period"])],
        claimed=[2, 3],
        evidence={"systems": written, "periods_of_random_systems": _rates(effort)},
        arithmetic=", ".join(w["arithmetic"] for w in written),
    )
    small, systems = projections(0, 1, max_entry=2, max_denominator=3)
    return further(
        found,
        {
            "eigenvalues in [0, 1]": (
                [transition_spectrum(two_projections(p)).in_zero_one for p in (2, 3)],
                [True, True],
            ),
            "period with the factors exchanged": (_count_exchanged(), 1),
            "systems searched on one bit": (systems, 17_600),
            "the written system is among those found": (
                any(
                    (x.first, x.second, [str(b) for b in x.B]) == ((1, -1), (2, 1), ["2/3", "2"])
                    for x in small
                ),
                True,
            ),
            "systems of equal directions among those found": (sum(x.first == x.second for x in small), 0),
        },
    )


def _count_exchanged() -> int:
    written = two_projections(2)
    A = projection((1, -1)) @ projection((2, 1))
    head = written.stepper.heads[0]  # type: ignore[attr-defined]
    return orbit(exact_model(A, head.B[0, :, 0].tolist(), (0, 0), written.arithmetic), [0]).period


def _rates(effort: Effort) -> dict[str, dict[int, int]]:
    """Of random systems on -4..4 how many end in each period; with β = 1 and with β uniform in [0, 1]."""
    draws = effort.pick(20_000, 200_000)
    return {
        f"{'β = 1' if full else 'β uniform'}, {draws} draws": two_factors(
            -4, 4, draws, effort.seed, full=full
        ).rates()
        for full in (True, False)
    }
