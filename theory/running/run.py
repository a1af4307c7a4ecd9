"""`run`: a constructed LRNN on words, in a named arithmetic, compared with its automaton after every token."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...constructions.automaton import Automaton
from ...constructions.errors import InputError
from ...constructions.lrnn import LRNN
from ..arithmetic.rounding import float_format
from .block_run import BlockRun, carrier
from .bookkeeping import follow, joint_transitions
from .layered_run import run_layers
from .layered_stepper import LayeredStepper
from .report import RunReport, Tally
from .stepper import ExactStepper, LRNNStepper, Stepper, starting_row
from .token_run import Clock, Progress, TokenRun
from .words import Words, words_of

CHUNK_TOKENS = 1_000_000
"""Tokens of all sequences together that are in memory at once."""
MARGIN_ENTRIES = 400_000_000
"""Distances between codes are computed up to this many; beyond, a bit-exact run reports no margin."""


def run(
    lrnn: LRNN,
    letters: Any,
    *,
    dtype: str = "bf16",
    start: int | None = None,
    block: int | None = None,
    sequential: bool = False,
    progress: Progress | None = None,
) -> RunReport:
    """Runs the LRNN over words and counts the tokens after which its state is wrong.

    `letters`: int array `[sequences, T]` of letter indices, or what `random_stream` gives. `dtype`: a float format,
    in the arithmetic of `LRNNStepper`, or `exact`. `start`: index of the automaton's state to begin with.
    An integer LRNN in a format that holds its integers is run in blocks of `block` tokens side by side
    (`BlockRun`), which gives the states of the token by token run; `sequential` runs it one token after another.
    All other runs go token by token, the sequences side by side. `progress` is called with the finished fraction
    once the run has lasted a second. Raises `InputError` for a wrong dtype, letter or start.
    """
    words = words_of(letters, lrnn.automaton)
    if len(lrnn.layers) > 1:
        return _several_layers(lrnn, words, dtype, start, block, sequential, progress)
    if dtype == "exact":
        return track(ExactStepper(lrnn, start), lrnn.automaton, words, start=start, progress=progress)
    clock = Clock(progress, words.length)
    stepper = LRNNStepper(lrnn, float_format(dtype), start)
    if stepper.fmt.name in lrnn.formats:
        tally, order = _bit_by_bit(stepper, words, clock, block, sequential)
    else:
        tally, order = _by_nearest_code(stepper, words, clock)
    return tally.report(
        words.sequences, words.length, dtype=stepper.fmt.name, order=order, seconds=clock.seconds()
    )


def _several_layers(
    lrnn: LRNN,
    words: Words,
    dtype: str,
    start: int | None,
    block: int | None,
    sequential: bool,
    progress: Progress | None,
) -> RunReport:
    """Bit by bit, layer after layer, where the format holds the integers; else token by token.

    In such a format a state that is no code, bit for bit, names no state.
    """
    if any(layer.next_letter is None for layer in lrnn.layers):
        raise InputError(
            f"{lrnn.automaton.name}: the LRNN has {len(lrnn.layers)} layers, and one is without a read-out"
        )
    row = starting_row(lrnn, start)
    if dtype != "exact":
        fmt = float_format(dtype)
        dtype = fmt.name
        clock, tally = Clock(progress, words.length * len(lrnn.layers)), Tally()
        if dtype in lrnn.formats and run_layers(
            lrnn, fmt, words, row, tally, clock, block=block, sequential=sequential
        ):
            order = "layer after layer, token by token"
            if not sequential:
                order += " in blocks whose first states are verified bit for bit"
            return tally.report(
                words.sequences, words.length, dtype=dtype, order=order, seconds=clock.seconds()
            )
    return track(
        LayeredStepper(lrnn, dtype, row, strict=dtype in lrnn.formats),
        lrnn.automaton,
        words,
        dtype=dtype,
        start=start,
        progress=progress,
    )


def track(
    stepper: Stepper,
    automaton: Automaton,
    letters: Any,
    *,
    dtype: str = "exact",
    start: int | None = None,
    progress: Progress | None = None,
) -> RunReport:
    """Runs any `Stepper` token by token and counts the tokens after which it decodes to a wrong state.

    `letters`: words as for `run`, or a `Words`; `start` as there; `dtype` is only reported. Norms and margins are not observed.
    """
    words = words_of(letters, automaton)
    clock, tally = Clock(progress, words.length), Tally()
    current = np.full(words.sequences, automaton.start if start is None else start)
    states = stepper.initial(words.sequences)
    size = max(CHUNK_TOKENS // max(words.sequences, 1), 1)
    for done in range(0, words.length, size):
        part = np.asarray(words.part(done, min(done + size, words.length)), dtype=np.int64)
        right = follow(automaton.transitions, part, current)
        wrong = np.empty((part.shape[1], words.sequences), dtype=bool)
        for t in range(part.shape[1]):
            states = stepper.step(states, part[:, t])
            wrong[t] = stepper.decode(states, part[:, t]) != right[:, t]
            if t % 1000 == 0:
                clock.tell(done + t)
        tally.add_errors(wrong, done)
        current = right[:, -1]
    return tally.report(
        words.sequences, words.length, dtype=dtype, order="token by token", seconds=clock.seconds()
    )


def _by_nearest_code(stepper: LRNNStepper, words: Words, clock: Clock) -> tuple[Tally, str]:
    """Rounded states, decoded by the nearest code."""
    lrnn, tally = stepper.lrnn, Tally()
    current = np.full(words.sequences, lrnn.decode[stepper.start_row, 0])
    tokens = TokenRun(stepper, tally, words.sequences)
    for done in range(0, words.length, tokens.part_length):
        part = words.part(done, min(done + tokens.part_length, words.length))
        right = follow(lrnn.automaton.transitions, part, current)
        tokens.advance(part, right, done)
        current = right[:, -1]
        clock.tell(done + part.shape[1])
    order = "token by token, nearest code"
    if lrnn.integer_bound is not None:
        order += f": {stepper.fmt.name} does not hold all integers up to {lrnn.integer_bound}"
    return tally, order


def _bit_by_bit(
    stepper: LRNNStepper, words: Words, clock: Clock, block: int | None, sequential: bool
) -> tuple[Tally, str]:
    """Integer states in a format that holds them: in blocks as long as all is right, else token by token."""
    lrnn, tally = stepper.lrnn, Tally()
    table = joint_transitions(lrnn)
    row = np.full(words.sequences, stepper.start_row)
    visited = np.zeros(len(lrnn.decode), dtype=bool)
    number = carrier(stepper.heads, stepper.weights, stepper.fmt)
    blocks = None if number is None else BlockRun(lrnn, stepper.weights, stepper.fmt, number)
    tokens: TokenRun | None = None
    done = 0
    while done < words.length:
        if blocks is None:
            tokens = tokens or TokenRun(stepper, tally, words.sequences)
            size = tokens.part_length
        else:
            size = max(CHUNK_TOKENS // max(words.sequences, 1), 1)
        part = words.part(done, min(done + size, words.length))
        expected = follow(table, part, row)
        if blocks is not None:
            length = part.shape[1]
            used = length if sequential else blocks.block_length(words.sequences, length, block)
            if not blocks.agrees(part, row, expected, used):
                blocks, tokens = None, TokenRun(stepper, tally, words.sequences)
                tokens.place_at(row)  # all was right up to here
                continue
            visited[expected] = True
        elif tokens is not None:
            tokens.advance(part, lrnn.decode[expected, 0], done, expected)
        row = expected[:, -1]
        done += part.shape[1]
        clock.tell(done)
    _observe_codes(stepper, np.flatnonzero(visited), tally)
    in_blocks = blocks is not None and not sequential
    return tally, "token by token, in blocks whose first states are verified bit for bit" if in_blocks else (
        "token by token"
    )


def _observe_codes(
    stepper: LRNNStepper, rows: np.ndarray[tuple[int], np.dtype[np.int64]], tally: Tally
) -> None:
    """Norms and margins of a bit-exact run: those of the codes that it visited."""
    tally.add_norms(stepper.readout.row_norms(rows))
    if len(rows) * stepper.readout.cost <= MARGIN_ENTRIES:
        tally.margin = min(tally.margin, float(stepper.readout.row_margins(rows).min(initial=np.inf)))
