"""The holonomy skeleton, against known values and against its definitions."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.cascades._holonomy import Holonomy, holonomy, holonomy_of_maps
from mirrormata.constructions.cascades._holonomy_group import order_and_name
from mirrormata.constructions.cascades._image_sets import image_sets
from mirrormata.foundation._errors import LimitError

CASES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "holonomy.json").read_text()
)


def maps_of(name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(CASES[name]["transformations"], dtype=np.int64) - 1


def by_level(
    skeleton: Holonomy, levels: tuple[tuple[int, ...], ...], row: Callable[[Any], list[Any]]
) -> list[list[list[Any]]]:
    return [sorted(row(skeleton.classes[c]) for c in level) for level in levels]


@pytest.mark.parametrize("name", CASES)
def test_known_skeletons(name: str) -> None:
    case = CASES[name]
    skeleton = holonomy_of_maps(maps_of(name))
    assert skeleton.sets.points == case["points"]
    assert skeleton.sets.images == case["image_sets"]
    assert skeleton.levels == case["levels"]
    by_depth = by_level(skeleton, skeleton.by_depth(), lambda c: [c.degree, c.name, c.order])
    assert by_depth == [sorted(level) for level in case["components_by_depth"]]
    by_height = by_level(skeleton, skeleton.by_height(), lambda c: [c.degree, c.order])
    assert by_height == [sorted(level) for level in case["by_height"]]


maps_strategy = st.integers(1, 5).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, n - 1), min_size=n, max_size=n).map(tuple), min_size=1, max_size=3
    )
)

Map = tuple[int, ...]
Points = frozenset[int]


def monoid(letters: list[Map]) -> list[Map]:
    elements = [tuple(range(len(letters[0])))]
    for element in elements:
        for letter in letters:
            product = tuple(letter[q] for q in element)
            if product not in elements:
                elements.append(product)
    return elements


@settings(max_examples=150, deadline=None)
@given(maps_strategy)
def test_definitions(letters: list[Map]) -> None:
    """Every part of the skeleton from its definition, the monoid listed."""
    n = len(letters[0])
    elements = monoid(letters)

    def image(points: Points, element: Map) -> Points:
        return frozenset(element[q] for q in points)

    images = {image(frozenset(range(n)), element) for element in elements}
    extended = images | {frozenset([q]) for q in range(n)}
    below = {(p, r) for p in extended for r in extended if any(p <= image(r, e) for e in elements)}
    skeleton = holonomy_of_maps(np.array(letters))
    sets = [frozenset(skeleton.sets.members(i)) for i in range(len(skeleton.sets))]
    assert set(sets) == extended
    assert set(sets[: skeleton.sets.images]) == images

    for i, j in combinations(range(len(sets)), 2):
        if len(sets[i]) > 1:
            together = (sets[i], sets[j]) in below and (sets[j], sets[i]) in below
            assert (skeleton.class_of[i] == skeleton.class_of[j]) == together

    for number, component in enumerate(skeleton.classes):
        tiles_of: dict[Points, list[Points]] = {}
        for member, row in zip(component.members.tolist(), component.tiles.tolist(), strict=True):
            proper = [s for s in extended if s < sets[member]]
            maximal = [s for s in proper if not any(s < t for t in proper)]
            tiles_of[sets[member]] = [sets[i] for i in row]
            assert len(row) == len(maximal)
            assert set(tiles_of[sets[member]]) == set(maximal)
        top = sets[component.representative]
        tiles = tiles_of[top]
        for member in component.members.tolist():  # columns correspond under a word
            assert any(
                image(top, e) == sets[member] and [image(t, e) for t in tiles] == tiles_of[sets[member]]
                for e in elements
            )
        permutator = {
            tuple(tiles.index(image(t, e)) for t in tiles) for e in elements if image(top, e) == top
        }
        generated = set(
            monoid([tuple(g) for g in component.generators.tolist()] or [tuple(range(len(tiles)))])
        )
        assert generated == permutator
        assert component.order == len(permutator)

        strictly = [
            c for c in skeleton.classes if c is not component and (sets[c.representative], top) in below
        ]
        assert component.height == 1 + max((c.height for c in strictly), default=0)
        above = [c for c in skeleton.classes if c is not component and (top, sets[c.representative]) in below]
        assert component.depth == 1 + max((c.depth for c in above), default=0)
        assert all(skeleton.class_of[m] == number for m in component.members.tolist())


@pytest.mark.parametrize(
    ("rows", "order", "name"),
    [
        ([], 1, "1"),
        ([[0, 1, 2]], 1, "1"),
        ([[1, 2, 0, 4, 3]], 6, "C6"),
        ([[1, 0, 2, 3], [0, 1, 3, 2]], 4, "C2 x C2"),
        ([[1, 2, 3, 0, 4, 5], [0, 1, 2, 3, 5, 4]], 8, "C4 x C2"),
        ([[1, 2, 3, 0], [3, 2, 1, 0]], 8, "D8"),
        ([[1, 2, 3, 4, 0], [4, 3, 2, 1, 0]], 10, "D10"),
        ([[1, 0, 2, 3], [1, 2, 0, 3]], 6, "S3"),
        ([[1, 2, 0, 3], [0, 2, 3, 1]], 12, "A4"),
        ([[1, 2, 3, 0], [1, 0, 2, 3]], 24, "S4"),
        ([[1, 2, 3, 4, 0], [0, 2, 4, 1, 3]], 20, "C5 : C4"),
        ([[1, 2, 3, 4, 5, 6, 0], [0, 2, 4, 6, 1, 3, 5]], 21, "C7 : C3"),
        ([[1, 2, 3, 4, 0], [1, 0, 3, 2, 4]], 60, "A5"),
        # S_3 on its own elements, Q_8 on its own elements, S_3 x C_2 as symmetries of the hexagon
        ([[1, 2, 0, 5, 3, 4], [3, 4, 5, 0, 1, 2]], 6, "S3"),
        ([[1, 2, 3, 0, 5, 6, 7, 4], [4, 7, 6, 5, 2, 1, 0, 3]], 8, "Q8"),
        ([[1, 2, 3, 4, 5, 0], [5, 4, 3, 2, 1, 0]], 12, "D12"),
        ([[(i + 1) % 30 for i in range(30)], [1, 0, *range(2, 30)]], None, "S30"),
        ([[1, 2, 0, 3, 4, 5], [1, 0, 2, 3, 4, 5], [0, 1, 2, 4, 5, 3]], 18, "order 18"),
    ],
)
def test_orders_and_names(rows: list[list[int]], order: int | None, name: str) -> None:
    generators = np.array(rows, dtype=np.int64).reshape(len(rows), -1 if rows else 4)
    found = order_and_name(generators)
    assert found[1] == name
    if order is not None:
        assert found[0] == order


def test_a_large_group_is_not_listed() -> None:
    """A wreath product: S_4 on each of five blocks, and a cycle of the blocks."""
    rows = [[(i + 4) % 20 for i in range(20)], [1, 2, 3, 0, *range(4, 20)], [1, 0, *range(2, 20)]]
    assert order_and_name(np.array(rows)) == (24**5 * 5, f"order {24**5 * 5}")


def test_awkward_inputs() -> None:
    point = holonomy_of_maps(np.zeros((2, 1), dtype=np.int64))
    assert (point.levels, point.classes, point.by_height()) == (0, (), ())
    assert point.sets.images == 1
    still = holonomy_of_maps(np.arange(4)[None])
    assert [(c.degree, c.order, c.height) for c in still.classes] == [(4, 1, 1)]
    no_letters = holonomy_of_maps(np.zeros((0, 3), dtype=np.int64))
    assert [(c.degree, c.order) for c in no_letters.classes] == [(3, 1)]
    fixed = holonomy_of_maps(np.array([[1, 0, 2, 3]]))
    assert [(c.degree, c.name) for c in fixed.classes] == [(4, "C2")]


def test_many_points() -> None:
    """More points than a machine word has bits, and a long cycle of equivalent sets: nothing recurses."""
    n = 600
    shift = (np.arange(n) + 1) % n
    skeleton = holonomy_of_maps(np.array([shift, np.where(np.arange(n) < 3, 0, 3)]))
    assert skeleton.sets.images == 1 + n + n  # all points; the pairs {q, q+3}; the points
    assert skeleton.levels == 2
    assert sorted((c.degree, c.order, len(c.members)) for c in skeleton.classes) == [(2, 2, n), (n, n, 1)]
    assert image_sets(shift[None]).images == 1


def test_limits_are_errors_with_the_figure() -> None:
    maps = np.random.default_rng(5).integers(0, 14, size=(3, 14))
    with pytest.raises(LimitError, match=r"image sets .* `max_image_sets`"):
        holonomy_of_maps(maps, max_image_sets=50)
    with pytest.raises(LimitError, match=r"the limit is 40 moves .* `max_set_moves`"):
        holonomy_of_maps(maps, max_set_moves=40)
    n = holonomy_of_maps(maps).sets.images
    assert holonomy_of_maps(maps, max_image_sets=n, max_set_moves=3 * n).sets.images == n
    with pytest.raises(LimitError, match="`max_image_sets`"):
        holonomy_of_maps(maps, max_image_sets=n - 1)


def test_an_automaton_is_its_transitions() -> None:
    maps = maps_of("NOSINGLETON")
    labels = tuple("abcde")
    automaton = Automaton(labels, ("x", "y"), maps, 2, np.array(labels, dtype=object))
    assert holonomy(automaton).sets.masks == holonomy_of_maps(maps).sets.masks
