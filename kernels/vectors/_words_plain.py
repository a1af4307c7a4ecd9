"""How words are written down: tokens one after another, each with its key, value, beta, gate and query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

from ._exact import Exact, Number, exact_array, zeros
from ._word import Word

Vector = Sequence[Number]


@dataclass(frozen=True)
class Token:
    """A token of one head; by default it changes nothing and reads nothing.

    Attributes:
        k: entries of its key by their places.
        v: its value; one number stands for all columns, times 1, 2, 3, ...
        beta: its beta.
        e: exponent of its gate, or exponents by channel.
        q: entries of its query by their places; None: 1, 2, 3, ...
        more: keys, values and betas of its further micro-steps.
    """

    k: Mapping[int, Number] = field(default_factory=dict)
    v: Number | Vector = 0
    beta: Number = 0
    e: int | Sequence[int] = 0
    q: Mapping[int, Number] | None = None
    more: tuple[tuple[Mapping[int, Number], Number | Vector, Number], ...] = ()


def write(i: int, v: Number | Vector, **rest: Any) -> Token:
    """Overwrites row i of the state."""
    return Token({i: 1}, v, 1, **rest)


def swap(i: int, j: int, **rest: Any) -> Token:
    """Swaps rows i and j of the state."""
    return Token({i: 1, j: -1}, 0, 1, **rest)


def idle(tokens: int, **rest: Any) -> list[Token]:
    """Tokens that change nothing: their key is e_0 and their beta 0."""
    return [Token({0: 1}, **rest)] * tokens


def make_word(
    family: str,
    name: str,
    heads: Sequence[Sequence[Token]],
    *,
    operator: str = "delta_rule",
    batch: int = 1,
    K: int = 4,
    V: int = 3,
    initial: Exact | None = None,
    **rest: Any,
) -> Word:
    """A word of tokens.

    Args:
        family: the family's name.
        name: the word's own name.
        heads: the tokens of each row and head, head by head, then row by row; all equally many.
        operator: a key of `OPERATORS`.
        batch: B.
        K: width of the keys.
        V: width of the values.
        initial: the initial state, or None.
        rest: further attributes of `Word`.
    """
    H, T = len(heads) // batch, len(heads[0])
    n_h = 1 + max((len(token.more) for tokens in heads for token in tokens), default=0)
    q, k, v, beta = (
        zeros(batch, T, H, K),
        zeros(batch, T * n_h, H, K),
        zeros(batch, T * n_h, H, V),
        zeros(batch, T * n_h, H),
    )
    exponents = [token.e for tokens in heads for token in tokens]
    by_channel = any(not isinstance(e, int) for e in exponents)
    gate = zeros(batch, T, H, K) if by_channel else zeros(batch, T, H)
    for row in range(batch):
        for h in range(H):
            for t, token in enumerate(heads[row * H + h]):
                q[row, t, h] = _vector(token.q if token.q is not None else {i: i + 1 for i in range(K)}, K)
                gate[row, t, h] = exact_array(token.e) if not isinstance(token.e, int) else token.e
                steps = ((token.k, token.v, token.beta), *token.more)
                for i, (key, value, b) in enumerate(steps):
                    k[row, t * n_h + i, h] = _vector(key, K)
                    v[row, t * n_h + i, h] = _value(value, V)
                    beta[row, t * n_h + i, h] = b
    return Word(
        family, name, operator, q, k, v,
        None if operator in ("scalar_gate", "rwkv7") else beta,
        None if operator == "delta_rule" or (operator == "delta_product" and not gate.any()) else gate,
        initial_state=initial, householders=n_h, **{"scale": Fraction(1, 4 if K == 16 else 2), **rest},
    )  # fmt: skip


def _vector(entries: Mapping[int, Number], width: int) -> Exact:
    found = zeros(width)
    for i, x in entries.items():
        found[i] = x
    return found


def _value(value: Number | Vector, V: int) -> Exact:
    if isinstance(value, int | Fraction):
        return exact_array([value * (j + 1) for j in range(V)])
    return exact_array(list(value))


def random_tokens(random: Random, tokens: int, K: int, V: int, *, filled: bool = True) -> list[Token]:
    """Swaps, overwrites and idle tokens; the first K tokens write all rows if `filled`.

    Args:
        random: where choices come from.
        tokens: how many.
        K: width of the keys.
        V: width of the values.
        filled: whether the word begins with all rows.
    """
    found = []
    for t in range(tokens):
        query: dict[int, Number] = {i: random.randint(-2, 2) for i in range(K)}
        kind = random.randrange(6)
        i, j = random.sample(range(K), 2)
        if (filled and t < K) or kind == 0:
            found.append(write(t if filled and t < K else i, small(random, V), q=query))
        elif kind == 1:
            found.append(Token({i: 1}, small(random, V), 0, q=query))
        else:
            found.append(swap(i, j, q=query))
    return found


def small(random: Random, V: int) -> list[Number]:
    """A value of small integers."""
    return [random.randint(-3, 3) for _ in range(V)]


def random_state(random: Random, N: int, H: int, K: int, V: int) -> Exact:
    """Initial states of small integers, none of them zero."""
    size = N * H * K * V
    return exact_array([random.choice((-4, -3, -2, -1, 1, 2, 3, 4)) for _ in range(size)]).reshape(N, H, K, V)
