"""DP.T6/R7: maps as the fewest swaps and copies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirrormata import InputError
from mirrormata.constructions.algebra._householder import permutation_factors, product_of
from mirrormata.constructions.algebra._matrices import (
    Matrix,
    identity,
    matrix,
    product,
    rank,
    subtract,
    transpose,
)
from mirrormata.constructions.algebra._swap_copy import (
    Step,
    swap_copy_count,
    swap_copy_factors,
    swap_copy_word,
)

MAPS = st.integers(1, 12).flatmap(lambda n: st.lists(st.integers(0, n - 1), min_size=n, max_size=n))


def all_steps(n: int) -> list[Step]:
    swaps = [Step(i, j) for i, j in itertools.combinations(range(n), 2)]
    return swaps + [Step(i, j, copies=True) for i, j in itertools.permutations(range(n), 2)]


def composite(steps: Sequence[Step], n: int) -> tuple[int, ...]:
    image = list(range(n))
    for step in steps:
        image = [step(q) for q in image]
    return tuple(image)


def distances(n: int) -> dict[tuple[int, ...], int]:
    """The least number of steps of every map of n points, by breadth-first search from the identity."""
    start = tuple(range(n))
    found = {start: 0}
    queue = [start]
    for image in queue:
        for step in all_steps(n):
            after = tuple(step(q) for q in image)
            if after not in found:
                found[after] = found[image] + 1
                queue.append(after)
    return found


def components(image: Sequence[int]) -> int:
    """Connected components by merging labels, independent of cycles."""
    label = list(range(len(image)))
    for q, target in enumerate(image):
        old, new = label[q], label[target]
        label = [new if x == old else x for x in label]
    return len(set(label))


def map_matrix(image: Sequence[int]) -> Matrix:
    """P_f e_q = e_{f(q)}."""
    return matrix([[int(target == p) for target in image] for p in range(len(image))])


@pytest.mark.parametrize("n", range(1, 6))
def test_least_for_every_map(n: int) -> None:
    least = distances(n)
    assert len(least) == n**n
    for image, steps in least.items():
        word = swap_copy_word(image)
        assert composite(word, n) == image
        assert len(word) == swap_copy_count(image) == n - components(image) == steps
        assert sum(step.copies for step in word) == n - len(set(image))
    assert max(least.values()) == n - 1


@pytest.mark.parametrize("n", range(1, 5))
def test_count_is_the_rank_bound_of_any_rank_one_factors(n: int) -> None:
    for image in itertools.product(range(n), repeat=n):
        assert len(swap_copy_word(image)) == rank(subtract(map_matrix(image), identity(n)))


@given(MAPS)
def test_random_maps(image: list[int]) -> None:
    n = len(image)
    word = swap_copy_word(image)
    assert composite(word, n) == tuple(image)
    assert len(word) == swap_copy_count(image) == n - components(image)
    assert sum(step.copies for step in word) == n - len(set(image))
    factors = swap_copy_factors(image)
    for factor, step in zip(factors, word, strict=True):
        assert factor.matrix(n) == map_matrix([step(q) for q in range(n)])
        assert (factor.beta, factor.norm_squared, factor.eigenvalue) == (1, 2, 0 if step.copies else -1)
    assert product_of(factors, n) == map_matrix(image)


@pytest.mark.parametrize("image", list(itertools.permutations(range(4))))
def test_permutations_take_the_swaps_that_they_take_anyway(image: tuple[int, ...]) -> None:
    assert swap_copy_factors(image) == permutation_factors(image)


def test_norms_are_exact() -> None:
    """‖A‖² is the largest eigenvalue of A Aᵀ, which is diagonal for a map."""
    image = [1, 2, 0, 0, 3, 3]
    for factor, step in zip(swap_copy_factors(image), swap_copy_word(image), strict=True):
        A = factor.matrix(6)
        gram = product(A, transpose(A))
        assert all(gram[i][j] == 0 for i in range(6) for j in range(6) if i != j)
        assert (
            sorted(gram[i][i] for i in range(6))[-1] == step.matrix_norm_squared == (2 if step.copies else 1)
        )


@pytest.mark.parametrize(
    ("image", "swaps", "copies"),
    [
        ([], 0, 0),
        ([0], 0, 0),
        ([1, 0], 1, 0),
        ([0, 0, 0, 0], 0, 3),  # a reset
        ([0, 0, 1, 2], 2, 1),  # a path: only the end that meets the fixed point is a copy
        ([1, 0, 0], 1, 1),  # idempotents of defect 1 alone would take 3
        ([1, 2, 3, 0, 5, 4], 4, 0),
    ],
)
def test_kinds_of_steps(image: list[int], swaps: int, copies: int) -> None:
    word = swap_copy_word(image)
    assert (sum(not s.copies for s in word), sum(s.copies for s in word)) == (swaps, copies)


@pytest.mark.parametrize("kind", ["random", "path", "cycle", "reset"])
def test_large_maps(kind: str) -> None:
    n = 10_000
    image = {
        "random": np.random.default_rng(0).integers(0, n, n).tolist(),
        "path": [max(q - 1, 0) for q in range(n)],
        "cycle": [(q + 1) % n for q in range(n)],
        "reset": [0] * n,
    }[kind]
    began = process_time()
    word = swap_copy_word(image)
    assert process_time() - began < 2
    assert len(word) == swap_copy_count(image)
    at = [[q] for q in range(n)]  # the points that stand at each place
    for step in word:
        if step.copies:
            at[step.target] += at[step.source]
            at[step.source] = []
        else:
            at[step.source], at[step.target] = at[step.target], at[step.source]
    assert all(image[q] == place for place, points in enumerate(at) for q in points)


@pytest.mark.parametrize("image", [[1], [0, -1], [0, "a"], [0, 1.5]])
def test_wrong_entries_are_named(image: list[int]) -> None:
    with pytest.raises(
        InputError, match=rf"map of {len(image)} points: image\[{len(image) - 1}\] = "
    ) as caught:
        swap_copy_word(image)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError):
        swap_copy_count(image)


def test_all_wrong_entries_are_named_at_once() -> None:
    with pytest.raises(
        InputError, match=r"image\[0\] = 9, image\[2\] = -1: give each point an image from 0 to 2"
    ):
        swap_copy_word([9, 0, -1])
