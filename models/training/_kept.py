"""What a step keeps for its gradients, found by running the forward pass of the model on tensors that have shapes and no data."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakSet

import msgspec
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from ...kernels._backends import launch_nothing
from .._config import ModelConfig
from .._model import Model
from ._loss import sum_losses

MOST_LAYERS = 2
"""Blocks of the models that are run: all blocks after the first are alike, so the second says what each of them keeps."""
PERIOD = 64
"""Tokens after which chunks begin again: longer words keep the same for each further so many tokens."""
LONG = 4 * PERIOD
"""Tokens from which on that is used, since layers in plain torch run token by token."""


@dataclass(frozen=True)
class Kept:
    """Bytes of one part of a batch.

    Attributes:
        blocks: what all blocks keep for the gradients.
        around: what embedding, last norm, read-out and loss keep.
        block: what one block keeps.
        stream: the residual stream at one place.
    """

    blocks: int
    around: int
    block: int
    stream: int

    def bytes(self, layers: int, checkpointing: bool) -> int:
        """What is in memory when the backward pass begins; with checkpointing the stream before each block, and one block's own."""
        if not checkpointing:
            return self.blocks + self.around
        return layers * self.stream + self.block + self.around


def measure_kept(
    config: ModelConfig,
    seeds: int,
    words: int,
    tokens: int,
    precision: Literal["fp32", "bf16"],
    *,
    labels: int | None = None,
    label_smoothing: float = 0.0,
    kernels: bool = False,
) -> Kept:
    """Find what a forward pass keeps for the gradients: exactly what plain torch keeps on a CPU, each storage once, parameters left out.

    Args:
        config: the configuration of the model.
        seeds: the number of models side by side, at least 1.
        words: the words of each seed that are in memory at once, at least 1.
        tokens: tokens of a word, at least 1.
        precision: of the training.
        labels: labels of the task where several classes can stand for one; None for as many as classes.
        label_smoothing: of the loss.
        kernels: whether the Triton kernels run, which keep other tensors than plain torch.

    Returns:
        Bytes.
    """

    def measure(layers: int, length: int) -> tuple[int, int, int]:
        return _bytes_of(
            msgspec.structs.replace(config, layers=layers), seeds, words, length, precision, labels or config.labels,
            label_smoothing, kernels,
        )  # fmt: skip

    def measure_long(layers: int) -> tuple[int, int, int]:
        if tokens <= LONG:
            return measure(layers, tokens)
        short = PERIOD + tokens % PERIOD
        low, high = measure(layers, short), measure(layers, short + PERIOD)
        periods = (tokens - short) // PERIOD
        first, second, third = (x + periods * (y - x) for x, y in zip(low, high, strict=True))
        return first, second, third

    found = [measure_long(n) for n in range(1, min(config.layers, MOST_LAYERS) + 1)]
    (first, around, stream), (second, _, _) = found[0], found[-1]
    block = second - first if len(found) > 1 else first - around
    return Kept(first - around + (config.layers - 1) * block, around, block, stream)


def _bytes_of(
    config: ModelConfig,
    seeds: int,
    words: int,
    tokens: int,
    precision: str,
    labels: int,
    label_smoothing: float,
    kernels: bool,
) -> tuple[int, int, int]:
    """What the whole forward pass keeps, what of that is kept around the blocks, and the size of the stream."""
    saved: WeakSet[_Saved] = WeakSet()  # what nothing leads to any more is gone
    place = [False]
    stream: list[Tensor] = []
    with ExitStack() as stack:
        stack.enter_context(FakeTensorMode())
        if kernels:
            stack.enter_context(launch_nothing())
        model = Model(config, range(seeds))
        own = {p.untyped_storage()._cdata for p in model.parameters()}

        def enter(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            place[0] = True
            stream.append(inputs[0])

        def leave(*_: Any) -> None:
            place[0] = False

        def save(x: Tensor) -> _Saved:
            one = _Saved(x, place[0])
            saved.add(one)
            return one

        model.blocks[0].register_forward_pre_hook(enter)
        model.blocks[-1].register_forward_hook(leave)
        letters = torch.zeros(seeds, words, tokens, dtype=torch.int64)
        stack.enter_context(torch.autograd.graph.saved_tensors_hooks(save, lambda one: one.value))
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            logits, states = model(letters)
        losses, _ = sum_losses(logits, letters, config, labels, label_smoothing, torch.ones(seeds))
        kept: dict[bool, dict[int, int]] = {True: {}, False: {}}
        for one in saved:
            storage = one.value.untyped_storage()
            if storage._cdata not in own:
                kept[one.in_blocks][storage._cdata] = storage.nbytes()
        del losses, states  # until here, as in a training
    inside, outside = kept[True], {key: size for key, size in kept[False].items() if key not in kept[True]}
    around = sum(outside.values())
    return sum(inside.values()) + around, around, stream[0].untyped_storage().nbytes()


class _Saved:
    """A tensor that a node of autograd's graph keeps."""

    def __init__(self, value: Tensor, in_blocks: bool) -> None:
        self.value, self.in_blocks = value, in_blocks
