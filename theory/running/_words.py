"""Words for runs: arrays of letter indices, or uniform random words that are made piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...constructions._realisation import Realisation
from ...constructions.automata._automaton import Automaton, Indices
from ...foundation._errors import InputError, LimitError

PIECE = 16_384
"""Random words are drawn in pieces of this many tokens, each from its own seed."""
MAX_SEQUENCES = 100_000
"""Random words side by side: a piece of each is in memory."""
MAX_TOKENS = 10**13
"""Tokens of all random words together."""


class Words(Protocol):
    """A rectangle of letter indices that can be read in parts."""

    @property
    def sequences(self) -> int: ...
    @property
    def length(self) -> int: ...
    def part(self, start: int, stop: int) -> NDArray[Any]:
        """Letter indices `[sequences, stop - start]`.

        Args:
            start: first position.
            stop: the position behind the last.
        """
        ...


@dataclass(frozen=True)
class RandomWords:
    """Uniform random words: numpy's PCG64, seeded with (seed, number of the piece).

    Any part can be made at any time, and a longer word of the same seed and number of sequences begins with the
    shorter one.

    Attributes:
        letters: number of letters of the alphabet.
        sequences: number of words.
        length: number of tokens of each.
        seed: the seed, at least 0.
    """

    letters: int
    sequences: int
    length: int
    seed: int

    def part(self, start: int, stop: int) -> NDArray[Any]:
        """Letter indices `[sequences, stop - start]`.

        Args:
            start: first position.
            stop: the position behind the last.
        """
        pieces = []
        for number in range(start // PIECE, -(-stop // PIECE)):
            generator = np.random.Generator(np.random.PCG64([self.seed, number]))
            piece = generator.integers(
                0,
                self.letters,
                size=(self.sequences, PIECE),
                dtype=np.uint8 if self.letters <= 256 else np.int64,
            )
            first = number * PIECE
            pieces.append(piece[:, max(start - first, 0) : min(stop - first, PIECE)])
        return np.concatenate(pieces, axis=1) if pieces else np.zeros((self.sequences, 0), dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class ArrayWords:
    """Words that lie in memory.

    Attributes:
        letters: int array `[sequences, length]`.
    """

    letters: NDArray[Any]

    @property
    def sequences(self) -> int:
        """Rows."""
        return int(self.letters.shape[0])

    @property
    def length(self) -> int:
        """Columns."""
        return int(self.letters.shape[1])

    def part(self, start: int, stop: int) -> NDArray[Any]:
        """Letter indices `[sequences, stop - start]`.

        Args:
            start: first position.
            stop: the position behind the last.
        """
        return self.letters[:, start:stop]


def words_of(letters: Any, automaton: Automaton) -> Words:
    """Words checked against the alphabet.

    Args:
        letters: an int array `[sequences, T]` or `[T]`, or a `Words`, which pass as they are.
        automaton: the automaton, whose alphabet they must be in.
    """
    if isinstance(letters, RandomWords) and letters.letters > len(automaton.letters):
        raise InputError(
            f"letters: random words over {letters.letters} letters, but {automaton.name} has {len(automaton.letters)}"
        )
    if isinstance(letters, RandomWords | ArrayWords):
        return letters
    array = np.asarray(letters)
    if array.ndim == 1:
        array = array[None, :]
    if array.ndim != 2 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise InputError(
            f"letters: an array of shape {array.shape} and type {array.dtype}; letter indices [sequences, T] are "
            "needed (Automaton.word gives the indices of a word)"
        )
    if array.size and (array.min() < 0 or array.max() >= len(automaton.letters)):
        s, t = (int(i) for i in np.argwhere((array < 0) | (array >= len(automaton.letters)))[0])
        raise InputError(
            f"letters: sequence {s}, token {t + 1}: {int(array[s, t])} is not a letter index of {automaton.name}, "
            f"which has {len(automaton.letters)} letters"
        )
    return ArrayWords(array)


def random_stream(source: Realisation | Automaton, sequences: int, length: int, seed: int) -> RandomWords:
    """Uniform random words that are never in memory as a whole; `run` takes them as letters.

    Args:
        source: a realisation or an automaton, whose alphabet is used.
        sequences: the number of words side by side, at least 1.
        length: the number of tokens of each, at least 0.
        seed: the seed of the random numbers, at least 0.

    Raises:
        InputError: a number is negative.
        LimitError: beyond `MAX_SEQUENCES` words or `MAX_TOKENS` letters in all.
    """
    automaton = source if isinstance(source, Automaton) else source.automaton
    if not automaton.letters:
        raise InputError(f"{automaton.name}: there are no letters to draw from")
    if sequences < 0 or length < 0 or seed < 0:
        raise InputError(
            f"random words: sequences {sequences}, length {length}, seed {seed} must not be negative"
        )
    if sequences > MAX_SEQUENCES:
        raise LimitError(
            f"random words: {sequences:,} are more than the {MAX_SEQUENCES:,} that can run side by side: give fewer, or "
            "several runs with different seeds"
        )
    if sequences * length > MAX_TOKENS:
        raise LimitError(
            f"random words: {sequences:,} of length {length:,} have more than {MAX_TOKENS:,} letters: give fewer or shorter "
            "ones"
        )
    return RandomWords(len(automaton.letters), sequences, length, seed)


def random_words(source: Realisation | Automaton, sequences: int, length: int, seed: int) -> Indices:
    """Uniform random letter indices `[sequences, length]`, the same as those of `random_stream`.

    Args:
        source: a realisation or an automaton, whose alphabet is used.
        sequences: the number of words side by side, at least 1.
        length: the number of tokens of each, at least 0.
        seed: the seed of the random numbers, at least 0.

    Examples:
        >>> from mirrormata import construct, random_words
        >>> random_words(construct("parity"), 2, 4, seed=0)
        array([[0, 1, 1, 1],
               [0, 1, 0, 0]])
    """
    return random_stream(source, sequences, length, seed).part(0, length).astype(np.int64)
