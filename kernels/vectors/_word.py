"""A word: what a function is called with, call after call, and the answer that it must give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

from ._exact import LN2, Exact, Format, Number, Span, exact_array, in_float64, round_array, span_of

OPERATORS = MappingProxyType({
    "delta_rule": "error, write, read: S <- S + beta k (v - k'S)', o = scale q'S",
    "gated_delta_rule": "decay, error, write, read: S <- a S, S <- S + beta k (v - k'S)', o = scale q'S",
    "delta_product": "decay once a token, then error and write for each of its micro-steps, then read",
    "kda": "decay by channels, error, write, read: S <- diag(a) S, S <- S + beta k (v - k'S)', o = scale q'S",
    "rwkv7": "S <- diag(a) S + u (z'S)' + k v', where z reads the state before its decay; o = scale q'S",
    "scalar_gate": "decay, write, read: S <- a S + k v', o = scale q'S (Mamba-2, simple GLA)",
})  # fmt: skip
"""The operators with the order of what they do at a token; k'S is the product of k transposed and S."""

_ALSO = {
    "delta_rule": (),
    "gated_delta_rule": ("delta_rule",),
    "delta_product": ("delta_rule", "gated_delta_rule"),
    "kda": ("delta_rule", "gated_delta_rule"),
    "rwkv7": (),
    "scalar_gate": (),
}
"""The operators that are special cases of another: with gates of 1, one micro-step, or equal channels."""


def can_run(operator: str, word: Word) -> bool:
    """Whether a function of an operator can be called with a word, as it stands or as a special case."""
    return word.operator == operator or word.operator in _ALSO[operator]


@dataclass(frozen=True)
class Call:
    """A call of the function with some of a word's tokens.

    Attributes:
        start: its first token.
        end: the token behind its last one.
        after: the earlier call whose final state is its initial state; -1: the word's initial state.
    """

    start: int
    end: int
    after: int = -1


@dataclass(frozen=True)
class Answer:
    """What a function returns for a word.

    Attributes:
        o: outputs `[B,T,H,V]`.
        finals: the final state of each call, `[calls,N,H,K,V]`.
    """

    o: Exact
    finals: Exact


@dataclass(frozen=True, eq=False)
class Word:
    """Inputs of a function in exact numbers, and how it is called.

    Attributes:
        family: the family's name.
        name: the word's own name.
        operator: a key of `OPERATORS`.
        q: queries `[B,T,H,K]`.
        k: keys `[B,T·n_h,H,K]`.
        v: values `[B,T·n_h,H,V]`.
        beta: `[B,T·n_h,H]`, or None where the operator has none.
        gate: exponents e of the gates 2^e, integers of at most 0, `[B,T,H]`, by channels `[B,T,H,K]`; None: no gates.
        u: `[B,T,H,K]`, for `rwkv7` only.
        z: `[B,T,H,K]`, for `rwkv7` only.
        initial_state: `[N,H,K,V]`, or None for zero.
        cu_seqlens: bounds of packed sequences, or None.
        scale: the factor of the outputs, a power of two.
        householders: n_h.
        calls: the calls in their order.
        bound: largest error of an output or a state, relative to the largest exact one, where gates come as logarithms.
        bound_linear: the same where gates come as they are; 0: exact bits.
        products: the formats to which an implementation may round what enters a product, without any change of the answer.
    """

    family: str
    name: str
    operator: str
    q: Exact
    k: Exact
    v: Exact
    beta: Exact | None
    gate: Exact | None = None
    u: Exact | None = None
    z: Exact | None = None
    initial_state: Exact | None = None
    cu_seqlens: tuple[int, ...] | None = None
    scale: Number = Fraction(1, 2)
    householders: int = 1
    calls: tuple[Call, ...] = (Call(0, -1),)
    bound: Fraction = Fraction(0)
    bound_linear: Fraction = Fraction(0)
    products: tuple[str, ...] = ("bf16", "fp16", "tf32", "fp32", "fp64")

    def __post_init__(self) -> None:
        calls = tuple(Call(c.start, self.tokens if c.end < 0 else c.end, c.after) for c in self.calls)
        object.__setattr__(self, "calls", calls)

    @property
    def tokens(self) -> int:
        """T."""
        return int(self.q.shape[1])

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """N, B, H, K, V."""
        B, _, H, K = self.q.shape
        N = B if self.cu_seqlens is None else len(self.cu_seqlens) - 1
        return N, B, H, K, int(self.v.shape[3])

    @property
    def default_scale(self) -> Fraction:
        """K^-1/2; K is a power of four in every word."""
        return Fraction(1, round(self.shape[3] ** 0.5))

    def sequences(self, call: Call) -> Iterator[tuple[int, int, int, int]]:
        """The sequences of a call: number n, row b of the batch, first token and the token behind the last one."""
        if self.cu_seqlens is None:
            for b in range(self.q.shape[0]):
                yield b, b, call.start, call.end
        else:
            for n, (start, end) in enumerate(pairwise(self.cu_seqlens)):
                yield n, 0, start, end

    @cached_property
    def linear_gate(self) -> Exact | None:
        """The gates themselves."""
        if self.gate is None:
            return None
        return exact_array([_power(int(e)) for e in self.gate.ravel()]).reshape(self.gate.shape)

    def log_gate(self, target: Format) -> Exact | None:
        """The natural logarithms of the gates, each rounded once to a format."""
        if self.gate is None:
            return None
        return round_array(self.gate * LN2, target)

    @cached_property
    def spans(self) -> MappingProxyType[str, Span]:
        """The bits that inputs, beta, gates as they are, and initial states need; those of later states and outputs are in `Needs`."""
        queries = span_of([*self.q.ravel(), *self.k.ravel(), *self.v.ravel()])
        for x in (self.u, self.z):
            if x is not None:
                queries = queries.join(span_of(x.ravel()))
        first = Span() if self.initial_state is None else span_of(self.initial_state.ravel())
        beta = Span() if self.beta is None else span_of(self.beta.ravel())
        gates = Span() if self.linear_gate is None else span_of(self.linear_gate.ravel())
        return MappingProxyType({"inputs": queries, "beta": beta, "gates": gates, "state": first})


def _power(exponent: int) -> Number:
    return 2**exponent if exponent >= 0 else Fraction(1, 2**-exponent)


def float_arrays(word: Word) -> dict[str, object]:
    """The inputs of a word in float64, by their names in the file; those that it has not are left out."""
    named = {
        "q": word.q, "k": word.k, "v": word.v, "beta": word.beta, "a": word.linear_gate,
        "u": word.u, "z": word.z, "initial_state": word.initial_state,
    }  # fmt: skip
    return {name: in_float64(x) for name, x in named.items() if x is not None}
