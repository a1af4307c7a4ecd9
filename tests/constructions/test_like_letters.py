"""Letters that act alike: what is built from one of each kind is, byte by byte, what all letters give."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from mirrormata import check
from mirrormata.constructions._construct import Request, choose, realisations_of
from mirrormata.constructions._like_letters import merge_like_letters, spread_over_letters
from mirrormata.constructions._realisation import Realisation
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.theorems._construction import Problem
from mirrormata.constructions.theorems._registry import all_constructions
from mirrormata.foundation._errors import NotRealisableError
from mirrormata.theory.planning._plan import plan

SPECS = (
    "tomita:3", "T3", "S3", "mod:6", "Q8", "boxes:3,2", "dyck1:3", "permreset:3", "even_pairs",
    "random:states=7,letters=2,seed=4",
)  # fmt: skip


def with_copies(spec: str, seed: int) -> Automaton:
    """The automaton with each letter once at least, and as many copies, in random order."""
    a = automaton_from_spec(spec)
    draw = np.random.default_rng(seed)
    letters = len(a.letters)
    order = np.concatenate([np.arange(letters), draw.integers(0, letters, letters)])
    draw.shuffle(order)
    return Automaton(
        a.states, tuple(range(len(order))), a.transitions[order], a.start, a.outputs, a.name, a.keeps_points
    ).trim()


@pytest.mark.parametrize("spec", SPECS)
def test_every_construction_is_spread_to_the_same_bytes(spec: str) -> None:
    automaton = with_copies(spec, 1)
    fewer, kinds = merge_like_letters(automaton)
    assert kinds is not None
    assert len({row.tobytes() for row in fewer.transitions}) == len(fewer.letters) < len(automaton.letters)
    assert np.array_equal(fewer.transitions[kinds], automaton.transitions)
    tried = 0
    for source in all_constructions():
        try:
            whole = list(realisations_of(Problem(automaton), source))
        except NotRealisableError:
            continue
        part = list(realisations_of(Problem(fewer), source))
        assert len(whole) == len(part)
        for one, other in zip(whole, part, strict=True):
            spread = other.for_letters(automaton, kinds)
            if spread is not None:
                assert json.dumps(spread.certificate()) == json.dumps(one.certificate()), source
                tried += 1
    assert tried >= 5


@pytest.mark.parametrize("spec", ["tomita:3", "S3", "boxes:3,2"])
def test_choice_and_plan_have_all_letters(spec: str) -> None:
    automaton = with_copies(spec, 2)
    found = choose(automaton, Request())
    assert found.automaton.letters == automaton.letters
    assert check(found).verdict == "valid"
    once = choose(spec, Request())
    assert (found.depth, found.householders, found.work) == (once.depth, once.householders, once.work)
    assert all(offer.found.automaton.letters == automaton.letters for offer in plan(automaton).offers)


def test_different_letters_are_left_alone() -> None:
    automaton = automaton_from_spec("S3")
    assert merge_like_letters(automaton) == (automaton, None)


def test_letters_with_different_outputs_stay_where_the_state_after_does_not_tell_them() -> None:
    """Two letters with one map, and an output that the letter and the state after do not determine."""
    maps = np.array([[0, 0], [0, 0], [1, 0]])
    outputs = np.array([["x", "y"], ["z", "z"], ["u", "v"]], dtype=object)
    automaton = Automaton((0, 1), ("a", "b", "c"), maps, 0, outputs, "mealy")
    assert not automaton.outputs_follow_states
    assert merge_like_letters(automaton)[1] is None
    # and where it does, the letters keep their own outputs
    outputs = np.array([["x", "x"], ["z", "z"], ["u", "v"]], dtype=object)
    automaton = replace(automaton, outputs=outputs)
    assert merge_like_letters(automaton)[1] is not None
    found = choose(automaton, Request())
    assert [found.automaton.output(word) for word in ("a", "b", "c")] == ["x", "z", "u"]


def test_a_kind_that_cannot_be_spread_is_built_from_all_letters() -> None:
    automaton = with_copies("tomita:3", 3)
    fewer, kinds = merge_like_letters(automaton)
    found = choose(fewer, Request())

    class Rigid:
        def for_letters(self, automaton: Automaton, kinds: object) -> None:
            return None

    other = choose(automaton, Request())
    calls: list[Realisation] = []

    def again() -> Realisation:
        calls.append(other)
        return other

    assert spread_over_letters(Rigid(), automaton, kinds, again) is other  # type: ignore[arg-type]
    assert calls == [other]
    assert spread_over_letters(found, fewer, None, again) is found


def test_what_a_read_out_cannot_tell_is_known_at_once() -> None:
    """No cascade is built for a Mealy machine whose outputs need the state before: the refusal names what can."""
    maps = np.array([[1, 2, 0, 0], [0, 0, 3, 2]])
    outputs = np.array([list("wxyz"), list("wxyz")], dtype=object)
    automaton = Automaton((0, 1, 2, 3), ("a", "b"), maps, 0, outputs, "mealy")
    assert not automaton.outputs_follow_states
    with pytest.raises(NotRealisableError, match=r"G\.T4: the outputs of this Mealy machine .* own\.chain"):
        choose(automaton, Request(theorem="G.T4"))
    made = plan(automaton)
    rules = {"own.chain", "own.window", "own.lookback", "own.blocks", "R7"}
    assert {offer.found.theorem for offer in made.offers} <= rules
    assert any("G.T4" in text and "Mealy" in text for text in made.not_built)
