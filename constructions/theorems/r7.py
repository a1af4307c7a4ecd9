"""R7: any automaton by swaps and copies, as few a token as wanted, with a delay of one block; four layers for one a token.

What is built, and how it acts: `BlockRNN` with copies. Here its counter is chosen. A copy has the norm √2, as in DP.T6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...foundation._errors import NotRealisableError
from ...foundation._text import count_noun
from ..chains._blocks import BlockRNN
from ._blocks import budgets_below, counters_for, fewer_layers, largest_cost, least_block
from ._construction import Build, Construction, Problem
from .dp_t1 import COUNTERS
from .own_chain import require_states


def copy_forms(problem: Problem, exactness: str) -> Sequence[Build]:
    """Forms for 1, 2, 3, 4, 6, 8, 12, ... factors a token, as long as DP.T6 needs more: those with fewer layers than all before them.

    Those with an integer counter, and with `exactness` any, where it saves layers, those with an algebraic one.
    """
    require_states(problem, "R7")
    automaton = problem.automaton
    sizes = (len(automaton.states), 1)
    cost = largest_cost(automaton, sizes, copies=True)
    if cost < 2:
        raise NotRealisableError(
            f"{automaton.name}: R7: DP.T6 has {count_noun(cost, 'factor')} a token, in one layer; leave `theorem` out"
        )
    integer: list[BlockRNN] = []
    algebraic: list[BlockRNN] = []
    for budget in budgets_below(cost):
        for counter in counters_for(
            least_block(cost, budget), None, budget, tuple(COUNTERS)[1:], problem.limits.degree
        ):
            form = BlockRNN(automaton, sizes, counter, copies=True)
            (integer if counter.integer else algebraic).append(form)
    kept = fewer_layers(integer)
    if exactness == "any":
        # an algebraic counter is worth its rounding only where it saves layers
        kept = fewer_layers([*kept, *algebraic])
        kept += [form for form in fewer_layers(integer) if form not in kept]
    return [partial(_return_form, form) for form in kept]


def _return_form(form: BlockRNN, _: Problem) -> BlockRNN:
    return form


CONSTRUCTION = Construction(
    source="R7",
    title="swaps and copies of RWKV-7 over blocks of tokens, norm up to √2 a factor, any number a token",
    order=132,
    examples=("T3", "tomita:7", "S4"),
    refusals={"mod:1": "one state needs no chain", "parity": "DP.T6 has 1 factor"},
    forms=copy_forms,
    by_request="its norm can exceed 1",
    norm_bounded=False,
    tells_state_before=True,
    for_group_automata=False,  # DP.T1 has the same swaps on fewer points
)
