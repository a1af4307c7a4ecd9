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
    """Entries of `[task]`. What is None is the protocol's, or `AutomatonTask`'s default.

    Attributes:
        spec: a SPEC of an automaton, `recall`, `state_recall:` and a SPEC, `text`, or `text:` and a file or folder. In Python
            also an object that stands for an automaton of the library, see `automaton_to_spec`.
        protocol: of a paper, see `PROTOCOLS`.
        labels: `state` or `output`.
        supervision: `per_prefix`, or `last`: only the last label of a word is learned.
        bos: a letter of its own in front.
        words: `uniform`, `live` or `spaced`.
        held_out: how many ordered pairs of letters never occur in training, from 0, or these pairs as texts.
        alphabet: the letters of a regular expression, as `automaton_from_spec` takes them.
        start: the text of the start state of a file's automaton.
        product: `left` or `right`: how a group's elements are multiplied.
        group: of a word-problem file, where its name does not say it.
        fidelity: how true the task is to its source.
        source: where it comes from.
        pairs: of recall, from 1 to `keys`.
        keys: of recall, at least `pairs`.
        values: of recall, at least 2.
    """

    spec: str
    protocol: Literal["word_problem", "formal_language", "error_control"] | None = None
    labels: Labels | None = None
    supervision: Literal["per_prefix", "last"] | None = None
    bos: bool | None = None
    words: Words | None = None
    held_out: int | list[tuple[str, str]] = 0
    alphabet: str | None = None
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
        automaton: whatever `as_automaton` takes; a SPEC is returned as it is.

    Returns:
        The automaton's name, if that is a SPEC of just this automaton.

    Raises:
        InputError: it is no automaton, or no SPEC is known that names it.
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
    """What training and evaluation need of a task; lengths are those of words, without BOS."""

    @property
    def letters(self) -> int:
        """Tokens of the model's alphabet, BOS included."""

    @property
    def classes(self) -> int:
        """Labels to choose from."""

    @property
    def bos(self) -> bool:
        """Whether words begin with a letter of its own, which has no label."""

    @property
    def protocol(self) -> Published:
        """Lengths, where the settings give none."""

    def batches(self, seeds: Sequence[int], step: int, words: int, length: int) -> Batch:
        """A step's training words, `words` of each seed's own.

        Args:
            seeds: a number for each model, from 0.
            step: of the training, from 0; the words depend on seed and step alone.
            words: of each seed, at least 1.
            length: letters of each, without BOS.

        Returns:
            Letters and labels `[seeds, words, tokens]`.
        """

    def stream(self, seed: int, words: int, length: int) -> Iterator[Batch]:
        """Test words piece by piece, BOS before the first; labels of every prefix.

        Args:
            seed: of the words, from 0.
            words: how many, at least 1.
            length: letters of each, without BOS.

        Yields:
            Letters and labels `[words, tokens]`.
        """

    def contract(self, train_lengths: Span, test_lengths: tuple[str, ...]) -> TaskContract:
        """The task in words.

        Args:
            train_lengths: shortest and longest training word, in letters.
            test_lengths: of the test words, as texts.

        Returns:
            What a reader must know to compare two results.
        """
