"""States that no word tells apart: what is said of them where they are kept."""

from __future__ import annotations

from ...foundation._text import count_noun
from ._automaton import Automaton, output_classes

MAX_COMPARED = 2_000_000
"""Largest number of transitions of an automaton that `equal_states` looks at."""


def equal_states(automaton: Automaton) -> tuple[str, ...]:
    """A sentence about states that no word tells apart by the outputs, and how to merge them; nothing where there are none.

    Args:
        automaton: any automaton; states that were kept on purpose are not spoken of.
    """
    if automaton.keeps_points or automaton.transitions.size > MAX_COMPARED:
        return ()
    automaton = automaton.trim()
    count = int(output_classes(automaton).max()) + 1
    merged = len(automaton.states) - count
    if not merged:
        return ()
    return (
        f"no word tells {count_noun(merged, 'state')} of {len(automaton.states):,} from the others by the outputs, and they are kept: "
        f"`track` output merges them, which leaves {count:,}",
    )
