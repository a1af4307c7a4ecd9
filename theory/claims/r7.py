"""R7: any regular language in four layers of RWKV-7 with one factor a token."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...constructions.automaton import Automaton
from ...constructions.block_counter import two_layer_counter
from ...constructions.spec import automaton_from_spec
from ..planning.swap_copy_delay import FourLayers, counter_defect, four_layers
from ..verifying.claim import QUICK, Claim, Effort
from ..verifying.evidence import supported
from ..verifying.verdict import Verdict

CLAIM = Claim(
    "R7",
    "Any regular language in four layers with one swap or copy a token",
    "supported",
    uses=("DP.T6", "DP.T1", "DP.L2", "DP.L3"),
)
Case = tuple[FourLayers, list[int]]


def verify(effort: Effort = QUICK) -> Verdict:
    """Four layers with one factor a token follow any automaton: two count, one remembers, one moves.

    Statement: Let an automaton have n states and m = n - 1. Two layers with one reflection each count the tokens modulo
        2m; one layer keeps the last 2m tokens, with the projection on e_(t mod 2m); the last layer applies, token by
        token, the at most m swaps and copies of the map of the block of m tokens before. Decoding with the steps
        still to come and the tokens of this block gives the automaton's state.
    Direction: sufficient
    Hypotheses: Two states or more; norms up to √2 are allowed in the last layer.
    Arithmetic: exact; the counter lies in Q(2cos 2π/N), all else is integer
    Source: R7, its theorem on regular languages, by the block delay of DP, Theorem 1
    Method: Random automata, all four layers run in exact numbers on random words; the counter is checked at each phase.
        With a block one token shorter than n - 1 the same check must find wrong states.
    Example:
        >>> print(verify().line())
        supported by 12 instances: no violation, as claimed
    """
    return supported(
        CLAIM,
        effort,
        count=effort.pick(12, 120),
        draw=lambda g: drawn(g, 0),
        broken=lambda g: drawn(g, 1),
        check=violation,
        tight=lambda case: any(len(case[0].block_steps(i, case[1])) == case[0].block for i in range(4)),
        assumptions=("what a layer's read-out computes is any function of its code and letter",),
    )


def drawn(generator: np.random.Generator, missing: int) -> Case:
    """A random automaton with three to five reachable states, its layers with blocks too short by `missing`, a word."""
    found = random_automaton(generator)
    layers = four_layers(found)
    if missing:
        block = layers.block - missing
        layers = FourLayers(found, block, two_layer_counter(2 * block))
    return layers, generator.integers(len(found.letters), size=60).tolist()


def random_automaton(generator: np.random.Generator) -> Automaton:
    """Three letters, three to five reachable states."""
    while True:
        found = automaton_from_spec(f"random:states=5,letters=3,seed={generator.integers(2**31)}")
        if len(found.states) > 2:
            return found


def violation(case: Case) -> Any:
    """The first token after which the layers' state is not the automaton's; None where there is none."""
    layers, word = case
    reason = counter_defect(layers.counter)
    if reason is not None or len(layers.counter.layers) != 2:
        return {"layers": len(layers.counter.layers), "counter": reason}
    state = layers.automaton.start
    for t, (letter, decoded) in enumerate(zip(word, layers.run(word), strict=True), start=1):
        state = int(layers.automaton.transitions[letter, state])
        if decoded != state:
            return {
                "transitions": layers.automaton.transitions,
                "word": word[:t],
                "decoded": decoded,
                "state": state,
            }
    return None
