"""What the constructions by single reflections share: cyclic groups, signs that a letter flips, mirrors of the plane."""

from __future__ import annotations

from collections.abc import Callable

from ...foundation._errors import LimitError
from .._realisation import Sparse, Transition
from ..algebra._conductors import conductor_degree
from ..algebra._cyclotomic import MAX_DENSE_DEGREE, real_cyclotomic_field
from ..algebra._householder import gh_factor
from ..algebra._matrices import divide
from ..algebra.groups._abelian import abelianise, cyclic_factors
from ..algebra.groups._actions import transitive_action
from ..automata._automaton import Automaton

ONE: Sparse = ((0, 0, 1),)
FLIP = Transition((gh_factor(2, {0: 1}),), additive=ONE)
"""h ↦ 1 - h."""
KEEP = Transition()


def residues(automaton: Automaton, max_group: int = 5_000) -> tuple[list[int], int] | None:
    """The letters as elements of Z_m, and m ≥ 2, where the transition group is cyclic and all states are reached."""
    if (
        not automaton.letters
        or not automaton.is_permutation
        or len(automaton.reachable()) < len(automaton.states)
    ):
        return None
    action = transitive_action(automaton, max_group)
    abelian = abelianise(action)
    if abelian is None or len(abelian[0][0]) != action.size:
        return None
    factors = cyclic_factors(abelian[0])
    if len(factors) != 1:
        return None
    return [int(w) for w in factors[0].letters], int(factors[0].order)


def mirrors(m: int, max_degree: int) -> Callable[[int], Transition]:
    """Of k: Ref(kπ/m) = [[cos, sin], [sin, -cos]], one reflection, with numbers of Q(2cos 2π/N), N = lcm(4, 2m)."""
    conductor = 4 * m if m % 2 else 2 * m
    degree = conductor_degree(conductor)
    if degree > MAX_DENSE_DEGREE:
        conductor = 4 * m  # with sums of cosines the vectors have norm 1, at half the angle
        degree = conductor_degree(conductor)
    if degree > max_degree:
        raise LimitError(
            f"reflections at multiples of π/{m} need a number field of degree {degree:,}; the limit is {max_degree}: "
            "raise `max_degree`"
        )
    field = real_cyclotomic_field(conductor)
    step = conductor // (2 * m)

    def mirror(k: int) -> Transition:
        k %= 2 * m
        if k == m:
            return Transition((gh_factor(2, {0: 1}),))
        if degree > MAX_DENSE_DEGREE:
            # the mirror stands at kπ/(2m), and v a quarter of a turn further
            return Transition((gh_factor(2, {0: -field.sin(k), 1: field.cos(k)}),))
        c, s = field.cos(k * step), field.sin(k * step)
        v = {0: -s, 1: 1 + c}
        return Transition((gh_factor(divide(2, v[0] * v[0] + v[1] * v[1]), v),))

    return mirror
