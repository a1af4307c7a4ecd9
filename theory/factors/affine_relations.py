"""PD.N-1: relations among state vectors, and what affine letters make of them.

State q has the vector p_q. A letter that sends q to f(q) is affine on these vectors exactly if each relation Σ c_q p_q = 0,
Σ c_q = 0 is turned into one: Σ c_q p_{f(q)} = 0. Where the letters are all maps of N states, the map that sends q0 to a
and the rest to b makes c_{q0}(p_a - p_b) = 0 of it, so there is no relation and the dimension is N - 1 at least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ...constructions.automaton import Indices
from ...constructions.matrices import kernel

Point: TypeAlias = tuple[Fraction, ...]


def relations(points: Sequence[Point]) -> list[tuple[Any, ...]]:
    """A basis of the c `[N]` with Σ c_q p_q = 0 and Σ c_q = 0; points `[N]` of equal dimension, 0 included."""
    rows = [*zip(*points, strict=True), (Fraction(1),) * len(points)]
    return kernel(rows)


def pushed(relation: Sequence[Any], image: Sequence[int]) -> list[Any]:
    """Σ_{f(q) = r} c_q for each state r: what the letter q → image[q] makes of a relation; numbers or symbols."""
    result: list[Any] = [0] * len(relation)
    for q, c in enumerate(relation):
        result[image[q]] += c
    return result


def first_unrealisable(
    points: Sequence[Point], images: Iterable[Sequence[int]]
) -> tuple[Sequence[int], tuple[Any, ...]] | None:
    """The first letter (states' images) that no affine map follows on the points, and the relation that it breaks."""
    basis = relations(points)
    for image in images:
        for c in basis:
            after = pushed(c, image)
            if any(sum(a * p[i] for a, p in zip(after, points, strict=True)) for i in range(len(points[0]))):
                return image, c
    return None


def all_images(n: int) -> Iterator[tuple[int, ...]]:
    """All n^n maps of n states."""
    return product(range(n), repeat=n)


def splitting_maps(n: int) -> Iterator[tuple[int, int, int, tuple[int, ...]]]:
    """(q0, a, b, the map that sends q0 to a and the rest to b), a ≠ b."""
    for q0, a, b in product(range(n), repeat=3):
        if a != b:
            yield q0, a, b, tuple(a if q == q0 else b for q in range(n))


def symbolic_relation(n: int) -> list[Any]:
    """c_0, ..., c_{n-1} with Σ c = 0, as sympy symbols; the last one is minus the sum of the others."""
    import sympy

    free = list(sympy.symbols(f"c0:{n - 1}", real=True))
    return [*free, -sum(free, start=sympy.Integer(0))]


def simplex(n: int) -> list[Point]:
    """n points in dimension n - 1 without a relation: 0 and the unit vectors."""
    return [tuple(Fraction(int(q == i + 1)) for i in range(n - 1)) for q in range(n)]


def random_points(draw: np.random.Generator, n: int, dimension: int) -> list[Point]:
    """n distinct points with small rational entries."""
    found: list[Point] = []
    while len(found) < n:
        p = tuple(Fraction(int(draw.integers(-6, 7)), int(draw.integers(1, 4))) for _ in range(dimension))
        if p not in found:
            found.append(p)
    return found


class WholeWord:
    """Why "one vector a state" is needed: h ← h/B + (x + 1)/B, B > letters, keeps the whole word in one number.

    Affine and exact, of dimension 1 for any automaton; the read-out is not linear, and a state has infinitely many
    vectors. Digits in base B are the letters, the last one first.
    """

    def __init__(self, transitions: Indices, start: int = 0) -> None:
        self.transitions, self.start = np.asarray(transitions), start
        self.base = len(self.transitions) + 1
        self.state = Fraction(0)

    def step(self, letter: int) -> None:
        """One token."""
        self.state = self.state / self.base + Fraction(letter + 1, self.base)

    def decode(self) -> int:
        """The automaton's state, from the one number alone."""
        letters, h = [], self.state
        while h:
            digit = int(h * self.base)
            letters.append(digit - 1)
            h = h * self.base - digit
        q = self.start
        for x in reversed(letters):
            q = int(self.transitions[x, q])
        return q
