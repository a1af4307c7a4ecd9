"""Running an LRNN of several layers: each layer over the whole word before the next, bit by bit where it is exact.

A layer's letters are known for the whole word once the layer above has been run, so each head is run like a head
of one layer: in blocks side by side, every state compared bit for bit with the code that belongs there. The
read-out is then that of the codes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Indices
from ...constructions.lrnn import LRNN
from ..arithmetic.rounding import FloatFormat
from .block_run import HeadRun, block_length, carrier, lanes_of
from .bookkeeping import follow
from .head_steps import FloatHead
from .report import Tally
from .token_run import Clock
from .words import Words

CHUNK_TOKENS = 1_000_000


def run_layers(
    lrnn: LRNN,
    fmt: FloatFormat,
    words: Words,
    start_row: int,
    tally: Tally,
    clock: Clock,
    *,
    block: int | None = None,
    sequential: bool = False,
) -> bool:
    """Runs an integer LRNN in a format that holds its integers; errors go to the tally.

    A token is wrong where the last read-out names another state than the automaton's. False, with nothing tallied,
    where the arithmetic could not be carried out exactly or a state was not its code: it has to be run another way.
    """
    heads = []
    for head in lrnn.all_heads:
        weights = FloatHead(head, fmt).weights
        number = carrier([head], [weights], fmt)
        if number is None:
            return False
        heads.append(HeadRun(head, weights, fmt, number, np.arange(len(head.codes))))
    codes = [np.full(words.sequences, c) for c in lrnn.decode[start_row, 1:].tolist()]
    state = np.full(words.sequences, lrnn.decode[start_row, 0])
    size = max(CHUNK_TOKENS // max(words.sequences, 1), 1)
    found: list[tuple[NDArray[np.bool_], int]] = []
    for done in range(0, words.length, size):
        part = words.part(done, min(done + size, words.length))
        right = follow(lrnn.automaton.transitions, part, state)
        x: Indices = part.astype(np.int64)
        for layer, columns in zip(lrnn.layers, lrnn.columns, strict=True):
            after = []
            for h in range(columns.start, columns.stop):
                head = lrnn.all_heads[h]
                actions = head.action_of(np.maximum(x, 0))
                expected = follow(head.code_transitions, actions, codes[h])
                length = x.shape[1]
                used = (
                    length
                    if sequential
                    else block_length(head.dim * head.value_dim, words.sequences, length, block)
                )
                if not all(heads[h].agrees(*lanes) for lanes in lanes_of(actions, codes[h], expected, used)):
                    return False
                after.append(expected)
                codes[h] = expected[:, -1]
            x = np.where(x < 0, -1, layer.read_out(np.maximum(x, 0), after))
            clock.tell(done)
        found.append(((x != right).T, done))
        state = right[:, -1]
        clock.tell(done + part.shape[1])
    for wrong, done in found:
        tally.add_errors(wrong, done)
    return True
