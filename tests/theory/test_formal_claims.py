"""Claims that are proved in Coq: each theorem that a claim names is declared in the library and listed with what it says."""

from __future__ import annotations

import re

import pytest

from mirrormata.tests.project.generated_formal import FORMAL, theorems, uses_reals
from mirrormata.theory._verdict import status_in_words
from mirrormata.theory.planning._bounds import bounds
from mirrormata.theory.planning._headline import list_strongest
from mirrormata.theory.verifying._claim import Claim
from mirrormata.theory.verifying._registry import load_claims, say_standing

CLAIMS = [entry.claim for entry in load_claims() if entry.claim.formal]
NAMES = sorted({name for claim in CLAIMS for name in claim.formal_names})


def test_at_least_twenty_five_claims_are_proved_in_coq() -> None:
    assert len(CLAIMS) >= 25


def test_a_claim_is_proved_in_coq_in_full_in_part_or_not() -> None:
    assert Claim("own.x", "title", "proved").coq == "–"
    assert Claim("own.x", "title", "proved", formal=("Chain.chain_valid, for the start",)).coq == "part"
    both = ("Chain.chain_valid, for the start", "Chain.chain_tracks")
    assert Claim("own.x", "title", "supported", formal=both).standing == "supported by instances; Coq: yes"


def test_the_readme_counts_them() -> None:
    page = (FORMAL.parents[1] / "README.md").read_text(encoding="utf-8")
    assert f"{len(CLAIMS)} of them, and a checker" in page


def test_plans_say_of_a_bound_what_the_list_of_claims_says() -> None:
    registry = load_claims()
    for spec in ("S5", "mod:7", "tomita:4"):
        for said, bound in list_strongest(bounds(spec)):
            claim = registry[bound.reason].claim
            assert said.endswith(f"({bound.reason}: {claim.standing})")
            assert claim.standing.startswith(status_in_words(claim.expected))
    assert say_standing("my.bound") == "my.bound"


@pytest.mark.parametrize("name", sorted({*NAMES, *(name for name, _ in theorems())}))
def test_a_theorem_is_declared_in_its_file(name: str) -> None:
    file, _, theorem = name.partition(".")
    text = re.sub(r"\(\*.*?\*\)", "", (FORMAL / "coq" / f"{file}.v").read_text(encoding="utf-8"), flags=re.S)
    assert re.search(rf"^(Theorem|Lemma) {theorem}\b", text, re.M)


def test_the_theorems_of_claims_are_listed() -> None:
    """The assumptions of what is listed are printed and tested, so every theorem of a claim must be listed."""
    listed = [name for name, _ in theorems()]
    assert len(listed) == len(set(listed))
    assert set(NAMES) <= set(listed)


def test_every_file_is_compiled_once_and_after_those_that_it_requires() -> None:
    files = [
        line for line in (FORMAL / "coq" / "_CoqProject").read_text().splitlines() if line.endswith(".v")
    ]
    assert len(files) == len(set(files))
    assert {*files, "Extraction.v"} >= {file.name for file in (FORMAL / "coq").glob("*.v")}


def test_the_integer_and_chain_theorems_need_no_real_numbers() -> None:
    assert not any(
        uses_reals(file) for file in ("ChainLRNN", "WindowLRNN", "Householder", "Counting", "Delay")
    )


def test_a_claim_shows_its_theorems() -> None:
    claim = Claim(
        "own.x", "title", "proved", formal=("Chain.chain_tracks", "Chain.chain_valid, for the start")
    )
    assert claim.formal_names == ["Chain.chain_tracks", "Chain.chain_valid"]
    assert claim.proved_in_coq == [
        "chain_tracks (theory/formal/coq/Chain.v)",
        "chain_valid (theory/formal/coq/Chain.v), for the start",
    ]


@pytest.mark.parametrize(
    "name", ["chain_tracks", "chain.chain_tracks", "Chain.chain tracks", "Chain.chain_tracks for all", ""]
)
def test_a_theorem_is_written_in_one_way(name: str) -> None:
    with pytest.raises(ValueError, match=r"a theorem in Coq is FILE.NAME"):
        Claim("own.x", "title", "proved", formal=(name,))
