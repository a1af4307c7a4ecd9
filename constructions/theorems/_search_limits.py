"""What the search for heads of a group automaton leaves out because the group is large, in words."""

from __future__ import annotations

from ..algebra.groups._actions import (
    MAX_TABLE,
    TransitiveAction,
    count_listed,
    is_abelian,
    is_sampled,
    transitive_action,
)
from ..automata._automaton import Automaton

FEW_FACTORS = 2
"""Factors of a letter in a head up to which nothing is said, as few groups need fewer."""


def list_search_limits(action: TransitiveAction, max_group: int) -> list[str]:
    """A sentence where the heads of a group were not sought among all its smaller actions.

    Args:
        action: the action that the search took, of `transitive_action`.
        max_group: the largest order of a group whose elements are listed.
    """
    if not action.regular:
        listed = count_listed(action.size, max_group)
        advice = ": raise `max_group`" if listed == max_group else ""
        return [
            f"some heads of the transition group were not tried: it has more than {listed:,} elements, so these were not listed, and heads "
            f"were sought by its actions on states, on blocks of them, and on a sample of sets of these{advice}"
        ]
    if is_abelian(action) or (action.size <= MAX_TABLE and not is_sampled(action)):
        return []
    return [
        f"some heads of the transition group were not tried: it has {action.size:,} elements, so heads were sought by a sample of its "
        "smaller actions"
    ]


def search_limits(automaton: Automaton, max_group: int) -> list[str]:
    """The same for an automaton; nothing where it is no group automaton, or keeps states that its start does not reach.

    Args:
        automaton: an automaton.
        max_group: the largest order of a group whose elements are listed.
    """
    if not automaton.is_permutation or len(automaton.reachable()) < len(automaton.states):
        return []
    return list_search_limits(transitive_action(automaton, max_group), max_group)
