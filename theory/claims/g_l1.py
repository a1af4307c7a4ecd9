"""G.L1: cast sequences of powers with real bases settle, on even and on odd indices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._verdict import Verdict
from ..impossibility._cast_theorems import Tally, count_undecided, lemma
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import further

CLAIM = Claim(
    "G.L1",
    "Cast powers of real numbers settle on either parity of the index",
    "supported",
    arithmetic="cast",
    seconds=13,
    formal=("CastSettles.cast_powers_settle",),
)
FORMATS = ("cast:bf16", "cast:fp8_e4m3", "cast:int:-128..127")


class Sequence(NamedTuple):
    """One random sequence, by its seed; `negative`: bases may be negative."""

    arithmetic: str
    seed: int
    negative: bool


def verify(effort: Effort = QUICK) -> Verdict:
    """What a finite format shows of a sum of powers of real numbers is, from some index on, the same on all even indices.

    Statement: Let a_k be the sum of c_i C(k, m_i) λ_i^(k - m_i) with real λ_i, and cast the nearest of finitely many
        values. Then cast(a_2k) and cast(a_2k+1) are eventually constant, and equal if no λ_i is negative.
    Direction: necessary, for what a layer with real eigenvalues can show on repetitions of one letter
    Hypotheses: Every λ_i is real; for the equality, none is negative.
    Arithmetic: cast, the sequence exact and each member rounded once, ties toward minus infinity, saturating
    Source: G, Lemma 1
    Method: Random rational sequences of up to four terms. From an index that is proved by comparing the terms exactly
        all members are known; those before it are computed, and the index at which the sequence settles is found. With
        negative bases the two ends must differ in some of the cases, and yet either parity settles in all.
        Draws that settle beyond the limits of the computation are passed over; their share is reported.
    Example:
        >>> print(verify().line())
        supported by 60 instances: no violation, as claimed
    """
    some = {name: lemma(name, effort.pick(20, 500), effort.seed) for name in FORMATS}
    signed = [lemma(name, effort.pick(20, 500), effort.seed, negative=True) for name in FORMATS]
    found = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(60, 3_000),
        draw=lambda generator: _draw_sequence(generator, False),
        broken=lambda generator: _draw_sequence(generator, True),
        check=_two_ends,
        tight=lambda case: tally_of(case).tight > 0,
        evidence={
            "arithmetics": list(FORMATS),
            "latest_settling": {name: max(t.settling) for name, t in some.items()},
            "passed_over": count_undecided(some),
        },
    )
    return further(
        found,
        {"sequences with negative bases that do not settle": (sum(len(t.violations) for t in signed), 0)},
    )


def tally_of(case: Sequence) -> Tally:
    """One sequence, decided for ever."""
    return lemma(case.arithmetic, 1, case.seed, negative=case.negative)


def _draw_sequence(generator: np.random.Generator, negative: bool) -> Sequence:
    return Sequence(FORMATS[generator.integers(3)], int(generator.integers(2**31)), negative)


def _two_ends(case: Sequence) -> Any:
    tally = tally_of(case)
    if tally.violations:
        return {**case._asdict(), **tally.violations[0]}
    return {**case._asdict(), "ends": "even and odd indices differ"} if tally.counting else None
