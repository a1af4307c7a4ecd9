"""`.arrows`: a template for a format of your own. A line is `STATE LETTER STATE`, or `accept STATE ...`.

Copied to a file of this folder whose name has no underscore, it is found: every command and every function reads and
writes `.arrows`. Only `FORMAT` is needed, and `read` in it; a format without `write` is only read.
"""

from __future__ import annotations

from pathlib import Path

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._automaton import Automaton
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind
from ._writing import write_verified


def read_arrows(path: str | Path) -> Automaton:
    """The automaton of an `.arrows` file; it starts in the first line's first state.

    Raises:
        InputError: with every line that is wrong.
    """
    return parse_arrows(read_text(path), str(path))


def parse_arrows(text: str, name: str) -> Automaton:
    """The automaton of a text; `name` stands before every error."""
    rows: dict[str, dict[str, str]] = {}
    accepting: list[str] = []
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if words[:1] == ["accept"]:
            accepting += words[1:]
        elif len(words) == 3:
            state, letter, target = words
            if rows.setdefault(state, {}).setdefault(letter, target) != target:
                problems.append(f"line {number}: a second arrow by {letter!r} from {state!r}")
        elif words:
            problems.append(f"line {number}: `STATE LETTER STATE` is needed, here are {len(words)} words")
    if not rows and not problems:
        problems.append("no arrows; write lines `STATE LETTER STATE`")
    if problems:
        raise refusal(name, problems)
    return Automaton.from_transitions(rows, start=next(iter(rows)), accepting=accepting, name=name)


def write_arrows(automaton: Automaton, path: str | Path) -> None:
    """Write an `.arrows` file; `InputError` where it cannot hold the automaton."""
    name = str(path)
    if output_kind(automaton) != "acceptor":
        raise InputError(f"{name}: an .arrows file holds accepting states only; write a .json file")
    states = distinct_texts(automaton.states, "state", name)
    letters = distinct_texts(automaton.letters, "letter", name)
    order = [automaton.start, *(q for q in range(len(states)) if q != automaton.start)]
    lines = [
        f"{states[q]} {letter} {states[automaton.transitions[x, q]]}"
        for q in order
        for x, letter in enumerate(letters)
    ]
    lines.append(" ".join(["accept", *(states[q] for q in order if automaton.outputs[q])]))
    # the text is read again before it reaches the disk; where it gives another automaton, nothing is written
    write_verified(automaton, path, "\n".join(lines) + "\n", lambda again: parse_arrows(again, name))


FORMAT = Format(
    name="arrows, one a line",
    extensions=(".arrows",),
    read=read_arrows,
    write=write_arrows,
    example="even a odd\nodd a even\naccept even\n",
)
