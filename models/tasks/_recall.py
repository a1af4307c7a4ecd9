"""Recall as tasks: multi-query associative recall, and recall by the state that an automaton is in.

`recall` (arXiv 2312.04927, rebuilt): `pairs` of a key and a value, then queries, each a key seen before; the label at a
query is its value. `state_recall` (an extension): actions of an automaton move a state, `write v` stores v at the
state, `read` is labelled with what was stored there last; so keys are states that must be tracked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np

from ...constructions._spec import automaton_from_spec
from ...constructions.automata._automaton import Automaton
from ...constructions.automata._labels import label_text
from ...foundation._errors import InputError
from ._contract import RECALL, TaskContract
from ._contract import Protocol as Published
from ._sampling import IGNORED, TESTING, TRAINING, Batch, generator
from ._task import Span, TaskSettings


@dataclass(frozen=True)
class _Recall(ABC):
    """What both tasks share: labels are values, and words are drawn whole, a test's in one piece."""

    settings: TaskSettings
    bos = False
    own_lengths = False

    @property
    def protocol(self) -> Published:
        """Our lengths."""
        return RECALL

    @property
    def classes(self) -> int:
        """Values."""
        return self.settings.values

    def batches(
        self, seeds: Sequence[int], step: int, words: int, length: int, shortest: int | None = None
    ) -> Batch:
        """The training words of one step: `words` words for each seed, different for different seeds.

        Args:
            seeds: the seed of each model, at least 0.
            step: the training step, counted from 0; the words depend only on the seed and the step.
            words: the number of words of each seed, at least 1.
            length: the number of letters of each word.
            shortest: None, since all words have this length.

        Returns:
            Letters and labels `[seeds, words, tokens]`.
        """
        drawn = [self._words(generator(TRAINING, seed, step), words, length) for seed in seeds]
        return Batch(np.stack([x.letters for x in drawn]), np.stack([x.labels for x in drawn]))

    def stream(self, seed: int, words: int, length: int) -> Iterator[Batch]:
        """Test words in one piece; a prefix of associative recall has its pairs and fewer queries.

        Args:
            seed: the seed of the random words, at least 0.
            words: the number of words, at least 1.
            length: the number of letters of each word.

        Yields:
            Letters and labels `[words, tokens]`.
        """
        yield self._words(generator(TESTING, seed, 0), words, length)

    @abstractmethod
    def _words(self, rng: np.random.Generator, words: int, length: int) -> Batch:
        """Random words of a length."""


