"""What a training needs of a device's memory, counted before it begins: too large a model or batch is refused in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import msgspec
import torch

from ...foundation._errors import InputError, LimitError
from .._config import ModelConfig
from .._families import find_family
from .._model import model_on_meta
from ._experiment import TrainSettings
from ._processes import Processes

BYTES_A_NUMBER = 4
"""Weights, gradients and the optimizer's averages are in float32."""


def bytes_a_parameter(train: TrainSettings) -> int:
    """Bytes for each parameter: weight, gradient and Adam's two averages, and the average of the weights where there is one."""
    return BYTES_A_NUMBER * (5 if train.ema else 4)


def check_memory(config: ModelConfig, train: TrainSettings, processes: Processes) -> None:
    """`LimitError` where the parameters alone, as training keeps them, are more than the devices have in all."""
    number = count_parameters(config, train.seeds)
    needed, there = bytes_a_parameter(train) * number, memory_of(processes.device)
    shards = processes.count if processes.sharded else 1
    if needed > there * shards:
        raise LimitError(
            f"train: {number:,} parameters need {needed / 1e9:,.0f} GB with their gradients and Adam's averages, "
            f"{processes.device} has {there / 1e9:,.0f} GB; take a smaller model, fewer seeds, or FSDP on more devices"
        )


def count_parameters(config: ModelConfig, seeds: Sequence[int] = (0,)) -> int:
    """The number of parameters of all seeds' models, with no memory taken for them."""
    # all blocks are alike: two models without data, of one block and of two, say how many each block adds
    one, two = (
        _count_of(msgspec.structs.replace(config, layers=n), seeds) for n in (1, min(config.layers, 2))
    )
    return one + (config.layers - 1) * (two - one)


def _count_of(config: ModelConfig, seeds: Sequence[int]) -> int:
    return sum(p.numel() for p in model_on_meta(config, seeds).parameters())


def check_batch(config: ModelConfig, train: TrainSettings, longest: int, processes: Processes) -> None:
    """Whether a step's words can be divided as `accumulate` asks, and a part's activations fit into the devices' memory.

    Raises:
        InputError: there are fewer words than parts.
        LimitError: what a part keeps for its gradients, by `activations`, is more than the devices have in all.
    """
    parts = train.accumulate * processes.count
    if train.batch < parts:
        raise InputError(
            f"train.accumulate is {train.accumulate:,}: a batch of {train.batch:,} words has fewer words than the {parts:,} parts "
            "into which all processes divide it; raise train.batch or lower train.accumulate"
        )
    replicas, words = len(train.seeds), -(-train.batch // train.accumulate)
    size = 2 if train.precision == "bf16" else BYTES_A_NUMBER
    a_token = activations(config, processes.device.type == "cuda", train.checkpointing)
    needed = size * a_token * replicas * words * longest
    there = memory_of(processes.device)
    if needed > there * processes.count:  # which share a batch's words
        at_once = f", {words:,} at once" if train.accumulate > 1 else ""
        keeping = "" if train.checkpointing else ", or set train.checkpointing"
        raise LimitError(
            f"train.batch is {train.batch:,}{at_once}: with words of {longest:,} letters and {replicas:,} seeds a step needs at least "
            f"{needed / 1e9:,.0f} GB, {processes.device} has {there / 1e9:,.0f} GB; "
            f"lower train.batch, train.lengths or the number of seeds, raise train.accumulate{keeping}"
        )


def activations(config: ModelConfig, kernels: bool = False, checkpointing: bool = False) -> int:
    """Numbers that are kept for the gradients for each token of a seed's words, at least.

    layers · (4 width + 4 hidden + mixer) + classes: of a layer what its mixer and its MLP (`hidden` wide) read and give, the
    MLP's two halves, their activation and product; mixer: what the family's record counts. With checkpointing each layer
    keeps its `width` inputs, and one layer at a time has the rest.
    """
    hidden = round(config.mlp * config.width)
    mixer = find_family(config.family).kept(config, kernels)
    block = 4 * config.width + 4 * hidden + mixer
    blocks = config.layers * config.width + block if checkpointing else config.layers * block
    return min(blocks, config.layers * block) + config.classes


def memory_of(device: torch.device) -> int:
    """Bytes that the device, or the machine, has; no limit where the system does not tell, as Windows."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    if not hasattr(os, "sysconf"):
        return sys.maxsize
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
