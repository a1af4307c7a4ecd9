"""Orbits: preperiod and period of a model's state on u v^k, by exact bit patterns.

`AffineModel` is a one-layer model of matrices in a named arithmetic; it is a `Stepper`. Any other `Stepper` whose
states are arrays, or lists of arrays, will do as well.

A diagonal channel by operations, h ← Q(Q(a h) + b): with a ≥ 0 it never turns, over all of a small format (PT.R1).

A composition of non-decreasing maps of one number is non-decreasing, and such a map of finitely many values has no cycle
of two or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions._lrnn import LRNN
from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError, LimitError
from ..arithmetic._arithmetic import Arithmetic, Exact, PerOp, PerStep, fractions, parse_arithmetic
from ..arithmetic._rounding import FloatFormat
from ..arithmetic._value_sets import all_values
from ..running._stepper import ExactStepper, Stepper, starting_row

MAX_STEPS = 1_000_000


@dataclass(frozen=True)
class Orbit:
    """The preperiod and period of the states after u v^k: those for k = preperiod and preperiod + period are the first equal ones.

    Attributes:
        preperiod: tokens of the loop before the first state that comes again.
        period: the smallest period.
        keys: the exact bit patterns of the states after u v^0, u v^1, ..., before the first repetition.
    """

    preperiod: int
    period: int
    keys: tuple[bytes, ...]


@dataclass(frozen=True, eq=False)
class AffineHead:
    """A head H ← A(x) H + B(x), in float64 or exact numbers (object arrays).

    Attributes:
        A: `[letters, n, n]`.
        B: `[letters, n, d]`, or None.
        start: `[n, d]`.
    """

    A: Any
    B: Any
    start: Any


class AffineModel:
    """Heads side by side that run in an arithmetic; its states are lists of arrays `[sequences, n, d]`.

    Args:
        heads: the heads.
        arithmetic: `per_step`, `per_op` or `exact`, by its name or as an `Arithmetic`.
        name: the model's name in certificates.
    """

    def __init__(
        self, heads: Sequence[AffineHead], arithmetic: str | Arithmetic, name: str = "model"
    ) -> None:
        self.name = name
        self.arithmetic = parse_arithmetic(arithmetic) if isinstance(arithmetic, str) else arithmetic
        if not isinstance(self.arithmetic, PerStep | PerOp | Exact):
            raise InputError(
                f"{name}: {self.arithmetic.name} has no step from state to state: use per_step or per_op"
            )
        self.heads = tuple(heads)
        if not self.heads or len({len(head.A) for head in self.heads}) != 1:
            raise InputError(f"{name}: the heads must have equally many letters, and be one at least")
        self.letters = len(self.heads[0].A)
        for h, head in enumerate(self.heads):
            start = np.asarray(head.start)
            letters, n, width = np.shape(head.A)
            if n != width or start.shape[:1] != (n,) or start.ndim != 2:
                raise InputError(f"{name}: head {h} must have A [letters, n, n] and start [n, d]")
            if head.B is not None and np.shape(head.B) != (letters, *start.shape):
                raise InputError(f"{name}: head {h} must have B [letters, n, d]")
            if isinstance(self.arithmetic, PerStep | PerOp):
                rounded = self.arithmetic.round(start)
                if any(Fraction(a) != Fraction(b) for a, b in zip(rounded.flat, start.flat, strict=True)):
                    raise InputError(
                        f"{name}: head {h} starts outside the values of {self.arithmetic.name}: round it"
                    )

    @classmethod
    def of_lrnn(cls, lrnn: LRNN, arithmetic: str | Arithmetic, start: int | None = None) -> AffineModel:
        """Make a model from an LRNN of one layer: matrices, additive terms and H_0 are rounded once to the format, if there is one.

        Args:
            lrnn: a realisation of one layer.
            arithmetic: as for the class.
            start: index of the automaton's state in which the run starts; None for its start state.
        """
        from ..running._weights import Rounding, head_weights

        model = parse_arithmetic(arithmetic) if isinstance(arithmetic, str) else arithmetic
        target = model.values if isinstance(model, PerStep | PerOp) else None
        fmt = target if isinstance(target, FloatFormat) else None
        if fmt is None:
            raise InputError(
                f"{lrnn.automaton.name}: {model.name} is not per_step or per_op of a float format"
            )
        mode = model.mode if isinstance(model, PerStep | PerOp) else "rne"
        codes = lrnn.decode[starting_row(lrnn, start), 1:].tolist()
        heads = []
        for head, code in zip(lrnn.only_layer.heads, codes, strict=True):
            weights, actions = head_weights(head, fmt, mode), head.action_of(np.arange(head.letters))
            additive = None if weights.additive is None else weights.additive[actions]
            first = Rounding(fmt, mode).dense(head.codes[code], head.dim, head.value_dim)
            heads.append(AffineHead(weights.dense()[actions], additive, first))
        return cls(heads, model, lrnn.construction)

    def initial(self, sequences: int) -> list[Any]:
        """Return the initial state of each head.

        Args:
            sequences: the number of words side by side, at least 1.
        """
        exact = isinstance(
            self.arithmetic, Exact
        )  # else float64, as after each step: integers would have other bits
        starts = [
            fractions(head.start) if exact else np.asarray(head.start, np.float64) for head in self.heads
        ]
        return [np.repeat(start[None], sequences, axis=0) for start in starts]

    def step(self, states: Sequence[Any], letters: Indices) -> list[Any]:
        """Read one token.

        Args:
            states: the states that `initial` or `step` returned; they are not changed.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        x = np.asarray(letters)
        return [
            self.arithmetic.affine(head.A[x], H, None if head.B is None else head.B[x])  # type: ignore[union-attr]
            for head, H in zip(self.heads, states, strict=True)
        ]

    def decode(self, states: Sequence[Any], letters: Indices) -> Indices:
        """Return -1, since the model has no read-out.

        Args:
            states: the states that `initial` or `step` returned; they are not changed.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        return np.full(len(letters), -1, dtype=np.int64)


def orbit(
    stepper: Stepper, loop: Sequence[int], prefix: Sequence[int] = (), *, max_steps: int = MAX_STEPS
) -> Orbit:
    """Find the preperiod and period of the states after u v^k, where u is the prefix and v the loop.

    Args:
        stepper: the stepper; a step must be a function of the state's bits.
        loop: v, letter indices.
        prefix: u, letter indices.
        max_steps: the largest number of letters.

    Raises:
        LimitError: no state recurs within `max_steps` letters.
    """
    if not len(loop):
        raise InputError("orbit: the loop is empty: give at least one letter")
    states = stepper.initial(1)
    for x in prefix:
        states = stepper.step(states, np.array([x]))
    seen: dict[bytes, int] = {}
    steps = len(prefix)
    while (key := state_key(stepper, states)) not in seen:
        seen[key] = len(seen)
        steps += len(loop)
        if steps > max_steps:
            raise LimitError(f"no state repeats within {max_steps:,} letters: raise `max_steps`")
        for x in loop:
            states = stepper.step(states, np.array([x]))
    return Orbit(seen[key], len(seen) - seen[key], tuple(seen))


def state_key(stepper: Stepper, states: Any) -> bytes:
    """The exact bit pattern of one sequence's state; -0 counts as 0."""
    if isinstance(stepper, ExactStepper):  # numbers of matrices, each numbered once
        return repr([int(n[0]) for n in states]).encode()
    return _bits(states)


