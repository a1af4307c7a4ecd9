"""Generalized Householder (GH) factors I - β v vᵀ, and exact factorisations of matrices into them.

Conventions (theory: G, sections 3 and 4): factors act on the left, the first of a list is applied first, so the
list [C_1, ..., C_k] stands for the matrix C_k···C_1. The vector need not have norm 1: β‖v‖² plays the role of β,
and the only eigenvalue of a factor other than 1 is 1 - β‖v‖².
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import cast

from ...foundation._errors import NotRealisableError
from ._cyclotomic import Algebraic, CosineSum, Number, sign, simplest
from ._matrices import Matrix, divide, dot, identity, is_orthogonal, matrix, product, transpose


@dataclass(frozen=True)
class GHFactor:
    """The matrix I - β v vᵀ with exact numbers; `gh_factor` brings a vector of any scale to the canonical form.

    Attributes:
        beta: β, an exact number.
        vector: the non-zero entries of v as `(index, value)`, by index.
        mask: None, or, for the factors of RWKV-7, the indices i with a_i = 1, where a ∈ {0, 1}ⁿ and the matrix
            is I - β v (v⊙a)ᵀ, whose norm can exceed 1 (DP.T6).
    """

    beta: Number
    vector: tuple[tuple[int, Number], ...]
    mask: tuple[int, ...] | None = None

    @property
    def reading(self) -> tuple[tuple[int, Number], ...]:
        """The non-zero entries of v⊙a, with which the factor reads the state."""
        if self.mask is None:
            return self.vector
        return tuple((i, x) for i, x in self.vector if i in self.mask)

    @property
    def norm_squared(self) -> Number:
        """‖v‖²."""
        return simplest(dot([x for _, x in self.vector], [x for _, x in self.vector]))

    @property
    def eigenvalue(self) -> Number:
        """1 - β vᵀ(v⊙a), without a mask 1 - β‖v‖², the eigenvalue on v; all other eigenvalues are 1."""
        return simplest(1 - self.beta * sum((x * x for _, x in self.reading), start=cast("Number", 0)))

    def is_contraction(self) -> bool:
        """Decides ‖I - β v vᵀ‖ ≤ 1, that is 0 ≤ β‖v‖² ≤ 2, exactly; False for a masked factor."""
        # a mask can make the norm exceed 1
        if self.mask is not None:
            return False
        size = self.beta * self.norm_squared
        return sign(size) >= 0 and sign(2 - size) >= 0

    def matrix(self, n: int) -> Matrix:
        """The dense n × n matrix.

        Args:
            n: the dimension, larger than every index of the vector.
        """
        rows = [list(row) for row in identity(n)]
        for i, a in self.vector:
            for j, b in self.reading:
                # I - β v (v⊙a)ᵀ
                rows[i][j] = rows[i][j] - self.beta * a * b
        return matrix(rows)

    def apply(self, H: Sequence[Sequence[Number]]) -> Matrix:
        """(I - β v vᵀ) H for a dense H `[n, d]`.

        Args:
            H: a dense matrix, `[n, d]`.
        """
        rows = [list(row) for row in H]
        for column in range(len(rows[0])):
            # s = (v⊙a)ᵀ H, a column at a time; then row i loses β v_i s
            s: Number = 0
            for i, x in self.reading:
                s = s + x * rows[i][column]
            for i, x in self.vector:
                rows[i][column] = simplest(rows[i][column] - x * self.beta * s)
        return tuple(tuple(row) for row in rows)


def gh_factor(beta: Number, vector: Mapping[int, Number] | Iterable[tuple[int, Number]]) -> GHFactor:
    """Make the factor I - β v vᵀ in canonical form.

    The canonical form represents the same matrix. If v is a multiple of a rational vector, it becomes a primitive integer vector
    whose first non-zero entry is positive; otherwise it is scaled so that its first non-zero entry is 1. A vector of sums of cosines
    (`real_cyclotomic_field` in high degree) that has norm 1 keeps it, with a positive first entry.

    Args:
        beta: β, an exact number.
        vector: the entries of v by index; zeros may be left out.

    Examples:
        >>> from fractions import Fraction
        >>> from mirrormata.constructions import gh_factor
        >>> gh_factor(Fraction(1, 10), {0: -2, 1: 4})  # β‖v‖² = 2: a reflection
        GHFactor(beta=Fraction(2, 5), vector=((0, 1), (1, -2)), mask=None)
    """
    entries = sorted((i, simplest(x)) for i, x in dict(vector).items())
    entries = [(i, x) for i, x in entries if x != 0]
    if not entries or beta == 0:
        raise ValueError("a factor with β = 0 or v = 0 is the identity: leave it out")
    unit: Number = 1
    if (ratios := _cosine_ratios(entries)) is not None:
        # a multiple of a rational vector: its ratios to the first entry are scaled below
        unit, entries = entries[0][1], [(i, r) for (i, _), r in zip(entries, ratios, strict=True)]
    elif (
        any(isinstance(x, CosineSum) for _, x in entries)
        and dot(values := [x for _, x in entries], values) == 1
    ):
        turn = sign(values[0])
        return GHFactor(simplest(beta), tuple((i, simplest(x * turn)) for i, x in entries))
    # an irrational vector is scaled to begin with 1
    if any(isinstance(x, Algebraic) for _, x in entries):
        unit = entries[0][1]
        entries = [(i, divide(x, unit)) for i, x in entries]
    rationals = [Fraction(x) for _, x in entries if not isinstance(x, Algebraic)]
    if len(rationals) == len(entries):  # a multiple of an irrational number counts as rational too
        # the scale that makes the integers whole and without a common divisor, the first one positive
        scale = Fraction(gcd(*(x.numerator for x in rationals)), lcm(*(x.denominator for x in rationals)))
        scale *= sign(rationals[0])
        unit, entries = unit * scale, [(i, divide(x, scale)) for i, x in entries]
    # β v vᵀ = (β unit²) (v/unit) (v/unit)ᵀ
    return GHFactor(simplest(beta * unit * unit), tuple(entries))


def _cosine_ratios(entries: Sequence[tuple[int, Number]]) -> list[Fraction] | None:
    """The ratios of sums of cosines to the first one where all are rational; None where not all are sums with such ratios."""
    first = entries[0][1]
    if not all(isinstance(x, CosineSum) for _, x in entries):
        return None
    assert isinstance(first, CosineSum)
    j, c = next(iter(first.terms.items()))
    ratios = [x.terms.get(j, Fraction(0)) / c for _, x in entries if isinstance(x, CosineSum)]
    return ratios if all(x == first * r for (_, x), r in zip(entries, ratios, strict=True)) else None


def swap(i: int, j: int) -> GHFactor:
    """The reflection that exchanges coordinates i and j: v = e_i - e_j, β = 1."""
    i, j = min(i, j), max(i, j)
    return GHFactor(1, ((i, 1), (j, -1)))


def product_of(factors: Sequence[GHFactor], n: int) -> Matrix:
    """Compute the n × n matrix C_k···C_1.

    Args:
        factors: C_1, ..., C_k in the order in which they are applied.
        n: the dimension.
    """
    result = identity(n)
    for factor in factors:
        result = factor.apply(result)
    return result


def permutation_factors(image: Sequence[int]) -> tuple[GHFactor, ...]:
    """Write a permutation σ as a product of n - #cycles swaps, P_σ e_i = e_{σ(i)} (G.T3, H.rank).

    A cycle c_1 → c_2 → ... → c_r → c_1 is (c_1 c_r)···(c_1 c_3)(c_1 c_2), the rightmost applied first.

    Args:
        image: a permutation of 0..n-1, i ↦ `image[i]`.

    Examples:
        >>> from mirrormata.constructions import permutation_factors, product_of
        >>> product_of(permutation_factors([1, 2, 0]), 3)
        ((0, 0, 1), (1, 0, 0), (0, 1, 0))
    """
    factors = []
    seen = [False] * len(image)
    for first in range(len(image)):
        point = image[first]
        while point != first and not seen[point]:
            seen[point] = True
            factors.append(swap(first, point))
            point = image[point]
        seen[first] = True
    return tuple(factors)


def orthogonal_factors(A: Matrix) -> tuple[GHFactor, ...]:
    """Write an orthogonal matrix A as a product of exactly rank(A - I) reflections (Cartan–Dieudonné).

    Each step reflects the image of the first basis vector that moves back onto that vector, which fixes one more dimension.

    Args:
        A: an exact orthogonal matrix `[n, n]`.

    Raises:
        ValueError: AᵀA ≠ I.
    """
    if not is_orthogonal(A):
        raise ValueError("the matrix is not orthogonal")
    n = len(A)
    unit = identity(n)
    last_first = []
    rest = A
    # invariant: rest = F_k···F_1 A fixes e_0, ..., e_{j-1}, F the factors found
    for j in range(n):
        column = tuple(row[j] for row in rest)
        if column == unit[j]:
            continue
        # the reflection along rest e_j - e_j takes rest e_j to
        # e_j, both of norm 1, and keeps what is orthogonal to both
        v = {i: simplest(column[i] - unit[j][i]) for i in range(n)}
        factor = gh_factor(divide(2, dot(tuple(v.values()), tuple(v.values()))), v)
        last_first.append(factor)
        rest = factor.apply(rest)
    # F_k···F_1 A = I, so A = F_1···F_k, the last one applied first
    return tuple(reversed(last_first))


def contraction_factors(A: Matrix) -> tuple[GHFactor, ...]:
    """Write a rational matrix A with ‖A‖ ≤ 1 as a product of at most 2n GH factors of norm ≤ 1 (G.P1.2: at most 3n).

    A = O·P with P = (AᵀA)^½. P is a product of n commuting factors along eigenvectors, and O is a product of at most n reflections.
    The singular values must be rational, so that the factors are exact.

    Args:
        A: a rational matrix `[n, n]` with ‖A‖ ≤ 1.

    Raises:
        NotRealisableError: a singular value is irrational; the message names a numerical method.
    """
    n = len(A)
    vectors, values = _singular_system(A)
    if any(sigma > 1 for sigma in values):
        raise NotRealisableError(
            f"the matrix has norm {max(values)} > 1: no product of GH factors with norm ≤ 1"
        )
    # I - (1 - σ) u uᵀ/‖u‖² multiplies u by σ and keeps what is orthogonal to it
    factors = [
        gh_factor(divide(1 - sigma, dot(u, u)), dict(enumerate(u)))
        for u, sigma in zip(vectors, values, strict=True)
        if sigma != 1
    ]
    images = list(vectors)  # where the reflections found so far carry the singular vectors
    for k, (u, sigma) in enumerate(zip(vectors, values, strict=True)):
        if sigma == 0:
            continue
        # O u = A u / σ
        target = tuple(divide(dot(row, u), sigma) for row in A)
        # the reflection that takes where u is now to where it
        # has to go; earlier ones stay, being orthogonal to it
        v = {i: simplest(images[k][i] - target[i]) for i in range(n)}
        if any(x != 0 for x in v.values()):
            reflection = gh_factor(divide(2, dot(tuple(v.values()), tuple(v.values()))), v)
            factors.append(reflection)
            images = [tuple(x for (x,) in reflection.apply([(c,) for c in w])) for w in images]
    return tuple(factors)


def _singular_system(A: Matrix) -> tuple[list[tuple[Number, ...]], list[Fraction]]:
    """Orthogonal right singular vectors, not normalised, with their rational singular values."""
    from flint import fmpq, fmpq_mat

    from ._matrices import kernel, scale_matrix, subtract

    n = len(A)
    if any(isinstance(x, Algebraic) for row in A for x in row):
        raise NotRealisableError("exact factorisation of a contraction needs rational entries")
    # AᵀA, whose eigenvalues are the squares σ²
    gram = product(transpose(A), A)
    entries = [fmpq(Fraction(x).numerator, Fraction(x).denominator) for row in gram for x in row]  # type: ignore[arg-type]
    _, powers = fmpq_mat(n, n, entries).charpoly().factor()
    vectors: list[tuple[Number, ...]] = []
    values: list[Fraction] = []
    for polynomial, _ in powers:
        root = None
        if polynomial.degree() == 1:
            quotient = -polynomial[0] / polynomial[1]
            root = Fraction(int(quotient.p), int(quotient.q))
        sigma = None if root is None else _rational_root(root)
        if root is None or sigma is None:
            raise NotRealisableError(
                "a singular value is irrational: use mirrormata.theory.claims.g_p1_2, which rounds and bounds the residual"
            )
        for x in kernel(subtract(gram, scale_matrix(root, identity(n)))):
            u = x
            # eigenvectors of different values are orthogonal already; those of one are made so (Gram-Schmidt)
            for w, value in zip(vectors, values, strict=True):
                if value == sigma:
                    c = divide(dot(u, w), dot(w, w))
                    u = tuple(simplest(a - c * b) for a, b in zip(u, w, strict=True))
            vectors.append(u)
            values.append(sigma)
    return vectors, values


def _rational_root(x: Fraction) -> Fraction | None:
    from math import isqrt

    p, q = isqrt(x.numerator), isqrt(x.denominator)
    return Fraction(p, q) if p * p == x.numerator and q * q == x.denominator else None
