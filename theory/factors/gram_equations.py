"""own.LMI: one vector a state in one layer with ‖A‖ ≤ 1; exact Gram matrices, and equations that exclude every one.

State q stands at the vector p_q, a letter acts as p ↦ A_a p + b_a with ‖A_a‖ ≤ 1, so that A_a P x = P T_a x for
each x of sum zero: T_a is the 0/1 matrix of the letter, column q of P is p_q, and G = PᵀP. Such vectors exist exactly
if some positive semidefinite G has, on vectors of sum zero, T_aᵀ G T_a ⪯ G for all letters, and
N(e_q - e_r) > 0 for q ≠ r, with N(x) = xᵀGx.

(From G = PᵀP, P x ↦ P T_a x on x of sum zero is well defined and does not lengthen; A_a is that, and the identity on
the complement; b_a = p_δ(q,a) - A_a p_q is the same for all q.)

Where none exists, equations say so. Let x of sum zero satisfy T_u T_a x = x for a word u. Then ‖Px‖ = ‖A_u A_a Px‖
≤ ‖A_a Px‖ ≤ ‖Px‖; so zᵀ(I - A_aᵀA_a)z = 0 at z = Px, and as I - A_aᵀA_a is semidefinite it sends z to 0:
    yᵀ G x = (T_a y)ᵀ G (T_a x)   for every y of sum zero.
A combination of these that reads N(e_q - e_r) = 0 for two states is a proof, checked in integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import gcd, lcm
from typing import Any

import numpy as np

from ...constructions.automaton import Automaton, Indices
from ...constructions.errors import LimitError
from ...constructions.lrnn import LRNN
from ...constructions.matrices import Matrix, dot, is_positive_semidefinite, matrix, reduced_rows
from ...constructions.real_cyclotomic import Number, sign
from ..planning.bounds import proper_cycles

MAX_WORDS = 20_000
Vector = tuple[int, ...]


@dataclass(frozen=True)
class Equation:
    """`yᵀGx = (T_a y)ᵀG(T_a x)`, taken `times`; `letter` is a, and the word `after` is a u with T_u T_a x = x."""

    times: int
    letter: int
    after: tuple[int, ...]
    x: Vector
    y: Vector


@dataclass(frozen=True)
class NoGram:
    """The sum of the `equations` is `scale`·N(e_q - e_r) = 0 for the two states of `pair`, q ≠ r, `scale` > 0."""

    pair: tuple[int, int]
    scale: int
    equations: tuple[Equation, ...]

    def replay(self, transitions: Sequence[Sequence[int]]) -> bool:
        """Does it prove that there is no Gram matrix? `transitions[a][q]`; integer additions and products alone."""
        n = len(transitions[0])
        total = [[0] * n for _ in range(n)]
        for equation in self.equations:
            x, y = list(equation.x), list(equation.y)
            if len(x) != n or len(y) != n or sum(x) != 0 or sum(y) != 0:
                return False
            moved_x, moved_y = (_moved(transitions[equation.letter], v) for v in (x, y))
            back = moved_x
            for letter in equation.after:
                back = _moved(transitions[letter], back)
            if back != x:
                return False
            for i in range(n):
                for j in range(n):
                    # twice the symmetric matrix of the equation's left side less its right side
                    total[i][j] += equation.times * (x[i] * y[j] + x[j] * y[i])
                    total[i][j] -= equation.times * (moved_x[i] * moved_y[j] + moved_x[j] * moved_y[i])
        q, r = self.pair
        wanted = [[0] * n for _ in range(n)]
        wanted[q][q] = wanted[r][r] = 2 * self.scale
        wanted[q][r] = wanted[r][q] = -2 * self.scale
        return self.scale > 0 and q != r and total == wanted

    def to_json(self) -> dict[str, Any]:
        """Plain values; states and letters as indices."""
        return {
            "pair": list(self.pair),
            "scale": self.scale,
            "equations": [
                {"times": e.times, "letter": e.letter, "after": list(e.after), "x": list(e.x), "y": list(e.y)}
                for e in self.equations
            ],
        }


def gram_violation(G: Matrix, transitions: Indices) -> str | None:
    """Why an exact symmetric G `[states, states]` is no Gram matrix for letters `[letters, states]`; None if it is.

    >>> gram_violation(((1, 0), (0, 1)), np.array([[1, 0]]))
    >>> gram_violation(((1, 1), (1, 1)), np.array([[1, 0]]))
    'states 0 and 1 are at one point'
    """
    n = transitions.shape[1]
    if len(G) != n or any(len(row) != n for row in G) or tuple(zip(*G, strict=True)) != tuple(G):
        return f"not a symmetric {n} × {n} matrix"
    if not is_positive_semidefinite(_on_differences(G, range(n))):
        return "not positive semidefinite on vectors of sum zero"
    for q, r in combinations(range(n), 2):
        if sign(G[q][q] + G[r][r] - G[q][r] - G[r][q]) <= 0:
            return f"states {q} and {r} are at one point"
    for letter, image in enumerate(transitions.tolist()):
        before, after = _on_differences(G, range(n)), _on_differences(G, image)
        drop = matrix(
            [
                [a - b for a, b in zip(rows[0], rows[1], strict=True)]
                for rows in zip(before, after, strict=True)
            ]
        )
        if not is_positive_semidefinite(drop):
            return f"letter {letter} lengthens a difference"
    return None


def gram_of(lrnn: LRNN) -> Matrix:
    """G = PᵀP of a one-layer LRNN of one head that has one code a state, in the order of the automaton's states."""
    head = lrnn.layers[0].heads[0]
    codes: dict[int, dict[tuple[int, int], Number]] = {}
    for row in lrnn.decode.tolist():
        codes[row[0]] = {(i, j): x for i, j, x in head.codes[row[1]]}
    n = len(lrnn.automaton.states)
    if len(lrnn.layers) != 1 or len(lrnn.layers[0].heads) != 1 or len(lrnn.decode) != n:
        raise ValueError("a Gram matrix needs one layer, one head and one code a state")
    places = sorted({place for code in codes.values() for place in code})
    vectors = [[codes[q].get(place, 0) for place in places] for q in range(n)]
    return matrix([[dot(p, r) for r in vectors] for p in vectors])


