"""Snapping learned heads: to the right representation, by the known distance, and provable again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.models.comparison._compare import compare
from mirrormata.models.comparison._result import Comparison
from mirrormata.models.comparison._sources import learned_from_lrnn, learned_from_matrices
from mirrormata.models.comparison._states import Sampling
from mirrormata.theory._check import check
from mirrormata.theory.proofs._prove import prove

from .test_comparison import lrnn_of, rotation

QUICK = Sampling(words=64, length=64, fit=16)


def turned(spec: str, noise: float, seed: int = 0) -> Comparison:
    """The construction's only head in a larger space, turned, its letters disturbed by `noise` in spectral norm."""
    lrnn = lrnn_of(spec)
    (head,) = learned_from_lrnn(lrnn).heads
    n = head.dim + 2
    R = rotation(n, seed)
    A = np.repeat(np.eye(n)[None], len(head.A), axis=0)
    A[:, : head.dim, : head.dim] = head.A
    E = np.random.default_rng(seed).standard_normal(A.shape)
    E *= noise / np.linalg.norm(E, 2, axis=(1, 2))[:, None, None]
    H0 = np.zeros((n, head.H0.shape[1]))
    H0[: head.dim] = head.H0
    return compare(
        learned_from_matrices(R @ (A + E) @ R.T, lrnn.automaton, H0=R @ H0),
        sampling=QUICK,
        extract=("exact",),
    )


@pytest.mark.parametrize(
    ("spec", "constituents"),
    [
        ("S3", ["χ3: degree 2, faithful"]),
        (
            "S4[generators]",
            ["χ4: degree 3, faithful, determinant 1"],
        ),  # elements are words, so the order counts
        ("mod:7", ["χ2: degree 1, faithful, not real", "χ7: degree 1, faithful, not real"]),
        ("A5", ["degree 3, faithful, determinant 1"]),
    ],
)
def test_turned_heads_snap_to_their_representation(spec: str, constituents: list[str]) -> None:
    c = turned(spec, 1e-4)
    (h,) = c.heads
    assert h.representation is not None
    assert h.snapped is not None
    assert 0 < h.representation.homomorphism_error < 0.01
    found = h.representation.constituents
    if spec == "mod:7":
        assert len(found) == 2
        assert all("not real" in text for text in found)
    else:
        assert len(found) == 1
        assert found[0].endswith(constituents[0].split(": ")[-1])
    assert 1e-6 < h.snapped.transitions_moved < 3e-4
    assert h.snapped.plane_moved < 1e-3
    lrnn = c.snapped.lrnn
    assert lrnn is not None
    assert check(lrnn).verdict == "valid"
    assert prove(lrnn, lrnn.automaton, "exact").verdict == "equivalent"
    assert c.extracted[0].is_target
    assert c.causal[-1].accuracy == 1


@pytest.mark.parametrize("spec", ["A5", "mod:7"])
def test_another_representation_of_the_same_size_is_its_conjugate(spec: str) -> None:
    """Letters renamed by an automorphism that no turn undoes: A_5's by an odd permutation, Z_7's by x to 3x."""
    lrnn = lrnn_of(spec)
    automaton = lrnn.automaton
    (head,) = learned_from_lrnn(lrnn).heads
    if spec == "A5":
        swap = (1, 0, 2, 3, 4)
        words = [tuple(g) for g in automaton.letters if isinstance(g, tuple)]
        images = [tuple(swap[g[swap[i]]] for i in range(5)) for g in words]
        A = head.A[[automaton.letter_index(g) for g in images]]
    else:
        A = np.linalg.matrix_power(head.A, 3)
    R = rotation(head.dim, 5)
    c = compare(
        learned_from_matrices(R @ A @ R.T, automaton, H0=R @ head.H0), sampling=QUICK, extract=("exact",)
    )
    (h,) = c.heads
    assert h.snapped is not None
    assert "taken to" in h.snapped.name
    assert h.snapped.transitions_moved < 1e-9
    assert c.snapped.lrnn is not None
    assert check(c.snapped.lrnn).verdict == "valid"
    assert prove(c.snapped.lrnn, automaton, "exact").verdict == "equivalent"
    assert c.extracted[0].is_target
    assert c.causal[-1].accuracy == 1


def test_the_distance_is_that_of_the_disturbance() -> None:
    """A reflection with β = 2 - ε in one letter is ε away, wherever it is turned."""
    lrnn = lrnn_of("S3")
    (head,) = learned_from_lrnn(lrnn).heads
    R, epsilon = rotation(head.dim, 3), 1e-3
    A = head.A.copy()
    k = np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
    place = next(x for x in range(6) if np.allclose(A[x], np.eye(3) - 2 * np.outer(k, k)))
    A[place] += epsilon * np.outer(k, k)
    c = compare(
        learned_from_matrices(R @ A @ R.T, lrnn.automaton, H0=R @ head.H0), sampling=QUICK, extract=()
    )
    (h,) = c.heads
    assert h.snapped is not None
    assert h.snapped.transitions_moved == pytest.approx(epsilon, rel=0.05)


