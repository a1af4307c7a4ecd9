"""CK.1: every orthogonal diagonal-plus-rank-one matrix is one reflection after a choice of signs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from itertools import product as cartesian
from itertools import product as product_from_itertools
from typing import Any

import numpy as np

from ...constructions.algebra._cyclotomic import Number, sign, simplest
from ...constructions.algebra._householder import GHFactor, gh_factor, product_of
from ...constructions.algebra._matrices import (
    Matrix,
    divide,
    dot,
    identity,
    is_orthogonal,
    matrix,
    product,
    rank,
    subtract,
)
from ...constructions.algebra._matrices import product as product_of_matrices
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort, Subject
from ..verifying._evidence import check_all_cases, check_random_cases, decide_values
from ._parts import decide_parts, draw_factors, figures, letter_matrices, summarise_cases, symbolic

# CK.1: every orthogonal diagonal-plus-rank-one matrix is (I - 2kkᵀ)·diag(±1), ‖k‖ = 1; decided and written out.
#
# Proof. Let A = D + u vᵀ be orthogonal. (a) If u_i = 0 then row i is d_i e_iᵀ with d_i = ±1, so column i is 0 elsewhere:
# v_i = 0 or u has no entry at all; and likewise with columns. So u and v have the same support S, or A is diagonal,
# and outside S the matrix is diagonal with signs. (b) |S| ≥ 3: for i ≠ j in S, rows i and j are orthogonal:
# d_i u_j v_i + d_j u_i v_j + u_i u_j ‖v‖² = 0; divided by u_i u_j: x_i + x_j = -‖v‖² with x_i = d_i v_i/u_i. Three of these
# force x_i = -‖v‖²/2 for all i, so u = -2 D v/‖v‖² and A = D (I - 2 v vᵀ/‖v‖²); so D is orthogonal, its entries are signs,
# and A = (I - 2kkᵀ) D with k = D v/‖v‖. (c) |S| = 2: A is Ref(α) = (I - 2kkᵀ)·I or Rot(α) = Ref(α)·diag(1, -1) there.
# (d) |S| ≤ 1: A is diagonal with signs, and one of them is the reflection I - 2e_ie_iᵀ.


def is_diagonal_plus_rank_one(A: Matrix) -> bool:
    """Is there a diagonal D with rank(A - D) ≤ 1? Exact; decides from the entries off the diagonal.

    If A_pq ≠ 0, p ≠ q, scale u_p = 1: then v_j = A_pj and u_i = A_iq/A_pq are given for j ≠ p, i ≠ q, and v_p, u_q are
    the two unknowns.
    """
    n = len(A)
    first = next(((p, q) for p, q in permutations(range(n), 2) if A[p][q] != 0), None)
    if first is None:
        return True
    p, q = first
    u = {i: divide(A[i][q], A[p][q]) for i in range(n) if i != q}
    v = {j: A[p][j] for j in range(n) if j != p}
    others = [i for i in range(n) if i not in (p, q)]
    if any(simplest(u[i] * v[j]) != A[i][j] for i in others for j in others if i != j):
        return False
    v_p = _solution([(u[i], A[i][p]) for i in others])
    u_q = _solution([(v[j], A[q][j]) for j in others])
    if v_p is None or u_q is None:
        return False
    fixed = [x[0] for x in (v_p, u_q) if x]
    if len(fixed) == 2:
        return simplest(fixed[0] * fixed[1]) == A[q][p]
    return not (len(fixed) == 1 and fixed[0] == 0 and A[q][p] != 0)


def _solution(equations: Sequence[tuple[Number, Number]]) -> tuple[Number, ...] | None:
    """The x with a·x = b for all (a, b): `(x,)`, `()` where every x does, None where none does."""
    values = [divide(b, a) for a, b in equations if a != 0]
    if any(b != 0 for a, b in equations if a == 0) or any(x != values[0] for x in values):
        return None
    return tuple(values[:1])


def reflection_and_signs(A: Matrix) -> tuple[GHFactor, tuple[int, ...]] | None:
    """`(C, signs)` with A = C·diag(signs), C a reflection; None where the orthogonal A has no such form.

    Follows the proof: on the support S the signs are those of A_ij/A_ji against a first i of S, up to one sign for
    all of S, and any two if |S| = 2; elsewhere they are the diagonal's. Raises `ValueError` if AᵀA ≠ I.
    """
    if not is_orthogonal(A):
        raise ValueError("the matrix is not orthogonal")
    n = len(A)
    support = [i for i in range(n) if any(A[i][j] != 0 for j in range(n) if j != i)]
    outside = [sign(A[i][i]) or 1 for i in range(n)]
    if not support:
        outside[0] = -outside[0]
    first = support[:1]
    relative = {i: sign(A[i][first[0]] * A[first[0]][i]) or 1 for i in support[1:]} | dict.fromkeys(first, 1)
    for overall in (1, -1):
        signs = tuple(overall * relative[i] if i in relative else outside[i] for i in range(n))
        moved = subtract(identity(n), product(A, _diagonal(signs)))
        if rank(moved) == 1:
            row = next(row for row in moved if any(x != 0 for x in row))
            return gh_factor(divide(2, dot(row, row)), dict(enumerate(row))), signs
    return None


def _diagonal(entries: Sequence[int]) -> Matrix:
    return matrix([[x if i == j else 0 for j in range(len(entries))] for i, x in enumerate(entries)])


def multiply_out(factor: GHFactor, signs: Sequence[int]) -> Matrix:
    """(I - 2kkᵀ)·diag(signs)."""
    return product(factor.matrix(len(signs)), _diagonal(signs))


def proof_identities() -> tuple[Any, ...]:
    """The steps of the proof that are algebra, as `symbolic_factors.Identity`: (b) for three rows, (c)."""
    import sympy as sp

    from ._symbolic import Identity, reflection, rotation

    d, u, v = (sp.Matrix(sp.symbols(f"{name}_1:4", nonzero=True)) for name in "duv")
    rows = sp.diag(*d) + u * v.T
    norm = sp.Symbol("N")  # ‖v‖²
    x = sp.symbols("x_1:4")
    orthogonal = [
        Identity(
            f"(b) row {i + 1} · row {j + 1} = u_{i + 1}u_{j + 1}(x_{i + 1} + x_{j + 1} + ‖v‖²), x_i = d_i v_i/u_i",
            (rows[i, :] * rows[j, :].T)[0]
            - u[i] * u[j] * (d[i] * v[i] / u[i] + d[j] * v[j] / u[j] + v.dot(v)),
        )
        for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    solution = sp.linsolve([x[i] + x[j] + norm for i, j in ((0, 1), (0, 2), (1, 2))], x)
    unique = sp.Matrix(list(next(iter(solution))))
    v_hat = v * v.T / v.dot(v)
    by_signs = [
        D * (sp.eye(3) - 2 * v_hat) - (sp.eye(3) - 2 * D * v_hat * D) * D
        for D in (sp.diag(*pattern) for pattern in cartesian((1, -1), repeat=3))
    ]
    angle = sp.Symbol("alpha", real=True)
    return (
        *orthogonal,
        Identity("(b) the three equations leave x_i = -‖v‖²/2 alone", unique + norm / 2 * sp.ones(3, 1)),
        Identity("(b) u = -2Dv/‖v‖², D of signs: A = (I - 2kkᵀ)D, k = Dv/‖v‖", sp.Matrix.hstack(*by_signs)),
        Identity("(c) Rot(α) = Ref(α)·diag(1, -1)", rotation(angle) - reflection(angle) * sp.diag(1, -1)),
    )


CLAIM = Claim(
    "CK.1", "Orthogonal diagonal-plus-rank-one matrices are a reflection times signs", "proved", seconds=6
)
TWO = Fraction(2)
MAX_DIM = 64
"""Of a user's letters: larger matrices are passed over."""