def no_gram(automaton: Automaton, *, max_words: int = MAX_WORDS) -> NoGram | None:
    """A proof that the automaton has no layer with one vector a state and norm ≤ 1; None where the equations find none.

    Words are tried shortest first until their maps, the whole transition monoid, are exhausted. Raises `LimitError`
    beyond `max_words` maps.
    """
    maps = automaton.transitions
    found: list[Equation] = []
    for letter in range(len(maps)):
        found += _equations(maps, letter, max_words, automaton.name)
    return _combined(maps, found)


def small_gram(transitions: Indices, largest: int) -> Matrix | None:
    """The first G whose squared distances between states are integers from 1 to `largest`; None where none is one.

    Exhaustive: `largest` to the power n(n-1)/2 candidates, so for a few states only. State 0 stands at 0.
    """
    n = transitions.shape[1]
    pairs = list(combinations(range(n), 2))
    for values in sorted(product(range(1, largest + 1), repeat=len(pairs)), key=lambda v: (max(v), v)):
        distance = dict(zip(pairs, values, strict=True)) | {(q, q): 0 for q in range(n)}
        G = matrix(
            [
                [
                    Fraction(distance[0, q] + distance[0, r] - distance[min(q, r), max(q, r)], 2)
                    for r in range(n)
                ]
                for q in range(n)
            ]
        )
        if gram_violation(G, transitions) is None:
            return G
    return None


def _on_differences(G: Matrix, image: Sequence[int]) -> Matrix:
    """The form x ↦ N(T x), T e_q = e_{image[q]}, in the basis e_q - e_0, q ≥ 1, of the vectors of sum zero."""
    o = image[0]
    return matrix([[G[q][r] - G[q][o] - G[o][r] + G[o][o] for r in image[1:]] for q in image[1:]])


