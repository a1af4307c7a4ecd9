"""own.decay: the last letters in one number that decays, in float formats whose rounding is followed exactly.

What is built, and how it acts: `DecayRNN`. The numbers are rounded, so it is built on request alone, and right in the formats that it
names: for two letters the last 4 in bf16, 6 in fp16 and 12 in fp32.
"""

from __future__ import annotations

from ...foundation._errors import NotRealisableError
from ..algebra._definite import deciding_length, number_maps
from ..decays._decay import DecayRNN
from ._construction import Construction, Problem


def _build(problem: Problem) -> DecayRNN:
    automaton = problem.automaton
    name = f"{automaton.name}: own.decay"
    _, maps = number_maps(automaton.transitions)
    if len(automaton.states) == 1 or not len(maps):
        raise NotRealisableError(
            f"{name}: no letter moves a state, so there is nothing to hold; leave `theorem` out"
        )
    if automaton.is_mealy:
        raise NotRealisableError(
            f"{name}: its outputs belong to letters, and the read-out names states; make it a Moore machine"
        )
    if len(automaton.reachable()) < len(automaton.states):
        raise NotRealisableError(
            f"{name} needs every state to be reachable from the start; leave `theorem` out"
        )
    length = deciding_length(maps)
    if length is None:
        raise NotRealisableError(f"{name}: no number of last letters decides the state; leave `theorem` out")
    form = DecayRNN(automaton)
    if not form.formats:
        raise NotRealisableError(
            f"{name}: in no float format up to fp32 does a decaying number hold the last {length} of {len(maps)} letters; `theorem` own.definite "
            "holds them in a register"
        )
    return form


CONSTRUCTION = Construction(
    source="own.decay",
    title="automata whose last letters decide the state, by one number that decays and is rounded",
    order=146,
    examples=("regex:(a|b)*a(a|b)(a|b)", "flipflop", "regex:(a|b|c)*ab"),
    refusals={"T3": "no number of last letters decides", "mod:1": "no letter moves a state"},
    build=_build,
    by_request="needs rounded arithmetic",
)
