"""Numbers of a comparison that are found on a short way, against their definitions; and how far it tells that it is."""

from __future__ import annotations

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._householder import product_of
from mirrormata.constructions.algebra.groups._actions import transitive_action
from mirrormata.constructions.theorems._one_layer import head_candidates
from mirrormata.models.comparison._compare import compare
from mirrormata.models.comparison._procrustes import _gram
from mirrormata.models.comparison._representations import TransitionGroup, character_table, representation_of
from mirrormata.models.comparison._snap import _letters, offers_of
from mirrormata.models.comparison._sources import learned_from_lrnn, learned_from_matrices
from mirrormata.models.comparison._states import Sampling
from mirrormata.theory.arithmetic._rounding import round_number


def test_the_gram_matrix_is_that_of_the_map_written_out() -> None:
    draw = np.random.default_rng(0)
    C, A = draw.standard_normal((2, 5, 3, 3))
    eye = np.eye(3)
    maps = [np.kron(c, eye) - np.kron(eye, a.T) for c, a in zip(C, A, strict=True)]
    assert np.allclose(_gram(C, A), sum(M.T @ M for M in maps), atol=1e-12)


@pytest.mark.parametrize("spec", ["S4", "A5", "dihedral:5"])
def test_letters_of_offers_are_the_products_of_their_factors(spec: str) -> None:
    for candidate in head_candidates(transitive_action(automaton_from_spec(spec))):
        plan = candidate.plan(tuple(range(candidate.mark_count)))
        products = [product_of(factors, plan.dim) for factors in plan.factors()]
        wanted = [[[round_number(x, "fp64") for x in row] for row in A] for A in products]
        assert np.array_equal(_letters(plan), wanted)


def test_offers_of_too_many_dimensions_are_left_out() -> None:
    automaton = automaton_from_spec("S4")
    table = character_table(TransitionGroup.of(automaton))
    candidates = [c for c in head_candidates(transitive_action(automaton)) if not c.lifted]
    every = offers_of(candidates, table, 1_000)
    few = offers_of(candidates, table, 3)
    assert [o.candidate for o in few] == [o.candidate for o in every if o.rank <= 3]
    assert 0 < len(few) < len(every)


def test_the_homomorphism_error_is_the_largest_of_all_pairs() -> None:
    found = construct(automaton_from_spec("S4"))
    assert isinstance(found, LRNN)
    (head,) = learned_from_lrnn(found).heads
    noise = 0.05 * np.random.default_rng(1).standard_normal(head.A.shape)
    (noisy,) = learned_from_matrices(head.A + noise, found.automaton, H0=head.H0).heads
    group = TransitionGroup.of(found.automaton)
    U = np.linalg.qr(np.random.default_rng(2).standard_normal((head.dim, 2)))[0]
    made = group.represent_elements(noisy.A)
    errors = np.array(
        [
            [np.linalg.norm((made[h] @ made[g] - made[group.table[g, h]]) @ U, 2) for h in range(24)]
            for g in range(24)
        ]
    )
    r = representation_of(noisy, U, character_table(group))
    assert r.homomorphism_error == pytest.approx(errors.max(), rel=1e-12)
    g, h = np.unravel_index(errors.argmax(), errors.shape)
    assert r.worst == tuple(" ".join(map(str, group.monoid.word(int(x)))) for x in (g, h))


def test_progress_grows_up_to_one() -> None:
    found = construct(automaton_from_spec("S3"))
    assert isinstance(found, LRNN)
    told: list[float] = []
    compare(learned_from_lrnn(found), sampling=Sampling(8, 32, 16), extract=(), progress=told.append)
    assert told == sorted(told)
    assert 0 < told[0] < 0.1
    assert told[-1] == 1
