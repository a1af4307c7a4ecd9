"""From partial, labelled input to a complete `Automaton`; everything that is wrong is reported at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .automaton import Automaton, Label, Outputs, Track, label_problems, object_array
from .errors import InputError
from .minimise import minimise


def build(
    transitions: Mapping[Any, Mapping[Any, Label]],
    *,
    start: Label,
    letters: Sequence[Label] | None = None,
    states: Sequence[Label] | None = None,
    accepting: Iterable[Label] | None = None,
    outputs: Mapping[Label, Any] | None = None,
    mealy: Mapping[Label, Mapping[Label, Any]] | None = None,
    name: str = "automaton",
    track: Track = "state",
    keep_points: bool = False,
) -> Automaton:
    """A complete automaton from `{state: {letter: next state}}`.

    Orders: `states` and `letters` as given, else by first appearance in `transitions`.
    Missing transitions go to one fresh, rejecting sink (output None). At most one of `accepting` (labels),
    `outputs` (Moore: per state) and `mealy` (`{state: {letter: output}}`) may be given; without any, each state
    is its own output. Unreachable states are dropped unless `keep_points`. `track="output"` minimises by outputs.
    What was changed is said in `notes`. Raises `InputError` with all problems, `name` in front.
    """
    if states is None:
        sources = list(transitions)
        targets = (target for row in transitions.values() for target in row.values())
        states = list(dict.fromkeys([*sources, *targets]))
    if letters is None:
        letters = list(dict.fromkeys(letter for row in transitions.values() for letter in row))
    problems = label_problems(states, "state") + label_problems(letters, "letter")
    if not states:
        problems.append("there are no states")
    if sum(given is not None for given in (accepting, outputs, mealy)) > 1:
        problems.append("give one of accepting, outputs and mealy, not several")
    if any("not hashable" in problem for problem in problems):
        raise InputError(f"{name}: " + "; ".join(problems))  # nothing more can be looked up
    position = {q: i for i, q in enumerate(states)}
    letter_position = {x: i for i, x in enumerate(letters)}
    accepting_list = None if accepting is None else list(accepting)

    if start not in position:
        problems.append(f"start state {start!r} does not exist")
    strays = [q for q in accepting_list or [] if q not in position]
    problems += [f"accepting state {q!r} does not exist" for q in strays]
    problems += [
        f"output given for state {q!r}, which does not exist" for q in outputs or {} if q not in position
    ]

    table = np.full((len(letters), len(states)), -1, dtype=np.int64)
    for q, row in transitions.items():
        if q not in position:
            problems.append(f"transitions given for state {q!r}, which does not exist")
            continue
        for x, target in row.items():
            if x not in letter_position:
                problems.append(f"state {q!r} has a transition by {x!r}, which is not a letter")
            elif target not in position:
                problems.append(f"letter {x!r} sends state {q!r} to {target!r}, which does not exist")
            else:
                table[letter_position[x], position[q]] = position[target]
    if problems:
        raise InputError(f"{name}: " + "; ".join(problems))

    all_states = list(states)
    notes = []
    missing = int((table < 0).sum())
    output_array = _outputs(states, letters, accepting_list, outputs, mealy)
    if missing:
        sink = fresh_name("sink", position)
        all_states.append(sink)
        table = np.hstack([table, np.full((len(letters), 1), len(states))])
        table[table < 0] = len(states)
        sink_output: Any = (
            sink if accepting is outputs is mealy is None else (False if accepting is not None else None)
        )
        extra = (
            np.full((len(letters), 1), sink_output, dtype=object)
            if output_array.ndim == 2
            else object_array([sink_output])
        )
        output_array = np.concatenate([output_array, extra], axis=-1)
        notes.append(
            f"completed {missing} missing transition{'s' * (missing > 1)} with a sink state {sink!r}"
        )
    automaton = Automaton(
        tuple(all_states),
        tuple(letters),
        table,
        position[start],
        output_array,
        name,
        keeps_points=keep_points,
        notes=tuple(notes),
    )
    if not keep_points:
        automaton = automaton.trimmed()
    return minimise(automaton) if track == "output" else automaton


def fresh_name(stem: str, taken: Iterable[Label]) -> str:
    """`stem`, or `stem_1`, `stem_2`, ...: the first that collides with none of `taken`."""
    used = set(taken)
    name, number = stem, 0
    while name in used:
        number += 1
        name = f"{stem}_{number}"
    return name


def _outputs(
    states: Sequence[Label],
    letters: Sequence[Label],
    accepting: Sequence[Label] | None,
    outputs: Mapping[Label, Any] | None,
    mealy: Mapping[Label, Mapping[Label, Any]] | None,
) -> Outputs:
    if mealy is not None:
        array = np.full((len(letters), len(states)), None, dtype=object)
        for i, x in enumerate(letters):
            array[i] = object_array(mealy.get(q, {}).get(x) for q in states)
        return array
    if outputs is not None:
        return object_array(outputs.get(q) for q in states)
    if accepting is not None:
        accepted = set(accepting)
        return object_array(q in accepted for q in states)
    return object_array(states)
