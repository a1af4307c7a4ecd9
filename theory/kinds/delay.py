"""Kind `delay`: a `BlockDelay`, whose last layer computes its factors from the block of tokens before."""

from __future__ import annotations

from typing import Any

from ...constructions._delay import BlockDelay
from .._kinds import TheoryKind


def _stepper(form: BlockDelay, dtype: str, start: int | None) -> Any:
    from ..running._delay import DelayStepper

    return DelayStepper(form, dtype)


def _run(form: BlockDelay, words: Any, **options: Any) -> Any:
    from ..running._delay import run_delay

    return run_delay(form, words, **options)


def _machine(form: BlockDelay, answers: Any, arithmetic: Any) -> Any:
    from ..proofs._machine import delay_machine

    return delay_machine(form, answers, arithmetic)


def _proof(
    form: BlockDelay, automaton: Any, arithmetic: Any, max_states: int, max_seconds: float | None
) -> Any:
    from ..proofs._quick import rule_proof

    return rule_proof(form, automaton, arithmetic)


KIND = TheoryKind(
    kind="delay",
    stepper=_stepper,
    run=_run,
    machine=_machine,
    proof=_proof,
    digest="delay",
    runs_exact=False,
    runs_from_any_state=False,
)