def test_two_representations_in_one_head_are_taken_apart() -> None:
    """The permutations of five points and the sign side by side: no one head of S_5 has just these."""
    automaton = automaton_from_spec("S5[transpositions]")
    (head,) = learned_from_lrnn(lrnn_of("S5[transpositions]")).heads
    n = head.dim
    A = np.zeros((10, n + 1, n + 1))
    A[:, :n, :n] = head.A
    A[:, n, n] = -1
    H0 = np.concatenate([head.H0, np.full((1, head.H0.shape[1]), 2.0)])
    R = rotation(n + 1, 1)
    c = compare(learned_from_matrices(R @ A @ R.T, automaton, H0=R @ H0), sampling=QUICK, extract=("exact",))
    (h,) = c.heads
    assert h.geometry.rank == 5
    assert h.snapped is not None
    assert len(h.snapped.parts) == 2
    assert h.snapped.transitions_moved < 1e-10
    assert c.snapped.lrnn is not None
    assert check(c.snapped.lrnn).verdict == "valid"


def test_a_head_that_tells_only_the_sign_gives_no_linear_rnn() -> None:
    automaton = automaton_from_spec("S3")
    (head,) = learned_from_lrnn(lrnn_of("S3")).heads
    signs = np.rint(np.linalg.det(head.A))[:, None, None]
    c = compare(
        learned_from_matrices(signs, automaton, H0=np.ones((1, 1))), sampling=QUICK, extract=("exact",)
    )
    (h,) = c.heads
    assert h.geometry.told_apart == 2
    assert h.representation is not None
    assert h.representation.constituents == ["χ2: degree 1, kernel of 3"]
    assert c.snapped.lrnn is None
    assert "tell" in c.snapped.reason
    (extracted,) = c.extracted
    assert not extracted.is_target
    assert extracted.confirmed


def sylow_action(word: tuple[int, ...]) -> list[int]:
    """How a permutation of five points moves the six cyclic subgroups of order 5, by conjugation."""
    cycles = [(0, *rest) for rest in permutations(range(1, 5))]

    def steps(cycle: tuple[int, ...]) -> frozenset[tuple[int, ...]]:
        """The non-trivial powers of i -> the next in the cycle."""
        turn = {cycle[i]: cycle[(i + 1) % 5] for i in range(5)}
        powers = [tuple(range(5))]
        for _ in range(4):
            powers.append(tuple(turn[i] for i in powers[-1]))
        return frozenset(powers[1:])

    groups = list(dict.fromkeys(steps(c) for c in cycles))
    assert len(groups) == 6
    back = [word.index(i) for i in range(5)]
    return [groups.index(frozenset(tuple(word[p[back[i]]] for i in range(5)) for p in g)) for g in groups]


@pytest.mark.parametrize(
    ("points", "name"),
    [
        (list, "signed permutations of 5 axes, in a component of degree 4"),
        (sylow_action, "signed permutations of 6 axes, in a component of degree 5"),
    ],
)
def test_components_of_what_constructions_have_are_on_offer(
    points: Callable[[tuple[int, ...]], list[int]], name: str
) -> None:
    """S_5 on points whose coordinates have the sum 0, times its sign: transpositions act as -P."""
    automaton = automaton_from_spec("S5[transpositions]")
    images = np.array([points(g) for g in automaton.letters if isinstance(g, tuple)])
    n = images.shape[1]
    A = np.zeros((len(images), n, n))
    A[np.arange(len(images))[:, None], images, np.arange(n)] = -1
    sums = np.linalg.svd(np.ones((1, n)))[2][1:]
    R = rotation(n - 1, 4)
    H0 = R @ sums @ np.random.default_rng(0).standard_normal((n, 2))
    given = learned_from_matrices(R @ sums @ A @ sums.T @ R.T, automaton, H0=H0)
    c = compare(given, sampling=QUICK, extract=("exact",))
    (h,) = c.heads
    assert h.geometry.rank == n - 1
    assert h.snapped is not None
    assert h.snapped.name == name
    assert h.snapped.transitions_moved < 1e-9
    assert h.snapped.plane_moved < 1e-6
    assert c.snapped.lrnn is not None
    assert c.snapped.lrnn.layers[0].heads[0].dim == n
    assert check(c.snapped.lrnn).verdict == "valid"
    assert prove(c.snapped.lrnn, automaton, "exact").verdict == "equivalent"
    assert c.extracted[0].is_target
    assert c.causal[-1].accuracy == 1
