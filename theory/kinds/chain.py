"""Kind `chain`: a `ChainRNN`, whose layers compute their factors from sets of states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...constructions.chains._chain import ChainRNN
from .._kinds import TheoryKind


def _stepper(form: ChainRNN, dtype: str, start: int | None) -> Any:
    from ..running._chain import ChainStepper

    return ChainStepper(form, dtype, start)


def _run(form: ChainRNN, words: Any, **options: Any) -> Any:
    from ..running._chain import run_chain

    return run_chain(form, words, **options)


def _draw(form: ChainRNN, path: str | Path, max_letters: int, max_dim: int, options: tuple[str, str]) -> None:
    from ..pictures._chain import draw_chain

    draw_chain(form, path, max_letters, max_dim, options)


def _machine(form: ChainRNN, answers: Any, arithmetic: Any) -> Any:
    from ..proofs._machine import chain_machine

    return chain_machine(form, answers, arithmetic)


def _proof(
    form: ChainRNN, automaton: Any, arithmetic: Any, max_states: int, max_seconds: float | None
) -> Any:
    from ..proofs._quick import rule_proof

    return rule_proof(form, automaton, arithmetic)


KIND = TheoryKind(
    kind="chain",
    stepper=_stepper,
    run=_run,
    draw=_draw,
    machine=_machine,
    proof=_proof,
    digest="chain",
)
