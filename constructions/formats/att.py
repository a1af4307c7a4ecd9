"""The text format of OpenFst and AT&T FSM: `source target input [output] [weight]` lines and final states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track, build
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind, output_texts
from ._alphabets import letters_of_alphabet, read_alphabet
from ._reserved import is_empty_move, is_reserved, refused_name
from ._writing import write_verified

_EMPTY_COLUMN = ""
_ESCAPES = {"@_SPACE_@": " ", "@_TAB_@": "\t", "@_NEWLINE_@": "\n", "@_COLON_@": ":"}
"""Signs in names as HFST writes them, which it takes for columns otherwise."""
_NOT_FINAL = ("inf", "infinity")


@dataclass
class _Arcs:
    """What the lines say: arcs with their line numbers, final states, and what is wrong."""

    arcs: list[tuple[int, str, str, str, str]] = field(default_factory=list)
    states: dict[str, None] = field(default_factory=dict)
    final: dict[str, None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    widths: dict[int, int] = field(default_factory=dict)


def read_att(
    path: str | Path,
    *,
    alphabet: str | None = None,
    track: Track | None = None,
    start: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from an `.att` file; the start state is the source of the first line, or `start`.

    An acceptor (3 columns, or 4 with input = output everywhere) accepts in its final states and is
    determinised if necessary, which `notes` records. Other transducers are Mealy machines: deterministic by input,
    one output per letter. Weights must be 0. Empty moves are spelled `<eps>`, `@0@`, `ε` and so on, or are an empty column of a line
    with tabs; `0` is a letter. Names for other symbols (`@_IDENTITY_SYMBOL_@`) and flag diacritics are refused, and so is a file of
    several transducers. A file without a line is the empty language, as foma and pyfoma write it; `alphabet` says over which letters.

    Args:
        path: the file.
        alphabet: all letters, where the lines do not name each of them: single characters, `ascii`, `printable` or `bytes`, or the path
            of a file with one letter a line; None for those of the lines.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is wrong; the message names each bad line.
    """
    letters = None if alphabet is None else letters_of_alphabet(read_alphabet(alphabet), str(path))
    return parse_att(
        read_text(path), str(path), letters=letters, track=track, start=start, max_states=max_states
    )


