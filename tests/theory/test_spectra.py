"""Eigenvalue reports: known witnesses, numpy inside the enclosures, Sturm's count, and what no tolerance could tell."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions.algebra._cyclotomic import Number, real_cyclotomic_field
from mirrormata.constructions.algebra._householder import gh_factor, product_of
from mirrormata.constructions.algebra._matrices import Matrix, matrix, product, rank, subtract
from mirrormata.constructions.algebra._matrices import identity as unit
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.theory.spectra._eigenvalues import Spectrum, eigenvalue_report
from mirrormata.theory.spectra._matrix import characteristic_polynomial, exact_matrix
from mirrormata.theory.spectra._roots import Part, eigenvalues_of, is_fixed

small = st.sampled_from(
    [
        Fraction(0),
        Fraction(0),
        Fraction(1),
        Fraction(-1),
        Fraction(1, 2),
        Fraction(-3, 5),
        Fraction(4, 5),
        Fraction(2),
    ]
)


def square(n: int) -> st.SearchStrategy[list[list[Fraction]]]:
    return st.lists(st.lists(small, min_size=n, max_size=n), min_size=n, max_size=n)


def described(report: Spectrum) -> list[tuple[str, int, int, str, str, str]]:
    return [(str(e), e.multiplicity, e.block, e.kind, e.sign, e.circle) for e in report.eigenvalues]


def block_diagonal(*blocks: Any) -> list[list[Number]]:
    n = sum(len(b) for b in blocks)
    rows: list[list[Number]] = [[0] * n for _ in range(n)]
    at = 0
    for block in blocks:
        for i, row in enumerate(block):
            rows[at + i][at : at + len(block)] = row
        at += len(block)
    return rows


def jordan(root: Number, size: int) -> list[list[Number]]:
    return [[root if i == j else int(j == i + 1) for j in range(size)] for i in range(size)]


def conjugated(A: list[list[Number]], seed: int) -> Matrix:
    """S A S⁻¹ with S a product of integer shears."""
    rng = np.random.default_rng(seed)
    result, n = matrix(A), len(A)
    for _ in range(2 * n if n > 1 else 0):
        i, j = rng.permutation(n)[:2].tolist()
        c = int(rng.integers(-2, 3))
        shear = [list(row) for row in unit(n)]
        back = [list(row) for row in unit(n)]
        shear[i][j], back[i][j] = c, -c
        result = product(product(matrix(shear), result), matrix(back))
    return result


class TestKnownFacts:
    def test_three_factors_leave_the_reals(self) -> None:
        """G.P1.3: keys (1,-2), (1,2), (1,0), each β‖v‖² = 3/4."""
        keys = ({0: 1, 1: -2}, {0: 1, 1: 2}, {0: 1})
        A = product_of([gh_factor(Fraction(3, 4) / sum(x * x for x in k.values()), k) for k in keys], 2)
        assert ((Fraction(253, 1600), Fraction(27, 800)), (Fraction(-27, 200), Fraction(7, 100))) == A
        assert (A[0][0] - A[1][1]) ** 2 + 4 * A[0][1] * A[1][0] == Fraction(-1071, 102400)
        report = eigenvalue_report(A)
        assert report.is_real is False
        assert {(e.kind, e.sign, e.circle) for e in report.eigenvalues} == {("non-real", "none", "inside")}
        assert report.in_zero_one is False
        assert report.is_stable is True

    def test_three_projections_have_a_negative_eigenvalue(self) -> None:
        """G.P1.3: projections on the lines at 0°, 60°, 120°."""
        field = real_cyclotomic_field(12)
        A = unit(2)
        for k in (0, 2, 4):
            c, s = field.cos(k), field.sin(k)
            A = product(matrix([[c * c, c * s], [c * s, s * s]]), A)
        report = eigenvalue_report(A)
        assert [(e.exact, e.sign) for e in report.eigenvalues] == [(0, "zero"), (Fraction(-1, 8), "negative")]
        assert report.has_negative is True
        assert report.in_minus_one_one is True
        assert report.in_zero_one is False

    def test_unstable_product_of_rwkv7_factors(self) -> None:
        """DP.T8 at θ = π/6: the spectral radius of AA' is (27 + √153)/32."""
        field = real_cyclotomic_field(12)
        c, s = field.cos(1), field.sin(1)

        def factor(k: tuple[Number, Number], a: tuple[int, int]) -> Matrix:
            return matrix([[int(i == j) - k[i] * k[j] * a[j] for j in range(2)] for i in range(2)])

        report = eigenvalue_report(product(factor((c, s), (0, 1)), factor((s, c), (1, 0))))
        assert report.eigenvalues[0].polynomial == (
            Fraction(9, 16),
            Fraction(-27, 16),
            1,
        )  # its larger root is (27 + √153)/32
        assert [e.circle for e in report.eigenvalues] == ["outside", "inside"]
        low, high = report.spectral_radius
        assert (32 * low - 27) ** 2 <= 153 <= (32 * high - 27) ** 2
        assert high - low < Fraction(1, 2**60)
        assert report.within_disc is False

    def test_radius_one_is_not_stability(self) -> None:
        """DP.B6 repaired: [[1, 1], [0, 1]] has radius 1 and unbounded powers."""
        report = eigenvalue_report([[1, 1], [0, 1]])
        assert described(report) == [("1", 2, 2, "real", "positive", "on")]
        assert set(report.spectral_radius) == {1}
        assert report.within_disc is True
        assert report.is_stable is False
        assert eigenvalue_report([[1, 0], [0, 1]]).is_stable is True
        turns = [e.turn for e in eigenvalue_report([[1, 0, 0], [0, -1, 0], [0, 0, 2]]).eigenvalues]
        assert turns == [None, 0, Fraction(1, 2)]
        assert eigenvalue_report([[Fraction(1, 2), 1], [0, Fraction(1, 2)]]).is_stable is True

    @pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 7, 12, 60])
    def test_rotations(self, order: int) -> None:
        field = real_cyclotomic_field(4 * order)
        c, s = field.cos(4), field.sin(4)
        report = eigenvalue_report([[c, -s], [s, c]])
        turns = sorted({Fraction(1, order) % 1, Fraction(-1, order) % 1})
        assert sorted(e.turn for e in report.eigenvalues if e.turn is not None) == turns
        assert report.multiplicity_on_circle == 2
        assert report.is_real is (order <= 2)
        assert report.is_stable is True


