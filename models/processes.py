"""One process or many: where this process runs, and Hugging Face accelerate where there are several."""

from __future__ import annotations

import os
from typing import Any, Literal

import torch
from torch import Tensor, nn

from ..constructions.errors import InputError


class Processes:
    """This process among those of the training.

    Alone it needs nothing but torch. Under `torchrun` or `accelerate launch` accelerate wraps model and optimizer
    (DDP, or FSDP by its own settings) and gradients are summed over the processes.
    """

    def __init__(self, device: str, precision: Literal["fp32", "bf16"]) -> None:
        self.accelerator: Any = None
        self.rank, self.count = 0, 1
        self.autocast = torch.bfloat16 if precision == "bf16" else None
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            try:
                from accelerate import Accelerator
            except ImportError:
                raise InputError(
                    "train: several processes need accelerate: install mirrormata[train], or start one process"
                ) from None
            self.accelerator = Accelerator(
                cpu=device == "cpu", mixed_precision="bf16" if precision == "bf16" else "no"
            )
            self.rank, self.count = self.accelerator.process_index, self.accelerator.num_processes
            self.device: torch.device = self.accelerator.device
            return
        self.device = device_of(device)

    @property
    def writes(self) -> bool:
        """Whether this process writes files and the terminal."""
        return self.rank == 0

    def prepare(
        self, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> tuple[nn.Module, torch.optim.Optimizer]:
        """Both as they are trained."""
        if self.accelerator is None:
            return model, optimizer
        prepared: tuple[nn.Module, torch.optim.Optimizer] = self.accelerator.prepare(model, optimizer)
        return prepared

    def backward(self, loss: Tensor) -> None:
        """Gradients of a loss that is this process's share of the sum."""
        if self.accelerator is None:
            loss.backward()  # type: ignore[no-untyped-call]
        else:
            self.accelerator.backward(loss * self.count)  # DDP and FSDP take the mean

    def summed(self, values: Tensor) -> Tensor:
        """The sum over all processes."""
        if self.accelerator is None:
            return values
        total: Tensor = self.accelerator.reduce(values, reduction="sum")
        return total

    @property
    def sharded(self) -> bool:
        """Whether parameters lie in shards (FSDP), so that no process sees a whole gradient."""
        return self.accelerator is not None and self.accelerator.distributed_type == "FSDP"

    def close(self) -> None:
        """After the last step."""
        if self.accelerator is not None:
            self.accelerator.end_training()


def device_of(name: str) -> torch.device:
    """`auto`: the first GPU, else the CPU; `InputError` for a device that is not there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device {name}: {str(error).splitlines()[0]}; choose cpu, cuda or auto") from None
    return device
