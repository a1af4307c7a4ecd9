"""One process or many: where this process runs, and Hugging Face accelerate where there are several."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, Self

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Shard
from torch.nn.parallel import DistributedDataParallel

from ...foundation._errors import InputError
from ...foundation._extras import needed_by
from .._config import ModelConfig
from .._model import Block, Model, draw_model


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

    def begin_model(self, config: ModelConfig, seeds: Sequence[int]) -> Model:
        """A model at its first weights, on this process's device, of which there is no second copy at any time.

        Under FSDP this process has its shards alone; while they are made, one part of the model is whole: the embedding, a block or
        the read-out. Every process draws all numbers, so the weights are those of one process.
        """
        if not self._shards:
            return draw_model(config, seeds, lambda _, value: value.to(self.device)).to(self.device)
        shards: dict[str, Tensor] = {}

        def keep_shard(name: str, value: Tensor) -> Tensor:
            shards[name] = shard_of(value, self.rank, self.count).to(self.device)
            return torch.empty_like(value, device="meta")

        model = draw_model(config, seeds, keep_shard)
        warnings.filterwarnings(
            "ignore", message="FSDP2-wrapped module"
        )  # of in-place changes: there is none
        self._mesh = init_device_mesh(self.device.type, (self.count,))
        _shard(model, self._mesh)
        state: dict[str, Any] = {k: v for k, v in model.state_dict().items() if k not in shards}
        for name, parameter in model.named_parameters():
            assert isinstance(parameter, DTensor)
            state[name] = DTensor.from_local(
                shards.pop(name), parameter.device_mesh, parameter.placements, run_check=False,
                shape=parameter.shape, stride=parameter.stride(),
            )  # fmt: skip
        model.load_state_dict(state, assign=True)
        return model

    def prepare(
        self, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> tuple[nn.Module, torch.optim.Optimizer]:
        """The model that `begin_model` made and its optimizer, wrapped for DDP where there are several processes."""
        if self.accelerator is None:
            return model, optimizer
        if self._shards:
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

    def gathering(self, model: nn.Module, last: bool) -> AbstractContextManager[None]:
        """The context of the backward pass of one part of a batch: under DDP the last part alone exchanges gradients.

        FSDP exchanges them after each part, so that every process has those of its shards only.
        """
        if last or not isinstance(model, DistributedDataParallel):
            return nullcontext()
        without: AbstractContextManager[None] = model.no_sync()
        return without

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


def divided_dimension(shape: Sequence[int], count: int) -> int:
    """The dimension of a parameter that `count` processes divide among them.

    The first dimension is that of the seeds, of which there is one: another is divided, that the number of processes divides; a
    parameter without one lies with the first process.
    """
    return next((i for i, size in enumerate(shape) if size > 1 and size % count == 0), 0)


def shard_of(value: Tensor, rank: int, count: int) -> Tensor:
    """A process's shard of a parameter, copied; without entries where others have all of it."""
    dimension = divided_dimension(value.shape, count)
    pieces = value.chunk(count, dimension)
    return (pieces[rank] if rank < len(pieces) else value.narrow(dimension, 0, 0)).clone(
        memory_format=torch.contiguous_format
    )


def _shard(model: Model, mesh: DeviceMesh) -> None:
    """FSDP of every block and of what is around them."""

    def placed(parameter: nn.Parameter) -> Shard:
        return Shard(divided_dimension(parameter.shape, mesh.size()))

    for module in [m for m in model.modules() if isinstance(m, Block)]:
        fully_shard(module, mesh=mesh, shard_placement_fn=placed)
    fully_shard(model, mesh=mesh, shard_placement_fn=placed)


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
