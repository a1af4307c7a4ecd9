"""Families with FLA's wiring against FLA's own layers with the same weights, in float64 by its naive functions (`mirrormata[fla]`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from unittest import mock

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from mirrormata.models._config import ModelConfig
from mirrormata.models._families import find_family
from mirrormata.models.layers._seeded import State

from .fla_float64 import (
    Wide,
    conv,
    gated_delta_rule,
    gated_norm,
    group_norm,
    kda,
    rms_norm,
    rwkv7,
    shift,
    unit,
)

pytest.importorskip("fla.layers", reason="needs mirrormata[fla]")

WIDTH = 12


def gdn2(q: Tensor, k: Tensor, **options: Any) -> Any:
    """In place of `chunk_gdn2`."""
    naive = import_module("fla.ops.gdn2.naive").naive_recurrent_gdn2
    for name in ("use_qk_l2norm_in_kernel", "cu_seqlens"):
        options.pop(name)
    return naive(unit(q), unit(k), **options)


@contextmanager
def in_float64() -> Iterator[None]:
    """FLA's layers on a CPU, with everything that they take to float32 in float64."""
    modules = import_module("fla.modules")
    with ExitStack() as stack:
        for name in ("gated_delta_rule", "kda", "gdn2"):
            stack.enter_context(mock.patch.object(import_module(f"fla.ops.{name}.naive"), "torch", Wide()))
        for layer, operator, ours in (
            ("gated_deltanet", "chunk_gated_delta_rule", gated_delta_rule),
            ("kda", "chunk_kda", kda),
            ("gdn2", "chunk_gdn2", gdn2),
            ("rwkv7", "chunk_rwkv7", rwkv7),
            ("rwkv7", "token_shift", shift),
            ("rwkv7", "fused_addcmul_rwkv7", lambda x, d, *mixes: [x + d * mix for mix in mixes]),
            ("rwkv7", "fused_k_rwkv7", lambda k, a, mix: k * (1 + (a - 1) * mix)),
            (
                "rwkv7",
                "gate_output_correction",
                import_module("fla.ops.rwkv7.gate_output_correction").gate_output_correction_ref,
            ),
        ):
            stack.enter_context(mock.patch.object(import_module(f"fla.layers.{layer}"), operator, ours))
        gated = import_module("fla.modules.norm.layernorm_gated").RMSNormGated
        whole = import_module("fla.layers.gated_deltanet").GatedDeltaNet
        stack.enter_context(mock.patch.object(whole, "_use_fused_qkv_conv", return_value=False))
        stack.enter_context(mock.patch.object(gated, "forward", group_norm))
        stack.enter_context(mock.patch.object(modules.ShortConvolution, "forward", conv))
        stack.enter_context(mock.patch.object(modules.FusedRMSNormGated, "forward", gated_norm))
        stack.enter_context(mock.patch.object(modules.RMSNorm, "forward", rms_norm))
        stack.enter_context(mock.patch.object(torch.Tensor, "float", torch.Tensor.double))
        yield


def delta_names(extra: Mapping[str, str]) -> dict[str, str]:
    """Ours by FLA's, of layers with a delta rule."""
    names = {"o_proj.weight": "read_out.linear.weight", "o_norm.weight": "read_out.weight"}
    for letter, part in (("q", "query"), ("k", "key"), ("v", "value")):
        names[f"{letter}_proj.weight"] = f"{part}.linear.weight"
        names[f"{letter}_conv1d.weight"] = f"{part}.conv.weight"
    return {**names, "A_log": "decays.rate", "dt_bias": "decays.bias", **extra}


