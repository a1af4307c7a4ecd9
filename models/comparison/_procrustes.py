"""Orthogonal Procrustes problems: the rotation that carries one head's states, or all its letters, nearest to another's."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np

from ...theory.arithmetic._rounding import Floats


@dataclass(frozen=True, eq=False)
class Alignment:
    """An orthogonal matrix that carries one head onto another, and the remaining difference.

    It is the identity where no other does better, so that equal things are at distance 0 exactly.

    Attributes:
        rotation: Q, orthogonal, `[n, n]`.
        residual: root mean square entry of what remains, at least 0.
        largest: the largest spectral norm of what remains, at least 0.
    """

    rotation: Floats
    residual: float
    largest: float


def align_points(X: Floats, Y: Floats) -> Alignment:
    """The orthogonal Q with ‖Q X - Y‖_F least.

    Args:
        X: points as columns, `[n, points]`.
        Y: as many points, `[n, points]`.

    Returns:
        Q, and what remains of Q X - Y.

    Source: Schönemann 1966, A generalized solution of the orthogonal Procrustes problem.

    Examples:
        >>> import numpy as np
        >>> X = np.array([[1.0, 0.0], [0.0, 2.0]])
        >>> align_points(X, X[::-1]).residual < 1e-15
        True
    """
    Q = _polar(Y @ X.T)
    if np.linalg.norm(X - Y) <= np.linalg.norm(Q @ X - Y):
        Q = np.eye(len(X))
    D = Q @ X - Y
    return Alignment(Q, _rms(D), float(np.linalg.norm(D, 2)) if D.size else 0.0)


def align_letters(
    A: Floats, C: Floats, *, starts: int = 8, steps: int = 100, seed: int = 0, tolerance: float = 1e-14
) -> Alignment:
    """An orthogonal Q with Σ ‖Q A(x) Qᵀ - C(x)‖²_F small.

    Q begins as the orthogonal part of an intertwiner, X A(x) = C(x) X in the least-squares sense, in random combinations of
    the nearest ones, and is improved by the fixed-point iteration Q ← polar(Σ C Q Aᵀ + Cᵀ Q A + shift Q), which never goes
    up. The result is a local optimum where the letters are far from each other; the global one where an exact intertwiner
    exists.

    Args:
        A: the letters that are carried, `[letters, n, n]`.
        C: those that they are carried onto, `[letters, n, n]`.
        starts: random combinations that are tried, at least 1.
        steps: the largest number of steps of the iteration from each.
        seed: the seed of the random combinations, at least 0.
        tolerance: the iteration ends where Q moves by less, above 0.

    Returns:
        Q, and what remains of Q A(x) Qᵀ - C(x).
    """
    n = A.shape[1]
    best = np.eye(n)
    least = _square(best, A, C)
    if n == 0 or least == 0:
        return _alignment(best, A, C)
    shift = 2 * sum(np.linalg.norm(a, 2) * np.linalg.norm(c, 2) for a, c in zip(A, C, strict=True))
    draw = np.random.default_rng(seed)
    for Q in _first(A, C, starts, draw):
        for step in count():
            moved = _polar((C @ Q @ A.swapaxes(1, 2) + C.swapaxes(1, 2) @ Q @ A).sum(axis=0) + shift * Q)
            change = np.abs(moved - Q).max()
            Q = moved
            if change < tolerance or step >= steps:
                break
        Q = _newton(Q, A, C)
        if (square := _square(Q, A, C)) < least:
            best, least = Q, square
    return _alignment(best, A, C)


def disparity(X: Floats, Y: Floats) -> float:
    """1 - (Σσ)²/(‖X‖²‖Y‖²): 0 where two clouds of points `[n, points]` agree up to rotation and size, 1 at most.

    Both are centred first; different numbers of rows are filled up with zeros.
    """
    if X.shape == Y.shape and np.array_equal(X, Y):
        return 0.0
    rows = max(len(X), len(Y))
    X, Y = (np.pad(M - M.mean(axis=1, keepdims=True), ((0, rows - len(M)), (0, 0))) for M in (X, Y))
    size = np.linalg.norm(X) ** 2 * np.linalg.norm(Y) ** 2
    if size == 0:
        return 0.0 if np.linalg.norm(X) == np.linalg.norm(Y) else 1.0
    # σ of Y Xᵀ from the small side: points are often fewer than entries
    qx, rx = np.linalg.qr(X.T)
    qy, ry = np.linalg.qr(Y.T)
    sigma = np.linalg.svd(ry.T @ (qy.T @ qx) @ rx, compute_uv=False)
    return max(0.0, float(1 - sigma.sum() ** 2 / size))


def _first(A: Floats, C: Floats, starts: int, draw: np.random.Generator) -> list[Floats]:
    n = A.shape[1]
    values, vectors = np.linalg.eigh(_gram(C, A))
    near = vectors[:, values <= 100 * values[0] + 1e-9 * values[-1]]
    if near.shape[1] == 1:
        return [_polar(near[:, 0].reshape(n, n))]
    mixed = near @ draw.standard_normal((near.shape[1], starts))
    return [_polar(x.reshape(n, n)) for x in mixed.T]


def _gram(C: Floats, A: Floats) -> Floats:
    """LᵀL, `[n², n²]`, of the linear map L: X ↦ (C(x) X - X A(x)) for all letters x; X row by row."""
    letters, n, _ = A.shape
    flat = C.reshape(letters, n * n).T @ A.reshape(letters, n * n)
    mixed = flat.reshape(n, n, n, n).transpose(1, 3, 0, 2).reshape(n * n, n * n)  # Σ Cᵀ ⊗ A
    left = (C.swapaxes(1, 2) @ C).sum(axis=0)
    right = (A @ A.swapaxes(1, 2)).sum(axis=0)
    gram: Floats = np.kron(left, np.eye(n)) + np.kron(np.eye(n), right) - mixed - mixed.T
    return gram


def _newton(Q: Floats, A: Floats, C: Floats) -> Floats:
    """A few Gauss-Newton steps Q ← exp(S) Q, S skew; kept where the square does not grow."""
    n = len(Q)
    i, j = np.tril_indices(n, -1)
    skew = np.eye(n * n)[i * n + j] - np.eye(n * n)[j * n + i]
    for _ in range(10 if 0 < len(i) <= 200 else 0):
        M = Q @ A @ Q.T
        slope = (C @ M.swapaxes(1, 2) - M.swapaxes(1, 2) @ C).sum(axis=0)  # M parts cancel in its skew part
        # normal equations of S M - M S = C - M: as many as S has entries, where the letters have far more
        x = np.linalg.lstsq(skew @ _gram(M, M) @ skew.T, skew @ slope.reshape(-1), rcond=1e-12)[0]
        S = (x @ skew).reshape(n, n)
        moved = _polar((np.eye(n) + S / 2) @ np.linalg.inv(np.eye(n) - S / 2) @ Q)
        if not _square(moved, A, C) < _square(Q, A, C):
            break
        Q = moved
    return Q


def _polar(M: Floats) -> Floats:
    """The orthogonal matrix nearest to M."""
    U, _, V = np.linalg.svd(M)
    result: Floats = U @ V
    return result


def _square(Q: Floats, A: Floats, C: Floats) -> float:
    return float(((Q @ A @ Q.T - C) ** 2).sum())


def _alignment(Q: Floats, A: Floats, C: Floats) -> Alignment:
    # for Q = I nothing is multiplied, so equal letters stay equal
    D = (A if np.array_equal(Q, np.eye(len(Q))) else Q @ A @ Q.T) - C
    largest = float(np.linalg.norm(D, 2, axis=(1, 2)).max()) if D.size else 0.0
    return Alignment(Q, _rms(D), largest)


def _rms(D: Floats) -> float:
    return float(np.sqrt((D**2).mean())) if D.size else 0.0
