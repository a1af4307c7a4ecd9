"""The picture of the claims: no arrow runs through a box, and every arrow is there."""

from __future__ import annotations

import itertools

import numpy as np

from mirrormata.theory.verifying._picture import _HEIGHT, _curve_of, _place, _width
from mirrormata.theory.verifying._registry import load_claims


def test_arrows_go_around_boxes_from_one_claim_to_another() -> None:
    claims = [entry.claim for entry in load_claims()]
    names = [claim.id for claim in claims]
    edges = [(used, claim.id) for claim in claims for used in claim.uses if used in names]
    centres, ways = _place(names, edges)
    assert set(centres) == set(names)
    assert len(ways) == len(set(edges)) > 40
    rights = {(round(x + _width(name) / 2, 6), round(y, 6)): name for name, (x, y) in centres.items()}
    lefts = {(round(x - _width(name) / 2, 6), round(y, 6)): name for name, (x, y) in centres.items()}
    joined = set()
    for way in ways:
        first, last = ((round(x, 6), round(y, 6)) for x, y in (way[0], way[-1]))
        begin, end = rights[first], lefts[last]
        joined.add((begin, end))
        points = np.asarray(_curve_of(way).to_polygons(closed_only=False)[0], dtype=np.float64)
        fine = np.concatenate(
            [a + np.linspace(0, 1, 20)[:, None] * (b - a) for a, b in itertools.pairwise(points)]
        )
        for name, (x, y) in centres.items():
            if name not in (begin, end):
                inside = (abs(fine[:, 0] - x) < _width(name) / 2) & (abs(fine[:, 1] - y) < _HEIGHT / 2)
                assert not inside.any(), (begin, end, name)
    assert joined == set(edges)


def test_a_straight_arrow_ends_where_it_should() -> None:
    curve = _curve_of([(0.0, 0.0), (1.0, 0.0), (2.0, 1.0), (3.0, 1.0)])
    points = np.asarray(curve.vertices)
    assert points[[0, -1]].tolist() == [[0, 0], [3, 1]]
    assert len(points) == 6
