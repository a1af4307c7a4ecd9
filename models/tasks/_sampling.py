"""`Sampler`: random words of an automaton with a label for every prefix, by table look-up; the same for the same seed.

A `WordForm` says which words a task has: all of them, those that never fail, those without certain pairs, or elements between
blanks. A batch is a function of (seed, step) alone, so a run that goes on after a stop sees what it would have seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.library._groups import BLANK
from ...foundation._errors import InputError

Pair = tuple[int, int]
"""Two letters in the order in which they are read."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class WordForm:
    """An automaton of allowed words: in context c the next letter is uniform among `choices[c, :counts[c]]`.

    Attributes:
        choices: letters, int `[contexts, most choices]`.
        counts: the number of choices, int `[contexts]`, at least 1.
        follow: the context after a letter, int `[letters, contexts]`.
        labelled: whether the letter read in a context has a label, bool `[contexts]`.
        start: the first context.
    """

    choices: Indices
    counts: Indices
    follow: Indices
    labelled: Mask
    start: int


def live_words(automaton: AutomatonLike) -> WordForm:
    """Make the form of words from which some output always stays possible, that is, which avoid the sink of ill-formed words.

    Args:
        automaton: an automaton with outputs of states, in any form that `as_automaton` accepts.

    Returns:
        The form; its contexts are the automaton's states.

    Raises:
        InputError: outputs belong to transitions, or some words cannot be continued.
    """
    automaton = as_automaton(automaton)
    if automaton.is_mealy:
        raise InputError(f"{automaton.name}: words live needs outputs of states; take words uniform")
    alive = np.array([output is not None and output is not False for output in automaton.outputs])
    while True:  # alive: some word leads to a defined, accepting output
        grown = alive | alive[automaton.transitions].any(axis=0)
        if (grown == alive).all():
            break
        alive = grown
    allowed = alive[automaton.transitions] & alive
    if not allowed[:, alive].any(axis=0).all():
        raise InputError(f"{automaton.name}: words live: some words cannot go on; take words uniform")
    everywhere = np.ones(len(automaton.states), dtype=bool)
    return _form(allowed, automaton.transitions, everywhere, automaton.start)


def words_without(automaton: AutomatonLike, held_out: Collection[Pair]) -> WordForm:
    """Make the form of words in which no held-out pair occurs; the context is the previous letter (the last context: none).

    Args:
        automaton: the automaton whose letters are drawn, in any form that `as_automaton` accepts.
        held_out: ordered pairs of letter indices.

    Returns:
        The form.

    Raises:
        InputError: the pairs leave no letter after some letter.
    """
    automaton = as_automaton(automaton)
    letters = len(automaton.letters)
    allowed = np.ones((letters, letters + 1), dtype=bool)
    for first, second in held_out:
        allowed[second, first] = False
    stuck = np.flatnonzero(~allowed.any(axis=0))
    if len(stuck):
        raise InputError(
            f"{automaton.name}: held-out pairs leave no letter after {automaton.letters[stuck[0]]!r}: hold out fewer"
        )
    follow = np.repeat(np.arange(letters)[:, None], letters + 1, axis=1)
    return _form(allowed, follow, np.ones(letters + 1, dtype=bool), letters)


def spaced_words(automaton: AutomatonLike) -> WordForm:
    """Make the form of the words of `G[in_k_tokens]`: an element, then k - 1 blanks, with a label at every k-th token.

    Args:
        automaton: an automaton with such a name, in any form that `as_automaton` accepts.

    Returns:
        The form; its contexts are the places in a group of k tokens.

    Raises:
        InputError: the automaton is another.
    """
    automaton = as_automaton(automaton)
    match = re.search(r"\[in_([0-9]+)_tokens\]", automaton.name)
    if match is None or BLANK not in automaton.letters:
        raise InputError(f"{automaton.name}: words spaced are those of G[in_k_tokens]; take words uniform")
    k, blank = int(match[1]), automaton.letter_index(BLANK)
    allowed = np.zeros((len(automaton.letters), k), dtype=bool)
    allowed[:, 0] = True
    allowed[blank, 0] = False
    allowed[blank, 1:] = True
    follow = np.repeat((np.arange(k)[None, :] + 1) % k, len(automaton.letters), axis=0)
    return _form(allowed, follow, np.arange(k) == k - 1, 0)


