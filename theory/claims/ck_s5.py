"""CK.S5: one layer with three factors a token does not follow S_5 where a letter has order 5; four do."""

from __future__ import annotations

import numpy as np

from ...constructions._construct import construct
from ...constructions._spec import automaton_from_spec
from ...constructions.algebra._householder import product_of
from .._verdict import Verdict
from ..planning._bounds import bounds
from ..spectra._eigenvalues import eigenvalue_report
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import decide_values
from ._parts import defect, further
from .h_rank import count_turned_planes, random_factors, refusal

CLAIM = Claim(
    "CK.S5",
    "S_5 with a letter of order 5 needs four factors in one layer",
    "proved",
    uses=("H.rank",),
    arithmetic="exact",
    seconds=4,
    formal=(
        "TurnedPlanes.five_states_of_an_element, for S_5 over all elements in layers without gates that have at most four hidden states for each element",
        "TurnedPlanes.three_factors_leave_five, likewise where 5 does not divide the order of the group of the words that keep all answers",
        "TurnedPlanes.some_head_reads, for the step from several heads to one",
        "TurnedPlanes.three_turn_one_plane, for the step from three factors to one plane",
    ),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """With at most one turned plane a head and finitely many states, one layer does not follow S_5 where a letter has order 5.

    Statement: Let G be the group that the letters generate which permute all states. Let a, of order 5, be a power of one of
        these letters, and let a conjugate b = y a y⁻¹, y in G, generate with a a group of order 60, in which a and b are not
        conjugate. Let one layer have ‖A(x)‖₂ ≤ 1, finitely many reachable states and in each head at most one pair of
        non-real eigenvalues on the unit circle. Then, whatever is added and read out, it does not follow the automaton. Three
        factors turn one plane at most, so four are needed. The word problem of S_5 is such an automaton over all elements,
        and over every alphabet that generates S_5 and has an element of order 5; there four are enough.
    Direction: tight
    Hypotheses: One layer; ‖A(x)‖₂ ≤ 1; gates in [0, 1]; finitely many reachable states; exact; a and b as in the statement. A
        search of limited length looks for y.
    Arithmetic: exact
    Source: CK; the proof is written out in the checker of bounds
    Method: S_5 in one layer with three factors is asked for and refused with this bound, whose certificate the stand-alone
        checker proves from the table. With four factors it is built and checked. Two alphabets of S_5 with an element of
        order 5 have the same bound and are built with four. Where a hypothesis fails the bound is not
        claimed: A_5 and S_4 need two factors, the transpositions of S_5 one, and with more layers two factors do. Planes
        turned by products of random reflections are counted exactly.
    Example:
        >>> print(verify().line())
        proved: CK.S5, valid, 4, as claimed
    """
    automaton = automaton_from_spec("S5")
    refused, certificate = refusal("S5", 3)
    built = construct(automaton, max_layers=1)
    bound = next((b for b in bounds(automaton) if b.reason == "CK.S5"), None)
    found = decide_values(
        CLAIM,
        computed=[refused, certificate, built.householders if defect(built) is None else None],
        claimed=["CK.S5", "valid", 4],
        evidence={
            "bound": bound and bound.text,
            "hypotheses": bound and bound.hypotheses,
            "witness_in_it": bound and bound.data,
        },
    )
    others = {"A5": 2, "S4": 2, "S5[transpositions]": 1}
    alphabets = ("S5[generators]", "S5[up_to_5]")
    deeper = construct(automaton, max_householders=2)
    generator, count = effort.generator(), effort.pick(20, 300)
    return further(
        found,
        {
            "factors of others in one layer": (
                {s: construct(s, max_layers=1).householders for s in others},
                others,
            ),
            "generators of S_5 with an element of order 5": (
                {s: (_has_bound(s), construct(s, max_layers=1).householders) for s in alphabets},
                dict.fromkeys(alphabets, (True, 4)),
            ),
            "others with this bound": ([s for s in others if _has_bound(s)], []),
            "defect of S_5 with two factors and more layers": (defect(deeper), None),
            "it has more layers": (deeper.depth > 1, True),
            "most planes turned by 1 to 5 reflections": (
                [_planes(generator, k, count) for k in range(1, 6)],
                [0, 1, 1, 2, 2],
            ),
        },
    )


def _has_bound(spec: str) -> bool:
    return any(b.reason == "CK.S5" for b in bounds(automaton_from_spec(spec)))


def _planes(generator: np.random.Generator, k: int, count: int) -> int:
    """The most over random products of k reflections in five dimensions."""
    products = (product_of(random_factors(generator, 5, k, reflections=True), 5) for _ in range(count))
    return max(count_turned_planes(eigenvalue_report(A)) for A in products)
