"""Cyclic factors of abelian groups: homomorphisms that jointly tell all elements apart; Smith normal form."""

from __future__ import annotations

import itertools
import math

import numpy as np
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.matrices.normalforms import smith_normal_form

from mirrormata.constructions.algebra.groups._abelian import cyclic_factors, prime_powers, smith_columns
from mirrormata.constructions.automata._automaton import Indices

ORDERS = st.lists(st.sampled_from([2, 2, 3, 4, 4, 5, 6, 8, 9, 12]), min_size=1, max_size=4).filter(
    lambda orders: math.prod(orders) <= 300
)


@st.composite
def regular_actions(draw: st.DrawFn) -> tuple[Indices, list[int]]:
    """Letters `[letters, points]` of a group Z_a x Z_b x ..., on the subgroup they generate, in a random numbering."""
    orders = draw(ORDERS)
    coordinates = np.array(list(itertools.product(*(range(m) for m in orders))))
    weights = np.cumprod([1, *orders[:0:-1]])[::-1]
    count = draw(st.integers(1, 4))
    letters = [np.array([draw(st.integers(0, m - 1)) for m in orders]) for _ in range(count)]
    rows = np.array([((coordinates + x) % orders) @ weights for x in letters])
    members = [0]
    for p in members:
        members += [int(q) for q in dict.fromkeys(rows[:, p].tolist()) if q not in members]
    rest = draw(st.permutations(members[1:]))
    numbered = [0, *rest]
    place = {p: i for i, p in enumerate(numbered)}
    return np.array([[place[int(row[p])] for p in numbered] for row in rows]), orders


@given(regular_actions())
@settings(deadline=None)
def test_factors_are_homomorphisms_and_jointly_injective(action: tuple[Indices, list[int]]) -> None:
    letters, _ = action
    size = letters.shape[1]
    factors = cyclic_factors(letters)
    assert math.prod(f.order for f in factors) == size
    assert all(b % a == 0 for a, b in itertools.pairwise(f.order for f in factors))  # invariant factors
    for f in factors:
        assert f.order > 1
        assert f.points[0] == 0
        for x, row in enumerate(letters):
            assert (f.points[row] == (f.points + f.letters[x]) % f.order).all()
        assert set(f.points.tolist()) == set(range(f.order))  # onto
    joint = {tuple(int(f.points[p]) for f in factors) for p in range(size)}
    assert len(joint) == size
    # and so are the parts of prime power order
    parts = [f.part(q) for f in factors for q in prime_powers(f.order)]
    for part in parts:
        for x, row in enumerate(letters):
            assert (part.points[row] == (part.points + part.letters[x]) % part.order).all()
    assert len({tuple(int(f.points[p]) for f in parts) for p in range(size)}) == size


@given(st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(-12, 12), min_size=n, max_size=n), min_size=n, max_size=n)
))  # fmt: skip
@settings(deadline=None)
def test_smith_normal_form(rows: list[list[int]]) -> None:
    diagonal, V = smith_columns(rows)
    n = len(rows)
    expected = smith_normal_form(sympy.Matrix(rows), domain=sympy.ZZ)
    assert diagonal == [abs(int(expected[i, i])) for i in range(n)]
    assert abs(sympy.Matrix(V).det()) == 1
    # R·V generates, row by row, the lattice of D: column i is divisible by d_i, and the index is the same
    RV = sympy.Matrix(rows) * sympy.Matrix(V)
    for i, d in enumerate(diagonal):
        assert all(int(x) % d == 0 if d else x == 0 for x in RV[:, i])
    assert abs(sympy.Matrix(rows).det()) == math.prod(diagonal)


def test_prime_powers() -> None:
    assert prime_powers(1) == []
    for m in range(2, 500):
        powers = prime_powers(m)
        assert math.prod(powers) == m
        assert all(len(sympy.factorint(q)) == 1 for q in powers)
        assert all(math.gcd(a, b) == 1 for a, b in itertools.combinations(powers, 2))
    assert prime_powers(2 * 1_000_003) == [2, 1_000_003]


def test_the_trivial_group_has_no_factors() -> None:
    assert cyclic_factors(np.zeros((2, 1), dtype=np.int64)) == []
    assert cyclic_factors(np.zeros((0, 1), dtype=np.int64)) == []
