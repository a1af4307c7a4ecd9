"""`DecayRNN`: one number that decays holds the last letters of a word, in float formats whose rounding is followed exactly.

Letters that move no state do nothing. The others with different maps are numbered from 0, and the i-th of k has the digit

    d_i = 2i + 1 - K        K the least even number ≥ k: odd digits of both signs, so that no state is near 0

A token is h ← Q(h/b + d), where Q rounds once to the nearest number of the format, ties to even, and b is the least power of 2
above K. So h is near d_1 + d_2/b + d_3/b² + ..., the newest letter first, and its leading digits are the last letters. In exact arithmetic
infinitely many numbers are reached. In a float format there are finitely many, and they are listed here, in integers: if each of them stands
for one state of the automaton, the read-out by that list is right after every word.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from .._realisation import Realisation, Transition
from ..algebra._definite import number_maps
from ..algebra._householder import gh_factor
from ..automata._automaton import Automaton

PRECISIONS = {"fp32": 24, "fp16": 11, "bf16": 8, "fp8_e4m3": 4, "fp8_e5m2": 3}
"""The formats that are tried, and the bits of their significands; fp64 reaches too many numbers to list."""
MAX_NUMBERS = 50_000
"""Most numbers that are listed in a format; a format that reaches more is not offered."""


@dataclass(frozen=True, eq=False, repr=False)
class DecayRNN(Realisation):
    """A decaying number that realises an automaton whose last letters decide its state, in some float formats.

    Attributes:
        automaton: an automaton in which some letter moves a state.
        notes: sentences about alternatives and bounds.
    """

    kind: ClassVar[str] = "decay"

    automaton: Automaton
    notes: tuple[str, ...] = ()

    @property
    def theorem(self) -> str:
        """The source of the construction."""
        return "own.decay"

    @property
    def construction(self) -> str:
        """One line of plain words."""
        return f"a number that decays by {self.base} holds the last letters"

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """The number of each letter's map among the different ones, -1 for a letter that moves no state."""
        return number_maps(self.automaton.transitions)[0]

    @cached_property
    def base(self) -> int:
        """b, the least power of 2 above K."""
        return 1 << self._even.bit_length()

    @property
    def _even(self) -> int:
        """K, the least even number that is not below the number of maps."""
        k = max(self.kinds) + 1
        return k + k % 2

    @cached_property
    def digits(self) -> tuple[int | None, ...]:
        """What each letter adds; None for a letter that does nothing."""
        return tuple(None if kind < 0 else 2 * kind + 1 - self._even for kind in self.kinds)

    def reach(self, dtype: str) -> dict[Fraction, int] | None:
        """All numbers that words lead to in a format, each with the automaton's state; None where one has two, or there are too many.

        Args:
            dtype: one of `PRECISIONS`.
        """
        if dtype not in self._reached:
            self._reached[dtype] = self._list(dtype)
        return self._reached[dtype]

    @cached_property
    def _reached(self) -> dict[str, dict[Fraction, int] | None]:
        return {}

    def _list(self, dtype: str) -> dict[Fraction, int] | None:
        precision, decay = PRECISIONS[dtype], self.base.bit_length() - 1
        if self._even > 2**precision:
            return None  # a digit would be rounded; the others are so small that no number overflows
        # states are multiples of 2^-places: |h| > 1/K, so a unit in the last place is at least 2^(1 - decay - precision)
        places = precision + decay
        letters = {
            (digit << (places + decay), tuple(row))
            for digit, row in zip(self.digits, self.automaton.transitions.tolist(), strict=True)
            if digit is not None
        }
        ordered = sorted(letters)
        found = {0: self.automaton.start}
        todo = [0]
        for h in todo:
            state = found[h]
            for digit, row in ordered:
                # h/b + d in units of 2^-(places + decay), rounded to a multiple of 2^-places
                after = _round(h + digit, precision) >> decay
                known = found.setdefault(after, row[state])
                if known != row[state]:
                    return None
                if len(found) > len(todo):
                    todo.append(after)
            if len(found) > MAX_NUMBERS:
                return None
        return {Fraction(h, 1 << places): state for h, state in found.items()}

    @cached_property
    def formats(self) -> tuple[str, ...]:
        """The dtypes in which the read-out is right at any length, with one rounding to nearest a token."""
        return tuple(dtype for dtype in PRECISIONS if self.reach(dtype) is not None)

    @property
    def depth(self) -> int:
        """One layer."""
        return 1

    @property
    def householders(self) -> int:
        """One factor, β = 1 - 1/b."""
        return 1

    @property
    def heads(self) -> int:
        """One head."""
        return 1

    @property
    def dim(self) -> int:
        """Dimension 1."""
        return 1

    @property
    def work(self) -> int:
        """One factor in dimension 1."""
        return 1

    @property
    def exactness(self) -> str:
        """`rounded`: the state is rounded at each token, and the read-out right all the same in `formats`."""
        return "rounded"

    @property
    def integer_bound(self) -> None:
        """None: states are no integers."""
        return

    @property
    def layer_factors(self) -> tuple[int, ...]:
        """One factor."""
        return (1,)

    @property
    def letter_factors(self) -> tuple[int, ...]:
        """One factor, none for a letter that does nothing."""
        return tuple(int(digit is not None) for digit in self.digits)

    @property
    def largest_beta(self) -> Fraction:
        """β = 1 - 1/b; the vector has norm 1."""
        return 1 - Fraction(1, self.base)

    @property
    def used_transitions(self) -> Iterable[Transition]:
        """The transitions of all letters."""
        return (self._transition(digit) for digit in self.digits)

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """What a model needs: β below 1, an additive term, and one rounding a token."""
        formats = ", ".join(self.formats)
        return (
            "β‖v‖² up to 1: no factor has an eigenvalue below 0",
            "additive terms",
            f"one rounding to nearest, ties to even, of each h/{self.base} + d, in one of the formats {formats}",
        )

    def _transition(self, digit: int | None) -> Transition:
        if digit is None:
            return Transition()
        return Transition((gh_factor(self.largest_beta, {0: 1}),), additive=((0, 0, digit),))

    def transitions(self, letter: Hashable) -> tuple[tuple[tuple[Transition, ...], ...], ...]:
        """What a letter does: h ↦ h/b + d.

        Args:
            letter: label of a letter of the automaton.

        Raises:
            InputError: the automaton has no such letter.
        """
        return (((self._transition(self.digits[self.automaton.letter_index(letter)]),),),)


def _round(x: int, precision: int) -> int:
    """The nearest integer whose binary form has at most so many bits before its zeros; ties to the even one."""
    size = abs(x)
    unit = 1 << max(size.bit_length() - precision, 0)
    below = size - size % unit
    rest = 2 * (size - below)
    if rest > unit or (rest == unit and below & unit):
        below += unit
    return below if x > 0 else -below
