"""Floating-point operations of a model, counted from its shapes: products and sums, each as one operation.

Counted are matrix products, convolutions and recurrences. What is done once for each entry of the stream (norms, activations, the
softmax of the loss) is left out, as is usual: it grows with the width, and the products with its square.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from .._config import ModelConfig
from .._families import find_family
from .._model import Block, Model
from ..layers._seeded import SeededConv, SeededLinear

Linear = SeededLinear | nn.Linear


@dataclass(frozen=True)
class Flops:
    """Operations for one token of one seed.

    Attributes:
        linear: linear maps of the blocks, forward.
        read_out: the map to the classes, forward.
        convolution: short convolutions, forward.
        recurrence: the recurrences of all layers, forward; None where the family does not say.
        backward: all gradients.
        recomputed: what checkpointing computes a second time.
    """

    linear: int
    read_out: int
    convolution: int
    recurrence: int | None
    backward: int
    recomputed: int

    @property
    def forward(self) -> int:
        """The forward pass."""
        return self.linear + self.read_out + self.convolution + (self.recurrence or 0)

    @property
    def total(self) -> int:
        """A training step."""
        return self.forward + self.backward + self.recomputed


def count_flops(model: Model, tokens: int, *, checkpointing: bool = False) -> Flops:
    """Count the operations of a training for each token, from the shapes of a model; no data are read, so it may be on the meta device.

    Args:
        model: a model of one seed. Parts without gradients are frozen.
        tokens: tokens of a word, at least 1, by which attention and the last chunk of a recurrence depend.
        checkpointing: whether each block is computed a second time for its gradients.

    Returns:
        The numbers for one token, on average over the word, rounded down.
    """
    config = model.config
    linear = convolution = backward = 0
    for block in model.blocks:
        assert isinstance(block, Block)
        for module in block.modules():
            work, trained = _work_of(module)
            if isinstance(module, SeededConv):
                convolution += work
            else:
                linear += work
            # y = W x has two gradients, dW = dy xᵀ and dx = Wᵀ dy, each as much work as y; a frozen map has the second alone
            backward += (1 + trained) * work
    recurrence = count_recurrence(config, tokens)
    # as for a map: each product of the recurrence has the gradients of both its factors
    backward += 2 * (recurrence or 0)
    head = model.embedding.weight if model.head is None else model.head.weight
    read_out = 2 * head.shape[-2] * head.shape[-1]  # a product and a sum for each weight
    backward += (1 + head.requires_grad) * read_out
    again = linear + convolution + (recurrence or 0) if checkpointing else 0
    return Flops(linear, read_out, convolution, recurrence, backward, again)


def count_recurrence(config: ModelConfig, tokens: int) -> int | None:
    """The recurrences of all layers for one token, forward, as the family's record counts them."""
    work = find_family(config.family).work
    return None if work is None else config.layers * int(work(config, tokens))


def _work_of(module: nn.Module) -> tuple[int, bool]:
    """Operations of a module's own weights for a token, and whether they are trained."""
    if isinstance(module, Linear | SeededConv):
        # a linear map: a product and a sum for each of its weights [out, in]; a convolution: for each channel and tap
        size = (
            module.weight[0].numel()
            if isinstance(module, SeededLinear | SeededConv)
            else module.weight.numel()
        )
        return 2 * size, module.weight.requires_grad
    if isinstance(module, nn.LSTM):
        # four gates, each a map of the inputs and one of the state before
        weights = [p for name, p in module.named_parameters() if name.startswith("weight")]
        return 2 * sum(p.numel() for p in weights), any(p.requires_grad for p in weights)
    return 0, False