def _bits(states: Any) -> bytes:
    if isinstance(states, list | tuple):
        parts = [_bits(part) for part in states]
        return b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    if isinstance(states, dict):
        return _bits([item for key in sorted(states) for item in (states[key],)])
    if hasattr(states, "detach"):  # torch: bf16 and the like are exact in float64
        states = states.detach().cpu()
        states = (states.double() if states.is_floating_point() else states).numpy()
    array = np.ascontiguousarray(states)
    if array.dtype == object:
        return repr([str(x) for x in array.ravel()]).encode()
    return (array + 0).tobytes() if array.dtype.kind == "f" else array.tobytes()


def diagonal_channels(values: str, *, negative: bool = False) -> tuple[int, int]:
    """Every channel of a small format, a ≥ 0, each from every start: how many, and how many turn.

    `negative`: a < 0 instead, where channels do turn.
    """
    arithmetic = parse_arithmetic(f"per_op:{values}")
    if not isinstance(arithmetic, PerOp):
        raise TypeError(values)
    numbers = all_values(arithmetic.values)
    a, b, h = (x.ravel() for x in np.meshgrid(numbers, numbers, numbers, indexing="ij"))
    kept = a < 0 if negative else a >= 0
    a, b, h = a[kept], b[kept], h[kept]
    for _ in range(len(numbers)):
        h = arithmetic.add(arithmetic.multiply(a, h), b)
    after = arithmetic.add(arithmetic.multiply(a, h), b)
    return len(h), int((after != h).sum())
