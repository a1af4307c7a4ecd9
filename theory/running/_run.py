"""`run`: a constructed LRNN on words, in a named arithmetic, compared with its automaton after every token.

Running an LRNN of several layers: each layer over the whole word before the next, bit by bit where it is exact.

A layer's letters are known for the whole word once the layer above has been run, so each head is run like a head
of one layer: in blocks side by side, every state compared bit for bit with the code that belongs there. The
read-out is then that of the codes.

Running an LRNN one token after another, several sequences side by side, with what is observed on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions._lrnn import LRNN
from ...constructions.automata._automaton import Indices
from ...foundation._arguments import require_callback, require_flag, require_optional_count, require_text
from ...foundation._errors import InputError
from .._kinds import kind_of, require_run
from .._realisations import RealisationLike, realisation_of
from ..arithmetic._rounding import FloatFormat, Floats, float_format
from ._block_run import BlockRun, HeadRun, block_length, carrier, follow, joint_transitions, lanes_of
from ._guarded import GuardedStepper, require_stepper
from ._report import RunReport, Tally
from ._stepper import (
    ExactStepper,
    FloatHead,
    LayeredStepper,
    LRNNStepper,
    Stepper,
    require_start,
    starting_row,
)
from ._words import Words, words_of

Progress = Callable[[float], None]
PROGRESS = "a function of the share that is done"
BUFFER_ENTRIES = 500_000
"""State entries that are kept before they are decoded together."""
TELL_AFTER = 1.0
"""Seconds after which progress is told."""
TELL_EVERY = 0.1


class TokenRun:
    """The run of an `LRNNStepper`, continued part by part; errors, norms and margins go to the tally."""

    def __init__(self, stepper: LRNNStepper, tally: Tally, sequences: int) -> None:
        self.stepper, self.tally = stepper, tally
        self.states = stepper.initial(sequences)
        entries = sum(head.dim * head.value_dim for head in stepper.heads)
        self.part_length = max(BUFFER_ENTRIES // max(entries * sequences, 1), 1)

    def place_at(self, rows: Indices) -> None:
        """Go on from the exact codes of rows of `LRNN.decode`, one a sequence."""
        self.states = self._codes(rows)

    def advance(self, part: NDArray[Any], right: Indices, done: int, rows: Indices | None = None) -> None:
        """Read letters `[sequences, T]`, T ≤ `part_length`, after `done` tokens; `right`: the states to be.

        With `rows`, the rows of `LRNN.decode` to be, a state counts as wrong unless it equals its code bit for bit.
        """
        history = self._steps(part)
        flat = [H.reshape(-1, *H.shape[2:]) for H in history]
        wanted = right.T.reshape(-1)
        decoded, margin = self.stepper.readout.observe(flat, wanted)
        wrong = decoded != wanted
        if rows is not None:
            # bit for bit the code that the table names
            for H, code in zip(flat, self._codes(rows.T.reshape(-1)), strict=True):
                wrong |= (code != H).any(axis=(1, 2))
        self.tally.add_errors(wrong.reshape(right.T.shape), done)
        self.tally.margin = min(self.tally.margin, margin)
        with np.errstate(all="ignore"):
            self.tally.add_norms(
                np.sqrt(sum((np.einsum("bij,bij->b", H, H) for H in flat), np.zeros(len(wanted))))
            )

    def _steps(self, part: NDArray[Any]) -> list[Floats]:
        """All states of a part, one array `[T, sequences, dim, value_dim]` a head."""
        by_token = np.ascontiguousarray(part.T).astype(np.int64)
        history = [np.empty((len(by_token), *H.shape)) for H in self.states]
        for t, x in enumerate(by_token):
            self.states = self.stepper.step(self.states, x)
            for H, kept in zip(self.states, history, strict=True):
                kept[t] = H
        return history

    def _codes(self, rows: Indices) -> list[Floats]:
        readout = self.stepper.readout
        return [codes.dense(readout.rows[rows, h]) for h, codes in enumerate(readout.codes)]


class Clock:
    """Wall-clock time since its making; tells progress once `TELL_AFTER` seconds have passed, every `TELL_EVERY` at most."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total = progress, max(total, 1)
        self._start = perf_counter()
        self._told = self._start + TELL_AFTER - TELL_EVERY

    def seconds(self) -> float:
        """Seconds so far."""
        return perf_counter() - self._start

    def tell(self, done: int) -> None:
        """Call the progress callback with the fraction done, if it is time."""
        now = perf_counter()
        if self._progress is not None and now - self._told >= TELL_EVERY:
            self._told = now
            self._progress(done / self._total)


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
        # a number type in which every product-sum of the head is exact
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
                # where the heads should be, by their tables of codes, and below whether they are there
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
            # the next layer's letters follow from the codes after each token
            x = np.where(x < 0, -1, layer.read_out(np.maximum(x, 0), after))
            clock.tell(done)
        # the last read-out is the state
        found.append(((x != right).T, done))
        state = right[:, -1]
        clock.tell(done + part.shape[1])
    for wrong, done in found:
        tally.add_errors(wrong, done)
    return True


