"""DP.L4: a permutation-reset automaton in one gated layer."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np

from ...constructions._lrnn import LRNN
from ...constructions._spec import automaton_from_spec
from ...constructions.automata._automaton import Automaton
from ...constructions.cascades._cascade import cascade
from ...constructions.cascades._layers import cascade_lrnn
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import defect, exchange_letters

CLAIM = Claim(
    "DP.L4",
    "A permutation-reset automaton in one gated layer",
    "exhaustive",
    uses=("G.T3",),
    formal=("Cascades.gated_layer",),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """A permutation-reset automaton is followed by one gated layer: resets are the gate 0, permutations are swaps.

    Statement: Let every letter of an automaton of n states permute them or send all to one. One layer with one-hot states
        follows it, in which a permutation is at most n - 1 swaps with the gate 1 and nothing added, and a reset to c
        is the gate 0, no factor, and e_c added.
    Direction: sufficient
    Hypotheses: Every letter is a permutation or a constant map.
    Arithmetic: exact, all numbers are integers
    Source: DP, Lemma 4
    Method: The automata of all permutations and all resets of up to four points, and of all cyclic shifts and all resets
        of more, are constructed, their letters looked at, and the whole proved by the stand-alone checker. With two
        letters exchanged, or without the gates, it must fail.
    Example:
        >>> print(verify().line())
        holds on 9 cases: no violation, as claimed
    """
    sizes = range(2, effort.pick(8, 17))
    built = [build_gated(automaton_from_spec(f"permreset:{n}")) for n in sizes]
    built += [build_gated(permutations_and_resets(n)) for n in (2, 3, 4)]
    return check_all_cases(
        CLAIM,
        cases=built,
        check=violation,
        of=f"permreset:n, n = {sizes[0]}..{sizes[-1]}, and all permutations and resets of 2, 3 and 4 points",
        broken=[exchange_letters(built[1]), *map(remove_gates, built)],
    )


def permutations_and_resets(n: int) -> Automaton:
    """All n! + n of them as letters."""
    rows = np.array([*permutations(range(n)), *([q] * n for q in range(n))])
    states, letters = (tuple(str(i) for i in range(count)) for count in (n, len(rows)))
    return Automaton(states, letters, rows, 0, np.arange(n).astype(object))


def build_gated(automaton: Automaton) -> LRNN:
    """One-hot states, resets by the gate 0."""
    return cascade_lrnn(automaton, cascade(automaton), coordinates="one_hot", gated=True)


def remove_gates(lrnn: LRNN) -> LRNN:
    """The same with the gate 1 everywhere: the resets add and erase nothing."""
    head = lrnn.all_heads[0]
    opened = replace(head, transitions=tuple(replace(t, gate=1) for t in head.transitions))
    return replace(lrnn, layers=(replace(lrnn.layers[0], heads=(opened,)),))


def violation(lrnn: LRNN) -> str | None:
    """Several layers, a letter of another form, or a certificate that is not valid."""
    n = len(lrnn.automaton.states)
    if len(lrnn.all_heads) != 1:
        return f"{lrnn.depth} layers, {len(lrnn.all_heads)} heads"
    for x, t in enumerate(lrnn.all_heads[0].transitions):
        reset = t.gate == 0 and not t.factors and len(t.additive) == 1
        swaps = t.gate == 1 and not t.additive and len(t.factors) < n
        if not (reset or swaps):
            return f"{n} points, letter {x}: gate {t.gate}, {len(t.factors)} factors, {len(t.additive)} added"
    return defect(lrnn)