LOW_RANK = {
    "f_proj.0.weight": "decay.down.weight", "f_proj.1.weight": "decay.up.weight",
    "g_proj.0.weight": "read_out.gate.down.weight", "g_proj.1.weight": "read_out.gate.up.weight",
    "g_proj.1.bias": "read_out.gate.up.bias",
}  # fmt: skip
NAMES: dict[str, dict[str, str]] = {
    "gated_deltanet": delta_names(
        {"a_proj.weight": "decay.weight", "b_proj.weight": "beta.weight", "g_proj.weight": "read_out.gate.weight"}
    ),
    "kda": delta_names({**LOW_RANK, "b_proj.weight": "beta.weight"}),
    "gated_deltanet2": delta_names({**LOW_RANK, "b_proj.weight": "erase.weight", "w_proj.weight": "write.weight"}),
    "rwkv7": {
        **{f"x_{letter}": f"mix.{part}" for letter, part in zip("rwkvag", ("query", "decay", "key", "value", "rate", "gate"), strict=True)},
        "r_proj.weight": "query.weight", "k_proj.weight": "key.weight", "v_proj.weight": "value.weight", "o_proj.weight": "output.weight",
        "k_k": "removal", "k_a": "mixing", "r_k": "bonus", "g_norm.weight": "norm_weight", "g_norm.bias": "norm_bias",
        **{
            f"{letter}_lora.lora.{place}": f"{part}.{name}"
            for letter, part in (("w", "decay"), ("a", "rate"), ("g", "gate"), ("v", "value_mixture"))
            for place, name in (("0.weight", "down.weight"), ("2.weight", "up.weight"), ("2.bias", "up.bias"))
        },
    },
    "mamba": {
        "conv1d.weight": "input.conv.weight", "conv1d.bias": "input.conv.bias", "x_proj.weight": "selection.weight",
        "dt_proj.weight": "step.weight", "dt_proj.bias": "step.bias", "A_log": "rate", "D": "skip", "out_proj.weight": "output.weight",
    },
    "mamba2": {
        "conv1d.weight": "input.conv.weight", "conv1d.bias": "input.conv.bias", "dt_bias": "decays.bias", "A_log": "decays.rate",
        "D": "skip", "norm.weight": "norm", "out_proj.weight": "output.weight",
    },
}  # fmt: skip
# the rows of FLA's `in_proj`, in their order
STACKED = {
    "mamba": ("input.linear.weight", "gate.weight"),
    "mamba2": ("gate.weight", "input.linear.weight", "step.weight"),
}
HEADS = {"hidden_size": WIDTH, "head_dim": 8, "conv_size": 3, "layer_idx": 0}
CASES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("gated_deltanet", "GatedDeltaNet", {**HEADS, "num_heads": 2, "expand_v": 0.5}, {"output_gate": True, "range": (0, 1)}),
    ("gated_deltanet", "GatedDeltaNet", {**HEADS, "num_heads": 1, "num_v_heads": 2, "expand_v": 0.5, "use_gate": False, "allow_neg_eigval": True},
     {"options": {"key_heads": 1}}),
    ("kda", "KimiDeltaAttention", {**HEADS, "num_heads": 2, "expand_v": 0.5}, {"range": (0, 1)}),
    ("kda", "KimiDeltaAttention", {**HEADS, "num_heads": 1, "num_v_heads": 2, "expand_v": 0.5, "allow_neg_eigval": True}, {"options": {"key_heads": 1}}),
    ("gated_deltanet2", "GatedDeltaNet2", {**HEADS, "num_heads": 2, "expand_v": 0.5}, {"range": (0, 1)}),
    ("gated_deltanet2", "GatedDeltaNet2", {**HEADS, "num_heads": 1, "num_v_heads": 2, "expand_v": 0.5, "allow_neg_eigval": True},
     {"options": {"key_heads": 1}}),
    ("rwkv7", "RWKV7Attention", {"hidden_size": WIDTH, "head_dim": 6, "value_dim": 8, "layer_idx": 0, "num_hidden_layers": 2, "gate_low_rank_dim": 5},
     {"head_dim": 6, "range": (0, 1), "options": {"gate_rank": 5, "key_eps": 0.0}}),
    ("rwkv7", "RWKV7Attention", {"hidden_size": WIDTH, "head_dim": 6, "layer_idx": 1, "num_hidden_layers": 2},
     {"head_dim": 6, "value_dim": 6, "range": (0, 1), "options": {"key_eps": 0.0}}),
    ("mamba", "Mamba", {"hidden_size": WIDTH, "state_size": 4, "intermediate_size": 2 * WIDTH, "conv_kernel": 3, "dt_rank": 2},
     {"range": (0, 1), "options": {"step_rank": 2}}),
    ("mamba", "Mamba", {"hidden_size": WIDTH, "state_size": 4, "intermediate_size": 3 * WIDTH, "conv_kernel": 3, "use_conv_bias": False},
     {"range": (0, 1), "options": {"expand": 3, "conv_bias": False}}),
    ("mamba2", "Mamba2", {"hidden_size": WIDTH, "head_dim": 4, "state_size": 8, "conv_kernel": 3, "chunk_size": 4},
     {"range": (0, 1), "heads": 6}),
]  # fmt: skip


def by_our_names(tensors: dict[str, Tensor], ours: Any, family: str) -> dict[str, Tensor]:
    """Tensors of FLA's parameters, their values or gradients, by our names and in our shapes; every parameter has its partner."""
    left, own = dict(tensors), dict(ours.named_parameters())
    stacked = STACKED.get(family, ())
    found: dict[str, Tensor] = {}
    if stacked:
        rows = torch.split(left.pop("in_proj.weight"), [own[name].shape[1] for name in stacked])
        found.update(zip(stacked, rows, strict=True))
    found |= {NAMES[family][name]: value for name, value in left.items()}
    assert set(found) == set(own)
    return {name: value.reshape(own[name].shape) for name, value in found.items()}


def fill(ours: Any, theirs: Any, family: str) -> None:
    """FLA's weights as ours."""
    values = by_our_names(theirs.state_dict(), ours, family)
    with torch.no_grad():
        for name, parameter in ours.named_parameters():
            parameter.copy_(values[name])


