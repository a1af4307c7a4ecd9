"""Counters: `parity`, `mod:m`, `cycle:m`. The state is its own output."""

from __future__ import annotations

import numpy as np

from ..automaton import Automaton, object_array
from .parameters import Limits, Parameter, no_parameters, whole_numbers


def parity(name: str, text: str, limits: Limits) -> Automaton:
    """Letters "0", "1"; the state is the number of ones mod 2."""
    no_parameters(name, text)
    return counter(name, 2, {"0": 0, "1": 1}, limits)


def mod(name: str, text: str, limits: Limits) -> Automaton:
    """Letters "0", "1"; the state is the number of ones mod m."""
    (m,) = whole_numbers(name, text, [Parameter("m", 1)])
    return counter(name, m, {"0": 0, "1": 1}, limits)


def cycle(name: str, text: str, limits: Limits) -> Automaton:
    """Letters "-1", "0", "+1": steps on a cycle of m places; the state is the place, from 0."""
    (m,) = whole_numbers(name, text, [Parameter("m", 1)])
    return counter(name, m, {"-1": -1, "0": 0, "+1": 1}, limits)


def counter(name: str, m: int, steps: dict[str, int], limits: Limits) -> Automaton:
    """States 0, ..., m-1 from 0; each letter adds its step mod m."""
    limits.check(name, m, len(steps))
    places = np.arange(m)
    table = np.stack([(places + step) % m for step in steps.values()])
    return Automaton(tuple(range(m)), tuple(steps), table, 0, object_array(range(m)), name)
