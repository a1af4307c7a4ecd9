"""The planner: what is on offer, what nothing beats, what theorems forbid; held by definitions of their own."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from mirrormata.constructions._construct import Request, choose, choose_by_rule, construct, realisations_of
from mirrormata.constructions._delay import BlockDelay
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import INTEGER_RANGES, Realisation, cost
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.theorems._construction import Limits, Problem
from mirrormata.constructions.theorems._registry import all_constructions
from mirrormata.foundation._errors import InputError, LimitError, NotRealisableError
from mirrormata.tests.constructions.library_numbers import LIBRARY_NUMBERS
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.planning._bounds import bound_certificate
from mirrormata.theory.planning._plan import Offer, Plan, choose_or_refuse, plan

Row = tuple[str, int, int | None]


@cache
def automaton(name: str) -> Automaton:
    return automaton_from_spec(name)


@cache
def planned(name: str) -> Plan:
    return plan(automaton(name))


def rows(made: Plan) -> list[Row]:
    """(theorem, layers, factors) of each offer."""
    facts = made.to_json()["realisations"]
    return [(f["theorem"], f["layers"], f["householders"]) for f in facts]


def bound(made: Plan, figure: str, reason: str) -> int:
    return next(b.at_least for b in made.bounds if (b.figure, b.reason) == (figure, reason))


WANTED: dict[str, tuple[Row, ...]] = {
    "S5": (("G.T3", 1, 4), ("DP.T1 + DP.L2", 3, 2), ("DP.T1 + G.T6", 4, 1), ("DP.T1 + own.T2tight", 5, 1)),
    "mod:12": (("DP.T4", 1, 2), ("G.T3", 1, 2), ("G.T6", 2, 1), ("G.T6", 2, 6)),
    "dihedral:6": (("DP.T4", 1, 2), ("G.T3", 1, 2), ("DP.T7", 2, 1)),
    "tomita:4": (("G.T4", 3, 2), ("S.star-free", 3, 2), ("DP.T2", 3, 2), ("own.n-1", 3, 6), ("G.A3", 1, None)),
    "mod:8": (("own.T2tight", 3, 1), ("DP.T4", 1, 2)),
    "T3": (("G.T4", 2, 6), ("own.n-1", 2, 6), ("DP.T6", 1, 2), ("G.A3", 1, None)),
    "dyck1:4": (("own.LMI", 1, 5), ("S.star-free", 5, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", WANTED)
def test_on_offer(name: str) -> None:
    found = rows(planned(name))
    missing = [row for row in WANTED[name] if row[:2] not in [r[:2] for r in found]]
    assert not missing, found
    if name not in ("T3", "dyck1:4", "tomita:4"):
        assert all(row in found for row in WANTED[name]), found


def test_symmetric_group_of_five() -> None:
    made = planned("S5")
    assert (bound(made, "householders", "CK.S5"), bound(made, "householders", "H.rank")) == (4, 2)
    least = {
        layers: min(factors for _, own, factors in rows(made) if own == layers and factors is not None)
        for layers in (1, 3, 4)
    }
    assert least == {1: 4, 3: 2, 4: 1}
    one = next(o for o in made.offers if o.found.theorem == "G.T3")
    letters: Any = made.automaton.letters
    moved = [sum(i != j for i, j in enumerate(x)) for x in letters]
    assert one.letter_factors is not None
    assert max(one.letter_factors) == 4
    assert all(f <= max(m - 1, 0) for f, m in zip(one.letter_factors, moved, strict=True))  # G.T3's bound
    assert sum(f < m - 1 for f, m in zip(one.letter_factors, moved, strict=True)) == 35  # H.rank's 35 of 119


def beats(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Offer a is nowhere worse than b and somewhere better; by the figures of the JSON alone."""

    def figures(f: dict[str, Any]) -> list[float]:
        least = [f[name] for name in ("layers", "householders", "dim", "work", "certificate_bytes")]
        # a size that took too long to compute is None
        unknown_last = [float("inf") if x is None else x for x in least]
        return [*unknown_last, f["exactness"] != "integer", f["norm"] != "at most 1"]

    pairs = list(zip(figures(a), figures(b), strict=True))
    return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)


def sound(made: Plan) -> None:
    """Marks, order, figures, and that nothing is below a proved bound."""
    facts = made.to_json()
    offers = facts["realisations"]
    for i, own in enumerate(offers):
        assert own["pareto"] == (not any(beats(other, own) for other in offers)), i
    costs = [(o.found.summary()["norm"] != "at most 1", cost(o.found)) for o in made.offers]
    assert costs == sorted(costs)
    assert json.loads(json.dumps(facts)) == facts
    for offer in made.offers:
        consistent(offer)
        if offer.found.summary()["norm"] == "at most 1":
            above_the_bounds(made, offer.found)
    if made.bounds:
        result = check(bound_certificate(made.bounds))
        assert (result.verdict, result.kind) == ("valid", "bound"), result.reason


