"""Automata as GAP's package `automata` prints them: `Automaton("det",2,"ab",[ [ 2, 1 ], [ 1, 2 ] ],[ 1 ],[ 1 ]);;`."""

from __future__ import annotations

import re
import string
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind
from ._gap import as_input
from ._writing import write_verified
from .transformations import parse_transformations

_TOKEN = re.compile(
    r"\s*(?:#[^\n]*\n\s*)*(?:\"((?:[^\"\\]|\\.)*)\"|([0-9]+)|([\[\](),;]|:=)|([A-Za-z_][A-Za-z_0-9]*))"
)
_KINDS = ("det", "nondet", "epsilon")
_Value = str | int | list["_Value"]


def is_gap_automaton(text: str) -> bool:
    """Whether a text calls `Automaton(`, outside comments."""
    return any(re.search(r"\bAutomaton\s*\(", line.split("#", 1)[0]) for line in text.split("\n"))


def read_gap_automaton(
    path: str | Path, *, track: Track | None = None, start: str | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """Read an automaton from a file with one `Automaton(...)` of GAP's package `automata`, or with maps; states are the numbers from 1.

    The kinds are `det`, where 0 is a missing transition, `nondet`, and `epsilon`, whose last letter is the empty move. An alphabet
    that is a number n stands for the letters a, b, ..., or a1, a2, ... where n is more than 26.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start states in the file.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is wrong.
    """
    return parse_gap_automaton(read_text(path), str(path), track=track, start=start, max_states=max_states)


def parse_gap_automaton(
    text: str,
    name: str,
    *,
    track: Track | None = None,
    start: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from a text of GAP; the arguments are those of `read_gap_automaton`, with `name` before every error."""
    if not is_gap_automaton(text):
        return parse_transformations(text, name, start=start)
    values = _Reader(as_input(text), name).arguments()
    if len(values) != 6:
        raise InputError(
            f"{name}: Automaton(...) has {len(values)} arguments; it has 6: the kind, the number of states, the alphabet, the table, "
            "and the initial and accepting states"
        )
    kind, size, alphabet, table, initial, accepting = values
    if kind not in _KINDS:
        raise InputError(f"{name}: the kind {kind!r} is not read, only det, nondet and epsilon are")
    if not isinstance(size, int) or not 1 <= size <= max_states:
        raise InputError(
            f"{name}: the number of states is {size!r}; it is a whole number from 1 to {max_states:,}"
        )
    letters = _letters(alphabet, name)
    rows = table if isinstance(table, list) else []
    if len(rows) != len(letters) or not all(isinstance(row, list) and len(row) == size for row in rows):
        raise InputError(
            f"{name}: the table needs a row of {size} entries for each of the {len(letters)} letters"
        )
    arcs = [
        (q, EPSILON if kind == "epsilon" and x == len(letters) - 1 else x, r)
        for x, row in enumerate(rows)
        for q, entry in enumerate(row if isinstance(row, list) else [])
        for r in _states([] if entry == 0 else entry, size, name)
    ]
    states = [str(q) for q in range(1, size + 1)]
    acceptor = Acceptor(
        states,
        letters[:-1] if kind == "epsilon" else letters,
        sorted(arcs),
        _states(initial, size, name) if start is None else [start_index(states, start, name)],
        _states(accepting, size, name),
    )
    automaton = replace(acceptor.automaton(name, track, max_states), name=Path(name).name)
    return (
        automaton.with_notes(f"{letters[-1]!r} is read as the empty move") if kind == "epsilon" else automaton
    )


def _letters(alphabet: _Value, name: str) -> list[str]:
    """The letters of `"ab"`, of `["go", "stop"]`, or of a number."""
    if isinstance(alphabet, int) and alphabet <= 10_000:
        few = alphabet <= len(string.ascii_lowercase)
        return list(string.ascii_lowercase[:alphabet]) if few else [f"a{i}" for i in range(1, alphabet + 1)]
    letters = [str(x) for x in alphabet] if isinstance(alphabet, str | list) else []
    if not letters or len(dict.fromkeys(letters)) < len(letters):
        raise InputError(
            f'{name}: the alphabet is a number, or different letters as in "ab" and ["go", "stop"]'
        )
    return letters


def _states(entry: _Value, size: int, name: str) -> list[int]:
    """The states of an entry, counted from 0."""
    numbers = entry if isinstance(entry, list) else [entry]
    for q in numbers:
        if not isinstance(q, int) or not 1 <= q <= size:
            raise InputError(f"{name}: {q!r} is no state; states are the numbers 1 to {size}")
    return [q - 1 for q in numbers if isinstance(q, int)]


class _Reader:
    """The values of GAP: numbers, texts and lists."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name, self.at = text, name, 0

    def token(self) -> re.Match[str]:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            self.fail(self.text[self.at : self.at + 20].strip())
        self.at = match.end()
        return match

    def fail(self, shown: str) -> NoReturn:
        line = self.text.count("\n", 0, self.at) + 1
        raise InputError(
            f'{self.name}: line {line}: {shown!r} is out of place; write `Automaton("det",2,"ab",[[2,1],[1,2]],[1],[1])`'
        )

    def arguments(self) -> list[_Value]:
        """What stands between the parentheses of the one `Automaton(...)`."""
        while (match := self.token())[4] != "Automaton":
            if match[4] is None and match[3] != ":=":
                self.fail(match[0].strip())
        if self.token()[3] != "(":
            self.fail("Automaton")
        values = self.values(")", 0)
        rest = self.text[self.at :].strip().strip(";").strip()
        if rest and not rest.startswith("#"):
            self.fail(rest[:20])
        return values

    def values(self, closing: str, depth: int) -> list[_Value]:
        """Values between commas, to the closing sign."""
        found: list[_Value] = []
        while True:
            match = self.token()
            if match[1] is not None:
                found.append(re.sub(r"\\(.)", r"\1", match[1]))
            elif match[2] is not None:
                found.append(int(match[2][:9]))
            elif match[3] == "[" and depth < 4:
                found.append(self.values("]", depth + 1))
            elif match[3] == closing and not found:
                return found
            else:
                self.fail(match[0].strip())
            after = self.token()[3]
            if after == closing:
                return found
            if after != ",":
                self.fail(self.text[self.at - 1 : self.at + 19])


def write_gap_automaton(automaton: Automaton, path: str | Path) -> None:
    """Write an acceptor as `Automaton("det",...)`, with its states as numbers in their order.

    Args:
        automaton: the automaton; the names of its states are not kept.
        path: the file.
    """
    name = str(path)
    if output_kind(automaton) != "acceptor":
        raise InputError(
            f"{name}: a .g file holds accepting states only, not other outputs; write a .json file"
        )
    letters = distinct_texts(automaton.letters, "letter", name)
    strange = next(
        (x for x in letters if not x.isprintable() or '"' in x or "\\" in x or not x or x == "@"), None
    )
    if strange is not None:
        raise InputError(f"{name}: letter {strange!r} has a sign that this format cannot hold: rename it")
    single = all(len(x) == 1 for x in letters)
    alphabet = f'"{"".join(letters)}"' if single else "[" + ",".join(f'"{x}"' for x in letters) + "]"
    rows = [[int(q) + 1 for q in row] for row in automaton.transitions]
    accepting = [q + 1 for q, accepted in enumerate(automaton.outputs) if accepted]
    size = len(automaton.states)
    numbered = replace(automaton, states=tuple(str(q) for q in range(1, size + 1)))
    text = f'Automaton("det",{size},{alphabet},{rows},[{automaton.start + 1}],{accepting});\n'
    write_verified(numbered, path, text, lambda again: parse_gap_automaton(again, name))


FORMAT = Format(
    name="GAP, package automata or maps",
    extensions=(".g",),
    read=read_gap_automaton,
    write=write_gap_automaton,
    example='Automaton("det",2,"ab",[ [ 2, 1 ], [ 1, 2 ] ],[ 1 ],[ 1 ]);;\n',
)