class TestNoTolerance:
    @pytest.mark.parametrize("near", [Fraction(1, 2**53), Fraction(1, 2**400), Fraction(1, 10**300)])
    def test_a_hair_from_the_circle(self, near: Fraction) -> None:
        for shift, circle in ((-near, "inside"), (Fraction(0), "on"), (near, "outside")):
            # characteristic polynomial x² - (6/5)x + (1 + shift): |λ|² = 1 + shift
            report = eigenvalue_report([[Fraction(6, 5), -(1 + shift)], [1, 0]])
            assert {e.circle for e in report.eigenvalues} == {circle}
            assert report.within_disc is (shift <= 0)

    @pytest.mark.parametrize("near", [Fraction(1, 2**53), Fraction(1, 2**400)])
    def test_a_hair_from_the_real_axis(self, near: Fraction) -> None:
        for shift, real in ((near, False), (Fraction(0), True), (-near, True)):
            assert eigenvalue_report([[1, -shift], [1, 1]]).is_real is real  # (x - 1)² = -shift

    def test_beyond_the_bits_allowed_it_is_unknown(self) -> None:
        A = [[Fraction(6, 5), -(1 + Fraction(1, 2**400))], [1, 0]]
        report = eigenvalue_report(A, max_bits=128)
        assert {e.circle for e in report.eigenvalues} == {"unknown"}
        assert report.within_disc is None
        assert report.is_stable is None
        assert not report.is_decided
        assert report.to_json()["stable"] == "unknown"
        assert report.is_real is False  # that much is known
        low, high = report.spectral_radius
        assert low**2 <= 1 + Fraction(1, 2**400) <= high**2

    def test_irrational_coefficients_beyond_the_bits_allowed(self) -> None:
        root = real_cyclotomic_field(8).twice_cos(1)  # √2
        A = [[root, -root * root / 4 - Fraction(1, 2**400)], [1, 0]]  # (x - √2/2)² + 2^-400
        assert eigenvalue_report(A, max_bits=128).is_real is None
        assert eigenvalue_report(A).is_real is False

    def test_reciprocal_pairs_are_not_on_the_circle(self) -> None:
        field = real_cyclotomic_field(5)
        for trace in (3, Fraction(201, 100), 2 + field.twice_cos(1), -3):
            report = eigenvalue_report([[trace, -1], [1, 0]])  # x² - trace·x + 1: roots λ and 1/λ
            assert sorted(e.circle for e in report.eigenvalues) == ["inside", "outside"]

    def test_roots_on_and_off_the_circle_in_one_irreducible_polynomial(self) -> None:
        """Lehmer's polynomial: one root outside, one inside, eight on the circle, none a root of unity."""
        lehmer = [1, 1, 0, -1, -1, -1, -1, -1, 0, 1, 1]
        companion = [[int(j == i + 1) for j in range(10)] for i in range(9)] + [[-c for c in lehmer[:10]]]
        report = eigenvalue_report(companion)
        assert [e.circle for e in report.eigenvalues].count("on") == 8
        assert [e.circle for e in report.eigenvalues if e.kind == "real"] == ["outside", "inside"]
        assert all(e.turn is None for e in report.eigenvalues)
        doubled = eigenvalue_report(block_diagonal(companion, companion))
        assert {(e.multiplicity, e.block) for e in doubled.eigenvalues} == {(2, 1)}


