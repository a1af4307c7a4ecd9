"""The sentences that results begin with say what the figures say, for every kind of realisation."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mirrormata import check, construct, prove
from mirrormata.constructions._realisation import all_kinds
from mirrormata.theory.planning._bounds import bounds, reached_bounds
from mirrormata.theory.planning._headline import (
    describe_check,
    describe_construction,
    list_strongest,
    say_standing,
    write_headline,
)
from mirrormata.theory.planning._plan import describe_plan, plan

CASES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("S5", {}, "S5: one layer, 4 reflections a token, dimension 5."),
    ("parity", {}, "parity: one layer, 1 reflection a token, dimension 1."),
    ("A4_x_Z5", {}, "A4_x_Z5: one layer of 2 heads, up to 2 reflections a token in each head, dimension up to 3."),
    ("gridworld:3", {}, "gridworld:3: one layer, 2 Householder factors a token, dimension 2."),
    ("mod:3", {"theorem": "G.A3"}, "mod:3: one layer, a full matrix a token, dimension 3."),
    ("flipflop", {"theorem": "DP.T2"}, "flipflop: one layer, no Householder factor, dimension 1."),
    ("tomita:4", {"theorem": "G.T4"}, "tomita:4: 3 layers, up to 2 Householder factors a token in each layer, dimension up to 2."),
    ("T3", {"theorem": "own.chain"}, "T3: 2 layers, up to 6 Householder factors a token in each layer, dimension up to 6."),
    ("S3", {"theorem": "DP.T1"}, "S3: 4 layers, up to 1 Householder factor a token in each layer, dimension up to 4."),
    ("tomita:4", {"theorem": "own.blocks"}, "tomita:4: 3 layers, up to 2 Householder factors a token in each layer, dimension up to 4."),
    ("regex:(a|b)*abb", {"theorem": "own.decay"}, "regex:(a|b)*abb: one layer, "),
)  # fmt: skip


@pytest.mark.parametrize(("spec", "options", "said"), CASES)
def test_the_sizes_are_those_of_the_figures(spec: str, options: dict[str, Any], said: str) -> None:
    found = construct(spec, **options)
    text = write_headline(found)
    assert text.startswith(said)
    f = found.figures
    sizes = describe_construction(found)
    assert sizes.startswith("one layer" if f.layers == 1 else f"{f.layers} layers")
    assert sizes.endswith(f" {f.dim}")
    if f.householders:
        assert f" {f.householders} " in sizes
    assert (f"of {f.heads} heads" in sizes or f"of up to {f.heads} heads" in sizes) == (f.heads > 1)


def test_every_kind_of_realisation_is_among_the_cases() -> None:
    kinds = {construct(spec, **options).kind for spec, options, _ in CASES}
    assert kinds == set(all_kinds())


@pytest.mark.parametrize(("spec", "options", "said"), CASES)
def test_bounds_and_numbers_are_not_overstated(spec: str, options: dict[str, Any], said: str) -> None:
    found = construct(spec, **options)
    text, reached = write_headline(found), reached_bounds(found)
    named = set(re.findall(r"\(([A-Za-z]+\.[^)]+)\)", text.removeprefix(f"{found.automaton.name}: ")))
    assert named == {b.reason for b in reached if b.figure != "beta"}
    for bound in reached:
        if bound.figure in ("householders", "state_size"):
            least = "" if bound.optimal else "at least "
            assert f"needs {least}{bound.at_least}" in text
    assert ("integers" in text) == (found.exactness == "integer")
    assert ("every float format is exact at any length" in text) == (
        found.exactness == "integer" and len(found.formats) == 6
    )
    assert ("can exceed 1" in text) == (found.norm == "unbounded")


def test_the_headline_of_the_largest_example() -> None:
    assert write_headline(construct("S5")) == (
        "S5: one layer, 4 reflections a token, dimension 5. With norm at most 1, gates in [0, 1] and finitely many states, one layer "
        "needs 4 (CK.S5). Its numbers are integers: every float format is exact at any length."
    )


def test_a_bound_that_is_not_reached_says_at_least() -> None:
    found = construct("S3", theorem="G.T3", exactness="integer")
    text = write_headline(found, [b for b in reached_bounds(found) if b.figure == "householders"])
    assert "one layer needs 2 (H.rank)" in text
    bigger = construct("S5[up_to_3]")
    for bound in reached_bounds(bigger):
        if bound.figure == "householders" and not bound.optimal:
            assert f"needs at least {bound.at_least}" in write_headline(bigger)


def test_a_valid_certificate_is_called_what_it_calls_itself() -> None:
    found = construct("mod:5")
    assert describe_check(check(found)).startswith(
        "valid: the linear RNN equals the automaton in the certificate (called mod:5) "
    )
    document = found.certificate()
    document["labels"]["automaton"] = "S5"
    assert "(called S5)" in describe_check(check(document))
    document["decode"][0] = [4, 4]
    assert describe_check(check(document)).startswith("invalid: ")
    bound = bounds("S3")[0].certificate()
    assert describe_check(check(bound)).startswith("valid: 6 states, 6 letters: householders >= 2")


def test_of_rounded_numbers_the_arithmetic_is_named() -> None:
    from mirrormata import full_certificate

    text = describe_check(check(full_certificate(construct("regex:(a|b)*abb", theorem="own.decay"))))
    assert text.startswith("valid: ")
    assert "on all words:" not in text


def test_a_proof_begins_with_its_verdict() -> None:
    assert (
        prove(construct("parity"), "parity").headline
        == "The model equals parity on all words, in per_step:bf16."
    )
    assert prove(construct("parity"), "mod:3", "exact").headline == (
        "The model differs from mod:3, in exact numbers: after the 2 letters 1 1 it says 0, and 2 is right."
    )
    unknown = prove(construct("S4"), "S4", "per_op:fp32", max_states=3, method="states")
    assert unknown.verdict == "unknown"
    assert unknown.headline.startswith("It is not known whether the model equals S4 on all words")


def test_a_plan_begins_with_what_counts() -> None:
    made = plan("mod:3", max_layers=2)
    first = next(offer.found for offer in made.offers if not offer.by_request)
    assert describe_plan(made) == (
        f"mod:3: {len(made.offers)} constructions, {sum(o.pareto for o in made.offers)} of which no other one beats. "
        f"Chosen for fewest layers, then fewest factors: {first.theorem}, {describe_construction(first)}."
    )
    strongest = list_strongest(made.bounds)
    assert [b.figure for _, b in strongest] == list(dict.fromkeys(b.figure for b in made.bounds))
    assert all(f"({say_standing(b.reason)})" in text for text, b in strongest)
    best = {b.figure: b.at_least for _, b in list_strongest(bounds("S5"))}
    assert best["householders"] == 4
