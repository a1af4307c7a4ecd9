"""Sizes, windows and counters of a `BlockRNN`: what own.blocks and R7 choose from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from ...foundation._errors import LimitError
from .._delay import Counter
from ..automata._automaton import Automaton, Indices
from ..chains._block_steps import list_maps
from ..chains._blocks import BlockRNN, block_length
from ..chains._sizes import Window, find_windows, moving_letters, plan_sizes
from ._block_delay import choose_counter
from ._construction import Limits

MAX_MAPS = 500
"""Most maps of words that are listed to find sizes that fall by more than one."""
MAX_PLANNED = 200_000
"""Most chains times maps that are listed for that."""


def plan_block_sizes(transitions: Indices, start: int, max_chains: int) -> tuple[int, ...]:
    """Sizes n = n_1 > n_2 > ... > 1 that suffice whatever words the blocks are.

    The second size is the largest image of a letter that merges states, since a word is injective unless one of its letters merges
    states. Where the maps of all words are few, the chains that they lead to are listed and decide the others; else each is one less.

    Args:
        transitions: int array `[letters, states]`.
        start: the state from which runs begin.
        max_chains: the most chains that are listed at one level; with 0 each size is one less than the one before.
    """
    n = transitions.shape[1]
    if max_chains == 0:
        return tuple(range(n, 0, -1))
    maps = list_maps(transitions, MAX_MAPS)
    if maps is not None:
        return plan_sizes(maps, [start], min(max_chains, MAX_PLANNED // len(maps)))
    ranks = {len(set(row)) for row in transitions.tolist()} - {n}
    return (n, *range(max(ranks, default=1), 0, -1))


def chain_forms(automaton: Automaton, limits: Limits) -> list[tuple[tuple[int, ...], int | None]]:
    """The sizes and windows on offer: a chain from all states, and one behind each window where every letter moves a state."""
    transitions = automaton.transitions
    found: list[tuple[tuple[int, ...], int | None]] = [
        (plan_block_sizes(transitions, automaton.start, limits.chains), None)
    ]
    if moving_letters(transitions).all():
        windows: list[Window] = []
        with suppress(LimitError):  # then the chain alone
            windows = find_windows(transitions, limits.window_sets)
        found += [(tuple(range(w.size, 0, -1)), w.length) for w in windows]
    return found


def counters_for(
    block: int, window: int | None, householders: int, kinds: tuple[str, ...], degree: int
) -> Iterator[Counter]:
    """Of each kind the least counter whose ring buffer has blocks of at least `block` tokens, if it has one.

    Args:
        block: the least m, at least 1.
        window: the letters that a window needs before two blocks, or None.
        householders: the most factors of a token, at least 1.
        kinds: kinds of counters, as `choose_counter` names them.
        degree: the largest degree of a number field.
    """
    # periods are even
    start = 2 * block + (window or 0)
    start += start % 2
    for kind in kinds:
        least = start
        while least <= 4 * start:
            counter = choose_counter(kind, least, householders, kind in ("cycles", "ripple"), degree)
            if counter is None:
                break
            if block_length(counter.period, window) >= block:
                yield counter
                break
            least = counter.period + 2


def largest_cost(automaton: Automaton, sizes: tuple[int, ...], copies: bool) -> int:
    """The most factors that a block needs in one level: `BlockRNN.level_costs`."""
    form = BlockRNN(automaton, sizes, Counter("", "", 2, ()), copies=copies)
    return max(form.level_costs, default=0)


def budgets_below(cost: int) -> list[int]:
    """1, 2, 3, 4, 6, 8, 12, ..., as far as they are less than `cost`."""
    found, budget = [], 1
    while budget < cost:
        found.append(budget)
        budget += max(1, 2 ** (budget.bit_length() - 2)) if budget > 1 else 1
    return found


def fewer_layers(forms: Sequence[BlockRNN]) -> list[BlockRNN]:
    """Of forms in the order of their factors, those that have fewer layers than all with as few factors or fewer.

    Args:
        forms: the forms; of those with equal factors and layers the one with the least work is taken.
    """
    kept: list[BlockRNN] = []
    for form in sorted(forms, key=lambda form: (form.householders, form.depth, form.work)):
        if not kept or form.depth < kept[-1].depth:
            kept.append(form)
    return kept


def least_block(cost: int, householders: int) -> int:
    """⌈cost/k⌉, at least 1."""
    return int(np.maximum(-(-cost // householders), 1))