def _moved(image: Sequence[int], x: Sequence[int]) -> list[int]:
    """T x."""
    result = [0] * len(x)
    for q, target in enumerate(image):
        result[target] += x[q]
    return result


def _equations(maps: Indices, letter: int, max_words: int, name: str) -> Iterator[Equation]:
    """All equations of a letter: for independent x, each with the n - 1 vectors y = e_q - e_0."""
    n = maps.shape[1]
    independent: list[list[Number]] = []
    listed: list[tuple[tuple[int, ...], Indices]] = [((), maps[letter])]
    seen = {maps[letter].tobytes()}
    for word, image in listed:  # grows while it is read
        for x in _fixed(image):
            rows, _ = reduced_rows([*independent, x])
            if len(rows) > len(independent):
                independent = rows
                for q in range(1, n):
                    y = tuple(int(p == q) - int(p == 0) for p in range(n))
                    yield Equation(1, letter, word, x, y)
        if len(independent) == n - 1:
            return
        for a, row in enumerate(maps):
            after = row[image]
            if (key := after.tobytes()) not in seen:
                if len(listed) >= max_words:
                    raise LimitError(f"{name}: more than {max_words:,} maps of words: raise max_words")
                seen.add(key)
                listed.append(((*word, a), after))


def _fixed(image: Indices) -> list[Vector]:
    """A basis of the x of sum zero with T x = x: constant on each cycle of the map and 0 elsewhere."""
    moving = proper_cycles(image)
    fixed = [(q,) for q in np.flatnonzero(image == np.arange(len(image))).tolist()]
    cycles = sorted([*moving, *fixed])
    basis = []
    for cycle in cycles[1:]:
        common = gcd(len(cycle), len(cycles[0]))
        x = [0] * len(image)
        for q in cycle:
            x[q] = len(cycles[0]) // common
        for q in cycles[0]:
            x[q] = -len(cycle) // common
        basis.append(tuple(x))
    return basis


def _combined(maps: Indices, equations: Sequence[Equation]) -> NoGram | None:
    """Integers with which the equations add up to N(e_q - e_r) = 0 for the first pair for which there are any."""
    from flint import fmpz_mat

    n = maps.shape[1]
    places = [(i, j) for i in range(1, n) for j in range(i, n)]  # what is left follows from row sums of zero
    columns = []
    for e in equations:
        x, y = np.array(e.x), np.array(e.y)
        moved_x, moved_y = (
            np.bincount(maps[e.letter], weights=v, minlength=n).astype(np.int64) for v in (x, y)
        )
        form = np.outer(x, y) - np.outer(moved_x, moved_y)
        columns.append([int(form[i, j] + form[j, i]) for i, j in places])
    pairs = list(combinations(range(n), 2))
    for pair in pairs:
        d = [int(q == pair[1]) - int(q == pair[0]) for q in range(n)]
        columns.append([2 * d[i] * d[j] for i, j in places])
    if not equations or not places:
        return None
    reduced, denominator, rank = fmpz_mat([list(row) for row in zip(*columns, strict=True)]).rref()
    rows = [[int(x) for x in row] for row in reduced.tolist()[:rank]]
    pivots = [next(j for j, x in enumerate(row) if x) for row in rows]
    inside = [i for i, j in enumerate(pivots) if j < len(equations)]
    outside = [i for i, j in enumerate(pivots) if j >= len(equations)]
    for k, pair in enumerate(pairs, start=len(equations)):
        if any(rows[i][k] for i in outside):
            continue
        times = {pivots[i]: Fraction(rows[i][k], int(denominator)) for i in inside if rows[i][k]}
        scale = lcm(*(t.denominator for t in times.values()))
        return NoGram(
            pair,
            scale,
            tuple(
                Equation(int(t * scale), e.letter, e.after, e.x, e.y)
                for e, t in ((equations[j], t) for j, t in times.items())
            ),
        )
    return None
