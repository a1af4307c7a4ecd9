"""Regular expressions, `regex:PATTERN`: to the minimal complete DFA, through automata-lib's parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..automaton import Automaton, Indices, Track, label_problems
from ..errors import InputError
from .acceptor import EPSILON, MAX_STATES, Acceptor
from .problems import refusal
from .regex_pattern import OPERATORS, PatternReader, stand_in


def from_regex(
    pattern: str,
    alphabet: Sequence[str] | None = None,
    *,
    track: Track = "output",
    name: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """The complete DFA of the words that match the whole pattern; minimal unless `track="state"`.

    `alphabet`: the letters, single characters, in the wanted order. It may be left out where the pattern has only
    letters and digits and `| * + ? ( )`: then it is the characters that occur, sorted. With it the pattern may also have `.`,
    `[abc]`, `[a-z]`, `[^ab]`, `{m}`, `{m,n}`, `{m,}` and `\\` before a letter that is also a sign. `()` and an empty
    alternative are the empty word. States are 0, 1, ... breadth first from the start. Letters of several characters
    are not possible in a pattern. `InputError` with the position; `LimitError` beyond `max_states`.
    """
    name = name or f"regex:{pattern}"
    letters = _alphabet(pattern, alphabet, name)
    automaton = pattern_acceptor(pattern, letters, name, max_states).determinised(name, track, max_states)
    return _numbered(automaton, "minimal complete DFA" if track == "output" else "complete DFA")


def pattern_acceptor(
    pattern: str, letters: Sequence[str], name: str, max_states: int = MAX_STATES
) -> Acceptor:
    """The nondeterministic acceptor, with empty moves, of a pattern over single-character letters."""
    from automata.base.exceptions import AutomatonException
    from automata.fa.nfa import NFA

    translated = PatternReader(pattern, letters, name, max_states).translated()
    index = {stand_in(i): i for i in range(len(letters))}
    try:
        nfa = NFA.from_regex(translated, input_symbols=set(index))
    except AutomatonException as error:
        raise InputError(f"{name}: not a regular expression that automata-lib reads ({error})") from None
    # int labels: their order does not follow the hash seed
    states = sorted(nfa.states)
    place = {q: i for i, q in enumerate(states)}
    arcs = sorted(
        (place[q], EPSILON if x == "" else index[x], place[r])
        for q, row in nfa.transitions.items()
        for x, targets in row.items()
        for r in targets
    )
    return Acceptor(
        states, letters, arcs, [place[nfa.initial_state]], sorted(place[q] for q in nfa.final_states)
    )


def _alphabet(pattern: str, alphabet: Sequence[str] | None, name: str) -> list[str]:
    if alphabet is None:
        for position, character in enumerate(pattern):
            if not character.isalnum() and character not in OPERATORS:
                raise InputError(
                    f"{name}: position {position + 1}: with {character!r} the letters are not clear: state them, "
                    "single characters, with --alphabet"
                )
        letters = sorted(dict.fromkeys(c for c in pattern if c not in OPERATORS))
        if not letters:
            raise InputError(f"{name}: no letter occurs in the pattern: state the alphabet with --alphabet")
        return letters
    letters = list(alphabet)
    problems = label_problems(letters, "letter")
    problems += [
        f"letter {x!r} is not a single character, which patterns need: use a file or Python instead"
        for x in letters
        if not isinstance(x, str) or len(x) != 1
    ]
    problems += [
        f"{x!r} is in the alphabet but not in the pattern: write letters without separators (ab, not a{x}b)"
        for x in (",", " ")
        if x in letters and x not in pattern
    ]
    if len(letters) > 20_000:
        problems.append(f"{len(letters)} letters; at most 20000 are possible in a pattern")
    if not letters:
        problems.append("the alphabet is empty: state at least one letter")
    if problems:
        raise refusal(name, problems)
    return letters


def _numbered(automaton: Automaton, what: str) -> Automaton:
    """States renamed 0, 1, ... breadth first; the notes say what it is and which state is a sink."""
    order = automaton.reachable()
    new_index: Indices = np.empty(len(order), dtype=np.int64)
    new_index[order] = np.arange(len(order))
    table = new_index[automaton.transitions[:, order]]
    outputs = automaton.outputs[order]
    sinks = [q for q in range(len(order)) if not outputs[q] and (table[:, q] == q).all()]
    sink = f", state {sinks[0]} is a sink" if sinks and len(order) > 1 else ""
    return replace(
        automaton,
        states=tuple(range(len(order))),
        transitions=table,
        start=0,
        outputs=outputs,
        notes=(f"{what} of the pattern: {len(order)} state{'s' * (len(order) > 1)}{sink}",),
    )
