"""Word-problem CSV files of the public generators, `seed,input,target`: rows as a test, and our words as such a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...constructions.formats.word_problem_csv import read_word_problem
from ...foundation._errors import InputError
from ...foundation._files import write_text
from ._automaton import AutomatonTask
from ._sampling import Batch


def write_word_problem(path: str | Path, task: AutomatonTask, *, seed: int, rows: int, length: int) -> None:
    """Write test words of a group's word problem over all elements; letters and targets are the elements' numbers.

    Args:
        path: the CSV file to write.
        task: its letters are its states, and its labels are states.
        seed: the seed of the random words, at least 0.
        rows: words, at least 1.
        length: the number of letters of each word, at least 1.

    Raises:
        InputError: the task is another, or there are no rows or letters.
    """
    automaton = task.automaton
    if automaton.letters != automaton.states or task.sampler.labels != "state":
        raise InputError(
            f"{automaton.name}: a word-problem file needs all elements as letters, and states as labels"
        )
    if rows < 1 or length < 1:
        raise InputError(f"{path}: rows {rows}, length {length}: at least 1 of each is needed")
    pieces = list(task.sampler.stream(seed, rows, length))
    letters, labels = (np.concatenate([piece[i] for piece in pieces], axis=1) for i in (0, 1))
    lines = (
        f"{seed},{' '.join(map(str, word))},{' '.join(map(str, targets))}"
        for word, targets in zip(letters.tolist(), labels.tolist(), strict=True)
    )
    write_text(path, "\n".join(["seed,input,target", *lines]) + "\n")


@dataclass(frozen=True)
class WordProblemRows(AutomatonTask):
    """The rows of a file in place of random test words; training words are random as ever.

    Attributes:
        settings: the settings of the task.
        rows: letters and labels, `[rows, tokens]`.
    """

    rows: Batch

    def stream(self, seed: int, words: int, length: int) -> Iterator[Batch]:
        """The first rows, cut to a length.

        Args:
            seed: not looked at: no seed changes them.
            words: the number of rows.
            length: the number of letters of each word, BOS not counted.

        Yields:
            Letters and labels `[words, tokens]`.
        """
        letters, labels = (x[:words, :length] for x in self.rows)
        yield self.with_bos(letters, labels) if self.bos else Batch(letters, labels)


def read_word_problem_rows(
    path: str | Path, task: AutomatonTask, *, group: str | None = None
) -> WordProblemRows:
    """A task's test words from a file, every row checked against the group's product and the task's automaton.

    Args:
        path: a word-problem CSV.
        task: a task whose letters and states are all elements of the group.
        group: the group of the file, if the file's name does not contain it.

    Returns:
        The task with these rows.

    Raises:
        InputError: rows have several lengths, or the task gives a row other labels.
    """
    found = read_word_problem(path, group=group)
    lengths = {len(word) for word in found.inputs}
    if len(lengths) > 1 or 0 in lengths:
        raise InputError(
            f"{path}: rows have {min(lengths)} to {max(lengths)} tokens; one length from 1 is needed"
        )
    rows = Batch(np.stack(found.inputs), np.stack(found.targets))
    automaton = task.automaton
    known = rows.letters.max() < len(automaton.letters) and task.sampler.labels == "state"
    if not known or not np.array_equal(automaton.trace(rows.letters), rows.labels):
        raise InputError(
            f"{path}: {automaton.name} gives its words other labels: the file has the {found.product} product of "
            f"{found.group.name} over all elements"
        )
    return WordProblemRows(task.settings, rows)
