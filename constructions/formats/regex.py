"""Regular expressions, `regex:PATTERN`: to the minimal complete DFA, through automata-lib's parser.

A pattern's tokens, checked with positions, as a pattern that automata-lib reads without surprises.

Letters become characters that mean nothing to it; classes and `.` become alternatives; an empty alternative
becomes `()`; and `{0}` is resolved here, because automata-lib takes `a{0}` for `a?`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...foundation._errors import InputError, LimitError
from ...foundation._text import count_noun, refusal
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor
from ..automata._automaton import Automaton, Indices, Track
from ..automata._completing import label_problems
from ..automata._format import Format

OPERATORS = "|*+?()"
_FIRST_STAND_IN = 0x4E00
_REPEAT = re.compile(r"\{([0-9]{0,9})(,?)([0-9]{0,9})\}")
_UNSUPPORTED = {
    "^": "anchors are not needed, a pattern matches whole words",
    "$": "anchors are not needed, a pattern matches whole words",
    "&": "intersection is not supported",
    "{": "a repetition is {m}, {m,}, {,n} or {m,n}",
    "}": "it closes nothing",
    "]": "it closes nothing",
}


def stand_in(letter_index: int) -> str:
    """The character that stands for a letter."""
    return chr(_FIRST_STAND_IN + letter_index)


class PatternReader:
    """Reads one pattern over an alphabet of single characters; `translate()` gives automata-lib's form."""

    def __init__(self, pattern: str, letters: Sequence[str], name: str, max_letters: int) -> None:
        self.pattern, self.name, self.max_letters = pattern, name, max_letters
        self.index = {x: i for i, x in enumerate(letters)}
        self.at = 0
        self.out: list[str] = []
        self.sizes: list[int] = []
        self.open: list[tuple[int, int]] = []
        self.atom: int | None = None
        self.repeated = False

    def error(self, position: int, what: str) -> InputError:
        """An error at a place in the pattern, counted from 1."""
        return InputError(f"{self.name}: position {position + 1}: {what}")

    def translate(self) -> str:
        """The pattern for automata-lib; `InputError` with the position, `LimitError` if repetitions unfold too far."""
        while self.at < len(self.pattern):
            self._step()
        if self.open:
            raise self.error(self.open[-1][1], "'(' is never closed")
        self._close_alternative()
        return "".join(self.out)

    def _step(self) -> None:
        position, character = self.at, self.pattern[self.at]
        self.at += 1
        repeat = _REPEAT.match(self.pattern, position)
        if character == "(":
            self.open.append((len(self.out), position))
            self._emit("(", 0, atom=False)
        elif character == ")":
            if not self.open:
                raise self.error(position, "')' closes nothing")
            self._close_alternative()
            start, _ = self.open.pop()
            self._emit(")", 0, atom=False)
            self.atom = start
        elif character == "|":
            self._close_alternative()
            self._emit("|", 0, atom=False)
        elif character in "*+?":
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[character]
            self._quantify(position, low, high)
        elif repeat and repeat[0] not in ("{}", "{,}"):
            self.at = repeat.end()
            low = int(repeat[1] or 0)
            high = low if not repeat[2] else int(repeat[3]) if repeat[3] else None
            if high is not None and high < low:
                raise self.error(position, f"{repeat[0]} has its bounds the wrong way round")
            self._quantify(position, low, high)
        elif character == ".":
            self._emit_class(list(self.index.values()), position)
        elif character == "[":
            self._emit_class(self._class(position), position)
        elif character == "\\":
            if self.at >= len(self.pattern):
                raise self.error(position, "a backslash needs a character after it")
            self._letter(self.pattern[self.at], self.at)
            self.at += 1
        elif character in _UNSUPPORTED:
            raise self.error(
                position, f"{character!r}: {_UNSUPPORTED[character]}; for the letter write \\{character}"
            )
        else:
            self._letter(character, position)

    def _emit(self, text: str, size: int, atom: bool = True) -> None:
        self.atom = len(self.out) if atom else None
        self.repeated = False
        self.out.append(text)
        self.sizes.append(size)
        self._check_size()

    def _check_size(self) -> None:
        # sums are cheap enough: quantifiers fold their operand into one piece
        if self.sizes and self.sizes[-1] > self.max_letters:
            raise LimitError(
                f"{self.name}: the pattern unfolds to {self.sizes[-1]} letters, the limit is {self.max_letters}; "
                "raise it with `max_states`"
            )

    def _letter(self, character: str, position: int) -> None:
        self._emit(stand_in(self._index(character, position)), 1)

    def _index(self, character: str, position: int) -> int:
        if character not in self.index:
            shown = "".join(self.index)
            raise self.error(position, f"{character!r} is not a letter of the alphabet {shown!r}")
        return self.index[character]

    def _emit_class(self, members: list[int], position: int) -> None:
        if not members:
            raise self.error(position, "no letter of the alphabet is meant")
        self._emit("(" + "|".join(stand_in(i) for i in members) + ")", len(members))

    def _class(self, position: int) -> list[int]:
        """Letter indices of `[abc]`, `[a-z]`, `[^ab]`, in the alphabet's order; moves behind the `]`."""
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        characters: list[tuple[str, int, bool]] = []
        while True:
            if self.at >= len(self.pattern):
                raise self.error(position, "'[' is never closed")
            character, escaped = self.pattern[self.at], False
            self.at += 1
            if character == "]":
                break
            if character == "\\" and self.at < len(self.pattern):
                character, escaped = self.pattern[self.at], True
                self.at += 1
            characters.append((character, self.at - 1, escaped))
        members: dict[int, None] = {}
        i = 0
        while i < len(characters):
            first, place, _ = characters[i]
            if i + 2 < len(characters) and characters[i + 1][0] == "-" and not characters[i + 1][2]:
                last = characters[i + 2][0]
                if last < first:
                    raise self.error(place, f"the range {first}-{last} is the wrong way round")
                members |= dict.fromkeys(j for x, j in self.index.items() if first <= x <= last)
                i += 3
            else:
                members[self._index(first, place)] = None
                i += 1
        return [j for j in self.index.values() if (j in members) != negated]

    def _quantify(self, position: int, low: int, high: int | None) -> None:
        if self.repeated:
            raise self.error(
                position, "a second repetition of the same thing: put the first into parentheses"
            )
        if self.atom is None:
            raise self.error(position, f"{self.pattern[position]!r} has nothing to repeat")
        start = self.atom
        operand = "".join(self.out[start:])
        copies = max(low, 1) if high is None else high
        size = sum(self.sizes[start:]) * copies
        text = "()" if high == 0 else operand + self._repetition(low, high)
        del self.out[start:], self.sizes[start:]
        self._emit(text, size)
        self.repeated = True

    @staticmethod
    def _repetition(low: int, high: int | None) -> str:
        short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
        return short or f"{{{low},{'' if high is None else high}}}"

    def _close_alternative(self) -> None:
        if not self.out or self.out[-1] in ("(", "|"):
            self._emit("()", 0)


