"""FLA's own model classes on a CPU: its Triton operators replaced by its naive functions and plain torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.nn import functional as F


def unit(x: Tensor) -> Tensor:
    """As FLA's `l2norm_fwd`: float32 inside, the input's dtype outside."""
    y = x.float()
    return (y / (y.square().sum(-1, keepdim=True) + 1e-6).sqrt()).to(x.dtype)


def delta_rule(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, **options: Any) -> tuple[Tensor, Tensor]:
    """In place of `chunk_delta_rule` and `fused_recurrent_delta_rule`; `[B, T, H, ·]` as they have it."""
    if options.pop("use_qk_l2norm_in_kernel"):
        q, k = unit(q), unit(k)
    assert options.pop("initial_state") is None
    assert options.pop("cu_seqlens") is None
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    naive = import_module("fla.ops.delta_rule.naive").delta_rule_recurrence
    o, state = naive(q, k, v, beta.transpose(1, 2))
    return o.transpose(1, 2), state


def gated_delta_product(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, num_householder: int = 1, **options: Any
) -> tuple[Tensor, Tensor]:
    """In place of `chunk_gated_delta_product`, which norms keys before its kernels, into their dtype."""
    assert options.pop("use_qk_l2norm_in_kernel")
    return _product(unit(q), unit(k), v, beta, num_householder, options)


def gated_delta_rule(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, **options: Any) -> tuple[Tensor, Tensor]:
    """In place of `fused_recurrent_gated_delta_rule`, which norms keys in its kernel, in float32; each factor has a query."""
    assert options.pop("use_qk_l2norm_in_kernel")
    o, state = _product(unit(q.float()), unit(k.float()), v, beta, 1, options)
    return o.to(q.dtype), state


def _product(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, factors: int, options: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    assert options.pop("initial_state") is None
    assert options.pop("cu_seqlens") is None
    naive = import_module("fla.ops.gated_delta_product.naive").naive_recurrent_gated_delta_product
    o, state = naive(q, k, v, options.pop("g"), beta, q.shape[-1] ** -0.5, num_householder=factors)
    return o, state


def rms_norm(self: Any, x: Tensor, residual: Tensor | None = None, prenorm: bool = False) -> Any:
    """In place of `RMSNorm.forward`: FLA's `rms_norm_ref`."""
    reference = import_module("fla.modules.norm.layernorm").rms_norm_ref
    y = reference(x, self.weight, None, residual, self.eps, prenorm, upcast=True)
    return (y[0].to(x.dtype), y[1].to(x.dtype)) if prenorm else y.to(x.dtype)


def swiglu(self: Any, x: Tensor, y: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """In place of `SwiGLULinear.forward`."""
    return F.linear(F.silu(x) * y, weight, bias)


@contextmanager
def on_cpu() -> Iterator[None]:
    """FLA's DeltaNet and GatedDeltaProduct models run on a CPU within it."""
    delta, product = import_module("fla.layers.delta_net"), import_module("fla.layers.gated_deltaproduct")
    modules = import_module("fla.modules")
    mlp = import_module("fla.modules.mlp")
    with (
        mock.patch.object(delta, "chunk_delta_rule", delta_rule),
        mock.patch.object(delta, "fused_recurrent_delta_rule", delta_rule),
        mock.patch.object(product, "chunk_gated_delta_product", gated_delta_product),
        mock.patch.object(product, "fused_recurrent_gated_delta_rule", gated_delta_rule),
        mock.patch.object(modules.RMSNorm, "forward", rms_norm),
        mock.patch.object(mlp.SwiGLULinear, "forward", swiglu),
    ):
        yield


def load(folder: str, dtype: torch.dtype, **options: Any) -> Any:
    """FLA's own model of a checkpoint folder, and no key missing or left over; `options`: of its configuration."""
    import_module("fla.models")  # registers its classes
    automatic = import_module("transformers").AutoModelForCausalLM

    model, report = automatic.from_pretrained(folder, dtype=dtype, output_loading_info=True, **options)
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs"):
        assert not report[kind], (kind, report[kind])
    return model.eval()
