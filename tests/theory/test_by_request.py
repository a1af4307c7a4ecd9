"""What is built by request only: marked in a plan, with the reason, and named by the refusal of `construct`; both have the same conditions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mirrormata import Automaton, automaton_from_spec, construct, plan
from mirrormata.constructions import write_automaton
from mirrormata.constructions._construct import Request
from mirrormata.constructions.theorems._construction import Limits
from mirrormata.constructions.theorems._registry import all_constructions
from mirrormata.foundation._errors import InputError, LimitError, NotRealisableError
from mirrormata.theory.planning._plan import Plan

SPECS = ("tomita:4", "T3", "regex:(a|b|c)*ab", "mod:1", "mod:5", "random:states=6,letters=2,seed=3")
CONDITIONS: tuple[dict[str, Any], ...] = (
    {"max_layers": 3, "max_householders": 2},
    {"max_layers": 1},
    {"max_layers": 2, "max_householders": 2},
    {"max_dim": 1},
    {"max_layers": 1, "max_householders": 1, "exactness": "integer"},
)


def planned(spec: str, conditions: dict[str, Any]) -> Plan | None:
    try:
        return plan(spec, **conditions)
    except NotRealisableError:
        return None


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("conditions", CONDITIONS)
def test_construct_builds_or_names_what_a_plan_lists(spec: str, conditions: dict[str, Any]) -> None:
    made = planned(spec, conditions)
    offers = () if made is None else made.offers
    for offer in offers:
        record = all_constructions().get(offer.found.theorem)
        assert offer.by_request == ("" if record is None else record.by_request)
        assert offer.to_json()["by_request"] == (offer.by_request or None)
    free = [offer for offer in offers if not offer.by_request]
    if free:
        found = construct(spec, **conditions)
        assert (found.theorem, found.depth, found.householders) == (
            free[0].found.theorem,
            free[0].found.depth,
            free[0].found.householders,
        )
        return
    with pytest.raises(NotRealisableError) as refused:
        construct(spec, **conditions)
    named = set(re.findall(r"`theorem` (\S+) \(", str(refused.value)))
    assert named == {offer.found.theorem for offer in offers}
    for theorem in named:  # the advice works
        assert construct(spec, theorem=theorem, **conditions).theorem == theorem


def test_the_advice_of_the_command_works(call: Any) -> None:
    spec = ("random:states=6,letters=2,seed=3", "--max-layers", "1")
    error = call("construct", *spec).error
    assert (
        "by request only: --theorem DP.T6 (its norm can exceed 1) or --theorem G.A3 (its norm can exceed 1)"
        in error
    )
    assert call("construct", *spec, "--theorem", "DP.T6").status == 0


def test_what_a_theorem_forbids_may_be_built_outside_its_hypotheses(call: Any) -> None:
    """One factor a letter in one layer cannot turn three states at norm 1; 0/1 matrices can, and a plan lists them."""
    error = call("construct", "T3", "--max-layers", "1", "--max-dim", "3", "--max-householders", "1").error
    assert "are impossible under the hypotheses named" in error
    assert "by request only" not in error  # neither has one factor
    error = call("construct", "tomita:4", "--max-layers", "1").error
    assert "--theorem DP.T6" in error


def test_marks_and_their_legend(call: Any) -> None:
    out = call("plan", "tomita:4", "--max-layers", "2").out
    rows = [line for line in out.splitlines() if re.match(r" \*?†? +\d+ ", line)]
    theorems = re.findall(r"^\d+\. (\S+):", out, re.MULTILINE)
    assert len(rows) == len(theorems) > 3
    for row, theorem in zip(rows, theorems, strict=True):
        assert ("†" in row) == bool(all_constructions()[theorem].by_request), row
    legend = " ".join(out.split("† built only where")[1].split("lower bound:")[0].split())
    assert legend == (
        "--theorem names it: own.lookback (needs a short convolution, and for its first form gates); DP.T6, G.A3 (its norm can exceed 1)"
    )
    assert "†" not in call("plan", "tomita:4", "--theorem", "own.chain").out


def test_the_reasons_are_in_the_help_of_the_option(call: Any) -> None:
    out = " ".join(call("construct", "--help").out.replace("│", " ").split())
    for record in all_constructions().values():
        if record.by_request:
            assert record.source in out.split("built only if this option names them")[1]


def test_one_state_has_each_construction_once() -> None:
    for spec in ("mod:1", Automaton.from_transitions({"q": {"a": "q", "b": "q"}}, start="q")):
        figures = [(o.found.theorem, o.found.construction) for o in plan(spec).offers]
        assert len(figures) == len(set(figures))
        assert [theorem for theorem, _ in figures] == ["G.T3", "DP.T6", "G.A3"]


def test_conditions_of_plan_are_those_of_construct() -> None:
    by_arguments = plan("mod:12", max_layers=2, max_householders=1, max_dim=2, exactness="any", max_degree=50)
    by_records = plan("mod:12", Request(max_layers=2, max_householders=1, max_dim=2), Limits(degree=50))
    assert by_arguments.to_json() == by_records.to_json()
    assert {o.found.theorem for o in plan("tomita:4", theorem="G.T4").offers} == {"G.T4"}
    assert plan("T3", objective="dim").offers[0].found.dim == min(
        o.found.dim for o in plan("T3").offers if o.found.norm == "at most 1"
    )
    with pytest.raises(LimitError, match="`max_image_sets`"):
        plan("tomita:3", theorem="G.T4", max_image_sets=3)
    with pytest.raises(InputError, match="`request` is given, and so are arguments that it holds"):
        plan("mod:5", Request(max_layers=1), max_layers=2)
    with pytest.raises(InputError, match="`limits` is given"):
        plan("mod:5", limits=Limits(degree=5), max_degree=6)
    with pytest.raises(InputError, match="max_layers"):
        plan("mod:5", max_layers=0)


def test_a_limit_of_a_name_is_raised_where_it_can_be() -> None:
    with pytest.raises(LimitError) as refused:
        construct("S7")
    assert "raise it with `max_transitions` of `automaton_from_spec`" in str(refused.value)
    with pytest.raises(LimitError, match="raise it with `max_transitions`\\)"):
        automaton_from_spec("S7")
    with pytest.raises(LimitError, match="`max_states` of `automaton_from_spec`"):
        plan("mod:200000")


def test_lists_of_sizes_are_short() -> None:
    """A random automaton of 25 states has a cascade of dozens of levels, each with many components."""
    for theorem in ("G.T4", "DP.T2"):
        found = construct("random:states=12,letters=2,seed=1", theorem=theorem)
        assert found.depth > 8
        assert len(found.construction) < 300
        levels = found.construction.split("by level ")[1].split("; ")
        assert len(levels) == 8
        assert levels[5] == "..."


def test_outputs_of_the_state_before_are_refused_with_what_always_applies(tmp_path: Path, call: Any) -> None:
    machine = Automaton.from_transitions(
        {"closed": {"coin": "open", "push": "closed"}, "open": {"coin": "open", "push": "closed"}},
        start="closed",
        mealy={"closed": {"coin": "ok", "push": "no"}, "open": {"coin": "full", "push": "drink"}},
    )
    path = tmp_path / "vending.json"
    write_automaton(machine, path)
    error = call("construct", str(path), "--theorem", "G.T4").error
    assert "own.window" not in error
    assert error.endswith("--theorem own.chain always tells both, and `mirrormata plan` lists what else does")
    assert call("construct", str(path), "--theorem", "own.chain").status == 0


def test_notes_of_an_automaton_stay_with_its_construction(tmp_path: Path, call: Any) -> None:
    """A target that is no key makes a state, whose missing transitions lead to a sink: no one may overlook it."""
    for spec in ({"a": {"x": "b"}}, {"a": {"x": "b", "y": "a"}, "b": {"x": "a"}}):
        automaton = Automaton.from_transitions(spec, start="a")
        assert automaton.notes
        for found in (
            construct(automaton),
            construct(automaton, theorem="own.chain"),
            construct(automaton, max_layers=4),
        ):
            assert found.notes[: len(automaton.notes)] == automaton.notes
            assert f"note: {automaton.notes[0]}\n" in found.show()
    path = tmp_path / "partial.json"
    path.write_text(
        json.dumps(
            {
                "states": ["a", "b"],
                "letters": ["x"],
                "start": "a",
                "transitions": {"a": {"x": "b"}},
                "outputs": {"a": 0, "b": 1},
            }
        )
    )
    outcome = call("construct", str(path))
    if outcome.status == 0:
        assert outcome.out.count("note: completed") == 1
