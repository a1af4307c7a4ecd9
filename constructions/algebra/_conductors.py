"""What a conductor N says of the field Q(2cos 2π/N): its degree, the prime divisors of N, the minimal polynomial of 2cos 2π/N."""

from __future__ import annotations

from functools import cache


def minimal_polynomial(conductor: int) -> list[int]:
    """Coefficients, constant first, of the monic minimal polynomial of 2cos(2π/N)."""
    from flint import fmpz_poly

    if conductor <= 2:
        return [-2 if conductor == 1 else 2, 1]
    phi = [int(c) for c in fmpz_poly.cyclotomic(conductor).coeffs()]
    # Φ_N(x) = x^h Ψ_N(x + 1/x), h = φ(N)/2, so Ψ_N = a_h + Σ a_{h+j} (x^j + x^-j), the sums being Chebyshev in θ
    half = (len(phi) - 1) // 2
    theta, previous, current = fmpz_poly([0, 1]), fmpz_poly([2]), fmpz_poly([0, 1])
    result = fmpz_poly([phi[half]])
    for j in range(1, half + 1):
        result += phi[half + j] * current
        previous, current = current, theta * current - previous
    return [int(c) for c in result.coeffs()]


def conductor_degree(conductor: int) -> int:
    """Degree of Q(2cos 2π/N), that is φ(N)/2 for N ≥ 3, without building the field."""
    phi = conductor
    for p in prime_divisors(conductor):
        # φ(n) = n Π (1 - 1/p)
        phi -= phi // p
    return max(phi // 2, 1)


@cache
def prime_divisors(n: int) -> tuple[int, ...]:
    found, rest, p = [], n, 2
    while rest > 1:
        # what is left has no factor below its root, so it is prime
        if p * p > rest:
            p = rest
        if rest % p == 0:
            found.append(p)
            while rest % p == 0:
                rest //= p
        p += 1
    return tuple(found)
