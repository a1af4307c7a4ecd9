"""Transition tables as `.csv` or `.tsv`: a row for each state, a column for each letter, a cell for the next state."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track, build
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind, output_texts
from ._other_machines import find_other_machine
from ._reserved import is_empty_move, refused_name
from ._writing import write_verified

_STATE = ("state", "states", "q")
_ROLES = {
    "start": "start", "initial": "start", "isstart": "start", "isinitial": "start",
    "accepting": "accepting", "accept": "accepting", "final": "accepting",
    "isaccepting": "accepting", "isaccept": "accepting", "isfinal": "accepting", "output": "output",
}  # fmt: skip
_TRUE, _FALSE = ("1", "true", "yes", "x", "*", "y"), ("", "0", "false", "no", "n", "-")
_MISSING = ("", "-", "–", "—", "∅", "{}")
_ARROWS = ("->", "→", "-->", ">")


@dataclass
class _Table:
    """What the rows say, and what is wrong with them."""

    letters: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    cells: list[tuple[int, list[str]]] = field(default_factory=list)
    """Line number and the cells of the letters, one entry for each state."""
    starts: list[str] = field(default_factory=list)
    accepting: list[str] | None = None
    outputs: dict[Any, Any] | None = None
    problems: list[str] = field(default_factory=list)


def is_transition_table(text: str) -> bool:
    """Whether a text begins with the header of a transition table: `state`, or nothing above the names of the states."""
    header = [cell.strip().lower() for cell in _split(text.partition("\n")[0])]
    if "input" in header and "target" in header:
        return False
    return header[0] in _STATE or (
        header[0] == "" and len(header) > 1 and header[1] not in ("seed", "input", "target")
    )


def read_transition_table(
    path: str | Path, *, track: Track | None = None, start: str | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """Read an automaton from a table: the header `state,a,b`, and a row `q0,q1,q0` for each state.

    The columns `start`, `accepting` and `output` are no letters (nor are `isInitial`, `isFinal` and the like); a state may be marked by `->` (or `>`) and `*` (or `@`) before its name instead. The first
    row is the start if none is marked. A cell that is empty or `-` is a missing transition; `{q0, q1}` is several next states, and a
    column `ε` has empty moves, both in acceptors only; `q1/x` in every cell is a Mealy machine. Without accepting states and outputs
    each state is its own output. Cells are separated by commas, semicolons or tabs.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is wrong; the message names each bad line.
    """
    return parse_transition_table(read_text(path), str(path), track=track, start=start, max_states=max_states)


def parse_transition_table(
    text: str,
    name: str,
    *,
    track: Track | None = None,
    start: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from the text of a transition table.

    Args:
        text: the text of the file.
        name: the name with which error messages begin.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states that the automaton may have.
    """
    table, notes = _read_rows(text, name)
    if table.problems:
        raise refusal(name, table.problems)
    starts = table.starts
    if start is not None:
        starts = [table.states[start_index(table.states, start, name)]]
    elif not starts:
        starts = table.states[:1]
        notes.append(f"no state is marked as the start: the first row is, {starts[0]!r}")
    slashed = [cell for _, row in table.cells for cell in row if cell not in _MISSING]
    known = dict.fromkeys(table.states)
    is_mealy = bool(slashed) and all(cell.count("/") == 1 and cell not in known for cell in slashed)
    if is_mealy and (table.accepting is not None or table.outputs is not None):
        raise InputError(
            f"{name}: cells such as {slashed[0][:40]!r} have the outputs of a Mealy machine, and states have outputs or are "
            "accepting: keep one of both"
        )
    if table.accepting is not None:
        automaton = _acceptor(table, starts, name).automaton(name, track, max_states)
    else:
        automaton = _machine(table, starts, is_mealy, name, track or "state")
        if output_kind(automaton) == "states":
            notes.append("no state is marked as accepting: each state is its own output")
    return replace(automaton, name=Path(name).name).with_notes(*notes)


def _split(line: str) -> list[str]:
    return next(csv.reader([line], delimiter=_delimiter(line)), [""]) or [""]


def _delimiter(header: str) -> str:
    return max("\t;,", key=lambda sign: (header.count(sign), sign == ","))


