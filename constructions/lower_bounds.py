"""Simple lower bounds for one layer with ‖A‖ ≤ 1 and finitely many reachable states (H.rank).

A letter of order r on the states needs A of order at least r on the reachable states' span, and one GH factor
gives order 1 or 2 there; so a letter of order 3 or more needs two factors, any other non-identity letter one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .automaton import Automaton


def lower_bounds(automaton: Automaton) -> list[dict[str, Any]]:
    """Bounds on `householders` in one layer, each with the letter and the reason; empty where none is known."""
    identity = np.arange(len(automaton.states))
    best: tuple[int, int] | None = None
    for x, image in enumerate(automaton.transitions):
        if (image == identity).all() or len(np.unique(image)) < len(image):
            continue
        need = 1 if (image[image] == identity).all() else 2
        if best is None or need > best[0]:
            best = need, x
    if best is None:
        return []
    need, x = best
    order = "2" if need == 1 else "3 or more"
    return [
        {
            "figure": "householders",
            "at_least": need,
            "letter": x,
            "reason": f"H.rank: letter {automaton.letters[x]!r} has order {order} on the states; one layer, norm ≤ 1, "
            "finitely many reachable states",
        }
    ]
