"""`ChainRNN`: a linear RNN that follows any automaton by a chain of sets, its letters computed and not listed.

With a window the first layer is a shift register of the last letters, a one-hot of bits a row: a token erases the oldest
letter with the projection on its row, writes its own bits there, and turns the register by swaps. Each level of
the chain (`_rule.py`) is one layer. It holds u, the indicator of X_{i+1} among the members of X_i, and, where the level below has to
know it, v, which was u before the last reset. It reads the letter and the sets X_i before and after the token:

- the level permutes: u ← P u, by swaps; the read-out gets the old u as P^{-1} u;
- the level resets to an indicator Z: v is erased entry by entry while Z is written there, and then the halves are exchanged,
  so that u is Z and v the old u, which the read-out takes from there.

All numbers are 0, 1 and -1, so every float format carries them exactly.

Where a layer also reads what the layers above held after the token before (`look_back`: a short convolution of width 2, or a token
shift), the old u is there, and no layer needs v: half the dimension. A window then needs m rows, as those after the token before are
there too. With gates a reset is the gate 0 and one factor, which writes Z: key the indicator of Z, β = 2^-e, value 2^e, the power of
two that is |Z| or more. Without look-back a gate of 0 would erase v, which the layer below has to read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...foundation._errors import InputError, LimitError
from ...foundation._text import count_noun, shorten_list
from .._realisation import Realisation, Transition
from ..algebra._householder import GHFactor, gh_factor
from ..automata._automaton import Automaton, Indices
from ._rule import (
    LevelLetters,
    Mask,
    level_letters,
    members,
    split_permutations,
    start_indicators,
    with_phantoms,
)
from ._sizes import moving_letters

MAX_LISTED_CHAINS = 2_000
"""Most reachable states of all layers from which `transitions` lists what a letter does."""


@dataclass(frozen=True, eq=False, repr=False)
class ChainRNN(Realisation):
    """A linear RNN with a chain of sets, which realises `automaton` exactly.

    Attributes:
        automaton: any automaton with at least two states.
        sizes: n_1 > n_2 > ... > 1, the sizes of the sets; n_1 is the number of states, or with a window the most states
            that can be left after `window` letters.
        window: m, the letters (those that move a state) after which at most n_1 states are left; None for no window.
        notes: what was compared, bounds.
        look_back: whether a layer also reads what the layers above held after the token before.
        gated: whether a reset is the gate 0 and one factor; only with `look_back`.

    Raises:
        ValueError: gates without `look_back`, or `look_back` where no layer reads the set before a token.
    """

    kind: ClassVar[str] = "chain"

    automaton: Automaton
    sizes: tuple[int, ...]
    window: int | None = None
    notes: tuple[str, ...] = ()
    look_back: bool = False
    gated: bool = False

    def __post_init__(self) -> None:
        if self.gated and not self.look_back:
            raise ValueError("a gate of 0 erases the second half too, so gates need `look_back`")
        if self.look_back and not self.reads_before:
            raise ValueError("no layer reads the set before a token, so there is nothing to look back for")

    @property
    def theorem(self) -> str:
        """The source of the construction."""
        if self.look_back:
            return "own.lookback"
        return "own.chain" if self.window is None else "own.window"

    @property
    def construction(self) -> str:
        """One line of plain words."""
        if self.levels == 0:
            tell = "tells" if self.window == 1 else "tell"
            return f"a window of {count_noun(self.window or 0, 'letter')}, which {tell} the state"
        extras = (
            ", each layer reading the token before too" * self.look_back + ", resets by gate 0" * self.gated
        )
        if self.window is None:
            return f"a chain of sets of {self._list_sizes()} states{extras}"
        register = f"a window of {count_noun(self.window, 'letter')} in a register of {self.rows:,}"
        return f"{register}, then a chain of sets of {self._list_sizes()} states{extras}"

    def for_letters(self, automaton: Automaton, kinds: Indices) -> ChainRNN:
        """The same chain for an automaton with further letters, each of which acts like one of this automaton.

        Args:
            automaton: the automaton with all letters and the same states.
            kinds: for each of its letters the index of the letter here that acts alike; the chain finds them itself (`like`).
        """
        return replace(self, automaton=automaton)

    def _list_sizes(self) -> str:
        return shorten_list(self.sizes)

    @property
    def levels(self) -> int:
        """Number of the chain's levels, one layer each."""
        return len(self.sizes) - 1

    @property
    def rows(self) -> int:
        """Letters in the register: the window, and one more where the states before the token are read from it; 0 without."""
        return 0 if self.window is None else self.window + (self.reads_before and not self.look_back)

    @cached_property
    def like(self) -> Indices:
        """For each letter the first letter that maps the states alike, int array `[letters]`."""
        _, first, kind = np.unique(self.automaton.transitions, axis=0, return_index=True, return_inverse=True)
        return np.asarray(first[kind.reshape(-1)], dtype=np.int64)

    @cached_property
    def bits(self) -> Indices:
        """What the register holds for each letter, int array `[letters, bits]`: the number of its map, in binary.

        The different maps that move a state are numbered from 1 in the order of the letters. A letter that moves none has zeros
        alone, and is never written.
        """
        # the first letter of each map that moves a state gets the next number
        first = self.moves & (self.like == np.arange(len(self.like)))
        number = np.where(self.moves, np.cumsum(first)[self.like], 0)
        width = max(int(number.max(initial=0)).bit_length(), 1)
        return (number[:, None] >> np.arange(width)) & 1

    @cached_property
    def moves(self) -> Mask:
        """Which letters move a state, bool array `[letters]`."""
        return moving_letters(self.automaton.transitions)

    @cached_property
    def resets(self) -> bool:
        """Does a letter merge two states? Without one no level resets, and none needs a second half."""
        return not self.automaton.is_permutation

    @property
    def reads_before(self) -> bool:
        """Whether a layer, or a Mealy output, reads the set before a token; only then is there something that look-back saves."""
        return self.resets and (self.automaton.is_mealy or self.levels > (self.window is None))

    def keeps_old(self, level: int) -> bool:
        """Whether a level's layer has a second half. The last level has one only for outputs that need the state before.

        Args:
            level: the level, from 0.
        """
        return not self.look_back and self.resets and (level < self.levels - 1 or self.automaton.is_mealy)

    @cached_property
    def level_dims(self) -> tuple[int, ...]:
        """The key dimension of each level's layer."""
        return tuple(size * (1 + self.keeps_old(i)) for i, size in enumerate(self.sizes[:-1]))

    @property
    def value_dim(self) -> int:
        """Largest value dimension of a head: the bits of a letter in the register, or the one column of a chain's layer."""
        return 1 if self.window is None else int(self.bits.shape[1])

    @property
    def depth(self) -> int:
        """Number of layers."""
        return self.levels + (self.window is not None)

    @cached_property
    def layer_dims(self) -> tuple[int, ...]:
        """The key dimension of each layer."""
        return (self.rows,) * (self.window is not None) + self.level_dims

    @cached_property
    def layer_factors(self) -> tuple[int, ...]:
        """Most factors of a token in each layer: of a reset one for each entry of the state, or with gates one; of a permutation fewer."""
        # a permutation of p entries has p - 1 swaps at most
        levels = [dim if self.resets and not self.gated else dim - 1 for dim in self.level_dims]
        return (self.rows,) * (self.window is not None) + tuple(levels)

    @property
    def householders(self) -> int:
        """Most factors of a token in one layer."""
        return max(self.layer_factors)

    @property
    def heads(self) -> int:
        """One head in each layer."""
        return 1

    @property
    def dim(self) -> int:
        """Largest key dimension of a layer."""
        return max(self.layer_dims)

    @property
    def work(self) -> int:
        """Factors × key dimension of each layer, summed; a bound, as the letters are computed."""
        return sum(f * d for f, d in zip(self.layer_factors, self.layer_dims, strict=True))

    @property
    def exactness(self) -> str:
        """`integer`."""
        return "integer"

    @property
    def integer_bound(self) -> int:
        """1: states hold 0 and 1, keys 1 and -1, and a swap meets differences of two entries. With gates the largest value that a
        factor writes with, a power of two."""
        return 2 ** write_exponent(max(self.sizes[1:], default=1)) if self.gated and self.resets else 1

    @property
    def largest_beta(self) -> int:
        """The largest β‖v‖² of a factor: 2 of a swap, 1 of a projection."""
        return 2

    @property
    def used_transitions(self) -> Iterable[Transition]:
        """One of each form: a swap, and a projection that erases an entry and writes it."""
        yield Transition((gh_factor(1, {0: 1, 1: -1}),))
        if self.resets and self.gated:
            size = max(self.sizes[1:], default=1)
            yield write_set(range(size))
        if (self.resets and not self.gated) or self.window is not None:
            yield Transition((gh_factor(1, {0: 1}),), additive=((0, 0, 1),))

    def start_states(self, start: int | None = None) -> ChainStates:
        """The states of all layers before the first token, for one word.

        Args:
            start: index of the automaton's state to begin with; None for its start.
        """
        at = self.automaton.start if start is None else start
        n = len(self.automaton.states)
        indicators = start_indicators(n, at, self.sizes, phantoms=self.window is not None)
        register = np.full((1, self.rows), -1, dtype=np.int64)
        return ChainStates(register, np.array([at]), tuple(row[None] for row in indicators))

    def window_states(self, register: Indices, start: Indices, length: int) -> Mask:
        """The states in which words can end that end with given letters, `[words, n]`.

        Args:
            register: the last letters, int array `[words, rows]`, the newest first, -1 where there was none yet.
            start: the state in which each word began, int array `[words]`.
            length: how many letters back the window reaches.
        """
        n = len(self.automaton.states)
        points = np.arange(n)
        transitions = np.concatenate([self.automaton.transitions, points[None]])  # letter -1 is the identity
        seen = register[:, :length]
        # words of fewer than `length` letters so far can have come from their start alone
        full = np.logical_and.reduce(seen >= 0, axis=1)
        images = np.where(full[:, None], points, start[:, None])
        # from the oldest letter of the window to the newest
        for letter in seen.T[::-1]:
            images = transitions[letter[:, None], images]
        found = np.zeros((len(register), n), dtype=bool)
        np.put_along_axis(found, images, True, axis=1)
        return found

    def token_letters(
        self, states: ChainStates, letters: Indices
    ) -> tuple[ChainStates, list[LevelLetters], Indices]:
        """One token by the rule: the states after it, what it did to each level, and the automaton's states.

        Args:
            states: the states before it, of several words side by side.
            letters: indices of the letters just read, int array `[words]`.
        """
        transitions = self.automaton.transitions
        n = transitions.shape[1]
        register, done = states.register, []
        if self.window is None:
            old = new = np.broadcast_to(np.arange(n), (len(letters), n))
        else:
            moves = self.moves[letters]
            # a letter that moves no state stays out of the register
            shifted = np.concatenate([self.like[letters][:, None], register[:, :-1]], axis=1)
            register = np.where(moves[:, None], shifted, register)
            new_states = self.window_states(register, states.start, self.window)
            if self.levels == 0:
                return ChainStates(register, states.start, ()), [], new_states.argmax(axis=1)
            # before the token: what the token before left, or the rows from the second on where it moved the register
            before = (
                states.register
                if self.look_back
                else np.where(moves[:, None], register[:, 1:], register[:, :-1])
            )
            old_states = self.window_states(before, states.start, self.window)
            old, new = with_phantoms(old_states, self.sizes[0]), with_phantoms(new_states, self.sizes[0])
        indicators = []
        # level by level: what the token does with X_i and X'_i, then the sets X_{i+1} and X'_{i+1}
        for u, size in zip(states.indicators, self.sizes[1:], strict=True):
            acts = level_letters(transitions, letters, old, new, size)
            after = acts.apply(u)
            done.append(acts)
            indicators.append(after)
            old, new = members(old, u), members(new, after)
        return ChainStates(register, states.start, tuple(indicators)), done, new[:, 0]

    def level_transition(self, level: int, acts: LevelLetters, token: int) -> Transition:
        """What a token does to a level's layer, as factors.

        Args:
            level: the level, from 0.
            acts: what tokens do to the level.
            token: which of them.
        """
        p, both = self.sizes[level], self.keeps_old(level)
        if acts.permutes[token]:
            return Transition(permutation_swaps(acts.images[token]))
        if self.gated:
            return write_set(np.flatnonzero(acts.target[token]).tolist())
        written = tuple((int(j), 0, 1) for j in np.flatnonzero(acts.target[token]))
        # u is erased in place; with a second half v is erased and then exchanged with u
        erased = range(p, 2 * p) if both else range(p)
        factors = [gh_factor(1, {j: 1}) for j in erased]
        if both:
            factors += [gh_factor(1, {j: 1, p + j: -1}) for j in range(p)]
        return Transition(tuple(factors), additive=written)

    def register_transition(self, letter: int) -> Transition:
        """What a letter does to the register: it erases the oldest letter, turns the register, and writes itself.

        Args:
            letter: index of the letter.
        """
        bits = self.bits[letter]
        if not bits.any():
            # a letter that moves no state does nothing
            return Transition()
        # from the back to the front, the empty row past all others
        turn = [gh_factor(1, {j: 1, j + 1: -1}) for j in reversed(range(self.rows - 1))]
        written = tuple((0, int(b), 1) for b in np.flatnonzero(bits))
        return Transition((gh_factor(1, {self.rows - 1: 1}), *turn), additive=written)

    def transitions_of(self, word: Sequence[Hashable]) -> Iterator[tuple[Transition, ...]]:
        """What each token of a word does to each layer.

        Args:
            word: letters of the automaton.

        Raises:
            InputError: a letter is none of the automaton's.
        """
        states = self.start_states()
        for label in word:
            x = self.automaton.letter_index(label)
            states, done, _ = self.token_letters(states, np.array([x]))
            levels = [self.level_transition(i, acts, 0) for i, acts in enumerate(done)]
            yield (*(self.register_transition(x),) * (self.window is not None), *levels)

    def transitions(self, letter: Hashable) -> tuple[tuple[tuple[Transition, ...], ...], ...]:
        """What a letter can do: for each layer its one head with the different transitions.

        Args:
            letter: label of a letter of the automaton.

        Raises:
            InputError: the automaton has no such letter.
            LimitError: the layers have too many reachable states to list them; `transitions_of` gives those of a word.
        """
        x = self.automaton.letter_index(letter)
        _, done, _ = self.token_letters(*(self._reachable(x)))
        found: list[tuple[tuple[Transition, ...], ...]] = []
        if self.window is not None:
            found.append(((self.register_transition(x),),))
        for level, acts in enumerate(done):
            resets: Mask = np.logical_not(acts.permutes)
            # tokens with the same action have the same row here
            rows = np.concatenate([resets[:, None], acts.images, acts.target & resets[:, None]], axis=1)
            first = np.sort(np.unique(rows, axis=0, return_index=True)[1])
            found.append((tuple(self.level_transition(level, acts, int(token)) for token in first),))
        return tuple(found)

    def _reachable(self, letter: int) -> tuple[ChainStates, Indices]:
        states = self.list_states(MAX_LISTED_CHAINS)
        if states is None:
            raise LimitError(
                f"{self.automaton.name}: the layers have more than {MAX_LISTED_CHAINS:,} reachable states, so what letter "
                f"{self.automaton.letters[letter]!r} can do is not listed; `transitions_of` gives it for each token of a word"
            )
        return states, np.full(len(states.start), letter)

    def list_states(self, limit: int) -> ChainStates | None:
        """All states of the layers that words lead to, breadth first; None if there are more than `limit`.

        Args:
            limit: the most states, at least 1.
        """
        first = self.start_states()
        seen = {first.key(0)}
        found = frontier = first
        # breadth first; `found` holds the states in the order in which they were met
        while len(frontier.start):
            reached: list[ChainStates] = []
            for x in range(len(self.automaton.letters)):
                after, _, _ = self.token_letters(frontier, np.full(len(frontier.start), x))
                fresh = []
                for i in range(len(after.start)):
                    key = after.key(i)
                    if key not in seen:
                        if len(seen) >= limit:
                            return None
                        seen.add(key)
                        fresh.append(i)
                reached.append(after.take(np.array(fresh, dtype=np.int64)))
            frontier = ChainStates.join(reached) if reached else first.take(np.zeros(0, dtype=np.int64))
            found = ChainStates.join([found, frontier])
        return found

    def require_start(self, start: int | None) -> None:
        """`InputError` unless the sizes hold for runs that begin in this state.

        They do from every state where each size is one less than the one before, and where the automaton's start does not
        reach all states, so that the chains were listed from each.

        Args:
            start: index of a state; None for the automaton's start.
        """
        # a fall by one suffices from every state
        steps = (a - b for a, b in zip(self.sizes[:-1], self.sizes[1:], strict=True))
        if start in (None, self.automaton.start) or all(step == 1 for step in steps):
            return
        if len(self.automaton.reachable()) == len(self.automaton.states):
            raise InputError(
                f"{self.automaton.name}: the sizes of the chain hold from the automaton's start alone: leave `start` out"
            )


