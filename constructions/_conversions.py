"""Automata from Python objects: automata-lib, AALpy, networkx, sympy, dicts and callables.

`as_automaton` takes whatever stands for an automaton; all functions of the package that want one call it.
The other libraries are imported only where one of their objects is at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundation._arguments import (
    read_attribute,
    require_callback,
    require_choice,
    require_count,
    require_list,
    require_name,
    require_path,
    show_error,
    show_typed,
    show_value,
)
from ..foundation._errors import InputError, LimitError
from ..foundation._extras import needed_by
from ._document import is_certificate
from ._mappings import automaton_from_mapping, automaton_from_rows
from ._spec import automaton_from_spec
from .automata._acceptor import EPSILON, MAX_STATES, Acceptor
from .automata._automaton import TRACKS, Automaton, Label, Track, build, minimise
from .automata._completing import label_problems, object_array
from .automata._format import refuse_certificate
from .automata._labels import sort_labels

if TYPE_CHECKING:
    import networkx
    from automata.fa.dfa import DFA
    from automata.fa.gnfa import GNFA
    from automata.fa.nfa import NFA


_RAISED = re.compile("`max_(states|transitions)`")
"""Arguments that an error of `automaton_from_spec` says to raise."""
AutomatonLike = object
"""Whatever `as_automaton` takes: no type of Python describes it."""

ACCEPTED = (
    "a SPEC string such as 'S5', an Automaton, a machine of automata-lib or AALpy, a directed networkx graph, a sympy "
    "PermutationGroup or a dict {state: {letter: next state}}"
)


def as_automaton(
    value: AutomatonLike,
    *,
    argument: str = "automaton",
    start: Label | None = None,
    letters: Iterable[Label] | None = None,
) -> Automaton:
    """Convert an object of any supported form to an automaton.

    Args:
        value: an `Automaton`, which is returned as it is; a SPEC string (a name of the library, a file by its extension
            or `regex:PATTERN`) or the path of a file, see `automaton_from_spec`; an automata-lib `DFA`, `NFA` or `GNFA`;
            an AALpy `Dfa`, `MooreMachine` or `MealyMachine`; a directed networkx graph, see `from_networkx`; a sympy
            `PermutationGroup`; a dict `{state: {letter: next state}}`, or one with the arguments of
            `Automaton.from_transitions` as keys (`transitions`, `start`, `accepting`, ...), as the `.json` files have
            them, or as automata-lib names them; dicts may also have the keys `(state, letter)`, or sets of next states if `accepting` is
            given; a list of triples `(state, letter, next state)`; a callable `(state, letter) -> state`, which needs `start` and `letters`; or an object whose
            attribute `automaton` is an `Automaton`, such as a constructed linear RNN.
        argument: the name of the caller's argument, for error messages.
        start: label of the start state (its text for a SPEC string), if `value` does not contain it or another one is
            wanted. A dict without a start state starts in its first state.
        letters: the alphabet of a callable, or the order of the letters of a dict. Other objects have their own alphabet.

    Returns:
        The automaton. Its name, the limits and the choice of `track` are the defaults of the `from_` function for that kind of
        object; call that function if you need others.

    Raises:
        InputError: `value` has another type, or what it holds is not a deterministic automaton.
        LimitError: it has more states than the defaults of the `from_` functions allow.

    Examples:
        >>> as_automaton("S3").letters[:2]
        ((0, 1, 2), (0, 2, 1))
        >>> as_automaton({"even": {"a": "odd"}, "odd": {"a": "even"}}).states
        ('even', 'odd')
        >>> as_automaton(lambda q, x: (q + x) % 3, start=0, letters=(0, 1)).transitions.tolist()
        [[0, 1, 2], [1, 2, 0]]
    """
    if isinstance(value, Automaton):
        return value if start is None else value.with_start(start)
    if isinstance(value, str | PathLike):
        spec = require_path(argument, value, ACCEPTED)
        try:
            return automaton_from_spec(spec, start=None if start is None else str(start))
        except LimitError as error:
            # whoever called does not take these arguments
            raise LimitError(_RAISED.sub(r"\g<0> of `automaton_from_spec`", str(error))) from None
    anything: Any = value
    held = read_attribute(value, "automaton")
    if isinstance(held, Automaton):
        return held if start is None else held.with_start(start)
    if is_certificate(value):
        raise refuse_certificate(f"`{argument}`")
    if isinstance(value, Mapping):
        return automaton_from_mapping(value, argument, start, letters)
    if isinstance(value, list) and value and all(isinstance(x, tuple | list) and len(x) == 3 for x in value):
        return automaton_from_rows(value, argument, start, letters, {})
    libraries = _libraries_of(value)
    if "networkx" in libraries:
        return from_networkx(anything, start)
    if "automata" in libraries:
        automaton = from_automata_lib(anything)
    elif "aalpy" in libraries:
        automaton = from_aalpy(value)
    elif "sympy" in libraries:
        automaton = from_permutation_group(value)
    elif callable(value) and not isinstance(value, type):
        if start is None or letters is None:
            raise InputError(
                f"`{argument}` is a function, whose start state and letters are not known: give "
                "from_callable(function, start, letters)"
            )
        name = read_attribute(value, "__name__")
        return from_callable(anything, start, letters, name=name if isinstance(name, str) else "automaton")
    else:
        raise InputError(f"`{argument}` {show_typed(value)} and no automaton; give {ACCEPTED}")
    return automaton if start is None else automaton.with_start(start)


def is_automaton_like(value: object) -> bool:
    """Has it one of the types that `as_automaton` takes?"""
    if isinstance(value, Automaton | str | PathLike | Mapping):
        return True
    if isinstance(read_attribute(value, "automaton"), Automaton):
        return True
    return bool(_libraries_of(value) & {"networkx", "automata", "aalpy", "sympy"}) or (
        callable(value) and not isinstance(value, type)
    )


def _libraries_of(value: object) -> set[str]:
    """The top packages of a value's classes."""
    return {kind.__module__.partition(".")[0] for kind in type(value).__mro__}


