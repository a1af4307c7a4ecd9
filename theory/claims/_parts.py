"""What the checks of several claims share: proofs in named parts, random factors, constructions held to their automaton.

A construction is held to its automaton by the stand-alone checker. `further` adds to a verdict, number by number,
what a check also establishes beside its cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions._construct import construct
from ...constructions._conversions import AutomatonLike
from ...constructions._lrnn import LRNN, table_of
from ...constructions._realisation import Realisation
from ...constructions.algebra._householder import GHFactor, gh_factor
from ...foundation._errors import NotRealisableError
from .._check import check
from .._verdict import Verdict
from ..spectra._matrix import ExactMatrix
from ..spectra._model import check_letters, lrnn_heads
from ..verifying._claim import Claim, Subject
from ..verifying._evidence import decide_values
from ._symbolic import Identity, find_unproved


def decide_parts(
    claim: Claim,
    parts: Mapping[str, Any],
    *,
    values: Mapping[str, tuple[Any, Any]] | None = None,
    evidence: Mapping[str, Any] | None = None,
    assumptions: tuple[str, ...] = (),
) -> Verdict:
    """It holds where every part does; `parts`: for each what is wrong with it, None where nothing is.

    `values`: numbers by their names, `(computed, claimed)`, which must be equal too.
    """
    numbers = [(name, str(made), str(said)) for name, (made, said) in (values or {}).items()]
    wrong = {name: defect for name, defect in parts.items() if defect is not None}
    return decide_values(
        claim,
        computed="; ".join(
            [
                *(f"{name} {made}" for name, made, _ in numbers),
                f"{len(parts) - len(wrong)} of {len(parts)} parts",
            ]
        ),
        claimed="; ".join(
            [*(f"{name} {said}" for name, _, said in numbers), f"{len(parts)} of {len(parts)} parts"]
        ),
        evidence={"parts": list(parts), **(evidence or {})},
        witness=wrong or {name: made for name, made, said in numbers if made != said},
        assumptions=assumptions,
    )


def symbolic(identities: Sequence[Identity]) -> list[str] | None:
    """As a part: the identities that sympy does not reduce to 0; None where it does so with all."""
    return find_unproved(identities) or None


def summarise_cases(verdict: Verdict) -> Any:
    """As a part: a verdict about instances or cases; None where it found no violation."""
    return None if verdict.confirmed else {"status": verdict.status, **verdict.evidence}


def figures(verdict: Verdict) -> dict[str, Any]:
    """Of a verdict about instances or cases: how many, and the rate with the hypothesis broken."""
    names = ("instances", "seed", "tight", "cases", "set")
    return {name: verdict.evidence[name] for name in names if name in verdict.evidence} | {
        "broken": {k: v for k, v in verdict.evidence.get("broken", {}).items() if k != "first"}
    }


def draw_factors(generator: np.random.Generator, n: int, sizes: Sequence[Fraction]) -> list[GHFactor]:
    """Factors on Rⁿ with random integer keys, entries to ±3, and β‖v‖² = `sizes`, none of which is 0."""
    found = []
    for size in sizes:
        key = [0] * n
        while not any(key):
            key = generator.integers(-3, 4, size=n).tolist()
        found.append(gh_factor(size / sum(x * x for x in key), dict(enumerate(key))))
    return found


def eighths(generator: np.random.Generator, low: int, high: int, count: int) -> list[Fraction]:
    """Numbers from low/8 to high/8, both included, except 0."""
    found: list[Fraction] = []
    while len(found) < count:
        size = Fraction(int(generator.integers(low, high + 1)), 8)
        if size:
            found.append(size)
    return found


def letter_matrices(subject: Subject) -> list[tuple[str, ExactMatrix]] | None:
    """The matrix of each letter of each head of a user's model, with its name; None where there is no model."""
    if subject.lrnn is not None:
        return [
            (f"{head}, letter {name}", A)
            for head, matrices, names in lrnn_heads(subject.lrnn)
            for name, A in zip(names, matrices, strict=True)
        ]
    if subject.npz is not None:
        matrices, names = check_letters(subject.npz, None, subject.name)
        return [(f"letter {name}", A) for name, A in zip(names, matrices, strict=True)]
    return None


def defect(found: Realisation) -> str | None:
    """Why a construction's certificate is invalid; None where the stand-alone checker proves it on all words."""
    result = check(found.certificate())
    return None if result.verdict == "valid" else result.reason


def construct_table(automaton: AutomatonLike, theorem: str) -> LRNN:
    """The construction of a theorem whose kind is a table: a claim is of the numbers in it."""
    return table_of(construct(automaton, theorem=theorem), "the claim is of its numbers")


def exchange_letters(found: LRNN) -> LRNN:
    """The same weights held against another automaton: its first and last letter have changed places.

    What no longer fits must be found by every check that is worth its name. `NotRealisableError` for one letter.
    """
    automaton = found.automaton
    if len(automaton.letters) < 2:
        raise NotRealisableError(f"{automaton.name}: one letter has none to change places with")
    order = np.arange(len(automaton.letters))
    order[[0, -1]] = order[[-1, 0]]
    return replace(found, automaton=replace(automaton, transitions=automaton.transitions[order]))


def further(verdict: Verdict, values: Mapping[str, tuple[Any, Any]]) -> Verdict:
    """The verdict with `(computed, claimed)` pairs in its evidence; refuted by those that are not equal, if any."""
    shown = {name: {"computed": computed, "claimed": claimed} for name, (computed, claimed) in values.items()}
    wrong = {name: shown[name] for name, (computed, claimed) in values.items() if computed != claimed}
    evidence = {**verdict.evidence, "further": shown}
    if wrong and verdict.status != "refuted":
        return replace(verdict, status="refuted", evidence={**evidence, "witness": wrong})
    return replace(verdict, evidence=evidence)
