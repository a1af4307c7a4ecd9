"""Launches of the fused chunk kernels, and the constants of all chunk kernels."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from torch import Tensor

from ..launching import Launcher, launcher, pointers
from .plan import count_blocks, token_rows
from .problem import Form, Gradients, Problem, place_chunks
from .triton_chunk import chunk_backward, chunk_forward


def even_chunks(form: Form) -> bool:
    """Whether every chunk is full, so that rows need no masks."""
    rows, n_h = form.plan.rows, form.householders
    tokens = rows // n_h
    return not form.packed and tokens * n_h == rows and form.tokens % tokens == 0


def chunk_constants(form: Form) -> dict[str, Any]:
    """What all chunk kernels are compiled for."""
    return {
        "NH": form.householders,
        "K": form.K,
        "V": form.V,
        "C": form.plan.rows,
        "R": token_rows(form.plan.rows, form.householders),
        "PREC": form.plan.precision,
        "ACC": form.arithmetic,
        "EVEN": even_chunks(form),
        "GATED": form.gated,
        "PACKED": form.packed,
    }


@lru_cache(maxsize=1024)
def _forward(form: Form, final: bool, save: bool) -> tuple[Launcher, int]:
    """And its programs for each sequence and head."""
    launch = launcher(
        chunk_forward,
        form.plan.forward,
        **chunk_constants(form),
        BV=form.plan.forward.width,
        IPREC=form.plan.inverse_precision,
        INITIAL=form.initial,
        FINAL=final,
        SAVE=save,
    )
    return launch, count_blocks(form.V, form.plan.forward.width)


def fused_forward(
    problem: Problem, *, final: bool, save: bool
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Outputs, final states, states at the chunks' starts (the last two if asked for)."""
    x, form = problem, problem.form
    N, H, K, V = form.sequences, form.heads, form.K, form.V
    chunks = place_chunks(x, form.plan.rows // form.householders)
    o = x.outputs()
    last = x.new(N, H, K, V, dtype=form.state_dtype) if final else None
    saved = x.new(chunks.count, H, V, K) if save else None
    launch, blocks = _forward(form, final, save)
    launch(
        (N * H * blocks,),
        *(x.q, x.k, x.v, x.beta, x.gates, o, x.initial, *pointers(o, last, saved)),
        *(x.cu, chunks.start, x.scale, form.tokens, H),
    )
    return o, last, saved


@lru_cache(maxsize=1024)
def _backward(form: Form, dfinal: bool) -> Launcher:
    return launcher(
        chunk_backward,
        form.plan.backward,
        **chunk_constants(form),
        IPREC=form.plan.inverse_precision,
        DFINAL=dfinal,
        DINITIAL=form.initial,
    )


def fused_backward(problem: Problem, do: Tensor, dfinal: Tensor | None, saved: Tensor) -> Gradients:
    """All gradients from the states that `fused_forward` saved."""
    x, form, out = problem, problem.form, Gradients.of(problem)
    chunks = place_chunks(x, form.plan.rows // form.householders)
    _backward(form, dfinal is not None)(
        (form.sequences * form.heads,),
        *(x.q, x.k, x.v, x.beta, x.gates, do, saved, dfinal, *pointers(do, *out)),
        *(x.cu, chunks.start, x.scale, form.tokens, form.heads),
    )
    return out