def from_automata_lib(
    machine: DFA | NFA | GNFA,
    *,
    track: Track | None = None,
    name: str = "automaton",
    max_states: int = MAX_STATES,
) -> Automaton:
    """Convert an automata-lib machine to a complete automaton, with sorted letters and states in breadth-first order.

    automata-lib keeps states and letters in sets, whose order follows the hash seed, so they are ordered here.

    Args:
        machine: a `DFA`, whose states keep their labels (a partial one gets a sink), or an `NFA` or `GNFA`, which is
            determinised: states are tuples of its labels.
        track: `state` keeps every reachable state (the default for a DFA), `output` minimises the automaton.
        name: the automaton's name, with which error messages begin.
        max_states: the largest number of states of a determinisation.

    Raises:
        InputError: `machine` is something else.
        LimitError: the determinisation has more than `max_states` states.
    """
    with needed_by("`from_automata_lib`"):
        from automata.fa.dfa import DFA
        from automata.fa.gnfa import GNFA
        from automata.fa.nfa import NFA

    letters = sort_labels(machine.input_symbols) if isinstance(machine, DFA | NFA | GNFA) else []
    if isinstance(machine, DFA):
        transitions: Mapping[Any, Mapping[Any, Any]] = machine.transitions
        states = _breadth_first(machine.initial_state, transitions, letters)
        unreached = sort_labels(q for q in machine.states if q not in dict.fromkeys(states))
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
    return _breadth_first_order(acceptor.determinise(name, track or "output", max_states))


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
        q: {x: sort_labels(targets) for x, targets in row.items()} for q, row in machine.transitions.items()
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

    states: list[Label] = sort_labels(machine.states)
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
            foreign = next((c for c in pattern if c in "&^$\\"), None)
            if foreign is not None:
                raise InputError(
                    f"{edge}: {foreign!r} in {pattern!r} has another meaning in automata-lib than here"
                )
            part = pattern_acceptor(pattern, [str(x) for x in letters], edge, max_states)
            offset = len(states)
            states += [(q, r, i) for i in range(len(part.states))]
            arcs += [(offset + p, x, offset + s) for p, x, s in part.arcs]
            arcs += [(place[q], EPSILON, offset + p) for p in part.initial]
            arcs += [(offset + p, EPSILON, target) for p in part.accepting]
    return Acceptor(states, letters, arcs, [place[machine.initial_state]], [place[machine.final_state]])


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


