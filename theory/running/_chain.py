"""`ChainStepper` and `run_chain`: a chain of sets (own.chain, own.window) on words, by the factors of each token.

Arithmetic, named `per_step:<dtype>`: every factor is applied to the state, entry by entry. A swap v = e_i - e_j gives s = H_i - H_j,
H_i ← H_i - s, H_j ← H_j + s; a projection gives H_j ← H_j - H_j; then the written values are added. States are 0 and 1, so all
these numbers are 0, 1 and -1, and no format rounds one of them. Swaps and projections of different entries do not meet, so the
factors of a token are applied in rounds: those of a permutation in two (`split_permutations`), those of a reset
in two, with the same operations on the same numbers as one after another.

A layer's read-out takes the sets before and after the token from the layer's state after it, as a model has to: the
old indicator is P^{-1} u where the token permutes, and v where it resets. With look-back the old one is read from the layer's state
after the token before. A gate multiplies the state before the factors; then C H with C = I - β z zᵀ, and β·2^e is added to the
entries of z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...constructions.automata._automaton import Indices
from ...constructions.chains._chain import ChainRNN, write_exponent
from ...constructions.chains._rule import (
    LevelLetters,
    Mask,
    level_letters,
    members,
    split_permutations,
    with_phantoms,
)
from ..arithmetic._rounding import FloatFormat, Floats, float_format
from ._block_run import follow
from ._report import RunReport, Tally
from ._run import Clock, Progress, track
from ._stepper import require_start
from ._words import Words

PART_ENTRIES = 1_000_000
"""Most entries of an array of members, for all tokens of a part of the words."""


@dataclass(frozen=True, eq=False)
class ChainState:
    """The states of all layers for several sequences, and what the read-outs made of the last token.

    `register`: `[sequences, rows, bits]`. `levels`: u, and v where the level has it, `[sequences, dim]` each. `start`: the state
    in which the sequence began. `named`: the automaton's state that the last layer names; -1 where some layer's state is no
    indicator of a set of the right size.
    """

    register: Floats
    levels: tuple[Floats, ...]
    start: Indices
    named: Indices


@dataclass(frozen=True, eq=False)
class Factors:
    """The factors of some tokens in one layer, as the entries that they exchange, erase and write.

    Attributes:
        swaps: for each of two rounds the partner of each entry, int arrays `[tokens, p]`; an entry that is its own partner is in
            no swap.
        beta: of the projections and swaps of a reset, 1 where the token resets and 0 where it does not, `[tokens, 1]`.
        written: the values that a reset adds, `[tokens, p]`.
        power: with gates, where a reset is the gate 1 - `beta` and one factor with the key `written`, its value 2^e, `[tokens, 1]`;
            None without.
    """

    swaps: tuple[Indices, Indices]
    beta: Floats
    written: Floats
    power: Floats | None = None

    @classmethod
    def of(cls, acts: LevelLetters, number: np.dtype[Any], *, gated: bool = False) -> Factors:
        """The factors of tokens that permute or reset."""
        points = np.arange(acts.images.shape[1])
        swaps = tuple(np.broadcast_to(points, acts.images.shape).copy() for _ in range(2))
        moved = np.flatnonzero((acts.images != points).any(axis=1))
        for partners, found in zip(swaps, split_permutations(acts.images[moved]), strict=True):
            partners[moved] = found
        resets = ~acts.permutes[:, None]
        written = (acts.target & resets).astype(number)
        power = None
        if gated:
            sizes = range(written.shape[1] + 1)
            powers = np.array([2 ** write_exponent(max(size, 1)) for size in sizes], dtype=number)
            power = powers[(acts.target & resets).sum(axis=1, keepdims=True)]
        return cls((swaps[0], swaps[1]), resets.astype(number), written, power)

    def of_tokens(self, tokens: slice) -> Factors:
        """Those of some of the tokens."""
        first, second = self.swaps
        power = None if self.power is None else self.power[tokens]
        return Factors((first[tokens], second[tokens]), self.beta[tokens], self.written[tokens], power)

    def apply(self, H: Floats) -> Floats:
        """The states `[tokens, dim]` after one token each."""
        H = H.copy()
        if self.power is not None:
            # gate·H: 0 where the token resets
            H *= 1 - self.beta
        p = self.written.shape[1]
        # where each row of H begins in the flat array, so that partners are taken row by row
        rows = np.arange(0, H.size, H.shape[1])[:, None]
        u, v = H[:, :p], H[:, p:]
        for partner in self.swaps:  # s = H_i - H_j, and H_i ← H_i - s; for the partner j it is -s
            u -= u - H.reshape(-1)[rows + partner]
        if (power := self.power) is not None:
            # H - β z (zᵀH) + β 2^e z for the indicator z of the new set, with zᵀH = 0 behind a gate of 0
            inner = (self.written * u).sum(axis=1, keepdims=True)
            # β (2^e - zᵀH) for each member: a quotient by a power of two, which is exact
            u += self.written * ((power - inner) // power if H.dtype.kind == "i" else (power - inner) / power)
            return H
        if v.shape[1]:
            # v ← (I - e_j e_jᵀ) v for each entry, then swaps of
            # entry j of u with entry j of v: v is the old u, u is 0
            v -= self.beta * v
            s = self.beta * (u - v)
            u -= s
            v += s
        else:
            # without a second half u itself is erased
            u -= self.beta * u
        u += self.written
        return H


class ChainStepper:
    """A `ChainRNN` in a float format or in exact integers; a `Stepper` whose states are `ChainState`.

    Args:
        form: the chain.
        dtype: a dtype, such as `bf16`, a `FloatFormat`, or `exact`.
        start: index of the automaton's state to begin with; None for its start.
    """

    def __init__(self, form: ChainRNN, dtype: str | FloatFormat = "exact", start: int | None = None) -> None:
        require_start(form.automaton, start)
        form.require_start(start)
        self.form, self.start = form, start
        self.name = "exact" if dtype == "exact" else float_format(dtype).name
        self.number: Any = np.dtype(np.int64 if dtype == "exact" else np.float64)
        self.transitions = form.automaton.transitions
        self.letter_of = np.full(2 ** form.bits.shape[1], -1, dtype=np.int64)
        codes = self.code(form.bits)
        # the register holds the number of a letter's map; zeros are no letter
        self.letter_of[codes[codes > 0]] = form.like[codes > 0]

    @staticmethod
    def code(bits: NDArray[Any]) -> Indices:
        """The number that bits write, the lowest first."""
        return np.asarray((bits.astype(np.int64) << np.arange(bits.shape[-1])).sum(axis=-1))

    def initial(self, sequences: int) -> ChainState:
        """H_0 of all layers.

        Args:
            sequences: the number of words side by side, at least 1.
        """
        form = self.form
        first = form.start_states(self.start).repeat(sequences)
        register: Floats = np.zeros((sequences, form.rows, form.bits.shape[1]), dtype=self.number)
        levels: list[Floats] = []
        for u, dim in zip(first.indicators, form.level_dims, strict=True):
            H: Floats = np.zeros((sequences, dim), dtype=self.number)
            H[:, : u.shape[1]] = u
            levels.append(H)
        return ChainState(register, tuple(levels), first.start, first.start)

    def step(self, states: ChainState, letters: ArrayLike) -> ChainState:
        """One token through all layers.

        Args:
            states: states as `initial` or `step` gave them; they stay as they are.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        x = np.asarray(letters, dtype=np.int64)
        register = states.register
        if self.form.window is not None:
            register = self.shift(register, x)
        old, new, wrong = self.top_sets(register, states.start, x, states.register)
        levels = []
        for i, (H, size) in enumerate(zip(states.levels, self.form.sizes[1:], strict=True)):
            acts = level_letters(self.transitions, x, old, new, size)
            before, H = H, Factors.of(acts, self.number, gated=self.form.gated).apply(H)
            levels.append(H)
            old, new, broken = self.read_level(i, H, acts, old, new, before)
            wrong = wrong | broken
        return ChainState(register, tuple(levels), states.start, np.where(wrong, -1, new[:, 0]))

    def decode(self, states: ChainState, letters: ArrayLike | None = None) -> Indices:
        """The automaton's states; -1 where a layer's state can be none.

        Args:
            states: states as `initial` or `step` gave them.
            letters: indices of the letters just read; they are not needed.
        """
        return states.named

    def shift(self, register: Floats, x: Indices) -> Floats:
        """The register after letters: the oldest erased, turned by swaps, the new one's bits written in front."""
        bits, moves = self.form.bits[x], self.form.moves[x]
        H = register[moves]
        # the oldest letter's row, with a projection
        H[:, -1] -= H[:, -1]
        # swaps from the back to the front carry the empty row past all others
        for j in reversed(range(H.shape[1] - 1)):
            s = H[:, j] - H[:, j + 1]
            H[:, j] -= s
            H[:, j + 1] += s
        H[:, 0] += bits[moves].astype(H.dtype)
        after = register.copy()
        after[moves] = H
        return after

    def top_sets(
        self, register: Floats, start: Indices, x: Indices, earlier: Floats
    ) -> tuple[Indices, Indices, Mask]:
        """The first level's set before and after each token, and where the register holds no letters.

        `earlier` is the register before the token, which is read with look-back alone. Without levels the second set is the state
        that the window leaves.
        """
        form, n = self.form, self.transitions.shape[1]
        if form.window is None:
            everything = np.broadcast_to(np.arange(n), (len(x), n))
            return everything, everything, np.zeros(len(x), dtype=bool)
        code = self.code(register)
        letters = self.letter_of[code]
        moves = form.moves[x]
        # bits that name no letter, or a newest letter that was not the one just read
        wrong: Mask = ((code > 0) & (letters < 0)).any(axis=1) | (moves & (letters[:, 0] != form.like[x]))
        new = form.window_states(letters, start, form.window)
        if form.levels == 0:
            state = new.argmax(axis=1)[:, None]
            return state, state, wrong
        if form.look_back:
            code = self.code(earlier)
            before = self.letter_of[code]
            wrong = wrong | ((code > 0) & (before < 0)).any(axis=1)
        else:
            # before the token: the rows from the second on where it moved the register, else the newest ones
            before = np.where(moves[:, None], letters[:, 1:], letters[:, :-1])
        old = form.window_states(before, start, form.window)
        wrong = wrong | (new.sum(axis=1) > form.sizes[0]) | (old.sum(axis=1) > form.sizes[0])
        return self._fill(old), self._fill(new), wrong

    def _fill(self, states: Mask) -> Indices:
        # more states than there can be are cut off, so that a wrong run can go on
        size = self.form.sizes[0]
        return with_phantoms(states & (np.cumsum(states, axis=1) <= size), size)

    def read_level(
        self, level: int, H: Floats, acts: LevelLetters, old: Indices, new: Indices, before: Floats
    ) -> tuple[Indices, Indices, Mask]:
        """The next level's set before and after the token, and where a state is no indicator of the right size.

        `old` and `new` are this level's sets, `before` its state before the token, which is read with look-back alone. Without, the
        first set is not known on the last level after a reset, nor needed.
        """
        p, size = acts.images.shape[1], self.form.sizes[level + 1]
        # a level's state is an indicator, of zeros and ones
        wrong: Mask = ((H != 0) & (H != 1)).any(axis=1)
        after = H[:, :p] == 1
        # entry j went to images[j], so there it is found again
        back = np.take_along_axis(after, acts.images, axis=1)  # P^{-1} u
        if self.form.look_back:
            back = before == 1
            wrong = wrong | ((before != 0) & (before != 1)).any(axis=1)
        elif self.form.keeps_old(level):
            # after a reset the old indicator is v
            back = np.where(acts.permutes[:, None], back, H[:, p:] == 1)
        elif level < self.form.levels - 1:  # nothing resets
            wrong = wrong | ~acts.permutes
        else:
            # the last level without a second half: the old set is not known, and nobody reads it
            back = after
        for indicator in (back, after):
            wrong = wrong | (indicator.sum(axis=1) != size)
        return members(old, _exactly(back, size)), members(new, _exactly(after, size)), wrong


