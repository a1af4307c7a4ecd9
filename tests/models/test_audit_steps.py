"""Products of transitions: factors, diagonals and matrices against products that are written out; memory, keys, effective ranks."""

from __future__ import annotations

import numpy as np
import pytest

from mirrormata.models.audit._facts import BOUNDS, Eigen, effective_ranks, half_lives, spread_of, turn_counts
from mirrormata.models.audit._steps import DiagonalSteps, FactorSteps, MatrixSteps, Steps, diagonals_of

TOKENS, HEADS, K = 40, 3, 6


def factor_steps(seed: int, factors: int, low: float = 0.0, high: float = 2.0) -> FactorSteps:
    draw = np.random.default_rng(seed)
    keys = draw.standard_normal((TOKENS, factors, HEADS, K))
    keys /= np.linalg.norm(keys, axis=-1, keepdims=True)
    return FactorSteps(
        draw.uniform(low, high, (TOKENS, factors, HEADS)), keys, draw.uniform(0.9, 1, (TOKENS, HEADS))
    )


def write_out(steps: Steps) -> np.ndarray:
    eye = np.broadcast_to(np.eye(steps.shape[2]), (TOKENS, HEADS, steps.shape[2], steps.shape[2]))
    return steps.apply(eye, np.arange(TOKENS), slice(0, HEADS))


def product(A: np.ndarray, start: int, tokens: int) -> np.ndarray:
    P = np.broadcast_to(np.eye(A.shape[-1]), A.shape[1:])
    for t in range(start, start + tokens):
        P = A[t] @ P
    return P


@pytest.mark.parametrize("factors", [1, 2, 3])
@pytest.mark.parametrize("tokens", [1, 2, 3, 8])
def test_few_factors_have_the_eigenvalues_of_their_product(factors: int, tokens: int) -> None:
    """The small matrix and the whole one, for fewer factors than dimensions and for more."""
    steps = factor_steps(tokens, factors)
    A = write_out(steps)
    starts = np.arange(0, TOKENS - tokens, 7)
    found = steps.eigenvalues(starts, tokens)
    for i, start in enumerate(starts.tolist()):
        for h in range(HEADS):
            whole = np.linalg.eigvals(product(A, start, tokens)[h])
            nearest = np.abs(whole[:, None] - found[i, h][None, :])
            assert nearest.min(axis=0).max() < 1e-8
            assert nearest.min(axis=1).max() < 1e-8  # none is missing


def test_a_single_factor_has_the_eigenvalue_that_its_strength_says() -> None:
    steps = factor_steps(1, 1)
    found = steps.eigenvalues(np.arange(TOKENS), 1)
    assert (found.imag == 0).all()
    assert np.abs(found[..., 0].real - steps.gate * (1 - steps.strength[:, 0])).max() < 1e-15
    assert ((Eigen.of(found, 1).least < 0) == (steps.strength[:, 0] > 1)).all()


@pytest.mark.parametrize(("factors", "tokens"), [(1, 1), (1, 2), (2, 1)])
def test_two_factors_without_signs_have_no_signs(factors: int, tokens: int) -> None:
    """Products of two positive semi-definite matrices have real eigenvalues of at least 0."""
    clipped = factor_steps(5, factors).without_signs()
    assert clipped.strength.max() <= 1 + 1e-15
    found = Eigen.of(clipped.eigenvalues(np.arange(TOKENS - tokens), tokens), tokens)
    assert not found.least.any()
    assert not found.turning.any()


def test_three_factors_without_signs_may_turn() -> None:
    """G.P1.3: so the control of longer products is not 0, and stands beside them."""
    clipped = factor_steps(5, 3, 0.8).without_signs()
    assert Eigen.of(clipped.eigenvalues(np.arange(TOKENS), 1), 1).turning.any()


