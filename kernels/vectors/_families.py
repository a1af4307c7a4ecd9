"""The families of words, in the order in which verdicts are given: each is there for an error that it alone sees.

The combined families come last: each is there for an error in one path of an implementation, such as packed sequences, that is
seen only where what other families hold one by one comes together. More than one of them may see it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from . import _words_calls as calls
from . import _words_combined as combined
from . import _words_delta as delta
from . import _words_gates as gates
from ._translations import translated
from ._word import Word, can_run


@dataclass(frozen=True)
class Family:
    """A family of words.

    Attributes:
        name: its name.
        holds: what its words are.
        alone: the error for which it is there: one that no other family sees; if it is combined, one that no family sees which is not.
        cause: what is likely wrong where it fails and no known error explains how.
        make: makes its words.
        combined: whether its words combine what other families hold one by one.
    """

    name: str
    holds: str
    alone: str
    cause: str
    make: Callable[[], list[Word]]
    combined: bool = False


def _fine() -> list[Word]:
    """Words of the delta rule with numbers that must not be rounded."""
    makers = (
        delta.beta_above_one, delta.beta_fine, delta.state_fine, delta.ranges, delta.outputs_fine, delta.inputs_fine,
        delta.coefficients, delta.initial_state,
    )  # fmt: skip
    return [word for make in makers for word in make()]


FAMILIES = (
    Family(
        "integers",
        "swaps, overwrites and idle tokens of small integers; one swap up to 126 times",
        "columns of values beyond a tile left out",
        "the structure within a chunk: a mask, a tile, or the inverse of I + L",
        delta.integers,
    ),
    Family(
        "tails",
        "lengths around 16, 32, 64 and 128 whose last token overwrites a row",
        "a last chunk of one token that forgets the old value",
        "the last tokens of a sequence that does not fill its chunk",
        lambda: translated(delta.tails()),
    ),
    Family(
        "beta-above-one",
        "beta = 3/2 and 2",
        "beta clipped at 1",
        "beta beyond 1 is changed",
        delta.beta_above_one,
    ),
    Family(
        "beta-fine",
        "beta = 1 - 2^-9, 1 - 2^-12 and 1 - 2^-20 on a row that is written, and on an empty one",
        "beta rounded to a narrow format",
        "beta, or a coefficient of the chunk that it enters, is rounded",
        delta.beta_fine,
    ),
    Family(
        "state-fine",
        "a state entry of 9 to 17 bits that stays, for 8 to 136 tokens",
        "states rounded where a chunk begins",
        "the state is rounded on its way from token to token or from chunk to chunk",
        lambda: translated(delta.state_fine(), scalar=delta.added_state_fine()),
    ),
    Family(
        "range",
        "states, outputs and terms of outputs beyond 65,504",
        "states or outputs clamped to the range of fp16",
        "a number beyond 65,504 overflows or is clamped",
        lambda: translated(delta.ranges()),
    ),
    Family(
        "outputs-fine",
        "outputs of 9 to 21 bits from coarse states",
        "outputs rounded to a narrower format than stated",
        "outputs are rounded, or summed up in a narrow format",
        lambda: translated(delta.outputs_fine()),
    ),
    Family(
        "inputs-fine",
        "a query, a key and a value of 10 and 13 bits",
        "inputs rounded before a product, as matrix units do in tf32",
        "queries, keys, values, or what is written, are rounded where they enter a product",
        lambda: translated(delta.inputs_fine(), scalar=delta.added_inputs_fine()),
    ),
    Family(
        "coefficients",
        "products of keys, and entries of the inverse, of 9 to 12 bits, with coarse states",
        "products of keys, K K', rounded to a narrow format",
        "products of keys, or the inverse (I + L)^-1, are kept in a narrow format",
        lambda: translated(delta.coefficients(), rwkv7=delta.coefficients()[1:], scalar=()),
    ),
    Family(
        "initial-state",
        "initial states that are not symmetric, with entries of up to 21 bits",
        "initial states rounded to the format of the inputs",
        "the initial state is ignored, transposed or rounded",
        lambda: translated(delta.initial_state()),
    ),
    Family(
        "packed",
        "sequences of 0 to 70 tokens in one row, with initial states and without",
        "states carried over from one sequence to the next",
        "the bounds of packed sequences, or which initial state is whose",
        lambda: translated(calls.packed()),
    ),
    Family(
        "decode",
        "a prefill in one call or by chunks, then one token a call",
        "a path for single tokens that differs",
        "calls with one token, or the final state that one call gives to the next",
        lambda: translated(calls.decode()),
    ),
    Family(
        "prefix",
        "two continuations of one cached prefix, and of one initial state",
        "a cached state that is changed in place",
        "a cached state is changed, or the wrong one is continued",
        lambda: translated(calls.prefix()),
    ),
    Family(
        "no-tokens",
        "T = 0",
        "a final state of zero, or an error, without tokens",
        "calls without tokens",
        lambda: translated(calls.no_tokens()),
    ),
    Family(
        "heads",
        "rows of a batch and heads that differ in everything",
        "beta of one head, or row, taken for all",
        "heads, or rows of the batch, are mixed up",
        lambda: translated(calls.heads()),
    ),
    Family(
        "scale",
        "scales of 1 and 1/4, where K^-1/2 is 1/2",
        "a scale that is ignored",
        "the scale of the outputs",
        lambda: translated(calls.scales()),
    ),
    Family(
        "gates",
        "gates of 1/2 to 2^-10 before, between and on tokens that write, and across chunks",
        "logarithms of gates rounded to a narrow format",
        "where the gates are applied: before the error, and in both factors of a chunk's products",
        gates.gates,
    ),
    Family(
        "strong-gates",
        "gates of 1/4 at each of 80 and 160 tokens",
        "a ratio of gates computed as a product with an overflowing reciprocal",
        "products of gates overflow or underflow where only ratios are needed",
        gates.strong_gates,
    ),
    Family(
        "delta-product",
        "two and three micro-steps a token, with gates and without",
        "the gate applied at each micro-step",
        "the order of micro-steps, gate and read",
        gates.delta_product,
    ),
    Family(
        "channel-gates",
        "gates by channels of the keys",
        "gates of values instead of keys, or one channel's gate for all",
        "which axis of the state the gates belong to",
        gates.channel_gates,
    ),
    Family(
        "rwkv7",
        "transitions diag(a) + u z' and writes k v'",
        "z that reads the state after its decay",
        "which state z reads, and which of u and z writes",
        gates.rwkv7,
    ),
    Family(
        "scalar-gate",
        "gates and writes without an error term",
        "a decay behind the write",
        "the order of decay, write and read",
        gates.scalar_gate,
    ),
    Family(
        "unit-gates",
        "the words that hold numbers of many bits, with gates of exactly 1 given",
        "a rounding in the path with gates",
        "what is computed where gates are given, even of 1",
        lambda: combined.unit_gates(_fine()),
        combined=True,
    ),
    Family(
        "gated-calls",
        "gates in packed sequences, in single tokens, and in several heads and rows",
        "gates that are late in calls of one token, or those of another head",
        "gates of packed sequences, of single tokens, of heads or of rows",
        combined.gated_calls,
        combined=True,
    ),
    Family(
        "fine-packed",
        "packed sequences with states of 13 and 14 bits, with gates and heads",
        "states rounded in packed calls only",
        "what is rounded, or mixed up, in the path for packed sequences",
        combined.fine_packed,
        combined=True,
    ),
    Family(
        "fine-decode",
        "one token a call with states of 13 and 14 bits, with gates, heads and rows",
        "states rounded in calls of one token only",
        "what is rounded, or mixed up, in calls of one token",
        combined.fine_decode,
        combined=True,
    ),
    Family(
        "fine-heads",
        "up to 5 rows and heads with states of 13 and 14 bits, gates and initial states of their own",
        "states of rows behind the first rounded, or mixed up",
        "what is rounded, or mixed up, in rows and heads behind the first",
        combined.fine_heads,
        combined=True,
    ),
    Family(
        "fine-long",
        "more than 64 tokens from an initial state of 14 bits, with gates",
        "an initial state that is lost beyond a chunk",
        "an initial state, or gates, across chunks",
        combined.fine_long,
        combined=True,
    ),
    Family(
        "fine-widths",
        "values of up to 35 columns, wider than the keys",
        "columns of values beyond K left out",
        "values that are wider than keys, or than a tile",
        combined.fine_widths,
        combined=True,
    ),
    Family(
        "fine-scales",
        "scales from 1/8 to 2 with gates, packed, in single tokens, and with heads",
        "a scale that is ignored where gates are given",
        "the scale of the outputs with gates, packed, in single tokens, or with heads",
        combined.fine_scales,
        combined=True,
    ),
    Family(
        "fine-steps",
        "two to five micro-steps a token whose betas differ, packed, in single tokens, with heads and gates",
        "beta of the first micro-step taken for all",
        "which beta belongs to which micro-step, and micro-steps with initial states, packed or in single tokens",
        combined.fine_steps,
        combined=True,
    ),
)  # fmt: skip


@cache
def all_words() -> tuple[Word, ...]:
    """The words of all families, in their order."""
    return tuple(word for family in FAMILIES for word in family.make())


@cache
def families_of(operator: str) -> tuple[str, ...]:
    """The names of the families that have words for functions of an operator, as they stand or as special cases.

    Args:
        operator: a key of `OPERATORS`.
    """
    having = {word.family for word in all_words() if can_run(operator, word)}
    return tuple(family.name for family in FAMILIES if family.name in having)
