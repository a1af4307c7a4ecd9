"""Why a model must fail: all eigenvalues in [0, 1], and two words that its layer provably confuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...constructions.errors import InputError, LimitError
from ...theory.arithmetic.arithmetic import PerOp, PerStep
from ...theory.arithmetic.names import parse_arithmetic
from ...theory.impossibility.certificate import impossibility
from ...theory.impossibility.orbits import AffineHead, AffineModel
from ..learned.learned import Learned
from .spectra import LetterFacts


@dataclass(frozen=True, eq=False)
class Failure:
    """`in_zero_one`: every eigenvalue of every letter is in [0, 1], decided on the float values; None where unknown.

    `certificate`: of kind impossible, None with the `reason`.
    """

    in_zero_one: bool | None
    certificate: dict[str, Any] | None
    reason: str

    @property
    def text(self) -> str:
        """One line."""
        if self.certificate is not None:
            words = self.certificate["words"]
            letters = self.certificate["labels"]["letters"]
            loop = " ".join(letters[x] for x in words["loop"])
            return (
                f"after ({loop})^{words['i']} and ({loop})^{words['j']} the layer's states are equal, bit for bit, in "
                f"{self.certificate['arithmetic']}; the automaton tells these words apart"
            )
        if self.in_zero_one:
            return f"all eigenvalues are in [0, 1] (G.T1); {self.reason}"
        return self.reason


def eigenvalues_in_zero_one(facts: Sequence[Sequence[LetterFacts]]) -> bool | None:
    """Of all letters of all heads."""
    values = [letter.in_zero_one for head in facts for letter in head]
    return False if False in values else None if None in values or not values else True


def why_it_fails(
    learned: Learned,
    in_zero_one: bool | None,
    arithmetic: str,
    *,
    max_steps: int = 20_000,
    loops: Sequence[Sequence[int]] | None = None,
) -> Failure:
    """Look for two words that the layer confuses on the powers of each letter (or of `loops`), in `arithmetic`.

    The heads' numbers are rounded once to its values. Only for a model whose transitions are functions of the letter.
    """
    if not learned.heads or learned.read is None or any(head.spread for head in learned.heads):
        return Failure(
            in_zero_one, None, "a certificate needs one layer whose transitions depend on the letter alone"
        )
    model = parse_arithmetic(arithmetic)
    if not isinstance(model, PerStep) or isinstance(model, PerOp):
        raise InputError(
            f"--arithmetic {arithmetic}: `compare -o` writes them for per_step only; for cast call `cast_impossibility` in Python"
        )
    heads = []
    for head in learned.heads:
        A, B, start = (np.asarray(model.round(x)) for x in (head.A, head.B, head.H0))
        heads.append(AffineHead(A, B if B.any() else None, start))
    affine = AffineModel(heads, arithmetic, learned.name)
    tried = []
    for loop in loops or [(x,) for x in range(len(learned.letters))]:
        try:
            found = impossibility(affine, learned.target.automaton, loop, max_steps=max_steps)
        except LimitError as error:
            tried.append(f"on {' '.join(learned.letters[x] for x in loop)}: {error}")
            continue
        if found is not None:
            return Failure(in_zero_one, found, "")
    more = f" ({'; '.join(tried[:3])})" if tried else ""
    return Failure(in_zero_one, None, f"no two powers of a letter are confused in {arithmetic}{more}")