def _form(allowed: Mask, follow: Indices, labelled: Mask, start: int) -> WordForm:
    counts = allowed.sum(axis=0)
    choices = np.zeros((allowed.shape[1], int(counts.max())), dtype=np.int64)
    for context in range(allowed.shape[1]):
        choices[context, : counts[context]] = np.flatnonzero(allowed[:, context])
    return WordForm(choices, counts.astype(np.int64), np.asarray(follow, dtype=np.int64), labelled, start)


Labels = Literal["state", "output"]
Words = Literal["uniform", "live", "spaced"]
Array = NDArray[Any]
IGNORED = -100
"""The label of a token at which nothing is asked: torch's own number for it."""
TRAINING, TESTING, LENGTHS = 0, 1, 2
"""The first number of a seed, so that these draws have nothing in common."""
PLANTED = 32
"""Every test word has a held-out pair among its first letters, this many."""
PIECE = 1024
"""Test words are drawn in pieces of this many tokens, each from its own seed."""


class Batch(NamedTuple):
    """Words of letter indices, and the label after each token.

    Attributes:
        letters: int `[words, tokens]`, or `[seeds, words, tokens]`.
        labels: int of the same shape; `IGNORED` where there is no label.
    """

    letters: Array
    labels: Array


class Cursor(NamedTuple):
    """Where the words of a batch stand: states times letters, and contexts of their form; `[words]` each."""

    states: Array
    contexts: Array


def generator(*numbers: int) -> np.random.Generator:
    """numpy's PCG64, seeded with several numbers."""
    return np.random.Generator(np.random.PCG64(list(numbers)))


