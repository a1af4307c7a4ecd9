"""The `.mata` text format of the Mata automata library: `@NFA-explicit`, and `@NFA-bits` with its letters written out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ...foundation._errors import InputError, LimitError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind
from ._formulas import SIGNS, Formula, bit_text, holds, names_in, needs_two, parse_formula, valuations
from ._reserved import is_empty_move, is_reserved, refused_name
from ._writing import quote, unquote, write_verified

_TOKEN = re.compile(
    r"""[ \t\r\f\v]*(?:"((?:[^"\\]|\\.)*)"(?=[ \t\r\f\v#()&|]|$)|([^\s"#()]+|[()])|(\#.*)|(?P<bad>\S))"""
)
_LISTS = ("Initial", "Final", "Alphabet", "Alphabet-enum", "States", "States-enum", "Epsilon")
_PLAIN = re.compile(r"(Alphabet|States|Nodes)-(auto|marked|markers|utf|utf-8|chars|numbers)")
_CONSTANTS = {"true": True, "false": False, "\\true": True, "\\false": False}
_SECTIONS = ("@NFA-explicit", "@NFA", "@NFA-bits")


class _Token(NamedTuple):
    text: str
    quoted: bool


@dataclass
class _Section:
    """What the lines say: `lists` by key with the line numbers, transitions with theirs, and what is wrong."""

    name: str
    kind: str = ""
    lists: dict[str, list[tuple[int, list[_Token]]]] = field(default_factory=dict)
    transitions: list[tuple[int, list[_Token]]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def names(self, key: str) -> list[str]:
        """The names in the lists of a key."""
        return [token.text for _, tokens in self.lists.get(key, ()) for token in tokens]


def read_mata(
    path: str | Path, *, track: Track | None = None, start: str | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """Read an automaton from a `.mata` file with one `@NFA-explicit` or `@NFA-bits` section.

    An automaton with several initial states, several next states or `%Epsilon` moves is determinised, which `notes` records.
    A file without an initial state describes the empty language. `%Initial` and `%Final` are lists of states, or formulas such as
    `q0 | q1` and `!q1 & !q0`. The letters of `@NFA-bits` are all assignments of its bits, such as `01`, as `notes` says.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states, and of the letters that bits make.

    Raises:
        InputError: the file is wrong, or holds an alternating automaton or a transducer; the message names each bad line.
        LimitError: the automaton is larger than `max_states`.
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
        max_states: the largest number of states, and of the letters that bits make.
    """
    section = _read_section(text, name)
    if section.kind == "@NFA-bits" and not section.problems:
        arcs, letters, notes = _bit_arcs(section, max_states)
    else:
        arcs, letters, notes = _explicit_arcs(section)
    named = {q for _, p, _, r in arcs for q in (p, r)} | {
        *section.names("States"),
        *section.names("States-enum"),
    }
    lists = {
        key: [_formula(section, entry, named) for entry in section.lists.get(key, ())]
        for key in ("Initial", "Final")
    }
    states = _state_names(section, arcs, lists)
    if section.problems:
        raise refusal(name, section.problems)
    state_of = {q: i for i, q in enumerate(states)}
    letter_of = {x: i for i, x in enumerate(letters)} | dict.fromkeys(section.names("Epsilon"), EPSILON)
    acceptor = Acceptor(
        states,
        letters,
        [(state_of[q], letter_of[x], state_of[r]) for _, q, x, r in arcs],
        _members(lists["Initial"], states) if start is None else [start_index(states, start, name)],
        _members(lists["Final"], states),
    )
    automaton = acceptor.automaton(name, track, max_states)
    return replace(automaton, name=Path(name).name).with_notes(*notes)


def _read_section(text: str, name: str) -> _Section:
    section = _Section(name)
    problems = section.problems
    for number, tokens in _lines(text, name):
        head = tokens[0]
        if not head.quoted and head.text.startswith("@"):
            if section.kind:
                problems.append(f"line {number}: a second section; a file holds one automaton")
            elif head.text not in _SECTIONS or len(tokens) > 1:
                kind = {"@A": ", an alternating automaton,", "@NFT": ", a transducer,"}
                what = next((w for start, w in kind.items() if head.text.startswith(start)), "")
                problems.append(
                    f"line {number}: {head.text!r}{what} is not read, only @NFA-explicit and @NFA-bits are"
                )
            section.kind = head.text
        elif not section.kind:
            raise InputError(f"{name}: line {number}: the first line must be @NFA-explicit or @NFA-bits")
        elif not head.quoted and head.text.startswith("%"):
            key = head.text[1:]
            if key in _LISTS:
                section.lists.setdefault(key, []).append((number, tokens[1:]))
            elif not _PLAIN.fullmatch(key) or len(tokens) > 1:
                problems.append(f"line {number}: key {head.text!r} is not read with {section.kind}")
        else:
            section.transitions.append((number, tokens))
    if not section.kind:
        raise InputError(f"{name}: no section; the first line must be @NFA-explicit or @NFA-bits")
    return section


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


def _signs_apart(tokens: Iterable[_Token], names: Iterable[str] = ()) -> list[_Token]:
    """The tokens with `!`, `&` and `|` apart from the names beside them; a whole word of `names` stays one."""
    whole = set(names)
    apart: list[_Token] = []
    for token in tokens:
        if token.quoted or token.text in whole:
            apart.append(_Token(token.text, True))
        else:
            apart += [_Token(piece, False) for piece in re.split(r"([!&|])", token.text) if piece]
    return apart


def _formula(section: _Section, entry: tuple[int, list[_Token]], states: set[str]) -> Formula:
    """The states of one `%Initial` or `%Final`: a list of names is the formula that joins them by `|`."""
    number, tokens = entry
    apart = _signs_apart(tokens, states)
    if not any(not t.quoted and (t.text in SIGNS or t.text in _CONSTANTS) for t in apart):
        return ("or", *(("name", t.text) for t in apart))
    formula = parse_formula(apart, f"{section.name}: line {number}", _CONSTANTS, {})
    if needs_two(formula):
        section.problems.append(
            f"line {number}: `&` joins two states: an alternating automaton, which is not read; a list has names, `|` and `!`"
        )
    return formula


def _members(formulas: Sequence[Formula], states: Sequence[str]) -> list[int]:
    """The states that make one of the formulas true alone."""
    return [i for i, q in enumerate(states) if any(holds(formula, {q: True}) for formula in formulas)]


_Arc = tuple[int, str, str, str]


def _explicit_arcs(section: _Section) -> tuple[list[_Arc], list[str], list[str]]:
    """Arcs with their lines, the letters, and no notes."""
    alphabet = [*section.names("Alphabet"), *section.names("Alphabet-enum")]
    epsilons = section.names("Epsilon")
    _refuse_repeated("letter", alphabet, section)
    listed = dict.fromkeys([*alphabet, *epsilons])
    arcs: list[_Arc] = []
    for number, tokens in section.transitions:
        targets = tokens[2:]
        if targets and any(not t.quoted and t.text in SIGNS for t in _signs_apart(targets)):
            targets = _targets(section, number, targets)
        elif len(tokens) != 3:
            section.problems.append(
                f"line {number}: a transition is `STATE LETTER STATE`, here are {len(tokens)} words"
            )
            continue
        source, letter = tokens[:2]
        for token in (source, letter, *targets):
            if not token.quoted and token.text in _CONSTANTS:
                section.problems.append(
                    f"line {number}: `{token.text}` is a constant of formulas, not a name: quote it"
                )
            if not token.quoted and token.text in ("(", ")"):
                raise InputError(
                    f"{section.name}: line {number}: {token.text!r} is out of place; quote the name it belongs to"
                )
        if alphabet and letter.text not in listed:
            section.problems.append(f"line {number}: letter {letter.text!r} is not in the alphabet")
        elif not letter.quoted and letter.text not in listed:
            section.problems += [f"line {number}: {problem}" for problem in _reserved_problems(letter.text)]
        arcs += [(number, source.text, letter.text, target.text) for target in targets]
    silent = dict.fromkeys(epsilons)
    letters = dict.fromkeys([*alphabet, *(x for _, _, x, _ in arcs)])
    return arcs, [x for x in letters if x not in silent], []


def _reserved_problems(letter: str) -> list[str]:
    if is_empty_move(letter):
        return [f"is {letter!r} the empty move or a letter? Add `%Epsilon {letter}`, or quote the letter"]
    reserved = refused_name(letter)
    return [f"{letter!r} {reserved}, or quote it"] if reserved else []


def _targets(section: _Section, number: int, tokens: Sequence[_Token]) -> list[_Token]:
    """The next states of `q | r`, or of `(q | r)`."""
    formula = parse_formula(_signs_apart(tokens), f"{section.name}: line {number}", {}, {})
    names = names_in(formula)
    if needs_two(formula) or not all(holds(formula, {q: True}) for q in names):
        section.problems.append(
            f"line {number}: next states are joined by `|` only; with `&` it is an alternating automaton, which is not read"
        )
    return [_Token(q, True) for q in names]


def _bit_arcs(section: _Section, max_letters: int) -> tuple[list[_Arc], list[str], list[str]]:
    """Arcs of `STATE FORMULA STATE` lines, one for each assignment of the bits that makes the formula true."""
    rows: list[tuple[int, str, Formula, list[str]]] = []
    for number, tokens in section.transitions:
        apart = _signs_apart(tokens)
        opening = _opening(apart)
        targets, middle = apart[opening:], apart[1:opening]
        if middle and middle[-1] == _Token("&", False):
            middle = middle[:-1]
        if len(apart) < 3 or not middle or (not apart[0].quoted and apart[0].text in SIGNS):
            section.problems.append(
                f"line {number}: a transition is `STATE FORMULA STATE`, as in `q0 a0 & !a1 q1`"
            )
            continue
        formula = parse_formula(middle, f"{section.name}: line {number}", _CONSTANTS, {})
        rows.append((number, apart[0].text, formula, [t.text for t in _targets(section, number, targets)]))
    if section.names("Epsilon"):
        section.problems.append(
            "%Epsilon is a letter's name, and the letters of @NFA-bits are bits: leave it out"
        )
    bits = list(dict.fromkeys(bit for _, _, formula, _ in rows for bit in names_in(formula)))
    if not bits:
        section.problems.append("no transition names a bit, so the letters are not known")
        return [], [], []
    if all(re.fullmatch(r"a[0-9]{1,9}", bit) for bit in bits):
        bits.sort(key=lambda bit: int(bit[1:]))
    letters = [bit_text(values) for values in valuations(len(bits), section.name, max_letters)]
    if len(rows) * len(letters) > 100 * max_letters:
        raise LimitError(
            f"{section.name}: {len(rows)} formulas over {len(letters)} letters are {len(rows) * len(letters):,} cases, the limit is "
            f"{100 * max_letters:,}; raise it with `max_states`"
        )
    members: dict[Formula, list[str]] = {}
    arcs: list[_Arc] = []
    for number, source, formula, targets_of_row in rows:
        if formula not in members:
            members[formula] = [
                bit_text(values)
                for values in valuations(len(bits), section.name, max_letters)
                if holds(formula, dict(zip(bits, values, strict=True)))
            ]
        arcs += [(number, source, x, target) for target in targets_of_row for x in members[formula]]
    return (
        arcs,
        letters,
        [f"the letters are the {len(letters)} assignments of the bits {' '.join(bits)}, 1 for true"],
    )


def _opening(tokens: Sequence[_Token]) -> int:
    """Where the next states of a line begin: at its last name, or at the parenthesis that its last one closes."""
    depth = 0
    for i in range(len(tokens) - 1, 0, -1):
        depth += (tokens[i] == _Token(")", False)) - (tokens[i] == _Token("(", False))
        if depth == 0:
            return i
    return max(len(tokens) - 1, 0)


def _refuse_repeated(kind: str, names: Iterable[str], section: _Section) -> None:
    seen: dict[str, None] = {}
    for item in names:
        if item in seen:
            section.problems.append(f"{kind} {item!r} is enumerated twice")
        seen[item] = None


def _state_names(section: _Section, arcs: Sequence[_Arc], lists: dict[str, list[Formula]]) -> list[str]:
    """The states as enumerated, else by first appearance; names outside an enumeration are problems."""
    enumerated = [*section.names("States"), *section.names("States-enum")]
    _refuse_repeated("state", enumerated, section)
    initial, final = (
        [q for formula in lists[key] for q in names_in(formula)] for key in ("Initial", "Final")
    )
    used = [*initial, *(q for _, p, _, r in arcs for q in (p, r)), *final]
    if enumerated:
        strays = [q for q in dict.fromkeys(used) if q not in dict.fromkeys(enumerated)]
        section.problems += [f"state {q!r} is not among the enumerated states" for q in strays]
    return list(dict.fromkeys([*enumerated, *used]))


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
    constants = frozenset(_CONSTANTS)
    states = [quote(q, "state", name, constants) for q in distinct_texts(automaton.states, "state", name)]
    texts = distinct_texts(automaton.letters, "letter", name)
    spoken = constants | {x.lower() for x in texts if is_reserved(x)}
    letters = [quote(x, "letter", name, spoken) for x in texts]
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
    name="Mata, @NFA-explicit and @NFA-bits",
    extensions=(".mata",),
    read=read_mata,
    write=write_mata,
    example="@NFA-explicit\n%Initial even\n%Final even\neven a odd\nodd a even\n",
)
