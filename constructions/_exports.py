"""Automata as files and as objects of other libraries (automata-lib, networkx, sympy), which are imported when wanted."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from ..foundation._errors import InputError
from ..foundation._extras import needed_by
from ._conversions import AutomatonLike, as_automaton
from .automata._completing import fresh_name
from .automata._labels import output_kind

if TYPE_CHECKING:
    import networkx
    from automata.fa.dfa import DFA


def write_automaton(automaton: AutomatonLike, path: str | PathLike[str]) -> None:
    """Write an automaton to a file, see `Automaton.save`.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts.
        path: the file to write; its extension chooses the format.
    """
    as_automaton(automaton).save(path)


def to_automata_lib(automaton: AutomatonLike) -> DFA:
    """Convert an acceptor to an automata-lib `DFA` with the same labels.

    A state `None` is renamed to the text `None`, because `DFA.minify` fails on it. Do not chain calls on a
    temporary (`dfa.minify().isfinite()`): automata-lib raises `RuntimeError`.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts; its outputs are accept and reject.

    Raises:
        InputError: the automaton is not an acceptor, or a letter is `""`.
    """
    automaton = as_automaton(automaton)
    with needed_by("`to_automata_lib`"):
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


def to_networkx(automaton: AutomatonLike) -> networkx.MultiDiGraph[Any]:
    """Convert an automaton to a `MultiDiGraph` with the edge attribute `letter`, which `from_networkx` converts back.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts.

    Raises:
        InputError: a state is None, which networkx refuses.
    """
    automaton = as_automaton(automaton)
    with needed_by("`to_networkx`"):
        import networkx

    if None in automaton.states:
        raise InputError(f"{automaton.name}: networkx has no node None: rename that state")
    kind = output_kind(automaton)
    graph: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph(
        start=automaton.states[automaton.start], letters=list(automaton.letters)
    )
    for q, state in enumerate(automaton.states):
        graph.add_node(state)
        if kind == "acceptor":
            graph.nodes[state]["accepting"] = bool(automaton.outputs[q])
        elif kind == "moore":
            graph.nodes[state]["output"] = automaton.outputs[q]
    for q, state in enumerate(automaton.states):
        for i, x in enumerate(automaton.letters):
            output = {"output": automaton.outputs[i, q]} if kind == "mealy" else {}
            graph.add_edge(state, automaton.states[automaton.transitions[i, q]], letter=x, **output)
    return graph


def to_permutation_group(automaton: AutomatonLike) -> Any:
    """Return the transition group as a sympy `PermutationGroup` on the indices of states, with one generator per letter.

    sympy multiplies left to right: `p*q` applies p first.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts; every letter permutes the states.

    Raises:
        InputError: a letter merges two states; the message names them.
    """
    automaton = as_automaton(automaton)
    merged = automaton.find_merged_pair()
    if merged is not None:
        x, p, q = merged
        raise InputError(
            f"{automaton.name}: not a group automaton: letter {automaton.letters[x]!r} sends the states "
            f"{automaton.states[p]!r} and {automaton.states[q]!r} to one state"
        )
    from sympy.combinatorics import Permutation, PermutationGroup

    rows = automaton.transitions.tolist() or [list(range(len(automaton.states)))]
    return PermutationGroup([Permutation(row) for row in rows])
