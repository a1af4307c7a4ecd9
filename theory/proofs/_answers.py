"""What a model is held to: the automaton's states where it names these, else the outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.automata._labels import label_text, output_texts
from ...constructions.certificates._parts import number_outputs
from ...foundation._errors import InputError


@dataclass(frozen=True, eq=False)
class Answers:
    """The meaning of the numbers to which a model decodes.

    Answers are compared as numbers: indices of the automaton's states or of its outputs (`number_outputs`).

    Attributes:
        kind: `states` or `outputs`.
        automaton: the automaton.
        meaning: int array, the state or output that each answer of the model stands for.
    """

    kind: Literal["states", "outputs"]
    automaton: Automaton
    meaning: Indices

    @cached_property
    def outputs(self) -> Indices:
        """Indices of the automaton's outputs, in their shape."""
        return number_outputs(self.automaton)[0]

    @property
    def by_letter(self) -> bool:
        """Whether the right answer depends on more than the automaton's state after the letter."""
        return self.kind == "outputs" and self.automaton.is_mealy

    def right(self, letters: Indices, before: Indices, after: Indices) -> Indices:
        """Return the right answers after letters, from the automaton's states before and after.

        Args:
            letters: indices of letters, int array.
            before: the automaton's states before them.
            after: the automaton's states after them.
        """
        if self.kind == "states":
            return after
        return self.outputs[letters, before] if self.automaton.is_mealy else self.outputs[after]

    def of_states(self, states: Indices) -> Indices:
        """The answers that a model's states stand for; -1 for none, and for numbers that stand for nothing.

        Args:
            states: numbers that the model decodes to, int array.
        """
        # numbers that stand for nothing are answers too, wrong ones
        known = (states >= 0) & (states < len(self.meaning))
        return np.where(known, self.meaning[np.where(known, states, 0)], -1)


def answers_of(automaton: Automaton, model: Automaton | None, name: str = "model") -> Answers:
    """How a model that names the states of `model` is compared with the automaton.

    By states where both have the same labels (as texts, like in certificates; states that the automaton does not reach may
    be missing), in any order, and equal states have equal outputs; or where `model` is None: then the model names the automaton's own states by their indices. Else by
    outputs, as texts.
    Raises `InputError` for other letters, and for Mealy machines with other states.
    """
    if model is None or model is automaton:
        return Answers("states", automaton, np.arange(len(automaton.states)))
    same_letters(automaton, [label_text(x) for x in model.letters], name)
    mine = [label_text(q) for q in automaton.states]
    theirs = [label_text(q) for q in model.states]
    place = {text: i for i, text in enumerate(mine)}
    # all states, or those that the automaton reaches
    same = set(theirs) in (set(mine), {label_text(q) for q in automaton.trim().states})
    if same:
        meaning = np.array([place[text] for text in theirs])
        if _same_outputs(automaton, model, meaning):
            return Answers("states", automaton, meaning)
    # outputs on letters do not follow from a state, so only equal states could be compared
    if model.is_mealy or automaton.is_mealy:
        why = f"but other outputs than {automaton.name}" if same else f"which {automaton.name} does not have"
        raise InputError(
            f"{name}: it names the states of {model.name}, {why}, and a Mealy machine's outputs do not follow from states: "
            "make both Moore machines"
        )
    number = {text: i for i, text in enumerate(number_outputs(automaton)[1])}
    meaning = np.array([number.get(text, -1) for text in output_texts(model, name)], dtype=np.int64)
    return Answers("outputs", automaton, meaning)


def _same_outputs(automaton: Automaton, model: Automaton, meaning: Indices) -> bool:
    """True where the model's automaton gives each state, and each letter of a Mealy machine, the output that it has here."""
    if automaton.is_mealy != model.is_mealy:
        return False
    mine = np.array(output_texts(automaton, automaton.name), dtype=object).reshape(automaton.outputs.shape)
    theirs = np.array(output_texts(model, model.name), dtype=object).reshape(model.outputs.shape)
    return bool((mine[..., meaning] == theirs).all())


def output_answers(automaton: Automaton, texts: Sequence[str] | None) -> Answers:
    """How a model that names outputs is compared: by the texts of its outputs, else by `number_outputs`."""
    known = number_outputs(automaton)[1]
    number = {text: i for i, text in enumerate(known)}
    own = known if texts is None else texts
    return Answers("outputs", automaton, np.array([number.get(text, -1) for text in own], dtype=np.int64))


def same_letters(automaton: Automaton, letters: Sequence[str], name: str) -> None:
    """`InputError` unless the model's letters are the automaton's, in this order."""
    mine = [label_text(x) for x in automaton.letters]
    if list(letters) != mine:
        raise InputError(
            f"{name}: its letters are {', '.join(letters)}, those of {automaton.name} are {', '.join(mine)}: "
            "the same letters in the same order are needed"
        )
