"""A `Stepper` of the caller's own code, held to what it promises.

An exception of its code, and an answer that can be none, become an `InputError` that names the method, the letter and what came
out: a malformed model is no counterexample.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...constructions.automata._automaton import Automaton, Indices
from ...foundation._arguments import read_attribute, show_error, show_typed, show_value
from ...foundation._errors import InputError, MirrormataError
from ._stepper import Stepper


class GuardedStepper:
    """The given stepper; its other attributes, such as `identity`, are to be had here too.

    Args:
        stepper: with `initial`, `step` and `decode`.
        automaton: the one whose letters it reads, for errors.
        answers: how many answers it may give, numbered from 0; by default the automaton's states.
    """

    def __init__(self, stepper: Stepper, automaton: Automaton, answers: int | None = None) -> None:
        self._stepper, self._automaton = stepper, automaton
        self._answers = len(automaton.states) if answers is None else answers

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # looked for by copies, before there is a stepper
            raise AttributeError(name)
        return getattr(self._stepper, name)

    def initial(self, sequences: int) -> Any:
        """States before the first token.

        Args:
            sequences: the number of words side by side, at least 1.
        """
        return self._call("initial", f"for {sequences} sequences", sequences)

    def step(self, states: Any, letters: Indices) -> Any:
        """States after one more token.

        Args:
            states: states of the stepper.
            letters: letter indices, int array `[sequences]`.
        """
        return self._call("step", self._on(letters), states, letters)

    def decode(self, states: Any, letters: Indices) -> Indices:
        """The stepper's answers `[sequences]`, one whole number in range for each sequence, or -1.

        Args:
            states: states of the stepper.
            letters: the letters just read.
        """
        given = self._call("decode", self._on(letters), states, letters)
        try:
            said = np.asarray(given)
        except Exception:
            raise InputError(
                f"the stepper's decode gives {show_value(given)}: an int array is needed"
            ) from None
        if said.dtype.kind not in "iub" or said.shape != letters.shape:
            raise InputError(
                f"the stepper's decode gives an array of type {said.dtype} and shape {said.shape} for {len(letters)} "
                "sequences: one whole number for each is needed"
            )
        wrong = (said.astype(np.int64) < -1) | (said.astype(np.int64) >= self._answers)
        if wrong.any():
            raise InputError(
                f"the stepper's decode gives {int(said[wrong][0])} {self._on(letters[wrong][:1])}: an answer is a number from "
                f"0 to {self._answers - 1}, or -1 for none"
            )
        return said.astype(np.int64)

    def _call(self, method: str, where: str, *arguments: Any) -> Any:
        try:
            return getattr(self._stepper, method)(*arguments)
        except MirrormataError:
            raise
        except Exception as error:
            raise InputError(f"the stepper's {method} raises {show_error(error)} {where}") from error

    def _on(self, letters: Indices) -> str:
        names = [show_value(self._automaton.letters[int(x)]) for x in np.unique(letters)[:3]]
        more = ", ..." if len(np.unique(letters)) > len(names) else ""
        return f"on the letter{'s' * (len(names) > 1)} {', '.join(names)}{more}"


def require_stepper(stepper: Any, argument: str = "stepper") -> Any:
    """The stepper; `InputError` where it is a class, or has not the three methods.

    Args:
        stepper: what was given.
        argument: the name of the caller's argument.
    """
    if isinstance(stepper, type):
        raise InputError(
            f"`{argument}` is the class {stepper.__name__}: give an object of it, such as {stepper.__name__}()"
        )
    missing = [name for name in ("initial", "step", "decode") if not callable(read_attribute(stepper, name))]
    if missing:
        raise InputError(
            f"`{argument}` {show_typed(stepper)} and no Stepper: it has no {' and no '.join(missing)}"
        )
    return stepper
