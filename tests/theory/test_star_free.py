"""S.star-free: set/reset cells with diagonal transitions, proved on all words by their finitely many states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import NotRealisableError
from mirrormata.theory.claims.s_star_free import ARITHMETIC, DiagonalCells, words_settle
from mirrormata.theory.proofs._prove import prove

APERIODIC = ["flipflop", "gridworld:4", "tomita:2", "tomita:7", "even_pairs", "dyck1:4", "dyck:2,2", "dn:3"]


@pytest.mark.parametrize("spec", APERIODIC)
def test_cells_are_the_automaton_on_all_words(spec: str) -> None:
    automaton = automaton_from_spec(spec)
    cells = DiagonalCells(automaton)
    assert set(cells.eigenvalues) <= {0.25, 1.0}
    assert prove(cells, automaton, ARITHMETIC).verdict == "equivalent"


@pytest.mark.parametrize("mode", ["rz", "rd", "tie_low"])
def test_any_rounding_to_quarters_but_upward_will_do(mode: str) -> None:
    automaton = automaton_from_spec("tomita:2")
    name = f"per_step:fixed:4:2:{mode}"
    assert prove(DiagonalCells(automaton, name), automaton, name).verdict == "equivalent"
    upward = "per_step:fixed:4:2:ru"
    assert prove(DiagonalCells(automaton, upward), automaton, upward).verdict == "counterexample"


@pytest.mark.parametrize("spec", ["parity", "tomita:3", "T3", "starladder:abab"])
def test_a_group_in_the_cascade_is_refused(spec: str) -> None:
    with pytest.raises(NotRealisableError, match="not aperiodic"):
        DiagonalCells(automaton_from_spec(spec))


def test_one_state_needs_no_cells() -> None:
    with pytest.raises(NotRealisableError, match="one state"):
        DiagonalCells(automaton_from_spec("mod:1"))


def test_the_point_before_is_needed() -> None:
    automaton = automaton_from_spec("tomita:2")
    cells = DiagonalCells(automaton)
    cells.layers = tuple(replace(layer, resets=np.zeros_like(layer.resets)) for layer in cells.layers)
    assert prove(cells, automaton, ARITHMETIC).verdict == "counterexample"


def test_dividing_by_eight_forgets_too_soon() -> None:
    automaton = automaton_from_spec("tomita:2")
    cells = DiagonalCells(automaton)
    cells.layers = tuple(
        replace(layer, scale=np.where(layer.scale == 0.25, 0.125, layer.scale)) for layer in cells.layers
    )
    assert prove(cells, automaton, ARITHMETIC).verdict == "counterexample"


def test_words_of_one_channel() -> None:
    assert words_settle([2, 0.5], [-1, 1], "per_step:int:-4..4")
    assert not words_settle([-1], [0], "per_step:int:-4..4")
    assert not words_settle([2, -1], [0, 1], "per_step:int:-4..4")
    assert words_settle([-1, -1], [0, 0], "per_step:int:-4..4")
