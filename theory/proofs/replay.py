"""A wrong word is replayed from the start, one step after another, on another way than the search."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...constructions.automaton import Automaton
from ...constructions.errors import DisagreementError
from ...constructions.formats.label_text import label_text, output_texts
from ..arithmetic.arithmetic import PerStep
from ..arithmetic.exact_sum import exact_dot
from ..arithmetic.rounding import FloatFormat, Floats
from .answers import Answers
from .linear import LinearMachine
from .second_derivation import word_text
from .stepper import StepperMachine


def replayed(machine: Any, automaton: Automaton, word: tuple[int, ...]) -> tuple[str | None, str]:
    """The model's answer after the word, as text (None: none of the automaton's), and the right one.

    `DisagreementError` if an answer before the last is wrong, or the last one right.
    """
    answers: Answers = machine.answers
    stepper = _LinearReplay(machine) if isinstance(machine, LinearMachine) else _StepperReplay(machine)
    state = automaton.start
    said = right = -1
    for t, x in enumerate(word):
        before, state = state, int(automaton.transitions[x, state])
        said = stepper.answer(x)
        right = int(answers.right(np.array([x]), np.array([before]), np.array([state]))[0])
        if (said == right) != (t < len(word) - 1):
            shown = word_text(automaton, word)
            raise DisagreementError(
                f"{automaton.name}: run alone from the start, letter {t + 1} of the word {shown} is answered "
                f"{'wrongly' if said != right else 'rightly'}, and the search says otherwise: a step must depend on the state's "
                "bits and the letter alone, and give the same bits in every batch"
            )
    texts = _texts(answers)
    return (texts[said] if said >= 0 else None), texts[right]


class _LinearReplay:
    """Dense matrices, entry sums by `exact_dot` or `affine`, the nearest code in rational numbers."""

    def __init__(self, machine: LinearMachine) -> None:
        self.machine = machine
        self.states = [head.initial for head in machine.heads]

    def answer(self, x: int) -> int:
        """The answer after one more letter."""
        machine = self.machine
        if machine.reader is None:
            raise DisagreementError("a layer without a read-out answers nothing")
        self.states = [self._stepped(h, x) for h in range(len(machine.heads))]
        joint = np.concatenate([H.ravel() for H in self.states])[None]
        return int(machine.reader.decode(joint, np.array([x]))[0])

    def _stepped(self, h: int, x: int) -> Floats:
        head, arithmetic = self.machine.heads[h], self.machine.arithmetic
        b = None if head.weights.additive is None else head.weights.additive[x]
        A = head.matrix(x)
        target = arithmetic.values
        if isinstance(arithmetic, PerStep) and isinstance(target, FloatFormat) and arithmetic.mode == "rne":
            return exact_dot(A, self.states[h], target, b)
        return arithmetic.affine(A, self.states[h], b)


class _StepperReplay:
    """The stepper itself, one sequence."""

    def __init__(self, machine: StepperMachine) -> None:
        self.machine, self.states = machine, machine.stepper.initial(1)

    def answer(self, x: int) -> int:
        """The answer after one more letter."""
        letters = np.array([x], dtype=np.int64)
        self.states = self.machine.stepper.step(self.states, letters)
        return int(self.machine.answers.of_states(self.machine.named(self.states, letters))[0])


def _texts(answers: Answers) -> list[str]:
    automaton = answers.automaton
    if answers.kind == "states":
        return [label_text(q) for q in automaton.states]
    return list(dict.fromkeys(output_texts(automaton, automaton.name)))