"""Tokens of all sequences together that are in memory at once."""
MARGIN_ENTRIES = 400_000_000
"""Distances between codes are computed up to this many; beyond, a bit-exact run reports no margin."""


def run(
    model: RealisationLike,
    words: Any,
    *,
    dtype: str = "bf16",
    start: int | None = None,
    block: int | None = None,
    sequential: bool = False,
    progress: Progress | None = None,
) -> RunReport:
    """Run a realisation on words and count the tokens after which its state is wrong.

    An integer realisation, in a format that contains its integers, is run in blocks or in pieces of words side by side, which gives
    the same states as a run token by token. All other runs go token by token, with the sequences side by side.

    Args:
        model: a realisation as `construct` returns it, its certificate, or the path of a certificate, which is checked first.
        words: one word as a string or a list of letters; a list of equally long words; an int array `[sequences, T]` or `[T]`
            of letter indices; or the result of `random_stream`. Arrays of integers are always indices. A list of integers contains
            indices too, unless letters are integers: then it contains letters, and a list that could be either is refused if the
            two are different words. See `words_of`.
        dtype: a float format, used in the arithmetic of `LRNNStepper` and `DelayStepper`; for an `LRNN` also `exact`.
        start: for an `LRNN`, the index of the automaton's state in which the run starts (`Automaton.state_index` returns the index of a
            label); None for its start state.
        block: for an `LRNN`, the number of tokens of a block; None to choose it by the available memory.
        sequential: whether to run token by token in any case.
        progress: called with the fraction of the work that is done, once the run has lasted a second.

    Returns:
        The number of errors, the first error, norms and margins.

    Raises:
        InputError: `model` is neither a realisation nor a valid certificate of one, or a dtype, letter or start is wrong or not
            available for this kind of realisation.
    """
    found = realisation_of(model)
    read = words_of(words, found.automaton)
    require_text("dtype", dtype, "a float format such as bf16, or exact")
    require_optional_count("block", block, 1)
    sequential = require_flag("sequential", sequential)
    require_callback("progress", progress, PROGRESS)
    require_run(found, dtype, start)
    require_start(found.automaton, start)
    report: RunReport = kind_of(found).run(
        found, read, dtype=dtype, start=start, block=block, sequential=sequential, progress=progress
    )
    return report


def run_table(
    lrnn: LRNN,
    words: Words,
    *,
    dtype: str,
    start: int | None,
    block: int | None,
    sequential: bool,
    progress: Progress | None,
) -> RunReport:
    """`run` of a table: of one layer in blocks of `BlockRun`, of several layer after layer."""
    if lrnn.is_layered:
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

    In such a format a state that is not a code, bit for bit, names no state.
    """
    if any(layer.next_letter is None for layer in lrnn.layers):
        raise InputError(
            f"{lrnn.automaton.name}: the LRNN has {lrnn.depth} layers, and one is without a read-out"
        )
    row = starting_row(lrnn, start)
    if dtype != "exact":
        fmt = float_format(dtype)
        dtype = fmt.name
        clock, tally = Clock(progress, words.length * lrnn.depth), Tally()
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
    automaton: AutomatonLike,
    words: Any,
    *,
    dtype: str = "exact",
    start: int | None = None,
    progress: Progress | None = None,
) -> RunReport:
    """Run any `Stepper` token by token and count the tokens after which it decodes to a wrong state.

    The report contains no norms and margins.

    Args:
        stepper: the model to run.
        automaton: the automaton that gives the right states.
        words: words in any form that `run` accepts, or a `Words`.
        dtype: a name for the report; it has no other effect.
        start: index of the automaton's state in which the run starts; None for its start state.
        progress: called with the fraction of the work that is done.
    """
    automaton = as_automaton(automaton)
    words = words_of(words, automaton)
    require_start(automaton, start)
    require_callback("progress", progress, PROGRESS)
    if not isinstance(stepper, GuardedStepper):
        stepper = GuardedStepper(require_stepper(stepper), automaton)
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
            # the states of a chunk count only if every one of them was its code, bit for bit
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