class TestMultiplicity:
    @settings(max_examples=25)
    @given(
        st.lists(
            st.tuples(st.sampled_from([1, -1, 0, Fraction(1, 2), 3]), st.integers(1, 3)),
            min_size=1,
            max_size=4,
        ),
        st.integers(0, 99),
    )
    def test_jordan_blocks_are_found_again(self, blocks: list[tuple[Fraction | int, int]], seed: int) -> None:
        A = conjugated(block_diagonal(*(jordan(root, size) for root, size in blocks)), seed)
        report = eigenvalue_report(A)
        found = {e.exact: (e.multiplicity, e.block) for e in report.eigenvalues}
        roots = {root for root, _ in blocks}
        assert found == {
            r: (sum(s for root, s in blocks if root == r), max(s for root, s in blocks if root == r))
            for r in roots
        }
        on_circle = [s for root, s in blocks if root in (1, -1)]
        assert report.is_stable is (all(-1 <= r <= 1 for r in roots) and all(s == 1 for s in on_circle))
        assert report.multiplicity_on_circle == sum(on_circle)

    @pytest.mark.parametrize("coupled", [False, True])
    def test_repeated_rotations_over_a_field(self, coupled: bool) -> None:
        field = real_cyclotomic_field(28)
        c, s = field.cos(3), field.sin(3)
        link = int(coupled)
        A = [[c, -s, link, 0], [s, c, 0, link], [0, 0, c, -s], [0, 0, s, c]]
        report = eigenvalue_report(A)
        assert [(e.multiplicity, e.block, e.circle) for e in report.eigenvalues] == [(2, 1 + link, "on")] * 2
        assert report.is_stable is not coupled

    def test_one_multiplicity_with_blocks_of_two_sizes(self) -> None:
        root = real_cyclotomic_field(5).cos(1)
        A = conjugated(block_diagonal(jordan(root, 2), [[-root]], [[-root]]), 3)
        report = eigenvalue_report(A)
        assert sorted((e.sign, e.multiplicity, e.block) for e in report.eigenvalues) == [
            ("negative", 2, 1), ("positive", 2, 2),
        ]  # fmt: skip
        assert {e.circle for e in report.eigenvalues} == {"inside"}


