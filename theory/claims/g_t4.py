"""G.T4: any automaton in finitely many layers, by a cascade of permutation-reset automata."""

from __future__ import annotations

import numpy as np

from ...constructions._spec import automaton_from_spec
from ...constructions.automata._automaton import Automaton
from ...constructions.cascades._cascade import cascade
from ...constructions.cascades._layers import Wiring, cascade_lrnn
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import defect

CLAIM = Claim(
    "G.T4",
    "Any automaton as a cascade of permutation-reset automata, one layer a level",
    "supported",
    uses=("KR", "G.P1.1"),
    seconds=6,
    formal=(
        "ChainLRNN.lrnn_tracks, with the levels of a chain of sets",
        "Chain.permutation_or_reset, for what a level does",
        "CascadeLRNN.wiring_follows, for any cascade that covers the automaton",
        "CascadeLRNN.repaired_wiring, for the wiring of any cascade",
    ),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """Every finite automaton is followed by a linear RNN of finitely many layers with transitions of norm at most 1.

    Statement: Let (Q, Σ, q0, δ) be a finite automaton. Some finite number of layers, each a permutation-reset automaton
        whose transitions are products of generalized Householder factors with eigenvalues in [-1, 1], has reachable
        states that map onto Q so that every letter acts on them as δ does.
    Direction: sufficient
    Hypotheses: Each component reads the letter and the old states of the components before it. A read-out that sees
        new states only tells the old one by the inverse permutation, or from the second half of a doubled state.
    Arithmetic: exact, all numbers are integers
    Source: G, Theorem 4, with the wiring repaired
    Method: Random automata become cascades and these linear RNNs; the stand-alone checker proves each equal to its
        automaton on all words. The same check of the wiring as printed must find defects.
    Example:
        >>> print(verify().line())
        supported by 20 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(20, 300),
        draw=lambda generator: draw_wiring(generator, "repaired"),
        broken=lambda generator: draw_wiring(generator, "printed"),
        check=wrong,
        assumptions=("a cascade exists for every automaton (KR)",),
    )


def draw_wiring(generator: np.random.Generator, wiring: Wiring) -> tuple[Automaton, Wiring]:
    """A random automaton, and how its cascade is to be wired."""
    return random_automaton(generator), wiring


def wrong(case: tuple[Automaton, Wiring]) -> str | None:
    """What the stand-alone checker finds wrong with an automaton's cascade, wired as said."""
    automaton, wiring = case
    return defect(cascade_lrnn(automaton, cascade(automaton), wiring=wiring))


def random_automaton(generator: np.random.Generator) -> Automaton:
    """Two letters and five states, of which at least two are reached."""
    while True:
        found = automaton_from_spec(f"random:states=5,letters=2,seed={generator.integers(2**31)}")
        if len(found.states) > 1:
            return found
