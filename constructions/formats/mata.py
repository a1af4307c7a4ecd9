"""The `.mata` text format of the Mata automata library: `@NFA-explicit` sections."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind
from ._writing import quote, unquote, write_verified

_TOKEN = re.compile(
    r"""[ \t\r\f\v]*(?:"((?:[^"\\]|\\.)*)"(?=[ \t\r\f\v#]|$)|([^\s"#()]+)|(\#.*)|(?P<bad>\S))"""
)
_LISTS = ("Initial", "Final", "Alphabet", "Alphabet-enum", "States", "States-enum", "Epsilon")
_PLAIN = re.compile(r"(Alphabet|States|Nodes)-(auto|marked|markers|utf|utf-8|chars|numbers)")


class _Token(NamedTuple):
    text: str
    quoted: bool


def read_mata(
    path: str | Path, *, track: Track | None = None, start: str | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """Read an automaton from a `.mata` file with one `@NFA-explicit` section.

    An automaton with several initial states, several next states or `%Epsilon` moves is determinised, which `notes` records.
    A file without an initial state describes the empty language. `start`
    overrides `%Initial`.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is wrong; the message names each bad line.
    """
    return parse_mata(read_text(path), str(path), track=track, start=start, max_states=max_states)


def parse_mata(
    text: str,
    name: str,
    *,
    track: Track | None = None,
    start: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from the text of a mata file.

    Args:
        text: the text of the file.
        name: the name with which error messages begin.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states that the automaton may have.
    """
    lists: dict[str, list[str]] = {}
    arcs: list[tuple[int, str, str, str]] = []
    problems: list[str] = []
    section: str | None = None
    for number, tokens in _lines(text, name):
        head = tokens[0]
        if not head.quoted and head.text.startswith("@"):
            if section is not None:
                problems.append(f"line {number}: a second section; a file holds one automaton")
            elif head.text != "@NFA-explicit" or len(tokens) > 1:
                problems.append(f"line {number}: {head.text!r} is not read, only @NFA-explicit is")
            section = head.text
        elif section is None:
            raise InputError(f"{name}: line {number}: the first line must be @NFA-explicit")
        elif not head.quoted and head.text.startswith("%"):
            key = head.text[1:]
            if key in _LISTS:
                lists.setdefault(key, []).extend(t.text for t in tokens[1:])
            elif not _PLAIN.fullmatch(key) or len(tokens) > 1:
                problems.append(f"line {number}: key {head.text!r} is not read with @NFA-explicit")
        elif len(tokens) == 3:
            arcs.append((number, *(t.text for t in tokens)))  # type: ignore[arg-type]
        else:
            problems.append(
                f"line {number}: a transition is `STATE LETTER STATE`, here are {len(tokens)} words"
            )
    if section is None:
        raise InputError(f"{name}: no section; the first line must be @NFA-explicit")
    states, letters = _names(lists, arcs, problems)
    if problems:
        raise refusal(name, problems)
    state_of = {q: i for i, q in enumerate(states)}
    letter_of = {x: i for i, x in enumerate(letters)} | dict.fromkeys(lists.get("Epsilon", ()), EPSILON)
    acceptor = Acceptor(
        states,
        letters,
        [(state_of[q], letter_of[x], state_of[r]) for _, q, x, r in arcs],
        [state_of[q] for q in lists.get("Initial", ())]
        if start is None
        else [start_index(states, start, name)],
        [state_of[q] for q in lists.get("Final", ())],
    )
    return replace(acceptor.automaton(name, track, max_states), name=Path(name).name)


def _lines(text: str, name: str) -> list[tuple[int, list[_Token]]]:
    """Numbered lines of tokens; a backslash at the end of a line joins it with the next."""
    lines: list[tuple[int, list[_Token]]] = []
    pending = False
    for number, line in enumerate(text.split("\n"), 1):
        body = line.rstrip()
        continues = body.endswith("\\") and not body.endswith("\\\\")
        tokens = _tokens(body[:-1] if continues else body, f"{name}: line {number}")
        if pending:
            lines[-1][1].extend(tokens)
        elif tokens:
            lines.append((number, tokens))
        pending = continues and (pending or bool(tokens))
    return lines


def _tokens(line: str, place: str) -> list[_Token]:
    tokens = []
    for match in _TOKEN.finditer(line):
        if match["bad"]:
            raise InputError(f"{place}: {match['bad']!r} is out of place; quote the name it belongs to")
        if match[1] is not None:
            tokens.append(_Token(unquote(match[1]), True))
        elif match[2] is not None:
            tokens.append(_Token(match[2], False))
    return tokens


def _names(
    lists: dict[str, list[str]], arcs: list[tuple[int, str, str, str]], problems: list[str]
) -> tuple[list[str], list[str]]:
    """States and letters: as enumerated, else by first appearance; names outside an enumeration are problems."""
    epsilons = lists.get("Epsilon", [])
    enumerated = [*lists.get("States", ()), *lists.get("States-enum", ())]
    used = [*lists.get("Initial", ()), *(q for _, p, _, r in arcs for q in (p, r)), *lists.get("Final", ())]
    alphabet = [*lists.get("Alphabet", ()), *lists.get("Alphabet-enum", ())]
    for kind, names in (("state", enumerated), ("letter", alphabet)):
        seen: dict[str, None] = {}
        for item in names:
            if item in seen:
                problems.append(f"{kind} {item!r} is enumerated twice")
            seen[item] = None
    if enumerated:
        strays = [q for q in dict.fromkeys(used) if q not in dict.fromkeys(enumerated)]
        problems += [f"state {q!r} is not among the enumerated states" for q in strays]
    if alphabet:
        listed = dict.fromkeys([*alphabet, *epsilons])
        problems += [
            f"line {n}: letter {x!r} is not in the alphabet" for n, _, x, _ in arcs if x not in listed
        ]
    letters = [*alphabet, *(x for _, _, x, _ in arcs)]
    silent = dict.fromkeys(epsilons)
    return list(dict.fromkeys([*enumerated, *used])), [x for x in dict.fromkeys(letters) if x not in silent]


def write_mata(automaton: Automaton, path: str | Path) -> None:
    """Write an acceptor to a `.mata` file; `InputError` for Moore, Mealy and state outputs, which the format cannot hold.

    Args:
        automaton: the automaton.
        path: the file.
    """
    name = str(path)
    if output_kind(automaton) != "acceptor":
        raise InputError(
            f"{name}: a .mata file holds accepting states only, not other outputs; write a .json file"
        )
    states = [quote(q, "state", name) for q in distinct_texts(automaton.states, "state", name)]
    letters = [quote(x, "letter", name) for x in distinct_texts(automaton.letters, "letter", name)]
    accepting = [q for q, accepted in zip(states, automaton.outputs, strict=True) if accepted]
    lines = [
        "@NFA-explicit",
        " ".join(["%Alphabet-enum", *letters]),
        " ".join(["%States-enum", *states]),
        f"%Initial {states[automaton.start]}",
        " ".join(["%Final", *accepting]),
    ]
    for q, state in enumerate(states):
        lines += [f"{state} {x} {states[automaton.transitions[i, q]]}" for i, x in enumerate(letters)]
    text = "\n".join(lines) + "\n"
    write_verified(automaton, path, text, lambda again: parse_mata(again, name))


FORMAT = Format(
    name="@NFA-explicit",
    extensions=(".mata",),
    read=read_mata,
    write=write_mata,
    example="@NFA-explicit\n%Initial even\n%Final even\neven a odd\nodd a even\n",
)
