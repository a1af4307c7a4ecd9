"""Whether a model can be trained in a device's memory, asked before anything is written or allocated."""

from __future__ import annotations

import os
from collections.abc import Sequence

import torch

from ...constructions.errors import LimitError
from ..config import ModelConfig
from ..model import Model
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


def memory_of(device: torch.device) -> int:
    """Bytes that the device, or the machine, has."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
