"""What the claims about chains of sets share: random automata, and the search of all states of a chain's layers."""

from __future__ import annotations

import numpy as np

from ...constructions.automata._automaton import Automaton
from ...constructions.chains._chain import ChainRNN
from ..proofs._prove import prove
from ..running._chain import ChainStepper
from ._parts import defect

MAX_STATES = 3_000


def draw_automaton(generator: np.random.Generator, most: int = 6) -> Automaton:
    """Two or three uniform maps of 2 to `most` states; unreachable states are kept."""
    n, k = int(generator.integers(2, most + 1)), int(generator.integers(2, 4))
    transitions = generator.integers(0, n, (k, n))
    outputs = np.array([q == 0 for q in range(n)], dtype=object)
    letters = tuple("abc"[:k])
    return Automaton(
        tuple(range(n)), letters, transitions, int(generator.integers(n)), outputs, "drawn", keeps_points=True
    )


def find_defect(form: ChainRNN) -> str | None:
    """What is wrong with a chain: by its checker, and by its factors in every state of the layers that words lead to.

    The search knows nothing of the rule: it applies the factors of each letter to every state it finds, reads the layers out,
    and compares the state that the last one names with the automaton's.
    """
    searched = prove(ChainStepper(form), form.automaton, "exact", max_states=MAX_STATES)
    if searched.verdict == "counterexample":
        return f"{form!r}: {searched.reason}"
    return defect(form)
