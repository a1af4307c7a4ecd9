"""own.LMI: linear equations that exclude a layer of norm at most 1 with one vector a state.

State q stands at the vector p_q, a letter acts as p ↦ A_a p + b_a with ‖A_a‖ ≤ 1, so that A_a P x = P T_a x for
each x of sum zero: T_a is the 0/1 matrix of the letter, column q of P is p_q, and G = PᵀP. Let x of sum zero satisfy T_u T_a x = x for
a word u. Then ‖Px‖ = ‖A_u A_a Px‖ ≤ ‖A_a Px‖ ≤ ‖Px‖; so zᵀ(I - A_aᵀA_a)z = 0 at z = Px, and as I - A_aᵀA_a is semidefinite it sends
z to 0:

    yᵀ G x = (T_a y)ᵀ G (T_a x)   for every y of sum zero.

A combination of these that reads N(e_q - e_r) = 0 for two states, N(x) = xᵀGx, is a proof, checked in integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm
from typing import Any

import numpy as np

from ...constructions.algebra._cyclotomic import Number
from ...constructions.algebra._matrices import reduce_rows
from ...constructions.automata._automaton import Automaton, Indices
from ...foundation._errors import LimitError
from ._cycles import proper_cycles

MAX_WORDS = 20_000
Vector = tuple[int, ...]
MOST_STATES = 16
"""Largest number of states for which `find_equations` looks for a proof."""
MOST_WORDS = 2_000
"""Largest number of maps of words that it tries."""


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
            moved_x, moved_y = (_apply_map(transitions[equation.letter], v) for v in (x, y))
            back = moved_x
            for letter in equation.after:
                back = _apply_map(transitions[letter], back)
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


def no_gram(automaton: Automaton, *, max_words: int = MAX_WORDS) -> NoGram | None:
    """A proof that the automaton has no layer with one vector a state and norm ≤ 1; None where the equations find none.

    Words are tried shortest first until their maps, the whole transition monoid, are exhausted. Raises `LimitError`
    beyond `max_words` maps.
    """
    maps = automaton.transitions
    found: list[Equation] = []
    for letter in range(len(maps)):
        found += _equations(maps, letter, max_words, automaton.name)
    return _combine_equations(maps, found)


def find_equations(automaton: Automaton) -> NoGram | None:
    """The proof of `no_gram` in the form that the checker demands; None where none is found within `MOST_STATES` and `MOST_WORDS`.

    Of equal equations one is left, each with the first letter that moves x and y alike, and they are in ascending order.
    """
    maps = automaton.transitions
    if not 3 <= len(automaton.states) <= MOST_STATES or automaton.is_permutation:
        return None  # permutations of a simplex have norm 1, and two states never meet without a letter that merges them
    try:
        proof = no_gram(automaton, max_words=MOST_WORDS)
    except LimitError:
        return None
    if proof is None:
        return None
    merged: dict[tuple[int, Vector, Vector], Equation] = {}
    for e in proof.equations:
        images = [(_apply_map(f, e.x), _apply_map(f, e.y)) for f in maps[: e.letter + 1].tolist()]
        key = images.index(images[-1]), e.x, e.y
        before = merged.get(key)
        merged[key] = replace(e, letter=key[0], times=e.times + (before.times if before else 0))
    kept = [merged[key] for key in sorted(merged) if merged[key].times]
    divisor = gcd(proof.scale, *(e.times for e in kept))
    return NoGram(
        proof.pair,
        proof.scale // divisor,
        tuple(replace(e, times=e.times // divisor) for e in kept),
    )


def _apply_map(image: Sequence[int], x: Sequence[int]) -> list[int]:
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
        for x in _find_fixed_vectors(image):
            rows, _ = reduce_rows([*independent, x])
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


def _find_fixed_vectors(image: Indices) -> list[Vector]:
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


def _combine_equations(maps: Indices, equations: Sequence[Equation]) -> NoGram | None:
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