def _exactly(indicator: Mask, size: int) -> Mask:
    """The indicator itself where it has so many ones; else the first entries, so that a run can go on."""
    right = indicator.sum(axis=1, keepdims=True) == size
    return np.where(right, indicator, np.arange(indicator.shape[1]) < size)


def run_chain(
    form: ChainRNN,
    words: Words,
    *,
    dtype: str,
    start: int | None,
    block: int | None,
    sequential: bool,
    progress: Progress | None,
) -> RunReport:
    """`run` of a chain: each layer over a part of the words before the next, its recurrence token by token.

    What a layer reads at a token is in the layers above and their states after it, so the order of the arithmetic in each
    layer is that of the token by token run. With `sequential` all layers take a token before the next one. `block` is
    of tables alone.
    """
    stepper = ChainStepper(form, dtype, start)
    if sequential:
        return track(stepper, form.automaton, words, dtype=stepper.name, start=start, progress=progress)
    clock, tally = Clock(progress, words.length * form.depth), Tally()
    states = stepper.initial(words.sequences)
    current = states.start
    widest = len(form.automaton.states) if form.window is not None else form.sizes[0]
    size = max(PART_ENTRIES // max(widest * words.sequences, 1), 1)
    for done in range(0, words.length, size):
        part = np.asarray(words.part(done, min(done + size, words.length)), dtype=np.int64)
        right = follow(form.automaton.transitions, part, current)
        states, named = _run_part(stepper, states, part.T, clock, done * form.depth)
        tally.add_errors(named != right.T, done)
        current = right[:, -1]
    return tally.report(
        words.sequences, words.length, dtype=stepper.name, order="layer after layer, token by token",
        seconds=clock.seconds(),
    )  # fmt: skip


def _run_part(
    stepper: ChainStepper, states: ChainState, tokens: Indices, clock: Clock, done: int
) -> tuple[ChainState, Indices]:
    """The states after tokens `[T, sequences]`, and what the last layer names after each of them."""
    form, (length, count) = stepper.form, tokens.shape
    x = tokens.reshape(-1)
    register, registers = states.register, []
    if form.window is not None:
        for letters in tokens:
            register = stepper.shift(register, letters)
            registers.append(register)
    # top sets of all tokens at once, as they depend on the register alone
    told = earlier = np.zeros((len(x), 0, 1), dtype=stepper.number)
    if registers:
        told = np.concatenate(registers)
        if form.look_back:
            earlier = np.concatenate([states.register, *registers[:-1]])
    old, new, wrong = stepper.top_sets(told, np.tile(states.start, length), x, earlier)
    clock.tell(done + length)
    levels = []
    for i, (H, size) in enumerate(zip(states.levels, form.sizes[1:], strict=True)):
        acts = level_letters(stepper.transitions, x, old, new, size)
        factors = Factors.of(acts, stepper.number, gated=form.gated)
        history = np.empty((length + 1, *H.shape), dtype=H.dtype)
        history[0] = H
        for t in range(length):
            # the recurrence itself, token by token
            history[t + 1] = H = factors.of_tokens(slice(t * count, (t + 1) * count)).apply(H)
        levels.append(H)
        before, after = (part.reshape(len(x), -1) for part in (history[:-1], history[1:]))
        old, new, broken = stepper.read_level(i, after, acts, old, new, before)
        wrong = wrong | broken
        clock.tell(done + (i + 2) * length)
    named = np.where(wrong, -1, new[:, 0]).reshape(length, count)
    return ChainState(register, tuple(levels), states.start, named[-1]), named
