"""Regular languages by name: `tomita:i`, `even_pairs`, `starladder:w`, `dn:n`. Outputs are acceptance, minimal."""

from __future__ import annotations

from ..automaton import Automaton, Label
from ..building import fresh_name
from ..errors import InputError
from .brackets import depth_counter
from .parameters import Limits, Parameter, no_parameters, whole_numbers

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
