"""Single reflections in two layers: Z_m (G.T6), D_m (DP.T7), and Z_m by swaps of corners, in integers.

Layer 1 tells the parity of the tokens (for D_m of the rotations, and of the reflections) with the current token
counted. Layer 2 reflects a vector of the plane at a mirror that depends on the letter and on that parity; two
reflections make a rotation. DP.T7 computes the right product, so for left products the inverses are fed and the
state is that of the inverse (docs/conventions.md). The printed angles of DP.T7 are wrong; these are the corrected.

own.T2tight: counting modulo 2^L by L layers of one sign each, a ripple-carry adder.

Layer i holds bit i as a sign that a letter flips or keeps: it flips where the letter's bit and the carry differ.
The carry into bit i follows from the new lower bits and the letter: they overflowed iff they are less than the
letter's own lower bits. So real eigenvalues ±1 reach period 2^L in L layers, which G.T2 says is the most.
"""

from __future__ import annotations

from collections.abc import Callable

from ...foundation._errors import LimitError, NotRealisableError
from .._lrnn import LRNN, Sparse, Transition
from ..algebra._cyclotomic import conductor_degree, real_cyclotomic_field
from ..algebra._householder import gh_factor, swap
from ..algebra._matrices import divide
from ..algebra.groups._abelian import cyclic_factors
from ..algebra.groups._actions import transitive_action
from ..automata._automaton import Automaton
from ..heads._layered import HeadRule, Label, assemble_layers
from ._rotations import MAX_DEGREE, abelianised, polygon_of

ONE: Sparse = ((0, 0, 1),)
FLIP = Transition((gh_factor(2, {0: 1}),), additive=ONE)
"""h ↦ 1 - h."""
KEEP = Transition()


def residues(automaton: Automaton, max_group: int = 5_000) -> tuple[list[int], int] | None:
    """The letters as elements of Z_m, and m ≥ 2, where the transition group is cyclic and all states are reached."""
    if not automaton.is_permutation or len(automaton.reachable()) < len(automaton.states):
        return None
    action = transitive_action(automaton, max_group)
    abelian = abelianised(action)
    if abelian is None or len(abelian[0][0]) != action.size:
        return None
    factors = cyclic_factors(abelian[0])
    if len(factors) != 1:
        return None
    return [int(w) for w in factors[0].letters], int(factors[0].order)


def cyclic_two_layers(automaton: Automaton, *, max_degree: int = MAX_DEGREE, max_group: int = 5_000) -> LRNN:
    """G.T6: a cyclic transition group in two layers, one reflection a token and head; algebraic unless m is 2."""
    weights, m = _cyclic(automaton, max_group)
    mirror = _mirrors(m, max_degree)

    def turn(label: Label) -> Transition:
        w, p = label
        return mirror((1 - 2 * w) if p else (1 + 2 * w))

    return _after_parity(
        automaton, weights, HeadRule(2, ONE, turn), f"reflections of the plane at multiples of π/{m}"
    )


def cyclic_corners(automaton: Automaton, *, max_group: int = 5_000) -> LRNN:
    """The integer form of G.T6: layer 2 reflects the corners of the m-gon, j ↦ c - j, by disjoint swaps."""
    weights, m = _cyclic(automaton, max_group)

    def reflect(label: Label) -> Transition:
        w, p = label
        c = (-w if p else w) % m
        return Transition(tuple(swap(j, (c - j) % m) for j in range(m) if j < (c - j) % m))

    return _after_parity(
        automaton, weights, HeadRule(m, ONE, reflect), f"reflections of {m} corners by swaps"
    )


