"""From head plans to an `LRNN`: all reachable joint states, breadth first, each lying over one state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...foundation._errors import LimitError
from .._head import Head
from .._lrnn import LRNN, Layer
from .._realisation import Sparse, Transition
from ..automata._automaton import Automaton, Indices
from ._representations import MAX_CODES, HeadPlan, head_of


def assemble(
    automaton: Automaton,
    plans: Sequence[HeadPlan],
    *,
    theorem: str,
    construction: str,
    seeds: Sequence[int] | None = None,
    notes: Sequence[str] = (),
) -> LRNN | None:
    """Assemble a one-layer LRNN from head plans; None if a joint state would represent two states.

    Args:
        automaton: the automaton to be realised.
        plans: the plan of each head.
        theorem: the theorem that the result names as its source.
        construction: a one-line description of the construction.
        seeds: the states to which the initial states of the plans belong, the start state first; by default only
            the start state.
        notes: sentences about the alternatives that were compared and about bounds.

    Raises:
        LimitError: there are more than two million joint states.
    """
    orbits = [plan.orbit() for plan in plans]
    states = [automaton.start] if seeds is None else list(seeds)
    starts = np.array(
        [[q, *(orbit.seeds[s] for orbit in orbits)] for s, q in enumerate(states)], dtype=np.int64
    )
    tables = [automaton.transitions, *(orbit.transitions for orbit in orbits)]
    rows = joint_rows(tables, starts)
    if rows is None:
        return None
    heads: list[Head] = []
    decode = rows.copy()
    for h, (plan, orbit) in enumerate(zip(plans, orbits, strict=True)):
        # codes are numbered in the order in which the rows first name them
        order = list(dict.fromkeys(rows[:, h + 1].tolist()))
        position = np.full(len(orbit.codes), -1, dtype=np.int64)
        position[order] = np.arange(len(order))
        decode[:, h + 1] = position[rows[:, h + 1]]
        heads.append(head_of(plan, orbit, order, plan.factors()))
    return LRNN(automaton, (Layer(tuple(heads)),), decode, theorem, construction, tuple(notes))


def one_code_a_state(
    automaton: Automaton,
    dim: int,
    transitions: Sequence[Transition],
    codes: Sequence[Sparse],
    *,
    theorem: str,
    construction: str,
    notes: Sequence[str] = (),
) -> LRNN:
    """The one-layer LRNN of a single head in which each state has the one code `codes[state]`, a column.

    The transitions must carry codes as the automaton carries states. Kept points that the start does not reach
    follow, each as a further seed.
    """
    size = len(automaton.states)
    # kept points are seeds of their own, and known ones are skipped
    seeds = [automaton.start, *range(size)] if automaton.keeps_points else [automaton.start]
    rows = joint_rows([automaton.transitions] * 2, np.array([[q, q] for q in seeds]))
    if rows is None:
        raise AssertionError("each state has a code of its own")
    order = rows[:, 0]
    position = np.empty(size, dtype=np.int64)
    position[order] = np.arange(size)
    head = Head(
        dim,
        1,
        tuple(transitions),
        tuple(codes[q] for q in order.tolist()),
        position[automaton.transitions[:, order]],
    )
    decode = np.stack([order, np.arange(size)], axis=1)
    return LRNN(automaton, (Layer((head,)),), decode, theorem, construction, tuple(notes))


def lay_side_by_side(
    automaton: Automaton,
    quotients: Sequence[LRNN],
    *,
    theorem: str,
    construction: str,
    notes: Sequence[str] = (),
) -> LRNN | None:
    """The heads of one-layer LRNNs of quotients as one layer of the automaton; None if a joint state would represent two states.

    Args:
        automaton: the automaton to be realised; its start reaches all its states.
        quotients: one-layer LRNNs of quotients of the automaton, with the same letters.
        theorem: the theorem that the result names as its source.
        construction: a one-line description of the construction.
        notes: sentences about the alternatives that were compared and about bounds.

    Raises:
        LimitError: there are more than two million joint states.
    """
    heads = [head for lrnn in quotients for head in lrnn.only_layer.heads]
    letters = np.arange(len(automaton.letters))
    tables = [head.code_transitions[head.action_of(letters)] for head in heads]
    seed = np.concatenate([[automaton.start], *(lrnn.decode[0, 1:] for lrnn in quotients)])
    rows = joint_rows([automaton.transitions, *tables], seed[None].astype(np.int64))
    if rows is None:
        return None
    decode = rows.copy()
    ordered = []
    for h, head in enumerate(heads):
        order = np.array(list(dict.fromkeys(rows[:, h + 1].tolist())), dtype=np.int64)
        position = np.full(len(head.codes), -1, dtype=np.int64)
        position[order] = np.arange(len(order))
        decode[:, h + 1] = position[rows[:, h + 1]]
        codes = tuple(head.codes[c] for c in order.tolist())
        ordered.append(replace(head, codes=codes, code_transitions=position[head.code_transitions[:, order]]))
    return LRNN(automaton, (Layer(tuple(ordered)),), decode, theorem, construction, tuple(notes))


def joint_rows(tables: Sequence[Indices], starts: Indices) -> Indices | None:
    """Joint states reachable from the first seed, then from each further one, breadth first, letters in order.

    `tables`: one transition table `[letters, size]` for the automaton and for each head. None where two rows
    agree in the heads but not in the state.
    """
    sizes = [table.shape[1] for table in tables]
    seen: dict[int, int] = {}
    blocks: list[Indices] = []

    def keys_of(rows: Indices) -> Indices:
        # joint codes as numbers: mixed radix, in Python's integers beyond 62 bits
        keys: Indices = np.zeros(len(rows), dtype=object if _product(sizes[1:]) > 2**62 else np.int64)
        for column, size in enumerate(sizes[1:], start=1):
            keys = keys * size + rows[:, column]
        return keys

    for seed in starts:
        frontier = seed[None, :]
        while len(frontier):
            keys = keys_of(frontier)
            # of equal joint codes the first one goes on, where all lie over one state
            _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
            if (frontier[first, 0][inverse.reshape(-1)] != frontier[:, 0]).any():
                return None
            first.sort()
            frontier, keys = frontier[first], keys[first]
            fresh = []
            for i, (key, state) in enumerate(zip(keys.tolist(), frontier[:, 0].tolist(), strict=True)):
                known = seen.get(key)
                if known is None:
                    seen[key] = state
                    fresh.append(i)
                elif known != state:
                    # one joint code over two states could not be decoded
                    return None
            frontier = frontier[fresh]
            if not len(frontier):
                break
            blocks.append(frontier)
            if len(seen) > MAX_CODES:
                raise LimitError(f"more than {MAX_CODES:,} joint states are reachable")
            # the next rows: row by row, and for each row letter by letter
            images = np.stack([table[:, frontier[:, c]].T for c, table in enumerate(tables)], axis=2)
            frontier = images.reshape(-1, len(tables))
    return np.concatenate(blocks)


def _product(sizes: Sequence[int]) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result