def from_regex(
    pattern: str,
    alphabet: Sequence[str] | None = None,
    *,
    track: Track = "output",
    name: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    r"""Build the complete DFA of the words that match a whole pattern; it is minimal unless `track="state"`.

    States are 0, 1, ... breadth first from the start. Letters of several characters are not possible in a pattern.

    Args:
        pattern: the pattern, built from letters by union, product, star and so on; `()` and an empty alternative
            match the empty word.
        alphabet: the letters, which are single characters, in the desired order. It may be left out if the pattern
            has only letters, digits and `| * + ? ( )`; the alphabet is then the sorted characters that occur. With an
            alphabet, the pattern may also have `.`, `[abc]`, `[a-z]`, `[^ab]`, `{m}`, `{m,n}`, `{m,}`, and `\` before
            a letter that is also a special sign.
        track: `output` gives the minimal automaton, `state` the one that was built first.
        name: name of the automaton; None for the pattern.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the pattern is wrong; the message has the position.
        LimitError: the automaton has more than `max_states` states.

    Examples:
        >>> from mirrormata.constructions import from_regex
        >>> from_regex("(ab)*")
        <Automaton 'regex:(ab)*': 3 states, 2 letters, start 0>
    """
    name = name or f"regex:{pattern}"
    letters = _alphabet(pattern, alphabet, name)
    automaton = pattern_acceptor(pattern, letters, name, max_states).determinise(name, track, max_states)
    return _number_states(automaton, "minimal complete DFA" if track == "output" else "complete DFA")


def pattern_acceptor(
    pattern: str, letters: Sequence[str], name: str, max_states: int = MAX_STATES
) -> Acceptor:
    """The nondeterministic acceptor, with empty moves, of a pattern over single-character letters."""
    from automata.base.exceptions import AutomatonException
    from automata.fa.nfa import NFA

    translated = PatternReader(pattern, letters, name, max_states).translate()
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
                    "single characters, with `alphabet`"
                )
        letters = sorted(dict.fromkeys(c for c in pattern if c not in OPERATORS))
        if not letters:
            raise InputError(f"{name}: no letter occurs in the pattern: state the alphabet with `alphabet`")
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


def _number_states(automaton: Automaton, what: str) -> Automaton:
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
        notes=(f"{what} of the pattern: {count_noun(len(order), 'state')}{sink}",),
    )


def read_pattern(
    spec: str, *, alphabet: str | None = None, track: Track | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """The automaton of a SPEC `regex:PATTERN`, see `from_regex`."""
    pattern = spec.removeprefix(FORMAT.prefix)
    return from_regex(pattern, alphabet, track=track or "output", name=spec, max_states=max_states)


FORMAT = Format(name="regular expression", prefix="regex:", read=read_pattern, example="(aa)*")
