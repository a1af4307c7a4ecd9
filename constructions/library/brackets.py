"""Bounded Dyck languages: `dyck1:d`, `dyck:k,d`. The output is acceptance: all brackets closed."""

from __future__ import annotations

import numpy as np

from ..automaton import Automaton, Label, object_array
from .exploring import explored
from .parameters import Limits, Parameter, whole_numbers

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
    return explored(
        name,
        letters,
        start=start,
        step=step,
        output=lambda state: state == (),
        label=lambda state: _SINK if state is None else "".join(state),
    )
