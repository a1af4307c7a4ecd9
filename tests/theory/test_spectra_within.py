"""What matrices within a stated distance have: the least rank(A - I), norms of at most 1, and factors that do not fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.foundation._errors import InputError
from mirrormata.tests.cli.command_line import Outcome
from mirrormata.theory._export import export_npz
from mirrormata.theory.proofs._npz_model import load_npz_model
from mirrormata.theory.spectra._matrix import exact_matrix
from mirrormata.theory.spectra._model import model_spectrum
from mirrormata.theory.spectra._within import norm_within, rank_within

TINY = Fraction(1, 2**40)


@pytest.mark.parametrize("seed", range(5))
def test_rank_within_is_the_number_of_large_singular_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = np.eye(5) + rng.normal(size=(5, 5))
    singular = np.linalg.svd(A - np.eye(5), compute_uv=False)
    for low, high in zip([*singular[1:], 0.0], singular, strict=True):
        middle = Fraction(float((low + high) / 2))
        assert rank_within(exact_matrix(A), middle) == int((singular > float(middle)).sum())
    assert rank_within(exact_matrix(A), Fraction(0)) == 5


def test_the_bound_itself_is_within() -> None:
    A = exact_matrix([[1 + TINY, 0], [0, -1]])
    assert [rank_within(A, r) for r in (TINY / 2, TINY, 2 * TINY)] == [2, 1, 1]
    assert [norm_within(A, r, max_dim=8, name="A").holds for r in (0 * TINY, TINY / 2, TINY)] == [
        False,
        False,
        True,
    ]


def test_irrational_matrices_have_ranks_within_too() -> None:
    golden = construct("mod:5").layers[0].heads[0]
    spectrum = model_spectrum(construct("mod:5"), within=TINY)
    assert [letter.reflection_rank for letter in spectrum.letters] == [0, 2]
    assert golden.dim == 2


def test_the_distance_is_printed_and_nothing_is_judged_within_it_unasked() -> None:
    rounded = [[[1 + float(TINY), 0], [0, -1]]]
    asked, plain = model_spectrum(rounded, within=1e-9), model_spectrum(rounded)
    assert [s.letters[0].is_stable for s in (asked, plain)] == [True, False]
    assert [s.summary()["stable"] for s in (asked, plain)] == [True, False]
    assert [s.rows()[1][-3:] for s in (asked, plain)] == [["1", "yes", "yes"], ["2", "no", "no"]]
    assert "judged within 1e-09" in asked.notes[0]
    assert plain.notes == ()
    assert json.loads(json.dumps(asked.to_json()))["within"] == 1e-9
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="`within`"):
            model_spectrum(rounded, within=wrong)


def test_factors_that_are_not_those_of_the_matrices_are_not_used(tmp_path: Path) -> None:
    export_npz(construct("S3"), tmp_path / "s3.npz")
    held = load_npz_model(tmp_path / "s3.npz")
    assert model_spectrum(held).notes == ()  # exact: both are the same numbers
    other = replace(held, factors={**held.factors, "beta": np.zeros_like(held.factors["beta"])})
    spectrum = model_spectrum(other)
    assert "the factors in the file are not used" in spectrum.notes[0]
    assert [letter.reflection_rank for letter in spectrum.letters] == [0, 1, 1, 2, 2, 1]


def test_factors_are_not_used_where_their_product_is_no_rounding(tmp_path: Path) -> None:
    export_npz(construct("S3"), tmp_path / "s3.npz")
    held = load_npz_model(tmp_path / "s3.npz")
    near = replace(held, factors={**held.factors, "beta": held.factors["beta"] * (1 + 2e-7)})
    assert near.kernel_head().dim == held.A.shape[1]  # as near as float32 is
    spectrum = model_spectrum(near)
    assert "which is no rounding of float64" in spectrum.notes[0]
    assert all(letter.is_stable for letter in spectrum.letters)


def test_the_command_says_what_is_judged_within(tmp_path: Path, call: Callable[..., Outcome]) -> None:
    np.savez(tmp_path / "a.npz", A=np.array([[[1 + 1e-10, 0], [0, -1]]]))
    path = str(tmp_path / "a.npz")
    assert "--within" in call("spectrum", path).out
    np.savez(tmp_path / "b.npz", A=np.array([[[1 + 1e-5, 0], [0, -1]]]))
    assert "--within" not in call("spectrum", str(tmp_path / "b.npz")).out  # no rounding of float64
    within = call("spectrum", path, "--within", "1e-9").out
    assert "Judged within 1e-09 in the spectral norm" in within
    assert "--within" in call("spectrum", path, "--within", "-1").error


def test_the_command_names_the_distance_of_float32(tmp_path: Path, call: Callable[..., Outcome]) -> None:
    turn = np.array([[0.6, -0.8], [0.8, 0.6]], dtype=np.float32)
    np.savez(tmp_path / "a.npz", A=turn[None].astype(np.float64))
    said = call("spectrum", str(tmp_path / "a.npz")).out
    assert "(--within 1e-06)" in said
    assert "every matrix stable" in " ".join(said.split())
    within = model_spectrum(turn[None].astype(np.float64), within=1e-6)
    assert all(letter.is_stable for letter in within.letters)


def test_the_command_names_the_distance_for_model_folders(
    tmp_path: Path, call: Callable[..., Outcome]
) -> None:
    folder = str(tmp_path / "model")
    made = call("construct", "mod:7", "-o", str(tmp_path / "mod7.json"))
    assert made.status == 0
    assert call("export", "model", str(tmp_path / "mod7.json"), "mod:7", "-o", folder).status == 0
    said = call("spectrum", folder).out
    assert "1.00000001" in said  # the word before it may stand on the line above
    assert "(--within 1e-06)" in said
    assert "--within" not in call("spectrum", str(tmp_path / "mod7.json")).out


def test_exact_numbers_are_no_rounded_ones() -> None:
    assert exact_matrix([[1 + 2**-40, 0], [0, -1]]).is_dyadic
    assert not exact_matrix([[Fraction(1, 3), 0], [0, 1]]).is_dyadic
