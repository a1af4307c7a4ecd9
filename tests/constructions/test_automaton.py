"""The automaton type: validation, completion, minimisation, words."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirrormata import Automaton, InputError
from mirrormata.constructions.automata._automaton import minimise, separating_word
from mirrormata.constructions.automata._completing import object_array

PARITY = {"even": {"0": "even", "1": "odd"}, "odd": {"0": "odd", "1": "even"}}


def parity(**changes: object) -> Automaton:
    given: dict[str, object] = {"start": "even", "accepting": ["even"], **changes}
    return Automaton.from_transitions(PARITY, **given)  # type: ignore[arg-type]


@st.composite
def automata(draw: st.DrawFn) -> Automaton:
    n, k = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    row = st.lists(st.integers(0, n - 1), min_size=n, max_size=n)
    table = draw(st.lists(row, min_size=k, max_size=k))
    outputs = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return Automaton(tuple(range(n)), tuple("abc"[:k]), np.array(table), 0, object_array(outputs)).trim()


def test_everything_wrong_is_reported_at_once() -> None:
    with pytest.raises(InputError) as error:
        Automaton.from_transitions(
            {"p": {"0": "q", "2": "p"}, "q": {"0": "r"}, "s": {}},
            states=["p", "q"], letters=["0", "1"], start="z", accepting=["q", "w"],
        )  # fmt: skip
    message = str(error.value)
    assert "\n" not in message
    for part in ("'z'", "'w'", "'2'", "'r'", "'s'"):
        assert part in message


@pytest.mark.parametrize("states", [[1, True], [0, False], [1, 1.0], [math.nan], [[1]], ["a", "a"]])
def test_labels_that_cannot_be_told_apart_are_refused(states: list[object]) -> None:
    with pytest.raises(InputError):
        Automaton(tuple(states), ("x",), np.zeros((1, len(states)), dtype=int), 0, object_array(states))


@pytest.mark.parametrize("label", [None, frozenset(), "", (), ("a", 1), -1])
def test_any_hashable_label_works(label: object) -> None:
    automaton = Automaton.from_transitions({label: {"x": "other"}, "other": {"x": label}}, start=label)
    assert automaton.after("x") == "other"
    assert automaton.after("xx") == label
    assert len(minimise(automaton).states) == 2


@pytest.mark.parametrize(
    ("written", "meant"),
    [("evn", "even"), ("Even", "even"), ("evens", "even"), ("evan", "even"), ("eeven", "even")],
)
def test_a_next_state_that_is_misspelt_is_named(written: str, meant: str) -> None:
    rows = {"even": {"a": "odd"}, "odd": {"a": written, "b": written}}
    for form in (rows, [(q, x, r) for q, row in rows.items() for x, r in row.items()]):
        with pytest.raises(InputError) as error:
            Automaton.from_transitions(form, start="even")
        message = str(error.value)
        assert message.count(f"did you mean {meant!r}?") == 2
        assert f"{written!r}: {{}}" in message
        assert "\n" not in message
    # with a row of its own, or named elsewhere, it is a state
    assert written in Automaton.from_transitions({**rows, written: {}}, start="even").states
    assert written in Automaton.from_transitions(rows, start="even", accepting=[written]).states
    assert written in Automaton.from_transitions(rows, start="even", states=["even", "odd", written]).states


@pytest.mark.parametrize(
    ("known", "other"),
    [("q0", "q1"), ("q1", "q10"), ("stateA", "stateB"), ("a", "b"), ("s_a", "s_b"), ("even", "odd")],
)
def test_names_that_are_counted_are_different_names(known: str, other: str) -> None:
    automaton = Automaton.from_transitions({known: {"x": other}}, start=known)
    assert automaton.states == (known, other, "sink")
    assert "completed 1 missing transition" in automaton.notes[0]


def test_completion_adds_one_sink_that_collides_with_none() -> None:
    automaton = Automaton.from_transitions(
        {"sink": {"x": "sink_1"}, "sink_1": {"y": "sink"}}, start="sink", accepting=["sink_1"]
    )
    assert automaton.states == ("sink", "sink_1", "sink_2")
    assert automaton.output("x") is True
    assert automaton.output("y") is False
    assert automaton.output("yxyx") is False
    assert "sink_2" in automaton.notes[0]


def test_unreachable_states_are_dropped_and_named() -> None:
    automaton = Automaton.from_transitions({"p": {"x": "p"}, "lost": {"x": "p"}}, start="p")
    assert automaton.states == ("p",)
    assert "'lost'" in automaton.notes[0]


def test_arrays_cannot_be_changed() -> None:
    automaton = parity()
    with pytest.raises(ValueError, match="read-only"):
        automaton.transitions[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        automaton.outputs[0] = None


def test_words_of_letters_with_several_characters() -> None:
    automaton = Automaton.from_transitions(
        {"p": {"aa": "q", "b": "p"}, "q": {"aa": "p", "b": "q"}}, start="p"
    )
    assert automaton.after(["aa", "b"]) == "q"
    assert automaton.after("aa b") == "q"
    with pytest.raises(InputError, match="blanks"):
        automaton.after("aab")
    with pytest.raises(InputError, match="not a letter"):
        automaton.after(["c"])


def test_trace_agrees_with_after() -> None:
    automaton = parity()
    letters = np.array([[0, 1, 1, 0, 1], [1, 1, 1, 1, 1]])
    traced = automaton.trace(letters)
    for row, word in zip(traced, letters, strict=True):
        for t in range(len(word)):
            assert automaton.states[row[t]] == automaton.after([automaton.letters[x] for x in word[: t + 1]])


def test_merged_pair_is_a_witness() -> None:
    assert parity().find_merged_pair() is None
    automaton = Automaton.from_transitions({0: {"a": 1}, 1: {"a": 2}, 2: {"a": 1}}, start=0)
    merged = automaton.find_merged_pair()
    assert merged is not None
    x, p, q = merged
    assert p != q
    assert automaton.transitions[x, p] == automaton.transitions[x, q]


@given(automata())
def test_minimal_automata_accept_the_same_words(automaton: Automaton) -> None:
    small = minimise(automaton)
    for length in range(6):
        for word in itertools.product(automaton.letters, repeat=length):
            assert small.output(word) == automaton.output(word)
    assert separating_word(automaton, small) is None


@given(automata())
def test_states_of_a_minimal_automaton_are_told_apart(automaton: Automaton) -> None:
    small = minimise(automaton)
    words = [
        w for length in range(len(small.states)) for w in itertools.product(small.letters, repeat=length)
    ]
    signatures = set()
    for q in range(len(small.states)):
        outputs = []
        for word in words:
            state = q
            for x in word:
                state = int(small.transitions[small.letter_index(x), state])
            outputs.append(small.outputs[state])
        signatures.add(tuple(outputs))
    assert len(signatures) == len(small.states)


@given(automata(), automata())
def test_separating_words_are_shortest_and_right(first: Automaton, second: Automaton) -> None:
    if set(first.letters) != set(second.letters):
        with pytest.raises(InputError):
            separating_word(first, second)
        return
    word = separating_word(first, second)
    if word is None:
        return
    assert first.output(word) != second.output(word)
    for length in range(min(len(word), 5)):
        for shorter in itertools.product(first.letters, repeat=length):
            assert first.output(shorter) == second.output(shorter)


def test_outputs_of_different_types_stay_apart() -> None:
    automaton = Automaton(("p", "q"), ("x",), np.array([[1, 0]]), 0, object_array([1, True]))
    assert len(minimise(automaton).states) == 2


def test_mealy_minimisation_keeps_outputs() -> None:
    automaton = Automaton.from_transitions(
        {"p": {"x": "q"}, "q": {"x": "r"}, "r": {"x": "p"}}, start="p",
        mealy={"p": {"x": 0}, "q": {"x": 0}, "r": {"x": 1}},
    )  # fmt: skip
    assert automaton.is_mealy
    assert len(minimise(automaton).states) == 3
    assert [automaton.output("x" * t) for t in range(1, 7)] == [0, 0, 1, 0, 0, 1]
