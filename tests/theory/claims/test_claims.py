"""Every claim: its check gives what its record and `docs/claims.json` say, its example is real, its page is up to date."""

from __future__ import annotations

import doctest
import re
import time
from pathlib import Path

import pytest

from mirrormata.tests.project.claim_pages import ROOT, pages, read_statuses, recorded
from mirrormata.theory import claims as package
from mirrormata.theory._verdict import CONFIRMED, status_in_words
from mirrormata.theory.verifying._claim import FULL, QUICK
from mirrormata.theory.verifying._registry import load_claims
from mirrormata.theory.verifying._verify import verify_claims, verify_one

REGISTRY = load_claims()
IDS = list(REGISTRY.entries)
RECORDED = {row["claim"]: row for row in read_statuses()}

HANDBOOK = """
G.L1 G.T1 G.T2 own.T2tight PT.R1 PT.R2 own.R3 own.R4 G.P1.3 H.open-beta H.rank CK.S5 PD.N-1 S.star-free E.neutral
G.P1.1 G.P1.2 G.A3 G.T3 G.T4 KR G.T6 DP.P1 DP.T1 DP.T2 DP.L1 DP.L4 DP.L2 DP.L3 DP.T4 DP.T6 R7 DP.T7 DP.T8 H.A5inv CK.1 own.LMI own.chain own.window own.lookback own.blocks own.congruences own.ranks own.covers own.definite own.decay own.serial own.row-gates own.no-parity
G.S32 G.T3remark DP.C1 DP.B6 DP.eq3
"""
PRINTED = "G.T4 G.T3 G.S32 G.T3remark G.T1 G.T2 DP.T2 DP.T7 DP.C1 DP.T8 DP.B6 DP.eq3"


def test_the_registry_has_exactly_the_claims_of_the_handbook() -> None:
    assert set(IDS) == {*HANDBOOK.split(), *(f"{claim}.printed" for claim in PRINTED.split())}


@pytest.mark.parametrize("claim", IDS)
def test_a_fresh_run_agrees_with_the_record(claim: str) -> None:
    outcome = verify_one(REGISTRY[claim], QUICK)
    assert outcome.as_expected, outcome.error or outcome.verdict.to_json()
    assert outcome.verdict.claim == claim
    fresh, kept = recorded(outcome.verdict), RECORDED[claim]
    keys = ("status", "cases", "arithmetic")
    assert [fresh[key] for key in keys] == [kept[key] for key in keys], (
        "`python -m mirrormata.tests.project.claim_pages` records a fresh run"
    )


def test_no_record_is_left_over() -> None:
    assert list(RECORDED) == IDS


@pytest.mark.parametrize("claim", IDS)
def test_the_example_of_a_claim_is_real(claim: str) -> None:
    module = REGISTRY[claim].module
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    (example,) = [t for t in finder.find(module.verify, "verify", module, vars(module)) if t.examples]
    assert not runner.run(example).failed


def test_printed_claims_are_refuted_and_their_repairs_hold() -> None:
    for entry in REGISTRY:
        if entry.claim.printed:
            repaired = REGISTRY[entry.claim.id.removesuffix(".printed")].claim
            assert entry.claim.expected == "refuted", entry.claim.id
            assert repaired.expected in CONFIRMED, entry.claim.id
            assert repaired.id in entry.claim.uses, entry.claim.id
        else:
            assert not any(used.endswith(".printed") for used in entry.claim.uses), entry.claim.id


def test_no_page_of_a_claim_checked_on_cases_says_less_than_what_was_done() -> None:
    """Whoever reads `holds` reads on how many cases; of random instances the pages and the record say so."""
    for claim, row in RECORDED.items():
        page = (ROOT / "docs" / "claims" / f"{REGISTRY[claim].claim.file_stem}.md").read_text(
            encoding="utf-8"
        )
        words = status_in_words(row["status"], row["cases"])
        assert f"| status | {words} |" in page, claim
        assert (row["cases"] is not None) == (row["status"] in ("exhaustive", "supported")), claim
        assert row["status"] != "exhaustive" or row["set"], claim
        assert row["status"] != "supported" or "seed" in row, claim
        assert not re.search(r"\bholds \(|\(instances\)|\(exhaustive\)", page), claim


def test_the_pages_are_up_to_date() -> None:
    hint = "`python -m mirrormata.tests.project.claim_pages --pages` writes them"
    written = pages(REGISTRY, read_statuses())
    for name, text in written.items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, f"{name}: {hint}"
    found = {f"claims/{path.name}" for path in (ROOT / "docs" / "claims").glob("*.md")}
    assert found == {name for name in written if name.startswith("claims/")}, hint


def test_a_claim_is_one_file_with_its_proof() -> None:
    # a claim without a proof of its own has 250 lines at most; OWN.LMI with its proof has 450, more than any other
    for path in Path(package.__path__[0]).glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 500, path.name


@pytest.mark.long
def test_quick_effort_takes_about_a_minute_on_two_cores() -> None:
    """Less than 60 s where nothing else runs; other tests and their programs may take most of both cores."""
    begun = time.monotonic()
    outcomes = verify_claims(list(REGISTRY), QUICK, jobs=2)
    assert [o.claim.id for o in outcomes if not o.as_expected] == []
    assert time.monotonic() - begun < 240


@pytest.mark.timeout(1_800)  # so that it fails by its own bound, with what it found
@pytest.mark.long
@pytest.mark.exhaustive  # it takes both cores for eight minutes
def test_full_effort_takes_less_than_fifteen_minutes_on_two_cores() -> None:
    begun = time.monotonic()
    outcomes = verify_claims(list(REGISTRY), FULL, jobs=2)
    assert [(o.claim.id, o.verdict.line(), o.error) for o in outcomes if not o.as_expected] == []
    assert time.monotonic() - begun < 1_500  # 900 where nothing else runs
