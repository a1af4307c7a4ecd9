"""PT.R1: rounded once a step by any monotone rule, a positive semidefinite transition settles."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._verdict import Verdict
from ..impossibility._orbits import diagonal_channels
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._counters import long_key
from ._parts import further
from ._settling import Cycles, all_symmetric, random_symmetric

CLAIM = Claim(
    "PT.R1",
    "Positive semidefinite transitions settle under every monotone rounding",
    "exhaustive",
    arithmetic="per_step",
    seconds=11,
    formal=("Rounding.psd_fixed_point, for limit cycles of integers",),
)


class Systems(NamedTuple):
    """All h ← Q(A h + B) of a set: states' values, rounding, dimension, the values of A and B, symmetric A or all."""

    values: str
    rounding: str
    dimension: int
    weights: str
    symmetric: bool = True

    @property
    def found(self) -> Cycles:
        """Every one of them followed from every state."""
        return all_symmetric(
            self.values, self.rounding, self.dimension, self.weights, symmetric=self.symmetric
        )


MONOTONE = (
    Systems("int:0..3", "monotone", 1, "int:-2..2"),
    Systems("int:0..1", "monotone", 2, "int:-2..2"),
    Systems("int:0..2", "monotone", 2, "int:-1..1"),
    Systems("int:0..1", "monotone each", 2, "int:-1..1"),
    Systems("int:0..1", "monotone", 3, "int:-1..1"),
    *(Systems("int:-2..2", mode, 2, "int:-2..2") for mode in ("rne", "tie_low", "rz", "ru", "rd")),
)
LARGER = (
    *MONOTONE,
    Systems("int:0..3", "monotone", 2, "int:-1..1"),
    Systems("int:0..2", "monotone each", 2, "int:-1..1"),
    Systems("int:0..2", "monotone", 3, "int:-1..1"),
    Systems("int:0..1", "monotone each", 3, "int:-1..1"),
    *(Systems("int:-4..4", mode, 2, "int:-4..4") for mode in ("rne", "tie_low", "rz", "ru", "rd")),
)
BROKEN = (
    Systems("int:0..1", "any", 1, "int:-1..1"),
    Systems("int:0..1", "any", 2, "int:-1..1"),
    Systems("int:0..1", "monotone", 2, "int:-1..1", symmetric=False),
    Systems("int:0..2", "rne", 2, "int:-1..1", symmetric=False),
)
"""Any map at all for a rounding, or A with a positive semidefinite symmetric part that is not symmetric."""


def verify(effort: Effort = QUICK) -> Verdict:
    """Constant input, A symmetric and positive semidefinite, one monotone rounding a step: every limit cycle is one state.

    Statement: Let h_(t+1) = Q(A h_t + B) with A = Aᵀ ⪰ 0 and Q fixed, elementwise, non-decreasing and of finitely many
        values. Then h_t is constant from some t on. So DeltaNet layers with β‖k‖² ≤ 1 for the stored numbers do not do
        parity, however many.
    Direction: necessary
    Hypotheses: A symmetric and positive semidefinite as it is stored; the sum rounded once; the input constant.
    Arithmetic: per_step, any rounding; for a diagonal channel per_op as well
    Source: PT, whose inequality this is: Q is a selection of the subdifferential of a convex function, and the
        subgradient inequalities along a cycle add up to Σ dᵀA d ≤ 0 for the steps d. Own: the reading for stored weights,
        the tie rules of floating-point modes, and the key that is too long
    Method: Sets of systems in one to three dimensions, each with every A, B and start, and with every non-decreasing map
        there is for a rounding, or with the modes of hardware. With maps that are not monotone, or A that is not
        symmetric, the same search must find cycles; so it does among symmetric A that are not ⪰ 0. Then random larger
        matrices in float formats (how many still move after 20,000 steps is reported), all channels of small formats by
        operations, and a key that is too long by a hair.
    Example:
        >>> print(verify().line())
        holds on 10 cases: no violation, as claimed
    """
    sets = effort.pick(MONOTONE, LARGER)
    searched = [(systems, systems.found) for systems in sets]
    formats = ("per_step:bf16:sat", "per_step:fp8_e4m3:rz", "per_step:fp16:ru:sat")
    count, steps = effort.pick(100, 2_000), 20_000
    some = [random_symmetric(name, 3, count, effort.seed, steps=steps) for name in formats]
    found = check_all_cases(
        CLAIM,
        cases=searched,
        check=turning,
        of="sets of systems, each with all A ⪰ 0, B, roundings and starts",
        broken=[(systems, systems.found) for systems in BROKEN],
        evidence={
            "sets": [" ".join(map(str, systems[:4])) for systems in sets],
            "runs": sum(cycles.positive * cycles.states for _, cycles in searched),
            "random_runs_not_ended": sum(c.undecided for c in some),
        },
    )
    small = ("fp4_e2m1", "int:-4..4")
    return further(
        found,
        {
            "longest cycle by set, A not ⪰ 0": ([c.periods[False] for _, c in searched], [2] * len(sets)),
            "longest cycle of random A ⪰ 0 in formats": ([c.periods[True] for c in some], [1] * len(formats)),
            "random A ⪰ 0 that turn": (sum(len(c.violations) for c in some), 0),
            "channels by operations that turn, a ≥ 0": (
                [diagonal_channels(f)[1] for f in small],
                [0] * len(small),
            ),
            "some turn, a < 0": (all(diagonal_channels(f, negative=True)[1] for f in small), True),
            "period with a key that is too long, fp16": (long_key().replay().period, 2),
        },
    )


def turning(case: tuple[Systems, Cycles]) -> Any:
    """A limit cycle of two states or more of some A ⪰ 0."""
    return next((v for v in case[1].violations if v["claim"] == "PT.R1"), None)
