"""`BlockStepper` and `run_blocks`: a chain of sets over blocks (own.blocks, R7) on words, by the factors of each token.

Arithmetic, named `per_step:<dtype>`: the counter as in `_counters.py`. The ring buffer's row is erased by its projection,
H_φ ← H_φ - H_φ, and the token's bits are added. In a level every factor is applied to the state, entry by entry: a swap v = e_i - e_j
gives s = H_i - H_j, H_i ← H_i - s, H_j ← H_j + s; a copy the same with s = H_i; a projection gives H_i ← H_i - H_i, and what it writes
is added. States of buffer and levels are 0 and 1, so all these numbers are 0, 1 and -1, and no format rounds one of them.

Read-outs see the token's states as a model would: the phase by the counter's codes, the letters by the buffer's rows, and of a level its state,
to which the factors still to come are applied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...constructions.automata._automaton import Indices
from ...constructions.chains._block_steps import COPY, ERASE, NOTHING, SWAP, Steps, compose_letters
from ...constructions.chains._blocks import BlockRNN
from ...constructions.chains._rule import Mask, members
from ..arithmetic._rounding import FloatFormat, Floats, float_format
from ._block_run import follow
from ._counters import CounterStepper
from ._report import RunReport, Tally
from ._run import Clock, Progress, track
from ._words import Words

PART_ENTRIES = 4_000_000
"""Most entries of an array for all tokens of a part of the words."""


@dataclass(frozen=True, eq=False)
class BlockState:
    """The states of all layers for several sequences, and what the read-outs made of the last token.

    `counters`: `[sequences, dim]` for each head. `buffer`: `[sequences, d, bits]`. `levels`: `[sequences, dim]` each. `named`: the
    automaton's state that the last read-out names; -1 where some layer's state is none that there can be.
    """

    counters: tuple[Floats, ...]
    buffer: Floats
    levels: tuple[Floats, ...]
    named: Indices


@dataclass(frozen=True, eq=False)
class Told:
    """What the counter and the ring buffer tell the levels at some tokens.

    Attributes:
        position: the token's place in its block, 1 to m, int array `[tokens]`.
        maps: the map of the block before, int array `[tokens, n]`.
        old: the first level's set before that block, int array `[tokens, n_1]`.
        new: the set after it.
        recent: the letters of this block so far, int array `[tokens, m]`, -1 behind them.
        wrong: where the buffer holds what it cannot hold, bool array `[tokens]`.
    """

    position: Indices
    maps: Indices
    old: Indices
    new: Indices
    recent: Indices
    wrong: Mask


class BlockStepper:
    """A `BlockRNN` in a float format; a `Stepper` whose states are `BlockState`.

    Args:
        form: the chain over blocks.
        dtype: a dtype, such as `bf16`, or a `FloatFormat`.
    """

    def __init__(self, form: BlockRNN, dtype: str | FloatFormat) -> None:
        self.form, self.chain = form, form.chain
        self.fmt = float_format(dtype)
        self.counter = CounterStepper(form.counter, self.fmt, self.fmt.name in form.formats)
        self.transitions = form.automaton.transitions
        bits = self.chain.bits
        self.letter_of = np.full(2 ** bits.shape[1], -1, dtype=np.int64)
        codes = self.code(bits)
        # a row holds the number of a letter's map; zeros are the identity, or no letter yet
        self.letter_of[codes[codes > 0]] = self.chain.like[codes > 0]

    @staticmethod
    def code(bits: Floats | Indices) -> Indices:
        """The number that bits write, the lowest first; -1 where an entry is none."""
        number = np.asarray((bits.astype(np.int64) << np.arange(bits.shape[-1])).sum(axis=-1))
        return np.where(((bits == 0) | (bits == 1)).all(axis=-1), number, -1)

    def initial(self, sequences: int) -> BlockState:
        """H_0 of all layers.

        Args:
            sequences: the number of words side by side, at least 1.
        """
        form, first = self.form, self.form.start_states()
        levels: list[Floats] = []
        for u, dim in zip(first.indicators, form.level_dims, strict=True):
            H: Floats = np.zeros((sequences, dim))
            H[:, : u.shape[1]] = u
            levels.append(H)
        buffer: Floats = np.zeros((sequences, form.period, self.chain.bits.shape[1]))
        start = np.repeat(first.start, sequences)
        return BlockState(self.counter.initial(sequences), buffer, tuple(levels), start)

    def step(self, states: BlockState, letters: ArrayLike) -> BlockState:
        """One token through all layers.

        Args:
            states: states as `initial` or `step` gave them; they stay as they are.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        x = np.asarray(letters, dtype=np.int64)
        counters, phase = self.counter.step(states.counters)
        buffer = self.write(states.buffer.copy(), phase, x)
        told = self.tell(phase, buffer, x)
        old, new, wrong = told.old, told.new, told.wrong
        levels = []
        for level, H in enumerate(states.levels):
            steps, images, permutes = self.form.level_steps(level, told.maps, old, new)
            after = Numbers.of(self.token_steps(steps, told.position)).apply(H)
            levels.append(after)
            old, new, broken = self.read_level(
                level, after, steps, (images, permutes), told.position, old, new
            )
            wrong = wrong | broken
        return BlockState(counters, buffer, tuple(levels), self.name_states(told, new, wrong))

    def decode(self, states: BlockState, letters: ArrayLike | None = None) -> Indices:
        """The automaton's states; -1 where a layer's state can be none.

        Args:
            states: states as `initial` or `step` gave them.
            letters: indices of the letters just read; they are not needed.
        """
        return states.named

    def write(self, buffer: Floats, phase: Indices, x: Indices) -> Floats:
        """The ring buffer, changed in place: the row of the phase erased, and the letter's bits written there."""
        rows = np.arange(len(x))
        buffer[rows, phase] -= buffer[rows, phase]  # (I - e eᵀ) H
        buffer[rows, phase] += self.chain.bits[x]
        return buffer

    def tell(self, phase: Indices, buffer: Floats, x: Indices) -> Told:
        """What the phase and the ring buffer tell the levels."""
        form, m, d = self.form, self.form.block, self.form.period
        rows = np.arange(len(x))
        code = self.code(buffer)
        letters = self.letter_of[np.maximum(code, 0)]
        # bits that name no letter, or a newest letter that was not the one just read
        broken: Mask = (code < 0) | ((code > 0) & (letters < 0))
        read: Mask = letters[rows, phase] == np.where(self.chain.moves[x], self.chain.like[x], -1)
        wrong = np.logical_or.reduce(broken, axis=1) | ~read

        def slots(first: Indices, count: int) -> Indices:
            return np.asarray(letters[rows[:, None], (first[:, None] + np.arange(count)) % d])

        # token t is in slot t mod d, so the block began `position - 1` slots back
        position = (phase - 1) % m + 1
        now = slots(phase - position + 1, m)
        recent = np.where(np.arange(m) < position[:, None], now, -1)
        before = slots(phase - position + 1 - m, m)
        # the last W letters before each of the two blocks, the newest first
        window = form.window or 0
        earlier = slots(phase - position + 1 - m - window, window)[:, ::-1]
        later = slots(phase - position + 1 - window, window)[:, ::-1]
        start = np.full(len(x), form.automaton.start)
        old, new = form.top_sets(earlier, later, start)
        return Told(position, compose_letters(self.transitions, before), old, new, recent, wrong)

    def token_steps(self, steps: Steps, position: Indices) -> Steps:
        """Of the steps of a block those that the token at each position applies."""
        places = (position[:, None] - 1) * self.form.budget + np.arange(self.form.budget)
        group = steps.at(np.minimum(places, max(steps.width - 1, 0)))
        return Steps(
            np.where(places < steps.width, group.kind, NOTHING), group.source, group.target, group.written
        )

    def complete(self, H: Floats, steps: Steps, position: Indices) -> Floats:
        """The states with the factors still to come: what a level holds at the end of its block."""
        ahead = np.arange(steps.width) >= (position * self.form.budget)[:, None]
        kind = np.where(ahead, steps.kind, NOTHING)
        return Numbers.of(Steps(kind, steps.source, steps.target, steps.written)).apply(H)

    def read_level(
        self,
        level: int,
        H: Floats,
        steps: Steps,
        acts: tuple[Indices, Mask],
        position: Indices,
        old: Indices,
        new: Indices,
    ) -> tuple[Indices, Indices, Mask]:
        """The next level's set before and after the block before, and where a state is no indicator of the right size.

        `acts`: where the block takes the level's entries, and whether it permutes them. `old` and `new` are this level's sets. On
        the last level the first one is not known after a reset, nor needed.
        """
        images, permutes = acts
        p, size = images.shape[1], self.form.sizes[level + 1]
        done = self.complete(H, steps, position)
        wrong: Mask = ((done != 0) & (done != 1)).any(axis=1)
        after = done[:, :p] == 1
        if level == self.form.levels - 1:
            back = after
        else:
            # entry j went to images[j], so there it is found again
            back = np.take_along_axis(after, images, axis=1)  # P^{-1} u
            if self.form.keeps_old(level):
                # after a reset the old indicator is v
                back = np.where(permutes[:, None], back, done[:, p:] == 1)
        for indicator in (back, after):
            wrong = wrong | (indicator.sum(axis=1) != size)
        return members(old, _exactly(back, size)), members(new, _exactly(after, size)), wrong

    def name_states(self, told: Told, new: Indices, wrong: Mask) -> Indices:
        """The automaton's states: the last set's one member, and then the letters of the block so far."""
        n = self.transitions.shape[1]
        state = new[:, 0]
        # a phantom can be left only where some layer is wrong
        wrong = wrong | (state >= n)
        maps = compose_letters(self.transitions, told.recent)
        named = np.take_along_axis(maps, np.minimum(state, n - 1)[:, None], axis=1)[:, 0]
        return np.where(wrong, -1, named)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Steps as what the recurrence computes with: s = α H_i - β H_j, H_i ← H_i - s + w, H_j ← H_j + γ s, entries `[width, tokens]` each.

    A swap has α = β = γ = 1, a copy α = γ = 1, a projection α = 1 and w what it writes.
    """

    source: Indices
    target: Indices
    alpha: Floats
    beta: Floats
    gamma: Floats
    written: Floats

    @classmethod
    def of(cls, steps: Steps) -> Numbers:
        """Those of steps."""
        kind = steps.kind.T
        both, pairs = kind == SWAP, (kind == SWAP) | (kind == COPY)
        written = steps.written.T & (kind == ERASE)
        floats = (part.astype(np.float64) for part in (kind != NOTHING, both, pairs, written))
        return cls(steps.source.T, steps.target.T, *floats)

    def of_tokens(self, tokens: slice) -> Numbers:
        """Those of some of the tokens."""
        return Numbers(
            self.source[:, tokens], self.target[:, tokens], self.alpha[:, tokens], self.beta[:, tokens],
            self.gamma[:, tokens], self.written[:, tokens],
        )  # fmt: skip

    def apply(self, H: Floats) -> Floats:
        """The states `[tokens, dim]` after the steps of each."""
        H = H.copy()
        flat = H.reshape(-1)
        rows = np.arange(0, H.size, H.shape[1])
        for i, j, alpha, beta, gamma, written in zip(
            rows + self.source,
            rows + self.target,
            self.alpha,
            self.beta,
            self.gamma,
            self.written,
            strict=True,
        ):
            s = alpha * flat[i] - beta * flat[j]
            flat[i] -= s
            flat[j] += gamma * s
            flat[i] += written
        return H


def _exactly(indicator: Mask, size: int) -> Mask:
    """The indicator itself where it has so many ones; else the first entries, so that a run can go on."""
    right = indicator.sum(axis=1, keepdims=True) == size
    return np.where(right, indicator, np.arange(indicator.shape[1]) < size)


def run_blocks(
    form: BlockRNN,
    words: Words,
    *,
    dtype: str,
    start: int | None,
    block: int | None,
    sequential: bool,
    progress: Progress | None,
) -> RunReport:
    """`run` of a chain over blocks: each layer over a part of the words before the next, its recurrence token by token.

    What a layer reads at a token is in the layers above and their states after it, so the order of the arithmetic in each
    layer is that of the token by token run. With `sequential` all layers take a token before the next one. `start` is None, and
    `block` is of tables alone.
    """
    stepper = BlockStepper(form, dtype)
    if sequential:
        return track(stepper, form.automaton, words, dtype=stepper.fmt.name, progress=progress)
    clock, tally = Clock(progress, words.length * (form.levels + 1)), Tally()
    states = stepper.initial(words.sequences)
    current = states.named
    widest = max(len(form.automaton.states), stepper.chain.bits.shape[1] * form.period, *form.level_costs, 1)
    size = max(PART_ENTRIES // max(widest * words.sequences, 1), 1)
    for done in range(0, words.length, size):
        part = np.asarray(words.part(done, min(done + size, words.length)), dtype=np.int64)
        right = follow(form.automaton.transitions, part, current)
        states, named = _run_part(stepper, states, part.T, clock, done * (form.levels + 1))
        tally.add_errors(named != right.T, done)
        current = right[:, -1]
    return tally.report(
        words.sequences, words.length, dtype=stepper.fmt.name, order="layer after layer, token by token",
        seconds=clock.seconds(),
    )  # fmt: skip


def _run_part(
    stepper: BlockStepper, states: BlockState, tokens: Indices, clock: Clock, done: int
) -> tuple[BlockState, Indices]:
    """The states after tokens `[T, sequences]`, and what the last read-out names after each of them."""
    form, (length, count) = stepper.form, tokens.shape
    counters, buffer = states.counters, states.buffer
    phases = np.empty((length, count), dtype=np.int64)
    buffers = np.empty((length, *buffer.shape), dtype=buffer.dtype)
    for t, letters in enumerate(tokens):
        counters, phases[t] = stepper.counter.step(counters)
        buffers[t] = buffer = stepper.write(buffer.copy(), phases[t], letters)
    # what the two layers tell at all tokens at once
    told = stepper.tell(phases.reshape(-1), buffers.reshape(-1, *buffer.shape[1:]), tokens.reshape(-1))
    old, new, wrong = told.old, told.new, told.wrong
    clock.tell(done + length)
    levels = []
    for level, H in enumerate(states.levels):
        steps, images, permutes = form.level_steps(level, told.maps, old, new)
        group = Numbers.of(stepper.token_steps(steps, told.position))
        history = np.empty((length, *H.shape), dtype=H.dtype)
        for t in range(length):
            # the recurrence itself, token by token
            history[t] = H = group.of_tokens(slice(t * count, (t + 1) * count)).apply(H)
        levels.append(H)
        old, new, broken = stepper.read_level(
            level, history.reshape(len(old), -1), steps, (images, permutes), told.position, old, new
        )
        wrong = wrong | broken
        clock.tell(done + (level + 2) * length)
    named = stepper.name_states(told, new, wrong).reshape(length, count)
    return BlockState(counters, buffer, tuple(levels), named[-1]), named
