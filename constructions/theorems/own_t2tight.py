"""own.T2tight: counting modulo 2^L by L layers of one sign each, a ripple-carry adder.

Layer i holds bit i as a sign that a letter flips or keeps: it flips where the letter's bit and the carry differ.
The carry into bit i follows from the new lower bits and the letter: they overflowed iff they are less than the
letter's own lower bits. So real eigenvalues ±1 reach period 2^L in L layers, which G.T2 says is the most.
"""

from __future__ import annotations

from ...foundation._errors import NotRealisableError
from ...foundation._text import count_noun
from .._lrnn import LRNN
from .._realisation import Sparse, Transition
from ..algebra._householder import gh_factor
from ..automata._automaton import Automaton
from ..heads._layered import HeadRule, Label, assemble_layers
from ._construction import Construction, Problem
from ._two_layers import KEEP, residues

PLUS: Sparse = ((0, 0, 1),)
FLIP = Transition((gh_factor(2, {0: 1}),))


def ripple_counter(automaton: Automaton, *, max_group: int = 5_000) -> LRNN:
    """A cyclic transition group Z_{2^L}, L ≥ 2, in L layers with one scalar ±1 each; integer.

    Raises `NotRealisableError` for other groups.
    """
    found = residues(automaton, max_group)
    if found is None or found[1] < 4 or found[1] & (found[1] - 1):
        raise NotRealisableError(
            f"{automaton.name}: own.T2tight needs a cyclic transition group of order 2^L ≥ 4 and all states reachable; "
            "leave `theorem` out"
        )
    weights, m = found
    layers = m.bit_length() - 1

    def rule(i: int) -> HeadRule:
        def flip(label: Label) -> Transition:
            w, lower = (weights[label], 0) if i == 0 else label
            carry = lower < w % 2**i
            return FLIP if (w >> i & 1) != carry else KEEP

        return HeadRule(1, PLUS, flip)

    def route(i: int, label: Label, states: tuple[Sparse, ...]) -> Label:
        w, lower = (weights[label], 0) if i == 0 else label
        return w, lower + (states[0] != PLUS) * 2**i

    return assemble_layers(
        automaton,
        [[rule(i)] for i in range(layers)],
        route,
        theorem="own.T2tight",
        construction=f"ripple-carry adder of {count_noun(layers, 'sign')}, one a layer",
    )


def _build(problem: Problem) -> LRNN:
    return ripple_counter(problem.automaton, max_group=problem.limits.group)


CONSTRUCTION = Construction(
    source="own.T2tight",
    title="cyclic groups of order 2^L in L layers of one sign each",
    order=80,
    examples=("mod:8", "Z16", "cycle:4"),
    refusals={"mod:6": "own.T2tight needs a cyclic transition group of order 2", "T3": "own.T2tight needs"},
    build=_build,
)
