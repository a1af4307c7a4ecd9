"""The BA format of RABIT and others, read as an automaton on finite words: an initial state, `a,p->q`, accepting states."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind
from ._other_machines import find_other_machine
from ._reserved import is_empty_move, is_reserved, refused_name
from ._writing import write_verified

_STEP = re.compile(r"(.*),(\[[^\]]*\]|[^,\[\]>]+)->(\[[^\]]*\]|[^,\[\]>]+)")
_ALONE = re.compile(r"\[[^\]]*\]|[^,\[\]>]+")


def read_ba(
    path: str | Path, *, track: Track | None = None, start: str | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """Read an automaton from a `.ba` file as one on finite words: a word is accepted where it ends in an accepting state.

    The first line may name the initial state, which is the first transition's source otherwise. The lines behind the transitions are the
    accepting states; without any, all are. The same file may also stand for a Büchi automaton, on infinite words; `notes` says how
    it was read.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is wrong; the message names each bad line.
    """
    return parse_ba(read_text(path), str(path), track=track, start=start, max_states=max_states)


def parse_ba(
    text: str,
    name: str,
    *,
    track: Track | None = None,
    start: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from a text in the BA format; the arguments are those of `read_ba`, with `name` before every error."""
    if "\0" in text:
        raise InputError(f"{name}: has a NUL character: not a text file")
    initial: list[str] = []
    final: list[str] = []
    arcs: list[tuple[str, str, str]] = []
    problems: list[str] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if step := _STEP.fullmatch(line):
            arcs.append((_bare(step[2]), step[1], _bare(step[3])))
            if reserved := refused_name(step[1]):
                problems.append(f"line {number}: {step[1]!r} {reserved}")
            if final:
                problems.append(
                    f"line {number}: a transition behind the accepting states: write them at the end"
                )
        elif _ALONE.fullmatch(line):
            (final if arcs else initial).append(_bare(line))
        elif line:
            problems.append(
                f"line {number}: {line[:40]!r} is neither a state `[q]` nor a transition `a,[p]->[q]`"
            )
    if not arcs and not initial and not problems:
        problems.append("no transitions; write `a,[p]->[q]`")
    if problems:
        raise refusal(name, problems)
    other = find_other_machine([x for _, x, _ in arcs])
    if other is not None:
        raise InputError(f"{name}: the letter {arcs[other.at][1][:60]!r} {other.what}")
    if not initial:
        initial = [arcs[0][0]]
    states = list(dict.fromkeys([*initial, *(q for p, _, r in arcs for q in (p, r)), *final]))
    empty = {x for _, x, _ in arcs if is_empty_move(x)}
    letters = [x for x in dict.fromkeys(x for _, x, _ in arcs) if x not in empty]
    place, letter_of = {q: i for i, q in enumerate(states)}, {x: i for i, x in enumerate(letters)}
    acceptor = Acceptor(
        states,
        letters,
        [(place[q], letter_of.get(x, EPSILON), place[r]) for q, x, r in arcs],
        [place[q] for q in initial] if start is None else [start_index(states, start, name)],
        [place[q] for q in final] if final else list(range(len(states))),
    )
    notes = ["read as an automaton on finite words; a .ba file may also stand for a Büchi automaton"]
    notes += [] if final else ["no accepting state is named: all are accepting"]
    notes += [f"{x!r} is read as the empty move" for x in sorted(empty)]
    return replace(acceptor.automaton(name, track, max_states), name=Path(name).name).with_notes(*notes)


def _bare(state: str) -> str:
    return state[1:-1] if state.startswith("[") else state


def write_ba(automaton: Automaton, path: str | Path) -> None:
    """Write an acceptor in the BA format; at least one state accepts, since none would mean all.

    Args:
        automaton: the automaton; names of states have no square brackets.
        path: the file.
    """
    name = str(path)
    if output_kind(automaton) != "acceptor":
        raise InputError(
            f"{name}: a .ba file holds accepting states only, not other outputs; write a .json file"
        )
    states = distinct_texts(automaton.states, "state", name)
    letters = distinct_texts(automaton.letters, "letter", name)
    for item in (*states, *letters):
        if item.strip() != item or not item or re.search(r"[\[\]\n\r]", item) or is_reserved(item):
            raise InputError(
                f"{name}: the name {item!r} is empty or reserved, or has a square bracket, a line end or outer blanks: rename it"
            )
    lines = [f"[{states[automaton.start]}]"]
    for q, state in enumerate(states):
        lines += [
            f"{letter},[{state}]->[{states[automaton.transitions[x, q]]}]" for x, letter in enumerate(letters)
        ]
    lines += [f"[{q}]" for q, accepted in zip(states, automaton.outputs, strict=True) if accepted]
    write_verified(automaton, path, "\n".join(lines) + "\n", lambda again: parse_ba(again, name))


FORMAT = Format(
    name="BA, of finite words",
    extensions=(".ba",),
    read=read_ba,
    write=write_ba,
    example="[even]\na,[even]->[odd]\na,[odd]->[even]\n[even]\n",
)
