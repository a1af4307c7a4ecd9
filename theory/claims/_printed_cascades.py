"""Cascades wired as printed (G.T4, DP.T2): words that refute them, replayed from what is written alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...constructions.automata._automaton import Automaton
from ...constructions.cascades._cascade import cascade
from ...constructions.cascades._layers import cascade_lrnn
from ..running._refutation import Refutation, goes_wrong, refute


def refute_printed_cascades(
    draw: Callable[[], Automaton], count: int, *, gated: bool = False
) -> list[Refutation]:
    """What is found of so many drawn automata whose cascades have two levels or more."""
    found: list[Refutation] = []
    while len(found) < count:
        automaton = draw()
        levels = cascade(automaton)
        if len(levels.levels) > 1:
            found.append(refute(cascade_lrnn(automaton, levels, gated=gated, wiring="printed")))
    return found


def write_shortest(found: list[Refutation]) -> dict[str, Any] | None:
    """The shortest refuting word with its automaton, in plain values; None where no cascade is wrong."""
    first = min((x for x in found if x.word is not None), key=lambda x: len(x.word or ()), default=None)
    if first is None:
        return None
    automaton = first.lrnn.automaton
    maps = {"transitions": automaton.transitions.tolist(), "start": automaton.start}
    return {"automaton": maps, "letters": list(first.word or ()), **first.to_json()}


def replay_witness(witness: Mapping[str, Any], *, gated: bool = False) -> bool:
    """Does the cascade of the written automaton, wired as printed, name a wrong state after the written letters?"""
    maps = np.array(witness["automaton"]["transitions"])
    letters, states = maps.shape
    names = tuple(str(q) for q in range(states)), tuple(str(x) for x in range(letters))
    automaton = Automaton(*names, maps, witness["automaton"]["start"], np.arange(states).astype(object))
    lrnn = cascade_lrnn(automaton, cascade(automaton), gated=gated, wiring="printed")
    return goes_wrong(lrnn, tuple(witness["letters"]))