def verify(effort: Effort = QUICK) -> Verdict:
    """An orthogonal matrix D + u vᵀ, D diagonal, is (I - 2kkᵀ)·diag(±1) with a unit key k.

    Statement: Let A = D + u vᵀ be orthogonal, D diagonal and real. Then A = (I - 2kkᵀ) S with ‖k‖ = 1 and S diagonal
        with entries ±1. Conversely every such product is of that form.
    Direction: tight, necessary and sufficient
    Hypotheses: Real numbers.
    Arithmetic: exact
    Source: CK, Proposition 1; the proof is ours, in the text of `theory.diagonal_rank_one`
    Method: The proof goes by the size of the common support of u and v; its algebra is reduced to 0 by sympy, for three
        rows, which is all it needs at any size. All signed permutations, and random orthogonal matrices of up to three
        reflections with signs: whether D + u vᵀ exists, decided from the entries off the diagonal, must agree with
        whether the product form is found; the form is multiplied out. A matrix that is not of the form must show up
        where a second reflection is added.
    Example:
        >>> print(verify().line())
        proved: 3 of 3 parts, as claimed
    """
    signed = [A for n in range(1, effort.pick(4, 5)) for A in list_signed_permutations(n)]
    every = check_all_cases(
        CLAIM,
        cases=signed,
        check=find_disagreement,
        of=f"signed permutations of up to {len(signed[-1])} axes",
    )
    random = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(60, 1500),
        draw=lambda g: draw_orthogonal(g, 1),
        broken=lambda g: draw_orthogonal(g, 2),
        check=missing_form,
        tight=lambda A: all(x != 0 for row in A for x in row),
    )
    both = check_all_cases(
        CLAIM,
        cases=[draw_orthogonal(effort.generator(2 + k), 1 + k % 3) for k in range(effort.pick(60, 600))],
        check=find_disagreement,
        of="random orthogonal matrices",
    )
    parts = {
        "the algebra of the proof": symbolic(proof_identities()),
        "both sides agree": summarise_cases(every) or summarise_cases(both),
        "one reflection with signs": summarise_cases(random),
    }
    return decide_parts(CLAIM, parts, evidence={"signed": figures(every), "random": figures(random)})


