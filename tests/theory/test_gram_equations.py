"""own.LMI: Gram matrices, the equations that exclude them, their replay, and agreement on all small automata."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.foundation._errors import LimitError
from mirrormata.tests.constructions.tables import construct_table
from mirrormata.theory.claims.own_lmi import gram_of, gram_violation, small_gram
from mirrormata.theory.planning._gram_equations import NoGram, no_gram


def proof_of(spec: str) -> tuple[NoGram, list[list[int]]]:
    automaton = automaton_from_spec(spec)
    proof = no_gram(automaton)
    assert proof is not None
    return proof, automaton.transitions.tolist()


@pytest.mark.parametrize("spec", ["tomita:3", "tomita:4", "tomita:7", "even_pairs", "T3", "T4"])
def test_proofs_replay_and_no_changed_leaf_does(spec: str) -> None:
    proof, maps = proof_of(spec)
    assert proof.replay(maps)
    first, *rest = proof.equations
    q, r = proof.pair
    changed = [
        replace(proof, scale=proof.scale + 1),
        replace(proof, scale=0),
        replace(proof, pair=(q, q)),
        replace(proof, pair=(q, next(s for s in range(len(maps[0])) if s not in (q, r)))),
        replace(proof, equations=tuple(rest)),
        replace(proof, equations=(replace(first, times=-first.times), *rest)),
        replace(proof, equations=(replace(first, x=(first.x[0] + 1, *first.x[1:])), *rest)),
        replace(proof, equations=(replace(first, y=(first.y[0] + 1, *first.y[1:])), *rest)),
    ]
    assert not any(other.replay(maps) for other in changed)
    words = [replace(proof, equations=(replace(first, after=(x,)), *rest)) for x in range(len(maps))]
    assert not all(other.replay(maps) for other in words)


def test_a_proof_holds_for_its_automaton_alone() -> None:
    proof, maps = proof_of("tomita:4")
    outcomes = set()
    for x, q, target in itertools.product(range(len(maps)), range(len(maps[0])), range(len(maps[0]))):
        other = [list(row) for row in maps]
        other[x][q] = target
        same = other == maps
        if same:
            assert proof.replay(other)
        outcomes.add((same, proof.replay(other)))
    assert (False, False) in outcomes


def test_gram_matrices_of_constructions() -> None:
    for spec in ("mod:5", "gridworld:4", "dyck1:3", "starladder:abab", "tomita:5"):
        automaton = automaton_from_spec(spec)
        G = gram_of(construct_table(automaton, "own.LMI"))
        assert gram_violation(G, automaton.transitions) is None
        assert no_gram(automaton) is None


def test_what_is_wrong_with_a_gram_matrix_is_said() -> None:
    cycle = np.array([[1, 2, 0]])
    flat = ((0, 0, 0), (0, 1, 2), (0, 2, 4))
    assert gram_violation(flat, cycle) == "letter 0 lengthens a difference"
    assert gram_violation(((1, 1, 1),) * 3, cycle) == "states 0 and 1 are at one point"
    assert gram_violation(((0, 0, 0), (0, 1, 2), (0, 2, 1)), cycle) == (
        "not positive semidefinite on vectors of sum zero"
    )
    assert gram_violation(((0, 1), (0, 0)), np.array([[0, 1]])) == "not a symmetric 2 × 2 matrix"


def test_all_pairs_of_maps_of_three_states_are_decided() -> None:
    maps = list(itertools.product(range(3), repeat=3))
    counts = [0, 0]
    for f, g in itertools.combinations_with_replacement(maps, 2):
        table = np.array([f, g])
        automaton = Automaton((0, 1, 2), (0, 1), table, 0, object_array(range(3)), keeps_points=True)
        proof, found = no_gram(automaton), small_gram(table, 2)
        assert (proof is None) != (found is None), (f, g)
        counts[found is None] += 1
    assert counts == [246, 132]


def test_distances_are_the_given_ones() -> None:
    assert small_gram(np.array([[1, 2, 0]]), 3) == ((0, 0, 0), (0, 1, Fraction(1, 2)), (0, Fraction(1, 2), 1))
    assert small_gram(np.array([[1, 2, 0], [1, 0, 2], [0, 0, 2]]), 2) is None


def test_limit() -> None:
    with pytest.raises(LimitError, match="raise max_words"):
        no_gram(automaton_from_spec("T4"), max_words=1)
