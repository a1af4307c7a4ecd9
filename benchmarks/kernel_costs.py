"""What the DeltaProduct kernels must move and compute: bytes and floating-point operations, counted by formula."""

from __future__ import annotations

from mirrormata.kernels.delta._plan import token_rows


def least_bytes(B: int, T: int, H: int, D: int, n_h: int, *, backward: bool, size: int = 2) -> int:
    """Each input read once and each output written once; backward: those of both passes."""
    token, micro = D, D * n_h
    forward = 2 * token + 2 * micro + n_h  # q, o; k, v; beta
    # q, k, v, beta and the gradient of o are read, four gradients are written
    both = forward + (2 * token + 2 * micro + n_h) + (token + 2 * micro + n_h)
    return B * T * H * size * (both if backward else forward)


def operations(B: int, T: int, H: int, D: int, n_h: int, *, backward: bool) -> int:
    """Multiplications and additions of the matrix products, as the 16-bit chunk kernels do them; backward: of both passes."""
    fused = D <= 32
    C = 16 if fused else 64
    R = token_rows(C, n_h)
    chunks = B * H * -(-T // (C // n_h))
    inverse = C // 16 * 9 * 16**3 + (0 if fused else 4 * C**3)
    gram = C * C * D + inverse
    scores = R * C * D
    forward = gram + scores + 2 * D * C * D + D * R * D + D * C * C + D * C * R
    retreat = D * R * C + D * C * D + D * C * C + D * R * D + D * C * D
    local = 2 * C * C * D + 2 * R * C * D + R * D * D + 2 * C * D * D + 2 * R * C * D + 2 * C * C * D
    again = gram + scores + D * C * D + D * C * C + D * C * C if fused else 0
    return 2 * chunks * (forward + (retreat + local + again if backward else 0))
