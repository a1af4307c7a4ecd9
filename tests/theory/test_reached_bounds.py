"""Beside a construction only those lower bounds stand whose hypotheses it meets."""

from __future__ import annotations

from typing import Any

import pytest

from mirrormata.constructions._construct import Request, choose, construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import Realisation
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._cyclotomic import Number, enclosure
from mirrormata.theory.claims import h_rank
from mirrormata.theory.planning._bounds import bounds, reached_bounds
from mirrormata.theory.planning._plan import plan
from mirrormata.theory.verifying._claim import Subject

SPECS = (
    "parity",
    "mod:12",
    "S3",
    "S5",
    "S5[transpositions]",
    "A5",
    "flipflop",
    "T3",
    "dihedral:4",
    "tomita:5",
)


def value(x: Number) -> float:
    """A number to 64 bits."""
    low, high = enclosure(x, 64)
    return float(low + high) / 2


def chosen(spec: str, **options: Any) -> Realisation:
    """What the command line would construct."""
    return choose(automaton_from_spec(spec), Request(**options))


def meets(found: Realisation, hypothesis: str) -> bool:
    """One hypothesis, decided anew from the construction's own numbers."""
    if hypothesis.startswith("one layer"):
        return found.summary()["layers"] == 1
    if hypothesis.startswith("at most ") and "factor" in hypothesis:
        return found.householders is not None and found.householders <= int(hypothesis.split()[2])
    transitions = [t for h in found.all_heads for t in h.transitions] if isinstance(found, LRNN) else []
    if "norm of A(x)" in hypothesis or "β‖v‖²" in hypothesis:
        sizes = [value(f.beta * f.norm_squared) for t in transitions for f in t.factors]
        plain = all(f.mask is None for t in transitions for f in t.factors)
        factors = (
            plain
            and all(t.matrix is None for t in transitions)
            and all(-1e-9 <= x <= 2 + 1e-9 for x in sizes)
        )
        return factors and all(0 <= value(t.gate) <= 1 for t in transitions)
    if hypothesis == "one vector a state of the automaton if there is one layer":
        return found.depth > 1 or (
            isinstance(found, LRNN) and len(found.decode) == len(found.automaton.states)
        )
    if "one vector a state" in hypothesis:
        return isinstance(found, LRNN) and len(found.decode) == len(found.automaton.states)
    return hypothesis in (
        "any number of layers",
        "finitely many reachable states",
        "exact",
        "exact; counted are the numbers in it",
        "over all heads",
    )


@pytest.mark.parametrize("spec", SPECS)
def test_every_bound_beside_an_offer_has_its_hypotheses_met(spec: str) -> None:
    made = plan(automaton_from_spec(spec))
    for offer in made.offers:
        for bound in offer.bounds:
            for hypothesis in (
                bound.hypotheses.replace("[0, 1]", "[0 1]").replace("[0, 2]", "[0 2]").split(", ")
            ):
                assert meets(offer.found, hypothesis), (offer.found.theorem, bound.text, hypothesis)
            assert "cast" not in bound.hypotheses
            if isinstance(bound.reached, int):
                assert bound.reached >= bound.at_least, (offer.found.theorem, bound.text)
            assert bound.optimal == (bound.reached == bound.at_least)
            assert bound.hypotheses in bound.text


def test_two_layers_of_one_factor_do_not_stand_beside_a_bound_on_one_layer() -> None:
    found = construct("mod:12", max_householders=1)
    told = {b.figure: (b.at_least, b.reached, b.optimal) for b in reached_bounds(found)}
    assert told == {"layers": (2, 2, True), "beta": (2, 2, True)}
    assert any(b.figure == "householders" for b in bounds(found.automaton))


def test_what_is_reached_and_what_is_not() -> None:
    def told(spec: str, **options: Any) -> dict[str, tuple[int, int | str, str]]:
        return {b.figure: (b.at_least, b.reached, b.reason) for b in reached_bounds(chosen(spec, **options))}

    assert told("S5") == {"householders": (4, 4, "CK.S5"), "beta": (2, 2, "H.openβ")}
    assert told("S5", max_householders=3)["layers"] == (2, 3, "CK.S5")
    assert told("T3", theorem="G.A3") == {"state_size": (2, 3, "PD.N-1")}
    assert told("mod:12", theorem="DP.T6")["householders"] == (2, 11, "H.rank")
    assert told("flipflop") == {}


def test_the_rank_claim_compares_with_bounds_of_contractions_only() -> None:
    """RWKV-7's copies exceed norm 1, so the bound for norm at most 1 is not held against them."""
    for theorem in ("DP.T6", None):
        lrnn = construct("T3", theorem=theorem)
        assert isinstance(lrnn, LRNN)
        verdict = h_rank.applies(Subject("T3", lrnn.automaton, lrnn=lrnn))
        assert verdict is not None
        assert verdict.evidence["bound"] == 0
        assert verdict.status == "proved"


def test_construct_prints_hypotheses_and_what_is_optimal(call: Any) -> None:
    out = " ".join(call("construct", "mod:12", "--max-householders", "1").out.split())
    assert "layers ≥ 2, reached: optimal (H.rank) among RNNs with at most 1 factor a letter" in out
    assert "householders ≥" not in out
    assert "G.T1" not in out
    (layers, beta) = call("construct", "mod:12", "--max-householders", "1", "--json").json["lower_bounds"]
    assert (layers["figure"], layers["reached"], layers["optimal"]) == ("layers", 2, True)
    assert "at most 1 factor" in layers["hypotheses"]
    assert beta["optimal"] is True
    out = " ".join(call("construct", "S5").out.split())
    assert "householders ≥ 4, reached: optimal (CK.S5) among RNNs with one layer" in out
    assert "householders ≥ 2" not in out
