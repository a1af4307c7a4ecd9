"""Regular languages by name: `tomita:i`, `even_pairs`, `starladder:w`, `dn:n`. Outputs are acceptance, minimal.

Bounded Dyck languages: `dyck1:d`, `dyck:k,d`. The output is acceptance: all brackets closed.

Modular arithmetic with precedence: `mod_arith:m` and, with brackets to depth d, `mod_arith:m,d`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...foundation._errors import InputError
from ..automata._automaton import Automaton, Label
from ..automata._completing import fresh_name, object_array
from ._parameters import Limits, Parameter, explore_states, no_parameters, whole_numbers

_PAIRS = ("()", "[]", "{}", "<>")
_SINK = "sink"


def dyck1(name: str, text: str, limits: Limits) -> Automaton:
    """One kind of brackets, "(" and ")", to depth d: states are the depths 0, ..., d and one sink."""
    (d,) = whole_numbers(name, text, [Parameter("d", 1)])
    return depth_counter(name, d, ("(", ")"), limits)


def depth_counter(name: str, depth: int, letters: tuple[str, str], limits: Limits) -> Automaton:
    """States 0, ..., depth and a sink for overflow and underflow; 0 is the start and accepts."""
    limits.check(name, depth + 2, 2)
    depths = np.arange(depth + 2)
    opened = np.minimum(depths + 1, depth + 1)
    closed = np.where((depths == 0) | (depths == depth + 1), depth + 1, depths - 1)
    return Automaton(
        (*range(depth + 1), _SINK),
        letters,
        np.stack([opened, closed]),
        0,
        object_array(q == 0 for q in range(depth + 2)),
        name,
    )


def bracket_letters(kinds: int) -> tuple[tuple[str, str], ...]:
    """`( ) [ ] { } < >` for up to four kinds; for more, `(1 )1 (2 )2 ...`."""
    if kinds <= len(_PAIRS):
        return tuple((pair[0], pair[1]) for pair in _PAIRS[:kinds])
    return tuple((f"({i}", f"){i}") for i in range(1, kinds + 1))


def dyck(name: str, text: str, limits: Limits) -> Automaton:
    """Brackets of k kinds to depth d: the state is the string of open brackets; overflow, underflow and a wrong
    closing bracket go to one sink: 1 + k + ... + k^d + 1 states. Letters: each kind's two brackets in turn.
    """
    k, d = whole_numbers(name, text, [Parameter("k", 1, 1000), Parameter("d", 1, 10_000)])
    pairs = bracket_letters(k)
    letters = [bracket for pair in pairs for bracket in pair]
    limits.check(name, (d + 1 if k == 1 else (k ** (d + 1) - 1) // (k - 1)) + 1, len(letters))
    closing = {right: left for left, right in pairs}

    # a state is the tuple of open brackets, or None in the sink
    def step(state: tuple[str, ...] | None, letter: Label) -> tuple[str, ...] | None:
        if state is None:
            return None
        left = closing.get(str(letter))
        if left is None:
            return (*state, str(letter)) if len(state) < d else None
        return state[:-1] if state and state[-1] == left else None

    start: tuple[str, ...] | None = ()
    return explore_states(
        name,
        letters,
        start=start,
        step=step,
        output=lambda state: state == (),
        label=lambda state: _SINK if state is None else "".join(state),
    )


# {state: (after 0, after 1)}, accepting states; the first state is the start
_TOMITA: dict[int, tuple[dict[str, tuple[str, str]], tuple[str, ...]]] = {
    # 1*
    1: ({"1*": ("sink", "1*"), "sink": ("sink", "sink")}, ("1*",)),
    # (10)*
    2: ({"(10)*": ("sink", "(10)*1"), "(10)*1": ("(10)*", "sink"), "sink": ("sink", "sink")}, ("(10)*",)),
    # no odd run of 1s followed anywhere later by an odd run of 0s, runs maximal
    3: (
        {
            "even 1s": ("even 1s", "odd 1s"),
            "odd 1s": ("then odd 0s", "even 1s"),
            "then odd 0s": ("then even 0s", "sink"),
            "then even 0s": ("then odd 0s", "then even 0s"),
            "sink": ("sink", "sink"),
        },
        ("even 1s", "odd 1s", "then even 0s"),
    ),
    # no 000
    4: (
        {"": ("0", ""), "0": ("00", ""), "00": ("sink", ""), "sink": ("sink", "sink")},
        ("", "0", "00"),
    ),
    # even number of 0s and of 1s
    5: (
        {
            "even 0s, even 1s": ("odd 0s, even 1s", "even 0s, odd 1s"),
            "odd 0s, even 1s": ("even 0s, even 1s", "odd 0s, odd 1s"),
            "even 0s, odd 1s": ("odd 0s, odd 1s", "even 0s, even 1s"),
            "odd 0s, odd 1s": ("even 0s, odd 1s", "odd 0s, even 1s"),
        },
        ("even 0s, even 1s",),
    ),
    # (number of 0s) - (number of 1s) = 0 mod 3
    6: ({"0": ("1", "2"), "1": ("2", "0"), "2": ("0", "1")}, ("0",)),
    # 0*1*0*1*
    7: (
        {
            "0*": ("0*", "0*1*"),
            "0*1*": ("0*1*0*", "0*1*"),
            "0*1*0*": ("0*1*0*", "0*1*0*1*"),
            "0*1*0*1*": ("sink", "0*1*0*1*"),
            "sink": ("sink", "sink"),
        },
        ("0*", "0*1*", "0*1*0*", "0*1*0*1*"),
    ),
}


def tomita(name: str, text: str, limits: Limits) -> Automaton:
    """Tomita's languages 1 to 7 over "0", "1": minimal complete automata of 2, 3, 5, 4, 4, 3, 5 states.

    1: 1*; 2: (10)*; 3: no odd run of 1s followed anywhere later by an odd run of 0s; 4: no 000; 5: even number of
    0s and of 1s; 6: #0 - #1 = 0 mod 3; 7: 0*1*0*1*.
    """
    (i,) = whole_numbers(name, text, [Parameter("i", 1, 7)])
    rows, accepting = _TOMITA[i]
    return _acceptor(
        name, {state: dict(zip("01", row, strict=True)) for state, row in rows.items()}, accepting
    )


def even_pairs(name: str, text: str, limits: Limits) -> Automaton:
    """Words over "a", "b" whose first letter is their last (the empty word too): an even number of ab and ba.

    The states are the first and the last letter so far: 5 of them.
    """
    no_parameters(name, text)
    rows = {"empty": {"a": "aa", "b": "bb"}}
    rows |= {first + last: {x: first + x for x in "ab"} for first in "ab" for last in "ab"}
    return _acceptor(name, rows, ("empty", "aa", "bb"))


def starladder(name: str, text: str, limits: Limits) -> Automaton:
    """(w)*: the letters are those of w, sorted; the states are the proper prefixes of w, and a sink if w has two
    different letters.
    """
    if not text or not text.isalnum():
        raise InputError(
            f"{name}: w must be a word of letters and digits, such as starladder:abab, not {text!r}"
        )
    letters = sorted(set(text))
    limits.check(name, len(text) + (len(letters) > 1), len(letters))
    prefixes = [text[:i] for i in range(len(text))]
    sink = fresh_name("sink", prefixes)
    rows = {
        prefix: {x: (prefixes[(i + 1) % len(text)] if x == text[i] else sink) for x in letters}
        for i, prefix in enumerate(prefixes)
    }
    if len(letters) > 1:
        rows[sink] = dict.fromkeys(letters, sink)
    return _acceptor(name, rows, ("",))


def dn(name: str, text: str, limits: Limits) -> Automaton:
    """The star-free ladder D_0 = {empty word}, D_n = (a D_{n-1} b)*: brackets a, b to depth n, n + 2 states."""
    (n,) = whole_numbers(name, text, [Parameter("n", 0)])
    return depth_counter(name, n, ("a", "b"), limits)


def _acceptor(name: str, rows: dict[str, dict[str, str]], accepting: tuple[str, ...]) -> Automaton:
    start = next(iter(rows))
    table: dict[Label, dict[Label, Label]] = {state: dict(row.items()) for state, row in rows.items()}
    return Automaton.from_transitions(
        table, start=start, states=list(rows), letters=list(rows[start]), accepting=accepting, name=name
    )


class _Frame(NamedTuple):
    """The value so far is total + term; a following `*` multiplies the term only."""

    total: int
    term: int


# the open frames, innermost last, and whether a digit (or an opening bracket) must follow; None is the sink
_State = tuple[tuple[_Frame, ...], bool] | None
_FRESH = _Frame(0, 1)


def mod_arith(name: str, text: str, limits: Limits) -> Automaton:
    """Expressions mod m, read left to right: digits "0", ..., str(m-1) and "+", "-", "*"; `*` binds tighter.

    The output after a digit is the value so far; after an operator it is None. Two digits in a row, and an
    operator first or after an operator (so no sign), are ill-formed: one sink, output None. 2m² + 1 states.

    With `m,d` the letters "(" and ")" are added, to depth d; the output after a digit or a closing bracket is the
    value with the brackets still open closed at that place; () and an overflow are ill-formed.

    States are written as what is still open, as in "3+2" (the digit read last ends the term 2) or "3+2*(0+1*"
    (a digit must follow). A state that waits after `-` is total + (m-1)*.
    """
    modulus = Parameter("m", 2)
    if "," in text:
        m, depth = whole_numbers(name, text, [modulus, Parameter("d", 1, 1000)])
    else:
        (m,) = whole_numbers(name, text, [modulus])
        depth = 0
    letters = [str(v) for v in range(m)] if m <= limits.states else []
    letters += ["+", "-", "*"] + ["(", ")"] * (depth > 0)
    pairs = m * m
    limits.check(name, 2 * pairs * (pairs ** (depth + 1) - 1) // (pairs - 1) + 1, len(letters))
    digits = {str(v): v for v in range(m)}

    def step(state: _State, letter: Label) -> _State:
        if state is None:
            return None
        (*outer, (total, term)), waiting = state
        if letter in digits or letter == "(":
            if not waiting:
                return None
            if letter == "(":
                return ((*state[0], _FRESH), True) if len(outer) < depth else None
            return (*outer, _Frame(total, term * digits[str(letter)] % m)), False
        if waiting:
            return None
        value = (total + term) % m
        if letter == ")":
            if not outer:
                return None
            *rest, around = outer
            return (*rest, _Frame(around.total, around.term * value % m)), False
        if letter == "*":
            return state[0], True
        return (*outer, _Frame(value, 1 if letter == "+" else m - 1)), True

    def output(state: _State) -> Any:
        if state is None or state[1]:
            return None
        value = 1
        for total, term in reversed(state[0]):
            value = (total + term * value) % m
        return value

    start: _State = ((_FRESH,), True)
    return explore_states(name, letters, start=start, step=step, output=output, label=_label)


def _label(state: _State) -> str:
    if state is None:
        return "sink"
    frames, waiting = state
    return "*(".join(f"{total}+{term}" for total, term in frames) + "*" * waiting