@dataclass(frozen=True, eq=False)
class ChainStates:
    """What the layers hold for several words, by the rule alone.

    Attributes:
        register: the last letters that move a state, each as the first letter with its map, int array `[words, rows]`, the newest
            first, -1 where there was none yet.
        start: the state in which each word began, int array `[words]`.
        indicators: u of each level, bool arrays `[words, n_i]`.
    """

    register: Indices
    start: Indices
    indicators: tuple[Mask, ...]

    def take(self, words: Indices) -> ChainStates:
        """Some of the words.

        Args:
            words: their indices, int array.
        """
        return ChainStates(self.register[words], self.start[words], tuple(u[words] for u in self.indicators))

    def repeat(self, words: int) -> ChainStates:
        """One word's states, for so many words.

        Args:
            words: their number.
        """
        return self.take(np.zeros(words, dtype=np.int64))

    def key(self, word: int) -> bytes:
        """Equal exactly for equal states.

        Args:
            word: index of a word.
        """
        parts = [self.register[word].tobytes(), *(np.packbits(u[word]).tobytes() for u in self.indicators)]
        return b"".join(parts)

    @staticmethod
    def join(states: Sequence[ChainStates]) -> ChainStates:
        """The words of several, one after another.

        Args:
            states: at least one.
        """
        return ChainStates(
            np.concatenate([s.register for s in states]),
            np.concatenate([s.start for s in states]),
            tuple(np.concatenate(rows) for rows in zip(*(s.indicators for s in states), strict=True)),
        )


def write_exponent(members: int) -> int:
    """The least e with 2^e at least the number of members, so that β = 2^-e has β‖v‖² ≤ 1 for the indicator v of a set.

    Args:
        members: how many members the set has, at least 1.
    """
    return (members - 1).bit_length()


def write_set(members: Iterable[int]) -> Transition:
    """The reset with a gate: gate 0, and one factor whose key is the indicator of a set and which writes it.

    With β = 2^-e and the value 2^e it adds β·2^e = 1 to each member.

    Args:
        members: the entries that become 1, at least one.
    """
    chosen = list(members)
    beta = Fraction(1, 2 ** write_exponent(len(chosen)))
    return Transition((gh_factor(beta, dict.fromkeys(chosen, 1)),), 0, tuple((j, 0, 1) for j in chosen))


def permutation_swaps(images: Indices) -> tuple[GHFactor, ...]:
    """The swaps of a permutation, of `split_permutations`, as factors in the order applied.

    Args:
        images: int array `[p]`, entry j goes to `images[j]`.
    """
    return tuple(
        gh_factor(1, {i: 1, j: -1})
        for part in split_permutations(images[None])
        for i, j in enumerate(part[0].tolist())
        if i < j
    )
