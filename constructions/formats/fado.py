"""FAdo's text format, `@DFA` and `@NFA`: the head line names final and initial states, each other line is a transition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind
from ._reserved import is_empty_move, is_reserved, refused_name
from ._writing import write_verified

_TOKEN = re.compile(r'[ \t]*(?:"([^"\n]*)"|([^\s"#]+)|(\#.*)|(?P<bad>\S))')
_BARE = re.compile(r"[A-Za-z0-9]+")
"""Names that FAdo's grammar takes without quotes."""
_HELD = re.compile(r'[^\s"]+')
"""Names that it takes within quotes."""


@dataclass
class _Lines:
    """Final states, initial states (None where not named), the alphabet, transitions with their lines, and single states."""

    final: list[str] = field(default_factory=list)
    initial: list[str] | None = None
    alphabet: list[str] = field(default_factory=list)
    arcs: list[tuple[int, str, str, bool, str]] = field(default_factory=list)
    """Line, source, letter, whether the letter is quoted, target."""
    alone: list[str] = field(default_factory=list)


def read_fado(
    path: str | Path, *, track: Track | None = None, start: str | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """Read an automaton from a file of FAdo with one `@DFA` or `@NFA`; `@epsilon` is the empty move.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file: the one behind `*`, else the first line's source.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is wrong, or holds a transducer; the message names each bad line.
    """
    return parse_fado(read_text(path), str(path), track=track, start=start, max_states=max_states)


def parse_fado(
    text: str,
    name: str,
    *,
    track: Track | None = None,
    start: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from a text of FAdo; the arguments are those of `read_fado`, with `name` before every error."""
    lines = _read_lines(text, name)
    initial = lines.initial or ([lines.arcs[0][1]] if lines.arcs else lines.alone[:1] or lines.final[:1])
    states = list(
        dict.fromkeys(
            [*initial, *(q for _, p, _, _, r in lines.arcs for q in (p, r)), *lines.alone, *lines.final]
        )
    )
    if not states:
        raise InputError(f"{name}: no states; a line is `STATE LETTER STATE`")
    empty = {x for _, _, x, quoted, _ in lines.arcs if not quoted and is_empty_move(x)}
    letters = [
        x for x in dict.fromkeys([*lines.alphabet, *(x for _, _, x, _, _ in lines.arcs)]) if x not in empty
    ]
    place, letter_of = {q: i for i, q in enumerate(states)}, {x: i for i, x in enumerate(letters)}
    arcs = [(place[q], letter_of.get(x, EPSILON), place[r]) for _, q, x, _, r in lines.arcs]
    first = [place[q] for q in initial] if start is None else [start_index(states, start, name)]
    acceptor = Acceptor(states, letters, arcs, first, [place[q] for q in lines.final])
    notes = [f"{x!r} is read as the empty move" for x in sorted(empty - {"@epsilon"})]
    return replace(acceptor.automaton(name, track, max_states), name=Path(name).name).with_notes(*notes)


def _read_lines(text: str, name: str) -> _Lines:
    lines, problems, begun = _Lines(), [], False
    for number, line in enumerate(text.split("\n"), 1):
        tokens = _tokens(line, f"{name}: line {number}")
        words = [word for word, _ in tokens]
        if not tokens:
            continue
        if words[0].startswith("@") and not tokens[0][1]:
            if begun:
                problems.append(f"line {number}: a second automaton; a file holds one")
            elif words[0] not in ("@DFA", "@NFA"):
                what = ", a transducer," if words[0] == "@Transducer" else ""
                problems.append(f"line {number}: {words[0]!r}{what} is not read, only @DFA and @NFA are")
            begun = True
            _read_head(tokens[1:], lines)
        elif not begun:
            raise InputError(f"{name}: line {number}: the first line must begin with @DFA or @NFA")
        elif len(words) == 1:
            lines.alone.append(words[0])
        elif len(words) != 3:
            problems.append(
                f"line {number}: a transition is `STATE LETTER STATE`, here are {len(words)} words"
            )
        else:
            (source, _), (letter, quoted), (target, _) = tokens
            if not quoted and (reserved := refused_name(letter)):
                problems.append(f"line {number}: {letter!r} {reserved}, or quote it")
            lines.arcs.append((number, source, letter, quoted, target))
    if not begun:
        raise InputError(f"{name}: the first line must begin with @DFA or @NFA")
    if problems:
        raise refusal(name, problems)
    return lines


def _tokens(line: str, place: str) -> list[tuple[str, bool]]:
    tokens = []
    for match in _TOKEN.finditer(line):
        if match["bad"]:
            raise InputError(f"{place}: a quote is never closed")
        if match[1] is not None:
            tokens.append((match[1], True))
        elif match[2] is not None:
            tokens.append((match[2], False))
    return tokens


def _read_head(tokens: Sequence[tuple[str, bool]], lines: _Lines) -> None:
    """`FINAL ... * INITIAL ... $ LETTER ...`"""
    into = lines.final
    for word, quoted in tokens:
        if word == "*" and not quoted:
            lines.initial = into = []
        elif word == "$" and not quoted:
            into = lines.alphabet
        else:
            into.append(word)


def write_fado(automaton: Automaton, path: str | Path) -> None:
    """Write an acceptor as `@DFA`, the start state first; names that are more than letters and digits are quoted.

    FAdo reads no name with a blank or a quote. Letters of such names are refused; the states are numbered, in the order of the
    automaton from 0, the start, where one of them has such a name.

    Args:
        automaton: the automaton.
        path: the file.

    Raises:
        InputError: the automaton is not an acceptor, or a letter has a name that FAdo does not read.
    """
    name = str(path)
    if output_kind(automaton) != "acceptor":
        raise InputError(
            f"{name}: a .fa file holds accepting states only, not other outputs; write a .json file"
        )
    order = [automaton.start, *(q for q in range(len(automaton.states)) if q != automaton.start)]
    if any(not _HELD.fullmatch(q) for q in distinct_texts(automaton.states, "state", name)):
        place = {q: str(i) for i, q in enumerate(order)}
        automaton = replace(automaton, states=tuple(place[q] for q in range(len(order))))
    states = [_quote(q, "state", name) for q in distinct_texts(automaton.states, "state", name)]
    letters = [_quote(x, "letter", name) for x in distinct_texts(automaton.letters, "letter", name)]
    final = [states[q] for q in order if automaton.outputs[q]]
    initial = [] if letters else ["*", states[automaton.start]]
    # FAdo takes no initial state behind @DFA: it is the source of the first transition
    lines = [" ".join(["@DFA", *final, *initial, "$", *letters])]
    lines += [
        f"{states[q]} {letter} {states[automaton.transitions[x, q]]}"
        for q in order
        for x, letter in enumerate(letters)
    ]
    text = "\n".join(lines) + "\n"
    write_verified(automaton, path, text, lambda again: parse_fado(again, name))


def _quote(text: str, kind: str, name: str) -> str:
    if _BARE.fullmatch(text) and not is_reserved(text):
        return text
    if not _HELD.fullmatch(text):
        raise InputError(
            f"{name}: {kind} {text!r} is empty or has a blank or a quote, which FAdo does not read: rename it"
        )
    return f'"{text}"'


FORMAT = Format(
    name="FAdo",
    extensions=(".fa",),
    read=read_fado,
    write=write_fado,
    example="@DFA even\neven a odd\nodd a even\n",
)
