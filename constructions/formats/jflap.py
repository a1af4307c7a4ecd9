"""JFLAP's `.jff` files: finite automata, Moore and Mealy machines, as version 7 writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track, build
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind, output_texts
from ._dot_labels import range_letters, require_split
from ._reserved import is_empty_move, refused_name
from ._writing import write_verified

_KINDS = ("fa", "moore", "mealy")
_OTHERS = {
    "pda": "a pushdown automaton",
    "turing": "a Turing machine",
    "turingbb": "a Turing machine",
    "tmblocks": "a Turing machine",
    "grammar": "a grammar; convert it to a finite automaton in JFLAP",
    "re": "a regular expression; give it as regex:PATTERN, with | where JFLAP has +",
    "lsystem": "an L-system",
}
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass
class _Machine:
    kind: str
    states: list[str] = field(default_factory=list)
    starts: list[str] = field(default_factory=list)
    accepting: list[str] = field(default_factory=list)
    outputs: dict[Any, Any] = field(default_factory=dict)
    arcs: list[tuple[str, str | None, str, str]] = field(default_factory=list)
    """Source, letter (None for the empty move), target and Mealy output."""
    notes: list[str] = field(default_factory=list)


def read_jflap(
    path: str | Path,
    *,
    track: Track | None = None,
    start: str | None = None,
    split: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from a `.jff` file of JFLAP. States are named as in the drawing; an empty label is the empty move.

    JFLAP takes a label of several characters for a word; `split` says that it is one letter, or several letters with a sign between
    them. A label such as `[a-z]` stands for its characters.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        split: the sign between several letters of one label; or `none` where each label is one letter as it stands.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is no XML of JFLAP, or holds a pushdown automaton, a Turing machine or a grammar.
    """
    return parse_jflap(
        read_text(path), str(path), track=track, start=start, split=split, max_states=max_states
    )


