"""Arrays of the frameworks whose functions are tested: made of exact numbers, and read back."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...foundation._arguments import show_value
from ...foundation._errors import InputError
from ...foundation._extras import needed_by
from ._exact import Exact, Format, in_float64, round_array

FRAMEWORKS = ("torch", "numpy")
NUMPY_DTYPES = MappingProxyType({
    "bf16": np.float32, "fp16": np.float16, "fp32": np.float32, "fp64": np.float64
})  # fmt: skip
"""The dtype of numpy's arrays by format: float32 holds the numbers of bf16."""


@dataclass(frozen=True)
class Framework:
    """How arrays are made and read.

    Attributes:
        name: one of `FRAMEWORKS`.
        device: where torch's tensors are, such as `cuda`; numpy has `cpu` only.
    """

    name: str = "torch"
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.name not in FRAMEWORKS:
            raise InputError(f"framework {show_value(self.name)}: it is one of {', '.join(FRAMEWORKS)}")
        if self.name == "numpy" and self.device != "cpu":
            raise InputError(f"device {show_value(self.device)}: arrays of numpy are on the cpu")

    def require_device(self) -> None:
        """Refuse a device of torch's tensors on which there can be none.

        Raises:
            InputError: torch does not know the device, this machine has none, or tensors on it have no numbers.
        """
        if self.name == "numpy":
            return
        if self.device.partition(":")[0] == "meta":
            raise InputError(
                "device 'meta': tensors on it have no numbers; name another one, such as cpu or cuda"
            )
        torch = _torch()
        try:
            torch.zeros(1, device=self.device).cpu()
        except Exception:
            raise InputError(
                f"device {show_value(self.device)}: torch can make no tensor on it here; name another one, such as cpu or cuda"
            ) from None

    def make(self, numbers: Exact, target: Format) -> Any:
        """An array of a format's dtype; the numbers are rounded to it if it does not hold them.

        Arrays of numpy in bf16, of which it has no dtype, are arrays of float32 whose values are those of bf16.
        """
        exact = in_float64(round_array(numbers, target))
        if self.name == "numpy":
            return exact.astype(self.dtype_of(target))
        torch = _torch()
        return torch.from_numpy(np.ascontiguousarray(exact)).to(self.dtype_of(target)).to(self.device)

    def dtype_of(self, target: Format) -> Any:
        """The dtype of the framework's arrays in a format; of numpy's in bf16, float32."""
        if self.name == "numpy":
            return np.dtype(NUMPY_DTYPES[target.name])
        torch = _torch()
        return {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32, "fp64": torch.float64}[
            target.name
        ]

    @property
    def kind_of_array(self) -> type[Any]:
        """The type of the framework's arrays."""
        kind: type[Any] = np.ndarray if self.name == "numpy" else _torch().Tensor
        return kind

    def integers(self, numbers: tuple[int, ...]) -> Any:
        """A vector of int64."""
        if self.name == "numpy":
            return np.array(numbers, dtype=np.int64)
        torch = _torch()
        return torch.tensor(numbers, dtype=torch.int64, device=self.device)

    def read(self, array: Any) -> NDArray[np.float64]:
        """What a function returned, in float64, copied."""
        if self.name == "torch":
            return np.array(array.detach().double().cpu().numpy(), dtype=np.float64)
        return np.array(array, dtype=np.float64)


def _torch() -> Any:
    with needed_by("a test of a function of torch"):
        import torch
    return torch
