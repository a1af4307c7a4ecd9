"""The wiring as printed in the proof of G.T4: refuted by a shortest word, replayed from the certificate alone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import Request, realisations_of
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.cascades._cascade import cascade
from mirrormata.constructions.certificates._table import certificate
from mirrormata.constructions.theorems._construction import Limits, Problem
from mirrormata.constructions.theorems.g_t4 import wire_cascade_as_printed
from mirrormata.foundation._errors import LimitError, NotRealisableError
from mirrormata.tests.theory.certificate_simulation import CertificateSimulation, automaton_states
from mirrormata.theory._check import check
from mirrormata.theory.running._refutation import Refutation, refute, refute_printed

REFUTED = ("T3", "T4", "mod_arith:3", "mod_arith:5", "tomita:3", "boxes:2,3", "dyck1:4", "gridworld:5")


def replayed(outcome: Refutation) -> tuple[int | None, int]:
    """What LRNN and automaton say after the word: plain Python on the certificate's JSON."""
    assert outcome.word is not None
    document = certificate(outcome.lrnn)
    said = CertificateSimulation(document).states(outcome.word)
    right = automaton_states(document, outcome.word, document["automaton"]["start"])
    assert said[:-1] == right[:-1]  # so no prefix refutes
    return said[-1], right[-1]


def holds_up(outcome: Refutation) -> bool:
    """Refuted: by the replay and the checker too. Not refuted: then all reachable joint states were seen."""
    if outcome.word is None:
        assert (outcome.named, outcome.right) == (None, None)
        return False
    named, right = replayed(outcome)
    assert (named, right) == (outcome.named, outcome.right)
    assert named != right
    assert check(certificate(outcome.lrnn)).verdict == "invalid"
    return True


@pytest.mark.parametrize("coordinates", ["few", "one_hot"])
@pytest.mark.parametrize("name", REFUTED)
def test_refuted(name: str, coordinates: str) -> None:
    outcome = refute_printed(automaton_from_spec(name), Request(coordinates=coordinates))
    assert holds_up(outcome)
    facts = outcome.to_json()
    assert set(facts) == {"verdict", "construction", "layers", "word", "named", "right", "search"}
    assert facts["verdict"] == "refuted"
    assert facts["layers"] == len(outcome.lrnn.layers) > 1
    letters = [str(x) for x in outcome.lrnn.automaton.letters]
    assert all(x in letters for x in facts["word"])
    assert facts["construction"].endswith("wired as printed")


@pytest.mark.parametrize("name", ["T3", "tomita:3", "mod_arith:2", "gridworld:4"])
def test_no_shorter_word_refutes(name: str) -> None:
    outcome = refute_printed(automaton_from_spec(name))
    assert outcome.word is not None
    assert outcome.search.startswith("breadth first")
    document = certificate(outcome.lrnn)
    simulation = CertificateSimulation(document)
    start = document["automaton"]["start"]
    for length in range(len(outcome.word)):
        for word in itertools.product(range(document["automaton"]["letters"]), repeat=length):
            assert simulation.states(word) == automaton_states(document, word, start)


@pytest.mark.parametrize("name", ["T3", "mod_arith:2", "tomita:7", "boxes:2,2", "tomita:4", "even_pairs"])
def test_the_repaired_wiring_stands(name: str) -> None:
    built = Problem(automaton_from_spec(name))
    (made,) = realisations_of(built, "G.T4")
    assert isinstance(made, LRNN)
    outcome = refute(made)
    assert (outcome.word, outcome.to_json()["verdict"]) == (None, "not refuted")
    assert outcome.search.startswith("all ")
    assert ("word", "") not in outcome.rows()


def test_long_searches_end_with_random_words() -> None:
    lrnn = wire_cascade_as_printed(Problem(automaton_from_spec("T4")))
    shortest = refute(lrnn)
    found = refute(lrnn, max_joint=0)
    assert holds_up(found) or found.word is None
    assert "random words" in found.search or found.search.startswith("breadth first")
    (sound,) = realisations_of(Problem(automaton_from_spec("T4")), "G.T4")
    assert isinstance(sound, LRNN)
    none = refute(sound, max_joint=5)
    assert none.word is None
    assert "200 random words of 400 letters" in none.search
    assert shortest.word is not None
    assert found.word is None or len(found.word) >= len(shortest.word)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("S4", "its cascade has one level"),
        ("flipflop", "its cascade has one level"),
        ("permreset:4", "its cascade has one level"),
        ("mod:1", "one state needs no cascade"),
    ],
)
def test_nothing_to_refute(name: str, reason: str) -> None:
    with pytest.raises(NotRealisableError, match=reason) as refusal:
        refute_printed(automaton_from_spec(name))
    assert "\n" not in str(refusal.value)


def test_limits() -> None:
    with pytest.raises(LimitError, match="`max_image_sets`"):
        refute_printed(automaton_from_spec("mod_arith:5"), limits=Limits(image_sets=3))


def printed_is_refuted(automaton: Automaton) -> bool | None:
    """None: fewer than two levels."""
    if len(cascade(automaton).levels) < 2:
        return None
    outcome = refute_printed(automaton)
    refuted = holds_up(outcome)
    if not refuted:
        assert outcome.search.startswith("all ")
        joint_states_agree(outcome.lrnn)
    return refuted


def joint_states_agree(lrnn: LRNN) -> None:
    """A printed wiring that is right: random words by plain Python."""
    document: dict[str, Any] = certificate(lrnn)
    draw = np.random.default_rng(0)
    simulation = CertificateSimulation(document)
    for word in draw.integers(0, document["automaton"]["letters"], (5, 60)).tolist():
        assert simulation.states(word) == automaton_states(document, word, document["automaton"]["start"])


@pytest.mark.parametrize("count", [60, pytest.param(600, marks=pytest.mark.long)])
def test_most_are_refuted(count: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the cascades of random automata with two or more levels 90 % at least."""
    outcomes = [
        printed_is_refuted(
            automaton_from_spec(f"random:states={3 + s % 4},letters={1 + s // 5 % 3},seed={s}")
        )
        for s in range(count)
    ]
    layered = [outcome for outcome in outcomes if outcome is not None]
    with capsys.disabled():
        print(f"\nprinted wiring: {sum(layered)} of {len(layered)} cascades of two or more levels refuted")
    assert len(layered) > count // 2
    assert sum(layered) >= 0.9 * len(layered)
