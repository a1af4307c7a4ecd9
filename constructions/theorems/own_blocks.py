"""own.blocks: any automaton with any number of factors a token, by a chain of sets over blocks of tokens.

What is built, and how it acts: `BlockRNN`. Here its sizes, its window and its counter are chosen, for each number of factors those with
the fewest layers, then the least work. All counters are integer, so that all layers are bit-exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...foundation._errors import NotRealisableError
from ...foundation._text import count_noun
from ..chains._blocks import BlockRNN
from ._blocks import budgets_below, chain_forms, counters_for, fewer_layers, largest_cost, least_block
from ._construction import Build, Construction, Problem
from .dp_t1 import lists_group
from .own_chain import require_states


def block_forms(problem: Problem, exactness: str) -> Sequence[Build]:
    """Forms for 1, 2, 3, 4, 6, 8, 12, ... factors a token, as long as own.chain needs more: those with fewer layers than all before them."""
    require_states(problem, "own.blocks")
    automaton = problem.automaton
    offers = chain_forms(automaton, problem.limits)
    costs = [largest_cost(automaton, sizes, copies=False) for sizes, _ in offers]
    if max(costs) < 2:
        raise NotRealisableError(
            f"{automaton.name}: own.blocks: own.chain has {count_noun(max(costs), 'factor')} a token; leave `theorem` out"
        )

    best: list[BlockRNN] = []
    for budget in budgets_below(max(costs)):
        forms = [
            BlockRNN(automaton, sizes, counter, window)
            for (sizes, window), cost in zip(offers, costs, strict=True)
            for counter in counters_for(
                least_block(cost, budget), window, budget, ("cycles", "ripple"), problem.limits.degree
            )
        ]
        best.append(min(forms, key=lambda form: (form.depth, form.work)))
    return [partial(_return_form, form) for form in fewer_layers(best)]


def _return_form(form: BlockRNN, _: Problem) -> BlockRNN:
    return form


def _has_block_delay(problem: Problem) -> bool:
    """DP.T1 has a group automaton on fewer points, but its certificate lists the group."""
    return problem.automaton.is_permutation and lists_group(problem)


CONSTRUCTION = Construction(
    source="own.blocks",
    title="any automaton with any number of factors a token, by a chain of sets over blocks of tokens",
    order=118,
    examples=("T3", "tomita:7", "random:states=6,letters=2,seed=1"),
    refusals={"mod:1": "one state needs no chain", "parity": "own.chain has 1 factor"},
    forms=block_forms,
    tells_state_before=True,
    is_beaten=_has_block_delay,
    beaten_by="DP.T1",
)
