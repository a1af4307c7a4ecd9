"""Words for runs: arrays of letter indices, words as people write them, or uniform random words made piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.automata._completing import is_hashable
from ...foundation._arguments import require_count, show_typed, show_value
from ...foundation._errors import InputError, LimitError
from ...foundation._text import count_noun

PIECE = 16_384
"""Random words are drawn in pieces of this many tokens, each from its own seed."""
MAX_SEQUENCES = 100_000
"""Random words side by side: a piece of each is in memory."""
MAX_TOKENS = 10**13
"""Tokens of all random words together."""


NEEDED = "an int array [sequences, T] of letter indices, a string, or lists of letters are needed"


class Words(Protocol):
    """An array `[sequences, length]` of letter indices that can be read in parts."""

    @property
    def sequences(self) -> int: ...
    @property
    def length(self) -> int: ...
    def part(self, start: int, stop: int) -> NDArray[Any]:
        """Return the letter indices of a range of positions, `[sequences, stop - start]`.

        Args:
            start: first position.
            stop: the position after the last one.
        """
        ...


@dataclass(frozen=True)
class RandomWords:
    """Uniform random words: numpy's PCG64, seeded with (seed, number of the piece).

    Any part can be computed at any time. With the same seed and number of sequences, a longer word begins with the shorter one.

    Attributes:
        letters: number of letters of the alphabet.
        sequences: number of words.
        length: number of tokens of each word.
        seed: the seed, at least 0.
    """

    letters: int
    sequences: int
    length: int
    seed: int

    def part(self, start: int, stop: int) -> NDArray[Any]:
        """Return the letter indices of a range of positions, `[sequences, stop - start]`.

        Args:
            start: first position.
            stop: the position after the last one.
        """
        pieces = []
        # the pieces that overlap the range, each drawn whole from its own seed
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
    """Words that are held in memory.

    Attributes:
        letters: int array `[sequences, length]`.
    """

    letters: NDArray[Any]

    @property
    def sequences(self) -> int:
        """The number of words."""
        return int(self.letters.shape[0])

    @property
    def length(self) -> int:
        """The number of letters of each word."""
        return int(self.letters.shape[1])

    def part(self, start: int, stop: int) -> NDArray[Any]:
        """Return the letter indices of a range of positions, `[sequences, stop - start]`.

        Args:
            start: first position.
            stop: the position after the last one.
        """
        return self.letters[:, start:stop]


def words_of(words: Any, automaton: AutomatonLike) -> Words:
    """Convert words from any form that `run` accepts, and check them against the alphabet.

    Args:
        words: an int array `[sequences, T]` or `[T]` of letter indices, or lists of such; a `RandomWords` or `ArrayWords`,
            which is returned as it is; a string, one word as `Automaton.word` reads it; a list of letters, one word; or a list of words, each a string or a list of
            letters, of the same length. Arrays always contain indices. A list of numbers contains letters if all of them are
            letters, and indices if not; a list that could be either is refused if the two are different words.
        automaton: the automaton whose letters they are.

    Returns:
        The words, as an array of letter indices that can be read in parts.

    Raises:
        InputError: `words` has another form, contains something that is not a letter, or has words of different lengths; or
            a list of integers could be letters as well as indices of other letters.
    """
    automaton = as_automaton(automaton)
    if isinstance(words, RandomWords) and words.letters > len(automaton.letters):
        raise InputError(
            f"`words`: random words over {words.letters} letters, but {automaton.name} has {len(automaton.letters)}"
        )
    if isinstance(words, RandomWords | ArrayWords):
        return words
    if isinstance(words, str):
        return ArrayWords(automaton.word(words)[None, :])
    if isinstance(words, list | tuple) and (spelt := _spelt_words(words, automaton)) is not None:
        return ArrayWords(spelt)
    try:
        array = np.asarray(words)
    except ValueError:
        raise InputError(f"`words`: lists of different lengths; {NEEDED}") from None
    except Exception:
        raise InputError(f"`words` {show_typed(words)}; {NEEDED}") from None
    if array.ndim == 1:
        array = array[None, :]
    if array.ndim != 2 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        what = f"an array of shape {array.shape} and type {array.dtype}"
        raise InputError(
            f"`words`: {what if isinstance(words, np.ndarray | list | tuple) else f'a {type(words).__name__}'}; {NEEDED}"
        )
    if array.size and (array.min() < 0 or array.max() >= len(automaton.letters)):
        s, t = (int(i) for i in np.argwhere((array < 0) | (array >= len(automaton.letters)))[0])
        raise InputError(
            f"`words`: sequence {s}, token {t + 1}: {int(array[s, t])} is not a letter index of {automaton.name}, "
            f"which has {count_noun(len(automaton.letters), 'letter')} ({show_letters(automaton)}); in a list all are letters, or "
            "all are indices"
        )
    return ArrayWords(array)


def _spelt_words(words: list[Any] | tuple[Any, ...], automaton: Automaton) -> Indices | None:
    """Letter indices `[sequences, T]` of a word given by its letters, or of a list of such words; None for numbers."""
    places = {letter: i for i, letter in enumerate(automaton.letters)}
    numeric = any(_is_number(letter) for letter in automaton.letters)

    def is_letter(item: Any) -> bool:
        if not is_hashable(item) or item not in places or (_is_number(item) and not numeric):
            return False
        return isinstance(item, bool) == isinstance(automaton.letters[places[item]], bool)

    # one word by its letters; then a list of words by theirs
    if words and all(is_letter(item) for item in words):
        return _require_clear(automaton.word(list(words))[None, :], [words], automaton)
    if numeric and words and all(isinstance(w, list | tuple) and all(map(is_letter, w)) for w in words):
        if any(len(word) != len(words[0]) for word in words):
            raise InputError("`words`: lists of different lengths; words of one run are equally long")
        return _require_clear(np.stack([automaton.word(list(word)) for word in words]), words, automaton)
    if not any(isinstance(item, str) or _has_labels(item) for item in words):
        return None
    rows = []
    for i, item in enumerate(words):
        if not isinstance(item, str | list | tuple):
            raise InputError(
                f"`words`: item {i}, {item!r}, is neither a letter of {automaton.name} nor a word; {NEEDED}"
            )
        rows.append(automaton.word(item if isinstance(item, str) else list(item)))
        if len(rows[i]) != len(rows[0]):
            raise InputError(
                f"`words`: word {i} has {len(rows[i])} letters, word 0 has {len(rows[0])}; words of one run are equally long"
            )
    return np.stack(rows)


def _require_clear(spelt: Indices, rows: Any, automaton: Automaton) -> Indices:
    """The indices of a list of letters; `InputError` where the list itself, read as indices, is another word."""
    flat = [x for row in rows for x in row]
    # integers that are letters may be meant as indices too
    if all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in flat):
        given = np.array(rows, dtype=object).reshape(spelt.shape)
        if all(0 <= x < len(automaton.letters) for x in flat) and bool((given != spelt).any()):
            raise InputError(
                f"`words`: {show_value(rows[0])} could be letters of {automaton.name} ({show_letters(automaton)}) or indices of "
                "other ones; write `Automaton.word(list)` for letters, and numpy.array(list) for indices"
            )
    return spelt


def show_letters(automaton: Automaton) -> str:
    """The first letters, for an error."""
    return ", ".join(show_value(x) for x in automaton.letters[:8]) + ", ..." * (len(automaton.letters) > 8)


def _has_labels(item: Any) -> bool:
    """Is it a list of letters that are no numbers?"""
    return isinstance(item, list | tuple) and any(not _is_number(x) for x in item)


def _is_number(item: Any) -> bool:
    return isinstance(item, int | float | complex | np.number)


def random_stream(source: AutomatonLike, sequences: int, length: int, seed: int) -> RandomWords:
    """Make uniform random words that are never held in memory as a whole, for `run`.

    Args:
        source: the realisation or automaton whose letters are drawn, in any form that `as_automaton` accepts.
        sequences: the number of words side by side, 0 to `MAX_SEQUENCES`.
        length: the number of letters of each word, 0 or more.
        seed: the seed of the generator, 0 or more.

    Returns:
        The words. The same source and numbers give the same words.

    Raises:
        InputError: a number is negative, or `source` is not an automaton.
        LimitError: there are more than `MAX_SEQUENCES` words or `MAX_TOKENS` letters in total.
    """
    automaton = as_automaton(source, argument="source")
    if not automaton.letters:
        raise InputError(f"{automaton.name}: there are no letters to draw from")
    sequences, length = require_count("sequences", sequences), require_count("length", length)
    seed = require_count("seed", seed)
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


def random_words(source: AutomatonLike, sequences: int, length: int, seed: int) -> Indices:
    """Make uniform random words as an array of letter indices, the same words as those of `random_stream`.

    Args:
        source: the realisation or automaton whose letters are drawn, in any form that `as_automaton` accepts.
        sequences: the number of words.
        length: the number of letters of each word.
        seed: the seed of the generator, 0 or more.

    Returns:
        An int64 array `[sequences, length]`.

    Raises:
        InputError: a number is negative, or `source` is not an automaton.
        LimitError: there are too many words or letters, see `random_stream`.
    """
    return random_stream(source, sequences, length, seed).part(0, length).astype(np.int64)
