"""own.lookback: with the token before, a chain of sets takes half the dimension, and with gates one factor a reset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...constructions.chains._chain import ChainRNN
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._chains import find_defect
from .own_chain import draw_chain, draw_short_chain
from .own_window import draw_short_window, draw_window

CLAIM = Claim(
    "own.lookback",
    "A chain of sets in half the dimension, if each layer also reads the token before",
    "supported",
    uses=("own.chain", "own.window"),
    seconds=8,
    formal=(
        "ChainForms.every_chain, for own.chain with sizes that fall by one",
        "ChainForms.every_window, for own.window",
        "ChainForms.level_factor_count, for the numbers of factors",
    ),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """If each layer also reads what the layers above held after the token before, no layer of a chain of sets needs a second half.

    Statement: Let each layer read the token, the states of the layers above it, and their states after the token before. Then level i of
        own.chain and own.window holds the indicator of X_{i+1} among the members of X_i and nothing else, with at most n_i factors of
        key dimension n_i: a reset erases and writes each entry. If there are gates, a reset is the gate 0 and one factor with
        the key Z, the indicator of the new set, β = 2^-e and the value 2^e ≥ |Z|, so that n_i - 1 factors suffice, or one if n_i = 2.
    Direction: sufficient
    Hypotheses: Each layer reads the token, the states of the layers before it, and those after the token before (a short convolution of
        width 2, or a token shift). For the second part: gates that can be 0.
    Arithmetic: exact, all numbers are 0, 1, -1 and, with gates, powers of two
    Source: ours
    Method: Random automata with chains and windows, with gates and without. Every state of the layers that words lead to is stepped by its
        factors and compared, and the stand-alone checker accepts the certificate. The same check must find defects where sizes or windows
        are too small.
    Example:
        >>> print(verify().line())
        supported by 12 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(12, 60),
        draw=_draw,
        broken=_draw_broken,
        check=find_defect,
        assumptions=("the induction on the levels in the text of the checker `chain`",),
    )


def _draw(generator: np.random.Generator) -> ChainRNN:
    return _look_back(generator, draw_chain, draw_window)


def _draw_broken(generator: np.random.Generator) -> ChainRNN:
    return _look_back(generator, draw_short_chain, draw_short_window)


def _look_back(generator: np.random.Generator, *draws: Callable[[np.random.Generator], ChainRNN]) -> ChainRNN:
    """One drawn by either function, with look-back, with gates in half of the cases."""
    while True:
        form = draws[int(generator.integers(2))](generator)
        if form.reads_before:
            return replace(form, look_back=True, gated=bool(generator.integers(2)))
