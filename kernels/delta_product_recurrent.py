"""Launches of the recurrent kernels."""

from __future__ import annotations

from torch import Tensor

from . import launching
from .delta_product_plan import Tile, recurrent_width
from .delta_product_problem import Gradients, Problem, place_chunks
from .triton_recurrent import recurrent_backward_keys, recurrent_backward_values, recurrent_forward

GROUP = 16
"""Tokens between the states that the gates' backward pass keeps."""


def run_recurrent(problem: Problem, *, final: bool, save: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs, final states, errors."""
    x, (K, V) = problem, problem.widths
    device, H = x.q.device, x.heads
    o = launching.empty(*x.q.shape[:3], V, dtype=x.q.dtype, device=device)
    last = launching.empty(*((x.sequences, H, K, V) if final else (0,)), dtype=x.state_dtype, device=device)
    errors = launching.empty(*(x.v.shape if save else (0,)), dtype=x.state_dtype, device=device)
    BV = recurrent_width(V, K, max(512, x.sequences * H))
    launching.launch(
        recurrent_forward,
        (x.sequences * H * (V // BV),),
        Tile(BV, 1),
        *(x.q, x.k, x.v, x.beta, x.gates, o, errors, x.initial, last, x.cu, x.scale, x.tokens, H),
        NH=x.householders,
        K=K,
        V=V,
        BV=BV,
        ACC=x.arithmetic,
        GATED=x.a is not None,
        INITIAL=x.initial is not None,
        FINAL=final,
        SAVE=save,
        PACKED=x.cu is not None,
    )
    return o, last, errors


def recurrent_backward(problem: Problem, do: Tensor, dfinal: Tensor | None, errors: Tensor) -> Gradients:
    """All gradients from the errors that `run_recurrent` kept."""
    x, out = problem, Gradients.of(problem)
    K, V = x.widths
    device, H, wide = x.q.device, x.heads, x.state_dtype
    BV, BK = (recurrent_width(*sizes, x.sequences * H) for sizes in ((V, K), (K, V)))
    derrors = out.v if out.v.dtype == wide else launching.empty(*errors.shape, dtype=wide, device=device)
    dbeta = launching.empty(V // BV, x.beta.numel(), dtype=wide, device=device)
    common = {
        "NH": x.householders,
        "K": K,
        "V": V,
        "ACC": x.arithmetic,
        "GATED": x.a is not None,
        "PACKED": x.cu is not None,
        "DFINAL": dfinal is not None,
    }
    launching.launch(
        recurrent_backward_values,
        (x.sequences * H * (V // BV),),
        Tile(BV, 1),
        *(x.q, x.k, x.beta, x.gates, do, errors, derrors, out.v, dbeta, dfinal, out.initial, x.cu, x.scale),
        *(x.tokens, H, x.beta.numel()),
        **common,
        BV=BV,
        DINITIAL=x.initial is not None,
        SAME=derrors is out.v,
    )
    partial = launching.empty(*x.k.shape, dtype=wide, device=device)
    groups = place_chunks(x, GROUP)
    gated = x.a is not None
    kept = launching.empty(*((groups.count, H, K, V) if gated else (0,)), dtype=wide, device=device)
    da = launching.empty(*((K // BK, x.q[..., 0].numel()) if gated else (0,)), dtype=wide, device=device)
    launching.launch(
        recurrent_backward_keys,
        (x.sequences * H * (K // BK),),
        Tile(BK, 1),
        *(x.q, x.k, x.beta, x.gates, do, errors, derrors, x.initial, dfinal, out.q, out.k, partial, da, kept),
        *(x.cu, groups.start, x.scale, x.tokens, H, x.q[..., 0].numel()),
        **common,
        BK=BK,
        GROUP=GROUP,
        INITIAL=x.initial is not None,
    )
    out.beta.copy_(dbeta.sum(0).view_as(x.beta))
    if gated:
        out.a.copy_(da.sum(0).view_as(out.a))
    return out
