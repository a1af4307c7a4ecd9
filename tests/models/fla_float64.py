"""FLA's own language models on a CPU in float64: kernels replaced by FLA's naive functions, float32 inside by float64."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.nn import functional as F


class Wide:
    """torch for FLA's naive functions, which compute in float32: here in float64."""

    float32 = float = torch.float64

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)


def unit(x: Tensor) -> Tensor:
    """In place of `l2_norm`, with its ε."""
    return x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt()


def delta_rule(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, **options: Any) -> Any:
    """In place of `chunk_delta_rule` and `fused_recurrent_delta_rule`."""
    if options["use_qk_l2norm_in_kernel"]:
        q, k = unit(q), unit(k)
    naive = import_module("fla.ops.delta_rule.naive").delta_rule_recurrence
    o, state = naive(*(x.transpose(1, 2) for x in (q, k, v, beta)))
    return o.transpose(1, 2), state


def gated_delta_product(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor | None, beta: Tensor, num_householder: int, **_: Any
) -> Any:
    """In place of `chunk_gated_delta_product`."""
    naive = import_module("fla.ops.gated_delta_product.naive").naive_recurrent_gated_delta_product
    return naive(unit(q), unit(k), v, g, beta, q.shape[-1] ** -0.5, num_householder=num_householder)


def gated_delta_rule(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, **options: Any) -> Any:
    """In place of `chunk_gated_delta_rule` with its gates in the kernel."""
    naive = import_module("fla.ops.gated_delta_rule.naive").naive_recurrent_gated_delta_rule
    group = v.shape[2] // q.shape[2]
    q, k = (unit(x).repeat_interleave(group, 2) for x in (q, k))
    decay = -options["A_log"].exp() * F.softplus(g + options["dt_bias"])
    return naive(q, k, v, beta.sigmoid() * (2 if options["allow_neg_eigval"] else 1), decay)


def kda(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, **options: Any) -> Any:
    """In place of `chunk_kda`."""
    decay = import_module("fla.ops.kda.gate").naive_kda_gate(
        g, options["A_log"], options["dt_bias"], torch.float64
    )
    naive = import_module("fla.ops.kda.naive").naive_recurrent_kda
    return naive(unit(q), unit(k), v, decay, beta.sigmoid() * (2 if options["allow_neg_eigval"] else 1))


def gla(q: Tensor, k: Tensor, v: Tensor, gk: Tensor, **_: Any) -> Any:
    """In place of `fused_recurrent_gla`."""
    return import_module("fla.ops.gla.naive").naive_recurrent_gla(q, k, v, gk)


def rwkv7(r: Tensor, w: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, scale: float, **_: Any) -> Any:
    """In place of `chunk_rwkv7`; FLA's naive function has its own scale."""
    naive = import_module("fla.ops.generalized_delta_rule.dplr.naive").dplr_recurrence
    r = r * scale * r.shape[-1] ** 0.5
    o, state = naive(*(x.transpose(1, 2) for x in (r, k, v, a, b, w)))
    return o.transpose(1, 2), state


def shift(x: Tensor, *_: Any, **__: Any) -> tuple[Tensor, None]:
    """In place of `token_shift`."""
    return F.pad(x, (0, 0, 1, -1)) - x, None


def layer_norm(self: Any, x: Tensor, residual: Tensor | None = None, prenorm: bool = False) -> Any:
    """In place of `LayerNorm.forward`."""
    total = x if residual is None else x + residual
    y = F.layer_norm(total, total.shape[-1:], self.weight, self.bias, self.eps)
    return (y, total) if prenorm else y


def norm_of_groups(self: Any, x: Tensor) -> Tensor:
    """In place of `GroupNorm.forward`."""
    y = F.group_norm(x.flatten(0, -2), self.num_groups, self.weight, self.bias, self.eps)
    return y.view(x.shape)


def conv(self: Any, x: Tensor, **_: Any) -> tuple[Tensor, None]:
    """In place of `ShortConvolution.forward`."""
    y = F.conv1d(
        x.transpose(1, 2), self.weight, self.bias, padding=self.weight.shape[-1] - 1, groups=x.shape[-1]
    )
    y = y[..., : x.shape[1]].transpose(1, 2)
    return (y if self.activation is None else F.silu(y)), None


