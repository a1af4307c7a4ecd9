"""What a task is: the entries of `[task]`, and what training and evaluation ask of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from typing import Literal, Protocol

import msgspec
import numpy as np

from ...constructions._conversions import AutomatonLike, as_automaton
from ...foundation._errors import InputError, MirrormataError
from ._contract import Fidelity, Supervision, TaskContract
from ._contract import Protocol as Published
from ._sampling import Batch, Labels, Words

Span = tuple[int, int]
"""Shortest and longest length of a word."""


class TaskSettings(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The entries of the section `[task]`. None stands for the value of the protocol or the default of `AutomatonTask`.

    Attributes:
        spec: a SPEC of an automaton, `recall`, `state_recall:` and a SPEC, `text`, `text:` and a file or folder,
            `package:` and the file of a Python package, `tokens:` and a folder of token files, or `asked_in_text:` and a SPEC. In Python
            also an object that stands for an automaton of the library, see `automaton_to_spec`.
        protocol: the set-up of a paper, see `PROTOCOLS`.
        labels: `state` or `output`.
        supervision: `per_prefix`; `last`: only the last label of a word is learned; or `whole_words`: the words of a batch have
            lengths of their own, in training and in tests, and only the label of a whole word is asked.
        bos: whether words begin with an extra letter.
        end: the text of an extra letter that ends every whole word and has its label; empty for none.
        words: `uniform`, `live` or `spaced`.
        held_out: the number of ordered pairs of letters that never occur in training, or these pairs as texts.
        alphabet: the letters of a regular expression, as `automaton_from_spec` takes them.
        split: the sign between several letters of a label in a drawn automaton, as `automaton_from_spec` takes it.
        start: the text of the start state of a file's automaton.
        product: `left` or `right`: how a group's elements are multiplied.
        group: the group of a word-problem file, if the file's name does not contain it.
        fidelity: how closely the task follows its source: `same`, `reconstruction` or `extension`.
        source: the source of the task.
        pairs: for recall, the number of pairs of a word, from 1 to `keys`.
        keys: for recall, the number of keys, at least `pairs`.
        values: for recall, the number of values, at least 2.
        text: for `asked_in_text:`, the file or folder of the text, or `package:` and a file; empty for the standard library.
        share: for `asked_in_text:`, the share of a batch's words that are letters and questions, from 0 to 1.
        vocabulary: for token files, the number of their tokens, so that a training can be planned without them; None for that of the files.
        sha256: for `package:`, also in `text`, the SHA-256 of the file of the package, 64 hexadecimal digits.
    """

    spec: str
    protocol: Literal["word_problem", "formal_language", "formal_language_prefix", "error_control"] | None = (
        None
    )
    labels: Labels | None = None
    supervision: Supervision | None = None
    bos: bool | None = None
    end: str | None = None
    words: Words | None = None
    held_out: int | list[tuple[str, str]] = 0
    alphabet: str | None = None
    split: str | None = None
    start: str | None = None
    product: Literal["left", "right"] = "left"
    group: str | None = None
    fidelity: Fidelity | None = None
    source: str | None = None
    pairs: int = 8
    keys: int = 64
    values: int = 64
    text: str = ""
    share: float = 0.1
    vocabulary: int | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.spec, str):
            msgspec.structs.force_setattr(self, "spec", automaton_to_spec(self.spec))


def automaton_to_spec(automaton: AutomatonLike) -> str:
    """The SPEC of an automaton: a task's folder has only a text, from which the automaton is made again.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts; a SPEC is returned as it is.

    Returns:
        The automaton's name, if that is a SPEC of just this automaton.

    Raises:
        InputError: it is not an automaton, or no SPEC is known that names it.
    """
    if isinstance(automaton, str):
        return automaton
    if isinstance(automaton, PathLike):
        return str(fspath(automaton))
    given = as_automaton(automaton, argument="spec")
    try:
        named = as_automaton(given.name)
    except MirrormataError:
        named = None
    if (
        named is None
        or (named.letters, named.states, named.start) != (given.letters, given.states, given.start)
        or not np.array_equal(named.transitions, given.transitions)
        or not np.array_equal(named.outputs, given.outputs)
    ):
        raise InputError(
            f"`spec` is the automaton {given.name}, which no SPEC names, and a task is kept as a text: save it "
            '(`save("mine.json")`) and give that file'
        )
    return str(given.name)


class Task(Protocol):
    """The interface of a task for training and evaluation. Lengths are those of words, BOS not counted."""

    @property
    def letters(self) -> int:
        """The number of tokens of the alphabet, including BOS."""

    @property
    def classes(self) -> int:
        """The number of labels."""

    @property
    def bos(self) -> bool:
        """Whether words begin with an extra letter, which has no label."""

    @property
    def own_lengths(self) -> bool:
        """Whether each word of a batch has a length of its own, and only its end has a label."""

    @property
    def protocol(self) -> Published:
        """The protocol, whose lengths apply if the settings give none."""

    def batches(
        self, seeds: Sequence[int], step: int, words: int, length: int, shortest: int | None = None
    ) -> Batch:
        """The training words of one step: `words` words for each seed, different for different seeds.

        Args:
            seeds: the seed of each model, at least 0.
            step: the training step, counted from 0; the words depend only on the seed and the step.
            words: the number of words of each seed, at least 1.
            length: the number of letters of each word, BOS not counted; where words have lengths of their own, of the longest.
            shortest: where words have lengths of their own, the number of letters of the shortest; otherwise None.

        Returns:
            Letters and labels `[seeds, words, tokens]`.
        """

    def stream(self, seed: int, words: int, length: int) -> Iterator[Batch]:
        """The test words piece by piece, with BOS before the first letter, and a label for every prefix or at the end of each word.

        Args:
            seed: the seed of the random words, at least 0.
            words: the number of words, at least 1.
            length: the number of letters of each word, BOS not counted; where words have lengths of their own, of the longest.

        Yields:
            Letters and labels `[words, tokens]`.
        """

    def contract(self, train_lengths: Span, test_lengths: tuple[str, ...]) -> TaskContract:
        """Describe the task.

        Args:
            train_lengths: shortest and longest training word, in letters.
            test_lengths: the lengths of the test words, as texts.

        Returns:
            The contract, which states what a reader must know to compare two results.
        """
