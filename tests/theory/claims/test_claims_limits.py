"""Claims about impossibility on a user's own model, written witnesses replayed, and further values of a verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.theory._verdict import Verdict
from mirrormata.theory.claims import e_neutral, g_t1, g_t2, h_open_beta, h_rank, s_star_free
from mirrormata.theory.claims._counters import (
    counts,
    delta_operations,
    integer_rounding,
    long_key,
    plain_witness,
    read_witness,
    two_projections,
)
from mirrormata.theory.claims._parts import further
from mirrormata.theory.proofs._npz_model import NpzModel
from mirrormata.theory.verifying._claim import Subject


def subject(spec: str, **options: Any) -> Subject:
    lrnn = construct(spec, **options)
    assert isinstance(lrnn, LRNN)
    return Subject(spec, lrnn.automaton, lrnn=lrnn)


def matrices(*letters: list[list[float]]) -> Subject:
    A = np.array(letters)
    codes = np.array([[[1.0], [0.0]], [[0.0], [1.0]]])
    decode = np.repeat([[0], [1]], len(A), axis=1)
    return Subject("npz", npz=NpzModel(A, np.zeros((len(A), 2, 1)), codes[0], codes, decode))


@pytest.mark.parametrize(
    ("spec", "outside", "nonreal"), [("parity", 1, 0), ("mod:5", 1, 1), ("flipflop", 0, 0)]
)
def test_eigenvalues_of_the_letters(spec: str, outside: int, nonreal: int) -> None:
    first, second = g_t1.applies(subject(spec)), g_t2.applies(subject(spec))
    assert first is not None
    assert second is not None
    assert (first.status, first.computed, second.status, second.computed) == (
        "proved",
        outside,
        "proved",
        nonreal,
    )


def test_an_automaton_that_turns_needs_more_than_the_matrices_have() -> None:
    half = matrices([[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.0], [0.0, 0.25]])
    told = Subject("half", automaton_from_spec("parity"), npz=half.npz)
    verdict = g_t1.applies(told)
    assert verdict is not None
    assert (verdict.status, verdict.evidence["witness"]["letter"]) == ("refuted", "1")
    assert g_t1.applies(Subject("alone", automaton_from_spec("parity"))) is None


def test_factors_and_reflections_of_a_construction() -> None:
    rank, full = h_rank.applies(subject("S4")), h_open_beta.applies(subject("S4"))
    assert rank is not None
    assert full is not None
    assert (rank.status, rank.computed, rank.evidence["ranks_by_head"]) == ("proved", 0, [2])
    assert full.status == "proved"
    assert full.computed > 0
    assert h_rank.applies(subject("T3", theorem="G.A3")) is None


@pytest.mark.parametrize(
    ("spec", "answer"),
    [("dyck1:2", "followed on all words"), ("T3", "not followed"), ("parity", "not followed")],
)
def test_aperiodic_or_not(spec: str, answer: str) -> None:
    verdict = s_star_free.applies(Subject(spec, automaton_from_spec(spec)))
    assert verdict is not None
    assert (verdict.status, verdict.computed) == ("proved", answer)


def test_a_large_monoid_is_undecided() -> None:
    verdict = s_star_free.applies(Subject("r", automaton_from_spec("random:states=12,letters=3,seed=1")))
    assert verdict is not None
    assert verdict.status == "unknown"
    assert "more than 100,000 elements" in verdict.evidence["says"]


def test_neutral_letters_of_matrices() -> None:
    verdict = e_neutral.applies(matrices([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]))
    assert verdict is not None
    assert [x["codes_kept"] for x in verdict.evidence["letters"]] == [2, 0]
    assert verdict.evidence["letters"][1]["defect_between_all"] == 2


@pytest.mark.parametrize(
    "witness", [integer_rounding(), two_projections(3), delta_operations(2)], ids=lambda w: w.claim
)
def test_written_witnesses_are_replayed(witness: object) -> None:
    written = plain_witness(witness)  # type: ignore[arg-type]
    assert plain_witness(read_witness(written)) == written
    assert counts(written, written["period"])
    weights = {**written["weights"], "start": ["1", *written["weights"]["start"][1:]]}
    with pytest.raises(AssertionError, match="in place of"):
        counts({**written, "weights": weights}, written["period"])


def test_a_negative_eigenvalue_is_noticed() -> None:
    assert not counts(plain_witness(long_key()), 2)


def test_further_values_must_agree() -> None:
    verdict = Verdict("x", "proved", {"a": 1}, "exact")
    assert further(verdict, {"b": (2, 2)}).status == "proved"
    wrong = further(verdict, {"b": (2, 2), "c": (3, 4)})
    assert (wrong.status, list(wrong.evidence["witness"])) == ("refuted", ["c"])
