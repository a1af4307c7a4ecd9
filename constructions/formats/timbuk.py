"""Timbuk's format of tree automata, for words: letters of arity 1, and one or more constants where words begin."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._acceptor import MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track
from ..automata._completing import fresh_name
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind
from ._writing import write_verified

_NAME = re.compile(r"[^\s():,]+")
_LEAF = re.compile(r"([^\s():,]+)\s*(?:\(\s*\))?\s*->\s*([^\s():,]+)")
_STEP = re.compile(r"([^\s():,]+)\s*\(\s*([^\s():,]+)\s*\)\s*->\s*([^\s():,]+)")
_TREE = re.compile(r"[^\s():,]+\s*\([^()]*,[^()]*\)\s*->.*")


def read_timbuk(
    path: str | Path, *, track: Track | None = None, start: str | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """Read an automaton on words from a file of Timbuk. A constant's states are initial, and `a(q) -> r` is a move by `a`.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start states in the file.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is wrong, or a letter has two or more arguments: a tree automaton.
    """
    return parse_timbuk(read_text(path), str(path), track=track, start=start, max_states=max_states)


def parse_timbuk(
    text: str,
    name: str,
    *,
    track: Track | None = None,
    start: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from a text of Timbuk; the arguments are those of `read_timbuk`, with `name` before every error."""
    section = ""
    letters: list[str] = []
    states: list[str] = []
    final: list[str] = []
    initial: list[str] = []
    constants: dict[str, None] = {}
    arcs: list[tuple[str, str, str]] = []
    problems: list[str] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.split("%", 1)[0].strip()
        head = next(
            (h for h in ("Ops", "Automaton", "Final States", "States", "Transitions") if _starts(line, h)),
            None,
        )
        if head is not None:
            section, line = head, line[len(head) :].strip()
            if head == "Automaton" and (arcs or final):
                problems.append(f"line {number}: a second automaton; a file holds one")
        if not line or section == "Automaton":
            continue
        if section == "Ops":
            for item in line.split():
                letter, colon, arity = item.rpartition(":")
                if not colon:  # its arguments are seen where it is used
                    continue
                if arity == "1":
                    letters.append(letter)
                elif arity != "0":
                    problems.append(
                        f"line {number}: {item[:40]!r} has {arity[:9]} arguments: a tree automaton, and words have letters with one"
                    )
        elif section in ("States", "Final States"):
            found = [word.rpartition(":")[0] or word for word in line.split()]
            (states if section == "States" else final).extend(found)
        elif section == "Transitions":
            if step := _STEP.fullmatch(line):
                arcs.append((step[2], step[1], step[3]))
            elif leaf := _LEAF.fullmatch(line):
                initial.append(leaf[2])
                constants[leaf[1]] = None
            elif _TREE.fullmatch(line):
                problems.append(
                    f"line {number}: a letter with several arguments: a tree automaton, not one of words"
                )
            else:
                problems.append(
                    f"line {number}: {line[:40]!r} is no transition; write `x -> q` or `a(q) -> r`"
                )
        else:
            problems.append(
                f"line {number}: {line[:40]!r} stands before `Ops`, `Automaton`, `States` and `Transitions`"
            )
    if section != "Transitions" and not problems:
        problems.append("no section `Transitions`")
    if problems:
        raise refusal(name, problems)
    names = list(dict.fromkeys([*states, *initial, *(q for p, _, r in arcs for q in (p, r)), *final]))
    alphabet = list(dict.fromkeys([*letters, *(x for _, x, _ in arcs)]))
    if not names:
        raise InputError(f"{name}: no states")
    place, letter_of = {q: i for i, q in enumerate(names)}, {x: i for i, x in enumerate(alphabet)}
    first = [place[q] for q in initial] if start is None else [start_index(names, start, name)]
    acceptor = Acceptor(
        names,
        alphabet,
        [(place[q], letter_of[x], place[r]) for q, x, r in arcs],
        first,
        [place[q] for q in final],
    )
    built = replace(acceptor.automaton(name, track, max_states), name=Path(name).name)
    if len(constants) < 2:
        return built
    named = ", ".join(map(repr, list(constants)[:5]))
    return built.with_notes(f"words begin at any of the constants {named}, which are not told apart")


def _starts(line: str, head: str) -> bool:
    return line == head or line.startswith((f"{head} ", f"{head}\t"))


def write_timbuk(automaton: Automaton, path: str | Path) -> None:
    """Write an acceptor in Timbuk's format, with a fresh constant where words begin.

    Args:
        automaton: the automaton; names have no blanks, brackets, colons, commas or percent signs.
        path: the file.
    """
    name = str(path)
    if output_kind(automaton) != "acceptor":
        raise InputError(
            f"{name}: a .timbuk file holds accepting states only, not other outputs; write a .json file"
        )
    states = distinct_texts(automaton.states, "state", name)
    letters = distinct_texts(automaton.letters, "letter", name)
    for item in (*states, *letters):
        if not _NAME.fullmatch(item) or "%" in item or "->" in item:
            raise InputError(
                f"{name}: the name {item!r} is empty or has a blank, a bracket, a colon, a comma, % or ->: rename it"
            )
    leaf = fresh_name("x", letters)
    final = [q for q, accepted in zip(states, automaton.outputs, strict=True) if accepted]
    lines = [
        " ".join(["Ops", *(f"{x}:1" for x in letters), f"{leaf}:0"]),
        "Automaton A",
        " ".join(["States", *states]),
        " ".join(["Final States", *final]),
        "Transitions",
        f"{leaf} -> {states[automaton.start]}",
    ]
    for q, state in enumerate(states):
        lines += [
            f"{letter}({state}) -> {states[automaton.transitions[x, q]]}" for x, letter in enumerate(letters)
        ]
    text = "\n".join(lines) + "\n"
    write_verified(automaton, path, text, lambda again: parse_timbuk(again, name))


FORMAT = Format(
    name="Timbuk, for words",
    extensions=(".timbuk", ".tmb"),
    read=read_timbuk,
    write=write_timbuk,
    example="Ops a:1 x:0\nAutomaton A\nStates even odd\nFinal States even\nTransitions\nx -> even\na(even) -> odd\na(odd) -> even\n",
)
