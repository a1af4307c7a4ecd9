"""What a task is: the entries of `[task]`, and what training and evaluation ask of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from typing import Literal, Protocol

import msgspec
import numpy as np

from ...constructions._conversions import AutomatonLike, as_automaton
from ...foundation._errors import InputError, MirrormataError
from ._contract import Fidelity, TaskContract
from ._contract import Protocol as Published
from ._sampling import Batch, Labels, Words

Span = tuple[int, int]
"""Shortest and longest length of a word."""


class TaskSettings(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The entries of the section `[task]`. None stands for the value of the protocol or the default of `AutomatonTask`.

    Attributes:
        spec: a SPEC of an automaton, `recall`, `state_recall:` and a SPEC, `text`, or `text:` and a file or folder. In Python
            also an object that stands for an automaton of the library, see `automaton_to_spec`.
        protocol: the set-up of a paper, see `PROTOCOLS`.
        labels: `state` or `output`.
        supervision: `per_prefix`, or `last`: only the last label of a word is learned.
        bos: whether words begin with an extra letter.
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
    """

    spec: str
    protocol: Literal["word_problem", "formal_language", "error_control"] | None = None
    labels: Labels | None = None
    supervision: Literal["per_prefix", "last"] | None = None
    bos: bool | None = None
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
    def protocol(self) -> Published:
        """The protocol, whose lengths apply if the settings give none."""

    def batches(self, seeds: Sequence[int], step: int, words: int, length: int) -> Batch:
        """The training words of one step: `words` words for each seed, different for different seeds.

        Args:
            seeds: the seed of each model, at least 0.
            step: the training step, counted from 0; the words depend only on the seed and the step.
            words: the number of words of each seed, at least 1.
            length: the number of letters of each word, BOS not counted.

        Returns:
            Letters and labels `[seeds, words, tokens]`.
        """

    def stream(self, seed: int, words: int, length: int) -> Iterator[Batch]:
        """The test words piece by piece, with BOS before the first letter and a label for every prefix.

        Args:
            seed: the seed of the random words, at least 0.
            words: the number of words, at least 1.
            length: the number of letters of each word, BOS not counted.

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
