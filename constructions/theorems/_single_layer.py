"""Any realisation in one layer of an automaton that is a part of a larger construction: a quotient, or what is left of it."""

from __future__ import annotations

from contextlib import suppress

from ...foundation._errors import LimitError, NotRealisableError
from .._lrnn import LRNN
from .._realisation import cost
from ._construction import Problem
from ._one_layer import group_lrnn
from .own_definite import shift_register
from .own_lmi import moving_or_resetting

MAX_TREE_STEPS = 2_000
"""Most steps of the search for a tree on the states of one part."""


def single_layer(problem: Problem, exactness: str = "any", one_column: bool = False) -> LRNN | None:
    """The one-layer LRNN with the least work: of a group, of permutations and resets, of own.LMI, or a shift register; None where there is none.

    Args:
        problem: the automaton and limits.
        exactness: `any`, or `integer` for integers only.
        one_column: whether states of several columns, as shift registers have, are left out; those of groups are not.
    """
    limits = problem.limits
    found: list[LRNN] = []
    try:
        if problem.automaton.is_permutation:
            return group_lrnn(
                problem.automaton,
                exactness=exactness,
                max_degree=limits.degree,
                max_group=limits.group,
            )
        if problem.permutes_or_resets:
            found.append(problem.layers_of_cascade("G.T4"))
        found.append(moving_or_resetting(problem, max_steps=MAX_TREE_STEPS))
    except (NotRealisableError, LimitError):
        pass
    with suppress(NotRealisableError, LimitError):
        found.append(shift_register(problem))
    if one_column:
        found = [f for f in found if all(head.value_dim == 1 for head in f.all_heads)]
    return min(found, key=lambda f: (f.work or 0, cost(f)), default=None)
