"""Results in an `if`: true only where they are positive findings; those that are neither true nor false refuse."""

from __future__ import annotations

from typing import Any

import pytest

from mirrormata import check, construct, prove, run
from mirrormata.constructions import as_automaton, cascade, check_emulation, prove_emulation
from mirrormata.theory import (
    NormVerdict,
    Verdict,
    check_base,
    exactness_report,
    norm_at_most_one,
    refute,
    verify_claims,
)

LRNN = construct("mod:2")


def test_a_check_is_true_where_the_certificate_is_valid() -> None:
    assert check(LRNN)
    assert not check({})
    assert not check(LRNN, "mod:3")  # valid, but about another automaton


def test_a_proof_is_true_where_it_is_one() -> None:
    right, wrong = prove(LRNN, "mod:2"), prove(construct("mod:3"), "mod:3", "per_step:fp8_e5m2")
    unknown = prove(LRNN, "mod:2", method="states", max_states=1)
    assert (right.verdict, unknown.verdict) == ("equivalent", "unknown")
    assert right
    assert not unknown
    assert bool(wrong) == (wrong.verdict == "equivalent")


def test_reports_with_a_verdict_follow_it() -> None:
    assert norm_at_most_one([[1]])
    assert not norm_at_most_one([[2]])
    assert not NormVerdict(False)
    report = exactness_report(LRNN, mode="recurrent", dtype="bf16")
    assert bool(report) == report.holds
    steps = cascade(as_automaton("T3"))
    assert prove_emulation(steps)
    outcome = next(iter(check_base()))
    assert bool(outcome) == outcome.sound


@pytest.mark.parametrize(
    ("result", "attribute"),
    [
        (lambda: run(LRNN, [0]), "errors"),
        (lambda: check_emulation(cascade(as_automaton("T3"))), "failure"),
        (lambda: refute(construct("T3")), "word"),
        (lambda: verify_claims(["G.P1.1"], jobs=1)[0], "as_expected"),
        (lambda: Verdict("X", "unknown", {}, "exact"), "status"),
    ],
)
def test_what_is_neither_refuses(result: Any, attribute: str) -> None:
    found = result()
    with pytest.raises(TypeError, match=attribute):
        bool(found)
