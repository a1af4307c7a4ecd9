"""What follows for a stack of recurrences from the eigenvalues of their transitions, each statement with its claim and its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._recurrence import Recurrence


@dataclass(frozen=True)
class Conclusion:
    """A statement about the recurrent layers of a model, whatever their weights are.

    Attributes:
        claim: the ID of the claim that it follows from, as in `mirrormata claims ID`.
        arithmetic: the arithmetic in which it holds.
        limits: whether it says what cannot be done; otherwise what some weights do.
        text: the statement.
    """

    claim: str
    arithmetic: str
    limits: bool
    text: str


def conclude(recurrences: Sequence[Recurrence]) -> list[Conclusion]:
    """What theorems say of the recurrences of a model, one entry a layer.

    Args:
        recurrences: the recurrence of each recurrent layer, from below.

    Returns:
        The statements, limits first.
    """
    if not recurrences:
        return []
    non_negative = all(r.spectrum == "non-negative" for r in recurrences)
    real = all(r.spectrum != "any" for r in recurrences)
    diagonal = all(r.form == "diagonal" for r in recurrences)
    symmetric = all(r.form in ("diagonal", "symmetric") for r in recurrences)
    one = len(recurrences) == 1
    found = []
    if non_negative:
        found.append(
            Conclusion(
                "G.T1",
                "cast",
                True,
                "no parity: with eigenvalues that are real and not negative, no stack of such layers recognises (11)*, nor (1^m)* for any m ≥ 2",
            )
        )
        if diagonal:
            found.append(
                Conclusion(
                    "S.star-free",
                    "per_step",
                    True,
                    "non-negative diagonal layers follow aperiodic automata only",
                )
            )
        if symmetric:
            found.append(
                Conclusion(
                    "PT.R1",
                    "per_step, any non-decreasing rounding",
                    True,
                    "on a constant input every layer settles"
                    + (
                        ", if β‖k‖² ≤ 1 holds for the numbers as they are stored"
                        if _has_keys(recurrences)
                        else ""
                    ),
                )
            )
    elif real and diagonal:
        found.append(
            Conclusion(
                "G.T2",
                "cast",
                True,
                "no counting modulo m, unless m is a power of two: products of real diagonal matrices have real eigenvalues",
            )
        )
    elif real and one:
        found.append(
            Conclusion(
                "G.T2",
                "cast",
                True,
                "one layer whose transitions have real eigenvalues does not count modulo m > 2",
            )
        )
    if not non_negative and symmetric:
        found.append(
            Conclusion(
                "PT.R2",
                "per_step, any non-decreasing rounding",
                True,
                "on a constant input a layer settles or goes to and fro between two states",
            )
        )
    if _has_keys(recurrences) and non_negative:
        found.append(
            Conclusion(
                "own.R4",
                "per_op",
                False,
                "where every operation is rounded, rounding itself can count, so a kernel need not obey G.T1",
            )
        )
    reflecting = [r for r in recurrences if r.reflects]
    if reflecting:
        found += _reflections(reflecting, len(recurrences))
    return found


def _has_keys(recurrences: Sequence[Recurrence]) -> bool:
    return any(r.reads_keys for r in recurrences)


def _reflections(reflecting: Sequence[Recurrence], layers: int) -> list[Conclusion]:
    """What layers do whose factors come up to reflections."""
    most = max(r.factors for r in reflecting)
    words = "one reflection" if most == 1 else f"at most {most} reflections"
    found = [
        Conclusion(
            "H.open-beta", "exact", True,
            "while every β‖k‖² is below 2, no finite group is followed in finitely many states: what is kept shrinks. Sigmoids reach their ends by "
            "rounding alone",
        ),
        Conclusion(
            "G.T3", "exact", False,
            f"with β‖k‖² = 2 and gates of 1, some weights of one layer follow every group automaton whose letters are products of {words} in a "
            "representation that fits into a head",
        ),
    ]  # fmt: skip
    if layers > 1:
        found.append(
            Conclusion(
                "own.blocks", "exact", False,
                "with enough layers, heads and rows, reflections and projections follow every finite automaton with any number of factors a token; "
                "`plan` decides it for an architecture",
            )
        )  # fmt: skip
    return found
