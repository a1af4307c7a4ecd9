"""Launches of the fused chunk kernels, and the constants of all chunk kernels."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from . import launching
from .delta_product_plan import Plan, chunk_plan, token_rows
from .delta_product_problem import Gradients, Problem, place_chunks
from .triton_chunk import chunk_backward, chunk_forward


def plan_for(problem: Problem, *, phases: bool = False) -> Plan:
    """The chunk plan of a problem."""
    programs = problem.sequences * problem.heads
    return chunk_plan(
        *problem.widths,
        problem.q.dtype,
        programs,
        householders=problem.householders,
        gated=problem.a is not None,
        phases=phases,
    )


def even_chunks(problem: Problem, rows: int) -> bool:
    """Whether every chunk is full, so that rows need no masks."""
    tokens = rows // problem.householders
    return problem.cu is None and tokens * problem.householders == rows and problem.tokens % tokens == 0


def chunk_constants(problem: Problem, plan: Plan) -> dict[str, Any]:
    """What all chunk kernels are compiled for."""
    K, V = problem.widths
    return {
        "NH": problem.householders,
        "K": K,
        "V": V,
        "C": plan.rows,
        "R": token_rows(plan.rows, problem.householders),
        "PREC": plan.precision,
        "ACC": problem.arithmetic,
        "EVEN": even_chunks(problem, plan.rows),
        "GATED": problem.a is not None,
        "PACKED": problem.cu is not None,
    }


def fused_forward(problem: Problem, plan: Plan, *, final: bool, save: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs, final states, states at the chunks' starts (the last two empty unless asked for)."""
    x, (K, V) = problem, problem.widths
    chunks = place_chunks(x, plan.rows // x.householders)
    device, H = x.q.device, x.heads
    o = launching.empty(*x.q.shape[:3], V, dtype=x.q.dtype, device=device)
    last = launching.empty(*((x.sequences, H, K, V) if final else (0,)), dtype=x.state_dtype, device=device)
    saved = launching.empty(*((chunks.count, H, V, K) if save else (0,)), dtype=x.q.dtype, device=device)
    launching.launch(
        chunk_forward,
        (x.sequences * H * (V // plan.forward.width),),
        plan.forward,
        *(
            x.q,
            x.k,
            x.v,
            x.beta,
            x.gates,
            o,
            x.initial,
            last,
            saved,
            x.cu,
            chunks.start,
            x.scale,
            x.tokens,
            H,
        ),
        **chunk_constants(x, plan),
        BV=plan.forward.width,
        IPREC=plan.inverse_precision,
        INITIAL=x.initial is not None,
        FINAL=final,
        SAVE=save,
    )
    return o, last, saved


def fused_backward(
    problem: Problem, plan: Plan, do: Tensor, dfinal: Tensor | None, saved: Tensor
) -> Gradients:
    """All gradients from the states that `fused_forward` saved."""
    x, out = problem, Gradients.of(problem)
    chunks = place_chunks(x, plan.rows // x.householders)
    launching.launch(
        chunk_backward,
        (x.sequences * x.heads,),
        plan.backward,
        *(
            x.q,
            x.k,
            x.v,
            x.beta,
            x.gates,
            do,
            saved,
            dfinal,
            *out.all(),
            x.cu,
            chunks.start,
            x.scale,
            x.tokens,
            x.heads,
        ),
        **chunk_constants(x, plan),
        IPREC=plan.inverse_precision,
        DFINAL=dfinal is not None,
        DINITIAL=x.initial is not None,
    )
    return out