@pytest.mark.parametrize(("family", "layer", "theirs_options", "changes"), CASES)
def test_a_layer_is_flas(
    family: str, layer: str, theirs_options: dict[str, Any], changes: dict[str, Any]
) -> None:
    torch.manual_seed(0)
    theirs = getattr(import_module("fla.layers"), layer)(**theirs_options).double()
    theirs.act = F.silu
    for parameter in theirs.parameters():  # away from ones and zeros
        parameter.data += 0.1 * torch.randn_like(parameter)
    sizes = {"width": WIDTH, "heads": 2, "head_dim": 8, "value_dim": 4, "conv": 3}
    options: dict[str, Any] = {"key_eps": 1e-6} if "key_eps" in find_family(family).settings else {}
    options |= changes.pop("options", {}) if "options" in changes else {}
    config = ModelConfig(family=family, options=options, **{**sizes, **changes})
    ours: Any = find_family(family).mixer(config)
    x = torch.randn(2, 9, WIDTH, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(2, 9, WIDTH, dtype=torch.float64)
    values = torch.randn(2, 9, WIDTH, dtype=torch.float64)  # of the first layer, in the second of RWKV-7
    later = theirs_options.get("layer_idx") == 1
    if later:
        ours.read_first()
    fill(ours.double(), theirs, family)

    def run(tokens: slice, state: State | None = None) -> tuple[Tensor, State]:
        first = {"value": values[None, :, tokens].view(1, 2, -1, 2, 6)}
        given = (x[None, :, tokens], state, first) if later else (x[None, :, tokens], state)
        found: tuple[Tensor, State] = ours(*given)
        return found

    with in_float64():
        wanted = theirs(x, use_cache=False, **({"v_first": values} if later else {}))[0]
    y, _ = run(slice(9))
    torch.testing.assert_close(y[0], wanted, rtol=1e-9, atol=1e-9)
    # gradients: theirs by autograd through the naive loops
    theirs_grads = torch.autograd.grad((wanted * weights).sum(), [x, *theirs.parameters()])
    ours_grads = torch.autograd.grad((y[0] * weights).sum(), [x, *ours.parameters()])
    torch.testing.assert_close(ours_grads[0], theirs_grads[0], rtol=1e-7, atol=1e-9)
    named = {name: grad for (name, _), grad in zip(theirs.named_parameters(), theirs_grads[1:], strict=True)}
    partners = by_our_names(named, ours, family)
    for (name, _), grad in zip(ours.named_parameters(), ours_grads[1:], strict=True):
        assert torch.allclose(grad, partners[name], rtol=1e-7, atol=1e-9), name
    # token by token, the state carried on
    state: State | None = None
    for t in range(x.shape[1]):
        step, state = run(slice(t, t + 1), state)
        torch.testing.assert_close(step[0, :, 0], wanted[:, t], rtol=1e-6, atol=1e-6)


def test_heads_of_a_group_are_neighbours() -> None:
    """As in transformers and in Mamba-2's kernels; FLA's path in plain torch gives heads to groups in turn, unlike its kernels."""
    transformers = import_module("transformers")
    mixer = import_module("transformers.models.mamba2.modeling_mamba2").Mamba2Mixer
    torch.manual_seed(1)
    sizes = {"hidden_size": WIDTH, "num_heads": 6, "head_dim": 4, "state_size": 8, "n_groups": 2}
    theirs = mixer(transformers.Mamba2Config(**sizes, expand=2, conv_kernel=3, chunk_size=4), 0).double()
    for parameter in theirs.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    config = ModelConfig(
        family="mamba2", width=WIDTH, heads=6, head_dim=8, value_dim=4, conv=3, range=(0, 1), options={"groups": 2},
    )  # fmt: skip
    ours: Any = find_family("mamba2").mixer(config).double()
    fill(ours, theirs, "mamba2")
    x = torch.randn(2, 9, WIDTH, dtype=torch.float64)
    torch.testing.assert_close(ours(x[None])[0][0], theirs(x), rtol=1e-6, atol=1e-6)  # its norm is in float32


def test_the_default_keys_have_the_length_one() -> None:
    """FLA's ε makes them shorter, so a reflection is none: see `key_eps`."""
    config = ModelConfig(family="kda", width=WIDTH, heads=2, head_dim=8, value_dim=4)
    shorter = ModelConfig(
        family="kda", width=WIDTH, heads=2, head_dim=8, value_dim=4, options={"key_eps": 1e-2}
    )
    x = torch.randn(1, 2, 5, WIDTH, dtype=torch.float64)
    make: Callable[[Any], Any] = find_family("kda").mixer
    lengths = [make(c).double().project(x, {}, {})[1].norm(dim=-1) for c in (config, shorter)]
    torch.testing.assert_close(lengths[0], torch.ones_like(lengths[0]), rtol=1e-12, atol=1e-12)
    assert (lengths[1] < 1 - 1e-3).all()