@dataclass(frozen=True, eq=False)
class Sampler:
    """Words of an automaton, and labels: the state after each letter, or the output there (None: no label).

    Attributes:
        automaton: an automaton with at least one letter.
        labels: `state` or `output`.
        words: `uniform` letters; `live`: uniform among those after which an output can still come; `spaced`.
        held_out: ordered pairs of letters that no training word has, and every test word has at least one.

    Raises:
        InputError: there are no letters, or pairs are held out of words that are not uniform.
    """

    automaton: Automaton
    labels: Labels = "state"
    words: Words = "uniform"
    held_out: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        if not self.automaton.letters:
            raise InputError(f"{self.automaton.name}: there are no letters to draw from")
        if self.held_out and self.words != "uniform":
            raise InputError(f"{self.automaton.name}: held-out pairs are for words uniform, not {self.words}")

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """What the labels stand for: states, or the outputs in their first order."""
        if self.labels == "state":
            return self.automaton.states
        return tuple(dict.fromkeys(x for x in self.automaton.outputs.reshape(-1) if x is not None))

    def batches(self, seeds: Sequence[int], step: int, words: int, length: int) -> Batch:
        """The training words of one step: `words` words for each seed, different for different seeds.

        Args:
            seeds: the seed of each model, at least 0.
            step: the training step, counted from 0; the words depend only on the seed and the step.
            words: the number of words of each seed, at least 1.
            length: the number of letters of each word.

        Returns:
            Letters and labels `[seeds, words, tokens]`.
        """
        form, cursor = self._training_form, self.cursor(words)
        rngs = [generator(TRAINING, seed, step) for seed in seeds]
        if form is None:  # all seeds' words at once: the look-ups are few and long
            letters = np.concatenate([self._uniform(rng, words, length) for rng in rngs], axis=1)
            labels, _ = self._label(letters, np.tile(cursor.states, len(seeds)))
            by_seed = (x.reshape(length, len(seeds), words).transpose(1, 2, 0) for x in (letters, labels))
            return Batch(*by_seed)
        drawn = [self._draw(rng, words, length, cursor, form)[0] for rng in rngs]
        return Batch(np.stack([x.letters for x in drawn]), np.stack([x.labels for x in drawn]))

    def stream(self, seed: int, words: int, length: int) -> Iterator[Batch]:
        """Yield test words in pieces of `PIECE` tokens. With the same seed, a longer test begins with a shorter one.

        Args:
            seed: the seed of the random words, at least 0.
            words: the number of words, at least 1.
            length: the number of letters of each word.

        Yields:
            Letters and labels `[words, tokens]`.
        """
        cursor = self.cursor(words)
        for number, start in enumerate(range(0, length, PIECE)):
            rng = generator(TESTING, seed, number)
            tokens = min(PIECE, length - start)
            plant = number == 0 and bool(self.held_out)
            batch, cursor = self._draw(rng, words, tokens, cursor, self._form, plant)
            yield batch

    def cursor(self, words: int) -> Cursor:
        """Return the cursor at the start of all words, with the context of training words.

        Args:
            words: the number of words, at least 1.

        Returns:
            States and contexts, `[words]` each.
        """
        form = self._training_form
        contexts = np.zeros(words, dtype=np.int64) if form is None else np.full(words, form.start)
        return Cursor(np.full(words, self.automaton.start * len(self.automaton.letters)), contexts)

    @cached_property
    def _form(self) -> WordForm | None:
        if self.words == "live":
            return live_words(self.automaton)
        return spaced_words(self.automaton) if self.words == "spaced" else None

    @cached_property
    def _training_form(self) -> WordForm | None:
        return words_without(self.automaton, self.held_out) if self.held_out else self._form

    @cached_property
    def tables(self) -> tuple[Array, Array]:
        """By state · letters + letter: the next state · letters, and the label there."""
        letters = len(self.automaton.letters)
        after = self.automaton.transitions.T
        if self.labels == "state":
            labels = after
        else:
            index = {value: i for i, value in enumerate(self.classes)}
            flat = [IGNORED if x is None else index[x] for x in self.automaton.outputs.reshape(-1)]
            outputs = np.array(flat).reshape(self.automaton.outputs.shape)
            labels = outputs.T if self.automaton.is_mealy else outputs[after]
        small = np.int16 if len(self.classes) < 2**15 else np.int32
        return np.ascontiguousarray(after * letters).reshape(-1), labels.astype(small).reshape(-1)

    def _uniform(self, rng: np.random.Generator, words: int, length: int) -> Array:
        letters = len(self.automaton.letters)
        small = np.uint8 if letters <= 2**8 else np.int32  # what torch has on every device
        return rng.integers(0, letters, size=(length, words), dtype=small)

    def _draw(
        self,
        rng: np.random.Generator,
        words: int,
        length: int,
        cursor: Cursor,
        form: WordForm | None,
        plant: bool = False,
    ) -> tuple[Batch, Cursor]:
        """Time is the first axis here: each step reads and writes whole rows."""
        contexts, spoken = cursor.contexts, None
        if form is None:
            letters = self._uniform(rng, words, length)
            if plant and length > 1:
                pairs = np.array(self.held_out)[rng.integers(0, len(self.held_out), size=words)]
                at = rng.integers(0, min(length, PLANTED) - 1, size=words)
                letters[at, np.arange(words)], letters[at + 1, np.arange(words)] = pairs.T
        else:
            letters, spoken, contexts = _draw_letters(rng, words, length, form, contexts)
        labels, states = self._label(letters, cursor.states)
        if spoken is not None:
            labels[~spoken] = IGNORED
        return Batch(letters.T, labels.T), Cursor(states, contexts)

    def _label(self, letters: Array, states: Array) -> tuple[Array, Array]:
        """Labels `[tokens, words]` of letters in that order, and the states after them."""
        following, labels_of = self.tables
        labels = np.empty(letters.shape, dtype=labels_of.dtype)
        states, index = states.copy(), np.empty(letters.shape[1], dtype=np.intp)
        for t in range(len(letters)):
            np.add(states, letters[t], out=index, casting="unsafe")
            np.take(labels_of, index, out=labels[t], mode="clip")
            np.take(following, index, out=states, mode="clip")
        return labels, states


def _draw_letters(
    rng: np.random.Generator, words: int, length: int, form: WordForm, contexts: Array
) -> tuple[Array, Array, Array]:
    """Letters `[length, words]` of a form, whether each has a label, and the contexts after them."""
    letters = np.empty((length, words), dtype=np.int64)
    spoken = np.empty((length, words), dtype=bool)
    for t in range(length):
        draws = rng.integers(0, 2**32, size=words, dtype=np.uint32).astype(np.int64)
        spoken[t] = form.labelled[contexts]
        letters[t] = form.choices[contexts, draws * form.counts[contexts] >> 32]
        contexts = form.follow[letters[t], contexts]
    return letters, spoken, contexts
