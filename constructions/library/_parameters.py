"""Reading the numbers in a name (`mod:5`, `boxes:3,2`) and refusing sizes before the work.

The reachable automaton of a rule `(state, letter) -> state`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...foundation._errors import InputError, LimitError
from ..automata._automaton import Automaton, Label
from ..automata._completing import object_array


class Parameter(NamedTuple):
    """A whole number in a name: its symbol in the table of names and the allowed range (`high` None: 18 digits)."""

    symbol: str
    low: int
    high: int | None = None

    @property
    def allowed(self) -> str:
        """The range in words."""
        return f"from {self.low} on" if self.high is None else f"from {self.low} to {self.high}"


@dataclass(frozen=True)
class Limits:
    """The most states and the most transitions (letters times states) that are built."""

    states: int = 100_000
    transitions: int = 10_000_000

    def check(self, name: str, states: int, letters: int = 1, advice: str = "") -> None:
        """`LimitError` with the figure and the option that raises the limit, and another way out."""
        if states > self.states:
            raise LimitError(
                f"{name}: {figure(states)} states; the limit is {self.states:,} (raise it with `max_states`)"
            )
        if states * letters > self.transitions:
            raise LimitError(
                f"{name}: {figure(letters)} letters times {figure(states)} states; the limit is "
                f"{self.transitions:,} transitions (raise it with `max_transitions`){advice}"
            )


def figure(number: int) -> str:
    """A count for a message; a huge one is not printed digit by digit."""
    return f"{number:,}" if number < 10**15 else "more than 10^15"


def plural(number: int, noun: str) -> str:
    """`1 number`, `2 numbers`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def whole_numbers(name: str, text: str, parameters: Sequence[Parameter]) -> tuple[int, ...]:
    """The comma-separated whole numbers of a name; `InputError` with all that is wrong and the allowed ranges."""
    given = text.split(",") if text else []
    wanted = " and ".join(f"{p.symbol} {p.allowed}" for p in parameters)
    if len(given) != len(parameters):
        raise InputError(
            f"{name}: {plural(len(given), 'number')} given, {len(parameters)} needed: {wanted}, "
            f"written {','.join(p.symbol for p in parameters)}"
        )
    problems = []
    values = []
    for digits, parameter in zip(given, parameters, strict=True):
        if re.fullmatch("[0-9]{19,}", digits):
            problems.append(f"{parameter.symbol} has {len(digits)} digits, which is too large for any limit")
            continue
        value = int(digits) if re.fullmatch("[0-9]+", digits) else None
        if value is None or value < parameter.low or (parameter.high is not None and value > parameter.high):
            problems.append(f"{parameter.symbol} must be a whole number {parameter.allowed}, not {digits!r}")
        else:
            values.append(value)
    if problems:
        raise InputError(f"{name}: " + "; ".join(problems))
    return tuple(values)


def no_parameters(name: str, text: str) -> None:
    """`InputError` where a name without parameters got some."""
    if text:
        raise InputError(f"{name}: {name.partition(':')[0]} takes no numbers; leave out {':' + text!r}")


State = TypeVar("State", bound=Hashable)


def explore_states(
    name: str,
    letters: Sequence[Label],
    *,
    start: State,
    step: Callable[[State, Label], State],
    output: Callable[[State], Any],
    label: Callable[[State], Label] = lambda state: state,
) -> Automaton:
    """All states that `step` reaches from `start`, breadth first, letters in their order.

    `label` names a state (different states, different names), `output` is its output.
    """
    found = {start: 0}
    order = [start]
    rows = []
    for state in order:
        row = []
        for letter in letters:
            target = step(state, letter)
            if target not in found:
                found[target] = len(order)
                order.append(target)
            row.append(found[target])
        rows.append(row)
    return Automaton(
        tuple(label(state) for state in order),
        tuple(letters),
        np.array(rows, dtype=np.int64).T,
        0,
        object_array(output(state) for state in order),
        name,
    )
