"""E.neutral: letters that leave codes alone are the identity on their differences."""

from __future__ import annotations

import numpy as np
import pytest

from mirrormata.tests.constructions.tables import construct_table
from mirrormata.theory.claims.e_neutral import Difference, affine_defect, defect, neutral_letters, span


@pytest.mark.parametrize(
    ("spec", "neutral"),
    [("flipflop", 1), ("S4", 1), ("S5[transpositions]", 0), ("tomita:4", 2), ("even_pairs", 1)],
)
def test_neutral_letters_of_constructions(spec: str, neutral: int) -> None:
    found = neutral_letters(construct_table(spec, "G.T4" if spec == "tomita:4" else None))
    assert len(found) == neutral
    assert not any(defect(x.matrix, d) for x in found for d in x.kept)
    assert all(x.fixed == x.codes and not x.others for x in found)


def test_a_letter_is_the_identity_on_what_it_leaves_only() -> None:
    found = neutral_letters(construct_table("T4", "G.A3"))
    assert [(x.codes, x.fixed, len(x.kept), len(x.others)) for x in found] == [(4, 2, 1, 2), (4, 3, 2, 1)]
    assert not any(defect(x.matrix, d) for x in found for d in x.kept)
    assert all(defect(x.matrix, d) for x in found for d in x.others)


def test_dimension_of_a_span() -> None:
    doubled: Difference = {(0, 0): 2, (1, 0): 1, (2, 0): -1}
    same: Difference = {(0, 0): 4, (1, 0): 2, (2, 0): -2}
    assert span([doubled, same]) == 1
    assert span([doubled, {(1, 0): 1}, {(0, 1): 5}]) == 3
    assert span([]) == 0


def test_defects_of_a_model_of_matrices() -> None:
    codes = np.array([[[1.0], [0.0]], [[0.0], [1.0]], [[2.0], [2.0]]])
    assert affine_defect(np.eye(2), np.zeros((2, 1)), codes) == (3, 0.0, 0.0)
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    stays, kept, everything = affine_defect(swap, np.zeros((2, 1)), codes)
    assert (stays, kept) == (1, 0.0)
    assert everything > 1
    near = np.diag([1.0, 1 - 2.0**-8])
    stays, _, found = affine_defect(near, np.zeros((2, 1)), codes)
    assert stays == 1
    assert 0 < found <= 2.0**-8
