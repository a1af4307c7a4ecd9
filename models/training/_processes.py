"""One process or many: where this process runs, and Hugging Face accelerate where there are several."""

from __future__ import annotations

import gc
import os
import warnings
from typing import Any, Literal, Self

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Shard

from ...foundation._errors import InputError
from ...foundation._extras import needed_by
from .._model import Block


class Processes:
    """This process among those of the training.

    Alone it needs nothing but torch. Under `torchrun` or `accelerate launch` accelerate joins the processes and wraps model
    and optimizer for DDP. Where `ACCELERATE_USE_FSDP` is true, torch shards them (FSDP), on a CPU too, where accelerate
    would pass to DDP in silence. Gradients are summed over the processes. As a context it is left without waiting for the
    others where one process fails.
    """

    def __init__(self, device: str, precision: Literal["fp32", "bf16"]) -> None:
        self.accelerator: Any = None
        self.rank, self.count = 0, 1
        self._shards = False
        self._mesh: DeviceMesh | None = None
        self.autocast = torch.bfloat16 if precision == "bf16" else None
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            with needed_by("a training by several processes"):
                from accelerate import Accelerator
            sharding = os.environ.pop(
                "ACCELERATE_USE_FSDP", "false"
            )  # which accelerate would do in its own way
            self._shards = sharding.lower() in {"1", "true", "yes"}
            self.accelerator = Accelerator(
                cpu=device == "cpu", mixed_precision="bf16" if precision == "bf16" else "no"
            )
            os.environ["ACCELERATE_USE_FSDP"] = sharding
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
        """The model and the optimizer, wrapped for DDP or sharded where there are several processes."""
        if self.accelerator is None:
            return model, optimizer
        if self._shards:
            warnings.filterwarnings(
                "ignore", message="FSDP2-wrapped module"
            )  # of in-place changes: there is none
            self._mesh = init_device_mesh(self.device.type, (self.count,))
            _shard(model, optimizer, self._mesh)
            if self.autocast is not None:
                model.forward = torch.autocast(self.device.type, self.autocast)(model.forward)
            return model, optimizer
        prepared: tuple[nn.Module, torch.optim.Optimizer] = self.accelerator.prepare(model, optimizer)
        return prepared

    def backward(self, loss: Tensor) -> None:
        """Gradients of a loss that is this process's share of the sum."""
        if self.accelerator is None:
            loss.backward()  # type: ignore[no-untyped-call]
        else:
            self.accelerator.backward(loss * self.count)  # DDP and FSDP take the mean

    def sum_over_processes(self, values: Tensor) -> Tensor:
        """The sum over all processes."""
        if self.accelerator is None:
            return values
        total: Tensor = self.accelerator.reduce(values, reduction="sum")
        return total

    def clip_shards(self, model: nn.Module, largest: float) -> Tensor:
        """Under FSDP: the norm of the whole gradient, which is scaled down to `largest`; 0: it is left as it is."""
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), largest or float("inf"))
        whole: Tensor = norm.full_tensor() if isinstance(norm, DTensor) else norm
        return whole

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.accelerator is not None:
            self.accelerator.wait_for_everyone()

    @property
    def sharded(self) -> bool:
        """Whether parameters lie in shards (FSDP), so that no process sees a whole gradient."""
        return self._shards

    def close(self) -> None:
        """Leave the group, when nothing refers to the model and the optimizer any more.

        The group's threads must have ended before the interpreter does: one that lets go of a tensor later aborts the
        process (pytorch issue 190489). They end with the last reference to the group.
        """
        if self.accelerator is None:
            return
        self.accelerator.end_training()
        # caches of DTensor keep the mesh for good, and in newer versions of torch the mesh keeps the group
        getattr(self._mesh, "_pg_registry", {}).clear()
        gc.collect()  # the modules that FSDP wrapped are in cycles

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()


def _shard(model: nn.Module, optimizer: torch.optim.Optimizer, mesh: DeviceMesh) -> None:
    """FSDP of every block and of what is around them; the optimizer gets the shards.

    The first dimension of a parameter is that of the seeds, of which there is one: another is divided, that the number of
    processes divides; a parameter without one lies with the first process.
    """
    count = mesh.size()

    def placed(parameter: nn.Parameter) -> Shard:
        divided = [i for i, size in enumerate(parameter.shape) if size > 1 and size % count == 0]
        return Shard(divided[0] if divided else 0)

    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for module in [m for m in model.modules() if isinstance(m, Block)]:
        fully_shard(module, mesh=mesh, shard_placement_fn=placed)
    fully_shard(model, mesh=mesh, shard_placement_fn=placed)
    shards = dict(model.named_parameters())
    for group in optimizer.param_groups:
        group["params"] = [shards[names[id(parameter)]] for parameter in group["params"]]


def device_of(name: str) -> torch.device:
    """`auto`: the first GPU, else the CPU; `InputError` for a device that is not there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    gpus = torch.cuda.is_available()
    there = "cpu, cuda or auto" if gpus else "cpu or auto: torch finds no GPU here"
    try:
        device = torch.device(name)
    except RuntimeError:  # whose message lists all kinds of devices that torch knows
        raise InputError(f"device {name}: there is no such device; choose {there}") from None
    try:
        torch.zeros(1, device=device).item()  # the device `meta` has no numbers
    except (RuntimeError, AssertionError, NotImplementedError):
        why = f"there are {torch.cuda.device_count()} GPUs here" if gpus else "it cannot be used here"
        raise InputError(f"device {name}: {why}; choose {there}") from None
    return device
