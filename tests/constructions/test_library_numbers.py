"""Every number of the library's table, against a brute-force closure that shares nothing with the package."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.library._names import automaton_by_name, library
from mirrormata.tests.constructions.library_numbers import LIBRARY_NUMBERS, LibraryNumbers

Map = tuple[int, ...]
SMALL = 60_000  # states times letters for which the monoid is listed
# words that act as a permutation of order > 1 on some states, where the monoid is too large to list
PERIODIC_WORDS = {
    "mod_arith:3,1": ["+", "1"],
    "chess": ["a1a2", "b1a1", "c1b1", "a1c1"],  # empties a1, then exchanges b1 and c1 through it
}


def monoid(automaton: Automaton, limit: int = 10_000) -> list[Map]:
    letters: list[Map] = [tuple(row) for row in automaton.transitions.tolist()]
    identity = tuple(range(len(automaton.states)))
    seen: dict[Map, None] = {identity: None}
    found = [identity]
    for element in found:
        for letter in letters:
            product = tuple(letter[q] for q in element)
            if product not in seen:
                assert len(found) < limit
                seen[product] = None
                found.append(product)
    return found


def is_aperiodic(element: Map) -> bool:
    seen: dict[Map, int] = {}
    power = tuple(range(len(element)))
    while power not in seen:
        seen[power] = len(seen)
        power = tuple(element[q] for q in power)
    return len(seen) - seen[power] == 1


def is_small(row: LibraryNumbers) -> bool:
    return row.states * row.letters <= SMALL and row.name not in PERIODIC_WORDS


@pytest.mark.parametrize("row", LIBRARY_NUMBERS, ids=lambda row: row.name)
def test_states_letters_and_kind(row: LibraryNumbers) -> None:
    automaton = automaton_by_name(row.name)
    assert automaton.name == row.name
    assert (len(automaton.states), len(automaton.letters)) == (row.states, row.letters)
    assert row.is_group == all(sorted(r) == list(range(row.states)) for r in automaton.transitions.tolist())
    assert sorted(automaton.reachable()) == list(range(row.states))


@pytest.mark.parametrize("row", [row for row in LIBRARY_NUMBERS if is_small(row)], ids=lambda row: row.name)
def test_monoid(row: LibraryNumbers) -> None:
    elements = monoid(automaton_by_name(row.name))
    assert len(elements) == row.monoid
    assert all(is_aperiodic(element) for element in elements) == row.aperiodic


@pytest.mark.parametrize("name", list(PERIODIC_WORDS))
def test_large_monoids_are_not_aperiodic(name: str) -> None:
    automaton = automaton_by_name(name)
    action = np.arange(len(automaton.states))
    for x in automaton.word(PERIODIC_WORDS[name]):
        action = automaton.transitions[x][action]
    assert not is_aperiodic(tuple(action.tolist()))
    (row,) = (row for row in LIBRARY_NUMBERS if row.name == name)
    assert (row.monoid, row.aperiodic) == (None, False)


@pytest.mark.parametrize("row", [row for row in LIBRARY_NUMBERS if row.name[0] == "S" and not is_small(row)])
def test_large_symmetric_groups_act_regularly(row: LibraryNumbers) -> None:
    # letters that commute with a transitive set of right multiplications: as many maps as states
    automaton = automaton_by_name(row.name)
    images = np.array(automaton.states)
    n = images.shape[1]
    index = {state: i for i, state in enumerate(automaton.states)}
    for g in (np.roll(np.arange(n), 1), np.array([1, 0, *range(2, n)])):
        right = np.array([index[tuple(y)] for y in images[:, g].tolist()])
        assert (automaton.transitions[:, right] == right[automaton.transitions]).all()
    assert row.monoid == row.states == math.factorial(n)


def test_every_row_of_the_library_has_numbers() -> None:
    names = [row.name for row in LIBRARY_NUMBERS]
    assert len(set(names)) == len(names) >= 45
    assert [entry.example for entry in library() if entry.example not in names] == []
