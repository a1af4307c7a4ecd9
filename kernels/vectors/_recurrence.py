"""The operators in exact arithmetic, token by token; and known errors of implementations, as rules that differ in one place.

Everything is computed with integers and fractions. A rule that rounds rounds exactly, to nearest with ties to even, so that
what a known error makes of a word is known to the last bit as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np

from ._exact import FORMATS, LN2, Exact, Span, round_array, span_of, zeros
from ._word import Answer, Call, Word

Rounding = Callable[[Exact], Exact]


@dataclass(frozen=True)
class Rule:
    """How a token is computed; the default is right, every other value is a known error.

    Attributes:
        cause: the error in a sentence without its end; empty for the right rule.
        beta: what becomes of beta.
        queries: what becomes of q.
        keys: what becomes of k.
        values: what becomes of v.
        first: what becomes of the initial states of each call.
        written: what becomes of the written values beta (v - k'S).
        state: what becomes of a state after a token ...
        every: ... whose number in its sequence, counted from 1, is a multiple of this.
        operand: what becomes of the state at the start of each `every` tokens where it enters products; the one that goes on stays.
        last: what becomes of the final state of each call.
        outputs: what becomes of outputs.
        log_gates: the format to which logarithms of gates are rounded; empty: none.
        logs: how logarithms of gates are read: `natural`, `base 2` or `negated`. Gates that come as they are stay, as with `log_gates`.
        order: of decay, error and write: `right`; `decay last`; `error first` (of the state before its decay); `no decay`;
            `decay each micro-step`; `decay values` (by channels, along the values); `decay of the first channel`; `z after decay` (of `rwkv7`);
            `error written` (of `scalar_gate`).
        read: `after` the write or `before` it.
        scale: `given`, `default` (K^-1/2), `none`, `twice`, or `both`: the given one times K^-1/2.
        heads: `own`, or `first`: beta and gates of the first head.
        batch: `own`, or `first`: beta and gates of the first row of the batch.
        packing: `own` states; `carried` over bounds; `first`: the initial state of the first sequence for all; `one`: a row is one
            sequence, whose final state is that of all.
        calls: `own`; `fresh`: the word's initial state before each call; `in place`: the state of the latest call.
        empty: the final state of no tokens: `kept` or `zero`.
        tolerance: how far numbers that the rule gives may be off, relative to the largest, since they are no binary fractions.
    """

    cause: str = ""
    beta: Rounding | None = None
    queries: Rounding | None = None
    keys: Rounding | None = None
    values: Rounding | None = None
    first: Rounding | None = None
    written: Rounding | None = None
    state: Rounding | None = None
    every: int = 1
    operand: Rounding | None = None
    last: Rounding | None = None
    outputs: Rounding | None = None
    log_gates: str = ""
    order: str = "right"
    read: str = "after"
    scale: str = "given"
    heads: str = "own"
    batch: str = "own"
    packing: str = "own"
    calls: str = "own"
    empty: str = "kept"
    logs: str = "natural"
    tolerance: float = 0.0

    def with_gates(self, gate: str) -> Rule:
        """The rule as it is for gates that come as `g`, or as `a`: then without its errors of logarithms.

        Args:
            gate: the parameter.
        """
        if gate == "a" and (self.log_gates or self.logs != "natural"):
            return replace(self, log_gates="", logs="natural")
        return self


RIGHT = Rule()


@dataclass(frozen=True)
class Needs:
    """The bits of a word's numbers, all of them exact.

    Attributes:
        state: of initial states and of the states after every token and micro-step.
        outputs: of the outputs.
    """

    state: Span
    outputs: Span


def answer_of(word: Word, rule: Rule = RIGHT) -> Answer:
    """What the function must return for a word, or what it returns under a rule with an error.

    Args:
        word: the word.
        rule: how a token is computed.
    """
    return _run(word, rule, [])


def needs_of(word: Word) -> Needs:
    """The bits that the states and outputs of a word need."""
    seen: list[Exact] = [] if word.initial_state is None else [word.initial_state]
    answer = _run(word, RIGHT, seen)
    return Needs(
        span_of(x for states in seen for x in states.ravel()),
        span_of(answer.o.ravel()),
    )


def rounding(name: str) -> Rounding:
    """Rounds arrays to a format."""
    return lambda x: round_array(x, FORMATS[name])


def clamping(largest: int) -> Rounding:
    """Keeps arrays within bounds."""
    return lambda x: np.minimum(np.maximum(x, -largest), largest)


def _run(word: Word, rule: Rule, seen: list[Exact]) -> Answer:
    N, B, H, K, V = word.shape
    given = zeros(N, H, K, V) if word.initial_state is None else word.initial_state
    o = zeros(B, word.tokens, H, V)
    finals: list[Exact] = []
    word = _with_other_inputs(word, rule)
    for call in word.calls:
        before = given if call.after < 0 or rule.calls == "fresh" else finals[call.after]
        if rule.calls == "in place" and finals:
            before = finals[-1]
        state = (before if rule.first is None else rule.first(before)).copy()
        with np.errstate(invalid="ignore"):  # infinities of rules that round
            _run_call(word, rule, call, state, o, seen)
        if call.start == call.end and rule.empty == "zero":
            state = zeros(N, H, K, V)
        finals.append(state if rule.last is None else rule.last(state))
    return Answer(o if rule.outputs is None else rule.outputs(o), np.stack(finals))


def _with_other_inputs(word: Word, rule: Rule) -> Word:
    changed = {
        name: change(getattr(word, name))
        for name, change in (("beta", rule.beta), ("q", rule.queries), ("k", rule.keys), ("v", rule.values))
        if change is not None and getattr(word, name) is not None
    }
    if not changed:
        return word
    return Word(**{**{f: getattr(word, f) for f in Word.__dataclass_fields__}, **changed})


def _run_call(word: Word, rule: Rule, call: Call, states: Exact, o: Exact, seen: list[Exact]) -> None:
    """All sequences and heads of a call; writes final states into `states` and outputs into `o`."""
    H = word.shape[2]
    first = states.copy()
    for n, b, start, end in word.sequences(call):
        for h in range(H):
            S = states[n, h]
            if rule.packing in ("carried", "one") and word.cu_seqlens is not None and n:
                S = states[n - 1, h]
            elif rule.packing == "first":
                S = first[0, h]
            copy = S
            for t in range(start, end):
                if rule.operand is None:
                    S, read = _step(word, rule, b, t, h, S, seen)
                else:
                    if (t - start) % rule.every == 0:
                        copy = rule.operand(S)
                    after, read = _step(word, rule, b, t, h, copy, seen)
                    # writes are those of the copy, so that the difference only decays
                    S, copy = after + _decay(word, rule, b, t, h) * (S - copy), after
                if rule.state is not None and (t - start + 1) % rule.every == 0:
                    S = rule.state(S)
                    read = S if rule.read == "after" and rule.every == 1 else read
                seen.append(S)
                o[b, t, h] = _scale(word, rule) * (word.q[b, t, h] @ read)
            states[n, h] = S
    if rule.packing == "one" and word.cu_seqlens is not None:
        states[:] = states[-1]


def _scale(word: Word, rule: Rule) -> Any:
    if rule.scale == "given":
        return word.scale
    if rule.scale == "none":
        return 1
    default = word.default_scale
    return {"default": default, "twice": word.scale * word.scale, "both": word.scale * default}[rule.scale]


def _step(word: Word, rule: Rule, b: int, t: int, h: int, S: Exact, seen: list[Exact]) -> tuple[Exact, Exact]:
    """The state after a token, and the one that is read."""
    row, head = (0 if rule.batch == "first" else b), (0 if rule.heads == "first" else h)
    before = S
    decay = _decay(word, rule, row, t, head)
    if word.operator == "rwkv7":
        assert word.u is not None
        assert word.z is not None
        reads = decay * S if rule.order == "z after decay" else S
        S = (
            decay * S
            + _outer(word.u[b, t, h], word.z[b, t, h] @ reads)
            + _outer(word.k[b, t, h], word.v[b, t, h])
        )
        return S, (S if rule.read == "after" else before)
    n_h = word.householders
    for i in range(t * n_h, (t + 1) * n_h):
        decays = (i == t * n_h and rule.order != "decay last") or rule.order == "decay each micro-step"
        old = S
        if decays:
            S = decay * S
        k = word.k[b, i, h]
        if word.operator == "scalar_gate":
            read = k @ S if rule.order == "error written" else 0
            S = S + _outer(k, word.v[b, i, h] - read)
        else:
            assert word.beta is not None
            error = word.v[b, i, h] - k @ (old if rule.order == "error first" else S)
            u = word.beta[row, i, head] * error
            S = S + _outer(k, u if rule.written is None else rule.written(u))
        if rule.order == "decay last" and i == (t + 1) * n_h - 1:
            S = decay * S
        seen.append(S)
    return S, (S if rule.read == "after" else before)


def _outer(k: Exact, u: Exact) -> Exact:
    product: Exact = k[:, None] * u[None, :]
    return product


def _decay(word: Word, rule: Rule, b: int, t: int, h: int) -> Any:
    """What the state is multiplied by: a number, or `[K,1]`; 1 without gates."""
    gate = word.linear_gate
    if gate is None or rule.order == "no decay":
        return 1
    a = gate[b, t, h]
    if rule.log_gates:
        assert word.gate is not None
        # an error that is known to 50 bits only, which is enough: where gates come as logarithms, words have a bound
        exponents = np.atleast_1d(np.array(word.gate[b, t, h], dtype=object))
        logarithms = round_array(exponents * LN2, FORMATS[rule.log_gates])
        gates = [Fraction(exp(x)) for x in logarithms]
        a = np.array(gates, dtype=object) if isinstance(a, np.ndarray) else gates[0]
    if rule.logs != "natural":
        assert word.gate is not None
        exponent = word.gate[b, t, h]
        a = 1 / a if rule.logs == "negated" else 2.0 ** (exponent * float(LN2))
    if not isinstance(a, np.ndarray):
        return a
    if rule.order == "decay of the first channel":
        return a[0]
    if rule.order == "decay values":
        V = word.shape[4]
        return np.resize(a, V)[None, :]
    return a[:, None]
