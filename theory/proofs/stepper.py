"""Any `Stepper` as a `Machine`: its states, whatever arrays they are made of, become rows of bytes.

States are arrays, or lists, tuples, dictionaries or dataclasses of them; each array has one axis that counts the
sequences, found by comparing one sequence with two. Every bit counts: +0 and -0 are different states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Indices
from ...constructions.errors import InputError
from ..running.stepper import Stepper
from .answers import Answers
from .state_search import Rows
from .state_search_store import NodeForm


class StepperMachine:
    """The given stepper; it decodes to states, or to whatever numbers `answers` gives a meaning.

    A stepper whose attribute `one_by_one` is true is called for each state alone: the bits that a matrix product gives
    to a sequence can depend on how many there are side by side, and the states searched must be those of a run.
    """

    idle: tuple[bool, ...]

    def __init__(self, stepper: Stepper, answers: Answers) -> None:
        self.stepper, self.answers = stepper, answers
        self.numbers_states = bool(getattr(stepper, "numbers_states", False))
        """Whether a state's bits are its number in this run, and mean nothing to another."""
        self._one_by_one = bool(getattr(stepper, "one_by_one", False))
        self.reads_letters = True
        self.idle = (False,) * len(answers.automaton.letters)
        one, two = list(_arrays(stepper.initial(1))), list(_arrays(stepper.initial(2)))
        self._like = stepper.initial(1)
        self._axes = [_sequence_axis(a, b) for a, b in zip(one, two, strict=True)]
        self._first = [np.moveaxis(a, axis, 0) for a, axis in zip(one, self._axes, strict=True)]
        widths = [a[0].nbytes for a in self._first]
        self._ends = np.cumsum([0, *widths]).tolist()
        self.form = NodeForm(np.dtype(np.uint8), self._ends[-1])

    def initial(self) -> Rows:
        """The bytes of the initial state."""
        return self.packed(self.stepper.initial(1))

    def step(self, rows: Rows, letter: int) -> Rows:
        """The bytes of the states after a letter."""
        if self._one_by_one and len(rows) > 1:
            return np.concatenate([self.step(rows[i : i + 1], letter) for i in range(len(rows))])
        letters = np.full(len(rows), letter, dtype=np.int64)
        return self.packed(self.stepper.step(self.unpacked(rows), letters))

    def guess(self, row: Rows, letter: int, length: int) -> Rows | None:
        """It cannot."""
        return None

    def first_wrong(self, rows: Rows, letters: Indices, before: Indices, after: Indices) -> int:
        """The first place where the stepper decodes to something else, or -1."""
        named = np.asarray(self.stepper.decode(self.unpacked(rows), letters), dtype=np.int64)
        wrong = np.flatnonzero(self.answers.of_states(named) != self.answers.right(letters, before, after))
        return int(wrong[0]) if wrong.size else -1

    def packed(self, states: Any) -> Rows:
        """The bytes of states of the stepper `[sequences, bytes]`."""
        parts = []
        for array, axis, like in zip(_arrays(states), self._axes, self._first, strict=True):
            part = np.moveaxis(array, axis, 0)
            if part.dtype != like.dtype or part.shape[1:] != like.shape[1:]:
                raise InputError(
                    f"the stepper's states change form: {like.dtype} {like.shape[1:]} before the first token, "
                    f"{part.dtype} {part.shape[1:]} after it"
                )
            parts.append(np.ascontiguousarray(part).reshape(len(part), -1).view(np.uint8))
        return np.concatenate(parts, axis=1)

    def unpacked(self, rows: Rows) -> Any:
        """The stepper's states that have these bytes, in arrays of their own."""
        arrays = []
        for like, axis, first, end in zip(
            self._first, self._axes, self._ends[:-1], self._ends[1:], strict=True
        ):
            part = np.ascontiguousarray(rows[:, first:end]).view(like.dtype)
            arrays.append(np.moveaxis(part.reshape(len(rows), *like.shape[1:]), 0, axis))
        return _rebuilt(self._like, iter(arrays))


def _arrays(states: Any) -> Iterator[NDArray[Any]]:
    """The arrays of a state, in order."""
    if isinstance(states, np.ndarray):
        if states.dtype == object:
            raise InputError(
                "the stepper's states have arrays of Python objects; arrays of numbers are needed"
            )
        yield states
    elif isinstance(states, list | tuple):
        for part in states:
            yield from _arrays(part)
    elif isinstance(states, dict):
        for key in states:
            yield from _arrays(states[key])
    elif is_dataclass(states) and not isinstance(states, type):
        for field in fields(states):
            yield from _arrays(getattr(states, field.name))
    else:
        raise InputError(
            f"the stepper's states have a part of type {type(states).__name__}; numpy arrays, and lists, tuples, "
            "dictionaries or dataclasses of them, are needed"
        )


def _rebuilt(like: Any, arrays: Iterator[NDArray[Any]]) -> Any:
    if isinstance(like, np.ndarray):
        return next(arrays)
    if isinstance(like, list | tuple):
        parts = [_rebuilt(part, arrays) for part in like]
        if isinstance(like, list):
            return parts
        return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)
    if isinstance(like, dict):
        return {key: _rebuilt(part, arrays) for key, part in like.items()}
    return replace(like, **{f.name: _rebuilt(getattr(like, f.name), arrays) for f in fields(like)})


def _sequence_axis(one: NDArray[Any], two: NDArray[Any]) -> int:
    if one.ndim == two.ndim:
        differ = [i for i, (a, b) in enumerate(zip(one.shape, two.shape, strict=True)) if a != b]
        if len(differ) == 1 and one.shape[differ[0]] == 1 and two.shape[differ[0]] == 2:
            return differ[0]
    raise InputError(
        f"the stepper's states have an array of shape {one.shape} for one sequence and {two.shape} for two: one axis "
        "must count the sequences"
    )
