"""Words of the delta rule turned into words of other operators, so that what they hold is held there as well.

    unit gates      the same recurrence, with gates of 2^0 = 1 given
    rwkv7           S + beta k (v - k'a S)' = a S + u (z'S)' + k w' with u = -beta k, z = a k and w = beta v: the same states
    scalar_gate     a S + k w' with w = beta v: the same inputs without the error term, so other states

The products of beta and the gates with keys and values are exact, and what bits they need is counted with the inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ._exact import Exact, zeros
from ._word import Word


def with_unit_gates(word: Word) -> Word:
    """A word of the delta rule as one of the gated delta rule, with gates of 1: exact also where gates come as logarithms.

    Args:
        word: a word without gates.
    """
    assert word.gate is None
    return replace(word, operator="gated_delta_rule", gate=zeros(*word.q.shape[:3]))


def as_rwkv7(word: Word) -> Word:
    """A word of the delta rule, gated or not, as one of `rwkv7` with the same states and outputs.

    Args:
        word: a word with one micro-step a token.
    """
    assert word.householders == 1
    assert word.beta is not None
    by_channel = _exponents(word) + zeros(*word.q.shape)
    decay = (by_channel * 0 if word.gate is None else _linear(word)) + (word.gate is None)
    beta = word.beta[..., None]
    return replace(
        word, operator="rwkv7", name=f"rwkv7, {word.name}", v=beta * word.v, beta=None, gate=by_channel,
        u=-beta * word.k, z=decay * word.k,
    )  # fmt: skip


def as_scalar_gate(word: Word) -> Word:
    """The inputs of a word of the delta rule as a word of `scalar_gate`, which only adds what is written.

    Args:
        word: a word with one micro-step a token and no gates by channels.
    """
    assert word.householders == 1
    assert word.beta is not None
    assert word.gate is None or word.gate.ndim == 3
    gate = zeros(*word.q.shape[:3]) if word.gate is None else word.gate
    return replace(
        word, operator="scalar_gate", name=f"scalar, {word.name}", v=word.beta[..., None] * word.v, beta=None,
        gate=gate,
    )  # fmt: skip


def translated(
    words: Sequence[Word], *, rwkv7: Sequence[Word] | None = None, scalar: Sequence[Word] | None = None
) -> list[Word]:
    """Words of the delta rule with those of `rwkv7` and `scalar_gate` that they turn into.

    Args:
        words: the words.
        rwkv7: the words of the delta rule that are translated for `rwkv7`; None: all of them.
        scalar: the words of the delta rule whose inputs are taken for `scalar_gate`; None: all of them.
    """
    found = list(words)
    found += [as_rwkv7(word) for word in (words if rwkv7 is None else rwkv7)]
    return found + [as_scalar_gate(word) for word in (words if scalar is None else scalar)]


def _exponents(word: Word) -> Exact:
    """Exponents of gates, `[B,T,H,1]` or `[B,T,H,K]`."""
    if word.gate is None:
        return zeros(*word.q.shape[:3], 1)
    return word.gate if word.gate.ndim == 4 else word.gate[..., None]


def _linear(word: Word) -> Exact:
    """Gates, `[B,T,H,1]` or `[B,T,H,K]`."""
    gate = word.linear_gate
    assert gate is not None
    return np.asarray(gate if gate.ndim == 4 else gate[..., None])
