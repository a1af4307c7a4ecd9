"""Extraction within its time and queries: what it has by then is kept, and states that close are compared with all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Indices, separating_word
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models.comparison import _learning
from mirrormata.models.comparison._budget import Clock, OutOfBudgetError
from mirrormata.models.comparison._compare import compare
from mirrormata.models.comparison._extraction import Method, extract_clusters, extract_learning
from mirrormata.models.comparison._learning import Teacher, _contradict, default_queries
from mirrormata.models.comparison._result import Tolerances
from mirrormata.models.comparison._sources import learned_from_lrnn, learned_from_stepper
from mirrormata.models.comparison._state_graph import follow_states, machine_of_states
from mirrormata.models.comparison._states import Sampling
from mirrormata.models.learned._learned import Learned, output_target
from mirrormata.theory.proofs._answers import answers_of

from ..cli.command_line import Outcome
from .test_comparison import lrnn_of
from .test_extraction import constructed_model, is_wrong_on, slow_drift

LEARNERS: tuple[Method, ...] = ("kv", "lstar")
QUICK = Sampling(words=32, length=64, fit=16)


class Counter:
    """Counts the letters 1 and says a number for each count; from the last one on it goes on at `back`."""

    def __init__(self, said: list[int], back: int = 0) -> None:
        self.said, self.back, self.steps = np.array(said), back, 0

    def initial(self, sequences: int) -> Indices:
        return np.zeros(sequences, dtype=np.int64)

    def step(self, states: Indices, letters: Indices) -> Indices:
        self.steps += len(states)
        after = states + letters
        return np.where(after == len(self.said), self.back, after)

    def decode(self, states: Indices, letters: Indices) -> Indices:
        return self.said[states]


def counter(said: list[int], back: int = 0) -> Learned:
    """A counter that should be mod 3."""
    return learned_from_stepper(Counter(said, back), automaton_from_spec("mod:3"))


@pytest.mark.parametrize("method", LEARNERS)
def test_states_that_close_are_compared_on_all_words(method: Method) -> None:
    pytest.importorskip("aalpy")
    found = extract_learning(counter([0, 0, 1, 1, 1, 2, 2]), method, words=0)
    assert found.complete
    assert len(found.automaton.states) == 7
    assert "all words, whose 7 states were followed until none was new" in found.strength
    assert found.counterexample == ("1",)
    assert found.confirmed
    assert found.stopped is None
    assert found.queries is not None
    assert 7 <= found.queries <= default_queries(3, 2)


@pytest.mark.parametrize("method", LEARNERS)
def test_a_word_that_no_random_one_reaches_is_found(method: Method) -> None:
    """Right for 700 letters 1, more than random words of 500 letters have; the graph of states has the word."""
    pytest.importorskip("aalpy")
    learned = counter([t % 3 for t in range(701)], 700)
    found = extract_learning(learned, method, max_queries=200)
    assert not found.complete
    assert found.counterexample == ("1",) * 701
    assert found.confirmed
    assert found.stopped is not None
    assert len(found.automaton.states) == 3  # the hypothesis that was right longest


def test_answers_that_are_not_asked_belong_to_pairs_of_states() -> None:
    """A model of one state whose right answers are asked at some places only; the target says where."""
    automaton = automaton_from_spec("mod:3")
    learned = counter([0, 1, 2])
    table = learned.target.table.copy()
    table[:, 1] = -1
    target = type(learned.target)(automaton, table, learned.target.names)
    asked = Learned(
        "asked", learned.letters, (), target, Counter([0]), lambda _: [], None, "exact"
    )  # whose state is always 0
    machine = machine_of_states(asked)
    assert machine is not None
    graph = follow_states(asked, machine, Clock())
    assert graph is not None
    assert graph.transitions.shape == (2, 3)
    assert graph.answers_to((0, 1, 1, 1)) == [0, 0, -1, 0]


def test_a_model_that_drifts_away_is_not_learned_further() -> None:
    """A further automaton would have hundreds of states: no query is spent on it."""
    pytest.importorskip("aalpy")
    for method in LEARNERS:
        found = extract_learning(slow_drift(134, 401), method, words=100, length=400, max_states=50)
        assert len(found.automaton.states) == 3
        assert found.stopped is not None
        assert "it is the target below" in found.stopped
        assert found.queries is not None
        assert found.queries < 50
        assert not found.complete
        assert found.confirmed
        assert is_wrong_on(slow_drift(134, 401), found)


def test_a_hypothesis_so_far_is_kept_at_the_limit_of_queries() -> None:
    pytest.importorskip("aalpy")
    found = extract_learning(constructed_model("S3"), "kv", words=20, length=60, max_queries=30)
    assert found.stopped == "`max_queries` 30"
    assert found.queries == 30
    assert not found.complete
    assert not found.is_target
    assert 1 <= len(found.automaton.states) < 6
    assert "30 queries" in found.text
    with pytest.raises(LimitError, match=r"no hypothesis within `max_queries` 1"):
        extract_learning(constructed_model("S3"), "lstar", max_queries=1)


def test_a_clock_ends_every_method(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aalpy")
    learned = slow_drift(1, 3)
    for method in LEARNERS:
        with pytest.raises(LimitError, match="no hypothesis within its 0 s: give it more time"):
            extract_learning(learned, method, max_seconds=0)
    with pytest.raises(LimitError, match="no clusters within its 0 s"):
        extract_clusters(learned, max_seconds=0)
    clock = Clock(0.0)
    assert clock.is_over
    with pytest.raises(OutOfBudgetError):
        clock.look()
    # time that is over after the first hypothesis: it is kept
    now = iter(range(10_000))
    monkeypatch.setattr("mirrormata.models.comparison._budget.time.monotonic", lambda: next(now) * 1e-3)
    found = extract_learning(constructed_model("S3"), "kv", words=20, length=60, max_seconds=0.1)
    assert found.stopped == "its 0.1 s"
    assert not found.complete


def test_random_words_are_cut_where_time_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aalpy")
    now = iter(range(100_000))
    learned = slow_drift(1, 3)
    monkeypatch.setattr(_learning, "follow_states", lambda *_: None)
    monkeypatch.setattr("mirrormata.models.comparison._budget.time.monotonic", lambda: next(now) * 1e-3)
    found = extract_learning(learned, "kv", words=5, length=4_000, max_seconds=4)
    assert "(of 4000, for lack of time)" in found.strength
    assert found.is_target


def test_progress_is_the_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now, shares = iter(range(100)), list[float]()
    monkeypatch.setattr("mirrormata.models.comparison._budget.time.monotonic", lambda: float(next(now)))
    clock = Clock(50, shares.append)
    for _ in range(5):
        clock.look()
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1


@pytest.mark.parametrize("ways", [("exact", "kv", "lstar", "clusters"), ("lstar", "clusters", "kv")])
def test_an_interrupt_keeps_what_is_finished(
    monkeypatch: pytest.MonkeyPatch, ways: tuple[Method, ...]
) -> None:
    """Ctrl-C while a learner asks its 40th word: its hypothesis and what came before are in the result, the rest is a note."""
    pytest.importorskip("aalpy")
    learned, ask, asked = learned_from_lrnn(lrnn_of("S3")), Teacher.answers_to, list[Any]()

    def interrupted(self: Teacher, word: tuple[int, ...], clock: Clock) -> list[int]:
        asked.append(word)
        if len(asked) == 60:
            raise KeyboardInterrupt
        return ask(self, word, clock)

    monkeypatch.setattr(Teacher, "answers_to", interrupted)
    found = compare(learned, sampling=QUICK, extract=ways)
    assert len(asked) == 60
    kept = [e.method for e in found.extracted]
    assert kept == list(ways[: len(kept)])
    assert len(kept) < len(ways)
    (note,) = [note for note in found.notes if "interrupted" in note]
    assert all(way in note for way in ways[len(kept) :])


def test_time_that_is_over_leaves_what_is_exact() -> None:
    pytest.importorskip("aalpy")
    learned = learned_from_lrnn(lrnn_of("S3"))
    found = compare(
        learned,
        sampling=QUICK,
        extract=("exact", "clusters", "kv", "lstar"),
        tolerances=Tolerances(extract_seconds=0),
    )
    assert [e.method for e in found.extracted] == ["exact"]
    assert sum("no extraction by" in note for note in found.notes) == 3
    with pytest.raises(InputError, match="extract_seconds"):
        Tolerances(extract_seconds=-1)


def test_an_answer_that_side_by_side_differs_is_corrected() -> None:
    """The model read alone decides; a test that says otherwise is no counterexample, and is asked about once."""

    class System:
        asked = 0

        def query(self, word: tuple[int, ...]) -> list[int]:
            self.asked += 1
            return [0] * len(word)

    batch, given = np.zeros((2, 5), dtype=np.int64), np.zeros((2, 5), dtype=np.int64)
    given[1, 3] = 1
    table, outputs = np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
    system = System()
    assert _contradict(table, outputs, 0, [(batch, given)], system) is None
    assert system.asked == 1
    assert not given.any()


def test_a_word_goes_on_from_the_prefix_that_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    stepper = Counter([0, 1, 2])
    learned = learned_from_stepper(stepper, automaton_from_spec("mod:3"))
    teacher, word = Teacher(learned), (1, 1, 0, 1)
    before = stepper.steps
    assert teacher.answers_to(word, Clock()) == [1, 2, 2, 0]
    assert stepper.steps - before == 3 + 2  # both last letters side by side
    before = stepper.steps
    assert teacher.answers_to((1, 1, 0, 0), Clock()) == [1, 2, 2, 2]
    assert stepper.steps == before
    assert teacher.answers_to((*word, 1), Clock()) == [1, 2, 2, 0, 1]
    assert stepper.steps - before == 2
    # without room for states, a word is read from the start, and the answers are the same
    monkeypatch.setattr(_learning, "KEPT_BYTES", 0)
    draw = np.random.default_rng(0)
    teacher = Teacher(learned)
    for _ in range(50):
        word = tuple(draw.integers(0, 2, draw.integers(1, 9)).tolist())
        assert teacher.answers_to(word, Clock()) == (np.cumsum(word) % 3).tolist()


def test_outputs_are_learned_as_states_are() -> None:
    pytest.importorskip("aalpy")
    automaton = automaton_from_spec("parity")
    learned = learned_from_lrnn(lrnn_of("parity"), automaton=automaton)
    assert learned.target.names == output_target(answers_of(automaton, automaton, "parity")).names
    for method in LEARNERS:
        found = extract_learning(learned, method)
        assert found.is_target
        assert separating_word(found.automaton, learned.target.machine) is None
        assert "2 states were followed" in found.strength


def test_the_command_has_both_budgets(call: Callable[..., Outcome], tmp_path: Any) -> None:
    pytest.importorskip("aalpy")
    ways, short = ("--extract", "kv,lstar"), ("--words", "16", "--length", "32", "--fit", "8")
    done = call("compare", "S3", "S3", *ways, *short, "--json")
    assert done.status == 0, done.err
    document = json.loads(done.out)
    assert [e["stopped"] for e in document["extracted_automaton"]] == [None, None]
    assert all(e["is_target"] and e["queries"] and e["seconds"] >= 0 for e in document["extracted_automaton"])
    done = call("compare", "S3", "S3", *ways, *short, "--extract-seconds", "0")
    assert done.status == 0, done.err
    assert "no hypothesis within its 0 s" in " ".join(done.out.split())
    done = call("compare", "S3", "S3", *ways, *short, "--max-queries", "20")
    assert "--max-queries 20" in " ".join(done.out.split())
    assert call("compare", "S3", "S3", "--extract-seconds", "-1").status == 2
