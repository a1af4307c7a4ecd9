"""What a function returned beside what it must return, or what it would return with a known error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ._calling import Contract, Floats, Function, Observation
from ._exact import FORMATS, in_float64, round_array
from ._frameworks import Framework
from ._recurrence import RIGHT, Rule, answer_of
from ._word import Word


@dataclass
class Asking:
    """A function with all that its test needs."""

    function: Function
    operator: str
    contract: Contract
    framework: Framework


@dataclass(frozen=True, eq=False)
class Asked:
    """A word that was run, with what was found and what is right.

    Attributes:
        word: the word.
        gate: the parameter in which gates were given, `a` or `g`.
        found: what the function returned.
        fails: whether that is wrong.
    """

    word: Word
    gate: str
    found: Observation
    fails: bool

    @property
    def name(self) -> str:
        """The name of the word, marked where gates were given as `a`."""
        return name_of(self.word, self.gate)


def name_of(word: Word, gate: str) -> str:
    """The name of a word in a verdict.

    Args:
        word: the word.
        gate: the parameter in which gates are given.
    """
    return f"{word.name}{' (gates)' if gate == 'a' and word.gate is not None else ''}"


@lru_cache(maxsize=20_000)
def expected(word: Word, outputs: str, state: str, rule: Rule) -> tuple[Floats, Floats]:
    """Outputs and final states, rounded to the stated formats."""
    answer = answer_of(word, rule)
    return (
        in_float64(round_array(answer.o, FORMATS[outputs])),
        in_float64(round_array(answer.finals, FORMATS[state])),
    )


def agrees(contract: Contract, asked: Asked, rule: Rule) -> bool:
    """Whether a function gave what a rule gives, to the last bit or within the bound of the word or the rule."""
    return not any(
        wrong.any() for wrong in wrong_entries(contract, asked.word, asked.gate, asked.found, rule)
    )


def fits(contract: Contract, asked: Asked, rule: Rule) -> bool | None:
    """Whether a known error gives what was found; None where it gives the right answer too, within its tolerance."""
    if not agrees(contract, asked, rule):
        return False
    if rule.tolerance and asked.fails:
        right = expected(asked.word, contract.outputs, contract.state, RIGHT)
        if not any(
            x.any() for x in wrong_entries(contract, asked.word, asked.gate, Observation(*right), rule)
        ):
            return None
    return True


def wrong_entries(
    contract: Contract, word: Word, gate: str, found: Observation, rule: Rule
) -> tuple[Any, Any]:
    """Which outputs and which entries of final states differ from those of a rule."""
    bound = max(float(word.bound if gate == "g" else word.bound_linear), rule.tolerance)
    given = expected(word, contract.outputs, contract.state, rule.with_gates(gate))
    right = expected(word, contract.outputs, contract.state, RIGHT)
    largest = max(float(np.max(np.abs(x[np.isfinite(x)]), initial=0)) for x in (*right, *given))
    differ = []
    for x, y, stated in zip((found.o, found.finals), given, (contract.outputs, contract.state), strict=True):
        finite = np.isfinite(x) & np.isfinite(y)
        allowed = np.zeros_like(y)
        if bound:  # and once more the rounding of the format that is stated
            allowed = bound * largest + np.where(finite, np.abs(y), 0) * 2.0 ** -FORMATS[stated].precision
        with np.errstate(invalid="ignore"):
            near = np.abs(x - y) <= allowed
        differ.append(~np.where(finite, near, np.isfinite(x) == np.isfinite(y)))
    return differ[0], differ[1]


def first_wrong(contract: Contract, asked: Asked) -> str:
    """The first wrong entry of a word, with what is right."""
    if asked.found.error:
        return f"{asked.name}: {asked.found.error}"
    word, found = asked.word, asked.found
    wrong = wrong_entries(contract, word, asked.gate, found, RIGHT)
    right = expected(word, contract.outputs, contract.state, RIGHT)
    for name, differs, x, y in zip(("o", "final state"), wrong, (found.o, found.finals), right, strict=True):
        if differs.any():
            place = tuple(int(i[0]) for i in np.nonzero(differs))
            shown = place if name == "o" else place[1:] if len(word.calls) == 1 else place
            return f"{asked.name}: {name}{list(shown)} is {float(x[place])!r}, not {float(y[place])!r}"
    raise AssertionError(f"{asked.name}: nothing is wrong")
