"""G.T4.printed: a cascade whose components read the new states of those before them is wrong."""

from __future__ import annotations

from ...constructions.cascade import cascade
from ...constructions.cascade_lrnn import cascade_lrnn
from ..claim import QUICK, Claim, Effort
from ..claim_evidence import refutation
from ..refutation import Refutation, refute
from ..verdict import Verdict
from .g_t4 import random_automaton

CLAIM = Claim(
    "G.T4.printed",
    "A cascade whose later components read new states",
    "proved",
    expected="refuted",
    uses=("G.T4",),
    repair="The read-out names the old state of a component: by the inverse permutation of its new state, or, after a "
    "reset, from a second copy of the state that the reset fills.",
)


def verify(effort: Effort = QUICK) -> Verdict:
    """In the cascade each component reads what the read-out of the one before emits, its new state.

    Statement: The cascade of permutation-reset automata follows the automaton when component i + 1 reads the letter and
        the states of components 1, ..., i after the letter.
    Direction: sufficient
    Hypotheses: A cascade with at least two levels.
    Arithmetic: exact
    Source: G, proof of Theorem 4
    Method: The cascades of random automata are wired as printed; breadth-first search finds a shortest word on which
        one names a wrong state, and the word is replayed factor by factor in exact numbers.
    Example:
        >>> print(verify().line())
        refuted (proved): computed 20 of 20 cascades wrong, claimed 0 cascades wrong
    """
    generator, found = effort.generator(), list[Refutation]()
    count = effort.pick(20, 300)
    while len(found) < count:
        automaton = random_automaton(generator)
        levels = cascade(automaton)
        if len(levels.levels) > 1:
            found.append(refute(cascade_lrnn(automaton, levels, wiring="printed")))
    wrong = [x for x in found if x.word is not None]
    first = min(wrong, key=lambda x: len(x.word or ()), default=None)
    return refutation(
        CLAIM,
        first and {"automaton": first.lrnn.automaton.transitions, **first.to_json()},
        lambda _: first is not None and refute(first.lrnn).word == first.word,
        computed=f"{len(wrong)} of {count} cascades wrong",
        claimed="0 cascades wrong",
        evidence={"cascades": count, "seed": effort.seed},
    )
