"""`HeadPlan`: a construction's head as unit keys, strengths and an initial state, all of them numbers of every format.

What the heads hold and what is read of it is followed in exact numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ...constructions._head import Head
from ...constructions._lrnn import LRNN
from ...constructions.automata._labels import label_text
from ...foundation._errors import InputError, LimitError
from ...theory.arithmetic._rounding import Floats
from .._config import ModelConfig

MOST_STATES = 20_000
"""Pairs of a state and the matrices that lead to it, that are looked through."""

Exact: TypeAlias = tuple[tuple[Fraction, ...], ...]
"""A matrix, row by row."""


@dataclass(frozen=True, eq=False)
class HeadPlan:
    """Unit keys `[letters, n_h, K]`, strengths β‖k‖² `[letters, n_h]`, query and initial state of a head."""

    keys: Floats
    strengths: Floats
    query: Floats
    initial: Floats
    size: int


def plan_heads(lrnn: LRNN, config: ModelConfig) -> list[HeadPlan]:
    name = lrnn.automaton.name
    if lrnn.depth != 1:
        raise InputError(f"{name}: {lrnn.depth} layers; heads are planted from a construction in one layer")
    plans = [_plan_head(head, config, name) for head in lrnn.layers[0].heads]
    needed = max(plan.keys.shape[1] for plan in plans)
    if needed > config.householders:
        raise InputError(
            f"{name}: a letter is a product of {needed} factors, and the host has householders {config.householders}"
        )
    return plans


def _plan_head(head: Head, config: ModelConfig, name: str) -> HeadPlan:
    n, most = head.dim, max(1, *(len(t.factors) for t in head.transitions))
    lengths: set[Fraction] = set()
    for transition in head.transitions:
        if transition.matrix is not None or transition.gate != 1 or transition.additive:
            raise InputError(
                f"{name}: a letter has a gate, an additive term or a matrix; heads are planted from products of factors alone"
            )
        for factor in transition.factors:
            if factor.mask is not None or not all(isinstance(x, int | Fraction) for _, x in factor.vector):
                raise InputError(
                    f"{name}: a factor is irrational or masked; construct it with `exactness` integer"
                )
            lengths.add(_odd_part(Fraction(factor.norm_squared)))  # type: ignore[arg-type]
    if len(lengths) > 1 or not lengths <= {Fraction(1), Fraction(2)}:
        raise InputError(
            f"{name}: its factors' vectors have the squared lengths {', '.join(map(str, sorted(lengths)))} times powers of 4; all must be "
            "1, or all 2, for their unit vectors to be numbers of every format"
        )
    # along e_i ± e_j each coordinate is stored twice: (u, u)/2 has the entries ±1/2 and the length 1
    copies = 2 if lengths == {Fraction(2)} else 1
    K, V = copies * n, n
    if config.head_dim < K or config.value_dim < V:
        raise InputError(
            f"{name}: a head needs head_dim {K} and value_dim {V} at least, the host has {config.head_dim} and {config.value_dim}"
        )
    letters = head.letters
    keys, strengths = np.zeros((letters, most, config.head_dim)), np.zeros((letters, most))
    for x, action in enumerate(head.action_of(np.arange(letters)).tolist()):
        for j, factor in enumerate(head.transitions[action].factors):
            size = Fraction(factor.norm_squared)
            strength = Fraction(factor.beta) * size
            if strength not in (0, 1, 2):
                raise InputError(
                    f"{name}: a factor has the eigenvalue {1 - strength}; planted are -1, 0 and 1, at which β is a number of every format"
                )
            strengths[x, j] = float(strength)
            scale = 1 / float(copies * size) ** 0.5  # a power of 2
            for i, value in factor.vector:
                for copy in range(copies):
                    keys[x, j, i + copy * n] = float(value) * scale
    query, initial = np.zeros(config.head_dim), np.zeros((config.head_dim, config.value_dim))
    query[:n] = _reading(n)
    for copy in range(copies):
        initial[copy * n + np.arange(n), np.arange(n)] = 1
    return HeadPlan(keys, strengths, query, initial, n)


def _odd_part(size: Fraction) -> Fraction:
    """1 or 2 times a power of 4 as 1 or 2; anything else as it is."""
    for base in (1, 2):
        q = size / base
        if q.numerator & (q.numerator - 1) == 0 and q.denominator & (q.denominator - 1) == 0:
            exponent = q.numerator.bit_length() - q.denominator.bit_length()
            if exponent % 2 == 0:
                return Fraction(base)
    return size


def _reading(n: int) -> list[int]:
    """What is read of the matrix A: qᵀ A. Different entries tell all permutations apart; they are centred, so that rows differ most."""
    return [2 * i - (n - 1) for i in range(n)] if n > 1 else [1]


def follow_states(lrnn: LRNN, plans: Sequence[HeadPlan]) -> dict[int, list[tuple[Exact, ...]]]:
    """For each state the exact matrices A(w) of all heads, of all words w that lead to it."""
    automaton, layer = lrnn.automaton, lrnn.layers[0]
    letters = [
        [_product(head, action) for action in head.action_of(np.arange(head.letters)).tolist()]
        for head in layer.heads
    ]
    first = tuple(_identity(plan.size) for plan in plans)
    held = {automaton.start: [first]}
    seen = {(automaton.start, first)}
    pending = [(automaton.start, first)]
    while pending:
        state, now = pending.pop()
        for x, following in enumerate(automaton.transitions[:, state].tolist()):
            then = tuple(_times(own[x], M) for own, M in zip(letters, now, strict=True))
            if (following, then) not in seen:
                if len(seen) >= MOST_STATES:
                    raise LimitError(
                        f"{automaton.name}: more than {MOST_STATES:,} matrices belong to words; plant a smaller automaton"
                    )
                seen.add((following, then))
                held.setdefault(following, []).append(then)
                pending.append((following, then))
    return held


def codes_of_states(
    lrnn: LRNN, plans: Sequence[HeadPlan], held: dict[int, list[tuple[Exact, ...]]], normed: bool
) -> Floats:
    """For each state what the heads read there, all together of length 1: `[states, heads, entries]`.

    It must be the same for all matrices of a state, differ between states, and have one length: for each head by itself where norms divide
    by it, else for all together.
    """
    name, states = lrnn.automaton.name, lrnn.automaton.states
    queries = [tuple(map(Fraction, _reading(plan.size))) for plan in plans]
    codes = np.zeros((len(states), len(plans), max(plan.size for plan in plans)))
    lengths = set()
    for state in range(len(states)):
        rows = {tuple(_times((q,), M)[0] for q, M in zip(queries, now, strict=True)) for now in held[state]}
        if len(rows) > 1:
            raise InputError(
                f"{name}: two words lead to the state {label_text(states[state])} and to matrices that the heads read differently; plant a "
                "construction whose matrices the states name, as those of a group over all its elements"
            )
        squares = [sum((x * x for x in row), Fraction(0)) for row in next(iter(rows))]
        lengths.add(tuple(bool(x) for x in squares) if normed else sum(squares))
        for h, (row, square) in enumerate(zip(next(iter(rows)), squares, strict=True)):
            codes[state, h, : len(row)] = [float(x) for x in row]
            if normed and square:
                codes[state, h] /= float(square) ** 0.5
    flat = codes.reshape(len(codes), -1)
    codes /= np.linalg.norm(flat, axis=1).clip(min=1e-300)[:, None, None]
    closest = float((flat @ flat.T - 2 * np.eye(len(flat))).max())
    if len(lengths) > 1 or not flat.any(axis=1).all() or closest > 1 - 1e-9:
        raise InputError(
            f"{name}: what the heads read at the states differs in length, or is the same at two states; plant a construction of a group's "
            "words"
        )
    return codes


def as_floats(M: Exact) -> Floats:
    return np.array([[float(x) for x in row] for row in M])


def store_copies(M: Floats, plan: HeadPlan) -> Floats:
    """Matrices `[states, n, value_dim]` as the head holds them, `[states, head_dim, value_dim]`, with every coordinate as often as H_0."""
    copies = int(plan.initial.sum()) // plan.size
    stored = np.zeros((len(M), *plan.initial.shape))
    stored[:, : copies * plan.size] = np.tile(M, (1, copies, 1))
    return stored


def _product(head: Head, action: int) -> Exact:
    """The exact matrix of a letter's factors, the first one applied first."""
    result = _identity(head.dim)
    for factor in head.transitions[action].factors:
        own = [[Fraction(i == j) for j in range(head.dim)] for i in range(head.dim)]
        for i, a in factor.vector:
            for j, b in factor.vector:
                own[i][j] -= Fraction(factor.beta) * Fraction(a) * Fraction(b)  # type: ignore[arg-type]
        result = _times(tuple(map(tuple, own)), result)
    return result


def _identity(n: int) -> Exact:
    return tuple(tuple(Fraction(i == j) for j in range(n)) for i in range(n))


def _times(A: Exact, B: Exact) -> Exact:
    columns = list(zip(*B, strict=True))
    return tuple(
        tuple(
            sum((a * b for a, b in zip(row, column, strict=True) if a and b), Fraction(0))
            for column in columns
        )
        for row in A
    )
