"""Automata from and to automata-lib's `DFA`, `NFA` and `GNFA`.

automata-lib keeps states and letters in sets, whose order follows the hash seed: letters are sorted here, states are
breadth first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .automaton import Automaton, Label, Track
from .building import build, fresh_name
from .errors import InputError
from .formats.acceptor import EPSILON, MAX_STATES, Acceptor
from .formats.label_text import label_text, output_kind

if TYPE_CHECKING:
    from automata.fa.dfa import DFA
    from automata.fa.gnfa import GNFA
    from automata.fa.nfa import NFA


def from_automata_lib(
    machine: DFA | NFA | GNFA,
    *,
    track: Track | None = None,
    name: str = "automaton",
    max_states: int = MAX_STATES,
) -> Automaton:
    """The complete automaton of an automata-lib machine, letters sorted, states breadth first.

    `track` defaults to `state` for a DFA, whose labels are kept (partial ones get a sink), and to `output` for an NFA
    or GNFA, whose states are tuples of its labels. `InputError` for other objects, `LimitError` beyond `max_states`.
    """
    from automata.fa.dfa import DFA
    from automata.fa.gnfa import GNFA
    from automata.fa.nfa import NFA

    letters = _sorted_labels(machine.input_symbols) if isinstance(machine, DFA | NFA | GNFA) else []
    if isinstance(machine, DFA):
        transitions: Mapping[Any, Mapping[Any, Any]] = machine.transitions
        states = _breadth_first(machine.initial_state, transitions, letters)
        unreached = _sorted_labels(q for q in machine.states if q not in dict.fromkeys(states))
        accepting = [q for q in states if q in machine.final_states]
        return build(
            transitions,
            start=machine.initial_state,
            letters=letters,
            states=[*states, *unreached],
            accepting=accepting,
            name=name,
            track=track or "state",
        )
    if isinstance(machine, NFA):
        acceptor = _nfa_acceptor(machine, letters)
    elif isinstance(machine, GNFA):
        acceptor = _gnfa_acceptor(machine, letters, name, max_states)
    else:
        raise InputError(
            f"{name}: an automata-lib DFA, NFA or GNFA is needed, not a {type(machine).__name__}"
        )
    return _breadth_first_order(acceptor.determinised(name, track or "output", max_states))


def _breadth_first_order(automaton: Automaton) -> Automaton:
    order = automaton.reachable()
    new_index = np.empty(len(order), dtype=np.int64)
    new_index[order] = np.arange(len(order))
    return replace(
        automaton,
        states=tuple(automaton.states[q] for q in order),
        transitions=new_index[automaton.transitions[:, order]],
        start=0,
        outputs=automaton.outputs[..., order],
    )


def _nfa_acceptor(machine: NFA, letters: Sequence[Label]) -> Acceptor:
    letter_of: dict[Label, int] = {x: i for i, x in enumerate(letters)} | {"": EPSILON}
    rows: dict[Any, dict[Any, list[Any]]] = {
        q: {x: _sorted_labels(targets) for x, targets in row.items()}
        for q, row in machine.transitions.items()
    }
    states: list[Label] = [machine.initial_state]
    seen = dict.fromkeys(states)
    for q in states:
        for x in ("", *letters):
            for r in rows.get(q, {}).get(x, []):
                if r not in seen:
                    seen[r] = None
                    states.append(r)
    place = {q: i for i, q in enumerate(states)}
    arcs = sorted(
        (place[q], letter_of[x], place[r])
        for q in states
        for x, targets in rows.get(q, {}).items()
        for r in targets
    )
    return Acceptor(states, letters, arcs, [0], [i for q, i in place.items() if q in machine.final_states])


def _gnfa_acceptor(machine: GNFA, letters: Sequence[Label], name: str, max_states: int) -> Acceptor:
    """Each edge's pattern as a small acceptor between its ends: no detour through one large pattern."""
    from .formats.regex import pattern_acceptor

    states: list[Label] = _sorted_labels(machine.states)
    place = {q: i for i, q in enumerate(states)}
    arcs: list[tuple[int, int, int]] = []
    transitions: Mapping[Any, Mapping[Any, str | None]] = machine.transitions
    for q in list(states):
        row: Mapping[Any, str | None] = transitions.get(q, {})
        for r, target in place.items():
            pattern = row.get(r)
            if pattern is None:
                continue
            edge = f"{name}: edge {q!r} to {r!r}"
            part = pattern_acceptor(pattern, [str(x) for x in letters], edge, max_states)
            offset = len(states)
            states += [(q, r, i) for i in range(len(part.states))]
            arcs += [(offset + p, x, offset + s) for p, x, s in part.arcs]
            arcs += [(place[q], EPSILON, offset + p) for p in part.initial]
            arcs += [(offset + p, EPSILON, target) for p in part.accepting]
    return Acceptor(states, letters, arcs, [place[machine.initial_state]], [place[machine.final_state]])


def _sorted_labels(labels: Iterable[Any]) -> list[Any]:
    return sorted(labels, key=lambda label: (type(label).__name__, label_text(label)))


def _breadth_first(
    start: Label, transitions: Mapping[Any, Mapping[Any, Any]], letters: Sequence[Label]
) -> list[Label]:
    order = [start]
    seen = dict.fromkeys(order)
    for q in order:
        for x in letters:
            row = transitions.get(q, {})
            if x in row and row[x] not in seen:
                seen[row[x]] = None
                order.append(row[x])
    return order


def to_automata_lib(automaton: Automaton) -> DFA:
    """The automata-lib `DFA` with the same labels, for outputs that are acceptance.

    A state `None` is renamed to the text `None`, because `DFA.minify` fails on it. Do not chain calls on a temporary
    (`dfa.minify().isfinite()`): automata-lib raises `RuntimeError`. `InputError` for other outputs or a letter `""`.
    """
    from automata.fa.dfa import DFA

    if output_kind(automaton) != "acceptor":
        raise InputError(f"{automaton.name}: an automata-lib DFA holds acceptance only, not other outputs")
    if "" in automaton.letters:
        raise InputError(f"{automaton.name}: the letter '' is the empty move in automata-lib: rename it")
    states = [fresh_name("None", automaton.states) if q is None else q for q in automaton.states]
    return DFA(
        states=set(states),
        input_symbols=set(automaton.letters),  # type: ignore[arg-type]
        transitions={
            q: {x: states[automaton.transitions[i, p]] for i, x in enumerate(automaton.letters)}  # type: ignore[misc]
            for p, q in enumerate(states)
        },
        initial_state=states[automaton.start],
        final_states={q for q, accepted in zip(states, automaton.outputs, strict=True) if accepted},
    )
