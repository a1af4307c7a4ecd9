"""G.T6, DP.T7 and own.T2tight (theory 4.2, 4.3): the rules themselves against plain group arithmetic.

What the constructions of these theorems emit is compared with the same rules elsewhere.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirrormata.tests.constructions.two_layer_oracles import (
    angular_two_layer_rule,
    corner_swaps,
    dihedral_two_layer_rule,
    integer_two_layer_rule,
    printed_dihedral_angle,
    ripple_rule,
)

CyclicRule = Callable[[int, Iterable[int]], Iterator[int]]
CYCLIC = [
    *((integer_two_layer_rule, m) for m in range(1, 31)),
    *((angular_two_layer_rule, m) for m in range(1, 31)),
    *((ripple_rule, 1 << levels) for levels in range(9)),
]


def sums(m: int, word: Iterable[int]) -> list[int]:
    return [total % m for total in itertools.accumulate(word)]


def right_product(m: int, a: str, b: str) -> str:
    """ab in D_m: r_i r_j = r_{i+j}, r_i s_j = s_{i+j}, s_i r_j = s_{i-j}, s_i s_j = r_{i-j}."""
    i, j = int(a[1:]), int(b[1:])
    kind = "r" if a[0] == b[0] else "s"
    return f"{kind}{(i + j if a[0] == 'r' else i - j) % m}"


def right_products(m: int, word: Iterable[str]) -> list[str]:
    return list(itertools.accumulate(word, lambda y, x: right_product(m, y, x), initial="r0"))[1:]


def dihedral_elements(m: int) -> list[str]:
    return [f"{kind}{i}" for kind in "rs" for i in range(m)]


def action(m: int, element: str, corner: int) -> int:
    """D_m on the corners of the m-gon: r_i turns by i, s_i is the reflection j ↦ i - j."""
    i = int(element[1:])
    return (i + corner if element[0] == "r" else i - corner) % m


@pytest.mark.parametrize(("rule", "m"), CYCLIC)
def test_sums_mod_m(rule: CyclicRule, m: int) -> None:
    word = random.Random(m).choices(range(m), k=600)
    assert list(rule(m, word)) == sums(m, word)
    ones = random.Random(m).choices(range(min(m, 2)), k=3 * m)
    assert list(rule(m, ones)) == sums(m, ones)


@pytest.mark.parametrize("rule", [integer_two_layer_rule, angular_two_layer_rule])
def test_every_short_word(rule: CyclicRule) -> None:
    for m in range(1, 6):
        for word in itertools.product(range(m), repeat=4):
            assert list(rule(m, word)) == sums(m, word)


@given(st.integers(1, 60).flatmap(lambda m: st.tuples(st.just(m), st.lists(st.integers(0, m - 1)))))
def test_the_rules_agree(case: tuple[int, list[int]]) -> None:
    m, word = case
    assert list(integer_two_layer_rule(m, word)) == list(angular_two_layer_rule(m, word)) == sums(m, word)


@pytest.mark.parametrize("m", range(1, 61))
def test_factors_of_the_integer_form(m: int) -> None:
    """n_h = ⌊m/2⌋; for even m and even c one less, since two corners stay."""
    for c in range(-m, m + 1):
        swaps = corner_swaps(m, c)
        assert len(swaps) == ((m - 2) // 2 if m % 2 == 0 and c % 2 == 0 else m // 2)
        points = [p for pair in swaps for p in pair]
        assert len(set(points)) == len(points)
        assert all((i + j - c) % m == 0 for i, j in swaps)


def test_ripple_counter_flips_iff_all_lower_bits_carry() -> None:
    for levels in range(1, 7):
        outputs = [0, *ripple_rule(1 << levels, [1] * (3 << levels))]
        for before, after in itertools.pairwise(outputs):
            for i in range(levels):
                lower = (1 << i) - 1
                assert ((before ^ after) >> i & 1) == (before & lower == lower)


@pytest.mark.parametrize("m", [3, 6, 12])
def test_ripple_needs_a_power_of_two(m: int) -> None:
    with pytest.raises(ValueError, match="power of two"):
        list(ripple_rule(m, [1]))


@pytest.mark.parametrize("m", range(1, 13))
def test_dihedral_table_is_the_group_of_the_polygon(m: int) -> None:
    """The corners are a left action: (ab)·j = a·(b·j)."""
    elements = dihedral_elements(m)
    for a, b in itertools.product(elements, repeat=2):
        for corner in range(m):
            assert action(m, right_product(m, a, b), corner) == action(m, a, action(m, b, corner))


@pytest.mark.parametrize("m", range(1, 13))
def test_dihedral_right_products(m: int) -> None:
    elements = dihedral_elements(m)
    word = random.Random(m).choices(elements, k=6000)
    assert list(dihedral_two_layer_rule(m, word)) == right_products(m, word)
    for pair in itertools.product(elements, repeat=2):
        assert list(dihedral_two_layer_rule(m, pair)) == right_products(m, pair)


@pytest.mark.parametrize("m", range(3, 13))
def test_printed_angles_and_left_products_are_wrong(m: int) -> None:
    """The erratum of DP.T7: a third to nine tenths of the steps wrong, whichever product is meant."""
    word = random.Random(m).choices(dihedral_elements(m), k=2000)
    printed = list(dihedral_two_layer_rule(m, word, printed_dihedral_angle))
    left = list(itertools.accumulate(word, lambda y, x: right_product(m, x, y), initial="r0"))[1:]
    for expected in (right_products(m, word), left):
        wrong = sum(a != b for a, b in zip(printed, expected, strict=True)) / len(word)
        assert 0.3 < wrong < 0.97
    assert list(dihedral_two_layer_rule(m, word)) != left
