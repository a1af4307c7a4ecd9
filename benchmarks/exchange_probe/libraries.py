"""AALpy, automata-lib, pyformlang, FAdo, GAP, greenery, dfa, tock, and dk.brics.automaton: how each writes a machine and reads a file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from .parts import Machine, call, machine_of_arcs

# AALpy


def _aalpy_machine(machine: Machine) -> Any:
    from aalpy.automata import Dfa, DfaState, MealyMachine, MealyState, MooreMachine, MooreState

    kind = machine["kind"]
    if kind == "acceptor":
        states = [DfaState(q, i in machine["accepting"]) for i, q in enumerate(machine["states"])]
    elif kind == "moore":
        states = [MooreState(q, o) for q, o in zip(machine["states"], machine["outputs"], strict=True)]
    else:
        states = [MealyState(q) for q in machine["states"]]
    for p, x, r, output in machine["arcs"]:
        states[p].transitions[x] = states[r]
        if kind == "mealy":
            states[p].output_fun[x] = output
    return {"acceptor": Dfa, "moore": MooreMachine, "mealy": MealyMachine}[kind](states[0], states)


def write_aalpy(machine: Machine, path: Path) -> None:
    """Save a machine with AALpy."""
    _aalpy_machine(machine).save(str(path.with_suffix("")))


def read_aalpy(path: Path, kind: str) -> Machine:
    """Load a file with AALpy."""
    from aalpy.utils import load_automaton_from_file

    read = load_automaton_from_file(str(path), "dfa" if kind == "acceptor" else kind)
    arcs = [
        [q.state_id, str(x), r.state_id, q.output_fun[x] if kind == "mealy" else None]
        for q in read.states
        for x, r in q.transitions.items()
    ]
    accepting = [q.state_id for q in read.states if kind == "acceptor" and q.is_accepting]
    outputs = {q.state_id: q.output for q in read.states} if kind == "moore" else None
    return machine_of_arcs(kind, [read.initial_state.state_id], arcs, accepting, outputs)


# automata-lib


def _automata_lib_machine(machine: Machine) -> Any:
    from automata.fa.dfa import DFA
    from automata.fa.nfa import NFA

    names = machine["states"]
    rows: dict[str, dict[str, set[str]]] = {q: {} for q in names}
    for p, x, r, _ in machine["arcs"]:
        rows[names[p]].setdefault("" if x is None else x, set()).add(names[r])
    common = {
        "states": set(names), "input_symbols": set(machine["letters"]), "initial_state": names[0],
        "final_states": {names[q] for q in machine["accepting"]},
    }  # fmt: skip
    if any("" in row or any(len(x) > 1 for x in row.values()) for row in rows.values()):
        return NFA(transitions=rows, **common)
    single = {q: {x: next(iter(r)) for x, r in row.items()} for q, row in rows.items()}
    return DFA(transitions=single, allow_partial=True, **common)


def write_automata_lib_json(machine: Machine, path: Path) -> None:
    """Write the parameters of an automaton of automata-lib as JSON."""
    made = _automata_lib_machine(machine)
    path.write_text(json.dumps(made.input_parameters, default=_plain), encoding="utf-8")


def _plain(value: Any) -> Any:
    return dict(value) if hasattr(value, "items") else sorted(value)


def write_automata_lib_dot(machine: Machine, path: Path) -> None:
    """Write the diagram of automata-lib."""
    path.write_text(_automata_lib_machine(machine).show_diagram().to_string(), encoding="utf-8")


# pyformlang


def write_pyformlang(machine: Machine, path: Path) -> None:
    """Write a drawing with pyformlang."""
    from pyformlang.finite_automaton import Epsilon, EpsilonNFA, State, Symbol

    made = EpsilonNFA()
    made.add_start_state(State(machine["states"][0]))
    for q in machine["accepting"]:
        made.add_final_state(State(machine["states"][q]))
    for p, x, r, _ in machine["arcs"]:
        letter = Epsilon() if x is None else Symbol(x)
        made.add_transition(State(machine["states"][p]), letter, State(machine["states"][r]))
    made.write_as_dot(str(path))


# FAdo


def _fado_machine(machine: Machine) -> Any:
    from FAdo.fa import DFA, NFA

    pairs = [(p, x) for p, x, _, _ in machine["arcs"]]
    deterministic = len(set(pairs)) == len(pairs) and not any(x is None for _, x in pairs)
    made = DFA() if deterministic else NFA()
    for q in machine["states"]:
        made.addState(q)
    made.setSigma(list(machine["letters"]))
    for p, x, r, _ in machine["arcs"]:
        made.addTransition(p, "@epsilon" if x is None else x, r)
    if deterministic:
        made.setInitial(0)
    else:
        made.setInitial({0})
    for q in machine["accepting"]:
        made.addFinal(q)
    return made


def write_fado(machine: Machine, path: Path) -> None:
    """Save an automaton with FAdo."""
    from FAdo.fio import saveToFile

    saveToFile(str(path), _fado_machine(machine))


def write_fado_dot(machine: Machine, path: Path) -> None:
    """Write the drawing of FAdo."""
    path.write_text(_fado_machine(machine).dotFormat(), encoding="utf-8")


def read_fado(path: Path, kind: str) -> Machine:
    """Read a file with FAdo."""
    from FAdo.fio import readFromFile

    read = readFromFile(str(path))
    made = read[0] if isinstance(read, list) else read
    start = made.Initial if isinstance(made.Initial, int) else sorted(made.Initial)
    arcs = []
    for p, row in made.delta.items():
        for x, r in row.items():
            letter = None if str(x) == "@epsilon" else str(x)
            arcs += [[p, letter, t, None] for t in ([r] if isinstance(r, int) else sorted(r))]
    return machine_of_arcs(kind, [start] if isinstance(start, int) else list(start), arcs, sorted(made.Final))


# GAP


def _run_gap(text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.g")
        path.write_text(text + "QUIT;\n", encoding="utf-8")
        return call([*GAP, "-A", "-q", str(path)])


GAP = ["gap"]


def write_gap_automaton(machine: Machine, path: Path) -> None:
    """Print an automaton with GAP's package automata."""
    n, letters = len(machine["states"]), machine["letters"]
    pairs = [(p, x) for p, x, _, _ in machine["arcs"]]
    kind = "det" if len(set(pairs)) == len(pairs) else "nondet"
    names: Any = letters
    if any(x is None for _, x in pairs):
        kind, names = "epsilon", [*letters, "@"]
    table: list[list[Any]] = []
    for x in [*letters, None][: len(names)]:
        targets = [[r + 1 for p, y, r, _ in machine["arcs"] if (p, y) == (q, x)] for q in range(n)]
        table.append([(t[0] if t else 0) for t in targets] if kind == "det" else targets)
    alphabet = json.dumps("".join(names) if all(len(x) == 1 for x in names) else names, ensure_ascii=False)
    accepting = [q + 1 for q in machine["accepting"]]
    _run_gap(
        'LoadPackage("automata");;\n'
        f'PrintTo("{path}", Automaton("{kind}", {n}, {alphabet}, {table}, [1], {accepting}), "\\n");\n'
    )


