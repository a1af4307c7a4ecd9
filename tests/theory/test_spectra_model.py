"""Spectra of models: what every construction's letters are, products as witnesses, DP.P1's criterion, pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product as words_of
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions.algebra._cyclotomic import Number, real_cyclotomic_field
from mirrormata.constructions.algebra._householder import gh_factor, product_of, swap
from mirrormata.constructions.algebra._matrices import Matrix, identity, matrix, product
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models import spectrum_of_model
from mirrormata.theory.spectra._eigenvalues import eigenvalue_report
from mirrormata.theory.spectra._model import ModelSpectrum, Products, model_spectrum
from mirrormata.theory.spectra._picture import draw_spectrum

CONSTRUCTED = [
    "parity", "mod:2", "mod:5", "mod:8", "mod:12", "mod:60", "cycle:5", "S3", "S4", "A4", "A5", "S5[transpositions]",
    "S5[generators]", "dihedral:5", "Q8", "Z2^4", "A5[involutions]", "codeswap:4", "flipflop", "permreset:4",
    "gridworld:5", "tomita:3", "tomita:5", "tomita:7", "even_pairs", "dyck:2,2", "mod_arith:3", "T3",
]  # fmt: skip
STAR_FREE = [
    "flipflop", "gridworld:4", "tomita:1", "tomita:2", "tomita:4", "tomita:7", "dyck1:3", "dyck:2,2", "dn:2", "starladder:ab"
]  # fmt: skip


def only_products(spectrum: ModelSpectrum) -> Products:
    (head,) = spectrum.heads
    assert head.products is not None
    return head.products


@pytest.mark.parametrize("spec", CONSTRUCTED)
def test_letters_of_constructions(spec: str) -> None:
    """Norm ≤ 1, stable, and eigenvalues in [-1, 1] or on the unit circle."""
    spectrum = model_spectrum(construct(spec))
    assert spectrum.is_decided
    for letter in spectrum.letters:
        assert letter.norm.holds
        assert letter.spectrum.is_stable is True
        for e in letter.spectrum.eigenvalues:
            assert e.circle == "on" or (e.kind, e.circle) == ("real", "inside")
    made = construct(spec)
    ranks = [letter.reflection_rank for letter in spectrum.letters]
    assert made.householders is not None
    assert max(ranks) <= made.householders  # H.rank


@pytest.mark.parametrize("spec", STAR_FREE)
def test_star_free_cascades_have_eigenvalues_zero_and_one(spec: str) -> None:
    spectrum = model_spectrum(construct(spec, theorem="S.star-free"))
    assert {e.exact for letter in spectrum.letters for e in letter.spectrum.eigenvalues} <= {0, 1}
    assert spectrum.summary()["in_0_1"] is True


def test_counting_is_never_in_zero_one() -> None:
    for m in (2, 3, 4, 6, 7):
        assert model_spectrum(construct(f"mod:{m}")).summary()["in_0_1"] is False


class TestProducts:
    def test_a_group_closes(self) -> None:
        products = only_products(model_spectrum(construct("S4[generators]"), products=50))
        assert products.seen_all
        assert products.count == 24
        assert products.length < 50
        assert set(products.spectral_radius) == {1}
        assert products.first["outside"] is None
        assert products.first["unstable"] is None
        assert "all words" in products.reach

    def test_words_are_read_left_to_right(self) -> None:
        """a: e_1 → e_2, b: e_2 → e_3, c: e_3 → 2e_1; only a b c and its rotations give 2e_1 → 2e_1, and not c b a."""
        moves = {"a": (1, 0, 1), "b": (2, 1, 1), "c": (0, 2, 2)}
        letters = {
            x: [[value * (r == i and c == j) for c in range(3)] for r in range(3)]
            for x, (i, j, value) in moves.items()
        }
        products = only_products(model_spectrum(letters, products=3))
        assert products.first["outside"] == ("a", "b", "c")
        assert products.largest == ("a", "b", "c")
        assert set(products.spectral_radius) == {2}

    def test_three_projections(self) -> None:
        field = real_cyclotomic_field(12)
        letters = {}
        for k in range(3):
            c, s = field.cos(2 * k), field.sin(2 * k)
            letters[f"p{k}"] = matrix([[c * c, c * s], [c * s, s * s]])
        two, three = (only_products(model_spectrum(letters, products=k)) for k in (2, 3))
        assert two.first["negative"] is None  # G.P1.3: two factors stay in [0, 1]
        assert three.first["negative"] == ("p0", "p1", "p2")
        assert three.first["non-real"] is None
        assert three.first["outside"] is None

    def test_as_a_plain_search_finds(self) -> None:
        rng = np.random.default_rng(5)
        letters = [matrix((rng.integers(-3, 4, (2, 2))).tolist()) for _ in range(3)]
        products = only_products(model_spectrum(letters, products=3))
        seen: dict[Matrix, tuple[int, ...]] = {}
        for length in (1, 2, 3):
            for word in words_of(range(3), repeat=length):
                P = identity(2)
                for x in word:
                    P = product(letters[x], P)
                seen.setdefault(P, word)
        assert products.count == len(seen)

        def first(claim: Any) -> tuple[str, ...] | None:
            found = (word for P, word in seen.items() if claim(P))
            return next((tuple(map(str, word)) for word in found), None)

        def discriminant(P: Any) -> int:
            return int((P[0][0] - P[1][1]) ** 2 + 4 * P[0][1] * P[1][0])

        assert products.first["non-real"] == first(lambda P: discriminant(P) < 0)

    def test_the_limit_is_said(self) -> None:
        letters = np.random.default_rng(0).standard_normal((3, 2, 2))
        spectrum = model_spectrum(letters, products=5, max_products=20)
        products = only_products(spectrum)
        assert (products.count, products.length, products.asked) == (20, 2, 5)
        assert not products.is_complete
        assert not spectrum.is_decided
        assert "stopped by `max_products`" in products.reach
        complete = only_products(model_spectrum(letters, products=2, max_products=12))
        assert complete.is_complete
        assert not complete.seen_all

    def test_unknown_is_said(self) -> None:
        near = [[Fraction(6, 5), -1 - Fraction(1, 2**900)], [1, 0]]
        spectrum = model_spectrum([near], products=1, max_bits=128)
        assert not spectrum.is_decided
        assert only_products(spectrum).undecided["outside"] == ("0",)
        assert only_products(spectrum).first["outside"] is None
        assert "unknown" in spectrum.rows()[1][3]
        assert any("unknown for 0" in line for line in spectrum.product_lines())


def two_factors(draws: int, seed: int) -> Iterator[tuple[Fraction, Fraction, Fraction, Matrix]]:
    """β_1, β_2, c² for unit keys at a random angle, and the product of the two factors."""
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        b1, b2 = (Fraction(int(rng.integers(1, 33)), 16) for _ in range(2))
        k1, k2 = ([int(x) for x in rng.integers(-4, 5, 2)] for _ in range(2))
        n1, n2 = (sum(x * x for x in k) for k in (k1, k2))
        dot = k1[0] * k2[0] + k1[1] * k2[1]
        if not n1 or not n2 or not dot or dot * dot == n1 * n2:
            continue
        factors = [gh_factor(b / n, dict(enumerate(k))) for b, n, k in ((b1, n1, k1), (b2, n2, k2))]
        yield b1, b2, Fraction(dot * dot, n1 * n2), product_of(factors, 2)


def criterion(b1: Fraction, b2: Fraction, c2: Fraction) -> bool:
    """DP.P1(3): β_1, β_2 > 1 and (√(β_1-1) - √(β_2-1))² < β_1β_2c² < (√(β_1-1) + √(β_2-1))², without roots.

    With p = (β_1-1)(β_2-1) and s = β_1 + β_2 - 2 it says |β_1β_2c² - s| < 2√p.
    """
    if b1 <= 1 or b2 <= 1:
        return False
    return (b1 * b2 * c2 - (b1 + b2 - 2)) ** 2 < 4 * (b1 - 1) * (b2 - 1)


def check_criterion(draws: int, seed: int, least: int) -> None:
    seen = {True: 0, False: 0}
    for b1, b2, c2, A in two_factors(draws, seed):
        report = eigenvalue_report(A)
        assert report.is_real is not criterion(b1, b2, c2)
        assert report.within_disc is True
        if b1 <= 1 and b2 <= 1:
            assert report.in_zero_one is True  # G.P1.3, k = 2
        seen[criterion(b1, b2, c2)] += 1
    assert min(seen.values()) > draws // 50
    assert sum(seen.values()) >= least


def test_two_factors_are_non_real_as_dp_p1_says() -> None:
    check_criterion(450, 0, 300)


@pytest.mark.long
def test_two_factors_are_non_real_as_dp_p1_says_ten_thousand_times() -> None:
    check_criterion(15_000, 1, 10_000)


def test_two_reflections_turn_by_twice_the_angle_of_their_keys() -> None:
    field = real_cyclotomic_field(40)
    keys: list[tuple[Number, Number]] = [(1, 0), (field.cos(3), field.sin(3))]
    A = product_of([gh_factor(2, dict(enumerate(k))) for k in keys], 2)
    assert {e.turn for e in eigenvalue_report(A).eigenvalues} == {Fraction(6, 40), Fraction(34, 40)}


class TestModels:
    def test_letters_with_one_matrix_are_one(self) -> None:
        spectrum = model_spectrum(np.array([[[1.0]], [[-1.0]], [[1.0]]]), labels=["a", "b", "c"])
        assert [letter.labels for letter in spectrum.letters] == [("a", "c"), ("b",)]
        assert [letter.reflection_rank for letter in spectrum.letters] == [0, 1]
        assert spectrum.rows()[1][:4] == ["head 1", "a (+1)", "1", "[0, 1]"]

    def test_json_is_plain_and_repeats(self) -> None:
        texts = [json.dumps(model_spectrum(construct("tomita:3"), products=2).to_json()) for _ in range(2)]
        assert texts[0] == texts[1]
        content = json.loads(texts[0])
        assert content["decided"] is True
        assert content["heads"][0]["letters"][0]["eigenvalues"][0]["multiplicity"] >= 1

    @pytest.mark.parametrize(
        ("model", "words"),
        [
            (7, "matrices .* are needed, not int"),
            ([], "0 matrices"),
            (np.ones((2, 2, 3)), "letter 0: must be square: 2 × 3; letter 1: must be square"),
            ([[[1]], [[1, 0], [0, 1]]], "letter 1: 2 × 2, but letter 0 is 1 × 1"),
            (np.full((1, 2, 2), np.nan), r"letter 0: .*entry \(0, 0\) is nan"),
        ],
    )
    def test_what_is_no_model(self, model: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            model_spectrum(model)

    def test_limits(self) -> None:
        with pytest.raises(LimitError, match="`max_letters`"):
            model_spectrum(construct("S3"), max_letters=3)
        with pytest.raises(LimitError, match="`max_dim`"):
            model_spectrum(np.ones((1, 3, 3)), max_dim=2)
        with pytest.raises(InputError, match="`products` -1"):
            model_spectrum(construct("S3"), products=-1)


class TestPicture:
    def test_same_bytes_and_all_letters(self, tmp_path: Path) -> None:
        spectrum = model_spectrum(construct("S3"), products=2)
        files = [tmp_path / "a.svg", tmp_path / "b.svg"]
        for file in files:
            draw_spectrum(spectrum, file)
        text = files[0].read_text()
        assert files[0].read_bytes() == files[1].read_bytes()
        assert "Eigenvalues of S3" in text
        assert "e^(2πi·1/3)" in text
        assert "Grey dots" in text

    def test_what_is_left_out_is_said(self, tmp_path: Path) -> None:
        draw_spectrum(model_spectrum(construct("S4")), tmp_path / "s.svg", max_colours=2)
        assert "more letters" in (tmp_path / "s.svg").read_text()
        draw_spectrum(
            model_spectrum(construct("tomita:4", theorem="S.star-free")), tmp_path / "t.svg", max_heads=1
        )
        assert "not drawn" in (tmp_path / "t.svg").read_text()
        near = [[[Fraction(6, 5), -1 - Fraction(1, 2**900)], [1, 0]]]
        draw_spectrum(model_spectrum(near, max_bits=128), tmp_path / "u.svg")
        assert "undecided" in (tmp_path / "u.svg").read_text()
        growing = [[[3, 0], [0, Fraction(1, 2)]]]
        draw_spectrum(model_spectrum(growing, products=3), tmp_path / "g.png")
        assert (tmp_path / "g.png").stat().st_size > 1000

    def test_bad_arguments(self, tmp_path: Path) -> None:
        spectrum = model_spectrum({"a": swap(0, 1).matrix(2)})
        with pytest.raises(InputError, match=r"\.svg or \.png"):
            draw_spectrum(spectrum, tmp_path / "s.pdf")
        with pytest.raises(InputError, match="1 or more"):
            draw_spectrum(spectrum, tmp_path / "s.svg", max_heads=0)


def test_the_root_of_153_lies_between_its_bounds() -> None:
    """The radius (27 + √153)/32 as bounds of the exact number, by integers alone."""
    low, high = eigenvalue_report([[Fraction(27, 16), Fraction(-9, 16)], [1, 0]]).spectral_radius
    root = isqrt(153 * 4**40)
    assert low <= (27 + Fraction(root + 1, 2**40)) / 32
    assert high >= (27 + Fraction(root, 2**40)) / 32


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no config\.json; a model folder has"):
        spectrum_of_model(str(tmp_path))
