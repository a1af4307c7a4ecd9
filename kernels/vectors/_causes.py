"""Known errors of implementations, each as a rule: where one explains every word of a family, it is the likely cause.

The list grows with reports. A rule that rounds is exact as well, so that a cause is named only if it gives the very bits that
were found; rules with roots or exponentials, which are in no format, give them within a bound (`Rule.tolerance`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import exp, sqrt

import numpy as np

from ._exact import Exact, zeros
from ._recurrence import Rule, clamping, rounding


def _transposed(states: Exact) -> Exact:
    """States of equal widths transposed; others are as they are, since a function would refuse them."""
    return np.swapaxes(states, -1, -2) if states.shape[-1] == states.shape[-2] else states


def _zero(x: Exact) -> Exact:
    return zeros(*x.shape)


def _one(x: Exact) -> Exact:
    return np.ones(x.shape, dtype=object)


def _first_of_all(states: Exact) -> Exact:
    return np.broadcast_to(states[:1], states.shape)


def _reversed(states: Exact) -> Exact:
    return states[::-1]


def _unit(vectors: Exact) -> Exact:
    """Vectors along the last axis divided by their norms, which are floats: those of zeros are left out."""
    found = vectors.copy()
    for place in np.ndindex(*vectors.shape[:-1]):
        norm = sqrt(sum(x * x for x in vectors[place]))
        if norm not in (0, 1):
            found[place] = np.array([float(x) / norm for x in vectors[place]], dtype=object)
    return found


def _sigmoid(x: Exact) -> Exact:
    found = np.empty(x.shape, dtype=object)
    for place, value in np.ndenumerate(x):
        found[place] = 1 / (1 + exp(-float(value)))
    return found


NEAR = 2.0**-10
"""How far floats of a rule with roots or exponentials may be off; an epsilon in a norm, of 1e-6 or so, is below."""


@cache
def known_errors() -> tuple[Rule, ...]:
    """The known errors, the more frequent ones first."""
    rules = [
        Rule("beta is rounded to bf16", beta=rounding("bf16")),
        Rule("beta is rounded to fp16", beta=rounding("fp16")),
        Rule("beta is clipped at 1", beta=clamping(1)),
        Rule("beta is halved", beta=lambda x: x * Fraction(1, 2)),
        Rule("beta is doubled", beta=lambda x: x * 2),
        Rule("beta is taken as 1", beta=_one),
        Rule("the initial state is ignored", first=_zero),
        Rule("the initial state is read as [V, K] instead of [K, V]", first=_transposed),
        Rule("the final state is returned as [V, K] instead of [K, V]", last=_transposed),
        Rule(
            "the state is read and returned as [V, K] instead of [K, V]", first=_transposed, last=_transposed
        ),
        Rule("a final state of zero is returned where there are no tokens", empty="zero"),
        Rule("the scale is ignored, and K^-1/2 taken", scale="default"),
        Rule("the scale is ignored, and 1 taken", scale="none"),
        Rule("the scale is applied twice", scale="twice"),
        Rule("K^-1/2 is applied as well as the scale", scale="both"),
        Rule(
            "queries and keys are normalised inside the function", queries=_unit, keys=_unit, tolerance=NEAR
        ),
        Rule("keys are normalised inside the function", keys=_unit, tolerance=NEAR),
        Rule("queries are normalised inside the function", queries=_unit, tolerance=NEAR),
        Rule("beta goes through a sigmoid inside the function", beta=_sigmoid, tolerance=NEAR),
        Rule("logarithms of gates are read to base 2, as exp2(g)", logs="base 2"),
        Rule("the sign of the logarithms of gates is reversed, as in exp(-g)", logs="negated"),
        Rule(
            "the state is read before the token's write, as with a mask without its diagonal", read="before"
        ),
        Rule("the gate decays the state after the write instead of before the error", order="decay last"),
        Rule("the error is taken of the state before its decay", order="error first"),
        Rule("z reads the state after its decay", order="z after decay"),
        Rule(
            "what the key reads is subtracted from what is written, as the delta rule does",
            order="error written",
        ),
        Rule("gates are ignored", order="no decay"),
        Rule(
            "the gate decays the state at each micro-step instead of once a token",
            order="decay each micro-step",
        ),
        Rule("gates by channel decay the values' axis of the state", order="decay values"),
        Rule("the gate of the first channel is taken for all", order="decay of the first channel"),
        Rule("beta and gates of the first head are taken for all heads", heads="first"),
        Rule("beta and gates of the first row are taken for the whole batch", batch="first"),
        Rule("states are carried over the bounds of packed sequences", packing="carried"),
        Rule("cu_seqlens is ignored, and the row is run as one sequence", packing="one"),
        Rule("the initial state of the first sequence is taken for all", first=_first_of_all),
        Rule("the initial states of sequences are taken in reverse", first=_reversed),
        Rule("each call begins with the first initial state, not with the one it is given", calls="fresh"),
        Rule("a cached state is changed in place, and continued by the next call", calls="in place"),
        Rule("states or outputs are clamped to ±65,504", state=clamping(65504), outputs=clamping(65504)),
        Rule("states are clamped to ±65,504", state=clamping(65504)),
        Rule("outputs are clamped to ±65,504", outputs=clamping(65504)),
    ]
    for name in ("bf16", "fp16", "tf32"):
        round_it = rounding(name)
        rules += [
            Rule(f"the state is kept in {name}", state=round_it, first=round_it),
            *(
                Rule(f"the state is rounded to {name} where a chunk of {size} tokens begins", state=round_it, every=size)
                for size in (16, 32, 64, 128)
            ),
            *(
                Rule(
                    f"the state enters products rounded to {name} where a chunk of {size} tokens begins",
                    operand=round_it, every=size,
                )
                for size in (16, 32, 64, 128)
            ),
            Rule(f"the state enters products rounded to {name}", operand=round_it),
            Rule(f"the initial state is rounded to {name}", first=round_it),
            Rule(f"the final state is rounded to {name}", last=round_it),
            Rule(f"the state is stored in {name} between calls", first=round_it, last=round_it),
            Rule(f"outputs are rounded to {name}", outputs=round_it),
            *((Rule(f"logarithms of gates are rounded to {name}", log_gates=name),) if name != "tf32" else ()),
            Rule(f"written values, beta (v - k'S), are rounded to {name}", written=round_it),
        ]  # fmt: skip
    for name, shown in (("bf16", "bf16"), ("tf32", "tf32 (or fp16)")):
        round_it = rounding(name)
        rules += [
            Rule(
                f"queries, keys and values are rounded to {shown}",
                queries=round_it, keys=round_it, values=round_it,
            ),
            Rule(f"queries and keys are rounded to {shown}", queries=round_it, keys=round_it),
            Rule(f"queries are rounded to {shown}", queries=round_it),
            Rule(f"keys are rounded to {shown}", keys=round_it),
            Rule(f"values are rounded to {shown}", values=round_it),
        ]  # fmt: skip
    return tuple(rules)
