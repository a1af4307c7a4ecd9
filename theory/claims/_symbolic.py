"""What products of GH factors satisfy for all values of their symbols: identities, derived with sympy.

An `Identity` is two expressions whose difference sympy must reduce to 0. A product of two factors acts as the
identity on the complement of their keys' span, so its other eigenvalues are those of the 2 × 2 matrix in an
orthonormal basis of a plane that contains both keys: k_1 = (1, 0), k_2 = (c, s) with c² + s² = 1.

Particular products show where statements end: three projections (G.P1.3), and a pair of RWKV-7's factors (DP.T8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Identity:
    """`text` says what is equal; `difference` is a sympy expression or matrix that is 0 if it is right."""

    text: str
    difference: Any

    @property
    def remainder(self) -> str | None:
        """What sympy leaves of the difference; None where that is 0."""
        import sympy as sp

        given = self.difference
        left = sp.ImmutableMatrix([given]) if isinstance(given, sp.Expr) else given
        left = left.applyfunc(lambda x: _modulo_circles(sp.expand_trig(x)))
        left = left if left.is_zero_matrix else left.applyfunc(lambda x: sp.simplify(sp.expand(x)))
        return None if left.is_zero_matrix else str(left if len(left) > 1 else left[0])


def _modulo_circles(x: Any) -> Any:
    """0 where the numerator is a combination of the cos² + sin² - 1 of the angles in it, else x over one denominator."""
    import sympy as sp

    numerator, denominator = sp.fraction(sp.together(x))
    angles = sorted({f.args[0] for f in numerator.atoms(sp.cos, sp.sin)}, key=str)
    circles = [sp.cos(angle) ** 2 + sp.sin(angle) ** 2 - 1 for angle in angles]
    if circles:  # their leading terms have no common factors, so they are a Gröbner basis
        numerator = sp.reduced(sp.expand(numerator), circles)[1]
    return sp.cancel(numerator / denominator)


def find_unproved(identities: Sequence[Identity]) -> list[str]:
    """The texts of those that sympy does not reduce to 0, with what is left."""
    remainders = [(identity.text, identity.remainder) for identity in identities]
    return [f"{text}: off by {left}" for text, left in remainders if left is not None]


def factor(beta: Any, key: Sequence[Any]) -> Any:
    """I - β k kᵀ as a sympy matrix."""
    import sympy as sp

    k = sp.Matrix(key)
    return sp.eye(len(key)) - beta * k * k.T


def plane_pair(beta_1: Any, beta_2: Any, c: Any) -> Any:
    """C_2 C_1 for unit keys with the inner product c, in an orthonormal basis of their plane."""
    import sympy as sp

    return factor(beta_2, (c, sp.sqrt(1 - c**2))) * factor(beta_1, (1, 0))


def rotation(angle: Any) -> Any:
    """The rotation of the plane by an angle."""
    import sympy as sp

    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def reflection(angle: Any) -> Any:
    """Ref(α) = [[cos α, sin α], [sin α, -cos α]], whose mirror stands at α/2."""
    import sympy as sp

    return sp.Matrix([[sp.cos(angle), sp.sin(angle)], [sp.sin(angle), -sp.cos(angle)]])


def mirror_key(angle: Any) -> tuple[Any, Any]:
    """The unit key of Ref(α): (-sin α/2, cos α/2)."""
    import sympy as sp

    return -sp.sin(angle / 2), sp.cos(angle / 2)


def characteristic(A: Any, lam: Any) -> Any:
    """det(λI - A), expanded."""
    import sympy as sp

    return sp.expand((lam * sp.eye(A.rows) - A).det())


def reflection_identities() -> tuple[Identity, ...]:
    """Reflections of the plane, their keys, and their products (section 4.2; DP.T4, G.T6)."""
    import sympy as sp

    a, b, c = sp.symbols("a b c", real=True)
    ref_a, ref_b = reflection(a), reflection(b)
    unnormalised = factor(1 / (1 + sp.cos(a)), (-sp.sin(a), 1 + sp.cos(a)))
    first = (-sp.sin(b), sp.cos(b))
    turned = tuple(rotation(c) * sp.Matrix(first))
    return (
        Identity("Ref(a) Ref(b) = Rot(a - b)", ref_a * ref_b - rotation(a - b)),
        Identity("Ref(a) Rot(b) = Ref(a - b)", ref_a * rotation(b) - reflection(a - b)),
        Identity("Rot(a) Ref(b) = Ref(a + b)", rotation(a) * ref_b - reflection(a + b)),
        Identity("Ref(a) = I - 2 k kᵀ, k = (-sin a/2, cos a/2)", ref_a - factor(2, mirror_key(a))),
        Identity("‖(-sin a/2, cos a/2)‖ = 1", mirror_key(a)[0] ** 2 + mirror_key(a)[1] ** 2 - 1),
        Identity("Ref(a) = I - β v vᵀ, v = (-sin a, 1 + cos a), β = 1/(1 + cos a)", ref_a - unnormalised),
        Identity(
            "a unit key, then the key turned by c: together the rotation by 2c",
            factor(2, turned) * factor(2, first) - rotation(2 * c),
        ),
    )


def two_factor_identities() -> tuple[Identity, ...]:
    """DP.P1: what two factors have in common with their keys; (3) by the discriminant Δ = tr² - 4 det of C_2 C_1.

    With t = β_1β_2c², Δ = (t - β_1 - β_2 + 2)² - 4(β_1 - 1)(β_2 - 1). Where both β > 1 it factors into
    (t - (u - v)²)(t - (u + v)²), u = √(β_1 - 1), v = √(β_2 - 1): negative exactly for t between the two squares.
    Where β_1 ≤ 1 ≤ β_2 it is a sum of two squares, and where both β ≤ 1 a product of two sums that are ≥ 0.
    """
    import sympy as sp

    x, y, z = sp.symbols("beta_1 beta_2 beta_3", real=True)
    c, t, phi = sp.symbols("c t phi", real=True)
    u, v = sp.symbols("u v", nonnegative=True)
    A = plane_pair(x, y, c)
    delta = sp.expand(A.trace() ** 2 - 4 * A.det())
    by_t = (t - x - y + 2) ** 2 - 4 * (x - 1) * (y - 1)

    def at(beta_1: Any, beta_2: Any) -> Any:
        return by_t.subs({x: beta_1, y: beta_2})

    key = (sp.cos(phi), sp.sin(phi))
    other = (-sp.sin(phi), sp.cos(phi))
    keys = _orthogonal_triple()
    scaled = [factor(b / k.dot(k), k) for b, k in zip((x, y, z), keys, strict=True)]
    three = scaled[2] * scaled[1] * scaled[0]
    merged = factor(x + y - x * y, key)
    return (
        Identity("(1) equal keys: C_2 C_1 is one factor", factor(y, key) * factor(x, key) - merged),
        Identity("(1) with 1 - β = (1 - β_1)(1 - β_2)", 1 - (x + y - x * y) - (1 - x) * (1 - y)),
        Identity("(2) orthonormal keys: the product is symmetric", three - three.T),
        *(
            Identity(f"(2) 1 - β_{i} is an eigenvalue, on k_{i}", three * k - (1 - b) * k)
            for i, (b, k) in enumerate(zip((x, y, z), keys, strict=True), start=1)
        ),
        Identity(
            "(2) two keys in the plane alike",
            factor(y, other) * factor(x, key) - factor(x, key) * factor(y, other),
        ),
        Identity("(3) tr C_2 C_1 = 2 - β_1 - β_2 + t", A.trace() - (2 - x - y + x * y * c**2)),
        Identity("(3) det C_2 C_1 = (1 - β_1)(1 - β_2)", A.det() - (1 - x) * (1 - y)),
        Identity("(3) Δ as a polynomial of t", delta - by_t.subs(t, x * y * c**2)),
        Identity(
            "(3) β_1, β_2 ≥ 1: Δ = (t - (u - v)²)(t - (u + v)²)",
            at(1 + u**2, 1 + v**2) - (t - (u - v) ** 2) * (t - (u + v) ** 2),
        ),
        Identity(
            "(3) β_1 ≤ 1 ≤ β_2: Δ = (t + u² - v²)² + 4u²v²",
            at(1 - u**2, 1 + v**2) - (t + u**2 - v**2) ** 2 - 4 * u**2 * v**2,
        ),
        Identity(
            "(3) β_1, β_2 ≤ 1: Δ = (t + (u - v)²)(t + (u + v)²)",
            at(1 - u**2, 1 - v**2) - (t + (u - v) ** 2) * (t + (u + v) ** 2),
        ),
        Identity(
            "(3) β = 2, 2: the rotation by twice the angle from k_1 to k_2",
            factor(2, key) * factor(2, (1, 0)) - rotation(2 * phi),
        ),
    )


def nonreal_pair(beta_1: Any, beta_2: Any, cosine_squared: Any) -> bool:
    """DP.P1(3) without roots: has C_2 C_1, of unit keys with (k_1ᵀk_2)² = c², non-real eigenvalues? Exact numbers."""
    t = beta_1 * beta_2 * cosine_squared
    both = beta_1 > 1 and beta_2 > 1
    return bool(both and (t - beta_1 - beta_2 + 2) ** 2 < 4 * (beta_1 - 1) * (beta_2 - 1))


def norm_identity() -> Identity:
    """‖Cz‖² = ‖z‖² - β(2 - β)(kᵀz)² for a unit key: β in [0, 2] never lengthens, β in (0, 2) fixes or shortens (G.P1)."""
    import sympy as sp

    beta, phi = sp.symbols("beta phi", real=True)
    k, z = sp.Matrix([sp.cos(phi), sp.sin(phi)]), sp.Matrix(sp.symbols("z_1 z_2", real=True))
    moved = factor(beta, k) * z
    return Identity(
        "‖Cz‖² = ‖z‖² - β(2 - β)(kᵀz)²",
        moved.dot(moved) - z.dot(z) + beta * (2 - beta) * k.dot(z) ** 2,
    )


def nonnegative_pair_identities() -> tuple[Identity, ...]:
    """G.P1.3: β_1, β_2 in [0, 1] ⇒ the roots of p(λ) = λ² - tr λ + det lie in [0, 1].

    With a = 1 - β_1 and b = 1 - β_2 in [0, 1] and c² ≤ 1, each right side is a sum of products of numbers ≥ 0:
    Δ ≥ 0, so the roots are real; p(0), p(1) ≥ 0 and the vertex tr/2 lies in [0, 1], so they lie there too.
    """
    import sympy as sp

    x, y, c, lam, a, b = sp.symbols("beta_1 beta_2 c lambda a b", real=True)
    u, v = sp.symbols("u v", nonnegative=True)
    A = plane_pair(x, y, c)
    p = characteristic(A, lam)
    lower = {x: 1 - a, y: 1 - b}
    roots = {x: 1 - u**2, y: 1 - v**2}
    delta = sp.expand(A.trace() ** 2 - 4 * A.det())
    t = (1 - u**2) * (1 - v**2) * c**2
    return (
        Identity(
            "Δ = (t + (u - v)²)(t + (u + v)²)", delta.subs(roots) - (t + (u - v) ** 2) * (t + (u + v) ** 2)
        ),
        Identity("p(0) = ab", p.subs(lam, 0).subs(lower) - a * b),
        Identity("p(1) = β_1β_2(1 - c²)", p.subs(lam, 1) - x * y * (1 - c**2)),
        Identity("tr = a + b + β_1β_2c²", A.trace().subs(lower) - (a + b + (1 - a) * (1 - b) * c**2)),
        Identity("2 - tr = β_1(1 - β_2c²) + β_2", 2 - A.trace() - (x * (1 - y * c**2) + y)),
    )


def _orthogonal_triple() -> tuple[Any, Any, Any]:
    """Orthogonal vectors of R³ that depend on two numbers."""
    import sympy as sp

    p, q = sp.symbols("p q", real=True)
    return sp.Matrix([1, p, 0]), sp.Matrix([-p, 1, q]), sp.Matrix([p * q, -q, 1 + p**2])


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
