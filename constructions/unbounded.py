"""G.A3: any automaton in one layer with one-hot states and its 0/1 transition matrices; the norm can exceed 1.

A baseline without the norm bound: the matrices are not products of GH factors with norm ≤ 1, and where a letter
merges k states the norm is √k, so that products of real, perturbed matrices of this kind need not stay bounded.
"""

from __future__ import annotations

import numpy as np

from .automaton import Automaton
from .lrnn import LRNN, Head, Layer, Transition


def unbounded(automaton: Automaton) -> LRNN:
    """The LRNN with A(x) e_q = e_{δ(q, x)} and H_0 = e_{q0}; integer, hence bit-exact in every format."""
    from .assembly import joint_rows

    size = len(automaton.states)
    seeds = [automaton.start, *(q for q in range(size) if q != automaton.start)]
    starts = np.array([[q, q] for q in (seeds if automaton.keeps_points else seeds[:1])])
    rows = joint_rows([automaton.transitions, automaton.transitions], starts)
    if rows is None:
        raise AssertionError("a one-hot code lies over one state")
    order = rows[:, 0]
    position = np.full(size, -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    transitions = tuple(
        Transition(matrix=tuple(sorted((int(r), q, 1) for q, r in enumerate(image))))
        for image in automaton.transitions
    )
    head = Head(
        size,
        1,
        transitions,
        tuple(((int(q), 0, 1),) for q in order),
        position[automaton.transitions[:, order]],
    )
    decode = np.stack([order, np.arange(len(order))], axis=1)
    return LRNN(
        automaton, (Layer((head,)),), decode, "G.A3", f"one-hot states and 0/1 matrices, {size} × {size}",
        ("the norm of a transition can exceed 1: no bound on a product of such matrices is claimed",),
    )  # fmt: skip