def parse_att(
    text: str,
    name: str,
    *,
    letters: Sequence[str] | None = None,
    track: Track | None = None,
    start: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from the text of an OpenFst file.

    Args:
        text: the text of the file.
        name: the name with which error messages begin.
        letters: all letters; None for those of the lines.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states that the automaton may have.
    """
    if "\0" in text:
        raise InputError(f"{name}: has a NUL character: not a text file")
    found = _read_lines(text)
    if not found.states and not found.problems:
        return _empty_language(letters, name)
    is_acceptor = all(x == y for *_, x, y in found.arcs)
    if not is_acceptor:
        _check_mealy(found)
    if letters is not None:
        foreign = [(n, x) for n, _, _, x, _ in found.arcs if x not in letters and not _is_empty(x)]
        found.problems += [f"line {n}: {x!r} is not a letter of the alphabet" for n, x in foreign[:10]]
    if found.problems:
        raise refusal(name, found.problems)
    states = list(found.states)
    first = 0 if start is None else start_index(states, start, name)
    automaton = (
        _acceptor(found, states, first, letters).automaton(name, track, max_states)
        if is_acceptor
        else _mealy(found, states[first], name, track or "state", letters)
    )
    notes: tuple[str, ...] = ()
    if "0" in automaton.letters:
        notes = ("the label 0 is a letter here; OpenFst without a symbol table means the empty move by it",)
    if "." in automaton.letters:
        notes += ("the label . is a letter here; pyfoma means any other symbol by it",)
    if start is None and states[0] != "0" and "0" in found.states and all(q.isdecimal() for q in states):
        notes += (
            f"the start is {states[0]}, of the first line, as OpenFst takes it; HFST, foma and kfst mean 0: give `start` 0",
        )
    spellings = dict.fromkeys(x for *_, x, _ in found.arcs if _is_empty(x))
    notes += tuple(f"{repr(x) if x else 'an empty column'} is read as the empty move" for x in spellings)
    return replace(automaton, name=Path(name).name).with_notes(*notes)


def _empty_language(letters: Sequence[str] | None, name: str) -> Automaton:
    """One rejecting state: foma and pyfoma write no line for a language without a word."""
    if letters is None:
        raise InputError(
            f"{name}: no line: the empty language, as foma and pyfoma write it, whose letters the file does not name: state them with "
            "`alphabet`; a line is `SOURCE TARGET LETTER`"
        )
    arcs = [(0, x, 0) for x in range(len(letters))]
    automaton = Acceptor(["0"], letters, arcs, [0], []).automaton(name)
    return replace(automaton, name=Path(name).name).with_notes(
        "no line: the empty language, one rejecting state"
    )


def _read_lines(text: str) -> _Arcs:
    found = _Arcs()
    for number, line in enumerate(text.split("\n"), 1):
        words = _columns(line)
        if not words:
            continue
        if words == ["--"]:
            found.problems.append(
                f"line {number}: `--` stands between two transducers (HFST): keep one of them in the file"
            )
        elif len(words) > 5:
            found.problems.append(f"line {number} has {len(words)} columns; at most 5 are known")
        elif len(words) <= 2:
            weight = words[1] if len(words) == 2 else "0"
            found.states[words[0]] = None
            if _is_zero(weight):
                found.final[words[0]] = None
            elif weight.lower() not in _NOT_FINAL:
                found.problems.append(
                    f"line {number}: final weight {weight[:40]!r} is not 0; weights are not kept"
                )
        else:
            source, target, letter = words[:3]
            words[2:4] = [_unescape(x) for x in words[2:4]]
            letter = words[2]
            for x in dict.fromkeys((letter, *words[3:4])):
                if reserved := refused_name(x):
                    found.problems.append(f"line {number}: {x!r} {reserved}")
            found.states.update({source: None, target: None})
            found.arcs.append((number, source, target, letter, words[3] if len(words) > 3 else letter))
            found.widths.setdefault(min(len(words), 4), number)
            if len(words) == 5 and not _is_zero(words[4]):
                found.problems.append(
                    f"line {number}: weight {words[4][:40]!r} is not 0; weights are not kept"
                )
    if len(found.widths) > 1:
        three, four = found.widths[3], found.widths[4]
        found.problems.append(
            f"line {three} has 3 columns (acceptor), line {four} more (transducer or weights): use one kind"
        )
    return found


def _columns(line: str) -> list[str]:
    """The columns of a line: between tabs, where one may be empty, or else between blanks."""
    if "\t" in line:
        cells = line.split("\t")
        columns = [cell.strip() or cell for cell in cells]
        while (
            len(columns) > 1 and not columns[-1] and len(columns) != 3
        ):  # a third column is a letter, the empty move
            columns.pop()
        if columns[0] and not any(blank in cell for cell in columns[:2] for blank in " \v\f"):
            return columns
    return line.split()


def _unescape(text: str) -> str:
    for escape, sign in _ESCAPES.items():
        text = text.replace(escape, sign)
    return text


def _is_empty(name: str) -> bool:
    return name == _EMPTY_COLUMN or is_empty_move(name)


def _is_zero(weight: str) -> bool:
    try:
        return Decimal(weight.replace(",", ".")) == 0  # HFST writes 0,000000 where the locale has commas
    except InvalidOperation:
        return False


def _check_mealy(found: _Arcs) -> None:
    known: dict[tuple[str, str], tuple[int, str, str]] = {}
    for number, source, target, letter, output in found.arcs:
        if _is_empty(letter):
            found.problems.append(
                f"line {number}: an empty input {letter!r}; a Mealy machine reads a letter each step"
            )
            continue
        first, *other = known.setdefault((source, letter), (number, target, output))
        if other != [target, output]:
            found.problems.append(
                f"lines {first} and {number} differ on state {source!r} and letter {letter!r}: not deterministic"
            )


def _acceptor(found: _Arcs, states: list[str], first: int, given: Sequence[str] | None) -> Acceptor:
    letters = [x for x in given or dict.fromkeys(x for *_, x, _ in found.arcs) if not _is_empty(x)]
    state_of = {q: i for i, q in enumerate(states)}
    letter_of = {x: i for i, x in enumerate(letters)}
    arcs = [(state_of[q], letter_of.get(x, EPSILON), state_of[r]) for _, q, r, x, _ in found.arcs]
    return Acceptor(states, letters, arcs, [first], [state_of[q] for q in found.final])


def _mealy(found: _Arcs, start: str, name: str, track: Track, letters: Sequence[str] | None) -> Automaton:
    transitions: dict[Any, dict[Any, Any]] = {q: {} for q in found.states}
    outputs: dict[Any, dict[Any, Any]] = {q: {} for q in found.states}
    for _, source, target, letter, output in found.arcs:
        transitions[source][letter] = target
        outputs[source][letter] = output
    automaton = build(
        transitions,
        start=start,
        letters=letters,
        states=list(found.states),
        mealy=outputs,
        name=name,
        track=track,
    )
    if any(q not in found.final for q in found.states):
        automaton = automaton.with_notes("final states are not kept: the outputs are those of the arcs")
    return automaton


def write_att(automaton: Automaton, path: str | Path) -> None:
    """Write an acceptor or Mealy machine to an `.att` file. Letters and outputs must not contain blanks.

    States are numbers from 0, the start, in the order of the automaton: OpenFst, HFST and foma read nothing else, and foma takes any
    name for 0. The columns of an acceptor are three, as `fstcompile` reads acceptors.

    Args:
        automaton: the automaton.
        path: the file.
    """
    name, kind = str(path), output_kind(automaton)
    if kind not in ("acceptor", "mealy"):
        raise InputError(
            f"{name}: an .att file holds accepting states or Mealy outputs, not outputs of states; write a .json file"
        )
    order = [automaton.start, *(q for q in range(len(automaton.states)) if q != automaton.start)]
    place = {q: i for i, q in enumerate(order)}
    states = [str(place[q]) for q in range(len(order))]
    letters = distinct_texts(automaton.letters, "letter", name)
    outputs = output_texts(automaton, name)
    for item in (*letters, *(outputs if kind == "mealy" else ())):
        if item.split() != [item]:
            raise InputError(
                f"{name}: the name {item!r} has blanks or is empty, which .att cannot hold: rename it"
            )
    for item in letters:
        if is_reserved(item):
            raise InputError(f"{name}: letter {item!r} is a reserved name in an .att file: rename it")
    lines = []
    for q in order:
        for x, letter in enumerate(letters):
            target = states[automaton.transitions[x, q]]
            output = [] if kind == "acceptor" else [outputs[x * len(states) + q]]
            lines.append("\t".join([states[q], target, letter, *output]))
    lines += [states[q] for q in order if kind == "mealy" or automaton.outputs[q]]
    text = "".join(f"{line}\n" for line in lines)
    numbered = replace(automaton, states=tuple(states))
    write_verified(numbered, path, text, lambda again: parse_att(again, name))


FORMAT = Format(
    name="OpenFst text",
    extensions=(".att",),
    read=read_att,
    write=write_att,
    example="even odd a\nodd even a\neven\n",
)
