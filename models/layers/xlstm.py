"""sLSTM and mLSTM mixers, baselines: those of the `xlstm` package (an extra), one for each seed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from ...constructions.errors import InputError
from ..config import ModelConfig
from .projections import State

CONTEXT = 2_048
"""Most tokens of a training sequence of the mLSTM, whose parallel form has a mask of that size."""


def _package() -> Any:
    try:
        return import_module("xlstm")
    except ImportError:
        raise InputError("slstm and mlstm need the package xlstm: pip install 'mirrormata[xlstm]'") from None


class SLSTM(nn.Module):
    """`xlstm.sLSTMLayer` in plain torch (its CUDA kernels would be compiled on the spot)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        xlstm = _package()
        self.taps = config.conv
        layer = xlstm.sLSTMLayer(
            xlstm.sLSTMLayerConfig(
                embedding_dim=config.width, num_heads=config.heads, conv1d_kernel_size=config.conv,
                backend="vanilla", dtype="float32",
            )
        )  # fmt: skip
        layer.reset_parameters()
        self.by_seed = nn.ModuleList([layer])

    def begin(self, x: Tensor) -> State:
        """Zeros."""
        seeds, batch, _, width = x.shape
        state = State(slstm=x.new_zeros(seeds, batch, 4, width))
        if self.taps:
            state["conv"] = x.new_zeros(seeds, batch, self.taps - 1, width)
        return state

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """`[seeds, batch, tokens, width]` to the same; `state["slstm"]`: `[seeds, batch, 4, width]`."""
        outputs, kept, convs = [], [], []
        for s, layer in enumerate(self.by_seed):
            y, after = layer(
                x[s],
                conv_state=state["conv"][s].contiguous() if state and self.taps else None,
                slstm_state=state["slstm"][s].transpose(0, 1).contiguous() if state else None,
                return_last_state=True,
            )
            outputs.append(y)
            kept.append(after["slstm_state"].transpose(0, 1))
            convs.append(after["conv_state"])
        result = State(slstm=torch.stack(kept))
        if self.taps:
            result["conv"] = torch.stack(convs)
        return torch.stack(outputs), result


class MLSTM(nn.Module):
    """`xlstm.mLSTMLayer`: its parallel form in training, its steps, which carry a state, otherwise."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        xlstm = _package()
        layer = xlstm.mLSTMLayer(
            xlstm.mLSTMLayerConfig(
                embedding_dim=config.width, num_heads=config.heads, conv1d_kernel_size=max(config.conv, 2),
                context_length=CONTEXT,
            )
        )  # fmt: skip
        self.by_seed = nn.ModuleList([layer])

    def begin(self, x: Tensor) -> State:
        """Zeros."""
        layer: Any = self.by_seed[0]
        width, heads = layer.config._inner_embedding_dim, layer.config.num_heads
        head, taps = width // heads, layer.config.conv1d_kernel_size
        before = x.shape[:2]
        return State(
            c=x.new_zeros(*before, heads, head, head), n=x.new_zeros(*before, heads, head, 1),
            m=x.new_zeros(*before, heads, 1, 1), conv=x.new_zeros(*before, taps, width),
        )  # fmt: skip

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """`[seeds, batch, tokens, width]` to the same; no state comes out of training."""
        if self.training and state is None:
            if x.shape[2] > CONTEXT:
                raise InputError(
                    f"mlstm: {x.shape[2]:,} tokens are more than the {CONTEXT:,} of its parallel form"
                )
            return torch.stack([layer(x[s]) for s, layer in enumerate(self.by_seed)]), State()
        state = state or self.begin(x)
        outputs = []
        afters: dict[str, list[Tensor]] = {name: [] for name in state}
        for s, module in enumerate(self.by_seed):
            layer: Any = module
            conv: tuple[Tensor, ...] = (state["conv"][s].clone(),)  # its step writes in place
            cell: tuple[Tensor, ...] = (state["c"][s], state["n"][s], state["m"][s])
            ys = []
            for t in range(x.shape[2]):
                y, after = layer.step(x[s, :, t : t + 1], mlstm_state=cell, conv_state=conv)
                cell, conv = after["mlstm_state"], after["conv_state"]
                ys.append(y)
            outputs.append(torch.cat(ys, 1))
            for name, value in zip(("c", "n", "m", "conv"), (*cell, *conv), strict=True):
                afters[name].append(value)
        return torch.stack(outputs), {name: torch.stack(values) for name, values in afters.items()}