def from_aalpy(machine: Any, *, name: str = "automaton", track: Track = "state") -> Automaton:
    """Convert an AALpy machine to a complete automaton, with states and letters in the order of the machine.

    Args:
        machine: an AALpy `Dfa` (an acceptor), `MooreMachine` or `MealyMachine`. The states are named by their
            `state_id`; missing transitions go to a sink.
        name: the automaton's name, for errors and tables.
        track: `state` keeps every reachable state, `output` minimises by outputs.

    Raises:
        InputError: the machine is of another kind (with probabilities, a stack or several next states), or two states share
            an identifier.
    """
    with needed_by("`from_aalpy`"):
        from aalpy.automata import Dfa, MealyMachine, MooreMachine

    if not isinstance(machine, Dfa | MooreMachine | MealyMachine):
        raise InputError(
            f"{name}: an AALpy Dfa, MooreMachine or MealyMachine is needed, not a {type(machine).__name__}"
        )
    states = [state.state_id for state in machine.states]
    outputs: dict[str, Any] = {}
    if isinstance(machine, Dfa):
        outputs["accepting"] = [state.state_id for state in machine.states if state.is_accepting]
    elif isinstance(machine, MooreMachine):
        outputs["outputs"] = {state.state_id: state.output for state in machine.states}
    else:
        outputs["mealy"] = {state.state_id: dict(state.output_fun) for state in machine.states}
    return build(
        {q.state_id: {x: r.state_id for x, r in q.transitions.items()} for q in machine.states},
        start=machine.initial_state.state_id,
        states=states,
        letters=machine.get_input_alphabet(),
        name=name,
        track=track,
        **outputs,
    )


def from_callable(
    function: Callable[[Any, Any], Any],
    start: Label,
    letters: Iterable[Label],
    *,
    outputs: Callable[[Any], Any] | None = None,
    name: str = "automaton",
    track: Track = "state",
    max_states: int = MAX_STATES,
) -> Automaton:
    """Build the automaton of the states that a function reaches from `start`, in breadth-first order.

    Args:
        function: a function `(state, letter) -> next state`, which is called once for each state and letter.
        start: the start state.
        letters: the alphabet, in its order.
        outputs: a function from a state to its output; without it each state is its own output.
        name: the automaton's name, with which error messages begin.
        track: `state` keeps every state, `output` minimises by outputs.
        max_states: the largest number of states.

    Raises:
        InputError: a state is not hashable, not equal to itself (nan), or equal to one of another type (`1` and `True`); or the
            function raises, and the message has the state and the letter.
        LimitError: the function reaches more than `max_states` states.

    Examples:
        >>> from_callable(lambda hour, step: (hour + step) % 12, 0, [1, 5], name="clock").run([5, 5, 1])
        (0, 5, 10, 11)
    """
    if not callable(function):
        raise InputError(f"`function` {show_value(function)}: it is a function (state, letter) -> state")
    require_name("name", name)
    require_choice("track", track, TRACKS)
    require_count("max_states", max_states, 1)
    require_callback("outputs", outputs, "a function of a state")
    alphabet = require_list("letters", letters, "a list of letters", texts=True)
    problems = label_problems(alphabet, "letter") + label_problems([start], "state")
    if problems:
        raise InputError(f"{name}: " + "; ".join(problems))
    place: dict[Label, int] = {start: 0}
    states: list[Label] = [start]
    rows: list[list[int]] = []
    for q in states:
        row = []
        for x in alphabet:
            try:
                r = function(q, x)
            except Exception as error:
                place_of = f"state {show_value(q)} by letter {show_value(x)}"
                raise InputError(
                    f"{name}: from {place_of} the function raises {show_error(error)}"
                ) from error
            problems = label_problems([r], "state")
            if not problems and r in place and _types(states[place[r]]) != _types(r):
                problems = label_problems([states[place[r]], r], "state")
            if problems:
                raise InputError(f"{name}: from state {q!r} by letter {x!r}: " + "; ".join(problems))
            if r not in place:
                if len(states) >= max_states:
                    raise LimitError(
                        f"{name}: the callable reached more than {max_states} states; raise it with `max_states`"
                    )
                place[r] = len(states)
                states.append(r)
            row.append(place[r])
        rows.append(row)
    values = states if outputs is None else [_output_of(outputs, q, name) for q in states]
    table = np.array(rows, dtype=np.int64).reshape(len(states), len(alphabet)).T
    automaton = Automaton(tuple(states), tuple(alphabet), table, 0, object_array(values), name)
    return minimise(automaton) if track == "output" else automaton


def _output_of(outputs: Callable[[Any], Any], state: Label, name: str) -> Any:
    try:
        return outputs(state)
    except Exception as error:
        raise InputError(
            f"{name}: `outputs` of state {show_value(state)} raises {show_error(error)}"
        ) from error


def _types(label: Any) -> Any:
    """The types in a label, so that `(1,)` and `(True,)` differ."""
    if isinstance(label, tuple):
        return type(label).__name__, tuple(_types(item) for item in label)
    return type(label).__name__


