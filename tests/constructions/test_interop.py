"""Automata from and to automata-lib, callables, networkx and sympy: laws, round trips, and what is refused."""

import itertools
import math
from typing import Any

import networkx
import numpy as np
import pytest
from automata.fa.dfa import DFA
from automata.fa.gnfa import GNFA
from automata.fa.nfa import NFA
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.combinatorics import Permutation, PermutationGroup
from sympy.combinatorics.named_groups import DihedralGroup, SymmetricGroup

from mirrormata.constructions._conversions import (
    from_automata_lib,
    from_callable,
    from_networkx,
    from_permutation_group,
)
from mirrormata.constructions._exports import to_automata_lib, to_networkx, to_permutation_group
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton, separating_word
from mirrormata.constructions.formats.regex import from_regex
from mirrormata.foundation._errors import InputError, LimitError

WORDS = ["".join(w) for n in range(6) for w in itertools.product("ab", repeat=n)]


@st.composite
def partial_dfas(draw: st.DrawFn) -> DFA:
    n = draw(st.integers(1, 5))
    states: list[Any] = [None, frozenset(), "", (1, "x"), 7][:n]
    target = st.sampled_from(states)
    rows = {q: draw(st.dictionaries(st.sampled_from("ab"), target, max_size=2)) for q in states}
    return DFA(
        states=set(states),
        input_symbols={"a", "b"},
        transitions=rows,
        initial_state=draw(target),
        final_states=set(draw(st.lists(target))),
        allow_partial=True,
    )


def accepts(dfa: DFA, word: str) -> bool:
    # automata-lib's own `accepts_input` takes a missing transition for the state None
    state = dfa.initial_state
    for letter in word:
        if letter not in dfa.transitions[state]:
            return False
        state = dfa.transitions[state][letter]
    return state in dfa.final_states


@settings(deadline=None)
@given(partial_dfas())
def test_dfa_keeps_language_and_labels(dfa: DFA) -> None:
    automaton = from_automata_lib(dfa)
    assert automaton.letters == ("a", "b")
    assert automaton.start == 0
    assert set(automaton.states) - {"sink"} <= set(dfa.states)
    smaller = from_automata_lib(dfa, track="output")
    back = to_automata_lib(automaton)
    minimal = back.minify()
    assert len(minimal.states) == len(smaller.states)
    for word in WORDS:
        expected = accepts(dfa, word)
        assert automaton.output(word) is smaller.output(word) is expected
        assert back.accepts_input(word) is expected


@st.composite
def nfas(draw: st.DrawFn) -> NFA:
    n = draw(st.integers(1, 4))
    arcs = draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.sampled_from(["", "a", "b"]), st.integers(0, n - 1)))
    )
    rows: dict[int, dict[str, set[int]]] = {q: {} for q in range(n)}
    for q, x, r in arcs:
        rows[q].setdefault(x, set()).add(r)
    final = set(draw(st.lists(st.integers(0, n - 1))))
    return NFA(
        states=set(range(n)), input_symbols={"a", "b"}, transitions=rows, initial_state=0, final_states=final
    )


@settings(deadline=None, max_examples=60)
@given(nfas())
def test_nfa_and_gnfa_keep_the_language(nfa: NFA) -> None:
    automaton = from_automata_lib(nfa)
    assert any("determinised" in note for note in automaton.notes)
    gnfa = GNFA.from_nfa(nfa)
    through_patterns = from_automata_lib(gnfa)
    assert [automaton.output(w) for w in WORDS] == [nfa.accepts_input(w) for w in WORDS]
    assert separating_word(automaton, through_patterns) is None


def test_limits() -> None:
    nfa = NFA.from_regex("(a|b)*a" + "(a|b)" * 12, input_symbols={"a", "b"})
    with pytest.raises(LimitError, match="`max_states`"):
        from_automata_lib(nfa, max_states=100)
    with pytest.raises(LimitError, match="`max_states`"):
        from_callable(lambda q, x: q + 1, 0, "a", max_states=10)


def test_automata_lib_refusals() -> None:
    with pytest.raises(InputError, match="DFA, NFA or GNFA"):
        from_automata_lib("not a machine")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="acceptance"):
        to_automata_lib(automaton_from_spec("S3"))
    with pytest.raises(InputError, match="''"):
        to_automata_lib(Automaton(("p",), ("",), np.zeros((1, 1), int), 0, np.array([True])))


