"""`Learned`: what a comparison needs of anybody's layer: heads with letter matrices, a stepper, and a read-out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ...constructions.algebra._matrices import Matrix
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.automata._labels import label_text
from ...constructions.certificates._parts import number_outputs
from ...theory.arithmetic._rounding import Floats
from ...theory.proofs._answers import Answers
from ...theory.running._stepper import Stepper

Read: TypeAlias = Callable[[Sequence[Floats], Indices], Indices]
"""A read-out: from the states of all heads `[sequences, n, d]` and the letters just read to answers; -1 for none."""


@dataclass(frozen=True, eq=False)
class Factors:
    """GH factors of each letter in the order applied, Π (I - β k kᵀ), behind a gate.

    Attributes:
        beta: `[letters, n_h]`, 0 where a letter has fewer factors.
        keys: `[letters, n_h, n]`.
        gate: what multiplies the state before the factors, `[letters]`.
    """

    beta: Floats
    keys: Floats
    gate: Floats

    @property
    def strength(self) -> Floats:
        """β‖k‖², `[letters, n_h]`: 1 - it is the factor's eigenvalue."""
        squares: Floats = np.einsum("xjn,xjn->xj", self.keys, self.keys)
        return self.beta * squares


@dataclass(frozen=True, eq=False)
class LearnedHead:
    """One head, H ← A(x) H + B(x), in float64.

    Attributes:
        name: a name for error messages and results.
        A: a transition for each letter, `[letters, n, n]`.
        B: what each letter adds, `[letters, n, d]`.
        H0: the state before the first letter, `[n, d]`.
        factors: the factors of each letter, if they are known.
        exact: the matrices in exact numbers, if they are known.
        spread: the largest spectral distance of a letter's transitions in two contexts from their mean, which `A` then is; 0
            where A is a function of the letter.
        copies: the heads of the layer that have exactly these numbers.
    """

    name: str
    A: Floats
    B: Floats
    H0: Floats
    factors: Factors | None = None
    exact: tuple[Matrix, ...] | None = None
    spread: float = 0.0
    copies: tuple[int, ...] = (0,)

    @property
    def dim(self) -> int:
        """The dimension n of the state."""
        return int(self.A.shape[1])


@dataclass(frozen=True, eq=False)
class Target:
    """The answers that a model should give.

    Attributes:
        automaton: the automaton that the model should follow.
        table: the number of the right answer, int `[letters, states before]`; -1 if there is no answer.
        names: the text of each answer.
    """

    automaton: Automaton
    table: Indices
    names: tuple[str, ...]

    @property
    def machine(self) -> Automaton:
        """The answers as a Mealy machine over the automaton's states."""
        return replace(self.automaton, outputs=answer_names(self.table, self.names))


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned layer or model from any source, with the answers that it should give.

    Attributes:
        name: a name for error messages and results.
        letters: the texts of the letters.
        heads: the heads that are known; empty if only answers are compared.
        target: the right answers.
        stepper: runs the model and answers in numbers of `target`.
        head_states: a function from the stepper's states to those of each head.
        read: a function from the states of the heads and the letters alone to answers; None if there is none.
        arithmetic: the arithmetic of the stepper, in words.
        notes: sentences about how the model was read.
    """

    name: str
    letters: tuple[str, ...]
    heads: tuple[LearnedHead, ...]
    target: Target
    stepper: Stepper
    head_states: Callable[[Any], list[Floats]]
    read: Read | None
    arithmetic: str
    notes: tuple[str, ...] = ()


class AffineStepper:
    """Heads' recurrences in float64 and a read-out; states are a list of arrays `[sequences, n, d]`."""

    def __init__(self, heads: Sequence[LearnedHead], read: Read) -> None:
        self.heads, self.read = tuple(heads), read

    def initial(self, sequences: int) -> list[Floats]:
        """H0 of each head."""
        return [np.repeat(head.H0[None], sequences, axis=0) for head in self.heads]

    def step(self, states: Sequence[Floats], letters: ArrayLike) -> list[Floats]:
        """One token."""
        x = np.asarray(letters)
        return [head.A[x] @ H + head.B[x] for head, H in zip(self.heads, states, strict=True)]

    def decode(self, states: Sequence[Floats], letters: ArrayLike) -> Indices:
        """What the read-out answers."""
        return self.read(states, np.asarray(letters))


def state_target(automaton: Automaton) -> Target:
    """The answer is the automaton's state after the letter."""
    return Target(automaton, automaton.transitions, tuple(label_text(q) for q in automaton.states))


def output_target(answers: Answers) -> Target:
    """The answer is the automaton's output."""
    automaton = answers.automaton
    if answers.kind == "states":
        return state_target(automaton)
    letters, before = (np.asarray(i) for i in np.indices(automaton.transitions.shape))
    return Target(
        automaton,
        answers.right(letters, before, automaton.transitions),
        tuple(number_outputs(automaton)[1]),
    )


def answer_names(table: Indices, names: Sequence[str]) -> Any:
    """Numbers of answers as texts, an object array."""
    known = np.array([*names, "not asked"], dtype=object)  # the last one, -1
    return known[np.where((table >= 0) & (table < len(names)), table, -1)]