def above_the_bounds(made: Plan, found: Realisation) -> None:
    """The hypotheses of the bounds hold for what is constructed, so the figures do."""
    layers, factors, _, _, _ = cost(found)
    for b in made.bounds:
        if b.kind != "proved":
            continue
        if b.figure == "householders" and layers == 1:
            assert factors >= b.at_least, (b.text, found.theorem)
        if b.figure == "state_size" and isinstance(found, LRNN) and layers == 1:
            one_vector = len(found.decode) == len(found.automaton.states)
            size = sum(head.dim * head.value_dim for head in found.all_heads)
            assert not one_vector or size >= b.at_least
        if b.figure == "beta" and isinstance(found, LRNN):
            assert any(
                f.beta * f.norm_squared == 2
                for head in found.all_heads
                for t in head.transitions
                for f in t.factors
            ), (b.text, found.theorem)
    for b in made.bounds:
        if b.figure == "single_factor_layers" and factors <= 1:
            assert layers >= b.at_least, (b.text, found.theorem)


def consistent(offer: Offer) -> None:
    facts = offer.to_json()
    if facts["householders"] is None:
        assert (facts["layer_factors"], facts["letter_factors"]) == (None, None)
    else:
        assert max(facts["layer_factors"]) == facts["householders"]
        assert len(facts["layer_factors"]) == facts["layers"]
    if isinstance(offer.found, BlockDelay):
        assert (offer.letter_factors, offer.parameters) == (None, None)
        exact = dict.fromkeys(offer.found.formats) if offer.found.exactness == "integer" else None
        assert offer.horizons == exact
        return
    if offer.letter_factors is not None:
        assert len(offer.letter_factors) == len(offer.found.automaton.letters)
        assert max(offer.letter_factors, default=0) == offer.found.householders
    if offer.found.exactness == "integer":
        assert facts["horizons"] == {d: None for d in INTEGER_RANGES if d in offer.found.formats}
    elif offer.found.exactness == "rounded":  # right at any length in its formats
        assert facts["horizons"] == dict.fromkeys(offer.found.formats)
    elif facts["horizons"] is not None:
        assert facts["horizons"] == full_certificate(offer.found)["horizon"]["lengths"]


SLOW = ("Z60", "S6", "S6[generators]", "S7[transpositions]", "chess", "dyck:2,3", "dyck:3,2", "Z2^5", "Q8_x_Z2^2",
        "Z2_x_Z3_x_Z5", "S5", "A5", "S5[in_4_tokens]", "A4_x_Z5", "A5[involutions]", "mod:60", "Z60[generators]",
        "A6[generators]", "codeswap:5", "S5[up_to_3]", "S5[up_to_2]", "A5[up_to_3]", "S5[transpositions]",
        "S5[generators]")  # fmt: skip
NAMES = [
    pytest.param(
        e.name, marks=[pytest.mark.long] * (e.name in SLOW) + [pytest.mark.exhaustive] * (e.name == "S6")
    )
    for e in LIBRARY_NUMBERS
    if e.name != "S8[transpositions]"
]


@pytest.mark.parametrize("name", NAMES)
def test_library(name: str) -> None:
    made = plan(automaton(name))
    assert made.offers
    sound(made)
    reasons = ("`max_", "by a sample of its smaller actions", "raise `budget`")
    assert all(any(reason in text for reason in reasons) for text in made.left_out)
    everything = [o.found.theorem.split(" + ")[0] for o in made.offers]
    assert set(everything) <= set(all_constructions())
    # R7 has more layers, and like G.A3 no norm of at most 1
    assert [source for source in everything if source != "R7"][-1] == "G.A3"


@pytest.mark.parametrize(
    "count", [40, pytest.param(150, marks=pytest.mark.long), pytest.param(500, marks=pytest.mark.exhaustive)]
)
def test_random_plans(count: int) -> None:
    for s in range(count):
        made = plan(
            automaton_from_spec(f"random:states={2 + s % 5},letters={1 + s // 5 % 3},seed={9000 + s}")
        )
        sound(made)
        assert not made.left_out


@pytest.mark.parametrize("name", ["S5", "mod:12", "dihedral:6", "tomita:4", "tomita:3", "A5[generators]"])
def test_integer_plans(name: str) -> None:
    made = plan(automaton(name), Request(exactness="integer"))
    assert all(o.found.exactness == "integer" and "bf16" in o.found.formats for o in made.offers)
    sound(made)
    counters = [o.found.counter.integer for o in made.offers if isinstance(o.found, BlockDelay)]
    assert all(counters)


