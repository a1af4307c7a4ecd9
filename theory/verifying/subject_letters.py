"""What the letters of a user's model and automaton have: eigenvalues of matrices, cycles of states."""

from __future__ import annotations

from collections.abc import Callable

from ...constructions.automaton import Automaton
from ..planning.bounds import proper_cycles
from ..spectra.model import LetterSpectrum, model_spectrum
from .subject import Subject


def letters_with(subject: Subject, has: Callable[[LetterSpectrum], bool]) -> list[str] | None:
    """The letters of a model, by head, whose matrix `has` something; None where there is no model of matrices."""
    model = subject.lrnn or subject.npz
    if model is None:
        return None
    heads = model_spectrum(model, name=subject.name).heads
    return [f"{head.name}: {letter.label}" for head in heads for letter in head.letters if has(letter)]


def turning_letter(automaton: Automaton | None, wanted: Callable[[int], bool]) -> str | None:
    """A letter that moves states in a cycle whose length is `wanted`; None where none does."""
    if automaton is not None:
        for x, row in zip(automaton.letters, automaton.transitions, strict=True):
            if any(wanted(len(cycle)) for cycle in proper_cycles(row)):
                return str(x)
    return None