def dihedral_two_layers(
    automaton: Automaton, *, max_degree: int = MAX_DEGREE, max_group: int = 5_000
) -> LRNN:
    """DP.T7, with corrected angles: a dihedral transition group D_m, m ≥ 3, in two layers, one reflection a token."""
    polygon = None
    if automaton.is_permutation and len(automaton.reachable()) == len(automaton.states):
        polygon = polygon_of(transitive_action(automaton, max_group))
    if polygon is None:
        raise NotRealisableError(
            f"{automaton.name}: DP.T7 needs a dihedral transition group D_m, m ≥ 3, and all states reachable; "
            "leave --theorem out"
        )
    symmetries, m = polygon
    # i ↦ a + i is r_a, i ↦ a - i is s_a; the right product of the inverses is the inverse of the left product
    inverses = [(-a % m, 1) if turn == 1 else (a, -1) for a, turn in symmetries]
    mirror = _mirrors(m, max_degree)

    def turn_by(label: Label) -> Transition:
        (i, turn), p, _ = label
        if turn == 1:
            return mirror((1 - 2 * i) if p else (1 + 2 * i))
        return mirror((2 + 2 * i) if p else -2 * i)

    def counts(turn: int) -> Callable[[Label], Transition]:
        return lambda x: FLIP if inverses[x][1] == turn else KEEP

    # a head that no letter changes would have the one code 0, and no certificate has a head without numbers
    counted = [turn for turn in (1, -1) if any(t == turn for _, t in inverses)]

    def parities(states: tuple[Sparse, ...]) -> tuple[int, ...]:
        return tuple(int(turn in counted and states[counted.index(turn)] == ONE) for turn in (1, -1))

    rules = [[HeadRule(1, (), counts(turn)) for turn in counted], [HeadRule(2, ONE, turn_by)]]
    return assemble_layers(
        automaton,
        rules,
        lambda _, x, states: (inverses[x], *parities(states)),
        theorem="DP.T7",
        construction=f"parities of rotations and reflections, then reflections of the plane at multiples of π/{m}",
    )


def _after_parity(automaton: Automaton, weights: list[int], rule: HeadRule, what: str) -> LRNN:
    """Layer 1: the parity of the tokens. Layer 2: `rule`, its labels (element of Z_m, 1 where the count is odd)."""
    return assemble_layers(
        automaton,
        [[HeadRule(1, (), lambda _: FLIP)], [rule]],
        lambda _, x, states: (weights[x], int(states[0] == ONE)),
        theorem="G.T6",
        construction=f"parity of the tokens, then {what}",
    )


def _cyclic(automaton: Automaton, max_group: int) -> tuple[list[int], int]:
    found = residues(automaton, max_group)
    if found is None:
        raise NotRealisableError(
            f"{automaton.name}: this construction needs a cyclic transition group and all states reachable; "
            "leave --theorem out"
        )
    return found


def _mirrors(m: int, max_degree: int) -> Callable[[int], Transition]:
    """Of k: Ref(kπ/m) = [[cos, sin], [sin, -cos]], one reflection, with numbers of Q(2cos 2π/N), N = lcm(4, 2m)."""
    conductor = 4 * m if m % 2 else 2 * m
    degree = conductor_degree(conductor)
    if degree > max_degree:
        raise LimitError(
            f"reflections at multiples of π/{m} need a number field of degree {degree:,}; the limit is {max_degree}: "
            "raise --max-degree"
        )
    field = real_cyclotomic_field(conductor)
    step = conductor // (2 * m)

    def mirror(k: int) -> Transition:
        k %= 2 * m
        if k == m:
            return Transition((gh_factor(2, {0: 1}),))
        c, s = field.cos(k * step), field.sin(k * step)
        v = {0: -s, 1: 1 + c}
        return Transition((gh_factor(divide(2, v[0] * v[0] + v[1] * v[1]), v),))

    return mirror


PLUS: Sparse = ((0, 0, 1),)
RIPPLE_FLIP = Transition((gh_factor(2, {0: 1}),))


def ripple_counter(automaton: Automaton, *, max_group: int = 5_000) -> LRNN:
    """A cyclic transition group Z_{2^L}, L ≥ 2, in L layers with one scalar ±1 each; integer.

    Raises `NotRealisableError` for other groups.
    """
    found = residues(automaton, max_group)
    if found is None or found[1] < 4 or found[1] & (found[1] - 1):
        raise NotRealisableError(
            f"{automaton.name}: own.T2tight needs a cyclic transition group of order 2^L ≥ 4 and all states reachable; "
            "leave --theorem out"
        )
    weights, m = found
    layers = m.bit_length() - 1

    def rule(i: int) -> HeadRule:
        def flip(label: Label) -> Transition:
            w, lower = (weights[label], 0) if i == 0 else label
            carry = lower < w % 2**i
            return RIPPLE_FLIP if (w >> i & 1) != carry else KEEP

        return HeadRule(1, PLUS, flip)

    def route(i: int, label: Label, states: tuple[Sparse, ...]) -> Label:
        w, lower = (weights[label], 0) if i == 0 else label
        return w, lower + (states[0] != PLUS) * 2**i

    return assemble_layers(
        automaton,
        [[rule(i)] for i in range(layers)],
        route,
        theorem="own.T2tight",
        construction=f"ripple-carry adder of {layers} sign{'s' * (layers != 1)}, one a layer",
    )
