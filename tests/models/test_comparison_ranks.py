"""rank(A - I) on the subspace of the states, beside what H.rank and G.T3 predict, on constructed models and on a trained one."""

from __future__ import annotations

import numpy as np
import pytest

from mirrormata import automaton_from_spec, compare, construct
from mirrormata.constructions._lrnn import table_of
from mirrormata.constructions.algebra.groups._permutations import cycle_counts
from mirrormata.models import Comparison, Sampling, from_construction
from mirrormata.models.learned._learned import Factors, LearnedHead
from mirrormata.models.learned._model import learned_from_model
from mirrormata.tests.conftest import ROOT

QUICK = Sampling(words=64, length=64, fit=32)


def compare_built(spec: str, theorem: str | None) -> Comparison:
    lrnn = table_of(construct(spec, theorem=theorem, max_layers=1), "a table is needed")
    return compare(
        learned_from_model(from_construction(lrnn), lrnn.automaton), lrnn, sampling=QUICK, extract=()
    )


def tell_ranks(c: Comparison) -> dict[str, list[tuple[int, int]]]:
    found = {}
    for h in c.heads:
        if h.carries_states:
            assert h.ranks is not None
            measured = [f.reflection_rank for f in h.facts]
            found[h.head.name] = list(zip(measured, h.ranks.representation, strict=True))
    return found


@pytest.mark.parametrize("spec", ["parity", "mod:5", "S3", "S4", "A5", "dihedral:5", "Q8", "Z2^4"])
def test_a_construction_moves_what_its_representation_asks_for(spec: str) -> None:
    """H.rank is attained: what is measured on U is rank(ρ(x) - I), which characters alone give."""
    for pairs in tell_ranks(compare_built(spec, None)).values():
        assert all(measured == predicted for measured, predicted in pairs)


def test_permutations_need_n_less_cycles() -> None:
    """S_5 by G.T3 on five points: the three figures agree, and are what the letters' own cycles say."""
    c = compare_built("S5[transpositions]", "G.T3")
    automaton = automaton_from_spec("S5[transpositions]")
    carrying = [h for h in c.heads if h.carries_states]
    assert carrying
    for h in carrying:
        assert h.ranks is not None
        assert (h.ranks.points, set(h.ranks.swaps)) == (5, {1, 0} if _has_identity(automaton) else {1})
        assert [f.reflection_rank for f in h.facts] == list(h.ranks.swaps) == list(h.ranks.representation)


def test_the_cube_is_cheaper_than_permutations_of_four_points() -> None:
    """S_4: two reflections rotate the cube for every letter; a cycle of four points needs three swaps, a swap only one."""
    (h,) = (h for h in compare_built("S4", "DP.T4").heads if h.carries_states)
    assert h.ranks is not None
    letters = [f.letter for f in h.facts]
    four = np.array([[int(i) for i in text.strip("()").split(",")] for text in letters])
    assert h.ranks.points == 4
    assert list(h.ranks.swaps) == (4 - cycle_counts(four)).tolist()
    assert list(h.ranks.representation) == [0 if s == 0 else 2 for s in h.ranks.swaps]
    assert [f.reflection_rank for f in h.facts] == list(h.ranks.representation)


def test_dimensions_that_no_state_uses_do_not_count() -> None:
    """A reflection of a dimension without states is of rank 1 on all dimensions, and 0 on those of the states."""
    from mirrormata.models.comparison._spectra import letter_facts

    A = np.diag([-1.0, 1.0, 1.0])[None]
    factors = Factors(np.array([[2.0]]), np.array([[[1.0, 0.0, 0.0]]]), np.ones(1))
    head = LearnedHead("head 1.1", A, np.zeros((1, 3, 1)), np.zeros((3, 1)), factors)
    (facts,) = letter_facts(head, ("x",), 0.01, 8, np.eye(3)[:, 1:])
    assert (facts.reflection_rank, facts.full_rank, facts.moved) == (0, 1, (0.0, 0.0))
    (facts,) = letter_facts(head, ("x",), 0.01, 8, np.eye(3)[:, :0])
    assert (facts.reflection_rank, facts.full_rank, facts.moved) == (0, 1, ())
    (facts,) = letter_facts(head, ("x",), 0.01, 8)
    assert (facts.reflection_rank, facts.full_rank) == (1, 1)


def test_a_trained_model_of_s4() -> None:
    """Head 1.11 rotates the cube, head 1.3 has the sign; on all dimensions both have rank 2 for nearly every letter."""
    model = f"{ROOT}/examples/models/s4"
    c = compare(model, "S4", sampling=Sampling(words=16, length=64, fit=64), extract=())
    pairs = tell_ranks(c)
    assert set(pairs) == {"head 1.3", "head 1.11"}
    assert all(measured == predicted for each in pairs.values() for measured, predicted in each)
    document = c.to_json()
    assert document["reflection_rank"]["head 1.3"] == [p for _, p in pairs["head 1.3"]]
    assert document["predicted_rank"]["head 1.3"]["points"] == 2
    assert set(document["predicted_rank"]) == set(document["full_rank"])
    assert sorted(set(document["full_rank"]["head 1.3"])) == [2]


def _has_identity(automaton: object) -> bool:
    table = automaton.transitions  # type: ignore[attr-defined]
    return bool((table == np.arange(table.shape[1])).all(axis=1).any())