# greenery, dfa, Brics


def write_greenery(machine: Machine, path: Path) -> None:
    """Write the pattern that greenery makes of an automaton."""
    from greenery import Charclass, Fsm
    from greenery.rxelems import from_fsm

    other = ~Charclass("".join(machine["letters"]))
    alphabet = {Charclass(x) for x in machine["letters"]} | {other}
    sink = len(machine["states"])
    rows: dict[int, dict[Any, int]] = {q: dict.fromkeys(alphabet, sink) for q in range(sink + 1)}
    for p, x, r, _ in machine["arcs"]:
        rows[p][Charclass(x)] = r
    made = Fsm(
        alphabet=alphabet, states=set(range(sink + 1)), initial=0, finals=set(machine["accepting"]), map=rows
    )
    path.write_text(str(from_fsm(made).reduce()), encoding="utf-8")


def _dfa_machine(machine: Machine) -> Any:
    from dfa import dict2dfa

    names = machine["states"]
    rows: dict[str, Any] = {q: (i in machine["accepting"], {}) for i, q in enumerate(names)}
    for p, x, r, _ in machine["arcs"]:
        rows[names[p]][1][x] = names[r]
    return dict2dfa(rows, start=names[0])


def write_dfa_dot(machine: Machine, path: Path) -> None:
    """Write the drawing of the package dfa."""
    from dfa.draw import write_dot

    write_dot(_dfa_machine(machine), str(path))


def write_tock(machine: Machine, path: Path) -> None:
    """Write a table or a drawing with tock."""
    import tock

    made = tock.FiniteAutomaton()
    made.set_start_state(machine["states"][0])
    made.add_accept_states([machine["states"][q] for q in machine["accepting"]])
    for p, x, r, _ in machine["arcs"]:
        made.add_transition([[machine["states"][p]], [] if x is None else [x]], [[machine["states"][r]]])
    if path.suffix == ".csv":
        tock.write_csv(made, str(path))
    else:
        tock.write_dot(made, str(path))


def write_brics(machine: Machine, path: Path) -> None:
    """Write the drawing of dk.brics.automaton, by `Brics.java`."""
    lines = [f"{len(machine['states'])}", " ".join(map(str, machine["accepting"]))]
    lines += [f"{p} {-1 if x is None else ord(x)} {r}" for p, x, r, _ in machine["arcs"]]
    jar = "/usr/share/java/automaton.jar"
    text = call(["java", "-cp", jar, str(Path(__file__).with_name("Brics.java"))], "\n".join(lines) + "\n")
    path.write_text(text, encoding="utf-8")