@pytest.mark.parametrize(
    "name",
    [
        "S3",
        "tomita:4",
        "T3",
        *(
            pytest.param(n, marks=pytest.mark.long)
            for n in ("S5", "mod:12", "dihedral:6", "tomita:3", "dyck1:4")
        ),
    ],
)
def test_bounded_requests(name: str) -> None:
    """Within bounds: what the full plan has within them, and `choose` takes the best by its rule of those of norm at most 1."""
    full = planned(name)
    for layers in (1, 2, None):
        for factors in (1, 2, None):
            for dim in (2, 4, None):
                request = Request(max_layers=layers, max_householders=factors, max_dim=dim)
                inside = [o.found for o in full.offers if request.admits(o.found)]
                tame = [
                    f
                    for f in inside
                    if f.theorem not in all_constructions() or not all_constructions()[f.theorem].by_request
                ]
                if request.bounds() == Request().bounds():
                    continue
                if not inside:
                    with pytest.raises(NotRealisableError):
                        plan(automaton(name), request)
                if not tame:
                    with pytest.raises(NotRealisableError):
                        choose(automaton(name), request)
                    continue
                found = choose(automaton(name), request)
                if automaton(name).is_permutation:
                    assert cost(found) == min(cost(f) for f in tame)
                else:
                    works = [f.depth * f.work for f in tame if f.work is not None]
                    assert found.work is not None
                    assert found.depth * found.work == min(works)


@pytest.mark.parametrize("name", ["S3", "tomita:4", "flipflop"])
@pytest.mark.parametrize(
    "request_",
    [Request(), Request(objective="work"), Request(max_layers=3), Request(theorem="own.chain")],
)
def test_what_a_plan_calls_chosen_is_what_construct_takes_for_the_same_reason(
    name: str, request_: Request
) -> None:
    made = plan(automaton(name), request_)
    choice = choose_by_rule(automaton(name), request_)
    assert made.chosen is not None
    assert made.chosen_for == choice.rule
    assert (made.chosen.found.theorem, cost(made.chosen.found)) == (choice.found.theorem, cost(choice.found))
    facts = made.to_json()
    assert facts["realisations"][facts["chosen"]]["theorem"] == choice.found.theorem
    assert facts["chosen_for"] == choice.rule


IMPOSSIBLE = (
    ("S5", 1, 3, "householders ≥ 4 (CK.S5)"),
    ("S5[generators]", 1, 2, "householders ≥ 4 (CK.S5)"),
    ("mod:7", 1, 1, "householders ≥ 2 (H.rank)"),
    ("dihedral:5", 1, 1, "householders ≥ 2 (H.rank)"),
    ("parity", 1, 0, "householders ≥ 1 (H.rank)"),
    ("T3", 1, 1, "householders ≥ 2 (H.rank)"),
)


@pytest.mark.parametrize(("name", "layers", "factors", "reason"), IMPOSSIBLE)
def test_impossible_requests_name_the_theorem(name: str, layers: int, factors: int, reason: str) -> None:
    request = Request(max_layers=layers, max_householders=factors)
    for attempt in (plan, choose_or_refuse):
        with pytest.raises(NotRealisableError) as refusal:
            attempt(automaton(name), request)
        text = str(refusal.value)
        assert text.startswith(
            f"{name}: `max_layers` {layers} and `max_householders` {factors} are impossible under the hypotheses named: {reason}"
        )
        assert "\n" not in text


@pytest.mark.parametrize(
    ("name", "request_", "text"),
    [
        ("T3", Request(max_layers=1), "the nearest of those that were built has 2 layers"),
        ("S5", Request(max_householders=0), "the nearest of those that were built has"),
        (
            "S5",
            Request(max_dim=3),
            "the nearest of those that were built has 1 layer with 4 factors and dimension 5",
        ),
        (
            "tomita:4",
            Request(theorem="G.T4", max_layers=2),
            "the nearest of those that were built has 3 layers",
        ),
    ],
)
def test_out_of_reach_but_not_forbidden(name: str, request_: Request, text: str) -> None:
    with pytest.raises(NotRealisableError) as refusal:
        choose_or_refuse(automaton(name), request_)
    assert text in str(refusal.value)
    assert "is impossible" not in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"exactness": "exact"}, "`exactness` exact: it is any or integer"),
        ({"coordinates": "two"}, "`coordinates` two: it is few or one_hot"),
        ({"theorem": "G.T9"}, "`theorem` G.T9: not a construction; there are G.T3"),
        ({"max_layers": 0}, "`max_layers` 0: it must be a positive whole number"),
        ({"max_dim": 0}, "`max_dim` 0: it must be a positive whole number"),
        ({"max_householders": -1}, "`max_householders` -1: it must be"),
    ],
)
def test_wrong_requests(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError) as refusal:
        Request(**arguments)
    assert text in str(refusal.value)