def list_signed_permutations(n: int) -> Iterator[Matrix]:
    """All 2ⁿ n! of them."""
    for image in permutations(range(n)):
        for signs in product_from_itertools((1, -1), repeat=n):
            yield matrix([[signs[j] * int(image[j] == i) for j in range(n)] for i in range(n)])


def draw_orthogonal(generator: np.random.Generator, reflections: int) -> Matrix:
    """A product of that many rational reflections, with signs, in 3 to 5 dimensions."""
    n = int(generator.integers(3, 6))
    A = product_of(draw_factors(generator, n, [TWO] * reflections), n)
    signs = generator.choice([-1, 1], size=n).tolist()
    return product_of_matrices(A, matrix([[signs[i] if i == j else 0 for j in range(n)] for i in range(n)]))


def missing_form(A: Matrix) -> Any:
    """The orthogonal matrix where it has no such form, or where the form is another matrix; None otherwise."""
    found = reflection_and_signs(A)
    return None if found is not None and multiply_out(*found) == A else {"matrix": A, "form": str(found)}


def find_disagreement(A: Matrix) -> Any:
    """Where D + u vᵀ exists and the form does not, or the other way round; None where they agree."""
    return None if is_diagonal_plus_rank_one(A) == (missing_form(A) is None) else {"matrix": A}


def applies(subject: Subject) -> Verdict | None:
    """The form of each letter of a model that is orthogonal and diagonal plus rank one."""
    covered, wrong = 0, []
    for name, A in letter_matrices(subject) or []:
        if A.n > MAX_DIM:
            continue
        dense = A.dense()
        if is_orthogonal(dense) and is_diagonal_plus_rank_one(dense):
            covered += 1
            violation = missing_form(dense)
            wrong += [] if violation is None else [{"letter": name, **violation}]
    if not covered:
        return None
    return decide_values(
        CLAIM,
        computed=f"{covered - len(wrong)} letters are a reflection with signs",
        claimed=f"{covered} letters are a reflection with signs",
        witness=wrong[:1],
    )