def sturm_count(polynomial: list[Fraction]) -> int:
    """Number of distinct real roots, by sign changes at ±∞ of Sturm's chain."""

    def trimmed(p: list[Fraction]) -> list[Fraction]:
        while p and p[-1] == 0:
            p = p[:-1]
        return p

    chain = [trimmed(polynomial), trimmed([k * c for k, c in enumerate(polynomial)][1:])]
    while chain[-1]:
        rest = list(chain[-2])
        while len(rest) >= len(chain[-1]):
            factor = rest[-1] / chain[-1][-1]
            shift = len(rest) - len(chain[-1])
            rest = [x - factor * (chain[-1][k - shift] if k >= shift else 0) for k, x in enumerate(rest)][:-1]
        chain.append(trimmed([-x for x in rest]))

    def changes(side: int) -> int:
        signs = [p[-1] * side ** (len(p) - 1) > 0 for p in chain if p]
        return sum(a != b for a, b in pairwise(signs))

    return changes(-1) - changes(1)


class TestOracles:
    @settings(max_examples=60)
    @given(st.integers(1, 5).flatmap(square))
    def test_real_roots_as_sturm_counts_them(self, A: list[list[Fraction]]) -> None:
        report = eigenvalue_report(A)
        polynomial = [Fraction(c) for c in characteristic_polynomial(matrix(A))]  # type: ignore[arg-type]
        assert sum(e.kind == "real" for e in report.eigenvalues) == sturm_count(polynomial)
        assert sum(e.multiplicity for e in report.eigenvalues) == len(A)
        assert report.is_decided

    @settings(max_examples=40)
    @given(st.integers(2, 4).flatmap(square), st.sampled_from([5, 8, 12]))
    def test_rational_and_field_ways_agree(self, A: list[list[Fraction]], conductor: int) -> None:
        """The same matrix in a basis scaled by an irrational number has the same report."""
        root = real_cyclotomic_field(conductor).twice_cos(1)
        scaled = [
            [x * (root if i == 0 else 1) / (root if j == 0 else 1) for j, x in enumerate(r)]
            for i, r in enumerate(A)
        ]
        figures = [
            sorted(
                (e.kind, e.sign, e.circle, e.multiplicity, e.block) for e in eigenvalue_report(M).eigenvalues
            )
            for M in (A, scaled)
        ]
        assert figures[0] == figures[1]

    @pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 16])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
    def test_numpy_eigenvalues_are_near_the_enclosures(self, n: int, dtype: type) -> None:
        A: Any = np.random.default_rng(n).standard_normal((n, n)).astype(dtype)
        report = eigenvalue_report(A)
        centres = np.array([complex(*map(float, e.centre)) for e in report.eigenvalues])
        values = np.linalg.eigvals(A.astype(np.float64))
        distance = abs(values[:, None] - centres)
        assert sorted(distance.argmin(axis=1).tolist()) == list(range(n))  # each is claimed once
        assert distance.min(axis=1).max() < 1e-10
        assert max(e.radius for e in report.eigenvalues) < Fraction(1, 2**50)
        # the exact trace lies in the sum of the enclosures, numpy's rounded values do not decide that
        trace = sum((Fraction(float(x)) for x in np.diag(A)), Fraction(0))
        assert (
            sum(e.real[0] for e in report.eigenvalues) <= trace <= sum(e.real[1] for e in report.eigenvalues)
        )

    @settings(max_examples=30)
    @given(
        st.permutations(range(7)),
        st.lists(st.sampled_from([0, 1, -1, Fraction(1, 2), 2]), min_size=7, max_size=7),
    )
    def test_monomial_matrices_by_their_cycles(self, image: list[int], weights: list[Number]) -> None:
        A: list[list[Number]] = [[0] * 7 for _ in range(7)]
        for j, i in enumerate(image):
            A[i][j] = weights[j]
        exact = exact_matrix(A)
        assert exact.is_monomial
        assert exact.reflection_rank() == rank(subtract(matrix(A), unit(7)))
        # conjugation by a shear leaves no monomial matrix, and the same report
        other = exact_matrix(conjugated(A, 1))
        assert described(eigenvalue_report(exact)) == described(eigenvalue_report(other))
        assert other.reflection_rank() == exact.reflection_rank()

    def test_a_permutation_of_a_thousand_points(self) -> None:
        sizes = [7, 11, 13, 64, 905]
        image = np.concatenate([np.roll(np.arange(s), 1) + sum(sizes[:k]) for k, s in enumerate(sizes)])
        A = exact_matrix(np.eye(1000, dtype=np.int64)[image])
        report = eigenvalue_report(A)
        assert report.multiplicity_on_circle == 1000
        assert report.eigenvalues[0].multiplicity == len(sizes)
        assert A.reflection_rank() == 1000 - len(sizes)