def from_networkx(
    graph: networkx.DiGraph[Any],
    start: Label | None = None,
    *,
    letter: str = "letter",
    name: str = "automaton",
    track: Track = "state",
) -> Automaton:
    """Convert a directed graph whose edges carry letters to an automaton.

    Args:
        graph: a `DiGraph` or `MultiDiGraph`; its nodes are the states. The outputs are given by the node attribute
            `accepting` or `output`, or the edge attribute `output` (Mealy), on all nodes or edges or on none; without them each state
            is its own output.
            The graph attribute `letters` fixes the alphabet's order. A partial graph gets a sink.
        start: the start state, by default `graph.graph["start"]`.
        letter: name of the edge attribute that contains the letter.
        name: the automaton's name, with which error messages begin.
        track: `state` keeps every reachable state, `output` minimises by outputs.

    Raises:
        InputError: the graph is not directed or not deterministic, or attributes are missing; the message names the edges.
    """
    require_name("name", name)
    require_choice("track", track, TRACKS)
    if "networkx" not in _libraries_of(graph) or not graph.is_directed():
        raise InputError(f"{name}: a directed graph is needed (networkx.MultiDiGraph)")
    if start is None:
        if "start" not in graph.graph:
            raise InputError(
                f"{name}: no start state: set graph.graph['start'], or give from_networkx(graph, start)"
            )
        start = graph.graph["start"]
    transitions: dict[Any, dict[Any, Any]] = {q: {} for q in graph.nodes}
    mealy: dict[Any, dict[Any, Any]] = {q: {} for q in graph.nodes}
    problems = []
    with_output = 0
    for q, r, data in graph.edges(data=True):
        if letter not in data:
            problems.append(f"the edge {q!r} -> {r!r} has no attribute {letter!r}")
            continue
        x = data[letter]
        problem = label_problems([x], "letter")
        if problem:
            problems += problem
        elif x in transitions[q]:
            problems.append(f"state {q!r} has two edges with letter {x!r}: not deterministic")
        else:
            transitions[q][x] = r
            mealy[q][x] = data.get("output")
            with_output += "output" in data
    node_outputs = {key: [q for q in graph.nodes if key in graph.nodes[q]] for key in ("accepting", "output")}
    if 0 < with_output < graph.number_of_edges():
        problems.append("some edges have the attribute 'output' and others do not")
    for key, nodes in node_outputs.items():
        if 0 < len(nodes) < len(graph):
            missing = next(q for q in graph.nodes if key not in graph.nodes[q])
            problems.append(f"state {missing!r} has no attribute {key!r}, others have")
    if problems:
        raise InputError(f"{name}: " + "; ".join(problems[:10]))
    return build(
        transitions,
        start=start,
        letters=graph.graph.get("letters"),
        states=list(graph.nodes),
        accepting=[q for q in graph.nodes if graph.nodes[q]["accepting"]]
        if node_outputs["accepting"]
        else None,
        outputs={q: graph.nodes[q]["output"] for q in graph.nodes} if node_outputs["output"] else None,
        mealy=mealy if with_output else None,
        name=name,
        track=track,
    )


def from_permutation_group(
    group: Any, letters: Sequence[Label] | None = None, start: int = 0, *, name: str = "automaton"
) -> Automaton:
    """Convert a permutation group to the automaton on its points 0 to n-1, with one letter for each generator.

    Args:
        group: a sympy `PermutationGroup` of degree n.
        letters: names of the generators, in their order; by default their image tuples.
        start: the start point, 0 to n-1. All points are kept, and each is its own output.
        name: the automaton's name, with which error messages begin.

    Raises:
        InputError: `group` is something else, `letters` does not have one name per generator, or `start` is not a point.
    """
    from sympy.combinatorics import PermutationGroup

    require_name("name", name)

    if not isinstance(group, PermutationGroup):
        raise InputError(f"{name}: a sympy PermutationGroup is needed, not a {type(group).__name__}")
    images = [tuple(int(i) for i in g.array_form) for g in group.generators]
    names: Sequence[Label] = (
        images if letters is None else require_list("letters", letters, "a list of letters", texts=True)
    )
    degree = int(group.degree)
    if len(names) != len(images):
        raise InputError(f"{name}: {len(names)} letters for {len(images)} generators; name each generator")
    if require_count("start", start) >= degree:
        raise InputError(f"{name}: start {start} is not one of the points 0..{degree - 1}")
    return Automaton(
        tuple(range(degree)),
        tuple(names),
        np.array(images, dtype=np.int64).reshape(len(images), degree),
        start,
        object_array(range(degree)),
        name,
        keeps_points=True,
    )
