"""Lower bounds never exceed a construction, and are attained where one factor or two are optimal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions.automaton import Automaton
from mirrormata.constructions.construct import construct
from mirrormata.constructions.lower_bounds import lower_bounds
from mirrormata.constructions.spec import automaton_from_spec
from mirrormata.tests.random_automata import automata, group_actions, permutation_automata


def orders(automaton: Automaton) -> list[int]:
    """Order of each letter on the states; 0 where it merges states."""
    result = []
    for row in automaton.transitions:
        power, order = row, 1
        if len(set(row.tolist())) < len(row):
            result.append(0)
            continue
        while (power != np.arange(len(row))).any():
            power, order = row[power], order + 1
        result.append(order)
    return result


def householder_bound(automaton: Automaton) -> tuple[int, dict[str, Any] | None]:
    bounds = [b for b in lower_bounds(automaton) if b["figure"] == "householders"]
    best = max(bounds, key=lambda b: int(b["at_least"]), default=None)
    return (0, None) if best is None else (int(best["at_least"]), best)


@given(st.one_of(permutation_automata(max_states=7), group_actions()))
@settings(deadline=None, max_examples=80)
def test_no_construction_is_below_a_bound(automaton: Automaton) -> None:
    bound, best = householder_bound(automaton)
    used = construct(automaton).householders
    assert used is not None
    assert bound <= used
    # a letter that is not the identity needs a factor, a letter of order 3 or more needs two
    assert bound >= max((min(order - 1, 2) for order in orders(automaton)), default=0)
    if best is not None:
        assert orders(automaton)[best["letter"]] > 1
        assert repr(automaton.letters[best["letter"]]) in best["reason"]


@given(automata(max_states=5))
@settings(deadline=None)
def test_letters_that_merge_states_are_left_out(automaton: Automaton) -> None:
    bound, best = householder_bound(automaton)
    if best is not None:
        assert orders(automaton)[best["letter"]] > 1
    assert bound >= max((min(order - 1, 2) for order in orders(automaton)), default=0)


@pytest.mark.parametrize(
    ("name", "bound"),
    [("parity", 1), ("mod:7", 2), ("mod:60", 2), ("S3", 2), ("S4", 2), ("A4", 2), ("A5", 2), ("dihedral:7", 2), ("S5[transpositions]", 1), ("A5[involutions]", 1), ("Z2^4", 1)],
)  # fmt: skip
def test_bounds_that_are_attained(name: str, bound: int) -> None:
    automaton = automaton_from_spec(name)
    assert householder_bound(automaton)[0] == bound == construct(automaton).householders


def test_no_bound_without_a_moving_letter() -> None:
    assert lower_bounds(automaton_from_spec("Z1")) == []
