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

from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError
from ..running._guarded import GuardedStepper
from ..running._stepper import Stepper
from ._answers import Answers
from ._state_search import CANDIDATES, NodeForm, Rows

ONE_BY_ONE = 1 << 10
"""Successors computed at once of a stepper that takes each alone, in calls of its own or in exact numbers: a second of work or so."""


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
        self.one_by_one = bool(getattr(stepper, "one_by_one", False))
        """Whether the stepper is called for each state alone."""
        self.at_once = ONE_BY_ONE if self.one_by_one or self.numbers_states else CANDIDATES
        self.reads_letters = True
        self.idle = (False,) * len(answers.automaton.letters)
        self._like = stepper.initial(1)
        # one sequence beside two shows which axis of each array counts the sequences
        one, two = list(_arrays(self._like, self._like)), list(_arrays(stepper.initial(2), self._like))
        if not one:
            raise InputError("the stepper's states have no arrays; one at least is needed")
        self._axes = [_sequence_axis(a, b) for a, b in zip(one, two, strict=True)]
        self._first = [np.moveaxis(a, axis, 0) for a, axis in zip(one, self._axes, strict=True)]
        # bytes of a sequence in each array, and where they end in a row
        widths = [a[0].nbytes for a in self._first]
        self._ends = np.cumsum([0, *widths]).tolist()
        self.form = NodeForm(np.dtype(np.uint8), self._ends[-1])
        # a first step, so that a stepper whose states change form is refused before the search
        if isinstance(stepper, GuardedStepper) and self.idle and not (self.numbers_states or self.one_by_one):
            self.pack(
                stepper.step(stepper.initial(2), np.zeros(2, dtype=np.int64)), 2
            )  # which says what is wrong

    def initial(self) -> Rows:
        """The bytes of the initial state."""
        return self.pack(self.stepper.initial(1))

    def step(self, rows: Rows, letter: int) -> Rows:
        """The bytes of the states after a letter."""
        # not side by side: the bits may depend on how many there are
        if self.one_by_one and len(rows) > 1:
            return np.concatenate([self.step(rows[i : i + 1], letter) for i in range(len(rows))])
        letters = np.full(len(rows), letter, dtype=np.int64)
        return self.pack(self.stepper.step(self.unpack(rows), letters), len(rows))

    def step_each(self, rows: Rows, letters: Indices) -> Rows:
        """The bytes of the states after a letter of its own for each row, int `[rows]`, in one call of the stepper."""
        return self.pack(self.stepper.step(self.unpack(rows), letters), len(rows))

    def decode(self, states: Any, letters: Indices) -> Indices:
        """What the stepper decodes states to, which must be one integer for each letter just read."""
        said = np.asarray(self.stepper.decode(states, letters))
        if said.dtype.kind not in "iub" or said.shape != letters.shape:
            raise InputError(
                f"the stepper's decode gives an array of type {said.dtype} and shape {said.shape} for {len(letters)} "
                "sequences: one whole number for each is needed"
            )
        return said.astype(np.int64)

    def guess(self, row: Rows, letter: int, length: int) -> Rows | None:
        """It cannot."""
        return None

    def first_wrong(self, rows: Rows, letters: Indices, before: Indices, after: Indices) -> int:
        """The first place where the stepper decodes to something else, or -1."""
        named = self.decode(self.unpack(rows), letters)
        wrong = np.flatnonzero(self.answers.of_states(named) != self.answers.right(letters, before, after))
        return int(wrong[0]) if wrong.size else -1

    def pack(self, states: Any, sequences: int = 1) -> Rows:
        """The bits of states of the stepper `[sequences, bytes]`; `InputError` where they have another form than the first."""
        parts = []
        for array, axis, like in zip(_arrays(states, self._like), self._axes, self._first, strict=True):
            # the sequences first, then all that belongs to one
            fits = array.ndim == like.ndim and array.shape[axis] == sequences
            part = np.moveaxis(array, axis, 0) if fits else array
            if not fits or part.dtype != like.dtype or part.shape[1:] != like.shape[1:]:
                raise InputError(
                    f"the stepper's states change form: an array of type {like.dtype} with {like.shape[1:]} numbers a sequence "
                    f"before the first token has the type {array.dtype} and the shape {array.shape} for {sequences} sequences "
                    "after it"
                )
            parts.append(np.ascontiguousarray(part).reshape(len(part), -1).view(np.uint8))
        return np.concatenate(parts, axis=1)

    def unpack(self, rows: Rows) -> Any:
        """The stepper's states that have these bytes, in arrays of their own."""
        arrays = []
        for like, axis, first, end in zip(
            self._first, self._axes, self._ends[:-1], self._ends[1:], strict=True
        ):
            part = np.array(rows[:, first:end], order="C").view(like.dtype)  # a copy, which a step may change
            arrays.append(np.moveaxis(part.reshape(len(rows), *like.shape[1:]), 0, axis))
        return _rebuilt(self._like, iter(arrays))


def _arrays(states: Any, like: Any) -> Iterator[NDArray[Any]]:
    """The arrays of a state, in the order of the initial one, `like`; `InputError` where they are in other containers."""
    if type(states) is not type(like):
        raise InputError(
            f"the stepper's states change form: a {type(like).__name__} before the first token is a "
            f"{type(states).__name__} after it"
        )
    if type(states) is np.ndarray:
        if states.dtype.kind not in "biufc":
            raise InputError(
                f"the stepper's states have an array of type {states.dtype}; arrays of numbers are needed"
            )
        yield states
    elif isinstance(states, list | tuple):
        if len(states) != len(like):
            raise InputError(
                f"the stepper's states change form: {len(like)} parts before the first token are {len(states)} after it"
            )
        for part, first in zip(states, like, strict=True):
            yield from _arrays(part, first)
    elif isinstance(states, dict):
        if set(states) != set(like):
            raise InputError(
                f"the stepper's states change form: the keys {list(like)} before the first token are {list(states)} after it"
            )
        for key in like:
            yield from _arrays(states[key], like[key])
    elif is_dataclass(states) and not isinstance(states, type):
        for field in fields(states):
            yield from _arrays(getattr(states, field.name), getattr(like, field.name))
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
        # the only axis that grows from 1 to 2
        differ = [i for i, (a, b) in enumerate(zip(one.shape, two.shape, strict=True)) if a != b]
        if len(differ) == 1 and one.shape[differ[0]] == 1 and two.shape[differ[0]] == 2:
            return differ[0]
    raise InputError(
        f"the stepper's states have an array of shape {one.shape} for one sequence and {two.shape} for two: one axis "
        "must count the sequences"
    )
