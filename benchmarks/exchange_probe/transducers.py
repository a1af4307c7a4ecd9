"""OpenFst, pynini, HFST, foma, pyfoma and kfst: how each writes a machine and reads a file."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from .parts import Machine, Write, call, machine_of_arcs

# OpenFst


def _openfst_text(machine: Machine, empty: str = "<eps>") -> str:
    lines: list[str] = []
    for p, x, r, output in sorted(machine["arcs"], key=lambda arc: int(arc[0])):
        columns = [str(p), str(r), empty if x is None else x]
        lines.append("\t".join(columns if output is None else [*columns, output]))
    if empty == "<eps>" and all(p for p, *_ in machine["arcs"]):
        lines.insert(
            0, "0\tInfinity"
        )  # the first line says which state is the start; one of infinite weight is not final
    final = range(len(machine["states"])) if machine["kind"] == "mealy" else machine["accepting"]
    return "".join(f"{line}\n" for line in [*lines, *map(str, final)])


def _symbols_file(names: list[str], folder: str, name: str) -> str:
    path = Path(folder) / name
    path.write_text("".join(f"{x}\t{i}\n" for i, x in enumerate(["<eps>", *names])), encoding="utf-8")
    return str(path)


def by_openfst(program: str) -> Write:
    """Give a function that writes what a program of OpenFst prints.

    Args:
        program: `fstprint` or `fstdraw`.
    """

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


def read_openfst(path: Path, kind: str) -> Machine:
    """Compile a file with `fstcompile`."""
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


def write_pynini(machine: Machine, path: Path) -> None:
    """Write the text of pynini."""
    made, letters, outputs = _pynini_machine(machine)
    text = made.print(isymbols=letters, osymbols=outputs, acceptor=machine["kind"] == "acceptor")
    path.write_text(text, encoding="utf-8")


# HFST, foma, pyfoma


def four_columns(path: Path, kind: str) -> str:
    """The text of a file, an acceptor's letters written twice, as HFST and foma want them.

    Args:
        path: the file.
        kind: of the machine.
    """
    text = path.read_text(encoding="utf-8")
    columns = r"(?m)^([^\t\n]+\t[^\t\n]+\t)([^\t\n]*)$"
    return re.sub(columns, r"\1\2\t\2", text) if kind == "acceptor" else text


def write_hfst(machine: Machine, path: Path) -> None:
    """Write the text of HFST's package for Python."""
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


def read_hfst(path: Path, kind: str) -> Machine:
    """Read a file with HFST's package for Python."""
    import hfst

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "m.att")
        source.write_text(four_columns(path, kind), encoding="utf-8")
        with source.open(encoding="utf-8") as file:
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


def write_hfst_program(machine: Machine, path: Path) -> None:
    """Write what `hfst-fst2txt` prints."""
    text = _openfst_text(machine, "@0@").replace(" ", "@_SPACE_@")
    if machine["kind"] == "acceptor":
        text = re.sub(r"(?m)^(\d+\t\d+\t)(.*)$", r"\1\2\t\2", text)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "m.txt").write_text(text, encoding="utf-8")
        call(["hfst-txt2fst", "-i", f"{folder}/m.txt", "-o", f"{folder}/m.hfst"])
        path.write_text(call(["hfst-fst2txt", "-i", f"{folder}/m.hfst"]), encoding="utf-8")


def _run_foma(*commands: str) -> None:
    call(["foma", "-q"], "\n".join([*commands, "quit", ""]))


def write_foma(machine: Machine, path: Path) -> None:
    """Write a network with foma."""
    with tempfile.TemporaryDirectory() as folder:
        text = _openfst_text(machine, "@0@")
        if machine["kind"] == "acceptor":
            text = re.sub(r"(?m)^(\d+\t\d+\t)(.*)$", r"\1\2\t\2", text)
        Path(folder, "m.att").write_text(text, encoding="utf-8")
        _run_foma(f"read att {folder}/m.att", f"write att {path}")
    if not path.exists():
        raise RuntimeError("foma read no network")


def read_foma(path: Path, kind: str) -> Machine:
    """Read a file with foma."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "i.att").write_text(four_columns(path, kind), encoding="utf-8")
        _run_foma(f"read att {folder}/i.att", f"write att {folder}/m.att")
        made = _machine_of_columns(Path(folder, "m.att").read_text(encoding="utf-8"), kind)
    for arc in made["arcs"]:
        arc[1] = None if arc[1] == "@0@" else arc[1]
    made["letters"] = [x for x in made["letters"] if x != "@0@"]
    return made


def write_pyfoma(machine: Machine, path: Path) -> None:
    """Save a network with pyfoma."""
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


def write_kfst(machine: Machine, path: Path) -> None:
    """Write the text of kfst."""
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