def _read_rows(text: str, name: str) -> tuple[_Table, list[str]]:
    table, notes = _Table(), []
    if "\0" in text:
        raise InputError(f"{name}: has a NUL character: not a text file")
    reader = csv.reader(io.StringIO(text), delimiter=_delimiter(text.partition("\n")[0]), strict=True)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise InputError(f"{name}: line {reader.line_num}: no table ({error})") from None
    rows = [(number, row) for number, row in rows if any(row)]
    if not rows:
        raise InputError(f"{name}: empty; the first line is the header, such as `state,a,b`")
    (_, header), *body = rows
    if header[0] == "" and len(header) > 1 and header[1].lower() in _STATE:
        header, body = header[1:], [(number, row[1:]) for number, row in body]
        notes.append("the first column, without a name, is left out: the index that pandas writes")
    if len(header) == 1 and any(" " in cell for _, row in rows for cell in row):
        raise InputError(
            f"{name}: line 1: one column; separate the cells of a row by commas, semicolons or tabs"
        )
    roles = [_ROLES.get(cell.lower().replace("_", ""), "letter") for cell in header]
    roles[0] = "state"
    table.letters = [cell for cell, role in zip(header, roles, strict=True) if role == "letter"]
    for x in dict.fromkeys(table.letters):
        if table.letters.count(x) > 1:
            table.problems.append(f"line 1: two columns of the letter {x!r}")
        if reserved := refused_name(x, drawn=x != "*"):
            table.problems.append(f"line 1: the column {x!r} {reserved}")
    other = find_other_machine(table.letters)
    if other is not None:
        table.problems.append(f"line 1: the column {table.letters[other.at][:60]!r} {other.what}")
    for role in ("start", "accepting", "output"):
        if roles.count(role) > 1:
            named = " and ".join(repr(c) for c, r in zip(header, roles, strict=True) if r == role)
            table.problems.append(f"line 1: the columns {named} say the same thing: keep one")
    if {"accepting", "output"} <= set(roles):
        accepting, output = header[roles.index("accepting")], header[roles.index("output")]
        table.problems.append(
            f"line 1: the columns {accepting!r} and {output!r} say two things of a state: keep one"
        )
    if not body:
        table.problems.append("no rows below the header; write a row `q0,q1,q0` for each state")
    accept_marks = _accept_marks([row for _, row in body])
    for number, row in body:
        if len(row) != len(header):
            table.problems.append(f"line {number} has {len(row)} cells, the header has {len(header)}")
        else:
            _add_row(table, number, row, roles, accept_marks)
    return table, notes


def _accept_marks(rows: Sequence[Sequence[str]]) -> str:
    """The signs before the name of an accepting state: `*`, and tock's `@` unless a state's name begins with it."""
    named = any(re.search(r"(?:^|[{,;|:]\s*)@", cell) for row in rows for cell in row[1:])
    return "*" if named else "*@"


def _add_row(table: _Table, number: int, row: Sequence[str], roles: Sequence[str], accept_marks: str) -> None:
    state, marks = row[0], {"start": False, "accepting": False}
    if "start" not in roles:
        for arrow in _ARROWS:
            if state.startswith(arrow) and len(state) > len(arrow):
                state, marks["start"] = state[len(arrow) :].strip(), True
                break
    if "accepting" not in roles and "output" not in roles and state[:1] in accept_marks and len(state) > 1:
        state, marks["accepting"] = state[1:].strip(), True
    for cell, role in zip(row, roles, strict=True):
        if role in marks:
            if cell.lower() not in (*_TRUE, *_FALSE):
                table.problems.append(f"line {number}: {role} {cell[:40]!r} is neither 1 nor 0")
            marks[role] = cell.lower() in _TRUE
        elif role == "output":
            table.outputs = (table.outputs or {}) | {state: cell}
    if state in table.states:
        table.problems.append(f"line {number}: a second row of the state {state!r}")
    table.states.append(state)
    table.cells.append((number, [cell for cell, role in zip(row, roles, strict=True) if role == "letter"]))
    if marks["start"]:
        table.starts.append(state)
    if "accepting" in roles or marks["accepting"]:
        table.accepting = [*(table.accepting or []), *([state] if marks["accepting"] else [])]


def _targets(cell: str, known: Mapping[str, object]) -> list[str]:
    """The next states in a cell: itself where it names a state, none where it is missing, else what stands between signs."""
    if cell in known:
        return [cell]
    if cell in _MISSING:
        return []
    inside = cell[1:-1] if cell.startswith("{") and cell.endswith("}") else cell
    for sign in ",;|":
        if sign in inside:
            return [piece.strip() for piece in inside.split(sign)]
    return [inside.strip()]