@dataclass(frozen=True)
class AssociativeRecall(_Recall):
    """Keys are letters 0, ..., keys - 1, values come after them; a word is `pairs` pairs and then queries only.

    A word of fewer letters than two for each pair has fewer pairs, at least one.

    Attributes:
        settings: `pairs`, `keys` and `values`.

    Raises:
        InputError: there are more pairs than keys, no pair, or fewer than 2 values.

    Source: arXiv 2312.04927, rebuilt.
    """

    def __post_init__(self) -> None:
        s = self.settings
        if not 1 <= s.pairs <= s.keys or s.values < 2:
            raise InputError(
                f"recall: pairs {s.pairs}, keys {s.keys}, values {s.values}: 1 ≤ pairs ≤ keys and 2 values are needed"
            )

    @property
    def letters(self) -> int:
        """Keys and values."""
        return self.settings.keys + self.settings.values

    def contract(self, train_lengths: Span, test_lengths: tuple[str, ...]) -> TaskContract:
        """Describe the task.

        Args:
            train_lengths: shortest and longest training word, in letters.
            test_lengths: the lengths of the test words, as texts.

        Returns:
            The contract, which states what a reader must know to compare two results.
        """
        s = self.settings
        return TaskContract(
            task=f"recall, {s.pairs} pairs",
            alphabet=(*(f"k{i}" for i in range(s.keys)), *(f"v{i}" for i in range(s.values))), classes=s.values,
            order="pairs of key and value, then queries, each a key that was given", labels="value of the queried key",
            supervision="at every query", bos=False, words="keys of a word differ; values and queries uniform",
            held_out=(), train_lengths=train_lengths, test_lengths=test_lengths,
            fidelity=s.fidelity or "reconstruction",
            source="arXiv 2312.04927, multi-query associative recall" if s.source is None else s.source,
            chance=1 / s.values, settings=msgspec.to_builtins(s),
        )  # fmt: skip

    def _words(self, rng: np.random.Generator, words: int, length: int) -> Batch:
        s = self.settings
        pairs = max(min(s.pairs, length // 2), 1)
        rows = np.arange(words)[:, None]
        keys = rng.random((words, s.keys)).argsort(axis=1)[:, :pairs]
        values = rng.integers(0, s.values, size=(words, pairs))
        queries = rng.integers(0, pairs, size=(words, max(length - 2 * pairs, 0)))
        given = np.stack([keys, s.keys + values], axis=2).reshape(words, -1)
        letters = np.concatenate([given, keys[rows, queries]], axis=1)[:, :length]
        labels = np.full(letters.shape, IGNORED)
        labels[:, 2 * pairs :] = values[rows, queries]
        return Batch(letters, labels)


@dataclass(frozen=True)
class StateRecall(_Recall):
    """Letters: the automaton's, then `write v` for each value, then `read`; half of all letters are actions.

    A read of a state at which nothing was stored has no label.

    Attributes:
        settings: its `spec` is `state_recall:` and an automaton; `values` are stored.
    """

    @cached_property
    def automaton(self) -> Automaton:
        """The automaton whose state is tracked: that of the SPEC after `state_recall:`."""
        s = self.settings
        spec = s.spec.removeprefix("state_recall:")
        return automaton_from_spec(
            spec, alphabet=s.alphabet, split=s.split, start=s.start, group=s.group, product=s.product
        )

    @property
    def letters(self) -> int:
        """Actions, writes and the read."""
        return len(self.automaton.letters) + self.settings.values + 1

    def contract(self, train_lengths: Span, test_lengths: tuple[str, ...]) -> TaskContract:
        """Describe the task.

        Args:
            train_lengths: shortest and longest training word, in letters.
            test_lengths: the lengths of the test words, as texts.

        Returns:
            The contract, which states what a reader must know to compare two results.
        """
        s = self.settings
        actions = tuple(label_text(x) for x in self.automaton.letters)
        return TaskContract(
            task=f"recall by the state of {self.automaton.name}",
            alphabet=(*actions, *(f"write {i}" for i in range(s.values)), "read"), classes=s.values,
            order="words are read left to right; an action moves the state, a write stores at it",
            labels="value stored last at the state", supervision="at every read of a state that holds a value",
            bos=False, words="half actions, a quarter writes, a quarter reads", held_out=(),
            train_lengths=train_lengths, test_lengths=test_lengths, fidelity=s.fidelity or "extension",
            source=s.source or "", chance=1 / s.values, settings=msgspec.to_builtins(s),
        )  # fmt: skip

    def _words(self, rng: np.random.Generator, words: int, length: int) -> Batch:
        automaton, values = self.automaton, self.settings.values
        actions, rows = len(automaton.letters), np.arange(words)
        kind = rng.integers(0, 4, size=(length, words))
        action = rng.integers(0, actions, size=(length, words))
        value = rng.integers(0, values, size=(length, words))
        letters = np.where(kind < 2, action, np.where(kind == 2, actions + value, actions + values))
        labels = np.full((length, words), IGNORED)
        state = np.full(words, automaton.start)
        stored = np.full((words, len(automaton.states)), IGNORED)
        for t in range(length):
            state = np.where(kind[t] < 2, automaton.transitions[action[t], state], state)
            writes, reads = kind[t] == 2, kind[t] == 3
            stored[rows[writes], state[writes]] = value[t, writes]
            labels[t, reads] = stored[rows[reads], state[reads]]
        return Batch(letters.T, labels.T)
