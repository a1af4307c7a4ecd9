"""`AutomatonTask`: a word problem or language as training and test data, with its contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from ...constructions._spec import automaton_from_spec, nearest_prefix
from ...constructions.automata._automaton import Automaton
from ...constructions.automata._labels import label_text
from ...constructions.library._groups import is_group_name
from ...foundation._errors import InputError
from ._contract import Protocol as Published
from ._contract import Supervision, TaskContract, published_protocol
from ._sampling import IGNORED, TESTING, Array, Batch, Sampler, generator
from ._task import Span, TaskSettings

SIZES = 3
"""The first number of the seed of words' own lengths, as `TRAINING` is of their letters'."""

OTHER_TASKS = ("text:", "package:", "tokens:", "asked_in_text:", "state_recall:")
"""What SPECs of tasks begin with that are no automata; see `task_from_settings`."""


@dataclass(frozen=True)
class AutomatonTask:
    """Words of an automaton; the letter indices after the automaton's are BOS and the end letter, if there are such.

    Attributes:
        settings: the SPEC, and what is asked.
    """

    settings: TaskSettings

    @cached_property
    def automaton(self) -> Automaton:
        """The automaton that the SPEC names."""
        s = self.settings
        try:
            return automaton_from_spec(
                s.spec, alphabet=s.alphabet, split=s.split, start=s.start, group=s.group, product=s.product
            )
        except InputError as error:
            unknown, meant = f"{s.spec!r} is not a name of the library", nearest_prefix(s.spec, OTHER_TASKS)
            if meant is None or not str(error).startswith(unknown) or str(error).endswith("?"):
                raise
            raise InputError(f"{unknown}; did you mean {meant}?") from None

    @cached_property
    def protocol(self) -> Published:
        """The set-up of the paper that the settings name, or our own."""
        return published_protocol(self.settings.protocol, self.settings.spec)

    @cached_property
    def sampler(self) -> Sampler:
        """The source of the words and labels."""
        s = self.settings
        labels, words = s.labels or self.protocol.labels, s.words or self.protocol.words
        return Sampler(self.automaton, labels, words, self._held_out())

    @property
    def bos(self) -> bool:
        """Whether words begin with a letter of its own, which has no label."""
        return self.protocol.bos if self.settings.bos is None else self.settings.bos

    @property
    def supervision(self) -> Supervision:
        """`per_prefix`, `last` or `whole_words`, see `TaskSettings`."""
        return self.settings.supervision or self.protocol.supervision

    @property
    def own_lengths(self) -> bool:
        """Whether each word of a batch has a length of its own, and only its end has a label."""
        return self.supervision == "whole_words"

    @cached_property
    def end(self) -> str:
        """The text of the letter that ends every whole word; empty for none."""
        end = self.protocol.end if self.settings.end is None else self.settings.end
        if end and not self.own_lengths:
            raise InputError(
                f"{self.automaton.name}: end {end!r}: only whole words have an end; take supervision whole_words"
            )
        if end in {label_text(x) for x in self.automaton.letters}:
            raise InputError(
                f"{self.automaton.name}: end {end!r} is a letter of the automaton; choose another text"
            )
        return end

    @property
    def letters(self) -> int:
        """Tokens of the model's alphabet, BOS and the end letter included."""
        return len(self.automaton.letters) + self.bos + bool(self.end)

    @property
    def classes(self) -> int:
        """Labels to choose from."""
        return len(self.sampler.classes)

    def batches(
        self, seeds: Sequence[int], step: int, words: int, length: int, shortest: int | None = None
    ) -> Batch:
        """The training words of one step: `words` words for each seed, different for different seeds.

        Args:
            seeds: the seed of each model, at least 0.
            step: the training step, counted from 0; the words depend only on the seed and the step.
            words: the number of words of each seed, at least 1.
            length: the number of letters of each word, BOS not counted; where words have lengths of their own, of the longest.
            shortest: where words have lengths of their own, the number of letters of the shortest, the end letter counted; None
                for `length`.

        Returns:
            Letters and labels `[seeds, words, tokens]`. What follows a word's end has no label, and no model reads it before.
        """
        letters, labels = self.sampler.batches(seeds, step, words, length)
        if self.supervision == "last":
            labels = keep_last_labels(labels)
        elif self.own_lengths:
            low = length if shortest is None else min(shortest, length)
            sizes = [generator(SIZES, seed, step).integers(low, length + 1, size=words) for seed in seeds]
            letters, labels = self._end_words(letters, labels, np.stack(sizes))
        return self.with_bos(letters, labels) if self.bos else Batch(letters, labels)

    def stream(self, seed: int, words: int, length: int) -> Iterator[Batch]:
        """The test words piece by piece, with BOS before the first letter, and a label for every prefix or at the end of each word.

        Args:
            seed: the seed of the random words, at least 0.
            words: the number of words, at least 1.
            length: the number of letters of each word, BOS not counted; where words have lengths of their own, these are uniform
                from 1 to `length`, and all words come in one piece.

        Yields:
            Letters and labels `[words, tokens]`.
        """
        pieces = self.sampler.stream(seed, words, length)
        if self.own_lengths:
            letters, labels = (np.concatenate(parts, axis=1) for parts in zip(*pieces, strict=True))
            sizes = generator(SIZES, TESTING, seed, 0).integers(1, length + 1, size=words)
            pieces = iter([self._end_words(letters, labels, sizes)])
        for number, batch in enumerate(pieces):
            yield self.with_bos(*batch) if self.bos and number == 0 else batch

    def contract(self, train_lengths: Span, test_lengths: tuple[str, ...]) -> TaskContract:
        """Describe the task.

        Args:
            train_lengths: shortest and longest training word, in letters.
            test_lengths: the lengths of the test words, as texts.

        Returns:
            The contract, which states what a reader must know to compare two results.
        """
        automaton, s = self.automaton, self.settings
        order = "words are read left to right"
        if is_group_name(s.spec.partition("[")[0]):
            order += (
                ", y becomes x·y (left product)" if s.product == "left" else ", y becomes y·x (right product)"
            )
        source = self.protocol.source if s.source is None else s.source
        tested = tuple(str(x) if isinstance(x, int) else f"{x[0]}-{x[1]}" for x in self.protocol.test_lengths)
        if source and s.source is None and train_lengths != self.protocol.train_lengths:
            source += ", at other lengths"
        elif source and s.source is None and test_lengths != tested:
            source += ", tested at other lengths"
        texts = tuple(label_text(x) for x in automaton.letters)
        extra = ("BOS",) * self.bos + (self.end,) * bool(self.end)
        return TaskContract(
            task=automaton.name, alphabet=(*texts, *extra), classes=self.classes, order=order,
            labels=self.sampler.labels, supervision=self.supervision, bos=self.bos, words=self.sampler.words,
            held_out=tuple(f"{texts[x]} {texts[y]}" for x, y in self.sampler.held_out), train_lengths=train_lengths,
            test_lengths=test_lengths, fidelity=s.fidelity or self.protocol.fidelity,
            source=source, chance=1 / max(self.classes, 1),
            settings=msgspec.to_builtins(s), end=self.end,
        )  # fmt: skip

    def with_bos(self, letters: Array, labels: Array) -> Batch:
        """BOS in front of words, without a label.

        Args:
            letters: int `[..., tokens]`.
            labels: int `[..., tokens]`.

        Returns:
            The same with one token more.
        """
        first = np.full((*letters.shape[:-1], 1), len(self.automaton.letters), dtype=self._wide(letters))
        ignored = np.full(first.shape, IGNORED, dtype=labels.dtype)
        return Batch(np.concatenate([first, letters], -1), np.concatenate([ignored, labels], -1))

    def _wide(self, letters: Array) -> np.dtype[Any]:
        """The dtype of these letters, or a wider one that has the extra letters too."""
        return np.promote_types(letters.dtype, np.uint8 if self.letters <= 2**8 else np.int32)

    def _end_words(self, letters: Array, labels: Array, sizes: Array) -> Batch:
        """Words cut to sizes `[..., words]`, which count the end letter, or to the last label before; only that label is kept.

        A word without any label in its size keeps the first that it has.
        """
        tokens, ended = labels.shape[-1], bool(self.end)
        places = np.arange(tokens)
        asked = labels != IGNORED
        within = asked & (places < (sizes - ended)[..., None])
        within = np.where(
            within.any(-1, keepdims=True), within, asked & (places == asked.argmax(-1)[..., None])
        )
        last = keep_last_labels(np.where(within, labels, labels.dtype.type(IGNORED)))
        if not ended:
            return Batch(letters, last)
        at = last != IGNORED
        shifted = np.full_like(last, IGNORED)
        shifted[..., 1:] = last[..., :-1]
        letters = letters.astype(self._wide(letters))
        letters[..., 1:][at[..., :-1]] = self.letters - 1
        return Batch(letters, shifted)

    def _held_out(self) -> tuple[tuple[int, int], ...]:
        wanted, automaton = self.settings.held_out, self.automaton
        if isinstance(wanted, int):
            n = len(automaton.letters)
            if not 0 <= wanted < max(n * n, 1):
                raise InputError(
                    f"{automaton.name}: held_out {wanted}: there are {n * n} ordered pairs of letters"
                )
            chosen = generator(0, n).permutation(n * n)[:wanted]
            return tuple((int(p) // n, int(p) % n) for p in chosen)
        index = {label_text(x): i for i, x in enumerate(automaton.letters)}
        unknown = [x for pair in wanted for x in pair if x not in index]
        if unknown:
            raise InputError(
                f"{automaton.name}: held_out: {unknown[0]!r} is not a letter; letters are {list(index)[:20]}"
            )
        return tuple((index[x], index[y]) for x, y in wanted)


def keep_last_labels(labels: Array) -> Array:
    """Only the last label of each word is kept; `[..., tokens]`."""
    asked = labels != IGNORED
    last = labels.shape[-1] - 1 - asked[..., ::-1].argmax(-1)
    kept: Array = np.where(np.arange(labels.shape[-1]) == last[..., None], labels, labels.dtype.type(IGNORED))
    return kept
