"""G.T1: without an eigenvalue outside [0, ∞) a linear RNN in model cast does not do parity."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ...constructions._spec import automaton_from_spec
from .._check import check
from .._verdict import Verdict
from ..arithmetic._arithmetic import Cast, parse_arithmetic
from ..impossibility._cast_theorems import Tally, count_undecided, theorem
from ..impossibility._certificate import certify_cast_impossibility, positive_delta_layer
from ..impossibility._orbits import AffineHead
from ..verifying._claim import QUICK, Claim, Effort, Subject
from ..verifying._evidence import check_random_cases
from ._parts import further
from ._subject_letters import turning_needs
from .g_l1 import FORMATS

CLAIM = Claim(
    "G.T1",
    "Parity needs an eigenvalue that is not a real number ≥ 0",
    "supported",
    uses=("G.L1",),
    arithmetic="cast",
    seconds=16,
    formal=(
        "CastCounting.no_parity, for (1^m)*",
        "CastCounting.unary_settles, for what is shown of 1^k",
    ),
)


class Stack(NamedTuple):
    """Random layers, by their seed; `negative`: eigenvalues may be negative."""

    arithmetic: str
    layers: int
    seed: int
    negative: bool


def verify(effort: Effort = QUICK) -> Verdict:
    """A linear RNN whose transitions have eigenvalues in [0, ∞) only shows the same for 1^k and 1^(k+1), k large.

    Statement: In model cast a linear RNN of finitely many layers recognises (11)* only if in some layer some A(x) has an
        eigenvalue outside [0, ∞). Without one no (1^m)* with m ≥ 2 is recognised, nor any unary language that is not
        star-free.
    Direction: necessary
    Hypotheses: Finitely many values; products of transitions exact, states cast once; finitely many layers, each reading
        the layer before it.
    Arithmetic: cast
    Source: G, Theorem 1
    Method: Random stacks of one and two layers with rational eigenvalues ≥ 0 are decided for ever on 1^k: all end in a
        fixed point. With negative eigenvalues the same code finds stacks that do not. And of one DeltaNet layer with
        eigenvalues in [0, 1] two words of different parity with equal states are written into a certificate, which the
        stand-alone checker replays; with a full reflection there are none. Random stacks that settle
        beyond the limits of the computation are passed over; their share is reported.
    Example:
        >>> print(verify().line())
        supported by 40 instances: no violation, as claimed
    """
    some = {
        f"{name}, two layers": theorem(name, effort.pick(5, 100), 2, effort.seed, negative=False)
        for name in FORMATS
    }
    found = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(40, 600),
        draw=lambda generator: draw_stack(generator, False),
        broken=lambda generator: draw_stack(generator, True),
        check=_not_settling,
        tight=lambda case: tally_of(case).tight > 0,
        evidence={"arithmetics": list(FORMATS), "passed_over": count_undecided(some)},
    )
    confused, certificate = find_confused_words(0)
    return further(
        found,
        {
            "certificate of a positive DeltaNet layer": (certificate, "valid"),
            "1^i and 1^(i+1) of it reach one state": (confused is not None and confused[1] - confused[0], 1),
            "confused words of a full reflection": (find_confused_words(2)[0], None),
        },
    )


def applies(subject: Subject) -> Verdict | None:
    """Which letters of the model have an eigenvalue outside [0, ∞), and whether its automaton needs one."""
    return turning_needs(
        CLAIM,
        subject,
        lambda x: not (x.spectrum.is_real and x.spectrum.has_negative is False),
        lambda length: length > 1,
        eigenvalue="an eigenvalue outside [0, ∞)",
        turns="turns states",
        without="no (1^m)*, m ≥ 2, in model cast",
        key="letters_with_an_eigenvalue_outside_0_inf",
    )


def tally_of(case: Stack) -> Tally:
    """One stack of layers, decided for ever on 1^k."""
    return theorem(case.arithmetic, 1, case.layers, case.seed, negative=case.negative)


def draw_stack(generator: np.random.Generator, negative: bool) -> Stack:
    """One or two layers in one of the formats."""
    name, layers = FORMATS[generator.integers(3)], int(generator.integers(1, 3))
    return Stack(name, layers, int(generator.integers(2**31)), negative)


def _not_settling(case: Stack) -> Any:
    tally = tally_of(case)
    if tally.violations:
        return {**case._asdict(), **tally.violations[0]}
    return {**case._asdict(), "end": "no fixed point"} if tally.counting else None


def find_confused_words(size: int) -> tuple[tuple[int, int] | None, str]:
    """i and j with 1^i, 1^j of different parity and one state, and the checker's verdict; a DeltaNet layer in bf16.

    `size` 0: β‖k‖² < 1 as in the example of certificates; else β‖k‖² = size.
    """
    arithmetic = parse_arithmetic("cast:bf16")
    assert isinstance(arithmetic, Cast)
    document = certify_cast_impossibility(
        positive_delta_layer().heads if not size else [reflecting_head(Fraction(size))],
        arithmetic,
        automaton_from_spec("parity"),
    )
    if document is None:
        return None, "none"
    words: Mapping[str, Any] = document["words"]
    return (words["i"], words["j"]), check(document).verdict


def reflecting_head(size: Fraction) -> AffineHead:
    """h ← (1 - size) h on letter 1, from 1."""
    A = np.array([[[Fraction(1)]], [[1 - size]]], dtype=object)
    return AffineHead(A, None, np.ones((1, 1)))
