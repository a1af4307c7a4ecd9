"""DP.T6: any automaton in one layer with RWKV-7's swaps and copies; norm √2 a copy, so the product is unstable."""

from __future__ import annotations

from .assembly import one_code_a_state
from .automaton import Automaton
from .lrnn import LRNN, Transition
from .swap_copy import swap_copy_factors


def swap_copy_form(automaton: Automaton) -> LRNN:
    """One-hot states; a letter with map f is n - #components(f) factors, each a swap or a copy (`swap_copy`)."""
    n = len(automaton.states)
    copies = "" if automaton.is_permutation else ", norm up to √2 a factor: unstable under rounding"
    return one_code_a_state(
        automaton,
        n,
        [Transition(tuple(swap_copy_factors(image))) for image in automaton.transitions.tolist()],
        [((q, 0, 1),) for q in range(n)],
        theorem="DP.T6",
        construction=f"swaps and copies of {n} points (RWKV-7){copies}",
    )
