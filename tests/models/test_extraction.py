"""Extraction: the target automaton from right models, another one with a word from models that are right for a while."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import separating_word
from mirrormata.foundation._errors import LimitError
from mirrormata.models._kinds import from_construction
from mirrormata.models.comparison._clusters import (
    clusters_of,
    find_principal_directions,
    observe_states,
    spanning_tree,
)
from mirrormata.models.comparison._compare import compare
from mirrormata.models.comparison._extraction import Extracted, extract_clusters, extract_learning
from mirrormata.models.comparison._sources import learned_from_lrnn, learned_from_matrices
from mirrormata.models.comparison._states import Sampling, follow_words
from mirrormata.models.learned._learned import AffineStepper, Learned, LearnedHead
from mirrormata.models.learned._model import learned_from_model
from mirrormata.theory._check import check

from .comparison_models import trained
from .test_comparison import lrnn_of, rotation

QUICK = Sampling(words=32, length=64, fit=16)


def constructed_model(spec: str) -> Learned:
    lrnn = lrnn_of(spec)
    built = from_construction(lrnn)
    return learned_from_model(built, lrnn.automaton)


def slow_drift(turns: int, of: int) -> Learned:
    """mod 3 by rotations of `turns`/`of` of a circle, read by the nearest third."""
    mod3 = automaton_from_spec("mod:3")
    angle = 2 * np.pi * turns / of
    one = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    codes = {
        q: np.array([[np.cos(2 * np.pi * i / 3)], [np.sin(2 * np.pi * i / 3)]])
        for i, q in enumerate(mod3.states)
    }
    return learned_from_matrices([np.eye(2), one], mod3, H0=codes[mod3.states[0]], codes=codes)


def is_wrong_on(learned: Learned, extracted: Extracted) -> bool:
    """The model, run on the counterexample, answers something else than the automaton at its end."""
    assert extracted.counterexample is not None
    word = learned.target.automaton.word(list(extracted.counterexample))
    states, q = learned.stepper.initial(1), learned.target.automaton.start
    for x in word:
        states = learned.stepper.step(states, np.array([x]))
        q = int(learned.target.automaton.transitions[x, q])
    return bool(learned.stepper.decode(states, word[-1:])[0] != q)


@pytest.mark.parametrize("spec", ["parity", "mod:3", "S3"])
@pytest.mark.parametrize("method", ["kv", "lstar", "clusters", "exact"])
def test_constructed_models_give_their_automaton(spec: str, method: str) -> None:
    pytest.importorskip("aalpy")
    learned = constructed_model(spec)
    if method == "exact":
        (found,) = compare(learned, sampling=QUICK, extract=("exact",)).extracted
    elif method == "clusters":
        found = extract_clusters(learned, words=20, length=40)
    else:
        found = extract_learning(learned, "kv" if method == "kv" else "lstar", words=20, length=60, depth=3)
    assert found.is_target, found.text
    assert len(found.automaton.states) == len(learned.target.automaton.states)
    assert separating_word(found.automaton, learned.target.machine) is None


def test_a_model_right_up_to_200_is_another_automaton() -> None:
    """A turn by 134/401 instead of 1/3: right on all words of up to 200 letters, wrong on 1^201."""
    pytest.importorskip("aalpy")
    learned = slow_drift(134, 401)
    start = learned.stepper.initial(1)
    states, right = start, []
    for t in range(1, 260):
        states = learned.stepper.step(states, np.array([1]))
        right.append(learned.stepper.decode(states, np.array([1]))[0] == t % 3)
    first = right.index(False) + 1
    assert first > 200
    found = extract_learning(learned, "kv", words=100, length=400, max_queries=300)
    assert not found.is_target
    assert not found.complete
    assert found.counterexample is not None
    assert len(found.counterexample) >= first
    assert found.confirmed
    assert is_wrong_on(learned, found)
    short = extract_learning(learned, "kv", words=100, length=200, max_queries=300)
    assert short.is_target  # its oracle does not reach beyond: the strength says so
    assert "200 letters" in short.strength


def test_a_finite_wrong_automaton_is_found_whole() -> None:
    """A turn by 3/7: a counter mod 7 read by thirds."""
    pytest.importorskip("aalpy")
    learned = slow_drift(3, 7)
    found = extract_learning(learned, "lstar", words=50, length=60)
    assert found.complete
    assert len(found.automaton.states) == 7
    assert not found.is_target
    assert is_wrong_on(learned, found)
    clusters = extract_clusters(learned)
    assert len(clusters.automaton.states) == 7
    assert clusters.counterexample == found.counterexample


def wandering(scale: float, spec: str = "S3") -> Learned:
    """A group by its constructed head, with directions on which small counts of letters are added up, beside a counting head."""
    lrnn = lrnn_of(spec)
    (head,) = learned_from_lrnn(lrnn).heads
    draw, n, more = np.random.default_rng(0), head.dim, 40
    width = head.H0.shape[1]
    A = np.repeat(np.eye(n + more)[None], len(head.A), axis=0)
    A[:, :n, :n] = head.A
    H0 = np.concatenate([head.H0, np.zeros((more, width))])
    B = np.zeros((len(A), n + more, width))
    B[:, n:] = scale * draw.standard_normal((len(A), more, width))
    carrying = LearnedHead("carrying", A, B, H0)
    counted = draw.standard_normal((len(A), 8, 1))
    counting = LearnedHead("counting", np.repeat(np.eye(8)[None], len(A), axis=0), counted, np.zeros((8, 1)))
    alone = learned_from_lrnn(lrnn)
    read = alone.read
    assert read is not None
    stepper = AffineStepper((carrying, counting), lambda H, x: read([H[0][:, :n]], x))
    return Learned(
        "wandering", alone.letters, (carrying, counting), alone.target, stepper, list, stepper.read, "fp64"
    )


def test_the_head_that_carries_the_states_is_found_among_wandering_ones() -> None:
    learned = wandering(0.02)
    points, moves, answers = observe_states(learned, 20, 40, 0, 4_000)
    together = clusters_of(learned, points, moves, answers, 0.5, 200)
    assert not together.complete  # a radius that is right for the carrying head
    found = extract_clusters(learned, words=20, length=40)
    assert "carrying" in found.strength
    assert found.is_target, found.text


def test_principal_directions_end_before_the_widest_gap() -> None:
    draw = np.random.default_rng(0)
    wide, thin = draw.standard_normal((3_000, 3)) * [5, 4, 3], draw.standard_normal((3_000, 20))
    turn = rotation(23, 1)
    given = 7 + np.concatenate([wide, thin], axis=1) @ turn
    centre, basis, gap = find_principal_directions(given)
    points = (given - centre) @ basis
    assert points.shape == (3_000, 3)
    assert 2.5 < gap < 3.2
    assert np.allclose(points.std(axis=0), [5, 4, 3], rtol=0.1)


def test_the_spanning_tree_is_minimal_and_keeps_short_edges() -> None:
    """Far from 0, five groups of points 1e-9 apart: every edge as by all pairs of differences (Kruskal)."""
    draw = np.random.default_rng(0)
    points = 50 + np.repeat(draw.standard_normal((5, 6)), 8, axis=0)
    points += 1e-9 * draw.standard_normal(points.shape)
    pairs = sorted(
        (float(np.linalg.norm(points[i] - points[j])), i, j) for i in range(len(points)) for j in range(i)
    )
    group, wanted = list(range(len(points))), []
    for length, i, j in pairs:
        if group[i] != group[j]:
            wanted.append(length)
            group = [group[i] if g == group[j] else g for g in group]
    found = [length for length, _, _ in spanning_tree(points)]
    assert np.allclose(found, wanted, rtol=1e-9, atol=0)
    assert found[34] < 1e-7 < found[35]


def test_states_of_many_entries_are_clustered_in_seconds() -> None:
    """Differences of all pairs take ten times as long here, and many minutes for a model of 12 heads of 32 by 32."""
    points = np.random.default_rng(0).standard_normal((1200, 4096))
    before = process_time()
    assert len(spanning_tree(points)) == 1199
    assert process_time() - before < 10


def test_limits() -> None:
    with pytest.raises(LimitError, match="max_points"):
        extract_clusters(slow_drift(1, 3), words=100, length=100)


@pytest.mark.long
@pytest.mark.parametrize(
    ("spec", "householders", "steps"), [("parity", 1, 300), ("mod:3", 2, 600), ("S3", 2, 600)]
)
def test_trained_models_give_their_automaton(spec: str, householders: int, steps: int) -> None:
    automaton = automaton_from_spec(spec)
    learned = learned_from_model(trained(automaton, householders=householders, steps=steps), automaton)
    assert follow_words(learned, Sampling(64, 24, 24)).accuracy == 1
    c = compare(learned, sampling=Sampling(128, 256, 24), extract=("exact",))
    (found,) = c.extracted
    assert found.is_target, found.text
    assert c.snapped.lrnn is not None
    assert check(c.snapped.lrnn).verdict == "valid"
    assert c.causal[-1].first_failure is None


@pytest.mark.long
def test_trained_on_positive_eigenvalues_it_must_fail() -> None:
    parity = automaton_from_spec("parity")
    learned = learned_from_model(trained(parity, eigenvalues=(0, 1), steps=200), parity)
    c = compare(learned, sampling=Sampling(128, 256, 24), arithmetic="per_step:bf16", extract=())
    assert c.trace.accuracy < 0.9
    assert c.failure.in_zero_one is not False
    assert c.failure.certificate is not None
    assert check(c.failure.certificate).verdict == "valid"
