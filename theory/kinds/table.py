"""Kind `table`: an `LRNN`, of one layer or of several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...constructions._lrnn import LRNN
from .._horizon import add_horizons, has_horizon
from .._kinds import TheoryKind


def _stepper(lrnn: LRNN, dtype: str, start: int | None) -> Any:
    from ..running._stepper import table_stepper

    return table_stepper(lrnn, dtype, start)


def _run(lrnn: LRNN, words: Any, **options: Any) -> Any:
    from ..running._run import run_table

    return run_table(lrnn, words, **options)


def _horizons(lrnn: LRNN, max_codes: int) -> dict[str, int | None] | None:
    from .._check import accept_horizons

    if not has_horizon(lrnn) or max(len(head.codes) for head in lrnn.all_heads) > max_codes:
        return None
    return accept_horizons(lrnn)


def _margins(lrnn: LRNN, words: Any, dtype: str, start: int | None) -> Any:
    from .._run_file import margin_series

    return margin_series(lrnn, words, dtype, start)


def _draw(lrnn: LRNN, path: str | Path, max_letters: int, max_dim: int, options: tuple[str, str]) -> None:
    from ..pictures._construction import draw_table

    draw_table(lrnn, path, max_letters, max_dim, options)


def _machine(lrnn: LRNN, answers: Any, arithmetic: Any) -> Any:
    from ..proofs._machine import table_machine

    return table_machine(lrnn, answers, arithmetic)


def _proof(lrnn: LRNN, automaton: Any, arithmetic: Any, max_states: int, max_seconds: float | None) -> Any:
    from ..proofs._quick import table_proof

    return table_proof(lrnn, automaton, arithmetic, max_states, max_seconds)


KIND = TheoryKind(
    kind="table",
    stepper=_stepper,
    run=_run,
    complete=add_horizons,
    horizons=_horizons,
    margins=_margins,
    draw=_draw,
    machine=_machine,
    proof=_proof,
    digest="lrnn",
)