class TestInput:
    def test_floats_are_the_rationals_they_are(self) -> None:
        (e,) = eigenvalue_report(np.array([[0.1]])).eigenvalues
        assert e.exact == Fraction(0.1) != Fraction(1, 10)
        assert eigenvalue_report([[1 - 2.0**-53]]).eigenvalues[0].circle == "inside"

    @pytest.mark.parametrize(
        ("A", "words"),
        [
            ([[1, 2]], "square: 1 × 2"),
            ([[1, 2], [3]], "row 1 has 1 entries"),
            ([], "0 × 0"),
            (
                [[1, float("nan")], [float("inf"), 1j]],
                r"entry \(0, 1\) is nan; entry \(1, 0\) is inf; entry \(1, 1\)",
            ),
            ([["1"]], r"entry \(0, 0\) is 1"),
            (3, "rows of numbers"),
            ([1, 2], "rows of numbers"),
        ],
    )
    def test_what_is_no_matrix(self, A: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            eigenvalue_report(A)

    def test_the_limit_names_its_option(self) -> None:
        with pytest.raises(LimitError, match=r"3 × 3.*`max_dim`"):
            eigenvalue_report([[1, 1, 0], [0, 1, 1], [1, 1, 1]], max_dim=2)

    def test_numbers_of_two_fields(self) -> None:
        a, b = real_cyclotomic_field(5).twice_cos(1), real_cyclotomic_field(8).twice_cos(1)
        report = eigenvalue_report([[a, 0], [0, b]])
        assert [e.circle for e in report.eigenvalues] == ["outside", "inside"]

    def test_images_that_meet_two_balls_tell_nothing(self) -> None:
        """Disjoint balls around 0.1i and -0.1i of which one reaches over the real axis; a third is far off."""
        from flint import acb, arb

        balls = [acb(0, arb(0.1, 0.15)), acb(0, arb(-0.16, 0.09)), acb(arb(2, 0.1), arb(0, 0.1))]
        conjugate = [is_fixed(balls, i, lambda w: acb(w.real, -w.imag)) for i in range(3)]
        assert conjugate == [None, False, True]

    def test_no_root_isolated_still_encloses(self) -> None:
        part = Part((real_cyclotomic_field(8).twice_cos(1), 0, 1), 1, 1, None, False)
        found = eigenvalues_of(part, bits=2, max_bits=2)
        assert {e.circle for e in found} <= {"unknown", "outside"}
        assert all(e.modulus[0] ** 4 <= 2 <= e.modulus[1] ** 4 for e in found)
