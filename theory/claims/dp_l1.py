"""DP.L1: RMSNorm in front of the read-out keeps finitely many states apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import decide_parts, figures, summarise_cases, symbolic
from ._symbolic import Identity

CLAIM = Claim("DP.L1", "RMSNorm in front of the read-out keeps states apart", "proved")


class Outputs(NamedTuple):
    """States `[states][rows][columns]` that a head is in, and the ε of its norm."""

    states: tuple[tuple[tuple[int, ...], ...], ...]
    epsilon: Fraction


def verify(effort: Effort = QUICK) -> Verdict:
    """A single query tells finitely many states apart, and RMSNorm with ε > 0 keeps what it reads apart.

    Statement: Let H_1, …, H_m be different n × d matrices. Some query q = (1, t, t², …, t^{n-1}) with t in {0, 1, …, (n-1) m(m-1)/2} makes the
        vectors qᵀH_i different. RMSNorm, x ↦ w ⊙ x / √(‖x‖²/d + ε), with ε > 0 and no w_j = 0, is injective. So it keeps them apart, and every function of the states is
        a function of the normed outputs. With ε = 0 vectors other than 0 stay apart exactly if none is a positive multiple of another: such as
        vectors of one length, which orthogonal transitions keep, or vectors with an entry in common that is not 0.
    Direction: sufficient; for ε = 0 also necessary
    Hypotheses: Finitely many states; the output norm of one head; w has no entry 0.
    Arithmetic: exact
    Source: DP, Lemma 1, stated and proved here in a form of ours, with the query and with what holds for ε = 0
    Method: Symbolic: RMSNorm keeps the direction, and the length r becomes g(r) = r/√(r²/d + ε) with g(r)² = dr²/(r² + dε), whose derivative by
        r² is d²ε/(r² + dε)² > 0; with ε = 0 it is constant. A difference H_i - H_j has a row polynomial of degree at most n - 1 in t that is not 0, so at most n - 1
        numbers t are bad for a pair. Random sets of small integer matrices, with multiples of one another among them, are read with the least good t, and the normed outputs
        compared in exact numbers: signs, and squares x_i² (‖y‖²/d + ε) with y_i² (‖x‖²/d + ε). With ε = 0 the same check must find states that are not told apart, and
        with a column of ones none.
    Example:
        >>> print(verify().line())
        proved: 3 of 3 parts, as claimed
    """
    found = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(60, 1000),
        draw=lambda g: draw_outputs(g, Fraction(1, int(g.integers(1, 10**6)))),
        broken=lambda g: draw_outputs(g, Fraction(0)),
        check=confused_states,
        tight=lambda outputs: len(outputs.states) > 6,
    )
    common = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(60, 1000),
        draw=lambda g: with_ones(draw_outputs(g, Fraction(0))),
        broken=lambda g: draw_outputs(g, Fraction(0)),
        check=confused_states,
    )
    parts = {
        "the length of a normed vector": symbolic(length_identities()),
        "random states, ε > 0": summarise_cases(found),
        "random states with a common entry, ε = 0": summarise_cases(common),
    }
    return decide_parts(CLAIM, parts, evidence={"states": figures(found), "common": figures(common)})


def draw_outputs(generator: np.random.Generator, epsilon: Fraction) -> Outputs:
    """Up to eight states of two rows and three columns, the first one several times as large too."""
    drawn = generator.integers(-2, 3, size=(int(generator.integers(2, 6)), 2, 3))
    drawn[0, 0, 0] = 1  # so that its multiples differ
    every = [*drawn, *(factor * drawn[0] for factor in (2, 3, -1))]
    states = dict.fromkeys(tuple(tuple(int(x) for x in row) for row in state) for state in every)
    return Outputs(tuple(states), epsilon)


def with_ones(outputs: Outputs) -> Outputs:
    """The same with a further column, which the query reads as its first entry, 1."""
    states = tuple(tuple((*row, int(i == 0)) for i, row in enumerate(state)) for state in outputs.states)
    return Outputs(states, outputs.epsilon)


def queries(rows: int, states: int) -> Iterator[tuple[int, ...]]:
    """The queries of which one is good, by their t."""
    for t in range((rows - 1) * states * (states - 1) // 2 + 1):
        yield tuple(t**i for i in range(rows))


def read(query: Sequence[int], state: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """qᵀH."""
    return tuple(sum(q * row[j] for q, row in zip(query, state, strict=True)) for j in range(len(state[0])))


def normed_equal(x: Sequence[int], y: Sequence[int], epsilon: Fraction) -> bool:
    """Whether x/√(‖x‖²/d + ε) = y/√(‖y‖²/d + ε), by signs and squares; with ε = 0 the norm of 0 is 0."""
    sizes = [Fraction(sum(a * a for a in v), len(v)) + epsilon for v in (x, y)]
    return all((a > 0) == (b > 0) and (a < 0) == (b < 0) for a, b in zip(x, y, strict=True)) and all(
        a * a * sizes[1] == b * b * sizes[0] for a, b in zip(x, y, strict=True)
    )


def confused_states(outputs: Outputs) -> Any:
    """Two states whose normed outputs are equal, or that no query of the statement tells apart; None where there are none."""
    states = outputs.states
    for query in queries(len(states[0]), len(states)):
        seen = [read(query, state) for state in states]
        if len(set(seen)) == len(states):
            break
    else:
        return {"states": str(states), "queries": "none is good"}
    for i, x in enumerate(seen):
        for j, y in enumerate(seen[:i]):
            if normed_equal(x, y, outputs.epsilon):
                return {"states": str((states[j], states[i])), "query": query, "outputs": (y, x)}
    return None


def length_identities() -> tuple[Identity, ...]:
    """g² as a function of s = r²: its derivative, and where ε = 0."""
    import sympy as sp

    s, d, epsilon = sp.symbols("s d epsilon", positive=True)
    square = s / (s / d + epsilon)
    return (
        Identity("g² = ds/(s + dε)", square - d * s / (s + d * epsilon)),
        Identity("dg²/ds = d²ε/(s + dε)²", sp.diff(square, s) - d**2 * epsilon / (s + d * epsilon) ** 2),
        Identity("g² = d where ε = 0", square.subs(epsilon, 0) - d),
    )