def rms_norm(self: Any, x: Tensor, residual: Tensor | None = None, prenorm: bool = False) -> Any:
    """In place of `RMSNorm.forward`."""
    total = x if residual is None else x + residual
    y = total * (total.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight
    return (y, total) if prenorm else y


def gated_norm(self: Any, x: Tensor, g: Tensor) -> Tensor:
    """In place of `FusedRMSNormGated.forward`."""
    y: Tensor = x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight
    return y * (g.sigmoid() if self.activation == "sigmoid" else F.silu(g))


def group_norm(self: Any, x: Tensor, z: Tensor) -> Tensor:
    """In place of `RMSNormGated.forward`: FLA's `rms_norm_ref`."""
    reference = import_module("fla.modules.norm.layernorm_gated").rms_norm_ref
    y: Tensor = reference(
        x, self.weight, None, z, self.eps, self.group_size, self.norm_before_gate, upcast=False
    )
    return y


def swiglu(self: Any, x: Tensor, y: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """In place of `SwiGLULinear.forward`."""
    return F.linear(F.silu(x) * y, weight, bias)


OPERATORS: dict[str, dict[str, Any]] = {
    "delta_net": {"chunk_delta_rule": delta_rule, "fused_recurrent_delta_rule": delta_rule},
    "gated_deltaproduct": {"chunk_gated_delta_product": gated_delta_product},
    "gated_deltanet": {"chunk_gated_delta_rule": gated_delta_rule},
    "kda": {"chunk_kda": kda},
    "gla": {"fused_recurrent_gla": gla, "chunk_gla": gla},
    "rwkv7": {
        "chunk_rwkv7": rwkv7, "token_shift": shift, "l2_norm": unit,
        "fused_addcmul_rwkv7": lambda x, d, *mixes: [x + d * mix for mix in mixes],
        "fused_k_rwkv7": lambda k, a, mix: k * (1 + (a - 1) * mix),
        "gate_output_correction": lambda o, r, k, w, v, g: (o + ((r * k * w).sum(-1, keepdim=True) * v).flatten(2)) * g,
    },
}  # fmt: skip


@contextmanager
def in_float64() -> Iterator[None]:
    """Within it FLA's models run on a CPU, and all that they take to float32 is in float64. Gradients must be enabled: then FLA's
    layers call their chunk operators at every length."""
    modules, mlp = import_module("fla.modules"), import_module("fla.modules.mlp")
    wide = [
        f"fla.ops.{n}.naive" for n in ("delta_rule", "gated_delta_product", "gated_delta_rule", "kda", "gla")
    ]
    with ExitStack() as stack:
        for name in (*wide, "fla.layers.mamba2"):
            stack.enter_context(mock.patch.object(import_module(name), "torch", Wide()))
        for layer, operators in OPERATORS.items():
            for operator, ours in operators.items():
                stack.enter_context(mock.patch.object(import_module(f"fla.layers.{layer}"), operator, ours))
        whole = import_module("fla.layers.gated_deltanet").GatedDeltaNet
        stack.enter_context(mock.patch.object(whole, "_use_fused_qkv_conv", return_value=False))
        gated = import_module("fla.modules.norm.layernorm_gated").RMSNormGated
        for owner, ours in (
            (gated, group_norm), (modules.ShortConvolution, conv), (modules.RMSNorm, rms_norm),
            (modules.FusedRMSNormGated, gated_norm), (mlp.SwiGLULinear, swiglu), (modules.LayerNorm, layer_norm),
            (modules.GroupNorm, norm_of_groups),
        ):  # fmt: skip
            stack.enter_context(mock.patch.object(owner, "forward", ours))
        stack.enter_context(
            mock.patch.object(import_module("fla.models.rwkv7.modeling_rwkv7"), "token_shift", shift)
        )
        stack.enter_context(mock.patch.object(torch.Tensor, "float", torch.Tensor.double))
        yield
