"""How each peer of `kernel_peers` is called: as its users call it, with the arguments that its interface takes.

Gates are given as logarithms to ours, FLA and FlashQLA, and as the numbers themselves to FlashInfer, with beta in float32; what a
user would have to compute in each call from queries, such as one token a micro-step, is computed in each call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from mirrormata.benchmarks.kernel_peer import peer_chunk
from mirrormata.kernels import delta_product

Call = Callable[..., Tensor]
"""Outputs from q, k, v, beta and, where there are gates, their logarithms g."""
DSL = "flashinfer.gdn_kernels.delta_rule_dsl"


@dataclass(frozen=True)
class Peer:
    """`prepare` takes q, k, v, beta, g or None, n_h and the scale, and returns the call; `packages` whose versions count.

    `backward`: whether it has one; `environment` of its process; `only`: what of n_h and gates it is run for, None: everything.
    """

    packages: tuple[str, ...]
    prepare: Callable[[list[Tensor], Tensor | None, int, float], Call]
    backward: bool = True
    environment: dict[str, str] = field(default_factory=dict)
    only: Callable[[tuple[int, ...], bool], bool] | None = None


def prepare_ours(tensors: list[Tensor], g: Tensor | None, n_h: int, scale: float) -> Call:
    """The public function."""
    del tensors, g

    def run(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor | None = None) -> Tensor:
        o: Tensor = delta_product(q, k, v, beta, g, householders=n_h, scale=scale)[0]
        return o

    return run


def prepare_fla(tensors: list[Tensor], g: Tensor | None, n_h: int, scale: float) -> Call:
    """The chunk mode of FLA, tuned in this process with 20 ms a configuration."""
    import triton
    from triton.testing import do_bench

    del tensors, g

    def brief(call: Any, quantiles: Any = None) -> Any:
        return do_bench(call, warmup=5, rep=20, quantiles=quantiles)

    triton.runtime.driver.active.get_benchmarker = lambda: brief

    def run(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor | None = None) -> Tensor:
        return peer_chunk(q, k, v, beta, g, n_h, scale)

    return run


def prepare_qla(tensors: list[Tensor], g: Tensor | None, n_h: int, scale: float) -> Call:
    """FlashQLA, which has no form without gates: there they are zero, made once."""
    if n_h > 1:
        raise NotImplementedError("it has one factor a token")
    function = import_module("flash_qla").chunk_gated_delta_rule
    q = tensors[0]
    zero = torch.zeros(q.shape[:3], device=q.device) if g is None else None

    def run(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor | None = None) -> Tensor:
        o: Tensor = function(q, k, v, zero if g is None else g, beta, scale=scale)[0]
        return o

    return run


def prepare_flashinfer(split: bool) -> Callable[[list[Tensor], Tensor | None, int, float], Call]:
    """The prefill kernel for Hopper, or the one that splits sequences over the card; n_h factors are micro-steps of tokens."""

    def prepare(tensors: list[Tensor], g: Tensor | None, n_h: int, scale: float) -> Call:
        module = import_module(f"{DSL}.delta_rule_{'cp_' if split else ''}sm90")
        function = module.cp_delta_rule_dsl_sm90 if split else module.delta_rule_prefill_dsl_sm90
        q, _, _, strength = tensors
        B, T, H, D = q.shape
        bounds = torch.arange(0, (B + 1) * T * n_h, T * n_h, device=q.device)
        beta = strength.float().view(-1, H)
        gates = None if g is None else g.exp()
        ones = torch.ones(B * T * n_h, H, device=q.device) if split else None

        def expand(gates: Tensor) -> Tensor:
            """The gate before a token's first micro-step, 1 before the others."""
            if n_h == 1:
                return gates.view(-1, H)
            many = gates.new_ones(B, T, n_h, H)
            many[:, :, 0] = gates
            return many.view(-1, H)

        def run(q: Tensor, k: Tensor, v: Tensor, *_: Tensor) -> Tensor:
            if n_h > 1:
                many = q.new_zeros(B, T, n_h, H, D)
                many[:, :, -1] = q
                q = many
            o = torch.empty(B * T * n_h, H, D, dtype=q.dtype, device=q.device)
            state = torch.empty(B, H, D, D, dtype=torch.float32, device=q.device)
            a = ones if gates is None else expand(gates)
            rows = [x.view(-1, H, D) for x in (q, k, v)]
            if split:
                function(o, state, *rows, a, beta, bounds, scale, max_seqlen=T * n_h)
            else:
                function(o, state, *rows, None, a, beta, bounds, scale)
            return o.view(B, T, n_h, H, D)[:, :, -1]

        return run

    return prepare


def few_heads(shape: tuple[int, ...], gated: bool) -> bool:
    """Where FlashInfer's own function splits sequences: fewer sequences and heads than half the 132 multiprocessors."""
    del gated
    return shape[3] == 128 and 2 * shape[0] * shape[2] < 132


def dispatched(shape: tuple[int, ...], gated: bool) -> bool:
    """What FLA hands on to FlashQLA; all else is FLA's own as without it."""
    return gated and shape[4] == 1 and shape[3] == 128


FLA = ("flash-linear-attention", "fla-core", "tilelang")
QLA = ("flash-qla", "tilelang")
INFER = ("flashinfer-python", "nvidia-cutlass-dsl")
PEERS = {
    "ours": Peer((), prepare_ours),
    "FlashInfer": Peer(INFER, prepare_flashinfer(False), backward=False),
    "FlashInfer split": Peer(INFER, prepare_flashinfer(True), backward=False, only=few_heads),
    "FlashQLA": Peer(QLA, prepare_qla),
    "FLA": Peer(FLA, prepare_fla, environment={"FLA_FLASH_QLA": "0"}),
    "FLA with flash-qla": Peer((*FLA, "flash-qla"), prepare_fla, only=dispatched),
}
"""By name; all in processes of their own."""
PACKAGES = ("torch", "triton", *sorted({name for peer in PEERS.values() for name in peer.packages}))
WITHOUT_WHEELS = ("mamba-ssm", "causal-conv1d")
"""Peers of the other operators, for which PyPI has no wheels: installed or not, they are named in the results."""
