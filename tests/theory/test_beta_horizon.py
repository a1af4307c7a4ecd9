"""Horizons for β < 2: a certified length, never beyond the first failure; and the bound behind it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.foundation._errors import InputError
from mirrormata.theory._horizon import beta_horizons, first_failure, horizons, largest_beta, scale_betas
from mirrormata.theory.proofs._prove import prove
from mirrormata.theory.running._stepper import LRNNStepper
from mirrormata.theory.running._words import random_words


def test_the_largest_beta_of_each_dtype() -> None:
    assert largest_beta("bf16") == Fraction("1.9921875")
    assert largest_beta("fp8_e4m3") == Fraction("1.875")
    assert [2 - largest_beta(d) for d in ("fp16", "fp32")] == [Fraction(1, 2**10), Fraction(1, 2**23)]


@pytest.mark.parametrize("spec", ["S4", "mod:5", pytest.param("A5", marks=pytest.mark.long)])
def test_certified_lengths_against_first_failures(spec: str) -> None:
    lrnn = construct(spec)
    for size in (largest_beta("fp8_e4m3"), Fraction(31, 16), largest_beta("bf16")):
        found = beta_horizons(lrnn, size)
        for dtype, name in (("exact", "fp64"), ("bf16", "bf16"), ("fp8_e4m3", "fp8_e4m3")):
            failed = first_failure(lrnn, size, name, 100, 300)
            limit = found[dtype]
            assert limit is not None
            assert failed is None or failed > limit
    assert first_failure(lrnn, largest_beta("fp8_e4m3"), "fp64", 100, 300) is not None
    lengths = [
        beta_horizons(lrnn, largest_beta(d))["exact"] or 0 for d in ("fp8_e4m3", "bf16", "fp16", "fp32")
    ]
    assert lengths == sorted(lengths)
    assert lengths[-1] > 10**6 > 1000 > lengths[1] > 20


@pytest.mark.parametrize(("dtype", "size"), [("fp8_e4m3", "15/8"), ("bf16", "15/8"), ("bf16", "1.9921875")])
def test_shortest_failing_words_are_longer(dtype: str, size: str) -> None:
    lrnn = construct("mod:5")
    proof = prove(
        scale_betas(lrnn, Fraction(size)),
        lrnn.automaton,
        f"per_step:{dtype}",
        method="states",
        max_states=20_000,
    )
    limit = beta_horizons(lrnn, Fraction(size))[dtype]
    assert limit is not None
    assert proof.correct_up_to is not None
    assert proof.verdict == "counterexample"
    assert limit <= proof.correct_up_to


def test_states_drift_no_faster_than_the_bound() -> None:
    lrnn, size, words, length = construct("S4"), Fraction(31, 16), 50, 30
    exact = beta_horizons(lrnn, size)["exact"]
    assert exact is not None
    margin = min(
        np.linalg.norm(np.subtract(*pair)) / 2
        for codes in [[_dense(c) for c in lrnn.all_heads[0].codes]]
        for i, a in enumerate(codes)
        for pair in ((a, b) for b in codes[:i])
    )
    tokens = random_words(lrnn, words, length, 0)
    right, shrunk = LRNNStepper(lrnn, "fp64"), LRNNStepper(scale_betas(lrnn, size), "fp64")
    a, b = right.initial(words), shrunk.initial(words)
    for t in range(length):
        a, b = right.step(a, tokens[:, t]), shrunk.step(b, tokens[:, t])
        drift = np.sqrt(((np.asarray(a[0]) - np.asarray(b[0])) ** 2).reshape(words, -1).sum(axis=1))
        assert drift.max() <= (t + 1) * margin / exact
    assert drift.max() > 0


def test_nothing_is_lost_at_two() -> None:
    lrnn = construct("mod:5")
    found = beta_horizons(lrnn, Fraction(2))
    assert found.pop("exact") is None
    assert found == horizons(lrnn)


def test_other_letters_are_refused() -> None:
    with pytest.raises(InputError, match="products of GH factors"):
        beta_horizons(construct("flipflop"), largest_beta("bf16"))


def _dense(code: tuple[tuple[int, int, object], ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    result = np.zeros((3, 3))
    for i, j, x in code:
        result[i, j] = float(x)  # type: ignore[arg-type]
    return result
