"""DP.L3: a ring buffer of the last d tokens, one projection a token."""

from __future__ import annotations

from typing import Any, TypeAlias

from ...constructions.algebra._cyclotomic import Number
from ...constructions.algebra._householder import gh_factor
from ...constructions.algebra._matrices import Matrix
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases

State: TypeAlias = tuple[int, Matrix, tuple[int, ...]]
"""The place that is written next, the buffer `[d, 1]`, the last d tokens."""

CLAIM = Claim(
    "DP.L3",
    "A ring buffer of the last d tokens with one factor a token",
    "exhaustive",
    uses=("DP.L2",),
    formal=("Delay.ring_buffer",),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """Over a counter modulo d one layer with one factor a token holds the last d tokens.

    Statement: Let a lower layer tell t mod d. The layer H ← (I - e eᵀ)H + e vᵀ with e = e_{t mod d}, a projection and not a
        reflection, holds the last d tokens v, one a row; with the counter they are the window of the last d tokens.
    Direction: sufficient
    Hypotheses: β = 1 for unit keys, so that the old row is erased.
    Arithmetic: exact, all numbers are integers
    Source: DP, Lemma 3
    Method: All reachable states of counter and buffer, letter by letter with the factor itself; each is compared with the
        last d letters. With β = 2, a reflection, in place of β = 1 the same must fail.
    Example:
        >>> print(verify().line())
        holds on 6 cases: no violation, as claimed
    """
    sizes = effort.pick(range(1, 7), range(1, 11))
    return check_all_cases(
        CLAIM,
        cases=((d, 1) for d in sizes),
        check=violation,
        of=f"windows of d = {sizes[0]}..{sizes[-1]} letters 0, 1",
        broken=((d, 2) for d in sizes),
    )


def violation(case: tuple[int, int]) -> dict[str, Any] | None:
    """A reachable state of counter and buffer, and a letter, after which the buffer does not hold the window.

    None proves it on all words: the states are closed under the letters.
    """
    d, beta = case
    start: State = (0, ((0,),) * d, (0,) * d)
    seen, waiting = {start}, [start]
    while waiting:
        place, buffer, window = waiting.pop()
        for x in (0, 1):
            found = (place + 1) % d, write_row(buffer, place, x, beta), (*window[1:], x)
            if read(found[1], found[0]) != found[2]:
                return {
                    "d": d,
                    "beta": beta,
                    "window": window,
                    "letter": x,
                    "buffer": read(found[1], found[0]),
                }
            if found not in seen:
                seen.add(found)
                waiting.append(found)
    return None


def write_row(buffer: Matrix, place: int, x: int, beta: int) -> Matrix:
    """(I - β e eᵀ)H + x e for the key e of a place."""
    kept = gh_factor(beta, {place: 1}).apply(buffer)
    return tuple((row[0] + x,) if i == place else row for i, row in enumerate(kept))


def read(buffer: Matrix, oldest: int) -> tuple[Number, ...]:
    """The tokens from the oldest to the last."""
    return tuple(row[0] for row in (*buffer[oldest:], *buffer[:oldest]))
