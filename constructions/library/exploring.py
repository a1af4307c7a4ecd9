"""The reachable automaton of a rule `(state, letter) -> state`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..automaton import Automaton, Label, object_array

State = TypeVar("State", bound=Hashable)


def explored(
    name: str,
    letters: Sequence[Label],
    *,
    start: State,
    step: Callable[[State, Label], State],
    output: Callable[[State], Any],
    label: Callable[[State], Label] = lambda state: state,
) -> Automaton:
    """All states that `step` reaches from `start`, breadth first, letters in their order.

    `label` names a state (different states, different names), `output` is its output.
    """
    found = {start: 0}
    order = [start]
    rows = []
    for state in order:
        row = []
        for letter in letters:
            target = step(state, letter)
            if target not in found:
                found[target] = len(order)
                order.append(target)
            row.append(found[target])
        rows.append(row)
    return Automaton(
        tuple(label(state) for state in order),
        tuple(letters),
        np.array(rows, dtype=np.int64).T,
        0,
        object_array(output(state) for state in order),
        name,
    )
