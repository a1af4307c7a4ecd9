"""Layers for many seeds at once: every parameter has a leading dimension, one entry a seed, and nothing mixes them.

Activations are `[seeds, batch, tokens, width]`. Training is bistable in this subject, so one process trains many
seeds of one model side by side: the same work for a GPU as one larger batch.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...kernels import rms_normalise, short_convolution


class SeededLinear(nn.Module):
    """`x Wᵀ + b` for each seed; weight `[seeds, out, in]`."""

    def __init__(self, inputs: int, outputs: int, *, bias: bool = False) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(1, outputs, inputs))
        nn.init.uniform_(self.weight, -(inputs**-0.5), inputs**-0.5)
        self.bias = nn.Parameter(torch.zeros(1, outputs)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """`[seeds, batch, tokens, in]` to `[seeds, batch, tokens, out]`."""
        seeds, batch, tokens, _ = x.shape
        if seeds == 1:
            return F.linear(x, self.weight[0], None if self.bias is None else self.bias[0])
        rows = x.reshape(seeds, batch * tokens, -1)
        weight = self.weight.transpose(1, 2)
        y = torch.bmm(rows, weight) if self.bias is None else torch.baddbmm(self.bias[:, None], rows, weight)
        return y.view(seeds, batch, tokens, -1)


class SeededEmbedding(nn.Module):
    """A row for each letter; weight `[seeds, letters, width]`."""

    def __init__(self, letters: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, letters, width))

    def forward(self, letters: Tensor) -> Tensor:
        """Letters `[seeds or 1, batch, tokens]` to `[seeds, batch, tokens, width]`."""
        seeds, count = self.weight.shape[:2]
        first = count * torch.arange(seeds, device=letters.device)  # where each seed's rows begin
        return F.embedding(letters + first[:, None, None], self.weight.flatten(0, 1))


class SeededRMSNorm(nn.Module):
    """Root-mean-square norm over the last dimension; weight `[seeds, width]`, or `[seeds, ...]` for heads."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1, *shape))

    def forward(self, x: Tensor, *, cast: bool = True) -> Tensor:
        """`[seeds, batch, tokens, ...]` in its dtype, or the one that autocast gives to linear maps if it is to be cast."""
        narrow = cast and torch.is_autocast_enabled(x.device.type)
        return rms_normalise(
            x, self.weight, dtype=torch.get_autocast_dtype(x.device.type) if narrow else None
        )


class SeededConv(nn.Module):
    """A short causal convolution, each channel by itself; weight `[seeds, width, taps]`, the last tap is the present."""

    def __init__(self, width: int, taps: int) -> None:
        super().__init__()
        self.taps = taps
        self.weight = nn.Parameter(torch.empty(1, width, taps))
        nn.init.uniform_(self.weight, -(taps**-0.5), taps**-0.5)

    def forward(self, x: Tensor, before: Tensor | None) -> tuple[Tensor, Tensor]:
        """`[seeds, batch, tokens, width]` and the last taps - 1 inputs before it; the same of the present ones."""
        y = short_convolution(x, self.weight, before)
        if before is None:
            before = x.new_zeros(*x.shape[:2], self.taps - 1, x.shape[3])
        kept = torch.cat([before.to(x.dtype), x[:, :, 1 - self.taps :]], 2)
        return y, kept[:, :, 1 - self.taps :]
