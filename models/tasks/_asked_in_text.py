"""`AskedInText`: text, and among it words of an automaton whose state is asked for; for heads that are planted into a model of text.

The tokens are those of text, one for each letter, and one that asks; the classes are the bytes and the states. A share of the words of a
batch consists of letters and questions, with a label at every question; the others are windows of text. Tests are of letters and
questions alone; `text_task` tests the same model on text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np

from ...constructions._spec import automaton_from_spec
from ...constructions.automata._automaton import Automaton
from ...constructions.automata._labels import label_text
from ...foundation._errors import InputError
from ._contract import ASKED, TaskContract
from ._contract import Protocol as Published
from ._language import BYTES, LanguageTask
from ._packages import PackageTask
from ._sampling import IGNORED, PIECE, TESTING, TRAINING, Array, Batch, generator
from ._task import Span, TaskSettings

PREFIX = "asked_in_text:"
PACKAGE = "package:"
QUESTIONS = 4
"""Every fourth token of a word asks for the state, on average."""


@dataclass(frozen=True)
class AskedInText:
    """Words of letters and questions among windows of text.

    Attributes:
        settings: its `spec` is `asked_in_text:` and an automaton; `text` is the place of the text, as behind `text:`, or a
            `package:FILE` with its `sha256`; `share` is the share of words that are not text.

    Raises:
        InputError: `share` is no fraction from 0 to 1.
    """

    settings: TaskSettings
    bos = False
    own_lengths = False

    def __post_init__(self) -> None:
        if not 0 <= self.settings.share <= 1:
            raise InputError(f"task.share is {self.settings.share}: a fraction from 0 to 1 is needed")

    @cached_property
    def automaton(self) -> Automaton:
        """The automaton whose state is asked for."""
        s = self.settings
        return automaton_from_spec(
            s.spec.removeprefix(PREFIX),
            alphabet=s.alphabet,
            split=s.split,
            start=s.start,
            group=s.group,
            product=s.product,
        )

    @cached_property
    def text_task(self) -> LanguageTask:
        """The next byte of the same text."""
        text = self.settings.text
        if text.startswith(PACKAGE):
            return PackageTask(TaskSettings(spec=text, sha256=self.settings.sha256))
        return LanguageTask(TaskSettings(spec=f"text:{text}" if text else "text"))

    @property
    def letters(self) -> int:
        """Tokens of text, of letters, and the one that asks."""
        return self.text_task.letters + len(self.automaton.letters) + 1

    @property
    def classes(self) -> int:
        """Bytes and states."""
        return BYTES + len(self.automaton.states)

    @property
    def protocol(self) -> Published:
        """The lengths of text in training, and of words up to sixteen times as long in tests."""
        return ASKED

    def batches(
        self, seeds: Sequence[int], step: int, words: int, length: int, shortest: int | None = None
    ) -> Batch:
        """The words of one step: `share` of them are letters and questions, the others windows of the training text.

        Args:
            seeds: the seed of each model, at least 0.
            step: the training step, counted from 0; the words depend only on the seed and the step.
            words: the number of words of each seed, at least 1.
            length: the number of tokens of each word.
            shortest: None, since all words have this length.

        Returns:
            Letters and labels `[seeds, words, tokens]`.

        Raises:
            InputError: the training text is no longer than `length`.
        """
        asked = round(self.settings.share * words)
        parts = []
        if asked:
            drawn = [self._words(generator(TRAINING, seed, step), asked, length)[0] for seed in seeds]
            parts.append(Batch(np.stack([x.letters for x in drawn]), np.stack([x.labels for x in drawn])))
        if asked < words:
            parts.append(self.text_task.batches(seeds, step, words - asked, length))
        return Batch(
            np.concatenate([part.letters.astype(np.int64) for part in parts], 1),
            np.concatenate([part.labels.astype(np.int64) for part in parts], 1),
        )

    def stream(self, seed: int, words: int, length: int) -> Iterator[Batch]:
        """Yield test words of letters and questions, in pieces.

        Args:
            seed: the seed of the random words, at least 0.
            words: the number of words, at least 1.
            length: the number of tokens of each word.

        Yields:
            Letters and labels `[words, tokens]`.
        """
        rng, state = generator(TESTING, seed), None
        for at in range(0, length, PIECE):
            batch, state = self._words(rng, words, min(PIECE, length - at), state)
            yield batch

    def contract(self, train_lengths: Span, test_lengths: tuple[str, ...]) -> TaskContract:
        """Describe the task.

        Args:
            train_lengths: shortest and longest training word, in tokens.
            test_lengths: the lengths of the test words, as texts.

        Returns:
            The contract, which states what a reader must know to compare two results.
        """
        s, automaton = self.settings, self.automaton
        text = self.text_task.contract(train_lengths, test_lengths)
        letters = tuple(f"letter {label_text(x)}" for x in automaton.letters)
        return TaskContract(
            task=f"the state of {automaton.name} among text", alphabet=(*text.alphabet, *letters, "ask"), classes=self.classes,
            order="words are read left to right; a letter moves the state", labels="next byte, or the state",
            supervision=f"text: {text.supervision}; words: at every question", bos=False,
            words=f"{s.share:g} of the words of a batch are letters and questions, a quarter questions; tests are of these alone; {text.words}",
            held_out=(), train_lengths=train_lengths, test_lengths=test_lengths, fidelity=s.fidelity or "extension",
            source=s.source or "", chance=1 / len(automaton.states), settings=msgspec.to_builtins(s),
        )  # fmt: skip

    def _words(
        self, rng: np.random.Generator, words: int, length: int, state: Array | None = None
    ) -> tuple[Batch, Array]:
        """Random words that begin in a state, the automaton's first by default; and the states after them."""
        automaton, first = self.automaton, self.text_task.letters
        count = len(automaton.letters)
        asks = rng.integers(0, QUESTIONS, size=(length, words)) == 0
        drawn = rng.integers(0, count, size=(length, words))
        letters = np.where(asks, first + count, first + drawn)
        labels = np.full((length, words), IGNORED)
        now = np.full(words, automaton.start) if state is None else state
        for t in range(length):
            now = np.where(asks[t], now, automaton.transitions[drawn[t], now])
            labels[t, asks[t]] = BYTES + now[asks[t]]
        return Batch(letters.T, labels.T), now
