"""Kind `blocks`: a `BlockRNN`, whose levels compute their factors from the block of tokens before."""

from __future__ import annotations

from typing import Any

from ...constructions.chains._blocks import BlockRNN
from .._kinds import TheoryKind


def _stepper(form: BlockRNN, dtype: str, start: int | None) -> Any:
    from ..running._blocks import BlockStepper

    return BlockStepper(form, dtype)


def _run(form: BlockRNN, words: Any, **options: Any) -> Any:
    from ..running._blocks import run_blocks

    return run_blocks(form, words, **options)


def _machine(form: BlockRNN, answers: Any, arithmetic: Any) -> Any:
    from ..proofs._machine import blocks_machine

    return blocks_machine(form, answers, arithmetic)


def _proof(
    form: BlockRNN, automaton: Any, arithmetic: Any, max_states: int, max_seconds: float | None
) -> Any:
    from ..proofs._quick import rule_proof

    return rule_proof(form, automaton, arithmetic)


KIND = TheoryKind(
    kind="blocks",
    stepper=_stepper,
    run=_run,
    machine=_machine,
    proof=_proof,
    digest="blocks",
    runs_exact=False,
    runs_from_any_state=False,
)
