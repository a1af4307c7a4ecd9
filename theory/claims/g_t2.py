"""G.T2: counting modulo m, not a power of two, needs a non-real eigenvalue in model cast."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._verdict import Verdict
from ..impossibility._cast_theorems import ROTATIONS, Tally, count_undecided, rotations, theorem
from ..verifying._claim import QUICK, Claim, Effort, Subject
from ..verifying._evidence import check_random_cases
from ._counters import ripple_period
from ._parts import further
from ._subject_letters import turning_needs
from .g_l1 import FORMATS

CLAIM = Claim(
    "G.T2",
    "Counting modulo m, not a power of two, needs a non-real eigenvalue",
    "supported",
    uses=("G.L1", "own.T2tight"),
    arithmetic="cast",
    seconds=6,
    formal=("CastCounting.no_counting", "CastCounting.unary_repeats"),
)


class Stack(NamedTuple):
    """Random layers, by their seed; `order` 0: real eigenvalues, else the last layer turns by this finite order.

    With one layer its letter does, with two a product of two letters with real eigenvalues.
    """

    arithmetic: str
    layers: int
    seed: int
    order: int


def verify(effort: Effort = QUICK) -> Verdict:
    """With real eigenvalues L layers show on 1^k a period that divides 2^L.

    Statement: In model cast L layers recognise (1^m)*, m not a power of two, only if for some i a product of 2^(i-1)
        matrices of layer i has a non-real eigenvalue. Otherwise what is shown on 1^k has in the end a period that
        divides 2^L.
    Direction: necessary
    Hypotheses: Finitely many values; products of transitions exact, states cast once.
    Arithmetic: cast
    Source: G, Theorem 2, as the final version states it
    Method: Random stacks of one and two layers with triangular letters of rational eigenvalues, of either sign, are
        decided for ever on 1^k; how many attain 2^L is counted. The same check is given letters of order 3, 4 and 6,
        which have non-real eigenvalues, and second layers of two reflections each, real letters whose product is such a
        matrix; it must find other periods of both. That 2^L is attained at every L is own.T2tight.
        Stacks that settle beyond the limits of the computation are passed over; their share is reported.
    Example:
        >>> print(verify().line())
        supported by 40 instances: no violation, as claimed
    """
    some = {
        f"{name}, two layers": theorem(name, effort.pick(5, 100), 2, effort.seed, negative=True)
        for name in FORMATS
    }
    found = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(40, 600),
        draw=_real,
        broken=_turning,
        check=lambda case: next(iter(tally_of(case).violations), None),
        tight=lambda case: tally_of(case).tight > 0,
        evidence={"arithmetics": list(FORMATS), "passed_over": count_undecided(some)},
    )
    return further(
        found,
        {
            "periods of 1 to 6 sign layers": (
                [ripple_period(n) for n in range(1, 7)],
                [2**n for n in range(1, 7)],
            ),
            "orders of two reflections whose second layer is found to break the bound": (
                [m for m in ROTATIONS if tally_of(Stack(FORMATS[0], 2, 0, m)).violations],
                [3, 4, 6],
            ),
        },
    )


def applies(subject: Subject) -> Verdict | None:
    """Which letters of a one-layer model have non-real eigenvalues, and whether its automaton needs one."""
    if subject.lrnn is not None and subject.lrnn.is_layered:
        return None
    return turning_needs(
        CLAIM,
        subject,
        lambda x: not x.spectrum.is_real,
        lambda length: length > 2,
        eigenvalue="a non-real eigenvalue",
        turns="turns more than two states",
        without="no (1^m)*, m > 2, in model cast and one layer",
        key="letters_with_a_non-real_eigenvalue",
    )


def tally_of(case: Stack) -> Tally:
    """One stack of layers, decided for ever on 1^k."""
    if case.order:
        return rotations(case.arithmetic, case.order, 1, case.seed, case.layers)
    return theorem(case.arithmetic, 1, case.layers, case.seed, negative=True)


def _real(generator: np.random.Generator) -> Stack:
    layers = int(generator.integers(1, 3))
    return Stack(FORMATS[generator.integers(3)], layers, int(generator.integers(2**31)), 0)


def _turning(generator: np.random.Generator) -> Stack:
    order: Any = generator.choice(list(ROTATIONS))
    layers = int(generator.integers(1, 3))
    return Stack(FORMATS[generator.integers(3)], layers, int(generator.integers(2**31)), int(order))
