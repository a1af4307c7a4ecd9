"""Modular arithmetic with precedence: `mod_arith:m` and, with brackets to depth d, `mod_arith:m,d`."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..automaton import Automaton, Label
from .exploring import explored
from .parameters import Limits, Parameter, whole_numbers


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
    return explored(name, letters, start=start, step=step, output=output, label=_label)


def _label(state: _State) -> str:
    if state is None:
        return "sink"
    frames, waiting = state
    return "*(".join(f"{total}+{term}" for total, term in frames) + "*" * waiting
