"""Machines of `exchange.py`: drawn at random in many shapes, kept as plain JSON, and compared with automata by a search of pairs.

A machine is a dict: `kind` (`acceptor`, `moore`, `mealy`), `states` (names, the first is the start), `letters`, `accepting` (numbers of
states), `outputs` (one a state), and `arcs` as lists `[state, letter or None, state, output or None]`. None is the empty move.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._labels import label_text, output_kind

Machine = dict[str, Any]

LETTERS = {
    "letters": ["a", "b"],
    "digits": ["0", "1"],
    "words": ["go", "stop", "wait"],
    "blanks": ["go left", "go right"],
    "commas": ["a,b", "c"],
    "signs": ["a/b", "x|y", "p;q"],
    "quotes": ['say "x"', "it's"],
    "quotes one": ["x'", '"'],
    "unicode": ["é", "→", "日本"],
    "unicode one": ["é", "日"],
    "escapes": ["\\", "\\n", "#"],
    "many": [f"x{i}" for i in range(26)],
}
"""Letters of each family."""
SHAPES = {
    "acceptor": ("complete", "partial", "one state", "empty", "all words", "nondeterministic", "empty moves"),
    "moore": ("complete", "one state"),
    "mealy": ("complete", "one state"),
}
STATES = {"blanks": "q {}", "commas": "{{{},x}}", "signs": "q/{}", "quotes": 'q"{}', "unicode": "é{}"}
"""How the states of a family are named where that is not q0, q1, and so on."""


def draw_machines(
    kind: str, families: list[str], shapes: list[str], seed: int, plain_states: bool
) -> Iterator[Machine]:
    """One machine for each family of letters and each shape.

    Args:
        kind: `acceptor`, `moore` or `mealy`.
        families: keys of `LETTERS`.
        shapes: of `SHAPES[kind]`.
        seed: of the draws.
        plain_states: states are numbers from 0, as tools need them whose states have no names.
    """
    for family in families:
        for shape in shapes:
            chance = random.Random(f"{seed} {kind} {family} {shape}")
            yield draw_machine(chance, kind, family, shape, plain_states)


def draw_machine(chance: random.Random, kind: str, family: str, shape: str, plain_states: bool) -> Machine:
    """One machine of a kind, a family of letters and a shape."""
    letters = LETTERS[family]
    n = 1 if shape == "one state" else chance.randint(2, 5)
    name = "{}" if plain_states else STATES.get(family, "q{}")
    targets = 2 if shape in ("nondeterministic", "empty moves") else 1
    arcs: list[list[Any]] = []
    for q in range(n):
        for x in letters:
            if shape in ("partial", "nondeterministic", "empty moves") and chance.random() < 0.3:
                continue
            arcs += [
                [q, x, r, chance.choice("xyz") if kind == "mealy" else None]
                for r in sorted(chance.sample(range(n), min(n, targets)))
            ]
    if shape == "empty moves":
        arcs += [[q, None, chance.randrange(n), None] for q in range(n) if chance.random() < 0.6]
    if not any(x is not None for _, x, _, _ in arcs):
        arcs.append([0, letters[0], n - 1, None])
    accepting = [q for q in range(n) if chance.random() < 0.5] or [n - 1]
    accepting = {"empty": [], "all words": list(range(n))}.get(shape, accepting)
    return {
        "kind": kind,
        "family": family,
        "shape": shape,
        "states": [name.format(q) for q in range(n)],
        "letters": [x for x in letters if any(x == arc[1] for arc in arcs)],
        "accepting": accepting if kind == "acceptor" else [],
        "outputs": [chance.choice("xyz") for _ in range(n)] if kind == "moore" else [],
        "arcs": arcs,
    }


class Run:
    """A machine that reads words: sets of states, closed under empty moves. It shares no code with the package.

    Attributes:
        start: the set in which it begins.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.moves: dict[tuple[int, str | None], list[int]] = {}
        self.given: dict[tuple[int, str | None], str] = {}
        for q, x, r, output in machine["arcs"]:
            self.moves.setdefault((q, x), []).append(r)
            self.given[q, x] = output
        self.start = self._close(set(machine.get("initial", [0])))

    def _close(self, states: set[int]) -> frozenset[int]:
        waiting = list(states)
        while waiting:
            for r in self.moves.get((waiting.pop(), None), []):
                if r not in states:
                    states.add(r)
                    waiting.append(r)
        return frozenset(states)

    def step(self, states: frozenset[int], letter: str) -> frozenset[int]:
        """The set after one letter more."""
        return self._close({r for q in states for r in self.moves.get((q, letter), [])})

    def output(self, states: frozenset[int], letter: str | None) -> object:
        """What is seen: acceptance, the output of the state, or that of the arc by `letter`; None where there is no state."""
        if self.machine["kind"] == "acceptor":
            return any(q in self.machine["accepting"] for q in states)
        if not states:
            return None
        (q,) = states
        return self.machine["outputs"][q] if self.machine["kind"] == "moore" else self.given.get((q, letter))


def machine_of(automaton: Automaton) -> Machine:
    """An automaton as a machine, with labels as text and the start first."""
    n = len(automaton.states)
    order = [automaton.start, *(q for q in range(n) if q != automaton.start)]
    place = {q: i for i, q in enumerate(order)}
    kind = output_kind(automaton)
    outputs = automaton.outputs
    return {
        "kind": "moore" if kind == "states" else kind,
        "states": [label_text(automaton.states[q]) for q in order],
        "letters": [label_text(x) for x in automaton.letters],
        "accepting": [place[q] for q in order if outputs[q]] if kind == "acceptor" else [],
        "outputs": [label_text(outputs[q]) for q in order] if kind in ("moore", "states") else [],
        "arcs": [
            [
                place[q],
                label_text(x),
                place[int(automaton.transitions[i, q])],
                label_text(outputs[i, q]) if kind == "mealy" else None,
            ]
            for q in order
            for i, x in enumerate(automaton.letters)
        ],
    }


def find_difference(first: Machine, second: Machine) -> str | None:
    """A word on which two machines differ, said in a sentence; None if they agree on all words.

    A letter that one of them lacks leads that one to the empty set of states, where an acceptor rejects and other machines have the
    output None. Outputs are compared as text.
    """
    if first["kind"] != second["kind"]:
        return f"the kind is {second['kind']}, not {first['kind']}"
    left, right = Run(first), Run(second)
    letters = list(dict.fromkeys([*first["letters"], *second["letters"]]))
    begin = (left.start, right.start)
    words: dict[tuple[frozenset[int], frozenset[int]], list[str]] = {begin: []}
    for pair in (waiting := [begin]):
        seen: list[str | None] = list(letters) if first["kind"] == "mealy" else [None]
        for x in seen:
            one, other = left.output(pair[0], x), right.output(pair[1], x)
            if str(one) != str(other):
                word = [*words[pair], *([] if x is None else [x])]
                return f"the word {word} gives {other}, not {one}"
        for x in letters:
            after = (left.step(pair[0], x), right.step(pair[1], x))
            if after not in words:
                words[after] = [*words[pair], x]
                waiting.append(after)
    return None
