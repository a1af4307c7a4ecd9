"""own.decay: one number that decays and is rounded at each token holds the last letters, in float formats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constructions.automata._automaton import Automaton
from ...constructions.automata._completing import object_array
from ...constructions.decays._decay import DecayRNN
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import defect

CLAIM = Claim(
    "own.decay",
    "The last 4, 6 and 12 of two letters in one decaying number, in bf16, fp16 and fp32",
    "exhaustive",
    seconds=9,
)

MOST = {
    2: {"fp8_e5m2": 2, "fp8_e4m3": 2, "bf16": 4, "fp16": 6, "fp32": 12},
    3: {"fp8_e5m2": 1, "fp8_e4m3": 1, "bf16": 3, "fp16": 4},
    4: {"fp8_e5m2": 1, "fp8_e4m3": 1, "bf16": 3, "fp16": 4},
}
"""The most letters that are held, by the number of letters of the alphabet and the format."""


@dataclass(frozen=True)
class Case:
    """The last `length` of `letters` letters in a format."""

    letters: int
    length: int
    dtype: str


def verify(effort: Effort = QUICK) -> Verdict:
    """h ← rnd(h/b + d), rounded to nearest even once a token, tells the last letters apart after every word.

    Statement: Let d be the odd digits of the letters, and b a power of 2 above their number: ±1 and 4 for two letters. In h ← rnd(h/b + d)
        from h = 0 the number h determines the last m letters, for m up to 4 in bf16, 6 in fp16 and 12 in fp32 for two letters, and no
        longer. It is one factor with β = 1 - 1/b in dimension 1. In exact arithmetic infinitely many numbers are reached; in a
        format they are few (69, 127 and 20,453).
    Direction: sufficient, and exact for these digits and bases
    Hypotheses: One rounding to nearest, ties to even, of the exact h/b + d.
    Arithmetic: per_step in each format
    Source: ours
    Method: For each length, alphabet and format the stand-alone checker lists all numbers that words lead to, in integers, and finds
        one state for each. For one letter more it must find a number with two states.
    Example:
        >>> print(verify().line())
        holds on 33 cases: no violation, as claimed
    """
    formats = [(k, most, dtype) for k, held in MOST.items() for dtype, most in held.items()]
    return check_all_cases(
        CLAIM,
        cases=[
            Case(k, m, dtype)
            for k, most, dtype in formats
            # fp32 has many numbers: a quick run takes its greatest length alone
            for m in range(effort.pick(most, 1) if dtype == "fp32" else 1, most + 1)
        ],
        check=find_defect,
        of="the last letters of alphabets of 2 to 4 letters, in formats of up to 24 bits",
        broken=[Case(k, most + 1, dtype) for k, most, dtype in formats],
    )


def find_defect(case: Case) -> str | None:
    """What is wrong with a decaying number in a format, by the checker."""
    found = DecayRNN(list_last_letters(case.letters, case.length))
    if case.dtype not in found.formats:
        return f"a number of {case.dtype} stands for two states"
    return defect(found)


def list_last_letters(letters: int, length: int) -> Automaton:
    """The automaton of the last letters; its states are numbers in base `letters`, the newest letter last."""
    size = letters**length
    states = np.arange(size)
    rows = (states * letters + np.arange(letters)[:, None]) % size
    names = tuple(range(size))
    return Automaton(
        names, tuple(range(letters)), rows, 0, object_array(names), f"the last {length} of {letters} letters"
    )
