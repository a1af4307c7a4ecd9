"""What the letters of a user's model and automaton have: eigenvalues of matrices, cycles of states."""

from __future__ import annotations

from collections.abc import Callable

from ...constructions.automata._automaton import Automaton
from .._verdict import Verdict
from ..planning._cycles import proper_cycles
from ..spectra._model import LetterSpectrum, model_spectrum
from ..verifying._claim import Claim, Subject
from ..verifying._evidence import decide_values


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


def turning_needs(
    claim: Claim,
    subject: Subject,
    has: Callable[[LetterSpectrum], bool],
    wanted: Callable[[int], bool],
    *,
    eigenvalue: str,
    turns: str,
    without: str,
    key: str,
) -> Verdict | None:
    """Holds where the model has a letter that `has` the eigenvalue, or no letter's cycle of states is `wanted`.

    Computed are the eigenvalues; that one is needed is the claim's own theorem, which is cited, so it is an assumption.

    `eigenvalue`, `turns`: in words what is had, and what a letter with such a cycle does. `without`: what letters of other
    eigenvalues do not do. `key`: of the letters in the evidence. None where there is no model of matrices.
    """
    beyond = letters_with(subject, has)
    if beyond is None:
        return None
    needed = turning_letter(subject.automaton, wanted)
    demand = f"{claim.id}, cited: an automaton of which a letter {turns} needs {eigenvalue} in model {claim.arithmetic}"
    need = (
        "nothing here needs one"
        if needed is None
        else f"letter {needed} {turns}, for which {claim.id} (cited) demands one in model {claim.arithmetic}"
    )
    return decide_values(
        claim,
        computed=len(beyond),
        claimed=int(needed is not None),
        relation=">=",
        evidence={
            "says": f"{count_letters(len(beyond), 'letter has', 'letters have')} {eigenvalue}; {need}",
            key: beyond,
            f"letter_that_{turns.replace(' ', '_')}": needed,
            "without_such_letters": without,
        },
        witness={"letter": needed, key: beyond},
        assumptions=() if needed is None else (demand,),
    )


def count_letters(number: int, one: str, many: str) -> str:
    """`1 letter has`, `2 letters have`."""
    return f"{number} {one if number == 1 else many}"
