"""own.chain: any automaton of n states in at most n - 1 layers, by a rule of polynomial size."""

from __future__ import annotations

import numpy as np

from ...constructions.chains._chain import ChainRNN
from ...constructions.chains._sizes import plan_sizes
from ...constructions.theorems._construction import Problem
from ...constructions.theorems.own_chain import run_starts
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._chains import draw_automaton, find_defect

CLAIM = Claim(
    "own.chain",
    "Any automaton of n states in at most n - 1 layers, by chains of sets",
    "supported",
    seconds=8,
    formal=(
        "ChainLRNN.lrnn_tracks",
        "Chain.admissible_chain_tracks, for sizes that fit the images",
        "ChainForms.every_chain, in coordinates of the sets",
        "ChainForms.level_factor_count, for the numbers of factors",
        "ChainLayers.chain_is_layers, for certificates, in the semantics of tables",
    ),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """Every automaton of n states is followed by at most n - 1 layers of at most 2n factors, whose letters a rule computes.

    Statement: Let n = n_1 > n_2 > ... > n_{L+1} = 1 be sizes such that a letter that merges states of a set X_i met on level i
        makes at most n_{i+1} states of it; n_{i+1} = n_i - 1 always will do. Then the rule that takes X_{i+1} to its image where the
        letter is injective on X_i, and else to the image of X_i with the least other members of the new X_i, keeps a chain X_1 ⊋ ... ⊋
        {q} with the automaton's state q at its end. Layer i holds the indicator of X_{i+1} among the members of X_i and the one
        before the last reset, reads the letter and X_i before and after it, and applies at most n_i - 1 swaps, or n_i projections and
        n_i swaps. So any automaton of n ≥ 2 states has a linear RNN of at most n - 1 layers, of key dimension at most 2n, with
        entries 0 and 1 in its states.
    Direction: sufficient
    Hypotheses: Each layer reads the token and the states of the layers before it. The rule is computed, not tabled: a level's letters
        can be exponentially many.
    Arithmetic: exact, all numbers are 0, 1 and -1
    Source: ours; that cascades of permutation-reset automata can drop one state a level is classical (Zeiger 1967; Ginzburg 1968,
        on which arXiv:2010.16235 builds)
    Method: Random automata, with sizes found by listing chains and with sizes that fall by one. The stand-alone checker derives again
        why the sizes suffice, and every state of the layers that words lead to is stepped by its factors and compared. The
        same check must find defects where one of the sizes that are needed is left out.
    Example:
        >>> print(verify().line())
        supported by 12 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(12, 60),
        draw=draw_chain,
        broken=draw_short_chain,
        check=find_defect,
        assumptions=("the induction on the levels in the text of the checker `chain`",),
    )


def draw_chain(generator: np.random.Generator) -> ChainRNN:
    """A random automaton with planned sizes, or with sizes that fall by one."""
    automaton = draw_automaton(generator)
    return ChainRNN(
        automaton,
        plan_sizes(automaton.transitions, run_starts(Problem(automaton)), int(generator.choice([0, 2_000]))),
    )


def draw_short_chain(generator: np.random.Generator) -> ChainRNN:
    """A random automaton without one of the sizes that were planned."""
    while True:
        form = draw_chain(generator)
        if form.levels > 1:
            left_out = int(generator.integers(1, form.levels))
            return ChainRNN(form.automaton, form.sizes[:left_out] + form.sizes[left_out + 1 :])
