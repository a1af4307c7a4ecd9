"""Kind `decay`: a `DecayRNN`, which runs in the float formats in which its checker has listed all numbers."""

from __future__ import annotations

from typing import Any

from ...constructions.decays._decay import DecayRNN
from .._kinds import TheoryKind


def _stepper(form: DecayRNN, dtype: str, start: int | None) -> Any:
    from ..running._decay import DecayStepper

    return DecayStepper(form, dtype)


def _run(form: DecayRNN, words: Any, **options: Any) -> Any:
    from ..running._decay import run_decay

    return run_decay(form, words, **options)


def _machine(form: DecayRNN, answers: Any, arithmetic: Any) -> Any:
    from ..proofs._machine import decay_machine

    return decay_machine(form, answers, arithmetic)


def _proof(
    form: DecayRNN, automaton: Any, arithmetic: Any, max_states: int, max_seconds: float | None
) -> Any:
    from ..proofs._quick import decay_proof

    return decay_proof(form, automaton, arithmetic)


KIND = TheoryKind(
    kind="decay",
    stepper=_stepper,
    run=_run,
    machine=_machine,
    proof=_proof,
    digest="decay",
    runs_exact=False,
    runs_from_any_state=False,
)
