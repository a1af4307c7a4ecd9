"""PT.R2: rounded once a step by any monotone rule, a symmetric transition has periods 1 and 2 only."""

from __future__ import annotations

from typing import Any

from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import further
from ._settling import Cycles, random_symmetric
from .pt_r1 import LARGER, MONOTONE, Systems

CLAIM = Claim(
    "PT.R2",
    "Symmetric transitions have periods 1 and 2 under every monotone rounding",
    "exhaustive",
    arithmetic="per_step",
    seconds=12,
    formal=("Rounding.symmetric_period_two, for limit cycles of integers",),
)
BROKEN = (
    Systems("int:0..1", "any", 2, "int:-1..1"),
    Systems("int:0..1", "monotone", 2, "int:-1..1", symmetric=False),
    Systems("int:0..2", "rne", 2, "int:-1..1", symmetric=False),
)
"""Any map at all for a rounding, or A that is not symmetric."""


def verify(effort: Effort = QUICK) -> Verdict:
    """Constant input, A symmetric, one monotone rounding a step: every limit cycle has one or two states.

    Statement: Let h_(t+1) = Q(A h_t + B) with A = Aᵀ and Q fixed, elementwise, non-decreasing and of finitely many
        values. Then h_(t+2) = h_t from some t on. So one DeltaNet layer with eigenvalues in [-1, 1] does not count
        modulo m > 2.
    Direction: necessary
    Hypotheses: A symmetric as it is stored; the sum rounded once; the input constant.
    Arithmetic: per_step, any rounding
    Source: PT, whose theorem this is, with the map Q(· + B): along a cycle the subgradient inequalities between t and t + 2
        add up to 0 by symmetry, so all are tight, and a fixed rule for ties lets a threshold be crossed in one direction
        only
    Method: Sets of systems in one to three dimensions, each with every symmetric A, every B and start, and with every
        non-decreasing map there is for a rounding, or with the modes of hardware. With maps that are not monotone, or A
        that is not symmetric, the same search must find longer cycles. Then random larger matrices in float formats; how
        many still move after 20,000 steps is reported.
    Example:
        >>> print(verify().line())
        holds on 10 cases: no violation, as claimed
    """
    sets = effort.pick(MONOTONE, LARGER)
    searched = [(systems, systems.found) for systems in sets]
    formats = ("per_step:bf16:sat", "per_step:fp8_e4m3:rz", "per_step:int:-8..8:tie_low")
    count, steps = effort.pick(100, 2_000), 20_000
    some = [random_symmetric(name, 3, count, effort.seed, positive=False, steps=steps) for name in formats]
    found = check_all_cases(
        CLAIM,
        cases=searched,
        check=turning_further,
        of="sets of systems, each with all symmetric A, B, roundings and starts",
        broken=[(systems, systems.found) for systems in BROKEN],
        evidence={
            "sets": [" ".join(map(str, systems[:4])) for systems in sets],
            "runs": sum(cycles.systems * cycles.states for _, cycles in searched),
            "random_runs_not_ended": sum(c.undecided for c in some),
        },
    )
    return further(
        found,
        {
            "longest cycle by set": ([max(c.periods.values()) for _, c in searched], [2] * len(sets)),
            "random A with longer cycles": (sum(len(c.violations) for c in some), 0),
        },
    )


def turning_further(case: tuple[Systems, Cycles]) -> Any:
    """A limit cycle of three states or more."""
    return next((v for v in case[1].violations if v["claim"] == "PT.R2"), None)