def test_every_offer_is_certified() -> None:
    for name in ("dihedral:6", "tomita:4", "T3"):
        for offer in planned(name).offers:
            document = full_certificate(offer.found)
            assert check(document).verdict == "valid"
            if offer.horizons is not None and document["kind"] == "horizon":
                assert document["horizon"]["lengths"] == offer.horizons


def test_limits_leave_out_and_say_so() -> None:
    made = plan(automaton("tomita:3"), limits=Limits(image_sets=3))
    assert {o.found.theorem for o in made.offers} == {
        "own.serial", "own.lookback", "own.window", "own.chain", "own.blocks", "DP.T6", "G.A3", "R7",
    }  # fmt: skip
    assert len(made.left_out) == 2
    assert all("`max_image_sets`" in text for text in made.left_out)
    with pytest.raises(LimitError, match="`max_image_sets`"):
        choose(automaton("tomita:3"), Request(max_layers=2, max_householders=1), Limits(image_sets=3))


def test_coordinates() -> None:
    few, one_hot = (
        next(o for o in plan(automaton("T3"), Request(coordinates=c)).offers if o.found.theorem == "G.T4")
        for c in ("few", "one_hot")
    )
    assert few.found.dim <= one_hot.found.dim
    assert "one-hot" in one_hot.found.construction
    assert check(full_certificate(one_hot.found)).verdict == "valid"


def test_construct_gives_a_block_delay() -> None:
    """Where it is asked for by its theorem, or where nothing else has as few factors; else a table."""
    assert construct("S5", theorem="DP.T1").kind == "delay"
    few = construct("S5", max_householders=2)
    assert isinstance(few, BlockDelay)
    assert cost(few) == cost(choose(automaton("S5"), Request(max_householders=2)))
    assert {construct("S5").kind, construct("S5", max_householders=4).kind} == {"table"}
    assert construct("mod:12", max_householders=1).kind == "table"


def weakly_beaten(found: LRNN, offers: tuple[Offer, ...]) -> bool:
    """An offer is as good in layers, factors, exactness and dimension."""
    own = cost(found)[:4]
    return any(all(a <= b for a, b in zip(cost(o.found)[:4], own, strict=True)) for o in offers)


@pytest.mark.parametrize(
    "name", ["mod:12", "S4", "A4", "Q8", "tomita:3", "dyck1:4", "T3", "S3_x_Z2", "mod:9"]
)
def test_the_plan_has_what_construct_builds(name: str) -> None:
    for exactness in ("any", "integer"):
        assert weakly_beaten(construct(automaton(name), exactness=exactness), planned(name).offers)


def test_heads_of_two_sources() -> None:
    """Q_8 by a cover and Z_7 by rotations: two factors; each source alone needs six or has no form."""
    a = automaton("Q8_x_Z7[generators]")
    made = construct(a)
    assert (made.theorem, made.householders) == ("DP.T4 + own.covers", 2)
    found = next(realisations_of(Problem(a), "G.T3"))
    assert cost(found)[1] == 6
    assert cost(choose(a, Request(max_layers=1)))[:2] == (1, 2)


def test_a_limit_of_one_form_leaves_the_others() -> None:
    """211 corners in integers need no field; the angular form's field is beyond `max_degree`."""
    assert cost(construct(automaton("mod:211"), theorem="G.T6", exactness="integer"))[:2] == (2, 105)
    assert ("G.T6", 2, 105) in rows(plan(automaton("mod:211"), Request(max_layers=2), Limits(degree=100)))


@pytest.mark.parametrize("theorem", ["DP.T6", "G.A3"])
def test_forms_of_larger_norm_are_not_impossible(theorem: str) -> None:
    request = Request(max_layers=1, max_householders=1, theorem=theorem)
    for attempt in (choose_or_refuse, plan):
        with pytest.raises(NotRealisableError) as refusal:
            attempt(automaton("mod:7"), request)
        assert "is impossible" not in str(refusal.value)


def test_nothing_on_offer_for_a_limit() -> None:
    with pytest.raises(LimitError, match="`max_image_sets`"):
        plan(automaton("T3"), Request(theorem="G.T4"), Limits(image_sets=2))


def test_impossible_comes_before_a_limit() -> None:
    request = Request(max_layers=1, max_householders=1)
    for attempt in (choose_or_refuse, plan):
        with pytest.raises(NotRealisableError, match=r"H\.rank"):
            attempt(automaton("T3"), request, Limits(image_sets=2))


def test_layer_factors_of_a_matrix() -> None:
    (offer,) = plan(automaton("T3"), Request(theorem="G.A3")).offers
    assert offer.to_json()["layer_factors"] is None


def test_a_single_source_says_why_not() -> None:
    with pytest.raises(NotRealisableError, match="letter 'collapse' merges states"):
        plan(automaton("T3"), Request(theorem="G.T3"))
