"""Orders and solvability of transition groups, against known groups and sympy."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions.algebra.groups._permutations import (
    alternating_kind,
    cycle_lengths,
    monogenic_size,
)
from mirrormata.constructions.algebra.monoids._solvable import (
    block_system,
    group_order,
    is_solvable,
    order_decides_solvable,
    permutation_group,
)
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.foundation._errors import NotRealisableError


def automaton_of(rows: list[list[int]]) -> Automaton:
    n = len(rows[0])
    return Automaton(tuple(range(n)), tuple(range(len(rows))), np.array(rows), 0, np.arange(n).astype(object))


def wreath(inner: list[list[int]], blocks: int) -> Automaton:
    """The wreath product of a group of permutations with a cycle of blocks."""
    n = len(inner[0])
    rows = [[(i + n) % (n * blocks) for i in range(n * blocks)]]
    rows += [[*row, *range(n, n * blocks)] for row in inner]
    return automaton_of(rows)


S3, S4, S5 = [[1, 2, 0], [1, 0, 2]], [[1, 2, 3, 0], [1, 0, 2, 3]], [[1, 2, 3, 4, 0], [1, 0, 2, 3, 4]]
A5 = [[1, 2, 3, 4, 0], [1, 0, 3, 2, 4]]
# PSL(2,7) on the projective line over F_7 (7 = infinity): x + 1, 2x, -1/x
PSL27 = [[1, 2, 3, 4, 5, 6, 0, 7], [0, 2, 4, 6, 1, 3, 5, 7], [7, 6, 3, 2, 5, 4, 1, 0]]
# affine maps of F_3^2: translations and GL(2,3)
AGL23 = [
    [3 * ((x + 1) % 3) + y for x in range(3) for y in range(3)],
    [3 * ((x + y) % 3) + y for x in range(3) for y in range(3)],
    [3 * y + x for x in range(3) for y in range(3)],
    [3 * (2 * x % 3) + y for x in range(3) for y in range(3)],
]


def permutation(points: int, *cycles: tuple[int, ...]) -> list[int]:
    """From cycles of 1, ..., points."""
    row = list(range(points))
    for cycle in cycles:
        for i, j in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
            row[i - 1] = j - 1
    return row


M12 = [
    permutation(12, tuple(range(1, 12))),
    permutation(12, (3, 7, 11, 8), (4, 10, 5, 6)),
    permutation(12, (1, 12), (2, 11), (3, 6), (4, 8), (5, 9), (7, 10)),
]
M23 = [
    permutation(23, tuple(range(1, 24))),
    permutation(23, (3, 17, 10, 7, 9), (4, 13, 14, 19, 5), (8, 18, 11, 12, 23), (15, 20, 22, 21, 16)),
]


@pytest.mark.parametrize(
    ("automaton", "order", "solvable"),
    [
        (automaton_of(S3), 6, True),
        (automaton_of(S4), 24, True),
        (automaton_of(S5), 120, False),
        (automaton_of(A5), 60, False),
        (automaton_of(PSL27), 168, False),
        (automaton_of(AGL23), 432, True),
        (automaton_of(M12), 95_040, False),
        (automaton_of(M23), 10_200_960, False),
        (automaton_of([list(range(4))]), 1, True),
        (wreath(S3, 6), 6**6 * 6, True),
        (wreath(S4, 10), 24**10 * 10, True),
        (wreath(S3, 13), 6**13 * 13, True),
        (wreath(S5, 3), 120**3 * 3, False),
        (wreath(A5, 8), 60**8 * 8, False),
        (wreath(PSL27, 2), 168**2 * 2, False),
    ],
)
def test_known_groups(automaton: Automaton, order: int, solvable: bool) -> None:
    assert group_order(automaton) == order
    assert is_solvable(automaton) is solvable
    assert int(permutation_group(automaton).order()) == order


def test_solvable_group_that_hangs_elsewhere() -> None:
    """Order 816,293,376 = 2^9 3^13."""
    blocks = [[*S3[0], *range(3, 27)], [*S3[1], *range(3, 27)]]
    inner = [[(i + 3) % 9 if i < 9 else i for i in range(27)], [(i + 9) % 27 for i in range(27)], *blocks]
    automaton = automaton_of(inner)
    assert group_order(automaton) == 6**9 * 3**3 * 3
    assert group_order(automaton) == 816_293_376
    begin = time.perf_counter()
    assert is_solvable(automaton) is True
    assert time.perf_counter() - begin < 10


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=3)))
def test_random_groups_against_sympy(rows: list[list[int]]) -> None:
    automaton = automaton_of([list(row) for row in rows])
    group = permutation_group(automaton)
    assert group_order(automaton) == int(group.order())
    assert is_solvable(automaton) == group.is_solvable


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(7)), st.permutations(range(5)), st.integers(0, 2))
def test_intransitive_groups_against_sympy(first: list[int], second: list[int], shift: int) -> None:
    rows = [
        [*first, *(7 + i for i in second)],
        [*((i + shift) % 7 for i in range(7)), *(7 + (i + 1) % 5 for i in range(5))],
    ]
    automaton = automaton_of(rows)
    group = permutation_group(automaton)
    assert group_order(automaton) == int(group.order())
    assert is_solvable(automaton) == group.is_solvable


def test_giants_are_proved_at_once() -> None:
    generator = np.random.default_rng(0)
    for n in (8, 30, 2_000):
        rows = [generator.permutation(n).tolist() for _ in range(3)]
        automaton = automaton_of(rows)
        kind = alternating_kind(automaton.transitions)
        even = all((n - len(cycle_lengths(row))) % 2 == 0 for row in automaton.transitions)
        assert kind == ("alternating" if even else "symmetric")
        assert group_order(automaton) == math.factorial(n) // (2 if even else 1)
        assert is_solvable(automaton) is False
    assert alternating_kind(np.array(PSL27)) is None
    assert alternating_kind(wreath(S5, 3).transitions) is None


def test_three_cycles_give_the_alternating_group() -> None:
    rows = [[1, 2, 0, *range(3, 11)], [0, 1, *((i - 1) % 9 + 2 for i in range(9))]]
    automaton = automaton_of(rows)
    assert alternating_kind(automaton.transitions) == "alternating"
    assert group_order(automaton) == math.factorial(11) // 2


def test_unknown_over_the_limits() -> None:
    automaton = wreath(S3, 40)
    assert group_order(automaton, max_order=10_000) is None
    assert is_solvable(automaton, max_order=10_000) is True


def test_not_a_group() -> None:
    with pytest.raises(NotRealisableError, match="letter 0 merges states 0 and 1"):
        group_order(automaton_of([[0, 0, 1]]))


def test_blocks() -> None:
    assert block_system(np.array(PSL27)) is None
    blocks = block_system(np.array([[1, 2, 3, 4, 5, 0]]))
    assert blocks is not None
    assert len(set(blocks.tolist())) in {2, 3}


@pytest.mark.parametrize(
    ("order", "decided"), [(59, True), (60, None), (72, True), (75, True), (120, None), (2**9 * 3**13, True)]
)
def test_orders_that_decide(order: int, decided: bool | None) -> None:
    assert order_decides_solvable(order) is decided


@given(st.lists(st.integers(0, 6), min_size=7, max_size=7))
def test_monogenic_size(row: list[int]) -> None:
    powers = [list(range(7))]
    while (following := [row[q] for q in powers[-1]]) not in powers:
        powers.append(following)
    assert monogenic_size(np.array(row)) == len(powers)
