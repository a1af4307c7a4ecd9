"""One tool writes machines to files, or reads files: a program of `exchange.py`, run by the interpreter that has the tool.

It reads one JSON document, `{"tool": NAME, "format": NAME, "tasks": [{"do": "write" or "read", "path": ..., "machine": ..., "kind": ...}]}`,
from its standard input, and prints a line of JSON for each task. It imports nothing of the package.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

Machine = dict[str, Any]
Write = Callable[[Machine, Path], None]
Read = Callable[[Path, str], Machine]


def call(command: list[str], given: str = "") -> str:
    """What a program prints; an error with its last line if it fails."""
    made = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, encoding="utf-8", timeout=60
    )
    if made.returncode:
        raise RuntimeError((made.stderr.strip().splitlines() or [f"status {made.returncode}"])[-1][:200])
    return made.stdout


def machine_of_arcs(
    kind: str,
    start: list[Any],
    arcs: list[list[Any]],
    accepting: list[Any],
    outputs: dict[Any, Any] | None = None,
) -> Machine:
    """A machine whose states are named by what the tool calls them."""
    states = list(
        dict.fromkeys([*start, *(q for p, _, r, _ in arcs for q in (p, r)), *accepting, *(outputs or {})])
    )
    place = {q: i for i, q in enumerate(states)}
    return {
        "kind": kind,
        "states": [str(q) for q in states],
        "initial": [place[q] for q in start],
        "letters": list(dict.fromkeys(x for _, x, _, _ in arcs if x is not None)),
        "accepting": [place[q] for q in accepting],
        "outputs": [(outputs or {}).get(q) for q in states] if kind == "moore" else [],
        "arcs": [[place[p], x, place[r], output] for p, x, r, output in arcs],
    }


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


def _write_aalpy(machine: Machine, path: Path) -> None:
    _aalpy_machine(machine).save(str(path.with_suffix("")))


def _read_aalpy(path: Path, kind: str) -> Machine:
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


def _write_automata_lib_json(machine: Machine, path: Path) -> None:
    made = _automata_lib_machine(machine)
    path.write_text(json.dumps(made.input_parameters, default=_plain), encoding="utf-8")


def _plain(value: Any) -> Any:
    return dict(value) if hasattr(value, "items") else sorted(value)


def _write_automata_lib_dot(machine: Machine, path: Path) -> None:
    path.write_text(_automata_lib_machine(machine).show_diagram().to_string(), encoding="utf-8")


# pyformlang


def _write_pyformlang(machine: Machine, path: Path) -> None:
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


def _write_fado(machine: Machine, path: Path) -> None:
    from FAdo.fio import saveToFile

    saveToFile(str(path), _fado_machine(machine))


def _write_fado_dot(machine: Machine, path: Path) -> None:
    path.write_text(_fado_machine(machine).dotFormat(), encoding="utf-8")


def _read_fado(path: Path, kind: str) -> Machine:
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


# graphviz: what its package for Python saves, and what its programs make of that


def _graphviz_text(machine: Machine) -> Any:
    from graphviz import Digraph

    made = Digraph("machine")
    made.attr(rankdir="LR")
    made.node("", shape="none")
    for i, q in enumerate(machine["states"]):
        shape = "doublecircle" if i in machine["accepting"] else "circle"
        made.node(f"n{i}", label=q, shape=shape)
    made.edge("", "n0")
    for p, x, r, output in machine["arcs"]:
        label = "ε" if x is None else _escape_graphviz(x)
        made.edge(f"n{p}", f"n{r}", label=label if output is None else f"{label}/{output}")
    return made


def _escape_graphviz(text: str) -> str:
    from graphviz import escape

    return str(escape(text))


def _write_graphviz(machine: Machine, path: Path) -> None:
    _graphviz_text(machine).save(str(path))


def _write_by_program(layout: str) -> Write:
    def write(machine: Machine, path: Path) -> None:
        text = call(["dot", f"-T{layout}"], _graphviz_text(machine).source)
        path.write_text(text, encoding="utf-8")

    return write


# networkx with pydot, and with pygraphviz


def _networkx_graph(machine: Machine) -> Any:
    import networkx

    graph: Any = networkx.MultiDiGraph()
    graph.add_node("__start0", shape="point")
    for i, q in enumerate(machine["states"]):
        graph.add_node(
            f"n{i}", label=_dot_quote(q), shape="doublecircle" if i in machine["accepting"] else "circle"
        )
    graph.add_edge("__start0", "n0")
    for p, x, r, output in machine["arcs"]:
        label = "ε" if x is None else x
        graph.add_edge(f"n{p}", f"n{r}", label=_dot_quote(label if output is None else f"{label}/{output}"))
    return graph


def _dot_quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _write_pydot(machine: Machine, path: Path) -> None:
    from networkx.drawing.nx_pydot import write_dot

    write_dot(_networkx_graph(machine), str(path))


def _write_pygraphviz(machine: Machine, path: Path) -> None:
    from networkx.drawing.nx_agraph import write_dot

    graph = _networkx_graph(machine)
    for *_, values in [*graph.nodes(data=True), *graph.edges(data=True)]:
        if "label" in values:
            values["label"] = values["label"][1:-1].replace('\\"', '"')
    write_dot(graph, str(path))


# OpenFst


def _openfst_text(machine: Machine, empty: str = "<eps>") -> str:
    lines: list[str] = []
    for p, x, r, output in sorted(machine["arcs"], key=lambda arc: int(arc[0])):
        columns = [str(p), str(r), empty if x is None else x]
        lines.append("\t".join(columns if output is None else [*columns, output]))
    final = range(len(machine["states"])) if machine["kind"] == "mealy" else machine["accepting"]
    return "".join(f"{line}\n" for line in [*lines, *map(str, final)])


def _symbols_file(names: list[str], folder: str, name: str) -> str:
    path = Path(folder) / name
    path.write_text("".join(f"{x}\t{i}\n" for i, x in enumerate(["<eps>", *names])), encoding="utf-8")
    return str(path)


def _by_openfst(program: str) -> Write:
    def write(machine: Machine, path: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            letters = _symbols_file(machine["letters"], folder, "i")
            outputs = _symbols_file(list("xyz"), folder, "o")
            options = ["--acceptor"] if machine["kind"] == "acceptor" else [f"--osymbols={outputs}"]
            source, compiled = Path(folder) / "m.txt", f"{folder}/m.fst"
            source.write_text(_openfst_text(machine), encoding="utf-8")
            call(["fstcompile", f"--isymbols={letters}", *options, str(source), compiled])
            path.write_text(call([program, f"--isymbols={letters}", *options, compiled]), encoding="utf-8")

    return write


def _read_openfst(path: Path, kind: str) -> Machine:
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        letters = _symbols_file(list(dict.fromkeys(row[2] for row in rows if len(row) > 2)), folder, "i")
        outputs = _symbols_file(list(dict.fromkeys(row[3] for row in rows if len(row) > 3)), folder, "o")
        options = ["--acceptor"] if kind == "acceptor" else [f"--osymbols={outputs}"]
        compiled = f"{folder}/m.fst"
        call(["fstcompile", f"--isymbols={letters}", *options, str(path), compiled])
        return _machine_of_columns(call(["fstprint", f"--isymbols={letters}", *options, compiled]), kind)


def _machine_of_columns(text: str, kind: str) -> Machine:
    rows = [line.split("\t") for line in text.splitlines() if line]
    arcs = [[row[0], row[2], row[1], row[3] if kind == "mealy" else None] for row in rows if len(row) > 2]
    accepting = [row[0] for row in rows if len(row) <= 2 and (len(row) == 1 or float(row[1]) == 0)]
    return machine_of_arcs(kind, [rows[0][0]] if rows else [], arcs, accepting)


def _pynini_machine(machine: Machine) -> tuple[Any, Any, Any]:
    import pynini

    made = pynini.Fst()
    letters, outputs = pynini.SymbolTable(), pynini.SymbolTable()
    for table, names in ((letters, machine["letters"]), (outputs, "xyz")):
        table.add_symbol("<epsilon>")
        for x in names:
            table.add_symbol(x)
    made.add_states(len(machine["states"]))
    made.set_start(0)
    for q in range(len(machine["states"])) if machine["kind"] == "mealy" else machine["accepting"]:
        made.set_final(q, 0)
    for p, x, r, output in machine["arcs"]:
        label = 0 if x is None else letters.find(x)
        made.add_arc(p, pynini.Arc(label, label if output is None else outputs.find(output), 0, r))
    return made, letters, letters if machine["kind"] == "acceptor" else outputs


def _write_pynini(machine: Machine, path: Path) -> None:
    made, letters, outputs = _pynini_machine(machine)
    text = made.print(isymbols=letters, osymbols=outputs, acceptor=machine["kind"] == "acceptor")
    path.write_text(text, encoding="utf-8")


# HFST, foma, pyfoma


def _write_hfst(machine: Machine, path: Path) -> None:
    import hfst

    made = hfst.HfstBasicTransducer()
    for q in range(1, len(machine["states"])):
        made.add_state(q)
    for p, x, r, output in machine["arcs"]:
        letter = hfst.EPSILON if x is None else x
        made.add_transition(p, hfst.HfstBasicTransition(r, letter, output or letter, 0))
    for q in range(len(machine["states"])) if machine["kind"] == "mealy" else machine["accepting"]:
        made.set_final_weight(q, 0)
    path.write_text(made.get_att_string(False), encoding="utf-8")


def _read_hfst(path: Path, kind: str) -> Machine:
    import hfst

    with path.open(encoding="utf-8") as file:
        made = hfst.AttReader(file).read()
    basic = hfst.HfstBasicTransducer(made)
    arcs, accepting = [], []
    for q in basic.states():
        if basic.is_final_state(q):
            accepting.append(q)
        for arc in basic.transitions(q):
            letter = arc.get_input_symbol()
            output = arc.get_output_symbol() if kind == "mealy" else None
            arcs.append([q, None if letter == hfst.EPSILON else letter, arc.get_target_state(), output])
    return machine_of_arcs(kind, [0], arcs, accepting)


def _write_hfst_program(machine: Machine, path: Path) -> None:
    text = _openfst_text(machine, "@0@").replace(" ", "@_SPACE_@")
    if machine["kind"] == "acceptor":
        text = re.sub(r"(?m)^(\d+\t\d+\t)(.*)$", r"\1\2\t\2", text)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "m.txt").write_text(text, encoding="utf-8")
        call(["hfst-txt2fst", "-i", f"{folder}/m.txt", "-o", f"{folder}/m.hfst"])
        path.write_text(call(["hfst-fst2txt", "-i", f"{folder}/m.hfst"]), encoding="utf-8")


def _run_foma(*commands: str) -> None:
    call(["foma", "-q"], "\n".join([*commands, "quit", ""]))


def _write_foma(machine: Machine, path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = _openfst_text(machine, "@0@")
        if machine["kind"] == "acceptor":
            text = re.sub(r"(?m)^(\d+\t\d+\t)(.*)$", r"\1\2\t\2", text)
        Path(folder, "m.att").write_text(text, encoding="utf-8")
        _run_foma(f"read att {folder}/m.att", f"write att {path}")
    if not path.exists():
        raise RuntimeError("foma read no network")


def _read_foma(path: Path, kind: str) -> Machine:
    with tempfile.TemporaryDirectory() as folder:
        given = path.read_text(encoding="utf-8")
        if kind == "acceptor":
            given = re.sub(r"(?m)^([^\t\n]+\t[^\t\n]+\t)([^\t\n]*)$", r"\1\2\t\2", given)
        Path(folder, "i.att").write_text(given, encoding="utf-8")
        _run_foma(f"read att {folder}/i.att", f"write att {folder}/m.att")
        made = _machine_of_columns(Path(folder, "m.att").read_text(encoding="utf-8"), kind)
    for arc in made["arcs"]:
        arc[1] = None if arc[1] == "@0@" else arc[1]
    made["letters"] = [x for x in made["letters"] if x != "@0@"]
    return made


def _write_pyfoma(machine: Machine, path: Path) -> None:
    from pyfoma import FST, State

    made = FST(alphabet=set(machine["letters"]))
    states = [State() for _ in machine["states"]]
    made.states, made.initialstate = set(states), states[0]
    for p, x, r, output in machine["arcs"]:
        letter = "" if x is None else x
        states[p].add_transition(states[r], (letter,) if output is None else (letter, output), 0.0)
    for q in range(len(states)) if machine["kind"] == "mealy" else machine["accepting"]:
        states[q].finalweight = 0.0
        made.finalstates.add(states[q])
    made.save_att(str(path.with_suffix("")))
    written = path.with_suffix("")
    if not path.exists() and written.exists():
        written.rename(path)


def _write_kfst(machine: Machine, path: Path) -> None:
    import kfst

    rows = []
    for line in _openfst_text(machine, "@0@").splitlines():
        columns = line.split("\t")
        rows.append(tuple(columns))
    source = path.with_suffix(".source")
    source.write_text(
        "".join("\t".join([*row[:3], row[-1]] if len(row) > 2 else row) + "\n" for row in rows),
        encoding="utf-8",
    )
    path.write_text(kfst.FST.from_att_file(str(source)).to_att_code(), encoding="utf-8")


# GAP


def _run_gap(text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.g")
        path.write_text(text + "QUIT;\n", encoding="utf-8")
        return call([*GAP, "-A", "-q", str(path)])


GAP = ["gap"]


def _write_gap_automaton(machine: Machine, path: Path) -> None:
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


def _write_greenery(machine: Machine, path: Path) -> None:
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


def _write_dfa_dot(machine: Machine, path: Path) -> None:
    from dfa.draw import write_dot

    write_dot(_dfa_machine(machine), str(path))


def _write_tock(machine: Machine, path: Path) -> None:
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


def _write_brics(machine: Machine, path: Path) -> None:
    lines = [f"{len(machine['states'])}", " ".join(map(str, machine["accepting"]))]
    lines += [f"{p} {-1 if x is None else ord(x)} {r}" for p, x, r, _ in machine["arcs"]]
    jar = "/usr/share/java/automaton.jar"
    text = call(
        ["java", "-cp", jar, str(Path(__file__).with_name("exchange_brics.java"))], "\n".join(lines) + "\n"
    )
    path.write_text(text, encoding="utf-8")


TOOLS: dict[tuple[str, str], tuple[str, Write | None, Read | None]] = {
    ("AALpy", "dot"): ("aalpy", _write_aalpy, _read_aalpy),
    ("automata-lib", "json"): ("automata-lib", _write_automata_lib_json, None),
    ("automata-lib", "dot"): ("automata-lib", _write_automata_lib_dot, None),
    ("pyformlang", "dot"): ("pyformlang", _write_pyformlang, None),
    ("FAdo", "fa"): ("fado", _write_fado, _read_fado),
    ("FAdo", "dot"): ("fado", _write_fado_dot, None),
    ("graphviz for Python", "gv"): ("graphviz", _write_graphviz, None),
    ("graphviz, dot -Tdot", "dot"): ("dot -V", _write_by_program("dot"), None),
    ("graphviz, dot -Tgv", "gv"): ("dot -V", _write_by_program("gv"), None),
    ("graphviz, dot -Tcanon", "gv"): ("dot -V", _write_by_program("canon"), None),
    ("graphviz, dot -Txdot", "gv"): ("dot -V", _write_by_program("xdot"), None),
    ("networkx with pydot", "dot"): ("networkx", _write_pydot, None),
    ("networkx with pygraphviz", "dot"): ("networkx", _write_pygraphviz, None),
    ("OpenFst, fstprint", "att"): ("fstinfo --version", _by_openfst("fstprint"), _read_openfst),
    ("OpenFst, fstdraw", "dot"): ("fstinfo --version", _by_openfst("fstdraw"), None),
    ("pynini", "att"): ("pynini", _write_pynini, None),
    ("HFST for Python", "att"): ("hfst", _write_hfst, _read_hfst),
    ("HFST, hfst-fst2txt", "att"): ("hfst-fst2txt --version", _write_hfst_program, None),
    ("foma", "att"): ("foma -v", _write_foma, _read_foma),
    ("pyfoma", "att"): ("pyfoma", _write_pyfoma, None),
    ("kfst", "att"): ("kfst", _write_kfst, None),
    ("GAP, automata", "g"): ("gap --version", _write_gap_automaton, None),
    ("greenery", "regex"): ("greenery", _write_greenery, None),
    ("dfa", "dot"): ("dfa", _write_dfa_dot, None),
    ("tock", "csv"): ("tock", _write_tock, None),
    ("tock", "dot"): ("tock", _write_tock, None),
    ("dk.brics.automaton", "dot"): ("libautomaton-java", _write_brics, None),
}
"""Where the version of a tool is found, how it writes and how it reads; None where it does not."""


def version_of(where: str) -> str:
    """The version of a package, or in what a program prints."""
    if " " not in where:
        if where == "libautomaton-java":
            return call(["dpkg-query", "-W", "-f=${Version}", where])
        return version(where)
    made = subprocess.run(where.split(), capture_output=True, text=True, check=False, timeout=60)
    found = re.search(r"\d+(\.\d+)+", made.stdout + made.stderr)
    return found[0] if found else "unknown"


def main() -> None:
    """Carry out the tasks of the document on the standard input."""
    given = json.load(sys.stdin)
    GAP[:] = given.get("gap", GAP)
    where, write, read = TOOLS[given["tool"], given["format"]]
    try:
        print(json.dumps({"version": version_of(where)}), flush=True)
    except Exception as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        return
    for task in given["tasks"]:
        try:
            if task["do"] == "write":
                assert write is not None
                write(task["machine"], Path(task["path"]))
                made: Any = {"done": True}
            else:
                assert read is not None
                made = {"machine": read(Path(task["path"]), task["kind"])}
        except Exception as error:
            made = {"failed": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(made), flush=True)


if __name__ == "__main__":
    main()