def parse_jflap(
    text: str,
    name: str,
    *,
    track: Track | None = None,
    start: str | None = None,
    split: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from the text of a `.jff` file.

    Args:
        text: the text of the file.
        name: the name with which error messages begin.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        split: the sign between several letters of one label, or `none`; see `read_jflap`.
        max_states: the largest number of states that the automaton may have.
    """
    require_split(split)
    machine = _read_machine(_root(text, name), name, split)
    starts = machine.starts
    if start is not None:
        starts = [machine.states[start_index(machine.states, start, name)]]
    if not starts:
        raise InputError(f"{name}: no initial state: set one in JFLAP, or name a state with `start`")
    letters = list(dict.fromkeys(x for _, x, _, _ in machine.arcs if x is not None))
    if machine.kind == "fa":
        place = {q: i for i, q in enumerate(machine.states)}
        letter_of: dict[str | None, int] = {x: i for i, x in enumerate(letters)} | {None: EPSILON}
        acceptor = Acceptor(
            machine.states,
            letters,
            [(place[q], letter_of[x], place[r]) for q, x, r, _ in machine.arcs],
            [place[q] for q in starts],
            [place[q] for q in machine.accepting],
        )
        automaton = acceptor.automaton(name, track, max_states)
    else:
        automaton = _with_outputs(machine, starts, letters, name, track or "state")
    return replace(automaton, name=Path(name).name).with_notes(*machine.notes)


def _root(text: str, name: str) -> ElementTree.Element:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{name}: has a DOCTYPE or an ENTITY, which JFLAP does not write: remove it")
    try:
        # entities are refused above, and expat reads no external ones
        root = ElementTree.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))
    except ElementTree.ParseError as error:
        line, column = error.position
        raise InputError(
            f"{name}: line {line}, column {column + 1}: no XML ({str(error).split(':')[0]})"
        ) from None
    if root.tag != "structure":
        raise InputError(f"{name}: the outermost element is <{root.tag[:40]}>; JFLAP writes <structure>")
    return root


def _text(element: ElementTree.Element, tag: str) -> str | None:
    """The text of a child, empty for an empty one; None where there is no such child."""
    child = element.find(tag)
    return None if child is None else (child.text or "")


def _read_machine(root: ElementTree.Element, name: str, split: str | None) -> _Machine:
    kind = (_text(root, "type") or "").strip().lower()
    if kind not in _KINDS:
        what = f"{kind!r} is {_OTHERS[kind]}" if kind in _OTHERS else f"the type {kind[:40]!r} is not known"
        raise InputError(f"{name}: {what}; read are finite automata (fa), moore and mealy")
    inner = root.find("automaton")
    holder = root if inner is None else inner
    machine, problems = _Machine(kind), []
    shown = {str(s.get("id")): (s.get("name") or f"q{s.get('id')}") for s in holder.iter("state")}
    if len(set(shown.values())) < len(shown):
        machine.notes.append(
            "two states have the same name in the drawing: states are named by their numbers"
        )
        shown = {key: key for key in shown}
    for state in holder.iter("state"):
        q = shown[str(state.get("id"))]
        machine.states.append(q)
        machine.starts += [q] if state.find("initial") is not None else []
        machine.accepting += [q] if state.find("final") is not None else []
        if kind == "moore":
            machine.outputs[q] = _text(state, "output") or ""
    if not machine.states:
        raise InputError(f"{name}: no states")
    for number, transition in enumerate(holder.iter("transition"), 1):
        ends = [(_text(transition, tag) or "").strip() for tag in ("from", "to")]
        strays = [end for end in ends if end not in shown]
        if strays:
            problems.append(f"transition {number}: no state has the number {strays[0][:40]!r}")
            continue
        label = _text(transition, "read") or ""
        letters, problem = _letters(label, kind, split, machine.notes)
        if problem:
            problems.append(f"transition {number}: {problem}")
        output = _text(transition, "transout") or ""
        machine.arcs += [(shown[ends[0]], x, shown[ends[1]], output) for x in letters]
    if problems:
        raise refusal(name, problems)
    return machine


def _letters(
    label: str, kind: str, split: str | None, notes: list[str]
) -> tuple[list[str | None], str | None]:
    """The letters of a label, with None for the empty move; and what is wrong with it."""
    if split is not None and split != "none":
        pieces = [piece.strip() or piece for piece in label.split(split)]
        return [piece or None for piece in pieces], None
    if not label or (split is None and is_empty_move(label)):
        if kind != "fa":
            return [], "an empty label; a machine with outputs reads a letter each step"
        note = f"{label!r} is read as the empty move"
        notes += [note] if label and note not in notes else []
        return [None], None
    if split == "none" or len(label) == 1:
        reserved = refused_name(label, drawn=True) if split is None else None
        return [label], f"{label!r} {reserved}; if it is a letter, give `split` none" if reserved else None
    if (letters := range_letters(label)) is not None:
        note = f"the label {label!r} stands for {len(letters)} letters"
        notes += [note] if note not in notes else []
        return list(letters), None
    return [], (
        f"the label {label[:40]!r} has {len(label)} characters, which JFLAP takes for a word; write a transition for each letter, or "
        "give `split` none if it is one letter"
    )


def _with_outputs(
    machine: _Machine, starts: list[str], letters: list[str], name: str, track: Track
) -> Automaton:
    if len(starts) > 1:
        raise InputError(f"{name}: several initial states ({', '.join(map(repr, starts[:5]))}): keep one")
    transitions: dict[Any, dict[Any, Any]] = {q: {} for q in machine.states}
    outputs: dict[Any, dict[Any, Any]] = {q: {} for q in machine.states}
    for q, x, r, output in machine.arcs:
        if transitions[q].get(x, r) != r or outputs[q].get(x, output) != output:
            raise InputError(
                f"{name}: two transitions from {q!r} by {x!r}: only finite automata may be nondeterministic"
            )
        transitions[q][x], outputs[q][x] = r, output
    return build(
        transitions,
        start=starts[0],
        letters=letters,
        states=machine.states,
        outputs=machine.outputs if machine.kind == "moore" else None,
        mealy=outputs if machine.kind == "mealy" else None,
        name=name,
        track=track,
    )


def write_jflap(automaton: Automaton, path: str | Path) -> None:
    """Write an acceptor, or a Moore or Mealy machine, to a `.jff` file, its states on a circle.

    Args:
        automaton: the automaton; its letters are single characters.
        path: the file.

    Raises:
        InputError: a letter has several characters, or is a name that JFLAP or its users take for something else.
    """
    name, kind = str(path), output_kind(automaton)
    states = distinct_texts(automaton.states, "state", name)
    letters = distinct_texts(automaton.letters, "letter", name)
    outputs = output_texts(automaton, name)
    for item in (*states, *letters, *outputs):
        if _CONTROL.search(item):
            raise InputError(f"{name}: {item!r} has a control character, which XML cannot hold: rename it")
    shape = {"acceptor": "fa", "mealy": "mealy"}.get(kind, "moore")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<structure><type>{shape}</type><automaton>"]
    for q, state in enumerate(states):
        # a square of places: exact, and JFLAP lays the graph out on request
        marks = [f"<x>{100 + 120 * (q % 8)}.0</x><y>{100 + 120 * (q // 8)}.0</y>"]
        marks += ["<initial/>"] if q == automaton.start else []
        if kind == "acceptor":
            marks += ["<final/>"] if automaton.outputs[q] else []
        elif kind != "mealy":
            marks.append(f"<output>{_xml(outputs[q])}</output>")
        lines.append(f'<state id="{q}" name="{_xml(state)}">{"".join(marks)}</state>')
    for q in range(len(states)):
        for x, letter in enumerate(letters):
            out = f"<transout>{_xml(outputs[x * len(states) + q])}</transout>" if kind == "mealy" else ""
            target = automaton.transitions[x, q]
            lines.append(
                f"<transition><from>{q}</from><to>{target}</to><read>{_xml(letter)}</read>{out}</transition>"
            )
    text = "\n".join([*lines, "</automaton></structure>"]) + "\n"
    write_verified(automaton, path, text, lambda again: parse_jflap(again, name))


def _xml(text: str) -> str:
    """A text ready for XML; line ends and tabs by their numbers, since a parser would change them."""
    return escape(text, {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


FORMAT = Format(
    name="JFLAP",
    extensions=(".jff",),
    read=read_jflap,
    write=write_jflap,
    example="""<structure><type>fa</type><automaton>
<state id="0" name="even"><initial/><final/></state><state id="1" name="odd"/>
<transition><from>0</from><to>1</to><read>a</read></transition>
<transition><from>1</from><to>0</to><read>a</read></transition></automaton></structure>
""",
)
