"""JSON with the keys of automata-lib's constructors: `states`, `input_symbols`, `transitions`, `initial_state`, `final_states`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track
from ..automata._format import Format
from .json_format import load_object

_KEYS = ("states", "input_symbols", "transitions", "initial_state", "final_states")
_OPTIONAL = ("allow_partial", "name", "type")
_OTHER_MACHINES = {
    "stack_symbols": "a pushdown automaton",
    "initial_stack_symbol": "a pushdown automaton",
    "tape_symbols": "a Turing machine",
    "blank_symbol": "a Turing machine",
    "final_state": "a generalised automaton: give the object to from_automata_lib",
}


def is_automata_lib_json(text: str) -> bool:
    """Whether a text has the key `input_symbols`, which no other JSON of an automaton has."""
    return '"input_symbols"' in text


def read_automata_lib_json(
    path: str | Path, *, track: Track | None = None, start: str | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """Read an automaton from a `.json` file that holds the arguments of automata-lib's `DFA` or `NFA`.

    Next states of an `NFA` are lists, and its letter `""` is the empty move. Numbers are taken as names.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is wrong, or holds a pushdown automaton or a Turing machine.
    """
    name = str(path)
    data, problems = load_object(read_text(path), name)
    for key, machine in _OTHER_MACHINES.items():
        if key in data:
            raise InputError(f"{name}: has the key {key!r}: {machine}, not a finite automaton")
    problems += [f"key {key!r} is missing" for key in _KEYS if key not in data]
    problems += [f"key {key!r} is unknown" for key in data if key not in (*_KEYS, *_OPTIONAL)]
    if problems:
        raise refusal(name, problems)
    lists = {key: _names(data[key], key, problems) for key in ("states", "input_symbols", "final_states")}
    states, letters = lists["states"], [x for x in lists["input_symbols"] if x != ""]
    place = {q: i for i, q in enumerate(states)}
    letter_of = {x: i for i, x in enumerate(letters)} | {"": EPSILON}
    arcs = _arcs(data["transitions"], place, letter_of, problems)
    (first,) = _names([data["initial_state"]], "initial_state", problems) or [""]
    problems += [f"final state {q!r} does not exist" for q in lists["final_states"] if q not in place]
    if first not in place:
        problems.append(f"initial state {first!r} does not exist")
    if problems:
        raise refusal(name, problems)
    initial = place[first] if start is None else start_index(states, start, name)
    acceptor = Acceptor(states, letters, arcs, [initial], [place[q] for q in lists["final_states"]])
    return replace(acceptor.automaton(name, track, max_states), name=Path(name).name)


def _names(value: Any, key: str, problems: list[str]) -> list[str]:
    if not isinstance(value, list) or not all(
        isinstance(x, str | int) and not isinstance(x, bool) for x in value
    ):
        problems.append(f"key {key!r} needs names, which are texts or whole numbers")
        return []
    names = [str(x) for x in value]
    problems += [f"{key}: {x!r} is listed twice" for x in dict.fromkeys(names) if names.count(x) > 1]
    return list(dict.fromkeys(names))


def _arcs(
    transitions: Any, place: Mapping[str, int], letter_of: Mapping[str, int], problems: list[str]
) -> list[tuple[int, int, int]]:
    arcs: list[tuple[int, int, int]] = []
    if not isinstance(transitions, dict) or not all(isinstance(row, dict) for row in transitions.values()):
        problems.append("key 'transitions' needs {state: {letter: next state}}")
        return arcs
    for q, row in transitions.items():
        for x, targets in row.items():
            for r in targets if isinstance(targets, list) else [targets]:
                for kind, item, known in (
                    ("state", q, place),
                    ("letter", x, letter_of),
                    ("state", str(r), place),
                ):
                    if item not in known:
                        problems.append(f"transitions: {kind} {item[:40]!r} does not exist")
                        break
                else:
                    arcs.append((place[q], letter_of[x], place[str(r)]))
    return arcs


FORMAT = Format(
    name="automata-lib's keys",
    extensions=(".json",),
    read=read_automata_lib_json,
    example="""{"states": ["even", "odd"], "input_symbols": ["a"], "initial_state": "even", "final_states": ["even"],
 "transitions": {"even": {"a": "odd"}, "odd": {"a": "even"}}}
""",
    recognise=is_automata_lib_json,
)
