"""Which implementation of an operator runs, the operators' errors, the launch counter, and how a kernel is launched (`Tile`).

`reference` is the readable recurrence, `torch` vectorised torch operations on any device, `triton` the kernels.  `auto`
takes `triton` for CUDA tensors where triton is installed and `torch` otherwise.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, get_args

import torch

Backend = Literal["auto", "triton", "torch", "reference"]
BACKENDS = get_args(Backend)


class KernelError(Exception):
    """Base class of the errors of the operators; the message is one line."""


class KernelInputError(KernelError, ValueError):
    """An argument is wrong; the message names it and the fix."""


class BackendUnavailableError(KernelError, RuntimeError):
    """The requested backend cannot run here; the message says why and what to use instead."""


def _find_triton() -> bool:
    try:
        return find_spec("triton") is not None
    except ValueError:
        return False


_INSTALLED = _find_triton()


def triton_installed() -> bool:
    """Whether `import triton` would work."""
    return _INSTALLED


def triton_interpreted() -> bool:
    """Whether kernels run in Triton's interpreter, on CPU tensors (set before they are imported)."""
    return os.environ.get("TRITON_INTERPRET", "0") == "1"


def triton_available(device: torch.device | str = "cuda") -> bool:
    """Decide whether the Triton kernels can run on tensors of a device.

    Args:
        device: a device or its name.  CUDA needs triton and a GPU; the CPU needs triton and `TRITON_INTERPRET=1`, set before the
            kernels are imported.

    Returns:
        True or False; always False where triton is not installed.

    Raises:
        RuntimeError: torch has no device of that name.

    Examples:
        >>> triton_available("meta")
        False
    """
    if not triton_installed():
        return False
    kind = torch.device(device).type
    return torch.cuda.is_available() if kind == "cuda" else kind == "cpu" and triton_interpreted()


def choose_backend(backend: str, device: torch.device) -> str:
    """The backend that runs: `triton`, `torch` or `reference`.

    Raises `KernelInputError` for an unknown name and `BackendUnavailableError` where triton cannot run.
    """
    if backend not in BACKENDS:
        raise KernelInputError(f'backend="{backend}": use one of {", ".join(BACKENDS)}')
    if backend == "auto":
        return "triton" if (device.type == "cuda" or launches_nothing()) and _INSTALLED else "torch"
    if backend == "triton" and not triton_available(device):
        if not triton_installed():
            reason = "triton is not installed: install it"
        else:
            reason = f"triton cannot run on {device.type} tensors: move them to a CUDA device, set TRITON_INTERPRET=1"
        raise BackendUnavailableError(f'backend="triton": {reason} or pass backend="torch"')
    return backend


_in_force: list[None] = []
"""An entry for each `launch_nothing` that is in force, in a list, which torch.compile can trace."""


@contextmanager
def launch_nothing() -> Iterator[None]:
    """Within, `auto` takes the kernels on every device and no kernel is launched.

    So fake tensors, which have shapes and no data, show on any machine what a GPU would keep. Where triton is not installed nothing changes.
    """
    _in_force.append(None)
    try:
        yield
    finally:
        _in_force.pop()


def launches_nothing() -> bool:
    """Whether `launch_nothing` is in force."""
    return len(_in_force) > 0


_launches: Counter[str] = Counter()


def count_launch(kernel: str) -> None:
    """Record that a kernel was launched."""
    _launches[kernel] += 1


def launch_counts() -> dict[str, int]:
    """Return how often each kernel was launched in this process since `reset_launch_counts`.

    Returns:
        A new dictionary from the names of kernels to counts; kernels that were not launched are absent.

    Examples:
        The torch backend launches none:

        >>> import torch
        >>> from mirrormata.kernels import l2_normalise, launch_counts, reset_launch_counts
        >>> reset_launch_counts()
        >>> _ = l2_normalise(torch.ones(2, 3), backend="torch")
        >>> launch_counts()
        {}
    """
    return dict(_launches)


def reset_launch_counts() -> None:
    """Reset all counts, so that `launch_counts` is empty until the next launch."""
    _launches.clear()


@dataclass(frozen=True)
class Tile:
    """One kernel's launch: block width (value columns or key rows), warps, pipeline stages, most registers a thread."""

    width: int
    warps: int
    stages: int = 2
    registers: int | None = None

    def options(self) -> dict[str, int]:
        """Launch options."""
        options = {"num_warps": self.warps, "num_stages": self.stages}
        return options if self.registers is None else options | {"maxnreg": self.registers}
