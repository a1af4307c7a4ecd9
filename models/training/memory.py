"""Whether a model and its batches can be trained in a device's memory, asked before anything is written or allocated."""

from __future__ import annotations

import os
from collections.abc import Sequence

import torch

from ...constructions.errors import LimitError
from ...kernels.scans.selective import KEPT_EVERY
from ..config import KEYED, ModelConfig
from ..model import Model
from .experiment import TrainSettings
from .processes import Processes

BYTES_A_PARAMETER = 16
"""Weight, gradient and Adam's two averages in float32."""


def check_memory(config: ModelConfig, seeds: Sequence[int], processes: Processes) -> None:
    """`LimitError` where the parameters alone, as training keeps them, are more than the devices have in all."""
    with torch.device("meta"):  # shapes without data
        number = sum(p.numel() for p in Model(config, seeds).parameters())
    needed, there = BYTES_A_PARAMETER * number, memory_of(processes.device)
    shards = processes.count if processes.sharded else 1
    if needed > there * shards:
        raise LimitError(
            f"train: {number:,} parameters need {needed / 1e9:,.0f} GB with their gradients and Adam's averages, "
            f"{processes.device} has {there / 1e9:,.0f} GB; take a smaller model, fewer seeds, or FSDP on more devices"
        )


def check_batch(config: ModelConfig, train: TrainSettings, longest: int, processes: Processes) -> None:
    """`LimitError` where what a step keeps for its gradients, by `activations`, is more than the devices have in all."""
    seeds = len(train.seeds)
    size = 2 if train.precision == "bf16" else 4
    needed = size * activations(config, processes.device.type == "cuda") * seeds * train.batch * longest
    there = memory_of(processes.device)
    if needed > there * processes.count:  # which share a batch's words
        raise LimitError(
            f"train.batch is {train.batch:,}: with words of {longest:,} letters and {seeds:,} seeds a step needs at least "
            f"{needed / 1e9:,.0f} GB, {processes.device} has {there / 1e9:,.0f} GB; "
            "lower train.batch, train.lengths or the number of seeds"
        )


def activations(config: ModelConfig, kernels: bool = False) -> int:
    """Numbers that are kept for the gradients for each token of a seed's words, at least.

    layers · (4 width + 4 hidden + mixer) + classes: of a layer what its mixer and its MLP (`hidden` wide) read and give, the
    MLP's two halves, their activation and product; mixer: queries, and keys and values of every factor, for each head, or the
    states that are written out, of which Mamba's kernels keep every sixteenth token's.
    """
    hidden = round(config.mlp * config.width)
    mixer = config.states_written_out
    if kernels and config.family == "mamba":
        mixer //= KEPT_EVERY
    if config.family in KEYED:
        mixer = config.heads * (config.head_dim + config.householders * (config.head_dim + config.value_dim))
    return config.layers * (4 * config.width + 4 * hidden + mixer) + config.classes


def memory_of(device: torch.device) -> int:
    """Bytes that the device, or the machine, has."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
