"""Cyclotomic polynomials, and the degrees of the real fields that belong to them."""

from __future__ import annotations


def cyclotomic(n: int) -> list[int]:
    """Coefficients of Φ_n, n > 1, constant first: the power series of Π (1 - x^(n/d))^μ(d) over d | n."""
    signs = [(1, 1)]  # the squarefree d with μ(d)
    for p in range(2, n + 1):
        if n % p == 0 and all(p % q for q in range(2, p)):
            # a squarefree d gets each new prime or does not, and μ changes its sign with it
            signs += [(d * p, -mu) for d, mu in signs]
    result = [1] + [0] * n
    for d, mu in signs:
        step = n // d
        # times 1 - x^step from the top, where lower coefficients are still old; divided by it from below
        for i in range(n, step - 1, -1) if mu > 0 else range(step, n + 1):
            result[i] -= mu * result[i - step]
    # the power series ends with the degree of Φ_n
    while not result[-1]:
        result.pop()
    return result


def degree_of(conductor: int) -> int:
    """The degree φ(N)/2 of Q(2cos 2π/N), 1 for N ≤ 2."""
    phi, rest, p = conductor, conductor, 2
    while rest > 1:
        # what is left has no factor below its root, so it is prime
        p = rest if p * p > rest else p
        if rest % p == 0:
            # φ(n) = n Π (1 - 1/p)
            phi -= phi // p
            while rest % p == 0:
                rest //= p
        p += 1
    return max(phi // 2, 1)
