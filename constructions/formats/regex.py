r"""Patterns, `regex:PATTERN`: to the minimal complete DFA of the words that match as a whole.

The syntax is Python's, as far as it is regular (`_patterns.py`), and the automaton is made without another library
(`_pattern_acceptor.py`). This file decides what the letters are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...foundation._errors import InputError, LimitError
from ...foundation._text import count_noun, refusal
from ..automata._acceptor import MAX_STATES, Acceptor
from ..automata._automaton import Automaton, Indices, Track
from ..automata._format import Format
from ._alphabets import letters_of_alphabet, read_alphabet
from ._pattern_acceptor import OTHER, acceptor_of, has_letter, pattern_automaton
from ._patterns import Pattern, parse_pattern

MAX_LETTERS = 20_000
EMPTY_LANGUAGE = "[]"
"""The pattern of no word, as greenery writes it; Python has none."""


def from_regex(
    pattern: str,
    alphabet: Sequence[str] | None = None,
    *,
    track: Track = "output",
    name: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    r"""Build the complete DFA of the words that match a whole pattern; it is minimal unless `track="state"`.

    States are 0, 1, ... breadth first from the start.

    Args:
        pattern: in the syntax of Python's `re`: literals and escapes, `.`, classes, `\d \w \s`, groups, `| * + ? {m,n}` and their lazy
            forms, anchors, and the flags a, i, m, s, x. Look-around, back-references, conditions, atomic groups and possessive
            repetitions are refused by name. `[]` alone is the empty language, as greenery writes it, and needs an alphabet.
        alphabet: the letters, which are single characters, in the desired order; or `ascii`, `printable` (codes 32 to 126) or `bytes`
            (codes 0 to 255). Without it the letters are those that occur, sorted, if the pattern has only letters, digits and `|
            * + ? ( )`; else they are the characters that are written in the pattern, of `\d`, `\w` and `\s` those of ASCII, sorted, and
            the letter `other`, which stands for every other character but a line end.
        track: `output` gives the minimal automaton, `state` the one that was built first.
        name: name of the automaton; None for the pattern.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the pattern is wrong or not regular; the message has the position.
        LimitError: the automaton has more than `max_states` states, or the pattern writes more than 20,000 characters.

    Examples:
        >>> from mirrormata.constructions import from_regex
        >>> from_regex("(ab)*")
        <Automaton 'regex:(ab)*': 3 states, 2 letters, start 0>
        >>> from_regex("[0-9]{4}-[0-9]{2}").letters
        ('-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'other')
    """
    name = name or f"regex:{pattern}"
    if pattern == EMPTY_LANGUAGE:
        return _empty_language(alphabet, name)
    parsed = parse_pattern(pattern, name, max_states)
    letters = _own_letters(parsed, name) if alphabet is None else _given_letters(alphabet, name)
    if alphabet is not None:
        _require_letters(parsed, letters, name)
    automaton = pattern_automaton(parsed, letters, name, track, max_states)
    narrowed = any(c.categories and not c.ascii_only for _, c in parsed.sets)
    return _number_states(
        automaton, "minimal complete DFA" if track == "output" else "complete DFA", narrowed
    )


def pattern_acceptor(
    pattern: str, letters: Sequence[str], name: str, max_states: int = MAX_STATES
) -> Acceptor:
    """The nondeterministic acceptor, with empty moves, of a pattern over single-character letters."""
    parsed = parse_pattern(pattern, name, max_states)
    _require_letters(parsed, letters, name)
    return acceptor_of(parsed, letters, name, max_states)


def _empty_language(alphabet: Sequence[str] | None, name: str) -> Automaton:
    if alphabet is None:
        raise InputError(
            f"{name}: the empty language, as greenery writes it, whose letters the pattern does not name: state them with `alphabet`"
        )
    letters = _given_letters(alphabet, name)
    automaton = Acceptor([0], letters, [(0, x, 0) for x in range(len(letters))], [0], []).automaton(name)
    return automaton.with_notes("the empty language: one rejecting state")


def _own_letters(pattern: Pattern, name: str) -> list[str]:
    """The characters that the pattern writes, and `other` where it has more than the plain signs."""
    if sum(characters.count_written() for _, characters in pattern.sets) > 50 * MAX_LETTERS:
        raise LimitError(
            f"{name}: the pattern writes more than {MAX_LETTERS} characters: state the letters with `alphabet`"
        )
    written = sorted({c for _, characters in pattern.sets for c in characters.written()})
    if len(written) > MAX_LETTERS:
        raise LimitError(
            f"{name}: the pattern writes {len(written)} characters, at most {MAX_LETTERS} can be letters: state the letters with "
            "`alphabet`"
        )
    if pattern.is_plain and not written:
        raise InputError(f"{name}: no letter occurs in the pattern: state the alphabet with `alphabet`")
    return written if pattern.is_plain else [*written, OTHER]


def _given_letters(alphabet: Sequence[str], name: str) -> list[str]:
    letters = letters_of_alphabet(alphabet, name)
    problems = [
        f"letter {x!r} is not a single character, which patterns need: use a file or Python instead"
        for x in letters
        if len(x) != 1
    ]
    if len(letters) > MAX_LETTERS:
        problems.append(f"{len(letters)} letters; at most {MAX_LETTERS} are possible in a pattern")
    if problems:
        raise refusal(name, problems)
    return letters


def _require_letters(pattern: Pattern, letters: Sequence[str], name: str) -> None:
    """Refuse a character that the pattern writes and the alphabet lacks, and a set without letters."""
    known = dict.fromkeys(letters)
    shown = "".join(letters) if len(letters) <= 60 else f"{''.join(letters[:60])}..."
    for position, characters in pattern.sets:
        if characters.negated:
            single = []
        else:
            single = [first for first, last in characters.ranges if first == last]
        missing = next((c for c in single if not any(x in known for x in characters.cases(c))), None)
        if missing is not None:
            raise InputError(
                f"{name}: position {position + 1}: {missing!r} is not a letter of the alphabet {shown!r}"
            )
        if not any(has_letter(characters, x) for x in letters):
            raise InputError(f"{name}: position {position + 1}: no letter of the alphabet is meant")


def _number_states(automaton: Automaton, what: str, narrowed: bool) -> Automaton:
    """States renamed 0, 1, ... breadth first; the notes say what it is, which state is a sink, and what the letter `other` is.

    `narrowed`: whether the pattern has categories of Unicode, of which the letters have the ASCII characters alone.
    """
    order = automaton.reachable()
    new_index: Indices = np.empty(len(order), dtype=np.int64)
    new_index[order] = np.arange(len(order))
    table = new_index[automaton.transitions[:, order]]
    outputs = automaton.outputs[order]
    sinks = [q for q in range(len(order)) if not outputs[q] and (table[:, q] == q).all()]
    sink = f", state {sinks[0]} is a sink" if sinks and len(order) > 1 else ""
    rest = "the letter other stands for every character that it does not write"
    rest += r", \d, \w and \s being those of ASCII" * narrowed
    rest += "; state the letters with `alphabet` where there is none"
    return replace(
        automaton,
        states=tuple(range(len(order))),
        transitions=table,
        start=0,
        outputs=outputs,
        notes=(
            f"{what} of the pattern: {count_noun(len(order), 'state')}{sink}",
            *[rest] * (OTHER in automaton.letters),
        ),
    )


def read_pattern(
    spec: str, *, alphabet: str | None = None, track: Track | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """The automaton of a SPEC `regex:PATTERN`, see `from_regex`; `alphabet` may also be the path of a file of letters."""
    pattern = spec.removeprefix(FORMAT.prefix)
    letters = None if alphabet is None else read_alphabet(alphabet, single=True)
    return from_regex(pattern, letters, track=track or "output", name=spec, max_states=max_states)


FORMAT = Format(name="regular expression", prefix="regex:", read=read_pattern, example="(aa)*")
