"""LearnLib's own text format of DFAs (`LearnLibV2Serialization` of AutomataLib): numbers only, the first state is the start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ...foundation._errors import InputError, LimitError
from ...foundation._files import read_text
from ..automata._acceptor import MAX_STATES
from ..automata._automaton import Automaton
from ..automata._completing import object_array
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind
from ._writing import write_verified


def read_learnlib(path: str | Path, *, max_states: int = MAX_STATES) -> Automaton:
    """Read a DFA from a `.dfa` file of LearnLib: `STATES LETTERS`, acceptance as 1 or 0, and next states, row by row.

    States and letters are named `0`, `1`, ...

    Args:
        path: the file.
        max_states: the largest number of states.

    Raises:
        InputError: the file has other numbers than its first line says.
        LimitError: it has more than `max_states` states.
    """
    return parse_learnlib(read_text(path), str(path), max_states=max_states)


def parse_learnlib(text: str, name: str, *, max_states: int = MAX_STATES) -> Automaton:
    """Read a DFA from a text of LearnLib; the arguments are those of `read_learnlib`, with `name` before every error."""
    numbers: list[int] = []
    for at, line in enumerate(text.split("\n"), 1):
        for word in line.split():
            if not (word.isascii() and word.isdigit() and len(word) <= 9):
                raise InputError(
                    f"{name}: line {at}: {word[:40]!r} is no number; a .dfa file of LearnLib has numbers only"
                )
            numbers.append(int(word))
    if len(numbers) < 2 or numbers[0] == 0:
        raise InputError(f"{name}: the first line is `STATES LETTERS`, two numbers, with at least one state")
    (n, k), rest = numbers[:2], numbers[2:]
    if n > max_states:
        raise LimitError(f"{name}: {n:,} states, the limit is {max_states:,}; raise it with `max_states`")
    if len(rest) != n + n * k:
        raise InputError(
            f"{name}: {len(rest)} numbers behind the first line; {n} states and {k} letters need {n} for acceptance and {n * k} next states"
        )
    table = np.array(rest[n:], dtype=np.int64).reshape(n, k).T
    if table.size and table.max() >= n:
        raise InputError(f"{name}: the next state {int(table.max())} is not one of the states 0 to {n - 1}")
    automaton = Automaton(
        tuple(str(q) for q in range(n)),
        tuple(str(x) for x in range(k)),
        table,
        0,
        object_array(value != 0 for value in rest[:n]),
        name,
    )
    return replace(automaton.trim(), name=Path(name).name)


def write_learnlib(automaton: Automaton, path: str | Path) -> None:
    """Write an acceptor whose states and letters are named `0`, `1`, ..., the start being `0`.

    Args:
        automaton: the automaton.
        path: the file.

    Raises:
        InputError: it has other names, which the format cannot hold.
    """
    name = str(path)
    if output_kind(automaton) != "acceptor":
        raise InputError(
            f"{name}: a .dfa file holds accepting states only, not other outputs; write a .json file"
        )
    distinct_texts(automaton.states, "state", name)
    lines = [f"{len(automaton.states)} {len(automaton.letters)}"]
    lines.append(" ".join(str(int(bool(v))) for v in automaton.outputs))
    lines += [" ".join(map(str, row)) for row in automaton.transitions.T.tolist()]
    write_verified(automaton, path, "\n".join(lines) + "\n", lambda again: parse_learnlib(again, name))


FORMAT = Format(
    name="LearnLib's DFAs",
    extensions=(".dfa",),
    read=read_learnlib,
    write=write_learnlib,
    example="2 1\n1 0\n1\n0\n",
)