def test_callable_counts_modulo() -> None:
    automaton = from_callable(lambda q, x: (q + x) % 5, 0, [0, 1, 2], outputs=lambda q: q == 0)
    assert automaton.states == (0, 1, 2, 3, 4)
    assert automaton.output([1, 2, 2]) is True
    assert automaton.output([1, 2]) is False


def test_labels_that_work() -> None:
    labels: list[Any] = [None, frozenset(), "", (), (None,)]
    automaton = from_callable(lambda q, x: labels[(labels.index(q) + 1) % 5], None, [frozenset({1}), ""])
    assert automaton.states == tuple(labels)
    assert automaton.after(["", frozenset({1})]) == ""


@pytest.mark.parametrize(
    ("function", "start", "letters", "part"),
    [
        (lambda q, x: True, 1, "a", "equal in Python"),
        (lambda q, x: (True,), (1,), "a", "from state"),
        (lambda q, x: math.nan, 1, "a", "not equal to itself"),
        (lambda q, x: q, math.nan, "a", "not equal to itself"),
        (lambda q, x: [q], 1, "a", "not hashable"),
        (lambda q, x: q, 1, [1, True], "equal in Python"),
        (lambda q, x: q, 1, "aa", "twice"),
    ],
)
def test_labels_that_are_refused(function: Any, start: Any, letters: Any, part: str) -> None:
    with pytest.raises(InputError, match=part):
        from_callable(function, start, letters)


@pytest.mark.parametrize("name", ["parity", "S3", "tomita:4", "flipflop", "mod_arith:3"])
def test_networkx_round_trip(name: str) -> None:
    automaton = automaton_from_spec(name)
    again = from_networkx(to_networkx(automaton))
    assert (again.states, again.letters, again.start) == (
        automaton.states,
        automaton.letters,
        automaton.start,
    )
    assert np.array_equal(again.transitions, automaton.transitions)
    assert again.outputs.tolist() == automaton.outputs.tolist()


def test_networkx_mealy_round_trip() -> None:
    automaton = Automaton(("p", "q"), ("a",), np.array([[1, 0]]), 1, np.array([["x", "y"]], dtype=object))
    again = from_networkx(to_networkx(automaton))
    assert again.outputs.tolist() == [["x", "y"]]
    assert again.start == 1


def test_networkx_by_hand() -> None:
    graph: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph()
    graph.add_edge("p", "q", letter="a")
    graph.add_edge("q", "p", letter="a")
    graph.add_edge("q", "q", letter="b")
    automaton = from_networkx(graph, start="p")
    assert automaton.states == ("p", "q", "sink")
    with pytest.raises(InputError, match="start"):
        from_networkx(graph)
    graph.add_edge("q", "p", letter="b")
    graph.add_edge("p", "p")
    with pytest.raises(InputError, match=r"no attribute 'letter'.*not deterministic"):
        from_networkx(graph, start="p")
    with pytest.raises(InputError, match="directed"):
        from_networkx(networkx.Graph(), start="p")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="None"):
        to_networkx(from_callable(lambda q, x: q, None, "a"))
    with pytest.raises(InputError, match="'z'"):
        from_networkx(networkx.MultiDiGraph([("p", "q", {"letter": "a"})]), start="z")


@pytest.mark.parametrize("group", [SymmetricGroup(4), DihedralGroup(5), PermutationGroup([Permutation(3)])])
def test_permutation_groups_round_trip(group: Any) -> None:
    automaton = from_permutation_group(group)
    assert len(automaton.states) == group.degree
    again = to_permutation_group(automaton)
    assert again.order() == group.order()
    assert [g.array_form for g in again.generators] == automaton.transitions.tolist()


def test_permutation_group_refusals() -> None:
    with pytest.raises(InputError, match=r"letter '0' .* to one state"):
        to_permutation_group(automaton_from_spec("flipflop"))
    with pytest.raises(InputError, match="PermutationGroup"):
        from_permutation_group([1, 0])
    with pytest.raises(InputError, match="start 4"):
        from_permutation_group(SymmetricGroup(4), start=4)
    with pytest.raises(InputError, match="1 letters for 2"):
        from_permutation_group(SymmetricGroup(4), letters="a")


def test_group_of_a_pattern() -> None:
    assert to_permutation_group(from_regex("(aaa)*")).order() == 3
