"""Wherever an automaton is wanted, everything that stands for one is taken; what does not is refused in one line."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import networkx
import pytest
from aalpy.automata import (
    Dfa,
    DfaState,
    MealyMachine,
    MealyState,
    MooreMachine,
    MooreState,
    Onfsm,
    OnfsmState,
)
from automata.fa.dfa import DFA
from sympy.combinatorics.named_groups import CyclicGroup

from mirrormata import Automaton, InputError, check, construct, plan, prove
from mirrormata.constructions._conversions import as_automaton, from_aalpy, from_callable
from mirrormata.constructions._exports import to_networkx, write_automaton
from mirrormata.constructions._inspection import inspect_automaton, is_synchronising, reset_word
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import separating_word
from mirrormata.theory.pictures._automaton import svg_text

ROWS = {"even": {"a": "odd"}, "odd": {"a": "even"}}
KEYWORDS = {"transitions": ROWS, "start": "even", "accepting": ["even"]}
PARITY = Automaton.from_transitions(ROWS, start="even", accepting=["even"], name="parity of a")


def aalpy_machine(kind: str) -> Any:
    even: Any
    odd: Any
    if kind == "dfa":
        even, odd = DfaState("even", True), DfaState("odd")
    elif kind == "moore":
        even, odd = MooreState("even", True), MooreState("odd", False)
    else:
        even, odd = MealyState("even"), MealyState("odd")
        even.output_fun, odd.output_fun = {"a": False}, {"a": True}
    even.transitions, odd.transitions = {"a": odd}, {"a": even}
    return {"dfa": Dfa, "moore": MooreMachine, "mealy": MealyMachine}[kind](even, [even, odd])


def forms(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "parity.json"
    PARITY.save(path)
    return {
        "automaton": PARITY,
        "spec": "regex:(aa)*",
        "file": str(path),
        "path": path,
        "dict": KEYWORDS,
        "automata-lib": DFA(
            states={"even", "odd"}, input_symbols={"a"}, transitions=ROWS, initial_state="even", final_states={"even"}
        ),
        "networkx": to_networkx(PARITY),
        "aalpy": aalpy_machine("dfa"),
        "aalpy moore": aalpy_machine("moore"),
        "construction": construct(PARITY),
    }  # fmt: skip


def test_every_form_gives_the_same_automaton(tmp_path: Path) -> None:
    for form, value in forms(tmp_path).items():
        assert separating_word(as_automaton(value), PARITY) is None, form
        assert as_automaton(value).letters == ("a",), form


def test_every_function_takes_every_form(tmp_path: Path) -> None:
    certificate = tmp_path / "c.json"
    construct(PARITY).save(certificate)
    for form, value in forms(tmp_path).items():
        lrnn = construct(value)
        assert lrnn.automaton.accepts("aa"), form
        assert prove(lrnn, value, "exact").verdict == "equivalent", form
        assert check(certificate, value).verdict == "valid", form
        assert plan(value).offers, form
        assert inspect_automaton(value).monoid == 2, form
        assert is_synchronising(value) is False, form
        assert reset_word(value) is None, form
        assert svg_text(value).startswith("<?xml"), form
        write_automaton(value, tmp_path / "again.json")


def test_what_has_no_outputs_of_its_own_answers_its_states() -> None:
    assert as_automaton(ROWS).output("aaa") == "odd"
    assert as_automaton(ROWS, start="odd").run("a") == ("odd", "even")
    assert as_automaton(CyclicGroup(5)).output([as_automaton(CyclicGroup(5)).letters[0]] * 6) == 1
    moves = as_automaton(lambda q, x: (q + x) % 3, start=0, letters=(1, 2))
    assert moves.run([1, 1, 2]) == (0, 1, 2, 1)
    assert as_automaton("mod:7", start="3").run("1") == (3, 4)


def test_aalpy_machines_keep_their_outputs() -> None:
    assert from_aalpy(aalpy_machine("mealy")).output("aa") is True
    assert from_aalpy(aalpy_machine("moore"), track="output").states == ("even", "odd")
    state: Any = OnfsmState("q")
    with pytest.raises(InputError, match="an AALpy Dfa, MooreMachine or MealyMachine is needed, not a Onfsm"):
        as_automaton(Onfsm(state, [state]))


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (3, "`automaton` 3 is of the type int and no automaton; give a SPEC string such as 'S5'"),
        (None, "`automaton` None is of the type NoneType"),
        (["a"], r"`automaton` ['a'] is of the type list"),
        (Automaton, "is of the type type"),
        (lambda q, x: q, "`automaton` is a function, whose start state and letters are not known"),
        ({}, "`automaton` is a dict without states"),
        ({"q": 3}, "`automaton`: 3 stands for the state 'q'"),
        ({**KEYWORDS, "finals": []}, "`automaton` has the key 'finals', which is not known"),
        (networkx.Graph([("p", "q")]), "a directed graph is needed"),
        ("no such name", "is not a name of the library"),
    ],
)
def test_wrong_types_are_refused_in_one_line(value: Any, part: str) -> None:
    for function in (as_automaton, construct, inspect_automaton, plan):
        with pytest.raises(InputError) as caught:
            function(value)
        assert part in str(caught.value)
        assert "\n" not in str(caught.value)


def test_words_of_an_automaton() -> None:
    assert PARITY.accepts("")
    assert not PARITY.accepts("a")
    assert PARITY.run("aaa") == ("even", "odd", "even", "odd")
    assert PARITY.run("") == ("even",)
    assert PARITY.output("aa") is True
    with pytest.raises(InputError, match=r"`output\(word\)` gives the output"):
        as_automaton(ROWS).accepts("a")
    with pytest.raises(InputError, match="'b' is not a letter; separated by blanks"):
        PARITY.run("ab")


def test_repr_is_one_true_line() -> None:
    assert repr(PARITY) == "<Automaton 'parity of a': 2 states, 1 letter, start 'even'>"
    assert repr(as_automaton(aalpy_machine("mealy"))).endswith("start 'even', Mealy outputs>")
    assert len(repr(as_automaton("S5"))) < 200
    wide = from_callable(lambda q, x: q, "x" * 1000, "a", name="y" * 500)
    assert len(repr(wide)) < 200
    assert "\n" not in repr(wide)
    assert "<table>" in PARITY._repr_html_()


def test_saving_reads_back_what_it_writes(tmp_path: Path) -> None:
    for extension in (".json", ".dot", ".mata", ".att"):
        PARITY.save(tmp_path / f"p{extension}")
        assert separating_word(as_automaton(tmp_path / f"p{extension}"), PARITY) is None
    for extension in (".yaml", ".pickle", ""):
        with pytest.raises(InputError, match=r"automata are written as \.att, .*\.dot, .*\.tsv or \.txt"):
            PARITY.save(tmp_path / f"p{extension}")
    with pytest.raises(InputError, match="cannot hold this automaton"):
        PARITY.save(tmp_path / "p.txt")


TABLE = {"even": {"a": "odd", "b": "even"}, "odd": {"a": "even", "b": "odd"}}
PAIRS = {(q, x): r for q, row in TABLE.items() for x, r in row.items()}


@pytest.mark.parametrize(
    "given",
    [
        TABLE,
        PAIRS,
        [(*key, r) for key, r in PAIRS.items()],
        [[*key, r] for key, r in PAIRS.items()],
        {"transitions": TABLE, "start": "even"},
        {"transitions": PAIRS, "start": "even"},
        {"transitions": [(*key, r) for key, r in PAIRS.items()], "start": "even", "letters": ["a", "b"]},
    ],
)
def test_dicts_of_rows_and_pairs_and_triples_are_one_automaton(given: Any) -> None:
    automaton = as_automaton(given)
    assert automaton.states == ("even", "odd")
    assert automaton.letters == ("a", "b")
    assert automaton.transitions.tolist() == [[1, 0], [0, 1]]
    if "transitions" not in given:
        built = Automaton.from_transitions(given, start="odd")
        assert built.transitions.tolist() == [[1, 0], [0, 1]]
        assert built.start == 1


def test_states_that_are_pairs_stay_states() -> None:
    rows = {(0, 0): {"x": (0, 1)}, (0, 1): {"x": (0, 0)}}
    assert as_automaton(rows).states == ((0, 0), (0, 1))


def test_sets_of_next_states_are_determinised() -> None:
    rows = {"p": {"a": {"p", "q"}, "b": {"p"}}, "q": {"b": ["r"]}, "r": {"": frozenset({"q"})}}
    given = {"transitions": rows, "start": "p", "accepting": {"r"}}
    automaton = as_automaton(given)
    moves = {("p", "a"): "pq", ("p", "b"): "p", ("q", "b"): "rq"}
    for length in range(6):
        for word in itertools.product("ab", repeat=length):
            states = set("p")
            for x in word:
                states = {r for q in states for r in moves.get((q, x), "")}
            assert automaton.output(word) is ("r" in states)
    keywords = {
        "initial_state": "p",
        "input_symbols": {"b", "a"},
        "final_states": {"r"},
        "states": set("pqr"),
    }
    assert separating_word(as_automaton({"transitions": rows, **keywords}), automaton) is None


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ([("p", "a", "q"), ("p", "a", "p")], "not deterministic; give as_automaton"),
        ({"p": {"a": {"p"}}}, "which only an acceptor can have"),
        ({"transitions": {"p": {"a": {"q"}}}, "accepting": []}, "next state 'q' does not exist"),
        ({"transitions": {"p": {"a": {"p"}}}, "accepting": ["z"]}, "accepting state 'z' does not exist"),
        ({"transitions": {"p": {"a": [["p"]]}}, "accepting": []}, "is not hashable"),
        ({"transitions": {"p": {"a": {"p"}}}, "accepting": [], "mealy": {}}, "cannot have `mealy`"),
        ([(["p"], "a", "q")], "not hashable"),
    ],
)
def test_wrong_lists_and_sets_are_one_line(given: Any, part: str) -> None:
    if "'q' does not exist" in part:
        given = {**given, "states": ["p"]}
    with pytest.raises(InputError) as caught:
        as_automaton(given)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_from_transitions_names_the_way_for_sets() -> None:
    with pytest.raises(InputError, match="as_automaton takes such sets"):
        Automaton.from_transitions({"p": {"a": {"p"}}}, start="p")


@pytest.mark.parametrize("prefix", ["re", "regexp", "Regex", "REGEX", "rgex", "reg-ex"])
def test_a_wrong_prefix_is_told_the_nearest(prefix: str) -> None:
    for pattern in ("(ab)*", "ab", "a:b"):
        with pytest.raises(InputError, match=rf"; did you mean regex:{re.escape(pattern)}\?$"):
            automaton_from_spec(f"{prefix}:{pattern}")


def test_a_prefix_like_none_is_no_part_of_the_pattern() -> None:
    with pytest.raises(InputError, match=r"; a pattern is written regex:\(ab\)\*$"):
        automaton_from_spec("foo:(ab)*")
    with pytest.raises(InputError, match=r"did you mean tomita:i"):
        automaton_from_spec("tomta:3")


def test_what_looks_like_a_pattern_is_told_how_one_is_written() -> None:
    for spec in ("(ab|ba)*c?", "a+b", "S 5", "[ab]c"):
        with pytest.raises(InputError, match=rf"pattern is written regex:{re.escape(spec)}$"):
            construct(spec)
    for spec in ("parrity", "xyzzyx", "a\n*"):
        with pytest.raises(InputError) as caught:
            construct(spec)
        assert "regex:" not in str(caught.value)
