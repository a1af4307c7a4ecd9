"""The LSTM's mixer, a baseline that is not linear: torch's own, one for each seed."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .._config import ModelConfig
from .._families import Family
from ._seeded import State


class LSTM(nn.Module):
    """`torch.nn.LSTM` of the model's width.

    Args:
        config: a configuration of the family `lstm`; its `width` is read.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.by_seed = nn.ModuleList([nn.LSTM(config.width, config.width, batch_first=True)])

    def begin(self, x: Tensor) -> State:
        """The state before the first token, which is zero.

        Args:
            x: the inputs that follow, `[replicas, batch, tokens, width]`.

        Returns:
            h and c, `[replicas, batch, 1, width]`.
        """
        zeros = x.new_zeros(*x.shape[:2], 1, x.shape[3])
        return {"h": zeros, "c": zeros}

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Apply the layer to tokens.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            Outputs of the shape of x, and the state after the tokens: h and c, `[replicas, batch, 1, width]`.
        """
        outputs, hs, cs = [], [], []
        for s, cell in enumerate(self.by_seed):
            before = None
            if state:
                before = (
                    state["h"][s].transpose(0, 1).contiguous(),
                    state["c"][s].transpose(0, 1).contiguous(),
                )
            y, (h, c) = cell(x[s], before)
            outputs.append(y)
            hs.append(h.transpose(0, 1))
            cs.append(c.transpose(0, 1))
        return torch.stack(outputs), {"h": torch.stack(hs), "c": torch.stack(cs)}


FAMILIES = (
    Family(
        "lstm",
        LSTM,
        "c ← f ⊙ c + i ⊙ z, h = o ⊙ tanh c, with gates that depend on h",
        "none: it is not linear in its state",
        baseline=True,
        work=lambda config, tokens: 0,  # its products are those of its gates' maps
    ),
)
