"""Particular products that show where statements end: three projections (G.P1.3), a pair of RWKV-7 (DP.T8); symbolic."""

from __future__ import annotations

from typing import Any

from .symbolic import Identity, characteristic


def equiangular_projections() -> tuple[Identity, ...]:
    """G.P1.3 is sharp: three projections of R³ whose unit keys have the pairwise inner product c.

    In the coordinates of the keys, C_i sends the vector with coefficients a to that with a - (Σ_j g_ij a_j) e_i, g the
    Gram matrix. The product has the eigenvalues 0 and the two roots of λ² - (3c² - c³)λ + c³; the square of their
    imaginary part is stationary at c = 2 - √2, where it is (3 - 2√2)².
    """
    import sympy as sp

    c = sp.Symbol("c", real=True)
    square = equiangular_discriminant(c) / -4  # of the imaginary part
    return (
        Identity("three projections: 0 is an eigenvalue", equiangular_product(c).det()),
        Identity("tr = 3c² - c³", equiangular_product(c).trace() - (3 * c**2 - c**3)),
        Identity(
            "the square of the imaginary part is stationary at c = 2 - √2",
            sp.diff(square, c).subs(c, 2 - sp.sqrt(2)),
        ),
    )


def equiangular_product(c: Any) -> Any:
    """Three projections along unit keys with pairwise inner products c, in the coordinates of the keys."""
    import sympy as sp

    return gram_product(sp.Matrix(3, 3, lambda i, j: 1 if i == j else c))


def equiangular_discriminant(c: Any) -> Any:
    """Of the characteristic polynomial divided by λ: the two eigenvalues beside 0."""
    import sympy as sp

    lam = sp.Symbol("lambda")
    return sp.discriminant(sp.quo(characteristic(equiangular_product(c), lam), lam, lam), lam)


def gram_product(G: Any) -> Any:
    """C_k···C_1 of projections (β = 1) along unit keys with the Gram matrix G, in the coordinates of the keys."""
    import sympy as sp

    n = G.rows
    result = sp.eye(n)
    for i in range(n):
        step = sp.eye(n)
        step[i, :] = step[i, :] - G[i, :]
        result = step * result
    return result


def rwkv7_pair(theta: Any) -> Any:
    """DP.T8: A A′ of RWKV-7 factors I - k(k⊙a)ᵀ, k = (cos θ, sin θ), a = (0, 1), and the same with all swapped."""
    import sympy as sp

    k, swapped = sp.Matrix([sp.cos(theta), sp.sin(theta)]), sp.Matrix([sp.sin(theta), sp.cos(theta)])
    A = sp.eye(2) - k * sp.Matrix([0, k[1]]).T
    return A * (sp.eye(2) - swapped * sp.Matrix([swapped[0], 0]).T)


def rwkv7_identities() -> tuple[Identity, ...]:
    """DP.T8 for every θ: p(1) < 0 for the characteristic polynomial p exactly where 0 < tan² θ < 1: unstable there.

    p has the leading coefficient 1, so p(1) < 0 puts a real root above 1. For tan² θ ≥ 1 both roots are ≤ 1 in
    modulus, as |det| ≤ 1 and p(1), p(-1) ≥ 0.
    """
    import sympy as sp

    theta, lam = sp.symbols("theta lambda", real=True)
    A = rwkv7_pair(theta)
    c2, s2 = sp.cos(theta) ** 2, sp.sin(theta) ** 2
    p = characteristic(A, lam)
    return (
        Identity("tr AA′ = 2cos²θ + cos²θ sin²θ", A.trace() - (2 * c2 + c2 * s2)),
        Identity("det AA′ = cos⁴θ", A.det() - c2**2),
        Identity("p(1) = sin²θ (sin²θ - cos²θ)", p.subs(lam, 1) - s2 * (s2 - c2)),
        Identity("p(-1) = 1 + tr + cos⁴θ", p.subs(lam, -1) - (1 + A.trace() + c2**2)),
    )


def rwkv7_radius(theta: Any) -> Any:
    """The spectral radius of A A′ as a sympy number, from its characteristic polynomial."""
    import sympy as sp

    lam = sp.Symbol("lambda")
    return max(
        (sp.Abs(root) for root in sp.roots(characteristic(rwkv7_pair(theta), lam), lam)),
        key=lambda x: x.evalf(30),
    )
