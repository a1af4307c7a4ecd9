"""`BlockRNN`: a linear RNN that follows any automaton with any number of factors a token, by a delay of one block of tokens.

Time is cut into blocks of m tokens, and a block is one letter of the chain below: its map is the product of its letters' maps. What
it does to a level is at most c factors; they are applied k = ⌈c/m⌉ a token while the next block is read. Layers:

- a counter of the tokens modulo d, a multiple of m (`_delay.py`);
- a ring buffer of the last d tokens: key e_{t mod d}, β = 1, a projection that erases the row and writes the token's bits;
- one layer a level of a chain of sets (`_rule.py`); its letter is the map of the block before, and the sets of the level above
  before and after that block. During block l all levels apply the factors of block l - 1, each a part of its own.

A read-out multiplies a level's state by the factors that are still to come. So while block l is read it knows the chain after
l - 1 blocks, and by P^{-1} u or by v (`_chain.py`) the chain before the last one of them: what the next level has to know. From the state
after l - 1 blocks the last read-out follows the letters of block l so far, which are in the ring buffer.

With a window the ring buffer holds W letters more, and the top set is what the last W letters before each block leave. With copies
the chain is one level of n one-hot entries, and the map of a block is swaps and copies (DP.T6), n - 1 at most.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...foundation._errors import LimitError
from ...foundation._text import count_noun
from .._delay import Counter
from .._realisation import Realisation, Transition
from ..algebra._householder import gh_factor
from ..automata._automaton import Automaton, Indices
from ._block_steps import Steps, block_words, compose_letters, copy_steps, level_steps
from ._chain import ChainRNN, ChainStates
from ._rule import Mask, level_letters, members, with_phantoms

MAX_LISTED_BLOCKS = 2_000
"""Most words of one block, and most states of the layers at the end of a block, from which `transitions` lists what can happen."""

Heads = tuple[Transition, ...]


def block_length(period: int, window: int | None) -> int:
    """m, the largest divisor of the ring buffer's length d for which 2m tokens, and the window before them, fit; 0 if none does.

    Args:
        period: d, at least 1.
        window: W, or None for no window.
    """
    room = period - (window or 0)
    return max((m for m in range(1, room // 2 + 1) if period % m == 0), default=0)


@dataclass(frozen=True, eq=False, repr=False)
class BlockRNN(Realisation):
    """A linear RNN with a chain of sets over blocks of tokens, which realises `automaton` exactly.

    Attributes:
        automaton: any automaton with at least two states.
        sizes: n_1 > n_2 > ... > 1, the sizes of the sets, as for `ChainRNN`; `(n, 1)` with copies.
        counter: the counter of tokens; its period d is the length of the ring buffer.
        window: W, the letters after which at most n_1 states are left; None for no window. With a window every letter moves a state.
        copies: whether the steps are swaps and copies, of norm √2, in place of swaps and projections.
        notes: what was compared, bounds.
    """

    kind: ClassVar[str] = "blocks"

    automaton: Automaton
    sizes: tuple[int, ...]
    counter: Counter
    window: int | None = None
    copies: bool = False
    notes: tuple[str, ...] = ()

    def for_letters(self, automaton: Automaton, kinds: Indices) -> BlockRNN:
        """The same layers for an automaton with further letters, each of which acts like one of this automaton.

        Args:
            automaton: the automaton with all letters and the same states.
            kinds: for each of its letters the index of the letter here that acts alike; the ring buffer's bits find them themselves.
        """
        return replace(self, automaton=automaton)

    @cached_property
    def chain(self) -> ChainRNN:
        """The same chain of sets, with single letters: the bits of the letters, windows, and indicators at the start."""
        return ChainRNN(self.automaton, self.sizes, self.window)

    @property
    def period(self) -> int:
        """d, the length of the ring buffer."""
        return self.counter.period

    @cached_property
    def block(self) -> int:
        """m, the number of tokens of a block."""
        return block_length(self.period, self.window)

    @property
    def theorem(self) -> str:
        """The source of the construction."""
        return "R7" if self.copies else "own.blocks"

    @property
    def construction(self) -> str:
        """One line of plain words."""
        if self.copies:
            what = f"swaps and copies of {count_noun(self.sizes[0], 'point')}"
        elif self.levels == 0:
            what = f"the last {count_noun(self.window or 0, 'letter')}, which {'tells' if self.window == 1 else 'tell'} the state,"
        else:
            what = self.chain.construction
            if self.window is not None:
                # what is remembered lies before each block, not before each token
                what = what.replace(f" in a register of {self.chain.rows:,}", "")
        return (
            f"{what} over blocks of {count_noun(self.block, 'token')}, {self.counter.name} modulo {self.period:,}, ring buffer of "
            f"{count_noun(self.period, 'token')}"
        )

    @property
    def levels(self) -> int:
        """Number of levels, one layer each."""
        return len(self.sizes) - 1

    @property
    def resets(self) -> bool:
        """Does a level reset? Not where every letter permutes the states, nor where copies do it."""
        return self.chain.resets and not self.copies

    def keeps_old(self, level: int) -> bool:
        """Whether a level's layer has a second half, which tells the level below what was there before a reset.

        Args:
            level: the level, from 0.
        """
        return self.resets and level < self.levels - 1

    @cached_property
    def level_dims(self) -> tuple[int, ...]:
        """The key dimension of each level's layer."""
        return tuple(size * (1 + self.keeps_old(i)) for i, size in enumerate(self.sizes[:-1]))

    @cached_property
    def level_costs(self) -> tuple[int, ...]:
        """The most factors of a block in each level: of a reset one for each entry, of other maps of p entries p - 1."""
        return tuple(dim if self.resets else dim - 1 for dim in self.level_dims)

    @cached_property
    def budget(self) -> int:
        """k, the most factors of a token in a level: those of a block, spread evenly."""
        return max((-(-cost // self.block) for cost in self.level_costs), default=0)

    @property
    def depth(self) -> int:
        """Number of layers: those of the counter, the ring buffer, and the levels."""
        return len(self.counter.layers) + 1 + self.levels

    @cached_property
    def layer_factors(self) -> tuple[int, ...]:
        """Most factors of a token in a head, layer by layer."""
        counters = [
            max(len(t) for head in layer.heads for t in head.transitions) for layer in self.counter.layers
        ]
        return (*counters, 1, *(min(self.budget, cost) for cost in self.level_costs))

    @property
    def householders(self) -> int:
        """Most factors of a token in one head."""
        return max(self.layer_factors)

    @property
    def heads(self) -> int:
        """Largest number of heads in a layer."""
        return max(len(layer.heads) for layer in self.counter.layers)

    @property
    def dim(self) -> int:
        """Largest key dimension of a head."""
        return max(self.period, *self.level_dims, *(head.dim for head in self.counter.heads))

    @property
    def value_dim(self) -> int:
        """Largest value dimension of a head: the bits of a letter in the ring buffer."""
        return int(self.chain.bits.shape[1])

    @property
    def work(self) -> int:
        """Factors × key dimension of each layer, summed over heads and layers; a bound, as the letters are computed."""
        counters = sum(head.dim * max(len(t) for t in head.transitions) for head in self.counter.heads)
        levels = sum(min(self.budget, c) * d for c, d in zip(self.level_costs, self.level_dims, strict=True))
        return counters + self.period + levels

    @cached_property
    def exactness(self) -> str:
        """`integer`, or `algebraic` if the counter is algebraic."""
        return "integer" if self.counter.integer else "algebraic"

    @cached_property
    def integer_bound(self) -> int | None:
        """That of the counter, as all else is 0, 1 and -1; None unless integer."""
        return max(head.bound for head in self.counter.heads) if self.exactness == "integer" else None

    @property
    def norm(self) -> str:
        """`at most 1`, or with copies `at most √2 a factor`."""
        return "at most √2 a factor" if self.copies and self.chain.resets else "at most 1"

    @property
    def largest_beta(self) -> int:
        """The largest β‖v‖² of a factor: 2 of a swap."""
        return 2

    @property
    def used_transitions(self) -> Iterable[Transition]:
        """The transitions of the counter, those of the ring buffer, and one of each form of a level."""
        for layer in self.counter.layers:
            for head in layer.heads:
                yield from (Transition(factors) for factors in head.transitions)
        yield Transition((gh_factor(1, {0: 1}),), additive=((0, 0, 1),))
        if self.levels:
            yield Transition((gh_factor(1, {0: 1, 1: -1}),))
        if self.copies and self.chain.resets:
            yield copy_steps(np.array([[1, 1]]), 1).transition(0, 0, 1)

    def group(self, level: int, position: int) -> tuple[int, int]:
        """Which steps of a level the token at a position of its block applies: the first, and the one behind the last.

        Args:
            level: the level, from 0.
            position: the token's place in its block, from 1 to m.
        """
        cost = self.level_costs[level]
        return min((position - 1) * self.budget, cost), min(position * self.budget, cost)

    def top_sets(self, before: Indices, after: Indices, start: Indices) -> tuple[Indices, Indices]:
        """The first level's set before and after a block, members in ascending order, int arrays `[words, n_1]`.

        Without levels, the states that the window leaves, one in each word.

        Args:
            before: with a window, the last W letters before the block, the newest first, int array `[words, W]`.
            after: those at its end.
            start: the state in which each word began, int array `[words]`.
        """
        n = len(self.automaton.states)
        if self.window is None:
            every = np.broadcast_to(np.arange(n), (len(start), n))
            return every, every
        old, new = (self.chain.window_states(letters, start, self.window) for letters in (before, after))
        return self._fill(old), self._fill(new)

    def _fill(self, states: Mask) -> Indices:
        # more states than there can be are cut off, so that a wrong run can go on
        size = self.sizes[0]
        return with_phantoms(states & (np.cumsum(states, axis=1) <= size), size)

    def level_steps(
        self, level: int, maps: Indices, old: Indices, new: Indices
    ) -> tuple[Steps, Indices, Mask]:
        """What blocks do to a level: the steps, where its entries go, and which blocks permute them.

        Args:
            level: the level, from 0.
            maps: the map of each block, int array `[blocks, n]`.
            old: the level's set X_i before each block, members in ascending order, int array `[blocks, n_i]`.
            new: the set after it, likewise.
        """
        width = self.level_costs[level]
        if self.copies:
            return copy_steps(maps, width), maps, np.ones(len(maps), dtype=bool)
        acts = level_letters(maps, np.arange(len(maps)), old, new, self.sizes[level + 1])
        return level_steps(acts, self.keeps_old(level), width), acts.images, acts.permutes

    def follow_block(self, states: ChainStates, words: Indices) -> tuple[ChainStates, list[Steps]]:
        """The chain after one more block, by the rule alone, and what the block does to each level.

        Args:
            states: the chain before it, of several words side by side; its register has the last W letters.
            words: the block of each, int array `[words, m]`.
        """
        transitions = self.automaton.transitions
        maps = compose_letters(transitions, words)
        register = np.concatenate([words[:, ::-1], states.register], axis=1)[:, : states.register.shape[1]]
        old, new = self.top_sets(states.register, register, states.start)
        indicators, done = [], []
        for level, u in enumerate(states.indicators):
            steps, _, _ = self.level_steps(level, maps, old, new)
            done.append(steps)
            if self.copies:
                after = np.zeros_like(u)
                np.put_along_axis(
                    after, np.take_along_axis(maps, u.argmax(axis=1)[:, None], axis=1), True, axis=1
                )
            else:
                letters = level_letters(maps, np.arange(len(maps)), old, new, self.sizes[level + 1])
                after = letters.apply(u)
            indicators.append(after)
            old, new = members(old, u), members(new, after)
        return ChainStates(register, states.start, tuple(indicators)), done

    def start_states(self) -> ChainStates:
        """The chain before the first token, for one word."""
        first = self.chain.start_states()
        return ChainStates(np.full((1, self.window or 0), -1, dtype=np.int64), first.start, first.indicators)

    def buffer_transition(self, phase: int, letter: int) -> Transition:
        """What a token does to the ring buffer: it erases its row and writes its bits there.

        Args:
            phase: t mod d.
            letter: index of the letter.
        """
        written = tuple((phase, int(b), 1) for b in np.flatnonzero(self.chain.bits[letter]))
        return Transition((gh_factor(1, {phase: 1}),), additive=written)

    def counter_transitions(self, phase: int) -> tuple[Heads, ...]:
        """What the token of a phase does to the heads of each layer of the counter.

        Args:
            phase: t mod d.
        """
        return tuple(
            tuple(Transition(head.transitions[layer.reads[phase]]) for head in layer.heads)
            for layer in self.counter.layers
        )

    def transitions_of(self, word: Sequence[Hashable]) -> Iterator[tuple[Heads, ...]]:
        """What each token of a word does to each head of each layer.

        Args:
            word: letters of the automaton.

        Raises:
            InputError: a letter is none of the automaton's.
        """
        states = self.start_states()
        done: list[Steps] = []  # of the block before, which is empty at first
        block: list[int] = []
        for t, label in enumerate(word, start=1):
            x = self.automaton.letter_index(label)
            if len(block) == self.block:
                states, done = self.follow_block(states, np.array([block]))
                block = []
            block.append(x)
            levels = [
                (done[i].transition(0, *self.group(i, len(block))) if done else Transition(),)
                for i in range(self.levels)
            ]
            phase = t % self.period
            yield (*self.counter_transitions(phase), (self.buffer_transition(phase, x),), *levels)

    def transitions(self, letter: Hashable) -> tuple[tuple[tuple[Transition, ...], ...], ...]:
        """What a letter can do: for each head of each layer the different transitions.

        Those of the ring buffer alone depend on the letter. Those of the counter depend on the phase, and those of the levels on
        the phase and the block before.

        Args:
            letter: label of a letter of the automaton.

        Raises:
            InputError: the automaton has no such letter.
            LimitError: there are too many blocks or states to list them; `transitions_of` gives those of a word.
        """
        x = self.automaton.letter_index(letter)
        counters = tuple(
            tuple(tuple(Transition(factors) for factors in head.transitions) for head in layer.heads)
            for layer in self.counter.layers
        )
        buffer = tuple(self.buffer_transition(phase, x) for phase in range(self.period))
        return (*counters, (buffer,), *((level,) for level in self._level_transitions))

    @cached_property
    def _level_transitions(self) -> tuple[tuple[Transition, ...], ...]:
        """The different transitions of each level, in the first block, where there are no factors, and behind any block."""
        found: list[dict[Transition, None]] = [{Transition(): None} for _ in range(self.levels)]
        positions = range(1, self.block + 1)
        for done in self._listed_steps():
            for i, steps in enumerate(done):
                rows = np.concatenate([steps.kind, steps.source, steps.target, steps.written], axis=1)
                for b in np.sort(np.unique(rows, axis=0, return_index=True)[1]).tolist():
                    found[i].update((steps.transition(b, *self.group(i, j)), None) for j in positions)
        return tuple(tuple(level) for level in found)

    def _listed_steps(self) -> Iterator[list[Steps]]:
        """What every block does to the levels after every sequence of blocks, breadth first."""
        words = block_words(self.automaton.transitions, self.block, self.window or 0, MAX_LISTED_BLOCKS)
        frontier = self.start_states()
        seen = {frontier.key(0)}
        while words is not None and len(frontier.start):
            count = len(frontier.start)
            after, done = self.follow_block(
                frontier.take(np.repeat(np.arange(count), len(words))), np.tile(words, (count, 1))
            )
            yield done
            fresh = []
            for i in range(len(after.start)):
                if after.key(i) not in seen:
                    seen.add(after.key(i))
                    fresh.append(i)
            frontier = after.take(np.array(fresh, dtype=np.int64))
            words = words if len(seen) <= MAX_LISTED_BLOCKS else None
        if words is None:
            raise LimitError(
                f"{self.automaton.name}: there are more than {MAX_LISTED_BLOCKS:,} different blocks of {self.block} tokens, or states "
                "of the layers, so what a token can do is not listed; `transitions_of` gives it for each token of a word"
            )
