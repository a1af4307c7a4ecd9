"""The causal Transformer's mixer, a baseline: rotary positions, torch's scaled dot-product attention."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .._config import ModelConfig
from .._families import Family
from ._seeded import SeededLinear, State, split_heads


class Attention(nn.Module):
    """Softmax attention over all tokens so far; its state is all keys and values so far.

    Args:
        config: a configuration of the family `transformer`; `width` is a multiple of 2 · `heads`.

    Source: arXiv 1706.03762, with rotary positions (arXiv 2104.09864).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.inputs = SeededLinear(config.width, 3 * config.width)
        self.output = SeededLinear(config.width, config.width)

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Apply the layer to tokens.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            Outputs of the shape of x, and all keys and values, `[replicas, batch, heads, tokens so far, width / heads]`.
        """
        replicas, batch, tokens, _ = x.shape
        q, k, v = (split_heads(y, self.heads).transpose(2, 3) for y in self.inputs(x).chunk(3, -1))
        past = 0 if not state else state["key"].shape[3]
        q, k = rotate_by_position(q, past), rotate_by_position(k, past)
        if state:
            k, v = torch.cat([state["key"], k], 3), torch.cat([state["value"], v], 3)
        mask = None
        if past:
            mask = torch.ones(tokens, past + tokens, dtype=torch.bool, device=x.device).tril(past)
        o = F.scaled_dot_product_attention(
            q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), attn_mask=mask, is_causal=mask is None
        )
        o = o.view(replicas, batch, *o.shape[1:]).transpose(2, 3).flatten(3)
        return self.output(o), {"key": k, "value": v}


def rotate_by_position(x: Tensor, past: int) -> Tensor:
    """Rotary positions (arXiv 2104.09864), halves as real and imaginary parts; x `[..., tokens, width]`."""
    half = x.shape[-1] // 2
    rates = 10_000 ** (-torch.arange(half, device=x.device) / half)
    angle = (past + torch.arange(x.shape[-2], device=x.device))[:, None] * rates
    re, im = x.float().chunk(2, -1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([re * cos - im * sin, re * sin + im * cos], -1).to(x.dtype)


def width_problems(config: ModelConfig) -> Iterator[str]:
    """Heads share the width, and rotations take a head's entries in pairs."""
    if config.width % (2 * config.heads):
        yield f"width {config.width} is no multiple of 2 · heads = {2 * config.heads}, as attention needs: choose one"


def count_work(config: ModelConfig, tokens: int) -> float:
    """Operations of a token: q·k and the sum of values, 2 width each, for every token so far, of which there are (tokens + 1) / 2 on average."""
    return 4 * config.width * (tokens + 1) / 2


FAMILIES = (
    Family(
        "transformer",
        Attention,
        "softmax attention over all tokens so far",
        "none: its state grows with the word",
        ("heads",),
        baseline=True,
        fixed_state=False,
        problems=width_problems,
        work=count_work,
    ),
)
