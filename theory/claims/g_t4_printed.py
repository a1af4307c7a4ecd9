"""G.T4.printed: a cascade whose components read the new states of those before them is wrong."""

from __future__ import annotations

from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness
from ._printed_cascades import refute_printed_cascades, replay_witness, write_shortest
from .g_t4 import random_automaton

CLAIM = Claim(
    "G.T4.printed",
    "A cascade whose later components read new states",
    "refuted",
    uses=("G.T4",),
    repair="The read-out names the old state of a component: by the inverse permutation of its new state, or, after a "
    "reset, from a second copy of the state that the reset fills.",
    formal=("Cascades.printed_wiring",),
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
        one names a wrong state, and the word is replayed factor by factor in exact numbers,
        from what is written of it and of its automaton.
    Example:
        >>> print(verify().line())
        refuted: computed 20 of 20 cascades wrong, claimed 0 cascades wrong
    """
    generator, count = effort.generator(), effort.pick(20, 300)
    found = refute_printed_cascades(lambda: random_automaton(generator), count)
    wrong = [x for x in found if x.word is not None]
    return refute_by_witness(
        CLAIM,
        write_shortest(found),
        replay_witness,
        computed=f"{len(wrong)} of {count} cascades wrong",
        claimed="0 cascades wrong",
        evidence={"cascades": count, "seed": effort.seed},
    )
