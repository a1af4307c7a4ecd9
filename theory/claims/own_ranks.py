"""own.ranks: along a word the number of images falls, and each fall takes a dimension of a state with one vector a state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from ...constructions._spec import automaton_from_spec
from ...constructions.automata._automaton import Automaton
from ...constructions.automata._completing import object_array
from .._check import check
from .._verdict import Verdict
from ..planning._bounds import bounds, reached_bounds
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import construct_table, further

# own.ranks: state q stands at p_q, a letter acts as p ↦ A p + b, and D is the span of the differences p_q - p_r. Where the number of
# images falls along a word, two states meet that did not, so the kernel of the word's matrix on D grows. r falls take r dimensions, and
# one more is left unless all states meet.
#
# Three states need one dimension or two. They fit on a line exactly if for places 0, 1, t each letter f is affine there:
#     det [[p_q, 1, p_f(q)]] = 0 over q,   a polynomial in t of degree 2 at most; t is real, and not 0 or 1.

Polynomial = tuple[Fraction, ...]
"""Coefficients, the constant one first."""
Case = tuple[tuple[int, ...], tuple[int, ...], int]
"""Two maps of three states, and the bound on the numbers in a state."""


def line_condition(image: Sequence[int]) -> Polynomial:
    """The polynomial in t that is 0 where a map of the states at 0, 1, t is affine: b t - c + a - a t, with their images a, b, c."""
    a, b, c = ([(0, 0), (1, 0), (0, 1)][q] for q in image)  # constant and coefficient of t
    rows = [a[0] - c[0], b[0] - c[1] - a[0] + a[1], b[1] - a[1]]
    return tuple(Fraction(x) for x in rows)


def is_on_a_line(images: Sequence[Sequence[int]]) -> bool:
    """Whether three different real numbers exist on which all maps of three states are affine."""
    common: Polynomial = ()
    for image in images:
        common = _common_divisor(common, line_condition(image))
    if not common:
        return True  # no condition
    for root in (0, 1):  # where two states would meet
        while len(common) > 1 and sum(c * root**i for i, c in enumerate(common)) == 0:
            common = _divide(common, (Fraction(-root), Fraction(1)))[0]
    if len(common) < 3:
        return len(common) == 2
    return common[1] ** 2 >= 4 * common[0] * common[2]


def _trimmed(p: Sequence[Fraction]) -> Polynomial:
    last = max((i for i, c in enumerate(p) if c), default=-1)
    return tuple(p[: last + 1])


def _divide(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder."""
    rest, quotient = list(p), [Fraction(0)] * max(len(p) - len(q) + 1, 0)
    for i in range(len(quotient) - 1, -1, -1):
        quotient[i] = rest[i + len(q) - 1] / q[-1]
        for j, c in enumerate(q):
            rest[i + j] -= quotient[i] * c
    return tuple(quotient), _trimmed(rest)


def _common_divisor(p: Polynomial, q: Polynomial) -> Polynomial:
    p, q = _trimmed(p), _trimmed(q)
    while q:
        p, q = q, _divide(p, q)[1] if len(p) >= len(q) else p
    return p


CLAIM = Claim(
    "own.ranks", "Each fall of the number of images along a word takes a dimension", "exhaustive",
    uses=("PD.N-1",),
)  # fmt: skip
REACHED = (("boxes:3,2", 2), ("boxes:5,4", 4), ("boxes:2,2", 2))
"""Automata whose bound own.congruences reaches."""


def verify(effort: Effort = QUICK) -> Verdict:
    """The number of images of the prefixes of a word falls at most as often as the state has dimensions.

    Statement: Let each state of an automaton stand at one vector, all different, and each letter act on these by an affine map. If the
        number of images of the prefixes of a word falls r times, the state has r numbers at least, and r + 1 if the word is no reset.
    Direction: bound; attained by boxes, whose objects stand at one number each
    Hypotheses: One layer, one vector a state, affine letters of any norm. Several vectors a state are not covered.
    Arithmetic: exact
    Source: own
    Method: All 378 pairs of maps of three states: where the bound (this one, or that of PD.N-1 by words) is 2, no three different real
        numbers exist on which both maps are affine, by the real roots of the common divisor of two polynomials. Where such numbers
        exist, a bound of 2 must fail the check. The bound of boxes is reached by own.congruences, and its certificate is checked.
    Example:
        >>> print(verify().line())
        holds on 378 cases: no violation, as claimed
    """
    cases = list(_cases())
    lines = [case for case in cases if is_on_a_line(case[:2])]
    found = check_all_cases(
        CLAIM,
        cases=cases,
        check=_violation,
        of="all pairs of maps of three states",
        broken=[(f, g, 2) for f, g, _ in lines],
        evidence={
            "pairs on a line": len(lines),
            "pairs in a plane only": len(cases) - len(lines),
            "of which the bound says so": sum(bound == 2 for _, _, bound in cases),
        },
    )
    return further(
        found,
        {
            f"the numbers in a state of {spec}, by the bound and by own.congruences": (
                _reached(spec),
                [n, n, "valid"],
            )
            for spec, n in REACHED
        },
    )


def _cases() -> Iterator[Case]:
    maps = list(product(range(3), repeat=3))
    for f, g in combinations_with_replacement(maps, 2):
        automaton = Automaton(
            (0, 1, 2), (0, 1), np.array([f, g]), 0, object_array(range(3)), keeps_points=True
        )
        sizes = [b.at_least for b in bounds(automaton) if b.figure == "state_size"]
        yield f, g, max(sizes, default=1)


def _violation(case: Case) -> Any:
    f, g, bound = case
    return {"maps": [f, g], "bound": bound} if bound > 1 and is_on_a_line((f, g)) else None


def _reached(spec: str) -> list[Any]:
    """The bound, the construction's own number, and what the checker says of the bound."""
    automaton = automaton_from_spec(spec)
    bound = max((b for b in bounds(automaton) if b.figure == "state_size"), key=lambda b: b.at_least)
    made = construct_table(automaton, "own.congruences")
    here = next(b for b in reached_bounds(made) if b.figure == "state_size")
    return [bound.at_least, here.reached, check(bound.certificate()).verdict]
