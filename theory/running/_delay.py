"""`DelayStepper`: a block delay (DP.T1) with all its layers, token by token, in a float format.

Arithmetic, named `per_step:<dtype>`: a counter's matrix is the exact product of its factors, rounded entry by entry
once to the dtype, and its state the exact product-sum, rounded once; its code is the nearest one. The buffer's row
is erased by its projection and written. The last layer's swaps v = e_i - e_j are applied one after another: s = vᵀH,
H ← H - s·v, exact on integers; they permute numbers of the dtype, so there is nothing to round.

A block delay on words, in a float format; long words in pieces side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...constructions._delay import BlockDelay, RowIndex, swap_table
from ...constructions.automata._automaton import Indices
from ..arithmetic._rounding import FloatFormat, Floats, float_format, round_array
from ._block_run import follow
from ._counters import CounterStepper
from ._report import RunReport, Tally
from ._run import CHUNK_TOKENS, Clock, Progress, track
from ._words import Words


@dataclass(frozen=True, eq=False)
class DelayState:
    """The states of all layers for several sequences, and what the lower layers told the last one at its last token.

    `counters`: `[sequences, dim]` for each head. `buffer`: `[sequences, 2m, letters]`. `last`: `[sequences, n]`.
    `phase`: `[sequences]`. `recent`: the tokens of the current block so far, `[sequences, m]`, -1 for none.
    `swaps`: the two points of each swap of the product of the block before, `[2, sequences, m, n_h]`.
    """

    counters: tuple[Floats, ...]
    buffer: NDArray[np.float32]
    last: Floats
    phase: Indices
    recent: Indices
    swaps: Indices

    def same_numbers(self, other: DelayState) -> bool:
        """Bit for bit the same states of all layers."""
        mine, others = ([*state.counters, state.buffer, state.last] for state in (self, other))
        return all(bool(np.all(a == b)) for a, b in zip(mine, others, strict=True))

    def at(self, sequences: slice) -> DelayState:
        """Some of the sequences."""
        return DelayState(
            tuple(H[sequences] for H in self.counters), self.buffer[sequences], self.last[sequences],
            self.phase[sequences], self.recent[sequences], self.swaps[:, sequences],
        )  # fmt: skip


def side_by_side(states: Sequence[DelayState]) -> DelayState:
    """The sequences of several states, one after another."""
    return DelayState(
        tuple(np.concatenate(H) for H in zip(*(s.counters for s in states), strict=True)),
        np.concatenate([s.buffer for s in states]),
        np.concatenate([s.last for s in states]),
        np.concatenate([s.phase for s in states]),
        np.concatenate([s.recent for s in states]),
        np.concatenate([s.swaps for s in states], axis=1),
    )


class DelayStepper:
    """A `BlockDelay` in a float format; a `Stepper` whose states are `DelayState`.

    Args:
        form: the block delay.
        dtype: a dtype, such as `bf16`, or a `FloatFormat`.
    """

    def __init__(self, form: BlockDelay, dtype: str | FloatFormat) -> None:
        self.form = form
        self.fmt = float_format(dtype)
        exact = self.fmt.name in form.formats
        m, d = form.block, 2 * form.block
        self.counter = CounterStepper(form.counter, self.fmt, exact)
        # φ ↦ j, the place of token t in its block: 1, ..., m, and m at phase 0
        self.position = (np.arange(d) - 1) % m + 1
        # the slots, t mod 2m, of the tokens of the current block and of the one before
        slots = (np.arange(d) - self.position)[:, None] + np.arange(1, m + 1)
        self.slots_now, self.slots_before = slots % d, (slots - m) % d
        self.images = np.concatenate([form.points, np.arange(form.degree)[None]])  # token -1 is the identity
        # P_x h is h taken along the inverse of p_x
        self.inverses = np.argsort(self.images, axis=1)
        self.codes, self.code_states = form.codes
        self.index = RowIndex(self.codes)
        if form.elements is not None:
            self.elements = RowIndex(form.elements)
            self.element_swaps = self._by_rule(form.elements)

    def initial(self, sequences: int) -> DelayState:
        """Return the initial states of all layers.

        Args:
            sequences: the number of words side by side, at least 1.
        """
        tokens = np.full((sequences, 2 * self.form.block), -1, dtype=np.int64)
        return self.after_block(tokens, np.zeros(sequences, dtype=np.int64))

    def after_block(self, tokens: Indices, code: Indices) -> DelayState:
        """Return the exact states at phase 0.

        Args:
            tokens: the tokens by slot, int array `[sequences, 2m]`, -1 for none.
            code: the last layer's code, int array `[sequences]`.
        """
        count, m = len(tokens), self.form.block
        buffer = np.zeros((*tokens.shape, len(self.form.points)), dtype=np.float32)
        s, slot = np.nonzero(tokens >= 0)
        buffer[s, slot, tokens[s, slot]] = 1
        # after whole periods every counter is at its first code
        counters = self.counter.initial(count)
        last = round_array(self.codes[code], self.fmt)
        phase = np.zeros(count, dtype=np.int64)
        # equal points are no swap
        nothing = np.zeros((2, count, m, self.form.budget), dtype=np.int64)
        return DelayState(counters, buffer, last, phase, tokens[:, self.slots_now[0]], nothing)

    def step(self, states: DelayState, letters: ArrayLike) -> DelayState:
        """Read one token, through all layers.

        Args:
            states: the states that `initial` or `step` returned; they are not changed.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        x = np.asarray(letters, dtype=np.int64)
        rows = np.arange(len(x))
        counters, phase = self.counter.step(states.counters)

        buffer = states.buffer.copy()
        buffer[rows, phase] -= buffer[rows, phase]  # (I - e eᵀ) H
        buffer[rows, phase, x] += 1
        # the one-hot row names its token, and an empty one none
        tokens = buffer.argmax(axis=2)
        tokens[buffer[rows[:, None], np.arange(tokens.shape[1]), tokens] == 0] = -1

        position = self.position[phase]
        # of the current block only the tokens up to j are there; the slots behind them still hold older ones
        now = _along(tokens, self.slots_now[phase])
        recent = np.where(np.arange(self.form.block) < position[:, None], now, -1)
        # the groups of g_{l-1}, the product of the block before
        swaps = self._swaps(_along(tokens, self.slots_before[phase]))
        last = states.last.copy()
        # group j is this token's
        first, second = swaps[:, rows, position - 1]
        for f in range(self.form.budget):
            _swap(last, first[:, f], second[:, f])
        return DelayState(counters, buffer, last, phase, recent, swaps)

    def _swaps(self, tokens: Indices) -> Indices:
        """The swaps of the product of a block's tokens `[sequences, m]`, the first token applied first."""
        product = self.images[tokens[:, 0]]
        for i in range(1, tokens.shape[1]):
            # p_{x_i} after the product of the tokens before it
            product = _along(self.images[tokens[:, i]], product)
        if self.form.elements is None:
            return self._by_rule(product)
        return self.element_swaps[:, self.elements.find(product)]

    def _by_rule(self, images: Indices) -> Indices:
        """The groups of swaps of permutations `[perms, n]`: `[2, perms, m, n_h]`."""
        m, budget = self.form.block, self.form.budget
        return swap_table(images, m * budget).reshape(2, len(images), m, budget)

    def code(self, states: DelayState) -> Indices:
        """Return the row of `BlockDelay.codes` that the states stand for, `[sequences]`; -1 for none.

        The remaining swaps are applied to the state, and then the tokens of the current block so far.

        Args:
            states: states of the stepper.
        """
        h = states.last.copy()
        position = self.position[states.phase]
        # groups j + 1, ..., m are missing; sequences that have had a group get no swap from it
        for group in range(int(position.min(initial=self.form.block)), self.form.block):
            first, second = states.swaps[:, :, group]
            second = np.where((position <= group)[:, None], second, first)
            for f in range(self.form.budget):
                _swap(h, first[:, f], second[:, f])
        # then the tokens of the current block so far, the first one first
        for i in range(int(position.max(initial=0))):
            h = _along(h, self.inverses[states.recent[:, i]])
        return self.index.find(h)

    def code_transitions(self) -> Indices:
        """The code that each letter makes of each code, `[letters, codes]`."""
        if self.form.elements is None:  # codes are states
            # without a list of elements every state has one code
            place = np.argsort(self.code_states)
            return np.asarray(place[self.form.automaton.transitions[:, self.code_states]])
        # row c of P_x H: the code that letter x makes of code c
        rows = [self.index.find(self.codes[:, inverse]) for inverse in self.inverses[:-1]]
        return np.array(rows, dtype=np.int64).reshape(-1, len(self.codes))

    def decode(self, states: DelayState, letters: ArrayLike | None = None) -> Indices:
        """Return the states of the automaton; -1 if the state of the last layer stands for none.

        Args:
            states: the states that `initial` or `step` returned; they are not changed.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        code = self.code(states)
        return np.where(code < 0, -1, self.code_states[code])


def _along(values: NDArray[Any], index: Indices) -> NDArray[Any]:
    """`values[s, index[s, i]]`."""
    return np.asarray(values[np.arange(len(values))[:, None], index])


def _swap(H: Floats, first: Indices, second: Indices) -> None:
    """(I - v vᵀ) H in place, v = e_first - e_second, one a sequence; nothing where they are equal."""
    rows = np.arange(len(H))
    # s = vᵀH
    s = H[rows, first] - H[rows, second]
    H[rows, first] -= s
    H[rows, second] += s


SIDE_BY_SIDE = 256
"""So many pieces of words are run side by side."""


def run_delay(
    form: BlockDelay,
    words: Words,
    *,
    dtype: str,
    start: int | None,
    block: int | None,
    sequential: bool,
    progress: Progress | None,
) -> RunReport:
    """`run` of a block delay.

    An integer form in a format that holds its integers runs in pieces side by side, each
    from the exact states of all layers where it begins; the end of each piece is compared with the next one's
    beginning bit for bit, so the states are those of the token by token run. A token is wrong where the decoded
    vector differs from the code that belongs there. Else, or with `sequential`, or if any piece ends elsewhere, the
    run goes token by token, and a token is wrong where the decoded state is. `start` is None, and `block` is of tables alone.
    """
    stepper = DelayStepper(form, dtype)
    if stepper.fmt.name in form.formats and not sequential:
        clock, tally = Clock(progress, words.length), Tally()
        if _in_pieces(stepper, words, clock, tally):
            return tally.report(
                words.sequences, words.length, dtype=stepper.fmt.name, seconds=clock.seconds(),
                order="token by token, in pieces whose first states are verified bit for bit",
            )  # fmt: skip
    return track(stepper, form.automaton, words, dtype=stepper.fmt.name, progress=progress)


def _in_pieces(stepper: DelayStepper, words: Words, clock: Clock, tally: Tally) -> bool:
    """Add the errors of the run to the tally; False where a piece does not end in the exact states.

    False too where the codes do not lie over the automaton's states as its transitions say.
    """
    period = 2 * stepper.form.block
    table, over = stepper.code_transitions(), stepper.code_states
    # the codes are closed, and lie over the automaton's states as its transitions say
    if table.min(initial=0) < 0 or (over[table] != stepper.form.automaton.transitions[:, over]).any():
        return False
    states = stepper.initial(words.sequences)
    code = np.zeros(words.sequences, dtype=np.int64)
    # parts and pieces of whole periods, since exact states are known at phase 0
    size = max(CHUNK_TOKENS // max(words.sequences, 1) // period, 1) * period
    for done in range(0, words.length, size):
        part = np.asarray(words.part(done, min(done + size, words.length)), dtype=np.int64)
        right = follow(table, part, code)
        count = max(min(SIDE_BY_SIDE // max(words.sequences, 1), part.shape[1] // period), 1)
        length = part.shape[1] // count // period * period if count > 1 else part.shape[1]
        begins = [p * length for p in range(count)]
        starts = [states, *(_exact_states(stepper, part, right, at) for at in begins[1:])]
        pieces = np.concatenate([part[:, at : at + length] for at in begins])
        wanted = np.concatenate([right[:, at : at + length] for at in begins])
        ends, wrong = _advance(stepper, side_by_side(starts), pieces, wanted, clock, (done, count))
        n = words.sequences
        # the end of each piece must be, bit for bit, the beginning of the next
        for p, start in enumerate(starts[1:]):
            if not ends.at(slice(p * n, (p + 1) * n)).same_numbers(start):
                return False
        by_piece = wrong.reshape(wrong.shape[0], count, n).transpose(1, 0, 2)
        tally.add_errors(by_piece.reshape(-1, n), done)
        # what is left behind the pieces goes token by token
        at = count * length
        states, wrong = _advance(
            stepper,
            ends.at(slice((count - 1) * n, count * n)),
            part[:, at:],
            right[:, at:],
            clock,
            (done + at, 1),
        )
        tally.add_errors(wrong, done + at)
        code = right[:, -1]
    return True


def _advance(
    stepper: DelayStepper,
    states: DelayState,
    part: Indices,
    right: Indices,
    clock: Clock,
    progress: tuple[int, int],
) -> tuple[DelayState, NDArray[np.bool_]]:
    """The states after some tokens, and where the code is not the right one, `[T, sequences]`.

    `progress`: the tokens of each word that are done, and how many pieces of it go forward together.
    """
    done, pieces = progress
    wrong = np.empty((part.shape[1], len(part)), dtype=bool)
    for t in range(part.shape[1]):
        states = stepper.step(states, part[:, t])
        wrong[t] = stepper.code(states) != right[:, t]
        if t % 100 == 0:
            clock.tell(done + t * pieces)
    return states, wrong


def _exact_states(stepper: DelayStepper, part: Indices, right: Indices, at: int) -> DelayState:
    """The exact states after `at` tokens of a part that begins at phase 0, `at` a multiple of the period."""
    period = 2 * stepper.form.block
    tokens = np.roll(part[:, at - period : at], 1, axis=1)  # the last token lies in slot 0
    # after block l the last layer is at P(g_{l-1}···g_1) H_0, the code of one block earlier
    return stepper.after_block(tokens, right[:, at - stepper.form.block - 1])