def _stray(name: str, number: int, letter: str, target: str, states: Collection[str]) -> InputError:
    marked = next((q for q in states if q[:1] in ("*", "@") and q[1:].strip() == target), None)
    why = (
        ""
        if marked is None
        else f"; the row of {marked!r} has a mark, which is read as a part of the name beside a column that says what states are: leave the mark out"
    )
    return InputError(f"{name}: line {number}: the next state {target[:40]!r} by {letter!r} has no row{why}")


def _acceptor(table: _Table, starts: Sequence[str], name: str) -> Acceptor:
    place = {q: i for i, q in enumerate(table.states)}
    letters = [x for x in table.letters if not is_empty_move(x)]
    letter_of = {x: i for i, x in enumerate(letters)}
    arcs = []
    for q, (number, row) in enumerate(table.cells):
        for x, cell in zip(table.letters, row, strict=True):
            for target in _targets(cell, place):
                if target not in place:
                    raise _stray(name, number, x, target, place)
                arcs.append((q, letter_of.get(x, EPSILON), place[target]))
    accepting = [place[q] for q in table.accepting or ()]
    return Acceptor(table.states, letters, arcs, [place[q] for q in starts], accepting)


def _machine(table: _Table, starts: Sequence[str], is_mealy: bool, name: str, track: Track) -> Automaton:
    if len(starts) > 1:
        raise InputError(f"{name}: several start states ({', '.join(map(repr, starts[:5]))}): keep one")
    known = dict.fromkeys(table.states)
    transitions: dict[Any, dict[Any, Any]] = {q: {} for q in table.states}
    outputs: dict[Any, dict[Any, Any]] = {q: {} for q in table.states}
    for q, (number, row) in zip(table.states, table.cells, strict=True):
        for x, cell in zip(table.letters, row, strict=True):
            target, _, output = cell.partition("/") if is_mealy else (cell, "", "")
            found = _targets(target.strip(), known)
            if found and found[0] not in known:
                raise _stray(name, number, x, found[0], known)
            if len(found) > 1 or (found and is_empty_move(x)):
                raise InputError(
                    f"{name}: line {number}: several next states by {x!r}, or an empty move, which only an acceptor can have: "
                    "mark accepting states with * or a column `accepting`"
                )
            if found:
                transitions[q][x] = found[0]
                outputs[q][x] = output.strip()
    return build(
        transitions,
        start=starts[0],
        letters=[x for x in table.letters if not is_empty_move(x)],
        states=table.states,
        outputs=table.outputs,
        mealy=outputs if is_mealy else None,
        name=name,
        track=track,
    )


def write_transition_table(automaton: Automaton, path: str | Path) -> None:
    """Write an automaton as a table with the columns `state`, `start` and, where it has them, `accepting` or `output`.

    Args:
        automaton: the automaton.
        path: the file; cells are separated by tabs if its extension is `.tsv`, else by commas.

    Raises:
        InputError: the table cannot hold the automaton, as where a letter has the name of one of those columns.
    """
    name, kind = str(path), output_kind(automaton)
    states = distinct_texts(automaton.states, "state", name)
    letters = distinct_texts(automaton.letters, "letter", name)
    outputs = output_texts(automaton, name)
    extra = {"acceptor": ["accepting"], "moore": ["output"]}.get(kind, [])
    text = io.StringIO()
    writer = csv.writer(
        text, delimiter="\t" if Path(path).suffix.lower() == ".tsv" else ",", lineterminator="\n"
    )
    writer.writerow(["state", "start", *extra, *letters])
    for q, state in enumerate(states):
        cells = [states[automaton.transitions[x, q]] for x in range(len(letters))]
        if kind == "mealy":
            cells = [f"{cell}/{outputs[x * len(states) + q]}" for x, cell in enumerate(cells)]
        value = {"acceptor": [str(int(bool(automaton.outputs[q])))], "moore": [outputs[q]]} if extra else {}
        writer.writerow([state, int(q == automaton.start), *value.get(kind, []), *cells])
    write_verified(automaton, path, text.getvalue(), lambda again: parse_transition_table(again, name))


FORMAT = Format(
    name="transition table",
    extensions=(".csv", ".tsv"),
    read=read_transition_table,
    write=write_transition_table,
    example="state\taccepting\ta\neven\t1\todd\nodd\t0\teven\n",
    recognise=is_transition_table,
)
