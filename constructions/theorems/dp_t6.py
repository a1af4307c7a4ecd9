"""DP.T6: any automaton in one layer with RWKV-7's swaps and copies; norm √2 a copy, so the product is unstable.

The maps as swaps and copies are in `algebra/_swap_copy.py`.
"""

from __future__ import annotations

from ...foundation._text import count_noun
from .._lrnn import LRNN
from .._realisation import Transition
from ..algebra._swap_copy import swap_copy_factors
from ..automata._automaton import Automaton
from ..heads._assembly import one_code_a_state
from ._construction import Construction, Problem


def swap_copy_form(automaton: Automaton) -> LRNN:
    """Realise an automaton with one-hot states; a letter with map f has n - #components(f) factors, swaps and copies.

    Args:
        automaton: the automaton to be realised.
    """
    n = len(automaton.states)
    copies = "" if automaton.is_permutation else ", norm up to √2 a factor: unstable under rounding"
    return one_code_a_state(
        automaton,
        n,
        [Transition(tuple(swap_copy_factors(image))) for image in automaton.transitions.tolist()],
        [((q, 0, 1),) for q in range(n)],
        theorem="DP.T6",
        construction=f"swaps and copies of {count_noun(n, 'point')} (RWKV-7){copies}",
    )


def _build(problem: Problem) -> LRNN:
    return swap_copy_form(problem.automaton)


CONSTRUCTION = Construction(
    source="DP.T6",
    title="swaps and copies of RWKV-7 in one layer, norm up to √2 a factor, for any automaton",
    order=130,
    examples=("T3", "tomita:7", "S4", "mod:1"),
    build=_build,
    by_request="its norm can exceed 1",
    norm_bounded=False,
)
