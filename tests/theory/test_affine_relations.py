"""PD.N-1: relations among state vectors against affine maps found by elimination."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.theory.claims.pd_n_1 import (
    WholeWord,
    all_images,
    first_unrealisable,
    push_relation,
    random_points,
    relations,
    simplex,
    splitting_maps,
    symbolic_relation,
)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_simplex_has_all_maps(n: int) -> None:
    assert relations(simplex(n)) == []
    assert first_unrealisable(simplex(n), all_images(n)) is None


def test_one_dimension_less_has_not() -> None:
    draw = np.random.default_rng(0)
    for _ in range(20):
        points = random_points(draw, 4, 2)
        found = first_unrealisable(points, (image for *_, image in splitting_maps(4)))
        assert found is not None
        image, c = found
        assert sum(c) == 0
        assert all(sum(a * p[i] for a, p in zip(c, points, strict=True)) == 0 for i in range(2))
        assert any(sum(a * points[r][i] for a, r in zip(c, image, strict=True)) for i in range(2))


def test_realisable_maps_are_those_with_an_affine_map() -> None:
    """Against least squares over the numbers (p, 1)."""
    points = [(Fraction(0),), (Fraction(1),), (Fraction(2),)]
    for image in all_images(3):
        P = np.array([[float(p[0]), 1.0] for p in points])
        wanted = np.array([float(points[r][0]) for r in image])
        residual = P @ np.linalg.lstsq(P, wanted, rcond=None)[0] - wanted
        assert (first_unrealisable(points, [image]) is None) == bool(np.allclose(residual, 0))


def test_a_square_turns_in_two_dimensions() -> None:
    square = [tuple(map(Fraction, p)) for p in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    turns = [tuple((q + s) % 4 for q in range(4)) for s in range(4)]
    assert first_unrealisable(square, turns) is None
    assert first_unrealisable(square, [(1, 0, 2, 3)]) is not None


def test_pushing_a_relation_forward() -> None:
    assert push_relation([1, 2, -3], (1, 1, 0)) == [-3, 3, 0]
    c = symbolic_relation(3)
    assert sum(c) == 0
    assert len(list(splitting_maps(3))) == 18


def test_one_number_holds_the_whole_word() -> None:
    automaton = automaton_from_spec("T3")
    tracker = WholeWord(automaton.transitions, automaton.start)
    q = automaton.start
    for x in np.random.default_rng(0).integers(0, 3, 60).tolist():
        tracker.step(x)
        q = int(automaton.transitions[x, q])
        assert tracker.decode() == q
