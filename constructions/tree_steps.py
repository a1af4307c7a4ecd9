"""own.LMI on trees: to come."""

from __future__ import annotations

from .automaton import Automaton
from .lrnn import LRNN


def tree_steps(automaton: Automaton) -> LRNN | None:
    """None as long as there is no search."""
    return None