def test_memory_is_the_first_token_at_which_the_norm_is_below() -> None:
    steps = factor_steps(3, 2, 0.6, 1.4)
    A = write_out(steps)
    starts = np.array([0, 5, 11])
    for made in (steps, MatrixSteps(A)):
        found = made.memory_lengths(starts, 25, BOUNDS)
        for i, start in enumerate(starts.tolist()):
            norms = np.array([np.linalg.norm(product(A, start, n), 2, axis=(1, 2)) for n in range(1, 26)])
            for b, bound in enumerate(BOUNDS):
                below = norms < bound
                wanted = np.where(below.any(axis=0), below.argmax(axis=0) + 1, 0)
                assert found[b, i].tolist() == wanted.tolist()
    assert found.any()


def test_diagonals_are_what_their_matrices_are() -> None:
    draw = np.random.default_rng(2)
    entries = draw.uniform(-0.95, 0.95, (TOKENS, HEADS, K))
    steps, A = DiagonalSteps(entries), entries[..., None] * np.eye(K)
    assert diagonals_of(A) is not None
    assert diagonals_of(A + 0.1) is None
    starts = np.arange(0, 20, 3)
    mine = np.sort(steps.eigenvalues(starts, 4).real, axis=-1)
    assert np.abs(mine - np.sort(MatrixSteps(A).eigenvalues(starts, 4).real, axis=-1)).max() < 1e-12
    assert (
        steps.memory_lengths(starts, 20, BOUNDS) == MatrixSteps(A).memory_lengths(starts, 20, BOUNDS)
    ).all()
    assert steps.without_signs().entries.min() == 0
    assert MatrixSteps(A).without_signs() is None


def test_angles_are_those_of_lines() -> None:
    keys = np.zeros((3, 2, 1, 2))
    turns = np.radians([[0, 30], [210, 90], [135, 0]])  # 30 and 210 degrees are one line
    keys[:, :, 0, 0], keys[:, :, 0, 1] = np.cos(turns), 3 * np.sin(turns) / 3
    between, within = FactorSteps(np.ones((3, 2, 1)), keys, np.ones((3, 1))).key_angles()
    assert np.allclose(between[:, 0], [0, 45], atol=1e-5)
    assert np.allclose(within[:, 0, 0], [30, 60, 45], atol=1e-5)


def test_a_rotation_that_shrinks_has_its_half_life_and_turns() -> None:
    """A tenth of a turn a token, halved in 40 tokens: four turns; of a product of 3 tokens the same figures a token."""
    each = 0.5 ** (1 / 40) * np.exp(2j * np.pi / 10)
    for n in (1, 3):
        power = np.array([each**n])
        assert half_lives(np.abs(power) ** (1 / n))[0] == pytest.approx(40)
        assert turn_counts(power, n)[0] == pytest.approx(4)
    assert half_lives(np.array([1.0, 1 - 1e-8, 0.5])).tolist() == pytest.approx([np.inf, np.inf, 1])
    assert turn_counts(np.array([0j, 0.5 + 0j, 1j]), 1).tolist() == [0, 0, np.inf]


def test_an_eigenvalue_near_one_does_not_hide_one_that_turns() -> None:
    slow, fast = 0.999 * np.exp(0.001j), 0.98 * np.exp(1j)
    found = Eigen.of(np.array([[[slow, slow.conjugate(), fast, fast.conjugate()]]]), 1)
    assert abs(found.turning[0, 0]) == pytest.approx(0.98)


def test_effective_ranks_are_between_one_and_the_rank() -> None:
    assert effective_ranks(np.eye(4)) == pytest.approx(4)
    assert effective_ranks(np.outer([1, 2], [3, 4, 5])) == pytest.approx(1)
    assert effective_ranks(np.zeros((2, 2))) == 0
    p = np.array([0.5, 0.25, 0.25])
    assert effective_ranks(np.diag(8 * p)) == pytest.approx(np.exp(-(p * np.log(p)).sum()))


def test_spreads() -> None:
    found = spread_of([3, 1, np.nan, 2, np.inf])
    assert found is not None
    assert (found.count, found.least, found.median, found.largest) == (4, 1, 2, np.inf)
    assert found.to_json()["largest"] is None
    assert spread_of([np.nan]) is None
