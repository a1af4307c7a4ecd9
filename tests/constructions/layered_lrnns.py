"""LRNNs of several layers for tests: cascades, and one by hand whose second layer reads two heads of the first."""

from __future__ import annotations

import numpy as np

from mirrormata.constructions._head import Head
from mirrormata.constructions._lrnn import LRNN, Layer
from mirrormata.constructions._realisation import Transition
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._householder import gh_factor, swap
from mirrormata.constructions.algebra._swap_copy import swap_copy_factors
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.cascades._cascade import cascade
from mirrormata.constructions.cascades._layers import CoordinateKind, cascade_lrnn

CASCADES = ("mod_arith:3", "tomita:3", "boxes:2,2", "dyck:2,2", "gridworld:4")


def built(spec: str, coordinates: CoordinateKind = "few", gated: bool = False) -> LRNN:
    """The cascade LRNN of an automaton."""
    automaton = automaton_from_spec(spec)
    return cascade_lrnn(automaton, cascade(automaton), coordinates=coordinates, gated=gated)


def two_parities() -> LRNN:
    """a and b flip a parity each; a third flips when a comes while both are odd. No covering; eight states."""
    flips = np.array([[0, 1], [1, 0]])
    sign = gh_factor(2, {0: 1})
    codes = (((0, 0, 1),), ((0, 0, -1),))
    parities = tuple(
        Head(1, 1, tuple(Transition((sign,) * f) for f in row), codes, flips[list(row)])
        for row in ((1, 0), (0, 1))
    )
    first = Layer(parities, np.array([[0, 1], [0, 1]]), np.arange(8).reshape(2, 4))
    third = Head(
        2, 1, (Transition(), Transition((swap(0, 1),))), (((0, 0, 1),), ((1, 0, 1),)), flips,
        np.array([0, 0, 0, 1, 0, 0, 0, 0]),
    )  # fmt: skip
    after = np.zeros((8, 2), dtype=np.int64)
    for y in range(8):
        x, p, q = y // 4, y // 2 % 2, y % 2
        for r in range(2):
            after[y, r] = 4 * (p ^ (x == 0)) + 2 * (q ^ (x == 1)) + (r ^ (y == 3))
    transitions = np.array([[after[4 * x + s // 2, s % 2] for s in range(8)] for x in range(2)])
    names = tuple(f"{s:03b}" for s in range(8))
    automaton = Automaton(names, ("a", "b"), transitions, 0, np.array(names, dtype=object), "two parities")
    rows, seen = [0], {0}
    for s in rows:
        for x in range(2):
            if (t := int(transitions[x, s])) not in seen:
                seen.add(t)
                rows.append(t)
    decode = np.array([[s, s // 4, s // 2 % 2, s % 2] for s in rows])
    last = Layer((third,), np.zeros((8, 1), dtype=np.int64), after)
    return LRNN(automaton, (first, last), decode, "by hand", "two parities below a swap")


def with_copies() -> LRNN:
    """One layer, one-hot states, letters as swaps and masked copies."""
    maps = np.array([[1, 2, 3, 0], [0, 0, 2, 2], [1, 1, 1, 1]])
    states = np.arange(4)
    automaton = Automaton(tuple(range(4)), ("r", "m", "c"), maps, 0, states.astype(object), "copies")
    head = Head(
        4, 1, tuple(Transition(swap_copy_factors(row)) for row in maps.tolist()),
        tuple(((q, 0, 1),) for q in range(4)), maps,
    )  # fmt: skip
    return LRNN(automaton, (Layer((head,)),), np.stack([states, states], axis=1), "DP.T6", "swaps and copies")
