"""Our model with flash-linear-attention's layers in place of its mixers, with the same weights."""

from __future__ import annotations

import os
import sys
import warnings
from copy import deepcopy
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Block, Model
from mirrormata.models.layers.delta_product import DeltaProduct


class PeerMixer(nn.Module):
    """An FLA layer behind the interface of a mixer: one seed, no state carried."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        inner = config.heads * config.head_dim
        common: dict[str, Any] = {
            "hidden_size": config.width, "num_heads": config.heads, "use_short_conv": False, "allow_neg_eigval": True,
            "norm_eps": 1e-6 / config.head_dim,  # it scales outputs by head_dim ** -0.5, ours does not
        }  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it advises short convolutions
            if config.householders == 1:
                ratio = inner / config.width
                self.layer = layer("delta_net", "DeltaNet")(
                    expand_k=ratio, expand_v=ratio, use_gate=False, **common
                )
            else:
                self.layer = layer("gated_deltaproduct", "GatedDeltaProduct")(
                    head_dim=config.head_dim, expand_v=1.0, num_householder=config.householders,
                    use_output_gate=False, use_forget_gate=False, **common,
                )  # fmt: skip

    def forward(self, x: Tensor, state: dict[str, Tensor] | None) -> tuple[Tensor, dict[str, Tensor]]:
        """`[1, batch, tokens, width]` to the same."""
        return self.layer(x[0])[0][None], {}

    def copy(self, ours: DeltaProduct) -> None:
        """Our mixer's weights; both order the outputs of projections by factor, head, entry."""
        assert ours.value is not None
        pairs = {
            "q_proj": ours.query.linear, "k_proj": ours.key.linear, "v_proj": ours.value.linear,
            "b_proj": ours.beta, "o_proj": ours.read_out.linear,
        }  # fmt: skip
        with torch.no_grad():
            for name, linear in pairs.items():
                getattr(self.layer, name).weight.copy_(linear.weight[0])


def peer_model(ours: Model, device: torch.device) -> Model:
    """A copy of our one-seed model with the peer's mixers."""
    model = deepcopy(ours)
    for block in model.blocks:
        assert isinstance(block, Block)
        assert isinstance(block.mixer, DeltaProduct)
        mixer = PeerMixer(ours.config)
        mixer.copy(block.mixer)
        block.mixer = mixer
    return model.to(device)


def layer(module: str, name: str) -> Any:
    """A class of `fla.layers`.

    The package's own start imports all its layers, some of which need transformers; without it, ours is loaded alone.
    """
    if find_spec("transformers") is None and "fla.layers" not in sys.modules:
        package = ModuleType("fla.layers")
        package.__path__ = [os.path.join(path, "layers") for path in import_module("fla").__path__]
        sys.modules["fla.layers"] = package
    return getattr(import_module(f"fla.layers.{module}"), name)
