"""Launches of the recurrent kernels."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from torch import Tensor

from .. import launching
from ..launching import Launcher, launcher, pointers
from ..tiles import Tile
from .plan import count_blocks, recurrent_width
from .problem import Form, Gradients, Problem, place_chunks
from .triton_recurrent import recurrent_backward_keys, recurrent_backward_values, recurrent_forward

GROUP = 16
"""Tokens between the states that the gates' backward pass keeps."""


def _constants(form: Form) -> dict[str, Any]:
    return {
        "NH": form.householders,
        "K": form.K,
        "V": form.V,
        "ACC": form.arithmetic,
        "GATED": form.gated,
        "PACKED": form.packed,
    }


@lru_cache(maxsize=1024)
def _forward(form: Form, final: bool, save: bool) -> tuple[Launcher, int]:
    """And its programs for each sequence and head, by blocks of the state's columns."""
    BV = recurrent_width(form.V, form.K, max(512, form.sequences * form.heads))
    constants = {"BV": BV, "INITIAL": form.initial, "FINAL": final, "SAVE": save}
    return launcher(recurrent_forward, Tile(BV, 1), **_constants(form), **constants), count_blocks(form.V, BV)


def run_recurrent(
    problem: Problem, *, final: bool, save: bool
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Outputs, final states, errors (the last two if asked for)."""
    x, form = problem, problem.form
    N, H, V, wide = form.sequences, form.heads, form.V, form.state_dtype
    o = x.outputs()
    last = x.new(N, H, form.K, V, dtype=wide) if final else None
    errors = x.new(*x.v.shape, dtype=wide) if save else None
    launch, blocks = _forward(form, final, save)
    launch(
        (N * H * blocks,),
        *(x.q, x.k, x.v, x.beta, x.gates, o, *pointers(o, errors), x.initial, *pointers(o, last)),
        *(x.cu, x.scale, form.tokens, H),
    )
    return o, last, errors


@lru_cache(maxsize=1024)
def _backward(form: Form, dfinal: bool) -> tuple[Launcher, int, Launcher, int]:
    """For values and for keys, each with its programs for each sequence and head."""
    programs = form.sequences * form.heads
    BV, BK = recurrent_width(form.V, form.K, programs), recurrent_width(form.K, form.V, programs)
    common = {**_constants(form), "DFINAL": dfinal}
    values = launcher(
        recurrent_backward_values,
        Tile(BV, 1),
        **common,
        BV=BV,
        DINITIAL=form.initial,
        SAME=form.dtype == form.state_dtype,
    )
    keys = launcher(recurrent_backward_keys, Tile(BK, 1), **common, BK=BK, GROUP=GROUP, INITIAL=form.initial)
    return values, count_blocks(form.V, BV), keys, count_blocks(form.K, BK)


def recurrent_backward(problem: Problem, do: Tensor, dfinal: Tensor | None, errors: Tensor) -> Gradients:
    """All gradients from the errors that `run_recurrent` kept."""
    x, form = problem, problem.form
    N, H, K, V, wide = form.sequences, form.heads, form.K, form.V, form.state_dtype
    values, value_blocks, keys, key_blocks = _backward(form, dfinal is not None)
    dq, dk, dv = launching.empty_like(x.q), launching.empty_like(x.k), launching.empty_like(x.v)
    dinitial = x.new(N, H, K, V, dtype=wide) if form.initial else None
    derrors = dv if form.dtype == wide else x.new(*errors.shape, dtype=wide)
    dbeta = x.new(value_blocks, x.beta.numel(), dtype=wide)
    values(
        (N * H * value_blocks,),
        *(x.q, x.k, x.beta, x.gates, do, errors, derrors, dv, dbeta, dfinal, *pointers(do, dinitial)),
        *(x.cu, x.scale, form.tokens, H, x.beta.numel()),
    )
    partial = x.new(*x.k.shape, dtype=wide)
    groups, rows = place_chunks(x, GROUP), form.batch * form.tokens * H
    kept = x.new(groups.count, H, V, K, dtype=wide) if form.gated else None
    da = x.new(key_blocks, rows, dtype=wide) if form.gated else None
    keys(
        (N * H * key_blocks,),
        *(x.q, x.k, x.beta, x.gates, do, errors, derrors, x.initial, dfinal, dq, dk, partial),
        *(*pointers(do, da, kept), x.cu, groups.start, x.scale, form.tokens, H, rows),
    )
    return Gradients(
        *(dq, dk, dv, dbeta.sum(0).view_as(x.beta).to(x.beta.dtype)),
        a=None if da is None else da.sum(0).view_as(x.gates),
        initial=dinitial,
    )
