"""Labelled, possibly partial input as complete tables; everything that is wrong with it is reported at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...foundation._arguments import require_list, require_mapping, show_value
from ...foundation._errors import InputError
from ...foundation._text import count_noun


def label_problems(labels: Sequence[Any], kind: str) -> list[str]:
    """What is wrong with a list of labels: unhashable, not equal to itself (nan), or equal to an earlier one."""
    problems = []
    first: dict[Any, Any] = {}
    for label in labels:
        if not is_hashable(label):
            problems.append(f"{kind} {show_value(label)} is not hashable")
            continue
        if label != label:  # noqa: PLR0124 (nan)
            problems.append(f"{kind} {label!r} is not equal to itself")
        elif label not in first:
            first[label] = label
        elif type(first[label]) is type(label):
            problems.append(f"{kind} {label!r} is listed twice")
        else:
            problems.append(f"{kind}s {first[label]!r} and {label!r} are equal in Python: rename one of them")
    return problems


def is_hashable(label: object) -> bool:
    """Can it be a label? A type may say so of itself and yet hold what is not hashable, such as a tuple of lists."""
    try:
        hash(label)
    except Exception:
        return False
    return True


def object_array(values: Iterable[Any]) -> NDArray[np.object_]:
    """A one-dimensional object array that keeps tuples whole."""
    items = list(values)
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array


def index_table(given: Any, name: str) -> NDArray[np.int64]:
    """Transitions as an integer array of its own."""
    try:
        array = np.asarray(given)
        if not array.size or array.dtype.kind not in "fcmMSUV":
            return np.array(given, dtype=np.int64)
    except Exception:
        raise InputError(
            f"{name}: transitions are no table of indices of states, [letters, states]"
        ) from None
    raise InputError(f"{name}: transitions are of the type {array.dtype}; indices of states are needed")


def type_and_value(value: object) -> Hashable:
    """A key that keeps `1`, `1.0` and `True` apart, which are equal in Python but different outputs."""
    return (type(value).__name__, value if isinstance(value, Hashable) else repr(value))


def fresh_name(stem: str, taken: Iterable[Hashable]) -> str:
    """`stem`, or `stem_1`, `stem_2`, ...: the first that collides with none of `taken`."""
    used = set(taken)
    name, number = stem, 0
    while name in used:
        number += 1
        name = f"{stem}_{number}"
    return name


class Tables(NamedTuple):
    """What `complete` makes of its input: the fields of an automaton, with their meaning there."""

    states: tuple[Hashable, ...]
    letters: tuple[Hashable, ...]
    transitions: NDArray[np.int64]
    start: int
    outputs: NDArray[np.object_]
    notes: tuple[str, ...]


def complete(
    transitions: Any,
    *,
    start: Hashable,
    letters: Sequence[Hashable] | None,
    states: Sequence[Hashable] | None,
    accepting: Iterable[Hashable] | None,
    outputs: Mapping[Hashable, Any] | None,
    mealy: Mapping[Hashable, Mapping[Hashable, Any]] | None,
    name: str,
) -> Tables:
    """The complete tables of `{state: {letter: next state}}`, all states kept; `build` has the arguments and errors."""
    transitions = rows_of(transitions, name)
    _require_forms(transitions, outputs, mealy)
    accepting_list = (
        None if accepting is None else require_list("accepting", accepting, "a list of states", texts=True)
    )
    wrong_targets = [
        f"letter {x!r} sends state {q!r} to {show_value(target)}, which is not hashable"
        + (
            ", as a set of next states; as_automaton takes such sets with `accepting`"
            if isinstance(target, set)
            else ""
        )
        for q, row in transitions.items()
        for x, target in row.items()
        if not is_hashable(target)
    ]
    if wrong_targets:
        raise InputError(f"{name}: " + "; ".join(wrong_targets[:10]))
    states_given = states is not None
    if states is None:
        sources = list(transitions)
        targets = (target for row in transitions.values() for target in row.values())
        states = list(dict.fromkeys([*sources, *targets]))
    else:
        states = require_list("states", states, "a list of states", texts=True)
    if letters is None:
        letters = list(dict.fromkeys(letter for row in transitions.values() for letter in row))
    else:
        letters = require_list("letters", letters, "a list of letters", texts=True)
    problems = label_problems(states, "state") + label_problems(letters, "letter")
    problems += [
        f"{kind} state {show_value(q)} is not hashable"
        for kind, labels in (("start", [start]), ("accepting", accepting_list or []))
        for q in labels
        if not is_hashable(q)
    ]
    if not states:
        problems.append("there are no states")
    if sum(given is not None for given in (accepting, outputs, mealy)) > 1:
        problems.append("give one of accepting, outputs and mealy, not several")
    if any("not hashable" in problem for problem in problems):
        raise InputError(f"{name}: " + "; ".join(problems))  # nothing more can be looked up
    if not states_given:
        named = {start, *(accepting_list or []), *(outputs or {}), *(mealy or {}), *transitions}
        problems += _misspelt_targets(transitions, [q for q in states if q not in named])
    position = {q: i for i, q in enumerate(states)}
    letter_position = {x: i for i, x in enumerate(letters)}

    if start not in position:
        problems.append(f"start state {show_value(start)} does not exist")
    strays = [q for q in accepting_list or [] if q not in position]
    problems += [f"accepting state {show_value(q)} does not exist" for q in strays]
    problems += [
        f"output given for state {show_value(q)}, which does not exist"
        for q in outputs or {}
        if q not in position
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
                problems.append(
                    f"letter {x!r} sends state {q!r} to {show_value(target)}, which does not exist"
                )
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
        notes.append(f"completed {count_noun(missing, 'missing transition')} with a sink state {sink!r}")
    return Tables(tuple(all_states), tuple(letters), table, position[start], output_array, tuple(notes))


def _misspelt_targets(transitions: Any, unnamed: Sequence[Hashable]) -> list[str]:
    """Next states that nothing else names, and whose name is almost that of a state with transitions: each as a problem."""
    known = [q for q in transitions if isinstance(q, str)]
    meant = {
        q: near
        for q in unnamed
        if isinstance(q, str) and (near := next((k for k in known if _is_slip(q, k)), None))
    }
    return [
        f"letter {x!r} sends state {q!r} to {target!r}, which has no transitions; did you mean {meant[target]!r}? (else give it a row: "
        f"{target!r}: {{}})"
        for q, row in transitions.items()
        for x, target in row.items()
        if isinstance(target, str) and target in meant
    ]


def _is_slip(name: str, meant: str) -> bool:
    """Whether a name is likely another one misspelt: in other case, or with one letter too many, too few, or another inside.

    Names that are numbered or lettered, such as q1 and q2 or stateA and stateB, are different names.
    """
    if name.casefold() == meant.casefold():
        return True
    short, long = sorted((name, meant), key=len)
    if len(short) < 3 or len(long) - len(short) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) == len(long):
        inside = 0 < at < len(short) - 1 and short[at].isalpha() and long[at].isalpha()
        return inside and short[at + 1 :] == long[at + 1 :]
    return long[at].isalpha() and long[at].islower() and short[at:] == long[at + 1 :]


def rows_of(transitions: Any, name: str) -> Any:
    """Transitions as `{state: {letter: next state}}`, where they are given as `{(state, letter): next state}` or as triples.

    Args:
        transitions: a dict of rows, which is returned as it is, a dict of pairs, or a list of `(state, letter, next state)`.
        name: with which errors begin.

    Raises:
        InputError: two triples differ on a state and a letter, or a letter leads to a set of states.
    """
    triples: list[Any] | None = None
    if isinstance(transitions, Mapping):
        pairs = transitions and not any(isinstance(target, Mapping) for target in transitions.values())
        if pairs and all(isinstance(key, tuple) and len(key) == 2 for key in transitions):
            triples = [(*key, target) for key, target in transitions.items()]
    elif isinstance(transitions, Iterable) and not isinstance(transitions, str | bytes):
        listed = list(transitions)
        if listed and all(isinstance(item, tuple | list) and len(item) == 3 for item in listed):
            triples = listed
    if triples is None:
        return transitions
    rows: dict[Any, dict[Any, Any]] = {}
    for q, x, r in triples:
        if not (is_hashable(q) and is_hashable(x)):
            raise InputError(
                f"{name}: the transition {show_value((q, x, r))} has a state or a letter that is not hashable"
            )
        known = rows.setdefault(q, {}).setdefault(x, r)
        if not (known is r or (type(known) is type(r) and known == r)):
            raise InputError(
                f"{name}: from {show_value(q)} by {show_value(x)} to {show_value(known)} and to {show_value(r)}: not deterministic; give "
                "as_automaton a dict {state: {letter: {next states}}}, with `accepting`, for an automaton with several next states"
            )
    return rows


def _require_forms(transitions: Any, outputs: Any, mealy: Any) -> None:
    """`InputError` where what should be a dict, or a dict of dicts, is something else."""
    rows = {"transitions": (transitions, "{letter: next state}"), "mealy": (mealy, "{letter: output}")}
    for argument, (given, inner) in rows.items():
        if given is None and argument == "mealy":
            continue
        require_mapping(argument, given, f"a dict {{state: {inner}}}")
        for q, row in given.items():
            if not isinstance(row, Mapping):
                raise InputError(
                    f"`{argument}`: {show_value(row)} stands for the state {q!r}; a dict {inner} is needed"
                )
    if outputs is not None:
        require_mapping("outputs", outputs, "a dict {state: output}")


def _outputs(
    states: Sequence[Hashable],
    letters: Sequence[Hashable],
    accepting: Sequence[Hashable] | None,
    outputs: Mapping[Hashable, Any] | None,
    mealy: Mapping[Hashable, Mapping[Hashable, Any]] | None,
) -> NDArray[np.object_]:
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
