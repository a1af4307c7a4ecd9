"""own.lookback: a chain of sets whose layers also read the token before, with half the dimension, and with gates one factor a reset.

What is built, and how it acts: `ChainRNN` with `look_back`. A model needs a short convolution of width 2 or a token shift behind each
layer, and for the first form gates; so it is built by request alone. The sizes and the window are those of own.chain and own.window.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from ...foundation._errors import LimitError, NotRealisableError
from ..chains._chain import ChainRNN
from ..chains._sizes import Window
from ._construction import Build, Construction, Problem
from .own_chain import build_chain
from .own_window import follow_windows, list_windows


def _build(problem: Problem, gated: bool) -> ChainRNN:
    plain = [build_chain(problem, "own.lookback")]
    windows: list[Window] = []
    with suppress(LimitError):  # then a chain alone
        windows = list_windows(problem)
    forms = [
        replace(form, look_back=True, gated=gated)
        for form in (*plain, *follow_windows(problem, windows))
        if form.reads_before
    ]
    if not forms:
        raise NotRealisableError(
            f"{problem.automaton.name}: own.lookback: no layer reads the set before a token, so there is nothing to look back for; "
            "leave `theorem` out"
        )
    return min(forms, key=lambda form: form.work)


def _forms(problem: Problem, exactness: str) -> Sequence[Build]:
    return (lambda p: _build(p, gated=True), lambda p: _build(p, gated=False))


CONSTRUCTION = Construction(
    source="own.lookback",
    title="any automaton, by a chain of sets whose layers read the token before as well",
    order=116,
    examples=("T4", "tomita:4", "random:states=12,letters=2,seed=1"),
    refusals={"mod:1": "one state needs no chain", "mod:5": "nothing to look back for"},
    forms=_forms,
    by_request="needs a short convolution, and for its first form gates",
    tells_state_before=True,
    for_group_automata=False,
)
