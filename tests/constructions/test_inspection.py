"""`inspect_automaton`: its JSON fields, its table and what it says at the limits."""

from __future__ import annotations

import json
import time

import numpy as np

from mirrormata.constructions._inspection import inspect_automaton
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array

FIELDS = [
    "states",
    "letters",
    "start",
    "kind",
    "monoid",
    "group",
    "aperiodic",
    "commutative",
    "solvable",
    "synchronising",
    "degree",
    "notes",
]


def automaton_of(rows: list[list[int]], outputs: object = None, name: str = "test") -> Automaton:
    n = len(rows[0])
    values = np.arange(n).astype(object) if outputs is None else np.array(outputs, dtype=object)
    return Automaton(
        tuple(f"q{i}" for i in range(n)), tuple("abcdefgh"[: len(rows)]), np.array(rows), 0, values, name
    )


def test_json_of_parity() -> None:
    seen = inspect_automaton(automaton_of([[0, 1], [1, 0]], [True, False])).to_json()
    assert {key: seen[key] for key in FIELDS} == {
        "states": 2,
        "letters": 2,
        "start": "q0",
        "kind": "acceptor",
        "monoid": 2,
        "group": True,
        "aperiodic": False,
        "commutative": True,
        "solvable": True,
        "synchronising": False,
        "degree": 2,
        "notes": [],
    }
    assert seen["group_order"] == 2
    assert json.loads(json.dumps(seen)) == seen


def test_star_free_language() -> None:
    seen = inspect_automaton(automaton_of([[1, 2, 2], [2, 0, 2]], [True, False, False]))
    assert (seen.monoid, seen.group, seen.aperiodic, seen.solvable, seen.synchronising) == (
        6,
        False,
        True,
        True,
        True,
    )
    assert seen.resets == 1
    assert seen.max_order == 1


def test_kinds() -> None:
    assert inspect_automaton(automaton_of([[0, 1]], ["x", "y"])).kind == "moore"
    assert inspect_automaton(automaton_of([[0, 1]], [[0, 1]])).kind == "mealy"
    assert inspect_automaton(automaton_of([[0, 1]], [np.bool_(True), False])).kind == "acceptor"


def test_letter_kinds_and_rows() -> None:
    rows = [[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 2, 2, 2, 2], [0, 0, 1, 1, 4]]
    seen = inspect_automaton(automaton_of(rows))
    assert [kind for _, kind in seen.letter_kinds] == [
        "identity",
        "permutation with cycles 3 2",
        "reset to q2",
        "map of rank 3",
    ]
    table = dict(seen.rows())
    assert table["states"] == "5 (start q0)"
    assert "b: permutation with cycles 3 2" in table["letters"]
    assert table["group"] == "no"


def test_degree_is_asked_for_groups_only() -> None:
    assert inspect_automaton(automaton_of([[1, 0]]), degree=lambda a: 7).degree == 7


def test_the_degree_is_that_of_the_command_line() -> None:
    for spec, degree in (("S3", 3), ("S5", 5), ("parity", 2), ("Z2^4", 8), ("T3", None)):
        assert inspect_automaton(automaton_from_spec(spec)).degree == degree, spec
    assert inspect_automaton(automaton_of([[0, 0]]), degree=lambda a: len(a.states)).degree is None


def test_notes_of_the_automaton_are_kept() -> None:
    seen = inspect_automaton(automaton_of([[1, 0]]).with_notes("completed 1 missing transition"))
    assert seen.notes == ("completed 1 missing transition",)


def test_over_the_limit() -> None:
    rows = [[1, 2, 3, 4, 0], [1, 0, 2, 3, 4], [0, 0, 2, 3, 4]]
    seen = inspect_automaton(automaton_of(rows), max_monoid=1_000)
    assert seen.monoid is None
    assert seen.aperiodic is False
    assert seen.solvable is False
    assert seen.synchronising is True
    assert any("1,000 elements" in note and "`max_monoid`" in note for note in seen.notes)
    group = inspect_automaton(automaton_of(rows[:2]), max_monoid=100)
    assert group.monoid is None
    assert group.group_order == 120
    assert any("order 120" in note and "`max_monoid`" in note for note in group.notes)
    assert dict(group.rows())["transition monoid"] == "unknown"


def test_unknown_is_said() -> None:
    generator = np.random.default_rng(3)
    seen = inspect_automaton(automaton_of(generator.integers(0, 12, (2, 12)).tolist()), max_monoid=1_000)
    assert seen.monoid is None
    assert seen.solvable is None
    assert any(note.startswith("unknown within the limits") and "solvable" in note for note in seen.notes)


def test_ten_thousand_states() -> None:
    generator = np.random.default_rng(0)
    n = 10_000
    automaton = Automaton(
        tuple(range(n)),
        tuple("abcd"),
        np.stack([generator.permutation(n) for _ in range(4)]),
        0,
        object_array(range(n)),
    )
    begin = time.perf_counter()
    seen = inspect_automaton(automaton)
    assert time.perf_counter() - begin < 15
    json.dumps(seen.to_json())
    assert seen.rows()
    assert (seen.monoid, seen.group, seen.solvable, seen.synchronising) == (None, True, False, False)
    assert any("group of all 10,000 states" in note for note in seen.notes)


def test_one_state_and_no_letters() -> None:
    automaton = Automaton(("q",), (), np.zeros((0, 1), dtype=int), 0, object_array([True]))
    seen = inspect_automaton(automaton)
    assert (seen.monoid, seen.group, seen.aperiodic, seen.commutative, seen.solvable, seen.synchronising) == (
        1,
        True,
        True,
        True,
        True,
        True,
    )


def test_an_empty_label_is_shown_as_one() -> None:
    automaton = Automaton(("", "b"), ("x",), np.array([[1, 0]]), 0, object_array([True, False]))
    assert dict(inspect_automaton(automaton).rows())["states"] == "2 (start '')"
